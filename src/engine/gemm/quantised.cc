// Packing of quantised weights (see quantised.h). Adjacent elements of a line are widened, then scaled by the
// numbers of their group.
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/quantised.h"

#include <algorithm>
#include <cstring>

#include "engine/codes.h"

namespace portacl::engine {
namespace {

// Elements that are widened at a time.
constexpr int64_t kWidened = 256;
static_assert(kWidened >= kGemmDepth && kWidened >= kMostPanelColumns);

// The terms of a word of weights that are contiguous.
int64_t TermsOfWord(const QuantisedWeights& weights) { return weights.is_int4 ? 8 : 4; }

int64_t ByteOffsetOf(const QuantisedWeights& weights, int64_t column, int64_t term) {
  return weights.first + column * weights.column + term * weights.term;
}

int8_t HalfOfByte(const char* elements, int64_t at) {
  const auto byte = static_cast<uint8_t>(elements[at >> 1]);
  const unsigned half = (at & 1) == 0 ? byte & 15u : byte >> 4;
  return static_cast<int8_t>(static_cast<int>(half ^ 8u) - 8);
}

// Widens `count` adjacent codes of FLOAT4_E2M1 from index `at` on.
void WidenFloat4(const char* elements, int64_t at, int64_t count, float* to) {
  const float* const numbers = NumbersOfCodes(ACL_FLOAT4_E2M1);
  for (int64_t i = 0; i < count; ++i) {
    const auto byte = static_cast<uint8_t>(elements[(at + i) >> 1]);
    to[i] = numbers[((at + i) & 1) == 0 ? byte & 15u : byte >> 4];
  }
}

// Widens `count` adjacent elements from index `at` on, at most kWidened.
void Widen(const QuantisedSource& source, int64_t at, int64_t count, float* to) {
  if (source.weights->is_float4) return WidenFloat4(source.elements, at, count, to);
  if (!source.weights->is_int4)
    return source.load_elements(source.elements + at, to, static_cast<size_t>(count));
  alignas(64) int8_t halves[kWidened];
  UnpackNibbles(source.elements, at, count, halves);
  source.load_elements(halves, to, static_cast<size_t>(count));
}

float NumberAt(const QuantisedSource& source, const char* numbers, const GroupNumbers& steps, int64_t group,
               int64_t column) {
  float number;
  source.load_numbers(numbers + group * steps.group + column * steps.column, &number, 1);
  return number;
}

// Loads a group's numbers for `count` columns.
void LoadNumbers(const QuantisedSource& source, const char* numbers, const GroupNumbers& steps, int64_t group,
                 int64_t column, int64_t count, float* to) {
  if (steps.column == source.number_size)
    return source.load_numbers(numbers + group * steps.group + column * steps.column, to,
                               static_cast<size_t>(count));
  if (steps.column == 0) {
    std::fill_n(to, count, NumberAt(source, numbers, steps, group, column));
    return;
  }
  for (int64_t j = 0; j < count; ++j) to[j] = NumberAt(source, numbers, steps, group, column + j);
}

void Round(const QuantisedSource& source, int64_t count, float* numbers) {
  if (source.round == nullptr) return;
  alignas(64) char rounded[kWidened * sizeof(float)];
  source.round(numbers, rounded, static_cast<size_t>(count), false);
  source.load_numbers(rounded, numbers, static_cast<size_t>(count));
}

// Calls f(first, terms, group) for each run of the block's terms that belong to one group and so share a scale and
// an offset.
template <class F>
void ForEachGroup(const QuantisedWeights& weights, int64_t term, int64_t depth, const F& f) {
  for (int64_t k = 0; k < depth;) {
    const int64_t group = (term + k) / weights.group_terms;
    const int64_t end = std::min(depth, (group + 1) * weights.group_terms - term);
    f(k, end - k, group);
    k = end;
  }
}

// Widens the terms of a column, which are contiguous.
void WidenColumn(const QuantisedSource& source, int64_t column, int64_t term, int64_t depth, float* to) {
  const QuantisedWeights& weights = *source.weights;
  Widen(source, ByteOffsetOf(weights, column, term), depth, to);
  ForEachGroup(weights, term, depth, [&](int64_t first, int64_t terms, int64_t group) {
    float* const some = to + first;
    const float scale = NumberAt(source, source.scales, weights.scale, group, column);
    if (weights.has_offset) {
      const float offset = NumberAt(source, source.offsets, weights.offset, group, column);
      for (int64_t k = 0; k < terms; ++k) some[k] = (some[k] + offset) * scale;
    } else {
      for (int64_t k = 0; k < terms; ++k) some[k] *= scale;
    }
  });
  Round(source, depth, to);
}

// ---- one row ----

// Columns whose chains and scales stay in the first-level cache.
constexpr int64_t kRowColumns = 1024;

// Returns the bytes of `elements` contiguous elements.
int64_t BytesOf(const QuantisedWeights& weights, int64_t elements) {
  return weights.is_int4 ? (elements + 1) / 2 : elements;
}

void MultiplyColumns(const QuantisedSource& source, const QuantisedRow& row, const float* a, int64_t column,
                     int64_t columns, int64_t term, int64_t depth, float* c) {
  const QuantisedWeights& weights = *source.weights;
  alignas(64) float scales[kRowColumns];
  alignas(64) float offsets[kRowColumns];
  for (int64_t j = 0; j < columns; j += kRowColumns) {
    const int64_t some = std::min(kRowColumns, columns - j);
    ForEachGroup(weights, term, depth, [&](int64_t k, int64_t terms, int64_t group) {
      LoadNumbers(source, source.scales, weights.scale, group, column + j, some, scales);
      if (weights.has_offset)
        LoadNumbers(source, source.offsets, weights.offset, group, column + j, some, offsets);
      const int64_t at = ByteOffsetOf(weights, column + j, term + k);
      row.kernels->add_columns[weights.is_int4 ? 1 : 0](
          {a + k, terms, some, scales, weights.has_offset ? offsets : nullptr, c + j, k == 0},
          source.elements + (weights.is_int4 ? at / 2 : at),
          weights.is_int4 ? weights.term / 2 : weights.term);
    });
  }
}

void MultiplyWords(const QuantisedSource& source, const QuantisedRow& row, const float* a, int64_t column,
                   int64_t columns, int64_t term, int64_t depth, float* c) {
  const QuantisedWeights& weights = *source.weights;
  const int64_t width = row.width;
  const int64_t line = weights.is_int4 ? weights.column / 2 : weights.column;
  const int64_t whole = depth / TermsOfWord(weights);
  const int64_t rest = BytesOf(weights, depth % TermsOfWord(weights));
  auto* const words = reinterpret_cast<uint32_t*>(row.words);
  // Columns that are not there are computed, too.
  alignas(64) float scales[kMostPanelColumns] = {};
  alignas(64) float offsets[kMostPanelColumns] = {};
  alignas(64) float sums[kMostPanelColumns] = {};
  for (int64_t j = 0; j < columns; j += width) {
    const int64_t some = std::min(width, columns - j);
    const int64_t at = ByteOffsetOf(weights, column + j, term);
    const char* const first = source.elements + (weights.is_int4 ? at / 2 : at);
    if (some < width || rest > 0) std::fill_n(words, (whole + 1) * width, 0u);
    if (whole > 0) row.transpose(first, line, some, whole, row.words, width);
    for (int64_t i = 0; i < some && rest > 0; ++i) {
      std::memcpy(words + whole * width + i, first + i * line + whole * int64_t{sizeof(uint32_t)},
                  static_cast<size_t>(rest));
    }
    ForEachGroup(weights, term, depth, [&](int64_t k, int64_t terms, int64_t group) {
      LoadNumbers(source, source.scales, weights.scale, group, column + j, some, scales);
      if (weights.has_offset)
        LoadNumbers(source, source.offsets, weights.offset, group, column + j, some, offsets);
      row.kernels->add_words[weights.is_int4 ? 1 : 0](
          {a + k, terms, width, scales, weights.has_offset ? offsets : nullptr, sums, k == 0},
          words + k / TermsOfWord(weights) * width, width);
    });
    std::copy_n(sums, some, c + j);
  }
}

}  // namespace

QuantisedOrder OrderOf(const QuantisedSource& source, int64_t depth) noexcept {
  const QuantisedWeights& weights = *source.weights;
  if (source.round != nullptr || weights.is_float4) return QuantisedOrder::kNone;
  // Lines of 4-bit elements begin with a byte.
  const auto has_whole_bytes = [&](int64_t step) {
    return !weights.is_int4 || (weights.first % 2 == 0 && step % 2 == 0);
  };
  if (weights.column == 1 && has_whole_bytes(weights.term)) return QuantisedOrder::kColumns;
  const bool has_whole_words =
      weights.group_terms >= depth || weights.group_terms % TermsOfWord(weights) == 0;
  if (weights.term == 1 && has_whole_bytes(weights.column) && has_whole_words) return QuantisedOrder::kTerms;
  return QuantisedOrder::kNone;
}

void MultiplyQuantisedRow(const QuantisedSource& source, const QuantisedRow& row, const float* a,
                          int64_t column, int64_t columns, int64_t term, int64_t depth, float* c) noexcept {
  if (OrderOf(source, depth) == QuantisedOrder::kColumns)
    return MultiplyColumns(source, row, a, column, columns, term, depth, c);
  MultiplyWords(source, row, a, column, columns, term, depth, c);
}

void UnpackNibbles(const char* elements, int64_t at, int64_t count, int8_t* to) noexcept {
  int64_t i = 0;
  if ((at & 1) != 0 && count > 0) to[i++] = HalfOfByte(elements, at);
  const auto* const bytes = reinterpret_cast<const uint8_t*>(elements + ((at + i) >> 1));
  const int64_t pairs = (count - i) / 2;
  for (int64_t pair = 0; pair < pairs; ++pair) {
    to[i + 2 * pair] = static_cast<int8_t>(static_cast<int>((bytes[pair] & 15u) ^ 8u) - 8);
    to[i + 2 * pair + 1] = static_cast<int8_t>(static_cast<int>((bytes[pair] >> 4u) ^ 8u) - 8);
  }
  i += 2 * pairs;
  if (i < count) to[i] = HalfOfByte(elements, at + i);
}

float QuantisedElement(const QuantisedSource& source, int64_t column, int64_t term) noexcept {
  const QuantisedWeights& weights = *source.weights;
  float number;
  Widen(source, ByteOffsetOf(weights, column, term), 1, &number);
  const int64_t group = term / weights.group_terms;
  if (weights.has_offset) number += NumberAt(source, source.offsets, weights.offset, group, column);
  number *= NumberAt(source, source.scales, weights.scale, group, column);
  Round(source, 1, &number);
  return number;
}

void PackQuantisedPanels(const QuantisedSource& source, TransposeFunction transpose, int64_t column,
                         int64_t columns, int64_t term, int64_t depth, int64_t width, float* lines,
                         float* to) noexcept {
  const QuantisedWeights& weights = *source.weights;
  for (int64_t line = 0; line < columns; line += width) {
    const int64_t some = std::min(width, columns - line);
    const int64_t first = column + line;
    float* const panel = to + line * depth;
    if (some < width) std::fill_n(panel, width * depth, 0.0f);
    if (weights.term == 1) {
      for (int64_t j = 0; j < some; j += kQuantisedLines) {
        const int64_t count = std::min(kQuantisedLines, some - j);
        for (int64_t i = 0; i < count; ++i)
          WidenColumn(source, first + j + i, term, depth, lines + i * depth);
        if (count == some) {
          transpose(reinterpret_cast<const char*>(lines), depth * int64_t{sizeof(float)}, count, depth, panel,
                    width);
        } else {
          for (int64_t k = 0; k < depth; ++k) {
            for (int64_t i = 0; i < count; ++i) panel[k * width + j + i] = lines[i * depth + k];
          }
        }
      }
      continue;
    }
    alignas(64) float scales[kMostPanelColumns];
    alignas(64) float offsets[kMostPanelColumns];
    int64_t group = -1;
    for (int64_t k = 0; k < depth; ++k) {
      float* const row = panel + k * width;
      if ((term + k) / weights.group_terms != group) {
        group = (term + k) / weights.group_terms;
        LoadNumbers(source, source.scales, weights.scale, group, first, some, scales);
        if (weights.has_offset)
          LoadNumbers(source, source.offsets, weights.offset, group, first, some, offsets);
      }
      if (weights.column == 1) {
        Widen(source, ByteOffsetOf(weights, first, term + k), some, row);
      } else {
        for (int64_t j = 0; j < some; ++j)
          Widen(source, ByteOffsetOf(weights, first + j, term + k), 1, row + j);
      }
      if (weights.has_offset) {
        for (int64_t j = 0; j < some; ++j) row[j] += offsets[j];
      }
      for (int64_t j = 0; j < some; ++j) row[j] *= scales[j];
      Round(source, some, row);
    }
  }
}

}  // namespace portacl::engine
