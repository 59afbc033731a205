// The oracle of copies, casts and fills: computes a conversion between two dtypes one value at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "dtype_rules.h"
#include "random_numbers.h"

namespace portacl::testing {

// Returns the dtypes that convert to each other.
const std::vector<DtypeNumber>& ConvertibleDtypes();

// The bytes of an element.
using Element = std::vector<std::byte>;

// Converts `element` from one dtype to another.
Element ConvertedElement(DtypeNumber from, const Element& element, DtypeNumber to);

// Compares bytes. Any NaN equals any other NaN.
bool IsSameElement(DtypeNumber dtype, const std::byte* found, const Element& expected);

// Returns values at which conversions change their result, of all signs and sizes, and `random_count` random
// ones.
std::vector<Element> TestElements(DtypeNumber dtype, int random_count, RandomNumbers& random);

}  // namespace portacl::testing
