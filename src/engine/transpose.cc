// Transposes small blocks (see transpose.h) by squares in 16-byte vectors, which every machine has; the
// compiler's vector types need no dispatch.
// SPDX-License-Identifier: Apache-2.0
#include "engine/transpose.h"

#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace portacl::engine {
namespace {

using Words = uint32_t __attribute__((vector_size(16)));
using Shorts = uint16_t __attribute__((vector_size(16)));
using Bytes = uint8_t __attribute__((vector_size(16)));
using Longs = uint64_t __attribute__((vector_size(16)));

template <class Vector>
Vector Load(const char* from) {
  Vector v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

template <bool kStream, class Vector>
void Store(Vector v, char* to) {
#if defined(__SSE2__)
  if constexpr (kStream) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to), reinterpret_cast<__m128i>(v));
    return;
  }
#endif
  std::memcpy(to, &v, sizeof v);
}

template <bool kStream>
void TransposeSquare(const char* source, int64_t source_stride, char* destination, int64_t destination_stride,
                     uint32_t) {
  const Words a = Load<Words>(source);
  const Words b = Load<Words>(source + source_stride);
  const Words c = Load<Words>(source + 2 * source_stride);
  const Words d = Load<Words>(source + 3 * source_stride);
  const auto ac_low = __builtin_shufflevector(a, c, 0, 4, 1, 5);
  const auto ac_high = __builtin_shufflevector(a, c, 2, 6, 3, 7);
  const auto bd_low = __builtin_shufflevector(b, d, 0, 4, 1, 5);
  const auto bd_high = __builtin_shufflevector(b, d, 2, 6, 3, 7);
  Store<kStream>(__builtin_shufflevector(ac_low, bd_low, 0, 4, 1, 5), destination);
  Store<kStream>(__builtin_shufflevector(ac_low, bd_low, 2, 6, 3, 7), destination + destination_stride);
  Store<kStream>(__builtin_shufflevector(ac_high, bd_high, 0, 4, 1, 5), destination + 2 * destination_stride);
  Store<kStream>(__builtin_shufflevector(ac_high, bd_high, 2, 6, 3, 7), destination + 3 * destination_stride);
}

inline Shorts Lower(Shorts a, Shorts b) { return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11); }
inline Shorts Upper(Shorts a, Shorts b) { return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15); }

template <bool kStream>
void TransposeSquare(const char* source, int64_t source_stride, char* destination, int64_t destination_stride,
                     uint16_t) {
  // Three rounds of interleaving row i with row i + 4.
  Shorts v[8];
  Shorts w[8];
  for (int64_t i = 0; i < 8; ++i) v[i] = Load<Shorts>(source + i * source_stride);
  for (int64_t i = 0; i < 4; ++i) {
    w[2 * i] = Lower(v[i], v[i + 4]);
    w[2 * i + 1] = Upper(v[i], v[i + 4]);
  }
  for (int64_t i = 0; i < 4; ++i) {
    v[2 * i] = Lower(w[i], w[i + 4]);
    v[2 * i + 1] = Upper(w[i], w[i + 4]);
  }
  for (int64_t i = 0; i < 4; ++i) {
    Store<kStream>(Lower(v[i], v[i + 4]), destination + 2 * i * destination_stride);
    Store<kStream>(Upper(v[i], v[i + 4]), destination + (2 * i + 1) * destination_stride);
  }
}

inline Bytes Lower(Bytes a, Bytes b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
inline Bytes Upper(Bytes a, Bytes b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

template <bool kStream>
void TransposeSquare(const char* source, int64_t source_stride, char* destination, int64_t destination_stride,
                     uint8_t) {
  // Interleaves row i with row i + 8 in four rounds, as above.
  Bytes v[16];
  Bytes w[16];
  for (int64_t i = 0; i < 16; ++i) v[i] = Load<Bytes>(source + i * source_stride);
  for (int round = 0; round < 4; ++round) {
    for (int64_t i = 0; i < 8; ++i) {
      w[2 * i] = Lower(v[i], v[i + 8]);
      w[2 * i + 1] = Upper(v[i], v[i + 8]);
    }
    for (int64_t i = 0; i < 16; ++i) v[i] = w[i];
  }
  for (int64_t i = 0; i < 16; ++i) Store<kStream>(v[i], destination + i * destination_stride);
}

template <bool kStream>
void TransposeSquare(const char* source, int64_t source_stride, char* destination, int64_t destination_stride,
                     uint64_t) {
  const Longs a = Load<Longs>(source);
  const Longs b = Load<Longs>(source + source_stride);
  Store<kStream>(__builtin_shufflevector(a, b, 0, 2), destination);
  Store<kStream>(__builtin_shufflevector(a, b, 1, 3), destination + destination_stride);
}

template <bool kStream>
void TransposeSquare(const char* source, int64_t, char* destination, int64_t, Longs) {
  Store<kStream>(Load<Longs>(source), destination);
}

template <class Element>
void TransposeOneByOne(const char* source, int64_t source_stride, char* destination,
                       int64_t destination_stride, int64_t first_row, int64_t rows, int64_t first_column,
                       int64_t columns) {
  for (int64_t r = first_row; r < rows; ++r) {
    for (int64_t c = first_column; c < columns; ++c) {
      std::memcpy(destination + c * destination_stride + r * int64_t{sizeof(Element)},
                  source + r * source_stride + c * int64_t{sizeof(Element)}, sizeof(Element));
    }
  }
}

enum class Way { kIn, kOut, kStreamOut };

// The prefetch distance in rows.
constexpr int64_t kRowsAhead = 16;

// Prefetches a line of each of `count` rows from `row` on.
inline void PrefetchLines(const char* source, int64_t stride, int64_t row, int64_t count) {
  for (int64_t i = row; i < row + count; ++i) __builtin_prefetch(source + i * stride);
}

template <class Element, Way kWay>
void TransposeSquares(const char* source, int64_t source_stride, char* destination,
                      int64_t destination_stride, int64_t rows, int64_t columns, const char* next) {
  constexpr int64_t kSide = 16 / int64_t{sizeof(Element)};
  constexpr int64_t kSize = sizeof(Element);
  const int64_t square_rows = rows / kSide * kSide;
  const int64_t square_columns = columns / kSide * kSide;
  // Walks along the rows of the side that lies in distant memory.
  const auto square = [&](int64_t r, int64_t c) {
    TransposeSquare<kWay == Way::kStreamOut>(source + r * source_stride + c * kSize, source_stride,
                                             destination + c * destination_stride + r * kSize,
                                             destination_stride, Element{});
  };
  if (kWay == Way::kIn) {
    for (int64_t r = 0; r < square_rows; r += kSide) {
      for (int64_t c = 0; c < square_columns; c += kSide) {
        if (c * kSize % 64 == 0) {
          if (r + kRowsAhead < rows) {
            PrefetchLines(source + c * kSize, source_stride, r + kRowsAhead, kSide);
          } else if (next != nullptr) {
            PrefetchLines(next + c * kSize, source_stride, r + kRowsAhead - rows, kSide);
          }
        }
        square(r, c);
      }
    }
  } else {
    for (int64_t c = 0; c < square_columns; c += kSide) {
      for (int64_t r = 0; r < square_rows; r += kSide) square(r, c);
    }
  }
  TransposeOneByOne<Element>(source, source_stride, destination, destination_stride, 0, square_rows,
                             square_columns, columns);
  TransposeOneByOne<Element>(source, source_stride, destination, destination_stride, square_rows, rows, 0,
                             columns);
}

bool IsAligned(uint64_t value) { return value % 16 == 0; }

}  // namespace

void TransposeIn(const char* source, int64_t source_stride, char* destination, int64_t destination_stride,
                 int64_t rows, int64_t columns, int32_t size, const char* next) noexcept {
  const auto transpose = size == 1   ? TransposeSquares<uint8_t, Way::kIn>
                         : size == 2 ? TransposeSquares<uint16_t, Way::kIn>
                         : size == 4 ? TransposeSquares<uint32_t, Way::kIn>
                         : size == 8 ? TransposeSquares<uint64_t, Way::kIn>
                                     : TransposeSquares<Longs, Way::kIn>;
  transpose(source, source_stride, destination, destination_stride, rows, columns, next);
}

void TransposeOut(const char* source, int64_t source_stride, char* destination, int64_t destination_stride,
                  int64_t rows, int64_t columns, int32_t size, bool stream) noexcept {
  const bool can_stream = stream && IsAligned(reinterpret_cast<uintptr_t>(destination)) &&
                          IsAligned(static_cast<uint64_t>(destination_stride));
  const auto half =
      can_stream ? TransposeSquares<uint16_t, Way::kStreamOut> : TransposeSquares<uint16_t, Way::kOut>;
  const auto word =
      can_stream ? TransposeSquares<uint32_t, Way::kStreamOut> : TransposeSquares<uint32_t, Way::kOut>;
  const auto transpose = size == 1 ? TransposeSquares<uint8_t, Way::kOut> : size == 2 ? half : word;
  transpose(source, source_stride, destination, destination_stride, rows, columns, nullptr);
}

}  // namespace portacl::engine
