// Runs updates (see update.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/update/update.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>

#include "base/float_environment.h"
#include "engine/isa_in_use.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

// Elements of a block and of a tile. They are fixed, although no bits depend on them.
constexpr int64_t kBlock = 16384;
constexpr int64_t kTile = 512;
// The fewest elements per thread.
constexpr int64_t kTogether = 32768;

void SetFound(char* to) {
  const auto bits = std::bit_cast<std::array<unsigned char, sizeof(float)>>(1.0f);
  for (size_t i = 0; i < bits.size(); ++i)
    std::atomic_ref(reinterpret_cast<unsigned char*>(to)[i]).store(bits[i], std::memory_order_relaxed);
}

// Updates elements [begin, end). Returns whether the formula set `found`.
bool RunBlock(const PlannedUpdate& update, const JobContext& context, int64_t begin, int64_t end) {
  void* addresses[kMaxUpdateOperands];
  for (int k = 0; k < update.operands; ++k) addresses[k] = context.addresses[update.executor_operand[k]];
  UpdateGiven given{};
  std::copy_n(update.number, kUpdateNumbers, given.number);
  alignas(64) char raw[kTile * sizeof(double)];
  for (int i = 0; i < update.read_count; ++i) {
    given.is_read[i] = update.read_operand[i] >= 0;
    if (!given.is_read[i]) continue;
    void* const base = context.addresses[update.read_operand[i]];
    LoadRows(update.read[i], &base, 0, 1, 0, 1, sizeof(double), reinterpret_cast<char*>(&given.read[i]), raw);
  }
  float numbers[kUpdateNumbers];
  if (!update.prepare(given, numbers)) return false;

  alignas(64) float tiles[kMaxUpdateOperands][kTile];
  bool all_in_place = true;
  for (int k = 0; k < update.operands; ++k) all_in_place = all_in_place && update.operand[k].is_in_place;
  const int64_t step = all_in_place ? kBlock : kTile;
  UpdateWork work;
  Isa isa{};
  for (int64_t at = begin; at < end; at += step) {
    const int64_t n = std::min(step, end - at);
    for (int k = 0; k < update.operands; ++k) {
      const RowwiseOperand& operand = update.operand[k];
      if (operand.is_in_place) {
        work.operand[k] = reinterpret_cast<float*>(static_cast<char*>(addresses[k]) + operand.offset) + at;
      } else {
        work.operand[k] = tiles[k];
        LoadRows(operand, addresses, 0, 1, at, n, sizeof(float), reinterpret_cast<char*>(tiles[k]), raw);
      }
    }
    work.n = static_cast<size_t>(n);
    isa = update.function(numbers, work);
    for (int k = 0; k < update.outputs; ++k) {
      if (update.operand[k].is_in_place) continue;
      RowwiseOperand stored = update.operand[k];
      stored.conversion = update.store[k];
      StoreRows(stored, addresses, 0, 1, at, n, sizeof(float), reinterpret_cast<const char*>(tiles[k]), raw);
    }
  }
  ReportIsaThatRan(isa);
  return work.found;
}

}  // namespace

int64_t UpdateBlocks(int64_t elements) noexcept { return (elements + kBlock - 1) / kBlock; }

void UpdateJob::Run(const JobContext& context) const noexcept {
  const auto* const updates = reinterpret_cast<const PlannedUpdate*>(context.memory);
  const auto* const end = updates + count;
  const int64_t together = std::max<int64_t>(1, blocks * kTogether / std::max<int64_t>(elements, 1));
  ForEachBlock((blocks + together - 1) / together, threads, [&](int64_t part) {
    const DefaultFloatEnvironment environment;
    int64_t block = part * together;
    const int64_t stop = std::min(blocks, block + together);
    const auto* update =
        std::upper_bound(updates, end, block,
                         [](int64_t at, const PlannedUpdate& one) { return at < one.first_block; }) -
        1;
    bool found = false;
    for (; block < stop; ++block) {
      while (update + 1 < end && update[1].first_block <= block) ++update;
      const int64_t begin = (block - update->first_block) * kBlock;
      found |= RunBlock(*update, context, begin, std::min(update->count, begin + kBlock));
    }
    if (found && found_operand >= 0)
      SetFound(static_cast<char*>(context.addresses[found_operand]) + found_offset);
  });
}

}  // namespace portacl::engine
