// Shared code of the convolutions: lengths of axes, checks of arrays and values, and the engine's form of a
// call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "aclnnop/phase1.h"
#include "contract/arguments.h"
#include "engine/gemm/convolve.h"

namespace portacl::convolution {

// FLOAT, FLOAT16 and, on products since Atlas A2, BF16. Each tensor is checked by itself.
inline constexpr DtypeRule kDtypes = kBf16SinceAtlasA2;

// An integer type that no sum of a call's values overflows.
__extension__ typedef __int128 Wide;

// The attributes of a call along one axis.
struct Axis {
  int64_t stride = 1;
  int64_t padding[2] = {0, 0};  // before the first element and after the last one
  int64_t dilation = 1;
  int64_t output_padding = 0;
};

// The positions of a call's attributes.
struct Attributes {
  int stride;
  int padding;  // one value for each axis, or two: before and after
  int dilation;
  int output_padding;  // -1: none
};
Axis AxisOf(const OperatorCall& call, const Attributes& attributes, int axis) noexcept;

// Return the length of a convolution's result y for x, and the length of a transposed convolution's result x
// for y.
Wide LengthOfY(const Axis& axis, int64_t x, int64_t kernel) noexcept;
Wide LengthOfX(const Axis& axis, int64_t y, int64_t kernel) noexcept;
// Tells whether the padded input is at least as long as the dilated kernel.
bool KernelFits(const Axis& axis, int64_t x, int64_t kernel) noexcept;
// Tells whether all coordinates that a kernel of this length reads fit the engine's integers.
bool IsRepresentable(const Axis& axis, int64_t x, int64_t y, int64_t kernel) noexcept;

namespace check {
aclnnStatus ModeFits(const Check& check, OperatorCall& call) noexcept;
aclnnStatus ArraySize(const Check& check, OperatorCall& call) noexcept;
aclnnStatus ArrayValues(const Check& check, OperatorCall& call) noexcept;
aclnnStatus FormatsFit(const Check& check, OperatorCall& call) noexcept;
}  // namespace check

// 161002 when cubeMathType is outside 0 to `most`. Products before Atlas A2 accept 0 to 3, without 0 and 3
// for a FLOAT matrix.
constexpr Check ModeFits(int attribute, int64_t most, Operands matrices) {
  return {.run = check::ModeFits, .operands = matrices, .low = attribute, .high = most};
}
// 161002 when the array's size is not the tensor's number of axes. `or_two` also accepts twice as many
// values.
constexpr Check ArraySize(int attribute, int tensor, bool or_two = false) {
  return {.run = check::ArraySize, .operands = {tensor}, .high = or_two ? 1 : 0, .attributes = {attribute}};
}
// 161002 when one of the array's values is less than `least`.
constexpr Check ArrayValues(int attribute, int64_t least) {
  return {.run = check::ArrayValues, .low = least, .attributes = {attribute}};
}

// 161002 when a given tensor's format does not fit its rank: NCHW or NCDHW, and for three dims NCL or ND,
// with `strict` NCL only. Also when it has another rank.
constexpr Check FormatsFit(Operands tensors, bool strict) {
  return {.run = check::FormatsFit, .operands = tensors, .low = strict ? 1 : 0};
}

// Reports that a parameter's shape is refused, with the reason `wrong`.
aclnnStatus RefuseTensor(const Check& check, const OperatorCall& call, int tensor, const char* wrong,
                         const char* accepted) noexcept;

// Positions of the dims of one of the engine's tensors: the outer dim, the inner dim and the first axis.
struct Dims {
  int outer = 0;
  int inner = 1;
  int first_axis = 2;
};
engine::ConvolutionOperand OperandOf(const OperatorCall& call, int tensor, const Dims& dims = {}) noexcept;

// Returns the engine's form of a call. Tensors are [image, channel, axes...], and w is [channel of y, channel
// of x in a group, axes...].
engine::Convolution ConvolutionOf(const OperatorCall& call, int x, int w, int y, int64_t groups,
                                  const Attributes& attributes) noexcept;
// Sets a vector that is added to the result.
void SetAdded(const OperatorCall& call, int tensor, engine::Convolution& convolution) noexcept;

// The gradients to compute for a convolution.
struct Gradients {
  const engine::Convolution* of_image = nullptr;  // nullptr: not requested
  engine::ConvolutionResult image_result = engine::ConvolutionResult::kX;
  const engine::Convolution* of_weight = nullptr;
  // The bias's gradient is the sum of `summed` over all dims but the channels. -1: not requested.
  int bias = -1;
  int summed = 0;
  int channels = 1;
  int zeroed = -1;  // beside a sum: an operand without terms that becomes 0
};
void SetGradientsJob(const OperatorCall& call, const Gradients& gradients, Executor& executor) noexcept;

void SetConvolutionJob(const engine::Convolution& convolution, engine::ConvolutionResult result,
                       Executor& executor) noexcept;

}  // namespace portacl::convolution
