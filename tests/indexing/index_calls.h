// What the tests of operators with index tensors share: indices to fill in, what an element becomes, calls by hand.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "support/environment.h"
#include "support/guarded_buffer.h"
#include "support/map_values.h"
#include "support/operator_spec.h"
#include "support/two_phase.h"

namespace portacl::testing {

using Index = std::vector<int64_t>;

inline const Listed kIndices = {{ACL_INT32, ACL_INT64}};
inline const DtypeList kDrawn = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16,      ACL_INT8,      ACL_INT64,
                                 ACL_BOOL,  ACL_DOUBLE,  ACL_COMPLEX64, ACL_COMPLEX128};
inline const Listed kWithComplex = kFDCI;

inline void SetIndices(HostTensor& tensor, int64_t low, int64_t high, RandomNumbers& random) {
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const int64_t value = high > low ? random.Between(low, high - 1) : 0;
    if (IsIntegerDtype(tensor.dtype()) || tensor.dtype() == ACL_BOOL)
      EncodeIntegerElement(tensor.dtype(), tensor.dtype() == ACL_BOOL ? random.Below(2) : value,
                           tensor.Element(i));
    else
      EncodeElement(tensor.dtype(), static_cast<double>(value), tensor.Element(i));
  }
}

inline int64_t LengthAt(const Shape& shape, size_t dim) { return dim < shape.size() ? shape[dim] : 1; }
inline int64_t Wrap(int64_t index, int64_t length) {
  return index < 0 && index >= -length ? index + length : index;
}
inline bool IsPlace(int64_t place, int64_t length) { return place >= 0 && place < length; }
inline Element At(const TensorValues& tensor, const Index& index) {
  return tensor.elements[static_cast<size_t>(PositionOf(tensor.shape, index))];
}

// The element that indices name: zero where one of them is bad.
inline Element Taken(const TensorValues& tensor, const Index& index) {
  for (size_t i = 0; i < index.size(); ++i) {
    if (!IsPlace(index[i], tensor.shape[i])) return Element(static_cast<size_t>(ElementSize(tensor.dtype)));
  }
  return At(tensor, index);
}

inline Rule Dims(const std::string& dim, const std::string& tensor) {
  return Refuses(161002, dim,
                 [=](PlanCall& call) { return !IsDimOf(call[dim].integer, call[tensor].shape); });
}
inline Rule Public(const std::string& names) {
  return Refuses(161002, names, [=](PlanCall& call) {
    for (const std::string& name : Words(names)) {
      if (call[name].format == ACL_FORMAT_FRACTAL_NZ) return true;
    }
    return false;
  });
}

// ---- sums, one element at a time ----

// What an element becomes: 0 write, 1 add, 2 multiply, 3 larger, 4 smaller, kDivides; computed as the library says, one after the other.
class Cell {
 public:
  static constexpr int64_t kDivides = 6;

  Cell(DtypeNumber dtype, const Element& element) : dtype_(dtype), element_(element) {
    if (IsHalf()) element_ = ConvertedElement(dtype, element, ACL_FLOAT);
  }
  void Combine(int64_t reduce, DtypeNumber dtype, const Element& other, double scale = 1) {
    if (reduce != kDivides && (reduce < 1 || reduce > 4)) {
      element_ = IsHalf() ? ConvertedElement(dtype, other, ACL_FLOAT) : other;
      return;
    }
    const DtypeNumber computed = IsHalf() ? DtypeNumber{ACL_FLOAT} : dtype_;
    const Element b = ConvertedElement(dtype, other, computed);
    if (computed == ACL_FLOAT) Apply<float>(reduce, b, static_cast<float>(scale));
    if (computed == ACL_DOUBLE) Apply<double>(reduce, b, scale);
    if (computed == ACL_COMPLEX64) ApplyToComplex<float>(reduce, b);
    if (computed == ACL_COMPLEX128) ApplyToComplex<double>(reduce, b);
    if (computed == ACL_BOOL) {
      const bool x = element_[0] != std::byte{0};
      const bool y = b[0] != std::byte{0};
      element_[0] = std::byte{static_cast<unsigned char>(reduce == 1 || reduce == 3 ? x || y : x && y)};
    }
    if (IsIntegerDtype(computed)) {
      const int64_t x = DecodeInteger(computed, element_.data());
      const int64_t y = DecodeInteger(computed, b.data());
      const auto wrapped = [](int64_t v) { return static_cast<uint64_t>(v); };
      int64_t result = 0;
      if (reduce == 1)
        result = static_cast<int64_t>(wrapped(x) + wrapped(y) * wrapped(static_cast<int64_t>(scale)));
      if (reduce == 2) result = static_cast<int64_t>(wrapped(x) * wrapped(y));
      if (reduce == 3) result = std::max(x, y);
      if (reduce == 4) result = std::min(x, y);
      if (reduce == kDivides) result = y == 0 ? 0 : x / y;
      std::memcpy(element_.data(), &result, element_.size());
    }
  }
  Element value() const { return IsHalf() ? ConvertedElement(ACL_FLOAT, element_, dtype_) : element_; }

 private:
  bool IsHalf() const { return dtype_ == ACL_FLOAT16 || dtype_ == ACL_BF16; }
  template <class T>
  void Apply(int64_t reduce, const Element& b, T scale) {
    T x;
    T y;
    std::memcpy(&x, element_.data(), sizeof x);
    std::memcpy(&y, b.data(), sizeof y);
    if (reduce == 1 && scale != 1) {
      volatile T product = scale * y;
      x = x + product;
    } else if (reduce == 1) {
      x = x + y;
    } else if (reduce == 2) {
      x = x * y;
    } else if (reduce == kDivides) {
      x = x / y;
    } else if (std::isnan(x) || std::isnan(y)) {
      x = x + y;
    } else if (reduce == 3 ? y > x : y < x) {
      x = y;
    }
    std::memcpy(element_.data(), &x, sizeof x);
  }

  template <class T>
  void ApplyToComplex(int64_t reduce, const Element& b) {
    T x[2];
    T y[2];
    std::memcpy(x, element_.data(), sizeof x);
    std::memcpy(y, b.data(), sizeof y);
    volatile const T product[] = {x[0] * y[0], x[1] * y[1], x[0] * y[1], x[1] * y[0]};
    const T sum[] = {x[0] + y[0], x[1] + y[1]};
    const T multiplied[] = {product[0] - product[1], product[2] + product[3]};
    std::memcpy(element_.data(), reduce == 1 ? sum : multiplied, sizeof x);
  }

  DtypeNumber dtype_;
  Element element_;
};

inline std::vector<Cell> CellsOf(const TensorValues& tensor) {
  std::vector<Cell> cells;
  for (const Element& element : tensor.elements) cells.emplace_back(tensor.dtype, element);
  return cells;
}
inline Outcome OutcomeOf(const std::vector<Cell>& cells) {
  Outcome outcome;
  for (const Cell& cell : cells) outcome.emplace_back(cell.value());
  return outcome;
}

// ---- by hand ----

template <class T>
aclTensor* Dense(const Shape& shape, DtypeNumber dtype, std::vector<T>& data) {
  const std::vector<int64_t> strides = DenseStrides(shape);
  return aclCreateTensor(shape.data(), shape.size(), AsAclDataType(dtype), strides.data(), 0, ACL_FORMAT_ND,
                         shape.data(), shape.size(), data.data());
}

struct Called {
  aclnnStatus status;
  aclError first;
  aclError second;
  std::string message;
};
template <class Plan, class Run>
Called Call(const Plan& plan, const Run& run, aclrtStream stream) {
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  Called called{plan(&size, &executor), 0, 0, ""};
  const GuardedBuffer workspace(size);
  if (called.status == 0)
    called.status = run(size == 0 ? nullptr : workspace.device(), size, executor, stream);
  called.first = aclrtSynchronizeStream(stream);
  called.message = TakeErrorMessage();
  called.second = aclrtSynchronizeStream(stream);
  return called;
}

inline Shape ViewShapeOf(const aclTensor* tensor) {
  int64_t* dims = nullptr;
  uint64_t count = 0;
  EXPECT_EQ(aclGetViewShape(tensor, &dims, &count), 0);
  const Shape shape(dims, dims + count);
  delete[] dims;
  return shape;
}

}  // namespace portacl::testing
