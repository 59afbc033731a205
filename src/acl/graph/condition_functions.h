// The memory of conditions of graphs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace portacl {

// Frees the memory of conditions whose graphs have ended. Called without any lock.
void FreeEndedConditions() noexcept;

}  // namespace portacl
