// aclnnNLLLoss, aclnnNLLLoss2d: -weight[target] times the element of each row at its target. Give all losses,
// their sum, or the sum divided by the sum of the weights. aclnnNLLLossBackward, aclnnNLLLoss2dBackward:
// -weight[target] times the gradient at the target, else 0.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/loss/nll_loss_functions.h"

#include <utility>

#include "acl/settings/configuration.h"
#include "aclnnop/jobs/rowwise_job.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "engine/rowwise/class_loss.h"

namespace portacl {
namespace {

enum Attributes { kReduction, kIgnoreIndex };

constexpr DtypeSet kTargets{ACL_INT64, ACL_UINT8, ACL_INT32};

using engine::ClassReduction;

ClassReduction ReductionOf(const OperatorCall& call) {
  const int64_t reduction = call.attributes[kReduction].integer;
  return reduction == kReductionNone   ? ClassReduction::kNone
         : reduction == kReductionMean ? ClassReduction::kMean
                                       : ClassReduction::kSum;
}
bool IsNone(const OperatorCall& call) noexcept { return ReductionOf(call) == ClassReduction::kNone; }

// Returns the dim of classes: dim 1, or the only dim.
int ClassDim(const Shape& shape) { return shape.rank == 1 ? 0 : 1; }

engine::ClassLoss LossOf(const OperatorCall& call, int input, int target, int weight, int result, int total,
                         bool is_gradient) {
  engine::ClassLoss loss{};
  const Isa isa = call.isa;
  const Shape& shape = call.Tensor(input).shape;
  const int dim = ClassDim(shape);
  loss.classes = shape[dim];
  loss.rows = 1;
  for (int axis = 0; axis < shape.rank; ++axis) loss.rows *= axis == dim ? 1 : shape[axis];
  loss.input = engine::RowwiseOperandOf(input, call.Tensor(input), shape, 1u << dim, is_gradient,
                                        is_gradient ? ACL_DOUBLE : ACL_FLOAT, isa);
  loss.target = engine::NumbersOf(target, call.Tensor(target), false, ACL_INT64, isa);
  // One number for each class, so rows and columns swap.
  loss.weight = engine::NumbersOf(weight, call.Tensor(weight), false, ACL_FLOAT, isa);
  std::swap(loss.weight.outer, loss.weight.inner);
  loss.reduction = ReductionOf(call);
  const aclDataType of_result =
      !is_gradient && loss.reduction == ClassReduction::kNone ? ACL_FLOAT : ACL_DOUBLE;
  loss.result = engine::NumbersOf(result, call.Tensor(result), !is_gradient, of_result, isa);
  loss.total = engine::NumbersOf(total, call.Tensor(total), !is_gradient, ACL_DOUBLE, isa);
  loss.ignored = call.attributes[kIgnoreIndex].integer;
  loss.work = is_gradient ? engine::ClassWork::kGradients : engine::ClassWork::kLosses;
  loss.raises = CurrentConfiguration().index_errors_raise;
  loss.threads = call.threads;
  return loss;
}

// ---- the losses ----

enum Loss { kSelf, kTarget, kWeight, kOut, kTotal };

template <int rank>
aclnnStatus LossShapes(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  const Shape& target = call.Tensor(kTarget).shape;
  Text message = StartMessage(call);
  bool fits = rank == 4 ? self.rank == 4 : self.rank == 1 || self.rank == 2;
  if (!fits) {
    AddArgumentShape(message.Add("parameter "), call, kSelf).Add(" has the rank ").Add(self.rank);
    return FailAclnn(check.code, message.Add(rank == 4 ? ", accepted: 4 dims." : ", accepted: 1 or 2 dims."));
  }
  if (rank == 4) {
    fits = target.rank == 3 && target[0] == self[0] && target[1] == self[2] && target[2] == self[3];
  } else {
    fits = self.rank == 1 ? target.rank == 0 : target.rank == 1 && target[0] == self[0];
  }
  if (!fits) {
    AddArgumentShape(message.Add("parameter "), call, kTarget);
    AddArgumentShape(message.Add(" does not go with "), call, kSelf);
    return FailAclnn(check.code, message.Add(", accepted: the same dims but for that of the classes."));
  }
  const Shape& weight = call.Tensor(kWeight).shape;
  const int64_t classes = self[ClassDim(self)];
  if (rank == 4 ? weight.rank < 1 || weight[0] != classes || call.Tensor(kWeight).numel != classes
                : weight != Shape{classes})
    return RefuseShape(check, call, kWeight, Shape{classes});
  if (IsNone(call) && self.rank != 1) {
    if (call.Tensor(kOut).shape != target) return RefuseShape(check, call, kOut, target);
  } else if (call.Tensor(kOut).numel != 1) {
    return RefuseShape(check, call, kOut, Shape{});
  }
  if (call.Tensor(kTotal).numel != 1) return RefuseShape(check, call, kTotal, Shape{});
  if (classes == 0 && !call.Tensor(kTarget).shape.IsEmpty()) {
    AddArgumentShape(message.Add("parameter "), call, kSelf);
    return FailAclnn(check.code, message.Add(" has no classes, accepted: at least one."));
  }
  return ACL_SUCCESS;
}

constexpr auto kResults = List(Converts(kSelf, kOut, kConvertible), Converts(kSelf, kTotal, kConvertible));

constexpr auto kNotNull =
    List(NotNull(kSelf), NotNull(kTarget), NotNull(kWeight), NotNull(kOut), NotNull(kTotal));
constexpr auto kEnd =
    Join(List(If(IsNone, DoneIfEmpty({kSelf}))), kResults, List(InsideStorage({kSelf, kTarget, kWeight})));
constexpr auto kLossChecks =
    Join(kNotNull,
         List(SameDtype(kSelf, kWeight), CastsTo(kSelf, kOut), CastsTo(kSelf, kTotal),
              DtypesIn(kBf16SinceAtlasA2, {kSelf}), DtypesIn(kTargets, {kTarget}),
              IntegerIn(kReduction, 0, 2), SizesRepresentable({kOut, kTotal}), Custom(LossShapes<2>)),
         kEnd);
constexpr auto kLoss2dChecks =
    Join(kNotNull,
         List(DtypesIn(kBf16SinceAtlasA2, {kSelf}), SameDtype(kSelf, kWeight), CastsTo(kSelf, kOut),
              CastsTo(kSelf, kTotal), DtypesIn(kTargets, {kTarget}), IntegerIn(kReduction, 0, 2),
              SizesRepresentable({kOut, kTotal}), Custom(LossShapes<4>)),
         kEnd);

void SetLoss(const OperatorCall& call, Executor& executor) {
  uint32_t touched = 1u << kOut;
  if (!call.Tensor(kSelf).shape.IsEmpty()) touched |= 1u << kSelf | 1u << kTarget | 1u << kWeight;
  if (!IsNone(call)) touched |= 1u << kTotal;
  executor.SetJob([&] {
    return engine::MakeClassLossJob(executor, LossOf(call, kSelf, kTarget, kWeight, kOut, kTotal, false),
                                    touched);
  });
}

// ---- gradients ----

enum Gradient { kGradOutput, kOf, kClass, kFactor, kSum, kGradient };

template <int rank>
aclnnStatus GradientShapes(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kOf).shape;
  const Shape& target = call.Tensor(kClass).shape;
  Text message = StartMessage(call);
  bool fits = rank == 4 ? self.rank == 4 : self.rank == 1 || self.rank == 2;
  if (!fits) {
    AddArgumentShape(message.Add("parameter "), call, kOf).Add(" has the rank ").Add(self.rank);
    return FailAclnn(check.code, message.Add(rank == 4 ? ", accepted: 4 dims." : ", accepted: 1 or 2 dims."));
  }
  if (rank == 4) {
    fits = target.rank == 3 && target[0] == self[0] && target[1] == self[2] && target[2] == self[3];
  } else {
    fits = target.rank == 0 ? self.rank == 1 : target.rank == 1 && target[0] == self[0];
  }
  if (!fits) {
    AddArgumentShape(message.Add("parameter "), call, kClass);
    AddArgumentShape(message.Add(" does not go with "), call, kOf);
    return FailAclnn(check.code, message.Add(", accepted: the same dims but for that of the classes."));
  }
  const int64_t classes = self[ClassDim(self)];
  if (rank == 4 ? call.Tensor(kFactor).numel != classes : call.Tensor(kFactor).shape != Shape{classes})
    return RefuseShape(check, call, kFactor, Shape{classes});
  if (call.Tensor(kSum).numel != 1) return RefuseShape(check, call, kSum, Shape{});
  if (IsNone(call) && self.rank != 1) {
    if (call.Tensor(kGradOutput).shape != target) return RefuseShape(check, call, kGradOutput, target);
  } else if (call.Tensor(kGradOutput).numel != 1) {
    return RefuseShape(check, call, kGradOutput, Shape{});
  }
  if (call.Tensor(kGradient).shape != self) return RefuseShape(check, call, kGradient, self);
  return ACL_SUCCESS;
}

constexpr auto kGradientNotNull = List(NotNull(kGradOutput), NotNull(kOf), NotNull(kClass), NotNull(kFactor),
                                       NotNull(kSum), NotNull(kGradient));
constexpr auto kGradientEnd = List(DoneIfEmpty({kOf}), Converts(kOf, kGradient, kConvertible),
                                   InsideStorage({kGradOutput, kOf, kClass, kFactor, kSum}),
                                   Custom(NumbersMerge<kFactor>, ACLNN_ERR_INNER_NULLPTR));
constexpr auto kGradientChecks =
    Join(kGradientNotNull,
         List(SameDtype(kOf, kFactor), SameDtype(kOf, kGradOutput), SameDtype(kOf, kSum),
              CastsTo(kOf, kGradient), DtypesIn(kBf16SinceAtlasA2, {kOf}), DtypesIn(kTargets, {kClass}),
              IntegerIn(kReduction, 0, 2), SizesRepresentable({kGradient}), Custom(GradientShapes<2>)),
         kGradientEnd);
constexpr auto kGradient2dChecks =
    Join(kGradientNotNull,
         List(DtypesIn(kBf16SinceAtlasA2, {kOf}), SameDtype(kOf, kGradOutput), SameDtype(kOf, kFactor),
              SameDtype(kOf, kGradient), SameDtype(kOf, kSum), DtypesIn(kTargets, {kClass}),
              SizesRepresentable({kGradient}), Custom(GradientShapes<4>), IntegerIn(kReduction, 0, 2)),
         kGradientEnd);

void SetGradient(const OperatorCall& call, Executor& executor) {
  engine::ClassLoss loss = LossOf(call, kGradient, kClass, kFactor, kGradOutput, kSum, true);
  StridedView zero;
  zero.dtype = call.Tensor(kGradient).dtype;
  zero.Describe();
  loss.zeros = engine::MakeMove(zero, call.Tensor(kGradient), call.isa, call.threads);
  executor.SetJob([&] {
    return engine::MakeClassLossJob(
        executor, loss, 1u << kGradient | 1u << kClass | 1u << kFactor | 1u << kGradOutput | 1u << kSum);
  });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnNLLLoss) { return RunPhase1(call, kLossChecks, workspaceSize, executor, SetLoss); }

PORTACL_PHASE_1(aclnnNLLLoss2d) { return RunPhase1(call, kLoss2dChecks, workspaceSize, executor, SetLoss); }

PORTACL_PHASE_1(aclnnNLLLossBackward) {
  return RunPhase1(call, kGradientChecks, workspaceSize, executor, SetGradient);
}

PORTACL_PHASE_1(aclnnNLLLoss2dBackward) {
  return RunPhase1(call, kGradient2dChecks, workspaceSize, executor, SetGradient);
}
