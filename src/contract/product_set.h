// Sets of products, used by the dtype lists and the conditions of CANN's operators.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include "acl/settings/soc_profile.h"

namespace portacl {

class ProductSet {
 public:
  constexpr ProductSet() = default;
  constexpr ProductSet(std::initializer_list<Product> products) {
    for (Product product : products) bits_ = static_cast<uint8_t>(bits_ | BitOf(product));
  }

  constexpr bool Contains(Product product) const { return (bits_ & BitOf(product)) != 0; }
  constexpr ProductSet operator|(ProductSet other) const {
    ProductSet both;
    both.bits_ = static_cast<uint8_t>(bits_ | other.bits_);
    return both;
  }
  // Returns the complement. "No device" counts as a product.
  constexpr ProductSet operator~() const {
    ProductSet others;
    others.bits_ = static_cast<uint8_t>(~bits_ & ((1u << kProductCount) - 1));
    return others;
  }
  constexpr bool operator==(const ProductSet&) const = default;

 private:
  static constexpr unsigned BitOf(Product product) { return 1u << static_cast<int>(product); }

  uint8_t bits_ = 0;
};

namespace products {
inline constexpr ProductSet kAll = ~ProductSet{};
inline constexpr ProductSet kAtlasA2AndA3{Product::kAtlasA2, Product::kAtlasA3};
inline constexpr ProductSet kAscend950{Product::kAscend950};
inline constexpr ProductSet kSinceAtlasA2 = kAtlasA2AndA3 | kAscend950;
// Without a device, CANN's operators take the lists of the oldest products.
inline constexpr ProductSet kBeforeAtlasA2 = ~kSinceAtlasA2;
inline constexpr ProductSet kBeforeAscend950 = ~kAscend950;
// The products that most of CANN's pages list.
inline constexpr ProductSet kWithout200I500A2 = ~ProductSet{Product::kAtlas200I500A2, Product::kNoDevice};
}  // namespace products

}  // namespace portacl
