// Cross products, solutions and factors of matrices: what phase 1 answers, and every element against the definition.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <complex>
#include <cstring>

#include "aclnnop/families/linalg.h"
#include "gtest/gtest.h"
#include "matmul/product_calls.h"

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
size_t CrossedFromEnd(const PlanCall& call) {
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

std::vector<Outcome> CrossOracle(const PlanCall& call, const std::vector<TensorValues>& tensors) {
  const size_t from_end = CrossedFromEnd(call);
  const auto at = [&](const TensorValues& tensor, const Index& index, int64_t component) {
    Index place(index.end() - static_cast<std::ptrdiff_t>(tensor.shape.size()), index.end());
    for (size_t i = 0; i < place.size(); ++i) {
      if (tensor.shape[i] == 1) place[i] = 0;
    }
    if (from_end <= place.size() && tensor.shape[place.size() - from_end] == 3)
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

void FillSmall(const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
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

OperatorSpec LinalgCross() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnLinalgCross);
  op.takes_workspace = true;
  op.valid = {TensorArg("self", {2, 3}), TensorArg("other", {2, 3}), IntegerArg("dim", 1),
              OutputArg("out", {2, 3})};
  op.rules = {NoNulls("self other out"),
              DtypeIn("self other out", kDtypes),
              SameDtype("self", "other"),
              SameDtype("self", "out"),
              Ranks("self other out", 0, 8),
              Refuses(161002, "self other out",
                      [](PlanCall& call) {
                        const auto result = BroadcastOf(call["self"].shape, call["other"].shape);
                        return !result || call["out"].shape != *result;
                      }),
              Refuses(161002, "dim",
                      [](PlanCall& call) { return !IsDimOf(call["dim"].integer, call["self"].shape); }),
              Refuses(161002, "self other",
                      [](PlanCall& call) { return !IsThree(call["out"].shape, CrossedFromEnd(call)); }),
              DoneIfEmpty("out")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape whole = DrawShape(random, 1, 8, random.Chance(50) ? 3 : 4);
    auto dim = static_cast<size_t>(random.Below(static_cast<int64_t>(whole.size())));
    if (random.Chance(95)) whole[dim] = 3;
    if (random.Chance(2)) {
      whole = {3, 20000};
      dim = 0;
    }
    const auto cut = [&](Shape shape, size_t most) {
      for (int64_t& length : shape) {
        if (random.Chance(15)) length = 1;
      }
      if (random.Chance(20))
        shape.erase(shape.begin(), shape.begin() + random.Below(static_cast<int64_t>(most) + 1));
      return shape;
    };
    // dim is one of self's.
    call["self"].shape = cut(whole, dim);
    call["other"].shape = cut(whole, whole.size());
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

// ---- solutions and factors, in long double ----

using Complex = std::complex<long double>;
using Grid = std::vector<std::vector<Complex>>;

const DtypeList kSolveDtypes = {ACL_FLOAT, ACL_DOUBLE, ACL_COMPLEX64, ACL_COMPLEX128};
const DtypeList kFactorDtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_COMPLEX64, ACL_COMPLEX128};

Shape BatchOf(const Shape& shape) { return Shape(shape.begin(), shape.end() - 2); }
Shape With(Shape batch, int64_t rows, int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

// The matrix for an index of a batch to which the tensor's broadcasts.
Grid MatrixAt(const TensorValues& tensor, const Shape& batch, int64_t index) {
  const Index at = IndexAt(batch, index);
  const Shape own = BatchOf(tensor.shape);
  Index place(at.end() - std::ssize(own), at.end());
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i] == 1) place[i] = 0;
  }
  const int64_t rows = tensor.shape[own.size()];
  const int64_t columns = tensor.shape[own.size() + 1];
  const int64_t first = PositionOf(own, place) * rows * columns;
  Grid grid(static_cast<size_t>(rows), std::vector<Complex>(static_cast<size_t>(columns)));
  for (int64_t i = 0; i < rows * columns; ++i) {
    const Number number = NumberOf(tensor.dtype, tensor.elements[static_cast<size_t>(first + i)].data());
    grid[static_cast<size_t>(i / columns)][static_cast<size_t>(i % columns)] = {number.real,
                                                                                number.imaginary};
  }
  return grid;
}
void Append(const Grid& grid, DtypeNumber dtype, Outcome& outcome) {
  for (const auto& row : grid) {
    for (const Complex& number : row)
      outcome.push_back(ElementOfNumber(dtype, {number.real(), number.imag()}));
  }
}

// X of A X = B by elimination, with the largest element first.
Grid Solved(Grid a, Grid b) {
  const size_t n = a.size();
  for (size_t k = 0; k < n; ++k) {
    size_t pivot = k;
    for (size_t i = k; i < n; ++i) {
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    }
    std::swap(a[k], a[pivot]);
    std::swap(b[k], b[pivot]);
    for (size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const Complex factor = a[i][k] / a[k][k];
      for (size_t j = 0; j < n; ++j) a[i][j] -= factor * a[k][j];
      for (size_t j = 0; j < b[i].size(); ++j) b[i][j] -= factor * b[k][j];
    }
  }
  for (size_t i = 0; i < n; ++i) {
    for (Complex& x : b[i]) x /= a[i][i];
  }
  return b;
}

// Random numbers, the diagonals of square matrices such that all is well conditioned.
void FillConditioned(const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  for (HostTensor& tensor : tensors) {
    const Shape shape = tensor.shape();
    if (shape.size() < 2) continue;
    const int64_t n = shape[shape.size() - 2];
    const int64_t m = shape.back();
    for (int64_t i = 0; i < tensor.size(); ++i) {
      const bool is_diagonal = i % m == i / m % n;
      const auto draw = [&] {
        return static_cast<long double>(random.Between(-1000, 1000)) / 1000 / static_cast<long double>(n);
      };
      Number number = {draw(), draw()};
      if (is_diagonal) number.real += random.Chance(50) ? 2 : -2;
      const Element element = ElementOfNumber(tensor.dtype(), number);
      std::copy(element.begin(), element.end(), tensor.Element(i));
    }
  }
}

Shape DrawBatch(RandomNumbers& random) {
  return random.Chance(5) ? DrawShape(random, 6, 6, 2) : DrawShape(random, 0, 3, 3);
}
int64_t DrawOrder(RandomNumbers& random) {
  return random.Chance(15) ? random.Between(17, 50) : random.Between(1, 7);
}

OperatorSpec TriangularSolve() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnTriangularSolve);
  op.takes_workspace = true;
  op.valid = {TensorArg("self", {2, 3, 4}), TensorArg("A", {2, 3, 3}),      IntegerArg("upper", 0),
              IntegerArg("transpose", 0),   IntegerArg("unitriangular", 0), OutputArg("xOut", {2, 3, 4}),
              OutputArg("mOut", {2, 3, 3})};
  op.rules = {
      NoNulls("self A xOut", 561103),
      DtypeIn("self", Listed{kSolveDtypes}),
      SameDtype("self", "A"),
      SameDtype("self", "xOut"),
      Refuses(161002, "self mOut",
              [](PlanCall& call) { return !call["mOut"].null && call["mOut"].dtype != call["self"].dtype; }),
      Ranks("self A xOut", 2, 8),
      Refuses(161002, "self A xOut mOut",
              [](PlanCall& call) {
                const Shape& self = call["self"].shape;
                const Shape& a = call["A"].shape;
                const int64_t n = a.back();
                const auto batch = BroadcastOf(BatchOf(self), BatchOf(a));
                if (a[a.size() - 2] != n || self[self.size() - 2] != n || !batch) return true;
                return call["xOut"].shape != With(*batch, n, self.back()) ||
                       (!call["mOut"].null && call["mOut"].shape != With(*batch, n, n));
              }),
      Refuses(161002, "self unitriangular",
              [](PlanCall& call) {
                return call["unitriangular"].integer != 0 && call["self"].dtype != ACL_FLOAT;
              }),
      DoneIfEmpty("self A")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const Shape batch = DrawBatch(random);
    const auto cut = [&](Shape shape) {
      for (int64_t& length : shape) {
        if (random.Chance(15)) length = 1;
      }
      return shape;
    };
    const int64_t n = DrawOrder(random);
    const int64_t m = random.Chance(10) ? random.Between(250, 600) : random.Between(1, 6);
    call["self"].shape = With(cut(batch), n, m);
    call["A"].shape = With(cut(batch), n, n);
    const Shape result = *BroadcastOf(BatchOf(call["self"].shape), BatchOf(call["A"].shape));
    call["xOut"].shape = With(result, n, m);
    call["mOut"].shape = With(result, n, n);
    call["mOut"].null = random.Chance(20);
    for (const char* name : {"upper", "transpose", "unitriangular"})
      call[name].integer = random.Between(0, 1);
    const DtypeNumber dtype =
        call["unitriangular"].integer != 0 ? ACL_FLOAT : DrawDtype(random, kSolveDtypes);
    for (const char* name : {"self", "A", "xOut", "mOut"}) call[name].dtype = dtype;
  };
  op.valid[1].is_distinct = true;  // else it is not well conditioned
  op.fill = FillConditioned;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape batch = BatchOf(tensors[2].shape);
    std::vector<Outcome> outcomes(2);
    for (int64_t index = 0; index < NumElements(batch); ++index) {
      const Grid a = MatrixAt(tensors[1], batch, index);
      if (!call["mOut"].null) Append(a, tensors[1].dtype, outcomes[1]);
      Grid used(a.size(), std::vector<Complex>(a.size()));
      for (size_t i = 0; i < a.size(); ++i) {
        for (size_t k = 0; k < a.size(); ++k) {
          const bool is_read = i == k || (k > i) == (call["upper"].integer != 0);
          Complex number = is_read ? a[i][k] : 0;
          if (i == k && call["unitriangular"].integer != 0) number = 1;
          (call["transpose"].integer != 0 ? used[k][i] : used[i][k]) =
              call["transpose"].integer != 0 ? std::conj(number) : number;
        }
      }
      Append(Solved(used, MatrixAt(tensors[0], batch, index)), tensors[2].dtype, outcomes[0]);
    }
    return outcomes;
  };
  op.tolerance = 1e-5;
  op.is_inexact = true;
  return op;
}

OperatorSpec Inverse() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnInverse);
  op.takes_workspace = true;
  op.valid = {TensorArg("self", {2, 3, 3}), OutputArg("out", {2, 3, 3})};
  op.rules = {NoNulls("self out"),
              DtypeIn("self", Listed{kFactorDtypes}),
              Refuses(161002, "self out",
                      [](PlanCall& call) { return !CanCastDtype(call["self"].dtype, call["out"].dtype); }),
              SameShape("self", "out"),
              Ranks("self", 2, 8),
              Refuses(161002, "self",
                      [](PlanCall& call) {
                        const Shape& shape = call["self"].shape;
                        return shape.back() != shape[shape.size() - 2];
                      }),
              DoneIfEmpty("self"),
              Refuses(561103, "out", [](PlanCall& call) {
                const auto& all = ConvertibleDtypes();
                return std::find(all.begin(), all.end(), call["out"].dtype) == all.end();
              })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t n = DrawOrder(random);
    call["self"].shape = call["out"].shape = With(DrawBatch(random), n, n);
    call["self"].dtype = call["out"].dtype = DrawDtype(random, kFactorDtypes);
    if (random.Chance(20) && call["self"].dtype != ACL_COMPLEX64 && call["self"].dtype != ACL_COMPLEX128)
      call["out"].dtype = DrawDtype(random, {ACL_FLOAT, ACL_BF16, ACL_COMPLEX64});
  };
  op.valid[0].is_distinct = true;  // else it has no inverse
  op.fill = FillConditioned;
  op.oracle = [](const PlanCall&, const std::vector<TensorValues>& tensors) {
    const Shape batch = BatchOf(tensors[0].shape);
    Outcome outcome;
    for (int64_t index = 0; index < NumElements(batch); ++index) {
      const Grid a = MatrixAt(tensors[0], batch, index);
      Grid one(a.size(), std::vector<Complex>(a.size()));
      for (size_t i = 0; i < a.size(); ++i) one[i][i] = 1;
      Append(Solved(a, one), tensors[1].dtype, outcome);
    }
    return std::vector<Outcome>{outcome};
  };
  op.tolerance = 2e-5;
  op.is_inexact = true;
  return op;
}

OperatorSpec LinalgQr() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnLinalgQr);
  op.takes_workspace = true;
  op.valid = {TensorArg("self", {2, 4, 3}), IntegerArg("mode", 0), OutputArg("Q", {2, 4, 3}),
              OutputArg("R", {2, 3, 3})};
  const auto kept = [](const PlanCall& call) {
    const Shape& self = call["self"].shape;
    return call["mode"].integer == 1 ? self[self.size() - 2] : std::min(self[self.size() - 2], self.back());
  };
  const auto q_of = [=](const PlanCall& call) {
    const Shape& self = call["self"].shape;
    return call["mode"].integer == 2 ? Shape{0} : With(BatchOf(self), self[self.size() - 2], kept(call));
  };
  const auto r_of = [=](const PlanCall& call) {
    return With(BatchOf(call["self"].shape), kept(call), call["self"].shape.back());
  };
  op.rules = {
      NoNulls("self Q R", 561103), DtypeIn("self Q R", Listed{kFactorDtypes}), Ranks("self", 2, 8),
      Refuses(161002, "self mode Q R",
              [=](PlanCall& call) { return call["Q"].shape != q_of(call) || call["R"].shape != r_of(call); }),
      SucceedsIf([](const PlanCall& call) {
        return NumElements(call["Q"].shape) == 0 && NumElements(call["R"].shape) == 0;
      })};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    call["self"].shape = With(DrawBatch(random), DrawOrder(random), random.Chance(3) ? 0 : DrawOrder(random));
    call["mode"].integer = random.Between(0, 3);
    call["Q"].shape = q_of(call);
    call["R"].shape = r_of(call);
    const DtypeNumber dtype = DrawDtype(random, kFactorDtypes);
    for (const char* name : {"self", "Q", "R"}) call[name].dtype = dtype;
    if (random.Chance(50)) return;
    for (const char* name : {"Q", "R"}) call[name].dtype = DrawDtype(random, kFactorDtypes);
  };
  op.valid[0].is_distinct = true;  // else its columns are not independent
  op.fill = FillConditioned;
  // A reflection I - f v v^H takes the rest of each column to the diagonal, to the side on which it is not.
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape batch = BatchOf(tensors[0].shape);
    std::vector<Outcome> outcomes(2);
    for (int64_t index = 0; index < NumElements(batch); ++index) {
      Grid r = MatrixAt(tensors[0], batch, index);
      const size_t m = r.size();
      const size_t n = r.empty() ? 0 : r[0].size();
      Grid q(m, std::vector<Complex>(m));
      for (size_t i = 0; i < m; ++i) q[i][i] = 1;
      for (size_t k = 0; k < std::min(m, n); ++k) {
        long double norm = 0;
        long double rest = 0;
        for (size_t i = k; i < m; ++i) (i == k ? norm : rest) += std::norm(r[i][k]);
        if (rest == 0 && r[k][k].imag() == 0) continue;
        const long double beta = -std::copysign(std::sqrt(norm + rest), r[k][k].real());
        std::vector<Complex> v(m);
        for (size_t i = k; i < m; ++i) v[i] = i == k ? 1 : r[i][k] / (r[k][k] - beta);
        const Complex factor = (beta - r[k][k]) / beta;
        for (size_t j = 0; j < n; ++j) {
          Complex sum = 0;
          for (size_t i = k; i < m; ++i) sum += std::conj(v[i]) * r[i][j];
          for (size_t i = k; i < m; ++i) r[i][j] -= std::conj(factor) * v[i] * sum;
        }
        for (size_t i = 0; i < m; ++i) {
          Complex sum = 0;
          for (size_t j = k; j < m; ++j) sum += q[i][j] * v[j];
          for (size_t j = k; j < m; ++j) q[i][j] -= factor * sum * std::conj(v[j]);
        }
      }
      for (size_t i = 0; i < m; ++i) {
        for (size_t j = 0; j < std::min(i, n); ++j) r[i][j] = 0;
      }
      const auto count = static_cast<size_t>(kept(call));
      r.resize(count);
      for (auto& row : q) row.resize(count);
      if (call["mode"].integer != 2) Append(q, tensors[1].dtype, outcomes[0]);
      Append(r, tensors[2].dtype, outcomes[1]);
    }
    return outcomes;
  };
  op.tolerance = 2e-5;
  op.is_inexact = true;
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> operators = {LinalgCross(), TriangularSolve(), Inverse(),
                                                      LinalgQr()};
  return operators;
}

PORTACL_OPERATOR_TESTS(LinearAlgebra, Operators());

}  // namespace
}  // namespace portacl::testing
