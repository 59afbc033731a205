// Fold jobs: sums, products, extremes and truth over axes, in one pass or in two of which the second needs the first's results.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/fold/fold_kernels.h"
#include "engine/map/load_store.h"
#include "engine/strided.h"
#include "plan/reduction_plan.h"

namespace portacl::engine {

// What ends a pass; v is the float64 result of a sum.
enum class FoldEnding : uint8_t {
  kNone,
  kDivide,         // v / divisor; of integers, which wrap to `wraps_to` first, truncated toward zero
  kTimes,          // v * number
  kDivideAndRoot,  // sqrt(v / divisor)
  kRoot,           // sqrt(v)
  kPower,          // v^number
  kLog,            // log(v)
  kLogAndAdd,      // log(v) + m
  kConstant,       // number
  kFiniteOrZero    // 0 for an infinite v
};

struct FoldPass {
  const FoldKernels* kernels;
  FoldConstants constants;
  double divisor = 1;
  double number = 0;
  aclDataType wraps_to = ACL_INT64;
  FoldEnding ending = FoldEnding::kNone;
  bool is_kept = false;  // the results are the next pass's m
  int8_t output = -1;    // which of the job's outputs gets the results, if one does
  int8_t places = -1;    // and which their places
};

inline constexpr int kMaxFoldPasses = 2;
inline constexpr int kMaxFoldOutputs = 2;

// Trivially copyable, so that an executor can hold it.
struct FoldJob {
  ReductionPlan plan;  // of one input; plan.output has all outputs
  FoldPass pass[kMaxFoldPasses];
  int8_t passes = 1;
  int8_t outputs = 1;
  int8_t input;  // operand of the executor
  int8_t output[kMaxFoldOutputs];
  bool wide_functions;              // those of endings are computed in float64
  bool from_memory;                 // no cache has the input
  bool is_stored[kMaxFoldOutputs];  // by store; else results are as they are to be written
  ElementType type;                 // of the input's elements, as kernels take them; kOther: by load
  int tile;
  int threads;
  Isa isa;
  GatherFunction gather;
  ElementLoad load;
  ElementStore store[kMaxFoldOutputs];

  bool Touches(int operand) const noexcept {
    return operand == input || operand == output[0] || (outputs > 1 && operand == output[1]);
  }
  int64_t Elements() const noexcept { return plan.outputs() * plan.reduced; }
  uint64_t workspace_bytes() const noexcept;

  void Run(void* const* addresses, void* workspace) const noexcept;
};

}  // namespace portacl::engine
