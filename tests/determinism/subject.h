// An operator whose bits are promised, as the determinism test sees it. A file in subjects/ describes one and registers
// it; nothing else is needed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "support/operator_under_test.h"

namespace portacl::testing {

struct Subject {
  NumericDescription description;  // its oracle may be empty: results are compared with committed hashes
  // Whether every element of the output depends on the inputs' elements at its own position only, so that a tensor cut
  // into pieces gives the same bits (not so where a mean divides by the number of elements).
  std::function<bool(const Attributes&)> cuts_freely;
};

std::vector<Subject>& Subjects();

struct SubjectRegistration {
  explicit SubjectRegistration(Subject subject) { Subjects().push_back(std::move(subject)); }
};

}  // namespace portacl::testing
