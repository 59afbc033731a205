// The fixed cases of the determinism test: generated with integers only, so that they are the same on every machine and
// with every compiler and library. Changing anything here changes the committed hashes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "determinism/subject.h"

namespace portacl::testing {

struct DeterminismCase {
  std::string name;  // unique: operator, number, dtypes, shapes, attributes
  std::vector<DtypeNumber> input_dtypes;
  std::vector<Shape> input_shapes;
  std::vector<std::vector<std::byte>> inputs;  // elements in row-major order
  DtypeNumber output_dtype = ACL_FLOAT;
  Shape output_shape;
  int32_t format = ACL_FORMAT_ND;  // of every tensor
  Attributes attributes;

  // All operands have the same shape, so that the case can be cut into pieces.
  bool HasOneShape() const;
};

// The cases of one operator, always the same.
std::vector<DeterminismCase> MakeCases(const Subject& subject);

// The hash of an output's elements in row-major order (FNV-1a, 64 bits). Every NaN counts as the same one.
uint64_t HashElements(DtypeNumber dtype, std::vector<std::byte> elements);

}  // namespace portacl::testing
