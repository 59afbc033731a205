// Makes the jobs that reduce the values of a formula over strided views: sums, and whether all are true.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engine/map/map_job.h"
#include "engine/reduction/all_elements.h"
#include "engine/reduction/reduction.h"

namespace portacl::engine {

// Returns the job that sums a formula's terms of shape `shape` to the shape `kept` (see PlanReduction),
// multiplies each sum by `factor` and rounds once. The caller sets the formula (job.formula.Set), and gives
// the job job.plan.workspace_bytes() of workspace.
ReductionJob MakeReductionJob(const FormulaSettings& settings, const Shape& shape, const Shape& kept,
                              std::span<const ViewOperand> inputs, const ViewOperand& output,
                              double factor) noexcept;

// Returns the job that writes 1 to the output's only element, a BOOL, if a formula that writes BOOL gives 1 for
// every element of the inputs, else 0; with `is_opposite` 0 and 1. The inputs have one shape, of at most 8 dims
// and without a dim of 0.
AllElementsJob MakeAllElementsJob(const FormulaSettings& settings, std::span<const ViewOperand> inputs,
                                  const ViewOperand& output, const KernelTable& kernels,
                                  const Scalars& scalars, bool is_opposite) noexcept;

}  // namespace portacl::engine
