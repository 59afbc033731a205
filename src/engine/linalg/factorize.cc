// Solves triangular systems, inverts matrices and computes factors and determinants (see factorize.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/linalg/factorize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/float_environment.h"
#include "engine/conversions.h"
#include "engine/isa_in_use.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

// Columns that a thread takes at a time, and a limit for the workspace of matrices that are processed
// together.
constexpr int64_t kColumnsTogether = 256;
constexpr uint64_t kBytesTogether = uint64_t{64} << 20;

template <class T>
struct Number {
  T real;
  T imaginary;
};

// Rows of numbers in memory. A row of complex numbers has all real parts, then all imaginary parts.
template <class T>
struct Rows {
  T* base;
  int64_t parts;
  int64_t columns;

  T* Part(int64_t row, int64_t part) const { return base + (row * parts + part) * columns; }
  Number<T> At(int64_t row, int64_t column) const {
    return {Part(row, 0)[column], parts == 1 ? T{0} : Part(row, 1)[column]};
  }
  void Set(int64_t row, int64_t column, Number<T> number) const {
    Part(row, 0)[column] = number.real;
    if (parts == 2) Part(row, 1)[column] = number.imaginary;
  }
};

template <class T>
Number<T> Negative(Number<T> x) {
  return {-x.real, -x.imaginary};
}
template <class T>
Number<T> Conjugate(Number<T> x) {
  return {x.real, -x.imaginary};
}
template <class T>
Number<T> Product(Number<T> x, Number<T> y) {
  return {x.real * y.real - x.imaginary * y.imaginary, x.real * y.imaginary + x.imaginary * y.real};
}
// Scales by the divisor's larger part, so that squares neither overflow nor vanish.
template <class T>
Number<T> Quotient(Number<T> x, Number<T> y, int64_t parts) {
  if (parts == 1) return {x.real / y.real, T{0}};
  if (std::fabs(y.real) >= std::fabs(y.imaginary)) {
    const T ratio = y.imaginary / y.real;
    const T scale = y.real + y.imaginary * ratio;
    return {(x.real + x.imaginary * ratio) / scale, (x.imaginary - x.real * ratio) / scale};
  }
  const T ratio = y.real / y.imaginary;
  const T scale = y.real * ratio + y.imaginary;
  return {(x.real * ratio + x.imaginary) / scale, (x.imaginary * ratio - x.real) / scale};
}

bool IsHalf(aclDataType dtype) { return dtype == ACL_FLOAT16 || dtype == ACL_BF16; }

// The length of a number, without squares that overflow or vanish.
template <class T>
T SizeOf(Number<T> x, int64_t parts) {
  if (parts == 1) return std::fabs(x.real);
  const T greater = std::max(std::fabs(x.real), std::fabs(x.imaginary));
  if (std::isnan(x.real) || std::isnan(x.imaginary)) return x.real + x.imaginary;
  if (greater == 0 || std::isinf(greater)) return greater;
  const T a = x.real / greater;
  const T b = x.imaginary / greater;
  return greater * std::sqrt(a * a + b * b);
}

template <class T>
class LinalgRun {
 public:
  LinalgRun(const LinalgJob& job, void* const* addresses) : job_(job), addresses_(addresses) {
    for (const int64_t length : job.batch) matrices_ *= length;
    parts_ = job.computed == ACL_COMPLEX64 || job.computed == ACL_COMPLEX128 ? 2 : 1;
    const int64_t inner = job.kind == LinalgJob::Kind::kQr ? job.columns : job.rows;
    matrix_numbers_ = job.rows * parts_ * inner;
    const int64_t second = job.kind == LinalgJob::Kind::kQr ? job.factor : job.columns;
    second_numbers_ = job.rows * parts_ * second;
    // Room for permutations; for QR, for a reflector, its factor, and sums of columns.
    row_numbers_ = parts_ * (2 * job.rows + 2 + std::max(inner, second));
    const uint64_t bytes = static_cast<uint64_t>(Numbers()) * sizeof(T);
    together_ = std::clamp<int64_t>(static_cast<int64_t>(kBytesTogether / std::max<uint64_t>(bytes, 1)), 1,
                                    std::max<int64_t>(matrices_, 1));
  }

  uint64_t Bytes() const { return static_cast<uint64_t>(together_ * Numbers()) * sizeof(T); }

  void All(void* workspace) {
    memory_ = static_cast<T*>(workspace);
    for (int64_t first = 0; first < matrices_; first += together_) {
      const int64_t count = std::min(together_, matrices_ - first);
      switch (job_.kind) {
        case LinalgJob::Kind::kSolve:
          Each(count, [&](int64_t i) {
            Load(job_.matrix, first + i, MatrixOf(i), job_.rows, job_.rows);
            Load(job_.right, first + i, SecondOf(i), job_.rows, job_.columns);
          });
          EachColumns(count, job_.columns, [&](int64_t i, int64_t from, int64_t to) {
            Solve(MatrixOf(i), SecondOf(i), job_.is_upper, job_.transposes, job_.is_unit, from, to);
            Store(SecondOf(i), job_.out, first + i, job_.rows, from, to);
          });
          break;
        case LinalgJob::Kind::kInverse:
          Each(count, [&](int64_t i) { Load(job_.matrix, first + i, MatrixOf(i), job_.rows, job_.rows); });
          FactorAll(count);
          EachColumns(count, job_.rows, [&](int64_t i, int64_t from, int64_t to) {
            Solve(MatrixOf(i), SecondOf(i), false, false, true, from, to);
            Solve(MatrixOf(i), SecondOf(i), true, false, false, from, to);
            Store(SecondOf(i), job_.out, first + i, job_.rows, from, to);
          });
          break;
        case LinalgJob::Kind::kCholesky:
          Each(count, [&](int64_t i) { Load(job_.matrix, first + i, MatrixOf(i), job_.rows, job_.rows); });
          if (count == 1) {
            FactorSymmetric(0, job_.threads);
          } else {
            Each(count, [&](int64_t i) { FactorSymmetric(i, 1); });
          }
          Each(count, [&](int64_t i) {
            ClearBelowDiagonal(MatrixOf(i), job_.rows);
            Store(MatrixOf(i), job_.out, first + i, job_.rows, 0, job_.rows);
          });
          break;
        case LinalgJob::Kind::kDeterminant:
          Each(count, [&](int64_t i) { Load(job_.matrix, first + i, MatrixOf(i), job_.rows, job_.rows); });
          FactorAll(count);
          Each(count, [&](int64_t i) { StoreDeterminant(i, first + i); });
          break;
        case LinalgJob::Kind::kQr:
          Each(count, [&](int64_t i) { Load(job_.matrix, first + i, MatrixOf(i), job_.rows, job_.columns); });
          if (count == 1) {
            Reflect(0, job_.threads);
          } else {
            Each(count, [&](int64_t i) { Reflect(i, 1); });
          }
          Each(count, [&](int64_t i) {
            ClearBelowDiagonal(MatrixOf(i), job_.columns);
            Store(MatrixOf(i), job_.r, first + i, job_.kept, 0, job_.columns);
            if (job_.out.argument >= 0) Store(SecondOf(i), job_.out, first + i, job_.rows, 0, job_.factor);
          });
          break;
      }
    }
  }

 private:
  int64_t Numbers() const { return matrix_numbers_ + second_numbers_ + factor_numbers() + row_numbers_; }
  // QR keeps the reflectors beside the reduced matrix.
  int64_t factor_numbers() const {
    return job_.kind == LinalgJob::Kind::kQr ? parts_ * (job_.rows + 1) * std::min(job_.rows, job_.columns)
                                             : 0;
  }

  Rows<T> MatrixOf(int64_t i) const {
    return {memory_ + i * Numbers(), parts_, job_.kind == LinalgJob::Kind::kQr ? job_.columns : job_.rows};
  }
  Rows<T> SecondOf(int64_t i) const {
    return {memory_ + i * Numbers() + matrix_numbers_, parts_,
            job_.kind == LinalgJob::Kind::kQr ? job_.factor : job_.columns};
  }
  // Row k holds reflector k: its numbers, followed by its factor.
  Rows<T> ReflectorsOf(int64_t i) const {
    return {memory_ + i * Numbers() + matrix_numbers_ + second_numbers_, parts_, job_.rows + 1};
  }
  T* RowOf(int64_t i) const {
    return memory_ + i * Numbers() + matrix_numbers_ + second_numbers_ + factor_numbers();
  }

  template <class Body>
  void Each(int64_t count, const Body& body) const {
    ForEachBlock(count, job_.threads, [&](int64_t i) {
      const DefaultFloatEnvironment environment;
      body(i);
    });
  }
  // Calls body(matrix, first column, end) for blocks of columns.
  template <class Body>
  void EachColumns(int64_t count, int64_t columns, const Body& body) const {
    const int64_t blocks = (columns + kColumnsTogether - 1) / kColumnsTogether;
    ForEachBlock(count * blocks, job_.threads, [&](int64_t block) {
      const DefaultFloatEnvironment environment;
      const int64_t from = block % blocks * kColumnsTogether;
      body(block / blocks, from, std::min(columns, from + kColumnsTogether));
    });
  }

  char* At(const LinalgOperand& operand, int64_t matrix) const {
    char* address = static_cast<char*>(addresses_[operand.argument]) + operand.offset;
    for (int dim = kLinalgBatchDims - 1; dim >= 0; --dim) {
      address += matrix % job_.batch[dim] * operand.batch[dim];
      matrix /= job_.batch[dim];
    }
    return address;
  }
  void Load(const LinalgOperand& operand, int64_t matrix, Rows<T> to, int64_t rows, int64_t columns) const {
    const char* const from = At(operand, matrix);
    const LoadFunction load = IsHalf(operand.dtype) ? FindLoad(job_.isa, operand.dtype, ACL_FLOAT) : nullptr;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        const char* const element = from + i * operand.row + j * operand.column;
        if (load != nullptr) {
          float number;
          load(element, &number, 1);
          to.Part(i, 0)[j] = static_cast<T>(number);
          continue;
        }
        T numbers[2];
        std::memcpy(numbers, element, static_cast<size_t>(parts_) * sizeof(T));
        for (int64_t part = 0; part < parts_; ++part) to.Part(i, part)[j] = numbers[part];
      }
    }
  }
  void Store(Rows<T> from, const LinalgOperand& operand, int64_t matrix, int64_t rows, int64_t first,
             int64_t end) const {
    char* const to = At(operand, matrix);
    const bool is_half = IsHalf(operand.dtype);
    const StoreFunction store = is_half ? FindStore(job_.isa, operand.dtype) : nullptr;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = first; j < end; ++j) {
        char* const element = to + i * operand.row + j * operand.column;
        if (is_half) {
          const auto number = static_cast<float>(from.Part(i, 0)[j]);
          store(&number, element, 1, false);
          continue;
        }
        T numbers[2];
        for (int64_t part = 0; part < parts_; ++part) numbers[part] = from.Part(i, part)[j];
        std::memcpy(element, numbers, static_cast<size_t>(parts_) * sizeof(T));
      }
    }
  }

  // Computes y + a * x for rows of n numbers.
  void AddTo(T a, const T* x, T* y, int64_t n) const {
    Scalars scalars;
    std::memcpy(scalars.bytes[0], &a, sizeof a);
    VectorWork work{};
    work.in[0] = y;
    work.in[1] = x;
    work.step[0] = work.step[1] = work.step[2] = sizeof(T);
    work.out = y;
    work.n = static_cast<size_t>(n);
    if (n > 0)
      ReportIsaThatRan(
          job_.add({sizeof(T) == sizeof(float) ? ElementType::kF32 : ElementType::kF64}, &scalars, work));
  }
  void AddTo(Number<T> a, Rows<T> x, int64_t x_row, Rows<T> y, int64_t y_row, int64_t from,
             int64_t to) const {
    const int64_t n = to - from;
    AddTo(a.real, x.Part(x_row, 0) + from, y.Part(y_row, 0) + from, n);
    if (parts_ == 1) return;
    AddTo(-a.imaginary, x.Part(x_row, 1) + from, y.Part(y_row, 0) + from, n);
    AddTo(a.real, x.Part(x_row, 1) + from, y.Part(y_row, 1) + from, n);
    AddTo(a.imaginary, x.Part(x_row, 0) + from, y.Part(y_row, 1) + from, n);
  }

  // Solves columns [from, to) of the right-hand sides in place: subtracts known terms, the lowest k first.
  void Solve(Rows<T> matrix, Rows<T> right, bool is_upper, bool transposes, bool is_unit, int64_t from,
             int64_t to) const {
    const int64_t n = job_.rows;
    const auto element = [&](int64_t i, int64_t k) {
      return transposes ? Conjugate(matrix.At(k, i)) : matrix.At(i, k);
    };
    const bool ascends = is_upper == transposes;
    for (int64_t step = 0; step < n; ++step) {
      const int64_t i = ascends ? step : n - 1 - step;
      for (int64_t k = ascends ? 0 : i + 1; k < (ascends ? i : n); ++k)
        AddTo(Negative(element(i, k)), right, k, right, i, from, to);
      if (is_unit) continue;
      const Number<T> diagonal = element(i, i);
      for (int64_t j = from; j < to; ++j) right.Set(i, j, Quotient(right.At(i, j), diagonal, parts_));
    }
  }

  void FactorAll(int64_t count) const {
    if (count == 1) {
      Factor(0, job_.threads);
    } else {
      Each(count, [&](int64_t i) { Factor(i, 1); });
    }
  }

  // Replaces matrix i by its LU factors. The pivot is the first largest element of a column. If there are
  // right-hand sides, they become the permutation matrix. The first number of RowOf(i) becomes its sign.
  void Factor(int64_t i, int threads) const {
    const Rows<T> matrix = MatrixOf(i);
    const Rows<T> right = SecondOf(i);
    const int64_t n = job_.rows;
    std::fill_n(right.base, second_numbers_, T{0});
    for (int64_t row = 0; row < right.columns; ++row) right.Part(row, 0)[row] = 1;
    T* const sign = RowOf(i);
    *sign = 1;
    for (int64_t k = 0; k < n; ++k) {
      int64_t pivot = k;
      T largest = 0;
      for (int64_t row = k; row < n; ++row) {
        const Number<T> number = matrix.At(row, k);
        const T size = std::fabs(number.real) + std::fabs(number.imaginary);
        if (size > largest) {
          largest = size;
          pivot = row;
        }
      }
      if (pivot != k) {
        std::swap_ranges(matrix.Part(k, 0), matrix.Part(k, 0) + parts_ * n, matrix.Part(pivot, 0));
        std::swap_ranges(right.Part(k, 0), right.Part(k, 0) + parts_ * right.columns, right.Part(pivot, 0));
        *sign = -*sign;
      }
      const Number<T> diagonal = matrix.At(k, k);
      constexpr int64_t kRowsTogether = 32;
      ForEachBlock((n - k - 1 + kRowsTogether - 1) / kRowsTogether, threads, [&](int64_t block) {
        const DefaultFloatEnvironment environment;
        const int64_t first = k + 1 + block * kRowsTogether;
        for (int64_t row = first; row < std::min(n, first + kRowsTogether); ++row) {
          const Number<T> factor = Quotient(matrix.At(row, k), diagonal, parts_);
          matrix.Set(row, k, factor);
          AddTo(Negative(factor), matrix, k, matrix, row, k + 1, n);
        }
      });
    }
  }

  // Replaces the upper triangle of a real matrix by its factor U, matrix = U^T U. Rows lose their terms in the
  // order of the rows above, block by block, so that a block of those stays in a cache.
  void FactorSymmetric(int64_t i, int threads) const {
    constexpr int64_t kRowsTogether = 64;
    constexpr int64_t kRowsOfBlock = 8;
    const Rows<T> matrix = MatrixOf(i);
    const int64_t n = job_.rows;
    const auto subtract = [&](int64_t above, int64_t row) {
      AddTo(Negative(matrix.At(above, row)), matrix, above, matrix, row, row, n);
    };
    for (int64_t first = 0; first < n; first += kRowsTogether) {
      const int64_t end = std::min(n, first + kRowsTogether);
      for (int64_t row = first; row < end; ++row) {
        for (int64_t above = first; above < row; ++above) subtract(above, row);
        T* const numbers = matrix.Part(row, 0);
        numbers[row] = std::sqrt(numbers[row]);
        for (int64_t j = row + 1; j < n; ++j) numbers[j] /= numbers[row];
      }
      ForEachBlock((n - end + kRowsOfBlock - 1) / kRowsOfBlock, threads, [&](int64_t block) {
        const DefaultFloatEnvironment environment;
        const int64_t begin = end + block * kRowsOfBlock;
        for (int64_t row = begin; row < std::min(n, begin + kRowsOfBlock); ++row) {
          for (int64_t above = first; above < end; ++above) subtract(above, row);
        }
      });
    }
  }

  // Multiplies the diagonal of the LU factors: signs as they are, sizes as a number near 1 and a power of two.
  void StoreDeterminant(int64_t i, int64_t matrix_index) const {
    const Rows<T> matrix = MatrixOf(i);
    Number<T> sign = {*RowOf(i), 0};
    double size = 1;
    int64_t exponent = 0;
    const auto normalise = [&] {
      int by = 0;
      size = std::frexp(size, &by);
      exponent += by;
    };
    for (int64_t k = 0; k < job_.rows; ++k) {
      const Number<T> number = matrix.At(k, k);
      const T length = SizeOf(number, parts_);
      if (parts_ == 1) {
        sign.real *= static_cast<T>(number.real > 0) - static_cast<T>(number.real < 0);
      } else {
        sign =
            length == 0 ? Number<T>{0, 0} : Product(sign, {number.real / length, number.imaginary / length});
      }
      size *= static_cast<double>(length);
      if (size > 0 && std::isfinite(size)) normalise();
    }
    if (size < 0.70710678118654752 && size > 0) {
      size *= 2;
      --exponent;
    }
    constexpr double kLog2 = 0.69314718055994531;
    const double of_power = static_cast<double>(exponent) * kLog2;
    double log = 0;
    if constexpr (sizeof(T) == sizeof(float)) {
      log = static_cast<double>(job_.logarithm.of_float(static_cast<float>(size))) + of_power;
    } else {
      log = job_.logarithm.of_double(size) + of_power;
    }
    T numbers[2] = {sign.real, sign.imaginary};
    Store({numbers, parts_, 1}, job_.out, matrix_index, 1, 0, 1);
    numbers[0] = static_cast<T>(log);
    numbers[1] = 0;
    Store({numbers, parts_, 1}, job_.r, matrix_index, 1, 0, 1);
  }

  // Makes the Householder reflector that zeroes column k below the diagonal, in LAPACK's form: 1 and the
  // numbers after it, and a factor.
  void MakeReflector(Rows<T> matrix, Rows<T> reflectors, int64_t k) const {
    const int64_t m = job_.rows;
    const Number<T> alpha = matrix.At(k, k);
    T largest = 0;
    bool is_zero = alpha.imaginary == 0;
    for (int64_t i = k; i < m; ++i) {
      const Number<T> x = matrix.At(i, k);
      largest = std::max({largest, std::fabs(x.real), std::fabs(x.imaginary)});
      if (i > k && (x.real != 0 || x.imaginary != 0)) is_zero = false;
    }
    reflectors.Set(k, k, {1, 0});
    if (is_zero) {
      reflectors.Set(k, m, {0, 0});
      for (int64_t i = k + 1; i < m; ++i) reflectors.Set(k, i, {0, 0});
      return;
    }
    T sum = 0;
    for (int64_t i = k; i < m; ++i) {
      const Number<T> x = matrix.At(i, k);
      sum = std::fma(x.real / largest, x.real / largest, sum);
      if (parts_ == 2) sum = std::fma(x.imaginary / largest, x.imaginary / largest, sum);
    }
    const T beta = -std::copysign(largest * std::sqrt(sum), alpha.real);
    reflectors.Set(k, m, {(beta - alpha.real) / beta, -alpha.imaginary / beta});
    const Number<T> divisor = {alpha.real - beta, alpha.imaginary};
    for (int64_t i = k + 1; i < m; ++i) reflectors.Set(k, i, Quotient(matrix.At(i, k), divisor, parts_));
  }

  // Applies a reflector to columns [from, to) of rows k and below: sums over the rows, ascending, then
  // updates each row.
  void Apply(Rows<T> reflectors, int64_t k, Number<T> factor, Rows<T> rows, Rows<T> sums, int64_t from,
             int64_t to) const {
    for (int64_t part = 0; part < parts_; ++part)
      std::fill(sums.Part(0, part) + from, sums.Part(0, part) + to, T{0});
    for (int64_t i = k; i < job_.rows; ++i) AddTo(Conjugate(reflectors.At(k, i)), rows, i, sums, 0, from, to);
    for (int64_t i = k; i < job_.rows; ++i)
      AddTo(Negative(Product(factor, reflectors.At(k, i))), sums, 0, rows, i, from, to);
  }

  void Reflect(int64_t matrix_index, int threads) const {
    const Rows<T> matrix = MatrixOf(matrix_index);
    const Rows<T> q = SecondOf(matrix_index);
    const Rows<T> reflectors = ReflectorsOf(matrix_index);
    const int64_t count = std::min(job_.rows, job_.columns);
    const auto apply = [&](int64_t k, Number<T> factor, Rows<T> rows, int64_t first) {
      const Rows<T> sums{RowOf(matrix_index), parts_, rows.columns};
      ForEachBlock(
          (rows.columns - first + kColumnsTogether - 1) / kColumnsTogether, threads, [&](int64_t block) {
            const DefaultFloatEnvironment environment;
            const int64_t from = first + block * kColumnsTogether;
            Apply(reflectors, k, factor, rows, sums, from, std::min(rows.columns, from + kColumnsTogether));
          });
    };
    for (int64_t k = 0; k < count; ++k) {
      MakeReflector(matrix, reflectors, k);
      apply(k, Conjugate(reflectors.At(k, job_.rows)), matrix, k);
    }
    if (job_.out.argument < 0) return;
    std::fill_n(q.base, second_numbers_, T{0});
    for (int64_t i = 0; i < std::min(job_.rows, job_.factor); ++i) q.Part(i, 0)[i] = 1;
    for (int64_t k = count - 1; k >= 0; --k) apply(k, reflectors.At(k, job_.rows), q, 0);
  }

  void ClearBelowDiagonal(Rows<T> matrix, int64_t columns) const {
    for (int64_t i = 1; i < job_.rows; ++i) {
      for (int64_t part = 0; part < parts_; ++part)
        std::fill_n(matrix.Part(i, part), std::min(i, columns), T{0});
    }
  }

  const LinalgJob& job_;
  void* const* addresses_;
  T* memory_ = nullptr;
  int64_t matrices_ = 1;
  int64_t parts_ = 1;
  int64_t matrix_numbers_;
  int64_t second_numbers_;  // right-hand sides, or q
  int64_t row_numbers_;
  int64_t together_;
};

bool IsDouble(const LinalgJob& job) { return job.computed == ACL_DOUBLE || job.computed == ACL_COMPLEX128; }

}  // namespace

uint64_t LinalgJob::WorkspaceBytes() const noexcept {
  return IsDouble(*this) ? LinalgRun<double>(*this, nullptr).Bytes()
                         : LinalgRun<float>(*this, nullptr).Bytes();
}

void LinalgJob::Run(void* const* addresses, void* workspace) const noexcept {
  const DefaultFloatEnvironment environment;
  constexpr int8_t kMostOperands = 4;
  void* all[kMostOperands + 1] = {};
  std::copy_n(addresses, operands, all);
  all[operands] = static_cast<char*>(workspace) + WorkspaceBytes();
  if (IsDouble(*this)) {
    LinalgRun<double>(*this, all).All(workspace);
  } else {
    LinalgRun<float>(*this, all).All(workspace);
  }
  if (copies) copy.Run(static_cast<const char*>(all[copied_from]), static_cast<char*>(all[copied_to]));
}

}  // namespace portacl::engine
