// Activations and their gradients on every instruction set and every product.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <vector>

#include "aclnnop/families/activations.h"
#include "maps/several_views.h"

namespace portacl::testing {
namespace {

PORTACL_MAP_NUMERICS(ActivationNumerics, ActivationOperators());
PORTACL_MAP_CONTRACT(ActivationContract, ActivationOperators());

// Selu of INT8, where CANN computes in float16, and where its gradient is too large for the type.
using SeluOfBytes = OnEveryIsa;

// The nearest number of eleven bits to n / 10^6, in units of 2^-20, cut off at the point: integers alone.
int64_t CutFloat16(int64_t n) {
  int64_t unit = 1;  // of 2^-20
  while (n >= 2048 * unit * 1000000 / 1048576) unit *= 2;
  const int64_t step = unit * 1000000;
  const int64_t scaled = n * 1048576;
  const int64_t below = scaled / step;
  const int64_t rest = scaled % step;
  const int64_t nearest = below + (2 * rest > step || (2 * rest == step && below % 2 != 0) ? 1 : 0);
  return nearest * unit / 1048576;
}

TEST_P(SeluOfBytes, EveryNumber) {
  RandomNumbers random(1);
  HostTensor x(ACL_INT8, MakeView({256}, Layout::kDense, random));
  HostTensor out(ACL_INT8, MakeView({256}, Layout::kDense, random));
  for (int i = 0; i < 256; ++i) SetNumber(x, i, i - 128);
  Call(PORTACL_C_FUNCTION(aclnnSelu), {Tensor(x), Tensor(out)});
  for (int i = 0; i < 256; ++i) {
    const int64_t expected = i < 128 ? -1 : std::min<int64_t>(CutFloat16((i - 128) * 1050701), 127);
    EXPECT_EQ(NumberAt(out, i), static_cast<double>(expected)) << "of " << i - 128;
  }
}

TEST_P(SeluOfBytes, GradientsBeyondTheType) {
  RandomNumbers random(1);
  HostTensor gradient(ACL_INT8, MakeView({256, 256}, Layout::kDense, random));
  HostTensor result(ACL_INT8, MakeView({256, 256}, Layout::kDense, random));
  HostTensor out(ACL_INT8, MakeView({256, 256}, Layout::kDense, random));
  for (int64_t i = 0; i < 65536; ++i) {
    SetNumber(gradient, i, static_cast<double>(i % 256 - 128));
    SetNumber(result, i, static_cast<double>(i / 256 - 128));
  }
  Call(PORTACL_C_FUNCTION(aclnnSeluBackward), {Tensor(gradient), Tensor(result), Tensor(out)});
  for (int64_t i = 0; i < 65536; ++i) {
    const auto g = static_cast<double>(i % 256 - 128);
    const auto r = static_cast<double>(i / 256 - 128);
    const double slope = r > 0 ? 1.0507009873554805 : r + 1.7580993408473769;
    const double expected = std::min(std::max(std::nearbyint(g * slope), -128.0), 127.0);
    ASSERT_EQ(NumberAt(out, i), expected) << "of " << g << " and " << r;
  }
}
PORTACL_ON_EVERY_ISA(SeluOfBytes);

}  // namespace
}  // namespace portacl::testing
