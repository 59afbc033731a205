// mspti/mspti_result.h: what the functions of MSPTI return.
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTACL_MSPTI_MSPTI_RESULT_H_
#define PORTACL_MSPTI_MSPTI_RESULT_H_

#ifdef FUNC_VISIBILITY
#define MSPTI_API __attribute__((visibility("default")))
#else
#define MSPTI_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  MSPTI_SUCCESS = 0,
  MSPTI_ERROR_INVALID_PARAMETER = 1,
  MSPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED = 2,
  MSPTI_ERROR_MAX_LIMIT_REACHED = 3,
  MSPTI_ERROR_DEVICE_OFFLINE = 4,
  MSPTI_ERROR_QUEUE_EMPTY = 5,
  MSPTI_ERROR_INNER = 999,
} msptiResult;

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_MSPTI_MSPTI_RESULT_H_
