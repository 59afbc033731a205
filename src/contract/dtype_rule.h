// Which dtypes an operator accepts on which product: one row per rule, one column per product.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "acl/settings/soc_profile.h"
#include "acl/text.h"

namespace portacl {

// A set of dtypes, one bit each; the order in messages is that of CANN's lists (FLOAT, FLOAT16, then the rest
// by number).
class DtypeSet {
 public:
  constexpr DtypeSet() = default;
  template <class... Dtypes>
  constexpr explicit DtypeSet(Dtypes... dtypes) : bits_(((uint64_t{1} << dtypes) | ...)) {}

  constexpr bool Contains(aclDataType dtype) const {
    const int number = dtype;  // callers pass any number, also ones that the enumeration does not have
    return number >= 0 && number < 64 && (bits_ >> number & 1) != 0;
  }
  constexpr bool operator==(const DtypeSet&) const = default;

 private:
  uint64_t bits_ = 0;
};

// Prints as [DT_FLOAT,DT_FLOAT16,].
void AddDtypeSet(Text& text, DtypeSet set) noexcept;

struct DtypeRule {
  DtypeSet by_product[kProductCount];

  constexpr DtypeSet For(Product product) const { return by_product[static_cast<int>(product)]; }
};

inline constexpr DtypeSet kNoDtype{};
inline constexpr DtypeSet kFloatAndHalf{ACL_FLOAT, ACL_FLOAT16};
inline constexpr DtypeSet kFloatHalfAndBf16{ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

// Each of them is converted to each other one (engine/move/conversion.h).
inline constexpr DtypeSet kConvertible{ACL_FLOAT, ACL_FLOAT16, ACL_BF16,   ACL_DOUBLE,    ACL_INT8,
                                       ACL_UINT8, ACL_INT16,   ACL_UINT16, ACL_INT32,     ACL_UINT32,
                                       ACL_INT64, ACL_UINT64,  ACL_BOOL,   ACL_COMPLEX64, ACL_COMPLEX128};

// BF16 from Atlas A2 on, as most of the loss operators have it. (CANN selects by SoC version for L1Loss*, by
// architecture for SmoothL1Loss* and MseLoss*; on the products here both select the same.)
inline constexpr DtypeRule kBf16SinceAtlasA2 = {{
    /* Atlas training    */ kFloatAndHalf,
    /* Atlas A2          */ kFloatHalfAndBf16,
    /* Atlas A3          */ kFloatHalfAndBf16,
    /* Ascend 950        */ kFloatHalfAndBf16,
    /* Atlas inference   */ kFloatAndHalf,
    /* Atlas 200I/500 A2 */ kFloatAndHalf,
    /* no device         */ kFloatAndHalf,
}};

// Atlas A2, A3 and Ascend 950 alone.
inline constexpr DtypeRule kNoneBeforeAtlasA2 = {{
    /* Atlas training    */ kNoDtype,
    /* Atlas A2          */ kFloatHalfAndBf16,
    /* Atlas A3          */ kFloatHalfAndBf16,
    /* Ascend 950        */ kFloatHalfAndBf16,
    /* Atlas inference   */ kNoDtype,
    /* Atlas 200I/500 A2 */ kNoDtype,
    /* no device         */ kNoDtype,
}};

}  // namespace portacl
