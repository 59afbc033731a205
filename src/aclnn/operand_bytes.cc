// Computes the bytes of a tensor's view (see operand_bytes.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnn/operand_bytes.h"

#include <span>

#include "base/data_type.h"

namespace portacl {

sanitizer::StridedBytes BytesOf(const aclTensor& tensor, bool* is_exact) noexcept {
  const int64_t bits = StorageBits(tensor.dtype);
  *is_exact = tensor.countable && bits > 0 && bits % 8 == 0 && !IsPrivateFormat(tensor.format) &&
              (tensor.numel == 0 || tensor.bytes_fit);
  if (!*is_exact || tensor.numel == 0) return {};
  const auto rank = static_cast<size_t>(tensor.view.rank);
  const auto* const first = reinterpret_cast<const void*>(tensor.offset * (bits / 8));
  return sanitizer::StridedBytes::View(first, bits / 8, std::span(tensor.view.dim, rank),
                                       std::span(tensor.strides.dim, rank), is_exact);
}

}  // namespace portacl
