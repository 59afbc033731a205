// Passes over transposed rows: a line holds the elements of one index of neighbouring rows, so that a vector's
// lanes are rows. Each row is summed in the order of rowwise_loop-inl.h, which gives the same bits. Compiled
// once per instruction set and formula.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_ROWWISE_ACROSS_LOOP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_ROWWISE_ACROSS_LOOP_INL_H_
#undef PORTACL_ENGINE_ROWWISE_ACROSS_LOOP_INL_H_
#else
#define PORTACL_ENGINE_ROWWISE_ACROSS_LOOP_INL_H_
#endif

#include "engine/rowwise/across.h"
#include "engine/rowwise/rowwise_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

// The kind of a pass that sums: it reads inputs first, or after a pass that copied them, or it reads
// kWidened and keeps its terms.
enum class SumPass : uint8_t { kFirst, kLater, kKeeping };

// The passes. Each takes a function of the tag, of a vector of every operand that its template arguments name,
// and of a vector of every number of a row that its arguments name.
template <class Elements>
class RowsAcross {
 public:
  using D = hn::CappedTag<float, kRowsOfGroup>;
  using V = hn::Vec<D>;
  using Type = typename Elements::Type;

  // The first input as a pass that keeps terms reads it.
  static constexpr size_t kWidened = std::is_same_v<Type, float> ? 0 : kKeptTerms;

  // A number of each row.
  struct Numbers {
    float* at;
  };

  HWY_INLINE explicit RowsAcross(const AcrossWork& work)
      : work_(work), n_(work.n), rows_(work.rows), numbers_(work.numbers) {
    for (size_t k = 0; k < kMostAcrossInputs; ++k) {
      from_[k] = work.input[k];
      step_[k] = work.input_step[k];
    }
  }

  // Tells whether one pass can leave terms to the next.
  HWY_INLINE bool keeps() const { return work_.kept != nullptr; }

  // The maximum of the first input, which comes first. With kKeeps the next pass is one that keeps terms.
  template <bool kKeeps>
  HWY_INLINE Numbers Max() {
    const Numbers greatest = NewNumbers();
    std::fill_n(greatest.at, rows_, -std::numeric_limits<float>::infinity());
    if constexpr (kKeeps) {
      // Terms that are kept are float32, so that other elements become that at once.
      if (!kIsFloat || work_.copy[0] != nullptr) {
        const D d;
        MaxPass(greatest, [&](size_t i, size_t c)
                              HWY_ATTR { hn::StoreU(Load<0>(i, c), d, work_.kept + i * rows_ + c); });
        from_[0] = reinterpret_cast<const char*>(work_.kept);
        step_[0] = static_cast<int64_t>(rows_ * sizeof(float));
        return greatest;
      }
    } else if (work_.copy[0] != nullptr) {
      MaxPass(greatest, [&](size_t i, size_t c) HWY_ATTR { Copy<0>(i, c); });
      ReadCopy(0);
      return greatest;
    }
    MaxPass(greatest, [](size_t, size_t) HWY_ATTR {});
    return greatest;
  }

  // Returns for each row the sum of f(d, v..., numbers...), after `finish` in float64, rounded.
  template <SumPass kPass, size_t... k, class F, class Finish, class... N>
  HWY_INLINE Numbers Sum(const F& f, const Finish& finish, N... numbers) {
    double* const sums = work_.sums;
    if constexpr (kPass == SumPass::kFirst) {
      if (work_.copy[0] != nullptr) {
        SumTerms<kPass, true, k...>(f, numbers...);
        (ReadCopy(k), ...);
      } else {
        SumTerms<kPass, false, k...>(f, numbers...);
      }
    } else {
      SumTerms<kPass, false, k...>(f, numbers...);
    }
    const Numbers finished = NewNumbers();
    for (size_t row = 0; row < rows_; ++row) finished.at[row] = static_cast<float>(finish(sums[row]));
    return finished;
  }

  // Replaces numbers by f(d, v).
  template <class F>
  HWY_INLINE void Change(Numbers numbers, const F& f) const {
    const D d;
    for (size_t c = 0; c < rows_; c += hn::Lanes(d))
      hn::StoreU(f(d, hn::LoadU(d, numbers.at + c)), d, numbers.at + c);
  }

  // Writes f(d, v..., numbers...), of the inputs or, with kKeptTerms, of the terms that are kept.
  template <size_t... k, class F, class... N>
  HWY_INLINE void Write(const F& f, N... numbers) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    for (size_t i = 0; i < n_; ++i) {
      (AskFor<k>(i), ...);
      auto* const to = reinterpret_cast<Type*>(work_.output + static_cast<int64_t>(i) * work_.output_step);
      if (work_.ahead != 0 && !work_.stream && i + work_.ahead < n_)
        AskFor(work_.output + static_cast<int64_t>(i + work_.ahead) * work_.output_step);
      size_t c = 0;
#if !HWY_HAVE_SCALABLE
      for (; c + 4 * lanes <= rows_; c += 4 * lanes) {
        const Unrolled<V> values = Four(f, FourOf<k>(i, c)..., FourOf(numbers, c)...);
        StoreTwo(values.part[0], values.part[1], to + c);
        StoreTwo(values.part[2], values.part[3], to + c + 2 * lanes);
      }
#endif
      for (; c < rows_; c += lanes) Store(f(d, Load<k>(i, c)..., hn::LoadU(d, numbers.at + c)...), to + c);
    }
  }

 private:
  static constexpr bool kIsFloat = std::is_same_v<Type, float>;
  static_assert(kIsFloat || std::is_same_v<Elements, Bf16Elements>);

  HWY_INLINE Numbers NewNumbers() {
    float* const at = numbers_;
    numbers_ += rows_;
    return {at};
  }
  HWY_INLINE void ReadCopy(size_t k) {
    from_[k] = work_.copy[k];
    step_[k] = static_cast<int64_t>(rows_ * sizeof(Type));
  }

  HWY_INLINE void AskFor(const char* line) const {
    for (size_t at = 0; at < rows_ * sizeof(Type); at += 64) __builtin_prefetch(line + at);
  }
  // Prefetches a line of an input that still lies where it came from.
  template <size_t k>
  HWY_INLINE void AskFor(size_t i) const {
    if constexpr (k < kMostAcrossInputs) {
      if (work_.ahead != 0 && i + work_.ahead < n_ && from_[k] == work_.input[k])
        AskFor(from_[k] + static_cast<int64_t>(i + work_.ahead) * step_[k]);
    }
  }

  template <size_t k>
  HWY_INLINE const char* Line(size_t i) const {
    return from_[k] + static_cast<int64_t>(i) * step_[k];
  }
  template <size_t k>
  HWY_INLINE V Load(size_t i, size_t c) const {
    if constexpr (k == kKeptTerms) {
      return hn::LoadU(D(), work_.kept + i * rows_ + c);
    } else if constexpr (kIsFloat) {
      return hn::LoadU(D(), reinterpret_cast<const float*>(Line<k>(i)) + c);
    } else {
      const hn::Rebind<uint32_t, D> du;
      const auto halves =
          hn::LoadU(hn::Rebind<uint16_t, D>(), reinterpret_cast<const uint16_t*>(Line<k>(i)) + c);
      return hn::BitCast(D(), hn::ShiftLeft<16>(hn::PromoteTo(du, halves)));
    }
  }
  template <size_t k>
  HWY_INLINE void Copy(size_t i, size_t c) const {
    const hn::Rebind<Type, D> d;
    hn::StoreU(hn::LoadU(d, reinterpret_cast<const Type*>(Line<k>(i)) + c), d,
               reinterpret_cast<Type*>(work_.copy[k]) + i * rows_ + c);
  }
  HWY_INLINE void Store(V v, Type* to) const {
    if constexpr (kIsFloat) {
      hn::StoreU(v, D(), to);
    } else if constexpr (HWY_HAVE_SCALABLE != 0) {  // vectors may have more lanes than a group
      HWY_ALIGN Type padded[HWY_MAX_BYTES / sizeof(Type)];
      Elements::Store(DF(), v, padded);
      std::memcpy(to, padded, hn::Lanes(D()) * sizeof(Type));
    } else {
      Elements::Store(DF(), v, to);
    }
  }
#if !HWY_HAVE_SCALABLE
  HWY_INLINE void StoreTwo(V first, V second, Type* to) const {
    Elements::StoreTwo(DF(), first, second, to, work_.stream);
  }
  template <size_t k>
  HWY_INLINE Unrolled<V> FourOf(size_t i, size_t c) const {
    const size_t lanes = hn::Lanes(D());
    return Unrolled<V>(Load<k>(i, c), Load<k>(i, c + lanes), Load<k>(i, c + 2 * lanes),
                       Load<k>(i, c + 3 * lanes));
  }
  HWY_INLINE Unrolled<V> FourOf(Numbers numbers, size_t c) const {
    const D d;
    const float* const at = numbers.at + c;
    const size_t lanes = hn::Lanes(d);
    return Unrolled<V>(hn::LoadU(d, at), hn::LoadU(d, at + lanes), hn::LoadU(d, at + 2 * lanes),
                       hn::LoadU(d, at + 3 * lanes));
  }
  template <class F, class... Operands>
  static HWY_INLINE Unrolled<V> Four(const F& f, const Operands&... operands) {
    if constexpr (kHasUnrolledSteps<F>) {
      return f(D(), operands...);
    } else {
      return Unrolled<V>::Each([&f](auto... one) HWY_ATTR { return f(D(), one...); }, operands...);
    }
  }
#endif

  template <class Also>
  HWY_INLINE void MaxPass(Numbers greatest, const Also& also) const {
    const D d;
    for (size_t i = 0; i < n_; ++i) {
      AskFor<0>(i);
      for (size_t c = 0; c < rows_; c += hn::Lanes(d)) {
        hn::StoreU(hn::Max(hn::LoadU(d, greatest.at + c), Load<0>(i, c)), d, greatest.at + c);
        also(i, c);
      }
    }
  }

  // Leaves the sums in work_.sums.
  template <SumPass kPass, bool kCopies, size_t... k, class F, class... N>
  HWY_INLINE void SumTerms(const F& f, N... numbers) {
    const D d;
    double* const sums = work_.sums;
    SumTree tree(sums + kLanes * rows_, static_cast<int64_t>(rows_));
    for (size_t block = 0; block < n_; block += kLaneBlock) {
      std::fill_n(sums, kLanes * rows_, 0.0);
      const size_t end = HWY_MIN(n_, block + kLaneBlock);
      for (size_t i = block; i < end; ++i) {
        (AskFor<k>(i), ...);
        double* const to = sums + i % kLanes * rows_;
        size_t c = 0;
#if !HWY_HAVE_SCALABLE
        const size_t lanes = hn::Lanes(d);
        for (; c + 4 * lanes <= rows_; c += 4 * lanes) {
          const Unrolled<V> terms = Four(f, FourOf<k>(i, c)..., FourOf(numbers, c)...);
          for (size_t part = 0; part < 4; ++part) {
            if constexpr (kCopies) (Copy<k>(i, c + part * lanes), ...);
            AddTerm<kPass>(terms.part[part], i, c + part * lanes, to);
          }
        }
#endif
        for (; c < rows_; c += hn::Lanes(d)) {
          const V term = f(d, Load<k>(i, c)..., hn::LoadU(d, numbers.at + c)...);
          if constexpr (kCopies) (Copy<k>(i, c), ...);
          AddTerm<kPass>(term, i, c, to);
        }
      }
      for (size_t width = kLanes / 2; width > 0; width /= 2) {
        for (size_t j = 0; j < width * rows_; ++j) sums[j] += sums[j + width * rows_];
      }
      if (n_ > kLaneBlock) tree.Add(sums);
    }
    if (n_ > kLaneBlock) tree.Finish(sums);
  }

  template <SumPass kPass>
  HWY_INLINE void AddTerm(V term, size_t i, size_t c, double* sums) const {
    const D d;
    if constexpr (kPass == SumPass::kKeeping) hn::StoreU(term, d, work_.kept + i * rows_ + c);
    double* const to = sums + c;
#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE
    HWY_ALIGN float terms[kRowsOfGroup];
    hn::Store(term, d, terms);
    for (size_t lane = 0; lane < hn::Lanes(d); ++lane) to[lane] += static_cast<double>(terms[lane]);
#else
    const hn::Repartition<double, D> dd;
    hn::StoreU(hn::Add(hn::LoadU(dd, to), hn::PromoteTo(dd, hn::LowerHalf(term))), dd, to);
    double* const upper = to + hn::Lanes(dd);
    hn::StoreU(hn::Add(hn::LoadU(dd, upper), hn::PromoteTo(dd, hn::UpperHalf(hn::Half<D>(), term))), dd,
               upper);
#endif
  }

  const AcrossWork& work_;
  const size_t n_;
  const size_t rows_;
  float* numbers_;
  const char* from_[kMostAcrossInputs];
  int64_t step_[kMostAcrossInputs];
};

// The kernel for a formula's Across(rows).
template <class Formula, class Elements = F32Elements>
Isa RunAcross(const AcrossWork& work) {
  RowsAcross<Elements> rows(work);
  Formula::Across(rows);
  return ThisIsa();
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
