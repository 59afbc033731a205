// Indices drawn by weights, a row at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/random/random_numbers.h"

namespace portacl::engine {

// With replacement: for each sample the first index whose weights' sum up to it, in float64 and ascending, is greater than u
// times the whole sum. Else the indices of the greatest weight / E, best first, of equal ones the lower first. Row r's
// random numbers begin at element r times the next multiple of kTile.
struct MultinomialJob {
  RandomSource source;
  DeviceSource device;
  SequenceFunction draw_units;
  SequenceFunction draw_exponentials;
  ElementLoad load;
  bool is_loaded;  // else weights are float64
  GatherFunction gather;
  int64_t rows;
  int64_t categories;
  int64_t samples;
  bool adds_up;  // draws with replacement
  int8_t weights;
  int8_t indices;
  int32_t weight_size;
  int threads;
  // In bytes: where the first element is, and how far the next row and the next column are.
  int64_t weight_offset, weight_row, weight_column;
  int64_t index_offset, index_row, index_column;

  // What a row needs while it is drawn, none for one sample; and how many rows do at a time.
  uint64_t WorkspaceOfRow() const noexcept;
  int64_t RowsInWorkspace() const noexcept;

  bool Touches(int operand) const noexcept {
    return operand == weights || operand == indices || device.Touches(operand);
  }
  int64_t Elements() const noexcept { return rows * categories; }
  void Run(void* const* addresses, void* workspace) const noexcept;
};

}  // namespace portacl::engine
