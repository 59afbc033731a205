// Gradients of attention (see attention.h). Weights are recomputed, tile by tile, from the scores and from
// the statistics of the forward pass. A thread takes all queries of the heads that share keys and values.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>

#include "base/float_environment.h"
#include "engine/attention/scores.h"
#include "engine/isa_in_use.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

using namespace attention;

// The sums of one batch and one head of keys. With w the weights (dropped ones are 0) and g the gradients of
// scores:
//   g = w * (of_out value^T - delta),  delta = the sum of of_out * out
//   of_value = w^T of_out,  of_key = scale * g^T query,  of_query = scale * g key,
// and likewise for the rotary parts of queries and keys, whose products are added to the scores.
class HeadRun {
 public:
  HeadRun(const Work& work, const Slots& slots, int64_t batch, int64_t key_head, char* memory)
      : work_(work),
        slots_(slots),
        attention_(work.attention),
        lengths_(work.Of(batch)),
        batch_(batch),
        key_head_(key_head),
        keys_(work, attention_.key, batch, key_head, attention_.depth),
        values_(work, attention_.value, batch, key_head, attention_.value_depth),
        ropes_(work, attention_.rope_depth > 0 ? work.parts->key_rope : attention_.key, batch, key_head,
               attention_.rope_depth),
        depth_row_(InLanes(attention_.depth)),
        value_row_(InLanes(attention_.value_depth)),
        rope_row_(InLanes(attention_.rope_depth)) {
    const int64_t depth = attention_.depth;
    const int64_t value_depth = attention_.value_depth;
    const int64_t rope_depth = attention_.rope_depth;
    const int64_t most = std::max({depth, value_depth, rope_depth});
    Slot slot(memory);
    left_ = slot.Numbers(PackedRows(kAttentionQueries, most));
    s_ = slot.Numbers(kAttentionQueries * kPackedRow);
    g_ = slot.Numbers(kAttentionQueries * kPackedRow);
    across_ = slot.Numbers(kAttentionKeys * kPackedRow + kMostPanelColumns);
    key_lines_ = slot.Numbers(PackedPanels(attention_, kAttentionKeys, depth));
    value_lines_ = slot.Numbers(PackedPanels(attention_, kAttentionKeys, value_depth));
    key_terms_ = slot.Numbers(PackedPanels(attention_, depth, kAttentionKeys));
    rope_lines_ = slot.Numbers(PackedPanels(attention_, kAttentionKeys, rope_depth));
    rope_terms_ = slot.Numbers(PackedPanels(attention_, rope_depth, kAttentionKeys));
    right_ = slot.Numbers(PackedPanels(attention_, most, kAttentionQueries));
    of_key_ = slot.Numbers(kAttentionKeys * depth_row_);
    of_value_ = slot.Numbers(kAttentionKeys * value_row_);
    of_key_rope_ = slot.Numbers(kAttentionKeys * rope_row_);
    terms_ = slot.Numbers(kAttentionQueries * std::max(depth_row_, rope_row_));
    row_ = slot.Numbers(2 * value_row_);
    pack_ = reinterpret_cast<char*>(slot.Numbers(Rows::Memory(attention_) / kNumber));
    delta_ = slot.Numbers(attention_.group * attention_.queries);
    of_query_ = slot.Numbers(attention_.group * attention_.queries * depth_row_);
    of_query_rope_ = slot.Numbers(attention_.group * attention_.queries * rope_row_);
  }
  // Returns the bytes of a slot for sequences of at most `queries` queries.
  static int64_t Bytes(const Attention& attention, int64_t queries) {
    const int64_t depth = attention.depth;
    const int64_t value_depth = attention.value_depth;
    const int64_t rope_depth = attention.rope_depth;
    const int64_t most = std::max({depth, value_depth, rope_depth});
    const int64_t numbers =
        PackedRows(kAttentionQueries, most) + 2 * kAttentionQueries * kPackedRow +
        kAttentionKeys * kPackedRow + kMostPanelColumns + PackedPanels(attention, kAttentionKeys, depth) +
        PackedPanels(attention, kAttentionKeys, value_depth) +
        PackedPanels(attention, depth, kAttentionKeys) + PackedPanels(attention, kAttentionKeys, rope_depth) +
        PackedPanels(attention, rope_depth, kAttentionKeys) +
        PackedPanels(attention, most, kAttentionQueries) +
        kAttentionKeys * (InLanes(depth) + InLanes(rope_depth)) +
        kAttentionQueries * std::max(InLanes(depth), InLanes(rope_depth)) +
        (kAttentionKeys + 2) * InLanes(value_depth) +
        attention.group * queries * (1 + InLanes(depth) + InLanes(rope_depth));
    return numbers * kNumber + Rows::Memory(attention) + 20 * int64_t{64};
  }

  void Run() {
    const int64_t queries = lengths_.queries;
    for (int64_t member = 0; member < attention_.group; ++member) {
      for (int64_t i = 0; i < queries; ++i) delta_[member * queries + i] = Delta(HeadOf(member), i);
    }
    std::fill_n(of_query_, attention_.group * queries * depth_row_, 0.0f);
    std::fill_n(of_query_rope_, attention_.group * queries * rope_row_, 0.0f);
    std::fill_n(terms_, kAttentionQueries * std::max(depth_row_, rope_row_), 0.0f);
    if (HasShiftOfItsOwn()) ClearBesideShifts();
    for (int64_t key = 0; key < lengths_.keys; key += kAttentionKeys)
      RunKeys(key, std::min(kAttentionKeys, lengths_.keys - key));
    for (int64_t member = 0; member < attention_.group; ++member) {
      for (int64_t i = 0; i < queries; ++i) {
        StoreQuery(attention_.of_query, member, i, of_query_ + (member * queries + i) * depth_row_,
                   attention_.depth);
        if (HasRopes())
          StoreQuery(work_.parts->of_query_rope, member, i,
                     of_query_rope_ + (member * queries + i) * rope_row_, attention_.rope_depth);
      }
    }
  }

 private:
  int64_t HeadOf(int64_t member) const { return key_head_ * attention_.group + member; }
  bool HasRopes() const { return attention_.rope_depth > 0; }

  void StoreQuery(const AttentionOperand& operand, int64_t member, int64_t i, float* numbers,
                  int64_t count) const {
    attention_.kernels.multiply(numbers, InLanes(count), attention_.scale);
    StoreRow(attention_, operand, numbers, count, work_.RowOfQuery(operand, batch_, HeadOf(member), i));
  }

  float Statistic(const AttentionOperand& operand, int64_t head, int64_t i) const {
    float value;
    std::memcpy(&value, work_.Statistic(operand, batch_, head, i), sizeof value);
    return value;
  }

  float Delta(int64_t head, int64_t i) {
    const AttentionOperand* const operands[] = {&attention_.of_out, &attention_.out};
    for (int k = 0; k < 2; ++k) {
      float* const row = row_ + k * value_row_;
      std::fill_n(row + attention_.value_depth, value_row_ - attention_.value_depth, 0.0f);
      LoadRow(attention_, *operands[k], work_.RowOfQuery(*operands[k], batch_, head, i),
              attention_.value_depth, row);
    }
    return attention_.kernels.dot(row_, row_ + value_row_, value_row_);
  }

  void RunKeys(int64_t key, int64_t count) {
    keys_.PackLines(key, count, pack_, key_lines_);
    values_.PackLines(key, count, pack_, value_lines_);
    keys_.PackTerms(key, count, pack_, key_terms_);
    if (HasRopes()) {
      ropes_.PackLines(key, count, pack_, rope_lines_);
      ropes_.PackTerms(key, count, pack_, rope_terms_);
      std::fill_n(of_key_rope_, count * rope_row_, 0.0f);
    }
    std::fill_n(of_key_, count * depth_row_, 0.0f);
    std::fill_n(of_value_, count * value_row_, 0.0f);
    for (int64_t member = 0; member < attention_.group; ++member) {
      const Scores scores(work_, batch_, HeadOf(member));
      for (int64_t i = 0; i < lengths_.queries; i += kAttentionQueries) {
        const int64_t rows = std::min(kAttentionQueries, lengths_.queries - i);
        if (AnySeen(scores, i, rows, key, count)) {
          RunQueries(scores, member, i, rows, key, count);
        } else if (HasShiftOfItsOwn()) {
          std::fill_n(g_, rows * kPackedRow, 0.0f);
          StoreShifts(member, i, rows, key, count);
        }
      }
    }
    for (int64_t j = 0; j < count; ++j) {
      attention_.kernels.multiply(of_key_ + j * depth_row_, depth_row_, attention_.scale);
      Store(attention_.of_key, key + j, of_key_ + j * depth_row_, attention_.depth);
      Store(attention_.of_value, key + j, of_value_ + j * value_row_, attention_.value_depth);
      if (!HasRopes()) continue;
      attention_.kernels.multiply(of_key_rope_ + j * rope_row_, rope_row_, attention_.scale);
      Store(work_.parts->of_key_rope, key + j, of_key_rope_ + j * rope_row_, attention_.rope_depth);
    }
  }

  static bool AnySeen(const Scores& scores, int64_t first, int64_t rows, int64_t key, int64_t count) {
    for (int64_t r = 0; r < rows; ++r) {
      int64_t from, to;
      scores.Range(first + r, &from, &to);
      if (std::max(from, key) < std::min(to, key + count)) return true;
    }
    return false;
  }

  void Store(const AttentionOperand& operand, int64_t row, const float* numbers, int64_t count) const {
    StoreRow(attention_, operand, numbers, count,
             work_.Base(operand) + batch_ * operand.batch + key_head_ * operand.head +
                 (lengths_.first_key + row) * operand.row);
  }

  bool HasShiftOfItsOwn() const {
    return attention_.of_shift.IsThere() && attention_.shift_rows == 0 && !lengths_.is_rest;
  }

  // Clears the shift's gradient beyond this batch's lengths: a shift has rows and columns for the longest
  // sequences.
  void ClearBesideShifts() const {
    const AttentionOperand& operand = attention_.of_shift;
    for (int64_t member = 0; member < attention_.group; ++member) {
      for (int64_t i = 0; i < attention_.queries; ++i) {
        const int64_t first = i < lengths_.queries ? lengths_.keys : 0;
        StoreZeros(attention_, operand, attention_.keys - first,
                   work_.Base(operand) + batch_ * operand.batch + HeadOf(member) * operand.head +
                       i * operand.row + first * operand.column);
      }
    }
  }

  void StoreShifts(int64_t member, int64_t first, int64_t rows, int64_t key, int64_t count) {
    const AttentionOperand& operand = attention_.of_shift;
    for (int64_t r = 0; r < rows; ++r) {
      float* const g = g_ + r * kPackedRow;
      const int64_t padded = InLanes(count);
      if (attention_.shift_first) attention_.kernels.multiply(g, padded, attention_.scale);
      if (attention_.shift_rows > 0) {
        // Clears the padding lanes, which are not finite if delta is not. Other sequences may have keys
        // there.
        std::fill(g + count, g + padded, 0.0f);
        const int64_t row = attention_.shift_rows == 1 ? 0 : first + r;
        attention_.kernels.add(slots_.ShiftSums(HeadOf(member)) + row * InLanes(attention_.keys) + key, g,
                               padded, 1.0f);
        continue;
      }
      StoreRow(attention_, operand, g, count,
               work_.Base(operand) + batch_ * operand.batch + HeadOf(member) * operand.head +
                   (first + r) * operand.row + key * operand.column);
    }
  }

  // Multiplies rows of some queries with the lines of `other`, packed in panels.
  void Multiply(const AttentionOperand& operand, int64_t head, int64_t first, int64_t rows, int64_t depth,
                const AttentionOperand& other, const float* panels, int64_t count, float* to,
                bool adds = false) {
    const auto multiply = MultiplyOf(*attention_.gemm, IsEvenOdd(operand, other));
    PackQueryRows(work_, operand, work_.RowOfQuery(operand, batch_, head, first), rows, depth, pack_, left_);
    const int64_t lines = RoundedUp(count, attention_.gemm->columns);
    for (int64_t term = 0; term < depth; term += kGemmDepth) {
      multiply({left_ + term / kGemmDepth * rows * kPackedRow, panels + lines * term, to, kPackedRow, rows,
                count, std::min(kGemmDepth, depth - term), adds || term > 0});
    }
  }

  // Adds the products of columns of `weights`, which has a row for each query, with the queries' rows of an
  // operand.
  void AddAcross(const float* weights, const AttentionOperand& operand, int64_t head, int64_t first,
                 int64_t rows, int64_t depth, int64_t count, float* to, int64_t to_row) {
    attention_.gemm->transpose[static_cast<size_t>(GemmElement::kF32)](
        reinterpret_cast<const char*>(weights), kPackedRow * kNumber, rows, count, across_, kPackedRow);
    const PackSource source = SourceOf(attention_, operand, false);
    PackPanels(source, work_.RowOfQuery(operand, batch_, head, first), depth, rows, attention_.gemm->columns,
               pack_, right_);
    attention_.gemm->multiply({across_, right_, to, to_row, count, depth, rows, true});
  }

  void RunQueries(const Scores& scores, int64_t member, int64_t first, int64_t rows, int64_t key,
                  int64_t count) {
    const int64_t head = HeadOf(member);
    const int64_t padded = InLanes(count);
    Multiply(attention_.query, head, first, rows, attention_.depth, attention_.key, key_lines_, count, s_);
    if (HasRopes())
      Multiply(work_.parts->query_rope, head, first, rows, attention_.rope_depth, work_.parts->key_rope,
               rope_lines_, count, s_, /*adds=*/true);
    bool is_seen[kAttentionQueries];
    for (int64_t r = 0; r < rows; ++r) {
      float* const s = s_ + r * kPackedRow;
      float greatest;
      is_seen[r] = scores.Make(s, first + r, key, count, &greatest);
      if (is_seen[r]) {
        const float sum = Statistic(attention_.sum, head, first + r);
        attention_.kernels.weights(s, padded, Statistic(attention_.greatest, head, first + r), 1.0f / sum);
      } else {
        std::fill_n(s, padded, 0.0f);
      }
    }
    Multiply(attention_.of_out, head, first, rows, attention_.value_depth, attention_.value, value_lines_,
             count, g_);
    for (int64_t r = 0; r < rows; ++r) {
      float* const g = g_ + r * kPackedRow;
      if (!is_seen[r]) {
        std::fill_n(g, padded, 0.0f);
        continue;
      }
      std::fill(g + count, g + padded, 0.0f);
      const float delta = delta_[member * lengths_.queries + first + r];
      if (!scores.Drops()) {
        attention_.kernels.gradients(g, s_ + r * kPackedRow, padded, delta);
        continue;
      }
      const float factor = 1.0f / attention_.keep;
      scores.Drop(g, first + r, key, count, factor);
      attention_.kernels.gradients(g, s_ + r * kPackedRow, padded, delta);
      scores.Drop(s_ + r * kPackedRow, first + r, key, count, factor);
    }
    AddAcross(s_, attention_.of_out, head, first, rows, attention_.value_depth, count, of_value_, value_row_);
    AddAcross(g_, attention_.query, head, first, rows, attention_.depth, count, of_key_, depth_row_);
    attention_.gemm->multiply({g_, key_terms_, terms_, depth_row_, rows, attention_.depth, count, false});
    for (int64_t r = 0; r < rows; ++r) {
      if (is_seen[r]) {
        attention_.kernels.add(of_query_ + (member * lengths_.queries + first + r) * depth_row_,
                               terms_ + r * depth_row_, depth_row_, 1.0f);
      }
    }
    if (HasRopes()) {
      AddAcross(g_, work_.parts->query_rope, head, first, rows, attention_.rope_depth, count, of_key_rope_,
                rope_row_);
      attention_.gemm->multiply(
          {g_, rope_terms_, terms_, rope_row_, rows, attention_.rope_depth, count, false});
      for (int64_t r = 0; r < rows; ++r) {
        if (is_seen[r]) {
          attention_.kernels.add(of_query_rope_ + (member * lengths_.queries + first + r) * rope_row_,
                                 terms_ + r * rope_row_, rope_row_, 1.0f);
        }
      }
    }
    if (attention_.of_shift.IsThere()) StoreShifts(member, first, rows, key, count);
  }

  const Work& work_;
  const Slots& slots_;
  const Attention& attention_;
  const AttentionBatch lengths_;
  const int64_t batch_;
  const int64_t key_head_;
  const Rows keys_;
  const Rows values_;
  const Rows ropes_;
  const int64_t depth_row_;
  const int64_t value_row_;
  const int64_t rope_row_;
  float* left_;         // queries' rows as the left operand
  float* s_;            // scores, then weights
  float* g_;            // gradients of weights, then of scores
  float* across_;       // `s_` or `g_`, transposed
  float* key_lines_;    // keys as columns
  float* value_lines_;  // values as columns
  float* key_terms_;    // keys as terms
  float* rope_lines_;   // the same of the keys' rotary parts
  float* rope_terms_;
  float* right_;  // queries' rows as terms
  float* of_key_;
  float* of_value_;
  float* of_key_rope_;
  float* terms_;
  float* row_;
  char* pack_;
  float* delta_;
  float* of_query_;
  float* of_query_rope_;
};

// The gradient of a head's sink: minus the sum over all rows of the sink's weight * delta, in float64.
class SinkRun {
 public:
  SinkRun(const Work& work, int64_t head) : work_(work), attention_(work.attention), head_(head) {}

  void Run() const {
    float sink;
    LoadRow(attention_, attention_.sink, work_.Base(attention_.sink) + head_ * attention_.sink.head, 1,
            &sink);
    double total = 0;
    for (int64_t batch = 0; batch < attention_.batches; ++batch) {
      const AttentionBatch& lengths = work_.First(batch);
      if (lengths.is_rest || lengths.keys == 0) continue;
      for (int64_t i = 0; i < lengths.queries; ++i) total -= WeightOf(sink, batch, i) * Delta(batch, i);
    }
    const auto result = static_cast<float>(total);
    const AttentionOperand& to = work_.parts->of_sink;
    StoreRow(attention_, to, &result, 1, work_.Base(to) + head_ * to.head);
  }

 private:
  // Returns the sink's weight in a row. It is 0 for a row that sees no key, because its result is 0 anyway.
  double WeightOf(float sink, int64_t batch, int64_t i) const {
    float greatest, sum;
    std::memcpy(&greatest, work_.Statistic(attention_.greatest, batch, head_, i), sizeof greatest);
    std::memcpy(&sum, work_.Statistic(attention_.sum, batch, head_, i), sizeof sum);
    if (greatest == std::numeric_limits<float>::lowest()) return 0;
    alignas(64) float numbers[kAttentionLanes] = {sink};
    attention_.kernels.weights(numbers, kAttentionLanes, greatest, 1.0f / sum);
    return static_cast<double>(numbers[0]);
  }

  double Delta(int64_t batch, int64_t i) const {
    constexpr int64_t kTogether = 256;
    const AttentionOperand* const operands[] = {&attention_.of_out, &attention_.out};
    double total = 0;
    for (int64_t column = 0; column < attention_.value_depth; column += kTogether) {
      const int64_t count = std::min(kTogether, attention_.value_depth - column);
      alignas(64) float rows[2][kTogether] = {};
      for (int k = 0; k < 2; ++k) {
        LoadRow(attention_, *operands[k],
                work_.RowOfQuery(*operands[k], batch, head_, i) + column * operands[k]->column, count,
                rows[k]);
      }
      total += static_cast<double>(attention_.kernels.dot(rows[0], rows[1], InLanes(count)));
    }
    return total;
  }

  const Work& work_;
  const Attention& attention_;
  const int64_t head_;
};

class AttentionGradientJob {
 public:
  explicit AttentionGradientJob(const Attention& made) : attention_(made) {}

  bool Touches(int operand) const noexcept {
    bool touches = false;
    attention_.ForEachOperand([&](const AttentionOperand& one) { touches |= one.argument == operand; });
    return touches || attention_.TouchesPart(operand);
  }
  uint64_t OwnWorkspace() const noexcept { return static_cast<uint64_t>(Slots::Bytes(attention_)); }
  int64_t Elements() const noexcept { return ElementsOf(attention_, 5); }

  void Run(const JobContext& context) const noexcept {
    const Work work(attention_, context.memory, context.addresses);
    const Slots slots(attention_, static_cast<char*>(context.workspace));
    slots.Clear();
    const int64_t heads = attention_.heads / attention_.group;
    const int64_t together = attention_.shift_rows > 0 ? attention_.batches : 1;
    ForEachBlock(
        attention_.batches / together * heads, attention_.threads,
        [&](int64_t block) {
          const DefaultFloatEnvironment environment;
          const int slot = slots.Take();
          const int64_t head = block % heads;
          for (int64_t i = 0; i < together; ++i) {
            const bool is_alone = attention_.of_shift.batch != 0;
            const int64_t batch = block / heads * together + i;
            if (attention_.shift_rows > 0 && (i == 0 || is_alone)) ClearShifts(slots, head);
            HeadRun(work, slots, batch, head, slots.Memory(slot)).Run();
            const bool has_shift = !is_alone || !work.First(batch).is_rest;
            if (attention_.shift_rows > 0 && has_shift && (i == together - 1 || is_alone))
              StoreShifts(work, slots, batch, head);
          }
          slots.Give(slot);
        },
        BlockLength::kLong);
    if (work.parts != nullptr && work.parts->of_sink.IsThere()) {
      ForEachBlock(attention_.heads, attention_.threads, [&](int64_t head) {
        const DefaultFloatEnvironment environment;
        SinkRun(work, head).Run();
      });
    }
    ReportIsaThatRan(attention_.isa);
  }

 private:
  // Clears and stores the gradient of a shift that batches or queries share. One thread sums it for the query
  // heads of one key head.
  void ClearShifts(const Slots& slots, int64_t key_head) const noexcept {
    std::fill_n(slots.ShiftSums(key_head * attention_.group),
                attention_.group * attention_.shift_rows * InLanes(attention_.keys), 0.0f);
  }
  void StoreShifts(const Work& work, const Slots& slots, int64_t batch, int64_t key_head) const noexcept {
    const AttentionOperand& operand = attention_.of_shift;
    for (int64_t head = key_head * attention_.group; head < (key_head + 1) * attention_.group; ++head) {
      for (int64_t row = 0; row < attention_.shift_rows; ++row) {
        StoreRow(attention_, operand, slots.ShiftSums(head) + row * InLanes(attention_.keys), attention_.keys,
                 work.Base(operand) + batch * operand.batch + head * operand.head + row * operand.row);
      }
    }
  }

  Attention attention_;
};

}  // namespace

AnyJob MakeAttentionGradientJob(const Attention& attention, Isa isa, int threads,
                                const AttentionParts* parts) noexcept {
  Attention made = Completed(attention, isa, threads);
  made.SetParts(parts);
  const bool is_for_all = made.most_queries > 0;
  const bool sums_shift =
      made.of_shift.IsThere() && (((is_for_all || made.batches > 1) && made.of_shift.batch == 0) ||
                                  ((is_for_all || made.queries > 1) && made.of_shift.row == 0));
  made.shift_rows = !sums_shift ? 0 : made.of_shift.row == 0 ? 1 : made.queries;
  const int64_t blocks = (sums_shift ? 1 : made.batches) * (made.heads / made.group);
  if (!is_for_all)
    made.threads = static_cast<int>(std::clamp<int64_t>(std::min<int64_t>(blocks, threads), 1, threads));
  made.slot_bytes = RoundedUp(HeadRun::Bytes(made, std::max(made.queries, made.most_queries)), 64);
  return AnyJob([&] { return AttentionGradientJob{made}; });
}

}  // namespace portacl::engine
