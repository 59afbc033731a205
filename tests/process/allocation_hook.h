// Replaces operator new and delete of the test program, and aligned_alloc: counts what is allocated and can make
// allocations fail.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace portacl::testing {

// How many allocations there were so far, and how many of those by operator new are not freed yet.
long AllocationsMade();
long AllocationsLive();

enum class Failing { kOnlyOne, kAllFromThereOn };

// From now on the nth allocation of the process (1: the next one) fails.
void FailAllocation(long nth, Failing failing);

// Ends the failing; returns whether any allocation failed.
bool StopFailingAllocations();

}  // namespace portacl::testing
