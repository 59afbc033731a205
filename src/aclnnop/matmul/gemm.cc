// aclnnGemm: the product of two matrices, each as it is or transposed, plus beta times a third one.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/gemm_functions.h"

#include "aclnnop/jobs/matrix_product.h"
#include "base/errors.h"

namespace portacl {
namespace {

using namespace matmul;

enum Tensors { kA, kB, kC, kOut };
enum Attributes { kAlpha, kBeta, kTransposesA, kTransposesB, kMode };

StridedView MatrixOf(const OperatorCall& call, int tensor, int transposes) {
  const StridedView view = call.Tensor(tensor);
  return call.attributes[static_cast<size_t>(transposes)].integer != 0 ? LastTwoSwapped(view) : view;
}

aclnnStatus DepthsFit(const Check& check, OperatorCall& call) noexcept {
  const Shape left = MatrixOf(call, kA, kTransposesA).shape;
  const Shape right = MatrixOf(call, kB, kTransposesB).shape;
  if (left[1] != right[0])
    return RefuseWith(check, call, kB, kA, "as many rows as that has columns, behind transA and transB");
  call.broadcast = Shape{left[0], right[1]};
  return ACL_SUCCESS;
}

aclnnStatus CExpands(const Check& check, OperatorCall& call) noexcept {
  const Shape& c = call.Tensor(kC).shape;
  for (int i = 1; i <= c.rank; ++i) {
    const int64_t length = c[c.rank - i];
    if (i > 2 || (length != 1 && length != call.broadcast[2 - i]))
      return Refuse(check, call, kC, "one that expands to the product");
  }
  return ACL_SUCCESS;
}

constexpr auto kChecks =
    List(NotNull(kA), NotNull(kB), NotNull(kC), NotNull(kOut), DtypesIn(matmul::kDtypes, {kA, kB, kC, kOut}),
         RankIs(2, {kA, kB}), NotFractal({kA, kB, kC, kOut}), Custom(DepthsFit), Custom(CExpands),
         ShapeIsResult(kOut), ModeFits(kMode, {kA, kB}), SizesRepresentable({kOut}), DoneIfEmpty({kOut}),
         FractalInsideStorage({kC, kOut}), MatricesInsideStorage({kA, kB}), InsideStorage({kC}));

void SetGemm(const OperatorCall& call, Executor& executor) {
  Matrices added{kC, call.Tensor(kC)};
  while (added.view.shape.rank < 2) InsertDim(added.view, 0, 1, 0);
  MatrixProduct product{.left = {kA, MatrixOf(call, kA, kTransposesA)},
                        .right = {kB, MatrixOf(call, kB, kTransposesB)},
                        .out = {kOut, call.Tensor(kOut)}};
  product.alpha = call.attributes[kAlpha].real;
  product.beta = call.attributes[kBeta].real;
  product.multiplies = product.alpha != 0 && product.left.view.shape[1] > 0;
  if (product.beta != 0 || !product.multiplies) product.added = &added;
  SetProductJob(call, product, executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnGemm) { return RunPhase1(call, kChecks, workspaceSize, executor, SetGemm); }
