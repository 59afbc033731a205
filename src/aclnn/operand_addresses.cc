// Sets other addresses of the operands of repeatable executors (aclSetTensorAddr and its kin).
// SPDX-License-Identifier: Apache-2.0
#include "aclnn/acl_meta.h"
#include "aclnn/live_executor.h"
#include "aclnn/opdev/op_errno.h"
#include "aclnn/tensor_order.h"
#include "base/errors.h"

namespace portacl {

constinit std::atomic<TensorOrderFunction> find_tensor_order{nullptr};

}  // namespace portacl

using namespace portacl;

namespace {

// The tensors that an index counts.
enum class Counted { kInputs, kOutputs, kAll };

// Parameters of an executor, as an index counts them. Null: a tensor of the C function that the job does not know.
struct CountedParameters {
  const ExecutorParameter* parameters[kMaxParameters];
  int count = 0;

  void Add(const ExecutorParameter* parameter) noexcept { parameters[count++] = parameter; }

  int Operands() const noexcept {
    int operands = 0;
    for (int i = 0; i < count; ++i) operands += parameters[i] == nullptr ? 1 : parameters[i]->count;
    return operands;
  }
};

// Returns the order of a function whose signature is not known: that of its call. Written tensors come last, or the first tensor is
// read and written.
TensorOrder OrderOfCall(const Executor& executor) noexcept {
  TensorOrder order{};
  const bool in_place = executor.first_output_parameter == 0 && executor.input_count > 0;
  for (; order.count < executor.parameter_count; ++order.count) {
    const bool is_written = in_place ? order.count == 0 : order.count >= executor.first_output_parameter;
    order.tensors[order.count] = {static_cast<int8_t>(order.count), in_place || !is_written, is_written};
  }
  return order;
}

CountedParameters ParametersOf(const Executor& executor, Counted counted) noexcept {
  const TensorOrderFunction find = find_tensor_order.load(std::memory_order_acquire);
  TensorOrder order = find == nullptr ? TensorOrder{} : find(executor);
  if (order.count == 0) order = OrderOfCall(executor);
  CountedParameters found;
  const auto add = [&](bool inputs) {
    for (int i = 0; i < order.count; ++i) {
      const TensorOrder::Tensor& one = order.tensors[i];
      const bool is_counted =
          inputs ? one.is_read : one.is_written && !(counted == Counted::kAll && one.is_read);
      if (is_counted)
        found.Add(one.parameter == TensorOrder::kNone ? nullptr : &executor.parameters[one.parameter]);
    }
  };
  if (counted != Counted::kOutputs) add(/*inputs=*/true);
  if (counted != Counted::kInputs) add(/*inputs=*/false);
  return found;
}

// Sets the address of the operand with this index. `tensor` is only tested for null.
aclnnStatus SetAddress(const char* api, aclOpExecutor* executor, Counted counted, size_t index,
                       const aclTensor* tensor, void* address) noexcept {
  aclnnStatus status = ACL_SUCCESS;
  Executor* const found = FindExecutor(api, executor, &status);
  if (found == nullptr) return status;
  if (tensor == nullptr) {
    return FailAclnn(ACLNN_ERR_INNER_NULLPTR,
                     Text(api, ": parameter tensor is a null pointer, expected the operand's tensor."));
  }
  const CountedParameters parameters = ParametersOf(*found, counted);
  size_t rest = index;
  for (int i = 0; i < parameters.count; ++i) {
    const ExecutorParameter* const one = parameters.parameters[i];
    const size_t operands = one == nullptr ? 1 : static_cast<size_t>(one->count);
    if (rest < operands) {
      if (one != nullptr) found->addresses[one->first + static_cast<int>(rest)] = address;
      return ACL_SUCCESS;
    }
    rest -= operands;
  }
  return FailAclnn(ACLNN_ERR_PARAM_INVALID, Text(api, ": parameter index has the value ", index,
                                                 ", accepted: 0 to ", parameters.Operands() - 1, "."));
}

// Sets the address of one entry of a list. irIndex counts parameters, and relativeIndex counts the entries of the list.
aclnnStatus SetListAddress(const char* api, aclOpExecutor* executor, Counted counted, size_t irIndex,
                           size_t relativeIndex, const aclTensorList* tensors, void* address) noexcept {
  aclnnStatus status = ACL_SUCCESS;
  Executor* const found = FindExecutor(api, executor, &status);
  if (found == nullptr) return status;
  if (tensors == nullptr) {
    return FailAclnn(ACLNN_ERR_INNER_NULLPTR,
                     Text(api, ": parameter tensors is a null pointer, expected the operand's list."));
  }
  if (relativeIndex >= tensors->values.size()) {
    return FailAclnn(
        ACLNN_ERR_PARAM_INVALID,
        Text(api, ": parameter relativeIndex has the value ", relativeIndex,
             ", accepted: less than the size of the list, which is ", tensors->values.size(), "."));
  }
  const CountedParameters parameters = ParametersOf(*found, counted);
  const ExecutorParameter* const parameter =
      irIndex < static_cast<size_t>(parameters.count) ? parameters.parameters[irIndex] : nullptr;
  if (parameter == nullptr || !parameter->is_list) {
    return FailAclnn(ACLNN_ERR_PARAM_INVALID,
                     Text(api, ": parameter irIndex has the value ", irIndex, ", but ", found->api,
                          " has no list of tensors there, accepted: the position of one."));
  }
  if (relativeIndex >= static_cast<size_t>(parameter->count)) {
    return FailAclnn(ACLNN_ERR_PARAM_INVALID,
                     Text(api, ": parameter relativeIndex has the value ", relativeIndex, ", accepted: 0 to ",
                          parameter->count - 1, ", the entries of ", parameter->name, " in phase 1."));
  }
  found->addresses[parameter->first + static_cast<int>(relativeIndex)] = address;
  return ACL_SUCCESS;
}

}  // namespace

aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                  void* addr) {
  return SetAddress("aclSetInputTensorAddr", executor, Counted::kInputs, index, tensor, addr);
}

aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                   void* addr) {
  return SetAddress("aclSetOutputTensorAddr", executor, Counted::kOutputs, index, tensor, addr);
}

aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor, void* addr) {
  return SetAddress("aclSetTensorAddr", executor, Counted::kAll, index, tensor, addr);
}

aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex,
                                         aclTensorList* tensors, void* addr) {
  return SetListAddress("aclSetDynamicInputTensorAddr", executor, Counted::kInputs, irIndex, relativeIndex,
                        tensors, addr);
}

aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex,
                                          aclTensorList* tensors, void* addr) {
  return SetListAddress("aclSetDynamicOutputTensorAddr", executor, Counted::kOutputs, irIndex, relativeIndex,
                        tensors, addr);
}

aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex,
                                    aclTensorList* tensors, void* addr) {
  return SetListAddress("aclSetDynamicTensorAddr", executor, Counted::kAll, irIndex, relativeIndex, tensors,
                        addr);
}

// CANN exports each of the six under a second name as well.
aclnnStatus AclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                  void* addr) {
  return SetAddress("AclSetInputTensorAddr", executor, Counted::kInputs, index, tensor, addr);
}

aclnnStatus AclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                   void* addr) {
  return SetAddress("AclSetOutputTensorAddr", executor, Counted::kOutputs, index, tensor, addr);
}

aclnnStatus AclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor, void* addr) {
  return SetAddress("AclSetTensorAddr", executor, Counted::kAll, index, tensor, addr);
}

aclnnStatus AclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex,
                                         aclTensorList* tensors, void* addr) {
  return SetListAddress("AclSetDynamicInputTensorAddr", executor, Counted::kInputs, irIndex, relativeIndex,
                        tensors, addr);
}

aclnnStatus AclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex,
                                          aclTensorList* tensors, void* addr) {
  return SetListAddress("AclSetDynamicOutputTensorAddr", executor, Counted::kOutputs, irIndex, relativeIndex,
                        tensors, addr);
}

aclnnStatus AclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex,
                                    aclTensorList* tensors, void* addr) {
  return SetListAddress("AclSetDynamicTensorAddr", executor, Counted::kAll, irIndex, relativeIndex, tensors,
                        addr);
}
