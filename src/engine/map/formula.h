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

// A repeated value is written over this many float32 elements, as many as the widest vector of any
// instruction set has, or over as many bytes of other elements.
inline constexpr size_t kRepeated = 64;
inline constexpr size_t kRepeatedBytes = kRepeated * sizeof(float);

// The element types that a kernel reads from memory. kOther elements pass through tiles of the computed type.
// kMixed is a type of kernels only: each of their operands has any of the first three types.
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

// The bytes over which a repeated element of this type is written: one vector, or one for each part of a
// complex number.
constexpr size_t RepeatedBytes(ElementType type) { return kRepeatedBytes * (IsComplex(type) ? 2 : 1); }

// A set of element types, one bit each.
using ElementTypes = uint32_t;
constexpr ElementTypes SetOf(ElementType type) { return ElementTypes{1} << static_cast<int>(type); }
inline constexpr ElementTypes k16BitFloats = SetOf(ElementType::kBf16) | SetOf(ElementType::kF16);
// The additional kernels of a formula with a fast path.
inline constexpr ElementTypes kFastPathTypes = k16BitFloats | SetOf(ElementType::kMixed);

// The element size in bytes; for kMixed that of a repeated value.
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

// The types of a kernel's operands. If they are mixed, an operand with 16-bit elements has its bit in `f16`
// or is bf16. Inputs come first, then the output.
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

// Tells whether a kernel reads operands of a type directly from memory.
constexpr bool Takes(ElementType kernel, ElementType type) {
  return kernel == ElementType::kMixed ? type <= ElementType::kF16 : type == kernel;
}

// The operands of a kernel: rows of n elements.
struct VectorWork {
  const void* in[kMaxInputs];
  // The distance between an operand's elements; the output's comes after the inputs'. It is the element size,
  // or 0 for a value that is repeated over kRepeatedBytes (twice that for complex numbers; as f32 in a mixed
  // kernel). If KernelsTakeEverySecond and the kernel is not mixed, all but the 0 may be twice the size. Then
  // nothing between elements is written, and nothing outside the first and last is read.
  size_t step[kMaxInputs + 1];
  void* out;  // may be an input
  size_t n;
  bool
      // writes whole cache lines past the caches if the instruction set can; the caller ends with a fence
      stream;
  size_t rows = 1;
  int64_t row_stride[kMaxInputs + 1];  // of each operand, in bytes; ignored for one row
};

// A formula compiled for one instruction set: out[i] = f(in[0][i], ...) for i in [0, n) of each row. Inputs
// and output are of the kernel's type, except that a formula may write bool. 16-bit and mixed types are
// computed in float32, others in their own type.
using VectorFunction = Isa (*)(KernelType type, const void* parameters, const VectorWork& work);

inline bool KernelsTakeEverySecond(Isa isa) noexcept { return isa == Isa::kAvx512; }

// The types for which an instruction set has kernels, of those that a formula asks for. The portable set has
// none for 16-bit and mixed types: it is only a fallback, and they would cost too much compile time.
constexpr ElementTypes KernelTypes(Isa isa, ElementTypes asked) {
  return isa == Isa::kPortable ? asked & ~kFastPathTypes : asked;
}

// The formula with its terms added into float64 sums (see sum_work.h).
struct SumWork;
using SumFunction = Isa (*)(KernelType type, const void* parameters, SumWork& work);

struct Precomputed;

// The compiled forms of a formula for one instruction set.
struct Kernels {
  VectorFunction values;
  SumFunction sums;  // nullptr for a formula that is never summed
  ElementTypes
      takes;  // the types that have kernels; if kMixed is one, every second element is supported, too
  bool writes_bool = false;                  // results are bytes of 0 or 1, whatever the computed type
  const Precomputed* precomputed = nullptr;  // outlives every job
};

// Two parts of a formula that applies a costly function to one input. They are used if that input is
// repeated: first the function is computed once for each distinct element, then the rest, which takes the
// value (f32) as an input.
struct Precomputed {
  Isa isa;
  Kernels function;  // of one input
  Kernels rest;
  int8_t input;  // the input of the function
  int8_t value;  // the position of the value among the rest's inputs: that of `input`, or one more
};

// The parameters of a formula without any, and of one that has only its reduction's factor.
struct NoParameters {};
struct FactorAlone {
  float c;
};

// Up to two numbers of the computed type, real or complex.
struct Scalars {
  static constexpr int kMost = 2;

  alignas(16) unsigned char bytes[kMost][16] = {};

  // Tells formulas that read it (engine/map/scalar_operand-inl.h) that the scalar is the first input.
  void SetScalarIsFirst() { bytes[1][0] = 1; }

  // Returns number i or its imaginary part, in lanes of type T.
  template <class T>
  T Get(int i, int part = 0) const {
    T value;
    std::memcpy(&value, bytes[i] + static_cast<size_t>(part) * sizeof(T), sizeof value);
    return value;
  }
};

// A kernel, and the type of its results.
struct SelectedKernel {
  KernelType type;
  ElementType written;
};

// Part of jobs that executors hold, and so trivially copyable.
struct Formula {
  VectorFunction function;
  SumFunction sums;
  ElementTypes takes;                        // see Kernels
  bool writes_bool;                          // see Kernels
  ElementType computed = ElementType::kF32;  // the type of tiles: one of `takes`, neither 16-bit nor mixed
  const Precomputed* precomputed;            // nullptr if there is none
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
    precomputed = kernels.precomputed;
  }

  // Returns the kernel for these inputs and a result of the given type. It is a kernel of one type if all
  // operands have that type, mixed if only some have 16 bits, else of the computed type.
  SelectedKernel KernelFor(ElementType result) const noexcept {
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

  // Returns the kernel that sums these inputs' terms.
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

  // Returns the kernel for these inputs and one more operand, whose bit the caller sets.
  KernelType KernelOver(ElementType other) const noexcept {
    if ((takes & k16BitFloats) == 0) return {ElementType::kF32};
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
