// Transposed rows of rowwise jobs (see across_run.h): some rows at a time, read and written where they lie, or
// through tiles.
// SPDX-License-Identifier: Apache-2.0
#include "engine/rowwise/across_run.h"

#include <algorithm>
#include <cstring>

#include "engine/isa_in_use.h"
#include "engine/thread_memory.h"

#include <hwy/cache_control.h>

namespace portacl::engine {
namespace {

// A line holds the elements of one index of neighbouring rows. Every line lies in another page. Therefore as
// many rows are taken at once as memory allows, even beyond the second-level cache, and prefetches bring them
// in time. The memory is that of matrix products, which is larger and unused meanwhile.
constexpr int64_t kTileBytes = int64_t{1} << 21;
static_assert(kTileBytes <= kGemmMemoryBytes);
static_assert((kAcrossSums + kMostAcrossNumbers * kMostAcross) * static_cast<int64_t>(sizeof(double)) <=
              kThreadMemoryBytes);
// Rows that are taken together where inputs are few enough to be read again without a copy.
constexpr int64_t kRowsOfFew = 128;
constexpr int64_t kFewBytes = int64_t{1} << 18;
// Fewer rows are not worth a copy.
constexpr int64_t kLeastCopied = 32;
// Rows that kernels compute together where they can. Their 16-bit elements are whole cache lines.
constexpr int64_t kRowsTogether = 64;
constexpr int64_t kAskedAhead = 16;
constexpr int64_t kLineBytes = 64;

int64_t Padded(int64_t rows) { return (rows + kGroup - 1) / kGroup * kGroup; }

class AcrossRun {
 public:
  AcrossRun(const RowwiseJob& job, void* const* addresses, char* tiles, char* numbers)
      : job_(job), addresses_(addresses), tiles_(tiles), numbers_(numbers) {
    is_native_ = std::all_of(job.operand, job.operand + job.inputs + job.outputs,
                             [&](const RowwiseOperand& operand) { return IsNative(operand); });
    // The bytes of an element of all tiles: where kernels read memory, and where tiles stand for it.
    const int64_t size = job.across_size;
    const int64_t copied = job.keeps ? int64_t{sizeof(float)} : job.inputs * size;
    const int64_t loaded = job.keeps && size != sizeof(float) ? size + copied : copied;
    most_loaded_ = Fitting(loaded);
    if (kRowsOfFew * job.n * job.inputs * size <= kFewBytes) {
      together_ = std::min(kRowsOfFew, Fitting(copied));
    } else {
      together_ = Fitting(copied);
      copies_ = together_ >= kLeastCopied;
      // The kernel computes again instead of keeping terms, and reads inputs again.
      if (!copies_) together_ = kMostAcross;
    }
    keeps_ = job.keeps && together_ <= Fitting(copied);
  }

  // Tells whether these rows fit the tiles that they need. Kernels that read memory need none; they take whole
  // groups of rows, of which no operand may cut one.
  bool Fit(int64_t first, int64_t last) const {
    if (most_loaded_ >= kGroup) return true;
    return is_native_ && first % kGroup == 0 && last % kGroup == 0 &&
           std::all_of(job_.operand, job_.operand + job_.inputs + job_.outputs,
                       [](const RowwiseOperand& operand) {
                         return operand.outer.extent[operand.outer.rank - 1] % kGroup == 0;
                       });
  }

  // Computes rows from `first` on, at most `rows`, and returns how many.
  int64_t Rows(int64_t first, int64_t rows) {
    for (int k = 0; k < job_.inputs + job_.outputs; ++k)
      rows = std::min(rows, RowTileFrom(job_.operand[k].outer, first, rows).count);
    const bool in_groups = rows % kGroup == 0;
    if (is_native_ && (in_groups || Padded(std::min(rows, together_)) > most_loaded_)) {
      rows = std::min(rows, together_) / kGroup * kGroup;
      RunInMemory(first, rows);
    } else if (is_native_ && rows > together_) {
      rows = together_;
      RunInMemory(first, rows);
    } else {
      rows = std::min(rows, most_loaded_);
      RunInTiles(first, rows);
    }
    return rows;
  }

  Isa isa() const { return isa_; }
  bool streamed() const { return streamed_; }

 private:
  // Tells whether kernels read and write these elements as they are stored.
  bool IsNative(const RowwiseOperand& operand) const {
    return operand.conversion->KeepsBytes() || job_.across_size == sizeof(uint16_t);
  }
  int64_t Fitting(int64_t bytes_of_element) const {
    const int64_t fits = kTileBytes / bytes_of_element / job_.n;
    return std::min(fits >= kRowsTogether ? fits / kRowsTogether * kRowsTogether : fits / kGroup * kGroup,
                    kMostAcross);
  }

  char* AddressOf(const RowwiseOperand& operand, int64_t first, int64_t rows) const {
    return static_cast<char*>(addresses_[operand.argument]) + operand.offset +
           RowTileFrom(operand.outer, first, rows).offset;
  }

  AcrossWork WorkOf(int64_t rows) const {
    AcrossWork work{};
    work.n = static_cast<size_t>(job_.n);
    work.rows = static_cast<size_t>(rows);
    work.sums = reinterpret_cast<double*>(numbers_);
    work.numbers = reinterpret_cast<float*>(work.sums + kAcrossSums);
    return work;
  }

  void RunInMemory(int64_t first, int64_t rows) {
    AcrossWork work = WorkOf(rows);
    for (int k = 0; k < job_.inputs; ++k) {
      const RowwiseOperand& input = job_.operand[k];
      work.input[k] = AddressOf(input, first, rows);
      work.input_step[k] = input.inner.stride[0];
      if (copies_) work.copy[k] = tiles_ + k * rows * job_.n * job_.across_size;
    }
    if (keeps_) work.kept = reinterpret_cast<float*>(tiles_);
    const RowwiseOperand& output = job_.operand[job_.inputs];
    work.output = AddressOf(output, first, rows);
    work.output_step = output.inner.stride[0];
    work.ahead = copies_ || job_.from_memory ? kAskedAhead : 0;
    work.stream = job_.from_memory && rows % kRowsTogether == 0 &&
                  reinterpret_cast<uintptr_t>(work.output) % kLineBytes == 0 &&
                  work.output_step % kLineBytes == 0;
    isa_ = job_.across(work);
    streamed_ = streamed_ || work.stream;
  }

  void RunInTiles(int64_t first, int64_t rows) {
    AcrossWork work = WorkOf(Padded(rows));
    const int64_t line = Padded(rows) * job_.across_size;
    for (int k = 0; k < job_.inputs; ++k) {
      char* const tile = tiles_ + k * line * job_.n;
      Load(job_.operand[k], first, rows, tile, line);
      work.input[k] = tile;
      work.input_step[k] = line;
    }
    // Terms of 16-bit elements follow the one input, others take its place.
    if (job_.keeps)
      work.kept = reinterpret_cast<float*>(tiles_ + (job_.across_size == sizeof(float) ? 0 : line * job_.n));
    work.output = tiles_;
    work.output_step = line;
    isa_ = job_.across(work);
    Store(job_.operand[job_.inputs], first, rows, tiles_, line);
  }

  // Calls move(address of a line, the tile's line) for each index.
  template <class Move>
  void ForEachLine(const RowwiseOperand& operand, int64_t first, int64_t rows, char* tile, int64_t line,
                   const Move& move) const {
    char* at = AddressOf(operand, first, rows);
    const int64_t step = operand.inner.stride[0];
    for (int64_t i = 0; i < job_.n; ++i, at += step, tile += line) {
      if (i + kAskedAhead < job_.n) {
        for (int64_t byte = 0; byte < rows * operand.size; byte += kLineBytes)
          __builtin_prefetch(at + kAskedAhead * step + byte);
      }
      move(at, tile);
    }
  }

  void Load(const RowwiseOperand& operand, int64_t first, int64_t rows, char* tile, int64_t line) const {
    const bool is_native = IsNative(operand);
    const int64_t bytes = rows * job_.across_size;
    ForEachLine(operand, first, rows, tile, line, [&](const char* at, char* to) {
      if (is_native) {
        std::memcpy(to, at, static_cast<size_t>(bytes));
      } else {
        operand.conversion->Run(at, to, static_cast<size_t>(rows), false);
      }
      std::memset(to + bytes, 0, static_cast<size_t>(line - bytes));
    });
  }

  void Store(const RowwiseOperand& operand, int64_t first, int64_t rows, char* tile, int64_t line) const {
    const bool is_native = IsNative(operand);
    ForEachLine(operand, first, rows, tile, line, [&](char* at, const char* from) {
      if (is_native) {
        std::memcpy(at, from, static_cast<size_t>(rows * operand.size));
      } else {
        operand.conversion->Run(from, at, static_cast<size_t>(rows), false);
      }
    });
  }

  const RowwiseJob& job_;
  void* const* const addresses_;
  char* const tiles_;
  char* const numbers_;
  bool is_native_;
  bool copies_ = false;
  bool keeps_;
  bool streamed_ = false;
  int64_t together_;     // rows where kernels read memory: a multiple of kGroup
  int64_t most_loaded_;  // rows where tiles stand for it
  Isa isa_ = Isa::kPortable;
};

}  // namespace

bool RunAcross(const RowwiseJob& job, void* const* addresses, int64_t first, int64_t last) {
  char* const tiles = ThreadMemory(MemoryUse::kGemm);
  char* const numbers = ThreadMemory(MemoryUse::kRows);
  if (tiles == nullptr || numbers == nullptr) return false;
  AcrossRun run(job, addresses, tiles, numbers);
  if (!run.Fit(first, last)) return false;
  for (int64_t row = first; row < last;) row += run.Rows(row, last - row);
  if (run.streamed()) hwy::FlushStream();
  ReportIsaThatRan(run.isa());
  return true;
}

}  // namespace portacl::engine
