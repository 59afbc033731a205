// Runs one numeric case: makes the operands, calls the operator, and compares every element and every
// untouched byte.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fp_environment.h"
#include "operator_under_test.h"
#include "tensor_view.h"

namespace portacl::testing {

enum class Fill {
  kMixed,    // numbers in [-5, 5], many of them equal between operands, and some arbitrary bit patterns
  kOrdinary  // the same without the arbitrary bit patterns
};

struct OperandPlan {
  DtypeNumber dtype = ACL_FLOAT;
  Shape shape;
  Layout layout = Layout::kDense;
  Placement placement;
};

struct NumericCase {
  std::vector<OperandPlan> inputs;
  OperandPlan output;  // its shape follows from the inputs
  Attributes attributes;
  Fill fill = Fill::kMixed;
  uint64_t seed = 1;
  int in_place = -1;  // the input whose storage and view the output shares
  const FpMode* fp_mode = nullptr;
};

std::string Describe(const NumericDescription& op, const NumericCase& c);

// Operands that are ready for a call. Tests that need particular values fill them themselves.
struct Operands {
  std::vector<HostTensor> inputs;
  std::vector<HostTensor> output;  // exactly one
};

// Replaces types that the operator does not combine with those of the first input, or of the input that
// decides.
Operands MakeOperands(const NumericDescription& op, const NumericCase& c);
void FillInputs(const NumericCase& c, Operands& operands);

// Calls the operator and compares with the oracle. Reports failures to GoogleTest with the case's
// description. Returns whether all checks passed.
bool CheckOperands(const NumericDescription& op, const NumericCase& c, Operands& operands,
                   aclrtStream stream);

bool CheckCase(const NumericDescription& op, const NumericCase& c, aclrtStream stream);

// Returns the output's elements, dense, with every NaN replaced by one NaN. Fails the test if the call does
// not succeed.
std::vector<std::byte> ComputeBytes(const NumericDescription& op, const NumericCase& c, aclrtStream stream);

// Returns how many cases this process has checked.
int64_t NumericCasesChecked();

}  // namespace portacl::testing
