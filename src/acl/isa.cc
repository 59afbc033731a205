// Detects the vector instruction sets that this build contains and this machine can run.
// SPDX-License-Identifier: Apache-2.0
#include "acl/isa.h"

#include <cstddef>

#include "acl/vector_targets.h"

#include <hwy/targets.h>

namespace portacl {
namespace {

struct IsaFacts {
  Isa isa;
  const char* name;
  int64_t targets;  // any of these Highway targets
};

constexpr IsaFacts kIsas[] = {
    {Isa::kPortable, "portable", HWY_SCALAR | HWY_EMU128},
    {Isa::kAvx2, "avx2", HWY_AVX2},
    {Isa::kAvx512, "avx512", HWY_AVX3},
    {Isa::kNeon, "neon", HWY_NEON | HWY_NEON_WITHOUT_AES},
    {Isa::kSve, "sve", HWY_SVE},
};
constexpr size_t kIsaCount = sizeof kIsas / sizeof kIsas[0];

struct Supported {
  Isa isas[kIsaCount];
  size_t count = 0;

  Supported() noexcept {
    const int64_t runnable = hwy::SupportedTargets();
    for (const IsaFacts& facts : kIsas) {
      const int64_t compiled = facts.targets & HWY_TARGETS;
      // The fallback needs no support from the machine, and Highway does not always list it.
      if (compiled != 0 && (facts.isa == Isa::kPortable || (compiled & runnable) != 0))
        isas[count++] = facts.isa;
    }
  }
};

}  // namespace

const char* IsaName(Isa isa) noexcept { return kIsas[static_cast<size_t>(isa)].name; }

std::optional<Isa> IsaFromName(std::string_view name) noexcept {
  for (const IsaFacts& facts : kIsas) {
    if (name == facts.name) return facts.isa;
  }
  return std::nullopt;
}

std::span<const Isa> SupportedIsas() noexcept {
  static const Supported supported;
  return {supported.isas, supported.count};
}

}  // namespace portacl
