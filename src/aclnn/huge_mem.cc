// Hooks around a call of an operator, which has nothing for them to do (aclnn/opdev/huge_mem.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnn/opdev/huge_mem.h"

int InitHugeMemThreadLocal(void*, bool) { return 0; }
void UnInitHugeMemThreadLocal(void*, bool) {}
void ReleaseHugeMem(void*, bool) {}
