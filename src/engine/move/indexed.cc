// Moves with indices (see indexed.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/move/indexed.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "acl/data_type.h"
#include "acl/float_environment.h"
#include "engine/cache_size.h"
#include "engine/move/block.h"
#include "engine/parallel.h"

#include <hwy/cache_control.h>

namespace portacl::engine {
namespace {

constexpr int64_t kTileElements = 512;
// The offsets of a line that so many others have, too.
constexpr int64_t kRepeatedElements = 2048;
// Below so many bytes a second thread costs more than it gains.
constexpr int64_t kWorthThreads = 65536;
// Threads that look at all indices for the targets of their own gain where the targets are further away than the indices: where they are
// of so many bytes.
constexpr int64_t kWorthLooking = int64_t{4} << 20;
// Two of them take longer than one alone, which neither leaves out indices nor shares the memory's bandwidth.
constexpr int kThreadsWorthLooking = 4;
// Bytes of a row's part: of less, threads wait for each other's lines.
constexpr int64_t kWorthCutting = 2048;

struct Element16 {
  uint64_t part[2];
};

// ---- what is computed ----

template <class T>
struct Complex {
  T real;
  T imaginary;
};
struct Truth {
  uint8_t byte;
};

template <class T>
T Added(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
  } else {
    return a + b;
  }
}
template <class T>
T Multiplied(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}
template <class T>
bool IsNan(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}
// The first NaN, where there is one.
template <class T>
T Larger(T a, T b) {
  return IsNan(a) || b <= a ? a : b;
}
template <class T>
T Smaller(T a, T b) {
  return IsNan(a) || b >= a ? a : b;
}
template <class T>
Complex<T> Added(Complex<T> a, Complex<T> b) {
  return {a.real + b.real, a.imaginary + b.imaginary};
}
template <class T>
Complex<T> Multiplied(Complex<T> a, Complex<T> b) {
  return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
}
template <class T>
Complex<T> Larger(Complex<T> a, Complex<T>) {
  return a;
}
template <class T>
Complex<T> Smaller(Complex<T> a, Complex<T>) {
  return a;
}
inline Truth Either(Truth a, Truth b) { return {static_cast<uint8_t>(a.byte != 0 || b.byte != 0 ? 1 : 0)}; }
inline Truth Both(Truth a, Truth b) { return {static_cast<uint8_t>(a.byte != 0 && b.byte != 0 ? 1 : 0)}; }
inline Truth Added(Truth a, Truth b) { return Either(a, b); }
inline Truth Multiplied(Truth a, Truth b) { return Both(a, b); }
inline Truth Larger(Truth a, Truth b) { return Either(a, b); }
inline Truth Smaller(Truth a, Truth b) { return Both(a, b); }

constexpr int64_t kBad = IndexedMove::kNoPlace;

// Combines n elements with those at base + offset[i], in order.
template <class T, class Combine>
void CombineAt(char* base, const char* source, int64_t stride, int64_t n, const int64_t* offset,
               const Combine& combine) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < n; ++i)
    Store(base + offset[i], combine(Load<T>(base + offset[i]), Load<T>(source + i * stride)));
}

// The elements and offsets without those that are kBad, dense; returns how many. Which are is nothing that a processor could guess.
template <class T>
int64_t LeaveOut(const char* source, int64_t stride, int64_t n, const int64_t* offset, char* packed,
                 int64_t* kept) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    Store(packed + count * static_cast<int64_t>(sizeof(T)), Load<T>(source + i * stride));
    kept[count] = offset[i];
    count += offset[i] != kBad ? 1 : 0;
  }
  return count;
}

// Combines n dense elements with those `stride` bytes apart.
template <class T, class Combine>
void CombineRow(char* base, const char* source, int64_t n, int64_t stride, const Combine& combine) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  if (stride == kSize) {
    for (int64_t i = 0; i < n; ++i)
      Store(base + i * kSize, combine(Load<T>(base + i * kSize), Load<T>(source + i * kSize)));
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    Store(base + i * stride, combine(Load<T>(base + i * stride), Load<T>(source + i * kSize)));
}

// Calls f with what the move does to an element and another one.
template <class T, class F>
void ForAction(const IndexedMove& move, const F& f) {
  switch (move.action) {
    case IndexedAction::kAdd:
      if (move.is_scaled) {
        const T scale = Load<T>(reinterpret_cast<const char*>(move.scale));
        return f([scale](T a, T b) { return Added(a, Multiplied(scale, b)); });
      }
      return f([](T a, T b) { return Added(a, b); });
    case IndexedAction::kMultiply:
      return f([](T a, T b) { return Multiplied(a, b); });
    case IndexedAction::kMaximum:
      return f([](T a, T b) { return Larger(a, b); });
    default:
      return f([](T a, T b) { return Smaller(a, b); });
  }
}

// Calls f with an element of the dtype.
template <class F>
void ForDtype(aclDataType dtype, const F& f) {
  switch (dtype) {
    case ACL_FLOAT:
      return f(float{});
    case ACL_DOUBLE:
      return f(double{});
    case ACL_INT8:
      return f(int8_t{});
    case ACL_UINT8:
      return f(uint8_t{});
    case ACL_INT16:
      return f(int16_t{});
    case ACL_INT32:
      return f(int32_t{});
    case ACL_INT64:
      return f(int64_t{});
    case ACL_BOOL:
      return f(Truth{});
    case ACL_COMPLEX64:
      return f(Complex<float>{});
    default:
      return f(Complex<double>{});
  }
}

// The elements at as many places as fill 64 bits.
template <class T>
uint64_t TogetherAt(const char* base, const int64_t* offset) {
  uint64_t together = 0;
  for (size_t k = 0; k < sizeof together / sizeof(T); ++k)
    together |= uint64_t{Load<T>(base + offset[k])} << (8 * sizeof(T) * k % 64);
  return together;
}

// Single elements between places of a line and places of the indexed side.
template <class T, bool kSkips>
void TakeAt(const char* base, const int64_t* offset, char* to, int64_t stride, int64_t n) {
  int64_t i = 0;
  // Stores are what it waits for: as few as there may be.
  if constexpr (!kSkips && sizeof(T) < sizeof(uint64_t)) {
    if (stride == static_cast<int64_t>(sizeof(T))) {
      constexpr int64_t kTogether = sizeof(uint64_t) / sizeof(T);
      for (; i + kTogether <= n; i += kTogether) Store(to + i * stride, TogetherAt<T>(base, offset + i));
    }
  }
#pragma GCC unroll 4
  for (; i < n; ++i) {
    const int64_t at = offset[i];
    Store(to + i * stride, kSkips && at == kBad ? T{} : Load<T>(base + at));
  }
}
template <class T, bool kSkips>
void PutAt(char* base, const int64_t* offset, const char* from, int64_t stride, int64_t n) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = offset[i];
    if (!kSkips || at != kBad) Store(base + at, Load<T>(from + i * stride));
  }
}

template <class F>
void ForSize(int32_t size, const F& f) {
  switch (size) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    case 8:
      return f(uint64_t{});
    default:
      return f(Element16{});
  }
}

// ---- the loop ----

// How far ahead rows at places that indices name are asked for, in bytes, at least one; and how much of a row.
constexpr int64_t kRowsAhead = 8192;
constexpr int64_t kRowBeginning = 512;
// Indices name a line's places in no order, so that no processor sees that the next line follows. It is asked for, if it is of at most so
// many bytes, so many times what is wanted of it, where all of them are more than a cache has.
constexpr int64_t kMostLineAhead = 32768;
constexpr int64_t kMostUnwanted = 4;
constexpr int64_t kInCache = 1 << 20;

class Loop {
 public:
  Loop(const IndexedMove& move, const JobContext& context, IndexFault& fault)
      : move_(move),
        plain_(move.plain.Address(context)),
        indexed_(move.indexed.Address(context)),
        fault_(fault) {
    for (int k = 0; k < move.index_count; ++k) {
      index_[k] = Place{move.index[k].operand, move.index[k].offset}.Address(context);
    }
    // At most two dims on which no index depends are a row, if need be of one element; the dim around it is the line.
    while (trailing_ < 2 && trailing_ < move.rank && !DependsOn(move.rank - 1 - trailing_)) ++trailing_;
    line_ = move.rank - 1 - trailing_;
    streams_ = trailing_ > 0 && (move.action == IndexedAction::kTake || move.action == IndexedAction::kPut) &&
               2 * move.count * move.size > LastLevelCacheBytes();
    if (trailing_ > 0 || line_ < 1 || move_.index_count != 1 || move_.indexed_stride[line_] != 0) return;
    const IndexOperand& one = move_.index[0];
    if (one.bound == IndexedMove::kPlaces || one.step <= 0 || one.bound > kMostLineAhead / one.step) return;
    const int64_t bytes = one.bound * one.step;
    if (bytes <= kMostUnwanted * move_.extent[line_] * move_.size && move_.count * move_.size > kInCache)
      next_line_bytes_ = bytes;
  }

  bool DependsOn(int dim) const {
    for (int k = 0; k < move_.index_count; ++k) {
      if (move_.index[k].stride[dim] != 0) return true;
    }
    return false;
  }

  // The elements whose place on dim `cut` is in [low, high), in order.
  void Run(int cut, int64_t low, int64_t high) const {
    RunLines(cut, low, high);
    if (streams_) hwy::FlushStream();
  }

  // Only targets whose first index is in [low, high) are written.
  void LimitTargets(int64_t low, int64_t high) {
    low_ = low;
    high_ = high;
  }

 private:
  void RunLines(int cut, int64_t low, int64_t high) const {
    if (!RepeatsOffsets()) {
      return ForEachLine(cut, low, high,
                         [this](char* plain, char* indexed, const char* const* index, int64_t position,
                                int64_t weight, const int64_t* extent) {
                           if (trailing_ > 0) {
                             Rows(plain, indexed, index, position, weight, extent);
                           } else {
                             Line(plain, indexed, index, position, extent[line_]);
                           }
                         });
    }
    const int64_t n = cut == line_ ? high - low : move_.extent[line_];
    alignas(64) int64_t offset[kRepeatedElements];
    bool is_first = true;
    bool is_good = true;
    ForEachLine(
        cut, low, high,
        [&](char* plain, char* indexed, const char* const* index, int64_t position, int64_t, const int64_t*) {
          for (int64_t i = 0; is_first && i < n; i += kTileElements)
            is_good = Offsets(index, i, std::min(kTileElements, n - i), position, 1, offset + i) && is_good;
          is_first = false;
          const int64_t stride = move_.plain_stride[line_];
          for (int64_t i = 0; i < n; i += kTileElements) {
            const int64_t count = std::min(kTileElements, n - i);
            AskForNextLine(indexed, i, count, n);
            if (is_good) {
              Elements<false>(plain + i * stride, stride, indexed, offset + i, count);
            } else {
              Elements<true>(plain + i * stride, stride, indexed, offset + i, count);
            }
          }
        });
  }

  // The share of elements [i, i + count) of n.
  void AskForNextLine(const char* indexed, int64_t i, int64_t count, int64_t n) const {
    if (next_line_bytes_ == 0) return;
    asm volatile("");  // else gcc leaves calls of it out, as if it had no effect
    const char* const next = indexed + move_.indexed_stride[line_ - 1];
    const int64_t end = next_line_bytes_ * (i + count) / n;
    for (int64_t byte = next_line_bytes_ * i / n; byte < end; byte += 64) __builtin_prefetch(next + byte);
  }

  // Whether the places are the same ones in every line.
  bool RepeatsOffsets() const {
    if (trailing_ > 0 || line_ < 1) return false;
    if (move_.extent[line_] > kRepeatedElements) return false;
    for (int dim = 0; dim < line_; ++dim) {
      if (DependsOn(dim)) return false;
    }
    return true;
  }

  template <class F>
  void ForEachLine(int cut, int64_t low, int64_t high, const F& f) const {
    int64_t first[kMaxLoopRank] = {};
    int64_t extent[kMaxLoopRank];
    std::copy(move_.extent, move_.extent + move_.rank, extent);
    first[cut] = low;
    extent[cut] = high - low;
    const int64_t* const plain_stride = move_.plain_stride;
    const int64_t* const indexed_stride = move_.indexed_stride;
    char* plain = plain_;
    char* indexed = indexed_;
    const char* index[kMostIndices];
    int64_t position = 0;  // row-major, of the first element
    int64_t weight[kMaxLoopRank] = {};
    int64_t product = 1;
    for (int dim = move_.rank - 1; dim >= 0; --dim) {
      weight[dim] = product;
      product *= move_.extent[dim];
    }
    std::copy(index_, index_ + move_.index_count, index);
    for (int dim = 0; dim < move_.rank; ++dim) {
      plain += first[dim] * plain_stride[dim];
      indexed += first[dim] * indexed_stride[dim];
      position += first[dim] * weight[dim];
      for (int k = 0; k < move_.index_count; ++k) index[k] += first[dim] * move_.index[k].stride[dim];
    }
    int64_t at[kMaxLoopRank] = {};
    for (;;) {
      f(plain, indexed, index, position, line_ < 0 ? 1 : weight[line_], extent);
      int dim = line_ - 1;
      for (; dim >= 0; --dim) {
        plain += plain_stride[dim];
        indexed += indexed_stride[dim];
        position += weight[dim];
        for (int k = 0; k < move_.index_count; ++k) index[k] += move_.index[k].stride[dim];
        if (++at[dim] < extent[dim]) break;
        at[dim] = 0;
        plain -= extent[dim] * plain_stride[dim];
        indexed -= extent[dim] * indexed_stride[dim];
        position -= extent[dim] * weight[dim];
        for (int k = 0; k < move_.index_count; ++k) index[k] -= extent[dim] * move_.index[k].stride[dim];
      }
      if (dim < 0) return;
    }
  }

  // Where an index leads, in bytes; kBad when it leads nowhere, or to targets of others.
  int64_t OffsetOf(int k, const char* address, int64_t position) const {
    const IndexOperand& one = move_.index[k];
    int64_t value = one.is_wide ? Load<int64_t>(address) : Load<int32_t>(address);
    if (value == move_.ignored && value != IndexedMove::kNoneIgnored) return kBad;
    if (one.bound == IndexedMove::kPlaces) return value == IndexedMove::kNoPlace ? kBad : value;
    if (one.wraps && value < 0) value += one.bound;
    if (static_cast<uint64_t>(value) >= static_cast<uint64_t>(one.bound)) {
      fault_.Note(position);
      return kBad;
    }
    if (k == 0 && (value < low_ || value >= high_)) return kBad;
    return value * one.step;
  }

  // The offsets of elements [i, i + n) of a line, at most a tile's: the sums of what their indices lead. Every index is looked at, so
  // that the first bad one is found. Element e is at position + e * weight. Whether none of them is kBad.
  bool Offsets(const char* const* index, int64_t i, int64_t n, int64_t position, int64_t weight,
               int64_t* offset) const {
    if (FollowAll(index, i, n, offset)) {
      if (!IsLimited()) return true;
      const int64_t step = move_.index[0].step;
      const auto size = static_cast<uint64_t>((high_ - low_) * step);
      for (int64_t e = 0; e < n; ++e) {
        const bool is_own = static_cast<uint64_t>(offset[e] - low_ * step) < size;
        offset[e] = is_own ? offset[e] : kBad;
      }
      return false;
    }
    const int64_t along = line_ < 0 ? 0 : move_.indexed_stride[line_];
    const IndexOperand& first = move_.index[0];
    if (first.bound == IndexedMove::kPlaces && move_.index_count == 1 && along == 0 && line_ >= 0 &&
        first.stride[line_] == int64_t{sizeof(int64_t)}) {
      std::memcpy(offset, index[0] + i * int64_t{sizeof(int64_t)}, static_cast<size_t>(n) * sizeof(int64_t));
      return false;
    }
    for (int64_t e = 0; e < n; ++e) {
      int64_t sum = (i + e) * along;
      for (int k = 0; k < move_.index_count; ++k) {
        const int64_t stride = line_ < 0 ? 0 : move_.index[k].stride[line_];
        const int64_t leads = OffsetOf(k, index[k] + (i + e) * stride, position + (i + e) * weight);
        sum = sum == kBad || leads == kBad ? kBad : sum + leads;
      }
      offset[e] = sum;
    }
    return false;
  }

  // False where an index leads nowhere, or may.
  bool FollowAll(const char* const* index, int64_t i, int64_t n, int64_t* offset) const {
    if (move_.ignored != IndexedMove::kNoneIgnored) return false;
    if (IsLimited() && !CanLimitOffsets()) return false;
    for (int k = 0; k < move_.index_count; ++k) {
      const IndexOperand& one = move_.index[k];
      if (one.bound == IndexedMove::kPlaces) return false;
      const int64_t size = one.is_wide ? int64_t{sizeof(int64_t)} : int64_t{sizeof(int32_t)};
      const int64_t stride = line_ < 0 ? size : one.stride[line_];
      const char* dense = index[k] + i * stride;
      alignas(64) char gathered[kTileElements * int64_t{sizeof(int64_t)}];
      if (stride != size) {
        CopyBlock(dense, {0, stride}, gathered, {0, size}, 1, n, static_cast<int32_t>(size), false);
        dense = gathered;
      }
      const int64_t along = k > 0 || line_ < 0 ? 0 : move_.indexed_stride[line_];
      const IndexRun run{one.wraps ? one.bound : 0, one.bound, one.step, i * along, along};
      if (!one.follow(dense, static_cast<size_t>(n), run, k > 0, offset)) return false;
    }
    return true;
  }

  // Whether the offsets alone tell which targets they are of.
  bool CanLimitOffsets() const {
    const IndexOperand& one = move_.index[0];
    return move_.index_count == 1 && one.step > 0 && (line_ < 0 || move_.indexed_stride[line_] == 0);
  }

  bool IsLimited() const { return low_ != std::numeric_limits<int64_t>::min(); }

  static bool AreWholeLines(const char* address, int64_t bytes) {
    return (reinterpret_cast<uintptr_t>(address) | static_cast<uintptr_t>(bytes)) % 64 == 0;
  }

  // The rows of a line, each at one place that the indices name.
  void Rows(char* plain, char* indexed, const char* const* index, int64_t position, int64_t weight,
            const int64_t* extent) const {
    const int last = move_.rank - 1;
    const int64_t columns = extent[last];
    const int64_t rows = trailing_ > 1 ? extent[last - 1] : 1;
    const BlockSteps plain_steps{trailing_ > 1 ? move_.plain_stride[last - 1] : 0, move_.plain_stride[last]};
    const BlockSteps indexed_steps{trailing_ > 1 ? move_.indexed_stride[last - 1] : 0,
                                   move_.indexed_stride[last]};
    const int64_t count = line_ < 0 ? 1 : extent[line_];
    const int64_t plain_step = line_ < 0 ? 0 : move_.plain_stride[line_];
    const int64_t row_bytes = columns * move_.size;
    const bool takes = move_.action == IndexedAction::kTake;
    const bool streams =
        streams_ && rows == 1 && plain_steps.column == move_.size && indexed_steps.column == move_.size;
    const bool asks = !streams && indexed_steps.column == move_.size && count > 1;
    const int64_t ahead = std::max<int64_t>(1, kRowsAhead / row_bytes);
    int64_t offset[kTileElements];
    for (int64_t i = 0; i < count; i += kTileElements) {
      const int64_t n = std::min(kTileElements, count - i);
      Offsets(index, i, n, position, weight, offset);
      for (int64_t e = 0; e < n; ++e) {
        if (asks && e + ahead < n && offset[e + ahead] != kBad) {
          const char* const next = indexed + offset[e + ahead];
          for (int64_t byte = 0; byte < std::min(row_bytes, kRowBeginning); byte += 64)
            __builtin_prefetch(next + byte);
        }
        char* const here = plain + (i + e) * plain_step;
        const int64_t at = offset[e];
        if (streams && at != kBad && AreWholeLines(takes ? here : indexed + at, row_bytes)) {
          const int64_t later = e + ahead < n && offset[e + ahead] != kBad ? e + ahead : e;
          if (takes) {
            StreamRow(indexed + at, here, row_bytes, indexed + offset[later]);
          } else {
            StreamRow(here, indexed + at, row_bytes, here + (later - e) * plain_step);
          }
          continue;
        }
        if (at == kBad) {
          if (takes) {
            const char zero[16] = {};
            CopyBlock(zero, {0, 0}, here, plain_steps, rows, columns, move_.size, false);
          }
        } else if (takes) {
          CopyBlock(indexed + at, indexed_steps, here, plain_steps, rows, columns, move_.size, false);
        } else if (move_.action == IndexedAction::kPut) {
          CopyBlock(here, plain_steps, indexed + at, indexed_steps, rows, columns, move_.size, false);
        } else {
          for (int64_t row = 0; row < rows; ++row) {
            ComputeRow(here + row * plain_steps.row, plain_steps.column,
                       indexed + at + row * indexed_steps.row, indexed_steps.column, columns);
          }
        }
      }
    }
  }

  // Elements of the plain side, dense and of the dtype that is computed in.
  const char* Tile(const char* plain, int64_t stride, int64_t n, char* gathered, char* converted) const {
    const Conversion& conversion = move_.conversion;
    const int32_t size = conversion.from_size;
    if (stride != size) {
      CopyBlock(plain, {0, stride}, gathered, {0, size}, 1, n, size, false);
      plain = gathered;
    }
    if (conversion.KeepsBytes()) return plain;
    conversion.Run(plain, converted, static_cast<size_t>(n), false);
    return converted;
  }

  void ComputeRow(const char* plain, int64_t plain_stride, char* indexed, int64_t indexed_stride,
                  int64_t n) const {
    alignas(64) char gathered[kTileElements * 16];
    alignas(64) char converted[kTileElements * 16];
    for (int64_t i = 0; i < n; i += kTileElements) {
      const int64_t count = std::min(kTileElements, n - i);
      const char* const source = Tile(plain + i * plain_stride, plain_stride, count, gathered, converted);
      char* const target = indexed + i * indexed_stride;
      ForDtype(move_.dtype, [&](auto element) {
        using T = decltype(element);
        ForAction<T>(move_, [&](const auto& combine) {
          CombineRow<T>(target, source, count, indexed_stride, combine);
        });
      });
    }
  }

  // A line on which every element has indices of its own.
  void Line(char* plain, char* indexed, const char* const* index, int64_t position, int64_t n) const {
    alignas(64) int64_t offset[kTileElements];
    const int64_t stride = move_.plain_stride[line_];
    for (int64_t i = 0; i < n; i += kTileElements) {
      const int64_t count = std::min(kTileElements, n - i);
      AskForNextLine(indexed, i, count, n);
      if (Offsets(index, i, count, position, 1, offset)) {
        Elements<false>(plain + i * stride, stride, indexed, offset, count);
      } else {
        Elements<true>(plain + i * stride, stride, indexed, offset, count);
      }
    }
  }

  // At most a tile's, but where they are taken.
  template <bool kSkips>
  void Elements(char* plain, int64_t stride, char* indexed, const int64_t* offset, int64_t n) const {
    if (move_.action == IndexedAction::kTake) {
      return ForSize(move_.size, [&](auto element) {
        TakeAt<decltype(element), kSkips>(indexed, offset, plain, stride, n);
      });
    }
    if (move_.action == IndexedAction::kPut) {
      return ForSize(move_.size, [&](auto element) {
        PutAt<decltype(element), kSkips>(indexed, offset, plain, stride, n);
      });
    }
    Combine<kSkips>(plain, stride, indexed, offset, n);
  }

  template <bool kSkips>
  [[gnu::noinline]] void Combine(const char* plain, int64_t stride, char* indexed, const int64_t* offset,
                                 int64_t n) const {
    alignas(64) char gathered[kTileElements * 16];
    alignas(64) char converted[kTileElements * 16];
    const char* source = plain;
    if (!move_.conversion.KeepsBytes()) {
      source = Tile(plain, stride, n, gathered, converted);
      stride = move_.size;
    }
    alignas(64) char packed[kSkips ? kTileElements * 16 : 1];
    int64_t kept[kSkips ? kTileElements : 1];
    ForDtype(move_.dtype, [&](auto element) {
      using T = decltype(element);
      if constexpr (kSkips) {
        n = LeaveOut<T>(source, stride, n, offset, packed, kept);
        source = packed;
        stride = static_cast<int64_t>(sizeof(T));
        offset = kept;
      }
      ForAction<T>(move_,
                   [&](const auto& combine) { CombineAt<T>(indexed, source, stride, n, offset, combine); });
    });
  }

  const IndexedMove& move_;
  char* const plain_;
  char* const indexed_;
  const char* index_[kMostIndices];
  IndexFault& fault_;
  int trailing_ = 0;
  int line_;              // -1: all is one row
  bool streams_ = false;  // rows are written past the caches, since both sides together do not fit them
  int64_t next_line_bytes_ = 0;  // of the indexed side, if they are asked for
  int64_t low_ = std::numeric_limits<int64_t>::min();
  int64_t high_ = std::numeric_limits<int64_t>::max();
};

// The rows that a line of indices names, by target: those of target t are order[starts[t]] to order[starts[t + 1]] - 1, in the order of
// the line.
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
    // What is counted becomes where the target's rows end; filled from behind, it ends up where they begin.
    for (int64_t t = 1; t <= bound; ++t) starts_[t] += starts_[t - 1];
    for (int64_t e = count - 1; e >= 0; --e) {
      if (const int64_t target = TargetOf(e); target >= 0)
        order_[--starts_[target]] = static_cast<int32_t>(e);
    }
  }

  const int32_t* begin(int64_t target) const { return order_ + starts_[target]; }
  const int32_t* last() const { return order_ + starts_[move_.index[0].bound]; }
  const int32_t* end(int64_t target) const { return order_ + starts_[target + 1]; }

 private:
  // -1: none.
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

// Dense elements of another type, from or to places `stride` bytes apart.
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

void Report(const IndexedMove& move, const JobContext& context, int64_t position);

void SumRows(const Step& step, const JobContext& context) {
  const IndexedMove& move = step.indexed;
  const IndexOperand& index = move.index[0];
  const int last = move.rank - 1;
  const int line = move.rank - 2;
  IndexFault fault;
  const char* const index_base = static_cast<const char*>(
      index.operand == Place::kWorkspace ? context.workspace : context.addresses[index.operand]);
  const RowsByTarget rows(move, index_base + index.offset,
                          reinterpret_cast<int32_t*>(step.order.Address(context)), fault);
  // A block: some targets, a tile of columns, one place on the dims around.
  const int64_t columns = move.extent[last];
  const int64_t tiles = (columns + kTileElements - 1) / kTileElements;
  int64_t around = 1;
  for (int dim = 0; dim < line; ++dim) around *= move.extent[dim];
  const int64_t ranges = std::clamp<int64_t>(move.count * move.size / kWorthThreads / tiles / around, 1,
                                             std::min<int64_t>(index.bound, int64_t{8} * move.threads));
  const int64_t targets = (index.bound + ranges - 1) / ranges;
  ForEachBlock(ranges * tiles * around, move.threads, [&](int64_t block) {
    const DefaultFloatEnvironment environment;
    const char* plain = move.plain.Address(context);
    char* indexed = move.indexed.Address(context);
    int64_t rest = block / (ranges * tiles);
    for (int dim = line - 1; dim >= 0; --dim) {
      plain += rest % move.extent[dim] * move.plain_stride[dim];
      indexed += rest % move.extent[dim] * move.indexed_stride[dim];
      rest /= move.extent[dim];
    }
    const int64_t first = block / ranges % tiles * kTileElements;
    const int64_t n = std::min(kTileElements, columns - first);
    plain += first * move.plain_stride[last];
    indexed += first * move.indexed_stride[last];
    const int64_t ahead = std::max<int64_t>(1, kRowsAhead / 4 / (n * move.conversion.from_size));
    alignas(64) float sums[kTileElements];
    alignas(64) float values[kTileElements];
    const int64_t begin = block % ranges * targets;
    for (int64_t t = begin; t < std::min(index.bound, begin + targets); ++t) {
      if (rows.begin(t) == rows.end(t)) continue;
      char* const target = indexed + t * index.step;
      ReadAs(step.widened, target, move.indexed_stride[last], sums, n);
      for (const int32_t* row = rows.begin(t); row < rows.end(t); ++row) {
        // One of the next, which may be anywhere: of this target or of another.
        const char* const next =
            plain + (row + ahead < rows.last() ? row[ahead] : *row) * move.plain_stride[line];
        for (int64_t k = 0; k < n * move.conversion.from_size; k += 64) __builtin_prefetch(next + k);
        ReadAs(move.conversion, plain + *row * move.plain_stride[line], move.plain_stride[last], values, n);
        ForAction<float>(move, [&](const auto& combine) {
          for (int64_t i = 0; i < n; ++i) sums[i] = combine(sums[i], values[i]);
        });
      }
      WriteAs(step.rounded, sums, target, move.indexed_stride[last], n);
    }
  });
  const int64_t position = fault.position.load(std::memory_order_relaxed);
  if (move.raises && position != std::numeric_limits<int64_t>::max()) Report(move, context, position);
}

// Says what the first bad index was.
void Report(const IndexedMove& move, const JobContext& context, int64_t position) {
  int64_t place[kMaxLoopRank];
  int64_t rest = position;
  for (int dim = move.rank - 1; dim >= 0; --dim) {
    place[dim] = rest % move.extent[dim];
    rest /= move.extent[dim];
  }
  for (int k = 0; k < move.index_count; ++k) {
    const IndexOperand& one = move.index[k];
    const char* address = Place{one.operand, one.offset}.Address(context);
    int64_t own = 0;  // among the index tensor's elements, in row-major order
    for (int dim = 0; dim < move.rank; ++dim) {
      address += place[dim] * one.stride[dim];
      if ((one.repeated >> dim & 1) == 0) own = own * move.extent[dim] + place[dim];
    }
    if (move.are_columns) own = own * move.index_count + k;
    const int64_t value = one.is_wide ? Load<int64_t>(address) : Load<int32_t>(address);
    const int64_t low = one.wraps ? -one.bound : 0;
    if (one.bound == IndexedMove::kPlaces) continue;
    if (value >= low && value < one.bound) continue;
    Text message(context.api, ": ", one.name);
    if (one.entry >= 0) message.Add('[').Add(one.entry).Add(']');
    message.Add(" has the value ").Add(value).Add(" at element ").Add(own).Add(", accepted: ");
    message.Add(low).Add(" to ").Add(one.bound - 1).Add(".");
    return context.Fail(ACL_ERROR_RT_AICORE_EXCEPTION, message);
  }
}

template <class T>
T Divided(T sum, int64_t count) {
  if constexpr (std::is_integral_v<T>) {
    const int64_t quotient = sum / count;  // toward zero; the mean is rounded down
    return static_cast<T>(sum < 0 && quotient * count != sum ? quotient - 1 : quotient);
  } else {
    return sum / static_cast<T>(count);
  }
}
template <class T>
Complex<T> Divided(Complex<T> sum, int64_t count) {
  return {Divided(sum.real, count), Divided(sum.imaginary, count)};
}

// Rows, each divided by how often its index was there.
template <class T>
void DivideRowsOf(const Step& step, const JobContext& context) {
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

void DivideRows(const Step& step, const JobContext& context) {
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

constexpr int64_t kMaskBlock = 65536;

int64_t CountTrue(const unsigned char* mask, int64_t begin, int64_t end) {
  // In sums of bytes, which vectors of every machine have 16 of, for as long as they are large enough.
  constexpr int64_t kLanes = 64;
  constexpr int64_t kMost = 255;
  int64_t count = 0;
  int64_t i = begin;
  while (i + kLanes <= end) {
    const int64_t rows = std::min(kMost, (end - i) / kLanes);
    uint8_t sums[kLanes] = {};
    for (int64_t row = 0; row < rows; ++row, i += kLanes) {
      for (int64_t lane = 0; lane < kLanes; ++lane)
        sums[lane] = static_cast<uint8_t>(sums[lane] + (mask[i + lane] != 0 ? 1 : 0));
    }
    for (const uint8_t sum : sums) count += sum;
  }
  for (; i < end; ++i) count += mask[i] != 0 ? 1 : 0;
  return count;
}

// Calls put(k, at, j) for elements [begin, end) of a mask until k, which is `first` for the first one and grows with each that is
// true, is `limit`; at are the element's coordinates but for the last, which is j. What is written for one that is not true is
// written over: whether one is true is nothing that a processor could guess.
template <class Put>
void ForEachTrue(const Step& step, const unsigned char* mask, int64_t begin, int64_t end, int64_t first,
                 int64_t limit, const Put& put) {
  if (begin >= end) return;
  const int last = step.rank - 1;
  const int64_t length = last < 0 ? 1 : step.extent[last];
  int64_t at[kMaxLoopRank] = {};
  int64_t rest = begin / length;
  int64_t j = begin % length;
  for (int dim = last - 1; dim >= 0; --dim) {
    at[dim] = rest % step.extent[dim];
    rest /= step.extent[dim];
  }
  int64_t k = first;
  for (int64_t i = begin; i < end && k < limit; j = 0) {
    const int64_t stop = std::min(length, j + end - i);
    for (; j < stop && k < limit; ++i, ++j) {
      if (j + 8 <= stop && Load<uint64_t>(reinterpret_cast<const char*>(mask + i)) == 0) {
        i += 7;
        j += 7;
        continue;
      }
      put(k, at, j);
      k += mask[i] != 0 ? 1 : 0;
    }
    for (int dim = last - 1; dim >= 0 && ++at[dim] == step.extent[dim]; --dim) at[dim] = 0;
  }
}

// Where a dense mask is true: for each place, how far it leads, in the order of the mask. Their number was known to the caller, who
// made the output for them; what is missing leads nowhere, and that the number is another one fails the stream.
void FindTrue(const Step& step, const JobContext& context) {
  const auto* const mask = reinterpret_cast<const unsigned char*>(step.source.Address(context));
  auto* const places = reinterpret_cast<int64_t*>(step.destination.Address(context));
  const int64_t found = CountTrue(mask, 0, step.rows);
  const int last = step.rank - 1;
  const int64_t along = last < 0 ? 0 : step.stride[last];
  ForEachTrue(step, mask, 0, step.rows, 0, std::min(found, step.columns),
              [&](int64_t k, const int64_t* at, int64_t j) {
                int64_t place = j * along;
                for (int dim = 0; dim < last; ++dim) place += at[dim] * step.stride[dim];
                places[k] = place;
              });
  for (int64_t i = found; i < step.columns; ++i) places[i] = IndexedMove::kNoPlace;
  if (found == step.columns || step.entry < 0) return;
  context.Fail(ACL_ERROR_RT_AICORE_EXCEPTION, Text(context.api, ": indices[", step.entry, "] is true at ",
                                                   found, " places, accepted: ", step.columns,
                                                   ", as the shape of the elements that are named says."));
}

// The first for 1, the second for 0.
template <class T>
T Either(int64_t is_first, T first, T second) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(second ^ ((first ^ second) & static_cast<T>(-is_first)));
  } else {
    return is_first != 0 ? first : second;
  }
}

// What a mask chooses, in its order: blocks of it are counted, then each reads or writes behind those before it.
void WriteChosen(const Step& step, const JobContext& context) {
  const auto* const mask = reinterpret_cast<const unsigned char*>(step.mask.Address(context));
  auto* const counts = reinterpret_cast<int64_t*>(step.counts.Address(context));
  const int64_t blocks = MaskBlocks(step.rows);
  ForEachBlock(blocks, step.threads, [&](int64_t block) {
    counts[block] = CountTrue(mask, block * kMaskBlock, std::min(step.rows, (block + 1) * kMaskBlock));
  });
  int64_t total = 0;
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t count = counts[block];
    counts[block] = total;
    total += count;
  }
  const int64_t most = std::min(total, step.columns);  // never beyond the output, whatever its shape
  const bool packs = step.kind == Step::Kind::kPack;
  const bool unpacks = step.kind == Step::Kind::kUnpack;
  const char* const source = packs || unpacks ? step.source.Address(context) : nullptr;
  char* const destination = step.destination.Address(context);
  ForEachBlock(blocks, step.threads, [&](int64_t block) {
    const int64_t begin = block * kMaskBlock;
    const int64_t end = std::min(step.rows, begin + kMaskBlock);
    int64_t chosen = counts[block];
    // Up to where the next block writes.
    const int64_t limit = std::min(most, block + 1 < blocks ? counts[block + 1] : total);
    if (packs) {
      const Chosen first = step.pack(mask + begin, source + begin * step.size, end - begin,
                                     destination + chosen * step.size, limit - chosen);
      chosen += first.packed;
      ForSize(step.size, [&](auto element) {
        using T = decltype(element);
        constexpr auto kSize = static_cast<int64_t>(sizeof(T));
        for (int64_t i = begin + first.looked_at; i < end && chosen < limit; ++i) {
          Store(destination + chosen * kSize, Load<T>(source + i * kSize));
          chosen += mask[i] != 0 ? 1 : 0;
        }
      });
      return;
    }
    if (unpacks) {
      const unsigned char* const mask_end = mask + end;
      const Chosen first = step.unpack(mask + begin, source + chosen * step.size, limit - chosen,
                                       destination + begin * step.size, end - begin);
      chosen += first.packed;
      const int64_t rest = begin + first.looked_at;
      ForSize(step.size, [&](auto element) {
        using T = decltype(element);
        constexpr auto kSize = static_cast<int64_t>(sizeof(T));
        // Both are read and one is taken by its bits, so that there is nothing to guess; and what is stored might lie anywhere, for
        // all that the compiler knows.
        const unsigned char* is_true = mask + rest;
        const char* given = source + chosen * kSize;
        char* at = destination + rest * kSize;
        for (int64_t left = limit - chosen; is_true != mask_end && left > 0; ++is_true, at += kSize) {
          int64_t takes = *is_true != 0 ? 1 : 0;
          asm("" : "+r"(takes));  // else the compiler branches, and the processor guesses
          Store(at, Either(takes, Load<T>(given), Load<T>(at)));
          given += takes * kSize;
          left -= takes;
        }
      });
      return;
    }
    auto* const places = reinterpret_cast<int64_t*>(destination);
    const int rank = step.rank;
    if (rank == 0) return;
    const auto choose = [&](const auto& put) { ForEachTrue(step, mask, begin, end, chosen, limit, put); };
    if (rank == 1) {
      choose([places](int64_t k, const int64_t*, int64_t j) { places[k] = j; });
    } else if (rank == 2 && !step.is_across) {
      choose([places](int64_t k, const int64_t* at, int64_t j) {
        places[2 * k] = at[0];
        places[2 * k + 1] = j;
      });
    } else {
      const int64_t element = step.is_across ? 1 : rank;
      const int64_t coordinate = step.is_across ? most : 1;
      choose([=](int64_t k, const int64_t* at, int64_t j) {
        for (int dim = 0; dim + 1 < rank; ++dim) places[k * element + dim * coordinate] = at[dim];
        places[k * element + (rank - 1) * coordinate] = j;
      });
    }
  });
  if (unpacks) {
    if (total > step.columns && step.raises) {
      context.Fail(ACL_ERROR_RT_AICORE_EXCEPTION,
                   Text(context.api, ": ", step.name, " has ", step.columns, " elements, accepted: at least ",
                        total, ", as mask is true at so many places."));
    }
    return;
  }
  aclTensor& result = *context.result;
  if (packs) {
    result.view = Shape{most};
  } else {
    result.view = step.is_across ? Shape{step.rank, most} : Shape{most, step.rank};
  }
  result.storage = result.view;
  result.strides = RowMajorStrides(result.view);
  result.Describe();
}

// An operator that is given one tensor as its input and its output.
bool IsCopyOfItself(const Step& step, const JobContext& context) {
  const LoopPlan& plan = step.move.plan;
  const OperandLoop& source = plan.operand[kMoveSource];
  const OperandLoop& destination = plan.operand[kMoveDestination];
  return step.source.Address(context) == step.destination.Address(context) &&
         source.offset == destination.offset && step.move.conversion.KeepsBytes() &&
         std::equal(source.stride, source.stride + plan.rank, destination.stride);
}

bool CanMerge(const IndexedMove& move, int dim) {
  const auto continues = [&](const int64_t* stride) {
    int64_t step = 0;
    return !__builtin_mul_overflow(stride[dim + 1], move.extent[dim + 1], &step) && step == stride[dim];
  };
  if (!continues(move.plain_stride) || !continues(move.indexed_stride)) return false;
  for (int k = 0; k < move.index_count; ++k) {
    const IndexOperand& one = move.index[k];
    if (!continues(one.stride) || (one.repeated >> dim & 1) != (one.repeated >> (dim + 1) & 1)) return false;
  }
  return true;
}

}  // namespace

bool IndexedMove::Touches(int operand) const noexcept {
  if (plain.operand == operand || indexed.operand == operand) return true;
  return std::any_of(index, index + index_count,
                     [&](const IndexOperand& one) { return one.operand == operand; });
}

void IndexedMove::Run(const JobContext& context) const noexcept {
  const DefaultFloatEnvironment environment;
  IndexFault fault;
  if (count > 0) {
    const Loop whole(*this, context, fault);
    // Taking may be cut along any dim; writing along one on which no two elements meet, so that what a target gets comes in order.
    int cut = -1;
    for (int dim = 0; dim < rank; ++dim) {
      const bool is_safe = action == IndexedAction::kTake || indexed_stride[dim] != 0;
      if (is_safe && (cut < 0 || extent[dim] > extent[cut])) cut = dim;
    }
    const int64_t parts =
        threads > 1 ? std::clamp<int64_t>(count * size / kWorthThreads, 1, int64_t{8} * threads) : 1;
    // Every part of a cut through rows looks at all indices.
    const bool cuts_rows =
        cut >= 0 && action != IndexedAction::kTake && !whole.DependsOn(cut) && cut == rank - 1;
    const int64_t row_bytes = cut >= 0 ? extent[cut] * size : 0;
    const int64_t cut_parts =
        cuts_rows ? std::clamp<int64_t>(row_bytes / kWorthCutting, 1, std::min<int64_t>(parts, threads))
                  : parts;
    const bool is_far = index_count > 0 && index[0].bound != kPlaces && index[0].bound >= threads &&
                        threads >= kThreadsWorthLooking &&
                        std::abs(index[0].step) > kWorthLooking / index[0].bound;
    if (parts > 1 && (cut < 0 || extent[cut] < threads) && is_far) {
      // No such dim is long enough: every thread looks at all indices, and writes the targets of its own.
      ForEachBlock(threads, threads, [&](int64_t part) {
        const DefaultFloatEnvironment of_thread;
        Loop loop(*this, context, fault);
        const int64_t share = (index[0].bound + threads - 1) / threads;
        loop.LimitTargets(part * share, (part + 1) * share);
        loop.Run(0, 0, extent[0]);
      });
    } else if (parts > 1 && cut >= 0) {
      const int64_t share = (extent[cut] + cut_parts - 1) / cut_parts;
      ForEachBlock((extent[cut] + share - 1) / share, threads, [&](int64_t part) {
        const DefaultFloatEnvironment of_thread;
        whole.Run(cut, part * share, std::min(extent[cut], (part + 1) * share));
      });
    } else {
      whole.Run(0, 0, extent[0]);
    }
  }
  const int64_t position = fault.position.load(std::memory_order_relaxed);
  if (raises && position != std::numeric_limits<int64_t>::max()) Report(*this, context, position);
}

bool PlanIndexed(const aclTensor& plain, const aclTensor& indexed, const IndexView* indices, int count,
                 IndexedMove& move) noexcept {
  const int64_t plain_size = StorageBits(plain.dtype) / 8;
  const int64_t size = StorageBits(indexed.dtype) / 8;
  move.size = static_cast<int32_t>(size);
  move.plain.offset = plain.offset * plain_size;
  move.indexed.offset = indexed.offset * size;
  move.index_count = count;
  move.count = 1;
  for (int k = 0; k < count; ++k) {
    IndexOperand& one = move.index[k];
    const int64_t index_size = StorageBits(indices[k].view->dtype) / 8;
    one = {indices[k].name,
           indices[k].operand,
           indices[k].entry,
           indices[k].view->dtype == ACL_INT64,
           indices[k].wraps,
           0,
           indices[k].bound,
           indices[k].step * size,
           indices[k].view->offset * index_size,
           {},
           nullptr};
  }
  int rank = 0;
  for (int dim = 0; dim < plain.view.rank; ++dim) {
    if (plain.view[dim] == 1) continue;
    move.extent[rank] = plain.view[dim];
    move.count *= plain.view[dim];
    move.plain_stride[rank] = plain.strides[dim] * plain_size;
    move.indexed_stride[rank] = indexed.strides[dim] * size;
    for (int k = 0; k < count; ++k) {
      IndexOperand& one = move.index[k];
      one.stride[rank] = indices[k].view->strides[dim] * (StorageBits(indices[k].view->dtype) / 8);
      one.repeated = (one.repeated & DimBits(0, rank)) | (indices[k].repeated >> dim & 1) << rank;
    }
    ++rank;
    move.rank = rank;
    if (rank > 1 && CanMerge(move, rank - 2)) {
      move.extent[rank - 2] *= move.extent[rank - 1];
      move.plain_stride[rank - 2] = move.plain_stride[rank - 1];
      move.indexed_stride[rank - 2] = move.indexed_stride[rank - 1];
      for (int k = 0; k < count; ++k) move.index[k].stride[rank - 2] = move.index[k].stride[rank - 1];
      --rank;
    }
    if (rank > kMaxLoopRank) return false;
  }
  if (rank == 0) {
    rank = 1;
    move.extent[0] = 1;
    move.plain_stride[0] = move.indexed_stride[0] = 0;
    for (int k = 0; k < count; ++k) move.index[k].stride[0] = 0;
  }
  move.rank = rank;
  return true;
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

void StepsJob::Run(const JobContext& context) const noexcept {
  const auto* const steps = reinterpret_cast<const Step*>(context.memory + kSharedBytes);
  for (int i = 0; i < count; ++i) {
    const Step& step = steps[i];
    switch (step.kind) {
      case Step::Kind::kMove:
        if (!IsCopyOfItself(step, context))
          step.move.Run(step.source.Address(context), step.destination.Address(context));
        break;
      case Step::Kind::kIndexed:
        step.indexed.Run(context);
        break;
      case Step::Kind::kSumRows:
        SumRows(step, context);
        break;
      case Step::Kind::kDivideRows:
        DivideRows(step, context);
        break;
      case Step::Kind::kFindTrue:
        FindTrue(step, context);
        break;
      case Step::Kind::kPack:
      case Step::Kind::kCoordinates:
      case Step::Kind::kUnpack:
        WriteChosen(step, context);
        break;
      case Step::Kind::kSpread:
        step.spread.Run(context);
        break;
      case Step::Kind::kUnique:
        step.unique.Run(context);
        break;
      case Step::Kind::kSortRows:
        step.rows_to_sort.Run(context);
        break;
      case Step::Kind::kSearch:
        step.search.Run(context);
        break;
      case Step::Kind::kHistogram:
        step.histogram.Run(context);
        break;
    }
  }
}

int64_t MaskBlocks(int64_t bytes) noexcept { return (bytes + kMaskBlock - 1) / kMaskBlock; }

bool CanCompute(aclDataType dtype) noexcept {
  switch (dtype) {
    case ACL_FLOAT:
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_DOUBLE:
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_INT16:
    case ACL_INT32:
    case ACL_INT64:
    case ACL_BOOL:
    case ACL_COMPLEX64:
    case ACL_COMPLEX128:
      return true;
    default:
      return false;
  }
}

}  // namespace portacl::engine
