// Pools (see pool.h): a job finds the elements of each window and gives them, a tile of columns at a time, to the loops of
// pool_columns.h.
// SPDX-License-Identifier: Apache-2.0
#include "engine/pool/pool.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/data_type.h"
#include "engine/buffer_ref.h"
#include "engine/conversions.h"
#include "engine/gemm/gemm_kernel.h"
#include "engine/is_nan.h"
#include "engine/isa_in_use.h"
#include "engine/pool/pool_columns.h"
#include "engine/resample/axes_memory.h"
#include "engine/strided.h"
#include "engine/transpose.h"

namespace portacl::engine {
namespace {

// Windows and columns that are processed at a time.
constexpr int64_t kTile = 128;
// Elements that a block reads.
constexpr int64_t kThreadBlockElements = 65536;
// The least size of a source that is prefetched.
constexpr int64_t kAskedBytes = int64_t{1} << 20;
constexpr auto kLanes = static_cast<int64_t>(kPoolLanes);

// The elements of a window, and the count that divides its sum.
struct WindowPart {
  PoolWindow window;
  int64_t size;
};

WindowPart WindowAt(const PoolAxis& axis, int64_t position, bool counts_padding) {
  if (axis.is_adaptive) {
    const int64_t first = position * axis.length / axis.positions;
    const int64_t end = ((position + 1) * axis.length + axis.positions - 1) / axis.positions;
    return {{static_cast<int32_t>(first), static_cast<int32_t>(end - first)}, end - first};
  }
  const int64_t begin = position * axis.stride - axis.before;
  int64_t first = begin;
  if (first < 0) first += (-first + axis.dilation - 1) / axis.dilation * axis.dilation;
  const int64_t reach = begin + (axis.kernel - 1) * axis.dilation + 1;
  const int64_t end = std::min(reach, axis.length);
  const int64_t count = end <= first ? 0 : (end - first + axis.dilation - 1) / axis.dilation;
  const int64_t size = counts_padding ? std::min(reach, axis.length + axis.after) - begin : count;
  return {{static_cast<int32_t>(std::min(first, axis.length - 1)), static_cast<int32_t>(count)},
          std::max<int64_t>(size, 1)};
}

// An operand whose rows are converted to float32 and back.
struct RowwiseOperand {
  int8_t operand;
  int32_t size;
  int64_t offset;     // in bytes, as the strides
  int64_t stride[5];  // of the batch, the axes
};

RowwiseOperand OperandOf(const StridedView& view, int operand) {
  const auto size = static_cast<int32_t>(StorageBits(view.dtype) / 8);
  RowwiseOperand row{static_cast<int8_t>(operand), size, ByteOffset(view), {}};
  for (int dim = 0; dim < 5; ++dim) row.stride[dim] = ByteStride(view, dim);
  return row;
}

struct PoolJob {
  PoolKind kind;
  bool has_indices;
  bool is_wide;     // positions are INT64
  bool asks_ahead;  // windows are single rows, too many for the caches
  Isa isa;
  int threads;
  aclDataType dtype;
  int64_t extent[5];  // of the destination
  int64_t length[3];  // of the source's axes
  int64_t dilation[3];
  int64_t rows_together;
  RowwiseOperand source;
  RowwiseOperand destination;
  RowwiseOperand indices;
  LoadFunction load;  // null for FLOAT
  StoreFunction store;
  TransposeFunction transpose;  // of the source's elements to float32
  TransposeFunction transpose_floats;
  AddColumns add;
  void (*divide)(float* values, size_t count, const float* by_column, const float* by_lane);
  Table<PoolWindow> windows[3];
  Table<float> sizes[3];  // of windows; for a gradient, those of the source

  int64_t Rows() const { return extent[0] * extent[1] * extent[2] * extent[3]; }
  bool Touches(int operand) const noexcept {
    return operand == source.operand || operand == destination.operand ||
           (has_indices && operand == indices.operand);
  }
  int64_t Elements() const noexcept {
    return std::max(Rows() * extent[4], extent[0] * extent[1] * length[0] * length[1] * length[2]);
  }
  void Run(const JobContext& context) const noexcept;
};

// Up to sixteen rows of the output, which are computed together.
class RowGroup {
 public:
  RowGroup(const PoolJob& job, const JobContext& context)
      : job_(job),
        source_(Base(context, job.source)),
        destination_(Base(context, job.destination)),
        indices_(job.has_indices ? Base(context, job.indices) : nullptr) {
    for (int axis = 0; axis < 3; ++axis) {
      windows_[axis] = job.windows[axis].In(context.memory);
      sizes_[axis] = job.sizes[axis].In(context.memory);
    }
  }

  void Run(int64_t first_row, int64_t count) {
    SetLanes(first_row, count);
    for (int64_t x = 0; x < job_.extent[4]; x += kTile) RunTile(x, std::min(kTile, job_.extent[4] - x));
  }

 private:
  struct Lane {
    const char* plane;
    char* to;
    char* indices;
    PoolWindow z;
    PoolWindow y;
  };

  static char* Base(const JobContext& context, const RowwiseOperand& row) {
    return static_cast<char*>(context.addresses[row.operand]) + row.offset;
  }

  void SetLanes(int64_t first_row, int64_t count) {
    count_ = count;
    most_z_ = most_y_ = 0;
    int64_t index[4];
    int64_t rest = first_row;
    for (int dim = 3; dim >= 0; --dim) {
      index[dim] = rest % job_.extent[dim];
      rest /= job_.extent[dim];
    }
    for (int64_t l = 0; l < count; ++l) {
      Lane& lane = lanes_[l];
      const auto at = [&](const RowwiseOperand& row, int dims) {
        int64_t offset = 0;
        for (int dim = 0; dim < dims; ++dim) offset += index[dim] * row.stride[dim];
        return offset;
      };
      lane.plane = source_ + at(job_.source, 2);
      lane.to = destination_ + at(job_.destination, 4);
      lane.indices = job_.has_indices ? indices_ + at(job_.indices, 4) : nullptr;
      lane.z = windows_[0][index[2]];
      lane.y = windows_[1][index[3]];
      most_z_ = std::max(most_z_, lane.z.count);
      most_y_ = std::max(most_y_, lane.y.count);
      first_index_[l] = static_cast<int32_t>((lane.z.first * job_.length[1] + lane.y.first) * job_.length[2]);
      if (job_.kind == PoolKind::kMean) by_lane_[l] = sizes_[0][index[2]] * sizes_[1][index[3]];
      for (int dim = 3; dim >= 0 && ++index[dim] == job_.extent[dim]; --dim) index[dim] = 0;
    }
    for (int64_t l = count; l < kLanes; ++l) first_index_[l] = 0;
    for (int64_t l = count; l < kLanes; ++l) by_lane_[l] = 1;
  }

  void RunTile(int64_t x, int64_t n) {
    const bool is_maximum = job_.kind == PoolKind::kMaximum;
    std::fill_n(results_, n * kLanes, is_maximum ? -std::numeric_limits<float>::infinity() : 0.0f);
    const PoolWindow* const windows = windows_[2] + x;
    for (int64_t i = 0; job_.has_indices && i < n; ++i) {
      for (int64_t l = 0; l < kLanes; ++l)
        result_indices_[i * kLanes + l] = first_index_[l] + windows[i].first;
    }
    int64_t begin = std::numeric_limits<int64_t>::max();
    int64_t end = 0;
    for (int64_t i = 0; i < n; ++i) {
      if (windows[i].count == 0) continue;
      begin = std::min<int64_t>(begin, windows[i].first);
      end = std::max<int64_t>(end, windows[i].first + (windows[i].count - 1) * job_.dilation[2] + 1);
    }
    for (int32_t z = 0; z < most_z_; ++z) {
      for (int32_t y = 0; y < most_y_; ++y) {
        const char* rows[kLanes];
        if (!FindRows(z, y, rows)) continue;
        for (int64_t c = begin; c < end; c += kTile) {
          const int64_t columns = std::min(kTile, end - c);
          Bring(rows, c, columns);
          if (job_.kind == PoolKind::kMeanGradient)
            job_.divide(values_, static_cast<size_t>(columns), sizes_[2] + c, by_lane_);
          job_.add({values_, c, columns, windows, n, job_.dilation[2], row_indices_}, results_,
                   result_indices_);
        }
      }
    }
    if (job_.kind == PoolKind::kMean) job_.divide(results_, static_cast<size_t>(n), sizes_[2] + x, by_lane_);
    WriteResults(x, n);
    if (job_.has_indices) WriteIndices(x, n);
  }

  // Finds row y of plane z of each lane's window, or nullptr. Returns whether any lane has one.
  bool FindRows(int32_t z, int32_t y, const char** rows) {
    bool any = false;
    for (int64_t l = 0; l < kLanes; ++l) {
      rows[l] = nullptr;
      if (job_.kind == PoolKind::kMeanGradient) by_lane_[l] = 1;
      if (l >= count_ || z >= lanes_[l].z.count || y >= lanes_[l].y.count) continue;
      any = true;
      const int64_t plane = lanes_[l].z.first + z * job_.dilation[0];
      const int64_t row = lanes_[l].y.first + y * job_.dilation[1];
      rows[l] = lanes_[l].plane + plane * job_.source.stride[2] + row * job_.source.stride[3];
      row_indices_[l] = static_cast<int32_t>((plane * job_.length[1] + row) * job_.length[2]);
      if (job_.kind == PoolKind::kMeanGradient) by_lane_[l] = sizes_[0][plane] * sizes_[1][row];
    }
    return any;
  }

  // Loads columns [c, c + n) of the rows, with a column's lanes side by side. A lane without a row gets the
  // neutral element.
  void Bring(const char* const* rows, int64_t c, int64_t n) {
    const int64_t step = job_.source.stride[4];
    const bool is_dense = step == job_.source.size;
    if (is_dense && AreEvenlyApart(rows)) {
      const int64_t apart = rows[1] - rows[0];
      if (job_.asks_ahead) AskFor(rows[0] + c * step + kLanes * apart, apart, n * step);
      return job_.transpose(rows[0] + c * step, apart, kLanes, n, values_, kLanes);
    }
    for (int64_t l = 0; l < kLanes; ++l) {
      float* const to = tile_ + l * kTile;
      if (rows[l] == nullptr) {
        std::fill_n(to, n, job_.kind == PoolKind::kMaximum ? -std::numeric_limits<float>::infinity() : 0.0f);
        continue;
      }
      const char* from = rows[l] + c * step;
      if (job_.load == nullptr) {
        if (is_dense) {
          std::memcpy(to, from, static_cast<size_t>(n) * sizeof(float));
        } else {
          Gather(from, step, sizeof(float), to, n);
        }
        continue;
      }
      if (!is_dense) {
        Gather(from, step, job_.source.size, raw_, n);
        from = raw_;
      }
      job_.load(from, to, static_cast<size_t>(n));
    }
    job_.transpose_floats(reinterpret_cast<const char*>(tile_), kRowBytes, kLanes, n, values_, kLanes);
  }

  // Prefetches as many rows, which come next.
  static void AskFor(const char* row, int64_t apart, int64_t bytes) {
    constexpr int64_t kLineBytes = 64;
    for (int64_t l = 0; l < kLanes; ++l, row += apart) {
      for (int64_t byte = 0; byte < bytes; byte += kLineBytes) __builtin_prefetch(row + byte);
    }
  }

  template <class Pointer>
  static bool AreEvenlyApart(const Pointer* rows) {
    bool are_even = rows[0] != nullptr && rows[1] != nullptr;
    for (int64_t l = 2; are_even && l < kLanes; ++l)
      are_even = rows[l] != nullptr && rows[l] - rows[l - 1] == rows[1] - rows[0];
    return are_even;
  }

  void WriteResults(int64_t x, int64_t n) {
    job_.transpose_floats(reinterpret_cast<const char*>(results_), kColumnBytes, n, kLanes, tile_, kTile);
    const int64_t step = job_.destination.stride[4];
    const int32_t size = job_.destination.size;
    for (int64_t l = 0; l < count_; ++l) {
      char* const to = lanes_[l].to + x * step;
      const float* const from = tile_ + l * kTile;
      if (job_.store == nullptr) {
        Put(from, to, step, size, n);
      } else if (step == size) {
        job_.store(from, to, static_cast<size_t>(n), false);
      } else {
        job_.store(from, raw_, static_cast<size_t>(n), false);
        Put(raw_, to, step, size, n);
      }
    }
  }

  void WriteIndices(int64_t x, int64_t n) {
    TransposeIn(reinterpret_cast<const char*>(result_indices_), kColumnBytes, reinterpret_cast<char*>(tile_),
                kRowBytes, n, kLanes, sizeof(int32_t), nullptr);
    const int64_t step = job_.indices.stride[4];
    for (int64_t l = 0; l < count_; ++l) {
      char* const to = lanes_[l].indices + x * step;
      const char* const from = reinterpret_cast<const char*>(tile_ + l * kTile);
      if (!job_.is_wide) {
        Put(from, to, step, sizeof(int32_t), n);
        continue;
      }
      for (int64_t i = 0; i < n; ++i)
        Store<int64_t>(to + i * step, Load<int32_t>(from + i * static_cast<int64_t>(sizeof(int32_t))));
    }
  }

  static void Put(const void* from, char* to, int64_t step, int32_t size, int64_t n) {
    if (step == size) {
      std::memcpy(to, from, static_cast<size_t>(n * size));
    } else {
      Scatter(from, to, step, size, n);
    }
  }

  static constexpr int64_t kColumnBytes = kLanes * static_cast<int64_t>(sizeof(float));
  static constexpr int64_t kRowBytes = kTile * static_cast<int64_t>(sizeof(float));

  const PoolJob& job_;
  const char* const source_;
  char* const destination_;
  char* const indices_;
  const PoolWindow* windows_[3];
  const float* sizes_[3];
  int64_t count_ = 0;
  int32_t most_z_ = 0;
  int32_t most_y_ = 0;
  Lane lanes_[kLanes];
  alignas(64) int32_t first_index_[kLanes];
  alignas(64) int32_t row_indices_[kLanes] = {};
  alignas(64) float by_lane_[kLanes];
  alignas(64) float values_[kTile * kLanes];
  alignas(64) float results_[kTile * kLanes];
  alignas(64) int32_t result_indices_[kTile * kLanes];
  alignas(64) float tile_[kTile * kLanes];
  alignas(64) char raw_[kTile * sizeof(float)];
};

// Computes maxima without conversion, one output after the other.
template <class T>
void RunPlainRow(const PoolJob& job, const JobContext& context, int64_t row) {
  int64_t index[4];
  for (int dim = 3; dim >= 0; --dim) {
    index[dim] = row % job.extent[dim];
    row /= job.extent[dim];
  }
  const auto at = [&](const RowwiseOperand& operand, int dims) {
    char* address = static_cast<char*>(context.addresses[operand.operand]) + operand.offset;
    for (int dim = 0; dim < dims; ++dim) address += index[dim] * operand.stride[dim];
    return address;
  };
  const char* const plane = at(job.source, 2);
  char* const to = at(job.destination, 4);
  const PoolWindow z = job.windows[0].In(context.memory)[index[2]];
  const PoolWindow y = job.windows[1].In(context.memory)[index[3]];
  for (int64_t i = 0; i < job.extent[4]; ++i) {
    const PoolWindow x = job.windows[2].In(context.memory)[i];
    T best = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                  : std::numeric_limits<T>::min();
    int64_t max_index = (z.first * job.length[1] + y.first) * job.length[2] + x.first;
    for (int64_t a = 0; a < z.count; ++a) {
      for (int64_t b = 0; b < y.count; ++b) {
        for (int64_t c = 0; c < x.count; ++c) {
          const int64_t from[3] = {z.first + a * job.dilation[0], y.first + b * job.dilation[1],
                                   x.first + c * job.dilation[2]};
          const T value = Load<T>(plane + from[0] * job.source.stride[2] + from[1] * job.source.stride[3] +
                                  from[2] * job.source.stride[4]);
          if (!(value > best) && !IsNan(value)) continue;
          best = value;
          max_index = (from[0] * job.length[1] + from[1]) * job.length[2] + from[2];
        }
      }
    }
    Store(to + i * job.destination.stride[4], best);
    if (!job.has_indices) continue;
    char* const index_at = at(job.indices, 4) + i * job.indices.stride[4];
    if (job.is_wide) {
      Store<int64_t>(index_at, max_index);
    } else {
      Store<int32_t>(index_at, static_cast<int32_t>(max_index));
    }
  }
}

using PlainRow = void (*)(const PoolJob& job, const JobContext& context, int64_t row);

PlainRow PlainRowOf(aclDataType dtype) {
  switch (dtype) {
    case ACL_DOUBLE:
      return RunPlainRow<double>;
    case ACL_INT8:
      return RunPlainRow<int8_t>;
    case ACL_UINT8:
      return RunPlainRow<uint8_t>;
    case ACL_INT16:
      return RunPlainRow<int16_t>;
    case ACL_UINT16:
      return RunPlainRow<uint16_t>;
    case ACL_INT32:
      return RunPlainRow<int32_t>;
    case ACL_INT64:
      return RunPlainRow<int64_t>;
    default:
      return nullptr;
  }
}

void PoolJob::Run(const JobContext& context) const noexcept {
  const int64_t rows = Rows();
  const PlainRow plain = PlainRowOf(dtype);
  ForEachBlock((rows + rows_together - 1) / rows_together, threads, [&](int64_t thread_block) {
    const DefaultFloatEnvironment environment;
    const int64_t end = std::min(rows, (thread_block + 1) * rows_together);
    if (plain != nullptr) {
      for (int64_t row = thread_block * rows_together; row < end; ++row) plain(*this, context, row);
      return;
    }
    RowGroup lanes(*this, context);
    for (int64_t row = thread_block * rows_together; row < end; row += kLanes)
      lanes.Run(row, std::min(kLanes, end - row));
  });
  if (plain == nullptr) ReportIsaThatRan(isa);
}

// Inverts the windows for a gradient: finds the windows that contain an element.
void TurnRound(const PoolAxis& axis, PoolWindow* element) {
  std::fill_n(element, axis.length, PoolWindow{0, 0});
  for (int64_t position = 0; position < axis.positions; ++position) {
    const PoolWindow window = WindowAt(axis, position, false).window;
    for (int64_t i = window.first; i < window.first + window.count; ++i) {
      if (element[i].count == 0) element[i].first = static_cast<int32_t>(position);
      element[i].count = static_cast<int32_t>(position) - element[i].first + 1;
    }
  }
}

// Merges contiguous axes that a single window covers completely; the elements and their order stay the same.
// A product of sizes is exact up to kExactSizes. `walked` becomes the source's dim of the merged axis.
Pool Joined(const Pool& pool, const StridedView& source, int* walked) {
  constexpr int64_t kExactSizes = int64_t{1} << 24;
  const auto is_whole = [&](const PoolAxis& axis) {
    const WindowPart part = WindowAt(axis, 0, pool.divisor == PoolDivisor::kWithPadding);
    return axis.positions == 1 && part.window.first == 0 && part.window.count == axis.length &&
           (axis.dilation == 1 || axis.length == 1) && part.size == axis.length;
  };
  Pool joined = pool;
  PoolAxis& last = joined.axis[2];
  *walked = 4;
  if (pool.kind == PoolKind::kMeanGradient || !is_whole(last)) return joined;
  for (int k = 1; k >= 0; --k) {
    PoolAxis& axis = joined.axis[k];
    const bool follows = axis.length == 1 || last.length == 1 ||
                         ByteStride(source, 2 + k) == last.length * ByteStride(source, *walked);
    if (!follows || !is_whole(axis) || axis.length > kExactSizes / last.length) break;
    if (last.length == 1) *walked = 2 + k;
    last = {.length = axis.length * last.length, .is_adaptive = true};
    axis = {};
  }
  return joined;
}

// Makes a job, whose tables may be written later.
struct PoolMaker {
  Pool pool;
  PoolJob job;  // without its tables

  bool Touches(int operand) const noexcept { return job.Touches(operand); }
  int64_t Elements() const noexcept { return job.Elements(); }
  bool IsGradient() const noexcept { return pool.kind == PoolKind::kMeanGradient; }
  int64_t TableBytes() const noexcept { return TablesOf(nullptr); }
  PoolJob Make(std::byte* memory) const noexcept;

 private:
  // Sets the positions of the tables in `made`, unless that is nullptr. Returns the memory they take.
  int64_t TablesOf(PoolJob* made) const noexcept {
    TableSizes sizes;
    for (int k = 0; k < 3; ++k) {
      const auto windows = sizes.Add<PoolWindow>(IsGradient() ? pool.axis[k].length : pool.axis[k].positions);
      const auto counted = sizes.Add<float>(pool.axis[k].positions);
      if (made == nullptr) continue;
      made->windows[k] = windows;
      made->sizes[k] = counted;
    }
    return sizes.bytes();
  }
};

PoolJob PoolMaker::Make(std::byte* memory) const noexcept {
  PoolJob made = job;
  TablesOf(&made);
  for (int k = 0; k < 3; ++k) {
    const PoolAxis& axis = pool.axis[k];
    for (int64_t i = 0; i < axis.positions; ++i) {
      const WindowPart part = WindowAt(axis, i, pool.divisor == PoolDivisor::kWithPadding);
      const int64_t size = pool.divisor != PoolDivisor::kGiven ? part.size : k == 0 ? pool.given_divisor : 1;
      made.sizes[k].In(memory)[i] = static_cast<float>(size);
      if (!IsGradient()) made.windows[k].In(memory)[i] = part.window;
    }
    if (IsGradient()) TurnRound(axis, made.windows[k].In(memory));
  }
  return made;
}

}  // namespace

AnyJob MakePoolJob(JobMemory& memory, const Pool& pool, const PoolOperands& operands, Isa isa,
                   int threads) noexcept {
  int walked = 0;
  const Pool joined = Joined(pool, *operands.source, &walked);
  const bool is_gradient = joined.kind == PoolKind::kMeanGradient;

  PoolJob job;
  job.kind = joined.kind;
  job.has_indices = operands.indices != nullptr;
  job.is_wide = job.has_indices && operands.indices->dtype == ACL_INT64;
  job.isa = isa;
  job.threads = threads;
  job.dtype = operands.source->dtype;
  for (int dim = 0; dim < 5; ++dim) job.extent[dim] = operands.destination->shape[dim];
  int64_t window = 1;
  for (int k = 0; k < 3; ++k) {
    const PoolAxis& axis = joined.axis[k];
    job.length[k] = is_gradient ? axis.positions : axis.length;
    job.dilation[k] = is_gradient ? 1 : axis.dilation;
    const int64_t most =
        axis.is_adaptive ? (axis.length + axis.positions - 1) / axis.positions + 1 : axis.kernel;
    if (k < 2) window *= std::clamp<int64_t>(most, 1, kThreadBlockElements);
    window = std::min(window, kThreadBlockElements);
  }
  const int64_t columns = std::max(joined.axis[2].length, joined.axis[2].positions);
  const int64_t of_lanes = kLanes * std::max<int64_t>(1, std::min(window * columns, kThreadBlockElements));
  job.rows_together = kLanes * std::max<int64_t>(1, kThreadBlockElements / of_lanes);
  job.source = OperandOf(*operands.source, operands.source_operand);
  job.source.stride[4] = ByteStride(*operands.source, walked);
  job.destination = OperandOf(*operands.destination, operands.destination_operand);
  if (job.has_indices) job.indices = OperandOf(*operands.indices, operands.indices_operand);
  job.asks_ahead = job.extent[4] == 1 && window == 1 && job.Elements() * job.source.size > kAskedBytes;
  const bool is_half = job.dtype == ACL_FLOAT16 || job.dtype == ACL_BF16;
  job.load = is_half ? FindLoad(isa, job.dtype, ACL_FLOAT) : nullptr;
  job.store = is_half ? FindStore(isa, job.dtype) : nullptr;
  const GemmKernels& products = FindGemmKernels(isa);
  job.transpose = products.transpose[static_cast<size_t>(job.dtype == ACL_FLOAT16 ? GemmElement::kF16
                                                         : job.dtype == ACL_BF16  ? GemmElement::kBf16
                                                                                  : GemmElement::kF32)];
  job.transpose_floats = products.transpose[static_cast<size_t>(GemmElement::kF32)];
  const PoolLoops loops = FindPoolLoops(isa);
  job.add = joined.kind != PoolKind::kMaximum ? loops.sums
            : job.has_indices                 ? loops.maxima_with_indices
                                              : loops.maxima;
  job.divide = loops.divide;
  int64_t positions = 0;
  for (const PoolAxis& axis : joined.axis) positions = std::max({positions, axis.positions, axis.length});
  return MakeJobWithTables(memory, PoolMaker{joined, job}, operands.source_operand, positions);
}

}  // namespace portacl::engine
