// aclnnBernoulli and aclnnBernoulliTensor with their in-place forms: draw 1 with a probability, else 0.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/random/bernoulli_functions.h"

#include <cmath>
#include <cstring>

#include "aclnnop/jobs/random_source.h"
#include "base/data_type.h"
#include "base/errors.h"

namespace portacl {
namespace {

using namespace random;

// Tensors of aclnnBernoulli and of aclnnBernoulliTensor.
enum Tensors { kSelf, kOut };
enum TensorsOfTensor { kProb = 1, kOutOfTensor = 2 };
enum Attributes { kProbability };

constexpr DtypeSet kDrawn = kFillable | kBool;
// Atlas inference products and Atlas 200I/500 A2 have no dtype.
constexpr ProductSet kNone{Product::kAtlasInference, Product::kAtlas200I500A2};
constexpr DtypeRule kDtypes =
    ByGeneration(kDrawn, kDrawn | kBf16, kDrawn | kBf16 | kUnsignedSince16Bits).On(kNone, kNoDtype);
constexpr DtypeRule kProbabilities = WithBf16SinceAtlasA2(kFloatAndHalf | kDouble).On(kNone, kNoDtype);

double ProbabilityOf(const OperatorCall& call) noexcept {
  double value = 0;
  std::memcpy(&value, ConvertScalar(call.Scalar(kProbability), ACL_DOUBLE).bytes, sizeof value);
  return value;
}

aclnnStatus CheckProb(const Check& check, OperatorCall& call) noexcept {
  const double probability = ProbabilityOf(call);
  if (!(probability < 0) && !(probability > 1)) return ACL_SUCCESS;
  return FailAclnn(check.code, Text(call.api, ": parameter prob has the value ",
                                    static_cast<float>(probability), ", accepted: 0 to 1."));
}

// Checks that prob broadcasts to the output's shape. CANN does not check this.
aclnnStatus CheckProbShape(const Check& check, OperatorCall& call) noexcept {
  const int output = call.Output();
  call.broadcast = call.Tensor(output).shape;
  Check expands = ExpandsToBroadcast(kProb);
  expands.code = check.code;
  return expands.run(expands, call);
}

constexpr auto LastChecks(int out) { return List(SizesRepresentable({out}), DoneIfEmpty({out})); }
constexpr auto kChecks =
    Join(List(NotNull(kSelf), ScalarNotNull(kProbability), NotNull(kOut), DtypesIn(kDtypes, {kSelf}),
              ScalarDtypesIn(kProbabilities, {kProbability}), SameDtype(kSelf, kOut), Check{.run = CheckProb},
              RankAtMost(8, {kSelf}), SameShape(kSelf, kOut), NotPrivate({kSelf, kOut})),
         LastChecks(kOut), List(InsideStorage({kSelf})));
constexpr auto kInplaceChecks =
    Join(List(NotNull(kSelf), ScalarNotNull(kProbability), DtypesIn(kDtypes, {kSelf}),
              ScalarDtypesIn(kProbabilities, {kProbability}), Check{.run = CheckProb}, RankAtMost(8, {kSelf}),
              NotPrivate({kSelf})),
         LastChecks(kSelf), List(InsideStorage({kSelf})));
constexpr auto LastTensorChecks(int out) {
  return List(SizesRepresentable({out}), DoneIfEmpty({out, kProb}), Check{.run = CheckProbShape},
              InsideStorage({kProb}));
}
constexpr auto kTensorChecks = Join(
    List(NotNull(kSelf), NotNull(kProb), NotNull(kOutOfTensor), DtypesIn(kDtypes, {kSelf}),
         DtypesIn(kProbabilities, {kProb}), SameDtype(kSelf, kOutOfTensor), RankAtMost(8, {kSelf, kProb}),
         SameShape(kSelf, kOutOfTensor), NotPrivate({kSelf, kProb, kOutOfTensor})),
    LastTensorChecks(kOutOfTensor), List(InsideStorage({kSelf})));
constexpr auto kInplaceTensorChecks =
    Join(List(NotNull(kSelf), NotNull(kProb), DtypesIn(kDtypes, {kSelf}), DtypesIn(kProbabilities, {kProb}),
              RankAtMost(8, {kSelf, kProb}), NotPrivate({kSelf, kProb})),
         LastTensorChecks(kSelf), List(InsideStorage({kSelf})));

void SetScalar(const OperatorCall& call, const engine::RandomSource& source, Executor& executor) {
  const double probability = ProbabilityOf(call);
  const bool is_one = IsOne(probability);
  if (is_one || IsZero(probability) || std::isnan(probability)) {
    const aclScalar value{ACL_BOOL, {static_cast<unsigned char>(is_one)}};
    return SetFillJob(call, call.Output(), ConvertScalar(value, call.Tensor(call.Output()).dtype), executor);
  }
  const engine::BernoulliNumbers numbers{source, GreatestWordBelow(probability)};
  SetRandomJob(call, numbers, {.output = call.Output()}, {}, executor);
}

void SetTensor(const OperatorCall& call, const engine::RandomSource& source, Executor& executor) {
  SetRandomJob(call, engine::BernoulliOfEach{source}, {.output = call.Output(), .inputs = {kProb}}, {},
               executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnBernoulli) {
  return RunPhase1(call, kChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    SetScalar(checked, SourceOf(given.seed, given.offset), fresh);
  });
}

PORTACL_PHASE_1(aclnnInplaceBernoulli) {
  return RunPhase1(call, kInplaceChecks, workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) {
                     SetScalar(checked, SourceOf(given.seed, given.offset), fresh);
                   });
}

PORTACL_PHASE_1(aclnnBernoulliTensor) {
  return RunPhase1(call, kTensorChecks, workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) {
                     SetTensor(checked, SourceOf(given.seed, given.offset), fresh);
                   });
}

PORTACL_PHASE_1(aclnnInplaceBernoulliTensor) {
  return RunPhase1(call, kInplaceTensorChecks, workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) {
                     SetTensor(checked, SourceOf(given.seed, given.offset), fresh);
                   });
}
