// Moves with indices: index tensors give the positions on one side, from which elements are taken, or to
// which they are put, added and so on. Bad indices never lead outside an operand.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "engine/buffer_ref.h"
#include "engine/compaction.h"
#include "engine/job.h"
#include "engine/move/conversion.h"
#include "engine/move/histogram.h"
#include "engine/move/index_offsets.h"
#include "engine/move/move.h"
#include "engine/move/repeat_by_counts.h"
#include "engine/sort/distinct.h"
#include "engine/sort/rows.h"
#include "engine/sort/search.h"
#include "plan/loop_plan.h"
#include "plan/strided_view.h"

namespace portacl::engine {

// The operation on each element: taken from the indexed side, or put there, added and so on. Elements are
// combined in the order of the plain side's logical index, whatever the number of threads.
enum class IndexedAction : uint8_t { kTake, kPut, kAdd, kMultiply, kMaximum, kMinimum, kDivide };

inline constexpr int kMostIndices = 8;

// An index tensor, walked with the loop. An index i means i * step bytes on the indexed side.
struct IndexOperand {
  const char* name;
  int32_t operand;    // of the executor
  int32_t entry;      // index within its tensor list; -1: it is in none
  bool is_wide;       // INT64, else INT32
  bool wraps;         // negative ones count from the end
  uint32_t repeated;  // bit i: the index tensor lacks the loop's dim i, so that its elements repeat along it
  int64_t bound;
  int64_t step;
  int64_t offset;                    // in bytes
  int64_t stride[kMaxLoopRank + 1];  // one more while dims are being merged
  FollowIndices follow;
};

// The first bad index, by the logical position of its element.
struct IndexFault {
  std::atomic<int64_t> position{std::numeric_limits<int64_t>::max()};

  void Note(int64_t at) noexcept {
    int64_t seen = position.load(std::memory_order_relaxed);
    while (at < seen && !position.compare_exchange_weak(seen, at, std::memory_order_relaxed)) {
    }
  }
};

// Trivially copyable, so that a job can hold it.
struct IndexedMove {
  int rank;
  int64_t extent[kMaxLoopRank + 1];
  int64_t count;
  int64_t before;  // index elements in earlier ops; a bad index is reported by its position among all
  int32_t size;    // of an element on both sides, or on the indexed one if they differ
  BufferRef plain;
  BufferRef indexed;
  int64_t plain_stride[kMaxLoopRank + 1];
  int64_t indexed_stride[kMaxLoopRank + 1];  // without the indices' part
  int index_count;
  IndexOperand index[kMostIndices];
  int threads;
  IndexedAction action;
  aclDataType dtype;      // of the indexed side, for actions that compute
  Conversion conversion;  // of plain elements to that dtype
  bool is_scaled;         // added elements are first multiplied by the scale
  bool raises;            // a bad index fails the stream
  bool are_columns;       // the index operands are the columns of one tensor
  int64_t ignored;        // an index that is skipped without being bad; or kNoneIgnored
  alignas(16) unsigned char scale[16];

  static constexpr int64_t kNoneIgnored = std::numeric_limits<int64_t>::min();
  // Values for indices that already are byte offsets, as FindTrue makes them: their bound, and the index that
  // means none.
  static constexpr int64_t kOffsets = std::numeric_limits<int64_t>::max();
  static constexpr int64_t kNoOffset = std::numeric_limits<int64_t>::min();

  bool Touches(int operand) const noexcept;
  // Runs in the default floating-point environment. Elements with a bad index are taken as 0, or are not put.
  void Run(const JobContext& context) const noexcept;
};

// Plans the loop. All views have the loop's shape; the indexed side's view has stride 0 along dims that
// indices replace. Sets the members that follow from the views; the caller sets the rest. Returns false if
// the dims do not merge to kMaxLoopRank.
struct IndexView {
  const StridedView* view;  // stride 0 along dims on which the index does not depend
  int32_t operand;
  const char* name;
  int32_t entry = -1;
  bool wraps = false;
  int64_t bound = 0;
  int64_t step = 0;  // in elements of the indexed side
  uint32_t repeated =
      // Bit i: the index tensor lacks dim i as the caller gave it; a dim that it has may have stride 0, too.
      0;
};
// Returns the bits of dims [first, first + count).
constexpr uint32_t DimBits(int first, int count) noexcept { return ((uint32_t{1} << count) - 1) << first; }
bool PlanIndexed(const StridedView& plain, const StridedView& indexed, const IndexView* indices, int count,
                 IndexedMove& move) noexcept;

// Tells whether whole rows are combined at the rows that one index tensor names, independently of each other. Then
// the rows can be processed target by target.
bool SumsRows(const IndexedMove& move) noexcept;
int64_t RowsWorkspace(const IndexedMove& move) noexcept;

// An op of a list: several computations that a job runs one after the other.
struct ListedOp {
  static constexpr size_t kComputationBytes = 640;
  static constexpr size_t kComputationAlignment = 8;

  enum class Kind : uint8_t {
    kMove,
    kIndexed,
    kSumRows,  // combines `indexed`, which has 16-bit floats, in float32 and rounds once: see SumsRows
    // Divides rows x columns dense elements at the destination by the int64 counts at the source.
    kDivideRows,
    // Writes the positions of the true bytes of a mask of `rows` bytes: `columns` of them, or without an
    // entry at most `columns`.
    kFindTrue,
    kPack,  // compacts the dense elements of `size` bytes at the source by a mask of `rows` bytes
    // Writes int64 coordinates in `extent` of true elements: as rows, or, if across, as columns.
    kCoordinates,
    // Writes `columns` consecutive dense elements at the source to the positions where the mask is true.
    kUnpack,
    kRepeatInterleave,
    kUnique,
    kSortRows,
    kSearch,
    kHistogram,
    kComputation  // any other part of the engine
  };
  Kind kind;
  Move move;
  BufferRef source;
  BufferRef destination;
  IndexedMove indexed;
  Conversion widened;  // of a target to float32
  Conversion rounded;  // and back
  BufferRef order;     // RowsWorkspace bytes
  RepeatInterleave interleave;
  Unique unique;
  SortRows sort_rows;
  Search search;
  Histogram histogram;
  void (*compute)(const std::byte* computation, const JobContext& context);
  uint32_t touched;  // operands that it reads or writes, a bit each
  alignas(kComputationAlignment) std::byte computation[kComputationBytes];
  aclDataType dtype;  // of the dividend
  bool raises;        // too few elements to unpack fail the stream
  const char* name;   // of those elements
  int64_t rows;
  int64_t columns;
  int threads;
  int rank;  // of the mask
  int entry;
  // For ops whose result is as long as the mask says. At most `columns` elements are written, and the
  // result's shape is set.
  BufferRef mask;
  BufferRef counts;  // an int64 for each block of the mask
  PackFunction pack;
  UnpackFunction unpack;
  int32_t size;
  bool is_across;
  int64_t extent[kMaxLoopRank];
  int64_t stride[kMaxLoopRank];  // byte strides of the dims
};
// Returns the number of counts for a mask of `bytes` bytes.
int64_t MaskBlocks(int64_t bytes) noexcept;

struct OpListJob {
  // context.memory begins with values that ops refer to; the ops follow.
  static constexpr int64_t kSharedValueBytes = 64;

  int count;
  int64_t elements;

  bool Touches(int) const noexcept { return false; }  // whoever makes the job decides
  int64_t Elements() const noexcept { return elements; }
  void Run(const JobContext& context) const noexcept;
};

// Tells whether elements of this dtype can be added and multiplied.
bool CanCompute(aclDataType dtype) noexcept;

}  // namespace portacl::engine
