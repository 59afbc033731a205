// Runs scan jobs (see scan.h). Every scan goes along the line in one order.
// SPDX-License-Identifier: Apache-2.0
#include "engine/reduction/scan.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "base/float_environment.h"
#include "engine/buffer_ref.h"
#include "engine/map/tiles.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int64_t kTermsPerBlock = 32768;
// Terms of a tile, whose results have up to 16 bytes each.
constexpr int64_t kScanTile = 256;
// Terms of each of the lines that are scanned together.
constexpr int64_t kTogetherTile = 128;
// Shorter lines are not worth copying.
constexpr int64_t kShortestTogether = 16;

struct Pair {
  double real;
  double imaginary;
};

template <class T, class R, bool kIsProduct>
struct Running {
  using Term = T;
  using Result = R;
  static R First() { return static_cast<R>(kIsProduct ? 1 : 0); }
  static R With(R sum, T term) {
    if constexpr (std::is_integral_v<R>) {
      const auto a = static_cast<uint64_t>(sum);
      const auto b = static_cast<uint64_t>(term);
      return static_cast<R>(kIsProduct ? a * b : a + b);
    } else {
      return kIsProduct ? sum * static_cast<R>(term) : sum + static_cast<R>(term);
    }
  }
};
template <bool kIsProduct>
struct Running<Pair, Pair, kIsProduct> {
  using Term = Pair;
  using Result = Pair;
  static Pair First() { return {kIsProduct ? 1.0 : 0.0, 0.0}; }
  static Pair With(Pair a, Pair b) {
    if (!kIsProduct) return {a.real + b.real, a.imaginary + b.imaginary};
    return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
  }
};

// Scans single columns, one line after the other. Operands need not be aligned.
template <class Scan>
void AlongLines(ScanWork& work) {
  using R = typename Scan::Result;
  using T = typename Scan::Term;
  const auto* terms = static_cast<const char*>(work.terms);
  auto* results = static_cast<char*>(work.results);
  auto* const state = static_cast<R*>(work.states) + work.column;
  R sum;
  std::memcpy(&sum, state, sizeof sum);
  for (size_t left = work.rows; left > 0;) {
    const size_t n = std::min(left, work.length - work.at);
    if (work.at == 0) sum = Scan::First();
    if (work.is_exclusive) {
      for (size_t i = 0; i < n; ++i) {
        const T term = Load<T>(terms + i * sizeof(T));  // a result may overwrite its term
        Store(results + i * sizeof(R), sum);
        sum = Scan::With(sum, term);
      }
    } else {
      for (size_t i = 0; i < n; ++i) {
        sum = Scan::With(sum, Load<T>(terms + i * sizeof(T)));
        Store(results + i * sizeof(R), sum);
      }
    }
    terms += n * sizeof(T);
    results += n * sizeof(R);
    left -= n;
    work.at = work.at + n == work.length ? 0 : work.at + n;
  }
  std::memcpy(state, &sum, sizeof sum);
}

// Scans several lines in turns. The terms may be the operand's memory, which need not be aligned; the results
// are the caller's buffer.
template <class Scan, bool kIsExclusive>
void LinesTogether(ScanWork& work) {
  using R = typename Scan::Result;
  using T = typename Scan::Term;
  const char* terms[kScanLines];
  for (size_t line = 0; line < kScanLines; ++line) terms[line] = static_cast<const char*>(work.lines[line]);
  auto* const results = static_cast<R*>(work.results);
  R sums[kScanLines];
  std::memcpy(sums, work.states, sizeof sums);
  if (work.at == 0) std::fill_n(sums, kScanLines, Scan::First());
  for (size_t i = 0; i < work.rows; ++i) {
    for (size_t line = 0; line < kScanLines; ++line) {
      const size_t at = line * work.rows + i;
      const R sum = Scan::With(sums[line], Load<T>(terms[line] + i * sizeof(T)));
      results[at] = kIsExclusive ? sums[line] : sum;
      sums[line] = sum;
    }
  }
  std::memcpy(work.states, sums, sizeof sums);
}
template <class Scan>
void SumsTogether(ScanWork& work) {
  if (work.is_exclusive) return LinesTogether<Scan, true>(work);
  LinesTogether<Scan, false>(work);
}

template <class Scan>
void ScanSums(ScanWork& work) {
  using R = typename Scan::Result;
  if (work.columns == 1) return AlongLines<Scan>(work);
  // Operands need not be aligned.
  using T = typename Scan::Term;
  const auto* terms = static_cast<const char*>(work.terms);
  auto* results = static_cast<char*>(work.results);
  auto* const sums = static_cast<R*>(work.states) + work.column;
  for (size_t row = 0; row < work.rows; ++row) {
    if (work.at == 0) std::fill_n(sums, work.columns, Scan::First());
    if (work.is_exclusive) {
      for (size_t c = 0; c < work.columns; ++c) {
        const T term = Load<T>(terms + c * sizeof(T));
        Store(results + c * sizeof(R), sums[c]);
        sums[c] = Scan::With(sums[c], term);
      }
    } else {
      for (size_t c = 0; c < work.columns; ++c) {
        sums[c] = Scan::With(sums[c], Load<T>(terms + c * sizeof(T)));
        Store(results + c * sizeof(R), sums[c]);
      }
    }
    terms += work.columns * sizeof(T);
    results += work.columns * sizeof(R);
    work.at = work.at + 1 == work.length ? 0 : work.at + 1;
  }
}

// Tells whether x replaces the best. Of two equal ones the later wins. A NaN stays, except that a later NaN
// replaces it.
template <class T, bool kLargest>
bool Takes(T best, T x) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(x)) return true;
  }
  return kLargest ? x >= best : x <= best;
}

// New extremes are rare or come one after the other, so that a few terms mostly contain none.
constexpr size_t kFew = 16;
template <class T, bool kLargest>
bool AnyTakes(T best, const T* terms) {
  int count = 0;
  for (size_t k = 0; k < kFew; ++k) count += kLargest ? !(terms[k] < best) : !(terms[k] > best);
  return count > 0;
}

// Scans single columns, one line after the other. Operands need not be aligned.
template <class T, bool kLargest>
void ExtremesAlongLines(ScanWork& work) {
  const auto* terms = static_cast<const char*>(work.terms);
  auto* results = static_cast<char*>(work.results);
  auto* indices = reinterpret_cast<char*>(work.indices);
  ScanState& state = static_cast<ScanState*>(work.states)[work.column];
  T best;
  std::memcpy(&best, state.value, sizeof best);
  int64_t index = state.index;
  for (size_t left = work.rows; left > 0;) {
    const size_t n = std::min(left, work.length - work.at);
    if (work.at == 0) {
      std::memcpy(&best, terms, sizeof best);
      index = 0;
    }
    const auto first = static_cast<int64_t>(work.at);
    const auto step = [&](size_t i) {
      T x;
      std::memcpy(&x, terms + i * sizeof x, sizeof x);
      if (Takes<T, kLargest>(best, x)) {
        best = x;
        index = first + static_cast<int64_t>(i);
      }
      std::memcpy(results + i * sizeof best, &best, sizeof best);
      std::memcpy(indices + i * sizeof index, &index, sizeof index);
    };
    size_t i = 0;
    for (; i + kFew <= n; i += kFew) {
      T few[kFew];
      std::memcpy(few, terms + i * sizeof(T), sizeof few);
      if (AnyTakes<T, kLargest>(best, few)) {
        for (size_t k = 0; k < kFew; ++k) step(i + k);
        continue;
      }
      int64_t same[kFew];
      std::fill_n(few, kFew, best);
      std::fill_n(same, kFew, index);
      std::memcpy(results + i * sizeof(T), few, sizeof few);
      std::memcpy(indices + i * sizeof(int64_t), same, sizeof same);
    }
    for (; i < n; ++i) step(i);
    terms += n * sizeof(T);
    results += n * sizeof(T);
    indices += n * sizeof(int64_t);
    left -= n;
    work.at = work.at + n == work.length ? 0 : work.at + n;
  }
  std::memcpy(state.value, &best, sizeof best);
  state.index = index;
}

template <class T, bool kLargest>
void ScanExtremes(ScanWork& work) {
  if (work.columns == 1) return ExtremesAlongLines<T, kLargest>(work);
  // Operands need not be aligned.
  const auto* terms = static_cast<const char*>(work.terms);
  auto* results = static_cast<char*>(work.results);
  auto* indices = reinterpret_cast<char*>(work.indices);
  auto* const states = static_cast<ScanState*>(work.states) + work.column;
  for (size_t row = 0; row < work.rows; ++row) {
    for (size_t c = 0; c < work.columns; ++c) {
      ScanState& state = states[c];
      T x;
      std::memcpy(&x, terms + c * sizeof x, sizeof x);
      T best;
      std::memcpy(&best, state.value, sizeof best);
      if (work.at == 0 || Takes<T, kLargest>(best, x)) {
        std::memcpy(state.value, &x, sizeof x);
        state.index = static_cast<int64_t>(work.at);
        best = x;
      }
      std::memcpy(results + c * sizeof best, &best, sizeof best);
      std::memcpy(indices + c * sizeof state.index, &state.index, sizeof state.index);
    }
    terms += work.columns * sizeof(T);
    results += work.columns * sizeof(T);
    indices += work.columns * sizeof(int64_t);
    work.at = work.at + 1 == work.length ? 0 : work.at + 1;
  }
}

// Sums of integers are not interleaved: an addition waits one cycle, no longer than a store takes.
template <class Scan>
constexpr ScanFunctions kScan = {ScanSums<Scan>,
                                 std::is_integral_v<typename Scan::Result> ? nullptr : SumsTogether<Scan>};

template <bool kIsProduct>
ScanFunctions FindRunning(ElementType terms) {
  switch (terms) {
    case ElementType::kF32:
      return kScan<Running<float, double, kIsProduct>>;
    case ElementType::kF64:
      return kScan<Running<double, double, kIsProduct>>;
    case ElementType::kI64:
      return kScan<Running<int64_t, int64_t, kIsProduct>>;
    case ElementType::kC128:
      return kScan<Running<Pair, Pair, kIsProduct>>;
    default:
      return {};
  }
}

template <bool kLargest>
ScanFunctions FindExtremes(ElementType terms) {
  switch (terms) {
    case ElementType::kF32:
      return {ScanExtremes<float, kLargest>, nullptr};
    case ElementType::kF64:
      return {ScanExtremes<double, kLargest>, nullptr};
    case ElementType::kI32:
      return {ScanExtremes<int32_t, kLargest>, nullptr};
    case ElementType::kI64:
      return {ScanExtremes<int64_t, kLargest>, nullptr};
    default:
      return {};
  }
}

class ScanRun {
 public:
  ScanRun(const ScanJob& job, void* const* addresses) : job_(job) {
    base_[0] = static_cast<char*>(addresses[job.input]) + job.plan.operand[0].offset;
    for (int k = 0; k < job.outputs; ++k)
      base_[k + 1] = static_cast<char*>(addresses[job.output[k]]) + job.plan.operand[k + 1].offset;
    formula_.input_count = 1;
    formula_.computed = job.computed;
    formula_.type[0] = job.type;
    formula_.load[0] = job.load;
    formula_.gather = job.gather;
    formula_.tile = job.tile;
  }

  void Run() const {
    if (job_.inner == 1) return RunLines();
    const int64_t width = std::min<int64_t>(job_.inner, job_.tile);
    const int64_t stripes = (job_.inner + width - 1) / width;
    ForEachBlock(job_.outer * stripes, job_.threads, [&](int64_t thread_block) {
      const DefaultFloatEnvironment environment;
      const int64_t column = thread_block % stripes * width;
      RunColumns(thread_block / stripes, column, std::min(width, job_.inner - column));
    });
  }

 private:
  FormulaTiles Tiles() const {
    return FormulaTiles(formula_, job_.plan, base_, {job_.computed}, job_.computed);
  }

  void RunLines() const {
    // Scans lines together if there are enough of them for all threads.
    const bool together = (job_.functions.together != nullptr || job_.as_stored != nullptr) &&
                          job_.length >= kShortestTogether && job_.outer / kScanLines >= job_.threads;
    const int64_t lines = std::max<int64_t>(kTermsPerBlock / job_.length, together ? kScanLines : 1);
    ForEachBlock((job_.outer + lines - 1) / lines, job_.threads, [&](int64_t thread_block) {
      const DefaultFloatEnvironment environment;
      int64_t first = thread_block * lines;
      const int64_t end = std::min(job_.outer, first + lines);
      FormulaTiles tiles = Tiles();
      if (together) {
        for (; first + kScanLines <= end; first += kScanLines) {
          if (job_.as_stored != nullptr) {
            ScanAsStored(first);
          } else {
            ScanTogether(tiles, first);
          }
        }
      }
      if (first < end) ScanLines(tiles, first, end);
    });
  }

  void ScanLines(FormulaTiles& tiles, int64_t first, int64_t end) const {
    int64_t left = (end - first) * job_.length;
    int64_t position = first * job_.length;
    Cursor cursor(job_.plan, base_, position);
    alignas(16) ScanState state{};
    ScanWork work{};
    work.states = &state;
    work.columns = 1;
    while (left > 0) {
      const int64_t n = std::min({left, tiles.LongestTile(cursor), int64_t{job_.tile}});
      work.rows = static_cast<size_t>(n);
      Scan(tiles, cursor, position, n, work);
      position += n;
      left -= n;
      if (left > 0) cursor.Skip(n);
    }
  }

  [[gnu::noinline]] void ScanAsStored(int64_t first) const {
    const auto position = [&](int line) { return (first + line) * job_.length; };
    Cursor cursors[] = {Cursor(job_.plan, base_, position(0)), Cursor(job_.plan, base_, position(1)),
                        Cursor(job_.plan, base_, position(2)), Cursor(job_.plan, base_, position(3))};
    static_assert(std::size(cursors) == kScanLines);
    alignas(16) char states[kScanLines * 16];
    ScanWork work{};
    work.states = states;
    work.is_exclusive = job_.is_exclusive;
    for (int64_t at = 0; at < job_.length;) {
      int64_t n = std::min(job_.length - at, kTogetherTile);
      for (const Cursor& cursor : cursors) n = std::min(n, cursor.left_in_row());
      for (int line = 0; line < kScanLines; ++line) {
        work.lines[line] = cursors[line].At(0);
        work.line_results[line] = cursors[line].At(1);
        if (job_.from_memory) AskAhead(cursors[line], n);
      }
      work.at = static_cast<size_t>(at);
      work.rows = static_cast<size_t>(n);
      job_.as_stored(work);
      at += n;
      for (Cursor& cursor : cursors) {
        if (at < job_.length) cursor.Skip(n);
      }
    }
  }

  [[gnu::noinline]] void ScanTogether(FormulaTiles& tiles, int64_t first) const {
    alignas(64) char terms[kScanLines * kTogetherTile * 16];
    alignas(64) char results[kScanLines * kTogetherTile * 16];
    alignas(16) char states[kScanLines * 16];
    const auto position = [&](int line) { return (first + line) * job_.length; };
    Cursor cursors[] = {Cursor(job_.plan, base_, position(0)), Cursor(job_.plan, base_, position(1)),
                        Cursor(job_.plan, base_, position(2)), Cursor(job_.plan, base_, position(3))};
    static_assert(std::size(cursors) == kScanLines);
    ScanWork work{};
    work.results = results;
    work.states = states;
    work.is_exclusive = job_.is_exclusive;
    const auto size = static_cast<int64_t>(SizeOf(job_.computed));
    const auto result_size = static_cast<int64_t>(SizeOf(job_.result));
    const bool stays = job_.type == job_.computed && job_.plan.operand[0].stride[job_.plan.rank - 1] == size;
    for (int64_t at = 0; at < job_.length;) {
      int64_t n = std::min({job_.length - at, kTogetherTile, int64_t{job_.tile}});
      for (const Cursor& cursor : cursors) n = std::min(n, tiles.LongestTile(cursor));
      for (int line = 0; line < kScanLines; ++line) {
        const void* located = nullptr;
        size_t step = 0;
        tiles.Locate(cursors[line], position(line) + at, n, &located, &step);
        if (job_.from_memory) AskAhead(cursors[line], n);
        // Copies the terms, since the next line overwrites the tile.
        work.lines[line] = located;
        if (stays) continue;
        CopyTerms(located, step, n, terms + line * n * size);
        work.lines[line] = terms + line * n * size;
      }
      work.at = static_cast<size_t>(at);
      work.rows = static_cast<size_t>(n);
      job_.functions.together(work);
      at += n;
      for (int line = 0; line < kScanLines; ++line) {
        Store(0, cursors[line], results + line * n * result_size, n);
        if (at < job_.length) cursors[line].Skip(n);
      }
    }
  }

  // Prefetches several streams: for that many the processor's own prefetching does not continue in the next
  // page.
  void AskAhead(const Cursor& cursor, int64_t n) const {
    constexpr int64_t kAhead = 2048;
    for (const int operand : {0, 1}) {
      const int64_t stride = job_.plan.operand[operand].stride[job_.plan.rank - 1];
      if (stride != job_.plan.operand[operand].element_size) continue;
      const char* const at = cursor.At(operand) + kAhead;
      for (int64_t line = 0; line < n * stride; line += 64) {
        if (operand == 0) {
          __builtin_prefetch(at + line, 0);
        } else {
          __builtin_prefetch(at + line, 1);
        }
      }
    }
  }

  // Copies the terms that Locate found. With step 0 they are one repeated value.
  void CopyTerms(const void* located, size_t step, int64_t n, char* to) const {
    const size_t bytes = static_cast<size_t>(n) * SizeOf(job_.computed);
    if (step != 0) {
      std::memcpy(to, located, bytes);
      return;
    }
    for (size_t done = 0; done < bytes; done += kRepeatedBytes)
      std::memcpy(to + done, located, std::min(bytes - done, kRepeatedBytes));
  }

  void RunColumns(int64_t outer, int64_t column, int64_t columns) const {
    FormulaTiles tiles = Tiles();
    alignas(64) ScanState states[kScanTile];
    // If all columns are taken, consecutive rows are contiguous in the walk.
    const bool is_whole = columns == job_.inner;
    const int64_t together = is_whole ? std::max<int64_t>(job_.tile / columns, 1) : 1;
    ScanWork work{};
    work.states = states;
    for (int64_t row = 0; row < job_.length; row += together) {
      const int64_t rows = std::min(together, job_.length - row);
      const int64_t position = (outer * job_.length + row) * job_.inner + column;
      Cursor cursor(job_.plan, base_, position);
      int64_t at = 0;
      int64_t done = 0;
      for (int64_t left = rows * columns; left > 0;) {
        int64_t n = std::min(left, tiles.LongestTile(cursor));
        // Takes whole rows, or the available part of one.
        n = at == 0 && n >= columns ? n / columns * columns : std::min(n, columns - at);
        const int64_t width = at == 0 && n >= columns ? columns : n;
        work.column = static_cast<size_t>(at);
        work.columns = static_cast<size_t>(width);
        work.rows = static_cast<size_t>(n / width);
        work.at = static_cast<size_t>(row + done);
        Scan(tiles, cursor, position + rows * columns - left, n, work);
        at += width;
        if (at == columns) {
          at = 0;
          done += n / width;
        }
        left -= n;
        if (left > 0) cursor.Skip(n);
      }
    }
  }

  // Scans the next n terms, at most a tile.
  void Scan(FormulaTiles& tiles, const Cursor& cursor, int64_t position, int64_t n, ScanWork& work) const {
    alignas(64) char filled[kTileBytes];
    alignas(64) char results[kScanTile * 16];
    int64_t indices[kScanTile];
    size_t step = 0;
    tiles.Locate(cursor, position, n, &work.terms, &step);
    if (step == 0) {
      CopyTerms(work.terms, step, n, filled);
      work.terms = filled;
    }
    work.length = static_cast<size_t>(job_.length);
    work.is_exclusive = job_.is_exclusive;
    void* const there[] = {Destination(0, cursor, n), job_.outputs > 1 ? Destination(1, cursor, n) : nullptr};
    work.results = there[0] != nullptr ? there[0] : results;
    work.indices = there[1] != nullptr ? static_cast<int64_t*>(there[1]) : indices;
    job_.functions.run(work);
    if (there[0] == nullptr) Store(0, cursor, results, n);
    if (job_.outputs > 1 && there[1] == nullptr) Store(1, cursor, indices, n);
  }

  // Returns the address of an output's next n elements if they are dense and need no conversion, else
  // nullptr.
  void* Destination(int output, const Cursor& cursor, int64_t n) const {
    const OperandLoop& operand = job_.plan.operand[output + 1];
    const bool is_dense =
        operand.stride[job_.plan.rank - 1] == operand.element_size && cursor.left_in_row() >= n;
    return is_dense && !job_.is_stored[output] ? cursor.At(output + 1) : nullptr;
  }

  void Store(int output, const Cursor& cursor, const void* results, int64_t n) const {
    alignas(64) char written[kScanTile * 16];
    const auto* const from = static_cast<const char*>(results);
    const int32_t size = job_.plan.operand[output + 1].element_size;
    const auto result_size = static_cast<int64_t>(SizeOf(output == 0 ? job_.result : ElementType::kI64));
    const ElementStore store = job_.store[output];
    ForEachDenseRange(
        job_.plan, output + 1, cursor, n, [&](char* address, int64_t stride, int64_t at, int64_t length) {
          if (!job_.is_stored[output]) return Scatter(from + at * size, address, stride, size, length);
          const bool is_dense = stride == size;
          store(from + at * result_size, is_dense ? address : written, static_cast<size_t>(length), false);
          if (!is_dense) Scatter(written, address, stride, size, length);
        });
  }

  const ScanJob& job_;
  Formula formula_;
  char* base_[kMaxLoopOperands] = {};
};

}  // namespace

ScanFunctions FindScan(ScanOperation operation, ElementType terms) noexcept {
  switch (operation) {
    case ScanOperation::kSum:
      return FindRunning<false>(terms);
    case ScanOperation::kProduct:
      return FindRunning<true>(terms);
    case ScanOperation::kLargest:
      return FindExtremes<true>(terms);
    default:
      return FindExtremes<false>(terms);
  }
}

ElementType ScanResult(ScanOperation operation, ElementType terms) noexcept {
  const bool is_sum = operation == ScanOperation::kSum || operation == ScanOperation::kProduct;
  return is_sum && terms == ElementType::kF32 ? ElementType::kF64 : terms;
}

void ScanJob::Run(void* const* addresses, void*) const noexcept { ScanRun(*this, addresses).Run(); }

}  // namespace portacl::engine
