// Triangles of matrices (see triangular.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/move/triangular.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/data_type.h"
#include "engine/parallel.h"
#include "plan/views.h"

namespace portacl::engine {
namespace {

// The rows of a job.
class Rows {
 public:
  explicit Rows(const TriangleJob& job) : job_(job) {}

  void Run(int64_t begin, int64_t end, const char* from, char* to) const {
    int64_t index[kMaxLoopRank];
    int64_t rest = begin;
    for (int dim = job_.rank - 2; dim >= 0; --dim) {
      index[dim] = rest % job_.extent[dim];
      rest /= job_.extent[dim];
      from += index[dim] * job_.stride_from[dim];
      to += index[dim] * job_.stride_to[dim];
    }
    for (int64_t row = begin; row < end; ++row) {
      RunRow(index[job_.rank - 2], from, to);
      for (int dim = job_.rank - 2; dim >= 0; --dim) {
        from += job_.stride_from[dim];
        to += job_.stride_to[dim];
        if (++index[dim] < job_.extent[dim]) break;
        index[dim] = 0;
        from -= job_.extent[dim] * job_.stride_from[dim];
        to -= job_.extent[dim] * job_.stride_to[dim];
      }
    }
  }

  void RunRow(int64_t row, const char* from, char* to) const {
    const int64_t columns = job_.extent[job_.rank - 1];
    const int64_t edge = std::clamp<int64_t>(row + job_.diagonal + (job_.is_upper ? 0 : 1), 0, columns);
    const int64_t first = job_.is_upper ? edge : 0;
    const int64_t last = job_.is_upper ? columns : edge;
    SetZero(to, 0, first);
    SetZero(to, last, columns);
    Copy(from, to, first, last);
  }

 private:
  // memcpy takes longer than a loop up to this many bytes.
  static constexpr int64_t kShort = 64;

  void SetZero(char* to, int64_t first, int64_t last) const {
    const int64_t stride = job_.stride_to[job_.rank - 1];
    const int64_t bytes = (last - first) * static_cast<int64_t>(job_.size);
    if (stride == static_cast<int64_t>(job_.size) && bytes >= kShort) {
      std::memset(to + first * stride, 0, static_cast<size_t>(bytes));
      return;
    }
    ForEach(first, last, [&](auto each, int64_t i) { std::memset(to + i * stride, 0, each); });
  }

  void Copy(const char* from, char* to, int64_t first, int64_t last) const {
    const int64_t step_from = job_.stride_from[job_.rank - 1];
    const int64_t step_to = job_.stride_to[job_.rank - 1];
    const int64_t bytes = (last - first) * static_cast<int64_t>(job_.size);
    if (from == to && step_from == step_to) return;
    if (step_from == static_cast<int64_t>(job_.size) && step_to == step_from && bytes >= kShort) {
      std::memcpy(to + first * step_to, from + first * step_from, static_cast<size_t>(bytes));
      return;
    }
    ForEach(first, last,
            [&](auto each, int64_t i) { std::memcpy(to + i * step_to, from + i * step_from, each); });
  }

  // Calls f(constant element size, i) for each i; the size is job_.size.
  template <class F>
  void ForEach(int64_t first, int64_t last, const F& f) const {
    const auto loop = [&]<size_t kSize>(std::integral_constant<size_t, kSize> each) {
      for (int64_t i = first; i < last; ++i) f(each, i);
    };
    switch (job_.size) {
      case 1:
        return loop(std::integral_constant<size_t, 1>());
      case 2:
        return loop(std::integral_constant<size_t, 2>());
      case 4:
        return loop(std::integral_constant<size_t, 4>());
      default:
        return loop(std::integral_constant<size_t, 8>());
    }
  }

  const TriangleJob& job_;
};

}  // namespace

void TriangleJob::Run(void* const* addresses, void*) const noexcept {
  const char* const from = static_cast<const char*>(addresses[source]) + offset_from;
  char* const to = static_cast<char*>(addresses[destination]) + offset_to;
  const int64_t columns = extent[rank - 1];
  const int64_t rows = count / columns;
  constexpr int64_t kBlock = 16384;  // elements
  const int64_t block_rows = std::max<int64_t>(1, kBlock / columns);
  ForEachBlock((rows + block_rows - 1) / block_rows, threads, [&](int64_t block) {
    const int64_t begin = block * block_rows;
    Rows(*this).Run(begin, std::min(rows, begin + block_rows), from, to);
  });
}

TriangleJob MakeTriangle(const StridedView& source, const StridedView& destination, bool is_upper,
                         int64_t diagonal, int threads) noexcept {
  const StridedView from = PlainView(source);
  const StridedView to = PlainView(destination);
  TriangleJob job;
  job.is_upper = is_upper;
  job.rank = static_cast<int>(source.shape.rank);
  job.threads = threads;
  job.size = aclDataTypeSize(source.dtype);
  job.count = source.numel;
  job.offset_from = ByteOffset(from);
  job.offset_to = ByteOffset(to);
  for (int dim = 0; dim < job.rank; ++dim) {
    job.extent[dim] = source.shape[dim];
    job.stride_from[dim] = ByteStride(from, dim);
    job.stride_to[dim] = ByteStride(to, dim);
  }
  const int row = job.rank - 2;
  const int column = job.rank - 1;
  // Clamps the diagonal; beyond these bounds nothing changes.
  job.diagonal = std::clamp(diagonal, -job.extent[row], job.extent[column]);
  // Makes the denser dim the rows. For the transposed matrix the triangle is the other one.
  if (std::abs(job.stride_to[row]) < std::abs(job.stride_to[column]) && job.extent[row] > 1) {
    std::swap(job.extent[row], job.extent[column]);
    std::swap(job.stride_from[row], job.stride_from[column]);
    std::swap(job.stride_to[row], job.stride_to[column]);
    job.is_upper = !is_upper;
    job.diagonal = -job.diagonal;
  }
  return job;
}

}  // namespace portacl::engine
