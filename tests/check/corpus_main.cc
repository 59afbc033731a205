// Runs one program of the corpus: corpus --list, or corpus NAME wrong|right.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "acl/acl.h"
#include "check/corpus.h"

namespace corpus {
namespace {
Case* first = nullptr;
}

Case::Case(const char* its_name, const char* its_kind, const char* its_report, void (*wrong_program)(),
           void (*right_program)())
    : name(its_name),
      kind(its_kind),
      expected(its_report),
      wrong(wrong_program),
      right(right_program),
      next(first) {
  first = this;
}
}  // namespace corpus

int main(int count, char** arguments) {
  using corpus::first;
  if (count == 2 && std::strcmp(arguments[1], "--list") == 0) {
    for (const auto* one = first; one != nullptr; one = one->next) {
      std::printf("%s\t%s\t%s\n", one->name, one->kind, one->expected);
    }
    return 0;
  }
  if (count != 3) return 2;
  for (const auto* one = first; one != nullptr; one = one->next) {
    if (std::strcmp(one->name, arguments[1]) != 0) continue;
    setenv("PORTACL_DEVICE_COUNT", "2", 1);
    if (aclInit(nullptr) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 3;
    (std::strcmp(arguments[2], "wrong") == 0 ? one->wrong : one->right)();
    if (aclrtResetDevice(0) != ACL_SUCCESS || aclFinalize() != ACL_SUCCESS) return 4;
    return 0;
  }
  return 2;
}
