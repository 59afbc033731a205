// Strided views (see strided_view.h).
// SPDX-License-Identifier: Apache-2.0
#include "plan/strided_view.h"

#include "base/data_type.h"

namespace portacl {
namespace {

int64_t ElementBytes(const StridedView& view) noexcept { return (StorageBits(view.dtype) + 7) / 8; }

// Multiplies modulo 2^64, since checks may call this before views outside their storage are refused.
int64_t InBytes(const StridedView& view, int64_t elements) noexcept {
  return static_cast<int64_t>(static_cast<uint64_t>(elements) * static_cast<uint64_t>(ElementBytes(view)));
}

bool HasRowMajorStrides(const StridedView& view) noexcept {
  int64_t expected = 1;
  for (int i = view.shape.rank - 1; i >= 0; --i) {
    if (view.shape[i] == 1) continue;
    if (view.strides[i] != expected) return false;
    if (__builtin_mul_overflow(expected, view.shape[i], &expected)) return false;
  }
  return true;
}

bool ByteOffsetsFit(const StridedView& view) noexcept {
  const int64_t size = ElementBytes(view);
  int64_t lowest = 0;
  int64_t highest = 0;
  int64_t bytes = 0;
  if (view.contiguous) {
    return view.countable && !__builtin_mul_overflow(view.numel, size, &bytes) &&
           !__builtin_mul_overflow(view.offset, size, &lowest) &&
           !__builtin_add_overflow(bytes, lowest, &highest);
  }
  // The span must fit as well, so that every stride can be negated in bytes.
  int64_t span = 0;
  return ReachOf(view, &lowest, &highest) && !__builtin_sub_overflow(highest, lowest, &span) &&
         !__builtin_mul_overflow(span, size, &bytes) && !__builtin_mul_overflow(lowest, size, &bytes) &&
         !__builtin_mul_overflow(highest, size, &bytes) && !__builtin_add_overflow(bytes, size, &bytes);
}

}  // namespace

void StridedView::Describe() noexcept {
  countable = shape.Numel(&numel);
  if (!countable) numel = 0;
  contiguous = is_dense || (countable && numel <= 1) || HasRowMajorStrides(*this);
  bytes_fit = ByteOffsetsFit(*this);
}

bool ReachOf(const StridedView& view, int64_t* lowest, int64_t* highest) noexcept {
  if (view.shape.IsEmpty()) return false;
  *lowest = *highest = view.offset;
  for (int i = 0; i < view.shape.rank; ++i) {
    int64_t span = 0;
    if (view.shape[i] < 1 || __builtin_mul_overflow(view.strides[i], view.shape[i] - 1, &span)) return false;
    int64_t* end = span < 0 ? lowest : highest;
    if (__builtin_add_overflow(*end, span, end)) return false;
  }
  return true;
}

int64_t ByteOffset(const StridedView& view) noexcept {
  return view.shape.IsEmpty() ? 0 : InBytes(view, view.offset);
}

int64_t ByteStride(const StridedView& view, int dim) noexcept {
  return view.shape[dim] == 1 || view.shape.IsEmpty() ? 0 : InBytes(view, view.strides[dim]);
}

}  // namespace portacl
