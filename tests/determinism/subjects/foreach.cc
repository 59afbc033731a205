// Operators over lists of tensors, for the determinism test: a long tensor, which threads share, a short one and an empty one.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "aclnnop/families/foreach.h"
#include "aclnnop/families/optimizers.h"
#include "base/float_environment.h"
#include "determinism/arguments.h"
#include "determinism/subject.h"
#include "support/c_function.h"

namespace portacl::testing {
namespace {

constexpr int64_t kLength = 77357;

// What a call is given besides its tensors, of which it is given parts as lists.
class Lists {
 public:
  Lists(const CFunction& function, Tensors tensors) {
    size_t next = 0;
    const std::string name = function.name;
    for (const ParameterKind kind : function.parameters) {
      Argument argument;
      switch (kind) {
        case ParameterKind::kList: {
          const aclTensor* const whole = tensors[next++];
          aclTensor* const parts[] = {Part(whole, 0, 0, 2), Part(whole, 0, 2, 0),
                                      Part(whole, 0, 2, kLength - 2)};
          lists_.push_back(argument.list = aclCreateTensorList(parts, std::size(parts)));
          break;
        }
        case ParameterKind::kScalarList: {
          std::vector<aclScalar*> scalars;
          for (double value : {0.7, 1.5, -0.3}) scalars.push_back(aclCreateScalar(&value, ACL_DOUBLE));
          argument.scalars = scalars_ = aclCreateScalarList(scalars.data(), scalars.size());
          break;
        }
        case ParameterKind::kTensor: {
          if (name.find("RoundOff") != std::string::npos) {
            static int8_t mode = 6;
            const int64_t one = 1;
            argument.tensor = number_ =
                aclCreateTensor(&one, 1, ACL_INT8, &one, 0, ACL_FORMAT_ND, &one, 1, &mode);
            break;
          }
          const bool is_each =
              name.find("List") != std::string::npos && name.find("Addc") != std::string::npos;
          argument.tensor = number_ = Part(tensors[0], 0, 5, is_each ? 3 : 1);
          break;
        }
        default: {
          double value = 0.7;
          int64_t mode = 4;
          const bool is_mode = name.find("RoundOff") != std::string::npos;
          argument.scalar = scalar_ =
              is_mode ? aclCreateScalar(&mode, ACL_INT64) : aclCreateScalar(&value, ACL_DOUBLE);
        }
      }
      arguments_.push_back(argument);
    }
  }
  ~Lists() {
    for (const aclTensorList* list : lists_) aclDestroyTensorList(list);
    if (scalars_ != nullptr) aclDestroyScalarList(scalars_);
    if (number_ != nullptr) aclDestroyTensor(number_);
    if (scalar_ != nullptr) aclDestroyScalar(scalar_);
  }
  Lists(const Lists&) = delete;
  Lists& operator=(const Lists&) = delete;

  const std::vector<Argument>& arguments() const { return arguments_; }

 private:
  std::vector<Argument> arguments_;
  std::vector<aclTensorList*> lists_;
  const aclScalarList* scalars_ = nullptr;
  aclTensor* number_ = nullptr;
  const aclScalar* scalar_ = nullptr;
};

SubjectRegistration Register(const CFunction& function) {
  Subject subject;
  subject.start = Start::kAnything;
  subject.sums_everything = true;
  OperatorBinding& binding = subject.description.binding;
  binding.name = function.name;
  const auto& kinds = function.parameters;
  const auto inputs = static_cast<size_t>(std::count(kinds.begin(), kinds.end(), ParameterKind::kList)) - 1;
  const bool has_number = std::count(kinds.begin(), kinds.end(), ParameterKind::kTensor) > 0;
  for (size_t i = 0; i < inputs; ++i) binding.tensors.push_back("input" + std::to_string(i));
  binding.tensors.emplace_back("output");
  binding.plan = [function](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
    const Lists lists(function, t);
    return function.plan(lists.arguments(), size, executor);
  };
  binding.run = function.run;
  binding.may_need_workspace = [](std::span<const Shape>) { return true; };
  for (const DtypeNumber dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    if (has_number && dtype == ACL_BF16) continue;  // its number is of another dtype
    GivenCase c;
    c.input_dtypes.assign(inputs, dtype);
    c.input_shapes.assign(inputs, Shape{kLength});
    c.output_dtype = dtype;
    c.output_shape = {kLength};
    subject.given.push_back(c);
  }
  subject.description.attributes.emplace_back();
  subject.cuts_freely = [](const Attributes&) { return false; };
  subject.is_plain_code = true;
  for (const char c : std::string(function.name))
    subject.seed = subject.seed * 31 + static_cast<unsigned char>(c);
  return SubjectRegistration(std::move(subject));
}

#define SUBJECT(name) const auto k##name = Register(PORTACL_C_FUNCTION(aclnnForeach##name))

SUBJECT(Abs);
SUBJECT(Reciprocal);
SUBJECT(Acos);
SUBJECT(Asin);
SUBJECT(Atan);
SUBJECT(Cos);
SUBJECT(Cosh);
SUBJECT(Erf);
SUBJECT(Erfc);
SUBJECT(Exp);
SUBJECT(Expm1);
SUBJECT(Log);
SUBJECT(Log10);
SUBJECT(Log1p);
SUBJECT(Log2);
SUBJECT(Neg);
SUBJECT(Sigmoid);
SUBJECT(Sign);
SUBJECT(Sin);
SUBJECT(Sinh);
SUBJECT(Sqrt);
SUBJECT(Tan);
SUBJECT(Tanh);
SUBJECT(AddListV2);
SUBJECT(SubListV2);
SUBJECT(AddList);
SUBJECT(SubList);
SUBJECT(MulList);
SUBJECT(DivList);
SUBJECT(MaximumList);
SUBJECT(MinimumList);
SUBJECT(PowList);
SUBJECT(AddScalarV2);
SUBJECT(SubScalarV2);
SUBJECT(MulScalarV2);
SUBJECT(DivScalarV2);
SUBJECT(MaximumScalarV2);
SUBJECT(MinimumScalarV2);
SUBJECT(PowScalarV2);
SUBJECT(AddScalar);
SUBJECT(SubScalar);
SUBJECT(MulScalar);
SUBJECT(DivScalar);
SUBJECT(MaximumScalar);
SUBJECT(MinimumScalar);
SUBJECT(PowScalar);
SUBJECT(AddScalarList);
SUBJECT(SubScalarList);
SUBJECT(MulScalarList);
SUBJECT(DivScalarList);
SUBJECT(MaximumScalarList);
SUBJECT(MinimumScalarList);
SUBJECT(PowScalarList);
SUBJECT(AddcmulScalarV2);
SUBJECT(AddcdivScalarV2);
SUBJECT(AddcmulScalar);
SUBJECT(AddcdivScalar);
SUBJECT(AddcmulScalarList);
SUBJECT(AddcdivScalarList);
SUBJECT(AddcmulList);
SUBJECT(AddcdivList);
SUBJECT(LerpScalar);
SUBJECT(LerpList);
SUBJECT(PowScalarAndTensor);
SUBJECT(RoundOffNumber);
SUBJECT(RoundOffNumberV2);

// ---- steps of optimizers, and norms ----

// Dense FLOAT tensors beside a call's own: numbers that every call begins with, and that stay until the next one.
class Beside {
 public:
  explicit Beside(int64_t length, double least) {
    const DefaultFloatEnvironment environment;  // the same numbers, whatever environment the test calls in
    thread_local std::vector<std::vector<float>> memory(16);
    std::vector<float>& data = memory[next_++ % memory.size()];
    data.resize(static_cast<size_t>(length));
    for (size_t i = 0; i < data.size(); ++i)
      data[i] = static_cast<float>(least + static_cast<double>(i * 2654435761u % 1000) / 500);
    const int64_t stride = 1;
    tensor_ = aclCreateTensor(&length, 1, ACL_FLOAT, &stride, 0, ACL_FORMAT_ND, &length, 1, data.data());
  }
  ~Beside() { aclDestroyTensor(tensor_); }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;
  operator aclTensor*() const { return tensor_; }

 private:
  static inline thread_local size_t next_ = 0;
  aclTensor* tensor_;
};

// As ListOf, two of them at a time.
struct TwoLists {
  TwoLists(std::vector<aclTensor*> a, std::vector<aclTensor*> b)
      : first(aclCreateTensorList(a.data(), a.size())), second(aclCreateTensorList(b.data(), b.size())) {}
  ~TwoLists() {
    aclDestroyTensorList(first);
    aclDestroyTensorList(second);
  }
  TwoLists(const TwoLists&) = delete;
  TwoLists& operator=(const TwoLists&) = delete;

  aclTensorList* first;
  aclTensorList* second;
};
std::vector<aclTensor*> PartsOf(const aclTensor* whole) {
  return {Part(whole, 0, 0, 2), Part(whole, 0, 2, 0), Part(whole, 0, 2, kLength - 2)};
}

using Plan = decltype(OperatorBinding::plan);

SubjectRegistration RegisterStep(const std::string& name, size_t inputs, const Plan& plan,
                                 const decltype(OperatorBinding::run)& run, const Shape& output, Start start,
                                 const std::vector<DtypeNumber>& dtypes = {ACL_FLOAT, ACL_FLOAT16,
                                                                           ACL_BF16}) {
  Subject subject;
  subject.start = start;
  subject.sums_everything = true;
  OperatorBinding& binding = subject.description.binding;
  binding.name = name;
  for (size_t i = 0; i < inputs; ++i) binding.tensors.push_back("input" + std::to_string(i));
  binding.tensors.emplace_back("output");
  binding.plan = plan;
  binding.run = run;
  binding.may_need_workspace = [](std::span<const Shape>) { return true; };
  for (const DtypeNumber dtype : dtypes) {
    GivenCase c;
    c.input_dtypes.assign(inputs, dtype);
    c.input_shapes.assign(inputs, Shape{kLength});
    c.output_dtype = dtype;
    c.output_shape = output;
    subject.given.push_back(c);
  }
  subject.description.attributes.emplace_back();
  subject.cuts_freely = [](const Attributes&) { return false; };
  subject.is_plain_code = true;
  for (const char c : name) subject.seed = subject.seed * 31 + static_cast<unsigned char>(c);
  return SubjectRegistration(std::move(subject));
}

const auto kAdamW = RegisterStep(
    "aclnnApplyAdamWV2", 2,
    [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
      const Beside m(kLength, -1);
      const Beside v(kLength, 0.25);
      const Beside step(1, 3);
      return aclnnApplyAdamWV2GetWorkspaceSize(t[2], m, v, nullptr, t[1], step, 0.1f, 0.9f, 0.99f, 0.01f,
                                               1e-3f, false, false, size, executor);
    },
    aclnnApplyAdamWV2, {kLength}, Start::kFirstInput);
// Adam's kin take moments of the type of the parameters.
class ListOfOne {
 public:
  explicit ListOfOne(aclTensor* tensor, int64_t length = kLength) {
    aclTensor* const whole = Part(tensor, 0, 0, length);
    list_ = aclCreateTensorList(&whole, 1);
  }
  ~ListOfOne() { aclDestroyTensorList(list_); }
  ListOfOne(const ListOfOne&) = delete;
  ListOfOne& operator=(const ListOfOne&) = delete;
  operator aclTensorList*() const { return list_; }

 private:
  aclTensorList* list_;
};
const auto kFusedAdam = RegisterStep(
    "aclnnFusedAdam", 2,
    [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
      const Beside m(kLength, -1);
      const Beside v(kLength, 0.25);
      const Beside maximum(kLength, 0.5);
      const Beside step(1, 3);
      return aclnnFusedAdamGetWorkspaceSize(ListOfOne(t[2]), ListOfOne(t[1]), ListOfOne(m), ListOfOne(v),
                                            ListOfOne(maximum), ListOfOne(step, 1), nullptr, nullptr, 0.1,
                                            0.9, 0.99, 0.01, 1e-3, true, true, size, executor);
    },
    aclnnFusedAdam, {kLength}, Start::kFirstInput, {ACL_FLOAT});
const auto kFusedAdamw = RegisterStep(
    "aclnnFusedAdamw", 2,
    [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
      const Beside m(kLength, -1);
      const Beside v(kLength, 0.25);
      const Beside step(1, 3);
      const Beside scale(1, 2);
      return aclnnFusedAdamwGetWorkspaceSize(ListOfOne(t[2]), ListOfOne(t[1]), ListOfOne(m), ListOfOne(v),
                                             nullptr, ListOfOne(step, 1), scale, nullptr, 0.1, 0.9, 0.99,
                                             0.01, 1e-3, false, false, size, executor);
    },
    aclnnFusedAdamw, {kLength}, Start::kFirstInput, {ACL_FLOAT});
const auto kApplyAdamW =
    RegisterStep("aclnnApplyAdamW", 2,
                 [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                   const Beside m(kLength, -1);
                   const Beside v(kLength, 0.25);
                   const Beside maximum(kLength, 0.5);
                   const Beside power1(1, 0.7), power2(1, 0.9), lr(1, 0.1), decay(1, 0.01), beta1(1, 0.9),
                       beta2(1, 0.99), eps(1, 1e-3);
                   return aclnnApplyAdamWGetWorkspaceSize(t[2], m, v, power1, power2, lr, decay, beta1, beta2,
                                                          eps, t[1], maximum, true, false, size, executor);
                 },
                 aclnnApplyAdamW, {kLength}, Start::kFirstInput, {ACL_FLOAT});
const auto kApplyFusedEmaAdam = RegisterStep(
    "aclnnApplyFusedEmaAdam", 2,
    [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
      const Beside m(kLength, -1);
      const Beside v(kLength, 0.25);
      const Beside average(kLength, -0.5);
      static int64_t number = 3;
      constexpr int64_t kOne = 1;
      aclTensor* const step =
          aclCreateTensor(&kOne, 1, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, &kOne, 1, &number);
      const aclnnStatus status = aclnnApplyFusedEmaAdamGetWorkspaceSize(
          t[1], t[2], m, v, average, step, 0.1, 0.99, 0.9, 0.99, 1e-3, 1, true, 0.01, size, executor);
      aclDestroyTensor(step);
      return status;
    },
    aclnnApplyFusedEmaAdam, {kLength}, Start::kFirstInput, {ACL_FLOAT});
const auto kSgd = RegisterStep(
    "aclnnFusedSgd", 2,
    [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
      const TwoLists lists(PartsOf(t[2]), PartsOf(t[1]));
      return aclnnFusedSgdGetWorkspaceSize(lists.first, lists.second, nullptr, nullptr, 0.1f, 0.0f, 0.3f,
                                           0.0f, false, true, false, size, executor);
    },
    aclnnFusedSgd, {kLength}, Start::kFirstInput);
const auto kUnscale = RegisterStep(
    "aclnnForeachNonFiniteCheckAndUnscale", 1,
    [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
      const Beside found(1, 0);
      const Beside factor(1, 0.3);
      return aclnnForeachNonFiniteCheckAndUnscaleGetWorkspaceSize(ListOf(PartsOf(t[1])), found, factor, size,
                                                                  executor);
    },
    aclnnForeachNonFiniteCheckAndUnscale, {kLength}, Start::kFirstInput);
const auto kNorm = RegisterStep(
    "aclnnForeachNorm", 1,
    [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
      const TwoLists lists(PartsOf(t[0]), {Part(t[1], 0, 0, 1), Part(t[1], 0, 1, 1), Part(t[1], 0, 2, 1)});
      return aclnnForeachNormGetWorkspaceSize(lists.first, Scalar(2), lists.second, size, executor);
    },
    aclnnForeachNorm, {3}, Start::kAnything);

}  // namespace
}  // namespace portacl::testing
