// Alignments of sequences with shorter ones, as connectionist temporal classification counts them: the logarithm of what all of them weigh,
// and its gradient. Each is a step of a job (OpList::Compute), trivially copyable; its operands are dense. The targets of a sequence,
// with blanks around each, are its 2 n + 1 states.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"
#include "engine/buffer_ref.h"

namespace portacl::engine {

// What is compiled for each instruction set, of float or double.
template <class T>
struct AlignmentFunctions {
  // to[s] = log(exp(from[s]) + exp(from[s + step]) + exp(from[s + 2 * step] + open[s])) + emitted[s] for n states. There are two states
  // of -infinity beyond either end of `from`; `to` is another array.
  void (*move)(const T* from, int64_t step, const T* open, const T* emitted, T* to, int64_t n);
  void (*exponential)(T* values, int64_t n);
};

struct Alignments {
  BufferRef log_probability;  // steps x sequences x classes
  BufferRef target;           // INT64, those of all sequences
  BufferRef lengths;          // INT64, of each sequence its steps; then of each its targets
  BufferRef alpha;            // sequences x steps x states: written forwards, read backwards
  BufferRef loss;             // of each sequence: likewise
  BufferRef gradient;         // of each loss, read backwards
  BufferRef to;               // of each log-probability, written backwards
  BufferRef work;             // WorkOfSequence() numbers for each sequence
  int64_t steps, sequences, classes, states;
  int64_t targets;        // elements of `target`
  int64_t target_stride;  // from a sequence's targets to the next one's; 0 where they follow each other
  int64_t blank;
  bool zeroes;         // gradients of what has no alignment
  bool zeroes_losses;  // ... and its losses
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
