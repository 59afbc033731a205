// Every operator's description, for tests that go over all of them: one line each.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "operators/losses.h"
#include "operators/moves.h"
#include "support/answer_suite.h"

namespace portacl::testing {

// Every operator of the library: how it is called, which is all that some tests ask.
inline std::vector<OperatorBinding> AllBindings() {
  std::vector<OperatorBinding> all;
  for (const NumericDescription* op : AllOperators()) all.push_back(op->binding);
  for (const OperatorSpec* move : MoveOperators()) all.push_back(BindingOf(*move));
  return all;
}

}  // namespace portacl::testing
