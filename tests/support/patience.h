// How long what must happen may take in a test, on whatever machine and beside whatever else: after that it hangs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace portacl::testing {

inline constexpr int kPatienceSeconds = 240;
inline constexpr int kPatience = kPatienceSeconds * 1000;  // milliseconds

}  // namespace portacl::testing
