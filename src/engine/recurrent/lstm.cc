// Long short-term memory over sequences (see lstm.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/recurrent/lstm.h"

#include <algorithm>
#include <cstring>

#include "acl/float_environment.h"
#include "engine/conversions.h"
#include "engine/gemm/gemm.h"
#include "engine/parallel.h"
#include "engine/strided.h"

namespace portacl::engine {
namespace {

constexpr int64_t kNumber = sizeof(float);
// Numbers that a thread takes at a time.
constexpr int64_t kTogether = 4096;

// A matrix in memory; strides in bytes.
struct Matrix {
  const void* base;
  aclDataType dtype;
  int64_t row;
  int64_t column;
};
Matrix Dense(const float* base, int64_t columns) { return {base, ACL_FLOAT, columns * kNumber, kNumber}; }
Matrix Transposed(const Matrix& matrix) { return {matrix.base, matrix.dtype, matrix.column, matrix.row}; }

// Hands out parts of the workspace; without one, counts what they take.
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
  Steps(const LstmBase& lstm, const JobContext& context)
      : lstm_(lstm), sizes(lstm.sizes), context_(context) {}

  const auto* Operands() const { return reinterpret_cast<const RecurrentOperand*>(context_.memory); }
  const RecurrentOperand& Parameter(int64_t cell, int64_t which) const {
    return Operands()[cell * sizes.parameters() + which];
  }
  const RecurrentOperand& Saved(int64_t cell, int which) const {
    return Operands()[sizes.cells() * sizes.parameters() + cell * kLstmSaved + which];
  }
  const RecurrentOperand& GradientOf(int64_t cell, int64_t which) const {
    return Operands()[sizes.cells() * (sizes.parameters() + kLstmSaved) + cell * sizes.parameters() + which];
  }

  char* At(const RecurrentOperand& operand, int64_t first = 0, int64_t second = 0, int64_t third = 0) const {
    return static_cast<char*>(context_.addresses[operand.operand]) + operand.offset +
           first * operand.stride[0] + second * operand.stride[1] + third * operand.stride[2];
  }
  Matrix MatrixOf(const RecurrentOperand& operand) const {
    return {At(operand), operand.dtype, operand.stride[1], operand.stride[2]};
  }

  // A row's numbers from `third` on: where they lie, or a copy in `copy`.
  const float* Load(const RecurrentOperand& operand, int64_t first, int64_t second, int64_t count,
                    float* copy) const {
    const char* const from = At(operand, first, second);
    if (operand.dtype == ACL_FLOAT && (operand.stride[2] == kNumber || count <= 1))
      return reinterpret_cast<const float*>(from);
    LoadTo(operand, first, second, count, copy);
    return copy;
  }
  void LoadTo(const RecurrentOperand& operand, int64_t first, int64_t second, int64_t count,
              float* to) const {
    const LoadFunction load = FindLoad(lstm_.isa, operand.dtype, ACL_FLOAT);
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
  void Store(const float* numbers, const RecurrentOperand& operand, int64_t first, int64_t second,
             int64_t third, int64_t count) const {
    const StoreFunction store = FindStore(lstm_.isa, operand.dtype);
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

  // out = left @ right, or that and what is added.
  void Multiply(const Matrix& left, const Matrix& right, const Matrix& out, int64_t rows, int64_t columns,
                int64_t depth, const Matrix* added = nullptr) const {
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
    void* const addresses[] = {const_cast<void*>(left.base), const_cast<void*>(right.base),
                               const_cast<void*>(out.base),
                               const_cast<void*>(added != nullptr ? added->base : out.base)};
    GemmJob job = MakeGemmJob(gemm, lstm_.isa, lstm_.threads);
    job.shared_blocks = 0;  // those would take a workspace
    job.Run(addresses, nullptr);
  }

  // body(row) for every row of `width` numbers.
  template <class Body>
  void ForRows(int64_t rows, int64_t width, const Body& body) const {
    const int64_t together = std::max<int64_t>(1, kTogether / std::max<int64_t>(width, 1));
    ForEachBlock((rows + together - 1) / together, lstm_.threads, [&](int64_t block) {
      const DefaultFloatEnvironment environment;
      const int64_t end = std::min(rows, (block + 1) * together);
      for (int64_t row = block * together; row < end; ++row) body(row);
    });
  }

  // In place.
  static void Apply(VectorFunction function, float* numbers, int64_t count) {
    const Scalars none;
    VectorWork work{};
    work.in[0] = numbers;
    work.step[0] = work.step[1] = sizeof(float);
    work.out = numbers;
    work.n = static_cast<size_t>(count);
    if (count > 0) function({ElementType::kF32}, &none, work);
  }

  // For how many of the batch each step is: not more than the one before.
  void ReadLengths(int64_t* lengths) const {
    int64_t most = sizes.batch;
    for (int64_t t = 0; t < sizes.steps; ++t) {
      if (lstm_.lengths.operand >= 0) {
        int64_t length;
        std::memcpy(&length, At(lstm_.lengths, 0, 0, t), sizeof length);
        most = std::clamp<int64_t>(length, 0, most);
      }
      lengths[t] = most;
    }
  }

  // A cell's state before the first step.
  void LoadState(const RecurrentOperand& from, int64_t cell, float* to) const {
    ForRows(sizes.batch, sizes.hidden, [&](int64_t b) {
      float* const row = to + b * sizes.hidden;
      if (from.operand < 0) {
        std::fill_n(row, sizes.hidden, 0.0f);
      } else {
        LoadTo(from, cell, b, sizes.hidden, row);
      }
    });
  }
  void StoreState(const float* from, const RecurrentOperand& to, int64_t cell) const {
    ForRows(sizes.batch, sizes.hidden,
            [&](int64_t b) { Store(from + b * sizes.hidden, to, cell, b, 0, sizes.hidden); });
  }

  // A sequence as dense rows of numbers; 0 where a step is not for one of the batch.
  void LoadSequence(const RecurrentOperand& from, int64_t width, const int64_t* lengths, float* to,
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

  static constexpr int64_t kSome = 256;
  const LstmBase& lstm_;
  const LstmSizes& sizes;  // NOLINT(readability-identifier-naming): as that of the job

 private:
  const JobContext& context_;
};

// ---- forward ----

class Forward : Steps {
 public:
  Forward(const Lstm& lstm, const JobContext& context, Parts& parts) : Steps(lstm, context), forward_(lstm) {
    const int64_t rows = sizes.steps * sizes.batch;
    lengths_ = parts.Take<int64_t>(sizes.steps);
    input_ = parts.Take<float>(rows * sizes.inputs);
    for (float*& between : between_)
      between = parts.Take<float>(sizes.layers > 1 ? rows * sizes.Outputs() : 0);
    gates_ = parts.Take<float>(rows * 4 * sizes.hidden);
    hidden_gates_ = parts.Take<float>(sizes.batch * 4 * sizes.hidden);
    h_ = parts.Take<float>(sizes.batch * sizes.hidden);
    c_ = parts.Take<float>(sizes.batch * sizes.hidden);
    zeros_ = parts.Take<float>(sizes.hidden);
  }

  void All() {
    ReadLengths(lengths_);
    std::fill_n(zeros_, sizes.hidden, 0.0f);
    LoadSequence(lstm_.input, sizes.inputs, lengths_, input_, sizes.inputs);
    const float* from = input_;
    for (int64_t layer = 0; layer < sizes.layers; ++layer) {
      float* const to = layer + 1 < sizes.layers ? between_[layer % 2] : nullptr;
      for (int64_t direction = 0; direction < sizes.directions; ++direction) Cell(layer, direction, from, to);
      from = to;
    }
  }

 private:
  void Cell(int64_t layer, int64_t direction, const float* from, float* to) {
    const int64_t cell = layer * sizes.directions + direction;
    const int64_t width = sizes.InputsOf(layer);
    const int64_t gates = 4 * sizes.hidden;
    Matrix bias[2] = {};
    for (int i = 0; i < 2 && sizes.has_bias; ++i) {
      bias[i] = MatrixOf(Parameter(cell, 2 + i));
      bias[i].row = 0;
    }
    const Matrix* const input_bias = sizes.has_bias ? &bias[0] : nullptr;
    const Matrix* const hidden_bias = sizes.has_bias ? &bias[1] : nullptr;
    Multiply(Dense(from, width), Transposed(MatrixOf(Parameter(cell, 0))), Dense(gates_, gates),
             sizes.steps * sizes.batch, gates, width, input_bias);
    LoadState(lstm_.h0, cell, h_);
    LoadState(lstm_.c0, cell, c_);
    const Matrix hidden_weights = Transposed(MatrixOf(Parameter(cell, 1)));
    for (int64_t step = 0; step < sizes.steps; ++step) {
      const int64_t t = direction == 0 ? step : sizes.steps - 1 - step;
      Multiply(Dense(h_, sizes.hidden), hidden_weights, Dense(hidden_gates_, gates), lengths_[t], gates,
               sizes.hidden, hidden_bias);
      ForRows(sizes.batch, gates, [&](int64_t b) {
        Row(cell, t, b);
        const float* const h = b < lengths_[t] ? h_ + b * sizes.hidden : zeros_;
        if (to != nullptr) {
          std::copy_n(h, sizes.hidden,
                      to + (t * sizes.batch + b) * sizes.Outputs() + direction * sizes.hidden);
        } else {
          Store(h, forward_.output, t, b, direction * sizes.hidden, sizes.hidden);
        }
      });
    }
    StoreState(h_, forward_.hy, cell);
    StoreState(c_, forward_.cy, cell);
  }

  // One step of one of the batch.
  void Row(int64_t cell, int64_t t, int64_t b) {
    const int64_t n = sizes.hidden;
    const bool is_active = b < lengths_[t];
    float* const i = gates_ + (t * sizes.batch + b) * 4 * n;
    float* const f = i + n;
    float* const g = f + n;
    float* const o = g + n;
    float* const h = h_ + b * n;
    float* const c = c_ + b * n;
    float* const hidden = hidden_gates_ + b * 4 * n;
    if (is_active) {
      for (int64_t k = 0; k < 4 * n; ++k) i[k] += hidden[k];
      Apply(lstm_.sigmoid, i, 2 * n);
      Apply(lstm_.tanh, g, n);
      Apply(lstm_.sigmoid, o, n);
      for (int64_t k = 0; k < n; ++k) c[k] = f[k] * c[k] + i[k] * g[k];
      std::copy_n(c, n, hidden);
      Apply(lstm_.tanh, hidden, n);
      for (int64_t k = 0; k < n; ++k) h[k] = o[k] * hidden[k];
    }
    if (!forward_.saves) return;
    const float* const saved[kLstmSaved] = {i, g, f, o, h, c, hidden};
    for (int k = 0; k < kLstmSaved; ++k) Store(is_active ? saved[k] : zeros_, Saved(cell, k), t, b, 0, n);
  }

  const Lstm& forward_;
  int64_t* lengths_;
  float* input_;
  float* between_[2];
  float* gates_;
  float* hidden_gates_;
  float* h_;
  float* c_;
  float* zeros_;
};

// ---- backward ----

class Backward : Steps {
 public:
  Backward(const LstmGradient& lstm, const JobContext& context, Parts& parts)
      : Steps(lstm, context), backward_(lstm) {
    const int64_t rows = sizes.steps * sizes.batch;
    const int64_t width = std::max(sizes.inputs, sizes.Outputs());
    lengths_ = parts.Take<int64_t>(sizes.steps);
    input_ = parts.Take<float>(rows * width);
    for (float*& gradient : gradients_) gradient = parts.Take<float>(rows * width);
    gates_ = parts.Take<float>(rows * 4 * sizes.hidden);
    before_ = parts.Take<float>(rows * sizes.hidden);
    h_ = parts.Take<float>(sizes.batch * sizes.hidden);
    c_ = parts.Take<float>(sizes.batch * sizes.hidden);
    copies_ = parts.Take<float>(sizes.batch * kCopies * sizes.hidden);
    one_ = parts.Take<float>(1);
  }

  void All() {
    ReadLengths(lengths_);
    *one_ = 1;
    const int64_t rows = sizes.steps * sizes.batch;
    float* of_output = gradients_[0];
    float* of_input = gradients_[1];
    if (backward_.of_output.operand < 0) {
      std::fill_n(of_output, rows * sizes.Outputs(), 0.0f);
    } else {
      LoadSequence(backward_.of_output, sizes.Outputs(), lengths_, of_output, sizes.Outputs());
    }
    for (int64_t layer = sizes.layers - 1; layer >= 0; --layer) {
      if (layer == 0) {
        LoadSequence(lstm_.input, sizes.inputs, lengths_, input_, sizes.inputs);
      } else {
        for (int64_t d = 0; d < sizes.directions; ++d)
          LoadSequence(Saved((layer - 1) * sizes.directions + d, kSavedH), sizes.hidden, lengths_,
                       input_ + d * sizes.hidden, sizes.Outputs());
      }
      for (int64_t direction = 0; direction < sizes.directions; ++direction)
        Cell(layer, direction, of_output, of_input);
      std::swap(of_output, of_input);
    }
    ForRows(rows, sizes.inputs, [&](int64_t row) {
      Store(of_output + row * sizes.inputs, backward_.of_input, row / sizes.batch, row % sizes.batch, 0,
            sizes.inputs);
    });
  }

 private:
  static constexpr int64_t kCopies = 7;

  // The step that a direction does before step t of one of the batch; -1: none.
  int64_t Before(int64_t direction, int64_t t, int64_t b) const {
    if (direction == 0) return t - 1;
    return t + 1 < sizes.steps && b < lengths_[t + 1] ? t + 1 : -1;
  }

  void Cell(int64_t layer, int64_t direction, const float* of_output, float* of_input) {
    const int64_t cell = layer * sizes.directions + direction;
    const int64_t n = sizes.hidden;
    const int64_t gates = 4 * n;
    const int64_t rows = sizes.steps * sizes.batch;
    LoadState(backward_.of_hy, cell, h_);
    LoadState(backward_.of_cy, cell, c_);
    const Matrix hidden_weights = MatrixOf(Parameter(cell, 1));
    for (int64_t step = sizes.steps - 1; step >= 0; --step) {
      const int64_t t = direction == 0 ? step : sizes.steps - 1 - step;
      ForRows(sizes.batch, gates, [&](int64_t b) {
        Row(cell, direction, t, b, of_output + (t * sizes.batch + b) * sizes.Outputs() + direction * n);
      });
      Multiply(Dense(gates_ + t * sizes.batch * gates, gates), hidden_weights, Dense(h_, n), lengths_[t], n,
               gates);
    }
    StoreState(h_, backward_.of_h0, cell);
    StoreState(c_, backward_.of_c0, cell);
    const int64_t width = sizes.InputsOf(layer);
    const Matrix all_gates = Dense(gates_, gates);
    const auto gradient = [&](int64_t which) { return MatrixOf(GradientOf(cell, which)); };
    Multiply(Transposed(all_gates), Dense(input_, width), gradient(0), gates, width, rows);
    Multiply(Transposed(all_gates), Dense(before_, n), gradient(1), gates, n, rows);
    for (int64_t which = 2; which < sizes.parameters(); ++which)
      Multiply({one_, ACL_FLOAT, 0, 0}, all_gates, gradient(which), 1, gates, rows);
    const Matrix to = Dense(of_input, width);
    Multiply(all_gates, MatrixOf(Parameter(cell, 0)), to, rows, width, gates, direction == 0 ? nullptr : &to);
  }

  // One step of one of the batch: the gradients of its gates before their functions, and of the states before it.
  void Row(int64_t cell, int64_t direction, int64_t t, int64_t b, const float* of_output) {
    const int64_t n = sizes.hidden;
    float* const of_i = gates_ + (t * sizes.batch + b) * 4 * n;
    float* const h_before = before_ + (t * sizes.batch + b) * n;
    if (b >= lengths_[t]) {
      std::fill_n(of_i, 4 * n, 0.0f);
      std::fill_n(h_before, n, 0.0f);
      return;
    }
    float* const copies = copies_ + b * kCopies * n;
    const auto saved = [&](int which) { return Load(Saved(cell, which), t, b, n, copies + which * n); };
    const float* const i = saved(kSavedI);
    const float* const g = saved(kSavedG);
    const float* const f = saved(kSavedF);
    const float* const o = saved(kSavedO);
    const float* const tanh_c = saved(kSavedTanhC);
    const float* const c =
        Previous(lstm_.c0, kSavedC, cell, Before(direction, t, b), b, copies + kSavedC * n);
    std::copy_n(Previous(lstm_.h0, kSavedH, cell, Before(direction, t, b), b, h_before), n, h_before);
    float* const of_f = of_i + n;
    float* const of_g = of_f + n;
    float* const of_o = of_g + n;
    const float* const of_h = h_ + b * n;
    float* const of_c = c_ + b * n;
    for (int64_t k = 0; k < n; ++k) {
      const float from_h = of_output[k] + of_h[k];
      const float from_c = of_c[k] + from_h * o[k] * (1 - tanh_c[k] * tanh_c[k]);
      of_i[k] = from_c * g[k] * (i[k] * (1 - i[k]));
      of_f[k] = from_c * c[k] * (f[k] * (1 - f[k]));
      of_g[k] = from_c * i[k] * (1 - g[k] * g[k]);
      of_o[k] = from_h * tanh_c[k] * (o[k] * (1 - o[k]));
      of_c[k] = from_c * f[k];
    }
  }

  const float* Previous(const RecurrentOperand& first, int which, int64_t cell, int64_t before, int64_t b,
                        float* copy) const {
    if (before >= 0) return Load(Saved(cell, which), before, b, sizes.hidden, copy);
    if (first.operand >= 0) return Load(first, cell, b, sizes.hidden, copy);
    std::fill_n(copy, sizes.hidden, 0.0f);
    return copy;
  }

  const LstmGradient& backward_;
  int64_t* lengths_;
  float* input_;         // of the layer
  float* gradients_[2];  // of a layer's output and of its input
  float* gates_;         // their gradients
  float* before_;        // h before every step
  float* h_;             // gradients of what is handed from step to step
  float* c_;
  float* copies_;
  float* one_;
};

}  // namespace

uint64_t Lstm::WorkspaceBytes() const noexcept {
  Parts parts(nullptr);
  const Forward forward(*this, {}, parts);
  return parts.bytes();
}

void Lstm::Run(const JobContext& context) const noexcept {
  const DefaultFloatEnvironment environment;
  Parts parts(context.workspace);
  Forward(*this, context, parts).All();
}

uint64_t LstmGradient::WorkspaceBytes() const noexcept {
  Parts parts(nullptr);
  const Backward backward(*this, {}, parts);
  return parts.bytes();
}

void LstmGradient::Run(const JobContext& context) const noexcept {
  const DefaultFloatEnvironment environment;
  Parts parts(context.workspace);
  Backward(*this, context, parts).All();
}

}  // namespace portacl::engine
