// Bytes of strided views (see strided_bytes.h).
// SPDX-License-Identifier: Apache-2.0
#include "base/strided_bytes.h"

#include <algorithm>

namespace portacl {
namespace {

// The steps after which FindOverlap gives up. Views whose strides are multiples of each other need a few for
// each dim.
constexpr int kMostSteps = 100000;

// A dim of either view. It adds a multiple of the stride to the distance between a byte of one view and a
// byte of the other; the factor is any of low .. high.
struct Step {
  int64_t stride;
  int64_t low;
  int64_t high;
  // The least and the greatest sum that this step and all later ones can add.
  int64_t least = 0;
  int64_t most = 0;
};

int64_t FloorDivide(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

// Tells whether distance + the steps' sum can lie in [low, high].
Overlapping Reaches(int64_t distance, const Step* step, const Step* last, int64_t low, int64_t high,
                    int& left) noexcept {
  if (step == last) return low <= distance && distance <= high ? Overlapping::kYes : Overlapping::kNo;
  if (--left < 0) return Overlapping::kUnknown;
  const int64_t most_behind = step + 1 == last ? 0 : step[1].most;
  const int64_t least_behind = step + 1 == last ? 0 : step[1].least;
  const int64_t from = std::max(step->low, -FloorDivide(distance + most_behind - low, step->stride));
  const int64_t to = std::min(step->high, FloorDivide(high - distance - least_behind, step->stride));
  Overlapping worst = Overlapping::kNo;
  for (int64_t k = from; k <= to; ++k) {
    const Overlapping found = Reaches(distance + k * step->stride, step + 1, last, low, high, left);
    if (found == Overlapping::kYes) return found;
    if (found == Overlapping::kUnknown) {
      worst = found;
      break;
    }
  }
  return worst;
}

}  // namespace

uintptr_t StridedBytes::End() const noexcept {
  uintptr_t end = begin + static_cast<uintptr_t>(width);
  for (int i = 0; i < dims; ++i) end += static_cast<uintptr_t>((dim[i].count - 1) * dim[i].stride);
  return end;
}

bool StridedBytes::operator==(const StridedBytes& other) const noexcept {
  return begin == other.begin && width == other.width && dims == other.dims &&
         std::equal(dim, dim + dims, other.dim);
}

StridedBytes StridedBytes::Run(const void* address, size_t size) noexcept {
  StridedBytes bytes;
  bytes.begin = reinterpret_cast<uintptr_t>(address);
  bytes.width = static_cast<int64_t>(size);
  return bytes;
}

StridedBytes StridedBytes::Rows(const void* address, size_t width, size_t height, size_t pitch) noexcept {
  if (height == 0) width = 0;
  StridedBytes bytes = Run(address, pitch == width ? width * height : width);
  if (height > 1 && pitch != width && width > 0) {
    bytes.dims = 1;
    bytes.dim[0] = {static_cast<int64_t>(height), static_cast<int64_t>(pitch)};
  }
  return bytes;
}

StridedBytes StridedBytes::View(const void* first, int64_t size, std::span<const int64_t> shape,
                                std::span<const int64_t> strides, bool* is_exact) noexcept {
  *is_exact = true;
  StridedBytes bytes = Run(first, static_cast<size_t>(size));
  Dim all[32];
  int count = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] <= 0) return Run(first, 0);
    int64_t stride = strides[i] * size;
    if (shape[i] == 1 || stride == 0 || count == 32) continue;
    if (stride < 0) {
      bytes.begin += static_cast<uintptr_t>(stride * (shape[i] - 1));
      stride = -stride;
    }
    all[count++] = {shape[i], stride};
  }
  std::sort(all, all + count, [](const Dim& a, const Dim& b) { return a.stride > b.stride; });
  // Merges dims from the innermost outwards, into the run or into one dim.
  Dim merged[32];
  int kept = 0;  // innermost first
  for (int i = count - 1; i >= 0; --i) {
    const Dim& one = all[i];
    if (kept == 0 && one.stride <= bytes.width) {
      bytes.width += (one.count - 1) * one.stride;
    } else if (kept > 0 && one.stride == merged[kept - 1].stride * merged[kept - 1].count) {
      merged[kept - 1].count *= one.count;
    } else if (kept > 0 && one.stride == merged[kept - 1].stride) {
      merged[kept - 1].count += one.count - 1;
    } else {
      merged[kept++] = one;
    }
  }
  *is_exact = kept <= kMostDims;
  bytes.dims = std::min(kept, kMostDims);
  for (int i = 0; i < bytes.dims; ++i) bytes.dim[i] = merged[bytes.dims - 1 - i];
  return bytes;
}

Overlapping FindOverlap(const StridedBytes& a, const StridedBytes& b) noexcept {
  if (a.IsEmpty() || b.IsEmpty() || a.begin >= b.End() || b.begin >= a.End()) return Overlapping::kNo;
  if ((a.dims == 0 && b.dims == 0) || a == b) return Overlapping::kYes;
  // A run of a and a run of b overlap if b's begins at most width - 1 bytes after a's beginning, or vice
  // versa.
  Step steps[2 * StridedBytes::kMostDims];
  int count = 0;
  const auto add = [&](const StridedBytes::Dim& dim, bool forward) {
    int64_t low = forward ? 0 : 1 - dim.count;
    int64_t high = forward ? dim.count - 1 : 0;
    for (int i = 0; i < count; ++i) {
      if (steps[i].stride != dim.stride) continue;
      steps[i].low += low;
      steps[i].high += high;
      return;
    }
    steps[count++] = {dim.stride, low, high};
  };
  for (int i = 0; i < a.dims; ++i) add(a.dim[i], false);
  for (int i = 0; i < b.dims; ++i) add(b.dim[i], true);
  std::sort(steps, steps + count, [](const Step& x, const Step& y) { return x.stride > y.stride; });
  int64_t least = 0;
  int64_t most = 0;
  for (int i = count - 1; i >= 0; --i) {
    steps[i].least = least += steps[i].low * steps[i].stride;
    steps[i].most = most += steps[i].high * steps[i].stride;
  }
  int left = kMostSteps;
  return Reaches(static_cast<int64_t>(b.begin - a.begin), steps, steps + count, 1 - b.width, a.width - 1,
                 left);
}

bool Covers(const StridedBytes& a, const StridedBytes& b) noexcept {
  if (b.IsEmpty() || a == b) return true;
  return a.IsOneRun() && a.begin <= b.begin && b.End() <= a.End();
}

}  // namespace portacl
