// Attention (see attention.h) in tiles of queries, which threads take one by one. A tile walks the keys block
// by block. Previous sums are rescaled when a greater score appears.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "base/errors.h"
#include "base/float_environment.h"
#include "engine/attention/heads_run.h"
#include "engine/buffer_ref.h"
#include "engine/isa_in_use.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

using namespace attention;

// Queries of a tile, whose scores with a block of keys stay in the second-level cache.
constexpr int64_t kTileQueries = 128;

class AttentionJob {
 public:
  explicit AttentionJob(const Attention& made) : attention_(made) {}

  bool Touches(int operand) const noexcept {
    bool touches = false;
    attention_.ForEachOperand([&](const AttentionOperand& one) { touches |= one.argument == operand; });
    touches |= attention_.TouchesPart(operand);
    if (attention_.has_lists) {
      for (const AttentionOperand* const list : {&attention_.key, &attention_.value})
        touches |= operand >= list->argument && operand < list->argument + attention_.batches;
    }
    return touches;
  }
  uint64_t OwnWorkspace() const noexcept {
    return static_cast<uint64_t>(Slots::Bytes(attention_) + PaddedBytes(attention_));
  }
  int64_t Elements() const noexcept { return ElementsOf(attention_, 2); }

  void Run(const JobContext& context) const noexcept {
    Work work(attention_, context.memory, context.addresses);
    if (attention_.pads_left)
      SetPadded(work, static_cast<char*>(context.workspace) + Slots::Bytes(attention_));
    if (!PagesExist(work, context)) return;
    const Slots slots(attention_, static_cast<char*>(context.workspace));
    slots.Clear();
    const int64_t tiles = DividedUp(attention_.queries, attention_.tile_queries);
    const int64_t groups = DividedUp(attention_.heads, attention_.together);
    ForEachBlock(
        attention_.batches * groups * tiles, attention_.threads,
        [&](int64_t block) {
          const DefaultFloatEnvironment environment;
          // Takes the last tiles first: if a query sees only the keys before it, they see the most keys.
          const int64_t tile = tiles - 1 - block % tiles;
          const int64_t head = block / tiles % groups * attention_.together;
          const int64_t heads = std::min(attention_.together, attention_.heads - head);
          const int64_t batch = block / tiles / groups;
          const int64_t first = tile * attention_.tile_queries;
          const int64_t rows = std::min(attention_.tile_queries, work.First(batch).queries - first);
          for (int64_t i = 0; i < heads && attention_.pads; ++i)
            Pad(work, batch, head + i, first, std::min(first + attention_.tile_queries, attention_.queries));
          if (rows <= 0) return;
          const int slot = slots.Take();
          char* const memory = slots.Memory(slot);
          if (rows == 1) {
            HeadsRun(work, batch, head, heads, first, memory).Run();
          } else {
            TileRun(work, {batch, head, first, rows}, memory, memory + TileRun::ScratchBytes(attention_))
                .Run();
          }
          slots.Give(slot);
        },
        BlockLength::kLong);
    ReportIsaThatRan(attention_.isa);
  }

 private:
  // Tells whether all pages exist that queries see. Entries that no query sees are not looked at.
  bool PagesExist(const Work& work, const JobContext& context) const noexcept {
    if (!attention_.table.IsThere()) return true;
    for (int64_t batch = 0; batch < attention_.batches; ++batch) {
      const AttentionBatch& lengths = work.First(batch);
      if (lengths.queries <= 0) continue;
      const Scores scores(work, batch, 0);
      int64_t begin, end, rest;
      scores.Range(0, &begin, &rest);
      scores.Range(lengths.queries - 1, &rest, &end);
      for (int64_t i = begin / attention_.page; i * attention_.page < end; ++i) {
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

  // Clears the rows from `first` to `end` that are not the batch's own.
  void Pad(const Work& work, int64_t batch, int64_t head, int64_t first, int64_t end) const noexcept {
    const AttentionBatch& own = work.First(batch);
    const int64_t before = attention_.pads_left ? own.first_query : 0;
    for (int64_t row = first; row < end; ++row) {
      const int64_t i = row - before;
      if (i >= 0 && i < own.queries) continue;
      char* const to = work.RowOfQuery(attention_.out, batch, head, i);
      StoreZeros(attention_, attention_.out, attention_.value_depth, to);
      if (attention_.log_sum.IsThere())
        std::memcpy(work.RowOfQuery(attention_.log_sum, batch, head, i), &kInfinity, sizeof kInfinity);
    }
  }

  Attention attention_;
};

// Bytes of adjacent heads that a task should read of each row: hardware prefetchers stop at pages.
constexpr int64_t kLeastOfRow = 4096;

// Returns how many heads of a query a task takes: those that share keys, and where keys' heads are adjacent in memory,
// several of these. But where there are several threads, each should have two tasks. One suffices if smaller tasks
// would read less than kLeastOfRow bytes of a longer row, and no thread then computes more heads.
int64_t HeadsTogether(const Attention& made, int threads) {
  const auto is_adjacent = [](const AttentionOperand& operand, int64_t depth) {
    return operand.head == depth * operand.column;
  };
  const bool are_adjacent = is_adjacent(made.key, made.depth) && is_adjacent(made.value, made.value_depth);
  const int64_t group = made.group;
  int64_t together = std::min(kMostTogether, are_adjacent ? made.heads : group);
  if (together > group) together = together / group * group;
  const auto tasks_of = [&](int64_t heads) { return made.batches * DividedUp(made.heads, heads); };
  const auto most_heads = [&](int64_t heads) { return DividedUp(tasks_of(heads), threads) * heads; };
  const auto bytes_of_row = [&](int64_t heads) { return heads / group * made.depth * made.key.column; };
  while (together > 1) {
    const int64_t half = together > group ? DividedUp(together / group, 2) * group : DividedUp(together, 2);
    const bool reads_short = are_adjacent && together > group && bytes_of_row(made.heads) > kLeastOfRow &&
                             bytes_of_row(half) < kLeastOfRow && most_heads(together) <= most_heads(half);
    if (tasks_of(together) >= (threads > 1 && !reads_short ? 2 * threads : threads)) break;
    together = half;
  }
  return together;
}

}  // namespace

AnyJob MakeAttentionJob(const Attention& attention, Isa isa, int threads,
                        const AttentionParts* parts) noexcept {
  Attention made = Completed(attention, isa, threads);
  made.SetParts(parts);
  made.tile_queries = DividedUp(made.queries, DividedUp(made.queries, kTileQueries));
  made.together = made.queries == 1 ? HeadsTogether(made, threads) : 1;
  const int64_t blocks = made.batches * made.heads * DividedUp(made.queries, made.tile_queries);
  made.threads = static_cast<int>(std::clamp<int64_t>(std::min<int64_t>(blocks, threads), 1, threads));
  int64_t most = made.tile_queries;
  if (made.most_queries > 0) {
    most = std::min(kTileQueries, std::max(made.most_queries, made.queries));
    made.threads = threads;
  }
  made.slot_bytes =
      TileRun::ScratchBytes(made) +
      std::max(TileRun::Bytes(made, most), std::min(kMostTogether, made.heads) * TileRun::BytesOfHead(made));
  return AnyJob([&] { return AttentionJob{made}; });
}

}  // namespace portacl::engine
