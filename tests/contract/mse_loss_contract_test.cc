// aclnnMseLoss's contract: what phase 1 answers to every kind of wrong call, in which order, on every product.
// SPDX-License-Identifier: Apache-2.0
#include "operators/mse_loss.h"

#include "support/contract_suite.h"
#include "support/loss_rows.h"

namespace portacl::testing {
namespace {

const std::vector<std::string> kTensors = {"self", "target", "out"};

const ContractDescription& MseLoss() {
  static const ContractDescription description = [] {
    ContractDescription op;
    op.binding = DescribeMseLoss().binding;
    op.rows.push_back({"the valid call", Nothing(), kOk, {}, {}});
    AddNullRows(op.rows, kTensors);
    AddSingleDtypeRows(op.rows, kTensors, kProductsWithoutBfloat16);
    AddDtypeMixRows(op.rows, 3, kProductsWithoutBfloat16);
    AddRankRows(op.rows, kLossInputs);
    AddLossReductionRows(op.rows, 2, "out");
    AddLossShapeRows(op.rows, "out");
    AddScalarShapeRow(op.rows, "out");
    AddDimRows(op.rows, kTensors);
    AddViewRows(op.rows, kLossInputs, "out");
    AddReducedViewRows(op.rows, 2, "out");
    AddFormatRows(op.rows, kTensors);
    // One element in one dim is refused.
    AddReducedShapeRows(op.rows, 2, "out", {{}}, {{1}, {1, 1}, {3}, {2, 3}, {0}, Shape(9, 1)}, kInvalid);
    AddEmptyRows(op.rows, 2, "out", {0, 3}, {0, 3}, {0, 3}, {});
    AddEmptyRows(op.rows, 2, "out", {1, 3}, {0, 1}, {0, 3}, {});
    for (const int64_t reduction : {1, 2}) {
      op.rows.push_back({"empty, out [1], reduction " + std::to_string(reduction),
                         All({Reduction(reduction), Shapes({{0}, {0}, {1}})}),
                         kInvalid,
                         {"out", "[1]"},
                         {}});
    }

    // Faults in the order of the checks. Any of the deviations can be combined.
    op.faults = {
        {"workspaceSize null", [](CallSpec& c) { c.null_workspace_size = true; }, kNullptr, "workspaceSize"},
        {"self null", Null("self"), kNullptr, "self"},
        {"target null", Null("target"), kNullptr, "target"},
        {"out null", Null("out"), kNullptr, "out"},
        {"the inputs do not promote", Dtype("self", ACL_UINT64), kInvalid, "promoted"},
        {"the promoted type is not supported", Dtypes({ACL_DOUBLE}), kInvalid, "promote"},
        {"target's type", Dtypes({ACL_FLOAT, ACL_INT32}), kInvalid, "DT_INT32"},
        {"out's type", Dtype("out", ACL_INT16), kInvalid, "DT_INT16"},
        {"reduction", Reduction(987654321012), kInvalid, "987654321012"},
        {"self's rank", Rank("self", 9), kInvalid, "9"},
        {"target's rank", Rank("target", 10), kInvalid, "10"},
        {"the inputs do not broadcast", LastDim("target", 70001), kInvalid, "70001"},
        {"out's shape", LastDim("out", 90001), kInvalid, "90001"},
        {"self's view leaves its storage", OutsideItsStorage("self"), kInnerNullptr, "self"},
    };
    return op;
  }();
  return description;
}

PORTACL_CONTRACT_TESTS(MseLossContract, MseLoss());

}  // namespace
}  // namespace portacl::testing
