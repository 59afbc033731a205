// mspti/mspti_callback.h: who takes a profile by MSPTI.
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTACL_MSPTI_MSPTI_CALLBACK_H_
#define PORTACL_MSPTI_MSPTI_CALLBACK_H_

#include "mspti_result.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct msptiSubscriber_st* msptiSubscriberHandle;
typedef void (*msptiCallbackFunc)(void* userdata, int domain, unsigned id, const void* data);

// Makes the caller the one who takes a profile. Calls are told of by records of activities alone: callback must be null.
// Returns 0, 1 (MSPTI_ERROR_INVALID_PARAMETER) for a null subscriber or a callback, or
// 2 (MSPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) while there is one already.
MSPTI_API msptiResult msptiSubscribe(msptiSubscriberHandle* subscriber, msptiCallbackFunc callback,
                                     void* userdata);

// Ends that, and recording. Returns 0, or 1 for what is no subscriber.
MSPTI_API msptiResult msptiUnsubscribe(msptiSubscriberHandle subscriber);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_MSPTI_MSPTI_CALLBACK_H_
