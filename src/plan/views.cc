// Views (see views.h).
// SPDX-License-Identifier: Apache-2.0
#include "plan/views.h"

#include <algorithm>

namespace portacl {

namespace {

// Sets strides and the offset that no element depends on to values that can be multiplied and added.
void SettleUnread(StridedView& view) noexcept {
  if (view.shape.IsEmpty()) {
    view.offset = 0;
    std::fill_n(view.strides.dim, view.shape.rank, int64_t{0});
    return;
  }
  constexpr int64_t kMostBytesPerElement = 16;
  int64_t continued = 1;
  for (int i = view.shape.rank - 1; i >= 0; --i) {
    if (view.shape[i] == 1) view.strides.dim[i] = continued;
    int64_t bytes = 0;
    if (__builtin_mul_overflow(view.strides[i], view.shape[i], &continued) ||
        __builtin_mul_overflow(continued, kMostBytesPerElement, &bytes)) {
      continued = 0;
    }
  }
}

}  // namespace

StridedView PlainView(const StridedView& tensor) noexcept {
  StridedView view = tensor;
  if (tensor.is_dense) {
    view.strides = RowMajorStrides(tensor.shape);
    view.is_dense = false;
    view.Describe();
  }
  SettleUnread(view);
  return view;
}

void Narrow(StridedView& view, int dim, int64_t start, int64_t length, int64_t step) noexcept {
  if (!view.shape.IsEmpty()) view.offset += start * view.strides[dim];
  view.shape.dim[dim] = length;
  // A dim of length 1 takes no step, and the product could overflow.
  view.strides.dim[dim] = length > 1 ? view.strides[dim] * step : 0;
  view.Describe();
}

void Permute(StridedView& view, const int* order) noexcept {
  const Shape shape = view.shape;
  const Shape strides = view.strides;
  for (int i = 0; i < shape.rank; ++i) {
    view.shape.dim[i] = shape[order[i]];
    view.strides.dim[i] = strides[order[i]];
  }
  view.Describe();
}

void InsertDim(StridedView& view, int at, int64_t length, int64_t stride) noexcept {
  for (int i = view.shape.rank; i > at; --i) {
    view.shape.dim[i] = view.shape[i - 1];
    view.strides.dim[i] = view.strides[i - 1];
  }
  view.shape.dim[at] = length;
  view.strides.dim[at] = stride;
  view.strides.rank = ++view.shape.rank;
  view.Describe();
}

void Select(StridedView& view, int dim, int64_t index) noexcept {
  if (!view.shape.IsEmpty()) view.offset += index * view.strides[dim];
  for (int i = dim; i + 1 < view.shape.rank; ++i) {
    view.shape.dim[i] = view.shape[i + 1];
    view.strides.dim[i] = view.strides[i + 1];
  }
  view.strides.rank = --view.shape.rank;
  view.Describe();
}

void Expand(StridedView& view, int dim, int64_t length) noexcept {
  view.shape.dim[dim] = length;
  view.strides.dim[dim] = 0;
  view.Describe();
}

void SplitDim(StridedView& view, int dim, int64_t inner) noexcept {
  const int64_t stride = view.strides[dim];
  view.shape.dim[dim] /= inner;
  view.strides.dim[dim] *= inner;
  InsertDim(view, dim + 1, inner, stride);
}

void FillShape(StridedView& view, const Shape& shape, int64_t stride) noexcept {
  view.shape = shape;
  view.strides = RowMajorStrides(shape);
  for (int i = 0; i < shape.rank; ++i) {
    // Overflows only in a dim of one element, where the stride is not used.
    if (__builtin_mul_overflow(view.strides[i], stride, &view.strides.dim[i])) view.strides.dim[i] = 0;
  }
  view.Describe();
}

}  // namespace portacl
