// Packing of words (see word_pack.h). Operands that are dense along the lines or the terms are read in memory
// order.
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/word_pack.h"

#include <algorithm>
#include <cstring>

namespace portacl::engine {
namespace {

constexpr int64_t kWord = sizeof(uint32_t);
// Lines whose words are made at a time, if the lines are contiguous.
constexpr int64_t kLinesTogether = 64;
// Words of such lines that become parts of rows at a time.
constexpr int64_t kWordsTogether = 16;
// How many terms before they are packed those of such lines are asked for: memory may hold them in as many pages.
constexpr int64_t kTermsAhead = 16;

// Returns a word of up to four bytes, padded with 0.
uint32_t WordOf(const char* bytes, int64_t count) {
  uint32_t word = 0;
  std::memcpy(&word, bytes, static_cast<size_t>(count));
  return word;
}

// Tells whether lines are contiguous, so that memory order is that of the terms.
bool AreDenseLines(const WordSource& source) {
  return source.line == source.size && source.term != source.size;
}

void Invert(uint32_t bits, int64_t words, uint32_t* to) {
  for (int64_t i = 0; i < words && bits != 0; ++i) to[i] ^= bits;
}

// Packs panels of lines that are contiguous. Panels whose last columns are missing hold 0 there.
void PackDenseLines(const WordSource& source, const char* first, int64_t lines, int64_t depth, int64_t words,
                    int64_t width, uint32_t* to) {
  const int64_t terms = kWord / source.size;
  for (int64_t k = 0; k < depth; k += terms) {
    const int64_t some = std::min(terms, depth - k);
    for (int64_t line = 0; line < lines; line += width) {
      const char* const from = first + k * source.term + line * source.size;
      for (int64_t i = 0; i < terms; ++i) __builtin_prefetch(from + (kTermsAhead + i) * source.term);
      uint32_t* const made = to + line * words + k / terms * width;
      source.pack_words(from, source.term, some, std::min(width, lines - line), made);
      Invert(source.inverted, width, made);
    }
  }
}

// Packs a panel of lines that do not.
void PackPanel(const WordSource& source, const char* first, int64_t lines, int64_t depth, int64_t width,
               uint32_t* panel) {
  const int64_t terms = kWord / source.size;
  const int64_t whole = depth / terms;
  const int64_t rest = depth % terms * source.size;
  if (source.term == source.size) {
    if (whole > 0) source.transpose(first, source.line, lines, whole, reinterpret_cast<float*>(panel), width);
    for (int64_t j = 0; j < lines && rest > 0; ++j)
      panel[whole * width + j] = WordOf(first + j * source.line + whole * kWord, rest);
    return;
  }
  alignas(64) char elements[kGemmDepth * kWord];
  for (int64_t j = 0; j < lines; ++j) {
    source.gather(first + j * source.line, source.term, static_cast<int32_t>(source.size), elements, depth);
    for (int64_t word = 0; word < whole; ++word)
      panel[word * width + j] = WordOf(elements + word * kWord, kWord);
    if (rest > 0) panel[whole * width + j] = WordOf(elements + whole * kWord, rest);
  }
}

}  // namespace

WordSource WordSourceOf(const GemmKernels& kernels, GatherFunction gather, int64_t line, int64_t term,
                        int64_t size) noexcept {
  return {line,
          term,
          size,
          kernels.transpose[static_cast<size_t>(GemmElement::kF32)],
          kernels.pack_words[size - 1],
          gather};
}

void PackWordRows(const WordSource& source, const char* first, int64_t lines, int64_t depth, int64_t words,
                  int64_t row, uint32_t* to) noexcept {
  const int64_t terms = kWord / source.size;
  if (AreDenseLines(source) && lines > 1) {
    // Words are made in the order of memory and transposed.
    uint32_t made[kWordsTogether * kLinesTogether];
    const int64_t made_row = kLinesTogether * kWord;
    for (int64_t line = 0; line < lines; line += kLinesTogether) {
      const int64_t some = std::min(kLinesTogether, lines - line);
      for (int64_t k = 0; k < depth; k += kWordsTogether * terms) {
        const int64_t count = std::min(kWordsTogether, (depth - k + terms - 1) / terms);
        for (int64_t i = 0; i < count; ++i) {
          const int64_t term = k + i * terms;
          source.pack_words(first + line * source.line + term * source.term, source.term,
                            std::min(terms, depth - term), some, made + i * kLinesTogether);
        }
        source.transpose(reinterpret_cast<const char*>(made), made_row, count, some,
                         reinterpret_cast<float*>(to + line * row + k / terms), row);
      }
    }
  } else {
    for (int64_t line = 0; line < lines; ++line) {
      const char* const from = first + line * source.line;
      if (source.term == source.size) {
        std::memcpy(to + line * row, from, static_cast<size_t>(depth * source.size));
      } else {
        source.gather(from, source.term, static_cast<int32_t>(source.size), to + line * row, depth);
      }
    }
  }
  const int64_t bytes = depth * source.size;
  for (int64_t line = 0; line < lines && bytes < words * kWord; ++line) {
    std::memset(reinterpret_cast<char*>(to + line * row) + bytes, 0,
                static_cast<size_t>(words * kWord - bytes));
  }
}

void PackWordPanels(const WordSource& source, const char* first, int64_t lines, int64_t depth, int64_t words,
                    int64_t width, uint32_t* to) noexcept {
  const int64_t terms = kWord / source.size;
  const int64_t made = (depth + terms - 1) / terms;
  const bool are_dense = AreDenseLines(source);
  for (int64_t line = 0; line < lines; line += width) {
    const int64_t some = std::min(width, lines - line);
    uint32_t* const panel = to + line * words;
    if (some < width) std::fill_n(panel, made * width, 0u);
    std::fill_n(panel + made * width, (words - made) * width, 0u);
    if (are_dense) continue;
    PackPanel(source, first + line * source.line, some, depth, width, panel);
    Invert(source.inverted, made * width, panel);
  }
  if (are_dense) PackDenseLines(source, first, lines, depth, words, width, to);
}

}  // namespace portacl::engine
