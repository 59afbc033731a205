// Updates: a formula that reads several operands at a place and rewrites some of them there, as steps of optimizers do. One pass over
// memory, over any number of tensors as one job.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/job.h"
#include "engine/row/row_operand.h"

namespace portacl::engine {

inline constexpr int kMaxUpdateOperands = 5;
inline constexpr size_t kUpdateNumbers = 12;

// n elements of each operand, as float32; the first of them are rewritten. Returns the instruction set that ran.
struct UpdateWork {
  float* operand[kMaxUpdateOperands];
  size_t n;
  bool found = false;  // set where the formula finds what it looks for
};
using UpdateFunction = Isa (*)(const float* numbers, UpdateWork& work);

// What a formula is given: numbers of the call, and up to two that lie in memory and are read when the job runs. Works out the numbers
// of the formula from them; false where nothing is to be done.
struct UpdateGiven {
  float number[kUpdateNumbers];
  double read[2];
  bool is_read[2];
};
using PrepareUpdate = bool (*)(const UpdateGiven& given, float* numbers);

struct PlannedUpdate {
  UpdateFunction function;
  PrepareUpdate prepare;
  float number[kUpdateNumbers];
  int8_t operands;
  int8_t outputs;  // the first of them
  int8_t read_count;
  // Tensors, each of which is one row; `argument` is their place here. Beside them how results are stored.
  RowOperand operand[kMaxUpdateOperands];
  const Conversion* store[kMaxUpdateOperands];
  int32_t executor_operand[kMaxUpdateOperands];
  RowOperand read[2];  // one element each
  int32_t read_operand[2];
  int64_t count;  // of elements
  int64_t first_block;
};

struct UpdateJob {
  int count;
  int threads;
  int64_t blocks;
  int64_t elements;
  int32_t found_operand;  // which becomes 1, as float32, where a formula finds what it looks for; -1: none
  int64_t found_offset;

  bool Touches(int) const noexcept { return false; }  // who makes the job knows
  int64_t Elements() const noexcept { return elements; }
  // context.memory holds the updates, none of which touches what another one writes.
  void Run(const JobContext& context) const noexcept;
};

// Parts of a tensor of so many elements.
int64_t UpdateBlocks(int64_t elements) noexcept;

}  // namespace portacl::engine
