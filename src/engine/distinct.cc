// Splits formulas over repeated inputs (see distinct.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/distinct.h"

#include "engine/conversions.h"
#include "engine/elementwise.h"
#include "engine/thread_memory.h"

namespace portacl::engine {
namespace {

constexpr int32_t kSize = sizeof(float);

// Shorter loops, and inputs that are repeated less often, are done by the time a second loop has begun.
constexpr int64_t kFewestElements = 2048;
constexpr int64_t kFewestRepeats = 4;

}  // namespace

bool IsWorthSplitting(const Formula& formula, const LoopPlan& plan) noexcept {
  if (plan.count < kFewestElements) return false;
  const int64_t* const stride = plan.operand[formula.split->input].stride;
  int64_t repeats = 1;
  for (int axis = 0; axis < plan.rank; ++axis) {
    if (stride[axis] == 0) repeats *= plan.extent[axis];
  }
  return repeats >= kFewestRepeats && plan.count / repeats <= kThreadMemoryBytes / kSize;
}

bool SplitFormula(Formula& formula, LoopPlan& plan, char** base, int threads) noexcept {
  char* const memory = ThreadMemory(MemoryUse::kDistinct);
  if (memory == nullptr) return false;
  const Split& split = *formula.split;
  const int input = split.input;
  const int outcome = split.outcome;

  ElementwiseJob function;
  function.plan = PlanDistinct(plan, input, kSize);
  function.formula = formula;
  function.formula.SetKernels(split.function);
  function.formula.input_count = 1;
  function.formula.load[0] = formula.load[input];
  function.formula.type[0] = formula.type[input];
  function.result = {FindStore(split.isa, ACL_FLOAT), Scatter, ElementType::kF32, /*argument=*/0};
  function.threads = threads;
  function.stream = false;
  function.takes_every_second = KernelsTakeEverySecond(split.isa);
  char* const at[] = {base[input], memory};
  function.RunAt(at);

  const OperandLoop walk = WalkOfDistinct(plan, input, kSize);
  if (outcome == formula.input_count) {
    for (int k = plan.operand_count; k > outcome; --k) {
      plan.operand[k] = plan.operand[k - 1];
      base[k] = base[k - 1];
    }
    ++plan.operand_count;
    ++formula.input_count;
  }
  plan.operand[outcome] = walk;
  base[outcome] = memory;
  plan.has_crossed = false;
  for (int k = 0; k < plan.operand_count; ++k) plan.has_crossed = plan.has_crossed || plan.operand[k].crossed;
  formula.load[outcome] = FindLoad(split.isa, ACL_FLOAT, ACL_FLOAT);
  formula.type[outcome] = ElementType::kF32;
  formula.SetKernels(split.rest);
  return true;
}

}  // namespace portacl::engine
