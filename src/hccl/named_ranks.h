// Communicators for operators, which name them (aclnn/rank_group.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace portacl::hccl {

// Lets operators find the communicators of this process.
void OfferToOperators() noexcept;

}  // namespace portacl::hccl
