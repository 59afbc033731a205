// Compaction by masks: positions, coordinates, elements packed and unpacked (see indexed.h).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/move/indexed_elements.h"
#include "engine/move/op_list_run.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int64_t kMaskBlock = 65536;

int64_t CountTrue(const unsigned char* mask, int64_t begin, int64_t end) {
  // Counts in byte lanes of vectors, for as long as these cannot overflow.
  constexpr int64_t kLanes = 64;
  constexpr int64_t kMost = 255;
  int64_t count = 0;
  int64_t i = begin;
  while (i + kLanes <= end) {
    const int64_t rows = std::min(kMost, (end - i) / kLanes);
    uint8_t sums[kLanes] = {};
    for (int64_t row = 0; row < rows; ++row, i += kLanes) {
      for (int64_t lane = 0; lane < kLanes; ++lane)
        sums[lane] = static_cast<uint8_t>(sums[lane] + (mask[i + lane] != 0 ? 1 : 0));
    }
    for (const uint8_t sum : sums) count += sum;
  }
  for (; i < end; ++i) count += mask[i] != 0 ? 1 : 0;
  return count;
}

// Calls put(k, at, j) for elements [begin, end) of a mask. k starts at `first`, grows with each true element,
// and ends the loop at `limit`. `at` and j are the element's coordinates, j the last one. put is also called
// for false elements, whose output the next call overwrites: a branch could not be predicted.
template <class Put>
void ForEachTrue(const ListedOp& op, const unsigned char* mask, int64_t begin, int64_t end, int64_t first,
                 int64_t limit, const Put& put) {
  if (begin >= end) return;
  const int last = op.rank - 1;
  const int64_t length = last < 0 ? 1 : op.extent[last];
  int64_t at[kMaxLoopRank] = {};
  int64_t rest = begin / length;
  int64_t j = begin % length;
  for (int dim = last - 1; dim >= 0; --dim) {
    at[dim] = rest % op.extent[dim];
    rest /= op.extent[dim];
  }
  int64_t k = first;
  for (int64_t i = begin; i < end && k < limit; j = 0) {
    const int64_t stop = std::min(length, j + end - i);
    for (; j < stop && k < limit; ++i, ++j) {
      if (j + 8 <= stop && Load<uint64_t>(reinterpret_cast<const char*>(mask + i)) == 0) {
        i += 7;
        j += 7;
        continue;
      }
      put(k, at, j);
      k += mask[i] != 0 ? 1 : 0;
    }
    for (int dim = last - 1; dim >= 0 && ++at[dim] == op.extent[dim]; --dim) at[dim] = 0;
  }
}

}  // namespace

// Writes the byte offset of each true element of a dense mask, in its order. The caller allocated the output for
// an expected number of them. If the mask has another number, missing entries get no position, and the stream
// fails.
void FindTrue(const ListedOp& op, const JobContext& context) {
  const auto* const mask = reinterpret_cast<const unsigned char*>(op.source.Address(context));
  auto* const offsets = reinterpret_cast<int64_t*>(op.destination.Address(context));
  const int64_t found = CountTrue(mask, 0, op.rows);
  const int last = op.rank - 1;
  const int64_t along = last < 0 ? 0 : op.stride[last];
  ForEachTrue(op, mask, 0, op.rows, 0, std::min(found, op.columns),
              [&](int64_t k, const int64_t* at, int64_t j) {
                int64_t offset = j * along;
                for (int dim = 0; dim < last; ++dim) offset += at[dim] * op.stride[dim];
                offsets[k] = offset;
              });
  for (int64_t i = found; i < op.columns; ++i) offsets[i] = IndexedMove::kNoOffset;
  if (found == op.columns || op.entry < 0) return;
  context.Fail(ACL_ERROR_RT_AICORE_EXCEPTION, Text(context.api, ": indices[", op.entry, "] is true at ",
                                                   found, " places, accepted: ", op.columns,
                                                   ", as the shape of the elements that are named says."));
}

namespace {

// Returns `first` for 1 and `second` for 0.
template <class T>
T Either(int64_t is_first, T first, T second) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(second ^ ((first ^ second) & static_cast<T>(-is_first)));
  } else {
    return is_first != 0 ? first : second;
  }
}

// Rows [begin, end) of a mask, and the range [selected, limit) of packed elements that belong to them.
struct MaskBlock {
  int64_t begin;
  int64_t end;
  int64_t selected;
  int64_t limit;
};

// Packs the elements where the block is true.
void PackBlock(const ListedOp& op, const unsigned char* mask, const MaskBlock& block, const char* source,
               char* destination) {
  const int64_t begin = block.begin;
  const int64_t end = block.end;
  const int64_t limit = block.limit;
  int64_t selected = block.selected;
  const Compacted first = op.pack(mask + begin, source + begin * op.size, end - begin,
                                  destination + selected * op.size, limit - selected);
  selected += first.packed;
  ForSize(op.size, [&](auto element) {
    using T = decltype(element);
    constexpr auto kSize = static_cast<int64_t>(sizeof(T));
    for (int64_t i = begin + first.looked_at; i < end && selected < limit; ++i) {
      Store(destination + selected * kSize, Load<T>(source + i * kSize));
      selected += mask[i] != 0 ? 1 : 0;
    }
  });
}

// Unpacks elements to the positions where the block is true.
void UnpackBlock(const ListedOp& op, const unsigned char* mask, const MaskBlock& block, const char* source,
                 char* destination) {
  const unsigned char* const mask_end = mask + block.end;
  int64_t selected = block.selected;
  const Compacted first = op.unpack(mask + block.begin, source + selected * op.size, block.limit - selected,
                                    destination + block.begin * op.size, block.end - block.begin);
  selected += first.packed;
  const int64_t rest = block.begin + first.looked_at;
  ForSize(op.size, [&](auto element) {
    using T = decltype(element);
    constexpr auto kSize = static_cast<int64_t>(sizeof(T));
    // Loads both values and selects one with bit operations, since a branch could not be predicted. The
    // pointers are local, because for the compiler a store might change anything else.
    const unsigned char* is_true = mask + rest;
    const char* given = source + selected * kSize;
    char* at = destination + rest * kSize;
    for (int64_t left = block.limit - selected; is_true != mask_end && left > 0; ++is_true, at += kSize) {
      int64_t takes = *is_true != 0 ? 1 : 0;
      asm("" : "+r"(takes));  // else the compiler branches, and the processor guesses
      Store(at, Either(takes, Load<T>(given), Load<T>(at)));
      given += takes * kSize;
      left -= takes;
    }
  });
}

// Writes the coordinates of the positions where the block is true. `most` is the number of all blocks' positions.
void WriteCoordinates(const ListedOp& op, const unsigned char* mask, const MaskBlock& block, int64_t most,
                      char* destination) {
  // Operands need not be aligned.
  const auto offset = [destination](int64_t at, int64_t value) {
    std::memcpy(destination + at * int64_t{sizeof value}, &value, sizeof value);
  };
  const int rank = op.rank;
  if (rank == 0) return;
  const auto choose = [&](const auto& put) {
    ForEachTrue(op, mask, block.begin, block.end, block.selected, block.limit, put);
  };
  if (rank == 1) {
    choose([&](int64_t k, const int64_t*, int64_t j) { offset(k, j); });
  } else if (rank == 2 && !op.is_across) {
    choose([&](int64_t k, const int64_t* at, int64_t j) {
      offset(2 * k, at[0]);
      offset(2 * k + 1, j);
    });
  } else {
    const int64_t element = op.is_across ? 1 : rank;
    const int64_t coordinate = op.is_across ? most : 1;
    choose([&](int64_t k, const int64_t* at, int64_t j) {
      for (int dim = 0; dim + 1 < rank; ++dim) offset(k * element + dim * coordinate, at[dim]);
      offset(k * element + (rank - 1) * coordinate, j);
    });
  }
}

}  // namespace

// Compacts by a mask, in its order. First counts the true elements of each block. The prefix sums say where each
// block's packed elements begin.
void WriteCompacted(const ListedOp& op, const JobContext& context) {
  const auto* const mask = reinterpret_cast<const unsigned char*>(op.mask.Address(context));
  auto* const counts = reinterpret_cast<int64_t*>(op.counts.Address(context));
  const int64_t blocks = MaskBlocks(op.rows);
  ForEachBlock(blocks, op.threads, [&](int64_t block) {
    counts[block] = CountTrue(mask, block * kMaskBlock, std::min(op.rows, (block + 1) * kMaskBlock));
  });
  int64_t total = 0;
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t count = counts[block];
    counts[block] = total;
    total += count;
  }
  const int64_t most = std::min(total, op.columns);  // within the output, whatever its shape
  const bool packs = op.kind == ListedOp::Kind::kPack;
  const bool unpacks = op.kind == ListedOp::Kind::kUnpack;
  const char* const source = packs || unpacks ? op.source.Address(context) : nullptr;
  char* const destination = op.destination.Address(context);
  ForEachBlock(blocks, op.threads, [&](int64_t number) {
    const int64_t begin = number * kMaskBlock;
    const MaskBlock block{begin, std::min(op.rows, begin + kMaskBlock), counts[number],
                          std::min(most, number + 1 < blocks ? counts[number + 1] : total)};
    if (packs) return PackBlock(op, mask, block, source, destination);
    if (unpacks) return UnpackBlock(op, mask, block, source, destination);
    WriteCoordinates(op, mask, block, most, destination);
  });
  if (unpacks) {
    if (total > op.columns && op.raises) {
      context.Fail(ACL_ERROR_RT_AICORE_EXCEPTION,
                   Text(context.api, ": ", op.name, " has ", op.columns, " elements, accepted: at least ",
                        total, ", as mask is true at so many places."));
    }
    return;
  }
  if (packs) {
    context.SetShape(0, Shape{most});
  } else {
    context.SetShape(0, op.is_across ? Shape{op.rank, most} : Shape{most, op.rank});
  }
}

int64_t MaskBlocks(int64_t bytes) noexcept { return bytes / kMaskBlock + (bytes % kMaskBlock != 0 ? 1 : 0); }

}  // namespace portacl::engine
