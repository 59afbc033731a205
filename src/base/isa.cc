// Detects the vector instruction sets that this build contains and this machine can run.
// SPDX-License-Identifier: Apache-2.0
#include "base/isa.h"

#include <cstddef>

#include "base/process/fork.h"
#include "base/term_pairs.h"
#include "base/vector_targets.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace portacl {
namespace {

struct IsaInfo {
  Isa isa;
  const char* name;
  int64_t targets;  // any of these Highway targets suffices
};

constexpr IsaInfo kIsas[] = {
    {Isa::kPortable, "portable", HWY_SCALAR | HWY_EMU128},
    {Isa::kAvx2, "avx2", HWY_AVX2},
    {Isa::kAvx512, "avx512", HWY_AVX3},
    {Isa::kNeon, "neon", HWY_NEON | HWY_NEON_WITHOUT_AES},
    {Isa::kSve, "sve", HWY_SVE},
};
constexpr size_t kIsaCount = sizeof kIsas / sizeof kIsas[0];

// Tells whether machine and operating system support the instructions of a Highway target. (Highway's own detection
// measures the clock when its library is loaded: a guest in a process must not work at load.)
bool MachineRuns(Isa isa) noexcept {
  switch (isa) {
    case Isa::kPortable:
      return true;
#if defined(__x86_64__)
    case Isa::kAvx2:
    case Isa::kAvx512: {
      unsigned a = 0;
      unsigned b = 0;
      unsigned c = 0;
      unsigned d = 0;
      constexpr unsigned kF16c = 1u << 29;
      constexpr unsigned kLzcnt = 1u << 5;
      if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kF16c) == 0) return false;
      if (__get_cpuid(0x80000001, &a, &b, &c, &d) == 0 || (c & kLzcnt) == 0) return false;
      __builtin_cpu_init();
      const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                        __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
      return avx2 && (isa == Isa::kAvx2 ||
                      (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                       __builtin_cpu_supports("avx512cd")));
    }
#elif defined(__aarch64__)
    case Isa::kNeon:
      return (HWY_TARGETS & HWY_NEON) == 0 || (getauxval(AT_HWCAP) & HWCAP_AES) != 0;
    case Isa::kSve:
      return (getauxval(AT_HWCAP) & HWCAP_SVE) != 0;
#endif
    default:
      return false;
  }
}

struct Supported {
  Isa isas[kIsaCount];
  size_t count = 0;

  Supported() noexcept {
    for (const IsaInfo& info : kIsas) {
      if ((info.targets & HWY_TARGETS) != 0 && MachineRuns(info.isa)) isas[count++] = info.isa;
    }
  }
};

[[maybe_unused]] const bool before_fork = InitialiseBeforeFork([] { SupportedIsas(); });

}  // namespace

const char* IsaName(Isa isa) noexcept { return kIsas[static_cast<size_t>(isa)].name; }

std::optional<Isa> IsaFromName(std::string_view name) noexcept {
  for (const IsaInfo& info : kIsas) {
    if (name == info.name) return info.isa;
  }
  return std::nullopt;
}

std::span<const Isa> SupportedIsas() noexcept {
  static const Supported supported;
  return {supported.isas, supported.count};
}

// ---- pairs of terms ----

const char* TermPairsName(TermPairs pairs) noexcept {
  return pairs == TermPairs::kDot ? "avx512_bf16" : pairs == TermPairs::kAmx ? "amx" : nullptr;
}

std::optional<TermPairs> TermPairsFromName(std::string_view name) noexcept {
  for (const TermPairs pairs : {TermPairs::kDot, TermPairs::kAmx}) {
    if (name == TermPairsName(pairs)) return pairs;
  }
  return std::nullopt;
}

bool MachineHas(TermPairs pairs) noexcept {
  if (pairs == TermPairs::kNone) return true;
#if defined(__x86_64__)
  if (SupportedIsas().back() != Isa::kAvx512) return false;
  constexpr unsigned kAmxBf16 = 1u << 22, kAmxTiles = 1u << 24, kAvx512Bf16 = 1u << 5;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (pairs == TermPairs::kDot) return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & kAvx512Bf16) != 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kAmxBf16) != 0 && (d & kAmxTiles) != 0;
#else
  return false;
#endif
}

}  // namespace portacl
