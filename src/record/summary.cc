// One pass over blocks that stay in the nearest cache: hashes a block, then summarises its elements, several
// float32 at once.
//
// SPDX-License-Identifier: Apache-2.0
#include "record/summary.h"

#include <algorithm>
#include <bit>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "record/content_hash.h"

namespace portacl::record {
namespace {

constexpr std::size_t kBlock = 8192;  // bytes
constexpr std::size_t kLanes = 8;     // sums that run in parallel

// Vectors that the oldest machine of each architecture has.
using Floats = float __attribute__((vector_size(16)));
using Doubles = double __attribute__((vector_size(16)));
using Int32s = std::int32_t __attribute__((vector_size(16)));
using Int64s = std::int64_t __attribute__((vector_size(16)));
using Bytes = std::uint8_t __attribute__((vector_size(16)));

template <typename Register, typename Number>
Register Load(const Number* from) {
  Register loaded;
  std::memcpy(&loaded, from, sizeof loaded);
  return loaded;
}

template <typename Register, typename Number>
void Store(const Register& stored, Number* to) {
  std::memcpy(to, &stored, sizeof stored);
}

Doubles LowerHalf(const Floats& four) {
#if defined(__SSE2__)
  return _mm_cvtps_pd(four);
#else
  return Doubles{four[0], four[1]};
#endif
}

Doubles UpperHalf(const Floats& four) {
#if defined(__SSE2__)
  return _mm_cvtps_pd(_mm_movehl_ps(four, four));
#else
  return Doubles{four[2], four[3]};
#endif
}

struct Bool {};
struct Half {};
struct Brain {};

// The layout of elements in memory, and the type of computing.
template <typename Element>
struct Form {
  using Stored = Element;
  using Value = Element;
  static Value Read(Stored stored) { return stored; }
};
template <>
struct Form<Bool> {
  using Stored = std::uint8_t;
  using Value = std::uint8_t;
  static Value Read(Stored stored) { return stored != 0; }
};
template <>
struct Form<Brain> {
  using Stored = std::uint16_t;
  using Value = float;
  static Value Read(Stored stored) { return std::bit_cast<float>(static_cast<std::uint32_t>(stored) << 16); }
};
template <>
struct Form<Half> {
  using Stored = std::uint16_t;
  using Value = float;
  static Value Read(Stored stored) {
    const std::uint32_t magnitude = static_cast<std::uint32_t>(stored & 0x7fff) << 13;
    // Multiplying by 2^112 adjusts the exponent, and makes subnormal 16-bit floats normal float32 numbers.
    const float moved = std::bit_cast<float>(magnitude) * 0x1p112F;
    const std::uint32_t spoilt = (stored & 0x7c00) == 0x7c00 ? 0x7f800000 : 0;  // infinities and NaN
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(moved) | spoilt |
                                static_cast<std::uint32_t>(stored & 0x8000) << 16);
  }
};

template <typename Element>
class Statistics {
  using Stored = typename Form<Element>::Stored;
  using Value = typename Form<Element>::Value;
  static constexpr bool kIsFloat = std::is_floating_point_v<Value>;
  static constexpr Value kHighest =
      kIsFloat ? std::numeric_limits<Value>::infinity() : std::numeric_limits<Value>::max();
  static constexpr Value kLowest =
      kIsFloat ? -std::numeric_limits<Value>::infinity() : std::numeric_limits<Value>::lowest();

  struct Sums {
    Sums() {
      std::fill_n(least, kLanes, kHighest);
      std::fill_n(greatest, kLanes, kLowest);
    }

    Value least[kLanes];
    Value greatest[kLanes];
    double sum[kLanes] = {};
    double squares[kLanes] = {};
  };

 public:
  // Adds a block's elements here, and its bytes to a hash.
  void Add(const unsigned char* bytes, std::size_t count, Hash& hash) {
    alignas(16) Value values[kBlock / sizeof(Stored)];
    const Sums before = sums_;
    const std::uint64_t zeros = zeros_;
    if constexpr (std::is_same_v<Element, float>) {
      const std::size_t whole = count / 8 * 8;
      SumBeside(bytes, whole, hash);
      const std::size_t rest = count - whole;
      hash.Add(bytes + whole * sizeof(float), rest * sizeof(float));
      ReadValues(bytes + whole * sizeof(float), rest, values);
      Sum(values, rest);
      if (IsSpoilt()) ReadValues(bytes, count, values);
    } else if constexpr (std::is_same_v<Element, Bool>) {
      hash.Add(bytes, count);
      CountTrue(bytes, count);
    } else {
      hash.Add(bytes, count * sizeof(Stored));
      ReadValues(bytes, count, values);
      Sum(values, count);
    }
    if constexpr (kIsFloat) {
      if (IsSpoilt()) {
        sums_ = before;
        zeros_ = zeros;
        count = Finite(values, count);
        Sum(values, count);
      }
    }
    finite_ += count;
  }

  void Put(Summary& summary) const {
    summary.count = finite_;
    summary.nans = nans_;
    summary.infinities = infinities_;
    summary.zeros = zeros_;
    if (finite_ == 0) {
      return;
    }
    const Value least = *std::min_element(sums_.least, sums_.least + kLanes);
    const Value greatest = *std::max_element(sums_.greatest, sums_.greatest + kLanes);
    summary.minimum = static_cast<double>(least);
    summary.maximum = static_cast<double>(greatest);
    if constexpr (!kIsFloat) {
      summary.least = static_cast<std::int64_t>(least);
      summary.greatest = static_cast<std::int64_t>(greatest);
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      summary.sum += sums_.sum[lane];
      summary.squares += sums_.squares[lane];
    }
  }

 private:
  static void ReadValues(const unsigned char* bytes, std::size_t count, Value* values) {
    if constexpr (std::is_same_v<Stored, Value> && !std::is_same_v<Element, Bool>) {
      std::memcpy(values, bytes, count * sizeof(Stored));
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        Stored stored{};
        std::memcpy(&stored, bytes + i * sizeof(Stored), sizeof stored);
        values[i] = Form<Element>::Read(stored);
      }
    }
  }

  // Detects infinities and NaN by the squares, which are rarely non-finite otherwise.
  bool IsSpoilt() const {
    return !std::isfinite(std::accumulate(sums_.squares, sums_.squares + kLanes, 0.0));
  }

  // Moves finite values to the front, counts the others, and returns the number of finite ones.
  std::size_t Finite(Value* values, std::size_t count) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Value value = values[i];
      if (std::isnan(value)) {
        ++nans_;
      } else if (std::isinf(value)) {
        ++infinities_;
      } else {
        values[kept++] = value;
      }
    }
    return kept;
  }

  // Adds element i of a block to lane i modulo the number of lanes.
  void Sum(const Value* values, std::size_t count) {
    std::size_t i = 0;
    if constexpr (std::is_same_v<Value, float>) {
      i = SumOfFloats(values, count);
    } else if constexpr (std::is_same_v<Value, double>) {
      i = SumOfDoubles(values, count);
    } else if constexpr (sizeof(Value) == 1) {
      i = SumOfBytes(values, count);
    } else {
      std::uint32_t zeros = 0;
      Value least[kLanes];  // local like the sums, so that the compiler knows that nothing else changes them
      Value greatest[kLanes];
      double sum[kLanes];
      double squares[kLanes];
      std::copy_n(sums_.least, kLanes, least);
      std::copy_n(sums_.greatest, kLanes, greatest);
      std::copy_n(sums_.sum, kLanes, sum);
      std::copy_n(sums_.squares, kLanes, squares);
      for (; i + kLanes <= count; i += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
          const Value value = values[i + lane];
          const auto wide = static_cast<double>(value);
          least[lane] = value < least[lane] ? value : least[lane];
          greatest[lane] = value > greatest[lane] ? value : greatest[lane];
          sum[lane] += wide;
          squares[lane] += wide * wide;
          zeros += value == 0;
        }
      }
      std::copy_n(least, kLanes, sums_.least);
      std::copy_n(greatest, kLanes, sums_.greatest);
      std::copy_n(sum, kLanes, sums_.sum);
      std::copy_n(squares, kLanes, sums_.squares);
      zeros_ += zeros;
    }
    for (std::size_t lane = 0; i < count; ++i, ++lane) {
      const auto wide = static_cast<double>(values[i]);
      sums_.least[lane] = values[i] < sums_.least[lane] ? values[i] : sums_.least[lane];
      sums_.greatest[lane] = values[i] > sums_.greatest[lane] ? values[i] : sums_.greatest[lane];
      sums_.sum[lane] += wide;
      sums_.squares[lane] += wide * wide;
      zeros_ += values[i] == 0;
    }
  }

  // The sums of float32, in registers.
  struct FloatSums {
    explicit FloatSums(const Sums& sums)
        : least(Load<Floats>(sums.least)),
          greatest(Load<Floats>(sums.greatest)),
          sum0(Load<Doubles>(sums.sum)),
          sum1(Load<Doubles>(sums.sum + 2)),
          squares0(Load<Doubles>(sums.squares)),
          squares1(Load<Doubles>(sums.squares + 2)) {}

    void Add(const Floats& four) {
      least = four < least ? four : least;
      greatest = four > greatest ? four : greatest;
      zeros -= four == 0;
      const Doubles wide0 = LowerHalf(four);
      const Doubles wide1 = UpperHalf(four);
      sum0 += wide0;
      sum1 += wide1;
      squares0 += wide0 * wide0;
      squares1 += wide1 * wide1;
    }

    void Put(Sums& sums) const {
      Store(least, sums.least);
      Store(greatest, sums.greatest);
      Store(sum0, sums.sum);
      Store(sum1, sums.sum + 2);
      Store(squares0, sums.squares);
      Store(squares1, sums.squares + 2);
    }

    std::uint64_t Zeros() const {
      std::uint64_t found = 0;
      for (int lane = 0; lane < 4; ++lane) found += static_cast<std::uint32_t>(zeros[lane]);
      return found;
    }

    Floats least, greatest;
    Doubles sum0, sum1, squares0, squares1;
    Int32s zeros = {};
  };

  std::size_t SumOfFloats(const Value* values, std::size_t count) {
    FloatSums sums(sums_);
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4) sums.Add(Load<Floats>(values + i));
    sums.Put(sums_);
    zeros_ += sums.Zeros();
    return i;
  }

  // Sums a multiple of eight elements while hashing. Sums and hash are two chains of dependent operations,
  // which together take hardly longer than one.
  void SumBeside(const unsigned char* bytes, std::size_t count, Hash& hash) {
    FloatSums sums(sums_);
    hash.AddBeside(bytes, count / 8, [&sums](const unsigned char* eight) {
      sums.Add(Load<Floats>(eight));
      sums.Add(Load<Floats>(eight + 16));
    });
    sums.Put(sums_);
    zeros_ += sums.Zeros();
  }

  std::size_t SumOfDoubles(const Value* values, std::size_t count) {
    std::size_t i = 0;
    Int64s zeros = {};
    for (std::size_t half = 0; half < kLanes; half += 2) {  // of the lanes
      auto least = Load<Doubles>(sums_.least + half);
      auto greatest = Load<Doubles>(sums_.greatest + half);
      auto sum = Load<Doubles>(sums_.sum + half);
      auto squares = Load<Doubles>(sums_.squares + half);
      for (i = 0; i + kLanes <= count; i += kLanes) {
        const auto two = Load<Doubles>(values + i + half);
        least = two < least ? two : least;
        greatest = two > greatest ? two : greatest;
        zeros -= two == 0;
        sum += two;
        squares += two * two;
      }
      Store(least, sums_.least + half);
      Store(greatest, sums_.greatest + half);
      Store(sum, sums_.sum + half);
      Store(squares, sums_.squares + half);
    }
    zeros_ += static_cast<std::uint64_t>(zeros[0] + zeros[1]);
    return i;
  }

  // Sums bytes in 32-bit integers, which hold a block's sums exactly. Doubles would be exact, too, so the bits are the same.
  std::size_t SumOfBytes(const Value* values, std::size_t count) {
    static_assert(kBlock * 255 * 255 < std::size_t{1} << 31);
    if (count == 0) return 0;
    std::int32_t sum = 0;
    std::int32_t squares = 0;
    std::int32_t zeros = 0;
    Value least = sums_.least[0];
    Value greatest = sums_.greatest[0];
    for (std::size_t i = 0; i < count; ++i) {
      const Value value = values[i];
      least = std::min(least, value);
      greatest = std::max(greatest, value);
      sum += value;
      squares += value * value;
      zeros += value == 0;
    }
    sums_.least[0] = least;
    sums_.greatest[0] = greatest;
    sums_.sum[0] += sum;
    sums_.squares[0] += squares;
    zeros_ += static_cast<std::uint64_t>(zeros);
    return count;
  }

  // Elements are 0 or another number.
  void CountTrue(const unsigned char* bytes, std::size_t count) {
    std::uint64_t zeros = 0;
    std::size_t i = 0;
    while (i + sizeof(Bytes) <= count) {
      Bytes found = {};  // each counts to 255 at most
      const std::size_t end = std::min(count, i + 255 * sizeof(Bytes));
      for (; i + sizeof(Bytes) <= end; i += sizeof(Bytes)) {
        found -= reinterpret_cast<Bytes>(Load<Bytes>(bytes + i) == 0);
      }
      for (std::size_t lane = 0; lane < sizeof(Bytes); ++lane) zeros += found[lane];
    }
    for (; i < count; ++i) zeros += bytes[i] == 0;
    const std::uint64_t ones = count - zeros;
    if (zeros > 0) sums_.least[0] = 0;
    if (zeros > 0) sums_.greatest[0] = std::max<Value>(sums_.greatest[0], 0);
    if (ones > 0) sums_.least[0] = std::min<Value>(sums_.least[0], 1);
    if (ones > 0) sums_.greatest[0] = 1;
    sums_.sum[0] += static_cast<double>(ones);
    sums_.squares[0] += static_cast<double>(ones);
    zeros_ += zeros;
  }

  Sums sums_;
  std::uint64_t finite_ = 0;
  std::uint64_t nans_ = 0;
  std::uint64_t infinities_ = 0;
  std::uint64_t zeros_ = 0;
};

// Reads contiguous or strided elements in row-major order, a block at a time.
class Elements {
 public:
  // `layout` is null for contiguous elements.
  Elements(const void* first, const Layout* layout)
      : at_(static_cast<const unsigned char*>(first)), layout_(layout) {}

  // Returns the next `size` bytes, which stay valid until the next call.
  const unsigned char* Take(std::size_t size) {
    if (layout_ == nullptr) {
      const unsigned char* const taken = at_;
      at_ += size;
      return taken;
    }
    for (unsigned char *to = gathered_, *const end = gathered_ + size; to < end;)
      to += TakeOfRow(to, static_cast<std::size_t>(end - to));
    return gathered_;
  }

 private:
  // Copies the rest of the innermost dim, or as many of its elements as there is room for. Returns their bytes.
  std::size_t TakeOfRow(unsigned char* to, std::size_t room) {
    const std::size_t size = layout_->item_size;
    const std::size_t inner = layout_->rank - 1;
    const std::int64_t step = layout_->strides[inner] * static_cast<std::int64_t>(size);
    const std::size_t count =
        std::min(static_cast<std::size_t>(layout_->shape[inner] - index_[inner]), room / size);
    if (layout_->strides[inner] == 1) {
      std::memcpy(to, at_, count * size);
    } else if (size == 4) {
      Gather<std::uint32_t>(to, count, step);
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        std::memcpy(to + i * size, at_ + static_cast<std::int64_t>(i) * step, size);
      }
    }
    at_ += static_cast<std::int64_t>(count) * step;
    index_[inner] += static_cast<std::int64_t>(count);
    for (std::size_t dim = inner; index_[dim] == layout_->shape[dim] && dim > 0; --dim) {
      const auto bytes = static_cast<std::int64_t>(size);
      at_ += (layout_->strides[dim - 1] - index_[dim] * layout_->strides[dim]) * bytes;
      index_[dim] = 0;
      ++index_[dim - 1];
    }
    return count * size;
  }

  template <typename Word>
  void Gather(unsigned char* to, std::size_t count, std::int64_t step) const {
    for (std::size_t i = 0; i < count; ++i) {
      const auto word = Load<Word>(at_ + static_cast<std::int64_t>(i) * step);
      Store(word, to + i * sizeof word);
    }
  }

  const unsigned char* at_;
  const Layout* layout_ = nullptr;
  std::int64_t index_[kMostDims] = {};
  alignas(16) unsigned char gathered_[kBlock];
};

template <typename Element>
void SummariseAs(Elements& elements, std::uint64_t count, Summary& summary) {
  constexpr std::size_t kSize = sizeof(typename Form<Element>::Stored);
  Hash hash;
  Statistics<Element> statistics;
  for (std::uint64_t left = count; left > 0;) {
    const std::size_t block = std::min<std::uint64_t>(left, kBlock / kSize);
    statistics.Add(elements.Take(block * kSize), block, hash);
    left -= block;
  }
  summary.hash = hash.Value();
  statistics.Put(summary);
}

bool SummariseInOrder(Elements& elements, std::uint64_t count, std::int32_t kind, Summary& summary) {
  summary = {};
  switch (kind) {
    case kBytesAlone: {
      Hash hash;
      for (std::uint64_t left = count; left > 0;) {
        const std::size_t block = std::min<std::uint64_t>(left, kBlock);
        hash.Add(elements.Take(block), block);
        left -= block;
      }
      summary.hash = hash.Value();
      return true;
    }
    case kBool:
      SummariseAs<Bool>(elements, count, summary);
      return true;
    case kUint8:
      SummariseAs<std::uint8_t>(elements, count, summary);
      return true;
    case kInt8:
      SummariseAs<std::int8_t>(elements, count, summary);
      return true;
    case kUint16:
      SummariseAs<std::uint16_t>(elements, count, summary);
      return true;
    case kInt16:
      SummariseAs<std::int16_t>(elements, count, summary);
      return true;
    case kUint32:
      SummariseAs<std::uint32_t>(elements, count, summary);
      return true;
    case kInt32:
      SummariseAs<std::int32_t>(elements, count, summary);
      return true;
    case kUint64:
      SummariseAs<std::uint64_t>(elements, count, summary);
      return true;
    case kInt64:
      SummariseAs<std::int64_t>(elements, count, summary);
      return true;
    case kFloat16:
      SummariseAs<Half>(elements, count, summary);
      return true;
    case kBfloat16:
      SummariseAs<Brain>(elements, count, summary);
      return true;
    case kFloat32:
      SummariseAs<float>(elements, count, summary);
      return true;
    case kFloat64:
      SummariseAs<double>(elements, count, summary);
      return true;
    default:
      return false;
  }
}

}  // namespace

bool Summarise(const void* elements, std::uint64_t count, std::int32_t kind, Summary& summary,
               const Layout* layout) noexcept {
  Elements in_order(elements, layout);
  return SummariseInOrder(in_order, count, kind, summary);
}

}  // namespace portacl::record
