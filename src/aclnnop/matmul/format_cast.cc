// aclnnNpuFormatCast, which gives a tensor the format FRACTAL_NZ or ND, and the function that returns the storage that
// such a tensor has on an NPU. Elements stay in the order of the view.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/format_cast_functions.h"

#include "aclnnop/aclnn_npu_format_cast.h"

#include <algorithm>
#include <memory>

#include "acl/device/device.h"
#include "aclnnop/jobs/op_list.h"
#include "aclnnop/phase1.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "base/log.h"
#include "contract/arguments.h"
#include "plan/views.h"

namespace portacl {
namespace {

enum Tensors { kSource, kDestination };

constexpr int64_t kBlockRows = 16;
constexpr int64_t kBlockBits = 256;  // of a row of a block
constexpr int kLeastRank = 2;
constexpr int kMostRank = 6;
constexpr DtypeSet kCasts{ACL_INT8, ACL_UINT8, ACL_INT32, ACL_UINT32, ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
constexpr DtypeSet kNewCasts =
    kCasts | DtypeSet{ACL_FLOAT8_E4M3FN, ACL_HIFLOAT8, ACL_FLOAT4_E2M1, ACL_FLOAT4_E1M2};
constexpr DtypeRule kDtypes = ByGeneration({}, kCasts, kNewCasts);

bool IsOn950(Product product) { return product == Product::kAscend950; }
bool IsPlain(aclFormat format) { return format == ACL_FORMAT_ND || format == ACL_FORMAT_NCL; }
bool IsImage(aclFormat format) { return format == ACL_FORMAT_NCHW || format == ACL_FORMAT_NCDHW; }

// Returns the columns of a block, 0 for formats that are not FRACTAL_NZ.
int64_t BlockColumns(aclFormat format, aclDataType dtype) {
  switch (format) {
    case ACL_FORMAT_FRACTAL_NZ:
      return StorageBits(dtype) == 0 ? 0 : kBlockBits / static_cast<int64_t>(StorageBits(dtype));
    case ACL_FORMAT_FRACTAL_NZ_C0_16:
      return 16;
    case ACL_FORMAT_FRACTAL_NZ_C0_32:
      return 32;
    case ACL_FORMAT_FRACTAL_NZ_C0_2:
      return 2;
    case ACL_FORMAT_FRACTAL_NZ_C0_4:
      return 4;
    default:
      return 0;
  }
}
int64_t Blocks(int64_t length, int64_t of) { return of < 1 ? 0 : length / of + (length % of == 0 ? 0 : 1); }

// Returns the dims of FRACTAL_NZ: blocks of columns, blocks of rows, then the rows and columns of a block.
Shape FractalDims(const Shape& view, int64_t columns) {
  Shape dims = view;
  const int rank = view.rank;
  dims.dim[rank - 2] = Blocks(view[rank - 1], columns);
  dims.dim[rank - 1] = Blocks(view[rank - 2], kBlockRows);
  dims.dim[rank] = kBlockRows;
  dims.dim[rank + 1] = columns;
  dims.rank = rank + 2;
  return dims;
}
bool HasDimBelow(const Shape& shape, int64_t least) {
  return std::any_of(shape.dim, shape.dim + shape.rank, [=](int64_t dim) { return dim < least; });
}

// ---- the storage ----

constexpr const char* kApi = "aclnnNpuFormatCastCalculateSizeAndFormat";

aclnnStatus Refuse(const char* parameter, const char* accepted, aclnnStatus code = ACLNN_ERR_PARAM_INVALID) {
  return FailAclnn(code,
                   Text(kApi, ": parameter ", parameter, " is not supported, accepted: ", accepted, "."));
}

struct Target {
  int64_t columns = 0;
  int format = 0;  // 0: is not said
};

// Finds the private format and its block width for the tensor's numbers as `dtype`.
aclnnStatus FindTarget(const aclTensor& source, aclDataType dtype, Target& target) {
  const Shape& view = source.shape;
  const auto bits = static_cast<int64_t>(StorageBits(dtype));
  if (bits == 0) return Refuse("additionalDtype", "a dtype that has a size, or -1");
  const bool is_own = dtype == source.dtype;
  if (!IsOn950(CurrentProduct())) {
    if (HasDimBelow(view, 1)) return Refuse("srcTensor", "a tensor with elements", ACLNN_ERR_RUNTIME_ERROR);
    if (view.rank < kLeastRank || view.rank > kMostRank) return Refuse("srcTensor", "2 to 6 dims");
    target = {kBlockBits / bits, ACL_FORMAT_FRACTAL_NZ};
    return target.columns > 0 ? ACL_SUCCESS : Refuse("additionalDtype", "a dtype of up to 32 bytes");
  }
  if (HasDimBelow(view, 1)) return Refuse("srcTensor", "a tensor with elements");
  if (view.rank < kLeastRank || view.rank > (is_own ? kMostRank : 3))
    return Refuse("srcTensor", "2 to 6 dims, with another additionalDtype 2 or 3");
  if (is_own) {
    const bool is_wide = DtypeSet(ACL_FLOAT, ACL_FLOAT16, ACL_BF16).Contains(dtype);
    if (is_wide && view[view.rank - 2] == 1) return Refuse("srcTensor", "more than one row");
    if (!is_wide && bits > 8) return Refuse("srcTensor", "floats, and types of 8 and 4 bits");
    target = {kBlockBits / bits, ACL_FORMAT_FRACTAL_NZ};
    return ACL_SUCCESS;
  }
  const bool fits =
      source.dtype == ACL_INT32 ? DtypeSet(ACL_FLOAT16, ACL_BF16, ACL_INT8).Contains(dtype)
      : source.dtype == ACL_FLOAT
          ? DtypeSet(ACL_FLOAT16, ACL_BF16, ACL_FLOAT8_E4M3FN, ACL_HIFLOAT8, ACL_UINT8).Contains(dtype)
          : true;
  if (!fits || bits < 8 || bits > 16)
    return Refuse("additionalDtype", "the types of 8 and 16 bits that go with srcTensor's");
  if (bits == 16) {
    target = {16, ACL_FORMAT_FRACTAL_NZ_C0_16};
  } else if (dtype == ACL_FLOAT8_E4M3FN || dtype == ACL_INT8) {
    target = {32, ACL_FORMAT_FRACTAL_NZ_C0_32};
  } else {
    target = {16, 0};
  }
  return ACL_SUCCESS;
}

// Checks that the storage of a tensor in FRACTAL_NZ has whole blocks.
bool HasBlocks(const aclTensor& tensor) {
  const Shape& storage = tensor.storage;
  return storage.rank >= 4 && storage.rank <= 8 && !HasDimBelow(storage, 1) &&
         storage[storage.rank - 1] == BlockColumns(tensor.format, tensor.dtype);
}

aclnnStatus Give(const Shape& dims, int64_t** shape, uint64_t* size) {
  auto values = std::unique_ptr<int64_t[]>(new (std::nothrow) int64_t[static_cast<size_t>(dims.rank) + 1]);
  if (values == nullptr) return FailAclnn(ACLNN_ERR_INNER_NULLPTR, Text(kApi, ": there is no memory."));
  for (int dim = 0; dim < dims.rank; ++dim) values[static_cast<size_t>(dim)] = dims[dim];
  *shape = values.release();
  *size = static_cast<uint64_t>(dims.rank);
  return ACL_SUCCESS;
}

// ---- the cast ----

constexpr Check Missing(int tensor) {
  Check check = NotNull(tensor);
  check.code = ACLNN_ERR_INNER_NULLPTR;
  return check;
}

aclnnStatus RefuseCast(const Check& check, const OperatorCall& call, int tensor, const char* accepted) {
  Text message = StartMessage(call).Add("parameter ").Add(call.Name(tensor)).Add(" has the format ");
  AddFormatName(message, call.Tensor(tensor).format);
  AddArgumentShape(message.Add(", "), call, tensor);
  return FailAclnn(check.code, message.Add(", accepted: ").Add(accepted).Add("."));
}

// Checks the form of FRACTAL_NZ that Ascend 950 converts to ND: the width of blocks fits the dtype, and the storage has
// the blocks of the view. Other products check neither; torch_npu gives 4-byte elements blocks of 16 columns there.
bool HasOwnBlocks(const aclTensor& tensor) {
  bool has_format = tensor.format == ACL_FORMAT_FRACTAL_NZ;
  switch (tensor.dtype) {
    case ACL_INT32:
    case ACL_FLOAT:
      has_format = true;
      break;
    case ACL_INT8:
    case ACL_UINT8:
      has_format |= tensor.format == ACL_FORMAT_FRACTAL_NZ_C0_16;
      [[fallthrough]];
    case ACL_FLOAT4_E2M1:
      has_format |= tensor.format == ACL_FORMAT_FRACTAL_NZ_C0_32;
      break;
    case ACL_HIFLOAT8:
      return false;
    default:
      break;
  }
  const Shape& view = tensor.shape;
  return has_format && view.rank >= kLeastRank && view.rank <= kMostRank &&
         tensor.storage == FractalDims(view, BlockColumns(tensor.format, tensor.dtype));
}

bool IsToFractal(const OperatorCall& call) noexcept {
  return BlockColumns(call.Tensor(kDestination).format, call.Tensor(kDestination).dtype) != 0;
}

aclnnStatus PairFits(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& from = call.Tensor(kSource);
  const aclTensor& to = call.Tensor(kDestination);
  const bool is_950 = IsOn950(call.product);
  if (to.dtype != from.dtype) return RefuseCast(check, call, kDestination, "srcTensor's dtype");
  const bool is_packed = StorageBits(from.dtype) == 4;
  const bool may_stride = is_950 && !is_packed && to.format == ACL_FORMAT_FRACTAL_NZ;
  if (!may_stride && !IsContiguous(PlainView(from)))
    return RefuseCast(check, call, kSource, "a contiguous tensor");
  if (!may_stride && !IsContiguous(PlainView(to)))
    return RefuseCast(check, call, kDestination, "a contiguous tensor");
  if (is_packed && (from.offset % 2 != 0 || to.offset % 2 != 0 || from.numel % 2 != 0))
    return RefuseCast(check, call, kSource, "whole bytes of 4-bit elements");
  if (IsToFractal(call)) {
    const bool is_source = IsPlain(from.format) || IsImage(from.format);
    if (!is_source) return RefuseCast(check, call, kSource, "ND, NCL, NCHW or NCDHW");
    if (!is_950 && to.format != ACL_FORMAT_FRACTAL_NZ)
      return RefuseCast(check, call, kDestination, "FRACTAL_NZ or ND");
    if (from.dtype == ACL_UINT32) return RefuseCast(check, call, kSource, "another type than UINT32");
    if (from.shape.rank < kLeastRank || from.shape.rank > kMostRank)
      return RefuseCast(check, call, kSource, "2 to 6 dims");
    const bool has_blocks = to.storage.rank == from.shape.rank + 2 && !HasDimBelow(to.storage, 1);
    if (!has_blocks)
      return RefuseCast(check, call, kDestination, "a storage of two dims more than srcTensor has");
    return ACL_SUCCESS;
  }
  if (BlockColumns(from.format, from.dtype) == 0 || !(IsPlain(to.format) || IsImage(to.format)))
    return RefuseCast(check, call, kDestination, "FRACTAL_NZ of a tensor in ND, or ND of one in FRACTAL_NZ");
  if (is_950 && !HasOwnBlocks(from))
    return RefuseCast(check, call, kSource, "a format of its dtype, and the storage of blocks that it has");
  if (!(from.shape == to.shape)) return RefuseCast(check, call, kDestination, "srcTensor's shape");
  return ACL_SUCCESS;
}

// Tells whether a tensor's storage holds this number of contiguous elements.
bool HasRoom(const aclTensor& tensor, int64_t elements) {
  int64_t room = 1;
  for (int dim = 0; dim < tensor.storage.rank; ++dim) {
    if (__builtin_mul_overflow(room, tensor.storage[dim], &room)) return true;
  }
  return tensor.offset >= 0 && tensor.offset <= room && elements <= room - tensor.offset;
}
// Checks that the elements fit into the destination's storage, and, if they are read from blocks, into the source's.
aclnnStatus StorageFits(const Check& check, OperatorCall& call) noexcept {
  const int64_t elements = call.Tensor(kSource).numel;
  if (!HasRoom(call.Tensor(kDestination), elements))
    return RefuseCast(check, call, kDestination, "a storage with room for srcTensor's elements");
  if (!IsToFractal(call) && !HasRoom(call.Tensor(kSource), elements))
    return RefuseCast(check, call, kSource, "a storage that holds its elements");
  return ACL_SUCCESS;
}

constexpr Check kChecks[] = {
    Missing(kSource),         Missing(kDestination),         DtypesIn(kDtypes, {kSource, kDestination}),
    RankAtMost(8, {kSource}), SizesRepresentable({kSource}), Custom(PairFits),
    Custom(StorageFits),      InsideStorage({kSource}),
};

// Copies the elements in the order of the view, and gives the destination its view and format.
void SetCast(const OperatorCall& call, Executor& executor) {
  const aclTensor& from = call.Tensor(kSource);
  auto& to = const_cast<aclTensor&>(call.Tensor(kDestination));
  if (IsToFractal(call)) {
    to.shape = from.shape;
    to.strides = from.shape;
    int64_t stride = 1;
    for (int dim = to.shape.rank - 1; dim >= 0; --dim) {
      to.strides.dim[dim] = stride;
      stride *= to.shape[dim];
    }
    to.Describe();
  }
  OpList ops(executor, 1);
  if (StorageBits(from.dtype) == 4) {
    const StridedView bytes = DenseTensor(Shape{from.numel / 2}, ACL_UINT8);
    ops.Copy(bytes, {kSource, from.offset / 2}, bytes, {kDestination, to.offset / 2});
  } else {
    const StridedView dense = DenseTensor(from.shape, from.dtype);
    ops.Copy(PlainView(from), OperandBuffer(kSource), dense, {kDestination, ByteOffset(to)});
  }
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnNpuFormatCast) { return RunPhase1(call, kChecks, workspaceSize, executor, SetCast); }

aclnnStatus aclnnNpuFormatCastCalculateSizeAndFormat(const aclTensor* srcTensor, const int dstFormat,
                                                     const int additionalDtype, int64_t** dstShape,
                                                     uint64_t* dstShapeSize, int* actualFormat) {
  const ApiScope scope(kApi);
  const Product product = CurrentProduct();
  if (!products::kSinceAtlasA2.Contains(product))
    return FailAclnn(ACLNN_ERR_PARAM_INVALID,
                     Text(kApi, ": the product has no such formats, accepted: Atlas A2, A3 and Ascend 950."));
  if (srcTensor == nullptr) return Refuse("srcTensor", "a tensor, not a null pointer");
  if (dstShape == nullptr || dstShapeSize == nullptr || actualFormat == nullptr)
    return Refuse("dstShape, dstShapeSize or actualFormat", "pointers that are not null");
  if (!kDtypes.For(product).Contains(srcTensor->dtype) && !kNewCasts.Contains(srcTensor->dtype))
    return Refuse("srcTensor", "floats of 4 to 32 bits, INT8, UINT8, INT32 and UINT32");
  const auto dtype = additionalDtype == -1 ? srcTensor->dtype : static_cast<aclDataType>(additionalDtype);
  const bool is_plain =
      IsPlain(srcTensor->format) || (IsImage(srcTensor->format) && dtype == srcTensor->dtype);
  if (is_plain && dstFormat == ACL_FORMAT_FRACTAL_NZ) {
    Target target;
    if (const aclnnStatus status = FindTarget(*srcTensor, dtype, target)) return status;
    if (const aclnnStatus status =
            Give(FractalDims(srcTensor->shape, target.columns), dstShape, dstShapeSize))
      return status;
    if (target.format != 0) *actualFormat = target.format;
    return ACL_SUCCESS;
  }
  if (BlockColumns(srcTensor->format, srcTensor->dtype) != 0 && dstFormat == ACL_FORMAT_ND) {
    const bool is_known =
        IsOn950(product) ? HasBlocks(*srcTensor) : srcTensor->format == ACL_FORMAT_FRACTAL_NZ;
    if (HasDimBelow(srcTensor->shape, 0)) return Refuse("srcTensor", "dims of 0 or more");
    if (!is_known) return Refuse("srcTensor", "a storage of whole blocks; before Ascend 950 in FRACTAL_NZ");
    if (const aclnnStatus status = Give(srcTensor->shape, dstShape, dstShapeSize)) return status;
    *actualFormat = ACL_FORMAT_ND;
    return ACL_SUCCESS;
  }
  return Refuse("dstFormat", "FRACTAL_NZ of a tensor in ND, or ND of one in FRACTAL_NZ",
                ACLNN_ERR_RUNTIME_ERROR);
}
