// Shared code of sorting operators (see ordered.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/sort/ordered.h"

#include <algorithm>

namespace portacl {
namespace {

// Views an output with as many dims as self.
StridedView AlongRows(const StridedView& output, const StridedView& self, int dim) {
  StridedView view = PlainView(output);
  const int rank = self.shape.rank;
  if (view.numel == 1) {
    view.shape.rank = view.strides.rank = rank;
    std::fill_n(view.shape.dim, rank, 1);
    std::fill_n(view.strides.dim, rank, 0);
  } else if (view.shape.rank < rank) {
    InsertDim(view, dim, 1, 0);
  }
  return view;
}

}  // namespace

aclnnStatus FitsDim(const Check& check, OperatorCall& call, int attribute, int dim, int64_t low) noexcept {
  const Attribute& k = call.attributes[static_cast<size_t>(attribute)];
  const aclTensor& self = call.Tensor(0);
  const int64_t most =
      LengthOf(self, WrappedDim(call.attributes[static_cast<size_t>(dim)].integer, self.shape.rank));
  if (k.integer >= low && k.integer <= most) return ACL_SUCCESS;
  return RefuseInteger(check, call, k.name, k.integer, low, most);
}

void AddOrdered(const OperatorCall& call, int dim, int values, int indices, const engine::SortRows& rows,
                OpList& ops) noexcept {
  const StridedView self = PlainView(call.Tensor(0));
  StridedView values_view;
  StridedView indices_view;
  if (values >= 0) values_view = AlongRows(call.Tensor(values), self, dim);
  if (indices >= 0) indices_view = AlongRows(call.Tensor(indices), self, dim);
  ops.SortRows(self, OperandBuffer(0), values >= 0 ? &values_view : nullptr, OperandBuffer(values),
               indices >= 0 ? &indices_view : nullptr, OperandBuffer(indices), dim, rows);
}

}  // namespace portacl
