// Passes over transposed rows: a tile holds neighbouring rows side by side, so that a vector's lanes are
// rows. Each row is summed in the order of rowwise_loop-inl.h, which gives the same bits. Compiled once per
// instruction set and formula.
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

// As many rows as a vector has lanes. Input tiles hold elements of the stored type, in groups of rows.
// Results overwrite the first input.
template <class Elements>
class RowsAcross {
 public:
  using D = hn::CappedTag<float, kRowsOfGroup>;
  using V = hn::Vec<D>;
  using Type = typename Elements::Type;

  HWY_INLINE RowsAcross(const RowwiseWork& work, size_t row) : n_(work.n) {
    const size_t at = row / kGroup * kGroup * n_ + row % kGroup;
    for (int k = 0; k < kMaxRowwiseOperands; ++k)
      tile_[k] = reinterpret_cast<Type*>(work.operand[k]) + (work.operand[k] == nullptr ? 0 : at);
  }

  HWY_INLINE V Max() const {
    const D d;
    V greatest = hn::Set(d, -std::numeric_limits<float>::infinity());
    for (size_t i = 0; i < n_; ++i) greatest = hn::Max(greatest, Load<0>(i));
    return greatest;
  }

  // Returns for each row the sum of f(d, v...), after `finish` in float64, rounded.
  template <bool kKeeps, size_t... k, class F, class Finish>
  HWY_INLINE V Sum(const F& f, const Finish& finish) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    HWY_ALIGN double sums[kLanes * kGroup] = {};
    double levels[40 * kGroup];
    SumTree tree(levels, static_cast<int64_t>(lanes));
    for (size_t block = 0; block < n_; block += kLaneBlock) {
      std::fill_n(sums, kLanes * lanes, 0.0);
      const size_t end = HWY_MIN(n_, block + kLaneBlock);
      size_t i = block;
#if !HWY_HAVE_SCALABLE
      if constexpr (kHasUnrolledSteps<F>) {
        for (; i + 4 <= end; i += 4) {
          const auto terms = f(d, Four<k>(i)...);
          for (size_t part = 0; part < 4; ++part) AddTerm<kKeeps>(sums, i + part, terms.part[part]);
        }
      }
#endif
      for (; i < end; ++i) AddTerm<kKeeps>(sums, i, f(d, Load<k>(i)...));
      for (size_t width = kLanes / 2; width > 0; width /= 2) {
        for (size_t j = 0; j < width * lanes; ++j) sums[j] += sums[j + width * lanes];
      }
      if (n_ > kLaneBlock) tree.Add(sums);
    }
    if (n_ > kLaneBlock) tree.Finish(sums);
    HWY_ALIGN float finished[kGroup];
    for (size_t lane = 0; lane < lanes; ++lane) finished[lane] = static_cast<float>(finish(sums[lane]));
    return hn::Load(d, finished);
  }

  template <size_t... k, class F>
  HWY_INLINE void Write(const F& f) {
    const D d;
    size_t i = 0;
#if !HWY_HAVE_SCALABLE
    if constexpr (kHasUnrolledSteps<F>) {
      for (; i + 4 <= n_; i += 4) {
        const auto values = f(d, Four<k>(i)...);
        for (size_t part = 0; part < 4; ++part) Store(i + part, values.part[part]);
      }
    }
#endif
    for (; i < n_; ++i) Store(i, f(d, Load<k>(i)...));
  }

 private:
  static constexpr size_t kGroup = kRowsOfGroup;
  static constexpr bool kIsFloat = std::is_same_v<Type, float>;
  static_assert(kIsFloat || std::is_same_v<Elements, Bf16Elements>);

  template <size_t k>
  HWY_INLINE V Load(size_t i) const {
    const Type* const from = tile_[k] + i * kGroup;
    if constexpr (kIsFloat) {
      return hn::LoadU(D(), from);
    } else {
      const hn::Rebind<uint32_t, D> du;
      return hn::BitCast(D(),
                         hn::ShiftLeft<16>(hn::PromoteTo(du, hn::LoadU(hn::Rebind<uint16_t, D>(), from))));
    }
  }
  HWY_INLINE void Store(size_t i, V v) {
    Type* const to = tile_[0] + i * kGroup;
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
  template <size_t k>
  HWY_INLINE Unrolled<V> Four(size_t i) const {
    return Unrolled<V>(Load<k>(i), Load<k>(i + 1), Load<k>(i + 2), Load<k>(i + 3));
  }
#endif

  template <bool kKeeps>
  HWY_INLINE void AddTerm(double* sums, size_t i, V term) {
    const D d;
    static_assert(kIsFloat || !kKeeps);  // terms are not rounded
    if constexpr (kKeeps) Store(i, term);
    double* const to = sums + i % kLanes * hn::Lanes(d);
#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE
    HWY_ALIGN float terms[kGroup];
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

  size_t n_;
  Type* tile_[kMaxRowwiseOperands];
};

// The kernel for a formula's Across(rows).
template <class Formula, class Elements = F32Elements>
Isa RunAcross(const RowwiseWork& work, const void*) {
  const typename RowsAcross<Elements>::D d;
  for (size_t row = 0; row < work.rows; row += hn::Lanes(d)) {
    RowsAcross<Elements> rows(work, row);
    Formula::Across(rows);
  }
  return ThisIsa();
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
