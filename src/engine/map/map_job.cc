// Makes elementwise jobs (see map_job.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/map/map_job.h"

#include <algorithm>
#include <cstddef>

#include "engine/cache_size.h"

namespace portacl::engine {
namespace {

// Plans the loop of a job over its operands; the output comes last.
void PlanLoop(const FormulaSettings& settings, const Shape& shape,
              std::span<const StridedView* const> operands, ElementwiseJob& job) noexcept {
  job.threads = settings.threads;
  if (shape.rank <= kMaxLoopRank) {
    job.plan = PlanElementwise(shape, operands);
  } else {
    const MergedLoop merged = MergeLoop(shape, operands);
    const StridedView* fewer_dims[kMaxLoopOperands];
    for (size_t k = 0; k < operands.size(); ++k) fewer_dims[k] = &merged.operand[k];
    job.plan = PlanElementwise(merged.shape, {fewer_dims, operands.size()});
  }
  job.stream = job.plan.BytesWalked() > LastLevelCacheBytes();
  job.takes_every_second = KernelsTakeEverySecond(settings.isa);
  job.formula.gather = FindGather(settings.isa, job.stream ? GatherSource::kMemory : GatherSource::kCache);
  job.result.scatter = FindScatter(settings.isa, job.stream);
}

}  // namespace

void BindInputs(const FormulaSettings& settings, std::span<const ViewOperand> inputs, Formula& formula,
                const StridedView** views) noexcept {
  formula.input_count = static_cast<int>(inputs.size());
  for (size_t k = 0; k < inputs.size(); ++k) {
    const aclDataType dtype = inputs[k].view->dtype;
    views[k] = inputs[k].view;
    formula.argument[k] = static_cast<int8_t>(inputs[k].operand);
    formula.type[k] = ElementTypeOf(dtype);
    formula.load[k] = ElementLoad(FindLoad(settings.isa, dtype, settings.promoted));
  }
}

MapTypes BindMap(const FormulaSettings& settings, std::span<const ViewOperand> inputs,
                 const KernelTable& kernels, const Scalars& scalars, std::initializer_list<aclDataType> casts,
                 Formula& formula, const StridedView** views) noexcept {
  formula.Set(kernels.For(settings.isa), scalars);
  formula.computed = ComputedType(settings.promoted, kernels.takes);
  formula.input_count = static_cast<int>(inputs.size());
  const MapTypes types{settings.isa, settings.promoted, formula.computed, kernels.writes_bool};
  bool is_wide = false;
  formula.tile = static_cast<int>(std::min<size_t>(kTile, kTileBytes / SizeOf(formula.computed)));
  for (size_t k = 0; k < inputs.size(); ++k) {
    const aclDataType dtype = inputs[k].view->dtype;
    const aclDataType cast = k < casts.size() ? casts.begin()[k] : settings.promoted;
    views[k] = inputs[k].view;
    formula.argument[k] = static_cast<int8_t>(inputs[k].operand);
    formula.load[k] = types.LoadFor(dtype, cast, &formula.type[k]);
    is_wide = is_wide || types.IsWide(dtype);
  }
  if (is_wide) formula.tile = std::min(formula.tile, kTile / 2);
  return types;
}

ElementwiseJob MakeElementwiseJob(const FormulaSettings& settings, const Shape& shape,
                                  std::span<const ViewOperand> inputs, const ViewOperand& output) noexcept {
  ElementwiseJob job;
  const StridedView* views[kMaxLoopOperands];
  BindInputs(settings, inputs, job.formula, views);
  views[inputs.size()] = output.view;
  PlanLoop(settings, shape, {views, inputs.size() + 1}, job);
  job.result.store = ElementStore(FindStore(settings.isa, output.view->dtype));
  job.result.type = ElementTypeOf(output.view->dtype);
  job.result.argument = static_cast<int8_t>(output.operand);
  return job;
}

ElementwiseJob MakeMapJob(const FormulaSettings& settings, std::span<const ViewOperand> inputs,
                          const ViewOperand& output, const KernelTable& kernels, const Scalars& scalars,
                          std::initializer_list<aclDataType> casts) noexcept {
  ElementwiseJob job;
  const StridedView* views[kMaxLoopOperands];
  const MapTypes types = BindMap(settings, inputs, kernels, scalars, casts, job.formula, views);
  if (types.IsWide(output.view->dtype)) job.formula.tile = std::min(job.formula.tile, kTile / 2);
  views[inputs.size()] = output.view;
  PlanLoop(settings, output.view->shape, {views, inputs.size() + 1}, job);
  job.result.store = types.StoreFor(output.view->dtype, &job.result.type);
  job.result.argument = static_cast<int8_t>(output.operand);
  return job;
}

}  // namespace portacl::engine
