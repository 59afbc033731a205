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

Deviation Nothing();
Deviation All(std::vector<Deviation> deviations);  // in this order
Deviation Null(const std::string& tensor);
Deviation Reduction(int64_t reduction);
Deviation Beta(float beta);
Deviation Dtype(const std::string& tensor, DtypeNumber dtype);
Deviation Format(const std::string& tensor, int32_t format);
Deviation ShapeOf(const std::string& tensor, const Shape& shape);

// Change all tensors, in the order of the C signature.
Deviation Dtypes(std::vector<DtypeNumber> dtypes);
Deviation Shapes(std::vector<Shape> shapes);
Deviation AllShapes(const Shape& shape);
Deviation EveryDtype(DtypeNumber dtype);

// Prepends dims of 1 until the tensor has this rank; it still broadcasts.
Deviation Rank(const std::string& tensor, size_t rank);
Deviation LastDim(const std::string& tensor, int64_t dim);

// A view of the tensor's shape over `storage` elements.
Deviation Strided(const std::string& tensor, const std::vector<int64_t>& strides, int64_t offset,
                  int64_t storage);

// Places every element 77 elements past the end of a storage of one, whatever the rank.
Deviation OutsideItsStorage(const std::string& tensor);

// ---- Rows ----

// Adds null pointers, one by one and together. The message names the first in the signature.
void AddNullRows(std::vector<Row>& rows, const std::vector<std::string>& tensors);

// Accepts every rank to 8, and refuses every higher one.
void AddRankRows(std::vector<Row>& rows, const std::vector<std::string>& tensors);

// Shapes for a gradient of three inputs (gradOutput, self and target, under any names) that broadcast to the
// output's shape. The output is the last of `tensors`. Holds for every reduction.
void AddGradientShapeRows(std::vector<Row>& rows, const std::vector<std::string>& tensors);

// Adds negative dims, and numbers of elements that overflow int64_t.
void AddDimRows(std::vector<Row>& rows, const std::vector<std::string>& tensors);

// Inputs that are not dense must stay inside their storage. Dense inputs, single elements and outputs are
// trusted.
void AddViewRows(std::vector<Row>& rows, const std::vector<std::string>& inputs, const std::string& output);

// Any format is accepted, whatever the rank and the number.
void AddFormatRows(std::vector<Row>& rows, const std::vector<std::string>& tensors);

// Gives each tensor every dtype, and numbers that are no dtype, among float32 tensors. Accepts `accepted`
// everywhere, bfloat16 except on `without_bfloat16`, and nothing else.
void AddSingleDtypeRows(std::vector<Row>& rows, const std::vector<std::string>& tensors,
                        const std::vector<Product>& without_bfloat16);

// The dtypes that each product lists, and those of a thread without a device.
using DtypeLists = std::map<Product, std::vector<DtypeNumber>>;

// Lists `listed` everywhere, and also `more` on the named products.
DtypeLists ListedWith(const std::vector<DtypeNumber>& listed, const std::vector<Product>& products,
                      const std::vector<DtypeNumber>& more);

// Makes a row that expects 161002 naming `refused` where `accepted` lacks `dtype`, else `answer`.
Row ListedRow(const std::string& name, const Deviation& deviation, const DtypeLists& accepted,
              DtypeNumber dtype, const Answer& answer, const std::vector<std::string>& refused);

// Returns numbers that are no dtype.
const std::vector<DtypeNumber>& UnknownDtypes();

// Every mix of float32, float16 and bfloat16 over all tensors.
void AddDtypeMixRows(std::vector<Row>& rows, size_t tensors, const std::vector<Product>& without_bfloat16);

}  // namespace portacl::testing
