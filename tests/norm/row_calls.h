// What the tests of operators over rows share: numbers to fill in, elements as numbers, sums over rows by hand.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "support/map_values.h"
#include "support/rules.h"

namespace portacl::testing {

using Index = std::vector<int64_t>;

inline const DtypeList kRowDtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

// Every input gets numbers of about -3 to 3; now and then one that is not finite.
inline void FillRows(const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  const auto arguments = TensorsOf(call);
  const bool special = random.Below(6) == 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (arguments[i] == nullptr || arguments[i]->null) continue;
    for (int64_t k = 0; k < tensors[i].size(); ++k) {
      double value = static_cast<double>(random.Between(-3000, 3000)) / 1000;
      if (special && random.Below(40) == 0) {
        const double values[] = {std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN(), -0.0};
        value = values[random.Below(4)];
      }
      const Element element = ElementOfNumber(tensors[i].dtype(), {static_cast<long double>(value), 0});
      std::copy(element.begin(), element.end(), tensors[i].Element(k));
    }
  }
}

inline double ValueAt(const TensorValues& tensor, int64_t position) {
  return static_cast<double>(
      NumberOf(tensor.dtype, tensor.elements[static_cast<size_t>(position)].data()).real);
}
// The element of a tensor that broadcasts to a shape of the index.
inline double ValueAt(const TensorValues& tensor, const Index& index) {
  Index own(tensor.shape.size());
  for (size_t i = 0; i < own.size(); ++i) {
    const size_t dim = index.size() - own.size() + i;
    own[i] = tensor.shape[i] == 1 ? 0 : index[dim];
  }
  return ValueAt(tensor, PositionOf(tensor.shape, own));
}

// As many numbers, as elements of a dtype.
inline Outcome AsOutcome(DtypeNumber dtype, const std::vector<double>& numbers) {
  Outcome outcome;
  for (const double number : numbers)
    outcome.push_back(ElementOfNumber(dtype, {static_cast<long double>(number), 0}));
  return outcome;
}

// The positions of a shape, row by row: those that agree but for the given axes are one row, in row-major order.
inline std::vector<std::vector<int64_t>> RowsOf(const Shape& shape, const std::vector<bool>& axes) {
  std::map<Index, std::vector<int64_t>> rows;
  for (int64_t i = 0; i < NumElements(shape); ++i) {
    Index index = IndexAt(shape, i);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (axes[axis]) index[axis] = 0;
    }
    rows[index].push_back(i);
  }
  std::vector<std::vector<int64_t>> all;
  for (auto& row : rows) all.push_back(row.second);
  return all;
}
inline std::vector<bool> LastAxesOf(const Shape& shape, size_t count) {
  std::vector<bool> axes(shape.size());
  for (size_t i = shape.size() - count; i < shape.size(); ++i) axes[i] = true;
  return axes;
}
inline double SumOf(const std::vector<int64_t>& row, const std::function<double(int64_t)>& f) {
  double sum = 0;
  for (const int64_t i : row) sum += f(i);
  return sum;
}

}  // namespace portacl::testing
