// Samples images and volumes at given coordinates (see grid.h). The taps of a few points are computed once and used for
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
#include "engine/resample/grid_taps.h"

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

// Some points of one row of one image, with at most kTaps taps each.
template <class T, int kTaps>
class OperandPositions {
  static constexpr int64_t kPositions = PositionsFor<T>(kTaps);
  static constexpr bool kIsCubic = kTaps == 16;
  using Bits = std::conditional_t<sizeof(T) == sizeof(float), uint32_t, uint64_t>;

 public:
  explicit OperandPositions(const GridJob& job) : job_(job) {}

  void operator()(const char* input, const char* grid, char* output, int64_t count) {
    T coordinate[3][kPositions];
    const int axes = job_.is_volume ? 3 : 2;
    for (int axis = 0; axis < axes; ++axis)
      Load(grid + axis * job_.grid_stride[3], job_.grid_stride[2], count, coordinate[axis]);
    for (int64_t i = 0; i < count; ++i)
      SetTaps(job_.is_volume ? TapsOf<T>(job_, coordinate[2][i], job_.depth) : OnePlane<T>(),
              coordinate[1][i], coordinate[0][i], i);
    for (int64_t channel = 0; channel < job_.channels; ++channel)
      Channel(input + channel * job_.input_stride[1], output + channel * job_.output_stride[1], count);
  }

 private:
  void SetTaps(const AxisTaps<T>& planes, T y, T x, int64_t i) {
    const AxisTaps<T> rows = TapsOf<T>(job_, y, job_.height);
    const AxisTaps<T> columns = TapsOf<T>(job_, x, job_.width);
    taps_ = planes.count * rows.count * columns.count;
    for (int p = 0; p < planes.count; ++p) {
      for (int r = 0; r < rows.count; ++r) {
        row_weight_[r][i] = rows.weight[r];
        for (int c = 0; c < columns.count; ++c) {
          const int k = (p * rows.count + r) * columns.count + c;
          const bool is_there = planes.index[p] >= 0 && rows.index[r] >= 0 && columns.index[c] >= 0;
          offset_[k][i] = is_there
                              ? planes.index[p] * job_.input_plane + rows.index[r] * job_.input_stride[2] +
                                    columns.index[c] * job_.input_stride[3]
                              : 0;
          mask_[k][i] = is_there ? static_cast<Bits>(-1) : Bits{0};
          // Cubic: sums a row's columns first, then the rows. Otherwise a tap's weight is a product.
          weight_[k][i] =
              kIsCubic ? columns.weight[c] : planes.weight[p] * rows.weight[r] * columns.weight[c];
        }
      }
    }
  }

  void Channel(const char* input, char* output, int64_t count) {
    T sum[kPositions];
    std::fill_n(sum, count, T{0});
    if constexpr (kIsCubic) {
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

  void Load(const char* from, int64_t step, int64_t count, T* value) const {
    LoadNumbers<T, kPositions>(job_.load, from, step, count, value);
  }
  void Store(const T* sum, char* to, int64_t count) const {
    StoreNumbers<T, kPositions>(job_.store, sum, to, job_.output_stride[3], count);
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
  const int64_t all = job.images * job.planes * job.rows * parts;
  const int64_t together =
      std::max<int64_t>(1, kThreadBlockElements / (std::min(kPositions, job.columns) * job.channels));
  ForEachBlock((all + together - 1) / together, job.threads, [&](int64_t thread_block) {
    const DefaultFloatEnvironment environment;
    auto&& run = make_run();
    for (int64_t k = thread_block * together; k < std::min(all, (thread_block + 1) * together); ++k) {
      const int64_t first = k % parts * kPositions;
      const int64_t row = k / parts % job.rows;
      const int64_t plane = k / parts / job.rows % job.planes;
      const int64_t image = k / parts / job.rows / job.planes;
      run(input + image * job.input_stride[0],
          grid + image * job.grid_stride[0] + plane * job.grid_plane + row * job.grid_stride[1] +
              first * job.grid_stride[2],
          output + image * job.output_stride[0] + plane * job.output_plane + row * job.output_stride[2] +
              first * job.output_stride[3],
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
    filter == GridFilter::kCubic || is_volume ? RunLoop<kCubicGridPositions>(*this, context)
                                              : RunLoop<kGridPositions>(*this, context);
  } else if (is_volume) {
    is_wide ? RunPositions<double, 8>(*this, context) : RunPositions<float, 8>(*this, context);
  } else if (is_wide) {
    RunPositions<double, 4>(*this, context);
  } else if (filter == GridFilter::kCubic) {
    RunPositions<float, 16>(*this, context);
  } else {
    RunPositions<float, 4>(*this, context);
  }
}

namespace {

// Sets the strides of a tensor whose planes are dim `plane`, or that has none.
void SetStrides(const StridedView& tensor, int plane, int64_t* offset, int64_t* stride, int64_t* of_plane) {
  *offset = ByteOffset(tensor);
  *of_plane = 0;
  int at = 0;
  for (int dim = 0; dim < tensor.shape.rank; ++dim) {
    if (tensor.shape.rank == 5 && dim == plane) {
      *of_plane = ByteStride(tensor, dim);
    } else {
      stride[at++] = ByteStride(tensor, dim);
    }
  }
}

// Returns the job but for its loop.
GridJob Laid(const GridOperands& operands, const GridRules& rules, Isa isa, int threads) {
  const aclDataType dtype = operands.input->dtype;
  const auto size = static_cast<int64_t>(StorageBits(dtype) / 8);
  const Shape& input = operands.input->shape;
  const Shape& output = operands.output->shape;
  GridJob job;
  job.input = static_cast<int8_t>(operands.input_operand);
  job.grid = static_cast<int8_t>(operands.grid_operand);
  job.output = static_cast<int8_t>(operands.output_operand);
  job.filter = rules.filter;
  job.edge = rules.edge;
  job.aligns_corners = rules.aligns_corners;
  job.is_volume = input.rank == 5;
  job.is_wide = dtype == ACL_DOUBLE;
  job.size = static_cast<int32_t>(size);
  job.threads = threads;
  job.images = output[0];
  job.channels = output[1];
  job.depth = job.is_volume ? input[2] : 1;
  job.height = input[input.rank - 2];
  job.width = input[input.rank - 1];
  job.planes = job.is_volume ? output[2] : 1;
  job.rows = output[output.rank - 2];
  job.columns = output[output.rank - 1];
  SetStrides(*operands.input, 2, &job.input_offset, job.input_stride, &job.input_plane);
  SetStrides(*operands.grid, 1, &job.grid_offset, job.grid_stride, &job.grid_plane);
  SetStrides(*operands.output, 2, &job.output_offset, job.output_stride, &job.output_plane);
  const bool is_half = size == 2;
  job.load = is_half ? FindLoad(isa, dtype, ACL_FLOAT) : nullptr;
  job.store = is_half ? FindStore(isa, dtype) : nullptr;
  job.loop = nullptr;
  job.asks_ahead = false;
  return job;
}

}  // namespace

GridJob MakeGridJob(const GridOperands& operands, const GridRules& rules, Isa isa, int threads) noexcept {
  GridJob job = Laid(operands, rules, isa, threads);
  job.asks_ahead = job.channels * job.depth * job.height * job.width * job.size >= kFarImage;
  const bool positions_go_on = job.grid_stride[1] == job.columns * job.grid_stride[2];
  if (positions_go_on && job.output_stride[2] == job.columns * job.output_stride[3]) {
    job.columns *= job.rows;
    job.rows = 1;
  }
  job.loop = FindGridLoop(isa, job);
  return job;
}

GridGradientJob MakeGridGradientJob(const GridOperands& operands, const GridGradients& gradients,
                                    const GridRules& rules, Isa isa, int threads) noexcept {
  GridGradientJob job;
  job.sampling = Laid(operands, rules, isa, threads);
  job.input_gradient = -1;
  job.grid_gradient = -1;
  if (gradients.input != nullptr) {
    job.input_gradient = static_cast<int8_t>(gradients.input_operand);
    SetStrides(*gradients.input, 2, &job.input_offset, job.input_stride, &job.input_plane);
  }
  if (gradients.grid != nullptr) {
    job.grid_gradient = static_cast<int8_t>(gradients.grid_operand);
    SetStrides(*gradients.grid, 1, &job.grid_offset, job.grid_stride, &job.grid_plane);
  }
  return job;
}

}  // namespace portacl::engine
