// Tables of a job over two axes: counted first, then written into one piece of the executor's memory; and the loop over rows that
// such jobs share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "aclnn/executor.h"
#include "engine/resample/axes.h"

namespace portacl::engine {

// An array in the memory of a job. Its place is known before there is memory.
template <class T>
struct Table {
  int64_t offset = 0;

  T* In(std::byte* memory) const { return reinterpret_cast<T*>(memory + offset); }
  const T* In(const std::byte* memory) const { return reinterpret_cast<const T*>(memory + offset); }
};

class TableSizes {
 public:
  template <class T>
  Table<T> Add(int64_t count) {
    const Table<T> table{bytes_};
    bytes_ += (count * static_cast<int64_t>(sizeof(T)) + 15) / 16 * 16;
    return table;
  }
  size_t bytes() const { return static_cast<size_t>(bytes_); }

 private:
  int64_t bytes_ = 0;
};

// The rows of all batches, of which threads take fixed shares.
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
  int64_t rows;  // of a batch
  int64_t columns;
  int64_t rows_together;

  // Of elements of these sizes. `parts`: 2 for complex numbers, whose parts are one more dim.
  void Set(const AxesOperands& operands, int64_t from_size, int64_t to_size, int parts, int64_t row_count,
           int64_t column_count, int thread_limit) noexcept;

  // body(from, to, first, last): the rows [first, last) of the batch that begins there. Each share is one call or more.
  template <class Body>
  void ForEachShare(const JobContext& context, const Body& body) const noexcept;

  template <class Body>
  void RunShare(const char* from, char* to, int64_t share, const Body& body) const noexcept {
    int64_t row = share * rows_together;
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

#include "acl/float_environment.h"
#include "engine/parallel.h"

template <class Body>
void portacl::engine::AxesRows::ForEachShare(const JobContext& context, const Body& body) const noexcept {
  const char* const from = static_cast<const char*>(context.addresses[source]) + from_offset;
  char* const to = static_cast<char*>(context.addresses[destination]) + to_offset;
  ForEachBlock((batches * rows + rows_together - 1) / rows_together, threads, [&](int64_t share) {
    const DefaultFloatEnvironment environment;
    RunShare(from, to, share, body);
  });
}
