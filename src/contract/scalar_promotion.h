// Selects the dtype that an operator computes in when one operand is a scalar or a tensor without dims.
// CANN's operators follow several rules, which also differ by product.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/settings/soc_profile.h"
#include "aclnn/tensor.h"

namespace portacl {

// Rules, named after the operators that follow them. Notation of the descriptions: "STT" is PromoteType of
// the tensor's dtype with the scalar's, as if both were tensors'. "Ascend 950" is CombineDtypes of the
// tensor's dtype with CategoryDtype of the scalar's, with COMPLEX64 in place of COMPLEX32. "Narrow" means
// FLOAT16 and BF16. Text before "Ascend 950" describes the older products, unless it says "every product".
// Cases are tried from left to right.
enum class ScalarRule : uint8_t {
  // STT on every product: LeftShifts, and the first of the two tests of PowTensorScalar and PowScalarTensor.
  kAsTensors,
  // Adds, Subs: complex on either side STT; a floating tensor's; FLOAT for a DOUBLE scalar and a FLOAT output; a floating scalar or
  // a bool tensor STT; else the tensor's. Ascend 950, but FLOAT for a narrow result that rounds the scalar, or alpha (`second`),
  // by more than 2^-23.
  kAdds,
  // AddV3, on every product: complex STT; FLOAT for a floating tensor; else as kAdds before Ascend 950.
  kAddV3,
  // Rsubs: a floating tensor's; a floating scalar STT; else the tensor's, also for a complex scalar. Ascend 950 as kAdds.
  kRsubs,
  // Muls: complex STT; FLOAT for a BF16 tensor; another floating tensor's; FLOAT for a DOUBLE scalar with a bool tensor or a FLOAT
  // output; a floating scalar or a bool tensor STT; else the tensor's. Ascend 950 as kAdds, without alpha.
  kMuls,
  // Divs, DivMods with mode 0, for the cast to the output: the tensor's. Ascend 950, FLOAT for integers and
  // bool.
  kDivsResult,
  // DivMods with mode 2, for the cast to the output: the tensor's. Ascend 950. Mode 1 has no such test.
  kDivModsFloorResult,
  // Divs, for the computation: a complex scalar STT; a floating or complex tensor's; FLOAT for integers and
  // bool. Ascend 950, FLOAT for integers, bool and narrow dtypes.
  kDivs,
  // DivMods with mode 0: as kDivs, but FLOAT for DOUBLE. Ascend 950 as kDivs.
  kDivModsTrue,
  // DivMods with mode 1: complex STT; a FLOAT or narrow tensor's; INT32 with INT32; FLOAT for the rest. Ascend 950, FLOAT
  // for bool and narrow dtypes.
  kDivModsTruncate,
  // DivMods with mode 2: complex STT; a floating tensor's; else STT, FLOAT for bool. Ascend 950, FLOAT for bool and narrow dtypes.
  kDivModsFloor,
  // FloorDivides: STT. Ascend 950, FLOAT for narrow dtypes. (Bool is computed in FLOAT; the tests come before.)
  kFloorDivides,
  // PowTensorScalar: FLOAT for a DOUBLE scalar and a FLOAT output; a complex scalar STT; a floating tensor's; a floating scalar
  // or a bool tensor STT; else the tensor's. Ascend 950.
  kPowTensorScalar,
  // PowScalarTensor: as kPowTensorScalar, but the first case is FLOAT for a DOUBLE tensor and a FLOAT output.
  // Ascend 950.
  kPowScalarTensor,
  // RemainderTensorScalar: a floating tensor's; a floating scalar or a bool tensor STT; else the tensor's. Ascend 950, but with
  // the scalar's own dtype (INT32 with DOUBLE gives DOUBLE).
  kRemainderTensorScalar,
  // RemainderScalarTensor: the tensor's. Ascend 950 as kRemainderTensorScalar.
  kRemainderScalarTensor,
  // FmodScalar: STT. Ascend 950 as kRemainderTensorScalar.
  kFmodScalar,
  // EqScalar, NeScalar: a complex tensor's; a floating tensor's with a real scalar; a bool tensor, or a floating or complex scalar STT;
  // else the tensor's. Ascend 950.
  kEqScalar,
  // GtScalar, GeScalar: STT, but for a floating tensor with a DOUBLE scalar: the tensor's if its dtype holds the scalar to within
  // 2^-23, else DOUBLE. Ascend 950 (COMPLEX32 stays; the operators refuse complex).
  kGtScalar,
  // LtScalar: a floating tensor's; the tensor's with FLOAT for a DOUBLE scalar; else STT. Ascend 950 as kGtScalar.
  kLtScalar,
  // LeScalar: a floating tensor's; FLOAT for a DOUBLE scalar; else STT. Ascend 950 as kGtScalar.
  kLeScalar,
  // BitwiseAndScalar: STT. On Ascend 950 the tensor's, STT for a bool tensor.
  kBitwiseAndScalar,
  // BitwiseOrScalar, BitwiseXorScalar: STT, an INT64 scalar whose value fits counting as INT32. Ascend 950 as kBitwiseAndScalar.
  kBitwiseOrScalar,
  // Clamp, ClampMin, ClampMax: the output's. On Ascend 950 CombineDtypes of the tensor's dtype with the
  // bound's category, or, with two bounds (`second` is the other), with the promotion of both categories.
  kClamp,
};

// Combines dtypes by CANN's categories on Ascend 950. A complex `high` stays. A complex `low` makes a
// floating `high` complex: COMPLEX32 for FLOAT16, COMPLEX128 for DOUBLE, else COMPLEX64. It replaces an
// integer `high`. A floating `high` stays. A bool `high` or a floating `low` promotes. Else `high` stays.
aclDataType CombineDtypes(aclDataType high, aclDataType low) noexcept;

// Returns the category of a scalar's dtype on Ascend 950: COMPLEX64 for complex, FLOAT for floating, else the
// dtype.
aclDataType CategoryDtype(aclDataType scalar) noexcept;

// Returns the dtype in which comparisons, Maximum and Minimum compute two tensors: PromoteType. On Ascend
// 950, when exactly one of them has no dims, CombineDtypes of the other tensor's dtype with its dtype.
aclDataType PromoteByRank(Product product, const aclTensor& a, const aclTensor& b) noexcept;

// Returns the dtype that the rule gives, or ACL_DT_UNDEFINED when there is none. `out` is the output's dtype.
// `second` is alpha for kAdds and kRsubs and the other bound for kClamp; it may be null. Call it in the
// default floating-point environment.
aclDataType PromoteScalar(ScalarRule rule, Product product, aclDataType tensor, const aclScalar& scalar,
                          aclDataType out, const aclScalar* second = nullptr) noexcept;

}  // namespace portacl
