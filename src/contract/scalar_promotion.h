// Selects the dtype that an operator computes in when one operand is a scalar or a tensor without dims.
// CANN's operators follow several rules, which also differ by product.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/settings/soc_profile.h"
#include "aclnn/tensor.h"

namespace portacl {

// Rules, named after the operators that follow them. Each lists cases as "condition: dtype", of which the
// first that applies decides.
//
// T is the tensor's dtype, S the scalar's, and Out the output's. Tensors is PromoteType(T, S), as if both
// were tensors' dtypes. Ascend950 is CombineDtypes(T, CategoryDtype(S)), with COMPLEX64 in place of COMPLEX32. Narrow
// dtypes are FLOAT16 and BF16. Cases after "950:" are those of Ascend 950, the others those of the
// other products. A rule without "950:" holds on every product.
enum class ScalarRule : uint8_t {
  // LeftShifts, and the first check of PowTensorScalar and PowScalarTensor. Tensors.
  kAsTensors,
  // Adds, Subs. Complex T or S: Tensors. Floating T: T. S DOUBLE and Out FLOAT: FLOAT. Floating S or bool T: Tensors.
  // Else T. 950: FLOAT if Ascend950 is narrow and rounds the scalar, or alpha (`second`), by more than 2^-23. Else
  // Ascend950.
  kAdds,
  // AddV3. Complex T or S: Tensors. Floating T: FLOAT. Else as kAdds on products before Atlas A2.
  kAddV3,
  // Rsubs. Floating S and T not floating: Tensors. Else T. 950: as kAdds.
  kRsubs,
  // Muls. Complex T or S: Tensors. T BF16: FLOAT. Other floating T: T. S DOUBLE, and T bool or Out FLOAT: FLOAT.
  // Floating S or bool T: Tensors. Else T. 950: as kAdds, without alpha.
  kMuls,
  // Divs and DivMods with mode 0, for the cast to the output. T. 950: FLOAT for an integer or bool Ascend950, else
  // Ascend950.
  kDivsResult,
  // DivMods with mode 2, for the cast to the output. T. 950: Ascend950. Mode 1 has no such check.
  kDivModsFloorResult,
  // Divs, for the computation. Complex S: Tensors. Integer or bool T: FLOAT. Else T. 950: FLOAT for an integer,
  // bool or narrow Ascend950, else Ascend950.
  kDivs,
  // DivMods with mode 0, for the computation. As kDivs, but FLOAT for T DOUBLE. 950: as kDivs.
  kDivModsTrue,
  // DivMods with mode 1. Complex T or S: Tensors. Narrow T, or T and S INT32: T. Else FLOAT. 950: FLOAT for a
  // bool or narrow Ascend950, else Ascend950.
  kDivModsTruncate,
  // DivMods with mode 2. Floating T and real S: T. Else Tensors, with FLOAT for bool. 950: FLOAT for a bool or
  // narrow Ascend950, else Ascend950.
  kDivModsFloor,
  // FloorDivides. Tensors. 950: FLOAT for a narrow Ascend950, else Ascend950. (Bool is computed in FLOAT; the checks come
  // before that.)
  kFloorDivides,
  // PowTensorScalar. S DOUBLE and Out FLOAT: FLOAT. Complex S: Tensors. Floating T: T. Floating S or bool T: Tensors.
  // Else T. 950: Ascend950.
  kPowTensorScalar,
  // PowScalarTensor. T DOUBLE and Out FLOAT: FLOAT. Else as kPowTensorScalar without its first case, and with
  // PromoteType(S, T) for Tensors. 950: Ascend950.
  kPowScalarTensor,
  // RemainderTensorScalar. Floating T: T. Floating S or bool T: Tensors. Else T. 950: CombineDtypes(T, S), thus
  // DOUBLE for INT32 with DOUBLE.
  kRemainderTensorScalar,
  // RemainderScalarTensor. T. 950: as kRemainderTensorScalar.
  kRemainderScalarTensor,
  // FmodScalar. Tensors. 950: as kRemainderTensorScalar.
  kFmodScalar,
  // EqScalar, NeScalar. Complex T: T. Floating T and real S: T. Bool T, or floating or complex S: Tensors. Else
  // T. 950: Ascend950.
  kEqScalar,
  // GtScalar, GeScalar. Floating T and S DOUBLE: T if it holds the scalar to within 2^-23, else DOUBLE. Else
  // Tensors. 950: Ascend950, but COMPLEX32 stays. (The operators refuse complex dtypes.)
  kGtScalar,
  // LtScalar. Floating T: T. S DOUBLE: PromoteType(T, FLOAT). Else Tensors. 950: as kGtScalar.
  kLtScalar,
  // LeScalar. Floating T: T. S DOUBLE: FLOAT. Else Tensors. 950: as kGtScalar.
  kLeScalar,
  // BitwiseAndScalar. Tensors. 950: CombineDtypes(T, S), which is Tensors for bool T, else T.
  kBitwiseAndScalar,
  // BitwiseOrScalar, BitwiseXorScalar. Tensors, with INT32 for an INT64 scalar whose value fits. 950: as
  // kBitwiseAndScalar.
  kBitwiseOrScalar,
  // Clamp, ClampMin, ClampMax. Out. 950: Ascend950, with COMPLEX32 kept. With two bounds (`second` is the other),
  // the promotion of both categories takes the place of CategoryDtype(S).
  kClamp,
};

// Combines dtypes by CANN's categories on Ascend 950. A complex `high` stays. A complex `low` replaces an
// integer or bool `high`, and makes a floating `high` complex: COMPLEX32 for FLOAT16, COMPLEX128 for DOUBLE,
// else COMPLEX64. A floating `high` stays. A bool `high`, or a floating `low`, gives PromoteType of both.
// Else `high` stays.
aclDataType CombineDtypes(aclDataType high, aclDataType low) noexcept;

// Returns the category of a scalar's dtype on Ascend 950: COMPLEX64 for complex, FLOAT for floating, else the
// dtype.
aclDataType CategoryDtype(aclDataType scalar) noexcept;

// Returns the dtype in which comparisons, Maximum and Minimum compute two tensors: PromoteType of both. On
// Ascend 950, if exactly one of them has no dims, CombineDtypes(dtype of the tensor with dims, dtype of the
// other).
aclDataType PromoteByRank(Product product, const aclTensor& a, const aclTensor& b) noexcept;

// Returns the dtype that the rule gives, or ACL_DT_UNDEFINED when there is none. `out` is the output's dtype.
// `second` is alpha for kAdds and kRsubs and the other bound for kClamp; it may be null. Call it in the
// default floating-point environment.
aclDataType PromoteScalar(ScalarRule rule, Product product, aclDataType tensor, const aclScalar& scalar,
                          aclDataType out, const aclScalar* second = nullptr) noexcept;

}  // namespace portacl
