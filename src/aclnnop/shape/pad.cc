// aclnnConstantPadNd: pads a tensor with a value, or crops it.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/shape/pad_functions.h"

#include <algorithm>

#include "aclnnop/jobs/moves.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/arguments.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut };
enum Attributes { kPad, kValue };

constexpr DtypeSet kFloat8{ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E8M0};
constexpr DtypeSet kPadSet = kArithmetic | kUnsignedSince16Bits;
constexpr DtypeRule kPadDtypes = ByGeneration(kPadSet, kPadSet | kBf16, kPadSet | kBf16 | kFloat8);

struct Pads {
  int64_t before = 0;
  int64_t after = 0;
};

// Torch's order: the pads of the last dim come first.
Pads PadsOf(const OperatorCall& call, int dim) {
  const auto& pad = call.Array(kPad);
  const auto position = 2 * static_cast<size_t>(call.Tensor(kSelf).shape.rank - 1 - dim);
  return position + 1 < pad.size() ? Pads{pad[position], pad[position + 1]} : Pads{};
}

aclnnStatus FormatsAreOne(const Check& check, OperatorCall& call) noexcept {
  const aclFormat self = call.Tensor(kSelf).format;
  const aclFormat out = call.Tensor(kOut).format;
  if (self == ACL_FORMAT_ND || self == out) return ACL_SUCCESS;
  Text message = StartMessage(call).Add("parameter out has the format ");
  AddFormatName(message, out);
  AddFormatName(message.Add(", accepted: that of self, "), self);
  return FailAclnn(check.code, message.Add("."));
}

aclnnStatus OneRank(const Check& check, OperatorCall& call) noexcept {
  const int rank = call.Tensor(kSelf).shape.rank;
  if (call.Tensor(kOut).shape.rank == rank) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kOut)
      .Add(" has another rank than self, accepted: ")
      .Add(rank);
  return FailAclnn(check.code, message.Add(" dims."));
}

aclnnStatus PadsComeInPairs(const Check& check, OperatorCall& call) noexcept {
  const size_t count = call.Array(kPad).size();
  if (count % 2 == 0 && count <= 2 * static_cast<size_t>(call.Tensor(kSelf).shape.rank)) return ACL_SUCCESS;
  return RefuseArray(check, call, kPad, " does not have two values for each of some dims",
                     "an even number of values, at most two for each dim of self");
}

aclnnStatus PaddedShape(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  call.broadcast = self;
  bool is_empty = false;
  bool grows = false;
  for (int dim = self.rank - 1; dim >= 0; --dim) {
    const Pads pads = PadsOf(call, dim);
    int64_t both = 0;
    int64_t least = 0;
    int64_t length = 0;
    // Each crop must leave elements even without the other crop or pad of its dim, unlike torch's.
    if (__builtin_add_overflow(pads.before, pads.after, &both) ||
        __builtin_add_overflow(self[dim], both, &length) ||
        __builtin_add_overflow(self[dim], std::min({pads.before, pads.after, both}), &least) || least < 0) {
      return RefuseArray(check, call, kPad, " cuts off more than there is", "at most the length of the dim");
    }
    call.broadcast.dim[dim] = length;
    const bool is_covered = 2 * static_cast<size_t>(self.rank - 1 - dim) < call.Array(kPad).size();
    is_empty = is_empty || (is_covered && length == 0);
    grows = grows || pads.before > 0 || pads.after > 0;
  }
  if (!is_empty || !grows) return ACL_SUCCESS;
  return RefuseArray(check, call, kPad, " pads what it cuts off in another dim",
                     "no such pad of a dim of length 0");
}

// 8-bit floats can be padded only with 0, and cannot be cropped.
aclnnStatus EightBitsTakeZero(const Check& check, OperatorCall& call) noexcept {
  if (!kFloat8.Contains(call.Tensor(kSelf).dtype)) return ACL_SUCCESS;
  const auto& pad = call.Array(kPad);
  if (std::any_of(pad.begin(), pad.end(), [](int64_t value) { return value < 0; }))
    return RefuseArray(check, call, kPad, " has a negative value, of 8-bit floats", "at least 0 each");
  const aclScalar& value = call.Scalar(kValue);
  const size_t bytes = StorageBits(value.dtype) / 8;
  if (std::all_of(value.value, value.value + bytes, [](unsigned char byte) { return byte == 0; }))
    return ACL_SUCCESS;
  return FailAclnn(check.code,
                   StartMessage(call).Add("parameter value is not 0, of 8-bit floats, accepted: 0."));
}

aclnnStatus ValueConverts(const Check& check, OperatorCall& call) noexcept {
  const aclDataType dtype = call.Tensor(kSelf).dtype;
  if (kFloat8.Contains(dtype) || ScalarConverts(call.Scalar(kValue).dtype, dtype)) return ACL_SUCCESS;
  Text message = StartMessage(call).Add("parameter value with dtype ");
  AddDtypeName(message, call.Scalar(kValue).dtype);
  AddDtypeName(message.Add(" is not converted to "), dtype);
  return FailAclnn(check.code, message.Add(", accepted: a number or bool."));
}

constexpr Check kPadChecks[] = {
    NotNull(kSelf),  // in CANN's order
    ArrayNotNull(kPad),
    ScalarNotNull(kValue),
    NotNull(kOut),
    SameDtype(kSelf, kOut),
    DtypesIn(kPadDtypes, {kSelf}),
    Custom(EightBitsTakeZero),
    Custom(FormatsAreOne),
    RankAtMost(8, {kSelf}),
    Custom(OneRank),
    Custom(PadsComeInPairs),
    SizesRepresentable({kOut}),
    Custom(PaddedShape),
    ShapeIsResult(kOut),
    DoneIfEmpty({kOut}),
    InsideStorage({kSelf}),
    Custom(ValueConverts, ACLNN_ERR_INNER_NULLPTR),
};

void SetPad(const OperatorCall& call, Executor& executor) {
  StridedView self = PlainView(call.Tensor(kSelf));
  StridedView out = PlainView(call.Tensor(kOut));
  MoveList moves(executor, 2 * self.shape.rank + 1);
  // Fills before and after one dim at a time, over what is left of the other dims.
  for (int dim = 0; dim < self.shape.rank; ++dim) {
    const Pads pads = PadsOf(call, dim);
    const int64_t before = std::max<int64_t>(pads.before, 0);
    const int64_t after = std::max<int64_t>(pads.after, 0);
    const int64_t cut = std::max<int64_t>(-pads.before, 0);
    const int64_t kept = out.shape[dim] - before - after;
    for (const bool is_front : {true, false}) {
      if ((is_front ? before : after) == 0) continue;
      StridedView edge = out;
      Narrow(edge, dim, is_front ? 0 : before + kept, is_front ? before : after);
      moves.Fill(edge, kOut);
    }
    Narrow(out, dim, before, kept);
    Narrow(self, dim, cut, kept);
  }
  moves.Copy(self, kSelf, out, kOut);
  const bool is_byte = kFloat8.Contains(self.dtype);
  moves.SetJob(is_byte ? ScalarValue{} : ConvertScalar(call.Scalar(kValue), self.dtype));
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnConstantPadNd) { return RunPhase1(call, kPadChecks, workspaceSize, executor, SetPad); }
