// What libFuzzer calls: runs a byte string as a program.
// SPDX-License-Identifier: Apache-2.0
#include "program.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  portacl::testing::RunProgram(data, size);
  return 0;
}
