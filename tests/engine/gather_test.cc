// Gathering strided elements and scattering them, against one element at a time: every size and many strides, up to the
// last byte before a page that nobody may access, and no byte between the elements written.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/isa.h"
#include "engine/strided.h"
#include "gtest/gtest.h"
#include "support/guarded_buffer.h"

namespace portacl::testing {
namespace {

constexpr int64_t kMostElements = 75;  // several vectors of the smallest elements, and a rest

// Bytes from the first to the last of n elements, `stride` elements of `size` bytes apart in either direction.
int64_t Span(int64_t n, int64_t stride, int64_t size) {
  return ((n - 1) * (stride < 0 ? -stride : stride) + 1) * size;
}

// With the instruction set whose functions are to be called.
template <class F>
void ForEachCase(F&& f) {
  for (const Isa isa : SupportedIsas()) {
    for (const int32_t size : {1, 2, 4, 8}) {
      for (const int64_t stride : {0, 1, 2, 3, 5, -1, -2}) {
        for (int64_t n = 1; n <= kMostElements; ++n) {
          for (const Guard guard : {Guard::kEnd, Guard::kStart}) {
            SCOPED_TRACE(std::string(IsaName(isa)) + " size " + std::to_string(size) + " stride " +
                         std::to_string(stride) + " n " + std::to_string(n));
            f(isa, size, stride, n, guard);
            if (::testing::Test::HasFailure()) return;
          }
        }
      }
    }
  }
}

TEST(Gather, EveryElementAndNothingBeyond) {
  ForEachCase([](Isa isa, int32_t size, int64_t stride, int64_t n, Guard guard) {
    const int64_t bytes = Span(n, stride, size);
    const GuardedBuffer source(static_cast<size_t>(bytes), guard);
    for (int64_t i = 0; i < bytes; ++i) source.data()[i] = static_cast<std::byte>(i * 37 + i / 251);
    const char* const first = reinterpret_cast<const char*>(source.data()) + (stride < 0 ? bytes - size : 0);
    for (const engine::GatherSource from : {engine::GatherSource::kCache, engine::GatherSource::kMemory,
                                            engine::GatherSource::kMemoryAskedAhead}) {
      const GuardedBuffer gathered(static_cast<size_t>(n * size));
      engine::FindGather(isa, from)(first, stride * size, size, gathered.data(), n);
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(
            std::memcmp(gathered.data() + i * size, first + i * stride * size, static_cast<size_t>(size)), 0)
            << "element " << i << ", source " << static_cast<int>(from);
      }
    }
  });
}

TEST(Scatter, EveryElementAndNothingBetween) {
  ForEachCase([](Isa isa, int32_t size, int64_t stride, int64_t n, Guard guard) {
    if (stride == 0) return;  // outputs never repeat an element
    std::vector<unsigned char> values(static_cast<size_t>(n * size));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<unsigned char>(i * 37 + i / 251 + 1);
    const int64_t bytes = Span(n, stride, size);
    const GuardedBuffer target(static_cast<size_t>(bytes), guard);
    std::vector<std::byte> expected(target.data(), target.data() + bytes);
    const int64_t first = stride < 0 ? bytes - size : 0;
    for (int64_t i = 0; i < n; ++i)
      std::memcpy(expected.data() + first + i * stride * size, values.data() + i * size,
                  static_cast<size_t>(size));
    engine::FindScatter(isa, false)(values.data(), reinterpret_cast<char*>(target.data()) + first,
                                    stride * size, size, n);
    ASSERT_EQ(std::memcmp(target.data(), expected.data(), static_cast<size_t>(bytes)), 0);
  });
}

}  // namespace
}  // namespace portacl::testing
