// aclnnLogSpace: powers of a number whose exponents are evenly spaced.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/creation/log_space_functions.h"

#include <cstring>
#include <new>

#include "aclnnop/jobs/list_kernels.h"
#include "aclnnop/jobs/op_list.h"
#include "aclnnop/mapped_view.h"
#include "aclnnop/phase1.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/arguments.h"

namespace portacl {
namespace {

constexpr int kOut = 0;
enum Attributes { kStart, kEnd, kSteps, kBase };

aclnnStatus BoundsAreReal(const Check& check, OperatorCall& call) noexcept {
  for (const int i : {kStart, kEnd}) {
    if (!IsComplex(call.Scalar(i).dtype) && call.Scalar(i).dtype != ACL_COMPLEX32) continue;
    Text message(call.api, ": parameter ");
    AddDtypeName(message.Add(call.attributes[static_cast<size_t>(i)].name).Add(" with dtype "),
                 call.Scalar(i).dtype);
    return FailAclnn(check.code, message.Add(" is not supported, accepted: a real dtype."));
  }
  return ACL_SUCCESS;
}
aclnnStatus StepsFit(const Check& check, OperatorCall& call) noexcept {
  const int64_t steps = call.attributes[kSteps].integer;
  if (steps >= 0) return ACL_SUCCESS;
  Text message(call.api, ": parameter steps has the value ");
  return FailAclnn(check.code, message.Add(steps).Add(", accepted: at least 0."));
}
aclnnStatus OutHasSteps(const Check& check, OperatorCall& call) noexcept {
  const int64_t steps = call.attributes[kSteps].integer;
  if (call.Tensor(kOut).countable && call.Tensor(kOut).numel == steps) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kOut).Add(" has not as many elements as steps, ");
  return FailAclnn(check.code, message.Add(steps).Add(", accepted: as many."));
}
// Succeeds without elements, whatever the shape of the result.
aclnnStatus DoneWithoutSteps(const Check&, OperatorCall& call) noexcept {
  if (call.attributes[kSteps].integer == 0) call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

constexpr Check kChecks[] = {
    WithCode(ACLNN_ERR_INNER_NULLPTR, ScalarNotNull(kStart)),
    WithCode(ACLNN_ERR_INNER_NULLPTR, ScalarNotNull(kEnd)),
    WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kOut)),
    Custom(BoundsAreReal),
    DtypesIn(kBf16SinceAtlasA2, {kOut}),
    Custom(StepsFit),
    SizesRepresentable({kOut}),
    Custom(DoneWithoutSteps),
    Custom(OutHasSteps, ACLNN_ERR_INNER_NULLPTR),
    WithCode(ACLNN_ERR_INNER_NULLPTR, RankAtMost(8, {kOut})),
    ScalarsImplemented(kConvertible, {kStart, kEnd}),
    PromotesTo(ACL_FLOAT),
};

float FloatOf(const aclScalar& scalar) {
  const ScalarValue value = ConvertScalar(scalar, ACL_FLOAT);
  float number;
  std::memcpy(&number, value.bytes, sizeof number);
  return number;
}

// Writes the exponents, and then replaces each by its power. The second job is in the executor's memory. Exponents that are not kept in
// the result are in the workspace, which is the operand after the result.
struct PowersJob {
  engine::SequenceJob exponents;

  bool Touches(int operand) const noexcept { return operand == kOut; }
  int64_t Elements() const noexcept { return exponents.Elements(); }
  void Run(const JobContext& context) const noexcept {
    void* const addresses[] = {context.addresses[kOut], context.workspace};
    exponents.Run(addresses, context.workspace);
    reinterpret_cast<const engine::ElementwiseJob*>(context.memory)->Run(addresses, context.workspace);
  }
};

// A FLOAT16 and a BF16 bound have FLOAT in common, in which exponents are then left.
bool BoundsAreMixed(const OperatorCall& call) {
  const aclDataType start = call.Scalar(kStart).dtype;
  const aclDataType end = call.Scalar(kEnd).dtype;
  return (start == ACL_FLOAT16 && end == ACL_BF16) || (start == ACL_BF16 && end == ACL_FLOAT16);
}

void SetPowers(const OperatorCall& call, Executor& executor) {
  const StridedView out = PlainView(call.Tensor(kOut));
  const bool is_apart = BoundsAreMixed(call) && out.dtype != ACL_FLOAT;
  MappedView exponents{out, kOut};
  constexpr int64_t kMostElements = int64_t{1} << 48;
  if (is_apart && out.numel > kMostElements) return executor.RefuseSize(call.Name(kOut), out.numel);
  if (is_apart) {
    exponents = {DenseTensor(out.shape, ACL_FLOAT), kOut + 1};
    executor.workspace_size = static_cast<uint64_t>(out.numel) * sizeof(float);
  }
  std::byte* const memory = executor.ReserveMemory(sizeof(engine::ElementwiseJob));
  if (memory == nullptr) return;
  aclScalar base{ACL_DOUBLE, {}};
  std::memcpy(base.value, &call.attributes[kBase].wide, sizeof(double));
  const engine::KernelTable& kernels = PowerWithScalarKernels();
  engine::Scalars scalars;
  SetMapScalar(call, kernels, base, scalars, 0);
  scalars.SetScalarIsFirst();
  const engine::ViewOperand from = exponents.AsOperand();
  new (memory) engine::ElementwiseJob(
      engine::MakeMapJob(SettingsOf(call), {&from, 1}, {&out, kOut}, kernels, scalars));
  const int64_t last = call.attributes[kSteps].integer - 1;
  engine::EvenlySpaced<float> numbers{FloatOf(call.Scalar(kStart)), 0, FloatOf(call.Scalar(kEnd)), last, 1};
  if (last > 0) {
    numbers.step = (numbers.end - numbers.start) / static_cast<float>(last);
    numbers.half = (last + 1) / 2;
  }
  executor.SetJob([&] {
    PowersJob job{MakeSequenceJob(call, engine::TypeOf(numbers), exponents.AsOperand())};
    job.exponents.Set(call.isa, numbers);
    return job;
  });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnLogSpace) { return RunPhase1(call, kChecks, workspaceSize, executor, SetPowers); }
