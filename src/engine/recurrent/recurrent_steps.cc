// The building blocks of recurrent steps (see recurrent_steps.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/recurrent/recurrent_steps.h"

#include <cstring>
#include <iterator>

#include "engine/conversions.h"
#include "engine/gemm/gemm.h"
#include "engine/strided.h"

namespace portacl::engine::recurrent {
namespace {

constexpr int64_t kNumber = sizeof(float);
// Numbers that are gathered or scattered at a time.
constexpr int64_t kSome = 256;

}  // namespace

const float* Steps::Load(const RecurrentOperand& operand, int64_t first, int64_t second, int64_t count,
                         float* copy) const {
  const char* const from = At(operand, first, second);
  // Operands need not be aligned.
  const bool is_aligned = reinterpret_cast<uintptr_t>(from) % alignof(float) == 0;
  if (operand.dtype == ACL_FLOAT && is_aligned && (operand.stride[2] == kNumber || count <= 1))
    return reinterpret_cast<const float*>(from);
  LoadTo(operand, first, second, count, copy);
  return copy;
}

void Steps::LoadTo(const RecurrentOperand& operand, int64_t first, int64_t second, int64_t count,
                   float* to) const {
  const LoadFunction load = FindLoad(network_.isa, operand.dtype, ACL_FLOAT);
  const char* from = At(operand, first, second);
  const int32_t size = operand.dtype == ACL_FLOAT ? 4 : 2;
  if (operand.stride[2] == size) return load(from, to, static_cast<size_t>(count));
  alignas(64) char elements[kSome * kNumber];
  for (int64_t i = 0; i < count; i += kSome) {
    const int64_t some = std::min(kSome, count - i);
    Gather(from + i * operand.stride[2], operand.stride[2], size, elements, some);
    load(elements, to + i, static_cast<size_t>(some));
  }
}

void Steps::Store(const float* numbers, const RecurrentOperand& operand, int64_t first, int64_t second,
                  int64_t third, int64_t count) const {
  const StoreFunction store = FindStore(network_.isa, operand.dtype);
  char* const to = At(operand, first, second, third);
  const int32_t size = operand.dtype == ACL_FLOAT ? 4 : 2;
  if (operand.stride[2] == size) return store(numbers, to, static_cast<size_t>(count), false);
  alignas(64) char elements[kSome * kNumber];
  for (int64_t i = 0; i < count; i += kSome) {
    const int64_t some = std::min(kSome, count - i);
    store(numbers + i, elements, static_cast<size_t>(some), false);
    Scatter(elements, to + i * operand.stride[2], operand.stride[2], size, some);
  }
}

void Steps::Multiply(const Matrix& left, const Matrix& right, const Matrix& out, int64_t rows,
                     int64_t columns, int64_t depth, const Matrix* added, aclDataType left_dtype) const {
  if (rows == 0 || columns == 0) return;
  Gemm gemm{};
  std::fill(std::begin(gemm.batch), std::end(gemm.batch), int64_t{1});
  gemm.rows = rows;
  gemm.columns = columns;
  gemm.depth = depth;
  gemm.groups = 1;
  const auto operand = [](int8_t argument, const Matrix& matrix) {
    GemmOperand made{};
    made.argument = argument;
    made.dtype = matrix.dtype;
    made.row = matrix.row;
    made.column = matrix.column;
    return made;
  };
  gemm.left = operand(0, left);
  gemm.right = operand(1, right);
  gemm.out = operand(2, out);
  gemm.adds = added != nullptr;
  gemm.added = operand(3, added != nullptr ? *added : out);
  gemm.alpha = 1;
  gemm.beta = 1;
  gemm.are_halves = left_dtype != ACL_FLOAT && left_dtype == right.dtype;
  void* const addresses[] = {const_cast<void*>(left.base), const_cast<void*>(right.base),
                             const_cast<void*>(out.base),
                             const_cast<void*>(added != nullptr ? added->base : out.base)};
  GemmJob job = MakeGemmJob(gemm, network_.isa, network_.threads);
  job.shared_blocks = 0;  // they would need a workspace
  job.Run(addresses, nullptr);
}

void Steps::Apply(VectorFunction function, float* numbers, int64_t count) {
  const Scalars none;
  VectorWork work{};
  work.in[0] = numbers;
  work.step[0] = work.step[1] = sizeof(float);
  work.out = numbers;
  work.n = static_cast<size_t>(count);
  if (count > 0) function({ElementType::kF32}, &none, work);
}

void Steps::ReadLengths(int64_t* lengths) const {
  int64_t most = sizes.batch;
  for (int64_t t = 0; t < sizes.steps; ++t) {
    if (network_.lengths.operand >= 0) {
      int64_t length;
      std::memcpy(&length, At(network_.lengths, 0, 0, t), sizeof length);
      most = std::clamp<int64_t>(length, 0, most);
    }
    lengths[t] = most;
  }
}

void Steps::LoadState(const RecurrentOperand& from, int64_t cell, float* to) const {
  ForRows(sizes.batch, sizes.hidden, [&](int64_t b) {
    float* const row = to + b * sizes.hidden;
    if (from.operand < 0) {
      std::fill_n(row, sizes.hidden, 0.0f);
    } else {
      LoadTo(from, cell, b, sizes.hidden, row);
    }
  });
}

void Steps::StoreState(const float* from, const RecurrentOperand& to, int64_t cell) const {
  ForRows(sizes.batch, sizes.hidden,
          [&](int64_t b) { Store(from + b * sizes.hidden, to, cell, b, 0, sizes.hidden); });
}

void Steps::LoadSequence(const RecurrentOperand& from, int64_t width, const int64_t* lengths, float* to,
                         int64_t to_width) const {
  ForRows(sizes.steps * sizes.batch, width, [&](int64_t row) {
    const int64_t t = row / sizes.batch;
    const int64_t b = row % sizes.batch;
    if (b < lengths[t]) {
      LoadTo(from, t, b, width, to + row * to_width);
    } else {
      std::fill_n(to + row * to_width, width, 0.0f);
    }
  });
}

}  // namespace portacl::engine::recurrent
