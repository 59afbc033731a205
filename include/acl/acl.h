// acl/acl.h: the one header of the acl runtime that a program includes. It only collects the headers below.
// SPDX-License-Identifier: Apache-2.0
//
// The headers, in the order in which a program uses them:
//
//   acl_base_rt.h   data types, formats, handles, return codes, half precision
//   acl_rt.h        start and stop, device, memory, stream, context, error text
//   acl_op.h        attributes of operators that are called by name, see acl_op_compiler.h
//   acl_mdl.h       placeholder of another package, empty here
//
// Tensors and executors (aclTensor, aclOpExecutor and so on) are not part of this header. They come with
// "aclnn/aclnn_base.h", which every operator header "aclnnop/aclnn_<operator>.h" includes by itself. A
// program that calls operators therefore includes two kinds of header:
//
//   #include "acl/acl.h"
//   #include "aclnnop/aclnn_l1_loss_backward.h"
//
// and is compiled with -I<prefix>/include. The headers are valid C11 and C++11, in any order, included any
// number of times.
#ifndef PORTACL_ACL_ACL_H_
#define PORTACL_ACL_ACL_H_

#include "acl_mdl.h"
#include "acl_op.h"
#include "acl_rt.h"

#endif  // PORTACL_ACL_ACL_H_
