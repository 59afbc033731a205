// Combines whole rows target by target, and divides them by their counts (see indexed.h).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/float_environment.h"
#include "engine/move/indexed_elements.h"
#include "engine/move/op_list_run.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

// The rows of a line, sorted by target. Those of target t are order[starts[t]] to order[starts[t + 1]] - 1,
// in the line's order.
class RowsByTarget {
 public:
  RowsByTarget(const IndexedMove& move, const char* index, int32_t* memory, IndexFault& fault)
      : move_(move),
        index_(index),
        line_(move.rank - 2),
        starts_(memory),
        order_(memory + move.index[0].bound + 1),
        fault_(fault) {
    const int64_t bound = move.index[0].bound;
    const int64_t count = move.extent[line_];
    std::fill(starts_, starts_ + bound + 1, 0);
    for (int64_t e = 0; e < count; ++e) {
      if (const int64_t target = TargetOf(e); target >= 0) ++starts_[target];
    }
    // The prefix sums are the ends of the targets' rows. Filling from the end turns them into the beginnings.
    for (int64_t t = 1; t <= bound; ++t) starts_[t] += starts_[t - 1];
    for (int64_t e = count - 1; e >= 0; --e) {
      if (const int64_t target = TargetOf(e); target >= 0)
        order_[--starts_[target]] = static_cast<int32_t>(e);
    }
  }

  const int32_t* begin(int64_t target) const { return order_ + starts_[target]; }
  const int32_t* last() const { return order_ + starts_[move_.index[0].bound]; }
  const int32_t* end(int64_t target) const { return order_ + starts_[target + 1]; }
  // Returns the largest number of rows of one target.
  int64_t most() const {
    int64_t most = 0;
    for (int64_t t = 0; t < move_.index[0].bound; ++t) most = std::max<int64_t>(most, end(t) - begin(t));
    return most;
  }

 private:
  // Returns -1 if there is none.
  int64_t TargetOf(int64_t e) const {
    const IndexOperand& one = move_.index[0];
    const char* const address = index_ + e * one.stride[line_];
    int64_t value = one.is_wide ? Load<int64_t>(address) : Load<int32_t>(address);
    if (value == move_.ignored && value != IndexedMove::kNoneIgnored) return -1;
    if (one.wraps && value < 0) value += one.bound;
    if (static_cast<uint64_t>(value) < static_cast<uint64_t>(one.bound)) return value;
    fault_.Note(e * move_.extent[line_ + 1]);
    return -1;
  }

  const IndexedMove& move_;
  const char* const index_;
  const int line_;
  int32_t* const starts_;
  int32_t* const order_;
  IndexFault& fault_;
};

// Converts elements `stride` bytes apart to dense float32, and back.
void ReadAs(const Conversion& conversion, const char* from, int64_t stride, float* to, int64_t n) {
  alignas(64) char gathered[kTileElements * int64_t{sizeof(double)}];
  const int32_t size = conversion.from_size;
  if (conversion.KeepsBytes()) {
    return CopyBlock(from, {0, stride}, reinterpret_cast<char*>(to), {0, size}, 1, n, size, false);
  }
  if (stride != size) {
    CopyBlock(from, {0, stride}, gathered, {0, size}, 1, n, size, false);
    from = gathered;
  }
  conversion.Run(from, to, static_cast<size_t>(n), false);
}
void WriteAs(const Conversion& conversion, const float* from, char* to, int64_t stride, int64_t n) {
  alignas(64) char made[kTileElements * int64_t{sizeof(float)}];
  const int32_t size = conversion.to_size;
  if (stride == size) return conversion.Run(from, to, static_cast<size_t>(n), false);
  conversion.Run(from, made, static_cast<size_t>(n), false);
  CopyBlock(made, {0, size}, to, {0, stride}, 1, n, size, false);
}

// Combines the rows of some targets with them.
class TargetRows {
 public:
  TargetRows(const ListedOp& step, const RowsByTarget& rows, const char* plain, char* indexed)
      : step_(step), move_(step.indexed), rows_(rows), plain_(plain), indexed_(indexed) {}

  // Combines n columns from `first` on, at most a tile.
  void Combine(int64_t target, int64_t first, int64_t n) const {
    const int last = move_.rank - 1;
    const int64_t row_step = move_.plain_stride[last - 1];
    const int64_t bytes = n * move_.conversion.from_size;
    const int64_t ahead = std::max<int64_t>(1, kRowsAhead / 4 / bytes);
    alignas(64) float sums[kTileElements];
    alignas(64) float values[kTileElements];
    const char* const plain = plain_ + first * move_.plain_stride[last];
    char* const indexed = indexed_ + target * move_.index[0].step + first * move_.indexed_stride[last];
    ReadAs(step_.widened, indexed, move_.indexed_stride[last], sums, n);
    for (const int32_t* row = rows_.begin(target); row < rows_.end(target); ++row) {
      // Prefetches one of the next rows, of this target or of another; it may lie anywhere.
      const char* const next = plain + (row + ahead < rows_.last() ? row[ahead] : *row) * row_step;
      for (int64_t k = 0; k < bytes; k += 64) __builtin_prefetch(next + k);
      ReadAs(move_.conversion, plain + *row * row_step, move_.plain_stride[last], values, n);
      ForAction<float>(move_, [&](const auto& combine) {
        for (int64_t i = 0; i < n; ++i) sums[i] = combine(sums[i], values[i]);
      });
    }
    WriteAs(step_.rounded, sums, indexed, move_.indexed_stride[last], n);
  }

 private:
  const ListedOp& step_;
  const IndexedMove& move_;
  const RowsByTarget& rows_;
  const char* const plain_;
  char* const indexed_;
};

}  // namespace

void SumRows(const ListedOp& step, const JobContext& context) {
  const IndexedMove& move = step.indexed;
  const IndexOperand& index = move.index[0];
  const int last = move.rank - 1;
  const int line = move.rank - 2;
  IndexFault fault;
  const char* const index_base = static_cast<const char*>(
      index.operand == BufferRef::kWorkspace ? context.workspace : context.addresses[index.operand]);
  const RowsByTarget rows(move, index_base + index.offset,
                          reinterpret_cast<int32_t*>(step.order.Address(context)), fault);
  // A block covers some targets and one index on the dims around. It has whole rows, which are read in the order of
  // memory, or a tile of columns if targets are too few for the threads, or one has more than a thread's share.
  const int64_t columns = move.extent[last];
  const int64_t most_ranges = int64_t{8} * move.threads;
  const bool has_whole_rows =
      index.bound >= most_ranges && (move.threads == 1 || rows.most() <= move.extent[line] / move.threads);
  const int64_t width = has_whole_rows ? columns : kTileElements;
  const int64_t parts = (columns + width - 1) / width;
  int64_t around = 1;
  for (int dim = 0; dim < line; ++dim) around *= move.extent[dim];
  const int64_t ranges = std::clamp<int64_t>(move.count * move.size / kWorthThreads / parts / around, 1,
                                             std::min(index.bound, most_ranges));
  const int64_t targets = (index.bound + ranges - 1) / ranges;
  ForEachBlock(ranges * parts * around, move.threads, [&](int64_t block) {
    const DefaultFloatEnvironment environment;
    const char* plain = move.plain.Address(context);
    char* indexed = move.indexed.Address(context);
    int64_t rest = block / (ranges * parts);
    for (int dim = line - 1; dim >= 0; --dim) {
      plain += rest % move.extent[dim] * move.plain_stride[dim];
      indexed += rest % move.extent[dim] * move.indexed_stride[dim];
      rest /= move.extent[dim];
    }
    const TargetRows combined(step, rows, plain, indexed);
    const int64_t begin = block % ranges * targets;
    const int64_t part = block / ranges % parts * width;
    for (int64_t t = begin; t < std::min(index.bound, begin + targets); ++t) {
      if (rows.begin(t) == rows.end(t)) continue;
      for (int64_t first = part; first < std::min(columns, part + width); first += kTileElements)
        combined.Combine(t, first, std::min(kTileElements, columns - first));
    }
  });
  const int64_t position = fault.position.load(std::memory_order_relaxed);
  if (move.raises && position != std::numeric_limits<int64_t>::max()) ReportBadIndex(move, context, position);
}

namespace {

template <class T>
T Divided(T sum, int64_t count) {
  if constexpr (std::is_integral_v<T>) {
    const int64_t quotient = sum / count;  // truncated; the mean is rounded down
    return static_cast<T>(sum < 0 && quotient * count != sum ? quotient - 1 : quotient);
  } else {
    return sum / static_cast<T>(count);
  }
}
template <class T>
Complex<T> Divided(Complex<T> sum, int64_t count) {
  return {Divided(sum.real, count), Divided(sum.imaginary, count)};
}

// Divides each row by the count of its index.
template <class T>
void DivideRowsOf(const ListedOp& step, const JobContext& context) {
  char* const sums = step.destination.Address(context);
  const auto* const counts = reinterpret_cast<const int64_t*>(step.source.Address(context));
  const int64_t together = std::max<int64_t>(1, kWorthThreads / std::max<int64_t>(step.columns, 1));
  ForEachBlock((step.rows + together - 1) / together, step.threads, [&](int64_t part) {
    const DefaultFloatEnvironment environment;
    for (int64_t row = part * together; row < std::min(step.rows, (part + 1) * together); ++row) {
      if (counts[row] < 2) continue;
      char* const of_row = sums + row * step.columns * static_cast<int64_t>(sizeof(T));
      for (int64_t i = 0; i < step.columns; ++i) {
        char* const at = of_row + i * static_cast<int64_t>(sizeof(T));
        Store(at, Divided(Load<T>(at), counts[row]));
      }
    }
  });
}

}  // namespace

void DivideRows(const ListedOp& step, const JobContext& context) {
  switch (step.dtype) {
    case ACL_FLOAT:
      return DivideRowsOf<float>(step, context);
    case ACL_DOUBLE:
      return DivideRowsOf<double>(step, context);
    case ACL_INT8:
      return DivideRowsOf<int8_t>(step, context);
    case ACL_UINT8:
      return DivideRowsOf<uint8_t>(step, context);
    case ACL_INT16:
      return DivideRowsOf<int16_t>(step, context);
    case ACL_INT32:
      return DivideRowsOf<int32_t>(step, context);
    case ACL_INT64:
      return DivideRowsOf<int64_t>(step, context);
    case ACL_COMPLEX64:
      return DivideRowsOf<Complex<float>>(step, context);
    default:
      return DivideRowsOf<Complex<double>>(step, context);
  }
}

// Rows of fewer elements are not worth a call each.
constexpr int64_t kShortRow = 16;

bool SumsRows(const IndexedMove& move) noexcept {
  const IndexOperand& index = move.index[0];
  const int last = move.rank - 1;
  const int64_t most = std::numeric_limits<int32_t>::max() - 1;
  if (move.index_count != 1 || move.rank < 2 || move.extent[last] < kShortRow) return false;
  if (index.bound > most || move.extent[last - 1] > most || index.stride[last] != 0) return false;
  if (index.stride[last - 1] == 0 || move.indexed_stride[last - 1] != 0) return false;
  for (int dim = 0; dim < last - 1; ++dim) {
    if (index.stride[dim] != 0 || move.indexed_stride[dim] == 0) return false;
  }
  return true;
}

int64_t RowsWorkspace(const IndexedMove& move) noexcept {
  return (move.index[0].bound + 1 + move.extent[move.rank - 2]) * int64_t{sizeof(int32_t)};
}

}  // namespace portacl::engine
