// Prelu and its gradients, whose weights lie along self's dim 1: values, sums, views and codes.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "aclnnop/families/activations.h"
#include "maps/several_views.h"

namespace portacl::testing {
namespace {

using Prelu = OnEveryIsa;

// One shape: which weight belongs to element i is i / inner % weights.
struct Weighted {
  Shape self;
  Shape weight;
  int64_t inner = 1;
  Shape gradient = {};  // of gradOutput; empty: self's
};

int64_t WeightOf(const Weighted& c, const HostTensor& weight, int64_t i) {
  return weight.size() == 1 ? 0 : i / c.inner % weight.size();
}

TEST_P(Prelu, EveryElement) {
  RandomNumbers random(0x9E1);
  const Weighted cases[] = {{{4, 7}, {7}, 1},
                            {{2, 5, 33}, {5}, 33},
                            {{2, 5, 33}, {1}},
                            {{3, 6, 4, 5}, {1, 6, 1, 1}, 20},
                            {{3, 6, 4, 5}, {2, 3}, 20},
                            {{2, 12, 3}, {2, 3, 2}, 3, {12, 1}},
                            {{9}, {1}},
                            {{}, {1, 1}},
                            {{300, 5, 40}, {5}, 40},
                            {{2, 3, 41, 50}, {}, 1, {3, 1, 50}}};
  const DtypeNumber dtypes[] = {ACL_FLOAT, ACL_BF16, ACL_FLOAT16};
  for (const DtypeNumber dtype : dtypes) {
    for (const Weighted& c : cases) {
      for (const Layout layout : kLayouts) {
        const DtypeNumber other = dtype == ACL_FLOAT16 ? ACL_BF16 : dtype;
        HostTensor x(dtype, MakeView(c.self, layout, random));
        HostTensor weight(dtype, MakeView(c.weight, layout, random));
        HostTensor mixed(other, MakeView(c.weight, layout, random));
        HostTensor out(dtype, MakeView(c.self, layout, random));
        HostTensor wide(ACL_FLOAT, MakeView(c.self, Layout::kDense, random));
        Fill(x, random);
        Fill(weight, random);
        if (x.size() > 3) {
          SetNumber(x, 0, 0.0);
          SetNumber(x, 1, -0.0);
          SetNumber(x, 2, std::nan(""));
          SetNumber(x, 3, -INFINITY);
        }
        for (int64_t i = 0; i < weight.size(); ++i) SetNumber(mixed, i, NumberAt(weight, i));
        x.Remember();
        out.Remember();
        Call(PORTACL_C_FUNCTION(aclnnPrelu), {Tensor(x), Tensor(weight), Tensor(out)});
        Call(PORTACL_C_FUNCTION(aclnnPrelu), {Tensor(x), Tensor(mixed), Tensor(wide)});
        for (int64_t i = 0; i < x.size(); ++i) {
          const double number = NumberAt(x, i);
          const auto expected = [&](const HostTensor& weights) {
            return number > 0 ? number : NumberAt(weights, WeightOf(c, weight, i)) * number;
          };
          if (!std::isfinite(number)) {
            EXPECT_EQ(std::isnan(NumberAt(out, i)), std::isnan(expected(weight)));
            if (std::isinf(expected(weight))) {
              EXPECT_EQ(NumberAt(out, i), expected(weight));
            }
            continue;
          }
          ExpectNear(out, i, expected(weight), "Prelu");
          EXPECT_EQ(std::signbit(NumberAt(out, i)), std::signbit(expected(weight)));
          ExpectNear(wide, i, expected(mixed), "Prelu of two types");
        }
        EXPECT_TRUE(x.UnchangedOutsideView());
        EXPECT_TRUE(out.UnchangedOutsideView());
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

// The element of gradOutput that is repeated where self's element i lies.
int64_t Repeated(const Shape& whole, const Shape& part, int64_t i) {
  int64_t at = 0;
  int64_t step = 1;
  for (size_t k = 1; k <= whole.size(); ++k) {
    const int64_t index = i % whole[whole.size() - k];
    i /= whole[whole.size() - k];
    if (k > part.size()) continue;
    const int64_t length = part[part.size() - k];
    if (length > 1) at += index * step;
    step *= length;
  }
  return at;
}

TEST_P(Prelu, Gradients) {
  RandomNumbers random(0x9E2);
  const Weighted cases[] = {{{4, 7}, {7}, 1},
                            {{2, 5, 33}, {5}, 33},
                            {{2, 5, 33}, {1}},
                            {{3, 6, 4, 5}, {1, 6, 1, 1}, 20},
                            {{3, 6, 4, 5}, {2, 3}, 20},
                            {{2, 12, 3}, {2, 3, 2}, 3, {12, 1}},
                            {{9}, {1}},
                            {{}, {1, 1}},
                            {{300, 5, 40}, {5}, 40},
                            {{2, 3, 41, 50}, {}, 1, {3, 1, 50}}};
  for (const DtypeNumber dtype : {ACL_FLOAT, ACL_BF16, ACL_FLOAT16}) {
    for (const Weighted& c : cases) {
      for (const Layout layout : kLayouts) {
        const Shape gradient_shape = c.gradient.empty() ? c.self : c.gradient;
        HostTensor x(dtype, MakeView(c.self, layout, random));
        HostTensor weight(dtype, MakeView(c.weight, layout, random));
        HostTensor gradient(dtype, MakeView(gradient_shape, layout, random));
        HostTensor slopes(dtype, MakeView(c.self, layout, random));
        HostTensor sums(dtype,
                        MakeView(weight.size() == 1 ? c.weight : Shape{weight.size()}, layout, random));
        Fill(x, random);
        Fill(weight, random);
        Fill(gradient, random);
        if (x.size() > 1) {
          SetNumber(x, 0, 0.0);
          SetNumber(x, 1, -0.0);
        }
        std::vector<double> expected(static_cast<size_t>(weight.size()));
        std::vector<double> slope;
        for (int64_t i = 0; i < x.size(); ++i) {
          const double number = NumberAt(x, i);
          const double g = NumberAt(gradient, Repeated(c.self, gradient_shape, i));
          const int64_t k = WeightOf(c, weight, i);
          slope.push_back(number > 0 ? g : NumberAt(weight, k) * g);
          // The products are float32.
          if (number <= 0)
            expected[static_cast<size_t>(k)] += static_cast<double>(static_cast<float>(number * g));
        }
        for (HostTensor* const one : {&x, &slopes, &sums}) one->Remember();
        // In place, too: the sums are of what was there before.
        const bool in_place = gradient_shape == c.self && layout != Layout::kStepped;
        HostTensor& written = in_place ? gradient : slopes;
        Call(PORTACL_C_FUNCTION(aclnnPreluBackward),
             {Tensor(gradient), Tensor(x), Tensor(weight), Tensor(written), Tensor(sums)});
        for (int64_t i = 0; i < x.size(); ++i)
          ExpectNear(written, i, slope[static_cast<size_t>(i)], "the gradient of Prelu");
        for (int64_t k = 0; k < weight.size(); ++k)
          ExpectNear(sums, k, expected[static_cast<size_t>(k)], "the gradient of the weight");
        EXPECT_TRUE(x.UnchangedOutsideView());
        EXPECT_TRUE(slopes.UnchangedOutsideView());
        EXPECT_TRUE(sums.UnchangedOutsideView());
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}
PORTACL_ON_EVERY_ISA(Prelu);

// Codes, of calls with one fault each.
struct Given {
  DtypeNumber dtype = ACL_FLOAT;
  DtypeNumber weight_dtype = ACL_FLOAT;
  DtypeNumber result = ACL_FLOAT;
  Shape self = {2, 6};
  Shape weight = {6};
  Shape gradient = {2, 6};
  Shape slopes = {2, 6};
  Shape sums = {6};
};
using Codes = std::pair<aclnnStatus, aclnnStatus>;
Codes Both(const Given& given) {
  aclTensor* const self = TensorWithoutData(given.self, given.dtype);
  aclTensor* const weight = TensorWithoutData(given.weight, given.weight_dtype);
  aclTensor* const gradient = TensorWithoutData(given.gradient, given.dtype);
  aclTensor* const slopes = TensorWithoutData(given.slopes, given.result);
  aclTensor* const sums = TensorWithoutData(given.sums, given.result);
  const Codes codes = {
      PlanOf(PORTACL_C_FUNCTION(aclnnPrelu), {{.tensor = self}, {.tensor = weight}, {.tensor = slopes}}),
      PlanOf(PORTACL_C_FUNCTION(aclnnPreluBackward), {{.tensor = gradient},
                                                      {.tensor = self},
                                                      {.tensor = weight},
                                                      {.tensor = slopes},
                                                      {.tensor = sums}})};
  for (aclTensor* const tensor : {self, weight, gradient, slopes, sums}) aclDestroyTensor(tensor);
  return codes;
}

TEST(PreluCodes, OnAtlasA2) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(Product::kA2)}});
  constexpr aclnnStatus kBad = 161002;
  EXPECT_EQ(Both({}), Codes(0, 0));
  EXPECT_EQ(Both({.weight = {5}, .sums = {5}}), Codes(kBad, kBad));
  EXPECT_EQ(Both({.weight = {2}, .sums = {2}}), Codes(kBad, kBad));
  EXPECT_EQ(Both({.weight = {1, 6}}), Codes(0, 0));
  EXPECT_EQ(Both({.weight = {1, 6}, .sums = {1, 6}}), Codes(0, kBad));
  EXPECT_EQ(Both({.weight = {1, 1}, .sums = {1, 1}}), Codes(0, 0));
  EXPECT_EQ(Both({.weight = {1, 1}, .sums = {1}}), Codes(0, kBad));
  EXPECT_EQ(Both({.self = {6}, .gradient = {6}, .slopes = {6}}), Codes(kBad, kBad));
  EXPECT_EQ(Both({.gradient = {6}}), Codes(0, 0));
  EXPECT_EQ(Both({.gradient = {3, 2, 6}}), Codes(0, kBad));
  EXPECT_EQ(Both({.gradient = {2, 5}}), Codes(0, kBad));
  EXPECT_EQ(Both({.slopes = {2, 5}}), Codes(kBad, kBad));
  EXPECT_EQ(Both({.result = ACL_FLOAT16}), Codes(0, kBad));
  EXPECT_EQ(Both({.weight_dtype = ACL_BF16}), Codes(0, kBad));
  EXPECT_EQ(Both({.dtype = ACL_DOUBLE}), Codes(kBad, kBad));
  EXPECT_EQ(Both({.weight_dtype = ACL_DOUBLE}), Codes(kBad, kBad));
  EXPECT_EQ(Both({.result = ACL_INT32}), Codes(kBad, kBad));
  EXPECT_EQ(Both({.self = {0, 6}, .gradient = {0, 6}, .slopes = {0, 6}}), Codes(0, 0));
  EXPECT_EQ(Both({.self = {2, 0}, .weight = {0}, .gradient = {2, 0}, .slopes = {2, 0}, .sums = {0}}),
            Codes(0, 0));
  const Shape nine(9, 1);
  EXPECT_EQ(Both({.self = nine, .weight = {1}, .gradient = {1}, .slopes = nine, .sums = {1}}),
            Codes(kBad, kBad));
  EXPECT_EQ(Both({.weight = nine, .sums = nine}), Codes(kBad, kBad));
}

TEST(PreluCodes, OnOlderProducts) {
  for (const Product product : {Product::k910, Product::k310P, Product::k310B}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)}});
    EXPECT_EQ(Both({}), Codes(0, 0)) << ProductName(product);
    EXPECT_EQ(Both({.dtype = ACL_BF16, .weight_dtype = ACL_BF16, .result = ACL_BF16}), Codes(161002, 161002));
  }
}

// Weights of which no one stride leads to the next take more dims.
TEST(PreluCodes, WeightsInManyDims) {
  const ScopedEnvironment environment(Variables{});
  const int64_t shape[] = {2, 3};
  const int64_t strides[] = {1, 2};
  const int64_t ones[] = {1, 6, 1, 1, 1, 1, 1, 1};
  aclTensor* const weight =
      aclCreateTensor(shape, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, shape, 2, nullptr);
  for (const auto& [rank, code] : {std::pair<uint64_t, aclnnStatus>{7, 0}, {8, 561103}}) {
    aclTensor* const self =
        aclCreateTensor(ones, rank, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, ones, rank, nullptr);
    EXPECT_EQ(
        PlanOf(PORTACL_C_FUNCTION(aclnnPrelu), {{.tensor = self}, {.tensor = weight}, {.tensor = self}}),
        code);
    aclDestroyTensor(self);
  }
  aclDestroyTensor(weight);
}

TEST(PreluCodes, NullPointers) {
  const ScopedEnvironment environment(Variables{});
  aclTensor* const tensor = TensorWithoutData({1}, ACL_FLOAT);
  const Argument one{.tensor = tensor};
  ExpectNullsRefused(PORTACL_C_FUNCTION(aclnnPrelu), {one, one, one});
  ExpectNullsRefused(PORTACL_C_FUNCTION(aclnnPreluBackward), {one, one, one, one, one});
  aclDestroyTensor(tensor);
}

}  // namespace
}  // namespace portacl::testing
