// aclnnCdist: distances between all rows of two matrices, in batches.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/linalg/cdist_functions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "aclnnop/jobs/matrix_product.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/broadcast.h"
#include "engine/gemm/distance.h"

namespace portacl {
namespace {

using engine::DistanceNorm;

enum Tensors { kX1, kX2, kOut };
enum Attributes { kPower, kMode };

constexpr DtypeRule kDtypes = SinceAtlasA2(kFloatHalfAndBf16);
constexpr int64_t kWithoutProducts = 2;  // the mode that computes p = 2 without matrix products

float PowerOf(const OperatorCall& call) { return call.attributes[kPower].real; }

aclnnStatus TermsEqual(const Check& check, OperatorCall& call) noexcept {
  const Shape& x1 = call.Tensor(kX1).shape;
  const Shape& x2 = call.Tensor(kX2).shape;
  if (x1[x1.rank - 1] == x2[x2.rank - 1]) return ACL_SUCCESS;
  return matmul::RefuseWith(check, call, kX2, kX1, "the same last dim");
}

aclnnStatus PowerFits(const Check& check, OperatorCall& call) noexcept {
  const float p = PowerOf(call);
  const int64_t mode = call.attributes[kMode].integer;
  if (!(p >= 0))
    return FailAclnn(
        check.code,
        StartMessage(call).Add("parameter p has the value ").Add(p).Add(", accepted: 0 or more."));
  if (mode != kWithoutProducts && std::fabs(static_cast<double>(p) - 2) < 1e-6)
    return RefuseInteger(check, call, "compute_mode", mode, kWithoutProducts, kWithoutProducts);
  return ACL_SUCCESS;
}

// Succeeds where there are no distances. Only the last dim may be 0 otherwise.
aclnnStatus DoneWithoutRows(const Check&, OperatorCall& call) noexcept {
  for (const int tensor : {kX1, kX2}) {
    const Shape& shape = call.Tensor(tensor).shape;
    for (int dim = 0; dim < shape.rank - 1; ++dim) {
      if (shape[dim] == 0) call.work = OperatorCall::Work::kNothing;
    }
  }
  return ACL_SUCCESS;
}

Shape BatchOf(const Shape& shape) {
  Shape batch = shape;
  batch.rank -= 2;
  return batch;
}

aclnnStatus BatchesBroadcast(const Check& check, OperatorCall& call) noexcept {
  const Shape& x1 = call.Tensor(kX1).shape;
  const Shape& x2 = call.Tensor(kX2).shape;
  if (!BroadcastShapes(BatchOf(x1), BatchOf(x2), &call.broadcast))
    return matmul::RefuseWith(check, call, kX2, kX1, "dims before the last two that broadcast with those");
  call.broadcast.dim[call.broadcast.rank++] = x1[x1.rank - 2];
  call.broadcast.dim[call.broadcast.rank++] = x2[x2.rank - 2];
  return ACL_SUCCESS;
}

constexpr Check kChecks[] = {
    NotNull(kX1),
    NotNull(kX2),
    NotNull(kOut),
    DtypesIn(kDtypes, {kX1, kX2, kOut}),
    SameDtype(kX1, kOut),
    SameDtype(kX2, kOut),
    RankAtLeast(2, {kX1, kX2, kOut}),
    RankAtMost(8, {kX1, kX2, kOut}),
    Custom(TermsEqual),
    Custom(PowerFits),
    SizesRepresentable({kOut}),
    Custom(DoneWithoutRows),
    Custom(BatchesBroadcast),
    WithCode(ACLNN_ERR_INNER_NULLPTR, ShapeIsResultOrOne(kOut)),
    InsideStorage({kX1, kX2}),
};

// Returns the strides of a tensor's matrices, with one for each dim of the result's batch.
engine::DistanceOperand OperandOf(const OperatorCall& call, int tensor) {
  const StridedView view = PlainView(call.Tensor(tensor));
  const int rank = view.shape.rank;
  const auto step = [&](int dim) { return dim < 0 ? 0 : ByteStride(view, dim); };
  engine::DistanceOperand operand{};
  operand.argument = static_cast<int8_t>(tensor);
  operand.dtype = view.dtype;
  operand.offset = ByteOffset(view);
  operand.row = step(rank - 2);
  operand.column = step(rank - 1);
  for (int i = 0; i < engine::kDistanceBatchDims; ++i)
    operand.batch[engine::kDistanceBatchDims - 1 - i] = step(rank - 3 - i);
  return operand;
}

DistanceNorm NormOf(float p) {
  return p == 0                                        ? DistanceNorm::kCount
         : p == 1                                      ? DistanceNorm::kSum
         : p == 2                                      ? DistanceNorm::kSquares
         : p == std::numeric_limits<float>::infinity() ? DistanceNorm::kMost
                                                       : DistanceNorm::kPowers;
}

void SetDistances(const OperatorCall& call, Executor& executor) {
  const Shape& x1 = call.Tensor(kX1).shape;
  const Shape& result = call.broadcast;
  engine::Distances distances{};
  distances.depth = x1[x1.rank - 1];
  if (distances.depth == 0) return SetFillJob(call, kOut, {}, executor);
  for (int i = 0; i < engine::kDistanceBatchDims; ++i)
    distances.batch[engine::kDistanceBatchDims - 1 - i] =
        i < result.rank - 2 ? result[result.rank - 3 - i] : 1;
  distances.rows = result[result.rank - 2];
  distances.columns = result[result.rank - 1];
  distances.left = OperandOf(call, kX1);
  distances.right = OperandOf(call, kX2);
  distances.out = OperandOf(call, kOut);
  distances.power = PowerOf(call);
  distances.norm = NormOf(distances.power);
  executor.SetJob([&] { return engine::MakeDistanceJob(distances, call.isa, call.threads); });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnCdist) { return RunPhase1(call, kChecks, workspaceSize, executor, SetDistances); }
