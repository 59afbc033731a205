// Packing of INT8 operands (see byte_pack.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/byte_pack.h"

namespace portacl::engine {
namespace {

int32_t SumOf(const int8_t* terms, int64_t count) {
  int32_t sum = 0;
  for (int64_t k = 0; k < count; ++k) sum += terms[k];
  return sum;
}

}  // namespace

void PackByteRows(const WordSource& source, const ByteKernels& kernels, const char* first, int64_t lines,
                  int64_t depth, uint32_t* to) noexcept {
  PackWordRows(source, first, lines, depth, kernels.WordsOf(depth), kPackedRow, to);
  for (int64_t line = 0; line < lines; ++line) {
    uint32_t* const row = to + line * kPackedRow;
    const auto* const terms = reinterpret_cast<const int8_t*>(row);
    row[kFirstSum] =
        kernels.has_unsigned_panels ? static_cast<uint32_t>(-128 * SumOf(terms, depth)) : uint32_t{0};
  }
}

void PackBytePanels(const WordSource& source, const ByteKernels& kernels, const char* first, int64_t lines,
                    int64_t depth, int64_t width, uint32_t* to) noexcept {
  const int64_t words = kernels.WordsOf(depth);
  PackWordPanels(source, first, lines, depth, words, width, to);
  if (!kernels.has_unsigned_panels) return;
  const int64_t all = (lines + width - 1) / width * width * words;
  for (int64_t i = 0; i < all; ++i) to[i] ^= kHighBits;
}

}  // namespace portacl::engine
