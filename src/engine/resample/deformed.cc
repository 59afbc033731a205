// Samples images at moved positions (see deformed.h). The elements around a few positions are found once and used for several channels.
// SPDX-License-Identifier: Apache-2.0
#include "engine/resample/deformed.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/float_environment.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

// Positions at a time: what is known of them takes stack.
constexpr int64_t kPositions = 64;
// Channels of an image that a thread sums together.
constexpr int64_t kChannelsTogether = 8;

// Numbers at an address of any alignment.
struct Floats {
  char* bytes;

  float operator[](int64_t i) const { return Load<float>(bytes + i * int64_t{sizeof(float)}); }
  void Set(int64_t i, float number) const { Store(bytes + i * int64_t{sizeof(float)}, number); }
  Floats operator+(int64_t count) const { return {bytes + count * int64_t{sizeof(float)}}; }
};

Floats FloatsAt(BufferRef buffer, const JobContext& context) { return {buffer.Address(context)}; }

// Output positions of one image, neighbours in one row, for one position of the kernel and one group of channels.
struct OutputRun {
  int64_t image;
  int64_t group;
  int64_t row;  // of output positions
  int64_t kernel_row;
  int64_t kernel_column;
  int64_t first;  // column
  int64_t count;
};

// Finds where the tensors have the numbers of a run.
class Indices {
 public:
  explicit Indices(const DeformedShape& shape) : shape_(shape) {}

  // `kind` is 0 of x, 1 of y, and 2 of factors.
  int64_t Offset(const OutputRun& run, int64_t kind) const {
    const int64_t position =
        (((run.image * 3 + kind) * shape_.groups + run.group) * shape_.rows.kernel + run.kernel_row) *
            shape_.columns.kernel +
        run.kernel_column;
    return position * shape_.Outputs() + run.row * shape_.columns.outputs + run.first;
  }
  int64_t Image(int64_t image, int64_t channel) const {
    return (image * shape_.channels + channel) * shape_.rows.length * shape_.columns.length;
  }
  // Samples of neighbouring columns are SampleStep() apart.
  int64_t Sample(const OutputRun& run, int64_t channel) const {
    const int64_t row = (run.image * shape_.channels + channel) * shape_.rows.outputs * shape_.rows.kernel +
                        run.row * shape_.rows.kernel + run.kernel_row;
    return row * shape_.columns.outputs * shape_.columns.kernel + run.first * shape_.columns.kernel +
           run.kernel_column;
  }
  int64_t SampleStep() const { return shape_.columns.kernel; }

 private:
  const DeformedShape& shape_;
};

// Calls f(run) for the runs of a row of output positions, by kernel position and column.
template <class F>
void ForEachRun(const DeformedShape& shape, int64_t image, int64_t group, int64_t row, const F& f) {
  for (int64_t kernel_row = 0; kernel_row < shape.rows.kernel; ++kernel_row) {
    for (int64_t kernel_column = 0; kernel_column < shape.columns.kernel; ++kernel_column) {
      for (int64_t first = 0; first < shape.columns.outputs; first += kPositions)
        f(OutputRun{image, group, row, kernel_row, kernel_column, first,
                    std::min(kPositions, shape.columns.outputs - first)});
    }
  }
}

// The elements of an image along one axis around a coordinate, and how near the second one is.
struct Pair {
  int64_t first;
  bool is_there[2];
  float part;
};

Pair PairAt(const DeformedAxis& axis, int64_t output, int64_t kernel, float offset) {
  const auto unmoved = static_cast<float>(output * axis.stride + kernel * axis.dilation - axis.padding);
  const float coordinate = unmoved + offset;
  // NaN is not near.
  if (!(coordinate >= -1.0f && coordinate < static_cast<float>(axis.length))) return {0, {false, false}, 0};
  const float below = std::floor(coordinate);
  const auto first = static_cast<int64_t>(below);
  return {first, {first >= 0 && first < axis.length, first + 1 < axis.length}, coordinate - below};
}

// The four elements around each position of a run: the upper two, then the lower two. Those that are not there have weight and
// index 0.
class Corners {
 public:
  explicit Corners(const DeformedShape& shape) : shape_(shape) {}

  void Set(const OutputRun& run, Floats offsets) {
    const Indices indices(shape_);
    const Floats x = offsets + indices.Offset(run, 0);
    const Floats y = offsets + indices.Offset(run, 1);
    for (int64_t i = 0; i < run.count; ++i) {
      const Pair row = PairAt(shape_.rows, run.row, run.kernel_row, y[i]);
      const Pair column = PairAt(shape_.columns, run.first + i, run.kernel_column, x[i]);
      row_part_[i] = row.part;
      column_part_[i] = column.part;
      for (int k = 0; k < 4; ++k) {
        is_there_[k][i] = row.is_there[k / 2] && column.is_there[k % 2];
        index_[k][i] =
            is_there_[k][i] ? (row.first + k / 2) * shape_.columns.length + column.first + k % 2 : 0;
        const float row_weight = k / 2 == 0 ? 1.0f - row.part : row.part;
        const float column_weight = k % 2 == 0 ? 1.0f - column.part : column.part;
        weight_[k][i] = row_weight * column_weight;
      }
    }
  }

  // Reads an element of an image, 0 outside.
  float Value(Floats image, int k, int64_t i) const {
    const float value = image[index_[k][i]];
    return is_there_[k][i] ? value : 0.0f;
  }
  // Returns the value at a position.
  float Interpolated(Floats image, int64_t i) const {
    return weight_[0][i] * Value(image, 0, i) + weight_[1][i] * Value(image, 1, i) +
           weight_[2][i] * Value(image, 2, i) + weight_[3][i] * Value(image, 3, i);
  }
  // Returns how much the value changes with the position, along x and along y.
  float SlopeOfX(Floats image, int64_t i) const {
    return (1.0f - row_part_[i]) * (Value(image, 1, i) - Value(image, 0, i)) +
           row_part_[i] * (Value(image, 3, i) - Value(image, 2, i));
  }
  float SlopeOfY(Floats image, int64_t i) const {
    return (1.0f - column_part_[i]) * (Value(image, 2, i) - Value(image, 0, i)) +
           column_part_[i] * (Value(image, 3, i) - Value(image, 1, i));
  }
  // Adds a number to the elements, as much as they have a weight.
  void Add(Floats image, int64_t i, float number) const {
    for (int k = 0; k < 4; ++k) {
      if (!is_there_[k][i]) continue;
      const int64_t index = index_[k][i];
      image.Set(index, image[index] + number * weight_[k][i]);
    }
  }

 private:
  const DeformedShape& shape_;
  bool is_there_[4][kPositions];
  int64_t index_[4][kPositions];
  float weight_[4][kPositions];
  float row_part_[kPositions];
  float column_part_[kPositions];
};

// Calls f(image, group, row) for all rows of output positions.
template <class F>
void ForEachRow(const DeformedShape& shape, int threads, const F& f) {
  ForEachBlock(shape.images * shape.groups * shape.rows.outputs, threads, [&](int64_t block) {
    const DefaultFloatEnvironment environment;
    const int64_t image = block / shape.rows.outputs;
    f(image / shape.groups, image % shape.groups, block % shape.rows.outputs);
  });
}

void SumOffsets(const DeformedGradient& job, const JobContext& context) {
  const DeformedShape& shape = job.shape;
  const Indices indices(shape);
  const int64_t channels = shape.channels / shape.groups;
  const Floats images = FloatsAt(job.images, context);
  const Floats offsets = FloatsAt(job.offsets, context);
  const Floats gradients = FloatsAt(job.samples, context);
  const Floats out = FloatsAt(job.offsets_out, context);
  ForEachRow(shape, job.threads, [&](int64_t image, int64_t group, int64_t row) {
    Corners corners(shape);
    ForEachRun(shape, image, group, row, [&](const OutputRun& run) {
      corners.Set(run, offsets);
      float sums[3][kPositions] = {};
      for (int64_t c = group * channels; c < (group + 1) * channels; ++c) {
        const Floats plane = images + indices.Image(image, c);
        const Floats gradient = gradients + indices.Sample(run, c);
        for (int64_t i = 0; i < run.count; ++i) {
          const float of_sample = gradient[i * indices.SampleStep()];
          sums[0][i] += of_sample * corners.SlopeOfX(plane, i);
          sums[1][i] += of_sample * corners.SlopeOfY(plane, i);
          sums[2][i] += of_sample * corners.Interpolated(plane, i);
        }
      }
      const Floats factor = offsets + indices.Offset(run, 2);
      for (int64_t i = 0; i < run.count; ++i) {
        out.Set(indices.Offset(run, 0) + i, sums[0][i] * factor[i]);
        out.Set(indices.Offset(run, 1) + i, sums[1][i] * factor[i]);
        out.Set(indices.Offset(run, 2) + i, sums[2][i]);
      }
    });
  });
}

void SumImages(const DeformedGradient& job, const JobContext& context) {
  const DeformedShape& shape = job.shape;
  const Indices indices(shape);
  const int64_t channels = shape.channels / shape.groups;
  const int64_t parts = (channels + kChannelsTogether - 1) / kChannelsTogether;
  const Floats offsets = FloatsAt(job.offsets, context);
  const Floats gradients = FloatsAt(job.samples, context);
  const Floats out = FloatsAt(job.images_out, context);
  ForEachBlock(shape.images * shape.groups * parts, job.threads, [&](int64_t block) {
    const DefaultFloatEnvironment environment;
    const int64_t image = block / parts / shape.groups;
    const int64_t group = block / parts % shape.groups;
    const int64_t first = group * channels + block % parts * kChannelsTogether;
    const int64_t last = std::min(first + kChannelsTogether, (group + 1) * channels);
    const Floats planes = out + indices.Image(image, first);
    std::memset(planes.bytes, 0,
                static_cast<size_t>((out + indices.Image(image, last)).bytes - planes.bytes));
    Corners corners(shape);
    for (int64_t row = 0; row < shape.rows.outputs; ++row) {
      ForEachRun(shape, image, group, row, [&](const OutputRun& run) {
        corners.Set(run, offsets);
        const Floats factor = offsets + indices.Offset(run, 2);
        for (int64_t c = first; c < last; ++c) {
          const Floats plane = out + indices.Image(image, c);
          const Floats gradient = gradients + indices.Sample(run, c);
          for (int64_t i = 0; i < run.count; ++i)
            corners.Add(plane, i, gradient[i * indices.SampleStep()] * factor[i]);
        }
      });
    }
  });
}

}  // namespace

void SampleDeformed::Run(const JobContext& context) const noexcept {
  const Indices indices(shape);
  const int64_t channels = shape.channels / shape.groups;
  const Floats from = FloatsAt(images, context);
  const Floats moves = FloatsAt(offsets, context);
  const Floats to = FloatsAt(samples, context);
  ForEachRow(shape, threads, [&](int64_t image, int64_t group, int64_t row) {
    Corners corners(shape);
    ForEachRun(shape, image, group, row, [&](const OutputRun& run) {
      corners.Set(run, moves);
      const Floats factor = moves + indices.Offset(run, 2);
      for (int64_t c = group * channels; c < (group + 1) * channels; ++c) {
        const Floats plane = from + indices.Image(image, c);
        const Floats sample = to + indices.Sample(run, c);
        for (int64_t i = 0; i < run.count; ++i)
          sample.Set(i * indices.SampleStep(), factor[i] * corners.Interpolated(plane, i));
      }
    });
  });
}

void DeformedGradient::Run(const JobContext& context) const noexcept {
  SumImages(*this, context);
  SumOffsets(*this, context);
}

}  // namespace portacl::engine
