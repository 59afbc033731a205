// Precomputes a costly function of a repeated input (see Precomputed): once for each distinct element, in the
// thread's memory, instead of once for every use. The bits are the same.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/map/formula.h"
#include "plan/loop_plan.h"

namespace portacl::engine {

// Tells whether the input is repeated often enough and its distinct elements fit the thread's memory.
bool IsWorthPrecomputing(const Formula& formula, const LoopPlan& plan) noexcept;

// Computes the function on up to `threads` threads, and replaces formula, plan and base (each operand's
// address at the plan's first element) by those of the rest. An output in the plan stays its last operand.
// The value lies in the calling thread's memory until the next call. Returns false, and changes nothing, if
// there is no memory.
bool PrecomputeFunction(Formula& formula, LoopPlan& plan, char** base, int threads) noexcept;

}  // namespace portacl::engine
