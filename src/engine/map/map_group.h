// Runs many maps as one job, for operators over lists of tensors. Small maps share a thread's block of work;
// all threads share a long one. No element is visited twice.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/job.h"
#include "engine/map/elementwise.h"

namespace portacl::engine {

// A number of a formula that lies in memory and is read when the job runs.
struct NumberInMemory {
  int32_t operand = -1;  // of the executor; -1: there is none
  int64_t offset = 0;    // in bytes, from the storage base
  ElementLoad load{};    // into the computed type, if it differs
  bool is_converted = false;
  int8_t size = 0;      // in bytes, as it lies there
  int8_t position = 0;  // index among the formula's Scalars
  bool is_negated = false;
  bool is_integer = false;
};

struct PlannedMap {
  ElementwiseLoop loop;
  int32_t operand[kMaxLoopOperands];  // of the executor, in the plan's order
  NumberInMemory number;
  int64_t first_block;
};

// The maps lie in the job's memory. They are independent: none writes memory that another one reads or
// writes.
struct MapGroupJob {
  int count;
  int threads;
  int64_t blocks;           // of all maps
  int64_t blocks_together;  // that a thread takes at a time
  int64_t elements;

  bool Touches(int) const noexcept { return false; }  // whoever makes the job decides
  int64_t Elements() const noexcept { return elements; }
  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
