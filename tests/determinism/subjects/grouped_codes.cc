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

SubjectRegistration Register(const OperatorBinding& binding, const std::vector<GivenCase>& given,
                             const char* soc, size_t settings = 1) {
  Subject subject;
  subject.description.binding = binding;
  subject.description.binding.may_need_workspace = [](std::span<const Shape>) { return true; };
  for (size_t i = 0; i < settings; ++i) {
    subject.description.attributes.emplace_back();
    subject.description.attributes.back().reduction = static_cast<int64_t>(i);
  }
  subject.given = given;
  subject.soc = soc;
  subject.start = Start::kZero;
  subject.cuts_freely = [](const Attributes&) { return false; };
  subject.sums_everything = true;
  subject.is_plain_code = true;  // as phase 1 sees it: parts alone are compiled for each instruction set
  for (const char c : binding.name) subject.seed = subject.seed * 31 + static_cast<unsigned char>(c);
  return SubjectRegistration(std::move(subject));
}

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
  const auto plan = [has_scales](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
    const CodeMode& mode = CodeModes()[static_cast<size_t>(a.reduction)];
    Made made;
    const Ints range{0, kExperts};
    aclTensor* const codes = has_scales ? made.Unseen({kRows, kColumns}, mode.codes) : t[2];
    aclTensor* const scales = has_scales ? t[2] : made.Unseen(mode.scales, mode.of_scales);
    return aclnnMoeInitRoutingV3GetWorkspaceSize(t[0], t[1], nullptr, nullptr, -1, 0, kExperts, 0, 1, true,
                                                 mode.mode, range, 0, codes, made.Unseen({kRows}, ACL_INT32),
                                                 made.Unseen({kExperts}, ACL_INT64), scales, size, executor);
  };
  std::vector<GivenCase> cases;
  for (size_t i = 0; i < CodeModes().size(); ++i) {
    const CodeMode& mode = CodeModes()[i];
    if (has_scales && mode.codes == ACL_HIFLOAT8 && mode.mode == 6) continue;
    for (const DtypeNumber dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16})
      cases.push_back({{dtype, ACL_INT32},
                       {{kTokens, kColumns}, {kTokens, kEntries}},
                       has_scales ? mode.of_scales : mode.codes,
                       has_scales ? mode.scales : Shape{kRows, kColumns},
                       i,
                       {{.input = 1, .below = kExperts}}});
  }
  return Register({has_scales ? "aclnnMoeInitRoutingV3_scales" : "aclnnMoeInitRoutingV3_codes",
                   {"x", "experts", "out"},
                   plan,
                   aclnnMoeInitRoutingV3},
                  cases, kAscend950, CodeModes().size());
}
const auto kCodesOfRows = RegisterRows(false);
const auto kScalesOfRows = RegisterRows(true);

// ---- grouped products ----

constexpr int64_t kM = 67;

// FLOAT4 with powers of two as scales. The list, of groups' sizes, is what is given.
const auto kPowersOfGroups = Register(
    {"aclnnGroupedMatmulV5_powers",
     {"groupList", "y"},
     [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       Made made;
       return aclnnGroupedMatmulV5GetWorkspaceSize(
           made.List(Made::Tensor({kM, 300}, ACL_FLOAT4_E2M1, Codes())),
           made.List(Made::Tensor({kGroups, 300, 90}, ACL_FLOAT4_E2M1, Codes())), nullptr,
           made.List(Made::Tensor({kGroups, 5, 90, 2}, ACL_FLOAT8_E8M0, Powers())), nullptr, nullptr, nullptr,
           made.List(Made::Tensor({kM, 5, 2}, ACL_FLOAT8_E8M0, Powers())), t[0], nullptr, nullptr, nullptr, 3,
           0, 1, 0, nullptr, made.List(Whole(t[1])), nullptr, nullptr, size, executor);
     },
     aclnnGroupedMatmulV5},
    {{{ACL_INT64}, {{kGroups}}, ACL_FLOAT, {kM, 90}, 0, {{.input = 0, .below = 23}}},
     {{ACL_INT64}, {{kGroups}}, ACL_BF16, {kM, 90}, 0, {{.input = 0, .below = 23}}}},
    kAscend950);

// Weights of FLOAT8 alone. x has no layouts, since it must not be transposed.
const auto kWeightsOfFloat8 = Register(
    {"aclnnGroupedMatmulV5_halves",
     {"antiquantScale", "y"},
     [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       Made made;
       aclDataType dtype = ACL_DT_UNDEFINED;
       aclGetDataType(t[0], &dtype);
       return aclnnGroupedMatmulV5GetWorkspaceSize(
           made.List(Made::Tensor({kM, 150}, dtype, Halves(dtype))),
           made.List(Made::Tensor({kGroups, 150, 61}, ACL_FLOAT8_E4M3FN, Codes())), nullptr, nullptr, nullptr,
           made.List(Whole(t[0])), nullptr, nullptr, made.Own({kGroups}, ACL_INT64, Sizes()), nullptr,
           nullptr, nullptr, 3, 0, 1, 0, nullptr, made.List(Whole(t[1])), nullptr, nullptr, size, executor);
     },
     aclnnGroupedMatmulV5},
    {{{ACL_FLOAT16}, {{kGroups, 61}}, ACL_FLOAT16, {kM, 61}, 0, {}},
     {{ACL_BF16}, {{kGroups, 61}}, ACL_BF16, {kM, 61}, 0, {}}},
    kAscend950);

// INT8 with weights of 4 bits and offsets.
const auto kOffsets = Register(
    {"aclnnGroupedMatmulV5_offsets",
     {"bias", "offset", "perToken", "y"},
     [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       Made made;
       return aclnnGroupedMatmulV5GetWorkspaceSize(
           made.List(Made::Tensor({kM, 192}, ACL_INT8, Codes())),
           made.List(Made::Tensor({kGroups, 192, 64}, ACL_INT4, Codes())), made.List(Whole(t[0])),
           made.List(Made::Tensor({kGroups, 3, 64}, ACL_UINT64, Words())), made.List(Whole(t[1])), nullptr,
           nullptr, made.List(Whole(t[2])), made.Own({kGroups}, ACL_INT64, Sizes()), nullptr, nullptr,
           nullptr, 3, 0, 1, 0, nullptr, made.List(Whole(t[3])), nullptr, nullptr, size, executor);
     },
     aclnnGroupedMatmulV5},
    {{{ACL_FLOAT, ACL_FLOAT, ACL_FLOAT}, {{kGroups, 64}, {kGroups, 1, 64}, {kM}}, ACL_BF16, {kM, 64}, 0, {}}},
    nullptr);
const auto kOffsetsOfTokens =
    Register({"aclnnGroupedMatmulFinalizeRoutingV3_offsets",
              {"x1", "bias", "offset", "pertokenScale", "logit", "shared", "rowIndex", "out"},
              [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                Made made;
                return aclnnGroupedMatmulFinalizeRoutingV3GetWorkspaceSize(
                    t[0], made.Own({kGroups, 192, 72}, ACL_INT4, Codes()),
                    made.Own({kGroups, 1, 72}, ACL_INT64, Words()), t[1], t[2], nullptr, nullptr, t[3],
                    made.Own({kGroups}, ACL_INT64, Sizes()), t[5], t[4], t[6], 0, 0.5f, 1, false, false, 1,
                    nullptr, t[7], size, executor);
              },
              aclnnGroupedMatmulFinalizeRoutingV3},
             {{{ACL_INT8, ACL_FLOAT, ACL_FLOAT, ACL_FLOAT, ACL_FLOAT, ACL_BF16, ACL_INT64},
               {{kM, 192}, {kGroups, 72}, {kGroups, 1, 72}, {kM}, {kM}, {5, 72}, {kM}},
               ACL_FLOAT,
               {9, 72},
               0,
               {{.input = 6, .below = 9}}}},
             nullptr);

// ---- gated rows ----

const auto kPowersOfGates =
    Register({"aclnnGroupedMatmulSwigluQuantV2_powers",
              {"groupList", "output"},
              [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                Made made;
                return aclnnGroupedMatmulSwigluQuantV2GetWorkspaceSize(
                    made.Own({kM, 300}, ACL_FLOAT4_E2M1, Codes()),
                    made.List(Made::Tensor({kGroups, 300, 140}, ACL_FLOAT4_E2M1, Codes())),
                    made.List(Made::Tensor({kGroups, 5, 140, 2}, ACL_FLOAT8_E8M0, Powers())), nullptr,
                    nullptr, made.Own({kM, 5, 2}, ACL_FLOAT8_E8M0, Powers()), nullptr, t[0], 2, 0, 2, 1,
                    nullptr, t[1], made.Unseen({kM, 2, 2}, ACL_FLOAT8_E8M0), size, executor);
              },
              aclnnGroupedMatmulSwigluQuantV2},
             {{{ACL_INT64}, {{kGroups}}, ACL_FLOAT8_E4M3FN, {kM, 70}, 0, {{.input = 0, .below = 23}}},
              {{ACL_INT64}, {{kGroups}}, ACL_FLOAT8_E5M2, {kM, 70}, 0, {{.input = 0, .below = 23}}}},
             kAscend950);

// x and weights of 4 bits, with factors of gated rows.
const auto kSmoothed =
    Register({"aclnnGroupedMatmulSwigluQuantV2_smoothed",
              {"xScale", "smoothScale", "output"},
              [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                Made made;
                return aclnnGroupedMatmulSwigluQuantV2GetWorkspaceSize(
                    made.Own({kM, 300}, ACL_INT4, Codes()),
                    made.List(Made::Tensor({kGroups, 300, 96}, ACL_INT4, Codes())),
                    made.List(Made::Tensor({kGroups, 3, 96}, ACL_UINT64, Words())), nullptr, nullptr, t[0],
                    t[1], made.Own({kGroups}, ACL_INT64, Sizes()), 1, 0, 0, 1, nullptr, t[2],
                    made.Unseen({kM}, ACL_FLOAT), size, executor);
              },
              aclnnGroupedMatmulSwigluQuantV2},
             {{{ACL_FLOAT, ACL_FLOAT}, {{kM}, {kGroups, 48}}, ACL_INT8, {kM, 48}, 0, {}},
              {{ACL_FLOAT, ACL_FLOAT}, {{kM}, {kGroups}}, ACL_INT8, {kM, 48}, 0, {}}},
             nullptr);

}  // namespace
}  // namespace portacl::testing
