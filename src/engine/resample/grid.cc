// Samples images at given coordinates (see grid.h). The taps of a few points are computed once and used for
// every channel.
// SPDX-License-Identifier: Apache-2.0
#include "engine/resample/grid.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/data_type.h"
#include "base/float_environment.h"
#include "engine/conversions.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

// Points at a time. With more of them a channel's image stays in the caches longer, but their taps take
// stack.
template <class T>
constexpr int64_t PositionsFor(int taps) {
  return (taps > 4 ? 256 : 1024) / static_cast<int64_t>(sizeof(T));
}
// The size of an image with all channels from which on prefetching the next taps pays.
constexpr int64_t kFarImage = int64_t{512} * 1024;
// Elements that a thread writes at a time.
constexpr int64_t kThreadBlockElements = 16384;

// Converts a grid coordinate to elements of the image.
template <class T>
T Unnormalized(T source_coordinate, int64_t n, bool aligns_corners) {
  const auto length = static_cast<T>(n);
  return aligns_corners ? (source_coordinate + 1) / 2 * (length - 1)
                        : ((source_coordinate + 1) * length - 1) / 2;
}

// Applies the edge rule to a coordinate outside; NaN becomes 0.
template <class T>
T Inside(T source_coordinate, int64_t n, GridEdge edge, bool aligns_corners) {
  if (edge == GridEdge::kZero) return source_coordinate;
  if (edge == GridEdge::kReflection)
    source_coordinate = aligns_corners ? Reflected(source_coordinate, 0, 2 * (n - 1))
                                       : Reflected(source_coordinate, -1, 2 * n - 1);
  const auto last = static_cast<T>(n - 1);
  return source_coordinate > 0 ? std::min(source_coordinate, last) : T{0};
}

// Converts a floored coordinate to an index. Coordinates far outside become -1 or n, with a margin for
// neighbours.
template <class T>
int64_t IndexOf(T floored, int64_t n) {
  constexpr int64_t kMargin = 8;
  if (!(floored > static_cast<T>(-kMargin))) return -kMargin;
  return floored < static_cast<T>(n + kMargin) ? static_cast<int64_t>(floored) : n + kMargin;
}

// Taps along one dim: byte offsets (-1 for none) and weights.
template <class T>
struct AxisTaps {
  int count;
  int64_t index[4];
  T weight[4];
};

template <class T>
AxisTaps<T> TapsOf(const GridJob& job, T coordinate, int64_t n) {
  T source_coordinate = Unnormalized(std::isnan(coordinate) ? T{-1} : coordinate, n, job.aligns_corners);
  AxisTaps<T> taps{};
  const auto at = [&](int64_t index) { return index >= 0 && index < n ? index : -1; };
  if (job.filter == GridFilter::kCubic) {
    // Cubic interpolation applies the edge rule to each tap.
    const T below = std::floor(source_coordinate);
    const T part = std::isfinite(source_coordinate) ? source_coordinate - below : T{0};
    constexpr T kA = static_cast<T>(-0.75);
    const auto near = [](T x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; };
    const auto far = [](T x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; };
    const T weight[4] = {far(part + 1), near(part), near(1 - part), far(2 - part)};
    taps.count = 4;
    for (int k = 0; k < 4; ++k) {
      const T neighbour = Inside(below + static_cast<T>(k - 1), n, job.edge, job.aligns_corners);
      taps.index[k] = at(IndexOf(neighbour, n));
      taps.weight[k] = weight[k];
    }
    return taps;
  }
  source_coordinate = Inside(source_coordinate, n, job.edge, job.aligns_corners);
  if (job.filter == GridFilter::kNearest) {
    taps.count = 1;
    taps.index[0] = at(IndexOf(std::nearbyint(source_coordinate), n));
    taps.weight[0] = 1;
    return taps;
  }
  const T below = std::floor(source_coordinate);
  const T part = std::isfinite(source_coordinate) ? source_coordinate - below : T{0};
  const int64_t index = IndexOf(below, n);
  taps.count = 2;
  taps.index[0] = at(index);
  taps.index[1] = at(index + 1);
  taps.weight[0] = 1 - part;
  taps.weight[1] = part;
  return taps;
}

// Some points of one row of one image, with at most kTaps taps each.
template <class T, int kTaps>
class OperandPositions {
  static constexpr int64_t kPositions = PositionsFor<T>(kTaps);
  using Bits = std::conditional_t<sizeof(T) == sizeof(float), uint32_t, uint64_t>;

 public:
  explicit OperandPositions(const GridJob& job) : job_(job) {}

  void operator()(const char* input, const char* grid, char* output, int64_t count) {
    T coordinate[2][kPositions];
    for (int axis = 0; axis < 2; ++axis)
      Load(grid + axis * job_.grid_stride[3], job_.grid_stride[2], count, coordinate[axis]);
    for (int64_t i = 0; i < count; ++i) SetTaps(coordinate[1][i], coordinate[0][i], i);
    for (int64_t channel = 0; channel < job_.channels; ++channel)
      Channel(input + channel * job_.input_stride[1], output + channel * job_.output_stride[1], count);
  }

 private:
  void SetTaps(T y, T x, int64_t i) {
    const AxisTaps<T> rows = TapsOf(job_, y, job_.height);
    const AxisTaps<T> columns = TapsOf(job_, x, job_.width);
    taps_ = rows.count * columns.count;
    for (int r = 0; r < rows.count; ++r) {
      row_weight_[r][i] = rows.weight[r];
      for (int c = 0; c < columns.count; ++c) {
        const int k = r * columns.count + c;
        const bool is_there = rows.index[r] >= 0 && columns.index[c] >= 0;
        offset_[k][i] =
            is_there ? rows.index[r] * job_.input_stride[2] + columns.index[c] * job_.input_stride[3] : 0;
        mask_[k][i] = is_there ? static_cast<Bits>(-1) : Bits{0};
        // Cubic: sums a row's columns first, then the rows. Otherwise a tap's weight is a product.
        weight_[k][i] = kTaps > 4 ? columns.weight[c] : rows.weight[r] * columns.weight[c];
      }
    }
  }

  void Channel(const char* input, char* output, int64_t count) {
    T sum[kPositions];
    std::fill_n(sum, count, T{0});
    if constexpr (kTaps > 4) {
      T row[kPositions];
      for (int r = 0; r < 4; ++r) {
        std::fill_n(row, count, T{0});
        for (int c = 0; c < 4; ++c) AddTap(input, r * 4 + c, count, row);
        for (int64_t i = 0; i < count; ++i) sum[i] += row[i] * row_weight_[r][i];
      }
    } else {
      for (int k = 0; k < taps_; ++k) AddTap(input, k, count, sum);
    }
    Store(sum, output, count);
  }

  void AddTap(const char* input, int k, int64_t count, T* sum) {
    T value[kPositions];
    if (job_.load == nullptr) {
      // Masks missing elements to 0 by their bits, since branches would be mispredicted.
      Bits bits[kPositions];
      for (int64_t i = 0; i < count; ++i) std::memcpy(bits + i, input + offset_[k][i], sizeof bits[i]);
      for (int64_t i = 0; i < count; ++i) bits[i] &= mask_[k][i];
      std::memcpy(value, bits, sizeof value[0] * static_cast<size_t>(count));
    } else if constexpr (sizeof(T) == sizeof(float)) {
      uint16_t raw[kPositions];
      for (int64_t i = 0; i < count; ++i) std::memcpy(raw + i, input + offset_[k][i], sizeof raw[i]);
      for (int64_t i = 0; i < count; ++i) raw[i] &= static_cast<uint16_t>(mask_[k][i]);
      job_.load(raw, value, static_cast<size_t>(count));
    }
    for (int64_t i = 0; i < count; ++i) sum[i] += value[i] * weight_[k][i];
  }

  void Load(const char* from, int64_t step, int64_t count, T* value) {
    if (job_.load == nullptr) {
      for (int64_t i = 0; i < count; ++i) std::memcpy(value + i, from + i * step, sizeof(T));
      return;
    }
    if constexpr (sizeof(T) == sizeof(float)) {
      uint16_t raw[kPositions];
      for (int64_t i = 0; i < count; ++i) std::memcpy(raw + i, from + i * step, sizeof raw[i]);
      job_.load(raw, value, static_cast<size_t>(count));
    }
  }

  void Store(const T* sum, char* to, int64_t count) {
    const int64_t step = job_.output_stride[3];
    if constexpr (sizeof(T) == sizeof(float)) {
      if (job_.store != nullptr) {
        uint16_t raw[kPositions];
        job_.store(sum, raw, static_cast<size_t>(count), false);
        for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * step, raw + i, sizeof raw[i]);
        return;
      }
    }
    if (step == static_cast<int64_t>(sizeof(T))) {
      std::memcpy(to, sum, sizeof(T) * static_cast<size_t>(count));
      return;
    }
    for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * step, sum + i, sizeof(T));
  }

  const GridJob& job_;
  int taps_ = 0;
  int64_t offset_[kTaps][kPositions];
  Bits mask_[kTaps][kPositions];
  T weight_[kTaps][kPositions];
  T row_weight_[4][kPositions];
};

// Calls run(input, grid, output, count) for at most kPositions points of a row, for each channel.
template <int64_t kPositions, class MakeRun>
void ForEachPositions(const GridJob& job, const JobContext& context, const MakeRun& make_run) {
  const char* const input = static_cast<const char*>(context.addresses[job.input]) + job.input_offset;
  const char* const grid = static_cast<const char*>(context.addresses[job.grid]) + job.grid_offset;
  char* const output = static_cast<char*>(context.addresses[job.output]) + job.output_offset;
  const int64_t parts = (job.columns + kPositions - 1) / kPositions;
  const int64_t all = job.images * job.rows * parts;
  const int64_t together =
      std::max<int64_t>(1, kThreadBlockElements / (std::min(kPositions, job.columns) * job.channels));
  ForEachBlock((all + together - 1) / together, job.threads, [&](int64_t thread_block) {
    const DefaultFloatEnvironment environment;
    auto&& run = make_run();
    for (int64_t k = thread_block * together; k < std::min(all, (thread_block + 1) * together); ++k) {
      const int64_t first = k % parts * kPositions;
      const int64_t row = k / parts % job.rows;
      const int64_t image = k / parts / job.rows;
      run(input + image * job.input_stride[0],
          grid + image * job.grid_stride[0] + row * job.grid_stride[1] + first * job.grid_stride[2],
          output + image * job.output_stride[0] + row * job.output_stride[2] + first * job.output_stride[3],
          std::min(kPositions, job.columns - first));
    }
  });
}

template <class T, int kTaps>
void RunPositions(const GridJob& job, const JobContext& context) {
  ForEachPositions<PositionsFor<T>(kTaps)>(job, context, [&] { return OperandPositions<T, kTaps>(job); });
}

template <int64_t kPositions>
void RunLoop(const GridJob& job, const JobContext& context) {
  ForEachPositions<kPositions>(job, context, [&] {
    return [&](const char* input, const char* grid, char* output, int64_t count) {
      job.loop(job, input, grid, output, count);
    };
  });
}

}  // namespace

void GridJob::Run(const JobContext& context) const noexcept {
  if (loop != nullptr) {
    filter == GridFilter::kCubic ? RunLoop<kCubicGridPositions>(*this, context)
                                 : RunLoop<kGridPositions>(*this, context);
  } else if (is_wide) {
    RunPositions<double, 4>(*this, context);
  } else if (filter == GridFilter::kCubic) {
    RunPositions<float, 16>(*this, context);
  } else {
    RunPositions<float, 4>(*this, context);
  }
}

namespace {

void SetStrides(const StridedView& tensor, int64_t* offset, int64_t* stride) {
  *offset = ByteOffset(tensor);
  for (int dim = 0; dim < 4; ++dim) stride[dim] = ByteStride(tensor, dim);
}

}  // namespace

GridJob MakeGridJob(const GridOperands& operands, GridFilter filter, GridEdge edge, bool aligns_corners,
                    Isa isa, int threads) noexcept {
  const aclDataType dtype = operands.input->dtype;
  const auto size = static_cast<int64_t>(StorageBits(dtype) / 8);
  GridJob job;
  job.input = static_cast<int8_t>(operands.input_operand);
  job.grid = static_cast<int8_t>(operands.grid_operand);
  job.output = static_cast<int8_t>(operands.output_operand);
  job.filter = filter;
  job.edge = edge;
  job.aligns_corners = aligns_corners;
  job.is_wide = dtype == ACL_DOUBLE;
  job.size = static_cast<int32_t>(size);
  job.threads = threads;
  job.images = operands.output->shape[0];
  job.channels = operands.output->shape[1];
  job.height = operands.input->shape[2];
  job.width = operands.input->shape[3];
  job.rows = operands.output->shape[2];
  job.columns = operands.output->shape[3];
  SetStrides(*operands.input, &job.input_offset, job.input_stride);
  SetStrides(*operands.grid, &job.grid_offset, job.grid_stride);
  SetStrides(*operands.output, &job.output_offset, job.output_stride);
  job.asks_ahead = job.channels * job.height * job.width * size >= kFarImage;
  const bool positions_go_on = job.grid_stride[1] == job.columns * job.grid_stride[2];
  if (positions_go_on && job.output_stride[2] == job.columns * job.output_stride[3]) {
    job.columns *= job.rows;
    job.rows = 1;
  }
  const bool is_half = size == 2;
  job.load = is_half ? FindLoad(isa, dtype, ACL_FLOAT) : nullptr;
  job.store = is_half ? FindStore(isa, dtype) : nullptr;
  job.loop = FindGridLoop(isa, job);
  return job;
}

}  // namespace portacl::engine
