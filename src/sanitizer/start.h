// Turns the checks of a program on if its environment says so.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace portacl::sanitizer {

// At the first call reads PORTACL_CHECK, PORTACL_CHECK_FILE and PORTACL_CHECK_SUPPRESSIONS and puts them in
// force. Returns the text of PORTACL_CHECK if it is not accepted, else nullptr. Later calls return the same.
const char* Start() noexcept;

}  // namespace portacl::sanitizer
