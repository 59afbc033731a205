// The logarithm of one number (see logarithm.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/linalg/logarithm.h"

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/linalg/logarithm.cc"
#include "base/foreach_target.h"

#include <hwy/highway.h>

#include "engine/functions/float64-inl.h"
#include "engine/functions/functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

float LogarithmOfFloat(float x) {
  const hn::ScalableTag<float> d;
  return hn::GetLane(functions::Log(d, hn::Set(d, x)));
}
double LogarithmOfDouble(double x) {
  const hn::ScalableTag<double> d;
  return hn::GetLane(functions::Log(d, hn::Set(d, x)));
}
Logarithm LogarithmHere() { return {LogarithmOfFloat, LogarithmOfDouble}; }

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_table.h"

namespace portacl::engine {

Logarithm LogarithmOf(Isa isa) noexcept {
  static constexpr auto kLogarithms = PORTACL_ISA_TABLE(LogarithmHere);
  return kLogarithms.For(isa)();
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
