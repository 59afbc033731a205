// The parameters of products of groups whose rows are gated and quantised, and those of codes with powers of two.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "contract/checks.h"

namespace portacl::gated {

// V2 takes lists of weights, of their scales and of the tensor at the position of bias.
enum Tensors { kX, kWeight, kBias, kWeightScale, kXScale, kGroups, kOtherBias, kSmooth, kOut, kOutScale };
enum Attributes { kDequantMode, kQuantMode, kListType, kVersion };
// Values of kVersion.
enum Version : int64_t { kBase, kBaseNz, kV2, kV2Nz };

// Tells whether x is FLOAT8 or FLOAT4 on Ascend 950, in a function that has such rows.
bool AreCodes(const OperatorCall& call) noexcept;
// Runs phase 1 of such a call.
aclnnStatus RunCodes(const OperatorCall& call, uint64_t* workspaceSize, aclOpExecutor** executor) noexcept;

}  // namespace portacl::gated
