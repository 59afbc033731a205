// Calls that are made from descriptions: see described_calls.h.
// SPDX-License-Identifier: Apache-2.0
#include "determinism/described_calls.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "operators/described_operators.h"
#include "support/fp_environment.h"
#include "support/plan_check.h"

namespace portacl::testing {
namespace {

Product ProductOf(const Traits& traits) {
  for (const Product product : kAllProducts) {
    if (traits.soc != nullptr && std::string(SocNameOf(product)) == traits.soc) return product;
  }
  return Product::kA2;
}

std::vector<std::string> HashedOutputs(const OperatorSpec& op, const CallOf& described) {
  if (!described.hashed.empty()) return described.hashed;
  std::vector<std::string> all;
  for (const PlanArgument& one : op.valid) {
    if (one.is_output) all.push_back(one.name);
  }
  return all;
}

// A dtype and a shape that an output may have.
struct Candidate {
  DtypeNumber dtype;
  Shape shape;
};

// The dtype of the valid call, if it is no number's, and those of the case's tensors; the shapes of these, and of their first dims alone.
std::vector<Candidate> CandidatesOf(const PlanArgument& output, const Call& c) {
  std::vector<DtypeNumber> dtypes;
  if (output.dtype != ACL_FLOAT) dtypes.push_back(output.dtype);
  for (size_t i = 0; i < c.given().size(); ++i) dtypes.push_back(c.Dtype(i));
  dtypes.insert(dtypes.end(), {ACL_FLOAT, ACL_INT64, ACL_INT32, ACL_UINT8, ACL_BOOL});
  std::vector<Candidate> all;
  DtypeList seen;
  for (const DtypeNumber dtype : dtypes) {
    if (IsOneOf(dtype, seen)) continue;
    seen.push_back(dtype);
    for (size_t i = 0; i < c.given().size(); ++i) {
      const Shape shape = c.ShapeOf(i);
      all.push_back({dtype, shape});
      for (size_t kept = shape.size(); kept-- > 0;) {
        Shape ones = shape;
        std::fill(ones.begin() + static_cast<std::ptrdiff_t>(kept), ones.end(), 1);
        all.push_back({dtype, ones});
        all.push_back({dtype, Shape(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(kept))});
      }
    }
  }
  return all;
}

class Maker {
 public:
  Maker(const OperatorSpec& op, const CallOf& described, Call& c)
      : described_(described), c_(c), call_(ValidCall(op, ProductOf(described.traits))) {
    const std::vector<std::string> outputs = HashedOutputs(op, described);
    hashed_ = outputs[std::min(static_cast<size_t>(c.setting), outputs.size() - 1)];
    next_ = described.traits.start == Start::kFirstInput ? 1 : 0;  // it is in the output
    for (PlanArgument& one : call_.arguments) Set(one);
    ChooseUnseen();
  }

  aclnnStatus Plan() {
    std::vector<aclTensor*> tensors;
    for (const PlanArgument& one : call_.arguments) {
      if (one.kind == ParameterKind::kTensor) tensors.push_back(TensorOf(one));
    }
    return PlanWith(call_, tensors, c_.size, c_.executor);
  }

 private:
  void Take(PlanArgument& one, size_t place) {
    place_[one.name] = place;
    one.shape = c_.ShapeOf(place);
    one.dtype = c_.Dtype(place);
  }

  void Set(PlanArgument& one) {
    const auto value = std::find_if(described_.arguments.begin(), described_.arguments.end(),
                                    [&](const GivenArgument& given) { return given.name == one.name; });
    if (one.name == hashed_) return Take(one, c_.given().size() - 1);
    if (value != described_.arguments.end()) return SetTo(one, value->value);
    if (one.kind != ParameterKind::kTensor) return;
    one.null = !one.is_output && next_ + 1 >= c_.given().size();
    if (one.is_output) {
      unseen_[one.name] = CandidatesOf(one, c_);
    } else if (!one.null) {
      Take(one, next_++);
    }
  }

  void SetTo(PlanArgument& one, const GivenValue& value) {
    using Kind = GivenValue::Kind;
    switch (value.kind) {
      case Kind::kBySetting:
        return SetTo(one, value.values.at(static_cast<size_t>(c_.setting)));
      case Kind::kSetting:
        return SetTo(one, c_.setting);
      case Kind::kInput:
        return Take(one, static_cast<size_t>(value.number));
      case Kind::kNull:
        one.null = true;
        return;
      case Kind::kText:
        one.text = value.text;
        return;
      case Kind::kNumbers:
        one.values = value.numbers;
        if (one.kind == ParameterKind::kTensor) {
          unseen_[one.name] = CandidatesOf(one, c_);
          for (Candidate& candidate : unseen_[one.name]) candidate.shape = value.numbers;
        }
        return;
      case Kind::kNumber:
        one.real = value.number;
        one.number = {static_cast<long double>(value.number), 0};
        if (one.kind == ParameterKind::kInteger) one.integer = static_cast<int64_t>(value.number);
    }
  }

  // Tries the candidates of outputs that are not looked at, until the rules refuse none by name. Counts through them from the first
  // one that is refused on, since a refusal may name several of which one is at fault.
  void ChooseUnseen() {
    std::map<std::string, size_t> turn;
    for (int tries = 0; tries < 100000; ++tries) {
      for (const auto& [name, candidates] : unseen_) {
        call_[name].dtype = candidates[turn[name]].dtype;
        call_[name].shape = candidates[turn[name]].shape;
      }
      PlanCall call = call_;
      Verdict verdict = Expected(call);
      verdict.names.insert(verdict.names.end(), verdict.says.begin(), verdict.says.end());
      auto output = std::find_if(unseen_.begin(), unseen_.end(), [&](const auto& one) {
        return std::find(verdict.names.begin(), verdict.names.end(), one.first) != verdict.names.end();
      });
      if (verdict.code == 0 || output == unseen_.end()) return;  // what else is refused, phase 1 will say
      while (output != unseen_.end() && ++turn[output->first] == output->second.size())
        turn[output++->first] = 0;
      if (output == unseen_.end()) break;
    }
    ADD_FAILURE() << described_.function << ": the rules tell no shapes of outputs that are not looked at";
  }

  aclTensor* TensorOf(const PlanArgument& one) {
    if (one.null) return nullptr;
    if (const auto place = place_.find(one.name); place != place_.end()) return c_[place->second];
    return c_.Unseen(one.shape, AsAclDataType(one.dtype));
  }

  const CallOf& described_;
  Call& c_;
  PlanCall call_;
  std::string hashed_;
  size_t next_ = 0;                                       // of the inputs
  std::map<std::string, size_t> place_;                   // among the case's tensors
  std::map<std::string, std::vector<Candidate>> unseen_;  // outputs that are not looked at
};

// The caller's floating-point environment is that of phase 1 alone: it may trap what the rules compute.
aclnnStatus PlanDescribed(const OperatorSpec& op, const CallOf& described, Call& c) {
  const FpState caller = FpState::Read();
  StateOf({"as usual"}).Apply();
  Maker maker(op, described, c);
  caller.Apply();
  return maker.Plan();
}

}  // namespace

DescribedCalls::DescribedCalls(const std::vector<CallOf>& calls)
    : DescribedSubjects([calls] {
        std::vector<Subject> subjects;
        for (const CallOf& described : calls) {
          const OperatorSpec& op = OperatorNamed(described.function);
          for (const GivenArgument& given : described.arguments) {
            if (std::none_of(op.valid.begin(), op.valid.end(),
                             [&](const PlanArgument& one) { return one.name == given.name; }))
              throw std::logic_error(described.function + " has no parameter " + given.name);
          }
          Phases phases = {described.function, op.function.run,
                           [&op, described](Call& c) { return PlanDescribed(op, described, c); }};
          if (!described.what.empty()) phases = phases.As(described.what);
          subjects.push_back(SubjectOf(phases, described.cases, described.traits));
        }
        return subjects;
      }) {}

}  // namespace portacl::testing
