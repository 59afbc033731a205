// aclnnForeachCopy and aclnnForeachZeroInplace: copy lists of tensors, and fill them with zeros.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/foreach/list_moves_functions.h"

#include "aclnnop/jobs/lists.h"
#include "aclnnop/jobs/moves.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/arguments.h"

namespace portacl {
namespace {

enum Tensors { kX, kOut };

constexpr DtypeRule kCopied =
    SinceAtlasA2(kFloatHalfAndBf16 | DtypeSet(ACL_INT8, ACL_UINT8, ACL_INT16, ACL_UINT16, ACL_INT32,
                                              ACL_UINT32, ACL_INT64, ACL_DOUBLE, ACL_BOOL));
constexpr DtypeRule kZeroed = SinceAtlasA2(kFloatHalfAndBf16 | DtypeSet(ACL_INT16, ACL_INT32));

// Converts FLOAT to the 16-bit types and back, nothing else.
bool Converts(aclDataType from, aclDataType to) {
  if (from == to) return true;
  const bool are_floats = kFloatHalfAndBf16.Contains(from) && kFloatHalfAndBf16.Contains(to);
  return are_floats && (from == ACL_FLOAT || to == ACL_FLOAT);
}

bool IsEmpty(const OperatorCall& call) {
  for (int entry = 0; entry < call.Count(kX); ++entry) {
    if (!call.Entry(kX, entry)->shape.IsEmpty()) return false;
  }
  return true;
}

aclnnStatus CheckCopy(const Check&, OperatorCall& call) noexcept {
  if (const aclnnStatus status = CheckNulls(call, {kX, kOut})) return status;
  for (const int list : {kX, kOut}) {
    if (const aclnnStatus status = CheckLists(call, kCopied, /*is_generated=*/false, {list})) return status;
  }
  if (call.Count(kX) != call.Count(kOut)) {
    return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, kOut, -1,
                          " has not as many entries as x, accepted: as many.");
  }
  if (call.Count(kX) > 0 && !Converts(call.Entry(kX, 0)->dtype, call.Entry(kOut, 0)->dtype)) {
    Text message = StartMessage(call).Add("parameter ");
    AddArgumentDtype(message, call, kOut).Add(" is not what ");
    AddArgumentDtype(message, call, kX)
        .Add(" is converted to, accepted: the same dtype, or DT_FLOAT and a float of 16 bits.");
    return FailAclnn(ACLNN_ERR_PARAM_INVALID, message);
  }
  for (int entry = 0; entry < call.Count(kX); ++entry) {
    if (!(call.Entry(kX, entry)->shape == call.Entry(kOut, entry)->shape)) {
      const Check shape{.code = ACLNN_ERR_INNER_TILING_ERROR};
      return RefuseShape(shape, call, kOut, call.Entry(kX, entry)->shape, entry);
    }
  }
  if (const aclnnStatus status = CheckStorage(call, {kOut}, {kX})) return status;
  if (IsEmpty(call)) call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}
constexpr Check kCopyChecks[] = {{.run = CheckCopy}};

aclnnStatus CheckZero(const Check&, OperatorCall& call) noexcept {
  if (const aclnnStatus status = CheckNulls(call, {kX})) return status;
  if (const aclnnStatus status = CheckLists(call, kZeroed, /*is_generated=*/true, {kX})) return status;
  if (const aclnnStatus status = CheckStorage(call, {kX}, {kX})) return status;
  if (IsEmpty(call)) call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}
constexpr Check kZeroChecks[] = {{.run = CheckZero}};

void SetCopies(const OperatorCall& call, Executor& executor) {
  MoveList moves(executor, call.Count(kX));
  for (int entry = 0; entry < call.Count(kX); ++entry) {
    moves.Copy(PlainView(*call.Entry(kX, entry)), call.OperandOf(kX, entry),
               PlainView(*call.Entry(kOut, entry)), call.OperandOf(kOut, entry));
  }
  moves.SetJob();
}

void SetZeros(const OperatorCall& call, Executor& executor) {
  MoveList moves(executor, call.Count(kX));
  for (int entry = 0; entry < call.Count(kX); ++entry)
    moves.Fill(PlainView(*call.Entry(kX, entry)), call.OperandOf(kX, entry));
  moves.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnForeachCopy) { return RunPhase1(call, kCopyChecks, workspaceSize, executor, SetCopies); }

PORTACL_PHASE_1(aclnnForeachZeroInplace) {
  return RunPhase1(call, kZeroChecks, workspaceSize, executor, SetZeros);
}
