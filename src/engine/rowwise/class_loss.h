// Losses over classes: a target selects one element of each row of classes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/job.h"
#include "engine/move/move.h"
#include "engine/rowwise/rowwise_operand.h"

namespace portacl::engine {

// The reduction of the rows' losses: none, the mean by weights, or the sum.
enum class ClassReduction : uint8_t { kNone, kMean, kSum };

// The result: losses; gradients, which are 0 except at targets; or the coefficients of gradients of rows that
// were smoothed, too (see cross_entropy.h).
enum class ClassWork : uint8_t { kLosses, kGradients, kCoefficients };

struct ClassLoss {
  RowwiseOperand
      // The elements of all classes, of a gradient the gradient's; or one for each row, that of its target.
      input;
  RowwiseOperand target;  // a number for each row
  RowwiseOperand weight;  // a row of the classes; kConstant: all weigh 1
  RowwiseOperand result;  // a number for each row, or one; of a gradient, the gradient of that
  RowwiseOperand total;   // the sum of weights
  RowwiseOperand smooth;  // a number for each row that is added to its loss
  int64_t rows;
  int64_t classes;
  int64_t ignored;
  int64_t coefficients_offset;  // in the workspace: a double for each row, and one more
  float share;                  // the loss's factor, if other parts are added
  float smoothing;              // the factor of the other parts
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
