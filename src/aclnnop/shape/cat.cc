// aclnnCat and aclnnStack: join tensors along a dim, or along a new one.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/shape/cat_functions.h"

#include "aclnnop/jobs/moves.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/arguments.h"
#include "contract/promotion.h"

namespace portacl {
namespace {

enum Tensors { kTensors, kOut };
enum Attributes { kDim };

// Tells whether aclnnCat skips an entry. Torch once used the shape [0] for an empty tensor of any shape.
bool IsLeftOut(const aclTensor* tensor) {
  return tensor != nullptr && tensor->shape.rank == 1 && tensor->shape[0] == 0;
}

// Returns the first joined entry, or -1 when there is none.
int FirstKept(const OperatorCall& call) {
  for (int entry = 0; entry < call.Count(kTensors); ++entry) {
    if (!IsLeftOut(call.Entry(kTensors, entry))) return entry;
  }
  return -1;
}

// Calls f(tensor, entry) for each joined entry until it returns a failure. aclnnStack joins every entry.
template <class F>
aclnnStatus ForEachKept(const OperatorCall& call, const F& f, bool is_stack = false) {
  for (int entry = 0; entry < call.Count(kTensors); ++entry) {
    if (!is_stack && IsLeftOut(call.Entry(kTensors, entry))) continue;
    if (const aclnnStatus status = f(*call.Entry(kTensors, entry), entry)) return status;
  }
  return ACL_SUCCESS;
}

aclnnStatus DoneIfNothingIsKept(const Check&, OperatorCall& call) noexcept {
  const bool is_given = call.tensors[kTensors].list != nullptr;
  if (is_given && FirstKept(call) < 0) call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

constexpr DtypeSet kCatOld{ACL_FLOAT, ACL_FLOAT16, ACL_INT32,  ACL_INT64,     ACL_INT16,
                           ACL_INT8,  ACL_UINT8,   ACL_DOUBLE, ACL_COMPLEX64, ACL_BOOL};
constexpr DtypeSet kCat950 =
    kCatOld | kBf16 | kUnsignedSince16Bits | DtypeSet{ACL_HIFLOAT8,    ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN,
                                                      ACL_FLOAT8_E8M0, ACL_FLOAT4_E2M1, ACL_FLOAT4_E1M2};
constexpr DtypeRule kCatDtypes =
    ByGeneration(kCatOld, kCatOld | kBf16, kCat950).On({Product::kAtlas200I500A2}, kCatOld | kBf16);
constexpr DtypeSet kStackSet = kRealArithmetic | kUnsignedSince16Bits | kComplex;
constexpr DtypeRule kStackDtypes = WithBf16SinceAtlasA2(kStackSet);

aclnnStatus KeptDtypes(const Check& check, OperatorCall& call) noexcept {
  return ForEachKept(call, [&](const StridedView& tensor, int entry) -> aclnnStatus {
    if (check.rule->For(call.product).Contains(tensor.dtype)) return ACL_SUCCESS;
    Text message = StartMessage(call);
    AddArgumentDtype(message.Add("parameter "), call, kTensors, entry).Add(" is not supported, accepted: ");
    AddDtypeSet(message, check.rule->For(call.product));
    return FailAclnn(check.code, message.Add("."));
  });
}

constexpr int64_t kStack = 1;  // marks a check of aclnnStack by its `low`

// Promotes the entries' dtypes into call.promoted. Refuses those of check.dtypes.
aclnnStatus PromotesEntries(const Check& check, OperatorCall& call) noexcept {
  call.promoted = ACL_DT_UNDEFINED;
  bool is_first = true;
  const aclnnStatus status = ForEachKept(
      call,
      [&](const StridedView& tensor, int entry) -> aclnnStatus {
        const aclDataType before = call.promoted;
        call.promoted = is_first ? tensor.dtype : PromoteType(before, tensor.dtype);
        is_first = false;
        if (call.promoted != ACL_DT_UNDEFINED) return ACL_SUCCESS;
        Text message = StartMessage(call);
        AddArgumentDtype(message.Add("parameter "), call, kTensors, entry)
            .Add(" cannot be promoted together with ");
        AddDtypeName(message, before);
        return FailAclnn(check.code, message.Add(", accepted: dtypes that promote to one common dtype."));
      },
      check.low == kStack);
  if (status != ACL_SUCCESS || !check.dtypes.Contains(call.promoted)) return status;
  Text message = StartMessage(call).Add("the entries of tensors promote to ");
  AddDtypeName(message, call.promoted);
  return FailAclnn(check.code, message.Add(", which is not supported, accepted: other dtypes."));
}

aclnnStatus KeptFormats(const Check& check, OperatorCall& call) noexcept {
  const aclFormat first = call.Entry(kTensors, FirstKept(call))->format;
  const auto refuse = [&](int tensor, int entry, const char* accepted) {
    Text message = StartMessage(call);
    AddArgument(message.Add("parameter "), call, tensor, entry).Add(" has the format ");
    AddFormatName(message, call.Entry(tensor, entry)->format);
    return FailAclnn(check.code, message.Add(accepted));
  };
  if (IsPrivateFormat(first)) {
    return refuse(kTensors, FirstKept(call), ", accepted: ND, NCHW and other public formats.");
  }
  const aclnnStatus status = ForEachKept(call, [&](const aclTensor& tensor, int entry) -> aclnnStatus {
    return tensor.format == first ? ACL_SUCCESS
                                  : refuse(kTensors, entry, ", accepted: that of the first tensor.");
  });
  if (status != ACL_SUCCESS || call.Tensor(kOut).format == first) return status;
  return refuse(kOut, 0, ", accepted: that of the first tensor.");
}

aclnnStatus KeptShapes(const Check& check, OperatorCall& call) noexcept {
  const int kept = FirstKept(call);
  const Shape& first = call.Entry(kTensors, kept)->shape;
  const int64_t dim = call.attributes[kDim].integer;
  if (first.rank > 8 || first.rank == 0) {
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, kTensors, kept);
    return FailAclnn(check.code,
                     message.Add(" has the rank ").Add(first.rank).Add(", accepted: 1 to 8 dims."));
  }
  if (!IsDim(dim, first.rank)) {
    return RefuseInteger(check, call, "dim", dim, -first.rank, first.rank - 1);
  }
  const int along = WrappedDim(dim, first.rank);
  return ForEachKept(call, [&](const StridedView& tensor, int entry) -> aclnnStatus {
    bool fits = tensor.shape.rank == first.rank;
    for (int i = 0; fits && i < first.rank; ++i) fits = i == along || tensor.shape[i] == first[i];
    if (fits) return ACL_SUCCESS;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, kTensors, entry).Add(" does not go with ");
    AddArgumentShape(message, call, kTensors, kept).Add(", accepted: the same dims but for dim ").Add(along);
    return FailAclnn(check.code, message.Add("."));
  });
}

// Computes the joined shape into call.broadcast.
aclnnStatus JoinedShape(const Check&, OperatorCall& call) noexcept {
  const Shape& first = call.Entry(kTensors, FirstKept(call))->shape;
  const int along = WrappedDim(call.attributes[kDim].integer, first.rank);
  call.broadcast = first;
  call.broadcast.dim[along] = 0;
  int filled = 0;
  ForEachKept(call, [&](const StridedView& tensor, int) -> aclnnStatus {
    call.broadcast.dim[along] += tensor.shape[along];
    filled += tensor.shape.IsEmpty() ? 0 : 1;
    return ACL_SUCCESS;
  });
  if (filled == 0) call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

// If only one tensor has elements, CANN converts it directly, and returns another code.
aclnnStatus JoinedFitsOut(const Check&, OperatorCall& call) noexcept {
  int filled = 0;
  ForEachKept(call, [&](const StridedView& tensor, int) -> aclnnStatus {
    filled += tensor.shape.IsEmpty() ? 0 : 1;
    return ACL_SUCCESS;
  });
  Check shape = ShapeIsResultOrOne(kOut);
  if (filled == 1) shape.code = ACLNN_ERR_INNER_NULLPTR;
  return shape.run(shape, call);
}

aclnnStatus EntriesConvert(const Check& check, OperatorCall& call) noexcept {
  const aclDataType out = call.Tensor(kOut).dtype;
  return ForEachKept(
      call,
      [&](const StridedView& tensor, int entry) -> aclnnStatus {
        const bool is_same =
            tensor.dtype == call.promoted && call.promoted == out && StorageBits(out) % 8 == 0;
        if (is_same || (kConvertible.Contains(tensor.dtype) && kConvertible.Contains(call.promoted) &&
                        kConvertible.Contains(out))) {
          return ACL_SUCCESS;
        }
        Text message = StartMessage(call);
        AddArgumentDtype(message.Add("parameter "), call, kTensors, entry).Add(" is not converted to ");
        AddArgumentDtype(message, call, kOut).Add(", accepted: the same dtype of whole bytes, or two of ");
        AddDtypeSet(message, kConvertible);
        return FailAclnn(check.code, message.Add("."));
      },
      check.low == kStack);
}

constexpr Check kCatChecks[] = {
    Custom(DoneIfNothingIsKept),  // in CANN's order
    NotNull(kTensors),
    EntriesNotNull(kTensors),
    NotNull(kOut),
    {.run = KeptDtypes, .rule = &kCatDtypes},
    DtypesIn(kCatDtypes, {kOut}),
    {.run = PromotesEntries, .dtypes = DtypeSet(ACL_COMPLEX128)},
    PromotedCastsTo(kOut),
    Custom(KeptFormats),
    Custom(KeptShapes),
    SizesRepresentable({kOut}),
    Custom(JoinedShape),
    SizesRepresentable({kOut}),
    Custom(JoinedFitsOut),
    InsideStorage({kTensors}),
    Custom(EntriesConvert, ACLNN_ERR_INNER_NULLPTR),
};

void SetCat(const OperatorCall& call, Executor& executor) {
  const int count = call.Count(kTensors);
  const int out = call.OperandOf(kOut);
  const StridedView whole = PlainView(call.Tensor(kOut));
  const int along = WrappedDim(call.attributes[kDim].integer, call.broadcast.rank);
  MoveList moves(executor, count);
  int64_t start = 0;
  for (int entry = 0; entry < count; ++entry) {
    const aclTensor* const tensor = call.Entry(kTensors, entry);
    if (IsLeftOut(tensor) || tensor->shape.IsEmpty()) continue;
    StridedView part = whole;
    if (whole.numel != 1) Narrow(part, along, start, tensor->shape[along]);
    moves.Copy(PlainView(*tensor), entry, part, out, call.promoted);
    start += tensor->shape[along];
  }
  moves.SetJob();
}

// ---- Stack ----

aclnnStatus SomeEntries(const Check& check, OperatorCall& call) noexcept {
  if (call.Count(kTensors) > 0) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   StartMessage(call).Add("parameter tensors is an empty list, accepted: at least 1."));
}

aclnnStatus StackedShapes(const Check& check, OperatorCall& call) noexcept {
  const Shape& first = call.Entry(kTensors, 0)->shape;
  const int64_t dim = call.attributes[kDim].integer;
  if (first.rank > 8) {
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, kTensors, 0);
    return FailAclnn(check.code,
                     message.Add(" has the rank ").Add(first.rank).Add(", accepted: at most 8 dims."));
  }
  if (!IsDim(dim, first.rank + 1)) {
    return RefuseInteger(check, call, "dim", dim, -first.rank - 1, first.rank);
  }
  for (int entry = 1; entry < call.Count(kTensors); ++entry) {
    if (!(call.Entry(kTensors, entry)->shape == first))
      return RefuseShape(check, call, kTensors, first, entry);
  }
  return ACL_SUCCESS;
}

aclnnStatus StackedShape(const Check&, OperatorCall& call) noexcept {
  const Shape& first = call.Entry(kTensors, 0)->shape;
  const int at = WrappedDim(call.attributes[kDim].integer, first.rank + 1);
  call.broadcast.rank = first.rank + 1;
  for (int i = 0; i <= first.rank; ++i) {
    call.broadcast.dim[i] = i < at ? first[i] : i == at ? call.Count(kTensors) : first[i - 1];
  }
  if (first.IsEmpty()) call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

constexpr Check kStackChecks[] = {
    WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kTensors)),  // in CANN's order
    WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kOut)),
    Custom(SomeEntries),
    EntriesNotNull(kTensors),
    DtypesIn(kStackDtypes, {kTensors, kOut}),
    {.run = PromotesEntries, .low = kStack},
    PromotedCastsTo(kOut),
    Custom(StackedShapes),
    SizesRepresentable({kOut}),
    Custom(StackedShape),
    SizesRepresentable({kOut}),
    ShapeIsResultOrOne(kOut),
    InsideStorage({kTensors}),
    {.run = EntriesConvert, .low = kStack, .code = ACLNN_ERR_INNER_NULLPTR},
};

void SetStack(const OperatorCall& call, Executor& executor) {
  const int count = call.Count(kTensors);
  const int at = WrappedDim(call.attributes[kDim].integer, call.broadcast.rank);
  const StridedView whole = PlainView(call.Tensor(kOut));
  MoveList moves(executor, count);
  for (int entry = 0; entry < count; ++entry) {
    StridedView part = whole;
    if (whole.numel != 1) Select(part, at, entry);
    moves.Copy(PlainView(*call.Entry(kTensors, entry)), entry, part, count, call.promoted);
  }
  moves.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnCat) { return RunPhase1(call, kCatChecks, workspaceSize, executor, SetCat); }

PORTACL_PHASE_1(aclnnStack) { return RunPhase1(call, kStackChecks, workspaceSize, executor, SetStack); }
