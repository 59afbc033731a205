// Samples the cells of boxes that lie on images, and computes the gradient.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"
#include "engine/conversions.h"
#include "engine/job.h"
#include "plan/strided_view.h"

namespace portacl::engine {

struct BoxOperands {
  const StridedView* images;  // N, C, H, W: the elements, or, of a gradient, the result
  int image_operand;
  const StridedView* boxes;  // boxes, (image, x1, y1, x2, y2)
  int box_operand;
  const char* box_name;      // what a message calls the boxes
  const StridedView* cells;  // boxes, C, rows, columns: the result, or, of a gradient, their gradient
  int cell_operand;
};

struct BoxRules {
  float scale;       // of the images to the coordinates of boxes
  bool ends_behind;  // whether x2 and y2 are elements of the box
  int64_t points;    // of a cell along each axis; 0 or less: its length, rounded up
  bool is_gradient;
  bool raises;  // whether a box of an image that is not there fails the stream
};

struct BoxJob {
  // The most points of a cell along an axis. A longer cell of a box has none, and is 0.
  static constexpr int64_t kMostPoints = int64_t{1} << 24;

  int8_t image_operand;
  int8_t box_operand;
  int8_t cell_operand;
  BoxRules rules;
  const char* box_name;
  int threads;
  int64_t images;
  int64_t channels;
  int64_t height;
  int64_t width;
  int64_t boxes;
  int64_t rows;
  int64_t columns;
  // Offsets and strides in bytes.
  int64_t image_offset;
  int64_t image_stride[4];
  int64_t box_offset;
  int64_t box_stride[2];
  int64_t cell_offset;
  int64_t cell_stride[4];
  LoadFunction load;  // nullptr if nothing is converted
  StoreFunction store;

  bool Touches(int operand) const noexcept {
    return operand == image_operand || operand == box_operand || operand == cell_operand;
  }
  int64_t Elements() const noexcept {
    const int64_t of_images = images * channels * height * width;
    const int64_t of_cells = boxes * channels * rows * columns;
    return of_images > of_cells ? of_images : of_cells;
  }
  // Sums of 16-bit elements are float32.
  uint64_t OwnWorkspace() const noexcept {
    if (!rules.is_gradient || load == nullptr) return 0;
    return static_cast<uint64_t>(images * channels * height * width) * sizeof(float);
  }
  void Run(const JobContext& context) const noexcept;
};

// Makes the job. A box is divided evenly into rows * columns cells. A cell is the sum over its points, row by row, of the image
// between its four elements, divided by the number of points; those more than an element outside count 0 (docs/numerics.md). An
// element's gradient is the sum, from +0 on, of gradient * weight / number of points over the points that it has a weight in, by
// box, cell and point in their order. All have one dtype, FLOAT or FLOAT16, and are computed in float32. Only the numbers of
// images and boxes may be 0. A box of an image that is not there has cells of 0, and adds nothing.
BoxJob MakeBoxJob(const BoxOperands& operands, const BoxRules& rules, Isa isa, int threads) noexcept;

}  // namespace portacl::engine
