// The headers that most sources with vector code include, for one instruction set. engine/map/vector_headers.h
// precompiles them for all.
// SPDX-License-Identifier: Apache-2.0

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/map/vector_headers-inl.h"
#include "base/foreach_target.h"

#include "engine/functions/exp-inl.h"
#include "engine/functions/log-inl.h"
#include "engine/functions/primitives-inl.h"
#include "engine/map/vector_loop-inl.h"
