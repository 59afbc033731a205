// Contract rows shared by forward losses, whose tensors are self, target and an output.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "contract_rows.h"

namespace portacl::testing {

inline const std::vector<std::string> kLossInputs = {"self", "target"};

// Products whose dtype list lacks bfloat16, for operators that are accepted on all products.
inline const std::vector<Product> kProductsWithoutBfloat16 = {Product::k310B, Product::k310P, Product::k910,
                                                              Product::kNoDevice};

// A valid call with a reduction: the output is a scalar.
Deviation Reduced(int64_t reduction, const std::string& output);

// Accepts reductions 0 to `last`, and checks the answers to other values, for empty tensors too.
void AddLossReductionRows(std::vector<Row>& rows, int64_t last, const std::string& output);

// Checks the shapes of inputs, and of the output without a reduction.
void AddLossShapeRows(std::vector<Row>& rows, const std::string& output);

// Refuses an output of one element in another shape for a scalar result, without a reduction.
void AddScalarShapeRow(std::vector<Row>& rows, const std::string& output);

// Checks the shapes of the output with each of the reductions 1 to `last`, for inputs of shape [2, 3].
void AddReducedShapeRows(std::vector<Row>& rows, int64_t last, const std::string& output,
                         const std::vector<Shape>& accepted, const std::vector<Shape>& refused,
                         aclnnStatus code);

// Expects success for empty inputs with each reduction. Reductions from 1 on have the given output shape.
void AddEmptyRows(std::vector<Row>& rows, int64_t last, const std::string& output, const Shape& self,
                  const Shape& target, const Shape& unreduced, const Shape& reduced);

// Checks views with a reduction like those without, except where the inputs are empty.
void AddReducedViewRows(std::vector<Row>& rows, int64_t last, const std::string& output);

}  // namespace portacl::testing
