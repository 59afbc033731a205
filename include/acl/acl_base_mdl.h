// acl/acl_base_mdl.h: descriptions of tensors for the single-operator interface (acl_op.h).
// SPDX-License-Identifier: Apache-2.0
//
// A description says what a tensor is: data type, shape, format, name. It holds no data; that is in an
// aclDataBuffer (acl_base_rt.h). Operators of aclnnop/ take neither, but an aclTensor.
//
// A description may be used by several threads at once as long as none of them changes or destroys it.
// Nothing here needs aclInit or a device. Functions that return an aclError return 0, or 100000 for a null
// description, and what is said at each.
#ifndef PORTACL_ACL_ACL_BASE_MDL_H_
#define PORTACL_ACL_ACL_BASE_MDL_H_

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

// The number of dims of a tensor whose rank is unknown: one whose only dim is -2.
#define ACL_UNKNOWN_RANK 0xFFFFFFFFFFFFFFFE

typedef struct aclTensorDesc aclTensorDesc;

// Creates a description; the dims are copied. Release it with aclDestroyTensorDesc.
//   dataType  any type, ACL_DT_UNDEFINED for an operand that is left out
//   numDims   the number of dims, 0 for a scalar
//   dims      numDims of them; may be null when numDims is 0
//   format    any format
// Returns null for a negative numDims, for null dims with numDims above 0, and when memory is exhausted.
ACL_FUNC_VISIBILITY aclTensorDesc* aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t* dims,
                                                       aclFormat format);

// Releases a description; null is ignored.
ACL_FUNC_VISIBILITY void aclDestroyTensorDesc(const aclTensorDesc* desc);

// Return what the description was created with; for null ACL_DT_UNDEFINED and ACL_FORMAT_UNDEFINED.
ACL_FUNC_VISIBILITY aclDataType aclGetTensorDescType(const aclTensorDesc* desc);
ACL_FUNC_VISIBILITY aclFormat aclGetTensorDescFormat(const aclTensorDesc* desc);

// Returns the number of dims it was created with; ACL_UNKNOWN_RANK if its only dim is -2; 0 for null.
ACL_FUNC_VISIBILITY size_t aclGetTensorDescNumDims(const aclTensorDesc* desc);

// Stores one of these dims.
//   index    0 for the outermost
//   dimSize  receives it
// Returns also 100000 for a null dimSize and for an index that there is not.
ACL_FUNC_VISIBILITY aclError aclGetTensorDescDimV2(const aclTensorDesc* desc, size_t index, int64_t* dimSize);

// Returns the number of elements of these dims, 1 for a scalar; 0 for null, for a dim that is unknown
// (negative), and when the number is no size_t.
ACL_FUNC_VISIBILITY size_t aclGetTensorDescElementCount(const aclTensorDesc* desc);

// Returns the bytes of these elements, types of less than 8 bits packed; 0 as above, and for a type without a
// size.
ACL_FUNC_VISIBILITY size_t aclGetTensorDescSize(const aclTensorDesc* desc);

// Gives the operand a name, which is copied; null takes it away. A null description is ignored.
ACL_FUNC_VISIBILITY void aclSetTensorDescName(aclTensorDesc* desc, const char* name);

// Returns the name, "" if there is none. It stays valid until the next change or the end of the description.
ACL_FUNC_VISIBILITY const char* aclGetTensorDescName(aclTensorDesc* desc);

// Set the format and the shape of the storage, where they are other than those it was created with (private
// formats). They are kept and change no result: tensors of private formats are dense here, see aclFormat.
// Return also 100000 for a negative numDims and for null dims with numDims above 0.
ACL_FUNC_VISIBILITY aclError aclSetTensorFormat(aclTensorDesc* desc, aclFormat format);
ACL_FUNC_VISIBILITY aclError aclSetTensorShape(aclTensorDesc* desc, int numDims, const int64_t* dims);

// Says in which memory the operand's data lies. It is kept and changes nothing: every address of the process
// will do.
// Returns also 100000 for an unknown kind of memory.
ACL_FUNC_VISIBILITY aclError aclSetTensorPlaceMent(aclTensorDesc* desc, aclMemType memType);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACL_ACL_BASE_MDL_H_
