// aclnn/opdev/op_errno.h: the status codes of the operators and of the functions on tensors and executors.
// SPDX-License-Identifier: Apache-2.0
//
// The first digit tells who can do something about it: 1 the caller, 3 the runtime's state, 5 the
// implementation. The operator headers do not include this file; programs compare with ACL_SUCCESS (0) or
// include it for the names. The text that goes with a code comes from aclGetRecentErrMsg (acl/acl_rt.h).
#ifndef PORTACL_ACLNN_OPDEV_OP_ERRNO_H_
#define PORTACL_ACLNN_OPDEV_OP_ERRNO_H_

// Done.
#define ACLNN_SUCCESS 0

// A pointer that must not be null is null: an operand, workspaceSize, executor, a needed workspace, or the
// data address of a tensor that has to be read or written.
#define ACLNN_ERR_PARAM_NULLPTR 161001

// An argument has a value that the operator does not accept: data type, shape, rank, attribute.
#define ACLNN_ERR_PARAM_INVALID 161002

// The stream cannot take the work: no device is set, or the stream does not exist.
#define ACLNN_ERR_RUNTIME_ERROR 361001

// Internal errors. 561000: the executor was used up before or never existed. 561101: phase 1 found no memory
// for an executor. 561103: a combination that passes the documented checks but that cannot be carried out, as
// in CANN: a strided input that reaches outside its storage.
#define ACLNN_ERR_INNER 561000
#define ACLNN_ERR_INNER_INFERSHAPE_ERROR 561001
#define ACLNN_ERR_INNER_TILING_ERROR 561002
#define ACLNN_ERR_INNER_FIND_KERNEL_ERROR 561003
#define ACLNN_ERR_INNER_CREATE_EXECUTOR 561101
#define ACLNN_ERR_INNER_NOT_TRANS_EXECUTOR 561102
#define ACLNN_ERR_INNER_NULLPTR 561103

// Internal errors of CANN's operator packages. This library has no such packages and never returns these.
#define ACLNN_ERR_INNER_WRONG_ATTR_INFO_SIZE 561104
#define ACLNN_ERR_INNER_KEY_CONFLICT 561105
#define ACLNN_ERR_INNER_KEY_CONFILICT ACLNN_ERR_INNER_KEY_CONFLICT  // old spelling, still in use
#define ACLNN_ERR_INNER_INVALID_IMPL_MODE 561106
#define ACLNN_ERR_INNER_OPP_PATH_NOT_FOUND 561107
#define ACLNN_ERR_INNER_LOAD_JSON_FAILED 561108
#define ACLNN_ERR_INNER_JSON_VALUE_NOT_FOUND 561109
#define ACLNN_ERR_INNER_JSON_FORMAT_INVALID 561110
#define ACLNN_ERR_INNER_JSON_DTYPE_INVALID 561111
#define ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND 561112
#define ACLNN_ERR_INNER_OP_FILE_INVALID 561113
#define ACLNN_ERR_INNER_ATTR_NUM_OUT_OF_BOUND 561114
#define ACLNN_ERR_INNER_ATTR_LEN_NOT_ENOUGH 561115
#define ACLNN_ERR_INNER_INPUT_NUM_IN_JSON_TOO_LARGE 561116
#define ACLNN_ERR_INNER_INPUT_JSON_IS_NULL 561117
#define ACLNN_ERR_INNER_STATIC_WORKSPACE_INVALID 561118
#define ACLNN_ERR_INNER_STATIC_BLOCK_DIM_INVALID 561119

#endif  // PORTACL_ACLNN_OPDEV_OP_ERRNO_H_
