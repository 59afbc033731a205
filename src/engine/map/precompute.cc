// Precomputes functions of repeated inputs (see precompute.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/map/precompute.h"

#include "engine/conversions.h"
#include "engine/map/elementwise.h"
#include "engine/thread_memory.h"

namespace portacl::engine {
namespace {

constexpr int32_t kSize = sizeof(float);

// A second loop takes longer than it saves for shorter loops and for inputs that are repeated less often.
constexpr int64_t kFewestElements = 2048;
constexpr int64_t kFewestRepeats = 4;

}  // namespace

bool IsWorthPrecomputing(const Formula& formula, const LoopPlan& plan) noexcept {
  if (plan.count < kFewestElements) return false;
  const int64_t* const stride = plan.operand[formula.precomputed->input].stride;
  int64_t repeats = 1;
  for (int axis = 0; axis < plan.rank; ++axis) {
    if (stride[axis] == 0) repeats *= plan.extent[axis];
  }
  return repeats >= kFewestRepeats && plan.count / repeats <= kThreadMemoryBytes / kSize;
}

bool PrecomputeFunction(Formula& formula, LoopPlan& plan, char** base, int threads) noexcept {
  char* const memory = ThreadMemory(MemoryUse::kPrecomputed);
  if (memory == nullptr) return false;
  const Precomputed& precomputed = *formula.precomputed;
  const int input = precomputed.input;
  const int value = precomputed.value;

  ElementwiseLoop function;
  function.plan = PlanUnbroadcast(plan, input, kSize);
  function.formula = formula;
  function.formula.SetKernels(precomputed.function);
  function.formula.input_count = 1;
  function.formula.load[0] = formula.load[input];
  function.formula.type[0] = formula.type[input];
  function.result = {ElementStore(FindStore(precomputed.isa, ACL_FLOAT)), Scatter, ElementType::kF32,
                     /*argument=*/0};
  function.threads = threads;
  function.stream = false;
  function.takes_every_second = KernelsTakeEverySecond(precomputed.isa);
  char* const at[] = {base[input], memory};
  function.Run(at);

  const OperandLoop walk = LoopOfUnbroadcast(plan, input, kSize);
  if (value == formula.input_count) {
    for (int k = plan.operand_count; k > value; --k) {
      plan.operand[k] = plan.operand[k - 1];
      base[k] = base[k - 1];
    }
    ++plan.operand_count;
    ++formula.input_count;
  }
  plan.operand[value] = walk;
  base[value] = memory;
  plan.has_transposed = false;
  for (int k = 0; k < plan.operand_count; ++k)
    plan.has_transposed = plan.has_transposed || plan.operand[k].transposed;
  formula.load[value] = ElementLoad(FindLoad(precomputed.isa, ACL_FLOAT, ACL_FLOAT));
  formula.type[value] = ElementType::kF32;
  formula.SetKernels(precomputed.rest);
  return true;
}

}  // namespace portacl::engine
