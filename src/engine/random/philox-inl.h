// Philox4x32-10 over vectors: many blocks of four random words at once, the same on every instruction set.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_RANDOM_PHILOX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_RANDOM_PHILOX_INL_H_
#undef PORTACL_ENGINE_RANDOM_PHILOX_INL_H_
#else
#define PORTACL_ENGINE_RANDOM_PHILOX_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>
#include "engine/random/source.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace random {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kRounds = 10;
constexpr uint32_t kMultiplier0 = 0xD2511F53;
constexpr uint32_t kMultiplier1 = 0xCD9E8D57;
// The increments of the key's halves from round to round.
constexpr uint32_t kWeyl0 = 0x9E3779B9;
constexpr uint32_t kWeyl1 = 0xBB67AE85;

#if HWY_TARGET != HWY_SCALAR
// Performs a round of as many blocks as there are 64-bit lanes. A word of the counters is in the low half of
// each lane. The high halves are unspecified.
template <class D, class V>
HWY_INLINE void Round(D /*d*/, V k0, V k1, V& c0, V& c1, V& c2, V& c3) {
  const hn::Repartition<uint32_t, D> words;
  const V p0 = hn::MulEven(hn::BitCast(words, c0), hn::Set(words, kMultiplier0));
  const V p1 = hn::MulEven(hn::BitCast(words, c2), hn::Set(words, kMultiplier1));
  c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), c1), k0);
  c1 = p1;
  c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), c3), k1);
  c3 = p0;
}
#endif

// Writes the words of blocks [first, first + count), four of each block. `step` is added to the offset. Whole
// vectors are written, up to a multiple of kBlocksAtOnce blocks.
constexpr size_t kBlocksAtOnce = HWY_MAX_BYTES / sizeof(uint32_t);
HWY_INLINE void Words(const RandomSource& source, uint64_t step, uint64_t first, size_t count, uint32_t* to) {
  const uint64_t offset = source.offset + step;
#if HWY_TARGET == HWY_SCALAR
  for (size_t i = 0; i < count; ++i, to += 4) {
    const uint64_t block = first + i;
    auto c0 = static_cast<uint32_t>(offset);
    auto c1 = static_cast<uint32_t>(offset >> 32);
    auto c2 = static_cast<uint32_t>(block);
    auto c3 = static_cast<uint32_t>(block >> 32);
    auto k0 = static_cast<uint32_t>(source.seed);
    auto k1 = static_cast<uint32_t>(source.seed >> 32);
    for (int round = 0; round < kRounds; ++round, k0 += kWeyl0, k1 += kWeyl1) {
      const uint64_t p0 = uint64_t{kMultiplier0} * c0;
      const uint64_t p1 = uint64_t{kMultiplier1} * c2;
      c0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
      c1 = static_cast<uint32_t>(p1);
      c2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
      c3 = static_cast<uint32_t>(p0);
    }
    to[0] = c0;
    to[1] = c1;
    to[2] = c2;
    to[3] = c3;
  }
#else
  const hn::ScalableTag<uint64_t> d;
  const hn::Repartition<uint32_t, decltype(d)> words;
  using V = hn::Vec<decltype(d)>;
  const size_t at_once = hn::Lanes(words);
  const V positions = hn::ShiftLeft<1>(hn::Iota(d, uint64_t{0}));
  for (size_t i = 0; i < count; i += at_once) {
    // The even and the odd positions.
    const V even_position = hn::Add(positions, hn::Set(d, first + i));
    const V odd_position = hn::Add(even_position, hn::Set(d, uint64_t{1}));
    const V low = hn::Set(d, offset);
    const V high = hn::Set(d, offset >> 32);
    V even0 = low, even1 = high, even2 = even_position, even3 = hn::ShiftRight<32>(even_position);
    V odd0 = low, odd1 = high, odd2 = odd_position, odd3 = hn::ShiftRight<32>(odd_position);
    auto k0 = static_cast<uint32_t>(source.seed);
    auto k1 = static_cast<uint32_t>(source.seed >> 32);
    for (int round = 0; round < kRounds; ++round, k0 += kWeyl0, k1 += kWeyl1) {
      const V first_key = hn::Set(d, uint64_t{k0});
      const V second_key = hn::Set(d, uint64_t{k1});
      Round(d, first_key, second_key, even0, even1, even2, even3);
      Round(d, first_key, second_key, odd0, odd1, odd2, odd3);
    }
    const auto joined = [&](V a, V b) HWY_ATTR {
      return hn::OddEven(hn::BitCast(words, hn::ShiftLeft<32>(b)), hn::BitCast(words, a));
    };
    hn::StoreInterleaved4(joined(even0, odd0), joined(even1, odd1), joined(even2, odd2), joined(even3, odd3),
                          words, to + 4 * i);
  }
#endif
}

}  // namespace random
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
