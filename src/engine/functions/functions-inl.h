// Elementary functions over Highway vectors, float32 and float64, the same bits on every instruction set: for what
// formulas are written in. `functions::Sin(d, x)` is that of the tag's lanes; docs/numerics.md has the errors.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_FUNCTIONS_FUNCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_FUNCTIONS_FUNCTIONS_INL_H_
#undef PORTACL_ENGINE_FUNCTIONS_FUNCTIONS_INL_H_
#else
#define PORTACL_ENGINE_FUNCTIONS_FUNCTIONS_INL_H_
#endif

#include "engine/functions/error_function-inl.h"
#include "engine/functions/exponential-inl.h"
#include "engine/functions/float64-inl.h"
#include "engine/functions/gamma-inl.h"
#include "engine/functions/logarithmic-inl.h"
#include "engine/functions/modulo-inl.h"
#include "engine/functions/steps-inl.h"
#include "engine/functions/trigonometric-inl.h"

#endif  // per-target include guard
