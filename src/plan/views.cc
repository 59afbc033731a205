// Views (see views.h).
// SPDX-License-Identifier: Apache-2.0
#include "plan/views.h"

#include "acl/data_type.h"

namespace portacl {

aclTensor PlainView(const aclTensor& tensor) noexcept {
  aclTensor view = tensor;
  if (!IsPrivateFormat(tensor.format)) return view;
  view.strides = RowMajorStrides(tensor.view);
  view.format = ACL_FORMAT_ND;
  view.Describe();
  return view;
}

void Narrow(aclTensor& view, int dim, int64_t start, int64_t length, int64_t step) noexcept {
  if (!view.view.IsEmpty()) view.offset += start * view.strides[dim];
  view.view.dim[dim] = length;
  view.strides.dim[dim] *= step;
  view.Describe();
}

void Permute(aclTensor& view, const int* order) noexcept {
  const Shape shape = view.view;
  const Shape strides = view.strides;
  for (int i = 0; i < shape.rank; ++i) {
    view.view.dim[i] = shape[order[i]];
    view.strides.dim[i] = strides[order[i]];
  }
  view.Describe();
}

void InsertDim(aclTensor& view, int at, int64_t length, int64_t stride) noexcept {
  for (int i = view.view.rank; i > at; --i) {
    view.view.dim[i] = view.view[i - 1];
    view.strides.dim[i] = view.strides[i - 1];
  }
  view.view.dim[at] = length;
  view.strides.dim[at] = stride;
  view.strides.rank = ++view.view.rank;
  view.Describe();
}

void Select(aclTensor& view, int dim, int64_t index) noexcept {
  if (!view.view.IsEmpty()) view.offset += index * view.strides[dim];
  for (int i = dim; i + 1 < view.view.rank; ++i) {
    view.view.dim[i] = view.view[i + 1];
    view.strides.dim[i] = view.strides[i + 1];
  }
  view.strides.rank = --view.view.rank;
  view.Describe();
}

void Expand(aclTensor& view, int dim, int64_t length) noexcept {
  view.view.dim[dim] = length;
  view.strides.dim[dim] = 0;
  view.Describe();
}

void SplitDim(aclTensor& view, int dim, int64_t inner) noexcept {
  const int64_t stride = view.strides[dim];
  view.view.dim[dim] /= inner;
  view.strides.dim[dim] *= inner;
  InsertDim(view, dim + 1, inner, stride);
}

void FillShape(aclTensor& view, const Shape& shape, int64_t stride) noexcept {
  view.view = shape;
  view.strides = RowMajorStrides(shape);
  for (int i = 0; i < shape.rank; ++i) view.strides.dim[i] *= stride;
  view.Describe();
}

}  // namespace portacl
