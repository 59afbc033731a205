// Runs all-reductions of formulas (see all_elements.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/reduction/all_elements.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/float_environment.h"
#include "engine/map/tiles.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int64_t kBlock = 16384;

// Tells whether the formula is true for all elements of [begin, end). Stops early once another block has found a
// false one.
bool IsTrueOfEvery(const AllElementsJob& job, char* const* base, int64_t begin, int64_t end,
                   const std::atomic<bool>& every) {
  alignas(64) unsigned char is_true[kTile];
  const KernelType kernel = job.formula.KernelFor(ElementType::kBool).type;
  FormulaTiles tiles(job.formula, job.plan, base, kernel, ElementType::kBool);
  Cursor cursor(job.plan, base, begin);
  for (int64_t position = begin; position < end && every.load(std::memory_order_relaxed);) {
    const int64_t n = std::min({end - position, tiles.LongestTile(cursor), int64_t{kTile}});
    tiles.Compute(cursor, position, n, is_true);
    if (std::memchr(is_true, 0, static_cast<size_t>(n)) != nullptr) return false;
    position += n;
    cursor.Skip(n);
  }
  return true;
}

}  // namespace

void AllElementsJob::Run(void* const* addresses, void*) const noexcept {
  char* base[kMaxLoopOperands];
  for (int k = 0; k < plan.operand_count; ++k)
    base[k] = static_cast<char*>(addresses[formula.argument[k]]) + plan.operand[k].offset;
  std::atomic<bool> every{true};
  ForEachBlock((plan.count + kBlock - 1) / kBlock, threads, [&](int64_t block) {
    if (!every.load(std::memory_order_relaxed)) return;
    const DefaultFloatEnvironment environment;
    const int64_t begin = block * kBlock;
    if (!IsTrueOfEvery(*this, base, begin, std::min(plan.count, begin + kBlock), every))
      every.store(false, std::memory_order_relaxed);
  });
  static_cast<char*>(addresses[output_argument])[output_offset] =
      every.load(std::memory_order_relaxed) != is_opposite ? 1 : 0;
}

}  // namespace portacl::engine
