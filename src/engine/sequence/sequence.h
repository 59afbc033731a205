// Sequences: numbers that depend on their place in an output, in row-major order whatever its strides, and maybe on the
// elements of inputs at that place.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "acl/isa.h"
#include "engine/map/formula.h"
#include "plan/loop_plan.h"

namespace portacl::engine {

// Number i is start + i * step, from place `half` on end - (last - i) * step: one fused multiply-add in T.
// (Float32 numbers so far from either that i is none are computed in float64.) Integers modulo 2^n. Of float,
// double and int64_t.
template <class T>
struct EvenlySpaced {
  T start;
  T step;
  T end = 0;
  int64_t last = 0;
  int64_t half = INT64_MAX;
};

// `value`, of `size` bytes, at every place that is a multiple of `period`, `count` times, and bytes of 0
// between.
struct Periodic {
  int32_t size;
  int64_t period;
  int64_t count;
  alignas(16) unsigned char value[16];
};

inline constexpr int kMaxSequenceInputs = 2;

// Numbers [first, first + n). With `stream`, whole cache lines go past the caches where the instruction set can, and the caller ends
// with a fence. How many are asked for at once, and where they may go, depends on the numbers: see AtOnce.
struct Stretch {
  int64_t first;
  size_t n;
  void* to;
  bool stream;
  const void* in[kMaxSequenceInputs];  // the inputs' elements at these places, as they are computed
  uint8_t* bits;  // the packed operand's: bit i % 8 of byte i / 8 is that of number first + i
};
using SequenceFunction = void (*)(const void* parameters, const Stretch& stretch);

SequenceFunction FindSequence(Isa isa, const EvenlySpaced<float>&) noexcept;
SequenceFunction FindSequence(Isa isa, const EvenlySpaced<double>&) noexcept;
SequenceFunction FindSequence(Isa isa, const EvenlySpaced<int64_t>&) noexcept;
SequenceFunction FindSequence(Isa isa, const Periodic&) noexcept;

// The type of their numbers; kOther where they are as they are to be stored.
constexpr ElementType TypeOf(const EvenlySpaced<float>&) { return ElementType::kF32; }
constexpr ElementType TypeOf(const EvenlySpaced<double>&) { return ElementType::kF64; }
constexpr ElementType TypeOf(const EvenlySpaced<int64_t>&) { return ElementType::kI64; }
constexpr ElementType TypeOf(const Periodic&) { return ElementType::kOther; }

// How many elements at most are written at once where they belong; 0 for numbers that are made in a tile, from a multiple of kTile on
// and with room for a vector behind them. How many evenly spaced float32 numbers are asked for at once decides what they are
// computed in where i is at the edge of float32: tiles of the output, whatever its layout.
template <class Numbers>
constexpr int64_t AtOnce(const Numbers&) {
  return 0;
}
template <class T>
constexpr int64_t AtOnce(const EvenlySpaced<T>&) {
  return kTile;
}
constexpr int64_t AtOnce(const Periodic&) { return INT64_MAX; }

// An operand of bytes with a bit for each number, padded to 128: a mask. It has a plan of its own, and is read before
// numbers are computed, or written after.
struct PackedOperand {
  enum class Use : uint8_t { kNone, kRead, kWritten };
  static constexpr int64_t kNumbers = 128;  // to which its bits are padded

  Use use = Use::kNone;
  int8_t argument = -1;
  LoopPlan plan;
};

// Trivially copyable, so that an executor can hold it.
struct SequenceJob {
  LoopPlan plan;  // of the inputs, then the output, in row-major order
  SequenceFunction function;
  int64_t at_once;  // AtOnce of the numbers
  bool stream;      // the operands are larger than the caches
  alignas(16) unsigned char parameters[64];
  int input_count = 0;
  int8_t argument[kMaxSequenceInputs];  // which of the call's operands each input is
  bool is_loaded[kMaxSequenceInputs];   // by load; else it is what is computed
  ElementLoad load[kMaxSequenceInputs];
  GatherFunction gather;
  bool is_converted;  // by result.store
  Result result;
  PackedOperand packed;
  int threads;

  template <class Numbers>
  void Set(Isa isa, const Numbers& numbers) {
    static_assert(sizeof numbers <= sizeof parameters && std::is_trivially_copyable_v<Numbers>);
    function = FindSequence(isa, numbers);
    at_once = AtOnce(numbers);
    std::memcpy(parameters, &numbers, sizeof numbers);
  }

  bool Touches(int executor_operand) const noexcept {
    for (int k = 0; k < input_count; ++k) {
      if (argument[k] == executor_operand) return true;
    }
    return result.argument == executor_operand ||
           (packed.use != PackedOperand::Use::kNone && packed.argument == executor_operand);
  }
  int64_t Elements() const noexcept { return plan.count; }
  void Run(void* const* addresses, void* workspace) const noexcept;
};

}  // namespace portacl::engine
