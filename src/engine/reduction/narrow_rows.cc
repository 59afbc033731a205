// Sums of rows shorter than the lanes of a sum: several blocks, or several outputs, are added together.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "base/float_environment.h"
#include "engine/isa_in_use.h"
#include "engine/parallel.h"
#include "engine/reduction/reduction_run.h"
#include "engine/reduction/sum_tree.h"

namespace portacl::engine {

void ReductionRun::RunNarrowRows() {
  const int64_t rows = std::min(plan_.reduced, plan_.chunk_blocks * kRowBlock);
  const int64_t group = plan_.chunks > 1 ? 1 : GroupFor(plan_.reduced * plan_.inner);
  const int64_t groups = (plan_.outer + group - 1) / group;
  ForEachBlock(groups * plan_.chunks, job_.threads, [&](int64_t thread_block) {
    const int64_t chunk = thread_block % plan_.chunks;
    const int64_t first = thread_block / plan_.chunks * group;
    const int64_t count = std::min(group, plan_.outer - first);
    const int64_t row = chunk * plan_.chunk_blocks * kRowBlock;
    const DefaultFloatEnvironment environment;
    FormulaTiles tiles(job_.formula, plan_.terms, base_, {ElementType::kF32}, ElementType::kF32);
    NarrowTerms buffers;
    if (plan_.reduced <= kRowBlock && plan_.reduced * plan_.inner <= kTermsAtOnce) {
      SumNarrowOutputs(tiles, buffers, first, count);
    } else {
      for (int64_t outer = first; outer < first + count; ++outer) {
        SumNarrowBlocks(tiles, buffers, (outer * plan_.reduced + row) * plan_.inner,
                        std::min(plan_.reduced - row, rows));
        if (plan_.chunks == 1) {
          Store(outer * plan_.inner, buffers.total, plan_.inner);
        } else {
          std::copy_n(buffers.total, plan_.inner, &partials_[chunk * plan_.outputs() + outer * plan_.inner]);
        }
      }
    }
    ReportIsaThatRan(tiles.isa());
  });
}

void ReductionRun::SumNarrowOutputs(FormulaTiles& tiles, NarrowTerms& buffers, int64_t first,
                                    int64_t count) const {
  const int64_t length = plan_.reduced * plan_.inner;
  int64_t position = first * length;
  Cursor cursor(plan_.terms, base_, position);
  const int64_t most = std::min(kTermsAtOnce / length, kNarrowGroups);
  for (int64_t i = 0; i < count;) {
    const int64_t n = std::min(count - i, most);
    ComputeTerms(tiles, cursor, position, n * length, buffers.terms);
    AddNarrowRows(buffers, length, n, plan_.reduced, /*clear=*/true);
    // Closes the gaps between the sums of rows, which are kLanes apart.
    for (int64_t g = 1; g < n; ++g) {
      std::memmove(buffers.sums + g * plan_.inner, buffers.sums + g * kLaneCount,
                   static_cast<size_t>(plan_.inner) * sizeof(double));
    }
    Store((first + i) * plan_.inner, buffers.sums, n * plan_.inner);
    position += n * length;
    i += n;
  }
}

void ReductionRun::SumNarrowBlocks(FormulaTiles& tiles, NarrowTerms& buffers, int64_t position,
                                   int64_t rows) const {
  constexpr int64_t kTogether = 4;
  SumTree tree(buffers.levels, plan_.inner);
  const int64_t most = std::min(kTermsAtOnce / kTogether / plan_.inner, kRowBlock);
  while (rows > 0) {
    // A shorter last block is added alone.
    const int64_t blocks = std::clamp<int64_t>(rows / kRowBlock, 1, kTogether);
    const int64_t height = std::min(rows, kRowBlock);
    for (int64_t r = 0; r < height;) {
      const int64_t n = std::min(height - r, most);
      for (int64_t b = 0; b < blocks; ++b) {
        const int64_t at = position + (b * kRowBlock + r) * plan_.inner;
        Cursor cursor(plan_.terms, base_, at);
        ComputeTerms(tiles, cursor, at, n * plan_.inner, buffers.terms + b * most * plan_.inner);
      }
      AddNarrowRows(buffers, most * plan_.inner, blocks, n, /*clear=*/r == 0);
      r += n;
    }
    for (int64_t b = 0; b < blocks; ++b) tree.Add(buffers.sums + b * kLaneCount);
    position += blocks * height * plan_.inner;
    rows -= blocks * height;
  }
  tree.Finish(buffers.total);
}

void ReductionRun::AddNarrowRows(NarrowTerms& buffers, int64_t stride, int64_t groups, int64_t rows,
                                 bool clear) const {
  if (clear) std::fill_n(buffers.sums, groups * kLaneCount, 0.0);
  job_.terms.narrow_rows(buffers.terms, static_cast<size_t>(stride), static_cast<size_t>(groups),
                         static_cast<size_t>(rows), static_cast<size_t>(plan_.inner), buffers.sums);
}

}  // namespace portacl::engine
