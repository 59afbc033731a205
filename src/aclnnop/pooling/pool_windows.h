// What pools share: how their attributes become windows, how tensors are seen, and the checks of both.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include "contract/arguments.h"
#include "engine/pool/pool.h"

namespace portacl {

// Where an operator has the attributes of its windows. An array of one number is for all axes; an empty array, or none, of strides means
// the kernel, or 1, of other arrays the number that changes nothing.
struct WindowRules {
  int axes = 2;
  int kernel = 0;
  int stride = 1;
  int padding = 2;
  int dilation = -1;
  int ceil = 3;
  bool steps_by_one = false;
};

// The value for an axis: of four paddings those before it, or, with `behind`, those behind.
int64_t WindowValue(const OperatorCall& call, int attribute, int axis, int64_t otherwise,
                    bool behind = false);

// An axis of this length, with as many windows as fit; less than 1 where none does.
engine::PoolAxis WindowAxis(const OperatorCall& call, const WindowRules& rules, int axis, int64_t length);

// As it lies in memory, with two dims of a batch and three axes, of which those that are not there are of length 1.
StridedView PoolView(const StridedView& tensor, int axes);
// The same of two axes, which channels may come behind: N, H, W and C.
StridedView PlanesOf(const StridedView& images, bool channels_last);

// The axes of windows over what has this view, of which there are as many as the other view has elements.
void SetAxes(const OperatorCall& call, const WindowRules& rules, const StridedView& pooled,
             const StridedView& windows, engine::Pool& pool);
void SetAdaptiveAxes(const StridedView& pooled, const StridedView& windows, engine::Pool& pool);

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

// 161002 when the array has another number of values than these, of which none is greater than 7.
constexpr Check CountIn(int attribute, std::initializer_list<int> counts) {
  Check check{.run = pools::CountIn, .operands = {attribute}};
  for (const int count : counts) check.low |= int64_t{1} << count;
  return check;
}
// 161002 when one of the array's values is less than this, or greater than 2^31 - 1. Null arrays have none.
constexpr Check ValuesFrom(int attribute, int64_t least) {
  return {.run = pools::ValuesFrom, .operands = {attribute}, .low = least};
}
constexpr Check ValuesAre1(int attribute) { return {.run = pools::ValuesAre1, .operands = {attribute}}; }
// 161002 when a padding is more than half of the kernel.
constexpr Check HalfOf(int padding, int kernel, int axes) {
  return {.run = pools::HalfOf, .operands = {padding, kernel}, .low = axes};
}
// 161002 when one of the last dims of the tensor, the axes and one more, is 0.
constexpr Check ImageNotEmpty(int tensor, int axes) {
  return {.run = pools::ImageNotEmpty, .operands = {tensor}, .low = axes + 1};
}
// 161002 when the ranks of the two differ; or one of the dims before the last two.
constexpr Check SameRank(int a, int b) { return {.run = pools::SameRank, .operands = {a, b}}; }
constexpr Check SameBatch(int a, int b, aclnnStatus code = ACLNN_ERR_PARAM_INVALID, int axes = 2) {
  return {.run = pools::SameBatch, .operands = {a, b}, .low = axes, .code = code};
}
// 161002 when the format of a tensor of 4 dims is not NCHW, of 3 not NCL.
constexpr Check FormatOfImages(Operands tensors) {
  return {.run = pools::FormatOfImages, .operands = tensors};
}
// 561103 when one of the tensors has 2^31 elements or more in a plane, which has `behind` dims behind it.
constexpr Check PlanesFit(Operands tensors, int axes, int behind = 0) {
  return {.run = pools::PlanesFit,
          .operands = tensors,
          .low = axes,
          .high = behind,
          .code = ACLNN_ERR_INNER_NULLPTR};
}
// 161002 when the two values of the array are not the last dims of the tensor.
constexpr Check SizeIsOut(int attribute, int tensor) {
  return {.run = pools::SizeIsOut, .operands = {attribute, tensor}};
}
// 161002 when `out` does not have the shape of self's windows, which has `kBehind` dims behind their axes.
template <WindowRules kRules, int kPooled, int kWindows, int kBehind = 0>
constexpr Check IsPooled() {
  return Own([](const Check& check, OperatorCall& call) noexcept {
    return pools::IsPooled(check, call, kRules, kPooled, kWindows, kBehind);
  });
}

}  // namespace portacl
