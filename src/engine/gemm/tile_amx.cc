// Products of BF16 and of INT8 by AMX (see tile_products-inl.h), if processor and operating system provide
// tiles.
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/tile_kernel.h"

#if defined(__x86_64__)

#define PORTACL_TILE_NAMESPACE N_AVX3
#define PORTACL_TILE_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"), unused))
#include "engine/gemm/tile_products-inl.h"

namespace portacl::engine {
namespace N_AVX3 {
namespace {

// Uses assembly instead of intrinsics: those of GCC 12 take the tile's number as text and do not declare that
// they read memory.
struct Registers {
  static constexpr int64_t kTerms = kEvenOddDepth;
  static constexpr int64_t kRow = kPairedRow;
  template <int kTile>
  PORTACL_TILE_TARGET static void Zero() {
    asm volatile("tilezero %%tmm%c0" ::"i"(kTile));
  }
  template <int kTile>
  PORTACL_TILE_TARGET static void Load(const void* memory, int64_t bytes) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(memory), "r"(bytes), "i"(kTile) : "memory");
  }
  template <int kTile>
  PORTACL_TILE_TARGET static void Store(void* memory, int64_t bytes) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(memory), "r"(bytes), "i"(kTile) : "memory");
  }
  template <int kSums, int kA, int kB>
  PORTACL_TILE_TARGET static void Multiply() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSums), "i"(kA), "i"(kB));
  }
};

// Multiplies four INT8 terms of a word, both signed. Sums are int32 modulo 2^32.
struct ByteRegisters : Registers {
  static constexpr int64_t kTerms = kTileWords * kTermsOfWord;
  static constexpr int64_t kRow = kPackedRow;
  template <int kSums, int kA, int kB>
  PORTACL_TILE_TARGET static void Multiply() {
    asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSums), "i"(kA), "i"(kB));
  }
};

// Configures all eight tiles as sixteen rows of 64 bytes.
void Begin() {
  struct {
    uint8_t palette = 1;
    uint8_t start_row = 0;
    uint8_t reserved[14] = {};
    uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } const configuration;
  static_assert(sizeof configuration == 64);
  asm volatile("ldtilecfg %0" ::"m"(configuration));
}

// Releases the tiles, which would otherwise be saved at every thread switch.
void End() { asm volatile("tilerelease" ::); }

}  // namespace
}  // namespace N_AVX3

const TileKernels& AmxKernels() noexcept;
const TileKernels& AmxKernels() noexcept {
  using namespace N_AVX3;
  static constexpr TileKernels kKernels = KernelsOfTiles<Registers>("amx", Begin, End);
  return kKernels;
}

const ByteKernels& AmxByteKernels() noexcept;
const ByteKernels& AmxByteKernels() noexcept {
  using namespace N_AVX3;
  static constexpr ByteKernels kKernels = ByteKernelsOfTiles<ByteRegisters>("amx_int8", Begin, End);
  return kKernels;
}

}  // namespace portacl::engine
#endif
