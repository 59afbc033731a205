// Transposed rows of rowwise jobs (see across_run.h): groups of rows pass through tiles.
// SPDX-License-Identifier: Apache-2.0
#include "engine/rowwise/across_run.h"

#include <algorithm>
#include <cstring>

#include "engine/isa_in_use.h"
#include "engine/thread_memory.h"

#include <hwy/cache_control.h>

namespace portacl::engine {
namespace {

// Transposed rows, whose elements of one index are adjacent in memory. Tiles hold groups of such rows. Every
// element of a row lies in another page. Therefore as many rows are taken at once as memory allows, even
// beyond the second-level cache, and prefetches bring them in time. The memory is that of matrix products,
// which is larger and unused meanwhile.
constexpr MemoryUse kAcrossUse = MemoryUse::kGemm;
constexpr int64_t kAcrossBytes = int64_t{1} << 21;
static_assert(kAcrossBytes <= kGemmMemoryBytes);
constexpr int64_t kMostAcross = 256;
constexpr int64_t kAskedAhead = 16;
constexpr int64_t kLineBytes = 64;

void AskFor(const char* at, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += kLineBytes) __builtin_prefetch(at + i);
}

class AcrossRun {
 public:
  AcrossRun(const RowwiseJob& job, void* const* addresses, char* memory)
      : job_(job), addresses_(addresses), tiles_(memory), column_bytes_(kGroup * job.across_size) {}

  Isa Rows(int64_t first, int64_t rows) {
    first_ = first;
    rows_ = rows;
    groups_ = (rows + kGroup - 1) / kGroup;
    RowwiseWork work{};
    work.n = static_cast<size_t>(job_.n);
    work.rows = static_cast<size_t>(rows);
    for (int k = 0; k < job_.inputs; ++k) {
      work.operand[k] = tiles_ + k * groups_ * column_bytes_ * job_.n;
      Load(job_.operand[k], work.operand[k]);
    }
    const Isa isa = job_.across(work, job_.parameters);
    Store(job_.operand[job_.inputs], tiles_);
    return isa;
  }

 private:
  // Calls move(address of the rows' elements of an index, their position in the first group's tile).
  template <class Move>
  void ForEachColumn(const RowwiseOperand& operand, char* tile, const Move& move) const {
    char* at = static_cast<char*>(addresses_[operand.argument]) + operand.offset +
               RowTileFrom(operand.outer, first_, rows_).offset;
    const int64_t step = operand.inner.stride[0];
    for (int64_t i = 0; i < job_.n; ++i, at += step) {
      if (i + kAskedAhead < job_.n) AskFor(at + kAskedAhead * step, rows_ * operand.size);
      move(at, tile + i * column_bytes_);
    }
  }

  // Whether tiles hold the elements unconverted.
  bool KeepsBytes(const RowwiseOperand& operand) const {
    return operand.conversion->KeepsBytes() || operand.size == job_.across_size;
  }

  void Load(const RowwiseOperand& operand, char* tile) const {
    const bool keeps_bytes = KeepsBytes(operand);
    const int64_t group_step = column_bytes_ * job_.n;
    alignas(kLineBytes) char line[kMostAcross * sizeof(float)] = {};
    ForEachColumn(operand, tile, [&](const char* at, char* to) {
      if (keeps_bytes) {
        std::memcpy(line, at, static_cast<size_t>(rows_ * operand.size));
      } else {
        operand.conversion->Run(at, line, static_cast<size_t>(rows_), false);
      }
      for (int64_t g = 0; g < groups_; ++g)
        std::memcpy(to + g * group_step, line + g * column_bytes_, static_cast<size_t>(column_bytes_));
    });
  }

  void Store(const RowwiseOperand& operand, char* tile) const {
    const bool keeps_bytes = KeepsBytes(operand);
    const int64_t group_step = column_bytes_ * job_.n;
    alignas(kLineBytes) char line[kMostAcross * sizeof(float)];
    ForEachColumn(operand, tile, [&](char* at, const char* from) {
      for (int64_t g = 0; g < groups_; ++g)
        std::memcpy(line + g * column_bytes_, from + g * group_step, static_cast<size_t>(column_bytes_));
      if (keeps_bytes) {
        std::memcpy(at, line, static_cast<size_t>(rows_ * operand.size));
      } else {
        operand.conversion->Run(line, at, static_cast<size_t>(rows_), false);
      }
    });
  }

  const RowwiseJob& job_;
  void* const* const addresses_;
  char* const tiles_;
  const int64_t column_bytes_;  // of a group's elements of one index
  int64_t first_ = 0;
  int64_t rows_ = 0;
  int64_t groups_ = 0;
};

}  // namespace

bool RunAcross(const RowwiseJob& job, void* const* addresses, int64_t first, int64_t last) {
  char* const memory = ThreadMemory(kAcrossUse);
  const int64_t bytes_of_row = job.n * job.inputs * job.across_size;
  const int64_t fits = std::min(kAcrossBytes / bytes_of_row, kMostAcross) / kGroup * kGroup;
  const int64_t together = std::max(fits, kGroup);
  if (memory == nullptr || bytes_of_row > kAcrossBytes / together) return false;
  AcrossRun run(job, addresses, memory);
  Isa isa = Isa::kPortable;
  for (int64_t row = first; row < last;) {
    int64_t rows = std::min(together, last - row);
    for (int k = 0; k < job.inputs + job.outputs; ++k)
      rows = std::min(rows, RowTileFrom(job.operand[k].outer, row, rows).count);
    isa = run.Rows(row, rows);
    row += rows;
  }
  ReportIsaThatRan(isa);
  return true;
}

}  // namespace portacl::engine
