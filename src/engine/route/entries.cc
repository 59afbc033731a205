// Computes the positions of entries (see route.h). There are only a few numbers for each entry: plain loops
// suffice.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>

#include "base/float_environment.h"
#include "engine/bad_index.h"
#include "engine/parallel.h"
#include "engine/route/route.h"

namespace portacl::engine {
namespace {

// Reads and writes an operand's numbers.
template <class T>
class Numbers {
 public:
  Numbers(const BufferRef& buffer, const JobContext& context) : base_(buffer.Address(context)) {}
  T operator[](int64_t i) const { return Load<T>(base_ + i * int64_t{sizeof(T)}); }
  void Set(int64_t i, T value) const { Store(base_ + i * int64_t{sizeof(T)}, value); }

 private:
  char* base_;
};
using Wide = Numbers<int64_t>;

// Writes the numbers of an operand that may be missing.
class MaybeWide {
 public:
  MaybeWide(const OptionalBuffer& buffer, const JobContext& context)
      : numbers_(buffer.is_there ? buffer.buffer : BufferRef{BufferRef::kMemory, 0}, context),
        is_there_(buffer.is_there) {}
  void Set(int64_t i, int64_t value) const {
    if (is_there_) numbers_.Set(i, value);
  }

 private:
  Wide numbers_;
  bool is_there_;
};

bool IsIn(int64_t i, int64_t below) { return i >= 0 && i < below; }

}  // namespace

void RankEntries::Run(const JobContext& context) const noexcept {
  const Wide wide(expert, context);
  const Numbers<int32_t> narrow(expert, context);
  const Wide sorted(order, context);
  const MaybeWide ranks(rank, context);
  const MaybeWide row_entries(entry, context);
  const auto expert_of = [&](int64_t i) { return is_wide ? wide[i] : int64_t{narrow[i]}; };
  for (int64_t row = 0; entry.is_there && row < rows; ++row) row_entries.Set(row, -1);
  const MaybeWide counts(count, context);
  const MaybeWide totals(total, context);
  BadIndex bad;
  int64_t of_expert = low;  // the expert whose entries are being counted
  int64_t counted = 0;
  int64_t next = 0;  // entries of the range so far
  const auto end_experts = [&](int64_t until) {
    for (; of_expert < until; ++of_expert, counted = 0) {
      counts.Set(of_expert - low, counted);
      totals.Set(of_expert - low, next);
    }
  };
  for (int64_t q = 0; q < entries; ++q) {
    const int64_t at = sorted[q];
    const int64_t e = expert_of(at);
    if (e < low || e >= high) {
      ranks.Set(at, -1);
      if (raises) bad.Note(at);
      continue;
    }
    if (count.is_there || total.is_there || capacity > 0) {
      if (count.is_there || total.is_there) end_experts(e);
      if (e != of_expert) counted = 0;
      of_expert = e;
    }
    const int64_t row = capacity == 0 ? next : counted < capacity ? (e - low) * capacity + counted : -1;
    ++counted;
    ++next;
    ranks.Set(at, row);
    if (row >= 0 && row < rows) row_entries.Set(row, at);
  }
  if (count.is_there || total.is_there) end_experts(high);
  bad.Report(context, raises, name, low, high, expert_of);
}

void PairCounts::Run(const JobContext& context) const noexcept {
  const Wide counts(count, context);
  const Wide to(pairs, context);
  int64_t row = 0;
  for (int64_t e = 0; e < experts && row < rows; ++e) {
    if (counts[e] == 0) continue;
    to.Set(2 * row, first + e);
    to.Set(2 * row + 1, counts[e]);
    ++row;
  }
  if (row < rows) {
    to.Set(2 * row, 0);
    to.Set(2 * row + 1, 0);
  }
}

void InvertIndex::Run(const JobContext& context) const noexcept {
  const Wide from(index, context);
  const Wide to(entry, context);
  for (int64_t row = 0; row < rows; ++row) to.Set(row, -1);
  BadIndex bad;
  const Wide elements(element.is_there ? element.buffer : index, context);
  const Wide* const of_element = element.is_there ? &elements : nullptr;
  int64_t bad_value = 0;
  int64_t bad_element = std::numeric_limits<int64_t>::max();
  for (int64_t p = 0; p < entries; ++p) {
    const int64_t at = from[p];
    if (IsIn(at, rows)) {
      to.Set(at, p);
    } else if (at < least || (at >= rows && !may_exceed)) {
      const int64_t own = of_element == nullptr ? p : (*of_element)[p];
      if (own < bad_element) bad_value = at;
      bad_element = std::min(bad_element, own);
      bad.Note(own);
    }
  }
  bad.Report(context, raises, name, least, rows, [&](int64_t) { return bad_value; });
}

void GroupIndex::Run(const JobContext& context) const noexcept {
  const Wide from(index, context);
  const Wide sorted(order, context);
  const Wide to(begin, context);
  int64_t q = 0;
  for (int64_t group = 0; group <= groups; ++group) {
    while (q < entries && from[sorted[q]] < group) ++q;
    to.Set(group, q);
  }
  BadIndex bad;
  for (int64_t p = 0; p < entries; ++p) {
    if (from[p] != -1 && !IsIn(from[p], groups)) bad.Note(p);
  }
  bad.Report(context, raises, name, -1, groups, [&](int64_t at) { return from[at]; });
}

void MapEntries::Run(const JobContext& context) const noexcept {
  const char* const bytes = map.Address(context);
  const auto is_one = [&](int64_t i, int64_t e) { return bytes[i * experts + e] != 0; };
  const MaybeWide tokens_of(token, context);
  const MaybeWide experts_of(expert, context);
  const MaybeWide ranks(rank, context);
  const MaybeWide padded_at(ones, context);
  const MaybeWide in_map(in_order, context);
  for (int64_t row = 0; row < rows; ++row) {
    tokens_of.Set(row, -1);
    experts_of.Set(row, -1);
    in_map.Set(row, -1);
  }
  const auto set = [&](int64_t row, int64_t i, int64_t e) {
    if (row >= rows) return;
    tokens_of.Set(row, i);
    experts_of.Set(row, e);
    in_map.Set(row, i * experts + e);
  };
  if (capacity > 0) {
    for (int64_t e = 0; e < experts; ++e) {
      int64_t taken = 0;
      for (const bool ones_first : {true, false}) {
        for (int64_t i = 0; i < tokens && taken < capacity; ++i) {
          if (is_one(i, e) == ones_first) set(e * capacity + taken++, i, e);
        }
      }
    }
    return;
  }
  for (int64_t p = 0; p < tokens * of_token; ++p) {
    ranks.Set(p, -1);
    padded_at.Set(p, -1);
  }
  if (token.is_there || expert.is_there || in_order.is_there) {
    int64_t row = 0;
    for (int64_t e = 0; e < experts && row < rows; ++e) {
      for (int64_t i = 0; i < tokens; ++i) {
        if (is_one(i, e)) set(row++, i, e);
      }
    }
  }
  if (ones.is_there) {
    for (int64_t i = 0; i < tokens; ++i) {
      int64_t j = 0;
      for (int64_t e = 0; e < experts && j < of_token; ++e) {
        if (is_one(i, e)) padded_at.Set(i * of_token + j++, i * experts + e);
      }
    }
  }
  if (rank.is_there) {
    // Counts rows expert by expert, which visits each token's entries in ascending order.
    int64_t row = 0;
    for (int64_t e = 0; e < experts; ++e) {
      for (int64_t i = 0; i < tokens; ++i) {
        if (!is_one(i, e)) continue;
        const Wide own(rank.buffer, context);
        for (int64_t j = 0; j < of_token; ++j) {
          if (own[i * of_token + j] >= 0) continue;
          own.Set(i * of_token + j, row < rows ? row : -1);
          break;
        }
        ++row;
      }
    }
  }
}

void MoveNumbers::Run(const JobContext& context) const noexcept {
  const char* const source = from.Address(context);
  char* const target = to.Address(context);
  const Wide padded_at(buffer, context);
  const auto bytes = static_cast<size_t>(size);
  if (puts) std::memset(target, 0, static_cast<size_t>(length) * bytes);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = padded_at[i];
    const bool is_position = IsIn(at, length);
    if (puts && is_position) std::memcpy(target + at * size, source + i * size, bytes);
    if (!puts && is_position) std::memcpy(target + i * size, source + at * size, bytes);
    if (!puts && !is_position) std::memset(target + i * size, 0, bytes);
  }
}

void PaddedPositions::Run(const JobContext& context) const noexcept {
  const Wide from(token, context);
  const Wide to(buffer, context);
  const Wide positions(position.is_there ? position.buffer : token, context);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = position.is_there ? positions[i] : i;
    const bool is_position = IsIn(from[i], tokens) && at >= 0 && at / capacity < experts;
    to.Set(i, is_position ? from[i] * experts + at / capacity : -1);
  }
}

void NumberColumns::Run(const JobContext& context) const noexcept {
  const Numbers<int32_t> numbers(to, context);
  for (int64_t i = 0; i < rows * columns; ++i)
    numbers.Set(i, static_cast<int32_t>(i % columns * rows + i / columns));
}

void CountUpTo::Run(const JobContext& context) const noexcept {
  const Numbers<int32_t> numbers(sorted, context);
  const Numbers<int32_t> counts(to, context);
  for (int64_t e = 0; e < experts; ++e) {
    int64_t low = 0;
    int64_t high = count;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (numbers[middle] <= e)
        low = middle + 1;
      else
        high = middle;
    }
    counts.Set(e, static_cast<int32_t>(low));
  }
}

void Reroute::Run(const JobContext& context) const noexcept {
  const Wide counts(count, context);
  const Wide from(source, context);
  const Wide totals(total, context);
  BadIndex bad;
  // Clamps sizes that are negative or larger than the remaining rows.
  int64_t left = rows;
  const auto size_of = [&](int64_t cell) { return std::clamp<int64_t>(counts[cell], 0, rows); };
  for (int64_t row = 0; row < rows; ++row) from.Set(row, -1);
  for (int64_t cell = 0; cell < ranks * experts; ++cell) {
    if (counts[cell] < 0 || counts[cell] > left) bad.Note(cell);
    left -= std::min(left, size_of(cell));
  }
  const Wide begins(begin, context);
  int64_t begun = 0;
  for (int64_t cell = 0; cell < ranks * experts; ++cell) {
    begins.Set(cell, begun);
    begun = std::min(rows, begun + size_of(cell));
  }
  int64_t to = 0;
  for (int64_t e = 0; e < experts; ++e) {
    uint64_t sum = 0;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      const int64_t cell = rank * experts + e;
      sum += static_cast<uint64_t>(counts[cell]);
      const int64_t end = std::min(rows, begins[cell] + size_of(cell));
      for (int64_t row = begins[cell]; row < end && to < rows; ++row) from.Set(to++, row);
    }
    totals.Set(e, static_cast<int64_t>(sum));
  }
  bad.Report(context, raises, name, 0, rows + 1, [&](int64_t at) { return counts[at]; });
}

void ChooseCopies::Run(const JobContext& context) const noexcept {
  const Wide from(expert, context);
  const Numbers<int32_t> copies(table, context);
  const Wide chosen(to, context);
  BadIndex bad;
  for (int64_t p = 0; p < tokens * entries; ++p) {
    const int64_t e = from[p];
    if (!IsIn(e, experts)) {
      bad.Note(p);
      chosen.Set(p, 0);
      continue;
    }
    const int64_t count = std::clamp<int64_t>(copies[e * columns], 1, columns - 1);
    const int64_t share = (world + count - 1) / count;
    int64_t which = by_token ? p / entries % count : rank / share;
    which = count == 1 ? 0 : std::min(which, count - 1);
    chosen.Set(p, copies[e * columns + which + 1]);
  }
  if (kept.is_there) {
    const DefaultFloatEnvironment environment;
    const Numbers<float> scores(score.buffer, context);
    const Numbers<float> thresholds(threshold.buffer, context);
    const Numbers<char> flags(active.is_there ? active.buffer : kept.buffer, context);
    const Numbers<char> result(kept.buffer, context);
    for (int64_t i = 0; i < tokens; ++i) {
      float sum = 0;
      for (int64_t j = 0; j < entries; ++j) sum += scores[i * entries + j];
      const bool is_active = !active.is_there || flags[i] != 0;
      for (int64_t j = 0; j < entries; ++j) {
        const bool is_kept = is_active && scores[i * entries + j] >= thresholds[j] * sum;
        result.Set(i * entries + j, is_kept ? 1 : 0);
      }
    }
  }
  bad.Report(context, raises, name, 0, experts, [&](int64_t at) { return from[at]; });
}

}  // namespace portacl::engine
