// A tile of queries of a head, which walks the keys block by block (see forward.cc). Previous sums are rescaled when a
// greater score appears.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>

#include "engine/attention/scores.h"

namespace portacl::engine::attention {

// The fewest queries of a tile for which pairs of BF16 pay.
inline constexpr int64_t kRowsOfPairs = 4;
inline constexpr float kLowest = std::numeric_limits<float>::lowest();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Tile {
  int64_t batch;
  int64_t head;
  int64_t first;
  int64_t rows;
};

class TileRun {
 public:
  // `scratch` holds data that is not kept from one block of keys to the next.
  TileRun(const Work& work, const Tile& tile, char* scratch, char* memory)
      : work_(work),
        attention_(work.attention),
        tile_(tile),
        scores_(work, tile.batch, tile.head),
        keys_(work, work.KeyOf(tile.batch), tile.batch, tile.head / attention_.group, attention_.depth,
              &AttentionParts::key_fractals, &AttentionParts::key_prefix, &AttentionParts::key_scales),
        values_(work, work.ValueOf(tile.batch), tile.batch, tile.head / attention_.group,
                attention_.value_depth, &AttentionParts::value_fractals, &AttentionParts::value_prefix,
                &AttentionParts::value_scales),
        has_ropes_(attention_.rope_depth > 0),
        ropes_(work, work.parts != nullptr ? work.parts->key_rope : attention_.key, tile.batch,
               tile.head / attention_.group, attention_.rope_depth, &AttentionParts::rope_fractals),
        sums_row_(InLanes(attention_.value_depth)) {
    Slot shared(scratch);
    panels_ = shared.Numbers(Panels(attention_));
    pack_ = reinterpret_cast<char*>(shared.Numbers(Rows::Memory(attention_) / kNumber));
    Slot slot(memory);
    queries_ = slot.Numbers(PackedRows(tile.rows, attention_.depth));
    query_ropes_ = slot.Numbers(PackedRows(tile.rows, attention_.rope_depth));
    s_ = slot.Numbers(tile.rows * kPackedRow);
    terms_ = slot.Numbers(tile.rows * sums_row_);
    sums_ = slot.Numbers(tile.rows * sums_row_);
    greatest_ = slot.Numbers(tile.rows);
    sum_ = slot.Numbers(tile.rows);
    factor_ = slot.Numbers(tile.rows);
    is_seen_ = reinterpret_cast<bool*>(slot.Numbers(tile.rows));
    if (tile.rows == 1) query_blocks_ = slot.Numbers(NumbersOfBlocks(attention_));
    if (!TakesPairsOf(attention_, tile.rows)) return;
    const TileKernels& tiles = *attention_.tiles;
    const int64_t blocks = DividedUp(attention_.depth, kGemmDepth);
    widened_ = shared.Numbers(attention_.gemm->columns * kGemmDepth);
    query_pairs_ = reinterpret_cast<uint32_t*>(slot.Numbers(blocks * PairedWords(tiles, tile.rows)));
    query_least_ = reinterpret_cast<LeastExponent*>(slot.Numbers(blocks * PairedGroups(tiles, tile.rows)));
    weight_pairs_ = reinterpret_cast<uint32_t*>(slot.Numbers(PairedWords(tiles, tile.rows)));
    weight_least_ = reinterpret_cast<LeastExponent*>(slot.Numbers(PairedGroups(tiles, tile.rows)));
  }
  // Tells whether products of a tile may be of pairs of BF16, for which there is memory then.
  static bool TakesPairsOf(const Attention& attention, int64_t rows) {
    return attention.tiles != nullptr && rows >= kRowsOfPairs;
  }
  static int64_t ScratchBytes(const Attention& attention) {
    const int64_t widened = attention.tiles != nullptr ? attention.gemm->columns * kGemmDepth : 0;
    return RoundedUp(Panels(attention) * kNumber, 64) + RoundedUp(Rows::Memory(attention), 64) +
           RoundedUp(widened * kNumber, 64);
  }
  static int64_t Bytes(const Attention& attention, int64_t rows) {
    int64_t numbers = PackedRows(rows, attention.depth) + PackedRows(rows, attention.rope_depth) +
                      rows * kPackedRow + 2 * rows * InLanes(attention.value_depth) + 4 * rows +
                      (rows == 1 ? NumbersOfBlocks(attention) : 0);
    if (TakesPairsOf(attention, rows)) {
      const int64_t blocks = DividedUp(attention.depth, kGemmDepth) + 1;
      // The queries as pairs, one block of terms after the other, and the weights.
      numbers += blocks * (PairedWords(*attention.tiles, rows) + PairedGroups(*attention.tiles, rows));
    }
    return RoundedUp(numbers * kNumber + 14 * int64_t{64}, 64);
  }
  // Blocks of terms that the kernel for keys multiplies at a time; 0 if it does not take the depth.
  static int64_t KeyBlocks(const Attention& attention) {
    const int64_t blocks = attention.depth / kEvenOddDepth;
    if (attention.depth % kEvenOddDepth != 0 || blocks % 2 != 0) return 0;
    return blocks % kKeyBlocks == 0 ? kKeyBlocks : 2;
  }
  static int64_t NumbersOfBlocks(const Attention& attention) {
    const int64_t blocks = KeyBlocks(attention);
    return blocks == 0 ? 0 : attention.depth / blocks * kKeyBlocks;
  }
  // Returns the distance of heads of one query. It is an odd number of lines, so that heads' numbers lie in different sets
  // of a cache.
  static int64_t BytesOfHead(const Attention& attention) { return RoundedUp(Bytes(attention, 1), 128) + 64; }
  static int64_t Panels(const Attention& attention) {
    return std::max({PackedPanels(attention, kAttentionKeys, attention.depth),
                     PackedPanels(attention, kAttentionKeys, attention.rope_depth),
                     PackedPanels(attention, attention.value_depth, kAttentionKeys),
                     // Pairs take half of that, but terms are padded.
                     PackedPanels(attention, kAttentionKeys, kEvenOddDepth / 2)});
  }

  void Run() {
    int64_t begin, end;
    Begin(&begin, &end);
    for (int64_t key = begin; key < end; key += kAttentionKeys) {
      const int64_t count = std::min(kAttentionKeys, end - key);
      MultiplyKeys(key, count);
      if (!MakeWeights(key, count)) continue;
      MultiplyValues(key, count);
      AddTerms();
    }
    End();
  }

  // Tells whether MultiplyWholeKeys may be called.
  bool TakesWholeKeys() const {
    const AttentionOperand& operand = keys_.Operand();
    return tile_.rows == 1 && attention_.gemm->even_odd.multiply_keys != nullptr &&
           KeyBlocks(attention_) > 0 && keys_.IsPlain() && operand.dtype == ACL_BF16 &&
           IsEvenOdd(attention_.query, operand);
  }
  // Computes the products of as many keys as a vector has lanes, as MultiplyKeysAt.
  void MultiplyWholeKeys(const char* from, int64_t at, const LinesAhead& ahead, const char* next) {
    attention_.gemm->even_odd.multiply_keys({query_blocks_, from, keys_.Operand().row, KeyBlocks(attention_),
                                             attention_.depth, s_ + at, ahead, next});
  }

  // Prepares the sums and returns the range of keys that the tile's queries see, widened to begin with a
  // block. It is empty if *begin is not before *end.
  void Begin(int64_t* first_block, int64_t* end_of_blocks) {
    std::fill_n(greatest_, tile_.rows, kLowest);
    std::fill_n(sum_, tile_.rows, 0.0f);
    std::memset(sums_, 0, static_cast<size_t>(tile_.rows * sums_row_) * sizeof(float));
    std::memset(terms_, 0, static_cast<size_t>(tile_.rows * sums_row_) * sizeof(float));
    PackQueryRows(work_, attention_.query,
                  work_.RowOfQuery(attention_.query, tile_.batch, tile_.head, tile_.first), tile_.rows,
                  attention_.depth, pack_, queries_);
    if (query_pairs_ != nullptr && attention_.query.dtype == ACL_BF16) PairQueries();
    if (TakesWholeKeys()) SetQueryBlocks();
    if (has_ropes_) {
      const AttentionOperand& operand = work_.parts->query_rope;
      PackQueryRows(work_, operand, work_.RowOfQuery(operand, tile_.batch, tile_.head, tile_.first),
                    tile_.rows, attention_.rope_depth, pack_, query_ropes_);
    }
    int64_t begin = std::numeric_limits<int64_t>::max();
    int64_t end = 0;
    for (int64_t r = 0; r < tile_.rows; ++r) {
      int64_t from, to;
      scores_.Range(tile_.first + r, &from, &to);
      if (from >= to) continue;
      begin = std::min(begin, from);
      end = std::max(end, to);
    }
    // Keys outside the range that any query sees are not read.
    for (Rows* const rows : {&keys_, &values_, &ropes_}) rows->StartAt(begin);
    *first_block = begin / kAttentionKeys * kAttentionKeys;
    *end_of_blocks = end;
  }

  // Computes the products of a block of keys.
  void MultiplyKeys(int64_t key, int64_t count) {
    if (!MultiplyPairedKeys(key, count)) MultiplyPart(keys_, attention_.depth, queries_, key, count, false);
    MultiplyRopes(key, count);
  }
  void MultiplyRopes(int64_t key, int64_t count) {
    if (has_ropes_) MultiplyPart(ropes_, attention_.rope_depth, query_ropes_, key, count, true);
  }
  // Computes the products of `count` keys of a block, from number `at` on, whose plain elements are at `from`. Does it
  // for several heads that share the keys: this one and those whose memory lies `step` numbers behind. The keys at
  // `next`, if it is not nullptr, are read after these.
  void MultiplyKeysAt(const char* from, int64_t count, int64_t at, int64_t heads, int64_t step,
                      const char* next) {
    MultiplyRun(keys_.Operand(), attention_.depth, queries_, from, count, at, false, heads, step, next);
  }

  // Turns the products of a block of keys into weights. Returns false if no row sees any.
  bool MakeWeights(int64_t key, int64_t count) {
    bool any = false;
    for (int64_t r = 0; r < tile_.rows; ++r) {
      is_seen_[r] = MakeWeightsOf(r, key, count);
      any = any || is_seen_[r];
    }
    return any;
  }

  // Computes the products of these weights and the block's values.
  void MultiplyValues(int64_t key, int64_t count) {
    const AttentionOperand& operand = values_.Operand();
    const bool is_even_odd = RoundsWeights();
    if (tile_.rows == 1 && values_.IsPlain()) {
      if (is_even_odd && HasWholeChains(key, count)) return AddValuesInPlace(key, count);
      int64_t run;
      int64_t row = operand.row;
      const char* from = values_.At(key, &run);
      if (run < count) {
        // One chain of sums needs rows at equal distances, so that rows of several pages are copied.
        values_.CopyRows(key, count, reinterpret_cast<char*>(panels_));
        from = reinterpret_cast<const char*>(panels_);
        row = attention_.value_depth * operand.column;
      }
      if (is_even_odd) {
        return attention_.gemm->even_odd.add_row[ElementOf(operand.dtype)](
            s_, from, row, count, attention_.value_depth, terms_, false);
      }
      return attention_.gemm->multiply_row[ElementOf(operand.dtype)](s_, from, row, count,
                                                                     attention_.value_depth, terms_);
    }
    if (MultiplyPairedValues(key, count)) return;
    values_.PackTerms(key, count, pack_, panels_);
    MultiplyOf(*attention_.gemm, is_even_odd)(
        {s_, panels_, terms_, sums_row_, tile_.rows, attention_.value_depth, count, false});
  }

  // Tells whether the values of a block may be added directly in memory by AddHeads, which adds chains.
  bool AddsValuesInPlace(int64_t key, int64_t count) const {
    return tile_.rows == 1 && values_.IsPlain() && RoundsWeights() && HasWholeChains(key, count);
  }

  // Adds the products of the block to those of the blocks before.
  void AddTerms() {
    for (int64_t r = 0; r < tile_.rows; ++r) {
      if (is_seen_[r])
        attention_.kernels.add(sums_ + r * sums_row_, terms_ + r * sums_row_, sums_row_, factor_[r]);
    }
  }

  void End() {
    for (int64_t r = 0; r < tile_.rows; ++r) Finish(r);
  }

  // Tells whether weights are rounded to the type of the values, so that both operands have 16 bits.
  bool RoundsWeights() const { return SizeOf(attention_.value.dtype) == 2; }

  const float* Weights() const { return s_; }
  float* Terms() const { return terms_; }
  const Rows& Keys() const { return keys_; }
  const Rows& Values() const { return values_; }

 private:
  // Puts the query's terms into the order of the kernel for keys.
  void SetQueryBlocks() {
    const int64_t blocks = KeyBlocks(attention_);
    float* to = query_blocks_;
    for (int64_t term = 0; term < attention_.depth; term += blocks * kEvenOddDepth) {
      for (int64_t k = 0; k < kEvenOddDepth; ++k) {
        for (int64_t i = 0; i < kKeyBlocks; ++i) {
          const int64_t at = term + i % blocks * kEvenOddDepth + k;
          *to++ = queries_[at / kGemmDepth * kPackedRow + at % kGemmDepth];
        }
      }
    }
  }

  void PairQueries() {
    const TileKernels& tiles = *attention_.tiles;
    for (int64_t term = 0; term < attention_.depth; term += kGemmDepth) {
      const int64_t block = term / kGemmDepth;
      PairNumbers(tiles, queries_ + block * tile_.rows * kPackedRow, tile_.rows,
                  std::min(kGemmDepth, attention_.depth - term),
                  query_pairs_ + block * PairedWords(tiles, tile_.rows),
                  query_least_ + block * PairedGroups(tiles, tile_.rows));
    }
  }

  // Multiplies with keys as pairs of BF16. Returns false if these cannot be packed as such.
  bool MultiplyPairedKeys(int64_t key, int64_t count) {
    if (query_pairs_ == nullptr || attention_.query.dtype != ACL_BF16 || keys_.Operand().dtype != ACL_BF16)
      return false;
    const char* const from = keys_.WithoutGap(key, count);
    if (from == nullptr) return false;
    const TileKernels& tiles = *attention_.tiles;
    const WordSource source = keys_.Words(/*lines_are_rows=*/true);
    auto* const panels = reinterpret_cast<uint32_t*>(panels_);
    tiles.begin();
    for (int64_t term = 0; term < attention_.depth; term += kGemmDepth) {
      const int64_t block = term / kGemmDepth;
      const int64_t depth = std::min(kGemmDepth, attention_.depth - term);
      PackWordPanels(source, from + term * source.term, count, depth, PairsOf(depth),
                     attention_.gemm->columns, panels);
      const PairedRows rows{queries_ + block * tile_.rows * kPackedRow,
                            query_pairs_ + block * PairedWords(tiles, tile_.rows),
                            query_least_ + block * PairedGroups(tiles, tile_.rows), tile_.rows};
      MultiplyPairedPanels(tiles, *attention_.gemm, rows, panels, count, depth, s_, kPackedRow, term > 0,
                           widened_);
    }
    tiles.end();
    return true;
  }

  // Multiplies weights with values likewise.
  bool MultiplyPairedValues(int64_t key, int64_t count) {
    if (weight_pairs_ == nullptr || values_.Operand().dtype != ACL_BF16) return false;
    const char* const from = values_.WithoutGap(key, count);
    if (from == nullptr) return false;
    const TileKernels& tiles = *attention_.tiles;
    auto* const panels = reinterpret_cast<uint32_t*>(panels_);
    PackWordPanels(values_.Words(/*lines_are_rows=*/false), from, attention_.value_depth, count,
                   PairsOf(count), attention_.gemm->columns, panels);
    PairNumbers(tiles, s_, tile_.rows, count, weight_pairs_, weight_least_);
    tiles.begin();
    MultiplyPairedPanels(tiles, *attention_.gemm, {s_, weight_pairs_, weight_least_, tile_.rows}, panels,
                         attention_.value_depth, count, terms_, sums_row_, /*adds=*/false, widened_);
    tiles.end();
    return true;
  }

  void MultiplyPart(const Rows& rows, int64_t depth, const float* queries, int64_t key, int64_t count,
                    bool adds) {
    if (tile_.rows == 1 && rows.IsPlain()) return MultiplyInPlace(rows, depth, queries, key, count, adds);
    const auto multiply = MultiplyOf(*attention_.gemm, IsEvenOdd(attention_.query, rows.Operand()));
    rows.PackLines(key, count, pack_, panels_);
    const int64_t lines = RoundedUp(count, attention_.gemm->columns);
    for (int64_t term = 0; term < depth; term += kGemmDepth) {
      multiply({queries + term / kGemmDepth * tile_.rows * kPackedRow, panels_ + lines * term, s_, kPackedRow,
                tile_.rows, count, std::min(kGemmDepth, depth - term), adds || term > 0});
    }
  }

  // Multiplies one query with keys directly in memory, page by page.
  void MultiplyInPlace(const Rows& rows, int64_t depth, const float* queries, int64_t key, int64_t count,
                       bool adds) {
    for (int64_t done = 0; done < count;) {
      int64_t run;
      const char* const from = rows.At(key + done, &run);
      run = std::min(run, count - done);
      MultiplyRun(rows.Operand(), depth, queries, from, run, done, adds, 1, 0, nullptr);
      done += run;
    }
  }

  // Multiplies `heads` queries, whose memory lies `step` numbers apart, with `count` keys at equal distances.
  void MultiplyRun(const AttentionOperand& operand, int64_t depth, const float* queries, const char* from,
                   int64_t count, int64_t at, bool adds, int64_t heads, int64_t step, const char* next) {
    const bool is_even_odd = IsEvenOdd(attention_.query, operand);
    const MultiplyAcrossFunction multiply = attention_.gemm->multiply_across[ElementOf(operand.dtype)];
    const auto add = attention_.gemm->even_odd.add_across[ElementOf(operand.dtype)];
    for (int64_t term = 0; term < depth; term += kGemmDepth) {
      const bool joins = adds || term > 0;
      const float* const query = queries + term / kGemmDepth * kPackedRow;
      const char* const terms = from + term * operand.column;
      const int64_t together = std::min(kGemmDepth, depth - term);
      const int64_t rest = (depth - term) * operand.column;
      if (is_even_odd) {
        const char* const next_terms = next != nullptr ? next + term * operand.column : nullptr;
        add({query, step, terms, operand.row, rest, s_ + at, step, heads, together, count, joins,
             next_terms});
        continue;
      }
      for (int64_t head = 0; head < heads; ++head) {
        float* const s = s_ + head * step + at;
        float* const to = joins ? panels_ : s;
        multiply(query + head * step, terms, operand.row, rest, together, count, to);
        for (int64_t j = 0; j < count && joins; ++j) s[j] += to[j];
      }
    }
  }

  // Tells whether every page's values, but the last one's, are whole chains: then pages may be added one by
  // one, in the same order.
  bool HasWholeChains(int64_t key, int64_t count) const {
    for (int64_t done = 0; done < count;) {
      int64_t run;
      values_.At(key + done, &run);
      done += run;
      if (done < count && run % kEvenOddDepth != 0) return false;
    }
    return true;
  }
  void AddValuesInPlace(int64_t key, int64_t count) {
    const AttentionOperand& operand = values_.Operand();
    const auto add = attention_.gemm->even_odd.add_row[ElementOf(operand.dtype)];
    for (int64_t done = 0; done < count;) {
      int64_t run;
      const char* const from = values_.At(key + done, &run);
      run = std::min(run, count - done);
      add(s_ + done, from, operand.row, run, attention_.value_depth, terms_, done > 0);
      done += run;
    }
  }

  // Turns a row's scores with a block of keys into weights.
  bool MakeWeightsOf(int64_t r, int64_t key, int64_t count) {
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

  // Returns exp(a - b) by the same steps as in rows.
  float Exponential(float a, float b) const {
    if (a == b) return 1.0f;
    alignas(64) float numbers[kAttentionLanes] = {a};
    attention_.kernels.weights(numbers, kAttentionLanes, b, 1.0f);
    return numbers[0];
  }

  void Finish(int64_t r) {
    float* const row = sums_ + r * sums_row_;
    const bool is_seen = sum_[r] != 0;
    if (attention_.log_sum.IsThere()) {
      const bool has_no_keys = work_.First(tile_.batch).keys == 0;
      Statistic(attention_.log_sum, r,
                is_seen       ? attention_.kernels.log_sum(greatest_[r], sum_[r])
                : has_no_keys ? attention_.log_of_no_keys
                              : kInfinity);
    }
    if (is_seen && attention_.sink.IsThere()) AddSink(r, row);
    const float keep = attention_.Drops() ? attention_.keep : 1.0f;
    const float factor = static_cast<float>(1.0 / static_cast<double>(keep) / static_cast<double>(sum_[r]));
    if (is_seen) {
      attention_.kernels.multiply(row, sums_row_, factor);
    } else {
      std::fill_n(row, sums_row_, 0.0f);
    }
    const AttentionOperand& out = attention_.out;
    char* const to = work_.RowOfQuery(out, tile_.batch, tile_.head, tile_.first + r);
    if (out.dtype == ACL_INT8) {
      if (is_seen) {
        StoreCodes(work_, tile_.head, row, to);
      } else {
        StoreZeros(attention_, out, attention_.value_depth, to);
      }
    } else {
      StoreRow(attention_, out, row, attention_.value_depth, to);
    }
    const float greatest = is_seen ? greatest_[r] : kLowest;
    const AttentionBatch& lengths = work_.First(tile_.batch);
    const bool has_keys = lengths.keys > 0 && !lengths.is_rest;
    Statistic(attention_.greatest, r, has_keys ? greatest : 0.0f);
    Statistic(attention_.sum, r, is_seen ? sum_[r] : has_keys ? std::numeric_limits<float>::max() : 0.0f);
  }

  // A sink acts as one more key, whose value is 0.
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
  Rows keys_;
  Rows values_;
  const bool has_ropes_;
  Rows ropes_;
  const int64_t sums_row_;
  float* queries_;
  float* query_blocks_ = nullptr;
  float* query_ropes_;
  float* s_;
  float* panels_;
  float* terms_;
  float* sums_;
  char* pack_;
  // Pairs of BF16, nullptr without them, the least exponents of their groups, and a panel that is widened.
  uint32_t* query_pairs_ = nullptr;
  uint32_t* weight_pairs_ = nullptr;
  LeastExponent* query_least_ = nullptr;
  LeastExponent* weight_least_ = nullptr;
  float* widened_ = nullptr;
  // The state of each row.
  float* greatest_;
  float* sum_;
  float* factor_;
  bool* is_seen_;
};

}  // namespace portacl::engine::attention
