// Cross products, solutions and factors of matrices: what phase 1 answers, and every element against the definition.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>

#include "aclnnop/aclnn_linalg_cross.h"
#include "gtest/gtest.h"
#include "product_calls.h"

namespace portacl::testing {
namespace {

const Listed kDtypes = {{ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32,
                         ACL_INT64, ACL_COMPLEX64, ACL_COMPLEX128},
                        {ACL_BF16}};

// ---- LinalgCross ----

// The broadcast of two shapes; nullopt where they do not.
std::optional<Shape> BroadcastOf(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < result.size(); ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    result[result.size() - 1 - i] = x == 1 ? y : x;
  }
  return result;
}
bool IsThree(const Shape& shape, size_t from_end) {
  return from_end >= 1 && from_end <= shape.size() && shape[shape.size() - from_end] == 3;
}
size_t CrossedFromEnd(const IndexCall& call) {
  const Shape& shape = call["self"].shape;
  return shape.size() - Wrapped(call["dim"].integer, shape);
}

// a * b - c * d, with every operation rounded.
template <class T>
T Crossed(T a, T b, T c, T d) {
  const volatile T first = a * b;
  const volatile T second = c * d;
  return first - second;
}
template <class T>
Number CrossedParts(Number a, Number b, Number c, Number d) {
  const auto product = [](Number x, Number y) {
    return std::array{Crossed(static_cast<T>(x.real), static_cast<T>(y.real), static_cast<T>(x.imaginary),
                              static_cast<T>(y.imaginary)),
                      Crossed(static_cast<T>(x.real), static_cast<T>(y.imaginary),
                              -static_cast<T>(x.imaginary), static_cast<T>(y.real))};
  };
  const auto first = product(a, b);
  const auto second = product(c, d);
  return {first[0] - second[0], first[1] - second[1]};
}

std::vector<Outcome> CrossOracle(const IndexCall& call, const std::vector<TensorValues>& tensors) {
  const size_t from_end = CrossedFromEnd(call);
  const auto at = [&](const TensorValues& tensor, const Index& index, int64_t component) {
    Index place(index.end() - static_cast<std::ptrdiff_t>(tensor.shape.size()), index.end());
    for (size_t i = 0; i < place.size(); ++i) {
      if (tensor.shape[i] == 1) place[i] = 0;
    }
    place[place.size() - from_end] = component % 3;
    return static_cast<size_t>(PositionOf(tensor.shape, place));
  };
  return {ForEachElement(tensors[2].shape, [&](Index& index) {
    const int64_t i = index[index.size() - from_end];
    const size_t places[4] = {at(tensors[0], index, i + 1), at(tensors[1], index, i + 2),
                              at(tensors[0], index, i + 2), at(tensors[1], index, i + 1)};
    const DtypeNumber dtype = tensors[2].dtype;
    if (IsIntegerDtype(dtype)) {
      uint64_t x[4];
      for (size_t k = 0; k < 4; ++k)
        x[k] = static_cast<uint64_t>(tensors[k % 2].Integer(static_cast<int64_t>(places[k])));
      Element element(static_cast<size_t>(ElementSize(dtype)));
      const uint64_t value = x[0] * x[1] - x[2] * x[3];
      std::memcpy(element.data(), &value, element.size());
      return std::optional<Element>(element);
    }
    Number x[4];
    for (size_t k = 0; k < 4; ++k) x[k] = NumberOf(dtype, tensors[k % 2].elements[places[k]].data());
    if (dtype == ACL_COMPLEX64)
      return std::optional<Element>(ElementOfNumber(dtype, CrossedParts<float>(x[0], x[1], x[2], x[3])));
    if (dtype == ACL_COMPLEX128)
      return std::optional<Element>(ElementOfNumber(dtype, CrossedParts<double>(x[0], x[1], x[2], x[3])));
    const long double real = dtype == ACL_DOUBLE
                                 ? static_cast<long double>(Crossed<double>(
                                       static_cast<double>(x[0].real), static_cast<double>(x[1].real),
                                       static_cast<double>(x[2].real), static_cast<double>(x[3].real)))
                                 : static_cast<long double>(Crossed<float>(
                                       static_cast<float>(x[0].real), static_cast<float>(x[1].real),
                                       static_cast<float>(x[2].real), static_cast<float>(x[3].real)));
    return std::optional<Element>(ElementOfNumber(dtype, {real, 0}));
  })};
}

void FillSmall(const IndexCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  for (HostTensor& tensor : tensors) {
    for (int64_t i = 0; i < tensor.size(); ++i) {
      if (IsIntegerDtype(tensor.dtype())) continue;
      const Number number = {static_cast<long double>(random.Between(-4000, 4000)) / 1111,
                             static_cast<long double>(random.Between(-4000, 4000)) / 1111};
      const Element element = ElementOfNumber(tensor.dtype(), number);
      std::copy(element.begin(), element.end(), tensor.Element(i));
    }
  }
}

IndexOperator LinalgCross() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnLinalgCross);
  op.takes_workspace = true;
  op.valid = {TensorArg("self", {2, 3}), TensorArg("other", {2, 3}), IntegerArg("dim", 1),
              OutputArg("out", {2, 3})};
  op.rules = {NoNulls("self other out"),
              Listed_("self other out", kDtypes),
              OneDtype("self", "other"),
              OneDtype("self", "out"),
              RankRange("self other out", 0, 8),
              Refuses(161002, "self other out",
                      [](IndexCall& call) {
                        const auto result = BroadcastOf(call["self"].shape, call["other"].shape);
                        return !result || call["out"].shape != *result;
                      }),
              Refuses(161002, "dim",
                      [](IndexCall& call) { return !IsDimOf(call["dim"].integer, call["self"].shape); }),
              Refuses(161002, "self other",
                      [](IndexCall& call) {
                        const size_t from_end = CrossedFromEnd(call);
                        return !IsThree(call["self"].shape, from_end) ||
                               !IsThree(call["other"].shape, from_end);
                      }),
              EmptyDone("out")};
  op.draw = [](IndexCall& call, RandomNumbers& random) {
    Shape whole = DrawShape(random, 1, 8, random.Chance(50) ? 3 : 4);
    auto dim = static_cast<size_t>(random.Below(static_cast<int64_t>(whole.size())));
    if (random.Chance(95)) whole[dim] = 3;
    if (random.Chance(2)) {
      whole = {3, 20000};
      dim = 0;
    }
    const auto cut = [&](Shape shape) {
      for (size_t i = 0; i < shape.size(); ++i) {
        if (i != dim && random.Chance(15)) shape[i] = 1;
      }
      if (random.Chance(20))
        shape.erase(shape.begin(), shape.begin() + random.Below(static_cast<int64_t>(dim) + 1));
      return shape;
    };
    call["self"].shape = cut(whole);
    call["other"].shape = cut(whole);
    const auto result = BroadcastOf(call["self"].shape, call["other"].shape);
    call["out"].shape = result ? *result : whole;
    const auto from_end = static_cast<int64_t>(whole.size() - dim);
    const auto rank = static_cast<int64_t>(call["self"].shape.size());
    call["dim"].integer = random.Chance(50) ? -from_end : rank - from_end;
    const DtypeNumber dtype =
        DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_INT8, ACL_UINT8, ACL_INT16,
                           ACL_INT32, ACL_INT64, ACL_COMPLEX64, ACL_COMPLEX128});
    for (const char* name : {"self", "other", "out"}) call[name].dtype = dtype;
  };
  op.oracle = CrossOracle;
  op.fill = FillSmall;
  op.is_inexact = true;
  return op;
}

const std::vector<IndexOperator>& Operators() {
  static const std::vector<IndexOperator> operators = {LinalgCross()};
  return operators;
}

PORTACL_INDEX_TESTS(LinearAlgebra, Operators());

}  // namespace
}  // namespace portacl::testing
