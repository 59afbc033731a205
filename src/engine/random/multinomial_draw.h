// Draws indices by weights, a row at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/random/random_numbers.h"

namespace portacl::engine {

// With replacement, a sample is the first index whose cumulative weight exceeds u times the row's sum, with u
// uniform in [0, 1). Weights are summed in float64, by ascending index. Without replacement, the samples are
// the indices with the greatest weight / e, greatest first, where each e is drawn from the exponential
// distribution; of equal ones the lower index comes first. Row r's random numbers begin at element r * n,
// where n is `samples` with replacement and otherwise `categories`, rounded up to a multiple of kTile.
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
  // The byte offset of the first element, and the distances of rows and columns.
  int64_t weight_offset, weight_row, weight_column;
  int64_t index_offset, index_row, index_column;

  // The workspace of one row (none for a single sample), and the number of rows in the workspace.
  uint64_t WorkspaceOfRow() const noexcept;
  int64_t RowsInWorkspace() const noexcept;

  bool Touches(int operand) const noexcept {
    return operand == weights || operand == indices || device.Touches(operand);
  }
  int64_t Elements() const noexcept { return rows * categories; }
  void Run(void* const* addresses, void* workspace) const noexcept;
};

}  // namespace portacl::engine
