// Shared code of the six comparisons: the dtypes of operands and results, and the kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contract/dtype_rule.h"
#include "engine/map/formula.h"

namespace portacl::comparisons {

// Position of the scalar whose first byte tells whether the result is inverted.
inline constexpr int kMirroredOperands = 1;

inline engine::Scalars ScalarsOf(bool is_opposite) {
  engine::Scalars scalars;
  scalars.bytes[kMirroredOperands][0] = is_opposite ? 1 : 0;
  return scalars;
}

// Tells whether the dtype has NaN: then "not less" differs from "greater or equal".
constexpr bool HasNan(aclDataType computed) { return (kFloatHalfAndBf16 | kDouble).Contains(computed); }

// Includes the 64-bit unsigned numbers that some products accept.
inline constexpr DtypeRule kEqualOfScalar =
    ByGeneration(kArithmetic | kBf16, kArithmetic | kBf16, kArithmetic | kBf16 | DtypeSet{ACL_UINT64})
        .On({Product::kAtlasTraining, Product::kNoDevice}, kArithmetic | DtypeSet{ACL_UINT32, ACL_UINT64});
inline constexpr DtypeRule kEqual =
    ByGeneration(kArithmetic | DtypeSet{ACL_UINT32, ACL_UINT64}, kArithmetic | kBf16,
                 kArithmetic | kBf16 | DtypeSet{ACL_UINT64});
inline constexpr DtypeRule kEqualOutOfScalar =
    kEqualOfScalar.On(products::kAscend950, kArithmetic | kBf16 | kUnsignedSince16Bits);
inline constexpr DtypeRule kEqualOut =
    kEqual.On(products::kAscend950, kArithmetic | kBf16 | kUnsignedSince16Bits);

inline constexpr DtypeRule kNotEqual =
    ByGeneration(kArithmetic, kArithmetic | kBf16, kArithmetic | kBf16 | DtypeSet{ACL_UINT64});
inline constexpr DtypeRule kNotEqualOut =
    ByGeneration(kArithmetic, kArithmetic | kBf16, kArithmetic | kBf16 | kUnsignedSince16Bits);

// Used by Gt, Ge and Lt.
inline constexpr DtypeRule kOrdered = WithBf16SinceAtlasA2(kRealArithmetic | kUnsignedSince16Bits);
inline constexpr DtypeRule kGreaterOut =
    WithBf16SinceAtlasA2(kRealArithmetic | kUnsignedSince16Bits | kComplex);
inline constexpr DtypeRule kGreaterOrEqualOut =
    Everywhere(kRealArithmetic | kUnsignedSince16Bits | kComplex | kBf16);
inline constexpr DtypeRule kLessOut =
    kOrdered.On(products::kAscend950, kRealArithmetic | kUnsignedSince16Bits | kComplex | kBf16);

inline constexpr DtypeRule kLessOrEqual =
    ByGeneration(kRealArithmetic | DtypeSet{ACL_UINT16}, kRealArithmetic | DtypeSet{ACL_UINT16} | kBf16,
                 kRealArithmetic | DtypeSet{ACL_UINT16, ACL_UINT64} | kBf16);
inline constexpr DtypeRule kLessOrEqualOut =
    ByGeneration(kRealArithmetic | DtypeSet{ACL_UINT16}, kRealArithmetic | DtypeSet{ACL_UINT16} | kBf16,
                 kRealArithmetic | kUnsignedSince16Bits | kComplex | kBf16);

}  // namespace portacl::comparisons
