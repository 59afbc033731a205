// acl/acl_base.h: the base types and every return code of acl, collected from the headers below.
// SPDX-License-Identifier: Apache-2.0
//
//   acl/acl_base_rt.h               types, handles, data types, formats, codes ACL_SUCCESS and ACL_ERROR_*
//   acl/acl_base_mdl.h              descriptions of tensors, for operators that are called by name
//   error_codes/rt_error_codes.h    codes of the runtime, ACL_ERROR_RT_*
//   error_codes/ge_error_codes.h    codes of the graph engine, ACL_ERROR_GE_*
//
// Two of the paths start with "acl/": the directory that holds acl/ must be on the include path.
#ifndef PORTACL_ACL_ACL_BASE_H_
#define PORTACL_ACL_ACL_BASE_H_

#include "acl/acl_base_mdl.h"
#include "acl/acl_base_rt.h"
#include "error_codes/ge_error_codes.h"
#include "error_codes/rt_error_codes.h"

#endif  // PORTACL_ACL_ACL_BASE_H_
