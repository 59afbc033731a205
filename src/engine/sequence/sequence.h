// Sequences: numbers that depend on nothing but their place in an output, in row-major order whatever its
// strides.
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

// Numbers [first, first + n), n at most a tile's, to a buffer that has room for a vector behind them.
using SequenceFunction = void (*)(const void* parameters, int64_t first, size_t n, void* to);

SequenceFunction FindSequence(Isa isa, const EvenlySpaced<float>&) noexcept;
SequenceFunction FindSequence(Isa isa, const EvenlySpaced<double>&) noexcept;
SequenceFunction FindSequence(Isa isa, const EvenlySpaced<int64_t>&) noexcept;
SequenceFunction FindSequence(Isa isa, const Periodic&) noexcept;

// The type of their numbers; kOther where they are as they are to be stored.
constexpr ElementType TypeOf(const EvenlySpaced<float>&) { return ElementType::kF32; }
constexpr ElementType TypeOf(const EvenlySpaced<double>&) { return ElementType::kF64; }
constexpr ElementType TypeOf(const EvenlySpaced<int64_t>&) { return ElementType::kI64; }
constexpr ElementType TypeOf(const Periodic&) { return ElementType::kOther; }

// Trivially copyable, so that an executor can hold it.
struct SequenceJob {
  LoopPlan plan;  // of the output alone, in row-major order
  SequenceFunction function;
  alignas(16) unsigned char parameters[48];
  bool is_converted;  // by result.store
  Result result;
  int threads;

  template <class Numbers>
  void Set(Isa isa, const Numbers& numbers) {
    static_assert(sizeof numbers <= sizeof parameters && std::is_trivially_copyable_v<Numbers>);
    function = FindSequence(isa, numbers);
    std::memcpy(parameters, &numbers, sizeof numbers);
  }

  bool Touches(int executor_operand) const noexcept { return result.argument == executor_operand; }
  int64_t Elements() const noexcept { return plan.count; }
  void Run(void* const* addresses, void* workspace) const noexcept;
};

}  // namespace portacl::engine
