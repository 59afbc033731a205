// Tables of a job over up to three axes, in one block of memory: the job's, or the workspace; and the loop over rows that such jobs share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/job.h"
#include "engine/resample/axes.h"

namespace portacl::engine {

// An array in a job's memory. Its offset is known before the memory exists.
template <class T>
struct Table {
  int64_t offset = 0;

  T* In(std::byte* memory) const { return reinterpret_cast<T*>(memory + offset); }
  const T* In(const std::byte* memory) const { return reinterpret_cast<const T*>(memory + offset); }
};

// Sums the sizes of tables. Saturates at the largest number.
class TableSizes {
 public:
  static constexpr int64_t kMost = int64_t{1} << 60;

  template <class T>
  Table<T> Add(int64_t count) {
    const Table<T> table{bytes_};
    int64_t bytes = 0;
    if (__builtin_mul_overflow(count, static_cast<int64_t>(sizeof(T)), &bytes) || bytes > kMost) {
      bytes_ = kMost;
    } else {
      bytes_ = std::min(kMost, bytes_ + (bytes + 15) / 16 * 16);
    }
    return table;
  }
  int64_t bytes() const { return bytes_; }
  // Returns the product of two sizes, saturated.
  static int64_t Times(int64_t a, int64_t b) {
    int64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? kMost : std::min(product, kMost);
  }

 private:
  int64_t bytes_ = 0;
};

// A job that makes its tables in the workspace, each time it runs. maker.Make(memory) writes at most maker.TableBytes() bytes of tables and
// returns the job that reads them. maker.Touches(i) and maker.Elements() are those of that job.
template <class Maker>
struct JobWithTables {
  Maker maker;

  bool Touches(int operand) const noexcept { return maker.Touches(operand); }
  int64_t Elements() const noexcept { return std::max(maker.Elements(), maker.TableBytes()); }
  uint64_t OwnWorkspace() const noexcept { return static_cast<uint64_t>(maker.TableBytes()); }
  void Run(const JobContext& context) const noexcept;
};

// Makes the maker's job. Small tables are made at once. Larger ones are made in the workspace whenever the job runs, so that phase 1 takes
// no longer for a longer tensor and no job keeps much memory. `operand` and its number of positions are for a message.
template <class Maker>
AnyJob MakeJobWithTables(JobMemory& memory, const Maker& maker, int operand, int64_t positions) noexcept {
  constexpr int64_t kMostKept = int64_t{1} << 20;
  const int64_t bytes = maker.TableBytes();
  if (bytes >= TableSizes::kMost) {
    memory.RefuseSize(operand, positions);
    return AnyJob();
  }
  if (bytes > kMostKept) return AnyJob([&] { return JobWithTables<Maker>{maker}; });
  std::byte* const tables = memory.ReserveMemory(static_cast<size_t>(bytes));
  return tables != nullptr ? AnyJob([&] { return maker.Make(tables); }) : AnyJob();
}

// Replaces the stride of a single element, which may be anything and even overflow products, by 1.
inline AxisMap Normalized(const AxisMap& map) noexcept {
  AxisMap normal = map;
  if (map.outer == 1) normal.outer_stride = 1;
  if (map.inner == 1) normal.inner_stride = 1;
  if (map.length == 1) normal.index_stride = 1;
  return normal;
}

// The maps of a job, with normalised strides.
inline AxisMaps Normalized(const AxisMaps& maps) noexcept {
  return {Normalized(maps.rows), Normalized(maps.columns), Normalized(maps.planes)};
}

// The longest of the maps, for a message.
inline int64_t MostPositions(const AxisMaps& maps) noexcept {
  return std::max({maps.planes.Positions(), maps.rows.Positions(), maps.columns.Positions()});
}

// The rows of all planes of all batches, which are divided among threads in fixed blocks.
struct AxesRows {
  static constexpr int kMostBatchDims = kFewDims + 1;

  int8_t source;
  int8_t destination;
  int threads;
  int batch_rank;
  int64_t extent[kMostBatchDims];
  int64_t from_stride[kMostBatchDims];  // in bytes
  int64_t to_stride[kMostBatchDims];
  int64_t from_offset;
  int64_t to_offset;
  int64_t batches;
  int64_t rows;  // of all planes of a batch
  int64_t columns;
  int64_t rows_together;

  // Sets the loop for elements of these sizes. `parts` is 2 for complex numbers, whose parts are one more
  // dim.
  void Set(const AxesOperands& operands, int64_t from_size, int64_t to_size, int parts, int64_t row_count,
           int64_t column_count, int thread_limit) noexcept;

  // Calls body(from, to, first, last) for rows [first, last) of the batch that begins at `from` and `to`,
  // once or more for each block.
  template <class Body>
  void ForEachThreadBlock(const JobContext& context, const Body& body) const noexcept;

  template <class Body>
  void RunThreadBlock(const char* from, char* to, int64_t thread_block, const Body& body) const noexcept {
    int64_t row = thread_block * rows_together;
    const int64_t end = row + rows_together < batches * rows ? row + rows_together : batches * rows;
    while (row < end) {
      const int64_t batch = row / rows;
      const int64_t first = row - batch * rows;
      const int64_t last = end - batch * rows < rows ? end - batch * rows : rows;
      const char* batch_from = from;
      char* batch_to = to;
      int64_t rest = batch;
      for (int dim = batch_rank - 1; dim >= 0; --dim) {
        const int64_t index = rest % extent[dim];
        rest /= extent[dim];
        batch_from += index * from_stride[dim];
        batch_to += index * to_stride[dim];
      }
      body(batch_from, batch_to, first, last);
      row = batch * rows + last;
    }
  }
};

}  // namespace portacl::engine

#include "base/float_environment.h"
#include "engine/parallel.h"

template <class Maker>
void portacl::engine::JobWithTables<Maker>::Run(const JobContext& context) const noexcept {
  // Computes the tables in the environment that phase 1 has, too.
  const DefaultFloatEnvironment environment;
  JobContext with_tables = context;
  with_tables.memory = static_cast<std::byte*>(context.workspace);
  maker.Make(static_cast<std::byte*>(context.workspace)).Run(with_tables);
}

template <class Body>
void portacl::engine::AxesRows::ForEachThreadBlock(const JobContext& context,
                                                   const Body& body) const noexcept {
  const char* const from = static_cast<const char*>(context.addresses[source]) + from_offset;
  char* const to = static_cast<char*>(context.addresses[destination]) + to_offset;
  ForEachBlock((batches * rows + rows_together - 1) / rows_together, threads, [&](int64_t thread_block) {
    const DefaultFloatEnvironment environment;
    RunThreadBlock(from, to, thread_block, body);
  });
}
