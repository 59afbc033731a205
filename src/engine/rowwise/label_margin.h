// The margin loss between a row's labels and its other elements, summed over all pairs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"
#include "engine/job.h"
#include "engine/rowwise/class_loss.h"
#include "engine/rowwise/rowwise_operand.h"

namespace portacl::engine {

struct LabelMargin {
  RowwiseOperand input;     // the elements of all classes
  RowwiseOperand target;    // each row's labels, up to the first -1
  RowwiseOperand is_label;  // 1 where a class is a label, else 0
  RowwiseOperand result;    // a number for each row, or one
  int64_t rows;
  int64_t classes;
  int64_t chunks;  // of rows, which threads take
  ClassReduction reduction;
  Isa isa;
  bool raises;  // a bad label fails the stream
  int threads;

  // The workspace of a chunk, and the total in bytes. A number for each row precedes the chunks.
  uint64_t ChunkBytes() const noexcept;
  uint64_t WorkspaceBytes() const noexcept;
  void Run(const JobContext& context) const noexcept;
};

struct LabelMarginJob {
  uint32_t touched;
  int64_t elements;
  uint64_t workspace_bytes;

  bool Touches(int operand) const noexcept { return (touched >> operand & 1) != 0; }
  int64_t Elements() const noexcept { return elements; }
  uint64_t OwnWorkspace() const noexcept { return workspace_bytes; }
  void Run(const JobContext& context) const noexcept;
};

// Tells whether the workspace for this many rows and classes fits in 2^63 bytes.
bool LabelMarginFits(int64_t rows, int64_t classes, int threads) noexcept;

// Makes the job; there are rows and classes, for which there can be a workspace. Chunks are counted here.
LabelMarginJob MakeLabelMarginJob(JobMemory& memory, LabelMargin margin, uint32_t touched) noexcept;

}  // namespace portacl::engine
