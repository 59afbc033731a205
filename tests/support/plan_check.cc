// Described calls: see plan_check.h.
// SPDX-License-Identifier: Apache-2.0
#include "plan_check.h"

#include <algorithm>
#include <cfenv>

#include "contract_suite.h"
#include "gtest/gtest.h"
#include "guarded_buffer.h"
#include "two_phase.h"

namespace portacl::testing {
namespace {

aclTensor* MakeHandle(const PlanArgument& one, const View* view, void* data) {
  if (view == nullptr) {
    const std::vector<int64_t> strides = one.strides.For(one.shape);
    const Shape& storage = one.strides.storage ? *one.strides.storage : one.shape;
    return aclCreateTensor(one.shape.data(), one.shape.size(), AsAclDataType(one.dtype),
                           one.strides.are_given ? strides.data() : nullptr, one.strides.offset,
                           static_cast<aclFormat>(one.format), storage.data(), storage.size(), data);
  }
  return aclCreateTensor(one.shape.data(), one.shape.size(), AsAclDataType(one.dtype), view->strides.data(),
                         view->offset, static_cast<aclFormat>(one.format), view->storage_dims.data(),
                         view->storage_dims.size(), data);
}

void AddTensorChanges(std::vector<Change>& changes, const std::function<PlanArgument&(PlanCall&)>& at) {
  changes.push_back([=](PlanCall& call) { at(call).null = true; });
  std::vector<DtypeNumber> dtypes = ConvertibleDtypes();
  dtypes.insert(dtypes.end(), {ACL_COMPLEX32, ACL_STRING, ACL_FLOAT8_E5M2});
  for (const DtypeNumber dtype : dtypes) changes.push_back([=](PlanCall& call) { at(call).dtype = dtype; });
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{2}, Shape{3}, Shape{6}, Shape{2, 3},
                             Shape{3, 2}, Shape{4, 3}, Shape{2, 6}, Shape{0, 3}, Shape{2, 0}, Shape{1, 1},
                             Shape{2, 3, 1}, Shape{2, 2, 3}, Shape{1, 1, 1, 1, 1, 1, 1, 2, 3}})
    changes.push_back([=](PlanCall& call) { at(call).shape = shape; });
  for (const int32_t format : {ACL_FORMAT_NCHW, ACL_FORMAT_FRACTAL_NZ})
    changes.push_back([=](PlanCall& call) { at(call).format = format; });
}

}  // namespace

aclTensor* HandleOf(const PlanArgument& one, const HostTensor& tensor) {
  return one.null ? nullptr : MakeHandle(one, &tensor.view(), tensor.buffer().device());
}

void DestroySingles(const PlanCall& call, const std::vector<aclTensor*>& tensors) {
  size_t next = 0;
  for (const PlanArgument& one : call.arguments) {
    if (one.kind == ParameterKind::kTensor) aclDestroyTensor(tensors[next++]);
    if (one.kind == ParameterKind::kList) {
      for (size_t i = 0; i < one.entries.size(); ++i, ++next) {
        if (one.null) aclDestroyTensor(tensors[next]);
      }
    }
  }
}

aclnnStatus PlanWith(PlanCall call, const std::vector<aclTensor*>& tensors, uint64_t* size,
                     aclOpExecutor** executor) {
  // The caller's floating-point environment is that of phase 1 alone: it may trap what arguments are converted by.
  std::fenv_t environment;
  std::fegetenv(&environment);
  std::fesetenv(FE_DFL_ENV);
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclGetDataType(tensors.back(), &dtype);
  for (PlanArgument& one : call.arguments) {
    if (one.kind == ParameterKind::kInteger && one.name == "dtype") one.integer = dtype;
  }
  const CArguments arguments(call, tensors);
  std::fesetenv(&environment);
  return call.op->function.plan(arguments.all(), size, executor);
}

std::string Describe(const PlanCall& call) {
  std::string text;
  const auto add = [&](const PlanArgument& one) {
    text += one.null ? "null" : DtypeName(one.dtype) + ToString(one.shape);
    if (one.format != ACL_FORMAT_ND) text += " in format " + std::to_string(one.format);
    if (one.strides.are_given)
      text += " with strides " + ToString(one.strides.For(one.shape)) + " from " +
              std::to_string(one.strides.offset);
  };
  for (const PlanArgument& one : call.arguments) {
    text += " " + one.name + "=";
    if (one.kind == ParameterKind::kTensor) add(one);
    if (one.kind == ParameterKind::kList) {
      text += one.null ? "null{" : "{";
      for (const PlanArgument& entry : one.entries) {
        add(entry);
        text += " ";
      }
      text += "}";
    }
    if (one.kind == ParameterKind::kArray) text += one.null ? "null" : ToString(one.values);
    if (one.kind == ParameterKind::kInteger) text += std::to_string(one.integer);
    if (one.kind == ParameterKind::kReal) text += std::to_string(one.real);
    if (one.kind == ParameterKind::kText) text += one.null ? "null" : one.text;
    if (one.kind == ParameterKind::kScalar)
      text += one.null ? "null" : DtypeName(one.dtype) + std::to_string(static_cast<double>(one.number.real));
    for (const PlanArgument& entry : one.scalars) {
      text += one.null || entry.null
                  ? "null "
                  : DtypeName(entry.dtype) + std::to_string(static_cast<double>(entry.number.real)) + " ";
    }
  }
  return text;
}

aclOpExecutor* UntouchedExecutor() { return static_cast<aclOpExecutor*>(ForbiddenAddress()); }

Planned PlanOf(const PlanCall& call) {
  std::vector<aclTensor*> tensors;
  for (const PlanArgument* one : TensorsOf(call))
    tensors.push_back(one->null ? nullptr : MakeHandle(*one, nullptr, ForbiddenAddress()));
  Planned planned;
  {
    const CArguments arguments(call, tensors);
    planned.status =
        call.op->function.plan(arguments.all(), call.null_workspace_size ? nullptr : &planned.size,
                               call.null_executor ? nullptr : &planned.executor);
  }
  DestroySingles(call, tensors);
  planned.message = TakeErrorMessage();
  return planned;
}

namespace {

// Tells whether a message names a parameter. "self", "out" and "value" also occur elsewhere in messages.
// Other words may stand anywhere.
bool Names(const PlanCall& call, const std::string& message, aclnnStatus code, const std::string& name) {
  if (!call.op->is_worded || !call.Has(name)) return message.find(name) != std::string::npos;
  const std::string places[] = {"parameter " + name, "parameters " + name, "and " + name,
                                name + " with dtype"};
  return std::any_of(std::begin(places), std::end(places),
                     [&](const std::string& place) { return bool{MessageSays(message, code, {place})}; });
}

}  // namespace

bool CheckPlan(PlanCall call) {
  const OperatorSpec& op = *call.op;
  const Verdict expected = call.null_workspace_size || call.null_executor
                               ? Verdict{161001, {call.null_workspace_size ? "workspaceSize" : "executor"}}
                               : Expected(call);
  if (expected.code == kUndetermined) return true;
  const Planned planned = PlanOf(call);
  const std::string& message = planned.message;
  bool right = planned.status == expected.code && aclGetRecentErrMsg() == nullptr;
  if (right && planned.status == 0) {
    right = (planned.size == 0 || op.takes_workspace) && planned.executor != UntouchedExecutor() &&
            planned.executor != nullptr && message.empty();
  } else if (right) {
    right = planned.size == kUntouchedSize && planned.executor == UntouchedExecutor() &&
            MessageSays(message, expected.code, expected.says) &&
            message.find(op.function.name) != std::string::npos &&
            (expected.names.empty() ||
             std::any_of(expected.names.begin(), expected.names.end(),
                         [&](const std::string& name) { return Names(call, message, expected.code, name); }));
  }
  if (planned.status == 0 && planned.executor != UntouchedExecutor())
    aclDestroyAclOpExecutor(planned.executor);
  if (right) return true;
  std::string names;
  for (const std::string& name : expected.names) names += " " + name;
  ADD_FAILURE() << ProductName(call.product) << Describe(call) << ": " << planned.status << ", expected "
                << expected.code << names << "; "
                << MessageSays(message, expected.code, expected.says).message() << "; " << message;
  return false;
}

std::vector<Change> ChangesOf(const OperatorSpec& op) {
  std::vector<Change> changes;
  for (size_t i = 0; i < op.valid.size(); ++i) {
    const auto argument = [=](PlanCall& call) -> PlanArgument& { return call.arguments[i]; };
    switch (op.valid[i].kind) {
      case ParameterKind::kTensor:
        AddTensorChanges(changes, argument);
        break;
      case ParameterKind::kList:
        changes.push_back([=](PlanCall& call) { argument(call).null = true; });
        changes.push_back([=](PlanCall& call) { argument(call).entries.clear(); });
        changes.push_back([=](PlanCall& call) {
          auto& entries = argument(call).entries;
          if (!entries.empty()) entries.push_back(entries[0]);
        });
        for (const bool all : {false, true}) {
          std::vector<Change> of_entry;
          AddTensorChanges(of_entry, [](PlanCall& call) -> PlanArgument& { return call.arguments[0]; });
          for (size_t k = 0; k < of_entry.size(); ++k) {
            changes.push_back([=](PlanCall& call) {
              auto& entries = argument(call).entries;
              for (size_t e = all ? 0 : 1; e < entries.size(); ++e) {
                PlanCall one;
                one.arguments = {entries[e]};
                of_entry[k](one);
                entries[e] = one.arguments[0];
              }
            });
          }
        }
        break;
      case ParameterKind::kArray:
        changes.push_back([=](PlanCall& call) { argument(call).null = true; });
        changes.push_back([=](PlanCall& call) { argument(call).values.clear(); });
        for (const int64_t value : {-9, -2, -1, 0, 1, 2, 3, 9}) {
          changes.push_back([=](PlanCall& call) { argument(call).values.push_back(value); });
          for (const size_t place : {0, 1}) {
            changes.push_back([=](PlanCall& call) {
              if (place < argument(call).values.size()) argument(call).values[place] = value;
            });
          }
        }
        break;
      case ParameterKind::kScalar:
        changes.push_back([=](PlanCall& call) { argument(call).null = true; });
        for (const DtypeNumber dtype : {ACL_BOOL, ACL_INT64, ACL_DOUBLE, ACL_COMPLEX64})
          changes.push_back([=](PlanCall& call) { argument(call).dtype = dtype; });
        changes.push_back([=](PlanCall& call) { argument(call).number = {}; });
        break;
      case ParameterKind::kScalarList:
        changes.push_back([=](PlanCall& call) { argument(call).null = true; });
        changes.push_back([=](PlanCall& call) { argument(call).scalars.clear(); });
        changes.push_back([=](PlanCall& call) {
          auto& scalars = argument(call).scalars;
          if (!scalars.empty()) scalars.push_back(scalars[0]);
        });
        changes.push_back([=](PlanCall& call) {
          if (!argument(call).scalars.empty()) argument(call).scalars.back().null = true;
        });
        for (const bool all : {false, true}) {
          for (const DtypeNumber dtype :
               {ACL_BOOL, ACL_FLOAT16, ACL_INT32, ACL_INT64, ACL_DOUBLE, ACL_COMPLEX64}) {
            changes.push_back([=](PlanCall& call) {
              auto& scalars = argument(call).scalars;
              for (size_t e = all ? 0 : 1; e < scalars.size(); ++e) scalars[e].dtype = dtype;
            });
          }
        }
        break;
      case ParameterKind::kText:
        changes.push_back([=](PlanCall& call) { argument(call).null = true; });
        for (const char* text :
             {"", "none", "mean", "sum", "Mean", "means", "BSH", "SBH", "BNSD", "BSND", "TND", "bsnd"})
          changes.push_back([=](PlanCall& call) { argument(call).text = text; });
        break;
      case ParameterKind::kReal:
        for (const double value : {-1.0, 0.0, 0.5, 1.0, 2.0, 3.5})
          changes.push_back([=](PlanCall& call) { argument(call).real = value; });
        break;
      default:
        for (const int64_t value : {-9, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 9})
          changes.push_back([=](PlanCall& call) { argument(call).integer = value; });
    }
  }
  for (const DtypeNumber dtype : ConvertibleDtypes()) {
    changes.push_back([=](PlanCall& call) {
      for (PlanArgument& one : call.arguments) {
        one.dtype = one.dtype == ACL_FLOAT ? dtype : one.dtype;
        for (PlanArgument& entry : one.entries) entry.dtype = entry.dtype == ACL_FLOAT ? dtype : entry.dtype;
      }
    });
  }
  return changes;
}

}  // namespace portacl::testing
