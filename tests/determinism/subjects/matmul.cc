// Products of matrices, for the determinism test: kernels, panels, blocks of terms and tiles in part and in whole, and work for several threads.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>

#include "aclnnop/families/linalg.h"
#include "aclnnop/families/matmul.h"
#include "aclnnop/families/moe.h"
#include "determinism/calls.h"
#include "support/guarded_buffer.h"

namespace portacl::testing {
namespace {

// Inputs and output; each of all types.
struct Shapes {
  std::vector<CaseTensor> inputs;
  CaseTensor output;
};

const std::vector<DtypeNumber> kFloats = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
std::vector<GivenCase> Of(const std::vector<Shapes>& all, const std::vector<DtypeNumber>& dtypes = kFloats) {
  std::vector<GivenCase> cases;
  for (const Shapes& shapes : all) cases = cases + Cases(dtypes, shapes.inputs, {shapes.output});
  return cases;
}

const auto kMm =
    Register(PORTACL_PHASES(aclnnMm, c[0], c[1], c[2], 1), Of({{{{131, 300}, {300, 97}}, {131, 97}},
                                                               {{{1, 700}, {700, 301}}, {1, 301}},
                                                               {{{530, 20}, {20, 70}}, {530, 70}}}));
const auto kMatmul = Register(PORTACL_PHASES(aclnnMatmul, c[0], c[1], c[2], 1),
                              Of({{{{3, 1, 65, 270}, {2, 270, 33}}, {3, 2, 65, 33}},
                                  {{{3000}, {3000}}, {}},
                                  {{{5, 41, 300}, {300}}, {5, 41}}}));
const auto kBatchMatMul =
    Register(PORTACL_PHASES(aclnnBatchMatMul, c[0], c[1], c[2], 1),
             Of({{{{12, 64, 64}, {12, 64, 64}}, {12, 64, 64}}, {{{5, 30, 257}, {1, 257, 40}}, {5, 30, 40}}}));
// The batch is the second dim of both, and is cut into two.
const auto kTransposeBatchMatMul =
    Register(PORTACL_PHASES(aclnnTransposeBatchMatMul, c[0], c[1], nullptr, nullptr, c.Ints({1, 0, 2}),
                            c.Ints({0, 1, 2}), c.Ints({1, 0, 2}), 1, 2, c[2]),
             Of({{{{65, 6, 257}, {6, 257, 40}}, {2, 65, 120}}}));
const auto kAddmm =
    Register(PORTACL_PHASES(aclnnAddmm, c[0], c[1], c[2], c.Scalar(0.7), c.Scalar(1.3), c[3], 1),
             Of({{{{97}, {131, 300}, {300, 97}}, {131, 97}}, {{{40, 33}, {40, 513}, {513, 33}}, {40, 33}}}));
const auto kGemm = Register(PORTACL_PHASES(aclnnGemm, c[0], c[1], c[2], 1.3f, 0.7f, 1, 1, c[3], 1),
                            Of({{{{300, 131}, {97, 300}, {97}}, {131, 97}}}));
const auto kInplaceAddmm =
    Register(PORTACL_PHASES(aclnnInplaceAddmm, c[3], c[1], c[2], c.Scalar(1), c.Scalar(1), 1),
             Of({{{{131, 97}, {131, 300}, {300, 97}}, {131, 97}}}), {.start = Start::kFirstInput});
const auto kBaddbmm =
    Register(PORTACL_PHASES(aclnnBaddbmm, c[0], c[1], c[2], c.Scalar(0.7), c.Scalar(1.3), c[3], 1),
             Of({{{{7, 1, 40}, {7, 65, 280}, {7, 280, 40}}, {7, 65, 40}}}));
const auto kInplaceBaddbmm =
    Register(PORTACL_PHASES(aclnnInplaceBaddbmm, c[3], c[1], c[2], c.Scalar(1), c.Scalar(-2), 1),
             Of({{{{7, 65, 40}, {7, 65, 280}, {7, 280, 40}}, {7, 65, 40}}}), {.start = Start::kFirstInput});
const auto kAddbmm =
    Register(PORTACL_PHASES(aclnnAddbmm, c[0], c[1], c[2], c.Scalar(0.7), c.Scalar(1.3), c[3], 1),
             Of({{{{65, 1}, {7, 65, 280}, {7, 280, 40}}, {65, 40}}}));
const auto kInplaceAddbmm =
    Register(PORTACL_PHASES(aclnnInplaceAddbmm, c[3], c[1], c[2], c.Scalar(1), c.Scalar(1), 1),
             Of({{{{65, 40}, {7, 65, 280}, {7, 280, 40}}, {65, 40}}}), {.start = Start::kFirstInput});
const auto kMv = Register(PORTACL_PHASES(aclnnMv, c[0], c[1], c[2], 1), Of({{{{301, 1000}, {1000}}, {301}}}));
const auto kDot = Register(PORTACL_PHASES(aclnnDot, c[0], c[1], c[2]),
                           Of({{{{20000}, {20000}}, {}}, {{{100}, {100}}, {}}, {{{800000}, {800000}}, {}}}));
const auto kAddmv = Register(PORTACL_PHASES(aclnnAddmv, c[0], c[1], c[2], c.Scalar<int32_t>(2, ACL_INT32),
                                            c.Scalar<int32_t>(-3, ACL_INT32), c[3], 1),
                             Of({{{{301}, {301, 1000}, {1000}}, {301}}, {{{1}, {33, 290}, {290}}, {33}}},
                                {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_INT32, ACL_INT64}));
const auto kGer = Register(PORTACL_PHASES(aclnnGer, c[0], c[1], c[2]),
                           Of({{{{131}, {97}}, {131, 97}}},
                              {ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_INT16, ACL_INT64, ACL_COMPLEX64}));
const auto kLinalgCross =
    Register(PORTACL_PHASES(aclnnLinalgCross, c[0], c[1], 1, c[2]),
             Of({{{{40, 3, 2000}, {3, 1}}, {40, 3, 2000}}},
                {ACL_FLOAT, ACL_BF16, ACL_DOUBLE, ACL_INT16, ACL_INT64, ACL_COMPLEX64}));
const std::vector<DtypeNumber> kLinalgDtypes = {ACL_FLOAT, ACL_DOUBLE, ACL_COMPLEX64, ACL_COMPLEX128};
const auto kTriangularSolve =
    Register(PORTACL_PHASES(aclnnTriangularSolve, c[0], c[1], true, true, false, c[2], nullptr),
             Of({{{{3, 23, 600}, {23, 23}}, {3, 23, 600}}}, kLinalgDtypes));
const auto kInverse = Register(PORTACL_PHASES(aclnnInverse, c[0], c[1]),
                               Of({{{{131, 131}}, {131, 131}}, {{{7, 20, 20}}, {7, 20, 20}}}, kLinalgDtypes));
// R alone.
const auto kLinalgQr = Register(PORTACL_PHASES(aclnnLinalgQr, c[0], 2, c.Unseen({0}, c.Dtype()), c[1]),
                                Of({{{{70, 300}}, {70, 300}}, {{{7, 20, 9}}, {7, 9, 9}}}, kLinalgDtypes));
// Distances by each way to sum: blocks of terms, tiles and panels in part and in whole, few columns, batches that repeat.
SubjectRegistration RegisterDistances(const std::string& name, float p) {
  return Register(
      Phases{"aclnnCdist", aclnnCdist,
             [p](Call& c) { return aclnnCdistGetWorkspaceSize(c[0], c[1], p, 2, c[2], c.size, c.executor); }}
          .As(name),
      Of({{{{401, 300}, {97, 300}}, {401, 97}},
          {{{3, 1, 65, 17}, {2, 33, 17}}, {3, 2, 65, 33}},
          {{{300, 600}, {5, 600}}, {300, 5}}}));
}
const auto kCount = RegisterDistances("0", 0);
const auto kSum = RegisterDistances("1", 1);
const auto kSquares = RegisterDistances("2", 2);
const auto kMost = RegisterDistances("infinity", std::numeric_limits<float>::infinity());
const auto kPowers = RegisterDistances("2_5", 2.5f);

// Gradients of distances by each term, rows in part and in whole vectors, and a batch that repeats.
SubjectRegistration RegisterDistanceGradients(const std::string& name, float p) {
  return Register(Phases{"aclnnCdistBackward", aclnnCdistBackward,
                         [p](Call& c) {
                           return aclnnCdistBackwardGetWorkspaceSize(c[0], c[1], c[2], c[3], p, c[4], c.size,
                                                                     c.executor);
                         }}
                      .As(name),
                  Of({{{{40, 97}, {40, 300}, {97, 300}, {40, 97}}, {40, 300}},
                      {{{3, 5, 33}, {1, 5, 17}, {3, 33, 17}, {3, 5, 33}}, {1, 5, 17}}}));
}
const auto kSumGradient = RegisterDistanceGradients("1", 1);
const auto kSquaresGradient = RegisterDistanceGradients("2", 2);
const auto kMostGradient = RegisterDistanceGradients("infinity", -1);
const auto kPdist = Register(PORTACL_PHASES(aclnnPdist, c[0], 2.5f, c[1]),
                             Of({{{{201, 70}}, {20100}}}, {ACL_FLOAT, ACL_FLOAT16}));
const auto kPdistForward =
    Register(PORTACL_PHASES(aclnnPdistForward, c[0], c.Scalar<int32_t>(2, ACL_INT32), c[1]),
             Of({{{{201, 300}}, {20100}}}, {ACL_FLOAT, ACL_FLOAT16}));

// A matrix that has a factor, which random ones have not: the input is not looked at.
aclTensor* PositiveMatrix(Call& c) {
  constexpr int64_t kOrder = 131;
  static std::vector<float> numbers = [] {
    std::vector<float> made(kOrder * kOrder);
    for (int64_t i = 0; i < kOrder * kOrder; ++i) {
      const int64_t far = std::abs(i / kOrder - i % kOrder);
      made[static_cast<size_t>(i)] = far == 0 ? 4.0f : 1.0f / static_cast<float>(far * far + 1);
    }
    return made;
  }();
  return c.Dense({kOrder, kOrder}, ACL_FLOAT, numbers.data());
}
const auto kCholesky = Register(PORTACL_PHASES(aclnnLinalgCholesky, PositiveMatrix(c), false, c[1]),
                                Of({{{{1}}, {131, 131}}}, {ACL_FLOAT}));
// Q, of reflections in part and in whole blocks, and completed to a square.
const auto kReducedQ =
    Register(PORTACL_PHASES(aclnnLinalgQr, c[0], 0, c[1], c.Unseen({60, 60}, c.Dtype())).As("q"),
             Of({{{{150, 60}}, {150, 60}}}, kLinalgDtypes));
const auto kCompleteQ =
    Register(PORTACL_PHASES(aclnnLinalgQr, c[0], 1, c[1], c.Unseen({7, 20, 9}, c.Dtype())).As("complete_q"),
             Of({{{{7, 20, 9}}, {7, 20, 20}}}, kLinalgDtypes));
// The upper triangle as it lies.
const auto kUpperTriangle =
    Register(PORTACL_PHASES(aclnnTriangularSolve, c[0], c[1], true, false, false, c[2], nullptr).As("upper"),
             Of({{{{3, 23, 600}, {23, 23}}, {3, 23, 600}}, {{{70, 40}, {70, 70}}, {70, 40}}}, kLinalgDtypes));
const auto kSlogdet = Register(PORTACL_PHASES(aclnnSlogdet, c[0], c.Unseen({7}, c.Dtype()), c[1]),
                               Of({{{{7, 60, 60}}, {7}}}, kLinalgDtypes));
const auto kSvd = Register(
    PORTACL_PHASES(aclnnSvd, c[0], false, false, c[1], c.Unseen({0}, c.Dtype()), c.Unseen({0}, c.Dtype())),
    Of({{{{70, 33}}, {33}}, {{{5, 9, 20}}, {5, 9}}}, kLinalgDtypes));
// Left vectors, with those that complete a square.
const auto kSvdVectors = Register(
    PORTACL_PHASES(aclnnSvd, c[0], true, true, c.Unseen({9}, c.Dtype()), c[1], c.Unseen({9, 9}, c.Dtype()))
        .As("vectors"),
    Of({{{{20, 9}}, {20, 20}}}, kLinalgDtypes));

// ---- codes ----

// An operand of two dims that is dense, whatever layout is given: a copy beside a guard page, until the next call.
struct DenseCopy {
  DenseCopy(const Call& c, size_t i) : DenseCopy(ViewOf(c[i]), i) {}
  DenseCopy(const ViewOf& view, size_t i) : dtype(view.dtype), rows(view.shape[0]), columns(view.shape[1]) {
    static auto* const memory = new std::unique_ptr<GuardedBuffer>[4];  // never destroyed
    const auto size = static_cast<int64_t>(aclDataTypeSize(dtype));
    memory[i] = std::make_unique<GuardedBuffer>(static_cast<size_t>(rows * columns * size));
    data = reinterpret_cast<char*>(memory[i]->data());
    device = memory[i]->device();
    for (int64_t k = 0; k < rows * columns; ++k) {
      const int64_t place = view.offset + k / columns * view.strides[0] + k % columns * view.strides[1];
      std::copy_n(static_cast<const char*>(view.address) + place * size, size, data + k * size);
    }
  }
  // The bytes of INT8 also as twice as many INT4.
  aclTensor* As(Call& c, aclDataType type, const Shape& shape, bool is_transposed = false) const {
    if (!is_transposed) return c.Dense(shape, type, device);
    const Shape strides = {1, shape[0]};
    return c.Own(
        aclCreateTensor(shape.data(), 2, type, strides.data(), 0, ACL_FORMAT_ND, shape.data(), 2, device));
  }
  aclTensorList* ListAs(Call& c, aclDataType type, const Shape& shape) const {
    return c.List(Call::Entry(shape, type, device));
  }

  aclDataType dtype;
  int64_t rows;
  int64_t columns;
  char* data;    // for the test
  void* device;  // for tensors
};
const std::vector<DtypeNumber> kHalves = {ACL_FLOAT16, ACL_BF16};
const Traits kCoded = {.start = Start::kZero, .seed_of = ""};

// INT8 weights, and INT4 transposed.
std::vector<GivenCase> WeightCases() {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kHalves) {
    cases.push_back(Case(dtype, {{131, 300}, {{300, 97}, ACL_INT8}, {1, 97}, {1, 97}}, {131, 97}, 0));
    cases.push_back(Case(dtype, {{5, 700}, {{97, 350}, ACL_INT8}, {22, 97}, {22, 97}}, {5, 97}, 1));
  }
  return cases;
}
const auto kWeights =
    Register({"aclnnWeightQuantBatchMatmulV2", aclnnWeightQuantBatchMatmulV2,
              [](Call& c) {
                const DenseCopy x(c, 0), weight(c, 1), scale(c, 2), offset(c, 3);
                const bool is_int4 = c.setting != 0;
                const Shape of_scales = {scale.rows, scale.columns};
                return aclnnWeightQuantBatchMatmulV2GetWorkspaceSize(
                    x.As(c, x.dtype, {x.rows, x.columns}),
                    weight.As(c, is_int4 ? ACL_INT4 : ACL_INT8, {x.columns, scale.columns}, is_int4),
                    scale.As(c, x.dtype, of_scales, is_int4), offset.As(c, x.dtype, of_scales, is_int4),
                    nullptr, nullptr, nullptr, is_int4 ? 32 : 0, c[4], c.size, c.executor);
              }},
             WeightCases(), kCoded);

// Integers of 8 bits, scaled by columns and rows; with words as scales; of 4 bits, transposed.
std::vector<GivenCase> IntegerCases() {
  std::vector<GivenCase> cases;
  const auto add = [&](DtypeNumber out, size_t way, const Shape& x1, const Shape& x2) {
    cases.push_back(
        Case(ACL_FLOAT, {{x1, ACL_INT8}, {x2, ACL_INT8}, {1, 97}, {1, x1[0]}}, {{x1[0], 97}, out}, way));
  };
  for (const DtypeNumber out : {ACL_INT32, ACL_BF16, ACL_FLOAT16}) add(out, 0, {131, 300}, {300, 97});
  for (const DtypeNumber out : {ACL_INT8, ACL_FLOAT16}) add(out, 1, {5, 700}, {700, 97});
  for (const DtypeNumber out : {ACL_BF16, ACL_FLOAT16}) add(out, 2, {5, 700}, {97, 700});
  return cases;
}
const auto kIntegers = Register(
    {"aclnnQuantMatmulV4", aclnnQuantMatmulV4,
     [](Call& c) {
       static std::vector<uint64_t> words;
       const DenseCopy x1(c, 0), x2(c, 1), scale(c, 2), factors(c, 3);
       const bool is_int4 = c.setting == 2;
       const bool has_words = c.setting == 1;
       if (has_words) {
         uint64_t* made = nullptr;
         uint64_t count = 0;
         aclnnTransQuantParam(reinterpret_cast<const float*>(scale.data),
                              static_cast<uint64_t>(scale.columns),
                              reinterpret_cast<const float*>(factors.data), 1, &made, &count);
         words.assign(made, made + count);
         std::free(made);
       }
       return aclnnQuantMatmulV4GetWorkspaceSize(
           is_int4 ? x1.As(c, ACL_INT4, {x1.rows, 2 * x1.columns})
                   : x1.As(c, ACL_INT8, {x1.rows, x1.columns}),
           is_int4 ? x2.As(c, ACL_INT4, {2 * x2.columns, x2.rows}, true)
                   : x2.As(c, ACL_INT8, {x2.rows, x2.columns}),
           has_words ? c.Dense({scale.columns}, ACL_UINT64, words.data())
                     : scale.As(c, ACL_FLOAT, {scale.columns}),
           nullptr,
           has_words || c.Dtype(4) == ACL_INT32 ? nullptr : factors.As(c, ACL_FLOAT, {factors.columns}),
           nullptr, false, false, c[4], c.size, c.executor);
     }},
    IntegerCases(), kCoded);

// Integers, scaled by columns and rows, and GELU of both kinds.
std::vector<GivenCase> GeluCases(size_t way) {
  std::vector<GivenCase> cases;
  for (const DtypeNumber out : {ACL_BF16, ACL_FLOAT16})
    cases.push_back(
        Case(ACL_FLOAT, {{{131, 300}, ACL_INT8}, {{300, 97}, ACL_INT8}, {131}, {97}}, {{131, 97}, out}, way));
  return cases;
}
const auto kGelu =
    Register(PORTACL_PHASES(aclnnFusedQuantMatmul, c[0], c[1], c[2], c[3], nullptr, nullptr, nullptr, nullptr,
                            nullptr, nullptr, c.setting == 0 ? "gelu_tanh" : "gelu_erf", 0, c[4]),
             GeluCases(0) + GeluCases(1), kCoded);

// Groups of rows: floats, integers with an activation, quantised weights alone.
std::vector<GivenCase> GroupCases() {
  std::vector<GivenCase> cases;
  const auto add = [&](DtypeNumber x, DtypeNumber weight, DtypeNumber scale, DtypeNumber out, size_t way) {
    cases.push_back(Case(x, {{131, 300}, {{900, 97}, weight}, {{3, 97}, scale}}, {{131, 97}, out}, way));
  };
  for (const DtypeNumber dtype : kFloats) add(dtype, dtype, dtype, dtype, 0);
  add(ACL_INT8, ACL_INT8, ACL_FLOAT, ACL_FLOAT16, 1);
  add(ACL_INT8, ACL_INT8, ACL_BF16, ACL_BF16, 1);
  for (const DtypeNumber dtype : kHalves) add(dtype, ACL_INT8, dtype, dtype, 2);
  return cases;
}
const auto kGroups =
    Register({"aclnnGroupedMatmulV5", aclnnGroupedMatmulV5,
              [](Call& c) {
                static int64_t sizes[] = {70, 0, 61};
                const DenseCopy x(c, 0), weight(c, 1), scale(c, 2);
                const Shape of_scales = {3, weight.columns};
                const bool is_float = c.setting == 0;
                const bool is_alone = c.setting == 2;
                return aclnnGroupedMatmulV5GetWorkspaceSize(
                    x.ListAs(c, x.dtype, {x.rows, x.columns}),
                    weight.ListAs(c, weight.dtype, {3, x.columns, weight.columns}), nullptr,
                    is_float || is_alone ? nullptr : scale.ListAs(c, scale.dtype, of_scales), nullptr,
                    is_alone ? scale.ListAs(c, scale.dtype, of_scales) : nullptr,
                    is_alone ? scale.ListAs(c, scale.dtype, of_scales) : nullptr, nullptr,
                    c.Dense({3}, ACL_INT64, sizes), nullptr, nullptr, nullptr, 3, 0, 1,
                    c.setting == 1 ? 5 : 0, nullptr, c.ListOf(3), nullptr, nullptr, c.size, c.executor);
              }},
             GroupCases(), kCoded);

// Groups of rows, gated, as INT8.
const auto kGates = Register(
    {"aclnnGroupedMatmulSwigluQuantV2", aclnnGroupedMatmulSwigluQuantV2,
     [](Call& c) {
       static int64_t ends[] = {70, 70, 131};
       const DenseCopy x(c, 0), weight(c, 1), scale(c, 2), x_scale(c, 3);
       return aclnnGroupedMatmulSwigluQuantV2GetWorkspaceSize(
           x.As(c, ACL_INT8, {x.rows, x.columns}), weight.ListAs(c, ACL_INT8, {3, x.columns, weight.columns}),
           scale.ListAs(c, ACL_FLOAT, {3, weight.columns}), nullptr, nullptr,
           x_scale.As(c, ACL_FLOAT, {x.rows}), nullptr, c.Dense({3}, ACL_INT64, ends), 0, 0, 0, 0, nullptr,
           c[4], c.Unseen({x.rows}), c.size, c.executor);
     }},
    {Case(ACL_FLOAT, {{{131, 300}, ACL_INT8}, {{900, 96}, ACL_INT8}, {3, 96}, {1, 131}},
          {{131, 48}, ACL_INT8})},
    kCoded);

}  // namespace
}  // namespace portacl::testing
