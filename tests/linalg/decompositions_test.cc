// Cholesky factors, determinants and singular values: what phase 1 answers, every element against the definition in long double, and of
// singular vectors what they must be.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <complex>

#include "aclnnop/families/linalg.h"
#include "gtest/gtest.h"
#include "matmul/product_calls.h"
#include "support/environment.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

using Complex = std::complex<long double>;
using Grid = std::vector<std::vector<Complex>>;

const DtypeList kWideDtypes = {ACL_FLOAT, ACL_DOUBLE, ACL_COMPLEX64, ACL_COMPLEX128};

Shape BatchOf(const Shape& shape) { return Shape(shape.begin(), shape.end() - 2); }
Shape With(Shape batch, const std::vector<int64_t>& more) {
  batch.insert(batch.end(), more.begin(), more.end());
  return batch;
}

Grid MatrixAt(const TensorValues& tensor, int64_t index) {
  const auto rows = static_cast<size_t>(tensor.shape[tensor.shape.size() - 2]);
  const auto columns = static_cast<size_t>(tensor.shape.back());
  const size_t first = static_cast<size_t>(index) * rows * columns;
  Grid grid(rows, std::vector<Complex>(columns));
  for (size_t i = 0; i < rows * columns; ++i) {
    const Number number = NumberOf(tensor.dtype, tensor.elements[first + i].data());
    grid[i / columns][i % columns] = {number.real, number.imaginary};
  }
  return grid;
}
Element ElementOf(DtypeNumber dtype, Complex number) {
  return ElementOfNumber(dtype, {number.real(), number.imag()});
}

// Random numbers, with a diagonal from which all of a row's others are far.
void FillMatrices(HostTensor& tensor, bool is_positive, RandomNumbers& random) {
  const Shape shape = tensor.shape();
  const int64_t n = shape[shape.size() - 2];
  const int64_t m = shape.back();
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const auto draw = [&] {
      return static_cast<long double>(random.Between(-1000, 1000)) / 1000 /
             static_cast<long double>(std::max(n, m));
    };
    Number number = {draw(), draw()};
    if (i % m == i / m % n) number.real += is_positive || random.Chance(50) ? 2 : -2;
    const Element element = ElementOfNumber(tensor.dtype(), number);
    std::copy(element.begin(), element.end(), tensor.Element(i));
  }
}

int64_t DrawOrder(RandomNumbers& random) {
  return random.Chance(10) ? random.Between(17, 70) : random.Between(1, 7);
}
// Many matrices only where they are small.
Shape DrawBatch(RandomNumbers& random, int64_t order) {
  if (order < 5 && random.Chance(5)) return {random.Between(20, 300)};
  Shape batch(static_cast<size_t>(order < 5 && random.Chance(5) ? 6 : random.Below(order < 8 ? 4 : 2)));
  for (int64_t& dim : batch) dim = random.Between(1, batch.size() == 6 ? 2 : 3);
  return batch;
}

// ---- LinalgCholesky ----

OperatorSpec Cholesky() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnLinalgCholesky);
  op.takes_workspace = true;
  op.valid = {TensorArg("self", {2, 3, 3}), IntegerArg("upper", 0), OutputArg("out", {2, 3, 3})};
  op.rules = {NoNulls("self out"),
              SameDtype("self", "out"),
              Refuses(161002, "self",
                      [](PlanCall& call) {
                        const bool is_new = call.product == Product::kA2 || call.product == Product::kA3 ||
                                            call.product == Product::k950;
                        return !is_new || !IsOneOf(call["self"].dtype, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16});
                      }),
              Refuses(161002, "self out",
                      [](PlanCall& call) {
                        return call["self"].format != call["out"].format ||
                               call["self"].format == ACL_FORMAT_FRACTAL_NZ;
                      }),
              Ranks("self", 2, 8),
              SameShape("self", "out"),
              DoneIfEmpty("self"),
              Refuses(161002, "self", [](PlanCall& call) {
                const Shape& shape = call["self"].shape;
                return shape.back() != shape[shape.size() - 2] || shape.back() > 8192;
              })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    int64_t n = DrawOrder(random);
    Shape batch = DrawBatch(random, n);
    if (random.Chance(3)) {
      n = random.Between(100, 150);
      batch.clear();
    }
    call["self"].shape = call["out"].shape = With(batch, {n, n});
    call["self"].dtype = call["out"].dtype = DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16});
    call["upper"].integer = random.Below(2);
  };
  op.valid[0].is_distinct = true;
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillMatrices(tensors[0], /*is_positive=*/true, random);
  };
  // L by columns of the lower triangle, which is the transposed upper one.
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const bool is_upper = call["upper"].integer != 0;
    Outcome outcome;
    for (int64_t index = 0; index < NumElements(BatchOf(tensors[0].shape)); ++index) {
      const Grid a = MatrixAt(tensors[0], index);
      const size_t n = a.size();
      Grid l(n, std::vector<Complex>(n));
      for (size_t j = 0; j < n; ++j) {
        for (size_t i = j; i < n; ++i) {
          long double sum = (is_upper ? a[j][i] : a[i][j]).real();
          for (size_t k = 0; k < j; ++k) sum -= l[i][k].real() * l[j][k].real();
          l[i][j] = i == j ? std::sqrt(sum) : sum / l[j][j].real();
        }
      }
      for (size_t i = 0; i < n; ++i) {
        for (size_t j = 0; j < n; ++j)
          outcome.emplace_back(ElementOf(tensors[1].dtype, is_upper ? l[j][i] : l[i][j]));
      }
    }
    return std::vector<Outcome>{outcome};
  };
  op.tolerance = 1e-5;
  op.is_inexact = true;
  return op;
}

// ---- Slogdet ----

OperatorSpec Slogdet() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnSlogdet);
  op.takes_workspace = true;
  op.valid = {TensorArg("self", {2, 3, 3}), OutputArg("signOut", {2}), OutputArg("logOut", {2})};
  op.rules = {
      NoNulls("self signOut logOut"),
      DtypeIn("self signOut logOut", Listed{kWideDtypes}),
      Refuses(161002, "signOut logOut",
              [](PlanCall& call) {
                return IsComplexDtype(call["self"].dtype) &&
                       !(IsComplexDtype(call["signOut"].dtype) && IsComplexDtype(call["logOut"].dtype));
              }),
      Ranks("self", 2, 100),
      Refuses(161002, "self signOut logOut",
              [](PlanCall& call) {
                const Shape& self = call["self"].shape;
                return self.back() != self[self.size() - 2] || call["signOut"].shape != BatchOf(self) ||
                       call["logOut"].shape != BatchOf(self);
              }),
      DoneIfEmpty("self"),
      Refuses(561103, "self", [](PlanCall& call) { return call["self"].shape.size() > 8; })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t n = DrawOrder(random);
    const Shape batch = DrawBatch(random, n);
    const DtypeNumber dtype = DrawDtype(random, kWideDtypes);
    call["self"].shape = With(batch, {n, n});
    call["self"].dtype = dtype;
    for (const char* name : {"signOut", "logOut"}) {
      call[name].shape = batch;
      call[name].dtype = dtype;
      if (random.Chance(70)) continue;
      call[name].dtype = IsComplexDtype(dtype) ? DrawDtype(random, {ACL_COMPLEX64, ACL_COMPLEX128})
                                               : DrawDtype(random, kWideDtypes);
    }
  };
  op.valid[0].is_distinct = true;
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillMatrices(tensors[0], /*is_positive=*/false, random);
    const int64_t n = tensors[0].shape().back();
    // Now and then a row of zeros: the determinant is 0.
    for (int64_t i = 0; random.Chance(10) && i < std::min(n, tensors[0].size()); ++i) {
      const Element zero = ElementOfNumber(tensors[0].dtype(), {0, 0});
      std::copy(zero.begin(), zero.end(), tensors[0].Element(i));
    }
  };
  op.oracle = [](const PlanCall&, const std::vector<TensorValues>& tensors) {
    std::vector<Outcome> outcomes(2);
    for (int64_t index = 0; index < NumElements(BatchOf(tensors[0].shape)); ++index) {
      Grid a = MatrixAt(tensors[0], index);
      const size_t n = a.size();
      Complex sign = 1;
      long double log = 0;
      for (size_t k = 0; k < n; ++k) {
        size_t pivot = k;
        for (size_t i = k; i < n; ++i) {
          if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
        }
        if (pivot != k) {
          std::swap(a[k], a[pivot]);
          sign = -sign;
        }
        const long double size = std::abs(a[k][k]);
        sign = size == 0 ? Complex{} : sign * a[k][k] / size;
        log += std::log(size);
        for (size_t i = k + 1; i < n && size != 0; ++i) {
          const Complex factor = a[i][k] / a[k][k];
          for (size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
        }
        if (size == 0) break;
      }
      outcomes[0].emplace_back(ElementOf(tensors[1].dtype, sign));
      outcomes[1].emplace_back(ElementOf(tensors[2].dtype, log));
    }
    return outcomes;
  };
  op.tolerance = 1e-5;
  op.is_inexact = true;
  return op;
}

// ---- Svd ----

// The roots of the eigenvalues of A^H A, in descending order, by rotations that make it diagonal.
std::vector<long double> SingularValuesOf(const Grid& a) {
  const size_t m = a.size();
  const size_t n = a[0].size();
  const bool is_wide = m < n;
  const size_t count = std::min(m, n);
  Grid square(count, std::vector<Complex>(count));
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < count; ++j) {
      for (size_t k = 0; k < std::max(m, n); ++k)
        square[i][j] += is_wide ? a[i][k] * std::conj(a[j][k]) : std::conj(a[k][i]) * a[k][j];
    }
  }
  for (int sweep = 0; sweep < 30; ++sweep) {
    for (size_t p = 0; p < count; ++p) {
      for (size_t q = p + 1; q < count; ++q) {
        const Complex off = square[p][q];
        const long double size = std::abs(off);
        if (size == 0) continue;
        const long double ratio = (square[q][q].real() - square[p][p].real()) / (2 * size);
        const long double t = std::copysign(1.0L, ratio) / (std::fabs(ratio) + std::sqrt(1 + ratio * ratio));
        const long double c = 1 / std::sqrt(1 + t * t);
        const Complex s = c * t * (off / size);
        for (size_t k = 0; k < count; ++k) {
          const Complex x = square[k][p];
          const Complex y = square[k][q];
          square[k][p] = c * x - std::conj(s) * y;
          square[k][q] = s * x + c * y;
        }
        for (size_t k = 0; k < count; ++k) {
          const Complex x = square[p][k];
          const Complex y = square[q][k];
          square[p][k] = c * x - s * y;
          square[q][k] = std::conj(s) * x + c * y;
        }
      }
    }
  }
  std::vector<long double> values;
  for (size_t i = 0; i < count; ++i) values.push_back(std::sqrt(std::max(0.0L, square[i][i].real())));
  std::sort(values.rbegin(), values.rend());
  return values;
}

OperatorSpec Svd() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnSvd);
  op.takes_workspace = true;
  op.valid = {TensorArg("input", {2, 4, 3}), IntegerArg("fullMatrices", 0), IntegerArg("computeUV", 0),
              OutputArg("sigma", {2, 3}),    OutputArg("u", {2, 4, 3}),     OutputArg("v", {2, 3, 3})};
  op.rules = {NoNulls("input sigma u v"),
              DtypeIn("input", Listed{kWideDtypes}),
              SameDtype("input", "sigma"),
              SameDtype("input", "u"),
              SameDtype("input", "v"),
              Ranks("input", 2, 8),
              Refuses(161002, "input sigma u v",
                      [](PlanCall& call) {
                        const Shape& input = call["input"].shape;
                        const int64_t m = input[input.size() - 2];
                        const int64_t n = input.back();
                        const int64_t k = std::min(m, n);
                        const bool is_full = call["fullMatrices"].integer != 0;
                        const Shape batch = BatchOf(input);
                        if (call["sigma"].shape != With(batch, {k})) return true;
                        if (call["computeUV"].integer == 0) return false;
                        return call["u"].shape != With(batch, {m, is_full ? m : k}) ||
                               call["v"].shape != With(batch, {n, is_full ? n : k});
                      }),
              DoneIfEmpty("input")};
  // Values alone: vectors have no one sign.
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t m = random.Chance(10) ? random.Between(10, 25) : random.Between(1, 6);
    const int64_t n = random.Chance(10) ? random.Between(10, 25) : random.Between(1, 6);
    const DtypeNumber dtype = DrawDtype(random, kWideDtypes);
    const Shape batch = DrawBatch(random, std::max(m, n));
    call["computeUV"].integer = 0;
    call["input"] = TensorArg("input", With(batch, {m, n}), dtype);
    call["input"].is_distinct = true;  // no value is 0, whose oracle is a root of what rounding left
    call["sigma"] = OutputArg("sigma", With(batch, {std::min(m, n)}), dtype);
    for (const char* name : {"u", "v"}) call[name] = OutputArg(name, {0}, dtype);
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillMatrices(tensors[0], /*is_positive=*/false, random);
  };
  op.oracle = [](const PlanCall&, const std::vector<TensorValues>& tensors) {
    std::vector<Outcome> outcomes(3);
    for (int64_t index = 0; index < NumElements(BatchOf(tensors[0].shape)); ++index) {
      for (const long double value : SingularValuesOf(MatrixAt(tensors[0], index)))
        outcomes[0].emplace_back(ElementOf(tensors[1].dtype, value));
    }
    return outcomes;
  };
  op.tolerance = 2e-5;
  op.is_inexact = true;
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {Cholesky(), Slogdet(), Svd()};
  return all;
}

PORTACL_OPERATOR_TESTS(Decompositions, Operators());

// The largest distance of the products of columns from those of orthonormal ones.
long double FarFromOrthonormal(const Grid& a) {
  long double most = 0;
  for (size_t i = 0; i < a[0].size(); ++i) {
    for (size_t j = 0; j < a[0].size(); ++j) {
      Complex sum = i == j ? -1 : 0;
      for (const auto& row : a) sum += std::conj(row[i]) * row[j];
      most = std::max(most, std::abs(sum));
    }
  }
  return most;
}

// A matrix of a rank, by a product of random ones.
void FillOfRank(HostTensor& tensor, int64_t rank, RandomNumbers& random) {
  const int64_t m = tensor.shape()[0];
  const int64_t n = tensor.shape()[1];
  const auto draw = [&](int64_t rows) {
    Grid grid(static_cast<size_t>(rows), std::vector<Complex>(static_cast<size_t>(rank)));
    for (auto& row : grid) {
      for (Complex& x : row)
        x = {static_cast<long double>(random.Between(-1000, 1000)) / 500,
             static_cast<long double>(random.Between(-1000, 1000)) / 500};
    }
    return grid;
  };
  const Grid left = draw(m);
  const Grid right = draw(n);
  for (int64_t i = 0; i < m * n; ++i) {
    Complex sum = 0;
    for (int64_t k = 0; k < rank; ++k)
      sum += left[static_cast<size_t>(i / n)][static_cast<size_t>(k)] *
             right[static_cast<size_t>(i % n)][static_cast<size_t>(k)];
    const Element element =
        ElementOf(tensor.dtype(), IsComplexDtype(tensor.dtype()) ? sum : Complex(sum.real()));
    std::copy(element.begin(), element.end(), tensor.Element(i));
  }
}

TensorValues ValuesOf(const HostTensor& tensor) {
  TensorValues values{tensor.dtype(), tensor.shape(), {}};
  for (int64_t i = 0; i < tensor.size(); ++i)
    values.elements.emplace_back(tensor.Element(i), tensor.Element(i) + ElementSize(tensor.dtype()));
  return values;
}

// input = u diag(sigma) v^T with orthonormal columns, whatever the shape and the rank.
TEST(SingularVectors, PutTheMatrixTogether) {
  for (const char* threads : {"1", "3"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", threads}});
    RandomNumbers random(0x5D);
    for (int i = 0; i < 80; ++i) {
      const int64_t m = i == 79 ? 90 : random.Between(1, 12);
      const int64_t n = i == 79 ? 70 : random.Between(1, 12);
      const int64_t k = std::min(m, n);
      const bool is_full = random.Chance(50);
      const DtypeNumber dtype = DrawDtype(random, kWideDtypes);
      const auto tensor = [&](const Shape& shape) {
        return HostTensor(dtype,
                          MakeView(shape, kOutputLayouts[random.Below(std::size(kOutputLayouts))], random));
      };
      HostTensor input = tensor({m, n});
      FillOfRank(input, random.Chance(60) ? k : random.Between(0, k), random);
      HostTensor sigma = tensor({k});
      HostTensor u = tensor({m, is_full ? m : k});
      HostTensor v = tensor({n, is_full ? n : k});
      for (HostTensor* one : {&input, &sigma, &u, &v}) one->Remember();
      uint64_t size = 0;
      aclOpExecutor* executor = nullptr;
      ASSERT_EQ(aclnnSvdGetWorkspaceSize(input.Handle(), is_full, true, sigma.Handle(), u.Handle(),
                                         v.Handle(), &size, &executor),
                0)
          << TakeErrorMessage();
      const GuardedBuffer workspace(size);
      ASSERT_EQ(aclnnSvd(workspace.device(), size, executor, environment.stream()), 0);
      ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
      EXPECT_TRUE(input.Unchanged());
      for (const HostTensor* one : {&sigma, &u, &v}) EXPECT_TRUE(one->UnchangedOutsideView());
      const Grid a = MatrixAt(ValuesOf(input), 0);
      const Grid left = MatrixAt(ValuesOf(u), 0);
      const Grid right = MatrixAt(ValuesOf(v), 0);
      std::vector<long double> values;
      for (int64_t j = 0; j < k; ++j) values.push_back(NumberOf(dtype, sigma.Element(j)).real);
      const bool is_wide = dtype == ACL_DOUBLE || dtype == ACL_COMPLEX128;
      const long double near = is_wide ? 1e-12L : 2e-6L;
      for (size_t j = 0; j < values.size(); ++j) {
        EXPECT_GE(values[j], 0);
        EXPECT_LE(values[j], values[j == 0 ? 0 : j - 1]);
      }
      EXPECT_LE(FarFromOrthonormal(left), near) << m << "x" << n;
      EXPECT_LE(FarFromOrthonormal(right), near) << m << "x" << n;
      for (size_t r = 0; r < a.size(); ++r) {
        for (size_t c = 0; c < a[0].size(); ++c) {
          Complex sum = -a[r][c];
          for (size_t j = 0; j < values.size(); ++j) sum += left[r][j] * values[j] * right[c][j];
          ASSERT_LE(std::abs(sum), near * (1 + values[0])) << m << "x" << n << " " << DtypeName(dtype);
        }
      }
    }
  }
}

// A matrix with a number that is not finite has no decomposition.
TEST(SingularVectors, AreNanWithoutOne) {
  const ScopedEnvironment environment(Variables{});
  RandomNumbers random(3);
  HostTensor input(ACL_FLOAT, MakeView({2, 3}, Layout::kDense, random));
  HostTensor sigma(ACL_FLOAT, MakeView({2}, Layout::kDense, random));
  HostTensor u(ACL_FLOAT, MakeView({2, 2}, Layout::kDense, random));
  HostTensor v(ACL_FLOAT, MakeView({3, 3}, Layout::kDense, random));
  for (int64_t i = 0; i < 6; ++i) input.Set(i, i == 4 ? std::numeric_limits<double>::infinity() : 1);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnSvdGetWorkspaceSize(input.Handle(), true, true, sigma.Handle(), u.Handle(), v.Handle(),
                                     &size, &executor),
            0);
  const GuardedBuffer workspace(size);
  ASSERT_EQ(aclnnSvd(workspace.device(), size, executor, environment.stream()), 0);
  ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
  for (const HostTensor* one : {&sigma, &u, &v}) {
    for (int64_t i = 0; i < one->size(); ++i) EXPECT_TRUE(std::isnan(one->Real(i))) << i;
  }
}

// Neither denormal numbers nor the greatest ones leave their range on the way.
TEST(SingularVectors, AreThoseOfAnyScale) {
  const ScopedEnvironment environment(Variables{});
  RandomNumbers random(4);
  for (const int exponent : {-1074, -1030, -540, 0, 540, 1021}) {
    SCOPED_TRACE(exponent);
    HostTensor input(ACL_DOUBLE, MakeView({2, 2}, Layout::kDense, random));
    HostTensor sigma(ACL_DOUBLE, MakeView({2}, Layout::kDense, random));
    HostTensor u(ACL_DOUBLE, MakeView({2, 2}, Layout::kDense, random));
    HostTensor v(ACL_DOUBLE, MakeView({2, 2}, Layout::kDense, random));
    const double unit = std::ldexp(1.0, exponent);
    const double numbers[] = {0, unit, 3 * unit, 0};
    for (int64_t i = 0; i < 4; ++i) input.Set(i, numbers[i]);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnSvdGetWorkspaceSize(input.Handle(), true, true, sigma.Handle(), u.Handle(), v.Handle(),
                                       &size, &executor),
              0);
    const GuardedBuffer workspace(size);
    ASSERT_EQ(aclnnSvd(workspace.device(), size, executor, environment.stream()), 0);
    ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
    EXPECT_EQ(sigma.Real(0), 3 * unit);
    EXPECT_EQ(sigma.Real(1), unit);
    // The greater value belongs to the second row and the first column.
    for (int64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(std::fabs(u.Real(i)), i == 1 || i == 2 ? 1 : 0) << i;
      EXPECT_EQ(std::fabs(v.Real(i)), i == 0 || i == 3 ? 1 : 0) << i;
    }
  }
}

// The length of a complex number is in range where the squares of its parts are not.
TEST(ComplexDeterminants, HaveLengthsOfAnyScale) {
  const ScopedEnvironment environment(Variables{});
  RandomNumbers random(5);
  HostTensor self(ACL_COMPLEX64, MakeView({2, 2}, Layout::kDense, random));
  HostTensor sign(ACL_COMPLEX64, MakeView({}, Layout::kDense, random));
  HostTensor log(ACL_COMPLEX64, MakeView({}, Layout::kDense, random));
  const Complex numbers[] = {Complex(3, 4) * std::ldexp(1.0L, 80), 0, 0,
                             Complex(3, 4) * std::ldexp(1.0L, -100)};
  for (int64_t i = 0; i < 4; ++i) {
    const Element element = ElementOf(ACL_COMPLEX64, numbers[i]);
    std::copy(element.begin(), element.end(), self.Element(i));
  }
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnSlogdetGetWorkspaceSize(self.Handle(), sign.Handle(), log.Handle(), &size, &executor), 0)
      << TakeErrorMessage();
  const GuardedBuffer workspace(size);
  ASSERT_EQ(aclnnSlogdet(workspace.device(), size, executor, environment.stream()), 0);
  ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
  const Number turn = NumberOf(ACL_COMPLEX64, sign.Element(0));
  EXPECT_NEAR(turn.real, -7.0 / 25, 1e-6);
  EXPECT_NEAR(turn.imaginary, 24.0 / 25, 1e-6);
  EXPECT_NEAR(NumberOf(ACL_COMPLEX64, log.Element(0)).real, std::log(25.0) - 20 * std::log(2.0), 1e-5);
}

// Neither part of a pivot divides the other where it is 0.
TEST(ComplexInverses, DivideByImaginaryNumbers) {
  const ScopedEnvironment environment(Variables{});
  RandomNumbers random(6);
  HostTensor self(ACL_COMPLEX64, MakeView({2, 2}, Layout::kDense, random));
  HostTensor out(ACL_COMPLEX64, MakeView({2, 2}, Layout::kDense, random));
  const Complex numbers[] = {{0, 1}, 0, 0, {0, 2}};
  for (int64_t i = 0; i < 4; ++i) {
    const Element element = ElementOf(ACL_COMPLEX64, numbers[i]);
    std::copy(element.begin(), element.end(), self.Element(i));
  }
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnInverseGetWorkspaceSize(self.Handle(), out.Handle(), &size, &executor), 0)
      << TakeErrorMessage();
  const GuardedBuffer workspace(size);
  ASSERT_EQ(aclnnInverse(workspace.device(), size, executor, environment.stream()), 0);
  ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
  const Complex expected[] = {{0, -1}, 0, 0, {0, -0.5L}};
  for (int64_t i = 0; i < 4; ++i) {
    const Number number = NumberOf(ACL_COMPLEX64, out.Element(i));
    EXPECT_EQ(number.real, expected[i].real()) << i;
    EXPECT_EQ(number.imaginary, expected[i].imag()) << i;
  }
}

}  // namespace
}  // namespace portacl::testing
