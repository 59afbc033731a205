// The oracle's knowledge of CANN's data types: names, sizes, values, and the promotion and cast tables,
// written down independently of the library under test.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "acl/acl_base.h"

namespace portacl::testing {

// A data type is carried as its number, because tests also pass numbers that no enumerator has.
using DtypeNumber = int32_t;

inline constexpr DtypeNumber kUndefinedDtype =
    28;  // CANN's internal number; ACL_DT_UNDEFINED (-1) means the same

inline aclDataType AsAclDataType(DtypeNumber dtype) { return static_cast<aclDataType>(dtype); }

// Every enumerator of aclDataType but ACL_DT_UNDEFINED.
const std::vector<DtypeNumber>& AllDtypes();

// As messages print it: DT_FLOAT, DT_BF16... A number without enumerator gives the number.
std::string DtypeName(DtypeNumber dtype);

// Bytes of one element; 0 for types that tests never store.
int64_t ElementSize(DtypeNumber dtype);

bool IsComplexDtype(DtypeNumber dtype);
bool IsFloatingDtype(DtypeNumber dtype);  // not complex
bool IsIntegerDtype(DtypeNumber dtype);   // the eight integer types of 8 to 64 bits, not bool

// The common type of two operands, kUndefinedDtype where there is none. Not symmetric for unsigned with
// complex.
DtypeNumber PromoteDtypes(DtypeNumber first, DtypeNumber second);

bool CanCastDtype(DtypeNumber from, DtypeNumber to);

// The value of an element of a floating type (f32, f16, bf16, f64; the real part of a complex one).
double DecodeReal(DtypeNumber dtype, const void* element);

// The value of an element of an integer type or bool; a bool byte that is not zero counts as 1.
int64_t DecodeInteger(DtypeNumber dtype, const void* element);

// Writes `value` as an element, rounded once; integers are clamped, bool becomes 0 or 1, complex gets
// imaginary +0.
void EncodeElement(DtypeNumber dtype, double value, void* element);

// Writes `value` as an element of an integer type (the low bits) or of bool (the low byte, whatever it is).
void EncodeIntegerElement(DtypeNumber dtype, int64_t value, void* element);

// An integer converted to floating type `dtype` (f32, f16, bf16) by one rounding, as a double.
double IntegerConvertedTo(DtypeNumber dtype, int64_t value);

}  // namespace portacl::testing
