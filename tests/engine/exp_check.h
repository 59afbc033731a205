// What exp must give for a batch of float32 numbers, on every instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace portacl::testing {

// The worst error so far, and the first fault found.
struct ExpErrors {
  double worst_ulp = 0;
  float worst_at = 0;
  std::string fault;  // empty while everything is right

  void Join(const ExpErrors& other);
};

// Checks exp of numbers given as bit patterns: the same bits on every instruction set; at most 1 ulp from the truth;
// infinite exactly where the truth rounds to infinity; exact for zeros, infinities and NaN.
ExpErrors CheckExp(std::span<const uint32_t> bits);

}  // namespace portacl::testing
