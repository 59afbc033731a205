// exp of every one of the 2^32 float32 numbers, on every instruction set, on two threads.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include "engine/exp_check.h"

namespace portacl::testing {
namespace {

constexpr uint32_t kChunk = 1u << 16;

ExpErrors CheckHalf(uint32_t sign) {
  ExpErrors errors;
  std::vector<uint32_t> bits(kChunk);
  for (uint32_t first = 0; first < 0x80000000u; first += kChunk) {
    for (uint32_t i = 0; i < kChunk; ++i) {
      bits[i] = sign | (first + i);
    }
    errors.Join(CheckExp(bits));
  }
  return errors;
}

}  // namespace
}  // namespace portacl::testing

int main() {
  using portacl::testing::ExpErrors;
  ExpErrors positive;
  ExpErrors negative;
  std::thread other([&] { negative = portacl::testing::CheckHalf(0x80000000u); });
  positive = portacl::testing::CheckHalf(0);
  other.join();
  std::printf("positive arguments: worst error %.6f ulp at %a\n", positive.worst_ulp,
              static_cast<double>(positive.worst_at));
  std::printf("negative arguments: worst error %.6f ulp at %a\n", negative.worst_ulp,
              static_cast<double>(negative.worst_at));
  positive.Join(negative);
  std::printf("%s\n", positive.fault.empty() ? "all 2^32 arguments are right" : positive.fault.c_str());
  return positive.fault.empty() ? 0 : 1;
}
