// aclnnop/aclnn_copy.h: aclnnInplaceCopy, which copies a tensor into another one, converting it.
// SPDX-License-Identifier: Apache-2.0
//
// selfRef = src, broadcast to selfRef's shape (NumPy's rules) and converted to its type.
//
// Numbers
//   Where the types are the same, every bit is kept. Else values are converted as "Conversions" in
//   aclnnop/aclnn_util.h says. What CanCast forbids elsewhere is allowed here: a float into an integer, a
//   complex number into its real part, any number into BOOL (whether it is not 0).
//
// Data types, on every product
//   FLOAT, FLOAT16, BF16, DOUBLE, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, BOOL, COMPLEX64,
//   COMPLEX128: any of them into any. HIFLOAT8, FLOAT8_E5M2, FLOAT8_E4M3FN, FLOAT8_E8M0: each into itself.
//
// Shapes, views, overlap: "Views" in aclnnop/aclnn_util.h.
//   Copying a view into itself is fine; any other overlap of the two has an undefined result.
#ifndef PORTACL_ACLNNOP_ACLNN_COPY_H_
#define PORTACL_ACLNNOP_ACLNN_COPY_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// Phase 1: checks the arguments and plans the work. Runs on the host and reads no tensor data.
//   selfRef        destination, written
//   src            source
//   workspaceSize  receives 0
//   executor       receives the executor for phase 2, which releases it
// Returns 0, or the code of the first check that fails, in this order; then nothing is stored:
//   161001  workspaceSize or executor is null
//   561101  no memory for an executor
//   161001  selfRef or src is null
//   161002  the type of selfRef or src is not in the list
//   161002  selfRef or src has more than 8 dimensions
//   161002  src does not broadcast to selfRef's shape; also where it has more dimensions, be they of length 1
//           (here success is returned when selfRef or src is empty)
//   561103  src is not dense and reaches outside its storage
//   561103  no conversion: an 8-bit float into another type, or another type into one
ACLNN_API aclnnStatus aclnnInplaceCopyGetWorkspaceSize(aclTensor* selfRef, const aclTensor* src,
                                                       uint64_t* workspaceSize, aclOpExecutor** executor);

// Phase 2: submits the work to a stream; selfRef is complete once the stream is synchronised. Workspace, executor, stream and
// codes: "The two phases" in aclnnop/aclnn_util.h.
ACLNN_API aclnnStatus aclnnInplaceCopy(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                       aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_COPY_H_
