// log against long double: at most 1 ulp, in practice the nearest float32, and the same bits on every instruction
// set.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/log_test.cc"
#include <hwy/foreach_target.h>

#include <cstddef>

#include <hwy/highway.h>
#include "engine/functions/log-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::testing {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// n is a multiple of every vector's length.
void LogOfMany(const float* in, float* out, size_t n) {
  const hn::ScalableTag<float> d;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    hn::StoreU(engine::HWY_NAMESPACE::Log(d, hn::LoadU(d, in + i)), d, out + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::testing
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "engine/isa_table.h"
#include "gtest/gtest.h"
#include "support/float_formats.h"
#include "support/random_numbers.h"

namespace portacl::testing {
namespace {

constexpr auto kLogOfMany = PORTACL_ISA_TABLE(LogOfMany);

constexpr size_t kBatch = 4096;

struct Errors {
  double worst_ulp = 0;
  int64_t not_nearest = 0;
  int64_t wrong = 0;  // beyond 1 ulp, or another special value than it must be

  void Add(const Errors& other) {
    worst_ulp = std::max(worst_ulp, other.worst_ulp);
    not_nearest += other.not_nearest;
    wrong += other.wrong;
  }
};

bool SameOrNan(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) || (std::isnan(a) && std::isnan(b));
}

// The log of the bit patterns in `bits` on every instruction set: the same everywhere, and right.
Errors CheckBatch(const std::vector<uint32_t>& bits) {
  std::vector<float> in(kBatch, 1.0f);
  for (size_t i = 0; i < bits.size(); ++i) in[i] = std::bit_cast<float>(bits[i]);
  std::vector<float> first;
  Errors errors;
  for (const Isa isa : SupportedIsas()) {
    std::vector<float> out(kBatch);
    kLogOfMany.For(isa)(in.data(), out.data(), kBatch);
    if (first.empty()) first = out;
    for (size_t i = 0; i < bits.size(); ++i) {
      if (SameOrNan(out[i], first[i])) continue;
      if (++errors.wrong < 5)
        ADD_FAILURE() << IsaName(isa) << " gives other bits for " << std::hex << bits[i];
    }
  }
  for (size_t i = 0; i < bits.size(); ++i) {
    const float x = in[i];
    const float y = first[i];
    bool right = false;
    if (std::isnan(x) || x < 0) {
      right = std::isnan(y);
    } else if (x == 0) {
      right = y == -std::numeric_limits<float>::infinity();
    } else if (std::isinf(x)) {
      right = y == x;
    } else {
      const long double truth = std::log(static_cast<long double>(x));
      const auto ulp = static_cast<double>(std::fabs(static_cast<long double>(y) - truth)) /
                       FloatUlp(static_cast<double>(truth));
      errors.worst_ulp = std::max(errors.worst_ulp, ulp);
      errors.not_nearest += y != static_cast<float>(truth) ? 1 : 0;
      right = ulp <= 1 && (x != 1 || std::bit_cast<uint32_t>(y) == 0);
    }
    if (!right && ++errors.wrong < 5) {
      ADD_FAILURE() << "log(" << std::hexfloat << x << ") is " << y;
    }
  }
  return errors;
}

void Report(const Errors& errors, const char* over) {
  std::printf("log: worst error %.6f ulp over %s; %lld results are not the nearest float32\n",
              errors.worst_ulp, over, static_cast<long long>(errors.not_nearest));
  EXPECT_EQ(errors.wrong, 0);
}

// Every exponent with its boundaries, the neighbourhoods of 1 and of where the exponent is split off, special
// values, and random bits.
TEST(Log, Sampled) {
  std::vector<uint32_t> bits;
  for (uint32_t exponent = 0; exponent < 512; ++exponent) {
    for (const uint32_t fraction :
         {0x0u, 0x1u, 0x3504F2u, 0x3504F3u, 0x3504F4u, 0x400000u, 0x7FFFFEu, 0x7FFFFFu}) {
      bits.push_back(exponent << 23 | fraction);
    }
  }
  for (int32_t distance = -20000; distance <= 20000; ++distance) {
    bits.push_back(static_cast<uint32_t>(0x3F800000 + distance));
    bits.push_back(static_cast<uint32_t>(0x3F3504F3 + distance));
    bits.push_back(static_cast<uint32_t>(0x00800000 + distance));
  }
  RandomNumbers random(0x106);
  while (bits.size() < 2000000) bits.push_back(static_cast<uint32_t>(random.Bits()));
  Errors errors;
  for (size_t at = 0; at < bits.size(); at += kBatch) {
    const size_t end = std::min(bits.size(), at + kBatch);
    errors.Add(
        CheckBatch({bits.begin() + static_cast<int64_t>(at), bits.begin() + static_cast<int64_t>(end)}));
  }
  Report(errors, "a sample");
}

TEST(LogLong, EveryFloat) {
  std::atomic<uint64_t> next{0};
  constexpr uint64_t kAll = uint64_t{1} << 32;
  const auto work = [&](Errors& errors) {
    std::vector<uint32_t> bits(kBatch);
    for (uint64_t at; (at = next.fetch_add(kBatch)) < kAll;) {
      for (size_t i = 0; i < kBatch; ++i) bits[i] = static_cast<uint32_t>(at + i);
      errors.Add(CheckBatch(bits));
    }
  };
  std::vector<Errors> errors(std::max(2u, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (Errors& one : errors) threads.emplace_back(work, std::ref(one));
  for (std::thread& thread : threads) thread.join();
  Errors all;
  for (const Errors& one : errors) all.Add(one);
  Report(all, "every float32");
}

}  // namespace
}  // namespace portacl::testing

#endif  // HWY_ONCE
