// Attention (see attention.h): tiles of queries, which threads take one by one. A tile goes through the keys block by block; what was summed
// before is scaled when a greater score comes.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>

#include "acl/errors.h"
#include "acl/float_environment.h"
#include "engine/attention/scores.h"
#include "engine/isa_in_use.h"
#include "engine/parallel.h"
#include "engine/place.h"

namespace portacl::engine {
namespace {

using namespace attention;

// Queries of a tile: their scores with a block of keys stay in the second-level cache.
constexpr int64_t kTileQueries = 128;
constexpr float kLowest = std::numeric_limits<float>::lowest();

struct Tile {
  int64_t batch;
  int64_t head;
  int64_t first;
  int64_t rows;
};

class TileRun {
 public:
  TileRun(const Work& work, const Tile& tile, char* memory)
      : work_(work),
        attention_(work.attention),
        tile_(tile),
        scores_(work, tile.batch, tile.head),
        keys_(work, attention_.key, tile.batch, tile.head / attention_.group, attention_.depth),
        values_(work, attention_.value, tile.batch, tile.head / attention_.group, attention_.value_depth),
        sums_row_(InLanes(attention_.value_depth)) {
    Slot slot(memory);
    queries_ = slot.Numbers(PackedRows(tile.rows, attention_.depth));
    s_ = slot.Numbers(tile.rows * kPackedRow);
    panels_ = slot.Numbers(std::max(PackedPanels(attention_, kAttentionKeys, attention_.depth),
                                    PackedPanels(attention_, attention_.value_depth, kAttentionKeys)));
    terms_ = slot.Numbers(tile.rows * sums_row_);
    sums_ = slot.Numbers(tile.rows * sums_row_);
    pack_ = reinterpret_cast<char*>(slot.Numbers(Rows::Memory(attention_) / kNumber));
  }
  static int64_t Bytes(const Attention& attention) {
    const int64_t rows = attention.tile_queries;
    const int64_t numbers = PackedRows(rows, attention.depth) + rows * kPackedRow +
                            std::max(PackedPanels(attention, kAttentionKeys, attention.depth),
                                     PackedPanels(attention, attention.value_depth, kAttentionKeys)) +
                            2 * rows * InLanes(attention.value_depth);
    return numbers * kNumber + Rows::Memory(attention) + 6 * int64_t{64};
  }

  void Run() {
    std::fill_n(greatest_, tile_.rows, kLowest);
    std::fill_n(sum_, tile_.rows, 0.0f);
    std::memset(sums_, 0, static_cast<size_t>(tile_.rows * sums_row_) * sizeof(float));
    std::memset(terms_, 0, static_cast<size_t>(tile_.rows * sums_row_) * sizeof(float));
    PackQueryRows(work_, attention_.query,
                  work_.RowOfQuery(attention_.query, tile_.batch, tile_.head, tile_.first), tile_.rows,
                  attention_.depth, pack_, queries_);
    int64_t begin = std::numeric_limits<int64_t>::max();
    int64_t end = 0;
    for (int64_t r = 0; r < tile_.rows; ++r) {
      int64_t from, to;
      scores_.Range(tile_.first + r, &from, &to);
      if (from >= to) continue;
      begin = std::min(begin, from);
      end = std::max(end, to);
    }
    for (int64_t key = begin / kAttentionKeys * kAttentionKeys; key < end; key += kAttentionKeys)
      RunKeys(key, std::min(kAttentionKeys, work_.First(tile_.batch).keys - key));
    for (int64_t r = 0; r < tile_.rows; ++r) Finish(r);
  }

 private:
  // One query is multiplied with keys and values as they lie in memory.
  bool TakesRows(const Rows& rows, int64_t key, int64_t count, const AttentionOperand& operand,
                 const char** from) const {
    int64_t run;
    *from = rows.At(key, &run);
    return tile_.rows == 1 && run >= count && operand.column == SizeOf(operand.dtype);
  }

  void MultiplyKeys(int64_t key, int64_t count) {
    const AttentionOperand& operand = attention_.key;
    const bool is_even_odd = IsEvenOdd(attention_.query, operand);
    const char* from;
    if (TakesRows(keys_, key, count, operand, &from)) {
      const MultiplyAcrossFunction multiply = attention_.gemm.multiply_across[ElementOf(operand.dtype)];
      for (int64_t term = 0; term < attention_.depth; term += kGemmDepth) {
        const float* const query = queries_ + term / kGemmDepth * kPackedRow;
        const char* const terms = from + term * operand.column;
        const int64_t depth = std::min(kGemmDepth, attention_.depth - term);
        if (is_even_odd) {
          attention_.gemm.even_odd.add_across[ElementOf(operand.dtype)](query, terms, operand.row, depth,
                                                                        count, s_, term > 0);
          continue;
        }
        float* const to = term == 0 ? s_ : panels_;
        multiply(query, terms, operand.row, depth, count, to);
        for (int64_t j = 0; j < count && term > 0; ++j) s_[j] += to[j];
      }
      return;
    }
    keys_.PackLines(key, count, pack_, panels_);
    const int64_t lines = RoundedUp(count, attention_.gemm.columns);
    for (int64_t term = 0; term < attention_.depth; term += kGemmDepth) {
      MultiplyOf(attention_.gemm, is_even_odd)({queries_ + term / kGemmDepth * tile_.rows * kPackedRow,
                                                panels_ + lines * term, s_, kPackedRow, tile_.rows, count,
                                                std::min(kGemmDepth, attention_.depth - term), term > 0});
    }
  }

  void MultiplyValues(int64_t key, int64_t count) {
    const AttentionOperand& operand = attention_.value;
    const bool is_even_odd = RoundsWeights();
    const char* from;
    if (TakesRows(values_, key, count, operand, &from)) {
      if (is_even_odd) {
        return attention_.gemm.even_odd.add_row[ElementOf(operand.dtype)](
            s_, from, operand.row, count, attention_.value_depth, terms_, false);
      }
      return attention_.gemm.multiply_row[ElementOf(operand.dtype)](s_, from, operand.row, count,
                                                                    attention_.value_depth, terms_);
    }
    values_.PackTerms(key, count, pack_, panels_);
    MultiplyOf(attention_.gemm, is_even_odd)(
        {s_, panels_, terms_, sums_row_, tile_.rows, attention_.value_depth, count, false});
  }

  void RunKeys(int64_t key, int64_t count) {
    MultiplyKeys(key, count);
    bool any = false;
    for (int64_t r = 0; r < tile_.rows; ++r) {
      is_seen_[r] = MakeWeights(r, key, count);
      any = any || is_seen_[r];
    }
    if (!any) return;
    MultiplyValues(key, count);
    for (int64_t r = 0; r < tile_.rows; ++r) {
      if (is_seen_[r])
        attention_.kernels.add(sums_ + r * sums_row_, terms_ + r * sums_row_, sums_row_, factor_[r]);
    }
  }

  // Scores of a row with a block of keys become weights.
  bool MakeWeights(int64_t r, int64_t key, int64_t count) {
    float* const s = s_ + r * kPackedRow;
    float greatest;
    if (!scores_.Make(s, tile_.first + r, key, count, &greatest)) return false;
    greatest = std::max(greatest_[r], greatest);
    factor_[r] = Exponential(greatest_[r], greatest);
    const float sum = attention_.kernels.exponentials(s, InLanes(count), greatest);
    sum_[r] = sum_[r] * factor_[r] + sum;
    greatest_[r] = greatest;
    if (scores_.Drops()) scores_.Drop(s, tile_.first + r, key, count, 1.0f);
    if (RoundsWeights()) RoundRow(attention_, attention_.value.dtype, s, count);
    return true;
  }

  // Whether weights become values of the type of what they are multiplied by, so that both have 16 bits.
  bool RoundsWeights() const { return SizeOf(attention_.value.dtype) == 2; }

  // exp(a - b), by the same steps as a row's.
  float Exponential(float a, float b) const {
    if (a == b) return 1.0f;
    alignas(64) float numbers[kAttentionLanes] = {a};
    attention_.kernels.weights(numbers, kAttentionLanes, b, 1.0f);
    return numbers[0];
  }

  void Finish(int64_t r) {
    float* const row = sums_ + r * sums_row_;
    const bool is_seen = sum_[r] != 0;
    if (is_seen && attention_.sink.IsThere()) AddSink(r, row);
    const float keep = attention_.Drops() ? attention_.keep : 1.0f;
    const float factor = static_cast<float>(1.0 / static_cast<double>(keep) / static_cast<double>(sum_[r]));
    if (is_seen) {
      attention_.kernels.multiply(row, sums_row_, factor);
    } else {
      std::fill_n(row, sums_row_, 0.0f);
    }
    const AttentionOperand& out = attention_.out;
    StoreRow(attention_, out, row, attention_.value_depth,
             work_.RowOfQuery(out, tile_.batch, tile_.head, tile_.first + r));
    const float greatest = is_seen ? greatest_[r] : kLowest;
    const AttentionBatch& lengths = work_.First(tile_.batch);
    const bool has_keys = lengths.keys > 0 && !lengths.is_rest;
    Statistic(attention_.greatest, r, has_keys ? greatest : 0.0f);
    Statistic(attention_.sum, r, is_seen ? sum_[r] : has_keys ? std::numeric_limits<float>::max() : 0.0f);
    if (attention_.log_sum.IsThere()) {
      Statistic(
          attention_.log_sum, r,
          is_seen ? attention_.kernels.log_sum(greatest, sum_[r]) : -std::numeric_limits<float>::infinity());
    }
  }

  // A sink is a last key, whose value is 0.
  void AddSink(int64_t r, float* row) {
    float sink;
    LoadRow(attention_, attention_.sink, work_.Base(attention_.sink) + tile_.head * attention_.sink.head, 1,
            &sink);
    const float greatest = sink > greatest_[r] ? sink : greatest_[r];
    const float factor = Exponential(greatest_[r], greatest);
    sum_[r] = sum_[r] * factor + Exponential(sink, greatest);
    attention_.kernels.multiply(row, sums_row_, factor);
    greatest_[r] = greatest;
  }

  void Statistic(const AttentionOperand& operand, int64_t r, float value) const {
    if (!operand.IsThere()) return;
    char* const to = work_.Statistic(operand, tile_.batch, tile_.head, tile_.first + r);
    for (int64_t copy = 0; copy < attention_.copies; ++copy)
      std::memcpy(to + copy * operand.column, &value, sizeof value);
  }

  const Work& work_;
  const Attention& attention_;
  const Tile tile_;
  const Scores scores_;
  const Rows keys_;
  const Rows values_;
  const int64_t sums_row_;
  float* queries_;
  float* s_;
  float* panels_;
  float* terms_;
  float* sums_;
  char* pack_;
  float greatest_[kTileQueries];
  float sum_[kTileQueries];
  float factor_[kTileQueries];
  bool is_seen_[kTileQueries];
};

class AttentionJob {
 public:
  explicit AttentionJob(const Attention& made) : attention_(made) {}

  bool Touches(int operand) const noexcept {
    bool touches = false;
    attention_.ForEachOperand([&](const AttentionOperand& one) { touches |= one.argument == operand; });
    return touches;
  }
  int64_t Elements() const noexcept { return ElementsOf(attention_, 2); }

  void Run(const JobContext& context) const noexcept {
    const Work work{attention_, reinterpret_cast<const AttentionBatch*>(context.memory), context.addresses};
    if (!PagesExist(work, context)) return;
    const Slots slots(attention_, static_cast<char*>(context.workspace));
    slots.Clear();
    const int64_t tiles = DividedUp(attention_.queries, attention_.tile_queries);
    ForEachBlock(
        attention_.batches * attention_.heads * tiles, attention_.threads,
        [&](int64_t block) {
          const DefaultFloatEnvironment environment;
          // The last tiles see the most keys where a query sees those before it, so they come first.
          const int64_t tile = tiles - 1 - block % tiles;
          const int64_t head = block / tiles % attention_.heads;
          const int64_t batch = block / tiles / attention_.heads;
          const int64_t first = tile * attention_.tile_queries;
          const int64_t rows = std::min(attention_.tile_queries, work.First(batch).queries - first);
          if (attention_.pads)
            Pad(work, batch, head, std::max(first, work.First(batch).queries),
                std::min(first + attention_.tile_queries, attention_.queries));
          if (rows <= 0) return;
          const int slot = slots.Take();
          TileRun(work, {batch, head, first, rows}, slots.Memory(slot)).Run();
          slots.Give(slot);
        },
        BlockLength::kLong);
    ReportIsaThatRan(attention_.isa);
  }

 private:
  // No page that is not there is read.
  bool PagesExist(const Work& work, const JobContext& context) const noexcept {
    if (!attention_.table.IsThere()) return true;
    for (int64_t batch = 0; batch < attention_.batches; ++batch) {
      const int64_t count = DividedUp(work.First(batch).keys, attention_.page);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t page = Load<int32_t>(work.Base(attention_.table) + batch * attention_.table.batch +
                                           i * attention_.table.column);
        if (page >= 0 && page < attention_.pages) continue;
        context.Fail(ACL_ERROR_RT_AICORE_EXCEPTION,
                     Text(context.api, ": blockTable has the value ", page, " at [", batch, ", ", i,
                          "], accepted: 0 to ", attention_.pages - 1, "."));
        return false;
      }
    }
    return true;
  }

  void Pad(const Work& work, int64_t batch, int64_t head, int64_t first, int64_t end) const noexcept {
    constexpr float kNothing = -std::numeric_limits<float>::infinity();
    for (int64_t i = first; i < end; ++i) {
      StoreZeros(attention_, attention_.out, attention_.value_depth,
                 work.RowOfQuery(attention_.out, batch, head, i));
      if (attention_.log_sum.IsThere())
        std::memcpy(work.RowOfQuery(attention_.log_sum, batch, head, i), &kNothing, sizeof kNothing);
    }
  }

  Attention attention_;
};

}  // namespace

void SetAttentionJob(Executor& executor, const Attention& attention, Isa isa, int threads) noexcept {
  Attention made = Completed(attention, isa, threads);
  made.tile_queries = DividedUp(made.queries, DividedUp(made.queries, kTileQueries));
  const int64_t blocks = made.batches * made.heads * DividedUp(made.queries, made.tile_queries);
  made.threads = static_cast<int>(std::clamp<int64_t>(std::min<int64_t>(blocks, threads), 1, threads));
  made.slot_bytes = RoundedUp(TileRun::Bytes(made), 64);
  SetJobOf<AttentionJob>(executor, made);
}

}  // namespace portacl::engine
