// Finds the parameters of C functions, and the order of their tensors (see signatures.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/signatures.h"

#include <algorithm>
#include <iterator>

#include "aclnn/tensor_order.h"

namespace portacl {
namespace {

// A function's parameters as text, found by its name: "tensor self,out tensor out,int8_t cubeMathType".
struct FunctionParameters {
  std::string_view api;
  std::string_view parameters;
};

constexpr FunctionParameters kFunctions[] = {
#define PARAMETERS(name, parameters) {#name, parameters},
#include "aclnnop/parameters.def"
#undef PARAMETERS
};

std::string_view Take(std::string_view& text, char separator) noexcept {
  const size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return taken;
}

int8_t IndexOf(const Executor& executor, std::string_view name) noexcept {
  const auto* const last = executor.parameters + executor.parameter_count;
  const auto* const found = std::find_if(executor.parameters, last,
                                         [name](const ExecutorParameter& one) { return one.name == name; });
  return found == last ? TensorOrder::kNone : static_cast<int8_t>(found - executor.parameters);
}

TensorOrder OrderOf(const Executor& executor) noexcept {
  TensorOrder order{};
  Signature signature(executor.api);
  for (Parameter parameter; order.count < kMaxParameters && signature.Next(&parameter);) {
    if (parameter.type != "tensor" && parameter.type != "tensors") continue;
    order.tensors[order.count++] = {IndexOf(executor, parameter.name), parameter.is_read,
                                    parameter.is_written};
  }
  return order;
}

// Offers the order of tensors to the functions that set addresses.
[[maybe_unused]] const bool is_offered = [] {
  find_tensor_order.store(OrderOf, std::memory_order_release);
  return true;
}();

}  // namespace

Signature::Signature(std::string_view api) noexcept {
  const auto* const found =
      std::lower_bound(std::begin(kFunctions), std::end(kFunctions), api,
                       [](const FunctionParameters& one, std::string_view name) { return one.api < name; });
  if (found != std::end(kFunctions) && found->api == api) rest_ = found->parameters;
}

bool Signature::Next(Parameter* parameter) noexcept {
  if (rest_.empty()) return false;
  std::string_view one = Take(rest_, ',');
  std::string_view type = Take(one, ' ');
  parameter->is_written = type == "out" || type == "inout";
  parameter->is_read = type != "out";
  if (parameter->is_written) type = Take(one, ' ');
  parameter->type = type;
  parameter->name = one;
  return true;
}

bool IsWritten(std::string_view api, std::string_view parameter) noexcept {
  Signature signature(api);
  for (Parameter one; signature.Next(&one);) {
    if (one.name == parameter) return one.is_written;
  }
  return false;
}

}  // namespace portacl
