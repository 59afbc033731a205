// Builds contract descriptions: deviations of a call from the valid one (float32 tensors of shape [2, 3]),
// and rows that operators share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "contract_suite.h"

namespace portacl::testing {

inline constexpr aclnnStatus kOk = 0;
inline constexpr aclnnStatus kNullptr = 161001;
inline constexpr aclnnStatus kInvalid = 161002;
inline constexpr aclnnStatus kInner = 561000;
inline constexpr aclnnStatus kInnerNullptr = 561103;

inline constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
inline constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

// ---- Deviations ----

Deviation All(std::vector<Deviation> deviations);  // in this order
Deviation Dtype(const std::string& tensor, DtypeNumber dtype);
Deviation ShapeOf(const std::string& tensor, const Shape& shape);

// Change all tensors, in the order of the C signature.
Deviation Dtypes(std::vector<DtypeNumber> dtypes);
Deviation Shapes(std::vector<Shape> shapes);
Deviation AllShapes(const Shape& shape);
Deviation EveryDtype(DtypeNumber dtype);

// Prepends dims of 1 until the tensor has this rank; it still broadcasts.
Deviation Rank(const std::string& tensor, size_t rank);

// A view of the tensor's shape over `storage` elements.
Deviation Strided(const std::string& tensor, const std::vector<int64_t>& strides, int64_t offset,
                  int64_t storage);

// ---- Rows ----

// Adds negative dims, and numbers of elements that overflow int64_t.
void AddDimRows(std::vector<Row>& rows, const std::vector<std::string>& tensors);

// Inputs that are not dense must stay inside their storage. Dense inputs, single elements and outputs are
// trusted.
void AddViewRows(std::vector<Row>& rows, const std::vector<std::string>& inputs, const std::string& output);

// The dtypes that each product lists, and those of a thread without a device.
using DtypeLists = std::map<Product, std::vector<DtypeNumber>>;

// Lists `listed` everywhere, and also `more` on the named products.
DtypeLists ListedWith(const std::vector<DtypeNumber>& listed, const std::vector<Product>& products,
                      const std::vector<DtypeNumber>& more);

// Returns numbers that are no dtype.
const std::vector<DtypeNumber>& UnknownDtypes();

}  // namespace portacl::testing
