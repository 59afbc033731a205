// Reports frees that free nothing (see frees.h).
// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/frees.h"

#include "sanitizer/device_memory.h"
#include "sanitizer/report.h"

namespace portacl::sanitizer {

void CheckWrongFree(const char* api, const char* source, const void* address) noexcept {
  if (!IsOn(kMemory)) return;
  const CallStack here = CallStackHere();
  Block block;
  Finding finding;
  finding.part = kMemory;
  finding.function = api;
  finding.subject = address;
  finding.locations[0] = {Text("the call"), &here};
  if (FindBlock(address, &block)) {
    finding.locations[1] = {Text("the memory was made by ", block.maker), &block.made};
    const size_t offset = reinterpret_cast<uintptr_t>(address) - block.begin;
    if (block.is_freed && offset == 0) {
      finding.kind = "double-free";
      finding.what = Text("address ", address, " was freed already, by ", block.freer, ".");
      finding.mend = Text("free each address once; set the pointer to null where it is freed.");
      finding.locations[2] = {Text("it was freed by ", block.freer), &block.freed};
    } else {
      finding.kind = "wrong-free";
      finding.what = Text("address ", address, " is byte ", offset, " of ", block.size,
                          " bytes of device memory from ", block.maker, ", which this function cannot free.");
      finding.mend = Text(offset == 0 ? "free memory of aclrtMalloc by aclrtFree, that of aclrtMallocHost by "
                                        "aclrtFreeHost, and unmap what was mapped."
                                      : "free the address that the allocation gave, not one inside of it.");
    }
  } else {
    finding.kind = "wrong-free";
    finding.what = Text("address ", address, " is none that ", source, " gave.");
    finding.mend = Text(
        "free memory by the function that goes with the one that made it: aclrtMalloc and "
        "aclrtFree, aclrtMallocHost and aclrtFreeHost, malloc and free.");
  }
  Report(finding);
}

}  // namespace portacl::sanitizer
