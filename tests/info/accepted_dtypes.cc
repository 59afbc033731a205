// Prints, as JSON, which data types phase 1 of each operator accepts for the product that PORTACL_SOC names: with all
// operands of the type, and with one operand of it among accepted ones.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "aclnnop/families/activations.h"
#include "operators/all_operators.h"
#include "operators/positions.h"
#include "operators/random.h"
#include "operators/reductions.h"
#include "support/map_suite.h"
#include "support/plan_check.h"

namespace portacl::testing {
namespace {

// Whether a call passes whose tensors have one element each, those named "two" two; those named "value" have no dims.
bool Accepts(const OperatorBinding& binding, const std::vector<DtypeNumber>& dtypes, uint64_t rank = 1) {
  alignas(16) std::byte element[16] = {};
  std::vector<aclTensor*> handles;
  for (size_t i = 0; i < dtypes.size(); ++i) {
    const auto is_named = [&](const char* name) {
      return i < binding.tensors.size() && binding.tensors[i] == name;
    };
    const uint64_t dims = is_named("value") ? 0 : rank;
    const int64_t ones[] = {is_named("two") ? 2 : 1, 1};
    handles.push_back(aclCreateTensor(ones, dims, AsAclDataType(dtypes[i]), nullptr, 0, ACL_FORMAT_ND, ones,
                                      dims, element));
  }
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  const bool accepted = binding.plan(handles, {}, &size, &executor) == 0;
  if (accepted) {
    aclDestroyAclOpExecutor(executor);
  }
  for (aclTensor* handle : handles) {
    aclDestroyTensor(handle);
  }
  return accepted;
}

std::string List(const std::vector<DtypeNumber>& dtypes) {
  std::string text = "[";
  for (const DtypeNumber dtype : dtypes) {
    text += text.size() > 1 ? ", \"" : "\"";
    text += DtypeName(dtype).substr(3);  // without DT_
    text += "\"";
  }
  return text + "]";
}

// The dtypes that all inputs of an elementwise operator may have, its scalars too, with some dtype of the output.
std::vector<DtypeNumber> AcceptedTogether(const MapOperator& op) {
  std::vector<DtypeNumber> together;
  for (const DtypeNumber dtype : AllDtypes()) {
    const MapOperator typed = OfDtype(op, dtype);
    const OperatorBinding binding = BindingOf(typed);
    std::vector<DtypeNumber> dtypes(binding.tensors.size(), dtype);
    for (const auto& [name, its] : op.dtypes) {  // conditions and masks
      for (size_t i = 0; i < dtypes.size(); ++i) {
        if (binding.tensors[i] == name && name != op.output) dtypes[i] = its;
      }
    }
    bool is_accepted = Accepts(binding, dtypes);
    for (const DtypeNumber out : {DtypeNumber{ACL_BOOL}, DtypeNumber{ACL_FLOAT}, DtypeNumber{ACL_FLOAT16}}) {
      if (is_accepted || op.in_place) break;
      dtypes[binding.output < 0 ? dtypes.size() - 1 : static_cast<size_t>(binding.output)] = out;
      is_accepted = Accepts(binding, dtypes);
    }
    if (is_accepted) together.push_back(dtype);
  }
  return together;
}

// Of the valid call, in which every float32 tensor has the dtype; the output, if there is none.
std::vector<DtypeNumber> AcceptedBy(const OperatorSpec& op) {
  const OperatorBinding binding = BindingOf(op);
  std::vector<const PlanArgument*> tensors;
  for (const PlanArgument& one : op.valid) {
    if (one.kind == ParameterKind::kTensor) tensors.push_back(&one);
  }
  const auto is_float = [](const PlanArgument* one) { return !one->null && one->dtype == ACL_FLOAT; };
  const bool has_floats = std::any_of(tensors.begin(), tensors.end(), is_float);
  std::vector<DtypeNumber> together;
  for (const DtypeNumber dtype : AllDtypes()) {
    alignas(16) std::byte element[16] = {};  // phase 1 reads none
    std::vector<aclTensor*> handles;
    for (const PlanArgument* one : tensors) {
      const bool has_it = has_floats ? is_float(one) : one->is_output;
      const Shape& shape = one->shape;
      handles.push_back(one->null ? nullptr
                                  : aclCreateTensor(shape.data(), shape.size(),
                                                    AsAclDataType(has_it ? dtype : one->dtype), nullptr, 0,
                                                    ACL_FORMAT_ND, shape.data(), shape.size(), element));
    }
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    if (binding.plan(handles, {}, &size, &executor) == 0) {
      together.push_back(dtype);
      aclDestroyAclOpExecutor(executor);
    }
    for (aclTensor* handle : handles) aclDestroyTensor(handle);
  }
  return together;
}

// Operators whose tensors have different sizes.
using Plan = decltype(OperatorBinding::plan);

struct Positional {
  const char* name;
  size_t tensors;
  uint64_t rank;
  Plan plan;
  std::vector<std::string> names = {};  // of tensors: "two"
};

const Positional kPositional[] = {
    {"aclnnGlu",
     2,
     1,
     [](std::span<aclTensor* const> t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnGluGetWorkspaceSize(t[0], 0, t[1], size, executor);
     },
     {"two"}},
    {"aclnnGluBackward",
     3,
     1,
     [](std::span<aclTensor* const> t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnGluBackwardGetWorkspaceSize(t[0], t[1], 0, t[2], size, executor);
     },
     {"", "two", "two"}},
    {"aclnnSwiGlu",
     2,
     1,
     [](std::span<aclTensor* const> t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnSwiGluGetWorkspaceSize(t[0], 0, t[1], size, executor);
     },
     {"two"}},
    {"aclnnSwiGluGrad",
     3,
     1,
     [](std::span<aclTensor* const> t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnSwiGluGradGetWorkspaceSize(t[0], t[1], 0, t[2], size, executor);
     },
     {"", "two", "two"}},
    {"aclnnGeGlu",
     3,
     1,
     [](std::span<aclTensor* const> t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnGeGluGetWorkspaceSize(t[0], 0, 0, t[1], t[2], size, executor);
     },
     {"two"}},
    {"aclnnGeGluBackward",
     4,
     1,
     [](std::span<aclTensor* const> t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnGeGluBackwardGetWorkspaceSize(t[0], t[1], t[2], 0, 0, t[3], size, executor);
     },
     {"", "two", "", "two"}},
    {"aclnnPrelu", 3, 1,
     [](std::span<aclTensor* const> t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnPreluGetWorkspaceSize(t[0], t[1], t[2], size, executor);
     }},
    {"aclnnPreluBackward", 5, 1,
     [](std::span<aclTensor* const> t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnPreluBackwardGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], size, executor);
     }}};

std::vector<DtypeNumber> AcceptedBy(const Positional& op) {
  OperatorBinding binding;
  binding.plan = op.plan;
  binding.tensors = op.names;
  std::vector<DtypeNumber> together;
  for (const DtypeNumber dtype : AllDtypes()) {
    const std::vector<DtypeNumber> dtypes(op.tensors, dtype);
    if (Accepts(binding, dtypes, op.rank)) together.push_back(dtype);
  }
  return together;
}

// Of self, with outputs of some dtypes.
std::vector<DtypeNumber> AcceptedByReduction(const OperatorSpec& op) {
  const ReducedOver over = OverOf(op);
  const PlanCall call = CallOver(op, {});
  const size_t tensors = TensorsOf(call).size();
  const bool is_trace = over == ReducedOver::kDiagonal;
  OperatorBinding binding;
  if (is_trace) binding.tensors = {"self", "value"};
  binding.plan = [&call](std::span<aclTensor* const> t, const Attributes&, uint64_t* size,
                         aclOpExecutor** executor) {
    return PlanWith(call, {t.begin(), t.end()}, size, executor);
  };
  std::vector<DtypeNumber> together;
  for (const DtypeNumber dtype : AllDtypes()) {
    const DtypeNumber outs[] = {dtype, ACL_BOOL, ACL_FLOAT, ACL_INT64};
    bool is_accepted = false;
    for (const DtypeNumber first : outs) {
      for (const DtypeNumber last : outs) {
        // A scan's is that of its result; what it scans may be of another.
        const bool is_other = over == ReducedOver::kLine && first != dtype;
        if (is_accepted || is_other || (tensors < 3 && last != dtype)) continue;
        std::vector<DtypeNumber> dtypes = {dtype, first, last};
        dtypes.resize(tensors);
        is_accepted = Accepts(binding, dtypes, is_trace ? 2 : 1);
      }
    }
    if (is_accepted) together.push_back(dtype);
  }
  return together;
}

int Run() {
  if (aclInit(nullptr) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) {
    std::fprintf(stderr, "%s\n", aclGetRecentErrMsg());
    return 1;
  }
  std::printf("{");
  const char* separator = "";
  for (const OperatorBinding& binding : AllBindings()) {
    const size_t operands = binding.tensors.size();
    std::vector<DtypeNumber> together;
    for (const DtypeNumber dtype : AllDtypes()) {
      if (Accepts(binding, std::vector<DtypeNumber>(operands, dtype))) {
        together.push_back(dtype);
      }
    }
    std::printf("%s\n  \"%s\": {\"together\": %s, \"operands\": {", separator, binding.name.c_str(),
                List(together).c_str());
    for (size_t operand = 0; operand < operands; ++operand) {
      std::vector<DtypeNumber> alone;
      for (const DtypeNumber dtype : AllDtypes()) {
        std::vector<DtypeNumber> dtypes(operands, together.empty() ? ACL_FLOAT : together.front());
        dtypes[operand] = dtype;
        if (Accepts(binding, dtypes)) {
          alone.push_back(dtype);
        }
      }
      std::printf("%s\"%s\": %s", operand == 0 ? "" : ", ", binding.tensors[operand].c_str(),
                  List(alone).c_str());
    }
    std::printf("}}");
    separator = ",";
  }
  for (const auto* family :
       {&ArithmeticOperators(), &SelectionOperators(), &UnaryOperators(), &ActivationOperators()}) {
    for (const MapOperator& op : *family) {
      if (op.in_place && std::string(op.function.name).find("MaskedFill") == std::string::npos) continue;
      std::printf(",\n  \"%s\": {\"together\": %s, \"operands\": {}}", op.function.name,
                  List(AcceptedTogether(op)).c_str());
    }
  }
  for (const auto& family : {PositionOperators(), RandomOperators()}) {
    for (const OperatorSpec* op : family)
      std::printf(",\n  \"%s\": {\"together\": %s, \"operands\": {}}", op->function.name,
                  List(AcceptedBy(*op)).c_str());
  }
  for (const Positional& op : kPositional)
    std::printf(",\n  \"%s\": {\"together\": %s, \"operands\": {}}", op.name, List(AcceptedBy(op)).c_str());
  for (const OperatorSpec& op : ReductionOperators())
    std::printf(",\n  \"%s\": {\"together\": %s, \"operands\": {}}", op.function.name,
                List(AcceptedByReduction(op)).c_str());
  std::printf("\n}\n");
  return aclrtResetDevice(0) == ACL_SUCCESS && aclFinalize() == ACL_SUCCESS ? 0 : 1;
}

}  // namespace
}  // namespace portacl::testing

int main() { return portacl::testing::Run(); }
