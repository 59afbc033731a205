// aclnn/acl_meta.h: the objects that operators take: tensors, scalars, arrays, lists, executors.
// SPDX-License-Identifier: Apache-2.0
//
// An object here is a description in host memory; creating one starts no work and needs neither aclInit nor a
// device. A tensor describes data and never owns it:
//
//   int64_t shape[2] = {2, 3};
//   aclTensor* tensor = aclCreateTensor(shape, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, shape, 2, address);
//   // both phases of an operator
//   aclDestroyTensor(tensor);
//   // address is still the caller's
//
// Rules for all of them:
//   - Descriptions may be destroyed, or changed with aclInitTensor, as soon as the second phase of the
//     operator that used them has returned. The data behind a tensor must live until the stream has done the
//     work.
//   - aclCreate* returns null on failure and aclGetRecentErrMsg (acl/acl_rt.h) says why. aclDestroy* of null
//     does nothing and returns 0. Destroying an object twice is undefined.
//   - Status codes are aclnnStatus: 0, or the codes of "aclnn/opdev/op_errno.h".
//   - Any thread may use any object. Two threads may read one object at the same time; changing or destroying
//     it needs it alone.
#ifndef PORTACL_ACLNN_ACL_META_H_
#define PORTACL_ACLNN_ACL_META_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifndef ACLNN_META
#define ACLNN_META
typedef struct aclOpExecutor aclOpExecutor;  // one call of an operator, between its two phases
typedef struct aclTensor aclTensor;
typedef struct aclScalar aclScalar;
typedef struct aclIntArray aclIntArray;
typedef struct aclFloatArray aclFloatArray;
typedef struct aclBoolArray aclBoolArray;
typedef struct aclTensorList aclTensorList;
typedef struct aclScalarList aclScalarList;

// The return code of aclnn functions.
typedef int32_t aclnnStatus;

#ifdef __cplusplus
// CANN puts this short name into the global namespace. Define OK as a macro first to keep it out.
#ifndef OK
constexpr aclnnStatus OK = 0;
#endif
#endif
#endif  // ACLNN_META

#ifdef __cplusplus
extern "C" {
#endif

// -----------------------------------------------------------------------------------------------------------
// Tensor
// -----------------------------------------------------------------------------------------------------------

// Describes a tensor: a view (shape, strides, offset) of a storage.
//   viewDims, viewDimsNum        the logical shape. A count of 0 is a scalar tensor with one element; a
//                                dimension of 0 makes the tensor empty. Operators accept up to 8 dimensions,
//                                an object has room for 25
//   dataType                     type of the elements
//   stride                       viewDimsNum distances between neighbours along each axis, in ELEMENTS; null
//                                means dense row-major. 0 repeats an element along an axis (inputs only).
//                                Ignored for a private format, which counts as dense
//   offset                       of the view's first element from the start of the storage, in ELEMENTS
//   format                       meaning of the axes; ACL_FORMAT_ND when in doubt
//   storageDims, storageDimsNum  shape of the storage, possibly another one than the view's: one dimension
//                                with the number of elements will do. A count of 0 is one element
//   tensorData                   start of the storage, in device memory, best aligned to 32 bytes. Borrowed:
//                                never freed here, and only used by the work that an operator submits. May be
//                                null when the tensor is empty or never used
// Element (i0, i1, ...) lies at tensorData + (offset + i0 * stride[0] + i1 * stride[1] + ...) * size of an
// element. The three arrays are copied. Nothing else is checked here: operators check shape, type and reach
// in their first phase.
// Returns the tensor, to be released with aclDestroyTensor; or null when viewDims or storageDims is null and
// its count is not 0, when a count is above 25, or when memory is exhausted.
ACL_FUNC_VISIBILITY aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum,
                                               aclDataType dataType, const int64_t* stride, int64_t offset,
                                               aclFormat format, const int64_t* storageDims,
                                               uint64_t storageDimsNum, void* tensorData);

// Describes something else with a tensor that exists already. Parameters as for aclCreateTensor, except that
//   - the view's shape stays as it is when viewDims is null or viewDimsNum is 0,
//   - the storage's shape stays as it is when storageDims is null or storageDimsNum is 0,
//   - the address stays as it is when tensorDataAddr is null.
// Type, strides (null: dense), offset and format are always replaced.
// Returns 0, or 161001 for a null tensor. Do not call it between the two phases of an operator that uses the
// tensor.
ACL_FUNC_VISIBILITY aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims,
                                              uint64_t viewDimsNum, aclDataType dataType,
                                              const int64_t* stride, int64_t offset, aclFormat format,
                                              const int64_t* storageDims, uint64_t storageDimsNum,
                                              void* tensorDataAddr);

// Releases a tensor, not its data. A tensor that is in a list is released by aclDestroyTensorList instead.
// Returns 0.
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyTensor(const aclTensor* tensor);

// Copies out a tensor's logical shape, for operators whose result shape depends on the data.
//   viewDims     receives an array that is allocated with C++ new[]: release it with delete[], not with free
//   viewDimsNum  receives its length
// Returns 0, or 161001 when an argument is null.
ACL_FUNC_VISIBILITY aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims,
                                                uint64_t* viewDimsNum);

// As aclGetViewShape: the storage's shape, and the strides of the view in elements.
ACL_FUNC_VISIBILITY aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims,
                                                   uint64_t* storageDimsNum);
ACL_FUNC_VISIBILITY aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue,
                                                  uint64_t* stridesNum);

// Store the view's offset in elements, the format and the type. A format or type that is none of the
// enumeration's reads ACL_FORMAT_UNDEFINED or ACL_DT_UNDEFINED.
// Return 0, or 161001 when an argument is null.
ACL_FUNC_VISIBILITY aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset);
ACL_FUNC_VISIBILITY aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format);
ACL_FUNC_VISIBILITY aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType);

// Replace and store the start of the storage; the view's offset is not applied. addr is borrowed and may be
// null. An executor took over the address in phase 1 and does not see a later one: use aclSetTensorAddr.
// Return 0, or 161001 for a null tensor or a null address to store to.
ACL_FUNC_VISIBILITY aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr);
ACL_FUNC_VISIBILITY aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr);

// -----------------------------------------------------------------------------------------------------------
// Scalar
// -----------------------------------------------------------------------------------------------------------

// Makes a scalar from the value at an address in host memory, which is copied.
//   value     as many bytes as dataType has. BOOL reads one byte; FLOAT16 and BF16 read 16 raw bits
//   dataType  any but STRING, COMPLEX32, INT4, UINT1 and DT_UNDEFINED
// Returns the scalar, to be released with aclDestroyScalar; null for a null value, or for a type that is not
// supported (the error text then has code EZ1006).
ACL_FUNC_VISIBILITY aclScalar* aclCreateScalar(void* value, aclDataType dataType);

// Releases a scalar that is in no list. Returns 0.
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyScalar(const aclScalar* scalar);

// -----------------------------------------------------------------------------------------------------------
// Arrays of numbers
// -----------------------------------------------------------------------------------------------------------
// Make an array from size values in host memory, which are copied. A null value or a size of 0 makes an empty
// array. They return null only when memory is exhausted. The functions that release return 0.

ACL_FUNC_VISIBILITY aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyIntArray(const aclIntArray* array);

ACL_FUNC_VISIBILITY aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyFloatArray(const aclFloatArray* array);

ACL_FUNC_VISIBILITY aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyBoolArray(const aclBoolArray* array);

// Store the number of values. Return 0, or 161001 when an argument is null.
ACL_FUNC_VISIBILITY aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size);
ACL_FUNC_VISIBILITY aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size);
ACL_FUNC_VISIBILITY aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size);

// -----------------------------------------------------------------------------------------------------------
// Lists of tensors and of scalars
// -----------------------------------------------------------------------------------------------------------
// Make a list from size handles. The array of handles is copied, the objects are not: from then on they
// belong to the list, and destroying the list destroys them. Do not destroy them again. Elements may be null.
// A null value or a size of 0 makes an empty list. They return null only when memory is exhausted. The
// functions that release return 0.

ACL_FUNC_VISIBILITY aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyTensorList(const aclTensorList* array);

ACL_FUNC_VISIBILITY aclScalarList* aclCreateScalarList(const aclScalar* const* value, uint64_t size);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyScalarList(const aclScalarList* array);

// Store the number of elements. Return 0, or 161001 when an argument is null.
ACL_FUNC_VISIBILITY aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList, uint64_t* size);
ACL_FUNC_VISIBILITY aclnnStatus aclGetScalarListSize(const aclScalarList* scalarList, uint64_t* size);

// -----------------------------------------------------------------------------------------------------------
// Executor
// -----------------------------------------------------------------------------------------------------------

// Releases the executor of a call whose second phase will not follow, or a repeatable one. The second phase
// releases any other executor itself, whether it succeeds or fails, so most programs never call this. Runs
// that are queued are carried out.
// Returns 0; 561103 for null; 561000 for an executor that does not exist (any more).
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor);

// Keeps an executor for any number of second phases; call it between the phases. Release it with
// aclDestroyAclOpExecutor.
// Returns 0; 561103 for null; 561000 for an executor that does not exist (any more).
ACL_FUNC_VISIBILITY aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor);

// Give an operand another storage for the second phases that follow; runs that are queued already keep theirs.
// Shape, strides, offset and type stay those of phase 1.
//   index   the operand's index among the tensors of phase 1 that are read, among those that are written, or
//           (aclSetTensorAddr) among those that are read followed by those that are only written. Null tensors and
//           entries of lists count
//   tensor  the operand's tensor. Not null; the index decides, and the tensor's own address stays as it is
//   addr    start of the storage; null is refused by the second phase if it would be used
// Return 0; 561103 for a null executor or tensor; 161002 for an index past the last operand; 561000 for an
// executor that does not exist (any more).
ACL_FUNC_VISIBILITY aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, const size_t index,
                                                      aclTensor* tensor, void* addr);
ACL_FUNC_VISIBILITY aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index,
                                                       aclTensor* tensor, void* addr);
ACL_FUNC_VISIBILITY aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, const size_t index,
                                                 aclTensor* tensor, void* addr);

// Like the three functions above, for one entry of a list of tensors. irIndex is the list's index, where each list
// counts as one tensor; relativeIndex is the entry's index in the list. Return also 161002 if irIndex is not that of
// a list, or if relativeIndex is not below the length of `tensors` or of the list in phase 1.
ACL_FUNC_VISIBILITY aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                                             const size_t relativeIndex,
                                                             aclTensorList* tensors, void* addr);
ACL_FUNC_VISIBILITY aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                                              const size_t relativeIndex,
                                                              aclTensorList* tensors, void* addr);
ACL_FUNC_VISIBILITY aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                                        const size_t relativeIndex, aclTensorList* tensors,
                                                        void* addr);

// Other names of the six functions, which older programs use.
ACL_FUNC_VISIBILITY aclnnStatus AclSetInputTensorAddr(aclOpExecutor* executor, const size_t index,
                                                      aclTensor* tensor, void* addr);
ACL_FUNC_VISIBILITY aclnnStatus AclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index,
                                                       aclTensor* tensor, void* addr);
ACL_FUNC_VISIBILITY aclnnStatus AclSetTensorAddr(aclOpExecutor* executor, const size_t index,
                                                 aclTensor* tensor, void* addr);
ACL_FUNC_VISIBILITY aclnnStatus AclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                                             const size_t relativeIndex,
                                                             aclTensorList* tensors, void* addr);
ACL_FUNC_VISIBILITY aclnnStatus AclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                                              const size_t relativeIndex,
                                                              aclTensorList* tensors, void* addr);
ACL_FUNC_VISIBILITY aclnnStatus AclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                                        const size_t relativeIndex, aclTensorList* tensors,
                                                        void* addr);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNN_ACL_META_H_
