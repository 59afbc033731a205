// Quantises rows of activations, and computes gated rows and their gradients (see quantise.h). One thread computes a
// row, or a part of it.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "engine/quantise/coder.h"

namespace portacl::engine {
namespace {

using namespace quantise;

// Computes tiles of gated rows.
class Gate {
 public:
  using Form = GatedRows::Form;

  Gate(const GatedRows& job, const JobContext& context)
      : job_(job),
        source_(job.x, job.isa, context),
        weights_(job.weight_scale, job.isa, context, 2 * job.columns),
        activations_(job.activation_scale, job.isa, context, 1),
        before_(job.first_bias, job.isa, context, 2 * job.columns),
        behind_(job.bias, job.isa, context, 2 * job.columns),
        of_rows_(job.weight, job.isa, context, 1),
        functions_(FunctionsFor(job.isa)) {}

  void Bring(int64_t row, int64_t group, int64_t column, int64_t n, float* to) const {
    float other[kTileColumns];
    if (job_.form == Form::kClampedPairs) {
      float both[2 * kTileColumns];
      BringScaled(row, group, 2 * column, 2 * n, both);
      for (int64_t i = 0; i < n; ++i) {
        to[i] = both[2 * i];
        other[i] = both[2 * i + 1];
      }
    } else {
      const int64_t right = job_.columns + column;
      BringScaled(row, group, job_.activates_left ? column : right, n, to);
      BringScaled(row, group, job_.activates_left ? right : column, n, other);
    }
    const auto count = static_cast<size_t>(n);
    switch (job_.form) {
      case Form::kSilu:
        functions_.activate(to, 1.0f, count);
        break;
      case Form::kClampedPairs:
      case Form::kClampedHalves:
        AtMost(n, to);
        Within(n, other);
        functions_.activate(to, job_.alpha, count);
        functions_.add(other, &job_.shift, 1, count);
        break;
      case Form::kClampedSilu:
        functions_.activate(to, 1.0f, count);
        AtMost(n, to);
        Within(n, other);
        break;
    }
    functions_.multiply(to, other, count, count);
    if (!of_rows_.is_there()) return;
    const FactorRow::Numbers weight = of_rows_.Bring(row, group, 0, 1, other);
    functions_.multiply(to, weight.number, weight.count, count);
  }

 private:
  void AtMost(int64_t n, float* x) const {
    for (int64_t i = 0; i < n; ++i) x[i] = x[i] > job_.limit ? job_.limit : x[i];
  }
  void Within(int64_t n, float* x) const {
    for (int64_t i = 0; i < n; ++i)
      x[i] = x[i] > job_.limit ? job_.limit : x[i] < -job_.limit ? -job_.limit : x[i];
  }
  // Loads some of the 2 * columns numbers of a row, scaled.
  void BringScaled(int64_t row, int64_t group, int64_t column, int64_t n, float* to) const {
    float memory[2 * kTileColumns];
    const auto count = static_cast<size_t>(n);
    const int64_t at = row * 2 * job_.columns + column;
    if (before_.IsInteger() && source_.IsInteger()) {
      before_.AddTo(source_, at, row, group, column, n, to);
    } else {
      source_.Bring(at, n, to);
    }
    if (before_.is_there() && !before_.IsInteger()) {
      const FactorRow::Numbers term = before_.Bring(row, group, column, n, memory);
      functions_.add(to, term.number, term.count, count);
    }
    if (weights_.is_there()) {
      const FactorRow::Numbers factor = weights_.Bring(row, group, column, n, memory);
      functions_.multiply(to, factor.number, factor.count, count);
    }
    if (activations_.is_there()) {
      const FactorRow::Numbers factor = activations_.Bring(row, group, 0, 1, memory);
      functions_.multiply(to, factor.number, factor.count, count);
    }
    if (behind_.is_there()) {
      const FactorRow::Numbers term = behind_.Bring(row, group, column, n, memory);
      functions_.add(to, term.number, term.count, count);
    }
  }

  const GatedRows& job_;
  const View source_;
  const FactorRow weights_, activations_, before_, behind_, of_rows_;
  const TileFunctions functions_;
};

// Calls body(row, group) for rows of groups.
template <class Body>
void ForEachRowOfGroups(const QuantisedRows& job, const JobContext& context, const Body& body) {
  ForEachRows(job.rows, job.columns, job.threads, [&](int64_t from, int64_t until) {
    Groups groups(job.groups, context);
    for (int64_t row = from; row < until; ++row) {
      const int64_t group = groups.Of(row);
      if (group >= 0) body(row, group);
    }
  });
}

}  // namespace

void QuantiseGated::Run(const JobContext& context) const noexcept {
  const Gate gate(*this, context);
  QuantiseThrough(*this, quantiser[0], context,
                  [&](int64_t row, int64_t group, int64_t column, int64_t n, float* to) {
                    gate.Bring(row, group, column, n, to);
                  });
}

void SwigluRows::Run(const JobContext& context) const noexcept {
  const Gate gate(*this, context);
  const View target(to, isa, context);
  ForEachRowOfGroups(*this, context, [&](int64_t row, int64_t group) {
    ForEachTile(0, columns, [&](int64_t column, int64_t n) {
      float numbers[kTileColumns];
      gate.Bring(row, group, column, n, numbers);
      target.Put(row * columns + column, n, numbers);
    });
  });
}

void SwigluGradient::Run(const JobContext& context) const noexcept {
  const View source(x, isa, context);
  const View slopes(gradient, isa, context);
  const View weights(weight, isa, context);
  const View results(origin, isa, context);
  const View target(to, isa, context);
  const View of_weights(weight_gradient, isa, context);
  const TileFunctions functions = FunctionsFor(isa);
  ForEachRowOfGroups(*this, context, [&](int64_t row, int64_t) {
    const float factor = weights.is_there() ? weights.At(row) : 1.0f;
    double sum = 0;
    ForEachTile(0, columns, [&](int64_t column, int64_t n) {
      float a[kTileColumns];
      float b[kTileColumns];
      float slope[kTileColumns];
      float share[kTileColumns];
      const int64_t left = row * 2 * columns + column;
      const int64_t right = left + columns;
      source.Bring(activates_left ? left : right, n, a);
      source.Bring(activates_left ? right : left, n, b);
      slopes.Bring(row * columns + column, n, slope);
      if (of_weights.is_there()) {
        results.Bring(row * columns + column, n, share);
        for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(slope[i]) * static_cast<double>(share[i]);
      }
      if (weights.is_there()) functions.multiply(slope, &factor, 1, static_cast<size_t>(n));
      bool is_above[kTileColumns] = {};
      bool is_beyond[kTileColumns] = {};
      for (int64_t i = 0; is_limited && i < n; ++i) {
        is_above[i] = a[i] > limit;
        is_beyond[i] = std::fabs(b[i]) > limit;
        a[i] = is_above[i] ? limit : a[i];
        b[i] = b[i] > limit ? limit : b[i] < -limit ? -limit : b[i];
      }
      std::memcpy(share, a, sizeof share);
      functions.logistic(share, static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i) {
        const float s = share[i];
        const float of_a = slope[i] * b[i] * s * (1.0f + a[i] * (1.0f - s));
        const float of_b = slope[i] * (a[i] * s);
        a[i] = is_above[i] ? 0.0f : of_a;
        b[i] = is_beyond[i] ? 0.0f : of_b;
      }
      target.Put(activates_left ? left : right, n, a);
      target.Put(activates_left ? right : left, n, b);
    });
    if (!of_weights.is_there()) return;
    const auto rounded = static_cast<float>(sum);
    of_weights.Put(row, 1, &rounded);
  });
}

void QuantiseGelu::Run(const JobContext& context) const noexcept {
  const View source(x, isa, context);
  const TileFunctions functions = FunctionsFor(isa);
  QuantiseThrough(*this, quantiser[0], context,
                  [&](int64_t row, int64_t, int64_t column, int64_t n, float* to) {
                    source.Bring(row * columns + column, n, to);
                    functions.gelu(to, is_by_tanh, static_cast<size_t>(n));
                  });
}

}  // namespace portacl::engine
