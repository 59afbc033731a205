// Attributes of operators that are called by the name of their type.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "acl/acl_base.h"
#include "base/text.h"

namespace portacl {

using AttributeValue = std::variant<bool, int64_t, float, std::string, aclDataType, std::vector<bool>,
                                    std::vector<int64_t>, std::vector<float>, std::vector<std::string>,
                                    std::vector<aclDataType>, std::vector<std::vector<int64_t>>>;

// "name=value, name=value", by name.
// NOLINTNEXTLINE(bugprone-exception-escape): std::visit throws for a variant without a value alone; none is made
void AddAttributes(Text& text, const std::map<std::string, AttributeValue>& attributes) noexcept;

}  // namespace portacl

struct aclopAttr {
  std::map<std::string, portacl::AttributeValue> values;
};
