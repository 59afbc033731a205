// The products that tests run on: see products.h.
// SPDX-License-Identifier: Apache-2.0
#include "products.h"

#include <cstdlib>
#include <string>

namespace portacl::testing {

const char* ProductName(Product product) {
  switch (product) {
    case Product::k950:
      return "Ascend950";
    case Product::kA3:
      return "AtlasA3";
    case Product::kA2:
      return "AtlasA2";
    case Product::k310B:
      return "Ascend310B";
    case Product::k310P:
      return "Ascend310P";
    case Product::k910:
      return "Ascend910";
    case Product::kNoDevice:
      return "NoDeviceSet";
  }
  return "?";
}

const char* SocNameOf(Product product) {
  switch (product) {
    case Product::k950:
      return "Ascend950PR_9599";
    case Product::kA3:
      return "Ascend910_9391";
    case Product::kA2:
    case Product::kNoDevice:
      return "Ascend910B1";
    case Product::k310B:
      return "Ascend310B1";
    case Product::k310P:
      return "Ascend310P3";
    case Product::k910:
      return "Ascend910A";
  }
  return "?";
}

Product ProductInUse() {
  const char* const soc = std::getenv("PORTACL_SOC");
  for (const Product product : kAllProducts) {
    if (soc != nullptr && std::string(soc) == SocNameOf(product)) return product;
  }
  return Product::kA2;
}

}  // namespace portacl::testing
