// Lists the dtypes that an operator accepts on each product: one row per rule, one column per product.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "acl/settings/soc_profile.h"
#include "base/text.h"
#include "contract/product_set.h"

namespace portacl {

// A set of dtypes, one bit each. Messages list FLOAT and FLOAT16 first, then the rest by number, as CANN's
// lists do.
class DtypeSet {
 public:
  constexpr DtypeSet() = default;
  template <class... Dtypes>
  constexpr explicit DtypeSet(Dtypes... dtypes) : bits_(((uint64_t{1} << dtypes) | ...)) {}

  constexpr bool Contains(aclDataType dtype) const {
    const int number = dtype;  // callers pass any number, also numbers without an enumerator
    return number >= 0 && number < 64 && (bits_ >> number & 1) != 0;
  }
  constexpr bool IsEmpty() const { return bits_ == 0; }
  constexpr DtypeSet operator|(DtypeSet other) const { return FromBits(bits_ | other.bits_); }
  constexpr DtypeSet operator&(DtypeSet other) const { return FromBits(bits_ & other.bits_); }
  constexpr DtypeSet Without(DtypeSet other) const { return FromBits(bits_ & ~other.bits_); }
  constexpr bool operator==(const DtypeSet&) const = default;

 private:
  static constexpr DtypeSet FromBits(uint64_t bits) {
    DtypeSet set;
    set.bits_ = bits;
    return set;
  }

  uint64_t bits_ = 0;
};

// Prints a set as [DT_FLOAT,DT_FLOAT16,].
void AddDtypeSet(Text& text, DtypeSet set) noexcept;

struct DtypeRule {
  DtypeSet by_product[kProductCount];

  constexpr DtypeSet For(Product product) const { return by_product[static_cast<int>(product)]; }

  // Returns the rule with `set` as the list of the given products.
  constexpr DtypeRule On(ProductSet products, DtypeSet set) const {
    DtypeRule rule = *this;
    for (int i = 0; i < kProductCount; ++i) {
      if (products.Contains(static_cast<Product>(i))) rule.by_product[i] = set;
    }
    return rule;
  }
  // Returns the rule with empty lists on all other products, for a page that lists only the given products.
  constexpr DtypeRule OnlyOn(ProductSet products) const { return On(~products, DtypeSet{}); }
};

// Short ways to write a rule. A list that depends on anything else gives each product its entry, or uses
// On().
constexpr DtypeRule Everywhere(DtypeSet set) { return DtypeRule{}.On(products::kAll, set); }
// Takes one set for the products before Atlas A2 and for no device, one for Atlas A2 and A3, and one for
// Ascend 950.
constexpr DtypeRule ByGeneration(DtypeSet before, DtypeSet atlas_a2, DtypeSet ascend_950) {
  return Everywhere(before).On(products::kAtlasA2AndA3, atlas_a2).On(products::kAscend950, ascend_950);
}
constexpr DtypeRule SinceAtlasA2(DtypeSet set, DtypeSet before = {}) {
  return ByGeneration(before, set, set);
}
constexpr DtypeRule WithBf16SinceAtlasA2(DtypeSet set) { return SinceAtlasA2(set | DtypeSet(ACL_BF16), set); }

inline constexpr DtypeSet kNoDtype{};
inline constexpr DtypeSet kFloatAndHalf{ACL_FLOAT, ACL_FLOAT16};
inline constexpr DtypeSet kFloatHalfAndBf16{ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
// Sets from which the lists of arithmetic and pointwise operators are joined with |.
inline constexpr DtypeSet kBf16{ACL_BF16};
inline constexpr DtypeSet kDouble{ACL_DOUBLE};
inline constexpr DtypeSet kBool{ACL_BOOL};
inline constexpr DtypeSet kSignedIntegers{ACL_INT8, ACL_INT16, ACL_INT32, ACL_INT64};
inline constexpr DtypeSet kIntegers{ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64};
inline constexpr DtypeSet kIntegersAndBool{ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_BOOL};
inline constexpr DtypeSet kUnsignedSince16Bits{ACL_UINT16, ACL_UINT32, ACL_UINT64};
inline constexpr DtypeSet kComplex{ACL_COMPLEX64, ACL_COMPLEX128};
// The dtypes that arithmetic takes on every product: all real and complex ones but BF16 and the wider
// unsigned integers.
inline constexpr DtypeSet kArithmetic{ACL_FLOAT, ACL_FLOAT16,   ACL_DOUBLE,    ACL_INT8,
                                      ACL_UINT8, ACL_INT16,     ACL_INT32,     ACL_INT64,
                                      ACL_BOOL,  ACL_COMPLEX64, ACL_COMPLEX128};
// kArithmetic without complex numbers.
inline constexpr DtypeSet kRealArithmetic{ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_INT8, ACL_UINT8,
                                          ACL_INT16, ACL_INT32,   ACL_INT64,  ACL_BOOL};

// The dtypes that convert to each other (engine/move/conversion.h).
inline constexpr DtypeSet kConvertible{ACL_FLOAT, ACL_FLOAT16, ACL_BF16,   ACL_DOUBLE,    ACL_INT8,
                                       ACL_UINT8, ACL_INT16,   ACL_UINT16, ACL_INT32,     ACL_UINT32,
                                       ACL_INT64, ACL_UINT64,  ACL_BOOL,   ACL_COMPLEX64, ACL_COMPLEX128};

// The list of most loss operators: BF16 from Atlas A2 on. CANN selects by SoC version for L1Loss* and by
// architecture for SmoothL1Loss* and MseLoss*; on the products here both select the same.
inline constexpr DtypeRule kBf16SinceAtlasA2 = SinceAtlasA2(kFloatHalfAndBf16, kFloatAndHalf);

// The list of arithmetic operators.
inline constexpr DtypeRule kArithmeticDtypes = WithBf16SinceAtlasA2(kArithmetic);
inline constexpr DtypeRule kRealArithmeticDtypes = WithBf16SinceAtlasA2(kRealArithmetic);

// Floating dtypes on Atlas A2, A3 and Ascend 950; nothing on other products.
inline constexpr DtypeRule kNoneBeforeAtlasA2 = SinceAtlasA2(kFloatHalfAndBf16);

}  // namespace portacl
