// Copies of blocks (see block.h). Vectors of 16 bytes, which every machine has: what comes from memory needs no wider ones.
// SPDX-License-Identifier: Apache-2.0
#include "engine/move/block.h"

#include <algorithm>
#include <cstring>

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

// From here on the library's copy is as fast; below, its call costs as much as the copy.
constexpr int64_t kLongRun = 512;

// Copies of `bytes` bytes, sizeof(T) to twice as many: two that overlap.
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

// n elements side by side, all of them the one at `element`.
void FillRun(const char* element, char* destination, int32_t size, int64_t n) {
  unsigned char pattern[16];
  for (int32_t i = 0; i < 16; i += size) std::memcpy(pattern + i, element, static_cast<size_t>(size));
  const int64_t bytes = n * size;
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

template <class Element>
void CopyStrided(const char* source, int64_t from, char* destination, int64_t to, int64_t n) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < n; ++i) Store(destination + i * to, Load<Element>(source + i * from));
}

// How far ahead rows are asked for, in bytes: the processor's own prefetching does not see that one short row follows
// another. What lies there need not be readable. Of a long row its beginning will do.
constexpr int64_t kAhead = 1024;

inline void AskFor(const char* address, int64_t bytes) {
  bytes = std::min(bytes, kAhead);
  asm volatile(
      "");  // gcc takes a function that only prefetches for one without effects, and leaves calls out
  for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(address + i);
}

// Elements of more than 16 bytes, or of an odd number.
void CopyRows(const char* source, int64_t from, char* destination, int64_t to, int64_t n, int64_t size,
              bool stream) {
  const int64_t ahead = std::max<int64_t>(1, kAhead / size) * from;
#if defined(__SSE2__)
  if (stream && to == size && size % 16 == 0 && reinterpret_cast<uintptr_t>(destination) % 16 == 0) {
    for (int64_t i = 0; i < n; ++i, source += from, destination += to) {
      AskFor(source + ahead, size);
      for (int64_t k = 0; k < size; k += 16) {
        _mm_stream_si128(reinterpret_cast<__m128i*>(destination + k),
                         _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + k)));
      }
    }
    return;
  }
#endif
  for (int64_t i = 0; i < n; ++i) {
    AskFor(source + i * from + ahead, size);
    CopyRun(source + i * from, destination + i * to, size, stream);
  }
}

bool IsElement(int32_t size) { return size == 1 || size == 2 || size == 4 || size == 8 || size == 16; }

// n elements, any strides.
void CopyElements(const char* source, int64_t from, char* destination, int64_t to, int64_t n, int32_t size,
                  bool stream) {
  if (!IsElement(size)) return CopyRows(source, from, destination, to, n, size, stream);
  if (size < 16) {
    if (to == size && from != 0) return Gather(source, from, size, destination, n);
    if (from == size) return Scatter(source, destination, to, size, n);
  }
  if (to == size && from == 0) return FillRun(source, destination, size, n);
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

// Narrower blocks are not worth a transposition.
constexpr int64_t kNarrow = 8;

// Through a copy with whole lines between its rows: a destination whose rows lie a power of two apart would have them in
// a few places of the cache.
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

void CopyBlock(const char* source, BlockSteps from, char* destination, BlockSteps to, int64_t rows,
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
  // The longer loop inside.
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
