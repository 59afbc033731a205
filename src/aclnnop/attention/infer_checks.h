// The checks of attention without gradients, in CANN's order of kinds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contract/checks.h"

namespace portacl::attention::infer {

aclnnStatus ListsGiven(const Check& check, OperatorCall& call) noexcept;
aclnnStatus LayoutGiven(const Check& check, OperatorCall& call) noexcept;
aclnnStatus IsComputed(const Check& check, OperatorCall& call) noexcept;
aclnnStatus DtypesFit(const Check& check, OperatorCall& call) noexcept;
aclnnStatus LayoutFits(const Check& check, OperatorCall& call) noexcept;
aclnnStatus HeadsFit(const Check& check, OperatorCall& call) noexcept;
aclnnStatus PartsFit(const Check& check, OperatorCall& call) noexcept;
aclnnStatus LengthsFit(const Check& check, OperatorCall& call) noexcept;
aclnnStatus ShiftFits(const Check& check, OperatorCall& call) noexcept;
aclnnStatus MaskFits(const Check& check, OperatorCall& call) noexcept;
aclnnStatus TokensFit(const Check& check, OperatorCall& call) noexcept;
aclnnStatus ResultsFit(const Check& check, OperatorCall& call) noexcept;
aclnnStatus Inside(const Check&, OperatorCall& call) noexcept;
aclnnStatus OutGiven(const Check& check, OperatorCall& call) noexcept;
aclnnStatus IsOneQuery(const Check& check, OperatorCall& call) noexcept;

}  // namespace portacl::attention::infer
