// Products of a matrix and a vector in types other than 32-bit and 16-bit floats (see vector_product.h).
// Vectors run along the rows, so that each row has its own chain.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/gemm/vector_product.cc"
#include "base/foreach_target.h"

#include <hwy/highway.h>

#include "engine/functions/primitives-inl.h"
#include "engine/gemm/vector_product.h"

#ifndef PORTACL_ENGINE_GEMM_VECTOR_PRODUCT_ROWS
#define PORTACL_ENGINE_GEMM_VECTOR_PRODUCT_ROWS
namespace portacl::engine {
namespace {
// Rows that are multiplied at a time.
constexpr int64_t kRowsTogether = 32;
}  // namespace
}  // namespace portacl::engine
#endif

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
void AddFloats(const void* matrix, const void* vector, int64_t depth, void* sums) {
  const hn::CappedTag<T, kRowsTogether / 4> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto* const x = static_cast<const T*>(vector);
  for (int64_t row = 0; row < kRowsTogether; row += 4 * lanes) {
    const T* terms = static_cast<const T*>(matrix) + row;
    T* const sum = static_cast<T*>(sums) + row;
    auto s0 = hn::LoadU(d, sum);
    auto s1 = hn::LoadU(d, sum + lanes);
    auto s2 = hn::LoadU(d, sum + 2 * lanes);
    auto s3 = hn::LoadU(d, sum + 3 * lanes);
    for (int64_t k = 0; k < depth; ++k, terms += kRowsTogether) {
      const auto factor = hn::Set(d, x[k]);
      s0 = functions::Fma(d, factor, hn::LoadU(d, terms), s0);
      s1 = functions::Fma(d, factor, hn::LoadU(d, terms + lanes), s1);
      s2 = functions::Fma(d, factor, hn::LoadU(d, terms + 2 * lanes), s2);
      s3 = functions::Fma(d, factor, hn::LoadU(d, terms + 3 * lanes), s3);
    }
    hn::StoreU(s0, d, sum);
    hn::StoreU(s1, d, sum + lanes);
    hn::StoreU(s2, d, sum + 2 * lanes);
    hn::StoreU(s3, d, sum + 3 * lanes);
  }
}

// Adds a block of terms in the order of products of two 16-bit operands.
void AddEvenOdd(const void* matrix, const void* vector, int64_t depth, void* sums) {
  const hn::CappedTag<float, kRowsTogether / 4> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto* const x = static_cast<const float*>(vector);
  for (int64_t row = 0; row < kRowsTogether; row += lanes) {
    const float* terms = static_cast<const float*>(matrix) + row;
    float* const sum = static_cast<float*>(sums) + row;
    auto even = hn::Zero(d);
    auto odd = hn::Zero(d);
    for (int64_t k = 0; k < depth; k += 2, terms += 2 * kRowsTogether) {
      even = functions::Fma(d, hn::Set(d, x[k]), hn::LoadU(d, terms), even);
      if (k + 1 < depth)
        odd = functions::Fma(d, hn::Set(d, x[k + 1]), hn::LoadU(d, terms + kRowsTogether), odd);
    }
    hn::StoreU(hn::Add(hn::LoadU(d, sum), hn::Add(even, odd)), d, sum);
  }
}

// Sums modulo 2^32 are also right modulo 2^8.
template <class Unsigned>
void AddIntegers(const void* matrix, const void* vector, int64_t depth, void* sums) {
  const auto* terms = static_cast<const Unsigned*>(matrix);
  const auto* const x = static_cast<const Unsigned*>(vector);
  auto* const sum = static_cast<Unsigned*>(sums);
  for (int64_t k = 0; k < depth; ++k, terms += kRowsTogether) {
    for (int64_t row = 0; row < kRowsTogether; ++row) sum[row] += terms[row] * x[k];
  }
}

void AddLogical(const void* matrix, const void* vector, int64_t depth, void* sums) {
  const auto* terms = static_cast<const uint8_t*>(matrix);
  const auto* const x = static_cast<const uint8_t*>(vector);
  auto* const sum = static_cast<uint8_t*>(sums);
  for (int64_t k = 0; k < depth; ++k, terms += kRowsTogether) {
    if (x[k] == 0) continue;
    for (int64_t row = 0; row < kRowsTogether; ++row) sum[row] |= terms[row] != 0 ? 1 : 0;
  }
}

VectorProduct::AddFunction AddOf(aclDataType computed, bool is_even_odd) {
  if (is_even_odd) return AddEvenOdd;
  switch (computed) {
    case ACL_FLOAT:
      return AddFloats<float>;
    case ACL_DOUBLE:
      return AddFloats<double>;
    case ACL_INT64:
      return AddIntegers<uint64_t>;
    case ACL_BOOL:
      return AddLogical;
    default:
      return AddIntegers<uint32_t>;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <cstring>

#include "base/float_environment.h"
#include "engine/gemm/gemm_kernel.h"
#include "engine/isa_table.h"
#include "engine/parallel.h"
#include "engine/strided.h"
#include "engine/transpose.h"

namespace portacl::engine {
namespace {

// Terms that are packed at a time, on the stack: parts of a block (kGemmDepth) or a whole one
// (kEvenOddDepth).
constexpr int64_t kTermsTogether = 32;
constexpr int64_t kWidest = 8;
static_assert(kGemmDepth % kTermsTogether == 0 && kTermsTogether == kEvenOddDepth);
using Packed = unsigned char[kRowsTogether * kTermsTogether * kWidest];

// A second thread gains nothing below this many multiplications.
constexpr int64_t kWorkOfThread = 1 << 17;

aclDataType ComputedOf(aclDataType dtype) {
  switch (dtype) {
    case ACL_FLOAT16:
    case ACL_BF16:
      return ACL_FLOAT;
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_INT16:
      return ACL_INT32;
    default:
      return dtype;
  }
}

void Convert(const Conversion& conversion, const void* from, void* to, int64_t n) {
  const auto count = static_cast<size_t>(n);
  if (conversion.KeepsBytes()) {
    std::memcpy(to, from, count * static_cast<size_t>(conversion.to_size));
  } else {
    conversion.Run(from, to, count, /*stream=*/false);
  }
}

// Packs elements `step` bytes apart side by side.
void Pack(const Conversion& conversion, const char* from, int64_t step, int64_t n, char* to) {
  if (step == conversion.from_size || n == 1) return Convert(conversion, from, to, n);
  alignas(64) char elements[kRowsTogether * kWidest];
  Gather(from, step, conversion.from_size, elements, n);
  Convert(conversion, elements, to, n);
}
static_assert(kTermsTogether <= kRowsTogether);

// Packs to[term][row]; missing rows are 0.
void PackMatrix(const VectorProduct::Operand& matrix, const char* first, int64_t rows, int64_t depth,
                Packed& to) {
  const auto& [strided, conversion] = matrix;
  const int64_t size = conversion.to_size;
  if (rows < kRowsTogether) std::memset(to, 0, sizeof to);
  char* const packed = reinterpret_cast<char*>(to);
  if (strided.row == conversion.from_size) {
    for (int64_t k = 0; k < depth; ++k)
      Pack(conversion, first + k * strided.term, strided.row, rows, packed + k * kRowsTogether * size);
    return;
  }
  alignas(64) Packed by_row;
  char* const lines = reinterpret_cast<char*>(by_row);
  for (int64_t row = 0; row < rows; ++row)
    Pack(conversion, first + row * strided.row, strided.term, depth, lines + row * kTermsTogether * size);
  TransposeIn(lines, kTermsTogether * size, packed, kRowsTogether * size, rows, depth,
              static_cast<int32_t>(size), nullptr);
}

template <class T>
void AddBlock(const unsigned char* block, unsigned char* sums) {
  for (int64_t row = 0; row < kRowsTogether; ++row) {
    T a, b;
    std::memcpy(&a, sums + row * int64_t{sizeof(T)}, sizeof a);
    std::memcpy(&b, block + row * int64_t{sizeof(T)}, sizeof b);
    a += b;
    std::memcpy(sums + row * int64_t{sizeof(T)}, &a, sizeof a);
  }
}

}  // namespace

VectorProduct MakeVectorProduct(const VectorProductOperand& matrix, const VectorProductOperand& vector,
                                int64_t rows, int64_t depth, aclDataType dtype, Isa isa,
                                int threads) noexcept {
  static constexpr auto kTable = PORTACL_ISA_TABLE(AddOf);
  VectorProduct product{};
  product.rows = rows;
  product.depth = depth;
  product.computed = ComputedOf(dtype);
  product.matrix = {matrix, FindConversionThrough(isa, matrix.dtype, dtype, product.computed)};
  product.vector = {vector, FindConversionThrough(isa, vector.dtype, dtype, product.computed)};
  product.result = FindConversion(isa, product.computed, product.computed == ACL_FLOAT ? ACL_FLOAT : dtype);
  product.is_even_odd = dtype == ACL_FLOAT16 || dtype == ACL_BF16;
  product.add = kTable.For(isa)(product.computed, product.is_even_odd);
  const double work = static_cast<double>(rows) * static_cast<double>(depth);
  product.threads = static_cast<int>(std::clamp(work / kWorkOfThread, 1.0, static_cast<double>(threads)));
  return product;
}

void VectorProduct::Run(void* const* addresses, char* to) const noexcept {
  const auto at = [&](const VectorProductOperand& strided) {
    return static_cast<const char*>(addresses[strided.argument]) + strided.offset;
  };
  const char* const first = at(matrix.strided);
  const char* const x = at(vector.strided);
  const bool is_float = computed == ACL_FLOAT || computed == ACL_DOUBLE;
  const int64_t blocks = (rows + kRowsTogether - 1) / kRowsTogether;
  const bool is_long = depth > kWorkOfThread / kRowsTogether;
  ForEachBlock(
      blocks, threads,
      [&](int64_t part) {
        const DefaultFloatEnvironment environment;
        const int64_t row = part * kRowsTogether;
        const int64_t count = std::min(kRowsTogether, rows - row);
        alignas(64) Packed packed;
        alignas(64) unsigned char terms[kTermsTogether * kWidest];
        alignas(64) unsigned char block[kRowsTogether * kWidest] = {};
        alignas(64) unsigned char sums[kRowsTogether * kWidest];
        for (int64_t term = 0; term < depth; term += kTermsTogether) {
          const int64_t some = std::min(kTermsTogether, depth - term);
          PackMatrix(matrix, first + row * matrix.strided.row + term * matrix.strided.term, count, some,
                     packed);
          Pack(vector.conversion, x + term * vector.strided.term, vector.strided.term, some,
               reinterpret_cast<char*>(terms));
          add(packed, terms, some, block);
          // Sums of integers need no order, and 16-bit blocks are added to the sum itself.
          if (!is_float || is_even_odd || (term + some < depth && (term + some) % kGemmDepth != 0)) continue;
          if (term < kGemmDepth) {
            std::memcpy(sums, block, sizeof sums);
          } else if (computed == ACL_FLOAT) {
            AddBlock<float>(block, sums);
          } else {
            AddBlock<double>(block, sums);
          }
          std::memset(block, 0, sizeof block);
        }
        Convert(result, is_float && !is_even_odd ? sums : block, to + row * result.to_size, count);
      },
      is_long ? BlockLength::kLong : BlockLength::kShort);
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
