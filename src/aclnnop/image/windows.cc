// Sliding windows: aclnnIm2col copies windows of images to columns of a matrix, aclnnCol2im sums such columns
// back, and aclnnUnfoldGrad is the gradient of windows along one dim.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/image/windows_functions.h"

#include <algorithm>
#include <limits>

#include "aclnnop/phase1.h"
#include "base/errors.h"
#include "contract/arguments.h"
#include "engine/resample/axes.h"
#include "plan/views.h"

namespace portacl {
namespace {

using engine::AxisMap;

enum Tensors { kIn, kOut };
enum Im2colAttributes { kKernelSize, kDilation, kPadding, kStride, kInputSize };
enum UnfoldAttributes { kInputSizes, kDim, kSize, kStep };

constexpr DtypeRule kIm2colDtypes =
    Everywhere(kFloatHalfAndBf16)
        .On(products::kAscend950,
            kRealArithmetic | kBf16 | kUnsignedSince16Bits | DtypeSet{ACL_COMPLEX32, ACL_COMPLEX64});
constexpr DtypeRule kCol2imDtypes = kBf16SinceAtlasA2;
constexpr DtypeRule kUnfoldDtypes = Everywhere(kFloatHalfAndBf16);

// ---- windows of images ----

// Returns the number of windows along one of the last two dims (0: rows, 1: columns) of an image of this
// length. It is less than 1 where none fits, or where the sizes overflow.
int64_t WindowsAlong(const OperatorCall& call, size_t axis, int64_t length) {
  int64_t reach = 0;
  int64_t padded = 0;
  int64_t room = 0;
  if (__builtin_mul_overflow(call.Array(kDilation)[axis], call.Array(kKernelSize)[axis] - 1, &reach) ||
      __builtin_mul_overflow(call.Array(kPadding)[axis], int64_t{2}, &padded) ||
      __builtin_add_overflow(padded, length, &padded) || __builtin_sub_overflow(padded, reach, &room) ||
      __builtin_sub_overflow(room, int64_t{1}, &room)) {
    return std::numeric_limits<int64_t>::min();
  }
  const int64_t stride = call.Array(kStride)[axis];
  return room / stride + (room % stride < 0 ? 0 : 1);
}

// Multiplies numbers that are not negative. Returns -1 on overflow.
int64_t Product(std::initializer_list<int64_t> factors) {
  int64_t product = 1;
  for (const int64_t factor : factors) {
    if (__builtin_mul_overflow(product, factor, &product)) return -1;
  }
  return product;
}

aclnnStatus PairsOfSizes(const Check& check, OperatorCall& call) noexcept {
  for (int attribute = kKernelSize; attribute < static_cast<int>(call.attributes.size()); ++attribute) {
    if (call.Array(attribute).size() != 2)
      return RefuseArray(check, call, attribute, " does not have two values", "2 values");
  }
  for (const int attribute : {kKernelSize, kDilation, kStride, kPadding}) {
    const auto& values = call.Array(attribute);
    const int64_t least = attribute == kPadding ? 0 : 1;
    if (std::min(values[0], values[1]) >= least) continue;
    return RefuseArray(check, call, attribute, " has a value out of range",
                       attribute == kPadding ? "at least 0 each" : "at least 1 each");
  }
  return ACL_SUCCESS;
}

aclnnStatus ImageHasElements(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kIn).shape;
  for (int dim = self.rank - 3; dim < self.rank; ++dim) {
    if (self[dim] > 0) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, kIn);
    return FailAclnn(check.code, message.Add(" is empty, accepted: a batch of 0, no other dim."));
  }
  return ACL_SUCCESS;
}

aclnnStatus RefuseWindows(const Check& check, const OperatorCall& call) {
  return RefuseArray(check, call, kKernelSize, " reaches past the padded image, by dilation",
                     "a window that fits");
}

aclnnStatus ShapeOfColumns(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kIn).shape;
  const int first = self.rank - 3;
  const int64_t rows = WindowsAlong(call, 0, self[first + 1]);
  const int64_t columns = WindowsAlong(call, 1, self[first + 2]);
  if (rows < 1 || columns < 1) return RefuseWindows(check, call);
  const auto& kernel = call.Array(kKernelSize);
  call.broadcast = self;
  call.broadcast.rank = self.rank - 1;
  call.broadcast.dim[first] = Product({self[first], kernel[0], kernel[1]});
  call.broadcast.dim[first + 1] = Product({rows, columns});
  return ACL_SUCCESS;
}

aclnnStatus OneDimMore(const Check& check, OperatorCall& call) noexcept {
  const int rank = call.Tensor(kIn).shape.rank + 1;
  if (call.Tensor(kOut).shape.rank == rank) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kOut)
      .Add(" has another rank than the images, accepted: ")
      .Add(rank);
  return FailAclnn(check.code, message.Add(" dims."));
}

aclnnStatus ShapeOfImage(const Check& check, OperatorCall& call) noexcept {
  const Shape& columns = call.Tensor(kIn).shape;
  const auto& size = call.Array(kInputSize);
  const auto& kernel = call.Array(kKernelSize);
  const int first = columns.rank - 2;
  const int64_t window = Product({kernel[0], kernel[1]});
  if (window < 1 || columns[first] % window != 0) {
    return RefuseArray(check, call, kKernelSize, " does not divide the dim before the last of gradOutput",
                       "sizes whose product does");
  }
  const int64_t high = WindowsAlong(call, 0, size[0]);
  const int64_t wide = WindowsAlong(call, 1, size[1]);
  if (std::min(high, wide) < 0 || Product({high, wide}) != columns[first + 1]) {
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, kIn)
        .Add(" has another number of columns than there are windows, accepted: ");
    return FailAclnn(check.code, message.Add(high).Add(" by ").Add(wide).Add(" of them."));
  }
  call.broadcast = columns;
  call.broadcast.rank = columns.rank + 1;
  call.broadcast.dim[first] = columns[first] / window;
  call.broadcast.dim[first + 1] = size[0];
  call.broadcast.dim[first + 2] = size[1];
  return ACL_SUCCESS;
}

constexpr Check kIm2colChecks[] = {
    NotNull(kIn),  // in CANN's order
    ArrayNotNull(kKernelSize),
    ArrayNotNull(kDilation),
    ArrayNotNull(kPadding),
    ArrayNotNull(kStride),
    NotNull(kOut),
    DtypesIn(kIm2colDtypes, {kIn}),
    RankAtLeast(3, {kIn}),
    RankAtMost(4, {kIn}),
    Custom(ImageHasElements),
    Custom(PairsOfSizes),
    SizesRepresentable({kOut}),
    Custom(ShapeOfColumns),
    ShapeIsResult(kOut),
    DoneIfEmpty({kIn}),
    InsideStorage({kIn}),
    Converts(kIn, kOut, kConvertible),
};

constexpr Check kCol2imChecks[] = {
    NotNull(kIn),  // in CANN's order
    ArrayNotNull(kInputSize),
    ArrayNotNull(kKernelSize),
    ArrayNotNull(kDilation),
    ArrayNotNull(kPadding),
    ArrayNotNull(kStride),
    NotNull(kOut),
    DtypesIn(kCol2imDtypes, {kIn, kOut}),
    RankAtLeast(2, {kIn}),
    RankAtMost(3, {kIn}),
    Custom(OneDimMore),
    Custom(PairsOfSizes),
    SizesRepresentable({kOut}),
    Custom(ShapeOfImage),
    ShapeIsResult(kOut),
    DoneIfEmpty({kIn}),
    InsideStorage({kIn}),
};

// An image and its windows as columns. `rows` maps (kernel row, window row) to rows of the image; `columns`
// maps columns likewise.
struct Columns {
  StridedView image;
  StridedView matrix;  // channels apart
  AxisMap rows;
  AxisMap columns;

  Columns(const OperatorCall& call, const StridedView& image_argument, const StridedView& matrix_argument)
      : image(PlainView(image_argument)), matrix(PlainView(matrix_argument)) {
    const auto& kernel = call.Array(kKernelSize);
    const int last = matrix.shape.rank - 1;
    const int64_t stride_of_kernel = matrix.strides[last - 1];
    const int64_t stride_of_window = matrix.strides[last];
    SplitDim(matrix, last - 1, kernel[0] * kernel[1]);
    rows = MapOf(call, 0);
    columns = MapOf(call, 1);
    rows.outer_stride = kernel[1] * stride_of_kernel;
    rows.inner_stride = columns.inner * stride_of_window;
    columns.outer_stride = stride_of_kernel;
    columns.inner_stride = stride_of_window;
  }

  AxisMap MapOf(const OperatorCall& call, size_t axis) const {
    const int dim = image.shape.rank - 2 + static_cast<int>(axis);
    AxisMap map;
    map.kind = AxisMap::Kind::kWindows;
    map.length = image.shape[dim];
    map.index_stride = image.strides[dim];
    map.outer = call.Array(kKernelSize)[axis];
    map.inner = WindowsAlong(call, axis, map.length);
    map.first = -call.Array(kPadding)[axis];
    map.outer_step = call.Array(kDilation)[axis];
    map.inner_step = call.Array(kStride)[axis];
    return map;
  }
};

void SetIm2col(const OperatorCall& call, Executor& executor) {
  const Columns parts(call, call.Tensor(kIn), call.Tensor(kOut));
  executor.SetJob([&] {
    return engine::MakeTakeJob(executor, {&parts.image, kIn, &parts.matrix, kOut, parts.image.shape.rank - 2},
                               parts.rows, parts.columns, call.isa, call.threads);
  });
}

void SetCol2im(const OperatorCall& call, Executor& executor) {
  const Columns parts(call, call.Tensor(kOut), call.Tensor(kIn));
  executor.SetJob([&] {
    return engine::MakeSumJob(executor, {&parts.matrix, kIn, &parts.image, kOut, parts.image.shape.rank - 2},
                              parts.rows, parts.columns, engine::Direction::kFromPositions, call.isa,
                              call.threads);
  });
}

// ---- windows along a dim ----

aclnnStatus SizesForDims(const Check& check, OperatorCall& call) noexcept {
  const int rank = call.Tensor(kIn).shape.rank;
  if (static_cast<int>(call.Array(kInputSizes).size()) != rank - 1)
    return RefuseArray(check, call, kInputSizes, " does not have a value for each dim of gradIn",
                       "one less than gradOut has dims");
  const auto& sizes = call.Array(kInputSizes);
  call.broadcast.rank = rank - 1;
  std::copy(sizes.begin(), sizes.end(), call.broadcast.dim);
  return ACL_SUCCESS;
}

aclnnStatus DimOfWindows(const Check& check, OperatorCall& call) noexcept {
  const int rank = call.Tensor(kIn).shape.rank;
  const int64_t dim = call.attributes[kDim].integer;
  if (dim >= 0 && dim <= rank - 2) return ACL_SUCCESS;
  return RefuseInteger(check, call, "dim", dim, 0, rank - 2);
}

aclnnStatus WindowsAsCut(const Check& check, OperatorCall& call) noexcept {
  const Shape& sizes = call.Tensor(kOut).shape;
  const auto dim = static_cast<int>(call.attributes[kDim].integer);
  const int64_t size = call.attributes[kSize].integer;
  if (size > sizes[dim]) return RefuseInteger(check, call, "size", size, 1, sizes[dim]);
  call.broadcast = sizes;
  call.broadcast.rank = sizes.rank + 1;
  call.broadcast.dim[dim] = (sizes[dim] - size) / call.attributes[kStep].integer + 1;
  call.broadcast.dim[sizes.rank] = size;
  return ACL_SUCCESS;
}

constexpr Check kUnfoldChecks[] = {
    WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kIn)),  // in CANN's order
    WithCode(ACLNN_ERR_INNER_NULLPTR, ArrayNotNull(kInputSizes)),
    WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kOut)),
    DtypesIn(kUnfoldDtypes, {kIn, kOut}),
    RankAtLeast(1, {kIn, kOut}),
    RankAtMost(8, {kIn, kOut}),
    Custom(SizesForDims),
    ShapeIsResult(kOut),
    Custom(DimOfWindows),
    IntegerIn(kSize, 1, std::numeric_limits<int64_t>::max()),
    IntegerIn(kStep, 1, std::numeric_limits<int64_t>::max()),
    NotPrivate({kIn, kOut}),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kIn, kOut}),
    WithCode(ACLNN_ERR_INNER_NULLPTR, SameDtype(kIn, kOut)),
    Custom(WindowsAsCut),
    ShapeIsResult(kIn),
    InsideStorage({kIn}),
};

// Longer windows are walked one after the other. Shorter ones are walked all together, one position within
// the window at a time. Each element of gradIn adds its windows in the same order either way.
constexpr int64_t kLongWindow = 256;

void SetUnfold(const OperatorCall& call, Executor& executor) {
  StridedView windows = PlainView(call.Tensor(kIn));
  StridedView result = PlainView(call.Tensor(kOut));
  const int rank = result.shape.rank;
  const auto cut = static_cast<int>(call.attributes[kDim].integer);
  const int64_t size = call.attributes[kSize].integer;
  const int64_t step = call.attributes[kStep].integer;
  const int64_t stride_of_position = windows.strides[rank];

  AxisMap map;
  map.kind = AxisMap::Kind::kWindows;
  map.length = result.shape[cut];
  map.index_stride = result.strides[cut];
  if (size > kLongWindow / std::min(step, kLongWindow)) {
    map.outer = windows.shape[cut];
    map.inner = size;
    map.outer_step = step;
    map.outer_stride = windows.strides[cut];
    map.inner_stride = stride_of_position;
  } else {
    map.outer = size;
    map.inner = windows.shape[cut];
    map.first = size - 1;
    map.outer_step = -1;
    map.inner_step = step;
    map.outer_stride = -stride_of_position;
    map.inner_stride = windows.strides[cut];
    windows.offset += (size - 1) * stride_of_position;
  }
  // The last of the other dims becomes the second axis.
  const int other = cut == rank - 1 ? rank - 2 : rank - 1;
  AxisMap plain;
  if (other >= 0) {
    plain.inner = plain.length = result.shape[other];
    plain.inner_stride = windows.strides[other];
    plain.index_stride = result.strides[other];
  }
  const bool cuts_columns = cut == rank - 1;
  int order[kFewDims];
  int batch_rank = 0;
  for (int dim = 0; dim < rank; ++dim) {
    if (dim != cut && dim != other) order[batch_rank++] = dim;
  }
  int next = batch_rank;
  if (other >= 0) order[next++] = other;
  order[next++] = cut;
  Permute(result, order);
  order[next] = rank;
  Permute(windows, order);
  executor.SetJob([&] {
    return engine::MakeSumJob(executor, {&windows, kIn, &result, kOut, batch_rank},
                              cuts_columns ? plain : map, cuts_columns ? map : plain,
                              engine::Direction::kFromPositions, call.isa, call.threads);
  });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnIm2col) { return RunPhase1(call, kIm2colChecks, workspaceSize, executor, SetIm2col); }

PORTACL_PHASE_1(aclnnIm2colBackward) {
  return RunPhase1(call, kCol2imChecks, workspaceSize, executor, SetCol2im);
}

PORTACL_PHASE_1(aclnnUnfoldGrad) {
  return RunPhase1(call, kUnfoldChecks, workspaceSize, executor, SetUnfold);
}
