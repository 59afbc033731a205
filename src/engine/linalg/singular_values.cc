// Computes singular values and vectors (see singular_values.h) by one-sided Jacobi rotations. The columns of a matrix
// are stored as rows. Pairs of them are rotated until all are orthogonal, and the columns of v with them. A round has
// each column in one pair, so several threads may rotate its pairs.
// SPDX-License-Identifier: Apache-2.0
#include "engine/linalg/singular_values.h"

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/linalg/singular_values.cc"
#include "base/foreach_target.h"

#include <hwy/highway.h>

#include "engine/functions/primitives-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace singular {

namespace hn = hwy::HWY_NAMESPACE;

// Adds in eight chains, of four pairs of lanes, whatever the instruction set.
double Dot(const double* x, const double* y, int64_t n) {
  const hn::CappedTag<double, 2> d;
  static_assert(kSingularLanes == 8);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  alignas(16) double sums[8] = {};
  if (lanes == 2) {
    auto a = hn::Zero(d), b = hn::Zero(d), c = hn::Zero(d), e = hn::Zero(d);
    for (int64_t i = 0; i < n; i += 8) {
      a = functions::Fma(d, hn::LoadU(d, x + i), hn::LoadU(d, y + i), a);
      b = functions::Fma(d, hn::LoadU(d, x + i + 2), hn::LoadU(d, y + i + 2), b);
      c = functions::Fma(d, hn::LoadU(d, x + i + 4), hn::LoadU(d, y + i + 4), c);
      e = functions::Fma(d, hn::LoadU(d, x + i + 6), hn::LoadU(d, y + i + 6), e);
    }
    hn::StoreU(a, d, sums);
    hn::StoreU(b, d, sums + 2);
    hn::StoreU(c, d, sums + 4);
    hn::StoreU(e, d, sums + 6);
  } else {
    for (int64_t i = 0; i < n; i += 8) {
      for (int64_t k = 0; k < 8; k += lanes)
        hn::StoreU(
            functions::Fma(d, hn::LoadU(d, x + i + k), hn::LoadU(d, y + i + k), hn::LoadU(d, sums + k)), d,
            sums + k);
    }
  }
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

// Calls f(tag, i) for the vectors of n numbers; i is the index of a vector's first number.
template <class F>
HWY_INLINE void ForVectors(int64_t n, const F& f) {
  const hn::CappedTag<double, kSingularLanes> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < n; i += lanes) f(d, i);
}

void Rotate(double* x, double* y, double c, double s, int64_t n) {
  ForVectors(n, [&](auto d, int64_t i) HWY_ATTR {
    const auto cosine = hn::Set(d, c);
    const auto sine = hn::Set(d, s);
    const auto a = hn::LoadU(d, x + i);
    const auto b = hn::LoadU(d, y + i);
    hn::StoreU(hn::Sub(hn::Mul(cosine, a), hn::Mul(sine, b)), d, x + i);
    hn::StoreU(hn::Add(hn::Mul(sine, a), hn::Mul(cosine, b)), d, y + i);
  });
}
void Turn(double* real, double* imaginary, double by_real, double by_imaginary, int64_t n) {
  ForVectors(n, [&](auto d, int64_t i) HWY_ATTR {
    const auto c = hn::Set(d, by_real);
    const auto s = hn::Set(d, by_imaginary);
    const auto a = hn::LoadU(d, real + i);
    const auto b = hn::LoadU(d, imaginary + i);
    hn::StoreU(hn::Sub(hn::Mul(a, c), hn::Mul(b, s)), d, real + i);
    hn::StoreU(hn::Add(hn::Mul(a, s), hn::Mul(b, c)), d, imaginary + i);
  });
}
void Scale(double* x, double by, int64_t n) {
  ForVectors(n, [&](auto d, int64_t i)
                    HWY_ATTR { hn::StoreU(hn::Mul(hn::LoadU(d, x + i), hn::Set(d, by)), d, x + i); });
}
void Subtract(const double* x, double a, double* y, int64_t n) {
  ForVectors(n, [&](auto d, int64_t i) HWY_ATTR {
    hn::StoreU(hn::Sub(hn::LoadU(d, y + i), hn::Mul(hn::Set(d, a), hn::LoadU(d, x + i))), d, y + i);
  });
}

}  // namespace singular

SingularKernels SingularKernelsHere(Isa isa) {
  return {isa, singular::Dot, singular::Rotate, singular::Turn, singular::Scale, singular::Subtract};
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/float_environment.h"
#include "engine/buffer_ref.h"
#include "engine/isa_in_use.h"
#include "engine/isa_table.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr uint64_t kBytesTogether = uint64_t{64} << 20;
constexpr int kMostSweeps = 60;

int64_t Padded(int64_t n) { return (n + kSingularLanes - 1) / kSingularLanes * kSingularLanes; }

bool IsComplexDtype(aclDataType dtype) { return dtype == ACL_COMPLEX64 || dtype == ACL_COMPLEX128; }
bool IsWide(aclDataType dtype) { return dtype == ACL_DOUBLE || dtype == ACL_COMPLEX128; }

struct Parts {
  double real;
  double imaginary;
};

// Vectors as rows, each of its real parts and, of complex numbers, its imaginary parts.
struct Vectors {
  double* base;
  int64_t parts;
  int64_t pitch;

  double* Part(int64_t vector, int64_t part) const { return base + (vector * parts + part) * pitch; }
  double* Row(int64_t vector) const { return Part(vector, 0); }
  Parts At(int64_t vector, int64_t i) const {
    return {Part(vector, 0)[i], parts == 1 ? 0.0 : Part(vector, 1)[i]};
  }
};

class SingularRun {
 public:
  SingularRun(const SingularValuesJob& job, void* const* addresses) : job_(job), addresses_(addresses) {
    for (const int64_t length : job.batch) matrices_ *= length;
    is_turned_ = job.rows < job.columns;
    m_ = std::max(job.rows, job.columns);
    n_ = std::min(job.rows, job.columns);
    parts_ = IsComplexDtype(job.dtype) ? 2 : 1;
    vectors_ = job.gives_vectors && job.is_full ? m_ : n_;
    left_numbers_ = vectors_ * parts_ * Padded(m_);
    right_numbers_ = job.gives_vectors ? n_ * parts_ * Padded(n_) : 0;
    numbers_ = left_numbers_ + right_numbers_ + 2 * Padded(n_) + 2 * Padded(m_);
    const uint64_t bytes = static_cast<uint64_t>(numbers_) * sizeof(double);
    together_ = std::clamp<int64_t>(static_cast<int64_t>(kBytesTogether / std::max<uint64_t>(bytes, 1)), 1,
                                    std::max<int64_t>(matrices_, 1));
  }

  uint64_t Bytes() const { return static_cast<uint64_t>(together_ * numbers_) * sizeof(double); }

  void All(void* workspace) {
    memory_ = static_cast<double*>(workspace);
    for (int64_t first = 0; first < matrices_; first += together_) {
      const int64_t count = std::min(together_, matrices_ - first);
      const int threads_of_one = count == 1 ? job_.threads : 1;
      ForEachBlock(
          count, count == 1 ? 1 : job_.threads,
          [&](int64_t slot) {
            const DefaultFloatEnvironment environment;
            Decompose(slot, first + slot, threads_of_one);
          },
          BlockLength::kLong);
    }
  }

 private:
  Vectors LeftOf(int64_t slot) const { return {memory_ + slot * numbers_, parts_, Padded(m_)}; }
  Vectors RightOf(int64_t slot) const {
    return {memory_ + slot * numbers_ + left_numbers_, parts_, Padded(n_)};
  }
  double* SigmaOf(int64_t slot) const { return memory_ + slot * numbers_ + left_numbers_ + right_numbers_; }
  int64_t* OrderOf(int64_t slot) const { return reinterpret_cast<int64_t*>(SigmaOf(slot) + Padded(n_)); }
  // Memory for the squared length of each unit vector's component outside the span of the finished vectors.
  double* OutsideOf(int64_t slot) const { return SigmaOf(slot) + 2 * Padded(n_); }
  // The indices of the finished vectors, at most `vectors_`.
  int64_t* TakenOf(int64_t slot) const { return reinterpret_cast<int64_t*>(OutsideOf(slot) + Padded(m_)); }

  char* At(const LinalgOperand& operand, int64_t matrix) const {
    char* address = static_cast<char*>(addresses_[operand.argument]) + operand.offset;
    for (int dim = kLinalgBatchDims - 1; dim >= 0; --dim) {
      address += matrix % job_.batch[dim] * operand.batch[dim];
      matrix /= job_.batch[dim];
    }
    return address;
  }
  Parts Load(const char* from) const {
    if (IsWide(job_.dtype))
      return {engine::Load<double>(from), parts_ == 1 ? 0.0 : engine::Load<double>(from + sizeof(double))};
    return {static_cast<double>(engine::Load<float>(from)),
            parts_ == 1 ? 0.0 : static_cast<double>(engine::Load<float>(from + sizeof(float)))};
  }
  void Store(char* to, Parts number) const {
    if (IsWide(job_.dtype)) {
      engine::Store(to, number.real);
      if (parts_ == 2) engine::Store(to + sizeof(double), number.imaginary);
      return;
    }
    engine::Store(to, static_cast<float>(number.real));
    if (parts_ == 2) engine::Store(to + sizeof(float), static_cast<float>(number.imaginary));
  }

  void Decompose(int64_t slot, int64_t matrix, int threads) const {
    int exponent = 0;
    if (!Bring(slot, matrix, &exponent)) return StoreNothing(matrix);
    Orthogonalise(slot, threads);
    Order(slot);
    StoreSigma(slot, matrix, exponent);
    if (!job_.gives_vectors) return;
    Normalise(slot);
    StoreVectors(slot, matrix);
  }

  // Loads a matrix, of fewer rows than columns its conjugate transpose, and scales it by a power of two to
  // numbers of at most 1. Returns false if one is infinite or NaN.
  bool Bring(int64_t slot, int64_t matrix, int* exponent) const {
    const Vectors left = LeftOf(slot);
    std::fill_n(left.base, left_numbers_ + right_numbers_, 0.0);
    const char* const from = At(job_.matrix, matrix);
    double most = 0;
    bool is_finite = true;
    for (int64_t j = 0; j < n_; ++j) {
      for (int64_t i = 0; i < m_; ++i) {
        const int64_t row = is_turned_ ? j : i;
        const int64_t column = is_turned_ ? i : j;
        const Parts number = Load(from + row * job_.matrix.row + column * job_.matrix.column);
        left.Part(j, 0)[i] = number.real;
        if (parts_ == 2) left.Part(j, 1)[i] = is_turned_ ? -number.imaginary : number.imaginary;
        is_finite = is_finite && std::isfinite(number.real) && std::isfinite(number.imaginary);
        most = std::max({most, std::fabs(number.real), std::fabs(number.imaginary)});
      }
    }
    if (!is_finite) return false;
    if (most > 0) std::frexp(most, exponent);
    // In two steps: the reciprocal of a denormal number may be infinite.
    const int half = *exponent / 2;
    for (int64_t row = 0; row < n_ * parts_; ++row) {
      job_.kernels.scale(left.base + row * left.pitch, std::ldexp(1.0, -half), left.pitch);
      job_.kernels.scale(left.base + row * left.pitch, std::ldexp(1.0, half - *exponent), left.pitch);
    }
    if (!job_.gives_vectors) return true;
    const Vectors right = RightOf(slot);
    for (int64_t j = 0; j < n_; ++j) right.Part(j, 0)[j] = 1;
    return true;
  }

  double SquareOf(Vectors vectors, int64_t i) const {
    const int64_t n = parts_ * vectors.pitch;
    return job_.kernels.dot(vectors.Row(i), vectors.Row(i), n);
  }
  // The product of two vectors, the first one conjugated.
  Parts ProductOf(Vectors vectors, int64_t i, int64_t j) const {
    const auto dot = [&](int64_t a, int64_t b) {
      return job_.kernels.dot(vectors.Part(i, a), vectors.Part(j, b), vectors.pitch);
    };
    if (parts_ == 1) return {dot(0, 0), 0.0};
    return {dot(0, 0) + dot(1, 1), dot(0, 1) - dot(1, 0)};
  }

  // Makes two columns orthogonal. Returns whether they were not.
  bool RotatePair(int64_t slot, int64_t p, int64_t q) const {
    const Vectors left = LeftOf(slot);
    const double a = SquareOf(left, p);
    const double b = SquareOf(left, q);
    const Parts product = ProductOf(left, p, q);
    const double size = parts_ == 1
                            ? std::fabs(product.real)
                            : std::sqrt(product.real * product.real + product.imaginary * product.imaginary);
    const double precision = IsWide(job_.dtype) ? 0x1p-52 : 0x1p-32;
    const double accepted = std::sqrt(static_cast<double>(m_)) * precision * std::sqrt(a) * std::sqrt(b);
    if (!(size > accepted)) return false;
    const double ratio = (b - a) / (2 * size);
    const double root = std::fabs(ratio) + std::sqrt(1 + ratio * ratio);
    const double tangent = ratio >= 0 ? 1 / root : -1 / root;
    const double cosine = 1 / std::sqrt(1 + tangent * tangent);
    // The sine is that of the second column turned to the first one's side.
    const Parts phase = {product.real / size, -product.imaginary / size};
    RotateColumns(left, p, q, cosine, cosine * tangent, phase);
    if (job_.gives_vectors) RotateColumns(RightOf(slot), p, q, cosine, cosine * tangent, phase);
    return true;
  }
  void RotateColumns(Vectors vectors, int64_t p, int64_t q, double cosine, double sine, Parts phase) const {
    if (parts_ == 2)
      job_.kernels.turn(vectors.Part(q, 0), vectors.Part(q, 1), phase.real, phase.imaginary, vectors.pitch);
    if (parts_ == 1 && phase.real < 0) job_.kernels.scale(vectors.Row(q), -1, vectors.pitch);
    job_.kernels.rotate(vectors.Row(p), vectors.Row(q), cosine, sine, parts_ * vectors.pitch);
  }

  // Rotates all pairs of columns in rounds of disjoint pairs, as a round-robin tournament does.
  void Orthogonalise(int64_t slot, int threads) const {
    const int64_t players = n_ + n_ % 2;
    for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
      std::atomic<bool> has_rotated{false};
      for (int64_t round = 0; round + 1 < players; ++round) {
        ForEachBlock(players / 2, threads, [&](int64_t pair) {
          const DefaultFloatEnvironment environment;
          const int64_t others = players - 1;
          const int64_t a = pair == 0 ? others : (round + pair) % others;
          const int64_t b = pair == 0 ? round : (round - pair + others) % others;
          if (std::max(a, b) >= n_) return;
          if (RotatePair(slot, std::min(a, b), std::max(a, b)))
            has_rotated.store(true, std::memory_order_relaxed);
        });
      }
      if (!has_rotated.load(std::memory_order_relaxed)) return;
    }
  }

  // Orders columns by their lengths, which are the singular values, from the greatest on.
  void Order(int64_t slot) const {
    double* const sigma = SigmaOf(slot);
    int64_t* const order = OrderOf(slot);
    for (int64_t j = 0; j < n_; ++j) {
      sigma[j] = std::sqrt(SquareOf(LeftOf(slot), j));
      order[j] = j;
    }
    std::sort(order, order + n_,
              [sigma](int64_t a, int64_t b) { return sigma[a] != sigma[b] ? sigma[a] > sigma[b] : a < b; });
  }

  // Normalises the columns. A column whose singular value is nearly zero, and a column that completes a square
  // matrix, is made from the unit vector with the largest component outside the span of the finished columns.
  void Normalise(int64_t slot) const {
    const Vectors left = LeftOf(slot);
    const double* const sigma = SigmaOf(slot);
    int64_t* const order = OrderOf(slot);
    double* const outside = OutsideOf(slot);
    int64_t* const taken = TakenOf(slot);
    const double least = n_ == 0 ? 0 : sigma[order[0]] * 0x1p-90;
    int64_t count = 0;
    std::fill_n(outside, m_, 1.0);
    for (int64_t j = 0; j < n_; ++j) {
      if (!(sigma[order[j]] > least)) continue;
      job_.kernels.scale(left.Row(order[j]), 1 / sigma[order[j]], parts_ * left.pitch);
      Take(slot, order[j], &count);
    }
    for (int64_t j = 0; j < vectors_; ++j) {
      if (j < n_ && sigma[order[j]] > least) continue;
      const int64_t index = j < n_ ? order[j] : j;
      std::fill_n(left.Row(index), parts_ * left.pitch, 0.0);
      left.Row(index)[std::max_element(outside, outside + m_) - outside] = 1;
      for (int pass = 0; pass < 2; ++pass) {
        for (int64_t i = 0; i < count; ++i) RemovePart(left, taken[i], index);
        job_.kernels.scale(left.Row(index), 1 / std::sqrt(SquareOf(left, index)), parts_ * left.pitch);
      }
      Take(slot, index, &count);
    }
  }
  void Take(int64_t slot, int64_t index, int64_t* count) const {
    const Vectors left = LeftOf(slot);
    double* const outside = OutsideOf(slot);
    TakenOf(slot)[(*count)++] = index;
    for (int64_t i = 0; i < m_; ++i) {
      const Parts number = left.At(index, i);
      outside[i] -= number.real * number.real + number.imaginary * number.imaginary;
    }
  }
  // Subtracts from a vector its part along another one, of length 1.
  void RemovePart(Vectors vectors, int64_t along, int64_t from) const {
    const Parts product = ProductOf(vectors, along, from);
    job_.kernels.subtract(vectors.Row(along), product.real, vectors.Row(from), parts_ * vectors.pitch);
    if (parts_ == 1) return;
    job_.kernels.subtract(vectors.Part(along, 1), -product.imaginary, vectors.Part(from, 0), vectors.pitch);
    job_.kernels.subtract(vectors.Part(along, 0), product.imaginary, vectors.Part(from, 1), vectors.pitch);
  }

  void StoreSigma(int64_t slot, int64_t matrix, int exponent) const {
    char* const to = At(job_.sigma, matrix);
    for (int64_t j = 0; j < n_; ++j)
      Store(to + j * job_.sigma.column, {std::ldexp(SigmaOf(slot)[OrderOf(slot)[j]], exponent), 0.0});
  }
  // v has conjugated columns, since the input is u diag(sigma) v^T.
  void StoreVectors(int64_t slot, int64_t matrix) const {
    const auto store = [&](const LinalgOperand& operand, bool is_left, bool conjugates) {
      char* const to = At(operand, matrix);
      const Vectors vectors = is_left ? LeftOf(slot) : RightOf(slot);
      const int64_t count = is_left ? vectors_ : n_;
      for (int64_t j = 0; j < count; ++j) {
        const int64_t index = j < n_ ? OrderOf(slot)[j] : j;
        for (int64_t i = 0; i < (is_left ? m_ : n_); ++i) {
          Parts number = vectors.At(index, i);
          if (conjugates) number.imaginary = -number.imaginary;
          Store(to + i * operand.row + j * operand.column, number);
        }
      }
    };
    store(job_.u, /*is_left=*/!is_turned_, /*conjugates=*/false);
    store(job_.v, /*is_left=*/is_turned_, /*conjugates=*/true);
  }

  void StoreNothing(int64_t matrix) const {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    const Parts none = {kNan, parts_ == 2 ? kNan : 0.0};
    for (int64_t j = 0; j < n_; ++j) Store(At(job_.sigma, matrix) + j * job_.sigma.column, {kNan, 0.0});
    if (!job_.gives_vectors) return;
    const auto store = [&](const LinalgOperand& operand, int64_t rows) {
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < (job_.is_full ? rows : n_); ++j)
          Store(At(operand, matrix) + i * operand.row + j * operand.column, none);
      }
    };
    store(job_.u, job_.rows);
    store(job_.v, job_.columns);
  }

  const SingularValuesJob& job_;
  void* const* addresses_;
  double* memory_ = nullptr;
  int64_t matrices_ = 1;
  bool is_turned_;
  int64_t m_;
  int64_t n_;
  int64_t parts_;
  int64_t vectors_;
  int64_t left_numbers_;
  int64_t right_numbers_;
  int64_t numbers_;
  int64_t together_;
};

}  // namespace

SingularKernels SingularKernelsOf(Isa isa) noexcept {
  static constexpr auto kKernels = PORTACL_ISA_TABLE(SingularKernelsHere);
  return kKernels.For(isa)(isa);
}

uint64_t SingularValuesJob::WorkspaceBytes() const noexcept { return SingularRun(*this, nullptr).Bytes(); }

void SingularValuesJob::Run(void* const* addresses, void* workspace) const noexcept {
  const DefaultFloatEnvironment environment;
  SingularRun(*this, addresses).All(workspace);
  ReportIsaThatRan(kernels.isa);
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
