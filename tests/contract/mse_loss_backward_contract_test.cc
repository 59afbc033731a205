// aclnnMseLossBackward's contract: what phase 1 answers to every kind of wrong call, in which order, on every product.
// The inputs must have one type.
// SPDX-License-Identifier: Apache-2.0
#include "operators/mse_loss_backward.h"

#include <algorithm>

#include "support/contract_suite.h"
#include "support/loss_rows.h"

namespace portacl::testing {
namespace {

const std::vector<std::string> kTensors = {"gradOutput", "self", "target", "out"};
const std::vector<std::string> kInputs = {"gradOutput", "self", "target"};

void AddDtypeRows(std::vector<Row>& rows) {
  const std::vector<DtypeNumber> listed = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  const auto is_listed = [&](DtypeNumber dtype) {
    return std::find(listed.begin(), listed.end(), dtype) != listed.end();
  };
  // The dtypes of all inputs and of out. The inputs are checked first.
  for (const DtypeNumber inputs : AllDtypes()) {
    for (const DtypeNumber out : AllDtypes()) {
      const bool accepted = is_listed(inputs) && is_listed(out);
      const bool bfloat16 = inputs == ACL_BF16 || (is_listed(inputs) && out == ACL_BF16);
      const Answer refused{kInvalid, std::vector<std::string>{"DT_BF16"}};
      rows.push_back({DtypeName(inputs) + " into " + DtypeName(out),
                      Dtypes({inputs, inputs, inputs, out}),
                      accepted ? kOk : kInvalid,
                      {DtypeName(is_listed(inputs) ? out : inputs)},
                      bfloat16 ? On(kProductsWithoutBfloat16, refused) : std::map<Product, Answer>{}});
    }
  }
  // One input has another dtype than self.
  for (const DtypeNumber other : AllDtypes()) {
    if (other == ACL_FLOAT) {
      continue;
    }
    for (const std::string& tensor : kInputs) {
      rows.push_back({tensor + " " + DtypeName(other) + " among f32",
                      Dtype(tensor, other),
                      kInvalid,
                      {"self", tensor == "self" ? "gradOutput" : tensor, DtypeName(other), "DT_FLOAT"},
                      {}});
    }
  }
}

void AddShapeRows(std::vector<Row>& rows) {
  AddGradientShapeRows(rows, kTensors);
  rows.push_back({"out of rank 9", Rank("out", 9), kInvalid, {"out", "[2, 3]"}, {}});
  for (const int64_t reduction : {0, 1, 2}) {
    rows.push_back({"reduction " + std::to_string(reduction), Reduction(reduction), kOk, {}, {}});
  }
  for (const int64_t reduction : {int64_t{-1}, int64_t{3}, int64_t{1} << 32, kMin, kMax}) {
    rows.push_back({"reduction " + std::to_string(reduction) + ", empty",
                    All({AllShapes({0}), Reduction(reduction)}),
                    kInvalid,
                    {"reduction", std::to_string(reduction), "0", "2"},
                    {}});
  }
  for (const std::string& tensor : kInputs) {
    rows.push_back({tensor + " outside its storage, all empty",
                    All({AllShapes({2, 0}), OutsideItsStorage(tensor)}),
                    kOk,
                    {},
                    {}});
  }
}

const ContractDescription& MseLossBackward() {
  static const ContractDescription description = [] {
    ContractDescription op;
    op.binding = DescribeMseLossBackward().binding;
    op.rows.push_back({"the valid call", Nothing(), kOk, {}, {}});
    AddNullRows(op.rows, kTensors);
    AddDtypeRows(op.rows);
    AddRankRows(op.rows, kInputs);
    AddShapeRows(op.rows);
    AddDimRows(op.rows, kTensors);
    AddViewRows(op.rows, kInputs, "out");
    AddFormatRows(op.rows, kTensors);

    // Faults in the order of the checks. Any of the deviations can be combined.
    op.faults = {
        {"workspaceSize null", [](CallSpec& c) { c.null_workspace_size = true; }, kNullptr, "workspaceSize"},
        {"gradOutput null", Null("gradOutput"), kNullptr, "gradOutput"},
        {"self null", Null("self"), kNullptr, "self"},
        {"target null", Null("target"), kNullptr, "target"},
        {"out null", Null("out"), kNullptr, "out"},
        {"gradOutput's type is not self's", Dtype("gradOutput", ACL_INT32), kInvalid, "DT_INT32"},
        {"target's type is not self's", Dtype("target", ACL_UINT64), kInvalid, "DT_UINT64"},
        {"the type of all inputs", Dtypes({ACL_DOUBLE, ACL_DOUBLE, ACL_DOUBLE}), kInvalid, "DT_DOUBLE"},
        {"out's type", Dtype("out", ACL_INT16), kInvalid, "DT_INT16"},
        {"reduction", Reduction(987654321012), kInvalid, "987654321012"},
        {"gradOutput's rank", Rank("gradOutput", 9), kInvalid, "9"},
        {"self's rank", Rank("self", 10), kInvalid, "10"},
        {"target's rank", Rank("target", 11), kInvalid, "11"},
        {"gradOutput and self do not broadcast", LastDim("gradOutput", 50001), kInvalid, "50001"},
        {"target does not broadcast", LastDim("target", 70001), kInvalid, "70001"},
        {"out's shape", LastDim("out", 90001), kInvalid, "90001"},
        {"self's view leaves its storage", OutsideItsStorage("self"), kInnerNullptr, "self"},
    };
    return op;
  }();
  return description;
}

PORTACL_CONTRACT_TESTS(MseLossBackwardContract, MseLossBackward());

}  // namespace
}  // namespace portacl::testing
