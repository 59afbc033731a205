// The SLEEF library that is in use (see sleef.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace portacl::engine {

// SleefFile returns the file that was loaded, or an empty string. SleefIsNative says whether it is the copy that
// portacl is installed with. The first call loads it.
const char* SleefFile() noexcept;
bool SleefIsNative() noexcept;

}  // namespace portacl::engine
