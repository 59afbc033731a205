// aclnnInplaceRandom, its form with seed and offset in tensors, and the forms without bounds: draw random
// integers.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/random/random_functions.h"

#include <algorithm>
#include <limits>

#include "aclnnop/jobs/random_source.h"
#include "base/data_type.h"
#include "base/errors.h"

namespace portacl {
namespace {

using namespace random;

enum Tensors { kSelf, kSeed, kOffset };
enum Attributes { kFrom, kTo };

constexpr DtypeRule kFilled = ByGeneration(kFillable | kBool | kBf16 | kComplex,
                                           kFillable | kBool | kBf16 | kComplex, kFillable | kBool | kBf16);
constexpr DtypeRule kFilledWithout = Everywhere(kFillable | kBool | kBf16);

aclnnStatus CheckBounds(const Check& check, OperatorCall& call) noexcept {
  const int64_t from = call.attributes[kFrom].integer;
  const int64_t to = call.attributes[kTo].integer;
  if (from < to) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   Text(call.api, ": parameter from has the value ", from, " and parameter to the value ", to,
                        ", expected from to be less than to."));
}

constexpr auto kLastChecks = List(SizesRepresentable({kSelf}), DoneIfEmpty({kSelf}),
                                  WithCode(ACLNN_ERR_PARAM_NULLPTR, InsideStorage({kSelf})));
constexpr auto kSeedsNotNull = List(NotNull(kSeed), NotNull(kOffset));
constexpr auto kSeedChecks = List(OneInteger(kWords, {kSeed, kOffset}));
constexpr auto kBounded = List(DtypesIn(kFilled, {kSelf}), RankAtMost(8, {kSelf}), Check{.run = CheckBounds});
constexpr auto kUnbounded = List(DtypesIn(kFilledWithout, {kSelf}), RankAtMost(8, {kSelf}));
constexpr auto kChecks = Join(List(NotNull(kSelf)), kBounded, kLastChecks);
constexpr auto kTensorChecks = Join(List(NotNull(kSelf)), kSeedsNotNull, kBounded, kSeedChecks, kLastChecks);
constexpr auto kWithoutChecks = Join(List(NotNull(kSelf)), kUnbounded, kLastChecks);
constexpr auto kWithoutTensorChecks =
    Join(List(NotNull(kSelf)), kSeedsNotNull, kUnbounded, kSeedChecks, kLastChecks);

// Returns the significand bits of a floating dtype, or 0 for others.
int DigitsOf(aclDataType dtype) noexcept {
  switch (dtype) {
    case ACL_FLOAT16:
      return 11;
    case ACL_BF16:
      return 8;
    case ACL_FLOAT:
    case ACL_COMPLEX64:
      return 24;
    case ACL_DOUBLE:
    case ACL_COMPLEX128:
      return 53;
    default:
      return 0;
  }
}

// Returns the greatest integer up to `value` that has at most `digits` significant bits. Clears the lowest
// bits.
int64_t HeldBelow(int64_t value, int digits) noexcept {
  const uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  int dropped = 0;
  while (dropped < 63 && (magnitude >> digits >> dropped) != 0) ++dropped;
  return static_cast<int64_t>(static_cast<uint64_t>(value) & (~uint64_t{0} << dropped));
}

struct Bounds {
  int64_t first;
  int64_t last;
};

// For floating dtypes, moves the bounds inward to representable numbers, so that rounding never leaves the
// bounds. Keeps them if no representable number lies between.
Bounds Inward(aclDataType dtype, Bounds bounds) noexcept {
  const int digits = DigitsOf(dtype);
  if (digits == 0) return bounds;
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  Bounds inward{bounds.first, HeldBelow(bounds.last, digits)};
  // Finds the least representable number from `first` on. The least int64 is representable, but cannot be
  // negated.
  if (bounds.first != kLeast) {
    const int64_t negative = HeldBelow(-bounds.first, digits);
    if (negative == kLeast) return bounds;
    inward.first = -negative;
  }
  if (dtype == ACL_FLOAT16) {
    inward.first = std::max<int64_t>(inward.first, -65504);
    inward.last = std::min<int64_t>(inward.last, 65504);
  }
  return inward.first <= inward.last ? inward : bounds;
}

// random_() of torch_npu passes the bounds 0 and 1 for BOOL, and means both values.
Bounds BoundsOf(aclDataType dtype, int64_t from, int64_t to) noexcept {
  if (dtype == ACL_BOOL && from == 0 && to == 1) return {0, 1};
  return Inward(dtype, {from, to - 1});
}

// Returns the range from 0 to the greatest integer of a dtype. For a floating dtype, to the greatest up to
// which all integers are representable.
Bounds BoundsOf(aclDataType dtype) noexcept {
  switch (dtype) {
    case ACL_BOOL:
      return {0, 1};
    case ACL_INT8:
      return {0, std::numeric_limits<int8_t>::max()};
    case ACL_UINT8:
      return {0, std::numeric_limits<uint8_t>::max()};
    case ACL_INT16:
      return {0, std::numeric_limits<int16_t>::max()};
    case ACL_INT32:
      return {0, std::numeric_limits<int32_t>::max()};
    case ACL_INT64:
      return {0, std::numeric_limits<int64_t>::max()};
    default:
      return {0, int64_t{1} << DigitsOf(dtype)};
  }
}

void SetJob(const OperatorCall& call, Bounds bounds, const engine::RandomSource& source,
            const engine::DeviceSource& device, Executor& executor) {
  const uint64_t count = static_cast<uint64_t>(bounds.last) - static_cast<uint64_t>(bounds.first) + 1;
  SetRandomJob(call, engine::IntegerNumbers{source, bounds.first, count}, {.output = kSelf}, device,
               executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnInplaceRandom) {
  return RunPhase1(call, kChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    SetJob(checked, BoundsOf(given.selfRef->dtype, given.from, given.to), SourceOf(given.seed, given.offset),
           {}, fresh);
  });
}

PORTACL_PHASE_1(aclnnInplaceRandomTensor) {
  return RunPhase1(call, kTensorChecks, workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) {
                     SetJob(checked, BoundsOf(given.selfRef->dtype, given.from, given.to),
                            SourceOf(0, given.offset), DeviceSourceOf(checked, kSeed, kOffset), fresh);
                   });
}

PORTACL_PHASE_1(aclnnInplaceRandomWithoutFromTo) {
  return RunPhase1(
      call, kWithoutChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
        SetJob(checked, BoundsOf(given.selfRef->dtype), SourceOf(given.seed, given.offset), {}, fresh);
      });
}

PORTACL_PHASE_1(aclnnInplaceRandomWithoutFromToTensor) {
  return RunPhase1(call, kWithoutTensorChecks, workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) {
                     SetJob(checked, BoundsOf(given.selfRef->dtype), SourceOf(0, given.offset),
                            DeviceSourceOf(checked, kSeed, kOffset), fresh);
                   });
}
