// What the descriptions of norms share, and the parts of those that are described in two files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "norm/row_calls.h"

namespace portacl::testing::norms {

constexpr double kTolerance = 3e-6;
inline bool FitsTail(const Shape& shape, const std::vector<int64_t>& tail) {
  if (tail.empty() || tail.size() > shape.size()) return false;
  return std::equal(tail.begin(), tail.end(), shape.end() - std::ssize(tail));
}
inline Shape LeadingAndOnes(const Shape& shape, size_t last) {
  Shape rows = shape;
  for (size_t i = shape.size() - last; i < shape.size(); ++i) rows[i] = 1;
  return rows;
}
inline void DrawNorm(PlanCall& call, RandomNumbers& random, Shape* shape, Shape* tail) {
  *shape = DrawShape(random, 1, 8, 5);
  if (shape->size() < 3 && random.Below(2) == 0)
    (*shape)[shape->size() - 1] = random.Between(1, random.Below(8) == 0 ? 9000 : 200);
  const auto last = static_cast<size_t>(random.Between(1, std::ssize(*shape)));
  *tail = Shape(shape->end() - static_cast<std::ptrdiff_t>(last), shape->end());
  (void)call;
}
inline const Listed kF3 = {{}, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}};
constexpr aclnnStatus kTiling = 561002;
inline Rule TilingRank(const std::string& name, size_t least, size_t most) {
  return Tiling(name, [=](PlanCall& call) {
    return call[name].shape.size() < least || call[name].shape.size() > most;
  });
}
inline Rule TilingShape(const std::string& a, const std::string& b) {
  return Tiling(a + " " + b, [=](PlanCall& call) { return call[a].shape != call[b].shape; });
}
inline Rule FloatOrOf(const std::string& name, const std::string& other) {
  return Refuses(161002, name, [=](PlanCall& call) {
    return call[name].dtype != ACL_FLOAT && call[name].dtype != call[other].dtype;
  });
}
inline Rule PositiveTiling(const std::string& name) {
  return Tiling(name, [=](PlanCall& call) { return !(call[name].real > 0); });
}
inline double Single(double x) { return static_cast<double>(static_cast<float>(x)); }
inline bool IsNone(const PlanCall& call) { return call["reduction"].integer == 0; }

std::vector<OperatorSpec> RmsNorms();
std::vector<OperatorSpec> FusedGroups();
std::vector<OperatorSpec> Entropies();

}  // namespace portacl::testing::norms
