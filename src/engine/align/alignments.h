// The forward and backward passes of connectionist temporal classification (CTC): the negative logarithm of the probability of a
// sequence's targets, summed over all alignments with its steps, and its gradient. Each pass is a listed op (OpList::Compute) and
// trivially copyable. Its operands are dense.
//
// A sequence of n targets has 2 n + 1 states: the targets, with a blank before, between and after them. The logarithms of states grow with the
// steps, and what matters is their differences: they are kept in double, and only functions of differences are computed in T.
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
  void (*move)(const double* from, int64_t step, const double* open, const double* emitted, double* to,
               int64_t n);
  // Replaces n values by their exponentials.
  void (*exponential)(T* values, int64_t n);
};

struct Alignments {
  BufferRef log_probability;  // steps x sequences x classes
  BufferRef target;           // INT64, of all sequences
  BufferRef lengths;          // INT64: the steps of each sequence, then the number of targets of each
  BufferRef alpha;            // sequences x steps x states; output forwards
  BufferRef loss;             // of each sequence; output forwards, input backwards
  BufferRef gradient;         // of each loss; input backwards
  BufferRef to;               // of each log-probability; output backwards
  BufferRef work;             // WorkOfSequence() bytes for each sequence
  int64_t steps, sequences, classes, states;
  int64_t targets;        // elements of `target`
  int64_t target_stride;  // between the targets of two sequences; 0 if they are concatenated
  int64_t blank;
  bool zeroes;         // the gradients of sequences without an alignment are 0
  bool zeroes_losses;  // the losses of such sequences are 0
  int threads;

  static int64_t RoundedUp(int64_t elements) noexcept { return (elements + 15) / 16 * 16; }
  // The elements of an array over the states, with padding at both ends.
  int64_t Padded() const noexcept { return RoundedUp(states + 4); }
};

template <class T>
struct CountAlignments : Alignments {
  AlignmentFunctions<T> functions;
  int64_t WorkOfSequence() const noexcept { return 4 * Padded() * int64_t{sizeof(double)}; }
  void Run(const JobContext& context) const noexcept;
};
// Counts the prefixes anew: those of `alpha`, rounded to T, would be too far off in long sequences.
template <class T>
struct CountAlignmentsBackwards : Alignments {
  AlignmentFunctions<T> functions;
  // Four arrays over the states, the prefixes of all steps, and a row of classes and one of states.
  int64_t WorkOfSequence() const noexcept {
    return (4 * Padded() + RoundedUp(steps * states)) * int64_t{sizeof(double)} +
           (RoundedUp(classes) + RoundedUp(states)) * int64_t{sizeof(T)};
  }
  void Run(const JobContext& context) const noexcept;
};

template <class T>
AlignmentFunctions<T> AlignmentFunctionsOf(Isa isa) noexcept;

}  // namespace portacl::engine
