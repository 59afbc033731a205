// Operators that move and index elements, for the determinism test: every index tensor names elements repeatedly, sums are of ordinary
// numbers, so that another order has other bits, and sizes are work for several threads.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/indexing.h"
#include "aclnnop/families/arithmetic.h"
#include "aclnnop/families/linalg.h"
#include "aclnnop/families/logic.h"
#include "aclnnop/families/matmul.h"
#include "aclnnop/families/shape.h"
#include "aclnnop/families/sort.h"
#include "determinism/described_calls.h"

namespace portacl::testing {
namespace {

const Shape kWide = {301, 257};
const Shape kDeep = {3, 5, 41, 18};

const std::vector<DtypeNumber> kSizes = {ACL_INT8, ACL_BF16, ACL_FLOAT, ACL_DOUBLE, ACL_COMPLEX64};
const std::vector<DtypeNumber> kRealSizes = {ACL_INT8, ACL_FLOAT16, ACL_FLOAT, ACL_INT64};
const std::vector<DtypeNumber> kSummed = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE,
                                          ACL_INT8,  ACL_INT32,   ACL_INT64};

// A case for each dtype of what is moved. Inputs of `indices` are of `index_dtype`, or INT64 and INT32 in turn.
struct Form {
  std::vector<DtypeNumber> dtypes;
  std::vector<Shape> inputs;
  Shape output;
  size_t setting = 0;
  std::vector<GivenCase::Indices> indices = {};
  DtypeNumber index_dtype = kUndefinedDtype;
};

std::vector<GivenCase> Of(const std::vector<Form>& forms) {
  std::vector<GivenCase> cases;
  for (const Form& form : forms) {
    for (const DtypeNumber dtype : form.dtypes) {
      GivenCase one{std::vector<DtypeNumber>(form.inputs.size(), dtype),
                    form.inputs,
                    dtype,
                    form.output,
                    form.setting,
                    form.indices};
      const DtypeNumber in_turn = cases.size() % 2 == 0 ? ACL_INT64 : ACL_INT32;
      for (const auto& indices : form.indices)
        one.input_dtypes[indices.input] = form.index_dtype == kUndefinedDtype ? in_turn : form.index_dtype;
      cases.push_back(one);
    }
  }
  return cases;
}

const Traits kPlain = {.is_plain_code = true};
const Traits kInPlace = {.is_plain_code = true, .start = Start::kFirstInput};
// Outputs whose length the data decide.
const Traits kFilled = {.is_plain_code = true, .start = Start::kZero, .outlives_phase_1 = true};

// ---- moves ----

const auto kCat = Register(PORTACL_PHASES(aclnnCat, c.ListOf(0, 3), c.setting, c[3]),
                           Of({{kSizes, {{100, 257}, {1, 257}, {200, 257}}, kWide, 0},
                               {kSizes, {{301, 100}, {301, 1}, {301, 156}}, kWide, 1}}),
                           kPlain);
const auto kStack = Register(PORTACL_PHASES(aclnnStack, c.ListOf(0, 3), c.setting, c[3]),
                             Of({{kSizes, {{101, 57}, {101, 57}, {101, 57}}, {101, 3, 57}, 1},
                                 {kSizes, {{101, 57}, {101, 57}, {101, 57}}, {101, 57, 3}, 2}}),
                             kPlain);
const auto kSplitTensor = Register(
    PORTACL_PHASES(aclnnSplitTensor, c[0], 200, 0, c.List({Part(c[1], 0, 0, 200), Part(c[1], 0, 200, 101)})),
    Of({{kSizes, {kWide}, kWide}}), kPlain);
const auto kSplitWithSize =
    Register(PORTACL_PHASES(aclnnSplitWithSize, c[0], c.Ints({100, 1, 156}), 1,
                            c.List({Part(c[1], 1, 0, 100), Part(c[1], 1, 100, 1), Part(c[1], 1, 101, 156)})),
             Of({{kSizes, {kWide}, kWide}}), kPlain);
const auto kPermute =
    Register(PORTACL_PHASES(aclnnPermute, c[0], c.setting == 0 ? c.Ints({1, 0}) : c.Ints({2, 0, 3, 1}), c[1]),
             Of({{kSizes, {kWide}, {257, 301}, 0}, {kSizes, {kDeep}, {41, 3, 18, 5}, 1}}), kPlain);
const auto kFlip =
    Register(PORTACL_PHASES(aclnnFlip, c[0], c.setting == 0 ? c.Ints({1}) : c.Ints({0, 2}), c[1]),
             Of({{kSizes, {kWide}, kWide, 0}, {kSizes, {kDeep}, kDeep, 1}}), kPlain);
const auto kRoll = Register(PORTACL_PHASES(aclnnRoll, c[0], c.setting == 0 ? c.Ints({1000}) : c.Ints({5, -7}),
                                           c.setting == 0 ? c.Ints({}) : c.Ints({1, 0}), c[1]),
                            Of({{kRealSizes, {kWide}, kWide, 0}, {kRealSizes, {kWide}, kWide, 1}}), kPlain);
const auto kSlice =
    Register(PORTACL_PHASES(aclnnSlice, c[0], c.setting, 3, 250, c.setting == 0 ? 1 : 3, c[1]),
             Of({{kRealSizes, {kWide}, {247, 257}, 0}, {kRealSizes, {kWide}, {301, 83}, 1}}), kPlain);
const auto kSliceV2 = Register(PORTACL_PHASES(aclnnSliceV2, c[0], c.Ints({3, 1}), c.Ints({250, 257}),
                                              c.Ints({0, 1}), c.Ints({2, 1}), c[1]),
                               Of({{kRealSizes, {kWide}, {124, 256}}}), kPlain);
const auto kChannelShuffle = Register(PORTACL_PHASES(aclnnChannelShuffle, c[0], 3, c[1]),
                                      Of({{kRealSizes, {{5, 12, 431}}, {5, 12, 431}}}), kPlain);
const auto kReal =
    Register(PORTACL_PHASES(aclnnReal, c[0], c[1]), Of({{{ACL_FLOAT}, {kWide}, kWide}}), kPlain);
const std::vector<DtypeNumber> kListed = {ACL_FLOAT, ACL_FLOAT16, ACL_INT32};
const auto kAddN = Register(PORTACL_PHASES(aclnnAddN, c.ListOf(0, 3), c[3]),
                            Of({{kListed, {kWide, kWide, kWide}, kWide}}), kPlain);
const auto kSum =
    Register(PORTACL_PHASES(aclnnSum, c.ListOf(0, 3), c[3]),
             Of({{{ACL_FLOAT, ACL_FLOAT16, ACL_INT8}, {kWide, {1, 257}, kWide}, kWide}}), kPlain);
const auto kMaxN = Register(PORTACL_PHASES(aclnnMaxN, c.ListOf(0, 3), c[3]),
                            Of({{kListed, {kWide, {1, 257}, kWide}, kWide}}), kPlain);
const auto kMinN = Register(PORTACL_PHASES(aclnnMinN, c.ListOf(0, 3), c[3]),
                            Of({{kListed, {kWide, {1, 257}, kWide}, kWide}}), kPlain);
const auto kConfusionTranspose =
    Register(PORTACL_PHASES(aclnnConfusionTranspose, c[0], c.Ints({1, 0}), c.Ints({257 * 43, 7}), true, c[1]),
             Of({{kRealSizes, {kWide}, {257 * 43, 7}}}), kPlain);
const auto kFlatten = Register(PORTACL_PHASES(aclnnFlatten, c[0], 2, c[1]),
                               Of({{kRealSizes, {{5, 12, 431}}, {60, 431}}}), kPlain);
const auto kRepeat = Register(PORTACL_PHASES(aclnnRepeat, c[0], c.Ints({2, 1, 3}), c[1]),
                              Of({{kSizes, {{101, 57}}, {2, 101, 171}}}), kPlain);
const auto kExpand =
    Register(PORTACL_PHASES(aclnnExpand, c[0], c.Ints({3, 101, 257}), c[1]),
             Of({{kRealSizes, {{101, 1}}, {3, 101, 257}}, {kRealSizes, {{257}}, {3, 101, 257}}}), kPlain);
const auto kRepeatInterleaveInt = Register(PORTACL_PHASES(aclnnRepeatInterleaveInt, c[0], 3, 77871, c[1]),
                                           Of({{kRealSizes, {{101, 257}}, {77871}}}), kPlain);
const auto kRepeatInterleaveIntWithDim = Register(
    PORTACL_PHASES(aclnnRepeatInterleaveIntWithDim, c[0], 3, c.setting, c.setting == 0 ? 303 : 771, c[1]),
    Of({{kRealSizes, {{101, 257}}, {303, 257}, 0}, {kRealSizes, {{101, 257}}, {101, 771}, 1}}), kPlain);
// Every count is 2.
const auto kRepeatInterleave =
    Register(PORTACL_PHASES(aclnnRepeatInterleave, c[0], c[1], 51914, c[2]),
             Of({{kRealSizes, {{101, 257}, {25957}}, {51914}, 0, {{1, 3, false, 2}}}}), kPlain);
const auto kRepeatInterleaveWithDim = Register(
    PORTACL_PHASES(aclnnRepeatInterleaveWithDim, c[0], c[1], c.setting, c.setting == 0 ? 202 : 514, c[2]),
    Of({{kRealSizes, {{101, 257}, {101}}, {202, 257}, 0, {{1, 3, false, 2}}},
        {kRealSizes, {{101, 257}, {257}}, {101, 514}, 1, {{1, 3, false, 2}}}}),
    kPlain);
const auto kRepeatInterleaveTensor =
    Register(PORTACL_PHASES(aclnnRepeatInterleaveTensor, c[0], 77772, c[1]),
             Of({{{ACL_INT64}, {{25924}}, {77772}, 0, {{0, 4, false, 3}}, ACL_INT64}}), kPlain);
const auto kConstantPadNd =
    Register(PORTACL_PHASES(aclnnConstantPadNd, c[0], c.Ints({1, 2, 3, 4}), c.Scalar(2), c[1]),
             Of({{kSizes, {kWide}, {308, 260}}}), kPlain);
const auto kDiag =
    Register(PORTACL_PHASES(aclnnDiag, c[0], c.setting - 2, c[1]),
             Of({{kRealSizes, {{301}}, {303, 303}, 0}, {kRealSizes, {kWide}, {256}, 3}}), kPlain);
const auto kDiagFlat = Register(PORTACL_PHASES(aclnnDiagFlat, c[0], 1, c[1]),
                                Of({{kRealSizes, {{15, 20}}, {301, 301}}}), kPlain);

// ---- what indices name is read ----

const auto kIndexSelect = Register(PORTACL_PHASES(aclnnIndexSelect, c[0], c.setting, c[1], c[2]),
                                   Of({{kSizes, {kWide, {400}}, {400, 257}, 0, {{1, 301}}},
                                       {kSizes, {kWide, {400}}, {301, 400}, 1, {{1, 257}}}}),
                                   kPlain);
const auto kGather = Register(PORTACL_PHASES(aclnnGather, c[0], c.setting, c[1], c[2]),
                              Of({{kRealSizes, {kWide, {400, 200}}, {400, 200}, 0, {{1, 301}}},
                                  {kRealSizes, {kWide, {300, 400}}, {300, 400}, 1, {{1, 257, true}}}}),
                              kPlain);
const auto kGatherV2 = Register(PORTACL_PHASES(aclnnGatherV2, c[0], c.setting, c[1], c[2]),
                                Of({{kSizes, {kWide, {40, 10}}, {40, 10, 257}, 0, {{1, 301}}},
                                    {kSizes, {kWide, {40, 10}}, {301, 40, 10}, 1, {{1, 257, true}}}}),
                                kPlain);
const auto kGatherV3 = Register(PORTACL_PHASES(aclnnGatherV3, c[0], 0, c[1], 0, 1, c[2]),
                                Of({{kSizes, {kWide, {40, 10}}, {40, 10, 257}, 0, {{1, 301}}}}), kPlain);
const auto kTake = Register(PORTACL_PHASES(aclnnTake, c[0], c[1], c[2]),
                            Of({{kSizes, {kWide, {400, 200}}, {400, 200}, 0, {{1, 77357, true}}}}), kPlain);
const auto kEmbedding = Register(PORTACL_PHASES(aclnnEmbedding, c[0], c[1], c[2]),
                                 Of({{kSizes, {kWide, {40, 10}}, {40, 10, 257}, 0, {{1, 301}}}}), kPlain);
const auto kIndex =
    Register(PORTACL_PHASES(aclnnIndex, c[0], c.ListOf(1, 2), c[3]),
             Of({{kRealSizes, {{31, 27, 90}, {600}, {600}}, {600, 90}, 0, {{1, 31, true}, {2, 27, true}}},
                 {kRealSizes, {kWide, {300, 1}, {300}}, {300, 300}, 0, {{1, 301, true}, {2, 257, true}}}}),
             kPlain);

// ---- what indices name is written ----

const auto kScatter =
    Register(PORTACL_PHASES(aclnnScatter, c[0], c.setting % 2, c[1], c[2], c.setting / 2, c[3]),
             Of({{kSizes, {kWide, {400, 200}, {400, 200}}, kWide, 0, {{1, 301, true}}},
                 {kSizes, {kWide, {301, 400}, {301, 400}}, kWide, 1, {{1, 257, true}}},
                 {kSummed, {kWide, {400, 200}, {400, 200}}, kWide, 2, {{1, 301, true}}},
                 {kSummed, {kWide, {301, 400}, {301, 400}}, kWide, 3, {{1, 257, true}}},
                 {kSummed, {{50}, {100000}, {100000}}, {50}, 2, {{1, 50, true}}},
                 {kSummed, {kWide, {400, 200}, {400, 200}}, kWide, 4, {{1, 301, true}}},
                 {kSummed, {kWide, {301, 400}, {301, 400}}, kWide, 7, {{1, 257, true}}},
                 {kSummed, {{9000}, {70000}, {70000}}, {9000}, 8, {{1, 9000, true}}},
                 {kSummed, {kWide, {400, 200}, {400, 200}}, kWide, 10, {{1, 301, true}}}}),
             kPlain);
const auto kInplaceScatter =
    Register(PORTACL_PHASES(aclnnInplaceScatter, c[3], 1, c[1], c[2], c.setting),
             Of({{kSizes, {kWide, {301, 400}, {301, 400}}, kWide, 0, {{1, 257, true}}},
                 {kSummed, {kWide, {301, 400}, {301, 400}}, kWide, 1, {{1, 257, true}}}}),
             kInPlace);
const auto kScatterValue =
    Register(PORTACL_PHASES(aclnnScatterValue, c[0], 0, c[1], c.Scalar(3), c.setting, c[2]),
             Of({{kSizes, {kWide, {400, 200}}, kWide, 0, {{1, 301, true}}},
                 {kSummed, {kWide, {400, 200}}, kWide, 2, {{1, 301, true}}}}),
             kPlain);
const auto kInplaceScatterValue =
    Register(PORTACL_PHASES(aclnnInplaceScatterValue, c[2], 0, c[1], c.Scalar(3), c.setting),
             Of({{kSummed, {kWide, {400, 200}}, kWide, 1, {{1, 301, true}}}}), kInPlace);
const auto kScatterAdd =
    Register(PORTACL_PHASES(aclnnScatterAdd, c[0], c.setting, c[1], c[2], c[3]),
             Of({{kSummed, {kWide, {400, 200}, {400, 200}}, kWide, 0, {{1, 301, true}}},
                 {kSummed, {{70000}, {300000}, {300000}}, {70000}, 0, {{1, 70000, true}}},
                 {kSummed, {{3}, {100000}, {100000}}, {3}, 0, {{1, 3}}},
                 {kSummed, {kWide, {301, 400}, {301, 400}}, kWide, 1, {{1, 257, true}}}}),
             kPlain);
const auto kIndexAdd = Register(
    PORTACL_PHASES(aclnnIndexAdd, c[0], c.setting % 2, c[1], c[2], c.Scalar(c.setting < 2 ? 1 : 3), c[3]),
    Of({{kSummed, {{29, 257}, {500}, {500, 257}}, {29, 257}, 0, {{1, 29}}},
        {kSummed, {{50}, {100000}, {100000}}, {50}, 0, {{1, 50}}},
        {kSummed, {{301, 20}, {400}, {301, 400}}, {301, 20}, 1, {{1, 20}}},
        {kSummed, {{29, 257}, {500}, {500, 257}}, {29, 257}, 2, {{1, 29}}}}),
    kPlain);
const auto kIndexAddV2 =
    Register(PORTACL_PHASES(aclnnIndexAddV2, c[0], 0, c[1], c[2], c.Scalar(3), 1, c[3]),
             Of({{kSummed, {{29, 257}, {500}, {500, 257}}, {29, 257}, 0, {{1, 29}}}}), kPlain);
const auto kIndexCopy = Register(PORTACL_PHASES(aclnnIndexCopy, c[0], c.setting, c[1], c[2], c[3]),
                                 Of({{kSizes, {{29, 257}, {500}, {500, 257}}, {29, 257}, 0, {{1, 29}}},
                                     {kSizes, {{301, 20}, {400}, {301, 400}}, {301, 20}, 1, {{1, 20}}}}),
                                 kPlain);
const auto kInplaceIndexCopy =
    Register(PORTACL_PHASES(aclnnInplaceIndexCopy, c[3], 0, c[1], c[2]),
             Of({{kSizes, {{29, 257}, {500}, {500, 257}}, {29, 257}, 0, {{1, 29}}}}), kInPlace);
const auto kIndexPutImpl = Register(
    PORTACL_PHASES(aclnnIndexPutImpl, c[4], c.ListOf(1, 2), c[3], c.setting != 0, false),
    Of({{kRealSizes, {{7, 5, 90}, {900}, {900}, {900, 90}}, {7, 5, 90}, 0, {{1, 7, true}, {2, 5, true}}},
        {kSummed, {{7, 5, 90}, {900}, {900}, {900, 90}}, {7, 5, 90}, 1, {{1, 7, true}, {2, 5, true}}},
        {kSummed, {{60, 50}, {300, 1}, {300}, {300, 300}}, {60, 50}, 1, {{1, 60, true}, {2, 50, true}}}}),
    kInPlace);
// Where bags begin; one of them is empty.
aclTensor* Bags(Call& c) {
  static int64_t offsets[] = {0, 40, 40, 100, 250};
  return c.Dense({5}, ACL_INT64, offsets);
}
const auto kEmbeddingBag =
    Register(PORTACL_PHASES(aclnnEmbeddingBag, c[0], c[1], Bags(c), false, c.setting, false, nullptr, false,
                            3, c[2], c.Unseen({0}, ACL_INT64), c.Unseen({5}, ACL_INT64),
                            c.Unseen(c.setting == 2 ? Shape{5, 257} : Shape{5}, ACL_INT64)),
             Of({{{ACL_FLOAT, ACL_FLOAT16, ACL_BF16}, {{29, 257}, {301}}, {5, 257}, 0, {{1, 29}}},
                 {{ACL_FLOAT, ACL_BF16}, {{29, 257}, {301}}, {5, 257}, 1, {{1, 29}}},
                 {{ACL_FLOAT, ACL_BF16}, {{29, 257}, {301}}, {5, 257}, 2, {{1, 29}}}}),
             kPlain);
const auto kEmbeddingDenseBackward =
    Register(PORTACL_PHASES(aclnnEmbeddingDenseBackward, c[0], c[1], 29, 3, c.setting != 0, c[2]),
             Of({{{ACL_FLOAT, ACL_FLOAT16, ACL_BF16}, {{40, 25, 257}, {40, 25}}, {29, 257}, 0, {{1, 29}}},
                 {{ACL_FLOAT, ACL_FLOAT16, ACL_BF16}, {{40, 25, 257}, {40, 25}}, {29, 257}, 1, {{1, 29}}},
                 {{ACL_FLOAT, ACL_FLOAT16, ACL_BF16}, {{100000, 1}, {100000}}, {29, 1}, 0, {{1, 29}}}}),
             kPlain);

const std::vector<DtypeNumber> kFillable = {ACL_FLOAT, ACL_BF16, ACL_INT64, ACL_BOOL};
const auto kIndexFill = Register(PORTACL_PHASES(aclnnIndexFill, c[0], c.setting, c[1], c.Scalar(1), c[2]),
                                 Of({{kFillable, {kWide, {100}}, kWide, 0, {{1, 301, true}}},
                                     {kFillable, {kWide, {100}}, kWide, 1, {{1, 257, true}}}}),
                                 kPlain);
const auto kInplaceIndexFill =
    Register(PORTACL_PHASES(aclnnInplaceIndexFill, c[2], 1, c[1], c.Scalar(1)),
             Of({{kFillable, {kWide, {100}}, kWide, 0, {{1, 257, true}}}}), kInPlace);
const auto kIndexFillTensor =
    Register(PORTACL_PHASES(aclnnIndexFillTensor, c[0], 0, c.Ints({5, -7, 300, 5}), c.Scalar(1), c[1]),
             Of({{kFillable, {kWide}, kWide}}), kPlain);
const auto kInplaceIndexFillTensor =
    Register(PORTACL_PHASES(aclnnInplaceIndexFillTensor, c[1], 1, c.Ints({5, -7, 200}), c.Scalar(1)),
             Of({{kFillable, {kWide}, kWide}}), kInPlace);
const auto kScatterNd =
    Register(PORTACL_PHASES(aclnnScatterNd, c[0], c[1], c[2], c[3]),
             Of({{{ACL_FLOAT, ACL_BF16}, {kWide, {400, 1}, {400, 257}}, kWide, 0, {{1, 301}}},
                 {{ACL_FLOAT, ACL_BF16}, {{90, 90}, {20000, 2}, {20000}}, {90, 90}, 0, {{1, 90}}}}),
             kPlain);
const auto kScatterNdUpdate =
    Register(PORTACL_PHASES(aclnnScatterNdUpdate, c[3], c[1], c[2]),
             Of({{{ACL_FLOAT, ACL_INT64}, {kWide, {400, 1}, {400, 257}}, kWide, 0, {{1, 301}}}}), kInPlace);
const auto kRepeatInterleaveGrad = Register(
    PORTACL_PHASES(aclnnRepeatInterleaveGrad, c[0], c[1], 0, c[2]),
    Of({{{ACL_FLOAT, ACL_FLOAT16, ACL_BF16}, {{1204, 257}, {301}}, {301, 257}, 0, {{1, 5, false, 4}}}}),
    kPlain);
const auto kStridedSliceAssign =
    Register(PORTACL_PHASES(aclnnStridedSliceAssignV2, c[2], c[1], c.Ints({1, 3}), c.Ints({301, 250}),
                            c.Ints({3, 2}), nullptr),
             Of({{kRealSizes, {kWide, {100, 124}}, kWide}}), kInPlace);
const auto kEinsum = Register(
    PORTACL_PHASES(aclnnEinsum, c.ListOf(0, 2), c.setting == 0 ? "a,b->ab" : "abcd,abced->abce", c[2]),
    Of({{{ACL_FLOAT, ACL_FLOAT16, ACL_INT32}, {{301}, {257}}, kWide, 0},
        {{ACL_FLOAT, ACL_FLOAT16}, {{2, 3, 5, 300}, {2, 3, 5, 41, 300}}, {2, 3, 5, 41}, 1}}),
    kPlain);
// Both gradients in one tensor.
const auto kChamferDistanceBackward =
    Register(PORTACL_PHASES(aclnnChamferDistanceBackward, c[0], c[1], c[2], c[3], c[4], c[5],
                            c.Part(6, 1, 0, 301), c.Part(6, 1, 301, 257)),
             Of({{{ACL_FLOAT, ACL_FLOAT16},
                  {{3, 301, 2}, {3, 257, 2}, {3, 301}, {3, 257}, {3, 301}, {3, 257}},
                  {3, 558, 2},
                  0,
                  {{2, 257}, {3, 301}},
                  ACL_INT32}}),
             kPlain);
const auto kGatherNd = Register(PORTACL_PHASES(aclnnGatherNd, c[0], c[1], true, c[2]),
                                Of({{kSizes, {kWide, {400, 1}}, {400, 257}, 0, {{1, 301, true}}},
                                    {kSizes, {{90, 90}, {20000, 2}}, {20000}, 0, {{1, 90, true}}}}),
                                kPlain);
const auto kTfScatterAdd =
    Register(PORTACL_PHASES(aclnnTfScatterAdd, c[3], c[1], c[2]),
             Of({{{ACL_FLOAT, ACL_BF16, ACL_INT8}, {kWide, {400}, {400, 257}}, kWide, 0, {{1, 301}}},
                 {{ACL_FLOAT, ACL_FLOAT16}, {{90, 90}, {20000, 2}, {20000}}, {90, 90}, 0, {{1, 90}}}}),
             kInPlace);
const auto kScatterMax = Register(
    PORTACL_PHASES(aclnnScatterMax, c[3], c[1], c[2], false),
    Of({{{ACL_FLOAT, ACL_BF16, ACL_INT8}, {kWide, {400}, {400, 257}}, kWide, 0, {{1, 301}}}}), kInPlace);
const auto kScatterMin = Register(
    PORTACL_PHASES(aclnnScatterMin, c[3], c[1], c[2], false),
    Of({{{ACL_FLOAT, ACL_BF16, ACL_INT8}, {kWide, {400}, {400, 257}}, kWide, 0, {{1, 301}}}}), kInPlace);
const auto kScatterMul = Register(
    PORTACL_PHASES(aclnnScatterMul, c[3], c[1], c[2], false),
    Of({{{ACL_FLOAT, ACL_BF16, ACL_INT8}, {kWide, {400}, {400, 257}}, kWide, 0, {{1, 301}}}}), kInPlace);
const auto kScatterDiv = Register(
    PORTACL_PHASES(aclnnScatterDiv, c[3], c[1], c[2], false),
    Of({{{ACL_FLOAT, ACL_BF16, ACL_INT8}, {kWide, {400}, {400, 257}}, kWide, 0, {{1, 301}}}}), kInPlace);
const auto kInplaceScatterUpdate =
    Register(PORTACL_PHASES(aclnnInplaceScatterUpdate, c[3], c[1], c[2], -1),
             Of({{{ACL_FLOAT, ACL_INT8}, {kWide, {150}, {150, 200}}, kWide, 0, {{1, 58}}},
                 {{ACL_BF16}, {kWide, {400, 2}, {400, 200}}, kWide, 0, {{1, 58}}}}),
             kInPlace);
// One tensor of a list, all of whose positions but the last ones are written.
const auto kScatterList =
    Register(PORTACL_PHASES(aclnnScatterList, c.ListOf(3), c[1], c[2], nullptr, nullptr, -1),
             Of({{{ACL_FLOAT, ACL_BF16}, {kWide, {1}, {1, 301, 200}}, kWide, 0, {{1, 58}}}}), kInPlace);
const auto kScatterReduce =
    Register(PORTACL_PHASES(aclnnScatterReduce, c[0], 0, c[1], c[2], 1, true, c[3]),
             Of({{{ACL_FLOAT}, {kWide, {400, 200}, {400, 200}}, kWide, 0, {{1, 301, true}}}}), kPlain);
const auto kInplaceScatterReduce =
    Register(PORTACL_PHASES(aclnnInplaceScatterReduce, c[3], 1, c[1], c[2], 1, true),
             Of({{{ACL_FLOAT}, {kWide, {301, 400}, {301, 400}}, kWide, 0, {{1, 257, true}}}}), kInPlace);
const auto kInplacePut =
    Register(PORTACL_PHASES(aclnnInplacePut, c[3], c[1], c[2], c.setting != 0),
             Of({{kSizes, {kWide, {40000}, {40000}}, kWide, 0, {{1, 77357, true}}},
                 {kRealSizes, {{300}, {90000}, {300, 300}}, {300}, 1, {{1, 300, true}}}}),
             kInPlace);
const auto kInplaceMaskedScatter =
    Register(PORTACL_PHASES(aclnnInplaceMaskedScatter, c[3], c[1], c[2]),
             Of({{kRealSizes, {kWide, kWide, {77357}}, kWide, 0, {{1, 2}}, ACL_BOOL},
                 {kRealSizes, {kWide, {257}, kWide}, kWide, 0, {{1, 2}}, ACL_BOOL}}),
             kInPlace);
const auto kOneHot =
    Register(PORTACL_PHASES(aclnnOneHot, c[0], 19, c[1], c[2], c.setting == 0 ? -1 : 1, c[3]),
             Of({{{ACL_FLOAT, ACL_INT64}, {{61, 70}, {1}, {1}}, {61, 70, 19}, 0, {{0, 19}}},
                 {{ACL_FLOAT, ACL_INT64}, {{61, 70}, {1}, {1}}, {61, 19, 70}, 1, {{0, 19}}}}),
             kPlain);

// ---- outputs whose length the data decide ----

// Numbers of which there are few, so that each is there often; then their places.
const auto kUnique = Register(
    PORTACL_PHASES(aclnnUnique, c[0], true, c.setting != 0, c.OutIf(c.setting == 0, {77357}, ACL_INT64),
                   c.OutIf(c.setting != 0, {0}, ACL_INT64)),
    Of({{{ACL_INT64}, {kWide}, {77357}, 0, {{0, 3000, true}}, ACL_INT64},
        {{ACL_INT64}, {kWide}, kWide, 1, {{0, 3000, true}}, ACL_INT64},
        {{ACL_FLOAT, ACL_BF16, ACL_INT8}, {kWide}, {77357}, 0}}),
    kFilled);
const auto kUnique2 = Register(PORTACL_PHASES(aclnnUnique2, c[0], true, c.setting != 0, c.setting != 0,
                                              c.OutIf(c.setting == 0, {77357}, ACL_INT64),
                                              c.Unseen(c.setting != 0 ? kWide : Shape{0}, ACL_INT64),
                                              c.OutIf(c.setting != 0, {0}, ACL_INT64)),
                               Of({{{ACL_INT64}, {kWide}, {77357}, 0, {{0, 40000}}, ACL_INT64},
                                   {{ACL_INT64}, {kWide}, {77357}, 1, {{0, 3000}}, ACL_INT64}}),
                               kFilled);
const auto kUniqueConsecutive =
    Register(PORTACL_PHASES(aclnnUniqueConsecutive, c[0], false, false, c.setting == 0 ? 1000 : 1, c[1],
                            c.Unseen({0}, ACL_INT64), c.Unseen({0}, ACL_INT64)),
             Of({{{ACL_INT64}, {kWide}, {77357}, 0, {{0, 2}}, ACL_INT64},
                 {{ACL_INT64}, {{4, 20000}}, {4, 20000}, 1, {{0, 2}}, ACL_INT64}}),
             kFilled);
// Slices of few numbers, so that each is there often.
const auto kUniqueDim =
    Register(PORTACL_PHASES(aclnnUniqueDim, c[0], true, c.setting != 0, 0,
                            c.OutIf(c.setting == 0, {5000, 4}, ACL_INT64),
                            c.OutIf(c.setting != 0, {0}, ACL_INT64), c.Unseen({0}, ACL_INT64)),
             Of({{{ACL_INT64}, {{5000, 4}}, {5000, 4}, 0, {{0, 4, true}}, ACL_INT64},
                 {{ACL_INT64}, {{5000, 4}}, {5000}, 1, {{0, 4, true}}, ACL_INT64}}),
             kFilled);
const auto kNonzero = Register(
    PORTACL_PHASES(aclnnNonzero, c[0], c[1]),
    Of({{{ACL_INT64}, {kWide}, {77357, 2}, 0, {{0, 3}}}, {{ACL_INT64}, {kDeep}, {11070, 4}, 0, {{0, 3}}}}),
    kFilled);
const auto kNonzeroV2 = Register(
    PORTACL_PHASES(aclnnNonzeroV2, c[0], c[1]),
    Of({{{ACL_INT64}, {kWide}, {2, 77357}, 0, {{0, 3}}}, {{ACL_INT64}, {kDeep}, {4, 11070}, 0, {{0, 3}}}}),
    kFilled);
const auto kMaskedSelect = Register(PORTACL_PHASES(aclnnMaskedSelect, c[0], c[1], c[2]),
                                    Of({{kRealSizes, {kWide, kWide}, {77357}, 0, {{1, 2}}, ACL_BOOL},
                                        {kRealSizes, {kWide, {257}}, {77357}, 0, {{1, 2}}, ACL_BOOL}}),
                                    kFilled);

// ---- what is sorted, searched and counted: values, then places ----

const std::vector<DtypeNumber> kOrdered = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8};

const DescribedCalls kSorts({
    CallOf("aclnnSort",
           Of({{kOrdered, {kWide}, kWide, 0}, {{ACL_INT64}, {kWide}, kWide, 1, {{0, 50, true}}, ACL_INT64}}),
           {{"descending", kSetting}}, {}, kPlain),
    CallOf("aclnnArgsort",
           Of({{{ACL_INT64}, {{100003}}, {100003}, 0, {{0, 5000}}, ACL_INT32},
               {{ACL_INT64}, {kWide}, kWide, 1, {{0, 50}}, ACL_INT64}}),
           {{"dim", 0}, {"descending", kSetting}}, {}, kPlain),
    CallOf("aclnnTopk",
           Of({{kOrdered, {{5, 15471}}, {5, 20}, 0},
               {{ACL_INT64}, {{5, 15471}}, {5, 20}, 1, {{0, 500, true}}, ACL_INT64}}),
           {{"k", 20}, {"largest", BySetting({1, 0})}}, {}, kPlain),
    CallOf("aclnnTopkV2", Of({{{ACL_FLOAT, ACL_BF16}, {kWide}, {20, 257}, 0}}),
           {{"k", 20}, {"dim", 0}, {"largest", 0}}, {}, kPlain),
    CallOf("aclnnMedian", Of({{kOrdered, {kWide}, {}}}), {}, {}, kPlain),
    CallOf("aclnnNanMedian", Of({{kOrdered, {kWide}, {}}}), {}, {}, kPlain),
    CallOf("aclnnMedianDim",
           Of({{kOrdered, {kWide}, {257}, 0}, {{ACL_INT64}, {kWide}, {257}, 1, {{0, 50, true}}, ACL_INT64}}),
           {{"dim", 0}}, {}, kPlain),
    CallOf("aclnnNanMedianDim",
           Of({{kOrdered, {kWide}, {301, 1}, 0},
               {{ACL_INT64}, {kWide}, {301, 1}, 1, {{0, 50, true}}, ACL_INT64}}),
           {{"keepDim", 1}}, {}, kPlain),
    CallOf("aclnnKthvalue",
           Of({{kOrdered, {{5, 15471}}, {5}, 0},
               {{ACL_INT64}, {{5, 15471}}, {5}, 1, {{0, 50, true}}, ACL_INT64}}),
           {{"k", 4000}}, {}, kPlain),
    CallOf("aclnnSearchSorted",
           Of({{{ACL_INT64}, {{257}, kWide}, kWide, 0, {{0, 1000}, {1, 1000}}, ACL_INT64},
               {{ACL_INT64}, {kWide, {301, 100}}, {301, 100}, 1, {{0, 1000}, {1, 1000}}, ACL_INT32}}),
           {{"right", kSetting}}, {}, kPlain),
    // Whether few numbers are one, and whether any of them is.
    CallOf("aclnnIsInTensorScalar", Of({{{ACL_BOOL}, {kWide}, kWide, 0, {{0, 50}}, ACL_INT64}}),
           {{"testElement", 7}}, {}, kPlain),
    CallOf("aclnnIsInScalarTensor",
           Of({{{ACL_BOOL}, {kWide}, {}, 0, {{0, 50}}, ACL_INT64},
               {{ACL_BOOL}, {kWide}, {}, 1, {{0, 50}}, ACL_INT32}}),
           {{"element", BySetting({7, 77})}}, {}, kPlain),
    CallOf("aclnnSearchSorteds", Of({{{ACL_INT64}, {{257}}, {1}, 0, {{0, 1000}}, ACL_INT64}}),
           {{"self", 500}}, {}, kPlain),
    CallOf("aclnnBincount",
           Of({{{ACL_FLOAT, ACL_DOUBLE}, {{77357}, {77357}}, {1000}, 0, {{0, 1000}}},
               {{ACL_INT64}, {{77357}, {1}}, {1000}, 1, {{0, 1000}}}}),
           {{"weights", BySetting({Input(1), nullptr})}, {"minlength", 0}}, {}, kPlain),
    CallOf("aclnnHistc", Of({{{ACL_FLOAT, ACL_FLOAT16, ACL_INT32}, {kWide}, {50}}}),
           {{"bins", 50}, {"min", -1.5}, {"max", 1.5}}, {}, kPlain),
});

}  // namespace
}  // namespace portacl::testing
