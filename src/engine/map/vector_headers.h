// The headers of vector code that g++ precompiles (see cmake/library_options.cmake). base/foreach_target.h lists their guards.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/map/vector_headers-inl.h"

// Lets a source begin its own passes. An even number of targets leaves the toggle set.
#undef HIGHWAY_HWY_FOREACH_TARGET_H_
#undef HWY_TARGET_TOGGLE
#undef HWY_HIGHWAY_INCLUDED
#define PORTACL_VECTOR_HEADERS_ARE_PRECOMPILED
