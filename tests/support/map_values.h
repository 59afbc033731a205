// Converts elements to numbers and back, makes test data, and compares results with a description's oracle.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "converted_value.h"
#include "map_operator.h"
#include "tensor_view.h"

namespace portacl::testing {

// Returns the exact value of an element; bool is 0 or 1.
Number NumberOf(DtypeNumber dtype, const std::byte* element);
Int IntegerOf(DtypeNumber dtype, const std::byte* element);

// Rounds a number to an element of a dtype.
Element ElementOfNumber(DtypeNumber dtype, Number value);

// Fills a tensor with special numbers, small integers, ordinary numbers, and numbers of all sizes.
void FillWithNumbers(HostTensor& tensor, bool unary_domain, RandomNumbers& random);

// Returns the elements of a tensor in row-major order.
std::vector<std::byte> ElementsOf(const HostTensor& tensor);

// Compares `found`, the output's elements of a call that Expected accepted, with the oracle. `inputs` holds
// the elements of every input tensor at its parameter's position. `positions` gives the input element for
// each output element. Returns a description of the first difference, or "".
std::string FirstDifference(const MapOperator& op, const PlanCall& call,
                            const std::vector<std::vector<std::byte>>& inputs,
                            const std::vector<std::vector<int64_t>>& positions,
                            const std::vector<std::byte>& found);

}  // namespace portacl::testing
