// How far GELU, SiLU and their gradients are from their own formulas, in float32: bounds of docs/numerics.md.
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <cstdio>
#include <vector>

#include "aclnnop/families/activations.h"
#include "maps/several_views.h"

namespace portacl::testing {
namespace {

// The oracles, in float64: within 2^-45 of the formulas.
double Logistic(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
constexpr double kLinear = 1.5957691216057308;  // sqrt(8 / pi)
double Inner(double x) { return kLinear * (x + 0.044715 * x * x * x); }
double Normal(double x) { return std::erfc(-x * 0.70710678118654752) / 2; }
double Density(double x) { return std::exp(-x * x / 2) * 0.39894228040143268; }
double GeluByTanh(double x) { return x * Logistic(Inner(x)); }
double GeluByErf(double x) { return x * Normal(x); }
double Silu(double x) { return x * Logistic(x); }
double SlopeByTanh(double x) {
  const double u = Inner(x);
  return Logistic(u) + Logistic(u) * Logistic(-u) * x * kLinear * (1 + 3 * 0.044715 * x * x);
}
double SlopeByErf(double x) { return Normal(x) + x * Density(x); }
double SiluSlope(double x) { return Logistic(x) * (1 + x * Logistic(-x)); }

char* const kErf = const_cast<char*>("none");

struct Bounded {
  const char* name;
  double (*oracle)(double);
  double most_ulp;
  double near_zero;  // a gradient has a zero between -3 and 0: there so much more is right
};
constexpr Bounded kFunctions[] = {{"GeluTanh", GeluByTanh, 2, 0},
                                  {"GeluErf", GeluByErf, 2, 0},
                                  {"Silu", Silu, 1.7, 0},
                                  {"SlopeOfGeluTanh", SlopeByTanh, 2, 0x1p-38},
                                  {"SlopeOfGeluErf", SlopeByErf, 2, 0x1p-38},
                                  {"SlopeOfSilu", SiluSlope, 5.5, 0x1p-25}};

constexpr int64_t kBatch = 1 << 16;

class ActivationBounds : public OnEveryIsa {
 protected:
  // Of the floats from `least` to `most`, of both signs, one in `step`; with `only_gelu` SiLU is left out.
  void Measure(uint32_t step, float least = 0x1p-40f, float most = 128, bool only_gelu = false) {
    const std::vector<float> ones(kBatch, 1.0f);
    std::vector<float> x(kBatch);
    std::vector<float> out(kBatch);
    const auto tensor = [](const std::vector<float>& data) {
      return aclCreateTensor(&kBatch, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &kBatch, 1,
                             const_cast<float*>(data.data()));
    };
    const Argument g{.tensor = tensor(ones)};
    const Argument in{.tensor = tensor(x)};
    const Argument y{.tensor = tensor(out)};
    const Argument erf{.text = kErf};
    const std::pair<CFunction, std::vector<Argument>> calls[] = {
        {PORTACL_C_FUNCTION(aclnnGelu), {in, y}},
        {PORTACL_C_FUNCTION(aclnnGeluV2), {in, Whole(0), y}},
        {PORTACL_C_FUNCTION(aclnnSilu), {in, y}},
        {PORTACL_C_FUNCTION(aclnnGeluBackward), {g, in, y}},
        {PORTACL_C_FUNCTION(aclnnGeluBackwardV2), {g, in, erf, y}},
        {PORTACL_C_FUNCTION(aclnnSiluBackward), {g, in, y}}};
    double worst[std::size(kFunctions)] = {};
    float worst_at[std::size(kFunctions)] = {};
    uint32_t bits = std::bit_cast<uint32_t>(least);
    const uint32_t end = std::bit_cast<uint32_t>(most);
    while (bits < end) {
      for (int64_t i = 0; i < kBatch; ++i) {
        x[static_cast<size_t>(i)] = std::bit_cast<float>(bits | (i % 2 == 0 ? 0u : 0x80000000u));
        if (i % 2 != 0 && bits < end) bits += step;
      }
      for (size_t f = 0; f < std::size(kFunctions); ++f) {
        if (only_gelu && (kFunctions[f].oracle == Silu || kFunctions[f].oracle == SiluSlope)) continue;
        Call(calls[f].first, calls[f].second);
        for (size_t i = 0; i < kBatch; ++i) {
          const double exact = kFunctions[f].oracle(static_cast<double>(x[i]));
          const double apart = std::fabs(static_cast<double>(out[i]) - exact);
          const double slack = x[i] > -3 && x[i] < 0 ? kFunctions[f].near_zero : 0;
          const double distance = std::max(apart - slack, 0.0);
          const double unit = std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
          if (distance / unit > worst[f]) {
            worst[f] = distance / unit;
            worst_at[f] = x[i];
          }
        }
      }
    }
    for (size_t f = 0; f < std::size(kFunctions); ++f) {
      std::printf("%-16s %.6f   (%a)\n", kFunctions[f].name, worst[f], static_cast<double>(worst_at[f]));
      EXPECT_LE(worst[f], kFunctions[f].most_ulp) << kFunctions[f].name << " at " << worst_at[f];
    }
    for (const Argument& one : {g, in, y}) aclDestroyTensor(one.tensor);
  }
};

TEST_P(ActivationBounds, Sampled) { Measure(2003); }
PORTACL_ON_EVERY_ISA(ActivationBounds);

using ActivationBoundsLong = ActivationBounds;
TEST_P(ActivationBoundsLong, OneFloatInThirteen) { Measure(13); }
// Below, GELU's factor differs from 1/2 by less than 2^-13, and what it is rounded to comes again and again; beyond, it is 0 or 1.
TEST_P(ActivationBoundsLong, EveryFloatNearGelu) { Measure(1, 0x1p-12f, 16, true); }
PORTACL_ON_EVERY_ISA(ActivationBoundsLong);

}  // namespace
}  // namespace portacl::testing
