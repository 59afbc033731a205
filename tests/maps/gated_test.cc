// Glu, SwiGlu, GeGlu and their gradients, which are maps over two halves of a tensor: values, views and codes.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>

#include "aclnnop/families/activations.h"
#include "maps/several_views.h"

namespace portacl::testing {
namespace {

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }
double Gelu(double x, bool tanh) {
  return tanh ? x * Logistic(1.5957691216057308 * (x + 0.044715 * x * x * x))
              : x * std::erfc(-x * 0.7071067811865476) / 2;
}
// By a difference quotient, which no kernel uses.
double GeluSlope(double x, bool tanh) {
  constexpr double kStep = 1e-5;
  return (Gelu(x + kStep, tanh) - Gelu(x - kStep, tanh)) / (2 * kStep);
}

using Gated = OnEveryIsa;

// Every function over one shape: the outer and inner dims around the one that is cut.
struct Cut {
  Shape whole;
  Shape half;
  int64_t dim;
  int64_t inner;   // elements behind the dim
  int64_t length;  // of a half
};
int64_t InWhole(const Cut& cut, int64_t i, int half) {
  const int64_t row = i / (cut.length * cut.inner);
  return i + (row + half) * cut.length * cut.inner;
}

TEST_P(Gated, EveryElement) {
  RandomNumbers random(0x6A7E);
  const Cut cuts[] = {{{3, 10}, {3, 5}, -1, 1, 5},
                      {{4, 70}, {2, 70}, 0, 70, 2},
                      {{2, 6, 33}, {2, 3, 33}, 1, 33, 3},
                      {{266}, {133}, 0, 1, 133},
                      {{5, 2, 1, 3}, {5, 1, 1, 3}, -3, 3, 1}};
  for (const DtypeNumber dtype : {ACL_FLOAT, ACL_BF16, ACL_FLOAT16, ACL_DOUBLE}) {
    for (const Cut& cut : cuts) {
      for (const Layout layout : kLayouts) {
        HostTensor x(dtype, MakeView(cut.whole, layout, random));
        HostTensor gradient(dtype, MakeView(cut.half, layout, random));
        HostTensor out(dtype, MakeView(cut.half, layout, random));
        HostTensor also(dtype, MakeView(cut.half, Layout::kDense, random));
        HostTensor slopes(dtype, MakeView(cut.whole, layout, random));
        Fill(x, random);
        Fill(gradient, random);
        x.Remember();
        slopes.Remember();
        const auto each = [&](const auto& check) {
          for (int64_t i = 0; i < out.size(); ++i)
            check(i, NumberAt(x, InWhole(cut, i, 0)), NumberAt(x, InWhole(cut, i, 1)), NumberAt(gradient, i));
        };
        Call(PORTACL_C_FUNCTION(aclnnGlu), {Tensor(x), Whole(cut.dim), Tensor(out)});
        each([&](int64_t i, double a, double b, double) { ExpectNear(out, i, a * Logistic(b), "Glu"); });
        Call(PORTACL_C_FUNCTION(aclnnGluBackward),
             {Tensor(gradient), Tensor(x), Whole(cut.dim), Tensor(slopes)});
        each([&](int64_t i, double a, double b, double g) {
          ExpectNear(slopes, InWhole(cut, i, 0), g * Logistic(b), "the gradient of Glu");
          ExpectNear(slopes, InWhole(cut, i, 1), g * a * Logistic(b) * Logistic(-b),
                     "the gradient of Glu's gate");
        });
        if (dtype == ACL_DOUBLE) continue;
        Call(PORTACL_C_FUNCTION(aclnnSwiGlu), {Tensor(x), Whole(cut.dim), Tensor(out)});
        each([&](int64_t i, double a, double b, double) {
          ExpectNear(out, i, a * Logistic(a) * b, "SwiGlu");
        });
        Call(PORTACL_C_FUNCTION(aclnnSwiGluGrad),
             {Tensor(gradient), Tensor(x), Whole(cut.dim), Tensor(slopes)});
        each([&](int64_t i, double a, double b, double g) {
          const double s = Logistic(a);
          ExpectNear(slopes, InWhole(cut, i, 0), g * b * (s + s * (1 - s) * a),
                     "the gradient of SwiGlu's gate", std::fabs(g * b));
          ExpectNear(slopes, InWhole(cut, i, 1), g * s * a, "the gradient of SwiGlu");
        });
        for (const bool tanh : {false, true}) {
          for (const bool left : {false, true}) {
            Call(PORTACL_C_FUNCTION(aclnnGeGluV3),
                 {Tensor(x), Whole(cut.dim), Whole(tanh), Whole(left), Tensor(out), Tensor(also)});
            each([&](int64_t i, double a, double b, double) {
              ExpectNear(also, i, Gelu(left ? a : b, tanh), "GELU of GeGlu");
              ExpectNear(out, i, (left ? b : a) * Gelu(left ? a : b, tanh), "GeGlu");
            });
            Call(PORTACL_C_FUNCTION(aclnnGeGluV3Backward),
                 {Tensor(gradient), Tensor(x), Tensor(also), Whole(cut.dim), Whole(tanh), Whole(left),
                  Tensor(slopes)});
            each([&](int64_t i, double a, double b, double g) {
              ExpectNear(slopes, InWhole(cut, i, left ? 1 : 0), g * NumberAt(also, i),
                         "the gradient of GeGlu");
              const double expected = g * (left ? b : a) * GeluSlope(left ? a : b, tanh);
              const double unit = dtype == ACL_FLOAT ? 1e-5 : 0x1p-8;
              EXPECT_NEAR(NumberAt(slopes, InWhole(cut, i, left ? 0 : 1)), expected,
                          unit * std::fabs(expected) + 1e-6)
                  << "the gradient of GeGlu's gate";
            });
          }
        }
        EXPECT_TRUE(x.UnchangedOutsideView());
        EXPECT_TRUE(slopes.UnchangedOutsideView());
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}
PORTACL_ON_EVERY_ISA(Gated);

// Codes, of calls with one fault each.
struct Given {
  DtypeNumber dtype = ACL_FLOAT;
  DtypeNumber result = ACL_FLOAT;
  Shape whole = {2, 6};
  Shape half = {2, 3};
  int64_t dim = 1;
  int64_t approximate = 1;
};
using Codes = std::array<aclnnStatus, 6>;
Codes All(const Given& given) {
  aclTensor* const whole = TensorWithoutData(given.whole, given.dtype);
  aclTensor* const slopes = TensorWithoutData(given.whole, given.dtype);
  aclTensor* const half = TensorWithoutData(given.half, given.result);
  aclTensor* const also = TensorWithoutData(given.half, given.result);
  const Argument dim = Whole(given.dim);
  const Argument form = Whole(given.approximate);
  const Codes codes = {
      PlanOf(PORTACL_C_FUNCTION(aclnnGlu), {{.tensor = whole}, dim, {.tensor = half}}),
      PlanOf(PORTACL_C_FUNCTION(aclnnGluBackward),
             {{.tensor = half}, {.tensor = whole}, dim, {.tensor = slopes}}),
      PlanOf(PORTACL_C_FUNCTION(aclnnSwiGlu), {{.tensor = whole}, dim, {.tensor = half}}),
      PlanOf(PORTACL_C_FUNCTION(aclnnSwiGluGrad),
             {{.tensor = half}, {.tensor = whole}, dim, {.tensor = slopes}}),
      PlanOf(PORTACL_C_FUNCTION(aclnnGeGlu),
             {{.tensor = whole}, dim, form, {.tensor = half}, {.tensor = also}}),
      PlanOf(PORTACL_C_FUNCTION(aclnnGeGluBackward),
             {{.tensor = half}, {.tensor = whole}, {.tensor = also}, dim, form, {.tensor = slopes}})};
  for (aclTensor* const tensor : {whole, slopes, half, also}) aclDestroyTensor(tensor);
  return codes;
}

TEST(GatedCodes, OnAtlasA2) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(Product::kA2)}});
  constexpr aclnnStatus kBad = 161002;
  constexpr aclnnStatus kTiled = 561002;
  EXPECT_EQ(All({}), Codes{});
  EXPECT_EQ(All({.dim = 2}), (Codes{kBad, kBad, kTiled, kTiled, kBad, kBad}));
  EXPECT_EQ(All({.half = {1, 6}, .dim = -2}), Codes{});
  EXPECT_EQ(All({.whole = {2, 5}}), (Codes{kBad, kBad, kTiled, kTiled, kBad, kBad}));
  EXPECT_EQ(All({.half = {2, 6}}), (Codes{kBad, kBad, kBad, kTiled, kBad, kBad}));
  EXPECT_EQ(All({.dtype = ACL_DOUBLE, .result = ACL_DOUBLE}), (Codes{0, 0, kBad, kBad, kBad, kBad}));
  EXPECT_EQ(All({.result = ACL_FLOAT16}), (Codes{0, kBad, kBad, kBad, kBad, kBad}));
  EXPECT_EQ(All({.approximate = 2}), (Codes{0, 0, 0, 0, kBad, kBad}));
  EXPECT_EQ(All({.whole = {0, 6}, .half = {0, 3}}), Codes{});
  EXPECT_EQ(All({.whole = {2, 1, 1, 1, 1, 1, 1, 1, 6}, .half = {2, 1, 1, 1, 1, 1, 1, 1, 3}, .dim = -1}),
            (Codes{kBad, kBad, kBad, kTiled, kBad, 0}));
  EXPECT_EQ(All({.whole = {}, .half = {}, .dim = 0}), (Codes{kBad, kBad, kTiled, kTiled, 0, kBad}));
}

TEST(GatedCodes, NullPointers) {
  const ScopedEnvironment environment(Variables{});
  aclTensor* const whole = TensorWithoutData({2, 6}, ACL_FLOAT);
  aclTensor* const half = TensorWithoutData({2, 3}, ACL_FLOAT);
  const Argument x{.tensor = whole};
  const Argument y{.tensor = half};
  const Argument one = Whole(1);
  ExpectNullsRefused(PORTACL_C_FUNCTION(aclnnGlu), {x, one, y});
  ExpectNullsRefused(PORTACL_C_FUNCTION(aclnnGluBackward), {y, x, one, x});
  ExpectNullsRefused(PORTACL_C_FUNCTION(aclnnSwiGlu), {x, one, y});
  ExpectNullsRefused(PORTACL_C_FUNCTION(aclnnSwiGluGrad), {y, x, one, x});
  ExpectNullsRefused(PORTACL_C_FUNCTION(aclnnGeGlu), {x, one, one, y, y});
  ExpectNullsRefused(PORTACL_C_FUNCTION(aclnnGeGluV3), {x, one, one, one, y, y});
  ExpectNullsRefused(PORTACL_C_FUNCTION(aclnnGeGluBackward), {y, x, y, one, one, x});
  ExpectNullsRefused(PORTACL_C_FUNCTION(aclnnGeGluV3Backward), {y, x, y, one, one, one, x});
  aclDestroyTensor(whole);
  aclDestroyTensor(half);
}

TEST(GatedCodes, OnOlderProducts) {
  for (const Product product : {Product::k910, Product::k310P, Product::k310B}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)}});
    const aclnnStatus no_kernel = product == Product::k310P ? 0 : 561003;
    EXPECT_EQ(All({}), (Codes{0, 0, no_kernel, no_kernel, 0, 0})) << ProductName(product);
    EXPECT_EQ(All({.dtype = ACL_BF16, .result = ACL_BF16}),
              (Codes{161002, 161002, 161002, 161002, 161002, 161002}));
  }
}

}  // namespace
}  // namespace portacl::testing
