// The products that tests run on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>

namespace portacl::testing {

// Products whose answers may differ. kNoDevice is a thread on which no device was set.
enum class Product { k950, kA3, kA2, k310B, k310P, k910, kNoDevice };

inline constexpr Product kAllProducts[] = {Product::k950,  Product::kA3,  Product::kA2,      Product::k310B,
                                           Product::k310P, Product::k910, Product::kNoDevice};

const char* ProductName(Product product);
inline void PrintTo(Product product, std::ostream* out) { *out << ProductName(product); }
const char* SocNameOf(Product product);

// The product that PORTACL_SOC names; kA2 without a name.
Product ProductInUse();

}  // namespace portacl::testing
