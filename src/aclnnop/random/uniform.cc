// aclnnInplaceUniform and its form with seed and offset in tensors: draw uniform numbers.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/random/uniform_functions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "aclnnop/jobs/random_source.h"
#include "base/data_type.h"
#include "base/errors.h"

namespace portacl {
namespace {

using namespace random;

enum Tensors { kSelf, kSeed, kOffset };
enum Attributes { kFrom, kTo };

constexpr DtypeRule kFilled = WithBf16SinceAtlasA2(kFillable);

aclnnStatus CheckBounds(const Check& check, OperatorCall& call) noexcept {
  const double from = call.attributes[kFrom].wide;
  const double to = call.attributes[kTo].wide;
  if (!(from > to)) return ACL_SUCCESS;
  return FailAclnn(check.code, Text(call.api, ": parameter from has the value ", static_cast<float>(from),
                                    " and parameter to the value ", static_cast<float>(to),
                                    ", expected from to be at most to."));
}

constexpr auto kSelfChecks = List(DtypesIn(kFilled, {kSelf}), RankAtMost(8, {kSelf}),
                                  Check{.run = CheckBounds}, SizesRepresentable({kSelf}));
constexpr auto kLastChecks =
    List(DoneIfEmpty({kSelf}), WithCode(ACLNN_ERR_PARAM_NULLPTR, InsideStorage({kSelf})));
constexpr auto kChecks = Join(List(NotNull(kSelf)), kSelfChecks, kLastChecks);
constexpr auto kTensorChecks = Join(List(NotNull(kSelf), NotNull(kSeed), NotNull(kOffset)), kSelfChecks,
                                    List(OneInteger(kWords, {kSeed, kOffset})), kLastChecks);

// Converts a bound to selfRef's dtype. Bounds that overflow become its greatest number.
template <class T>
T BoundIn(aclDataType dtype, double bound) {
  const double rounded = RoundedTo(dtype, bound);
  if (!std::isinf(rounded) || std::isinf(bound)) return static_cast<T>(rounded);
  const double most = dtype == ACL_FLOAT16 ? 65504.0 : dtype == ACL_BF16 ? 0x1.FEp127 : 0x1.FFFFFEp127;
  return static_cast<T>(std::copysign(most, bound));
}

// Returns the least number that rounds to `to`, a number of the dtype. If ties round to `to`, this is halfway
// to the number below.
double LimitOf(aclDataType dtype, double to) {
  if ((dtype != ACL_FLOAT16 && dtype != ACL_BF16) || !std::isfinite(to)) return to;
  const int least_exponent = dtype == ACL_FLOAT16 ? -14 : -126;
  const int fraction_bits = dtype == ACL_FLOAT16 ? 10 : 7;
  const int exponent = to == 0 ? least_exponent : std::max(std::ilogb(to), least_exponent);
  const double unit = std::ldexp(1.0, exponent - fraction_bits);
  const bool is_power = to == std::ldexp(1.0, exponent) && exponent > least_exponent;
  const double middle = to - (is_power ? unit / 4 : unit / 2);
  const bool is_even = std::fmod(to / unit, 2.0) == 0;
  return is_even ? middle
                 : static_cast<double>(
                       std::nextafter(static_cast<float>(middle), std::numeric_limits<float>::infinity()));
}

template <class T>
void SetUniform(const OperatorCall& call, aclDataType dtype, engine::RandomSource source,
                const engine::DeviceSource& device, Executor& executor) {
  const T from = BoundIn<T>(dtype, call.attributes[kFrom].wide);
  const T to = BoundIn<T>(dtype, call.attributes[kTo].wide);
  engine::UniformNumbers<T> numbers{
      source, from, to - from, 1, static_cast<T>(LimitOf(dtype, static_cast<double>(to))), from};
  if (std::isinf(numbers.step)) {
    numbers.base = from / 2;
    numbers.step = to / 2 - from / 2;
    numbers.scale = 2;
  }
  SetRandomJob(call, numbers, {.output = kSelf}, device, executor);
}

// Truncates float64 numbers for integer dtypes.
void SetJob(const OperatorCall& call, uint64_t seed, uint64_t offset, const engine::DeviceSource& device,
            Executor& executor) {
  const aclDataType dtype = call.Tensor(kSelf).dtype;
  if (dtype == ACL_DOUBLE || IsInteger(dtype)) {
    SetUniform<double>(call, ACL_DOUBLE, {seed, offset}, device, executor);
  } else {
    SetUniform<float>(call, dtype, {seed, offset}, device, executor);
  }
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnInplaceUniform) {
  return RunPhase1(call, kChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    SetJob(checked, given.seed, given.offset, {}, fresh);
  });
}

PORTACL_PHASE_1(aclnnInplaceUniformTensor) {
  return RunPhase1(call, kTensorChecks, workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) {
                     SetJob(checked, 0, given.offset, DeviceSourceOf(checked, kSeed, kOffset), fresh);
                   });
}
