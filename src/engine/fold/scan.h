// Scan jobs: every element becomes the sum, product, largest or least of those up to it along one dim.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/map/formula.h"
#include "engine/map/load_store.h"
#include "engine/strided.h"
#include "plan/loop_plan.h"

namespace portacl::engine {

enum class ScanOperation : uint8_t { kSum, kProduct, kLargest, kLeast };

// What a line has seen: of sums and products the result, in float64, pairs of them or modulo 2^64; of extremes the value and its place.
struct ScanState {
  alignas(16) unsigned char value[16];
  int64_t place;
};

// Lines that are scanned together, in turns, so that none waits for its last sum.
inline constexpr int kScanLines = 4;

// Rows of columns, each of a line of its own: rows that follow each other on the line, or, with one column, stretches of
// lines of `length` terms, of which the first term is number `at`.
struct ScanWork {
  const void* terms;
  const void* lines[kScanLines];  // the terms of each line, of lines that are scanned together
  size_t rows;
  size_t columns;
  size_t at;
  size_t length;
  bool is_exclusive;  // a term is not part of its own sum
  size_t column;      // the first one's number
  void* states;       // of all columns: results side by side, or a ScanState each
  void* results;
  int64_t* places;
  void* line_results[kScanLines];  // of each line, where they are written as they are stored
};
using ScanFunction = void (*)(ScanWork& work);
struct ScanFunctions {
  ScanFunction run;
  // As many lines as kScanLines: `rows` terms of each from term number `at` on; a line's results lie behind those of the one before.
  // nullptr where there is none.
  ScanFunction together;
};

// Sums and products of kF32, kF64, kI64 and kC128 give kF64, kF64, kI64 and kC128; extremes of kF32, kF64, kI32 and kI64 give their own
// type. nullptr where there is none.
ScanFunctions FindScan(ScanOperation operation, ElementType terms) noexcept;
ElementType ScanResult(ScanOperation operation, ElementType terms) noexcept;

// As ScanFunctions::together, from elements of `dtype` as they are stored to such, each line's results where they belong; sums are
// float64. nullptr where there is none.
ScanFunction FindLineScan(Isa isa, ScanOperation operation, aclDataType dtype) noexcept;

// Trivially copyable, so that an executor can hold it.
struct ScanJob {
  LoopPlan plan;  // of the input, then the outputs, in row-major order
  ScanFunctions functions;
  ScanFunction as_stored =
      nullptr;  // of lines together, where elements of input and output are of one type and dense
  int64_t outer;
  int64_t length;
  int64_t inner;
  bool is_exclusive;
  bool from_memory;  // no cache has the input
  int8_t outputs = 1;
  int8_t input;  // operand of the executor
  int8_t output[2];
  bool is_stored[2];  // by store; else results are as they are to be written
  ElementType computed;
  ElementType result;
  ElementType type;  // of the input's elements as they are computed; kOther: by load
  int tile;
  int threads;
  GatherFunction gather;
  ElementLoad load;
  ElementStore store[2];

  bool Touches(int operand) const noexcept {
    return operand == input || operand == output[0] || (outputs > 1 && operand == output[1]);
  }
  int64_t Elements() const noexcept { return plan.count; }

  // The input may be the very view of the first output.
  void Run(void* const* addresses, void* workspace) const noexcept;
};

}  // namespace portacl::engine
