// Rows routed to experts and back for the determinism test: sums of several rows for each token, weights, groups of experts. Each result
// that is computed is hashed in a setting of its own.
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "aclnnop/families/moe.h"
#include "determinism/subject.h"

namespace portacl::testing {
namespace {

using Tensors = std::span<aclTensor* const>;

// A tensor for what is not looked at, as long as phase 1 runs.
class Unseen {
 public:
  explicit Unseen(const Shape& shape, aclDataType dtype = ACL_FLOAT) {
    static std::vector<double> memory(1 << 17);
    tensor_ = aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                              shape.size(), memory.data());
  }
  ~Unseen() { aclDestroyTensor(tensor_); }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;
  operator aclTensor*() const { return tensor_; }

 private:
  aclTensor* tensor_;
};

aclDataType DtypeOf(const aclTensor* tensor) {
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclGetDataType(tensor, &dtype);
  return dtype;
}

constexpr int64_t kTokens = 97;
constexpr int64_t kEntries = 3;
constexpr int64_t kColumns = 531;
constexpr int64_t kExperts = 12;
constexpr int64_t kRows = kTokens * kEntries;
const DtypeNumber kDtypes[] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

SubjectRegistration Register(const OperatorBinding& binding, const std::vector<GivenCase>& given,
                             size_t settings) {
  Subject subject;
  subject.description.binding = binding;
  subject.description.binding.may_need_workspace = [](std::span<const Shape>) { return true; };
  for (size_t i = 0; i < settings; ++i) {
    subject.description.attributes.emplace_back();
    subject.description.attributes.back().reduction = static_cast<int64_t>(i);
  }
  subject.given = given;
  subject.cuts_freely = [](const Attributes&) { return false; };
  subject.sums_everything = true;
  subject.is_plain_code =
      true;  // as phase 1 sees it: exponentials alone are compiled for each instruction set
  for (const char c : binding.name) subject.seed = subject.seed * 31 + static_cast<unsigned char>(c);
  return SubjectRegistration(std::move(subject));
}

// For each dtype of the numbers; inputs of INT32 are indices below a number.
std::vector<GivenCase> Cases(const std::vector<Shape>& inputs, const std::vector<GivenCase::Indices>& indices,
                             const Shape& output, size_t settings = 1) {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kDtypes) {
    for (size_t setting = 0; setting < settings; ++setting) {
      GivenCase c{std::vector<DtypeNumber>(inputs.size(), dtype), inputs, dtype, output, setting, indices};
      for (const GivenCase::Indices& one : indices) c.input_dtypes[one.input] = ACL_INT32;
      cases.push_back(c);
    }
  }
  return cases;
}

// Ends of groups of rows, and how many rows groups have.
aclTensor* GroupsOf(int64_t setting) {
  static int64_t ends[] = {30, 31, 97};
  static int64_t counts[] = {40, 0, 50};
  const Shape shape = {3};
  return aclCreateTensor(shape.data(), 1, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, shape.data(), 1,
                         setting == 0 ? ends : counts);
}
std::vector<GivenCase> GroupedRows(size_t settings) {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kDtypes) {
    for (size_t setting = 0; setting < settings; ++setting)
      cases.push_back({{dtype}, {{kTokens, kColumns}}, dtype, {3, kColumns}, setting, {}});
  }
  return cases;
}
const auto kGroupedBias = Register(
    {"aclnnGroupedBiasAddGrad",
     {"gradY", "out"},
     [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       aclTensor* const groups = GroupsOf(0);
       const aclnnStatus status = aclnnGroupedBiasAddGradGetWorkspaceSize(t[0], groups, t[1], size, executor);
       aclDestroyTensor(groups);
       return status;
     },
     aclnnGroupedBiasAddGrad},
    GroupedRows(1), 1);
const auto kGroupedBiasV2 =
    Register({"aclnnGroupedBiasAddGradV2",
              {"gradY", "out"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                aclTensor* const groups = GroupsOf(a.reduction);
                const aclnnStatus status = aclnnGroupedBiasAddGradV2GetWorkspaceSize(
                    t[0], groups, a.reduction, t[1], size, executor);
                aclDestroyTensor(groups);
                return status;
              },
              aclnnGroupedBiasAddGradV2},
             GroupedRows(2), 2);
const auto kUnpermute = Register(
    {"aclnnMoeTokenUnpermute",
     {"rows", "index", "probs", "out"},
     [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnMoeTokenUnpermuteGetWorkspaceSize(t[0], t[1], t[2], false, nullptr, t[3], size, executor);
     },
     aclnnMoeTokenUnpermute},
    Cases({{kRows, kColumns}, {kRows}, {kTokens, kEntries}}, {{.input = 1, .below = kRows}},
          {kTokens, kColumns}),
    1);

const auto kUnpermuteGrad =
    Register({"aclnnMoeTokenUnpermuteGrad",
              {"rows", "grad", "index", "probs", "probsGrad"},
              [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                const Unseen rows({kRows, kColumns}, DtypeOf(t[0]));
                return aclnnMoeTokenUnpermuteGradGetWorkspaceSize(t[0], t[1], t[2], t[3], false, nullptr,
                                                                  rows, t[4], size, executor);
              },
              aclnnMoeTokenUnpermuteGrad},
             Cases({{kRows, kColumns}, {kTokens, kColumns}, {kRows}, {kTokens, kEntries}},
                   {{.input = 2, .below = kRows}}, {kTokens, kEntries}),
             1);

const auto kFinalize = Register(
    {"aclnnMoeFinalizeRoutingV2",
     {"x", "index", "x1", "bias", "scales", "experts", "out"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       return aclnnMoeFinalizeRoutingV2GetWorkspaceSize(t[0], t[1], t[2], nullptr, t[3], t[4], t[5],
                                                        a.reduction == 0 ? 0 : 2, t[6], size, executor);
     },
     aclnnMoeFinalizeRoutingV2},
    Cases({{kRows, kColumns},
           {kRows},
           {kTokens, kColumns},
           {kExperts, kColumns},
           {kTokens, kEntries},
           {kTokens, kEntries}},
          {{.input = 1, .below = kRows}, {.input = 5, .below = kExperts}}, {kTokens, kColumns}, 2),
    2);

const auto kQuantised = Register(
    {"aclnnMoeInitRoutingQuantV2",
     {"x", "experts", "scales"},
     [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       const Unseen rows({kRows, kColumns}, ACL_INT8);
       const Unseen places({kRows}, ACL_INT32);
       const Unseen counts({kExperts}, ACL_INT32);
       return aclnnMoeInitRoutingQuantV2GetWorkspaceSize(t[0], t[1], nullptr, nullptr, 0, 0, kExperts, 0, 2,
                                                         false, 1, rows, places, counts, nullptr, t[2], size,
                                                         executor);
     },
     aclnnMoeInitRoutingQuantV2},
    [] {
      std::vector<GivenCase> cases =
          Cases({{kTokens, kColumns}, {kTokens, kEntries}}, {{.input = 1, .below = kExperts}}, {kRows});
      for (GivenCase& c : cases) c.output_dtype = ACL_FLOAT;
      return cases;
    }(),
    1);

// The values of the chosen, and those of all.
const auto kGate = Register({"aclnnMoeGatingTopK",
                             {"x", "bias", "out"},
                             [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                               const Unseen chosen({kTokens, 4}, ACL_INT32);
                               const Unseen all({kTokens, 48});
                               return aclnnMoeGatingTopKGetWorkspaceSize(
                                   t[0], t[1], 4, 2, 4, a.reduction % 2, 0, a.reduction / 2, false, 2.5,
                                   1e-20, t[2], chosen, all, size, executor);
                             },
                             aclnnMoeGatingTopK},
                            Cases({{kTokens, 48}, {48}}, {}, {kTokens, 4}, 4), 4);

const auto kSoftmax =
    Register({"aclnnMoeGatingTopKSoftmaxV2",
              {"x", "out"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                const Unseen chosen({kTokens, 4}, ACL_INT32);
                return aclnnMoeGatingTopKSoftmaxV2GetWorkspaceSize(t[0], nullptr, 4, a.reduction, false, t[1],
                                                                   chosen, nullptr, size, executor);
              },
              aclnnMoeGatingTopKSoftmaxV2},
             Cases({{kTokens, 48}}, {}, {kTokens, 4}, 2), 2);

const auto kGateGradient = Register(
    {"aclnnMoeGatingTopKBackward",
     {"x", "gradY", "chosen", "out"},
     [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnMoeGatingTopKBackwardGetWorkspaceSize(t[0], t[1], t[2], 0, 1, 2.5, 1e-20, t[3], size,
                                                         executor);
     },
     aclnnMoeGatingTopKBackward},
    [] {
      std::vector<GivenCase> cases =
          Cases({{kTokens, 48}, {kTokens, 4}, {kTokens, 4}}, {{.input = 2, .below = 48}}, {kTokens, 48});
      for (GivenCase& c : cases) c.input_dtypes[0] = ACL_FLOAT;
      return cases;
    }(),
    1);

// Rows of two experts, of each activation.
const auto kNetwork = Register(
    {"aclnnFFN",
     {"x", "weight1", "weight2", "bias1", "out"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const int64_t rows[] = {17, kTokens - 17};
       aclIntArray* const tokens = aclCreateIntArray(rows, 2);
       char names[][9] = {"relu", "gelu", "fastgelu", "silu"};
       const aclnnStatus status = aclnnFFNGetWorkspaceSize(
           t[0], t[1], t[2], tokens, t[3], nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
           nullptr, nullptr, names[a.reduction], 0, t[4], size, executor);
       aclDestroyIntArray(tokens);
       return status;
     },
     aclnnFFN},
    [] {
      std::vector<GivenCase> cases;
      for (const DtypeNumber dtype : {ACL_FLOAT16, ACL_BF16}) {
        for (size_t setting = 0; setting < 4; ++setting) {
          cases.push_back(
              {{dtype, dtype, dtype, dtype == DtypeNumber{ACL_BF16} ? DtypeNumber{ACL_FLOAT} : dtype},
               {{kTokens, 65}, {2, 65, 133}, {2, 133, 65}, {2, 133}},
               dtype,
               {kTokens, 65},
               setting});
        }
      }
      return cases;
    }(),
    4);

// The same, of weights of 8 bits, where a tensor has the numbers of rows. They are all rows: others are not written.
const auto kNetworkOfTensor = Register(
    {"aclnnFFNV3",
     {"x", "weight1", "weight2", "antiquantScale1", "antiquantScale2", "out"},
     [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       static int64_t rows[] = {17, kTokens - 17};
       const int64_t experts = 2;
       aclTensor* const tokens =
           aclCreateTensor(&experts, 1, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, &experts, 1, rows);
       char name[] = "silu";
       const aclnnStatus status = aclnnFFNV3GetWorkspaceSize(
           t[0], t[1], t[2], tokens, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, t[3], t[4],
           nullptr, nullptr, name, 0, false, t[5], size, executor);
       aclDestroyTensor(tokens);
       return status;
     },
     aclnnFFNV3},
    [] {
      std::vector<GivenCase> cases;
      for (const DtypeNumber dtype : {ACL_FLOAT16, ACL_BF16}) {
        cases.push_back({{dtype, ACL_INT8, ACL_INT8, dtype, dtype},
                         {{kTokens, 65}, {2, 65, 133}, {2, 133, 65}, {2, 133}, {2, 65}},
                         dtype,
                         {kTokens, 65},
                         0});
      }
      return cases;
    }(),
    1);

}  // namespace
}  // namespace portacl::testing
