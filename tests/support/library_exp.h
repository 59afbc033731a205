// The library's exp of one number, for oracles that predict bits. exp is promised within 1 ulp, which its own
// test checks; without this function, results computed from it could be predicted only within bounds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace portacl::testing {

// Gives the same result on every instruction set, which exp's own test checks too.
float LibraryExp(float x);

}  // namespace portacl::testing
