// The cross entropy of rows, as two jobs that exchange a number per row through the workspace. A job over
// rows writes logarithms of softmax, then a job over classes makes losses of those at the targets. For
// gradients the two run in reverse order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/job.h"
#include "engine/rowwise/class_loss.h"
#include "engine/rowwise/rowwise.h"

namespace portacl::engine {

struct CrossEntropy {
  RowwiseJob rows;
  ClassLoss loss;
  bool has_rows;
  bool is_gradient;       // losses over classes run first
  int workspace_operand;  // operand number that both jobs use for the workspace, after all others

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
