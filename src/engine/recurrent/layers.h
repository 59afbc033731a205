// The layers and directions of a recurrent network, forward and backward. Matrix products cover all steps at
// once if possible; then the steps follow one after the other. A derived class defines a step for one row of
// the batch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/recurrent/recurrent_steps.h"

namespace portacl::engine::recurrent {

// The template parameter Cells defines kGates, the number of a cell's gates, and kSaved, the number of lists that a step saves to, and
//   LoadFurtherStates(cell), StoreFurtherStates(cell)  for states other than h
//   Step(b, gates, hidden, h, saved)  computes row b from the input's part of the gates, the hidden state's part, and h. It overwrites
//                                     h with the next h, and sets `saved` to the addresses of the values that it saves
template <class Cells>
class ForwardLayers : protected Steps {
 public:
  void All() {
    ReadLengths(lengths_);
    std::fill_n(zeros_, sizes.hidden, 0.0f);
    LoadSequence(network_.input, sizes.inputs, lengths_, input_, sizes.inputs);
    const float* from = input_;
    for (int64_t layer = 0; layer < sizes.layers; ++layer) {
      float* const to = layer + 1 < sizes.layers ? between_[layer % 2] : nullptr;
      for (int64_t direction = 0; direction < sizes.directions; ++direction) Cell(layer, direction, from, to);
      from = to;
    }
  }

 protected:
  ForwardLayers(const RecurrentForward& network, const JobContext& context, Parts& parts)
      : Steps(network, Cells::kSaved, context), forward_(network) {
    const int64_t rows = sizes.steps * sizes.batch;
    const int64_t gates = Cells::kGates * sizes.hidden;
    lengths_ = parts.Take<int64_t>(sizes.steps);
    input_ = parts.Take<float>(rows * sizes.inputs);
    for (float*& between : between_)
      between = parts.Take<float>(sizes.layers > 1 ? rows * sizes.Outputs() : 0);
    gates_ = parts.Take<float>(rows * gates);
    hidden_gates_ = parts.Take<float>(sizes.batch * gates);
    h_ = parts.Take<float>(sizes.batch * sizes.hidden);
    zeros_ = parts.Take<float>(sizes.hidden);
  }

 private:
  Cells& cells() { return static_cast<Cells&>(*this); }

  void Cell(int64_t layer, int64_t direction, const float* from, float* to) {
    const int64_t cell = layer * sizes.directions + direction;
    const int64_t width = sizes.InputsOf(layer);
    const int64_t gates = Cells::kGates * sizes.hidden;
    Matrix bias[2] = {};
    for (int i = 0; i < 2 && sizes.has_bias; ++i) {
      bias[i] = MatrixOf(Parameter(cell, 2 + i));
      bias[i].row = 0;
    }
    const Matrix* const input_bias = sizes.has_bias ? &bias[0] : nullptr;
    const Matrix* const hidden_bias = sizes.has_bias ? &bias[1] : nullptr;
    Multiply(Dense(from, width), Transposed(MatrixOf(Parameter(cell, 0))), Dense(gates_, gates),
             sizes.steps * sizes.batch, gates, width, input_bias,
             layer == 0 ? network_.input.dtype : ACL_FLOAT);
    LoadState(network_.h0, cell, h_);
    cells().LoadFurtherStates(cell);
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
    cells().StoreFurtherStates(cell);
  }

  // Computes one step of batch row b.
  void Row(int64_t cell, int64_t t, int64_t b) {
    const int64_t gates = Cells::kGates * sizes.hidden;
    const float* saved[Cells::kSaved];
    std::fill_n(saved, Cells::kSaved, zeros_);
    if (b < lengths_[t])
      cells().Step(b, gates_ + (t * sizes.batch + b) * gates, hidden_gates_ + b * gates,
                   h_ + b * sizes.hidden, saved);
    if (!forward_.saves) return;
    for (int k = 0; k < Cells::kSaved; ++k) Store(saved[k], Saved(cell, k), t, b, 0, sizes.hidden);
  }

  const RecurrentForward& forward_;
  int64_t* lengths_;
  float* input_;
  float* between_[2];
  float* gates_;
  float* hidden_gates_;
  float* h_;
  float* zeros_;
};

// The arguments of a backward step for one batch row.
struct BackwardStep {
  int64_t cell;
  int64_t t;
  int64_t b;
  int64_t before;          // the previous step of the direction; -1: none
  const float* h_before;   // h before the step
  const float* of_output;  // the gradient of output
  float* of_h;             // that of h, from the next step
  float* of_gates;         // the result: gradients of the gates before their functions
  float* of_hidden_gates;  // gradients of the hidden state's part of the gates
};

// The template parameter Cells defines kGates and kSaved as above, kSavedH, the index of h among the saved lists, and
//   kHiddenGatesDiffer  true if the gradient of the hidden state's part of the gates differs from that of the input's part. Then a step
//                       writes both, and of_h is added to the product of the hidden part; else of_h is overwritten
//   LoadFurtherStates(cell), StoreFurtherStates(cell)
//   Step(step)
template <class Cells>
class BackwardLayers : protected Steps {
 public:
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
        LoadSequence(network_.input, sizes.inputs, lengths_, input_, sizes.inputs);
      } else {
        for (int64_t d = 0; d < sizes.directions; ++d)
          LoadSequence(Saved((layer - 1) * sizes.directions + d, Cells::kSavedH), sizes.hidden, lengths_,
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

 protected:
  BackwardLayers(const RecurrentGradient& network, const JobContext& context, Parts& parts)
      : Steps(network, Cells::kSaved, context), backward_(network) {
    const int64_t rows = sizes.steps * sizes.batch;
    const int64_t width = std::max(sizes.inputs, sizes.Outputs());
    const int64_t gates = Cells::kGates * sizes.hidden;
    lengths_ = parts.Take<int64_t>(sizes.steps);
    input_ = parts.Take<float>(rows * width);
    for (float*& gradient : gradients_) gradient = parts.Take<float>(rows * width);
    gates_ = parts.Take<float>(rows * gates);
    hidden_gates_ = Cells::kHiddenGatesDiffer ? parts.Take<float>(rows * gates) : gates_;
    before_ = parts.Take<float>(rows * sizes.hidden);
    h_ = parts.Take<float>(sizes.batch * sizes.hidden);
    one_ = parts.Take<float>(1);
  }

  // Returns a state before a step: the previous step's saved one, or the initial one.
  const float* Previous(const RecurrentOperand& first, int which, int64_t cell, int64_t before, int64_t b,
                        float* copy) const {
    if (before >= 0) return Load(Saved(cell, which), before, b, sizes.hidden, copy);
    if (first.operand >= 0) return Load(first, cell, b, sizes.hidden, copy);
    std::fill_n(copy, sizes.hidden, 0.0f);
    return copy;
  }

 private:
  Cells& cells() { return static_cast<Cells&>(*this); }

  // Returns the step of batch row b that a direction does before step t, or -1.
  int64_t Before(int64_t direction, int64_t t, int64_t b) const {
    if (direction == 0) return t - 1;
    return t + 1 < sizes.steps && b < lengths_[t + 1] ? t + 1 : -1;
  }

  void Cell(int64_t layer, int64_t direction, const float* of_output, float* of_input) {
    const int64_t cell = layer * sizes.directions + direction;
    const int64_t n = sizes.hidden;
    const int64_t gates = Cells::kGates * n;
    const int64_t rows = sizes.steps * sizes.batch;
    LoadState(backward_.of_hy, cell, h_);
    cells().LoadFurtherStates(cell);
    const Matrix hidden_weights = MatrixOf(Parameter(cell, 1));
    const Matrix h = Dense(h_, n);
    for (int64_t step = sizes.steps - 1; step >= 0; --step) {
      const int64_t t = direction == 0 ? step : sizes.steps - 1 - step;
      ForRows(sizes.batch, gates, [&](int64_t b) {
        Row(cell, direction, t, b, of_output + (t * sizes.batch + b) * sizes.Outputs() + direction * n);
      });
      Multiply(Dense(hidden_gates_ + t * sizes.batch * gates, gates), hidden_weights, h, lengths_[t], n,
               gates, Cells::kHiddenGatesDiffer ? &h : nullptr);
    }
    StoreState(h_, backward_.of_h0, cell);
    cells().StoreFurtherStates(cell);
    const int64_t width = sizes.InputsOf(layer);
    const Matrix of_gates[2] = {Dense(gates_, gates), Dense(hidden_gates_, gates)};
    const auto gradient = [&](int64_t which) { return MatrixOf(GradientOf(cell, which)); };
    Multiply(Transposed(of_gates[0]), Dense(input_, width), gradient(0), gates, width, rows);
    Multiply(Transposed(of_gates[1]), Dense(before_, n), gradient(1), gates, n, rows);
    for (int64_t which = 2; which < sizes.parameters(); ++which)
      Multiply({one_, ACL_FLOAT, 0, 0}, of_gates[which - 2], gradient(which), 1, gates, rows);
    const Matrix to = Dense(of_input, width);
    Multiply(of_gates[0], MatrixOf(Parameter(cell, 0)), to, rows, width, gates,
             direction == 0 ? nullptr : &to);
  }

  // Computes one step of batch row b: the gradients of its gates before their functions, and of the states
  // before it.
  void Row(int64_t cell, int64_t direction, int64_t t, int64_t b, const float* of_output) {
    const int64_t n = sizes.hidden;
    const int64_t gates = Cells::kGates * n;
    const int64_t row = t * sizes.batch + b;
    float* const h_before = before_ + row * n;
    if (b >= lengths_[t]) {
      std::fill_n(gates_ + row * gates, gates, 0.0f);
      std::fill_n(hidden_gates_ + row * gates, gates, 0.0f);
      std::fill_n(h_before, n, 0.0f);
      return;
    }
    const int64_t before = Before(direction, t, b);
    std::copy_n(Previous(network_.h0, Cells::kSavedH, cell, before, b, h_before), n, h_before);
    cells().Step({cell, t, b, before, h_before, of_output, h_ + b * n, gates_ + row * gates,
                  hidden_gates_ + row * gates});
  }

  const RecurrentGradient& backward_;
  int64_t* lengths_;
  float* input_;         // of the layer
  float* gradients_[2];  // of a layer's output and of its input
  float* gates_;         // gradients of the gates
  float* hidden_gates_;
  float* before_;  // h before every step
  float* h_;       // the gradient of h, passed from step to step
  float* one_;
};

// The workspace in bytes of layers of this kind, and their run.
template <class Layers, class Job>
uint64_t WorkspaceBytesOf(const Job& job) {
  Parts parts(nullptr);
  const Layers layers(job, {}, parts);
  return parts.bytes();
}
template <class Layers, class Job>
void RunLayers(const Job& job, const JobContext& context) {
  const DefaultFloatEnvironment environment;
  Parts parts(context.workspace);
  Layers(job, context, parts).All();
}

}  // namespace portacl::engine::recurrent
