// Updates: a formula that reads several operands at an index and overwrites some of them, as optimizer steps
// do. One pass over memory covers any number of tensors as one job.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/job.h"
#include "engine/rowwise/rowwise_operand.h"

namespace portacl::engine {

inline constexpr int kMaxUpdateOperands = 5;
inline constexpr size_t kUpdateNumbers = 12;
inline constexpr size_t kMaxUpdateReads = 7;

// n elements of each operand as float32; the first operands are overwritten. The function returns the
// instruction set that ran.
struct UpdateWork {
  float* operand[kMaxUpdateOperands];
  size_t n;
  bool found = false;  // set if the formula detects its condition
};
using UpdateFunction = Isa (*)(const float* numbers, UpdateWork& work);

// The inputs of a formula's numbers: numbers of the call, and those that are read from memory when the
// job runs. PrepareUpdate computes the formula's numbers from them, and returns false if nothing is to be
// done.
struct UpdateGiven {
  double number[kUpdateNumbers];
  double read[kMaxUpdateReads];
  bool is_read[kMaxUpdateReads];
};
using PrepareUpdate = bool (*)(const UpdateGiven& given, float* numbers);

struct PlannedUpdate {
  UpdateFunction function;
  PrepareUpdate prepare;
  double number[kUpdateNumbers];
  int8_t operands;
  int8_t outputs;  // the first ones
  int8_t read_count;
  // Tensors as single rows; `argument` is an index into this array. `store` converts the results.
  RowwiseOperand operand[kMaxUpdateOperands];
  const Conversion* store[kMaxUpdateOperands];
  int32_t executor_operand[kMaxUpdateOperands];
  RowwiseOperand read[kMaxUpdateReads];  // one element each
  int32_t read_operand[kMaxUpdateReads];
  int64_t count;  // of elements
  int64_t first_block;
};

struct UpdateJob {
  int count;
  int threads;
  int64_t blocks;
  int64_t elements;
  int32_t found_operand;  // is set to 1, as float32, if a formula sets `found`; -1: none
  int64_t found_offset;

  bool Touches(int) const noexcept { return false; }  // whoever makes the job decides
  int64_t Elements() const noexcept { return elements; }
  // context.memory holds the updates. They are independent: none touches memory that another one writes.
  void Run(const JobContext& context) const noexcept;
};

// Returns the number of thread blocks for a tensor of `elements` elements.
int64_t UpdateBlocks(int64_t elements) noexcept;

}  // namespace portacl::engine
