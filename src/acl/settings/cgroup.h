// Limits by the control groups of this process.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace portacl {

// Returns the smallest CPU quota between this process's cgroup and the root, in whole CPUs rounded up, at
// most `most`; 0 if there is none. Throws std::bad_alloc.
int CgroupCpus(int most);

// Returns the smallest memory limit on that path, in bytes; 0 if there is none. Throws std::bad_alloc.
size_t CgroupMemory();

}  // namespace portacl
