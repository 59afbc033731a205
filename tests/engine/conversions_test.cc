// Conversions between stored elements and float32 on every instruction set: all 16-bit patterns, every rounding
// boundary, integers against exact arithmetic, and no access outside the elements asked for.
// SPDX-License-Identifier: Apache-2.0
#include "engine/conversions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "engine/half_formats.h"
#include "engine/isa_in_use.h"
#include "gtest/gtest.h"
#include "support/dtype_rules.h"
#include "support/guarded_buffer.h"
#include "support/random_numbers.h"
#include "support/special_values.h"

namespace portacl::testing {
namespace {

class Conversions : public ::testing::TestWithParam<Isa> {};

INSTANTIATE_TEST_SUITE_P(On, Conversions, ::testing::ValuesIn(SupportedIsas().begin(), SupportedIsas().end()),
                         [](const ::testing::TestParamInfo<Isa>& isa) {
                           return std::string(IsaName(isa.param));
                         });

uint32_t Bits(float value) { return std::bit_cast<uint32_t>(value); }

// ---- 16-bit formats ----

TEST_P(Conversions, EveryHalfPatternLoads) {
  for (const HalfFormat& half : kHalfFormats) {
    std::vector<uint16_t> patterns(65536);
    for (uint32_t i = 0; i < 65536; ++i) patterns[i] = static_cast<uint16_t>(i);
    std::vector<float> values(65536);
    engine::FindLoad(GetParam(), half.dtype, half.dtype)(patterns.data(), values.data(), values.size());
    for (uint32_t i = 0; i < 65536; ++i) {
      if (half.IsNan(i)) {
        ASSERT_TRUE(std::isnan(values[i])) << half.name << " " << i;
      } else {
        ASSERT_EQ(Bits(values[i]), EncodeFloat(kFloat32, DecodeFloat(half.format, i)))
            << half.name << " " << i;
      }
    }
  }
}

TEST_P(Conversions, EveryHalfValueSurvivesLoadAndStore) {
  for (const HalfFormat& half : kHalfFormats) {
    for (uint32_t bits = 0; bits < 65536; ++bits) {
      const auto stored = static_cast<uint16_t>(bits);
      float value = 0;
      uint16_t again = 0;
      engine::FindLoad(GetParam(), half.dtype, half.dtype)(&stored, &value, 1);
      engine::FindStore(GetParam(), half.dtype)(&value, &again, 1, false);
      if (half.IsNan(bits)) {
        ASSERT_TRUE(half.IsNan(again)) << half.name << " " << bits;
      } else {
        ASSERT_EQ(again, stored) << half.name;
      }
    }
  }
}

// Every value that a 16-bit format has, every midpoint between two of them, and the float32 neighbours of both.
TEST_P(Conversions, EveryRoundingBoundary) {
  for (const HalfFormat& half : kHalfFormats) {
    std::vector<uint32_t> magnitudes;
    for (uint32_t h = 0; h < half.format.InfinityBits(); ++h) {
      for (const double value : {half.Value(h), half.Midpoint(h)}) {
        // Beyond float32's range (bfloat16's last midpoint is not): infinity and its lower neighbour.
        const uint32_t bits = EncodeFloat(kFloat32, value);
        for (const int64_t neighbour : {-1, 0, 1}) {
          const int64_t at = int64_t{bits} + neighbour;
          if (at >= 0 && at <= 0x7F800000) magnitudes.push_back(static_cast<uint32_t>(at));
        }
      }
    }
    magnitudes.push_back(0x7F7FFFFF);
    magnitudes.push_back(0x7F800000);
    std::sort(magnitudes.begin(), magnitudes.end());
    AscendingRounding rounding(half);
    std::vector<float> values;
    std::vector<uint16_t> expected;
    for (const uint32_t magnitude : magnitudes) {
      const uint16_t rounded = rounding.Of(magnitude);
      values.push_back(std::bit_cast<float>(magnitude));
      expected.push_back(rounded);
      values.push_back(std::bit_cast<float>(magnitude | 0x80000000u));
      expected.push_back(static_cast<uint16_t>(rounded | 0x8000));
    }
    std::vector<uint16_t> found(values.size());
    engine::FindStore(GetParam(), half.dtype)(values.data(), found.data(), values.size(),
                                              values.size() % 2 == 0);
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(found[i], expected[i]) << half.name << ", float32 bits " << std::hex << Bits(values[i]);
    }
    // What the walk along the values says must be what the formula of the shared oracle says.
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(expected[i], EncodeFloat(half.format, static_cast<double>(values[i]))) << half.name;
    }
  }
}

TEST_P(Conversions, NanStaysNan) {
  RandomNumbers random(0x4A4);
  std::vector<uint32_t> nans;
  for (int bit = 0; bit < 23; ++bit) {  // payloads that a truncation would lose included
    nans.push_back(0x7F800000u | (1u << bit));
    nans.push_back(0x7F800000u | ((1u << (bit + 1)) - 1));
  }
  for (int i = 0; i < 20000; ++i)
    nans.push_back(0x7F800000u | static_cast<uint32_t>(random.Below(0x7FFFFF) + 1));
  for (const HalfFormat& half : kHalfFormats) {
    for (const uint32_t sign : {0u, 0x80000000u}) {
      std::vector<float> values;
      for (const uint32_t nan : nans) values.push_back(std::bit_cast<float>(nan | sign));
      std::vector<uint16_t> found(values.size());
      engine::FindStore(GetParam(), half.dtype)(values.data(), found.data(), values.size(),
                                                values.size() % 2 == 0);
      for (size_t i = 0; i < values.size(); ++i) {
        ASSERT_TRUE(half.IsNan(found[i])) << half.name << " " << std::hex << nans[i] << " gives " << found[i];
      }
    }
  }
}

// ---- wider outputs ----

TEST_P(Conversions, WideStoresAreExact) {
  RandomNumbers random(0x3D3);
  std::vector<float> values;
  for (const uint32_t bits : SpecialBits(ACL_FLOAT)) values.push_back(std::bit_cast<float>(bits));
  for (int i = 0; i < 10000; ++i)
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(random.Bits())));
  const size_t n = values.size();
  std::vector<float> f32(n);
  std::vector<double> f64(n);
  std::vector<std::array<float, 2>> c64(n);
  std::vector<std::array<double, 2>> c128(n);
  engine::FindStore(GetParam(), ACL_FLOAT)(values.data(), f32.data(), n, n % 2 == 0);
  engine::FindStore(GetParam(), ACL_DOUBLE)(values.data(), f64.data(), n, n % 2 == 0);
  engine::FindStore(GetParam(), ACL_COMPLEX64)(values.data(), c64.data(), n, n % 2 == 0);
  engine::FindStore(GetParam(), ACL_COMPLEX128)(values.data(), c128.data(), n, n % 2 == 0);
  for (size_t i = 0; i < n; ++i) {
    ASSERT_EQ(Bits(f32[i]), Bits(values[i]));
    ASSERT_EQ(Bits(c64[i][0]), Bits(values[i]));
    ASSERT_EQ(Bits(c64[i][1]), 0u);
    ASSERT_EQ(std::bit_cast<uint64_t>(c128[i][1]), 0u);
    if (std::isnan(values[i])) {
      ASSERT_TRUE(std::isnan(f64[i]) && std::isnan(c128[i][0]));
    } else {
      const auto expected = static_cast<double>(values[i]);
      ASSERT_EQ(std::bit_cast<uint64_t>(f64[i]), std::bit_cast<uint64_t>(expected));
      ASSERT_EQ(std::bit_cast<uint64_t>(c128[i][0]), std::bit_cast<uint64_t>(expected));
    }
  }
}

// ---- integers ----

// The nearest number with `precision` significant bits, the even one of two equally near; exact in 128 bits. What
// lies half way to 2^(max_exponent + 1) or beyond is infinite.
double NearestOfPrecision(int64_t value, int precision, int max_exponent) {
  __extension__ typedef __int128 Wide;
  const Wide magnitude = value < 0 ? -static_cast<Wide>(value) : static_cast<Wide>(value);
  Wide unit = 1;
  while (magnitude >= unit << precision) unit <<= 1;
  const Wide below = magnitude / unit * unit;
  const Wide above = below + unit;
  const Wide to_below = magnitude - below;
  const Wide to_above = above - magnitude;
  const bool below_is_even = below / unit % 2 == 0;
  const Wide nearest = to_below < to_above || (to_below == to_above && below_is_even) ? below : above;
  if (max_exponent < 64 && nearest >= static_cast<Wide>(1) << (max_exponent + 1)) {
    return value < 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  }
  const auto rounded = static_cast<double>(nearest);  // at most 24 significant bits: exact
  return value < 0 ? -rounded : rounded;
}

struct IntegerType {
  aclDataType dtype;
  int64_t lowest;
  int64_t highest;
};

constexpr IntegerType kIntegerTypes[] = {{ACL_INT8, INT8_MIN, INT8_MAX},
                                         {ACL_UINT8, 0, UINT8_MAX},
                                         {ACL_INT16, INT16_MIN, INT16_MAX},
                                         {ACL_INT32, INT32_MIN, INT32_MAX},
                                         {ACL_INT64, INT64_MIN, INT64_MAX}};

std::vector<int64_t> IntegersOf(const IntegerType& type) {
  std::vector<int64_t> values;
  if (type.highest <= INT16_MAX) {
    for (int64_t value = type.lowest; value <= type.highest; ++value) values.push_back(value);
    return values;
  }
  const auto add = [&](int64_t value) {
    if (value >= type.lowest && value <= type.highest) values.push_back(value);
  };
  for (int64_t value = -70000; value <= 70000; ++value) add(value);
  for (const int64_t value : SpecialIntegers(type.dtype)) add(value);
  // Around every tie of every precision in every binade.
  for (int top = 8; top < 63; ++top) {
    for (const int precision : {8, 11, 24}) {
      if (top < precision) continue;
      const int64_t half = int64_t{1} << (top - precision);
      for (const int64_t steps : {0, 1, 2, 3, 5, 7}) {
        for (const int64_t near : {-1, 0, 1}) {
          const int64_t value = (int64_t{1} << top) + steps * half + near;
          add(value);
          add(-value);
        }
      }
    }
  }
  for (const int64_t offset : {0, 1, 2, 1000}) {
    add(type.lowest + offset);
    add(type.highest - offset);
  }
  RandomNumbers random(0x1274);
  for (int i = 0; i < 200000; ++i) {
    const auto bits = static_cast<int64_t>(random.Bits());
    add(bits >> random.Below(64));
  }
  return values;
}

TEST_P(Conversions, IntegersRoundOnceThroughThePromotedType) {
  struct Through {
    aclDataType dtype;
    int precision;
    int max_exponent;
  };
  for (const IntegerType& type : kIntegerTypes) {
    const std::vector<int64_t> values = IntegersOf(type);
    const auto element_bytes = static_cast<size_t>(ElementSize(type.dtype));
    std::vector<std::byte> stored(values.size() * element_bytes);
    for (size_t i = 0; i < values.size(); ++i)
      std::memcpy(&stored[i * element_bytes], &values[i], element_bytes);
    for (const Through through :
         {Through{ACL_FLOAT, 24, 127}, Through{ACL_FLOAT16, 11, 15}, Through{ACL_BF16, 8, 127}}) {
      std::vector<float> found(values.size());
      engine::FindLoad(GetParam(), type.dtype, through.dtype)(stored.data(), found.data(), found.size());
      for (size_t i = 0; i < values.size(); ++i) {
        const double expected = NearestOfPrecision(values[i], through.precision, through.max_exponent);
        ASSERT_EQ(static_cast<double>(found[i]), expected)
            << values[i] << " through " << DtypeName(through.dtype) << " from " << DtypeName(type.dtype);
        ASSERT_FALSE(values[i] == 0 && std::signbit(found[i])) << "zero is positive";
      }
    }
  }
}

TEST_P(Conversions, AnyBoolByteThatIsNotZeroIsOne) {
  std::vector<uint8_t> bytes(256);
  for (uint32_t i = 0; i < 256; ++i) bytes[i] = static_cast<uint8_t>(i);
  for (const aclDataType through : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    std::vector<float> found(256, -1.0f);
    engine::FindLoad(GetParam(), ACL_BOOL, through)(bytes.data(), found.data(), 256);
    for (size_t i = 0; i < 256; ++i) ASSERT_EQ(found[i], i == 0 ? 0.0f : 1.0f);
  }
}

TEST_P(Conversions, WhatHasNoConversionHasNoFunction) {
  for (const DtypeNumber number : AllDtypes()) {
    const aclDataType dtype = AsAclDataType(number);
    const bool floating = dtype == ACL_FLOAT || dtype == ACL_FLOAT16 || dtype == ACL_BF16;
    const bool integer =
        dtype == ACL_BOOL || std::any_of(std::begin(kIntegerTypes), std::end(kIntegerTypes),
                                         [&](const IntegerType& t) { return t.dtype == dtype; });
    const bool wide = dtype == ACL_DOUBLE || dtype == ACL_COMPLEX64 || dtype == ACL_COMPLEX128;
    const bool byte = dtype == ACL_FLOAT8_E4M3FN || dtype == ACL_FLOAT8_E5M2 || dtype == ACL_FLOAT8_E8M0 ||
                      dtype == ACL_HIFLOAT8;
    EXPECT_EQ(engine::FindLoad(GetParam(), dtype, ACL_FLOAT) != nullptr, floating || byte || integer)
        << DtypeName(number);
    EXPECT_EQ(engine::FindLoad(GetParam(), dtype, ACL_INT32) != nullptr, floating || byte)
        << DtypeName(number);
    EXPECT_EQ(engine::FindStore(GetParam(), dtype) != nullptr, floating || byte || wide) << DtypeName(number);
  }
}

// ---- lengths and addresses ----

constexpr size_t kMaxLength = 67;

// A conversion with the sizes of what it reads and writes.
struct Conversion {
  std::string name;
  size_t from_bytes;
  size_t to_bytes;
  std::function<void(const void* from, void* to, size_t n)> run;
};

std::vector<Conversion> AllConversions(Isa isa) {
  std::vector<Conversion> all;
  for (const aclDataType dtype :
       {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_BOOL}) {
    for (const aclDataType through : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
      if (IsFloatingDtype(dtype) && through != ACL_FLOAT) continue;
      const auto load = engine::FindLoad(isa, dtype, through);
      all.push_back(
          {"load " + DtypeName(dtype) + " through " + DtypeName(through),
           static_cast<size_t>(ElementSize(dtype)), sizeof(float),
           [load](const void* from, void* to, size_t n) { load(from, static_cast<float*>(to), n); }});
    }
  }
  for (const aclDataType dtype :
       {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_COMPLEX64, ACL_COMPLEX128}) {
    const auto store = engine::FindStore(isa, dtype);
    for (const bool stream : {false, true}) {
      all.push_back({"store " + DtypeName(dtype) + (stream ? ", streaming" : ""), sizeof(float),
                     static_cast<size_t>(ElementSize(dtype)), [=](const void* from, void* to, size_t n) {
                       store(static_cast<const float*>(from), to, n, stream);
                     }});
    }
  }
  return all;
}

// Every length at both guard pages (a byte read or written outside crashes) and at every misalignment of the memory
// operand (a byte written outside is seen); the results are those of a long run.
TEST_P(Conversions, EveryLengthAtEveryMisalignment) {
  RandomNumbers random(0x6A4D);
  constexpr size_t kRoom = 4096;
  GuardedBuffer from(kRoom);
  GuardedBuffer to(kRoom);
  constexpr auto kCanary = std::byte{0xA5};
  const std::vector<std::byte> canaries(kRoom, kCanary);
  for (const Conversion& conversion : AllConversions(GetParam())) {
    const bool is_load = conversion.to_bytes == sizeof(float) && conversion.name.starts_with("load");
    std::vector<std::byte> source(kMaxLength * conversion.from_bytes);
    for (std::byte& b : source) b = static_cast<std::byte>(random.Bits());
    std::vector<std::byte> expected(kMaxLength * conversion.to_bytes);
    for (size_t i = 0; i < kMaxLength; ++i) {
      conversion.run(&source[i * conversion.from_bytes], &expected[i * conversion.to_bytes], 1);
    }
    const auto check = [&](size_t length, size_t from_at, size_t to_at) {
      const size_t from_bytes = length * conversion.from_bytes;
      const size_t to_bytes = length * conversion.to_bytes;
      std::memcpy(to.data(), canaries.data(), kRoom);
      std::memcpy(from.data() + from_at, source.data(), from_bytes);
      conversion.run(from.data() + from_at, to.data() + to_at, length);
      const bool right = std::memcmp(to.data() + to_at, expected.data(), to_bytes) == 0;
      const size_t to_end = to_at + to_bytes;
      const bool outside_kept = std::memcmp(to.data(), canaries.data(), to_at) == 0 &&
                                std::memcmp(to.data() + to_end, canaries.data(), kRoom - to_end) == 0;
      ASSERT_TRUE(right && outside_kept) << conversion.name << ", length " << length << ", from " << from_at
                                         << ", to " << to_at << (right ? ": writes outside" : ": differs");
    };
    for (size_t length = 0; length <= kMaxLength && !HasFatalFailure(); ++length) {
      check(length, kRoom - length * conversion.from_bytes, kRoom - length * conversion.to_bytes);
      check(length, 0, 0);
      for (size_t misalignment = 1; misalignment < 64; ++misalignment) {
        // The stored side may lie anywhere, the float32 side at multiples of 4.
        const size_t floats = misalignment * 5 % 16 * sizeof(float);
        check(length, is_load ? 64 + misalignment : 64 + floats, is_load ? 64 + floats : 64 + misalignment);
        if (HasFatalFailure()) break;
      }
    }
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace portacl::testing
