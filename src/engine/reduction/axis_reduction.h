// Reduction jobs: sums, products, extremes and any/all over axes, in one pass or in two. The second pass uses
// the first one's results.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/map/load_store.h"
#include "engine/reduction/reduction_kernels.h"
#include "engine/strided.h"
#include "plan/reduction_plan.h"

namespace portacl::engine {

// The operation at the end of a pass; v is the float64 result of a sum.
enum class ReductionEpilogue : uint8_t {
  kNone,
  kDivide,         // v / divisor; for integers, which first wrap to `wraps_to`, truncated toward zero
  kTimes,          // v * number
  kDivideAndRoot,  // sqrt(v / divisor)
  kRoot,           // sqrt(v)
  kPower,          // v^number
  kLog,            // log(v)
  kLogAndAdd,      // log(v) + m
  kConstant,       // number
  kFiniteOrZero    // 0 for an infinite v
};

struct ReductionPass {
  const ReductionKernels* kernels;
  ReductionConstants constants;
  double divisor = 1;
  double number = 0;
  aclDataType wraps_to = ACL_INT64;
  ReductionEpilogue ending = ReductionEpilogue::kNone;
  bool is_kept = false;  // the results are m in the next pass
  int8_t output = -1;    // the job's output for the results, or -1
  int8_t indices = -1;   // the job's output for their indices, or -1
};

inline constexpr int kMaxReductionPasses = 2;
inline constexpr int kMaxReductionOutputs = 2;

// Trivially copyable, so that an executor can hold it.
struct AxisReductionJob {
  ReductionPlan plan;  // of one input; plan.output has all outputs
  ReductionPass pass[kMaxReductionPasses];
  int8_t passes = 1;
  int8_t outputs = 1;
  int8_t input;  // operand of the executor
  int8_t output[kMaxReductionOutputs];
  bool wide_functions;                   // endings compute their functions in float64
  bool from_memory;                      // the input fits no cache
  bool is_stored[kMaxReductionOutputs];  // through `store`; else results need no conversion
  ElementType type;  // type in which kernels read the input's elements; kOther: through `load`
  int tile;
  int threads;
  Isa isa;
  GatherFunction gather;
  ElementLoad load;
  ElementStore store[kMaxReductionOutputs];

  bool Touches(int operand) const noexcept {
    return operand == input || operand == output[0] || (outputs > 1 && operand == output[1]);
  }
  int64_t Elements() const noexcept { return plan.outputs() * plan.reduced; }
  uint64_t workspace_bytes() const noexcept;

  void Run(void* const* addresses, void* workspace) const noexcept;
};

}  // namespace portacl::engine
