// Quantises rows in memory, whose numbers become codes without a copy between (see quantise.h).
// SPDX-License-Identifier: Apache-2.0
#include <hwy/cache_control.h>

#include <algorithm>
#include <limits>

#include "engine/cache_size.h"
#include "engine/quantise/code_rows.h"
#include "engine/quantise/coder.h"
#include "engine/thread_memory.h"

namespace portacl::engine {
namespace {

using namespace quantise;

// Converts a row of factors to float32, and keeps it for following rows with the same factors.
class KeptRow {
 public:
  KeptRow(const FactorRow& factors, float* memory) : factors_(factors), memory_(memory) {}
  const float* Bring(int64_t row, int64_t group, int64_t column, int64_t n) {
    const int64_t which = factors_.Which(row, group);
    if (which != which_ || column != column_) factors_.Bring(row, group, column, n, memory_);
    which_ = which;
    column_ = column;
    return memory_;
  }

 private:
  const FactorRow& factors_;
  float* memory_;
  int64_t which_ = -1;
  int64_t column_ = -1;
};

// Quantises plain rows by the functions of code_rows.h.
class RowsToCodes {
 public:
  RowsToCodes(const QuantisePlain& job, const JobContext& context)
      : job_(job),
        q_(job.quantiser[0]),
        context_(context),
        functions_(FindCodeRows(job.isa, job.x.dtype, q_.dtype)),
        scale_(q_.scale, job.isa, context, job.columns),
        offset_(q_.offset, job.isa, context, job.columns),
        units_(job, q_),
        number_size_(static_cast<int64_t>(StorageBits(job.x.dtype) / 8)),
        code_bits_(static_cast<int64_t>(StorageBits(q_.dtype))),
        most_is_code_(q_.most <= GreatestNumber(q_.dtype)) {}

  // Tells whether there are functions for this job.
  bool Fit() const {
    const bool is_plain = !q_.squares_scale && !q_.multiplies_twice && !q_.passes_zero && !q_.half_before &&
                          q_.rounding == Rounding::kNearestEven && q_.kind != Quantiser::Kind::kNone &&
                          q_.kind != Quantiser::Kind::kReciprocal;
    const bool is_smoothed_by_column = !IsDynamic() || !scale_.is_there() || q_.scale.by_column;
    const bool is_whole = code_bits_ == 8 || (job_.columns % 2 == 0);
    return functions_.encode != nullptr && is_plain && is_smoothed_by_column && is_whole &&
           (!NeedsMemory() || units_.length <= kMostInRow);
  }

  // Returns false if the thread has no memory.
  bool Run(int64_t from, int64_t to) const {
    auto* const memory = NeedsMemory() ? reinterpret_cast<float*>(ThreadMemory(MemoryUse::kRows)) : nullptr;
    if (NeedsMemory() && memory == nullptr) return false;
    KeptRow scales(scale_, memory);
    KeptRow offsets(offset_, memory == nullptr ? nullptr : memory + kMostInRow);
    Groups groups(job_.groups, context_);
    const char* const numbers = job_.x.buffer.Address(context_);
    char* const codes = q_.codes.Address(context_);
    const bool streams =
        job_.rows * job_.columns * (8 * number_size_ + code_bits_) / 8 > LastLevelCacheBytes();
    for (int64_t unit = from; unit < to; ++unit) {
      const int64_t row = unit / units_.blocks;
      const int64_t group = groups.Of(row);
      if (group < 0) continue;
      const int64_t begin = unit % units_.blocks * units_.length;
      const int64_t n = std::min(job_.columns, begin + units_.length) - begin;
      const int64_t at = row * job_.columns + begin;
      const char* const x = numbers + at * number_size_;
      const CodeSteps steps = StepsOf(row, group, begin, n, x, scales, offsets);
      functions_.encode(x, steps, static_cast<size_t>(n), NextOf(row, x), codes + at * code_bits_ / 8,
                        streams);
    }
    if (streams) hwy::FlushStream();
    return true;
  }
  const Units& units() const { return units_; }

 private:
  using Kind = Quantiser::Kind;
  static constexpr int64_t kMostInRow = kMostKept / 2;
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();

  bool IsDynamic() const { return q_.kind == Kind::kGreatest || q_.kind == Kind::kRange; }
  bool NeedsMemory() const {
    return (scale_.is_there() && q_.scale.by_column) || (offset_.is_there() && q_.offset.by_column);
  }

  // Rows that determine their scale are read twice. Encoding one fetches as many bytes further ahead, which are then
  // in the cache when a pass comes to them. They may be behind this block, as blocks follow each other on one thread.
  const char* NextOf(int64_t row, const char* x) const {
    constexpr int64_t kAhead = 16384;     // bytes, of short rows
    constexpr int64_t kBehindRow = 8192;  // of long ones, behind the row itself
    const int64_t bytes = job_.columns * number_size_;
    const int64_t ahead = std::max(kAhead, bytes + kBehindRow);
    return units_.reads_row && ahead <= (job_.rows - 1 - row) * bytes ? x + ahead : nullptr;
  }

  CodeSteps StepsOf(int64_t row, int64_t group, int64_t begin, int64_t n, const char* x, KeptRow& scales,
                    KeptRow& offsets) const {
    CodeSteps steps;
    if (!IsDynamic()) {
      const bool divides = q_.kind == Kind::kDivide;
      if (scale_.is_there() && q_.scale.by_column) {
        (divides ? steps.divisors : steps.factors) = scales.Bring(row, group, begin, n);
      } else if (scale_.is_there()) {
        scale_.Bring(row, group, begin, 1, divides ? &steps.divisor : &steps.factor);
        (divides ? steps.divides : steps.multiplies) = true;
      }
      if (offset_.is_there() && q_.offset.by_column) {
        steps.terms = offsets.Bring(row, group, begin, n);
      } else if (offset_.is_there()) {
        offset_.Bring(row, group, begin, 1, &steps.term);
        steps.adds = true;
      }
      return steps;
    }
    if (scale_.is_there()) steps.factors = scales.Bring(row, group, begin, n);
    float least = kInfinity;
    float greatest = -kInfinity;
    bool has_nan = true;
    if (q_.tensor_step.is_there) {
      const char* const extremes = q_.tensor_step.buffer.Address(context_);
      least = Load<float>(extremes);
      greatest = Load<float>(extremes + sizeof(float));
    } else if (q_.kind == Kind::kGreatest) {
      greatest = functions_.greatest(x, steps.factors, static_cast<size_t>(n), &has_nan);
      least = -greatest;
    } else {
      functions_.range(x, steps.factors, static_cast<size_t>(n), &least, &greatest);
    }
    const RowScale scale = ScaleOf(q_, least, greatest);
    if (!q_.tensor_step.is_there || (row == 0 && begin == 0)) {
      const int64_t at = row * int64_t{sizeof(float)};
      if (q_.row_step.is_there) Store(q_.row_step.buffer.Address(context_) + at, scale.step);
      if (q_.row_offset.is_there) Store(q_.row_offset.buffer.Address(context_) + at, scale.term);
    }
    steps.factor = scale.factor;
    steps.divisor = scale.divisor;
    steps.term = scale.term;
    steps.multiplies = scale.factor != 1;
    steps.divides = scale.divisor != 1;
    steps.adds = scale.has_term;
    // The greatest magnitude times the factor is within a rounding of `most`.
    steps.is_within = !has_nan && greatest < kInfinity && scale.factor < kInfinity && most_is_code_;
    return steps;
  }

  const QuantisePlain& job_;
  const Quantiser& q_;
  const JobContext& context_;
  const CodeRowFunctions functions_;
  const FactorRow scale_;
  const FactorRow offset_;
  const Units units_;
  const int64_t number_size_;
  const int64_t code_bits_;
  const bool most_is_code_;
};

}  // namespace

void QuantisePlain::Run(const JobContext& context) const noexcept {
  const View source(x, isa, context);
  const auto bring = [&](int64_t row, int64_t, int64_t column, int64_t n, float* to) {
    source.Bring(row * columns + column, n, to);
  };
  const RowsToCodes plain_rows(*this, context);
  if (!plain_rows.Fit()) return QuantiseThrough(*this, quantiser[0], context, bring);
  const Units& units = plain_rows.units();
  // Makes blocks long if rows are prefetched, because rows behind the end of a block may be another thread's.
  constexpr int64_t kMostBlocks = 256;
  const auto quantise = [&](int64_t from, int64_t to) {
    if (plain_rows.Run(from, to)) return;
    const Coder coder(*this, quantiser[0], context);
    QuantiseUnits(*this, coder, units, from, to, context, bring);
  };
  ForEachRows(rows * units.blocks, units.length, threads, quantise, units.reads_row ? rows / kMostBlocks : 1);
}

}  // namespace portacl::engine
