// Quantisers for the determinism test, each with the codes of every product that has its own: rows, blocks, norms, gated and rotated
// rows. All outputs are hashed.
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "aclnnop/families/quantisation.h"
#include "determinism/coded_calls.h"

namespace portacl::testing {
namespace {

constexpr int64_t kRows = 23;
constexpr int64_t kColumns = 416;  // 13 blocks of 32, three and a quarter of 128
const Shape kShape = {kRows, kColumns};
const Shape kRow = {kColumns};
const Shape kOfRows = {kRows};
const Shape kPowers = {kRows, 7, 2};         // along rows
const Shape kPowersDown = {1, kColumns, 2};  // along columns
const std::vector<DtypeNumber> kHalves = {ACL_FLOAT16, ACL_BF16};
const std::vector<DtypeNumber> kAll = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

constexpr aclDataType kBytes950[] = {ACL_INT8, ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN};
const char* RoundOf(aclDataType codes, const char* otherwise = "rint") {
  return codes == ACL_HIFLOAT8 ? "round" : otherwise;
}

aclTensor* Ends32(CodedCall& c) { return c.Integers<int32_t>({9, 9, 23}, ACL_INT32); }
aclTensor* Ends64(CodedCall& c) { return c.Integers<int64_t>({9, 9, 23}, ACL_INT64); }
aclTensor* Counts64(CodedCall& c) { return c.Integers<int64_t>({9, 0, 12}, ACL_INT64); }

// How a mode makes codes that share powers of two.
struct MxMode {
  aclDataType codes;
  int64_t algorithm;
  double most;
  const char* round;
};
constexpr MxMode kMxModes[] = {{ACL_FLOAT8_E4M3FN, 0, 0, "rint"}, {ACL_FLOAT8_E5M2, 1, 0, "rint"},
                               {ACL_FLOAT4_E2M1, 0, 0, "round"},  {ACL_FLOAT4_E1M2, 0, 0, "floor"},
                               {ACL_FLOAT4_E2M1, 2, 0, "rint"},   {ACL_FLOAT4_E2M1, 2, 7, "floor"},
                               {ACL_FLOAT4_E2M1, 2, 10, "rint"}};
constexpr size_t kMxModesCount = std::size(kMxModes);
constexpr size_t kMxFirst = 4;  // those without algorithm 2
const MxMode& ModeOf(const CodedCall& c) { return kMxModes[c.setting]; }

// ---- rows as they are ----

const SubjectRegistration kPlain[] = {
    Coded("aclnnDynamicQuant", aclnnDynamicQuant, nullptr, kHalves, {{kShape}, {kRow}}, 2,
          [](CodedCall& c) {
            const aclDataType codes = c.setting == 0 ? ACL_INT8 : ACL_INT4;
            aclTensor* const first_out = c.Out(kShape, codes);
            aclTensor* const second_out = c.Out(kOfRows, ACL_FLOAT);
            return aclnnDynamicQuantGetWorkspaceSize(c[0], c[1], first_out, second_out, c.size, c.executor);
          }),
    Coded("aclnnDynamicQuant_950", aclnnDynamicQuant, kAscend950, kHalves, {{kShape}, {kRow}}, 4,
          [](CodedCall& c) {
            aclTensor* const first_out = c.Out(kShape, kBytes950[c.setting]);
            aclTensor* const second_out = c.Out(kOfRows, ACL_FLOAT);
            return aclnnDynamicQuantGetWorkspaceSize(c[0], c[1], first_out, second_out, c.size, c.executor);
          }),
    Coded("aclnnDynamicQuantV2_950", aclnnDynamicQuantV2, kAscend950, kHalves, {{kShape}, {{3, kColumns}}}, 4,
          [](CodedCall& c) {
            const aclDataType codes = kBytes950[c.setting];
            aclTensor* const first_out = c.Out(kShape, codes);
            aclTensor* const second_out = c.Out(kOfRows, ACL_FLOAT);
            aclTensor* const third_out = c.Out(kOfRows, ACL_FLOAT);
            return aclnnDynamicQuantV2GetWorkspaceSize(c[0], c[1], Ends32(c), codes, first_out, second_out,
                                                       third_out, c.size, c.executor);
          }),
    Coded("aclnnDynamicQuantV3", aclnnDynamicQuantV3, kAscend950, kHalves, {{kShape}}, 4,
          [](CodedCall& c) {
            const char* const modes[] = {"pertoken", "pertensor", "perchannel", "pertoken"};
            const Shape steps[] = {kOfRows, {1}, kRow, kOfRows};
            const bool has_offset = c.setting == 3;
            const Shape& shape = steps[c.setting];
            aclTensor* const y = c.Out(kShape, ACL_FLOAT8_E4M3FN);
            aclTensor* const scale = c.Out(shape, ACL_FLOAT);
            return aclnnDynamicQuantV3GetWorkspaceSize(
                c[0], nullptr, nullptr, ACL_FLOAT8_E4M3FN, !has_offset, c.Text(modes[c.setting]), y, scale,
                has_offset ? c.Out(shape, ACL_FLOAT) : nullptr, c.size, c.executor);
          }),
    Coded("aclnnDynamicQuantV4", aclnnDynamicQuantV4, kAscend950, kHalves, {{kShape}}, 3,
          [](CodedCall& c) {
            const char* const modes[] = {"pertoken", "pertensor", "perchannel"};
            const Shape steps[] = {kOfRows, {1}, kRow};
            aclTensor* const first_out = c.Out(kShape, ACL_HIFLOAT8);
            aclTensor* const second_out = c.Out(steps[c.setting], ACL_FLOAT);
            return aclnnDynamicQuantV4GetWorkspaceSize(c[0], nullptr, nullptr, ACL_HIFLOAT8, true,
                                                       c.Text(modes[c.setting]), 56.0f, first_out, second_out,
                                                       nullptr, c.size, c.executor);
          }),
    Coded("aclnnAscendQuantV3", aclnnAscendQuantV3, nullptr, kAll, {{kShape}, {kRow}, {kRow}}, 2,
          [](CodedCall& c) {
            const aclDataType codes = c.setting == 0 ? ACL_INT8 : ACL_INT4;
            return aclnnAscendQuantV3GetWorkspaceSize(c[0], c[1], c[2], c.setting == 1,
                                                      c.setting == 0 ? "floor" : "trunc", codes, -1,
                                                      c.Out(kShape, codes), c.size, c.executor);
          }),
    Coded("aclnnAscendQuantV3_950", aclnnAscendQuantV3, kAscend950, kAll, {{kShape}, {kRow}, {kRow}}, 4,
          [](CodedCall& c) {
            const aclDataType codes = kBytes950[c.setting];
            return aclnnAscendQuantV3GetWorkspaceSize(c[0], c[1], c[2], true, "round", codes, -1,
                                                      c.Out(kShape, codes), c.size, c.executor);
          }),
    Coded("aclnnQuantize", aclnnQuantize, nullptr, kAll, {{kShape}, {kRow, ACL_FLOAT}}, 3,
          [](CodedCall& c) {
            const aclDataType codes[] = {ACL_INT8, ACL_UINT8, ACL_INT32};
            return aclnnQuantizeGetWorkspaceSize(c[0], c[1], c.Dense(kRow, ACL_INT8, Codes()),
                                                 codes[c.setting], -1, c.Out(kShape, codes[c.setting]),
                                                 c.size, c.executor);
          }),
    Coded("aclnnQuantize_950", aclnnQuantize, kAscend950, kAll, {{kShape}, {kRow, ACL_FLOAT}}, 4,
          [](CodedCall& c) {
            const aclDataType codes = kBytes950[c.setting];
            return aclnnQuantizeGetWorkspaceSize(c[0], c[1], c.In(kRow, ACL_FLOAT), codes, -1,
                                                 c.Out(kShape, codes), c.size, c.executor);
          }),
    Coded("aclnnGroupQuant", aclnnGroupQuant, nullptr, kAll, {{kShape}, {{3, kColumns}}, {{1}}}, 2,
          [](CodedCall& c) {
            const aclDataType codes = c.setting == 0 ? ACL_INT8 : ACL_INT4;
            return aclnnGroupQuantGetWorkspaceSize(c[0], c[1], Ends64(c), c[2], codes, c.Out(kShape, codes),
                                                   c.size, c.executor);
          }),
    Coded("aclnnDequantBias", aclnnDequantBias, nullptr, {ACL_INT32, ACL_FLOAT, ACL_BF16},
          {{kShape, ACL_INT32}, {kRow}}, 1,
          [](CodedCall& c) {
            return aclnnDequantBiasGetWorkspaceSize(c[0], c.In(kRow, ACL_FLOAT), c.In(kOfRows, ACL_FLOAT),
                                                    c[1], ACL_FLOAT16, c.Out(kShape, ACL_FLOAT16), c.size,
                                                    c.executor);
          }),
    Coded("aclnnAscendAntiQuant_950", aclnnAscendAntiQuant, kAscend950, {ACL_FLOAT}, {{kRow}, {kRow}}, 4,
          [](CodedCall& c) {
            return aclnnAscendAntiQuantGetWorkspaceSize(c.In(kShape, kBytes950[c.setting]), c[0], c[1],
                                                        ACL_BF16, false, c.Out(kShape, ACL_BF16), c.size,
                                                        c.executor);
          }),
    Coded("aclnnFakeQuantPerTensorAffineCachemask", aclnnFakeQuantPerTensorAffineCachemask, nullptr,
          {ACL_FLOAT, ACL_FLOAT16}, {{kShape}, {{1}}}, 1,
          [](CodedCall& c) {
            aclTensor* const first_out = c.Out(kShape, c.Dtype());
            aclTensor* const second_out = c.Out(kShape, ACL_BOOL);
            return aclnnFakeQuantPerTensorAffineCachemaskGetWorkspaceSize(
                c[0], c[1], c.Integers<int32_t>({3}, ACL_INT32), 1.0f, -8, 7, first_out, second_out, c.size,
                c.executor);
          }),
    Coded("aclnnQuantMax", aclnnQuantMax, kAscend950, kAll, {{kShape}, {{1}, ACL_FLOAT}}, 3,
          [](CodedCall& c) {
            const aclDataType codes = kBytes950[c.setting + 1];
            aclTensor* const first_out = c.Out(kShape, codes);
            aclTensor* const second_out = c.Out({1}, c.Dtype());
            return aclnnQuantMaxGetWorkspaceSize(c[0], c[1], c.Text(RoundOf(codes)), codes, first_out,
                                                 second_out, c.size, c.executor);
          }),
    Coded("aclnnGroupedQuantMax", aclnnGroupedQuantMax, kAscend950, kAll, {{kShape}, {{3}, ACL_FLOAT}}, 3,
          [](CodedCall& c) {
            const aclDataType codes = kBytes950[c.setting + 1];
            aclTensor* const first_out = c.Out(kShape, codes);
            aclTensor* const second_out = c.Out({3}, c.Dtype());
            return aclnnGroupedQuantMaxGetWorkspaceSize(c[0], c[1], Ends64(c), c.Text(RoundOf(codes)), codes,
                                                        first_out, second_out, c.size, c.executor);
          }),
};

// ---- blocks ----

const SubjectRegistration kBlocks[] = {
    Coded("aclnnDynamicBlockQuant_950", aclnnDynamicBlockQuant, kAscend950, kAll, {{kShape}}, 4,
          [](CodedCall& c) {
            const aclDataType codes = kBytes950[c.setting];
            aclTensor* const first_out = c.Out(kShape, codes);
            aclTensor* const second_out = c.Out({1, 7}, ACL_FLOAT);
            return aclnnDynamicBlockQuantGetWorkspaceSize(c[0], 0.25, c.Text(RoundOf(codes)), codes, 128, 64,
                                                          first_out, second_out, c.size, c.executor);
          }),
    Coded("aclnnDynamicBlockQuantV2", aclnnDynamicBlockQuantV2, kAscend950, kAll, {{kShape}}, 2,
          [](CodedCall& c) {
            aclTensor* const first_out = c.Out(kShape, ACL_HIFLOAT8);
            aclTensor* const second_out = c.Out({kRows, 3}, ACL_FLOAT);
            return aclnnDynamicBlockQuantV2GetWorkspaceSize(c[0], 0, nullptr, ACL_HIFLOAT8, 1, 192,
                                                            c.setting == 0 ? 15 : 224, first_out, second_out,
                                                            c.size, c.executor);
          }),
    Coded("aclnnGroupedDynamicBlockQuant", aclnnGroupedDynamicBlockQuant, kAscend950, kHalves, {{kShape}}, 3,
          [](CodedCall& c) {
            const aclDataType codes = kBytes950[c.setting + 1];
            aclTensor* const first_out = c.Out(kShape, codes);
            aclTensor* const second_out = c.Out({kRows + 3, 4}, ACL_FLOAT);
            return aclnnGroupedDynamicBlockQuantGetWorkspaceSize(c[0], Ends32(c), 0, c.Text(RoundOf(codes)),
                                                                 codes, 1, 128, 0, first_out, second_out,
                                                                 c.size, c.executor);
          }),
    Coded("aclnnGroupedDynamicBlockQuantV2", aclnnGroupedDynamicBlockQuantV2, kAscend950, kHalves, {{kShape}},
          2,
          [](CodedCall& c) {
            aclTensor* const first_out = c.Out(kShape, ACL_HIFLOAT8);
            aclTensor* const second_out = c.Out({3, 2}, ACL_FLOAT);
            return aclnnGroupedDynamicBlockQuantV2GetWorkspaceSize(c[0], Ends32(c), 0, nullptr, ACL_HIFLOAT8,
                                                                   128, 256, 0, c.setting == 0 ? 56 : 32768,
                                                                   first_out, second_out, c.size, c.executor);
          }),
    Coded("aclnnDynamicMxQuant", aclnnDynamicMxQuant, kAscend950, kAll, {{kShape}}, kMxFirst,
          [](CodedCall& c) {
            const MxMode& mode = ModeOf(c);
            aclTensor* const first_out = c.Out(kShape, mode.codes);
            aclTensor* const second_out = c.Out(kPowersDown, ACL_FLOAT8_E8M0);
            return aclnnDynamicMxQuantGetWorkspaceSize(c[0], 0, c.Text(mode.round), mode.codes, 32,
                                                       mode.algorithm, first_out, second_out, c.size,
                                                       c.executor);
          }),
    Coded("aclnnDynamicMxQuantV2", aclnnDynamicMxQuantV2, kAscend950, kAll, {{kShape}}, kMxModesCount,
          [](CodedCall& c) {
            const MxMode& mode = ModeOf(c);
            aclTensor* const first_out = c.Out(kShape, mode.codes);
            aclTensor* const second_out = c.Out(kPowers, ACL_FLOAT8_E8M0);
            return aclnnDynamicMxQuantV2GetWorkspaceSize(c[0], -1, c.Text(mode.round), mode.codes, 32,
                                                         mode.algorithm, mode.most, first_out, second_out,
                                                         c.size, c.executor);
          }),
    Coded("aclnnDynamicMxQuantV3", aclnnDynamicMxQuantV3, kAscend950, kAll, {{kShape}}, 2,
          [](CodedCall& c) {
            const aclDataType codes = kBytes950[c.setting + 2];
            aclTensor* const first_out = c.Out(kShape, codes);
            aclTensor* const second_out = c.Out(kPowers, ACL_FLOAT8_E8M0);
            return aclnnDynamicMxQuantV3GetWorkspaceSize(c[0], -1, nullptr, codes, 32, 1, 0, 1.5, first_out,
                                                         second_out, c.size, c.executor);
          }),
    Coded("aclnnDynamicMxQuantWithDualAxis", aclnnDynamicMxQuantWithDualAxis, kAscend950, kHalves, {{kShape}},
          kMxFirst,
          [](CodedCall& c) {
            const MxMode& mode = ModeOf(c);
            aclTensor* const y1 = c.Out(kShape, mode.codes);
            aclTensor* const scale1 = c.Out(kPowers, ACL_FLOAT8_E8M0);
            aclTensor* const y2 = c.Out(kShape, mode.codes);
            return aclnnDynamicMxQuantWithDualAxisGetWorkspaceSize(
                c[0], c.Text(mode.round), mode.codes, mode.algorithm, y1, scale1, y2,
                c.Out(kPowersDown, ACL_FLOAT8_E8M0), c.size, c.executor);
          }),
    Coded("aclnnDynamicMxQuantWithDualAxisV2", aclnnDynamicMxQuantWithDualAxisV2, kAscend950, kHalves,
          {{kShape}}, kMxModesCount,
          [](CodedCall& c) {
            const MxMode& mode = ModeOf(c);
            aclTensor* const y1 = c.Out(kShape, mode.codes);
            aclTensor* const scale1 = c.Out(kPowers, ACL_FLOAT8_E8M0);
            aclTensor* const y2 = c.Out(kShape, mode.codes);
            return aclnnDynamicMxQuantWithDualAxisV2GetWorkspaceSize(
                c[0], c.Text(mode.round), mode.codes, mode.algorithm, mode.most, y1, scale1, y2,
                c.Out(kPowersDown, ACL_FLOAT8_E8M0), c.size, c.executor);
          }),
    Coded("aclnnDynamicBlockMxQuant", aclnnDynamicBlockMxQuant, kAscend950, kHalves, {{kShape}}, 5,
          [](CodedCall& c) {
            const MxMode& mode = kMxModes[c.setting == 0 ? 0 : c.setting + 2];
            aclTensor* const y = c.Out(kShape, mode.codes);
            aclTensor* const scale1 = c.Out(kPowers, ACL_FLOAT8_E8M0);
            return aclnnDynamicBlockMxQuantGetWorkspaceSize(
                c[0], c.Text(mode.round), mode.codes, mode.algorithm, mode.most, y, scale1,
                c.Out(kPowersDown, ACL_FLOAT8_E8M0), c.size, c.executor);
          }),
    Coded("aclnnDynamicDualLevelMxQuant", aclnnDynamicDualLevelMxQuant, kAscend950, kHalves,
          {{{5, 1120}}, {{1120}}}, 3,
          [](CodedCall& c) {
            const char* const rounds[] = {"rint", "round", "floor"};
            aclTensor* const y = c.Out({5, 1120}, ACL_FLOAT4_E2M1);
            aclTensor* const level0 = c.Out({5, 3}, ACL_FLOAT);
            return aclnnDynamicDualLevelMxQuantGetWorkspaceSize(
                c[0], c[1], c.Text(rounds[c.setting]), 512, 32, y, level0, c.Out({5, 18, 2}, ACL_FLOAT8_E8M0),
                c.size, c.executor);
          }),
    Coded("aclnnGroupedDynamicMxQuant", aclnnGroupedDynamicMxQuant, kAscend950, kHalves, {{kShape}}, 2,
          [](CodedCall& c) {
            const aclDataType codes = kBytes950[c.setting + 2];
            aclTensor* const first_out = c.Out(kShape, codes);
            aclTensor* const second_out = c.Out({3, kColumns, 2}, ACL_FLOAT8_E8M0);
            return aclnnGroupedDynamicMxQuantGetWorkspaceSize(c[0], Ends32(c), "rint", codes, 32, first_out,
                                                              second_out, c.size, c.executor);
          }),
    Coded("aclnnGroupedDynamicMxQuantV2", aclnnGroupedDynamicMxQuantV2, kAscend950, kHalves, {{kShape}},
          kMxModesCount,
          [](CodedCall& c) {
            const MxMode& mode = ModeOf(c);
            aclTensor* const first_out = c.Out(kShape, mode.codes);
            aclTensor* const second_out = c.Out({3, kColumns, 2}, ACL_FLOAT8_E8M0);
            return aclnnGroupedDynamicMxQuantV2GetWorkspaceSize(c[0], Ends32(c), mode.round, mode.codes, 32,
                                                                mode.algorithm, mode.most, first_out,
                                                                second_out, c.size, c.executor);
          }),
    Coded("aclnnAntiMxQuant", aclnnAntiMxQuant, kAscend950, {ACL_FLOAT8_E4M3FN}, {}, 4,
          [](CodedCall& c) {
            const aclDataType y[] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_FLOAT};
            return aclnnAntiMxQuantGetWorkspaceSize(c.In(kShape, ModeOf(c).codes),
                                                    c.In(kPowers, ACL_FLOAT8_E8M0), -1, y[c.setting],
                                                    c.Out(kShape, y[c.setting]), c.size, c.executor);
          }),
};

// ---- norms ----

const SubjectRegistration kNorms[] = {
    Coded("aclnnAddRmsNormQuant", aclnnAddRmsNormQuant, nullptr, kHalves, {{kShape}, {kShape}, {kRow}}, 2,
          [](CodedCall& c) {
            const bool is_bf16 = c.Dtype() == ACL_BF16;
            const aclDataType of_zeros = is_bf16 ? ACL_BF16 : ACL_INT32;
            aclTensor* const scales = c.In(kRow, is_bf16 ? ACL_BF16 : ACL_FLOAT);
            aclTensor* const zeros =
                is_bf16 ? c.In(kRow, ACL_BF16) : c.Integers(std::vector<int32_t>(kColumns, 3), of_zeros);
            aclTensor* const y1 = c.Out(kShape, ACL_INT8);
            aclTensor* const y2 = c.Out(kShape, ACL_INT8);
            return aclnnAddRmsNormQuantGetWorkspaceSize(c[0], c[1], c[2], scales, scales, zeros, nullptr, -1,
                                                        1e-6, c.setting == 0, y1, y2,
                                                        c.Out(kShape, c.Dtype()), c.size, c.executor);
          }),
    Coded("aclnnAddRmsNormQuant_950", aclnnAddRmsNormQuant, kAscend950, kHalves, {{kShape}, {kShape}, {kRow}},
          3,
          [](CodedCall& c) {
            const aclDataType codes = kBytes950[c.setting + 1];
            aclTensor* const scales = c.In(kRow, c.Dtype());
            aclTensor* const y1 = c.Out(kShape, codes);
            aclTensor* const y2 = c.Out(kShape, codes);
            return aclnnAddRmsNormQuantGetWorkspaceSize(c[0], c[1], c[2], scales, scales, nullptr, scales, -1,
                                                        1e-6, true, y1, y2, c.Out(kShape, c.Dtype()), c.size,
                                                        c.executor);
          }),
    Coded("aclnnAddRmsNormQuantV2_950", aclnnAddRmsNormQuantV2, kAscend950, kHalves,
          {{kShape}, {kShape}, {kRow}, {kRow}}, 4,
          [](CodedCall& c) {
            const aclDataType codes = kBytes950[c.setting];
            aclTensor* const y1 = c.Out(kShape, codes);
            aclTensor* const y2 = c.Out(kShape, codes);
            return aclnnAddRmsNormQuantV2GetWorkspaceSize(
                c[0], c[1], c[2], c.In({1}, ACL_FLOAT), nullptr, nullptr, nullptr, c[3], -1, 1e-6, true, y1,
                y2, nullptr, c.Out(kShape, c.Dtype()), c.size, c.executor);
          }),
    Coded("aclnnAddRmsNormQuantV2", aclnnAddRmsNormQuantV2, nullptr, kHalves,
          {{kShape}, {kShape}, {kRow}, {kRow}}, 1,
          [](CodedCall& c) {
            const bool is_bf16 = c.Dtype() == ACL_BF16;
            aclTensor* const scales = c.In(kRow, is_bf16 ? ACL_BF16 : ACL_FLOAT);
            aclTensor* const y1 = c.Out(kShape, ACL_INT8);
            aclTensor* const y2 = c.Out(kShape, ACL_INT8);
            return aclnnAddRmsNormQuantV2GetWorkspaceSize(
                c[0], c[1], c[2], scales, nullptr, nullptr, nullptr, c[3], -1, 1e-6, true, y1, y2,
                c.Out(kShape, c.Dtype()), nullptr, c.size, c.executor);
          }),
    Coded("aclnnAddRmsNormDynamicQuant", aclnnAddRmsNormDynamicQuant, nullptr, kHalves,
          {{kShape}, {kShape}, {kRow}, {kRow}}, 1,
          [](CodedCall& c) {
            aclTensor* const y1 = c.Out(kShape, ACL_INT4);
            aclTensor* const y2 = c.Out(kShape, ACL_INT4);
            aclTensor* const sum = c.Out(kShape, c.Dtype());
            aclTensor* const scale1 = c.Out(kOfRows, ACL_FLOAT);
            return aclnnAddRmsNormDynamicQuantGetWorkspaceSize(c[0], c[1], c[2], c[3], c[2], 1e-6, y1, y2,
                                                               sum, scale1, c.Out(kOfRows, ACL_FLOAT), c.size,
                                                               c.executor);
          }),
    Coded("aclnnAddRmsNormDynamicQuantV2_950", aclnnAddRmsNormDynamicQuantV2, kAscend950, kHalves,
          {{kShape}, {kShape}, {kRow}, {kRow}}, 3,
          [](CodedCall& c) {
            const aclDataType codes = kBytes950[c.setting + 1];
            aclTensor* const y1 = c.Out(kShape, codes);
            aclTensor* const y2 = c.Out(kShape, codes);
            aclTensor* const sum = c.Out(kShape, c.Dtype());
            aclTensor* const scale1 = c.Out(kOfRows, ACL_FLOAT);
            return aclnnAddRmsNormDynamicQuantV2GetWorkspaceSize(
                c[0], c[1], c[2], c[3], c[2], c[3], 1e-6, nullptr, y1, y2, sum, scale1,
                c.Out(kOfRows, ACL_FLOAT), c.size, c.executor);
          }),
    Coded(
        "aclnnRmsNormQuant", aclnnRmsNormQuant, nullptr, kHalves, {{kShape}, {kRow}, {kRow}, {{1}}}, 2,
        [](CodedCall& c) {
          const bool is_packed = c.setting == 1;
          aclTensor* const y = is_packed ? c.Out({kRows, kColumns / 8}, ACL_INT32) : c.Out(kShape, ACL_INT8);
          return aclnnRmsNormQuantGetWorkspaceSize(c[0], c[1], c[2], c[3], c.Integers<int8_t>({3}, ACL_INT8),
                                                   1e-6, y, c.size, c.executor);
        }),
    Coded("aclnnRmsNormQuant_950", aclnnRmsNormQuant, kAscend950, kHalves, {{kShape}, {kRow}, {kRow}, {kRow}},
          4,
          [](CodedCall& c) {
            const aclDataType codes = c.setting == 0 ? ACL_INT4 : kBytes950[c.setting];
            return aclnnRmsNormQuantGetWorkspaceSize(c[0], c[1], c[2], c[3], c.In(kRow, c.Dtype()), 1e-6,
                                                     c.Out(kShape, codes), c.size, c.executor);
          }),
    Coded("aclnnRmsNormQuantV3", aclnnRmsNormQuantV3, kAscend950, kAll, {{kShape}, {kRow}, {kRow}, {kRow}}, 4,
          [](CodedCall& c) {
            const aclDataType codes = c.setting == 0 ? ACL_INT4 : kBytes950[c.setting];
            aclTensor* const first_out = c.Out(kShape, codes);
            aclTensor* const second_out = c.Out({kRows, 1}, ACL_FLOAT);
            return aclnnRmsNormQuantV3GetWorkspaceSize(c[0], c[1], c[2], c.In(kRow, c.Dtype()), c[3], 1e-6,
                                                       c.setting % 2 == 0, true, first_out, second_out,
                                                       c.size, c.executor);
          }),
    Coded("aclnnRmsNormDynamicQuant", aclnnRmsNormDynamicQuant, nullptr, kHalves,
          {{kShape}, {kRow}, {kRow}, {kRow}}, 1,
          [](CodedCall& c) {
            aclTensor* const first_out = c.Out(kShape, ACL_INT8);
            aclTensor* const second_out = c.Out(kOfRows, ACL_FLOAT);
            return aclnnRmsNormDynamicQuantGetWorkspaceSize(c[0], c[1], c[2], c[3], 1e-6, ACL_INT8, first_out,
                                                            second_out, c.size, c.executor);
          }),
    Coded("aclnnRmsNormDynamicMxQuant", aclnnRmsNormDynamicMxQuant, kAscend950, kHalves,
          {{kShape}, {kRow}, {kRow}}, 5,
          [](CodedCall& c) {
            const MxMode& mode = ModeOf(c);
            aclTensor* const y = c.Out(kShape, mode.codes);
            aclTensor* const scale = c.Out(kPowers, ACL_FLOAT8_E8M0);
            return aclnnRmsNormDynamicMxQuantGetWorkspaceSize(
                c[0], c[1], c[2], 1e-6, mode.algorithm, c.Text(mode.round), mode.codes, true, y, scale,
                c.Out({kRows, 1}, ACL_FLOAT), c.size, c.executor);
          }),
    Coded("aclnnAddRmsNormDynamicMxQuant", aclnnAddRmsNormDynamicMxQuant, kAscend950, kHalves,
          {{kShape}, {kShape}, {kRow}, {kRow}}, 5,
          [](CodedCall& c) {
            const MxMode& mode = ModeOf(c);
            aclTensor* const y = c.Out(kShape, mode.codes);
            aclTensor* const sum = c.Out(kShape, c.Dtype());
            aclTensor* const scale = c.Out(kPowers, ACL_FLOAT8_E8M0);
            return aclnnAddRmsNormDynamicMxQuantGetWorkspaceSize(
                c[0], c[1], c[2], c[3], 1e-6, mode.algorithm, c.Text(mode.round), mode.codes, true, y, sum,
                scale, c.Out({kRows, 1}, ACL_FLOAT), c.size, c.executor);
          }),
    Coded("aclnnAddLayerNormQuant", aclnnAddLayerNormQuant, kAscend950, kAll,
          {{kShape}, {kShape}, {kRow}, {kRow}, {kRow}, {kRow}}, 2,
          [](CodedCall& c) {
            const bool is_static = c.setting == 0;
            aclTensor* const y1 = c.Out(kShape, ACL_INT8);
            aclTensor* const y2 = c.Out(kShape, ACL_INT8);
            aclTensor* const sum = c.Out({kRows, kColumns}, c.Dtype() == ACL_FLOAT ? ACL_FLOAT : c.Dtype());
            aclTensor* const scale1 = c.Out(kOfRows, ACL_FLOAT);
            return aclnnAddLayerNormQuantGetWorkspaceSize(
                c[0], c[1], c[2], c[3], c[4], c[5], c[5], nullptr, nullptr, is_static ? "static" : "dynamic",
                1e-5, true, false, y1, y2, sum, scale1, c.Out(kOfRows, ACL_FLOAT), c.size, c.executor);
          }),
    Coded("aclnnRmsNormGradQuant", aclnnRmsNormGradQuant, kAscend950, kAll, {{kShape}, {kShape}, {kRow}}, 2,
          [](CodedCall& c) {
            const aclDataType codes = kBytes950[c.setting];
            aclTensor* const first_out = c.Out(kShape, codes);
            aclTensor* const second_out = c.Out(kRow, ACL_FLOAT);
            return aclnnRmsNormGradQuantGetWorkspaceSize(
                c[0], c[1], c.In({kRows, 1}, ACL_FLOAT), c[2], c.In({1}, ACL_FLOAT),
                c.Integers<int32_t>({3}, ACL_INT32), "static", c.setting == 0, first_out, second_out, c.size,
                c.executor);
          }),
};

// ---- activations ----

const Shape kTwice = {kRows, 2 * kColumns};

const SubjectRegistration kGated[] = {
    Coded("aclnnDequantSwigluQuant", aclnnDequantSwigluQuant, nullptr, {ACL_INT32}, {{kTwice}}, 2,
          [](CodedCall& c) {
            const bool is_static = c.setting == 0;
            aclTensor* const first_out = c.Out(kShape, ACL_INT8);
            aclTensor* const second_out = c.Out(kOfRows, ACL_FLOAT);
            return aclnnDequantSwigluQuantGetWorkspaceSize(
                c[0], c.In({3, 2 * kColumns}, ACL_FLOAT), c.In({kRows}, ACL_FLOAT), nullptr,
                c.In({3, kColumns}, ACL_FLOAT), is_static ? c.In({3, kColumns}, ACL_FLOAT) : nullptr,
                Counts64(c), true, c.Text(is_static ? "static" : "dynamic"), first_out, second_out, c.size,
                c.executor);
          }),
    Coded("aclnnDequantSwigluQuantV2", aclnnDequantSwigluQuantV2, nullptr, {ACL_BF16}, {{kTwice}}, 4,
          [](CodedCall& c) {
            aclTensor* const first_out = c.Out(kShape, ACL_INT8);
            aclTensor* const second_out = c.Out(kOfRows, ACL_FLOAT);
            return aclnnDequantSwigluQuantV2GetWorkspaceSize(
                c[0], nullptr, nullptr, nullptr, c.In(kRow, ACL_FLOAT), nullptr, nullptr, true,
                c.Text("dynamic"), ACL_INT8, nullptr, -1, c.setting, 1.5, 1.702, 1.0, first_out, second_out,
                c.size, c.executor);
          }),
    Coded("aclnnDequantSwigluQuantV2_950", aclnnDequantSwigluQuantV2, kAscend950, kHalves, {{kTwice}}, 3,
          [](CodedCall& c) {
            const aclDataType codes = kBytes950[c.setting + 1];
            aclTensor* const first_out = c.Out(kShape, codes);
            aclTensor* const second_out = c.Out(kOfRows, ACL_FLOAT);
            return aclnnDequantSwigluQuantV2GetWorkspaceSize(
                c[0], nullptr, nullptr, nullptr, c.In(kRow, ACL_FLOAT), nullptr, nullptr, false,
                c.Text("dynamic"), codes, nullptr, -1, 0, 7, 1, 0, first_out, second_out, c.size, c.executor);
          }),
    Coded("aclnnSwiGluQuantV2_codes", aclnnSwiGluQuantV2, nullptr, kAll,
          {{kTwice}, {{3, kColumns}, ACL_FLOAT}}, 2,
          [](CodedCall& c) {
            const aclDataType codes = c.setting == 0 ? ACL_INT8 : ACL_INT4;
            aclTensor* const first_out = c.Out(kShape, codes);
            aclTensor* const second_out = c.Out(kOfRows, ACL_FLOAT);
            return aclnnSwiGluQuantV2GetWorkspaceSize(c[0], c[1], nullptr, Ends32(c), c.setting == 0,
                                                      c.Text("dynamic"), 0, codes, first_out, second_out,
                                                      c.size, c.executor);
          }),
    Coded("aclnnSwigluMxQuant", aclnnSwigluMxQuant, kAscend950, kHalves, {{kTwice}}, kMxModesCount,
          [](CodedCall& c) {
            const MxMode& mode = ModeOf(c);
            const bool has_counts = c.setting % 2 == 0;
            aclTensor* const first_out = c.Out(kShape, mode.codes);
            aclTensor* const second_out = c.Out(kPowers, ACL_FLOAT8_E8M0);
            return aclnnSwigluMxQuantGetWorkspaceSize(c[0], has_counts ? Counts64(c) : Ends64(c), -1, true,
                                                      c.setting % 2, 1.5, 1.702, 1, has_counts ? 0 : 1, -1,
                                                      mode.codes, c.Text(mode.round), mode.algorithm,
                                                      mode.most, first_out, second_out, c.size, c.executor);
          }),
    Coded("aclnnSwigluMxQuantWithDualAxis", aclnnSwigluMxQuantWithDualAxis, kAscend950, kHalves, {{kTwice}},
          kMxModesCount,
          [](CodedCall& c) {
            const MxMode& mode = ModeOf(c);
            aclTensor* const y1 = c.Out(kShape, mode.codes);
            aclTensor* const scale1 = c.Out(kPowers, ACL_FLOAT8_E8M0);
            aclTensor* const y2 = c.Out(kShape, mode.codes);
            return aclnnSwigluMxQuantWithDualAxisGetWorkspaceSize(
                c[0], nullptr, true, c.Text(mode.round), mode.algorithm, mode.codes, mode.most, y1, scale1,
                y2, c.Out(kPowersDown, ACL_FLOAT8_E8M0), c.size, c.executor);
          }),
    Coded("aclnnSwigluBackwardMxQuantWithDualAxis", aclnnSwigluBackwardMxQuantWithDualAxis, kAscend950,
          kHalves, {{kTwice}, {kShape}}, 2,
          [](CodedCall& c) {
            const aclDataType codes = kBytes950[c.setting + 2];
            aclTensor* const y1 = c.Out(kTwice, codes);
            aclTensor* const scale1 = c.Out({kRows, 13, 2}, ACL_FLOAT8_E8M0);
            aclTensor* const y2 = c.Out(kTwice, codes);
            return aclnnSwigluBackwardMxQuantWithDualAxisGetWorkspaceSize(
                c[0], c[1], nullptr, c.setting == 0, nullptr, 1, codes, 0, y1, scale1, y2,
                c.Out({1, 2 * kColumns, 2}, ACL_FLOAT8_E8M0), c.size, c.executor);
          }),
    Coded("aclnnSwigluGroupQuant", aclnnSwigluGroupQuant, kAscend950, kHalves, {{kTwice}}, 5,
          [](CodedCall& c) {
            struct Mode {
              int64_t mode;
              aclDataType codes;
              Shape scales;
              aclDataType of_scales;
            };
            static const Mode modes[] = {{0, ACL_FLOAT8_E4M3FN, {kRows, 4}, ACL_FLOAT},
                                         {1, ACL_FLOAT8_E5M2, kPowers, ACL_FLOAT8_E8M0},
                                         {1, ACL_FLOAT4_E2M1, kPowers, ACL_FLOAT8_E8M0},
                                         {2, ACL_HIFLOAT8, {3}, ACL_FLOAT},
                                         {3, ACL_HIFLOAT8, {3}, ACL_FLOAT}};
            const Mode& mode = modes[c.setting];
            aclTensor* const y = c.Out(kShape, mode.codes);
            aclTensor* const scale = c.Out(mode.scales, mode.of_scales);
            return aclnnSwigluGroupQuantGetWorkspaceSize(
                c[0], c.In({kRows, 1}, ACL_FLOAT), Counts64(c),
                mode.mode == 2 ? c.In({3}, ACL_FLOAT) : nullptr, mode.codes, mode.mode, 0, c.setting == 0,
                1.5, mode.mode == 3 ? 448 : 0, true, y, scale, c.Out(kShape, c.Dtype()), c.size, c.executor);
          }),
    Coded("aclnnSwigluGroupQuantGrad", aclnnSwigluGroupQuantGrad, kAscend950, kHalves,
          {{kShape}, {kTwice}, {{kRows, 1}, ACL_FLOAT}, {kShape}}, 1,
          [](CodedCall& c) {
            aclTensor* const first_out = c.Out(kTwice, c.Dtype());
            aclTensor* const second_out = c.Out({kRows, 1}, ACL_FLOAT);
            return aclnnSwigluGroupQuantGradGetWorkspaceSize(c[0], c[1], c[2], c[3], Counts64(c), 1.5,
                                                             first_out, second_out, c.size, c.executor);
          }),
    Coded("aclnnGeluQuant", aclnnGeluQuant, kAscend950, kAll, {{kShape}, {kRow}, {kRow}}, 8,
          [](CodedCall& c) {
            const aclDataType codes = kBytes950[c.setting % 4];
            const bool is_static = c.setting < 4;
            aclTensor* const y = c.Out(kShape, codes);
            return aclnnGeluQuantGetWorkspaceSize(
                c[0], c[1], is_static ? c[2] : nullptr, c.setting % 2 == 0 ? "none" : "tanh",
                is_static ? "static" : "dynamic", RoundOf(codes), codes, y,
                is_static ? nullptr : c.Out(kOfRows, ACL_FLOAT), c.size, c.executor);
          }),
};

// ---- rotated rows ----

constexpr int64_t kHeight = 6, kWidth = 40, kMatrices = 19;
const Shape kMatrixRows = {kMatrices, kHeight, kWidth};

const SubjectRegistration kRotations[] = {
    Coded("aclnnFlatQuant", aclnnFlatQuant, nullptr, kHalves,
          {{kMatrixRows}, {{kHeight, kHeight}}, {{kWidth, kWidth}}}, 2,
          [](CodedCall& c) {
            aclTensor* const y = c.setting == 0 ? c.Out(kMatrixRows, ACL_INT4)
                                                : c.Out({kMatrices, kHeight, kWidth / 8}, ACL_INT32);
            return aclnnFlatQuantGetWorkspaceSize(c[0], c[1], c[2], 0.75, y, c.Out({kMatrices}, ACL_FLOAT),
                                                  c.size, c.executor);
          }),
    Coded("aclnnFlatQuantV2", aclnnFlatQuantV2, kAscend950, kHalves,
          {{kMatrixRows}, {{kHeight, kHeight}}, {{kWidth, kWidth}}}, 5,
          [](CodedCall& c) {
            const double most[] = {0, 6, 7, 10, 0};
            aclTensor* const right = c.setting < 4 ? c[2] : c.In({0, 0}, c.Dtype());
            aclTensor* const first_out = c.Out({kMatrices, kHeight * kWidth}, ACL_FLOAT4_E2M1);
            aclTensor* const second_out = c.Out({kMatrices, 4, 2}, ACL_FLOAT8_E8M0);
            return aclnnFlatQuantV2GetWorkspaceSize(c[0], c[1], right, 1, most[c.setting], first_out,
                                                    second_out, c.size, c.executor);
          }),
    Coded("aclnnRotateQuant_950", aclnnRotateQuant, kAscend950, kHalves,
          {{kShape}, {{32, 32}}, {{1}, ACL_FLOAT}}, kMxModesCount,
          [](CodedCall& c) {
            const MxMode& mode = ModeOf(c);
            static float part = 0.75f;  // else the one that is drawn, which may cut nothing
            aclTensor* const first_out = c.Out(kShape, mode.codes);
            aclTensor* const second_out = c.Out(kPowers, ACL_FLOAT8_E8M0);
            return aclnnRotateQuantGetWorkspaceSize(
                c[0], c[1], c.setting % 2 == 0 ? c.Dense({1}, ACL_FLOAT, &part) : c[2], -1,
                c.Text(mode.round), mode.algorithm, mode.most, false, first_out, second_out, c.size,
                c.executor);
          }),
    Coded("aclnnRotateQuant_950_many", aclnnRotateQuant, kAscend950, kHalves, {{kShape}, {{13, 32, 32}}}, 2,
          [](CodedCall& c) {
            const MxMode& mode = kMxModes[c.setting == 0 ? 0 : 4];
            aclTensor* const first_out = c.Out(kShape, mode.codes);
            aclTensor* const second_out = c.Out(kPowers, ACL_FLOAT8_E8M0);
            return aclnnRotateQuantGetWorkspaceSize(c[0], c[1], nullptr, -1, nullptr, mode.algorithm,
                                                    mode.most, false, first_out, second_out, c.size,
                                                    c.executor);
          }),
};

}  // namespace
}  // namespace portacl::testing
