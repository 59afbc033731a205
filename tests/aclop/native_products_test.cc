// Products of matrices and convolutions by the name of their type: values and gradients by their definitions.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "aclop/called_by_name.h"
#include "gtest/gtest.h"
#include "support/environment.h"

namespace portacl::testing {
namespace {

class NativeProducts : public ::testing::Test {
 protected:
  void Run(CalledByName& call) { ASSERT_EQ(call.Run(stream_), 0) << TakeMessage(); }
  void Refuses(CalledByName& call, const std::string& part) {
    TakeMessage();
    EXPECT_EQ(call.Launch(stream_), ACL_ERROR_INVALID_PARAM) << part;
    const std::string message = TakeMessage();
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
  }

  ScopedEnvironment environment_{Variables{}};
  aclrtStream stream_ = environment_.stream();
};

void ExpectNear(const Floats& got, const std::vector<double>& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i], 1e-5 * std::max(1.0, std::abs(want[i]))) << what << ", element " << i;
}

// ---- products ----

std::vector<double> Multiplied(const Floats& a, const Floats& b, size_t batches, size_t m, size_t k, size_t n,
                               bool turns_a, bool turns_b) {
  std::vector<double> out;
  for (size_t batch = 0; batch < batches; ++batch) {
    for (size_t i = 0; i < m; ++i) {
      for (size_t j = 0; j < n; ++j) {
        double sum = 0;
        for (size_t l = 0; l < k; ++l) {
          const double left = a[batch * m * k + (turns_a ? l * m + i : i * k + l)];
          const double right = b[batch * k * n + (turns_b ? j * k + l : l * n + j)];
          sum += left * right;
        }
        out.push_back(sum);
      }
    }
  }
  return out;
}

TEST_F(NativeProducts, OfMatrices) {
  Floats a = Numbers(12);
  Floats b = Numbers(20, -1, 3);
  Floats bias = Numbers(5);
  for (const bool turns_a : {false, true}) {
    for (const bool turns_b : {false, true}) {
      std::vector<double> want = Multiplied(a, b, 1, 3, 4, 5, turns_a, turns_b);
      for (const char* type : {"MatMul", "MatMulV2"}) {
        Floats y(15);
        CalledByName call(type);
        Run(call.In(turns_a ? Dims{4, 3} : Dims{3, 4}, a)
                .In(turns_b ? Dims{5, 4} : Dims{4, 5}, b)
                .Out({3, 5}, y)
                .Flag("transpose_x1", turns_a)
                .Flag("transpose_x2", turns_b));
        ExpectNear(y, want, type);
      }
      Floats y(15);
      CalledByName call("MatMul");
      Run(call.In(turns_a ? Dims{4, 3} : Dims{3, 4}, a)
              .In(turns_b ? Dims{5, 4} : Dims{4, 5}, b)
              .In({5}, bias)
              .Out({3, 5}, y)
              .Flag("transpose_x1", turns_a)
              .Flag("transpose_x2", turns_b));
      for (size_t i = 0; i < 15; ++i) want[i] += bias[i % 5];
      ExpectNear(y, want, "with a bias");
    }
  }
}

TEST_F(NativeProducts, OfBatches) {
  Floats a = Numbers(48);
  Floats b = Numbers(80, -1, 3);
  for (const bool turns_a : {false, true}) {
    for (const bool turns_b : {false, true}) {
      const std::vector<double> want = Multiplied(a, b, 4, 3, 4, 5, turns_a, turns_b);
      for (const bool is_deep : {false, true}) {
        const auto dims = [&](int64_t rows, int64_t columns, bool turns) {
          Dims all = is_deep ? Dims{2, 2} : Dims{4};
          all.push_back(turns ? columns : rows);
          all.push_back(turns ? rows : columns);
          return all;
        };
        for (const char* type : {"BatchMatMul", "BatchMatMulV2"}) {
          Floats y(60);
          CalledByName call(type);
          Run(call.In(dims(3, 4, turns_a), a)
                  .In(dims(4, 5, turns_b), b)
                  .Out(dims(3, 5, false), y)
                  .Flag("adj_x1", turns_a)
                  .Flag("adj_x2", turns_b));
          ExpectNear(y, want, type);
        }
      }
    }
  }
}

TEST_F(NativeProducts, OfBatchesWithABias) {
  Floats a = Numbers(24);
  Floats b = Numbers(40, -1, 3);
  Floats bias = Numbers(5);
  Floats y(30);
  CalledByName call("BatchMatMul");
  Run(call.In({2, 3, 4}, a)
          .In({2, 5, 4}, b)
          .In({5}, bias)
          .Out({2, 3, 5}, y)
          .Flag("adj_x1", false)
          .Flag("adj_x2", true));
  std::vector<double> want = Multiplied(a, b, 2, 3, 4, 5, false, true);
  for (size_t i = 0; i < want.size(); ++i) want[i] += bias[i % 5];
  ExpectNear(y, want, "with a bias");
}

// ---- convolutions ----

struct Geometry {
  std::vector<size_t> in;      // of a dim
  std::vector<size_t> kernel;  // of a dim
  std::vector<size_t> stride;
  std::vector<size_t> before;  // what is padded
  std::vector<size_t> behind;
  std::vector<size_t> dilation;
  size_t images = 2;
  size_t in_channels;
  size_t out_channels;
  size_t groups;

  size_t Out(size_t dim) const {
    return (in[dim] + before[dim] + behind[dim] - dilation[dim] * (kernel[dim] - 1) - 1) / stride[dim] + 1;
  }
  Dims X() const { return WithLengths({images, in_channels}, in); }
  Dims Filter() const { return WithLengths({out_channels, in_channels / groups}, kernel); }
  Dims Y() const {
    std::vector<size_t> lengths;
    for (size_t dim = 0; dim < in.size(); ++dim) lengths.push_back(Out(dim));
    return WithLengths({images, out_channels}, lengths);
  }

  // Calls f(place in x, place in the filter, place in y) for each product that the convolution sums up.
  void ForEachTerm(const std::function<void(size_t, size_t, size_t)>& f) const {
    const size_t rank = in.size();
    const size_t of_group_in = in_channels / groups;
    const size_t of_group_out = out_channels / groups;
    size_t x_size = 1;
    size_t k_size = 1;
    size_t y_size = 1;
    for (size_t dim = 0; dim < rank; ++dim) {
      x_size *= in[dim];
      k_size *= kernel[dim];
      y_size *= Out(dim);
    }
    for (size_t y = 0; y < images * out_channels * y_size; ++y) {
      const size_t image = y / y_size / out_channels;
      const size_t to = y / y_size % out_channels;
      for (size_t k = 0; k < of_group_in * k_size; ++k) {
        const size_t from = to / of_group_out * of_group_in + k / k_size;
        size_t at = 0;
        bool is_inside = true;
        size_t y_left = y % y_size;
        size_t k_left = k % k_size;
        std::vector<size_t> places(rank);
        for (size_t dim = rank; dim-- > 0;) {
          const size_t padded = y_left % Out(dim) * stride[dim] + k_left % kernel[dim] * dilation[dim];
          y_left /= Out(dim);
          k_left /= kernel[dim];
          is_inside = is_inside && padded >= before[dim] && padded < before[dim] + in[dim];
          places[dim] = padded - before[dim];
        }
        if (!is_inside) continue;
        for (size_t dim = 0; dim < rank; ++dim) at = at * in[dim] + places[dim];
        f((image * in_channels + from) * x_size + at, to * of_group_in * k_size + k, y);
      }
    }
  }

  CalledByName& Describe(CalledByName& call) const {
    Dims strides = {1, 1};
    Dims dilations = {1, 1};
    Dims pads;
    for (size_t dim = 0; dim < in.size(); ++dim) {
      strides.push_back(static_cast<int64_t>(stride[dim]));
      dilations.push_back(static_cast<int64_t>(dilation[dim]));
      pads.push_back(static_cast<int64_t>(before[dim]));
      pads.push_back(static_cast<int64_t>(behind[dim]));
    }
    return call.List("strides", strides)
        .List("dilations", dilations)
        .List("pads", pads)
        .Word("data_format", in.size() == 2 ? "NCHW" : "NCDHW");
  }

 private:
  static Dims WithLengths(std::vector<size_t> first, const std::vector<size_t>& lengths) {
    first.insert(first.end(), lengths.begin(), lengths.end());
    return Dims(first.begin(), first.end());
  }
};

const Geometry kGeometries[] = {
    {{7, 6}, {3, 2}, {2, 1}, {1, 0}, {1, 0}, {1, 2}, 2, 4, 6, 2},
    {{5, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, 2, 4, 1},
    {{4, 5, 6}, {2, 3, 1}, {1, 2, 1}, {0, 1, 0}, {0, 1, 0}, {2, 1, 1}, 2, 2, 4, 2},
};

TEST_F(NativeProducts, Convolutions) {
  std::vector<Geometry> geometries(std::begin(kGeometries), std::end(kGeometries));
  geometries.push_back({{5, 6}, {3, 2}, {1, 2}, {1, 0}, {0, 2}, {1, 1}, 1, 3, 2, 1});  // padded on one side
  for (const Geometry& g : geometries) {
    const std::string type = g.in.size() == 2 ? "Conv2D" : "Conv3D";
    Floats x = Numbers(Product(g.X()));
    Floats filter = Numbers(Product(g.Filter()), -1, 2);
    Floats bias = Numbers(g.out_channels);
    std::vector<double> want(Product(g.Y()), 0.0);
    g.ForEachTerm([&](size_t i, size_t k, size_t o) { want[o] += static_cast<double>(x[i]) * filter[k]; });
    Floats y(want.size());
    CalledByName call(type);
    call.In(g.X(), x).In(g.Filter(), filter).Out(g.Y(), y);
    Run(g.Describe(call).Int("groups", static_cast<int64_t>(g.groups)));
    ExpectNear(y, want, type);
    CalledByName with_bias(type);
    with_bias.In(g.X(), x)
        .In(g.Filter(), filter)
        .In({static_cast<int64_t>(g.out_channels)}, bias)
        .Out(g.Y(), y);
    Run(g.Describe(with_bias).Int("groups", static_cast<int64_t>(g.groups)));
    const size_t image = want.size() / g.images / g.out_channels;
    for (size_t i = 0; i < want.size(); ++i) want[i] += bias[i / image % g.out_channels];
    ExpectNear(y, want, type + " with a bias");
    CalledByName without(type);
    without.In(g.X(), x).In(g.Filter(), filter).Nothing().Out(g.Y(), y);
    Run(g.Describe(without).Int("groups", static_cast<int64_t>(g.groups)));
    EXPECT_NE(y[0], static_cast<float>(want[0])) << "an input of no dtype is none";
  }
}

TEST_F(NativeProducts, GradientsOfConvolutions) {
  for (const Geometry& g : kGeometries) {
    const std::string type = g.in.size() == 2 ? "Conv2D" : "Conv3D";
    Floats x = Numbers(Product(g.X()));
    Floats filter = Numbers(Product(g.Filter()), -1, 2);
    Floats dy = Numbers(Product(g.Y()), -2, 1);
    std::vector<double> want_dx(x.size(), 0.0);
    std::vector<double> want_filter(filter.size(), 0.0);
    g.ForEachTerm([&](size_t i, size_t k, size_t o) {
      want_dx[i] += static_cast<double>(dy[o]) * filter[k];
      want_filter[k] += static_cast<double>(dy[o]) * x[i];
    });
    Floats dx(x.size(), -99.0f);
    CalledByName of_input(type + "BackpropInput");
    of_input.Ints(g.X()).In(g.Filter(), filter).In(g.Y(), dy).Out(g.X(), dx);
    Run(g.Describe(of_input).Int("groups", static_cast<int64_t>(g.groups)));
    ExpectNear(dx, want_dx, type + "BackpropInput");
    Floats dfilter(filter.size(), -99.0f);
    CalledByName of_filter(type + "BackpropFilter");
    of_filter.In(g.X(), x).Ints(g.Filter()).In(g.Y(), dy).Out(g.Filter(), dfilter);
    Run(g.Describe(of_filter).Int("groups", static_cast<int64_t>(g.groups)));
    ExpectNear(dfilter, want_filter, type + "BackpropFilter");
  }
}

// The transposed convolution takes what a convolution makes to what that takes: it is the gradient of its input.
TEST_F(NativeProducts, TransposedConvolutions) {
  for (const Geometry& g : kGeometries) {
    const std::string type = g.in.size() == 2 ? "Conv2DTranspose" : "Conv3DTranspose";
    Floats filter = Numbers(Product(g.Filter()), -1, 2);
    Floats x = Numbers(Product(g.Y()), -2, 1);
    Floats bias = Numbers(g.in_channels);
    std::vector<double> want(Product(g.X()), 0.0);
    g.ForEachTerm([&](size_t i, size_t k, size_t o) { want[i] += static_cast<double>(x[o]) * filter[k]; });
    const size_t image = want.size() / g.images / g.in_channels;
    for (size_t i = 0; i < want.size(); ++i) want[i] += bias[i / image % g.in_channels];
    Dims more = {0, 0};
    for (size_t dim = 0; dim < g.in.size(); ++dim) {
      const size_t least = (g.Out(dim) - 1) * g.stride[dim] + g.dilation[dim] * (g.kernel[dim] - 1) + 1 -
                           g.before[dim] - g.behind[dim];
      more.push_back(static_cast<int64_t>(g.in[dim] - least));
    }
    Floats y(want.size());
    CalledByName call(type);
    call.Ints(g.X())
        .In(g.Y(), x)
        .In(g.Filter(), filter)
        .In({static_cast<int64_t>(g.in_channels)}, bias)
        .Out(g.X(), y);
    Run(g.Describe(call).Int("groups", static_cast<int64_t>(g.groups)).List("output_padding", more));
    ExpectNear(y, want, type);
  }
}

TEST_F(NativeProducts, DepthwiseGradients) {
  const Geometry g = {{5, 6}, {3, 2}, {1, 2}, {1, 0}, {1, 0}, {1, 1}, 2, 3, 3, 3};
  Floats x = Numbers(Product(g.X()));
  Floats filter = Numbers(Product(g.Filter()), -1, 2);
  Floats dy = Numbers(Product(g.Y()), -2, 1);
  std::vector<double> want_dx(x.size(), 0.0);
  std::vector<double> want_filter(filter.size(), 0.0);
  g.ForEachTerm([&](size_t i, size_t k, size_t o) {
    want_dx[i] += static_cast<double>(dy[o]) * filter[k];
    want_filter[k] += static_cast<double>(dy[o]) * x[i];
  });
  Floats dx(x.size());
  CalledByName of_input("DepthwiseConv2DBackpropInput");
  of_input.Ints(g.X()).In({1, 3, 3, 2}, filter).In(g.Y(), dy).Out(g.X(), dx);
  Run(g.Describe(of_input));
  ExpectNear(dx, want_dx, "input");
  Floats dfilter(filter.size());
  CalledByName of_filter("DepthwiseConv2DBackpropFilter");
  of_filter.In(g.X(), x).Ints({1, 3, 3, 2}).In(g.Y(), dy).Out(g.Filter(), dfilter);
  Run(g.Describe(of_filter));
  ExpectNear(dfilter, want_filter, "filter");
}

TEST_F(NativeProducts, RefuseWhatDoesNotFit) {
  const Geometry& g = kGeometries[1];
  Floats x = Numbers(Product(g.X()));
  Floats filter = Numbers(Product(g.Filter()));
  Floats y(Product(g.Y()), -1.0f);
  const auto refused = [&](const std::function<void(CalledByName&)>& change, const std::string& part) {
    CalledByName call("Conv2D");
    call.In(g.X(), x).In(g.Filter(), filter).Out(g.Y(), y);
    g.Describe(call);
    change(call);
    Refuses(call, part);
  };
  refused([](CalledByName& call) { call.Word("data_format", "NHWC"); },
          "has the attribute data_format=\"NHWC\", accepted: NCHW");
  refused(
      [](CalledByName& call) {
        call.List("strides", {1, 2, 1, 1});
      },
      "has the attribute strides=[1, 2, 1, 1], accepted: 4 numbers, of which the first two are 1");
  refused(
      [](CalledByName& call) {
        call.List("pads", {1, 1});
      },
      "has the attribute pads=[1, 1], accepted: two numbers for each of 2 dims");
  refused([](CalledByName& call) { call.Int("offset_x", 3); }, "has the attribute offset_x=3, accepted: 0");
  refused([](CalledByName& call) { call.Word("padding", "SAME"); },
          "has the attribute padding=\"SAME\", accepted: data_format, dilations");
  refused([](CalledByName& call) { call.Int("groups", 3); },
          "Conv2D is computed by aclnnConvolution, which refuses it");
  CalledByName wrong("Conv2DBackpropInput");
  wrong.Ints({1, 2, 5, 6}).In(g.Filter(), filter).In(g.Y(), y).Out(g.X(), x);
  Refuses(g.Describe(wrong), "has the dims [1, 2, 5, 6] where its operands say [1, 2, 5, 5]");
  CalledByName deep("Conv3D");
  const Geometry& volumes = kGeometries[2];
  Floats v = Numbers(Product(volumes.X()));
  Floats w = Numbers(Product(volumes.Filter()));
  Floats z(Product(volumes.Y()));
  deep.In(volumes.X(), v).In(volumes.Filter(), w).Out(volumes.Y(), z);
  Refuses(volumes.Describe(deep).List("pads", {0, 1, 1, 1, 0, 0}),
          "accepted: as much behind each of three dims as before it");
  EXPECT_EQ(y, Floats(y.size(), -1.0f)) << "nothing is written";
}

}  // namespace
}  // namespace portacl::testing
