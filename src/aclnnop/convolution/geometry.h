// What the convolutions share: how far a kernel reaches, checks of arrays and values, and the engine's form of a call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "aclnnop/phase1.h"
#include "contract/arguments.h"
#include "engine/gemm/convolve.h"

namespace portacl::convolution {

// FLOAT, FLOAT16 and, on newer products, BF16, of every tensor by itself.
inline constexpr DtypeRule kDtypes = kBf16SinceAtlasA2;

// Whole numbers that no sum of a call's values leaves.
__extension__ typedef __int128 Wide;

// The values of a call along one axis.
struct Axis {
  int64_t stride = 1;
  int64_t padding[2] = {0, 0};  // before the first element and behind the last one
  int64_t dilation = 1;
  int64_t output_padding = 0;
};

// Where a call's attributes are.
struct Attributes {
  int stride;
  int padding;  // of one value for each axis, or two: before, behind
  int dilation;
  int output_padding;  // -1: none
};
Axis AxisOf(const OperatorCall& call, const Attributes& attributes, int axis) noexcept;

// The length that a convolution gives; of a transposed one, which is what x has of y.
Wide LengthOfY(const Axis& axis, int64_t x, int64_t kernel) noexcept;
Wide LengthOfX(const Axis& axis, int64_t y, int64_t kernel) noexcept;
// Whether the padded input is at least as long as the dilated kernel.
bool KernelFits(const Axis& axis, int64_t x, int64_t kernel) noexcept;
// Whether the coordinates that a kernel of this length meets are numbers that the engine computes with.
bool IsRepresentable(const Axis& axis, int64_t x, int64_t y, int64_t kernel) noexcept;

namespace check {
aclnnStatus ModeFits(const Check& check, OperatorCall& call) noexcept;
aclnnStatus ArraySize(const Check& check, OperatorCall& call) noexcept;
aclnnStatus ArrayValues(const Check& check, OperatorCall& call) noexcept;
aclnnStatus FormatsFit(const Check& check, OperatorCall& call) noexcept;
}  // namespace check

// 161002 when cubeMathType is not 0 to `most`, before Atlas A2 not 0 to 3, or is 0 or 3 there with a FLOAT matrix.
constexpr Check ModeFits(int attribute, int64_t most, Operands matrices) {
  return {.run = check::ModeFits, .operands = matrices, .low = attribute, .high = most};
}
// 161002 when the array has not as many values as the tensor has axes; with `or_two`, twice as many are accepted too.
constexpr Check ArraySize(int attribute, int tensor, bool or_two = false) {
  return {.run = check::ArraySize, .operands = {tensor}, .high = or_two ? 1 : 0, .attributes = {attribute}};
}
// 161002 when one of the array's values is less.
constexpr Check ArrayValues(int attribute, int64_t least) {
  return {.run = check::ArrayValues, .low = least, .attributes = {attribute}};
}

// 161002 when a given tensor's format is not NCHW or NCDHW, as its rank has it, or, of three dims, NCL or ND, with `strict` NCL alone; or
// when it has another rank.
constexpr Check FormatsFit(Operands tensors, bool strict) {
  return {.run = check::FormatsFit, .operands = tensors, .low = strict ? 1 : 0};
}

// Reports that a parameter's shape is not accepted, because of `wrong`.
aclnnStatus RefuseTensor(const Check& check, const OperatorCall& call, int tensor, const char* wrong,
                         const char* accepted) noexcept;

// A tensor of the engine: the dims in the order that it wants, `dims` being those of the outer and the inner one, and of the first axis.
struct Dims {
  int outer = 0;
  int inner = 1;
  int first_axis = 2;
};
engine::ConvolutionOperand OperandOf(const OperatorCall& call, int tensor, const Dims& dims = {}) noexcept;

// The engine's form of a call whose tensors are [image, channel, axes...], and w [channel of y, channel of x in a group, axes...].
engine::Convolution ConvolutionOf(const OperatorCall& call, int x, int w, int y, int64_t groups,
                                  const Attributes& attributes) noexcept;
// A vector that is added to the result.
void SetAdded(const OperatorCall& call, int tensor, engine::Convolution& convolution) noexcept;

// What a convolution's gradients are made of.
struct Gradients {
  const engine::Convolution* of_image = nullptr;  // nullptr: not wanted
  engine::ConvolutionResult image_result = engine::ConvolutionResult::kX;
  const engine::Convolution* of_weight = nullptr;
  // The sum of `summed` over all dims but that of the channels; -1: not wanted.
  int bias = -1;
  int summed = 0;
  int channels = 1;
  int zeroed = -1;  // with a sum: what has no terms and becomes 0
};
void SetGradientsJob(const OperatorCall& call, const Gradients& gradients, Executor& executor) noexcept;

void SetConvolutionJob(const engine::Convolution& convolution, engine::ConvolutionResult result,
                       Executor& executor) noexcept;

}  // namespace portacl::convolution
