// aclnnFusedLinearOnlineMaxSum, aclnnFusedLinearCrossEntropyLossGrad: the cross entropy of a linear layer whose
// classes several devices share. fused_cross_entropy.cc has the step between them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "acl/settings/configuration.h"
#include "aclnnop/jobs/dense_op_list.h"
#include "aclnnop/jobs/matrix_product.h"
#include "aclnnop/loss/linear_cross_entropy_functions.h"
#include "aclnnop/stage_list.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "engine/route/class_part.h"
#include "plan/views.h"

namespace portacl {
namespace {

using dense::ShapeChecks;

constexpr DtypeSet kHalfAndBf16{ACL_FLOAT16, ACL_BF16};
constexpr DtypeSet kNumbers{ACL_FLOAT};
constexpr DtypeSet kIndexTypes{ACL_INT32, ACL_INT64};

// The elements of a tensor of one dim, or the rows of a matrix.
engine::StridedElements ElementsOf(const OperatorCall& call, int tensor) {
  const StridedView view = PlainView(call.Tensor(tensor));
  return {{call.OperandOf(tensor), ByteOffset(view)}, ByteStride(view, 0)};
}
MappedView ViewOf(const OperatorCall& call, int tensor) {
  return {PlainView(call.Tensor(tensor)), call.OperandOf(tensor)};
}
engine::BufferRef BufferOf(const StageList& stages, const MappedView& view) {
  engine::BufferRef buffer = stages.BufferOf(view.operand);
  buffer.offset += ByteOffset(view.tensor);
  return buffer;
}
MappedView Turned(MappedView view) {
  view.tensor = matmul::LastTwoSwapped(view.tensor);
  return view;
}
MappedView RowsOf(MappedView view, int64_t first, int64_t count) {
  Narrow(view.tensor, 0, first, count);
  return view;
}
void Multiply(StageList& stages, const MappedView& left, const MappedView& right, const MappedView& out) {
  stages.Product(
      matmul::GemmOf({{left.operand, left.tensor}, {right.operand, right.tensor}, {out.operand, out.tensor}}),
      left, right, out);
}
template <int tensor>
bool IsGiven(const OperatorCall& call) noexcept {
  return call.IsGiven(tensor);
}

// ---- FusedLinearOnlineMaxSum ----

namespace forwards {

enum Tensors { kInput, kWeight, kTarget, kMost, kSum, kPredicted, kMask, kMaskedTarget, kLogits };
enum Attributes { kBegin, kEnd };

constexpr DtypeRule kDtypes = SinceAtlasA2(kHalfAndBf16);
constexpr DtypeSet kBytes{ACL_UINT8};
constexpr int64_t kMostTerms = 65534;

aclnnStatus Fits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kInput, 2, 2).Rank(kWeight, 2, 2).Rank(kTarget, 1, 1);
  if (!checks.Passed()) return checks.status();
  const Shape& input = call.Tensor(kInput).shape;
  const Shape& weight = call.Tensor(kWeight).shape;
  const Shape rows{input[0]};
  checks.Holds(weight[0] > 0, kWeight, "at least 1 class")
      .Holds(input[1] <= kMostTerms, kInput, "at most 65534 columns")
      .Is(kWeight, Shape{weight[0], input[1]})
      .Is(kTarget, rows);
  for (const int tensor : {kMost, kSum, kPredicted, kMaskedTarget}) checks.Is(tensor, rows);
  return checks.Is(kMask, Shape{(input[0] + 7) / 8}).IsIfGiven(kLogits, Shape{input[0], weight[0]}).status();
}
aclnnStatus RangeFits(const Check& check, OperatorCall& call) noexcept {
  const int64_t begin = dense::Integer(call, kBegin);
  const int64_t end = dense::Integer(call, kEnd);
  if (begin < 0)
    return RefuseInteger(check, call, "vocabStartIndex", begin, 0, std::numeric_limits<int64_t>::max());
  if (end < begin)
    return RefuseInteger(check, call, "vocabEndIndex", end, begin, std::numeric_limits<int64_t>::max());
  return ACL_SUCCESS;
}
aclnnStatus DoneWithoutRows(const Check&, OperatorCall& call) noexcept {
  if (call.Tensor(kInput).shape[0] == 0) call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

constexpr auto kChecks = Join(
    List(NotNull(kInput), NotNull(kWeight), NotNull(kTarget), NotNull(kMost), NotNull(kSum),
         NotNull(kPredicted), NotNull(kMask), NotNull(kMaskedTarget)),
    List(DtypesIn(kDtypes, {kInput}), SameDtype(kInput, kWeight), DtypesIn(kIndexTypes, {kTarget}),
         DtypesIn(kNumbers, {kMost, kSum, kPredicted}), DtypesIn(kBytes, {kMask}),
         SameDtype(kTarget, kMaskedTarget), If(IsGiven<kLogits>, SameDtype(kInput, kLogits))),
    List(Custom(Fits), Custom(RangeFits), SizesRepresentable({kMost, kSum, kPredicted, kMask, kMaskedTarget}),
         If(IsGiven<kLogits>, SizesRepresentable({kLogits})), Custom(DoneWithoutRows),
         InsideStorage({kInput, kWeight, kTarget})));

// Rows whose logits are in the workspace at once: some 64 MiB of them.
int64_t RowsTogether(int64_t classes) {
  constexpr int64_t kMostNumbers = int64_t{1} << 24;
  return std::max<int64_t>(64, kMostNumbers / classes / 8 * 8);
}

void Set(const OperatorCall& call, Executor& executor) {
  const MappedView input = ViewOf(call, kInput);
  const MappedView weight = Turned(ViewOf(call, kWeight));
  const int64_t rows = input.tensor.shape[0];
  const int64_t classes = weight.tensor.shape[1];
  const int64_t together = std::min(rows, RowsTogether(classes));
  const int64_t blocks = (rows + together - 1) / together;
  constexpr int64_t kMostBlocks = int64_t{1} << 20;
  if (blocks > kMostBlocks) return executor.RefuseSize(call.Name(kInput), rows);
  StageList stages(call, executor, static_cast<int>(2 * blocks));
  const MappedView logits = stages.Scratch(Shape{together, classes}, ACL_FLOAT);
  engine::ReduceClassPart part{};
  part.all_rows = rows;
  part.classes = classes;
  part.has_terms = input.tensor.shape[1] > 0;
  part.logits = BufferOf(stages, logits);
  part.target = ElementsOf(call, kTarget);
  part.is_wide = call.Tensor(kTarget).dtype == ACL_INT64;
  part.begin = dense::Integer(call, kBegin);
  part.end = dense::Integer(call, kEnd);
  part.most = ElementsOf(call, kMost);
  part.sum = ElementsOf(call, kSum);
  part.predicted = ElementsOf(call, kPredicted);
  part.mask = ElementsOf(call, kMask);
  part.index = ElementsOf(call, kMaskedTarget);
  part.gives_logits = call.IsGiven(kLogits);
  if (part.gives_logits) {
    part.copy = ElementsOf(call, kLogits);
    part.copy_column = ByteStride(PlainView(call.Tensor(kLogits)), 1);
    part.copy_size = static_cast<int32_t>(dense::SizeOf(call, kLogits));
    part.store = engine::FindStore(call.isa, call.Tensor(kLogits).dtype);
  }
  part.exponentials = engine::ExponentialsOf(call.isa);
  part.name = call.Name(kTarget);
  part.raises = CurrentConfiguration().index_errors_raise;
  part.threads = call.threads;
  const MappedView copy = part.gives_logits ? ViewOf(call, kLogits) : input;
  for (int64_t first = 0; first < rows; first += together) {
    part.first = first;
    part.rows = std::min(together, rows - first);
    const MappedView made = RowsOf(logits, 0, part.rows);
    if (part.has_terms) Multiply(stages, RowsOf(input, first, part.rows), weight, made);
    stages.Compute(part,
                   {made, ViewOf(call, kTarget), ViewOf(call, kMost), ViewOf(call, kSum),
                    ViewOf(call, kPredicted), ViewOf(call, kMask), ViewOf(call, kMaskedTarget), copy},
                   part.rows * classes);
  }
  stages.SetJob();
}

}  // namespace forwards

// ---- FusedLinearCrossEntropyLossGrad ----

namespace backwards {

enum Tensors { kGrad, kInput, kWeight, kMask, kMaskedTarget, kMost, kSum, kSoftmax, kInputGrad, kWeightGrad };
enum Attributes { kSmoothing };

constexpr DtypeSet kMasks{ACL_BOOL, ACL_UINT8};
constexpr int64_t kFewestClasses = 128;

bool HasSoftmax(const OperatorCall& call) noexcept { return call.IsGiven(kSoftmax); }
bool LacksSoftmax(const OperatorCall& call) noexcept { return !call.IsGiven(kSoftmax); }
bool HasBits(const OperatorCall& call) { return call.Tensor(kMask).dtype == ACL_UINT8; }

aclnnStatus Fits(const Check& check, OperatorCall& call) noexcept {
  if (call.attributes[kSmoothing].real != 0)
    return FailAclnn(check.code, StartMessage(call)
                                     .Add("parameter labelSmoothing has the value ")
                                     .Add(call.attributes[kSmoothing].real)
                                     .Add(", accepted: 0."));
  ShapeChecks checks(check, call);
  checks.Rank(kInput, 2, 2).Rank(kWeight, 2, 2).Rank(kMask, 1, 1);
  if (!checks.Passed()) return checks.status();
  const Shape& input = call.Tensor(kInput).shape;
  const Shape& weight = call.Tensor(kWeight).shape;
  const Shape& mask = call.Tensor(kMask).shape;
  const Shape rows{input[0]};
  checks.Is(kWeight, Shape{weight[0], input[1]}).Is(kGrad, rows).Is(kMaskedTarget, rows);
  checks.Holds(HasBits(call) ? mask[0] >= (input[0] + 7) / 8 : mask[0] == input[0], kMask,
               "a value for each row of input, or as UINT8 a bit");
  checks.Is(kInputGrad, input).Is(kWeightGrad, weight);
  if (HasSoftmax(call)) {
    checks.Holds(weight[0] >= kFewestClasses, kWeight, "with softmaxOptional at least 128 classes");
    return checks.Is(kSoftmax, Shape{input[0], weight[0]}).status();
  }
  return checks.Is(kMost, rows).Is(kSum, rows).status();
}
aclnnStatus IsOnAtlasA2(const Check& check, OperatorCall& call) noexcept {
  if (products::kAtlasA2AndA3.Contains(call.product)) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   Text(call.api, ": the operator is not on this product, accepted: Atlas A2 and Atlas A3."));
}

constexpr auto kChecks = Join(
    List(If(LacksSoftmax, NotNull(kMost)), If(LacksSoftmax, NotNull(kSum)), NotNull(kGrad), NotNull(kInput),
         NotNull(kWeight), NotNull(kMask), NotNull(kMaskedTarget), NotNull(kInputGrad), NotNull(kWeightGrad)),
    List(DtypesIn(kNumbers, {kGrad}), DtypesIn(kHalfAndBf16, {kInput}), SameDtype(kInput, kWeight),
         DtypesIn(kMasks, {kMask}), DtypesIn(kIndexTypes, {kMaskedTarget}),
         If(HasSoftmax, DtypesIn(kNumbers, {kSoftmax})), If(LacksSoftmax, DtypesIn(kNumbers, {kMost, kSum})),
         SameDtype(kInput, kInputGrad), SameDtype(kInput, kWeightGrad)),
    List(NotPrivate({kGrad, kInput, kWeight, kMask, kMaskedTarget}), Custom(Fits),
         SizesRepresentable({kInputGrad, kWeightGrad}), DoneIfEmpty({kInput, kWeight}),
         Custom(IsOnAtlasA2, ACLNN_ERR_RUNTIME_ERROR),
         InsideStorage({kGrad, kInput, kWeight, kMask, kMaskedTarget}),
         If(HasSoftmax, InsideStorage({kSoftmax})), If(LacksSoftmax, InsideStorage({kMost, kSum}))));

void Set(const OperatorCall& call, Executor& executor) {
  const MappedView input = ViewOf(call, kInput);
  const MappedView weight = ViewOf(call, kWeight);
  StageList stages(call, executor, 4);
  engine::ShareClassPart part{};
  part.rows = input.tensor.shape[0];
  part.classes = weight.tensor.shape[0];
  const MappedView softmax = stages.Scratch(Shape{part.rows, part.classes}, ACL_FLOAT);
  part.logits = BufferOf(stages, softmax);
  part.has_terms = true;
  part.has_shares = HasSoftmax(call);
  MappedView first = input;
  MappedView second = input;
  if (part.has_shares) {
    first = ViewOf(call, kSoftmax);
    part.share = ElementsOf(call, kSoftmax);
    part.share_column = ByteStride(first.tensor, 1);
  } else {
    Multiply(stages, input, Turned(weight), softmax);
    first = ViewOf(call, kMost);
    second = ViewOf(call, kSum);
    part.most = ElementsOf(call, kMost);
    part.sum = ElementsOf(call, kSum);
  }
  part.gradient = ElementsOf(call, kGrad);
  part.mask = ElementsOf(call, kMask);
  part.has_bits = HasBits(call);
  part.index = ElementsOf(call, kMaskedTarget);
  part.is_wide = call.Tensor(kMaskedTarget).dtype == ACL_INT64;
  part.exponentials = engine::ExponentialsOf(call.isa);
  part.name = call.Name(kMaskedTarget);
  part.raises = CurrentConfiguration().index_errors_raise;
  part.threads = call.threads;
  stages.Compute(
      part, {softmax, first, second, ViewOf(call, kGrad), ViewOf(call, kMask), ViewOf(call, kMaskedTarget)},
      part.rows * part.classes);
  Multiply(stages, softmax, weight, ViewOf(call, kInputGrad));
  Multiply(stages, Turned(softmax), input, ViewOf(call, kWeightGrad));
  stages.SetJob();
}

}  // namespace backwards

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnFusedLinearOnlineMaxSum) {
  return RunPhase1(call, forwards::kChecks, workspaceSize, executor, forwards::Set);
}

PORTACL_PHASE_1(aclnnFusedLinearCrossEntropyLossGrad) {
  return RunPhase1(call, backwards::kChecks, workspaceSize, executor, backwards::Set);
}
