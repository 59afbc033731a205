// Rows for caches, samples and linear attention for the determinism test. Each result that is computed is hashed in a setting of its own.
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "aclnnop/families/serving.h"
#include "determinism/calls.h"

namespace portacl::testing {
namespace {

const std::vector<DtypeNumber> kFloats = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
const std::vector<DtypeNumber> kHalves = {ACL_FLOAT16, ACL_BF16};
// Plain code as phase 1 sees it: exponentials and sums of states alone are compiled for each instruction set.
const Traits kPlain = {.is_plain_code = true};

constexpr int64_t kBatches = 3;
constexpr int64_t kSteps = 29;
constexpr int64_t kTokens = kBatches * kSteps;
constexpr int64_t kSlots = 128;

const auto kSegments = Register(PORTACL_PHASES(aclnnExpSegsum, c[0], c[1]),
                                Cases(kFloats, {{3, 5, 61}}, {{3, 5, 61, 61}}), kPlain);
const auto kSegmentsGradient = Register(PORTACL_PHASES(aclnnExpSegsumBackward, c[0], c[1], c[2]),
                                        Cases(kFloats, {{3, 61, 61}, {3, 61, 61}}, {{3, 61}}), kPlain);
const auto kTransport = Register(PORTACL_PHASES(aclnnSinkhorn, c[0], nullptr, c[1]),
                                 Cases(kFloats, {{97, 301}}, {{97, 301}}), kPlain);

// Values, and keys.
const auto kLatent =
    Register(PORTACL_PHASES(aclnnKvRmsNormRopeCache, c[0], c[1], c[2], c[3], c[4],
                            c.Unseen({1, kSlots, 1, 64}, c.Dtype()), c.Unseen({1, kSlots, 1, 512}, c.Dtype()),
                            nullptr, nullptr, nullptr, nullptr, 1e-5, c.Text("PA"), true,
                            c.OutIf(c.setting != 0, {kBatches, 1, kSteps, 64}, c.Dtype()),
                            c.OutIf(c.setting == 0, {kBatches, 1, kSteps, 512}, c.Dtype())),
             Cases(kHalves,
                   {{kBatches, 1, kSteps, 576},
                    {512},
                    {kBatches, 1, kSteps, 64},
                    {kBatches, 1, kSteps, 64},
                    {{kTokens}, ACL_INT64, kSlots}},
                   {{kBatches, 1, kSteps, 512}, {kBatches, 1, kSteps, 64}}),
             kPlain);

const auto kHeads = Register(
    PORTACL_PHASES(aclnnQkvRmsNormRopeCache, c[0], c[1], c[2], c[3], c[4], c[5], c[6],
                   c.Unseen({1, 64 / 16, kSlots, 16}, c.Dtype()),
                   c.Unseen({1, 64 / 16, kSlots, 16}, c.Dtype()), nullptr, nullptr, nullptr, nullptr,
                   c.Ints({kBatches, kSteps, 6, 64}), c.Ints({4, 1, 1}), 1e-6, nullptr, nullptr, nullptr,
                   nullptr),
    Cases(kHalves, {{kTokens, 384}, {64}, {64}, {kTokens, 64}, {kTokens, 64}, {{kTokens}, ACL_INT64, kSlots}},
          {{kTokens, 256}}),
    kPlain);

// The probabilities that are left, and the logits.
const auto kSamples =
    Register(PORTACL_PHASES(aclnnTopKTopPSampleV2, c[0], c[1], c[2], nullptr, c[3], 1e-8, c.setting != 0, 32,
                            1024, true, c.setting == 0, c.Unseen({31}, ACL_INT64),
                            c.OutIf(c.setting != 0, {31, 1203}, ACL_FLOAT), c.Unseen({31, 1203}, ACL_INT64),
                            c.OutIf(c.setting == 0, {31, 1203}, ACL_FLOAT)),
             Cases(kFloats, {{31, 1203}, {{31}, ACL_INT32, 1100}, {31}, {31}},
                   {{{31, 1203}, ACL_FLOAT}, {{31, 1203}, ACL_FLOAT}}),
             kPlain);

// Results, and states.
const auto kRule = Register(PORTACL_PHASES(aclnnChunkGatedDeltaRule, c[0], c[1], c[2], c[3], c[4], c[5],
                                           0.125f, c[6], c.OutIf(c.setting == 0, {43, 4, 37}, ACL_BF16),
                                           c.OutIf(c.setting != 0, {1, 4, 37, 71}, ACL_BF16)),
                            Cases({ACL_BF16},
                                  {{43, 2, 71},
                                   {43, 2, 71},
                                   {43, 4, 37},
                                   {43, 4},
                                   {1, 4, 37, 71},
                                   {{1}, ACL_INT32, 44, 43},
                                   {{43, 4}, ACL_FLOAT}},
                                  {{43, 4, 37}, {1, 4, 37, 71}}),
                            kPlain);

const auto kConvolution = Register(PORTACL_PHASES(aclnnMaskedCausalConv1d, c[0], c[1], nullptr, c[2]),
                                   Cases(kFloats, {{19, 3, 531}, {3, 531}}, {{19, 3, 531}}), kPlain);

// Which keys score highest, and their scores.
const auto kRanked =
    Register(PORTACL_PHASES(aclnnLightningIndexer, c[0], c[1], c[2], nullptr, nullptr, nullptr, nullptr,
                            nullptr, 29, 3, 0, 0, true, c.Unseen({2, 3, 1, 29}, ACL_INT32), c[3]),
             Cases(kHalves, {{2, 3, 17, 128}, {2, 71, 1, 128}, {2, 3, 17}}, {{2, 3, 1, 29}}), kPlain);

// Results, and the statistics of rows.
const auto kSparse = Register(
    PORTACL_PHASES(aclnnSparseFlashAttentionV2, c[0], c[1], c[1], c[2], nullptr, nullptr, nullptr, c[3], c[4],
                   c[5], 0.04, 16, nullptr, nullptr, 0, 0, 0, 2, c.setting != 0,
                   c.OutIf(c.setting == 0, {2, 3, 5, 512}, c.Dtype()), c.Unseen({2, 1, 3, 5}, ACL_FLOAT),
                   c.OutIf(c.setting != 0, {2, 1, 3, 5}, ACL_FLOAT)),
    Cases(kHalves,
          {{2, 3, 5, 512},
           {2, 71, 1, 512},
           {{2, 3, 1, 4}, ACL_INT32, 5},
           {2, 3, 5, 64},
           {2, 71, 1, 64},
           {{5}, ACL_FLOAT}},
          {{2, 3, 5, 512}, {{2, 1, 3, 5}, ACL_FLOAT}}),
    kPlain);

// Results of marked blocks, and the logarithms of their sums.
const auto kMarked =
    Register(PORTACL_PHASES(aclnnBlockSparseAttention, c[0], c[1], c[2], c[3], nullptr, c.Ints({4, 16}),
                            nullptr, nullptr, nullptr, c.Text("BNSD"), c.Text("BNSD"), 2, 0, 0.125, 0, 0, 0,
                            0, 1, c.OutIf(c.setting == 0, {2, 4, 13, 37}, c.Dtype()),
                            c.OutIf(c.setting != 0, {2, 4, 13, 1})),
             Cases(kHalves, {{2, 4, 13, 71}, {2, 2, 91, 71}, {2, 2, 91, 37}, {{2, 4, 4, 6}, ACL_INT8, 2}},
                   {{2, 4, 13, 37}, {{2, 4, 13, 1}, ACL_FLOAT}}),
             kPlain);

const auto kCompressed =
    Register(PORTACL_PHASES(aclnnNsaCompress, c[0], c[1], c.Ints({40, 91}), nullptr, 16, 8, 0, c[2]),
             Cases(kHalves, {{91, 3, 61}, {16, 3}}, {{9, 3, 61}}), kPlain);

// The gradients of rows, and of weights.
const auto kCompressedGrad =
    Register(PORTACL_PHASES(aclnnNsaCompressGrad, c[0], c[1], c[2], c.Ints({40, 91}), 16, 8, 0, nullptr,
                            c.OutIf(c.setting == 0, {91, 3, 61}, c.Dtype()),
                            c.OutIf(c.setting != 0, {16, 3}, c.Dtype())),
             Cases(kHalves, {{9, 3, 61}, {91, 3, 61}, {16, 3}}, {{91, 3, 61}, {16, 3}}), kPlain);

// Queries, and their rotary parts; of weights that are numbers, and of codes.
std::vector<GivenCase> LatentCases(DtypeNumber up) {
  return Cases({ACL_BF16},
               {{43, 131},
                {131, 61},
                {{61, 3 * (37 + 32)}, up},
                {3, 37, 80},
                {131, 112},
                {61},
                {80},
                {43, 32},
                {43, 32},
                {{1, 3 * (37 + 32)}, ACL_FLOAT}},
               {{43, 3, 80}, {43, 3, 32}});
}
const auto kLatentQueries =
    Register(PORTACL_PHASES(aclnnMlaPrologV3WeightNz, c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8],
                            c.Unseen({1, kSlots, 1, 80}, ACL_BF16), c.Unseen({1, kSlots, 1, 32}, ACL_BF16),
                            c.Unseen({43}, ACL_INT64), nullptr, nullptr, c[9], nullptr, nullptr, nullptr,
                            nullptr, nullptr, nullptr, 1e-5, 1e-5, c.Text("PA_NZ"), 0, 0, 0, 0, 0, 128, 1.5,
                            0.5, c.OutIf(c.setting == 0, {43, 3, 80}, ACL_BF16),
                            c.OutIf(c.setting != 0, {43, 3, 32}, ACL_BF16), nullptr, nullptr, nullptr),
             LatentCases(ACL_BF16) + LatentCases(ACL_INT8), kPlain);

// Which quantised keys score highest.
const auto kQuantRanked = Register(
    PORTACL_PHASES(aclnnQuantLightningIndexer, c[0], c[1], c[2], c[3], c[4], nullptr, nullptr, nullptr, 0, 0,
                   nullptr, nullptr, 29, 3, 0, 0, c[5]),
    Cases({ACL_FLOAT16},
          {{{2, 3, 17, 128}, ACL_INT8}, {{2, 71, 1, 128}, ACL_INT8}, {2, 3, 17}, {2, 3, 17}, {2, 71, 1}},
          {{{2, 3, 1, 29}, ACL_INT32}}),
    kPlain);

// Attention to selected blocks, to compressed keys, and of one query to pages of either.
const Shape kQueries = {43, 4, 71};
const Shape kKeys = {91, 2, 71};
const Shape kValues = {91, 2, 37};
const Shape kResults = {43, 4, 37};
const Shape kSums = {43, 4, 8};
const CaseTensor kChosenBlocks = {{43, 2, 3}, ACL_INT32, 6};

const auto kChosen = Register(
    PORTACL_PHASES(aclnnNsaSelectedAttention, c[0], c[1], c[2], c[3], nullptr, c.Ints({20, 43}),
                   c.Ints({40, 91}), 0.125, 4, c.Text("TND"), 2, 8, 3, c.Unseen(kSums, ACL_FLOAT),
                   c.OutIf(c.setting != 0, kSums), c.OutIf(c.setting == 0, kResults, c.Dtype())),
    Cases(kHalves, {kQueries, kKeys, kValues, kChosenBlocks}, {kResults, {kSums, ACL_FLOAT}}), kPlain);

const auto kChosenGrad = Register(
    PORTACL_PHASES(aclnnNsaSelectedAttentionGrad, c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7],
                   c.Ints({20, 43}), c.Ints({40, 91}), nullptr, 0.125, 8, 3, 4, c.Text("TND"), 2,
                   c.OutIf(c.setting == 0, kQueries, c.Dtype()), c.OutIf(c.setting == 1, kKeys, c.Dtype()),
                   c.OutIf(c.setting == 2, kValues, c.Dtype())),
    Cases(
        kHalves,
        {kQueries, kKeys, kValues, kResults, kResults, {kSums, ACL_FLOAT}, {kSums, ACL_FLOAT}, kChosenBlocks},
        {kQueries, kKeys, kValues}),
    {.not_negative = {6}, .is_plain_code = true});

const auto kOfCompressed =
    Register(PORTACL_PHASES(aclnnNsaCompressAttention, c[0], c[1], c[2], nullptr, nullptr, c.Ints({20, 43}),
                            c.Ints({40, 91}), c.Ints({10, 23}), 0.125, 4, c.Text("TND"), 1, 32, 16, 64, 5,
                            c.Unseen(kSums, ACL_FLOAT), c.OutIf(c.setting != 0, kSums),
                            c.OutIf(c.setting == 0, kResults, c.Dtype()), c.Unseen({43, 2, 5}, ACL_INT32)),
             Cases(kHalves, {kQueries, kKeys, kValues}, {kResults, {kSums, ACL_FLOAT}}), kPlain);

const auto kOfPages = Register(
    PORTACL_PHASES(aclnnNsaSelectedAttentionInfer, c[0], c[1], c[2], c[3], nullptr, c[4], nullptr,
                   c.Ints({40, 64, 9}), c.Text("TND"), 4, 2, 8, 3, 16, 0.125, 0, c[5]),
    Cases(kHalves, {{3, 4, 71}, {7, 16, 142}, {7, 16, 74}, {{3, 2, 3}, ACL_INT32, 6}, {{3, 4}, ACL_INT32, 7}},
          {{3, 4, 37}}),
    kPlain);

const auto kRankedPages = Register(
    PORTACL_PHASES(aclnnNsaCompressAttentionInfer, c[0], c[1], c[2], nullptr, c[3], nullptr,
                   c.Ints({40, 64, 9}), nullptr, nullptr, 4, 2, 64, 5, 32, 16, 0.125, c.Text("TND"), 16, 0,
                   c[4], c.Unseen({3, 2, 5}, ACL_INT32)),
    Cases(kHalves, {{3, 4, 71}, {7, 16, 142}, {7, 16, 74}, {{3, 4}, ACL_INT32, 7}}, {{3, 4, 37}}), kPlain);

}  // namespace
}  // namespace portacl::testing
