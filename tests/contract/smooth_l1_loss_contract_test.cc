// aclnnSmoothL1Loss's contract: what phase 1 answers to every kind of wrong call, in which order, on every product. A
// reduced result of a wrong shape is found only when it would be written.
// SPDX-License-Identifier: Apache-2.0
#include "operators/smooth_l1_loss.h"

#include "support/contract_suite.h"
#include "support/loss_rows.h"

namespace portacl::testing {
namespace {

const std::vector<std::string> kTensors = {"self", "target", "result"};

void AddBetaRows(std::vector<Row>& rows) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float beta :
       {0.0f, -0.0f, 0x1p-149f, 1e-7f, 1.0f, std::numeric_limits<float>::max(), kInfinity}) {
    rows.push_back({"beta " + std::to_string(beta), Beta(beta), kOk, {}, {}});
    rows.push_back(
        {"beta " + std::to_string(beta) + ", mean", All({Beta(beta), Reduced(1, "result")}), kOk, {}, {}});
  }
  for (const float beta : {-0x1p-149f, -1.5f, -kInfinity, std::numeric_limits<float>::quiet_NaN(),
                           -std::numeric_limits<float>::quiet_NaN()}) {
    rows.push_back({"beta " + std::to_string(beta), Beta(beta), kInvalid, {"beta"}, {}});
    rows.push_back({"beta " + std::to_string(beta) + ", tensors empty",
                    All({AllShapes({0}), Beta(beta)}),
                    kInvalid,
                    {"beta"},
                    {}});
  }
}

// Any dtype to which the promoted one casts is accepted at first. Dtypes that cannot be written fail later.
void AddResultDtypeRows(std::vector<Row>& rows) {
  for (const DtypeNumber dtype : AllDtypes()) {
    const bool writable = dtype == ACL_FLOAT || dtype == ACL_FLOAT16 || dtype == ACL_BF16 ||
                          dtype == ACL_DOUBLE || dtype == ACL_COMPLEX64 || dtype == ACL_COMPLEX128;
    const aclnnStatus code = !CanCastDtype(ACL_FLOAT, dtype) ? kInvalid : writable ? kOk : kInnerNullptr;
    const std::string name = "result " + DtypeName(dtype);
    for (const int64_t reduction : {0, 1, 2}) {
      const Deviation deviate =
          All({Reduction(reduction), ShapeOf("result", reduction == 0 ? Shape{2, 3} : Shape{}),
               Dtype("result", dtype)});
      rows.push_back({name + ", reduction " + std::to_string(reduction),
                      deviate,
                      code,
                      {"result", DtypeName(dtype)},
                      {}});
    }
    rows.push_back({name + ", empty",
                    All({AllShapes({0, 3}), Dtype("result", dtype)}),
                    code == kInvalid ? kInvalid : kOk,
                    {"result", DtypeName(dtype)},
                    {}});
    rows.push_back({name + ", empty, sum",
                    All({AllShapes({0, 3}), Reduced(2, "result"), Dtype("result", dtype)}),
                    code,
                    {"result", DtypeName(dtype)},
                    {}});
  }
}

void AddFormatRuleRows(std::vector<Row>& rows) {
  const auto row = [&](const std::string& name, const Deviation& deviate, aclnnStatus code) {
    rows.push_back({name, deviate, code, {"result", "format"}, {}});
  };
  row("sum into a scalar NCHW", All({Reduced(2, "result"), Format("result", ACL_FORMAT_NCHW)}),
      kInnerNullptr);
  row("scalars, result NCHW", All({AllShapes({}), Format("result", ACL_FORMAT_NCHW)}), kInnerNullptr);
  row("sum into [1] NCHW", All({Reduction(2), ShapeOf("result", {1}), Format("result", ACL_FORMAT_NCHW)}),
      kOk);
  row("sum into a scalar ND", All({Reduced(2, "result"), Format("result", ACL_FORMAT_ND)}), kOk);
  row("sum of nothing into a scalar NCHW",
      All({Shapes({{0}, {0}, {}}), Reduction(2), Format("result", ACL_FORMAT_NCHW)}), kOk);
}

const ContractDescription& SmoothL1Loss() {
  static const ContractDescription description = [] {
    ContractDescription op;
    op.binding = DescribeSmoothL1Loss().binding;
    op.rows.push_back({"the valid call", Nothing(), kOk, {}, {}});
    AddNullRows(op.rows, kTensors);
    AddSingleDtypeRows(op.rows, kLossInputs, kProductsWithoutBfloat16);
    AddDtypeMixRows(op.rows, 2, kProductsWithoutBfloat16);
    AddResultDtypeRows(op.rows);
    AddLossReductionRows(op.rows, 2, "result");
    AddBetaRows(op.rows);
    AddRankRows(op.rows, kLossInputs);
    AddLossShapeRows(op.rows, "result");
    AddScalarShapeRow(op.rows, "result");
    AddDimRows(op.rows, kTensors);
    AddViewRows(op.rows, kLossInputs, "result");
    AddReducedViewRows(op.rows, 2, "result");
    AddFormatRows(op.rows, kTensors);
    AddFormatRuleRows(op.rows);
    AddReducedShapeRows(op.rows, 2, "result", {{}, {1}, {1, 1}, Shape(9, 1), Shape(25, 1)},
                        {{2}, {2, 3}, {3}, {0}, {1, 2}}, kInnerNullptr);
    AddEmptyRows(op.rows, 2, "result", {0, 3}, {0, 3}, {0, 3}, {});
    AddEmptyRows(op.rows, 2, "result", {1, 3}, {0, 1}, {0, 3}, {1});
    AddEmptyRows(op.rows, 2, "result", {}, {2, 0}, {2, 0}, {1, 1});
    for (const int64_t reduction : {1, 2}) {
      op.rows.push_back({"empty, result [2], reduction " + std::to_string(reduction),
                         All({Reduction(reduction), Shapes({{0}, {0}, {2}})}),
                         kInnerNullptr,
                         {"result", "[2]"},
                         {}});
    }

    // Faults in the order of the checks. Any of the deviations can be combined.
    op.faults = {
        {"workspaceSize null", [](CallSpec& c) { c.null_workspace_size = true; }, kNullptr, "workspaceSize"},
        {"self null", Null("self"), kNullptr, "self"},
        {"target null", Null("target"), kNullptr, "target"},
        {"result null", Null("result"), kNullptr, "result"},
        {"self's type", Dtype("self", ACL_DOUBLE), kInvalid, "DT_DOUBLE"},
        {"target's type", Dtype("target", ACL_UINT64), kInvalid, "DT_UINT64"},
        {"result cannot hold it", Dtype("result", ACL_INT16), kInvalid, "DT_INT16"},
        {"reduction", Reduction(987654321012), kInvalid, "987654321012"},
        {"self's rank", Rank("self", 9), kInvalid, "9"},
        {"target's rank", Rank("target", 10), kInvalid, "10"},
        {"the inputs do not broadcast", LastDim("target", 70001), kInvalid, "70001"},
        {"result's shape", LastDim("result", 90001), kInvalid, "90001"},
        {"beta", Beta(-0.375f), kInvalid, "beta"},
        {"self's view leaves its storage", OutsideItsStorage("self"), kInnerNullptr, "self"},
    };
    return op;
  }();
  return description;
}

PORTACL_CONTRACT_TESTS(SmoothL1LossContract, SmoothL1Loss());

}  // namespace
}  // namespace portacl::testing
