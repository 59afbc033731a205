// Packing of strided operands (see pack.h). Operands that are dense along the lines or the terms are read in
// memory order.
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/pack.h"

#include <algorithm>
#include <cstring>

namespace portacl::engine {
namespace {

constexpr int64_t kNumber = sizeof(float);
// Lines that are transposed at a time: as many as a cache line has elements.
constexpr int64_t kLinesTogether = 16;

}  // namespace

void PackRows(const PackSource& source, const char* first, int64_t lines, int64_t depth, char* memory,
              float* to) noexcept {
  const bool is_number = source.size == kNumber;
  if (source.term == source.size || depth == 1) {
    for (int64_t line = 0; line < lines; ++line)
      source.load(first + line * source.line, to + line * kPackedRow, static_cast<size_t>(depth));
    return;
  }
  if (source.line != source.size) {
    for (int64_t line = 0; line < lines; ++line) {
      char* const gathered = is_number ? reinterpret_cast<char*>(to + line * kPackedRow) : memory;
      source.gather(first + line * source.line, source.term, source.size, gathered, depth);
      if (!is_number) source.load(memory, to + line * kPackedRow, static_cast<size_t>(depth));
    }
    return;
  }
  for (int64_t line = 0; line < lines; line += kLinesTogether) {
    source.transpose(first + line * source.line, source.term, depth, std::min(kLinesTogether, lines - line),
                     to + line * kPackedRow, kPackedRow);
  }
}

void PackPanels(const PackSource& source, const char* first, int64_t lines, int64_t depth, int64_t width,
                char* memory, float* to) noexcept {
  if (source.line == source.size || lines == 1)
    return source.pack_columns(first, source.term, depth, lines, to);
  const bool is_number = source.size == kNumber;
  const int64_t size = source.size;
  for (int64_t line = 0; line < lines; line += width) {
    const int64_t some = std::min(width, lines - line);
    const char* const from = first + line * source.line;
    float* const panel = to + line * depth;
    if (some < width) std::memset(panel, 0, static_cast<size_t>(width * depth) * sizeof(float));
    if (source.term == source.size) {
      source.transpose(from, source.line, some, depth, panel, width);
      continue;
    }
    char* const gathered = is_number ? reinterpret_cast<char*>(panel) : memory;
    if (!is_number && some < width) std::memset(memory, 0, static_cast<size_t>(width * depth * size));
    for (int64_t k = 0; k < depth; ++k)
      source.gather(from + k * source.term, source.line, source.size, gathered + k * width * size, some);
    if (!is_number) source.load(memory, panel, static_cast<size_t>(width * depth));
  }
}

}  // namespace portacl::engine
