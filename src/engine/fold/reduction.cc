// Runs reduction jobs (see reduction.h and, for the order of additions, plan/reduction_plan.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/fold/reduction.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#include "acl/float_environment.h"
#include "engine/fold/sum_tree.h"
#include "engine/fold/sum_work.h"
#include "engine/isa.h"
#include "engine/map/hoist.h"
#include "engine/map/tiles.h"
#include "engine/parallel.h"
#include "engine/strided.h"
#include "engine/thread_memory.h"

namespace portacl::engine {
namespace {

// The widest output element: complex128.
constexpr int64_t kMaxElement = 16;

// Terms that one piece of work covers, when outputs are short: enough that what a piece costs to begin does
// not show, few enough that threads find some left.
constexpr int64_t kFewestTermsPerPiece = 16384;
constexpr int64_t kMostTermsPerPiece = 131072;
constexpr int64_t kPieces = 64;

// Levels of the tree over blocks: 2^40 blocks are more than memory or time can hold.
constexpr int kLevels = 40;

// Levels of the tree over chunks.
constexpr int kChunkLevels = std::bit_width(static_cast<uint64_t>(kMaxChunks));

// float64 values for the sums of a stretch of columns, all levels together: 512 KiB in the thread's memory, a quarter of
// that where threads would find too few stretches. Wide rows are read faster than narrow ones.
constexpr int64_t kColumnSums = 65536;
constexpr int64_t kColumnSumsOfMany = 16384;
// Columns at once where a thread has no memory: their sums lie on the stack.
constexpr int64_t kColumnsOnStack = 32;
static_assert((kColumnSums + kLanes * (kLevels + 1)) * int64_t{sizeof(double)} <= kThreadMemoryBytes);

// Terms between columns of which a block of rows is written, and rows at once where a thread has no memory.
constexpr int64_t kGapAcross = 16;
constexpr int64_t kRowsAcrossOnStack = 48;

// Pieces of work that each thread finds at least, where wide stripes of columns would leave fewer.
constexpr int64_t kPiecesPerThread = 4;

// Rows whose lanes are summed side by side where inputs lie across them: each column is another page, and hardly worth
// going to for a few elements. So each thread's share is not cut into small pieces either.
constexpr int64_t kRowsAcross = 2048;
constexpr int64_t kFewestRowsAcross = 16;
constexpr int64_t kPiecesAcross = 2;
// Their blocks, where there are several in a row.
constexpr int64_t kBlocksAcross = 65536;
static_assert((kRowsAcross * kLanes + kBlocksAcross) * int64_t{sizeof(double)} <= kThreadMemoryBytes);

// Sums of blocks that a kernel leaves at once.
constexpr int64_t kBlockSums = 256;

// Terms that are computed before they are added, where sums or rows are shorter than kLanes.
constexpr int64_t kTermsAtOnce = 2048;
// Rows whose repeated values are spread out at once.
constexpr int64_t kRepeatedRows = 16;

// Groups of narrow rows that are added at once.
constexpr int64_t kNarrowGroups = 64;

// Sums that are rounded, or combined, at once.
constexpr int64_t kSumsAtOnce = 128;

class ReductionRun {
 public:
  // With the addresses of the inputs at the first term, and of the output's storage.
  ReductionRun(const ReductionJob& job, char* const* base, void* output, void* workspace)
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

  void Run() {
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

 private:
  static constexpr int64_t kLaneCount = kLanes;

  // How many outputs, or rows of outputs, of `terms` terms each make a piece of work.
  int64_t GroupFor(int64_t terms) const {
    const int64_t wanted = std::clamp(plan_.terms.count / kPieces, kFewestTermsPerPiece, kMostTermsPerPiece);
    return std::max<int64_t>(wanted / terms, 1);
  }

  SumWork StartWork(SumWork::Order order) const {
    SumWork work;
    work.order = order;
    work.at = 0;
    work.from_memory = job_.from_memory;
    return work;
  }

  // Rows of terms whose inputs are native, dense or one value within a row, and one stride apart from row to row.
  struct RowsInPlace {
    const char* from[kMaxInputs];
    int64_t row_stride[kMaxInputs];
    int64_t column_stride[kMaxInputs];
  };

  void RunKernel(FormulaTiles& tiles, SumWork& work) const {
    tiles.SetIsa(job_.formula.sums(kernel_, job_.formula.parameters, work));
  }

  // Writes the next n terms to `out`.
  static void ComputeTerms(FormulaTiles& tiles, Cursor& cursor, int64_t position, int64_t n, float* out) {
    while (n > 0) {
      const int64_t m = std::min(n, tiles.LongestStretch(cursor));
      tiles.Compute(cursor, position, m, out);
      position += m;
      cursor.Skip(m);
      out += m;
      n -= m;
    }
  }

  // ---- each output's terms lie side by side in the walk: lanes ----

  void RunLanes() {
    if (RunLanesAcross()) return;
    if (plan_.chunks > 1) {
      ForEachBlock(plan_.outputs() * plan_.chunks, job_.threads, [&](int64_t piece) {
        const int64_t output = piece / plan_.chunks;
        const int64_t chunk = piece % plan_.chunks;
        const int64_t begin = chunk * plan_.chunk_blocks * kLaneBlock;
        const int64_t end = std::min(plan_.reduced, begin + plan_.chunk_blocks * kLaneBlock);
        double* const partial = &partials_[chunk * plan_.outputs() + output];
        SumLanes(output * plan_.reduced + begin, end - begin, 1,
                 [&](int64_t, const double* sum, int64_t) { *partial = *sum; });
      });
      return;
    }
    const int64_t group = GroupFor(plan_.reduced);
    const int64_t pieces = (plan_.outputs() + group - 1) / group;
    ForEachBlock(pieces, job_.threads, [&](int64_t piece) {
      const int64_t first = piece * group;
      const int64_t count = std::min(group, plan_.outputs() - first);
      const auto store = [&](int64_t i, const double* sums, int64_t n) { Store(first + i, sums, n); };
      if (plan_.reduced < kLaneCount) {
        SumShort(first, count, store);
      } else {
        SumLanes(first * plan_.reduced, plan_.reduced, count, store);
      }
    });
  }

  // Sums `count` outputs of fewer than kLanes terms; calls done(i, sums, n) for n of them, from i on.
  template <class Done>
  void SumShort(int64_t first, int64_t count, const Done& done) const {
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

  // Sums `count` stretches of `length` terms each, the first at `position`; calls done(i, sums, n) for n of
  // them, from i on.
  template <class Done>
  void SumLanes(int64_t position, int64_t length, int64_t count, const Done& done) const {
    const DefaultFloatEnvironment environment;
    FormulaTiles tiles(job_.formula, plan_.terms, base_, kernel_, ElementType::kF32);
    Window window(plan_.terms);
    window.end = position + length * count;
    tiles.WalkRows(window);
    Cursor cursor(plan_.terms, base_, position);
    double levels[kLevels];
    SumTree tree(levels, 1);
    alignas(64) double lanes[kLanes];
    double sums[kBlockSums + 2];
    SumWork work = StartWork(SumWork::Order::kByLane);
    work.lanes = lanes;
    work.length = static_cast<size_t>(length);
    const int64_t blocks = (length + kLaneBlock - 1) / kLaneBlock;
    const int64_t most = kBlockSums * std::min(length, kLaneBlock);
    int64_t in_stretch = 0;  // blocks of the current stretch that are in the tree
    for (int64_t left = length * count, stretch = 0; left > 0;) {
      const int64_t n = std::min({left, tiles.LongestStretch(cursor), most});
      tiles.Locate(cursor, position, n, work.in, work.step);
      work.n = static_cast<size_t>(n);
      work.sums = sums;
      RunKernel(tiles, work);
      const int64_t ended = work.sums - sums;
      if (blocks == 1) {
        if (ended > 0) done(stretch, sums, ended);
        stretch += ended;
      } else {
        for (int64_t i = 0; i < ended; ++i) {
          tree.Add(&sums[i]);
          if (++in_stretch < blocks) continue;
          double sum;
          tree.Finish(&sum);
          done(stretch++, &sum, 1);
          in_stretch = 0;
        }
      }
      left -= n;
      position += n;
      if (left > 0) cursor.Skip(n);
    }
    ReportIsaThatRan(tiles.isa());
  }

  // ---- lanes of inputs that lie across the walk's rows ----

  // Whether the inputs, as the kernel takes them, lie dense across the walk's rows, or are repeated there.
  bool LieAcross() const {
    const LoopPlan& terms = plan_.terms;
    const int row = terms.rank - 1;
    if (row < 1) return false;
    bool any = false;
    for (int k = 0; k < terms.operand_count; ++k) {
      const OperandLoop& operand = terms.operand[k];
      const int64_t side = operand.stride[row - 1];
      if (!Takes(kernel_.elements, job_.formula.type[k]) || (side != 0 && side != operand.element_size))
        return false;
      any = any || Bands::Fit(terms, operand);
    }
    return any;
  }

  // Every `step`th column of the walk from the cursor's, `skip` later, as the rows of what is worked on.
  RowsInPlace ColumnsFrom(const Cursor& cursor, int64_t skip, int64_t step) const {
    const LoopPlan& terms = plan_.terms;
    RowsInPlace columns;
    for (int k = 0; k < terms.operand_count; ++k) {
      const int64_t* const stride = terms.operand[k].stride;
      columns.from[k] = cursor.At(k) + skip * stride[terms.rank - 1];
      columns.row_stride[k] = step * stride[terms.rank - 1];
      columns.column_stride[k] = stride[terms.rank - 2];
    }
    return columns;
  }

  // Where rows are whole blocks, term c of any of them goes to lane c mod kLanes of a block that no other row has part in.
  // So what lies side by side in memory, the same column of neighbouring rows, is added side by side, and nothing need be
  // transposed. Runs if that is possible and worth it.
  bool RunLanesAcross() {
    if (!LieAcross() || plan_.reduced % kLaneBlock != 0 ||
        plan_.terms.extent[plan_.terms.rank - 1] % kLaneBlock != 0)
      return false;
    // What makes one sum that is written: an output, or a chunk of one.
    const int64_t length = plan_.chunks > 1 ? plan_.chunk_blocks * kLaneBlock : plan_.reduced;
    const int64_t row_length = plan_.terms.extent[plan_.terms.rank - 1];
    const int64_t pieces = job_.threads > 1 ? kPiecesAcross * job_.threads : 1;
    const int64_t most = std::max<int64_t>(plan_.outputs() * plan_.chunks / pieces, 1);
    const int64_t group =
        std::clamp<int64_t>(kRowsAcross / std::max<int64_t>(length / row_length, 1), 1, most);
    const int64_t rows = std::min(group * length / row_length, plan_.terms.extent[plan_.terms.rank - 2]);
    if (rows < kFewestRowsAcross) return false;
    const int64_t groups = (plan_.chunks + group - 1) / group;
    if (plan_.chunks > 1) {
      ForEachBlock(plan_.outputs() * groups, job_.threads, [&](int64_t piece) {
        const int64_t output = piece / groups;
        const int64_t first = piece % groups * group;
        const int64_t begin = first * length;
        const int64_t end = first + group >= plan_.chunks ? plan_.reduced : begin + group * length;
        SumAcross(output * plan_.reduced + begin, end - begin, length,
                  [&](int64_t i, double sum) { partials_[(first + i) * plan_.outputs() + output] = sum; });
      });
    } else {
      ForEachBlock((plan_.outputs() + group - 1) / group, job_.threads, [&](int64_t piece) {
        const int64_t first = piece * group;
        const int64_t count = std::min(group, plan_.outputs() - first);
        SumAcross(first * length, count * length, length,
                  [&](int64_t i, double sum) { Store(first + i, &sum, 1); });
      });
    }
    return true;
  }

  // Sums `total` terms, the first at `position`, in stretches of `length` of which the last may be shorter; calls
  // done(i, sum) for each.
  template <class Done>
  void SumAcross(int64_t position, int64_t total, int64_t length, const Done& done) const {
    auto* const lanes = reinterpret_cast<double*>(ThreadMemory(MemoryUse::kSums));
    if (lanes == nullptr) {
      for (int64_t i = 0; i * length < total; ++i) {
        SumLanes(position + i * length, std::min(length, total - i * length), 1,
                 [&](int64_t, const double* sum, int64_t) { done(i, *sum); });
      }
      return;
    }
    const DefaultFloatEnvironment environment;
    FormulaTiles tiles(job_.formula, plan_.terms, base_, kernel_, ElementType::kF32);
    double levels[kLevels];
    SumTree tree(levels, 1);
    double* const sums = lanes + kLaneCount * kRowsAcross;
    const int64_t in_row = plan_.terms.extent[plan_.terms.rank - 1] / kLaneBlock;
    const int64_t at_once = in_row < kBlocksAcross / kRowsAcross ? kRowsAcross * in_row : kBlocksAcross;
    const int64_t end = (position + total) / kLaneBlock;
    int64_t in_stretch = 0;
    int64_t stretch = 0;
    for (int64_t block = position / kLaneBlock; block < end;) {
      const int64_t n = std::min(end - block, at_once);
      SumBlocksAcross(tiles, block, n, lanes, sums);
      block += n;
      for (int64_t i = 0; i < n; ++i) {
        tree.Add(&sums[i]);
        if (++in_stretch < length / kLaneBlock && (i + 1 < n || block < end)) continue;
        double sum;
        tree.Finish(&sum);
        done(stretch++, sum);
        in_stretch = 0;
      }
    }
    ReportIsaThatRan(tiles.isa());
  }

  // The sums of the blocks [block, block + count), which are counted row by row. `lanes` takes kLanes * kRowsAcross sums.
  void SumBlocksAcross(FormulaTiles& tiles, int64_t block, int64_t count, double* lanes, double* sums) const {
    const LoopPlan& terms = plan_.terms;
    const int row = terms.rank - 1;
    const int64_t in_row = terms.extent[row] / kLaneBlock;
    for (int64_t part = 0; part < in_row; ++part) {
      // The rows whose block of this number is one of them.
      const auto row_from = [&](int64_t from) { return (from - part + in_row - 1) / in_row; };
      const int64_t end = row_from(block + count);
      for (int64_t first = row_from(block); first < end;) {
        const Cursor cursor(terms, base_, (first * in_row + part) * kLaneBlock);
        const int64_t rows = std::min({end - first, cursor.left_rows(), kRowsAcross});
        std::fill_n(lanes, kLaneCount * rows, 0.0);
        for (int64_t lane = 0; lane < kLaneCount; ++lane) {
          const RowsInPlace columns = ColumnsFrom(cursor, lane, kLaneCount);
          AddRowsInPlace(tiles, columns, kLaneBlock / kLaneCount, rows, lanes + lane * rows);
        }
        for (int64_t width = kLaneCount / 2; width > 0; width /= 2) {
          for (int64_t i = 0; i < width * rows; ++i) lanes[i] += lanes[i + width * rows];
        }
        for (int64_t i = 0; i < rows; ++i) sums[(first + i) * in_row + part - block] = lanes[i];
        first += rows;
      }
    }
  }

  // ---- each output's terms lie one row apart: rows ----

  void RunRows() {
    if (RunRowsAcross()) return;
    const int levels = static_cast<int>(std::bit_width(static_cast<uint64_t>(plan_.chunk_blocks))) + 1;
    const auto columns_in = [&](int64_t sums) {
      return std::max<int64_t>(64, sums / (levels + 1) / 64 * 64);
    };
    int64_t stripes = 1;
    int64_t group = 1;
    int64_t groups = 1;
    const auto set_columns = [&](int64_t most) {
      stripes = (plan_.inner + most - 1) / most;
      group = stripes * plan_.chunks > 1 ? 1 : GroupFor(plan_.reduced * plan_.inner);
      groups = (plan_.outer + group - 1) / group;
    };
    set_columns(columns_in(kColumnSums));
    // Long rows are read faster, but not by threads that have nothing to do.
    if (job_.threads > 1 && groups * stripes * plan_.chunks < kPiecesPerThread * job_.threads)
      set_columns(columns_in(kColumnSumsOfMany));
    ForEachBlock(groups * stripes * plan_.chunks, job_.threads, [&](int64_t piece) {
      const int64_t chunk = piece % plan_.chunks;
      const int64_t stripe = piece / plan_.chunks % stripes;
      const int64_t first = piece / plan_.chunks / stripes * group;
      const int64_t column = StripeBegin(stripe, stripes);
      const int64_t columns = StripeBegin(stripe + 1, stripes) - column;
      const Stripe stripe_of_rows = {first, std::min(first + group, plan_.outer), chunk, column, columns};
      if (char* const memory = ThreadMemory(MemoryUse::kSums)) {
        SumStripe(stripe_of_rows, columns, reinterpret_cast<double*>(memory));
      } else {
        SumStripeOnStack(stripe_of_rows);
      }
    });
  }

  // Columns [column, column + columns) of a chunk of the outer rows [first, end).
  struct Stripe {
    int64_t first;
    int64_t end;
    int64_t chunk;
    int64_t column;
    int64_t columns;
  };

  [[gnu::noinline]] void SumStripeOnStack(const Stripe& stripe) const {
    alignas(64) double sums[kColumnsOnStack * (kLevels + 1)];
    SumStripe(stripe, kColumnsOnStack, sums);
  }

  // `at_once` columns at a time; their sums, and those of the tree, lie in `sums`.
  void SumStripe(const Stripe& stripe, int64_t at_once, double* sums) const {
    const int64_t row = stripe.chunk * plan_.chunk_blocks * kRowBlock;
    const int64_t rows = std::min(plan_.reduced - row, plan_.chunk_blocks * kRowBlock);
    const DefaultFloatEnvironment environment;
    FormulaTiles tiles(job_.formula, plan_.terms, base_, kernel_, ElementType::kF32);
    // Where the columns make up the walk's rows, only the stripe's part of them is wanted.
    Window window(plan_.terms);
    const bool is_windowed = window.columns == plan_.inner;
    for (int64_t outer = stripe.first; outer < stripe.end; ++outer) {
      window.end = (outer * plan_.reduced + row + rows) * plan_.inner;
      for (int64_t done = 0; done < stripe.columns; done += at_once) {
        const int64_t n = std::min(at_once, stripe.columns - done);
        if (is_windowed) {
          window.column = stripe.column + done;
          window.columns = n;
        }
        if (!in_place_rows_) tiles.WalkRows(window);
        SumRows(tiles, outer, row, rows, stripe.column + done, n, sums);
        const int64_t output = outer * plan_.inner + stripe.column + done;
        if (plan_.chunks == 1) {
          Store(output, sums, n);
        } else {
          std::copy_n(sums, n, &partials_[stripe.chunk * plan_.outputs() + output]);
        }
      }
    }
    ReportIsaThatRan(tiles.isa());
  }

  // ---- rows of inputs that lie across them ----

  // The terms of a few columns are computed along the columns, as they lie in memory, and then added row by row. Runs if
  // that is possible.
  bool RunRowsAcross() {
    const LoopPlan& terms = plan_.terms;
    if (!LieAcross() || terms.extent[terms.rank - 1] != plan_.inner) return false;
    const int64_t stripes = (plan_.inner + kLaneCount - 1) / kLaneCount;
    const int64_t wanted = job_.threads > 1 ? kPiecesPerThread * job_.threads : 1;
    const int64_t group = std::clamp<int64_t>(plan_.outer * stripes * plan_.chunks / wanted, 1, plan_.chunks);
    const int64_t groups = (plan_.chunks + group - 1) / group;
    ForEachBlock(plan_.outer * stripes * groups, job_.threads, [&](int64_t piece) {
      const int64_t column = piece / groups % stripes * kLaneCount;
      const int64_t first = piece % groups * group;
      const ColumnsAcross columns = {piece / groups / stripes, column,
                                     std::min(plan_.inner - column, kLaneCount), first,
                                     std::min(plan_.chunks, first + group)};
      if (char* const memory = ThreadMemory(MemoryUse::kSums)) {
        SumColumnsAcross(columns, kRowBlock, reinterpret_cast<float*>(memory));
      } else {
        SumColumnsAcrossOnStack(columns);
      }
    });
    return true;
  }

  // Columns [column, column + count) of an outer row, of chunks [first, end).
  struct ColumnsAcross {
    int64_t outer;
    int64_t column;
    int64_t count;
    int64_t first;
    int64_t end;
  };

  [[gnu::noinline]] void SumColumnsAcrossOnStack(const ColumnsAcross& columns) const {
    alignas(64) float written[kLanes * (kRowsAcrossOnStack + kGapAcross)];
    SumColumnsAcross(columns, kRowsAcrossOnStack, written);
  }

  // The terms of `at_once` rows at a time are written.
  void SumColumnsAcross(const ColumnsAcross& columns, int64_t at_once, float* written) const {
    const DefaultFloatEnvironment environment;
    FormulaTiles tiles(job_.formula, plan_.terms, base_, kernel_, ElementType::kF32);
    // How far apart columns are written: whole lines, but not a power of two.
    const int64_t pitch = at_once + kGapAcross;
    // Sums that nobody wants still take terms.
    std::fill(written + columns.count * pitch, written + kLaneCount * pitch, 0.0f);
    double sums[kLanes];
    double levels[kLevels * kLanes];
    SumTree tree(levels, columns.count);
    const int64_t output = columns.outer * plan_.inner + columns.column;
    const int64_t rows_of_chunk = plan_.chunk_blocks * kRowBlock;
    const int64_t end = std::min(plan_.reduced, columns.end * rows_of_chunk);
    for (int64_t row = columns.first * rows_of_chunk; row < end;) {
      const int64_t end_of_block = std::min(end, row + kRowBlock);
      std::fill_n(sums, kLaneCount, 0.0);
      const int64_t chunk = row / rows_of_chunk;
      while (row < end_of_block) {
        const int64_t rows = std::min(end_of_block - row, at_once);
        WriteColumns(tiles, (columns.outer * plan_.reduced + row) * plan_.inner + columns.column,
                     columns.count, rows, written, pitch);
        job_.terms.across(written, static_cast<size_t>(pitch), static_cast<size_t>(rows), sums);
        row += rows;
      }
      tree.Add(sums);
      if (row < end && row % rows_of_chunk != 0) continue;
      tree.Finish(sums);
      if (plan_.chunks == 1) {
        Store(output, sums, columns.count);
      } else {
        std::copy_n(sums, columns.count, &partials_[chunk * plan_.outputs() + output]);
      }
    }
    ReportIsaThatRan(tiles.isa());
  }

  // The terms of `rows` rows of some columns, the first at `position`, column by column.
  void WriteColumns(FormulaTiles& tiles, int64_t position, int64_t columns, int64_t rows, float* written,
                    int64_t pitch) const {
    static_assert(kLaneCount <= kRepeatedRows, "all columns are one piece of work");
    const KernelType kernel = job_.formula.KernelFor(ElementType::kF32).type;
    VectorWork work;
    work.step[job_.formula.input_count] = sizeof(float);
    work.row_stride[job_.formula.input_count] = pitch * int64_t{sizeof(float)};
    work.stream = false;
    for (int64_t done = 0; done < rows;) {
      const Cursor cursor(plan_.terms, base_, position + done * plan_.inner);
      const int64_t n = std::min(rows - done, cursor.left_rows());
      const RowsInPlace in_place = ColumnsFrom(cursor, 0, 1);
      if (job_.from_memory) PrefetchBehind(in_place, columns, n);
      work.out = written + done;
      WorkOnRows(kernel, in_place, columns, n, work, [&](const VectorWork& some) {
        tiles.SetIsa(job_.formula.function(kernel, job_.formula.parameters, some));
      });
      done += n;
    }
  }

  // Asks for what lies behind rows of n elements: the next rows that are worked on.
  void PrefetchBehind(const RowsInPlace& in_place, int64_t rows, int64_t n) const {
    asm volatile(
        "");  // gcc takes a function that only prefetches for one without effects, and leaves calls out
    for (int64_t r = 0; r < rows; ++r) {
      for (int k = 0; k < plan_.terms.operand_count; ++k) {
        const int64_t bytes = n * in_place.column_stride[k];
        const char* const behind = in_place.from[k] + r * in_place.row_stride[k] + bytes;
        for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(behind + i);
      }
    }
  }

  // Stripes are nearly alike, and begin at whole cache lines of sums.
  int64_t StripeBegin(int64_t stripe, int64_t stripes) const {
    if (stripe == stripes) return plan_.inner;
    const int64_t begin = plan_.inner / stripes * stripe + std::min(stripe, plan_.inner % stripes);
    return begin / kLaneCount * kLaneCount;
  }

  // Sums rows [row, row + rows) of columns [column, column + columns) into sums[0..columns); what follows
  // there holds the tree.
  void SumRows(FormulaTiles& tiles, int64_t outer, int64_t row, int64_t rows, int64_t column, int64_t columns,
               double* sums) const {
    SumTree tree(sums + columns, columns);
    for (int64_t r = 0; r < rows; r += kRowBlock) {
      std::fill_n(sums, columns, 0.0);
      const int64_t position = (outer * plan_.reduced + row + r) * plan_.inner + column;
      const int64_t block = std::min(rows - r, kRowBlock);
      if (in_place_rows_) {
        const Cursor cursor(plan_.terms, base_, position);
        RowsInPlace in_place;
        for (int k = 0; k < plan_.terms.operand_count; ++k) {
          in_place.from[k] = cursor.At(k);
          in_place.row_stride[k] = plan_.row_stride[k];
          in_place.column_stride[k] = plan_.column_stride[k];
        }
        AddRowsInPlace(tiles, in_place, block, columns, sums);
      } else {
        AddRowsInTiles(tiles, position, block, columns, sums);
      }
      tree.Add(sums);
    }
    tree.Finish(sums);
  }

  // Calls run(work) for `rows` rows of `columns` terms, as many at a time as one kernel call can take.
  template <class Work, class Run>
  void WorkOnRows(KernelType kernel, const RowsInPlace& in_place, int64_t rows, int64_t columns, Work work,
                  const Run& run) const {
    work.n = static_cast<size_t>(columns);
    alignas(64) unsigned char repeated[kMaxInputs][kRepeatedRows][kRepeated * sizeof(float)];
    for (int64_t r = 0; r < rows;) {
      int64_t n = rows - r;
      for (int k = 0; k < plan_.terms.operand_count; ++k) {
        const int64_t row_stride = in_place.row_stride[k];
        const char* const source = in_place.from[k] + r * row_stride;
        work.in[k] = source;
        work.step[k] = static_cast<size_t>(in_place.column_stride[k]);
        work.row_stride[k] = row_stride;
        if (work.step[k] != 0) continue;
        // One value per row, or one for all.
        work.in[k] = repeated[k];
        if (row_stride != 0) {
          n = std::min(n, kRepeatedRows);
          work.row_stride[k] = sizeof repeated[k][0];
        }
        for (int64_t i = 0; i < (row_stride != 0 ? n : 1); ++i)
          RepeatElement(job_.formula, kernel, k, source + i * row_stride, repeated[k][i]);
      }
      work.rows = static_cast<size_t>(n);
      run(work);
      r += n;
    }
  }

  void AddRowsInPlace(FormulaTiles& tiles, const RowsInPlace& in_place, int64_t rows, int64_t columns,
                      double* sums) const {
    SumWork work = StartWork(SumWork::Order::kByRow);
    work.sums = sums;
    WorkOnRows(kernel_, in_place, rows, columns, work, [&](SumWork& some) { RunKernel(tiles, some); });
  }

  void AddRowsInTiles(FormulaTiles& tiles, int64_t position, int64_t rows, int64_t columns,
                      double* sums) const {
    // Whole rows follow each other in the walk, so a tile may hold several; a stripe has a jump after each row.
    const int64_t together = columns == plan_.inner ? rows : 1;
    SumWork work = StartWork(SumWork::Order::kByRow);
    for (int64_t r = 0; r < rows; r += together) {
      Cursor cursor(plan_.terms, base_, position);
      int64_t at = 0;
      for (int64_t left = together * columns; left > 0;) {
        const int64_t n = std::min({left, tiles.LongestStretch(cursor), int64_t{kTile}});
        tiles.Locate(cursor, position, n, work.in, work.step);
        for (int64_t used = 0; used < n;) {
          // The rest of a row, whole rows, or the beginning of one.
          const int64_t m = std::min(n - used, columns - at);
          work.n = static_cast<size_t>(m);
          work.rows = m == columns ? static_cast<size_t>((n - used) / columns) : 1;
          work.sums = sums + at;
          SumWork piece = work;
          for (int k = 0; k < plan_.terms.operand_count; ++k) {
            const auto stride = static_cast<int64_t>(work.step[k]);
            piece.in[k] = static_cast<const char*>(work.in[k]) + used * stride;
            piece.row_stride[k] = columns * stride;
          }
          RunKernel(tiles, piece);
          used += m * static_cast<int64_t>(work.rows);
          at = at + m == columns ? 0 : at + m;
        }
        left -= n;
        position += n;
        if (left > 0) cursor.Skip(n);
      }
      position += plan_.inner - columns;
    }
  }

  // Rows shorter than kLanes. The blocks of an output, or outputs of one block, are added side by side.
  void RunNarrowRows() {
    const int64_t rows = std::min(plan_.reduced, plan_.chunk_blocks * kRowBlock);
    const int64_t group = plan_.chunks > 1 ? 1 : GroupFor(plan_.reduced * plan_.inner);
    const int64_t groups = (plan_.outer + group - 1) / group;
    ForEachBlock(groups * plan_.chunks, job_.threads, [&](int64_t piece) {
      const int64_t chunk = piece % plan_.chunks;
      const int64_t first = piece / plan_.chunks * group;
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
            std::copy_n(buffers.total, plan_.inner,
                        &partials_[chunk * plan_.outputs() + outer * plan_.inner]);
          }
        }
      }
      ReportIsaThatRan(tiles.isa());
    });
  }

  struct NarrowTerms {
    alignas(64) float terms[kTermsAtOnce + kLanes] = {};
    alignas(64) double sums[kNarrowGroups * kLaneCount];
    double levels[kLevels * kLaneCount];
    double total[kLanes];
  };

  // Rows of outputs, `count` of them from `first` on, each of one block that fits the buffer.
  void SumNarrowOutputs(FormulaTiles& tiles, NarrowTerms& buffers, int64_t first, int64_t count) const {
    const int64_t length = plan_.reduced * plan_.inner;
    int64_t position = first * length;
    Cursor cursor(plan_.terms, base_, position);
    const int64_t most = std::min(kTermsAtOnce / length, kNarrowGroups);
    for (int64_t i = 0; i < count;) {
      const int64_t n = std::min(count - i, most);
      ComputeTerms(tiles, cursor, position, n * length, buffers.terms);
      AddNarrowRows(buffers, length, n, plan_.reduced, /*clear=*/true);
      // The sums of a row, which lie kLanes apart, move together.
      for (int64_t g = 1; g < n; ++g) {
        std::memmove(buffers.sums + g * plan_.inner, buffers.sums + g * kLaneCount,
                     static_cast<size_t>(plan_.inner) * sizeof(double));
      }
      Store((first + i) * plan_.inner, buffers.sums, n * plan_.inner);
      position += n * length;
      i += n;
    }
  }

  // `rows` rows of one output, the first at `position`, into buffers.total.
  void SumNarrowBlocks(FormulaTiles& tiles, NarrowTerms& buffers, int64_t position, int64_t rows) const {
    constexpr int64_t kTogether = 4;
    SumTree tree(buffers.levels, plan_.inner);
    const int64_t most = std::min(kTermsAtOnce / kTogether / plan_.inner, kRowBlock);
    while (rows > 0) {
      // A last block that is shorter goes alone.
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

  void AddNarrowRows(NarrowTerms& buffers, int64_t stride, int64_t groups, int64_t rows, bool clear) const {
    if (clear) std::fill_n(buffers.sums, groups * kLaneCount, 0.0);
    job_.terms.narrow_rows(buffers.terms, static_cast<size_t>(stride), static_cast<size_t>(groups),
                           static_cast<size_t>(rows), static_cast<size_t>(plan_.inner), buffers.sums);
  }

  // ---- outputs ----

  void CombineChunks() const {
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

  void StoreZeros() const {
    const double zeros[kSumsAtOnce] = {};
    for (int64_t first = 0; first < plan_.outputs(); first += kSumsAtOnce) {
      Store(first, zeros, std::min(kSumsAtOnce, plan_.outputs() - first));
    }
  }

  // Multiplies, rounds and writes the sums of outputs [first, first + count).
  void Store(int64_t first, const double* sums, int64_t count) const {
    const DefaultFloatEnvironment environment;
    const int32_t size = plan_.output.operand[0].element_size;
    char* const base[] = {output_};
    alignas(64) double results[kSumsAtOnce];
    alignas(64) char rounded[kSumsAtOnce * kMaxElement];
    for (int64_t done = 0; done < count; done += kSumsAtOnce) {
      const int64_t n = std::min(kSumsAtOnce, count - done);
      for (int64_t i = 0; i < n; ++i) results[i] = sums[done + i] * job_.factor;
      job_.store(results, rounded, static_cast<size_t>(n));
      ForEachSegment(plan_.output, 0, Cursor(plan_.output, base, first + done), n,
                     [&](char* address, int64_t stride, int64_t at, int64_t length) {
                       Scatter(rounded + at * size, address, stride, size, length);
                     });
    }
  }

  const ReductionJob& job_;
  const ReductionPlan& plan_;
  const KernelType kernel_;  // of sums
  bool in_place_rows_;       // within a row of columns every input is dense and native, or one value
  double* partials_;
  char* base_[kMaxInputs];
  char* output_;
};

}  // namespace

void ReductionJob::Run(void* const* addresses, void* workspace) const noexcept {
  char* base[kMaxLoopOperands] = {};
  for (int k = 0; k < plan.terms.operand_count; ++k)
    base[k] = static_cast<char*>(addresses[formula.argument[k]]) + plan.terms.operand[k].offset;
  void* const output = addresses[output_argument];
  if (formula.hoisted != nullptr && IsWorthHoisting(formula, plan.terms)) {
    ReductionJob rest = *this;
    if (HoistFunction(rest.formula, rest.plan.terms, base, threads)) {
      rest.plan.regular = false;  // its strides are those of the input
      return ReductionRun(rest, base, output, workspace).Run();
    }
  }
  ReductionRun(*this, base, output, workspace).Run();
}

}  // namespace portacl::engine
