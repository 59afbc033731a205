// Floating-point environments: see fp_environment.h.
// SPDX-License-Identifier: Apache-2.0
#include "fp_environment.h"

#include <cfenv>

namespace portacl::testing {

#if defined(__x86_64__)

FpState FpState::Read() {
  uint32_t mxcsr = 0;
  uint16_t control = 0;
  uint16_t status = 0;
  asm volatile("stmxcsr %0" : "=m"(mxcsr));
  asm volatile("fnstcw %0" : "=m"(control));
  asm volatile("fnstsw %0" : "=m"(status));
  return {mxcsr, 0, control, static_cast<uint64_t>(status & 0x3F)};
}

void FpState::Apply() const {
  const auto mxcsr = static_cast<uint32_t>(vector_control);
  const auto control = static_cast<uint16_t>(legacy_control);
  asm volatile(
      "fnclex");  // x87 flags are cleared rather than set: unmasked ones would trap at the next instruction
  asm volatile("fldcw %0" : : "m"(control));
  asm volatile("ldmxcsr %0" : : "m"(mxcsr));
}

FpState StateOf(const FpMode& mode) {
  constexpr uint64_t kAllMasked = 0x1F80;
  constexpr uint64_t kDenormalsAreZero = 0x0040;
  constexpr uint64_t kFlushToZero = 0x8000;
  constexpr uint64_t kAllFlags = 0x003F;
  constexpr uint64_t kLegacyDefault = 0x037F;
  // FE_* rounding constants are the x87 control word's bits 10 and 11; MXCSR has them three bits further up.
  const auto rounding = static_cast<uint64_t>(mode.rounding);
  FpState state;
  state.vector_control = rounding << 3;
  state.vector_control |= mode.traps_unmasked ? 0 : kAllMasked;
  state.vector_control |= mode.flush_to_zero ? kDenormalsAreZero | kFlushToZero : 0;
  state.vector_control |= mode.flags_raised ? kAllFlags : 0;
  state.legacy_control = (mode.traps_unmasked ? kLegacyDefault & ~uint64_t{0x3F} : kLegacyDefault) | rounding;
  return state;
}

#elif defined(__aarch64__)

FpState FpState::Read() {
  uint64_t control = 0;
  uint64_t flags = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  asm volatile("mrs %0, fpsr" : "=r"(flags));
  return {control, flags, 0, 0};
}

void FpState::Apply() const {
  asm volatile("msr fpcr, %0" : : "r"(vector_control));
  asm volatile("msr fpsr, %0" : : "r"(vector_flags));
}

FpState StateOf(const FpMode& mode) {
  constexpr uint64_t kFlushToZero = uint64_t{1} << 24;
  constexpr uint64_t kAllFlags = 0x9F;
  constexpr uint64_t kAllTraps = 0x9F00;
  FpState state;
  state.vector_control = static_cast<uint64_t>(mode.rounding);  // FE_* constants are FPCR's own bits
  state.vector_control |= mode.flush_to_zero ? kFlushToZero : 0;
  state.vector_control |= mode.traps_unmasked ? kAllTraps : 0;
  state.vector_flags = mode.flags_raised ? kAllFlags : 0;
  return state;
}

#else
#error "teach tests/support/fp_environment.cc the control registers of this architecture"
#endif

const std::vector<FpMode>& UnusualFpModes() {
  static const std::vector<FpMode> modes = [] {
    std::vector<FpMode> possible;
    const FpState before = FpState::Read();
    for (const FpMode& mode : {FpMode{"flush to zero", true, FE_TONEAREST, false, false},
                               FpMode{"toward zero", false, FE_TOWARDZERO, false, false},
                               FpMode{"upward", false, FE_UPWARD, false, false},
                               FpMode{"downward", false, FE_DOWNWARD, false, false},
                               FpMode{"traps unmasked", false, FE_TONEAREST, true, false},
                               FpMode{"toward zero, flags raised", false, FE_TOWARDZERO, false, true},
                               FpMode{"flags raised", false, FE_TONEAREST, false, true},
                               FpMode{"all together", true, FE_UPWARD, true, true}}) {
      // Some machines ignore trap bits. A state that does not read back as written cannot be tested there.
      StateOf(mode).Apply();
      const bool kept = FpState::Read() == StateOf(mode);
      before.Apply();
      if (kept) {
        possible.push_back(mode);
      }
    }
    return possible;
  }();
  return modes;
}

}  // namespace portacl::testing
