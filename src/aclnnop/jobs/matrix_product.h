// Shared code of matrix products: their checks, and their job for tensors viewed as matrices.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "aclnnop/phase1.h"
#include "contract/arguments.h"
#include "engine/gemm/gemm.h"
#include "plan/views.h"

namespace portacl::matmul {

// FLOAT, FLOAT16 and, on products since Atlas A2, BF16. Each tensor is checked by itself.
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

// 161002 when the product does not have this cubeMathType. Products before Atlas A2 also refuse 0 and 3 for a
// FLOAT matrix.
constexpr Check ModeFits(int attribute, Operands matrices) {
  return {.run = check::ModeFits, .operands = matrices, .low = attribute};
}
// 161002 when the first matrix's columns differ in number from the second's rows.
constexpr Check DepthsEqual(int left, int right) {
  return {.run = check::DepthsEqual, .operands = {left, right}};
}
// 161002 when one of the tensors has the format FRACTAL_NZ.
constexpr Check NotFractal(Operands operands) { return {.run = check::NotFractal, .operands = operands}; }
// 561103 when a tensor in a private format such as FRACTAL_NZ reaches outside its storage, unless it is
// trusted (MatricesInsideStorage). Its strides are taken as they are.
constexpr Check FractalInsideStorage(Operands operands) {
  return {.run = check::FractalInsideStorage, .operands = operands, .code = ACLNN_ERR_INNER_NULLPTR};
}
// InsideStorage for matrices. A matrix whose last two dims are swapped is trusted like a contiguous one, by
// its strides alone: expert i of a weight may be a view at an offset into the first expert's storage.
constexpr Check MatricesInsideStorage(Operands operands) {
  return {.run = check::MatricesInsideStorage, .operands = operands, .code = ACLNN_ERR_INNER_NULLPTR};
}
// 161002 when the first dims of two tensors differ and neither is 1.
constexpr Check BatchesFit(int left, int right) {
  return {.run = check::BatchesFit, .operands = {left, right}};
}
// 561103 when a scalar cannot be converted to FLOAT.
constexpr Check ScalarsAreNumbers(Operands attributes) {
  return {.run = check::ScalarsAreNumbers, .code = ACLNN_ERR_INNER_NULLPTR, .attributes = attributes};
}

inline constexpr ProductSet kAtlasInference{Product::kAtlasInference};
// 361001 on products without quantised matrix products.
constexpr Check HasQuantised() {
  return OnProducts(~(products::kSinceAtlasA2 | kAtlasInference),
                    {.run = check::HasQuantised, .code = ACLNN_ERR_RUNTIME_ERROR});
}

// Reports a refused shape, and returns the check's code.
aclnnStatus Refuse(const Check& check, const OperatorCall& call, int tensor, const char* accepted);
// Reports a shape that does not fit another tensor's, and returns the check's code.
aclnnStatus RefuseWith(const Check& check, const OperatorCall& call, int tensor, int other,
                       const char* accepted);

// Tells whether the tensor is not contiguous, but would be with its last two dims swapped. Only strides
// decide.
bool IsTransposed(const StridedView& tensor) noexcept;
StridedView LastTwoSwapped(const StridedView& tensor) noexcept;

// A tensor viewed as matrices: batch dims, then rows and columns. The other tensors' batches broadcast to the
// output's.
struct Matrices {
  int argument;
  StridedView view;
};

struct MatrixProduct {
  Matrices left;
  Matrices right;
  Matrices out;
  const Matrices* added = nullptr;  // broadcasts to the output; nullptr: adds nothing
  float alpha = 1;
  float beta = 1;
  bool multiplies = true;  // else left and right are not read
  bool sums_batch =
      false;  // left and right have one batch dim, over which products are added up; the output has none
};
// Returns the matrix product as the engine takes it.
engine::Gemm GemmOf(const MatrixProduct& product) noexcept;
// Sets the executor's job: out = beta * added + alpha * (left @ right). A matrix product whose inner (K) dim
// is 0, or one that is not computed, counts as 0. So does a null `added`.
void SetProductJob(const OperatorCall& call, const MatrixProduct& product, Executor& executor) noexcept;

// Returns a scalar as a float.
float FloatOf(const aclScalar& scalar) noexcept;
// Returns a scalar as a float, for operators that treat numbers within float32's epsilon of 0 or 1 as 0 or 1.
float RoundedFloatOf(const aclScalar& scalar) noexcept;

}  // namespace portacl::matmul
