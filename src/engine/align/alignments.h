// The forward and backward passes of connectionist temporal classification (CTC): the negative logarithm of the probability of a
// sequence's targets, summed over all alignments with its steps, and its gradient. Each pass is a listed op (OpList::Compute) and
// trivially copyable. Its operands are dense.
//
// A sequence of n targets has 2 n + 1 states: the targets, with a blank before, between and after them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"
#include "engine/buffer_ref.h"

namespace portacl::engine {

// The kernels of both passes, one table for each instruction set and for float and double.
template <class T>
struct AlignmentFunctions {
  // Computes one step of the recursion, for n states:
  // to[s] = log(exp(from[s]) + exp(from[s + step]) + exp(from[s + 2 * step] + open[s])) + emitted[s]
  // `from` has two states of -infinity beyond either end. `to` does not overlap it.
  void (*move)(const T* from, int64_t step, const T* open, const T* emitted, T* to, int64_t n);
  // Replaces n values by their exponentials.
  void (*exponential)(T* values, int64_t n);
};

struct Alignments {
  BufferRef log_probability;  // steps x sequences x classes
  BufferRef target;           // INT64, of all sequences
  BufferRef lengths;          // INT64: the steps of each sequence, then the number of targets of each
  BufferRef alpha;            // sequences x steps x states; output forwards, input backwards
  BufferRef loss;             // of each sequence; likewise
  BufferRef gradient;         // of each loss; input backwards
  BufferRef to;               // of each log-probability; output backwards
  BufferRef work;             // WorkOfSequence() elements for each sequence
  int64_t steps, sequences, classes, states;
  int64_t targets;        // elements of `target`
  int64_t target_stride;  // between the targets of two sequences; 0 if they are concatenated
  int64_t blank;
  bool zeroes;         // the gradients of sequences without an alignment are 0
  bool zeroes_losses;  // the losses of such sequences are 0
  int threads;

  int64_t Padded() const noexcept { return (states + 4 + 15) / 16 * 16; }
  int64_t WorkOfSequence() const noexcept { return 5 * Padded() + (classes + 15) / 16 * 16; }
};

template <class T>
struct CountAlignments : Alignments {
  AlignmentFunctions<T> functions;
  void Run(const JobContext& context) const noexcept;
};
template <class T>
struct CountAlignmentsBackwards : Alignments {
  AlignmentFunctions<T> functions;
  void Run(const JobContext& context) const noexcept;
};

template <class T>
AlignmentFunctions<T> AlignmentFunctionsOf(Isa isa) noexcept;

}  // namespace portacl::engine
