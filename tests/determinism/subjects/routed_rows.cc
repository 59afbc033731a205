// Rows routed to experts and back for the determinism test, with all that such a function writes: rows, places, counts, scales.
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "aclnnop/families/moe.h"
#include "determinism/coded_calls.h"

namespace portacl::testing {
namespace {

constexpr int64_t kTokens = 29, kEntries = 3, kColumns = 88, kExperts = 6;
constexpr int64_t kRows = kTokens * kEntries;
constexpr int64_t kCapacity = 9;
const Shape kOfTokens = {kTokens, kColumns};
const Shape kOfRows = {kRows, kColumns};
const Shape kChoice = {kTokens, kEntries};
const Shape kOfExperts = {kTokens, kExperts};
const Shape kDropped = {kExperts, kCapacity, kColumns};
const std::vector<DtypeNumber> kAll = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
const CaseTensor kExpertIds = {kChoice, ACL_INT32, kExperts};

// Each place once, in an order of its own.
aclTensor* Places(CodedCall& c, const Shape& shape = {kRows}) {
  std::vector<int32_t> places(kRows);
  for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int32_t>(i * 32 % kRows);
  return c.Integers(places, ACL_INT32, shape);
}
// Three experts of each token.
aclTensor* Map(CodedCall& c) {
  std::vector<int8_t> map(kTokens * kExperts);
  for (size_t i = 0; i < map.size(); ++i) map[i] = i % 2 == i / kExperts % 2 ? 1 : 0;
  return c.Integers(map, ACL_BOOL, kOfExperts);
}

const SubjectRegistration kPermuted[] = {
    Coded("aclnnMoeTokenPermute", aclnnMoeTokenPermute, nullptr, kAll, {{kOfTokens}, kExpertIds}, 2,
          [](CodedCall& c) {
            const int64_t rows = c.setting == 0 ? kRows : 50;
            aclTensor* const first_out = c.Out({rows, kColumns}, c.Dtype());
            aclTensor* const second_out = c.Out({kRows}, ACL_INT32);
            return aclnnMoeTokenPermuteGetWorkspaceSize(c[0], c[1], rows, false, first_out, second_out,
                                                        c.size, c.executor);
          }),
    Coded("aclnnMoeTokenPermuteGrad", aclnnMoeTokenPermuteGrad, nullptr, kAll, {{kOfRows}}, 1,
          [](CodedCall& c) {
            return aclnnMoeTokenPermuteGradGetWorkspaceSize(c[0], Places(c), kEntries, false,
                                                            c.Out(kOfTokens, c.Dtype()), c.size, c.executor);
          }),
    Coded("aclnnMoeTokenPermuteWithRoutingMap", aclnnMoeTokenPermuteWithRoutingMap, nullptr, kAll,
          {{kOfTokens}, {kOfExperts}}, 2,
          [](CodedCall& c) {
            const int64_t rows = c.setting == 0 ? kRows : kExperts * kCapacity;
            aclTensor* const to = c.Out({rows, kColumns}, c.Dtype());
            aclTensor* const probs = c.Out({rows}, c.Dtype());
            return aclnnMoeTokenPermuteWithRoutingMapGetWorkspaceSize(
                c[0], Map(c), c[1], rows, c.setting == 1, to, probs, c.Out({rows}, ACL_INT32), c.size,
                c.executor);
          }),
    Coded("aclnnMoeTokenPermuteWithRoutingMapGrad", aclnnMoeTokenPermuteWithRoutingMapGrad, nullptr, kAll,
          {{kOfRows}, {{kRows}}}, 1,
          [](CodedCall& c) {
            aclTensor* const first_out = c.Out(kOfTokens, c.Dtype());
            aclTensor* const second_out = c.Out(kOfExperts, c.Dtype());
            return aclnnMoeTokenPermuteWithRoutingMapGradGetWorkspaceSize(c[0], c[1], Places(c), Map(c),
                                                                          kExperts, kTokens, false, first_out,
                                                                          second_out, c.size, c.executor);
          }),
    Coded("aclnnMoeTokenUnpermuteWithRoutingMap", aclnnMoeTokenUnpermuteWithRoutingMap, nullptr, kAll,
          {{kOfRows}, {kOfExperts}}, 1,
          [](CodedCall& c) {
            aclTensor* const to = c.Out(kOfTokens, c.Dtype());
            return aclnnMoeTokenUnpermuteWithRoutingMapGetWorkspaceSize(
                c[0], Places(c), Map(c), c[1], false, nullptr, to, nullptr, nullptr,
                c.Out({kRows}, c.Dtype()), c.size, c.executor);
          }),
    Coded("aclnnMoeTokenUnpermuteWithRoutingMapGrad", aclnnMoeTokenUnpermuteWithRoutingMapGrad, nullptr, kAll,
          {{kOfTokens}, {kOfRows}, {kOfExperts}}, 1,
          [](CodedCall& c) {
            aclTensor* const first_out = c.Out(kOfRows, c.Dtype());
            aclTensor* const second_out = c.Out(kOfExperts, c.Dtype());
            return aclnnMoeTokenUnpermuteWithRoutingMapGradGetWorkspaceSize(
                c[0], Places(c), Places(c), Map(c), c[1], c[2], false, nullptr, first_out, second_out, c.size,
                c.executor);
          }),
    Coded("aclnnMoeReRouting", aclnnMoeReRouting, nullptr, {ACL_FLOAT16, ACL_BF16}, {{kOfRows}}, 1,
          [](CodedCall& c) {
            aclTensor* const to = c.Out(kOfRows, c.Dtype());
            aclTensor* const scales = c.Out({kRows}, ACL_FLOAT);
            aclTensor* const places = c.Out({kRows}, ACL_INT32);
            return aclnnMoeReRoutingGetWorkspaceSize(
                c[0], c.Integers<int64_t>({20, 0, 30, 7, 29, 1}, ACL_INT64, {2, 3}), c.In({kRows}, ACL_FLOAT),
                1, 0, to, scales, places, c.Out({3}, ACL_INT64), c.size, c.executor);
          }),
    Coded("aclnnMoeReRouting_950", aclnnMoeReRouting, kAscend950, {ACL_INT8}, {}, 3,
          [](CodedCall& c) {
            const aclDataType codes[] = {ACL_FLOAT8_E4M3FN, ACL_HIFLOAT8, ACL_FLOAT4_E2M1};
            aclTensor* const to = c.Out(kOfRows, codes[c.setting]);
            aclTensor* const scales = c.Out({kRows}, ACL_FLOAT);
            aclTensor* const places = c.Out({kRows}, ACL_INT32);
            return aclnnMoeReRoutingGetWorkspaceSize(
                c.In(kOfRows, codes[c.setting]),
                c.Integers<int64_t>({20, 0, 30, 7, 29, 1}, ACL_INT64, {2, 3}), c.In({kRows}, ACL_FLOAT), 1, 1,
                to, scales, places, c.Out({3}, ACL_INT64), c.size, c.executor);
          }),
    Coded("aclnnMoeUpdateExpert", aclnnMoeUpdateExpert, kAscend950, kAll, {{kChoice}, kExpertIds}, 2,
          [](CodedCall& c) {
            aclTensor* const table = c.Integers<int32_t>(
                {1, 3, 0, 2, 1, 7, 3, 2, 1, 1, 9, 0, 2, 4, 5, 1, 6, 0}, ACL_INT32, {kExperts, 3});
            aclTensor* const ids = c.Out(kChoice, ACL_INT32);
            return aclnnMoeUpdateExpertGetWorkspaceSize(c[1], table, c[0], c.In({kEntries}, ACL_FLOAT),
                                                        nullptr, 1, 2, c.setting, ids,
                                                        c.Out(kChoice, ACL_BOOL), c.size, c.executor);
          }),
};

const SubjectRegistration kChosen[] = {
    Coded("aclnnMoeGatingTopKV2", aclnnMoeGatingTopKV2, nullptr, kAll, {{{kTokens, 48}}, {{48}}}, 2,
          [](CodedCall& c) {
            aclTensor* const y = c.Out({kTokens, 4}, c.Dtype());
            aclTensor* const chosen = c.Out({kTokens, 4}, ACL_INT32);
            return aclnnMoeGatingTopKV2GetWorkspaceSize(c[0], c[1], nullptr, nullptr, 4, 1, 1, 0, 0,
                                                        c.setting, true, 2.5, 1e-20, y, chosen,
                                                        c.Out({kTokens, 48}, ACL_FLOAT), c.size, c.executor);
          }),
    Coded("aclnnMoeGatingTopKV2_950", aclnnMoeGatingTopKV2, kAscend950, kAll,
          {{{kTokens, 48}}, {{kTokens}, ACL_INT32, 7}, {{7, 4}, ACL_INT32, 48}}, 2,
          [](CodedCall& c) {
            const bool has_hash = c.setting == 1;
            aclTensor* const y = c.Out({kTokens, 4}, c.Dtype());
            aclTensor* const chosen = c.Out({kTokens, 4}, ACL_INT32);
            return aclnnMoeGatingTopKV2GetWorkspaceSize(
                c[0], nullptr, has_hash ? c[1] : nullptr, has_hash ? c[2] : nullptr, 4, 1, 1, 0, 0, 2, true,
                2.5, 1e-20, y, chosen, c.Out({kTokens, 48}, ACL_FLOAT), c.size, c.executor);
          }),
    Coded("aclnnMoeGatingTopKSoftmax", aclnnMoeGatingTopKSoftmax, nullptr, kAll, {{{kTokens, 48}}}, 1,
          [](CodedCall& c) {
            aclTensor* const y = c.Out({kTokens, 4}, c.Dtype());
            aclTensor* const chosen = c.Out({kTokens, 4}, ACL_INT32);
            return aclnnMoeGatingTopKSoftmaxGetWorkspaceSize(
                c[0], nullptr, 4, y, chosen, c.Out({kTokens, 4}, ACL_INT32), c.size, c.executor);
          }),
    Coded("aclnnMoeComputeExpertTokens", aclnnMoeComputeExpertTokens, nullptr, {ACL_INT32}, {}, 1,
          [](CodedCall& c) {
            return aclnnMoeComputeExpertTokensGetWorkspaceSize(
                c.Integers<int32_t>({0, 0, 1, 1, 1, 3, 4, 4, 7}, ACL_INT32), 8, c.Out({8}, ACL_INT32), c.size,
                c.executor);
          }),
};

const SubjectRegistration kRouted[] = {
    Coded("aclnnMoeInitRouting", aclnnMoeInitRouting, nullptr, kAll, {{kOfTokens}, kExpertIds}, 1,
          [](CodedCall& c) {
            std::vector<int32_t> columns(kRows);
            for (size_t i = 0; i < columns.size(); ++i)
              columns[i] = static_cast<int32_t>(i % kEntries * kTokens + i / kEntries);
            aclTensor* const to = c.Out({20 * kEntries, kColumns}, c.Dtype());
            aclTensor* const places = c.Out({kRows}, ACL_INT32);
            return aclnnMoeInitRoutingGetWorkspaceSize(c[0], c.Integers(columns, ACL_INT32, kChoice), c[1],
                                                       20, to, places, c.Out({kRows}, ACL_INT32), c.size,
                                                       c.executor);
          }),
    Coded("aclnnMoeInitRoutingV2", aclnnMoeInitRoutingV2, nullptr, kAll, {{kOfTokens}, kExpertIds}, 2,
          [](CodedCall& c) {
            const bool drops = c.setting == 1;
            aclTensor* const to = c.Out(drops ? kDropped : kOfRows, c.Dtype());
            aclTensor* const places = c.Out({kRows}, ACL_INT32);
            aclTensor* const counts = c.Out({kExperts}, ACL_INT32);
            return aclnnMoeInitRoutingV2GetWorkspaceSize(
                c[0], c[1], 0, drops ? kCapacity : 0, kExperts, drops ? 1 : 0, drops ? 0 : 1, drops, to,
                places, drops ? nullptr : counts, drops ? counts : nullptr, c.size, c.executor);
          }),
    Coded("aclnnMoeInitRoutingV2Grad", aclnnMoeInitRoutingV2Grad, nullptr, kAll, {{kOfRows}}, 1,
          [](CodedCall& c) {
            return aclnnMoeInitRoutingV2GradGetWorkspaceSize(c[0], Places(c), kEntries, 0, 0,
                                                             c.Out(kOfTokens, c.Dtype()), c.size, c.executor);
          }),
    Coded("aclnnMoeInitRoutingQuantV2_codes", aclnnMoeInitRoutingQuantV2, nullptr, kAll,
          {{kOfTokens}, kExpertIds, {{kExperts, kColumns}, ACL_FLOAT}}, 2,
          [](CodedCall& c) {
            const bool drops = c.setting == 1;
            aclTensor* const to = c.Out(drops ? kDropped : kOfRows, ACL_INT8);
            aclTensor* const places = c.Out({kRows}, ACL_INT32);
            return aclnnMoeInitRoutingQuantV2GetWorkspaceSize(
                c[0], c[1], c[2], nullptr, 0, drops ? kCapacity : 0, kExperts, drops ? 1 : 0, 0, false, 1, to,
                places, nullptr, nullptr, c.Out({drops ? kExperts * kCapacity : kRows}, ACL_FLOAT), c.size,
                c.executor);
          }),
    // Copies with scales, one scale for all, scales of rows, and of dropped rows.
    Coded("aclnnMoeInitRoutingV3", aclnnMoeInitRoutingV3, nullptr, kAll,
          {{kOfTokens}, kExpertIds, {{1}, ACL_FLOAT}}, 4,
          [](CodedCall& c) {
            const bool drops = c.setting == 3;
            const int64_t modes[] = {-1, 0, 1, 1};
            const aclIntArray* const range = c.Ints({drops ? 0 : 1, drops ? kExperts : 5});
            aclTensor* const to =
                c.Out(drops ? kDropped : kOfRows, c.setting == 0 ? c.Dtype() : aclDataType{ACL_INT8});
            aclTensor* const scale = c.setting == 0   ? c.In({kTokens}, ACL_FLOAT)
                                     : c.setting == 1 ? c[2]
                                                      : nullptr;
            aclTensor* const places = c.Out({kRows}, ACL_INT32);
            aclTensor* const counts = c.Out({drops ? kExperts : 4}, ACL_INT64);
            return aclnnMoeInitRoutingV3GetWorkspaceSize(
                c[0], c[1], scale, c.setting == 1 ? c[2] : nullptr, -1, drops ? kCapacity : 0, kExperts,
                drops ? 1 : 0, 1, true, modes[c.setting], range, 0, to, places, counts,
                c.Out({drops ? kExperts * kCapacity : kRows}, ACL_FLOAT), c.size, c.executor);
          }),
    Coded("aclnnMoeInitRoutingCustom", aclnnMoeInitRoutingCustom, nullptr, kAll, {{kOfTokens}, kExpertIds}, 1,
          [](CodedCall& c) {
            const aclIntArray* const range = c.Ints({0, kExperts});
            aclTensor* const to = c.Out(kOfRows, ACL_INT8);
            aclTensor* const places = c.Out({kRows}, ACL_INT32);
            aclTensor* const counts = c.Out({kExperts, 2}, ACL_INT64);
            return aclnnMoeInitRoutingCustomGetWorkspaceSize(c[0], c[1], nullptr, nullptr, kRows, 0, kExperts,
                                                             0, 2, true, 1, range, 1, to, places, counts,
                                                             c.Out({kRows}, ACL_FLOAT), c.size, c.executor);
          }),
    // Modes of Ascend 950 that are no others with less: one scale for all, FLOAT4, INT4, greatest magnitudes with a least one.
    Coded("aclnnMoeInitRoutingV3_packed", aclnnMoeInitRoutingV3, kAscend950, {ACL_FLOAT, ACL_BF16},
          {{kOfTokens}, kExpertIds, {{1}, ACL_FLOAT}}, 5,
          [](CodedCall& c) {
            struct Mode {
              int64_t mode;
              aclDataType codes;
              Shape scales;
              aclDataType of_scales;
            };
            static const Mode modes[] = {{7, ACL_HIFLOAT8, {kRows}, ACL_FLOAT},
                                         {9, ACL_FLOAT4_E2M1, {kRows, 2, 2}, ACL_FLOAT8_E8M0},
                                         {13, ACL_INT4, {kRows}, ACL_FLOAT},
                                         {14, ACL_FLOAT8_E5M2, {kRows, 1}, ACL_FLOAT},
                                         {16, ACL_FLOAT8_E5M2, {kRows, 4}, ACL_FLOAT8_E8M0}};
            const Mode& mode = modes[c.setting];
            const aclIntArray* const range = c.Ints({0, kExperts});
            aclTensor* const to = c.Out(kOfRows, mode.codes);
            aclTensor* const places = c.Out({kRows}, ACL_INT32);
            aclTensor* const counts = c.Out({kExperts}, ACL_INT64);
            return aclnnMoeInitRoutingV3GetWorkspaceSize(
                c[0], c[1], mode.mode == 7 ? c[2] : nullptr, nullptr, -1, 0, kExperts, 0, 1, true, mode.mode,
                range, 0, to, places, counts, c.Out(mode.scales, mode.of_scales), c.size, c.executor);
          }),
    Coded("aclnnMoeFinalizeRouting", aclnnMoeFinalizeRouting, nullptr, kAll,
          {{kOfRows}, {kOfTokens}, {{kExperts, kColumns}}, {kChoice}, kExpertIds}, 1,
          [](CodedCall& c) {
            return aclnnMoeFinalizeRoutingGetWorkspaceSize(c[0], c[1], c[1], c[2], c[3], Places(c), c[4],
                                                           c.Out(kOfTokens, c.Dtype()), c.size, c.executor);
          }),
    Coded("aclnnMoeFinalizeRoutingV4", aclnnMoeFinalizeRoutingV4, nullptr, kAll,
          {{kOfRows}, {kOfTokens}, {{kExperts, kColumns}}, {kChoice}, kExpertIds, {{1}}}, 2,
          [](CodedCall& c) {
            const aclIntArray* const zero = c.Ints({4, 5});
            const aclIntArray* const copied = c.Ints({5, 6});
            const aclIntArray* const constant = c.Ints({3, 4});
            const aclIntArray* const none = c.Ints({-1, -1});
            const bool has = c.setting == 1;
            return aclnnMoeFinalizeRoutingV4GetWorkspaceSize(
                c[0], Places(c), c[1], nullptr, c[2], c[3], c[4], has ? c[1] : nullptr, has ? c[5] : nullptr,
                has ? c[5] : nullptr, has ? c.In({1, kColumns}, c.Dtype()) : nullptr, 2, has ? zero : none,
                has ? copied : none, has ? constant : none, kEntries, c.Out(kOfTokens, c.Dtype()), c.size,
                c.executor);
          }),
    Coded("aclnnMoeFinalizeRoutingV2Grad", aclnnMoeFinalizeRoutingV2Grad, nullptr, kAll,
          {{kOfTokens}, {kOfRows}, {kChoice}, kExpertIds, {{kExperts, kColumns}}}, 1,
          [](CodedCall& c) {
            aclTensor* const first_out = c.Out(kOfRows, c.Dtype());
            aclTensor* const second_out = c.Out(kChoice, c.Dtype());
            return aclnnMoeFinalizeRoutingV2GradGetWorkspaceSize(c[0], Places(c), c[1], c[2], c[3], c[4], 0,
                                                                 0, kExperts, 0, first_out, second_out,
                                                                 c.size, c.executor);
          }),
};

}  // namespace
}  // namespace portacl::testing
