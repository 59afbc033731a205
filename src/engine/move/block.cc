// Copies of blocks (see block.h), by vectors of 16 bytes, which every machine has. Copies from memory do not
// need wider ones.
// SPDX-License-Identifier: Apache-2.0
#include "engine/move/block.h"

#include <algorithm>
#include <cstring>

#include "engine/isa_in_use.h"
#include "engine/strided.h"
#include "engine/transpose.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace portacl::engine {
namespace {

using Vector = uint64_t __attribute__((vector_size(16)));

struct Element16 {
  unsigned char bytes[16];
};

template <class T>
T Load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void Store(char* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

// Narrower blocks are not worth a transposition.
constexpr int64_t kNarrow = 8;

// From this size on memcpy is as fast; below, its call costs as much as the copy.
constexpr int64_t kLongRun = 512;

// Copies `bytes` bytes, from sizeof(T) to twice as many, by two copies that overlap.
template <class T>
void CopyTwo(const char* source, char* destination, int64_t bytes) {
  const T first = Load<T>(source);
  const T last = Load<T>(source + bytes - sizeof(T));
  Store(destination, first);
  Store(destination + bytes - sizeof(T), last);
}

void CopyShortRun(const char* source, char* destination, int64_t bytes) {
  if (bytes >= 16) {
    const Vector last = Load<Vector>(source + bytes - 16);
    for (int64_t i = 0; i + 16 < bytes; i += 16) Store(destination + i, Load<Vector>(source + i));
    Store(destination + bytes - 16, last);
  } else if (bytes >= 8) {
    CopyTwo<uint64_t>(source, destination, bytes);
  } else if (bytes >= 4) {
    CopyTwo<uint32_t>(source, destination, bytes);
  } else if (bytes >= 2) {
    CopyTwo<uint16_t>(source, destination, bytes);
  } else if (bytes == 1) {
    *destination = *source;
  }
}

void CopyRun(const char* source, char* destination, int64_t bytes, bool stream) {
  if (bytes < kLongRun) {
    CopyShortRun(source, destination, bytes);
  } else {
    CopyBytes(source, destination, bytes, stream);
  }
}

// The prefetch distance of rows in bytes: the processor's own prefetching does not notice that one short row
// follows another. The memory need not be readable. Of a long row only the beginning is prefetched.
constexpr int64_t kAhead = 1024;

// The prefetch distance for streamed copies: as much as memory delivers during the latency of one line.
constexpr int64_t kFarAhead = 16384;

// Stores vectors to a dense destination, past the caches if requested and aligned.
class VectorStores {
 public:
  VectorStores([[maybe_unused]] const char* destination, [[maybe_unused]] bool stream) {
#if defined(__SSE2__)
    streams_ = stream && reinterpret_cast<uintptr_t>(destination) % 16 == 0;
#endif
  }

  // Calls loop(store) with the chosen kind of store.
  template <class Loop>
  void Run(const Loop& loop) const {
#if defined(__SSE2__)
    if (streams_) {
      return loop([](char* to, Vector v) {
        _mm_stream_si128(reinterpret_cast<__m128i*>(to), reinterpret_cast<__m128i>(v));
      });
    }
#endif
    loop([](char* to, Vector v) { Store(to, v); });
  }

 private:
  bool streams_ = false;
};

// Fills n adjacent elements with the one at `element`.
void FillRun(const char* element, char* destination, int32_t size, int64_t n, [[maybe_unused]] bool stream) {
  unsigned char pattern[16];
  for (int32_t i = 0; i < 16; i += size) std::memcpy(pattern + i, element, static_cast<size_t>(size));
  const int64_t bytes = n * size;
#if defined(__SSE2__)
  if (stream && bytes >= kLongRun) {
    const auto head = static_cast<int64_t>((64 - reinterpret_cast<uintptr_t>(destination) % 64) % 64);
    // At the beginning of a cache line the pattern is shifted.
    unsigned char lines[80];
    for (size_t i = 0; i < sizeof lines; i += 16) std::memcpy(lines + i, pattern, 16);
    std::memcpy(destination, lines, static_cast<size_t>(head));
    const unsigned char* const turned = lines + head % 16;
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(turned));
    int64_t i = head;
    for (; i + 64 <= bytes; i += 64) {
      for (int64_t k = 0; k < 64; k += 16)
        _mm_stream_si128(reinterpret_cast<__m128i*>(destination + i + k), v);
    }
    std::memcpy(destination + i, turned, static_cast<size_t>(bytes - i));
    return;
  }
#endif
  if (std::all_of(pattern, pattern + size, [&](unsigned char byte) { return byte == pattern[0]; })) {
    std::memset(destination, pattern[0], static_cast<size_t>(bytes));
    return;
  }
  Vector v;
  std::memcpy(&v, pattern, sizeof v);
  int64_t i = 0;
  for (; i + 64 <= bytes; i += 64) {
    for (int64_t k = 0; k < 64; k += 16) Store(destination + i + k, v);
  }
  for (; i + 16 <= bytes; i += 16) Store(destination + i, v);
  std::memcpy(destination + i, pattern, static_cast<size_t>(bytes - i));
}

// Reverses the elements of a vector.
template <int32_t kSize>
Vector Reversed(Vector v) {
#if defined(__SSE2__)
  auto x = reinterpret_cast<__m128i>(v);
  if constexpr (kSize == 8) return reinterpret_cast<Vector>(_mm_shuffle_epi32(x, 0x4E));
  if constexpr (kSize == 1) x = _mm_or_si128(_mm_slli_epi16(x, 8), _mm_srli_epi16(x, 8));
  if constexpr (kSize < 4) x = _mm_shufflehi_epi16(_mm_shufflelo_epi16(x, 0xB1), 0xB1);
  return reinterpret_cast<Vector>(_mm_shuffle_epi32(x, 0x1B));
#else
  unsigned char from[16];
  unsigned char to[16];
  std::memcpy(from, &v, sizeof from);
  for (int32_t i = 0; i < 16; i += kSize) std::memcpy(to + i, from + 16 - kSize - i, kSize);
  std::memcpy(&v, to, sizeof v);
  return v;
#endif
}

// Copies n elements in reverse order; `source` is the first one.
template <int32_t kSize>
void CopyReversed(const char* source, char* destination, int64_t n, bool stream) {
  const int64_t bytes = n * kSize;
  const char* const end = source + kSize;  // end of the first one
  int64_t i = 0;
  VectorStores(destination, stream && bytes >= kLongRun).Run([&](const auto& store) {
    for (; i + 64 <= bytes; i += 64) {
      __builtin_prefetch(end - i - 64 - kFarAhead / 4);
      for (int64_t k = i; k < i + 64; k += 16)
        store(destination + k, Reversed<kSize>(Load<Vector>(end - k - 16)));
    }
    for (; i + 16 <= bytes; i += 16) store(destination + i, Reversed<kSize>(Load<Vector>(end - i - 16)));
  });
  for (; i < bytes; i += kSize) std::memcpy(destination + i, end - i - kSize, kSize);
}

template <class Element>
void CopyStrided(const char* source, int64_t from, char* destination, int64_t to, int64_t n) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < n; ++i) Store(destination + i * to, Load<Element>(source + i * from));
}

inline void AskFor(const char* address, int64_t bytes) {
  bytes = std::min(bytes, kAhead);
  asm volatile(
      "");  // gcc takes a function that only prefetches for one without effects, and leaves calls out
  for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(address + i);
}

#if defined(__SSE2__)
bool AreLines(const char* destination, int64_t bytes) {
  return (reinterpret_cast<uintptr_t>(destination) | static_cast<uintptr_t>(bytes)) % 64 == 0;
}

void StreamLines(const char* source, char* destination, int64_t bytes, const char* ahead, LineCopy copy) {
  if (copy != nullptr && AreLines(destination, bytes))
    return copy(source, destination, bytes, ahead - source);
  asm volatile("");
  for (int64_t k = 0; k < bytes; k += 16) {
    if (k % 64 == 0) __builtin_prefetch(ahead + k);
    _mm_stream_si128(reinterpret_cast<__m128i*>(destination + k),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + k)));
  }
}
#endif

// Copies elements of more than 16 bytes or of an odd number of bytes. `next` is the distance of the elements
// that are copied afterwards.
void CopyRows(const char* source, int64_t from, char* destination, int64_t to, int64_t n, int64_t size,
              [[maybe_unused]] int64_t next, bool stream) {
#if defined(__SSE2__)
  if (stream && to == size && size % 16 == 0 && reinterpret_cast<uintptr_t>(destination) % 16 == 0) {
    const LineCopy copy = FindLineCopy(IsaInUse());
    if (next != 0) {
      for (int64_t i = 0; i < n; ++i, source += from, destination += to)
        StreamLines(source, destination, size, source + next, copy);
      return;
    }
    // Splits kFarAhead in the order of the walk into whole rows and a part of one.
    const int64_t part = kFarAhead % size / 64 * 64;
    const char* ahead = source + kFarAhead / size * from;
    for (int64_t i = 0; i < n; ++i, source += from, destination += to, ahead += from) {
      const int64_t first = std::min(size, (size - part) / 64 * 64);
      StreamLines(source, destination, first, ahead + part, copy);
      StreamLines(source + first, destination + first, size - first, ahead + from, copy);
    }
    return;
  }
#endif
  const int64_t ahead = std::max<int64_t>(1, kAhead / size) * from;
  for (int64_t i = 0; i < n; ++i) {
    AskFor(source + i * from + ahead, size);
    CopyRun(source + i * from, destination + i * to, size, stream);
  }
}

bool IsElement(int32_t size) { return size == 1 || size == 2 || size == 4 || size == 8 || size == 16; }

// Copies n elements with any strides.
void CopyElements(const char* source, int64_t from, char* destination, int64_t to, int64_t n, int32_t size,
                  bool stream) {
  if (!IsElement(size)) return CopyRows(source, from, destination, to, n, size, 0, stream);
  if (from == -size && to == size && n >= kNarrow) {
    switch (size) {
      case 1:
        return CopyReversed<1>(source, destination, n, stream);
      case 2:
        return CopyReversed<2>(source, destination, n, stream);
      case 4:
        return CopyReversed<4>(source, destination, n, stream);
      case 8:
        return CopyReversed<8>(source, destination, n, stream);
      default:
        break;
    }
  }
  if (size < 16) {
    if (to == size && from != 0) return Gather(source, from, size, destination, n);
    if (from == size) return Scatter(source, destination, to, size, n);
  }
  if (to == size && from == 0) return FillRun(source, destination, size, n, stream);
  switch (size) {
    case 1:
      return CopyStrided<uint8_t>(source, from, destination, to, n);
    case 2:
      return CopyStrided<uint16_t>(source, from, destination, to, n);
    case 4:
      return CopyStrided<uint32_t>(source, from, destination, to, n);
    case 8:
      return CopyStrided<uint64_t>(source, from, destination, to, n);
    default:
      return CopyStrided<Element16>(source, from, destination, to, n);
  }
}

// Transposes through a buffer with padded rows. Rows of a destination that are a power of two apart would
// compete for a few sets of the cache.
[[gnu::noinline]] void TransposeBlock(const char* source, int64_t from_column, char* destination,
                                      int64_t to_row, int64_t rows, int64_t columns, int32_t size,
                                      bool stream) {
  constexpr int64_t kPitch = kTransposedRowBytes + 64;
  alignas(64) char copy[kTransposedRows * kPitch];
  TransposeIn(source, from_column, copy, kPitch, columns, rows, size, nullptr);
  for (int64_t row = 0; row < rows; ++row)
    CopyRun(copy + row * kPitch, destination + row * to_row, columns * size, stream);
}

}  // namespace

void CopyBytes(const char* source, char* destination, int64_t bytes, [[maybe_unused]] bool stream) noexcept {
#if defined(__SSE2__)
  if (stream && bytes >= kLongRun) {
    const auto head = static_cast<int64_t>((64 - reinterpret_cast<uintptr_t>(destination) % 64) % 64);
    CopyShortRun(source, destination, head);
    int64_t i = head;
    if (const LineCopy copy = FindLineCopy(IsaInUse())) {
      const int64_t lines = (bytes - head) / 64 * 64;
      copy(source + i, destination + i, lines, kNothingAhead);
      i += lines;
    }
    for (; i + 64 <= bytes; i += 64) {
      for (int64_t k = 0; k < 64; k += 16) {
        _mm_stream_si128(reinterpret_cast<__m128i*>(destination + i + k),
                         _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + i + k)));
      }
    }
    CopyShortRun(source + i, destination + i, bytes - i);
    return;
  }
#endif
  std::memmove(destination, source, static_cast<size_t>(bytes));
}

void StreamRow(const char* source, char* destination, int64_t bytes, [[maybe_unused]] const char* next,
               [[maybe_unused]] LineCopy copy) noexcept {
#if defined(__SSE2__)
  constexpr int64_t kAheadInRow = 8192;
  const int64_t first = bytes > 2 * kAheadInRow ? bytes - kAheadInRow : 0;
  StreamLines(source, destination, first, source + kAheadInRow, copy);
  StreamLines(source + first, destination + first, bytes - first, next, copy);
#else
  std::memcpy(destination, source, static_cast<size_t>(bytes));
#endif
}

void StreamRuns(const char* source, BlockStrides from, char* destination, BlockStrides to, int64_t rows,
                int64_t columns, int32_t size, [[maybe_unused]] int64_t ahead) noexcept {
#if defined(__SSE2__)
  constexpr int64_t kLine = 64;
  if ((reinterpret_cast<uintptr_t>(destination) | static_cast<uintptr_t>(to.row | to.column | size)) %
          kLine ==
      0) {
    // For a run of a line or two, starting a wider loop takes longer than the copy.
    constexpr int32_t kFewLines = 128;
    const RunCopy copy = FindRunCopy(IsaInUse());
    if (copy != nullptr && size > kFewLines) {
      return copy({source, from.row, from.column, destination, to.row, to.column, rows, columns, size},
                  ahead);
    }
    // Copies column by column, so that reads follow several sequential streams.
    for (int64_t column = 0; column < columns; ++column) {
      const char* run = source + column * from.column;
      char* target = destination + column * to.column;
      for (int64_t row = 0; row < rows; ++row, run += from.row, target += to.row) {
        for (int64_t i = 0; i < size; i += kLine) {
          __builtin_prefetch(run + i + ahead);
          for (int64_t k = i; k < i + kLine; k += 16) {
            _mm_stream_si128(reinterpret_cast<__m128i*>(target + k),
                             _mm_loadu_si128(reinterpret_cast<const __m128i*>(run + k)));
          }
        }
      }
    }
    return;
  }
#endif
  CopyBlock(source, from, destination, to, rows, columns, size, true);
}

void CopyBlock(const char* source, BlockStrides from, char* destination, BlockStrides to, int64_t rows,
               int64_t columns, int32_t size, bool stream) noexcept {
  if (from.column == size && to.column == size) {
    const int64_t bytes = columns * size;
    if (from.row == bytes && to.row == bytes) return CopyRun(source, destination, rows * bytes, stream);
    for (int64_t row = 0; row < rows; ++row)
      CopyRun(source + row * from.row, destination + row * to.row, bytes, stream);
    return;
  }
  if (IsElement(size) && from.row == size && to.column == size && rows >= kNarrow && columns >= kNarrow &&
      rows <= kTransposedRows && columns * size <= kTransposedRowBytes) {
    if (to.row == columns * size) {
      return TransposeIn(source, from.column, destination, to.row, columns, rows, size, nullptr);
    }
    return TransposeBlock(source, from.column, destination, to.row, rows, columns, size, stream);
  }
  if (!IsElement(size) && size < kAhead && from.row == size && to.column == size && rows > 1) {
    // Copies contiguous elements in another order. The rows below continue in the source.
    const int64_t most =
        // A limit, since the prefetched rows may belong to another block or to nobody.
        std::max<int64_t>(1, rows / 8);
    const int64_t next = std::clamp<int64_t>(kFarAhead / 2 / (columns * size), 1, most) * from.row;
    for (int64_t row = 0; row < rows; ++row) {
      CopyRows(source + row * from.row, from.column, destination + row * to.row, to.column, columns, size,
               next, stream);
    }
    return;
  }
  // Makes the longer loop the inner one.
  if (columns < kNarrow && rows > columns) {
    for (int64_t column = 0; column < columns; ++column) {
      CopyElements(source + column * from.column, from.row, destination + column * to.column, to.row, rows,
                   size, stream);
    }
    return;
  }
  for (int64_t row = 0; row < rows; ++row)
    CopyElements(source + row * from.row, from.column, destination + row * to.row, to.column, columns, size,
                 stream);
}

}  // namespace portacl::engine
