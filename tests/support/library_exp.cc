// The library's exp, compiled for the compiler's default target: see library_exp.h.
// SPDX-License-Identifier: Apache-2.0
#include "library_exp.h"

#include "base/vector_targets.h"

#include <hwy/highway.h>
#include "engine/functions/exp-inl.h"

// The default target may need more than the compiler's options enable (AES with NEON), so vector code needs
// its attributes.
HWY_BEFORE_NAMESPACE();
namespace portacl::testing {

float LibraryExp(float x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  return hn::GetLane(engine::HWY_NAMESPACE::Exp(d, hn::Set(d, x)));
}

}  // namespace portacl::testing
HWY_AFTER_NAMESPACE();
