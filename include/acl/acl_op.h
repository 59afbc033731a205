// acl/acl_op.h: attributes of operators that are called by the name of their type (acl_op_compiler.h).
// SPDX-License-Identifier: Apache-2.0
//
// New programs call the operators of aclnnop/. This interface is older; clients use it for the few operators
// that have no other, see aclopCompileAndExecute.
#ifndef PORTACL_ACL_ACL_OP_H_
#define PORTACL_ACL_ACL_OP_H_

#include <stdint.h>

#include "acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

// Named values that go with a call of an operator.
typedef struct aclopAttr aclopAttr;

// The kind of processor that runs an operator. It has no meaning on a CPU: every value is accepted.
typedef enum aclEngineType {
  ACL_ENGINE_SYS = 0,
  ACL_ENGINE_AICORE = 1,
  ACL_ENGINE_VECTOR = 2,
} aclopEngineType;

// Creates an empty set of attributes; null when memory is exhausted. Release it with aclopDestroyAttr.
ACL_FUNC_VISIBILITY aclopAttr* aclopCreateAttr(void);

// Releases it; null is ignored.
ACL_FUNC_VISIBILITY void aclopDestroyAttr(const aclopAttr* attr);

// Set an attribute; one of the same name is replaced. Names and values are copied.
//   attrName   its name
//   attrValue  its value; a bool is any non-zero byte
// Return 0; 100000 for a null pointer; 200000 when memory is exhausted.
ACL_FUNC_VISIBILITY aclError aclopSetAttrBool(aclopAttr* attr, const char* attrName, uint8_t attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrInt(aclopAttr* attr, const char* attrName, int64_t attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrFloat(aclopAttr* attr, const char* attrName, float attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrString(aclopAttr* attr, const char* attrName, const char* attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrDataType(aclopAttr* attr, const char* attrName,
                                                  aclDataType attrValue);

// Set an attribute that is a list.
//   numValues  the length; 0 sets an empty list, and then values may be null
//   values     the elements
//   numLists   of a list of lists: how many there are, numValues[i] being the length of values[i]
// Return also 100000 for a negative length.
ACL_FUNC_VISIBILITY aclError aclopSetAttrListBool(aclopAttr* attr, const char* attrName, int numValues,
                                                  const uint8_t* values);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListInt(aclopAttr* attr, const char* attrName, int numValues,
                                                 const int64_t* values);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListFloat(aclopAttr* attr, const char* attrName, int numValues,
                                                   const float* values);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListString(aclopAttr* attr, const char* attrName, int numValues,
                                                    const char** values);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListDataType(aclopAttr* attr, const char* attrName, int numValues,
                                                      const aclDataType values[]);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListListInt(aclopAttr* attr, const char* attrName, int numLists,
                                                     const int* numValues, const int64_t* const values[]);

// On an NPU it names the folder of models of single operators, compiled ahead of the program. Not supported: it returns
// 207000. Operators are found by their type, see aclopCompileAndExecute.
ACL_FUNC_VISIBILITY aclError aclopSetModelDir(const char* modelDir);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACL_ACL_OP_H_
