// Rows routed to experts and back for the determinism test: sums of several rows for each token, weights, groups of experts. Each result
// that is computed is hashed in a setting of its own.
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "aclnnop/families/moe.h"
#include "determinism/calls.h"

namespace portacl::testing {
namespace {

constexpr int64_t kTokens = 97;
constexpr int64_t kEntries = 3;
constexpr int64_t kColumns = 531;
constexpr int64_t kExperts = 12;
constexpr int64_t kRows = kTokens * kEntries;
const std::vector<DtypeNumber> kDtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
// Plain code as phase 1 sees it: exponentials alone are compiled for each instruction set.
const Traits kPlain = {.is_plain_code = true};

// Ends of groups of rows, and how many rows groups have.
aclTensor* GroupsOf(Call& c) {
  static int64_t groups[2][3] = {{30, 31, 97}, {40, 0, 50}};
  return c.Dense({3}, ACL_INT64, groups[c.setting]);
}
const auto kGroupedBias = Register(PORTACL_PHASES(aclnnGroupedBiasAddGrad, c[0], GroupsOf(c), c[1]),
                                   Cases(kDtypes, {{kTokens, kColumns}}, {{3, kColumns}}), kPlain);
const auto kGroupedBiasV2 =
    Register(PORTACL_PHASES(aclnnGroupedBiasAddGradV2, c[0], GroupsOf(c), c.setting, c[1]),
             Cases(kDtypes, {{kTokens, kColumns}}, {{3, kColumns}, {3, kColumns}}), kPlain);
const auto kUnpermute =
    Register(PORTACL_PHASES(aclnnMoeTokenUnpermute, c[0], c[1], c[2], false, nullptr, c[3]),
             Cases(kDtypes, {{kRows, kColumns}, {{kRows}, ACL_INT32, kRows}, {kTokens, kEntries}},
                   {{kTokens, kColumns}}),
             kPlain);

const auto kUnpermuteGrad = Register(
    PORTACL_PHASES(aclnnMoeTokenUnpermuteGrad, c[0], c[1], c[2], c[3], false, nullptr,
                   c.Unseen({kRows, kColumns}, c.Dtype()), c[4]),
    Cases(kDtypes, {{kRows, kColumns}, {kTokens, kColumns}, {{kRows}, ACL_INT32, kRows}, {kTokens, kEntries}},
          {{kTokens, kEntries}}),
    kPlain);

const auto kFinalize = Register(PORTACL_PHASES(aclnnMoeFinalizeRoutingV2, c[0], c[1], c[2], nullptr, c[3],
                                               c[4], c[5], c.setting == 0 ? 0 : 2, c[6]),
                                Cases(kDtypes,
                                      {{kRows, kColumns},
                                       {{kRows}, ACL_INT32, kRows},
                                       {kTokens, kColumns},
                                       {kExperts, kColumns},
                                       {kTokens, kEntries},
                                       {{kTokens, kEntries}, ACL_INT32, kExperts}},
                                      {{kTokens, kColumns}, {kTokens, kColumns}}),
                                kPlain);

const auto kQuantised = Register(
    PORTACL_PHASES(aclnnMoeInitRoutingQuantV2, c[0], c[1], nullptr, nullptr, 0, 0, kExperts, 0, 2, false, 1,
                   c.Unseen({kRows, kColumns}, ACL_INT8), c.Unseen({kRows}, ACL_INT32),
                   c.Unseen({kExperts}, ACL_INT32), nullptr, c[2]),
    Cases(kDtypes, {{kTokens, kColumns}, {{kTokens, kEntries}, ACL_INT32, kExperts}}, {{{kRows}, ACL_FLOAT}}),
    kPlain);

// The values of the chosen, and those of all.
const auto kGate =
    Register(PORTACL_PHASES(aclnnMoeGatingTopK, c[0], c[1], 4, 2, 4, c.setting % 2, 0, c.setting / 2, false,
                            2.5, 1e-20, c[2], c.Unseen({kTokens, 4}, ACL_INT32), c.Unseen({kTokens, 48})),
             Cases(kDtypes, {{kTokens, 48}, {48}}, std::vector<CaseTensor>(4, {kTokens, 4})), kPlain);

const auto kSoftmax = Register(PORTACL_PHASES(aclnnMoeGatingTopKSoftmaxV2, c[0], nullptr, 4, c.setting, false,
                                              c[1], c.Unseen({kTokens, 4}, ACL_INT32), nullptr),
                               Cases(kDtypes, {{kTokens, 48}}, {{kTokens, 4}, {kTokens, 4}}), kPlain);

const auto kGateGradient =
    Register(PORTACL_PHASES(aclnnMoeGatingTopKBackward, c[0], c[1], c[2], 0, 1, 2.5, 1e-20, c[3]),
             Cases(kDtypes, {{{kTokens, 48}, ACL_FLOAT}, {kTokens, 4}, {{kTokens, 4}, ACL_INT32, 48}},
                   {{kTokens, 48}}),
             kPlain);

// Rows of two experts, of each activation.
std::vector<GivenCase> NetworkCases(DtypeNumber dtype, DtypeNumber of_bias) {
  return Cases({dtype}, {{kTokens, 65}, {2, 65, 133}, {2, 133, 65}, {{2, 133}, of_bias}},
               std::vector<CaseTensor>(4, {kTokens, 65}));
}
const auto kNetwork = Register(
    {"aclnnFFN", aclnnFFN,
     [](Call& c) {
       const char* const names[] = {"relu", "gelu", "fastgelu", "silu"};
       return aclnnFFNGetWorkspaceSize(c[0], c[1], c[2], c.Ints({17, kTokens - 17}), c[3], nullptr, nullptr,
                                       nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                       c.Text(names[c.setting]), 0, c[4], c.size, c.executor);
     }},
    NetworkCases(ACL_FLOAT16, ACL_FLOAT16) + NetworkCases(ACL_BF16, ACL_FLOAT), kPlain);

// The same, of weights of 8 bits, where a tensor has the numbers of rows. They are all rows: others are not written.
const auto kNetworkOfTensor = Register(
    {"aclnnFFNV3", aclnnFFNV3,
     [](Call& c) {
       static int64_t rows[] = {17, kTokens - 17};
       return aclnnFFNV3GetWorkspaceSize(c[0], c[1], c[2], c.Dense({2}, ACL_INT64, rows), nullptr, nullptr,
                                         nullptr, nullptr, nullptr, nullptr, c[3], c[4], nullptr, nullptr,
                                         c.Text("silu"), 0, false, c[5], c.size, c.executor);
     }},
    Cases({ACL_FLOAT16, ACL_BF16},
          {{kTokens, 65}, {{2, 65, 133}, ACL_INT8}, {{2, 133, 65}, ACL_INT8}, {2, 133}, {2, 65}},
          {{kTokens, 65}}),
    kPlain);

}  // namespace
}  // namespace portacl::testing
