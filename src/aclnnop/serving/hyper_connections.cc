// aclnnMhcPre and V2, aclnnMhcPost, aclnnMhcSinkhorn: hyper-connections of residual streams.
// SPDX-License-Identifier: Apache-2.0
#include "engine/serve/residual_streams.h"

#include <initializer_list>

#include "aclnnop/jobs/normalized.h"
#include "aclnnop/serving/hyper_connections_functions.h"
#include "aclnnop/serving/paged_rows.h"

namespace portacl {
namespace {

using namespace dense;

constexpr int64_t kMostStreams = engine::BalanceMatrices::kMostSide;
constexpr DtypeRule kOn950 = ByGeneration({}, {}, serving::kHalfAndBf16);
constexpr DtypeRule kFloatOn950 = ByGeneration({}, {}, kFloat);

// Returns the dims in front of the last `count` ones, with others behind them.
Shape Leading(const Shape& shape, int count, std::initializer_list<int64_t> last) {
  Shape made = shape;
  made.rank -= count;
  for (const int64_t dim : last) made.dim[made.rank++] = dim;
  return made;
}
bool HasElements(const OperatorCall& call, int tensor) noexcept {
  return call.IsGiven(tensor) && call.Tensor(tensor).numel > 0;
}

// ---- MhcPre ----

enum Tensors { kX, kPhi, kAlpha, kBias, kGamma, kIn, kPost, kResidual, kRoot, kMix, kPre };
enum Attributes { kNormEpsilon, kEpsilon, kPrecise };

bool HasResidual(const OperatorCall& call) noexcept {
  return call.IsGiven(kAlpha) && call.Tensor(kAlpha).numel == 3;
}
template <int tensor>
bool IsThere(const OperatorCall& call) noexcept {
  return HasElements(call, tensor);
}

template <bool has_precision>
aclnnStatus PreFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX, 3, 4).Rank(kPhi, 2, 2);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  const int64_t streams = x[x.rank - 2];
  const int64_t columns = x[x.rank - 1];
  checks.Holds(streams > 0 && streams <= kMostStreams && columns > 0 && columns <= int64_t{1} << 31, kX,
               "1 to 64 streams of at least one element");
  checks.Holds(call.Tensor(kAlpha).shape == Shape{3} || call.Tensor(kAlpha).shape == Shape{2}, kAlpha,
               "[3], or [2] without hRes");
  if (!checks.Passed()) return checks.status();
  const int64_t parts = HasResidual(call) ? streams * (streams + 2) : 2 * streams;
  checks.Is(kPhi, Shape{parts, streams * columns}).Is(kBias, Shape{parts});
  if (HasElements(call, kGamma)) checks.Is(kGamma, Shape{streams, columns});
  checks.Is(kIn, Leading(x, 2, {columns})).Is(kPost, Leading(x, 2, {streams}));
  if (HasResidual(call)) {
    checks.Given(kResidual, "with 3 elements of alpha");
    if (checks.Passed()) checks.Is(kResidual, Leading(x, 2, {streams, streams}));
  }
  if (HasElements(call, kRoot)) checks.Is(kRoot, Leading(x, 2, {}));
  if (HasElements(call, kMix)) checks.Is(kMix, Leading(x, 2, {parts}));
  if (HasElements(call, kPre)) checks.Is(kPre, Leading(x, 2, {streams}));
  if (has_precision) checks.Integer(kPrecise, 0, 1);
  return checks.status();
}

template <bool has_precision>
constexpr auto PreChecks() {
  return Join(
      List(NotNull(kX), NotNull(kPhi), NotNull(kAlpha), NotNull(kBias), NotNull(kIn), NotNull(kPost),
           DtypesIn(kOn950, {kX}), DtypesIn(kFloat, {kPhi, kAlpha, kBias}),
           If(IsThere<kGamma>, DtypesIn(kFloat, {kGamma})), SameDtype(kX, kIn), DtypesIn(kFloat, {kPost}),
           If(HasResidual, IfGiven<kResidual>(DtypesIn(kFloat, {kResidual})))),
      List(If(IsThere<kRoot>, DtypesIn(kFloat, {kRoot})), If(IsThere<kMix>, DtypesIn(kFloat, {kMix})),
           If(IsThere<kPre>, DtypesIn(kFloat, {kPre})), SizesRepresentable({kX, kPhi, kIn, kPost}),
           If(IsThere<kResidual>, SizesRepresentable({kResidual})),
           If(IsThere<kRoot>, SizesRepresentable({kRoot})), If(IsThere<kMix>, SizesRepresentable({kMix})),
           If(IsThere<kPre>, SizesRepresentable({kPre})), Custom(PreFits<has_precision>, kTiling),
           DoneIfEmpty({kX}), InsideStorage({kX, kPhi, kAlpha, kBias}),
           If(IsThere<kGamma>, InsideStorage({kGamma}))));
}
constexpr auto kPreChecks = PreChecks<false>();
constexpr auto kPreChecksV2 = PreChecks<true>();

void SetPre(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& x = call.Tensor(kX).shape;
  const auto wanted = [&](int tensor) {
    return HasElements(call, tensor) ? engine::OptionalBuffer{ops.Out(tensor), true}
                                     : engine::OptionalBuffer{};
  };
  engine::EnterConnections made{};
  made.streams = x[x.rank - 2];
  made.columns = x[x.rank - 1];
  made.tokens = call.Tensor(kX).numel / (made.streams * made.columns);
  made.parts = call.Tensor(kBias).numel;
  made.x = ops.Rows(kX);
  made.phi = ops.In(kPhi);
  made.alpha = ops.In(kAlpha);
  made.bias = ops.In(kBias);
  if (HasElements(call, kGamma)) made.gamma = {ops.In(kGamma), true};
  made.in = ops.RowsOut(kIn);
  made.post = ops.Out(kPost);
  if (HasResidual(call)) made.residual = wanted(kResidual);
  made.root = wanted(kRoot);
  made.mix = wanted(kMix);
  made.pre = wanted(kPre);
  made.norm_epsilon = FloatNumber(call, kNormEpsilon);
  made.epsilon = static_cast<float>(FloatNumber(call, kEpsilon));
  made.functions = engine::SelectedKeysFunctionsOf(call.isa);
  made.threads = call.threads;
  made.work = ops.Bytes(made.WorkBytes());
  ops.Compute(made,
              {made.x.buffer, made.phi, made.alpha, made.bias, made.gamma.buffer, made.in.buffer, made.post,
               made.residual.buffer, made.root.buffer, made.mix.buffer, made.pre.buffer},
              call.Tensor(kX).numel);
  ops.SetJob();
}

// ---- MhcPost ----

enum Left { kStreams, kLeftResidual, kLayerOut, kLeftPost, kY };

aclnnStatus PostFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kStreams, 3, 4);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kStreams).shape;
  const int64_t streams = x[x.rank - 2];
  const int64_t columns = x[x.rank - 1];
  checks.Holds(streams > 0 && columns > 0, kStreams, "at least one stream of at least one element");
  if (HasElements(call, kLeftResidual)) checks.Is(kLeftResidual, Leading(x, 2, {streams, streams}));
  checks.Is(kLayerOut, Leading(x, 2, {columns})).Is(kLeftPost, Leading(x, 2, {streams}));
  return checks.Is(kY, x).status();
}
aclnnStatus PostIsComputed(const Check& check, OperatorCall& call) noexcept {
  if (call.Tensor(kStreams).shape.IsEmpty() || HasElements(call, kLeftResidual)) return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call).Add("parameter hResOptional is null, accepted: a tensor: "
                                                      "portacl does not compute without it."));
}
constexpr auto kPostChecks =
    List(NotNull(kStreams), NotNull(kLayerOut), NotNull(kLeftPost), NotNull(kY), DtypesIn(kOn950, {kStreams}),
         If(IsThere<kLeftResidual>, DtypesIn(kFloat, {kLeftResidual})), SameDtype(kStreams, kLayerOut),
         DtypesIn(kFloat, {kLeftPost}), SameDtype(kStreams, kY),
         SizesRepresentable({kStreams, kLayerOut, kLeftPost, kY}), Custom(PostFits, kTiling),
         Custom(PostIsComputed, ACLNN_ERR_INNER_NULLPTR), DoneIfEmpty({kStreams}),
         InsideStorage({kStreams, kLayerOut, kLeftPost, kLeftResidual}));

void SetPost(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& x = call.Tensor(kStreams).shape;
  engine::LeaveConnections made{};
  made.streams = x[x.rank - 2];
  made.columns = x[x.rank - 1];
  made.tokens = call.Tensor(kStreams).numel / (made.streams * made.columns);
  made.x = ops.Rows(kStreams);
  made.out = ops.Rows(kLayerOut);
  made.residual = ops.In(kLeftResidual);
  made.post = ops.In(kLeftPost);
  made.to = ops.RowsOut(kY);
  made.threads = call.threads;
  ops.Compute(made, {made.x.buffer, made.out.buffer, made.residual, made.post, made.to.buffer},
              call.Tensor(kStreams).numel);
  ops.SetJob();
}

// ---- MhcSinkhorn ----

enum Balanced { kMatrices, kBalanced, kNormOut, kSumOut };
enum BalancedAttributes { kBalanceEpsilon, kRounds };

aclnnStatus SinkhornFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kMatrices, 3, 4);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kMatrices).shape;
  const int64_t side = x[x.rank - 1];
  checks.Holds(side > 0 && side <= kMostStreams && x[x.rank - 2] == side, kMatrices,
               "square matrices of 1 to 64 rows");
  checks.Integer(kRounds, 1, 100);
  return checks.Is(kBalanced, x).status();
}
aclnnStatus SinkhornIsComputed(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  for (const int tensor : {kNormOut, kSumOut}) {
    if (HasElements(call, tensor))
      checks.Holds(false, tensor, "null or empty: portacl does not keep each step's results");
  }
  return checks.status();
}
constexpr auto kSinkhornChecks =
    List(NotNull(kMatrices), NotNull(kBalanced), DtypesIn(kFloatOn950, {kMatrices}),
         SameDtype(kMatrices, kBalanced), SizesRepresentable({kMatrices, kBalanced}),
         Custom(SinkhornFits, kTiling), Custom(SinkhornIsComputed, ACLNN_ERR_INNER_NULLPTR),
         DoneIfEmpty({kMatrices}), InsideStorage({kMatrices}));

void SetSinkhorn(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& x = call.Tensor(kMatrices).shape;
  engine::BalanceMatrices made{};
  made.side = x[x.rank - 1];
  made.count = call.Tensor(kMatrices).numel / (made.side * made.side);
  made.rounds = Integer(call, kRounds);
  made.x = ops.In(kMatrices);
  made.to = ops.Out(kBalanced);
  made.epsilon = call.attributes[kBalanceEpsilon].real;
  made.exponential = engine::SelectedKeysFunctionsOf(call.isa).exponential;
  made.threads = call.threads;
  ops.Compute(made, {made.x, made.to}, call.Tensor(kMatrices).numel * made.rounds);
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnMhcPre) { return dense::RunOpList(call, kPreChecks, workspaceSize, executor, SetPre); }
PORTACL_PHASE_1(aclnnMhcPreV2) {
  return dense::RunOpList(call, kPreChecksV2, workspaceSize, executor, SetPre);
}
PORTACL_PHASE_1(aclnnMhcPost) {
  return dense::RunOpList(call, kPostChecks, workspaceSize, executor, SetPost);
}
PORTACL_PHASE_1(aclnnMhcSinkhorn) {
  return dense::RunOpList(call, kSinkhornChecks, workspaceSize, executor, SetSinkhorn);
}
