// Running sums and products of several lines at once, between stored elements (see scan.h). Compiled once per
// instruction set.
// SPDX-License-Identifier: Apache-2.0
#include "engine/reduction/scan.h"

#include <bit>
#include <cstring>
#include <type_traits>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/reduction/scan_lines.cc"
#include "base/foreach_target.h"

#include <hwy/cache_control.h>
#include <hwy/highway.h>
#include "engine/buffer_ref.h"
#include "engine/functions/primitives-inl.h"
#include "engine/reduction/sum_store.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace scans {

namespace hn = hwy::HWY_NAMESPACE;

// T is float, or uint16_t for bf16.
template <class T>
HWY_INLINE float Widened(T element) {
  if constexpr (std::is_same_v<T, float>) {
    return element;
  } else {
    return std::bit_cast<float>(static_cast<uint32_t>(element) << 16);
  }
}
template <class T>
HWY_INLINE T Narrowed(double sum) {
  if constexpr (std::is_same_v<T, float>) {
    return static_cast<float>(sum);
  } else {
    T word;
    FindSumStore(ACL_BF16)(&sum, &word, 1);
    return word;
  }
}

// Scans terms [begin, end) of every line, one term after the other. Operands need not be aligned.
template <class T, bool kIsProduct>
HWY_NOINLINE void Steps(const ScanWork& work, double* sums, size_t begin, size_t end) {
  for (size_t line = 0; line < kScanLines; ++line) {
    const auto* const terms = static_cast<const char*>(work.lines[line]);
    auto* const results = static_cast<char*>(work.line_results[line]);
    for (size_t i = begin; i < end; ++i) {
      const double before = sums[line];
      const auto term = static_cast<double>(Widened(Load<T>(terms + i * sizeof(T))));
      sums[line] = kIsProduct ? before * term : before + term;
      Store(results + i * sizeof(T), Narrowed<T>(work.is_exclusive ? before : sums[line]));
    }
  }
}

#if !PORTACL_LANE_BY_LANE && !HWY_HAVE_SCALABLE
#define PORTACL_SCANS_IN_VECTORS 1

static_assert(kScanLines == 4);
using Floats = hn::FixedTag<float, 4>;
using Words = hn::FixedTag<uint32_t, 4>;
constexpr size_t kWide = HWY_MAX_BYTES >= 32 ? 4 : 2;
using Doubles = hn::FixedTag<double, kWide>;

// A number for each line.
struct Column {
  HWY_INLINE Column() {}  // NOLINT(*-member-init, *-use-equals-default): see Terms16
  hn::Vec<Doubles> vector[kScanLines / kWide];
};

#if HWY_MAX_BYTES >= 32
HWY_INLINE Column Wide(hn::Vec<Floats> v) {
  Column column;
  column.vector[0] = hn::PromoteTo(Doubles(), v);
  return column;
}
HWY_INLINE hn::Vec<Floats> Narrow(const Column& column) { return hn::DemoteTo(Floats(), column.vector[0]); }
#else
HWY_INLINE Column Wide(hn::Vec<Floats> v) {
  const hn::Half<Floats> half;
  Column column;
  column.vector[0] = hn::PromoteTo(Doubles(), hn::LowerHalf(half, v));
  column.vector[1] = hn::PromoteTo(Doubles(), hn::UpperHalf(half, v));
  return column;
}
HWY_INLINE hn::Vec<Floats> Narrow(const Column& column) {
  const hn::Half<Floats> half;
  return hn::Combine(Floats(), hn::DemoteTo(half, column.vector[1]), hn::DemoteTo(half, column.vector[0]));
}
#endif

// Transposes lines and columns.
HWY_INLINE void Transpose(hn::Vec<Floats> (&v)[4]) {
  const Floats d;
  const auto low = hn::InterleaveLower(d, v[0], v[1]);
  const auto high = hn::InterleaveUpper(d, v[0], v[1]);
  const auto other_low = hn::InterleaveLower(d, v[2], v[3]);
  const auto other_high = hn::InterleaveUpper(d, v[2], v[3]);
  v[0] = hn::ConcatLowerLower(d, other_low, low);
  v[1] = hn::ConcatUpperUpper(d, other_low, low);
  v[2] = hn::ConcatLowerLower(d, other_high, high);
  v[3] = hn::ConcatUpperUpper(d, other_high, high);
}

HWY_INLINE hn::Vec<Floats> LoadLine(const float* from) { return hn::LoadU(Floats(), from); }
HWY_INLINE hn::Vec<Floats> LoadLine(const uint16_t* from) {
  const auto words = hn::LoadU(hn::FixedTag<uint16_t, 4>(), from);
  return hn::BitCast(Floats(), hn::ShiftLeft<16>(hn::PromoteTo(Words(), words)));
}
HWY_INLINE void StoreTwo(hn::Vec<Floats> first, hn::Vec<Floats> second, float* to, float* to_second) {
  hn::StoreU(first, Floats(), to);
  hn::StoreU(second, Floats(), to_second);
}
// The numbers fit bf16 exactly.
HWY_INLINE void StoreTwo(hn::Vec<Floats> first, hn::Vec<Floats> second, uint16_t* to, uint16_t* to_second) {
  const hn::FixedTag<uint16_t, 8> d;
  const hn::Half<decltype(d)> half;
  const auto words = hn::ConcatOdd(d, hn::BitCast(d, second), hn::BitCast(d, first));
  hn::StoreU(hn::LowerHalf(half, words), half, to);
  hn::StoreU(hn::UpperHalf(half, words), half, to_second);
}

// Rounds to the bits of bf16. That is the only rounding if the result is a normal bf16 number. (A NaN of a
// sum has zeros beyond these bits, so that it stays NaN.)
HWY_INLINE Column InBf16(const Column& column) {
  const hn::RebindToUnsigned<Doubles> du;
  const auto below = hn::Set(du, (uint64_t{1} << 45) - 1);
  const auto nearly_half = hn::Set(du, (uint64_t{1} << 44) - 1);
  Column result;
  for (size_t i = 0; i < kScanLines / kWide; ++i) {
    const auto bits = hn::BitCast(du, column.vector[i]);
    const auto odd = hn::And(hn::ShiftRight<45>(bits), hn::Set(du, 1));
    const auto rounded = hn::Add(hn::Add(bits, nearly_half), odd);
    result.vector[i] = hn::BitCast(Doubles(), hn::AndNot(below, rounded));
  }
  return result;
}
// Tells whether any number is subnormal in float32 and not 0.
HWY_INLINE bool HasSubnormal(const Column (&columns)[4]) {
  const Doubles d;
  const auto least = hn::Set(d, 0x1p-126);
  auto smallest = least;
  for (const Column& column : columns) {
    for (const auto& vector : column.vector) smallest = hn::Min(smallest, hn::Abs(vector));
  }
  if (HWY_LIKELY(hn::AllFalse(d, hn::Lt(smallest, least)))) return false;
  for (const Column& column : columns) {
    for (const auto& vector : column.vector) {
      const auto a = hn::Abs(vector);
      if (!hn::AllFalse(d, hn::And(hn::Lt(a, least), hn::Gt(a, hn::Zero(d))))) return true;
    }
  }
  return false;
}

#endif

template <class T, bool kIsProduct>
void LinesAsStored(ScanWork& work) {
  HWY_ALIGN double sums[kScanLines];
  std::memcpy(sums, work.states, sizeof sums);
  if (work.at == 0) std::fill_n(sums, kScanLines, kIsProduct ? 1.0 : 0.0);
  size_t i = 0;
#ifdef PORTACL_SCANS_IN_VECTORS
  const Doubles d;
  const T* from[kScanLines];
  T* to[kScanLines];
  for (size_t line = 0; line < kScanLines; ++line) {
    from[line] = static_cast<const T*>(work.lines[line]);
    to[line] = static_cast<T*>(work.line_results[line]);
  }
  Column sum;
  for (size_t k = 0; k < kScanLines / kWide; ++k) sum.vector[k] = hn::LoadU(d, sums + k * kWide);
  for (; i + 4 <= work.rows; i += 4) {
    hn::Vec<Floats> v[4] = {LoadLine(from[0] + i), LoadLine(from[1] + i), LoadLine(from[2] + i),
                            LoadLine(from[3] + i)};
    Transpose(v);
    const Column first = sum;
    Column results[4];
    for (size_t c = 0; c < 4; ++c) {
      const Column term = Wide(v[c]);
      if (work.is_exclusive) results[c] = sum;
      for (size_t k = 0; k < kScanLines / kWide; ++k)
        sum.vector[k] =
            kIsProduct ? hn::Mul(sum.vector[k], term.vector[k]) : hn::Add(sum.vector[k], term.vector[k]);
      if (!work.is_exclusive) results[c] = sum;
    }
    if constexpr (!std::is_same_v<T, float>) {
      if (HWY_UNLIKELY(HasSubnormal(results))) {
        for (size_t k = 0; k < kScanLines / kWide; ++k) hn::StoreU(first.vector[k], d, sums + k * kWide);
        Steps<T, kIsProduct>(work, sums, i, i + 4);
        continue;
      }
      for (Column& column : results) column = InBf16(column);
    }
    for (size_t c = 0; c < 4; ++c) v[c] = Narrow(results[c]);
    Transpose(v);
    StoreTwo(v[0], v[1], to[0] + i, to[1] + i);
    StoreTwo(v[2], v[3], to[2] + i, to[3] + i);
  }
  for (size_t k = 0; k < kScanLines / kWide; ++k) hn::StoreU(sum.vector[k], d, sums + k * kWide);
#endif
  Steps<T, kIsProduct>(work, sums, i, work.rows);
  std::memcpy(work.states, sums, sizeof sums);
}

ScanFunction FindLines(bool is_product, bool is_bf16) {
  if (is_bf16) return is_product ? LinesAsStored<uint16_t, true> : LinesAsStored<uint16_t, false>;
  return is_product ? LinesAsStored<float, true> : LinesAsStored<float, false>;
}

#undef PORTACL_SCANS_IN_VECTORS

}  // namespace scans
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_table.h"

namespace portacl::engine {
namespace {
constexpr auto kFindLines = PORTACL_ISA_TABLE(scans::FindLines);
}  // namespace

ScanFunction FindLineScan(Isa isa, ScanOperation operation, aclDataType dtype) noexcept {
  const bool is_sum = operation == ScanOperation::kSum || operation == ScanOperation::kProduct;
  if (!is_sum || (dtype != ACL_FLOAT && dtype != ACL_BF16)) return nullptr;
  return kFindLines.For(isa)(operation == ScanOperation::kProduct, dtype == ACL_BF16);
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
