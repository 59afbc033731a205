// Holds the function of the collective library that finds communicators (see rank_group.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnn/rank_group.h"

namespace portacl {

constinit std::atomic<FindRankGroupFunction> find_rank_group{nullptr};

}  // namespace portacl
