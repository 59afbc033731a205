// Runs elementwise jobs block by block (see elementwise.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/map/elementwise.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "base/float_environment.h"
#include "engine/isa_in_use.h"
#include "engine/map/elementwise_blocks.h"
#include "engine/map/tiles.h"
#include "engine/parallel.h"
#include "engine/thread_memory.h"
#include "engine/transpose.h"

#include <hwy/cache_control.h>

namespace portacl::engine {
namespace {

// Elements per block: 64 KiB of float32 per operand. It is fixed, so that results never depend on the thread
// count.
constexpr int64_t kBlock = 16384;

// Rounds n results of the kernel and scatters them to the output's next n elements.
void StoreResults(const ElementwiseLoop& job, const LoopPlan& plan, bool stream, bool is_rounded,
                  const Cursor& cursor, const char* results, char* dense, int64_t n) {
  if (dense != nullptr) {
    job.result.store(results, dense, static_cast<size_t>(n), stream);
    return;
  }
  alignas(64) char raw[kTile * kWidestElement];
  if (!is_rounded) {
    job.result.store(results, raw, static_cast<size_t>(n), false);
    results = raw;
  }
  const int output = job.formula.input_count;
  const int32_t size = plan.operand[output].element_size;
  ForEachDenseRange(plan, output, cursor, n,
                    [&](char* address, int64_t stride, int64_t done, int64_t length) {
                      job.result.scatter(results + done * size, address, stride, size, length);
                    });
}

// Counts the elements before the next cache line of the output.
int64_t ElementsToLine(const char* address, int32_t size) {
  return static_cast<int64_t>((64 - reinterpret_cast<uintptr_t>(address) % 64) % 64) / size;
}

// Tells whether the kernel can read and write all operands in memory: they are dense and of its types. Such a loop
// needs no tiles, which take longer to set up than a short loop takes to run.
bool IsInPlace(const ElementwiseLoop& job) {
  const SelectedKernel selected = job.kernel();
  if (job.plan.rank != 1 || job.result.type != selected.written) return false;
  const ElementType kernel = selected.type.elements;
  for (int k = 0; k < job.plan.operand_count; ++k) {
    const OperandLoop& operand = job.plan.operand[k];
    if (operand.stride[0] != operand.element_size) return false;
    if (k < job.formula.input_count && !Takes(kernel, job.formula.type[k])) return false;
  }
  return true;
}

// Computes elements [begin, end) if IsInPlace.
void RunInPlace(const ElementwiseLoop& job, char* const* base, int64_t begin, int64_t end) {
  const int inputs = job.formula.input_count;
  VectorWork work;
  for (int k = 0; k <= inputs; ++k) {
    char* const at = base[k] + begin * job.plan.operand[k].element_size;
    work.step[k] = static_cast<size_t>(job.plan.operand[k].element_size);
    if (k < inputs) {
      work.in[k] = at;
    } else {
      work.out = at;
    }
  }
  work.n = static_cast<size_t>(end - begin);
  work.stream = job.stream;
  ReportIsaThatRan(job.formula.function(job.kernel().type, job.formula.parameters, work));
}

// A callback that does nothing.
struct Nothing {
  void operator()(int64_t) const {}
};

// Rows that the kernel can read and write in memory. Within such a row every operand is of the kernel's types
// and is dense, or takes every second element; an input may also be one value. Such rows need no tiles, whose
// setup takes as long as computing a row of a thousand elements in the first-level cache.
class RowsInPlace {
 public:
  RowsInPlace(const ElementwiseLoop& job, const LoopPlan& plan)
      : job_(job), plan_(plan), kernel_(job.kernel().type) {
    const int output = job.formula.input_count;
    const OperandLoop& result = plan.operand[output];
    const bool every_second =
        job.takes_every_second && (job.formula.takes & SetOf(ElementType::kMixed)) != 0 &&
        kernel_.elements <= ElementType::kF16 && RowStride(output) == int64_t{2} * result.element_size;
    fit_ = HasLongRows(plan) && job.result.type == job.kernel().written;
    for (int k = 0; k <= output; ++k) {
      step_[k] = static_cast<size_t>(plan.operand[k].element_size) * (every_second ? 2 : 1);
      if (k < output && RowStride(k) == 0) {
        step_[k] = 0;
      } else if (RowStride(k) != static_cast<int64_t>(step_[k]) ||
                 (k < output && !Takes(kernel_.elements, job.formula.type[k]))) {
        fit_ = false;
      }
    }
  }

  // Tells whether the plan has such rows.
  bool fit() const { return fit_; }

  // Computes elements [begin, end). Calls before(position) ahead of every row and then computes one row at a
  // time; with Nothing as callback it may compute several at once.
  template <class Before>
  void Run(char* const* base, int64_t begin, int64_t end, bool stream, Before&& before) const {
    const Formula& formula = job_.formula;
    const int output = formula.input_count;
    alignas(64) char repeated[kMaxInputs][kRowsAtOnce * kRepeatedBytes];
    const auto repeated_bytes = static_cast<int64_t>(RepeatedBytes(kernel_.elements));
    VectorWork work;
    work.stream = stream;
    int64_t most_rows = std::is_same_v<std::decay_t<Before>, Nothing> ? plan_.count : 1;
    for (int k = 0; k <= output; ++k) {
      work.step[k] = step_[k];
      work.row_stride[k] = plan_.rank < 2 ? 0 : plan_.operand[k].stride[plan_.rank - 2];
      if (k == output || step_[k] != 0) continue;
      work.in[k] = repeated[k];
      if (IsOneValue(k)) {
        RepeatElement(formula, kernel_, k, base[k], repeated[k]);
      } else {
        most_rows = std::min(most_rows, static_cast<int64_t>(sizeof repeated[k]) / repeated_bytes);
        work.row_stride[k] = repeated_bytes;
      }
    }
    const int64_t in_row = plan_.extent[plan_.rank - 1];
    Cursor cursor(plan_, base, begin);
    Isa isa{};
    for (int64_t position = begin; position < end;) {
      before(position);
      const int64_t n = std::min(end - position, cursor.left_in_row());
      int64_t rows = 1;
      if (n == in_row) rows = std::min({(end - position) / in_row, cursor.left_rows(), most_rows});
      for (int k = 0; k < output; ++k) {
        if (step_[k] != 0) {
          work.in[k] = cursor.At(k);
        } else if (!IsOneValue(k)) {
          const int64_t stride = plan_.rank < 2 ? 0 : plan_.operand[k].stride[plan_.rank - 2];
          for (int64_t row = 0; row < rows; ++row)
            RepeatElement(formula, kernel_, k, cursor.At(k) + row * stride,
                          repeated[k] + row * repeated_bytes);
        }
      }
      work.out = cursor.At(output);
      work.n = static_cast<size_t>(n);
      work.rows = static_cast<size_t>(rows);
      isa = formula.function(kernel_, formula.parameters, work);
      position += rows * n;
      if (rows > 1) {
        cursor.SkipRows(rows);
      } else {
        cursor.Advance(n);
      }
    }
    ReportIsaThatRan(isa);
  }

 private:
  // The most rows of a kernel call if an input has one value for each row; half as many for complex numbers.
  static constexpr int64_t kRowsAtOnce = 16;

  int64_t RowStride(int operand) const { return plan_.operand[operand].stride[plan_.rank - 1]; }
  bool IsOneValue(int input) const {
    return plan_.operand[input].linear && plan_.operand[input].linear_stride == 0;
  }

  const ElementwiseLoop& job_;
  const LoopPlan& plan_;
  const KernelType kernel_;
  size_t step_[kMaxLoopOperands];
  bool fit_;
};

// Computes elements [begin, end) of a plan: the job's, or a block of it. Calls before(position) ahead of each
// range of elements that is computed at once.
template <class Before>
void RunLoopTile(const ElementwiseLoop& job, const LoopPlan& plan, char* const* base, int64_t begin,
                 int64_t end, bool stream, Before&& before) {
  if (const RowsInPlace rows(job, plan); rows.fit()) return rows.Run(base, begin, end, stream, before);
  const int output = job.formula.input_count;
  const SelectedKernel kernel = job.kernel();
  const bool is_rounded = job.result.type == kernel.written;
  const int32_t size = plan.operand[output].element_size;
  FormulaTiles tiles(job.formula, plan, base, kernel.type, kernel.written);
  Cursor cursor(plan, base, begin);
  alignas(64) char results[kTileBytes];
  for (int64_t position = begin; position < end;) {
    before(position);
    int64_t n = std::min(end - position, tiles.LongestTile(cursor));
    char* dense = DenseAddress(plan, output, base[output], cursor, position, n);
    if (dense != nullptr && is_rounded) {
      tiles.Compute(cursor, position, n, dense, stream);
    } else {
      n = std::min(n, int64_t{job.formula.tile});
      dense = DenseAddress(plan, output, base[output], cursor, position, n);
      // The first tile ends at the end of a cache line, since a line shared by two tiles would be written
      // twice.
      const int64_t head = stream && dense != nullptr ? ElementsToLine(dense, size) : 0;
      if (head > 0) n = std::min(n, head);
      tiles.Compute(cursor, position, n, results);
      StoreResults(job, plan, stream, is_rounded, cursor, results, dense, n);
    }
    position += n;
    cursor.Skip(n);
  }
  ReportIsaThatRan(tiles.isa());
}

// Walks operands that are dense along different dims in blocks of the last two dims. A transposed operand
// passes through a transposed copy of each block. Consecutive blocks along the rows form a strip: a
// transposed operand's cache lines and pages extend in that direction.
class TransposedBlocks {
 public:
  explicit TransposedBlocks(const LoopPlan& plan)
      : plan_(plan), across_(plan.rank - 2), along_(plan.rank - 1) {
    int copies = 0;
    int32_t widest = 1;
    for (int k = 0; k < plan.operand_count; ++k) {
      if (!IsCopied(plan.operand[k])) continue;
      ++copies;
      widest = std::max(widest, plan.operand[k].element_size);
    }
    rows_ = copies > 1 ? kMostRows / 2 : kMostRows;
    columns_ = kRowBytes / std::max(widest, int32_t{2});
    strip_ = kStrip * rows_;
    strips_ = (plan.extent[across_] + strip_ - 1) / strip_;
    strips_beside_ = (plan.extent[along_] + columns_ - 1) / columns_;
  }

  // Returns the number of strips, which are the thread blocks.
  int64_t count() const {
    return plan_.count / (plan_.extent[across_] * plan_.extent[along_]) * strips_ * strips_beside_;
  }

  void Run(const ElementwiseLoop& job, char* const* base, int64_t index) const {
    const int64_t row = index % strips_ * strip_;
    index /= strips_;
    const int64_t column = index % strips_beside_ * columns_;
    index /= strips_beside_;
    Block block;
    block.rows_left = std::min(strip_, plan_.extent[across_] - row);
    block.plan.rank = 2;
    block.plan.extent[1] = std::min(columns_, plan_.extent[along_] - column);
    block.plan.operand_count = plan_.operand_count;
    for (int k = 0; k < plan_.operand_count; ++k) {
      const OperandLoop& whole = plan_.operand[k];
      block.address[k] = base[k] + row * whole.stride[across_] + column * whole.stride[along_];
      int64_t outer = index;
      for (int axis = across_ - 1; axis >= 0; --axis) {
        block.address[k] += outer % plan_.extent[axis] * whole.stride[axis];
        outer /= plan_.extent[axis];
      }
    }
    if (char* const memory = ThreadMemory(MemoryUse::kRowCopies)) {
      block.rows = rows_;
      block.copies = memory;
      RunStrip(job, block);
    } else {
      RunStripOnStack(job, block);
    }
  }

 private:
  // The rows of a block, and the bytes of each in a copy. At most two operands are copied, which share the
  // space.
  static constexpr int64_t kMostRows = 128;
  static constexpr int64_t kRowBytes = 512;
  // Padding between the rows of a copy: rows a power of two apart would compete for a few sets of the cache.
  static constexpr int64_t kGap = 64;
  // Blocks per strip.
  static constexpr int64_t kStrip = 4;
  // Copies have this many rows and lie on the stack if a thread has no memory for them.
  static constexpr int64_t kRowsOnStack = 16;
  // Prefetch distance of rows that are read in memory. The processor's own prefetching does not notice that
  // one short row follows another.
  static constexpr int64_t kRowsAhead = 8;

  // A block, and the rest of its strip.
  struct Block {
    LoopPlan plan;
    int64_t rows_left;  // in the strip, this block's included
    char* address[kMaxLoopOperands];
    int64_t rows;  // of a block
    char* copies;
  };

  static bool IsCopied(const OperandLoop& operand) {
    return operand.transposed && CanTranspose(operand.element_size);
  }

  void RunStrip(const ElementwiseLoop& job, Block& block) const {
    for (;; block.rows_left -= block.rows) {
      RunBlock(job, block);
      if (block.rows_left <= block.rows) return;
      for (int k = 0; k < plan_.operand_count; ++k)
        block.address[k] += block.rows * plan_.operand[k].stride[across_];
    }
  }

  [[gnu::noinline]] void RunStripOnStack(const ElementwiseLoop& job, Block& block) const {
    alignas(64) char copies[kRowsOnStack * (kRowBytes + kGap)];
    block.rows = kRowsOnStack * rows_ / kMostRows;
    block.copies = copies;
    RunStrip(job, block);
    block.copies = nullptr;
  }

  // Prefetches a row of each input that is read in memory.
  void PrefetchRow(const ElementwiseLoop& job, const Block& block, int64_t row) const {
    asm volatile(
        "");  // gcc takes a function that only prefetches for one without effects, and leaves calls out
    for (int k = 0; k < job.formula.input_count; ++k) {
      const OperandLoop& operand = plan_.operand[k];
      if (operand.stride[along_] != operand.element_size) continue;
      const char* const from = block.address[k] + row * operand.stride[across_];
      const int64_t bytes = block.plan.extent[1] * operand.element_size;
      for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(from + i);
    }
  }

  void RunBlock(const ElementwiseLoop& job, Block& block) const {
    LoopPlan& plan = block.plan;
    plan.extent[0] = std::min(block.rows, block.rows_left);
    plan.count = plan.extent[0] * plan.extent[1];
    char* free_copy = block.copies;
    char* base[kMaxLoopOperands];
    for (int k = 0; k < plan.operand_count; ++k) {
      const OperandLoop& whole = plan_.operand[k];
      OperandLoop& part = plan.operand[k];
      part.element_size = whole.element_size;
      part.stride[0] = whole.stride[across_];
      part.stride[1] = whole.stride[along_];
      base[k] = block.address[k];
      if (IsCopied(whole)) {
        base[k] = free_copy;
        free_copy += block.rows * (kRowBytes + kGap);
        part.stride[0] = kRowBytes + kGap;
        part.stride[1] = part.element_size;
        if (k < job.formula.input_count) {
          const char* const next =
              block.rows_left > block.rows ? block.address[k] + block.rows * whole.stride[across_] : nullptr;
          TransposeIn(block.address[k], whole.stride[along_], base[k], part.stride[0], plan.extent[1],
                      plan.extent[0], part.element_size, next);
        }
      }
      part.linear = part.stride[0] == 0 && part.stride[1] == 0;
    }
    const int output = job.formula.input_count;
    const bool through_copy = base[output] != block.address[output];
    RunLoopTile(job, plan, base, 0, plan.count, job.stream && !through_copy, [&](int64_t position) {
      const int64_t row = position / plan.extent[1] + kRowsAhead;
      if (row < block.rows_left) PrefetchRow(job, block, row);
    });
    if (through_copy) {
      TransposeOut(base[output], plan.operand[output].stride[0], block.address[output],
                   plan_.operand[output].stride[along_], plan.extent[0], plan.extent[1],
                   plan.operand[output].element_size, job.stream);
    }
  }

  const LoopPlan& plan_;
  const int across_;
  const int along_;
  int64_t rows_;     // of a block
  int64_t columns_;  // of a block
  int64_t strip_;    // rows of a strip
  int64_t strips_;   // along the rows
  int64_t strips_beside_;
};

}  // namespace

int64_t BlocksOf(const ElementwiseLoop& loop) noexcept {
  if (loop.plan.has_transposed) return TransposedBlocks(loop.plan).count();
  return (loop.plan.count + kBlock - 1) / kBlock;
}

void RunBlocks(const ElementwiseLoop& loop, char* const* base, int64_t first, int64_t last) noexcept {
  if (loop.plan.has_transposed) {
    const TransposedBlocks transposed(loop.plan);
    for (int64_t block = first; block < last; ++block) transposed.Run(loop, base, block);
  } else {
    const int64_t begin = first * kBlock;
    const int64_t end = std::min(loop.plan.count, last * kBlock);
    if (IsInPlace(loop)) {
      RunInPlace(loop, base, begin, end);
    } else {
      RunLoopTile(loop, loop.plan, base, begin, end, loop.stream, Nothing());
    }
  }
  if (loop.stream) hwy::FlushStream();
}

void ElementwiseLoop::Run(char* const* base) const noexcept {
  const auto run = [&](int64_t blocks, const auto& run_block) {
    ForEachBlock(blocks, threads, [&](int64_t block) {
      const DefaultFloatEnvironment environment;
      run_block(block);
      if (stream) hwy::FlushStream();
    });
  };
  if (plan.has_transposed) {
    const TransposedBlocks transposed(plan);
    run(transposed.count(), [&](int64_t block) { transposed.Run(*this, base, block); });
  } else {
    const bool in_place = IsInPlace(*this);
    run((plan.count + kBlock - 1) / kBlock, [&](int64_t block) {
      const int64_t begin = block * kBlock;
      const int64_t end = std::min(plan.count, begin + kBlock);
      if (in_place) {
        RunInPlace(*this, base, begin, end);
      } else {
        RunLoopTile(*this, plan, base, begin, end, stream, Nothing());
      }
    });
  }
}

}  // namespace portacl::engine
