// Limits that the control groups of this process set.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace portacl {

// The smallest CPU quota on the way from this process's cgroup to the root, in whole CPUs rounded up, at most `most`; 0 when there
// is none. Throws std::bad_alloc.
int CgroupCpus(int most);

// The smallest memory limit on that way, in bytes; 0 when there is none. Throws std::bad_alloc.
size_t CgroupMemory();

}  // namespace portacl
