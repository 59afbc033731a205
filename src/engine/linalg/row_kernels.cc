// The loops over rows of numbers for each instruction set (see row_kernels.h). Products are made in tiles of registers,
// whose chains wait in the result between blocks of terms.
// SPDX-License-Identifier: Apache-2.0
#include "engine/linalg/row_kernels.h"

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/linalg/row_kernels.cc"
#include "base/foreach_target.h"

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "engine/functions/primitives-inl.h"
#include "engine/thread_memory.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace linalg {

namespace hn = hwy::HWY_NAMESPACE;

// As many sums as fit the registers, beside a row of b and one number of a.
#if HWY_TARGET == HWY_AVX3
constexpr int kRows = 14, kVectors = 2;
#elif HWY_TARGET == HWY_AVX2
constexpr int kRows = 6, kVectors = 2;
#elif HWY_HAVE_SCALABLE
constexpr int kRows = 4, kVectors = 1;
#elif HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
constexpr int kRows = 2, kVectors = HWY_TARGET == HWY_SCALAR ? 8 : 2;
#else
constexpr int kRows = 6, kVectors = 4;
#endif

// Rows and terms that are packed at a time. Terms of complex numbers count twice.
constexpr int64_t kRowsTogether = 84;
constexpr int64_t kTermsTogether = 128;
// A thread without memory packs fewer, on its stack.
constexpr int64_t kFewRows = 12;
constexpr int64_t kFewTerms = 16;
constexpr int64_t kBetweenRows = 16;  // which makes rows start in different cache sets
constexpr int64_t kMostColumns = 128;
static_assert((kRowsTogether * (kTermsTogether + kBetweenRows) + kTermsTogether * kMostColumns) *
                  int64_t{sizeof(double)} <=
              kGemmMemoryBytes);

template <class T>
struct Packed {
  T* a;
  T* b;
  int64_t rows;
  int64_t terms;
};

template <class T>
HWY_INLINE int64_t PanelColumns() {
  return kVectors * static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
}

// Adds to kCount rows of a panel.
#if HWY_HAVE_SCALABLE
template <int kCount, class T>
void AddRows(const T* a, int64_t a_row, const T* b, int64_t b_term, int64_t depth, T* c, int64_t c_row) {
  const hn::ScalableTag<T> d;
  // Missing rows repeat an existing one and are not written.
  const int64_t second = kCount > 1 ? 1 : 0, third = kCount > 2 ? 2 : 0, fourth = kCount > 3 ? 3 : 0;
  auto s0 = hn::LoadU(d, c);
  auto s1 = hn::LoadU(d, c + second * c_row);
  auto s2 = hn::LoadU(d, c + third * c_row);
  auto s3 = hn::LoadU(d, c + fourth * c_row);
  for (int64_t k = 0; k < depth; ++k, b += b_term) {
    const auto row = hn::LoadU(d, b);
    s0 = functions::Fma(d, hn::Set(d, a[k]), row, s0);
    s1 = functions::Fma(d, hn::Set(d, a[second * a_row + k]), row, s1);
    s2 = functions::Fma(d, hn::Set(d, a[third * a_row + k]), row, s2);
    s3 = functions::Fma(d, hn::Set(d, a[fourth * a_row + k]), row, s3);
  }
  hn::StoreU(s0, d, c);
  if (kCount > 1) hn::StoreU(s1, d, c + c_row);
  if (kCount > 2) hn::StoreU(s2, d, c + 2 * c_row);
  if (kCount > 3) hn::StoreU(s3, d, c + 3 * c_row);
}
#else
template <int kCount, class T>
void AddRows(const T* HWY_RESTRICT a, int64_t a_row, const T* HWY_RESTRICT b, int64_t b_term, int64_t depth,
             T* c, int64_t c_row) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(hn::ScalableTag<T>()));
  V sum[kCount][kVectors];
  HWY_UNROLL(kRows)
  for (int r = 0; r < kCount; ++r) {
    HWY_UNROLL(kVectors)
    for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::LoadU(d, c + r * c_row + v * kLanes);
  }
  for (int64_t k = 0; k < depth; ++k) {
    V row[kVectors];
    HWY_UNROLL(kVectors)
    for (int v = 0; v < kVectors; ++v) row[v] = hn::LoadU(d, b + v * kLanes);
    HWY_UNROLL(kRows)
    for (int r = 0; r < kCount; ++r) {
      const V x = hn::Set(d, a[r * a_row + k]);
      HWY_UNROLL(kVectors)
      for (int v = 0; v < kVectors; ++v) sum[r][v] = functions::Fma(d, x, row[v], sum[r][v]);
    }
    b += b_term;
  }
  HWY_UNROLL(kRows)
  for (int r = 0; r < kCount; ++r) {
    HWY_UNROLL(kVectors)
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[r][v], d, c + r * c_row + v * kLanes);
  }
}
#endif

template <class T>
void AddPanel(const T* a, int64_t a_row, const T* b, int64_t b_term, int64_t depth, int64_t rows, T* c,
              int64_t c_row) {
  const auto some = [&]<int kCount>() {
    for (; rows >= kCount; rows -= kCount, a += kCount * a_row, c += kCount * c_row)
      AddRows<kCount>(a, a_row, b, b_term, depth, c, c_row);
  };
  some.template operator()<kRows>();
  if constexpr (kRows > 8) some.template operator()<8>();
  if constexpr (kRows > 4) some.template operator()<4>();
  if constexpr (kRows > 2) some.template operator()<2>();
  some.template operator()<1>();
}

// Packs lines of a part of the product: a complex term is two real ones.
template <class T>
void PackLeft(const RowsProduct<T>& product, int64_t part, int64_t lines, int64_t terms, int64_t pitch,
              T* to) {
  const LeftNumbers<T>& a = product.a;
  const T sign = product.subtracts ? T{-1} : T{1};
  if (product.parts == 1 && a.term == 1) {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t line = 0; line < lines; ++line) {
      const T* const from = a.base + line * a.line;
      T* const row = to + line * pitch;
      int64_t k = 0;
      for (; k + lanes <= terms; k += lanes)
        hn::StoreU(hn::Mul(hn::LoadU(d, from + k), hn::Set(d, sign)), d, row + k);
      for (; k < terms; ++k) row[k] = sign * from[k];
    }
    return;
  }
  if (product.parts == 1) {
    for (int64_t k = 0; k < terms; ++k) {
      const T* const from = a.base + k * a.term;
      for (int64_t line = 0; line < lines; ++line) to[line * pitch + k] = sign * from[line * a.line];
    }
    return;
  }
  const T of_imaginary = (part == 0) == a.conjugates ? sign : -sign;
  for (int64_t line = 0; line < lines; ++line) {
    const T* from = a.base + line * a.line;
    T* const row = to + line * pitch;
    for (int64_t k = 0; k < terms; ++k, from += a.term) {
      row[2 * k] = sign * from[0];
      row[2 * k + 1] = of_imaginary * from[a.part];
    }
  }
}

// Packs a panel, padded with 0.
template <class T>
void PackRight(const RowsProduct<T>& product, int64_t part, const T* from, int64_t columns, int64_t terms,
               T* to) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t width = PanelColumns<T>();
  const auto copy = [&](const T* row) HWY_ATTR {
    if (columns == width) {
      for (int64_t j = 0; j < width; j += lanes) hn::StoreU(hn::LoadU(d, row + j), d, to + j);
    } else {
      std::fill(std::copy_n(row, columns, to), to + width, T{0});
    }
    to += width;
  };
  for (int64_t k = 0; k < terms; ++k, from += product.b_term) {
    copy(from + part * product.b_part);
    if (product.parts == 2) copy(from + (1 - part) * product.b_part);
  }
}

template <class T>
void AddColumns(const RowsProduct<T>& product, int64_t part, int64_t rows, int64_t terms, int64_t pitch,
                const T* b, T* c, const Packed<T>& packed) {
  const int64_t width = PanelColumns<T>();
  const int64_t depth = terms * product.parts;
  for (int64_t j = 0; j < product.columns; j += width) {
    const int64_t columns = std::min(width, product.columns - j);
    // A panel that few rows use is read as it is.
    if (columns == width && product.parts == 1 && rows <= int64_t{2} * kRows) {
      AddPanel(packed.a, pitch, b + j, product.b_term, depth, rows, c + j, product.c_row);
      continue;
    }
    PackRight(product, part, b + j, columns, terms, packed.b);
    if (columns == width) {
      AddPanel(packed.a, pitch, packed.b, width, depth, rows, c + j, product.c_row);
      continue;
    }
    T some[kRows * kMostColumns];
    for (int64_t row = 0; row < rows; row += kRows) {
      const int64_t count = std::min<int64_t>(kRows, rows - row);
      T* const at = c + row * product.c_row + j;
      for (int64_t i = 0; i < count; ++i)
        std::fill(std::copy_n(at + i * product.c_row, columns, some + i * width), some + (i + 1) * width,
                  T{0});
      AddPanel(packed.a + row * pitch, pitch, packed.b, width, depth, count, some, width);
      for (int64_t i = 0; i < count; ++i) std::copy_n(some + i * width, columns, at + i * product.c_row);
    }
  }
}

template <class T>
void AddPacked(const RowsProduct<T>& product, const Packed<T>& packed) {
  const int64_t step = packed.terms / product.parts;
  const int64_t pitch = packed.terms + kBetweenRows;
  for (int64_t term = 0; term < product.depth; term += step) {
    const int64_t terms = std::min(step, product.depth - term);
    for (int64_t row = 0; row < product.rows; row += packed.rows) {
      const int64_t rows = std::min(packed.rows, product.rows - row);
      RowsProduct<T> some = product;
      some.a = product.a.From(row, term);
      for (int64_t part = 0; part < product.parts; ++part) {
        PackLeft(some, part, rows, terms, pitch, packed.a);
        AddColumns(some, part, rows, terms, pitch, product.b + term * product.b_term,
                   product.c + row * product.c_row + part * product.c_part, packed);
      }
    }
  }
}

template <class T>
void AddProduct(const RowsProduct<T>& product) {
  if (auto* const memory = reinterpret_cast<T*>(ThreadMemory(MemoryUse::kGemm)); memory != nullptr) {
    T* const panel = memory + kRowsTogether * (kTermsTogether + kBetweenRows);
    return AddPacked(product, {memory, panel, kRowsTogether, kTermsTogether});
  }
  T numbers[kFewRows * (kFewTerms + kBetweenRows) + kFewTerms * kMostColumns];
  AddPacked(product, {numbers, numbers + kFewRows * (kFewTerms + kBetweenRows), kFewRows, kFewTerms});
}

// Calls f(tag, i) for vectors of n numbers, then for single numbers.
template <class T, class F>
HWY_INLINE void ForVectors(int64_t n, const F& f) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) f(d, i);
  for (; i < n; ++i) f(hn::CappedTag<T, 1>(), i);
}

template <class T>
void Add(T a, const T* x, T* y, int64_t n) {
  ForVectors<T>(n, [&](auto d, int64_t i) HWY_ATTR {
    hn::StoreU(functions::Fma(d, hn::Set(d, a), hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, y + i);
  });
}
template <class T>
void Scale(T* x, T by, int64_t n) {
  ForVectors<T>(n, [&](auto d, int64_t i)
                       HWY_ATTR { hn::StoreU(hn::Mul(hn::LoadU(d, x + i), hn::Set(d, by)), d, x + i); });
}
template <class T>
void Divide(T* real, T* imaginary, T by_real, T by_imaginary, int64_t n) {
  if (imaginary == nullptr) {
    return ForVectors<T>(n, [&](auto d, int64_t i) HWY_ATTR {
      hn::StoreU(hn::Div(hn::LoadU(d, real + i), hn::Set(d, by_real)), d, real + i);
    });
  }
  const bool is_real_greater = std::fabs(by_real) >= std::fabs(by_imaginary);
  const T ratio = is_real_greater ? by_imaginary / by_real : by_real / by_imaginary;
  const T scaled = ratio * (is_real_greater ? by_imaginary : by_real);
  const T divisor = is_real_greater ? by_real + scaled : scaled + by_imaginary;
  ForVectors<T>(n, [&](auto d, int64_t i) HWY_ATTR {
    const auto x = hn::LoadU(d, real + i);
    const auto y = hn::LoadU(d, imaginary + i);
    const auto r = hn::Set(d, ratio);
    const auto by = hn::Set(d, divisor);
    const auto first = is_real_greater ? hn::Add(x, hn::Mul(y, r)) : hn::Add(hn::Mul(x, r), y);
    const auto second = is_real_greater ? hn::Sub(y, hn::Mul(x, r)) : hn::Sub(hn::Mul(y, r), x);
    hn::StoreU(hn::Div(first, by), d, real + i);
    hn::StoreU(hn::Div(second, by), d, imaginary + i);
  });
}

// Adds the products of n numbers, a multiple of kSumChains, to the chains of kCount sums.
template <int kCount, class T>
HWY_INLINE void AddChains(const T* x, const T* y, int64_t y_row, int64_t n, T* chains) {
#if HWY_HAVE_SCALABLE || HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  const hn::CappedTag<T, kSumChains> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t j = 0; j < kCount; ++j) {
    for (int64_t at = 0; at < kSumChains; at += lanes) {
      auto sum = hn::LoadU(d, chains + j * kSumChains + at);
      for (int64_t i = at; i < n; i += kSumChains)
        sum = functions::Fma(d, hn::LoadU(d, x + i), hn::LoadU(d, y + j * y_row + i), sum);
      hn::StoreU(sum, d, chains + j * kSumChains + at);
    }
  }
#else
  using D = hn::CappedTag<T, kSumChains>;
  const D d;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(D()));
  constexpr int kParts = static_cast<int>(kSumChains / kLanes);
  hn::Vec<D> sum[kCount][kParts];
  for (int j = 0; j < kCount; ++j) {
    for (int p = 0; p < kParts; ++p) sum[j][p] = hn::LoadU(d, chains + j * kSumChains + p * kLanes);
  }
  for (int64_t i = 0; i < n; i += kSumChains) {
    for (int p = 0; p < kParts; ++p) {
      const auto numbers = hn::LoadU(d, x + i + p * kLanes);
      for (int j = 0; j < kCount; ++j)
        sum[j][p] = functions::Fma(d, numbers, hn::LoadU(d, y + j * y_row + i + p * kLanes), sum[j][p]);
    }
  }
  for (int j = 0; j < kCount; ++j) {
    for (int p = 0; p < kParts; ++p) hn::StoreU(sum[j][p], d, chains + j * kSumChains + p * kLanes);
  }
#endif
}

// Adds halves of some chains.
template <int64_t kHalf, class T>
HWY_INLINE void AddHalves(T* chains) {
  if constexpr (kHalf > 0) {
    for (int64_t i = 0; i < kHalf; ++i) chains[i] += chains[i + kHalf];
    AddHalves<kHalf / 2>(chains);
  }
}

template <int kCount, class T>
void SumsOf(const T* x, const T* y, int64_t y_row, int64_t n, T* sums) {
  T chains[kCount * kSumChains] = {};
  AddChains<kCount>(x, y, y_row, n, chains);
  for (int j = 0; j < kCount; ++j) {
    AddHalves<kSumChains / 2>(chains + j * kSumChains);
    sums[j] = chains[j * kSumChains];
  }
}

template <class T>
void Sums(const T* x, const T* y, int64_t y_row, int64_t count, int64_t n, T* sums) {
  n = (n + kSumChains - 1) / kSumChains * kSumChains;
  int64_t j = 0;
  for (; j + 4 <= count; j += 4) SumsOf<4>(x, y + j * y_row, y_row, n, sums + j);
  for (; j < count; ++j) SumsOf<1>(x, y + j * y_row, y_row, n, sums + j);
}

template <class T>
T Greatest(const T* real, const T* imaginary, int64_t n, int64_t* first) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto size_at = [&](int64_t i) HWY_ATTR {
    const auto size = hn::Abs(hn::LoadU(d, real + i));
    return imaginary == nullptr ? size : hn::Add(size, hn::Abs(hn::LoadU(d, imaginary + i)));
  };
  const auto size_of = [&](int64_t i) {
    return imaginary == nullptr ? std::fabs(real[i]) : std::fabs(real[i]) + std::fabs(imaginary[i]);
  };
  auto most = hn::Zero(d);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto size = size_at(i);
    most = hn::IfThenElse(hn::Gt(size, most), size, most);
  }
  T greatest = hn::GetLane(hn::MaxOfLanes(d, most));
  for (; i < n; ++i) {
    if (size_of(i) > greatest) greatest = size_of(i);
  }
  if (first == nullptr) return greatest;
  *first = 0;
  if (!(greatest > 0)) return greatest;
  for (i = 0; i + lanes <= n; i += lanes) {
    const intptr_t lane = hn::FindFirstTrue(d, hn::Eq(size_at(i), hn::Set(d, greatest)));
    if (lane < 0) continue;
    *first = i + lane;
    return greatest;
  }
  while (size_of(i) != greatest) ++i;
  *first = i;
  return greatest;
}

template <class T>
constexpr RowKernels<T> kKernels = {AddProduct<T>, Add<T>, Scale<T>, Divide<T>, Sums<T>, Greatest<T>};

}  // namespace linalg

const LinalgKernels& RowKernelsHere(Isa isa) {
  static const LinalgKernels kernels = {isa, linalg::kKernels<float>, linalg::kKernels<double>};
  return kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_table.h"

namespace portacl::engine {

const LinalgKernels& LinalgKernelsOf(Isa isa) noexcept {
  static constexpr auto kTable = PORTACL_ISA_TABLE(RowKernelsHere);
  return kTable.For(isa)(isa);
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
