// Products of INT8 by NEON's SDOT (see byte_dot-inl.h), whose terms are both signed. It serves SVE, too, whose
// machines have it.
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/byte_kernel.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#define PORTACL_TILE_NAMESPACE byte_dot_neon
#if defined(__clang__)
#define PORTACL_TILE_TARGET __attribute__((target("dotprod"), unused))
#else
#define PORTACL_TILE_TARGET __attribute__((target("arch=armv8.2-a+dotprod"), unused))
#endif

namespace portacl::engine::byte_dot_neon {
namespace {

struct Words {
  using Vector = int32x4_t;
  static constexpr int64_t kLanes = 4;
  static Vector Zero() { return vdupq_n_s32(0); }
  static Vector Load(const void* from) {
    return vreinterpretq_s32_s8(vld1q_s8(static_cast<const int8_t*>(from)));
  }
  static void Store(Vector words, void* to) {
    vst1q_s8(static_cast<int8_t*>(to), vreinterpretq_s8_s32(words));
  }
  static Vector Repeat(const uint32_t* word) { return vreinterpretq_s32_u32(vld1q_dup_u32(word)); }
  static Vector Add(Vector a, Vector b) { return vaddq_s32(a, b); }
  static Vector Flip(Vector words) { return words; }
  // Uses assembly, because compilers declare the intrinsic only if the whole file is compiled for it.
  PORTACL_TILE_TARGET static Vector MultiplyAdd(Vector sum, Vector b, Vector a) {
    asm("sdot %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(b), "w"(a));
    return sum;
  }
  static uint32_t Sum(Vector words) { return static_cast<uint32_t>(vaddvq_s32(words)); }
  static void Keep(Vector&) {}
};
constexpr int kRows = 8;
constexpr bool kIsUnsigned = false;

}  // namespace
}  // namespace portacl::engine::byte_dot_neon

#include "engine/gemm/byte_dot-inl.h"

namespace portacl::engine {

const ByteKernels& NeonByteKernels() noexcept;
const ByteKernels& NeonByteKernels() noexcept {
  static constexpr ByteKernels kKernels = byte_dot_neon::KernelsOfWords("neon_dotprod");
  return kKernels;
}

}  // namespace portacl::engine
#endif
