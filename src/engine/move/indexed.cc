// Moves with indices (see indexed.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/move/indexed.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "acl/data_type.h"
#include "acl/float_environment.h"
#include "engine/move/block.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int64_t kTileElements = 512;
// Below so many bytes a second thread costs more than it gains.
constexpr int64_t kWorthThreads = 65536;

struct Element16 {
  uint64_t part[2];
};

template <class T>
T Load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void Store(char* to, const T& value) {
  std::memcpy(to, &value, sizeof value);
}

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
T Larger(T a, T b) {
  return a != a || !(b <= a) ? (a != a ? a : b) : a;
}
template <class T>
T Smaller(T a, T b) {
  return a != a || !(b >= a) ? (a != a ? a : b) : a;
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

// Combines n dense elements with those at base + offset(i); a negative offset leaves one out.
template <class T, class OffsetOf, class Combine>
void CombineAt(char* base, const char* source, int64_t n, const OffsetOf& offset, const Combine& combine) {
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = offset(i);
    if (at == std::numeric_limits<int64_t>::min()) continue;
    Store(base + at, combine(Load<T>(base + at), Load<T>(source + i * static_cast<int64_t>(sizeof(T)))));
  }
}

template <class T, class OffsetOf>
void ComputeAt(const IndexedMove& move, char* base, const char* source, int64_t n, const OffsetOf& offset) {
  switch (move.action) {
    case IndexedAction::kAdd:
      if (move.is_scaled) {
        const T scale = Load<T>(reinterpret_cast<const char*>(move.scale));
        return CombineAt<T>(base, source, n, offset,
                            [scale](T a, T b) { return Added(a, Multiplied(scale, b)); });
      }
      return CombineAt<T>(base, source, n, offset, [](T a, T b) { return Added(a, b); });
    case IndexedAction::kMultiply:
      return CombineAt<T>(base, source, n, offset, [](T a, T b) { return Multiplied(a, b); });
    case IndexedAction::kMaximum:
      return CombineAt<T>(base, source, n, offset, [](T a, T b) { return Larger(a, b); });
    default:
      return CombineAt<T>(base, source, n, offset, [](T a, T b) { return Smaller(a, b); });
  }
}

template <class OffsetOf>
void Compute(const IndexedMove& move, char* base, const char* source, int64_t n, const OffsetOf& offset) {
  switch (move.dtype) {
    case ACL_FLOAT:
      return ComputeAt<float>(move, base, source, n, offset);
    case ACL_DOUBLE:
      return ComputeAt<double>(move, base, source, n, offset);
    case ACL_INT8:
      return ComputeAt<int8_t>(move, base, source, n, offset);
    case ACL_UINT8:
      return ComputeAt<uint8_t>(move, base, source, n, offset);
    case ACL_INT16:
      return ComputeAt<int16_t>(move, base, source, n, offset);
    case ACL_INT32:
      return ComputeAt<int32_t>(move, base, source, n, offset);
    case ACL_INT64:
      return ComputeAt<int64_t>(move, base, source, n, offset);
    case ACL_BOOL:
      return ComputeAt<Truth>(move, base, source, n, offset);
    case ACL_COMPLEX64:
      return ComputeAt<Complex<float>>(move, base, source, n, offset);
    default:
      return ComputeAt<Complex<double>>(move, base, source, n, offset);
  }
}

// Single elements between places of a line and places of the indexed side.
template <class T>
void TakeAt(const char* base, const int64_t* offset, char* to, int64_t stride, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const T value = offset[i] == std::numeric_limits<int64_t>::min() ? T{} : Load<T>(base + offset[i]);
    Store(to + i * stride, value);
  }
}
template <class T>
void PutAt(char* base, const int64_t* offset, const char* from, int64_t stride, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if (offset[i] != std::numeric_limits<int64_t>::min()) Store(base + offset[i], Load<T>(from + i * stride));
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

constexpr int64_t kBad = std::numeric_limits<int64_t>::min();

class Loop {
 public:
  Loop(const IndexedMove& move, const JobContext& context, IndexFault& fault)
      : move_(move),
        plain_(move.plain.Address(context)),
        indexed_(move.indexed.Address(context)),
        fault_(fault) {
    for (int k = 0; k < move.index_count; ++k) {
      index_[k] = static_cast<const char*>(context.addresses[move.index[k].operand]) + move.index[k].offset;
      if (move.index[k].operand == Place::kWorkspace)
        index_[k] = static_cast<const char*>(context.workspace) + move.index[k].offset;
    }
    int trailing = 0;  // dims on which no index depends
    while (trailing < 2 && trailing < move.rank && !DependsOn(move.rank - 1 - trailing)) ++trailing;
    inner_ = std::max(trailing, 1);
    is_row_ = trailing > 0;
  }

  bool DependsOn(int dim) const {
    for (int k = 0; k < move_.index_count; ++k) {
      if (move_.index[k].stride[dim] != 0) return true;
    }
    return false;
  }

  // The elements whose place on dim `cut` is in [low, high), in order.
  void Run(int cut, int64_t low, int64_t high) const {
    int64_t first[kMaxLoopRank] = {};
    int64_t extent[kMaxLoopRank];
    std::copy(move_.extent, move_.extent + move_.rank, extent);
    first[cut] = low;
    extent[cut] = high - low;
    const int outer = move_.rank - inner_;
    const int64_t* const plain_stride = move_.plain_stride;
    const int64_t* const indexed_stride = move_.indexed_stride;
    char* plain = plain_;
    char* indexed = indexed_;
    const char* index[kMostIndices];
    int64_t position = 0;  // row-major, of the first element
    int64_t weight[kMaxLoopRank];
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
      if (is_row_) {
        Row(plain, indexed, index, position, extent);
      } else {
        Line(plain, indexed, index, position, extent[move_.rank - 1]);
      }
      int dim = outer - 1;
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

  // Only targets whose first index is in [low, high) are written.
  void LimitTargets(int64_t low, int64_t high) {
    low_ = low;
    high_ = high;
  }

 private:
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

  // The sum of the indices' offsets; every one is looked at, so that the first bad one is found.
  int64_t Offset(const char* const* index, int64_t position) const {
    int64_t sum = 0;
    for (int k = 0; k < move_.index_count; ++k) {
      const int64_t offset = OffsetOf(k, index[k], position);
      sum = sum == kBad || offset == kBad ? kBad : sum + offset;
    }
    return sum;
  }

  // One place that the indices name, and all that belongs to it.
  void Row(char* plain, char* indexed, const char* const* index, int64_t position,
           const int64_t* extent) const {
    const int64_t offset = Offset(index, position);
    const int last = move_.rank - 1;
    const int64_t columns = extent[last];
    const int64_t rows = inner_ > 1 ? extent[last - 1] : 1;
    const BlockSteps plain_steps{inner_ > 1 ? move_.plain_stride[last - 1] : 0, move_.plain_stride[last]};
    const BlockSteps indexed_steps{inner_ > 1 ? move_.indexed_stride[last - 1] : 0,
                                   move_.indexed_stride[last]};
    switch (move_.action) {
      case IndexedAction::kTake:
        if (offset != kBad) {
          return CopyBlock(indexed + offset, indexed_steps, plain, plain_steps, rows, columns, move_.size,
                           false);
        } else {
          const char zero[16] = {};
          return CopyBlock(zero, {0, 0}, plain, plain_steps, rows, columns, move_.size, false);
        }
      case IndexedAction::kPut:
        if (offset == kBad) return;
        return CopyBlock(plain, plain_steps, indexed + offset, indexed_steps, rows, columns, move_.size,
                         false);
      default:
        if (offset == kBad) return;
        for (int64_t row = 0; row < rows; ++row) {
          ComputeRow(plain + row * plain_steps.row, plain_steps.column,
                     indexed + offset + row * indexed_steps.row, indexed_steps.column, columns);
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
      if (indexed_stride == move_.size && move_.dtype == ACL_FLOAT) {
        Compute(move_, target, source, count, [](int64_t k) { return k * int64_t{sizeof(float)}; });
      } else {
        Compute(move_, target, source, count, [indexed_stride](int64_t k) { return k * indexed_stride; });
      }
    }
  }

  // A line on which every element has indices of its own.
  void Line(char* plain, char* indexed, const char* const* index, int64_t position, int64_t n) const {
    alignas(64) int64_t offset[kTileElements];
    alignas(64) char gathered[kTileElements * 16];
    alignas(64) char converted[kTileElements * 16];
    const int last = move_.rank - 1;
    const int64_t plain_stride = move_.plain_stride[last];
    for (int64_t i = 0; i < n; i += kTileElements) {
      const int64_t count = std::min(kTileElements, n - i);
      const int64_t begin = i * move_.indexed_stride[last];
      for (int64_t e = 0; e < count; ++e) offset[e] = begin + e * move_.indexed_stride[last];
      for (int k = 0; k < move_.index_count; ++k) {
        const int64_t stride = move_.index[k].stride[last];
        const char* address = index[k] + i * stride;
        for (int64_t e = 0; e < count; ++e, address += stride) {
          const int64_t one = OffsetOf(k, address, position + i + e);
          offset[e] = one == kBad || offset[e] == kBad ? kBad : offset[e] + one;
        }
      }
      char* const place = plain + i * plain_stride;
      if (move_.action == IndexedAction::kTake) {
        ForSize(move_.size, [&](auto element) {
          TakeAt<decltype(element)>(indexed, offset, place, plain_stride, count);
        });
      } else if (move_.action == IndexedAction::kPut) {
        ForSize(move_.size,
                [&](auto element) { PutAt<decltype(element)>(indexed, offset, place, plain_stride, count); });
      } else {
        const char* const source = Tile(place, plain_stride, count, gathered, converted);
        Compute(move_, indexed, source, count, [&offset](int64_t e) { return offset[e]; });
      }
    }
  }

  const IndexedMove& move_;
  char* const plain_;
  char* const indexed_;
  const char* index_[kMostIndices];
  IndexFault& fault_;
  int inner_;
  bool is_row_;
  int64_t low_ = std::numeric_limits<int64_t>::min();
  int64_t high_ = std::numeric_limits<int64_t>::max();
};

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
    const char* const base = static_cast<const char*>(
        one.operand == Place::kWorkspace ? context.workspace : context.addresses[one.operand]);
    const char* address = base + one.offset;
    int64_t own = 0;  // among the index tensor's elements, in row-major order
    for (int dim = 0; dim < move.rank; ++dim) {
      address += place[dim] * one.stride[dim];
      if (one.stride[dim] != 0) own = own * move.extent[dim] + place[dim];
    }
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

// Rows of float32, each divided by how often its index was there.
void DivideRows(const Step& step, const JobContext& context) {
  auto* const sums = reinterpret_cast<float*>(step.destination.Address(context));
  const auto* const counts = reinterpret_cast<const int64_t*>(step.source.Address(context));
  const int64_t together = std::max<int64_t>(1, kWorthThreads / std::max<int64_t>(step.columns, 1));
  ForEachBlock((step.rows + together - 1) / together, step.threads, [&](int64_t part) {
    const DefaultFloatEnvironment environment;
    for (int64_t row = part * together; row < std::min(step.rows, (part + 1) * together); ++row) {
      if (counts[row] < 2) continue;
      const auto divisor = static_cast<float>(counts[row]);
      for (int64_t i = 0; i < step.columns; ++i) sums[row * step.columns + i] /= divisor;
    }
  });
}

// Where a dense mask is true: for each place, how far it leads, in the order of the mask. Their number was known to the caller, who
// made the output for them; what is missing leads nowhere, and that the number is another one fails the stream.
void FindTrue(const Step& step, const JobContext& context) {
  const auto* const mask = reinterpret_cast<const unsigned char*>(step.source.Address(context));
  auto* const places = reinterpret_cast<int64_t*>(step.destination.Address(context));
  int64_t found = 0;
  int64_t at[kMaxLoopRank] = {};
  for (int64_t i = 0; i < step.rows; ++i) {
    if (mask[i] != 0) {
      if (found < step.columns) {
        int64_t place = 0;
        for (int dim = 0; dim < step.rank; ++dim) place += at[dim] * step.stride[dim];
        places[found] = place;
      }
      ++found;
    }
    for (int dim = step.rank - 1; dim >= 0 && ++at[dim] == step.extent[dim]; --dim) at[dim] = 0;
  }
  for (int64_t i = found; i < step.columns; ++i) places[i] = IndexedMove::kNoPlace;
  if (found == step.columns || step.entry < 0) return;
  context.Fail(ACL_ERROR_RT_AICORE_EXCEPTION, Text(context.api, ": indices[", step.entry, "] is true at ",
                                                   found, " places, accepted: ", step.columns,
                                                   ", as the shape of the elements that are named says."));
}

constexpr int64_t kMaskBlock = 65536;

// What a mask chooses, in its order: blocks of it are counted, then each writes behind those before it.
void WriteChosen(const Step& step, const JobContext& context) {
  const auto* const mask = reinterpret_cast<const unsigned char*>(step.mask.Address(context));
  auto* const counts = reinterpret_cast<int64_t*>(step.counts.Address(context));
  const int64_t blocks = MaskBlocks(step.rows);
  ForEachBlock(blocks, step.threads, [&](int64_t block) {
    const int64_t end = std::min(step.rows, (block + 1) * kMaskBlock);
    int64_t count = 0;
    for (int64_t i = block * kMaskBlock; i < end; ++i) count += mask[i] != 0 ? 1 : 0;
    counts[block] = count;
  });
  int64_t total = 0;
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t count = counts[block];
    counts[block] = total;
    total += count;
  }
  const int64_t most = std::min(total, step.columns);  // never beyond the output, whatever its shape
  const bool packs = step.kind == Step::Kind::kPack;
  const char* const source = packs ? step.source.Address(context) : nullptr;
  char* const destination = step.destination.Address(context);
  ForEachBlock(blocks, step.threads, [&](int64_t block) {
    const int64_t begin = block * kMaskBlock;
    const int64_t end = std::min(step.rows, begin + kMaskBlock);
    int64_t chosen = counts[block];
    if (packs) {
      ForSize(step.size, [&](auto element) {
        using T = decltype(element);
        constexpr auto kSize = static_cast<int64_t>(sizeof(T));
        for (int64_t i = begin; i < end && chosen < most; ++i) {
          if (mask[i] != 0) Store(destination + chosen++ * kSize, Load<T>(source + i * kSize));
        }
      });
      return;
    }
    int64_t at[kMaxLoopRank];
    int64_t rest = begin;
    for (int dim = step.rank - 1; dim >= 0; --dim) {
      at[dim] = rest % step.extent[dim];
      rest /= step.extent[dim];
    }
    auto* const places = reinterpret_cast<int64_t*>(destination);
    for (int64_t i = begin; i < end && chosen < most; ++i) {
      if (mask[i] != 0) {
        for (int dim = 0; dim < step.rank; ++dim)
          places[step.is_across ? dim * most + chosen : chosen * step.rank + dim] = at[dim];
        ++chosen;
      }
      for (int dim = step.rank - 1; dim >= 0 && ++at[dim] == step.extent[dim]; --dim) at[dim] = 0;
    }
  });
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
    if (!continues(move.index[k].stride)) return false;
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
    if (parts > 1 && (cut < 0 || extent[cut] < threads) && index_count > 0 && index[0].bound >= threads &&
        index[0].bound != kPlaces) {
      // No such dim is long enough: every thread looks at all indices, and writes the targets of its own.
      ForEachBlock(threads, threads, [&](int64_t part) {
        const DefaultFloatEnvironment of_thread;
        Loop loop(*this, context, fault);
        const int64_t share = (index[0].bound + threads - 1) / threads;
        loop.LimitTargets(part * share, (part + 1) * share);
        loop.Run(0, 0, extent[0]);
      });
    } else if (parts > 1 && cut >= 0) {
      const int64_t share = (extent[cut] + parts - 1) / parts;
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
           indices[k].bound,
           indices[k].step * size,
           indices[k].view->offset * index_size,
           {}};
  }
  int rank = 0;
  for (int dim = 0; dim < plain.view.rank; ++dim) {
    if (plain.view[dim] == 1) continue;
    move.extent[rank] = plain.view[dim];
    move.count *= plain.view[dim];
    move.plain_stride[rank] = plain.strides[dim] * plain_size;
    move.indexed_stride[rank] = indexed.strides[dim] * size;
    for (int k = 0; k < count; ++k)
      move.index[k].stride[rank] = indices[k].view->strides[dim] * (StorageBits(indices[k].view->dtype) / 8);
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
      case Step::Kind::kDivideRows:
        DivideRows(step, context);
        break;
      case Step::Kind::kFindTrue:
        FindTrue(step, context);
        break;
      case Step::Kind::kPack:
      case Step::Kind::kCoordinates:
        WriteChosen(step, context);
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
