// Dropout in all its forms: draws masks, applies masks, and does both at once.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/random/dropout_functions.h"

#include <cstring>

#include "acl/settings/configuration.h"
#include "aclnnop/jobs/random_source.h"
#include "base/data_type.h"
#include "base/errors.h"

namespace portacl {
namespace {

using namespace random;

constexpr int64_t kBits = engine::PackedOperand::kNumbers;
using Use = engine::PackedOperand::Use;

constexpr DtypeRule kDropped = kBf16SinceAtlasA2;
// Dtypes of aclnnDropout, which on Ascend 950 lacks BF16.
constexpr DtypeRule kDroppedBeforeAscend950 = kBf16SinceAtlasA2.On(products::kAscend950, kFloatAndHalf);
constexpr DtypeSet kCastable = kFloatHalfAndBf16 | kDouble | kComplex;

// Returns the bytes of a mask of n elements, or -1 for a negative n.
int64_t MaskBytes(int64_t n) noexcept {
  return n < 0 ? -1 : (n / kBits + (n % kBits != 0 ? 1 : 0)) * (kBits / 8);
}

aclnnStatus FailProbability(const OperatorCall& call, const char* name, double value, const char* accepted) {
  return FailAclnn(ACLNN_ERR_PARAM_INVALID, Text(call.api, ": parameter ", name, " has the value ",
                                                 static_cast<float>(value), ", accepted: ", accepted, "."));
}

aclnnStatus FailMaskSize(const OperatorCall& call, const char* name, int64_t found, const char* rule,
                         int64_t expected) {
  return FailAclnn(ACLNN_ERR_PARAM_INVALID, Text(call.api, ": parameter ", name, " has ", found,
                                                 " elements, expected ", rule, expected, "."));
}

// ---- drawing masks ----

enum AttributesOfMask { kShape, kProb, kProbDtype };

constexpr DtypeRule kProbDtypes = Everywhere(kFloatHalfAndBf16);

aclnnStatus CheckShapeGiven(const Check& check, OperatorCall& call) noexcept {
  if (call.attributes[kShape].array != nullptr) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   Text(call.api, ": parameter shape is a null pointer, expected an array of dims."));
}

// Returns the number of elements of an input of this shape, or -1 where a dim is negative or the number
// overflows int64.
int64_t ElementsOf(const aclIntArray& shape) noexcept {
  int64_t n = 1;
  bool fits = true;
  for (const int64_t dim : shape.values) {
    if (dim < 0) return -1;
    if (dim == 0) return 0;
  }
  for (const int64_t dim : shape.values) fits = fits && !__builtin_mul_overflow(n, dim, &n);
  return fits ? n : -1;
}

aclnnStatus CheckDrawnSize(const Check&, OperatorCall& call) noexcept {
  const aclTensor& out = call.Tensor(call.Output());
  const int64_t bytes = MaskBytes(ElementsOf(*call.attributes[kShape].array));
  if (bytes >= 0 && out.countable && out.numel == bytes) return ACL_SUCCESS;
  if (bytes < 0) {
    return FailAclnn(ACLNN_ERR_PARAM_INVALID,
                     Text(call.api, ": parameter shape has a negative dim or more than 2^63 elements."));
  }
  return FailMaskSize(call, "out", out.numel, "for this shape ", bytes);
}

bool DrawsMask(const OperatorCall& call) noexcept {
  const double probability = call.attributes[kProb].wide;
  return !IsZero(probability) && !IsOne(probability) && call.product != Product::kAscend950;
}

constexpr auto DrawnChecks(int out) {
  return List(NotNull(out), DtypesIn(DtypeSet(ACL_UINT8), {out}), ProbabilityAt(kProb),
              Check{.run = CheckDrawnSize}, SizesRepresentable({out}), DoneIfEmpty({out}),
              WithCode(ACLNN_ERR_INNER_NULLPTR, RankAtMost(8, {out})));
}
constexpr Check kShapeGiven{.run = CheckShapeGiven, .code = ACLNN_ERR_PARAM_NULLPTR};
constexpr Check kProbDtypeThere =
    If(DrawsMask, WithCode(ACLNN_ERR_INNER_NULLPTR, DtypeIn(kProbDtypes, kProbDtype)));
constexpr auto kGenMaskChecks = Join(List(kShapeGiven), DrawnChecks(0));
constexpr auto kGenMaskV2Checks = Join(kGenMaskChecks, List(kProbDtypeThere));
constexpr auto kGenMaskV2TensorChecks = Join(List(kShapeGiven, NotNull(0), NotNull(1)), DrawnChecks(2),
                                             List(OneInteger(kWords, {0, 1}), kProbDtypeThere));

// Sets a mask whose bits are 1 with 1 - probability. If nothing or everything is dropped, the padding has the
// same bits as the rest.
void SetMask(const OperatorCall& call, const engine::RandomSource& source, const engine::DeviceSource& device,
             double probability, Executor& executor) {
  if (IsZero(probability) || IsOne(probability)) {
    ScalarValue value;
    value.bytes[0] = IsZero(probability) ? 0xFF : 0;
    return SetFillJob(call, call.Output(), value, executor);
  }
  const double kept = 1 - probability;
  if (!(kept > 0)) return SetFillJob(call, call.Output(), {}, executor);  // NaN
  const engine::MaskNumbers numbers{source, GreatestWordBelow(kept),
                                    ElementsOf(*call.attributes[kShape].array)};
  SetRandomJob(call, numbers, {.output = call.Output()}, device, executor);
}

// Returns the probability, rounded to its dtype except on Ascend 950.
double ProbabilityIn(const OperatorCall& call) noexcept {
  const double probability = call.attributes[kProb].wide;
  return DrawsMask(call) ? RoundedTo(call.attributes[kProbDtype].dtype(), probability) : probability;
}

// ---- applying masks ----

enum TensorsOfMasked { kIn, kMask, kOut };
enum AttributesOfMasked { kP };

aclnnStatus CheckMaskSize(const Check& check, OperatorCall& call) noexcept {
  const int64_t bytes = MaskBytes(call.Tensor(check.operands.index[0]).numel);
  const int mask = check.operands.index[1];
  const bool is_enough = check.low == 0;
  const aclTensor& tensor = call.Tensor(mask);
  if (tensor.countable && (tensor.numel == bytes || (is_enough && tensor.numel > bytes))) return ACL_SUCCESS;
  return FailMaskSize(call, call.Name(mask), tensor.numel, is_enough ? "at least " : "", bytes);
}
constexpr Check MaskSizeIs(int in, int mask) {
  return {.run = CheckMaskSize, .operands = {in, mask}, .low = 1};
}
constexpr Check MaskSizeAtLeast(int in, int mask) { return {.run = CheckMaskSize, .operands = {in, mask}}; }

// Returns the probability for which kept elements have this scale.
double ProbabilityOfScale(double scale) noexcept { return scale == 0 ? 1 : 1 - 1 / scale; }

aclnnStatus CheckScale(const Check&, OperatorCall& call) noexcept {
  const double scale = call.attributes[kP].wide;
  const double probability = ProbabilityOfScale(scale);
  if (!(probability < 0) && !(probability > 1)) return ACL_SUCCESS;
  return FailProbability(call, "scale", scale, "0, or 1 and more");
}

constexpr auto MaskedDtypes(const DtypeRule& rule, int mask, int out) {
  return List(CastsTo(kIn, out), DtypesIn(rule, {kIn}), DtypesIn(DtypeSet(ACL_UINT8), {mask}));
}
constexpr auto MaskedLast(int mask, int out) {
  return List(SizesRepresentable({out}), DoneIfEmpty({kIn}), InsideStorage({kIn, mask}),
              WithCode(ACLNN_ERR_INNER_NULLPTR, RankAtMost(8, {mask})), DtypeImplemented({out}, kCastable));
}
constexpr auto kDoMaskChecks =
    Join(List(NotNull(kIn), NotNull(kMask), NotNull(kOut), DoneIfEmpty({kIn, kMask})),
         MaskedDtypes(kDropped, kMask, kOut),
         List(ProbabilityAt(kP), RankAtMost(8, {kIn}), SameShape(kIn, kOut), MaskSizeAtLeast(kIn, kMask)),
         MaskedLast(kMask, kOut));
constexpr auto kBackwardChecks =
    Join(List(NotNull(kIn), NotNull(kMask), NotNull(kOut)), MaskedDtypes(kDropped, kMask, kOut),
         List(Check{.run = CheckScale}, RankAtMost(8, {kIn}), SameShape(kIn, kOut), MaskSizeIs(kIn, kMask)),
         MaskedLast(kMask, kOut));

aclnnStatus CheckProduct(const Check& check, OperatorCall& call) noexcept {
  return FailAclnn(check.code, Text(call.api, ": this product, ", CurrentConfiguration().soc->line,
                                    ", is not supported, accepted: Ascend 950."));
}

constexpr auto kV3GradChecks =
    Join(List(OnProducts(~products::kAscend950, Check{.run = CheckProduct}), NotNull(kIn), NotNull(kMask),
              NotNull(kOut)),
         MaskedDtypes(kDropped, kMask, kOut),
         List(RankAtMost(8, {kIn}), SameShape(kIn, kOut), MaskSizeIs(kIn, kMask)), MaskedLast(kMask, kOut));

// Sets out = in * scale where the mask's bit is 1, else 0 or, if `multiplies`, in * 0.
void SetMasked(const OperatorCall& call, float scale, bool multiplies, Executor& executor) {
  const engine::DropoutNumbers numbers{{}, 0, scale, engine::DropoutNumbers::Bits::kRead, multiplies};
  SetRandomJob(call, numbers, {.output = kOut, .inputs = {kIn}, .packed = kMask, .use = Use::kRead}, {},
               executor);
}

// Returns 1 / (1 - probability), with the divisor rounded to the input's dtype. Programs can observe this
// rounding with BF16.
float ScaleOf(aclDataType dtype, double probability) noexcept {
  const auto kept = static_cast<float>(1 - probability);
  return 1.0f / static_cast<float>(RoundedTo(dtype, static_cast<double>(kept)));
}

// Sets the job where no draw is needed: copies the input, or writes zeros. Returns whether it did.
bool SetWithoutMask(const OperatorCall& call, double probability, int out, Executor& executor) {
  if (IsZero(probability)) {
    SetMoveJob(call, kIn, out, executor);
    return true;
  }
  if (IsOne(probability)) SetFillJob(call, out, {}, executor);
  return IsOne(probability);
}

void SetDoMask(const OperatorCall& call, double probability, Executor& executor) {
  if (SetWithoutMask(call, probability, kOut, executor)) return;
  SetMasked(call, ScaleOf(call.Tensor(kIn).dtype, probability), /*multiplies=*/false, executor);
}

// ---- drawing and applying ----

// Tensors: input, out, maskOut.
enum TensorsOfDropout { kDroppedOut = 1, kMaskOut = 2 };
// Tensors: input, optionalNoiseShape, out, maskOut.
enum TensorsOfV3 { kNoiseShape = 1, kOutOfV3 = 2, kMaskOutOfV3 = 3 };

aclnnStatus CheckNoNoiseShape(const Check& check, OperatorCall& call) noexcept {
  if (!call.IsGiven(kNoiseShape)) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   Text(call.api, ": parameter optionalNoiseShape is given, accepted: a null pointer."));
}

constexpr auto kDropoutChecks =
    Join(List(NotNull(kIn), NotNull(kDroppedOut), NotNull(kMaskOut)),
         MaskedDtypes(kDroppedBeforeAscend950, kMaskOut, kDroppedOut),
         List(ProbabilityAt(kP), RankAtMost(8, {kIn}), SameShape(kIn, kDroppedOut), MaskSizeIs(kIn, kMaskOut),
              SizesRepresentable({kMaskOut})),
         MaskedLast(kMaskOut, kDroppedOut));
constexpr auto kV3Checks =
    Join(List(NotNull(kIn), NotNull(kOutOfV3), NotNull(kMaskOutOfV3)),
         MaskedDtypes(kDropped, kMaskOutOfV3, kOutOfV3),
         List(Check{.run = CheckNoNoiseShape}, ProbabilityAt(kP), RankAtMost(8, {kIn}),
              SameShape(kIn, kOutOfV3), MaskSizeIs(kIn, kMaskOutOfV3), SizesRepresentable({kMaskOutOfV3})),
         MaskedLast(kMaskOutOfV3, kOutOfV3));

void SetDropout(const OperatorCall& call, double probability, const engine::RandomSource& source,
                Executor& executor) {
  if (SetWithoutMask(call, probability, kDroppedOut, executor)) return;
  const double kept = 1 - probability;
  if (!(kept > 0)) return SetFillJob(call, kDroppedOut, {}, executor);  // NaN
  const engine::DropoutNumbers numbers{source, GreatestWordBelow(kept),
                                       ScaleOf(call.Tensor(kIn).dtype, probability),
                                       engine::DropoutNumbers::Bits::kDrawn, /*multiplies=*/false};
  SetRandomJob(call, numbers,
               {.output = kDroppedOut, .inputs = {kIn}, .packed = kMaskOut, .use = Use::kWritten}, {},
               executor);
}

void SetV3(const OperatorCall& call, double probability, const engine::RandomSource& source,
           Executor& executor) {
  using Bits = engine::DropoutNumbers::Bits;
  engine::DropoutNumbers numbers{source, 0, 1, Bits::kDrawn, /*multiplies=*/true};
  const double kept = 1 - probability;
  if (IsZero(probability)) {
    numbers.bits = Bits::kAll;
  } else if (IsOne(probability) || !(kept > 0)) {
    numbers.bits = Bits::kNone;
    numbers.multiplies = false;
  } else {
    numbers.most = GreatestWordBelow(kept);
    numbers.scale = 1.0f / static_cast<float>(kept);
  }
  SetRandomJob(call, numbers,
               {.output = kOutOfV3, .inputs = {kIn}, .packed = kMaskOutOfV3, .use = Use::kWritten}, {},
               executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnDropout) {
  return RunPhase1(
      call, kDropoutChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
        SetDropout(checked, given.train ? given.p : 0, SourceOf(given.seed, given.offset), fresh);
      });
}

PORTACL_PHASE_1(aclnnDropoutV3) {
  return RunPhase1(call, kV3Checks, workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) {
                     SetV3(checked, given.p, SourceOf(given.seed, given.offset), fresh);
                   });
}

PORTACL_PHASE_1(aclnnDropoutDoMask) {
  return RunPhase1(
      call, kDoMaskChecks, workspaceSize, executor,
      [&](const OperatorCall& checked, Executor& fresh) { SetDoMask(checked, given.prob, fresh); });
}

PORTACL_PHASE_1(aclnnDropoutBackward) {
  return RunPhase1(call, kBackwardChecks, workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) {
                     SetDoMask(checked, ProbabilityOfScale(given.scale), fresh);
                   });
}

PORTACL_PHASE_1(aclnnDropoutV3Grad) {
  return RunPhase1(call, kV3GradChecks, workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) {
                     SetMasked(checked, static_cast<float>(given.scale), /*multiplies=*/true, fresh);
                   });
}

PORTACL_PHASE_1(aclnnDropoutGenMask) {
  return RunPhase1(call, kGenMaskChecks, workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) {
                     SetMask(checked, SourceOf(given.seed, given.offset), {}, given.prob, fresh);
                   });
}

PORTACL_PHASE_1(aclnnDropoutGenMaskV2) {
  return RunPhase1(call, kGenMaskV2Checks, workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) {
                     SetMask(checked, SourceOf(given.seed, given.offset), {}, ProbabilityIn(checked), fresh);
                   });
}

PORTACL_PHASE_1(aclnnDropoutGenMaskV2Tensor) {
  return RunPhase1(call, kGenMaskV2TensorChecks, workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) {
                     SetMask(checked, SourceOf(0, given.offset), DeviceSourceOf(checked, 0, 1),
                             ProbabilityIn(checked), fresh);
                   });
}
