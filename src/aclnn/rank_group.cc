// Where the collective library says how a communicator is found (see rank_group.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnn/rank_group.h"

namespace portacl {

constinit std::atomic<FindRankGroupFunction> find_rank_group{nullptr};

}  // namespace portacl
