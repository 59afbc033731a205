// Sequences, unit matrices, triangles and whole-tensor equality for the determinism test.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/creation.h"
#include "aclnnop/families/logic.h"
#include "aclnnop/families/shape.h"
#include "determinism/subject.h"

namespace portacl::testing {
namespace {

using Tensors = std::span<aclTensor* const>;

const Shape kLong = {1531};
const Shape kWide = {301, 257};
const Shape kDeep = {3, 5, 41, 18};

// Float64 as clients have them; nothing is converted here, so that nothing traps.
class Scalar {
 public:
  explicit Scalar(double value) : scalar_(aclCreateScalar(&value, ACL_DOUBLE)) {}
  ~Scalar() { aclDestroyScalar(scalar_); }
  Scalar(const Scalar&) = delete;
  Scalar& operator=(const Scalar&) = delete;
  operator const aclScalar*() const { return scalar_; }

 private:
  aclScalar* scalar_;
};

template <auto kPlan>
aclnnStatus PlanSequence(Tensors t, const Attributes& attributes, uint64_t* size, aclOpExecutor** executor) {
  const bool is_down = attributes.reduction != 0;
  const Scalar start(is_down ? 70000.3 : -11.7);
  const Scalar end(is_down ? -1e12 : 1e12);
  const Scalar step(is_down ? -3.3 : 1.0 / 0.77);
  return kPlan(start, end, step, t[0], size, executor);
}

template <auto kPlan>
aclnnStatus PlanTriangle(Tensors t, const Attributes& attributes, uint64_t* size, aclOpExecutor** executor) {
  return kPlan(t[0], attributes.reduction, t[1], size, executor);
}

std::vector<Attributes> Reductions(std::initializer_list<int64_t> values) {
  std::vector<Attributes> attributes;
  for (const int64_t value : values) {
    attributes.emplace_back();
    attributes.back().reduction = value;
  }
  return attributes;
}

Subject Make(const OperatorBinding& binding, std::vector<Attributes> attributes,
             std::vector<GivenCase> given) {
  Subject subject;
  subject.description.binding = binding;
  subject.description.attributes = std::move(attributes);
  subject.given = std::move(given);
  subject.cuts_freely = [](const Attributes&) { return false; };
  subject.is_plain_code = true;
  for (const char c : binding.name) subject.seed = subject.seed * 31 + static_cast<unsigned char>(c);
  return subject;
}

std::vector<GivenCase> Outputs(const std::vector<DtypeNumber>& dtypes, const std::vector<Shape>& shapes,
                               size_t settings) {
  std::vector<GivenCase> cases;
  for (const Shape& shape : shapes) {
    for (size_t setting = 0; setting < settings; ++setting) {
      for (const DtypeNumber dtype : dtypes) cases.push_back({{}, {}, dtype, shape, setting});
    }
  }
  return cases;
}

const std::vector<DtypeNumber> kFloating = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE};

std::vector<DtypeNumber> And(std::vector<DtypeNumber> dtypes, const std::vector<DtypeNumber>& more) {
  dtypes.insert(dtypes.end(), more.begin(), more.end());
  return dtypes;
}

const SubjectRegistration kArange(
    Make({"aclnnArange", {"out"}, PlanSequence<&aclnnArangeGetWorkspaceSize>, aclnnArange},
         Reductions({0, 1}), Outputs(And(kFloating, {ACL_INT32, ACL_INT64}), {kLong, kWide}, 2)));
const SubjectRegistration kRange(
    Make({"aclnnRange", {"out"}, PlanSequence<&aclnnRangeGetWorkspaceSize>, aclnnRange}, Reductions({0, 1}),
         Outputs(And(kFloating, {ACL_INT32, ACL_INT64}), {kLong, kWide}, 2)));
const SubjectRegistration kLinspace(Make(
    {"aclnnLinspace",
     {"out"},
     [](Tensors t, const Attributes& attributes, uint64_t* size, aclOpExecutor** executor) {
       const Scalar start(-7.3);
       const Scalar end(101.9);
       return aclnnLinspaceGetWorkspaceSize(start, end, attributes.reduction, t[0], size, executor);
     },
     aclnnLinspace},
    Reductions({1531}), Outputs(And(kFloating, {ACL_INT8, ACL_INT16, ACL_INT32, ACL_INT64}), {kLong}, 1)));
const SubjectRegistration kLogSpace(
    Make({"aclnnLogSpace",
          {"result"},
          [](Tensors t, const Attributes& attributes, uint64_t* size, aclOpExecutor** executor) {
            const Scalar start(-1.3);
            const Scalar end(2.9);
            return aclnnLogSpaceGetWorkspaceSize(start, end, attributes.reduction, 10, t[0], size, executor);
          },
          aclnnLogSpace},
         Reductions({1531}), Outputs({ACL_FLOAT, ACL_FLOAT16, ACL_BF16}, {kLong}, 1)));
const SubjectRegistration kEye(
    Make({"aclnnEye",
          {"out"},
          [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
            return aclnnEyeGetWorkspaceSize(301, 257, t[0], size, executor);
          },
          aclnnEye},
         {{}}, Outputs({ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8, ACL_INT64}, {kWide}, 1)));

std::vector<GivenCase> Triangles() {
  std::vector<GivenCase> cases;
  size_t setting = 0;
  for (const Shape& shape : {kWide, kDeep}) {
    for (const DtypeNumber dtype :
         {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_INT8, ACL_UINT16, ACL_INT64, ACL_BOOL})
      cases.push_back({{dtype}, {shape}, dtype, shape, setting++ % 3});
  }
  return cases;
}
const SubjectRegistration kTriu(
    Make({"aclnnTriu", {"self", "out"}, PlanTriangle<&aclnnTriuGetWorkspaceSize>, aclnnTriu},
         Reductions({0, 3, -5}), Triangles()));
const SubjectRegistration kTril(
    Make({"aclnnTril", {"self", "out"}, PlanTriangle<&aclnnTrilGetWorkspaceSize>, aclnnTril},
         Reductions({0, 3, -5}), Triangles()));

// Random tensors differ, so the second setting compares one with itself.
const SubjectRegistration kEqual(Make(
    {"aclnnEqual",
     {"self", "other", "out"},
     [](Tensors t, const Attributes& attributes, uint64_t* size, aclOpExecutor** executor) {
       return aclnnEqualGetWorkspaceSize(t[0], t[attributes.reduction != 0 ? 0 : 1], t[2], size, executor);
     },
     aclnnEqual},
    Reductions({0, 1}),
    {{{ACL_FLOAT, ACL_BF16}, {kLong, kLong}, ACL_BOOL, {1}, 0},
     {{ACL_INT32, ACL_INT32}, {kWide, kWide}, ACL_BOOL, {1}, 1}}));

}  // namespace
}  // namespace portacl::testing
