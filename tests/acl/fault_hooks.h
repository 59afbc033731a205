// Counts, and on demand fails, the allocations and thread starts of the whole process.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace faults {

// Allocations so far, through operator new and (where no sanitizer replaces them) through malloc and its kin.
long Allocations();

// While it lives, allocation number `nth` from now on (0: the next one) fails, once, in whichever thread.
class FailingAllocation {
 public:
  explicit FailingAllocation(long nth);
  ~FailingAllocation();
  bool Happened() const;
};

// Thread starts so far, by anybody.
long ThreadStarts();

// While it lives, no thread can be started.
class NoThreads {
 public:
  NoThreads();
  ~NoThreads();
};

}  // namespace faults
