// Runs sum jobs (see reduction_run.h; plan/reduction_plan.h defines the order of additions).
// SPDX-License-Identifier: Apache-2.0
#include "engine/reduction/reduction_run.h"

#include <algorithm>
#include <bit>

#include "base/float_environment.h"
#include "engine/map/precompute.h"
#include "engine/reduction/sum_tree.h"

namespace portacl::engine {
namespace {

// The widest output element: complex128.
constexpr int64_t kMaxElement = 16;

// Bounds for the terms of a task, if outputs are short: enough to hide the cost of starting a task, few
// enough to leave tasks for all threads.
constexpr int64_t kFewestTermsPerBlock = 16384;
constexpr int64_t kMostTermsPerBlock = 131072;
constexpr int64_t kThreadBlocks = 64;

// Levels of the tree over chunks.
constexpr int kChunkLevels = std::bit_width(static_cast<uint64_t>(kMaxChunks));

// Sums that are rounded or combined at once.
constexpr int64_t kSumsAtOnce = 128;

}  // namespace

ReductionRun::ReductionRun(const ReductionJob& job, char* const* base, void* output, void* workspace)
    : job_(job),
      plan_(job.plan),
      kernel_(job.formula.KernelForSums()),
      partials_(static_cast<double*>(workspace)) {
  in_place_rows_ = plan_.regular;
  for (int k = 0; k < plan_.terms.operand_count; ++k) {
    const OperandLoop& operand = plan_.terms.operand[k];
    base_[k] = base[k];
    const int64_t stride = plan_.column_stride[k];
    if (!Takes(kernel_.elements, job.formula.type[k]) || (stride != 0 && stride != operand.element_size))
      in_place_rows_ = false;
  }
  output_ = static_cast<char*>(output) + plan_.output.operand[0].offset;
}

void ReductionRun::Run() {
  if (plan_.reduced == 0) {
    StoreZeros();
  } else if (plan_.in_lanes()) {
    RunLanes();
  } else if (plan_.inner < kLaneCount) {
    RunNarrowRows();
  } else {
    RunRows();
  }
  if (plan_.chunks > 1) CombineChunks();
}

int64_t ReductionRun::GroupFor(int64_t terms) const {
  const int64_t wanted =
      std::clamp(plan_.terms.count / kThreadBlocks, kFewestTermsPerBlock, kMostTermsPerBlock);
  return std::max<int64_t>(wanted / terms, 1);
}

SumWork ReductionRun::StartWork(SumWork::Order order) const {
  SumWork work;
  work.order = order;
  work.at = 0;
  work.from_memory = job_.from_memory;
  return work;
}

void ReductionRun::ComputeTerms(FormulaTiles& tiles, Cursor& cursor, int64_t position, int64_t n,
                                float* out) {
  while (n > 0) {
    const int64_t m = std::min(n, tiles.LongestTile(cursor));
    tiles.Compute(cursor, position, m, out);
    position += m;
    cursor.Skip(m);
    out += m;
    n -= m;
  }
}

void ReductionRun::CombineChunks() const {
  const DefaultFloatEnvironment environment;
  double sums[kSumsAtOnce];
  double levels[kChunkLevels * kSumsAtOnce];
  for (int64_t first = 0; first < plan_.outputs(); first += kSumsAtOnce) {
    const int64_t count = std::min(kSumsAtOnce, plan_.outputs() - first);
    SumTree tree(levels, count);
    for (int64_t chunk = 0; chunk < plan_.chunks; ++chunk)
      tree.Add(&partials_[chunk * plan_.outputs() + first]);
    tree.Finish(sums);
    Store(first, sums, count);
  }
}

void ReductionRun::StoreZeros() const {
  const double zeros[kSumsAtOnce] = {};
  for (int64_t first = 0; first < plan_.outputs(); first += kSumsAtOnce) {
    Store(first, zeros, std::min(kSumsAtOnce, plan_.outputs() - first));
  }
}

void ReductionRun::Store(int64_t first, const double* sums, int64_t count) const {
  const DefaultFloatEnvironment environment;
  const int32_t size = plan_.output.operand[0].element_size;
  char* const base[] = {output_};
  alignas(64) double results[kSumsAtOnce];
  alignas(64) char rounded[kSumsAtOnce * kMaxElement];
  for (int64_t done = 0; done < count; done += kSumsAtOnce) {
    const int64_t n = std::min(kSumsAtOnce, count - done);
    for (int64_t i = 0; i < n; ++i) results[i] = sums[done + i] * job_.factor;
    job_.store(results, rounded, static_cast<size_t>(n));
    ForEachDenseRange(plan_.output, 0, Cursor(plan_.output, base, first + done), n,
                      [&](char* address, int64_t stride, int64_t at, int64_t length) {
                        Scatter(rounded + at * size, address, stride, size, length);
                      });
  }
}

void ReductionJob::Run(void* const* addresses, void* workspace) const noexcept {
  char* base[kMaxLoopOperands] = {};
  for (int k = 0; k < plan.terms.operand_count; ++k)
    base[k] = static_cast<char*>(addresses[formula.argument[k]]) + plan.terms.operand[k].offset;
  void* const output = addresses[output_argument];
  if (formula.precomputed != nullptr && IsWorthPrecomputing(formula, plan.terms)) {
    ReductionJob rest = *this;
    if (PrecomputeFunction(rest.formula, rest.plan.terms, base, threads)) {
      rest.plan.regular = false;  // its strides are the input's
      return ReductionRun(rest, base, output, workspace).Run();
    }
  }
  ReductionRun(*this, base, output, workspace).Run();
}

}  // namespace portacl::engine
