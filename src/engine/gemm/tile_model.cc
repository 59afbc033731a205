// The steps of AMX's TDPBF16PS and TDPBSSD by the processor's manual (see tile_kernel.h and byte_kernel.h). The
// first adds products of BF16: subnormal operands and sums are
// flushed to 0 with their sign. So are results that are below 2^-126 when rounded to 24 bits with unbounded
// exponent.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <cstring>

#include "engine/gemm/tile_kernel.h"

#define PORTACL_TILE_NAMESPACE tile_model
#define PORTACL_TILE_TARGET [[maybe_unused]]
#include "engine/gemm/tile_products-inl.h"

namespace portacl::engine {
namespace tile_model {
namespace {

constexpr float kLeastNormal = 0x1p-126f;

float Flushed(float x) { return std::fabs(x) < kLeastNormal ? std::copysign(0.0f, x) : x; }

// Returns a * b + c for operands that are not subnormal. Only small sums are scaled, away from the least
// exponent, to round them with unbounded exponent.
float MultiplyAdd(float a, float b, float c) {
  const float sum = std::fma(a, b, c);
  if (!(std::fabs(sum) <= 0x1p-100f)) return sum;
  // A sum near 2^-126 of larger terms is exact.
  if (std::fabs(c) > 0x1p-60f) return Flushed(sum);
  const double product = static_cast<double>(a) * static_cast<double>(b);  // exact
  const double scaled = std::ldexp(product, 100);
  const auto half = static_cast<float>(std::ldexp(static_cast<double>(a), 50));
  const auto other = static_cast<float>(std::ldexp(static_cast<double>(b), 50));
  if (!std::isfinite(half) || !std::isfinite(other) || std::fabs(scaled) > 0x1p100) return Flushed(sum);
  const float rounded = std::fma(half, other, std::ldexp(c, 100));
  return std::fabs(rounded) < 0x1p-26f ? std::copysign(0.0f, rounded) : sum;
}

float Add(float a, float b) { return Flushed(Flushed(a) + Flushed(b)); }

struct Memory {
  uint32_t word[kTileSide][kTileSide];
};
thread_local Memory tiles[8];

struct Model {
  static constexpr int64_t kTerms = kEvenOddDepth;
  static constexpr int64_t kRow = kPairedRow;
  template <int kTile>
  static void Zero() {
    tiles[kTile] = {};
  }
  template <int kTile>
  static void Load(const void* memory, int64_t bytes) {
    for (int64_t r = 0; r < kTileSide; ++r)
      std::memcpy(tiles[kTile].word[r], static_cast<const char*>(memory) + r * bytes,
                  sizeof tiles[kTile].word[r]);
  }
  template <int kTile>
  static void Store(void* memory, int64_t bytes) {
    for (int64_t r = 0; r < kTileSide; ++r)
      std::memcpy(static_cast<char*>(memory) + r * bytes, tiles[kTile].word[r], sizeof tiles[kTile].word[r]);
  }
  template <int kSums, int kA, int kB>
  static void Multiply() {
    for (int64_t m = 0; m < kTileSide; ++m) {
      for (int64_t n = 0; n < kTileSide; ++n) {
        float even = 0, odd = 0;
        for (int64_t j = 0; j < kTileSide; ++j) {
          const uint32_t a = tiles[kA].word[m][j], b = tiles[kB].word[j][n];
          even = MultiplyAdd(Flushed(NumberOf(a << 16)), Flushed(NumberOf(b << 16)), even);
          odd = MultiplyAdd(Flushed(NumberOf(a & 0xFFFF0000u)), Flushed(NumberOf(b & 0xFFFF0000u)), odd);
        }
        uint32_t& sum = tiles[kSums].word[m][n];
        sum = BitsOf(Add(NumberOf(sum), Add(even, odd)));
      }
    }
  }
};

struct ByteModel : Model {
  static constexpr int64_t kTerms = kTileWords * kTermsOfWord;
  static constexpr int64_t kRow = kPackedRow;
  template <int kSums, int kA, int kB>
  static void Multiply() {
    for (int64_t m = 0; m < kTileSide; ++m) {
      for (int64_t n = 0; n < kTileSide; ++n) {
        uint32_t& sum = tiles[kSums].word[m][n];
        for (int64_t j = 0; j < kTileWords; ++j) {
          const uint32_t a = tiles[kA].word[m][j], b = tiles[kB].word[j][n];
          for (int shift = 0; shift < 32; shift += 8) {
            const int32_t product = static_cast<int8_t>(a >> shift) * static_cast<int8_t>(b >> shift);
            sum += static_cast<uint32_t>(product);
          }
        }
      }
    }
  }
};

void DoNothing() {}

}  // namespace
}  // namespace tile_model

const TileKernels& AmxModel() noexcept {
  using namespace tile_model;
  static constexpr TileKernels kKernels = KernelsOfTiles<Model>("amx_model", DoNothing, DoNothing);
  return kKernels;
}

const ByteKernels& AmxByteModel() noexcept {
  using namespace tile_model;
  static constexpr ByteKernels kKernels =
      ByteKernelsOfTiles<ByteModel>("amx_int8_model", DoNothing, DoNothing);
  return kKernels;
}

}  // namespace portacl::engine
