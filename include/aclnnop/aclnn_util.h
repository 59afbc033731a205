// aclnnop/aclnn_util.h: marks the operator functions as exported, wherever they are compiled; and says what holds for all
// operators, whose headers refer to it.
// SPDX-License-Identifier: Apache-2.0
//
// The two phases
//   Phase 1, ...GetWorkspaceSize, checks its arguments and plans the work; tensors stay the caller's, their addresses are taken
//   over, and they must not be changed or destroyed before phase 2 has returned. It may be called from several threads at
//   once. Before the checks that a header lists: 161001 workspaceSize or executor is null; 561101 no memory for an executor. After
//   them: 161002 for a negative dimension, or a shape whose number of elements does not fit into int64_t. Where a code is returned,
//   nothing is stored. aclDestroyAclOpExecutor releases the executor if phase 2 is never called.
//   Phase 2 gets the workspace that phase 1 asked for (null where it is 0), the executor, which is used up by the call, whatever
//   it returns, and a stream (null: the default stream of the calling thread's current context). It may run on another
//   thread. The data of all operands must live until the work is done. It returns 0, or, with nothing written:
//     161001  executor is null; a workspace is needed, or workspaceSize is not 0, and workspace is null; or a tensor that has
//             elements has no data address
//     161002  workspaceSize is smaller than what phase 1 asked for
//     361001  stream is null and the thread has no device, or stream is unknown
//     561000  executor was used before or never existed
//
// Views
//   Rank 0 to 8. Inputs broadcast like NumPy's arrays: right-aligned, a missing dim or one of length 1 takes the other's length
//   (1 with 0 gives 0). Any strides and offsets are read and written in place, without workspace; negative strides too. Formats
//   change nothing, except that an operand of a private format counts as dense. An output may be the very view of an input (in
//   place); one that overlaps itself (stride 0) or, in another view, an input has an undefined result; nothing outside the
//   operands is ever read or written. When an operand is empty, nothing is written.
//
// Losses
//   Computed in float32 in the order that the header writes, and rounded once to the result's type, to nearest even. A sum is
//   accumulated in float64 in a fixed order from float32 terms, multiplied by c in float64 and rounded once, so that only this
//   rounding can overflow; c = float(1.0 / double(n)). Division is a true one, exp and log are exact to 1 unit in the last place.
//   Zeros, infinities and NaN follow IEEE 754. Workspace is asked for by long sums alone.
//   "The product's list" of types is, if the header does not say otherwise, FLOAT, FLOAT16 and, on Atlas A2, A3 and Ascend 950,
//   BF16; operands' types may differ from each other.
//
// The same inputs give the same bits on every machine, instruction set and thread count, whatever floating-point environment the
// caller has set; but a NaN is a NaN, its payload is not promised.
//
// Conversions, with the same bits on every machine, whatever floating-point environment the caller has set
//   to a float       one rounding, to nearest even, directly from the exact value; beyond the largest number infinity; NaN stays NaN
//   float -> integer truncated toward zero; NaN gives 0. INT32, INT64 and UINT64 get the nearest value that they have (negative
//                    numbers into UINT64 count from 2^64 down); the narrower ones and UINT32 the low bits of the INT64
//   integer -> integer that is narrower: the low bits
//   any -> BOOL      whether it is not 0 (NaN is true; a complex number: either part); BOOL -> any: 0 or 1, whatever byte is true
//   complex -> real  the real part; real -> complex: the imaginary part is 0
#ifndef PORTACL_ACLNNOP_ACLNN_UTIL_H_
#define PORTACL_ACLNNOP_ACLNN_UTIL_H_

#ifndef ACLNN_API
#define ACLNN_API __attribute__((visibility("default")))
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_UTIL_H_
