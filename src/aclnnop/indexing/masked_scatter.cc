// aclnnInplaceMaskedScatter: where a mask is true, takes the next element of another tensor.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/indexing/masked_scatter_functions.h"

#include "aclnnop/jobs/op_list.h"
#include "base/errors.h"
#include "contract/arguments.h"
#include "contract/broadcast.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kMask, kSource };

constexpr DtypeRule kDtypes = WithBf16SinceAtlasA2(kRealArithmetic);
constexpr DtypeSet kMaskDtypes{ACL_UINT8, ACL_BOOL};

// CANN compares as many leading dims as self has. A self without dims takes a mask of one element.
aclnnStatus MaskFits(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  const Shape& mask = call.Tensor(kMask).shape;
  Shape both;
  if (BroadcastShapes(self, mask, &both) && both == self) return ACL_SUCCESS;
  if (self.rank == 0 && mask == Shape{1}) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kMask).Add(" does not broadcast to ");
  AddArgumentShape(message, call, kSelf);
  return FailAclnn(check.code, message.Add(", accepted: a shape that does."));
}

constexpr Check kChecks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kMask),
    NotNull(kSource),
    DtypesIn(kDtypes, {kSelf}),
    DtypesIn(kMaskDtypes, {kMask}),
    SameDtype(kSelf, kSource),
    RankAtMost(8, {kSelf, kMask, kSource}),
    Custom(MaskFits),
    SizesRepresentable({kSelf}),
    DoneIfEmpty({kSelf, kMask}),
    InsideStorage({kMask, kSource}),
};

void SetMaskedScatter(const OperatorCall& call, Executor& executor) {
  const StridedView self = PlainView(call.Tensor(kSelf));
  StridedView mask = PlainView(call.Tensor(kMask));
  StridedView source = PlainView(call.Tensor(kSource));
  const auto size = static_cast<int64_t>(aclDataTypeSize(self.dtype));
  OpList ops(executor, 5);
  if (self.shape.rank == 0) mask = DenseTensor(Shape{}, mask.dtype), mask.offset = call.Tensor(kMask).offset;
  const StridedView dense_mask = DenseTensor(self.shape, ACL_BOOL);
  engine::BufferRef mask_buffer{kMask, mask.offset};
  if (!IsContiguous(mask) || !(mask.shape == self.shape)) {
    mask_buffer = ops.Workspace(self.numel);
    ops.Copy(mask, OperandBuffer(kMask), dense_mask, mask_buffer);
  }
  engine::BufferRef source_buffer = OperandBuffer(kSource);
  const int64_t given = source.shape.IsEmpty() ? 0 : source.numel;
  if (given == 0) {
    source_buffer =
        mask_buffer;  // never read; the address of an empty source may be null, so it is not required
  } else if (!IsContiguous(source)) {
    const StridedView dense = DenseTensor(source.shape, source.dtype);
    source_buffer = ops.Workspace(given * size);
    ops.Copy(source, OperandBuffer(kSource), dense, source_buffer);
  } else {
    source_buffer.offset = ByteOffset(source);
  }
  const bool is_copied = !IsContiguous(self);
  const StridedView dense_self = DenseTensor(self.shape, self.dtype);
  engine::BufferRef target = {kSelf, ByteOffset(self)};
  if (is_copied) {
    target = ops.Workspace(self.numel * size);
    ops.Copy(self, OperandBuffer(kSelf), dense_self, target);
  }
  ops.Unpack(dense_mask, mask_buffer, source_buffer, given, target, static_cast<int32_t>(size),
             call.Name(kSource));
  if (is_copied) ops.Copy(dense_self, target, self, OperandBuffer(kSelf));
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnInplaceMaskedScatter) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetMaskedScatter);
}
