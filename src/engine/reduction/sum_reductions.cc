// Reductions to sums and products (see reduction_kernels.h), and the functions that finish some of them. Compiled
// once per instruction set.
// SPDX-License-Identifier: Apache-2.0
#include "engine/reduction/sum_reductions.h"

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/reduction/sum_reductions.cc"
#include "base/foreach_target.h"

#include "engine/functions/exp-inl.h"
#include "engine/functions/float64-inl.h"
#include "engine/functions/log-inl.h"
#include "engine/functions/logarithmic-inl.h"
#include "engine/reduction/reduction_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace reducers {

// Floating terms as float64.
template <class T>
struct OfFloats {
  using Term = T;
  using Accumulator = double;
  static constexpr size_t kLanes = 16;
  static constexpr bool kHasOrder = true;
  static constexpr bool kHasParameter = false;

  template <class D>
  static HWY_INLINE hn::Vec<D> Widened(D d, const T* from) {
    if constexpr (std::is_same_v<T, float>) {
      return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), from));
    } else if constexpr (std::is_same_v<T, Bf16Word>) {
      const hn::Rebind<uint32_t, D> words;
      const auto word = hn::LoadU(hn::Rebind<uint16_t, D>(), reinterpret_cast<const uint16_t*>(from));
      const auto bits = hn::ShiftLeft<16>(hn::PromoteTo(words, word));
      return hn::PromoteTo(d, hn::BitCast(hn::Rebind<float, D>(), bits));
    } else {
      return hn::LoadU(d, from);
    }
  }
};

template <class T>
struct Plus : OfFloats<T> {
  static HWY_INLINE double Identity() { return 0.0; }
  template <class D, class V>
  HWY_INLINE V With(D, V earlier, V later) const {
    return hn::Add(earlier, later);
  }
};

template <class T>
struct Sum : Plus<T> {
  explicit Sum(const ReductionConstants&) {}
  template <class D, class V>
  HWY_INLINE V Value(D d, const T* from, V) const {
    return this->Widened(d, from);
  }
};
template <class T>
struct SumOfNumbers : Plus<T> {
  explicit SumOfNumbers(const ReductionConstants&) {}
  template <class D, class V>
  HWY_INLINE V Value(D d, const T* from, V) const {
    const V x = this->Widened(d, from);
    return hn::IfThenElseZero(hn::Eq(x, x), x);
  }
};
template <class T>
struct SumOfMagnitudes : Plus<T> {
  explicit SumOfMagnitudes(const ReductionConstants&) {}
  template <class D, class V>
  HWY_INLINE V Value(D d, const T* from, V) const {
    return hn::Abs(this->Widened(d, from));
  }
};
template <class T>
struct SumOfSquares : Plus<T> {
  explicit SumOfSquares(const ReductionConstants&) {}
  template <class D, class V>
  HWY_INLINE V Value(D d, const T* from, V) const {
    const V x = this->Widened(d, from);
    return hn::Mul(x, x);
  }
};
template <class T>
struct SumOfDeviations : Plus<T> {
  static constexpr bool kHasParameter = true;
  explicit SumOfDeviations(const ReductionConstants&) {}
  template <class D, class V>
  HWY_INLINE V Value(D d, const T* from, V mean) const {
    const V x = hn::Sub(this->Widened(d, from), mean);
    return hn::Mul(x, x);
  }
};
template <class T>
struct Count : Plus<T> {
  explicit Count(const ReductionConstants&) {}
  template <class D, class V>
  HWY_INLINE V Value(D d, const T* from, V) const {
    return hn::IfThenZeroElse(hn::Eq(this->Widened(d, from), hn::Zero(d)), hn::Set(d, 1.0));
  }
};
template <class T>
struct Product : OfFloats<T> {
  explicit Product(const ReductionConstants&) {}
  static HWY_INLINE double Identity() { return 1.0; }
  template <class D, class V>
  HWY_INLINE V Value(D d, const T* from, V) const {
    return this->Widened(d, from);
  }
  template <class D, class V>
  HWY_INLINE V With(D, V earlier, V later) const {
    return hn::Mul(earlier, later);
  }
};

// Integers, modulo 2^64.
struct OfIntegers {
  using Term = int64_t;
  using Accumulator = int64_t;
  static constexpr size_t kLanes = 16;
  static constexpr bool kHasOrder = false;
  static constexpr bool kHasParameter = false;
  template <class D, class V>
  HWY_INLINE V Value(D d, const int64_t* from, V) const {
    return hn::LoadU(d, from);
  }
};
struct IntegerSum : OfIntegers {
  explicit IntegerSum(const ReductionConstants&) {}
  static HWY_INLINE int64_t Identity() { return 0; }
  template <class D, class V>
  HWY_INLINE V With(D, V earlier, V later) const {
    return hn::Add(earlier, later);
  }
};
struct IntegerProduct : OfIntegers {
  explicit IntegerProduct(const ReductionConstants&) {}
  static HWY_INLINE int64_t Identity() { return 1; }
  // Multiplies 64 bits by products of 32 bits, which every instruction set has.
  template <class D, class V>
  HWY_INLINE V With(D d, V a, V b) const {
    constexpr size_t kMost = hn::MaxLanes(D());
    HWY_ALIGN int64_t x[kMost];
    HWY_ALIGN int64_t y[kMost];
    hn::StoreU(a, d, x);
    hn::StoreU(b, d, y);
    for (size_t i = 0; i < hn::Lanes(d); ++i)
      x[i] = static_cast<int64_t>(static_cast<uint64_t>(x[i]) * static_cast<uint64_t>(y[i]));
    return hn::LoadU(d, x);
  }
};

template <class Reducer>
void FinishAsIs(const ReductionConstants&, const void* accumulators, size_t n, void* results, int64_t*) {
  std::memcpy(results, accumulators, n * sizeof(typename Reducer::Accumulator));
}

template <class Reducer, ElementType kTerms, ElementType kResults>
constexpr ReductionKernels kReduction = {ThisIsa(),          sizeof(typename Reducer::Accumulator),
                                         Reducer::kHasOrder, kTerms,
                                         kResults,           Along<Reducer>,
                                         Across<Reducer>,    Clear<Reducer>,
                                         Merge<Reducer>,     FinishAsIs<Reducer>};

// ---- terms that first pass through a function of full vectors, a tile at a time ----

constexpr size_t kPrepared = 256;

struct ExponentialOfDifference {
  static HWY_INLINE float Parameter(double m) { return static_cast<float>(m); }
  explicit ExponentialOfDifference(const ReductionConstants&) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V m) const {
    return functions::Exp(d, hn::Sub(x, m));
  }
};
struct PowerOfMagnitude {
  explicit PowerOfMagnitude(const ReductionConstants& constants) : power(constants.power) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V) const {
    return functions::Pow(d, hn::Abs(x), hn::Set(d, static_cast<hn::TFromD<D>>(power)));
  }
  double power;
};

// to[0..n) = f(terms, m), where m is m[i * step], or 0 without m.
template <class T, class Function>
HWY_NOINLINE void Prepare(const ReductionConstants& constants, const T* terms, const double* m, size_t step,
                          size_t n, T* to) {
  const Function function(constants);
  const hn::ScalableTag<T> d;
  HWY_ALIGN T from[kPrepared + hn::MaxLanes(d)];
  HWY_ALIGN T parameter[kPrepared + hn::MaxLanes(d)] = {};
  std::memcpy(from, terms, n * sizeof(T));
  for (size_t i = n; i < n + hn::Lanes(d) && i < std::size(from); ++i) from[i] = 0;
  if (m != nullptr) {
    for (size_t i = 0; i < n; ++i) parameter[i] = static_cast<T>(m[i * step]);
  }
  for (size_t i = 0; i < n; i += hn::Lanes(d))
    hn::StoreU(function(d, hn::LoadU(d, from + i), hn::LoadU(d, parameter + i)), d, to + i);
}

template <class T, class Function>
void AlongPrepared(const ReductionConstants& constants, ReductionWork& work) {
  HWY_ALIGN T prepared[kPrepared + hn::MaxLanes(hn::ScalableTag<T>())];
  const auto* terms = static_cast<const T*>(work.terms);
  for (size_t left = work.n; left > 0;) {
    const size_t n = std::min({left, kPrepared, work.length - work.at});
    Prepare<T, Function>(constants, terms, work.parameter, 0, n, prepared);
    work.terms = prepared;
    work.n = n;
    Along<Sum<T>>(constants, work);
    terms += n;
    left -= n;
  }
}

template <class T, class Function>
void AcrossPrepared(const ReductionConstants& constants, const ReductionRows& rows) {
  HWY_ALIGN T prepared[kPrepared + hn::MaxLanes(hn::ScalableTag<T>())];
  ReductionRows one = rows;
  one.rows = 1;
  one.terms = prepared;
  for (size_t row = 0; row < rows.rows; ++row) {
    for (size_t c = 0; c < rows.columns; c += kPrepared) {
      one.columns = std::min(kPrepared, rows.columns - c);
      one.out = static_cast<double*>(rows.out) + c;
      const double* const m = rows.parameter == nullptr ? nullptr : rows.parameter + c;
      Prepare<T, Function>(constants,
                           static_cast<const T*>(rows.terms) + static_cast<int64_t>(row) * rows.pitch + c, m,
                           1, one.columns, prepared);
      Across<Sum<T>>(constants, one);
    }
  }
}

template <class T, class Function, ElementType kTerms>
constexpr ReductionKernels kPreparedReduction = {ThisIsa(),
                                                 sizeof(double),
                                                 true,
                                                 kTerms,
                                                 ElementType::kF64,
                                                 AlongPrepared<T, Function>,
                                                 AcrossPrepared<T, Function>,
                                                 Clear<Sum<T>>,
                                                 Merge<Sum<T>>,
                                                 FinishAsIs<Sum<T>>};

const ReductionKernels* FindSum(ReductionOperation operation, ElementType terms) {
  using enum ReductionOperation;
  using enum ElementType;
  const bool is_wide = terms == kF64;
  if (terms == kI64) {
    if (operation == kSum) return &kReduction<IntegerSum, kI64, kI64>;
    return operation == kProduct ? &kReduction<IntegerProduct, kI64, kI64> : nullptr;
  }
  if (terms == kBf16) {
    switch (operation) {
      case kSum:
        return &kReduction<Sum<Bf16Word>, kU16, kF64>;
      case kSumOfMagnitudes:
        return &kReduction<SumOfMagnitudes<Bf16Word>, kU16, kF64>;
      case kSumOfSquares:
        return &kReduction<SumOfSquares<Bf16Word>, kU16, kF64>;
      case kSumOfDeviations:
        return &kReduction<SumOfDeviations<Bf16Word>, kU16, kF64>;
      default:
        return nullptr;
    }
  }
  if (terms != kF32 && terms != kF64) return nullptr;
  switch (operation) {
    case kSum:
      return is_wide ? &kReduction<Sum<double>, kF64, kF64> : &kReduction<Sum<float>, kF32, kF64>;
    case kSumOfNumbers:
      return is_wide ? &kReduction<SumOfNumbers<double>, kF64, kF64>
                     : &kReduction<SumOfNumbers<float>, kF32, kF64>;
    case kSumOfMagnitudes:
      return is_wide ? &kReduction<SumOfMagnitudes<double>, kF64, kF64>
                     : &kReduction<SumOfMagnitudes<float>, kF32, kF64>;
    case kSumOfSquares:
      return is_wide ? &kReduction<SumOfSquares<double>, kF64, kF64>
                     : &kReduction<SumOfSquares<float>, kF32, kF64>;
    case kSumOfDeviations:
      return is_wide ? &kReduction<SumOfDeviations<double>, kF64, kF64>
                     : &kReduction<SumOfDeviations<float>, kF32, kF64>;
    case kSumOfPowers:
      return is_wide ? &kPreparedReduction<double, PowerOfMagnitude, kF64>
                     : &kPreparedReduction<float, PowerOfMagnitude, kF32>;
    case kSumOfExponentials:
      return is_wide ? nullptr : &kPreparedReduction<float, ExponentialOfDifference, kF32>;
    case kCount:
      return is_wide ? &kReduction<Count<double>, kF64, kF64> : &kReduction<Count<float>, kF32, kF64>;
    case kProduct:
      return is_wide ? &kReduction<Product<double>, kF64, kF64> : &kReduction<Product<float>, kF32, kF64>;
    default:
      return nullptr;
  }
}

template <class T>
HWY_INLINE void Apply(EpilogueFunction function, double power, double* values, const double* parameter,
                      size_t n) {
  const hn::ScalableTag<T> d;
  HWY_ALIGN T x[hn::MaxLanes(d)];
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    const size_t count = std::min(hn::Lanes(d), n - i);
    std::fill_n(x, hn::Lanes(d), T{1});
    for (size_t k = 0; k < count; ++k) x[k] = static_cast<T>(values[i + k]);
    auto v = hn::LoadU(d, x);
    if (function == EpilogueFunction::kLog) {
      v = functions::Log(d, v);
    } else {
      v = functions::Pow(d, v, hn::Set(d, static_cast<T>(power)));
    }
    hn::StoreU(v, d, x);
    for (size_t k = 0; k < count; ++k) {
      const T m = parameter == nullptr ? T{0} : static_cast<T>(parameter[i + k]);
      values[i + k] = static_cast<double>(parameter == nullptr ? x[k] : static_cast<T>(x[k] + m));
    }
  }
}

void ApplyEpilogueFunction(EpilogueFunction function, double power, bool wide, double* values,
                           const double* parameter, size_t n) {
  if (wide) {
    Apply<double>(function, power, values, parameter, n);
  } else {
    Apply<float>(function, power, values, parameter, n);
  }
}

}  // namespace reducers
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_table.h"

namespace portacl::engine {
namespace {

constexpr auto kFindSum = PORTACL_ISA_TABLE(reducers::FindSum);
constexpr auto kApplyEpilogueFunction = PORTACL_ISA_TABLE(reducers::ApplyEpilogueFunction);

}  // namespace

const ReductionKernels* FindSumReduction(Isa isa, ReductionOperation operation, ElementType terms) noexcept {
  return kFindSum.For(isa)(operation, terms);
}

EpilogueFunctionLoop FindEpilogueFunction(Isa isa) noexcept { return kApplyEpilogueFunction.For(isa); }

}  // namespace portacl::engine

#endif  // HWY_ONCE
