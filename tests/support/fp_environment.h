// The calling thread's floating-point environment: read, set to something unusual, compared.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace portacl::testing {

// Everything a thread's floating-point environment consists of, sticky exception flags included.
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

// The environments that a caller may have set. Modes that the machine cannot express are left out.
const std::vector<FpMode>& UnusualFpModes();

FpState StateOf(const FpMode& mode);

}  // namespace portacl::testing
