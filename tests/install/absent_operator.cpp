// Must not compile: it uses an operator that no product has. `./dev demo` on it must name exactly that operator.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "acl/acl.h"
#include "aclnnop/aclnn_absent_loss.h"

// aclnnInAComment(nullptr, 0, nullptr, nullptr);
static aclnnStatus aclnnDefinedHere(const char* text) { return text != nullptr ? 0 : 1; }

#define CALL(name, ...) aclnn##name(__VA_ARGS__)

template <typename T>
int InATemplate(T value) {
  return aclnnAbsentInATemplate(value);
}

int main() {
  auto aclnnLocal = [](int value) { return value; };
  uint64_t workspaceSize = 0;
  aclOpExecutor* executor = nullptr;
  auto ret = aclnnAbsentLossGetWorkspaceSize(nullptr, &workspaceSize, &executor);
  if (ret != ACL_SUCCESS || aclnnDefinedHere("aclnnInAString(nullptr)") != 0) return 1;
  ret = CALL(AbsentLoss, nullptr, workspaceSize, executor, nullptr);
  std::printf("%d %d\n", static_cast<int>(ret), InATemplate(aclnnLocal(1)));
  return aclnnDefinedBelow(aclFinalize());
}

static int aclnnDefinedBelow(int value) { return value; }
