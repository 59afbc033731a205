// Samples images and volumes (see grid.h) in float32: computes the taps of a vector of points together and gathers the
// elements.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>

#include <hwy/cache_control.h>

#include "base/vector_targets.h"
#include "engine/resample/grid_job.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/resample/grid_lanes.cc"
#include "base/foreach_target.h"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, kCubicGridPositions>;
using Ints = hn::RebindToSigned<Floats>;
using Vector = hn::Vec<Floats>;

// The taps along one dim.
template <int kCount, int64_t kPositions>
struct AxisTable {
  alignas(64) int32_t offset[kCount][kPositions];  // in bytes; -1: no element
  alignas(64) float weight[kCount][kPositions];
};

struct Axis {
  int64_t length;
  int64_t stride;
  GridEdge edge;
  bool aligns_corners;
};

HWY_INLINE Vector ReflectedLanes(const Axis& axis, Vector source_coordinate) {
  const Floats d;
  const int64_t twice_low = axis.aligns_corners ? 0 : -1;
  const int64_t twice_high = axis.aligns_corners ? 2 * (axis.length - 1) : 2 * axis.length - 1;
  if (twice_low == twice_high) return hn::Zero(d);
  const auto low = hn::Set(d, static_cast<float>(twice_low) / 2);
  const auto span = hn::Set(d, static_cast<float>(twice_high - twice_low) / 2);
  const auto away = hn::Abs(hn::Sub(source_coordinate, low));
  if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Lt(away, hn::Add(span, span))))) {
    alignas(64) float lane[kCubicGridPositions];
    hn::Store(source_coordinate, d, lane);
    for (size_t i = 0; i < hn::Lanes(d); ++i) lane[i] = Reflected(lane[i], twice_low, twice_high);
    return hn::Load(d, lane);
  }
  // Below twice the span the remainder is a difference, which is exact.
  const auto flips = hn::Ge(away, span);
  const auto extra = hn::IfThenElse(flips, hn::Sub(away, span), away);
  return hn::Add(hn::IfThenElse(flips, hn::Sub(span, extra), extra), low);
}

// Like Inside of grid.cc.
HWY_INLINE Vector InsideLanes(const Axis& axis, Vector source_coordinate) {
  const Floats d;
  if (axis.edge == GridEdge::kZero) return source_coordinate;
  if (axis.edge == GridEdge::kReflection) source_coordinate = ReflectedLanes(axis, source_coordinate);
  const auto last = hn::Set(d, static_cast<float>(axis.length - 1));
  return hn::IfThenElseZero(hn::Gt(source_coordinate, hn::Zero(d)), hn::Min(source_coordinate, last));
}

// Stores the byte offset of an index.
HWY_INLINE void StoreOffset(const Axis& axis, Vector whole, int32_t* to) {
  const Floats d;
  const Ints di;
  const auto is_there =
      hn::And(hn::Ge(whole, hn::Zero(d)), hn::Lt(whole, hn::Set(d, static_cast<float>(axis.length))));
  const auto index = hn::ConvertTo(di, hn::IfThenElseZero(is_there, whole));
  const auto offset = hn::Mul(index, hn::Set(di, static_cast<int32_t>(axis.stride)));
  hn::Store(hn::IfThenElse(hn::RebindMask(di, is_there), offset, hn::Set(di, -1)), di, to);
}

HWY_INLINE Vector NearWeight(Vector x) {
  const Floats d;
  const auto inner = hn::Sub(hn::Mul(hn::Set(d, 1.25F), x), hn::Set(d, 2.25F));
  return hn::Add(hn::Mul(hn::Mul(inner, x), x), hn::Set(d, 1.0F));
}
HWY_INLINE Vector FarWeight(Vector x) {
  const Floats d;
  const auto first = hn::Add(hn::Mul(hn::Set(d, -0.75F), x), hn::Set(d, 3.75F));
  const auto second = hn::Add(hn::Mul(first, x), hn::Set(d, -6.0F));
  return hn::Add(hn::Mul(second, x), hn::Set(d, 3.0F));
}

// Computes the taps of one dim, like TapsOf of grid.cc.
template <GridFilter kFilter, int kCount, int64_t kPositions>
HWY_INLINE void SetAxis(const Axis& axis, const float* coordinate, int64_t count,
                        AxisTable<kCount, kPositions>& table) {
  const Floats d;
  const auto one = hn::Set(d, 1.0F);
  const auto half = hn::Set(d, 0.5F);
  const auto length = static_cast<float>(axis.length);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < count; i += lanes) {
    auto source_coordinate = hn::Load(d, coordinate + i);
    source_coordinate = hn::IfThenElse(hn::IsNaN(source_coordinate), hn::Set(d, -1.0F), source_coordinate);
    source_coordinate =
        axis.aligns_corners
            ? hn::Mul(hn::Mul(hn::Add(source_coordinate, one), half), hn::Set(d, length - 1))
            : hn::Mul(hn::Sub(hn::Mul(hn::Add(source_coordinate, one), hn::Set(d, length)), one), half);
    if constexpr (kFilter == GridFilter::kNearest) {
      StoreOffset(axis, hn::Round(InsideLanes(axis, source_coordinate)), table.offset[0] + i);
      hn::Store(one, d, table.weight[0] + i);
      continue;
    }
    if constexpr (kFilter == GridFilter::kLinear) source_coordinate = InsideLanes(axis, source_coordinate);
    const auto below = hn::Floor(source_coordinate);
    const auto part = hn::IfThenElseZero(hn::IsFinite(source_coordinate), hn::Sub(source_coordinate, below));
    if constexpr (kFilter == GridFilter::kLinear) {
      StoreOffset(axis, below, table.offset[0] + i);
      StoreOffset(axis, hn::Add(below, one), table.offset[1] + i);
      hn::Store(hn::Sub(one, part), d, table.weight[0] + i);
      hn::Store(part, d, table.weight[1] + i);
    }
    if constexpr (kFilter == GridFilter::kCubic) {
      for (int k = 0; k < 4; ++k) {
        const auto neighbour = hn::Add(below, hn::Set(d, static_cast<float>(k - 1)));
        StoreOffset(axis, InsideLanes(axis, neighbour), table.offset[k] + i);
      }
      hn::Store(FarWeight(hn::Add(part, one)), d, table.weight[0] + i);
      hn::Store(NearWeight(part), d, table.weight[1] + i);
      hn::Store(NearWeight(hn::Sub(one, part)), d, table.weight[2] + i);
      hn::Store(FarWeight(hn::Sub(hn::Set(d, 2.0F), part)), d, table.weight[3] + i);
    }
  }
}

// Gathers elements at byte offsets; -1 gives 0, by masking bits.
HWY_INLINE Vector Gathered(const float* from, hn::Vec<Ints> offset) {
  const Floats d;
#if HWY_TARGET == HWY_AVX3
  // Highway's gather merges into its destination register, so that each gather would wait for the previous
  // one.
  const __mmask16 is_there = _mm512_cmpge_epi32_mask(offset.raw, _mm512_setzero_si512());
  return Vector{_mm512_mask_i32gather_ps(hn::Zero(d).raw, is_there, offset.raw, from, 1)};
#else
  const auto is_missing = hn::BroadcastSignBit(offset);
  return hn::AndNot(hn::BitCast(d, is_missing), hn::GatherOffset(d, from, hn::AndNot(is_missing, offset)));
#endif
}

template <GridFilter kFilter, bool kIsVolume>
class Lanes {
  static constexpr int kAxis = kFilter == GridFilter::kCubic ? 4 : kFilter == GridFilter::kLinear ? 2 : 1;
  static constexpr int kPlanes = kIsVolume ? kAxis : 1;
  static constexpr int kTaps = kPlanes * kAxis * kAxis;
  static constexpr bool kHasManyTaps = kFilter == GridFilter::kCubic || kIsVolume;
  static constexpr int64_t kPositions = kHasManyTaps ? kCubicGridPositions : kGridPositions;

 public:
  explicit Lanes(const GridJob& job) : job_(job) {}

  HWY_INLINE void Run(const char* input, const char* grid, char* output, int64_t count) {
    // The last vector may extend beyond the points.
    alignas(64) float x[kPositions];
    alignas(64) float y[kPositions];
    Load(grid, count, x);
    Load(grid + job_.grid_stride[3], count, y);
    SetAxis<kFilter>({job_.width, job_.input_stride[3], job_.edge, job_.aligns_corners}, x, count, columns_);
    SetAxis<kFilter>({job_.height, job_.input_stride[2], job_.edge, job_.aligns_corners}, y, count, rows_);
    if constexpr (kIsVolume) {
      Load(grid + 2 * job_.grid_stride[3], count, x);
      SetAxis<kFilter>({job_.depth, job_.input_plane, job_.edge, job_.aligns_corners}, x, count, planes_);
    }
    SetTaps(count);
    if (job_.load == nullptr) return SampleFloats(input, output, count);
    for (int64_t channel = 0; channel < job_.channels; ++channel)
      Sample16BitFloats(input + channel * job_.input_stride[1], output + channel * job_.output_stride[1],
                        count);
  }

 private:
  HWY_INLINE void Load(const char* from, int64_t count, float* to) const {
    const int64_t step = job_.grid_stride[2];
    if (job_.load != nullptr) {
      uint16_t raw[kPositions];
      for (int64_t i = 0; i < count; ++i) std::memcpy(raw + i, from + i * step, sizeof raw[i]);
      job_.load(raw, to, static_cast<size_t>(count));
    } else {
      for (int64_t i = 0; i < count; ++i) std::memcpy(to + i, from + i * step, sizeof to[i]);
    }
    const auto lanes = static_cast<int64_t>(hn::Lanes(Floats()));
    for (int64_t i = count; i % lanes != 0; ++i) to[i] = 0;
  }

  HWY_INLINE void SetTaps(int64_t count) {
    const Floats d;
    const Ints di;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t i = 0; i < count; i += lanes) {
      for (int r = 0; r < kPlanes * kAxis; ++r) {
        auto row = hn::Load(di, rows_.offset[r % kAxis] + i);
        auto weight = hn::Load(d, rows_.weight[r % kAxis] + i);
        if constexpr (kIsVolume) {
          const auto plane = hn::Load(di, planes_.offset[r / kAxis] + i);
          row = hn::Or(hn::BroadcastSignBit(hn::Or(plane, row)), hn::Add(plane, row));
          weight = hn::Mul(hn::Load(d, planes_.weight[r / kAxis] + i), weight);
        }
        for (int c = 0; c < kAxis; ++c) {
          const auto column = hn::Load(di, columns_.offset[c] + i);
          const auto is_missing = hn::BroadcastSignBit(hn::Or(row, column));
          hn::Store(hn::Or(is_missing, hn::Add(row, column)), di, offset_[r * kAxis + c] + i);
          // Cubic: sums a row's columns first, then the rows. Otherwise a tap's weight is a product.
          if constexpr (kFilter != GridFilter::kCubic)
            hn::Store(hn::Mul(weight, hn::Load(d, columns_.weight[c] + i)), d, weight_[r * kAxis + c] + i);
        }
      }
    }
  }

  // Interpolates a vector of points from i on; value(k) returns their elements at tap k.
  template <class ValueOf>
  HWY_INLINE Vector SumAt(int64_t i, const ValueOf& value) const {
    const Floats d;
    auto sum = hn::Zero(d);
    if constexpr (kFilter == GridFilter::kCubic) {
      for (int r = 0; r < kAxis; ++r) {
        auto row = hn::Zero(d);
        for (int c = 0; c < kAxis; ++c)
          row = hn::Add(row, hn::Mul(value(r * kAxis + c), hn::Load(d, columns_.weight[c] + i)));
        sum = hn::Add(sum, hn::Mul(row, hn::Load(d, rows_.weight[r] + i)));
      }
    } else {
      for (int k = 0; k < kTaps; ++k) sum = hn::Add(sum, hn::Mul(value(k), hn::Load(d, weight_[k] + i)));
    }
    return sum;
  }

  HWY_INLINE void SampleFloats(const char* input, char* output, int64_t count) const {
    const auto lanes = static_cast<int64_t>(hn::Lanes(Floats()));
    int64_t i = 0;
    if (job_.asks_ahead) {
      for (; i + 2 * lanes <= count; i += lanes) SampleVector<true>(input, output, i, lanes);
    }
    for (; i < count; i += lanes) SampleVector<false>(input, output, i, std::min(lanes, count - i));
  }

  // Samples all channels at a vector of points from i on and stores `count` of them. `kAsksAhead`: more
  // points follow.
  template <bool kAsksAhead>
  HWY_INLINE void SampleVector(const char* input, char* output, int64_t i, int64_t count) const {
    const Floats d;
    const Ints di;
    const int64_t step = job_.output_stride[3];
    const bool is_whole =
        step == static_cast<int64_t>(sizeof(float)) && count == static_cast<int64_t>(hn::Lanes(d));
    char* to = output + i * step;
    // Keeps offsets and weights in registers across stores.
    constexpr int kLast = kFilter == GridFilter::kLinear ? 3 : 0;
    const auto offset0 = hn::Load(di, offset_[0] + i);
    const auto offset1 = hn::Load(di, offset_[std::min(1, kLast)] + i);
    const auto offset2 = hn::Load(di, offset_[std::min(2, kLast)] + i);
    const auto offset3 = hn::Load(di, offset_[kLast] + i);
    const auto weight0 = hn::Load(d, weight_[0] + i);
    const auto weight1 = hn::Load(d, weight_[std::min(1, kLast)] + i);
    const auto weight2 = hn::Load(d, weight_[std::min(2, kLast)] + i);
    const auto weight3 = hn::Load(d, weight_[kLast] + i);
    for (int64_t channel = 0; channel < job_.channels; ++channel) {
      const auto* const from = reinterpret_cast<const float*>(input);
      if constexpr (kAsksAhead) AskForNext(input, i);
      auto sum = hn::Zero(d);
      if constexpr (kHasManyTaps) {
        sum = SumAt(
            i, [this, from, i](int k) HWY_ATTR { return Gathered(from, hn::Load(Ints(), offset_[k] + i)); });
      } else {
        sum = hn::Add(sum, hn::Mul(Gathered(from, offset0), weight0));
        if constexpr (kFilter == GridFilter::kLinear) {
          sum = hn::Add(sum, hn::Mul(Gathered(from, offset1), weight1));
          sum = hn::Add(sum, hn::Mul(Gathered(from, offset2), weight2));
          sum = hn::Add(sum, hn::Mul(Gathered(from, offset3), weight3));
        }
      }
      if (is_whole) {
        hn::StoreU(sum, d, reinterpret_cast<float*>(to));
      } else {
        alignas(64) float lane[kCubicGridPositions];
        hn::Store(sum, d, lane);
        for (int64_t j = 0; j < count; ++j) std::memcpy(to + j * step, lane + j, sizeof lane[j]);
      }
      input += job_.input_stride[1];
      to += job_.output_stride[1];
    }
  }

  // Prefetches the rows of the next vector's taps, which hardware does not predict.
  HWY_INLINE void AskForNext(const char* input, int64_t i) const {
    const auto lanes = static_cast<int64_t>(hn::Lanes(Floats()));
    for (int row = 0; row < kPlanes * kAxis; ++row) {
      const int32_t* const next = offset_[row * kAxis + row % kAxis] + i + lanes;
      for (int64_t j = 0; j < lanes; ++j) hwy::Prefetch(input + next[j]);
    }
  }

  HWY_INLINE void Sample16BitFloats(const char* input, char* output, int64_t count) const {
    alignas(64) float values[kTaps][kPositions];
    alignas(64) float sums[kPositions];
    uint16_t raw[kPositions];
    const int64_t padded =
        std::min(kPositions, (count + kCubicGridPositions - 1) / kCubicGridPositions * kCubicGridPositions);
    for (int k = 0; k < kTaps; ++k) {
      for (int64_t i = 0; i < count; ++i) {
        const int32_t is_missing = offset_[k][i] >> 31;
        std::memcpy(raw + i, input + (offset_[k][i] & ~is_missing), sizeof raw[i]);
        raw[i] = static_cast<uint16_t>(raw[i] & ~is_missing);
      }
      std::fill(raw + count, raw + padded, uint16_t{0});
      job_.load(raw, values[k], static_cast<size_t>(padded));
    }
    const auto lanes = static_cast<int64_t>(hn::Lanes(Floats()));
    for (int64_t i = 0; i < count; i += lanes) {
      const auto sum = SumAt(i, [&values, i](int k) HWY_ATTR { return hn::Load(Floats(), values[k] + i); });
      hn::Store(sum, Floats(), sums + i);
    }
    job_.store(sums, raw, static_cast<size_t>(count), false);
    const int64_t step = job_.output_stride[3];
    for (int64_t i = 0; i < count; ++i) std::memcpy(output + i * step, raw + i, sizeof raw[i]);
  }

  const GridJob& job_;
  AxisTable<kAxis, kPositions> columns_;
  AxisTable<kAxis, kPositions> rows_;
  AxisTable<kAxis, kIsVolume ? kPositions : 1> planes_;  // unused if there is one
  alignas(64) int32_t offset_[kTaps][kPositions];
  alignas(64) float weight_[kFilter == GridFilter::kCubic ? 1 : kTaps][kPositions];  // unused if cubic
};

void SampleLinear(const GridJob& job, const char* input, const char* grid, char* output, int64_t count) {
  Lanes<GridFilter::kLinear, false>(job).Run(input, grid, output, count);
}
void SampleNearest(const GridJob& job, const char* input, const char* grid, char* output, int64_t count) {
  Lanes<GridFilter::kNearest, false>(job).Run(input, grid, output, count);
}
void SampleVolumeLinear(const GridJob& job, const char* input, const char* grid, char* output,
                        int64_t count) {
  Lanes<GridFilter::kLinear, true>(job).Run(input, grid, output, count);
}
void SampleVolumeNearest(const GridJob& job, const char* input, const char* grid, char* output,
                         int64_t count) {
  Lanes<GridFilter::kNearest, true>(job).Run(input, grid, output, count);
}
void SampleCubic(const GridJob& job, const char* input, const char* grid, char* output, int64_t count) {
  Lanes<GridFilter::kCubic, false>(job).Run(input, grid, output, count);
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_table.h"

namespace portacl::engine {

GridLoop FindGridLoop(Isa isa, const GridJob& job) noexcept {
  // float32 represents every index, int32 every offset.
  constexpr int64_t kLongest = int64_t{1} << 24;
  if (job.is_wide || job.depth >= kLongest || job.height >= kLongest || job.width >= kLongest) return nullptr;
  const int64_t* const stride = job.input_stride;
  if (job.input_plane < 0 || stride[2] < 0 || stride[3] < 0) return nullptr;
  const double span = static_cast<double>(job.depth) * static_cast<double>(job.input_plane) +
                      static_cast<double>(job.height) * static_cast<double>(stride[2]) +
                      static_cast<double>(job.width) * static_cast<double>(stride[3]);
  if (span > std::numeric_limits<int32_t>::max()) return nullptr;
  if (job.is_volume)
    return job.filter == GridFilter::kNearest ? PORTACL_ISA_TABLE(SampleVolumeNearest).For(isa)
                                              : PORTACL_ISA_TABLE(SampleVolumeLinear).For(isa);
  if (job.filter == GridFilter::kNearest) return PORTACL_ISA_TABLE(SampleNearest).For(isa);
  return job.filter == GridFilter::kCubic ? PORTACL_ISA_TABLE(SampleCubic).For(isa)
                                          : PORTACL_ISA_TABLE(SampleLinear).For(isa);
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
