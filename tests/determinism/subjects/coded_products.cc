// Products of codes for the determinism test, with the modes that a product has alone: scales of rows, blocks and powers of two, groups
// of rows and of terms, products of experts' rows, packed and scattered codes.
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "aclnnop/families/convolution.h"
#include "aclnnop/families/matmul.h"
#include "aclnnop/families/moe.h"
#include "aclnnop/families/serving.h"
#include "determinism/coded_calls.h"

namespace portacl::testing {
namespace {

constexpr int64_t kM = 37, kK = 320, kN = 72, kGroups = 3;
constexpr int64_t kPairs = kK / 64;
constexpr aclFormat kFractal = ACL_FORMAT_FRACTAL_NZ;
const Shape kY = {kM, kN};
const std::vector<DtypeNumber> kNone = {ACL_INT8};  // for calls without a number that is drawn
const std::vector<DtypeNumber> kFloat = {ACL_FLOAT};

aclTensor* Sizes(CodedCall& c) { return c.Integers<int64_t>({20, 0, 15}, ACL_INT64); }
aclTensor* Ends(CodedCall& c) { return c.Integers<int64_t>({20, 20, 35}, ACL_INT64); }
aclTensor* EndsOfTerms(CodedCall& c) { return c.Integers<int64_t>({130, 130, 317}, ACL_INT64); }
aclDataType OutOf(int64_t i) { return i % 3 == 0 ? ACL_BF16 : i % 3 == 1 ? ACL_FLOAT16 : ACL_FLOAT; }

// A transposed view: [rows, columns] of a dense tensor of [columns, rows].
aclTensor* Transposed(int64_t rows, int64_t columns, aclDataType dtype) {
  const Shape view = {rows, columns}, storage = {columns, rows}, strides = {1, rows};
  return aclCreateTensor(view.data(), 2, dtype, strides.data(), 0, ACL_FORMAT_ND, storage.data(), 2,
                         CodedCall::DataOf(dtype));
}

// ---- one product ----

// The operands of a mode of aclnnQuantMatmulV5 and of its form for FRACTAL_NZ.
struct ScaledOperands {
  aclTensor *x1, *x2, *of_rows, *of_columns, *of_y = nullptr, *bias = nullptr;
  aclDataType out;
  int64_t group_size = 0;
};
ScaledOperands OperandsOf(CodedCall& c, aclFormat format) {
  const Shape x1 = {kM, kK}, x2 = {kN, kK}, powers1 = {kM, kPairs, 2}, powers2 = {kN, kPairs, 2};
  const int64_t blocks = (kK + 127) / 128;
  const auto codes = [&](aclDataType left, aclDataType right) {
    ScaledOperands operands{};
    operands.x1 = c.In(x1, left);
    operands.x2 = c.In(x2, right, format);
    operands.out = OutOf(c.setting);
    return operands;
  };
  ScaledOperands operands{};
  switch (c.setting) {
    case 0:
      operands = codes(ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E5M2);
      operands.of_rows = c[0];
      operands.of_columns = c.In({kN}, ACL_FLOAT);
      operands.bias = c.In({kN}, ACL_FLOAT);
      return operands;
    case 1:
      operands = codes(ACL_HIFLOAT8, ACL_HIFLOAT8);
      operands.of_columns = c.In({kN}, ACL_UINT64);
      return operands;
    case 2:
    case 3:
      operands =
          c.setting == 2 ? codes(ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E4M3FN) : codes(ACL_HIFLOAT8, ACL_HIFLOAT8);
      operands.of_rows = c.In({c.setting == 2 ? kM : 1, blocks}, ACL_FLOAT);
      operands.of_columns = c.In({1, blocks}, ACL_FLOAT);
      operands.group_size = int64_t{c.setting == 2 ? 1 : 128} << 32 | 128 << 16 | 128;
      return operands;
    case 4:
    case 5:
      operands = c.setting == 4 ? codes(ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN)
                                : codes(ACL_FLOAT4_E2M1, ACL_FLOAT4_E2M1);
      operands.of_rows = c.In(powers1, ACL_FLOAT8_E8M0);
      operands.of_columns = c.In(powers2, ACL_FLOAT8_E8M0);
      operands.bias = c.In({kN}, ACL_FLOAT);
      return operands;
    case 6:
      operands = codes(ACL_FLOAT8_E4M3FN, ACL_FLOAT4_E2M1);
      operands.of_rows = c.In(powers1, ACL_FLOAT8_E8M0);
      operands.of_columns = c.In(powers2, ACL_FLOAT8_E8M0);
      operands.bias = c.In({1, kN}, operands.out);
      return operands;
    default:
      operands = codes(ACL_FLOAT8_E4M3FN, ACL_FLOAT4_E2M1);
      operands.of_columns = c.In({kN, kK / 32}, operands.out);
      operands.of_y = c.In({1, kN}, ACL_UINT64);
      operands.group_size = 32;
      return operands;
  }
}

const SubjectRegistration kProducts[] = {
    Coded("aclnnQuantMatmulV3", aclnnQuantMatmulV3, nullptr, kNone, {}, 2,
          [](CodedCall& c) {
            const aclDataType codes = c.setting == 0 ? ACL_INT8 : ACL_INT4;
            return aclnnQuantMatmulV3GetWorkspaceSize(c.In({kM, kK}, codes), c.In({kK, kN}, codes),
                                                      c.In({kN}, ACL_UINT64), nullptr, nullptr, false, false,
                                                      c.Out(kY, ACL_FLOAT16), c.size, c.executor);
          }),
    Coded("aclnnQuantMatmulV5", aclnnQuantMatmulV5, nullptr, kFloat, {{{kM}}}, 2,
          [](CodedCall& c) {
            const bool is_s32 = c.setting == 1;
            const aclDataType out = is_s32 ? ACL_INT32 : ACL_BF16;
            return aclnnQuantMatmulV5GetWorkspaceSize(
                c.In({kM, kK}, ACL_INT8), c.In({kK, kN}, ACL_INT8), is_s32 ? nullptr : c[0],
                c.In({kN}, is_s32 ? ACL_FLOAT : ACL_BF16), nullptr, nullptr, nullptr, nullptr, nullptr, false,
                false, 0, c.Out(kY, out), c.size, c.executor);
          }),
    Coded("aclnnQuantMatmulV5_950", aclnnQuantMatmulV5, kAscend950, kFloat, {{{kM}}}, 8,
          [](CodedCall& c) {
            const ScaledOperands o = OperandsOf(c, ACL_FORMAT_ND);
            return aclnnQuantMatmulV5GetWorkspaceSize(o.x1, o.x2, o.of_rows, o.of_columns, o.of_y, nullptr,
                                                      nullptr, nullptr, o.bias, false, true, o.group_size,
                                                      c.Out(kY, o.out), c.size, c.executor);
          }),
    Coded("aclnnQuantMatmulWeightNz", aclnnQuantMatmulWeightNz, kAscend950, kFloat, {{{kM}}}, 8,
          [](CodedCall& c) {
            const ScaledOperands o = OperandsOf(c, kFractal);
            return aclnnQuantMatmulWeightNzGetWorkspaceSize(
                o.x1, o.x2, o.of_rows, o.of_columns, o.of_y, nullptr, nullptr, nullptr, o.bias, false, true,
                o.group_size, c.Out(kY, o.out), c.size, c.executor);
          }),
    Coded("aclnnQuantMatmulReduceSumWeightNz", aclnnQuantMatmulReduceSumWeightNz, nullptr, kFloat,
          {{{kGroups, kM}}}, 1,
          [](CodedCall& c) {
            const aclIntArray* const dims = c.Ints({0});
            return aclnnQuantMatmulReduceSumWeightNzGetWorkspaceSize(
                c.In({kGroups, kM, 96}, ACL_INT8), c.In({kGroups, 96, kN}, ACL_INT8, kFractal), c[0],
                c.In({kN}, ACL_BF16), nullptr, nullptr, nullptr, nullptr, nullptr, false, false, 0, dims,
                false, c.Out(kY, ACL_BF16), c.size, c.executor);
          }),
    Coded("aclnnFusedQuantMatmulWeightNz", aclnnFusedQuantMatmulWeightNz, nullptr, kFloat, {{{kM}}}, 2,
          [](CodedCall& c) {
            return aclnnFusedQuantMatmulWeightNzGetWorkspaceSize(
                c.In({kM, kK}, ACL_INT8), c.In({kK, kN}, ACL_INT8, kFractal), c[0], c.In({kN}, ACL_FLOAT),
                nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                c.setting == 0 ? "gelu_tanh" : "gelu_erf", 0, c.Out(kY, ACL_BF16), c.size, c.executor);
          }),
    Coded("aclnnQuantMatmulDequant", aclnnQuantMatmulDequant, kAscend310P, {ACL_FLOAT16},
          {{{kM, kK}}, {{kK}}}, 1,
          [](CodedCall& c) {
            return aclnnQuantMatmulDequantGetWorkspaceSize(
                c[0], c.In({80, kK}, ACL_INT8), c.In({80}, ACL_FLOAT), nullptr, nullptr, nullptr, c[1],
                c.Text("pertoken"), true, c.Out({kM, 80}, ACL_FLOAT16), c.size, c.executor);
          }),
    // Matrices and scales have no layouts, since they must be contiguous.
    Coded("aclnnWeightQuantBatchMatmulV3", aclnnWeightQuantBatchMatmulV3, nullptr, kNone, {}, 2,
          [](CodedCall& c) {
            const aclDataType dtype = OutOf(c.setting);
            return aclnnWeightQuantBatchMatmulV3GetWorkspaceSize(
                c.In({kM, kK}, dtype), c.In({kK, kN}, ACL_INT8), c.In({5, kN}, dtype), c.In({5, kN}, dtype),
                nullptr, nullptr, nullptr, 64, 0, c.Out(kY, dtype), c.size, c.executor);
          }),
    // Weights of INT8, INT4 and FLOAT4, scales of x's type and powers of two; words of FLOAT4.
    Coded("aclnnWeightQuantBatchMatmulNz", aclnnWeightQuantBatchMatmulNz, kAscend950, kNone, {}, 10,
          [](CodedCall& c) {
            const aclDataType dtype = OutOf(c.setting / 5);
            const int64_t mode = c.setting % 5;
            const aclDataType codes[] = {ACL_INT8, ACL_INT4, ACL_FLOAT4_E2M1, ACL_FLOAT4_E2M1, ACL_FLOAT};
            aclTensor* const weight = mode == 4 ? c.Dense({kK, kN / 8}, ACL_FLOAT, Codes(), kFractal)
                                                : c.In({kK, kN}, codes[mode], kFractal);
            aclTensor* const scale = mode == 0   ? c.In({kN}, dtype)
                                     : mode >= 3 ? c.In({10, kN}, ACL_FLOAT8_E8M0)
                                                 : c.In({10, kN}, dtype);
            return aclnnWeightQuantBatchMatmulNzGetWorkspaceSize(
                c.In({kM, kK}, dtype), weight, scale, nullptr, nullptr, nullptr, nullptr, mode == 0 ? 0 : 32,
                c.Out(kY, dtype), c.size, c.executor);
          }),
    Coded("aclnnTransposeQuantBatchMatMul", aclnnTransposeQuantBatchMatMul, kAscend950, kFloat, {{{kM}}}, 3,
          [](CodedCall& c) {
            const aclIntArray* const swapped = c.Ints({1, 0, 2});
            const aclIntArray* const same = c.Ints({0, 1, 2});
            const bool is_hifloat = c.setting == 2;
            const int64_t k = c.setting == 0 ? 512 : kK, n = c.setting == 0 ? 128 : kN;
            const aclDataType codes = is_hifloat ? ACL_HIFLOAT8 : ACL_FLOAT8_E4M3FN;
            aclTensor* const of_rows = is_hifloat       ? nullptr
                                       : c.setting == 0 ? c[0]
                                                        : c.In({kM, 2, kPairs, 2}, ACL_FLOAT8_E8M0);
            aclTensor* const of_columns = is_hifloat       ? c.In({n}, ACL_UINT64)
                                          : c.setting == 0 ? c.In({n}, ACL_FLOAT)
                                                           : c.In({2, kPairs, n, 2}, ACL_FLOAT8_E8M0);
            return aclnnTransposeQuantBatchMatMulGetWorkspaceSize(
                c.In({kM, 2, k}, codes), c.In({2, k, n}, codes), nullptr, of_rows, of_columns, ACL_BF16, 0,
                swapped, same, swapped, 1, c.Out({kM, 2, n}, ACL_BF16), c.size, c.executor);
          }),
    Coded("aclnnTransposeQuantBatchMatMulWeightNz", aclnnTransposeQuantBatchMatMulWeightNz, kAscend950, kNone,
          {}, 1,
          [](CodedCall& c) {
            const aclIntArray* const swapped = c.Ints({1, 0, 2});
            const aclIntArray* const same = c.Ints({0, 1, 2});
            return aclnnTransposeQuantBatchMatMulWeightNzGetWorkspaceSize(
                c.In({kM, 2, kK}, ACL_HIFLOAT8), c.In({2, kK, kN}, ACL_HIFLOAT8, kFractal), nullptr, nullptr,
                c.In({kN}, ACL_UINT64), ACL_HIFLOAT8, 0, swapped, same, swapped, 1,
                c.Out({kM, 2, kN}, ACL_HIFLOAT8), c.size, c.executor);
          }),
    Coded("aclnnDualLevelQuantMatmulWeightNz", aclnnDualLevelQuantMatmulWeightNz, kAscend950, kFloat,
          {{{kN}}}, 1,
          [](CodedCall& c) {
            return aclnnDualLevelQuantMatmulWeightNzGetWorkspaceSize(
                c.In({kM, 640}, ACL_FLOAT4_E2M1), c.In({kN, 640}, ACL_FLOAT4_E2M1, kFractal),
                c.In({kM, 2}, ACL_FLOAT), c.In({2, kN}, ACL_FLOAT), c.In({kM, 10, 2}, ACL_FLOAT8_E8M0),
                c.In({kN, 10, 2}, ACL_FLOAT8_E8M0), c[0], false, true, 512, 32, c.Out(kY, ACL_BF16), c.size,
                c.executor);
          }),
    Coded("aclnnQuantBatchMatmulInplaceAdd", aclnnQuantBatchMatmulInplaceAdd, kAscend950, kFloat, {{{1}}}, 2,
          [](CodedCall& c) {
            const bool is_hifloat = c.setting == 1;
            const aclDataType codes = is_hifloat ? ACL_HIFLOAT8 : ACL_FLOAT8_E5M2;
            return aclnnQuantBatchMatmulInplaceAddGetWorkspaceSize(
                c.In({kK, kM}, codes), c.In({kK, kN}, codes),
                is_hifloat ? c[0] : c.In({kPairs, kM, 2}, ACL_FLOAT8_E8M0),
                is_hifloat ? c[0] : c.In({kPairs, kN, 2}, ACL_FLOAT8_E8M0), c.Out(kY, ACL_FLOAT), true, false,
                0, c.size, c.executor);
          }),
    Coded("aclnnQuantGroupedMatmulInplaceAdd", aclnnQuantGroupedMatmulInplaceAdd, kAscend950, kFloat,
          {{{kGroups}}}, 2,
          [](CodedCall& c) {
            const bool is_hifloat = c.setting == 1;
            const aclDataType codes = is_hifloat ? ACL_HIFLOAT8 : ACL_FLOAT8_E4M3FN;
            aclTensor* const x1 = Transposed(kM, kK, codes);
            const aclnnStatus status = aclnnQuantGroupedMatmulInplaceAddGetWorkspaceSize(
                x1, c.In({kK, kN}, codes),
                is_hifloat ? c[0] : c.In({kPairs + kGroups, kM, 2}, ACL_FLOAT8_E8M0),
                is_hifloat ? c[0] : c.In({kPairs + kGroups, kN, 2}, ACL_FLOAT8_E8M0), EndsOfTerms(c),
                c.Out({kGroups, kM, kN}, ACL_FLOAT), 0, 0, c.size, c.executor);
            aclDestroyTensor(x1);
            return status;
          }),
    Coded("aclnnQuantConvolution", aclnnQuantConvolution, nullptr, kFloat, {}, 2,
          [](CodedCall& c) {
            const aclIntArray* const ones = c.Ints({1, 1, 1});
            const aclIntArray* const zeros = c.Ints({0, 1, 1});
            const aclDataType out = c.setting == 0 ? ACL_BF16 : ACL_FLOAT16;
            return aclnnQuantConvolutionGetWorkspaceSize(
                c.Dense({2, 5, 3, 7, 9}, ACL_INT8, Codes(), ACL_FORMAT_NCDHW),
                c.Dense({11, 5, 2, 3, 3}, ACL_INT8, Codes(), ACL_FORMAT_NCDHW), c.In({11}, ACL_FLOAT),
                c.In({11}, ACL_FLOAT), nullptr, ones, zeros, ones, false, nullptr, 1, 0, nullptr,
                c.Dense({2, 11, 2, 7, 9}, out, c.Place({2, 11, 2, 7, 9}, out), ACL_FORMAT_NCDHW), c.size,
                c.executor);
          }),
};

// ---- words and packed codes ----

const SubjectRegistration kPacked[] = {
    Coded("aclnnTransQuantParamV2", aclnnTransQuantParamV2, nullptr, kFloat, {{{331}}, {{331}}}, 1,
          [](CodedCall& c) {
            return aclnnTransQuantParamV2GetWorkspaceSize(c[0], c[1], c.Out({331}, ACL_UINT64), c.size,
                                                          c.executor);
          }),
    Coded("aclnnTransQuantParamV3", aclnnTransQuantParamV3, nullptr, kFloat, {{{331}}, {{331}}}, 2,
          [](CodedCall& c) {
            return aclnnTransQuantParamV3GetWorkspaceSize(c[0], c[1], c.setting, c.Out({331}, ACL_UINT64),
                                                          c.size, c.executor);
          }),
    Coded("aclnnConvertWeightToINT4Pack", aclnnConvertWeightToINT4Pack, kAscend950, kNone, {}, 2,
          [](CodedCall& c) {
            std::vector<int32_t> words(64 * 96);
            std::vector<float> numbers(words.size());
            const float floats[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
            for (size_t i = 0; i < words.size(); ++i) {
              words[i] = static_cast<int32_t>(i * 11 % 16);
              numbers[i] = i % 3 == 0 ? -floats[i * 5 % 8] : floats[i * 5 % 8];
            }
            aclTensor* const weights = c.setting == 0 ? c.Integers(words, ACL_INT32, {64, 96})
                                                      : c.Integers(numbers, ACL_FLOAT, {64, 96});
            aclTensor* const out = c.Out({64, 96}, c.setting == 0 ? ACL_INT4 : ACL_FLOAT4_E2M1);
            return aclnnConvertWeightToINT4PackGetWorkspaceSize(weights, out, c.size, c.executor);
          }),
};

// ---- groups ----

const SubjectRegistration kGrouped[] = {
    // x has no layouts, since it must not be transposed.
    Coded("aclnnGroupedMatmul", aclnnGroupedMatmul, nullptr, {ACL_FLOAT16, ACL_BF16}, {{{kGroups, kN}}}, 1,
          [](CodedCall& c) {
            const aclIntArray* const ends = c.Ints({20, 20, 35});
            const auto weight = [&] { return Call::Entry({kK, kN}, c.Dtype(), Halves(c.Dtype())); };
            const auto bias = [&](int64_t group) {
              return Call::Entry({kN}, c.Dtype(), static_cast<uint16_t*>(Halves(c.Dtype())) + group);
            };
            return aclnnGroupedMatmulGetWorkspaceSize(
                c.InList({35, kK}, c.Dtype()), c.List({weight(), weight(), weight()}),
                c.Dtype() == ACL_BF16 ? nullptr : c.List({bias(0), bias(1), bias(2)}), nullptr, nullptr,
                nullptr, nullptr, ends, 3, c.OutList({35, kN}, c.Dtype()), c.size, c.executor);
          }),
    Coded("aclnnGroupedMatmulV2", aclnnGroupedMatmulV2, nullptr, {ACL_FLOAT16, ACL_FLOAT}, {{{kGroups, kN}}},
          1,
          [](CodedCall& c) {
            const aclIntArray* const ends = c.Ints({20, 20, 35});
            return aclnnGroupedMatmulV2GetWorkspaceSize(
                c.InList({35, 160}, c.Dtype()), c.InList({kGroups, 160, 32}, c.Dtype()), nullptr, nullptr,
                nullptr, nullptr, nullptr, ends, 3, 0, c.OutList({35, 32}, c.Dtype()), c.size, c.executor);
          }),
    Coded("aclnnGroupedMatmulV3", aclnnGroupedMatmulV3, nullptr, {ACL_FLOAT16, ACL_BF16}, {{{kGroups, kN}}},
          1,
          [](CodedCall& c) {
            return aclnnGroupedMatmulV3GetWorkspaceSize(
                c.InList({kM, kK}, c.Dtype()), c.InList({kGroups, kK, kN}, ACL_INT8), nullptr, nullptr,
                nullptr, c.ListOf(0), c.InList({kGroups, kN}, c.Dtype()), Ends(c), 3, 0,
                c.OutList(kY, c.Dtype()), c.size, c.executor);
          }),
    Coded("aclnnGroupedMatmulV4", aclnnGroupedMatmulV4, nullptr, kFloat, {{{kM}}}, 3,
          [](CodedCall& c) {
            // No function, that of tanh, and words of scales for INT8.
            const bool is_static = c.setting == 2;
            return aclnnGroupedMatmulV4GetWorkspaceSize(
                c.InList({kM, kK}, ACL_INT8), c.InList({kGroups, kK, kN}, ACL_INT8), nullptr,
                c.InList({kGroups, kN}, is_static ? ACL_UINT64 : ACL_BF16), nullptr, nullptr, nullptr,
                is_static ? nullptr : c.ListOf(0), Sizes(c), nullptr, nullptr, nullptr, 3, 0, 1,
                c.setting == 1 ? 2 : 0, c.OutList(kY, is_static ? ACL_INT8 : ACL_BF16), nullptr, nullptr,
                c.size, c.executor);
          }),
    Coded("aclnnGroupedMatmulWeightNz", aclnnGroupedMatmulWeightNz, nullptr, kFloat, {{{kM}}}, 2,
          [](CodedCall& c) {
            const bool has_nibbles = c.setting == 1;
            const aclDataType codes = has_nibbles ? ACL_INT4 : ACL_INT8;
            aclTensorList* const scale =
                has_nibbles ? c.InList({kGroups, 64}, ACL_UINT64) : c.InList({kGroups, 64}, ACL_BF16);
            return aclnnGroupedMatmulWeightNzGetWorkspaceSize(
                c.InList({kM, kK}, codes), c.InList({kGroups, kK, 64}, codes, kFractal), nullptr, scale,
                nullptr, nullptr, nullptr, c.ListOf(0), Sizes(c), nullptr, nullptr, nullptr, 3, 0, 1, 0,
                nullptr, 0, c.OutList({kM, 64}, ACL_BF16), nullptr, nullptr, c.size, c.executor);
          }),
    // Groups of rows with words, whole scales, powers of two and blocks.
    Coded("aclnnGroupedMatmulV5_rows", aclnnGroupedMatmulV5, kAscend950, kFloat, {{{kM}}}, 5,
          [](CodedCall& c) {
            const aclDataType of_x[] = {ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN, ACL_HIFLOAT8,
                                        ACL_FLOAT8_E4M3FN};
            const aclDataType codes = of_x[c.setting];
            aclTensorList* const scales[] = {
                c.InList({kGroups, kN}, ACL_UINT64), c.InList({kGroups, kN}, ACL_FLOAT),
                c.InList({kGroups, kPairs, kN, 2}, ACL_FLOAT8_E8M0), c.InList({kGroups, 3, 1}, ACL_FLOAT),
                c.InList({kGroups, 3, 1}, ACL_FLOAT)};
            aclTensorList* const factors[] = {nullptr, c.ListOf(0),
                                              c.InList({kM, kPairs, 2}, ACL_FLOAT8_E8M0),
                                              c.InList({kM, 3}, ACL_FLOAT), c.InList({kM, 3}, ACL_FLOAT)};
            const aclDataType out = OutOf(c.setting);
            return aclnnGroupedMatmulV5GetWorkspaceSize(
                c.InList({kM, kK}, codes), c.InList({kGroups, kK, kN}, codes), nullptr, scales[c.setting],
                nullptr, nullptr, nullptr, factors[c.setting], Ends(c), nullptr, nullptr, nullptr, 3, 0, 0, 0,
                nullptr, c.OutList(kY, out), nullptr, nullptr, c.size, c.executor);
          }),
    // Groups of terms.
    Coded(
        "aclnnGroupedMatmulV5_terms", aclnnGroupedMatmulV5, kAscend950, kFloat, {{{kGroups}}}, 3,
        [](CodedCall& c) {
          const aclDataType of_x[] = {ACL_HIFLOAT8, ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E5M2};
          const aclDataType codes = of_x[c.setting];
          aclTensorList* const scales[] = {c.InList({kGroups}, ACL_FLOAT),
                                           c.InList({kPairs + kGroups, kN, 2}, ACL_FLOAT8_E8M0),
                                           c.InList({kK / 128 + kGroups, 1}, ACL_FLOAT)};
          aclTensorList* const factors[] = {c.ListOf(0), c.InList({kPairs + kGroups, kM, 2}, ACL_FLOAT8_E8M0),
                                            c.InList({kK / 128 + kGroups, kM}, ACL_FLOAT)};
          return aclnnGroupedMatmulV5GetWorkspaceSize(
              c.List(Transposed(kM, kK, codes)), c.InList({kK, kN}, codes), nullptr, scales[c.setting],
              nullptr, nullptr, nullptr, factors[c.setting], EndsOfTerms(c), nullptr, nullptr, nullptr, 3, 2,
              0, 0, nullptr, c.OutList({kGroups, kM, kN}, ACL_FLOAT), nullptr, nullptr, c.size, c.executor);
        }),
    // Pairs of a group and its number of rows.
    Coded("aclnnGroupedMatmulV5_pairs", aclnnGroupedMatmulV5, kAscend950, kFloat, {{{kM}}}, 1,
          [](CodedCall& c) {
            return aclnnGroupedMatmulV5GetWorkspaceSize(
                c.InList({kM, kK}, ACL_HIFLOAT8), c.InList({kGroups, kK, kN}, ACL_HIFLOAT8), nullptr,
                c.InList({kGroups, kN}, ACL_FLOAT), nullptr, nullptr, nullptr, c.ListOf(0),
                c.Integers<int64_t>({2, 20, 0, 15, 1, 0}, ACL_INT64, {3, 2}), nullptr, nullptr, nullptr, 3, 0,
                2, 0, nullptr, c.OutList(kY, ACL_BF16), nullptr, nullptr, c.size, c.executor);
          }),
    Coded("aclnnGroupedMatmulAdd", aclnnGroupedMatmulAdd, nullptr, {ACL_FLOAT16, ACL_BF16},
          {{{kK, kM}}, {{kK, kN}}}, 1,
          [](CodedCall& c) {
            return aclnnGroupedMatmulAddGetWorkspaceSize(c[0], c[1], EndsOfTerms(c),
                                                         c.Out({kGroups, kM, kN}, ACL_FLOAT), true, false, 2,
                                                         c.size, c.executor);
          }),
    Coded("aclnnGroupedMatmulAddV2", aclnnGroupedMatmulAddV2, kAscend950, {ACL_FLOAT16, ACL_BF16},
          {{{kK, kM}}, {{kK, kN}}}, 1,
          [](CodedCall& c) {
            return aclnnGroupedMatmulAddV2GetWorkspaceSize(
                c[0], c[1], c.Integers<int64_t>({130, 0, 187}, ACL_INT64),
                c.Out({kGroups, kM, kN}, ACL_FLOAT), true, false, 2, 1, c.size, c.executor);
          }),
    Coded("aclnnGroupedMatmulSwigluQuant", aclnnGroupedMatmulSwigluQuant, nullptr, kFloat, {{{kM}}}, 1,
          [](CodedCall& c) {
            aclTensor* const first_out = c.Out({kM, 32}, ACL_INT8);
            aclTensor* const second_out = c.Out({kM}, ACL_FLOAT);
            return aclnnGroupedMatmulSwigluQuantGetWorkspaceSize(
                c.In({kM, kK}, ACL_INT8), c.In({kGroups, kK, 64}, ACL_INT8, kFractal), nullptr, nullptr,
                c.In({kGroups, 64}, ACL_FLOAT), c[0], Ends(c), first_out, second_out, nullptr, c.size,
                c.executor);
          }),
    Coded("aclnnGroupedMatmulSwigluQuantWeightNZ", aclnnGroupedMatmulSwigluQuantWeightNZ, nullptr, kFloat,
          {{{kM}}, {{kGroups, 64}}}, 1,
          [](CodedCall& c) {
            aclTensor* const first_out = c.Out({kM, 32}, ACL_INT8);
            aclTensor* const second_out = c.Out({kM}, ACL_FLOAT);
            return aclnnGroupedMatmulSwigluQuantWeightNZGetWorkspaceSize(
                c.In({kM, kK}, ACL_INT8), c.In({kGroups, kK, 64}, ACL_INT4, kFractal), c[1], nullptr,
                c.In({kGroups, 64}, ACL_UINT64), c[0], Ends(c), first_out, second_out, nullptr, c.size,
                c.executor);
          }),
    Coded("aclnnGroupedMatmulSwigluQuantWeightNzV2", aclnnGroupedMatmulSwigluQuantWeightNzV2, nullptr, kFloat,
          {{{kM}}}, 1,
          [](CodedCall& c) {
            aclTensor* const first_out = c.Out({kM, 32}, ACL_INT8);
            aclTensor* const second_out = c.Out({kM}, ACL_FLOAT);
            return aclnnGroupedMatmulSwigluQuantWeightNzV2GetWorkspaceSize(
                c.In({kM, kK}, ACL_INT8), c.InList({kGroups, kK, 64}, ACL_INT8, kFractal),
                c.InList({kGroups, 64}, ACL_FLOAT), nullptr, nullptr, c[0], nullptr, Sizes(c), 0, 0, 0, 1,
                nullptr, first_out, second_out, c.size, c.executor);
          }),
    Coded("aclnnGroupedMatmulFinalizeRouting", aclnnGroupedMatmulFinalizeRouting, nullptr, kFloat,
          {{{kM}}, {{kM}}, {{kM}, ACL_INT64, 9}}, 1,
          [](CodedCall& c) {
            return aclnnGroupedMatmulFinalizeRoutingGetWorkspaceSize(
                c.In({kM, 192}, ACL_INT8), c.In({kGroups, 192, 128}, ACL_INT4),
                c.In({kGroups, 1, 128}, ACL_INT64), c.In({kGroups, 128}, ACL_FLOAT), c[0], Sizes(c),
                c.In({5, 128}, ACL_BF16), c[1], c[2], 0, 0.5f, 1, false, false, 1, c.Out({9, 128}, ACL_FLOAT),
                c.size, c.executor);
          }),
    Coded("aclnnGroupedMatmulFinalizeRoutingWeightNz", aclnnGroupedMatmulFinalizeRoutingWeightNz, nullptr,
          kFloat, {{{kM}}, {{kM}}, {{kM}, ACL_INT64, 9}}, 1,
          [](CodedCall& c) {
            return aclnnGroupedMatmulFinalizeRoutingWeightNzGetWorkspaceSize(
                c.In({kM, 64}, ACL_INT8), c.In({kGroups, 64, 256}, ACL_INT8, kFractal),
                c.In({kGroups, 256}, ACL_FLOAT), nullptr, c[0], Sizes(c), c.In({5, 256}, ACL_BF16), c[1],
                c[2], 0, 0.5f, 1, false, false, 1, c.Out({9, 256}, ACL_FLOAT), c.size, c.executor);
          }),
    Coded("aclnnGroupedMatmulFinalizeRoutingV2", aclnnGroupedMatmulFinalizeRoutingV2, nullptr, kFloat,
          {{{kM}}, {{kM}}, {{kM}, ACL_INT64, 9}}, 1,
          [](CodedCall& c) {
            return aclnnGroupedMatmulFinalizeRoutingV2GetWorkspaceSize(
                c.In({kM, 192}, ACL_INT8), c.In({kGroups, 192, 128}, ACL_INT4),
                c.In({kGroups, 1, 128}, ACL_INT64), c.In({kGroups, 128}, ACL_FLOAT), nullptr, nullptr,
                nullptr, c[0], Sizes(c), c.In({5, 128}, ACL_BF16), c[1], c[2], 0, 0.5f, 1, false, false, 1,
                c.Out({9, 128}, ACL_FLOAT), c.size, c.executor);
          }),
    Coded("aclnnGroupedMatmulFinalizeRoutingWeightNzV2", aclnnGroupedMatmulFinalizeRoutingWeightNzV2, nullptr,
          kFloat, {{{kM}}, {{kM}}, {{kM}, ACL_INT64, 9}}, 1,
          [](CodedCall& c) {
            return aclnnGroupedMatmulFinalizeRoutingWeightNzV2GetWorkspaceSize(
                c.In({kM, 192}, ACL_INT8), c.In({kGroups, 192, 128}, ACL_INT4, kFractal),
                c.In({kGroups, 1, 128}, ACL_INT64), c.In({kGroups, 128}, ACL_FLOAT),
                c.In({kGroups, 1, 128}, ACL_FLOAT), nullptr, nullptr, c[0], Sizes(c),
                c.In({5, 128}, ACL_BF16), c[1], c[2], 0, 0.5f, 1, false, false, 1, nullptr,
                c.Out({9, 128}, ACL_FLOAT), c.size, c.executor);
          }),
    Coded("aclnnQuantGroupedMatmulDequant", aclnnQuantGroupedMatmulDequant, kAscend310P, {ACL_FLOAT16},
          {{{kM, kK}}, {{kK}}}, 1,
          [](CodedCall& c) {
            return aclnnQuantGroupedMatmulDequantGetWorkspaceSize(
                c[0], c.In({kGroups, 80, kK}, ACL_INT8), c.In({kGroups, 80}, ACL_FLOAT), Ends(c), nullptr,
                nullptr, nullptr, c[1], c.Text("pertoken"), true, c.Out({kM, 80}, ACL_FLOAT16), c.size,
                c.executor);
          }),
    Coded("aclnnQuantGroupedMatmulDequantWeightNZ", aclnnQuantGroupedMatmulDequantWeightNZ, kAscend310P,
          {ACL_FLOAT16}, {{{kM, kK}}}, 1,
          [](CodedCall& c) {
            return aclnnQuantGroupedMatmulDequantWeightNZGetWorkspaceSize(
                c[0], c.In({kGroups, 80, kK}, ACL_INT8, kFractal), c.In({kGroups, 80}, ACL_FLOAT), Ends(c),
                nullptr, c.In({1}, ACL_FLOAT), nullptr, nullptr, c.Text("pertensor"), true,
                c.Out({kM, 80}, ACL_FLOAT16), c.size, c.executor);
          }),
    Coded("aclnnFFNV2", aclnnFFNV2, nullptr, {ACL_FLOAT16, ACL_BF16},
          {{{kM, 65}}, {{2, 65, 133}}, {{2, 133, 65}}}, 1,
          [](CodedCall& c) {
            const aclIntArray* const ends = c.Ints({17, kM});
            return aclnnFFNV2GetWorkspaceSize(c[0], c[1], c[2], ends, nullptr, nullptr, nullptr, nullptr,
                                              nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                              c.Text("silu"), 0, true, c.Out({kM, 65}, c.Dtype()), c.size,
                                              c.executor);
          }),
};

// ---- caches ----

const SubjectRegistration kCaches[] = {
    Coded("aclnnInplaceQuantScatter", aclnnInplaceQuantScatter, nullptr, {ACL_BF16},
          {{{5, 3, 4, 64}}, {{64}}}, 1,
          [](CodedCall& c) {
            return aclnnInplaceQuantScatterGetWorkspaceSize(
                c.Out({5, 3, 30, 64}, ACL_INT8), c.Integers<int32_t>({3, 0, 26, 7, 1}, ACL_INT32), c[0], c[1],
                nullptr, -2, -1, 1, c.size, c.executor);
          }),
    Coded("aclnnInplaceQuantScatterV2", aclnnInplaceQuantScatterV2, kAscend950, {ACL_BF16, ACL_FLOAT16},
          {{{5, 3, 4, 64}}}, 3,
          [](CodedCall& c) {
            const aclDataType codes[] = {ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN};
            return aclnnInplaceQuantScatterV2GetWorkspaceSize(
                c.Out({5, 3, 30, 64}, codes[c.setting]), c.Integers<int32_t>({3, 0, 26, 7, 1}, ACL_INT32),
                c[0], c.In({64}, c.Dtype() == ACL_BF16 ? ACL_BF16 : ACL_FLOAT), nullptr, -2, -1, 1,
                c.setting == 0 ? "round" : "rint", c.size, c.executor);
          }),
    Coded("aclnnDequantRopeQuantKvcache", aclnnDequantRopeQuantKvcache, nullptr, {ACL_FLOAT16, ACL_BF16},
          {{{2, 5, 256}}, {{2, 5, 1, 32}}, {{2, 5, 1, 32}}}, 1,
          [](CodedCall& c) {
            const aclIntArray* const splits = c.Ints({128, 64, 64});
            aclTensor* const k_cache = c.Out({2, 12, 2, 32}, ACL_INT8);
            aclTensor* const v_cache = c.Out({2, 12, 2, 32}, ACL_INT8);
            aclTensor* const q = c.Out({2, 5, 4, 32}, c.Dtype());
            aclTensor* const k = c.Out({2, 5, 2, 32}, c.Dtype());
            return aclnnDequantRopeQuantKvcacheGetWorkspaceSize(
                c[0], c[1], c[2], k_cache, v_cache, c.Integers<int32_t>({3, 6}, ACL_INT32),
                c.In({64}, ACL_FLOAT), c.In({64}, ACL_FLOAT), nullptr, nullptr, nullptr, nullptr, nullptr,
                splits, nullptr, nullptr, true, nullptr, q, k, c.Out({2, 5, 2, 32}, c.Dtype()), c.size,
                c.executor);
          }),
};

}  // namespace
}  // namespace portacl::testing
