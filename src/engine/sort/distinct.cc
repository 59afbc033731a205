// Distinct elements and runs (see distinct.h). Beginnings of runs are counted in blocks, then each block
// writes after those before it.
// SPDX-License-Identifier: Apache-2.0
#include "engine/sort/distinct.h"

#include <algorithm>
#include <limits>

#include "base/float_environment.h"
#include "engine/compaction.h"
#include "engine/parallel.h"
#include "engine/sort/sort_lines.h"

namespace portacl::engine {
namespace {

constexpr int64_t kBlock = 32768;

int64_t Blocks(int64_t count) { return (count + kBlock - 1) / kBlock; }
int64_t Aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// Hands out parts of a buffer.
class Cutter {
 public:
  explicit Cutter(char* memory) : at_(memory) {}
  template <class T>
  T* Take(int64_t n) {
    char* const taken = at_;
    at_ += Aligned(n * static_cast<int64_t>(sizeof(T)));
    return reinterpret_cast<T*>(taken);
  }

 private:
  char* at_;
};

// Compares bits. Each number has one pattern, except that 0 has two, and NaN equals nothing.
template <class Bits>
bool AreEqual(Bits a, Bits b, Bits infinity) {
  const auto sign = static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1));
  const auto magnitude = static_cast<Bits>(a & static_cast<Bits>(~sign));
  if (magnitude > infinity) return false;
  return a == b || (magnitude == 0 && static_cast<Bits>(b & static_cast<Bits>(~sign)) == 0);
}
template <class Bits>
bool AreEqualRows(const char* a, const char* b, int64_t n, Bits infinity) {
  for (int64_t i = 0; i < n; ++i, a += sizeof(Bits), b += sizeof(Bits)) {
    if (!AreEqual(Load<Bits>(a), Load<Bits>(b), infinity)) return false;
  }
  return true;
}

// Tells whether n adjacent elements equal n others.
bool AreEqualElements(const Unique& unique, const char* a, const char* b, int64_t n) {
  switch (unique.dtype) {
    case ACL_FLOAT:
      return AreEqualRows<uint32_t>(a, b, n, 0x7F800000);
    case ACL_COMPLEX64:
      return AreEqualRows<uint32_t>(a, b, 2 * n, 0x7F800000);
    case ACL_DOUBLE:
      return AreEqualRows<uint64_t>(a, b, n, 0x7FF0000000000000);
    case ACL_COMPLEX128:
      return AreEqualRows<uint64_t>(a, b, 2 * n, 0x7FF0000000000000);
    case ACL_FLOAT16:
      return AreEqualRows<uint16_t>(a, b, n, 0x7C00);
    case ACL_BF16:
      return AreEqualRows<uint16_t>(a, b, n, 0x7F80);
    case ACL_BOOL:
      return std::equal(a, a + n, b, [](char x, char y) { return (x != 0) == (y != 0); });
    default:
      return std::memcmp(a, b, static_cast<size_t>(n * unique.size)) == 0;
  }
}

// Writes the results. begins(i) says whether element i of the order differs from element i - 1; position(i)
// returns its position in the source.
template <class Begins, class PositionOf>
void WriteUnique(const Unique& unique, const JobContext& context, Cutter& memory, const Begins& begins,
                 const PositionOf& position) {
  const int64_t blocks = Blocks(unique.count);
  auto* const found_before = memory.Take<int64_t>(blocks);
  ForEachBlock(blocks, unique.threads, [&](int64_t block) {
    const int64_t end = std::min(unique.count, (block + 1) * kBlock);
    int64_t found = 0;
    for (int64_t i = block * kBlock; i < end; ++i) found += i == 0 || begins(i) ? 1 : 0;
    found_before[block] = found;
  });
  int64_t total = 0;
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t found = found_before[block];
    found_before[block] = total;
    total += found;
  }
  const bool counts_them = unique.sets_counts;
  auto* const starts = counts_them ? memory.Take<int64_t>(unique.count + 1) : nullptr;
  const int64_t written = std::min(total, unique.most_values);
  const int64_t part = unique.behind * unique.size;
  const char* const source = unique.source.Address(context);
  char* const values = unique.values.Address(context);
  char* const inverse = unique.most_inverse > 0 ? unique.inverse.Address(context) : nullptr;
  ForEachBlock(blocks, unique.threads, [&](int64_t block) {
    const int64_t end = std::min(unique.count, (block + 1) * kBlock);
    int64_t found = found_before[block] - 1;
    for (int64_t i = block * kBlock; i < end; ++i) {
      const int64_t at = position(i);
      if (i == 0 || begins(i)) {
        ++found;
        for (int64_t k = 0; k < unique.before && found < written; ++k)
          std::memcpy(values + (k * written + found) * part, source + (k * unique.count + at) * part,
                      static_cast<size_t>(part));
        if (counts_them) starts[found] = i;
      }
      if (at < unique.most_inverse) Store(inverse + at * int64_t{sizeof(int64_t)}, found);
    }
  });
  Shape shape;
  shape.rank = unique.rank;
  std::copy(unique.extent, unique.extent + unique.rank, shape.dim);
  shape.dim[unique.dim] = written;
  context.SetShape(0, shape);
  if (!counts_them) return;
  starts[total] = unique.count;
  char* const counts = unique.counts.Address(context);
  const int64_t counted = std::min(total, unique.most_counts);
  for (int64_t i = 0; i < counted; ++i)
    Store(counts + i * int64_t{sizeof(int64_t)}, starts[i + 1] - starts[i]);
  context.SetShape(Unique::kCountsShape, Shape{counted});
}

// Tells whether an element differs from the previous one. Has no branches, so that it vectorises. Bits are compared
// as above.
template <class Bits, Bits kInfinity>
bool Differs(Bits before, Bits one) {
  const auto magnitude = static_cast<Bits>(one << 1);
  const bool is_zero = static_cast<Bits>((before | one) << 1) == 0;
  return ((before != one) & !is_zero) | (magnitude > static_cast<Bits>(kInfinity << 1));
}
template <class Bits>
bool DiffersAsInteger(Bits before, Bits one) {
  return before != one;
}

void SetRuns(const Unique& unique, const JobContext& context, int64_t found) {
  context.SetShape(0, Shape{std::min(found, unique.most_values)});
}

// Packs the elements of [begin, end) that begin a run, up to `most`, and returns their number. Element begin
// - 1 exists.
template <class Bits, bool (*kDiffers)(Bits, Bits)>
int64_t PackBeginnings(const Unique& unique, const char* source, int64_t begin, int64_t end, char* values,
                       int64_t most) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(Bits));
  const PackRunsFunction pack = FindPackRuns(unique.isa, unique.dtype);
  // Uses a buffer, so that nothing is written after the result.
  constexpr int64_t kTile = 2048;
  alignas(64) char packed[kTile * kSize];
  int64_t found = 0;
  for (int64_t i = begin; i < end && found < most; i += kTile) {
    const int64_t n = std::min(kTile, end - i);
    const char* const from = source + i * kSize;
    const Compacted first = pack(from, n, packed, kTile);
    int64_t count = first.packed;
    Bits before = Load<Bits>(from + (first.looked_at - 1) * kSize);
    for (int64_t k = first.looked_at; k < n; ++k) {
      const Bits one = Load<Bits>(from + k * kSize);
      Store(packed + count * kSize, one);
      count += kDiffers(before, one) ? 1 : 0;
      before = one;
    }
    count = std::min(count, most - found);
    std::memcpy(values + found * kSize, packed, static_cast<size_t>(count * kSize));
    found += count;
  }
  return found;
}

// Packs the first element of each run, if the inverse and the counts are not wanted.
template <class Bits, bool (*kDiffers)(Bits, Bits)>
void PackRuns(const Unique& unique, const JobContext& context, Cutter& memory) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(Bits));
  const char* const source = unique.source.Address(context);
  char* const values = unique.values.Address(context);
  const int64_t most = unique.most_values;
  if (unique.count == 0 || most == 0) return SetRuns(unique, context, unique.count);
  Store(values, Load<Bits>(source));
  if (unique.threads == 1) {
    return SetRuns(
        unique, context,
        1 + PackBeginnings<Bits, kDiffers>(unique, source, 1, unique.count, values + kSize, most - 1));
  }
  const int64_t blocks = Blocks(unique.count);
  auto* const found_before = memory.Take<int64_t>(blocks);
  const auto differs = [source](int64_t i) {
    return kDiffers(Load<Bits>(source + (i - 1) * kSize), Load<Bits>(source + i * kSize));
  };
  ForEachBlock(blocks, unique.threads, [&](int64_t block) {
    const int64_t end = std::min(unique.count, (block + 1) * kBlock);
    int64_t found = block == 0 ? 1 : 0;
    for (int64_t i = std::max<int64_t>(block * kBlock, 1); i < end; ++i) found += differs(i) ? 1 : 0;
    found_before[block] = found;
  });
  int64_t total = 0;
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t found = found_before[block];
    found_before[block] = total;
    total += found;
  }
  ForEachBlock(blocks, unique.threads, [&](int64_t block) {
    const int64_t end = std::min(unique.count, (block + 1) * kBlock);
    const int64_t first = std::max<int64_t>(block * kBlock, 1);
    const int64_t packed_at = block == 0 ? 1 : found_before[block];
    if (packed_at >= most) return;
    PackBeginnings<Bits, kDiffers>(unique, source, first, end, values + packed_at * kSize, most - packed_at);
  });
  SetRuns(unique, context, total);
}

// Runs PackRuns for the dtype. Returns false if it does not support the call.
bool PackRunsOf(const Unique& unique, const JobContext& context, Cutter& memory) {
  if (unique.before != 1 || unique.behind != 1 || unique.rank != 1) return false;
  if (unique.most_inverse > 0 || unique.sets_counts) return false;
  switch (unique.dtype) {
    case ACL_FLOAT:
      PackRuns<uint32_t, Differs<uint32_t, 0x7F800000>>(unique, context, memory);
      return true;
    case ACL_DOUBLE:
      PackRuns<uint64_t, Differs<uint64_t, 0x7FF0000000000000>>(unique, context, memory);
      return true;
    case ACL_FLOAT16:
      PackRuns<uint16_t, Differs<uint16_t, 0x7C00>>(unique, context, memory);
      return true;
    case ACL_BF16:
      PackRuns<uint16_t, Differs<uint16_t, 0x7F80>>(unique, context, memory);
      return true;
    case ACL_BOOL:
    case ACL_COMPLEX64:
    case ACL_COMPLEX128:
      return false;
    default:
      break;
  }
  switch (unique.size) {
    case 1:
      PackRuns<uint8_t, DiffersAsInteger<uint8_t>>(unique, context, memory);
      return true;
    case 2:
      PackRuns<uint16_t, DiffersAsInteger<uint16_t>>(unique, context, memory);
      return true;
    case 4:
      PackRuns<uint32_t, DiffersAsInteger<uint32_t>>(unique, context, memory);
      return true;
    default:
      PackRuns<uint64_t, DiffersAsInteger<uint64_t>>(unique, context, memory);
      return true;
  }
}

template <class Pair>
void RunSorted(const Unique& unique, const JobContext& context) {
  Cutter memory(unique.memory.Address(context));
  SortMemory<Pair> sort{};
  for (Pair*& pairs : sort.pairs) pairs = memory.Take<Pair>(unique.count);
  sort.counts = memory.Take<int64_t>(kSortCounts);
  MakeAllPairs(unique.isa, unique.dtype, unique.source.Address(context), unique.count, /*flips=*/0,
               unique.threads, sort.pairs[0]);
  const Pair* const pairs = sort.pairs[SortPairs(sort, unique.count, unique.threads)];
  const bool has_nan = IsFloatKey(unique.dtype);
  const uint64_t nan = NanKey(unique.dtype);
  WriteUnique(
      unique, context, memory,
      [=](int64_t i) {
        const uint64_t key = KeyOf(pairs[i]);
        return key != KeyOf(pairs[i - 1]) || (has_nan && key == nan);
      },
      [=](int64_t i) { return PositionOf(pairs[i]); });
}

}  // namespace

int64_t UniqueMemory(aclDataType dtype, int64_t count, bool sorts) noexcept {
  int64_t bytes =
      Aligned(Blocks(count) * int64_t{sizeof(int64_t)}) + Aligned((count + 1) * int64_t{sizeof(int64_t)});
  if (!sorts) return bytes;
  bytes += 2 * Aligned(count * static_cast<int64_t>(HasWidePairs(dtype, count) ? sizeof(WidePair)
                                                                               : sizeof(NarrowPair)));
  return bytes + Aligned(kSortCounts * int64_t{sizeof(int64_t)});
}

void Unique::Run(const JobContext& context) const noexcept {
  const DefaultFloatEnvironment environment;
  if (sorts) {
    return HasWidePairs(dtype, count) ? RunSorted<WidePair>(*this, context)
                                      : RunSorted<NarrowPair>(*this, context);
  }
  Cutter cut(memory.Address(context));
  if (PackRunsOf(*this, context, cut)) return;
  const char* const from = source.Address(context);
  const int64_t part = behind * size;
  WriteUnique(
      *this, context, cut,
      [&](int64_t i) {
        for (int64_t k = 0; k < before; ++k) {
          const char* const at = from + (k * count + i) * part;
          if (!AreEqualElements(*this, at - part, at, behind)) return true;
        }
        return false;
      },
      [](int64_t i) { return i; });
}

}  // namespace portacl::engine
