// Makes grids of affine maps (see affine.h), row by row.
// SPDX-License-Identifier: Apache-2.0
#include "engine/resample/affine.h"

#include <algorithm>

#include "base/data_type.h"
#include "base/float_environment.h"
#include "engine/parallel.h"
#include "engine/resample/grid_taps.h"

namespace portacl::engine {
namespace {

// Points at a time.
constexpr int64_t kTile = 256;
// Coordinates that a thread writes at a time.
constexpr int64_t kThreadBlockElements = 16384;

// Returns where point `index` of `count` along an axis is, from -1 to 1.
float PositionOf(int64_t index, int64_t count, bool aligns_corners) {
  if (count == 1) return 0;
  const auto from_middle = static_cast<double>(2 * index - (count - 1));
  return static_cast<float>(from_middle / static_cast<double>(aligns_corners ? count - 1 : count));
}

void WriteRow(const AffineJob& job, const char* map, float z, float y, char* to) {
  const int axes = job.axes;
  float numbers[3][4];
  for (int i = 0; i < axes; ++i)
    LoadNumbers<float, 4>(job.load, map + i * job.map_stride[1], job.map_stride[2], axes + 1, numbers[i]);
  for (int64_t first = 0; first < job.extent[3]; first += kTile) {
    const int64_t count = std::min(kTile, job.extent[3] - first);
    float x[kTile];
    float coordinate[kTile];
    for (int64_t k = 0; k < count; ++k) x[k] = PositionOf(first + k, job.extent[3], job.aligns_corners);
    for (int i = 0; i < axes; ++i) {
      const float by_x = numbers[i][0];
      const float of_y = numbers[i][1] * y;
      const float of_z = axes == 3 ? numbers[i][2] * z : 0.0f;
      const float last = numbers[i][axes];
      if (axes == 3) {
        for (int64_t k = 0; k < count; ++k) coordinate[k] = ((by_x * x[k] + of_y) + of_z) + last;
      } else {
        for (int64_t k = 0; k < count; ++k) coordinate[k] = (by_x * x[k] + of_y) + last;
      }
      StoreNumbers<float, kTile>(job.store, coordinate,
                                 to + first * job.grid_stride[3] + i * job.grid_stride[4], job.grid_stride[3],
                                 count);
    }
  }
}

}  // namespace

void AffineJob::Run(const JobContext& context) const noexcept {
  const char* const from = static_cast<const char*>(context.addresses[maps]) + map_offset;
  char* const to = static_cast<char*>(context.addresses[grid]) + grid_offset;
  const int64_t all = extent[0] * extent[1] * extent[2];
  const int64_t together =
      std::max<int64_t>(1, kThreadBlockElements / std::min(kThreadBlockElements, extent[3] * axes));
  ForEachBlock((all + together - 1) / together, threads, [&](int64_t thread_block) {
    const DefaultFloatEnvironment environment;
    for (int64_t k = thread_block * together; k < std::min(all, (thread_block + 1) * together); ++k) {
      const int64_t row = k % extent[2];
      const int64_t plane = k / extent[2] % extent[1];
      const int64_t map = k / extent[2] / extent[1];
      WriteRow(*this, from + map * map_stride[0], PositionOf(plane, extent[1], aligns_corners),
               PositionOf(row, extent[2], aligns_corners),
               to + map * grid_stride[0] + plane * grid_stride[1] + row * grid_stride[2]);
    }
  });
}

AffineJob MakeAffineJob(const StridedView& maps, int map_operand, const StridedView& grid, int grid_operand,
                        bool aligns_corners, Isa isa, int threads) noexcept {
  AffineJob job;
  job.maps = static_cast<int8_t>(map_operand);
  job.grid = static_cast<int8_t>(grid_operand);
  job.axes = static_cast<int8_t>(maps.shape[1]);
  job.aligns_corners = aligns_corners;
  job.threads = threads;
  job.map_offset = ByteOffset(maps);
  for (int dim = 0; dim < 3; ++dim) job.map_stride[dim] = ByteStride(maps, dim);
  job.grid_offset = ByteOffset(grid);
  const int missing = 5 - grid.shape.rank;  // an image has one plane
  job.extent[0] = grid.shape[0];
  job.grid_stride[0] = ByteStride(grid, 0);
  job.extent[1] = 1;
  job.grid_stride[1] = 0;
  for (int dim = 1; dim < grid.shape.rank; ++dim) {
    if (dim + missing < 4) job.extent[dim + missing] = grid.shape[dim];
    job.grid_stride[dim + missing] = ByteStride(grid, dim);
  }
  const aclDataType dtype = grid.dtype;
  job.load = dtype == ACL_FLOAT ? nullptr : FindLoad(isa, dtype, ACL_FLOAT);
  job.store = dtype == ACL_FLOAT ? nullptr : FindStore(isa, dtype);
  return job;
}

}  // namespace portacl::engine
