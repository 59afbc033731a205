// The building blocks of contract descriptions: ways for a call to deviate from the valid one (float32 tensors of
// shape [2, 3]), and the rows that operators have in common.
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
Deviation All(std::vector<Deviation> deviations);  // one after the other
Deviation Null(const std::string& tensor);
Deviation Reduction(int64_t reduction);
Deviation Beta(float beta);
Deviation Dtype(const std::string& tensor, DtypeNumber dtype);
Deviation Format(const std::string& tensor, int32_t format);
Deviation ShapeOf(const std::string& tensor, const Shape& shape);

// All tensors at once, in the order of the C signature.
Deviation Dtypes(std::vector<DtypeNumber> dtypes);
Deviation Shapes(std::vector<Shape> shapes);
Deviation AllShapes(const Shape& shape);
Deviation EveryDtype(DtypeNumber dtype);

// Leading ones until the tensor has that rank: it still broadcasts.
Deviation Rank(const std::string& tensor, size_t rank);
Deviation LastDim(const std::string& tensor, int64_t dim);

// A view of the tensor's shape over `storage` elements.
Deviation Strided(const std::string& tensor, const std::vector<int64_t>& strides, int64_t offset,
                  int64_t storage);

// Every element 77 after the last in a storage of one, whatever the rank.
Deviation OutsideItsStorage(const std::string& tensor);

// ---- Rows ----

// Null pointers, one by one and together: the first in the signature is named.
void AddNullRows(std::vector<Row>& rows, const std::vector<std::string>& tensors);

// Every rank to 8 is accepted, every higher one refused.
void AddRankRows(std::vector<Row>& rows, const std::vector<std::string>& tensors);

// Shapes of a gradient of three inputs that broadcast (gradOutput, self and target, by whatever names) to the shape of the
// output, the last of `tensors`, whatever the reduction.
void AddGradientShapeRows(std::vector<Row>& rows, const std::vector<std::string>& tensors);

// Dims that are none, and numbers of elements that no int64_t holds.
void AddDimRows(std::vector<Row>& rows, const std::vector<std::string>& tensors);

// Inputs that are not dense must stay inside their storage; dense ones, single elements and outputs are trusted.
void AddViewRows(std::vector<Row>& rows, const std::vector<std::string>& inputs, const std::string& output);

// Formats say nothing, whatever the rank and the number.
void AddFormatRows(std::vector<Row>& rows, const std::vector<std::string>& tensors);

// Each tensor of every type that there is, and of numbers that are none, among float32 ones: `accepted` everywhere,
// bfloat16 except on `without_bfloat16`, nothing else.
void AddSingleDtypeRows(std::vector<Row>& rows, const std::vector<std::string>& tensors,
                        const std::vector<Product>& without_bfloat16);

// Which dtypes each product lists, the thread without a device included.
using DtypeLists = std::map<Product, std::vector<DtypeNumber>>;

// `listed` everywhere, and `more` on the products named.
DtypeLists ListedWith(const std::vector<DtypeNumber>& listed, const std::vector<Product>& products,
                      const std::vector<DtypeNumber>& more);

// A row whose answer is 161002 naming `refused` where `accepted` does not have `dtype`, else `answer`.
Row ListedRow(const std::string& name, const Deviation& deviation, const DtypeLists& accepted,
              DtypeNumber dtype, const Answer& answer, const std::vector<std::string>& refused);

// Numbers that no dtype has.
const std::vector<DtypeNumber>& UnknownDtypes();

// Every mix of float32, float16 and bfloat16 over all tensors.
void AddDtypeMixRows(std::vector<Row>& rows, size_t tensors, const std::vector<Product>& without_bfloat16);

}  // namespace portacl::testing
