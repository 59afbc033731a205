// aclnnSignBitsPack and aclnnSignBitsUnpack: signs of numbers as bits, and the numbers 1 and -1 of such bits.
// SPDX-License-Identifier: Apache-2.0
#include "engine/quantise/packed_signs.h"

#include <limits>

#include "aclnnop/jobs/dense_op_list.h"
#include "aclnnop/quantisation/sign_bits_functions.h"
#include "base/data_type.h"

namespace portacl {
namespace {

using namespace dense;

enum Tensors { kSelf, kOut };
enum Attributes { kSize, kDtype };

constexpr DtypeSet kBytes{ACL_UINT8};
constexpr int64_t kInByte = 8;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

int64_t BytesFor(int64_t numbers) { return numbers / kInByte + (numbers % kInByte != 0 ? 1 : 0); }

aclnnStatus PackFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Integer(kSize, 1, kMost).Rank(kSelf, 1, 1).Rank(kOut, 2, 2);
  if (!checks.Passed()) return checks.status();
  const int64_t size = Integer(call, kSize);
  const int64_t bytes = BytesFor(call.Tensor(kSelf).shape[0]);
  return checks.HoldsOf(bytes % size == 0, kSize, "a divisor of the bytes that self's signs take")
      .Is(kOut, Shape{size, bytes / size})
      .status();
}

aclnnStatus DtypeIsOuts(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  return checks.HoldsOf(Integer(call, kDtype) == call.Tensor(kOut).dtype, kDtype, "the type of out").status();
}
aclnnStatus UnpackFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Integer(kSize, 1, kMost).Rank(kSelf, 1, 1).Rank(kOut, 2, 2);
  if (!checks.Passed()) return checks.status();
  const int64_t size = Integer(call, kSize);
  const int64_t bytes = call.Tensor(kSelf).shape[0];
  checks.Holds(bytes <= kMost / kInByte, kSelf, "a tensor whose bits can be counted");
  if (!checks.Passed()) return checks.status();
  return checks.HoldsOf(bytes * kInByte % size == 0, kSize, "a divisor of self's bits")
      .Is(kOut, Shape{size, bytes * kInByte / size})
      .status();
}

constexpr Check kPackChecks[] = {
    NotNull(kSelf),           NotNull(kOut),          DtypesIn(kFloatAndHalf, {kSelf}),
    DtypesIn(kBytes, {kOut}), Custom(PackFits),       SizesRepresentable({kOut}),
    DoneIfEmpty({kSelf}),     InsideStorage({kSelf}),
};
constexpr Check kUnpackChecks[] = {
    NotNull(kSelf),         NotNull(kOut),      DtypesIn(kBytes, {kSelf}),  DtypesIn(kFloatAndHalf, {kOut}),
    Custom(DtypeIsOuts),    Custom(UnpackFits), SizesRepresentable({kOut}), DoneIfEmpty({kSelf}),
    InsideStorage({kSelf}),
};

void SetPack(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  engine::PackSigns pack;
  pack.from = ops.In(kSelf);
  pack.to = ops.Out(kOut);
  pack.count = call.Tensor(kSelf).numel;
  pack.is_half = call.Tensor(kSelf).dtype == ACL_FLOAT16;
  pack.threads = ops.threads();
  ops.Compute(pack, {pack.from, pack.to}, pack.count);
  ops.SetJob();
}

void SetUnpack(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  engine::UnpackSigns unpack;
  unpack.from = ops.In(kSelf);
  unpack.to = ops.Out(kOut);
  unpack.bytes = call.Tensor(kSelf).numel;
  unpack.is_half = call.Tensor(kOut).dtype == ACL_FLOAT16;
  unpack.threads = ops.threads();
  ops.Compute(unpack, {unpack.from, unpack.to}, unpack.bytes * kInByte);
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnSignBitsPack) {
  return dense::RunOpList(call, kPackChecks, workspaceSize, executor, SetPack);
}

PORTACL_PHASE_1(aclnnSignBitsUnpack) {
  return dense::RunOpList(call, kUnpackChecks, workspaceSize, executor, SetUnpack);
}
