// acl/acl_op_compiler.h: operators that are called by the name of their type, and the options of their compiler.
// SPDX-License-Identifier: Apache-2.0
//
// On an NPU these functions compile an operator when it is first called. Here nothing is compiled.
#ifndef PORTACL_ACL_ACL_OP_COMPILER_H_
#define PORTACL_ACL_ACL_OP_COMPILER_H_

#include <stddef.h>

#include "acl_base.h"
#include "acl_op.h"

#ifdef __cplusplus
extern "C" {
#endif

// How an operator is to be found. Every value is accepted and means the same.
typedef enum aclCompileType {
  ACL_COMPILE_SYS = 0,
  ACL_COMPILE_UNREGISTERED = 1,
} aclopCompileType;

// The options of the compiler.
typedef enum {
  ACL_PRECISION_MODE = 0,
  ACL_AICORE_NUM = 1,
  ACL_AUTO_TUNE_MODE = 2,
  ACL_OP_SELECT_IMPL_MODE = 3,
  ACL_OPTYPELIST_FOR_IMPLMODE = 4,
  ACL_OP_DEBUG_LEVEL = 5,
  ACL_DEBUG_DIR = 6,
  ACL_OP_COMPILER_CACHE_MODE = 7,
  ACL_OP_COMPILER_CACHE_DIR = 8,
  ACL_OP_PERFORMANCE_MODE = 9,
  ACL_OP_JIT_COMPILE = 10,
  ACL_OP_DETERMINISTIC = 11,
  ACL_CUSTOMIZE_DTYPES = 12,
  ACL_OP_PRECISION_MODE = 13,
  ACL_ALLOW_HF32 = 14,
  ACL_PRECISION_MODE_V2 = 15,
  ACL_OP_DEBUG_OPTION = 16,
} aclCompileOpt;

// Runs an operator in stream order. Implemented are these types:
//   "Identity"               the output gets the bytes of the input, in shape and type as described
//   "BroadcastTo"            the output gets the first input, repeated along the dims in which it is 1 or which it lacks.
//                            Any type whose elements take whole bytes, 0 to 8 dims. The second input has the output's dims,
//                            as int64 or int32: in host memory (aclSetTensorPlaceMent) they are read during the call, in
//                            device memory when the stream comes to the operator
// The work may go on after the call, as that of aclrtMemcpyAsync.
//   opType                   the operator's type
//   numInputs, numOutputs    how many operands there are: 1 and 1 for Identity, 2 and 1 for BroadcastTo
//   inputDesc, outputDesc    what they are. Identity wants the same type and the same number of elements, BroadcastTo the
//                            same type and shapes that fit
//   inputs, outputs          where they are, and how many bytes there are
//   attr                     the operator's attributes, may be null
//   engineType, compileFlag  without meaning here
//   opPath                   without meaning here, may be null
//   stream                   null for the default stream
// The data must live until the work is done; descriptions, data buffers and attributes may go when the call
// returns.
// Returns
//   0
//   100000  a null pointer, a negative number of operands, another number than the operator has, operands that
//           do not match, or a data buffer that is too small or has no address
//   100024  (ACL_ERROR_OP_NOT_FOUND) any other type; the message names it, its operands and its attributes
//           (0 in a stream that stops on failure, which then reports it)
//   107002  a null stream without a device
//   107003  an unknown stream
//   207001  memory is exhausted
// A later synchronisation of the stream returns
//   507015  BroadcastTo's dims, in device memory, were not those of its output, which is left as it was
ACL_FUNC_VISIBILITY aclError aclopCompileAndExecute(const char* opType, int numInputs,
                                                    const aclTensorDesc* const inputDesc[],
                                                    const aclDataBuffer* const inputs[], int numOutputs,
                                                    const aclTensorDesc* const outputDesc[],
                                                    aclDataBuffer* const outputs[], const aclopAttr* attr,
                                                    aclopEngineType engineType, aclopCompileType compileFlag,
                                                    const char* opPath, aclrtStream stream);

// Like aclopCompileAndExecute. It would also write output shapes that depend on data to the descriptions, but no operator here
// has such an output.
ACL_FUNC_VISIBILITY aclError aclopCompileAndExecuteV2(
    const char* opType, int numInputs, aclTensorDesc* inputDesc[], aclDataBuffer* inputs[], int numOutputs,
    aclTensorDesc* outputDesc[], aclDataBuffer* outputs[], aclopAttr* attr, aclopEngineType engineType,
    aclopCompileType compileFlag, const char* opPath, aclrtStream stream);

// Set an option of the compiler, for the whole process, and ask for it. The value is kept and given back; it
// changes no result.
//   opt     the option
//   value   a text, which is copied; of aclGetCompileopt: room for length bytes
//   length  aclGetCompileoptSize of the option, or more
// aclGetCompileoptSize returns the bytes of the value, its closing zero among them; 0 for an unknown option.
// Options that were not set are "", but ACL_OP_JIT_COMPILE is "disable": nothing is compiled.
// The others return 0; 100000 for null, an unknown option, and too little room; 200000 when memory is
// exhausted.
ACL_FUNC_VISIBILITY aclError aclSetCompileopt(aclCompileOpt opt, const char* value);
ACL_FUNC_VISIBILITY size_t aclGetCompileoptSize(aclCompileOpt opt);
ACL_FUNC_VISIBILITY aclError aclGetCompileopt(aclCompileOpt opt, char* value, size_t length);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACL_ACL_OP_COMPILER_H_
