// The loops over rows of scores for each instruction set (see attention_kernel.h). Sums have sixteen lanes,
// whatever the vector width.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/attention/attention_kernel.cc"
#include "base/foreach_target.h"

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "engine/attention/attention_kernel.h"
#include "engine/functions/fused_exp-inl.h"
#include "engine/functions/log-inl.h"
#include "engine/functions/primitives-inl.h"
#include "engine/half_precision-inl.h"
#include "engine/random/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace attention {

namespace hn = hwy::HWY_NAMESPACE;

// Vectors of at most sixteen numbers.
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr auto kSixteen = static_cast<size_t>(kAttentionLanes);
constexpr float kLowest = std::numeric_limits<float>::lowest();

// Sixteen numbers in as many vectors as they take.
#if HWY_HAVE_SCALABLE
struct Lanes {
  HWY_ALIGN float lane[kSixteen];

  template <class F>
  HWY_INLINE void Each(const F& f) {
    const D d;
    for (size_t j = 0; j < kSixteen; j += hn::Lanes(d)) hn::StoreU(f(j, hn::LoadU(d, lane + j)), d, lane + j);
  }
  HWY_INLINE void Set(float value) {
    for (float& one : lane) one = value;
  }
  HWY_INLINE const float* Take(float*) const { return lane; }
};
#else
struct Lanes {
  static constexpr size_t kWidth = hn::MaxLanes(D());
  V vector[kSixteen / kWidth];

  Lanes() {}  // explicit, since a generated one would not be compiled for this instruction set

  template <class F>
  HWY_INLINE void Each(const F& f) {
    HWY_UNROLL(16)
    for (size_t i = 0; i < kSixteen / kWidth; ++i) vector[i] = f(i * kWidth, vector[i]);
  }
  HWY_INLINE void Set(float value) {
    Each([&](size_t, V) HWY_ATTR { return hn::Set(D(), value); });
  }
  HWY_INLINE const float* Take(float* memory) const {
    HWY_UNROLL(16)
    for (size_t i = 0; i < kSixteen / kWidth; ++i) hn::StoreU(vector[i], D(), memory + i * kWidth);
    return memory;
  }
};
#endif

// Reduces the lanes in halves: the upper half joins the lower one.
template <class F>
HWY_INLINE float Halved(const Lanes& lanes, const F& f) {
  HWY_ALIGN float memory[kSixteen];
  HWY_ALIGN float all[kSixteen];
  const float* const from = lanes.Take(memory);
  for (size_t i = 0; i < kSixteen; ++i) all[i] = from[i];
  for (size_t width = kSixteen / 2; width > 0; width /= 2) {
    for (size_t i = 0; i < width; ++i) all[i] = f(all[i], all[i + width]);
  }
  return all[0];
}
HWY_INLINE float SumOfLanes(const Lanes& lanes) {
  return Halved(lanes, [](float a, float b) { return a + b; });
}
HWY_INLINE float GreatestOfLanes(const Lanes& lanes) {
  return Halved(lanes, [](float a, float b) { return b > a ? b : a; });
}

// Returns the greater of a and b, and a if b is NaN.
HWY_INLINE V Greater(V a, V b) { return hn::IfThenElse(hn::Gt(b, a), b, a); }

// Computes s = f(j, s) over a row and returns the greatest.
template <class F>
HWY_INLINE float SetAndFindGreatest(float* s, int64_t count, const F& f) {
  const D d;
  Lanes greatest;
  greatest.Set(kLowest);
  for (size_t j = 0; j < static_cast<size_t>(count); j += kSixteen) {
    greatest.Each([&](size_t i, V so_far) HWY_ATTR {
      const V value = f(j + i, hn::LoadU(d, s + j + i));
      hn::StoreU(value, d, s + j + i);
      return Greater(so_far, value);
    });
  }
  return GreatestOfLanes(greatest);
}

float Scale(float* s, const float* shift, int64_t count, float scale, bool shift_first) {
  const D d;
  const V factor = hn::Set(d, scale);
  if (shift == nullptr)
    return SetAndFindGreatest(s, count, [&](size_t, V v) HWY_ATTR { return hn::Mul(v, factor); });
  if (shift_first) {
    return SetAndFindGreatest(s, count, [&](size_t j, V v) HWY_ATTR {
      return hn::Mul(hn::Add(v, hn::LoadU(d, shift + j)), factor);
    });
  }
  return SetAndFindGreatest(
      s, count, [&](size_t j, V v) HWY_ATTR { return hn::Add(hn::Mul(v, factor), hn::LoadU(d, shift + j)); });
}

float Greatest(const float* s, int64_t count) {
  const D d;
  Lanes greatest;
  greatest.Set(kLowest);
  for (size_t j = 0; j < static_cast<size_t>(count); j += kSixteen) {
    greatest.Each([&](size_t i, V so_far) HWY_ATTR { return Greater(so_far, hn::LoadU(d, s + j + i)); });
  }
  return GreatestOfLanes(greatest);
}

// The compiler vectorises this blend of bytes and numbers.
bool Hide(float* s, const unsigned char* mask, int64_t n) {
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  int visible = 0;
  for (int64_t j = 0; j < n; ++j) {
    s[j] = mask[j] != 0 ? kHidden : s[j];
    visible |= mask[j] == 0 ? 1 : 0;
  }
  return visible != 0;
}

float Exponentials(float* s, int64_t count, float greatest) {
  const D d;
  const V most = hn::Set(d, greatest);
  Lanes sums;
  sums.Set(0);
  size_t j = 0;
#if !HWY_HAVE_SCALABLE
  // Four vectors at a time, and a multiple of sixteen lanes.
  constexpr size_t kWidth = Lanes::kWidth;
  constexpr size_t kGroup = HWY_MAX(kSixteen, 4 * kWidth);
  for (; j + kGroup <= static_cast<size_t>(count); j += kGroup) {
    for (size_t i = 0; i < kGroup; i += 4 * kWidth) {
      float* const at = s + j + i;
      const Unrolled<V> x(hn::LoadU(d, at), hn::LoadU(d, at + kWidth), hn::LoadU(d, at + 2 * kWidth),
                          hn::LoadU(d, at + 3 * kWidth));
      const Unrolled<V> e = functions::FusedExp(d, Sub(x, Unrolled<V>(most)));
      HWY_UNROLL(4)
      for (size_t part = 0; part < 4; ++part) {
        hn::StoreU(e.part[part], d, at + part * kWidth);
        V& sum = sums.vector[(i / kWidth + part) % (kSixteen / kWidth)];
        sum = hn::Add(sum, e.part[part]);
      }
    }
  }
#endif
  for (; j < static_cast<size_t>(count); j += kSixteen) {
    sums.Each([&](size_t i, V sum) HWY_ATTR {
      const V e = functions::FusedExp(d, hn::Sub(hn::LoadU(d, s + j + i), most));
      hn::StoreU(e, d, s + j + i);
      return hn::Add(sum, e);
    });
  }
  return SumOfLanes(sums);
}

// Applies f to each vector of a row.
template <class F>
HWY_INLINE void EachVectorOf(int64_t count, const F& f) {
  const D d;
  for (size_t j = 0; j < static_cast<size_t>(count); j += hn::Lanes(d)) f(j);
}

void Weights(float* s, int64_t count, float greatest, float factor) {
  const D d;
  const V most = hn::Set(d, greatest);
  const V by = hn::Set(d, factor);
  size_t j = 0;
#if !HWY_HAVE_SCALABLE
  constexpr size_t kWidth = Lanes::kWidth;
  for (; j + 4 * kWidth <= static_cast<size_t>(count); j += 4 * kWidth) {
    float* const at = s + j;
    const Unrolled<V> x(hn::LoadU(d, at), hn::LoadU(d, at + kWidth), hn::LoadU(d, at + 2 * kWidth),
                        hn::LoadU(d, at + 3 * kWidth));
    const Unrolled<V> e = functions::FusedExp(d, Sub(x, Unrolled<V>(most)));
    HWY_UNROLL(4)
    for (size_t part = 0; part < 4; ++part) hn::StoreU(hn::Mul(e.part[part], by), d, at + part * kWidth);
  }
#endif
  for (; j < static_cast<size_t>(count); j += hn::Lanes(d)) {
    const V e = functions::FusedExp(d, hn::Sub(hn::LoadU(d, s + j), most));
    hn::StoreU(hn::Mul(e, by), d, s + j);
  }
}

void Add(float* to, const float* term, int64_t count, float factor) {
  const D d;
  const V by = hn::Set(d, factor);
  EachVectorOf(count, [&](size_t j) HWY_ATTR {
    hn::StoreU(functions::Fma(d, hn::LoadU(d, to + j), by, hn::LoadU(d, term + j)), d, to + j);
  });
}

void Multiply(float* values, int64_t count, float factor) {
  const D d;
  const V by = hn::Set(d, factor);
  EachVectorOf(count,
               [&](size_t j) HWY_ATTR { hn::StoreU(hn::Mul(hn::LoadU(d, values + j), by), d, values + j); });
}

float Dot(const float* a, const float* b, int64_t count) {
  const D d;
  Lanes sums;
  sums.Set(0);
  for (size_t j = 0; j < static_cast<size_t>(count); j += kSixteen) {
    sums.Each([&](size_t i, V sum) HWY_ATTR {
      return functions::Fma(d, hn::LoadU(d, a + j + i), hn::LoadU(d, b + j + i), sum);
    });
  }
  return SumOfLanes(sums);
}

void Gradients(float* to, const float* weights, int64_t count, float delta) {
  const D d;
  const V less = hn::Set(d, delta);
  EachVectorOf(count, [&](size_t j) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::LoadU(d, weights + j), hn::Sub(hn::LoadU(d, to + j), less)), d, to + j);
  });
}

// Takes a word of bits at a time; the compiler vectorises the blend.
void Keep(float* values, const unsigned char* bits, int first, int64_t count, float factor) {
  constexpr int64_t kWord = 32;
  int64_t done = 0;
  for (; done + kWord <= count; done += kWord, bits += kWord / 8) {
    uint32_t low;
    std::memcpy(&low, bits, sizeof low);
    const uint64_t high = first == 0 ? 0 : bits[kWord / 8];
    const auto word = static_cast<uint32_t>((low | high << kWord) >> first);
    float* const v = values + done;
    for (uint32_t j = 0; j < kWord; ++j) v[j] = (word >> j & 1) != 0 ? v[j] * factor : 0.0f;
  }
  for (int64_t bit = first; done < count; ++done, ++bit)
    values[done] = (bits[bit / 8] >> (bit % 8) & 1) != 0 ? values[done] * factor : 0.0f;
}

// Draws words for several blocks of four at once; the compiler vectorises the comparison.
void Drop(float* values, const RandomSource& source, uint64_t first, int64_t count, uint32_t most,
          float factor) {
  constexpr uint64_t kAtOnce = 64;
  alignas(64) uint32_t words[4 * (kAtOnce + 1 + random::kBlocksAtOnce)];
  for (int64_t done = 0; done < count;) {
    const uint64_t skipped = first % 4;
    const int64_t some = std::min<int64_t>(4 * kAtOnce, count - done);
    random::Words(source, 0, first / 4, (skipped + static_cast<uint64_t>(some) + 3) / 4, words);
    float* const v = values + done;
    for (int64_t j = 0; j < some; ++j)
      v[j] = words[skipped + static_cast<uint64_t>(j)] <= most ? v[j] * factor : 0.0f;
    done += some;
    first += static_cast<uint64_t>(some);
  }
}

float LogSum(float greatest, float sum) {
  const D d;
  return greatest + hn::GetLane(Log(d, hn::Set(d, sum)));
}

AttentionKernels KernelsHere() {
  return {Scale, Greatest, Hide, Exponentials, Weights, Add, Multiply, Dot, Gradients, Keep, Drop, LogSum};
}

}  // namespace attention
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_table.h"

namespace portacl::engine {

AttentionKernels FindAttentionKernels(Isa isa) noexcept {
  static constexpr auto kTable = PORTACL_ISA_TABLE(attention::KernelsHere);
  return kTable.For(isa)();
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
