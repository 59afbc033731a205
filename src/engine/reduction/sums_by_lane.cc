// Sums of outputs whose terms are contiguous in the walk: sums by lane.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/float_environment.h"
#include "engine/isa_in_use.h"
#include "engine/parallel.h"
#include "engine/reduction/reduction_run.h"
#include "engine/reduction/sum_tree.h"

namespace portacl::engine {
namespace {

// Sums of blocks that one kernel call may write.
constexpr int64_t kBlockSums = 256;

}  // namespace

void ReductionRun::RunLanes() {
  if (RunLanesAcross()) return;
  if (plan_.chunks > 1) {
    ForEachBlock(plan_.outputs() * plan_.chunks, job_.threads, [&](int64_t thread_block) {
      const int64_t output = thread_block / plan_.chunks;
      const int64_t chunk = thread_block % plan_.chunks;
      const int64_t begin = chunk * plan_.chunk_blocks * kLaneBlock;
      const int64_t end = std::min(plan_.reduced, begin + plan_.chunk_blocks * kLaneBlock);
      double* const partial = &partials_[chunk * plan_.outputs() + output];
      SumLanes(output * plan_.reduced + begin, end - begin, 1,
               [&](int64_t, const double* sum, int64_t) { *partial = *sum; });
    });
    return;
  }
  const int64_t group = GroupFor(plan_.reduced);
  const int64_t thread_blocks = (plan_.outputs() + group - 1) / group;
  ForEachBlock(thread_blocks, job_.threads, [&](int64_t thread_block) {
    const int64_t first = thread_block * group;
    const int64_t count = std::min(group, plan_.outputs() - first);
    const auto store = [&](int64_t i, const double* sums, int64_t n) { Store(first + i, sums, n); };
    if (plan_.reduced < kLaneCount) {
      SumShort(first, count, store);
    } else {
      SumLanes(first * plan_.reduced, plan_.reduced, count, store);
    }
  });
}

template <class Done>
void ReductionRun::SumShort(int64_t first, int64_t count, const Done& done) const {
  const DefaultFloatEnvironment environment;
  FormulaTiles tiles(job_.formula, plan_.terms, base_, {ElementType::kF32}, ElementType::kF32);
  const int64_t length = plan_.reduced;
  int64_t position = first * length;
  Cursor cursor(plan_.terms, base_, position);
  alignas(64) float terms[kTermsAtOnce + kLanes] = {};
  alignas(64) double sums[kTermsAtOnce / 2];
  for (int64_t i = 0; i < count;) {
    const int64_t n = std::min(count - i, kTermsAtOnce / length);
    ComputeTerms(tiles, cursor, position, n * length, terms);
    job_.terms.short_sums(terms, static_cast<size_t>(length), static_cast<size_t>(n), sums);
    done(i, sums, n);
    position += n * length;
    i += n;
  }
  ReportIsaThatRan(tiles.isa());
}

template <class Done>
void ReductionRun::SumLanes(int64_t position, int64_t length, int64_t count, const Done& done) const {
  const DefaultFloatEnvironment environment;
  FormulaTiles tiles(job_.formula, plan_.terms, base_, kernel_, ElementType::kF32);
  LoopRange loop_range(plan_.terms);
  loop_range.end = position + length * count;
  tiles.WalkRows(loop_range);
  Cursor cursor(plan_.terms, base_, position);
  double levels[kSumTreeLevels];
  SumTree tree(levels, 1);
  alignas(64) double lanes[kLanes];
  double sums[kBlockSums + 2];
  SumWork work = StartWork(SumWork::Order::kByLane);
  work.lanes = lanes;
  work.length = static_cast<size_t>(length);
  const int64_t blocks = (length + kLaneBlock - 1) / kLaneBlock;
  const int64_t most = kBlockSums * std::min(length, kLaneBlock);
  int64_t in_tile = 0;  // blocks of the current sum in the tree
  for (int64_t left = length * count, tile_part = 0; left > 0;) {
    const int64_t n = std::min({left, tiles.LongestTile(cursor), most});
    tiles.Locate(cursor, position, n, work.in, work.step);
    work.n = static_cast<size_t>(n);
    work.sums = sums;
    RunKernel(tiles, work);
    const int64_t ended = work.sums - sums;
    if (blocks == 1) {
      if (ended > 0) done(tile_part, sums, ended);
      tile_part += ended;
    } else {
      for (int64_t i = 0; i < ended; ++i) {
        tree.Add(&sums[i]);
        if (++in_tile < blocks) continue;
        double sum;
        tree.Finish(&sum);
        done(tile_part++, &sum, 1);
        in_tile = 0;
      }
    }
    left -= n;
    position += n;
    if (left > 0) cursor.Skip(n);
  }
  ReportIsaThatRan(tiles.isa());
}

double ReductionRun::SumTile(int64_t position, int64_t length) const {
  double result = 0;
  SumLanes(position, length, 1, [&](int64_t, const double* sum, int64_t) { result = *sum; });
  return result;
}

}  // namespace portacl::engine
