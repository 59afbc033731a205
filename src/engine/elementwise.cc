// Runs elementwise jobs block by block (see elementwise.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/elementwise.h"

#include <algorithm>
#include <cstdint>

#include "acl/float_environment.h"
#include "engine/isa.h"
#include "engine/parallel.h"
#include "engine/tiles.h"

#include <hwy/cache_control.h>

namespace portacl::engine {
namespace {

// Elements per block: fixed, so that results never depend on the thread count. 64 KiB of float32 per operand.
constexpr int64_t kBlock = 16384;
// The widest output element: complex128.
constexpr int64_t kMaxElement = 16;

// Rounds and scatters n results, which are in the kernel's type, to the output's next n elements.
void Spill(const ElementwiseJob& job, bool is_rounded, const Cursor& cursor, const char* results, char* dense,
           int64_t n) {
  if (dense != nullptr) {
    job.result.store(reinterpret_cast<const float*>(results), dense, static_cast<size_t>(n), job.stream);
    return;
  }
  alignas(64) char raw[kTile * kMaxElement];
  if (!is_rounded) {
    job.result.store(reinterpret_cast<const float*>(results), raw, static_cast<size_t>(n), false);
    results = raw;
  }
  const int output = job.formula.input_count;
  const int32_t size = job.plan.operand[output].element_size;
  ForEachSegment(job.plan, output, cursor, n,
                 [&](char* address, int64_t stride, int64_t done, int64_t length) {
                   Scatter(results + done * size, address, stride, size, length);
                 });
}

// Elements before the next cache line of the output.
int64_t ElementsToLine(const char* address, int32_t size) {
  return static_cast<int64_t>((64 - reinterpret_cast<uintptr_t>(address) % 64) % 64) / size;
}

void RunBlock(const ElementwiseJob& job, char* const* base, int64_t begin, int64_t end) {
  const DefaultFloatEnvironment environment;
  const int output = job.formula.input_count;
  const ElementType type = job.kernel_type();
  const bool is_rounded = job.result.type == type;
  const int32_t size = job.plan.operand[output].element_size;
  FormulaTiles tiles(job.formula, job.plan, base, type);
  Cursor cursor(job.plan, base, begin);
  alignas(64) float results[kTile];
  for (int64_t position = begin; position < end;) {
    int64_t n = std::min(end - position, tiles.LongestStretch(cursor));
    char* dense = DenseAddress(job.plan, output, base[output], cursor, position, n);
    if (dense != nullptr && is_rounded) {
      tiles.Compute(cursor, position, n, dense, job.stream);
    } else {
      n = std::min(n, kTile);
      dense = DenseAddress(job.plan, output, base[output], cursor, position, n);
      // A line that two tiles share would be written twice: the first tile ends at a line's end.
      const int64_t head = job.stream && dense != nullptr ? ElementsToLine(dense, size) : 0;
      if (head > 0) n = std::min(n, head);
      tiles.Compute(cursor, position, n, results);
      Spill(job, is_rounded, cursor, reinterpret_cast<const char*>(results), dense, n);
    }
    position += n;
    cursor.Skip(n);
  }
  if (job.stream) hwy::FlushStream();
  ReportIsaThatRan(tiles.isa());
}

}  // namespace

void ElementwiseJob::Run(void* const* addresses, void*) const noexcept {
  char* base[kMaxLoopOperands];
  for (int k = 0; k < plan.operand_count; ++k) {
    const int8_t operand = k < formula.input_count ? formula.argument[k] : result.argument;
    base[k] = static_cast<char*>(addresses[operand]) + plan.operand[k].offset;
  }
  const int64_t blocks = (plan.count + kBlock - 1) / kBlock;
  ForEachBlock(blocks, threads, [&](int64_t block) {
    RunBlock(*this, base, block * kBlock, std::min(plan.count, (block + 1) * kBlock));
  });
}

}  // namespace portacl::engine
