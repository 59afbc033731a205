// The checks of grouped matrix products, and the refusals that they share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "contract/checks.h"

namespace portacl::grouped {

aclnnStatus RefuseEntry(const OperatorCall& call, aclnnStatus code, int argument, int entry,
                        const char* what_is_wrong);
aclnnStatus RefuseShapeOf(const OperatorCall& call, int argument, int entry, const char* accepted);
aclnnStatus RefuseDtypeOf(const OperatorCall& call, int argument, int entry, DtypeSet accepted,
                          const char* with);
aclnnStatus RefuseCount(const OperatorCall& call, int argument, const char* accepted);
aclnnStatus RefuseValue(const OperatorCall& call, int attribute, const char* accepted);

// Refuses a call without an argument that goes with another.
aclnnStatus IsThere(const OperatorCall& call, int argument, const char* with);

aclnnStatus ListsThere(const Check&, OperatorCall& call) noexcept;
aclnnStatus ModesFit(const Check&, OperatorCall& call) noexcept;
aclnnStatus DtypesFit(const Check&, OperatorCall& call) noexcept;
aclnnStatus StructureFits(const Check&, OperatorCall& call) noexcept;
aclnnStatus NothingToDo(const Check&, OperatorCall& call) noexcept;
aclnnStatus Lies(const Check&, OperatorCall& call) noexcept;

}  // namespace portacl::grouped
