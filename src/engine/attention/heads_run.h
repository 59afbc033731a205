// Several heads of one query (see forward.cc), which walk the keys together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>

#include "engine/attention/tile_run.h"

namespace portacl::engine::attention {

// Heads of one query that walk the keys together: as many as make long runs of memory where heads are adjacent.
inline constexpr int64_t kMostTogether = 32;
// Values that are prefetched while the weights of a block are made: at least so many rows, and bytes for each head, which
// arrive in about the time that its weights take.
inline constexpr int64_t kFirstRows = 8;
inline constexpr int64_t kFirstValues = 8192;
// Bytes from the keys that are read to those that are prefetched: they arrive before they are read.
inline constexpr int64_t kKeysAhead = 8192;

// Computes several heads of one query together, block by block. Pieces of keys and values are read in the order of
// memory, heads that share a piece use it one after the other, and the next pieces are prefetched.
class HeadsRun {
 public:
  HeadsRun(const Work& work, int64_t batch, int64_t head, int64_t count, int64_t query, char* memory)
      : attention_(work.attention), head_(head), count_(count) {
    char* const own = memory + TileRun::ScratchBytes(attention_);
    for (int64_t i = 0; i < count; ++i)
      runs_[i].emplace(work, Tile{batch, head + i, query, 1}, memory,
                       own + i * TileRun::BytesOfHead(attention_));
    step_ = TileRun::BytesOfHead(attention_) / kNumber;
  }

  void Run() {
    // Heads of keys that are not adjacent are walked one after the other.
    const bool are_adjacent = AreAdjacent(runs_[0]->Keys(), attention_.depth) &&
                              AreAdjacent(runs_[0]->Values(), attention_.value_depth);
    for (int64_t first = 0; first < count_;) {
      const int64_t end = are_adjacent ? count_ : EndOfGroup(first);
      RunTogether(first, end);
      first = end;
    }
  }

 private:
  void RunTogether(int64_t first, int64_t end) {
    int64_t key = 0;
    int64_t end_of_keys = 0;
    for (int64_t i = first; i < end; ++i) runs_[i]->Begin(&key, &end_of_keys);
    for (; key < end_of_keys; key += kAttentionKeys) {
      const int64_t count = std::min(kAttentionKeys, end_of_keys - key);
      MultiplyKeys(first, end, key, count);
      bool any[kMostTogether];
      bool all = true;
      for (int64_t i = first; i < end; ++i) {
        FetchValues(first, end, key, count, i);
        any[i] = runs_[i]->MakeWeights(key, count);
        all = all && any[i];
      }
      if (all && runs_[first]->AddsValuesInPlace(key, count)) {
        const int64_t next = key + count;
        AddValues(first, end, key, count, next < end_of_keys ? KeysAfterValues(first, next) : nullptr);
      } else {
        for (int64_t i = first; i < end; ++i) {
          if (any[i]) runs_[i]->MultiplyValues(key, count);
        }
      }
      for (int64_t i = first; i < end; ++i) {
        if (any[i]) runs_[i]->AddTerms();
      }
    }
    for (int64_t i = first; i < end; ++i) runs_[i]->End();
  }

  // Keys at equal distances in memory. A head has as many as the kernel takes at a time, since keys that are far apart
  // share few sets of a cache.
  struct Piece {
    const char* from;  // of the first head of keys
    int64_t count;
  };

  // Multiplies the heads' queries with a block of keys: a piece of each head of keys before the next piece of any.
  void MultiplyKeys(int64_t first, int64_t end, int64_t key, int64_t count) {
    const Rows& rows = runs_[first]->Keys();
    if (!rows.IsPlain()) {
      for (int64_t i = first; i < end; ++i) runs_[i]->MultiplyKeys(key, count);
      return;
    }
    const AttentionOperand& operand = rows.Operand();
    Piece pieces[kAttentionKeys];
    const int64_t most = attention_.gemm->columns / 2;
    const int64_t number = FindPieces(rows, key, count, most, pieces);
    const int64_t heads = KeyHeads(first, end);
    const bool takes_whole = heads == end - first && runs_[first]->TakesWholeKeys();
    // The piece that is prefetched, and its head.
    int64_t ahead = std::max<int64_t>(1, kKeysAhead / (most * attention_.depth * operand.column));
    int64_t later = takes_whole ? number : ahead / heads;
    ahead %= heads;
    int64_t done = 0;
    for (int64_t p = 0; p < number; ++p) {
      const char* from = pieces[p].from;
      if (takes_whole && pieces[p].count == most) {
        const char* const next = p + 1 < number ? pieces[p + 1].from : nullptr;
        MultiplyWholeKeys(first, end, from, done, WholeAhead(first, end, key, pieces, number, p), next);
        done += most;
        continue;
      }
      for (int64_t i = first; i < end; from += operand.head) {
        const int64_t end_of_group = std::min(end, EndOfGroup(i));
        const char* const next = later < number ? pieces[later].from + ahead * operand.head : nullptr;
        runs_[i]->MultiplyKeysAt(from, pieces[p].count, done, end_of_group - i, step_, next);
        i = end_of_group;
        if (++ahead < heads) continue;
        ahead = 0;
        ++later;
      }
      done += pieces[p].count;
    }
    for (int64_t i = first; i < end; ++i) runs_[i]->MultiplyRopes(key, count);
  }

  // Multiplies a piece by the kernel that takes as many keys. The keys at `ahead` are prefetched in the order of memory,
  // whatever the order in which they are read, and those at `next` are read after these; nullptr: there are none.
  void MultiplyWholeKeys(int64_t first, int64_t end, const char* from, int64_t at, const char* ahead,
                         const char* next) {
    const AttentionOperand& operand = runs_[first]->Keys().Operand();
    const int64_t row = (end - first) * attention_.depth * operand.column;
    const int64_t bytes = attention_.gemm->columns / 2 * attention_.depth * operand.column;
    // To prefetch what is read costs nothing.
    LinesAhead lines = ahead != nullptr ? LinesAhead{ahead, operand.row, row} : LinesAhead{from, 0, row};
    for (int64_t i = first; i < end; ++i, from += operand.head) {
      runs_[i]->MultiplyWholeKeys(from, at, lines, i + 1 < end ? from + operand.head : next);
      for (lines.at += bytes; lines.at >= row; lines.at -= row) lines.row += lines.step;
    }
  }

  // Returns the piece that is prefetched with piece p: a later one of the block, or values that lie as keys do.
  const char* WholeAhead(int64_t first, int64_t end, int64_t key, const Piece* pieces, int64_t number,
                         int64_t p) const {
    const AttentionOperand& operand = runs_[first]->Keys().Operand();
    const int64_t most = attention_.gemm->columns / 2;
    const int64_t bytes = most * (end - first) * attention_.depth * operand.column;
    const int64_t later = p + std::max<int64_t>(1, kKeysAhead / bytes);
    if (later < number) return pieces[later].from;
    const char* const values = ValuesAfterKeys(first, key);
    return values != nullptr ? values + (later - number) * most * operand.row : nullptr;
  }

  static int64_t FindPieces(const Rows& rows, int64_t key, int64_t count, int64_t most, Piece* pieces) {
    int64_t number = 0;
    for (int64_t done = 0; done < count;) {
      int64_t run;
      const char* from = rows.At(key + done, &run);
      run = std::min(run, count - done);
      done += run;
      for (; run > 0; run -= most, from += most * rows.Operand().row)
        pieces[number++] = {from, std::min(most, run)};
    }
    return number;
  }

  // Prefetches a head's part of the values with which the sums of a block begin. AddHeads prefetches the others. Without
  // it these are all values, unless they are contiguous.
  void FetchValues(int64_t first, int64_t end, int64_t key, int64_t count, int64_t i) const {
    const Rows& rows = runs_[first]->Values();
    if (!rows.IsPlain()) return;
    const int64_t bytes = KeyHeads(first, end) * attention_.value_depth * rows.Operand().column;
    const bool is_first = runs_[first]->RoundsWeights() || rows.Operand().row == bytes;
    const int64_t most =
        is_first ? std::min(count, std::max(kFirstRows, kFirstValues * (end - first) / bytes)) : count;
    const int64_t from = most * (i - first) / (end - first);
    rows.Prefetch(key + from, most * (i + 1 - first) / (end - first) - from, bytes);
  }

  // Adds the values of a block, times the heads' weights. `keys` are read next.
  void AddValues(int64_t first, int64_t end, int64_t key, int64_t count, const char* keys) {
    const Rows& rows = runs_[first]->Values();
    const AttentionOperand& operand = rows.Operand();
    const AddHeadsFunction add = attention_.gemm->even_odd.add_heads[ElementOf(operand.dtype)];
    int64_t run;
    const char* from = rows.At(key, &run);
    for (int64_t done = 0; done < count;) {
      const int64_t some = std::min(run, count - done);
      const int64_t behind = done + some;
      const char* const next = behind < count ? rows.At(key + behind, &run) : keys;
      add({runs_[first]->Weights() + done, step_, from, operand.row, runs_[first]->Terms(), step_,
           end - first, attention_.group, (head_ + first) % attention_.group, some, attention_.value_depth,
           done > 0, next});
      from = next;
      done = behind;
    }
  }

  // Returns the address of keys that lie as values do; else nullptr.
  const char* KeysAfterValues(int64_t first, int64_t key) const {
    const Rows& keys = runs_[first]->Keys();
    const AttentionOperand& values = runs_[first]->Values().Operand();
    if (!keys.IsPlain() || keys.Operand().row != values.row || keys.Operand().column != values.column ||
        attention_.depth != attention_.value_depth)
      return nullptr;
    int64_t run;
    return keys.At(key, &run);
  }

  // Returns the address of values that lie as keys do; else nullptr.
  const char* ValuesAfterKeys(int64_t first, int64_t key) const {
    const Rows& values = runs_[first]->Values();
    const AttentionOperand& keys = runs_[first]->Keys().Operand();
    if (!values.IsPlain() || keys.row != values.Operand().row || keys.column != values.Operand().column ||
        attention_.depth != attention_.value_depth)
      return nullptr;
    int64_t run;
    return values.At(key, &run);
  }

  bool AreAdjacent(const Rows& rows, int64_t depth) const {
    return rows.IsPlain() && rows.Operand().head == depth * rows.Operand().column;
  }
  int64_t KeyHeads(int64_t first, int64_t end) const {
    return (head_ + end - 1) / attention_.group - (head_ + first) / attention_.group + 1;
  }
  // Returns the first head from i on that does not share keys with head i.
  int64_t EndOfGroup(int64_t i) const {
    return std::min(count_, i + attention_.group - (head_ + i) % attention_.group);
  }

  const Attention& attention_;
  const int64_t head_;
  const int64_t count_;
  int64_t step_;  // numbers from a head's memory to the next one's
  std::optional<TileRun> runs_[kMostTogether];
};

}  // namespace portacl::engine::attention
