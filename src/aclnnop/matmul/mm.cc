// aclnnMm, aclnnBatchMatMul and aclnnMatmul: products of matrices, of batches of matrices, and of all
// operands that torch.matmul takes.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/mm_functions.h"

#include <algorithm>

#include "aclnnop/jobs/matrix_product.h"
#include "base/errors.h"
#include "contract/broadcast.h"

namespace portacl {
namespace {

using namespace matmul;

enum Tensors { kSelf, kMat2, kOut };
enum Attributes { kMode };

// CANN's first checks, in its order, and the end of every list.
constexpr auto kFirst =
    List(NotNull(kSelf), NotNull(kMat2), NotNull(kOut), DtypesIn(matmul::kDtypes, {kSelf, kMat2, kOut}),
         ModeFits(kMode, {kSelf, kMat2}));

// ---- Mm ----

aclnnStatus SetResultOfMm(const Check&, OperatorCall& call) noexcept {
  call.broadcast = Shape{call.Tensor(kSelf).shape[0], call.Tensor(kMat2).shape[1]};
  return ACL_SUCCESS;
}

constexpr auto kMmChecks =
    Join(kFirst, List(RankIs(2, {kSelf, kMat2}), DepthsEqual(kSelf, kMat2), Custom(SetResultOfMm),
                      ShapeIsResult(kOut), SizesRepresentable({kOut}), DoneIfEmpty({kOut}),
                      FractalInsideStorage({kSelf, kMat2}), MatricesInsideStorage({kSelf, kMat2})));

// Takes the tensors by their strides, whatever their format is.
void SetPlain(const OperatorCall& call, Executor& executor) {
  SetProductJob(call,
                {.left = {kSelf, call.Tensor(kSelf)},
                 .right = {kMat2, call.Tensor(kMat2)},
                 .out = {kOut, call.Tensor(kOut)}},
                executor);
}

// ---- BatchMatMul ----

aclnnStatus SetResultOfBatch(const Check&, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  const Shape& mat2 = call.Tensor(kMat2).shape;
  call.broadcast = Shape{self[0] == 1 ? mat2[0] : self[0], self[1], mat2[2]};
  return ACL_SUCCESS;
}

aclnnStatus FractalIsNoVector(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& mat2 = call.Tensor(kMat2);
  if (mat2.format != ACL_FORMAT_FRACTAL_NZ || (mat2.shape[1] != 1 && mat2.shape[2] != 1)) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kMat2).Add(" has the format FRACTAL_NZ, ");
  return FailAclnn(check.code, message.Add("accepted with that: matrices of 2 rows and columns or more."));
}

constexpr auto kBatchChecks =
    Join(kFirst, List(RankIs(3, {kSelf, kMat2, kOut}), DepthsEqual(kSelf, kMat2), BatchesFit(kSelf, kMat2),
                      Custom(SetResultOfBatch), ShapeIsResult(kOut), NotFractal({kSelf, kOut}),
                      Custom(FractalIsNoVector), SizesRepresentable({kOut}), DoneIfEmpty({kOut}),
                      FractalInsideStorage({kMat2}), MatricesInsideStorage({kSelf, kMat2})));

// ---- Matmul ----

// View a tensor of one dim as a row on the left, and as a column on the right.
StridedView AsRows(const StridedView& tensor) {
  StridedView view = tensor;
  if (view.shape.rank == 1) InsertDim(view, 0, 1, 0);
  return view;
}
StridedView AsColumns(const StridedView& tensor) {
  StridedView view = tensor;
  if (view.shape.rank == 1) InsertDim(view, 1, 1, 0);
  return view;
}

aclnnStatus RanksOfMatmul(const Check& check, OperatorCall& call) noexcept {
  for (const int tensor : {kSelf, kMat2}) {
    const int rank = call.Tensor(tensor).shape.rank;
    if (rank >= 1 && rank <= 6) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, tensor);
    return FailAclnn(check.code, message.Add(" has a rank out of range, accepted: 1 to 6."));
  }
  return ACL_SUCCESS;
}

// Computes the product's shape, with rows and columns, into call.broadcast.
aclnnStatus BatchesBroadcast(const Check& check, OperatorCall& call) noexcept {
  const StridedView self = AsRows(call.Tensor(kSelf));
  const StridedView mat2 = AsColumns(call.Tensor(kMat2));
  Shape left = self.shape;
  Shape right = mat2.shape;
  left.rank -= 2;
  right.rank -= 2;
  Shape batch;
  if (!BroadcastShapes(left, right, &batch))
    return RefuseWith(check, call, kMat2, kSelf, "dims before the last two that broadcast");
  const int rank = batch.rank;
  batch.rank += 2;
  batch.dim[rank] = self.shape[left.rank];
  batch.dim[rank + 1] = mat2.shape[right.rank + 1];
  call.broadcast = batch;
  return ACL_SUCCESS;
}

// CANN reshapes the matrix product to the output's shape, and checks only the number of elements. If the
// inner (K) dim is 0, it fills the output.
aclnnStatus OutHoldsResult(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& out = call.Tensor(kOut);
  if (call.Tensor(kSelf).numel == 0 || call.Tensor(kMat2).numel == 0) {
    if (out.numel == 0) call.work = OperatorCall::Work::kNothing;
    return ACL_SUCCESS;
  }
  int64_t numel = 0;
  if (call.broadcast.Numel(&numel) && numel == out.numel) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kOut).Add(" does not hold the product of shape ");
  AddShape(message, call.broadcast);
  return FailAclnn(check.code, message.Add(", accepted: as many elements."));
}

constexpr auto kMatmulChecks =
    Join(kFirst, List(Custom(RanksOfMatmul), DepthsEqual(kSelf, kMat2), Custom(BatchesBroadcast),
                      NotFractal({kSelf, kOut}), SizesRepresentable({kOut}),
                      Custom(OutHoldsResult, ACLNN_ERR_INNER_NULLPTR), FractalInsideStorage({kMat2}),
                      MatricesInsideStorage({kSelf, kMat2})));

// Views the output as matrices. The argument is -1 if only a copy in the workspace can be viewed so.
Matrices OutputOf(const OperatorCall& call) {
  const aclTensor& out = call.Tensor(kOut);
  const int self_rank = call.Tensor(kSelf).shape.rank;
  const int mat2_rank = call.Tensor(kMat2).shape.rank;
  // The product's rank without the dims that were inserted for a row or a column.
  StridedView view = out;
  const int rank = call.broadcast.rank - (self_rank == 1 ? 1 : 0) - (mat2_rank == 1 ? 1 : 0);
  if (out.shape.rank == rank) {
    if (mat2_rank == 1) InsertDim(view, rank, 1, 0);
    if (self_rank == 1) InsertDim(view, view.shape.rank - 1, 1, 0);
    if (view.shape == call.broadcast) return {kOut, view};
  }
  StridedView dense;
  dense.dtype = out.dtype;
  FillShape(dense, call.broadcast, 1);
  if (IsContiguous(out)) {
    dense.offset = out.offset;
    return {kOut, dense};
  }
  return {-1, dense};
}

void SetMatmul(const OperatorCall& call, Executor& executor) {
  if (call.Tensor(kSelf).numel == 0 || call.Tensor(kMat2).numel == 0)
    return SetFillJob(call, kOut, {}, executor);
  SetProductJob(call,
                {.left = {kSelf, AsRows(call.Tensor(kSelf))},
                 .right = {kMat2, AsColumns(call.Tensor(kMat2))},
                 .out = OutputOf(call)},
                executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnMm) { return RunPhase1(call, kMmChecks, workspaceSize, executor, SetPlain); }

PORTACL_PHASE_1(aclnnBatchMatMul) { return RunPhase1(call, kBatchChecks, workspaceSize, executor, SetPlain); }

PORTACL_PHASE_1(aclnnMatmul) { return RunPhase1(call, kMatmulChecks, workspaceSize, executor, SetMatmul); }
