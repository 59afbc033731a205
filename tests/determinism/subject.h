// An operator whose bits are promised, as the determinism test sees it. A file in subjects/ describes one and registers
// it; nothing else is needed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "support/operator_under_test.h"

namespace portacl::testing {

// A case of an operator whose output has not the shape to which its inputs broadcast.
struct GivenCase {
  std::vector<DtypeNumber> input_dtypes;
  std::vector<Shape> input_shapes;
  DtypeNumber output_dtype = ACL_FLOAT;
  Shape output_shape;
  size_t attributes = 0;  // which of the description's
  // Inputs that are indices, with what they lie below: from the least one, or from -below where they count from the end.
  struct Indices {
    size_t input;
    int64_t below;
    bool counts_from_end = false;
    int64_t least = 0;
  };
  std::vector<Indices> indices = {};
  int32_t format = ACL_FORMAT_ND;  // of every tensor
};

// What an output holds before the call.
enum class Start : uint8_t {
  kAnything,
  kFirstInput,  // of operators in place
  kZero         // dense and all zero: of operators that decide how much of it they fill
};

struct Subject {
  NumericDescription description;  // its oracle may be empty: results are compared with committed hashes
  // Whether every element of the output depends on the inputs' elements at its own position only, so that a tensor cut
  // into pieces gives the same bits (not so where a mean divides by the number of elements).
  std::function<bool(const Attributes&)> cuts_freely;
  // Where many elements are summed, one NaN or infinity would hide all others: then numbers are between -2 and 2, and
  // those of these inputs, by their number, not negative.
  bool sums_everything = false;
  std::vector<size_t> not_negative = {};
  bool is_plain_code = false;  // the same code runs whatever the instruction set
  // Where one formula serves many dtypes: the output's dtype for those of the inputs, kUndefinedDtype if they do not go
  // together. Then all of input_dtypes mix, and there are fewer cases: see MakeCases.
  std::function<DtypeNumber(const std::vector<DtypeNumber>& dtypes)> output_dtype = {};
  std::vector<GivenCase> given = {};  // these and no others
  Start start = Start::kAnything;
  const char* soc = nullptr;  // as PORTACL_SOC names a product; nullptr: the usual one
  uint64_t seed = 0xDE7E4;    // another one for operators that would otherwise have the results of others
};

std::vector<Subject>& Subjects();

struct SubjectRegistration {
  explicit SubjectRegistration(Subject subject) { Subjects().push_back(std::move(subject)); }
};

}  // namespace portacl::testing
