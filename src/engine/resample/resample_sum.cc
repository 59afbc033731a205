// Makes jobs of weighted sums along up to three axes (see axes.h): chooses how the taps of columns are stored, and writes the tables.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "base/data_type.h"
#include "engine/cache_size.h"
#include "engine/conversions.h"
#include "engine/resample/axes_memory.h"
#include "engine/resample/sum_job.h"

namespace portacl::engine {
namespace {

// Calls f(tile, range) for a piecewise map, whose sequences are cut at tiles. Maps from positions to
// indices.
template <class F>
void ForEachRangeInTile(const AxisMap& map, int64_t size, const F& f) {
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
  int64_t position = -1;
  ForEachTap(map, [&](int64_t, int64_t b, int64_t index, double) {
    if (std::exchange(position, b) == b) return;
    run = std::exchange(last, index) == index ? run + 1 : 1;
    most = std::max(most, run);
  });
  // An index is the first tap of some positions, the second of others, and so on. The last index is all the
  // taps of positions beyond it, and all taps but the first of those before these.
  return map.MostTaps() * (map.MostTaps() + 1) / 2 * most;
}

// Tells whether the indices of a tile ascend within as many elements as are loaded at once. For interpolation only.
bool IsNear(const AxisMap& map) {
  if (map.IsPiecewise() || map.IsSmooth() || map.length > std::numeric_limits<int32_t>::max()) return false;
  if (!(map.step >= 0)) return false;  // the indices of each tap ascend with positions
  for (int64_t b = 0; b < map.inner; b += kTileColumns) {
    int64_t begin = map.length;
    int64_t end = 0;
    const auto widen = [&](int64_t, int64_t, int64_t index, double) {
      begin = std::min(begin, index);
      end = std::max(end, index);
    };
    for (const int64_t position : {b, std::min(b + kTileColumns, map.inner) - 1})
      ForEachTapOfPosition(map, position, widen);
    if (end - begin >= kTapsTogether) return false;
  }
  return true;
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

// Returns an upper bound for the calls that ForEachRangeInTile makes: the number of sequences times the tiles that
// one may cross.
int64_t MostRangesInTiles(const AxisMap& map) {
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
  // Tells whether positions of columns have taps of different numbers.
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
  // Returns the job without the contents of its tables.
  SumJob Laid(const Numbers& numbers) const noexcept;
  void WriteRows(const SumJob& job, std::byte* memory, int64_t size) const noexcept;
  void WriteFixed(const SumJob& job, std::byte* memory, int64_t size) const noexcept;
  void WriteNear(const SumJob& job, std::byte* memory) const noexcept;
  // Writes the taps of each position, padded to the same number.
  void WriteVarying(const SumJob& job, std::byte* memory, int64_t size) const noexcept;
  // Tells whether each column is the sum of two neighbours.
  bool ArePairs() const noexcept;
  // Write the taps of each index, padded to the largest number that occurs, or as a list.
  void WritePadded(SumJob& job, std::byte* memory, int64_t size, bool is_complex) const noexcept;
  void WriteListed(const SumJob& job, std::byte* memory, int64_t size) const noexcept;
  void WriteRanges(const SumJob& job, std::byte* memory, int64_t size) const noexcept;
  // Writes one tap of a column.
  void WriteTap(const SumJob& job, std::byte* memory, int64_t column, int64_t number, int64_t offset,
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
    sizes.Add<Range>(MostRangesInTiles(columns));
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
  const int64_t tap_count = to_positions || is_padded ? job.taps * loop.columns : 0;
  TableSizes sizes;
  job.first_row_tap = sizes.Add<int64_t>(loop.rows + 1);
  job.row_taps = sizes.Add<RowTap>(MostRowTaps());
  job.first_in_tile = sizes.Add<int64_t>(to_positions ? 0 : (is_gathered ? loop.columns : Tiles()) + 1);
  job.offsets = sizes.Add<int64_t>(tap_count);
  job.weights = sizes.Add<double>(tap_count);
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
  // Both ends of a tap along one axis: the index of the result (`to`) and of the element that is added to it (`from`).
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
        // The neighbours along planes share the slots of rows.
        constexpr int64_t kOfPlane = kRowsKept / 2;
        const int64_t slot =
            maps.planes.MostTaps() == 1 ? y.from % kRowsKept : z.from % 2 * kOfPlane + y.from % kOfPlane;
        f(z.to * job.rows_of_plane + y.to, RowTap{(z.offset + y.offset) * size, slot, part * weight});
      });
    });
  };
  std::fill_n(first_tap, loop.rows + 1, int64_t{0});
  for_each([&](int64_t row, const RowTap&) { ++first_tap[row]; });
  Accumulate(first_tap, loop.rows);
  for_each([&](int64_t row, const RowTap& tap) { taps[first_tap[row]++] = tap; });
  Rewind(first_tap, loop.rows);
}

void SumMaker::WriteTap(const SumJob& job, std::byte* memory, int64_t column, int64_t number, int64_t offset,
                        double weight) const noexcept {
  const int64_t start = column / kTileColumns * kTileColumns;
  const int64_t at =
      start * job.taps + number * std::min(kTileColumns, loop.columns - start) + (column - start);
  job.offsets.In(memory)[at] = offset;
  if (job.is_wide) {
    job.weights.In(memory)[at] = weight;
  } else {
    reinterpret_cast<float*>(job.weights.In(memory))[at] = static_cast<float>(weight);
  }
}

void SumMaker::WriteFixed(const SumJob& job, std::byte* memory, int64_t size) const noexcept {
  if (job.columns == SumJob::Columns::kNear) return WriteNear(job, memory);
  int64_t tap = 0;
  ForEachTap(maps.columns, [&](int64_t, int64_t b, int64_t index, double weight) {
    WriteTap(job, memory, b, tap, index * maps.columns.index_stride * size, weight);
    tap = tap + 1 < job.taps ? tap + 1 : 0;
  });
}

void SumMaker::WriteNear(const SumJob& job, std::byte* memory) const noexcept {
  auto* const indices = reinterpret_cast<int32_t*>(job.offsets.In(memory));
  auto* const weights = reinterpret_cast<float*>(job.weights.In(memory));
  for (int64_t start = 0; start < loop.columns; start += kTileColumns) {
    const int64_t n = std::min(kTileColumns, loop.columns - start);
    for (int64_t b = start; b < start + n; ++b) {
      int64_t at = start * job.taps + (b - start);
      ForEachTapOfPosition(maps.columns, b, [&](int64_t, int64_t, int64_t index, double weight) {
        indices[at] = static_cast<int32_t>(index);
        weights[at] = static_cast<float>(weight);
        at += n;
      });
    }
  }
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

bool SumMaker::ArePairs() const noexcept {
  const AxisMap& columns = maps.columns;
  if (columns.inner_stride != 1 || columns.inner != 2 * loop.columns) return false;
  int64_t taps = 0;
  bool are_pairs = true;
  ForEachTapOf(columns, direction, [&](int64_t, int64_t b, int64_t index, double weight) {
    are_pairs = are_pairs && b == taps && index == b / 2 && weight == 1;
    ++taps;
  });
  return are_pairs && taps == columns.inner;
}

void SumMaker::WritePadded(SumJob& job, std::byte* memory, int64_t size, bool is_complex) const noexcept {
  if (!is_complex && ArePairs()) {
    job.columns = SumJob::Columns::kPairs;
    return;
  }
  const AxisMap& columns = maps.columns;
  int64_t* const first = job.first_in_tile.In(memory);
  std::fill_n(first, loop.columns + 1, int64_t{0});
  ForEachTapOf(columns, direction, [&](int64_t, int64_t, int64_t index, double) { ++first[index]; });
  job.taps = std::max<int64_t>(1, *std::max_element(first, first + loop.columns));
  for (int64_t column = 0; column < loop.columns; ++column) {
    for (int64_t tap = 0; tap < job.taps; ++tap) WriteTap(job, memory, column, tap, 0, 0);
  }
  std::fill_n(first, loop.columns, int64_t{0});
  ForEachTapOf(columns, direction, [&](int64_t, int64_t b, int64_t index, double weight) {
    WriteTap(job, memory, index, first[index]++, b * columns.inner_stride * size, weight);
  });
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

void SumMaker::WriteRanges(const SumJob& job, std::byte* memory, int64_t size) const noexcept {
  const int64_t tiles = Tiles();
  int64_t* const first = job.first_in_tile.In(memory);
  std::fill_n(first, tiles + 1, int64_t{0});
  ForEachRangeInTile(maps.columns, size, [&](int64_t tile, const Range&) { ++first[tile]; });
  Accumulate(first, tiles);
  ForEachRangeInTile(maps.columns, size,
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
      WriteRanges(job, memory, size);
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
