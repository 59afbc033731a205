// Hyper-connections of residual streams: the input of a layer, the streams after it, and the doubly stochastic
// matrices that mix streams. Each is a listed op (OpList::Compute) with dense operands, trivially copyable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/serve/selected_keys.h"

namespace portacl::engine {

// With r = 1 / sqrt(mean(x * x) + norm_epsilon) over all streams of a token, and w = (x * gamma) phi^T * r in three
// parts: pre = sigmoid(w * alpha + bias) + epsilon, post = 2 * sigmoid(w * alpha + bias), residual = w * alpha +
// bias; in = the sum over streams of pre * x.
struct EnterConnections {
  NumberRows x;          // tokens x streams x columns
  BufferRef phi;         // FLOAT, parts x (streams * columns)
  BufferRef alpha;       // FLOAT, 2 or 3
  BufferRef bias;        // FLOAT, parts
  OptionalBuffer gamma;  // FLOAT, streams x columns
  NumberRows in;         // tokens x columns
  // FLOAT of each token: streams, streams x streams, 1, parts, streams.
  BufferRef post;
  OptionalBuffer residual, root, mix, pre;
  int64_t tokens, streams, columns, parts;
  double norm_epsilon;
  float epsilon;
  SelectedKeysFunctions functions;
  BufferRef work;  // WorkBytes
  int threads;

  int64_t Length() const noexcept { return (streams * columns + 15) / 16 * 16; }
  int64_t Blocks() const noexcept;
  // Numbers, their products with gamma, a row of phi, a sum of streams, and all parts.
  int64_t NumbersOfBlock() const noexcept { return 3 * Length() + (columns + parts + 31) / 16 * 16; }
  int64_t WorkBytes() const noexcept { return Blocks() * NumbersOfBlock() * int64_t{sizeof(float)}; }
  void Run(const JobContext& context) const noexcept;
};

// Stream j is post[j] * out + the sum over i of residual[i][j] * x[i].
struct LeaveConnections {
  NumberRows x, to;    // tokens x streams x columns
  NumberRows out;      // tokens x columns
  BufferRef residual;  // FLOAT, tokens x streams x streams
  BufferRef post;      // FLOAT, tokens x streams
  int64_t tokens, streams, columns;
  int threads;
  void Run(const JobContext& context) const noexcept;
};

// Makes matrices doubly stochastic: softmax of rows plus epsilon, columns divided by their sums plus epsilon, then
// `rounds` - 1 times rows and columns likewise.
struct BalanceMatrices {
  static constexpr int64_t kMostSide = 64;
  BufferRef x, to;  // FLOAT, count x side x side
  int64_t count, side, rounds;
  float epsilon;
  void (*exponential)(float* values, int64_t n);
  int threads;
  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
