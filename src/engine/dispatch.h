// One function compiled for several instruction sets, indexed by Isa. Include after a foreach_target.h
// section.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "acl/isa.h"
#include "acl/vector_targets.h"

#include <hwy/highway.h>

#include "engine/formula.h"

namespace portacl::engine {

// Unlike HWY_DYNAMIC_DISPATCH, indexing this table neither repeats the detection nor shares a process-wide
// choice with other users of Highway.
template <class Function>
struct IsaTable {
  Function function[5];  // in the order of Isa; nullptr where not compiled

  constexpr Function For(Isa isa) const noexcept { return function[static_cast<size_t>(isa)]; }
};

// The kernels of a formula.
struct KernelTable {
  IsaTable<VectorFunction> values;
  IsaTable<SumFunction> sums;  // empty for a formula that is never summed
  bool is_hot;                 // Elementwise::kIsHot

  constexpr Kernels For(Isa isa) const noexcept {
    return {values.For(isa), sums.For(isa), HasHotKernels(isa, is_hot)};
  }
};

// The same for a formula that may be split (see Split). Static: jobs point into it.
class SplitKernelTable {
 public:
  constexpr SplitKernelTable(const KernelTable& whole, const KernelTable& function, const KernelTable& rest,
                             int8_t input, int8_t outcome)
      : whole_(whole) {
    for (size_t i = 0; i < std::size(split_); ++i) {
      const auto isa = static_cast<Isa>(i);
      split_[i] = {isa, function.For(isa), rest.For(isa), input, outcome};
    }
  }

  Kernels For(Isa isa) const noexcept {
    Kernels kernels = whole_.For(isa);
    kernels.split = &split_[static_cast<size_t>(isa)];
    return kernels;
  }

 private:
  KernelTable whole_;
  Split split_[std::size(IsaTable<VectorFunction>{}.function)]{};
};

}  // namespace portacl::engine

// The table of a function defined in the HWY_NAMESPACE of the enclosing namespace.
#define PORTACL_ISA_TABLE(function)                                                                          \
  portacl::engine::IsaTable<decltype(&HWY_STATIC_DISPATCH(function))> {                                      \
    {                                                                                                        \
      HWY_CHOOSE_FALLBACK(function), HWY_CHOOSE_AVX2(function), HWY_CHOOSE_AVX3(function),                   \
          (HWY_TARGETS & HWY_NEON) != 0 ? HWY_CHOOSE_NEON(function) : HWY_CHOOSE_NEON_WITHOUT_AES(function), \
          HWY_CHOOSE_SVE(function)                                                                           \
    }                                                                                                        \
  }

// The KernelTable of a formula defined there, Elementwise or Summable.
#define PORTACL_VALUE_KERNELS(formula)                                           \
  portacl::engine::KernelTable {                                                 \
    PORTACL_ISA_TABLE(formula::Values), {}, HWY_STATIC_DISPATCH(formula::kIsHot) \
  }
#define PORTACL_KERNELS(formula)                                          \
  portacl::engine::KernelTable {                                          \
    PORTACL_ISA_TABLE(formula::Values), PORTACL_ISA_TABLE(formula::Sums), \
        HWY_STATIC_DISPATCH(formula::kIsHot)                              \
  }
