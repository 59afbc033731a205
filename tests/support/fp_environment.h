// Reads, sets and compares the calling thread's floating-point environment.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace portacl::testing {

// The whole floating-point environment of a thread, with sticky exception flags.
struct FpState {
  uint64_t vector_control = 0;  // MXCSR with its flags, or FPCR
  uint64_t vector_flags = 0;    // FPSR where it is separate
  uint64_t legacy_control = 0;  // x87
  uint64_t legacy_flags = 0;

  bool operator==(const FpState&) const = default;

  static FpState Read();
  void Apply() const;
};

struct FpMode {
  const char* name;
  bool flush_to_zero = false;
  int rounding = 0;  // a value of <cfenv>: FE_TONEAREST...
  bool traps_unmasked = false;
  bool flags_raised = false;
};

// Returns environments that a caller may have set, except modes that the machine cannot express.
const std::vector<FpMode>& UnusualFpModes();

FpState StateOf(const FpMode& mode);

}  // namespace portacl::testing
