// The passes of connectionist temporal classification (see alignments.h).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/align/alignments.cc"
#include "base/foreach_target.h"

#include "engine/align/alignments.h"
#include "engine/functions/functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace align {

namespace hn = hwy::HWY_NAMESPACE;

// Calls f(tag, i, count) for the vectors of n elements. The vector at element i has `count` valid lanes.
template <class T, class F>
HWY_INLINE void ForVectors(int64_t n, const F& f) {
  const hn::CappedTag<T, 16> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < n; i += lanes) f(d, i, std::min(lanes, n - i));
}
template <class D, class T>
HWY_INLINE hn::Vec<D> LoadSome(D d, const T* from, int64_t count) {
  if (count == static_cast<int64_t>(hn::Lanes(d))) return hn::LoadU(d, from);
  T padded[16] = {};
  std::copy_n(from, count, padded);
  return hn::LoadU(d, padded);
}
template <class D, class V, class T>
HWY_INLINE void StoreSome(D d, V v, T* to, int64_t count) {
  if (count == static_cast<int64_t>(hn::Lanes(d))) return hn::StoreU(v, d, to);
  T padded[16];
  hn::StoreU(v, d, padded);
  std::copy_n(padded, count, to);
}

template <class T>
HWY_INLINE void MoveAll(const double* from, int64_t step, const double* open, const double* emitted,
                        double* to, int64_t n) {
  constexpr int64_t kTogether = 16;
  const hn::CappedTag<T, kTogether> d;
  for (int64_t first = 0; first < n; first += kTogether) {
    const int64_t count = std::min(kTogether, n - first);
    double base[kTogether];
    T away[3][kTogether] = {};
    for (int64_t k = 0; k < count; ++k) {
      const double* const at = from + first + k;
      const double skipping = at[2 * step] + open[first + k];
      const double most = std::max(std::max(at[0], at[step]), skipping);
      // Subtracts 0 if all three are -infinity, since subtracting the maximum would give NaN.
      base[k] = most == -std::numeric_limits<double>::infinity() ? 0 : most;
      away[0][k] = static_cast<T>(at[0] - base[k]);
      away[1][k] = static_cast<T>(at[step] - base[k]);
      away[2][k] = static_cast<T>(skipping - base[k]);
    }
    for (int64_t k = 0; k < kTogether; k += static_cast<int64_t>(hn::Lanes(d))) {
      const auto of = [&](int which) HWY_ATTR { return functions::Exp(d, hn::LoadU(d, away[which] + k)); };
      const auto sum = hn::Add(hn::Add(of(0), of(1)), of(2));
      hn::StoreU(functions::Log(d, sum), d, away[0] + k);
    }
    for (int64_t k = 0; k < count; ++k)
      to[first + k] = static_cast<double>(away[0][k]) + base[k] + emitted[first + k];
  }
}
template <class T>
HWY_INLINE void ExponentialOfAll(T* values, int64_t n) {
  ForVectors<T>(n, [&](auto d, int64_t i, int64_t count) HWY_ATTR {
    StoreSome(d, functions::Exp(d, LoadSome(d, values + i, count)), values + i, count);
  });
}

void MoveWithFloats(const double* from, int64_t step, const double* open, const double* emitted, double* to,
                    int64_t n) {
  MoveAll<float>(from, step, open, emitted, to, n);
}
void ExponentialOfFloats(float* values, int64_t n) { ExponentialOfAll(values, n); }
void MoveWithDoubles(const double* from, int64_t step, const double* open, const double* emitted, double* to,
                     int64_t n) {
  MoveAll<double>(from, step, open, emitted, to, n);
}
void ExponentialOfDoubles(double* values, int64_t n) { ExponentialOfAll(values, n); }

}  // namespace align
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "base/float_environment.h"
#include "engine/isa_table.h"
#include "engine/parallel.h"

namespace portacl::engine {

template <>
AlignmentFunctions<float> AlignmentFunctionsOf<float>(Isa isa) noexcept {
  return {PORTACL_ISA_TABLE(align::MoveWithFloats).For(isa),
          PORTACL_ISA_TABLE(align::ExponentialOfFloats).For(isa)};
}
template <>
AlignmentFunctions<double> AlignmentFunctionsOf<double>(Isa isa) noexcept {
  return {PORTACL_ISA_TABLE(align::MoveWithDoubles).For(isa),
          PORTACL_ISA_TABLE(align::ExponentialOfDoubles).For(isa)};
}

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

// A sequence: its states, and four arrays over them, with padding at both ends.
template <class T>
class Sequence {
 public:
  Sequence(const Alignments& job, const JobContext& context, int64_t which, int64_t work)
      : job_(job), log_probability_(job.log_probability.Address(context)), which_(which) {
    const char* const lengths = job.lengths.Address(context);
    const auto length = [&](int64_t i) { return Load<int64_t>(lengths + i * int64_t{sizeof(int64_t)}); };
    steps_ = std::clamp<int64_t>(length(which), 0, job.steps);
    const int64_t most = (job.states - 1) / 2;
    targets_ = std::clamp<int64_t>(length(job.sequences + which), 0, most);
    first_ = which * job.target_stride;
    for (int64_t i = 0; i < which && job.target_stride == 0; ++i)
      first_ += std::clamp<int64_t>(length(job.sequences + i), 0, most);
    target_ = job.target.Address(context);
    double* const arrays = reinterpret_cast<double*>(job.work.Address(context) + which * work);
    for (int k = 0; k < 4; ++k) {
      std::fill_n(arrays + k * job.Padded(), job.Padded(), kNone);
      array_[k] = arrays + k * job.Padded() + 2;
    }
    behind_ = arrays + 4 * job.Padded();
  }

  int64_t steps() const { return steps_; }
  int64_t states() const { return 2 * targets_ + 1; }
  double* array(int k) const { return array_[k]; }
  // Returns the memory after the arrays.
  double* behind() const { return behind_; }

  // Returns the class of a state, or -1 if the target is no class.
  int64_t LabelOf(int64_t state) const {
    if (state % 2 == 0) return job_.blank;
    const int64_t at = first_ + state / 2;
    if (at >= job_.targets) return -1;
    const int64_t label = Load<int64_t>(target_ + at * int64_t{sizeof(int64_t)});
    return label >= 0 && label < job_.classes ? label : -1;
  }
  const char* RowAt(int64_t step) const {
    return log_probability_ + (step * job_.sequences + which_) * job_.classes * int64_t{sizeof(T)};
  }
  // Loads the log-probability of each state's class at a step.
  void Emit(int64_t step, double* to) const {
    const char* const from = RowAt(step);
    for (int64_t s = 0; s < states(); ++s) {
      const int64_t label = LabelOf(s);
      to[s] = label < 0 ? kNone : static_cast<double>(Load<T>(from + label * int64_t{sizeof(T)}));
    }
  }
  // Sets to[s] to 0 if an alignment may pass from state s + step to s (for step 2: from s to s + step) without the blank between them, else
  // to -infinity. It may if both are targets and differ.
  void Open(int64_t step, double* to) const {
    for (int64_t s = 0; s < states(); ++s) {
      const int64_t other = s + step;
      const bool is_open = s % 2 == 1 && other > 0 && other < states() && LabelOf(s) != LabelOf(other);
      to[s] = is_open ? 0 : kNone;
    }
  }

 private:
  const Alignments& job_;
  const char* log_probability_;
  const char* target_;
  int64_t which_;
  int64_t first_ = 0;
  int64_t steps_;
  int64_t targets_;
  double* array_[4];
  double* behind_;
};

// Returns the log-probability of all alignments, which end in one of the last two states.
template <class T>
double EndOf(const AlignmentFunctions<T>& functions, const double* last, int64_t states) {
  // Sums two states by the kernel for three, the third of which is closed.
  alignas(64) double from[3 + 2] = {kNone, kNone, last[states - 1], kNone, kNone};
  if (states > 1) from[1] = last[states - 2];
  const double closed = kNone;
  const double emitted = 0;
  double sum;
  functions.move(from + 2, -1, &closed, &emitted, &sum, 1);
  return sum;
}

// Calls f(step, prefixes) for the steps of a sequence: the log-probabilities of all ways to each state. Returns that of all alignments.
template <class T, class F>
double ForEachPrefix(const Sequence<T>& sequence, const AlignmentFunctions<T>& functions, const F& f) {
  double* before = sequence.array(0);
  double* after = sequence.array(1);
  double* const emitted = sequence.array(2);
  double* const open = sequence.array(3);
  const int64_t n = sequence.states();
  sequence.Open(-2, open);
  for (int64_t step = 0; step < sequence.steps(); ++step) {
    sequence.Emit(step, emitted);
    if (step == 0) {
      std::copy_n(emitted, std::min<int64_t>(n, 2), after);
    } else {
      functions.move(before, -1, open, emitted, after, n);
    }
    std::swap(before, after);
    f(step, before);
  }
  if (sequence.steps() == 0) return n == 1 ? 0 : kNone;
  return EndOf(functions, before, n);
}

}  // namespace

template <class T>
void CountAlignments<T>::Run(const JobContext& context) const noexcept {
  ForEachBlock(
      sequences, threads,
      [&](int64_t which) {
        const DefaultFloatEnvironment environment;
        const Sequence<T> sequence(*this, context, which, WorkOfSequence());
        char* const kept = alpha.Address(context) + which * steps * states * int64_t{sizeof(T)};
        const auto state_at = [&](int64_t step, int64_t state) {
          return kept + (step * states + state) * int64_t{sizeof(T)};
        };
        const int64_t n = sequence.states();
        const double end = ForEachPrefix(sequence, functions, [&](int64_t step, const double* prefixes) {
          for (int64_t s = 0; s < states; ++s)
            Store(state_at(step, s), static_cast<T>(s < n ? prefixes[s] : kNone));
        });
        for (int64_t step = sequence.steps(); step < steps; ++step) {
          for (int64_t s = 0; s < states; ++s) Store(state_at(step, s), static_cast<T>(kNone));
        }
        const bool is_zero = zeroes_losses && end == kNone;
        Store(loss.Address(context) + which * int64_t{sizeof(T)}, static_cast<T>(is_zero ? 0 : 0 - end));
      },
      BlockLength::kLong);
}

template <class T>
void CountAlignmentsBackwards<T>::Run(const JobContext& context) const noexcept {
  ForEachBlock(
      sequences, threads,
      [&](int64_t which) {
        const DefaultFloatEnvironment environment;
        const Sequence<T> sequence(*this, context, which, WorkOfSequence());
        const auto number = [&](const BufferRef& buffer) {
          return Load<T>(buffer.Address(context) + which * int64_t{sizeof(T)});
        };
        const T factor = number(gradient);
        const int64_t n = sequence.states();
        double* const prefixes = sequence.behind();
        T* const row = reinterpret_cast<T*>(prefixes + RoundedUp(steps * states));
        T* const probability = row + RoundedUp(classes);
        const double end = ForEachPrefix(sequence, functions, [&](int64_t step, const double* of_step) {
          std::copy_n(of_step, n, prefixes + step * states);
        });
        const bool has_none = end == kNone || static_cast<double>(number(loss)) == -kNone;
        const bool is_nan = std::isnan(end) || std::isnan(number(loss));
        // Beyond the states that a sequence has, all arrays still are -infinity.
        double* behind = sequence.array(0);
        double* beta = sequence.array(1);
        std::fill_n(behind, n, kNone);
        std::fill_n(beta, n, kNone);
        double* const emitted = sequence.array(2);
        double* const open = sequence.array(3);
        sequence.Open(2, open);
        for (int64_t step = steps - 1; step >= 0; --step) {
          const bool is_left_out = step >= sequence.steps() || (zeroes && has_none);
          std::fill_n(row, classes, T{0});
          if (!is_left_out) {
            sequence.Emit(step, emitted);
            if (step + 1 == sequence.steps()) {
              const int64_t last = std::max<int64_t>(0, n - 2);
              std::copy_n(emitted + last, n - last, beta + last);
            } else {
              functions.move(behind, 1, open, emitted, beta, n);
            }
            std::swap(behind, beta);
            // The probability that an alignment passes through a state, relative to that of all alignments.
            const double* const alpha_at = prefixes + step * states;
            for (int64_t s = 0; s < n; ++s)
              probability[s] = static_cast<T>(alpha_at[s] + behind[s] - emitted[s] - end);
            functions.exponential(probability, n);
            std::memcpy(row, sequence.RowAt(step), static_cast<size_t>(classes) * sizeof(T));
            functions.exponential(row, classes);
            for (int64_t s = 0; s < n; ++s) {
              const int64_t label = sequence.LabelOf(s);
              // A state whose class has no probability contributes nothing.
              if (label >= 0 && emitted[s] != kNone) row[label] -= probability[s];
            }
            const char* const given = sequence.RowAt(step);
            for (int64_t c = 0; c < classes; ++c) {
              // PyTorch's formula gives NaN for a class without probability, for a sequence without alignment and for a
              // sequence whose loss is NaN.
              const T value = Load<T>(given + c * int64_t{sizeof(T)});
              if (static_cast<double>(value) == kNone || has_none || is_nan)
                row[c] = std::numeric_limits<T>::quiet_NaN();
              row[c] *= factor;
            }
          }
          std::memcpy(to.Address(context) + (step * sequences + which) * classes * int64_t{sizeof(T)}, row,
                      static_cast<size_t>(classes) * sizeof(T));
        }
      },
      BlockLength::kLong);
}

template struct CountAlignments<float>;
template struct CountAlignments<double>;
template struct CountAlignmentsBackwards<float>;
template struct CountAlignmentsBackwards<double>;

}  // namespace portacl::engine

#endif  // HWY_ONCE
