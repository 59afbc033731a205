// aclnnLayerNormBackward: with h = (x - mean) * rstd and g = gradOut * weight, the gradient of input is rstd
// * ((g - mean(g)) - h * mean(g * h)), that of weight the sum of gradOut * h over rows, and that of bias the
// sum of gradOut.
// SPDX-License-Identifier: Apache-2.0

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/norm/layer_norm_backward.cc"
#include "base/foreach_target.h"

#include "aclnnop/jobs/statistics.h"
#include "engine/rowwise/rowwise_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace layer_norm_gradients {

namespace hn = hwy::HWY_NAMESPACE;

struct LayerNormBackward : engine::HWY_NAMESPACE::RowwiseFormula<LayerNormBackward> {
  static constexpr int kInputs = 3;
  explicit LayerNormBackward(const void* parameters)
      : wants_input(static_cast<const NormBackwardParameters*>(parameters)->wants_input) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const typename Row::D d;
    const V mean = hn::Set(d, static_cast<float>(row.Value(0)));
    const V rstd = hn::Set(d, static_cast<float>(row.Value(1)));
    const auto normalized = [&](V x) HWY_ATTR { return hn::Mul(hn::Sub(x, mean), rstd); };
    if (wants_input) {
      double sum = 0;
      double sum_normalized = 0;
      row.template Sum2<0, 1, 2>(&sum, &sum_normalized,
                                 [&](auto, V& a, V& b, V gradient, V x, V weight) HWY_ATTR {
                                   a = hn::Mul(gradient, weight);
                                   b = hn::Mul(a, normalized(x));
                                 });
      const auto n = static_cast<double>(row.n());
      const V mean_gradient = hn::Set(d, static_cast<float>(sum / n));
      const V mean_normalized = hn::Set(d, static_cast<float>(sum_normalized / n));
      row.template Write<0, 0, 1, 2>([&](auto, V gradient, V x, V weight) HWY_ATTR {
        const V centered = hn::Sub(hn::Mul(gradient, weight), mean_gradient);
        return hn::Mul(rstd, hn::Sub(centered, hn::Mul(normalized(x), mean_normalized)));
      });
    }
    if (row.WantsColumns(0)) {
      row.template AddToColumns<0, 0, 1>([&](auto, V gradient, V x)
                                             HWY_ATTR { return hn::Mul(gradient, normalized(x)); });
    }
    if (row.WantsColumns(1)) {
      row.template AddToColumns<1, 0>([](auto, V gradient) HWY_ATTR { return gradient; });
    }
  }

  bool wants_input;
};

}  // namespace layer_norm_gradients
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/jobs/normalized.h"
#include "aclnnop/norm/layer_norm_backward_functions.h"
#include "base/errors.h"

namespace portacl {

const engine::RowwiseKernels layer_norm_backward_kernels =
    PORTACL_ROWWISE_KERNELS(layer_norm_gradients::LayerNormBackward);

namespace {

enum Tensors { kGradOut, kInput, kMean, kRstd, kWeight, kBias, kGradInput, kGradWeight, kGradBias };
enum Attributes { kNormalizedShape, kMask };

constexpr DtypeRule kDtypes = Everywhere(kFloatHalfAndBf16);

bool Wants(const OperatorCall& call, int tensor) {
  return (call.attributes[kMask].integer >> (tensor - kGradInput) & 1) != 0;
}
template <int tensor>
bool IsWanted(const OperatorCall& call) noexcept {
  return Wants(call, tensor);
}

int64_t RowCount(const OperatorCall& call) {
  const Shape& input = call.Tensor(kInput).shape;
  int64_t rows = 1;
  for (int axis = 0; axis < input.rank - static_cast<int>(call.Array(kNormalizedShape).size()); ++axis)
    rows *= input[axis];
  return rows;
}

int64_t RowLength(const OperatorCall& call) {
  const Shape& input = call.Tensor(kInput).shape;
  int64_t length = 1;
  for (int axis = input.rank - static_cast<int>(call.Array(kNormalizedShape).size()); axis < input.rank;
       ++axis)
    length *= input[axis];
  return length;
}

aclnnStatus DimsAreThere(const Check& check, OperatorCall& call) noexcept {
  const auto count = static_cast<int>(call.Array(kNormalizedShape).size());
  return count >= 1 && count <= call.Tensor(kInput).shape.rank ? ACL_SUCCESS
                                                               : RefuseNormalized(check, call, kInput);
}

template <int tensor>
aclnnStatus HasNumbers(const Check& check, OperatorCall& call) noexcept {
  const int64_t accepted = tensor == kMean ? RowCount(call) : RowLength(call);
  if (call.Tensor(tensor).numel == accepted) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, tensor).Add(" has not as many elements as ");
  return FailAclnn(
      check.code,
      message.Add(tensor == kMean ? "input has rows" : "a row").Add(", accepted: ").Add(accepted).Add("."));
}

// Selects the work of empty inputs; sizes have been checked. A sum over no rows is 0. Rows without elements
// have no results.
aclnnStatus NothingToDo(const Check&, OperatorCall& call) noexcept {
  bool wanted = false;
  for (const int tensor : {kGradInput, kGradWeight, kGradBias}) wanted = wanted || Wants(call, tensor);
  const Shape& input = call.Tensor(kInput).shape;
  if (!wanted) {
    call.work = OperatorCall::Work::kNothing;
  } else if (input.IsEmpty()) {
    bool has_columns = RowCount(call) == 0;
    for (const int64_t length : call.Array(kNormalizedShape)) has_columns = has_columns && length != 0;
    call.work = has_columns ? OperatorCall::Work::kNoTerms : OperatorCall::Work::kNothing;
  }
  return ACL_SUCCESS;
}

aclnnStatus MaskIsThere(const Check&, OperatorCall& call) noexcept {
  if (call.attributes[kMask].real == 3.0f) return ACL_SUCCESS;
  const bool is_null = call.attributes[kMask].real < 0.0f;
  Text message = StartMessage(call);
  message.Add("parameter outputMask ");
  return FailAclnn(
      is_null ? ACLNN_ERR_PARAM_NULLPTR : ACLNN_ERR_PARAM_INVALID,
      message.Add(is_null ? "is a null pointer" : "has not 3 values").Add(", accepted: 3 values."));
}

constexpr auto kChecks = Join(List(
    NotNull(kGradOut), NotNull(kInput), ArrayNotNull(kNormalizedShape), NotNull(kMean), NotNull(kRstd),
    Custom(MaskIsThere), If(IsWanted<kGradInput>, NotNull(kGradInput)),
    If(IsWanted<kGradWeight>, NotNull(kGradWeight)), If(IsWanted<kGradBias>, NotNull(kGradBias)),
    DtypesIn(kDtypes, {kGradOut, kInput, kMean, kRstd}), SameDtype(kInput, kGradOut),
    DtypesIn(kDtypes, {kWeight, kBias}), IfThere<kWeight>(Custom(FloatOrDtypeOf<kWeight, kInput>)),
    DtypesIn(kDtypes, {kGradInput, kGradWeight, kGradBias}),
    RankAtMost(8, {kGradOut, kInput, kMean, kRstd, kWeight}),
    RankAtMost(8, {kBias, kGradInput, kGradWeight, kGradBias}), Custom(DimsAreThere),
    SizesRepresentable({kGradInput, kGradWeight, kGradBias}), Custom(NormalizedDimsFit<kInput>),
    IfThere<kWeight>(Custom(ShapeIsNormalized<kWeight>)), IfThere<kBias>(Custom(ShapeIsNormalized<kBias>)),
    SameShape(kInput, kGradOut), SameShape(kMean, kRstd), Custom(HasNumbers<kMean>),
    If(IsWanted<kGradInput>, SameShape(kInput, kGradInput)),
    If(IsWanted<kGradWeight>, Custom(HasNumbers<kGradWeight>)),
    If(IsWanted<kGradBias>, Custom(HasNumbers<kGradBias>)), Custom(NothingToDo),
    InsideStorage({kGradOut, kInput, kMean, kRstd, kWeight})));

// Zeroes the gradients of weight and bias when everything else is empty.
void SetZeros(const OperatorCall& call, Executor& executor) {
  int tensors[2];
  int count = 0;
  for (const int tensor : {kGradWeight, kGradBias}) {
    if (Wants(call, tensor)) tensors[count++] = tensor;
  }
  SetZeroJob(call, tensors, count, executor);
}

void SetRows(const OperatorCall& call, Executor& executor) {
  if (call.work == OperatorCall::Work::kNoTerms) return SetZeros(call, executor);
  const aclTensor& input = call.Tensor(kInput);
  const int normalized = static_cast<int>(call.Array(kNormalizedShape).size());
  engine::RowwiseJobMaker rows(input.shape, LastAxes(normalized, input.shape), ACL_FLOAT, call.isa,
                               call.threads);
  rows.Input(kGradOut, call.Tensor(kGradOut));
  rows.Input(kInput, input);
  InputOr(rows, call, kWeight, 1);
  if (Wants(call, kGradInput)) rows.Output(kGradInput, call.Tensor(kGradInput));
  rows.ValueIn(kMean, call.Tensor(kMean));
  rows.ValueIn(kRstd, call.Tensor(kRstd));
  for (const int tensor : {kGradWeight, kGradBias}) {
    if (Wants(call, tensor)) {
      rows.ColumnSum(tensor, call.Tensor(tensor));
    } else {
      rows.NoColumnSum();
    }
  }
  SetRowwiseJob(rows, layer_norm_backward_kernels, NormBackwardParameters{Wants(call, kGradInput)}, executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnLayerNormBackward) { return RunPhase1(call, kChecks, workspaceSize, executor, SetRows); }

#endif  // HWY_ONCE
