// Calls of the determinism test: see calls.h.
// SPDX-License-Identifier: Apache-2.0
#include "determinism/calls.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace portacl::testing {

GivenCase Case(DtypeNumber dtype, const std::vector<CaseTensor>& inputs, const CaseTensor& output,
               size_t setting) {
  const auto dtype_of = [&](const CaseTensor& one) {
    return one.dtype == kUndefinedDtype ? dtype : one.dtype;
  };
  GivenCase made;
  for (const CaseTensor& one : inputs) {
    if (one.below > 0)
      made.indices.push_back({.input = made.input_dtypes.size(), .below = one.below, .least = one.least});
    made.input_dtypes.push_back(dtype_of(one));
    made.input_shapes.push_back(one.shape);
  }
  made.output_dtype = dtype_of(output);
  made.output_shape = output.shape;
  made.attributes = setting;
  return made;
}

std::vector<GivenCase> Cases(const std::vector<DtypeNumber>& dtypes, const std::vector<CaseTensor>& inputs,
                             const std::vector<CaseTensor>& outputs) {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : dtypes) {
    for (size_t setting = 0; setting < outputs.size(); ++setting)
      cases.push_back(Case(dtype, inputs, outputs[setting], setting));
  }
  return cases;
}

std::vector<GivenCase> operator+(std::vector<GivenCase> first, const std::vector<GivenCase>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Subject SubjectOf(const Phases& phases, const std::vector<GivenCase>& cases, const Traits& traits) {
  Subject subject;
  OperatorBinding& binding = subject.description.binding;
  binding.name = phases.name;
  for (size_t i = 0; i < cases[0].input_shapes.size(); ++i)
    binding.tensors.push_back("input" + std::to_string(i));
  binding.tensors.emplace_back("output");
  binding.plan = [plan = phases.plan, outlives = traits.outlives_phase_1](
                     Tensors given, const Attributes& attributes, uint64_t* size, aclOpExecutor** executor) {
    thread_local std::unique_ptr<Call> call;
    call = std::make_unique<Call>(given, attributes.reduction, size, executor);
    const aclnnStatus status = plan(*call);
    if (!outlives) call.reset();
    return status;
  };
  binding.run = phases.run;
  size_t settings = std::max<size_t>(traits.settings.size(), 1);
  for (const GivenCase& one : cases) settings = std::max(settings, one.attributes + 1);
  for (size_t i = 0; i < settings; ++i) {
    subject.description.attributes.emplace_back();
    subject.description.attributes.back().reduction =
        traits.settings.empty() ? static_cast<int64_t>(i) : traits.settings.at(i);
  }
  subject.given = cases;
  subject.cuts_freely = [cuts = traits.cuts_freely](const Attributes&) { return cuts; };
  subject.sums_everything = traits.sums_everything;
  subject.not_negative = traits.not_negative;
  subject.is_plain_code = traits.is_plain_code;
  subject.start = traits.start;
  subject.soc = traits.soc;
  for (const char c : traits.seed_of.value_or(phases.name))
    subject.seed = subject.seed * 31 + static_cast<unsigned char>(c);
  return subject;
}

SubjectRegistration Register(const Phases& phases, const std::vector<GivenCase>& cases,
                             const Traits& traits) {
  return SubjectRegistration(SubjectOf(phases, cases, traits));
}

}  // namespace portacl::testing
