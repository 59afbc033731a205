// Quantisers for the determinism test: codes of rows whose scale their greatest number says, of norms and of activations, and numbers of codes.
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "aclnnop/families/logic.h"
#include "aclnnop/families/quantisation.h"
#include "determinism/calls.h"

namespace portacl::testing {
namespace {

constexpr int64_t kRows = 97;
constexpr int64_t kColumns = 1531;
const CaseTensor kCodes = {{kRows, kColumns}, ACL_INT8};
const std::vector<DtypeNumber> kFloats = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
const std::vector<DtypeNumber> kHalves = {ACL_FLOAT16, ACL_BF16};

const auto kDynamic =
    Register(PORTACL_PHASES(aclnnDynamicQuantV2, c[0], c[1], nullptr, 2, c[2], c.Unseen({kRows}),
                            c.setting == 0 ? nullptr : c.Unseen({kRows})),
             Cases(kHalves, {{kRows, kColumns}, {kColumns}}, {kCodes, kCodes}));

const auto kScaled =
    Register(PORTACL_PHASES(aclnnAscendQuant, c[0], c[1], c[2], c.setting == 1, "round", ACL_INT8, c[3]),
             Cases(kFloats, {{kRows, kColumns}, {kColumns}, {kColumns}}, {kCodes, kCodes}));

const auto kSigns =
    Register(PORTACL_PHASES(aclnnSignBitsPack, c[0], 4, c[1]),
             Cases({ACL_FLOAT, ACL_FLOAT16}, {{160000}}, {{{4, 5000}, ACL_UINT8}}), {.is_plain_code = true});
const auto kOfSigns =
    Register(PORTACL_PHASES(aclnnSignBitsUnpack, c[0], 5, c.Dtype(1), c[1]),
             Cases({ACL_UINT8}, {{20000}}, {{{5, 32000}, ACL_FLOAT16}}), {.is_plain_code = true});

// Compares a tensor with itself, and with another one.
const auto kSameBits =
    Register(PORTACL_PHASES(aclnnPrecisionCompare, c[0], c.setting == 0 ? c[0] : c[1], c[2]),
             Cases({ACL_FLOAT, ACL_BF16}, {{kRows, kColumns}, {kRows, kColumns}},
                   {{{1}, ACL_UINT32}, {{1}, ACL_UINT32}}),
             {.is_plain_code = true});

const auto kInverse = Register(
    {"aclnnAscendAntiQuant", aclnnAscendAntiQuant,
     [](Call& c) {
       static std::vector<int8_t> codes = [] {
         std::vector<int8_t> made(kRows * kColumns);
         for (size_t i = 0; i < made.size(); ++i) made[i] = static_cast<int8_t>(i * 7);
         return made;
       }();
       return aclnnAscendAntiQuantGetWorkspaceSize(c.Dense({kRows, kColumns}, ACL_INT8, codes.data()), c[0],
                                                   c[1], c.Dtype(2), false, c[2], c.size, c.executor);
     }},
    Cases({ACL_FLOAT, ACL_BF16}, {{kColumns}, {kColumns}}, {{{kRows, kColumns}, ACL_FLOAT16}}));

const auto kNormed =
    Register(PORTACL_PHASES(aclnnAddRmsNormDynamicQuantV2, c[0], c[1], c[2], nullptr, nullptr, c[3], 1e-6,
                            nullptr, c[4], c.Unseen({kRows, kColumns}, ACL_INT8),
                            c.Unseen({kRows, kColumns}, c.Dtype()), c.Unseen({kRows}), c.Unseen({kRows})),
             Cases(kHalves, {{kRows, kColumns}, {kRows, kColumns}, {kColumns}, {kColumns}}, {kCodes}));

const auto kGated =
    Register(PORTACL_PHASES(aclnnSwiGluQuantV2, c[0], nullptr, nullptr, nullptr, c.setting == 1,
                            c.Text("dynamic"), 0, ACL_INT8, c.Unseen({kRows, kColumns}, ACL_INT8), c[1]),
             Cases(kFloats, {{kRows, 2 * kColumns}}, {{{kRows}, ACL_FLOAT}, {{kRows}, ACL_FLOAT}}));

const auto kBlocks = Register(PORTACL_PHASES(aclnnDynamicBlockQuant, c[0], 0.0, nullptr, ACL_INT8, 1, 128,
                                             c[1], c.Unseen({kRows, (kColumns + 127) / 128})),
                              Cases(kHalves, {{kRows, kColumns}}, {kCodes}));

const auto kFake = Register(
    {"aclnnFakeQuantPerChannelAffineCachemask", aclnnFakeQuantPerChannelAffineCachemask,
     [](Call& c) {
       static std::vector<int32_t> zeros(kColumns, 3);
       return aclnnFakeQuantPerChannelAffineCachemaskGetWorkspaceSize(
           c[0], c[1], c.Dense({kColumns}, ACL_INT32, zeros.data()), -1, -128, 127, c[2],
           c.Unseen({kRows, kColumns}, ACL_BOOL), c.size, c.executor);
     }},
    Cases({ACL_FLOAT, ACL_FLOAT16}, {{kRows, kColumns}, {kColumns}}, {{{kRows, kColumns}, ACL_FLOAT}}));

const auto kRotated = Register(PORTACL_PHASES(aclnnRotateQuant, c[0], c[1], nullptr, -1, nullptr, 0, 0.0,
                                              c.setting == 1, c[2], c.Unseen({kRows})),
                               Cases(kHalves, {{kRows, 1536}, {48, 48}}, {{{kRows, 1536}, ACL_INT8}}));

}  // namespace
}  // namespace portacl::testing
