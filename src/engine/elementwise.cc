// Runs elementwise jobs block by block (see elementwise.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/elementwise.h"

#include <algorithm>
#include <cstdint>

#include "acl/float_environment.h"
#include "engine/isa.h"
#include "engine/parallel.h"
#include "engine/tiles.h"
#include "engine/transpose.h"

#include <hwy/cache_control.h>

namespace portacl::engine {
namespace {

// Elements per block: fixed, so that results never depend on the thread count. 64 KiB of float32 per operand.
constexpr int64_t kBlock = 16384;
// The widest output element: complex128.
constexpr int64_t kMaxElement = 16;

// Rounds and scatters n results, as they left the kernel, to the output's next n elements.
void Spill(const ElementwiseJob& job, const LoopPlan& plan, bool stream, bool is_rounded,
           const Cursor& cursor, const char* results, char* dense, int64_t n) {
  if (dense != nullptr) {
    job.result.store(reinterpret_cast<const float*>(results), dense, static_cast<size_t>(n), stream);
    return;
  }
  alignas(64) char raw[kTile * kMaxElement];
  if (!is_rounded) {
    job.result.store(reinterpret_cast<const float*>(results), raw, static_cast<size_t>(n), false);
    results = raw;
  }
  const int output = job.formula.input_count;
  const int32_t size = plan.operand[output].element_size;
  ForEachSegment(plan, output, cursor, n, [&](char* address, int64_t stride, int64_t done, int64_t length) {
    Scatter(results + done * size, address, stride, size, length);
  });
}

// Elements before the next cache line of the output.
int64_t ElementsToLine(const char* address, int32_t size) {
  return static_cast<int64_t>((64 - reinterpret_cast<uintptr_t>(address) % 64) % 64) / size;
}

// Whether the kernel can take all operands as they are: dense, and of its own types. Then a loop needs no tiles,
// which take longer to set up than a short loop takes to run.
bool IsInPlace(const ElementwiseJob& job, const LoopPlan& plan) {
  const ElementType type = job.kernel_result();
  if (plan.rank != 1 || job.result.type != type) return false;
  const ElementType kernel = job.kernel_type().elements;
  for (int k = 0; k < plan.operand_count; ++k) {
    if (plan.operand[k].stride[0] != plan.operand[k].element_size) return false;
    if (k < job.formula.input_count && !Takes(kernel, job.formula.type[k])) return false;
  }
  return true;
}

void RunInPlace(const ElementwiseJob& job, const LoopPlan& plan, char* const* base, int64_t begin,
                int64_t end, bool stream) {
  const void* in[kMaxInputs];
  size_t step[kMaxInputs + 1];
  for (int k = 0; k < job.formula.input_count; ++k) {
    in[k] = base[k] + begin * plan.operand[k].element_size;
    step[k] = static_cast<size_t>(plan.operand[k].element_size);
  }
  const int output = job.formula.input_count;
  step[output] = static_cast<size_t>(plan.operand[output].element_size);
  ReportIsaThatRan(job.formula.function(job.kernel_type(), job.formula.parameters, in, step,
                                        base[output] + begin * plan.operand[output].element_size,
                                        static_cast<size_t>(end - begin), stream));
}

// Computes elements [begin, end) of a plan: the job's, or a block of it.
void RunStretch(const ElementwiseJob& job, const LoopPlan& plan, char* const* base, int64_t begin,
                int64_t end, bool stream) {
  if (IsInPlace(job, plan)) return RunInPlace(job, plan, base, begin, end, stream);
  const int output = job.formula.input_count;
  const ElementType type = job.kernel_result();
  const bool is_rounded = job.result.type == type;
  const int32_t size = plan.operand[output].element_size;
  FormulaTiles tiles(job.formula, plan, base, job.kernel_type(), type);
  Cursor cursor(plan, base, begin);
  alignas(64) float results[kTile];
  for (int64_t position = begin; position < end;) {
    int64_t n = std::min(end - position, tiles.LongestStretch(cursor));
    char* dense = DenseAddress(plan, output, base[output], cursor, position, n);
    if (dense != nullptr && is_rounded) {
      tiles.Compute(cursor, position, n, dense, stream);
    } else {
      n = std::min(n, kTile);
      dense = DenseAddress(plan, output, base[output], cursor, position, n);
      // A line that two tiles share would be written twice: the first tile ends at a line's end.
      const int64_t head = stream && dense != nullptr ? ElementsToLine(dense, size) : 0;
      if (head > 0) n = std::min(n, head);
      tiles.Compute(cursor, position, n, results);
      Spill(job, plan, stream, is_rounded, cursor, reinterpret_cast<const char*>(results), dense, n);
    }
    position += n;
    cursor.Skip(n);
  }
  ReportIsaThatRan(tiles.isa());
}

// Operands that are dense along different dims are walked in blocks of the last two dims, and a crossed operand
// passes through a transposed copy of its block.
class CrossedBlocks {
 public:
  explicit CrossedBlocks(const LoopPlan& plan)
      : plan_(plan),
        across_(plan.rank - 2),
        along_(plan.rank - 1),
        row_blocks_((plan.extent[across_] + kRows - 1) / kRows),
        column_blocks_((plan.extent[along_] + kColumns - 1) / kColumns) {}

  int64_t count() const {
    return plan_.count / (plan_.extent[across_] * plan_.extent[along_]) * row_blocks_ * column_blocks_;
  }

  void Run(const ElementwiseJob& job, char* const* base, int64_t index) const {
    const int64_t column = index % column_blocks_ * kColumns;
    index /= column_blocks_;
    const int64_t row = index % row_blocks_ * kRows;
    index /= row_blocks_;
    LoopPlan block;
    block.rank = 2;
    block.extent[0] = std::min(kRows, plan_.extent[across_] - row);
    block.extent[1] = std::min(kColumns, plan_.extent[along_] - column);
    block.count = block.extent[0] * block.extent[1];
    block.operand_count = plan_.operand_count;

    alignas(64) char copies[kMaxLoopOperands / 2][kRows * kColumns * kMaxCrossedElement];
    int copy_count = 0;
    char* address[kMaxLoopOperands];
    char* block_base[kMaxLoopOperands];
    for (int k = 0; k < plan_.operand_count; ++k) {
      const OperandLoop& whole = plan_.operand[k];
      OperandLoop& part = block.operand[k];
      part.element_size = whole.element_size;
      part.stride[0] = whole.stride[across_];
      part.stride[1] = whole.stride[along_];
      address[k] = base[k] + row * part.stride[0] + column * part.stride[1];
      int64_t outer = index;
      for (int axis = across_ - 1; axis >= 0; --axis) {
        address[k] += outer % plan_.extent[axis] * whole.stride[axis];
        outer /= plan_.extent[axis];
      }
      block_base[k] = address[k];
      if (whole.crossed && CanTranspose(part.element_size)) {
        block_base[k] = copies[copy_count++];
        part.stride[0] = kColumns * part.element_size;
        part.stride[1] = part.element_size;
        if (k < job.formula.input_count) {
          TransposeIn(address[k], whole.stride[along_], block_base[k], part.stride[0], block.extent[1],
                      block.extent[0], part.element_size);
        }
      }
      part.linear = part.stride[0] == 0 && part.stride[1] == 0;
    }
    const int output = job.formula.input_count;
    const bool through_copy = block_base[output] != address[output];
    RunStretch(job, block, block_base, 0, block.count, job.stream && !through_copy);
    if (through_copy) {
      TransposeOut(block_base[output], block.operand[output].stride[0], address[output],
                   plan_.operand[output].stride[along_], block.extent[0], block.extent[1],
                   block.operand[output].element_size, job.stream);
    }
  }

 private:
  static constexpr int64_t kRows = 32;
  static constexpr int64_t kColumns = 256;
  static constexpr int64_t kMaxCrossedElement = 4;  // CanTranspose

  const LoopPlan& plan_;
  const int across_;
  const int along_;
  const int64_t row_blocks_;
  const int64_t column_blocks_;
};

}  // namespace

void ElementwiseJob::Run(void* const* addresses, void*) const noexcept {
  char* base[kMaxLoopOperands];
  for (int k = 0; k < plan.operand_count; ++k) {
    const int8_t operand = k < formula.input_count ? formula.argument[k] : result.argument;
    base[k] = static_cast<char*>(addresses[operand]) + plan.operand[k].offset;
  }
  const auto run = [&](int64_t blocks, const auto& run_block) {
    ForEachBlock(blocks, threads, [&](int64_t block) {
      const DefaultFloatEnvironment environment;
      run_block(block);
      if (stream) hwy::FlushStream();
    });
  };
  if (plan.has_crossed) {
    const CrossedBlocks crossed(plan);
    run(crossed.count(), [&](int64_t block) { crossed.Run(*this, base, block); });
  } else {
    run((plan.count + kBlock - 1) / kBlock, [&](int64_t block) {
      RunStretch(*this, plan, base, block * kBlock, std::min(plan.count, (block + 1) * kBlock), stream);
    });
  }
}

}  // namespace portacl::engine
