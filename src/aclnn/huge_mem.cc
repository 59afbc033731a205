// Hooks that programs call around an operator. They have nothing to do here (aclnn/opdev/huge_mem.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnn/opdev/huge_mem.h"

int InitHugeMemThreadLocal(void*, bool) { return 0; }
void UnInitHugeMemThreadLocal(void*, bool) {}
void ReleaseHugeMem(void*, bool) {}
