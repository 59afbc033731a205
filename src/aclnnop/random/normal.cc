// aclnnInplaceNormal, its form with seed and offset in tensors, and the forms whose mean or standard
// deviation may be a tensor: draw normal numbers.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/random/normal_functions.h"

#include "aclnnop/jobs/random_source.h"
#include "base/data_type.h"
#include "base/errors.h"

namespace portacl {
namespace {

using namespace random;

enum Tensors { kSelf, kSeed, kOffset };
enum Attributes { kMean, kStd };

constexpr DtypeRule kFilled = WithBf16SinceAtlasA2(kFillable | kBool);
constexpr DtypeRule kReal = Everywhere(kFloatHalfAndBf16 | kDouble);

aclnnStatus CheckOneDim(const Check& check, OperatorCall& call) noexcept {
  for (int index : check.operands) {
    const Shape& shape = call.Tensor(index).shape;
    if (shape.rank == 1 && shape[0] == 1) continue;
    Text message(call.api, ": parameter ", call.Name(index), " has the shape ");
    AddShape(message, shape);
    return FailAclnn(check.code, message.Add(", expected [1]."));
  }
  return ACL_SUCCESS;
}

// Refuses a negative std. NaN passes.
aclnnStatus CheckStd(const Check& check, OperatorCall& call) noexcept {
  const float std = call.attributes[kStd].real;
  if (!(std < 0)) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   Text(call.api, ": parameter std has the value ", std, ", accepted: 0 or more."));
}

constexpr Check kFunctionsThere = FunctionsThere(kDouble, WhyFunctionsAreMissing);
constexpr auto kFillChecks = List(NotNull(kSelf), Check{.run = CheckStd}, DtypesIn(kFilled, {kSelf}),
                                  RankAtMost(8, {kSelf}), SizesRepresentable({kSelf}), DoneIfEmpty({kSelf}),
                                  InsideStorage({kSelf}), PromotesToDtypeOf(kSelf), kFunctionsThere);
constexpr auto kFillTensorChecks =
    Join(List(NotNull(kSeed), NotNull(kOffset), OneInteger(DtypeSet(ACL_INT64), {kSeed, kOffset}),
              Check{.run = CheckOneDim, .operands = {kSeed, kOffset}}),
         kFillChecks);

// Draws float64 noise only for DOUBLE.
template <class Use>
void WithNoise(const OperatorCall& call, const Use& use) {
  if (call.promoted == ACL_DOUBLE) return use(double{});
  use(float{});
}

void SetFill(const OperatorCall& call, const engine::RandomSource& source, const engine::DeviceSource& device,
             Executor& executor) {
  WithNoise(call, [&](auto zero) {
    using T = decltype(zero);
    const engine::NormalNumbers<T> numbers{source, static_cast<T>(call.attributes[kMean].real),
                                           static_cast<T>(call.attributes[kStd].real)};
    SetRandomJob(call, numbers, {.output = kSelf}, device, executor);
  });
}

// Tensors of the functions whose mean or std is a tensor: mean, std or both, then out.
enum TensorsOfOut { kFirst, kSecond, kThird };

// Computes in float64 if one of the tensors is DOUBLE.
aclnnStatus PromotesToNoise(const Check&, OperatorCall& call) noexcept {
  call.promoted = ACL_FLOAT;
  for (const TensorArgument& argument : call.tensors) {
    if (argument.tensor->dtype == ACL_DOUBLE) call.promoted = ACL_DOUBLE;
  }
  return ACL_SUCCESS;
}

// Checks that std has elements and out's shape. If out is empty, a std of one element passes.
aclnnStatus CheckStdShape(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& std = call.Tensor(kFirst);
  const aclTensor& out = call.Tensor(kSecond);
  const bool is_out_empty = out.countable && out.numel == 0;
  const bool is_std_empty = std.countable && std.numel == 0;
  if (!is_std_empty && (is_out_empty ? std.numel == 1 : std.shape == out.shape)) return ACL_SUCCESS;
  Text message(call.api, ": parameter std has the shape ");
  AddShape(message, std.shape);
  AddShape(message.Add(" and parameter out the shape "), out.shape);
  return FailAclnn(check.code, message.Add(", expected the same shape, which is not empty."));
}

constexpr auto kNoiseChecks = List(Check{.run = PromotesToNoise}, kFunctionsThere);
constexpr auto kTensorTensorChecks =
    Join(List(NotNull(kFirst), NotNull(kSecond), NotNull(kThird), RankAtMost(8, {kFirst, kSecond, kThird})),
         BroadcastsInto({kFirst, kSecond}, kThird),
         List(DtypesIn(kReal, {kFirst, kSecond, kThird}), SizesRepresentable({kThird}), DoneIfEmpty({kThird}),
              InsideStorage({kFirst, kSecond})),
         kNoiseChecks);
constexpr auto kTensorFloatChecks =
    Join(List(NotNull(kFirst), NotNull(kSecond), RankAtMost(8, {kFirst, kSecond})),
         BroadcastsInto({kFirst, kSecond}, kSecond),
         List(DtypesIn(kReal, {kFirst, kSecond}), SizesRepresentable({kSecond}), DoneIfEmpty({kSecond}),
              InsideStorage({kFirst})),
         kNoiseChecks);
constexpr auto kFloatTensorChecks =
    Join(List(NotNull(kFirst), NotNull(kSecond), RankAtMost(8, {kFirst, kSecond}),
              Check{.run = CheckStdShape}, DtypesIn(kReal, {kFirst, kSecond}), SizesRepresentable({kSecond}),
              DoneIfEmpty({kSecond}), InsideStorage({kFirst})),
         kNoiseChecks);
constexpr auto kFloatFloatChecks =
    Join(List(NotNull(kFirst), RankAtMost(8, {kFirst}), DtypesIn(kReal, {kFirst}),
              SizesRepresentable({kFirst}), DoneIfEmpty({kFirst})),
         kNoiseChecks);

// Draws numbers of this mean and standard deviation, or those of the inputs at these positions.
void SetOut(const OperatorCall& call, Operands inputs, const engine::RandomSource& source, float mean,
            float std, int mean_input, int std_input, Executor& executor) {
  WithNoise(call, [&](auto zero) {
    using T = decltype(zero);
    const engine::NormalNumbers<T> numbers{source, static_cast<T>(mean), static_cast<T>(std), mean_input,
                                           std_input};
    SetRandomJob(call, numbers, {.output = call.Output(), .inputs = inputs}, {}, executor);
  });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnInplaceNormal) {
  return RunPhase1(call, kFillChecks, workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) {
                     SetFill(checked, SourceOf(given.seed, given.offset), {}, fresh);
                   });
}

PORTACL_PHASE_1(aclnnInplaceNormalTensor) {
  return RunPhase1(
      call, kFillTensorChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
        SetFill(checked, SourceOf(0, given.offset), DeviceSourceOf(checked, kSeed, kOffset), fresh);
      });
}

PORTACL_PHASE_1(aclnnNormalTensorTensor) {
  return RunPhase1(
      call, kTensorTensorChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
        SetOut(checked, {kFirst, kSecond}, SourceOf(given.seed, given.offset), 0, 0, 0, 1, fresh);
      });
}

PORTACL_PHASE_1(aclnnNormalTensorFloat) {
  return RunPhase1(
      call, kTensorFloatChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
        SetOut(checked, {kFirst}, SourceOf(given.seed, given.offset), 0, given.std, 0, -1, fresh);
      });
}

PORTACL_PHASE_1(aclnnNormalFloatTensor) {
  return RunPhase1(
      call, kFloatTensorChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
        SetOut(checked, {kFirst}, SourceOf(given.seed, given.offset), given.mean, 0, -1, 0, fresh);
      });
}

PORTACL_PHASE_1(aclnnNormalFloatFloat) {
  return RunPhase1(
      call, kFloatFloatChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
        SetOut(checked, {}, SourceOf(given.seed, given.offset), given.mean, given.std, -1, -1, fresh);
      });
}
