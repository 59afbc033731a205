// aclnnMseLossOut's contract: like aclnnMseLoss's, but reductions are over the first axis only, and empty
// inputs leave everything unchanged.
// SPDX-License-Identifier: Apache-2.0
#include "operators/mse_loss_out.h"

#include "support/contract_suite.h"
#include "support/loss_rows.h"

namespace portacl::testing {
namespace {

const std::vector<std::string> kTensors = {"self", "target", "out"};

const ContractDescription& MseLossOut() {
  static const ContractDescription description = [] {
    ContractDescription op;
    op.binding = DescribeMseLossOut().binding;
    op.rows.push_back({"the valid call", Nothing(), kOk, {}, {}});
    AddNullRows(op.rows, kTensors);
    AddSingleDtypeRows(op.rows, kTensors, kProductsWithoutBfloat16);
    AddDtypeMixRows(op.rows, 3, kProductsWithoutBfloat16);
    AddRankRows(op.rows, kLossInputs);
    for (const int64_t reduction : {int64_t{-1}, int64_t{3}, int64_t{1} << 32, kMin, kMax}) {
      op.rows.push_back({"reduction " + std::to_string(reduction),
                         Reduction(reduction),
                         kInvalid,
                         {"reduction", std::to_string(reduction), "0", "2"},
                         {}});
    }
    AddLossShapeRows(op.rows, "out");
    AddScalarShapeRow(op.rows, "out");
    AddDimRows(op.rows, kTensors);
    AddViewRows(op.rows, kLossInputs, "out");
    AddFormatRows(op.rows, kTensors);
    // R without its first axis.
    AddReducedShapeRows(op.rows, 2, "out", {{3}}, {{}, {1}, {1, 3}, {2, 3}, {2}, {0}, {3, 1}}, kInvalid);
    for (const int64_t reduction : {1, 2}) {
      const auto row = [&](const std::string& name, std::vector<Shape> shapes, aclnnStatus code) {
        const Shape out = shapes.back();
        op.rows.push_back({name + ", reduction " + std::to_string(reduction),
                           All({Reduction(reduction), Shapes(std::move(shapes))}),
                           code,
                           {"out", ToString(out)},
                           {}});
      };
      row("one axis", {{5}, {5}, {}}, kOk);
      row("one axis of one element", {{1}, {}, {}}, kOk);
      row("one axis, out [1]", {{5}, {5}, {1}}, kInvalid);
      row("scalars", {{}, {}, {}}, kOk);
      row("scalars, out [1]", {{}, {}, {1}}, kInvalid);
      row("eight axes", {Shape(8, 2), {}, Shape(7, 2)}, kOk);
      row("the first axis from target", {{3}, {4, 1}, {3}}, kOk);
      // Empty inputs, even if out has elements.
      row("the first axis empty", {{0, 3}, {0, 3}, {3}}, kOk);
      row("the last axis empty", {{3, 0}, {3, 0}, {0}}, kOk);
      row("empty, out wrong", {{0, 3}, {0, 3}, {2}}, kInvalid);
      row("empty, out a scalar", {{0}, {1}, {}}, kOk);
    }
    AddEmptyRows(op.rows, 2, "out", {0, 3}, {0, 3}, {0, 3}, {3});
    AddEmptyRows(op.rows, 2, "out", {1, 3}, {0, 1}, {0, 3}, {3});

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

PORTACL_CONTRACT_TESTS(MseLossOutContract, MseLossOut());

}  // namespace
}  // namespace portacl::testing
