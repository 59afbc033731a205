// A formula bound to its inputs: the kernel of one instruction set, its parameters, and how each input is
// read.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "engine/conversions.h"
#include "engine/strided.h"
#include "plan/loop_plan.h"

namespace portacl::engine {

inline constexpr int kMaxInputs = kMaxLoopOperands - 1;

// As many elements as the widest vector of any instruction set has.
inline constexpr size_t kRepeated = 64;

// Element types that a kernel takes from memory; kOther ones pass through float32 tiles. kMixed is of kernels
// alone: each of their operands is of any of the first three.
enum class ElementType : uint8_t { kF32, kBf16, kF16, kOther, kMixed };

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
  return kernel == ElementType::kMixed ? type != ElementType::kOther : type == kernel;
}

// What a kernel is given: rows of n elements.
struct VectorWork {
  const void* in[kMaxInputs];
  // The size of an operand's elements, or 0 for one value that is repeated over kRepeated elements (as f32 where a kernel
  // is mixed); the output's comes after the inputs'. Where KernelsTakeEverySecond, and a kernel is not mixed, all but the 0
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
// of the type that the kernel is for, the computation is in float32.
using VectorFunction = Isa (*)(KernelType type, const void* parameters, const VectorWork& work);

inline bool KernelsTakeEverySecond(Isa isa) noexcept { return isa == Isa::kAvx512; }

// Whether an instruction set has the loops that hot formulas ask for (see Elementwise::kIsHot). The portable one is what
// remains where there is no other: it is not worth the time that the compiler takes for them.
constexpr bool HasHotKernels(Isa isa, bool is_hot) { return is_hot && isa != Isa::kPortable; }

// The same formula, its terms added into float64 sums (see sum_work.h).
struct SumWork;
using SumFunction = Isa (*)(KernelType type, const void* parameters, SumWork& work);

struct Split;

// What a formula is compiled to, for one instruction set.
struct Kernels {
  VectorFunction values;
  SumFunction sums;   // nullptr for a formula that is never summed
  bool takes_halves;  // kernels for every KernelType, and every second element; else for kF32 alone
  const Split* split = nullptr;  // outlives every job
};

// What a formula that takes a costly function of one input is computed by where that input is repeated: first the
// function, once for each distinct element, then the rest, which is given the outcome (f32) as an input.
struct Split {
  Isa isa;
  Kernels function;  // of one input
  Kernels rest;
  int8_t input;    // that the function is of
  int8_t outcome;  // which of the rest's inputs the outcome is: in the input's place, or one more
};

// The parameters of a formula that has none, and of one that has only the factor of its reduction.
struct NoParameters {};
struct FactorAlone {
  float c;
};

// Trivially copyable, as part of jobs that executors hold.
struct Formula {
  VectorFunction function;
  SumFunction sums;
  bool takes_halves;   // see Kernels
  const Split* split;  // or nullptr
  int input_count;
  GatherFunction gather;
  LoadFunction load[kMaxInputs];
  ElementType type[kMaxInputs];
  int8_t argument[kMaxInputs];  // which of the executor's operands each input is
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
    takes_halves = kernels.takes_halves;
    split = kernels.split;
  }

  // The kernel for these inputs and a result of the given type (not kOther): of one type where all have it, mixed
  // where only some have 16 bits, else of float32, in which the result is then.
  KernelType KernelFor(ElementType result) const noexcept {
    KernelType kernel = KernelOver(result);
    if (kernel.elements == ElementType::kMixed && result == ElementType::kF16)
      kernel.f16 = static_cast<uint8_t>(kernel.f16 | 1 << input_count);
    return kernel;
  }

  // The kernel that sums these inputs' terms.
  KernelType KernelForSums() const noexcept {
    return KernelOver(type[0] == ElementType::kOther ? ElementType::kF32 : type[0]);
  }

  bool Reads(int executor_operand) const noexcept {
    for (int k = 0; k < input_count; ++k) {
      if (argument[k] == executor_operand) return true;
    }
    return false;
  }

 private:
  // The kernel for these inputs and one more operand, but for its bit.
  KernelType KernelOver(ElementType other) const noexcept {
    if (!takes_halves) return {ElementType::kF32};
    bool is_uniform = true;
    bool has_half = other != ElementType::kF32;
    KernelType mixed{ElementType::kMixed};
    for (int k = 0; k < input_count; ++k) {
      is_uniform = is_uniform && type[k] == other;
      has_half = has_half || type[k] == ElementType::kBf16 || type[k] == ElementType::kF16;
      if (type[k] == ElementType::kF16) mixed.f16 = static_cast<uint8_t>(mixed.f16 | 1 << k);
    }
    return is_uniform || !has_half ? KernelType{other} : mixed;
  }
};

// How one output is written.
struct Result {
  StoreFunction store;
  ScatterFunction scatter;
  ElementType type;
  int8_t argument;  // which of the executor's operands it is
};

}  // namespace portacl::engine
