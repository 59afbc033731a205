// Rows for caches, samples and linear attention for the determinism test. Each result that is computed is hashed in a setting of its own.
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "aclnnop/families/serving.h"
#include "determinism/subject.h"

namespace portacl::testing {
namespace {

using Tensors = std::span<aclTensor* const>;

// A tensor for what is not looked at, as long as phase 1 runs.
class Unseen {
 public:
  explicit Unseen(const Shape& shape, aclDataType dtype) {
    static std::vector<double> memory(1 << 19);
    tensor_ = aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                              shape.size(), memory.data());
  }
  ~Unseen() { aclDestroyTensor(tensor_); }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;
  operator aclTensor*() const { return tensor_; }

 private:
  aclTensor* tensor_;
};

class Numbers {
 public:
  explicit Numbers(const std::vector<int64_t>& values)
      : array_(aclCreateIntArray(values.data(), values.size())) {}
  ~Numbers() { aclDestroyIntArray(array_); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  operator aclIntArray*() const { return array_; }

 private:
  aclIntArray* array_;
};

aclDataType DtypeOf(const aclTensor* tensor) {
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclGetDataType(tensor, &dtype);
  return dtype;
}

SubjectRegistration Register(const OperatorBinding& binding, const std::vector<GivenCase>& given,
                             size_t settings, const std::vector<size_t>& not_negative = {}) {
  Subject subject;
  subject.description.binding = binding;
  subject.description.binding.may_need_workspace = [](std::span<const Shape>) { return true; };
  for (size_t i = 0; i < settings; ++i) {
    subject.description.attributes.emplace_back();
    subject.description.attributes.back().reduction = static_cast<int64_t>(i);
  }
  subject.given = given;
  subject.cuts_freely = [](const Attributes&) { return false; };
  subject.sums_everything = true;
  subject.not_negative = not_negative;
  subject.is_plain_code =
      true;  // as phase 1 sees it: exponentials and sums of states alone are compiled for each instruction set
  for (const char c : binding.name) subject.seed = subject.seed * 31 + static_cast<unsigned char>(c);
  return SubjectRegistration(std::move(subject));
}

constexpr int64_t kBatches = 3;
constexpr int64_t kSteps = 29;
constexpr int64_t kTokens = kBatches * kSteps;
constexpr int64_t kSlots = 128;

std::vector<GivenCase> OneResult(const std::vector<Shape>& inputs, const Shape& output) {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : {DtypeNumber{ACL_FLOAT}, DtypeNumber{ACL_FLOAT16}, DtypeNumber{ACL_BF16}})
    cases.push_back({std::vector<DtypeNumber>(inputs.size(), dtype), inputs, dtype, output, 0, {}});
  return cases;
}
const auto kSegments = Register({"aclnnExpSegsum",
                                 {"self", "out"},
                                 [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                                   return aclnnExpSegsumGetWorkspaceSize(t[0], t[1], size, executor);
                                 },
                                 aclnnExpSegsum},
                                OneResult({{3, 5, 61}}, {3, 5, 61, 61}), 1);
const auto kSegmentsGradient =
    Register({"aclnnExpSegsumBackward",
              {"gradOutput", "gradSelf", "gradInput"},
              [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                return aclnnExpSegsumBackwardGetWorkspaceSize(t[0], t[1], t[2], size, executor);
              },
              aclnnExpSegsumBackward},
             OneResult({{3, 61, 61}, {3, 61, 61}}, {3, 61}), 1);
const auto kTransport = Register({"aclnnSinkhorn",
                                  {"cost", "p"},
                                  [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                                    return aclnnSinkhornGetWorkspaceSize(t[0], nullptr, t[1], size, executor);
                                  },
                                  aclnnSinkhorn},
                                 OneResult({{97, 301}}, {97, 301}), 1);

// Values, and keys.
const auto kLatent = Register(
    {"aclnnKvRmsNormRopeCache",
     {"kv", "gamma", "cos", "sin", "index", "out"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const bool is_key = a.reduction != 0;
       const Unseen keys({1, kSlots, 1, 64}, DtypeOf(t[0]));
       const Unseen values({1, kSlots, 1, 512}, DtypeOf(t[0]));
       const Unseen rows({kBatches, 1, kSteps, is_key ? 512 : 64}, DtypeOf(t[0]));
       char mode[] = "PA";
       return aclnnKvRmsNormRopeCacheGetWorkspaceSize(
           t[0], t[1], t[2], t[3], t[4], keys, values, nullptr, nullptr, nullptr, nullptr, 1e-5, mode, true,
           is_key ? t[5] : rows, is_key ? rows : t[5], size, executor);
     },
     aclnnKvRmsNormRopeCache},
    [] {
      std::vector<GivenCase> cases;
      const Shape angles = {kBatches, 1, kSteps, 64};
      for (const DtypeNumber dtype : {ACL_FLOAT16, ACL_BF16}) {
        for (size_t setting = 0; setting < 2; ++setting) {
          cases.push_back({{dtype, dtype, dtype, dtype, ACL_INT64},
                           {{kBatches, 1, kSteps, 576}, {512}, angles, angles, {kTokens}},
                           dtype,
                           {kBatches, 1, kSteps, setting == 0 ? 512 : 64},
                           setting,
                           {{.input = 4, .below = kSlots}}});
        }
      }
      return cases;
    }(),
    2);

const auto kHeads = Register(
    {"aclnnQkvRmsNormRopeCache",
     {"qkv", "qGamma", "kGamma", "cos", "sin", "index", "out"},
     [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       const Unseen keys({1, 64 / 16, kSlots, 16}, DtypeOf(t[0]));
       const Numbers sizes({kBatches, kSteps, 6, 64});
       const Numbers heads({4, 1, 1});
       return aclnnQkvRmsNormRopeCacheGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], t[6], keys, keys,
                                                       nullptr, nullptr, nullptr, nullptr, sizes, heads, 1e-6,
                                                       nullptr, nullptr, nullptr, nullptr, size, executor);
     },
     aclnnQkvRmsNormRopeCache},
    [] {
      std::vector<GivenCase> cases;
      for (const DtypeNumber dtype : {ACL_FLOAT16, ACL_BF16}) {
        cases.push_back({{dtype, dtype, dtype, dtype, dtype, ACL_INT64},
                         {{kTokens, 384}, {64}, {64}, {kTokens, 64}, {kTokens, 64}, {kTokens}},
                         dtype,
                         {kTokens, 256},
                         0,
                         {{.input = 5, .below = kSlots}}});
      }
      return cases;
    }(),
    1);

// The probabilities that are left, and the logits.
const auto kSamples = Register(
    {"aclnnTopKTopPSampleV2",
     {"logits", "topK", "topP", "minPs", "out"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const Unseen chosen({31}, ACL_INT64);
       const Unseen places({31, 1203}, ACL_INT64);
       const Unseen other({31, 1203}, ACL_FLOAT);
       const bool lists = a.reduction == 0;
       return aclnnTopKTopPSampleV2GetWorkspaceSize(t[0], t[1], t[2], nullptr, t[3], 1e-8, !lists, 32, 1024,
                                                    true, lists, chosen, lists ? other : t[4], places,
                                                    lists ? t[4] : other, size, executor);
     },
     aclnnTopKTopPSampleV2},
    [] {
      std::vector<GivenCase> cases;
      for (const DtypeNumber dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
        for (size_t setting = 0; setting < 2; ++setting) {
          cases.push_back({{dtype, ACL_INT32, dtype, dtype},
                           {{31, 1203}, {31}, {31}, {31}},
                           ACL_FLOAT,
                           {31, 1203},
                           setting,
                           {{.input = 1, .below = 1100}}});
        }
      }
      return cases;
    }(),
    2);

// Results, and states.
const auto kRule = Register(
    {"aclnnChunkGatedDeltaRule",
     {"query", "key", "value", "beta", "initialState", "actualSeqLengths", "g", "out"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const bool is_state = a.reduction != 0;
       const Unseen other(is_state ? Shape{43, 4, 37} : Shape{1, 4, 37, 71}, ACL_BF16);
       return aclnnChunkGatedDeltaRuleGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], 0.125f, t[6],
                                                       is_state ? other : t[7], is_state ? t[7] : other, size,
                                                       executor);
     },
     aclnnChunkGatedDeltaRule},
    [] {
      std::vector<GivenCase> cases;
      const DtypeNumber dtype = ACL_BF16;
      for (size_t setting = 0; setting < 2; ++setting) {
        cases.push_back({{dtype, dtype, dtype, dtype, dtype, ACL_INT32, ACL_FLOAT},
                         {{43, 2, 71}, {43, 2, 71}, {43, 4, 37}, {43, 4}, {1, 4, 37, 71}, {1}, {43, 4}},
                         dtype,
                         setting == 0 ? Shape{43, 4, 37} : Shape{1, 4, 37, 71},
                         setting,
                         {{.input = 5, .below = 44, .counts_from_end = false, .least = 43}}});
      }
      return cases;
    }(),
    2);

const auto kConvolution = Register(
    {"aclnnMaskedCausalConv1d",
     {"x", "weight", "out"},
     [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnMaskedCausalConv1dGetWorkspaceSize(t[0], t[1], nullptr, t[2], size, executor);
     },
     aclnnMaskedCausalConv1d},
    [] {
      std::vector<GivenCase> cases;
      for (const DtypeNumber dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16})
        cases.push_back({{dtype, dtype}, {{19, 3, 531}, {3, 531}}, dtype, {19, 3, 531}, 0});
      return cases;
    }(),
    1);

// Which keys score highest, and their scores.
const auto kRanked = Register(
    {"aclnnLightningIndexer",
     {"query", "key", "weights", "out"},
     [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       const Unseen indices({2, 3, 1, 29}, ACL_INT32);
       return aclnnLightningIndexerGetWorkspaceSize(t[0], t[1], t[2], nullptr, nullptr, nullptr, nullptr,
                                                    nullptr, 29, 3, 0, 0, true, indices, t[3], size,
                                                    executor);
     },
     aclnnLightningIndexer},
    [] {
      std::vector<GivenCase> cases;
      for (const DtypeNumber dtype : {ACL_FLOAT16, ACL_BF16}) {
        cases.push_back(
            {{dtype, dtype, dtype}, {{2, 3, 17, 128}, {2, 71, 1, 128}, {2, 3, 17}}, dtype, {2, 3, 1, 29}, 0});
      }
      return cases;
    }(),
    1);

// Results, and the statistics of rows.
const auto kSparse = Register(
    {"aclnnSparseFlashAttentionV2",
     {"query", "key", "sparseIndices", "queryRope", "keyRope", "sinks", "out"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const bool is_result = a.reduction == 0;
       const Unseen results({2, 3, 5, 512}, DtypeOf(t[0]));
       const Unseen statistics({2, 1, 3, 5}, ACL_FLOAT);
       return aclnnSparseFlashAttentionV2GetWorkspaceSize(
           t[0], t[1], t[1], t[2], nullptr, nullptr, nullptr, t[3], t[4], t[5], 0.04, 16, nullptr, nullptr, 0,
           0, 0, 2, !is_result, is_result ? t[6] : results, statistics, is_result ? statistics : t[6], size,
           executor);
     },
     aclnnSparseFlashAttentionV2},
    [] {
      std::vector<GivenCase> cases;
      for (const DtypeNumber dtype : {ACL_FLOAT16, ACL_BF16}) {
        for (size_t setting = 0; setting < 2; ++setting) {
          cases.push_back(
              {{dtype, dtype, ACL_INT32, dtype, dtype, ACL_FLOAT},
               {{2, 3, 5, 512}, {2, 71, 1, 512}, {2, 3, 1, 4}, {2, 3, 5, 64}, {2, 71, 1, 64}, {5}},
               setting == 0 ? dtype : DtypeNumber{ACL_FLOAT},
               setting == 0 ? Shape{2, 3, 5, 512} : Shape{2, 1, 3, 5},
               setting,
               {{.input = 2, .below = 5}}});
        }
      }
      return cases;
    }(),
    2);

// Results of marked blocks, and the logarithms of their sums.
const auto kMarked = Register(
    {"aclnnBlockSparseAttention",
     {"query", "key", "value", "blockSparseMask", "out"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const bool is_result = a.reduction == 0;
       const Unseen other(is_result ? Shape{2, 4, 13, 1} : Shape{2, 4, 13, 37},
                          is_result ? aclDataType{ACL_FLOAT} : DtypeOf(t[0]));
       const Numbers block({4, 16});
       char layout[] = "BNSD";
       return aclnnBlockSparseAttentionGetWorkspaceSize(
           t[0], t[1], t[2], t[3], nullptr, block, nullptr, nullptr, nullptr, layout, layout, 2, 0, 0.125, 0,
           0, 0, 0, 1, is_result ? t[4] : other, is_result ? other : t[4], size, executor);
     },
     aclnnBlockSparseAttention},
    [] {
      std::vector<GivenCase> cases;
      for (const DtypeNumber dtype : {ACL_FLOAT16, ACL_BF16}) {
        for (size_t setting = 0; setting < 2; ++setting) {
          cases.push_back({{dtype, dtype, dtype, ACL_INT8},
                           {{2, 4, 13, 71}, {2, 2, 91, 71}, {2, 2, 91, 37}, {2, 4, 4, 6}},
                           setting == 0 ? dtype : DtypeNumber{ACL_FLOAT},
                           setting == 0 ? Shape{2, 4, 13, 37} : Shape{2, 4, 13, 1},
                           setting,
                           {{.input = 3, .below = 2}}});
        }
      }
      return cases;
    }(),
    2);

const auto kCompressed = Register(
    {"aclnnNsaCompress",
     {"input", "weight", "out"},
     [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       const Numbers ends({40, 91});
       return aclnnNsaCompressGetWorkspaceSize(t[0], t[1], ends, nullptr, 16, 8, 0, t[2], size, executor);
     },
     aclnnNsaCompress},
    [] {
      std::vector<GivenCase> cases;
      for (const DtypeNumber dtype : {ACL_FLOAT16, ACL_BF16})
        cases.push_back({{dtype, dtype}, {{91, 3, 61}, {16, 3}}, dtype, {9, 3, 61}, 0});
      return cases;
    }(),
    1);

// The gradients of rows, and of weights.
const auto kCompressedGrad = Register(
    {"aclnnNsaCompressGrad",
     {"outputGrad", "input", "weight", "out"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const bool is_row = a.reduction == 0;
       const Unseen other(is_row ? Shape{16, 3} : Shape{91, 3, 61}, DtypeOf(t[0]));
       const Numbers ends({40, 91});
       return aclnnNsaCompressGradGetWorkspaceSize(t[0], t[1], t[2], ends, 16, 8, 0, nullptr,
                                                   is_row ? t[3] : other, is_row ? other : t[3], size,
                                                   executor);
     },
     aclnnNsaCompressGrad},
    [] {
      std::vector<GivenCase> cases;
      for (const DtypeNumber dtype : {ACL_FLOAT16, ACL_BF16}) {
        for (size_t setting = 0; setting < 2; ++setting)
          cases.push_back({{dtype, dtype, dtype},
                           {{9, 3, 61}, {91, 3, 61}, {16, 3}},
                           dtype,
                           setting == 0 ? Shape{91, 3, 61} : Shape{16, 3},
                           setting});
      }
      return cases;
    }(),
    2);

// Queries, and their rotary parts; of weights that are numbers, and of codes.
const auto kLatentQueries = Register(
    {"aclnnMlaPrologV3WeightNz",
     {"tokenX", "weightDq", "weightUqQr", "weightUk", "weightDkvKr", "rmsnormGammaCq", "rmsnormGammaCkv",
      "ropeSin", "ropeCos", "dequantScaleWUqQr", "out"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const bool is_query = a.reduction == 0;
       const Unseen index({43}, ACL_INT64);
       const Unseen keys({1, kSlots, 1, 80}, ACL_BF16);
       const Unseen ropes({1, kSlots, 1, 32}, ACL_BF16);
       const Unseen other({43, 3, is_query ? 32 : 80}, ACL_BF16);
       char mode[] = "PA_NZ";
       return aclnnMlaPrologV3WeightNzGetWorkspaceSize(
           t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], keys, ropes, index, nullptr, nullptr, t[9],
           nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 1e-5, 1e-5, mode, 0, 0, 0, 0, 0, 128, 1.5,
           0.5, is_query ? t[10] : other, is_query ? other : t[10], nullptr, nullptr, nullptr, size,
           executor);
     },
     aclnnMlaPrologV3WeightNz},
    [] {
      std::vector<GivenCase> cases;
      const DtypeNumber dtype = ACL_BF16;
      for (const DtypeNumber up : {ACL_BF16, ACL_INT8}) {
        for (size_t setting = 0; setting < 2; ++setting) {
          cases.push_back({{dtype, dtype, up, dtype, dtype, dtype, dtype, dtype, dtype, ACL_FLOAT},
                           {{43, 131},
                            {131, 61},
                            {61, 3 * (37 + 32)},
                            {3, 37, 80},
                            {131, 112},
                            {61},
                            {80},
                            {43, 32},
                            {43, 32},
                            {1, 3 * (37 + 32)}},
                           dtype,
                           {43, 3, setting == 0 ? 80 : 32},
                           setting});
        }
      }
      return cases;
    }(),
    2);

// Which quantised keys score highest.
const auto kQuantRanked =
    Register({"aclnnQuantLightningIndexer",
              {"query", "key", "weights", "queryDequantScale", "keyDequantScale", "out"},
              [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                return aclnnQuantLightningIndexerGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], nullptr,
                                                                  nullptr, nullptr, 0, 0, nullptr, nullptr,
                                                                  29, 3, 0, 0, t[5], size, executor);
              },
              aclnnQuantLightningIndexer},
             {{{ACL_INT8, ACL_INT8, ACL_FLOAT16, ACL_FLOAT16, ACL_FLOAT16},
               {{2, 3, 17, 128}, {2, 71, 1, 128}, {2, 3, 17}, {2, 3, 17}, {2, 71, 1}},
               ACL_INT32,
               {2, 3, 1, 29},
               0}},
             1);

// Attention to selected blocks, to compressed keys, and of one query to pages of either.
const Shape kQueries = {43, 4, 71};
const Shape kKeys = {91, 2, 71};
const Shape kValues = {91, 2, 37};
const Shape kResults = {43, 4, 37};
const Shape kSums = {43, 4, 8};
char kPackedLayout[] = "TND";

std::vector<GivenCase> NsaCases(const std::vector<Shape>& more, const std::vector<DtypeNumber>& dtypes,
                                const std::vector<Shape>& results, int64_t blocks) {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : {ACL_FLOAT16, ACL_BF16}) {
    for (size_t setting = 0; setting < results.size(); ++setting) {
      GivenCase one{{dtype, dtype, dtype},
                    {kQueries, kKeys, kValues},
                    results[setting] == kSums ? DtypeNumber{ACL_FLOAT} : dtype,
                    results[setting],
                    setting};
      for (size_t i = 0; i < more.size(); ++i) {
        one.input_dtypes.push_back(dtypes[i] == kUndefinedDtype ? dtype : dtypes[i]);
        one.input_shapes.push_back(more[i]);
      }
      if (blocks > 0) one.indices = {{.input = 2 + more.size(), .below = blocks}};
      cases.push_back(one);
    }
  }
  return cases;
}

const auto kChosen = Register(
    {"aclnnNsaSelectedAttention",
     {"query", "key", "value", "topkIndices", "out"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const bool is_result = a.reduction == 0;
       const Unseen greatest(kSums, ACL_FLOAT);
       const Unseen other(is_result ? kSums : kResults, is_result ? aclDataType{ACL_FLOAT} : DtypeOf(t[0]));
       const Numbers queries({20, 43});
       const Numbers keys({40, 91});
       return aclnnNsaSelectedAttentionGetWorkspaceSize(
           t[0], t[1], t[2], t[3], nullptr, queries, keys, 0.125, 4, kPackedLayout, 2, 8, 3, greatest,
           is_result ? other : t[4], is_result ? t[4] : other, size, executor);
     },
     aclnnNsaSelectedAttention},
    NsaCases({{43, 2, 3}}, {ACL_INT32}, {kResults, kSums}, 6), 2);

const auto kChosenGrad = Register(
    {"aclnnNsaSelectedAttentionGrad",
     {"query", "key", "value", "attentionOut", "attentionOutGrad", "softmaxMax", "softmaxSum", "topkIndices",
      "out"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const Unseen of_query(kQueries, DtypeOf(t[0]));
       const Unseen of_key(kKeys, DtypeOf(t[0]));
       const Unseen of_value(kValues, DtypeOf(t[0]));
       const Numbers queries({20, 43});
       const Numbers keys({40, 91});
       const auto chosen = [&](int64_t setting, aclTensor* unseen) {
         return a.reduction == setting ? t[8] : unseen;
       };
       return aclnnNsaSelectedAttentionGradGetWorkspaceSize(
           t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], queries, keys, nullptr, 0.125, 8, 3, 4,
           kPackedLayout, 2, chosen(0, of_query), chosen(1, of_key), chosen(2, of_value), size, executor);
     },
     aclnnNsaSelectedAttentionGrad},
    NsaCases({kResults, kResults, kSums, kSums, {43, 2, 3}},
             {kUndefinedDtype, kUndefinedDtype, ACL_FLOAT, ACL_FLOAT, ACL_INT32}, {kQueries, kKeys, kValues},
             6),
    3, {6});

const auto kOfCompressed = Register(
    {"aclnnNsaCompressAttention",
     {"query", "key", "value", "out"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const bool is_result = a.reduction == 0;
       const Unseen greatest(kSums, ACL_FLOAT);
       const Unseen other(is_result ? kSums : kResults, is_result ? aclDataType{ACL_FLOAT} : DtypeOf(t[0]));
       const Unseen blocks({43, 2, 5}, ACL_INT32);
       const Numbers queries({20, 43});
       const Numbers keys({40, 91});
       const Numbers selected({10, 23});
       return aclnnNsaCompressAttentionGetWorkspaceSize(
           t[0], t[1], t[2], nullptr, nullptr, queries, keys, selected, 0.125, 4, kPackedLayout, 1, 32, 16,
           64, 5, greatest, is_result ? other : t[3], is_result ? t[3] : other, blocks, size, executor);
     },
     aclnnNsaCompressAttention},
    NsaCases({}, {}, {kResults, kSums}, 0), 2);

const auto kOfPages = Register(
    {"aclnnNsaSelectedAttentionInfer",
     {"query", "key", "value", "topkIndices", "blockTable", "out"},
     [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       const Numbers lengths({40, 64, 9});
       return aclnnNsaSelectedAttentionInferGetWorkspaceSize(t[0], t[1], t[2], t[3], nullptr, t[4], nullptr,
                                                             lengths, kPackedLayout, 4, 2, 8, 3, 16, 0.125, 0,
                                                             t[5], size, executor);
     },
     aclnnNsaSelectedAttentionInfer},
    [] {
      std::vector<GivenCase> cases;
      for (const DtypeNumber dtype : {ACL_FLOAT16, ACL_BF16}) {
        cases.push_back({{dtype, dtype, dtype, ACL_INT32, ACL_INT32},
                         {{3, 4, 71}, {7, 16, 142}, {7, 16, 74}, {3, 2, 3}, {3, 4}},
                         dtype,
                         {3, 4, 37},
                         0,
                         {{.input = 3, .below = 6}, {.input = 4, .below = 7}}});
      }
      return cases;
    }(),
    1);

const auto kRankedPages = Register(
    {"aclnnNsaCompressAttentionInfer",
     {"query", "key", "value", "blockTable", "out"},
     [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       const Numbers lengths({40, 64, 9});
       const Unseen blocks({3, 2, 5}, ACL_INT32);
       return aclnnNsaCompressAttentionInferGetWorkspaceSize(
           t[0], t[1], t[2], nullptr, t[3], nullptr, lengths, nullptr, nullptr, 4, 2, 64, 5, 32, 16, 0.125,
           kPackedLayout, 16, 0, t[4], blocks, size, executor);
     },
     aclnnNsaCompressAttentionInfer},
    [] {
      std::vector<GivenCase> cases;
      for (const DtypeNumber dtype : {ACL_FLOAT16, ACL_BF16}) {
        cases.push_back({{dtype, dtype, dtype, ACL_INT32},
                         {{3, 4, 71}, {7, 16, 142}, {7, 16, 74}, {3, 4}},
                         dtype,
                         {3, 4, 37},
                         0,
                         {{.input = 3, .below = 7}}});
      }
      return cases;
    }(),
    1);

}  // namespace
}  // namespace portacl::testing
