// Matrix products without panels in the order of two 16-bit operands: two chains, one of the even and one of
// the odd indices of the inner (K) axis. Compiled once per instruction set.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_GEMM_GEMM_EVEN_ODD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_GEMM_GEMM_EVEN_ODD_INL_H_
#undef PORTACL_ENGINE_GEMM_GEMM_EVEN_ODD_INL_H_
#else
#define PORTACL_ENGINE_GEMM_GEMM_EVEN_ODD_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <hwy/highway.h>
#include "engine/functions/primitives-inl.h"
#include "engine/gemm/gemm_one_query-inl.h"
#include "engine/gemm/gemm_panels-inl.h"
#include "engine/gemm/gemm_unpacked-inl.h"
#include "engine/half_precision-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

// ---- the order of two 16-bit operands, without panels ----

// Terms that are added at a time, in the columns' order: half of them to each of two chains.
constexpr int64_t kEvenOddTogether = 8;
static_assert(kEvenOddDepth % kEvenOddTogether == 0);
// Columns whose chains and sums stay in the first-level cache.
constexpr int64_t kEvenOddColumns = 2048;

// Continues the chains of a block. They begin with its first terms and are added to c with its last ones. Calls `ask`
// for each vector. Without `kUnrolls` each load reads row after row, so that hardware prefetchers see no row that they
// could follow: where `ask` prefetches, theirs would take memory's time.
template <class Elements, bool kUnrolls, class F>
HWY_INLINE void AddSomeEvenOdd(const float* a, const typename Elements::Type* b, int64_t row, int64_t columns,
                               float* even, float* odd, bool begins, bool ends, float* c, bool goes_on,
                               const F& ask) {
  const DF d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t j = 0; j < columns; j += lanes) {
    ask();
    VF e = begins ? hn::Zero(d) : hn::LoadU(d, even + j);
    VF o = begins ? hn::Zero(d) : hn::LoadU(d, odd + j);
    if constexpr (kUnrolls) {
      for (int64_t k = 0; k < kEvenOddTogether; k += 2) {
        e = functions::Fma(d, hn::Set(d, a[k]), Elements::Load(d, b + k * row + j), e);
        o = functions::Fma(d, hn::Set(d, a[k + 1]), Elements::Load(d, b + (k + 1) * row + j), o);
      }
    } else {
      HWY_UNROLL(1)
      for (int64_t k = 0; k < kEvenOddTogether; k += 2) {
        e = functions::Fma(d, hn::Set(d, a[k]), Elements::Load(d, b + k * row + j), e);
        o = functions::Fma(d, hn::Set(d, a[k + 1]), Elements::Load(d, b + (k + 1) * row + j), o);
      }
    }
    hn::StoreU(e, d, even + j);
    if (ends) {
      AddEvenOdd(d, even + j, o, c + j, goes_on);
    } else {
      hn::StoreU(o, d, odd + j);
    }
  }
}

// Adds a block of any number of terms for one vector of columns. element(k) is the address of the elements of
// term k.
template <class Elements, class F>
HWY_INLINE void AddBlockEvenOdd(const float* a, int64_t terms, float* c, bool goes_on, const F& element) {
  const DF d;
  HWY_ALIGN float even[HWY_MAX_BYTES / sizeof(float)];
  VF e = hn::Zero(d), o = hn::Zero(d);
  for (int64_t k = 0; k < terms; k += 2) {
    e = functions::Fma(d, hn::Set(d, a[k]), Elements::Load(d, element(k)), e);
    if (k + 1 < terms) o = functions::Fma(d, hn::Set(d, a[k + 1]), Elements::Load(d, element(k + 1)), o);
  }
  hn::Store(e, d, even);
  AddEvenOdd(d, even, o, c, goes_on);
}

template <class Elements>
void AddRowEvenOdd(const float* a, const char* b, int64_t row, int64_t depth, int64_t columns, float* c,
                   bool adds) {
  using Element = typename Elements::Type;
  constexpr auto kSize = static_cast<int64_t>(sizeof(Element));
  const DF d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t whole = columns / lanes * lanes;
  HWY_ALIGN float even[kEvenOddColumns];
  HWY_ALIGN float odd[kEvenOddColumns];
  for (int64_t column = 0; column < whole; column += kEvenOddColumns) {
    const int64_t some = HWY_MIN(kEvenOddColumns, whole - column);
    for (int64_t block = 0; block < depth; block += kEvenOddDepth) {
      const int64_t terms = HWY_MIN(kEvenOddDepth, depth - block);
      const bool goes_on = adds || block > 0;
      const char* const first = b + block * row + column * kSize;
      if (terms == kEvenOddDepth && row % kSize == 0) {
        const auto* const elements = reinterpret_cast<const Element*>(first);
        const int64_t step = row / kSize;
        for (int64_t k = 0; k < terms; k += kEvenOddTogether) {
          AddSomeEvenOdd<Elements, true>(a + block + k, elements + k * step, step, some, even, odd, k == 0,
                                         k + kEvenOddTogether == terms, c + column, goes_on, [] {});
        }
        continue;
      }
      for (int64_t j = 0; j < some; j += lanes) {
        // Rows of elements may begin at any byte.
        AddBlockEvenOdd<Elements>(a + block, terms, c + column + j, goes_on, [&](int64_t k) HWY_ATTR {
          return reinterpret_cast<const Element*>(first + k * row) + j;
        });
      }
    }
  }
  if (whole == columns) return;
  HWY_ALIGN Element last[kEvenOddDepth][HWY_MAX_BYTES / sizeof(float)];
  HWY_ALIGN float sums[HWY_MAX_BYTES / sizeof(float)] = {};
  const auto rest = static_cast<size_t>(columns - whole);
  if (adds) std::memcpy(sums, c + whole, rest * sizeof(float));
  std::memset(last, 0, sizeof last);
  for (int64_t block = 0; block < depth; block += kEvenOddDepth) {
    const int64_t terms = HWY_MIN(kEvenOddDepth, depth - block);
    for (int64_t k = 0; k < terms; ++k)
      std::memcpy(last[k], b + (block + k) * row + whole * kSize, rest * sizeof(Element));
    AddBlockEvenOdd<Elements>(a + block, terms, sums, adds || block > 0,
                              [&](int64_t k) HWY_ATTR { return last[k]; });
  }
  std::memcpy(c + whole, sums, rest * sizeof(float));
}

// The least number of bytes from what is read to what is prefetched: as many as memory delivers before the first
// of them arrives.
constexpr int64_t kHeadsAhead = 8192;

// Adds whole blocks of terms for heads whose chains fit the buffers. A few rows of all heads are read before the
// next rows, since heads that are adjacent are read in the order of memory then.
template <class Elements>
HWY_INLINE void AddBlocksOfHeads(const HeadsProduct& product, int64_t first, int64_t heads, float* even,
                                 float* odd) {
  using Element = typename Elements::Type;
  constexpr auto kSize = static_cast<int64_t>(sizeof(Element));
  constexpr int64_t kTogether = kEvenOddTogether;
  const int64_t columns = product.columns;
  const int64_t step = product.row / kSize;
  const int64_t begin = (product.first + first) / product.group;
  const int64_t in_group = (product.first + first) % product.group;
  const int64_t end = (product.first + first + heads - 1) / product.group + 1;
  const int64_t bytes = (end - begin) * columns * kSize;
  const int64_t lines = (bytes + kLine - 1) / kLine * kTogether;
  const int64_t vectors = heads * columns / static_cast<int64_t>(hn::Lanes(DF()));
  const int64_t of_vector = (lines + vectors - 1) / vectors;
  const int64_t ahead = (kHeadsAhead / bytes / kTogether + 1) * kTogether;
  const char* const b = product.b + begin * columns * kSize;
  const int64_t depth = product.depth / kEvenOddDepth * kEvenOddDepth;
  for (int64_t term = 0; term < depth; term += kTogether) {
    const int64_t later = term + ahead;
    const char* asked = later < product.depth ? b + later * product.row : nullptr;
    if (asked == nullptr && product.next != nullptr)
      asked = product.next + (b - product.b) + (later - product.depth) * product.row;
    LinesAhead lines_ahead{asked, product.row, bytes};
    const auto add = [&](bool begins, bool ends) HWY_ATTR {
      const char* from = b + term * product.row;
      int64_t of_group = in_group;
      for (int64_t i = 0; i < heads; ++i) {
        const int64_t head = first + i;
        AddSomeEvenOdd<Elements, false>(
            product.a + head * product.a_head + term, reinterpret_cast<const Element*>(from), step, columns,
            even + i * columns, odd + i * columns, begins, ends, product.c + head * product.c_head,
            product.adds || term >= kEvenOddDepth, [&]() HWY_ATTR {
              for (int64_t line = 0; line < of_vector && asked != nullptr; ++line)
                __builtin_prefetch(NextLines(&lines_ahead, 1), 0, kSecondLevel);
            });
        if (++of_group < product.group) continue;
        of_group = 0;
        from += columns * kSize;
      }
    };
    // Constant arguments leave the inner loops without branches.
    const int64_t k = term % kEvenOddDepth;
    if (k == 0) {
      add(true, false);
    } else if (k + kTogether < kEvenOddDepth) {
      add(false, false);
    } else {
      add(false, true);
    }
  }
}

template <class Elements>
void AddHeadsEvenOdd(const HeadsProduct& product) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(typename Elements::Type));
  const auto lanes = static_cast<int64_t>(hn::Lanes(DF()));
  const int64_t columns = product.columns;
  int64_t done = 0;  // terms
  if constexpr (std::is_same_v<Elements, Bf16Elements>) done = AddPairs(product);
  if (done == 0 && columns % lanes == 0 && columns <= kEvenOddColumns && product.row % kSize == 0) {
    HWY_ALIGN float even[kEvenOddColumns];
    HWY_ALIGN float odd[kEvenOddColumns];
    const int64_t most = kEvenOddColumns / columns;
    for (int64_t head = 0; head < product.heads; head += most)
      AddBlocksOfHeads<Elements>(product, head, HWY_MIN(most, product.heads - head), even, odd);
    done = product.depth / kEvenOddDepth * kEvenOddDepth;
  }
  if (done == product.depth) return;
  for (int64_t head = 0; head < product.heads; ++head) {
    const int64_t group = (product.first + head) / product.group;
    AddRowEvenOdd<Elements>(product.a + head * product.a_head + done,
                            product.b + group * columns * kSize + done * product.row, product.row,
                            product.depth - done, columns, product.c + head * product.c_head,
                            product.adds || done > 0);
  }
}

// Computes sums = sums + (even + odd) for kSide lanes. With kEachLane every lane has its own x, else all
// share it. If not `is_added`, the result is the block's own sums.
template <bool kEachLane>
HWY_INLINE void AddSideEvenOdd(const float* x, const float* y, int64_t terms, float* sums, bool is_added) {
  const hn::CappedTag<float, kSide> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto at = [&](int64_t k, int64_t lane)
                      HWY_ATTR { return kEachLane ? hn::LoadU(d, x + k * kSide + lane) : hn::Set(d, x[k]); };
  for (int64_t lane = 0; lane < kSide; lane += lanes) {
    auto even = hn::Zero(d);
    auto odd = hn::Zero(d);
    for (int64_t k = 0; k + 1 < terms; k += 2) {
      even = functions::Fma(d, at(k, lane), hn::LoadU(d, y + k * kSide + lane), even);
      odd = functions::Fma(d, at(k + 1, lane), hn::LoadU(d, y + (k + 1) * kSide + lane), odd);
    }
    if (terms % 2 != 0)
      even = functions::Fma(d, at(terms - 1, lane), hn::LoadU(d, y + (terms - 1) * kSide + lane), even);
    const auto both = hn::Add(even, odd);
    hn::StoreU(is_added ? hn::Add(hn::LoadU(d, sums + lane), both) : both, d, sums + lane);
  }
}

// Rows for which columns are transposed once.
constexpr int64_t kRowsAcross = 8;

// Prefetches a line of each of kSide columns, for those from column j on whose bytes from `byte` on are read.
HWY_INLINE void AskAcross(const AcrossProduct& product, int64_t j, int64_t byte) {
  const char* from = product.next;
  if (from == nullptr) {
    if (!IsOfUseAhead(product.column, byte, product.rest)) return;
    from = product.b + kTransposedAhead;
  }
  from += j * product.column + byte;
  for (int64_t i = 0; i < kSide; ++i) __builtin_prefetch(from + i * product.column);
}

// Calls f for some rows and kSide columns of a product, with the sums so far, and stores what it adds to them.
template <class F>
HWY_INLINE void ForEachSide(const AcrossProduct& product, const F& f) {
  HWY_ALIGN float sums[kRowsAcross * kSide];
  for (int64_t j = 0; j < product.columns; j += kSide) {
    const int64_t count = HWY_MIN(kSide, product.columns - j);
    const auto bytes = static_cast<size_t>(count) * sizeof(float);
    for (int64_t row = 0; row < product.rows; row += kRowsAcross) {
      const int64_t rows = HWY_MIN(kRowsAcross, product.rows - row);
      float* const c = product.c + row * product.c_row + j;
      std::memset(sums, 0, static_cast<size_t>(rows * kSide) * sizeof(float));
      for (int64_t i = 0; i < rows && product.adds; ++i)
        std::memcpy(sums + i * kSide, c + i * product.c_row, bytes);
      f(product.a + row * product.a_row, rows, j, count, sums);
      for (int64_t i = 0; i < rows; ++i) std::memcpy(c + i * product.c_row, sums + i * kSide, bytes);
    }
  }
}

template <class Elements>
void AddAcrossEvenOdd(const AcrossProduct& product) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(typename Elements::Type));
  HWY_ALIGN float squares[kEvenOddDepth * kSide];
  ForEachSide(product, [&](const float* a, int64_t rows, int64_t j, int64_t count, float* sums) HWY_ATTR {
    for (int64_t block = 0; block < product.depth; block += kEvenOddDepth) {
      const int64_t terms = HWY_MIN(kEvenOddDepth, product.depth - block);
      for (int64_t k = 0; k < terms; k += kSide) {
        const char* const from = product.b + j * product.column + (block + k) * kSize;
        if (count == kSide && (block + k) * kSize % 64 == 0) AskAcross(product, j, (block + k) * kSize);
        TransposeSome<Elements>(from, product.column, count, HWY_MIN(kSide, terms - k), squares + k * kSide);
      }
      for (int64_t row = 0; row < rows; ++row)
        AddSideEvenOdd<false>(a + row * product.a_row + block, squares, terms, sums + row * kSide, true);
    }
  });
}

// Copies the words of a block that lacks lines or terms, padded with 0.
HWY_INLINE void CopyPairs(const char* from, int64_t line, int64_t lines, int64_t terms, float* squares) {
  std::memset(squares, 0, kPairsOfBlock * kSide * sizeof(float));
  for (int64_t i = 0; i < lines; ++i) {
    for (int64_t k = 0; k < terms; k += 2) {
      std::memcpy(squares + k / 2 * kSide + i, from + i * line + k * 2,
                  static_cast<size_t>(2 * HWY_MIN(int64_t{2}, terms - k)));
    }
  }
}

HWY_INLINE void AddSidePairs(const float* x, const float* pairs, int64_t terms, float* sums) {
  const hn::CappedTag<float, kSide> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto upper = hn::Set(di, static_cast<int32_t>(0xFFFF0000u));
  for (int64_t lane = 0; lane < kSide; lane += lanes) {
    auto even = hn::Zero(d);
    auto odd = hn::Zero(d);
    for (int64_t k = 0; k < terms; k += 2) {
      const auto word = hn::BitCast(di, hn::LoadU(d, pairs + k / 2 * kSide + lane));
      even = functions::Fma(d, hn::Set(d, x[k]), hn::BitCast(d, hn::ShiftLeft<16>(word)), even);
      if (k + 1 < terms)
        odd = functions::Fma(d, hn::Set(d, x[k + 1]), hn::BitCast(d, hn::And(word, upper)), odd);
    }
    hn::StoreU(hn::Add(hn::LoadU(d, sums + lane), hn::Add(even, odd)), d, sums + lane);
  }
}

// Adds two rows, or two blocks of one row, in that way. A block alone would wait for its two chains.
HWY_INLINE void AddTwoSidesPairs(const float* x, const float* x2, const float* pairs, const float* pairs2,
                                 float* sums, float* sums2) {
  const hn::CappedTag<float, kSide> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto upper = hn::Set(di, static_cast<int32_t>(0xFFFF0000u));
  for (int64_t lane = 0; lane < kSide; lane += lanes) {
    auto even = hn::Zero(d), odd = even, even2 = even, odd2 = even;
    for (int64_t k = 0; k < kEvenOddDepth; k += 2) {
      const int64_t at = k / 2 * kSide + lane;
      const auto word = hn::BitCast(di, hn::LoadU(d, pairs + at));
      const auto word2 = hn::BitCast(di, hn::LoadU(d, pairs2 + at));
      even = functions::Fma(d, hn::Set(d, x[k]), hn::BitCast(d, hn::ShiftLeft<16>(word)), even);
      even2 = functions::Fma(d, hn::Set(d, x2[k]), hn::BitCast(d, hn::ShiftLeft<16>(word2)), even2);
      odd = functions::Fma(d, hn::Set(d, x[k + 1]), hn::BitCast(d, hn::And(word, upper)), odd);
      odd2 = functions::Fma(d, hn::Set(d, x2[k + 1]), hn::BitCast(d, hn::And(word2, upper)), odd2);
    }
    hn::StoreU(hn::Add(hn::LoadU(d, sums + lane), hn::Add(even, odd)), d, sums + lane);
    hn::StoreU(hn::Add(hn::LoadU(d, sums2 + lane), hn::Add(even2, odd2)), d, sums2 + lane);
  }
}

// Makes the words of a block of terms of `count` columns.
HWY_INLINE void TransposePairs(const AcrossProduct& product, int64_t j, int64_t count, int64_t block,
                               int64_t terms, float* squares) {
  constexpr int64_t kWord = 2 * sizeof(uint16_t);
  const char* const from = product.b + j * product.column + block * 2;
  if (count < kSide || terms < kEvenOddDepth) return CopyPairs(from, product.column, count, terms, squares);
  AskAcross(product, j, block * 2);
  for (int64_t word = 0; word < kPairsOfBlock; word += kSide)
    TransposeSquare<F32Elements>(from + word * kWord, product.column, squares + word * kSide, kSide);
}

inline void AddAcrossBf16(const AcrossProduct& product) {
  constexpr int64_t kDepth = kEvenOddDepth;
  constexpr int64_t kSquares = kPairsOfBlock * kSide;
  HWY_ALIGN float squares[2 * kSquares];
  ForEachSide(product, [&](const float* a, int64_t rows, int64_t j, int64_t count, float* sums) HWY_ATTR {
    const int64_t step = product.a_row;
    for (int64_t block = 0; block < product.depth; block += 2 * kDepth) {
      // Takes two blocks, of which the second one may lack some terms or all.
      const int64_t terms = HWY_MIN(kDepth, product.depth - block);
      const int64_t terms2 = HWY_MIN(kDepth, product.depth - block - terms);
      TransposePairs(product, j, count, block, terms, squares);
      if (terms2 > 0) TransposePairs(product, j, count, block + kDepth, terms2, squares + kSquares);
      const float* x = a + block;
      float* to = sums;
      int64_t row = 0;
      for (; row + 2 <= rows && terms2 == kDepth; row += 2, x += 2 * step, to += 2 * kSide) {
        AddTwoSidesPairs(x, x + step, squares, squares, to, to + kSide);
        AddTwoSidesPairs(x + kDepth, x + step + kDepth, squares + kSquares, squares + kSquares, to,
                         to + kSide);
      }
      for (; row < rows; ++row, x += step, to += kSide) {
        if (terms2 == kDepth) {
          AddTwoSidesPairs(x, x + kDepth, squares, squares + kSquares, to, to);
          continue;
        }
        AddSidePairs(x, squares, terms, to);
        if (terms2 > 0) AddSidePairs(x + kDepth, squares + kSquares, terms2, to);
      }
    }
  });
}

// Reads lines one after the other, which hardware prefetchers follow.
template <class Elements>
void MultiplyLinesEvenOdd(const char* a, int64_t a_line, const char* b, int64_t b_line, int64_t depth,
                          int64_t lines, float* c) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(typename Elements::Type));
  HWY_ALIGN float x[kEvenOddDepth * kSide], y[kEvenOddDepth * kSide];
  for (; lines > 0; lines -= kSide, a += kSide * a_line, b += kSide * b_line, c += kSide) {
    const int64_t some = HWY_MIN(kSide, lines);
    HWY_ALIGN float sums[kSide];
    for (int64_t k = 0; k < depth; k += kSide) {
      const int64_t terms = HWY_MIN(kSide, depth - k);
      TransposeSome<Elements>(a + k * kSize, a_line, some, terms, x + k * kSide);
      TransposeSome<Elements>(b + k * kSize, b_line, some, terms, y + k * kSide);
    }
    AddSideEvenOdd<true>(x, y, depth, sums, false);
    std::memcpy(c, sums, static_cast<size_t>(some) * sizeof(float));
  }
}

inline void MultiplyPanelsEvenOdd(const float* a, const float* b, int64_t depth, float* c) {
  const DF d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto width = static_cast<int64_t>(PanelColumns());
  for (int64_t j = 0; j < width; j += lanes) {
    VF even = hn::Zero(d), odd = hn::Zero(d);
    for (int64_t k = 0; k < depth; ++k) {
      const VF x = hn::LoadU(d, a + k * width + j);
      const VF y = hn::LoadU(d, b + k * width + j);
      if (k % 2 == 0) {
        even = functions::Fma(d, x, y, even);
      } else {
        odd = functions::Fma(d, x, y, odd);
      }
    }
    hn::StoreU(hn::Add(even, odd), d, c + j);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
