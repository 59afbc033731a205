// The gradients of sampling (see grid.h). The taps of a few points are computed once and used for several channels.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/float_environment.h"
#include "engine/parallel.h"
#include "engine/resample/grid.h"
#include "engine/resample/grid_taps.h"

namespace portacl::engine {
namespace {

// Points at a time: their taps take stack.
constexpr int64_t kPositions = 32;
constexpr int kMostTaps = 16;
// Channels of an image that one of several threads sums together, for which taps are computed once.
constexpr int64_t kChannelsTogether = 8;
// Elements of the output's gradient that a thread reads at a time.
constexpr int64_t kThreadBlockElements = 16384;

// Some points of one row of one image.
struct Points {
  const char* grid;
  const char* gradient;  // of the first channel
  char* grid_gradient;
  int64_t count;
};

struct PlaneStrides {
  int64_t plane;
  int64_t row;
  int64_t column;
};

// The taps of some points.
template <class T>
class PointTaps {
 public:
  explicit PointTaps(const GridJob& job) : job_(job) {}

  template <bool kWithSlopes>
  void Set(const char* grid, int64_t count, const PlaneStrides& strides) {
    T coordinate[3][kPositions];
    are_all_there_ = true;
    const int axes = job_.is_volume ? 3 : 2;
    for (int axis = 0; axis < axes; ++axis)
      LoadNumbers<T, kPositions>(job_.load, grid + axis * job_.grid_stride[3], job_.grid_stride[2], count,
                                 coordinate[axis]);
    for (int64_t i = 0; i < count; ++i) {
      const AxisTaps<T> planes =
          job_.is_volume ? TapsOf<T, kWithSlopes>(job_, coordinate[2][i], job_.depth) : OnePlane<T>();
      const AxisTaps<T> rows = TapsOf<T, kWithSlopes>(job_, coordinate[1][i], job_.height);
      const AxisTaps<T> columns = TapsOf<T, kWithSlopes>(job_, coordinate[0][i], job_.width);
      taps_ = 0;
      for (int p = 0; p < planes.count; ++p) {
        for (int r = 0; r < rows.count; ++r) {
          for (int c = 0; c < columns.count; ++c)
            SetTap<kWithSlopes>(taps_++, i, strides, planes, p, rows, r, columns, c);
        }
      }
    }
  }

  int count() const { return taps_; }
  // Returns true if no tap of any point lies outside.
  bool AreAllThere() const { return are_all_there_; }
  bool IsThere(int k, int64_t i) const { return is_there_[k][i]; }
  int64_t Offset(int k, int64_t i) const { return offset_[k][i]; }
  T Weight(int k, int64_t i) const { return weight_[k][i]; }
  T Slope(int axis, int k, int64_t i) const { return slope_[axis][k][i]; }

 private:
  template <bool kWithSlopes>
  void SetTap(int k, int64_t i, const PlaneStrides& strides, const AxisTaps<T>& planes, int p,
              const AxisTaps<T>& rows, int r, const AxisTaps<T>& columns, int c) {
    const bool is_there = planes.index[p] >= 0 && rows.index[r] >= 0 && columns.index[c] >= 0;
    is_there_[k][i] = is_there;
    are_all_there_ = are_all_there_ && is_there;
    offset_[k][i] = is_there ? planes.index[p] * strides.plane + rows.index[r] * strides.row +
                                   columns.index[c] * strides.column
                             : 0;
    weight_[k][i] = planes.weight[p] * rows.weight[r] * columns.weight[c];
    if constexpr (kWithSlopes) {
      slope_[0][k][i] = planes.weight[p] * rows.weight[r] * columns.slope[c];
      slope_[1][k][i] = planes.weight[p] * rows.slope[r] * columns.weight[c];
      slope_[2][k][i] = planes.slope[p] * rows.weight[r] * columns.weight[c];
    }
  }

  const GridJob& job_;
  int taps_ = 0;
  bool are_all_there_ = true;
  bool is_there_[kMostTaps][kPositions];
  int64_t offset_[kMostTaps][kPositions];
  T weight_[kMostTaps][kPositions];
  T slope_[3][kMostTaps][kPositions];
};

// Calls f(image, points) for thread blocks [first, last). A block is at most kPositions points of one row.
template <class F>
void ForEachPoints(const GridGradientJob& job, const JobContext& context, int64_t first, int64_t last,
                   const F& f) {
  const GridJob& sampling = job.sampling;
  const char* const grid = static_cast<const char*>(context.addresses[sampling.grid]) + sampling.grid_offset;
  const char* const gradient =
      static_cast<const char*>(context.addresses[sampling.output]) + sampling.output_offset;
  char* const grid_gradient =
      job.grid_gradient < 0 ? nullptr
                            : static_cast<char*>(context.addresses[job.grid_gradient]) + job.grid_offset;
  const int64_t parts = (sampling.columns + kPositions - 1) / kPositions;
  for (int64_t k = first; k < last; ++k) {
    const int64_t column = k % parts * kPositions;
    const int64_t row = k / parts % sampling.rows;
    const int64_t plane = k / parts / sampling.rows % sampling.planes;
    const int64_t image = k / parts / sampling.rows / sampling.planes;
    Points points;
    points.grid = grid + image * sampling.grid_stride[0] + plane * sampling.grid_plane +
                  row * sampling.grid_stride[1] + column * sampling.grid_stride[2];
    points.gradient = gradient + image * sampling.output_stride[0] + plane * sampling.output_plane +
                      row * sampling.output_stride[2] + column * sampling.output_stride[3];
    points.grid_gradient = nullptr;
    if (grid_gradient != nullptr)
      points.grid_gradient = grid_gradient + image * job.grid_stride[0] + plane * job.grid_plane +
                             row * job.grid_stride[1] + column * job.grid_stride[2];
    points.count = std::min(kPositions, sampling.columns - column);
    f(image, points);
  }
}

// Returns the number of thread blocks of one image (see ForEachPoints).
int64_t PartsOfImage(const GridJob& job) {
  return job.planes * job.rows * ((job.columns + kPositions - 1) / kPositions);
}

// ---- the gradient of coordinates ----

template <class T>
void AddSlopes(const GridJob& job, const PointTaps<T>& taps, const char* input, const T* gradient,
               int64_t count, T (*sums)[kPositions]) {
  const int axes = job.is_volume ? 3 : 2;
  T value[kPositions];
  T changes[3][kPositions] = {};
  // Elements outside count as 0: slopes are finite, and sums of +0 and -0 are +0.
  for (int k = 0; k < taps.count(); ++k) {
    if (job.load == nullptr) {
      using Bits = std::conditional_t<sizeof(T) == sizeof(float), uint32_t, uint64_t>;
      for (int64_t i = 0; i < count; ++i) {
        Bits bits;
        std::memcpy(&bits, input + taps.Offset(k, i), sizeof bits);
        bits &= Bits{0} - Bits{taps.IsThere(k, i)};
        std::memcpy(value + i, &bits, sizeof bits);
      }
    } else if constexpr (sizeof(T) == sizeof(float)) {
      uint16_t raw[kPositions];
      for (int64_t i = 0; i < count; ++i) {
        std::memcpy(raw + i, input + taps.Offset(k, i), sizeof raw[i]);
        if (!taps.IsThere(k, i)) raw[i] = 0;
      }
      job.load(raw, value, static_cast<size_t>(count));
    }
    for (int axis = 0; axis < axes; ++axis) {
      for (int64_t i = 0; i < count; ++i) changes[axis][i] += value[i] * taps.Slope(axis, k, i);
    }
  }
  for (int axis = 0; axis < axes; ++axis) {
    for (int64_t i = 0; i < count; ++i) sums[axis][i] += gradient[i] * changes[axis][i];
  }
}

template <class T>
void RunGridGradient(const GridGradientJob& job, const JobContext& context) {
  const GridJob& sampling = job.sampling;
  const char* const input =
      static_cast<const char*>(context.addresses[sampling.input]) + sampling.input_offset;
  const PlaneStrides strides{sampling.input_plane, sampling.input_stride[2], sampling.input_stride[3]};
  const int64_t all = sampling.images * PartsOfImage(sampling);
  const int64_t together = std::max<int64_t>(
      1, kThreadBlockElements / (std::min(kPositions, sampling.columns) * sampling.channels));
  ForEachBlock((all + together - 1) / together, sampling.threads, [&](int64_t thread_block) {
    const DefaultFloatEnvironment environment;
    PointTaps<T> taps(sampling);
    ForEachPoints(
        job, context, thread_block * together, std::min(all, (thread_block + 1) * together),
        [&](int64_t image, const Points& points) {
          T sums[3][kPositions] = {};
          if (sampling.filter != GridFilter::kNearest) {
            taps.template Set<true>(points.grid, points.count, strides);
            for (int64_t channel = 0; channel < sampling.channels; ++channel) {
              T gradient[kPositions];
              LoadNumbers<T, kPositions>(sampling.load, points.gradient + channel * sampling.output_stride[1],
                                         sampling.output_stride[3], points.count, gradient);
              AddSlopes<T>(sampling, taps,
                           input + image * sampling.input_stride[0] + channel * sampling.input_stride[1],
                           gradient, points.count, sums);
            }
          }
          for (int axis = 0; axis < (sampling.is_volume ? 3 : 2); ++axis)
            StoreNumbers<T, kPositions>(sampling.store, sums[axis],
                                        points.grid_gradient + axis * job.grid_stride[3], job.grid_stride[2],
                                        points.count);
        });
  });
}

// ---- the gradient of the input ----

// Calls f(z, y) for each row of an image or a volume.
template <class F>
void ForEachRow(const GridJob& job, const F& f) {
  for (int64_t z = 0; z < job.depth; ++z) {
    for (int64_t y = 0; y < job.height; ++y) f(z, y);
  }
}

// Adds gradients times weights to where the taps of the points lie, point by point.
template <class T>
void AddToPlane(const PointTaps<T>& taps, const T* gradient, int64_t count, char* plane) {
  const auto add = [&](int k, int64_t i) {
    T sum;
    std::memcpy(&sum, plane + taps.Offset(k, i), sizeof sum);
    sum += taps.Weight(k, i) * gradient[i];
    std::memcpy(plane + taps.Offset(k, i), &sum, sizeof sum);
  };
  if (taps.AreAllThere() && taps.count() == 4) {
    for (int64_t i = 0; i < count; ++i) {
      for (int k = 0; k < 4; ++k) add(k, i);
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    for (int k = 0; k < taps.count(); ++k) {
      if (taps.IsThere(k, i)) add(k, i);
    }
  }
}

// Sums the gradient of some channels of an image, whose first one begins at `to` and in whose planes the strides walk.
template <class T>
void SumChannels(const GridGradientJob& job, const JobContext& context, int64_t image, int64_t first_channel,
                 int64_t channels, char* to, int64_t channel_stride, const PlaneStrides& strides) {
  const GridJob& sampling = job.sampling;
  for (int64_t c = 0; c < channels; ++c) {
    ForEachRow(sampling, [&](int64_t z, int64_t y) {
      char* const row = to + c * channel_stride + z * strides.plane + y * strides.row;
      constexpr T kZero = 0;
      for (int64_t x = 0; x < sampling.width; ++x) std::memcpy(row + x * strides.column, &kZero, sizeof(T));
    });
  }
  PointTaps<T> taps(sampling);
  const int64_t parts = PartsOfImage(sampling);
  ForEachPoints(job, context, image * parts, (image + 1) * parts, [&](int64_t, const Points& points) {
    taps.template Set<false>(points.grid, points.count, strides);
    for (int64_t c = 0; c < channels; ++c) {
      T gradient[kPositions];
      LoadNumbers<T, kPositions>(sampling.load,
                                 points.gradient + (first_channel + c) * sampling.output_stride[1],
                                 sampling.output_stride[3], points.count, gradient);
      AddToPlane(taps, gradient, points.count, to + c * channel_stride);
    }
  });
}

// Rounds the sums of some channels, which are dense, to the result's type.
void RoundChannels(const GridGradientJob& job, const float* sums, char* to, int64_t channels) {
  constexpr int64_t kTile = 256;
  const GridJob& sampling = job.sampling;
  for (int64_t c = 0; c < channels; ++c) {
    ForEachRow(sampling, [&](int64_t z, int64_t y) {
      const float* const from = sums + ((c * sampling.depth + z) * sampling.height + y) * sampling.width;
      char* const row = to + c * job.input_stride[1] + z * job.input_plane + y * job.input_stride[2];
      for (int64_t x = 0; x < sampling.width; x += kTile)
        StoreNumbers<float, kTile>(sampling.store, from + x, row + x * job.input_stride[3],
                                   job.input_stride[3], std::min(kTile, sampling.width - x));
    });
  }
}

template <class T>
void RunInputGradient(const GridGradientJob& job, const JobContext& context) {
  const GridJob& sampling = job.sampling;
  char* const result = static_cast<char*>(context.addresses[job.input_gradient]) + job.input_offset;
  const int64_t together =
      sampling.threads == 1 ? std::max<int64_t>(sampling.channels, 1) : kChannelsTogether;
  const int64_t groups = (sampling.channels + together - 1) / together;
  const int64_t plane = sampling.depth * sampling.height * sampling.width;
  ForEachBlock(sampling.images * groups, sampling.threads, [&](int64_t thread_block) {
    const DefaultFloatEnvironment environment;
    const int64_t image = thread_block / groups;
    const int64_t first = thread_block % groups * together;
    const int64_t channels = std::min(together, sampling.channels - first);
    char* const to = result + image * job.input_stride[0] + first * job.input_stride[1];
    if (sampling.load == nullptr) {
      SumChannels<T>(job, context, image, first, channels, to, job.input_stride[1],
                     {job.input_plane, job.input_stride[2], job.input_stride[3]});
      return;
    }
    if constexpr (sizeof(T) == sizeof(float)) {
      constexpr auto kSize = static_cast<int64_t>(sizeof(float));
      float* const sums =
          static_cast<float*>(context.workspace) + (image * sampling.channels + first) * plane;
      SumChannels<T>(job, context, image, first, channels, reinterpret_cast<char*>(sums), plane * kSize,
                     {sampling.height * sampling.width * kSize, sampling.width * kSize, kSize});
      RoundChannels(job, sums, to, channels);
    }
  });
}

template <class T>
void RunGradients(const GridGradientJob& job, const JobContext& context) {
  if (job.input_gradient >= 0) RunInputGradient<T>(job, context);
  if (job.grid_gradient >= 0) RunGridGradient<T>(job, context);
}

}  // namespace

void GridGradientJob::Run(const JobContext& context) const noexcept {
  if (sampling.is_wide) {
    RunGradients<double>(*this, context);
  } else {
    RunGradients<float>(*this, context);
  }
}

}  // namespace portacl::engine
