// exp in float32: at most 1 ulp from the truth and the same bits on every instruction set, at every kind of argument.
// (exp_exhaustive.cc looks at every argument there is.)
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <cstdio>
#include <vector>

#include "engine/exp_check.h"
#include "gtest/gtest.h"
#include "support/random_numbers.h"
#include "support/special_values.h"

namespace portacl::testing {
namespace {

// Neighbours of a number, on both sides.
void AddAround(double value, int32_t neighbours, std::vector<uint32_t>& bits) {
  const auto middle = std::bit_cast<uint32_t>(static_cast<float>(value));
  for (int32_t i = -neighbours; i <= neighbours; ++i) {
    bits.push_back(middle + static_cast<uint32_t>(i));
  }
}

void ExpectRight(const std::vector<uint32_t>& bits) {
  const ExpErrors errors = CheckExp(bits);
  EXPECT_EQ(errors.fault, "");
  std::printf("%zu arguments, worst error %.4f ulp at %a\n", bits.size(), errors.worst_ulp,
              static_cast<double>(errors.worst_at));
}

TEST(Exp, SpecialValues) { ExpectRight(SpecialBits(ACL_FLOAT)); }

TEST(Exp, EveryExponent) {
  RandomNumbers random(0xE4);
  std::vector<uint32_t> bits;
  for (uint32_t sign_and_exponent = 0; sign_and_exponent < 512; ++sign_and_exponent) {
    for (const uint32_t fraction : {0u, 1u, 2u, 0x3FFFFFu, 0x400000u, 0x400001u, 0x7FFFFEu, 0x7FFFFFu}) {
      bits.push_back(sign_and_exponent << 23 | fraction);
    }
    for (int i = 0; i < 500; ++i) {
      bits.push_back(sign_and_exponent << 23 | static_cast<uint32_t>(random.Bits() & 0x7FFFFF));
    }
  }
  ExpectRight(bits);
}

TEST(Exp, Boundaries) {
  std::vector<uint32_t> bits;
  const double ln2 = std::log(2.0);
  AddAround(128 * ln2, 20000, bits);   // overflow
  AddAround(-126 * ln2, 20000, bits);  // the result becomes subnormal
  AddAround(-149 * ln2, 20000, bits);  // the smallest result
  AddAround(-150 * ln2, 20000, bits);  // it rounds to zero
  AddAround(-104, 2000, bits);
  for (int n = -155; n <= 130; ++n) {
    AddAround(n * ln2, 200, bits);          // the result is near a power of two
    AddAround((n + 0.5) * ln2, 200, bits);  // the exponent of the result changes
  }
  ExpectRight(bits);
}

TEST(Exp, SubnormalResults) {
  RandomNumbers random(0xDE);
  std::vector<uint32_t> bits;
  for (int i = 0; i < 300000; ++i) {
    bits.push_back(std::bit_cast<uint32_t>(static_cast<float>(-87.0 - 18.0 * random.Unit())));
  }
  ExpectRight(bits);
}

TEST(Exp, Everywhere) {
  RandomNumbers random(0xEE);
  std::vector<uint32_t> bits;
  for (int i = 0; i < 1000000; ++i) {
    bits.push_back(i % 2 == 0 ? static_cast<uint32_t>(random.Bits())
                              : std::bit_cast<uint32_t>(static_cast<float>(random.Unit() * 194 - 105)));
  }
  // The arguments with the largest errors that the exhaustive test knows of.
  bits.insert(bits.end(), {0x4090300du, 0xc187d6adu});
  ExpectRight(bits);
}

}  // namespace
}  // namespace portacl::testing
