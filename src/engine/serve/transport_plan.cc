// Sinkhorn's iteration (see transport_plan.h). One thread sums a row or a column, in order, so bits do not depend on the
// number of threads.
// SPDX-License-Identifier: Apache-2.0
#include "engine/serve/transport_plan.h"

#include <algorithm>
#include <cmath>

#include "base/float_environment.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int64_t kTile = 512;  // numbers at a time, a multiple of vectors
constexpr double kLeast = 1e-8;
constexpr double kFirstDifference = 1e9;  // before the first round, as CANN counts

float* FloatsAt(const BufferRef& buffer, const JobContext& context) {
  return reinterpret_cast<float*>(buffer.Address(context));
}

class Iteration {
 public:
  Iteration(const PlanTransport& plan, const JobContext& context)
      : plan_(plan),
        context_(context),
        powers_(FloatsAt(plan.powers, context)),
        of_rows_(FloatsAt(plan.of_rows, context)),
        of_columns_(FloatsAt(plan.of_columns, context)),
        differences_(reinterpret_cast<double*>(plan.differences.Address(context))) {}

  void All() {
    const DefaultFloatEnvironment environment;  // of the sum of differences
    TakePowers();
    std::fill_n(of_rows_, plan_.rows, 1.0f);
    std::fill_n(of_columns_, plan_.columns, 1.0f);
    double difference = kFirstDifference;
    for (int round = 0; round < PlanTransport::kMostRounds && difference > plan_.tolerance; ++round) {
      BalanceRows();
      BalanceColumns();
      double sum = 0;
      for (int64_t column = 0; column < plan_.columns; ++column) sum += differences_[column];
      difference = sum / static_cast<double>(plan_.columns);
    }
    PutPlan();
  }

 private:
  // Calls f(row) for each row, in parallel.
  template <class F>
  void ForRows(const F& f) const {
    const int64_t together = std::max<int64_t>(1, (int64_t{1} << 14) / plan_.columns);
    ForEachBlock((plan_.rows + together - 1) / together, plan_.threads, [&](int64_t block) {
      const DefaultFloatEnvironment environment;
      const int64_t end = std::min(plan_.rows, (block + 1) * together);
      for (int64_t row = block * together; row < end; ++row) f(row);
    });
  }

  void TakePowers() const {
    ForRows([&](int64_t row) {
      float tile[kTile] = {};
      for (int64_t column = 0; column < plan_.columns; column += kTile) {
        const int64_t n = std::min(kTile, plan_.columns - column);
        const int64_t at = row * plan_.columns + column;
        plan_.cost.load(plan_.cost.buffer.Address(context_) + at * plan_.cost.size, tile,
                        static_cast<size_t>(n));
        plan_.exponentials(tile, 0, tile, n);
        std::copy_n(tile, n, powers_ + at);
      }
    });
  }

  void BalanceRows() const {
    ForRows([&](int64_t row) {
      const float* const of_row = powers_ + row * plan_.columns;
      double sum = 0;
      for (int64_t column = 0; column < plan_.columns; ++column)
        sum += static_cast<double>(of_columns_[column]) * static_cast<double>(of_row[column]);
      of_rows_[row] = static_cast<float>(1.0 / (static_cast<double>(plan_.rows) * (sum + kLeast)));
    });
  }

  void BalanceColumns() const {
    ForEachBlock((plan_.columns + kTile - 1) / kTile, plan_.threads, [&](int64_t block) {
      const DefaultFloatEnvironment environment;
      const int64_t first = block * kTile;
      const int64_t n = std::min(kTile, plan_.columns - first);
      double sums[kTile] = {};
      for (int64_t row = 0; row < plan_.rows; ++row) {
        const float* const of_row = powers_ + row * plan_.columns + first;
        const auto factor = static_cast<double>(of_rows_[row]);
        for (int64_t k = 0; k < n; ++k) sums[k] += factor * static_cast<double>(of_row[k]);
      }
      for (int64_t k = 0; k < n; ++k) {
        const auto number =
            static_cast<float>(1.0 / (static_cast<double>(plan_.columns) * (sums[k] + kLeast)));
        differences_[first + k] =
            std::fabs(static_cast<double>(of_columns_[first + k]) - static_cast<double>(number));
        of_columns_[first + k] = number;
      }
    });
  }

  void PutPlan() const {
    ForRows([&](int64_t row) {
      float tile[kTile];
      for (int64_t column = 0; column < plan_.columns; column += kTile) {
        const int64_t n = std::min(kTile, plan_.columns - column);
        const int64_t at = row * plan_.columns + column;
        for (int64_t k = 0; k < n; ++k) tile[k] = of_columns_[column + k] * powers_[at + k] * of_rows_[row];
        plan_.to.store(tile, plan_.to.buffer.Address(context_) + at * plan_.to.size, static_cast<size_t>(n),
                       false);
      }
    });
  }

  const PlanTransport& plan_;
  const JobContext& context_;
  float* const powers_;
  float* const of_rows_;
  float* const of_columns_;
  double* const differences_;
};

}  // namespace

void PlanTransport::Run(const JobContext& context) const noexcept { Iteration(*this, context).All(); }

}  // namespace portacl::engine
