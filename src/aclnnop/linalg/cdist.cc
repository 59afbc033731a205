// aclnnCdist and aclnnCdistBackward: distances between all rows of two matrices, in batches, and their gradient;
// aclnnPdist and aclnnPdistForward: distances between the rows of one.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/linalg/cdist_functions.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "aclnnop/jobs/dense_op_list.h"
#include "aclnnop/jobs/matrix_product.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/broadcast.h"
#include "engine/gemm/distance.h"
#include "engine/gemm/distance_gradient.h"

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

// ---- Pdist ----

namespace pairs {

enum Tensors { kSelf, kOut };

constexpr DtypeRule kPairDtypes = Everywhere(kFloatAndHalf);

// aclnnPdistForward has p as a scalar.
float PairPowerOf(const OperatorCall& call) {
  const Attribute& p = call.attributes[0];
  if (p.scalar == nullptr) return p.real;
  const ScalarValue value = ConvertScalar(*p.scalar, ACL_FLOAT);
  float power;
  std::memcpy(&power, value.bytes, sizeof power);
  return power;
}

aclnnStatus OutHasPairs(const Check& check, OperatorCall& call) noexcept {
  const int64_t n = call.Tensor(kSelf).shape[0];
  // Half of a product, of which one factor is even.
  const int64_t even = n % 2 == 0 ? n : n - 1;
  const int64_t odd = n % 2 == 0 ? n - 1 : n;
  int64_t pairs = 0;
  if (n > 1 && __builtin_mul_overflow(even / 2, odd, &pairs)) pairs = -1;
  if (call.Tensor(kOut).shape[0] == pairs) return ACL_SUCCESS;
  return RefuseShape(check, call, kOut, Shape{pairs});
}
aclnnStatus PairPowerFits(const Check& check, OperatorCall& call) noexcept {
  const float p = PairPowerOf(call);
  if (p >= 0) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   StartMessage(call).Add("parameter p has the value ").Add(p).Add(", accepted: 0 or more."));
}
aclnnStatus DoneWithoutPairs(const Check&, OperatorCall& call) noexcept {
  if (call.Tensor(kSelf).shape[0] <= 1) call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}
bool IsScalarGiven(const OperatorCall& call) noexcept { return call.attributes[0].scalar != nullptr; }

constexpr auto kFirst = List(DtypesIn(kPairDtypes, {kSelf}), SameDtype(kSelf, kOut), RankIs(2, {kSelf}),
                             RankIs(1, {kOut}), Custom(OutHasPairs));
constexpr auto kLast =
    List(Custom(PairPowerFits), SizesRepresentable({kOut}), Custom(DoneWithoutPairs), InsideStorage({kSelf}));
constexpr auto kPdistChecks = Join(List(NotNull(kSelf), NotNull(kOut)), kFirst, kLast);
constexpr auto kForwardChecks =
    Join(List(NotNull(kSelf), ScalarNotNull(0), NotNull(kOut)), kFirst,
         List(If(IsScalarGiven, ScalarsImplemented(kConvertible.Without(kComplex), {0}))), kLast);

void SetPairs(const OperatorCall& call, Executor& executor) {
  const StridedView self = PlainView(call.Tensor(kSelf));
  engine::Distances distances{};
  distances.rows = distances.columns = self.shape[0];
  distances.depth = self.shape[1];
  if (distances.depth == 0) return SetFillJob(call, kOut, {}, executor);
  std::fill(std::begin(distances.batch), std::end(distances.batch), int64_t{1});
  distances.left = OperandOf(call, kSelf);
  distances.right = distances.left;
  distances.out.argument = kOut;
  distances.out.dtype = self.dtype;
  const StridedView out = PlainView(call.Tensor(kOut));
  distances.out.offset = ByteOffset(out);
  distances.out.column = ByteStride(out, 0);
  distances.power = PairPowerOf(call);
  distances.norm = NormOf(distances.power);
  distances.is_triangle = true;
  executor.SetJob([&] { return engine::MakeDistanceJob(distances, call.isa, call.threads); });
}

}  // namespace pairs

// ---- CdistBackward ----

namespace backward {

using dense::DenseOpList;

enum Tensors { kGrad, kLeft, kRight, kDistance, kGradient };

constexpr float kInfinityAsCalled = -1;  // what op-plugin passes

float NormPower(const OperatorCall& call) {
  const float p = PowerOf(call);
  return p == kInfinityAsCalled ? std::numeric_limits<float>::infinity() : p;
}

// Stores the shape of the distances.
aclnnStatus DistancesFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& left = call.Tensor(kLeft).shape;
  const Shape& right = call.Tensor(kRight).shape;
  for (const int tensor : {kGrad, kRight, kDistance, kGradient}) {
    if (call.Tensor(tensor).shape.rank != left.rank)
      return matmul::RefuseWith(check, call, tensor, kLeft, "as many dims");
  }
  if (left[left.rank - 1] != right[right.rank - 1])
    return matmul::RefuseWith(check, call, kRight, kLeft, "the same last dim");
  if (!BroadcastShapes(BatchOf(left), BatchOf(right), &call.broadcast))
    return matmul::RefuseWith(check, call, kRight, kLeft,
                              "dims before the last two that broadcast with those");
  call.broadcast.dim[call.broadcast.rank++] = left[left.rank - 2];
  call.broadcast.dim[call.broadcast.rank++] = right[right.rank - 2];
  for (const int tensor : {kDistance, kGrad}) {
    if (!(call.Tensor(tensor).shape == call.broadcast))
      return RefuseShape(check, call, tensor, call.broadcast);
  }
  return call.Tensor(kGradient).shape == left ? ACL_SUCCESS : RefuseShape(check, call, kGradient, left);
}
aclnnStatus NormFits(const Check& check, OperatorCall& call) noexcept {
  const float p = PowerOf(call);
  if (p >= 0 || p == kInfinityAsCalled) return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call)
                                   .Add("parameter p has the value ")
                                   .Add(p)
                                   .Add(", accepted: 0 or more, and -1 for infinity."));
}

constexpr Check kGradientChecks[] = {
    NotNull(kGrad),
    NotNull(kLeft),
    NotNull(kRight),
    NotNull(kDistance),
    NotNull(kGradient),
    DtypesIn(kDtypes, {kGrad, kLeft, kRight, kDistance, kGradient}),
    SameDtype(kGrad, kLeft),
    SameDtype(kGrad, kRight),
    SameDtype(kGrad, kDistance),
    SameDtype(kGrad, kGradient),
    RankAtLeast(2, {kGrad, kLeft, kRight, kDistance, kGradient}),
    RankAtMost(7, {kGrad, kLeft, kRight, kDistance, kGradient}),
    Custom(DistancesFit),
    Custom(NormFits),
    SizesRepresentable({kGradient}),
    DoneIfEmpty({kGrad, kLeft, kRight, kDistance}),
    InsideStorage({kGrad, kLeft, kRight, kDistance}),
};

void SetGradient(const OperatorCall& call, Executor& executor) {
  if (PowerOf(call) == 0) return SetFillJob(call, kGradient, {}, executor);
  const StridedView left = PlainView(call.Tensor(kLeft));
  const StridedView right = PlainView(call.Tensor(kRight));
  const Shape& whole = call.broadcast;
  DenseOpList ops(call, executor);
  engine::DistanceGradient gradient{};
  gradient.power = NormPower(call);
  gradient.norm = NormOf(gradient.power);
  gradient.rows = whole[whole.rank - 2];
  gradient.columns = whole[whole.rank - 1];
  gradient.depth = left.shape[left.shape.rank - 1];
  for (int i = 0; i < engine::kDistanceBatchDims; ++i) {
    const int batch_dim = engine::kDistanceBatchDims - 1 - i;
    const int dim = whole.rank - 3 - i;
    gradient.batch[batch_dim] = dim < 0 ? 1 : whole[dim];
    gradient.repeats_left[batch_dim] = dim < 0 || left.shape[dim] != whole[dim];
    gradient.repeats_right[batch_dim] = dim < 0 || right.shape[dim] != whole[dim];
  }
  gradient.left = ops.In(kLeft);
  gradient.size = static_cast<int32_t>(dense::SizeOf(call, kLeft));
  gradient.load = engine::FindLoad(call.isa, left.dtype, ACL_FLOAT);
  gradient.store = engine::FindStore(call.isa, left.dtype);
  gradient.right = ops.PaddedFloats(kRight, gradient.Pitch());
  gradient.gradient = ops.In(kGrad, ACL_FLOAT);
  gradient.distance = ops.In(kDistance, ACL_FLOAT);
  gradient.rounded = left.dtype;
  gradient.to = ops.Out(kGradient);
  gradient.kernels = engine::DistanceGradientKernelsOf(call.isa);
  gradient.threads = call.threads;
  ops.Compute(gradient, {gradient.left, gradient.right, gradient.gradient, gradient.distance, gradient.to},
              call.Tensor(kGrad).numel * std::max<int64_t>(1, gradient.depth / 16));
  ops.SetJob();
}

}  // namespace backward

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnCdist) { return RunPhase1(call, kChecks, workspaceSize, executor, SetDistances); }

PORTACL_PHASE_1(aclnnPdist) {
  return RunPhase1(call, pairs::kPdistChecks, workspaceSize, executor, pairs::SetPairs);
}

PORTACL_PHASE_1(aclnnPdistForward) {
  return RunPhase1(call, pairs::kForwardChecks, workspaceSize, executor, pairs::SetPairs);
}

PORTACL_PHASE_1(aclnnCdistBackward) {
  return dense::RunOpList(call, backward::kGradientChecks, workspaceSize, executor, backward::SetGradient);
}
