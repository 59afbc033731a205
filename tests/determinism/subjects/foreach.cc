// Operators over lists of tensors, for the determinism test: a long tensor, which threads share, a short one and an empty one.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "aclnnop/families/foreach.h"
#include "aclnnop/families/optimizers.h"
#include "base/float_environment.h"
#include "determinism/calls.h"
#include "support/c_function.h"

namespace portacl::testing {
namespace {

constexpr int64_t kLength = 77357;

// Parts of a tensor as a list.
aclTensorList* Parts(Call& c, size_t i) {
  return c.List({Part(c[i], 0, 0, 2), Part(c[i], 0, 2, 0), Part(c[i], 0, 2, kLength - 2)});
}

// The arguments of a call, which is given its tensors as lists, and numbers.
std::vector<Argument> ArgumentsOf(const CFunction& function, Call& c) {
  const std::string name = function.name;
  const bool is_mode = name.find("RoundOff") != std::string::npos;
  static int8_t mode_of_tensor = 6;
  size_t next = 0;
  std::vector<Argument> arguments;
  for (const ParameterKind kind : function.parameters) {
    Argument argument;
    if (kind == ParameterKind::kList) {
      argument.list = Parts(c, next++);
    } else if (kind == ParameterKind::kScalarList) {
      argument.scalars = c.Scalars({0.7, 1.5, -0.3});
    } else if (kind == ParameterKind::kTensor) {
      const bool is_each = name.find("List") != std::string::npos && name.find("Addc") != std::string::npos;
      argument.tensor = is_mode ? c.Dense({1}, ACL_INT8, &mode_of_tensor) : c.Part(0, 0, 5, is_each ? 3 : 1);
    } else {
      argument.scalar = is_mode ? c.Scalar(int64_t{4}, ACL_INT64) : c.Scalar(0.7);
    }
    arguments.push_back(argument);
  }
  return arguments;
}

const std::vector<DtypeNumber> kFloats = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
const Traits kPlain = {.is_plain_code = true};
const Traits kInPlace = {.is_plain_code = true, .start = Start::kFirstInput};

SubjectRegistration Register(const CFunction& function) {
  const auto& kinds = function.parameters;
  const auto inputs = static_cast<size_t>(std::count(kinds.begin(), kinds.end(), ParameterKind::kList)) - 1;
  // A number that is a tensor is of another dtype than BF16.
  const bool has_number = std::count(kinds.begin(), kinds.end(), ParameterKind::kTensor) > 0;
  return Register(
      {function.name, function.run,
       [function](Call& c) { return function.plan(ArgumentsOf(function, c), c.size, c.executor); }},
      Cases(has_number ? std::vector<DtypeNumber>{ACL_FLOAT, ACL_FLOAT16} : kFloats,
            std::vector<CaseTensor>(inputs, {kLength}), {{kLength}}),
      kPlain);
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

// A dense FLOAT tensor beside a call's own: numbers that every call begins with, and that stay until the next one.
aclTensor* Beside(Call& c, int64_t length, double least) {
  const DefaultFloatEnvironment environment;  // the same numbers, whatever environment the test calls in
  thread_local std::vector<std::vector<float>> memory(16);
  thread_local size_t next = 0;
  std::vector<float>& data = memory[next++ % memory.size()];
  data.resize(static_cast<size_t>(length));
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>(least + static_cast<double>(i * 2654435761u % 1000) / 500);
  return c.Dense({length}, ACL_FLOAT, data.data());
}
// A list of such a tensor.
aclTensorList* Listed(Call& c, int64_t length, double least) {
  return c.List(Same(Beside(c, length, least)));
}

// A parameter, which is updated, and its gradient.
std::vector<GivenCase> Steps(const std::vector<DtypeNumber>& dtypes = {ACL_FLOAT}) {
  return Cases(dtypes, {{kLength}, {kLength}}, {{kLength}});
}

const auto kAdamW =
    Register(PORTACL_PHASES(aclnnApplyAdamWV2, c[2], Beside(c, kLength, -1), Beside(c, kLength, 0.25),
                            nullptr, c[1], Beside(c, 1, 3), 0.1f, 0.9f, 0.99f, 0.01f, 1e-3f, false, false),
             Steps(kFloats), kInPlace);
// Adam's kin take moments of the type of the parameters.
const auto kFusedAdam =
    Register(PORTACL_PHASES(aclnnFusedAdam, c.ListOf(2), c.ListOf(1), Listed(c, kLength, -1),
                            Listed(c, kLength, 0.25), Listed(c, kLength, 0.5), Listed(c, 1, 3), nullptr,
                            nullptr, 0.1, 0.9, 0.99, 0.01, 1e-3, true, true),
             Steps(), kInPlace);
const auto kFusedAdamw =
    Register(PORTACL_PHASES(aclnnFusedAdamw, c.ListOf(2), c.ListOf(1), Listed(c, kLength, -1),
                            Listed(c, kLength, 0.25), nullptr, Listed(c, 1, 3), Beside(c, 1, 2), nullptr, 0.1,
                            0.9, 0.99, 0.01, 1e-3, false, false),
             Steps(), kInPlace);
const auto kApplyAdamW = Register(
    PORTACL_PHASES(aclnnApplyAdamW, c[2], Beside(c, kLength, -1), Beside(c, kLength, 0.25), Beside(c, 1, 0.7),
                   Beside(c, 1, 0.9), Beside(c, 1, 0.1), Beside(c, 1, 0.01), Beside(c, 1, 0.9),
                   Beside(c, 1, 0.99), Beside(c, 1, 1e-3), c[1], Beside(c, kLength, 0.5), true, false),
    Steps(), kInPlace);
aclTensor* Third(Call& c) {
  static int64_t step = 3;
  return c.Dense({1}, ACL_INT64, &step);
}
const auto kApplyFusedEmaAdam = Register(
    PORTACL_PHASES(aclnnApplyFusedEmaAdam, c[1], c[2], Beside(c, kLength, -1), Beside(c, kLength, 0.25),
                   Beside(c, kLength, -0.5), Third(c), 0.1, 0.99, 0.9, 0.99, 1e-3, 1, true, 0.01),
    Steps(), kInPlace);
const auto kSgd = Register(PORTACL_PHASES(aclnnFusedSgd, Parts(c, 2), Parts(c, 1), nullptr, nullptr, 0.1f,
                                          0.0f, 0.3f, 0.0f, false, true, false),
                           Steps(kFloats), kInPlace);
const auto kUnscale = Register(
    PORTACL_PHASES(aclnnForeachNonFiniteCheckAndUnscale, Parts(c, 1), Beside(c, 1, 0), Beside(c, 1, 0.3)),
    Cases(kFloats, {{kLength}}, {{kLength}}), kInPlace);
const auto kNorm =
    Register(PORTACL_PHASES(aclnnForeachNorm, Parts(c, 0), c.Scalar(2),
                            c.List({Part(c[1], 0, 0, 1), Part(c[1], 0, 1, 1), Part(c[1], 0, 2, 1)})),
             Cases(kFloats, {{kLength}}, {{3}}), kPlain);

}  // namespace
}  // namespace portacl::testing
