// Dtypes that operators of a tensor and a scalar compute in, and how a scalar is converted. Written from CANN's rules, independently of the
// library under test.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "plan_call.h"

namespace portacl::testing {

DtypeNumber Stt(DtypeNumber tensor, DtypeNumber scalar);
DtypeNumber WithScalarBefore950(DtypeNumber tensor, DtypeNumber scalar, DtypeNumber out);
DtypeNumber WithScalarOn950(DtypeNumber tensor, DtypeNumber scalar, bool keeps_double = false);
// The 950 rule, widened to FLOAT where rounding to it would change the scalar's value. `tensor` and `scalars` are names.
DtypeNumber ExactRule950(PlanCall& call, const std::string& tensor, const std::string& scalars);
DtypeNumber Combine(DtypeNumber high, DtypeNumber low);
DtypeNumber Def(DtypeNumber scalar);
DtypeNumber PromoteByRank(PlanCall& call, const std::string& first, const std::string& second);

// Converts a scalar to a dtype as operators do.
Number ScalarIn(const PlanArgument& scalar, DtypeNumber dtype);

}  // namespace portacl::testing
