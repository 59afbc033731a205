// aclnnAddN and aclnnSum, the sum of a list of tensors, and aclnnMaxN and aclnnMinN, their greatest and least elements.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/arithmetic/list_sums_functions.h"

#include <cstring>

#include "aclnnop/jobs/list_kernels.h"
#include "aclnnop/jobs/moves.h"
#include "aclnnop/jobs/sums.h"
#include "aclnnop/map_list.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/arguments.h"
#include "contract/broadcast.h"
#include "plan/views.h"

namespace portacl {
namespace {

enum Tensors { kTensors, kOut };

constexpr DtypeRule kSumOfShape = SinceAtlasA2(kFloatHalfAndBf16 | DtypeSet(ACL_INT32, ACL_INT64));
constexpr DtypeRule kSum = Everywhere(kFloatAndHalf | DtypeSet(ACL_INT8, ACL_UINT8, ACL_INT32));
constexpr DtypeSet kExtreme = kFloatAndHalf | DtypeSet(ACL_INT8, ACL_INT32, ACL_INT64);
constexpr DtypeRule kLeast = WithBf16SinceAtlasA2(kExtreme);
constexpr DtypeRule kGreatest = kLeast.On(products::kAscend950, kExtreme | DtypeSet(ACL_BF16, ACL_UINT8));

// Starts the refusal of an entry, with its name.
Text AboutEntry(const OperatorCall& call, int entry) {
  Text message = StartMessage(call);
  AddArgument(message.Add("parameter "), call, kTensors, entry);
  return message;
}

aclnnStatus HasEntries(const Check& check, OperatorCall& call) noexcept {
  if (call.Count(kTensors) > 0) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   StartMessage(call).Add("parameter tensors has no tensors, accepted: at least one."));
}

bool IsAnyEmpty(const OperatorCall& call) noexcept {
  for (int entry = 0; entry < call.Count(kTensors); ++entry) {
    if (call.Entry(kTensors, entry)->shape.IsEmpty()) return true;
  }
  return false;
}
bool IsFirstAnother(const OperatorCall& call) noexcept {
  return call.Entry(kTensors, 0)->dtype != call.Tensor(kOut).dtype;
}

// Refuses tensors of other types than the result's.
aclnnStatus OneType(const Check& check, OperatorCall& call) noexcept {
  const aclDataType dtype = call.Tensor(kOut).dtype;
  for (int entry = 0; entry < call.Count(kTensors); ++entry) {
    if (call.Entry(kTensors, entry)->dtype == dtype) continue;
    Text message = AboutEntry(call, entry).Add(" has the type ");
    AddDtypeName(message, call.Entry(kTensors, entry)->dtype);
    AddDtypeName(message.Add(", accepted: out's, which is "), dtype);
    return FailAclnn(check.code, message.Add("."));
  }
  return ACL_SUCCESS;
}
// With a first tensor of another type than out CANN looks at nothing more than whether there is work.
aclnnStatus FirstIsOfOutsType(const Check& check, OperatorCall& call) noexcept {
  if (!IsFirstAnother(call)) return ACL_SUCCESS;
  if (!IsAnyEmpty(call)) return OneType(check, call);
  call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

aclnnStatus ShapesAreOuts(const Check& check, OperatorCall& call) noexcept {
  const Shape& shape = call.Tensor(kOut).shape;
  for (int entry = 0; entry < call.Count(kTensors); ++entry) {
    if (!(call.Entry(kTensors, entry)->shape == shape))
      return RefuseShape(check, call, kTensors, shape, entry);
  }
  return ACL_SUCCESS;
}
aclnnStatus RanksFit(const Check& check, OperatorCall& call) noexcept {
  constexpr int kMost = 8;
  for (int entry = 0; entry < call.Count(kTensors); ++entry) {
    const int rank = call.Entry(kTensors, entry)->shape.rank;
    if (rank > kMost)
      return FailAclnn(check.code,
                       AboutEntry(call, entry).Add(" has ").Add(rank).Add(" dims, accepted: at most 8."));
  }
  return ACL_SUCCESS;
}
aclnnStatus ShapesBroadcast(const Check& check, OperatorCall& call) noexcept {
  call.broadcast = call.Entry(kTensors, 0)->shape;
  for (int entry = 1; entry < call.Count(kTensors); ++entry) {
    Shape both;
    if (!BroadcastShapes(call.broadcast, call.Entry(kTensors, entry)->shape, &both)) {
      Text message = StartMessage(call);
      AddArgumentShape(message.Add("parameter "), call, kTensors, entry);
      return FailAclnn(check.code, message.Add(" does not broadcast with the tensors before it."));
    }
    call.broadcast = both;
  }
  return ACL_SUCCESS;
}
aclnnStatus FirstIsPublic(const Check& check, OperatorCall& call) noexcept {
  const aclFormat format = call.Entry(kTensors, 0)->format;
  if (!IsPrivateFormat(format)) return ACL_SUCCESS;
  Text message = AboutEntry(call, 0).Add(" has the format ");
  AddFormatName(message, format);
  return FailAclnn(check.code, message.Add(", accepted: ND, NCHW and other public formats."));
}
aclnnStatus DoneIfAnyIsEmpty(const Check&, OperatorCall& call) noexcept {
  if (IsAnyEmpty(call)) call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

constexpr auto kStart = List(NotNull(kTensors), EntriesNotNull(kTensors), NotNull(kOut), Custom(HasEntries));
constexpr auto kEnd = List(Custom(OneType, ACLNN_ERR_INNER_NULLPTR), SizesRepresentable({kOut}),
                           InsideStorage({kTensors}), PromotesToDtypeOf(kOut));
// Sums of 16-bit floats are those of FLOAT, rounded once.
constexpr auto kSummed = List(ReplacesPromoted(kFloatHalfAndBf16, ACL_FLOAT));
constexpr auto kAddNChecks =
    Join(kStart,
         List(Custom(FirstIsOfOutsType, ACLNN_ERR_INNER_NULLPTR), DtypesIn(kSumOfShape, {kTensors, kOut}),
              Custom(RanksFit), Custom(ShapesAreOuts), Custom(FirstIsPublic), Custom(DoneIfAnyIsEmpty)),
         kEnd, kSummed);

constexpr auto kSumChecks = Join(kStart,
                                 List(DtypesIn(kSum, {kTensors}), Custom(RanksFit), Custom(ShapesBroadcast),
                                      ShapeIsBroadcast(kOut), DoneIfEmpty({kOut})),
                                 kEnd, kSummed);
// Extremes check out's type with the tensors'.
template <const DtypeRule& kDtypes>
constexpr auto kExtremeChecks = Join(kStart,
                                     List(DtypesIn(kDtypes, {kTensors, kOut}), Custom(OneType),
                                          Custom(RanksFit), Custom(ShapesBroadcast), ShapeIsBroadcast(kOut),
                                          DoneIfEmpty({kOut})),
                                     kEnd);

// Combines the tensors in their order. What is not the result yet stays in the type of the computation.
void Reduce(const OperatorCall& call, Executor& executor, const engine::KernelTable& kernels,
            const engine::Scalars& scalars) {
  const int count = call.Count(kTensors);
  const auto entry_of = [&](int entry) {
    return MappedView{PlainView(*call.Entry(kTensors, entry)), call.OperandOf(kTensors, entry)};
  };
  const MappedView out{PlainView(call.Tensor(kOut)), call.OperandOf(kOut)};
  if (count == 1) {
    MoveList moves(executor, 1);
    moves.Copy(entry_of(0).tensor, 0, out.tensor, out.operand);
    moves.SetJob();
    return;
  }
  MapList maps(call, executor, count - 1);
  MappedView sum = entry_of(0);
  for (int entry = 1; entry < count; ++entry) {
    const bool is_last = entry + 1 == count;
    const MappedView to = is_last ? out : entry == 1 ? maps.Scratch(out.tensor.shape, call.promoted) : sum;
    maps.Add({sum, entry_of(entry)}, to, kernels, scalars);
    sum = to;
  }
  maps.SetJob();
}

void SetSum(const OperatorCall& call, Executor& executor) {
  engine::Scalars scalars;
  // Kernels of floats multiply the second tensor by a number.
  constexpr float kOne = 1;
  if (IsFloating(call.promoted)) std::memcpy(scalars.bytes[0], &kOne, sizeof kOne);
  Reduce(call, executor, SumKernels(call.promoted), scalars);
}
void SetGreatest(const OperatorCall& call, Executor& executor) {
  Reduce(call, executor, GreaterKernels(), {});
}
void SetLeast(const OperatorCall& call, Executor& executor) { Reduce(call, executor, LesserKernels(), {}); }

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnAddN) { return RunPhase1(call, kAddNChecks, workspaceSize, executor, SetSum); }
PORTACL_PHASE_1(aclnnSum) { return RunPhase1(call, kSumChecks, workspaceSize, executor, SetSum); }
PORTACL_PHASE_1(aclnnMaxN) {
  return RunPhase1(call, kExtremeChecks<kGreatest>, workspaceSize, executor, SetGreatest);
}
PORTACL_PHASE_1(aclnnMinN) {
  return RunPhase1(call, kExtremeChecks<kLeast>, workspaceSize, executor, SetLeast);
}
