// Runs moves block by block (see move.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/move/move.h"

#include <algorithm>
#include <cstddef>

#include "base/float_environment.h"
#include "engine/cache_size.h"
#include "engine/move/block.h"
#include "engine/parallel.h"

#include <hwy/cache_control.h>

namespace portacl::engine {
namespace {

// The block that one thread takes at a time, in bytes of the destination.
constexpr int64_t kThreadBlockBytes = 131072;
// The size of a gathered or scattered block, in bytes of the wider side. It stays in the first-level cache.
constexpr int64_t kBlockBytes = 16384;
// Larger elements are copied as a whole (see PlanMove). Their blocks have kColumnsOfRuns columns and rows of
// kBytesOfRuns bytes, and are prefetched kBytesAhead bytes ahead.
constexpr int64_t kWidestElement = 16;
constexpr int64_t kColumnsOfRuns = 16;
constexpr int64_t kBytesOfRuns = 2048;
constexpr int64_t kBytesAhead = 4096;
// If the last two dims are too small for blocks, the dim around them is cut into blocks of at most this many
// bytes. It is walked once for each element of the two.
constexpr int64_t kFewElements = 64;
constexpr int64_t kFewElementsBytes = 8192;
// Rows of at least this many elements are converted directly in memory.
constexpr int64_t kLongRow = 64;

// The last two dims, cut into blocks. The dims around them are walked one index at a time.
class Blocks {
 public:
  explicit Blocks(const Move& move)
      : move_(move),
        plan_(move.plan),
        source_(plan_.operand[kMoveSource]),
        destination_(plan_.operand[kMoveDestination]),
        across_(plan_.rank - 2),
        along_(plan_.rank - 1),
        rows_(plan_.rank > 1 ? plan_.extent[across_] : 1),
        columns_(plan_.extent[along_]),
        from_{plan_.rank > 1 ? source_.stride[across_] : 0, source_.stride[along_]},
        to_{plan_.rank > 1 ? destination_.stride[across_] : 0, destination_.stride[along_]} {
    const bool keeps_bytes = move.conversion.KeepsBytes();
    const int64_t widest = std::max(source_.element_size, destination_.element_size);
    is_source_in_place_ = from_.column == source_.element_size && columns_ >= kLongRow;
    is_destination_in_place_ = to_.column == destination_.element_size && columns_ >= kLongRow;
    is_transposed_ = plan_.rank > 1 && from_.row != 0 && Magnitude(from_.row) < Magnitude(from_.column);
    if (is_transposed_ && widest > kWidestElement) {
      // Takes few columns, which lie in different pages of the source, and many rows, which are contiguous
      // there.
      streams_runs_ = move.stream;
      block_columns_ = kColumnsOfRuns;
      block_rows_ = std::max<int64_t>(kBytesOfRuns / widest, 1);
      // Prefetches further down the column, or the memory after it; otherwise the beginning of the next
      // columns.
      const int64_t ahead = std::max<int64_t>(kBytesAhead / widest, 1);
      const bool goes_on = rows_ >= 2 * ahead || from_.column == rows_ * from_.row;
      runs_ahead_ = goes_on ? ahead * from_.row : 2 * from_.column;
    } else if (is_transposed_ && rows_ >= kTransposedRows / 2 && columns_ >= kTransposedRows / 2) {
      // A conversion passes through two tiles, which share the cache.
      block_rows_ = keeps_bytes ? kTransposedRows : kBlockBytes / kTransposedRowBytes;
      block_columns_ = kTransposedRowBytes / widest;
    } else {
      const bool is_in_place = is_source_in_place_ && is_destination_in_place_;
      const int64_t elements =
          (is_in_place || (keeps_bytes && !is_transposed_) ? kThreadBlockBytes : kBlockBytes) / widest;
      block_columns_ = std::min(columns_, std::max<int64_t>(elements, 1));
      block_rows_ = std::max<int64_t>(elements / block_columns_, 1);
    }
    block_rows_ = std::min(block_rows_, rows_);
    block_columns_ = std::min(block_columns_, columns_);
    const int64_t around = across_ > 0 ? plan_.extent[across_ - 1] : 0;
    if (keeps_bytes && widest <= kWidestElement && rows_ * columns_ <= kFewElements &&
        around > kFewElements) {
      walks_around_ = true;
      block_rows_ = std::min(around, std::max<int64_t>(kFewElementsBytes / (rows_ * columns_ * widest), 1));
      block_columns_ = rows_ * columns_;
      row_blocks_ = (around + block_rows_ - 1) / block_rows_;
      column_blocks_ = 1;
    } else {
      row_blocks_ = (rows_ + block_rows_ - 1) / block_rows_;
      column_blocks_ = (columns_ + block_columns_ - 1) / block_columns_;
    }
    outer_dims_ = std::max(walks_around_ ? across_ - 1 : across_, 0);
    count_ = row_blocks_ * column_blocks_;
    for (int axis = 0; axis < outer_dims_; ++axis) count_ *= plan_.extent[axis];
    const int64_t bytes = block_rows_ * block_columns_ * destination_.element_size;
    per_thread_block_ = std::max<int64_t>(1, kThreadBlockBytes / bytes);
  }

  int64_t thread_blocks() const { return (count_ + per_thread_block_ - 1) / per_thread_block_; }

  void Run(const char* source, char* destination, int64_t thread_block) const {
    int64_t block = thread_block * per_thread_block_;
    const int64_t end = std::min(count_, block + per_thread_block_);
    // Consecutive blocks follow the direction in which the source is dense.
    int64_t index[kMaxLoopRank];
    int64_t inner = block % (row_blocks_ * column_blocks_);
    int64_t outer = block / (row_blocks_ * column_blocks_);
    for (int axis = outer_dims_ - 1; axis >= 0; --axis) {
      index[axis] = outer % plan_.extent[axis];
      outer /= plan_.extent[axis];
      source += index[axis] * source_.stride[axis];
      destination += index[axis] * destination_.stride[axis];
    }
    for (;;) {
      const int64_t row = (is_transposed_ ? inner % row_blocks_ : inner / column_blocks_) * block_rows_;
      const int64_t column = (is_transposed_ ? inner / row_blocks_ : inner % column_blocks_) * block_columns_;
      if (walks_around_) {
        MoveAround(source, destination, row);
      } else {
        MoveBlock(source + row * from_.row + column * from_.column,
                  destination + row * to_.row + column * to_.column, std::min(block_rows_, rows_ - row),
                  std::min(block_columns_, columns_ - column));
      }
      if (++block == end) return;
      if (++inner < row_blocks_ * column_blocks_) continue;
      inner = 0;
      for (int axis = outer_dims_ - 1; axis >= 0; --axis) {
        source += source_.stride[axis];
        destination += destination_.stride[axis];
        if (++index[axis] < plan_.extent[axis]) break;
        source -= plan_.extent[axis] * source_.stride[axis];
        destination -= plan_.extent[axis] * destination_.stride[axis];
        index[axis] = 0;
      }
    }
  }

 private:
  static int64_t Magnitude(int64_t stride) { return stride < 0 ? -stride : stride; }

  void MoveBlock(const char* source, char* destination, int64_t rows, int64_t columns) const {
    const int32_t size = destination_.element_size;
    if (streams_runs_) return StreamRuns(source, from_, destination, to_, rows, columns, size, runs_ahead_);
    if (move_.conversion.KeepsBytes())
      return CopyBlock(source, from_, destination, to_, rows, columns, size, move_.stream);
    if (is_source_in_place_ && is_destination_in_place_) {
      for (int64_t row = 0; row < rows; ++row)
        Convert(source + row * from_.row, destination + row * to_.row, columns);
      return;
    }
    ConvertThroughTiles(source, destination, rows, columns);
  }

  // Moves at most block_rows_ indices, from `first` on, of the third-last dim, for each element of the last
  // two dims.
  void MoveAround(const char* source, char* destination, int64_t first) const {
    const int axis = across_ - 1;
    const int64_t n = std::min(block_rows_, plan_.extent[axis] - first);
    const BlockStrides from{0, source_.stride[axis]};
    const BlockStrides to{0, destination_.stride[axis]};
    source += first * from.column;
    destination += first * to.column;
    for (int64_t row = 0; row < rows_; ++row) {
      for (int64_t column = 0; column < columns_; ++column) {
        CopyBlock(source + row * from_.row + column * from_.column, from,
                  destination + row * to_.row + column * to_.column, to, 1, n, destination_.element_size,
                  false);
      }
    }
  }

  void Convert(const char* source, char* destination, int64_t n) const {
    move_.conversion.Run(source, destination, static_cast<size_t>(n), move_.stream);
  }

  [[gnu::noinline]] void ConvertThroughTiles(const char* source, char* destination, int64_t rows,
                                             int64_t columns) const {
    alignas(64) char taken[kBlockBytes];
    alignas(64) char made[kBlockBytes];
    const int32_t from_size = source_.element_size;
    const int32_t to_size = destination_.element_size;
    const BlockStrides taken_steps{columns * from_size, from_size};
    const BlockStrides made_steps{columns * to_size, to_size};
    if (!is_source_in_place_) {
      CopyBlock(source, from_, taken, taken_steps, rows, columns, from_size, false);
      if (!is_destination_in_place_) {
        Convert(taken, made, rows * columns);
      } else {
        for (int64_t row = 0; row < rows; ++row)
          Convert(taken + row * taken_steps.row, destination + row * to_.row, columns);
        return;
      }
    } else {
      for (int64_t row = 0; row < rows; ++row)
        Convert(source + row * from_.row, made + row * made_steps.row, columns);
    }
    CopyBlock(made, made_steps, destination, to_, rows, columns, to_size, move_.stream);
  }

  const Move& move_;
  const LoopPlan& plan_;
  const OperandLoop& source_;
  const OperandLoop& destination_;
  const int across_;
  const int along_;
  const int64_t rows_;
  const int64_t columns_;
  const BlockStrides from_;
  const BlockStrides to_;
  bool is_source_in_place_;
  bool is_destination_in_place_;
  bool is_transposed_;
  bool walks_around_ = false;
  bool streams_runs_ = false;
  int64_t runs_ahead_ = 0;
  int outer_dims_;
  int64_t block_rows_;
  int64_t block_columns_;
  int64_t row_blocks_;
  int64_t column_blocks_;
  int64_t count_;
  int64_t per_thread_block_;
};

// Tells whether the source is one element, which is converted once and then repeated.
bool IsOneValue(const LoopPlan& plan) {
  const int64_t* const stride = plan.operand[kMoveSource].stride;
  return std::all_of(stride, stride + plan.rank, [](int64_t step) { return step == 0; });
}

}  // namespace

Move MakeMove(const StridedView& source, const StridedView& destination, Isa isa, int threads,
              aclDataType via) noexcept {
  Move move;
  const aclDataType part = ConvertedPart(source.dtype, destination.dtype);
  const bool is_direct = via == ACL_DT_UNDEFINED || via == source.dtype || via == destination.dtype;
  move.conversion = is_direct ? FindConversion(isa, part, destination.dtype)
                              : FindConversionThrough(isa, source.dtype, via, destination.dtype);
  const bool same_bytes = part == source.dtype && move.conversion.KeepsBytes();
  if (destination.shape.rank <= kMaxLoopRank) {
    move.plan = PlanMove(destination.shape, source, destination, same_bytes);
  } else {
    const StridedView* const operands[] = {&source, &destination};
    const MergedLoop merged = MergeLoop(destination.shape, operands);
    move.plan = PlanMove(merged.shape, merged.operand[0], merged.operand[1], same_bytes);
  }
  if (part != source.dtype) move.plan.operand[kMoveSource].element_size = move.conversion.from_size;
  move.threads = threads;
  move.stream = move.plan.BytesWalked() > LastLevelCacheBytes();
  return move;
}

int64_t Move::ThreadBlocks() const noexcept { return Blocks(*this).thread_blocks(); }

void Move::RunThreadBlocks(const char* source, char* destination, int64_t first,
                           int64_t last) const noexcept {
  source += plan.operand[kMoveSource].offset;
  destination += plan.operand[kMoveDestination].offset;
  const DefaultFloatEnvironment environment;
  if (!conversion.KeepsBytes() && IsOneValue(plan)) {
    Move fill = *this;
    alignas(16) char value[16] = {};
    conversion.Run(source, value, 1, false);
    fill.conversion.passes = 0;
    fill.plan.operand[kMoveSource].element_size = plan.operand[kMoveDestination].element_size;
    // The fill divides into other blocks than the move, so [first, last) does not apply to it: the call with
    // first == 0 runs all of them, and the other calls run none.
    const Blocks blocks(fill);
    if (first == 0) {
      for (int64_t thread_block = 0; thread_block < blocks.thread_blocks(); ++thread_block)
        blocks.Run(value, destination, thread_block);
    }
  } else {
    const Blocks blocks(*this);
    for (int64_t thread_block = first; thread_block < last; ++thread_block)
      blocks.Run(source, destination, thread_block);
  }
  if (stream) hwy::FlushStream();
}

void Move::Run(const char* source, char* destination) const noexcept {
  if (!conversion.KeepsBytes() && IsOneValue(plan)) {
    Move fill = *this;
    alignas(16) char value[16] = {};
    {
      const DefaultFloatEnvironment environment;
      conversion.Run(source + plan.operand[kMoveSource].offset, value, 1, false);
    }
    fill.conversion.passes = 0;
    fill.plan.operand[kMoveSource].offset = 0;
    fill.plan.operand[kMoveSource].element_size = plan.operand[kMoveDestination].element_size;
    return fill.Run(value, destination);
  }
  source += plan.operand[kMoveSource].offset;
  destination += plan.operand[kMoveDestination].offset;
  const Blocks blocks(*this);
  ForEachBlock(blocks.thread_blocks(), threads, [&](int64_t thread_block) {
    const DefaultFloatEnvironment environment;
    blocks.Run(source, destination, thread_block);
    if (stream) hwy::FlushStream();
  });
}

namespace {

// Runs the blocks [begin, end) of a job.
void RunTogether(const MovesJob& job, const JobContext& context, int64_t begin, int64_t end) {
  const auto* const moves = reinterpret_cast<const PlannedMove*>(context.memory);
  const int64_t parts = (end - begin + job.thread_blocks_together - 1) / job.thread_blocks_together;
  ForEachBlock(parts, job.threads, [&](int64_t part) {
    int64_t thread_block = begin + part * job.thread_blocks_together;
    const int64_t behind = std::min(end, thread_block + job.thread_blocks_together);
    const auto is_before = [](int64_t value, const PlannedMove& one) {
      return value < one.first_thread_block;
    };
    const PlannedMove* move = std::upper_bound(moves, moves + job.count, thread_block, is_before) - 1;
    while (thread_block < behind) {
      const int64_t next = move + 1 < moves + job.count ? move[1].first_thread_block : job.thread_blocks;
      const int64_t last = std::min(behind, next);
      const char* const source = move->source == MoveJob::kValue
                                     ? reinterpret_cast<const char*>(job.value)
                                     : static_cast<const char*>(context.addresses[move->source]);
      move->move.RunThreadBlocks(source, static_cast<char*>(context.addresses[move->destination]),
                                 thread_block - move->first_thread_block, last - move->first_thread_block);
      thread_block = last;
      ++move;
    }
  });
}

}  // namespace

void MovesJob::Run(const JobContext& context) const noexcept {
  if (barrier > 0) RunTogether(*this, context, 0, barrier);
  RunTogether(*this, context, barrier, thread_blocks);
}

}  // namespace portacl::engine
