// Computes sequences and writes them (see sequence.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/sequence/sequence.h"

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/sequence/sequence.cc"
#include "base/foreach_target.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/functions/primitives-inl.h"
#include "engine/half_precision-inl.h"
#include "engine/map/integers-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace sequences {

// Stores fewer elements than a vector has, or all.
template <class D>
HWY_INLINE void StoreSome(D d, hn::Vec<D> v, hn::TFromD<D>* to, size_t n) {
  HWY_ALIGN hn::TFromD<D> elements[HWY_MAX_BYTES / sizeof(hn::TFromD<D>)];
  hn::Store(v, d, elements);
  std::memcpy(to, elements, HWY_MIN(n, hn::Lanes(d)) * sizeof(hn::TFromD<D>));
}

// Writes base + i * step for i in [first, first + n).
template <class T>
HWY_INLINE void Line(T base, T step, int64_t first, size_t n, T* to, bool stream) {
  const hn::ScalableTag<T> d;
  const auto bases = hn::Set(d, base);
  const auto steps = hn::Set(d, step);
  // Up to this bound T represents every i exactly.
  constexpr int64_t kMost = int64_t{1} << (std::is_same_v<T, float> ? 24 : 52);
  const auto count = static_cast<int64_t>(n);
  if (!std::is_integral_v<T> && (first < -kMost || first + count > kMost)) {
    for (int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<T>(
          std::fma(static_cast<double>(first + i), static_cast<double>(step), static_cast<double>(base)));
      std::memcpy(to + i, &value, sizeof value);
    }
    return;
  }
  const size_t lanes = hn::Lanes(d);
  const auto at = [&](size_t i) HWY_ATTR {
    const auto index = hn::Add(hn::Iota(d, static_cast<T>(first)), hn::Set(d, static_cast<T>(i)));
    if constexpr (std::is_integral_v<T>) {
      return hn::Add(bases, Multiply(d, index, steps));
    } else {
      return functions::Fma(d, index, steps, bases);
    }
  };
  size_t i = 0;
  stream = kCanStream && stream && ComesToLine(to, sizeof(T));
  if (const size_t head = stream ? ElementsToLine(to, sizeof(T), n) : 0; head > 0) {
    for (; i < head; i += lanes) StoreSome(d, at(i), to + i, head - i);
    i = head;
  }
  auto value = at(i);
  // Integers wrap, so that repeated sums equal the products.
  [[maybe_unused]] const auto further = Multiply(d, hn::Set(d, static_cast<T>(lanes)), steps);
  for (; i + lanes <= n; i += lanes) {
    StoreWhole(d, value, to + i, stream);
    if constexpr (std::is_integral_v<T>) {
      value = hn::Add(value, further);
    } else {
      value = at(i + lanes);
    }
  }
  if (i < n) StoreSome(d, value, to + i, n - i);
}

template <class T>
void Spaced(const void* parameters, const ThreadBlock& thread_block) {
  const auto& numbers = *static_cast<const EvenlySpaced<T>*>(parameters);
  const int64_t first = thread_block.first;
  const size_t n = thread_block.n;
  const int64_t from_start =
      std::clamp(numbers.half - std::min(first, numbers.half), int64_t{0}, static_cast<int64_t>(n));
  const auto before = static_cast<size_t>(from_start);
  auto* const values = static_cast<T*>(thread_block.to);
  if (before > 0) Line<T>(numbers.start, numbers.step, first, before, values, thread_block.stream);
  if (before < n)
    Line<T>(numbers.end, numbers.step, first + from_start - numbers.last, n - before, values + before,
            thread_block.stream);
}

HWY_INLINE void Zeros(char* to, size_t bytes, bool stream) {
  if (kCanStream && stream) {
    const hn::ScalableTag<uint8_t> d;
    const size_t head = ElementsToLine(to, 1, bytes);
    std::memset(to, 0, head);
    to += head;
    bytes -= head;
    for (; bytes >= hn::Lanes(d); bytes -= hn::Lanes(d), to += hn::Lanes(d))
      hn::Stream(hn::Zero(d), d, reinterpret_cast<uint8_t*>(to));
  }
  std::memset(to, 0, bytes);
}

void FillPeriodic(const void* parameters, const ThreadBlock& thread_block) {
  const auto& numbers = *static_cast<const Periodic*>(parameters);
  const int64_t first = thread_block.first;
  const size_t n = thread_block.n;
  void* const to = thread_block.to;
  Zeros(static_cast<char*>(to), n * static_cast<size_t>(numbers.size), thread_block.stream);
  const int64_t end = first + static_cast<int64_t>(n);
  for (int64_t k = (first + numbers.period - 1) / numbers.period; k < numbers.count; ++k) {
    const int64_t element = k * numbers.period;
    if (element >= end) return;
    std::memcpy(static_cast<char*>(to) + (element - first) * numbers.size, numbers.value,
                static_cast<size_t>(numbers.size));
  }
}

}  // namespace sequences
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "base/float_environment.h"
#include "engine/isa_in_use.h"
#include "engine/map/dispatch.h"
#include "engine/map/tiles.h"
#include "engine/parallel.h"

#include <hwy/cache_control.h>

namespace portacl::engine {
namespace {

constexpr int64_t kBlock = 16384;
// Padding for the longest vector: the last vector of a tile is written whole.
constexpr size_t kBehindTile = 256;

}  // namespace

SequenceFunction FindSequence(Isa isa, const EvenlySpaced<float>&) noexcept {
  return PORTACL_ISA_TABLE(sequences::Spaced<float>).For(isa);
}
SequenceFunction FindSequence(Isa isa, const EvenlySpaced<double>&) noexcept {
  return PORTACL_ISA_TABLE(sequences::Spaced<double>).For(isa);
}
SequenceFunction FindSequence(Isa isa, const EvenlySpaced<int64_t>&) noexcept {
  return PORTACL_ISA_TABLE(sequences::Spaced<int64_t>).For(isa);
}
SequenceFunction FindSequence(Isa isa, const Periodic&) noexcept {
  return PORTACL_ISA_TABLE(sequences::FillPeriodic).For(isa);
}

namespace {

// Copies the packed bits of numbers [first, first + n) from the operand to the buffer, or back.
void CopyPacked(const PackedOperand& packed, char* base, int64_t first, int64_t n, bool writes,
                uint8_t* bits) {
  constexpr int64_t kUnit = PackedOperand::kNumbers;
  const int64_t bytes = (n + kUnit - 1) / kUnit * (kUnit / 8);
  const Cursor cursor(packed.plan, &base, first / 8);
  ForEachDenseRange(packed.plan, 0, cursor, bytes,
                    [&](char* address, int64_t stride, int64_t done, int64_t length) {
                      for (int64_t i = 0; i < length; ++i) {
                        auto* const there = reinterpret_cast<uint8_t*>(address + i * stride);
                        if (writes) {
                          *there = bits[done + i];
                        } else {
                          bits[done + i] = *there;
                        }
                      }
                    });
}

}  // namespace

void SequenceJob::Run(void* const* addresses, void*) const noexcept {
  char* base[kMaxSequenceInputs + 1];
  for (int k = 0; k <= input_count; ++k) {
    const int operand = k < input_count ? argument[k] : result.argument;
    base[k] = static_cast<char*>(addresses[operand]) + plan.operand[k].offset;
  }
  const bool is_packed = packed.use != PackedOperand::Use::kNone;
  char* const packed_base =
      is_packed ? static_cast<char*>(addresses[packed.argument]) + packed.plan.operand[0].offset : nullptr;
  const int32_t size = plan.operand[input_count].element_size;
  ForEachBlock((plan.count + kBlock - 1) / kBlock, threads, [&](int64_t block) {
    const DefaultFloatEnvironment environment;
    alignas(64) char computed[kTile * kWidestElement + kBehindTile];
    alignas(64) char stored[kTile * kWidestElement];
    alignas(64) char loaded[kMaxSequenceInputs][kTile * sizeof(double) + kBehindTile];
    alignas(64) uint8_t bits[kTile / 8];
    const int64_t end = std::min(plan.count, (block + 1) * kBlock);
    Cursor cursor(plan, base, block * kBlock);
    for (int64_t position = block * kBlock; position < end;) {
      // Writes numbers directly to the output, unless they have to be scattered, converted or made in a tile.
      int64_t n = std::min(end - position, is_converted || at_once == 0 ? int64_t{kTile} : at_once);
      char* const dense = DenseAddress(plan, input_count, base[input_count], cursor, position, n);
      if (dense == nullptr) n = std::min<int64_t>(n, kTile);
      const bool stays = dense != nullptr && !is_converted && at_once != 0;
      ThreadBlock thread_block{
          position, static_cast<size_t>(n), stays ? dense : computed, stream && stays, {}, bits};
      for (int k = 0; k < input_count; ++k) {
        const int32_t input_size = plan.operand[k].element_size;
        char* const gathered = is_loaded[k] ? stored : loaded[k];
        ForEachDenseRange(plan, k, cursor, n,
                          [&](char* address, int64_t stride, int64_t done, int64_t length) {
                            gather(address, stride, input_size, gathered + done * input_size, length);
                          });
        if (is_loaded[k]) load[k](stored, loaded[k], static_cast<size_t>(n));
        thread_block.in[k] = loaded[k];
      }
      if (packed.use == PackedOperand::Use::kRead) CopyPacked(packed, packed_base, position, n, false, bits);
      function(parameters, thread_block);
      if (packed.use == PackedOperand::Use::kWritten)
        CopyPacked(packed, packed_base, position, n, true, bits);
      const char* from = computed;
      if (is_converted) {
        char* const to = dense != nullptr ? dense : stored;
        result.store(computed, to, static_cast<size_t>(n), stream && dense != nullptr);
        from = stored;
      }
      if (dense == nullptr || (!is_converted && !stays)) {
        ForEachDenseRange(plan, input_count, cursor, n,
                          [&](char* address, int64_t stride, int64_t done, int64_t length) {
                            if (stride == size) {
                              std::memcpy(address, from + done * size, static_cast<size_t>(length * size));
                            } else {
                              result.scatter(from + done * size, address, stride, size, length);
                            }
                          });
      }
      position += n;
      cursor.Skip(n);
    }
    if (stream) hwy::FlushStream();
  });
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
