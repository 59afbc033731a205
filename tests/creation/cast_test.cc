// aclnnCast's numbers: every pair of dtypes, every layout, and values worked out by hand.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>

#include "operators/moves.h"
#include "support/answer_suite.h"
#include "support/move_suite.h"

namespace portacl::testing {
namespace {

const MoveDescription& Cast() {
  static const MoveDescription description = {BindingOf(MoveOperatorNamed("aclnnCast")), /*source=*/0,
                                              /*destination=*/1,
                                              /*broadcasts=*/false};
  return description;
}

PORTACL_MOVE_TESTS(CastNumerics, Cast());

template <typename From, typename To>
void ExpectCast(DtypeNumber from, From value, DtypeNumber to, To expected, aclrtStream stream) {
  RandomNumbers random(1);
  HostTensor source(from, MakeView({1}, Layout::kDense, random));
  HostTensor destination(to, MakeView({1}, Layout::kDense, random));
  std::memcpy(source.Element(0), &value, sizeof value);
  Element wanted(sizeof expected);
  std::memcpy(wanted.data(), &expected, sizeof expected);
  CheckFill(Cast().binding, {source.Handle(), destination.Handle()}, destination, wanted, stream,
            DtypeName(from) + " to " + DtypeName(to));
}

TEST(CastByHand, Values) {
  const ScopedEnvironment environment({});
  aclrtStream stream = environment.stream();
  const float nan = NAN;
  const float inf = INFINITY;
  ExpectCast(ACL_FLOAT, -2.9f, ACL_INT32, int32_t{-2}, stream);
  ExpectCast(ACL_FLOAT, nan, ACL_INT32, int32_t{0}, stream);
  ExpectCast(ACL_FLOAT, inf, ACL_INT32, INT32_MAX, stream);
  ExpectCast(ACL_FLOAT, -3e9f, ACL_INT32, INT32_MIN, stream);
  ExpectCast(ACL_FLOAT, 300.5f, ACL_UINT8, uint8_t{44}, stream);
  ExpectCast(ACL_FLOAT, -1.0f, ACL_UINT8, uint8_t{255}, stream);
  ExpectCast(ACL_FLOAT, -1.0f, ACL_UINT64, UINT64_MAX, stream);
  ExpectCast(ACL_DOUBLE, 1e30, ACL_UINT64, UINT64_MAX, stream);
  ExpectCast(ACL_DOUBLE, 0x1p63, ACL_UINT64, uint64_t{1} << 63, stream);
  ExpectCast(ACL_DOUBLE, -1e30, ACL_INT64, INT64_MIN, stream);
  ExpectCast(ACL_FLOAT, nan, ACL_BOOL, uint8_t{1}, stream);
  ExpectCast(ACL_FLOAT, 1e-40f, ACL_BOOL, uint8_t{1}, stream);
  ExpectCast(ACL_BOOL, uint8_t{7}, ACL_FLOAT, 1.0f, stream);
  ExpectCast(ACL_BOOL, uint8_t{7}, ACL_INT8, int8_t{1}, stream);
  ExpectCast(ACL_INT32, int32_t{-129}, ACL_INT8, int8_t{127}, stream);
  // Halfway in float16 but for a bit that float32 drops: through float32 this would be 1.
  ExpectCast(ACL_DOUBLE, 1 + 0x1p-11 + 0x1p-40, ACL_FLOAT16, uint16_t{0x3C01}, stream);
  ExpectCast(ACL_INT64, (int64_t{1} << 62) + (int64_t{1} << 54) + 1, ACL_BF16, uint16_t{0x5E81}, stream);
  ExpectCast(ACL_INT64, (int64_t{1} << 62) + (int64_t{1} << 38) + 1, ACL_FLOAT, 0x1.000002p62f, stream);
}

}  // namespace
}  // namespace portacl::testing
