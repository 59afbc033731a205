// What is measured: every operator with dtypes, sizes, layouts and thread counts, each with a name.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ceiling.h"
#include "loss_calls.h"

namespace portacl::bench {

enum class Dtypes { kF32, kF16, kBf16, kMixed };

enum class Layout {
  kDense,          // every operand row-major and of the whole shape
  kScalarGrad,     // dense, with a 0-dim gradOutput
  kRow,            // one input is a row that all rows share
  kColumn,         // one input is a column that all columns share
  kTransposed,     // all operands column-major
  kOneTransposed,  // one input column-major, everything else row-major
  kStride2,        // all operands: every second element of a row-major one
  kSumToRow,       // the operand whose gradient it is: a row that all rows share
  kSumToColumn
};

struct Case {
  const LossCall* call;
  Dtypes dtypes;
  int log2;  // of the number of elements
  Layout layout;
  int threads;

  // For example "l1_loss_backward/f32/dense/2^24/t1".
  std::string Name() const;
  bool IsPossible() const;
};

// One after the other in the order that changes data and threads least.
std::vector<Case> AllCases(int all_threads);

// Enough to see in a minute whether something has gone wrong.
bool IsInQuickSelection(const Case& c);

// What docs/performance.md shows.
bool IsInTable(const Case& c);

// What is left out unless it is asked for: hours of the same.
bool IsInUsualSelection(const Case& c);

struct Operand {
  aclDataType dtype;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  int64_t elements;  // that the storage must hold
};

// The operands in the order of the signature, the output last.
std::vector<Operand> Operands(const Case& c);

// The bytes that the case must move, for data at these addresses, and whether streaming stores can move them.
struct CeilingLoop {
  Traffic traffic;
  bool may_stream;
};
CeilingLoop Ceiling(const Case& c, const std::vector<Operand>& operands, const std::vector<std::byte*>& data);

int DtypeSize(aclDataType dtype);

}  // namespace portacl::bench
