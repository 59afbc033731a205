// What is thrown inside the library finds its handler also where the library came with one that dlopen loaded: a malformed configuration,
// memory that is not there, a function of the program that throws. Without aclInit, too.
// Usage: thrown_in_filtee PATH-OF-A-LIBRARY
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include "acl/acl.h"
#include "process/allocation_hook.h"

namespace {

using portacl::testing::FailAllocation;
using portacl::testing::Failing;
using portacl::testing::StopFailingAllocations;

template <class Function>
Function* Find(void* library, const char* name, Function*) {
  void* const symbol = dlsym(library, name);
  if (symbol == nullptr) {
    std::printf("%s: %s\n", name, dlerror());
    std::exit(1);
  }
  return reinterpret_cast<Function*>(symbol);
}
#define FUNCTION(name) const auto name##_ = Find(library, #name, static_cast<decltype(&name)>(nullptr))

bool Is(const char* what, aclError code, aclError expected) {
  if (code != expected) std::printf("%s: %d, expected %d\n", what, code, expected);
  return code == expected;
}

bool Malformed(void* library) {
  FUNCTION(aclInit);
  const std::string path = "thrown_in_filtee." + std::to_string(getpid()) + ".json";
  bool right = true;
  for (const char* const text :
       {"{", "{\"defaultDevice\": {\"default_device\": \"1e999999\"}", "[1, ", "\xFF", "nonsense"}) {
    std::ofstream(path) << text;
    right = Is(text, aclInit_(path.c_str()), ACL_ERROR_INVALID_PARAM) && right;
  }
  std::remove(path.c_str());
  return Is("aclInit after that", aclInit_(nullptr), ACL_SUCCESS) && right;
}

bool NoMemory(void* library) {
  FUNCTION(aclInit);
  int failed = 0;
  for (long nth = 1;; ++nth) {
    FailAllocation(nth, Failing::kAllFromThereOn);
    const aclError code = aclInit_(nullptr);
    if (!StopFailingAllocations()) return Is("aclInit with memory", code, ACL_SUCCESS) && failed > 0;
    if (code == ACL_SUCCESS) return failed > 0;  // what failed was not needed
    ++failed;
    if (!Is("aclInit without memory", code, ACL_ERROR_BAD_ALLOC)) return false;
  }
}

aclError Throw(const char*, size_t, void*) { throw std::runtime_error("of the program"); }

bool OfTheProgram(void* library) {
  FUNCTION(aclInit);
  FUNCTION(aclInitCallbackRegister);
  return Is("aclInitCallbackRegister", aclInitCallbackRegister_(ACL_REG_TYPE_OTHER, Throw, nullptr),
            ACL_SUCCESS) &&
         Is("aclInit", aclInit_(nullptr), ACL_ERROR_RT_INTERNAL_ERROR);
}

bool WithoutInit(void* library) {
  FUNCTION(aclrtSetDevice);
  FailAllocation(1, Failing::kOnlyOne);
  const aclError code = aclrtSetDevice_(0);
  StopFailingAllocations();
  if (code == ACL_SUCCESS) std::printf("aclrtSetDevice did without memory\n");
  return code != ACL_SUCCESS;
}

}  // namespace

// Each in a process of its own: what ends it is std::terminate.
int main(int argc, char** argv) {
  if (argc != 2) return 2;
  bool right = true;
  for (const auto check : {Malformed, NoMemory, OfTheProgram, WithoutInit}) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) std::printf("%s\n", dlerror());
      const bool is_right = library != nullptr && check(library);
      std::fflush(nullptr);
      _exit(is_right ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    if (status != 0) std::printf("status %d\n", status);
    right = right && status == 0;
  }
  return right ? 0 : 1;
}
