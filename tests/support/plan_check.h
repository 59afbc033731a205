// The C objects of a described call, its answer by phase 1 beside the expected one, and calls that differ from the valid one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "map_values.h"
#include "operator_spec.h"

namespace portacl::testing {

// Creates the C objects of a call from given tensors.
class CArguments {
 public:
  CArguments(const PlanCall& call, const std::vector<aclTensor*>& tensors) {
    size_t next = 0;
    for (const PlanArgument& one : call.arguments) {
      Argument argument;
      switch (one.kind) {
        case ParameterKind::kTensor:
          argument.tensor = tensors[next++];
          break;
        case ParameterKind::kList: {
          const std::vector<aclTensor*> entries(
              tensors.begin() + static_cast<std::ptrdiff_t>(next),
              tensors.begin() + static_cast<std::ptrdiff_t>(next + one.entries.size()));
          next += one.entries.size();
          if (one.null) break;
          lists_.push_back(argument.list = aclCreateTensorList(entries.data(), entries.size()));
          break;
        }
        case ParameterKind::kArray:
          if (!one.null) {
            arrays_.push_back(argument.array = aclCreateIntArray(one.values.data(), one.values.size()));
            const auto flags = std::make_unique<bool[]>(one.values.size() + 1);
            for (size_t i = 0; i < one.values.size(); ++i) flags[i] = one.values[i] != 0;
            flags_.push_back(argument.flags = aclCreateBoolArray(flags.get(), one.values.size()));
          }
          break;
        case ParameterKind::kScalar: {
          if (one.null) break;
          // Of dtypes that hold no such number the dtype alone matters.
          Element element =
              IsOneOf(one.dtype, ConvertibleDtypes()) ? ElementOfNumber(one.dtype, one.number) : Element{};
          element.resize(16);
          scalars_.push_back(argument.scalar = aclCreateScalar(element.data(), AsAclDataType(one.dtype)));
          break;
        }
        case ParameterKind::kScalarList: {
          if (one.null) break;
          std::vector<aclScalar*> entries;
          for (const PlanArgument& entry : one.scalars) {
            Element element = ElementOfNumber(entry.dtype, entry.number);
            entries.push_back(entry.null ? nullptr
                                         : aclCreateScalar(element.data(), AsAclDataType(entry.dtype)));
          }
          scalar_lists_.push_back(argument.scalars = aclCreateScalarList(entries.data(), entries.size()));
          break;
        }
        case ParameterKind::kReal:
          argument.real = one.real;
          argument.single = static_cast<float>(one.real);
          break;
        case ParameterKind::kText:
          argument.text = one.null ? nullptr : one.text.c_str();
          break;
        default:
          argument.integer = one.integer;
      }
      arguments_.push_back(argument);
    }
  }
  // Lists own their tensors and scalars.
  ~CArguments() {
    for (aclTensorList* list : lists_) aclDestroyTensorList(list);
    for (const aclIntArray* array : arrays_) aclDestroyIntArray(array);
    for (const aclBoolArray* flags : flags_) aclDestroyBoolArray(flags);
    for (const aclScalar* scalar : scalars_) aclDestroyScalar(scalar);
    for (const aclScalarList* list : scalar_lists_) aclDestroyScalarList(list);
  }
  CArguments(const CArguments&) = delete;
  CArguments& operator=(const CArguments&) = delete;

  const std::vector<Argument>& all() const { return arguments_; }
  // The first list, or none.
  aclTensorList* FirstList() const { return lists_.empty() ? nullptr : lists_[0]; }

 private:
  std::vector<Argument> arguments_;
  std::vector<aclTensorList*> lists_;
  std::vector<const aclIntArray*> arrays_;
  std::vector<const aclBoolArray*> flags_;
  std::vector<const aclScalar*> scalars_;
  std::vector<const aclScalarList*> scalar_lists_;
};

// Returns the handle of a tensor with memory, or nullptr for an omitted one.
aclTensor* HandleOf(const PlanArgument& one, const HostTensor& tensor);
// Destroys tensors that are in no list.
void DestroySingles(const PlanCall& call, const std::vector<aclTensor*>& tensors);

// Phase 1 of a call of these tensors, entries of lists one by one, which lists destroy. A parameter `dtype` names that of the last one.
aclnnStatus PlanWith(PlanCall call, const std::vector<aclTensor*>& tensors, uint64_t* size,
                     aclOpExecutor** executor);

std::string Describe(const PlanCall& call);

// The answer of phase 1 to a call whose tensors have memory that nobody may access. Members that it does not set stay as they are.
inline constexpr uint64_t kUntouchedSize = 0xDEADBEEFCAFEF00D;
aclOpExecutor* UntouchedExecutor();
struct Planned {
  aclnnStatus status = 0;
  uint64_t size = kUntouchedSize;
  aclOpExecutor* executor = UntouchedExecutor();
  std::string message;
};
Planned PlanOf(const PlanCall& call);

// Tells whether phase 1 answers as the rules expect.
bool CheckPlan(PlanCall call);

using Change = std::function<void(PlanCall&)>;
// Returns what can be changed in the valid call, argument by argument.
std::vector<Change> ChangesOf(const OperatorSpec& op);

}  // namespace portacl::testing
