// Compiles the source that includes it once for each instruction set. Replaces <hwy/foreach_target.h>, so that
// vector headers may be precompiled: a header that is part of engine/map/vector_headers.h counts as included by
// every pass over the source.
// SPDX-License-Identifier: Apache-2.0

// Has no guard of its own: every pass includes it again, after Highway has set HWY_TARGET.
#include "base/vector_targets.h"

#include <hwy/foreach_target.h>

#ifdef PORTACL_VECTOR_HEADERS_ARE_PRECOMPILED
// Restores the guard that engine/map/vector_headers.h takes off. With it Highway would count its target's pass twice.
#undef HWY_HIGHWAY_INCLUDED
#define HWY_HIGHWAY_INCLUDED

// A guard that differs from HWY_TARGET_TOGGLE skips its header in this pass. The macros of Highway that depend on
// HWY_TARGET are the one part that must be read again.
#ifdef HWY_TARGET_TOGGLE
#define HWY_SET_MACROS_PER_TARGET
#undef HWY_HIGHWAY_PER_TARGET
#undef PORTACL_ENGINE_HALF_PRECISION_INL_H_
#undef PORTACL_ENGINE_UNROLLED_INL_H_
#undef PORTACL_ENGINE_MAP_ELEMENTS_INL_H_
#undef PORTACL_ENGINE_MAP_VECTOR_ACCESS_INL_H_
#undef PORTACL_ENGINE_MAP_VECTOR_LOOP_INL_H_
#undef PORTACL_ENGINE_FUNCTIONS_PRIMITIVES_INL_H_
#undef PORTACL_ENGINE_FUNCTIONS_EXP_INL_H_
#undef PORTACL_ENGINE_FUNCTIONS_LOG_INL_H_
#else
#undef HWY_SET_MACROS_PER_TARGET
#define HWY_HIGHWAY_PER_TARGET
#define PORTACL_ENGINE_HALF_PRECISION_INL_H_
#define PORTACL_ENGINE_UNROLLED_INL_H_
#define PORTACL_ENGINE_MAP_ELEMENTS_INL_H_
#define PORTACL_ENGINE_MAP_VECTOR_ACCESS_INL_H_
#define PORTACL_ENGINE_MAP_VECTOR_LOOP_INL_H_
#define PORTACL_ENGINE_FUNCTIONS_PRIMITIVES_INL_H_
#define PORTACL_ENGINE_FUNCTIONS_EXP_INL_H_
#define PORTACL_ENGINE_FUNCTIONS_LOG_INL_H_
#endif
#include <hwy/ops/set_macros-inl.h>
#endif
