// See function_loops.h. Compiled once per instruction set.
// SPDX-License-Identifier: Apache-2.0
#include "functions/function_loops.h"

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "functions/function_loops.cc"
#include <hwy/foreach_target.h>

#include <cstddef>

#include <hwy/highway.h>
#include "engine/functions/functions-inl.h"
#include "engine/functions/fused_exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::testing {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace fn = engine::HWY_NAMESPACE::functions;

#define ONE(name)                                                                     \
  template <class T>                                                                  \
  void name##Loop(const T* HWY_RESTRICT x, const T*, T* HWY_RESTRICT out, size_t n) { \
    const hn::ScalableTag<T> d;                                                       \
    for (size_t i = 0; i < n; i += hn::Lanes(d)) {                                    \
      hn::StoreU(fn::name(d, hn::LoadU(d, x + i)), d, out + i);                       \
    }                                                                                 \
  }
#define TWO(name)                                                                                    \
  template <class T>                                                                                 \
  void name##Loop(const T* HWY_RESTRICT x, const T* HWY_RESTRICT y, T* HWY_RESTRICT out, size_t n) { \
    const hn::ScalableTag<T> d;                                                                      \
    for (size_t i = 0; i < n; i += hn::Lanes(d)) {                                                   \
      hn::StoreU(fn::name(d, hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, out + i);                 \
    }                                                                                                \
  }
#include "functions/function_list.def"
#undef ONE
#undef TWO

}  // namespace HWY_NAMESPACE
}  // namespace portacl::testing
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/map/dispatch.h"

namespace portacl::testing {
namespace {

template <class T>
using Table = engine::IsaTable<FunctionLoop<T>>;

#define ONE(name)                                                                  \
  constexpr Table<float> k##name##OfFloats = PORTACL_ISA_TABLE(name##Loop<float>); \
  constexpr Table<double> k##name##OfDoubles = PORTACL_ISA_TABLE(name##Loop<double>);
#define TWO(name) ONE(name)
#include "functions/function_list.def"
#undef ONE
#undef TWO

#define ENTRY(name, has_two)                                           \
  {#name, has_two, [](Isa isa) { return k##name##OfFloats.For(isa); }, \
   [](Isa isa) { return k##name##OfDoubles.For(isa); }},
#define ONE(name) ENTRY(name, false)
#define TWO(name) ENTRY(name, true)
constexpr FunctionLoops kAll[] = {
#include "functions/function_list.def"
};
#undef ONE
#undef TWO
#undef ENTRY

}  // namespace

std::span<const FunctionLoops> AllFunctionLoops() { return kAll; }

}  // namespace portacl::testing

#endif  // HWY_ONCE
