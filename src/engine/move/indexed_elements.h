// The elementary operations of moves with indices: take, put, add and so on, by element size or by dtype.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/data_type.h"
#include "engine/is_nan.h"
#include "engine/move/block.h"
#include "engine/move/indexed.h"

namespace portacl::engine {

inline constexpr int64_t kTileElements = 512;
// A second thread costs more than it gains below this many bytes.
inline constexpr int64_t kWorthThreads = 65536;
// The prefetch distance of rows that indices name, in bytes and at least one row; and the bytes of a row to
// prefetch.
inline constexpr int64_t kRowsAhead = 8192;

struct Element16 {
  uint64_t part[2];
};

template <class T>
struct Complex {
  T real;
  T imaginary;
};
struct Boolean {
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
// Truncates quotients of integers. Divided by 0 they are 0; the least number by -1 wraps.
template <class T>
T Quotient(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return Multiplied(a, b);
    }
    return static_cast<T>(a / b);
  } else {
    return a / b;
  }
}
// Prefers the first NaN.
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
// No operator divides complex numbers or bools.
template <class T>
Complex<T> Quotient(Complex<T> a, Complex<T>) {
  return a;
}
inline Boolean Quotient(Boolean a, Boolean) { return a; }
inline Boolean Either(Boolean a, Boolean b) {
  return {static_cast<uint8_t>(a.byte != 0 || b.byte != 0 ? 1 : 0)};
}
inline Boolean Both(Boolean a, Boolean b) {
  return {static_cast<uint8_t>(a.byte != 0 && b.byte != 0 ? 1 : 0)};
}
inline Boolean Added(Boolean a, Boolean b) { return Either(a, b); }
inline Boolean Multiplied(Boolean a, Boolean b) { return Both(a, b); }
inline Boolean Larger(Boolean a, Boolean b) { return Either(a, b); }
inline Boolean Smaller(Boolean a, Boolean b) { return Both(a, b); }

inline constexpr int64_t kBad = IndexedMove::kNoOffset;

// Combines n elements with those at base + offset[i], in order.
template <class T, class Combine>
void CombineAt(char* base, const char* source, int64_t stride, int64_t n, const int64_t* offset,
               const Combine& combine) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < n; ++i)
    Store(base + offset[i], combine(Load<T>(base + offset[i]), Load<T>(source + i * stride)));
}

// Copies the elements and offsets that are not kBad densely and returns their count. Has no branches, which
// no processor could predict.
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

// Calls f with the function that combines an element and another one.
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
    case IndexedAction::kDivide:
      return f([](T a, T b) { return Quotient(a, b); });
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
      return f(Boolean{});
    case ACL_COMPLEX64:
      return f(Complex<float>{});
    default:
      return f(Complex<double>{});
  }
}

// Loads as many elements at offsets as fill 64 bits.
template <class T>
uint64_t TogetherAt(const char* base, const int64_t* offset) {
  uint64_t together = 0;
  for (size_t k = 0; k < sizeof together / sizeof(T); ++k)
    together |= uint64_t{Load<T>(base + offset[k])} << (8 * sizeof(T) * k % 64);
  return together;
}

// Take and put single elements, between a strided line and offsets of the indexed side.
template <class T, bool kSkips>
void TakeAt(const char* base, const int64_t* offset, char* to, int64_t stride, int64_t n) {
  int64_t i = 0;
  // Stores are the bottleneck, so that several elements share one.
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

}  // namespace portacl::engine
