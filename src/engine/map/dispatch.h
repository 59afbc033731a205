// The kernels of a formula for several instruction sets. Include it after a foreach_target.h section.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "engine/isa_table.h"
#include "engine/map/formula.h"

namespace portacl::engine {

struct KernelTable {
  IsaTable<VectorFunction> values;
  IsaTable<SumFunction> sums;  // empty for a formula that is never summed
  ElementTypes takes;          // see TakesOf
  bool writes_bool = false;    // Elementwise::kWritesBool

  constexpr Kernels For(Isa isa) const noexcept {
    return {values.For(isa), sums.For(isa), KernelTypes(isa, takes), writes_bool};
  }
};

// The kernels of a formula with a precomputed function (see Precomputed). Make it static: jobs point into it.
class PrecomputedKernelTable {
 public:
  constexpr PrecomputedKernelTable(const KernelTable& whole, const KernelTable& function,
                                   const KernelTable& rest, int8_t input, int8_t value)
      : whole_(whole) {
    for (size_t i = 0; i < std::size(precomputed_); ++i) {
      const auto isa = static_cast<Isa>(i);
      precomputed_[i] = {isa, function.For(isa), rest.For(isa), input, value};
    }
  }

  Kernels For(Isa isa) const noexcept {
    Kernels kernels = whole_.For(isa);
    kernels.precomputed = &precomputed_[static_cast<size_t>(isa)];
    return kernels;
  }

 private:
  KernelTable whole_;
  Precomputed precomputed_[std::size(IsaTable<VectorFunction>{}.function)]{};
};

}  // namespace portacl::engine

// The KernelTable of a formula defined there, Elementwise or Summable.
#define PORTACL_VALUE_KERNELS(formula)                                           \
  portacl::engine::KernelTable {                                                 \
    PORTACL_ISA_TABLE(formula::Values), {},                                      \
        portacl::engine::HWY_NAMESPACE::TakesOf<HWY_STATIC_DISPATCH(formula)>(), \
        HWY_STATIC_DISPATCH(formula::kWritesBool)                                \
  }
#define PORTACL_KERNELS(formula)                                                \
  portacl::engine::KernelTable {                                                \
    PORTACL_ISA_TABLE(formula::Values), PORTACL_ISA_TABLE(formula::Sums),       \
        portacl::engine::HWY_NAMESPACE::TakesOf<HWY_STATIC_DISPATCH(formula)>() \
  }
