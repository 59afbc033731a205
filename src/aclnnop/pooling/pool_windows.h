// Shared code of pools: windows from attributes, views of tensors, and checks of both.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include "contract/arguments.h"
#include "engine/pool/pool.h"

namespace portacl {

// Positions of the attributes of windows. An array of one number applies to all axes. An empty or missing
// array of strides means the kernel's lengths, or 1 with `steps_by_one`. For other arrays it means the
// neutral number.
struct WindowRules {
  int axes = 2;
  int kernel = 0;
  int stride = 1;
  int padding = 2;
  int dilation = -1;
  int ceil = 3;
  bool steps_by_one = false;
};

// Returns the value for an axis. Of four paddings, returns the one before it, or, with `behind`, the one
// after it.
int64_t WindowValue(const OperatorCall& call, int attribute, int axis, int64_t otherwise,
                    bool behind = false);

// Returns an axis of this length with as many windows as fit. Their number is less than 1 where none fits.
engine::PoolAxis WindowAxis(const OperatorCall& call, const WindowRules& rules, int axis, int64_t length);

// Views a tensor with two batch dims and three axes. Missing axes have length 1.
StridedView PoolView(const StridedView& tensor, int axes);
// Views images as PoolView does: two axes, with channels before or after them (N, H, W and C).
StridedView PlanesOf(const StridedView& images, bool channels_last);

// Sets the axes of windows over the view `pooled`. `windows` has one element for each window.
void SetAxes(const OperatorCall& call, const WindowRules& rules, const StridedView& pooled,
             const StridedView& windows, engine::Pool& pool);
void SetAdaptiveAxes(const StridedView& pooled, const StridedView& windows, int axes, engine::Pool& pool);

// ---- checks ----

namespace pools {
aclnnStatus CountIn(const Check& check, OperatorCall& call) noexcept;
aclnnStatus ValuesFrom(const Check& check, OperatorCall& call) noexcept;
aclnnStatus ValuesAre1(const Check& check, OperatorCall& call) noexcept;
aclnnStatus HalfOf(const Check& check, OperatorCall& call) noexcept;
aclnnStatus ImageNotEmpty(const Check& check, OperatorCall& call) noexcept;
aclnnStatus SameRank(const Check& check, OperatorCall& call) noexcept;
aclnnStatus SameBatch(const Check& check, OperatorCall& call) noexcept;
aclnnStatus FormatOfImages(const Check& check, OperatorCall& call) noexcept;
aclnnStatus PlanesFit(const Check& check, OperatorCall& call) noexcept;
aclnnStatus SizeIsOut(const Check& check, OperatorCall& call) noexcept;
aclnnStatus IsPooled(const Check& check, OperatorCall& call, const WindowRules& rules, int self, int out,
                     int behind);
}  // namespace pools

// 161002 when the array's size is not among `counts`, all of which are at most 7.
constexpr Check CountIn(int attribute, std::initializer_list<int> counts) {
  Check check{.run = pools::CountIn, .operands = {attribute}};
  for (const int count : counts) check.low |= int64_t{1} << count;
  return check;
}
// 161002 when a value of the array is less than `least` or greater than 2^31 - 1. Null arrays pass.
constexpr Check ValuesFrom(int attribute, int64_t least) {
  return {.run = pools::ValuesFrom, .operands = {attribute}, .low = least};
}
constexpr Check ValuesAre1(int attribute) { return {.run = pools::ValuesAre1, .operands = {attribute}}; }
// 161002 when a padding exceeds half of the kernel.
constexpr Check HalfOf(int padding, int kernel, int axes) {
  return {.run = pools::HalfOf, .operands = {padding, kernel}, .low = axes};
}
// 161002 when one of the tensor's last axes + 1 dims is 0.
constexpr Check ImageNotEmpty(int tensor, int axes) {
  return {.run = pools::ImageNotEmpty, .operands = {tensor}, .low = axes + 1};
}
// SameRank: 161002 when the two ranks differ. SameBatch: 161002 when one of the dims before the last two
// differs.
constexpr Check SameRank(int a, int b) { return {.run = pools::SameRank, .operands = {a, b}}; }
constexpr Check SameBatch(int a, int b, aclnnStatus code = ACLNN_ERR_PARAM_INVALID, int axes = 2) {
  return {.run = pools::SameBatch, .operands = {a, b}, .low = axes, .code = code};
}
// 161002 when a tensor of 4 dims is not NCHW, or one of 3 dims not NCL.
constexpr Check FormatOfImages(Operands tensors) {
  return {.run = pools::FormatOfImages, .operands = tensors};
}
// 561103 when a plane of one of the tensors has 2^31 elements or more. `behind` dims lie behind a plane.
constexpr Check PlanesFit(Operands tensors, int axes, int behind = 0) {
  return {.run = pools::PlanesFit,
          .operands = tensors,
          .low = axes,
          .high = behind,
          .code = ACLNN_ERR_INNER_NULLPTR};
}
// 161002 when the array's two or three values are not the tensor's last dims.
constexpr Check SizeIsOut(int attribute, int tensor) {
  return {.run = pools::SizeIsOut, .operands = {attribute, tensor}};
}
// 161002 when `out` does not have the shape of self's windows. `kBehind` dims lie after the axes.
template <WindowRules kRules, int kPooled, int kWindows, int kBehind = 0>
constexpr Check IsPooled() {
  return Custom([](const Check& check, OperatorCall& call) noexcept {
    return pools::IsPooled(check, call, kRules, kPooled, kWindows, kBehind);
  });
}

}  // namespace portacl
