// aclnnAddRmsNormQuant and its second form, aclnnAddRmsNormDynamicQuant and its second form: divide the rows of a sum
// by their root mean square, and quantise.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/quantisation/norm_quant_functions.h"

#include "aclnnop/quantisation/norm_rows.h"

namespace portacl {
namespace {

using namespace quantisation;
using engine::QuantiseNormed;

constexpr DtypeSet kAnyScale{ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
constexpr DtypeSet kAnyZero{ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT32};
constexpr DtypeSet kByteCodes = kInt8 | kFloat8s;
constexpr DtypeRule kSinceA2Alone = kNoneBeforeAtlasA2;

// Checks that gamma's dims are the last dims of x.
ShapeChecks& IsTail(ShapeChecks& checks, const OperatorCall& call, int x, int gamma) {
  const Shape& whole = call.Tensor(x).shape;
  const Shape& tail = call.Tensor(gamma).shape;
  bool fits = tail.rank >= 1 && tail.rank <= whole.rank;
  for (int dim = 0; fits && dim < tail.rank; ++dim) fits = tail[dim] == whole[whole.rank - tail.rank + dim];
  return checks.Holds(fits, gamma, "the last dims of x");
}

// ---- aclnnAddRmsNormQuant: given scales and zero points ----

// The second form adds beta behind the zero points, and `normed` behind the outputs.
struct Static {
  int beta, y1, y2, x, normed;
};
enum StaticTensors { kX1, kX2, kGamma, kScales1, kScales2, kZeros1, kZeros2, kBeta };
constexpr Static kFirst{-1, 7, 8, 9, -1};
constexpr Static kSecond{kBeta, 8, 9, 10, 11};
enum StaticAttributes { kAxis, kEpsilon, kDivides };

bool IsThere(const OperatorCall& call, int tensor) { return tensor >= 0 && call.IsGiven(tensor); }

aclnnStatus StaticRanks(const Check& check, const OperatorCall& call, const Static& at) {
  ShapeChecks checks(check, call);
  for (const int tensor : {int{kX1}, int{kX2}, int{kGamma}, int{kScales1}, int{kScales2}, int{kZeros1},
                           int{kZeros2}, at.beta, at.y1, at.y2, at.x, at.normed}) {
    if (IsThere(call, tensor)) checks.Rank(tensor, 1, 8);
  }
  return checks.status();
}

aclnnStatus StaticShapes(const Check& check, const OperatorCall& call, const Static& at) {
  ShapeChecks checks(check, call);
  const Shape& x = call.Tensor(kX1).shape;
  checks.Is(kX2, x).Is(at.y1, x).Is(at.y2, x);
  if (IsThere(call, at.x)) checks.Is(at.x, x);
  if (IsThere(call, at.normed)) checks.Is(at.normed, x);
  IsTail(checks, call, kX1, kGamma);
  const Shape& gamma = call.Tensor(kGamma).shape;
  if (IsThere(call, at.beta)) checks.Is(at.beta, gamma);
  for (const int tensor : {kScales1, kScales2, kZeros1, kZeros2}) {
    if (!call.IsGiven(tensor)) continue;
    const Shape& shape = call.Tensor(tensor).shape;
    checks.Holds(shape == gamma || shape == Shape{1}, tensor, "gamma's shape, or one element");
  }
  if (call.IsGiven(kZeros2) && !call.IsGiven(kScales2))
    checks.Holds(false, kZeros2, "with scales2Optional that");
  return checks.status();
}

// Checks combinations of dtypes that a product's kernels support.
aclnnStatus StaticTypes(const Check& check, const OperatorCall& call, const Static& at) {
  ShapeChecks checks(check, call);
  const aclDataType x = call.Tensor(kX1).dtype;
  checks.Holds(call.Tensor(kX2).dtype == x, kX2, "x1's dtype")
      .Holds(call.Tensor(kGamma).dtype == x, kGamma, "x1's dtype");
  if (IsThere(call, at.x)) checks.Holds(call.Tensor(at.x).dtype == x, at.x, "x1's dtype");
  if (IsThere(call, at.normed)) checks.Holds(call.Tensor(at.normed).dtype == x, at.normed, "x1's dtype");
  if (IsThere(call, at.beta)) checks.Holds(call.Tensor(at.beta).dtype == x, at.beta, "x1's dtype");
  if (IsOn950(call)) return checks.status();
  checks.Holds(x != ACL_FLOAT, kX1, "FLOAT16 or BF16");
  checks.Holds(call.Tensor(at.y1).dtype == ACL_INT8, at.y1, "INT8");
  return checks.status();
}

template <const Static& kAt>
aclnnStatus RanksFit(const Check& check, OperatorCall& call) noexcept {
  return StaticRanks(check, call, kAt);
}
template <const Static& kAt>
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  return StaticShapes(check, call, kAt);
}
template <const Static& kAt>
aclnnStatus TypesFit(const Check& check, OperatorCall& call) noexcept {
  return StaticTypes(check, call, kAt);
}
aclnnStatus EpsilonFits(const Check& check, OperatorCall& call) noexcept {
  const double eps = RealOf(call, kEpsilon);
  return ShapeChecks(check, call).HoldsOf(eps >= 0, kEpsilon, "0 or more").status();
}

template <const Static& kAt>
constexpr auto StaticDtypes() {
  return List(DtypesIn(kSinceA2Alone, {kX1, kX2, kGamma}), DtypesIn(kAnyScale, {kScales1}),
              IfGiven<kScales2>(DtypesIn(kAnyScale, {kScales2})),
              IfGiven<kZeros1>(DtypesIn(kAt.beta >= 0 ? kAnyZero | kInt8 : kAnyZero, {kZeros1})),
              IfGiven<kZeros2>(DtypesIn(kAnyZero, {kZeros2})), DtypesIn(kByteCodes, {kAt.y1}),
              SameDtype(kAt.y1, kAt.y2));
}
template <const Static& kAt>
constexpr auto StaticEnd() {
  constexpr bool kIsSecond = kAt.beta >= 0;
  return List(Custom(TypesFit<kAt>, kIsSecond ? ACLNN_ERR_PARAM_INVALID : ACLNN_ERR_INNER_NULLPTR),
              Custom(ShapesFit<kAt>, kIsSecond ? ACLNN_ERR_PARAM_INVALID : kTiling),
              Custom(EpsilonFits, kTiling), SizesRepresentable({kAt.y1, kAt.y2}),
              InsideStorage({kX1, kX2, kGamma, kScales1}), IfGiven<kScales2>(InsideStorage({kScales2})),
              IfGiven<kZeros1>(InsideStorage({kZeros1})), IfGiven<kZeros2>(InsideStorage({kZeros2})));
}

constexpr auto kFirstChecks = Join(List(NotNull(kX1), NotNull(kX2), NotNull(kGamma), NotNull(kScales1),
                                        NotNull(kFirst.y1), NotNull(kFirst.y2), NotNull(kFirst.x)),
                                   StaticDtypes<kFirst>(),
                                   List(DtypesIn(kFloatHalfAndBf16, {kFirst.x}), Custom(RanksFit<kFirst>),
                                        DoneIfEmpty({kX1}), DoneIfEmpty({kGamma}), DoneIfEmpty({kFirst.y2})),
                                   StaticEnd<kFirst>());

bool HasNormed(const OperatorCall& call) noexcept { return call.IsGiven(kSecond.normed); }
// Tells whether the call needs only one of the outputs xOut and `normed`: with one scale, one zero point, and
// no second quantisation.
bool IsSingle(const OperatorCall& call) noexcept {
  if (IsOn950(call)) return true;
  if (Integer(call, kDivides) == 0 || call.IsGiven(kScales2) || call.IsGiven(kZeros2) ||
      !call.IsGiven(kZeros1))
    return false;
  if (call.Tensor(kScales1).numel != 1 || call.Tensor(kZeros1).numel != 1) return false;
  const Shape& gamma = call.Tensor(kGamma).shape;
  if (gamma.rank != 1 && !(gamma.rank == 2 && gamma[0] == 1)) return false;
  const bool has_sum = call.IsGiven(kSecond.x);
  return HasNormed(call) ? !has_sum && !call.IsGiven(kBeta) : has_sum && call.IsGiven(kBeta);
}
bool IsPlural(const OperatorCall& call) noexcept { return !IsSingle(call); }

aclnnStatus NoNormed(const Check& check, OperatorCall& call) noexcept {
  if (!HasNormed(call)) return ACL_SUCCESS;
  Text message = StartMessage(call).Add("parameter ").Add(call.Name(kSecond.normed));
  return FailAclnn(
      check.code,
      message.Add(
          " is given, accepted: a null pointer with other than one scale and zero point, or beta, or xOut."));
}

constexpr auto kSecondChecks =
    Join(List(NotNull(kX1), NotNull(kX2), NotNull(kGamma), NotNull(kScales1), NotNull(kSecond.y1),
              NotNull(kSecond.y2), DoneIfEmpty({kX1}), DoneIfEmpty({kGamma}), DoneIfEmpty({kSecond.y2}),
              If(IsPlural, NotNull(kSecond.x)), If(IsPlural, Custom(NoNormed, ACLNN_ERR_PARAM_NULLPTR)),
              Custom(RanksFit<kSecond>)),
         StaticDtypes<kSecond>(), StaticEnd<kSecond>(), List(IfGiven<kBeta>(InsideStorage({kBeta}))));

void SetStaticOf(const OperatorCall& call, const Static& at, Executor& executor) {
  DenseOpList ops(call, executor);
  QuantiseNormed job;
  SetRowsOf(ops, call, kX1, kGamma, kEpsilon, job);
  job.x2 = NumbersIn(ops, call, kX2);
  if (IsThere(call, at.beta)) job.beta = NumbersIn(ops, call, at.beta);
  if (IsThere(call, at.x)) job.sum = NumbersOut(ops, call, at.x);
  if (IsThere(call, at.normed)) job.normed = NumbersOut(ops, call, at.normed);
  // FLOAT16 rounds intermediate results if there are many scales.
  const bool is_half = call.Tensor(kX1).dtype == ACL_FLOAT16;
  job.rounds_steps = IsBefore950(call) && is_half && call.Tensor(kScales1).numel != 1;
  job.rounds_sum = IsBefore950(call) && (job.rounds_steps || (!is_half && IsThere(call, at.beta)));
  const int scales[] = {kScales1, kScales2};
  const int zeros[] = {kZeros1, kZeros2};
  const int codes[] = {at.y1, at.y2};
  for (int i = 0; i < 2; ++i) {
    if (!call.IsGiven(scales[i])) continue;
    Quantiser& quantiser = job.quantiser[i];
    quantiser.kind = Integer(call, kDivides) != 0 ? Quantiser::Kind::kDivide : Quantiser::Kind::kMultiply;
    SetCodes(ops, call, codes[i], quantiser);
    quantiser.scale = OneOrColumns(NumbersIn(ops, call, scales[i]), call, scales[i], job.columns);
    quantiser.offset = OneOrColumns(NumbersIn(ops, call, zeros[i]), call, zeros[i], job.columns);
  }
  AddNormed(ops, job);
}
void SetFirst(const OperatorCall& call, Executor& executor) { SetStaticOf(call, kFirst, executor); }
void SetSecond(const OperatorCall& call, Executor& executor) { SetStaticOf(call, kSecond, executor); }

// ---- aclnnAddRmsNormDynamicQuant: scales computed from the rows ----

// The second form adds beta, and attributes that request outputs.
enum DynamicTensors { kSmooth1 = kGamma + 1, kSmooth2, kShift };
struct Dynamic {
  int y1, y2, x, step1, step2;
  bool has_beta;
};
constexpr Dynamic kDynamicFirst{5, 6, 7, 8, 9, false};
constexpr Dynamic kDynamicSecond{6, 7, 8, 9, 10, true};
enum DynamicAttributes { kDynamicEpsilon, kMask };

constexpr DtypeRule kHalfAndBf16SinceA2 = SinceAtlasA2(kHalfAndBf16);
constexpr DtypeRule kDynamicCodes = ByGeneration({}, kIntegerCodes, kIntegerCodes | kFloat8s);

bool HasMask(const OperatorCall& call) noexcept {
  return call.attributes.size() > kMask && call.attributes[kMask].real >= 0;
}
bool HasFirst(const OperatorCall& call) noexcept { return !HasMask(call) || (Integer(call, kMask) & 1) != 0; }
bool HasLast(const OperatorCall& call) noexcept {
  if (HasMask(call)) return (Integer(call, kMask) & 2) != 0;
  return call.IsGiven(kSmooth1) && call.IsGiven(kSmooth2);
}

aclnnStatus MaskFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  if (!HasMask(call))
    return checks
        .Holds(!call.IsGiven(kSmooth2) || call.IsGiven(kSmooth1), kSmooth2, "with smoothScale1Optional that")
        .status();
  const bool fits = call.attributes[kMask].real == 2 && Integer(call, kMask) != 0;
  checks.HoldsOf(fits, kMask, "two values, one of them true");
  checks.Holds(!call.IsGiven(kSmooth1) || HasFirst(call), kSmooth1, "null where outputMask is false");
  return checks.Holds(!call.IsGiven(kSmooth2) || HasLast(call), kSmooth2, "null where outputMask is false")
      .status();
}

aclnnStatus DynamicCodesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  constexpr const Dynamic& kAt = kDynamicSecond;
  if (HasFirst(call) && HasLast(call))
    checks.Holds(call.Tensor(kAt.y2).dtype == call.Tensor(kAt.y1).dtype, kAt.y2, "the dtype of y1Out");
  const Shape& x = call.Tensor(kX1).shape;
  for (const int codes : {kAt.y1, kAt.y2}) {
    const bool is_wanted = codes == kAt.y1 ? HasFirst(call) : HasLast(call);
    if (is_wanted && call.Tensor(codes).dtype == ACL_INT32) HasCodesOf(checks, call, x, codes);
  }
  return checks.status();
}

aclnnStatus DynamicShapesOf(const Check& check, const OperatorCall& call, const Dynamic& at) {
  ShapeChecks checks(check, call);
  checks.Rank(kX1, 2, 8).Rank(kGamma, 1, 1);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX1).shape;
  Shape ops = x;
  ops.rank = x.rank - 1;
  checks.Is(kX2, x).Is(kGamma, Shape{x[x.rank - 1]}).Is(at.x, x);
  const Shape& gamma = call.Tensor(kGamma).shape;
  checks.IsIfGiven(kSmooth1, gamma).IsIfGiven(kSmooth2, gamma);
  if (at.has_beta) checks.IsIfGiven(kShift, gamma);
  if (HasFirst(call)) HasCodesOf(checks, call, x, at.y1).Is(at.step1, ops);
  if (HasLast(call)) HasCodesOf(checks, call, x, at.y2).Is(at.step2, ops);
  return checks.status();
}
aclnnStatus DynamicTypesOf(const Check& check, const OperatorCall& call, const Dynamic& at) {
  ShapeChecks checks(check, call);
  const aclDataType x = call.Tensor(kX1).dtype;
  const auto is_x = [&](int tensor) { checks.Holds(call.Tensor(tensor).dtype == x, tensor, "x1's dtype"); };
  checks.Holds(kHalfAndBf16SinceA2.For(call.product).Contains(x), kX1, "FLOAT16 or BF16 since Atlas A2");
  for (const int tensor : {int{kX2}, int{kGamma}, at.x}) is_x(tensor);
  for (const int tensor : {kSmooth1, kSmooth2}) {
    if (call.IsGiven(tensor)) is_x(tensor);
  }
  if (at.has_beta && call.IsGiven(kShift)) is_x(kShift);
  const auto is_coded = [&](int codes, int step) {
    checks.Holds(kDynamicCodes.For(call.product).Contains(call.Tensor(codes).dtype), codes,
                 "INT8, INT4, INT32 or, on Ascend 950, an 8-bit float");
    checks.Holds(call.Tensor(step).dtype == ACL_FLOAT, step, "FLOAT");
  };
  if (HasFirst(call)) is_coded(at.y1, at.step1);
  if (HasLast(call)) is_coded(at.y2, at.step2);
  return checks.status();
}
template <const Dynamic& kAt>
aclnnStatus DynamicShapes(const Check& check, OperatorCall& call) noexcept {
  return DynamicShapesOf(check, call, kAt);
}
template <const Dynamic& kAt>
aclnnStatus DynamicTypes(const Check& check, OperatorCall& call) noexcept {
  return DynamicTypesOf(check, call, kAt);
}
aclnnStatus DynamicEpsilonFits(const Check& check, OperatorCall& call) noexcept {
  return ShapeChecks(check, call)
      .HoldsOf(RealOf(call, kDynamicEpsilon) >= 0, kDynamicEpsilon, "0 or more")
      .status();
}

template <const Dynamic& kAt>
constexpr auto kDynamicEnd = List(Custom(DynamicShapes<kAt>, kTiling), Custom(DynamicEpsilonFits, kTiling),
                                  SizesRepresentable({kAt.x}),
                                  If(HasFirst, SizesRepresentable({kAt.y1, kAt.step1})),
                                  If(HasLast, SizesRepresentable({kAt.y2, kAt.step2})),
                                  InsideStorage({kX1, kX2, kGamma}),
                                  IfGiven<kSmooth1>(InsideStorage({kSmooth1})),
                                  IfGiven<kSmooth2>(InsideStorage({kSmooth2})),
                                  If(HasFirst, Packed<kAt.y1>()), If(HasLast, Packed<kAt.y2>()));

constexpr auto kDynamicFirstChecks = Join(
    List(NotNull(kX1), NotNull(kX2), NotNull(kGamma), NotNull(kDynamicFirst.y1), NotNull(kDynamicFirst.y2),
         NotNull(kDynamicFirst.x), NotNull(kDynamicFirst.step1), NotNull(kDynamicFirst.step2),
         Custom(DynamicTypes<kDynamicFirst>), DoneIfEmpty({kX1}), DoneIfEmpty({kGamma})),
    kDynamicEnd<kDynamicFirst>);

constexpr auto kDynamicSecondChecks =
    Join(List(Custom(MaskFits), NotNull(kX1), NotNull(kX2), NotNull(kGamma), NotNull(kDynamicSecond.x),
              If(HasFirst, NotNull(kDynamicSecond.y1)), If(HasFirst, NotNull(kDynamicSecond.step1)),
              NotNull(kDynamicSecond.y2), If(HasLast, NotNull(kDynamicSecond.step2)), DoneIfEmpty({kX1}),
              DoneIfEmpty({kX2}), DoneIfEmpty({kGamma}), DoneIfEmpty({kDynamicSecond.y2}),
              Custom(DynamicCodesFit), Custom(DynamicTypes<kDynamicSecond>, ACLNN_ERR_INNER_NULLPTR)),
         kDynamicEnd<kDynamicSecond>, List(IfGiven<kShift>(InsideStorage({kShift}))));

void SetDynamicOf(const OperatorCall& call, const Dynamic& at, Executor& executor) {
  DenseOpList ops(call, executor);
  QuantiseNormed job;
  SetRowsOf(ops, call, kX1, kGamma, kDynamicEpsilon, job);
  job.x2 = NumbersIn(ops, call, kX2);
  if (at.has_beta) job.beta = NumbersIn(ops, call, kShift);
  job.sum = NumbersOut(ops, call, at.x);
  const auto set = [&](Quantiser& quantiser, int smooth, int codes, int step) {
    quantiser.kind = Quantiser::Kind::kGreatest;
    SetCodes(ops, call, codes, quantiser);
    quantiser.most = engine::GreatestNumber(quantiser.dtype);
    quantiser.scale.numbers = NumbersIn(ops, call, smooth);
    quantiser.scale.by_column = true;
    quantiser.row_step = NumbersOut(ops, call, step);
  };
  if (HasFirst(call)) set(job.quantiser[0], kSmooth1, at.y1, at.step1);
  if (HasLast(call)) set(job.quantiser[1], kSmooth2, at.y2, at.step2);
  AddNormed(ops, job);
}
void SetDynamicFirst(const OperatorCall& call, Executor& executor) {
  SetDynamicOf(call, kDynamicFirst, executor);
}
void SetDynamicSecond(const OperatorCall& call, Executor& executor) {
  SetDynamicOf(call, kDynamicSecond, executor);
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnAddRmsNormQuant) {
  return dense::RunOpList(call, kFirstChecks, workspaceSize, executor, SetFirst);
}
PORTACL_PHASE_1(aclnnAddRmsNormQuantV2) {
  return dense::RunOpList(call, kSecondChecks, workspaceSize, executor, SetSecond);
}
PORTACL_PHASE_1(aclnnAddRmsNormDynamicQuant) {
  return dense::RunOpList(call, kDynamicFirstChecks, workspaceSize, executor, SetDynamicFirst);
}
PORTACL_PHASE_1(aclnnAddRmsNormDynamicQuantV2) {
  return dense::RunOpList(call, kDynamicSecondChecks, workspaceSize, executor, SetDynamicSecond);
}
