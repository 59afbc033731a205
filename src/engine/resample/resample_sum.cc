// Weighted sums along up to three axes (see axes.h). Each source row is summed once along the columns' taps. Such
// rows are then summed along the rows' taps, a tile of columns at a time.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/resample/resample_sum.cc"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <cstddef>

#include "engine/half_precision-inl.h"

// The loops over a tile: mostly plain ones that the compiler vectorises for each instruction set.
HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

template <class T>
void Add(T* __restrict sum, const T* __restrict value, size_t n) {
  for (size_t i = 0; i < n; ++i) sum[i] += value[i];
}
template <class T>
void AddScaled(T* __restrict sum, const T* __restrict value, T weight, size_t n) {
  for (size_t i = 0; i < n; ++i) sum[i] += weight * value[i];
}
// Adds products, but nothing for a weight of 0, whatever the value.
template <class T>
void AddPresent(T* __restrict sum, const T* __restrict value, const T* __restrict weight, size_t n) {
  for (size_t i = 0; i < n; ++i) sum[i] += weight[i] != 0 ? weight[i] * value[i] : T{0};
}
template <class T>
void AddWeighted(T* __restrict sum, const T* __restrict value, const T* __restrict weight, size_t n) {
  for (size_t i = 0; i < n; ++i) sum[i] += weight[i] * value[i];
}
// Adds two adjacent values for each sum.
template <class T>
void SumPairs(T* __restrict sum, const T* __restrict value, size_t n) {
  for (size_t i = 0; i < n; ++i) sum[i] = (T{0} + value[2 * i]) + value[2 * i + 1];
}

// Adds kRows rows, each with a weight, to +0. With `stream`, writes whole cache lines past the caches.
template <int kRows, class T>
HWY_INLINE void CombineSome(T* HWY_RESTRICT to, const T* const* row, const T* weight, size_t n, bool stream) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    auto sum = hn::Zero(d);
    for (int k = 0; k < kRows; ++k)
      sum = hn::Add(sum, hn::Mul(hn::Set(d, weight[k]), hn::LoadU(d, row[k] + i)));
    if (stream) {
      StoreWhole(d, sum, to + i, true);
    } else {
      hn::StoreU(sum, d, to + i);
    }
  }
  for (; i < n; ++i) {
    T sum = 0;
    for (int k = 0; k < kRows; ++k) sum += weight[k] * row[k][i];
    to[i] = sum;
  }
}
template <class T>
HWY_INLINE void Combine(T* to, const T* const* row, const T* weight, int rows, size_t n, bool stream) {
  stream = kCanStream && stream && reinterpret_cast<uintptr_t>(to) % 64 == 0;
  if (rows == 2) return CombineSome<2>(to, row, weight, n, stream);
  CombineSome<4>(to, row, weight, n, stream);
}

// Sums columns' taps along a row whose elements [begin, end) start at `from`. The indices and weights of a
// tap are listed column by column, and indices do not descend. Therefore a vector of indices lies within a
// few vectors of elements, mostly one, whose lanes are permuted.
void SumNear(float* HWY_RESTRICT sum, const float* from, int64_t begin, int64_t end, const int32_t* index,
             const float* weight, int64_t taps, size_t n) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const size_t lanes = hn::Lanes(d);
  const auto width = static_cast<int64_t>(lanes);
  from -= begin;
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    auto total = hn::Zero(d);
    for (int64_t tap = 0; tap < taps; ++tap) {
      const size_t at = static_cast<size_t>(tap) * n + i;
      const int64_t first = HWY_MIN(int64_t{index[at]}, end - width);
      auto value = hn::Undefined(d);
      if (first >= begin && index[at + lanes - 1] - first < width) {
        const auto lane = hn::Sub(hn::LoadU(di, index + at), hn::Set(di, static_cast<int32_t>(first)));
        value = hn::TableLookupLanes(hn::LoadU(d, from + first), hn::IndicesFromVec(d, lane));
      } else {
        HWY_ALIGN float gathered[HWY_MAX_BYTES / sizeof(float)];
        for (size_t k = 0; k < lanes; ++k) gathered[k] = from[index[at + k]];
        value = hn::Load(d, gathered);
      }
      total = hn::Add(total, hn::Mul(hn::LoadU(d, weight + at), value));
    }
    hn::StoreU(total, d, sum + i);
  }
  for (; i < n; ++i) {
    float total = 0;
    for (size_t at = i; at < static_cast<size_t>(taps) * n; at += n) total += weight[at] * from[index[at]];
    sum[i] = total;
  }
}

void CombineFloat(float* to, const float* const* row, const float* weight, int rows, size_t n, bool stream) {
  Combine(to, row, weight, rows, n, stream);
}
void CombineDouble(double* to, const double* const* row, const double* weight, int rows, size_t n,
                   bool stream) {
  Combine(to, row, weight, rows, n, stream);
}
void AddFloat(float* sum, const float* value, size_t n) { Add(sum, value, n); }
void AddDouble(double* sum, const double* value, size_t n) { Add(sum, value, n); }
void SumPairsFloat(float* sum, const float* value, size_t n) { SumPairs(sum, value, n); }
void SumPairsDouble(double* sum, const double* value, size_t n) { SumPairs(sum, value, n); }
void AddScaledFloat(float* sum, const float* value, float weight, size_t n) {
  AddScaled(sum, value, weight, n);
}
void AddScaledDouble(double* sum, const double* value, double weight, size_t n) {
  AddScaled(sum, value, weight, n);
}
void AddPresentFloat(float* sum, const float* value, const float* weight, size_t n) {
  AddPresent(sum, value, weight, n);
}
void AddWeightedFloat(float* sum, const float* value, const float* weight, size_t n) {
  AddWeighted(sum, value, weight, n);
}
void AddPresentDouble(double* sum, const double* value, const double* weight, size_t n) {
  AddPresent(sum, value, weight, n);
}
void AddWeightedDouble(double* sum, const double* value, const double* weight, size_t n) {
  AddWeighted(sum, value, weight, n);
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/data_type.h"
#include "engine/cache_size.h"
#include "engine/conversions.h"
#include "engine/isa_table.h"
#include "engine/resample/axes_memory.h"

#include <hwy/cache_control.h>

namespace portacl::engine {
namespace {

// Columns that are summed at a time, and source rows whose sums are kept: at least as many as a position has
// taps.
constexpr int64_t kTileColumns = 256;
constexpr int64_t kRowsKept = 8;
// If no column has more taps than this, all columns are padded to the same number.
constexpr int64_t kMostPadded = 12;
// Taps whose values are gathered at a time.
constexpr int64_t kTapsTogether = 512;
// Rows that are combined at once: the taps of a cubic position, those of two linear ones, or two.
constexpr int64_t kMostCombined = 4;
static_assert(kMostCombined < kRowsKept);

template <class T>
struct TileLoops {
  void (*add)(T* sum, const T* value, size_t n);
  void (*sum_pairs)(T* sum, const T* value, size_t n);
  void (*add_scaled)(T* sum, const T* value, T weight, size_t n);
  void (*add_weighted)(T* sum, const T* value, const T* weight, size_t n);
  void (*add_present)(T* sum, const T* value, const T* weight, size_t n);
  void (*combine)(T* to, const T* const* row, const T* weight, int rows, size_t n, bool stream);
  void (*sum_near)(T* sum, const T* from, int64_t begin, int64_t end, const int32_t* index, const T* weight,
                   int64_t taps, size_t n);
};

template <class T>
TileLoops<T> LoopsFor(Isa isa) {
  if constexpr (std::is_same_v<T, float>) {
    static constexpr auto kAdd = PORTACL_ISA_TABLE(AddFloat);
    static constexpr auto kSumPairs = PORTACL_ISA_TABLE(SumPairsFloat);
    static constexpr auto kAddScaled = PORTACL_ISA_TABLE(AddScaledFloat);
    static constexpr auto kAddWeighted = PORTACL_ISA_TABLE(AddWeightedFloat);
    static constexpr auto kAddPresent = PORTACL_ISA_TABLE(AddPresentFloat);
    static constexpr auto kCombine = PORTACL_ISA_TABLE(CombineFloat);
    static constexpr auto kSumNear = PORTACL_ISA_TABLE(SumNear);
    return {kAdd.For(isa),        kSumPairs.For(isa), kAddScaled.For(isa), kAddWeighted.For(isa),
            kAddPresent.For(isa), kCombine.For(isa),  kSumNear.For(isa)};
  } else {
    static constexpr auto kAdd = PORTACL_ISA_TABLE(AddDouble);
    static constexpr auto kSumPairs = PORTACL_ISA_TABLE(SumPairsDouble);
    static constexpr auto kAddScaled = PORTACL_ISA_TABLE(AddScaledDouble);
    static constexpr auto kAddWeighted = PORTACL_ISA_TABLE(AddWeightedDouble);
    static constexpr auto kAddPresent = PORTACL_ISA_TABLE(AddPresentDouble);
    static constexpr auto kCombine = PORTACL_ISA_TABLE(CombineDouble);
    return {kAdd.For(isa),
            kSumPairs.For(isa),
            kAddScaled.For(isa),
            kAddWeighted.For(isa),
            kAddPresent.For(isa),
            kCombine.For(isa),
            nullptr};
  }
}

struct RowTap {
  int64_t offset;  // of the source row, in bytes
  int64_t place;   // below kRowsKept, where its sum is kept; rows that are combined have different ones
  double weight;
};

// Columns of one tile that take elements at equal distances, each once. With column_step 0 all elements add
// to one column.
struct Range {
  int64_t offset;
  int64_t step;
  int32_t column;
  int32_t column_step;
  int64_t count;
};

struct ColumnTap {
  int64_t offset;
  double weight;
};

struct SumJob {
  // The storage of the columns' taps in a row:
  // - kRanges: arithmetic sequences, by tile.
  // - kFixed: the same number for every column. A tile's taps are contiguous: the first tap of all columns,
  // then the second and so on.
  // - kPadded: like kFixed, with missing taps of weight 0, which add nothing.
  // - kPairs: two for every column, which are the elements of a dense row in order, with weight 1.
  // - kListed: any taps, by column.
  // - kNear: like kFixed, along a dense row; a tile's taps ascend and lie within kTapsTogether elements.
  enum class Columns : uint8_t { kRanges, kFixed, kPadded, kPairs, kListed, kNear };

  AxesRows loop;
  Isa isa;
  Columns columns;
  bool is_wide;
  bool streams;       // the result is written past the caches, which cannot hold both sides
  int32_t from_size;  // of a number
  int32_t to_size;
  int64_t rows_of_plane;
  int64_t to_plane;
  int64_t to_row;
  int64_t to_step;
  int64_t taps;       // of a column, if all have the same number
  LoadFunction load;  // nullptr if nothing is converted
  StoreFunction store;
  Table<int64_t> first_row_tap;
  Table<RowTap> row_taps;
  Table<int64_t> first_in_tile;  // index of a stretch, or of a column's tap
  Table<Range> ranges;
  int64_t length;          // of a source row, for kNear
  Table<int64_t> offsets;  // for kFixed; 32-bit indices for kNear
  Table<double> weights;   // for both; float if that is the computed type
  Table<ColumnTap> column_taps;

  bool Touches(int operand) const noexcept { return operand == loop.source || operand == loop.destination; }
  int64_t Elements() const noexcept { return loop.batches * loop.rows * loop.columns; }
  // Returns where row `y` of all planes begins.
  int64_t RowOffset(int64_t y) const {
    if (loop.rows == rows_of_plane) return y * to_row;
    return y / rows_of_plane * to_plane + y % rows_of_plane * to_row;
  }
  void Run(const JobContext& context) const noexcept;
};

// A tile of columns of one batch's rows, computed as T.
template <class T>
class Tile {
 public:
  Tile(const SumJob& job, const std::byte* memory, const char* from, int64_t tile)
      : job_(job),
        loops_(LoopsFor<T>(job.isa)),
        from_(from),
        first_row_tap_(job.first_row_tap.In(memory)),
        row_taps_(job.row_taps.In(memory)),
        first_(job.first_in_tile.In(memory)),
        ranges_(job.ranges.In(memory)),
        offsets_(job.offsets.In(memory)),
        near_(IsNear() ? reinterpret_cast<const int32_t*>(offsets_) + job.taps * tile * kTileColumns
                       : nullptr),
        weights_(reinterpret_cast<const T*>(memory + job.weights.offset)),
        column_taps_(job.column_taps.In(memory)),
        tile_(tile),
        start_(tile * kTileColumns),
        columns_(std::min(kTileColumns, job.loop.columns - start_)) {
    std::fill_n(kept_, kRowsKept, nullptr);
  }

  void Row(int64_t y, char* to) {
    const int64_t begin = first_row_tap_[y];
    const int64_t end = first_row_tap_[y + 1];
    to += job_.RowOffset(y) + start_ * job_.to_step;
    const bool is_dense =
        job_.columns == SumJob::Columns::kPairs || job_.columns == SumJob::Columns::kRanges || IsNear();
    if (is_dense && y + 1 < job_.loop.rows) {
      for (int64_t tap = end; tap < first_row_tap_[y + 2]; ++tap) AskForRow(from_ + row_taps_[tap].offset);
    }
    if (end - begin == 1 && row_taps_[begin].weight == 1) return Store(SummedRow(row_taps_[begin]), to);
    alignas(64) T sum[kTileColumns];
    const bool is_fixed = job_.columns == SumJob::Columns::kFixed || IsNear();
    if (is_fixed && (end - begin == 2 || end - begin == kMostCombined)) {
      // Adjacent rows, all of which are kept at once.
      const T* rows[kMostCombined];
      T weights[kMostCombined];
      for (int64_t tap = begin; tap < end; ++tap) {
        rows[tap - begin] = SummedRow(row_taps_[tap]);
        weights[tap - begin] = static_cast<T>(row_taps_[tap].weight);
      }
      const bool in_place = job_.to_step == job_.to_size && job_.to_size == sizeof(T) && IsAligned(to);
      loops_.combine(in_place ? reinterpret_cast<T*>(to) : sum, rows, weights, static_cast<int>(end - begin),
                     static_cast<size_t>(columns_), in_place && job_.streams);
      return in_place ? void() : Store(sum, to);
    }
    std::fill_n(sum, columns_, T{0});
    for (int64_t tap = begin; tap < end; ++tap) {
      const T* const row = SummedRow(row_taps_[tap]);
      const T weight = static_cast<T>(row_taps_[tap].weight);
      if (weight == 1) {
        loops_.add(sum, row, static_cast<size_t>(columns_));
      } else {
        loops_.add_scaled(sum, row, weight, static_cast<size_t>(columns_));
      }
    }
    Store(sum, to);
  }

 private:
  bool IsNear() const { return job_.columns == SumJob::Columns::kNear; }
  // The range of a row's elements that the tile's columns use.
  int64_t NearBegin() const { return near_[0]; }
  int64_t NearEnd() const { return near_[job_.taps * columns_ - 1] + 1; }

  // Prefetches the next row if it is dense. A tile's part of a row is too short for hardware prefetching.
  void AskForRow(const char* from) const {
    if (IsNear()) return AskFor(from + NearBegin() * job_.from_size, NearEnd() - NearBegin());
    if (job_.columns == SumJob::Columns::kPairs)
      return AskFor(from + 2 * start_ * job_.from_size, 2 * columns_);
    for (const Range* one = ranges_ + first_[tile_]; one != ranges_ + first_[tile_ + 1]; ++one) {
      if (one->step == job_.from_size) AskFor(from + one->offset, one->count);
    }
  }
  void AskFor(const char* from, int64_t n) const {
    asm volatile("");  // otherwise gcc drops calls of this function, which seems to have no effect
    for (int64_t byte = 0; byte < n * job_.from_size; byte += 64) __builtin_prefetch(from + byte);
  }

  const T* SummedRow(const RowTap& tap) {
    const char* const from = from_ + tap.offset;
    const int64_t place = tap.place;
    T* const sum = sums_[place];
    if (kept_[place] == from) return sum;
    kept_[place] = from;
    switch (job_.columns) {
      case SumJob::Columns::kRanges:
        SumRanges(from, sum);
        break;
      case SumJob::Columns::kFixed:
        SumFixed(from, sum, loops_.add_weighted);
        break;
      case SumJob::Columns::kNear:
        SumNear(from, sum);
        break;
      case SumJob::Columns::kPadded:
        SumFixed(from, sum, loops_.add_present);
        break;
      case SumJob::Columns::kPairs:
        static_assert(2 * kTileColumns <= kTapsTogether);
        loops_.sum_pairs(sum, Numbers(from + 2 * start_ * job_.from_size, job_.from_size, 2 * columns_),
                         static_cast<size_t>(columns_));
        break;
      default:
        SumListed(from, sum);
    }
    return sum;
  }

  // Operands need not be aligned.
  static bool IsAligned(const char* at) { return reinterpret_cast<uintptr_t>(at) % alignof(T) == 0; }

  // Returns n numbers from `from` on, `step` bytes apart, without a copy if possible. At most kTapsTogether.
  const T* Numbers(const char* from, int64_t step, int64_t n) {
    const bool is_dense = step == job_.from_size;
    if (job_.load == nullptr) {
      if (is_dense && IsAligned(from)) return reinterpret_cast<const T*>(from);
      for (int64_t i = 0; i < n; ++i) std::memcpy(values_ + i, from + i * step, sizeof(T));
      return values_;
    }
    if (!is_dense) {
      for (int64_t i = 0; i < n; ++i) std::memcpy(raw_ + i, from + i * step, sizeof raw_[0]);
      from = reinterpret_cast<const char*>(raw_);
    }
    return Loaded(from, n);
  }

  // Returns the numbers at n indices.
  const T* NumbersAt(const char* from, const int64_t* offsets, int64_t stride, int64_t n) {
    if (job_.load == nullptr) {
      for (int64_t i = 0; i < n; ++i) std::memcpy(values_ + i, from + offsets[i * stride], sizeof(T));
      return values_;
    }
    for (int64_t i = 0; i < n; ++i) std::memcpy(raw_ + i, from + offsets[i * stride], sizeof raw_[0]);
    return Loaded(reinterpret_cast<const char*>(raw_), n);
  }

  const T* Loaded(const char* from, int64_t n) {
    if constexpr (std::is_same_v<T, float>) job_.load(from, values_, static_cast<size_t>(n));
    return values_;
  }

  void SumRanges(const char* from, T* sum) {
    std::fill_n(sum, columns_, T{0});
    for (const Range* one = ranges_ + first_[tile_]; one != ranges_ + first_[tile_ + 1]; ++one) {
      for (int64_t done = 0; done < one->count; done += kTapsTogether) {
        const int64_t n = std::min(kTapsTogether, one->count - done);
        const T* const value = Numbers(from + one->offset + done * one->step, one->step, n);
        T* const first = sum + one->column + done * one->column_step;
        if (one->column_step == 1) {
          loops_.add(first, value, static_cast<size_t>(n));
        } else {
          for (int64_t i = 0; i < n; ++i) first[i * one->column_step] += value[i];
        }
      }
    }
  }

  void SumFixed(const char* from, T* sum, decltype(TileLoops<T>::add_weighted) add) {
    std::fill_n(sum, columns_, T{0});
    const int64_t first = job_.taps * start_;
    for (int64_t tap = 0; tap < job_.taps; ++tap) {
      const int64_t at = first + tap * columns_;
      const T* const value = NumbersAt(from, offsets_ + at, 1, columns_);
      add(sum, value, weights_ + at, static_cast<size_t>(columns_));
    }
  }

  void SumNear(const char* from, T* sum) {
    const bool is_in_place = job_.load == nullptr && IsAligned(from);
    const int64_t begin = is_in_place ? 0 : NearBegin();
    const int64_t end = is_in_place ? job_.length : NearEnd();
    const T* const value = Numbers(from + begin * job_.from_size, job_.from_size, end - begin);
    loops_.sum_near(sum, value, begin, end, near_, weights_ + job_.taps * start_, job_.taps,
                    static_cast<size_t>(columns_));
  }

  void SumListed(const char* from, T* sum) {
    static_assert(sizeof(ColumnTap) == 2 * sizeof(int64_t));
    const int64_t* const first = first_ + start_;
    const int64_t end = first[columns_];
    int64_t column = 0;
    T total = 0;
    for (int64_t tap = first[0]; tap < end; tap += kTapsTogether) {
      const int64_t n = std::min(kTapsTogether, end - tap);
      const T* const value = NumbersAt(from, &column_taps_[tap].offset, 2, n);
      for (int64_t i = 0; i < n;) {
        while (first[column + 1] <= tap + i) {
          sum[column++] = total;
          total = 0;
        }
        const int64_t behind = std::min(n, first[column + 1] - tap);
        for (; i < behind; ++i) total += static_cast<T>(column_taps_[tap + i].weight) * value[i];
      }
    }
    for (; column < columns_; ++column) {
      sum[column] = total;
      total = 0;
    }
  }

  void Store(const T* sum, char* to) {
    const bool is_dense = job_.to_step == job_.to_size;
    const char* made = reinterpret_cast<const char*>(sum);
    if constexpr (std::is_same_v<T, float>) {
      if (job_.store != nullptr) {
        char* const rounded = is_dense ? to : reinterpret_cast<char*>(raw_);
        job_.store(sum, rounded, static_cast<size_t>(columns_), false);
        made = rounded;
        if (is_dense) return;
      }
    }
    if (is_dense) {
      std::memcpy(to, made, static_cast<size_t>(columns_ * job_.to_size));
    } else if (job_.to_size == sizeof(T)) {
      for (int64_t i = 0; i < columns_; ++i)
        std::memcpy(to + i * job_.to_step, made + i * sizeof(T), sizeof(T));
    } else {
      for (int64_t i = 0; i < columns_; ++i) std::memcpy(to + i * job_.to_step, made + 2 * i, 2);
    }
  }

  const SumJob& job_;
  const TileLoops<T> loops_;
  const char* const from_;
  const int64_t* const first_row_tap_;
  const RowTap* const row_taps_;
  const int64_t* const first_;
  const Range* const ranges_;
  const int64_t* const offsets_;
  const int32_t* const near_;  // the tile's indices
  const T* const weights_;
  const ColumnTap* const column_taps_;
  const int64_t tile_;
  const int64_t start_;
  const int64_t columns_;
  const char* kept_[kRowsKept];  // source rows whose sums are kept
  alignas(64) T sums_[kRowsKept][kTileColumns];
  alignas(64) T values_[kTapsTogether];
  alignas(64) uint16_t raw_[kTapsTogether];
};

template <class T>
void RunTiles(const SumJob& job, const JobContext& context) {
  const int64_t tiles = (job.loop.columns + kTileColumns - 1) / kTileColumns;
  job.loop.ForEachThreadBlock(context, [&](const char* from, char* to, int64_t first, int64_t last) {
    for (int64_t k = 0; k < tiles; ++k) {
      Tile<T> tile(job, context.memory, from, k);
      for (int64_t y = first; y < last; ++y) tile.Row(y, to);
    }
    if (job.streams) hwy::FlushStream();
  });
}

void SumJob::Run(const JobContext& context) const noexcept {
  if (is_wide) {
    RunTiles<double>(*this, context);
  } else {
    RunTiles<float>(*this, context);
  }
}

// Calls f(tile, stretch) for a piecewise map, whose sequences are cut at tiles. Maps from positions to
// indices.
template <class F>
void ForEachPart(const AxisMap& map, int64_t size, const F& f) {
  ForEachAxisRange(map, [&](int64_t a, int64_t b, int64_t count, int64_t index, int64_t step) {
    if (index < 0) return;
    int64_t offset = (a * map.outer_stride + b * map.inner_stride) * size;
    int64_t offset_step = map.inner_stride * size;
    if (step < 0) {
      // Each column gets one element, so that their order is free.
      offset += (count - 1) * offset_step;
      index += (count - 1) * step;
      offset_step = -offset_step;
      step = -step;
    }
    for (int64_t k = 0; k < count;) {
      const int64_t at = index + k * step;
      const int64_t tile = at / kTileColumns;
      const int64_t left = (tile + 1) * kTileColumns - at;
      const int64_t n = step == 0 ? count : std::min(count - k, (left + step - 1) / step);
      f(tile, Range{offset + k * offset_step, offset_step, static_cast<int32_t>(at - tile * kTileColumns),
                    static_cast<int32_t>(std::min(step, kTileColumns)), n});
      k += n;
    }
  });
}

// Turns counts of entries into their prefix sums. While entries are written, `first` advances for each;
// Rewind restores it.
void Accumulate(int64_t* count, int64_t n) {
  int64_t sum = 0;
  for (int64_t i = 0; i <= n; ++i) sum += std::exchange(count[i], sum);
}
void Rewind(int64_t* first, int64_t n) {
  for (int64_t i = n; i > 0; --i) first[i] = first[i - 1];
  first[0] = 0;
}

// Visits the taps of a map; for a gradient only those with a weight other than 0.
template <class F>
void ForEachTapOf(const AxisMap& map, Direction direction, const F& f) {
  ForEachTap(map, [&](int64_t a, int64_t b, int64_t index, double weight) {
    if (weight != 0 || direction == Direction::kToPositions) f(a, b, index, weight);
  });
}

// Returns the most positions that have an index under a smooth filter.
template <class T>
int64_t MostUnderFilter(const AxisMap& map) {
  int64_t most = 0;
  int64_t first = 0;
  for (int64_t b = 0; b < map.inner; ++b) {
    const int64_t index = axis_map::SmoothSpan<T>(map, b).first;
    while (first < b && axis_map::SmoothSpan<T>(map, first).end <= index) ++first;
    most = std::max(most, b + 1 - first);
  }
  return most;
}

// Returns an upper bound for the taps of one index, for an interpolating map, whose indices do not descend.
int64_t MostTapsOfIndex(const AxisMap& map) {
  if (map.IsSmooth() && !map.IsIdentity())
    return map.is_wide ? MostUnderFilter<double>(map) : MostUnderFilter<float>(map);
  int64_t most = 0;
  int64_t run = 0;
  int64_t last = -1;
  int64_t place = -1;
  ForEachTap(map, [&](int64_t, int64_t b, int64_t index, double) {
    if (std::exchange(place, b) == b) return;
    run = std::exchange(last, index) == index ? run + 1 : 1;
    most = std::max(most, run);
  });
  // An index is the first tap of some positions, the second of others, and so on. The last index is all the
  // taps of positions beyond it, and all taps but the first of those before these.
  return map.MostTaps() * (map.MostTaps() + 1) / 2 * most;
}

// Whether the indices of a tile ascend within as many elements as are loaded at once. For interpolation only.
bool IsNear(const AxisMap& map) {
  if (map.IsPiecewise() || map.IsSmooth() || map.length > std::numeric_limits<int32_t>::max()) return false;
  bool is_near = true;
  int64_t begin = 0;
  int64_t above[kMostCombined] = {};  // the previous index of each tap
  int64_t tap = 0;
  ForEachTap(map, [&](int64_t, int64_t b, int64_t index, double) {
    if (b % kTileColumns == 0 && tap == 0) begin = index;
    is_near = is_near && index >= above[tap] && index - begin < kTapsTogether;
    above[tap] = index;
    tap = tap + 1 < map.MostTaps() ? tap + 1 : 0;
    is_near = is_near && index >= above[0];
  });
  return is_near;
}

struct Numbers {
  int64_t size;
  int parts;
  LoadFunction load;
  StoreFunction store;
  bool is_wide;
};

Numbers NumbersOf(aclDataType dtype, Isa isa) {
  const auto size = static_cast<int64_t>(StorageBits(dtype) / 8);
  switch (dtype) {
    case ACL_DOUBLE:
      return {size, 1, nullptr, nullptr, true};
    case ACL_COMPLEX128:
      return {size, 2, nullptr, nullptr, true};
    case ACL_COMPLEX64:
      return {size, 2, nullptr, nullptr, false};
    case ACL_FLOAT:
      return {size, 1, nullptr, nullptr, false};
    default:
      return {size, 1, FindLoad(isa, dtype, ACL_FLOAT), FindStore(isa, dtype), false};
  }
}

// Returns an upper bound for the calls that ForEachPart makes: the number of sequences times the tiles that
// one may cross.
int64_t MostParts(const AxisMap& map) {
  const bool are_windows = map.kind == AxisMap::Kind::kWindows;
  int64_t reach = map.length;
  if (are_windows && __builtin_mul_overflow(map.inner - 1, map.inner_step, &reach)) reach = map.length;
  const int64_t tiles = std::min(reach, map.length) / kTileColumns + 2;
  // Each window is one sequence of indices.
  return TableSizes::Times(are_windows ? map.outer : MostRanges(map), std::min(map.inner, tiles));
}

// Makes a job, whose tables may be written later.
struct SumMaker {
  AxesRows loop;
  AxisMaps maps;
  Direction direction;
  aclDataType from;
  aclDataType to;
  Isa isa;

  bool Touches(int operand) const noexcept { return operand == loop.source || operand == loop.destination; }
  int64_t Elements() const noexcept { return loop.batches * loop.rows * loop.columns; }
  bool ToPositions() const noexcept { return direction == Direction::kToPositions; }
  bool IsGathered() const noexcept { return !ToPositions() && !maps.columns.IsPiecewise(); }
  // Whether positions of columns have taps of different numbers.
  bool VariesToPositions() const noexcept {
    return ToPositions() && maps.columns.IsSmooth() && !maps.columns.IsIdentity();
  }
  int64_t Tiles() const noexcept {
    return loop.columns / kTileColumns + (loop.columns % kTileColumns != 0 ? 1 : 0);
  }
  int64_t MostRowTaps() const noexcept;
  int64_t TableBytes() const noexcept;
  SumJob Make(std::byte* memory) const noexcept;

 private:
  // The job but for what is in its tables.
  SumJob Laid(const Numbers& numbers) const noexcept;
  void WriteRows(const SumJob& job, std::byte* memory, int64_t size) const noexcept;
  void WriteFixed(const SumJob& job, std::byte* memory, int64_t size) const noexcept;
  // The taps of each position, padded to as many as one may have.
  void WriteVarying(const SumJob& job, std::byte* memory, int64_t size) const noexcept;
  // The taps of each index, padded to as many as any has, which are then counted, or listed.
  void WritePadded(SumJob& job, std::byte* memory, int64_t size, bool is_complex) const noexcept;
  void WriteListed(const SumJob& job, std::byte* memory, int64_t size) const noexcept;
  void WriteStretches(const SumJob& job, std::byte* memory, int64_t size) const noexcept;
  // A tap of a column, by its number.
  void WriteTap(const SumJob& job, std::byte* memory, int64_t column, int64_t number, int64_t place,
                double weight) const noexcept;
};

int64_t SumMaker::MostRowTaps() const noexcept {
  return TableSizes::Times(TableSizes::Times(maps.planes.Positions(), maps.planes.MostTaps()),
                           TableSizes::Times(maps.rows.Positions(), maps.rows.MostTaps()));
}

int64_t SumMaker::TableBytes() const noexcept {
  const AxisMap& columns = maps.columns;
  TableSizes sizes;
  sizes.Add<int64_t>(std::min(loop.rows, TableSizes::kMost) + 1);
  sizes.Add<RowTap>(MostRowTaps());
  if (IsGathered()) {
    sizes.Add<int64_t>(std::min(loop.columns, TableSizes::kMost) + 1);
    const int64_t padded = TableSizes::Times(loop.columns, kMostPadded);
    sizes.Add<ColumnTap>(std::max(padded, TableSizes::Times(columns.Positions(), columns.MostTaps())));
    sizes.Add<ColumnTap>(1);  // for rounding up padded taps
  } else if (ToPositions()) {
    const int64_t taps = TableSizes::Times(loop.columns, columns.MostTaps());
    sizes.Add<int64_t>(1);
    sizes.Add<int64_t>(taps);
    sizes.Add<double>(taps);
  } else {
    sizes.Add<int64_t>(Tiles() + 1);
    sizes.Add<Range>(MostParts(columns));
  }
  return sizes.bytes();
}

SumJob SumMaker::Laid(const Numbers& numbers) const noexcept {
  const Numbers made = NumbersOf(to, isa);
  const AxisMap& planes = maps.planes;
  const AxisMap& rows = maps.rows;
  const AxisMap& columns = maps.columns;
  const bool to_positions = ToPositions();
  const bool is_gathered = IsGathered();
  SumJob job;
  job.loop = loop;
  job.isa = isa;
  job.taps = is_gathered ? MostTapsOfIndex(columns) : columns.MostTaps();
  const bool is_near = to_positions && numbers.parts == 1 && !numbers.is_wide && columns.index_stride == 1 &&
                       columns.MostTaps() > 1 && IsNear(columns);
  job.columns = is_near                   ? SumJob::Columns::kNear
                : VariesToPositions()     ? SumJob::Columns::kPadded
                : to_positions            ? SumJob::Columns::kFixed
                : !is_gathered            ? SumJob::Columns::kRanges
                : job.taps <= kMostPadded ? SumJob::Columns::kPadded
                                          : SumJob::Columns::kListed;
  const bool is_padded = job.columns == SumJob::Columns::kPadded;
  const int64_t placed = to_positions || is_padded ? job.taps * loop.columns : 0;
  TableSizes sizes;
  job.first_row_tap = sizes.Add<int64_t>(loop.rows + 1);
  job.row_taps = sizes.Add<RowTap>(MostRowTaps());
  job.first_in_tile = sizes.Add<int64_t>(to_positions ? 0 : (is_gathered ? loop.columns : Tiles()) + 1);
  job.offsets = sizes.Add<int64_t>(placed);
  job.weights = sizes.Add<double>(placed);
  job.column_taps =
      sizes.Add<ColumnTap>(is_gathered && !is_padded ? columns.Positions() * columns.MostTaps() : 0);
  job.ranges = sizes.Add<Range>(0);  // the last: as many as there are
  job.is_wide = numbers.is_wide;
  job.streams = to_positions && job.Elements() > LastLevelCacheBytes() / (2 * made.size);
  job.length = columns.length;
  job.from_size = static_cast<int32_t>(numbers.size / numbers.parts);
  job.to_size = static_cast<int32_t>(made.size / numbers.parts);
  job.rows_of_plane = to_positions ? rows.Positions() : rows.length;
  job.to_plane = (to_positions ? planes.inner_stride : planes.index_stride) * made.size;
  job.to_row = (to_positions ? rows.inner_stride : rows.index_stride) * made.size;
  job.to_step = (to_positions ? columns.inner_stride : columns.index_stride) * made.size;
  job.load = numbers.load;
  job.store = made.store;
  return job;
}

void SumMaker::WriteRows(const SumJob& job, std::byte* memory, int64_t size) const noexcept {
  int64_t* const first_tap = job.first_row_tap.In(memory);
  RowTap* const taps = job.row_taps.In(memory);
  // Neighbours on both sides of a tap: `to` counts what is made, `from` what is summed.
  struct Ends {
    int64_t to;
    int64_t from;
    int64_t offset;  // of `from`
  };
  const auto ends = [&](const AxisMap& map, int64_t a, int64_t b, int64_t index) {
    const int64_t position = a * map.inner + b;
    return ToPositions() ? Ends{position, index, index * map.index_stride}
                         : Ends{index, position, a * map.outer_stride + b * map.inner_stride};
  };
  // Calls f(row, tap) for each tap of each row, plane by plane.
  const auto for_each = [&](const auto& f) {
    ForEachTapOf(maps.planes, direction, [&](int64_t plane_a, int64_t plane_b, int64_t plane, double part) {
      const Ends z = ends(maps.planes, plane_a, plane_b, plane);
      ForEachTapOf(maps.rows, direction, [&](int64_t a, int64_t b, int64_t index, double weight) {
        const Ends y = ends(maps.rows, a, b, index);
        // The neighbours along planes share the places of rows.
        constexpr int64_t kOfPlane = kRowsKept / 2;
        const int64_t place =
            maps.planes.MostTaps() == 1 ? y.from % kRowsKept : z.from % 2 * kOfPlane + y.from % kOfPlane;
        f(z.to * job.rows_of_plane + y.to, RowTap{(z.offset + y.offset) * size, place, part * weight});
      });
    });
  };
  std::fill_n(first_tap, loop.rows + 1, int64_t{0});
  for_each([&](int64_t row, const RowTap&) { ++first_tap[row]; });
  Accumulate(first_tap, loop.rows);
  for_each([&](int64_t row, const RowTap& tap) { taps[first_tap[row]++] = tap; });
  Rewind(first_tap, loop.rows);
}

void SumMaker::WriteTap(const SumJob& job, std::byte* memory, int64_t column, int64_t number, int64_t place,
                        double weight) const noexcept {
  const int64_t start = column / kTileColumns * kTileColumns;
  const int64_t at =
      start * job.taps + number * std::min(kTileColumns, loop.columns - start) + (column - start);
  if (job.columns == SumJob::Columns::kNear) {
    reinterpret_cast<int32_t*>(job.offsets.In(memory))[at] = static_cast<int32_t>(place / job.from_size);
  } else {
    job.offsets.In(memory)[at] = place;
  }
  if (job.is_wide) {
    job.weights.In(memory)[at] = weight;
  } else {
    reinterpret_cast<float*>(job.weights.In(memory))[at] = static_cast<float>(weight);
  }
}

void SumMaker::WriteFixed(const SumJob& job, std::byte* memory, int64_t size) const noexcept {
  int64_t next = 0;
  ForEachTap(maps.columns, [&](int64_t, int64_t b, int64_t index, double weight) {
    WriteTap(job, memory, b, next++ % job.taps, index * maps.columns.index_stride * size, weight);
  });
}

void SumMaker::WriteVarying(const SumJob& job, std::byte* memory, int64_t size) const noexcept {
  for (int64_t column = 0; column < loop.columns; ++column) {
    for (int64_t tap = 0; tap < job.taps; ++tap) WriteTap(job, memory, column, tap, 0, 0);
  }
  int64_t last = -1;
  int64_t number = 0;
  ForEachTap(maps.columns, [&](int64_t, int64_t b, int64_t index, double weight) {
    number = std::exchange(last, b) == b ? number + 1 : 0;
    WriteTap(job, memory, b, number, index * maps.columns.index_stride * size, weight);
  });
}

void SumMaker::WritePadded(SumJob& job, std::byte* memory, int64_t size, bool is_complex) const noexcept {
  const AxisMap& columns = maps.columns;
  int64_t* const first = job.first_in_tile.In(memory);
  std::fill_n(first, loop.columns + 1, int64_t{0});
  ForEachTapOf(columns, direction, [&](int64_t, int64_t, int64_t index, double) { ++first[index]; });
  job.taps = std::max<int64_t>(1, *std::max_element(first, first + loop.columns));
  for (int64_t column = 0; column < loop.columns; ++column) {
    for (int64_t tap = 0; tap < job.taps; ++tap) WriteTap(job, memory, column, tap, 0, 0);
  }
  std::fill_n(first, loop.columns, int64_t{0});
  bool are_pairs =
      job.taps == 2 && !is_complex && columns.inner_stride == 1 && columns.inner == 2 * loop.columns;
  ForEachTapOf(columns, direction, [&](int64_t, int64_t b, int64_t index, double weight) {
    are_pairs = are_pairs && b == 2 * index + first[index] && weight == 1;
    WriteTap(job, memory, index, first[index]++, b * columns.inner_stride * size, weight);
  });
  if (are_pairs) job.columns = SumJob::Columns::kPairs;
}

void SumMaker::WriteListed(const SumJob& job, std::byte* memory, int64_t size) const noexcept {
  const AxisMap& columns = maps.columns;
  int64_t* const first = job.first_in_tile.In(memory);
  std::fill_n(first, loop.columns + 1, int64_t{0});
  ForEachTapOf(columns, direction, [&](int64_t, int64_t, int64_t index, double) { ++first[index]; });
  Accumulate(first, loop.columns);
  ForEachTapOf(columns, direction, [&](int64_t, int64_t b, int64_t index, double weight) {
    job.column_taps.In(memory)[first[index]++] = {b * columns.inner_stride * size, weight};
  });
  Rewind(first, loop.columns);
}

void SumMaker::WriteStretches(const SumJob& job, std::byte* memory, int64_t size) const noexcept {
  const int64_t tiles = Tiles();
  int64_t* const first = job.first_in_tile.In(memory);
  std::fill_n(first, tiles + 1, int64_t{0});
  ForEachPart(maps.columns, size, [&](int64_t tile, const Range&) { ++first[tile]; });
  Accumulate(first, tiles);
  ForEachPart(maps.columns, size,
              [&](int64_t tile, const Range& one) { job.ranges.In(memory)[first[tile]++] = one; });
  Rewind(first, tiles);
}

SumJob SumMaker::Make(std::byte* memory) const noexcept {
  const Numbers numbers = NumbersOf(from, isa);
  const int64_t size = numbers.size;
  SumJob job = Laid(numbers);
  WriteRows(job, memory, size);
  switch (job.columns) {
    case SumJob::Columns::kPadded:
      if (ToPositions()) {
        WriteVarying(job, memory, size);
      } else {
        WritePadded(job, memory, size, numbers.parts == 2);
      }
      break;
    case SumJob::Columns::kListed:
      WriteListed(job, memory, size);
      break;
    case SumJob::Columns::kRanges:
      WriteStretches(job, memory, size);
      break;
    default:
      WriteFixed(job, memory, size);
  }
  return job;
}

}  // namespace

AnyJob MakeSumJob(JobMemory& memory, const AxesOperands& operands, const AxisMaps& maps, Direction direction,
                  Isa isa, int threads) noexcept {
  const bool to_positions = direction == Direction::kToPositions;
  SumMaker maker{{}, Normalized(maps), direction, operands.source->dtype, operands.destination->dtype, isa};
  const Numbers numbers = NumbersOf(maker.from, isa);
  maker.loop.Set(
      operands, numbers.size, NumbersOf(maker.to, isa).size, numbers.parts,
      to_positions ? maps.planes.Positions() * maps.rows.Positions() : maps.planes.length * maps.rows.length,
      to_positions ? maps.columns.Positions() : maps.columns.length, threads);
  return MakeJobWithTables(memory, maker,
                           to_positions ? operands.destination_operand : operands.source_operand,
                           MostPositions(maps));
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
