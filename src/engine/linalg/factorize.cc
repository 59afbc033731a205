// Solves triangular systems, inverts matrices and computes factors and determinants (see factorize.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/linalg/factorize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/float_environment.h"
#include "engine/conversions.h"
#include "engine/isa_in_use.h"
#include "engine/linalg/eliminate.h"
#include "engine/linalg/number_rows.h"
#include "engine/linalg/reflect.h"
#include "engine/parallel.h"
#include "engine/transpose.h"

namespace portacl::engine {
namespace {

// A limit for the workspace of matrices that are processed together.
constexpr uint64_t kBytesTogether = uint64_t{64} << 20;
// Products of a matrix for which threads that sleep are woken.
constexpr int64_t kTermsToWakeFor = int64_t{1} << 20;

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
  LinalgRun(const LinalgJob& job, void* const* addresses)
      : job_(job), addresses_(addresses), kernels_(KernelsOf<T>(LinalgKernelsOf(job.isa))) {
    using Kind = LinalgJob::Kind;
    for (const int64_t length : job.batch) matrices_ *= length;
    parts_ = job.computed == ACL_COMPLEX64 || job.computed == ACL_COMPLEX128 ? 2 : 1;
    const bool is_qr = job.kind == Kind::kQr;
    inner_ = is_qr ? job.columns : job.rows;
    second_ = is_qr ? job.factor : job.columns;
    matrix_numbers_ = Rows<T>::Numbers(job.rows, parts_, inner_);
    second_numbers_ = Rows<T>::Numbers(job.rows, parts_, second_);
    if (is_qr) {
      const int64_t count = std::min(job.rows, job.columns);
      vector_numbers_ = count * parts_ * VectorPitch(job.rows);
      factor_numbers_ = Rows<T>::Numbers(count, parts_, kReflectionsTogether);
      row_numbers_ =
          Rows<T>::Numbers(2 * std::min(count, kReflectionsTogether), parts_, std::max(inner_, second_));
    } else if (job.kind != Kind::kSolve && job.kind != Kind::kCholesky) {
      row_numbers_ = 1 + Rows<T>::Numbers(std::min(job.rows, kFactoredTogether), parts_, job.rows);
    }
    const uint64_t bytes = static_cast<uint64_t>(Numbers()) * sizeof(T);
    together_ = std::clamp<int64_t>(static_cast<int64_t>(kBytesTogether / std::max<uint64_t>(bytes, 1)), 1,
                                    std::max<int64_t>(matrices_, 1));
  }

  uint64_t Bytes() const { return static_cast<uint64_t>(together_ * Numbers()) * sizeof(T); }

  void All(void* workspace) {
    memory_ = static_cast<T*>(workspace);
    for (int64_t first = 0; first < matrices_; first += together_) {
      const int64_t count = std::min(together_, matrices_ - first);
      // Threads share matrices, or the columns of a single one.
      Each(count, [&](int64_t i) { One(i, first + i, count == 1 ? job_.threads : 1); });
    }
  }

 private:
  int64_t Numbers() const {
    return matrix_numbers_ + second_numbers_ + vector_numbers_ + factor_numbers_ + row_numbers_;
  }

  Rows<T> MatrixOf(int64_t i) const { return {memory_ + i * Numbers(), parts_, inner_}; }
  Rows<T> SecondOf(int64_t i) const { return {MatrixOf(i).base + matrix_numbers_, parts_, second_}; }
  T* VectorsOf(int64_t i) const { return SecondOf(i).base + second_numbers_; }
  T* FactorsOf(int64_t i) const { return VectorsOf(i) + vector_numbers_; }
  // A sign, then what a factorisation keeps aside.
  T* RowsOf(int64_t i) const { return FactorsOf(i) + factor_numbers_; }

  template <class Body>
  void Each(int64_t count, const Body& body) const {
    if (count == 1) return body(0);
    const int64_t terms = job_.rows * job_.rows * std::max(inner_, second_) * parts_ * parts_;
    ForEachBlock(
        count, job_.threads,
        [&](int64_t i) {
          const DefaultFloatEnvironment environment;
          body(i);
        },
        terms >= kTermsToWakeFor ? BlockLength::kLong : BlockLength::kShort);
  }

  // Computes matrix `index` of the batch in place i of the workspace.
  void One(int64_t i, int64_t index, int threads) const {
    const Rows<T> matrix = MatrixOf(i);
    const Rows<T> second = SecondOf(i);
    const int64_t n = job_.rows;
    Load(job_.matrix, index, matrix, n, inner_);
    switch (job_.kind) {
      case LinalgJob::Kind::kSolve:
        Load(job_.right, index, second, n, second_);
        Solve(matrix, second, threads);
        return Store(second, job_.out, index, n, second_);
      case LinalgJob::Kind::kInverse:
        Factor(i, threads);
        ForColumns(0, n, n * n * n * parts_ * parts_, threads, [&](int64_t from, int64_t to) {
          SolveTriangle(kernels_, matrix.AsLeft(0, 0), second, n, true, true, from, to);
          SolveTriangle(kernels_, matrix.AsLeft(0, 0), second, n, false, false, from, to);
        });
        return Store(second, job_.out, index, n, n);
      case LinalgJob::Kind::kCholesky:
        FactorSymmetric(kernels_, matrix, n, threads);
        ClearBelowDiagonal(matrix, n);
        return Store(matrix, job_.out, index, n, n);
      case LinalgJob::Kind::kDeterminant:
        Factor(i, threads);
        return StoreDeterminant(i, index);
      case LinalgJob::Kind::kQr:
        Reflect(kernels_,
                Reflections<T>{matrix,
                               second,
                               n,
                               {VectorsOf(i), parts_, n, VectorPitch(n)},
                               {FactorsOf(i), parts_, kReflectionsTogether},
                               {RowsOf(i), parts_, std::max(inner_, second_)}},
                threads);
        ClearBelowDiagonal(matrix, inner_);
        Store(matrix, job_.r, index, job_.kept, inner_);
        if (job_.out.argument >= 0) Store(second, job_.out, index, n, second_);
    }
  }

  char* At(const LinalgOperand& operand, int64_t matrix) const {
    char* address = static_cast<char*>(addresses_[operand.argument]) + operand.offset;
    for (int dim = kLinalgBatchDims - 1; dim >= 0; --dim) {
      address += matrix % job_.batch[dim] * operand.batch[dim];
      matrix /= job_.batch[dim];
    }
    return address;
  }
  // Tells whether numbers are as in memory, and adjacent along an axis.
  bool IsPlain(const LinalgOperand& operand, int64_t stride) const {
    return parts_ == 1 && !IsHalf(operand.dtype) && stride == int64_t{sizeof(T)};
  }
  void Load(const LinalgOperand& operand, int64_t matrix, Rows<T> to, int64_t rows, int64_t columns) const {
    if (rows == 0 || columns == 0) return;  // there may be no address
    const char* const from = At(operand, matrix);
    if (IsPlain(operand, operand.column)) {
      for (int64_t i = 0; i < rows; ++i)
        std::memcpy(to.Part(i, 0), from + i * operand.row, static_cast<size_t>(columns) * sizeof(T));
      return;
    }
    if (IsPlain(operand, operand.row)) {
      ForTransposed(rows, columns, [&](int64_t i, int64_t j, int64_t down, int64_t across) {
        TransposeIn(from + i * operand.row + j * operand.column, operand.column,
                    reinterpret_cast<char*>(to.Part(i, 0) + j), to.pitch * int64_t{sizeof(T)}, across, down,
                    sizeof(T), nullptr);
      });
      return;
    }
    const LoadFunction load = IsHalf(operand.dtype) ? FindLoad(job_.isa, operand.dtype, ACL_FLOAT) : nullptr;
    for (int64_t i = 0; i < rows; ++i) {
      const char* element = from + i * operand.row;
      for (int64_t j = 0; j < columns; ++j, element += operand.column) {
        if (load != nullptr) {
          float number;
          load(element, &number, 1);
          to.Part(i, 0)[j] = static_cast<T>(number);
          continue;
        }
        T numbers[2] = {};
        std::memcpy(numbers, element, parts_ == 1 ? sizeof(T) : 2 * sizeof(T));
        to.Set(i, j, {numbers[0], numbers[1]});
      }
    }
  }
  void Store(Rows<T> from, const LinalgOperand& operand, int64_t matrix, int64_t rows,
             int64_t columns) const {
    if (rows == 0 || columns == 0) return;
    char* const to = At(operand, matrix);
    if (IsPlain(operand, operand.column)) {
      for (int64_t i = 0; i < rows; ++i)
        std::memcpy(to + i * operand.row, from.Part(i, 0), static_cast<size_t>(columns) * sizeof(T));
      return;
    }
    if (IsPlain(operand, operand.row)) {
      ForTransposed(rows, columns, [&](int64_t i, int64_t j, int64_t down, int64_t across) {
        TransposeIn(reinterpret_cast<const char*>(from.Part(i, 0) + j), from.pitch * int64_t{sizeof(T)},
                    to + i * operand.row + j * operand.column, operand.column, down, across, sizeof(T),
                    nullptr);
      });
      return;
    }
    const bool is_half = IsHalf(operand.dtype);
    const StoreFunction store = is_half ? FindStore(job_.isa, operand.dtype) : nullptr;
    for (int64_t i = 0; i < rows; ++i) {
      char* element = to + i * operand.row;
      for (int64_t j = 0; j < columns; ++j, element += operand.column) {
        if (is_half) {
          const auto number = static_cast<float>(from.Part(i, 0)[j]);
          store(&number, element, 1, false);
          continue;
        }
        const Number<T> number = from.At(i, j);
        const T numbers[2] = {number.real, number.imaginary};
        std::memcpy(element, numbers, parts_ == 1 ? sizeof(T) : 2 * sizeof(T));
      }
    }
  }
  // Calls f(first row, first column, rows, columns) for blocks that fit a cache.
  template <class F>
  static void ForTransposed(int64_t rows, int64_t columns, const F& f) {
    constexpr int64_t kSide = 64;
    for (int64_t i = 0; i < rows; i += kSide) {
      for (int64_t j = 0; j < columns; j += kSide)
        f(i, j, std::min(kSide, rows - i), std::min(kSide, columns - j));
    }
  }

  void Solve(Rows<T> matrix, Rows<T> right, int threads) const {
    LeftNumbers<T> left = job_.transposes ? matrix.AsTurnedLeft(0, 0) : matrix.AsLeft(0, 0);
    left.conjugates = job_.transposes;
    const int64_t n = job_.rows;
    ForColumns(0, second_, n * n / 2 * second_ * parts_ * parts_, threads, [&](int64_t from, int64_t to) {
      SolveTriangle(kernels_, left, right, n, job_.is_upper == job_.transposes, job_.is_unit, from, to);
    });
  }

  // Replaces matrix i by its LU factors. If there are right-hand sides, they become the permutation matrix. The
  // first number of RowsOf(i) becomes its sign.
  void Factor(int64_t i, int threads) const {
    const Rows<T> right = SecondOf(i);
    for (int64_t row = 0; row < right.columns; ++row) {
      right.Clear(row, 0, right.columns);
      right.Part(row, 0)[row] = 1;
    }
    *RowsOf(i) = FactorGeneral(kernels_, MatrixOf(i), job_.rows, right, RowsOf(i) + 1, threads);
  }

  // Multiplies the diagonal of the LU factors: signs as they are, sizes as a number near 1 and a power of two.
  void StoreDeterminant(int64_t i, int64_t matrix_index) const {
    const Rows<T> matrix = MatrixOf(i);
    Number<T> sign = {*RowsOf(i), 0};
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
    Store({numbers, parts_, 1}, job_.out, matrix_index, 1, 1);
    numbers[0] = static_cast<T>(log);
    numbers[1] = 0;
    Store({numbers, parts_, 1}, job_.r, matrix_index, 1, 1);
  }

  void ClearBelowDiagonal(Rows<T> matrix, int64_t columns) const {
    for (int64_t i = 1; i < job_.rows; ++i) matrix.Clear(i, 0, std::min(i, columns));
  }

  const LinalgJob& job_;
  void* const* addresses_;
  const RowKernels<T>& kernels_;
  T* memory_ = nullptr;
  int64_t matrices_ = 1;
  int64_t parts_ = 1;
  int64_t inner_;   // columns of the matrix
  int64_t second_;  // columns of the right-hand sides, or of q
  int64_t matrix_numbers_;
  int64_t second_numbers_;
  int64_t vector_numbers_ = 0;
  int64_t factor_numbers_ = 0;
  int64_t row_numbers_ = 0;
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
  ReportIsaThatRan(isa);
  if (copies) copy.Run(static_cast<const char*>(all[copied_from]), static_cast<char*>(all[copied_to]));
}

}  // namespace portacl::engine
