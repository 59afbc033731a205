// Losses over classes: of each row of classes one element counts, which a target names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "aclnn/executor.h"
#include "engine/move/move.h"
#include "engine/row/row_operand.h"

namespace portacl::engine {

// What becomes of the losses of rows: each its own, their mean by weights, or their sum.
enum class ClassReduction : uint8_t { kNone, kMean, kSum };

struct ClassLoss {
  RowOperand input;   // the elements of all classes; of a gradient, those of the gradient
  RowOperand target;  // a number for each row
  RowOperand weight;  // a row of the classes
  RowOperand result;  // a number for each row, or one; of a gradient, the gradient of it
  RowOperand total;   // the sum of weights
  int64_t rows;
  int64_t classes;
  int64_t ignored;
  ClassReduction reduction;
  bool is_gradient;
  bool raises;  // a bad target fails the stream
  int threads;
  Move zeros;  // of a gradient: 0 everywhere

  // The workspace that sums need, in bytes.
  uint64_t WorkspaceBytes() const noexcept;
  void Run(const JobContext& context) const noexcept;
};

struct ClassLossJob {
  uint32_t touched;
  int64_t elements;

  bool Touches(int operand) const noexcept { return (touched >> operand & 1) != 0; }
  int64_t Elements() const noexcept { return elements; }
  void Run(const JobContext& context) const noexcept;
};

// Sets the executor's job.
void SetClassLossJob(Executor& executor, const ClassLoss& loss, uint32_t touched) noexcept;

}  // namespace portacl::engine
