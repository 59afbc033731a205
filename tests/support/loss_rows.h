// Contract rows that forward losses have in common: their tensors are self, target and an output.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "contract_rows.h"

namespace portacl::testing {

inline const std::vector<std::string> kLossInputs = {"self", "target"};

// Products whose list of types has no bfloat16, for operators that all others accept.
inline const std::vector<Product> kProductsWithoutBfloat16 = {Product::k310B, Product::k310P, Product::k910,
                                                              Product::kNoDevice};

// A valid call with a reduction: the output is a scalar.
Deviation Reduced(int64_t reduction, const std::string& output);

// Which values reduction has: 0 to `last`, and what others answer, empty tensors or not.
void AddLossReductionRows(std::vector<Row>& rows, int64_t last, const std::string& output);

// The shapes of inputs, and of the output without a reduction.
void AddLossShapeRows(std::vector<Row>& rows, const std::string& output);

// Where a scalar result may not go to one element of another shape, without a reduction.
void AddScalarShapeRow(std::vector<Row>& rows, const std::string& output);

// The shapes of the output with each of the reductions 1 to `last`, for inputs of shape [2, 3].
void AddReducedShapeRows(std::vector<Row>& rows, int64_t last, const std::string& output,
                         const std::vector<Shape>& accepted, const std::vector<Shape>& refused,
                         aclnnStatus code);

// Empty inputs: success with each reduction, with the given output shape for those from 1 on.
void AddEmptyRows(std::vector<Row>& rows, int64_t last, const std::string& output, const Shape& self,
                  const Shape& target, const Shape& unreduced, const Shape& reduced);

// Views with a reduction are looked at as without, except where the inputs are empty.
void AddReducedViewRows(std::vector<Row>& rows, int64_t last, const std::string& output);

}  // namespace portacl::testing
