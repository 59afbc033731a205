// Pads that mirror, repeat or wrap a tensor's own edge, and the gradients of these pads.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/image/edge_pads_functions.h"

#include <algorithm>

#include "aclnnop/phase1.h"
#include "base/errors.h"
#include "contract/arguments.h"
#include "engine/resample/axes.h"
#include "plan/views.h"

namespace portacl {
namespace {

using engine::AxisMap;
using Kind = AxisMap::Kind;

// A pad takes the tensor and gives the padded one. A gradient takes the padded tensor's gradient and the
// original tensor, and gives the original tensor's gradient.
enum Tensors { kSelf, kOut };
enum GradientTensors { kGradOutput, kPadded, kGradInput };
enum Attributes { kPadding };

constexpr DtypeSet kFloat8{ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN};
constexpr DtypeSet kReflected = kRealArithmetic;
constexpr DtypeSet kReflectedSinceA2 = kArithmetic | kBf16;
constexpr DtypeRule kReflectionDtypes =
    ByGeneration(kReflected, kReflectedSinceA2, kReflectedSinceA2 | kUnsignedSince16Bits | kFloat8);
constexpr DtypeSet kReplicated = (kArithmetic | kBf16).Without(kBool);
constexpr DtypeRule kReplicationDtypes =
    ByGeneration(kReplicated, kReplicated, kReplicated | kBool | kUnsignedSince16Bits | kFloat8);
constexpr DtypeRule kCircularDtypes = Everywhere(kFloatHalfAndBf16 | DtypeSet{ACL_INT32, ACL_INT8});
constexpr DtypeRule kGradientDtypes = Everywhere(kFloatHalfAndBf16 | kDouble | kComplex);
constexpr DtypeRule kCircularGradientDtypes = Everywhere(kFloatHalfAndBf16);

struct Pads {
  int64_t before;
  int64_t after;
};

// Torch's order: the pads of the last dim come first.
Pads PadsOf(const OperatorCall& call, int from_last) {
  const auto& padding = call.Array(kPadding);
  const auto position = 2 * static_cast<size_t>(from_last);
  return {padding[position], padding[position + 1]};
}

// Makes a check of the pads of the last `dims` dims.
constexpr Check OfPads(aclnnStatus (*run)(const Check&, OperatorCall&) noexcept, Kind kind, int dims) {
  Check check = Custom(run);
  check.low = dims;
  check.high = static_cast<int64_t>(kind);
  return check;
}

aclnnStatus OneRank(const Check& check, OperatorCall& call) noexcept {
  const int rank = call.Tensor(kSelf).shape.rank;
  for (int tensor = 1; tensor < static_cast<int>(call.tensors.size()); ++tensor) {
    if (call.Tensor(tensor).shape.rank == rank) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, tensor)
        .Add(" has another rank than ")
        .Add(call.Name(kSelf))
        .Add(", accepted: ")
        .Add(rank);
    return FailAclnn(check.code, message.Add(" dims."));
  }
  return ACL_SUCCESS;
}

aclnnStatus PadsForDims(const Check& check, OperatorCall& call) noexcept {
  if (static_cast<int64_t>(call.Array(kPadding).size()) == 2 * check.low) return ACL_SUCCESS;
  return RefuseArray(check, call, kPadding, " does not have two values for each dim",
                     check.low == 1   ? "2 values"
                     : check.low == 2 ? "4 values"
                                      : "6 values");
}

// Tells whether negative lengths leave an element of a dim.
bool LeavesSome(int64_t length, const Pads& pads) {
  int64_t left = 0;
  return !__builtin_add_overflow(length, std::min<int64_t>(pads.before, 0), &left) &&
         !__builtin_add_overflow(left, std::min<int64_t>(pads.after, 0), &left) && left > 0;
}

// Computes the padded tensor's shape into call.broadcast.
aclnnStatus PaddedShape(const Check& check, OperatorCall& call, int padded) noexcept {
  const Shape& self = call.Tensor(padded).shape;
  call.broadcast = self;
  for (int k = 0; k < static_cast<int>(check.low); ++k) {
    const int dim = self.rank - 1 - k;
    const Pads pads = PadsOf(call, k);
    if (static_cast<Kind>(check.high) == Kind::kReflect && std::max(pads.before, pads.after) >= self[dim]) {
      return RefuseArray(check, call, kPadding, " reaches past the other edge",
                         "less than the length of the dim");
    }
    int64_t both = 0;
    if (__builtin_add_overflow(pads.before, pads.after, &both) ||
        __builtin_add_overflow(self[dim], both, &call.broadcast.dim[dim]) || call.broadcast[dim] < 0)
      return RefuseArray(check, call, kPadding, " cuts off more than there is",
                         "at least 0 elements of the dim");
    // A circle repeats what negative lengths leave.
    if (static_cast<Kind>(check.high) == Kind::kWrap && !LeavesSome(self[dim], pads))
      return RefuseArray(check, call, kPadding, " cuts off all that there is",
                         "at least an element of the dim that is left");
  }
  return ACL_SUCCESS;
}

aclnnStatus ShapeOfResult(const Check& check, OperatorCall& call) noexcept {
  return PaddedShape(check, call, kSelf);
}

aclnnStatus ShapeOfGradient(const Check& check, OperatorCall& call) noexcept {
  return PaddedShape(check, call, kPadded);
}

// Compares only the dims that are padded.
aclnnStatus PaddedDims(const Check& check, OperatorCall& call, int tensor) noexcept {
  const Shape& shape = call.Tensor(tensor).shape;
  for (int k = 0; k < static_cast<int>(check.low); ++k) {
    const int dim = shape.rank - 1 - k;
    if (shape[dim] != call.broadcast[dim]) return RefuseShape(check, call, tensor, call.broadcast);
  }
  return ACL_SUCCESS;
}
aclnnStatus PaddedDimsOfOut(const Check& check, OperatorCall& call) noexcept {
  return PaddedDims(check, call, kOut);
}
aclnnStatus PaddedDimsOfGradient(const Check& check, OperatorCall& call) noexcept {
  return PaddedDims(check, call, kGradOutput);
}

aclnnStatus RefuseEmpty(const Check& check, const OperatorCall& call, int tensor) {
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, tensor);
  return FailAclnn(check.code, message.Add(" is empty, accepted: a batch of 0, no other dim."));
}

// Succeeds without work only if the batch, and nothing else, is empty.
aclnnStatus EmptyBatchAlone(const Check& check, OperatorCall& call) noexcept {
  const bool is_batch = call.Tensor(kSelf).shape.rank == check.low + 2;
  for (const int tensor : {kSelf, kOut}) {
    const Shape& shape = call.Tensor(tensor).shape;
    if (!shape.IsEmpty()) continue;
    for (int dim = is_batch ? 1 : 0; dim < shape.rank; ++dim) {
      if (!is_batch || shape[dim] == 0) return RefuseEmpty(check, call, tensor);
    }
    call.work = OperatorCall::Work::kNothing;
  }
  return ACL_SUCCESS;
}

// Checks a gradient as EmptyBatchAlone checks a pad. The gradient of a mirrored pad of sequences and images
// without a batch may also have no channels.
aclnnStatus EmptyBatchOrChannels(const Check& check, OperatorCall& call) noexcept {
  const bool is_batch = call.Tensor(kPadded).shape.rank == check.low + 2;
  const bool takes_first = is_batch || (check.low < 3 && static_cast<Kind>(check.high) == Kind::kReflect);
  for (const int tensor : {kGradOutput, kPadded}) {
    const Shape& shape = call.Tensor(tensor).shape;
    if (!shape.IsEmpty()) continue;
    for (int dim = takes_first ? 1 : 0; dim < shape.rank; ++dim) {
      if (shape[dim] == 0) return RefuseEmpty(check, call, tensor);
    }
    call.work = OperatorCall::Work::kNothing;
  }
  return ACL_SUCCESS;
}

// CANN's kernel of wrapped volumes takes pads that are less than their dim.
aclnnStatus PadsFitDims(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kPadded).shape;
  for (int k = 0; k < static_cast<int>(check.low); ++k) {
    const Pads pads = PadsOf(call, k);
    if (std::max(pads.before, pads.after) < self[self.rank - 1 - k]) continue;
    return RefuseArray(check, call, kPadding, " reaches past the other edge",
                       "less than the length of the dim");
  }
  return ACL_SUCCESS;
}

// CANN's BF16 kernel refuses larger pads.
aclnnStatus Bf16PadsAreSmall(const Check& check, OperatorCall& call) noexcept {
  if (call.Tensor(kGradOutput).dtype != ACL_BF16) return ACL_SUCCESS;
  const auto& padding = call.Array(kPadding);
  if (padding[2] == 0 && padding[3] == 0) return ACL_SUCCESS;
  if (std::all_of(padding.begin(), padding.end(), [](int64_t pad) { return pad >= 0 && pad <= 7; }))
    return ACL_SUCCESS;
  return RefuseArray(check, call, kPadding, " has a value out of range for BF16", "0 to 7, or none of rows");
}

// ---- lists of checks, in CANN's order ----

constexpr auto kNulls = List(NotNull(kSelf), ArrayNotNull(kPadding), NotNull(kOut));

constexpr auto RankChecks(Kind kind, int dims) {
  return List(RankAtLeast(dims + 1, {kSelf}), RankAtMost(dims + 2, {kSelf}), Custom(OneRank),
              OfPads(PadsForDims, kind, dims), SizesRepresentable({kOut}), OfPads(ShapeOfResult, kind, dims));
}

constexpr auto ReflectionChecks(int dims) {
  return Join(
      kNulls, List(DtypesIn(kReflectionDtypes, {kSelf}), SameDtype(kSelf, kOut), SameFormat({kSelf, kOut})),
      RankChecks(Kind::kReflect, dims),
      List(OfPads(PaddedDimsOfOut, Kind::kReflect, dims), OfPads(EmptyBatchAlone, Kind::kReflect, dims),
           ShapeIsResult(kOut), InsideStorage({kSelf})));
}
constexpr auto OtherChecks(Kind kind, int dims) {
  return Join(RankChecks(kind, dims),
              List(ShapeIsResult(kOut), OfPads(EmptyBatchAlone, kind, dims), InsideStorage({kSelf})));
}

constexpr auto kReflection1dChecks = ReflectionChecks(1);
constexpr auto kReflection2dChecks = ReflectionChecks(2);
constexpr auto kReplication1dChecks = Join(
    kNulls, List(DtypesIn(kReplicationDtypes, {kSelf}), SameDtype(kSelf, kOut), SameFormat({kSelf, kOut})),
    OtherChecks(Kind::kReplicate, 1));
constexpr auto kReplication2dChecks = Join(
    kNulls, List(SameFormat({kSelf, kOut}), DtypesIn(kReplicationDtypes, {kSelf}), SameDtype(kSelf, kOut)),
    OtherChecks(Kind::kReplicate, 2));
constexpr auto kReflection3dChecks = ReflectionChecks(3);
constexpr auto kReplication3dChecks = Join(
    kNulls, List(SameFormat({kSelf, kOut}), DtypesIn(kReplicationDtypes, {kSelf}), SameDtype(kSelf, kOut)),
    OtherChecks(Kind::kReplicate, 3));
constexpr auto CircularChecks(int dims) {
  return Join(kNulls,
              List(DtypesIn(kCircularDtypes, {kSelf}), SameDtype(kSelf, kOut), NotPrivate({kSelf, kOut}),
                   SameFormat({kSelf, kOut})),
              OtherChecks(Kind::kWrap, dims));
}
constexpr auto kCircular2dChecks = CircularChecks(2);
constexpr auto kCircular3dChecks = CircularChecks(3);

constexpr auto GradientChecks(Kind kind, int dims, const DtypeRule& dtypes = kGradientDtypes,
                              aclnnStatus null = ACLNN_ERR_PARAM_NULLPTR) {
  return List(WithCode(null, NotNull(kGradOutput)), WithCode(null, NotNull(kPadded)), ArrayNotNull(kPadding),
              WithCode(null, NotNull(kGradInput)), DtypesIn(dtypes, {kGradOutput}),
              SameDtype(kGradOutput, kPadded), SameDtype(kGradOutput, kGradInput),
              NotPrivate({kGradOutput, kPadded, kGradInput}), SameFormat({kGradOutput, kPadded, kGradInput}),
              SameShape(kPadded, kGradInput), RankAtLeast(dims + 1, {kPadded}),
              RankAtMost(dims + 2, {kPadded}), Custom(OneRank), OfPads(PadsForDims, kind, dims),
              SizesRepresentable({kGradInput}), OfPads(ShapeOfGradient, kind, dims));
}
constexpr auto EndOfGradientChecks(Kind kind, int dims) {
  return List(OfPads(PaddedDimsOfGradient, kind, dims), OfPads(EmptyBatchOrChannels, kind, dims),
              ShapeIsResult(kGradOutput), InsideStorage({kGradOutput, kPadded}));
}
constexpr auto Gradient1dChecks(Kind kind) {
  return Join(GradientChecks(kind, 1), EndOfGradientChecks(kind, 1));
}
constexpr auto Gradient2dChecks(Kind kind) {
  return Join(GradientChecks(kind, 2), List(Custom(Bf16PadsAreSmall)), EndOfGradientChecks(kind, 2));
}

constexpr auto kReflection1dGradientChecks = Gradient1dChecks(Kind::kReflect);
constexpr auto kReflection2dGradientChecks = Gradient2dChecks(Kind::kReflect);
constexpr auto kReplication1dGradientChecks = Gradient1dChecks(Kind::kReplicate);
constexpr auto kReplication2dGradientChecks = Gradient2dChecks(Kind::kReplicate);

constexpr auto kReflection3dGradientChecks =
    Join(GradientChecks(Kind::kReflect, 3), EndOfGradientChecks(Kind::kReflect, 3));
constexpr auto kReplication3dGradientChecks =
    Join(GradientChecks(Kind::kReplicate, 3), EndOfGradientChecks(Kind::kReplicate, 3));
constexpr auto kCircular2dGradientChecks =
    Join(GradientChecks(Kind::kWrap, 2, kCircularGradientDtypes), EndOfGradientChecks(Kind::kWrap, 2));
constexpr auto kCircular3dGradientChecks =
    Join(GradientChecks(Kind::kWrap, 3, kCircularGradientDtypes, ACLNN_ERR_INNER_NULLPTR),
         List(OfPads(PadsFitDims, Kind::kWrap, 3)), EndOfGradientChecks(Kind::kWrap, 3));

// ---- jobs ----

// Returns the map of one of the last dims, from the original tensor to the padded one.
AxisMap MapOf(const OperatorCall& call, Kind kind, int dims, int from_last, const StridedView& self,
              const StridedView& padded) {
  const int dim = self.shape.rank - 1 - from_last;
  AxisMap map;
  map.length = self.shape[dim];
  map.inner = padded.shape[dim];
  map.inner_stride = padded.strides[dim];
  map.index_stride = self.strides[dim];
  if (from_last >= dims) return map;
  map.kind = kind;
  const Pads pads = PadsOf(call, from_last);
  map.before = pads.before;
  if (kind == Kind::kWrap) {
    map.before = std::max<int64_t>(pads.before, 0);
    map.first = map.before - pads.before;
    map.circle = map.length - map.first - std::max<int64_t>(-pads.after, 0);
  }
  return map;
}

// Returns the maps of the padded dims, or of the last two.
template <Kind kKind, int kDims>
engine::AxisMaps MapsOf(const OperatorCall& call, const StridedView& self, const StridedView& padded) {
  engine::AxisMaps maps{MapOf(call, kKind, kDims, 1, self, padded),
                        MapOf(call, kKind, kDims, 0, self, padded)};
  if (kDims == 3) maps.planes = MapOf(call, kKind, kDims, 2, self, padded);
  return maps;
}
// The dims of a batch are those before the maps'.
template <int kDims>
int BatchRank(const StridedView& self) {
  return self.shape.rank - (kDims == 3 ? 3 : 2);
}

template <Kind kKind, int kDims>
void SetPad(const OperatorCall& call, Executor& executor) {
  const StridedView self = PlainView(call.Tensor(kSelf));
  const StridedView out = PlainView(call.Tensor(kOut));
  executor.SetJob([&] {
    return engine::MakeTakeJob(executor, {&self, kSelf, &out, kOut, BatchRank<kDims>(self)},
                               MapsOf<kKind, kDims>(call, self, out), call.isa, call.threads);
  });
}

template <Kind kKind, int kDims>
void SetGradient(const OperatorCall& call, Executor& executor) {
  const StridedView grad_output = PlainView(call.Tensor(kGradOutput));
  const StridedView grad_input = PlainView(call.Tensor(kGradInput));
  executor.SetJob([&] {
    return engine::MakeSumJob(
        executor, {&grad_output, kGradOutput, &grad_input, kGradInput, BatchRank<kDims>(grad_input)},
        MapsOf<kKind, kDims>(call, grad_input, grad_output), engine::Direction::kFromPositions, call.isa,
        call.threads);
  });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

#define PORTACL_PAD(name, checks, kind, dims)                                                           \
  PORTACL_PHASE_1(aclnn##name) {                                                                        \
    return RunPhase1(call, checks, workspaceSize, executor, SetPad<engine::AxisMap::Kind::kind, dims>); \
  }

#define PORTACL_PAD_GRADIENT(name, checks, kind, dims)                                                       \
  PORTACL_PHASE_1(aclnn##name) {                                                                             \
    return RunPhase1(call, checks, workspaceSize, executor, SetGradient<engine::AxisMap::Kind::kind, dims>); \
  }

PORTACL_PAD(ReflectionPad1d, kReflection1dChecks, kReflect, 1)
PORTACL_PAD(ReflectionPad2d, kReflection2dChecks, kReflect, 2)
PORTACL_PAD(ReplicationPad1d, kReplication1dChecks, kReplicate, 1)
PORTACL_PAD(ReplicationPad2d, kReplication2dChecks, kReplicate, 2)
PORTACL_PAD(CircularPad2d, kCircular2dChecks, kWrap, 2)
PORTACL_PAD(ReflectionPad3d, kReflection3dChecks, kReflect, 3)
PORTACL_PAD(ReplicationPad3d, kReplication3dChecks, kReplicate, 3)
PORTACL_PAD(CircularPad3d, kCircular3dChecks, kWrap, 3)
PORTACL_PAD_GRADIENT(ReflectionPad1dBackward, kReflection1dGradientChecks, kReflect, 1)
PORTACL_PAD_GRADIENT(ReflectionPad2dBackward, kReflection2dGradientChecks, kReflect, 2)
PORTACL_PAD_GRADIENT(ReplicationPad1dBackward, kReplication1dGradientChecks, kReplicate, 1)
PORTACL_PAD_GRADIENT(ReplicationPad2dBackward, kReplication2dGradientChecks, kReplicate, 2)
PORTACL_PAD_GRADIENT(ReflectionPad3dBackward, kReflection3dGradientChecks, kReflect, 3)
PORTACL_PAD_GRADIENT(ReplicationPad3dBackward, kReplication3dGradientChecks, kReplicate, 3)
PORTACL_PAD_GRADIENT(CircularPad2dBackward, kCircular2dGradientChecks, kWrap, 2)
PORTACL_PAD_GRADIENT(CircularPad3dBackward, kCircular3dGradientChecks, kWrap, 3)
