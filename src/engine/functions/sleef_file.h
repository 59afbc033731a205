// Which SLEEF is in use (see sleef.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace portacl::engine {

// The file that was loaded, empty where none was; whether it is the copy that portacl is installed with. The first call loads it.
const char* SleefFile() noexcept;
bool SleefIsOwn() noexcept;

}  // namespace portacl::engine
