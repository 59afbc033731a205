// aclnnQuantConvolution: convolutions of INT8 images of three axes, whose sums are scaled.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/convolution/quant_convolution_functions.h"

#include "aclnnop/convolution/geometry.h"
#include "aclnnop/jobs/dense_op_list.h"
#include "engine/gemm/byte_convolution.h"

namespace portacl {
namespace {

using namespace dense;
using namespace convolution;

enum Tensors { kInput, kWeight, kBias, kScale, kOffset, kOutput };
enum CallAttributes {
  kStride,
  kPadding,
  kDilation,
  kTransposed,
  kOutputPadding,
  kGroups,
  kOffsetX,
  kRoundMode
};
constexpr Attributes kAxes{kStride, kPadding, kDilation, -1};
constexpr int kFirstAxis = 2;

constexpr DtypeRule kBytes = ByGeneration({}, DtypeSet(ACL_INT8), {});
constexpr DtypeSet kOuts{ACL_FLOAT16, ACL_BF16};

aclnnStatus OnItsProducts(const Check& check, OperatorCall& call) noexcept {
  if (products::kAtlasA2AndA3.Contains(call.product)) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   StartMessage(call).Add("is not supported on this product, accepted: Atlas A2 and A3."));
}
aclnnStatus HasNoMore(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Holds(!call.IsGiven(kOffset), kOffset, "a null pointer");
  checks.Integer(kTransposed, 0, 0).Integer(kGroups, 1, 1).Integer(kOffsetX, 0, 0);
  return checks.HoldsOf(call.attributes[kRoundMode].text == nullptr, kRoundMode, "a null pointer").status();
}
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Shape& input = call.Tensor(kInput).shape;
  const Shape& weight = call.Tensor(kWeight).shape;
  for (const int tensor : {kInput, kWeight, kOutput})
    checks.Holds(!call.Tensor(tensor).shape.IsEmpty(), tensor, "dims that are not 0");
  checks.Holds(weight[1] == input[1], kWeight, "as many channels as input has");
  checks.Is(kScale, Shape{weight[0]}).IsIfGiven(kBias, Shape{weight[0]});
  if (!checks.Passed()) return checks.status();
  Shape output{input[0], weight[0], 0, 0, 0};
  for (int axis = 0; axis < engine::ByteConvolution::kAxes; ++axis) {
    const Axis own = AxisOf(call, kAxes, axis);
    const int64_t length = input[kFirstAxis + axis];
    const int64_t kernel = weight[kFirstAxis + axis];
    checks.Holds(KernelFits(own, length, kernel), kWeight,
                 "a kernel that is no longer than the padded input");
    if (!checks.Passed()) return checks.status();
    output.dim[kFirstAxis + axis] = static_cast<int64_t>(LengthOfY(own, length, kernel));
    checks.Holds(IsRepresentable(own, length, output[kFirstAxis + axis], kernel), kInput,
                 "coordinates that 60 bits hold");
  }
  return checks.Is(kOutput, output).status();
}

constexpr Check kChecks[] = {
    NotNull(kInput),
    NotNull(kWeight),
    NotNull(kScale),
    NotNull(kOutput),
    ArrayNotNull(kStride),
    ArrayNotNull(kPadding),
    ArrayNotNull(kDilation),
    Custom(OnItsProducts, ACLNN_ERR_RUNTIME_ERROR),
    DtypesIn(kBytes, {kInput, kWeight}),
    DtypesIn(kFloat, {kScale}),
    IfGiven<kBias>(DtypesIn(kFloatHalfAndBf16, {kBias})),
    DtypesIn(kOuts, {kOutput}),
    RankIs(5, {kInput, kWeight, kOutput}),
    Custom(HasNoMore),
    FormatsFit({kInput, kWeight, kOutput}, /*strict=*/true),
    ArraySize(kStride, kInput),
    ArraySize(kPadding, kInput),
    ArraySize(kDilation, kInput),
    ArrayValues(kStride, 1),
    ArrayValues(kPadding, 0),
    ArrayValues(kDilation, 1),
    Custom(ShapesFit),
    SizesRepresentable({kOutput}),
    InsideStorage({kInput, kWeight, kScale}),
    IfGiven<kBias>(InsideStorage({kBias})),
};

void Set(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& input = call.Tensor(kInput).shape;
  const Shape& weight = call.Tensor(kWeight).shape;
  const Shape& output = call.Tensor(kOutput).shape;
  engine::ByteConvolution job;
  job.image = ops.In(kInput);
  job.weight = ops.In(kWeight);
  job.scale = ops.In(kScale);
  job.has_bias = call.IsGiven(kBias);
  if (job.has_bias) {
    job.bias = ops.In(kBias);
    job.bias_dtype = call.Tensor(kBias).dtype;
  }
  job.out = ops.Out(kOutput);
  job.dtype = call.Tensor(kOutput).dtype;
  job.images = input[0];
  job.channels = input[1];
  job.results = weight[0];
  for (int axis = 0; axis < engine::ByteConvolution::kAxes; ++axis) {
    const Axis own = AxisOf(call, kAxes, axis);
    job.lengths[axis] = input[kFirstAxis + axis];
    job.kernel[axis] = weight[kFirstAxis + axis];
    job.result_lengths[axis] = output[kFirstAxis + axis];
    job.stride[axis] = own.stride;
    job.dilation[axis] = own.dilation;
    job.padding[axis] = own.padding[0];
  }
  job.patches = ops.Bytes(job.PositionsAtOnce() * job.Terms());
  job.schedule = ops.Words(engine::ByteConvolution::kScheduleWords);
  job.isa = ops.isa();
  job.threads = ops.threads();
  ops.Compute(job, {job.image, job.weight, job.scale, job.has_bias ? job.bias : job.out, job.out},
              job.images * job.results * job.Positions());
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnQuantConvolution) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, Set);
}
