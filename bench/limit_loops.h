// The fastest loops of an access pattern that could be written by hand: what the pattern itself costs, next to the
// ceiling, which moves the same bytes in order, and the library, which has to take any shape.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "cases.h"

namespace portacl::bench {

// One way to compute a case. Loops know nothing but the shapes of LimitCases(): rows of 4096 elements, or dense data.
struct LimitLoop {
  std::string name;  // what is special about it
  std::function<void(int part, int parts)> share;
  std::function<void()> finish = [] {};  // by one thread, after all parts
};

// The cases that have such loops: one operator for each pattern in which the library misses its share of the ceiling.
std::vector<Case> LimitCases(int all_threads);

// float64 values that the loops of a case need; sums end up in the first of them.
size_t LimitScratch(const Case& c);

// The loops for operands at these addresses: none on machines whose vectors have no fixed length. Both outlive them.
std::vector<LimitLoop> LimitLoops(const Case& c, const std::vector<std::byte*>& data, double* scratch);

}  // namespace portacl::bench
