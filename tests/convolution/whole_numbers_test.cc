// Convolutions and their gradients. Of whole numbers, whose sums are exact in any order: images larger than what is copied or transposed at
// a time, windows that reach far, kernels of one element; for several numbers of threads. Of others, every bit by the order of terms.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "aclnnop/families/convolution.h"
#include "convolution_calls.h"
#include "engine/isa_in_use.h"
#include "gtest/gtest.h"
#include "matmul/quantised_views.h"
#include "support/contract_suite.h"
#include "support/environment.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

// Two axes each; of one axis, the first one is left out.
struct Case {
  const char* name;
  int64_t images, groups, x_channels, y_channels;  // channels of a group
  int64_t x[2], kernel[2], stride[2], padding[2], dilation[2];
  size_t axes = 2;

  Shape ShapeOf(int64_t outer, int64_t inner, const int64_t (&lengths)[2]) const {
    Shape all = {outer, inner};
    all.insert(all.end(), lengths + 2 - axes, lengths + 2);
    return all;
  }
  Shape ShapeOfX() const { return ShapeOf(images, groups * x_channels, x); }
  Shape ShapeOfW() const { return ShapeOf(groups * y_channels, x_channels, kernel); }
  Shape ShapeOfY() const { return ShapeOf(images, groups * y_channels, {Y(0), Y(1)}); }

  int64_t Y(size_t axis) const {
    return (x[axis] + 2 * padding[axis] - dilation[axis] * (kernel[axis] - 1) - 1) / stride[axis] + 1;
  }
};

const std::vector<Case> kCases = {
    {"a long row", 1, 3, 1, 1, {1, 5000}, {1, 4}, {1, 1}, {0, 3}, {1, 1}, 1},
    {"a long row, every second place", 2, 5, 1, 1, {1, 9001}, {1, 5}, {1, 2}, {0, 2}, {1, 1}, 1},
    {"many rows", 1, 4, 1, 1, {300, 40}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {"many rows, every second place", 1, 4, 1, 1, {301, 39}, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
    {"few long rows", 1, 5, 1, 1, {3, 4100}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {"few long rows, every second place", 1, 5, 1, 1, {5, 4101}, {5, 5}, {2, 2}, {2, 2}, {1, 1}},
    {"windows that reach far", 1, 4, 1, 1, {700, 9}, {3, 3}, {1, 1}, {300, 1}, {300, 1}},
    {"windows that reach too far for a copy", 1, 4, 1, 1, {1400, 9}, {3, 3}, {1, 1}, {600, 1}, {600, 1}},
    {"windows that reach beyond an image", 1, 5, 1, 1, {33, 33}, {3, 3}, {1, 1}, {20, 20}, {20, 20}},
    {"every third place", 2, 6, 1, 1, {50, 100}, {5, 5}, {3, 3}, {2, 2}, {1, 1}},
    {"rows every second place, columns all", 2, 6, 1, 1, {23, 37}, {5, 3}, {2, 1}, {2, 1}, {1, 1}},
    {"two results of a channel", 2, 20, 1, 2, {17, 19}, {7, 7}, {1, 1}, {3, 3}, {1, 1}},
    {"more results than are computed without packing", 1, 4, 1, 9, {9, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {"three channels of a group", 2, 7, 3, 2, {12, 21}, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
    {"a term more than a block of 16-bit numbers", 1, 5, 1, 1, {3, 11}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {"a term more than a block", 1, 5, 1, 1, {1, 257}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {"many small images", 300, 5, 1, 1, {4, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {"more channels than lanes", 2, 83, 1, 1, {7, 7}, {5, 5}, {1, 1}, {2, 2}, {1, 1}},
    {"one element, every second place", 2, 5, 1, 1, {21, 18}, {1, 1}, {2, 2}, {0, 0}, {1, 1}},
    {"one element, one result of many channels", 2, 1, 40, 1, {13, 17}, {1, 1}, {1, 1}, {0, 0}, {1, 1}},
    {"one element, an image", 1, 1, 24, 72, {19, 13}, {1, 1}, {1, 1}, {0, 0}, {1, 1}},
    {"one element, images that end blocks", 3, 1, 16, 64, {16, 16}, {1, 1}, {1, 1}, {0, 0}, {1, 1}},
    {"one element, images that do not", 3, 1, 10, 60, {9, 9}, {1, 1}, {1, 1}, {0, 0}, {1, 1}},
    {"one element, large images", 2, 1, 5, 7, {24, 25}, {1, 1}, {1, 1}, {0, 0}, {1, 1}},
    {"one element, groups", 2, 3, 5, 40, {27, 20}, {1, 1}, {1, 1}, {0, 0}, {1, 1}},
    {"one element, single numbers", 2, 1, 300, 1, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {1, 1}},
};

// The results of a case, and what they come from.
class Drawn {
 public:
  explicit Drawn(const Case& one) : c_(one) {
    RandomNumbers random(33);
    const auto draw = [&](int64_t count) {
      std::vector<double> numbers(static_cast<size_t>(count));
      for (double& number : numbers) number = static_cast<double>(random.Between(-3, 3));
      return numbers;
    };
    x = draw(one.images * one.groups * one.x_channels * one.x[0] * one.x[1]);
    w = draw(one.groups * one.y_channels * one.x_channels * one.kernel[0] * one.kernel[1]);
    of_y = draw(one.images * one.groups * one.y_channels * one.Y(0) * one.Y(1));
    y.resize(of_y.size());
    of_x.resize(x.size());
    of_w.resize(w.size());
    for (int64_t image = 0; image < one.images; ++image) {
      for (int64_t channel = 0; channel < one.groups * one.y_channels; ++channel) {
        for (int64_t from = 0; from < one.x_channels; ++from) AddPlane(image, channel, from);
      }
    }
  }

  std::vector<double> x, w, of_y, y, of_x, of_w;

 private:
  void AddPlane(int64_t image, int64_t channel, int64_t from) {
    const int64_t y_plane = (image * c_.groups * c_.y_channels + channel) * c_.Y(0) * c_.Y(1);
    const int64_t x_channel = channel / c_.y_channels * c_.x_channels + from;
    const int64_t x_plane = (image * c_.groups * c_.x_channels + x_channel) * c_.x[0] * c_.x[1];
    const int64_t w_plane = (channel * c_.x_channels + from) * c_.kernel[0] * c_.kernel[1];
    for (int64_t at = 0; at < c_.Y(0) * c_.Y(1); ++at) {
      for (int64_t k = 0; k < c_.kernel[0] * c_.kernel[1]; ++k) {
        const int64_t row = at / c_.Y(1) * c_.stride[0] + k / c_.kernel[1] * c_.dilation[0] - c_.padding[0];
        const int64_t column =
            at % c_.Y(1) * c_.stride[1] + k % c_.kernel[1] * c_.dilation[1] - c_.padding[1];
        if (row < 0 || row >= c_.x[0] || column < 0 || column >= c_.x[1]) continue;
        const auto y_at = static_cast<size_t>(y_plane + at);
        const auto x_at = static_cast<size_t>(x_plane + row * c_.x[1] + column);
        const auto w_at = static_cast<size_t>(w_plane + k);
        y[y_at] += x[x_at] * w[w_at];
        of_x[x_at] += of_y[y_at] * w[w_at];
        of_w[w_at] += of_y[y_at] * x[x_at];
      }
    }
  }

  Case c_;
};

HeldView Tensor(const Shape& shape, DtypeNumber dtype, bool channels_last,
                const std::vector<double>* numbers) {
  HeldView view = Numbers(shape, dtype);
  view.format = shape.size() == 3 ? ACL_FORMAT_NCL : ACL_FORMAT_NCHW;
  if (channels_last) {
    Shape last = shape;
    last.push_back(last[1]);
    last.erase(last.begin() + 1);
    const std::vector<int64_t> strides = Dense(last);
    view.strides[0] = strides[0];
    view.strides[1] = strides.back();
    for (size_t i = 2; i < shape.size(); ++i) view.strides[i] = strides[i - 1];
  }
  for (int64_t i = 0; numbers != nullptr && i < NumElements(shape); ++i) {
    int64_t place = 0;
    for (size_t dim = shape.size(), rest = static_cast<size_t>(i); dim-- > 0;) {
      place += static_cast<int64_t>(rest) % shape[dim] * view.strides[dim];
      rest /= static_cast<size_t>(shape[dim]);
    }
    EncodeElement(dtype, (*numbers)[static_cast<size_t>(i)], view.bytes.data() + place * ElementSize(dtype));
  }
  return view;
}

void Check(const Case& one, const Drawn& numbers, DtypeNumber dtype, DtypeNumber result, bool channels_last,
           aclrtStream stream) {
  const size_t skipped = 2 - one.axes;
  const Shape of_x = one.ShapeOfX(), of_w = one.ShapeOfW(), of_y = one.ShapeOfY();
  HeldView x = Tensor(of_x, dtype, channels_last, &numbers.x), w = Tensor(of_w, dtype, false, &numbers.w);
  HeldView gradient = Tensor(of_y, dtype, channels_last, &numbers.of_y);
  HeldView results[] = {Tensor(of_y, result, channels_last, nullptr),
                        Tensor(of_x, result, channels_last, nullptr), Tensor(of_w, result, false, nullptr)};
  const HeldView expected[] = {Tensor(of_y, result, channels_last, &numbers.y),
                               Tensor(of_x, result, channels_last, &numbers.of_x),
                               Tensor(of_w, result, false, &numbers.of_w)};
  aclTensor* const t[] = {x.Make(),          w.Make(),          gradient.Make(),
                          results[0].Make(), results[1].Make(), results[2].Make()};
  const int64_t none[2] = {};
  const bool flags[] = {true, true, false};
  aclIntArray* const arrays[] = {
      aclCreateIntArray(one.stride + skipped, one.axes), aclCreateIntArray(one.padding + skipped, one.axes),
      aclCreateIntArray(one.dilation + skipped, one.axes), aclCreateIntArray(none, one.axes)};
  aclBoolArray* const mask = aclCreateBoolArray(flags, 3);
  const auto run = [&](auto plan, auto execute) {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(plan(&size, &executor), 0) << TakeErrorMessage();
    std::vector<std::byte> workspace(size);
    ASSERT_EQ(execute(workspace.data(), size, executor, stream), 0);
    ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
  };
  run(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnConvolutionGetWorkspaceSize(t[0], t[1], nullptr, arrays[0], arrays[1], arrays[2], false,
                                                arrays[3], one.groups, t[3], 1, size, executor);
      },
      aclnnConvolution);
  run(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnConvolutionBackwardGetWorkspaceSize(
            t[2], t[0], t[1], nullptr, arrays[0], arrays[1], arrays[2], false, arrays[3],
            static_cast<int>(one.groups), mask, 1, t[4], t[5], nullptr, size, executor);
      },
      aclnnConvolutionBackward);
  for (aclTensor* const tensor : t) aclDestroyTensor(tensor);
  for (aclIntArray* const array : arrays) aclDestroyIntArray(array);
  aclDestroyBoolArray(mask);
  for (HeldView* const view : {&x, &w, &gradient}) view->Fetch();
  for (size_t i = 0; i < 3; ++i) {
    results[i].Fetch();
    const auto size = static_cast<size_t>(ElementSize(result));
    for (size_t at = 0; at < results[i].bytes.size(); at += size) {
      const auto value = [&](const HeldView& view) { return DecodeReal(result, view.bytes.data() + at); };
      ASSERT_EQ(value(results[i]), value(expected[i])) << "result " << i << " at " << at / size;
    }
  }
}

// Numbers whose sums depend on the order of terms, and the results by it, which FLOAT shows. Sums begin and end in all places of blocks.
Drawn InOrder(const Case& one, DtypeNumber dtype) {
  Drawn drawn(one);
  RandomNumbers random(44);
  const auto tensor = [&](const Shape& shape, std::vector<double>& numbers) {
    TensorValues values{dtype, shape, {}};
    for (double& number : numbers) {
      values.elements.emplace_back(static_cast<size_t>(ElementSize(dtype)));
      EncodeElement(dtype, static_cast<double>(random.Between(-4000, 4000)) / 1111,
                    values.elements.back().data());
      number = DecodeReal(dtype, values.elements.back().data());
    }
    return FloatTensor(values);
  };
  const FloatTensor x = tensor(one.ShapeOfX(), drawn.x), w = tensor(one.ShapeOfW(), drawn.w);
  const FloatTensor y = tensor(one.ShapeOfY(), drawn.of_y);
  const auto two = [&](const int64_t(&values)[2]) {
    return std::vector<int64_t>(values + 2 - one.axes, values + 2);
  };
  const ConvolutionGeometry geometry =
      ConvolutionGeometry::Of(two(one.stride), two(one.padding), two(one.dilation), {}, one.groups);
  const auto fill = [&](const Shape& shape, std::vector<double>& results, const auto& element) {
    size_t at = 0;
    ForEachIndex(shape, [&](const Index& index) { results[at++] = static_cast<double>(element(index)); });
  };
  fill(one.ShapeOfY(), drawn.y, [&](const Index& index) { return ElementOfY(geometry, x, w, index); });
  fill(one.ShapeOfX(), drawn.of_x, [&](const Index& index) { return ElementOfX(geometry, y, w, index); });
  fill(one.ShapeOfW(), drawn.of_w,
       [&](const Index& index) { return ElementOfW(geometry, x, y, index, one.x_channels); });
  return drawn;
}

const std::vector<Case> kOrdered = {
    {"odd images", 3, 5, 1, 1, {7, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {"odd images, every second place", 3, 19, 1, 1, {9, 13}, {5, 5}, {2, 2}, {2, 2}, {1, 1}},
    {"more terms than a block of 16-bit numbers", 2, 4, 1, 2, {9, 11}, {7, 7}, {1, 1}, {3, 3}, {1, 1}},
    {"other windows", 3, 4, 1, 1, {10, 35}, {2, 5}, {1, 2}, {1, 1}, {2, 1}},
    {"a term more than a block of 16-bit numbers", 1, 5, 1, 1, {3, 11}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {"a term more than a block", 1, 5, 1, 1, {1, 257}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {"several channels", 2, 2, 3, 2, {9, 11}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {"as much as several threads share", 2, 20, 1, 1, {41, 43}, {5, 5}, {1, 1}, {2, 2}, {1, 1}},
    {"one row", 3, 6, 1, 1, {1, 97}, {1, 4}, {1, 1}, {0, 3}, {1, 1}, 1},
    {"one element, images that end blocks of 16-bit numbers",
     3,
     1,
     6,
     34,
     {8, 12},
     {1, 1},
     {1, 1},
     {0, 0},
     {1, 1}},
    {"one element, images that end blocks", 2, 1, 4, 35, {16, 16}, {1, 1}, {1, 1}, {0, 0}, {1, 1}},
    {"one element, images that end none", 3, 1, 5, 33, {9, 9}, {1, 1}, {1, 1}, {0, 0}, {1, 1}},
    {"one element, large images", 2, 1, 5, 9, {24, 25}, {1, 1}, {1, 1}, {0, 0}, {1, 1}},
};

TEST(ConvolutionsInOrder, EveryElement) {
  for (const DtypeNumber dtype : {ACL_FLOAT, ACL_BF16, ACL_FLOAT16}) {
    for (const Case& one : kOrdered) {
      const Drawn drawn = InOrder(one, dtype);
      for (const Isa isa : SupportedIsas()) {
        for (const char* threads : {"1", "5"}) {
          if (threads[0] != '1' && dtype != ACL_FLOAT) continue;
          const ScopedEnvironment environment(
              Variables{{"PORTACL_ISA", engine::IsaName(isa)}, {"PORTACL_NUM_THREADS", threads}});
          for (const bool channels_last : {false, true}) {
            SCOPED_TRACE(std::string(engine::IsaName(isa)) + ", " + threads + " threads, " + one.name +
                         (channels_last ? ", channels last, dtype " : ", dtype ") + std::to_string(dtype));
            Check(one, drawn, dtype, ACL_FLOAT, channels_last, environment.stream());
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST(ConvolutionsOfWholeNumbers, EveryElement) {
  std::vector<Drawn> all;
  for (const Case& one : kCases) all.emplace_back(one);
  for (const Isa isa : SupportedIsas()) {
    for (const char* threads : {"1", "2", "5"}) {
      const ScopedEnvironment environment(
          Variables{{"PORTACL_ISA", engine::IsaName(isa)}, {"PORTACL_NUM_THREADS", threads}});
      for (size_t i = 0; i < kCases.size(); ++i) {
        for (const DtypeNumber dtype : {ACL_FLOAT, ACL_BF16, ACL_FLOAT16}) {
          for (const bool channels_last : {false, true}) {
            if (threads[0] != '1' && (channels_last || dtype != ACL_FLOAT)) continue;
            SCOPED_TRACE(std::string(engine::IsaName(isa)) + ", " + threads + " threads, " + kCases[i].name +
                         (channels_last ? ", channels last, dtype " : ", dtype ") + std::to_string(dtype));
            Check(kCases[i], all[i], dtype, dtype, channels_last, environment.stream());
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace portacl::testing
