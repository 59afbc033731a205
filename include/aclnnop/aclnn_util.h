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
// Random numbers
//   A number depends only on seed, offset and its index in row-major order, not on strides, threads or the processor. The generator
//   is Philox4x32-10: the key is seed, the counter's low half offset, its high half the index / 4. A call uses the numbers of four
//   offsets, so calls of one seed whose offsets are at least 4 apart share no number, whatever their sizes. Seed and offset
//   are any numbers; the steps of 4 that CANN asks for are not checked. The numbers are not those of an NPU.
//
// Losses
//   Computed in float32 in the order that the header writes, and rounded once to the result's type, to nearest even. A sum is
//   accumulated in float64 in a fixed order from float32 terms, multiplied by c in float64 and rounded once, so that only this
//   rounding can overflow; c = float(1.0 / double(n)). Division is a true one, exp and log are exact to 1 unit in the last place.
//   Zeros, infinities and NaN follow IEEE 754. Workspace is asked for by long sums alone.
//   "The product's list" of types is, if the header does not say otherwise, FLOAT, FLOAT16 and, on Atlas A2, A3 and Ascend 950,
//   BF16; operands' types may differ from each other.
//
// Rows: softmax, norms and their gradients
//   A row is what some dims span; its result depends on nothing else. Computed in float32 (DOUBLE in float64) in the order that the header
//   writes, and rounded once to each output's type, to nearest even. Sums and means of a row, and sums over rows, are accumulated in
//   float64 in a fixed order. Any strides are read and written in place. "The list" of types is, if the header does not say otherwise,
//   FLOAT, FLOAT16 and, on Atlas A2, A3 and Ascend 950, BF16. After what a header lists: 561103 for an input that is not dense and
//   reaches outside its storage.
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
//
// Words for types, in the headers of elementwise operators
//   floats         FLOAT, FLOAT16 and, on Atlas A2, A3 and Ascend 950, BF16 ("BF16 everywhere": on all products). DOUBLE is
//                  named apart
//   integers       INT8, UINT8, INT16, INT32, INT64
//   unsigned       UINT16, UINT32, UINT64
//   complex        COMPLEX64, COMPLEX128
//   arithmetic     floats, DOUBLE, complex, integers, BOOL
//   A type casts to another, except complex to real, floating to integers, unsigned or BOOL, and those, but for BOOL, to BOOL.
//
// Promotion of two tensors, to their common type P
//   Equal types stay. BOOL takes the other type; of two integers the wider one stays, INT8 with UINT8 gives INT16; integers
//   take the floating or complex type that they meet. FLOAT16 with BF16 gives FLOAT; of other floating types the wider one
//   stays. A complex type with DOUBLE or COMPLEX128 gives COMPLEX128, else COMPLEX64 (COMPLEX32 stays with FLOAT16, integers
//   and BOOL). The unsigned promote with themselves alone and, as first of the two, with complex. Three tensors: the first
//   with what the other two give. Operands are converted to P first ("Conversions"): an INT32 of 100000 that meets FLOAT16
//   becomes infinite.
//
// Promotion of a tensor with a scalar: the rules that headers name. The scalar is converted to P; a complex one becomes 0 where
// P is real. Where P is FLOAT16 or BF16, a floating scalar takes part in arithmetic as FLOAT.
//   the tensors' rule   as if both were tensors: INT32 with DOUBLE gives DOUBLE, FLOAT16 with DOUBLE too
//   the Atlas rule   not on Ascend 950. Complex on either side: the tensors' rule; else a floating tensor keeps its type; else a
//          DOUBLE scalar with an out of FLOAT gives FLOAT; else a floating scalar or a BOOL tensor: the tensors' rule; else the
//          tensor's type
//   the 950 rule   on Ascend 950. A complex or floating tensor keeps its type, but a complex scalar makes DOUBLE COMPLEX128 and
//          any other real type COMPLEX64; else a floating scalar gives FLOAT; else a BOOL tensor takes the scalar's type; else the
//          tensor's type
//   the exact 950 rule   the 950 rule, but FLOAT where that is FLOAT16 or BF16 and the scalar, or alpha, rounded to it is off by
//          more than 2^-23
//   "0-dim as scalar": where one of two tensors has no dimensions and the other has, the 950 rule with the former as the scalar,
//   but with its type as it is (INT32 with a DOUBLE gives DOUBLE); else the promotion of two tensors.
//
// Elementwise operators
//   Numbers    FLOAT, FLOAT16 and BF16 are computed in float32, DOUBLE in float64, and rounded once, to out's type. + - * / and
//              square roots are exact before that, other functions to 1 unit in the last place, pow and erf to 2, if the header
//              does not say otherwise; complex functions a few. NaN stays NaN; zeros and infinities follow IEEE 754 and C's
//              functions. Integers are computed in P modulo 2^n, n its bits: nothing saturates or traps. The result is then
//              converted to out's type.
//   Checks     are made in the header's order. A shape without dimensions is valid. R is the shape to which the inputs
//              broadcast, or the tensor's where the other is a scalar; out has exactly it, dimensions of length 1 included.
//              After the checks, and after success was returned for what is empty: 561103 for an input that is not dense and
//              reaches outside its storage, or an out of a type to which no cast exists (COMPLEX32, INT4, 8-bit floats).
//   Empty      "success is returned when an input is empty": nothing is written, even where out has elements.
//   In place   aclnnInplaceX is aclnnX with selfRef as self and as out: the same checks in the same order, so that R must be
//              selfRef's shape. selfRef is written also where CANN declares it const. "Checks the shape first": before all
//              that, 161001 selfRef or the other tensor is null, 161002 they do not broadcast to selfRef's shape.
//   Workspace  0, always.
//
// Unary functions: elementwise, of one tensor. "Int as FLOAT": integers and BOOL are converted to FLOAT before the function,
// "int as out": to out's type. Codes, after those that all operators share, in this order:
//   161001  self or out is null
//   161002  self's type is not in its list
//   161002  out's type is not what the header allows. "In a list": whether self's type casts to it does not matter; of a
//           complex result that meets a real out the real part stays
//   161002  out's shape is not self's
//   161002  self has more than 8 dimensions
//   161002  a format that the header refuses
//           (here success is returned when self is empty)
//   In place selfRef's type must be floating or complex and in self's list, if the header does not say otherwise.
//
// Movements: operators that move elements without computing
//   Bits       are kept, NaN payloads and the sign of zero too, where a header names no conversion. Conversions: as above.
//   Checks     are made in the header's order. After them, and after success was returned for what is empty: 561103 for an input
//              that is not dense and reaches outside its storage, or a type to which no conversion exists.
//   Lists      An entry of a list is a separate operand. When addresses are set anew, the entries are counted from the list's
//              position in the order of operands. Entries may have any strides.
//   Empty      "success is returned when an input is empty": nothing is written, even where out has elements.
//   Workspace  0, if the header does not say otherwise.
//
// Products of matrices
//   Sums       Each element is a sum of chains of fused multiply-adds in float32: a chain begins at +0 and has 256 terms in ascending
//              order of k, chains are added in that order. So a row does not depend on other rows. Then alpha, beta and
//              the addend follow, each rounded in float32, with one rounding to out's type. NaN and infinities follow from these steps.
//   Types      "The product's list" ("Losses" above) for each tensor by itself. cubeMathType chooses among precisions on an NPU: it
//              is checked, and changes nothing. Accepted: 0 to 3, on Atlas A2, A3 and Ascend 950 also 4, on Atlas A2 and A3 also -1;
//              on the others a matrix of FLOAT goes with 1 or 2 alone.
//   Layout     Any strides, read and written in place.
#ifndef PORTACL_ACLNNOP_ACLNN_UTIL_H_
#define PORTACL_ACLNNOP_ACLNN_UTIL_H_

#ifndef ACLNN_API
#define ACLNN_API __attribute__((visibility("default")))
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_UTIL_H_
