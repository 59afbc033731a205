// Attention, its gradients and rotary embeddings for the determinism test: several blocks of keys and of queries, heads that share keys. Each
// gradient is hashed in a setting of its own.
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "aclnnop/families/attention.h"
#include "determinism/subject.h"

namespace portacl::testing {
namespace {

using Tensors = std::span<aclTensor* const>;

// A tensor for what is not looked at, as long as phase 1 runs.
class Unseen {
 public:
  explicit Unseen(const Shape& shape, aclDataType dtype = ACL_FLOAT) {
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

aclDataType DtypeOf(const aclTensor* tensor) {
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclGetDataType(tensor, &dtype);
  return dtype;
}

Shape ShapeOf(const aclTensor* tensor) {
  int64_t* dims = nullptr;
  uint64_t count = 0;
  aclGetViewShape(tensor, &dims, &count);
  Shape shape(dims, dims + count);
  delete[] dims;
  return shape;
}

const DtypeNumber kDtypes[] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

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
  for (const char c : binding.name) subject.seed = subject.seed * 31 + static_cast<unsigned char>(c);
  return SubjectRegistration(std::move(subject));
}

// ---- rotary embeddings ----

std::vector<GivenCase> RotaryCases() {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kDtypes) {
    for (size_t mode = 0; mode < 4; ++mode) {
      const Shape x = {2, 37, 3, 84};
      const Shape angles = {1, 37, 1, 84};
      cases.push_back({{dtype, dtype, dtype}, {x, angles, angles}, dtype, x, mode});
    }
  }
  return cases;
}
const auto kRotary = Register({"aclnnRotaryPositionEmbedding",
                               {"x", "cos", "sin", "out"},
                               [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                                 return aclnnRotaryPositionEmbeddingGetWorkspaceSize(
                                     t[0], t[1], t[2], a.reduction, t[3], size, executor);
                               },
                               aclnnRotaryPositionEmbedding},
                              RotaryCases(), 4);

const auto kInterleaved = Register(
    {"aclnnInterleaveRope",
     {"x", "cos", "sin", "out"},
     [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnInterleaveRopeGetWorkspaceSize(t[0], t[1], t[2], t[3], size, executor);
     },
     aclnnInterleaveRope},
    [] {
      std::vector<GivenCase> cases;
      const Shape x = {3, 7, 37, 64};
      const Shape angles = {3, 1, 37, 64};
      for (const DtypeNumber dtype : {ACL_FLOAT16, ACL_BF16})
        cases.push_back({{dtype, dtype, dtype}, {x, angles, angles}, dtype, x, 0});
      return cases;
    }(),
    1);
const auto kLooked = Register(
    {"aclnnRopeWithSinCosCache",
     {"positions", "queryIn", "cosSinCache", "queryOut"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const Unseen key({617, 84}, DtypeOf(t[1]));
       return aclnnRopeWithSinCosCacheGetWorkspaceSize(t[0], t[1], key, t[2], nullptr, 84, a.reduction == 0,
                                                       t[3], key, size, executor);
     },
     aclnnRopeWithSinCosCache},
    [] {
      std::vector<GivenCase> cases;
      const Shape x = {617, 3 * 84};
      for (const DtypeNumber dtype : kDtypes) {
        for (size_t setting = 0; setting < 2; ++setting) {
          GivenCase one{{ACL_INT64, dtype, dtype}, {{617}, x, {91, 66}}, dtype, x, setting};
          one.indices = {{0, 91}};
          cases.push_back(one);
        }
      }
      return cases;
    }(),
    2);
// The first result, which is divided, and the last one.
const auto kHeadsOfSum = Register(
    {"aclnnTransformBiasRescaleQkv",
     {"qkv", "qkvBias", "result"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const Unseen first(ShapeOf(t[2]), DtypeOf(t[0]));
       const Unseen second(ShapeOf(t[2]), DtypeOf(t[0]));
       const bool is_query = a.reduction == 0;
       return aclnnTransformBiasRescaleQkvGetWorkspaceSize(
           t[0], t[1], 3, is_query ? t[2] : static_cast<aclTensor*>(first), second,
           is_query ? static_cast<aclTensor*>(first) : t[2], size, executor);
     },
     aclnnTransformBiasRescaleQkv},
    [] {
      std::vector<GivenCase> cases;
      for (const DtypeNumber dtype : kDtypes) {
        for (size_t setting = 0; setting < 2; ++setting)
          cases.push_back(
              {{dtype, dtype}, {{2, 37, 3 * 3 * 41}, {3 * 3 * 41}}, dtype, {2, 3, 37, 41}, setting});
      }
      return cases;
    }(),
    2);

// Each gradient in each mode, of angles that rows share in two ways: sums in lanes are of rows of one pair alone.
std::vector<GivenCase> RotaryGradientCases() {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kDtypes) {
    for (size_t setting = 0; setting < 12; ++setting) {
      const bool is_narrow = setting / 3 == 1;
      const int64_t columns = is_narrow ? 2 : 84;
      const Shape x = {2, 617, 3, columns};
      const Shape angles = {1, is_narrow ? 1 : 617, 1, columns};
      cases.push_back({{dtype, dtype, dtype, dtype},
                       {x, angles, angles, x},
                       dtype,
                       setting % 3 == 0 ? x : angles,
                       setting});
    }
  }
  return cases;
}
const auto kRotaryGrad =
    Register({"aclnnRotaryPositionEmbeddingGrad",
              {"dy", "cos", "sin", "x", "result"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                const int64_t which = a.reduction % 3;
                const Shape x = ShapeOf(t[0]);
                const Shape angles = ShapeOf(t[1]);
                const Unseen dx(x, DtypeOf(t[0]));
                const Unseen dcos(angles, DtypeOf(t[0]));
                const Unseen dsin(angles, DtypeOf(t[0]));
                return aclnnRotaryPositionEmbeddingGradGetWorkspaceSize(
                    t[0], t[1], t[2], t[3], a.reduction / 3, which == 0 ? t[4] : static_cast<aclTensor*>(dx),
                    which == 1 ? t[4] : static_cast<aclTensor*>(dcos),
                    which == 2 ? t[4] : static_cast<aclTensor*>(dsin), size, executor);
              },
              aclnnRotaryPositionEmbeddingGrad},
             RotaryGradientCases(), 12);

// ---- attention ----

constexpr int64_t kQueries = 150, kKeys = 530;
const Shape kQuery = {2, 4, kQueries, 44};
const Shape kKey = {2, 2, kKeys, 44};
const Shape kValue = {2, 2, kKeys, 27};
const Shape kOut = {2, 4, kQueries, 27};
const Shape kStatistics = {2, 4, kQueries, 8};
const Shape kTemplate = {2048, 2048};
char kLayout[] = "BNSD";  // NOLINT(readability-identifier-naming)
constexpr double kScale = 0.125;

// Without a mask, and what queries at the end see.
std::vector<GivenCase> ScoreCases() {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kDtypes) {
    for (size_t setting = 0; setting < 2; ++setting)
      cases.push_back({{dtype, dtype, dtype}, {kQuery, kKey, kValue}, dtype, kOut, setting});
    cases.push_back({{dtype, dtype, dtype}, {kQuery, kKey, kValue}, ACL_FLOAT, kStatistics, 2});
  }
  return cases;
}
const auto kScore = Register({"aclnnFlashAttentionScore",
                              {"query", "key", "value", "result"},
                              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                                const Unseen mask(kTemplate, ACL_BOOL);
                                const Unseen greatest(kStatistics);
                                const Unseen sum(kStatistics);
                                const Unseen out(kOut, DtypeOf(t[0]));
                                const bool statistics = a.reduction == 2;
                                return aclnnFlashAttentionScoreGetWorkspaceSize(
                                    t[0], t[1], t[2], nullptr, nullptr, nullptr,
                                    a.reduction == 0 ? nullptr : static_cast<aclTensor*>(mask), nullptr,
                                    kScale, 1.0, 0, 0, 4, kLayout, 0, a.reduction == 0 ? 0 : 3, greatest,
                                    statistics ? t[3] : static_cast<aclTensor*>(sum), nullptr,
                                    statistics ? static_cast<aclTensor*>(out) : t[3], size, executor);
                              },
                              aclnnFlashAttentionScore},
                             ScoreCases(), 3);

// With weights that are drawn.
const auto kScoreV4 =
    Register({"aclnnFlashAttentionScoreV4",
              {"query", "key", "value", "result"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                const Unseen mask(kTemplate, ACL_BOOL);
                const Unseen greatest(kStatistics);
                const Unseen sum(kStatistics);
                const Unseen out(kOut, DtypeOf(t[0]));
                const bool statistics = a.reduction == 2;
                return aclnnFlashAttentionScoreV4GetWorkspaceSize(
                    t[0], t[1], t[2], nullptr, nullptr, nullptr,
                    a.reduction == 0 ? nullptr : static_cast<aclTensor*>(mask), nullptr, nullptr, nullptr,
                    nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, kScale, 0.9, 0, 0,
                    4, kLayout, 0, a.reduction == 0 ? 0 : 3, 0, 0, nullptr, 11, 12, greatest,
                    statistics ? t[3] : static_cast<aclTensor*>(sum), nullptr,
                    statistics ? static_cast<aclTensor*>(out) : t[3], size, executor);
              },
              aclnnFlashAttentionScoreV4},
             ScoreCases(), 3);

std::vector<GivenCase> GradCases() {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kDtypes) {
    const Shape results[] = {kQuery, kKey, kValue};
    for (size_t setting = 0; setting < 3; ++setting) {
      cases.push_back({{dtype, dtype, dtype, dtype, dtype, ACL_FLOAT, ACL_FLOAT},
                       {kQuery, kKey, kValue, kOut, kOut, kStatistics, kStatistics},
                       dtype,
                       results[setting],
                       setting});
    }
  }
  return cases;
}
const auto kGrad =
    Register({"aclnnFlashAttentionScoreGrad",
              {"query", "keyIn", "value", "dy", "attentionIn", "softmaxMax", "softmaxSum", "result"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                const Unseen mask(kTemplate, ACL_BOOL);
                const Unseen dq(kQuery, DtypeOf(t[0]));
                const Unseen dk(kKey, DtypeOf(t[0]));
                const Unseen dv(kValue, DtypeOf(t[0]));
                const auto chosen = [&](int64_t setting, aclTensor* unseen) {
                  return a.reduction == setting ? t[7] : unseen;
                };
                return aclnnFlashAttentionScoreGradGetWorkspaceSize(
                    t[0], t[1], t[2], t[3], nullptr, nullptr, nullptr, mask, t[5], t[6], nullptr, t[4],
                    nullptr, kScale, 1.0, 0, 0, 4, kLayout, 0, 3, chosen(0, dq), chosen(1, dk), chosen(2, dv),
                    nullptr, size, executor);
              },
              aclnnFlashAttentionScoreGrad},
             GradCases(), 3, {6});

const auto kGradV4 = Register(
    {"aclnnFlashAttentionScoreGradV4",
     {"query", "keyIn", "value", "dy", "attentionIn", "softmaxMax", "softmaxSum", "result"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const Unseen mask(kTemplate, ACL_BOOL);
       const Unseen dq(kQuery, DtypeOf(t[0]));
       const Unseen dk(kKey, DtypeOf(t[0]));
       const Unseen dv(kValue, DtypeOf(t[0]));
       const auto chosen = [&](int64_t setting, aclTensor* unseen) {
         return a.reduction == setting ? t[7] : unseen;
       };
       return aclnnFlashAttentionScoreGradV4GetWorkspaceSize(
           t[0], t[1], t[2], t[3], nullptr, nullptr, nullptr, mask, t[5], t[6], nullptr, t[4], nullptr,
           nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
           nullptr, kScale, 0.9, 0, 0, 4, kLayout, nullptr, 0, 3, 0, 11, 12, 0, chosen(0, dq), chosen(1, dk),
           chosen(2, dv), nullptr, nullptr, nullptr, nullptr, size, executor);
     },
     aclnnFlashAttentionScoreGradV4},
    GradCases(), 3, {6});

// Packed sequences, of which the second has several blocks of keys and of queries.
const Shape kPackedQuery = {167, 4, 44};
const Shape kPackedKey = {547, 2, 44};
const Shape kPackedValue = {547, 2, 27};
const Shape kPackedOut = {167, 4, 27};
const Shape kPackedStatistics = {167, 4, 8};
char kPackedLayout[] = "TND";       // NOLINT(readability-identifier-naming)
char kInOrder[] = "same_as_input";  // NOLINT(readability-identifier-naming)

class Ends {
 public:
  explicit Ends(int64_t last) {
    const int64_t ends[] = {17, last};
    array_ = aclCreateIntArray(ends, 2);
  }
  ~Ends() { aclDestroyIntArray(array_); }
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
  operator const aclIntArray*() const { return array_; }

 private:
  aclIntArray* array_;
};

// Without a mask, a band in the last sequence, and statistics.
std::vector<GivenCase> PackedScoreCases() {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kDtypes) {
    for (size_t setting = 0; setting < 3; ++setting) {
      cases.push_back({{dtype, dtype, dtype},
                       {kPackedQuery, kPackedKey, kPackedValue},
                       setting == 2 ? DtypeNumber{ACL_FLOAT} : dtype,
                       setting == 2 ? kPackedStatistics : kPackedOut,
                       setting});
    }
  }
  return cases;
}
template <bool is_v4>
OperatorBinding PackedScore() {
  return {is_v4 ? "aclnnFlashAttentionVarLenScoreV4" : "aclnnFlashAttentionVarLenScore",
          {"query", "key", "value", "result"},
          [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
            const Unseen template_mask(kTemplate, ACL_BOOL);
            const Unseen greatest(kPackedStatistics);
            const Unseen other_sum(kPackedStatistics);
            const Unseen other_out(kPackedOut, DtypeOf(t[0]));
            const Ends queries(167);
            const Ends keys(547);
            aclTensor* const mask = a.reduction == 0 ? nullptr : static_cast<aclTensor*>(template_mask);
            aclTensor* const sum = a.reduction == 2 ? t[3] : static_cast<aclTensor*>(other_sum);
            aclTensor* const out = a.reduction == 2 ? static_cast<aclTensor*>(other_out) : t[3];
            if constexpr (is_v4) {
              return aclnnFlashAttentionVarLenScoreV4GetWorkspaceSize(
                  t[0], t[1], t[2], nullptr, nullptr, nullptr, mask, nullptr, queries, keys, kScale, 1.0, 60,
                  3, 4, kPackedLayout, 0, 7, kInOrder, greatest, sum, nullptr, out, size, executor);
            } else {
              return aclnnFlashAttentionVarLenScoreGetWorkspaceSize(
                  t[0], t[1], t[2], nullptr, nullptr, nullptr, mask, nullptr, queries, keys, kScale, 1.0, 60,
                  3, 4, kPackedLayout, 0, 7, greatest, sum, nullptr, out, size, executor);
            }
          },
          is_v4 ? aclnnFlashAttentionVarLenScoreV4 : aclnnFlashAttentionVarLenScore};
}
const auto kPackedScore = Register(PackedScore<false>(), PackedScoreCases(), 3);
const auto kPackedScoreV4 = Register(PackedScore<true>(), PackedScoreCases(), 3);

std::vector<GivenCase> PackedGradCases() {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kDtypes) {
    const Shape results[] = {kPackedQuery, kPackedKey, kPackedValue};
    for (size_t setting = 0; setting < 3; ++setting) {
      cases.push_back({{dtype, dtype, dtype, dtype, dtype, ACL_FLOAT, ACL_FLOAT},
                       {kPackedQuery, kPackedKey, kPackedValue, kPackedOut, kPackedOut, kPackedStatistics,
                        kPackedStatistics},
                       dtype,
                       results[setting],
                       setting});
    }
  }
  return cases;
}
template <bool is_v4>
OperatorBinding PackedGrad() {
  return {is_v4 ? "aclnnFlashAttentionUnpaddingScoreGradV4" : "aclnnFlashAttentionUnpaddingScoreGrad",
          {"query", "keyIn", "value", "dy", "attentionIn", "softmaxMax", "softmaxSum", "result"},
          [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
            const Unseen mask(kTemplate, ACL_BOOL);
            const Unseen dq(kPackedQuery, DtypeOf(t[0]));
            const Unseen dk(kPackedKey, DtypeOf(t[0]));
            const Unseen dv(kPackedValue, DtypeOf(t[0]));
            const Ends queries(167);
            const Ends keys(547);
            const auto chosen = [&](int64_t setting, aclTensor* unseen) {
              return a.reduction == setting ? t[7] : unseen;
            };
            if constexpr (is_v4) {
              return aclnnFlashAttentionUnpaddingScoreGradV4GetWorkspaceSize(
                  t[0], t[1], t[2], t[3], nullptr, nullptr, nullptr, mask, t[5], t[6], nullptr, t[4], nullptr,
                  queries, keys, kScale, 1.0, 60, 3, 4, kPackedLayout, 0, 8, chosen(0, dq), chosen(1, dk),
                  chosen(2, dv), nullptr, kInOrder, size, executor);
            } else {
              return aclnnFlashAttentionUnpaddingScoreGradGetWorkspaceSize(
                  t[0], t[1], t[2], t[3], nullptr, nullptr, nullptr, mask, t[5], t[6], nullptr, t[4], nullptr,
                  queries, keys, kScale, 1.0, 60, 3, 4, kPackedLayout, 0, 8, chosen(0, dq), chosen(1, dk),
                  chosen(2, dv), nullptr, size, executor);
            }
          },
          is_v4 ? aclnnFlashAttentionUnpaddingScoreGradV4 : aclnnFlashAttentionUnpaddingScoreGrad};
}
const auto kPackedGrad = Register(PackedGrad<false>(), PackedGradCases(), 3, {6});
const auto kPackedGradV4 = Register(PackedGrad<true>(), PackedGradCases(), 3, {6});

// With rotary parts and sinks.
const Shape kPackedQueryRope = {167, 4, 19};
const Shape kPackedKeyRope = {547, 2, 19};
const auto kPackedScoreV5 = Register(
    {"aclnnFlashAttentionVarLenScoreV5",
     {"query", "queryRope", "key", "keyRope", "value", "sink", "result"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const Unseen greatest(kPackedStatistics);
       const Unseen sum(kPackedStatistics);
       const Unseen out(kPackedOut, DtypeOf(t[0]));
       const Ends queries(167);
       const Ends keys(547);
       const bool statistics = a.reduction != 0;
       return aclnnFlashAttentionVarLenScoreV5GetWorkspaceSize(
           t[0], t[1], t[2], t[3], t[4], nullptr, nullptr, nullptr, nullptr, t[5], nullptr, queries, keys,
           nullptr, nullptr, kScale, 1.0, 0, 0, 4, kPackedLayout, 0, 0, 1, kInOrder, greatest,
           statistics ? t[6] : static_cast<aclTensor*>(sum), nullptr,
           statistics ? static_cast<aclTensor*>(out) : t[6], size, executor);
     },
     aclnnFlashAttentionVarLenScoreV5},
    [] {
      std::vector<GivenCase> cases;
      for (const DtypeNumber dtype : kDtypes) {
        for (size_t setting = 0; setting < 2; ++setting) {
          cases.push_back({{dtype, dtype, dtype, dtype, dtype, ACL_FLOAT},
                           {kPackedQuery, kPackedQueryRope, kPackedKey, kPackedKeyRope, kPackedValue, {4}},
                           setting == 1 ? DtypeNumber{ACL_FLOAT} : dtype,
                           setting == 1 ? kPackedStatistics : kPackedOut,
                           setting});
        }
      }
      return cases;
    }(),
    2);
const auto kPackedGradV5 = Register(
    {"aclnnFlashAttentionUnpaddingScoreGradV5",
     {"query", "queryRope", "keyIn", "keyInRope", "value", "dy", "attentionIn", "softmaxMax", "softmaxSum",
      "sink", "result"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const Unseen dq(kPackedQuery, DtypeOf(t[0]));
       const Unseen dk(kPackedKey, DtypeOf(t[0]));
       const Unseen dv(kPackedValue, DtypeOf(t[0]));
       const Unseen dq_rope(kPackedQueryRope, DtypeOf(t[0]));
       const Unseen dk_rope(kPackedKeyRope, DtypeOf(t[0]));
       const Unseen dsink({4});
       const Ends queries(167);
       const Ends keys(547);
       const auto chosen = [&](int64_t setting, aclTensor* unseen) {
         return a.reduction == setting ? t[10] : unseen;
       };
       return aclnnFlashAttentionUnpaddingScoreGradV5GetWorkspaceSize(
           t[0], t[1], t[2], t[3], t[4], t[5], nullptr, nullptr, nullptr, nullptr, t[7], t[8], nullptr, t[6],
           t[9], nullptr, queries, keys, nullptr, nullptr, kScale, 1.0, 0, 0, 4, kPackedLayout, 0, 0, 1,
           kInOrder, chosen(0, dq), chosen(1, dq_rope), dk, chosen(2, dk_rope), dv, nullptr, chosen(3, dsink),
           size, executor);
     },
     aclnnFlashAttentionUnpaddingScoreGradV5},
    [] {
      std::vector<GivenCase> cases;
      const Shape results[] = {kPackedQuery, kPackedQueryRope, kPackedKeyRope, {4}};
      for (const DtypeNumber dtype : kDtypes) {
        for (size_t setting = 0; setting < 4; ++setting) {
          cases.push_back({{dtype, dtype, dtype, dtype, dtype, dtype, dtype, ACL_FLOAT, ACL_FLOAT, ACL_FLOAT},
                           {kPackedQuery,
                            kPackedQueryRope,
                            kPackedKey,
                            kPackedKeyRope,
                            kPackedValue,
                            kPackedOut,
                            kPackedOut,
                            kPackedStatistics,
                            kPackedStatistics,
                            {4}},
                           setting == 3 ? DtypeNumber{ACL_FLOAT} : dtype,
                           results[setting],
                           setting});
        }
      }
      return cases;
    }(),
    4, {8});

// A list of one tensor, the same view of the same memory: a list destroys what it holds.
class List {
 public:
  explicit List(const aclTensor* tensor) {
    int64_t* dims[3] = {};
    uint64_t ranks[3] = {};
    int64_t offset = 0;
    void* address = nullptr;
    aclGetViewShape(tensor, &dims[0], &ranks[0]);
    aclGetViewStrides(tensor, &dims[1], &ranks[1]);
    aclGetStorageShape(tensor, &dims[2], &ranks[2]);
    aclGetViewOffset(tensor, &offset);
    aclGetRawTensorAddr(tensor, &address);
    const aclTensor* const copy = aclCreateTensor(dims[0], ranks[0], DtypeOf(tensor), dims[1], offset,
                                                  ACL_FORMAT_ND, dims[2], ranks[2], address);
    for (int64_t* one : dims) delete[] one;
    list_ = aclCreateTensorList(&copy, 1);
  }
  ~List() { aclDestroyTensorList(list_); }
  List(const List&) = delete;
  List& operator=(const List&) = delete;
  operator const aclTensorList*() const { return list_; }

 private:
  aclTensorList* list_;
};

// With a sink.
const auto kScoreV3 = Register(
    {"aclnnFlashAttentionScoreV3",
     {"query", "key", "value", "sink", "result"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const Unseen mask(kTemplate, ACL_BOOL);
       const Unseen greatest(kStatistics);
       const Unseen sum(kStatistics);
       const Unseen out(kOut, DtypeOf(t[0]));
       const bool statistics = a.reduction == 2;
       return aclnnFlashAttentionScoreV3GetWorkspaceSize(
           t[0], t[1], t[2], nullptr, nullptr, nullptr,
           a.reduction == 0 ? nullptr : static_cast<aclTensor*>(mask), t[3], nullptr, nullptr, nullptr,
           kScale, 1.0, 0, 0, 4, kLayout, 0, a.reduction == 0 ? 0 : 3, 1, greatest,
           statistics ? t[4] : static_cast<aclTensor*>(sum), nullptr,
           statistics ? static_cast<aclTensor*>(out) : t[4], size, executor);
     },
     aclnnFlashAttentionScoreV3},
    [] {
      std::vector<GivenCase> cases = ScoreCases();
      for (GivenCase& one : cases) {
        one.input_dtypes.push_back(ACL_FLOAT);
        one.input_shapes.push_back({4});
      }
      return cases;
    }(),
    3);
const auto kGradV3 =
    Register({"aclnnFlashAttentionScoreGradV3",
              {"query", "keyIn", "value", "dy", "attentionIn", "softmaxMax", "softmaxSum", "sink", "result"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                const Unseen mask(kTemplate, ACL_BOOL);
                const Unseen dq(kQuery, DtypeOf(t[0]));
                const Unseen dk(kKey, DtypeOf(t[0]));
                const Unseen dv(kValue, DtypeOf(t[0]));
                const Unseen dsink({4});
                const auto chosen = [&](int64_t setting, aclTensor* unseen) {
                  return a.reduction == setting ? t[8] : unseen;
                };
                return aclnnFlashAttentionScoreGradV3GetWorkspaceSize(
                    t[0], t[1], t[2], t[3], nullptr, nullptr, nullptr, mask, t[5], t[6], nullptr, t[4], t[7],
                    nullptr, nullptr, nullptr, kScale, 1.0, 0, 0, 4, kLayout, 0, 3, 1, chosen(0, dq),
                    chosen(1, dk), chosen(2, dv), nullptr, chosen(3, dsink), size, executor);
              },
              aclnnFlashAttentionScoreGradV3},
             [] {
               std::vector<GivenCase> cases;
               const Shape results[] = {kQuery, kKey, kValue, {4}};
               for (const DtypeNumber dtype : kDtypes) {
                 for (size_t setting = 0; setting < 4; ++setting) {
                   cases.push_back({{dtype, dtype, dtype, dtype, dtype, ACL_FLOAT, ACL_FLOAT, ACL_FLOAT},
                                    {kQuery, kKey, kValue, kOut, kOut, kStatistics, kStatistics, {4}},
                                    setting == 3 ? DtypeNumber{ACL_FLOAT} : dtype,
                                    results[setting],
                                    setting});
                 }
               }
               return cases;
             }(),
             4, {6});

// Sequences of several lengths, one query each, and the logarithms of sums.
std::vector<GivenCase> InferCases() {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : {ACL_FLOAT16, ACL_BF16}) {
    cases.push_back({{dtype, dtype, dtype}, {kQuery, kKey, kValue}, dtype, kOut, 0});
    cases.push_back({{dtype, dtype, dtype}, {{2, 4, 1, 44}, kKey, kValue}, dtype, {2, 4, 1, 27}, 1});
    cases.push_back({{dtype, dtype, dtype}, {kQuery, kKey, kValue}, ACL_FLOAT, {2, 4, kQueries, 1}, 2});
  }
  return cases;
}
const auto kInfer = Register(
    {"aclnnFusedInferAttentionScore",
     {"query", "key", "value", "result"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const List key(t[1]);
       const List value(t[2]);
       const int64_t lengths[] = {530, 301};
       aclIntArray* const keys = aclCreateIntArray(lengths, 2);
       const Unseen out(kOut, DtypeOf(t[0]));
       const bool sums = a.reduction == 2;
       const aclnnStatus status = aclnnFusedInferAttentionScoreGetWorkspaceSize(
           t[0], key, value, nullptr, nullptr, nullptr, keys, nullptr, nullptr, nullptr, nullptr, nullptr,
           nullptr, nullptr, nullptr, nullptr, nullptr, 4, kScale, 0, 0, kLayout, 2, 0, 0, 0, 0, sums,
           sums ? static_cast<aclTensor*>(out) : t[3], sums ? t[3] : nullptr, size, executor);
       aclDestroyIntArray(keys);
       return status;
     },
     aclnnFusedInferAttentionScore},
    InferCases(), 3);

// A tensor of the same numbers in each run.
class Constant {
 public:
  explicit Constant(const Shape& shape, aclDataType dtype = ACL_FLOAT) {
    static std::vector<float> floats =
        Made<float>([](size_t i) { return 0.03125f * static_cast<float>(1 + i % 5); });
    static std::vector<uint16_t> halves =
        Made<uint16_t>([](size_t i) { return static_cast<uint16_t>(0x3c00 + i * 7 % 64); });
    static std::vector<int32_t> blocks =
        Made<int32_t>([](size_t i) { return static_cast<int32_t>((i * 2 + 4) % 5); });
    void* const memory = dtype == ACL_FLOAT   ? static_cast<void*>(floats.data())
                         : dtype == ACL_INT32 ? static_cast<void*>(blocks.data())
                                              : halves.data();
    tensor_ = aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                              shape.size(), memory);
  }
  ~Constant() { aclDestroyTensor(tensor_); }
  Constant(const Constant&) = delete;
  Constant& operator=(const Constant&) = delete;
  operator aclTensor*() const { return tensor_; }

 private:
  template <class T, class F>
  static std::vector<T> Made(const F& f) {
    std::vector<T> numbers(1 << 18);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = f(i);
    return numbers;
  }

  aclTensor* tensor_;
};

// Rotary parts; slopes; keys of INT8 by scales of tokens, in pieces of blocks; a sink with all of them but the first.
std::vector<GivenCase> ServingCases() {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : {ACL_FLOAT16, ACL_BF16}) {
    for (size_t setting = 0; setting < 3; ++setting) {
      const bool is_int8 = setting == 2;
      const DtypeNumber cached = is_int8 ? DtypeNumber{ACL_INT8} : dtype;
      const int64_t depth = is_int8 ? 64 : 44;
      const Shape cache = {5, 2, 2, 128, 32};
      cases.push_back({{dtype, cached, cached},
                       {{2, 4, 37, depth}, is_int8 ? cache : kKey, is_int8 ? cache : kValue},
                       dtype,
                       {2, 4, 37, is_int8 ? 64 : 27},
                       setting});
    }
  }
  return cases;
}
const auto kServing =
    Register({"aclnnFusedInferAttentionScoreV5",
              {"query", "key", "value", "result"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                const List key(t[1]);
                const List value(t[2]);
                const bool has_ropes = a.reduction == 0;
                const bool has_slopes = a.reduction == 1;
                const bool is_int8 = a.reduction == 2;
                const int64_t lengths[] = {300, 111};
                aclIntArray* const keys = aclCreateIntArray(lengths, 2);
                aclIntArray* const starts = aclCreateIntArray(lengths, 1);
                const Constant query_rope({2, 4, 37, 64}, DtypeOf(t[0]));
                const Constant key_rope({2, 2, kKeys, 64}, DtypeOf(t[0]));
                const Constant slopes({4});
                const Constant scales({5, 128});
                const Constant sink({4});
                const Constant table({2, 3}, ACL_INT32);
                const auto where = [](bool there, aclTensor* tensor) { return there ? tensor : nullptr; };
                const aclnnStatus status = aclnnFusedInferAttentionScoreV5GetWorkspaceSize(
                    t[0], key, value, where(has_slopes, slopes), nullptr, nullptr, keys, nullptr, nullptr,
                    nullptr, nullptr, nullptr, nullptr, nullptr, where(is_int8, table), nullptr, nullptr,
                    where(is_int8, scales), nullptr, where(is_int8, scales), nullptr, nullptr, nullptr,
                    nullptr, where(has_ropes, query_rope), where(has_ropes, key_rope), nullptr, nullptr,
                    where(!has_ropes, sink), starts, nullptr, 4, kScale, 0, 0, kLayout, 2, 0, 0, 128, 0,
                    false, 4, 4, 0, has_slopes ? 3 : 0, t[3], nullptr, size, executor);
                aclDestroyIntArray(keys);
                aclDestroyIntArray(starts);
                return status;
              },
              aclnnFusedInferAttentionScoreV5},
             ServingCases(), 3);

// The same list of results thrice, of equal weights.
const auto kUpdate = Register(
    {"aclnnAttentionUpdate",
     {"lse", "localOut", "out"},
     [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       const List lse(t[0]);
       const List out(t[1]);
       return aclnnAttentionUpdateGetWorkspaceSize(lse, out, 0, t[2], nullptr, size, executor);
     },
     aclnnAttentionUpdate},
    [] {
      std::vector<GivenCase> cases;
      for (const DtypeNumber dtype : kDtypes)
        cases.push_back({{ACL_FLOAT, dtype}, {{617}, {617, 72}}, dtype, {617, 72}, 0});
      return cases;
    }(),
    1);

// The result and the sum.
const auto kRing =
    Register({"aclnnRingAttentionUpdate",
              {"prevAttnOut", "prevSoftmaxMax", "prevSoftmaxSum", "curAttnOut", "curSoftmaxMax",
               "curSoftmaxSum", "result"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                const Shape numbers = ShapeOf(t[1]);
                const Unseen out(ShapeOf(t[0]), DtypeOf(t[0]));
                const Unseen greatest(numbers);
                const Unseen sum(numbers);
                return aclnnRingAttentionUpdateGetWorkspaceSize(
                    t[0], t[1], t[2], t[3], t[4], t[5], nullptr, nullptr,
                    a.reduction == 0 ? t[6] : static_cast<aclTensor*>(out), greatest,
                    a.reduction == 1 ? t[6] : static_cast<aclTensor*>(sum), size, executor);
              },
              aclnnRingAttentionUpdate},
             [] {
               std::vector<GivenCase> cases;
               const Shape out = {61, 3, 4 * 37};
               const Shape numbers = {3, 4, 61, 8};
               for (const DtypeNumber dtype : kDtypes) {
                 cases.push_back({{dtype, ACL_FLOAT, ACL_FLOAT, dtype, ACL_FLOAT, ACL_FLOAT},
                                  {out, numbers, numbers, out, numbers, numbers},
                                  dtype,
                                  out,
                                  0});
               }
               cases.push_back({{ACL_FLOAT, ACL_FLOAT, ACL_FLOAT, ACL_FLOAT, ACL_FLOAT, ACL_FLOAT},
                                {out, numbers, numbers, out, numbers, numbers},
                                ACL_FLOAT,
                                numbers,
                                1});
               return cases;
             }(),
             2, {2, 5});

// Queries, keys and values of INT8 with rotary parts, of latent attention.
const auto kCodes = Register(
    {"aclnnFusedInferAttentionScoreV4",
     {"query", "key", "value", "queryRope", "keyRope", "queryScale", "keyScale", "valueScale", "result"},
     [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       const List key(t[1]);
       const List value(t[2]);
       const int64_t lengths[] = {300, 121};
       aclIntArray* const keys = aclCreateIntArray(lengths, 2);
       const Constant table({2, 3}, ACL_INT32);
       char layout[] = "BSND";
       const aclnnStatus status = aclnnFusedInferAttentionScoreV4GetWorkspaceSize(
           t[0], key, value, nullptr, nullptr, nullptr, keys, nullptr, nullptr, nullptr, nullptr, nullptr,
           nullptr, nullptr, table, nullptr, nullptr, t[6], nullptr, t[7], nullptr, nullptr, nullptr, nullptr,
           t[3], t[4], nullptr, t[5], nullptr, 4, 0.001, 0, 0, layout, 1, 0, 0, 128, 0, false, 0, 0, 3, t[8],
           nullptr, size, executor);
       aclDestroyIntArray(keys);
       return status;
     },
     aclnnFusedInferAttentionScoreV4},
    {{{ACL_INT8, ACL_INT8, ACL_INT8, ACL_BF16, ACL_BF16, ACL_FLOAT, ACL_FLOAT, ACL_FLOAT},
      {{2, 5, 4, 128},
       {5, 1, 4, 128, 32},
       {5, 1, 4, 128, 32},
       {2, 5, 4, 64},
       {5, 1, 4, 128, 16},
       {2, 5, 4},
       {1},
       {1}},
      ACL_BF16,
      {2, 5, 4, 128},
      0}},
    1);

}  // namespace
}  // namespace portacl::testing
