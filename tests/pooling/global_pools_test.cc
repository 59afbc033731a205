// Means and maxima of whole channels: their checks, and every element against its definition.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "../norm/row_calls.h"
#include "aclnnop/families/pooling.h"
#include "gtest/gtest.h"

namespace portacl::testing {
namespace {

Shape OneEach(Shape shape) {
  for (size_t dim = 2; dim < shape.size(); ++dim) shape[dim] = 1;
  return shape;
}

OperatorSpec Global(const CFunction& function, bool is_mean) {
  OperatorSpec op;
  op.function = function;
  op.takes_workspace = op.is_inexact = true;
  op.tolerance = is_mean ? 1e-6 : 0;
  op.valid = {TensorArg("self", {2, 3, 4, 5}), OutputArg("out", {2, 3, 1, 1})};
  Listed list = {{ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE}};
  if (is_mean) list.on_new = {ACL_BF16};
  op.rules = {
      NoNulls("self out"),
      DtypeIn("self", list),
      SameDtype("self", "out"),
      Ranks("self", 4, 8),
      Refuses(161002, "out", [](PlanCall& call) { return call["out"].shape != OneEach(call["self"].shape); }),
      DoneIfEmpty("self")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    DtypeList dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE};
    if (is_mean) dtypes.push_back(ACL_BF16);
    const DtypeNumber dtype = DrawDtype(random, dtypes);
    Shape self = DrawShape(random, 4, random.Below(6) == 0 ? 8 : 5, 3);
    if (random.Below(4) == 0) self.back() = random.Between(1, 300);
    call["self"].shape = self;
    call["out"].shape = OneEach(self);
    call["self"].dtype = call["out"].dtype = dtype;
  };
  op.fill = FillRows;
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& self = call["self"].shape;
    const int64_t channels = self[0] * self[1];
    const int64_t each = NumElements(self) / channels;
    std::vector<double> out;
    for (int64_t channel = 0; channel < channels; ++channel) {
      double sum = 0;
      double most = -std::numeric_limits<double>::infinity();
      for (int64_t i = 0; i < each; ++i) {
        const double x = ValueAt(tensors[0], channel * each + i);
        sum += x;
        if (std::isnan(x) || x > most) most = std::isnan(most) ? most : x;
      }
      out.push_back(is_mean ? sum / static_cast<double>(each) : most);
    }
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, out)};
  };
  return op;
}

const OperatorSpec kOperators[] = {Global(PORTACL_C_FUNCTION(aclnnGlobalAveragePool), true),
                                   Global(PORTACL_C_FUNCTION(aclnnGlobalMaxPool), false)};
PORTACL_OPERATOR_TESTS(GlobalPools, kOperators);

}  // namespace
}  // namespace portacl::testing
