// Sorts rows (see rows.h). Threads take rows, or parts of one if there are few long ones.
// SPDX-License-Identifier: Apache-2.0
#include "engine/sort/rows.h"

#include <algorithm>
#include <type_traits>

#include "base/float_environment.h"
#include "engine/parallel.h"
#include "engine/sort/sort_lines.h"

namespace portacl::engine {
namespace {

// Several threads sort a row of at least this many elements.
constexpr int64_t kLongRow = 65536;
// Elements for each further thread.
constexpr int64_t kWorthThread = 16384;
// Selecting few of many elements filters them. If more than one in kRarelyKept is kept, or there are fewer
// elements, all are counted.
constexpr int64_t kRarelyKept = 8;
constexpr int64_t kManyToFilter = 1024;
constexpr int64_t kWriteBlock = 32768;

int64_t Aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

bool IsWide(const SortRows& rows) { return HasWidePairs(rows.dtype, rows.length); }
bool IsSorted(const SortRows& rows) {
  return rows.kind == SortRows::Kind::kFirst && rows.kept == rows.length;
}
bool IsFiltered(const SortRows& rows) {
  return rows.kind == SortRows::Kind::kFirst && rows.length >= kManyToFilter &&
         rows.kept <= rows.length / kRarelyKept;
}
bool IsGathered(const SortRows& rows) { return rows.source.step != rows.size && rows.length > 1; }
// Whether values may overwrite the row that is being read.
bool MayBeInPlace(const SortRows& rows) { return IsSorted(rows) && rows.values.is_there && rows.length > 1; }
// The key-index pairs in each of a row's two buffers. Filtering collects FilterRoom of them before it selects
// the first ones.
int64_t FilterRoom(const SortRows& rows) { return 2 * rows.kept + 2 * kFilterStep; }
int64_t FirstRoom(const SortRows& rows) { return IsFiltered(rows) ? FilterRoom(rows) : rows.length; }
int64_t SecondRoom(const SortRows& rows) {
  if (rows.kind != SortRows::Kind::kFirst) return 0;
  return IsFiltered(rows) ? FilterRoom(rows) : rows.length;
}

// The division of the work: `parts` groups of rows, and `threads` for each row.
struct ThreadBlocks {
  int64_t parts;
  int threads;
};
ThreadBlocks ThreadBlocksOf(const SortRows& rows) {
  const int most = std::clamp(rows.threads, 1, kMostSortParts);
  if (rows.rows < most && rows.length >= kLongRow && IsSorted(rows)) return {1, most};
  return {std::clamp<int64_t>(rows.rows * rows.length / kWorthThread, 1, std::min<int64_t>(most, rows.rows)),
          1};
}

int64_t PartBytes(const SortRows& rows, const ThreadBlocks& thread_blocks) {
  const auto pair = static_cast<int64_t>(IsWide(rows) ? sizeof(WidePair) : sizeof(NarrowPair));
  const int64_t counts = thread_blocks.threads > 1 ? kSortCounts : kSortCountsAlone;
  int64_t bytes = Aligned(FirstRoom(rows) * pair) + Aligned(SecondRoom(rows) * pair) +
                  Aligned(counts * int64_t{sizeof(int64_t)});
  if (IsGathered(rows) || MayBeInPlace(rows)) bytes += Aligned(rows.length * rows.size);
  return bytes;
}

// A row's byte offset from each side's first element.
struct RowOffsets {
  int64_t index[kMaxDims];
  int64_t source = 0;
  int64_t values = 0;
  int64_t indices = 0;

  RowOffsets(const SortRows& rows, int64_t row) {  // NOLINT(*-member-init): index up to the rank
    for (int dim = rows.rank - 1; dim >= 0; --dim) {
      index[dim] = row % rows.extent[dim];
      row /= rows.extent[dim];
      Move(rows, dim, index[dim]);
    }
  }
  void Next(const SortRows& rows) {
    for (int dim = rows.rank - 1; dim >= 0; --dim) {
      if (++index[dim] < rows.extent[dim]) return Move(rows, dim, 1);
      index[dim] = 0;
      Move(rows, dim, 1 - rows.extent[dim]);
    }
  }

 private:
  void Move(const SortRows& rows, int dim, int64_t by) {
    source += by * rows.source.stride[dim];
    values += by * rows.values.stride[dim];
    indices += by * rows.indices.stride[dim];
  }
};

template <class Pair>
struct RowMemory {
  Pair* pairs[2];
  int64_t* counts;
  char* gathered;

  RowMemory(const SortRows& rows, const ThreadBlocks& thread_blocks, char* at) {  // NOLINT(*-member-init)
    const auto take = [&at](int64_t bytes) {
      char* const taken = at;
      at += Aligned(bytes);
      return taken;
    };
    constexpr auto kPair = static_cast<int64_t>(sizeof(Pair));
    pairs[0] = reinterpret_cast<Pair*>(take(FirstRoom(rows) * kPair));
    pairs[1] = reinterpret_cast<Pair*>(take(SecondRoom(rows) * kPair));
    counts = reinterpret_cast<int64_t*>(
        take((thread_blocks.threads > 1 ? kSortCounts : kSortCountsAlone) * int64_t{sizeof(int64_t)}));
    gathered = at;
  }
};

// Returns the first `kept` key-index pairs of a row, in order. If they are filtered, the row is read once.
template <class Pair>
const Pair* FirstPairs(const SortRows& rows, const char* elements, int threads, RowMemory<Pair>& memory) {
  const int64_t n = rows.length;
  const int64_t k = rows.kept;
  const uint64_t flips = rows.descends ? FlippedKeys(rows.dtype) : 0;
  Pair* pairs = memory.pairs[0];
  Pair* other = memory.pairs[1];
  if constexpr (std::is_same_v<Pair, NarrowPair>) {
    if (n <= kFewPairs) {
      MakePairs(rows.isa, rows.dtype, elements, n, 0, flips, pairs);
      SortFew(rows.isa, pairs, n, other, &pairs);
      return pairs;
    }
  }
  if (IsFiltered(rows)) {
    const int64_t room = FilterRoom(rows);
    int64_t i = std::min(n, room);
    KeyRange range = MakePairs(rows.isa, rows.dtype, elements, i, 0, flips, pairs);
    int64_t count = i;
    while (true) {
      const Pair last = SelectLeast(pairs, count, k, range, other);
      std::swap(pairs, other);
      count = k;
      if (i == n) break;
      // Later elements with the key of `last` come after it, so that only smaller keys pass.
      i += FilterPairs(rows.isa, rows.dtype, elements + i * rows.size, n - i, i, flips, KeyOf(last), room,
                       pairs, &count);
      if (count == k) break;
      range = RangeOf(pairs, count);
    }
  } else if (k < n) {
    const KeyRange range = MakePairs(rows.isa, rows.dtype, elements, n, 0, flips, pairs);
    SelectLeast(pairs, n, k, range, other);
    std::swap(pairs, other);
  } else {
    MakeAllPairs(rows.isa, rows.dtype, elements, n, flips, threads, pairs);
  }
  const SortMemory<Pair> sort{{pairs, other}, memory.counts};
  return sort.pairs[SortPairs(sort, k, threads)];
}

// Returns the one key-index pair that is wanted.
template <class Pair>
Pair OnePair(const SortRows& rows, const char* elements, RowMemory<Pair>& memory) {
  const int64_t n = rows.length;
  Pair* const pairs = memory.pairs[0];
  const KeyRange range = MakePairs(rows.isa, rows.dtype, elements, n, 0, /*flips=*/0, pairs);
  int64_t nth = rows.nth;
  if (rows.kind != SortRows::Kind::kOne) {
    int64_t numbers = n;
    const uint64_t nan = NanKey(rows.dtype);
    if (IsFloatKey(rows.dtype) && range.most == nan) {
      int64_t nans = 0;
      for (int64_t i = 0; i < n; ++i) nans += KeyOf(pairs[i]) == nan ? 1 : 0;
      if (rows.kind == SortRows::Kind::kMedian)
        return *std::find_if(pairs, pairs + n, [nan](const Pair& pair) { return KeyOf(pair) == nan; });
      numbers -= nans;
    }
    nth = numbers == 0 ? 0 : (numbers - 1) / 2;
  }
  return SelectLeast<Pair>(pairs, n, nth + 1, range, nullptr);
}

template <class Bits, class Pair>
void TakeElements(const char* elements, const Pair* pairs, int64_t n, char* to, int64_t step) {
  for (int64_t i = 0; i < n; ++i)
    Store(to + i * step, Load<Bits>(elements + PositionOf(pairs[i]) * static_cast<int64_t>(sizeof(Bits))));
}
template <class Pair>
void TakeElements(int32_t size, const char* elements, const Pair* pairs, int64_t n, char* to, int64_t step) {
  switch (size) {
    case 1:
      return TakeElements<uint8_t>(elements, pairs, n, to, step);
    case 2:
      return TakeElements<uint16_t>(elements, pairs, n, to, step);
    case 4:
      return TakeElements<uint32_t>(elements, pairs, n, to, step);
    default:
      return TakeElements<uint64_t>(elements, pairs, n, to, step);
  }
}

// Writes n key-index pairs of a row, which are elements `first` and so on of the result.
template <class Pair>
void WritePairs(const SortRows& rows, const char* elements, const Pair* pairs, int64_t first, int64_t n,
                char* values, char* indices) {
  pairs += first;
  if (rows.values.is_there) {
    values += first * rows.values.step;
    TakeElements(rows.size, elements, pairs, n, values, rows.values.step);
  }
  if (rows.indices.is_there) {
    indices += first * rows.indices.step;
    for (int64_t i = 0; i < n; ++i) Store(indices + i * rows.indices.step, PositionOf(pairs[i]));
  }
}

template <class Pair>
void RunRows(const SortRows& rows, const JobContext& context) {
  const ThreadBlocks thread_blocks = ThreadBlocksOf(rows);
  const int64_t bytes = PartBytes(rows, thread_blocks);
  char* const memory = rows.memory.Address(context);
  const char* const source = rows.source.buffer.Address(context);
  char* const values = rows.values.is_there ? rows.values.buffer.Address(context) : nullptr;
  char* const indices = rows.indices.is_there ? rows.indices.buffer.Address(context) : nullptr;
  const bool is_copied = IsGathered(rows) || (MayBeInPlace(rows) && values == source);
  const int64_t thread_block = (rows.rows + thread_blocks.parts - 1) / thread_blocks.parts;
  ForEachBlock(thread_blocks.parts, rows.threads, [&](int64_t part) {
    RowMemory<Pair> row_memory(rows, thread_blocks, memory + part * bytes);
    const int64_t end = std::min(rows.rows, (part + 1) * thread_block);
    RowOffsets at(rows, part * thread_block);
    for (int64_t row = part * thread_block; row < end; ++row, at.Next(rows)) {
      const char* elements = source + at.source;
      if (is_copied) {
        rows.gather(elements, rows.source.step, rows.size, row_memory.gathered, rows.length);
        elements = row_memory.gathered;
      }
      char* const values_at = rows.values.is_there ? values + at.values : nullptr;
      char* const indices_at = rows.indices.is_there ? indices + at.indices : nullptr;
      if (rows.kind != SortRows::Kind::kFirst) {
        const Pair pair = OnePair(rows, elements, row_memory);
        WritePairs(rows, elements, &pair, 0, 1, values_at, indices_at);
        continue;
      }
      const Pair* const pairs = FirstPairs(rows, elements, thread_blocks.threads, row_memory);
      const int64_t blocks = (rows.kept + kWriteBlock - 1) / kWriteBlock;
      ForEachBlock(blocks, thread_blocks.threads, [&](int64_t block) {
        const int64_t first = block * kWriteBlock;
        WritePairs(rows, elements, pairs, first, std::min(rows.kept - first, kWriteBlock), values_at,
                   indices_at);
      });
    }
  });
}

}  // namespace

void PlanSortRows(const StridedView& source, const StridedView* values, const StridedView* indices, int dim,
                  Isa isa, int threads, SortRows& rows) noexcept {
  rows.dtype = source.dtype;
  rows.size = static_cast<int32_t>(aclDataTypeSize(source.dtype));
  rows.isa = isa;
  rows.threads = threads;
  rows.length = source.shape.rank == 0 ? 1 : source.shape[dim];
  rows.rows = source.numel / rows.length;
  rows.gather = FindGather(isa, GatherSource::kCache);
  const StridedView* const tensors[] = {&source, values, indices};
  SortRows::Side* const sides[] = {&rows.source, &rows.values, &rows.indices};
  for (int i = 0; i < 3; ++i) {
    SortRows::Side& side = *sides[i];
    side.is_there = tensors[i] != nullptr;
    side.step = 0;
    if (!side.is_there) continue;
    side.buffer.offset += ByteOffset(*tensors[i]);
    side.step = tensors[i]->shape.rank == 0 ? 0 : ByteStride(*tensors[i], dim);
  }
  // Drops dims of length 1, and merges a dim into the inner one if all sides allow it.
  rows.rank = 0;
  for (int d = source.shape.rank - 1; d >= 0; --d) {
    if (d == dim || source.shape[d] == 1) continue;
    int64_t stride[3] = {};
    for (int i = 0; i < 3; ++i) stride[i] = sides[i]->is_there ? ByteStride(*tensors[i], d) : 0;
    const int last = rows.rank - 1;
    bool continues = last >= 0;
    for (int i = 0; i < 3 && continues; ++i)
      continues = stride[i] == sides[i]->stride[last] * rows.extent[last];
    if (continues) {
      rows.extent[last] *= source.shape[d];
      continue;
    }
    rows.extent[rows.rank] = source.shape[d];
    for (int i = 0; i < 3; ++i) sides[i]->stride[rows.rank] = stride[i];
    ++rows.rank;
  }
  std::reverse(rows.extent, rows.extent + rows.rank);
  for (SortRows::Side* const side : sides) std::reverse(side->stride, side->stride + rows.rank);
}

int64_t RowsMemory(const SortRows& rows) noexcept {
  const ThreadBlocks thread_blocks = ThreadBlocksOf(rows);
  return PartBytes(rows, thread_blocks) * thread_blocks.parts;
}

void SortRows::Run(const JobContext& context) const noexcept {
  const DefaultFloatEnvironment environment;
  IsWide(*this) ? RunRows<WidePair>(*this, context) : RunRows<NarrowPair>(*this, context);
}

}  // namespace portacl::engine
