// Runs elementwise jobs (see elementwise_job.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/map/elementwise_job.h"

#include "engine/map/precompute.h"

namespace portacl::engine {

void ElementwiseJob::Run(void* const* addresses, void*) const noexcept {
  char* base[kMaxLoopOperands];
  for (int k = 0; k < plan.operand_count; ++k) {
    const int8_t operand = k < formula.input_count ? formula.argument[k] : result.argument;
    base[k] = static_cast<char*>(addresses[operand]) + plan.operand[k].offset;
  }
  if (formula.precomputed != nullptr && IsWorthPrecomputing(formula, plan)) {
    ElementwiseLoop rest = *this;
    if (PrecomputeFunction(rest.formula, rest.plan, base, threads)) return rest.Run(base);
  }
  ElementwiseLoop::Run(base);
}

}  // namespace portacl::engine
