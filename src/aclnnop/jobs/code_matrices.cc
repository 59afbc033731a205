// Operands of products of codes (see code_matrices.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/jobs/code_matrices.h"

#include <utility>

#include "aclnnop/jobs/grouped_operands.h"
#include "base/data_type.h"
#include "plan/views.h"

namespace portacl::matmul {

using dense::DenseOpList;
using engine::CodeMatrix;
using engine::CodeNumbers;
using engine::CodeScales;

StridedView OrderedView(const OperatorCall& call, int tensor, std::initializer_list<int> order) {
  StridedView view = PlainView(call.Tensor(tensor));
  Permute(view, order.begin());
  return view;
}

StridedView LinesOf(const OperatorCall& call, int tensor, bool terms_first) {
  StridedView view = grouped::InElements(call.Tensor(tensor));
  const int last = view.shape.rank - 1;
  if (terms_first) {
    std::swap(view.shape.dim[last - 1], view.shape.dim[last]);
    std::swap(view.strides.dim[last - 1], view.strides.dim[last]);
  }
  view.Describe();
  return view;
}

namespace {

// Tells whether elements along a dim are neighbours, or there is one alone.
bool IsSideBySide(const StridedView& view, int dim) { return view.strides[dim] == 1 || view.shape[dim] == 1; }

}  // namespace

bool LiesInBytes(const StridedView& lines) noexcept {
  if (lines.numel == 0) return true;
  const int last = lines.shape.rank - 1;
  const int inner = IsSideBySide(lines, last) ? last : last - 1;
  if (!IsSideBySide(lines, inner) || lines.offset % 2 != 0) return false;
  for (int dim = 0; dim <= last; ++dim) {
    if (dim != inner && lines.shape[dim] > 1 && lines.strides[dim] % 2 != 0) return false;
  }
  return true;
}

CodeMatrix CodesFrom(DenseOpList& ops, int tensor, const StridedView& lines) {
  const int last = lines.shape.rank - 1;
  CodeMatrix matrix;
  matrix.dtype = lines.dtype;
  const bool has_terms = IsSideBySide(lines, last);
  if (has_terms || IsSideBySide(lines, last - 1)) {
    const int64_t bits = static_cast<int64_t>(StorageBits(lines.dtype));
    matrix.buffer = {tensor, lines.numel == 0 ? 0 : lines.offset * bits / 8};
    matrix.term_step = has_terms ? 1 : lines.strides[last];
    matrix.line_step = has_terms ? lines.strides[last - 1] : 1;
    if (last == 2) matrix.batch_step = lines.strides[0];
    return matrix;
  }
  matrix.buffer = ops.InView(tensor, lines);
  matrix.line_step = lines.shape[last];
  if (last == 2) matrix.batch_step = lines.shape[1] * lines.shape[2];
  return matrix;
}

CodeScales ScalesFrom(DenseOpList& ops, int tensor, const StridedView& view, int32_t lines, int32_t blocks) {
  const int last = view.shape.rank - 1;
  CodeScales scales;
  scales.buffer = ops.InView(tensor, view);
  scales.dtype = view.dtype;
  scales.is_there = true;
  scales.block_step = 1;
  scales.line_step = view.shape[last];
  if (last == 2) scales.batch_step = view.shape[1] * view.shape[2];
  scales.lines = lines;
  scales.blocks = blocks;
  return scales;
}

CodeScales PairsFrom(DenseOpList& ops, int tensor, const StridedView& view) {
  const int last = view.shape.rank - 1;
  CodeScales scales;
  scales.buffer = ops.InView(tensor, view);
  scales.dtype = view.dtype;
  scales.is_there = true;
  scales.block_step = 1;
  scales.line_step = 2 * view.shape[last - 1];
  if (last == 3) scales.batch_step = view.shape[1] * scales.line_step;
  return scales;
}

CodeNumbers NumbersFrom(DenseOpList& ops, const OperatorCall& call, int tensor) {
  CodeNumbers numbers;
  if (!call.IsGiven(tensor)) return numbers;
  numbers.buffer = ops.In(tensor);
  numbers.dtype = call.Tensor(tensor).dtype;
  numbers.is_there = true;
  numbers.is_one = call.Tensor(tensor).numel == 1;
  return numbers;
}

void AddProduct(DenseOpList& ops, engine::CodeProduct& job) {
  const auto of = [&](const auto& scales) { return scales.is_there ? scales.buffer : job.out; };
  job.isa = ops.isa();
  job.threads = ops.threads();
  job.raises = ops.Raises();
  ops.Compute(job,
              {job.left.buffer, job.right.buffer, of(job.left_scale), of(job.right_scale), of(job.left_level),
               of(job.right_level), of(job.zero), of(job.column_factor), of(job.row_factor), of(job.bias),
               job.cut != engine::CodeProduct::Cut::kNone ? job.ends : job.out, job.out},
              job.batches * job.rows * job.columns * std::max<int64_t>(job.terms, 1));
}

}  // namespace portacl::matmul
