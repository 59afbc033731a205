// Sequences: numbers that depend on their row-major index in an output, whatever its strides, and optionally
// on the inputs' elements at that index.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/isa.h"
#include "engine/map/formula.h"
#include "plan/loop_plan.h"

namespace portacl::engine {

// Number i is start + i * step, from index `half` on end - (last - i) * step: one fused multiply-add in T.
// (Float32 numbers whose i is too large for float32 are computed in float64.) Integers are modulo 2^n. For
// float, double and int64_t.
template <class T>
struct EvenlySpaced {
  T start;
  T step;
  T end = 0;
  int64_t last = 0;
  int64_t half = INT64_MAX;
};

// `value`, of `size` bytes, at every index that is a multiple of `period`, `count` times, and zero bytes in
// between.
struct Periodic {
  int32_t size;
  int64_t period;
  int64_t count;
  alignas(16) unsigned char value[16];
};

inline constexpr int kMaxSequenceInputs = 2;

// Makes numbers [first, first + n). With `stream`, whole cache lines go past the caches if the instruction
// set can, and the caller ends with a fence. AtOnce says how many may be made at once, and where.
struct ThreadBlock {
  int64_t first;
  size_t n;
  void* to;
  bool stream;
  const void* in[kMaxSequenceInputs];  // the inputs' elements at these indices, in the computed type
  uint8_t* bits;  // of the packed operand: bit i % 8 of byte i / 8 belongs to number first + i
};
using SequenceFunction = void (*)(const void* parameters, const ThreadBlock& thread_block);

SequenceFunction FindSequence(Isa isa, const EvenlySpaced<float>&) noexcept;
SequenceFunction FindSequence(Isa isa, const EvenlySpaced<double>&) noexcept;
SequenceFunction FindSequence(Isa isa, const EvenlySpaced<int64_t>&) noexcept;
SequenceFunction FindSequence(Isa isa, const Periodic&) noexcept;

// The type of the numbers; kOther if they are in their stored form.
constexpr ElementType TypeOf(const EvenlySpaced<float>&) { return ElementType::kF32; }
constexpr ElementType TypeOf(const EvenlySpaced<double>&) { return ElementType::kF64; }
constexpr ElementType TypeOf(const EvenlySpaced<int64_t>&) { return ElementType::kI64; }
constexpr ElementType TypeOf(const Periodic&) { return ElementType::kOther; }

// The most elements that are written directly to the output at once. 0 means that numbers are made in a tile,
// starting at a multiple of kTile and padded for a vector. For evenly spaced float32 numbers the count also
// decides in which type numbers near the bound of float32 are computed: it is a tile, whatever the output's
// layout.
template <class Numbers>
constexpr int64_t AtOnce(const Numbers&) {
  return 0;
}
template <class T>
constexpr int64_t AtOnce(const EvenlySpaced<T>&) {
  return kTile;
}
constexpr int64_t AtOnce(const Periodic&) { return INT64_MAX; }

// A mask: bytes with a bit for each number, padded to 128. It has its own plan, and is read before numbers
// are computed, or written afterwards.
struct PackedOperand {
  enum class Use : uint8_t { kNone, kRead, kWritten };
  static constexpr int64_t kNumbers = 128;  // its bits are padded to a multiple of this

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
  bool is_loaded[kMaxSequenceInputs];   // through `load`; else stored in the computed type
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
