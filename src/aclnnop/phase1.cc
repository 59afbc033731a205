// Phase 1 of all operators (see phase1.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/phase1.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "acl/device/device.h"
#include "acl/settings/configuration.h"
#include "aclnn/opdev/op_errno.h"
#include "aclnnop/mapped_view.h"
#include "aclnnop/operand_access.h"
#include "aclnnop/recorded_arguments.h"
#include "base/checked_parts.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "engine/cache_size.h"
#include "engine/functions/sleef.h"
#include "engine/map/map_types.h"
#include "engine/move/move.h"
#include "engine/reduction/reduction_job.h"
#include "profile/recorder.h"
#include "record/recorded_calls.h"
#include "record/recording_settings.h"

namespace portacl {

namespace {

aclnnStatus FailMemory(const OperatorCall& call) noexcept {
  return FailAclnn(ACLNN_ERR_INNER_CREATE_EXECUTOR, Text(call.api, ": no memory for an executor."));
}

// Reports that there is no memory for a parameter's size.
aclnnStatus FailSize(const OperatorCall& call, const char* parameter, int64_t size) noexcept {
  Text message(call.api, ": parameter ", parameter);
  for (int i = 0; i < static_cast<int>(call.tensors.size()); ++i) {
    if (call.IsList(i) || !call.IsGiven(i) || std::strcmp(call.Name(i), parameter) != 0) continue;
    AddShape(message.Add(" with shape "), call.Tensor(i).shape);
  }
  return FailAclnn(
      ACLNN_ERR_INNER_CREATE_EXECUTOR,
      message.Add(" has the size ").Add(size).Add(", for which there is no memory, accepted: less."));
}

// Stores the call's operands. Returns false when there is no memory for them.
bool SetOperands(const OperatorCall& call, Executor& executor) noexcept {
  const int parameters = static_cast<int>(call.tensors.size());
  const int outputs = call.in_place ? 0 : call.output_count;
  int operands = 0;
  for (int i = 0; i < parameters; ++i) operands += call.Count(i);
  if (!executor.ReserveOperands(operands)) return false;
  executor.parameter_count = parameters;
  executor.operand_count = operands;
  executor.first_output_parameter = call.Output();
  executor.first_output = operands;  // written tensors are among the read ones
  int operand = 0;
  for (int i = 0; i < parameters; ++i) {
    if (i == parameters - outputs) executor.input_count = operand;
    if (i == call.Output()) executor.first_output = operand;
    const int count = call.Count(i);
    executor.parameters[i] = {call.Name(i), operand, count, call.IsList(i)};
    for (int entry = 0; entry < count; ++entry, ++operand) {
      const aclTensor* const tensor = call.Entry(i, entry);
      executor.addresses[operand] = tensor == nullptr ? nullptr : tensor->data;
      executor.touched[operand] = false;
    }
  }
  if (outputs == 0) executor.input_count = operands;
  executor.output_count = call.in_place ? call.Count(0) : operands - executor.first_output;
  return true;
}

// Checks, profiles and recordings are told by functions that are not inlined, so that phase 1 of other
// programs keeps its small stack frame.

// Reports to the checks which bytes the call will touch.
[[gnu::cold, gnu::noinline]] void TellOfCall(const OperatorCall& call, const Executor& executor,
                                             const aclOpExecutor* handle) noexcept {
  try {
    sanitizer::hooks->Phase1Ends(&executor, executor.api, handle, OperandsOf(call, executor));
  } catch (...) {
    // without memory the call is not checked
  }
}

// Start of phase 1 on this thread, while a profile is taken.
thread_local uint64_t phase1_begin = 0;

// Describes a call's tensors for a profile: members of a JSON object, with the names of CANN's profiler.
[[gnu::cold, gnu::noinline]] const std::string* DescribeTensors(const OperatorCall& call,
                                                                const Executor& executor) noexcept {
  try {
    std::string inputs[3];
    std::string outputs[3];
    const auto add = [](std::string(&info)[3], const aclTensor& tensor) {
      Text dtype;
      Text format;
      AddDtypeName(dtype, tensor.dtype);
      AddFormatName(format, tensor.format);
      std::string shape;
      for (int i = 0; i < tensor.shape.rank; ++i) {
        if (i > 0) shape += ',';
        shape += std::to_string(tensor.shape[i]);
      }
      std::string_view name = dtype.view();
      if (name.starts_with("DT_")) name.remove_prefix(3);
      const std::string_view parts[] = {shape, name, format.view()};
      for (size_t i = 0; i < 3; ++i) info[i].append(parts[i]).append(";");
    };
    int operand = 0;
    for (int i = 0; i < static_cast<int>(call.tensors.size()); ++i) {
      for (int entry = 0; entry < call.Count(i); ++entry, ++operand) {
        const aclTensor* const tensor = call.Entry(i, entry);
        if (tensor == nullptr) continue;
        if (operand < executor.input_count) add(inputs, *tensor);
        if (operand >= executor.first_output && operand < executor.first_output + executor.output_count)
          add(outputs, *tensor);
      }
    }
    std::string arguments;
    constexpr const char* kNames[] = {"Shapes", "Data Types", "Formats"};
    for (const bool is_input : {true, false}) {
      for (size_t i = 0; i < 3; ++i) {
        std::string& info = is_input ? inputs[i] : outputs[i];
        if (!info.empty()) info.pop_back();
        if (!arguments.empty()) arguments += ',';
        arguments.append(is_input ? "\"Input " : "\"Output ").append(kNames[i]).append("\":\"");
        arguments.append(info).append("\"");
      }
    }
    return profile::Interned(arguments);
  } catch (...) {
    return nullptr;
  }
}

[[gnu::cold, gnu::noinline]] void TellProfile(const OperatorCall& call, const Executor& executor) noexcept {
  const std::string* const arguments = DescribeTensors(call, executor);
  profile::NoteOperands(&executor, arguments);
  if (phase1_begin == 0) return;
  const std::string* const name = profile::Interned(Text(call.api, "GetWorkspaceSize").view());
  if (name != nullptr) profile::Called(name->c_str(), phase1_begin, arguments);
  phase1_begin = 0;
}

// Records the arguments of a call. Runs before the handle is published, since another thread may use it at
// once.
[[gnu::cold, gnu::noinline]] void RecordCall(const OperatorCall& call, const Executor& executor) noexcept {
  try {
    record::CallIsMade(&executor, RecordedArguments(call, executor));
  } catch (...) {
    // without memory the call is not recorded
  }
}

}  // namespace

aclnnStatus phase1::Begin(OperatorCall& call, std::span<const Check> checks, const uint64_t* workspaceSize,
                          aclOpExecutor* const* executor, Executor** acquired) noexcept {
  const ApiScope scope(call.api);
  if (profile::IsOn()) phase1_begin = profile::Now();
  if (workspaceSize == nullptr || executor == nullptr) {
    return FailAclnn(ACLNN_ERR_PARAM_NULLPTR,
                     Text(call.api, ": parameter ", workspaceSize == nullptr ? "workspaceSize" : "executor",
                          " is a null pointer, expected the address of a result."));
  }
  Executor* fresh = AcquireExecutor(call.api);
  if (fresh == nullptr) {
    return FailMemory(call);
  }
  call.product = CurrentProduct();
  call.isa = fresh->isa;
  call.threads = fresh->threads;
  const aclnnStatus status = RunChecks(checks, call);
  if (status != ACL_SUCCESS) {
    ReleaseExecutor(fresh);
    return status;
  }
  if (!SetOperands(call, *fresh)) {
    ReleaseExecutor(fresh);
    return FailMemory(call);
  }
  *acquired = fresh;
  return ACL_SUCCESS;
}

namespace {

// Does not require addresses of tensors without elements: clients have none.
void AskNoAddressOfNothing(const OperatorCall& call, Executor& executor) noexcept {
  bool* touched = executor.touched;
  for (int i = 0; i < static_cast<int>(call.tensors.size()); ++i) {
    const int count = call.Count(i);
    for (int entry = 0; entry < count; ++entry, ++touched) {
      const aclTensor* const tensor = call.Entry(i, entry);
      if (tensor != nullptr && tensor->shape.IsEmpty()) *touched = false;
    }
  }
}

}  // namespace

aclnnStatus phase1::End(const OperatorCall& call, Executor* acquired, uint64_t* workspaceSize,
                        aclOpExecutor** executor) noexcept {
  if (acquired->out_of_memory) {
    const ApiScope scope(call.api);
    const char* const parameter = acquired->too_large;
    const int64_t size = acquired->size;
    ReleaseExecutor(acquired);
    return parameter == nullptr ? FailMemory(call) : FailSize(call, parameter, size);
  }
  AskNoAddressOfNothing(call, *acquired);
  if (profile::IsOn()) TellProfile(call, *acquired);
  *workspaceSize = acquired->workspace_size;
  if (record::IsOn()) RecordCall(call, *acquired);
  *executor = PublishExecutor(acquired);
  if (sanitizer::IsOn()) TellOfCall(call, *acquired, *executor);
  return ACL_SUCCESS;
}

aclnnStatus phase1::CheckLoopRank(const Check& check, OperatorCall& call) noexcept {
  const Shape& shape = call.Tensor(call.Output()).shape;
  if (shape.rank <= kMaxLoopRank) return ACL_SUCCESS;
  const StridedView* operands[kMaxLoopOperands];
  size_t count = 0;
  for (const int tensor : check.operands) operands[count++] = &call.Tensor(tensor);
  if (count == 0) {
    for (const TensorArgument& argument : call.tensors) operands[count++] = argument.tensor;
  }
  if (MergeLoop(shape, {operands, count}).shape.rank <= kMaxLoopRank) return ACL_SUCCESS;
  return FailAclnn(ACLNN_ERR_INNER_NULLPTR, Text(call.api, ": the tensors have ", shape.rank,
                                                 " dims that their strides do not let be taken ",
                                                 "together as at most ", kMaxLoopRank, "."));
}

const char* WhyFunctionsAreMissing() noexcept {
  return engine::WhySleefIsMissing(CurrentConfiguration().isa);
}

engine::ElementwiseJob MakeElementwiseJob(const OperatorCall& call, const Shape& shape, Operands inputs,
                                          int output) noexcept {
  return engine::MakeElementwiseJob(SettingsOf(call), shape, MapInputs(call, inputs).All(),
                                    TensorOperand(call, output));
}

engine::ElementwiseJob MakeMapJob(const OperatorCall& call, Operands inputs, int output,
                                  const engine::KernelTable& kernels, const engine::Scalars& scalars,
                                  std::initializer_list<aclDataType> casts) noexcept {
  return engine::MakeMapJob(SettingsOf(call), MapInputs(call, inputs).All(), TensorOperand(call, output),
                            kernels, scalars, casts);
}

void SetMapJob(const OperatorCall& call, Operands inputs, int output, const engine::KernelTable& kernels,
               const engine::Scalars& scalars, Executor& executor,
               std::initializer_list<aclDataType> casts) noexcept {
  executor.SetJob([&] { return MakeMapJob(call, inputs, output, kernels, scalars, casts); });
}

void SetEveryJob(const OperatorCall& call, Operands inputs, int output, const engine::KernelTable& kernels,
                 const engine::Scalars& scalars, Executor& executor, bool is_opposite) noexcept {
  executor.SetJob([&] {
    return engine::MakeAllElementsJob(SettingsOf(call), MapInputs(call, inputs).All(),
                                      TensorOperand(call, output), kernels, scalars, is_opposite);
  });
}

engine::ReductionJob MakeReductionJob(const OperatorCall& call, const Shape& shape, const Shape& kept,
                                      Operands inputs, int output, float factor,
                                      Executor& executor) noexcept {
  engine::ReductionJob job =
      engine::MakeReductionJob(SettingsOf(call), shape, kept, MapInputs(call, inputs).All(),
                               TensorOperand(call, output), static_cast<double>(factor));
  executor.workspace_size = job.plan.workspace_bytes();
  return job;
}

void SetMapScalar(const OperatorCall& call, const engine::KernelTable& kernels, const aclScalar& scalar,
                  engine::Scalars& scalars, int i, aclDataType cast) noexcept {
  if (cast == ACL_DT_UNDEFINED) {
    const bool is_half = call.promoted == ACL_FLOAT16 || call.promoted == ACL_BF16;
    cast = is_half ? ACL_FLOAT : call.promoted;
  }
  const engine::MapTypes types{call.isa, call.promoted, engine::ComputedType(call.promoted, kernels.takes),
                               kernels.writes_bool};
  const ScalarValue value = ConvertScalar(scalar, cast);
  engine::ElementType type{};
  const engine::ElementLoad load = types.LoadFor(cast, cast, &type);
  if (type == types.computed) {
    std::memcpy(scalars.bytes[i], value.bytes, sizeof value.bytes);
  } else {
    load(value.bytes, scalars.bytes[i], 1);
  }
}

void SetMoveJob(const OperatorCall& call, int source, int destination, Executor& executor) noexcept {
  executor.SetJob([&] {
    engine::MoveJob job;
    job.move = engine::MakeMove(call.Tensor(source), call.Tensor(destination), call.isa, call.threads);
    job.source = static_cast<int8_t>(source);
    job.destination = static_cast<int8_t>(destination);
    return job;
  });
}

namespace {

engine::SequenceJob SequenceOf(const OperatorCall& call, engine::ElementType type,
                               std::span<const engine::ViewOperand> inputs,
                               const engine::ViewOperand& output) noexcept {
  engine::SequenceJob job;
  const StridedView* views[engine::kMaxSequenceInputs + 1];
  const aclDataType computed = engine::DtypeOf(type);
  const engine::MapTypes types{call.isa, output.view->dtype, type, /*writes_bool=*/false};
  job.input_count = static_cast<int>(inputs.size());
  for (int k = 0; k < job.input_count; ++k) {
    const engine::ViewOperand& input = inputs[static_cast<size_t>(k)];
    views[k] = input.view;
    job.argument[k] = static_cast<int8_t>(input.operand);
    engine::ElementType loaded{};
    job.load[k] = types.LoadFor(input.view->dtype, computed, &loaded);
    job.is_loaded[k] = input.view->dtype != computed;
  }
  views[job.input_count] = output.view;
  int axes[kMaxLoopRank];
  std::iota(std::begin(axes), std::end(axes), 0);
  const std::span<const int> order(axes, static_cast<size_t>(output.view->shape.rank));
  job.plan = PlanInOrder(output.view->shape, order, {views, inputs.size() + 1});
  job.threads = call.threads;
  job.stream = job.plan.BytesWalked() > engine::LastLevelCacheBytes();
  job.gather =
      engine::FindGather(call.isa, job.stream ? engine::GatherSource::kMemory : engine::GatherSource::kCache);
  job.result.argument = static_cast<int8_t>(output.operand);
  job.result.scatter = engine::FindScatter(call.isa, job.stream);
  job.is_converted = type != engine::ElementType::kOther && output.view->dtype != computed;
  if (job.is_converted) job.result.store = types.StoreFor(output.view->dtype, &job.result.type);
  job.packed.use = engine::PackedOperand::Use::kNone;
  return job;
}

}  // namespace

engine::SequenceJob MakeSequenceJob(const OperatorCall& call, engine::ElementType type,
                                    const SequenceOperands& operands) noexcept {
  engine::SequenceJob job =
      SequenceOf(call, type, MapInputs(call, operands.inputs).All(), TensorOperand(call, operands.output));
  job.packed.use = operands.use;
  if (operands.use != engine::PackedOperand::Use::kNone) {
    const aclTensor& packed = call.Tensor(operands.packed);
    const StridedView* const one[] = {&packed};
    int axes[kMaxLoopRank];
    std::iota(std::begin(axes), std::end(axes), 0);
    job.packed.argument = static_cast<int8_t>(operands.packed);
    job.packed.plan = PlanInOrder(packed.shape, {axes, static_cast<size_t>(packed.shape.rank)}, one);
  }
  return job;
}

engine::SequenceJob MakeSequenceJob(const OperatorCall& call, engine::ElementType type,
                                    const engine::ViewOperand& output) noexcept {
  return SequenceOf(call, type, {}, output);
}

void SetFillJob(const OperatorCall& call, int destination, const ScalarValue& value,
                Executor& executor) noexcept {
  executor.SetJob([&] {
    const StridedView merged = MergedDims(call.Tensor(destination));
    StridedView one;
    one.dtype = merged.dtype;
    engine::MoveJob job;
    job.move = engine::MakeMove(one, merged, call.isa, call.threads);
    job.destination = static_cast<int8_t>(destination);
    std::memcpy(job.value, value.bytes, sizeof job.value);
    return job;
  });
}

}  // namespace portacl
