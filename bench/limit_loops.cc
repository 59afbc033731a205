// Hand-written loops, pattern by pattern (see limit_loops.h), once per instruction set. They share no code with the
// library: least work for one pattern, not for all.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "limit_loops.cc"
// clang-format off
#include "hwy/foreach_target.h"
// clang-format on
#include "hwy/cache_control.h"
#include "hwy/highway.h"

#include "limit_loops.h"

#ifndef PORTACL_BENCH_LIMITS
#define PORTACL_BENCH_LIMITS
namespace portacl::bench {

struct LimitData {
  const std::byte* in[3];
  std::byte* out;
  size_t rows;
  size_t columns;
  double* scratch;
};

// How a loop cuts its data, where it has a choice.
struct Block {
  size_t rows = 0;
  size_t columns = 0;
  size_t ahead = 0;  // bytes, rows or columns, as the loop says
};

using LimitFunction = void (*)(const LimitData& data, const Block& block, size_t part, size_t parts);

struct NamedLoop {
  const char* name;
  LimitFunction function;
  Block block = {};
};

// Terms or rows that are added before a tree combines them, and lanes: see the order of additions in docs/numerics.md.
inline constexpr size_t kTermsOfBlock = 4096;
inline constexpr size_t kRowsOfBlock = 256;
inline constexpr size_t kSumLanes = 16;
inline constexpr size_t kTreeLevels = 8;  // over blocks of rows

}  // namespace portacl::bench
#endif

HWY_BEFORE_NAMESPACE();
namespace portacl::bench {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE

// Vectors of one lane, or of no fixed length, of which there are no arrays.
std::vector<NamedLoop> FindLoops(const Case&) { return {}; }

#else

namespace hn = hwy::HWY_NAMESPACE;
using DF = hn::ScalableTag<float>;
using DU = hn::ScalableTag<uint32_t>;
using DH = hn::ScalableTag<uint16_t>;
using DD = hn::ScalableTag<double>;
using VF = hn::Vec<DF>;
using VU = hn::Vec<DU>;
using VD = hn::Vec<DD>;
constexpr size_t kFloats = hn::MaxLanes(DF());
constexpr size_t kDoubles = kFloats / 2;

// A masked store that touches nothing else is an instruction of AVX-512 alone.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr bool kMasksStores = true;
#else
constexpr bool kMasksStores = false;
#endif

// ---- elements ----

// What one vector's worth of elements becomes. Constructors are written out where members are vectors: gcc takes its
// own for code of no instruction set.
template <int kParts>
struct Pack {
  HWY_INLINE Pack() {}  // NOLINT(*-member-init, *-use-equals-default)
  VF part[kParts];
};

template <bool kStream, class D>
HWY_INLINE void Put(D d, hn::Vec<D> v, hn::TFromD<D>* to) {
  if constexpr (kStream) {
    hn::Stream(v, d, to);
  } else {
    hn::StoreU(v, d, to);
  }
}

HWY_INLINE VU BitsRoundedToBf16(VF value) {
  const DU du;
  const VU bits = hn::BitCast(du, value);
  const VU odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
  const VU rounded = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7FFFu)));
  return hn::IfThenElse(hn::RebindMask(du, hn::Eq(value, value)), rounded, hn::Set(du, 0x7FC00000u));
}

struct F32 {
  using T = float;
  static constexpr int kParts = 1;
  static constexpr size_t kStep = 1;  // elements of memory from one to the next
  static HWY_INLINE Pack<1> Load(const T* from) {
    Pack<1> pack;
    pack.part[0] = hn::LoadU(DF(), from);
    return pack;
  }
  template <bool kStream>
  static HWY_INLINE void Store(const Pack<1>& pack, T* to) {
    Put<kStream>(DF(), pack.part[0], to);
  }
  // The place in its pack of element j of half h of part q.
  static constexpr size_t Place(size_t, size_t h, size_t j) { return h * kDoubles + j; }
};

// Elements at even and at odd places.
struct Bf16 {
  using T = uint16_t;
  static constexpr int kParts = 2;
  static constexpr size_t kStep = 1;
  static HWY_INLINE Pack<2> Load(const T* from) {
    const VU pairs = hn::BitCast(DU(), hn::LoadU(DH(), from));
    Pack<2> pack;
    pack.part[0] = hn::BitCast(DF(), hn::ShiftLeft<16>(pairs));
    pack.part[1] = hn::BitCast(DF(), hn::And(pairs, hn::Set(DU(), 0xFFFF0000u)));
    return pack;
  }
  template <bool kStream>
  static HWY_INLINE void Store(const Pack<2>& pack, T* to) {
    const auto low = hn::BitCast(DH(), hn::ShiftRight<16>(BitsRoundedToBf16(pack.part[0])));
    const auto high = hn::BitCast(DH(), BitsRoundedToBf16(pack.part[1]));
    Put<kStream>(DH(), hn::OddEven(high, low), to);
  }
  static constexpr size_t Place(size_t q, size_t h, size_t j) { return h * kFloats + q + 2 * j; }
};

// The lower and the upper half.
struct F16 {
  using T = uint16_t;
  static constexpr int kParts = 2;
  static constexpr size_t kStep = 1;
  using Half = hn::Rebind<hwy::float16_t, DF>;
  static HWY_INLINE VF Widen(const T* from) {
    return hn::PromoteTo(DF(), hn::LoadU(Half(), reinterpret_cast<const hwy::float16_t*>(from)));
  }
  static HWY_INLINE Pack<2> Load(const T* from) {
    Pack<2> pack;
    pack.part[0] = Widen(from);
    pack.part[1] = Widen(from + kFloats);
    return pack;
  }
  template <bool kStream>
  static HWY_INLINE void Store(const Pack<2>& pack, T* to) {
    const hn::Rebind<uint16_t, DF> dh;
    const auto low = hn::BitCast(dh, hn::DemoteTo(Half(), pack.part[0]));
    const auto high = hn::BitCast(dh, hn::DemoteTo(Half(), pack.part[1]));
    Put<kStream>(DH(), hn::Combine(DH(), high, low), to);
  }
  static constexpr size_t Place(size_t q, size_t h, size_t j) { return q * kFloats + h * kDoubles + j; }
};

// Every second element; what lies between is read and dropped.
struct F32EverySecond : F32 {
  static constexpr size_t kStep = 2;
  static HWY_INLINE Pack<1> Load(const T* from) {
    Pack<1> pack;
    pack.part[0] = hn::ConcatEven(DF(), hn::LoadU(DF(), from + kFloats), hn::LoadU(DF(), from));
    return pack;
  }
};

struct Bf16EverySecond {
  using T = uint16_t;
  static constexpr int kParts = 2;
  static constexpr size_t kStep = 2;
  static HWY_INLINE VF Widen(const T* from) {
    return hn::BitCast(DF(), hn::ShiftLeft<16>(hn::BitCast(DU(), hn::LoadU(DH(), from))));
  }
  static HWY_INLINE Pack<2> Load(const T* from) {
    Pack<2> pack;
    pack.part[0] = Widen(from);
    pack.part[1] = Widen(from + 2 * kFloats);
    return pack;
  }
  static constexpr size_t Place(size_t q, size_t h, size_t j) { return F16::Place(q, h, j); }
};

template <class E>
constexpr size_t kPackOf = kFloats* E::kParts;

template <class E>
HWY_INLINE const typename E::T* In(const LimitData& data, int k) {
  return reinterpret_cast<const typename E::T*>(data.in[k]);
}

// Part `part` of `count` pieces.
HWY_INLINE size_t Boundary(size_t count, size_t part, size_t parts) { return count * part / parts; }

// ---- formulas ----

HWY_INLINE VF GradientOfL1(VF gradOutput, VF self, VF target) {
  const DF d;
  const VF sign = hn::IfThenElse(hn::Gt(self, target), hn::Set(d, 1.0f),
                                 hn::IfThenElse(hn::Lt(self, target), hn::Set(d, -1.0f), hn::Zero(d)));
  return hn::Mul(sign, gradOutput);
}

struct Distance {
  static HWY_INLINE VF Of(VF self, VF target) { return hn::Abs(hn::Sub(self, target)); }
};

struct Square {
  static constexpr int kSecondInput = 1;
  static HWY_INLINE VF Of(VF self, VF target) {
    const VF difference = hn::Sub(self, target);
    return hn::Mul(difference, difference);
  }
};

// A term of KL's gradient, which has no use for self.
struct Product {
  static constexpr int kSecondInput = 2;
  static HWY_INLINE VF Of(VF gradOutput, VF target) { return hn::Neg(hn::Mul(target, gradOutput)); }
};

template <class E>
HWY_INLINE Pack<E::kParts> Gradient(const Pack<E::kParts>& gradOutput, const Pack<E::kParts>& self,
                                    const Pack<E::kParts>& target) {
  Pack<E::kParts> result;
  for (int q = 0; q < E::kParts; ++q)
    result.part[q] = GradientOfL1(gradOutput.part[q], self.part[q], target.part[q]);
  return result;
}

// ---- gradient: everything in order ----

enum class Operands { kDense, kRow, kScalarGrad };

// n elements from the given addresses on; gradOutput may be one value. Block.ahead: bytes that data is asked for ahead.
template <class E, Operands kOperands, bool kStream, int kUnroll, bool kPrefetch>
HWY_INLINE void GradientOfStretch(const typename E::T* grad, const typename E::T* self,
                                  const typename E::T* target, typename E::T* out, size_t n, size_t ahead) {
  constexpr size_t kPack = kPackOf<E>;
  Pack<E::kParts> one;
  if constexpr (kOperands == Operands::kScalarGrad) {
    HWY_ALIGN typename E::T values[kPack];
    std::fill_n(values, kPack, *grad);
    one = E::Load(values);
  }
  ahead /= sizeof(typename E::T);
  for (size_t i = 0; i < n; i += kUnroll * kPack) {
    for (size_t u = 0; u < kUnroll; ++u) {
      const size_t at = i + u * kPack;
      if constexpr (kPrefetch) {
        if constexpr (kOperands != Operands::kScalarGrad) hwy::Prefetch(grad + at + ahead);
        hwy::Prefetch(self + at + ahead);
        if constexpr (kOperands != Operands::kRow) hwy::Prefetch(target + at + ahead);
      }
    }
    for (size_t u = 0; u < kUnroll; ++u) {
      const size_t at = i + u * kPack;
      const auto g = kOperands == Operands::kScalarGrad ? one : E::Load(grad + at);
      E::template Store<kStream>(Gradient<E>(g, E::Load(self + at), E::Load(target + at)), out + at);
    }
  }
}

template <class E, Operands kOperands, bool kStream, int kUnroll, bool kPrefetch>
void GradientInOrder(const LimitData& data, const Block& block, size_t part, size_t parts) {
  const auto* const grad = In<E>(data, 0);
  const auto* const self = In<E>(data, 1);
  const auto* const target = In<E>(data, 2);
  auto* const out = reinterpret_cast<typename E::T*>(data.out);
  const size_t begin = Boundary(data.rows, part, parts) * data.columns;
  const size_t end = Boundary(data.rows, part + 1, parts) * data.columns;
  const size_t stretch = kOperands == Operands::kRow ? data.columns : end - begin;
  for (size_t at = begin; at < end; at += stretch) {
    GradientOfStretch<E, kOperands, kStream, kUnroll, kPrefetch>(
        kOperands == Operands::kScalarGrad ? grad : grad + at, self + at,
        kOperands == Operands::kRow ? target : target + at, out + at, stretch, block.ahead);
  }
  if (kStream) hwy::FlushStream();
}

// The loss, term by term; target may be a row.
template <class E, bool kRow, bool kStream, int kUnroll, bool kPrefetch>
void LossInOrder(const LimitData& data, const Block& block, size_t part, size_t parts) {
  constexpr size_t kPack = kPackOf<E>;
  const auto* const self = In<E>(data, 0);
  const auto* const target = In<E>(data, 1);
  auto* const out = reinterpret_cast<typename E::T*>(data.out);
  const size_t begin = Boundary(data.rows, part, parts) * data.columns;
  const size_t end = Boundary(data.rows, part + 1, parts) * data.columns;
  const size_t ahead = block.ahead / sizeof(typename E::T);
  size_t column = 0;
  for (size_t i = begin; i < end; i += kUnroll * kPack) {
    for (size_t u = 0; kPrefetch && u < kUnroll; ++u) {
      hwy::Prefetch(self + i + u * kPack + ahead);
      if (!kRow) hwy::Prefetch(target + i + u * kPack + ahead);
    }
    for (size_t u = 0; u < kUnroll; ++u) {
      const auto s = E::Load(self + i + u * kPack);
      const auto t = E::Load(target + (kRow ? column : i) + u * kPack);
      Pack<E::kParts> result;
      for (int q = 0; q < E::kParts; ++q) result.part[q] = Distance::Of(s.part[q], t.part[q]);
      E::template Store<kStream>(result, out + i + u * kPack);
    }
    if (kRow) column = column + kUnroll * kPack == data.columns ? 0 : column + kUnroll * kPack;
  }
  if (kStream) hwy::FlushStream();
}

// Two rows at once, so that the repeated row is loaded half as often.
template <class E>
void GradientTwoRows(const LimitData& data, const Block&, size_t part, size_t parts) {
  const auto* const target = In<E>(data, 2);
  for (size_t row = Boundary(data.rows / 2, part, parts) * 2;
       row < Boundary(data.rows / 2, part + 1, parts) * 2; row += 2) {
    const size_t first = row * data.columns;
    const auto* const grad = In<E>(data, 0) + first;
    const auto* const self = In<E>(data, 1) + first;
    auto* const out = reinterpret_cast<typename E::T*>(data.out) + first;
    for (size_t i = 0; i < data.columns; i += kPackOf<E>) {
      const auto t = E::Load(target + i);
      const size_t below = i + data.columns;
      E::template Store<true>(Gradient<E>(E::Load(grad + i), E::Load(self + i), t), out + i);
      E::template Store<true>(Gradient<E>(E::Load(grad + below), E::Load(self + below), t), out + below);
    }
  }
  hwy::FlushStream();
}

// ---- gradient: every second element ----

// Nothing is moved between lanes: what lies between two elements is computed with, and not stored.
template <class E, bool kMasked, bool kPrefetch>
void GradientEverySecond(const LimitData& data, const Block& block, size_t part, size_t parts) {
  using T = typename E::T;
  const auto* const grad = In<E>(data, 0);
  const auto* const self = In<E>(data, 1);
  const auto* const target = In<E>(data, 2);
  auto* const out = reinterpret_cast<T*>(data.out);
  const hn::ScalableTag<T> d;
  constexpr size_t kStep = hn::MaxLanes(hn::ScalableTag<T>());
  HWY_ALIGN T even[kStep];
  for (size_t i = 0; i < kStep; ++i) even[i] = static_cast<T>(i % 2 == 0);
  const auto mask = hn::Gt(hn::Load(d, even), hn::Zero(d));
  const size_t ahead = block.ahead / sizeof(T);
  const size_t end = Boundary(data.rows, part + 1, parts) * data.columns * 2;
  for (size_t i = Boundary(data.rows, part, parts) * data.columns * 2; i < end; i += kStep) {
    if constexpr (kPrefetch) {
      hwy::Prefetch(grad + i + ahead);
      hwy::Prefetch(self + i + ahead);
      hwy::Prefetch(target + i + ahead);
      __builtin_prefetch(out + i + ahead, 1);
    }
    hn::Vec<hn::ScalableTag<T>> result;
    if constexpr (sizeof(T) == sizeof(float)) {
      result = GradientOfL1(hn::LoadU(d, grad + i), hn::LoadU(d, self + i), hn::LoadU(d, target + i));
    } else {
      const VF value = GradientOfL1(Bf16EverySecond::Widen(grad + i), Bf16EverySecond::Widen(self + i),
                                    Bf16EverySecond::Widen(target + i));
      result = hn::BitCast(d, hn::ShiftRight<16>(BitsRoundedToBf16(value)));
    }
    if constexpr (kMasked && kMasksStores) {
      hn::BlendedStore(result, mask, d, out + i);
    } else {
      HWY_ALIGN T results[kStep];
      hn::Store(result, d, results);
      HWY_UNROLL(16)
      for (size_t j = 0; j < kStep; j += 2) out[i + j] = results[j];
    }
  }
}

// ---- transposition ----

// A square of kFloats columns and rows of 32 bits.
HWY_INLINE void TransposeSquare(VU* HWY_RESTRICT v) {
  const DU du;
  const hn::ScalableTag<uint64_t> dq;
  const auto low = [&](VU a, VU b) HWY_ATTR {
    return hn::BitCast(du, hn::InterleaveLower(dq, hn::BitCast(dq, a), hn::BitCast(dq, b)));
  };
  const auto high = [&](VU a, VU b) HWY_ATTR {
    return hn::BitCast(du, hn::InterleaveUpper(dq, hn::BitCast(dq, a), hn::BitCast(dq, b)));
  };
  VU w[kFloats];
  HWY_UNROLL(4)
  for (size_t g = 0; g < kFloats; g += 4) {
    const VU a = hn::InterleaveLower(du, v[g], v[g + 1]);
    const VU b = hn::InterleaveUpper(du, v[g], v[g + 1]);
    const VU c = hn::InterleaveLower(du, v[g + 2], v[g + 3]);
    const VU e = hn::InterleaveUpper(du, v[g + 2], v[g + 3]);
    w[g] = low(a, c);
    w[g + 1] = high(a, c);
    w[g + 2] = low(b, e);
    w[g + 3] = high(b, e);
  }
  // Block b of w[4 * g + e] is block g of row 4 * b + e.
  HWY_UNROLL(4)
  for (size_t e = 0; e < 4; ++e) {
    if constexpr (kFloats == 16) {
      const VU a01 = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(w[4 + e]), w[e]);
      const VU b01 = hn::OddEvenBlocks(w[4 + e], hn::SwapAdjacentBlocks(w[e]));
      const VU a23 = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(w[12 % kFloats + e]), w[8 % kFloats + e]);
      const VU b23 = hn::OddEvenBlocks(w[12 % kFloats + e], hn::SwapAdjacentBlocks(w[8 % kFloats + e]));
      v[e] = hn::ConcatLowerLower(du, a23, a01);
      v[4 + e] = hn::ConcatLowerLower(du, b23, b01);
      v[8 % kFloats + e] = hn::ConcatUpperUpper(du, a23, a01);
      v[12 % kFloats + e] = hn::ConcatUpperUpper(du, b23, b01);
    } else if constexpr (kFloats == 8) {
      v[e] = hn::ConcatLowerLower(du, w[4 + e], w[e]);
      v[4 + e] = hn::ConcatUpperUpper(du, w[4 + e], w[e]);
    } else {
      v[e] = w[e];
    }
  }
}

// One whole vector of each of as many columns, transposed: row i goes to to + i * pitch.
HWY_INLINE void TransposeTile(const float* from, size_t stride, float* to, size_t pitch) {
  VU v[kFloats];
  HWY_UNROLL(16)
  for (size_t c = 0; c < kFloats; ++c) v[c] = hn::BitCast(DU(), hn::LoadU(DF(), from + c * stride));
  TransposeSquare(v);
  HWY_UNROLL(16)
  for (size_t r = 0; r < kFloats; ++r) hn::StoreU(hn::BitCast(DF(), v[r]), DF(), to + r * pitch);
}

// Neighbouring columns are paired first; pairs are then transposed as 32 bits.
HWY_INLINE void TransposeTile(const uint16_t* from, size_t stride, uint16_t* to, size_t pitch) {
  const DU du;
  VU low[kFloats];
  VU high[kFloats];
  HWY_UNROLL(16)
  for (size_t c = 0; c < kFloats; ++c) {
    const auto first = hn::LoadU(DH(), from + 2 * c * stride);
    const auto second = hn::LoadU(DH(), from + (2 * c + 1) * stride);
    low[c] = hn::BitCast(du, hn::InterleaveLower(DH(), first, second));
    high[c] = hn::BitCast(du, hn::InterleaveUpper(DH(), first, second));
  }
  TransposeSquare(low);
  TransposeSquare(high);
  // Interleaving works in blocks of 8 rows, of which `low` has the first 4.
  for (size_t r = 0; r < kFloats; ++r) {
    const size_t row = r / 4 * 8 + r % 4;
    hn::StoreU(hn::BitCast(DH(), low[r]), DH(), to + row * pitch);
    hn::StoreU(hn::BitCast(DH(), high[r]), DH(), to + (row + 4) * pitch);
  }
}

// `rows` elements of each of `columns` columns, column c at from + c * stride. Asks for the lines of the columns that
// come `ahead` columns later.
template <class T>
HWY_INLINE void TransposeBlock(const T* from, size_t stride, size_t rows, size_t columns, T* to, size_t pitch,
                               size_t ahead) {
  constexpr size_t kTile = hn::MaxLanes(hn::ScalableTag<T>());
  for (size_t c = 0; c < columns; c += kTile) {
    for (size_t r = 0; r < rows; r += kTile) {
      if (ahead != 0) {
        for (size_t i = 0; i < kTile; ++i) hwy::Prefetch(from + (c + i + ahead) * stride + r);
      }
      TransposeTile(from + c * stride + r, stride, to + r * pitch + c, pitch);
    }
  }
}

// Elements of a block's copy: rows a power of two apart would share a few places in the first-level cache.
template <class T>
constexpr size_t kGapOf = 64 / sizeof(T);

constexpr size_t kCopyBytes = size_t{512} << 10;

template <class T>
T* CopyOfBlock() {
  alignas(64) static thread_local std::byte memory[kCopyBytes];
  return reinterpret_cast<T*>(memory);
}

// ---- gradient: target lies across ----

// Blocks of Block.rows rows and Block.columns columns, one below the other: target's block is transposed into a copy,
// then the rows are computed. Block.ahead: how many rows ahead gradOutput and self are asked for; 0: not at all.
template <class E, bool kDown>
void GradientOneTransposed(const LimitData& data, const Block& block, size_t part, size_t parts) {
  using T = typename E::T;
  const size_t pitch = block.columns + kGapOf<T>;
  T* const copy = CopyOfBlock<T>();
  const size_t blocks_down = data.rows / block.rows;
  const size_t blocks_beside = data.columns / block.columns;
  const size_t blocks = blocks_down * blocks_beside;
  constexpr size_t kTile = hn::MaxLanes(hn::ScalableTag<T>());
  for (size_t i = Boundary(blocks, part, parts); i < Boundary(blocks, part + 1, parts); ++i) {
    const size_t row = (kDown ? i % blocks_down : i / blocks_beside) * block.rows;
    const size_t column = (kDown ? i / blocks_down : i % blocks_beside) * block.columns;
    TransposeBlock(In<E>(data, 2) + column * data.rows + row, data.rows, block.rows, block.columns, copy,
                   pitch, block.ahead != 0 ? kTile : 0);
    const size_t first = row * data.columns + column;
    const auto* const grad = In<E>(data, 0) + first;
    const auto* const self = In<E>(data, 1) + first;
    auto* const out = reinterpret_cast<T*>(data.out) + first;
    for (size_t r = 0; r < block.rows; ++r) {
      const size_t at = r * data.columns;
      if (block.ahead != 0) {
        const size_t later = at + block.ahead * data.columns;
        for (size_t c = 0; c < block.columns; c += 64 / sizeof(T)) {
          hwy::Prefetch(grad + later + c);
          hwy::Prefetch(self + later + c);
        }
      }
      GradientOfStretch<E, Operands::kDense, true, 1, false>(grad + at, self + at, copy + r * pitch, out + at,
                                                             block.columns, 0);
    }
  }
  hwy::FlushStream();
}

// ---- vectors of sums ----

template <size_t kCount>
struct SumVectors {
  static constexpr size_t kSums = kCount;

  HWY_INLINE SumVectors() {}  // NOLINT(*-member-init, *-use-equals-default)
  HWY_INLINE void Clear() {
    for (VD& v : sum) v = hn::Zero(DD());
  }
  HWY_INLINE void Load(const double* from) {
    for (size_t i = 0; i < kCount; ++i) sum[i] = hn::LoadU(DD(), from + i * kDoubles);
  }
  HWY_INLINE void Store(double* to) const {
    for (size_t i = 0; i < kCount; ++i) hn::StoreU(sum[i], DD(), to + i * kDoubles);
  }
  // The lower half of the terms onto one vector, the upper half onto another.
  HWY_INLINE void AddHalves(VF term, size_t low, size_t high) {
    const hn::Half<DF> half;
    sum[low] = hn::Add(sum[low], hn::PromoteTo(DD(), hn::LowerHalf(half, term)));
    sum[high] = hn::Add(sum[high], hn::PromoteTo(DD(), hn::UpperHalf(half, term)));
  }

  VD sum[kCount];
};

// ---- sums in lanes ----

template <class E>
struct LaneSums : SumVectors<kSumLanes / kDoubles> {
  static constexpr size_t kGroup = HWY_MAX(kSumLanes, kPackOf<E>);
  static constexpr size_t kPacks = kGroup / kPackOf<E>;

  // Which of the vectors of sums takes half h of part q of pack p of a group: terms 16 apart share a lane.
  static constexpr size_t Sum(size_t p, size_t q, size_t h) {
    const size_t first = (p * kPackOf<E> + E::Place(q, h, 0)) % kSumLanes;
    return E::Place(0, 0, 1) == 2 ? first / kFloats * 2 + first % 2 : first / kDoubles;
  }
  static constexpr size_t Lane(size_t sum, size_t j) {
    return E::Place(0, 0, 1) == 2 ? sum / 2 * kFloats + sum % 2 + 2 * j : sum * kDoubles + j;
  }

  HWY_INLINE LaneSums() {}  // NOLINT(*-use-equals-default)
  template <class Term>
  HWY_INLINE void Add(const typename E::T* self, const typename E::T* target) {
    HWY_UNROLL(4)
    for (size_t p = 0; p < kPacks; ++p) {
      const auto s = E::Load(self + p * kPackOf<E> * E::kStep);
      const auto t = E::Load(target + p * kPackOf<E> * E::kStep);
      HWY_UNROLL(2)
      for (size_t q = 0; q < E::kParts; ++q)
        AddHalves(Term::Of(s.part[q], t.part[q]), Sum(p, q, 0), Sum(p, q, 1));
    }
  }
  HWY_INLINE double Total() const {
    HWY_ALIGN double as_stored[kSumLanes];
    Store(as_stored);
    return TotalOf(as_stored);
  }
  static double TotalOf(const double* as_stored) {
    double lane[kSumLanes];
    for (size_t i = 0; i < kSums; ++i) {
      for (size_t j = 0; j < kDoubles; ++j) lane[Lane(i, j)] = as_stored[i * kDoubles + j];
    }
    for (size_t width = kSumLanes / 2; width > 0; width /= 2) {
      for (size_t i = 0; i < width; ++i) lane[i] += lane[i + width];
    }
    return lane[0];
  }
};

// The sums of blocks go to scratch. kAtOnce blocks are added side by side, so that additions need not wait for each
// other. Block.ahead: bytes that data is asked for ahead. Target may be a row as long as a block.
template <class E, bool kRow, size_t kAtOnce, bool kPrefetch>
void MeanInOrder(const LimitData& data, const Block& block, size_t part, size_t parts) {
  using T = typename E::T;
  constexpr size_t kGroup = LaneSums<E>::kGroup;
  const size_t blocks = data.rows * data.columns / kTermsOfBlock;
  const size_t ahead = block.ahead / sizeof(T);
  for (size_t b = Boundary(blocks / kAtOnce, part, parts) * kAtOnce;
       b < Boundary(blocks / kAtOnce, part + 1, parts) * kAtOnce; b += kAtOnce) {
    const T* const self = In<E>(data, 0) + b * kTermsOfBlock * E::kStep;
    const T* const target = In<E>(data, 1) + (kRow ? 0 : b * kTermsOfBlock * E::kStep);
    LaneSums<E> sums[kAtOnce];
    for (auto& one : sums) one.Clear();
    for (size_t i = 0; i < kTermsOfBlock * E::kStep; i += kGroup * E::kStep) {
      HWY_UNROLL(4)
      for (size_t k = 0; k < kAtOnce; ++k) {
        const size_t at = i + k * kTermsOfBlock * E::kStep;
        if constexpr (kPrefetch) {
          for (size_t line = 0; line < kGroup * E::kStep; line += 64 / sizeof(T)) {
            hwy::Prefetch(self + at + line + ahead);
            if (!kRow) hwy::Prefetch(target + at + line + ahead);
          }
        }
        sums[k].template Add<Distance>(self + at, target + (kRow ? i : at));
      }
    }
    for (size_t k = 0; k < kAtOnce; ++k) data.scratch[b + k] = sums[k].Total();
  }
}

// Target lies across: bands of Block.rows rows and all columns, Block.columns of them transposed at once. Rows are as
// long as blocks.
template <class E>
void MeanOneTransposed(const LimitData& data, const Block& block, size_t part, size_t parts) {
  using T = typename E::T;
  constexpr size_t kTile = hn::MaxLanes(hn::ScalableTag<T>());
  constexpr size_t kGroup = LaneSums<E>::kGroup;
  const size_t pitch = block.columns + kGapOf<T>;
  T* const copy = CopyOfBlock<T>();
  HWY_ALIGN double sums[256][kSumLanes];
  const size_t bands = data.rows / block.rows;
  for (size_t band = Boundary(bands, part, parts); band < Boundary(bands, part + 1, parts); ++band) {
    const size_t row = band * block.rows;
    std::fill_n(sums[0], block.rows * kSumLanes, 0.0);
    for (size_t column = 0; column < data.columns; column += block.columns) {
      TransposeBlock(In<E>(data, 1) + column * data.rows + row, data.rows, block.rows, block.columns, copy,
                     pitch, block.ahead != 0 ? kTile : 0);
      for (size_t r = 0; r < block.rows; ++r) {
        const T* const self = In<E>(data, 0) + (row + r) * data.columns + column;
        LaneSums<E> lanes;
        lanes.Load(sums[r]);
        for (size_t c = 0; c < block.columns; c += kGroup) {
          if (block.ahead != 0) hwy::Prefetch(self + c + block.ahead * data.columns);
          lanes.template Add<Distance>(self + c, copy + r * pitch + c);
        }
        lanes.Store(sums[r]);
      }
    }
    for (size_t r = 0; r < block.rows; ++r) data.scratch[row + r] = LaneSums<E>::TotalOf(sums[r]);
  }
}

// ---- sums side by side ----

// One pack of terms onto sums that lie in memory as a pack's parts and halves come.
template <class E>
struct PackSums : SumVectors<2 * E::kParts> {
  HWY_INLINE PackSums() {}  // NOLINT(*-use-equals-default)
  template <class Term>
  HWY_INLINE void Add(const typename E::T* self, const typename E::T* target) {
    const auto s = E::Load(self);
    const auto t = E::Load(target);
    HWY_UNROLL(2)
    for (size_t q = 0; q < E::kParts; ++q) this->AddHalves(Term::Of(s.part[q], t.part[q]), 2 * q, 2 * q + 1);
  }
};

// Sums as PackSums has them -> in order.
template <class E>
void InOrder(const double* sums, size_t n, double* to) {  // NOLINT(readability-non-const-parameter)
  for (size_t i = 0; i < n; i += kPackOf<E>) {
    for (size_t k = 0; k < PackSums<E>::kSums; ++k) {
      for (size_t j = 0; j < kDoubles; ++j) to[i + E::Place(k / 2, k % 2, j)] = sums[i + k * kDoubles + j];
    }
  }
}

constexpr size_t kMostColumns = 8192;

double* ColumnSumsMemory() {
  alignas(64) static thread_local double memory[(kTreeLevels + 1) * kMostColumns];
  return memory;
}

// Adds a block's sums to the tree that pairs neighbours; level i holds 2^i blocks.
HWY_INLINE void AddToTree(double* sums, size_t columns, size_t block, double* levels) {
  size_t level = 0;
  for (size_t count = block; (count & 1) != 0; count >>= 1, ++level) {
    for (size_t i = 0; i < columns; ++i) sums[i] = levels[level * columns + i] + sums[i];
  }
  std::copy_n(sums, columns, levels + level * columns);
}

// Where AddToTree leaves the sums of all `rows`, a power of two of blocks.
HWY_INLINE const double* Root(const double* levels, size_t columns, size_t rows) {
  size_t level = 0;
  while ((kRowsOfBlock << level) < rows) ++level;
  return levels + level * columns;
}

// Over axis 0, with sums in memory: stripes of Block.columns columns, kTogether rows for one load and store of the sums.
// Block.ahead: bytes that data is asked for ahead, in the order of reading.
template <class E, class Term, size_t kTogether, bool kPrefetch>
void ColumnSums(const LimitData& data, const Block& block, size_t part, size_t parts) {
  using T = typename E::T;
  double* const sums = ColumnSumsMemory();
  double* const levels = sums + kMostColumns;
  const size_t stripes = data.columns / block.columns;
  const size_t columns = block.columns * E::kStep;
  const size_t row_stride = data.columns * E::kStep;
  const size_t ahead = kPrefetch ? block.ahead / sizeof(T) : 0;
  const size_t in_row = columns - ahead;
  for (size_t stripe = Boundary(stripes, part, parts); stripe < Boundary(stripes, part + 1, parts);
       ++stripe) {
    for (size_t row = 0; row < data.rows; row += kRowsOfBlock) {
      std::fill_n(sums, block.columns, 0.0);
      for (size_t r = row; r < row + kRowsOfBlock; r += kTogether) {
        const size_t at = r * row_stride + stripe * columns;
        const T* const first = In<E>(data, 0) + at;
        const T* const second = In<E>(data, Term::kSecondInput) + at;
        for (size_t i = 0; i < columns; i += kPackOf<E> * E::kStep) {
          PackSums<E> pack;
          pack.Load(sums + i / E::kStep);
          HWY_UNROLL(8)
          for (size_t k = 0; k < kTogether; ++k) {
            if constexpr (kPrefetch) {
              const size_t later =
                  (i < in_row ? i + ahead : i - in_row + kTogether * row_stride) + k * row_stride;
              for (size_t line = 0; line < kPackOf<E> * E::kStep; line += 64 / sizeof(T)) {
                hwy::Prefetch(first + later + line);
                hwy::Prefetch(second + later + line);
              }
            }
            pack.template Add<Term>(first + i + k * row_stride, second + i + k * row_stride);
          }
          pack.Store(sums + i / E::kStep);
        }
      }
      AddToTree(sums, block.columns, row / kRowsOfBlock, levels);
    }
    InOrder<E>(Root(levels, block.columns, data.rows), block.columns, data.scratch + stripe * block.columns);
  }
}

// The same with sums in registers: kPacks packs wide, so that nothing but inputs is read. Block.ahead: rows.
template <class E, class Term, size_t kPacks>
void ColumnSumsInRegisters(const LimitData& data, const Block& block, size_t part, size_t parts) {
  using T = typename E::T;
  constexpr size_t kColumns = kPacks * kPackOf<E>;
  double* const levels = ColumnSumsMemory();
  const size_t stripes = data.columns / kColumns;
  for (size_t stripe = Boundary(stripes, part, parts); stripe < Boundary(stripes, part + 1, parts);
       ++stripe) {
    for (size_t row = 0; row < data.rows; row += kRowsOfBlock) {
      PackSums<E> pack[kPacks];
      for (auto& one : pack) one.Clear();
      for (size_t r = row; r < row + kRowsOfBlock; ++r) {
        const size_t at = r * data.columns + stripe * kColumns;
        const T* const first = In<E>(data, 0) + at;
        const T* const second = In<E>(data, Term::kSecondInput) + at;
        HWY_UNROLL(8)
        for (size_t p = 0; p < kPacks; ++p) {
          hwy::Prefetch(first + p * kPackOf<E> + block.ahead * data.columns);
          hwy::Prefetch(second + p * kPackOf<E> + block.ahead * data.columns);
          pack[p].template Add<Term>(first + p * kPackOf<E>, second + p * kPackOf<E>);
        }
      }
      HWY_ALIGN double sums[kColumns];
      for (size_t p = 0; p < kPacks; ++p) pack[p].Store(sums + p * kPackOf<E>);
      AddToTree(sums, kColumns, row / kRowsOfBlock, levels);
    }
    InOrder<E>(Root(levels, kColumns, data.rows), kColumns, data.scratch + stripe * kColumns);
  }
}

// ---- sums of inputs that lie across ----

// The mean over everything of column-major inputs whose rows are as long as blocks: column c belongs to lane c mod 16 of
// its rows, so that nothing need be transposed if the 16 sums of Block.rows rows are kept. kTogether columns of a lane
// for one load and store of its sums. Block.ahead: columns that are asked for ahead.
template <class E, size_t kTogether>
void MeanTransposed(const LimitData& data, const Block& block, size_t part, size_t parts) {
  using T = typename E::T;
  double* const sums = ColumnSumsMemory();
  double* const in_order = sums + kSumLanes * block.rows;
  const size_t bands = data.rows / block.rows;
  for (size_t band = Boundary(bands, part, parts); band < Boundary(bands, part + 1, parts); ++band) {
    const T* const self = In<E>(data, 0) + band * block.rows;
    const T* const target = In<E>(data, 1) + band * block.rows;
    std::fill_n(sums, kSumLanes * block.rows, 0.0);
    for (size_t first = 0; first < data.columns; first += kTogether * kSumLanes) {
      for (size_t lane = 0; lane < kSumLanes; ++lane) {
        const size_t at = (first + lane) * data.rows;
        for (size_t i = 0; i < block.rows; i += kPackOf<E>) {
          PackSums<E> pack;
          pack.Load(sums + lane * block.rows + i);
          HWY_UNROLL(8)
          for (size_t k = 0; k < kTogether; ++k) {
            const size_t from = at + k * kSumLanes * data.rows + i;
            if (block.ahead != 0) {
              hwy::Prefetch(self + from + block.ahead * data.rows);
              hwy::Prefetch(target + from + block.ahead * data.rows);
            }
            pack.template Add<Distance>(self + from, target + from);
          }
          pack.Store(sums + lane * block.rows + i);
        }
      }
    }
    for (size_t width = kSumLanes / 2; width > 0; width /= 2) {
      for (size_t i = 0; i < width * block.rows; ++i) sums[i] += sums[i + width * block.rows];
    }
    InOrder<E>(sums, block.rows, in_order);
    std::copy_n(in_order, block.rows, data.scratch + band * block.rows);
  }
}

// Sums over axis 0 of column-major inputs: the terms of as many columns as a vector has lanes are transposed in
// registers and added row by row. Block.ahead: bytes that each column is asked for ahead.
template <class E>
void ColumnSumsTransposed(const LimitData& data, const Block& block, size_t part, size_t parts) {
  using T = typename E::T;
  double* const levels = ColumnSumsMemory();
  const size_t ahead = block.ahead / sizeof(T);
  const size_t groups = data.columns / kFloats;
  for (size_t group = Boundary(groups, part, parts); group < Boundary(groups, part + 1, parts); ++group) {
    const T* const self = In<E>(data, 0) + group * kFloats * data.rows;
    const T* const target = In<E>(data, 1) + group * kFloats * data.rows;
    for (size_t row = 0; row < data.rows; row += kRowsOfBlock) {
      SumVectors<2> both;
      both.Clear();
      for (size_t r = row; r < row + kRowsOfBlock; r += kPackOf<E>) {
        VU terms[E::kParts][kFloats];
        HWY_UNROLL(16)
        for (size_t c = 0; c < kFloats; ++c) {
          const size_t at = c * data.rows + r;
          if (ahead != 0) {
            hwy::Prefetch(self + at + ahead);
            hwy::Prefetch(target + at + ahead);
          }
          const auto s = E::Load(self + at);
          const auto t = E::Load(target + at);
          for (size_t q = 0; q < E::kParts; ++q)
            terms[q][c] = hn::BitCast(DU(), Square::Of(s.part[q], t.part[q]));
        }
        for (size_t q = 0; q < E::kParts; ++q) TransposeSquare(terms[q]);
        constexpr bool kAlternate = E::kParts == 2 && E::Place(0, 0, 1) == 2;
        HWY_UNROLL(16)
        for (size_t i = 0; i < kPackOf<E>; ++i) {
          const VU bits = kAlternate ? terms[i % E::kParts][i / 2] : terms[i / kFloats][i % kFloats];
          both.AddHalves(hn::BitCast(DF(), bits), 0, 1);
        }
      }
      HWY_ALIGN double sums[kFloats];
      both.Store(sums);
      AddToTree(sums, kFloats, row / kRowsOfBlock, levels);
    }
    std::copy_n(Root(levels, kFloats, data.rows), kFloats, data.scratch + group * kFloats);
  }
}

// ---- which loops a case has ----

template <class E, Operands kOperands>
std::vector<NamedLoop> GradientLoops() {
  std::vector<NamedLoop> loops = {
      {"plain stores", GradientInOrder<E, kOperands, false, 1, false>},
      {"plain stores, four vectors a turn", GradientInOrder<E, kOperands, false, 4, false>},
      {"streamed", GradientInOrder<E, kOperands, true, 1, false>},
      {"streamed, four vectors a turn", GradientInOrder<E, kOperands, true, 4, false>},
      {"streamed, asked for 2 KiB ahead", GradientInOrder<E, kOperands, true, 1, true>, {0, 0, 2048}},
      {"streamed, asked for 4 KiB ahead", GradientInOrder<E, kOperands, true, 1, true>, {0, 0, 4096}}};
  if constexpr (kOperands == Operands::kRow)
    loops.push_back({"streamed, two rows at once", GradientTwoRows<E>});
  return loops;
}

template <class E, bool kRow>
std::vector<NamedLoop> LossLoops() {
  return {{"plain stores", LossInOrder<E, kRow, false, 1, false>},
          {"plain stores, four vectors a turn", LossInOrder<E, kRow, false, 4, false>},
          {"streamed", LossInOrder<E, kRow, true, 1, false>},
          {"streamed, four vectors a turn", LossInOrder<E, kRow, true, 4, false>},
          {"streamed, asked for 2 KiB ahead", LossInOrder<E, kRow, true, 1, true>, {0, 0, 2048}},
          {"streamed, asked for 4 KiB ahead", LossInOrder<E, kRow, true, 1, true>, {0, 0, 4096}}};
}

template <class E>
std::vector<NamedLoop> StrideTwoLoops() {
  return {{"masked stores", GradientEverySecond<E, true, false>},
          {"masked stores, asked for 2 KiB ahead", GradientEverySecond<E, true, true>, {0, 0, 2048}},
          {"masked stores, asked for 4 KiB ahead", GradientEverySecond<E, true, true>, {0, 0, 4096}},
          {"one store an element", GradientEverySecond<E, false, false>}};
}

template <class E>
std::vector<NamedLoop> OneTransposedLoops() {
  return {
      {"128 x 128, downwards", GradientOneTransposed<E, true>, {128, 128, 0}},
      {"128 x 128, downwards, asked for ahead", GradientOneTransposed<E, true>, {128, 128, 8}},
      {"64 x 256, asked for ahead", GradientOneTransposed<E, false>, {64, 256, 8}},
      {"64 x 1024, asked for ahead", GradientOneTransposed<E, false>, {64, 1024, 2}},
      {"32 x 2048, asked for ahead", GradientOneTransposed<E, false>, {32, 2048, 1}},
      {"32 x 4096 / element size", GradientOneTransposed<E, false>, {32, 8192 / sizeof(typename E::T), 0}}};
}

template <class E, bool kRow>
std::vector<NamedLoop> MeanLoops() {
  return {{"block by block", MeanInOrder<E, kRow, 1, false>},
          {"two blocks side by side", MeanInOrder<E, kRow, 2, false>},
          {"four blocks side by side", MeanInOrder<E, kRow, 4, false>},
          {"asked for 2 KiB ahead", MeanInOrder<E, kRow, 1, true>, {0, 0, 2048}},
          {"asked for 4 KiB ahead", MeanInOrder<E, kRow, 1, true>, {0, 0, 4096}}};
}

template <class E>
std::vector<NamedLoop> MeanOneTransposedLoops() {
  return {{"64 x 256, asked for ahead", MeanOneTransposed<E>, {64, 256, 4}},
          {"64 x 1024, asked for ahead", MeanOneTransposed<E>, {64, 1024, 2}},
          {"128 x 128, asked for ahead", MeanOneTransposed<E>, {128, 128, 8}},
          {"128 x 512, asked for ahead", MeanOneTransposed<E>, {128, 512, 2}},
          {"128 x 512", MeanOneTransposed<E>, {128, 512, 0}},
          {"32 x 2048", MeanOneTransposed<E>, {32, 2048, 0}}};
}

template <class E>
std::vector<NamedLoop> MeanTransposedLoops() {
  return {
      {"256 rows", MeanTransposed<E, 1>, {256, 0, 0}},
      {"256 rows, asked for a column ahead", MeanTransposed<E, 1>, {256, 0, 1}},
      {"128 rows, asked for 4 columns ahead", MeanTransposed<E, 1>, {128, 0, 4}},
      {"256 rows, 4 columns of a lane together, asked for a column ahead", MeanTransposed<E, 4>, {256, 0, 1}},
      {"64 rows, 4 columns of a lane together, asked for 2 columns ahead", MeanTransposed<E, 4>, {64, 0, 2}}};
}

template <class E, class Term>
std::vector<NamedLoop> ColumnSumsLoops() {
  return {{"a row of 4096", ColumnSums<E, Term, 1, false>, {0, 4096, 0}},
          {"a row of 4096, asked for 4 KiB ahead", ColumnSums<E, Term, 1, true>, {0, 4096, 4096}},
          {"a row of 2048, asked for 2 KiB ahead", ColumnSums<E, Term, 1, true>, {0, 2048, 2048}},
          {"two rows of 4096, asked for 2 KiB ahead", ColumnSums<E, Term, 2, true>, {0, 4096, 2048}},
          {"four rows of 2048, asked for 2 KiB ahead", ColumnSums<E, Term, 4, true>, {0, 2048, 2048}}};
}

template <class E, class Term>
std::vector<NamedLoop> DenseColumnSumsLoops() {
  std::vector<NamedLoop> loops = ColumnSumsLoops<E, Term>();
  loops.push_back(
      {"sums in registers, asked for 16 rows ahead", ColumnSumsInRegisters<E, Term, 4>, {0, 0, 16}});
  return loops;
}

template <class E>
std::vector<NamedLoop> ColumnSumsTransposedLoops() {
  return {{"transposed in registers", ColumnSumsTransposed<E>, {}},
          {"transposed in registers, asked for 256 bytes ahead", ColumnSumsTransposed<E>, {0, 0, 256}},
          {"transposed in registers, asked for 1 KiB ahead", ColumnSumsTransposed<E>, {0, 0, 1024}}};
}

template <class E>
std::vector<NamedLoop> LoopsOf(const Case& c) {
  switch (c.layout) {
    case Layout::kDense:
      if (c.call->is_gradient) return GradientLoops<E, Operands::kDense>();
      if (c.call->output == LossCall::Output::kOneElement) return MeanLoops<E, false>();
      if (c.call->output == LossCall::Output::kEveryElement) return LossLoops<E, false>();
      break;
    case Layout::kScalarGrad:
      return GradientLoops<E, Operands::kScalarGrad>();
    case Layout::kRow:
      if (c.call->is_gradient) return GradientLoops<E, Operands::kRow>();
      if (c.call->output == LossCall::Output::kEveryElement) return LossLoops<E, true>();
      return MeanLoops<E, true>();
    case Layout::kOneTransposed:
      return c.call->is_gradient ? OneTransposedLoops<E>() : MeanOneTransposedLoops<E>();
    case Layout::kTransposed:
      if (c.call->output == LossCall::Output::kOneElement) return MeanTransposedLoops<E>();
      return ColumnSumsTransposedLoops<E>();
    case Layout::kSumToRow:
      return DenseColumnSumsLoops<E, Product>();
    default:
      return {};
  }
  return DenseColumnSumsLoops<E, Square>();
}

template <class E>
std::vector<NamedLoop> StrideTwoLoopsOf(const Case& c) {
  if (c.call->is_gradient) {
    using Plain = std::conditional_t<sizeof(typename E::T) == sizeof(float), F32, Bf16>;
    return StrideTwoLoops<Plain>();
  }
  if (c.call->output == LossCall::Output::kOneElement) return MeanLoops<E, false>();
  return ColumnSumsLoops<E, Square>();
}

std::vector<NamedLoop> FindLoops(const Case& c) {
  if (c.layout == Layout::kStride2) {
    return c.dtypes == Dtypes::kF32 ? StrideTwoLoopsOf<F32EverySecond>(c)
                                    : StrideTwoLoopsOf<Bf16EverySecond>(c);
  }
  if (c.dtypes == Dtypes::kF16) return LoopsOf<F16>(c);
  return c.dtypes == Dtypes::kF32 ? LoopsOf<F32>(c) : LoopsOf<Bf16>(c);
}

#endif  // vectors

}  // namespace HWY_NAMESPACE
}  // namespace portacl::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace portacl::bench {
namespace {

HWY_EXPORT(FindLoops);

// Pairs neighbours, level by level; `count` is a power of two.
void Tree(double* sums, size_t count) {
  for (; count > 1; count /= 2) {
    for (size_t i = 0; i < count / 2; ++i) sums[i] = sums[2 * i] + sums[2 * i + 1];
  }
}

const LossCall& Call(std::string_view name) {
  for (const LossCall& call : LossCalls()) {
    if (call.name == name) return call;
  }
  std::abort();
}

size_t Rows(const Case& c) { return size_t{1} << (c.log2 / 2); }
size_t Columns(const Case& c) { return size_t{1} << (c.log2 - c.log2 / 2); }

}  // namespace

std::vector<Case> LimitCases(int all_threads) {
  const LossCall* const gradient = &Call("l1_loss_backward");
  const LossCall* const kl_gradient = &Call("kl_div_backward");
  const LossCall* const loss = &Call("l1_loss.none");
  const LossCall* const mean = &Call("l1_loss.mean");
  const LossCall* const columns = &Call("mse_loss_out.mean");
  constexpr auto kF32 = Dtypes::kF32;
  constexpr auto kF16 = Dtypes::kF16;
  constexpr auto kBf16 = Dtypes::kBf16;
  std::vector<Case> cases;
  const auto add = [&](const LossCall* call, Layout layout, int log2, std::initializer_list<Dtypes> dtypes) {
    for (const Dtypes one : dtypes) cases.push_back({call, one, log2, layout, 1});
  };
  const auto add_with_all_threads = [&](const LossCall* call, Layout layout, int log2,
                                        std::initializer_list<Dtypes> dtypes) {
    add(call, layout, log2, dtypes);
    if (all_threads == 1) return;
    for (const Dtypes one : dtypes) cases.push_back({call, one, log2, layout, all_threads});
  };
  add(gradient, Layout::kDense, 14, {kF32, kBf16, kF16});
  add(gradient, Layout::kDense, 16, {kF32, kBf16});
  add_with_all_threads(gradient, Layout::kDense, 24, {kF32, kBf16, kF16});
  add_with_all_threads(gradient, Layout::kDense, 26, {kF32});
  add_with_all_threads(gradient, Layout::kRow, 24, {kF32, kBf16});
  add(gradient, Layout::kScalarGrad, 24, {kF32, kBf16});
  add_with_all_threads(gradient, Layout::kOneTransposed, 24, {kF32, kBf16});
  add_with_all_threads(gradient, Layout::kStride2, 24, {kF32, kBf16});
  add_with_all_threads(kl_gradient, Layout::kSumToRow, 24, {kF32, kBf16});
  add(loss, Layout::kDense, 16, {kF32, kBf16});
  add_with_all_threads(loss, Layout::kDense, 24, {kF32, kBf16, kF16});
  add_with_all_threads(loss, Layout::kDense, 26, {kBf16});
  add(loss, Layout::kRow, 24, {kF32, kBf16});
  add(mean, Layout::kDense, 14, {kF32, kBf16, kF16});
  add(mean, Layout::kDense, 16, {kF32, kBf16});
  add_with_all_threads(mean, Layout::kDense, 24, {kF32, kBf16, kF16});
  add(mean, Layout::kRow, 24, {kF32, kBf16});
  add(mean, Layout::kStride2, 24, {kF32, kBf16});
  add_with_all_threads(mean, Layout::kTransposed, 24, {kF32, kBf16});
  add(mean, Layout::kOneTransposed, 24, {kF32, kBf16});
  add_with_all_threads(columns, Layout::kDense, 24, {kF32, kBf16});
  add(columns, Layout::kDense, 26, {kF32, kBf16});
  add(columns, Layout::kStride2, 24, {kF32, kBf16});
  add(columns, Layout::kTransposed, 24, {kF32, kBf16});
  return cases;
}

size_t LimitScratch(const Case& c) { return Rows(c) * Columns(c) / kTermsOfBlock + Rows(c) + Columns(c); }

std::vector<LimitLoop> LimitLoops(const Case& c, const std::vector<std::byte*>& data,
                                  double* scratch) {  // NOLINT(readability-non-const-parameter)
  LimitData operands{{data[0], data[1], c.call->InputCount() > 2 ? data[2] : nullptr},
                     data.back(),
                     Rows(c),
                     Columns(c),
                     scratch};
  std::vector<LimitLoop> loops;
  for (const NamedLoop& loop : HWY_DYNAMIC_DISPATCH(FindLoops)(c)) {
    LimitLoop one;
    one.name = loop.name;
    one.share = [operands, loop](int part, int parts) {
      loop.function(operands, loop.block, static_cast<size_t>(part), static_cast<size_t>(parts));
    };
    if (c.call->output == LossCall::Output::kOneElement)
      one.finish = [operands] { Tree(operands.scratch, operands.rows * operands.columns / kTermsOfBlock); };
    loops.push_back(std::move(one));
  }
  return loops;
}

}  // namespace portacl::bench
#endif  // HWY_ONCE
