// aclnnKlDiv's contract: what phase 1 answers to every kind of wrong call, in which order, on every product. Empty
// inputs end the call before it is known whether they broadcast.
// SPDX-License-Identifier: Apache-2.0
#include "operators/kl_div.h"

#include "support/contract_suite.h"
#include "support/loss_rows.h"

namespace portacl::testing {
namespace {

const std::vector<std::string> kTensors = {"self", "target", "out"};

const ContractDescription& KlDiv() {
  static const ContractDescription description = [] {
    ContractDescription op;
    op.binding = DescribeKlDiv().binding;
    op.rows.push_back({"the valid call", Nothing(), kOk, {}, {}});
    AddNullRows(op.rows, kTensors);
    AddSingleDtypeRows(op.rows, kTensors, kProductsWithoutBfloat16);
    AddDtypeMixRows(op.rows, 3, kProductsWithoutBfloat16);
    AddRankRows(op.rows, kLossInputs);
    AddLossReductionRows(op.rows, 3, "out");
    AddLossShapeRows(op.rows, "out");
    // Scalars are computed as tensors of one element.
    op.rows.push_back({"out [1] for scalars", Shapes({{}, {}, {1}}), kOk, {}, {}});
    for (const Shape& out : {Shape{1, 1}, Shape{2}, Shape{0}}) {
      op.rows.push_back({"out " + ToString(out) + " for scalars",
                         Shapes({{}, {}, out}),
                         kInvalid,
                         {"out", ToString(out), "[]"},
                         {}});
    }
    op.rows.push_back({"out [] for one element", Shapes({{1}, {}, {}}), kInvalid, {"out", "[]", "[1]"}, {}});
    AddDimRows(op.rows, kTensors);
    AddViewRows(op.rows, kLossInputs, "out");
    AddReducedViewRows(op.rows, 3, "out");
    AddFormatRows(op.rows, kTensors);
    AddReducedShapeRows(op.rows, 3, "out", {{}, {1}, {1, 1}, Shape(9, 1), Shape(25, 1)},
                        {{2}, {2, 3}, {3}, {0}, {1, 2}}, kInvalid);
    AddEmptyRows(op.rows, 3, "out", {0, 3}, {0, 3}, {0, 3}, {});
    AddEmptyRows(op.rows, 3, "out", {1, 3}, {0, 1}, {0, 3}, {1});
    // Neither broadcasting nor, without a reduction, the output's shape is checked then.
    AddEmptyRows(op.rows, 3, "out", {0, 3}, {2, 4}, {7}, {1, 1, 1});
    AddEmptyRows(op.rows, 3, "out", {5}, {0}, {}, {});
    for (const int64_t reduction : {1, 2, 3}) {
      op.rows.push_back({"empty, out [2], reduction " + std::to_string(reduction),
                         All({Reduction(reduction), Shapes({{0}, {0}, {2}})}),
                         kInnerNullptr,
                         {"out", "[2]"},
                         {}});
    }

    // Faults in the order of the checks. Any of the deviations can be combined.
    op.faults = {
        {"workspaceSize null", [](CallSpec& c) { c.null_workspace_size = true; }, kNullptr, "workspaceSize"},
        {"self null", Null("self"), kNullptr, "self"},
        {"target null", Null("target"), kNullptr, "target"},
        {"out null", Null("out"), kNullptr, "out"},
        {"self's type", Dtype("self", ACL_DOUBLE), kInvalid, "DT_DOUBLE"},
        {"target's type", Dtype("target", ACL_UINT64), kInvalid, "DT_UINT64"},
        {"out's type", Dtype("out", ACL_INT16), kInvalid, "DT_INT16"},
        {"self's rank", Rank("self", 9), kInvalid, "9"},
        {"target's rank", Rank("target", 10), kInvalid, "10"},
        {"reduction", Reduction(987654321012), kInvalid, "987654321012"},
        {"self's view leaves its storage", OutsideItsStorage("self"), kInnerNullptr, "self"},
        {"the inputs do not broadcast", LastDim("target", 70001), kInvalid, "70001"},
        {"out's shape", LastDim("out", 90001), kInvalid, "90001"},
    };
    return op;
  }();
  return description;
}

PORTACL_CONTRACT_TESTS(KlDivContract, KlDiv());

}  // namespace
}  // namespace portacl::testing
