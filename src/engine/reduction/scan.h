// Scan jobs: every element becomes the sum, product, maximum or minimum of the elements up to it along one
// dim.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/map/formula.h"
#include "engine/map/load_store.h"
#include "engine/strided.h"
#include "plan/loop_plan.h"

namespace portacl::engine {

enum class ScanOperation : uint8_t { kSum, kProduct, kLargest, kLeast };

// The state of a line. For sums and products it is the result so far, in float64, pairs of them or modulo
// 2^64. For extremes it is the value and its index.
struct ScanState {
  alignas(16) unsigned char value[16];
  int64_t index;
};

// Lines that are scanned in turns, so that none waits for its last sum.
inline constexpr int kScanLines = 4;

// Rows of columns, each of its own line. Consecutive rows are consecutive terms of the lines. With one column
// the rows are parts of lines of `length` terms, and the first term is number `at` of its line.
struct ScanWork {
  const void* terms;
  const void* lines[kScanLines];  // the terms of each line, if lines are scanned together
  size_t rows;
  size_t columns;
  size_t at;
  size_t length;
  bool is_exclusive;  // a term does not count in its own sum
  size_t column;      // number of the first one
  void* states;       // for all columns: adjacent results, or a ScanState each
  void* results;
  int64_t* indices;
  void* line_results[kScanLines];  // of each line, if results are written without conversion
};
using ScanFunction = void (*)(ScanWork& work);
struct ScanFunctions {
  ScanFunction run;
  // Scans kScanLines lines together: `rows` terms of each from term number `at` on, with the results of one
  // line after those of the previous. nullptr if not supported.
  ScanFunction together;
};

// Returns the functions of a scan; its members are nullptr if not supported. Sums and products of kF32, kF64,
// kI64 and kC128 give kF64, kF64, kI64 and kC128. Extremes of kF32, kF64, kI32 and kI64 keep their type.
ScanFunctions FindScan(ScanOperation operation, ElementType terms) noexcept;
ElementType ScanResult(ScanOperation operation, ElementType terms) noexcept;

// Like ScanFunctions::together, but reads and writes stored elements of `dtype`, with each line's results in
// their final position. Sums are float64. nullptr if not supported.
ScanFunction FindLineScan(Isa isa, ScanOperation operation, aclDataType dtype) noexcept;

// Trivially copyable, so that an executor can hold it.
struct ScanJob {
  LoopPlan plan;  // of the input, then the outputs, in row-major order
  ScanFunctions functions;
  ScanFunction as_stored = nullptr;  // of lines together, if input and output are dense and of one type
  int64_t outer;
  int64_t length;
  int64_t inner;
  bool is_exclusive;
  bool from_memory;  // the input fits no cache
  int8_t outputs = 1;
  int8_t input;  // operand of the executor
  int8_t output[2];
  bool is_stored[2];  // through `store`; else results need no conversion
  ElementType computed;
  ElementType result;
  ElementType type;  // computed type of the input's elements; kOther: through `load`
  int tile;
  int threads;
  GatherFunction gather;
  ElementLoad load;
  ElementStore store[2];

  bool Touches(int operand) const noexcept {
    return operand == input || operand == output[0] || (outputs > 1 && operand == output[1]);
  }
  int64_t Elements() const noexcept { return plan.count; }

  // The input may be the same view as the first output.
  void Run(void* const* addresses, void* workspace) const noexcept;
};

}  // namespace portacl::engine
