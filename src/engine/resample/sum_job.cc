// Runs weighted sums along up to three axes (see sum_job.h). Each source row is summed once along the columns' taps. Such rows are then
// summed along the rows' taps, a tile of columns at a time.
// SPDX-License-Identifier: Apache-2.0
#include "engine/resample/sum_job.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/vector_targets.h"
#include "engine/move/block.h"
#include "engine/resample/sum_loops.h"

#include <hwy/cache_control.h>

namespace portacl::engine {
namespace {

// Tiles whose part of a row is computed before the next row, if rows are sums of their own: rows may be a power of two
// apart, so that memory is read and written in long pieces.
constexpr int64_t kTilesTogether = 16;

// A tile of columns of one batch's rows, computed as T.
template <class T>
class Tile {
 public:
  Tile(const SumJob& job, const std::byte* memory, const char* from)
      : job_(job),
        loops_(LoopsFor<T>(job.isa)),
        from_(from),
        first_row_tap_(job.first_row_tap.In(memory)),
        row_taps_(job.row_taps.In(memory)),
        first_(job.first_in_tile.In(memory)),
        ranges_(job.ranges.In(memory)),
        offsets_(job.offsets.In(memory)),
        weights_(reinterpret_cast<const T*>(memory + job.weights.offset)),
        column_taps_(job.column_taps.In(memory)) {}

  void MoveTo(int64_t tile) {
    tile_ = tile;
    start_ = tile * kTileColumns;
    columns_ = std::min(kTileColumns, job_.loop.columns - start_);
    near_ = IsNear() ? reinterpret_cast<const int32_t*>(offsets_) + job_.taps * start_ : nullptr;
    std::fill_n(kept_, kRowsKept, nullptr);
  }

  // Tells whether these rows are made of one source row each, on average.
  bool HasOwnRows(int64_t first, int64_t last) const {
    return first_row_tap_[last] - first_row_tap_[first] == last - first;
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
    const int64_t slot = tap.slot;
    T* const sum = sums_[slot];
    if (kept_[slot] == from) return sum;
    kept_[slot] = from;
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
      CopyBytes(made, to, columns_ * job_.to_size, job_.streams);
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
  const T* const weights_;
  const ColumnTap* const column_taps_;
  int64_t tile_ = 0;
  int64_t start_ = 0;
  int64_t columns_ = 0;
  const int32_t* near_ = nullptr;  // the tile's indices
  const char* kept_[kRowsKept];    // source rows whose sums are kept
  alignas(64) T sums_[kRowsKept][kTileColumns];
  alignas(64) T values_[kTapsTogether];
  alignas(64) uint16_t raw_[kTapsTogether];
};

template <class T>
void RunTiles(const SumJob& job, const JobContext& context) {
  const int64_t tiles = (job.loop.columns + kTileColumns - 1) / kTileColumns;
  job.loop.ForEachThreadBlock(context, [&](const char* from, char* to, int64_t first, int64_t last) {
    Tile<T> tile(job, context.memory, from);
    const int64_t together = tile.HasOwnRows(first, last) ? kTilesTogether : 1;
    for (int64_t k = 0; k < tiles; k += together) {
      const int64_t end = std::min(tiles, k + together);
      if (together == 1) tile.MoveTo(k);
      for (int64_t y = first; y < last; ++y) {
        for (int64_t part = k; part < end; ++part) {
          if (together > 1) tile.MoveTo(part);
          tile.Row(y, to);
        }
      }
    }
    if (job.streams) hwy::FlushStream();
  });
}

}  // namespace

void SumJob::Run(const JobContext& context) const noexcept {
  if (is_wide) {
    RunTiles<double>(*this, context);
  } else {
    RunTiles<float>(*this, context);
  }
}

}  // namespace portacl::engine
