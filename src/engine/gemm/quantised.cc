// Packing of quantised weights (see quantised.h). Adjacent elements of a line are widened, then scaled by the
// numbers of their group.
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/quantised.h"

#include <algorithm>

namespace portacl::engine {
namespace {

// Elements that are widened at a time.
constexpr int64_t kWidened = 256;
static_assert(kWidened >= kGemmDepth && kWidened >= kMostPanelColumns);

int64_t ByteOffsetOf(const QuantisedWeights& weights, int64_t column, int64_t term) {
  return weights.first + column * weights.column + term * weights.term;
}

int8_t HalfOfByte(const char* elements, int64_t at) {
  const auto byte = static_cast<uint8_t>(elements[at >> 1]);
  const unsigned half = (at & 1) == 0 ? byte & 15u : byte >> 4;
  return static_cast<int8_t>(static_cast<int>(half ^ 8u) - 8);
}

// Widens `count` adjacent elements from index `at` on, at most kWidened.
void Widen(const QuantisedSource& source, int64_t at, int64_t count, float* to) {
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
  for (int64_t j = 0; j < count; ++j) to[j] = NumberAt(source, numbers, steps, group, column + j);
}

void Round(const QuantisedSource& source, int64_t count, float* numbers) {
  if (source.round == nullptr) return;
  alignas(64) char rounded[kWidened * sizeof(float)];
  source.round(numbers, rounded, static_cast<size_t>(count), false);
  source.load_numbers(rounded, numbers, static_cast<size_t>(count));
}

// Widens the terms of a column, which lie side by side.
void WidenColumn(const QuantisedSource& source, int64_t column, int64_t term, int64_t depth, float* to) {
  const QuantisedWeights& weights = *source.weights;
  Widen(source, ByteOffsetOf(weights, column, term), depth, to);
  for (int64_t k = 0; k < depth;) {
    const int64_t group = (term + k) / weights.group_terms;
    const int64_t end = std::min(depth, (group + 1) * weights.group_terms - term);
    const float scale = NumberAt(source, source.scales, weights.scale, group, column);
    if (weights.has_offset) {
      const float offset = NumberAt(source, source.offsets, weights.offset, group, column);
      for (; k < end; ++k) to[k] = (to[k] + offset) * scale;
    } else {
      for (; k < end; ++k) to[k] *= scale;
    }
  }
  Round(source, depth, to);
}

}  // namespace

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
