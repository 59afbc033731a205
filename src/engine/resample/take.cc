// Takes elements along two axes (see axes.h). A row consists of a few sequences, each of which is one copy,
// or of a table of indices.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/data_type.h"
#include "engine/cache_size.h"
#include "engine/move/block.h"
#include "engine/move/conversion.h"
#include "engine/resample/axes_memory.h"

#include <hwy/cache_control.h>

namespace portacl::engine {

// The bytes that a block writes.
constexpr int64_t kThreadBlockBytes = 131072;

void AxesRows::Set(const AxesOperands& operands, int64_t from_size, int64_t to_size, int parts,
                   int64_t row_count, int64_t column_count, int thread_limit) noexcept {
  const StridedView& from = *operands.source;
  const StridedView& to = *operands.destination;
  source = static_cast<int8_t>(operands.source_operand);
  destination = static_cast<int8_t>(operands.destination_operand);
  threads = thread_limit;
  batch_rank = 0;
  batches = 1;
  for (int dim = 0; dim < operands.batch_rank; ++dim) {
    if (to.shape[dim] == 1) continue;
    extent[batch_rank] = to.shape[dim];
    from_stride[batch_rank] = ByteStride(from, dim);
    to_stride[batch_rank++] = ByteStride(to, dim);
    batches *= to.shape[dim];
  }
  if (parts > 1) {
    extent[batch_rank] = parts;
    from_stride[batch_rank] = from_size / parts;
    to_stride[batch_rank] = to_size / parts;
    ++batch_rank;
    batches *= parts;
  }
  from_offset = ByteOffset(from);
  to_offset = ByteOffset(to);
  rows = row_count;
  columns = column_count;
  rows_together = std::max<int64_t>(
      1, kThreadBlockBytes / std::max<int64_t>(1, std::min(columns, kThreadBlockBytes) * to_size));
}

namespace {

struct RowOfTake {
  int64_t to;
  int64_t from;  // bytes from the batch's start
  bool is_zero;
};

struct Range {
  int64_t to;  // bytes from the row's start
  int64_t from;
  int64_t step;
  int64_t count;
  bool is_zero;
};

struct Wide {
  uint64_t half[2];
};

struct TakeJob {
  AxesRows loop;
  Conversion conversion;
  int32_t size;     // of the destination's elements
  int64_t to_step;  // within a sequence
  int64_t range_count;
  bool has_indices;  // the row is a table of indices
  bool is_doubled;   // the table takes dense elements, each twice
  bool streams;      // long sequences are written past the caches, which cannot hold both sides
  Table<RowOfTake> rows;
  Table<Range> ranges;
  Table<int64_t> offsets;

  bool Touches(int operand) const noexcept { return operand == loop.source || operand == loop.destination; }
  int64_t Elements() const noexcept { return loop.batches * loop.rows * loop.columns; }
  void Run(const JobContext& context) const noexcept;
};

template <class T>
T At(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void Put(char* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

// Two adjacent elements.
template <class T>
using Pair =
    std::conditional_t<sizeof(T) == 1, uint16_t, std::conditional_t<sizeof(T) == 2, uint32_t, uint64_t>>;

// Writes each of n elements twice.
template <class T>
void Double(const char* from, char* to, int64_t n) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < n; ++i) {
    const T one = At<T>(from + i * kSize);
    if constexpr (sizeof(T) <= 4) {
      Put(to + 2 * i * kSize, static_cast<Pair<T>>(one | Pair<T>{one} << (8 * sizeof(T))));
    } else {
      Put(to + 2 * i * kSize, one);
      Put(to + (2 * i + 1) * kSize, one);
    }
  }
}

// Copies a row with an element type of the same size.
template <class T>
class RowCopier {
 public:
  RowCopier(const TakeJob& job, const std::byte* memory)
      : job_(job), ranges_(job.ranges.In(memory)), offsets_(job.offsets.In(memory)) {}

  void Zero(char* to) const {
    if (job_.has_indices) return ZeroSome(to, job_.loop.columns);
    for (int64_t k = 0; k < job_.range_count; ++k) ZeroSome(to + ranges_[k].to, ranges_[k].count);
  }

  void Copy(const char* from, char* to) const {
    if (job_.has_indices) {
      const int64_t n = job_.loop.columns;
      if (job_.is_doubled) {
        Double<T>(from, to, n / 2);
      } else if (job_.to_step == kSize) {
        for (int64_t i = 0; i < n; ++i) Put(to + i * kSize, At<T>(from + offsets_[i]));
      } else {
        for (int64_t i = 0; i < n; ++i) Put(to + i * job_.to_step, At<T>(from + offsets_[i]));
      }
      return;
    }
    for (int64_t k = 0; k < job_.range_count; ++k) {
      const Range& range = ranges_[k];
      if (range.is_zero) {
        ZeroSome(to + range.to, range.count);
      } else {
        CopySome(from + range.from, range.step, to + range.to, range.count);
      }
    }
  }

  bool is_dense() const { return job_.to_step == kSize; }

 private:
  static constexpr int64_t kSize = sizeof(T);
  // memcpy takes longer than a loop up to this many elements.
  static constexpr int64_t kFew = 8;

  void ZeroSome(char* to, int64_t n) const {
    if (is_dense() && n > kFew) {
      std::memset(to, 0, static_cast<size_t>(n * kSize));
    } else {
      for (int64_t i = 0; i < n; ++i) Put(to + i * job_.to_step, T{});
    }
  }

  void CopySome(const char* from, int64_t step, char* to, int64_t n) const {
    if (n <= kFew || !is_dense()) {
      for (int64_t i = 0; i < n; ++i) Put(to + i * job_.to_step, At<T>(from + i * step));
    } else if (step == kSize) {
      CopyBytes(from, to, n * kSize, job_.streams);
    } else if (step == -kSize) {
      for (int64_t i = 0; i < n; ++i) Put(to + i * kSize, At<T>(from - i * kSize));
    } else if (step == 2 * kSize) {
      for (int64_t i = 0; i < n; ++i) Put(to + i * kSize, At<T>(from + i * 2 * kSize));
    } else {
      for (int64_t i = 0; i < n; ++i) Put(to + i * kSize, At<T>(from + i * step));
    }
  }

  const TakeJob& job_;
  const Range* ranges_;
  const int64_t* offsets_;
};

template <class T>
void RunRows(const TakeJob& job, const JobContext& context) {
  const RowCopier<T> row(job, context.memory);
  const RowOfTake* const rows = job.rows.In(context.memory);
  const auto bytes = static_cast<size_t>(job.loop.columns) * sizeof(T);
  job.loop.ForEachThreadBlock(context, [&](const char* from, char* to, int64_t first, int64_t last) {
    for (int64_t y = first; y < last; ++y) {
      if (rows[y].is_zero) {
        row.Zero(to + rows[y].to);
      } else if (job.has_indices && row.is_dense() && y > first && rows[y].from == rows[y - 1].from) {
        std::memcpy(to + rows[y].to, to + rows[y - 1].to, bytes);
      } else {
        row.Copy(from + rows[y].from, to + rows[y].to);
      }
    }
    if (job.streams) hwy::FlushStream();
  });
}

// Elements of a tile, of which a conversion uses two.
constexpr int64_t kTile = 256;

void ConvertSome(const TakeJob& job, const char* from, int64_t step, char* to, int64_t count) {
  alignas(64) char taken[kTile * sizeof(Wide)];
  alignas(64) char made[kTile * sizeof(Wide)];
  const int32_t size = job.conversion.from_size;
  for (int64_t done = 0; done < count; done += kTile) {
    const int64_t n = std::min(kTile, count - done);
    CopyBlock(from + done * step, {0, step}, taken, {0, size}, 1, n, size, false);
    job.conversion.Run(taken, made, static_cast<size_t>(n), false);
    CopyBlock(made, {0, job.size}, to + done * job.to_step, {0, job.to_step}, 1, n, job.size, false);
  }
}

// Copies rows of sequences with conversion.
template <class T>
void ConvertRows(const TakeJob& job, const JobContext& context) {
  const RowCopier<T> row(job, context.memory);
  const RowOfTake* const rows = job.rows.In(context.memory);
  const Range* const ranges = job.ranges.In(context.memory);
  job.loop.ForEachThreadBlock(context, [&](const char* from, char* to, int64_t first, int64_t last) {
    for (int64_t y = first; y < last; ++y) {
      row.Zero(to + rows[y].to);
      for (int64_t k = 0; !rows[y].is_zero && k < job.range_count; ++k) {
        const Range& one = ranges[k];
        if (one.is_zero) continue;
        ConvertSome(job, from + rows[y].from + one.from, one.step, to + rows[y].to + one.to, one.count);
      }
    }
  });
}

template <class T>
void RunAs(const TakeJob& job, const JobContext& context) {
  if (job.conversion.KeepsBytes()) {
    RunRows<T>(job, context);
  } else {
    ConvertRows<T>(job, context);
  }
}

void TakeJob::Run(const JobContext& context) const noexcept {
  switch (size) {
    case 1:
      return RunAs<uint8_t>(*this, context);
    case 2:
      return RunAs<uint16_t>(*this, context);
    case 4:
      return RunAs<uint32_t>(*this, context);
    case 8:
      return RunAs<uint64_t>(*this, context);
    default:
      return RunAs<Wide>(*this, context);
  }
}

// Makes a job, whose tables may be written later.
struct TakeMaker {
  AxesRows loop;
  AxisMap rows;
  AxisMap columns;
  aclDataType from;
  aclDataType to;
  Isa isa;

  bool Touches(int operand) const noexcept { return operand == loop.source || operand == loop.destination; }
  int64_t Elements() const noexcept { return loop.batches * loop.rows * loop.columns; }
  int64_t TableBytes() const noexcept {
    TableSizes sizes;
    sizes.Add<RowOfTake>(rows.Positions());
    sizes.Add<Range>(columns.IsPiecewise() ? MostRanges(columns) : 0);
    sizes.Add<int64_t>(columns.IsPiecewise() ? 0 : columns.inner);
    return sizes.bytes();
  }
  TakeJob Make(std::byte* memory) const noexcept;
};

TakeJob TakeMaker::Make(std::byte* memory) const noexcept {
  const auto size = static_cast<int64_t>(StorageBits(to) / 8);
  const auto from_size = static_cast<int64_t>(StorageBits(from) / 8);
  const bool has_indices = !columns.IsPiecewise();
  TableSizes sizes;
  TakeJob job;
  job.rows = sizes.Add<RowOfTake>(rows.Positions());
  job.offsets = sizes.Add<int64_t>(has_indices ? columns.inner : 0);
  job.ranges = sizes.Add<Range>(has_indices ? 0 : MostRanges(columns));

  RowOfTake* const row = job.rows.In(memory);
  for (int64_t a = 0; a < rows.outer; ++a) {
    for (int64_t b = 0; b < rows.inner; ++b)
      row[a * rows.inner + b] = {(a * rows.outer_stride + b * rows.inner_stride) * size, 0, true};
  }
  ForEachTap(rows, [&](int64_t a, int64_t b, int64_t index, double) {
    row[a * rows.inner + b].from = index * rows.index_stride * from_size;
    row[a * rows.inner + b].is_zero = false;
  });
  job.range_count = 0;
  if (has_indices) {
    ForEachTap(columns, [&](int64_t, int64_t b, int64_t index, double) {
      job.offsets.In(memory)[b] = index * columns.index_stride * from_size;
    });
  } else {
    Range* range = job.ranges.In(memory);
    ForEachAxisRange(columns, [&](int64_t a, int64_t b, int64_t count, int64_t index, int64_t step) {
      range[job.range_count++] = {(a * columns.outer_stride + b * columns.inner_stride) * size,
                                  index < 0 ? 0 : index * columns.index_stride * from_size,
                                  step * columns.index_stride * from_size, count, index < 0};
    });
  }
  job.loop = loop;
  if (from != to) job.conversion = FindConversion(isa, ConvertedPart(from, to), to);
  job.size = static_cast<int32_t>(size);
  job.to_step = columns.inner_stride * size;
  job.has_indices = has_indices;
  job.is_doubled = has_indices && job.to_step == size && columns.inner % 2 == 0;
  for (int64_t i = 0; job.is_doubled && i < columns.inner; ++i)
    job.is_doubled = job.offsets.In(memory)[i] == i / 2 * from_size;
  job.streams = !has_indices && job.Elements() > LastLevelCacheBytes() / (2 * size);
  return job;
}

}  // namespace

AnyJob MakeTakeJob(JobMemory& memory, const AxesOperands& operands, const AxisMap& rows,
                   const AxisMap& columns, Isa isa, int threads) noexcept {
  TakeMaker maker{
      {}, Normalized(rows), Normalized(columns), operands.source->dtype, operands.destination->dtype, isa};
  maker.loop.Set(operands, static_cast<int64_t>(StorageBits(maker.from) / 8),
                 static_cast<int64_t>(StorageBits(maker.to) / 8), 1, rows.Positions(), columns.Positions(),
                 threads);
  return MakeJobWithTables(memory, maker, operands.destination_operand,
                           std::max(rows.Positions(), columns.Positions()));
}

}  // namespace portacl::engine
