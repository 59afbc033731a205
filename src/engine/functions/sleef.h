// Functions of float64 vectors from SLEEF, whose library is loaded at the first use. These variants give the
// same bits on every instruction set. They use fused multiply-adds, which the processor must have.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/isa.h"

namespace portacl::engine {

// The functions in the order of the names in sleef.cc.
enum class SleefFunction : uint8_t {
  kAcos,
  kAcosh,
  kAsin,
  kAsinh,
  kAtan,
  kAtan2,
  kAtanh,
  kCos,
  kCosh,
  kErf,
  kErfc,
  kExp,
  kExp2,
  kExpm1,
  kLgamma,
  kLog,
  kLog10,
  kLog1p,
  kLog2,
  kPow,
  kSin,
  kSinPi,
  kSinh,
  kTan,
  kTanh,
};
constexpr size_t kSleefFunctions = static_cast<size_t>(SleefFunction::kTanh) + 1;

// Addresses of the functions of one or two arguments, for one instruction set's vectors.
struct SleefTable {
  void* functions[kSleefFunctions];
};

// Returns the table of an instruction set that this machine has, or nullptr if there is no SLEEF or the
// processor cannot fuse. The first call loads the library, which is never unloaded.
const SleefTable* LoadSleef(Isa isa) noexcept;

inline bool SleefIsThere(Isa isa) noexcept { return LoadSleef(isa) != nullptr; }

// Says why LoadSleef returns nullptr, as the end of a sentence. Empty if it does not.
const char* WhySleefIsMissing(Isa isa) noexcept;

// The tables that LoadSleef has found, for kernels: reading one is a single load. They are nullptr before
// that.
extern std::atomic<const SleefTable*> sleef_tables[5];  // in the order of Isa
inline const SleefTable* LoadedSleef(Isa isa) noexcept {
  return sleef_tables[static_cast<size_t>(isa)].load(std::memory_order_acquire);
}

// Calls such a function with full vectors in memory and overwrites x with the result. y is nullptr for
// functions of one argument. clang passes vectors by the instruction set for which the whole file is
// compiled, so that each has its own file.
#if defined(__clang__) && defined(__x86_64__)
namespace N_AVX2 {
void CallSleef(void* function, double* x, const double* y) noexcept;
}  // namespace N_AVX2
namespace N_AVX3 {
void CallSleef(void* function, double* x, const double* y) noexcept;
}  // namespace N_AVX3
#endif

}  // namespace portacl::engine
