// Makes the jobs of reductions (see reduction_job.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/reduction/reduction_job.h"

#include "engine/cache_size.h"

namespace portacl::engine {

ReductionJob MakeReductionJob(const FormulaSettings& settings, const Shape& shape, const Shape& kept,
                              std::span<const ViewOperand> inputs, const ViewOperand& output,
                              double factor) noexcept {
  ReductionJob job;
  const StridedView* views[kMaxLoopOperands];
  BindInputs(settings, inputs, job.formula, views);
  job.plan = PlanReduction(shape, kept, {views, inputs.size()}, *output.view);
  job.from_memory = job.plan.terms.BytesWalked() > LastLevelCacheBytes();
  job.formula.gather =
      FindGather(settings.isa, job.from_memory ? GatherSource::kMemoryAskedAhead : GatherSource::kCache);
  job.terms = FindTermSums(settings.isa);
  job.store = FindSumStore(output.view->dtype);
  job.output_argument = static_cast<int8_t>(output.operand);
  job.threads = settings.threads;
  job.factor = factor;
  return job;
}

AllElementsJob MakeAllElementsJob(const FormulaSettings& settings, std::span<const ViewOperand> inputs,
                                  const ViewOperand& output, const KernelTable& kernels,
                                  const Scalars& scalars, bool is_opposite) noexcept {
  AllElementsJob job;
  const StridedView* views[kMaxLoopOperands];
  BindMap(settings, inputs, kernels, scalars, {}, job.formula, views);
  job.plan = PlanElementwise(views[0]->shape, {views, inputs.size()});
  const bool is_in_memory = job.plan.BytesWalked() > LastLevelCacheBytes();
  job.formula.gather = FindGather(settings.isa, is_in_memory ? GatherSource::kMemory : GatherSource::kCache);
  job.output_argument = static_cast<int8_t>(output.operand);
  job.output_offset = output.view->offset;
  job.is_opposite = is_opposite;
  job.threads = settings.threads;
  return job;
}

}  // namespace portacl::engine
