// aclnnMoeGatingTopK and its other forms: select the experts of each token and their weights. Also their
// gradient.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/moe/gating_functions.h"

#include <limits>

#include "aclnnop/jobs/dense_op_list.h"

namespace portacl {
namespace {

using namespace dense;
using engine::GateRows;

constexpr DtypeRule kFloats = kNoneBeforeAtlasA2;
constexpr int64_t kMostExperts = 2048;

// ---- with groups ----

// The second form has two tensors between bias and the outputs.
enum Tensors { kX, kBias, kInputs, kTable };
enum Attributes { kK, kKGroup, kGroupCount, kSelectMode, kRenorm, kNormType, kOutFlag, kFactor, kEpsilon };
enum NormType : int64_t { kSoftmax, kSigmoid, kRootOfSoftplus };

int Y(const OperatorCall& call) noexcept { return static_cast<int>(call.tensors.size()) - 3; }
int Experts(const OperatorCall& call) noexcept { return Y(call) + 1; }
int All(const OperatorCall& call) noexcept { return Y(call) + 2; }
bool IsSecond(const OperatorCall& call) noexcept { return Y(call) > kInputs; }
bool HasTable(const OperatorCall& call) noexcept {
  return IsSecond(call) && call.IsGiven(kInputs) && call.IsGiven(kTable);
}

aclnnStatus Fits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const int y = Y(call);
  const int chosen = Experts(call);
  const int all = All(call);
  checks.Rank(kX, 2, 2);
  if (!checks.Passed()) return checks.status();
  const int64_t n = call.Tensor(kX).shape[0];
  const int64_t experts = call.Tensor(kX).shape[1];
  const int64_t k = Integer(call, kK);
  const bool gives_all = Integer(call, kOutFlag) != 0;
  checks.IsIfGiven(kBias, Shape{experts});
  checks.Integer(kK, std::numeric_limits<int64_t>::min(), experts);
  checks.Rank(y, 2, 2).Rank(chosen, 2, 2).Rank(all, 2, 2);
  checks.Is(y, Shape{n, k}).Is(chosen, Shape{n, k});
  if (gives_all) checks.Is(all, Shape{n, experts});
  checks.Holds(experts <= kMostExperts, kX, "at most 2048 experts");
  checks.Integer(kK, 1, IsSecond(call) ? std::min<int64_t>(experts, 64) : experts);
  checks.Integer(kKGroup, 1, kMostExperts).Integer(kGroupCount, 1, kMostExperts);
  if (!checks.Passed()) return checks.status();
  const int64_t kept = Integer(call, kKGroup);
  const int64_t groups = Integer(call, kGroupCount);
  const bool is_950 = call.product == Product::kAscend950;
  checks.Integer(kKGroup, 1, groups);
  checks.Integer(kNormType, kSoftmax, IsSecond(call) && is_950 ? kRootOfSoftplus : kSigmoid)
      .Integer(kSelectMode, 0, 1);
  checks.Integer(kRenorm, 0, Integer(call, kNormType) == kSoftmax && !is_950 ? 1 : 0);
  if (!checks.Passed()) return checks.status();
  checks.Holds(experts % groups == 0, kX, "a multiple of groupCount experts");
  const int64_t size = experts / groups;
  if (Integer(call, kSelectMode) == 1) checks.Holds(size >= 2, kX, "groups of at least two experts");
  checks.Integer(kK, 1, kept * size);
  const bool is_grouped = groups > 1 && groups < experts && kept < groups;
  if (is_grouped)
    checks.Holds(groups * ((size + 31) / 32 * 32) <= kMostExperts, kX,
                 "groups whose sizes, rounded up to 32, are at most 2048 together");
  if (IsSecond(call))
    checks.Holds(kept == groups || groups == experts, kX, "kGroup of groupCount, or groups of one");
  if (HasTable(call)) {
    checks.Is(kInputs, Shape{n}).Rank(kTable, 2, 2);
    if (!checks.Passed()) return checks.status();
    checks.Is(kTable, Shape{call.Tensor(kTable).shape[0], k});
  }
  return checks.status();
}

// Dtypes of empty tensors are not checked.
template <int tensor>
bool HasElements(const OperatorCall& call) noexcept {
  return call.IsGiven(tensor) && !call.Tensor(tensor).shape.IsEmpty();
}

constexpr Check kChecks[] = {
    NotNull(kX),
    NotNull(2),
    NotNull(3),
    NotNull(4),
    DtypesIn(kFloats, {kX}),
    IfGiven<kBias>(SameDtype(kX, kBias)),
    SameDtype(kX, 2),
    DtypesIn(kInt32, {3}),
    DtypesIn(kFloat, {4}),
    Custom(Fits, kTiling),
    SizesRepresentable({2, 3, 4}),
    DoneIfEmpty({kX}),
    InsideStorage({kX}),
    IfGiven<kBias>(InsideStorage({kBias})),
};
constexpr Check kSecondChecks[] = {
    NotNull(kX),
    NotNull(4),
    NotNull(5),
    NotNull(6),
    If(HasElements<kX>, DtypesIn(kFloats, {kX})),
    If(HasElements<kBias>, SameDtype(kX, kBias)),
    If(HasElements<4>, SameDtype(kX, 4)),
    If(HasElements<kInputs>, DtypesIn(kInt32Or64, {kInputs})),
    If(HasElements<kTable>, DtypesIn(kInt32Or64, {kTable})),
    If(HasElements<5>, DtypesIn(kInt32, {5})),
    If(HasElements<6>, DtypesIn(kFloatHalfAndBf16, {6})),
    Custom(Fits, kTiling),
    SizesRepresentable({4, 5, 6}),
    DoneIfEmpty({kX}),
    InsideStorage({kX}),
    IfGiven<kBias>(InsideStorage({kBias})),
    IfGiven<kInputs>(InsideStorage({kInputs})),
    IfGiven<kTable>(InsideStorage({kTable})),
};

GateRows GateOf(DenseOpList& ops, const OperatorCall& call, int64_t k, int y, int chosen) {
  const aclTensor& x = call.Tensor(kX);
  GateRows gate{};
  gate.experts = x.shape[x.shape.rank - 1];
  gate.rows = x.numel / gate.experts;
  gate.k = k;
  gate.x = ops.Rows(kX);
  gate.y = ops.RowsOut(y);
  gate.chosen = ops.Out(chosen, ACL_INT32);
  gate.value = ops.Floats(x.numel);
  gate.score = ops.Floats(x.numel + gate.rows * k);
  gate.groups = gate.kept_groups = 1;
  gate.factor = 1.0f;
  gate.raises = ops.Raises();
  gate.threads = call.threads;
  engine::SetActivation(gate, call.isa);
  return gate;
}
void AddGate(DenseOpList& ops, const GateRows& gate) {
  ops.Compute(gate,
              {gate.x.buffer, gate.bias.buffer, gate.y.buffer, gate.all.buffer, gate.chosen,
               gate.given.buffer, gate.is_finished.buffer},
              gate.rows * gate.experts);
  ops.SetJob();
}

void SetGate(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  GateRows gate = GateOf(ops, call, Integer(call, kK), Y(call), Experts(call));
  if (Integer(call, kOutFlag) != 0) gate.all = {ops.Out(All(call), ACL_FLOAT), true};
  const int64_t type = Integer(call, kNormType);
  gate.function = type == kSoftmax   ? GateRows::Function::kSoftmax
                  : type == kSigmoid ? GateRows::Function::kSigmoid
                                     : GateRows::Function::kRootOfSoftplus;
  gate.normalises = type != kSoftmax || Integer(call, kRenorm) == 1;
  gate.factor = static_cast<float>(call.attributes[kFactor].wide);
  gate.epsilon = static_cast<float>(call.attributes[kEpsilon].wide);
  if (HasTable(call)) {
    engine::TakeRows take{};
    take.source = ops.In(kTable, ACL_INT64);
    take.to = ops.Words(gate.rows * gate.k);
    take.entry = ops.InIfGiven(kInputs, ACL_INT64);
    take.rows = gate.rows;
    take.bytes = gate.k * int64_t{sizeof(int64_t)};
    take.source_rows = call.Tensor(kTable).shape[0];
    take.refuses_none = true;
    take.name = call.Name(kInputs);
    take.raises = ops.Raises();
    take.threads = call.threads;
    ops.Compute(take, {take.source, take.entry.buffer}, gate.rows * gate.k);
    gate.given = {take.to, true};
    gate.name = call.Name(kTable);
    return AddGate(ops, gate);
  }
  gate.bias = ops.RowsIfGiven(kBias);
  const int64_t groups = Integer(call, kGroupCount);
  if (groups > 1 && groups < gate.experts) {
    gate.groups = groups;
    gate.kept_groups = Integer(call, kKGroup);
    gate.sums_two = Integer(call, kSelectMode) == 1;
  }
  AddGate(ops, gate);
}

// ---- softmax ----

// `finished` follows x. The third output of the first form is the row numbers, that of the second the
// softmax.
enum SoftmaxTensors { kFinished = 1, kSoftY, kSoftExperts, kSoftThird };
enum SoftmaxAttributes { kSoftK, kSoftRenorm, kSoftFlag };
constexpr int64_t kMostSelected = 1024;

bool HasFlags(const OperatorCall& call) noexcept { return call.attributes.size() > kSoftFlag; }
bool GivesSoftmax(const OperatorCall& call) noexcept {
  return HasFlags(call) && Integer(call, kSoftFlag) != 0 && Integer(call, kSoftRenorm) == 0;
}

aclnnStatus SoftmaxFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX, 2, 3);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  const int last = x.rank - 1;
  checks.Holds(HasFlags(call) ? x[last] != 0 : !x.IsEmpty(), kX, "at least one expert");
  Shape rows = x;
  rows.rank = last;
  checks.IsIfGiven(kFinished, rows);
  checks.Integer(kSoftK, 1, std::min(x[last], kMostSelected));
  Shape chosen = x;
  chosen.dim[last] = Integer(call, kSoftK);
  checks.Is(kSoftY, chosen).Is(kSoftExperts, chosen);
  if (!HasFlags(call)) return checks.Is(kSoftThird, chosen).status();
  checks.Integer(kSoftRenorm, 0, 1);
  if (!GivesSoftmax(call)) return checks.status();
  return checks.Given(kSoftThird, "with outputSoftmaxResultFlag").IsIfGiven(kSoftThird, x).status();
}

aclnnStatus SoftmaxDtype(const Check&, OperatorCall& call) noexcept {
  const Check check = DtypesIn(kFloat, {kSoftThird});
  return GivesSoftmax(call) && call.IsGiven(kSoftThird) ? check.run(check, call) : ACL_SUCCESS;
}

// Only FLOAT16 on Atlas inference products.
constexpr DtypeRule kSoftmaxTypes = kOnAtlasA2AndA3.On({Product::kAtlasInference}, DtypeSet(ACL_FLOAT16));

constexpr Check kSoftmaxChecks[] = {
    NotNull(kX),
    NotNull(kSoftY),
    NotNull(kSoftExperts),
    NotNull(kSoftThird),
    DtypesIn(kSoftmaxTypes, {kX}),
    IfGiven<kFinished>(DtypesIn(kBool, {kFinished})),
    SameDtype(kX, kSoftY),
    DtypesIn(kInt32, {kSoftExperts, kSoftThird}),
    Custom(SoftmaxFits, kTiling),
    SizesRepresentable({kSoftY, kSoftExperts, kSoftThird}),
    InsideStorage({kX}),
    IfGiven<kFinished>(InsideStorage({kFinished})),
};
constexpr Check kSoftmaxV2Checks[] = {
    NotNull(kX),
    NotNull(kSoftY),
    NotNull(kSoftExperts),
    DtypesIn(kFloats, {kX}),
    IfGiven<kFinished>(DtypesIn(kBool, {kFinished})),
    SameDtype(kX, kSoftY),
    DtypesIn(kInt32, {kSoftExperts}),
    Custom(SoftmaxDtype),
    Custom(SoftmaxFits, kTiling),
    SizesRepresentable({kSoftY, kSoftExperts}),
    If(GivesSoftmax, SizesRepresentable({kSoftThird})),
    DoneIfEmpty({kX}),
    InsideStorage({kX}),
    IfGiven<kFinished>(InsideStorage({kFinished})),
};

void SetSoftmax(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  GateRows gate = GateOf(ops, call, Integer(call, kSoftK), kSoftY, kSoftExperts);
  gate.is_finished = ops.InIfGiven(kFinished);
  const bool comes_after = HasFlags(call) && Integer(call, kSoftRenorm) == 1;
  gate.function = comes_after ? GateRows::Function::kNone : GateRows::Function::kSoftmax;
  gate.softmax_after = comes_after;
  gate.ranks_half = !comes_after && call.Tensor(kX).dtype == ACL_FLOAT16;
  if (GivesSoftmax(call)) gate.all = {ops.Out(kSoftThird, ACL_FLOAT), true};
  if (!HasFlags(call)) {
    engine::NumberColumns numbers{};
    numbers.to = ops.Out(kSoftThird);
    numbers.rows = gate.rows;
    numbers.columns = gate.k;
    ops.Compute(numbers, {numbers.to}, gate.rows * gate.k);
  }
  AddGate(ops, gate);
}

// ---- gradient ----

enum BackwardTensors { kXNorm, kGradY, kChosen, kXGrad };
enum BackwardAttributes { kBackRenorm, kBackNormType, kBackFactor, kBackEpsilon };

aclnnStatus BackwardFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kXNorm, 2, 2).Rank(kGradY, 2, 2);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kXNorm).shape;
  const Shape& grad = call.Tensor(kGradY).shape;
  checks.Holds(x[1] >= 2 && x[1] <= kMostExperts, kXNorm, "2 to 2048 experts");
  checks.Holds(grad[1] >= 1 && grad[1] <= x[1] && grad[0] == x[0], kGradY,
               "xNorm's rows, of 1 to as many elements as it has experts");
  checks.Is(kChosen, grad).Integer(kBackRenorm, 0, 1).Integer(kBackNormType, 1, 1);
  return checks.Is(kXGrad, x).status();
}

constexpr Check kBackwardChecks[] = {
    NotNull(kXNorm),
    NotNull(kGradY),
    NotNull(kChosen),
    NotNull(kXGrad),
    DtypesIn(kFloat, {kXNorm}),
    DtypesIn(kOnAtlasA2AndA3, {kGradY}),
    DtypesIn(kInt32, {kChosen}),
    SameDtype(kGradY, kXGrad),
    Custom(BackwardFits, kTiling),
    SizesRepresentable({kXGrad}),
    DoneIfEmpty({kXGrad}),
    InsideStorage({kXNorm, kGradY, kChosen}),
};

void SetBackward(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& x = call.Tensor(kXNorm).shape;
  engine::GateGradient gradient{};
  gradient.x = ops.In(kXNorm);
  gradient.gradient = ops.In(kGradY, ACL_FLOAT);
  gradient.chosen = ops.In(kChosen, ACL_INT64);
  gradient.to = ops.RowsOut(kXGrad);
  gradient.sums = ops.Floats(x[0] * x[1]);
  gradient.rows = x[0];
  gradient.experts = x[1];
  gradient.k = call.Tensor(kGradY).shape[1];
  gradient.factor = static_cast<float>(call.attributes[kBackFactor].wide);
  gradient.epsilon = static_cast<float>(call.attributes[kBackEpsilon].wide);
  gradient.name = call.Name(kChosen);
  gradient.raises = ops.Raises();
  gradient.threads = call.threads;
  ops.Compute(gradient, {gradient.x, gradient.gradient, gradient.chosen, gradient.to.buffer}, x[0] * x[1]);
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnMoeGatingTopK) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetGate);
}
PORTACL_PHASE_1(aclnnMoeGatingTopKV2) {
  return dense::RunOpList(call, kSecondChecks, workspaceSize, executor, SetGate);
}
PORTACL_PHASE_1(aclnnMoeGatingTopKSoftmax) {
  return dense::RunOpList(call, kSoftmaxChecks, workspaceSize, executor, SetSoftmax);
}
PORTACL_PHASE_1(aclnnMoeGatingTopKSoftmaxV2) {
  return dense::RunOpList(call, kSoftmaxV2Checks, workspaceSize, executor, SetSoftmax);
}
PORTACL_PHASE_1(aclnnMoeGatingTopKBackward) {
  return dense::RunOpList(call, kBackwardChecks, workspaceSize, executor, SetBackward);
}
