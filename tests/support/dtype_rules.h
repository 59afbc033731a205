// The oracle's data types: names, sizes, values, and the promotion and cast tables. Written independently of
// the library under test.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "acl/acl_base.h"

namespace portacl::testing {

// A data type is passed as a number, because tests also pass numbers that no enumerator has.
using DtypeNumber = int32_t;

inline constexpr DtypeNumber kUndefinedDtype =
    28;  // CANN's internal number; ACL_DT_UNDEFINED (-1) means the same

inline aclDataType AsAclDataType(DtypeNumber dtype) { return static_cast<aclDataType>(dtype); }

// Returns every enumerator of aclDataType except ACL_DT_UNDEFINED.
const std::vector<DtypeNumber>& AllDtypes();

// Returns the name in messages: DT_FLOAT, DT_BF16... A number without an enumerator gives the number.
std::string DtypeName(DtypeNumber dtype);

// Returns the bytes of one element, or 0 for types that tests never store.
int64_t ElementSize(DtypeNumber dtype);

bool IsComplexDtype(DtypeNumber dtype);
bool IsFloatingDtype(DtypeNumber dtype);  // not complex
bool IsIntegerDtype(DtypeNumber dtype);   // the eight integer types of 8 to 64 bits, not bool

// Returns the common type of two operands, or kUndefinedDtype where there is none. Not symmetric for unsigned
// with complex.
DtypeNumber PromoteDtypes(DtypeNumber first, DtypeNumber second);

bool CanCastDtype(DtypeNumber from, DtypeNumber to);

// Returns the value of an element of a floating type (f32, f16, bf16, f64; the real part of a complex one).
double DecodeReal(DtypeNumber dtype, const void* element);

// Returns the value of an element of an integer type or bool. A nonzero bool byte counts as 1.
int64_t DecodeInteger(DtypeNumber dtype, const void* element);

// Writes `value` as an element, rounded once. Clamps integers. Bool becomes 0 or 1. Complex gets imaginary
// +0.
void EncodeElement(DtypeNumber dtype, double value, void* element);

// Writes `value` as an element of an integer type (the low bits) or of bool (the low byte, whatever it is).
void EncodeIntegerElement(DtypeNumber dtype, int64_t value, void* element);

// Converts an integer to floating type `dtype` (f32, f16, bf16) with one rounding, and returns it as a
// double.
double IntegerConvertedTo(DtypeNumber dtype, int64_t value);

}  // namespace portacl::testing
