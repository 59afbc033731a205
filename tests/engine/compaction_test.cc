// Chosen elements, packed and put back, against one element at a time: every size, masks of several densities, beside pages that nobody may
// access.
// SPDX-License-Identifier: Apache-2.0
#include "engine/compaction.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/isa.h"
#include "gtest/gtest.h"
#include "support/guarded_buffer.h"

namespace portacl::testing {
namespace {

// What is left to loops over single elements.
constexpr int64_t kMostLeft = 64;

char* Bytes(const GuardedBuffer& buffer) { return reinterpret_cast<char*>(buffer.data()); }

// Calls f with a mask of n bytes, of which some are not 0.
template <class F>
void ForEachMask(F&& f) {
  std::mt19937 random(1);
  for (const Isa isa : SupportedIsas()) {
    for (const int32_t size : {1, 2, 4, 8, 16}) {
      for (const int64_t n : {1, 63, 64, 65, 128, 300, 1000}) {
        for (const unsigned percent : {0U, 3U, 50U, 97U, 100U}) {
          SCOPED_TRACE(std::string(IsaName(isa)) + " size " + std::to_string(size) + " n " +
                       std::to_string(n) + " of which " + std::to_string(percent) + " %");
          const GuardedBuffer mask(static_cast<size_t>(n));
          std::vector<int64_t> selected;
          for (int64_t i = 0; i < n; ++i) {
            const bool is_true = random() % 100 < percent;
            mask.data()[i] = static_cast<std::byte>(is_true ? 1U << random() % 8 : 0U);
            if (is_true) selected.push_back(i);
          }
          f(isa, size, n, reinterpret_cast<const unsigned char*>(mask.data()), selected);
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

// Each element another one, as far as its bytes allow.
void Number(char* elements, int64_t n, int32_t size) {
  for (int64_t i = 0; i < n * size; ++i) elements[i] = static_cast<char>(i * 37 + i / 251);
}

TEST(Chosen, PacksAndWritesNothingBehindTheRoom) {
  ForEachMask(
      [](Isa isa, int32_t size, int64_t n, const unsigned char* mask, const std::vector<int64_t>& selected) {
        const GuardedBuffer source(static_cast<size_t>(n * size));
        Number(Bytes(source), n, size);
        const auto all = static_cast<int64_t>(selected.size());
        for (const int64_t room : {all, all / 2, n}) {
          const GuardedBuffer packed(static_cast<size_t>(room * size));
          const engine::Compacted found =
              engine::FindPack(isa, size)(mask, Bytes(source), n, Bytes(packed), room);
          ASSERT_LE(found.packed, std::min(all, room));
          ASSERT_LE(found.looked_at, n);
          for (int64_t k = 0; k < found.packed; ++k) {
            ASSERT_LT(selected[static_cast<size_t>(k)], found.looked_at);
            ASSERT_EQ(
                std::memcmp(Bytes(packed) + k * size, Bytes(source) + selected[static_cast<size_t>(k)] * size,
                            static_cast<size_t>(size)),
                0)
                << k;
          }
          if (found.packed < all) {
            ASSERT_GE(selected[static_cast<size_t>(found.packed)], found.looked_at);
          }
          if (room == n && size < 16 && isa != Isa::kPortable) {
            ASSERT_LT(n - found.looked_at, kMostLeft);
          }
        }
      });
}

TEST(Chosen, PutsBackAndLeavesTheRestAlone) {
  ForEachMask([](Isa isa, int32_t size, int64_t n, const unsigned char* mask,
                 const std::vector<int64_t>& selected) {
    const auto all = static_cast<int64_t>(selected.size());
    for (const int64_t given : {all, all / 2, n}) {
      const GuardedBuffer packed(static_cast<size_t>(given * size));
      Number(Bytes(packed), given, size);
      const GuardedBuffer target(static_cast<size_t>(n * size));
      std::memset(Bytes(target), 0x5A, static_cast<size_t>(n * size));
      std::vector<char> expected(static_cast<size_t>(n * size), 0x5A);
      const engine::Compacted found =
          engine::FindUnpack(isa, size)(mask, Bytes(packed), given, Bytes(target), n);
      int64_t taken = 0;
      for (const int64_t at : selected) {
        if (at >= found.looked_at) break;
        ASSERT_LT(taken, given);
        std::memcpy(expected.data() + at * size, Bytes(packed) + taken++ * size, static_cast<size_t>(size));
      }
      ASSERT_EQ(found.packed, taken);
      ASSERT_EQ(std::memcmp(Bytes(target), expected.data(), expected.size()), 0);
      if (given == n && size < 16 && isa != Isa::kPortable) {
        ASSERT_LT(n - found.looked_at, kMostLeft);
      }
    }
  });
}

// Of elements that draw() gives.
template <class T, class Draw>
void CheckRuns(aclDataType dtype, const Draw& draw) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  for (const Isa isa : SupportedIsas()) {
    for (const int64_t n : {1, 63, 64, 65, 300, 1000}) {
      SCOPED_TRACE(std::string(IsaName(isa)) + " dtype " + std::to_string(dtype) + " n " + std::to_string(n));
      const GuardedBuffer source(static_cast<size_t>((n + 1) * kSize));
      auto* const elements = reinterpret_cast<T*>(source.data());
      for (int64_t i = 0; i <= n; ++i) elements[i] = draw();
      const GuardedBuffer packed(static_cast<size_t>(n * kSize));
      const engine::Compacted found =
          engine::FindPackRuns(isa, dtype)(Bytes(source) + kSize, n, Bytes(packed), n);
      int64_t expected = 0;
      for (int64_t i = 1; i <= found.looked_at; ++i) {
        if (elements[i] == elements[i - 1]) continue;
        ASSERT_LT(expected, found.packed);
        ASSERT_EQ(std::memcmp(Bytes(packed) + expected++ * kSize, elements + i, sizeof(T)), 0) << i;
      }
      ASSERT_EQ(found.packed, expected);
      if (isa != Isa::kPortable) {
        ASSERT_LT(n - found.looked_at, kMostLeft);
      }
    }
  }
}

TEST(Chosen, RunsBeginWhereAnElementIsAnotherNumber) {
  std::mt19937 random(2);
  const auto number = [&] { return static_cast<int>(random() % 3) - 1; };
  // 0 with both signs, NaN, infinity and its neighbours in number.
  const auto real = [&](auto zero) {
    using T = decltype(zero);
    const T some[] = {T{0},
                      -T{0},
                      std::numeric_limits<T>::quiet_NaN(),
                      -std::numeric_limits<T>::quiet_NaN(),
                      std::numeric_limits<T>::infinity(),
                      -std::numeric_limits<T>::infinity(),
                      T{1},
                      std::numeric_limits<T>::denorm_min()};
    return some[random() % 8];
  };
  CheckRuns<float>(ACL_FLOAT, [&] { return real(float{}); });
  CheckRuns<double>(ACL_DOUBLE, [&] { return real(double{}); });
  CheckRuns<int8_t>(ACL_INT8, [&] { return static_cast<int8_t>(number()); });
  CheckRuns<uint8_t>(ACL_UINT8, [&] { return static_cast<uint8_t>(number()); });
  CheckRuns<int16_t>(ACL_INT16, [&] { return static_cast<int16_t>(number()); });
  CheckRuns<uint16_t>(ACL_UINT16, [&] { return static_cast<uint16_t>(number()); });
  CheckRuns<int32_t>(ACL_INT32, [&] { return number(); });
  CheckRuns<uint32_t>(ACL_UINT32, [&] { return static_cast<uint32_t>(number()); });
  CheckRuns<int64_t>(ACL_INT64, [&] { return int64_t{number()}; });
  CheckRuns<uint64_t>(ACL_UINT64, [&] { return static_cast<uint64_t>(number()); });
}

// A 16-bit float that compares as the number it is.
template <unsigned kExponents>
struct Half {
  uint16_t bits;
  friend bool operator==(Half a, Half b) {
    const auto magnitude = [](Half x) { return x.bits & 0x7FFFU; };
    if (magnitude(a) > kExponents || magnitude(b) > kExponents) return false;
    return a.bits == b.bits || (magnitude(a) == 0 && magnitude(b) == 0);
  }
};

TEST(Chosen, RunsOf16BitFloats) {
  std::mt19937 random(3);
  CheckRuns<Half<0x7C00>>(ACL_FLOAT16, [&] {
    constexpr uint16_t kSome[] = {0, 0x8000, 0x7C00, 0xFC00, 0x7C01, 0xFE00, 0x3C00, 1};
    return Half<0x7C00>{kSome[random() % 8]};
  });
  CheckRuns<Half<0x7F80>>(ACL_BF16, [&] {
    constexpr uint16_t kSome[] = {0, 0x8000, 0x7F80, 0xFF80, 0x7F81, 0xFFC0, 0x3F80, 1};
    return Half<0x7F80>{kSome[random() % 8]};
  });
}

}  // namespace
}  // namespace portacl::testing
