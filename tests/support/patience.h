// The time after which a test counts as hanging, on any machine and beside any other load.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace portacl::testing {

inline constexpr int kPatienceSeconds = 240;
inline constexpr int kPatience = kPatienceSeconds * 1000;  // milliseconds

}  // namespace portacl::testing
