// Softmax, norms and losses over classes for the determinism test: rows of several blocks, rows along any axis, sums over many rows. Each
// result of an operator that has several is hashed in a setting of its own.
// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "aclnnop/families/loss.h"
#include "aclnnop/families/norm.h"
#include "determinism/described_calls.h"

namespace portacl::testing {
namespace {

const std::vector<DtypeNumber> kFloats = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
const std::vector<DtypeNumber> kHalves = {ACL_FLOAT16, ACL_BF16};
const std::vector<DtypeNumber> kWithDouble = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE};
const Shape kRows = {617, 123};
const Shape kColumns = {123};
const Shape kNumbers = {617, 1};
const Shape kBatches = {3, 97, 257};
const Shape kImages = {5, 6, 41, 31};
const Shape kChannels = {6};
const Shape kParts = {9, 6};
const Shape kGroups = {5, 3};
const Shape kScores = {3, 2, 37, 421};
const CaseTensor kMask = {{3, 1, 37, 421}, ACL_BOOL};
const std::vector<CaseTensor> kSumGradientInputs = {
    kRows, kRows, kRows, kColumns, {kNumbers, ACL_FLOAT}, {kNumbers, ACL_FLOAT}};
const std::vector<CaseTensor> kSumGradients = {kRows, {kColumns, ACL_FLOAT}, {kColumns, ACL_FLOAT}};

std::vector<GivenCase> AlongEveryDim(size_t inputs, const std::vector<DtypeNumber>& dtypes) {
  const CaseTensor cube = {7, 61, 53}, wide = {1, 3, 9001};
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : dtypes)
    cases = cases + Cases({dtype}, std::vector<CaseTensor>(inputs, cube), {cube, cube, cube}) +
            std::vector<GivenCase>{Case(dtype, std::vector<CaseTensor>(inputs, wide), wide, 2)};
  return cases;
}

const DescribedCalls kNorms({
    CallOf("aclnnSoftmax", AlongEveryDim(1, kWithDouble), {{"dim", kSetting}}),
    CallOf("aclnnLogSoftmax", AlongEveryDim(1, kWithDouble), {{"dim", kSetting}}),
    CallOf("aclnnSoftmaxBackward", AlongEveryDim(2, kFloats), {{"dim", kSetting}}),
    CallOf("aclnnLogSoftmaxBackward", AlongEveryDim(2, kFloats), {{"dim", kSetting}}),
    // By each kind of norm, to which most slices are scaled.
    CallOf("aclnnRenorm",
           Cases(kFloats, {{61, 53, 7}}, std::vector<CaseTensor>(5, {61, 53, 7})) +
               Cases({ACL_FLOAT}, {{3, 2, 9001}}, {{3, 2, 9001}}),
           {{"p", BySetting({2, 1, 0, std::numeric_limits<double>::infinity(), 1.5})},
            {"dim", BySetting({0, 1, 0, 1, 0})},
            {"maxNorm", 1}}),
    CallOf("aclnnLayerNorm", Cases(kFloats, {kRows, kColumns, kColumns}, {kRows, kNumbers, kNumbers}),
           {{"normalizedShape", kColumns}}),
    CallOf("aclnnLayerNormBackward",
           Cases(kFloats, {kRows, kRows, kNumbers, kNumbers, kColumns}, {kRows, kColumns, kColumns}),
           {{"normalizedShape", kColumns}}),
    CallOf("aclnnAdaLayerNorm", Cases(kFloats, {kBatches, {3, 257}, {3, 1, 257}, {257}, {257}}, {kBatches})),
    CallOf("aclnnModulateBackward",
           Cases(kFloats, {kBatches, kBatches, {3, 257}}, {kBatches, {3, 257}, {3, 257}}),
           {{"shift", Input(2)}}, {}, {.is_plain_code = true}),
    CallOf("aclnnRmsNorm", Cases(kFloats, {kRows, kColumns}, {kRows})),
    CallOf("aclnnRmsNormGrad",
           Cases(kFloats, {kRows, kRows, {kNumbers, ACL_FLOAT}, kColumns}, {kRows, {kColumns, ACL_FLOAT}})),
    CallOf("aclnnAddRmsNorm", Cases(kHalves, {kRows, kRows, kColumns}, {kRows}),
           {{"rstdOut", nullptr}, {"xOut", nullptr}}),
    // With the sum and rstd, of which FLOAT has no other form.
    CallOf("aclnnAddRmsNorm", Cases({ACL_FLOAT}, {kRows, kRows, kColumns}, {kRows, kRows}), {},
           {"yOut", "xOut"}, {}, "sum"),
    // Alone, the sum, and both terms of other dtypes.
    CallOf("aclnnAddLayerNorm",
           Cases(kFloats, {kRows, kRows, kColumns, kColumns, kColumns}, {kRows, kRows, kRows}) +
               std::vector<GivenCase>{
                   Case(ACL_FLOAT, {kRows, {kRows, ACL_BF16}, kColumns, kColumns, kColumns}, kRows, 1)},
           {{"additionalOutput", BySetting({0, 1, 1})}}, {"yOut", "yOut", "xOut"}),
});

const DescribedCalls kNormsOfChannels({
    // In training and not.
    CallOf("aclnnBatchNorm",
           Cases(kFloats, {kImages, kChannels, kChannels, kChannels, kChannels}, {kImages, kImages}),
           {{"runningMean", BySetting({nullptr, Input(3)})},
            {"runningVar", BySetting({nullptr, Input(4)})},
            {"training", BySetting({1, 0})}},
           {"output"}, {.not_negative = {4}}),
    // Mean and reciprocal deviation of channels.
    CallOf("aclnnBatchNorm", Cases(kFloats, {kImages}, {kChannels, kChannels}),
           {{"runningMean", nullptr}, {"runningVar", nullptr}}, {"saveMean", "saveInvstd"}, {}, "statistics"),
    CallOf("aclnnBatchNormBackward",
           Cases(kFloats, {kImages, kImages, kChannels, kChannels, kChannels},
                 {kImages, kChannels, kChannels}),
           {{"runningMean", nullptr}, {"runningVar", nullptr}}),
    // Parts of a batch norm: the statistics of one part, and of nine parts together.
    CallOf("aclnnBatchNormStats", Cases({ACL_FLOAT}, {kImages}, {kChannels, kChannels})),
    CallOf("aclnnBatchNormElemt",
           Cases(kFloats, {kImages, kChannels, kChannels, kChannels, kChannels}, {kImages})),
    CallOf("aclnnBatchNormElemtBackward",
           Cases({ACL_FLOAT, ACL_FLOAT16},
                 {kImages, kImages, kChannels, kChannels, kChannels, kChannels, kChannels, {3}}, {kImages})),
    CallOf("aclnnBatchNormReduceBackward",
           Cases(kFloats, {kImages, kImages, kChannels, kChannels}, {kChannels, kChannels, kChannels}), {},
           {"sumDy", "gradWeight", "gradBias"}),
    CallOf("aclnnBatchNormGatherStatsWithCounts",
           Cases(kFloats, {kParts, kParts, {9}}, {kChannels, kChannels}),
           {{"mean", Input(0)}, {"runningMean", nullptr}, {"runningVar", nullptr}}, {"meanAll", "invstdAll"},
           {.not_negative = {1, 2}}),
    CallOf("aclnnSyncBatchNormGatherStats", Cases({ACL_FLOAT}, {kParts, kParts, {9}}, {kChannels}), {},
           {"batchMean"}, {.not_negative = {1, 2}}),
    CallOf("aclnnGroupNorm", Cases(kFloats, {kImages, kChannels, kChannels}, {kImages, kGroups, kGroups}),
           {{"N", 5}, {"C", 6}, {"HxW", 41 * 31}, {"group", 3}, {"meanOut", kGroups}, {"rstdOut", kGroups}}),
    CallOf("aclnnGroupNormBackward",
           Cases(kFloats, {kImages, kImages, kGroups, kGroups, kChannels}, {kImages, kChannels, kChannels}),
           {{"N", 5}, {"C", 6}, {"HxW", 41 * 31}, {"group", 3}}),
});
const auto kBatchNormReduce =
    Register(PORTACL_PHASES(aclnnBatchNormReduce, c.Own(Same(c[0], ACL_FORMAT_NCHW)),
                            c.OutIf(c.setting == 0, kChannels), c.OutIf(c.setting != 0, kChannels)),
             Cases({ACL_FLOAT}, {kImages}, {kChannels, kChannels}));

// ---- losses of classes ----

const Shape kClassRows = {9001, 17};
const Shape kWideRows = {9, 9001};
const Shape kPixels = {2, 5, 61, 53};
const std::vector<GivenArgument> kReduced = {{"reduction", kSetting}, {"ignoreIndex", 3}};

// Losses, each or together, and which classes are labels.
std::vector<GivenCase> MarginCases() {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kFloats) {
    for (size_t reduction = 0; reduction < 4; ++reduction) {
      for (const Shape& rows : {Shape{4201, 3}, Shape{37, 301}}) {
        const Shape loss = reduction == 0 ? Shape{rows[0]} : Shape{};
        cases.push_back(
            Case(dtype, {rows, {rows, ACL_INT64, rows[1], -1}}, reduction == 3 ? rows : loss, reduction));
      }
    }
  }
  return cases;
}
std::vector<GivenCase> LossGradientCases() {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kFloats) {
    for (size_t reduction = 0; reduction < 3; ++reduction)
      cases.push_back(Case(
          dtype, {reduction == 0 ? Shape{9001} : Shape{}, kClassRows, {{9001}, ACL_INT64, 17}, {17}, Shape{}},
          kClassRows, reduction));
  }
  return cases;
}
// Losses without weights, smoothed; logarithms; losses with weights, not smoothed.
std::vector<GivenCase> CrossEntropyCases() {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kFloats) {
    for (size_t which = 0; which < 4; ++which) {
      const Shape& rows = which == 3 ? kWideRows : kClassRows;
      cases.push_back(Case(dtype, {rows, {{rows[0]}, ACL_INT64, rows[1]}, {{rows[1]}, ACL_FLOAT}},
                           which % 2 != 0 ? rows : Shape{}, which));
    }
  }
  return cases;
}
std::vector<GivenCase> ShareCases() {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kFloats)
    cases = cases + Cases({dtype}, {kClassRows, kClassRows}, {{kClassRows[0]}, kClassRows}) +
            std::vector<GivenCase>{Case(dtype, {kWideRows, kWideRows}, kWideRows, 2)};
  return cases;
}
std::vector<GivenCase> LossFromSumsCases() {
  std::vector<GivenCase> cases;
  const Shape rows = {kClassRows[0]};
  for (const DtypeNumber dtype : kFloats)
    cases = cases + Cases({ACL_FLOAT}, {rows, rows, rows, {kClassRows, dtype}}, {rows, kClassRows});
  return cases;
}

const DescribedCalls kLosses({
    CallOf("aclnnNLLLoss",
           Cases(kFloats, {kClassRows, {{9001}, ACL_INT64, 17}, {17}}, {{9001}, Shape{}, Shape{}}), kReduced,
           {"out"}, {.not_negative = {2}, .is_plain_code = true}),
    CallOf("aclnnMultilabelMarginLoss", MarginCases(), {{"reduction", kSetting}},
           {"out", "out", "out", "isTarget"}),
    CallOf("aclnnNLLLoss2d",
           Cases(kFloats, {kPixels, {{2, 61, 53}, ACL_INT64, 5}, {5}}, {{2, 61, 53}, Shape{}, Shape{}}),
           kReduced, {"out"}, {.not_negative = {2}, .is_plain_code = true}),
    CallOf("aclnnNLLLossBackward", LossGradientCases(), kReduced, {}, {.is_plain_code = true}),
    CallOf("aclnnSoftmaxCrossEntropyWithLogits", ShareCases()),
    CallOf("aclnnFusedCrossEntropyLossWithMaxSum", LossFromSumsCases(),
           {{"inputOptional", nullptr},
            {"weightOptional", nullptr},
            {"vocabParallelLogitsOptional", BySetting({nullptr, Input(3)})},
            {"softMaxOutOptional", nullptr}},
           {}, {.not_negative = {1}}),
    CallOf("aclnnCrossEntropyLoss", CrossEntropyCases(),
           {{"weightOptional", BySetting({nullptr, Input(2), Input(2), Input(2)})},
            {"reductionOptional", BySetting({"sum", "mean", "mean", "mean"})},
            {"ignoreIndex", 3},
            {"labelSmoothing", BySetting({0.1, 0.1, 0, 0.1})},
            {"zlossOut", Shape{0}},
            {"lseForZlossOut", Shape{0}}},
           {"lossOut", "logProbOut", "lossOut", "logProbOut"}, {.not_negative = {2}}),
    CallOf("aclnnCrossEntropyLossGrad",
           Cases(kFloats, {Shape{}, kClassRows, {{9001}, ACL_INT64, 17}, {{17}, ACL_FLOAT}},
                 {kClassRows, kClassRows, kClassRows}),
           {{"weightOptional", BySetting({nullptr, Input(3), Input(3)})},
            {"gradZlossOptional", nullptr},
            {"lseForZlossOptional", nullptr},
            {"reductionOptional", BySetting({"sum", "mean", "mean"})},
            {"ignoreIndex", 3},
            {"labelSmoothing", BySetting({0.1, 0.1, 0})}},
           {}, {.not_negative = {3}}),
});

// Losses of two classes: values, means and sums, with weights and without.
std::vector<GivenCase> BinaryCases(size_t inputs, const Shape& last, bool is_gradient) {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kFloats) {
    for (size_t reduction = 0; reduction < 3; ++reduction) {
      std::vector<CaseTensor> tensors(inputs, kRows);
      tensors.back() = last;
      if (is_gradient && reduction != 0) tensors[0] = Shape{};
      cases.push_back(Case(dtype, tensors, reduction == 0 || is_gradient ? kRows : Shape{}, reduction));
    }
  }
  return cases;
}
const GivenValue kWeightsOrNone = BySetting({Input(3), nullptr, Input(3)});
const DescribedCalls kBinaryLosses({
    // Of numbers above 1, which is half of what is drawn, a value is NaN; sums would be, too.
    CallOf("aclnnBinaryCrossEntropy", Cases(kFloats, {kRows, kRows, kColumns}, {kRows}), {{"reduction", 0}},
           {}, {.not_negative = {0, 1}}),
    CallOf("aclnnBinaryCrossEntropyBackward", BinaryCases(4, kColumns, true), {{"reduction", kSetting}}, {},
           {.not_negative = {1, 2}}),
    CallOf("aclnnBinaryCrossEntropyWithLogits", BinaryCases(4, kColumns, false),
           {{"posWeightOptional", kWeightsOrNone}, {"reduction", kSetting}}, {}, {.not_negative = {1, 3}}),
    CallOf("aclnnBinaryCrossEntropyWithLogitsBackward", BinaryCases(4, kColumns, true),
           {{"weightOptional", nullptr}, {"posWeightOptional", kWeightsOrNone}, {"reduction", kSetting}}, {},
           {.not_negative = {2, 3}}),
    CallOf("aclnnBinaryCrossEntropyWithLogitsTargetBackward", BinaryCases(4, kColumns, true),
           {{"weight", nullptr}, {"posWeight", kWeightsOrNone}, {"reduction", kSetting}}, {},
           {.not_negative = {2, 3}}),
    CallOf("aclnnSoftMarginLoss", BinaryCases(2, kRows, false), {{"reduction", kSetting}}),
    CallOf("aclnnSoftMarginLossBackward", BinaryCases(3, kRows, true), {{"reduction", kSetting}}),
});

// ---- norms fused with what is around them ----

std::vector<GivenCase> CastCases() {
  std::vector<GivenCase> cases = Cases(kHalves, {kRows, kRows, kColumns}, {kRows, kRows});
  for (GivenCase& one : cases) ++one.attributes;
  return cases;
}
const DescribedCalls kFused({
    CallOf("aclnnGemmaRmsNorm", Cases(kFloats, {kRows, kColumns}, {kRows})),
    CallOf("aclnnAddRmsNormBias", Cases(kFloats, {kRows, kRows, kColumns, kColumns}, {kRows})),
    CallOf("aclnnAddRmsNormCast", CastCases(), {}, {"y1Out", "y2Out", "xOut"}),
    CallOf("aclnnDeepNorm", Cases(kFloats, {kRows, kRows, kColumns, kColumns}, {kRows}), {}, {"yOut"}),
    CallOf("aclnnDeepNormGrad", Cases(kFloats, kSumGradientInputs, kSumGradients), {},
           {"dxOut", "dbetaOut", "dgammaOut"}),
    CallOf("aclnnAddLayerNormGrad", Cases(kFloats, kSumGradientInputs, kSumGradients),
           {{"rstd", Input(5)}, {"mean", Input(4)}, {"gamma", Input(3)}, {"dsumOptional", Input(1)}}),
    CallOf("aclnnGroupNormSiluV2", Cases(kFloats, {kImages, kChannels, kChannels}, {kImages, kImages}),
           {{"activateSilu", BySetting({1, 0})}, {"meanOut", kGroups}, {"rstdOut", kGroups}}, {"out"}),
    CallOf("aclnnGroupNormSwish", Cases(kFloats, {kImages, kChannels, kChannels}, {kImages}),
           {{"dataFormatOptional", nullptr}, {"meanOut", kGroups}, {"rstdOut", kGroups}}),
    CallOf("aclnnGroupNormSwishGrad",
           Cases(kFloats, {kImages, kGroups, kGroups, kImages, kChannels, kChannels},
                 {kImages, kChannels, kChannels}),
           {{"dataFormatOptional", nullptr}}),
    CallOf("aclnnScaledMaskedSoftmax", Cases(kFloats, {kScores, kMask}, {kScores}), {{"scale", 0.3}}),
    CallOf("aclnnScaledMaskedSoftmaxBackward", Cases(kFloats, {kScores, kScores, kMask}, {kScores}),
           {{"scale", 0.3}}),
    CallOf("aclnnMaskedSoftmaxWithRelPosBias",
           Cases(kFloats, {kScores, {3, 37, 421}, {2, 37, 421}}, {kScores}), {{"scaleValue", 0.3}}),
});

// Three sequences; the loss, and the gradient. Plain code as phase 1 sees it: a step's exponentials alone are compiled for each instruction set.
const Shape kSteps = {23, 3, 7};
const CaseTensor kTargetRows = {{3, 5}, ACL_INT64, 7, 1};
const Shape kStates = {3, 23, 16};
const std::vector<GivenArgument> kLengths = {{"inputLengths", {23, 20, 23}}, {"targetLengths", {5, 4, 5}}};
const DescribedCalls kCtc({
    CallOf("aclnnCtcLoss", Cases({ACL_FLOAT, ACL_BF16}, {kSteps, kTargetRows}, {kStates}), kLengths,
           {"logAlpha"}, {.is_plain_code = true}),
    CallOf("aclnnCtcLossBackward",
           Cases({ACL_FLOAT, ACL_BF16}, {{3}, kSteps, kTargetRows, {3}, kStates}, {kSteps}), kLengths, {},
           {.is_plain_code = true}),
});

// ---- the cross entropy of a linear layer in parts ----

const CaseTensor kTargets = {{37}, ACL_INT64, 301};
const auto kOnlineMaxSum =
    Register(PORTACL_PHASES(aclnnFusedLinearOnlineMaxSum, c[0], c[1], c[2], 0, 301, c.Unseen({37}), c[3],
                            c.Unseen({37}), c.Unseen({5}, ACL_UINT8), c.Unseen({37}, ACL_INT64), nullptr),
             Cases(kHalves, {{37, 65}, {301, 65}, kTargets}, {{{37}, ACL_FLOAT}}));
const auto kLinearLossGrad = Register(
    {"aclnnFusedLinearCrossEntropyLossGrad", aclnnFusedLinearCrossEntropyLossGrad,
     [](Call& c) {
       static std::vector<float> ones(37, 1.0f);
       static std::vector<unsigned char> shown(37, 0);
       return aclnnFusedLinearCrossEntropyLossGradGetWorkspaceSize(
           c.Dense({37}, ACL_FLOAT, ones.data()), c[0], c[1], c.Dense({37}, ACL_BOOL, shown.data()), c[2],
           0.0f, nullptr, nullptr, c[3], c.Unseen({37, 65}, c.Dtype()), c[4], c.size, c.executor);
     }},
    Cases(kHalves, {{37, 65}, {301, 65}, kTargets, {{37, 301}, ACL_FLOAT}}, {{301, 65}}));

}  // namespace
}  // namespace portacl::testing
