// Integers as scaled float32 (see scale_integers.h), for each instruction set.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/gemm/scale_integers.cc"
#include "base/foreach_target.h"

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "engine/buffer_ref.h"
#include "engine/gemm/scale_integers.h"
#include "engine/half_precision-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

void ScaleIntegers(const char* sums, const char* scales, bool is_one_scale, int64_t count, float* values) {
  constexpr int64_t kNumber = sizeof(float);
  const DF d;
  const DI di;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto first = hn::Set(d, Load<float>(scales));
  const auto* const wholes = reinterpret_cast<const int32_t*>(sums);
  const auto* const by = reinterpret_cast<const float*>(scales);
  int64_t j = 0;
  for (; j + lanes <= count; j += lanes) {
    const auto scale = is_one_scale ? first : hn::LoadU(d, by + j);
    hn::StoreU(hn::Mul(hn::ConvertTo(d, hn::LoadU(di, wholes + j)), scale), d, values + j);
  }
  for (; j < count; ++j) {
    const float scale = Load<float>(scales + (is_one_scale ? 0 : j * kNumber));
    values[j] = static_cast<float>(Load<int32_t>(sums + j * kNumber)) * scale;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_table.h"

namespace portacl::engine {

ScaleIntegersFunction FindScaleIntegers(Isa isa) noexcept {
  static constexpr auto kTable = PORTACL_ISA_TABLE(ScaleIntegers);
  return kTable.For(isa);
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
