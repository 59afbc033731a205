// Loads SLEEF (see sleef.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/functions/sleef.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <iterator>
#include <string_view>

#include "base/process/fork.h"
#include "engine/functions/sleef_file.h"

namespace portacl::engine {

constinit std::atomic<const SleefTable*> sleef_tables[5]{};

namespace {

// A function's name without the part of the instruction set: the function, and its error in tenths of ulp.
struct Name {
  const char* function;
  const char* error;
};
constexpr Name kNames[] = {
    {"acos", "u10"},  {"acosh", "u10"}, {"asin", "u10"},  {"asinh", "u10"}, {"atan", "u10"},
    {"atan2", "u10"}, {"atanh", "u10"}, {"cos", "u10"},   {"cosh", "u10"},  {"erf", "u10"},
    {"erfc", "u15"},  {"exp", "u10"},   {"exp2", "u10"},  {"expm1", "u10"}, {"lgamma", "u10"},
    {"log", "u10"},   {"log10", "u10"}, {"log1p", "u10"}, {"log2", "u10"},  {"pow", "u10"},
    {"sin", "u10"},   {"sinpi", "u05"}, {"sinh", "u10"},  {"tan", "u10"},   {"tanh", "u10"}};
static_assert(std::size(kNames) == kSleefFunctions);

// The vectors of float64 and the end of the names, in the order of Isa.
struct Variant {
  const char* lanes;
  const char* end;
};
constexpr Variant kVariants[] = {
    {"d1", "purecfma"}, {"d4", "avx2"}, {"d8", "avx512f"}, {"d2", "advsimd"}, {"dx", "sve"}};

// The copy beside this library comes first, so that results do not depend on a version that the machine
// happens to have.
constexpr const char* kLibraries[] = {"libportacl_sleef.so", "libsleef.so.3"};

constexpr const char* kNoFma = "the processor has no fused multiply-add (FMA and AVX2)";
constexpr const char* kNoLibrary =
    "SLEEF cannot be loaded: neither libportacl_sleef.so beside portacl nor libsleef.so.3 (package "
    "libsleef3)";
constexpr const char* kNoFunctions = "SLEEF (libsleef.so.3) lacks functions of this instruction set";

bool ProcessorFuses() noexcept {
#if defined(__x86_64__)
  // The portable functions are compiled for both as well.
  return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
#else
  return true;
#endif
}

// The result of the only attempt to load SLEEF.
struct Loaded {
  SleefTable tables[std::size(kVariants)];
  const char* missing[std::size(kVariants)];
  const char* file = "";

  Loaded() noexcept : tables{}, missing{} {
    const bool fuses = ProcessorFuses();
    void* library = nullptr;
    for (const char* name : kLibraries) {
      if (fuses && library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    link_map* map = nullptr;
    if (library != nullptr && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0) file = map->l_name;
    for (size_t isa = 0; isa < std::size(kVariants); ++isa) {
      missing[isa] = !fuses               ? kNoFma
                     : library == nullptr ? kNoLibrary
                                          : Fill(library, kVariants[isa], tables[isa]);
      if (missing[isa] == nullptr) sleef_tables[isa].store(&tables[isa], std::memory_order_release);
    }
  }

  static const char* Fill(void* library, const Variant& variant, SleefTable& table) noexcept {
    for (size_t i = 0; i < kSleefFunctions; ++i) {
      char name[64];
      std::snprintf(name, sizeof name, "Sleef_finz_%s%s_%s%s", kNames[i].function, variant.lanes,
                    kNames[i].error, variant.end);
      table.functions[i] = dlsym(library, name);
      if (table.functions[i] == nullptr) return kNoFunctions;
    }
    return nullptr;
  }
};

const Loaded& Load() noexcept {
  static const Loaded loaded;
  return loaded;
}

[[maybe_unused]] const bool before_fork = InitialiseBeforeFork([] { Load(); });

}  // namespace

const SleefTable* LoadSleef(Isa isa) noexcept {
  const Loaded& loaded = Load();
  const auto at = static_cast<size_t>(isa);
  return loaded.missing[at] == nullptr ? &loaded.tables[at] : nullptr;
}

const char* WhySleefIsMissing(Isa isa) noexcept {
  const char* const reason = Load().missing[static_cast<size_t>(isa)];
  return reason == nullptr ? "" : reason;
}

const char* SleefFile() noexcept { return Load().file; }
bool SleefIsNative() noexcept {
  const std::string_view file = SleefFile();
  return file.substr(file.rfind('/') + 1) == kLibraries[0];
}

}  // namespace portacl::engine
