// aclnnInplacePut: writes to, or adds to, the elements of a flattened tensor that an index tensor names.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/indexing/put_functions.h"

#include <algorithm>

#include "aclnnop/indexing/accumulate.h"
#include "base/errors.h"
#include "plan/move_plan.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kIndex, kSource };
enum Attributes { kAccumulate };

// BF16 can be written, but not added to.
constexpr DtypeRule kPutDtypes = WithBf16SinceAtlasA2(kArithmetic);
constexpr DtypeRule kAddDtypes = Everywhere(kArithmetic);
constexpr DtypeSet kIndexDtypes{ACL_INT32, ACL_INT64};

aclnnStatus OneIndexEach(const Check& check, OperatorCall& call) noexcept {
  if (call.Tensor(kIndex).numel == call.Tensor(kSource).numel) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kIndex).Add(" does not go with ");
  AddArgumentShape(message, call, kSource);
  return FailAclnn(check.code, message.Add(", accepted: as many elements."));
}

aclnnStatus SelfHasWhatIsNamed(const Check& check, OperatorCall& call) noexcept {
  if (!call.Tensor(kSelf).shape.IsEmpty()) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kSelf);
  return FailAclnn(check.code,
                   message.Add(" is empty, accepted: a tensor with elements, or an empty index."));
}

constexpr Check kChecks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kIndex),
    NotNull(kSource),
    IfEqual(kAccumulate, 0, DtypesIn(kPutDtypes, {kSelf})),
    IfEqual(kAccumulate, 1, DtypesIn(kAddDtypes, {kSelf})),
    DtypesIn(kIndexDtypes, {kIndex}),
    SameDtype(kSelf, kSource),
    RankAtMost(8, {kSelf, kIndex}),
    SizesRepresentable({kSelf}),
    Custom(OneIndexEach),
    DoneIfEmpty({kIndex}),
    Custom(SelfHasWhatIsNamed),
    InsideStorage({kIndex, kSource}),
};

void SetPut(const OperatorCall& call, Executor& executor) {
  const StridedView self = PlainView(call.Tensor(kSelf));
  StridedView index = PlainView(call.Tensor(kIndex));
  StridedView source = PlainView(call.Tensor(kSource));
  const bool accumulates = call.attributes[kAccumulate].integer != 0;
  OpList ops(executor, 7);
  // Tensors of one shape are walked as they lie; otherwise each is flattened.
  engine::BufferRef index_buffer = OperandBuffer(kIndex);
  engine::BufferRef source_buffer = OperandBuffer(kSource);
  if (!(index.shape == source.shape)) {
    index_buffer = ops.Flatten(index, kIndex);
    source_buffer = ops.Flatten(source, kSource);
  }
  index.offset += index_buffer.offset / static_cast<int64_t>(aclDataTypeSize(index.dtype));
  // With several dims, an element's number does not determine its address by one stride, so a dense copy is
  // indexed.
  const StridedView merged = MergedDims(self);
  const bool is_half = self.dtype == ACL_FLOAT16 || self.dtype == ACL_BF16;
  const bool is_copied = merged.shape.rank > 1 && !(is_half && accumulates);
  StridedView target = merged;
  engine::BufferRef buffer = OperandBuffer(kSelf);
  if (is_copied) {
    target = DenseTensor(merged.shape, self.dtype);
    buffer = ops.Workspace(self.numel * static_cast<int64_t>(aclDataTypeSize(self.dtype)));
    ops.Copy(merged, OperandBuffer(kSelf), target, buffer);
  }
  ScatterInto(ops, accumulates ? engine::IndexedAction::kAdd : engine::IndexedAction::kPut, source,
              source_buffer, nullptr, {}, target, buffer, [&](const StridedView& whole) {
                TargetViews views;
                views.indexed = DenseTensor(source.shape, whole.dtype);
                views.indexed.offset = whole.offset;
                std::fill_n(views.indexed.strides.dim, source.shape.rank, 0);
                views.index[0] = index;
                views.named[0] = {.view = nullptr,
                                  .operand = index_buffer.operand,
                                  .name = call.Name(kIndex),
                                  .wraps = true,
                                  .bound = self.numel,
                                  .step = whole.shape.rank == 1 ? whole.strides[0] : 1};
                views.count = 1;
                return views;
              });
  if (is_copied) ops.Copy(target, buffer, merged, OperandBuffer(kSelf));
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnInplacePut) { return RunPhase1(call, kChecks, workspaceSize, executor, SetPut); }
