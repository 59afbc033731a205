// Computes the bytes of a tensor's view (see operand_bytes.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnn/operand_bytes.h"

#include <span>

#include "base/data_type.h"

namespace portacl {

void SetBytes(const aclTensor& tensor, sanitizer::OperandInfo* operand) noexcept {
  const int64_t bits = StorageBits(tensor.dtype);
  const bool is_counted = tensor.countable && bits > 0 && !IsPrivateFormat(tensor.format) &&
                          (tensor.numel == 0 || tensor.bytes_fit);
  operand->bytes = {};
  operand->is_complete = operand->is_exact = is_counted && bits % 8 == 0;
  if (tensor.numel == 0 || bits <= 0 || IsPrivateFormat(tensor.format)) return;
  if (operand->is_exact) {
    const auto rank = static_cast<size_t>(tensor.shape.rank);
    const auto* const first = reinterpret_cast<const void*>(tensor.offset * (bits / 8));
    operand->bytes = StridedBytes::View(first, bits / 8, std::span(tensor.shape.dim, rank),
                                        std::span(tensor.strides.dim, rank), &operand->is_exact);
    operand->is_complete = operand->is_exact;
    return;
  }
  int64_t lowest = 0;
  int64_t highest = 0;
  if (!ReachOf(tensor, &lowest, &highest)) return;
  const int64_t first = lowest * bits / 8;
  const int64_t end = ((highest + 1) * bits + 7) / 8;
  operand->bytes = StridedBytes::Run(reinterpret_cast<const void*>(first), static_cast<size_t>(end - first));
  operand->is_complete = is_counted && tensor.contiguous;
}

}  // namespace portacl
