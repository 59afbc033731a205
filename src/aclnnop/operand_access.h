// Tells how an operator accesses the bytes of an operand, for checks of memory that was never written.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace portacl {

enum class Access {
  kReads,      // reads every element of the view, and the result depends on each
  kMoves,      // reads every element, only to move it
  kPartly,     // reads elements selected by values, or by attributes that the executor does not keep
  kWritesOnly  // reads none
};

// Returns the access to a parameter that is an input, or that an operator rewrites in place. `api` is the
// name of phase 2.
Access AccessOf(std::string_view api, std::string_view parameter, bool is_rewritten) noexcept;

// Tells whether an operator writes parameters that its signature counts among the inputs.
bool WritesInputs(std::string_view api) noexcept;

}  // namespace portacl
