// Samples the cells of boxes (see boxes.h). The taps of a point are computed once and used for several channels.
// SPDX-License-Identifier: Apache-2.0
#include "engine/resample/boxes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/data_type.h"
#include "base/float_environment.h"
#include "engine/bad_index.h"
#include "engine/parallel.h"
#include "engine/resample/grid_taps.h"

namespace portacl::engine {
namespace {

constexpr int64_t kBoxNumbers = 5;
// Channels that are computed together, for which taps are computed once.
constexpr int64_t kChannelsTogether = 16;
// Elements that a thread writes at a time.
constexpr int64_t kThreadBlockElements = 4096;

// A point along one axis: the elements beside it, and their weights.
struct Tap {
  int64_t index[2];
  float weight[2];
};

// Returns the first of n numbers for which f is true, n if there is none. f must not be false behind it.
template <class F>
int64_t FirstWhere(int64_t n, const F& f) {
  int64_t low = 0;
  for (int64_t high = n; low < high;) {
    const int64_t middle = low + (high - low) / 2;
    if (f(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// One axis of a box on an image of `length` elements along it, and the points of one of its cells.
class BoxAxis {
 public:
  BoxAxis(const BoxRules& rules, float low, float high, int64_t cells, int64_t length) : length_(length) {
    start_ = low * rules.scale;
    const float end = (rules.ends_behind ? high + 1.0f : high) * rules.scale;
    cell_ = std::max(end - start_, 1.0f) / static_cast<float>(cells);
    points_ = rules.points;
    if (points_ <= 0)
      points_ = cell_ <= static_cast<float>(BoxJob::kMostPoints) ? static_cast<int64_t>(std::ceil(cell_)) : 0;
  }

  void SelectCell(int64_t cell) {
    cell_start_ = start_ + static_cast<float>(cell) * cell_;
    // Points only go up, so those near the image are one range. NaN is not near.
    first_ = FirstWhere(points_, [&](int64_t k) { return Coordinate(k) >= -1.0f; });
    last_ = FirstWhere(points_, [&](int64_t k) { return !(Coordinate(k) <= static_cast<float>(length_)); });
  }

  int64_t points() const { return points_; }
  // The points that are near the image.
  int64_t first() const { return first_; }
  int64_t last() const { return last_; }

  Tap At(int64_t point) const {
    const float coordinate = std::max(Coordinate(point), 0.0f);
    const auto index = static_cast<int64_t>(coordinate);
    if (index >= length_ - 1) return {{length_ - 1, length_ - 1}, {1.0f, 0.0f}};
    const float part = coordinate - static_cast<float>(index);
    return {{index, index + 1}, {1.0f - part, part}};
  }

 private:
  float Coordinate(int64_t point) const {
    return cell_start_ + (static_cast<float>(point) + 0.5f) * cell_ / static_cast<float>(points_);
  }

  int64_t length_;
  float start_;
  float cell_;
  float cell_start_ = 0;
  int64_t points_;
  int64_t first_ = 0;
  int64_t last_ = 0;
};

// A box, and one of its cells.
class Box {
 public:
  Box(const BoxJob& job, const float* numbers)
      : rows_(job.rules, numbers[2], numbers[4], job.rows, job.height),
        columns_(job.rules, numbers[1], numbers[3], job.columns, job.width) {}

  void SelectRow(int64_t row) { rows_.SelectCell(row); }
  void SelectColumn(int64_t column) { columns_.SelectCell(column); }

  // Returns the number by which a cell's sum is divided.
  float Points() const {
    return static_cast<float>(std::max<int64_t>(rows_.points() * columns_.points(), 1));
  }

  // Calls f(offsets, weights) of the four taps for each point of the cell that is near the image.
  template <class F>
  void ForEachPoint(int64_t row_stride, int64_t column_stride, const F& f) const {
    for (int64_t y = rows_.first(); y < rows_.last(); ++y) {
      const Tap row = rows_.At(y);
      for (int64_t x = columns_.first(); x < columns_.last(); ++x) {
        const Tap column = columns_.At(x);
        int64_t offset[4];
        float weight[4];
        for (int k = 0; k < 4; ++k) {
          offset[k] = row.index[k / 2] * row_stride + column.index[k % 2] * column_stride;
          weight[k] = row.weight[k / 2] * column.weight[k % 2];
        }
        f(offset, weight);
      }
    }
  }

 private:
  BoxAxis rows_;
  BoxAxis columns_;
};

class BoxReader {
 public:
  BoxReader(const BoxJob& job, const JobContext& context)
      : job_(job), from_(static_cast<const char*>(context.addresses[job.box_operand]) + job.box_offset) {}

  // Reads a box. Returns its image, or -1 if that is not there.
  int64_t Read(int64_t box, float* numbers) const {
    LoadNumbers<float, kBoxNumbers>(job_.load, from_ + box * job_.box_stride[0], job_.box_stride[1],
                                    kBoxNumbers, numbers);
    const bool is_there = numbers[0] >= 0 && numbers[0] < static_cast<float>(job_.images);
    return is_there ? static_cast<int64_t>(numbers[0]) : -1;
  }

 private:
  const BoxJob& job_;
  const char* from_;
};

// Writes a row of a box's cells. Returns false if the box's image is not there.
bool SampleRow(const BoxJob& job, const JobContext& context, int64_t at, int64_t row) {
  float numbers[kBoxNumbers];
  const int64_t image = BoxReader(job, context).Read(at, numbers);
  const char* const from = static_cast<const char*>(context.addresses[job.image_operand]) + job.image_offset +
                           std::max<int64_t>(image, 0) * job.image_stride[0];
  char* const to = static_cast<char*>(context.addresses[job.cell_operand]) + job.cell_offset +
                   at * job.cell_stride[0] + row * job.cell_stride[2];
  Box box(job, numbers);
  box.SelectRow(row);
  for (int64_t column = 0; column < job.columns; ++column) {
    box.SelectColumn(column);
    for (int64_t first = 0; first < job.channels; first += kChannelsTogether) {
      const int64_t channels = std::min(kChannelsTogether, job.channels - first);
      const char* const planes = from + first * job.image_stride[1];
      float sum[kChannelsTogether] = {};
      const auto add = [&](const int64_t* offset, const float* weight) {
        float value[4][kChannelsTogether];
        for (int k = 0; k < 4; ++k)
          LoadNumbers<float, kChannelsTogether>(job.load, planes + offset[k], job.image_stride[1], channels,
                                                value[k]);
        for (int64_t c = 0; c < channels; ++c)
          sum[c] += weight[0] * value[0][c] + weight[1] * value[1][c] + weight[2] * value[2][c] +
                    weight[3] * value[3][c];
      };
      if (image >= 0) box.ForEachPoint(job.image_stride[2], job.image_stride[3], add);
      for (int64_t c = 0; c < channels; ++c) sum[c] /= box.Points();
      StoreNumbers<float, kChannelsTogether>(job.store, sum,
                                             to + first * job.cell_stride[1] + column * job.cell_stride[3],
                                             job.cell_stride[1], channels);
    }
  }
  return image >= 0;
}

void Sample(const BoxJob& job, const JobContext& context, BadIndex* bad) {
  const int64_t all = job.boxes * job.rows;
  const int64_t together =
      std::max<int64_t>(1, kThreadBlockElements / std::min(kThreadBlockElements, job.columns * job.channels));
  ForEachBlock((all + together - 1) / together, job.threads, [&](int64_t thread_block) {
    const DefaultFloatEnvironment environment;
    for (int64_t k = thread_block * together; k < std::min(all, (thread_block + 1) * together); ++k) {
      if (!SampleRow(job, context, k / job.rows, k % job.rows)) bad->Note(k / job.rows * kBoxNumbers);
    }
  });
}

// ---- the gradient ----

// Some channels of an image. The strides are in bytes.
struct Planes {
  char* first;
  int64_t channels;
  int64_t channel_stride;
  int64_t row_stride;
  int64_t column_stride;
};

// Calls f(row) with the address of each row of the planes, by channel.
template <class F>
void ForEachRow(const BoxJob& job, const Planes& planes, const F& f) {
  for (int64_t c = 0; c < planes.channels; ++c) {
    for (int64_t y = 0; y < job.height; ++y)
      f(planes.first + c * planes.channel_stride + y * planes.row_stride, c, y);
  }
}

// Sums the gradient of some channels of an image, from first_channel on.
void SumChannels(const BoxJob& job, const JobContext& context, int64_t image, int64_t first_channel,
                 const Planes& planes, BadIndex* bad) {
  ForEachRow(job, planes, [&](char* row, int64_t, int64_t) {
    constexpr float kZero = 0;
    for (int64_t x = 0; x < job.width; ++x) std::memcpy(row + x * planes.column_stride, &kZero, sizeof kZero);
  });
  const BoxReader reader(job, context);
  const char* const gradients = static_cast<const char*>(context.addresses[job.cell_operand]) +
                                job.cell_offset + first_channel * job.cell_stride[1];
  for (int64_t at = 0; at < job.boxes; ++at) {
    float numbers[kBoxNumbers];
    const int64_t its_image = reader.Read(at, numbers);
    if (its_image < 0) bad->Note(at * kBoxNumbers);
    if (its_image != image) continue;
    Box box(job, numbers);
    for (int64_t cell = 0; cell < job.rows * job.columns; ++cell) {
      const int64_t row = cell / job.columns;
      const int64_t column = cell % job.columns;
      box.SelectRow(row);
      box.SelectColumn(column);
      float gradient[kChannelsTogether];
      LoadNumbers<float, kChannelsTogether>(
          job.load,
          gradients + at * job.cell_stride[0] + row * job.cell_stride[2] + column * job.cell_stride[3],
          job.cell_stride[1], planes.channels, gradient);
      const float points = box.Points();
      box.ForEachPoint(planes.row_stride, planes.column_stride,
                       [&](const int64_t* offset, const float* weight) {
                         for (int64_t c = 0; c < planes.channels; ++c) {
                           for (int k = 0; k < 4; ++k) {
                             char* const element = planes.first + c * planes.channel_stride + offset[k];
                             float sum;
                             std::memcpy(&sum, element, sizeof sum);
                             sum += gradient[c] * weight[k] / points;
                             std::memcpy(element, &sum, sizeof sum);
                           }
                         }
                       });
    }
  }
}

// Rounds the sums of some channels to the result's type.
void RoundChannels(const BoxJob& job, const Planes& sums, char* to) {
  constexpr int64_t kTile = 256;
  ForEachRow(job, sums, [&](const char* row, int64_t c, int64_t y) {
    char* const rounded = to + c * job.image_stride[1] + y * job.image_stride[2];
    for (int64_t x = 0; x < job.width; x += kTile) {
      float tile[kTile];
      const int64_t count = std::min(kTile, job.width - x);
      std::memcpy(tile, row + x * sums.column_stride, sizeof(float) * static_cast<size_t>(count));
      StoreNumbers<float, kTile>(job.store, tile, rounded + x * job.image_stride[3], job.image_stride[3],
                                 count);
    }
  });
}

void SumGradient(const BoxJob& job, const JobContext& context, BadIndex* bad) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(float));
  char* const result = static_cast<char*>(context.addresses[job.image_operand]) + job.image_offset;
  const int64_t groups = (job.channels + kChannelsTogether - 1) / kChannelsTogether;
  ForEachBlock(job.images * groups, job.threads, [&](int64_t thread_block) {
    const DefaultFloatEnvironment environment;
    const int64_t image = thread_block / groups;
    const int64_t first = thread_block % groups * kChannelsTogether;
    char* const to = result + image * job.image_stride[0] + first * job.image_stride[1];
    Planes planes{to, std::min(kChannelsTogether, job.channels - first), job.image_stride[1],
                  job.image_stride[2], job.image_stride[3]};
    if (job.load != nullptr) {
      const int64_t plane = job.height * job.width * kSize;
      planes = {static_cast<char*>(context.workspace) + (image * job.channels + first) * plane,
                planes.channels, plane, job.width * kSize, kSize};
    }
    SumChannels(job, context, image, first, planes, bad);
    if (job.load != nullptr) RoundChannels(job, planes, to);
  });
}

}  // namespace

void BoxJob::Run(const JobContext& context) const noexcept {
  BadIndex bad;
  if (rules.is_gradient) {
    SumGradient(*this, context, &bad);
  } else {
    Sample(*this, context, &bad);
  }
  bad.Report(context, rules.raises, box_name, 0, images, [&](int64_t at) {
    const DefaultFloatEnvironment environment;
    float numbers[kBoxNumbers];
    BoxReader(*this, context).Read(at / kBoxNumbers, numbers);
    return numbers[0];
  });
}

BoxJob MakeBoxJob(const BoxOperands& operands, const BoxRules& rules, Isa isa, int threads) noexcept {
  const Shape& images = operands.images->shape;
  const Shape& cells = operands.cells->shape;
  const aclDataType dtype = operands.images->dtype;
  BoxJob job;
  job.image_operand = static_cast<int8_t>(operands.image_operand);
  job.box_operand = static_cast<int8_t>(operands.box_operand);
  job.cell_operand = static_cast<int8_t>(operands.cell_operand);
  job.rules = rules;
  job.box_name = operands.box_name;
  job.threads = threads;
  job.images = images[0];
  job.channels = images[1];
  job.height = images[2];
  job.width = images[3];
  job.boxes = cells[0];
  job.rows = cells[2];
  job.columns = cells[3];
  job.image_offset = ByteOffset(*operands.images);
  job.box_offset = ByteOffset(*operands.boxes);
  job.cell_offset = ByteOffset(*operands.cells);
  for (int dim = 0; dim < 4; ++dim) {
    job.image_stride[dim] = ByteStride(*operands.images, dim);
    job.cell_stride[dim] = ByteStride(*operands.cells, dim);
  }
  for (int dim = 0; dim < 2; ++dim) job.box_stride[dim] = ByteStride(*operands.boxes, dim);
  job.load = dtype == ACL_FLOAT ? nullptr : FindLoad(isa, dtype, ACL_FLOAT);
  job.store = dtype == ACL_FLOAT ? nullptr : FindStore(isa, dtype);
  return job;
}

}  // namespace portacl::engine
