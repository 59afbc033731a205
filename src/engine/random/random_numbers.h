// Random numbers as sequences (engine/sequence/sequence.h). Each depends only on the seed, the offset and its
// index. docs/numerics.md, "Random numbers", defines the mappings.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "engine/random/source.h"
#include "engine/sequence/sequence.h"

namespace portacl::engine {

// scale * (base + u * step) with u from 0 to below 1; a result that reaches `limit` becomes `low`. For float
// (24 bits) and double (53).
template <class T>
struct UniformNumbers {
  RandomSource source;
  T base;
  T step;
  T scale;
  T limit;
  T low;
};

// mean + z * std, rounded once. For float and double; the latter needs SLEEF.
template <class T>
struct NormalNumbers {
  RandomSource source;
  T mean;
  T std;
  int mean_input = -1;  // the input that has the means, or none
  int std_input = -1;
};

// Bytes: 1 if the word is at most `most`, else 0.
struct BernoulliNumbers {
  RandomSource source;
  uint32_t most;
};

// 1 if word * 2^-32 is below the input, a probability, else 0; as float64.
struct BernoulliOfEach {
  RandomSource source;
};

// `count` integers from `from` on; 0 stands for 2^64.
struct IntegerNumbers {
  RandomSource source;
  int64_t from;
  uint64_t count;
};

// -ln(u) / lambda, at least `least`; in float64.
struct ExponentialNumbers {
  RandomSource source;
  double lambda;
  double least;
};

// The bytes of a mask for `count` elements: a bit is 1 if the element's word is at most `most`. Padding is 0.
struct MaskNumbers {
  RandomSource source;
  uint32_t most;
  int64_t count;
};

// The input times `scale` if its bit is 1, else 0. With `multiplies` a bit of 0 multiplies, too, so that
// non-finite input becomes NaN.
struct DropoutNumbers {
  // Bits are read, or drawn like those of MaskNumbers, or all 1 (padding included), or all 0.
  enum class Bits : uint8_t { kRead, kDrawn, kAll, kNone };

  RandomSource source;
  uint32_t most;
  float scale;
  Bits bits;
  bool multiplies;
};

SequenceFunction FindSequence(Isa isa, const UniformNumbers<float>&) noexcept;
SequenceFunction FindSequence(Isa isa, const UniformNumbers<double>&) noexcept;
SequenceFunction FindSequence(Isa isa, const NormalNumbers<float>&) noexcept;
SequenceFunction FindSequence(Isa isa, const NormalNumbers<double>&) noexcept;
SequenceFunction FindSequence(Isa isa, const BernoulliNumbers&) noexcept;
SequenceFunction FindSequence(Isa isa, const BernoulliOfEach&) noexcept;
SequenceFunction FindSequence(Isa isa, const IntegerNumbers&) noexcept;
SequenceFunction FindSequence(Isa isa, const ExponentialNumbers&) noexcept;
SequenceFunction FindSequence(Isa isa, const MaskNumbers&) noexcept;
SequenceFunction FindSequence(Isa isa, const DropoutNumbers&) noexcept;

constexpr ElementType TypeOf(const UniformNumbers<float>&) { return ElementType::kF32; }
constexpr ElementType TypeOf(const UniformNumbers<double>&) { return ElementType::kF64; }
constexpr ElementType TypeOf(const NormalNumbers<float>&) { return ElementType::kF32; }
constexpr ElementType TypeOf(const NormalNumbers<double>&) { return ElementType::kF64; }
constexpr ElementType TypeOf(const BernoulliNumbers&) { return ElementType::kBool; }
constexpr ElementType TypeOf(const BernoulliOfEach&) { return ElementType::kF64; }
constexpr ElementType TypeOf(const IntegerNumbers&) { return ElementType::kI64; }
constexpr ElementType TypeOf(const ExponentialNumbers&) { return ElementType::kF64; }
constexpr ElementType TypeOf(const MaskNumbers&) { return ElementType::kU8; }
constexpr ElementType TypeOf(const DropoutNumbers&) { return ElementType::kF32; }

// A one-element tensor of 64-bit integers, which is read when the job runs.
struct IntegerElement {
  int8_t argument = -1;  // which of the call's operands; none: 0
  int64_t byte_offset = 0;

  uint64_t Read(void* const* addresses) const noexcept {
    uint64_t value = 0;
    if (argument >= 0)
      std::memcpy(&value, static_cast<const char*>(addresses[argument]) + byte_offset, sizeof value);
    return value;
  }
};

// Values in tensors that are added to the call's seed and offset.
struct DeviceSource {
  IntegerElement seed;
  IntegerElement offset;

  bool Touches(int operand) const noexcept { return seed.argument == operand || offset.argument == operand; }
  void AddTo(RandomSource& source, void* const* addresses) const noexcept {
    source.seed += seed.Read(addresses);
    source.offset += offset.Read(addresses);
  }
};

// A sequence of the numbers above, whose seed and offset lie in tensors.
struct RandomJob {
  SequenceJob sequence;
  DeviceSource device;

  bool Touches(int operand) const noexcept { return sequence.Touches(operand) || device.Touches(operand); }
  int64_t Elements() const noexcept { return sequence.Elements(); }
  void Run(void* const* addresses, void* workspace) const noexcept;
};

}  // namespace portacl::engine
