// aclnnMultilabelMarginLoss: sums, for each row, by how much its labels fail to exceed the other classes by
// 1, and divides by the number of classes. Gives all losses, their sum or their mean, and marks the classes
// that are labels.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/loss/multilabel_margin_loss_functions.h"

#include "acl/settings/configuration.h"
#include "aclnnop/jobs/rowwise_job.h"
#include "base/errors.h"
#include "engine/rowwise/label_margin.h"

namespace portacl {
namespace {

enum Attributes { kReduction };
enum Tensors { kSelf, kTarget, kOut, kIsTarget };

constexpr DtypeSet kTargets{ACL_INT64, ACL_INT32};

// Any number other than those of none and mean means a sum.
engine::ClassReduction ReductionOf(const OperatorCall& call) {
  const int64_t reduction = call.attributes[kReduction].integer;
  return reduction == kReductionNone   ? engine::ClassReduction::kNone
         : reduction == kReductionMean ? engine::ClassReduction::kMean
                                       : engine::ClassReduction::kSum;
}

aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  const Shape& target = call.Tensor(kTarget).shape;
  if (self.rank > 2 || (self.rank > 0 && self[self.rank - 1] == 0)) {
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, kSelf);
    return FailAclnn(check.code, message.Add(", accepted: at most 2 dims, the last of which is not 0."));
  }
  const bool is_one_row = self.rank < 2;
  const bool fits =
      is_one_row ? target.rank < 2 && call.Tensor(kTarget).numel == call.Tensor(kSelf).numel : target == self;
  if (!fits) return RefuseShape(check, call, kTarget, self);
  if (!is_one_row && ReductionOf(call) == engine::ClassReduction::kNone) {
    if (call.Tensor(kOut).shape != Shape{self[0]}) return RefuseShape(check, call, kOut, Shape{self[0]});
  } else if (call.Tensor(kOut).numel != 1) {
    return RefuseShape(check, call, kOut, Shape{});
  }
  if (call.Tensor(kIsTarget).shape != target) return RefuseShape(check, call, kIsTarget, target);
  return ACL_SUCCESS;
}

int64_t RowsOf(const Shape& self) { return self.rank == 2 ? self[0] : 1; }
int64_t ClassesOf(const Shape& self) { return self.rank == 0 ? 1 : self[self.rank - 1]; }

aclnnStatus WorkspaceFits(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  if (engine::LabelMarginFits(RowsOf(self), ClassesOf(self), call.threads)) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kSelf);
  return FailAclnn(check.code,
                   message.Add(" needs a workspace of more than 2^63 bytes, accepted: fewer rows or "
                               "classes."));
}

constexpr auto kChecks =
    List(NotNull(kSelf), NotNull(kTarget), NotNull(kOut), NotNull(kIsTarget),
         DtypesIn(kBf16SinceAtlasA2, {kSelf}), DtypesIn(kTargets, {kTarget}), SameDtype(kSelf, kOut),
         SameDtype(kSelf, kIsTarget), SizesRepresentable({kOut, kIsTarget}), Custom(ShapesFit),
         DoneIfEmpty({kSelf}), Custom(WorkspaceFits), InsideStorage({kSelf, kTarget}));

void SetMargin(const OperatorCall& call, Executor& executor) {
  const Isa isa = call.isa;
  const auto rows_of = [&](int tensor, bool is_output, aclDataType computed) {
    const Shape& shape = call.Tensor(tensor).shape;
    const uint32_t axes = shape.rank == 0 ? 0 : LastAxes(1, shape);
    return engine::RowwiseOperandOf(tensor, call.Tensor(tensor), shape, axes, is_output, computed, isa);
  };
  const Shape& self = call.Tensor(kSelf).shape;
  engine::LabelMargin margin{};
  margin.input = rows_of(kSelf, false, ACL_DOUBLE);
  margin.target = rows_of(kTarget, false, ACL_INT64);
  margin.is_label = rows_of(kIsTarget, true, ACL_DOUBLE);
  margin.result = engine::NumbersOf(kOut, call.Tensor(kOut), true, ACL_DOUBLE, isa);
  margin.rows = RowsOf(self);
  margin.classes = ClassesOf(self);
  margin.reduction = ReductionOf(call);
  margin.isa = isa;
  margin.raises = CurrentConfiguration().index_errors_raise && !products::kAscend950.Contains(call.product);
  margin.threads = call.threads;
  executor.SetJob([&] {
    return engine::MakeLabelMarginJob(executor, margin,
                                      1u << kSelf | 1u << kTarget | 1u << kOut | 1u << kIsTarget);
  });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnMultilabelMarginLoss) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetMargin);
}
