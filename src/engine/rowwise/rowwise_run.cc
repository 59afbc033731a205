// Plans and runs rowwise jobs (see rowwise.h). Operands that the kernel cannot read in memory pass through tiles
// of whole rows, or of parts of rows that are too long.
// SPDX-License-Identifier: Apache-2.0
#include "engine/rowwise/rowwise.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/data_type.h"
#include "base/float_environment.h"
#include "engine/cache_size.h"
#include "engine/isa_in_use.h"
#include "engine/parallel.h"
#include "engine/reduction/sum_tree.h"
#include "engine/rowwise/across_run.h"
#include "engine/thread_memory.h"
#include "plan/reduction_plan.h"

#include <hwy/cache_control.h>

namespace portacl::engine {
namespace {

// The size of tiles, which should stay in the second-level cache beside operands in memory.
constexpr int64_t kTileBytesTogether = 196608;
// The buffer's size without a thread's memory.
constexpr int64_t kStackBytes = 16384;
constexpr int64_t kMostRowsTogether = 64;
constexpr int64_t kMostTile = 8192;
// The number of elements that a thread takes at a time, in whole rows. Rows that share cache lines stay
// together.
constexpr int64_t kElementsTogether = 65536;
constexpr int64_t kRowsOfLine = 64;
// Chunks of sums over columns.
constexpr int64_t kMostColumnChunks = 16;
// The prefetch distance ahead of streamed rows, and the longest row that is prefetched.
constexpr int64_t kAhead = 8192;
constexpr int64_t kMostAhead = 16384;

int64_t QuotientUp(int64_t dividend, int64_t divisor) {
  return dividend / divisor + (dividend % divisor != 0 ? 1 : 0);
}

int64_t Rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// Hands out parts of a buffer.
class Memory {
 public:
  Memory(char* bytes, int64_t size) : at_(bytes), left_(size) {}
  char* Take(int64_t bytes) {
    char* const taken = at_;
    at_ += Rounded(bytes);
    left_ -= Rounded(bytes);
    return taken;
  }
  int64_t left() const { return left_; }

 private:
  char* at_;
  int64_t left_;
};

// Runs some rows of a job on one thread.
class RowwiseRun {
 public:
  RowwiseRun(const RowwiseJob& job, void* const* addresses, char* bytes, int64_t size)
      : job_(job), addresses_(addresses), memory_(bytes, size), operands_(job.inputs + job.outputs) {
    const int values = job.values_in + job.values_out;
    // The bytes of tiles of whole rows: for each row, and for all together.
    int64_t per_row = 0;
    int64_t shared = 2 * kMostRowsTogether * static_cast<int64_t>(sizeof(double)) * (values + 1) + 1024;
    const int64_t row_bytes = job.n * job.computed_size;
    bool any_tile = false;
    for (int k = 0; k < operands_; ++k) {
      const RowwiseOperand& operand = job.operand[k];
      if (operand.is_in_place) continue;
      (operand.is_shared ? shared : per_row) += Rounded(row_bytes);
      any_tile = any_tile || !operand.is_shared;
    }
    if (job.keeps) shared += Rounded(row_bytes + 64);
    // Each tile begins with a whole cache line and its rows are contiguous; counting a line for each row is
    // more than enough.
    per_row += Rounded(job.n * job.raw_size);
    const int64_t left = memory_.left() - shared - int64_t{operands_} * 64;
    is_whole_ = left >= per_row;
    if (job.n > std::numeric_limits<int64_t>::max() / 64) is_whole_ = false;
    if (is_whole_) {
      const int64_t comfortable = std::min(left, std::max(per_row, kTileBytesTogether));
      rows_together_ = std::clamp<int64_t>(comfortable / std::max<int64_t>(per_row, 1), 1, kMostRowsTogether);
      if (LiesAcross()) {
        // Takes a cache line of each column, if there is room.
        const int64_t line = std::min<int64_t>(kRowsOfLine / 4, left / std::max<int64_t>(per_row, 1));
        rows_together_ = std::max(rows_together_, line);
      }
      tile_elements_ = job.n;
    } else {
      rows_together_ = 1;
      const int64_t left_for_tiles = memory_.left() -
                                     2 * static_cast<int64_t>(sizeof(double)) * (values + 1) -
                                     int64_t{64} * (values + 4 + operands_);
      const int64_t each = operands_ * job.computed_size + job.raw_size;
      tile_elements_ = std::min(kMostTile, left_for_tiles / each / 64 * 64);
    }
    values_ = reinterpret_cast<double*>(
        memory_.Take(static_cast<int64_t>(sizeof(double)) * values * rows_together_));
    raw_values_ = memory_.Take(static_cast<int64_t>(sizeof(double)) * rows_together_);
    for (int k = 0; k < operands_; ++k) {
      const RowwiseOperand& operand = job.operand[k];
      if (operand.is_in_place) continue;
      const bool one = operand.is_shared || !is_whole_;
      tile_[k] = memory_.Take((one ? 1 : rows_together_) * tile_elements_ * job.computed_size);
      if (is_whole_ && operand.is_shared) loads_shared_ = true;
    }
    if (job.keeps && is_whole_) kept_ = memory_.Take(row_bytes + 64);
    raw_ = memory_.Take(rows_together_ * tile_elements_ * job.raw_size);
    if (loads_shared_) {
      for (int k = 0; k < job.inputs; ++k) {
        const RowwiseOperand& operand = job.operand[k];
        if (!operand.is_in_place && operand.is_shared)
          LoadRows(operand, addresses, 0, 1, 0, job.n, job.computed_size, tile_[k], raw_);
      }
    }
  }

  // `columns` may be nullptr.
  void Rows(int64_t first, int64_t last, double* const* columns) {
    RowwiseWork work{};
    for (int64_t row = first; row < last;) {
      int64_t rows = std::min(rows_together_, last - row);
      work.n = static_cast<size_t>(job_.n);
      work.values = values_;
      work.value_pitch = static_cast<size_t>(rows_together_);
      work.kept = kept_;
      work.row_tiles = nullptr;
      work.stream = job_.stream;
      const int64_t row_bytes = job_.n * job_.native_size;
      work.ahead = row_bytes > kMostAhead ? 0 : QuotientUp(kAhead, row_bytes) * row_bytes;
      for (int c = 0; c < kMaxColumnSums; ++c) work.columns[c] = columns == nullptr ? nullptr : columns[c];
      for (int k = 0; k < operands_; ++k) {
        const RowwiseOperand& operand = job_.operand[k];
        if (!operand.is_in_place) continue;
        const RowTile run = RowTileFrom(operand.outer, row, rows);
        rows = run.count;
        work.operand[k] = static_cast<char*>(addresses_[operand.argument]) + operand.offset + run.offset;
        work.row_stride[k] = run.stride;
        if (k >= job_.inputs &&
            (reinterpret_cast<uintptr_t>(work.operand[k]) % 64 != 0 || run.stride % 64 != 0))
          work.stream = false;
      }
      const int values = job_.values_in + job_.values_out;
      for (int i = 0; i < job_.values_in; ++i) {
        LoadRows(job_.value[i], addresses_, row, rows, 0, 1, sizeof(double), ValuesOf(i), raw_values_);
      }
      if (is_whole_) {
        RunWhole(work, row, rows);
      } else {
        RunRowTiles(work, row);
      }
      for (int i = job_.values_in; i < values; ++i) {
        if (job_.value[i].argument == RowwiseOperand::kConstant) continue;
        StoreRows(job_.value[i], addresses_, row, rows, 0, 1, sizeof(double), ValuesOf(i), raw_values_);
      }
      row += rows;
    }
  }

  Isa isa() const { return isa_; }

 private:
  char* ValuesOf(int i) const { return reinterpret_cast<char*>(values_ + i * rows_together_); }

  // Tells whether the elements of neighbouring rows are adjacent in memory.
  bool LiesAcross() const {
    return std::any_of(job_.operand, job_.operand + operands_, [](const RowwiseOperand& operand) {
      return !operand.is_in_place && operand.argument != RowwiseOperand::kConstant &&
             operand.outer.rank > 0 && operand.outer.stride[operand.outer.rank - 1] == operand.size &&
             operand.inner.rank > 0;
    });
  }

  void RunWhole(RowwiseWork& work, int64_t row, int64_t rows) {
    work.rows = static_cast<size_t>(rows);
    for (int k = 0; k < operands_; ++k) {
      const RowwiseOperand& operand = job_.operand[k];
      if (operand.is_in_place) continue;
      work.operand[k] = tile_[k];
      work.row_stride[k] = operand.is_shared ? 0 : job_.n * job_.computed_size;
      if (k < job_.inputs && !operand.is_shared)
        LoadRows(operand, addresses_, row, rows, 0, job_.n, job_.computed_size, tile_[k], raw_);
    }
    isa_ = job_.kernel(work, job_.parameters);
    for (int k = job_.inputs; k < operands_; ++k) {
      if (!job_.operand[k].is_in_place)
        StoreRows(job_.operand[k], addresses_, row, rows, 0, job_.n, job_.computed_size, tile_[k], raw_);
    }
  }

  struct TilesOfRow : RowTiles {
    const RowwiseRun* run;
    int64_t row;
    char* in_place[kMaxRowwiseOperands];
  };

  void RunRowTiles(RowwiseWork& work, int64_t row) {
    TilesOfRow row_tiles;
    row_tiles.most = static_cast<size_t>(tile_elements_);
    row_tiles.run = this;
    row_tiles.row = row;
    row_tiles.take = [](const RowTiles& base, uint32_t reads, uint32_t writes, size_t at, size_t n,
                        char** operand) {
      const auto& self = static_cast<const TilesOfRow&>(base);
      const RowwiseRun& run = *self.run;
      for (int k = 0; k < run.operands_; ++k) {
        const RowwiseOperand& one = run.job_.operand[k];
        if (one.is_in_place) {
          operand[k] = self.in_place[k] + static_cast<int64_t>(at) * run.job_.native_size;
          continue;
        }
        operand[k] = run.tile_[k];
        if (((reads & ~writes) >> k & 1) != 0 && k < run.job_.inputs) {
          LoadRows(one, run.addresses_, self.row, 1, static_cast<int64_t>(at), static_cast<int64_t>(n),
                   run.job_.computed_size, run.tile_[k], run.raw_);
        }
      }
    };
    row_tiles.give = [](const RowTiles& base, uint32_t writes, size_t at, size_t n) {
      const auto& self = static_cast<const TilesOfRow&>(base);
      const RowwiseRun& run = *self.run;
      for (int k = run.job_.inputs; k < run.operands_; ++k) {
        if ((writes >> k & 1) == 0 || run.job_.operand[k].is_in_place) continue;
        StoreRows(run.job_.operand[k], run.addresses_, self.row, 1, static_cast<int64_t>(at),
                  static_cast<int64_t>(n), run.job_.computed_size, run.tile_[k], run.raw_);
      }
    };
    for (int k = 0; k < operands_; ++k) {
      const bool is_in_place = job_.operand[k].is_in_place;
      row_tiles.in_place[k] = is_in_place ? work.operand[k] : nullptr;
      if (!is_in_place) work.operand[k] = tile_[k];
      work.row_stride[k] = 0;
    }
    work.rows = 1;
    work.row_tiles = &row_tiles;
    isa_ = job_.kernel(work, job_.parameters);
  }

  const RowwiseJob& job_;
  void* const* addresses_;
  Memory memory_;
  const int operands_;
  bool is_whole_;
  bool loads_shared_ = false;
  int64_t rows_together_;
  int64_t tile_elements_;
  double* values_;
  char* raw_values_;
  char* tile_[kMaxRowwiseOperands] = {};
  char* kept_ = nullptr;
  char* raw_;
  Isa isa_ = Isa::kPortable;
};

[[gnu::noinline]] void RunOnStack(const RowwiseJob& job, void* const* addresses, int64_t first, int64_t last,
                                  double* const* columns) {
  alignas(64) char bytes[kStackBytes];
  RowwiseRun run(job, addresses, bytes, sizeof bytes);
  run.Rows(first, last, columns);
  if (job.stream) hwy::FlushStream();
  ReportIsaThatRan(run.isa());
}

void RunRows(const RowwiseJob& job, void* const* addresses, int64_t first, int64_t last,
             double* const* columns) {
  if (job.across != nullptr && RunAcross(job, addresses, first, last)) return;
  char* const memory = ThreadMemory(MemoryUse::kRows);
  if (memory == nullptr) return RunOnStack(job, addresses, first, last, columns);
  RowwiseRun run(job, addresses, memory, kThreadMemoryBytes);
  run.Rows(first, last, columns);
  if (job.stream) hwy::FlushStream();
  ReportIsaThatRan(run.isa());
}

// Pads a row of column sums to whole groups of lanes.
int64_t ColumnsPadded(int64_t n) { return (n + 15) / 16 * 16; }

// Sums over columns in the workspace. Each chunk has the block that is being summed, which becomes the
// chunk's sum, and the levels of its tree. The levels of the tree over chunks follow.
class ColumnSums {
 public:
  ColumnSums(const RowwiseJob& job, char* workspace)
      : job_(job),
        padded_(ColumnsPadded(job.n)),
        width_(padded_ * (int64_t{job.wants_column[0]} + int64_t{job.wants_column[1]})),
        sums_(reinterpret_cast<double*>(workspace + job.columns_offset)) {}

  static int64_t Doubles(const RowwiseJob& job) {
    const int64_t width =
        ColumnsPadded(job.n) * (int64_t{job.wants_column[0]} + int64_t{job.wants_column[1]});
    return width * (job.chunks * (1 + job.chunk_levels) + Levels(job.chunks));
  }
  static int64_t Levels(int64_t blocks) { return std::bit_width(static_cast<uint64_t>(blocks)); }

  void Run(void* const* addresses) const {
    ForEachBlock(job_.chunks, job_.threads, [&](int64_t chunk) {
      const DefaultFloatEnvironment environment;
      double* const block = sums_ + chunk * (1 + job_.chunk_levels) * width_;
      SumTree tree(block + width_, width_);
      double* columns[kMaxColumnSums];
      for (int c = 0, at = 0; c < kMaxColumnSums; ++c)
        columns[c] = job_.wants_column[c] ? block + padded_ * at++ : nullptr;
      const int64_t end = std::min(job_.rows, (chunk + 1) * job_.chunk_blocks * kRowBlock);
      for (int64_t row = chunk * job_.chunk_blocks * kRowBlock; row < end; row += kRowBlock) {
        std::fill_n(block, width_, 0.0);
        RunRows(job_, addresses, row, std::min(end, row + kRowBlock), columns);
        tree.Add(block);
      }
      tree.Finish(block);
    });
    const DefaultFloatEnvironment environment;
    SumTree tree(sums_ + job_.chunks * (1 + job_.chunk_levels) * width_, width_);
    for (int64_t chunk = 0; chunk < job_.chunks; ++chunk)
      tree.Add(sums_ + chunk * (1 + job_.chunk_levels) * width_);
    tree.Finish(sums_);
    constexpr int64_t kAtOnce = 512;
    alignas(64) char raw[kAtOnce * sizeof(double)];
    for (int c = 0, position = 0; c < kMaxColumnSums; ++c) {
      if (!job_.wants_column[c]) continue;
      const double* const from = sums_ + padded_ * position++;
      for (int64_t at = 0; at < job_.n; at += kAtOnce) {
        StoreRows(job_.column[c], addresses, 0, 1, at, std::min(kAtOnce, job_.n - at), sizeof(double),
                  reinterpret_cast<const char*>(from + at), raw);
      }
    }
  }

 private:
  const RowwiseJob& job_;
  const int64_t padded_;
  const int64_t width_;
  double* const sums_;
};

}  // namespace

void RowwiseJob::Run(void* const* addresses, char* workspace) const noexcept {
  if (sums_columns) {
    ColumnSums(*this, workspace).Run(addresses);
  } else {
    int64_t together = std::max<int64_t>(1, kElementsTogether / n);
    // Few rows are divided evenly among threads. Many are divided at whole cache lines, in case they are
    // transposed.
    const int64_t shared = QuotientUp(rows, int64_t{threads} * 4);
    if (together > shared) together = std::max<int64_t>(1, shared);
    if (rows >= int64_t{threads} * kRowsOfLine * 2)
      together = QuotientUp(together, kRowsOfLine) * kRowsOfLine;
    else if (across != nullptr)
      together = QuotientUp(together, kGroup) * kGroup;
    ForEachBlock(threads == 1 ? 1 : QuotientUp(rows, together), threads, [&](int64_t block) {
      const DefaultFloatEnvironment environment;
      const int64_t first = threads == 1 ? 0 : block * together;
      RunRows(*this, addresses, first, threads == 1 ? rows : std::min(rows, first + together), nullptr);
    });
  }
}

void RowwiseJobs::Run(const JobContext& context) const noexcept {
  const auto* const jobs = reinterpret_cast<const RowwiseJob*>(context.memory);
  for (int i = 0; i < count; ++i) jobs[i].Run(context.addresses, static_cast<char*>(context.workspace));
}

RowwiseJobMaker::RowwiseJobMaker(const Shape& shape, uint32_t axes, aclDataType computed, Isa isa,
                                 int threads) noexcept
    : shape_(shape), axes_(axes), computed_(computed), isa_(isa) {
  job_.threads = threads;
  job_.rows = 1;
  job_.n = 1;
  for (int axis = 0; axis < shape.rank; ++axis) ((axes >> axis & 1) != 0 ? job_.n : job_.rows) *= shape[axis];
  job_.computed_size = computed == ACL_DOUBLE ? sizeof(double) : sizeof(float);
}

void RowwiseJobMaker::Input(int operand, const StridedView& view) noexcept {
  dtypes_[job_.inputs] = view.dtype;
  job_.operand[job_.inputs++] = RowwiseOperandOf(operand, view, shape_, axes_, false, computed_, isa_);
  touched_ |= 1u << operand;
}

void RowwiseJobMaker::ConstantInput(double value) noexcept {
  dtypes_[job_.inputs] = ACL_DT_UNDEFINED;
  RowwiseOperand& to = job_.operand[job_.inputs++];
  to.argument = RowwiseOperand::kConstant;
  to.constant = value;
  to.is_shared = true;
}

void RowwiseJobMaker::Output(int operand, const StridedView& view) noexcept {
  const int k = job_.inputs + job_.outputs++;
  dtypes_[k] = view.dtype;
  job_.operand[k] = RowwiseOperandOf(operand, view, shape_, axes_, true, computed_, isa_);
  touched_ |= 1u << operand;
}

void RowwiseJobMaker::ValueIn(int operand, const StridedView& view) noexcept {
  job_.value[job_.values_in++] = NumbersOf(operand, view, false, ACL_DOUBLE, isa_);
  touched_ |= 1u << operand;
}

void RowwiseJobMaker::ConstantValueIn(double value) noexcept {
  RowwiseOperand& to = job_.value[job_.values_in++];
  to.argument = RowwiseOperand::kConstant;
  to.constant = value;
}

void RowwiseJobMaker::ValueOut(int operand, const StridedView& view) noexcept {
  job_.value[job_.values_in + job_.values_out++] = NumbersOf(operand, view, true, ACL_DOUBLE, isa_);
  touched_ |= 1u << operand;
}

void RowwiseJobMaker::NoValueOut() noexcept {
  job_.value[job_.values_in + job_.values_out++].argument = RowwiseOperand::kConstant;
}

void RowwiseJobMaker::ColumnSum(int operand, const StridedView& view) noexcept {
  RowwiseOperand& to = job_.column[columns_];
  to = NumbersOf(operand, view, true, ACL_DOUBLE, isa_);
  touched_ |= 1u << operand;
  std::swap(to.outer, to.inner);
  job_.wants_column[columns_++] = true;
  job_.sums_columns = true;
}

void RowwiseJobMaker::NoColumnSum() noexcept { ++columns_; }

const RowwiseJob& RowwiseJobMaker::Finish(const RowwiseKernels& kernels, uint64_t* workspace) noexcept {
  const int operands = job_.inputs + job_.outputs;
  // Uses a kernel of 16-bit elements if all operands have that dtype and are dense within rows.
  const auto fits = [&](aclDataType dtype) {
    for (int k = 0; k < operands; ++k) {
      const RowwiseOperand& operand = job_.operand[k];
      if (dtypes_[k] != dtype || !IsDense(operand.inner, operand.size)) return false;
    }
    return true;
  };
  aclDataType native = computed_;
  if (computed_ == ACL_FLOAT) {
    for (const aclDataType dtype : {ACL_BF16, ACL_FLOAT16}) {
      if (fits(dtype) && (dtype == ACL_BF16 ? kernels.bf16 : kernels.f16).For(isa_) != nullptr)
        native = dtype;
    }
  }
  job_.kernel = (native == ACL_DOUBLE    ? kernels.f64
                 : native == ACL_BF16    ? kernels.bf16
                 : native == ACL_FLOAT16 ? kernels.f16
                                         : kernels.f32)
                    .For(isa_);
  // Transposed rows need one output, no numbers of rows, and enough adjacent rows for a vector.
  const auto lies_across = [&] {
    if (computed_ != ACL_FLOAT || job_.outputs != 1 || job_.values_in + job_.values_out != 0) return false;
    return std::all_of(job_.operand, job_.operand + operands, [](const RowwiseOperand& operand) {
      const RowAxes& outer = operand.outer;
      return operand.argument != RowwiseOperand::kConstant && operand.inner.rank == 1 && outer.rank != 0 &&
             outer.stride[outer.rank - 1] == operand.size && outer.extent[outer.rank - 1] >= kGroup;
    });
  };
  job_.across_size = sizeof(float);
  if (!job_.sums_columns && lies_across()) {
    job_.across = kernels.across.For(isa_);
    const bool is_bf16 =
        std::all_of(dtypes_, dtypes_ + operands, [](aclDataType dtype) { return dtype == ACL_BF16; });
    if (is_bf16 && kernels.across_bf16.For(isa_) != nullptr) {
      job_.across = kernels.across_bf16.For(isa_);
      job_.across_size = sizeof(uint16_t);
    }
  }
  job_.native_size = static_cast<int32_t>(StorageBits(native) / 8);
  int64_t bytes = 0;
  bool can_stream = native == ACL_FLOAT || native == ACL_BF16;
  for (int k = 0; k < operands; ++k) {
    RowwiseOperand& operand = job_.operand[k];
    operand.is_in_place = dtypes_[k] == native && IsDense(operand.inner, operand.size);
    if (!operand.is_in_place && operand.argument != RowwiseOperand::kConstant &&
        !operand.conversion->KeepsBytes())
      job_.raw_size = std::max(job_.raw_size, operand.size);
    if (!operand.is_shared) bytes += job_.rows * job_.n * operand.size;
    if (k >= job_.inputs && !operand.is_in_place) can_stream = false;
  }
  // Rows must be whole lines. Addresses are not known yet, so that alignment is tested when the job runs.
  job_.from_memory = bytes > LastLevelCacheBytes();
  job_.stream = can_stream && job_.outputs > 0 && job_.from_memory && job_.n * job_.native_size % 64 == 0;
  if (job_.sums_columns) {
    const int64_t blocks = QuotientUp(job_.rows, kRowBlock);
    job_.chunk_blocks = 1;
    while (QuotientUp(blocks, job_.chunk_blocks) > kMostColumnChunks) job_.chunk_blocks *= 2;
    job_.chunks = QuotientUp(blocks, job_.chunk_blocks);
    job_.chunk_levels = ColumnSums::Levels(job_.chunk_blocks);
    *workspace = (*workspace + 63) / 64 * 64;
    job_.columns_offset = static_cast<int64_t>(*workspace);
    *workspace += static_cast<uint64_t>(ColumnSums::Doubles(job_)) * sizeof(double);
  }
  return job_;
}

RowwiseJobs MakeRowJobs(JobMemory& memory, const RowwiseJob* const* jobs, int count,
                        uint32_t touched) noexcept {
  auto* const held = memory.ReserveMemory(static_cast<size_t>(count) * sizeof(RowwiseJob));
  if (held == nullptr) return {};
  int64_t elements = 0;
  for (int i = 0; i < count; ++i) {
    std::memcpy(held + static_cast<size_t>(i) * sizeof(RowwiseJob), jobs[i], sizeof(RowwiseJob));
    elements += jobs[i]->rows * jobs[i]->n;
  }
  return {count, touched, elements};
}

}  // namespace portacl::engine
