// The passes of connectionist temporal classification (see alignments.h).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/align/alignments.cc"
#include <hwy/foreach_target.h>

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
HWY_INLINE void MoveAll(const T* from, int64_t step, const T* open, const T* emitted, T* to, int64_t n) {
  ForVectors<T>(n, [&](auto d, int64_t i, int64_t count) HWY_ATTR {
    const auto a = LoadSome(d, from + i, count);
    const auto b = LoadSome(d, from + i + step, count);
    const auto c = hn::Add(LoadSome(d, from + i + 2 * step, count), LoadSome(d, open + i, count));
    const auto most = hn::Max(hn::Max(a, b), c);
    // Subtracts 0 if all three are -infinity, since subtracting the maximum would give NaN.
    const auto least = hn::Set(d, -std::numeric_limits<T>::infinity());
    const auto base = hn::IfThenZeroElse(hn::Eq(most, least), most);
    const auto of = [&](auto x) HWY_ATTR { return functions::Exp(d, hn::Sub(x, base)); };
    const auto sum = hn::Add(hn::Add(of(a), of(b)), of(c));
    StoreSome(d, hn::Add(hn::Add(functions::Log(d, sum), base), LoadSome(d, emitted + i, count)), to + i,
              count);
  });
}
template <class T>
HWY_INLINE void ExponentialOfAll(T* values, int64_t n) {
  ForVectors<T>(n, [&](auto d, int64_t i, int64_t count) HWY_ATTR {
    StoreSome(d, functions::Exp(d, LoadSome(d, values + i, count)), values + i, count);
  });
}

void MoveFloats(const float* from, int64_t step, const float* open, const float* emitted, float* to,
                int64_t n) {
  MoveAll(from, step, open, emitted, to, n);
}
void ExponentialOfFloats(float* values, int64_t n) { ExponentialOfAll(values, n); }
void MoveDoubles(const double* from, int64_t step, const double* open, const double* emitted, double* to,
                 int64_t n) {
  MoveAll(from, step, open, emitted, to, n);
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
  return {PORTACL_ISA_TABLE(align::MoveFloats).For(isa),
          PORTACL_ISA_TABLE(align::ExponentialOfFloats).For(isa)};
}
template <>
AlignmentFunctions<double> AlignmentFunctionsOf<double>(Isa isa) noexcept {
  return {PORTACL_ISA_TABLE(align::MoveDoubles).For(isa),
          PORTACL_ISA_TABLE(align::ExponentialOfDoubles).For(isa)};
}

namespace {

template <class T>
constexpr T kNone = -std::numeric_limits<T>::infinity();

// A sequence: its states, and five arrays over them, with padding at both ends.
template <class T>
class Sequence {
 public:
  Sequence(const Alignments& job, const JobContext& context, int64_t which)
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
    T* const work = reinterpret_cast<T*>(job.work.Address(context)) + which * job.WorkOfSequence();
    for (int k = 0; k < 5; ++k) {
      std::fill_n(work + k * job.Padded(), job.Padded(), kNone<T>);
      array_[k] = work + k * job.Padded() + 2;
    }
    row_ = work + 5 * job.Padded();
  }

  int64_t steps() const { return steps_; }
  int64_t states() const { return 2 * targets_ + 1; }
  T* array(int k) const { return array_[k]; }
  T* row() const { return row_; }

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
  void Emit(int64_t step, T* to) const {
    const char* const from = RowAt(step);
    for (int64_t s = 0; s < states(); ++s) {
      const int64_t label = LabelOf(s);
      to[s] = label < 0 ? kNone<T> : Load<T>(from + label * int64_t{sizeof(T)});
    }
  }
  // Sets to[s] to 0 if an alignment may pass from state s + step to s (for step 2: from s to s + step) without the blank between them, else
  // to -infinity. It may if both are targets and differ.
  void Open(int64_t step, T* to) const {
    for (int64_t s = 0; s < states(); ++s) {
      const int64_t other = s + step;
      const bool is_open = s % 2 == 1 && other > 0 && other < states() && LabelOf(s) != LabelOf(other);
      to[s] = is_open ? T{0} : kNone<T>;
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
  T* array_[5];
  T* row_;
};

// Returns the log-probability of all alignments, which end in one of the last two states.
template <class T>
T EndOf(const AlignmentFunctions<T>& functions, const T* last, int64_t states) {
  // Sums two states by the kernel for three, the third of which is closed.
  alignas(64) T from[3 + 2] = {kNone<T>, kNone<T>, last[states - 1], kNone<T>, kNone<T>};
  if (states > 1) from[1] = last[states - 2];
  const T closed = kNone<T>;
  const T emitted = 0;
  T sum;
  functions.move(from + 2, -1, &closed, &emitted, &sum, 1);
  return sum;
}

}  // namespace

template <class T>
void CountAlignments<T>::Run(const JobContext& context) const noexcept {
  ForEachBlock(
      sequences, threads,
      [&](int64_t which) {
        const DefaultFloatEnvironment environment;
        const Sequence<T> sequence(*this, context, which);
        char* const kept = alpha.Address(context) + which * steps * states * int64_t{sizeof(T)};
        T* before = sequence.array(0);
        T* after = sequence.array(1);
        T* const emitted = sequence.array(2);
        T* const open = sequence.array(3);
        const auto n = sequence.states();
        sequence.Open(-2, open);
        for (int64_t step = 0; step < steps; ++step) {
          if (step < sequence.steps()) {
            sequence.Emit(step, emitted);
            if (step == 0) {
              std::copy_n(emitted, std::min<int64_t>(n, 2), after);
            } else {
              functions.move(before, -1, open, emitted, after, n);
            }
            std::swap(before, after);
          } else if (step == sequence.steps()) {
            std::fill_n(after, states, kNone<T>);
          }
          const T* const from = step < sequence.steps() ? before : after;
          std::memcpy(kept + step * states * int64_t{sizeof(T)}, from,
                      static_cast<size_t>(states) * sizeof(T));
        }
        T found = n == 1 ? T{0} : -kNone<T>;  // the loss of a sequence without steps
        if (sequence.steps() > 0) found = -EndOf(functions, before, n);
        if (zeroes_losses && found == -kNone<T>) found = 0;
        Store(loss.Address(context) + which * int64_t{sizeof(T)}, found);
      },
      BlockLength::kLong);
}

template <class T>
void CountAlignmentsBackwards<T>::Run(const JobContext& context) const noexcept {
  ForEachBlock(
      sequences, threads,
      [&](int64_t which) {
        const DefaultFloatEnvironment environment;
        const Sequence<T> sequence(*this, context, which);
        const char* const kept = alpha.Address(context) + which * steps * states * int64_t{sizeof(T)};
        const auto number = [&](const BufferRef& place) {
          return Load<T>(place.Address(context) + which * int64_t{sizeof(T)});
        };
        const T found = number(loss);
        const T factor = number(gradient);
        T* behind = sequence.array(0);
        T* beta = sequence.array(1);
        T* const emitted = sequence.array(2);
        T* const open = sequence.array(3);
        T* const share = sequence.array(4);
        T* const row = sequence.row();
        const auto n = sequence.states();
        const auto alpha_at = [&](int64_t step, T* into) {
          std::memcpy(into, kept + step * states * int64_t{sizeof(T)}, static_cast<size_t>(n) * sizeof(T));
        };
        bool has_none = found == -kNone<T>;
        if (sequence.steps() > 0) {
          alpha_at(sequence.steps() - 1, share);
          has_none = has_none || EndOf(functions, share, n) == kNone<T>;
        }
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
            alpha_at(step, share);
            // The probability that an alignment passes through a state, relative to that of all alignments.
            for (int64_t s = 0; s < n; ++s) {
              // The terms are large and cancel, so their sum is rounded only once.
              const auto wide = [](T x) { return static_cast<double>(x); };
              share[s] = static_cast<T>(wide(share[s]) + wide(behind[s]) - wide(emitted[s]) + wide(found));
            }
            functions.exponential(share, n);
            std::memcpy(row, sequence.RowAt(step), static_cast<size_t>(classes) * sizeof(T));
            functions.exponential(row, classes);
            for (int64_t s = 0; s < n; ++s) {
              const int64_t label = sequence.LabelOf(s);
              // A state whose class has no probability contributes nothing.
              if (label >= 0 && emitted[s] != kNone<T>) row[label] -= share[s];
            }
            const char* const given = sequence.RowAt(step);
            for (int64_t c = 0; c < classes; ++c) {
              // PyTorch's formula gives NaN for a class without probability and for a sequence without alignment.
              const T value = Load<T>(given + c * int64_t{sizeof(T)});
              if (value == kNone<T> || has_none) row[c] = std::numeric_limits<T>::quiet_NaN();
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
