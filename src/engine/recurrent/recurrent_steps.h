// The building blocks of recurrent steps: operands as dense rows of float32, matrix products, rowwise
// functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/float_environment.h"
#include "engine/parallel.h"
#include "engine/recurrent/network.h"

namespace portacl::engine::recurrent {

// A matrix in memory; strides in bytes.
struct Matrix {
  const void* base;
  aclDataType dtype;
  int64_t row;
  int64_t column;
};
inline Matrix Dense(const float* base, int64_t columns) {
  constexpr int64_t kNumber = sizeof(float);
  return {base, ACL_FLOAT, columns * kNumber, kNumber};
}
inline Matrix Transposed(const Matrix& matrix) {
  return {matrix.base, matrix.dtype, matrix.column, matrix.row};
}

// Hands out buffers of the workspace; without a workspace it only counts their size.
class Parts {
 public:
  explicit Parts(void* base) : base_(reinterpret_cast<uintptr_t>(base)) {}
  template <class T>
  T* Take(int64_t count) {
    constexpr uint64_t kCacheLine = 64;
    auto* const part = reinterpret_cast<T*>(base_ + bytes_);
    bytes_ += (static_cast<uint64_t>(count) * sizeof(T) + kCacheLine - 1) / kCacheLine * kCacheLine;
    return part;
  }
  uint64_t bytes() const { return bytes_; }

 private:
  uintptr_t base_;
  uint64_t bytes_ = 0;
};

class Steps {
 protected:
  // `saved` is the number of lists that a step saves to.
  Steps(const Recurrent& network, int saved, const JobContext& context)
      : network_(network), sizes(network.sizes), saved_(saved), context_(context) {}

  const RecurrentOperand& Parameter(int64_t cell, int64_t which) const {
    return Operands()[cell * sizes.parameters() + which];
  }
  const RecurrentOperand& Saved(int64_t cell, int which) const {
    return Operands()[sizes.cells() * sizes.parameters() + cell * saved_ + which];
  }
  const RecurrentOperand& GradientOf(int64_t cell, int64_t which) const {
    return Operands()[sizes.cells() * (sizes.parameters() + saved_) + cell * sizes.parameters() + which];
  }
  Matrix MatrixOf(const RecurrentOperand& operand) const {
    return {At(operand), operand.dtype, operand.stride[1], operand.stride[2]};
  }

  // Returns a row's numbers: their own address if possible, else a copy in `copy`.
  const float* Load(const RecurrentOperand& operand, int64_t first, int64_t second, int64_t count,
                    float* copy) const;
  void LoadTo(const RecurrentOperand& operand, int64_t first, int64_t second, int64_t count, float* to) const;
  // Writes numbers from index `third` on.
  void Store(const float* numbers, const RecurrentOperand& operand, int64_t first, int64_t second,
             int64_t third, int64_t count) const;

  // out = left @ right, plus `added` if given. `left_dtype` is the dtype of the left operand's numbers, which
  // are stored as FLOAT.
  void Multiply(const Matrix& left, const Matrix& right, const Matrix& out, int64_t rows, int64_t columns,
                int64_t depth, const Matrix* added = nullptr, aclDataType left_dtype = ACL_FLOAT) const;

  // Calls body(row) for every row of `width` numbers.
  template <class Body>
  void ForRows(int64_t rows, int64_t width, const Body& body) const {
    constexpr int64_t kTogether = 4096;  // numbers that a thread takes at a time
    const int64_t together = std::max<int64_t>(1, kTogether / std::max<int64_t>(width, 1));
    ForEachBlock((rows + together - 1) / together, network_.threads, [&](int64_t block) {
      const DefaultFloatEnvironment environment;
      const int64_t end = std::min(rows, (block + 1) * together);
      for (int64_t row = block * together; row < end; ++row) body(row);
    });
  }

  // Applies a function in place.
  static void Apply(VectorFunction function, float* numbers, int64_t count);

  // Reads the batch size of each step, which never grows from step to step.
  void ReadLengths(int64_t* lengths) const;

  // Load and store a cell's initial and final state.
  void LoadState(const RecurrentOperand& from, int64_t cell, float* to) const;
  void StoreState(const float* from, const RecurrentOperand& to, int64_t cell) const;

  // Loads a sequence as dense rows of numbers, with 0 where a step does not cover a batch row.
  void LoadSequence(const RecurrentOperand& from, int64_t width, const int64_t* lengths, float* to,
                    int64_t to_width) const;

  const Recurrent& network_;
  const RecurrentSizes& sizes;  // NOLINT(readability-identifier-naming): as that of the job

 private:
  const RecurrentOperand* Operands() const {
    return reinterpret_cast<const RecurrentOperand*>(context_.memory);
  }
  char* At(const RecurrentOperand& operand, int64_t first = 0, int64_t second = 0, int64_t third = 0) const {
    return static_cast<char*>(context_.addresses[operand.operand]) + operand.offset +
           first * operand.stride[0] + second * operand.stride[1] + third * operand.stride[2];
  }

  const int saved_;
  const JobContext& context_;
};

}  // namespace portacl::engine::recurrent
