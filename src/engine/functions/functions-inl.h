// Elementary functions over Highway vectors of float32 and float64, with the same bits on every instruction
// set. Formulas are written in them. The tag of `functions::Sin(d, x)` selects the lanes; docs/numerics.md
// lists the errors.
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
#include "engine/functions/primitives-inl.h"
#include "engine/functions/trigonometric-inl.h"

#endif  // per-target include guard
