// Solutions and factors of matrices that are larger than every block of the algorithms: what they multiply to lies within the bounds of the
// theory from what was given (Higham, Accuracy and Stability of Numerical Algorithms, chapters 8 to 10, 14 and 19).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <vector>

#include "aclnnop/families/linalg.h"
#include "gtest/gtest.h"
#include "matmul/product_calls.h"
#include "support/environment.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

using Complex = std::complex<long double>;
using Grid = std::vector<std::vector<Complex>>;

constexpr size_t kOrder = 150;
constexpr int64_t kColumns = 170;
constexpr int64_t kSides = 66;

Grid GridOf(const HostTensor& tensor) {
  const auto columns = static_cast<size_t>(tensor.shape()[1]);
  Grid grid(static_cast<size_t>(tensor.shape()[0]), std::vector<Complex>(columns));
  for (size_t i = 0; i < static_cast<size_t>(tensor.size()); ++i) {
    const Number number = NumberOf(tensor.dtype(), tensor.Element(static_cast<int64_t>(i)));
    grid[i / columns][i % columns] = {number.real, number.imaginary};
  }
  return grid;
}
void Fill(HostTensor& tensor, RandomNumbers& random,
          const std::function<Complex(int64_t, int64_t, Complex)>& number) {
  const int64_t columns = tensor.shape()[1];
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const auto draw = [&] { return static_cast<long double>(random.Between(-1000, 1000)) / 1000; };
    const Complex drawn = {draw(), draw()};
    const Complex given = number(i / columns, i % columns, drawn);
    const Element element = ElementOfNumber(tensor.dtype(), {given.real(), given.imag()});
    std::copy(element.begin(), element.end(), tensor.Element(i));
  }
}
Grid Turned(const Grid& a) {
  Grid turned(a[0].size(), std::vector<Complex>(a.size()));
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < a[0].size(); ++j) turned[j][i] = std::conj(a[i][j]);
  }
  return turned;
}

// The greatest |a b - c| as a part of what |a| |b| allows.
long double Residual(const Grid& a, const Grid& b, const Grid& c) {
  long double most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b[0].size(); ++j) {
      Complex sum = -c[i][j];
      long double sizes = 0;
      for (size_t k = 0; k < b.size(); ++k) {
        sum += a[i][k] * b[k][j];
        sizes += std::abs(a[i][k]) * std::abs(b[k][j]);
      }
      if (std::abs(sum) > 0) most = std::max(most, std::abs(sum) / sizes);
      if (std::isnan(std::abs(sum))) return std::abs(sum);
    }
  }
  return most;
}
Grid Unit(size_t n) {
  Grid unit(n, std::vector<Complex>(n));
  for (size_t i = 0; i < n; ++i) unit[i][i] = 1;
  return unit;
}

bool IsComplexDtype(DtypeNumber dtype) { return dtype == ACL_COMPLEX64 || dtype == ACL_COMPLEX128; }
// n * u; four roundings are as far as those of a complex product can reach beyond that.
long double Bound(DtypeNumber dtype) {
  const bool is_wide = dtype == ACL_DOUBLE || dtype == ACL_COMPLEX128;
  return std::ldexp(static_cast<long double>(kOrder), is_wide ? -53 : -24) * (IsComplexDtype(dtype) ? 4 : 1);
}

class LargeFactors : public ::testing::TestWithParam<DtypeNumber> {
 protected:
  // Calls f, which draws the same numbers each time, in an environment of 1 and of 3 threads. All results have the same bits.
  template <class F>
  void WithThreads(const F& f) {
    std::vector<std::byte> of_one_thread;
    for (const char* threads : {"1", "3"}) {
      const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", threads}});
      stream_ = environment.stream();
      random_ = RandomNumbers(0xFAC7);
      bits_.clear();
      f();
      if (of_one_thread.empty()) of_one_thread = bits_;
    }
    ASSERT_FALSE(bits_.empty());
    EXPECT_TRUE(bits_ == of_one_thread) << "other bits with 3 threads than with 1";
  }
  HostTensor Tensor(int64_t rows, int64_t columns) {
    return HostTensor(
        GetParam(),
        MakeView({rows, columns}, kOutputLayouts[random_.Below(std::size(kOutputLayouts))], random_));
  }
  template <class Plan, class Run>
  void Call(const Plan& plan, const Run& run, std::initializer_list<const HostTensor*> results) {
    for (const HostTensor* one : results) const_cast<HostTensor*>(one)->Remember();
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(plan(&size, &executor), 0) << TakeErrorMessage();
    const GuardedBuffer workspace(size);
    ASSERT_EQ(run(workspace.device(), size, executor, stream_), 0);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), 0);
    for (const HostTensor* one : results) {
      EXPECT_TRUE(one->UnchangedOutsideView());
      for (int64_t i = 0; i < one->size(); ++i) {
        const auto* const element = const_cast<HostTensor*>(one)->Element(i);
        bits_.insert(bits_.end(), element, element + ElementSize(one->dtype()));
      }
    }
  }

  RandomNumbers random_{0};
  std::vector<std::byte> bits_;  // of the results
  aclrtStream stream_ = nullptr;
};

TEST_P(LargeFactors, TrianglesAreSolved) {
  WithThreads([&] {
    for (int which = 0; which < 4; ++which) {
      const bool is_upper = which % 2 != 0;
      const bool turns = which / 2 != 0;
      HostTensor right = Tensor(kOrder, kSides), triangle = Tensor(kOrder, kOrder);
      HostTensor out = Tensor(kOrder, kSides), kept = Tensor(kOrder, kOrder);
      Fill(right, random_, [](int64_t, int64_t, Complex drawn) { return drawn; });
      Fill(triangle, random_, [](int64_t i, int64_t j, Complex drawn) {
        return i == j ? Complex(drawn.real() < 0 ? -1 : 1, 0) + drawn / 2.0L : drawn / 8.0L;
      });
      Call(
          [&](uint64_t* size, aclOpExecutor** executor) {
            return aclnnTriangularSolveGetWorkspaceSize(right.Handle(), triangle.Handle(), is_upper, turns,
                                                        false, out.Handle(), kept.Handle(), size, executor);
          },
          aclnnTriangularSolve, {&out, &kept});
      Grid used = GridOf(triangle);
      for (size_t i = 0; i < kOrder; ++i) {
        for (size_t j = 0; j < kOrder; ++j) {
          if (is_upper ? j < i : j > i) used[i][j] = 0;
        }
      }
      EXPECT_LE(Residual(turns ? Turned(used) : used, GridOf(out), GridOf(right)), Bound(GetParam()))
          << which;
    }
  });
}

TEST_P(LargeFactors, InversesAndDeterminantsAreThose) {
  WithThreads([&] {
    HostTensor a = Tensor(kOrder, kOrder), out = Tensor(kOrder, kOrder);
    Fill(a, random_, [](int64_t, int64_t, Complex drawn) { return drawn; });
    Call(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnInverseGetWorkspaceSize(a.Handle(), out.Handle(), size, executor);
        },
        aclnnInverse, {&out});
    // |L| |U| is greater than |A|, by a factor that pivots keep small.
    EXPECT_LE(Residual(GridOf(a), GridOf(out), Unit(kOrder)), 3 * Bound(GetParam()));

    HostTensor sign(GetParam(), MakeView({}, Layout::kDense, random_));
    HostTensor log(GetParam(), MakeView({}, Layout::kDense, random_));
    Call(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnSlogdetGetWorkspaceSize(a.Handle(), sign.Handle(), log.Handle(), size, executor);
        },
        aclnnSlogdet, {&sign, &log});
    Grid rest = GridOf(a);
    long double sum = 0;
    Complex direction = 1;
    for (size_t k = 0; k < kOrder; ++k) {
      size_t pivot = k;
      for (size_t i = k; i < kOrder; ++i) {
        if (std::abs(rest[i][k]) > std::abs(rest[pivot][k])) pivot = i;
      }
      std::swap(rest[k], rest[pivot]);
      sum += std::log(std::abs(rest[k][k]));
      direction *= rest[k][k] / std::abs(rest[k][k]) * (pivot == k ? 1.0L : -1.0L);
      for (size_t i = k + 1; i < kOrder; ++i) {
        const Complex factor = rest[i][k] / rest[k][k];
        for (size_t j = k; j < kOrder; ++j) rest[i][j] -= factor * rest[k][j];
      }
    }
    // The matrix's condition is some 1000.
    EXPECT_NEAR(static_cast<double>(NumberOf(GetParam(), log.Element(0)).real), static_cast<double>(sum),
                static_cast<double>(100 * Bound(GetParam())));
    const Number found = NumberOf(GetParam(), sign.Element(0));
    EXPECT_LE(std::abs(Complex(found.real, found.imaginary) - direction), 100 * Bound(GetParam()));
  });
}

TEST_P(LargeFactors, ReflectionsPutTheMatrixTogether) {
  WithThreads([&] {
    for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{kOrder, kColumns}, {kColumns, 100}}) {
      const int64_t count = std::min(rows, columns);
      HostTensor a = Tensor(rows, columns), q = Tensor(rows, count), r = Tensor(count, columns);
      // Columns of very different lengths, some beyond those whose squares are numbers.
      Fill(a, random_, [](int64_t, int64_t j, Complex drawn) {
        return drawn * std::ldexp(1.0L, static_cast<int>(j % 3 - 1) * 100);
      });
      Call(
          [&](uint64_t* size, aclOpExecutor** executor) {
            return aclnnLinalgQrGetWorkspaceSize(a.Handle(), 0, q.Handle(), r.Handle(), size, executor);
          },
          aclnnLinalgQr, {&q, &r});
      const Grid orthonormal = GridOf(q), triangle = GridOf(r), given = GridOf(a);
      for (size_t i = 0; i < triangle.size(); ++i) {
        for (size_t j = 0; j < i; ++j) EXPECT_EQ(triangle[i][j], Complex(0));
      }
      const Grid turned = Turned(orthonormal);
      for (size_t i = 0; i < turned.size(); ++i) {
        for (size_t j = 0; j < turned.size(); ++j) {
          Complex sum = i == j ? -1 : 0;
          for (size_t k = 0; k < turned[0].size(); ++k) sum += turned[i][k] * orthonormal[k][j];
          ASSERT_LE(std::abs(sum), Bound(GetParam())) << i << " " << j;
        }
      }
      // Errors are as large as a bound times the column's length.
      for (size_t j = 0; j < given[0].size(); ++j) {
        long double error = 0, length = 0;
        for (size_t i = 0; i < given.size(); ++i) {
          Complex sum = -given[i][j];
          for (size_t k = 0; k < triangle.size(); ++k) sum += orthonormal[i][k] * triangle[k][j];
          error += std::norm(sum);
          length += std::norm(given[i][j]);
        }
        ASSERT_LE(std::sqrt(error), Bound(GetParam()) * std::sqrt(length)) << j;
      }
    }
  });
}

// LinalgCholesky takes float32 alone of these types.
class LargeSymmetricFactors : public LargeFactors {};

TEST_P(LargeSymmetricFactors, MultiplyToTheMatrix) {
  WithThreads([&] {
    for (const bool is_upper : {false, true}) {
      HostTensor a = Tensor(kOrder, kOrder), out = Tensor(kOrder, kOrder);
      // The other triangle is not read.
      Fill(a, random_, [&](int64_t i, int64_t j, Complex drawn) {
        if (is_upper ? j < i : j > i) return Complex(NAN);
        return i == j ? Complex(static_cast<long double>(kOrder) / 4) : drawn;
      });
      Call(
          [&](uint64_t* size, aclOpExecutor** executor) {
            return aclnnLinalgCholeskyGetWorkspaceSize(a.Handle(), is_upper, out.Handle(), size, executor);
          },
          aclnnLinalgCholesky, {&out});
      Grid given = GridOf(a);
      for (size_t i = 0; i < kOrder; ++i) {
        for (size_t j = 0; j < kOrder; ++j) {
          if (is_upper ? j < i : j > i) given[i][j] = given[j][i];
        }
      }
      const Grid factor = GridOf(out);
      EXPECT_LE(is_upper ? Residual(Turned(factor), factor, given) : Residual(factor, Turned(factor), given),
                Bound(ACL_FLOAT));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Of, LargeFactors,
                         ::testing::Values(DtypeNumber{ACL_FLOAT}, DtypeNumber{ACL_DOUBLE},
                                           DtypeNumber{ACL_COMPLEX64}, DtypeNumber{ACL_COMPLEX128}));

INSTANTIATE_TEST_SUITE_P(Of, LargeSymmetricFactors, ::testing::Values(DtypeNumber{ACL_FLOAT}));

}  // namespace
}  // namespace portacl::testing
