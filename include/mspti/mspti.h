// mspti/mspti.h: all of MSPTI.
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTACL_MSPTI_MSPTI_H_
#define PORTACL_MSPTI_MSPTI_H_

#include "mspti_activity.h"
#include "mspti_callback.h"
#include "mspti_result.h"

#endif  // PORTACL_MSPTI_MSPTI_H_
