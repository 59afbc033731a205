// aclnnIndex and aclnnIndexPutImpl: read or write the elements that a list of index tensors and masks names.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/indexing/index_functions.h"

#include <algorithm>

#include "aclnnop/call_of_views.h"
#include "aclnnop/indexing/accumulate.h"
#include "aclnnop/jobs/where.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/broadcast.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kIndices, kOther };  // out, or values

constexpr DtypeSet kIndexDtypes{ACL_INT32, ACL_INT64, ACL_BOOL};
constexpr DtypeSet kIndexed = kRealArithmetic | kBf16;
constexpr DtypeRule kIndexRule = ByGeneration(kIndexed, kIndexed, kIndexed | DtypeSet{ACL_COMPLEX64})
                                     .On({Product::kAtlasTraining, Product::kNoDevice}, kRealArithmetic);
constexpr DtypeRule kPutRule =
    Everywhere(kIndexed).On({Product::kAtlasTraining, Product::kNoDevice}, kRealArithmetic);

// An entry without elements stands for a whole dim. aclnnIndexPutImpl also accepts an empty index that names
// nothing; it tells them apart by dtype and shape, as far as possible.
bool IsNone(const OperatorCall& call, int entry) {
  const aclTensor& tensor = *call.Entry(kIndices, entry);
  if (tensor.numel > 0 || !tensor.shape.IsEmpty()) return false;
  if (!call.in_place) return true;
  return tensor.dtype == call.Tensor(kSelf).dtype || (tensor.shape.rank == 1 && tensor.shape[0] == 0);
}
bool IsMask(const OperatorCall& call, int entry) { return call.Entry(kIndices, entry)->dtype == ACL_BOOL; }

// The list applied to self: the dims of self that each entry takes, and the position of the indices' dims in
// the result.
struct Reading {
  int entries = 0;          // defined ones
  int entry[kMaxDims];      // their positions in the list
  int dim[kMaxDims];        // the first dim of self that it takes
  int first_dim = 0;        // first of the dims that entries take
  bool is_adjacent = true;  // these dims follow each other
  bool fits = true;         // self has enough dims
  int kept = 0;             // dims of self that stay
  int kept_dim[kMaxDims];
  int at = 0;   // number of kept dims before those of the indices
  Shape named;  // the shape to which the indices broadcast
  bool broadcasts = true;
  bool has_mask = false;
  bool one_shape = true;  // all index tensors have one shape
  bool is_open = false;   // phase 1 does not know how many elements the masks name
};

Reading Read(const OperatorCall& call) {
  Reading reading;
  const Shape& self = call.Tensor(kSelf).shape;
  bool taken[kMaxDims] = {};
  int dim = 0;
  int last_taken = -1;
  for (int entry = 0; entry < call.Count(kIndices); ++entry) {
    if (IsNone(call, entry)) {
      ++dim;
      continue;
    }
    const aclTensor& tensor = *call.Entry(kIndices, entry);
    const bool is_mask = IsMask(call, entry);
    const int takes = is_mask ? std::max(tensor.shape.rank, 1) : 1;
    if (reading.entries == kMaxDims || dim + takes > self.rank) {
      reading.fits = false;
      return reading;
    }
    if (last_taken < 0) reading.first_dim = dim;
    if (last_taken >= 0 && dim != last_taken + 1) reading.is_adjacent = false;
    for (int i = 0; i < takes; ++i) taken[dim + i] = true;
    last_taken = dim + takes - 1;
    reading.entry[reading.entries] = entry;
    reading.dim[reading.entries++] = dim;
    dim += takes;
    reading.has_mask = reading.has_mask || is_mask;
    if (!is_mask && !BroadcastShapes(reading.named, tensor.shape, &reading.named)) reading.broadcasts = false;
    reading.one_shape = reading.one_shape && tensor.shape == call.Entry(kIndices, reading.entry[0])->shape;
  }
  for (int i = 0; i < self.rank; ++i) {
    if (taken[i]) continue;
    if (reading.is_adjacent && i < reading.first_dim) ++reading.at;
    reading.kept_dim[reading.kept++] = i;
  }
  if (!reading.has_mask) return reading;
  // Masks name elements along one dim. Their number is the length of the other indices, or else follows from
  // the other tensor.
  if (reading.named.rank == 0) reading.named = Shape{1};
  int64_t& length = reading.named.dim[reading.named.rank - 1];
  const Shape& other = call.Tensor(kOther).shape;
  const int behind = reading.kept - reading.at;
  const int buffer = other.rank - 1 - behind;
  if (length == 1) {
    const int64_t given = buffer >= 0 ? other[buffer] : 1;
    if (given != 1 || !call.in_place) {
      length = given;
    } else {
      reading.is_open = true;
      for (int i = 0; i < reading.entries; ++i) {
        if (IsMask(call, reading.entry[i]))
          length = std::max(length, call.Entry(kIndices, reading.entry[i])->numel);
      }
    }
  }
  return reading;
}

// Returns the shape of the indexed elements.
Shape NamedShape(const OperatorCall& call, const Reading& reading) {
  const Shape& self = call.Tensor(kSelf).shape;
  Shape shape;
  for (int i = 0; i < reading.at; ++i) shape.dim[shape.rank++] = self[reading.kept_dim[i]];
  for (int i = 0; i < reading.named.rank; ++i) shape.dim[shape.rank++] = reading.named[i];
  for (int i = reading.at; i < reading.kept; ++i) shape.dim[shape.rank++] = self[reading.kept_dim[i]];
  return shape;
}

// ---- checks ----

template <class F>
aclnnStatus ForEachDefined(const OperatorCall& call, const F& f) {
  for (int entry = 0; entry < call.Count(kIndices); ++entry) {
    const aclTensor& tensor = *call.Entry(kIndices, entry);
    if (tensor.shape.IsEmpty()) continue;
    if (const aclnnStatus status = f(tensor, entry)) return status;
  }
  return ACL_SUCCESS;
}

aclnnStatus IndexDtypes(const Check& check, OperatorCall& call) noexcept {
  return ForEachDefined(call, [&](const StridedView& tensor, int entry) -> aclnnStatus {
    if (kIndexDtypes.Contains(tensor.dtype)) return ACL_SUCCESS;
    Text message = StartMessage(call);
    AddArgumentDtype(message.Add("parameter "), call, kIndices, entry).Add(" is not supported, accepted: ");
    AddDtypeSet(message, kIndexDtypes);
    return FailAclnn(check.code, message.Add("."));
  });
}

aclnnStatus IndicesNotPrivate(const Check& check, OperatorCall& call) noexcept {
  return ForEachDefined(call, [&](const aclTensor& tensor, int entry) -> aclnnStatus {
    if (!IsPrivateFormat(tensor.format)) return ACL_SUCCESS;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, kIndices, entry).Add(" has the private format ");
    return FailAclnn(
        check.code,
        message.Add(static_cast<int>(tensor.format)).Add(", accepted: ND and other plain formats."));
  });
}

aclnnStatus RefuseList(const Check& check, const OperatorCall& call, const char* what) {
  return FailAclnn(check.code, StartMessage(call).Add("parameter indices ").Add(what).Add("."));
}

aclnnStatus MasksMatch(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  int dim = 0;
  bool has_mask = false;
  for (int entry = 0; entry < call.Count(kIndices); ++entry)
    has_mask = has_mask || (IsMask(call, entry) && !call.Entry(kIndices, entry)->shape.IsEmpty());
  if (!has_mask) return ACL_SUCCESS;
  for (int entry = 0; entry < call.Count(kIndices); ++entry) {
    const aclTensor& tensor = *call.Entry(kIndices, entry);
    if (tensor.shape.IsEmpty()) {
      ++dim;
      continue;
    }
    // aclnnIndexPutImpl checks integer indices beside a mask as if they were masks, as CANN does.
    if (!IsMask(call, entry) && !call.in_place) {
      ++dim;
      continue;
    }
    const int takes = std::max(tensor.shape.rank, 1);
    bool fits = tensor.shape.rank > 0;
    for (int i = 0; i < tensor.shape.rank; ++i)
      fits = fits && dim + i < self.rank && tensor.shape[i] == self[dim + i];
    if (!fits) {
      Text message = StartMessage(call);
      AddArgumentShape(message.Add("parameter "), call, kIndices, entry).Add(" does not match ");
      AddArgumentShape(message, call, kSelf).Add(" from dim ").Add(dim);
      return FailAclnn(check.code, message.Add(" on, accepted: the same lengths."));
    }
    dim += IsMask(call, entry) ? takes : 1;
  }
  return ACL_SUCCESS;
}

aclnnStatus DoneForScalar(const Check& check, OperatorCall& call) noexcept {
  if (call.Tensor(kSelf).shape.rank > 0) return ACL_SUCCESS;
  call.broadcast = Shape{};
  const Check shape = ShapeIsResultOrOne(kOther);
  (void)check;
  return shape.run(shape, call);
}

bool HasDims(const OperatorCall& call) noexcept { return call.Tensor(kSelf).shape.rank > 0; }

aclnnStatus RankOfResult(const Check& check, OperatorCall& call) noexcept {
  for (int entry = 0; entry < call.Count(kIndices); ++entry) {
    if (IsNone(call, entry)) continue;
    int count = 0;
    for (int i = 0; i < call.Count(kIndices); ++i) count += IsNone(call, i) ? 0 : 1;
    if (call.Entry(kIndices, entry)->shape.rank + call.Tensor(kSelf).shape.rank - count <= 8)
      return ACL_SUCCESS;
    return RefuseList(check, call, "names a result of more than 8 dims, accepted: at most 8");
  }
  return ACL_SUCCESS;
}

aclnnStatus ListFits(const Check& check, OperatorCall& call) noexcept {
  const Reading reading = Read(call);
  if (!reading.fits)
    return RefuseList(check, call, "takes more dims than self has, accepted: at most as many");
  if (!reading.broadcasts)
    return RefuseList(check, call, "has tensors that do not broadcast, accepted: those that do");
  if (reading.kept + reading.named.rank > 8 || reading.entries > engine::kMostIndices)
    return RefuseList(check, call, "names a result of more than 8 dims, accepted: at most 8");
  call.broadcast = NamedShape(call, reading);
  return ACL_SUCCESS;
}

// Ascend 950 accepts COMPLEX64 if all index tensors have one shape.
aclnnStatus ComplexTakesOneShape(const Check& check, OperatorCall& call) noexcept {
  if (call.Tensor(kSelf).dtype != ACL_COMPLEX64) return ACL_SUCCESS;
  const Reading reading = Read(call);
  if (!reading.has_mask && reading.one_shape) return ACL_SUCCESS;
  return RefuseList(
      check, call,
      "has masks or tensors of several shapes, of COMPLEX64, accepted: index tensors of one shape");
}

constexpr Check kIndexChecks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kOther),
    NotNull(kIndices),
    EntriesNotNull(kIndices),
    SameDtype(kSelf, kOther),
    DtypesIn(kIndexRule, {kSelf}),
    Custom(IndexDtypes),
    NotPrivate({kSelf, kOther}),
    Custom(IndicesNotPrivate),
    RankAtMost(8, {kSelf, kIndices}),
    SizesRepresentable({kOther}),
    DoneIfEmpty({kSelf, kOther}),
    If(HasDims, Custom(RankOfResult)),
    If(HasDims, Custom(MasksMatch)),
    Custom(DoneForScalar),
    If(HasDims, Custom(ListFits)),
    If(HasDims, ShapeIsResult(kOther)),
    InsideStorage({kSelf, kIndices}),
    Custom(ComplexTakesOneShape, ACLNN_ERR_INNER_NULLPTR),
};

aclnnStatus CountFits(const Check& check, OperatorCall& call) noexcept {
  if (call.Count(kIndices) <= call.Tensor(kSelf).shape.rank) return ACL_SUCCESS;
  return RefuseList(check, call, "has more tensors than self dims, accepted: at most as many");
}

aclnnStatus DoneWithoutIndices(const Check&, OperatorCall& call) noexcept {
  bool is_defined = false;
  for (int entry = 0; entry < call.Count(kIndices); ++entry) is_defined = is_defined || !IsNone(call, entry);
  if (!is_defined) call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

aclnnStatus ValuesFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& values = call.Tensor(kOther).shape;
  Shape both;
  if (BroadcastShapes(call.broadcast, values, &both) && both == call.broadcast) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kOther)
      .Add(" does not broadcast to what indices names, ");
  AddShape(message, call.broadcast);
  return FailAclnn(check.code, message.Add(", accepted: a shape that does."));
}

constexpr Check kPutChecks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kOther),
    NotNull(kIndices),
    EntriesNotNull(kIndices),
    DtypesIn(kPutRule, {kSelf, kOther}),
    Custom(IndexDtypes),
    SameDtype(kSelf, kOther),
    RankAtMost(8, {kSelf}),
    Custom(CountFits),
    Custom(MasksMatch),
    SizesRepresentable({kSelf}),
    DoneIfEmpty({kSelf, kOther}),
    Custom(DoneWithoutIndices),
    Custom(ListFits),
    Custom(ValuesFit, ACLNN_ERR_INNER_NULLPTR),
    InsideStorage({kOther, kIndices}),
};

// ---- ops ----

int CountMasks(const OperatorCall& call) {
  int masks = 0;
  for (int entry = 0; entry < call.Count(kIndices); ++entry) masks += IsMask(call, entry) ? 1 : 0;
  return masks;
}

// Returns views of a tensor of self's shape over the indexed elements. Adds ops that find the true elements
// of masks.
TargetViews ViewsOf(const OperatorCall& call, const Reading& reading, const Shape& shape,
                    const StridedView& whole, OpList& ops) {
  TargetViews views;
  const aclTensor& self = call.Tensor(kSelf);
  views.indexed.dtype = whole.dtype;
  views.indexed.offset = whole.offset;
  views.indexed.shape = shape;
  views.indexed.strides.rank = shape.rank;
  const int named = reading.named.rank;
  for (int i = 0; i < shape.rank; ++i) {
    const int kept = i < reading.at ? i : i - named;
    const bool is_named = i >= reading.at && i < reading.at + named;
    views.indexed.strides.dim[i] = is_named ? 0 : whole.strides[reading.kept_dim[kept]];
  }
  views.indexed.Describe();
  for (int k = 0; k < reading.entries; ++k) {
    const int entry = reading.entry[k];
    StridedView& view = views.index[k];
    view = PlainView(*call.Entry(kIndices, entry));
    engine::IndexView& one = views.named[k];
    one = {nullptr, call.OperandOf(kIndices, entry), call.Name(kIndices),          entry,
           true,    self.shape[reading.dim[k]],      whole.strides[reading.dim[k]]};
    if (IsMask(call, entry)) {
      const int64_t length = reading.named[named - 1];
      engine::BufferRef mask{one.operand, view.offset};
      if (!IsContiguous(view)) {
        const StridedView dense = DenseTensor(view.shape, ACL_BOOL);
        mask = ops.Workspace(view.numel);
        ops.Copy(view, OperandBuffer(one.operand), dense, mask);
      }
      int64_t stride[kMaxDims];
      for (int i = 0; i < view.shape.rank; ++i) stride[i] = ByteStride(whole, reading.dim[k] + i);
      const engine::BufferRef offsets = ops.Workspace(length * int64_t{sizeof(int64_t)});
      ops.FindTrue(mask, view, offsets, length, stride, reading.is_open ? -1 : entry);
      view = DenseTensor(Shape{length}, ACL_INT64);
      view.offset = offsets.offset / int64_t{sizeof(int64_t)};
      one.operand = engine::BufferRef::kWorkspace;
      one.bound = engine::IndexedMove::kOffsets;
    }
    // Aligns the index's dims on the right of the indexed dims. All other dims repeat it.
    Shape strides;
    strides.rank = shape.rank;
    one.repeated = 0;
    for (int i = 0; i < shape.rank; ++i) {
      const int own = i - reading.at - (named - view.shape.rank);
      const bool walks = i >= reading.at && i < reading.at + named && own >= 0 && view.shape[own] != 1;
      strides.dim[i] = walks ? view.strides[own] : 0;
      if (!walks) one.repeated |= engine::DimBits(i, 1);
    }
    view.shape = shape;
    view.strides = strides;
  }
  views.count = reading.entries;
  return views;
}

void SetIndex(const OperatorCall& call, Executor& executor) {
  OpList ops(executor, 1 + 2 * CountMasks(call));
  const StridedView self = PlainView(call.Tensor(kSelf));
  const StridedView out = PlainView(call.Tensor(kOther));
  const int out_operand = call.OperandOf(kOther);
  const Reading reading = self.shape.rank > 0 ? Read(call) : Reading{};
  if (reading.entries == 0) {
    StridedView from = self;
    if (self.numel == 1) from.shape = Shape{};
    ops.Copy(from, OperandBuffer(kSelf), out, OperandBuffer(out_operand));
    return ops.SetJob();
  }
  TargetViews views = ViewsOf(call, reading, out.shape, self, ops);
  for (int k = 0; k < views.count; ++k) views.named[k].view = &views.index[k];
  ops.Indexed(engine::IndexedAction::kTake, out, OperandBuffer(out_operand), views.indexed,
              OperandBuffer(kSelf), views.named, views.count);
  ops.SetJob();
}

// Tells whether the call is a masked fill: one mask over all dims, and one value. This is faster, since it
// collects no positions. Its loop also rewrites elements where the mask is false, so no element may occur
// twice. Contiguous tensors merge to few dims.
bool IsMaskedFill(const OperatorCall& call) {
  if (call.Count(kIndices) != 1 || !IsMask(call, 0) || call.Tensor(kOther).numel != 1) return false;
  const aclTensor& mask = *call.Entry(kIndices, 0);
  const aclTensor& self = call.Tensor(kSelf);
  return mask.shape == self.shape && IsContiguous(mask) && IsContiguous(self);
}

void SetMaskedFill(const OperatorCall& call, Executor& executor) {
  const aclTensor self = AsTensor(PlainView(call.Tensor(kSelf)));
  const aclTensor mask = AsTensor(PlainView(*call.Entry(kIndices, 0)));
  aclTensor value = AsTensor(PlainView(call.Tensor(kOther)));
  value.shape = Shape{};
  value.strides = {};
  value.Describe();
  TensorArgument tensors[3];
  tensors[kFilled] = {call.Name(kSelf), &self};
  tensors[kMask] = {call.Name(kIndices), &mask};
  tensors[kValue] = {call.Name(kOther), &value};
  OperatorCall fill = call;
  fill.tensors = tensors;
  fill.promoted = self.dtype;
  SetMaskedFillJob(fill, executor);
}

void SetPut(const OperatorCall& call, bool accumulates, Executor& executor) {
  if (!accumulates && IsMaskedFill(call)) return SetMaskedFill(call, executor);
  OpList ops(executor, 3 + 2 * CountMasks(call));
  const Reading reading = Read(call);
  const Shape& shape = call.broadcast;
  if (shape.IsEmpty()) return;
  const StridedView self = PlainView(call.Tensor(kSelf));
  StridedView values = PlainView(call.Tensor(kOther));
  while (values.shape.rank < shape.rank) InsertDim(values, 0, 1, 0);
  for (int i = 0; i < shape.rank; ++i) {
    if (values.shape[i] != shape[i]) Expand(values, i, shape[i]);
  }
  const auto action = accumulates ? engine::IndexedAction::kAdd : engine::IndexedAction::kPut;
  ScatterInto(
      ops, action, values, OperandBuffer(call.OperandOf(kOther)), nullptr, {}, self, OperandBuffer(kSelf),
      [&](const StridedView& whole) { return ViewsOf(call, reading, shape, whole, ops); }, nullptr,
      /*may_be_rows=*/!reading.has_mask);
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnIndex) { return RunPhase1(call, kIndexChecks, workspaceSize, executor, SetIndex); }

PORTACL_PHASE_1(aclnnIndexPutImpl) {
  return RunPhase1(
      call, kPutChecks, workspaceSize, executor,
      [&](const OperatorCall& checked, Executor& fresh) { SetPut(checked, given.accumulate, fresh); });
}
