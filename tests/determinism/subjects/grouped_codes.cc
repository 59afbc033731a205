// Experts' rows as codes of few bits, and grouped products of such codes, for the determinism test: modes of Ascend 950,
// offsets and smoothed rows. What an index or a code says is the same in every case.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "aclnnop/families/matmul.h"
#include "aclnnop/families/moe.h"
#include "determinism/coded_calls.h"

namespace portacl::testing {
namespace {

constexpr int64_t kGroups = 3;
const CaseTensor kSizes = {{kGroups}, ACL_INT64, 23};
// Plain code as phase 1 sees it: parts alone are compiled for each instruction set.
const Traits kCoded = {.is_plain_code = true, .start = Start::kZero};
const Traits kOn950 = {.is_plain_code = true, .start = Start::kZero, .soc = kAscend950};

void* Sizes() {
  static int64_t sizes[] = {30, 0, 37};
  return sizes;
}

// ---- rows of experts ----

constexpr int64_t kTokens = 37;
constexpr int64_t kEntries = 2;
constexpr int64_t kColumns = 330;
constexpr int64_t kExperts = 6;
constexpr int64_t kRows = kTokens * kEntries;

// A mode of codes of 8 bits, and the shape and the dtype of its scales.
struct CodeMode {
  int64_t mode;
  aclDataType codes;
  Shape scales;
  aclDataType of_scales;
};
const std::vector<CodeMode>& CodeModes() {
  static const std::vector<CodeMode> modes = {{2, ACL_FLOAT8_E5M2, {kRows, 12}, ACL_FLOAT8_E8M0},
                                              {3, ACL_FLOAT8_E4M3FN, {kRows, 12}, ACL_FLOAT8_E8M0},
                                              {4, ACL_FLOAT8_E5M2, {kRows, 3}, ACL_FLOAT},
                                              {5, ACL_FLOAT8_E4M3FN, {kRows, 3}, ACL_FLOAT},
                                              {6, ACL_HIFLOAT8, {kRows}, ACL_FLOAT},
                                              {8, ACL_HIFLOAT8, {kRows}, ACL_FLOAT},
                                              {11, ACL_FLOAT8_E5M2, {kRows, 2, 2}, ACL_FLOAT},
                                              {12, ACL_FLOAT8_E4M3FN, {kRows, 2, 2}, ACL_FLOAT},
                                              {15, ACL_FLOAT8_E4M3FN, {kRows, 3}, ACL_FLOAT},
                                              {17, ACL_FLOAT8_E4M3FN, {kRows, 12}, ACL_FLOAT8_E8M0}};
  return modes;
}

// The codes of each mode, or the scales of those that have some.
SubjectRegistration RegisterRows(bool has_scales) {
  const auto plan = [has_scales](Call& c) {
    const CodeMode& mode = CodeModes()[static_cast<size_t>(c.setting)];
    return aclnnMoeInitRoutingV3GetWorkspaceSize(
        c[0], c[1], nullptr, nullptr, -1, 0, kExperts, 0, 1, true, mode.mode, c.Ints({0, kExperts}), 0,
        c.OutIf(!has_scales, {kRows, kColumns}, mode.codes), c.Unseen({kRows}, ACL_INT32),
        c.Unseen({kExperts}, ACL_INT64), c.OutIf(has_scales, mode.scales, mode.of_scales), c.size,
        c.executor);
  };
  std::vector<GivenCase> cases;
  for (size_t i = 0; i < CodeModes().size(); ++i) {
    const CodeMode& mode = CodeModes()[i];
    if (has_scales && mode.codes == ACL_HIFLOAT8 && mode.mode == 6) continue;
    const CaseTensor out =
        has_scales ? CaseTensor(mode.scales, mode.of_scales) : CaseTensor(Shape{kRows, kColumns}, mode.codes);
    for (const DtypeNumber dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16})
      cases.push_back(Case(dtype, {{kTokens, kColumns}, {{kTokens, kEntries}, ACL_INT32, kExperts}}, out, i));
  }
  return Register(
      Phases{"aclnnMoeInitRoutingV3", aclnnMoeInitRoutingV3, plan}.As(has_scales ? "scales" : "codes"), cases,
      kOn950);
}
const auto kCodesOfRows = RegisterRows(false);
const auto kScalesOfRows = RegisterRows(true);

// ---- grouped products ----

constexpr int64_t kM = 67;

// FLOAT4 with powers of two as scales. The list, of groups' sizes, is what is given.
const auto kPowersOfGroups = Register(
    PORTACL_PHASES(aclnnGroupedMatmulV5, c.List(Call::Entry({kM, 300}, ACL_FLOAT4_E2M1, Codes())),
                   c.List(Call::Entry({kGroups, 300, 90}, ACL_FLOAT4_E2M1, Codes())), nullptr,
                   c.List(Call::Entry({kGroups, 5, 90, 2}, ACL_FLOAT8_E8M0, Powers())), nullptr, nullptr,
                   nullptr, c.List(Call::Entry({kM, 5, 2}, ACL_FLOAT8_E8M0, Powers())), c[0], nullptr,
                   nullptr, nullptr, 3, 0, 1, 0, nullptr, c.ListOf(1), nullptr, nullptr)
        .As("powers"),
    Cases({ACL_INT64}, {kSizes}, {{{kM, 90}, ACL_FLOAT}}) +
        Cases({ACL_INT64}, {kSizes}, {{{kM, 90}, ACL_BF16}}),
    kOn950);

// Weights of FLOAT8 alone. x has no layouts, since it must not be transposed.
const auto kWeightsOfFloat8 =
    Register({"aclnnGroupedMatmulV5_halves", aclnnGroupedMatmulV5,
              [](Call& c) {
                return aclnnGroupedMatmulV5GetWorkspaceSize(
                    c.List(Call::Entry({kM, 150}, c.Dtype(), Halves(c.Dtype()))),
                    c.List(Call::Entry({kGroups, 150, 61}, ACL_FLOAT8_E4M3FN, Codes())), nullptr, nullptr,
                    nullptr, c.ListOf(0), nullptr, nullptr, c.Dense({kGroups}, ACL_INT64, Sizes()), nullptr,
                    nullptr, nullptr, 3, 0, 1, 0, nullptr, c.ListOf(1), nullptr, nullptr, c.size, c.executor);
              }},
             Cases({ACL_FLOAT16, ACL_BF16}, {{kGroups, 61}}, {{kM, 61}}), kOn950);

// INT8 with weights of 4 bits and offsets.
const auto kOffsets =
    Register(PORTACL_PHASES(aclnnGroupedMatmulV5, c.List(Call::Entry({kM, 192}, ACL_INT8, Codes())),
                            c.List(Call::Entry({kGroups, 192, 64}, ACL_INT4, Codes())), c.ListOf(0),
                            c.List(Call::Entry({kGroups, 3, 64}, ACL_UINT64, Words())), c.ListOf(1), nullptr,
                            nullptr, c.ListOf(2), c.Dense({kGroups}, ACL_INT64, Sizes()), nullptr, nullptr,
                            nullptr, 3, 0, 1, 0, nullptr, c.ListOf(3), nullptr, nullptr)
                 .As("offsets"),
             Cases({ACL_FLOAT}, {{kGroups, 64}, {kGroups, 1, 64}, {kM}}, {{{kM, 64}, ACL_BF16}}), kCoded);
const auto kOffsetsOfTokens = Register(
    PORTACL_PHASES(aclnnGroupedMatmulFinalizeRoutingV3, c[0], c.Dense({kGroups, 192, 72}, ACL_INT4, Codes()),
                   c.Dense({kGroups, 1, 72}, ACL_INT64, Words()), c[1], c[2], nullptr, nullptr, c[3],
                   c.Dense({kGroups}, ACL_INT64, Sizes()), c[5], c[4], c[6], 0, 0.5f, 1, false, false, 1,
                   nullptr, c[7])
        .As("offsets"),
    Cases({ACL_FLOAT},
          {{{kM, 192}, ACL_INT8},
           {kGroups, 72},
           {kGroups, 1, 72},
           {kM},
           {kM},
           {{5, 72}, ACL_BF16},
           {{kM}, ACL_INT64, 9}},
          {{9, 72}}),
    kCoded);

// ---- gated rows ----

const auto kPowersOfGates =
    Register(PORTACL_PHASES(aclnnGroupedMatmulSwigluQuantV2, c.Dense({kM, 300}, ACL_FLOAT4_E2M1, Codes()),
                            c.List(Call::Entry({kGroups, 300, 140}, ACL_FLOAT4_E2M1, Codes())),
                            c.List(Call::Entry({kGroups, 5, 140, 2}, ACL_FLOAT8_E8M0, Powers())), nullptr,
                            nullptr, c.Dense({kM, 5, 2}, ACL_FLOAT8_E8M0, Powers()), nullptr, c[0], 2, 0, 2,
                            1, nullptr, c[1], c.Unseen({kM, 2, 2}, ACL_FLOAT8_E8M0))
                 .As("powers"),
             Cases({ACL_INT64}, {kSizes}, {{{kM, 70}, ACL_FLOAT8_E4M3FN}}) +
                 Cases({ACL_INT64}, {kSizes}, {{{kM, 70}, ACL_FLOAT8_E5M2}}),
             kOn950);

// x and weights of 4 bits, with factors of gated rows.
const auto kSmoothed =
    Register(PORTACL_PHASES(aclnnGroupedMatmulSwigluQuantV2, c.Dense({kM, 300}, ACL_INT4, Codes()),
                            c.List(Call::Entry({kGroups, 300, 96}, ACL_INT4, Codes())),
                            c.List(Call::Entry({kGroups, 3, 96}, ACL_UINT64, Words())), nullptr, nullptr,
                            c[0], c[1], c.Dense({kGroups}, ACL_INT64, Sizes()), 1, 0, 0, 1, nullptr, c[2],
                            c.Unseen({kM}, ACL_FLOAT))
                 .As("smoothed"),
             Cases({ACL_FLOAT}, {{kM}, {kGroups, 48}}, {{{kM, 48}, ACL_INT8}}) +
                 Cases({ACL_FLOAT}, {{kM}, {kGroups}}, {{{kM, 48}, ACL_INT8}}),
             kCoded);

}  // namespace
}  // namespace portacl::testing
