// Detects instructions for words of INT8 terms (see byte_words.h).
// SPDX-License-Identifier: Apache-2.0
#include "base/byte_words.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace portacl {

bool MachineHasByteDot([[maybe_unused]] Isa isa) noexcept {
#if defined(__x86_64__)
  if (SupportedIsas().back() < isa) return false;
  constexpr unsigned kAvx512Vnni = 1u << 11, kAvxVnni = 1u << 4;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (isa == Isa::kAvx512) return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & kAvx512Vnni) != 0;
  return isa == Isa::kAvx2 && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & kAvxVnni) != 0;
#elif defined(__aarch64__)
  return isa != Isa::kPortable && (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#else
  return false;
#endif
}

bool MachineHasByteTiles() noexcept {
#if defined(__x86_64__)
  if (SupportedIsas().back() != Isa::kAvx512) return false;
  constexpr unsigned kAmxTiles = 1u << 24, kAmxInt8 = 1u << 25;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kAmxTiles) != 0 && (d & kAmxInt8) != 0;
#else
  return false;
#endif
}

}  // namespace portacl
