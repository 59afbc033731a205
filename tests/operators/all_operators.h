// Losses of elements and moves, for tests that call some operator of each kind.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "operators/losses.h"
#include "operators/moves.h"
#include "support/answer_suite.h"

namespace portacl::testing {

// How they are called, which is all that some tests ask.
inline std::vector<OperatorBinding> AllBindings() {
  std::vector<OperatorBinding> all;
  for (const NumericDescription* op : AllOperators()) all.push_back(op->binding);
  for (const OperatorSpec* move : MoveOperators()) all.push_back(BindingOf(*move));
  return all;
}

}  // namespace portacl::testing
