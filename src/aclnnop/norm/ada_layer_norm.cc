// aclnnAdaLayerNorm: a layer norm whose rows are scaled and shifted by one row of each batch.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/norm/ada_layer_norm.cc"
#include "base/foreach_target.h"

#include "aclnnop/norm/moments-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace ada_layer_norm {

namespace hn = hwy::HWY_NAMESPACE;

// Inputs: x, weight, bias, scale, shift. The scale counts from 1.
struct AdaLayerNorm : engine::HWY_NAMESPACE::RowwiseFormula<AdaLayerNorm> {
  static constexpr int kInputs = 5;
  explicit AdaLayerNorm(const void* parameters) : eps(static_cast<const NormParameters*>(parameters)->eps) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const typename Row::D d;
    const Moments moments = MomentsOf(row);
    const V mean = hn::Set(d, moments.mean);
    const V rstd = hn::Set(d, static_cast<float>(1.0 / std::sqrt(moments.variance + eps)));
    const V one = hn::Set(d, 1.0f);
    row.template Write<0, 0, 1, 2, 3, 4>([&](auto, V x, V weight, V bias, V scale, V shift) HWY_ATTR {
      const V normed = hn::Add(hn::Mul(hn::Mul(hn::Sub(x, mean), rstd), weight), bias);
      return hn::Add(hn::Mul(normed, hn::Add(one, scale)), shift);
    });
  }

  double eps;
};

}  // namespace ada_layer_norm
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/jobs/normalized.h"
#include "aclnnop/norm/ada_layer_norm_functions.h"
#include "plan/views.h"

namespace portacl {
namespace {

constexpr engine::RowwiseKernels kAdaLayerNorm = PORTACL_ROWWISE_KERNELS(ada_layer_norm::AdaLayerNorm);

enum Tensors { kX, kScale, kShift, kWeight, kBias, kOut };
enum Attributes { kEpsilon };

template <int tensor>
bool IsThere(const OperatorCall& call) noexcept {
  return call.IsGiven(tensor);
}

// Scale and shift have no dim of rows, or one row.
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& x = call.Tensor(kX).shape;
  for (const int tensor : {static_cast<int>(kScale), static_cast<int>(kShift)}) {
    const Shape& shape = call.Tensor(tensor).shape;
    if (!(shape == Shape{x[0], x[2]}) && !(shape == Shape{x[0], 1, x[2]}))
      return RefuseShape(check, call, tensor, Shape{x[0], 1, x[2]});
  }
  for (const int tensor : {static_cast<int>(kWeight), static_cast<int>(kBias)}) {
    if (call.IsGiven(tensor) && !(call.Tensor(tensor).shape == Shape{x[2]}))
      return RefuseShape(check, call, tensor, Shape{x[2]});
  }
  return ACL_SUCCESS;
}

constexpr auto kChecks =
    List(NotNull(kX), NotNull(kScale), NotNull(kShift), NotNull(kOut), DtypesIn(kBf16SinceAtlasA2, {kX}),
         SameDtype(kX, kScale), SameDtype(kX, kShift), If(IsThere<kWeight>, SameDtype(kX, kWeight)),
         If(IsThere<kBias>, SameDtype(kX, kBias)), SameDtype(kX, kOut), RankIs(3, {kX}), Custom(ShapesFit),
         SameShape(kX, kOut), Custom(EpsilonIsNotNegative<kEpsilon>), SizesRepresentable({kOut}),
         DoneIfEmpty({kX}), InsideStorage({kX, kScale, kShift}), InsideStorage({kWeight, kBias}));

void SetRows(const OperatorCall& call, Executor& executor) {
  const aclTensor& x = call.Tensor(kX);
  engine::RowwiseJobMaker rows(x.shape, LastAxes(1, x.shape), ACL_FLOAT, call.isa, call.threads);
  rows.Input(kX, x);
  InputOr(rows, call, kWeight, 1);
  InputOr(rows, call, kBias, 0);
  for (const int tensor : {static_cast<int>(kScale), static_cast<int>(kShift)}) {
    StridedView row = PlainView(call.Tensor(tensor));
    if (row.shape.rank == 2) InsertDim(row, 1, 1, 0);
    rows.Input(tensor, row);
  }
  rows.Output(kOut, call.Tensor(kOut));
  SetRowwiseJob(rows, kAdaLayerNorm, NormParameters{FloatNumber(call, kEpsilon)}, executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnAdaLayerNorm) { return RunPhase1(call, kChecks, workspaceSize, executor, SetRows); }

#endif  // HWY_ONCE
