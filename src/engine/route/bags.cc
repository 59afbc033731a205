// Sums, means and maxima of bags (see bags.h). One thread computes a bag, in the order of its entries, so
// bits do not depend on the number of threads.
// SPDX-License-Identifier: Apache-2.0
#include "engine/route/bags.h"

#include <algorithm>
#include <cstring>

#include "base/float_environment.h"
#include "engine/bad_index.h"
#include "engine/move/indexed_elements.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int64_t kColumns = 512;         // of a row, computed at a time
constexpr int64_t kBlockBytes = 1 << 16;  // that a block of bags reads on average
constexpr int64_t kMostAsked = 512;       // bytes of a row that are prefetched

int64_t WordAt(const BufferRef& buffer, const JobContext& context, int64_t i) {
  return Load<int64_t>(buffer.Address(context) + i * int64_t{sizeof(int64_t)});
}
void PutWord(const BufferRef& buffer, const JobContext& context, int64_t i, int64_t word) {
  Store(buffer.Address(context) + i * int64_t{sizeof(int64_t)}, word);
}

class BagsRun {
 public:
  BagsRun(const ReduceBags& bags, const JobContext& context)
      : bags_(bags),
        context_(context),
        source_(bags.source.buffer.Address(context)),
        index_(bags.index.Address(context)),
        row_bytes_(bags.columns * bags.source.size),
        ahead_(std::max<int64_t>(1, kRowsAhead / 2 / std::max<int64_t>(row_bytes_, 1))) {
    const bool is_aligned = reinterpret_cast<uintptr_t>(source_) % alignof(float) == 0;
    reads_in_place_ = bags.source.size == int32_t{sizeof(float)} && is_aligned;
  }

  void All() {
    if (bags_.bag.is_there) PutBags();
    for (int64_t i = 0; bags_.none.is_there && i < bags_.none_words; ++i)
      PutWord(bags_.none.buffer, context_, i, 0);
    for (int64_t i = 0; bags_.count.is_there && i < bags_.clears_behind; ++i)
      PutWord(bags_.count.buffer, context_, bags_.bags + i, 0);
    const int64_t of_bag =
        (bags_.entries / std::max<int64_t>(bags_.bags, 1) + 1) * std::max<int64_t>(row_bytes_, 1);
    const int64_t together = std::max<int64_t>(1, kBlockBytes / of_bag);
    ForEachBlock((bags_.bags + together - 1) / together, bags_.threads, [&](int64_t block) {
      const DefaultFloatEnvironment environment;
      const int64_t end = std::min(bags_.bags, (block + 1) * together);
      for (int64_t bag = block * together; bag < end; ++bag) Reduce(bag);
    });
    bad_offset_.Report(context_, bags_.raises, bags_.offset_name, 0, bags_.entries + 1,
                       [&](int64_t at) { return WordAt(bags_.offset, context_, at); });
    bad_index_.Report(context_, bags_.raises, bags_.index_name, 0, bags_.source_rows,
                      [&](int64_t at) { return WordAt(bags_.index, context_, at); });
  }

 private:
  int64_t Boundary(int64_t i) {
    if (i >= bags_.offsets) return bags_.entries;
    const int64_t at = WordAt(bags_.offset, context_, i);
    if (at < 0 || at > bags_.entries) bad_offset_.Note(i);
    return std::clamp<int64_t>(at, 0, bags_.entries);
  }

  // One thread does it: an entry may be in several bags where offsets do not ascend, and then has the last one.
  void PutBags() {
    char* const to = bags_.bag.buffer.Address(context_);
    const auto put = [to](int64_t begin, int64_t end, int64_t bag) {
      for (int64_t entry = begin; entry < end; ++entry) Store(to + entry * int64_t{sizeof bag}, bag);
    };
    put(0, bags_.entries, -1);
    for (int64_t bag = 0; bag < bags_.bags; ++bag) put(Boundary(bag), Boundary(bag + 1), bag);
  }

  int64_t IndexOf(int64_t entry) const { return Load<int64_t>(index_ + entry * int64_t{sizeof(int64_t)}); }

  // Returns the source row of an entry, -1 if it is left out, -2 if it is bad: then the row is 0.
  int64_t RowOf(int64_t entry) {
    const int64_t row = IndexOf(entry);
    if (row == bags_.skipped && row >= 0) return -1;
    if (row >= 0 && row < bags_.source_rows) return row;
    bad_index_.Note(entry);
    return -2;
  }

  // Prefetches the beginning of a row of a later entry, of this bag or of another; it may lie anywhere.
  void AskFor(int64_t entry, int64_t column, int64_t n) const {
    asm volatile("");  // otherwise gcc drops calls of this function, which seems to have no effect
    if (entry >= bags_.entries) return;
    const int64_t row = IndexOf(entry);
    if (row < 0 || row >= bags_.source_rows) return;
    const char* const next = source_ + row * row_bytes_ + column * bags_.source.size;
    for (int64_t byte = 0; byte < std::min(n * bags_.source.size, kMostAsked); byte += 64)
      __builtin_prefetch(next + byte, 0, 2);
  }

  // Returns n numbers of a row, in place or loaded into `loaded`.
  const float* TermsOf(int64_t row, int64_t column, int64_t n, float* loaded) const {
    if (row < 0) {
      std::fill_n(loaded, n, 0.0f);
      return loaded;
    }
    const char* const from = source_ + row * row_bytes_ + column * bags_.source.size;
    if (reads_in_place_) return reinterpret_cast<const float*>(from);
    bags_.source.load(from, loaded, static_cast<size_t>(n));
    return loaded;
  }
  float FactorOf(int64_t entry) const {
    if (!bags_.factor.is_there) return 1.0f;
    float factor;
    bags_.factor.load(bags_.factor.buffer.Address(context_) + entry * bags_.factor.size, &factor, 1);
    return factor;
  }

  void Reduce(int64_t bag) {
    const int64_t begin = Boundary(bag);
    const int64_t end = Boundary(bag + 1);
    int64_t count = 0;
    for (int64_t entry = begin; entry < end; ++entry) count += RowOf(entry) == -1 ? 0 : 1;
    if (bags_.count.is_there) PutWord(bags_.count.buffer, context_, bag, count);
    for (int64_t column = 0; column < bags_.columns; column += kColumns)
      ReduceColumns(bag, begin, end, count, column, std::min(kColumns, bags_.columns - column));
  }

  void ReduceColumns(int64_t bag, int64_t begin, int64_t end, int64_t count, int64_t column, int64_t n) {
    float result[kColumns];
    float loaded[kColumns];
    int64_t most[kColumns];
    std::fill_n(result, n, 0.0f);
    std::fill_n(most, n, int64_t{0});
    bool is_first = true;
    for (int64_t entry = begin; entry < end; ++entry) {
      AskFor(entry + ahead_, column, n);
      const int64_t row = RowOf(entry);
      if (row == -1) continue;
      const float* term = TermsOf(row, column, n, loaded);
      if (bags_.factor.is_there) {
        const float factor = FactorOf(entry);
        for (int64_t i = 0; i < n; ++i) loaded[i] = term[i] * factor;
        term = loaded;
      }
      if (bags_.mode != ReduceBags::Mode::kMost) {
        for (int64_t i = 0; i < n; ++i) result[i] += term[i];
      } else {
        for (int64_t i = 0; i < n; ++i) {
          if (!is_first && !(term[i] > result[i])) continue;
          result[i] = term[i];
          most[i] = std::max<int64_t>(row, 0);
        }
      }
      is_first = false;
    }
    if (bags_.mode == ReduceBags::Mode::kMean && count > 1) {
      const auto divisor = static_cast<float>(count);
      for (int64_t i = 0; i < n; ++i) result[i] /= divisor;
    }
    bags_.to.store(result, bags_.to.buffer.Address(context_) + (bag * bags_.columns + column) * bags_.to.size,
                   static_cast<size_t>(n), false);
    if (!bags_.most.is_there) return;
    for (int64_t i = 0; i < n; ++i)
      PutWord(bags_.most.buffer, context_, bag * bags_.columns + column + i, most[i]);
  }

  const ReduceBags& bags_;
  const JobContext& context_;
  const char* const source_;
  const char* const index_;
  const int64_t row_bytes_;
  const int64_t ahead_;  // entries
  bool reads_in_place_;
  BadIndex bad_index_;
  BadIndex bad_offset_;
};

}  // namespace

void ReduceBags::Run(const JobContext& context) const noexcept { BagsRun(*this, context).All(); }

}  // namespace portacl::engine
