// Packing of INT8 operands (see byte_pack.h). Operands that are dense along the lines or the terms are read in
// memory order.
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/byte_pack.h"

#include <algorithm>
#include <cstring>

namespace portacl::engine {
namespace {

// Lines whose words are made at a time, if the lines lie side by side.
constexpr int64_t kLinesTogether = 64;

// Makes words of up to four bytes, padded with 0.
uint32_t WordOf(const char* bytes, int64_t count) {
  uint32_t word = 0;
  std::memcpy(&word, bytes, static_cast<size_t>(count));
  return word;
}

int32_t SumOf(const int8_t* terms, int64_t count) {
  int32_t sum = 0;
  for (int64_t k = 0; k < count; ++k) sum += terms[k];
  return sum;
}

void PackPanel(const ByteSource& source, const char* first, int64_t lines, int64_t depth, int64_t width,
               uint32_t* panel) {
  const int64_t whole = depth / kTermsOfWord;
  const int64_t rest = depth % kTermsOfWord;
  if (source.line == 1 && source.term != 1) {
    for (int64_t k = 0; k < depth; k += kTermsOfWord) {
      source.pack_words(first + k * source.term, source.term, std::min(kTermsOfWord, depth - k), lines,
                        panel + k / kTermsOfWord * width);
    }
    return;
  }
  if (source.term == 1) {
    if (whole > 0) source.transpose(first, source.line, lines, whole, reinterpret_cast<float*>(panel), width);
    for (int64_t j = 0; j < lines && rest > 0; ++j)
      panel[whole * width + j] = WordOf(first + j * source.line + whole * kTermsOfWord, rest);
    return;
  }
  alignas(64) char terms[kByteDepth];
  for (int64_t j = 0; j < lines; ++j) {
    source.gather(first + j * source.line, source.term, 1, terms, depth);
    for (int64_t word = 0; word < whole; ++word)
      panel[word * width + j] = WordOf(terms + word * kTermsOfWord, kTermsOfWord);
    if (rest > 0) panel[whole * width + j] = WordOf(terms + whole * kTermsOfWord, rest);
  }
}

}  // namespace

void PackByteRows(const ByteSource& source, const ByteKernels& kernels, const char* first, int64_t lines,
                  int64_t depth, uint32_t* to) noexcept {
  const int64_t bytes = kernels.WordsOf(depth) * kTermsOfWord;
  if (source.line == 1 && source.term != 1 && lines > 1) {
    uint32_t words[kLinesTogether];
    for (int64_t line = 0; line < lines; line += kLinesTogether) {
      const int64_t some = std::min(kLinesTogether, lines - line);
      for (int64_t k = 0; k < depth; k += kTermsOfWord) {
        source.pack_words(first + line + k * source.term, source.term, std::min(kTermsOfWord, depth - k),
                          some, words);
        for (int64_t i = 0; i < some; ++i) to[(line + i) * kPackedRow + k / kTermsOfWord] = words[i];
      }
    }
  } else {
    for (int64_t line = 0; line < lines; ++line) {
      const char* const from = first + line * source.line;
      uint32_t* const row = to + line * kPackedRow;
      if (source.term == 1) {
        std::memcpy(row, from, static_cast<size_t>(depth));
      } else {
        source.gather(from, source.term, 1, row, depth);
      }
    }
  }
  for (int64_t line = 0; line < lines; ++line) {
    uint32_t* const row = to + line * kPackedRow;
    auto* const terms = reinterpret_cast<int8_t*>(row);
    std::memset(terms + depth, 0, static_cast<size_t>(bytes - depth));
    row[kFirstSum] =
        kernels.has_unsigned_panels ? static_cast<uint32_t>(-128 * SumOf(terms, depth)) : uint32_t{0};
  }
}

void PackBytePanels(const ByteSource& source, const ByteKernels& kernels, const char* first, int64_t lines,
                    int64_t depth, int64_t width, uint32_t* to) noexcept {
  const int64_t words = kernels.WordsOf(depth);
  const int64_t made = (depth + kTermsOfWord - 1) / kTermsOfWord;
  for (int64_t line = 0; line < lines; line += width) {
    const int64_t some = std::min(width, lines - line);
    uint32_t* const panel = to + line * words;
    if (some < width) std::fill_n(panel, made * width, 0u);
    std::fill_n(panel + made * width, (words - made) * width, 0u);
    PackPanel(source, first + line * source.line, some, depth, width, panel);
    if (!kernels.has_unsigned_panels) continue;
    for (int64_t i = 0; i < made * width; ++i) panel[i] ^= kHighBits;
  }
}

}  // namespace portacl::engine
