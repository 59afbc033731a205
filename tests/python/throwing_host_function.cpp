// A program of another C++ runtime than the one inside the libraries: its exception is stopped where it leaves its function,
// and everything works afterwards.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include "acl/acl.h"

namespace {

void Throws(void*) { throw std::runtime_error("from a host function"); }

void CatchesItsOwn(void* caught) {
  try {
    throw std::runtime_error("caught by its own function");
  } catch (const std::exception& error) {
    *static_cast<std::string*>(caught) = error.what();
  }
}

}  // namespace

int main() {
  constexpr int kExceptionInHostFunction = 507000;
  aclrtStream stream = nullptr;
  std::string caught;
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0 || aclrtCreateStream(&stream) != 0) return 1;
  for (int i = 0; i < 3; ++i) {
    if (aclrtLaunchHostFunc(stream, Throws, nullptr) != 0) return 2;
    if (aclrtSynchronizeStream(stream) != kExceptionInHostFunction) return 3;
    if (aclrtLaunchHostFunc(stream, CatchesItsOwn, &caught) != 0) return 4;
    if (aclrtSynchronizeStream(stream) != 0 || caught != "caught by its own function") return 5;
  }
  std::puts("stopped");
  return aclFinalize();
}
