// What the tests of convolutions share: the definition, one fused multiply-add after the other over logical indices, and what is drawn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "matmul/product_calls.h"

namespace portacl::testing {

// Along one axis: coordinate of x = position of y * stride + place * dilation - padding.
struct ConvolutionGeometry {
  struct Axis {
    int64_t stride = 1, before = 0, behind = 0, dilation = 1, output_padding = 0;
  };
  std::vector<Axis> axes;
  int64_t groups = 1;

  // Arrays that may have other lengths than there are axes, which rules look at.
  static ConvolutionGeometry Of(const std::vector<int64_t>& stride, const std::vector<int64_t>& padding,
                                const std::vector<int64_t>& dilation,
                                const std::vector<int64_t>& output_padding, int64_t groups) {
    ConvolutionGeometry geometry;
    geometry.groups = groups;
    const bool has_two = padding.size() != stride.size();
    for (size_t i = 0; i < stride.size(); ++i) {
      Axis axis;
      axis.stride = stride[i];
      axis.before = padding[has_two ? 2 * i : i];
      axis.behind = padding[has_two ? 2 * i + 1 : i];
      axis.dilation = dilation[i];
      axis.output_padding = output_padding.empty() ? 0 : output_padding[i];
      geometry.axes.push_back(axis);
    }
    return geometry;
  }
  int64_t LengthOfY(size_t axis, int64_t x, int64_t kernel) const {
    const Axis& a = axes[axis];
    const int64_t room = x + a.before + a.behind - a.dilation * (kernel - 1) - 1;
    return room / a.stride + 1;
  }
  int64_t LengthOfX(size_t axis, int64_t y, int64_t kernel) const {
    const Axis& a = axes[axis];
    return (y - 1) * a.stride - a.before - a.behind + a.dilation * (kernel - 1) + a.output_padding + 1;
  }
  bool KernelFits(size_t axis, int64_t x, int64_t kernel) const {
    return x + axes[axis].before + axes[axis].behind >= axes[axis].dilation * (kernel - 1) + 1;
  }
};

// Calls f for each index of a shape, the last dim fastest.
template <class F>
void ForEachIndex(const Shape& shape, const F& f) {
  if (NumElements(shape) == 0) return;
  Index index(shape.size(), 0);
  for (;;) {
    f(index);
    size_t dim = shape.size();
    while (dim > 0 && ++index[dim - 1] == shape[dim - 1]) index[--dim] = 0;
    if (dim == 0) return;
  }
}
inline Shape Axes(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

// The coordinate of x that a place meets at a position of y, if it is inside.
inline bool Meets(const ConvolutionGeometry& geometry, const Index& position, size_t from, const Index& place,
                  const Shape& x, Index& coordinate) {
  bool is_inside = true;
  for (size_t i = 0; i < geometry.axes.size(); ++i) {
    const auto& axis = geometry.axes[i];
    coordinate[2 + i] = position[from + i] * axis.stride + place[i] * axis.dilation - axis.before;
    is_inside = is_inside && coordinate[2 + i] >= 0 && coordinate[2 + i] < x[2 + i];
  }
  return is_inside;
}

// An element of y: w is [channel of y, channel of x in the group, kernel].
inline float ElementOfY(const ConvolutionGeometry& geometry, const FloatTensor& x, const FloatTensor& w,
                        const Index& index) {
  const int64_t channels = w.shape[1];
  const int64_t group = index[1] / (w.shape[0] / geometry.groups);
  BlockedSum sum = SumOf(w, x);
  Index from(index.size(), 0), of_w(index.size(), 0);
  from[0] = index[0];
  of_w[0] = index[1];
  for (int64_t channel = 0; channel < channels; ++channel) {
    from[1] = group * channels + channel;
    of_w[1] = channel;
    ForEachIndex(Axes(w.shape), [&](const Index& place) {
      std::copy(place.begin(), place.end(), of_w.begin() + 2);
      sum.AddTerm(w.At(of_w), Meets(geometry, index, 2, place, x.shape, from) ? x.At(from) : 0.0f);
    });
  }
  return sum.Result();
}

// An element of x, of the transposed convolution of y: those places alone count that meet it from some position, of y or beside it.
inline float ElementOfX(const ConvolutionGeometry& geometry, const FloatTensor& y, const FloatTensor& w,
                        const Index& index) {
  const int64_t channels = w.shape[0] / geometry.groups;
  const int64_t group = index[1] / w.shape[1];
  BlockedSum sum = SumOf(w, y);
  Index from(index.size(), 0), of_w(index.size(), 0);
  from[0] = index[0];
  of_w[1] = index[1] % w.shape[1];
  for (int64_t channel = 0; channel < channels; ++channel) {
    from[1] = of_w[0] = group * channels + channel;
    ForEachIndex(Axes(w.shape), [&](const Index& place) {
      bool is_inside = true;
      for (size_t i = 0; i < place.size(); ++i) {
        const auto& axis = geometry.axes[i];
        const int64_t steps = index[2 + i] + axis.before - place[i] * axis.dilation;
        if (steps % axis.stride != 0) return;
        of_w[2 + i] = place[i];
        from[2 + i] = steps / axis.stride;
        is_inside = is_inside && from[2 + i] >= 0 && from[2 + i] < y.shape[2 + i];
      }
      sum.AddTerm(w.At(of_w), is_inside ? y.At(from) : 0.0f);
    });
  }
  return sum.Result();
}

// An element of w's gradient.
inline float ElementOfW(const ConvolutionGeometry& geometry, const FloatTensor& x, const FloatTensor& y,
                        const Index& index, int64_t x_channels) {
  const int64_t group = index[0] / (y.shape[1] / geometry.groups);
  BlockedSum sum = SumOf(y, x);
  Index from(index.size(), 0), of_y(index.size(), 0);
  from[1] = group * x_channels + index[1];
  of_y[1] = index[0];
  const Index place(index.begin() + 2, index.end());
  for (int64_t image = 0; image < y.shape[0]; ++image) {
    from[0] = of_y[0] = image;
    ForEachIndex(Axes(y.shape), [&](const Index& position) {
      std::copy(position.begin(), position.end(), of_y.begin() + 2);
      sum.AddTerm(y.At(of_y), Meets(geometry, position, 0, place, x.shape, from) ? x.At(from) : 0.0f);
    });
  }
  return sum.Result();
}

// ---- drawing ----

// Lengths of a valid convolution y = x * w, and its arrays.
struct DrawnConvolution {
  Shape x, w, y;
  std::vector<int64_t> stride, padding, dilation, output_padding;
  int64_t groups = 1;
};

// Depthwise layers, which are not computed as products: squares and other windows, rows of more than a vector, tiles in part, channels of
// more than a vector, and images of which a window is larger than the inside.
inline DrawnConvolution DrawDepthwise(RandomNumbers& random, bool is_transposed, bool has_negative_padding) {
  DrawnConvolution drawn;
  const size_t axes = random.Chance(85) ? 2 : 1;
  const bool is_wide = random.Chance(30);
  drawn.groups = is_wide ? random.Between(1, 5) : random.Between(4, 37);
  const int64_t multiplier = random.Chance(70) ? 1 : random.Between(2, is_wide ? 9 : 3);
  const int64_t images = random.Chance(4) ? 0 : random.Between(1, 3);
  drawn.x = {images, drawn.groups};
  drawn.y = {images, drawn.groups * multiplier};
  drawn.w = {drawn.groups * multiplier, 1};
  const int64_t square = random.Chance(70) ? random.Between(1, 3) * 2 + 1 : 0;
  const int64_t step = random.Chance(50) ? 1 : random.Between(1, 3);
  const int64_t apart = random.Chance(70) ? 1 : random.Between(2, 3);
  for (size_t i = 0; i < axes; ++i) {
    const int64_t kernel = square != 0 ? square : random.Between(1, 8);
    const int64_t stride = random.Chance(80) ? step : random.Between(1, 3);
    const int64_t dilation = random.Chance(80) ? apart : random.Between(1, 3);
    const int64_t least = has_negative_padding && random.Chance(10) ? -1 : 0;
    const int64_t padding = random.Chance(70) ? kernel / 2 * dilation : random.Between(least, 3);
    const int64_t most = (i + 1 < axes ? 14 : 90) / (is_wide ? 1 : 4);
    const int64_t y = random.Between(1, std::max<int64_t>(3, most));
    const int64_t output_padding = random.Below(is_transposed ? std::max(stride, dilation) : stride);
    const int64_t x = (y - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1;
    if (x < 1) return DrawDepthwise(random, is_transposed, has_negative_padding);
    drawn.x.push_back(x);
    drawn.y.push_back(y);
    drawn.w.push_back(kernel);
    drawn.stride.push_back(stride);
    drawn.dilation.push_back(dilation);
    drawn.padding.push_back(padding);
    drawn.output_padding.push_back(output_padding);
  }
  return drawn;
}

inline DrawnConvolution DrawConvolution(RandomNumbers& random, bool is_transposed,
                                        bool has_negative_padding) {
  if (random.Chance(40)) return DrawDepthwise(random, is_transposed, has_negative_padding);
  DrawnConvolution drawn;
  const auto axes = static_cast<size_t>(random.Between(1, 3));
  drawn.groups = random.Chance(60) ? 1 : random.Between(2, 4);
  const auto channels = [&] { return random.Chance(10) ? random.Between(15, 40) : random.Between(1, 4); };
  const int64_t of_x = channels(), of_y = channels();
  const int64_t images = random.Chance(4) ? 0 : random.Between(1, 3);
  drawn.x = {images, of_x * drawn.groups};
  drawn.y = {images, of_y * drawn.groups};
  drawn.w = {of_y * drawn.groups, of_x};
  const bool has_two = axes == 2 ? random.Chance(25) : axes == 1 && !is_transposed && random.Chance(25);
  for (size_t i = 0; i < axes; ++i) {
    const int64_t kernel = random.Between(1, 4);
    const int64_t stride = random.Chance(50) ? 1 : random.Between(2, 4);
    const int64_t dilation = random.Chance(70) ? 1 : random.Between(2, 4);
    const int64_t least = has_negative_padding && random.Chance(10) ? -1 : 0;
    const int64_t before = random.Chance(40) ? 0 : random.Between(least, 3);
    const int64_t behind = has_two ? random.Between(least, 3) : before;
    const int64_t most = of_x * of_y > 100 ? 4 : axes == 1 ? 40 : axes == 2 ? 10 : 5;
    const int64_t y = random.Between(1, most);
    // Of the elements that may be left over behind the last position.
    const int64_t output_padding = random.Below(is_transposed ? std::max(stride, dilation) : stride);
    const int64_t x = (y - 1) * stride - before - behind + dilation * (kernel - 1) + output_padding + 1;
    if (x < 1) return DrawConvolution(random, is_transposed, has_negative_padding);
    drawn.x.push_back(x);
    drawn.y.push_back(y);
    drawn.w.push_back(kernel);
    drawn.stride.push_back(stride);
    drawn.dilation.push_back(dilation);
    drawn.padding.push_back(before);
    if (has_two) drawn.padding.push_back(behind);
    drawn.output_padding.push_back(output_padding);
  }
  return drawn;
}

inline int32_t FormatOf(const Shape& shape) {
  return shape.size() == 3 ? ACL_FORMAT_NCL : shape.size() == 4 ? ACL_FORMAT_NCHW : ACL_FORMAT_NCDHW;
}

}  // namespace portacl::testing
