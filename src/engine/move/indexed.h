// Moves whose places on one side come from index tensors: elements are taken from there, or put, added and so on. Bad indices never
// lead outside an operand.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "engine/chosen.h"
#include "engine/job.h"
#include "engine/move/conversion.h"
#include "engine/move/histogram.h"
#include "engine/move/index_offsets.h"
#include "engine/move/move.h"
#include "engine/move/spread.h"
#include "engine/place.h"
#include "engine/sort/distinct.h"
#include "engine/sort/rows.h"
#include "engine/sort/search.h"
#include "plan/loop_plan.h"
#include "plan/strided_view.h"

namespace portacl::engine {

// What is done with each element: taken from the indexed side, or put there and so on. What is added to an element comes in the
// order of the logical index of the plain side, whatever the number of threads.
enum class IndexedAction : uint8_t { kTake, kPut, kAdd, kMultiply, kMaximum, kMinimum };

inline constexpr int kMostIndices = 8;

// One index tensor, walked with the loop. An index i leads i * step bytes into the indexed side.
struct IndexOperand {
  const char* name;
  int32_t operand;  // of the executor
  int32_t entry;    // of the list that it is in; -1: it is in none
  bool is_wide;     // INT64, else INT32
  bool wraps;       // negative ones count from the end
  uint32_t
      repeated;  // bit i: the loop's dim i is none of the index tensor, whose elements are the same all along it
  int64_t bound;
  int64_t step;
  int64_t offset;                    // in bytes
  int64_t stride[kMaxLoopRank + 1];  // one more, as long as dims are merged
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
  int64_t
      before;  // elements of index tensors that earlier steps have: a bad index is named by its place among all
  int32_t size;  // of an element on both sides; of the indexed one where they differ
  Place plain;
  Place indexed;
  int64_t plain_stride[kMaxLoopRank + 1];
  int64_t indexed_stride[kMaxLoopRank + 1];  // besides what the indices add
  int index_count;
  IndexOperand index[kMostIndices];
  int threads;
  IndexedAction action;
  aclDataType dtype;      // that of the indexed side, for actions that compute
  Conversion conversion;  // plain elements to it
  bool is_scaled;         // what is added is multiplied by the scale first
  bool raises;            // a bad index fails the stream
  bool are_columns;       // the index operands are the columns of one tensor
  int64_t ignored;        // an index that is passed over without being bad; kNoneIgnored
  alignas(16) unsigned char scale[16];

  static constexpr int64_t kNoneIgnored = std::numeric_limits<int64_t>::min();
  // The bound of an index that is a place already, in bytes, as FindTrue makes them; and one that is none.
  static constexpr int64_t kPlaces = std::numeric_limits<int64_t>::max();
  static constexpr int64_t kNoPlace = std::numeric_limits<int64_t>::min();

  bool Touches(int operand) const noexcept;
  // In the default floating-point environment. Elements with a bad index become 0 where they are taken, and are left out
  // where they are put.
  void Run(const JobContext& context) const noexcept;
};

// The plan. All views have the loop's shape; that of the indexed side has stride 0 where the indices lead. Sets what follows from the
// views; the rest is the caller's. False when the dims do not merge to kMaxLoopRank.
struct IndexView {
  const StridedView* view;  // strides 0 where the index does not depend on a dim
  int32_t operand;
  const char* name;
  int32_t entry = -1;
  bool wraps = false;
  int64_t bound = 0;
  int64_t step = 0;  // in elements of the indexed side
  uint32_t repeated =
      0;  // bit i: dim i is none of the index tensor as the caller gave it; one that is may have stride 0, too
};
// The bits of dims [first, first + count).
constexpr uint32_t DimBits(int first, int count) noexcept { return ((uint32_t{1} << count) - 1) << first; }
bool PlanIndexed(const StridedView& plain, const StridedView& indexed, const IndexView* indices, int count,
                 IndexedMove& move) noexcept;

// Whether whole rows are combined with those that one index tensor names, none of them with any from elsewhere: then the rows can be
// taken target by target.
bool SumsRows(const IndexedMove& move) noexcept;
int64_t RowsWorkspace(const IndexedMove& move) noexcept;

// One of several steps that follow each other.
struct Step {
  static constexpr size_t kComputationBytes = 640;

  enum class Kind : uint8_t {
    kMove,
    kIndexed,
    kSumRows,  // `indexed`, whose elements are 16-bit floats, combined in float32 and rounded once: see SumsRows
    kDivideRows,  // rows x columns dense elements at the destination, by the int64 counts at the source
    kFindTrue,  // the places of a mask of `rows` bytes, of which `columns` are true; without an entry, at most
    kPack,      // the dense elements at the source, of `size` bytes, where a mask of `rows` bytes is true
    kCoordinates,  // int64 coordinates in `extent` of where it is: rows of them, or, across, columns
    kUnpack,       // `columns` dense elements at the source, one after the other, to where the mask is true
    kSpread,
    kUnique,
    kSortRows,
    kSearch,
    kHistogram,
    kComputation  // of another part of the engine
  };
  Kind kind;
  Move move;
  Place source;
  Place destination;
  IndexedMove indexed;
  Conversion widened;  // of a target to float32
  Conversion rounded;  // and back
  Place order;         // RowsWorkspace bytes
  Spread spread;
  Unique unique;
  SortRows rows_to_sort;
  Search search;
  Histogram histogram;
  void (*compute)(const std::byte* computation, const JobContext& context);
  uint32_t touched;  // operands that it reads or writes, a bit each
  alignas(8) std::byte computation[kComputationBytes];
  aclDataType dtype;  // of what is divided
  bool raises;        // too few elements to unpack fail the stream
  const char* name;   // of those elements
  int64_t rows;
  int64_t columns;
  int threads;
  int rank;  // of the mask
  int entry;
  // Of what is as long as the mask says. At most `columns` are written, and the result's shape is set.
  Place mask;
  Place counts;  // an int64 for each block of the mask
  PackFunction pack;
  UnpackFunction unpack;
  int32_t size;
  bool is_across;
  int64_t extent[kMaxLoopRank];
  int64_t stride[kMaxLoopRank];  // bytes that a step along it leads
};
// How many counts a mask of so many bytes needs.
int64_t MaskBlocks(int64_t bytes) noexcept;

struct StepsJob {
  // context.memory begins with values that steps refer to, then come the steps.
  static constexpr int64_t kSharedBytes = 64;

  int count;
  int64_t elements;

  bool Touches(int) const noexcept { return false; }  // who makes the job knows
  int64_t Elements() const noexcept { return elements; }
  void Run(const JobContext& context) const noexcept;
};

// Whether elements of this dtype can be added and multiplied.
bool CanCompute(aclDataType dtype) noexcept;

}  // namespace portacl::engine
