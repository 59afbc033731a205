// Transposed rows: their elements of one index are adjacent in memory, and are processed together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/isa.h"

namespace portacl::engine {

// Kernels process a multiple of this many rows.
inline constexpr int64_t kRowsOfGroup = 16;
// The most rows of a kernel's call, and the most numbers of each row that a formula asks for.
inline constexpr int64_t kMostAcross = 256;
inline constexpr int64_t kMostAcrossNumbers = 2;
// The most inputs of a formula.
inline constexpr int kMostAcrossInputs = 2;

// The work of a kernel of transposed rows. Element i of row r is element r of the line at address + i * step.
struct AcrossWork {
  size_t n;     // elements of a row
  size_t rows;  // a multiple of kRowsOfGroup
  const char* input[kMostAcrossInputs];
  int64_t input_step[kMostAcrossInputs];
  char* output;
  int64_t output_step;
  // Dense lines. The pass that reads an input first copies it there for later passes. nullptr: they read it
  // again.
  char* copy[kMostAcrossInputs];
  float* kept;     // dense lines of terms that one pass leaves to the next; nullptr: none are kept
  double* sums;    // kAcrossSums
  float* numbers;  // kMostAcrossNumbers * rows
  size_t ahead;    // lines; 0: nothing is prefetched
  bool stream;     // outputs go past the caches; their lines begin with cache lines and are whole ones
};

// Doubles for sixteen sums of each row, and for the levels of a tree of sums.
inline constexpr int64_t kAcrossSums = (16 + 40) * kMostAcross;

// Computes some rows.
using AcrossFunction = Isa (*)(const AcrossWork& work);

}  // namespace portacl::engine
