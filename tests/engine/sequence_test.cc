// The numbers of sequences far from where they begin, where an index is no float32 any more, against exact arithmetic.
// SPDX-License-Identifier: Apache-2.0
#include "engine/sequence/sequence.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "engine/tile_size.h"
#include "gtest/gtest.h"

#include <hwy/cache_control.h>

namespace portacl::testing {
namespace {

using engine::EvenlySpaced;
using engine::FindSequence;

// Before and behind the numbers, more than the longest vector and a cache line.
constexpr size_t kRoom = 320;

// The numbers, wherever they are written and in whatever way; nothing else is written.
template <class T>
std::vector<T> Numbers(Isa isa, const EvenlySpaced<T>& numbers, int64_t first, size_t n) {
  std::vector<T> result;
  for (const bool stream : {false, true}) {
    for (const size_t shift : {0, 1, 8, 13}) {
      std::vector<T> found(2 * kRoom + n, T{77});
      const size_t begin = kRoom / 2 + shift;
      FindSequence(isa, numbers)(
          &numbers,
          {.first = first, .n = n, .to = &found[begin], .stream = stream, .in = {}, .bits = nullptr});
      if (stream) hwy::FlushStream();
      for (size_t i = 0; i < found.size(); ++i) {
        if (i >= begin && i < begin + n) continue;
        EXPECT_EQ(found[i], T{77}) << IsaName(isa) << " stream " << stream << " at " << i << " of " << n;
        if (::testing::Test::HasFailure()) return result;
      }
      const auto from = found.begin() + static_cast<std::ptrdiff_t>(begin);
      const std::vector<T> once(from, from + static_cast<std::ptrdiff_t>(n));
      if (result.empty()) result = once;
      EXPECT_EQ(std::memcmp(once.data(), result.data(), n * sizeof(T)), 0)
          << IsaName(isa) << " stream " << stream << " shift " << shift;
    }
  }
  return result;
}

constexpr int64_t kTwoTo24 = int64_t{1} << 24;
constexpr int64_t kTwoTo52 = int64_t{1} << 52;

// Steps of few bits: float64 holds every number, so that there is one rounding whatever way it is computed.
TEST(Sequences, FloatsOnBothSidesOfTheLastIndex) {
  for (const Isa isa : SupportedIsas()) {
    for (const int64_t first : {int64_t{0}, kTwoTo24 - 300, kTwoTo24 - 1, kTwoTo24, 5 * kTwoTo24 + 3}) {
      const EvenlySpaced<float> numbers{3.0f, -0.5f};
      const std::vector<float> found = Numbers(isa, numbers, first, engine::kTile);
      for (size_t i = 0; i < found.size(); ++i) {
        const double exact = 3.0 - 0.5 * static_cast<double>(first + static_cast<int64_t>(i));
        ASSERT_EQ(found[i], static_cast<float>(exact))
            << IsaName(isa) << " number " << i << " from " << first;
      }
    }
  }
}

TEST(Sequences, FloatsAreCountedFromTheEnd) {
  for (const Isa isa : SupportedIsas()) {
    for (const int64_t last : {int64_t{1000}, 3 * kTwoTo24}) {
      const EvenlySpaced<float> numbers{0.0f, 0.25f, 7.0f, last, last / 2};
      for (const int64_t first : {int64_t{0}, last / 2 - 200, last / 2, last - 511}) {
        if (first < 0) continue;
        const std::vector<float> found = Numbers(isa, numbers, first, engine::kTile);
        for (size_t i = 0; i < found.size(); ++i) {
          const int64_t place = first + static_cast<int64_t>(i);
          const double exact = place < last / 2 ? 0.25 * static_cast<double>(place)
                                                : 7.0 + 0.25 * static_cast<double>(place - last);
          ASSERT_EQ(found[i], static_cast<float>(exact))
              << IsaName(isa) << " place " << place << " of " << last;
        }
      }
    }
  }
}

TEST(Sequences, DoublesOnBothSidesOfTheLastIndex) {
  for (const Isa isa : SupportedIsas()) {
    for (const int64_t first : {kTwoTo52 - 300, kTwoTo52, 2 * kTwoTo52 - 600}) {
      const EvenlySpaced<double> numbers{1.0, 0.5};
      const std::vector<double> found = Numbers(isa, numbers, first, engine::kTile);
      for (size_t i = 0; i < found.size(); ++i) {
        // The index is a float64 up to 2^53, and so is its half.
        const double exact = 0.5 * static_cast<double>(first + static_cast<int64_t>(i)) + 1.0;
        ASSERT_EQ(found[i], exact) << IsaName(isa) << " number " << i << " from " << first;
      }
    }
  }
}

TEST(Sequences, IntegersWrap) {
  for (const Isa isa : SupportedIsas()) {
    const EvenlySpaced<int64_t> numbers{INT64_MAX - 5, INT64_C(0x123456789ABCDEF)};
    for (const int64_t first : {int64_t{0}, kTwoTo24, kTwoTo52 + 1, int64_t{1} << 60}) {
      const std::vector<int64_t> found = Numbers(isa, numbers, first, engine::kTile);
      for (size_t i = 0; i < found.size(); ++i) {
        const uint64_t exact = static_cast<uint64_t>(numbers.start) +
                               (static_cast<uint64_t>(first) + i) * static_cast<uint64_t>(numbers.step);
        ASSERT_EQ(static_cast<uint64_t>(found[i]), exact)
            << IsaName(isa) << " number " << i << " from " << first;
      }
    }
  }
}

// What lies before the numbers asked for is of no concern, also where a period began there.
TEST(Sequences, PeriodsBeginWhereTheyBegin) {
  for (const Isa isa : SupportedIsas()) {
    engine::Periodic numbers{.size = 2, .period = 5, .count = 7, .value = {0xAB, 0xCD}};
    for (int64_t first = 0; first < 45; ++first) {
      for (const size_t n : {1, 4, 5, 6, 23, 24, 200}) {
        constexpr size_t kBefore = 16;
        std::vector<uint16_t> found(kBefore + n + kRoom, 0x7777);
        FindSequence(isa, numbers)(
            &numbers,
            {.first = first, .n = n, .to = &found[kBefore], .stream = n % 2 == 0, .in = {}, .bits = nullptr});
        hwy::FlushStream();
        for (size_t i = 0; i < kBefore; ++i) ASSERT_EQ(found[i], 0x7777) << n << " from " << first;
        for (size_t i = kBefore + n; i < found.size(); ++i)
          ASSERT_EQ(found[i], 0x7777) << n << " from " << first;
        for (size_t i = 0; i < n; ++i) {
          const int64_t place = first + static_cast<int64_t>(i);
          ASSERT_EQ(found[kBefore + i], place % 5 == 0 && place / 5 < 7 ? 0xCDAB : 0)
              << place << " from " << first;
        }
      }
    }
  }
}

}  // namespace
}  // namespace portacl::testing
