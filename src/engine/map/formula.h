// A formula bound to its inputs: the kernel of one instruction set, its parameters, and how each input is
// read.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "engine/map/load_store.h"
#include "engine/strided.h"
#include "engine/tile_size.h"
#include "plan/loop_plan.h"

namespace portacl::engine {

inline constexpr int kMaxInputs = kMaxLoopOperands - 1;

// As many float32 elements as the widest vector of any instruction set has; as many bytes of any other elements.
inline constexpr size_t kRepeated = 64;
inline constexpr size_t kRepeatedBytes = kRepeated * sizeof(float);

// Element types that a kernel takes from memory; kOther ones pass through tiles of the type that is computed in. kMixed is of
// kernels alone: each of their operands is of any of the first three.
enum class ElementType : uint8_t {
  kF32,
  kBf16,
  kF16,
  kOther,
  kMixed,
  kF64,
  kI8,
  kU8,
  kI16,
  kU16,
  kI32,
  kU32,
  kI64,
  kU64,
  kBool,
  kC64,
  kC128
};

constexpr bool IsComplex(ElementType type) { return type == ElementType::kC64 || type == ElementType::kC128; }

// Bytes over which a repeated element of this type is written: a vector, or one of each part.
constexpr size_t RepeatedBytes(ElementType type) { return kRepeatedBytes * (IsComplex(type) ? 2 : 1); }

// A set of them, one bit each.
using ElementTypes = uint32_t;
constexpr ElementTypes SetOf(ElementType type) { return ElementTypes{1} << static_cast<int>(type); }
inline constexpr ElementTypes kHalves = SetOf(ElementType::kBf16) | SetOf(ElementType::kF16);
// What a hot formula has kernels for, besides.
inline constexpr ElementTypes kHotTypes = kHalves | SetOf(ElementType::kMixed);

// In bytes; of a kernel of mixed elements, those of a repeated value.
constexpr size_t SizeOf(ElementType type) {
  switch (type) {
    case ElementType::kI8:
    case ElementType::kU8:
    case ElementType::kBool:
      return 1;
    case ElementType::kBf16:
    case ElementType::kF16:
    case ElementType::kI16:
    case ElementType::kU16:
      return 2;
    case ElementType::kF64:
    case ElementType::kI64:
    case ElementType::kU64:
    case ElementType::kC64:
      return 8;
    case ElementType::kC128:
      return 16;
    default:
      return 4;
  }
}

// What a kernel's operands are. Where they are mixed, an operand with 16-bit elements has its bit in `f16`, or is
// bf16; inputs come first, then the output.
struct KernelType {
  ElementType elements;
  uint8_t f16 = 0;
};

constexpr ElementType ElementTypeOf(aclDataType dtype) {
  switch (dtype) {
    case ACL_FLOAT:
      return ElementType::kF32;
    case ACL_BF16:
      return ElementType::kBf16;
    case ACL_FLOAT16:
      return ElementType::kF16;
    default:
      return ElementType::kOther;
  }
}

// Whether a kernel takes operands of a type as they are in memory.
constexpr bool Takes(ElementType kernel, ElementType type) {
  return kernel == ElementType::kMixed ? type <= ElementType::kF16 : type == kernel;
}

// What a kernel is given: rows of n elements.
struct VectorWork {
  const void* in[kMaxInputs];
  // The size of an operand's elements, or 0 for one value that is repeated over kRepeatedBytes, or, of complex numbers, twice
  // those (as f32 where a kernel is mixed); the output's comes after the inputs'. Where KernelsTakeEverySecond, and a kernel is not mixed, all but the 0
  // may be twice the size: then nothing is written between elements, and nothing read before the first or behind the last.
  size_t step[kMaxInputs + 1];
  void* out;  // may be an input
  size_t n;
  bool
      stream;  // whole cache lines are written past the caches where the instruction set can; the caller ends with a fence
  size_t rows = 1;
  int64_t row_stride[kMaxInputs + 1];  // of each operand, in bytes; not looked at for one row
};

// A formula compiled for one instruction set: out[i] = f(in[0][i], ...) for each row's i in [0, n); inputs and output are
// of the type that the kernel is for (but for a formula's that writes bool), the computation is in that type, or in float32
// where the type has 16 bits or is mixed.
using VectorFunction = Isa (*)(KernelType type, const void* parameters, const VectorWork& work);

inline bool KernelsTakeEverySecond(Isa isa) noexcept { return isa == Isa::kAvx512; }

// The types for which an instruction set has kernels of a formula that asks for these. The portable one is what remains
// where there is no other: loops over 16-bit and mixed types are not worth the time that the compiler takes for them.
constexpr ElementTypes KernelTypes(Isa isa, ElementTypes asked) {
  return isa == Isa::kPortable ? asked & ~kHotTypes : asked;
}

// The same formula, its terms added into float64 sums (see sum_work.h).
struct SumWork;
using SumFunction = Isa (*)(KernelType type, const void* parameters, SumWork& work);

struct Hoisted;

// What a formula is compiled to, for one instruction set.
struct Kernels {
  VectorFunction values;
  SumFunction sums;  // nullptr for a formula that is never summed
  ElementTypes
      takes;  // the types that there are kernels for; of every second element too where kMixed is among them
  bool writes_bool = false;          // results are bytes, 0 or 1, whatever is computed in
  const Hoisted* hoisted = nullptr;  // outlives every job
};

// What a formula that takes a costly function of one input is computed by where that input is repeated: first the
// function, once for each distinct element, then the rest, which is given the value (f32) as an input.
struct Hoisted {
  Isa isa;
  Kernels function;  // of one input
  Kernels rest;
  int8_t input;  // that the function is of
  int8_t value;  // which of the rest's inputs the value is: in the input's place, or one more
};

// The parameters of a formula that has none, and of one that has only the factor of its reduction.
struct NoParameters {};
struct FactorAlone {
  float c;
};

// Up to two numbers of the type that is computed in, real or complex.
struct Scalars {
  static constexpr int kMost = 2;

  alignas(16) unsigned char bytes[kMost][16] = {};

  // For formulas that ask for it: see engine/map/scalar_operand-inl.h.
  void SetScalarIsFirst() { bytes[1][0] = 1; }

  // Number i, or its imaginary part; of lanes of type T.
  template <class T>
  T Get(int i, int part = 0) const {
    T value;
    std::memcpy(&value, bytes[i] + static_cast<size_t>(part) * sizeof(T), sizeof value);
    return value;
  }
};

// A kernel, and the type in which results leave it.
struct ChosenKernel {
  KernelType type;
  ElementType written;
};

// Trivially copyable, as part of jobs that executors hold.
struct Formula {
  VectorFunction function;
  SumFunction sums;
  ElementTypes takes;                        // see Kernels
  bool writes_bool;                          // see Kernels
  ElementType computed = ElementType::kF32;  // what tiles hold: one of `takes`, without 16-bit and mixed ones
  const Hoisted* hoisted;                    // or nullptr
  int input_count;
  int tile = kTile;  // elements of a tile
  GatherFunction gather;
  ElementLoad load[kMaxInputs];
  ElementType type[kMaxInputs];
  int8_t argument[kMaxInputs];  // which of the call's operands each input is
  alignas(16) unsigned char parameters[32];

  template <class Parameters>
  void Set(const Kernels& kernels, const Parameters& values) {
    static_assert(sizeof(Parameters) <= sizeof parameters && std::is_trivially_copyable_v<Parameters>);
    SetKernels(kernels);
    std::memcpy(parameters, &values, sizeof values);
  }

  void SetKernels(const Kernels& kernels) noexcept {
    function = kernels.values;
    sums = kernels.sums;
    takes = kernels.takes;
    writes_bool = kernels.writes_bool;
    hoisted = kernels.hoisted;
  }

  // The kernel for these inputs and a result of the given type: of one type where all have it, mixed where only some have
  // 16 bits, else of the type that is computed in.
  ChosenKernel KernelFor(ElementType result) const noexcept {
    if (computed != ElementType::kF32) return {{computed}, writes_bool ? ElementType::kBool : computed};
    if (writes_bool) {
      const KernelType kernel = KernelOver(FirstType());
      return {kernel.elements == ElementType::kMixed ? KernelType{ElementType::kF32} : kernel,
              ElementType::kBool};
    }
    if (result > ElementType::kF16) result = ElementType::kF32;
    KernelType kernel = KernelOver(result);
    if (kernel.elements == ElementType::kF32) result = ElementType::kF32;
    if (kernel.elements == ElementType::kMixed && result == ElementType::kF16)
      kernel.f16 = static_cast<uint8_t>(kernel.f16 | 1 << input_count);
    return {kernel, result};
  }

  // The kernel that sums these inputs' terms.
  KernelType KernelForSums() const noexcept { return KernelOver(FirstType()); }

  bool Reads(int executor_operand) const noexcept {
    for (int k = 0; k < input_count; ++k) {
      if (argument[k] == executor_operand) return true;
    }
    return false;
  }

 private:
  ElementType FirstType() const noexcept {
    return type[0] <= ElementType::kF16 ? type[0] : ElementType::kF32;
  }

  // The kernel for these inputs and one more operand, but for its bit.
  KernelType KernelOver(ElementType other) const noexcept {
    if ((takes & kHalves) == 0) return {ElementType::kF32};
    bool is_uniform = true;
    bool has_half = other != ElementType::kF32;
    KernelType mixed{ElementType::kMixed};
    for (int k = 0; k < input_count; ++k) {
      is_uniform = is_uniform && type[k] == other;
      has_half = has_half || type[k] == ElementType::kBf16 || type[k] == ElementType::kF16;
      if (type[k] == ElementType::kF16) mixed.f16 = static_cast<uint8_t>(mixed.f16 | 1 << k);
    }
    if (is_uniform || !has_half) return {other};
    return (takes & SetOf(ElementType::kMixed)) != 0 ? mixed : KernelType{ElementType::kF32};
  }
};

// How one output is written.
struct Result {
  ElementStore store;
  ScatterFunction scatter;
  ElementType type;
  int8_t argument;  // which of the call's operands it is
};

}  // namespace portacl::engine
