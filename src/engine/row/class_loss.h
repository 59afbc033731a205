// Losses over classes: of each row of classes one element counts, which a target names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/job.h"
#include "engine/move/move.h"
#include "engine/row/row_operand.h"

namespace portacl::engine {

// What becomes of the losses of rows: each its own, their mean by weights, or their sum.
enum class ClassReduction : uint8_t { kNone, kMean, kSum };

// What is worked out: losses; gradients, which are 0 but where targets are; or what the gradients of rows that were also smoothed are
// made of (see cross_entropy.h).
enum class ClassWork : uint8_t { kLosses, kGradients, kCoefficients };

struct ClassLoss {
  RowOperand
      input;  // the elements of all classes; of a gradient, those of the gradient; or of each row that of its target
  RowOperand target;  // a number for each row
  RowOperand weight;  // a row of the classes; kConstant: all weigh 1
  RowOperand result;  // a number for each row, or one; of a gradient, the gradient of it
  RowOperand total;   // the sum of weights
  RowOperand smooth;  // a number for each row, which is added to its loss
  int64_t rows;
  int64_t classes;
  int64_t ignored;
  int64_t coefficients_offset;  // in the workspace: a double for each row, and another one
  float share;                  // of the loss where there are other parts
  float smoothing;              // what the others are multiplied with
  bool smooths;
  bool is_of_targets;  // input has a number for each row
  ClassReduction reduction;
  ClassWork work;
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
  uint64_t workspace_bytes;

  bool Touches(int operand) const noexcept { return (touched >> operand & 1) != 0; }
  int64_t Elements() const noexcept { return elements; }
  uint64_t OwnWorkspace() const noexcept { return workspace_bytes; }
  void Run(const JobContext& context) const noexcept;
};

// Makes the job.
ClassLossJob MakeClassLossJob(JobMemory& memory, const ClassLoss& loss, uint32_t touched) noexcept;

}  // namespace portacl::engine
