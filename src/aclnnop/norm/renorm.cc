// aclnnRenorm and aclnnInplaceRenorm: slices along a dim, each scaled so that its p-norm is at most a number.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/norm/renorm.cc"
#include "base/foreach_target.h"

#include <cmath>

#include "engine/functions/functions-inl.h"
#include "engine/rowwise/rowwise_loop-inl.h"

#ifndef PORTACL_ACLNNOP_NORM_RENORM_CC_
#define PORTACL_ACLNNOP_NORM_RENORM_CC_

namespace portacl {

struct RenormParameters {
  float p;
  float most;
  bool bounds_norm;  // as kernels of Ascend 950, which divide by at least 1e-12 and add nothing
};

}  // namespace portacl

#endif  // PORTACL_ACLNNOP_NORM_RENORM_CC_

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace renorm {

namespace hn = hwy::HWY_NAMESPACE;
namespace functions = engine::HWY_NAMESPACE::functions;

struct Renorm : engine::HWY_NAMESPACE::RowwiseFormula<Renorm> {
  static constexpr int kInputs = 1;
  explicit Renorm(const void* given) : parameters(*static_cast<const RenormParameters*>(given)) {}

  template <class Row>
  HWY_INLINE double Norm(Row& row) const {
    using V = typename Row::V;
    const float p = parameters.p;
    if (p == 1) return row.template Sum<0>([](auto, V x) HWY_ATTR { return hn::Abs(x); });
    if (p == 2) return std::sqrt(row.template Sum<0>([](auto, V x) HWY_ATTR { return hn::Mul(x, x); }));
    if (p == 0) {
      return row.template Sum<0>([](auto d, V x) HWY_ATTR {
        return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Zero(d), hn::Set(d, 1.0f));
      });
    }
    const typename Row::D d;
    if (std::isinf(p)) {
      // MaxOf leaves open what becomes of NaN.
      const double unordered = row.template Sum<0>(
          [](auto tag, V x) HWY_ATTR { return hn::IfThenElseZero(hn::IsNaN(x), hn::Set(tag, 1.0f)); });
      if (unordered > 0) return std::nan("");
      return static_cast<double>(row.template MaxOf<0>([](auto, V x) HWY_ATTR { return hn::Abs(x); }));
    }
    const V power = hn::Set(d, p);
    const double sum =
        row.template Sum<0>([&](auto tag, V x) HWY_ATTR { return functions::Pow(tag, hn::Abs(x), power); });
    const V root = functions::Pow(d, hn::Set(d, static_cast<float>(sum)), hn::Set(d, 1.0f / p));
    return static_cast<double>(hn::GetLane(root));
  }

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const double most = static_cast<double>(parameters.most);
    double norm = Norm(row);
    if (parameters.bounds_norm && norm < 1e-12) norm = 1e-12;
    // NaN compares as false: such a slice stays.
    const double factor = norm > most ? most / (parameters.bounds_norm ? norm : norm + 1e-7) : 1.0;
    const V by = hn::Set(typename Row::D(), static_cast<float>(factor));
    row.template Write<0, 0>([&](auto, V x) HWY_ATTR { return hn::Mul(x, by); });
  }

  RenormParameters parameters;
};

}  // namespace renorm
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/float_attributes.h"
#include "aclnnop/jobs/rowwise_job.h"
#include "aclnnop/norm/renorm_functions.h"

namespace portacl {
namespace {

constexpr auto kRenorm = PORTACL_ROWWISE_KERNELS_OF_FLOAT(renorm::Renorm);

enum Tensors { kSelf, kOut };
enum Attributes { kP, kDim, kMaxNorm };

constexpr auto Checks(int out) {
  return List(NotNull(kSelf), ScalarNotNull(kP), ScalarNotNull(kMaxNorm), NotNull(out),
              DtypesIn(kBf16SinceAtlasA2, {kSelf}), SameDtype(kSelf, out), SameFormat({kSelf, out}),
              RankAtLeast(2, {kSelf}), RankAtMost(8, {kSelf}), SameShape(kSelf, out), FloatAtLeastZero(kP),
              DimIn(kDim, kSelf), FloatAtLeastZero(kMaxNorm), SizesRepresentable({out}), DoneIfEmpty({kSelf}),
              InsideStorage({kSelf}), ScalarsImplemented(kConvertible, {kP, kMaxNorm}));
}
constexpr auto kChecks = Checks(kOut);
constexpr auto kInPlaceChecks = Checks(kSelf);

// A slice is a row that spans all axes but its own.
void SetRenorm(const OperatorCall& call, Executor& executor) {
  const Shape& shape = call.Tensor(kSelf).shape;
  const uint32_t axes = LastAxes(shape.rank, shape) & ~AxisSet(call.attributes[kDim].integer, shape);
  engine::RowwiseJobMaker rows(shape, axes, ACL_FLOAT, call.isa, call.threads);
  rows.Input(kSelf, call.Tensor(kSelf));
  rows.Output(call.Output(), call.Tensor(call.Output()));
  const RenormParameters parameters{FloatOf(call, kP), FloatOf(call, kMaxNorm),
                                    call.product == Product::kAscend950};
  SetRowwiseJob(rows, kRenorm, parameters, executor);
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnRenorm) { return RunPhase1(call, kChecks, workspaceSize, executor, SetRenorm); }
PORTACL_PHASE_1(aclnnInplaceRenorm) {
  return RunPhase1(call, kInPlaceChecks, workspaceSize, executor, SetRenorm);
}

#endif  // HWY_ONCE
