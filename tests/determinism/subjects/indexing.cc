// Operators that move and index elements, for the determinism test: every index tensor names elements repeatedly, sums are of ordinary
// numbers, so that another order has other bits, and sizes are work for several threads.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "aclnnop/families/arithmetic.h"
#include "aclnnop/families/indexing.h"
#include "aclnnop/families/logic.h"
#include "aclnnop/families/shape.h"
#include "aclnnop/families/sort.h"
#include "determinism/arguments.h"
#include "determinism/subject.h"

namespace portacl::testing {
namespace {

using Run = decltype(OperatorBinding::run);

const Shape kWide = {301, 257};
const Shape kDeep = {3, 5, 41, 18};

const std::vector<DtypeNumber> kSizes = {ACL_INT8, ACL_BF16, ACL_FLOAT, ACL_DOUBLE, ACL_COMPLEX64};
const std::vector<DtypeNumber> kRealSizes = {ACL_INT8, ACL_FLOAT16, ACL_FLOAT, ACL_INT64};
const std::vector<DtypeNumber> kSummed = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE,
                                          ACL_INT8,  ACL_INT32,   ACL_INT64};

// A call's tensors, which of the settings it has, and what phase 1 gives.
struct Call {
  Tensors t;
  int64_t setting;
  uint64_t* size;
  aclOpExecutor** executor;
};

// A case for each dtype of what is moved. Inputs of `indices` are of `index_dtype`, or INT64 and INT32 in turn.
struct Form {
  std::vector<DtypeNumber> dtypes;
  std::vector<Shape> inputs;
  Shape output;
  size_t setting = 0;
  std::vector<GivenCase::Indices> indices = {};
  DtypeNumber index_dtype = kUndefinedDtype;
};

SubjectRegistration Register(const std::string& name, size_t inputs, aclnnStatus (*plan)(const Call&),
                             Run run, const std::vector<Form>& forms, Start start = Start::kAnything) {
  Subject subject;
  subject.start = start;
  subject.sums_everything = true;
  OperatorBinding& binding = subject.description.binding;
  binding.name = name;
  for (size_t i = 0; i < inputs; ++i) binding.tensors.push_back("input" + std::to_string(i));
  binding.tensors.emplace_back("output");
  binding.plan = [plan](Tensors t, const Attributes& attributes, uint64_t* size, aclOpExecutor** executor) {
    return plan({t, attributes.reduction, size, executor});
  };
  binding.run = run;
  binding.may_need_workspace = [](std::span<const Shape>) { return true; };
  size_t settings = 1;
  for (const Form& form : forms) {
    settings = std::max(settings, form.setting + 1);
    for (const DtypeNumber dtype : form.dtypes) {
      GivenCase c{std::vector<DtypeNumber>(inputs, dtype),
                  form.inputs,
                  dtype,
                  form.output,
                  form.setting,
                  form.indices};
      const DtypeNumber in_turn = subject.given.size() % 2 == 0 ? ACL_INT64 : ACL_INT32;
      for (const auto& one : form.indices)
        c.input_dtypes[one.input] = form.index_dtype == kUndefinedDtype ? in_turn : form.index_dtype;
      subject.given.push_back(c);
    }
  }
  for (size_t i = 0; i < settings; ++i) {
    subject.description.attributes.emplace_back();
    subject.description.attributes.back().reduction = static_cast<int64_t>(i);
  }
  subject.cuts_freely = [](const Attributes&) { return false; };
  subject.is_plain_code = true;
  for (const char c : name) subject.seed = subject.seed * 31 + static_cast<unsigned char>(c);
  return SubjectRegistration(std::move(subject));
}

// ---- moves ----

const auto kCat = Register("aclnnCat", 3,
                           [](const Call& c) {
                             return aclnnCatGetWorkspaceSize(ListOfWholes(c.t.first(3)), c.setting, c.t[3],
                                                             c.size, c.executor);
                           },
                           aclnnCat,
                           {{kSizes, {{100, 257}, {1, 257}, {200, 257}}, kWide, 0},
                            {kSizes, {{301, 100}, {301, 1}, {301, 156}}, kWide, 1}});
const auto kStack = Register("aclnnStack", 3,
                             [](const Call& c) {
                               return aclnnStackGetWorkspaceSize(ListOfWholes(c.t.first(3)), c.setting,
                                                                 c.t[3], c.size, c.executor);
                             },
                             aclnnStack,
                             {{kSizes, {{101, 57}, {101, 57}, {101, 57}}, {101, 3, 57}, 1},
                              {kSizes, {{101, 57}, {101, 57}, {101, 57}}, {101, 57, 3}, 2}});
const auto kSplitTensor = Register(
    "aclnnSplitTensor", 1,
    [](const Call& c) {
      return aclnnSplitTensorGetWorkspaceSize(
          c.t[0], 200, 0, ListOf({Part(c.t[1], 0, 0, 200), Part(c.t[1], 0, 200, 101)}), c.size, c.executor);
    },
    aclnnSplitTensor, {{kSizes, {kWide}, kWide}});
const auto kSplitWithSize =
    Register("aclnnSplitWithSize", 1,
             [](const Call& c) {
               return aclnnSplitWithSizeGetWorkspaceSize(
                   c.t[0], Ints{100, 1, 156}, 1,
                   ListOf({Part(c.t[1], 1, 0, 100), Part(c.t[1], 1, 100, 1), Part(c.t[1], 1, 101, 156)}),
                   c.size, c.executor);
             },
             aclnnSplitWithSize, {{kSizes, {kWide}, kWide}});
const auto kPermute =
    Register("aclnnPermute", 1,
             [](const Call& c) {
               if (c.setting == 0)
                 return aclnnPermuteGetWorkspaceSize(c.t[0], Ints{1, 0}, c.t[1], c.size, c.executor);
               return aclnnPermuteGetWorkspaceSize(c.t[0], Ints{2, 0, 3, 1}, c.t[1], c.size, c.executor);
             },
             aclnnPermute, {{kSizes, {kWide}, {257, 301}, 0}, {kSizes, {kDeep}, {41, 3, 18, 5}, 1}});
const auto kFlip =
    Register("aclnnFlip", 1,
             [](const Call& c) {
               if (c.setting == 0)
                 return aclnnFlipGetWorkspaceSize(c.t[0], Ints{1}, c.t[1], c.size, c.executor);
               return aclnnFlipGetWorkspaceSize(c.t[0], Ints{0, 2}, c.t[1], c.size, c.executor);
             },
             aclnnFlip, {{kSizes, {kWide}, kWide, 0}, {kSizes, {kDeep}, kDeep, 1}});
const auto kRoll =
    Register("aclnnRoll", 1,
             [](const Call& c) {
               if (c.setting == 0)
                 return aclnnRollGetWorkspaceSize(c.t[0], Ints{1000}, Ints{}, c.t[1], c.size, c.executor);
               return aclnnRollGetWorkspaceSize(c.t[0], Ints{5, -7}, Ints{1, 0}, c.t[1], c.size, c.executor);
             },
             aclnnRoll, {{kRealSizes, {kWide}, kWide, 0}, {kRealSizes, {kWide}, kWide, 1}});
const auto kSlice =
    Register("aclnnSlice", 1,
             [](const Call& c) {
               return aclnnSliceGetWorkspaceSize(c.t[0], c.setting, 3, 250, c.setting == 0 ? 1 : 3, c.t[1],
                                                 c.size, c.executor);
             },
             aclnnSlice, {{kRealSizes, {kWide}, {247, 257}, 0}, {kRealSizes, {kWide}, {301, 83}, 1}});
const auto kSliceV2 =
    Register("aclnnSliceV2", 1,
             [](const Call& c) {
               return aclnnSliceV2GetWorkspaceSize(c.t[0], Ints{3, 1}, Ints{250, 257}, Ints{0, 1}, Ints{2, 1},
                                                   c.t[1], c.size, c.executor);
             },
             aclnnSliceV2, {{kRealSizes, {kWide}, {124, 256}}});
const auto kChannelShuffle = Register(
    "aclnnChannelShuffle", 1,
    [](const Call& c) { return aclnnChannelShuffleGetWorkspaceSize(c.t[0], 3, c.t[1], c.size, c.executor); },
    aclnnChannelShuffle, {{kRealSizes, {{5, 12, 431}}, {5, 12, 431}}});
const auto kReal =
    Register("aclnnReal", 1,
             [](const Call& c) { return aclnnRealGetWorkspaceSize(c.t[0], c.t[1], c.size, c.executor); },
             aclnnReal, {{{ACL_FLOAT}, {kWide}, kWide}});
const std::vector<DtypeNumber> kListed = {ACL_FLOAT, ACL_FLOAT16, ACL_INT32};
const auto kAddN =
    Register("aclnnAddN", 3,
             [](const Call& c) {
               return aclnnAddNGetWorkspaceSize(ListOfWholes(c.t.first(3)), c.t[3], c.size, c.executor);
             },
             aclnnAddN, {{kListed, {kWide, kWide, kWide}, kWide}});
const auto kSum =
    Register("aclnnSum", 3,
             [](const Call& c) {
               return aclnnSumGetWorkspaceSize(ListOfWholes(c.t.first(3)), c.t[3], c.size, c.executor);
             },
             aclnnSum, {{{ACL_FLOAT, ACL_FLOAT16, ACL_INT8}, {kWide, {1, 257}, kWide}, kWide}});
const auto kMaxN =
    Register("aclnnMaxN", 3,
             [](const Call& c) {
               return aclnnMaxNGetWorkspaceSize(ListOfWholes(c.t.first(3)), c.t[3], c.size, c.executor);
             },
             aclnnMaxN, {{kListed, {kWide, {1, 257}, kWide}, kWide}});
const auto kMinN =
    Register("aclnnMinN", 3,
             [](const Call& c) {
               return aclnnMinNGetWorkspaceSize(ListOfWholes(c.t.first(3)), c.t[3], c.size, c.executor);
             },
             aclnnMinN, {{kListed, {kWide, {1, 257}, kWide}, kWide}});
const auto kConfusionTranspose =
    Register("aclnnConfusionTranspose", 1,
             [](const Call& c) {
               return aclnnConfusionTransposeGetWorkspaceSize(c.t[0], Ints{1, 0}, Ints{257 * 43, 7}, true,
                                                              c.t[1], c.size, c.executor);
             },
             aclnnConfusionTranspose, {{kRealSizes, {kWide}, {257 * 43, 7}}});
const auto kFlatten = Register(
    "aclnnFlatten", 1,
    [](const Call& c) { return aclnnFlattenGetWorkspaceSize(c.t[0], 2, c.t[1], c.size, c.executor); },
    aclnnFlatten, {{kRealSizes, {{5, 12, 431}}, {60, 431}}});
const auto kRepeat =
    Register("aclnnRepeat", 1,
             [](const Call& c) {
               return aclnnRepeatGetWorkspaceSize(c.t[0], Ints{2, 1, 3}, c.t[1], c.size, c.executor);
             },
             aclnnRepeat, {{kSizes, {{101, 57}}, {2, 101, 171}}});
const auto kExpand =
    Register("aclnnExpand", 1,
             [](const Call& c) {
               return aclnnExpandGetWorkspaceSize(c.t[0], Ints{3, 101, 257}, c.t[1], c.size, c.executor);
             },
             aclnnExpand, {{kRealSizes, {{101, 1}}, {3, 101, 257}}, {kRealSizes, {{257}}, {3, 101, 257}}});
const auto kRepeatInterleaveInt =
    Register("aclnnRepeatInterleaveInt", 1,
             [](const Call& c) {
               return aclnnRepeatInterleaveIntGetWorkspaceSize(c.t[0], 3, 77871, c.t[1], c.size, c.executor);
             },
             aclnnRepeatInterleaveInt, {{kRealSizes, {{101, 257}}, {77871}}});
const auto kRepeatInterleaveIntWithDim =
    Register("aclnnRepeatInterleaveIntWithDim", 1,
             [](const Call& c) {
               return aclnnRepeatInterleaveIntWithDimGetWorkspaceSize(
                   c.t[0], 3, c.setting, c.setting == 0 ? 303 : 771, c.t[1], c.size, c.executor);
             },
             aclnnRepeatInterleaveIntWithDim,
             {{kRealSizes, {{101, 257}}, {303, 257}, 0}, {kRealSizes, {{101, 257}}, {101, 771}, 1}});
// Every count is 2.
const auto kRepeatInterleave = Register(
    "aclnnRepeatInterleave", 2,
    [](const Call& c) {
      return aclnnRepeatInterleaveGetWorkspaceSize(c.t[0], c.t[1], 51914, c.t[2], c.size, c.executor);
    },
    aclnnRepeatInterleave, {{kRealSizes, {{101, 257}, {25957}}, {51914}, 0, {{1, 3, false, 2}}}});
const auto kRepeatInterleaveWithDim =
    Register("aclnnRepeatInterleaveWithDim", 2,
             [](const Call& c) {
               return aclnnRepeatInterleaveWithDimGetWorkspaceSize(
                   c.t[0], c.t[1], c.setting, c.setting == 0 ? 202 : 514, c.t[2], c.size, c.executor);
             },
             aclnnRepeatInterleaveWithDim,
             {{kRealSizes, {{101, 257}, {101}}, {202, 257}, 0, {{1, 3, false, 2}}},
              {kRealSizes, {{101, 257}, {257}}, {101, 514}, 1, {{1, 3, false, 2}}}});
const auto kRepeatInterleaveTensor = Register(
    "aclnnRepeatInterleaveTensor", 1,
    [](const Call& c) {
      return aclnnRepeatInterleaveTensorGetWorkspaceSize(c.t[0], 77772, c.t[1], c.size, c.executor);
    },
    aclnnRepeatInterleaveTensor, {{{ACL_INT64}, {{25924}}, {77772}, 0, {{0, 4, false, 3}}, ACL_INT64}});
const auto kConstantPadNd = Register("aclnnConstantPadNd", 1,
                                     [](const Call& c) {
                                       return aclnnConstantPadNdGetWorkspaceSize(
                                           c.t[0], Ints{1, 2, 3, 4}, Scalar(2), c.t[1], c.size, c.executor);
                                     },
                                     aclnnConstantPadNd, {{kSizes, {kWide}, {308, 260}}});
const auto kDiag =
    Register("aclnnDiag", 1,
             [](const Call& c) {
               return aclnnDiagGetWorkspaceSize(c.t[0], c.setting - 2, c.t[1], c.size, c.executor);
             },
             aclnnDiag, {{kRealSizes, {{301}}, {303, 303}, 0}, {kRealSizes, {kWide}, {256}, 3}});
const auto kDiagFlat = Register(
    "aclnnDiagFlat", 1,
    [](const Call& c) { return aclnnDiagFlatGetWorkspaceSize(c.t[0], 1, c.t[1], c.size, c.executor); },
    aclnnDiagFlat, {{kRealSizes, {{15, 20}}, {301, 301}}});

// ---- what indices name is read ----

const auto kIndexSelect =
    Register("aclnnIndexSelect", 2,
             [](const Call& c) {
               return aclnnIndexSelectGetWorkspaceSize(c.t[0], c.setting, c.t[1], c.t[2], c.size, c.executor);
             },
             aclnnIndexSelect,
             {{kSizes, {kWide, {400}}, {400, 257}, 0, {{1, 301}}},
              {kSizes, {kWide, {400}}, {301, 400}, 1, {{1, 257}}}});
const auto kGather =
    Register("aclnnGather", 2,
             [](const Call& c) {
               return aclnnGatherGetWorkspaceSize(c.t[0], c.setting, c.t[1], c.t[2], c.size, c.executor);
             },
             aclnnGather,
             {{kRealSizes, {kWide, {400, 200}}, {400, 200}, 0, {{1, 301}}},
              {kRealSizes, {kWide, {300, 400}}, {300, 400}, 1, {{1, 257, true}}}});
const auto kGatherV2 =
    Register("aclnnGatherV2", 2,
             [](const Call& c) {
               return aclnnGatherV2GetWorkspaceSize(c.t[0], c.setting, c.t[1], c.t[2], c.size, c.executor);
             },
             aclnnGatherV2,
             {{kSizes, {kWide, {40, 10}}, {40, 10, 257}, 0, {{1, 301}}},
              {kSizes, {kWide, {40, 10}}, {301, 40, 10}, 1, {{1, 257, true}}}});
const auto kGatherV3 =
    Register("aclnnGatherV3", 2,
             [](const Call& c) {
               return aclnnGatherV3GetWorkspaceSize(c.t[0], 0, c.t[1], 0, 1, c.t[2], c.size, c.executor);
             },
             aclnnGatherV3, {{kSizes, {kWide, {40, 10}}, {40, 10, 257}, 0, {{1, 301}}}});
const auto kTake = Register(
    "aclnnTake", 2,
    [](const Call& c) { return aclnnTakeGetWorkspaceSize(c.t[0], c.t[1], c.t[2], c.size, c.executor); },
    aclnnTake, {{kSizes, {kWide, {400, 200}}, {400, 200}, 0, {{1, 77357, true}}}});
const auto kEmbedding = Register(
    "aclnnEmbedding", 2,
    [](const Call& c) { return aclnnEmbeddingGetWorkspaceSize(c.t[0], c.t[1], c.t[2], c.size, c.executor); },
    aclnnEmbedding, {{kSizes, {kWide, {40, 10}}, {40, 10, 257}, 0, {{1, 301}}}});
const auto kIndex = Register(
    "aclnnIndex", 3,
    [](const Call& c) {
      return aclnnIndexGetWorkspaceSize(c.t[0], ListOfWholes(c.t.subspan(1, 2)), c.t[3], c.size, c.executor);
    },
    aclnnIndex,
    {{kRealSizes, {{31, 27, 90}, {600}, {600}}, {600, 90}, 0, {{1, 31, true}, {2, 27, true}}},
     {kRealSizes, {kWide, {300, 1}, {300}}, {300, 300}, 0, {{1, 301, true}, {2, 257, true}}}});

// ---- what indices name is written ----

const auto kScatter =
    Register("aclnnScatter", 3,
             [](const Call& c) {
               return aclnnScatterGetWorkspaceSize(c.t[0], c.setting % 2, c.t[1], c.t[2], c.setting / 2,
                                                   c.t[3], c.size, c.executor);
             },
             aclnnScatter,
             {{kSizes, {kWide, {400, 200}, {400, 200}}, kWide, 0, {{1, 301, true}}},
              {kSizes, {kWide, {301, 400}, {301, 400}}, kWide, 1, {{1, 257, true}}},
              {kSummed, {kWide, {400, 200}, {400, 200}}, kWide, 2, {{1, 301, true}}},
              {kSummed, {kWide, {301, 400}, {301, 400}}, kWide, 3, {{1, 257, true}}},
              {kSummed, {{50}, {100000}, {100000}}, {50}, 2, {{1, 50, true}}},
              {kSummed, {kWide, {400, 200}, {400, 200}}, kWide, 4, {{1, 301, true}}},
              {kSummed, {kWide, {301, 400}, {301, 400}}, kWide, 7, {{1, 257, true}}},
              {kSummed, {{9000}, {70000}, {70000}}, {9000}, 8, {{1, 9000, true}}},
              {kSummed, {kWide, {400, 200}, {400, 200}}, kWide, 10, {{1, 301, true}}}});
const auto kInplaceScatter = Register(
    "aclnnInplaceScatter", 3,
    [](const Call& c) {
      return aclnnInplaceScatterGetWorkspaceSize(c.t[3], 1, c.t[1], c.t[2], c.setting, c.size, c.executor);
    },
    aclnnInplaceScatter,
    {{kSizes, {kWide, {301, 400}, {301, 400}}, kWide, 0, {{1, 257, true}}},
     {kSummed, {kWide, {301, 400}, {301, 400}}, kWide, 1, {{1, 257, true}}}},
    Start::kFirstInput);
const auto kScatterValue =
    Register("aclnnScatterValue", 2,
             [](const Call& c) {
               return aclnnScatterValueGetWorkspaceSize(c.t[0], 0, c.t[1], Scalar(3), c.setting, c.t[2],
                                                        c.size, c.executor);
             },
             aclnnScatterValue,
             {{kSizes, {kWide, {400, 200}}, kWide, 0, {{1, 301, true}}},
              {kSummed, {kWide, {400, 200}}, kWide, 2, {{1, 301, true}}}});
const auto kInplaceScatterValue = Register(
    "aclnnInplaceScatterValue", 2,
    [](const Call& c) {
      return aclnnInplaceScatterValueGetWorkspaceSize(c.t[2], 0, c.t[1], Scalar(3), c.setting, c.size,
                                                      c.executor);
    },
    aclnnInplaceScatterValue, {{kSummed, {kWide, {400, 200}}, kWide, 1, {{1, 301, true}}}},
    Start::kFirstInput);
const auto kScatterAdd = Register("aclnnScatterAdd", 3,
                                  [](const Call& c) {
                                    return aclnnScatterAddGetWorkspaceSize(c.t[0], c.setting, c.t[1], c.t[2],
                                                                           c.t[3], c.size, c.executor);
                                  },
                                  aclnnScatterAdd,
                                  {{kSummed, {kWide, {400, 200}, {400, 200}}, kWide, 0, {{1, 301, true}}},
                                   {kSummed, {{70000}, {300000}, {300000}}, {70000}, 0, {{1, 70000, true}}},
                                   {kSummed, {{3}, {100000}, {100000}}, {3}, 0, {{1, 3}}},
                                   {kSummed, {kWide, {301, 400}, {301, 400}}, kWide, 1, {{1, 257, true}}}});
const auto kIndexAdd = Register("aclnnIndexAdd", 3,
                                [](const Call& c) {
                                  return aclnnIndexAddGetWorkspaceSize(c.t[0], c.setting % 2, c.t[1], c.t[2],
                                                                       Scalar(c.setting < 2 ? 1 : 3), c.t[3],
                                                                       c.size, c.executor);
                                },
                                aclnnIndexAdd,
                                {{kSummed, {{29, 257}, {500}, {500, 257}}, {29, 257}, 0, {{1, 29}}},
                                 {kSummed, {{50}, {100000}, {100000}}, {50}, 0, {{1, 50}}},
                                 {kSummed, {{301, 20}, {400}, {301, 400}}, {301, 20}, 1, {{1, 20}}},
                                 {kSummed, {{29, 257}, {500}, {500, 257}}, {29, 257}, 2, {{1, 29}}}});
const auto kIndexAddV2 =
    Register("aclnnIndexAddV2", 3,
             [](const Call& c) {
               return aclnnIndexAddV2GetWorkspaceSize(c.t[0], 0, c.t[1], c.t[2], Scalar(3), 1, c.t[3], c.size,
                                                      c.executor);
             },
             aclnnIndexAddV2, {{kSummed, {{29, 257}, {500}, {500, 257}}, {29, 257}, 0, {{1, 29}}}});
const auto kIndexCopy = Register("aclnnIndexCopy", 3,
                                 [](const Call& c) {
                                   return aclnnIndexCopyGetWorkspaceSize(c.t[0], c.setting, c.t[1], c.t[2],
                                                                         c.t[3], c.size, c.executor);
                                 },
                                 aclnnIndexCopy,
                                 {{kSizes, {{29, 257}, {500}, {500, 257}}, {29, 257}, 0, {{1, 29}}},
                                  {kSizes, {{301, 20}, {400}, {301, 400}}, {301, 20}, 1, {{1, 20}}}});
const auto kInplaceIndexCopy = Register(
    "aclnnInplaceIndexCopy", 3,
    [](const Call& c) {
      return aclnnInplaceIndexCopyGetWorkspaceSize(c.t[3], 0, c.t[1], c.t[2], c.size, c.executor);
    },
    aclnnInplaceIndexCopy, {{kSizes, {{29, 257}, {500}, {500, 257}}, {29, 257}, 0, {{1, 29}}}},
    Start::kFirstInput);
const auto kIndexPutImpl = Register(
    "aclnnIndexPutImpl", 4,
    [](const Call& c) {
      return aclnnIndexPutImplGetWorkspaceSize(c.t[4], ListOfWholes(c.t.subspan(1, 2)), c.t[3],
                                               c.setting != 0, false, c.size, c.executor);
    },
    aclnnIndexPutImpl,
    {{kRealSizes, {{7, 5, 90}, {900}, {900}, {900, 90}}, {7, 5, 90}, 0, {{1, 7, true}, {2, 5, true}}},
     {kSummed, {{7, 5, 90}, {900}, {900}, {900, 90}}, {7, 5, 90}, 1, {{1, 7, true}, {2, 5, true}}},
     {kSummed, {{60, 50}, {300, 1}, {300}, {300, 300}}, {60, 50}, 1, {{1, 60, true}, {2, 50, true}}}},
    Start::kFirstInput);
// Where bags begin; one of them is empty.
aclTensor* Bags() {
  static std::vector<int64_t> offsets = {0, 40, 40, 100, 250};
  constexpr int64_t kCount = 5;
  return aclCreateTensor(&kCount, 1, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, &kCount, 1, offsets.data());
}
aclTensor* Unlooked(const Shape& shape, size_t which) {
  static std::vector<int64_t> memory[3];
  memory[which].resize(static_cast<size_t>(std::max<int64_t>(NumElements(shape), 1)));
  return aclCreateTensor(shape.data(), shape.size(), ACL_INT64, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                         shape.size(), memory[which].data());
}
const auto kEmbeddingBag = Register(
    "aclnnEmbeddingBag", 2,
    [](const Call& c) {
      aclTensor* const bags = Bags();
      aclTensor* const bag_of = Unlooked({0}, 0);
      aclTensor* const sizes = Unlooked({5}, 1);
      aclTensor* const most = Unlooked(c.setting == 2 ? Shape{5, 257} : Shape{5}, 2);
      ListOf({bags, bag_of, sizes, most});
      return aclnnEmbeddingBagGetWorkspaceSize(c.t[0], c.t[1], bags, false, c.setting, false, nullptr, false,
                                               3, c.t[2], bag_of, sizes, most, c.size, c.executor);
    },
    aclnnEmbeddingBag,
    {{{ACL_FLOAT, ACL_FLOAT16, ACL_BF16}, {{29, 257}, {301}}, {5, 257}, 0, {{1, 29}}},
     {{ACL_FLOAT, ACL_BF16}, {{29, 257}, {301}}, {5, 257}, 1, {{1, 29}}},
     {{ACL_FLOAT, ACL_BF16}, {{29, 257}, {301}}, {5, 257}, 2, {{1, 29}}}});
const auto kEmbeddingDenseBackward =
    Register("aclnnEmbeddingDenseBackward", 2,
             [](const Call& c) {
               return aclnnEmbeddingDenseBackwardGetWorkspaceSize(c.t[0], c.t[1], 29, 3, c.setting != 0,
                                                                  c.t[2], c.size, c.executor);
             },
             aclnnEmbeddingDenseBackward,
             {{{ACL_FLOAT, ACL_FLOAT16, ACL_BF16}, {{40, 25, 257}, {40, 25}}, {29, 257}, 0, {{1, 29}}},
              {{ACL_FLOAT, ACL_FLOAT16, ACL_BF16}, {{40, 25, 257}, {40, 25}}, {29, 257}, 1, {{1, 29}}},
              {{ACL_FLOAT, ACL_FLOAT16, ACL_BF16}, {{100000, 1}, {100000}}, {29, 1}, 0, {{1, 29}}}});

const std::vector<DtypeNumber> kFilled = {ACL_FLOAT, ACL_BF16, ACL_INT64, ACL_BOOL};
const auto kIndexFill = Register("aclnnIndexFill", 2,
                                 [](const Call& c) {
                                   return aclnnIndexFillGetWorkspaceSize(c.t[0], c.setting, c.t[1], Scalar(1),
                                                                         c.t[2], c.size, c.executor);
                                 },
                                 aclnnIndexFill,
                                 {{kFilled, {kWide, {100}}, kWide, 0, {{1, 301, true}}},
                                  {kFilled, {kWide, {100}}, kWide, 1, {{1, 257, true}}}});
const auto kInplaceIndexFill = Register(
    "aclnnInplaceIndexFill", 2,
    [](const Call& c) {
      return aclnnInplaceIndexFillGetWorkspaceSize(c.t[2], 1, c.t[1], Scalar(1), c.size, c.executor);
    },
    aclnnInplaceIndexFill, {{kFilled, {kWide, {100}}, kWide, 0, {{1, 257, true}}}}, Start::kFirstInput);
const auto kIndexFillTensor =
    Register("aclnnIndexFillTensor", 1,
             [](const Call& c) {
               return aclnnIndexFillTensorGetWorkspaceSize(c.t[0], 0, Ints{5, -7, 300, 5}, Scalar(1), c.t[1],
                                                           c.size, c.executor);
             },
             aclnnIndexFillTensor, {{kFilled, {kWide}, kWide}});
const auto kInplaceIndexFillTensor = Register(
    "aclnnInplaceIndexFillTensor", 1,
    [](const Call& c) {
      return aclnnInplaceIndexFillTensorGetWorkspaceSize(c.t[1], 1, Ints{5, -7, 200}, Scalar(1), c.size,
                                                         c.executor);
    },
    aclnnInplaceIndexFillTensor, {{kFilled, {kWide}, kWide}}, Start::kFirstInput);
const auto kScatterNd =
    Register("aclnnScatterNd", 3,
             [](const Call& c) {
               return aclnnScatterNdGetWorkspaceSize(c.t[0], c.t[1], c.t[2], c.t[3], c.size, c.executor);
             },
             aclnnScatterNd,
             {{{ACL_FLOAT, ACL_BF16}, {kWide, {400, 1}, {400, 257}}, kWide, 0, {{1, 301}}},
              {{ACL_FLOAT, ACL_BF16}, {{90, 90}, {20000, 2}, {20000}}, {90, 90}, 0, {{1, 90}}}});
const auto kScatterNdUpdate = Register(
    "aclnnScatterNdUpdate", 3,
    [](const Call& c) {
      return aclnnScatterNdUpdateGetWorkspaceSize(c.t[3], c.t[1], c.t[2], c.size, c.executor);
    },
    aclnnScatterNdUpdate, {{{ACL_FLOAT, ACL_INT64}, {kWide, {400, 1}, {400, 257}}, kWide, 0, {{1, 301}}}},
    Start::kFirstInput);
const auto kInplaceScatterUpdate = Register(
    "aclnnInplaceScatterUpdate", 3,
    [](const Call& c) {
      return aclnnInplaceScatterUpdateGetWorkspaceSize(c.t[3], c.t[1], c.t[2], -1, c.size, c.executor);
    },
    aclnnInplaceScatterUpdate,
    {{{ACL_FLOAT, ACL_INT8}, {kWide, {150}, {150, 200}}, kWide, 0, {{1, 58}}},
     {{ACL_BF16}, {kWide, {400, 2}, {400, 200}}, kWide, 0, {{1, 58}}}},
    Start::kFirstInput);
// One tensor of a list, all of whose positions but the last ones are written.
const auto kScatterList = Register(
    "aclnnScatterList", 3,
    [](const Call& c) {
      return aclnnScatterListGetWorkspaceSize(ListOfWholes(c.t.last(1)), c.t[1], c.t[2], nullptr, nullptr, -1,
                                              c.size, c.executor);
    },
    aclnnScatterList, {{{ACL_FLOAT, ACL_BF16}, {kWide, {1}, {1, 301, 200}}, kWide, 0, {{1, 58}}}},
    Start::kFirstInput);
const auto kScatterReduce = Register(
    "aclnnScatterReduce", 3,
    [](const Call& c) {
      return aclnnScatterReduceGetWorkspaceSize(c.t[0], 0, c.t[1], c.t[2], 1, true, c.t[3], c.size,
                                                c.executor);
    },
    aclnnScatterReduce, {{{ACL_FLOAT}, {kWide, {400, 200}, {400, 200}}, kWide, 0, {{1, 301, true}}}});
const auto kInplaceScatterReduce = Register(
    "aclnnInplaceScatterReduce", 3,
    [](const Call& c) {
      return aclnnInplaceScatterReduceGetWorkspaceSize(c.t[3], 1, c.t[1], c.t[2], 1, true, c.size,
                                                       c.executor);
    },
    aclnnInplaceScatterReduce, {{{ACL_FLOAT}, {kWide, {301, 400}, {301, 400}}, kWide, 0, {{1, 257, true}}}},
    Start::kFirstInput);
const auto kInplacePut = Register(
    "aclnnInplacePut", 3,
    [](const Call& c) {
      return aclnnInplacePutGetWorkspaceSize(c.t[3], c.t[1], c.t[2], c.setting != 0, c.size, c.executor);
    },
    aclnnInplacePut,
    {{kSizes, {kWide, {40000}, {40000}}, kWide, 0, {{1, 77357, true}}},
     {kRealSizes, {{300}, {90000}, {300, 300}}, {300}, 1, {{1, 300, true}}}},
    Start::kFirstInput);
const auto kInplaceMaskedScatter = Register(
    "aclnnInplaceMaskedScatter", 3,
    [](const Call& c) {
      return aclnnInplaceMaskedScatterGetWorkspaceSize(c.t[3], c.t[1], c.t[2], c.size, c.executor);
    },
    aclnnInplaceMaskedScatter,
    {{kRealSizes, {kWide, kWide, {77357}}, kWide, 0, {{1, 2}}, ACL_BOOL},
     {kRealSizes, {kWide, {257}, kWide}, kWide, 0, {{1, 2}}, ACL_BOOL}},
    Start::kFirstInput);
const auto kOneHot =
    Register("aclnnOneHot", 3,
             [](const Call& c) {
               return aclnnOneHotGetWorkspaceSize(c.t[0], 19, c.t[1], c.t[2], c.setting == 0 ? -1 : 1, c.t[3],
                                                  c.size, c.executor);
             },
             aclnnOneHot,
             {{{ACL_FLOAT, ACL_INT64}, {{61, 70}, {1}, {1}}, {61, 70, 19}, 0, {{0, 19}}},
              {{ACL_FLOAT, ACL_INT64}, {{61, 70}, {1}, {1}}, {61, 19, 70}, 1, {{0, 19}}}});

// ---- outputs whose length the data decide ----

// An INT64 tensor for the output of several that a form does not look at, until the next list is made.
aclTensor* Unseen(const Shape& shape, size_t which) {
  static std::vector<int64_t> memory[2];
  memory[which].resize(static_cast<size_t>(std::max<int64_t>(NumElements(shape), 1)));
  return aclCreateTensor(shape.data(), shape.size(), ACL_INT64, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                         shape.size(), memory[which].data());
}

// Numbers of which there are few, so that each is there often; then their places.
const auto kUnique = Register(
    "aclnnUnique", 1,
    [](const Call& c) {
      const bool gives_places = c.setting != 0;
      aclTensor* const other = Unseen(gives_places ? Shape{77357} : Shape{0}, 0);
      ListOf({other});
      return aclnnUniqueGetWorkspaceSize(c.t[0], true, gives_places, gives_places ? other : c.t[1],
                                         gives_places ? c.t[1] : other, c.size, c.executor);
    },
    aclnnUnique,
    {{{ACL_INT64}, {kWide}, {77357}, 0, {{0, 3000, true}}, ACL_INT64},
     {{ACL_INT64}, {kWide}, kWide, 1, {{0, 3000, true}}, ACL_INT64},
     {{ACL_FLOAT, ACL_BF16, ACL_INT8}, {kWide}, {77357}, 0}},
    Start::kZero);
const auto kUnique2 = Register(
    "aclnnUnique2", 1,
    [](const Call& c) {
      const bool gives_counts = c.setting != 0;
      aclTensor* const other = Unseen(gives_counts ? Shape{77357} : Shape{0}, 0);
      aclTensor* const places = Unseen(gives_counts ? kWide : Shape{0}, 1);
      ListOf({other, places});
      return aclnnUnique2GetWorkspaceSize(c.t[0], true, gives_counts, gives_counts,
                                          gives_counts ? other : c.t[1], places,
                                          gives_counts ? c.t[1] : other, c.size, c.executor);
    },
    aclnnUnique2,
    {{{ACL_INT64}, {kWide}, {77357}, 0, {{0, 40000}}, ACL_INT64},
     {{ACL_INT64}, {kWide}, {77357}, 1, {{0, 3000}}, ACL_INT64}},
    Start::kZero);
const auto kUniqueConsecutive = Register(
    "aclnnUniqueConsecutive", 1,
    [](const Call& c) {
      aclTensor* const places = Unseen({0}, 0);
      aclTensor* const counts = Unseen({0}, 1);
      ListOf({places, counts});
      return aclnnUniqueConsecutiveGetWorkspaceSize(c.t[0], false, false, c.setting == 0 ? 1000 : 1, c.t[1],
                                                    places, counts, c.size, c.executor);
    },
    aclnnUniqueConsecutive,
    {{{ACL_INT64}, {kWide}, {77357}, 0, {{0, 2}}, ACL_INT64},
     {{ACL_INT64}, {{4, 20000}}, {4, 20000}, 1, {{0, 2}}, ACL_INT64}},
    Start::kZero);
// Slices of few numbers, so that each is there often.
const auto kUniqueDim = Register(
    "aclnnUniqueDim", 1,
    [](const Call& c) {
      const bool gives_places = c.setting != 0;
      aclTensor* const values = Unseen(gives_places ? Shape{5000, 4} : Shape{0}, 0);
      aclTensor* const other = Unseen({0}, 1);
      ListOf({values, other});
      return aclnnUniqueDimGetWorkspaceSize(c.t[0], true, gives_places, 0, gives_places ? values : c.t[1],
                                            gives_places ? c.t[1] : other, other, c.size, c.executor);
    },
    aclnnUniqueDim,
    {{{ACL_INT64}, {{5000, 4}}, {5000, 4}, 0, {{0, 4, true}}, ACL_INT64},
     {{ACL_INT64}, {{5000, 4}}, {5000}, 1, {{0, 4, true}}, ACL_INT64}},
    Start::kZero);
const auto kNonzero = Register(
    "aclnnNonzero", 1,
    [](const Call& c) { return aclnnNonzeroGetWorkspaceSize(c.t[0], c.t[1], c.size, c.executor); },
    aclnnNonzero,
    {{{ACL_INT64}, {kWide}, {77357, 2}, 0, {{0, 3}}}, {{ACL_INT64}, {kDeep}, {11070, 4}, 0, {{0, 3}}}},
    Start::kZero);
const auto kNonzeroV2 = Register(
    "aclnnNonzeroV2", 1,
    [](const Call& c) { return aclnnNonzeroV2GetWorkspaceSize(c.t[0], c.t[1], c.size, c.executor); },
    aclnnNonzeroV2,
    {{{ACL_INT64}, {kWide}, {2, 77357}, 0, {{0, 3}}}, {{ACL_INT64}, {kDeep}, {4, 11070}, 0, {{0, 3}}}},
    Start::kZero);
const auto kMaskedSelect = Register(
    "aclnnMaskedSelect", 2,
    [](const Call& c) {
      return aclnnMaskedSelectGetWorkspaceSize(c.t[0], c.t[1], c.t[2], c.size, c.executor);
    },
    aclnnMaskedSelect,
    {{kRealSizes, {kWide, kWide}, {77357}, 0, {{1, 2}}, ACL_BOOL},
     {kRealSizes, {kWide, {257}}, {77357}, 0, {{1, 2}}, ACL_BOOL}},
    Start::kZero);

// ---- what is sorted, searched and counted: values, then places ----

// The two outputs of a call, of which one is looked at.
struct Outputs {
  aclTensor* values;
  aclTensor* places;
};
Outputs OutputsOf(const Call& c, const Shape& shape) {
  aclTensor* const other = Unseen(shape, 0);
  ListOf({other});
  return c.setting == 0 ? Outputs{c.t[1], other} : Outputs{other, c.t[1]};
}
const std::vector<DtypeNumber> kOrdered = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8};

const auto kSort = Register(
    "aclnnSort", 1,
    [](const Call& c) {
      const Outputs out = OutputsOf(c, kWide);
      return aclnnSortGetWorkspaceSize(c.t[0], true, 1, c.setting == 1, out.values, out.places, c.size,
                                       c.executor);
    },
    aclnnSort, {{kOrdered, {kWide}, kWide, 0}, {{ACL_INT64}, {kWide}, kWide, 1, {{0, 50, true}}, ACL_INT64}});
const auto kArgsort =
    Register("aclnnArgsort", 1,
             [](const Call& c) {
               return aclnnArgsortGetWorkspaceSize(c.t[0], 0, c.setting == 1, c.t[1], c.size, c.executor);
             },
             aclnnArgsort,
             {{{ACL_INT64}, {{100003}}, {100003}, 0, {{0, 5000}}, ACL_INT32},
              {{ACL_INT64}, {kWide}, kWide, 1, {{0, 50}}, ACL_INT64}});
const auto kTopk = Register("aclnnTopk", 1,
                            [](const Call& c) {
                              const Outputs out = OutputsOf(c, {5, 20});
                              return aclnnTopkGetWorkspaceSize(c.t[0], 20, 1, c.setting == 0, true,
                                                               out.values, out.places, c.size, c.executor);
                            },
                            aclnnTopk,
                            {{kOrdered, {{5, 15471}}, {5, 20}, 0},
                             {{ACL_INT64}, {{5, 15471}}, {5, 20}, 1, {{0, 500, true}}, ACL_INT64}});
const auto kTopkV2 =
    Register("aclnnTopkV2", 1,
             [](const Call& c) {
               const Outputs out = OutputsOf(c, {20, 257});
               return aclnnTopkV2GetWorkspaceSize(c.t[0], 20, 0, false, true, true, out.values, out.places,
                                                  c.size, c.executor);
             },
             aclnnTopkV2, {{{ACL_FLOAT, ACL_BF16}, {kWide}, {20, 257}, 0}});
const auto kMedian =
    Register("aclnnMedian", 1,
             [](const Call& c) { return aclnnMedianGetWorkspaceSize(c.t[0], c.t[1], c.size, c.executor); },
             aclnnMedian, {{kOrdered, {kWide}, {}}});
const auto kNanMedian =
    Register("aclnnNanMedian", 1,
             [](const Call& c) { return aclnnNanMedianGetWorkspaceSize(c.t[0], c.t[1], c.size, c.executor); },
             aclnnNanMedian, {{kOrdered, {kWide}, {}}});
const auto kMedianDim = Register(
    "aclnnMedianDim", 1,
    [](const Call& c) {
      const Outputs out = OutputsOf(c, {257});
      return aclnnMedianDimGetWorkspaceSize(c.t[0], 0, false, out.values, out.places, c.size, c.executor);
    },
    aclnnMedianDim,
    {{kOrdered, {kWide}, {257}, 0}, {{ACL_INT64}, {kWide}, {257}, 1, {{0, 50, true}}, ACL_INT64}});
const auto kNanMedianDim = Register(
    "aclnnNanMedianDim", 1,
    [](const Call& c) {
      const Outputs out = OutputsOf(c, {301, 1});
      return aclnnNanMedianDimGetWorkspaceSize(c.t[0], 1, true, out.values, out.places, c.size, c.executor);
    },
    aclnnNanMedianDim,
    {{kOrdered, {kWide}, {301, 1}, 0}, {{ACL_INT64}, {kWide}, {301, 1}, 1, {{0, 50, true}}, ACL_INT64}});
const auto kKthvalue = Register(
    "aclnnKthvalue", 1,
    [](const Call& c) {
      const Outputs out = OutputsOf(c, {5});
      return aclnnKthvalueGetWorkspaceSize(c.t[0], 4000, 1, false, out.values, out.places, c.size,
                                           c.executor);
    },
    aclnnKthvalue,
    {{kOrdered, {{5, 15471}}, {5}, 0}, {{ACL_INT64}, {{5, 15471}}, {5}, 1, {{0, 50, true}}, ACL_INT64}});
const auto kSearchSorted =
    Register("aclnnSearchSorted", 2,
             [](const Call& c) {
               return aclnnSearchSortedGetWorkspaceSize(c.t[0], c.t[1], false, c.setting == 1, nullptr,
                                                        c.t[2], c.size, c.executor);
             },
             aclnnSearchSorted,
             {{{ACL_INT64}, {{257}, kWide}, kWide, 0, {{0, 1000}, {1, 1000}}, ACL_INT64},
              {{ACL_INT64}, {kWide, {301, 100}}, {301, 100}, 1, {{0, 1000}, {1, 1000}}, ACL_INT32}});
// Whether few numbers are one, and whether any of them is.
const auto kIsInTensorScalar =
    Register("aclnnIsInTensorScalar", 1,
             [](const Call& c) {
               return aclnnIsInTensorScalarGetWorkspaceSize(c.t[0], Scalar(7.0), false, false, c.t[1], c.size,
                                                            c.executor);
             },
             aclnnIsInTensorScalar, {{{ACL_BOOL}, {kWide}, kWide, 0, {{0, 50}}, ACL_INT64}});
const auto kIsInScalarTensor = Register(
    "aclnnIsInScalarTensor", 1,
    [](const Call& c) {
      return aclnnIsInScalarTensorGetWorkspaceSize(Scalar(c.setting == 0 ? 7.0 : 77.0), c.t[0], false, false,
                                                   c.t[1], c.size, c.executor);
    },
    aclnnIsInScalarTensor,
    {{{ACL_BOOL}, {kWide}, {}, 0, {{0, 50}}, ACL_INT64}, {{ACL_BOOL}, {kWide}, {}, 1, {{0, 50}}, ACL_INT32}});
const auto kSearchSorteds =
    Register("aclnnSearchSorteds", 1,
             [](const Call& c) {
               return aclnnSearchSortedsGetWorkspaceSize(c.t[0], Scalar(500.0), false, false, nullptr, c.t[1],
                                                         c.size, c.executor);
             },
             aclnnSearchSorteds, {{{ACL_INT64}, {{257}}, {1}, 0, {{0, 1000}}, ACL_INT64}});
const auto kBincount =
    Register("aclnnBincount", 2,
             [](const Call& c) {
               return aclnnBincountGetWorkspaceSize(c.t[0], c.setting == 0 ? c.t[1] : nullptr, 0, c.t[2],
                                                    c.size, c.executor);
             },
             aclnnBincount,
             {{{ACL_FLOAT, ACL_DOUBLE}, {{77357}, {77357}}, {1000}, 0, {{0, 1000}}},
              {{ACL_INT64}, {{77357}, {1}}, {1000}, 1, {{0, 1000}}}});
const auto kHistc = Register("aclnnHistc", 1,
                             [](const Call& c) {
                               return aclnnHistcGetWorkspaceSize(c.t[0], 50, Scalar(-1.5), Scalar(1.5),
                                                                 c.t[1], c.size, c.executor);
                             },
                             aclnnHistc, {{{ACL_FLOAT, ACL_FLOAT16, ACL_INT32}, {kWide}, {50}}});

}  // namespace
}  // namespace portacl::testing
