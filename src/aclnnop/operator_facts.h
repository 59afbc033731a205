// What a porter asks about an operator: which product accepts which dtype, in CANN's documents and in its
// code.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "contract/dtype_rule.h"

namespace portacl {

struct OperatorFacts {
  const char* name;          // that of phase 2
  const char* header;        // as a program includes it
  DtypeRule documented;      // CANN's pages: products they do not list have no dtype
  DtypeRule accepted;        // CANN's code, and so this library
  bool by_promotion;         // the dtypes are those that the inputs promote to; else every operand's own
  bool inputs_only = false;  // ... but for the output's, which may be any that the promoted one casts to

  // "promoted inputs", "every operand" or "every input".
  const char* DtypesOf() const {
    return by_promotion ? "promoted inputs" : inputs_only ? "every input" : "every operand";
  }
};

// Every operator of this library, in the order of the schema.
std::span<const OperatorFacts> AllOperators() noexcept;

}  // namespace portacl
