// Distances of the rows of one matrix, and the gradient of distances: what phase 1 answers, and every element against the definition.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/linalg.h"
#include "gtest/gtest.h"
#include "matmul/product_calls.h"

namespace portacl::testing {
namespace {

const double kInfinity = std::numeric_limits<double>::infinity();
const DtypeList kHalvesToo = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

bool IsNew(Product product) {
  return product == Product::kA2 || product == Product::kA3 || product == Product::k950;
}
Element Rounded(DtypeNumber dtype, double value) {
  return ElementOfNumber(dtype, {static_cast<long double>(value), 0});
}
double ValueAt(const TensorValues& tensor, int64_t position) {
  return static_cast<double>(
      NumberOf(tensor.dtype, tensor.elements[static_cast<size_t>(position)].data()).real);
}

// Small numbers, of which some are alike.
void FillPoints(HostTensor& tensor, RandomNumbers& random) {
  for (int64_t k = 0; k < tensor.size(); ++k) {
    double value = static_cast<double>(random.Between(-4000, 4000)) / 1000;
    if (random.Below(3) == 0) value = static_cast<double>(random.Between(-2, 2));
    EncodeElement(tensor.dtype(), value, tensor.Element(k));
  }
}

double NormOf(const std::vector<double>& differences, double p) {
  double result = 0;
  for (const double x : differences) {
    if (p == 0) result += x == 0 ? 0 : 1;
    if (p == kInfinity) result = std::max(result, std::fabs(x));
    if (p != 0 && p != kInfinity) result += std::pow(std::fabs(x), p);
  }
  return p == 0 || p == kInfinity ? result : std::pow(result, 1 / p);
}

// ---- Pdist and PdistForward ----

int64_t PairsOf(int64_t n) { return n < 2 ? 0 : n * (n - 1) / 2; }

OperatorSpec Pairs(const CFunction& function, bool has_scalar) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("self", {4, 3}), has_scalar ? ScalarArg("p", {.real = 2}) : RealArg("p", 2),
              OutputArg("out", {6})};
  const auto power = [=](const PlanCall& call) {
    return has_scalar ? static_cast<double>(call["p"].number.real) : call["p"].real;
  };
  op.rules = {NoNulls(has_scalar ? "self p out" : "self out"),
              DtypeIn("self", {{ACL_FLOAT, ACL_FLOAT16}}),
              SameDtype("self", "out"),
              Ranks("self", 2, 2),
              Ranks("out", 1, 1),
              Refuses(161002, "out",
                      [](PlanCall& call) { return call["out"].shape[0] != PairsOf(call["self"].shape[0]); })};
  if (has_scalar)
    op.rules.push_back(Refuses(561103, "p", [](PlanCall& call) { return IsComplexDtype(call["p"].dtype); }));
  op.rules.push_back(Refuses(161002, "p", [=](PlanCall& call) { return !(power(call) >= 0); }));
  op.rules.push_back(SucceedsIf([](PlanCall& call) { return call["self"].shape[0] < 2; }));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const bool is_long = random.Chance(8);
    const int64_t n = is_long ? random.Between(50, 230) : random.Between(2, 12);
    const int64_t depth = !is_long && random.Chance(10) ? random.Between(250, 600) : random.Between(0, 5);
    const DtypeNumber dtype = DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16});
    call["self"] = TensorArg("self", {n, depth}, dtype);
    call["out"] = OutputArg("out", {PairsOf(n)}, dtype);
    const double p =
        std::vector<double>{0, 1, 2, kInfinity, 3, 1.5, 0.5}[static_cast<size_t>(random.Below(7))];
    call["p"].real = p;
    call["p"].number = {.real = static_cast<long double>(p)};
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillPoints(tensors[0], random);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const int64_t n = tensors[0].shape[0];
    const int64_t depth = tensors[0].shape[1];
    Outcome outcome;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = i + 1; j < n; ++j) {
        std::vector<double> differences;
        for (int64_t m = 0; m < depth; ++m)
          differences.push_back(ValueAt(tensors[0], i * depth + m) - ValueAt(tensors[0], j * depth + m));
        outcome.emplace_back(Rounded(tensors[1].dtype, NormOf(differences, power(call))));
      }
    }
    return std::vector<Outcome>{outcome};
  };
  op.is_inexact = true;
  op.tolerance = 1e-4;
  return op;
}

// ---- CdistBackward ----

Shape BatchOf(const Shape& shape) { return Shape(shape.begin(), shape.end() - 2); }
std::optional<Shape> Broadcast(const Shape& a, const Shape& b) {
  Shape result = a;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && a[i] != 1 && b[i] != 1) return std::nullopt;
    result[i] = a[i] == 1 ? b[i] : a[i];
  }
  return result;
}
// The shape of the distances; nothing where there are none.
std::optional<Shape> DistancesOf(const PlanCall& call) {
  const Shape& left = call["x1"].shape;
  const Shape& right = call["x2"].shape;
  for (const char* name : {"grad", "x2", "cdist", "out"}) {
    if (call[name].shape.size() != left.size()) return std::nullopt;
  }
  std::optional<Shape> result = Broadcast(BatchOf(left), BatchOf(right));
  if (!result || left.back() != right.back()) return std::nullopt;
  result->insert(result->end(), {left[left.size() - 2], right[right.size() - 2]});
  return result;
}
double PowerOf(const PlanCall& call) { return call["p"].real == -1 ? kInfinity : call["p"].real; }

double TermOf(DtypeNumber dtype, double gradient, double difference, double distance, double p) {
  const double sign = (difference > 0) - (difference < 0);
  if (distance == 0 || p == 0) return 0;
  if (p == 1) return gradient * sign;
  if (p == kInfinity) {
    const Element size = Rounded(dtype, std::fabs(difference));
    return DecodeReal(dtype, size.data()) == distance ? gradient * sign : 0;
  }
  if (p == 2) return gradient * difference / distance;
  return sign == 0 ? 0 : sign * std::pow(std::fabs(difference), p - 1) * gradient / std::pow(distance, p - 1);
}

OperatorSpec CdistBackward() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnCdistBackward);
  op.takes_workspace = true;
  op.valid = {TensorArg("grad", {2, 3, 5}),
              TensorArg("x1", {2, 3, 4}),
              TensorArg("x2", {2, 5, 4}),
              TensorArg("cdist", {2, 3, 5}),
              RealArg("p", 2),
              OutputArg("out", {2, 3, 4})};
  const std::string all = "grad x1 x2 cdist out";
  op.rules = {
      NoNulls(all),
      Refuses(161002, all,
              [](PlanCall& call) {
                for (const char* name : {"grad", "x1", "x2", "cdist", "out"}) {
                  if (!IsNew(call.product) || !IsOneOf(call[name].dtype, kHalvesToo)) return true;
                }
                return false;
              }),
      SameDtype("grad", "x1"),
      SameDtype("grad", "x2"),
      SameDtype("grad", "cdist"),
      SameDtype("grad", "out"),
      Ranks(all, 2, 100),
      Ranks(all, 0, 7),
      Refuses(161002, all,
              [](PlanCall& call) {
                const std::optional<Shape> whole = DistancesOf(call);
                return !whole || call["grad"].shape != *whole || call["cdist"].shape != *whole ||
                       call["out"].shape != call["x1"].shape;
              }),
      Refuses(161002, "p", [](PlanCall& call) { return !(call["p"].real >= 0 || call["p"].real == -1); }),
      DoneIfEmpty("grad x1 x2 cdist")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape left(static_cast<size_t>(random.Below(4)));
    for (int64_t& dim : left) dim = random.Between(1, 3);
    Shape right = left;
    for (size_t i = 0; i < left.size(); ++i) {
      if (random.Chance(20)) left[i] = 1;
      if (random.Chance(20)) right[i] = 1;
    }
    const Shape batch = *Broadcast(left, right);
    const bool is_long = random.Chance(8);
    const int64_t depth = is_long ? random.Between(200, 700) : random.Between(1, 20);
    const int64_t rows = random.Between(1, 7);
    const int64_t columns = !is_long && random.Chance(8) ? random.Between(250, 300) : random.Between(1, 9);
    const auto with = [](Shape shape, int64_t a, int64_t b) {
      shape.insert(shape.end(), {a, b});
      return shape;
    };
    const DtypeNumber dtype = DrawDtype(random, kHalvesToo);
    call["x1"] = TensorArg("x1", with(left, rows, depth), dtype);
    call["x2"] = TensorArg("x2", with(right, columns, depth), dtype);
    call["grad"] = TensorArg("grad", with(batch, rows, columns), dtype);
    call["cdist"] = TensorArg("cdist", with(batch, rows, columns), dtype);
    call["cdist"].is_distinct = true;  // it is filled after the points are
    call["out"] = OutputArg("out", call["x1"].shape, dtype);
    call["p"].real =
        std::vector<double>{0, 1, 2, -1, kInfinity, 3, 1.5}[static_cast<size_t>(random.Below(7))];
  };
  // Distances as they are, but for the rounding of their type.
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (const size_t k : {size_t{0}, size_t{1}, size_t{2}}) FillPoints(tensors[k], random);
    const auto values = [](const HostTensor& tensor) {
      TensorValues made{tensor.dtype(), tensor.shape(), {}};
      for (int64_t i = 0; i < tensor.size(); ++i)
        made.elements.emplace_back(tensor.Element(i), tensor.Element(i) + ElementSize(tensor.dtype()));
      return made;
    };
    const FloatTensor left(values(tensors[1]));
    const FloatTensor right(values(tensors[2]));
    const Shape& whole = call["cdist"].shape;
    for (int64_t i = 0; i < tensors[3].size(); ++i) {
      Index index = IndexAt(whole, i);
      Index a = index;
      Index b = index;
      b[b.size() - 2] = index.back();
      std::vector<double> differences;
      for (int64_t m = 0; m < left.shape.back(); ++m) {
        a.back() = b.back() = m;
        differences.push_back(static_cast<double>(left.At(a) - right.At(b)));
      }
      EncodeElement(tensors[3].dtype(), NormOf(differences, PowerOf(call)), tensors[3].Element(i));
    }
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const FloatTensor left(tensors[1]);
    const FloatTensor right(tensors[2]);
    const Shape& whole = tensors[3].shape;
    std::vector<double> sums(tensors[1].elements.size(), 0.0);
    for (int64_t i = 0; i < NumElements(whole); ++i) {
      Index index = IndexAt(whole, i);
      Index a = index;
      Index b = index;
      b[b.size() - 2] = index.back();
      for (int64_t m = 0; m < left.shape.back(); ++m) {
        a.back() = b.back() = m;
        const auto difference = static_cast<double>(left.At(a) - right.At(b));
        sums[static_cast<size_t>(left.PlaceOf(a))] += TermOf(
            tensors[3].dtype, ValueAt(tensors[0], i), difference, ValueAt(tensors[3], i), PowerOf(call));
      }
    }
    Outcome outcome;
    for (const double sum : sums) outcome.emplace_back(Rounded(tensors[4].dtype, sum));
    return std::vector<Outcome>{outcome};
  };
  op.is_inexact = true;
  op.tolerance = 2e-4;
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {
      Pairs(PORTACL_C_FUNCTION(aclnnPdist), /*has_scalar=*/false),
      Pairs(PORTACL_C_FUNCTION(aclnnPdistForward), /*has_scalar=*/true), CdistBackward()};
  return all;
}

PORTACL_OPERATOR_TESTS(PairDistances, Operators());

}  // namespace
}  // namespace portacl::testing
