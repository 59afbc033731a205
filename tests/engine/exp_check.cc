// Checks of exp: see exp_check.h.
// SPDX-License-Identifier: Apache-2.0
#include "engine/exp_check.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "engine/exp_vectors.h"
#include "support/float_formats.h"

namespace portacl::testing {
namespace {

constexpr size_t kMultiple = 64;  // of what ExpOf takes

std::string Fault(const char* what, engine::Isa isa, float x, float found) {
  char text[160];
  std::snprintf(text, sizeof text, "%s: exp(%a) (bits 0x%08x) on %s is %a", what, static_cast<double>(x),
                std::bit_cast<uint32_t>(x), engine::IsaName(isa), static_cast<double>(found));
  return text;
}

// How far the result is from exp(x), in units in the last place of float32. NaN where no distance makes sense, 0 for
// what is exact. float64 decides unless the distance comes near the bound.
double UlpsFromExp(float x, float found) {
  const auto exact_x = static_cast<double>(x);
  double truth = std::exp(exact_x);
  if (std::isinf(NearestFloat(truth)) || std::isinf(found)) {
    return std::isinf(NearestFloat(truth)) && std::isinf(found) && found > 0 ? 0 : std::nan("");
  }
  const double distance = std::fabs(static_cast<double>(found) - truth) / FloatUlp(truth);
  if (!(distance > 0.8)) {
    return distance;
  }
  const long double precise = std::exp(static_cast<long double>(exact_x));
  truth = static_cast<double>(precise);
  return static_cast<double>(std::fabs(static_cast<long double>(found) - precise) /
                             static_cast<long double>(FloatUlp(truth)));
}

}  // namespace

void ExpErrors::Join(const ExpErrors& other) {
  if (other.worst_ulp > worst_ulp) {
    worst_ulp = other.worst_ulp;
    worst_at = other.worst_at;
  }
  if (fault.empty()) {
    fault = other.fault;
  }
}

ExpErrors CheckExp(std::span<const uint32_t> bits) {
  ExpErrors errors;
  const size_t padded = (bits.size() + kMultiple - 1) / kMultiple * kMultiple;
  std::vector<float> x(padded, 0.0f);
  std::memcpy(x.data(), bits.data(), bits.size_bytes());
  std::vector<float> first(padded);
  std::vector<float> found(padded);
  const engine::Isa reference = engine::SupportedIsas().front();
  ExpOf(reference, x.data(), first.data(), padded);
  for (const engine::Isa isa : engine::SupportedIsas().subspan(1)) {
    ExpOf(isa, x.data(), found.data(), padded);
    for (size_t i = 0; i < bits.size() && errors.fault.empty(); ++i) {
      if (std::memcmp(&found[i], &first[i], sizeof(float)) != 0 &&
          !(std::isnan(found[i]) && std::isnan(first[i]))) {
        errors.fault = Fault("other bits than elsewhere", isa, x[i], found[i]);
      }
    }
  }
  for (size_t i = 0; i < bits.size(); ++i) {
    const float y = first[i];
    const char* wrong = nullptr;
    if (std::isnan(x[i])) {
      wrong = std::isnan(y) ? nullptr : "NaN is lost";
    } else if (x[i] == 0) {
      wrong = y == 1 ? nullptr : "exp(0) is 1";
    } else if (std::isinf(x[i])) {
      wrong = y == (x[i] > 0 ? x[i] : 0.0f) && !std::signbit(y) ? nullptr : "infinity";
    } else if (std::isnan(y) || std::signbit(y)) {
      wrong = "not a positive number";
    } else {
      const double ulps = UlpsFromExp(x[i], y);
      if (!(ulps <= 1)) {
        wrong = "more than 1 ulp away, or wrongly infinite";
      } else if (ulps > errors.worst_ulp) {
        errors.worst_ulp = ulps;
        errors.worst_at = x[i];
      }
    }
    if (wrong != nullptr && errors.fault.empty()) {
      errors.fault = Fault(wrong, reference, x[i], y);
    }
  }
  return errors;
}

}  // namespace portacl::testing
