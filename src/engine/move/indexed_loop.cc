// Moves with indices (see indexed.h): the loop, and the report of a bad index.
// SPDX-License-Identifier: Apache-2.0

#include "engine/move/indexed.h"

#include <algorithm>
#include <cstring>

#include "base/data_type.h"
#include "base/float_environment.h"
#include "engine/cache_size.h"
#include "engine/isa_in_use.h"
#include "engine/move/block.h"
#include "engine/move/indexed_elements.h"
#include "engine/move/op_list_run.h"
#include "engine/parallel.h"

#include <hwy/cache_control.h>

namespace portacl::engine {
namespace {

// The longest line whose offsets are kept because all lines share them.
constexpr int64_t kRepeatedElements = 2048;
// Lets every thread scan all indices for its own targets, if targets are farther away than indices: if they
// span more bytes than this.
constexpr int64_t kWorthLooking = int64_t{4} << 20;
// The fewest threads for that. Two take longer than one alone, which skips no indices and has the memory's
// bandwidth for itself.
constexpr int kThreadsWorthLooking = 4;
// The fewest bytes in a thread's part of a row. With fewer, threads wait for each other's cache lines.
constexpr int64_t kWorthCutting = 2048;

constexpr int64_t kRowBeginning = 512;
// Limits for prefetching the next line. Indices visit a line in any order, so that no processor predicts that
// the next line follows. The first is the most bytes of a line, the second how many times more bytes than
// needed it may have. Lines that together fit a cache of kInCache bytes are not prefetched.
constexpr int64_t kMostLineAhead = 32768;
constexpr int64_t kMostUnwanted = 4;
constexpr int64_t kInCache = 1 << 20;
// Strided indices are prefetched a tile ahead, up to this many bytes.
constexpr int64_t kMostIndicesAhead = 16384;

class Loop {
 public:
  Loop(const IndexedMove& move, const JobContext& context, IndexFault& fault)
      : move_(move),
        plain_(move.plain.Address(context)),
        indexed_(move.indexed.Address(context)),
        fault_(fault) {
    for (int k = 0; k < move.index_count; ++k) {
      index_[k] = BufferRef{move.index[k].operand, move.index[k].offset}.Address(context);
    }
    // At most two trailing dims on which no index depends are the row, which may be one element. The dim
    // around it is the line.
    while (trailing_ < 2 && trailing_ < move.rank && !DependsOn(move.rank - 1 - trailing_)) ++trailing_;
    line_ = move.rank - 1 - trailing_;
    streams_ = trailing_ > 0 && (move.action == IndexedAction::kTake || move.action == IndexedAction::kPut) &&
               2 * move.count * move.size > LastLevelCacheBytes();
    if (trailing_ > 0 || line_ < 1 || move_.index_count != 1 || move_.indexed_stride[line_] != 0) return;
    const IndexOperand& one = move_.index[0];
    if (one.bound == IndexedMove::kOffsets || one.step <= 0 || one.bound > kMostLineAhead / one.step) return;
    const int64_t bytes = one.bound * one.step;
    if (bytes <= kMostUnwanted * move_.extent[line_] * move_.size && move_.count * move_.size > kInCache)
      next_line_bytes_ = bytes;
  }

  bool DependsOn(int dim) const {
    for (int k = 0; k < move_.index_count; ++k) {
      if (move_.index[k].stride[dim] != 0) return true;
    }
    return false;
  }

  // Runs the elements whose coordinate on dim `cut` is in [low, high), in order.
  void Run(int cut, int64_t low, int64_t high) const {
    RunLines(cut, low, high);
    if (streams_) hwy::FlushStream();
  }

  // Restricts writes to targets whose first index is in [low, high).
  void LimitTargets(int64_t low, int64_t high) {
    low_ = low;
    high_ = high;
  }

 private:
  void RunLines(int cut, int64_t low, int64_t high) const {
    if (!RepeatsOffsets()) {
      return ForEachLine(cut, low, high,
                         [this](char* plain, char* indexed, const char* const* index, int64_t position,
                                int64_t weight, const int64_t* extent) {
                           if (trailing_ > 0) {
                             Rows(plain, indexed, index, position, weight, extent);
                           } else {
                             Line(plain, indexed, index, position, extent[line_]);
                           }
                         });
    }
    const int64_t n = cut == line_ ? high - low : move_.extent[line_];
    alignas(64) int64_t offset[kRepeatedElements];
    bool is_first = true;
    bool is_good = true;
    ForEachLine(
        cut, low, high,
        [&](char* plain, char* indexed, const char* const* index, int64_t position, int64_t, const int64_t*) {
          for (int64_t i = 0; is_first && i < n; i += kTileElements)
            is_good = Offsets(index, i, std::min(kTileElements, n - i), position, 1, offset + i) && is_good;
          is_first = false;
          const int64_t stride = move_.plain_stride[line_];
          for (int64_t i = 0; i < n; i += kTileElements) {
            const int64_t count = std::min(kTileElements, n - i);
            AskForNextLine(indexed, i, count, n);
            if (is_good) {
              Elements<false>(plain + i * stride, stride, indexed, offset + i, count);
            } else {
              Elements<true>(plain + i * stride, stride, indexed, offset + i, count);
            }
          }
        });
  }

  // Prefetches the part of the next line that corresponds to elements [i, i + count) of n.
  void AskForNextLine(const char* indexed, int64_t i, int64_t count, int64_t n) const {
    if (next_line_bytes_ == 0) return;
    asm volatile("");  // otherwise gcc drops calls of this function, which seems to have no effect
    const char* const next = indexed + move_.indexed_stride[line_ - 1];
    const int64_t end = next_line_bytes_ * (i + count) / n;
    for (int64_t byte = next_line_bytes_ * i / n; byte < end; byte += 64) __builtin_prefetch(next + byte);
  }

  // Whether all lines have the same offsets.
  bool RepeatsOffsets() const {
    if (trailing_ > 0 || line_ < 1) return false;
    if (move_.extent[line_] > kRepeatedElements) return false;
    for (int dim = 0; dim < line_; ++dim) {
      if (DependsOn(dim)) return false;
    }
    return true;
  }

  template <class F>
  void ForEachLine(int cut, int64_t low, int64_t high, const F& f) const {
    int64_t first[kMaxLoopRank] = {};
    int64_t extent[kMaxLoopRank];
    std::copy(move_.extent, move_.extent + move_.rank, extent);
    first[cut] = low;
    extent[cut] = high - low;
    const int64_t* const plain_stride = move_.plain_stride;
    const int64_t* const indexed_stride = move_.indexed_stride;
    char* plain = plain_;
    char* indexed = indexed_;
    const char* index[kMostIndices];
    int64_t position = 0;  // row-major, of the first element
    int64_t weight[kMaxLoopRank] = {};
    int64_t product = 1;
    for (int dim = move_.rank - 1; dim >= 0; --dim) {
      weight[dim] = product;
      product *= move_.extent[dim];
    }
    std::copy(index_, index_ + move_.index_count, index);
    for (int dim = 0; dim < move_.rank; ++dim) {
      plain += first[dim] * plain_stride[dim];
      indexed += first[dim] * indexed_stride[dim];
      position += first[dim] * weight[dim];
      for (int k = 0; k < move_.index_count; ++k) index[k] += first[dim] * move_.index[k].stride[dim];
    }
    int64_t at[kMaxLoopRank] = {};
    for (;;) {
      f(plain, indexed, index, position, line_ < 0 ? 1 : weight[line_], extent);
      int dim = line_ - 1;
      for (; dim >= 0; --dim) {
        plain += plain_stride[dim];
        indexed += indexed_stride[dim];
        position += weight[dim];
        for (int k = 0; k < move_.index_count; ++k) index[k] += move_.index[k].stride[dim];
        if (++at[dim] < extent[dim]) break;
        at[dim] = 0;
        plain -= extent[dim] * plain_stride[dim];
        indexed -= extent[dim] * indexed_stride[dim];
        position -= extent[dim] * weight[dim];
        for (int k = 0; k < move_.index_count; ++k) index[k] -= extent[dim] * move_.index[k].stride[dim];
      }
      if (dim < 0) return;
    }
  }

  // Returns the byte offset of an index; kBad if it is out of bounds or a target of another thread.
  int64_t OffsetOf(int k, const char* address, int64_t position) const {
    const IndexOperand& one = move_.index[k];
    int64_t value = one.is_wide ? Load<int64_t>(address) : Load<int32_t>(address);
    if (value == move_.ignored && value != IndexedMove::kNoneIgnored) return kBad;
    if (one.bound == IndexedMove::kOffsets) return value == IndexedMove::kNoOffset ? kBad : value;
    if (one.wraps && value < 0) value += one.bound;
    if (static_cast<uint64_t>(value) >= static_cast<uint64_t>(one.bound)) {
      fault_.Note(position);
      return kBad;
    }
    if (k == 0 && (value < low_ || value >= high_)) return kBad;
    return value * one.step;
  }

  // Computes the offsets of elements [i, i + n) of a line, at most a tile's, as sums over the index tensors.
  // Looks at every index, so that the first bad one is found. Element e has the logical position position + e
  // * weight. Returns whether none is kBad.
  bool Offsets(const char* const* index, int64_t i, int64_t n, int64_t position, int64_t weight,
               int64_t* offset) const {
    if (FollowAll(index, i, n, offset)) {
      if (!IsLimited()) return true;
      const int64_t step = move_.index[0].step;
      const auto size = static_cast<uint64_t>((high_ - low_) * step);
      for (int64_t e = 0; e < n; ++e) {
        const bool is_own = static_cast<uint64_t>(offset[e] - low_ * step) < size;
        offset[e] = is_own ? offset[e] : kBad;
      }
      return false;
    }
    const int64_t along = line_ < 0 ? 0 : move_.indexed_stride[line_];
    const IndexOperand& first = move_.index[0];
    if (first.bound == IndexedMove::kOffsets && move_.index_count == 1 && along == 0 && line_ >= 0 &&
        first.stride[line_] == int64_t{sizeof(int64_t)}) {
      std::memcpy(offset, index[0] + i * int64_t{sizeof(int64_t)}, static_cast<size_t>(n) * sizeof(int64_t));
      return false;
    }
    for (int64_t e = 0; e < n; ++e) {
      int64_t sum = (i + e) * along;
      for (int k = 0; k < move_.index_count; ++k) {
        const int64_t stride = line_ < 0 ? 0 : move_.index[k].stride[line_];
        const int64_t leads = OffsetOf(k, index[k] + (i + e) * stride, position + (i + e) * weight);
        sum = sum == kBad || leads == kBad ? kBad : sum + leads;
      }
      offset[e] = sum;
    }
    return false;
  }

  // Prefetches the strided indices of the next tile, for which processors do not prefetch enough.
  static void AskFor(const char* next, int64_t bytes) {
    asm volatile("");  // otherwise gcc drops calls of this function, which seems to have no effect
    for (int64_t byte = 0; byte < std::min(bytes, kMostIndicesAhead); byte += 64)
      __builtin_prefetch(next + byte);
  }

  // Returns false if an index is or may be bad.
  bool FollowAll(const char* const* index, int64_t i, int64_t n, int64_t* offset) const {
    if (move_.ignored != IndexedMove::kNoneIgnored) return false;
    if (IsLimited() && !CanLimitOffsets()) return false;
    for (int k = 0; k < move_.index_count; ++k) {
      const IndexOperand& one = move_.index[k];
      if (one.bound == IndexedMove::kOffsets) return false;
      const int64_t size = one.is_wide ? int64_t{sizeof(int64_t)} : int64_t{sizeof(int32_t)};
      const int64_t stride = line_ < 0 ? size : one.stride[line_];
      const char* dense = index[k] + i * stride;
      alignas(64) char gathered[kTileElements * int64_t{sizeof(int64_t)}];
      if (stride != size) {
        if (k == 0) AskFor(dense + n * stride, n * stride);
        CopyBlock(dense, {0, stride}, gathered, {0, size}, 1, n, static_cast<int32_t>(size), false);
        dense = gathered;
      }
      const int64_t along = k > 0 || line_ < 0 ? 0 : move_.indexed_stride[line_];
      const IndexRun run{one.wraps ? one.bound : 0, one.bound, one.step, i * along, along};
      if (!one.follow(dense, static_cast<size_t>(n), run, k > 0, offset)) return false;
    }
    return true;
  }

  // Whether the offset alone identifies the target.
  bool CanLimitOffsets() const {
    const IndexOperand& one = move_.index[0];
    return move_.index_count == 1 && one.step > 0 && (line_ < 0 || move_.indexed_stride[line_] == 0);
  }

  bool IsLimited() const { return low_ != std::numeric_limits<int64_t>::min(); }

  static bool AreWholeLines(const char* address, int64_t bytes) {
    return (reinterpret_cast<uintptr_t>(address) | static_cast<uintptr_t>(bytes)) % 64 == 0;
  }

  // Moves the rows of a line; the indices name a position for each.
  void Rows(char* plain, char* indexed, const char* const* index, int64_t position, int64_t weight,
            const int64_t* extent) const {
    const int last = move_.rank - 1;
    const int64_t columns = extent[last];
    const int64_t rows = trailing_ > 1 ? extent[last - 1] : 1;
    const BlockStrides plain_steps{trailing_ > 1 ? move_.plain_stride[last - 1] : 0,
                                   move_.plain_stride[last]};
    const BlockStrides indexed_steps{trailing_ > 1 ? move_.indexed_stride[last - 1] : 0,
                                     move_.indexed_stride[last]};
    const int64_t count = line_ < 0 ? 1 : extent[line_];
    const int64_t plain_step = line_ < 0 ? 0 : move_.plain_stride[line_];
    const int64_t row_bytes = columns * move_.size;
    const bool takes = move_.action == IndexedAction::kTake;
    const bool streams =
        streams_ && rows == 1 && plain_steps.column == move_.size && indexed_steps.column == move_.size;
    const LineCopy lines = streams ? FindLineCopy(IsaInUse()) : nullptr;
    const bool asks = !streams && indexed_steps.column == move_.size && count > 1;
    const int64_t ahead = std::max<int64_t>(1, kRowsAhead / row_bytes);
    int64_t offset[kTileElements];
    for (int64_t i = 0; i < count; i += kTileElements) {
      const int64_t n = std::min(kTileElements, count - i);
      Offsets(index, i, n, position, weight, offset);
      for (int64_t e = 0; e < n; ++e) {
        if (asks && e + ahead < n && offset[e + ahead] != kBad) {
          const char* const next = indexed + offset[e + ahead];
          for (int64_t byte = 0; byte < std::min(row_bytes, kRowBeginning); byte += 64)
            __builtin_prefetch(next + byte);
        }
        char* const here = plain + (i + e) * plain_step;
        const int64_t at = offset[e];
        if (streams && at != kBad && AreWholeLines(takes ? here : indexed + at, row_bytes)) {
          const int64_t later = e + ahead < n && offset[e + ahead] != kBad ? e + ahead : e;
          if (takes) {
            StreamRow(indexed + at, here, row_bytes, indexed + offset[later], lines);
          } else {
            StreamRow(here, indexed + at, row_bytes, here + (later - e) * plain_step, lines);
          }
          continue;
        }
        if (at == kBad) {
          if (takes) {
            const char zero[16] = {};
            CopyBlock(zero, {0, 0}, here, plain_steps, rows, columns, move_.size, false);
          }
        } else if (takes) {
          CopyBlock(indexed + at, indexed_steps, here, plain_steps, rows, columns, move_.size, false);
        } else if (move_.action == IndexedAction::kPut) {
          CopyBlock(here, plain_steps, indexed + at, indexed_steps, rows, columns, move_.size, false);
        } else {
          for (int64_t row = 0; row < rows; ++row) {
            ComputeRow(here + row * plain_steps.row, plain_steps.column,
                       indexed + at + row * indexed_steps.row, indexed_steps.column, columns);
          }
        }
      }
    }
  }

  // Returns elements of the plain side, dense and in the computed dtype.
  const char* Tile(const char* plain, int64_t stride, int64_t n, char* gathered, char* converted) const {
    const Conversion& conversion = move_.conversion;
    const int32_t size = conversion.from_size;
    if (stride != size) {
      CopyBlock(plain, {0, stride}, gathered, {0, size}, 1, n, size, false);
      plain = gathered;
    }
    if (conversion.KeepsBytes()) return plain;
    conversion.Run(plain, converted, static_cast<size_t>(n), false);
    return converted;
  }

  void ComputeRow(const char* plain, int64_t plain_stride, char* indexed, int64_t indexed_stride,
                  int64_t n) const {
    alignas(64) char gathered[kTileElements * 16];
    alignas(64) char converted[kTileElements * 16];
    for (int64_t i = 0; i < n; i += kTileElements) {
      const int64_t count = std::min(kTileElements, n - i);
      const char* const source = Tile(plain + i * plain_stride, plain_stride, count, gathered, converted);
      char* const target = indexed + i * indexed_stride;
      ForDtype(move_.dtype, [&](auto element) {
        using T = decltype(element);
        ForAction<T>(move_, [&](const auto& combine) {
          CombineRow<T>(target, source, count, indexed_stride, combine);
        });
      });
    }
  }

  // Moves a line whose elements each have their own indices.
  void Line(char* plain, char* indexed, const char* const* index, int64_t position, int64_t n) const {
    alignas(64) int64_t offset[kTileElements];
    const int64_t stride = move_.plain_stride[line_];
    for (int64_t i = 0; i < n; i += kTileElements) {
      const int64_t count = std::min(kTileElements, n - i);
      AskForNextLine(indexed, i, count, n);
      if (Offsets(index, i, count, position, 1, offset)) {
        Elements<false>(plain + i * stride, stride, indexed, offset, count);
      } else {
        Elements<true>(plain + i * stride, stride, indexed, offset, count);
      }
    }
  }

  // Moves at most a tile of elements, or any number if they are taken.
  template <bool kSkips>
  void Elements(char* plain, int64_t stride, char* indexed, const int64_t* offset, int64_t n) const {
    if (move_.action == IndexedAction::kTake) {
      return ForSize(move_.size, [&](auto element) {
        TakeAt<decltype(element), kSkips>(indexed, offset, plain, stride, n);
      });
    }
    if (move_.action == IndexedAction::kPut) {
      return ForSize(move_.size, [&](auto element) {
        PutAt<decltype(element), kSkips>(indexed, offset, plain, stride, n);
      });
    }
    Combine<kSkips>(plain, stride, indexed, offset, n);
  }

  template <bool kSkips>
  [[gnu::noinline]] void Combine(const char* plain, int64_t stride, char* indexed, const int64_t* offset,
                                 int64_t n) const {
    alignas(64) char gathered[kTileElements * 16];
    alignas(64) char converted[kTileElements * 16];
    const char* source = plain;
    if (!move_.conversion.KeepsBytes()) {
      source = Tile(plain, stride, n, gathered, converted);
      stride = move_.size;
    }
    alignas(64) char packed[kSkips ? kTileElements * 16 : 1];
    int64_t kept[kSkips ? kTileElements : 1];
    ForDtype(move_.dtype, [&](auto element) {
      using T = decltype(element);
      if constexpr (kSkips) {
        n = LeaveOut<T>(source, stride, n, offset, packed, kept);
        source = packed;
        stride = static_cast<int64_t>(sizeof(T));
        offset = kept;
      }
      ForAction<T>(move_,
                   [&](const auto& combine) { CombineAt<T>(indexed, source, stride, n, offset, combine); });
    });
  }

  const IndexedMove& move_;
  char* const plain_;
  char* const indexed_;
  const char* index_[kMostIndices];
  IndexFault& fault_;
  int trailing_ = 0;
  int line_;                     // -1: all is one row
  bool streams_ = false;         // rows are written past the caches, which cannot hold both sides
  int64_t next_line_bytes_ = 0;  // of the indexed side, if they are prefetched
  int64_t low_ = std::numeric_limits<int64_t>::min();
  int64_t high_ = std::numeric_limits<int64_t>::max();
};

}  // namespace

void ReportBadIndex(const IndexedMove& move, const JobContext& context, int64_t position) {
  int64_t coordinate[kMaxLoopRank];
  int64_t rest = position;
  for (int dim = move.rank - 1; dim >= 0; --dim) {
    coordinate[dim] = rest % move.extent[dim];
    rest /= move.extent[dim];
  }
  for (int k = 0; k < move.index_count; ++k) {
    const IndexOperand& one = move.index[k];
    const char* address = BufferRef{one.operand, one.offset}.Address(context);
    int64_t own = 0;  // row-major position among the index tensor's elements
    for (int dim = 0; dim < move.rank; ++dim) {
      address += coordinate[dim] * one.stride[dim];
      if ((one.repeated >> dim & 1) == 0) own = own * move.extent[dim] + coordinate[dim];
    }
    if (move.are_columns) own = own * move.index_count + k;
    own += move.before;
    const int64_t value = one.is_wide ? Load<int64_t>(address) : Load<int32_t>(address);
    const int64_t low = one.wraps ? -one.bound : 0;
    if (one.bound == IndexedMove::kOffsets) continue;
    if (value >= low && value < one.bound) continue;
    Text message(context.api, ": ", one.name);
    if (one.entry >= 0) message.Add('[').Add(one.entry).Add(']');
    message.Add(" has the value ").Add(value).Add(" at element ").Add(own).Add(", accepted: ");
    message.Add(low).Add(" to ").Add(one.bound - 1).Add(".");
    return context.Fail(ACL_ERROR_RT_AICORE_EXCEPTION, message);
  }
}

bool IndexedMove::Touches(int operand) const noexcept {
  if (plain.operand == operand || indexed.operand == operand) return true;
  return std::any_of(index, index + index_count,
                     [&](const IndexOperand& one) { return one.operand == operand; });
}

void IndexedMove::Run(const JobContext& context) const noexcept {
  const DefaultFloatEnvironment environment;
  IndexFault fault;
  if (count > 0) {
    const Loop whole(*this, context, fault);
    // Taking may be cut along any dim. Writing is cut along a dim whose elements never share a target, so
    // that each target is updated in order.
    int cut = -1;
    for (int dim = 0; dim < rank; ++dim) {
      const bool is_safe = action == IndexedAction::kTake || indexed_stride[dim] != 0;
      if (is_safe && (cut < 0 || extent[dim] > extent[cut])) cut = dim;
    }
    const int64_t parts =
        threads > 1 ? std::clamp<int64_t>(count * size / kWorthThreads, 1, int64_t{8} * threads) : 1;
    // Every part of a cut through rows scans all indices.
    const bool cuts_rows =
        cut >= 0 && action != IndexedAction::kTake && !whole.DependsOn(cut) && cut == rank - 1;
    const int64_t row_bytes = cut >= 0 ? extent[cut] * size : 0;
    const int64_t cut_parts =
        cuts_rows ? std::clamp<int64_t>(row_bytes / kWorthCutting, 1, std::min<int64_t>(parts, threads))
                  : parts;
    const bool is_far = index_count > 0 && index[0].bound != kOffsets && index[0].bound >= threads &&
                        threads >= kThreadsWorthLooking &&
                        std::abs(index[0].step) > kWorthLooking / index[0].bound;
    if (parts > 1 && (cut < 0 || extent[cut] < threads) && is_far) {
      // No such dim is long enough, so that every thread scans all indices and writes its own targets.
      ForEachBlock(threads, threads, [&](int64_t part) {
        const DefaultFloatEnvironment of_thread;
        Loop loop(*this, context, fault);
        const int64_t thread_block = (index[0].bound + threads - 1) / threads;
        loop.LimitTargets(part * thread_block, (part + 1) * thread_block);
        loop.Run(0, 0, extent[0]);
      });
    } else if (parts > 1 && cut >= 0) {
      const int64_t thread_block = (extent[cut] + cut_parts - 1) / cut_parts;
      ForEachBlock((extent[cut] + thread_block - 1) / thread_block, threads, [&](int64_t part) {
        const DefaultFloatEnvironment of_thread;
        whole.Run(cut, part * thread_block, std::min(extent[cut], (part + 1) * thread_block));
      });
    } else {
      whole.Run(0, 0, extent[0]);
    }
  }
  const int64_t position = fault.position.load(std::memory_order_relaxed);
  if (raises && position != std::numeric_limits<int64_t>::max()) ReportBadIndex(*this, context, position);
}

bool CanCompute(aclDataType dtype) noexcept {
  switch (dtype) {
    case ACL_FLOAT:
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_DOUBLE:
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_INT16:
    case ACL_INT32:
    case ACL_INT64:
    case ACL_BOOL:
    case ACL_COMPLEX64:
    case ACL_COMPLEX128:
      return true;
    default:
      return false;
  }
}

}  // namespace portacl::engine
