// Subjects of the determinism test that are made of the descriptions in operators/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "determinism/subject.h"
#include "operators/losses.h"
#include "operators/moves.h"
#include "support/answer_suite.h"

namespace portacl::testing {

// Registers subjects that are made when the tests are: descriptions need variables of other files.
struct DescribedSubjects {
  explicit DescribedSubjects(std::function<std::vector<Subject>()> make);
};
struct DescribedSubject : DescribedSubjects {
  explicit DescribedSubject(Subject (*make)())
      : DescribedSubjects([=] { return std::vector<Subject>{make()}; }) {}
};

// A loss with these attributes, which the file of hashes calls by the function's name and `suffix`.
inline Subject LossSubject(const NumericDescription& op, std::vector<Attributes> attributes,
                           const char* suffix = "") {
  Subject subject;
  subject.description = op;
  subject.description.binding.name += suffix;
  subject.description.attributes = std::move(attributes);
  subject.cuts_freely = [](const Attributes& a) { return a.reduction == 0; };
  return subject;
}

// The same of a description whose outputs are sums.
inline Subject ReducedLossSubject(const NumericDescription& op, std::vector<Attributes> attributes) {
  Subject subject = LossSubject(op, std::move(attributes), "_reduced");
  subject.sums_everything = true;
  return subject;
}

// A gradient with the shape to which all inputs broadcast: a mean alone depends on the number of elements.
inline Subject GradientSubject(const NumericDescription& op, std::vector<Attributes> attributes) {
  Subject subject = LossSubject(op, std::move(attributes));
  subject.cuts_freely = [](const Attributes& a) { return a.reduction != 1; };
  return subject;
}

// A copy or a cast. Its output comes last here.
inline Subject MoveSubject(const char* name, uint64_t seed) {
  Subject subject;
  NumericDescription& op = subject.description;
  op.binding = BindingOf(MoveOperatorNamed(name));
  if (std::exchange(op.binding.output, -1) == 0) {
    op.binding.plan = [plan = op.binding.plan](std::span<aclTensor* const> t, const Attributes& a,
                                               uint64_t* size, aclOpExecutor** executor) {
      return plan(std::vector<aclTensor*>{t[1], t[0]}, a, size, executor);
    };
  }
  op.input_dtypes = {ACL_FLOAT,  ACL_FLOAT16, ACL_BF16,   ACL_DOUBLE, ACL_INT8,   ACL_UINT8, ACL_INT16,
                     ACL_UINT16, ACL_INT32,   ACL_UINT32, ACL_INT64,  ACL_UINT64, ACL_BOOL};
  op.output_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16,   ACL_DOUBLE,    ACL_INT8,
                      ACL_UINT8, ACL_INT16,   ACL_UINT16, ACL_INT32,     ACL_UINT32,
                      ACL_INT64, ACL_UINT64,  ACL_BOOL,   ACL_COMPLEX64, ACL_COMPLEX128};
  op.attributes = {{}};
  subject.cuts_freely = [](const Attributes&) { return true; };
  subject.is_plain_code = true;
  subject.seed = seed;
  return subject;
}

}  // namespace portacl::testing
