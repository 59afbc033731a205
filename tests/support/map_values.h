// Elements as numbers and back, test data, and the comparison of a result's elements with a description's oracle.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "converted_value.h"
#include "map_operator.h"
#include "tensor_view.h"

namespace portacl::testing {

// The value of an element, exactly; bool is 0 or 1.
Number NumberOf(DtypeNumber dtype, const std::byte* element);
Int IntegerOf(DtypeNumber dtype, const std::byte* element);

// A number rounded to an element of a dtype.
Element ElementOfNumber(DtypeNumber dtype, Number value);

// Fills a tensor with numbers of every kind: special ones, small whole ones, ordinary ones, all sizes.
void FillWithNumbers(HostTensor& tensor, bool unary_domain, RandomNumbers& random);

// The elements of a tensor in row-major order.
std::vector<std::byte> ElementsOf(const HostTensor& tensor);

// Compares `found`, the elements of the output of a call that Expected accepted, with the oracle. `inputs` holds the elements
// of every tensor that is an input, at its parameter's place, and `positions` where each finds the element for each of the
// output's. Says what is wrong in the first place that is, else "".
std::string FirstDifference(const MapCall& call, const std::vector<std::vector<std::byte>>& inputs,
                            const std::vector<std::vector<int64_t>>& positions,
                            const std::vector<std::byte>& found);

}  // namespace portacl::testing
