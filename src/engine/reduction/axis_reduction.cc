// Runs reduction jobs of all kinds (see axis_reduction.h; plan/reduction_plan.h defines the order).
// SPDX-License-Identifier: Apache-2.0
#include "engine/reduction/axis_reduction.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/float_environment.h"
#include "engine/isa_in_use.h"
#include "engine/map/tiles.h"
#include "engine/parallel.h"
#include "engine/reduction/reduction_tree.h"
#include "engine/thread_memory.h"

namespace portacl::engine {
namespace {

// Bounds for the terms of a task, if outputs are short.
constexpr int64_t kFewestTermsPerPiece = 16384;
constexpr int64_t kMostTermsPerPiece = 131072;
constexpr int64_t kPieces = 64;

// Outputs that are reduced, finished and stored together: adjacent in the walk, or columns. Without a
// thread's memory there are fewer.
constexpr int64_t kOutputsAtOnce = 128;
constexpr int64_t kColumnsAtOnce = 512;
// Columns of reductions without an order that are reduced together. They need no tree, so that whole rows are
// read in memory order.
constexpr int64_t kUnorderedColumnsAtOnce = 4096;
constexpr int64_t kColumnsOnStack = 16;
// Blocks that one kernel call may complete.
constexpr int64_t kBlocksAtOnce = 16;
constexpr int kTreeLevels = 40;
static_assert(kColumnsAtOnce * int64_t{kWidestAccumulator} * (kTreeLevels + 2) <= kThreadMemoryBytes);
static_assert(kUnorderedColumnsAtOnce * int64_t{kWidestAccumulator} * 2 <= kThreadMemoryBytes);

class AxisReductionRun {
 public:
  AxisReductionRun(const AxisReductionJob& job, void* const* addresses, void* workspace)
      : job_(job), plan_(job.plan), partials_(static_cast<char*>(workspace)) {
    base_[0] = static_cast<char*>(addresses[job.input]) + plan_.terms.operand[0].offset;
    for (int k = 0; k < job.outputs; ++k)
      output_[k] = static_cast<char*>(addresses[job.output[k]]) + plan_.output.operand[k].offset;
    formula_.input_count = 1;
    formula_.computed = job.pass[0].kernels->terms;
    formula_.type[0] = job.type;
    formula_.load[0] = job.load;
    formula_.gather = job.gather;
    formula_.tile = job.tile;
    const int64_t size = plan_.terms.operand[0].element_size;
    in_place_rows_ = plan_.regular && job.type == formula_.computed && plan_.column_stride[0] == size &&
                     plan_.row_stride[0] % size == 0;
    if (plan_.chunks > 1)
      kept_ =
          reinterpret_cast<double*>(partials_ + plan_.outputs() * plan_.chunks * int64_t{kWidestAccumulator});
  }

  void Run() {
    if (plan_.chunks > 1) {
      for (int i = 0; i < job_.passes; ++i) RunChunks(job_.pass[i]);
    } else if (plan_.in_lanes()) {
      RunGroups();
    } else {
      RunStripes();
    }
    ReportIsaThatRan(job_.pass[0].kernels->isa);
  }

 private:
  // Accumulators of adjacent outputs, and the memory of their tree.
  struct Memory {
    char* accumulators;
    char* block;
    char* levels;
    int64_t width;
  };

  // Calls work(memory) with the thread's memory, or with less on the stack.
  template <class Work>
  static void WithMemory(int64_t width, const Work& work) {
    const auto cut = [](char* memory, int64_t columns) {
      const int64_t bytes = columns * int64_t{kWidestAccumulator};
      return Memory{memory, memory + bytes, memory + 2 * bytes, columns};
    };
    if (width > kColumnsOnStack) {
      if (char* const memory = ThreadMemory(MemoryUse::kSums)) return work(cut(memory, width));
    }
    OnStack([&](char* memory) { work(cut(memory, std::min(width, kColumnsOnStack))); });
  }
  template <class Work>
  [[gnu::noinline]] static void OnStack(const Work& work) {
    alignas(64) char memory[static_cast<size_t>(kColumnsOnStack) * kWidestAccumulator * (kTreeLevels + 2)];
    work(memory);
  }

  int64_t GroupFor(int64_t terms) const {
    const int64_t wanted = std::clamp(plan_.terms.count / kPieces, kFewestTermsPerPiece, kMostTermsPerPiece);
    return std::max<int64_t>(wanted / terms, 1);
  }

  // All passes have the same type of terms.
  FormulaTiles Tiles() const {
    return FormulaTiles(formula_, plan_.terms, base_, {formula_.computed}, formula_.computed);
  }

  // ---- whole outputs: all passes, then the next outputs ----

  void AllPasses(FormulaTiles& tiles, const Memory& memory, int64_t first, int64_t count) const {
    double m[kColumnsAtOnce];
    for (int i = 0; i < job_.passes; ++i) {
      const ReductionPass& pass = job_.pass[i];
      Reduce(tiles, pass, memory, first, count, 0, plan_.reduced, i == 0 ? nullptr : m);
      Finish(pass, memory.accumulators, first, count, i == 0 ? nullptr : m, m);
    }
  }

  void RunGroups() const {
    const int64_t group = GroupFor(plan_.reduced);
    ForEachBlock((plan_.outputs() + group - 1) / group, job_.threads, [&](int64_t piece) {
      const DefaultFloatEnvironment environment;
      const int64_t end = std::min(plan_.outputs(), (piece + 1) * group);
      FormulaTiles tiles = Tiles();
      WithMemory(std::min(kOutputsAtOnce, end - piece * group), [&](const Memory& memory) {
        for (int64_t first = piece * group; first < end; first += memory.width)
          AllPasses(tiles, memory, first, std::min(memory.width, end - first));
      });
    });
  }

  void RunStripes() const {
    const int64_t width = std::min<int64_t>(plan_.inner, kColumnsAtOnce);
    const int64_t stripes = (plan_.inner + width - 1) / width;
    const int64_t group = GroupFor(plan_.reduced * width);
    const int64_t groups = (plan_.outer + group - 1) / group;
    ForEachBlock(groups * stripes, job_.threads, [&](int64_t piece) {
      const DefaultFloatEnvironment environment;
      const int64_t column = piece % stripes * width;
      const int64_t columns = std::min(width, plan_.inner - column);
      const int64_t end = std::min(plan_.outer, (piece / stripes + 1) * group);
      FormulaTiles tiles = Tiles();
      WithMemory(columns, [&](const Memory& memory) {
        for (int64_t outer = piece / stripes * group; outer < end; ++outer) {
          for (int64_t done = 0; done < columns; done += memory.width)
            AllPasses(tiles, memory, outer * plan_.inner + column + done,
                      std::min(memory.width, columns - done));
        }
      });
    });
  }

  // ---- outputs in chunks: a pass over all outputs, then the next pass ----

  void RunChunks(const ReductionPass& pass) {
    const int64_t block = plan_.in_lanes() ? kLaneBlock : kRowBlock;
    const int64_t rows = plan_.chunk_blocks * block;
    // Columns that track indices are walked one after the other, so that few of them are faster.
    const bool is_unordered =
        job_.passes == 1 && !pass.kernels->has_order && pass.kernels->size < kWidestAccumulator;
    const int64_t most = is_unordered ? kUnorderedColumnsAtOnce : kColumnsAtOnce;
    const int64_t width = plan_.in_lanes() ? 1 : std::min<int64_t>(plan_.inner, most);
    const int64_t stripes = (plan_.inner + width - 1) / width;
    const double* const m = &pass == &job_.pass[0] ? nullptr : kept_;
    const size_t size = pass.kernels->size;
    ForEachBlock(plan_.outer * stripes * plan_.chunks, job_.threads, [&](int64_t piece) {
      const DefaultFloatEnvironment environment;
      const int64_t chunk = piece % plan_.chunks;
      const int64_t column = piece / plan_.chunks % stripes * width;
      const int64_t columns = std::min(width, plan_.inner - column);
      const int64_t output = piece / plan_.chunks / stripes * plan_.inner + column;
      const int64_t begin = chunk * rows;
      FormulaTiles tiles = Tiles();
      WithMemory(columns, [&](const Memory& memory) {
        for (int64_t done = 0; done < columns; done += memory.width) {
          const int64_t first = output + done;
          const int64_t count = std::min(memory.width, columns - done);
          Reduce(tiles, pass, memory, first, count, begin, std::min(plan_.reduced - begin, rows),
                 m == nullptr ? nullptr : m + first);
          std::memcpy(Partial(chunk, first, size), memory.accumulators, static_cast<size_t>(count) * size);
        }
      });
    });
    const DefaultFloatEnvironment environment;
    WithMemory(std::min(kOutputsAtOnce, plan_.outputs()), [&](const Memory& memory) {
      for (int64_t first = 0; first < plan_.outputs(); first += memory.width) {
        const int64_t count = std::min(memory.width, plan_.outputs() - first);
        ReductionTree tree(*pass.kernels, memory.levels, count);
        for (int64_t chunk = 0; chunk < plan_.chunks; ++chunk) tree.Add(Partial(chunk, first, size));
        tree.Finish(memory.accumulators);
        Finish(pass, memory.accumulators, first, count, m == nullptr ? nullptr : m + first, kept_ + first);
      }
    });
  }

  char* Partial(int64_t chunk, int64_t output, size_t size) const {
    return partials_ + static_cast<size_t>(chunk * plan_.outputs() + output) * size;
  }

  // ---- terms [row, row + rows) of outputs [first, first + count), into memory.accumulators ----

  void Reduce(FormulaTiles& tiles, const ReductionPass& pass, const Memory& memory, int64_t first,
              int64_t count, int64_t row, int64_t rows, const double* m) const {
    if (plan_.in_lanes()) {
      ReduceAlong(tiles, pass, memory, first, count, row, rows, m);
    } else {
      ReduceAcross(tiles, pass, memory, first, count, row, rows, m);
    }
  }

  // Repeats a value as often as a tile holds.
  const void* Filled(const void* repeated, int64_t n, char* filled) const {
    const size_t bytes = static_cast<size_t>(n) * SizeOf(formula_.computed);
    for (size_t done = 0; done < bytes; done += kRepeatedBytes)
      std::memcpy(filled + done, repeated, std::min(bytes - done, kRepeatedBytes));
    return filled;
  }

  void ReduceAlong(FormulaTiles& tiles, const ReductionPass& pass, const Memory& memory, int64_t first,
                   int64_t count, int64_t row, int64_t rows, const double* m) const {
    alignas(64) char lanes[kBytesOfLanes];
    alignas(64) char filled[kTileBytes];
    char ended[static_cast<size_t>(kBlocksAtOnce + 2) * kWidestAccumulator];
    int64_t position = first * plan_.reduced + row;
    LoopRange loop_range(plan_.terms);
    loop_range.end = position + count * rows;
    tiles.WalkRows(loop_range);
    Cursor cursor(plan_.terms, base_, position);
    const bool has_blocks = rows > kLaneBlock;
    ReductionTree tree(*pass.kernels, memory.levels, 1);
    ReductionWork work{};
    work.length = static_cast<size_t>(rows);
    work.first = row;
    work.lanes = lanes;
    work.out = memory.accumulators;
    work.parameter = m;
    work.from_memory = job_.from_memory && job_.type == formula_.computed;
    int64_t blocks = 0;
    char* out = memory.accumulators;
    const size_t size = pass.kernels->size;
    for (int64_t left = count * rows; left > 0;) {
      int64_t n = std::min({left, tiles.LongestTile(cursor), kBlocksAtOnce * kLaneBlock});
      size_t step = 0;
      tiles.Locate(cursor, position, n, &work.terms, &step);
      if (step == 0) {
        n = std::min<int64_t>(n, job_.tile);
        work.terms = Filled(work.terms, n, filled);
      }
      work.n = static_cast<size_t>(n);
      if (has_blocks) work.out = ended;
      pass.kernels->along(pass.constants, work);
      if (has_blocks) {
        for (char* block = ended; block != work.out; block += size) {
          tree.Add(block);
          if (++blocks * kLaneBlock < rows) continue;
          tree.Finish(out);
          out += size;
          blocks = 0;
        }
      }
      left -= n;
      position += n;
      if (left > 0) cursor.Skip(n);
    }
  }

  void ReduceAcross(FormulaTiles& tiles, const ReductionPass& pass, const Memory& memory, int64_t first,
                    int64_t count, int64_t row, int64_t rows, const double* m) const {
    const ReductionKernels& kernels = *pass.kernels;
    const int64_t column = first % plan_.inner;
    const int64_t start = (first / plan_.inner * plan_.reduced + row) * plan_.inner + column;
    LoopRange loop_range(plan_.terms);
    loop_range.end = start - column + rows * plan_.inner;
    if (loop_range.columns == plan_.inner) {
      loop_range.column = column;
      loop_range.columns = count;
    }
    if (!in_place_rows_) tiles.WalkRows(loop_range);
    ReductionTree tree(kernels, memory.levels, count);
    ReductionRows work{};
    work.parameter = m;
    const int64_t block = kernels.has_order ? kRowBlock : rows;
    work.out = block < rows ? memory.block : memory.accumulators;
    for (int64_t r = 0; r < rows; r += block) {
      kernels.clear(work.out, static_cast<size_t>(count));
      work.first = row + r;
      ReductionRowsOf(tiles, pass, start + r * plan_.inner, std::min(block, rows - r), count, work);
      if (block < rows) tree.Add(work.out);
    }
    if (block < rows) tree.Finish(memory.accumulators);
  }

  void ReductionRowsOf(FormulaTiles& tiles, const ReductionPass& pass, int64_t position, int64_t rows,
                       int64_t columns, const ReductionRows& all) const {
    // Row indices are counted in the width of keys, which limits the rows of a call.
    constexpr int64_t kRowsAtOnce = int64_t{1} << 20;
    ReductionRows work = all;
    if (in_place_rows_) {
      const char* from = Cursor(plan_.terms, base_, position).At(0);
      work.pitch = plan_.row_stride[0] / plan_.terms.operand[0].element_size;
      work.columns = static_cast<size_t>(columns);
      for (int64_t r = 0; r < rows; r += kRowsAtOnce) {
        work.terms = from + r * plan_.row_stride[0];
        work.rows = static_cast<size_t>(std::min(kRowsAtOnce, rows - r));
        work.first = all.first + r;
        pass.kernels->across(pass.constants, work);
      }
      return;
    }
    // If a stripe has all columns, its rows are contiguous in the walk and a tile may hold several. Otherwise
    // there is a jump after each row.
    alignas(64) char filled[kTileBytes];
    const int64_t together = columns == plan_.inner ? rows : 1;
    const size_t size = SizeOf(formula_.computed);
    for (int64_t r = 0; r < rows; r += together) {
      Cursor cursor(plan_.terms, base_, position);
      int64_t at = 0;
      int64_t done = 0;  // rows of this group
      for (int64_t left = together * columns; left > 0;) {
        int64_t n = std::min({left, tiles.LongestTile(cursor), int64_t{job_.tile}});
        const void* terms = nullptr;
        size_t step = 0;
        tiles.Locate(cursor, position, n, &terms, &step);
        if (step == 0) terms = Filled(terms, n, filled);
        for (int64_t used = 0; used < n;) {
          // The rest of a row, whole rows, or the beginning of one.
          const int64_t m = std::min(n - used, columns - at);
          const int64_t whole = m == columns ? (n - used) / columns : 1;
          work.terms = static_cast<const char*>(terms) + static_cast<size_t>(used) * size;
          work.pitch = columns;
          work.rows = static_cast<size_t>(whole);
          work.columns = static_cast<size_t>(m);
          work.first = all.first + r + done;
          work.out = static_cast<char*>(all.out) + static_cast<size_t>(at) * pass.kernels->size;
          work.parameter = all.parameter == nullptr ? nullptr : all.parameter + at;
          pass.kernels->across(pass.constants, work);
          used += m * whole;
          at += m;
          if (at == columns) {
            at = 0;
            done += whole;
          }
        }
        left -= n;
        position += n;
        if (left > 0) cursor.Skip(n);
      }
      position += plan_.inner - columns;
    }
  }

  // ---- results ----

  void Finish(const ReductionPass& pass, const char* accumulators, int64_t first, int64_t count,
              const double* m, double* kept) const {
    alignas(64) char results[static_cast<size_t>(kOutputsAtOnce) * kWidestElement];
    int64_t indices[kOutputsAtOnce];
    for (int64_t done = 0; done < count; done += kOutputsAtOnce) {
      const int64_t n = std::min(kOutputsAtOnce, count - done);
      const auto size = static_cast<size_t>(n);
      pass.kernels->finish(pass.constants, accumulators + done * pass.kernels->size, size, results, indices);
      if (pass.kernels->results == ElementType::kI64 && pass.ending == ReductionEpilogue::kDivide)
        DivideIntegers(pass, reinterpret_cast<int64_t*>(results), size);
      if (pass.kernels->results == ElementType::kC128)
        End(pass, reinterpret_cast<double*>(results), nullptr, 2 * size);
      if (pass.kernels->results == ElementType::kF64)
        End(pass, reinterpret_cast<double*>(results), m == nullptr ? nullptr : m + done, size);
      if (pass.indices >= 0 && pass.output >= 0) KeepSigns(first + done, n, indices, results);
      if (pass.is_kept) {
        for (int64_t i = 0; i < n; ++i) {
          double value = 0;
          if (pass.kernels->results == ElementType::kF32) {
            value = static_cast<double>(reinterpret_cast<const float*>(results)[i]);
          } else {
            value = reinterpret_cast<const double*>(results)[i];
          }
          kept[done + i] = pass.ending == ReductionEpilogue::kFiniteOrZero && std::isinf(value) ? 0 : value;
        }
      }
      if (pass.output >= 0) Store(pass.output, first + done, results, n);
      if (pass.indices >= 0) Store(pass.indices, first + done, indices, n);
    }
  }

  static int64_t Wrapped(int64_t value, aclDataType dtype) {
    switch (dtype) {
      case ACL_INT8:
        return static_cast<int8_t>(value);
      case ACL_UINT8:
        return static_cast<uint8_t>(value);
      case ACL_INT16:
        return static_cast<int16_t>(value);
      case ACL_INT32:
        return static_cast<int32_t>(value);
      default:
        return value;
    }
  }

  static void DivideIntegers(const ReductionPass& pass, int64_t* values, size_t n) {
    const auto divisor = static_cast<int64_t>(pass.divisor);
    for (size_t i = 0; i < n; ++i) values[i] = Wrapped(values[i], pass.wraps_to) / divisor;
  }

  void End(const ReductionPass& pass, double* values, const double* m, size_t n) const {
    switch (pass.ending) {
      case ReductionEpilogue::kDivide:
        for (size_t i = 0; i < n; ++i) values[i] /= pass.divisor;
        return;
      case ReductionEpilogue::kTimes:
        for (size_t i = 0; i < n; ++i) values[i] *= pass.number;
        return;
      case ReductionEpilogue::kDivideAndRoot:
        for (size_t i = 0; i < n; ++i) values[i] = std::sqrt(values[i] / pass.divisor);
        return;
      case ReductionEpilogue::kRoot:
        for (size_t i = 0; i < n; ++i) values[i] = std::sqrt(values[i]);
        return;
      case ReductionEpilogue::kPower:
        return FindEpilogueFunction(job_.isa)(EpilogueFunction::kPower, pass.number, job_.wide_functions,
                                              values, nullptr, n);
      case ReductionEpilogue::kLog:
        return FindEpilogueFunction(job_.isa)(EpilogueFunction::kLog, 0, job_.wide_functions, values, nullptr,
                                              n);
      case ReductionEpilogue::kLogAndAdd:
        return FindEpilogueFunction(job_.isa)(EpilogueFunction::kLog, 0, job_.wide_functions, values, m, n);
      case ReductionEpilogue::kConstant:
        return static_cast<void>(std::fill_n(values, n, pass.number));
      default:
        return;
    }
  }

  // Restores the sign of a zero result from the element at its index, since both zeros have one key.
  void KeepSigns(int64_t first, int64_t n, const int64_t* indices, char* results) const {
    const ElementType type = job_.pass[0].kernels->results;
    if (type != ElementType::kF32 && type != ElementType::kF64) return;
    const size_t size = SizeOf(type);
    for (int64_t i = 0; i < n; ++i) {
      char* const result = results + static_cast<size_t>(i) * size;
      const bool is_zero = type == ElementType::kF32 ? *reinterpret_cast<const float*>(result) == 0
                                                     : *reinterpret_cast<const double*>(result) == 0;
      if (!is_zero) continue;
      const int64_t outer = (first + i) / plan_.inner;
      const int64_t position = (outer * plan_.reduced + indices[i]) * plan_.inner + (first + i) % plan_.inner;
      const char* const from = Cursor(plan_.terms, base_, position).At(0);
      if (job_.type == type) {
        std::memcpy(result, from, size);
      } else {
        job_.load(from, result, 1);
      }
    }
  }

  void Store(int output, int64_t first, const void* results, int64_t n) const {
    alignas(64) char written[static_cast<size_t>(kOutputsAtOnce) * kWidestElement];
    const char* from = static_cast<const char*>(results);
    const int32_t size = plan_.output.operand[output].element_size;
    if (job_.is_stored[output]) {
      job_.store[output](results, written, static_cast<size_t>(n), false);
      from = written;
    }
    ForEachDenseRange(plan_.output, output, Cursor(plan_.output, output_, first), n,
                      [&](char* address, int64_t stride, int64_t at, int64_t length) {
                        Scatter(from + at * size, address, stride, size, length);
                      });
  }

  const AxisReductionJob& job_;
  const ReductionPlan& plan_;
  Formula formula_;
  char* partials_;
  double* kept_ = nullptr;  // of all outputs, if they are in chunks
  bool in_place_rows_;
  char* base_[kMaxLoopOperands] = {};
  char* output_[kMaxLoopOperands] = {};
};

}  // namespace

uint64_t AxisReductionJob::workspace_bytes() const noexcept {
  if (plan.chunks <= 1) return 0;
  return static_cast<uint64_t>(plan.outputs()) *
         (static_cast<uint64_t>(plan.chunks) * kWidestAccumulator + sizeof(double));
}

void AxisReductionJob::Run(void* const* addresses, void* workspace) const noexcept {
  AxisReductionRun(*this, addresses, workspace).Run();
}

}  // namespace portacl::engine
