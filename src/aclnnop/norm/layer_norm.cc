// aclnnLayerNorm: (x - mean) * rstd * weight + bias over the last axes, rstd = 1 / sqrt(variance + eps).
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/norm/layer_norm.cc"
#include "base/foreach_target.h"

#include "aclnnop/norm/moments-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace layer_norm {

namespace hn = hwy::HWY_NAMESPACE;

struct LayerNorm : engine::HWY_NAMESPACE::RowwiseFormula<LayerNorm> {
  static constexpr int kInputs = 3;
  explicit LayerNorm(const void* parameters) : eps(static_cast<const NormParameters*>(parameters)->eps) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const typename Row::D d;
    const Moments moments = MomentsOf(row);
    const float reciprocal = static_cast<float>(1.0 / std::sqrt(moments.variance + eps));
    row.SetValue(0, static_cast<double>(moments.mean));
    row.SetValue(1, static_cast<double>(reciprocal));
    const V mean = hn::Set(d, moments.mean);
    const V rstd = hn::Set(d, reciprocal);
    row.template Write<0, 0, 1, 2>([&](auto, V x, V weight, V bias) HWY_ATTR {
      return hn::Add(hn::Mul(hn::Mul(hn::Sub(x, mean), rstd), weight), bias);
    });
  }

  double eps;
};

// Writes the statistics of rows without elements.
struct Zero : engine::HWY_NAMESPACE::RowwiseFormula<Zero> {
  static constexpr int kInputs = 0;
  explicit Zero(const void*) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    row.SetValue(0, 0.0);
  }
};

}  // namespace layer_norm
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <cstring>
#include <limits>

#include "aclnnop/jobs/normalized.h"
#include "aclnnop/jobs/op_list.h"
#include "aclnnop/norm/layer_norm_functions.h"
#include "base/errors.h"
#include "plan/move_plan.h"

namespace portacl {

const engine::RowwiseKernels layer_norm_kernels = PORTACL_ROWWISE_KERNELS(layer_norm::LayerNorm);

void SetStatisticsOfNothing(const OperatorCall& call, int mean, int rstd, Executor& executor) noexcept {
  OpList ops(executor, 2);
  for (const int tensor : {mean, rstd}) {
    if (!call.IsGiven(tensor) || call.Tensor(tensor).shape.IsEmpty()) continue;
    const aclTensor& numbers = call.Tensor(tensor);
    aclScalar number;
    number.dtype = ACL_FLOAT;
    const float value = tensor == mean ? 0.0f : std::numeric_limits<float>::quiet_NaN();
    std::memcpy(number.value, &value, sizeof value);
    ops.Fill(MergedDims(numbers), OperandBuffer(call.OperandOf(tensor)),
             ops.Value(ConvertScalar(number, numbers.dtype)));
  }
  ops.SetJob();
}

void SetZeroJob(const OperatorCall& call, const int* tensors, int count, Executor& executor) noexcept {
  static constexpr auto kZero = PORTACL_ROWWISE_KERNELS_OF_FLOAT(layer_norm::Zero);
  // Writes each job to the executor's memory directly. All jobs together would be too large for a client's stack.
  executor.SetJob([&]() -> engine::RowwiseJobs {
    std::byte* jobs = executor.ReserveMemory(static_cast<size_t>(count) * sizeof(engine::RowwiseJob));
    if (jobs == nullptr) return {};
    engine::RowwiseJobs made{count, 0, 0};
    for (int i = 0; i < count; ++i, jobs += sizeof(engine::RowwiseJob)) {
      const aclTensor& tensor = call.Tensor(tensors[i]);
      engine::RowwiseJobMaker rows(Shape{tensor.numel}, 0, ACL_FLOAT, call.isa, call.threads);
      rows.ValueOut(tensors[i], tensor);
      const engine::RowwiseJob& job = rows.Make(kZero, engine::NoParameters(), &executor.workspace_size);
      std::memcpy(jobs, &job, sizeof job);
      made.touched |= rows.touched();
      made.elements += job.rows * job.n;
    }
    return made;
  });
}

namespace {

enum Tensors { kInput, kWeight, kBias, kOut, kMean, kRstd };
enum Attributes { kNormalizedShape, kEps, kImplMode };

constexpr int64_t kKeepFloat16 = 2;

aclnnStatus ModeFits(const Check& check, OperatorCall& call) noexcept {
  const Attribute& mode = call.attributes[kImplMode];
  if (mode.integer < 0 || mode.integer > kKeepFloat16)
    return RefuseInteger(check, call, mode.name, mode.integer, 0, kKeepFloat16);
  if (mode.integer != kKeepFloat16) return ACL_SUCCESS;
  for (const int tensor : {kInput, kWeight, kBias}) {
    if (!call.IsGiven(tensor) || call.Tensor(tensor).dtype == ACL_FLOAT16) continue;
    Text message = StartMessage(call);
    AddArgumentDtype(message.Add("parameter "), call, tensor);
    return FailAclnn(check.code, message.Add(" does not go with implMode 2, accepted: FLOAT16."));
  }
  return ACL_SUCCESS;
}

// Checks that statistics have input's leading dims, and 1 for each normalized dim. Ascend 950 checks this
// before any computation, other products when the result is written.
template <int tensor>
aclnnStatus StatisticsFit(const Check& check, OperatorCall& call) noexcept {
  const Shape accepted =
      RowsOf(call.Tensor(kInput).shape, static_cast<int>(call.Array(kNormalizedShape).size()));
  if (call.Tensor(tensor).shape == accepted) return ACL_SUCCESS;
  return RefuseShape(check, call, tensor, accepted);
}
template <int tensor>
bool HasElements(const OperatorCall& call) noexcept {
  return call.IsGiven(tensor) && !call.Tensor(tensor).shape.IsEmpty();
}

aclnnStatus NoRows(const Check&, OperatorCall& call) noexcept {
  const Shape& input = call.Tensor(kInput).shape;
  const int normalized = static_cast<int>(call.Array(kNormalizedShape).size());
  bool is_empty = false;
  for (int axis = 0; axis < input.rank - normalized; ++axis) is_empty = is_empty || input[axis] == 0;
  if (is_empty) {
    call.work = OperatorCall::Work::kNothing;
  } else if (input.IsEmpty()) {
    call.work = OperatorCall::Work::kNoTerms;
  }
  return ACL_SUCCESS;
}

constexpr auto kShared =
    Join(List(NotNull(kInput), ArrayNotNull(kNormalizedShape), NotNull(kOut),
              DtypesIn(kBf16SinceAtlasA2, {kInput, kWeight, kBias}),
              IfThere<kWeight>(Custom(FloatOrDtypeOf<kWeight, kInput>)),
              IfThere<kBias>(Custom(FloatOrDtypeOf<kBias, kInput>)),
              If(BothThere<kWeight, kBias>, SameDtype(kWeight, kBias)),
              DtypesIn(kBf16SinceAtlasA2, {kOut, kMean, kRstd}),
              RankAtMost(8, {kInput, kOut, kWeight, kBias}), RankAtMost(8, {kMean, kRstd}),
              Custom(NormalizedDimsFit<kInput>), IfThere<kWeight>(Custom(ShapeIsNormalized<kWeight>)),
              IfThere<kBias>(Custom(ShapeIsNormalized<kBias>)), SameShape(kInput, kOut),
              OnProducts(products::kAscend950, If(HasElements<kMean>, Custom(StatisticsFit<kMean>))),
              OnProducts(products::kAscend950, If(HasElements<kRstd>, Custom(StatisticsFit<kRstd>)))));
constexpr auto kComputable =
    List(SizesRepresentable({kOut, kMean, kRstd}), Custom(NoRows),
         If(HasElements<kMean>, WithCode(ACLNN_ERR_INNER_NULLPTR, Custom(StatisticsFit<kMean>))),
         If(HasElements<kRstd>, WithCode(ACLNN_ERR_INNER_NULLPTR, Custom(StatisticsFit<kRstd>))),
         InsideStorage({kInput, kWeight, kBias}));

constexpr auto kChecks = Join(kShared, kComputable);
constexpr auto kModeChecks = Join(kShared, List(Custom(ModeFits)), kComputable);

void SetRows(const OperatorCall& call, Executor& executor) {
  if (call.work == OperatorCall::Work::kNoTerms) return SetStatisticsOfNothing(call, kMean, kRstd, executor);
  const aclTensor& input = call.Tensor(kInput);
  const int normalized = static_cast<int>(call.Array(kNormalizedShape).size());
  engine::RowwiseJobMaker rows(input.shape, LastAxes(normalized, input.shape), ACL_FLOAT, call.isa,
                               call.threads);
  rows.Input(kInput, input);
  InputOr(rows, call, kWeight, 1);
  InputOr(rows, call, kBias, 0);
  rows.Output(kOut, call.Tensor(kOut));
  for (const int tensor : {kMean, kRstd}) {
    if (call.IsGiven(tensor) && !call.Tensor(tensor).shape.IsEmpty()) {
      rows.ValueOut(tensor, call.Tensor(tensor));
    } else {
      rows.NoValueOut();
    }
  }
  SetRowwiseJob(rows, layer_norm_kernels,
                NormParameters{static_cast<double>(static_cast<float>(call.attributes[kEps].wide))},
                executor);
}

// An NPU always needs workspace for rows, and some callers read 0 as "not planned yet". The workspace is not
// used, so phase 2 works without it, too.
constexpr uint64_t kLeastWorkspace = 32;

aclnnStatus PlanRows(OperatorCall& call, std::span<const Check> checks, uint64_t* workspaceSize,
                     aclOpExecutor** executor) {
  const aclnnStatus status = RunPhase1(call, checks, workspaceSize, executor, SetRows);
  if (status == ACL_SUCCESS && call.work == OperatorCall::Work::kCompute)
    *workspaceSize = std::max(*workspaceSize, kLeastWorkspace);
  return status;
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnLayerNorm) { return PlanRows(call, kChecks, workspaceSize, executor); }

PORTACL_PHASE_1(aclnnLayerNormWithImplMode) { return PlanRows(call, kModeChecks, workspaceSize, executor); }

#endif  // HWY_ONCE
