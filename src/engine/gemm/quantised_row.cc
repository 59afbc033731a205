// The loops of one row times quantised weights (see quantised_row.h). Vectors run along the columns, so that
// each column has its own chain.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/gemm/quantised_row.cc"
#include "base/foreach_target.h"

#include <hwy/highway.h>

#include <cmath>
#include <cstring>

#include "engine/functions/primitives-inl.h"
#include "engine/gemm/quantised_row.h"
#include "engine/half_precision-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

using VI = hn::Vec<DI>;

// Returns chain + a * ((w + offset) * scale), with one rounding for each operation but the last two together.
template <bool kHasOffset>
HWY_INLINE VF AddTerm(VF a, VI weights, VF scale, VF offset, VF chain) {
  const DF d;
  VF number = hn::ConvertTo(d, weights);
  if (kHasOffset) number = hn::Add(number, offset);
  return functions::Fma(d, a, hn::Mul(number, scale), chain);
}

// ---- weights side by side along the columns ----

// Terms that are added at a time, so that chains pass through registers less often.
constexpr int64_t kColumnTerms = 8;

// The columns behind the last whole vector, one by one.
template <bool kIsInt4, bool kHasOffset>
void AddLastColumns(const WeightedTerms& some, const char* weights, int64_t step, int64_t first) {
  for (int64_t j = first; j < some.columns; ++j) {
    float chain = some.begins ? 0.0f : some.c[j];
    for (int64_t k = 0; k < some.terms; ++k) {
      const char byte = weights[k * step + (kIsInt4 ? j / 2 : j)];
      int whole = static_cast<int8_t>(byte);
      if (kIsInt4) {
        const unsigned half =
            j % 2 == 0 ? static_cast<uint8_t>(byte) & 15u : static_cast<uint8_t>(byte) >> 4u;
        whole = static_cast<int>(half ^ 8u) - 8;
      }
      auto number = static_cast<float>(whole);
      if (kHasOffset) number += some.offsets[j];
      number *= some.scales[j];
      chain = std::fma(some.a[k], number, chain);
    }
    some.c[j] = chain;
  }
}

template <bool kHasOffset>
HWY_INLINE void AddByteColumns(const WeightedTerms& some, int64_t from, int64_t terms, const char* weights,
                               int64_t step, int64_t whole) {
  const DF d;
  const DI di;
  const hn::Rebind<int8_t, DI> db;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const bool begins = some.begins && from == 0;
  for (int64_t j = 0; j < whole; j += lanes) {
    VF chain = begins ? hn::Zero(d) : hn::LoadU(d, some.c + j);
    const VF scale = hn::LoadU(d, some.scales + j);
    const VF offset = kHasOffset ? hn::LoadU(d, some.offsets + j) : scale;
    for (int64_t k = from; k < from + terms; ++k) {
      const auto* const at = reinterpret_cast<const int8_t*>(weights + k * step + j);
      chain = AddTerm<kHasOffset>(hn::Set(d, some.a[k]), hn::PromoteTo(di, hn::LoadU(db, at)), scale, offset,
                                  chain);
    }
    hn::StoreU(chain, d, some.c + j);
  }
}

// A vector of bytes has two vectors of columns: the even and the odd ones.
template <bool kHasOffset>
HWY_INLINE void AddHalfColumns(const WeightedTerms& some, int64_t from, int64_t terms, const char* weights,
                               int64_t step, int64_t whole) {
  const DF d;
  const DI di;
  const hn::Rebind<uint8_t, DI> db;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const bool begins = some.begins && from == 0;
  for (int64_t j = 0; j < whole; j += 2 * lanes) {
    VF even = hn::Zero(d), odd = even, even_scale, odd_scale;
    if (!begins) hn::LoadInterleaved2(d, some.c + j, even, odd);
    hn::LoadInterleaved2(d, some.scales + j, even_scale, odd_scale);
    VF even_offset = even_scale, odd_offset = odd_scale;
    if (kHasOffset) hn::LoadInterleaved2(d, some.offsets + j, even_offset, odd_offset);
    for (int64_t k = from; k < from + terms; ++k) {
      const auto* const at = reinterpret_cast<const uint8_t*>(weights + k * step + j / 2);
      const VI bytes = hn::PromoteTo(di, hn::LoadU(db, at));
      const VF a = hn::Set(d, some.a[k]);
      even =
          AddTerm<kHasOffset>(a, hn::ShiftRight<28>(hn::ShiftLeft<28>(bytes)), even_scale, even_offset, even);
      odd = AddTerm<kHasOffset>(a, hn::ShiftRight<28>(hn::ShiftLeft<24>(bytes)), odd_scale, odd_offset, odd);
    }
    hn::StoreInterleaved2(even, odd, d, some.c + j);
  }
}

template <bool kIsInt4, bool kHasOffset>
void AddColumnsOf(const WeightedTerms& some, const char* weights, int64_t step) {
  const auto together = static_cast<int64_t>(hn::Lanes(DF())) * (kIsInt4 ? 2 : 1);
  const int64_t whole = some.columns / together * together;
  for (int64_t k = 0; k < some.terms; k += kColumnTerms) {
    const int64_t terms = HWY_MIN(kColumnTerms, some.terms - k);
    if (kIsInt4) {
      AddHalfColumns<kHasOffset>(some, k, terms, weights, step, whole);
    } else {
      AddByteColumns<kHasOffset>(some, k, terms, weights, step, whole);
    }
  }
  AddLastColumns<kIsInt4, kHasOffset>(some, weights, step, whole);
}

template <bool kIsInt4>
void AddColumns(const WeightedTerms& some, const char* weights, int64_t step) {
  if (some.offsets != nullptr) return AddColumnsOf<kIsInt4, true>(some, weights, step);
  AddColumnsOf<kIsInt4, false>(some, weights, step);
}

// ---- weights side by side along the terms ----

// Adds the terms of two vectors of words from term kTerm on.
template <int kBits, int kTerm, bool kHasOffset>
HWY_INLINE void AddTermsOfWords(const float* a, VI w0, VI w1, VF scale0, VF scale1, VF offset0, VF offset1,
                                VF& sum0, VF& sum1) {
  const DF d;
  if constexpr (kTerm < 32 / kBits) {
    constexpr int kUp = 32 - kBits - kTerm * kBits;
    const VF x = hn::Set(d, a[kTerm]);
    const VI e0 = hn::ShiftRight<32 - kBits>(hn::ShiftLeft<kUp>(w0));
    const VI e1 = hn::ShiftRight<32 - kBits>(hn::ShiftLeft<kUp>(w1));
    sum0 = AddTerm<kHasOffset>(x, e0, scale0, offset0, sum0);
    sum1 = AddTerm<kHasOffset>(x, e1, scale1, offset1, sum1);
    AddTermsOfWords<kBits, kTerm + 1, kHasOffset>(a, w0, w1, scale0, scale1, offset0, offset1, sum0, sum1);
  }
}

template <int kBits, bool kHasOffset>
void AddWordsOf(const WeightedTerms& some, const uint32_t* words, int64_t step) {
  const DF d;
  const DI di;
  constexpr int64_t kTermsOfWord = 32 / kBits;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto* const first = reinterpret_cast<const int32_t*>(words);
  const int64_t whole = some.terms / kTermsOfWord;
  for (int64_t j = 0; j < some.columns; j += 2 * lanes) {
    VF sum0 = some.begins ? hn::Zero(d) : hn::LoadU(d, some.c + j);
    VF sum1 = some.begins ? hn::Zero(d) : hn::LoadU(d, some.c + j + lanes);
    const VF scale0 = hn::LoadU(d, some.scales + j), scale1 = hn::LoadU(d, some.scales + j + lanes);
    const VF offset0 = kHasOffset ? hn::LoadU(d, some.offsets + j) : scale0;
    const VF offset1 = kHasOffset ? hn::LoadU(d, some.offsets + j + lanes) : scale1;
    for (int64_t word = 0; word < whole; ++word) {
      const int32_t* const at = first + word * step + j;
      AddTermsOfWords<kBits, 0, kHasOffset>(some.a + word * kTermsOfWord, hn::LoadU(di, at),
                                            hn::LoadU(di, at + lanes), scale0, scale1, offset0, offset1, sum0,
                                            sum1);
    }
    if (whole * kTermsOfWord < some.terms) {
      VI w0 = hn::LoadU(di, first + whole * step + j), w1 = hn::LoadU(di, first + whole * step + j + lanes);
      for (int64_t k = whole * kTermsOfWord; k < some.terms; ++k) {
        const VF x = hn::Set(d, some.a[k]);
        const VI e0 = hn::ShiftRight<32 - kBits>(hn::ShiftLeft<32 - kBits>(w0));
        const VI e1 = hn::ShiftRight<32 - kBits>(hn::ShiftLeft<32 - kBits>(w1));
        sum0 = AddTerm<kHasOffset>(x, e0, scale0, offset0, sum0);
        sum1 = AddTerm<kHasOffset>(x, e1, scale1, offset1, sum1);
        w0 = hn::ShiftRight<kBits>(w0);
        w1 = hn::ShiftRight<kBits>(w1);
      }
    }
    hn::StoreU(sum0, d, some.c + j);
    hn::StoreU(sum1, d, some.c + j + lanes);
  }
}

template <int kBits>
void AddWords(const WeightedTerms& some, const uint32_t* words, int64_t step) {
  if (some.offsets != nullptr) return AddWordsOf<kBits, true>(some, words, step);
  AddWordsOf<kBits, false>(some, words, step);
}

const QuantisedRowKernels& QuantisedRowKernelsHere() {
  static const QuantisedRowKernels kernels = {{AddColumns<false>, AddColumns<true>},
                                              {AddWords<8>, AddWords<4>}};
  return kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_table.h"

namespace portacl::engine {

const QuantisedRowKernels& FindQuantisedRowKernels(Isa isa) noexcept {
  static constexpr auto kTable = PORTACL_ISA_TABLE(QuantisedRowKernelsHere);
  return kTable.For(isa)();
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
