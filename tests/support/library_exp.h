// The library's exp of one number, for oracles that predict bits: exp is promised within 1 ulp, which its own test
// checks, and what is computed from it would otherwise be known within bounds only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace portacl::testing {

// The same on every instruction set, which exp's own test checks too.
float LibraryExp(float x);

}  // namespace portacl::testing
