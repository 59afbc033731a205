// Runs elementwise jobs block by block (see elementwise.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/elementwise.h"

#include <algorithm>

#include "acl/float_environment.h"
#include "engine/isa.h"
#include "engine/parallel.h"
#include "engine/tiles.h"

namespace portacl::engine {
namespace {

// Elements per block: fixed, so that results never depend on the thread count. 64 KiB of float32 per operand.
constexpr int64_t kBlock = 16384;
// The widest output element: complex128.
constexpr int64_t kMaxElement = 16;

// Rounds and scatters n results to the output's next n elements.
void Spill(const ElementwiseJob& job, const Cursor& cursor, const float* values, char* dense, int64_t n) {
  if (dense != nullptr) {
    job.result.store(values, dense, static_cast<size_t>(n));
    return;
  }
  alignas(64) char raw[kTile * kMaxElement];
  const auto* rounded = reinterpret_cast<const char*>(values);
  if (!job.result.is_float32) {
    job.result.store(values, raw, static_cast<size_t>(n));
    rounded = raw;
  }
  const int output = job.formula.input_count;
  const int32_t size = job.plan.operand[output].element_size;
  ForEachSegment(job.plan, output, cursor, n,
                 [&](char* address, int64_t stride, int64_t done, int64_t length) {
                   Scatter(rounded + done * size, address, stride, size, length);
                 });
}

void RunBlock(const ElementwiseJob& job, char* const* base, int64_t begin, int64_t end) {
  const DefaultFloatEnvironment environment;
  const int output = job.formula.input_count;
  FormulaTiles tiles(job.formula, job.plan, base);
  Cursor cursor(job.plan, base, begin);
  alignas(64) float results[kTile];
  for (int64_t position = begin; position < end;) {
    int64_t n = std::min(end - position, tiles.LongestStretch(cursor));
    char* dense = DenseAddress(job.plan, output, base[output], cursor, position, n);
    if (dense != nullptr && job.result.is_float32) {
      tiles.Compute(cursor, position, n, reinterpret_cast<float*>(dense));
    } else {
      n = std::min(n, kTile);
      dense = DenseAddress(job.plan, output, base[output], cursor, position, n);
      tiles.Compute(cursor, position, n, results);
      Spill(job, cursor, results, dense, n);
    }
    position += n;
    cursor.Skip(n);
  }
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
