// A function that is compiled for several instruction sets, indexed by Isa. Include it after a
// foreach_target.h section.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "base/isa.h"

namespace portacl::engine {

// Unlike HWY_DYNAMIC_DISPATCH, indexing this table does not repeat the detection, and does not share a
// process-wide choice with other users of Highway.
template <class Function>
struct IsaTable {
  Function function[5];  // in the order of Isa; nullptr where not compiled

  constexpr Function For(Isa isa) const noexcept { return function[static_cast<size_t>(isa)]; }
};

}  // namespace portacl::engine

// The table of a function that is defined in the HWY_NAMESPACE of the enclosing namespace.
#define PORTACL_ISA_TABLE(function)                                           \
  portacl::engine::IsaTable<decltype(&HWY_STATIC_DISPATCH(function))> {       \
    { HWY_CHOOSE_FALLBACK(function), PORTACL_VECTOR_ISA_FUNCTIONS(function) } \
  }
// The same without a portable function: for one that only saves time. Where it is a template's member, it is not compiled for that set either.
#define PORTACL_VECTOR_ISA_TABLE(function)                              \
  portacl::engine::IsaTable<decltype(&HWY_STATIC_DISPATCH(function))> { \
    { nullptr, PORTACL_VECTOR_ISA_FUNCTIONS(function) }                 \
  }
#define PORTACL_VECTOR_ISA_FUNCTIONS(function)                                                           \
  HWY_CHOOSE_AVX2(function), HWY_CHOOSE_AVX3(function),                                                  \
      (HWY_TARGETS & HWY_NEON) != 0 ? HWY_CHOOSE_NEON(function) : HWY_CHOOSE_NEON_WITHOUT_AES(function), \
      HWY_CHOOSE_SVE(function)
