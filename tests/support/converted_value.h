// What a conversion between two dtypes must give, worked out one value at a time: the oracle of copies, casts and fills.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "dtype_rules.h"
#include "random_numbers.h"

namespace portacl::testing {

// Every dtype that is converted to every other.
const std::vector<DtypeNumber>& ConvertibleDtypes();

// The bytes of an element.
using Element = std::vector<std::byte>;

// `element` of dtype `from` as one of dtype `to`.
Element ConvertedElement(DtypeNumber from, const Element& element, DtypeNumber to);

// Equal bytes; where a number is NaN, any NaN will do.
bool IsSameElement(DtypeNumber dtype, const std::byte* found, const Element& expected);

// Values at which conversions change their mind, of all signs and sizes, then `random_count` of random bits and sizes.
std::vector<Element> TestElements(DtypeNumber dtype, int random_count, RandomNumbers& random);

}  // namespace portacl::testing
