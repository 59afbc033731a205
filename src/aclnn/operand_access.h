// What an operator does with the bytes of an operand, for checks of memory that nobody wrote.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace portacl {

enum class Access {
  kReads,      // every element of the view, and the result depends on each
  kMoves,      // every element, but only to put it somewhere
  kPartly,     // which elements depends on values, or on attributes that the executor does not keep
  kWritesOnly  // it reads none
};

// That of a parameter that is an input, or that an operator rewrites in place. The operator is named as phase 2 is.
Access AccessOf(std::string_view api, std::string_view parameter, bool is_rewritten) noexcept;

// Whether an operator writes parameters that its signature counts among the inputs.
bool WritesInputs(std::string_view api) noexcept;

}  // namespace portacl
