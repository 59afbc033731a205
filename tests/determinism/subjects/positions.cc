// Sequences, unit matrices, triangles and whole-tensor equality for the determinism test.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/creation.h"
#include "aclnnop/families/logic.h"
#include "aclnnop/families/shape.h"
#include "determinism/calls.h"

namespace portacl::testing {
namespace {

const Traits kPositions = {.is_plain_code = true, .sums_everything = false};

const Shape kLong = {1531};
const Shape kWide = {301, 257};
const Shape kDeep = {3, 5, 41, 18};

// Sequences upwards and downwards.
aclScalar* Start(Call& c) { return c.Scalar(c.setting != 0 ? 70000.3 : -11.7); }
aclScalar* End(Call& c) { return c.Scalar(c.setting != 0 ? -1e12 : 1e12); }
aclScalar* Step(Call& c) { return c.Scalar(c.setting != 0 ? -3.3 : 1.0 / 0.77); }

std::vector<GivenCase> Outputs(const std::vector<DtypeNumber>& dtypes, const std::vector<Shape>& shapes,
                               size_t settings) {
  std::vector<GivenCase> cases;
  for (const Shape& shape : shapes) {
    for (size_t setting = 0; setting < settings; ++setting) {
      for (const DtypeNumber dtype : dtypes) cases.push_back({{}, {}, dtype, shape, setting});
    }
  }
  return cases;
}

const std::vector<DtypeNumber> kFloating = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE};

std::vector<DtypeNumber> And(std::vector<DtypeNumber> dtypes, const std::vector<DtypeNumber>& more) {
  dtypes.insert(dtypes.end(), more.begin(), more.end());
  return dtypes;
}

const auto kArange = Register(PORTACL_PHASES(aclnnArange, Start(c), End(c), Step(c), c[0]),
                              Outputs(And(kFloating, {ACL_INT32, ACL_INT64}), {kLong, kWide}, 2), kPositions);
const auto kRange = Register(PORTACL_PHASES(aclnnRange, Start(c), End(c), Step(c), c[0]),
                             Outputs(And(kFloating, {ACL_INT32, ACL_INT64}), {kLong, kWide}, 2), kPositions);
const auto kLinspace =
    Register(PORTACL_PHASES(aclnnLinspace, c.Scalar(-7.3), c.Scalar(101.9), c.setting, c[0]),
             Outputs(And(kFloating, {ACL_INT8, ACL_INT16, ACL_INT32, ACL_INT64}), {kLong}, 1),
             {.is_plain_code = true, .sums_everything = false, .settings = {1531}});
const auto kLogSpace =
    Register(PORTACL_PHASES(aclnnLogSpace, c.Scalar(-1.3), c.Scalar(2.9), c.setting, 10, c[0]),
             Outputs({ACL_FLOAT, ACL_FLOAT16, ACL_BF16}, {kLong}, 1),
             {.is_plain_code = true, .sums_everything = false, .settings = {1531}});
const auto kEye =
    Register(PORTACL_PHASES(aclnnEye, 301, 257, c[0]),
             Outputs({ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8, ACL_INT64}, {kWide}, 1), kPositions);

std::vector<GivenCase> Triangles() {
  std::vector<GivenCase> cases;
  size_t setting = 0;
  for (const Shape& shape : {kWide, kDeep}) {
    for (const DtypeNumber dtype :
         {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_INT8, ACL_UINT16, ACL_INT64, ACL_BOOL})
      cases.push_back({{dtype}, {shape}, dtype, shape, setting++ % 3});
  }
  return cases;
}
const auto kTriu = Register(PORTACL_PHASES(aclnnTriu, c[0], c.setting, c[1]), Triangles(),
                            {.is_plain_code = true, .sums_everything = false, .settings = {0, 3, -5}});
const auto kTril = Register(PORTACL_PHASES(aclnnTril, c[0], c.setting, c[1]), Triangles(),
                            {.is_plain_code = true, .sums_everything = false, .settings = {0, 3, -5}});

// Random tensors differ, so the second setting compares one with itself.
const auto kEqual = Register(PORTACL_PHASES(aclnnEqual, c[0], c[c.setting != 0 ? 0 : 1], c[2]),
                             {{{ACL_FLOAT, ACL_BF16}, {kLong, kLong}, ACL_BOOL, {1}, 0},
                              {{ACL_INT32, ACL_INT32}, {kWide, kWide}, ACL_BOOL, {1}, 1}},
                             kPositions);

}  // namespace
}  // namespace portacl::testing
