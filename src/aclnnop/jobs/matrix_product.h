// What the products of matrices share: their checks, and the job that tensors seen as matrices make.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "aclnnop/phase1.h"
#include "contract/arguments.h"
#include "engine/gemm/gemm.h"
#include "plan/views.h"

namespace portacl::matmul {

// FLOAT, FLOAT16 and, on newer products, BF16, of every tensor by itself.
inline constexpr DtypeRule kDtypes = kBf16SinceAtlasA2;

namespace check {
aclnnStatus ModeFits(const Check& check, OperatorCall& call) noexcept;
aclnnStatus DepthsEqual(const Check& check, OperatorCall& call) noexcept;
aclnnStatus NotFractal(const Check& check, OperatorCall& call) noexcept;
aclnnStatus FractalInsideStorage(const Check& check, OperatorCall& call) noexcept;
aclnnStatus MatricesInsideStorage(const Check& check, OperatorCall& call) noexcept;
aclnnStatus BatchesFit(const Check& check, OperatorCall& call) noexcept;
aclnnStatus ScalarsAreNumbers(const Check& check, OperatorCall& call) noexcept;
aclnnStatus HasQuantised(const Check& check, OperatorCall& call) noexcept;
}  // namespace check

// 161002 when cubeMathType is none that the product has, or, before Atlas A2, is 0 or 3 with a FLOAT matrix.
constexpr Check ModeFits(int attribute, Operands matrices) {
  return {.run = check::ModeFits, .operands = matrices, .low = attribute};
}
// 161002 when the columns of the first are not as many as the rows of the second: their last two dims.
constexpr Check DepthsEqual(int left, int right) {
  return {.run = check::DepthsEqual, .operands = {left, right}};
}
// 161002 when one of the tensors has the format FRACTAL_NZ.
constexpr Check NotFractal(Operands operands) { return {.run = check::NotFractal, .operands = operands}; }
// 561103 when a tensor in FRACTAL_NZ or another private format, which lies as its strides say, reaches elements that are not inside
// its storage, unless it is trusted (MatricesInsideStorage).
constexpr Check FractalInsideStorage(Operands operands) {
  return {.run = check::FractalInsideStorage, .operands = operands, .code = ACLNN_ERR_INNER_NULLPTR};
}
// InsideStorage for operands of products, which take a matrix whose last two dims are swapped as it lies: by its strides alone,
// so that it is trusted as a contiguous one is. Expert i of a weight may be a view at an offset of the first one's storage.
constexpr Check MatricesInsideStorage(Operands operands) {
  return {.run = check::MatricesInsideStorage, .operands = operands, .code = ACLNN_ERR_INNER_NULLPTR};
}
// 161002 when the first dims of two tensors differ and neither is 1.
constexpr Check BatchesFit(int left, int right) {
  return {.run = check::BatchesFit, .operands = {left, right}};
}
// 561103 when a scalar has no value as a FLOAT.
constexpr Check ScalarsAreNumbers(Operands attributes) {
  return {.run = check::ScalarsAreNumbers, .code = ACLNN_ERR_INNER_NULLPTR, .attributes = attributes};
}

inline constexpr ProductSet kAtlasInference{Product::kAtlasInference};
// 361001 on products without quantised matrix products.
constexpr Check HasQuantised() {
  return OnProducts(~(products::kSinceAtlasA2 | kAtlasInference),
                    {.run = check::HasQuantised, .code = ACLNN_ERR_RUNTIME_ERROR});
}

// Reports that a tensor with this shape is not accepted, and returns the check's code.
aclnnStatus Refuse(const Check& check, const OperatorCall& call, int tensor, const char* accepted);
// Reports that a tensor's shape does not go with another one's, and returns the check's code.
aclnnStatus RefuseWith(const Check& check, const OperatorCall& call, int tensor, int other,
                       const char* accepted);

// Whether it lies as a contiguous one whose last two dims were swapped, and so not contiguous. Its strides decide alone.
bool IsTransposed(const StridedView& tensor) noexcept;
StridedView LastTwoSwapped(const StridedView& tensor) noexcept;

// A tensor as matrices: dims of a batch, then rows and columns. The output's batch is that of the product, to which the others'
// broadcast.
struct Matrices {
  int argument;
  StridedView view;
};

struct MatrixProduct {
  Matrices left;
  Matrices right;
  Matrices out;
  const Matrices* added = nullptr;  // broadcasts to the output; nullptr: not read
  float alpha = 1;
  float beta = 1;
  bool multiplies = true;  // else the product is not computed, and left and right are not read
  bool sums_batch =
      false;  // left and right have one dim of a batch, over which products are added up; the output has none
};
// The product as the engine takes it.
engine::Gemm GemmOf(const MatrixProduct& product) noexcept;
// Sets the executor's job: out = beta * added + alpha * (left @ right). Without terms, and where nothing is multiplied, out is
// beta * added, and 0 where nothing is added either.
void SetProductJob(const OperatorCall& call, const MatrixProduct& product, Executor& executor) noexcept;

// A scalar as a FLOAT.
float FloatOf(const aclScalar& scalar) noexcept;
// The same for operators that take what is within float32's epsilon of 0 and of 1 for these.
float RoundedFloatOf(const aclScalar& scalar) noexcept;

}  // namespace portacl::matmul
