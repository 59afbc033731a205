// Operator info for people who port programs: the dtypes that each product accepts, in CANN's documents and
// in its code.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "contract/dtype_rule.h"

namespace portacl {

struct OperatorInfo {
  const char* name;          // the name of phase 2
  const char* header;        // the name that a program includes
  DtypeRule documented;      // by CANN's pages; products that they do not list have no dtype
  DtypeRule accepted;        // by CANN's code, and thus here
  bool by_promotion;         // the list is for the promoted dtype of the inputs; else for every operand
  bool inputs_only = false;  // not for the output, which may have any dtype to which the promoted one casts

  // Returns "promoted inputs", "every operand" or "every input".
  const char* DtypesOf() const {
    return by_promotion ? "promoted inputs" : inputs_only ? "every input" : "every operand";
  }
};

// Returns the info of every operator of this library, in the schema's order.
std::span<const OperatorInfo> AllOperators() noexcept;

}  // namespace portacl
