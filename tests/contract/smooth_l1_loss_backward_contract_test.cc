// aclnnSmoothL1LossBackward's contract: what phase 1 answers to every kind of wrong call, in which order, on
// every product. Each tensor's dtype is checked first; reduction and beta follow only after the ranks.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <limits>

#include "operators/smooth_l1_loss_backward.h"
#include "support/contract_rows.h"
#include "support/contract_suite.h"

namespace portacl::testing {
namespace {

const std::vector<std::string> kTensors = {"gradOut", "self", "target", "gradInput"};
const std::vector<std::string> kInputs = {"gradOut", "self", "target"};

// Products whose list of types is float32 and float16 only.
const std::vector<Product> kWithoutBfloat16 = {Product::k310B, Product::k310P, Product::k910,
                                               Product::kNoDevice};

constexpr float kInfinity = std::numeric_limits<float>::infinity();

void AddAttributeRows(std::vector<Row>& rows) {
  for (const int64_t reduction : {0, 1, 2}) {
    rows.push_back({"reduction " + std::to_string(reduction), Reduction(reduction), kOk, {}, {}});
  }
  for (const int64_t reduction :
       {int64_t{-1}, int64_t{3}, int64_t{4}, int64_t{1} << 32, (int64_t{1} << 32) + 1, kMin, kMax}) {
    rows.push_back({"reduction " + std::to_string(reduction),
                    Reduction(reduction),
                    kInvalid,
                    {"reduction", std::to_string(reduction), "0", "2"},
                    {}});
  }
  rows.push_back(
      {"reduction wrong, tensors empty", All({AllShapes({0}), Reduction(3)}), kInvalid, {"reduction"}, {}});

  for (const float beta : {0.0f, -0.0f, 0x1p-149f, 1e-40f, 1e-7f, 0.5f, 1.0f, 2.0f, 65504.0f,
                           std::numeric_limits<float>::max(), kInfinity}) {
    for (const int64_t reduction : {0, 1, 2}) {
      rows.push_back({"beta " + std::to_string(beta), All({Beta(beta), Reduction(reduction)}), kOk, {}, {}});
    }
  }
  const float negative_nan = std::copysign(std::numeric_limits<float>::quiet_NaN(), -1.0f);
  for (const float beta : {-0x1p-149f, -1e-30f, -1.0f, -kInfinity, std::numeric_limits<float>::quiet_NaN(),
                           std::numeric_limits<float>::signaling_NaN(), negative_nan}) {
    rows.push_back({"beta " + std::to_string(beta), Beta(beta), kInvalid, {"beta"}, {}});
    rows.push_back({"beta " + std::to_string(beta) + ", tensors empty",
                    All({AllShapes({0}), Beta(beta)}),
                    kInvalid,
                    {"beta"},
                    {}});
  }
  rows.push_back({"beta -1.5 is named", Beta(-1.5f), kInvalid, {"beta", "-1.5"}, {}});
}

void AddShapeRows(std::vector<Row>& rows) {
  AddGradientShapeRows(rows, kTensors);

  // A gradInput of rank above 8 is found where its shape is compared.
  for (const size_t rank : {size_t{8}, size_t{9}, size_t{10}, size_t{25}}) {
    rows.push_back({"gradInput of rank " + std::to_string(rank),
                    Rank("gradInput", rank),
                    kInvalid,
                    {"gradInput", "[2, 3]"},
                    {}});
  }
  rows.push_back({"rank 9 everywhere", AllShapes(Shape(9, 1)), kInvalid, {"9", "8"}, {}});
  rows.push_back(
      {"rank 9 everywhere, empty", AllShapes({1, 1, 1, 1, 1, 1, 1, 1, 0}), kInvalid, {"9", "8"}, {}});
  for (const std::string& tensor : kInputs) {
    // An empty call ends before views are checked.
    rows.push_back({tensor + " outside its storage, result empty",
                    All({AllShapes({2, 0}), ShapeOf(tensor, {2, 1}), Strided(tensor, {100, 1}, 0, 1)}),
                    kOk,
                    {},
                    {}});
  }
}

const ContractDescription& SmoothL1LossBackward() {
  static const ContractDescription description = [] {
    ContractDescription op;
    op.binding = DescribeSmoothL1LossBackward().binding;

    op.rows.push_back({"the valid call", Nothing(), kOk, {}, {}});
    AddNullRows(op.rows, kTensors);
    AddSingleDtypeRows(op.rows, kTensors, kWithoutBfloat16);
    AddDtypeMixRows(op.rows, kTensors.size(), kWithoutBfloat16);
    AddRankRows(op.rows, kInputs);
    AddAttributeRows(op.rows);
    AddShapeRows(op.rows);
    AddDimRows(op.rows, kTensors);
    AddViewRows(op.rows, kInputs, "gradInput");
    AddFormatRows(op.rows, kTensors);

    // Faults in the order of the checks. Any of the deviations can be combined.
    op.faults = {
        {"workspaceSize null", [](CallSpec& c) { c.null_workspace_size = true; }, kNullptr, "workspaceSize"},
        {"gradOut null", Null("gradOut"), kNullptr, "gradOut"},
        {"self null", Null("self"), kNullptr, "self"},
        {"target null", Null("target"), kNullptr, "target"},
        {"gradInput null", Null("gradInput"), kNullptr, "gradInput"},
        {"gradOut's type", Dtype("gradOut", ACL_INT32), kInvalid, "DT_INT32"},
        {"self's type", Dtype("self", ACL_DOUBLE), kInvalid, "DT_DOUBLE"},
        {"target's type", Dtype("target", ACL_UINT64), kInvalid, "DT_UINT64"},
        {"gradInput's type", Dtype("gradInput", ACL_COMPLEX64), kInvalid, "DT_COMPLEX64"},
        {"gradOut's rank", Rank("gradOut", 9), kInvalid, "9"},
        {"self's rank", Rank("self", 10), kInvalid, "10"},
        {"target's rank", Rank("target", 11), kInvalid, "11"},
        {"reduction", Reduction(987654321012), kInvalid, "987654321012"},
        {"beta", Beta(-0.375f), kInvalid, "beta"},
        {"gradOut and self do not broadcast", LastDim("gradOut", 50001), kInvalid, "50001"},
        {"target does not broadcast", LastDim("target", 70001), kInvalid, "70001"},
        {"gradInput's shape", LastDim("gradInput", 90001), kInvalid, "90001"},
        {"self's view leaves its storage", OutsideItsStorage("self"), kInnerNullptr, "self"},
    };
    return op;
  }();
  return description;
}

PORTACL_CONTRACT_TESTS(SmoothL1LossBackwardContract, SmoothL1LossBackward());

// A full name without a digit is the older product, which lacks bfloat16 although its name resembles the
// newer one.
TEST(SmoothL1LossBackwardTypes, Ascend910BWithoutDigit) {
  for (const auto& [name, code] : {std::pair<const char*, aclnnStatus>{"Ascend910B", kInvalid},
                                   {"Ascend910A", kInvalid},
                                   {"Ascend910B1", kOk},
                                   {"Ascend910_9362", kOk},
                                   {"Ascend950PR_9599", kOk},
                                   {"Ascend310B4", kInvalid},
                                   {"Ascend310P7", kInvalid}}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", name}});
    ASSERT_EQ(environment.init_status(), ACL_SUCCESS) << name;
    CallSpec spec(kTensors);
    EveryDtype(ACL_BF16)(spec);
    CheckPlan(SmoothL1LossBackward().binding, spec, code, {"DT_BF16"}, name);
  }
}

}  // namespace
}  // namespace portacl::testing
