// The cross entropy of rows, as two jobs that hand each other numbers of rows through the workspace: logarithms of softmax are written by
// a job over rows, losses over classes are made of those of targets; their gradients by the same two the other way round.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/job.h"
#include "engine/row/class_loss.h"
#include "engine/row/row.h"

namespace portacl::engine {

struct CrossEntropy {
  RowJob rows;
  ClassLoss loss;
  bool has_rows;
  bool is_gradient;       // losses over classes run first
  int workspace_operand;  // the number by which operands of the two call the workspace; behind all others

  void Run(const JobContext& context) const noexcept;
};

struct CrossEntropyJob {
  uint32_t touched;
  int64_t elements;

  bool Touches(int operand) const noexcept { return (touched >> operand & 1) != 0; }
  int64_t Elements() const noexcept { return elements; }
  void Run(const JobContext& context) const noexcept;
};

// Makes the job. Operands of the workspace are not among the touched.
CrossEntropyJob MakeCrossEntropyJob(JobMemory& memory, const CrossEntropy& both, uint32_t touched) noexcept;

}  // namespace portacl::engine
