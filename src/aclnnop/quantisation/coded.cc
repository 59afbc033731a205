// Storage of codes of few bits in tensors (see coded.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/quantisation/coded.h"

#include "aclnnop/jobs/heads.h"
#include "base/data_type.h"

namespace portacl::quantisation {

using engine::BufferRef;

aclDataType CodesOf(const StridedView& tensor) noexcept {
  return tensor.dtype == ACL_INT32 ? ACL_INT4 : tensor.dtype;
}

ShapeChecks& HasCodesOf(ShapeChecks& checks, const OperatorCall& call, const Shape& shape, int codes) {
  const aclDataType dtype = call.Tensor(codes).dtype;
  if (dtype != ACL_INT32 && dtype != ACL_INT4) return checks.Is(codes, shape);
  checks.Holds(shape.rank > 0, codes, "codes of 4 bits of tensors with dims");
  if (!checks.Passed()) return checks;
  const int last = shape.rank - 1;
  if (dtype == ACL_INT4)
    return checks.Holds(shape[last] % 2 == 0, codes, "of INT4 an even last dim").Is(codes, shape);
  Shape words = shape;
  words.dim[last] /= kInWord;
  return checks.Holds(shape[last] % kInWord == 0, codes, "of INT32 eight codes for each element")
      .Is(codes, words);
}

aclnnStatus LiesPacked(const OperatorCall& call, const Check& check, int tensor) noexcept {
  const aclTensor& view = call.Tensor(tensor);
  if (StorageBits(view.dtype) != 4 || view.shape.IsEmpty()) return ACL_SUCCESS;
  if (IsContiguous(view) && view.offset % 2 == 0) return ACL_SUCCESS;
  return attention::RefuseTensor(check, call, tensor, "of 4-bit elements a contiguous one at an even offset");
}

bool IsRounding(std::string_view name) noexcept {
  return name == "round" || name == "floor" || name == "ceil" || name == "trunc";
}
engine::Rounding RoundingOf(std::string_view name) noexcept {
  if (name == "floor") return engine::Rounding::kFloor;
  if (name == "ceil") return engine::Rounding::kCeil;
  if (name == "trunc") return engine::Rounding::kTruncate;
  return engine::Rounding::kNearestEven;
}

Numbers NumbersIn(DenseOpList& ops, const OperatorCall& call, int tensor) {
  if (!call.IsGiven(tensor)) return {};
  return {ops.In(tensor), call.Tensor(tensor).dtype, true};
}
Numbers NumbersOut(DenseOpList& ops, const OperatorCall& call, int tensor, bool keeps) {
  if (!call.IsGiven(tensor)) return {};
  return {ops.Out(tensor, ACL_DT_UNDEFINED, keeps), call.Tensor(tensor).dtype, true};
}

Numbers CodesIn(DenseOpList& ops, const OperatorCall& call, int tensor) {
  const aclTensor& view = call.Tensor(tensor);
  if (StorageBits(view.dtype) == 4) return {BufferRef{tensor, view.offset / 2}, view.dtype, true};
  return {ops.In(tensor), CodesOf(view), true};
}
void SetCodes(DenseOpList& ops, const OperatorCall& call, int tensor, Quantiser& quantiser, bool keeps) {
  const aclTensor& view = call.Tensor(tensor);
  quantiser.dtype = CodesOf(view);
  quantiser.codes = StorageBits(view.dtype) == 4 ? BufferRef{tensor, view.offset / 2}
                                                 : ops.Out(tensor, ACL_DT_UNDEFINED, keeps);
}

Factors OneOrColumns(const Numbers& numbers, const OperatorCall& call, int tensor, int64_t columns) {
  Factors factors;
  factors.numbers = numbers;
  if (numbers.is_there) factors.by_column = call.Tensor(tensor).numel == columns;
  return factors;
}

}  // namespace portacl::quantisation
