// aclnnL1Loss's contract: what phase 1 answers to every kind of wrong call, in which order, on every product. Types
// are those that the inputs promote to, INT64 among them, and what is floating depends on the reduction.
// SPDX-License-Identifier: Apache-2.0
#include "operators/l1_loss.h"

#include <algorithm>

#include "support/contract_suite.h"
#include "support/loss_rows.h"

namespace portacl::testing {
namespace {

const std::vector<std::string> kTensors = {"self", "target", "out"};

const ContractDescription& L1Loss() {
  static const ContractDescription description = [] {
    ContractDescription op;
    op.binding = DescribeL1Loss().binding;
    op.rows.push_back({"the valid call", Nothing(), kOk, {}, {}});
    AddNullRows(op.rows, kTensors);
    AddLossReductionRows(op.rows, 2, "out");
    AddRankRows(op.rows, kLossInputs);
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
    AddEmptyRows(op.rows, 2, "out", {}, {2, 0}, {2, 0}, {});
    for (const int64_t reduction : {1, 2}) {
      op.rows.push_back({"empty, out [1], reduction " + std::to_string(reduction),
                         All({Reduction(reduction), Shapes({{0}, {0}, {1}})}),
                         kInvalid,
                         {"out", "[1]"},
                         {}});
    }
    op.rows.push_back(
        {"empty inputs that do not broadcast", Shapes({{0, 3}, {2, 4}, {0, 3}}), kInvalid, {}, {}});

    // Faults in the order of the checks. Any of the deviations can be combined.
    op.faults = {
        {"workspaceSize null", [](CallSpec& c) { c.null_workspace_size = true; }, kNullptr, "workspaceSize"},
        {"self null", Null("self"), kNullptr, "self"},
        {"target null", Null("target"), kNullptr, "target"},
        {"out null", Null("out"), kNullptr, "out"},
        {"reduction", Reduction(987654321012), kInvalid, "987654321012"},
        {"self is not floating", Dtypes({ACL_COMPLEX64, ACL_FLOAT}), kInvalid, "floating"},
        {"the inputs do not promote", Dtypes({ACL_FLOAT, ACL_UINT16}), kInvalid, "promoted"},
        {"the promoted type is not supported", Dtypes({ACL_FLOAT, ACL_DOUBLE}), kInvalid, "promote"},
        {"out cannot hold the result", Dtype("out", ACL_INT16), kInvalid, "DT_INT16"},
        {"self's rank", Rank("self", 9), kInvalid, "9"},
        {"target's rank", Rank("target", 10), kInvalid, "10"},
        {"the inputs do not broadcast", LastDim("target", 70001), kInvalid, "70001"},
        {"out's shape", LastDim("out", 90001), kInvalid, "90001"},
        {"out's type is not written", Dtype("out", ACL_INT4), kInnerNullptr, "out"},
        {"self's view leaves its storage", OutsideItsStorage("self"), kInnerNullptr, "self"},
    };
    return op;
  }();
  return description;
}

PORTACL_CONTRACT_TESTS(L1LossContract, L1Loss());

bool IsIn(const std::vector<DtypeNumber>& dtypes, DtypeNumber dtype) {
  return std::find(dtypes.begin(), dtypes.end(), dtype) != dtypes.end();
}

// Every combination of types of both inputs and of the output, for each reduction, against the tables.
TEST(L1LossTypes, EveryCombination) {
  const std::vector<DtypeNumber> readable = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16,  ACL_INT8, ACL_UINT8,
                                             ACL_INT16, ACL_INT32,   ACL_INT64, ACL_BOOL};
  const std::vector<DtypeNumber> floats = {ACL_FLOAT,  ACL_FLOAT16,   ACL_BF16,
                                           ACL_DOUBLE, ACL_COMPLEX64, ACL_COMPLEX128};
  const std::vector<DtypeNumber> integers = {ACL_INT8,  ACL_UINT8,  ACL_INT16, ACL_UINT16,
                                             ACL_INT32, ACL_UINT32, ACL_INT64, ACL_UINT64};
  for (const Product product : {Product::kA2, Product::k950, Product::k310B, Product::k910}) {
    const bool bfloat16 = product == Product::kA2 || product == Product::k950;
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)}});
    ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
    const OperatorBinding& binding = L1Loss().binding;
    int wrong = 0;
    for (const int64_t reduction : {0, 1, 2}) {
      for (const bool empty : {false, true}) {
        for (const DtypeNumber x : AllDtypes()) {
          for (const DtypeNumber y : AllDtypes()) {
            for (const DtypeNumber out : AllDtypes()) {
              const DtypeNumber promoted = PromoteDtypes(x, y);
              const bool listed = promoted == ACL_FLOAT || promoted == ACL_FLOAT16 || promoted == ACL_INT64 ||
                                  (promoted == ACL_BF16 && bfloat16);
              const bool writable = IsIn(floats, out) || (promoted == ACL_INT64 && IsIn(integers, out));
              aclnnStatus expected = kOk;
              if ((reduction == 0 && IsFloatingDtype(y) && !IsFloatingDtype(x)) ||
                  (reduction == 1 && !IsFloatingDtype(y) && !IsFloatingDtype(x)) ||
                  promoted == kUndefinedDtype || !listed || !CanCastDtype(promoted, out)) {
                expected = kInvalid;
              } else if (empty && reduction == 0) {
                expected = kOk;
              } else if (!writable || (!empty && (!IsIn(readable, x) || !IsIn(readable, y)))) {
                expected = kInnerNullptr;
              }
              CallSpec spec(binding.tensors);
              Dtypes({x, y, out})(spec);
              if (empty) {
                AllShapes({0, 3})(spec);
              }
              if (reduction != 0) {
                ShapeOf("out", {})(spec);
              }
              const BuiltCall call(spec, BuiltCall::Data::kForbidden);
              uint64_t size = 0;
              aclOpExecutor* executor = nullptr;
              const aclnnStatus found =
                  binding.plan(call.handles(), {.reduction = reduction}, &size, &executor);
              if (found == 0) {
                aclDestroyAclOpExecutor(executor);
              } else {
                aclGetRecentErrMsg();
              }
              if (found != expected && ++wrong <= 10) {
                ADD_FAILURE() << ProductName(product) << ": " << DtypeName(x) << ", " << DtypeName(y)
                              << " into " << DtypeName(out) << ", reduction " << reduction
                              << (empty ? ", empty" : "") << " gives " << found << ", expected " << expected;
              }
            }
          }
        }
      }
    }
    EXPECT_EQ(wrong, 0) << ProductName(product);
  }
}

}  // namespace
}  // namespace portacl::testing
