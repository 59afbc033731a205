// Converts indices to offsets (see index_offsets.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/move/index_offsets.h"

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/move/index_offsets.cc"
#include "base/foreach_target.h"

#include <hwy/highway.h>
#include "engine/buffer_ref.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The prefetch distance of indices: other memory is walked between two tiles of them, over which processors
// lose the stream.
constexpr size_t kAhead = 1024;

// The caller supplies the multiplication by the step, which is a shift if that is a power of two, as it
// mostly is.
template <class Index, bool kAdds, class Product, class WideProduct>
HWY_INLINE bool Follow(const Index* index, size_t n, const IndexRun& run, int64_t* HWY_RESTRICT offset,
                       const Product& product, const WideProduct& wide_product) {
  const hn::ScalableTag<int64_t> d;
  const hn::Rebind<Index, decltype(d)> indices;
  using V = hn::Vec<decltype(d)>;
  const size_t lanes = hn::Lanes(d);
  const V wraps = hn::Set(d, run.wraps);
  const V last = hn::Set(d, run.bound - 1);
  const V next = hn::Set(d, static_cast<int64_t>(lanes) * run.along);
  V begin = hn::Add(hn::Set(d, run.begin), hn::Mul(hn::Iota(d, int64_t{0}), hn::Set(d, run.along)));
  V outside = hn::Zero(d);  // negative if an index is out of bounds
  size_t e = 0;
  for (; e + lanes <= n; e += lanes) {
    __builtin_prefetch(index + e + kAhead);
    V value;
    if constexpr (sizeof(Index) == 8) {
      value = hn::LoadU(indices, index + e);
    } else {
      value = hn::PromoteTo(d, hn::LoadU(indices, index + e));
    }
    value = hn::Add(value, hn::And(hn::BroadcastSignBit(value), wraps));
    outside = hn::Or(outside, hn::Or(value, hn::Sub(last, value)));
    V leads = hn::Add(begin, wide_product(value));
    if constexpr (kAdds) leads = hn::Add(leads, hn::LoadU(d, offset + e));
    hn::StoreU(leads, d, offset + e);
    begin = hn::Add(begin, next);
  }
  bool is_good = hn::AllFalse(d, hn::Lt(outside, hn::Zero(d)));
  for (; e < n; ++e) {
    int64_t value = Load<Index>(reinterpret_cast<const char*>(index + e));  // operands need not be aligned
    if (value < 0) value += run.wraps;
    if (value < 0 || value >= run.bound) {
      is_good = false;
      continue;
    }
    const int64_t leads = run.begin + static_cast<int64_t>(e) * run.along + product(value);
    offset[e] = kAdds ? offset[e] + leads : leads;
  }
  return is_good;
}

template <class Index, bool kAdds>
HWY_INLINE bool FollowRun(const Index* index, size_t n, const IndexRun& run, int64_t* offset) {
  const hn::ScalableTag<int64_t> d;
  if (run.step > 0 && (run.step & (run.step - 1)) == 0) {
    const int bits = __builtin_ctzll(static_cast<uint64_t>(run.step));
    return Follow<Index, kAdds>(
        index, n, run, offset, [bits](int64_t value) { return value << bits; },
        [bits](auto value) HWY_ATTR { return hn::ShiftLeftSame(value, bits); });
  }
  const auto step = hn::Set(d, run.step);
  return Follow<Index, kAdds>(
      index, n, run, offset, [&run](int64_t value) { return value * run.step; },
      [&step](auto value) HWY_ATTR { return hn::Mul(value, step); });
}

bool FollowWide(const void* index, size_t n, const IndexRun& run, bool adds, int64_t* offset) {
  const auto* const from = static_cast<const int64_t*>(index);
  return adds ? FollowRun<int64_t, true>(from, n, run, offset)
              : FollowRun<int64_t, false>(from, n, run, offset);
}

bool FollowNarrow(const void* index, size_t n, const IndexRun& run, bool adds, int64_t* offset) {
  const auto* const from = static_cast<const int32_t*>(index);
  return adds ? FollowRun<int32_t, true>(from, n, run, offset)
              : FollowRun<int32_t, false>(from, n, run, offset);
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_table.h"

namespace portacl::engine {

FollowIndices FindFollow(Isa isa, bool is_wide) noexcept {
  return is_wide ? PORTACL_ISA_TABLE(FollowWide).For(isa) : PORTACL_ISA_TABLE(FollowNarrow).For(isa);
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
