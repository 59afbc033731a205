// Sums by a formula's kernel, on every instruction set. Of columns: each one's terms are added one after the other,
// whether the inputs come from memory or from a cache. In lanes: the terms take turns, however they are cut into pieces.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/sum_kernels_test.cc"
#include <hwy/foreach_target.h>

#include "engine/reduction/sum_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::testing {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

struct Difference : engine::HWY_NAMESPACE::Summable<Difference> {
  using Parameters = engine::NoParameters;
  static constexpr int kInputs = 2;
  static constexpr bool kHasFastPath = true;

  explicit Difference(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Sub(a, b);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace portacl::testing
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "engine/map/dispatch.h"
#include "gtest/gtest.h"
#include "support/random_numbers.h"

namespace portacl::testing {
namespace {

constexpr auto kDifferences = PORTACL_KERNELS(Difference);

// Of numbers whose exponents differ, so that every order of additions has another sum.
std::vector<float> RandomFloats(RandomNumbers& random, size_t n) {
  std::vector<float> values(n);
  for (float& value : values) {
    const auto bits = static_cast<uint32_t>(random.Bits());
    // A bfloat16, from 2^-32 to 2^31.
    value = std::bit_cast<float>((bits & 0x807F0000) | (95 + (bits & 63)) << 23);
  }
  return values;
}

// Where the kernel is mixed, a is bf16 and b f32.
void Check(size_t columns, size_t rows, size_t gap, bool repeated, engine::ElementType kernel) {
  SCOPED_TRACE(::testing::Message() << columns << " columns, " << rows << " rows, gap " << gap
                                    << ", repeated " << repeated << ", kernel " << static_cast<int>(kernel));
  RandomNumbers random(columns * 1000 + rows);
  const size_t stride = columns + gap;
  const std::vector<float> a = RandomFloats(random, stride * rows);
  std::vector<float> b = RandomFloats(random, repeated ? engine::kRepeated : stride * rows);
  if (repeated) b.assign(b.size(), b[0]);
  std::vector<uint16_t> short_a, short_b;
  for (const float value : a) short_a.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16));
  for (const float value : b) short_b.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16));

  const bool short_first = kernel != engine::ElementType::kF32;
  const bool short_second = kernel == engine::ElementType::kBf16;
  const size_t size[] = {short_first ? sizeof(uint16_t) : sizeof(float),
                         short_second ? sizeof(uint16_t) : sizeof(float)};

  const std::vector<double> before(columns, 0.125);
  std::vector<double> expected = before;
  for (size_t r = 0; r < rows; ++r) {
    for (size_t i = 0; i < columns; ++i) {
      const float term = a[r * stride + i] - (repeated ? b[0] : b[r * stride + i]);
      expected[i] += static_cast<double>(term);
    }
  }
  for (const Isa isa : SupportedIsas()) {
    const engine::Kernels kernels = kDifferences.For(isa);
    if (kernel != engine::ElementType::kF32 && (kernels.takes & engine::k16BitFloats) == 0) continue;
    for (const bool from_memory : {false, true}) {
      std::vector<double> sums = before;
      engine::SumWork work{};
      work.order = engine::SumWork::Order::kByRow;
      work.in[0] = short_first ? static_cast<const void*>(short_a.data()) : a.data();
      work.in[1] = short_second ? static_cast<const void*>(short_b.data()) : b.data();
      work.step[0] = size[0];
      work.step[1] = repeated ? 0 : size[1];
      for (int k = 0; k < 2; ++k) work.row_stride[k] = static_cast<int64_t>(stride * work.step[k]);
      work.n = columns;
      work.rows = rows;
      work.sums = sums.data();
      work.from_memory = from_memory;
      const engine::NoParameters parameters;
      kernels.sums({kernel}, &parameters, work);
      EXPECT_EQ(std::memcmp(sums.data(), expected.data(), columns * sizeof(double)), 0)
          << IsaName(isa) << ", from memory: " << from_memory;
    }
  }
}

TEST(SumRows, FromMemoryAndFromCache) {
  for (const engine::ElementType kernel :
       {engine::ElementType::kF32, engine::ElementType::kBf16, engine::ElementType::kMixed}) {
    for (const bool repeated : {false, true}) {
      for (const size_t columns : {1, 15, 16, 17, 64, 100, 1023, 1024, 1040, 2048, 2100, 4096, 5000}) {
        Check(columns, 5, 0, repeated, kernel);
        Check(columns, 4, 3, repeated, kernel);
      }
      Check(2080, 1, 0, repeated, kernel);
    }
  }
}

// Stretches of `length` terms, which come in pieces whose lengths are taken in turn.
void CheckLanes(size_t stretches, size_t length, const std::vector<size_t>& pieces,
                engine::ElementType kernel) {
  SCOPED_TRACE(::testing::Message() << length << " terms, pieces of " << pieces[0] << "..., kernel "
                                    << static_cast<int>(kernel));
  constexpr size_t kLanes = 16;
  constexpr size_t kBlock = 4096;
  RandomNumbers random(length * 100 + pieces[0]);
  const std::vector<float> a = RandomFloats(random, stretches * length);
  const std::vector<float> b = RandomFloats(random, stretches * length);
  std::vector<uint16_t> short_a, short_b;
  for (const float value : a) short_a.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16));
  for (const float value : b) short_b.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16));

  std::vector<double> expected;
  for (size_t first = 0; first < a.size(); first += length) {
    for (size_t block = 0; block < length; block += kBlock) {
      double lane[kLanes] = {};
      for (size_t i = 0; i < std::min(kBlock, length - block); ++i) {
        const float term = a[first + block + i] - b[first + block + i];
        lane[i % kLanes] += static_cast<double>(term);
      }
      for (size_t width = kLanes / 2; width > 0; width /= 2) {
        for (size_t i = 0; i < width; ++i) lane[i] += lane[i + width];
      }
      expected.push_back(lane[0]);
    }
  }
  const bool is_short = kernel == engine::ElementType::kBf16;
  const size_t size = is_short ? sizeof(uint16_t) : sizeof(float);
  const auto* const first_a =
      is_short ? reinterpret_cast<const char*>(short_a.data()) : reinterpret_cast<const char*>(a.data());
  const auto* const first_b =
      is_short ? reinterpret_cast<const char*>(short_b.data()) : reinterpret_cast<const char*>(b.data());
  for (const Isa isa : SupportedIsas()) {
    const engine::Kernels kernels = kDifferences.For(isa);
    if (kernel != engine::ElementType::kF32 && (kernels.takes & engine::k16BitFloats) == 0) continue;
    for (const bool from_memory : {false, true}) {
      std::vector<double> sums(expected.size());
      alignas(64) double lanes[kLanes] = {};
      engine::SumWork work{};
      work.order = engine::SumWork::Order::kByLane;
      work.lanes = lanes;
      work.length = length;
      work.sums = sums.data();
      work.from_memory = from_memory;
      for (size_t at = 0, piece = 0; at < a.size(); ++piece) {
        work.n = std::min(pieces[piece % pieces.size()], a.size() - at);
        work.in[0] = first_a + at * size;
        work.in[1] = first_b + at * size;
        work.step[0] = size;
        work.step[1] = size;
        const engine::NoParameters parameters;
        kernels.sums({kernel}, &parameters, work);
        at += work.n;
      }
      ASSERT_EQ(work.sums, sums.data() + sums.size());
      EXPECT_EQ(std::memcmp(sums.data(), expected.data(), sums.size() * sizeof(double)), 0)
          << IsaName(isa) << ", from memory: " << from_memory;
    }
  }
}

TEST(SumLanes, InPiecesOfAnyLength) {
  for (const engine::ElementType kernel : {engine::ElementType::kF32, engine::ElementType::kBf16}) {
    for (const size_t length : {16, 17, 31, 100, 4096, 4097, 4111, 4128, 8192, 9000}) {
      for (const std::vector<size_t>& pieces : std::vector<std::vector<size_t>>{
               {1000000}, {4096}, {33}, {100, 7, 64}, {2049, 16}, {1, 47, 512}}) {
        CheckLanes(5, length, pieces, kernel);
      }
    }
  }
}

}  // namespace
}  // namespace portacl::testing

#endif  // HWY_ONCE
