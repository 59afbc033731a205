// The ways in which operators access the bytes of their operands, for checks of programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "base/sanitizer_hooks.h"

namespace portacl {

struct Executor;
struct OperatorCall;

// Returns the access to a parameter that is an input, or that an operator rewrites in place. `api` is the
// name of phase 2.
sanitizer::OperandUse UseOf(std::string_view api, std::string_view parameter, bool is_rewritten) noexcept;

// Tells whether an operator writes parameters that its signature counts among the inputs.
bool WritesInputs(std::string_view api) noexcept;

// Returns the operands of a call, in the executor's order.
std::vector<sanitizer::OperandInfo> OperandsOf(const OperatorCall& call, const Executor& executor);

}  // namespace portacl
