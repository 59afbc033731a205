// aclnnCrossEntropyLoss: the logarithm of softmax over classes, and for each row -weight[target] times its
// element at target, mixed with the elements of all classes by label smoothing; also their weighted mean or
// sum. aclnnCrossEntropyLossGrad: the gradient for the input.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/loss/cross_entropy_loss.cc"
#include "base/foreach_target.h"

#include "engine/functions/functions-inl.h"
#include "engine/functions/fused_exp-inl.h"
#include "engine/rowwise/rowwise_loop-inl.h"

#ifndef PORTACL_ACLNNOP_NORM_CROSS_ENTROPY_LOSS_PARAMETERS
#define PORTACL_ACLNNOP_NORM_CROSS_ENTROPY_LOSS_PARAMETERS
namespace portacl {
struct CrossEntropyParameters {
  bool smooths;  // uses the logarithms of all classes
};
}  // namespace portacl
#endif

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace cross_entropy {

namespace hn = hwy::HWY_NAMESPACE;
namespace functions = engine::HWY_NAMESPACE::functions;
using engine::HWY_NAMESPACE::OfOne;
using engine::HWY_NAMESPACE::UnrolledSteps;

// Returns whether number 0 of the row, the target, is a class, and sets *target.
template <class Row>
HWY_INLINE bool NamesAClass(const Row& row, size_t* target) {
  const double number = row.Value(0);
  const bool does = number >= 0 && number < static_cast<double>(row.n());
  *target = does ? static_cast<size_t>(number) : 0;
  return does;
}

// Numbers of a row: 0, the target; 1, the logarithm at the target; 2, minus the sum of all logarithms. A
// second input holds the weights of that sum.
template <class Formula, int kOperands>
struct Losses : engine::HWY_NAMESPACE::RowwiseFormula<Formula> {
  static constexpr int kInputs = kOperands;
  explicit Losses(const void* parameters)
      : smooths(static_cast<const CrossEntropyParameters*>(parameters)->smooths) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    using T = typename Row::T;
    const typename Row::D d;
    const T most = row.template Max<0>();
    const V greatest = hn::Set(d, most);
    const double sum = row.template Sum<0>(UnrolledSteps{[&](auto tag, auto x) HWY_ATTR {
      using hn::Sub;
      return functions::FusedExp(tag, Sub(x, decltype(x)(greatest)));
    }});
    const V log = functions::Log(d, hn::Set(d, static_cast<T>(sum)));
    if (smooths) {
      const auto logarithm = [&](V x) HWY_ATTR { return hn::Sub(hn::Sub(x, greatest), log); };
      double all;
      if constexpr (kOperands == 2) {
        all = row.template Sum<0, 1>([&](auto, V x, V weight)
                                         HWY_ATTR { return hn::Mul(weight, logarithm(x)); });
      } else {
        all = row.template Sum<0>([&](auto, V x) HWY_ATTR { return logarithm(x); });
      }
      row.SetValue(2, -all);
    }
    size_t target;
    const bool is_class = NamesAClass(row, &target);
    const T of_target = is_class ? row.template At<0>(target) - most - hn::GetLane(log) : T{0};
    row.SetValue(1, static_cast<double>(of_target));
    row.template Write<0, 0>([&](auto, V x) HWY_ATTR { return hn::Sub(hn::Sub(x, greatest), log); });
  }

  bool smooths;
};
struct Loss : Losses<Loss, 1> {
  using Losses::Losses;
};
struct WeightedLoss : Losses<WeightedLoss, 2> {
  using Losses::Losses;
};

// Numbers of a row: 0, the target; 1, the gradient that only the target's element gets; 2, the gradient of
// every element. A second input holds weights that multiply number 2.
template <class Formula, int kOperands>
struct Gradients : engine::HWY_NAMESPACE::RowwiseFormula<Formula> {
  static constexpr int kInputs = kOperands;
  explicit Gradients(const void*) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    using T = typename Row::T;
    const typename Row::D d;
    const double of_all = row.Value(2);
    double weights = static_cast<double>(row.n());
    if constexpr (kOperands == 2)
      weights = row.template Sum<1>([&](auto, V weight) HWY_ATTR { return weight; });
    const T sum = static_cast<T>(row.Value(1) + of_all * weights);
    const V total = hn::Set(d, sum);
    const T each = static_cast<T>(of_all);
    size_t target;
    const bool is_class = NamesAClass(row, &target);
    T at_target = 0;
    if (is_class) {
      const T power = OfOne(d, row.template At<0>(target),
                            [](auto tag, auto y) HWY_ATTR { return functions::FusedExp(tag, y); });
      T own = each;
      if constexpr (kOperands == 2) own = each * row.template At<1>(target);
      at_target = static_cast<T>(row.Value(1)) + own - power * sum;
    }
    if constexpr (kOperands == 2) {
      row.template Write<0, 0, 1>(UnrolledSteps{[&](auto tag, auto y, auto weight) HWY_ATTR {
        using hn::Mul;
        using hn::Sub;
        using Vectors = decltype(y);
        return Sub(Mul(weight, Vectors(hn::Set(d, each))), Mul(functions::FusedExp(tag, y), Vectors(total)));
      }});
    } else {
      row.template Write<0, 0>(UnrolledSteps{[&](auto tag, auto y) HWY_ATTR {
        using hn::Mul;
        using hn::Sub;
        using Vectors = decltype(y);
        return Sub(Vectors(hn::Set(d, each)), Mul(functions::FusedExp(tag, y), Vectors(total)));
      }});
    }
    if (is_class) row.template Put<0>(target, at_target);
  }
};
struct Gradient : Gradients<Gradient, 1> {
  using Gradients::Gradients;
};
struct WeightedGradient : Gradients<WeightedGradient, 2> {
  using Gradients::Gradients;
};

}  // namespace cross_entropy
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <string_view>

#include "acl/settings/configuration.h"
#include "aclnnop/jobs/rowwise_job.h"
#include "aclnnop/loss/cross_entropy_loss_functions.h"
#include "base/errors.h"
#include "engine/rowwise/cross_entropy.h"
#include "plan/views.h"

namespace portacl {
namespace {

constexpr auto kLoss = PORTACL_ROWWISE_KERNELS(cross_entropy::Loss);
constexpr auto kWeightedLoss = PORTACL_ROWWISE_KERNELS(cross_entropy::WeightedLoss);
constexpr auto kGradient = PORTACL_ROWWISE_KERNELS(cross_entropy::Gradient);
constexpr auto kWeightedGradient = PORTACL_ROWWISE_KERNELS(cross_entropy::WeightedGradient);

constexpr DtypeRule kDtypes = SinceAtlasA2(kFloatHalfAndBf16);
constexpr DtypeSet kTargets{ACL_INT32, ACL_INT64};
constexpr DtypeSet kFloatAlone{ACL_FLOAT};
// CANN's code when a kernel's own checks refuse a call.
constexpr aclnnStatus kTiling = ACLNN_ERR_INNER_TILING_ERROR;

enum Attributes { kReduction, kIgnoreIndex, kSmoothing };
enum Loss { kInput, kTarget, kWeight, kLossOut, kLogProb, kZloss, kLse };
enum Grad { kGradLoss, kLog, kClass, kFactor, kGradZloss, kLseOfLoss, kOut };

using engine::ClassReduction;

// A null text means the default, a mean.
std::string_view ReductionText(const OperatorCall& call) {
  const char* const text = call.attributes[kReduction].text;
  return text == nullptr ? "mean" : text;
}
ClassReduction ReductionOf(const OperatorCall& call) {
  const std::string_view text = ReductionText(call);
  return text == "none"  ? ClassReduction::kNone
         : text == "sum" ? ClassReduction::kSum
                         : ClassReduction::kMean;
}
float Smoothing(const OperatorCall& call) { return static_cast<float>(call.attributes[kSmoothing].wide); }

aclnnStatus NamesAReduction(const Check& check, OperatorCall& call) noexcept {
  const std::string_view text = ReductionText(call);
  if (text == "none" || text == "mean" || text == "sum") return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call)
                                   .Add("parameter ")
                                   .Add(call.attributes[kReduction].name)
                                   .Add(" is \"")
                                   .Add(text.substr(0, 64))
                                   .Add("\", accepted: \"none\", \"mean\" or \"sum\"."));
}
aclnnStatus SmoothingIsAFraction(const Check& check, OperatorCall& call) noexcept {
  if (Smoothing(call) >= 0 && Smoothing(call) <= 1) return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call).Add(
                                   "parameter labelSmoothing is outside of its range, accepted: 0 to 1."));
}

// Checks the shapes of a loss or its gradient: [N, C] with at least one class, N targets, C weights, and N
// losses or one.
template <int input, int target, int weight, int loss>
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& shape = call.Tensor(input).shape;
  if (shape.rank != 2 || shape[1] == 0) {
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, input);
    return FailAclnn(check.code, message.Add(" is refused, accepted: 2 dims, the last one not 0."));
  }
  if (call.Tensor(target).shape != Shape{shape[0]}) return RefuseShape(check, call, target, Shape{shape[0]});
  if (call.IsGiven(weight) && call.Tensor(weight).shape != Shape{shape[1]})
    return RefuseShape(check, call, weight, Shape{shape[1]});
  if (ReductionOf(call) == ClassReduction::kNone) {
    if (call.Tensor(loss).shape != Shape{shape[0]}) return RefuseShape(check, call, loss, Shape{shape[0]});
  } else if (call.Tensor(loss).numel != 1) {
    return RefuseShape(check, call, loss, Shape{1});
  }
  return ACL_SUCCESS;
}

constexpr Check kLossChecks[] = {
    NotNull(kInput),
    NotNull(kTarget),
    NotNull(kLossOut),
    NotNull(kLogProb),
    NotNull(kZloss),
    NotNull(kLse),
    DtypesIn(kDtypes, {kInput}),
    DtypesIn(kTargets, {kTarget}),
    DtypesIn(kFloatAlone, {kWeight}),
    SameDtype(kInput, kLossOut),
    SameDtype(kInput, kLogProb),
    SameDtype(kInput, kZloss),
    SameDtype(kInput, kLse),
    Custom(NamesAReduction, kTiling),
    Custom(SmoothingIsAFraction, kTiling),
    Custom(ShapesFit<kInput, kTarget, kWeight, kLossOut>, kTiling),
    WithCode(kTiling, SameShape(kInput, kLogProb)),
    SizesRepresentable({kLossOut, kLogProb}),
    InsideStorage({kInput, kTarget, kWeight}),
};

constexpr Check kGradChecks[] = {
    NotNull(kGradLoss),
    NotNull(kLog),
    NotNull(kClass),
    NotNull(kOut),
    DtypesIn(kDtypes, {kGradLoss}),
    SameDtype(kGradLoss, kLog),
    DtypesIn(kTargets, {kClass}),
    DtypesIn(kFloatAlone, {kFactor}),
    SameDtype(kGradLoss, kOut),
    Custom(NamesAReduction, kTiling),
    Custom(SmoothingIsAFraction, kTiling),
    Custom(ShapesFit<kLog, kClass, kFactor, kGradLoss>, kTiling),
    WithCode(kTiling, SameShape(kLog, kOut)),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kLog}),
    InsideStorage({kGradLoss, kLog, kClass, kFactor}),
};

// Returns the part that losses and their gradients share. `loss` is the operand of losses, or of their
// gradient.
engine::ClassLoss ClassesOf(const OperatorCall& call, int input, int target, int weight, int loss) {
  const Isa isa = call.isa;
  const Shape& shape = call.Tensor(input).shape;
  engine::ClassLoss classes{};
  classes.rows = shape[0];
  classes.classes = shape[1];
  classes.target = engine::NumbersOf(target, call.Tensor(target), false, ACL_INT64, isa);
  classes.weight.argument = engine::RowwiseOperand::kConstant;
  if (call.IsGiven(weight)) {
    classes.weight = engine::RowwiseOperandOf(weight, call.Tensor(weight), Shape{classes.classes}, 1, false,
                                              ACL_FLOAT, isa);
  }
  classes.reduction = ReductionOf(call);
  const float smoothing = Smoothing(call);
  classes.smooths = smoothing != 0;
  classes.share = 1.0f - smoothing;
  classes.smoothing =
      static_cast<float>(static_cast<double>(smoothing) / static_cast<double>(classes.classes));
  classes.total.argument = engine::RowwiseOperand::kConstant;
  const bool is_gradient = loss == kGradLoss;
  const aclDataType of_loss =
      !is_gradient && classes.reduction == ClassReduction::kNone ? ACL_FLOAT : ACL_DOUBLE;
  classes.result = engine::NumbersOf(loss, call.Tensor(loss), !is_gradient, of_loss, isa);
  classes.ignored = call.attributes[kIgnoreIndex].integer;
  classes.raises = CurrentConfiguration().index_errors_raise;
  classes.threads = call.threads;
  return classes;
}

// Views numbers of rows in the workspace, beginning at a byte.
StridedView NumbersInWorkspace(aclDataType dtype, int64_t rows, uint64_t byte) {
  StridedView view;
  view.dtype = dtype;
  FillShape(view, Shape{rows}, 1);
  view.offset = static_cast<int64_t>(byte / (dtype == ACL_DOUBLE ? sizeof(double) : sizeof(float)));
  view.Describe();
  return view;
}

engine::RowwiseJobMaker RowsOf(const OperatorCall& call, int tensor) {
  return engine::RowwiseJobMaker(call.Tensor(tensor).shape, 2, ACL_FLOAT, call.isa, call.threads);
}

void SetLoss(const OperatorCall& call, Executor& executor) {
  engine::CrossEntropy both{};
  both.loss = ClassesOf(call, kInput, kTarget, kWeight, kLossOut);
  both.workspace_operand = executor.operand_count;
  const int64_t rows = both.loss.rows;
  both.has_rows = rows != 0;
  const uint64_t at = both.loss.WorkspaceBytes();
  executor.workspace_size = at + 2 * static_cast<uint64_t>(rows) * sizeof(float);
  const StridedView of_targets = NumbersInWorkspace(ACL_FLOAT, rows, at);
  const StridedView smooth =
      NumbersInWorkspace(ACL_FLOAT, rows, at + static_cast<uint64_t>(rows) * sizeof(float));
  const Isa isa = call.isa;
  both.loss.work = engine::ClassWork::kLosses;
  both.loss.is_of_targets = true;
  both.loss.input = engine::NumbersOf(both.workspace_operand, of_targets, false, ACL_FLOAT, isa);
  both.loss.smooth = engine::NumbersOf(both.workspace_operand, smooth, false, ACL_FLOAT, isa);
  uint32_t touched = 1u << kLossOut;
  if (both.has_rows) {
    engine::RowwiseJobMaker maker = RowsOf(call, kInput);
    const bool weighs = both.loss.smooths && call.IsGiven(kWeight);
    maker.Input(kInput, call.Tensor(kInput));
    if (weighs) maker.Input(kWeight, call.Tensor(kWeight));
    maker.Output(kLogProb, call.Tensor(kLogProb));
    maker.ValueIn(kTarget, call.Tensor(kTarget));
    maker.ValueOut(both.workspace_operand, of_targets);
    if (both.loss.smooths) maker.ValueOut(both.workspace_operand, smooth);
    both.rows = maker.Make(weighs ? kWeightedLoss : kLoss, CrossEntropyParameters{both.loss.smooths},
                           &executor.workspace_size);
    touched |= maker.touched();
    if (call.IsGiven(kWeight)) touched |= 1u << kWeight;
  }
  executor.SetJob([&] { return engine::MakeCrossEntropyJob(executor, both, touched); });
}

void SetGradient(const OperatorCall& call, Executor& executor) {
  engine::CrossEntropy both{};
  both.loss = ClassesOf(call, kLog, kClass, kFactor, kGradLoss);
  both.workspace_operand = executor.operand_count;
  both.is_gradient = both.has_rows = true;
  const auto bytes = static_cast<uint64_t>(both.loss.rows) * sizeof(double);
  const uint64_t at = both.loss.WorkspaceBytes();
  executor.workspace_size = at + 2 * bytes;
  both.loss.work = engine::ClassWork::kCoefficients;
  both.loss.coefficients_offset = static_cast<int64_t>(at);
  engine::RowwiseJobMaker maker = RowsOf(call, kLog);
  const bool weighs = both.loss.smooths && call.IsGiven(kFactor);
  maker.Input(kLog, call.Tensor(kLog));
  if (weighs) maker.Input(kFactor, call.Tensor(kFactor));
  maker.Output(kOut, call.Tensor(kOut));
  maker.ValueIn(kClass, call.Tensor(kClass));
  maker.ValueIn(both.workspace_operand, NumbersInWorkspace(ACL_DOUBLE, both.loss.rows, at));
  maker.ValueIn(both.workspace_operand, NumbersInWorkspace(ACL_DOUBLE, both.loss.rows, at + bytes));
  both.rows =
      maker.Make(weighs ? kWeightedGradient : kGradient, engine::NoParameters(), &executor.workspace_size);
  uint32_t touched = maker.touched() | 1u << kGradLoss;
  if (call.IsGiven(kFactor)) touched |= 1u << kFactor;
  executor.SetJob([&] { return engine::MakeCrossEntropyJob(executor, both, touched); });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

// The attributes of zloss affect only outputs that are not produced.
PORTACL_PHASE_1(aclnnCrossEntropyLoss) {
  return RunPhase1(call, kLossChecks, workspaceSize, executor, SetLoss);
}

PORTACL_PHASE_1(aclnnCrossEntropyLossGrad) {
  return RunPhase1(call, kGradChecks, workspaceSize, executor, SetGradient);
}

#endif  // HWY_ONCE
