// Shared code of operators whose codes share powers of two in blocks: shapes of scales, rules and jobs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnnop/quantisation/coded.h"
#include "engine/quantise/blocks.h"

namespace portacl::quantisation {

inline constexpr DtypeSet kMxFloat8s{ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E5M2};
inline constexpr DtypeSet kFloat4s{ACL_FLOAT4_E2M1, ACL_FLOAT4_E1M2};
inline constexpr DtypeSet kPowers{ACL_FLOAT8_E8M0};
inline constexpr int64_t kMxBlock = 32;

// Returns the shape of scales of blocks along an axis: pairs of blocks, then the two of a pair.
Shape PairsShape(const Shape& shape, int axis, int64_t block) noexcept;

// How a block's greatest number becomes a power of two: CANN's scaleAlg 0, 1 or 2.
engine::PowerRule PowerRuleOf(aclDataType codes, int64_t algorithm, double most = 0,
                              double least_greatest = 0) noexcept;
// Tells whether an algorithm is there for the dtype, and dtypeMax for the algorithm.
bool HasAlgorithm(aclDataType codes, int64_t algorithm) noexcept;
inline bool IsGreatestOfFloat4(double most) noexcept { return most == 0 || (most >= 6 && most <= 12); }

// rint, which null is, round and floor; FLOAT8 has rint alone.
bool IsMxRounding(aclDataType codes, std::string_view name, bool is_null) noexcept;
engine::Rounding MxRoundingOf(std::string_view name) noexcept;

// The indices of the output and the attributes that these operators share. Attributes of -1 are not there.
struct Modes {
  int y, round, dtype, algorithm, most;
};
// Checks the name of the rounding, the dtype of codes, the algorithm and its greatest number.
ShapeChecks& HasModes(ShapeChecks& checks, const OperatorCall& call, const Modes& at);
// Checks that codes of 4 bits fill bytes along the last dim.
ShapeChecks& HasCodes(ShapeChecks& checks, const OperatorCall& call, const Shape& x, int y);
engine::PowerRule RuleOf(const OperatorCall& call, const Modes& at, double least_greatest = 0);

// Adds the op that quantises `x` along `axis` of `shape` and writes the tensors numbered `y` and `scale`.
void AddMx(DenseOpList& ops, const OperatorCall& call, const Numbers& x, const Shape& shape, int axis, int y,
           int scale, engine::QuantiseMx job);

}  // namespace portacl::quantisation
