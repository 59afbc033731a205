// Makes the jobs of elementwise formulas and maps over strided views.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <span>

#include "acl/acl_base.h"
#include "base/isa.h"
#include "engine/map/dispatch.h"
#include "engine/map/elementwise_job.h"
#include "engine/map/map_types.h"
#include "plan/loop_plan.h"
#include "plan/strided_view.h"

namespace portacl::engine {

// A view, and the number of the executor's operand whose storage holds it.
struct ViewOperand {
  const StridedView* view;
  int operand;
};

// Says what the job of a formula is made for.
struct FormulaSettings {
  Isa isa;
  int threads;
  aclDataType promoted;  // the inputs are cast to it before computing
};

// Returns the job of an elementwise formula over `shape`. The inputs, in the formula's order, and the output
// broadcast to it. The caller sets the formula (job.formula.Set).
ElementwiseJob MakeElementwiseJob(const FormulaSettings& settings, const Shape& shape,
                                  std::span<const ViewOperand> inputs, const ViewOperand& output) noexcept;

// Returns the job of a map over the output's shape, to which the inputs broadcast. Each input is cast to the
// promoted dtype, or to its dtype in `casts`, and then to the type of the computation (ComputedType). A
// floating result is rounded once to the output's dtype. An integer result wraps to the promoted dtype, and is
// then cast. `scalars` have the type of the computation. `kernels` must be static.
ElementwiseJob MakeMapJob(const FormulaSettings& settings, std::span<const ViewOperand> inputs,
                          const ViewOperand& output, const KernelTable& kernels, const Scalars& scalars,
                          std::initializer_list<aclDataType> casts = {}) noexcept;

// Bind the inputs to the formula of a job that the caller makes, and store their views in `views`. BindMap also
// sets the kernels.
void BindInputs(const FormulaSettings& settings, std::span<const ViewOperand> inputs, Formula& formula,
                const StridedView** views) noexcept;
MapTypes BindMap(const FormulaSettings& settings, std::span<const ViewOperand> inputs,
                 const KernelTable& kernels, const Scalars& scalars, std::initializer_list<aclDataType> casts,
                 Formula& formula, const StridedView** views) noexcept;

}  // namespace portacl::engine
