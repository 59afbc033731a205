// Softmax, norms and losses over classes for the determinism test: rows of several blocks, rows along any axis, sums over many rows. Each
// result of an operator that has several is hashed in a setting of its own.
// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "aclnnop/families/arithmetic.h"
#include "aclnnop/families/loss.h"
#include "aclnnop/families/norm.h"
#include "determinism/calls.h"

namespace portacl::testing {
namespace {

const std::vector<DtypeNumber> kFloats = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
const std::vector<DtypeNumber> kHalves = {ACL_FLOAT16, ACL_BF16};
const std::vector<DtypeNumber> kWithDouble = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE};

std::vector<GivenCase> AlongEveryDim(size_t inputs, const std::vector<DtypeNumber>& dtypes) {
  const CaseTensor cube = {7, 61, 53}, wide = {1, 3, 9001};
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : dtypes)
    cases = cases + Cases({dtype}, std::vector<CaseTensor>(inputs, cube), {cube, cube, cube}) +
            std::vector<GivenCase>{Case(dtype, std::vector<CaseTensor>(inputs, wide), wide, 2)};
  return cases;
}

const auto kSoftmax =
    Register(PORTACL_PHASES(aclnnSoftmax, c[0], c.setting, c[1]), AlongEveryDim(1, kWithDouble));
const auto kLogSoftmax =
    Register(PORTACL_PHASES(aclnnLogSoftmax, c[0], c.setting, c[1]), AlongEveryDim(1, kWithDouble));
const auto kSoftmaxBackward =
    Register(PORTACL_PHASES(aclnnSoftmaxBackward, c[0], c[1], c.setting, c[2]), AlongEveryDim(2, kFloats));
const auto kLogSoftmaxBackward =
    Register(PORTACL_PHASES(aclnnLogSoftmaxBackward, c[0], c[1], c.setting, c[2]), AlongEveryDim(2, kFloats));

// By each kind of norm, to which most slices are scaled.
const auto kRenorm = Register(
    {"aclnnRenorm", aclnnRenorm,
     [](Call& c) {
       constexpr float kKinds[] = {2, 1, 0, std::numeric_limits<float>::infinity(), 1.5f};
       return aclnnRenormGetWorkspaceSize(c[0], c.Scalar(kKinds[c.setting], ACL_FLOAT), c.setting % 2,
                                          c.Scalar(1.0f, ACL_FLOAT), c[1], c.size, c.executor);
     }},
    Cases(kFloats, {{61, 53, 7}}, std::vector<CaseTensor>(5, {61, 53, 7})) +
        Cases({ACL_FLOAT}, {{3, 2, 9001}}, {{3, 2, 9001}}));

const Shape kRows = {617, 123};
const Shape kColumns = {123};
const Shape kNumbers = {617, 1};

// The result, mean and rstd of rows.
const auto kLayerNorm =
    Register(PORTACL_PHASES(aclnnLayerNorm, c[0], c.Ints(kColumns), c[1], c[2], 1e-5,
                            c.OutIf(c.setting == 0, kRows), c.OutIf(c.setting == 1), c.OutIf(c.setting == 2)),
             Cases(kFloats, {kRows, kColumns, kColumns}, {kRows, kNumbers, kNumbers}));

const Shape kBatches = {3, 97, 257};
const auto kAdaLayerNorm =
    Register(PORTACL_PHASES(aclnnAdaLayerNorm, c[0], c[1], c[2], c[3], c[4], 1e-5, c[5]),
             Cases(kFloats, {kBatches, {3, 257}, {3, 1, 257}, {257}, {257}}, {kBatches}));
// The gradients of rows, scales and shifts.
const auto kModulateBackward = Register(
    PORTACL_PHASES(aclnnModulateBackward, c[0], c[1], c[2], c[2],
                   c.OutIf(c.setting == 0, kBatches, c.Dtype()), c.OutIf(c.setting == 1, {3, 257}, c.Dtype()),
                   c.OutIf(c.setting == 2, {3, 257}, c.Dtype())),
    Cases(kFloats, {kBatches, kBatches, {3, 257}}, {kBatches, {3, 257}, {3, 257}}), {.is_plain_code = true});

const auto kLayerNormBackward =
    Register(PORTACL_PHASES(aclnnLayerNormBackward, c[0], c[1], c.Ints(kColumns), c[2], c[3], c[4], nullptr,
                            c.Flags({c.setting == 0, c.setting == 1, c.setting == 2}),
                            c.OutIf(c.setting == 0), c.OutIf(c.setting == 1), c.OutIf(c.setting == 2)),
             Cases(kFloats, {kRows, kRows, kNumbers, kNumbers, kColumns}, {kRows, kColumns, kColumns}));

const auto kRmsNorm = Register(PORTACL_PHASES(aclnnRmsNorm, c[0], c[1], 1e-6, c[2], c.Unseen(kNumbers)),
                               Cases(kFloats, {kRows, kColumns}, {kRows}));
const auto kAddRmsNorm =
    Register(PORTACL_PHASES(aclnnAddRmsNorm, c[0], c[1], c[2], 1e-6, c[3], nullptr, nullptr),
             Cases(kHalves, {kRows, kRows, kColumns}, {kRows}));
// With the sum and rstd, of which FLOAT has no other form.
const auto kAddRmsNormWithSum =
    Register(PORTACL_PHASES(aclnnAddRmsNorm, c[0], c[1], c[2], 1e-6, c.OutIf(c.setting == 0, kRows),
                            c.Unseen(kNumbers), c.OutIf(c.setting != 0, kRows))
                 .As("sum"),
             Cases({ACL_FLOAT}, {kRows, kRows, kColumns}, {kRows, kRows}));
// Alone, the sum, and both terms of other dtypes.
const auto kAddLayerNorm =
    Register(PORTACL_PHASES(aclnnAddLayerNorm, c[0], c[1], c[2], c[3], c[4], 1e-5, c.setting != 0,
                            c.OutIf(c.setting != 2, kRows, c.Dtype(5)), c.Unseen(kNumbers),
                            c.Unseen(kNumbers), c.OutIf(c.setting == 2, kRows, c.Dtype(5))),
             Cases(kFloats, {kRows, kRows, kColumns, kColumns, kColumns}, {kRows, kRows, kRows}) +
                 std::vector<GivenCase>{
                     Case(ACL_FLOAT, {kRows, {kRows, ACL_BF16}, kColumns, kColumns, kColumns}, kRows, 1)});

// The gradient of x, and that of gamma, which is FLOAT.
const auto kRmsNormGrad =
    Register(PORTACL_PHASES(aclnnRmsNormGrad, c[0], c[1], c[2], c[3],
                            c.OutIf(c.setting == 0, kRows, c.Dtype()), c.OutIf(c.setting != 0, kColumns)),
             Cases(kFloats, {kRows, kRows, {kNumbers, ACL_FLOAT}, kColumns}, {kRows, {kColumns, ACL_FLOAT}}));

const Shape kImages = {5, 6, 41, 31};
const Shape kChannels = {6};

// In training and not.
const auto kBatchNorm =
    Register(PORTACL_PHASES(aclnnBatchNorm, c[0], c[1], c[2], c.setting == 0 ? nullptr : c[3],
                            c.setting == 0 ? nullptr : c[4], c.setting == 0, 0.1, 1e-5, c[5],
                            c.Unseen(kChannels), c.Unseen(kChannels)),
             Cases(kFloats, {kImages, kChannels, kChannels, kChannels, kChannels}, {kImages, kImages}),
             {.not_negative = {4}});
// Mean and reciprocal deviation of channels.
const auto kBatchNormStatistics =
    Register(PORTACL_PHASES(aclnnBatchNorm, c[0], nullptr, nullptr, nullptr, nullptr, true, 0.1, 1e-5,
                            c.Unseen(kImages, c.Dtype()), c.OutIf(c.setting == 0, kChannels),
                            c.OutIf(c.setting != 0, kChannels))
                 .As("statistics"),
             Cases(kFloats, {kImages}, {kChannels, kChannels}));
const auto kBatchNormBackward = Register(
    PORTACL_PHASES(aclnnBatchNormBackward, c[0], c[1], c[2], nullptr, nullptr, c[3], c[4], true, 1e-5,
                   c.Flags({c.setting == 0, c.setting == 1, c.setting == 2}), c.OutIf(c.setting == 0),
                   c.OutIf(c.setting == 1), c.OutIf(c.setting == 2)),
    Cases(kFloats, {kImages, kImages, kChannels, kChannels, kChannels}, {kImages, kChannels, kChannels}));

// Parts of a batch norm: the statistics of one part, and of nine parts together.
const auto kBatchNormStats =
    Register(PORTACL_PHASES(aclnnBatchNormStats, c[0], 1e-5, c.OutIf(c.setting == 0, kChannels),
                            c.OutIf(c.setting != 0, kChannels)),
             Cases({ACL_FLOAT}, {kImages}, {kChannels, kChannels}));
const auto kBatchNormElemt =
    Register(PORTACL_PHASES(aclnnBatchNormElemt, c[0], c[1], c[2], c[3], c[4], 1e-5, c[5]),
             Cases(kFloats, {kImages, kChannels, kChannels, kChannels, kChannels}, {kImages}));
const auto kBatchNormElemtBackward = Register(
    PORTACL_PHASES(aclnnBatchNormElemtBackward, c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8]),
    Cases({ACL_FLOAT, ACL_FLOAT16},
          {kImages, kImages, kChannels, kChannels, kChannels, kChannels, kChannels, {3}}, {kImages}));
const auto kBatchNormReduceBackward =
    Register(PORTACL_PHASES(aclnnBatchNormReduceBackward, c[0], c[1], c[2], c[3], nullptr, c.setting == 0,
                            c.setting == 1, c.setting == 2, c.OutIf(c.setting == 0), c.Unseen(kChannels),
                            c.OutIf(c.setting == 1), c.OutIf(c.setting == 2)),
             Cases(kFloats, {kImages, kImages, kChannels, kChannels}, {kChannels, kChannels, kChannels}));
const Shape kParts = {9, 6};
const auto kBatchNormGatherStats = Register(
    PORTACL_PHASES(aclnnBatchNormGatherStatsWithCounts, c[0], c[0], c[1], nullptr, nullptr, 0.1, 1e-5, c[2],
                   c.OutIf(c.setting == 0, kChannels), c.OutIf(c.setting != 0, kChannels)),
    Cases(kFloats, {kParts, kParts, {9}}, {kChannels, kChannels}), {.not_negative = {1, 2}});
const auto kSyncBatchNormGatherStats = Register(
    PORTACL_PHASES(aclnnSyncBatchNormGatherStats, c[0], c[1], c[2], c.Unseen(kChannels), c.Unseen(kChannels),
                   0.1f, 1e-5f, c.OutIf(c.setting == 0, kChannels), c.OutIf(c.setting != 0, kChannels)),
    Cases({ACL_FLOAT}, {kParts, kParts, {9}}, {kChannels}), {.not_negative = {1, 2}});
const auto kBatchNormReduce =
    Register(PORTACL_PHASES(aclnnBatchNormReduce, c.Own(Same(c[0], ACL_FORMAT_NCHW)),
                            c.OutIf(c.setting == 0, kChannels), c.OutIf(c.setting != 0, kChannels)),
             Cases({ACL_FLOAT}, {kImages}, {kChannels, kChannels}));

const Shape kGroups = {5, 3};
const auto kGroupNorm = Register(
    PORTACL_PHASES(aclnnGroupNorm, c[0], c[1], c[2], 5, 6, 41 * 31, 3, 1e-5,
                   c.OutIf(c.setting == 0, kImages, c.Dtype()), c.OutIf(c.setting == 1, kGroups, c.Dtype()),
                   c.OutIf(c.setting == 2, kGroups, c.Dtype())),
    Cases(kFloats, {kImages, kChannels, kChannels}, {kImages, kGroups, kGroups}));
const auto kGroupNormBackward = Register(
    PORTACL_PHASES(aclnnGroupNormBackward, c[0], c[1], c[2], c[3], c[4], 5, 6, 41 * 31, 3,
                   c.Flags({c.setting == 0, c.setting == 1, c.setting == 2}), c.OutIf(c.setting == 0),
                   c.OutIf(c.setting == 1), c.OutIf(c.setting == 2)),
    Cases(kFloats, {kImages, kImages, kGroups, kGroups, kChannels}, {kImages, kChannels, kChannels}));

const Shape kClassRows = {9001, 17};
const auto kNllLoss =
    Register(PORTACL_PHASES(aclnnNLLLoss, c[0], c[1], c[2], c.setting, 3, c[3], c.Unseen(Shape{}, c.Dtype())),
             Cases(kFloats, {kClassRows, {{9001}, ACL_INT64, 17}, {17}}, {{9001}, Shape{}, Shape{}}),
             {.not_negative = {2}, .is_plain_code = true});
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
const auto kMultilabelMarginLoss = Register(PORTACL_PHASES(aclnnMultilabelMarginLoss, c[0], c[1], c.setting,
                                                           c.OutIf(c.setting < 3, Shape{}, c.Dtype()),
                                                           c.OutIf(c.setting == 3, c.ShapeOf(0), c.Dtype())),
                                            MarginCases());
const Shape kPixels = {2, 5, 61, 53};
const auto kNllLoss2d = Register(
    PORTACL_PHASES(aclnnNLLLoss2d, c[0], c[1], c[2], c.setting, 3, c[3], c.Unseen(Shape{}, c.Dtype())),
    Cases(kFloats, {kPixels, {{2, 61, 53}, ACL_INT64, 5}, {5}}, {{2, 61, 53}, Shape{}, Shape{}}),
    {.not_negative = {2}, .is_plain_code = true});
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
const auto kNllLossBackward =
    Register(PORTACL_PHASES(aclnnNLLLossBackward, c[0], c[1], c[2], c[3], c.setting, 3, c[4], c[5]),
             LossGradientCases(), {.is_plain_code = true});

// Losses without weights, smoothed; logarithms; losses with weights, not smoothed.
const Shape kWideRows = {9, 9001};
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
// The losses, and the gradients.
const auto kLossOfShares =
    Register(PORTACL_PHASES(aclnnSoftmaxCrossEntropyWithLogits, c[0], c[1],
                            c.OutIf(c.setting == 0, {c.ShapeOf(0)[0]}, c.Dtype()),
                            c.OutIf(c.setting != 0, kClassRows, c.Dtype())),
             [] {
               std::vector<GivenCase> cases;
               for (const DtypeNumber dtype : kFloats)
                 cases = cases + Cases({dtype}, {kClassRows, kClassRows}, {{kClassRows[0]}, kClassRows}) +
                         std::vector<GivenCase>{Case(dtype, {kWideRows, kWideRows}, kWideRows, 2)};
               return cases;
             }());
const auto kLossFromSums = Register(
    PORTACL_PHASES(aclnnFusedCrossEntropyLossWithMaxSum, c[0], c[1], c[2], 0, nullptr, nullptr,
                   c.setting == 0 ? nullptr : c[3], c.OutIf(c.setting == 0, {kClassRows[0]}),
                   c.OutIf(c.setting != 0)),
    [] {
      std::vector<GivenCase> cases;
      const Shape rows = {kClassRows[0]};
      for (const DtypeNumber dtype : kFloats)
        cases = cases + Cases({ACL_FLOAT}, {rows, rows, rows, {kClassRows, dtype}}, {rows, kClassRows});
      return cases;
    }(),
    {.not_negative = {1}});
const auto kCrossEntropy = Register(
    {"aclnnCrossEntropyLoss", aclnnCrossEntropyLoss,
     [](Call& c) {
       const bool logarithms = c.setting == 1 || c.setting == 3;
       return aclnnCrossEntropyLossGetWorkspaceSize(
           c[0], c[1], c.setting == 0 ? nullptr : c[2], c.setting == 0 ? c.Text("sum") : c.Text("mean"), 3,
           c.setting == 2 ? 0.0 : 0.1, 0.0, false, logarithms ? c.Unseen({}, c.Dtype()) : c[3],
           logarithms ? c[3] : c.Unseen(kClassRows, c.Dtype()), c.Unseen({0}, c.Dtype()),
           c.Unseen({0}, c.Dtype()), c.size, c.executor);
     }},
    CrossEntropyCases(), {.not_negative = {2}});
const auto kCrossEntropyGrad =
    Register(PORTACL_PHASES(aclnnCrossEntropyLossGrad, c[0], c[1], c[2], c.setting == 0 ? nullptr : c[3],
                            nullptr, nullptr, c.setting == 0 ? c.Text("sum") : c.Text("mean"), 3,
                            c.setting == 2 ? 0.0 : 0.1, 0.0, c[4]),
             Cases(kFloats, {Shape{}, kClassRows, {{9001}, ACL_INT64, 17}, {{17}, ACL_FLOAT}},
                   {kClassRows, kClassRows, kClassRows}),
             {.not_negative = {3}});

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
// Of numbers above 1, which is half of what is drawn, a value is NaN; sums would be, too.
const auto kEntropy = Register(PORTACL_PHASES(aclnnBinaryCrossEntropy, c[0], c[1], c[2], 0, c[3]),
                               Cases(kFloats, {kRows, kRows, kColumns}, {kRows}), {.not_negative = {0, 1}});
const auto kEntropyBackward =
    Register(PORTACL_PHASES(aclnnBinaryCrossEntropyBackward, c[0], c[1], c[2], c[3], c.setting, c[4]),
             BinaryCases(4, kColumns, true), {.not_negative = {1, 2}});
const auto kLogits = Register(PORTACL_PHASES(aclnnBinaryCrossEntropyWithLogits, c[0], c[1], c[2],
                                             c.setting == 1 ? nullptr : c[3], c.setting, c[4]),
                              BinaryCases(4, kColumns, false), {.not_negative = {1, 3}});
const auto kLogitsBackward =
    Register(PORTACL_PHASES(aclnnBinaryCrossEntropyWithLogitsBackward, c[0], c[1], c[2], nullptr,
                            c.setting == 1 ? nullptr : c[3], c.setting, c[4]),
             BinaryCases(4, kColumns, true), {.not_negative = {2, 3}});
const auto kLogitsTargetBackward =
    Register(PORTACL_PHASES(aclnnBinaryCrossEntropyWithLogitsTargetBackward, c[0], c[1], c[2], nullptr,
                            c.setting == 1 ? nullptr : c[3], c.setting, c[4]),
             BinaryCases(4, kColumns, true), {.not_negative = {2, 3}});
const auto kSoftMargin =
    Register(PORTACL_PHASES(aclnnSoftMarginLoss, c[0], c[1], c.setting, c[2]), BinaryCases(2, kRows, false));
const auto kSoftMarginBackward =
    Register(PORTACL_PHASES(aclnnSoftMarginLossBackward, c[0], c[1], c[2], c.setting, c[3]),
             BinaryCases(3, kRows, true));

// ---- norms fused with what is around them ----

const auto kGemmaRmsNorm =
    Register(PORTACL_PHASES(aclnnGemmaRmsNorm, c[0], c[1], 1e-6, c[2], c.Unseen(kNumbers)),
             Cases(kFloats, {kRows, kColumns}, {kRows}));
const auto kAddRmsNormBias = Register(PORTACL_PHASES(aclnnAddRmsNormBias, c[0], c[1], c[2], c[3], 1e-6, c[4],
                                                     c.Unseen(kNumbers), c.Unseen(kRows, c.Dtype())),
                                      Cases(kFloats, {kRows, kRows, kColumns, kColumns}, {kRows}));
const auto kAddRmsNormCast =
    Register(PORTACL_PHASES(aclnnAddRmsNormCast, c[0], c[1], c[2], 1e-6, c.OutIf(c.setting == 0, kRows),
                            c.OutIf(c.setting == 1, kRows, c.Dtype()), c.Unseen(kNumbers),
                            c.OutIf(c.setting == 2, kRows, c.Dtype())),
             [] {
               std::vector<GivenCase> cases = Cases(kHalves, {kRows, kRows, kColumns}, {kRows, kRows});
               for (GivenCase& one : cases) ++one.attributes;
               return cases;
             }());
const auto kDeepNorm = Register(PORTACL_PHASES(aclnnDeepNorm, c[0], c[1], c[2], c[3], 0.3, 1e-5,
                                               c.Unseen(kNumbers), c.Unseen(kNumbers), c[4]),
                                Cases(kFloats, {kRows, kRows, kColumns, kColumns}, {kRows}));
const std::vector<CaseTensor> kSumGradientInputs = {
    kRows, kRows, kRows, kColumns, {kNumbers, ACL_FLOAT}, {kNumbers, ACL_FLOAT}};
const auto kDeepNormGrad =
    Register(PORTACL_PHASES(aclnnDeepNormGrad, c[0], c[1], c[2], c[3], c[4], c[5], 0.3,
                            c.OutIf(c.setting == 0, kRows, c.Dtype()), c.Unseen(kRows, c.Dtype()),
                            c.OutIf(c.setting == 1, kColumns), c.OutIf(c.setting == 2, kColumns)),
             Cases(kFloats, kSumGradientInputs, {kRows, {kColumns, ACL_FLOAT}, {kColumns, ACL_FLOAT}}));
const auto kAddLayerNormGrad =
    Register(PORTACL_PHASES(aclnnAddLayerNormGrad, c[0], c[1], c[2], c[5], c[4], c[3], c[1],
                            c.OutIf(c.setting == 0, kRows, c.Dtype()), c.OutIf(c.setting == 1, kColumns),
                            c.OutIf(c.setting == 2, kColumns)),
             Cases(kFloats, kSumGradientInputs, {kRows, {kColumns, ACL_FLOAT}, {kColumns, ACL_FLOAT}}));
const auto kGroupNormSilu =
    Register(PORTACL_PHASES(aclnnGroupNormSiluV2, c[0], c[1], c[2], 3, 1e-5, c.setting == 0, c[3],
                            c.Unseen(kGroups, c.Dtype()), c.Unseen(kGroups, c.Dtype())),
             Cases(kFloats, {kImages, kChannels, kChannels}, {kImages, kImages}));
const auto kGroupNormSwish =
    Register(PORTACL_PHASES(aclnnGroupNormSwish, c[0], c[1], c[2], 3, nullptr, 1e-5, true, 1.25, c[3],
                            c.Unseen(kGroups, c.Dtype()), c.Unseen(kGroups, c.Dtype())),
             Cases(kFloats, {kImages, kChannels, kChannels}, {kImages}));
const auto kGroupNormSwishGrad = Register(
    PORTACL_PHASES(aclnnGroupNormSwishGrad, c[0], c[1], c[2], c[3], c[4], c[5], 3, nullptr, 1.25, true, true,
                   c.OutIf(c.setting == 0, kImages, c.Dtype()), c.OutIf(c.setting == 1, kChannels, c.Dtype()),
                   c.OutIf(c.setting == 2, kChannels, c.Dtype())),
    Cases(kFloats, {kImages, kGroups, kGroups, kImages, kChannels, kChannels},
          {kImages, kChannels, kChannels}));
const Shape kScores = {3, 2, 37, 421};
const CaseTensor kMask = {{3, 1, 37, 421}, ACL_BOOL};
const auto kScaledMaskedSoftmax =
    Register(PORTACL_PHASES(aclnnScaledMaskedSoftmax, c[0], c[1], 0.3, false, c[2]),
             Cases(kFloats, {kScores, kMask}, {kScores}));
const auto kScaledMaskedSoftmaxBackward =
    Register(PORTACL_PHASES(aclnnScaledMaskedSoftmaxBackward, c[0], c[1], c[2], 0.3, false, c[3]),
             Cases(kFloats, {kScores, kScores, kMask}, {kScores}));
const auto kMaskedSoftmaxWithRelPosBias =
    Register(PORTACL_PHASES(aclnnMaskedSoftmaxWithRelPosBias, c[0], c[1], c[2], 0.3, 0, c[3]),
             Cases(kFloats, {kScores, {3, 37, 421}, {2, 37, 421}}, {kScores}));

// Three sequences; the loss, and the gradient. Plain code as phase 1 sees it: a step's exponentials alone are compiled for each instruction set.
const Shape kSteps = {23, 3, 7};
const CaseTensor kTargetRows = {{3, 5}, ACL_INT64, 7, 1};
const Shape kStates = {3, 23, 16};
const auto kCtcLoss =
    Register(PORTACL_PHASES(aclnnCtcLoss, c[0], c[1], c.Ints({23, 20, 23}), c.Ints({5, 4, 5}), 0, false,
                            c.Unseen({3}, c.Dtype()), c[2]),
             Cases({ACL_FLOAT, ACL_BF16}, {kSteps, kTargetRows}, {kStates}), {.is_plain_code = true});
const auto kCtcLossBackward =
    Register(PORTACL_PHASES(aclnnCtcLossBackward, c[0], c[1], c[2], c.Ints({23, 20, 23}), c.Ints({5, 4, 5}),
                            c[3], c[4], 0, false, c[5]),
             Cases({ACL_FLOAT, ACL_BF16}, {{3}, kSteps, kTargetRows, {3}, kStates}, {kSteps}),
             {.is_plain_code = true});

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
