// Makes random numbers from Philox's words (see random_numbers.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/random/random_numbers.h"

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/random/random_numbers.cc"
#include "base/foreach_target.h"

#include <algorithm>
#include <cstring>

#include "engine/functions/functions-inl.h"
#include "engine/functions/log-inl.h"
#include "engine/isa_in_use.h"
#include "engine/random/philox-inl.h"
#include "engine/tile_size.h"

#ifndef PORTACL_ENGINE_RANDOM_WIDE_
#define PORTACL_ENGINE_RANDOM_WIDE_
namespace portacl::engine {
__extension__ typedef unsigned __int128 Uint128;
}
#endif

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace random {

#if HWY_TARGET == HWY_AVX3
constexpr Isa kIsa = Isa::kAvx512;
#elif HWY_TARGET == HWY_AVX2
constexpr Isa kIsa = Isa::kAvx2;
#elif HWY_TARGET == HWY_SVE
constexpr Isa kIsa = Isa::kSve;
#elif HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
constexpr Isa kIsa = Isa::kPortable;
#else
constexpr Isa kIsa = Isa::kNeon;
#endif

// The words of a tile: word `step` of each element in row `step`.
template <int kSteps>
struct TileWords {
  alignas(64) uint32_t word[kSteps][kTile + 4 * kBlocksAtOnce];

  // Fills in the words of elements [first, first + n), n at most a tile's; `first` is a multiple of 4.
  HWY_INLINE void Fill(const RandomSource& source, int64_t first, size_t n) {
    for (int step = 0; step < kSteps; ++step)
      Words(source, static_cast<uint64_t>(step), static_cast<uint64_t>(first) / 4, (n + 3) / 4, word[step]);
    ReportIsaThatRan(kIsa);
  }
};

// Drops the words' lowest bits and returns signed integers, which every instruction set converts.
template <class D>
HWY_INLINE auto UpperBits(D /*d*/, const uint32_t* words, int dropped) {
  const hn::Rebind<uint32_t, D> unsigned_words;
  const hn::Rebind<int32_t, D> signed_words;
  const auto loaded = hn::LoadU(unsigned_words, words);
  return hn::BitCast(signed_words, hn::ShiftRightSame(loaded, dropped));
}

// Uses 24 bits of each word: from 0 to below 1.
template <class D>
HWY_INLINE auto UnitOf(D d, const TileWords<1>& words, size_t i) {
  return hn::Mul(hn::ConvertTo(d, UpperBits(d, words.word[0] + i, 8)), hn::Set(d, 0x1p-24f));
}

// Uses 31 bits of the first word and 22 of the second: from 0 to below 1.
template <class D>
HWY_INLINE auto UnitOf(D d, const TileWords<2>& words, size_t i) {
  const auto high = hn::PromoteTo(d, UpperBits(d, words.word[0] + i, 1));
  const auto low = hn::PromoteTo(d, UpperBits(d, words.word[1] + i, 10));
  return hn::Add(hn::Mul(high, hn::Set(d, 0x1p-31)), hn::Mul(low, hn::Set(d, 0x1p-53)));
}

// Uses 31 bits of the first word, 21 of the second and half a last bit: strictly between 0 and 1.
template <class D>
HWY_INLINE auto OpenUnitOf(D d, const TileWords<2>& words, size_t i) {
  const auto high = hn::PromoteTo(d, UpperBits(d, words.word[0] + i, 1));
  const auto low = hn::PromoteTo(d, UpperBits(d, words.word[1] + i, 11));
  const auto lower = hn::Mul(hn::Add(low, hn::Set(d, 0.5)), hn::Set(d, 0x1p-52));
  return hn::Add(hn::Mul(high, hn::Set(d, 0x1p-31)), lower);
}

template <class T>
void Uniform(const void* parameters, const ThreadBlock& thread_block) {
  const auto& numbers = *static_cast<const UniformNumbers<T>*>(parameters);
  TileWords<sizeof(T) / 4> words;
  words.Fill(numbers.source, thread_block.first, thread_block.n);
  const hn::ScalableTag<T> d;
  const auto base = hn::Set(d, numbers.base);
  const auto step = hn::Set(d, numbers.step);
  const auto scale = hn::Set(d, numbers.scale);
  const auto limit = hn::Set(d, numbers.limit);
  const auto low = hn::Set(d, numbers.low);
  auto* const to = static_cast<T*>(thread_block.to);
  for (size_t i = 0; i < thread_block.n; i += hn::Lanes(d)) {
    const auto value = hn::Mul(functions::Fma(d, UnitOf(d, words, i), step, base), scale);
    hn::StoreU(hn::IfThenElse(hn::Ge(value, limit), low, value), d, to + i);
  }
}

// Radius and angle of the Box-Muller method. The radius comes from the even element's words, the angle from
// those of the odd one.
template <class D, class V>
HWY_INLINE V RadiusOf(D d, V log) {
  return hn::Sqrt(hn::Mul(log, hn::Set(d, static_cast<hn::TFromD<D>>(-2.0))));
}

template <class T>
void Normal(const void* parameters, const ThreadBlock& thread_block) {
  const auto& numbers = *static_cast<const NormalNumbers<T>*>(parameters);
  TileWords<sizeof(T) / 4> words;
  words.Fill(numbers.source, thread_block.first, thread_block.n);
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  alignas(64) T noise[kTile + 2 * (HWY_MAX_BYTES / sizeof(T))];
  alignas(64) TileWords<sizeof(T) / 4> radius;
  alignas(64) TileWords<sizeof(T) / 4> angle;
  for (size_t row = 0; row < sizeof(T) / 4; ++row) {
    for (size_t i = 0; i < kTile / 2; ++i) {
      radius.word[row][i] = words.word[row][2 * i];
      angle.word[row][i] = words.word[row][2 * i + 1];
    }
  }
  for (size_t i = 0; 2 * i < thread_block.n; i += lanes) {
    // The u of the radius is never 0; the angle runs from -pi to pi.
    hn::Vec<decltype(d)> u;
    hn::Vec<decltype(d)> turn;
    if constexpr (sizeof(T) == 4) {
      u = functions::Fma(d, hn::ConvertTo(d, UpperBits(d, radius.word[0] + i, 1)), hn::Set(d, 0x1p-31f),
                         hn::Set(d, 0x1p-32f));
      turn = hn::Mul(hn::ConvertTo(d, UpperBits(d, angle.word[0] + i, 0)), hn::Set(d, 0x1.921fb6p-30f));
    } else {
      u = OpenUnitOf(d, radius, i);
      turn = hn::Mul(hn::Sub(UnitOf(d, angle, i), hn::Set(d, 0.5)), hn::Set(d, 0x1.921fb54442d18p+2));
    }
    hn::Vec<decltype(d)> log;
    if constexpr (sizeof(T) == 4) {
      log = Log(d, u);
    } else {
      log = functions::Log(d, u);
    }
    const auto length = RadiusOf(d, log);
    hn::StoreInterleaved2(hn::Mul(length, functions::Sin(d, turn)), hn::Mul(length, functions::Cos(d, turn)),
                          d, noise + 2 * i);
  }
  const T* const means =
      numbers.mean_input < 0 ? nullptr : static_cast<const T*>(thread_block.in[numbers.mean_input]);
  const T* const stds =
      numbers.std_input < 0 ? nullptr : static_cast<const T*>(thread_block.in[numbers.std_input]);
  auto* const to = static_cast<T*>(thread_block.to);
  for (size_t i = 0; i < thread_block.n; i += lanes) {
    const auto mean = means == nullptr ? hn::Set(d, numbers.mean) : hn::LoadU(d, means + i);
    const auto std = stds == nullptr ? hn::Set(d, numbers.std) : hn::LoadU(d, stds + i);
    hn::StoreU(functions::Fma(d, hn::LoadU(d, noise + i), std, mean), d, to + i);
  }
}

void Bernoulli(const void* parameters, const ThreadBlock& thread_block) {
  const auto& numbers = *static_cast<const BernoulliNumbers*>(parameters);
  TileWords<1> words;
  words.Fill(numbers.source, thread_block.first, thread_block.n);
  auto* const to = static_cast<uint8_t*>(thread_block.to);
  for (size_t i = 0; i < thread_block.n; ++i) to[i] = words.word[0][i] <= numbers.most ? 1 : 0;
}

void BernoulliEach(const void* parameters, const ThreadBlock& thread_block) {
  const auto& numbers = *static_cast<const BernoulliOfEach*>(parameters);
  TileWords<1> words;
  words.Fill(numbers.source, thread_block.first, thread_block.n);
  const auto* const probabilities = static_cast<const double*>(thread_block.in[0]);
  auto* const to = static_cast<double*>(thread_block.to);
  for (size_t i = 0; i < thread_block.n; ++i)
    to[i] = static_cast<double>(words.word[0][i]) * 0x1p-32 < probabilities[i] ? 1.0 : 0.0;
}

// Returns floor(number * count / 2^bits) for a random number of 64 bits, or of 128 if there are more than
// 2^32 integers. Probabilities differ by a factor of at most 1 + 2^-32.
void Integers(const void* parameters, const ThreadBlock& thread_block) {
  const auto& numbers = *static_cast<const IntegerNumbers*>(parameters);
  auto* const to = static_cast<int64_t*>(thread_block.to);
  const auto from = static_cast<uint64_t>(numbers.from);
  if (numbers.count != 0 && numbers.count <= uint64_t{1} << 32) {
    TileWords<2> words;
    words.Fill(numbers.source, thread_block.first, thread_block.n);
    for (size_t i = 0; i < thread_block.n; ++i) {
      const uint64_t number = uint64_t{words.word[0][i]} << 32 | words.word[1][i];
      to[i] = static_cast<int64_t>(from + static_cast<uint64_t>(Uint128{number} * numbers.count >> 64));
    }
    return;
  }
  TileWords<4> words;
  words.Fill(numbers.source, thread_block.first, thread_block.n);
  for (size_t i = 0; i < thread_block.n; ++i) {
    const uint64_t high = uint64_t{words.word[0][i]} << 32 | words.word[1][i];
    const uint64_t low = uint64_t{words.word[2][i]} << 32 | words.word[3][i];
    const uint64_t carried = static_cast<uint64_t>(Uint128{low} * numbers.count >> 64);
    const uint64_t above =
        numbers.count == 0 ? high : static_cast<uint64_t>((Uint128{high} * numbers.count + carried) >> 64);
    to[i] = static_cast<int64_t>(from + above);
  }
}

// Returns the logarithm of normal numbers x between 0 and 2 in float64 lanes, by Log's steps.
template <class D, class V>
HWY_INLINE V LogOfUnit([[maybe_unused]] D d, V x) {
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, x);
  // Converts to the bits of a float32.
  const auto narrow = hn::Sub(hn::ShiftRight<29>(bits), hn::Set(du, uint64_t{1023 - 127} << 23));
  const auto offset = hn::Sub(narrow, hn::Set(du, uint64_t{kLogStart}));
  const auto m = hn::Sub(bits, hn::ShiftLeft<29>(hn::And(offset, hn::Set(du, ~uint64_t{0x7FFFFF}))));
  const auto parts = hn::ShiftRight<kLogIntervalBits>(hn::Add(narrow, hn::Set(du, uint64_t{kLogBias})));
  return LogOfParts(du, parts, m, 1.0);
}

void Exponential(const void* parameters, const ThreadBlock& thread_block) {
  const auto& numbers = *static_cast<const ExponentialNumbers*>(parameters);
  TileWords<2> words;
  words.Fill(numbers.source, thread_block.first, thread_block.n);
  const hn::ScalableTag<double> d;
  const auto lambda = hn::Set(d, numbers.lambda);
  const auto least = hn::Set(d, numbers.least);
  auto* const to = static_cast<double*>(thread_block.to);
  for (size_t i = 0; i < thread_block.n; i += hn::Lanes(d)) {
    const auto value = hn::Div(hn::Neg(LogOfUnit(d, OpenUnitOf(d, words, i))), lambda);
    hn::StoreU(hn::IfThenElse(hn::Lt(value, least), least, value), d, to + i);
  }
}

// Packs eight bytes of 0 or 1 into the bits of one.
HWY_INLINE uint8_t Packed(const uint8_t* bytes) {
  uint64_t eight;
  std::memcpy(&eight, bytes, sizeof eight);
  return static_cast<uint8_t>(eight * 0x0102040810204080 >> 56);
}

// Draws the bits of elements [first, first + n), n at most a tile's, padded with zeros to a multiple of 128.
HWY_INLINE void DrawBits(const RandomSource& source, uint32_t most, int64_t first, size_t n, uint8_t* bits) {
  TileWords<1> words;
  words.Fill(source, first, n);
  alignas(64) uint8_t bytes[kTile] = {};
  for (size_t i = 0; i < n; ++i) bytes[i] = words.word[0][i] <= most ? 1 : 0;
  for (size_t i = 0; i < (n + 127) / 128 * 16; ++i) bits[i] = Packed(bytes + 8 * i);
}

void Mask(const void* parameters, const ThreadBlock& thread_block) {
  const auto& numbers = *static_cast<const MaskNumbers*>(parameters);
  auto* const to = static_cast<uint8_t*>(thread_block.to);
  for (size_t done = 0; done < thread_block.n; done += kTile / 8) {
    alignas(64) uint8_t bits[kTile / 8] = {};
    const int64_t first = (thread_block.first + static_cast<int64_t>(done)) * 8;
    const int64_t left = std::clamp<int64_t>(numbers.count - first, 0, kTile);
    if (left > 0) DrawBits(numbers.source, numbers.most, first, static_cast<size_t>(left), bits);
    std::memcpy(to + done, bits, std::min(thread_block.n - done, sizeof bits));
  }
}

void Dropout(const void* parameters, const ThreadBlock& thread_block) {
  const auto& numbers = *static_cast<const DropoutNumbers*>(parameters);
  using Bits = DropoutNumbers::Bits;
  if (numbers.bits == Bits::kDrawn)
    DrawBits(numbers.source, numbers.most, thread_block.first, thread_block.n, thread_block.bits);
  if (numbers.bits == Bits::kAll) std::memset(thread_block.bits, 0xFF, kTile / 8);
  if (numbers.bits == Bits::kNone) std::memset(thread_block.bits, 0, kTile / 8);
  ReportIsaThatRan(kIsa);
  const auto* const in = static_cast<const float*>(thread_block.in[0]);
  auto* const to = static_cast<float*>(thread_block.to);
  constexpr size_t kWordBits = 32;
  const hn::CappedTag<float, kWordBits> d;  // at most a word's bits, a multiple of the lanes
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto scale = hn::Set(d, numbers.scale);
  const auto one = hn::Set(d, 1.0f);
  const auto own_bit = hn::Shl(hn::Set(du, 1u), hn::Iota(du, 0u));
  for (size_t i = 0; i < thread_block.n; i += hn::Lanes(d)) {
    uint32_t word;
    std::memcpy(&word, thread_block.bits + i / kWordBits * sizeof word, sizeof word);
    const auto is_kept = hn::RebindMask(d, hn::TestBit(hn::Set(du, word >> i % kWordBits), own_bit));
    const auto value = hn::LoadU(d, in + i);
    hn::StoreU(numbers.multiplies ? hn::Mul(hn::Mul(value, hn::IfThenElseZero(is_kept, one)), scale)
                                  : hn::IfThenElseZero(is_kept, hn::Mul(value, scale)),
               d, to + i);
  }
}

}  // namespace random
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_table.h"

namespace portacl::engine {

#define PORTACL_RANDOM(numbers, function)                           \
  SequenceFunction FindSequence(Isa isa, const numbers&) noexcept { \
    return PORTACL_ISA_TABLE(function).For(isa);                    \
  }
PORTACL_RANDOM(UniformNumbers<float>, random::Uniform<float>)
PORTACL_RANDOM(UniformNumbers<double>, random::Uniform<double>)
PORTACL_RANDOM(NormalNumbers<float>, random::Normal<float>)
PORTACL_RANDOM(NormalNumbers<double>, random::Normal<double>)
PORTACL_RANDOM(BernoulliNumbers, random::Bernoulli)
PORTACL_RANDOM(BernoulliOfEach, random::BernoulliEach)
PORTACL_RANDOM(IntegerNumbers, random::Integers)
PORTACL_RANDOM(ExponentialNumbers, random::Exponential)
PORTACL_RANDOM(MaskNumbers, random::Mask)
PORTACL_RANDOM(DropoutNumbers, random::Dropout)
#undef PORTACL_RANDOM

void RandomJob::Run(void* const* addresses, void* workspace) const noexcept {
  SequenceJob job = sequence;
  RandomSource source;
  std::memcpy(&source, job.parameters, sizeof source);  // all kinds of numbers begin with it
  device.AddTo(source, addresses);
  std::memcpy(job.parameters, &source, sizeof source);
  job.Run(addresses, workspace);
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
