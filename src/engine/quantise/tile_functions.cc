// Extremes, products, sums and activations of a tile of numbers (see tile_functions.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/quantise/tile_functions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/quantise/tile_functions.cc"
#include "base/foreach_target.h"

#include <hwy/highway.h>
#include "engine/functions/exponential-inl.h"
#include "engine/functions/gelu-inl.h"
#include "engine/half_precision-inl.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

namespace quantise {

using engine::quantise::kSquareLanes;
using engine::quantise::TileFunctions;

namespace hn = hwy::HWY_NAMESPACE;

void Extremes(const float* x, size_t n, float* least, float* greatest) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  VF low = hn::Set(d, *least);
  VF high = hn::Set(d, *greatest);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const VF v = hn::LoadU(d, x + i);
    low = hn::IfThenElse(hn::Lt(v, low), v, low);
    high = hn::IfThenElse(hn::Gt(v, high), v, high);
  }
  float lowest = hn::GetLane(hn::MinOfLanes(d, low));
  float highest = hn::GetLane(hn::MaxOfLanes(d, high));
  for (; i < n; ++i) {
    lowest = x[i] < lowest ? x[i] : lowest;
    highest = x[i] > highest ? x[i] : highest;
  }
  *least = lowest;
  *greatest = highest;
}

struct Product {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Mul(a, b);
  }
};
struct Quotient {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Div(a, b);
  }
};
struct Sum {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Add(a, b);
  }
};

template <class Op>
HWY_INLINE void WithSecond(float* x, const float* y, size_t count, size_t n) {
  const DF d;
  const hn::CappedTag<float, 1> one;
  const size_t lanes = hn::Lanes(d);
  const Op op;
  const VF single = hn::Set(d, *y);
  size_t i = 0;
  if (count == 1) {
    for (; i + lanes <= n; i += lanes) hn::StoreU(op(hn::LoadU(d, x + i), single), d, x + i);
  } else {
    for (; i + lanes <= n; i += lanes) hn::StoreU(op(hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, x + i);
  }
  for (; i < n; ++i) {
    const auto second = hn::Set(one, count == 1 ? *y : y[i]);
    hn::StoreU(op(hn::LoadU(one, x + i), second), one, x + i);
  }
}
void Multiply(float* x, const float* factor, size_t count, size_t n) {
  WithSecond<Product>(x, factor, count, n);
}
void Divide(float* x, const float* divisor, size_t count, size_t n) {
  WithSecond<Quotient>(x, divisor, count, n);
}
void Add(float* x, const float* term, size_t count, size_t n) { WithSecond<Sum>(x, term, count, n); }

void AddSquares(const float* x, size_t n, double* sums) {
  for (size_t i = 0; i < n; i += kSquareLanes) {
    const size_t some = HWY_MIN(kSquareLanes, n - i);
    for (size_t lane = 0; lane < some; ++lane) {
      const double number = static_cast<double>(x[i + lane]);
      sums[lane] += number * number;
    }
  }
}

// Replaces numbers by a function of vectors of them.
template <class Function>
HWY_INLINE void Replace(float* x, size_t n, const Function& function) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(function(hn::LoadU(d, x + i)), d, x + i);
  if (i == n) return;
  HWY_ALIGN float rest[HWY_MAX_BYTES / sizeof(float)] = {};
  std::memcpy(rest, x + i, (n - i) * sizeof(float));
  hn::Store(function(hn::Load(d, rest)), d, rest);
  std::memcpy(x + i, rest, (n - i) * sizeof(float));
}
void Activate(float* x, float alpha, size_t n) {
  const DF d;
  Replace(x, n,
          [&](VF v) HWY_ATTR { return hn::Mul(v, functions::Sigmoid(d, hn::Mul(v, hn::Set(d, alpha)))); });
}
void Logistic(float* x, size_t n) {
  const DF d;
  Replace(x, n, [&](VF v) HWY_ATTR { return functions::Sigmoid(d, v); });
}
void Gelu(float* x, bool is_by_tanh, size_t n) {
  const DF d;
  if (is_by_tanh) return Replace(x, n, [&](VF v) HWY_ATTR { return functions::GeluByTanh(d, v); });
  Replace(x, n, [&](VF v) HWY_ATTR { return functions::GeluByErf(d, v); });
}

TileFunctions TileFunctionsHere() {
  return {ThisIsa(), Extremes, Multiply, Divide, Add, AddSquares, Activate, Logistic, Gelu};
}

}  // namespace quantise
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_in_use.h"
#include "engine/isa_table.h"

namespace portacl::engine::quantise {
namespace {

constexpr auto kTileFunctions = PORTACL_ISA_TABLE(quantise::TileFunctionsHere);

}  // namespace

TileFunctions FunctionsFor(Isa isa) {
  const TileFunctions functions = kTileFunctions.For(isa)();
  ReportIsaThatRan(functions.isa);
  return functions;
}

}  // namespace portacl::engine::quantise

#endif  // HWY_ONCE
