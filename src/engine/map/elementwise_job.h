// Elementwise jobs: an elementwise loop as an executor holds it. Functions of a repeated input alone are
// precomputed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/map/elementwise.h"

namespace portacl::engine {

struct ElementwiseJob : ElementwiseLoop {
  bool Touches(int executor_operand) const noexcept {
    return formula.Reads(executor_operand) || result.argument == executor_operand;
  }

  int64_t Elements() const noexcept { return plan.count; }

  void Run(void* const* addresses, void* workspace) const noexcept;
};

}  // namespace portacl::engine
