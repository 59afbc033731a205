// Attention, its gradients and rotary embeddings for the determinism test: several blocks of keys and of queries, heads that share keys. Each
// gradient is hashed in a setting of its own.
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "aclnnop/families/attention.h"
#include "determinism/calls.h"

namespace portacl::testing {
namespace {

const std::vector<DtypeNumber> kDtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
const std::vector<DtypeNumber> kHalves = {ACL_FLOAT16, ACL_BF16};

// ---- rotary embeddings ----

const auto kRotary = Register(PORTACL_PHASES(aclnnRotaryPositionEmbedding, c[0], c[1], c[2], c.setting, c[3]),
                              Cases(kDtypes, {{2, 37, 3, 84}, {1, 37, 1, 84}, {1, 37, 1, 84}},
                                    std::vector<CaseTensor>(4, {2, 37, 3, 84})));

const auto kInterleaved = Register(
    PORTACL_PHASES(aclnnInterleaveRope, c[0], c[1], c[2], c[3]),
    Cases({ACL_FLOAT16, ACL_BF16}, {{3, 7, 37, 64}, {3, 1, 37, 64}, {3, 1, 37, 64}}, {{3, 7, 37, 64}}));
const auto kLooked = Register(
    PORTACL_PHASES(aclnnRopeWithSinCosCache, c[0], c[1], c.Unseen({617, 84}, c.Dtype(1)), c[2], nullptr, 84,
                   c.setting == 0, c[3], c.Unseen({617, 84}, c.Dtype(1))),
    Cases(kDtypes, {{{617}, ACL_INT64, 91}, {617, 3 * 84}, {91, 66}}, {{617, 3 * 84}, {617, 3 * 84}}));
// The first result, which is divided, and the last one.
const auto kHeadsOfSum = Register(
    PORTACL_PHASES(aclnnTransformBiasRescaleQkv, c[0], c[1], 3,
                   c.OutIf(c.setting == 0, c.ShapeOf(2), c.Dtype()), c.Unseen(c.ShapeOf(2), c.Dtype()),
                   c.OutIf(c.setting != 0, c.ShapeOf(2), c.Dtype())),
    Cases(kDtypes, {{2, 37, 3 * 3 * 41}, {3 * 3 * 41}}, {{2, 3, 37, 41}, {2, 3, 37, 41}}));

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
    Register({"aclnnRotaryPositionEmbeddingGrad", aclnnRotaryPositionEmbeddingGrad,
              [](Call& c) {
                const int64_t which = c.setting % 3;
                const Shape angles = c.ShapeOf(1);
                return aclnnRotaryPositionEmbeddingGradGetWorkspaceSize(
                    c[0], c[1], c[2], c[3], c.setting / 3, c.OutIf(which == 0, c.ShapeOf(0), c.Dtype()),
                    c.OutIf(which == 1, angles, c.Dtype()), c.OutIf(which == 2, angles, c.Dtype()), c.size,
                    c.executor);
              }},
             RotaryGradientCases());

// ---- attention ----

constexpr int64_t kQueries = 150, kKeys = 530;
const Shape kQuery = {2, 4, kQueries, 44};
const Shape kKey = {2, 2, kKeys, 44};
const Shape kValue = {2, 2, kKeys, 27};
const Shape kOut = {2, 4, kQueries, 27};
const Shape kStatistics = {2, 4, kQueries, 8};
const Shape kTemplate = {2048, 2048};
constexpr double kScale = 0.125;
const CaseTensor kSums = {kStatistics, ACL_FLOAT};
const CaseTensor kSink = {{4}, ACL_FLOAT};

// Without a mask, what queries at the end see, and the statistics of that.
const std::vector<CaseTensor> kScoreResults = {kOut, kOut, kSums};

const auto kScore = Register(
    PORTACL_PHASES(aclnnFlashAttentionScore, c[0], c[1], c[2], nullptr, nullptr, nullptr,
                   c.setting == 0 ? nullptr : c.Zeros(kTemplate, ACL_BOOL), nullptr, kScale, 1.0, 0, 0, 4,
                   c.Text("BNSD"), 0, c.setting == 0 ? 0 : 3, c.Unseen(kStatistics),
                   c.OutIf(c.setting == 2, kStatistics), nullptr, c.OutIf(c.setting != 2, kOut, c.Dtype())),
    Cases(kDtypes, {kQuery, kKey, kValue}, kScoreResults));

// With weights that are drawn.
const auto kScoreV4 = Register(
    PORTACL_PHASES(aclnnFlashAttentionScoreV4, c[0], c[1], c[2], nullptr, nullptr, nullptr,
                   c.setting == 0 ? nullptr : c.Zeros(kTemplate, ACL_BOOL), nullptr, nullptr, nullptr,
                   nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, kScale, 0.9, 0, 0,
                   4, c.Text("BNSD"), 0, c.setting == 0 ? 0 : 3, 0, 0, nullptr, 11, 12, c.Unseen(kStatistics),
                   c.OutIf(c.setting == 2, kStatistics), nullptr, c.OutIf(c.setting != 2, kOut, c.Dtype())),
    Cases(kDtypes, {kQuery, kKey, kValue}, kScoreResults));

const std::vector<CaseTensor> kGradInputs = {kQuery, kKey, kValue, kOut, kOut, kSums, kSums};
const auto kGrad =
    Register(PORTACL_PHASES(aclnnFlashAttentionScoreGrad, c[0], c[1], c[2], c[3], nullptr, nullptr, nullptr,
                            c.Zeros(kTemplate, ACL_BOOL), c[5], c[6], nullptr, c[4], nullptr, kScale, 1.0, 0,
                            0, 4, c.Text("BNSD"), 0, 3, c.OutIf(c.setting == 0, kQuery, c.Dtype()),
                            c.OutIf(c.setting == 1, kKey, c.Dtype()),
                            c.OutIf(c.setting == 2, kValue, c.Dtype()), nullptr),
             Cases(kDtypes, kGradInputs, {kQuery, kKey, kValue}), {.not_negative = {6}});

const auto kGradV4 = Register(
    PORTACL_PHASES(aclnnFlashAttentionScoreGradV4, c[0], c[1], c[2], c[3], nullptr, nullptr, nullptr,
                   c.Zeros(kTemplate, ACL_BOOL), c[5], c[6], nullptr, c[4], nullptr, nullptr, nullptr,
                   nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                   kScale, 0.9, 0, 0, 4, c.Text("BNSD"), nullptr, 0, 3, 0, 11, 12, 0,
                   c.OutIf(c.setting == 0, kQuery, c.Dtype()), c.OutIf(c.setting == 1, kKey, c.Dtype()),
                   c.OutIf(c.setting == 2, kValue, c.Dtype()), nullptr, nullptr, nullptr, nullptr),
    Cases(kDtypes, kGradInputs, {kQuery, kKey, kValue}), {.not_negative = {6}});

// Packed sequences, of which the second has several blocks of keys and of queries.
const Shape kPackedQuery = {167, 4, 44};
const Shape kPackedKey = {547, 2, 44};
const Shape kPackedValue = {547, 2, 27};
const Shape kPackedOut = {167, 4, 27};
const Shape kPackedStatistics = {167, 4, 8};
const CaseTensor kPackedSums = {kPackedStatistics, ACL_FLOAT};

// Without a mask, a band in the last sequence, and statistics.
const auto kPackedScore =
    Register(PORTACL_PHASES(aclnnFlashAttentionVarLenScore, c[0], c[1], c[2], nullptr, nullptr, nullptr,
                            c.setting == 0 ? nullptr : c.Zeros(kTemplate, ACL_BOOL), nullptr,
                            c.Ints({17, 167}), c.Ints({17, 547}), kScale, 1.0, 60, 3, 4, c.Text("TND"), 0, 7,
                            c.Unseen(kPackedStatistics), c.OutIf(c.setting == 2, kPackedStatistics), nullptr,
                            c.OutIf(c.setting != 2, kPackedOut, c.Dtype())),
             Cases(kDtypes, {kPackedQuery, kPackedKey, kPackedValue}, {kPackedOut, kPackedOut, kPackedSums}));
const auto kPackedScoreV4 = Register(
    PORTACL_PHASES(aclnnFlashAttentionVarLenScoreV4, c[0], c[1], c[2], nullptr, nullptr, nullptr,
                   c.setting == 0 ? nullptr : c.Zeros(kTemplate, ACL_BOOL), nullptr, c.Ints({17, 167}),
                   c.Ints({17, 547}), kScale, 1.0, 60, 3, 4, c.Text("TND"), 0, 7, c.Text("same_as_input"),
                   c.Unseen(kPackedStatistics), c.OutIf(c.setting == 2, kPackedStatistics), nullptr,
                   c.OutIf(c.setting != 2, kPackedOut, c.Dtype())),
    Cases(kDtypes, {kPackedQuery, kPackedKey, kPackedValue}, {kPackedOut, kPackedOut, kPackedSums}));

const std::vector<CaseTensor> kPackedGradInputs = {kPackedQuery, kPackedKey,  kPackedValue, kPackedOut,
                                                   kPackedOut,   kPackedSums, kPackedSums};
const auto kPackedGrad = Register(
    PORTACL_PHASES(aclnnFlashAttentionUnpaddingScoreGrad, c[0], c[1], c[2], c[3], nullptr, nullptr, nullptr,
                   c.Zeros(kTemplate, ACL_BOOL), c[5], c[6], nullptr, c[4], nullptr, c.Ints({17, 167}),
                   c.Ints({17, 547}), kScale, 1.0, 60, 3, 4, c.Text("TND"), 0, 8,
                   c.OutIf(c.setting == 0, kPackedQuery, c.Dtype()),
                   c.OutIf(c.setting == 1, kPackedKey, c.Dtype()),
                   c.OutIf(c.setting == 2, kPackedValue, c.Dtype()), nullptr),
    Cases(kDtypes, kPackedGradInputs, {kPackedQuery, kPackedKey, kPackedValue}), {.not_negative = {6}});
const auto kPackedGradV4 = Register(
    PORTACL_PHASES(aclnnFlashAttentionUnpaddingScoreGradV4, c[0], c[1], c[2], c[3], nullptr, nullptr, nullptr,
                   c.Zeros(kTemplate, ACL_BOOL), c[5], c[6], nullptr, c[4], nullptr, c.Ints({17, 167}),
                   c.Ints({17, 547}), kScale, 1.0, 60, 3, 4, c.Text("TND"), 0, 8,
                   c.OutIf(c.setting == 0, kPackedQuery, c.Dtype()),
                   c.OutIf(c.setting == 1, kPackedKey, c.Dtype()),
                   c.OutIf(c.setting == 2, kPackedValue, c.Dtype()), nullptr, c.Text("same_as_input")),
    Cases(kDtypes, kPackedGradInputs, {kPackedQuery, kPackedKey, kPackedValue}), {.not_negative = {6}});

// With rotary parts and sinks.
const Shape kPackedQueryRope = {167, 4, 19};
const Shape kPackedKeyRope = {547, 2, 19};
const auto kPackedScoreV5 =
    Register(PORTACL_PHASES(aclnnFlashAttentionVarLenScoreV5, c[0], c[1], c[2], c[3], c[4], nullptr, nullptr,
                            nullptr, nullptr, c[5], nullptr, c.Ints({17, 167}), c.Ints({17, 547}), nullptr,
                            nullptr, kScale, 1.0, 0, 0, 4, c.Text("TND"), 0, 0, 1, c.Text("same_as_input"),
                            c.Unseen(kPackedStatistics), c.OutIf(c.setting != 0, kPackedStatistics), nullptr,
                            c.OutIf(c.setting == 0, kPackedOut, c.Dtype())),
             Cases(kDtypes, {kPackedQuery, kPackedQueryRope, kPackedKey, kPackedKeyRope, kPackedValue, kSink},
                   {kPackedOut, kPackedSums}));
const auto kPackedGradV5 = Register(
    PORTACL_PHASES(aclnnFlashAttentionUnpaddingScoreGradV5, c[0], c[1], c[2], c[3], c[4], c[5], nullptr,
                   nullptr, nullptr, nullptr, c[7], c[8], nullptr, c[6], c[9], nullptr, c.Ints({17, 167}),
                   c.Ints({17, 547}), nullptr, nullptr, kScale, 1.0, 0, 0, 4, c.Text("TND"), 0, 0, 1,
                   c.Text("same_as_input"), c.OutIf(c.setting == 0, kPackedQuery, c.Dtype()),
                   c.OutIf(c.setting == 1, kPackedQueryRope, c.Dtype()), c.Unseen(kPackedKey, c.Dtype()),
                   c.OutIf(c.setting == 2, kPackedKeyRope, c.Dtype()), c.Unseen(kPackedValue, c.Dtype()),
                   nullptr, c.OutIf(c.setting == 3, {4})),
    Cases(kDtypes,
          {kPackedQuery, kPackedQueryRope, kPackedKey, kPackedKeyRope, kPackedValue, kPackedOut, kPackedOut,
           kPackedSums, kPackedSums, kSink},
          {kPackedQuery, kPackedQueryRope, kPackedKeyRope, kSink}),
    {.not_negative = {8}});

// With a sink.
const auto kScoreV3 = Register(
    PORTACL_PHASES(aclnnFlashAttentionScoreV3, c[0], c[1], c[2], nullptr, nullptr, nullptr,
                   c.setting == 0 ? nullptr : c.Zeros(kTemplate, ACL_BOOL), c[3], nullptr, nullptr, nullptr,
                   kScale, 1.0, 0, 0, 4, c.Text("BNSD"), 0, c.setting == 0 ? 0 : 3, 1, c.Unseen(kStatistics),
                   c.OutIf(c.setting == 2, kStatistics), nullptr, c.OutIf(c.setting != 2, kOut, c.Dtype())),
    Cases(kDtypes, {kQuery, kKey, kValue, kSink}, kScoreResults));
const auto kGradV3 = Register(
    PORTACL_PHASES(aclnnFlashAttentionScoreGradV3, c[0], c[1], c[2], c[3], nullptr, nullptr, nullptr,
                   c.Zeros(kTemplate, ACL_BOOL), c[5], c[6], nullptr, c[4], c[7], nullptr, nullptr, nullptr,
                   kScale, 1.0, 0, 0, 4, c.Text("BNSD"), 0, 3, 1, c.OutIf(c.setting == 0, kQuery, c.Dtype()),
                   c.OutIf(c.setting == 1, kKey, c.Dtype()), c.OutIf(c.setting == 2, kValue, c.Dtype()),
                   nullptr, c.OutIf(c.setting == 3, {4})),
    Cases(kDtypes, {kQuery, kKey, kValue, kOut, kOut, kSums, kSums, kSink}, {kQuery, kKey, kValue, kSink}),
    {.not_negative = {6}});

// Sequences of several lengths, one query each, and the logarithms of sums.
std::vector<GivenCase> InferCases() {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kHalves) {
    cases.push_back(Case(dtype, {kQuery, kKey, kValue}, kOut, 0));
    cases.push_back(Case(dtype, {{2, 4, 1, 44}, kKey, kValue}, {2, 4, 1, 27}, 1));
    cases.push_back(Case(dtype, {kQuery, kKey, kValue}, {{2, 4, kQueries, 1}, ACL_FLOAT}, 2));
  }
  return cases;
}
const auto kInfer = Register(
    PORTACL_PHASES(aclnnFusedInferAttentionScore, c[0], c.ListOf(1), c.ListOf(2), nullptr, nullptr, nullptr,
                   c.Ints({530, 301}), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                   nullptr, nullptr, 4, kScale, 0, 0, c.Text("BNSD"), 2, 0, 0, 0, 0, c.setting == 2,
                   c.OutIf(c.setting != 2, kOut, c.Dtype()), c.OutIf(c.setting == 2)),
    InferCases());

// A tensor of the same numbers in each run.
aclTensor* Constant(Call& c, const Shape& shape, aclDataType dtype = ACL_FLOAT) {
  constexpr size_t kNumbers = 1 << 18;
  static std::vector<float> floats(kNumbers);
  static std::vector<uint16_t> halves(kNumbers);
  static std::vector<int32_t> blocks(kNumbers);
  for (size_t i = 0; blocks[0] == 0 && i < kNumbers; ++i) {
    floats[i] = 0.03125f * static_cast<float>(1 + i % 5);
    halves[i] = static_cast<uint16_t>(0x3c00 + i * 7 % 64);
    blocks[kNumbers - 1 - i] = static_cast<int32_t>(((kNumbers - 1 - i) * 2 + 4) % 5);
  }
  void* const numbers = dtype == ACL_FLOAT   ? static_cast<void*>(floats.data())
                        : dtype == ACL_INT32 ? static_cast<void*>(blocks.data())
                                             : halves.data();
  return c.Dense(shape, dtype, numbers);
}

// Rotary parts; slopes; keys of INT8 by scales of tokens, in pieces of blocks; a sink with all of them but the first.
std::vector<GivenCase> ServingCases() {
  const CaseTensor cache = {{5, 2, 2, 128, 32}, ACL_INT8};
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kHalves) {
    for (const size_t setting : {0, 1})
      cases.push_back(Case(dtype, {{2, 4, 37, 44}, kKey, kValue}, {2, 4, 37, 27}, setting));
    cases.push_back(Case(dtype, {{2, 4, 37, 64}, cache, cache}, {2, 4, 37, 64}, 2));
  }
  return cases;
}
const auto kServing =
    Register({"aclnnFusedInferAttentionScoreV5", aclnnFusedInferAttentionScoreV5,
              [](Call& c) {
                const bool has_ropes = c.setting == 0;
                const bool has_slopes = c.setting == 1;
                aclTensor* const query_rope = has_ropes ? Constant(c, {2, 4, 37, 64}, c.Dtype()) : nullptr;
                aclTensor* const key_rope = has_ropes ? Constant(c, {2, 2, kKeys, 64}, c.Dtype()) : nullptr;
                aclTensor* const sink = has_ropes ? nullptr : Constant(c, {4});
                aclTensor* const slopes = has_slopes ? Constant(c, {4}) : nullptr;
                aclTensor* const scales = c.setting == 2 ? Constant(c, {5, 128}) : nullptr;
                aclTensor* const table = c.setting == 2 ? Constant(c, {2, 3}, ACL_INT32) : nullptr;
                return aclnnFusedInferAttentionScoreV5GetWorkspaceSize(
                    c[0], c.ListOf(1), c.ListOf(2), slopes, nullptr, nullptr, c.Ints({300, 111}), nullptr,
                    nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, table, nullptr, nullptr, scales,
                    nullptr, scales, nullptr, nullptr, nullptr, nullptr, query_rope, key_rope, nullptr,
                    nullptr, sink, c.Ints({300}), nullptr, 4, kScale, 0, 0, c.Text("BNSD"), 2, 0, 0, 128, 0,
                    false, 4, 4, 0, has_slopes ? 3 : 0, c[3], nullptr, c.size, c.executor);
              }},
             ServingCases());

// The same list of results thrice, of equal weights.
const auto kUpdate =
    Register(PORTACL_PHASES(aclnnAttentionUpdate, c.ListOf(0), c.ListOf(1), 0, c[2], nullptr),
             Cases(kDtypes, {{{617}, ACL_FLOAT}, {617, 72}}, {{617, 72}}));

// The result and the sum.
const CaseTensor kRingSums = {{3, 4, 61, 8}, ACL_FLOAT};
const std::vector<CaseTensor> kRingInputs = {{61, 3, 4 * 37}, kRingSums, kRingSums,
                                             {61, 3, 4 * 37}, kRingSums, kRingSums};
const auto kRing = Register(PORTACL_PHASES(aclnnRingAttentionUpdate, c[0], c[1], c[2], c[3], c[4], c[5],
                                           nullptr, nullptr, c.OutIf(c.setting == 0, c.ShapeOf(0), c.Dtype()),
                                           c.Unseen(c.ShapeOf(1)), c.OutIf(c.setting == 1, c.ShapeOf(1))),
                            Cases(kDtypes, kRingInputs, {{61, 3, 4 * 37}}) +
                                std::vector<GivenCase>{Case(ACL_FLOAT, kRingInputs, kRingSums, 1)},
                            {.not_negative = {2, 5}});

// Queries, keys and values of INT8 with rotary parts, of latent attention.
const auto kCodes =
    Register(PORTACL_PHASES(aclnnFusedInferAttentionScoreV4, c[0], c.ListOf(1), c.ListOf(2), nullptr, nullptr,
                            nullptr, c.Ints({300, 121}), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                            nullptr, Constant(c, {2, 3}, ACL_INT32), nullptr, nullptr, c[6], nullptr, c[7],
                            nullptr, nullptr, nullptr, nullptr, c[3], c[4], nullptr, c[5], nullptr, 4, 0.001,
                            0, 0, c.Text("BSND"), 1, 0, 0, 128, 0, false, 0, 0, 3, c[8], nullptr),
             Cases({ACL_BF16},
                   {{{2, 5, 4, 128}, ACL_INT8},
                    {{5, 1, 4, 128, 32}, ACL_INT8},
                    {{5, 1, 4, 128, 32}, ACL_INT8},
                    {2, 5, 4, 64},
                    {5, 1, 4, 128, 16},
                    {{2, 5, 4}, ACL_FLOAT},
                    {{1}, ACL_FLOAT},
                    {{1}, ACL_FLOAT}},
                   {{2, 5, 4, 128}}));

}  // namespace
}  // namespace portacl::testing
