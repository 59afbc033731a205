// profiling/prof_api.h: the name under which some programs include profiling/aprof_pub.h.
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTACL_PROFILING_PROF_API_H_
#define PORTACL_PROFILING_PROF_API_H_

#include "aprof_pub.h"

#endif  // PORTACL_PROFILING_PROF_API_H_
