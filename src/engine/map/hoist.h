// Formulas with a costly function of an input that is repeated (see Hoisted): the function of each distinct element
// once, in the thread's memory, instead of once for every place where the element is used. The same bits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/map/formula.h"
#include "plan/loop_plan.h"

namespace portacl::engine {

// Whether the input is repeated often enough, and its distinct elements fit the thread's memory.
bool IsWorthHoisting(const Formula& formula, const LoopPlan& plan) noexcept;

// Computes the function, on up to `threads` threads, and makes formula, plan and base (each operand's address at the
// plan's first element) those of the rest; an output in the plan stays its last operand. The value lies in the calling
// thread's memory until the next call. False when there is no memory: then nothing is changed.
bool HoistFunction(Formula& formula, LoopPlan& plan, char** base, int threads) noexcept;

}  // namespace portacl::engine
