// The passes of rowwise formulas: maxima, sums in the order of a sum over the last axis, and writing.
// Compiled once per instruction set and formula.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_ROWWISE_ROWWISE_LOOP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_ROWWISE_ROWWISE_LOOP_INL_H_
#undef PORTACL_ENGINE_ROWWISE_ROWWISE_LOOP_INL_H_
#else
#define PORTACL_ENGINE_ROWWISE_ROWWISE_LOOP_INL_H_
#endif

#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>

#include <hwy/highway.h>
#include "engine/reduction/sum_loop-inl.h"
#include "engine/rowwise/rowwise_terms-inl.h"
#include "engine/rowwise/rowwise_work.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

// ---- one row ----

// The index that names the terms kept by an earlier pass; other operands of a pass are named by the inputs'
// indices.
inline constexpr size_t kKeptTerms = 100;

// Marks a function of many dependent steps. A pass applies it to several vectors at once, Unrolled. The
// function must use the operations of engine/unrolled-inl.h.
template <class F>
struct UnrolledSteps {
  F f;

  template <class... Operands>
  HWY_INLINE auto operator()(Operands... operands) const {
    return f(operands...);
  }
};
template <class F>
UnrolledSteps(F) -> UnrolledSteps<F>;
template <class F>
inline constexpr bool kHasUnrolledSteps = false;
template <class F>
inline constexpr bool kHasUnrolledSteps<UnrolledSteps<F>> = true;

// The passes over a row. Each takes a function of the tag and of a vector of every operand that its template
// arguments name. The function gets vectors beyond the row's end, too; those results are discarded.
template <class Elements, int kInputs>
class Row {
 public:
  using D = typename Elements::D;
  using V = typename Elements::V;
  using T = hn::TFromD<D>;  // the computed type
  using Type = typename Elements::Type;

  // The operands' addresses: of the row, or of the part that is in memory.
  struct Here {
    char* operand[kMaxRowwiseOperands];
  };

  HWY_INLINE Row(const RowwiseWork& work, size_t row) : work_(work), row_(row) {
    for (int k = 0; k < kOperands; ++k)
      operand_[k] = work.operand[k] + static_cast<int64_t>(row) * work.row_stride[k];
  }

  static constexpr int kMostOutputs = 2;
  static constexpr int kOperands = kInputs + kMostOutputs;
  static_assert(kOperands <= kMaxRowwiseOperands);

  HWY_INLINE size_t n() const { return work_.n; }
  HWY_INLINE double Value(size_t i) const { return work_.values[i * work_.value_pitch + row_]; }
  HWY_INLINE void SetValue(size_t i, double value) { work_.values[i * work_.value_pitch + row_] = value; }
  // Tells whether SumKeeping keeps anything.
  HWY_INLINE bool keeps() const { return work_.kept != nullptr; }
  HWY_INLINE bool WantsColumns(int i) const { return work_.columns[i] != nullptr; }

  // Return one element of an input, or of an output that has been written completely.
  template <size_t k>
  HWY_INLINE T At(size_t i) {
    const char* const from = AddressOf(k, 1u << k, 0, i);
    HWY_ALIGN Type padded[HWY_MAX_BYTES / sizeof(Type)] = {};
    std::memcpy(padded, from, sizeof(Type));
    return hn::GetLane(Elements::Load(D(), padded));
  }
  template <size_t o>
  HWY_INLINE void Put(size_t i, T value) {
    static_assert(o < kMostOutputs);
    constexpr uint32_t kWrites = 1u << (kInputs + o);
    char* const to = AddressOf(kInputs + o, 0, kWrites, i);
    HWY_ALIGN Type padded[HWY_MAX_BYTES / sizeof(Type)];
    Elements::Store(D(), hn::Set(D(), value), padded);
    std::memcpy(to, padded, sizeof(Type));
    if (work_.row_tiles != nullptr) work_.row_tiles->give(*work_.row_tiles, kWrites, i, 1);
  }

  // Returns the greatest element of an input. If one is NaN, the result is unspecified.
  template <size_t k>
  HWY_INLINE T Max() {
    return MaxOf<k>([](auto, V v) HWY_ATTR { return v; });
  }
  // Returns the greatest of f(d, v...), likewise.
  template <size_t... k, class F>
  HWY_INLINE T MaxOf(const F& f) {
    const D d;
    TermsOf<T> greatest;
    ForVectors([&](size_t j) HWY_ATTR { SetTerms(d, greatest, j, Lowest()); });
    Walk<false, k...>(
        0,
        [&](auto full, const Here& here, size_t i, size_t column, size_t count) HWY_ATTR {
          ForVectors([&](size_t j) HWY_ATTR {
            V v = f(d, Load<decltype(full)::value, k>(here, i, column, j, count)...);
            if constexpr (!decltype(full)::value) {
              const size_t lanes = hn::Lanes(d);
              const size_t some = count > j ? HWY_MIN(count - j, lanes) : 0;
              v = hn::IfThenElse(hn::FirstN(d, some), v, Lowest());
            }
            SetTerms(d, greatest, j, hn::Max(GetTerms(d, greatest, j), v));
          });
        },
        []() {});
    HWY_ALIGN T all[kLanes];
    StoreTerms(greatest, all);
    for (size_t width = kLanes / 2; width > 0; width /= 2) {
      for (size_t i = 0; i < width; ++i) all[i] = all[i] < all[i + width] ? all[i + width] : all[i];
    }
    return all[0];
  }

  // Returns the sum of the terms f(d, v...).
  template <size_t... k, class F>
  HWY_INLINE double Sum(const F& f) {
    return SumOf<false, k...>(f);
  }
  // Returns the same sum, and keeps the terms if keeps().
  template <size_t... k, class F>
  HWY_INLINE double SumKeeping(const F& f) {
    return keeps() ? SumOf<true, k...>(f) : SumOf<false, k...>(f);
  }

  // Computes two sums at once: f(d, a, b, v...) sets the terms of both.
  template <size_t... k, class F>
  HWY_INLINE void Sum2(double* first, double* second, const F& f) {
    const D d;
    SumsOf<T> sum_a;
    SumsOf<T> sum_b;
    sum_a.Clear();
    sum_b.Clear();
    RowBlocks blocks_a(work_.n);
    RowBlocks blocks_b(work_.n);
    Walk<true, k...>(
        0,
        [&](auto full, const Here& here, size_t i, size_t column, size_t count) HWY_ATTR {
          TermsOf<T> a;
          TermsOf<T> b;
          ForVectors([&](size_t j) HWY_ATTR {
            V term_a = hn::Zero(d);
            V term_b = hn::Zero(d);
            f(d, term_a, term_b, Load<decltype(full)::value, k>(here, i, column, j, count)...);
            SetTerms(d, a, j, term_a);
            SetTerms(d, b, j, term_b);
          });
          if constexpr (!decltype(full)::value) {
            a = Keep(a, 0, count);
            b = Keep(b, 0, count);
          }
          sum_a.Add(a);
          sum_b.Add(b);
        },
        [&]() HWY_ATTR {
          blocks_a.End(sum_a);
          blocks_b.End(sum_b);
        });
    *first = blocks_a.Total();
    *second = blocks_b.Total();
  }

  // Writes output o = f(d, v...), rounded once. An operand is read before it is written.
  template <size_t o, size_t... k, class F>
  HWY_INLINE void Write(const F& f) {
    const D d;
    static_assert(o < kMostOutputs);
    constexpr size_t kTo = kInputs + o;
    // Takes even and odd elements apart, if that is the faster way to load two vectors (see Bf16Elements).
    constexpr bool kPairs =
        Elements::kIsPaired && GroupOf<F>() == 0 && !HWY_HAVE_SCALABLE && (... && (k != kKeptTerms));
    constexpr size_t kGroup = kPairs ? 2 * hn::MaxLanes(d) : GroupOf<F>();
    WalkInGroups<kGroup, false, k...>(
        1u << kTo,
        [&](auto full, const Here& here, size_t i, size_t column, size_t count) HWY_ATTR {
          ForVectors([&](size_t j) HWY_ATTR {
            Store<decltype(full)::value>(here, kTo, i, j, count,
                                         f(d, Load<decltype(full)::value, k>(here, i, column, j, count)...));
          });
        },
        []() {},
        [&]([[maybe_unused]] const Here& here, [[maybe_unused]] size_t i,
            [[maybe_unused]] size_t column) HWY_ATTR {
          if constexpr (kPairs) {
            // Prefetches the next row while one row is streamed past the caches.
            if (work_.stream) (..., hwy::Prefetch(here.operand[k] + work_.ahead + i * sizeof(Type)));
            const V even = f(d, Elements::LoadEven(d, reinterpret_cast<const Type*>(here.operand[k]) + i)...);
            const V odd = f(d, Elements::LoadOdd(d, reinterpret_cast<const Type*>(here.operand[k]) + i)...);
            Elements::StoreEvenOdd(d, even, odd, reinterpret_cast<Type*>(here.operand[kTo]) + i,
                                   work_.stream);
          } else if constexpr (kGroup != 0) {
            ForUnrolled<kGroup>([&](size_t j) HWY_ATTR {
              const auto values = f(d, LoadUnrolled<k>(here, i + j, column + j)...);
              for (size_t part = 0; part < 4; ++part)
                Store<true>(here, kTo, i + j, part * hn::MaxLanes(d), kLanes, values.part[part]);
            });
          }
        });
  }

  // Writes two outputs at once, which f(d, a, b, v...) sets.
  template <size_t... k, class F>
  HWY_INLINE void Write2(const F& f) {
    const D d;
    Walk<false, k...>(
        3u << kInputs,
        [&](auto full, const Here& here, size_t i, size_t column, size_t count) HWY_ATTR {
          ForVectors([&](size_t j) HWY_ATTR {
            V a = hn::Zero(d);
            V b = hn::Zero(d);
            f(d, a, b, Load<decltype(full)::value, k>(here, i, column, j, count)...);
            Store<decltype(full)::value>(here, kInputs, i, j, count, a);
            Store<decltype(full)::value>(here, kInputs + 1, i, j, count, b);
          });
        },
        []() {});
  }

  // Adds f(d, v...) to the sum c of each column.
  template <int c, size_t... k, class F>
  HWY_INLINE void AddToColumns(const F& f) {
    static_assert(std::is_same_v<T, float>);
    const D d;
    double* const to = work_.columns[c];
    Walk<false, k...>(
        0,
        [&](auto full, const Here& here, size_t i, size_t column, size_t count) HWY_ATTR {
          Terms16 terms;
          ForVectors([&](size_t j) HWY_ATTR {
            SetTerms(d, terms, j, f(d, Load<decltype(full)::value, k>(here, i, column, j, count)...));
          });
          if constexpr (!decltype(full)::value) terms = Keep(terms, 0, count);
          Sums16 sums;
          sums.Load(to + column);
          sums.Add(terms);
          sums.Store(to + column);
        },
        []() {});
  }

 private:
  // Returns the address of element i of operand k.
  HWY_INLINE char* AddressOf(size_t k, uint32_t reads, uint32_t writes, size_t i) {
    if (work_.row_tiles == nullptr) return operand_[k] + i * sizeof(Type);
    work_.row_tiles->take(*work_.row_tiles, reads, writes, i, 1, operand_);
    return operand_[k];
  }

  static HWY_INLINE V Lowest() { return hn::Set(D(), -std::numeric_limits<T>::infinity()); }

  // Calls body(j) for the first element of each vector of sixteen.
  template <class Body>
  static HWY_INLINE void ForVectors(const Body& body) {
    const size_t lanes = HWY_MIN(hn::Lanes(D()), kLanes);
    for (size_t j = 0; j < kLanes; j += lanes) body(j);
  }

  // The elements that a function of many steps takes at once: four vectors, and a multiple of the lanes of a
  // sum.
  template <class F>
  static constexpr size_t GroupOf() {
    if constexpr (kHasUnrolled && kHasUnrolledSteps<F> && std::is_same_v<T, float> &&
                  hn::MaxLanes(D()) >= 4) {
      return HWY_MAX(kLanes, 4 * hn::MaxLanes(D()));
    } else {
      return 0;
    }
  }
  // Calls body(j) for the first element of each Unrolled vector of a group.
  template <size_t kGroup, class Body>
  static HWY_INLINE void ForUnrolled(const Body& body) {
    for (size_t j = 0; j < kGroup; j += 4 * hn::MaxLanes(D())) body(j);
  }
#if !HWY_HAVE_SCALABLE
  template <size_t k>
  HWY_INLINE Unrolled<V> LoadUnrolled(const Here& here, size_t i, size_t column) const {
    constexpr size_t kVector = hn::MaxLanes(D());
    return Unrolled<V>(Load<true, k>(here, i, column, 0, kLanes),
                       Load<true, k>(here, i, column, kVector, kLanes),
                       Load<true, k>(here, i, column, 2 * kVector, kLanes),
                       Load<true, k>(here, i, column, 3 * kVector, kLanes));
  }
#endif

  template <bool kKeeps, size_t... k, class F>
  HWY_INLINE double SumOf(const F& f) {
    const D d;
    SumsOf<T> sum;
    sum.Clear();
    RowBlocks blocks(work_.n);
    T* const kept = static_cast<T*>(work_.kept);
    constexpr size_t kGroup = GroupOf<F>();
    WalkInGroups<kGroup, true, k...>(
        0,
        [&](auto full, const Here& here, size_t i, size_t column, size_t count) HWY_ATTR {
          TermsOf<T> terms;
          ForVectors([&](size_t j) HWY_ATTR {
            SetTerms(d, terms, j, f(d, Load<decltype(full)::value, k>(here, i, column, j, count)...));
          });
          if constexpr (kKeeps) StoreTerms(terms, kept + column);
          if constexpr (!decltype(full)::value) terms = Keep(terms, 0, count);
          sum.Add(terms);
        },
        [&]() HWY_ATTR { blocks.End(sum); },
        [&]([[maybe_unused]] const Here& here, [[maybe_unused]] size_t i, [[maybe_unused]] size_t column)
            HWY_ATTR {
              if constexpr (kGroup != 0) {
                TermsOf<T> terms[kGroup / kLanes];
                ForUnrolled<kGroup>([&](size_t j) HWY_ATTR {
                  const auto values = f(d, LoadUnrolled<k>(here, i + j, column + j)...);
                  for (size_t part = 0; part < 4; ++part) {
                    const size_t position = j + part * hn::MaxLanes(d);
                    SetTerms(d, terms[position / kLanes], position % kLanes, values.part[part]);
                  }
                });
                for (size_t sixteen = 0; sixteen < kGroup / kLanes; ++sixteen) {
                  if constexpr (kKeeps) StoreTerms(terms[sixteen], kept + column + sixteen * kLanes);
                  sum.Add(terms[sixteen]);
                }
              }
            });
    return blocks.Total();
  }

  // Loads a vector of operand k: `count` elements are available from i on, of which it takes those from i + j
  // on. They are elements column + j of the row.
  template <bool kFull, size_t k>
  HWY_INLINE V Load(const Here& here, size_t i, size_t column, size_t j, size_t count) const {
    const D d;
    if constexpr (k == kKeptTerms) {
      return hn::LoadU(d, static_cast<const T*>(work_.kept) + column + j);
    } else {
      const Type* const from = reinterpret_cast<const Type*>(here.operand[k]) + i + j;
      const size_t lanes = hn::Lanes(d);
      if (kFull && (HWY_HAVE_SCALABLE == 0 || lanes <= kLanes)) return Elements::Load(d, from);
      const size_t left = kFull ? kLanes - j : count > j ? count - j : 0;
      const size_t some = HWY_MIN(left, lanes);
#if HWY_TARGET == HWY_AVX3
      if constexpr (std::is_same_v<Type, T>) return hn::MaskedLoad(hn::FirstN(d, some), d, from);
#endif
      HWY_ALIGN Type padded[HWY_MAX_BYTES / sizeof(Type)] = {};
#if HWY_TARGET == HWY_AVX3
      const hn::Rebind<Type, D> stored;
      hn::Store(hn::MaskedLoad(hn::FirstN(stored, some), stored, from), stored, padded);
#else
      std::memcpy(padded, from, some * sizeof(Type));
#endif
      return Elements::Load(d, padded);
    }
  }

  template <bool kFull>
  HWY_INLINE void Store(const Here& here, size_t k, size_t i, size_t j, size_t count, V v) const {
    const D d;
    Type* const to = reinterpret_cast<Type*>(here.operand[k]) + i + j;
    const size_t lanes = hn::Lanes(d);
    if (kFull && (HWY_HAVE_SCALABLE == 0 || lanes <= kLanes)) {
      if constexpr (std::is_same_v<Type, float>) {
        StoreWhole(d, v, to, work_.stream);
      } else {
        Elements::Store(d, v, to);
      }
      return;
    }
    const size_t left = kFull ? kLanes - j : count > j ? count - j : 0;
    const size_t some = HWY_MIN(left, lanes);
#if HWY_TARGET == HWY_AVX3
    if constexpr (std::is_same_v<Type, T>) return hn::BlendedStore(v, hn::FirstN(d, some), d, to);
#endif
    HWY_ALIGN Type padded[HWY_MAX_BYTES / sizeof(Type)];
    Elements::Store(d, v, padded);
#if HWY_TARGET == HWY_AVX3
    const hn::Rebind<Type, D> stored;
    hn::BlendedStore(hn::Load(stored, padded), hn::FirstN(stored, some), stored, to);
#else
    std::memcpy(to, padded, some * sizeof(Type));
#endif
  }

  // Calls step(full, i, column, count) for every sixteen elements, and for fewer at the end, where `full` is
  // false. `i` counts from the start of the part in memory. Calls end_block() at the end of each block of a
  // sum. If kGroup is not 0, calls group(here, i, column) for kGroup elements before that, while there are so
  // many.
  template <bool kBlocks, size_t... k, class Step, class EndBlock>
  HWY_INLINE void Walk(uint32_t writes, const Step& step, const EndBlock& end_block) {
    WalkInGroups<0, kBlocks, k...>(writes, step, end_block, [](const Here&, size_t, size_t) {});
  }
  template <size_t kGroup, bool kBlocks, size_t... k, class Step, class EndBlock, class Group>
  HWY_INLINE void WalkInGroups(uint32_t writes, const Step& step, const EndBlock& end_block,
                               const Group& group) {
    constexpr uint32_t kReads = (0u | ... | (k < kMaxRowwiseOperands ? 1u << (k % 32) : 0u));
    const size_t n = work_.n;
    for (size_t at = 0; at < n;) {
      const size_t count = work_.row_tiles == nullptr ? n : HWY_MIN(n - at, work_.row_tiles->most);
      if (HWY_UNLIKELY(work_.row_tiles != nullptr))
        work_.row_tiles->take(*work_.row_tiles, kReads, writes, at, count, operand_);
      Here here;
      for (size_t operand = 0; operand < kOperands; ++operand) here.operand[operand] = operand_[operand];
      for (size_t i = 0; i < count;) {
        size_t end = count;
        if constexpr (kBlocks) end = HWY_MIN(count, i + kLaneBlock - (at + i) % kLaneBlock);
        if constexpr (kGroup != 0) {
          for (; i + kGroup <= end; i += kGroup) group(here, i, at + i);
        }
        for (; i + kLanes <= end; i += kLanes) step(std::true_type(), here, i, at + i, kLanes);
        if (i < end) {
          step(std::false_type(), here, i, at + i, end - i);
          i = end;
        }
        if (kBlocks && ((at + i) % kLaneBlock == 0 || at + i == n)) end_block();
      }
      if (HWY_UNLIKELY(work_.row_tiles != nullptr && writes != 0))
        work_.row_tiles->give(*work_.row_tiles, writes, at, count);
      at += count;
    }
  }

  const RowwiseWork& work_;
  const size_t row_;
  char* operand_
      [kMaxRowwiseOperands];  // entries after kOperands exist because parts of rows use the full array
};

// ---- formulas ----

// The base of rowwise formulas. A formula has kInputs, a constructor from a pointer to its parameters, and
// operator()(row), a template over the row's class. Instead of the latter it may have First(row), which
// returns a number, and Second(row, number). Each function below is a kernel whose operands all have one
// type.
template <class Formula>
struct RowwiseFormula {
  static Isa F32(const RowwiseWork& work, const void* parameters) {
    return Run<F32Elements>(work, parameters);
  }
  static Isa Bf16(const RowwiseWork& work, const void* parameters) {
    return Run<Bf16Elements>(work, parameters);
  }
  static Isa F16(const RowwiseWork& work, const void* parameters) {
    return Run<F16Elements>(work, parameters);
  }
  static Isa F64(const RowwiseWork& work, const void* parameters) {
    return Run<LaneElements<double>>(work, parameters);
  }

 private:
  static constexpr size_t kBytesTogether = 4096;

  template <class Elements>
  static HWY_INLINE Isa Run(const RowwiseWork& work, const void* parameters) {
    using ThisRow = Row<Elements, Formula::kInputs>;
    const Formula formula(parameters);
    if constexpr (requires(ThisRow & row) { formula.First(row); }) {
      // Each sum waits for its own lanes at the end. Therefore the sums of a few short rows are computed
      // before any row is written.
      constexpr size_t kMostTogether = 16;
      const size_t fit = kBytesTogether / (work.n * sizeof(typename Elements::Type) + 1);
      const size_t together = HWY_MIN(HWY_MAX(fit, 1), kMostTogether);
      for (size_t r = 0; r < work.rows; r += together) {
        const size_t end = HWY_MIN(r + together, work.rows);
        double first[kMostTogether];
        for (size_t i = r; i < end; ++i) {
          ThisRow row(work, i);
          first[i - r] = formula.First(row);
        }
        for (size_t i = r; i < end; ++i) {
          ThisRow row(work, i);
          formula.Second(row, first[i - r]);
        }
      }
    } else {
      for (size_t r = 0; r < work.rows; ++r) {
        ThisRow row(work, r);
        formula(row);
      }
    }
    return ThisIsa();
  }
};

// Applies a function of vectors to one number.
template <class D, class F>
HWY_INLINE hn::TFromD<D> OfOne(D d, hn::TFromD<D> x, const F& f) {
  return hn::GetLane(f(d, hn::Set(d, x)));
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
