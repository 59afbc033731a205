// aclnnInplaceOne's contract: what phase 1 answers to every kind of wrong call, in which order, on every product.
// SPDX-License-Identifier: Apache-2.0
#include "operators/moves.h"

#include "support/contract_rows.h"
#include "support/contract_suite.h"

namespace portacl::testing {
namespace {

void AddDtypeRows(std::vector<Row>& rows) {
  const DtypeLists lists = ListedWith(
      {ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_BOOL},
      {Product::kA2, Product::kA3, Product::k950}, {ACL_BF16});
  for (const DtypeNumber dtype : AllDtypes()) {
    const std::vector<std::string> says = {"selfRef", DtypeName(dtype)};
    rows.push_back(ListedRow(DtypeName(dtype), EveryDtype(dtype), lists, dtype, {kOk, {}}, says));
    rows.push_back(ListedRow(DtypeName(dtype) + ", empty", All({EveryDtype(dtype), AllShapes({0})}), lists,
                             dtype, {kOk, {}}, says));
  }
  for (const DtypeNumber unknown : UnknownDtypes())
    rows.push_back({"dtype " + std::to_string(unknown), EveryDtype(unknown), kInvalid, {"selfRef"}, {}});
}

const ContractDescription& InplaceOne() {
  static const ContractDescription description = [] {
    ContractDescription op;
    op.binding = BindInplaceOne();
    op.rows.push_back({"the valid call", Nothing(), kOk, {}, {}});
    AddNullRows(op.rows, {"selfRef"});
    AddDtypeRows(op.rows);
    AddRankRows(op.rows, {"selfRef"});
    AddDimRows(op.rows, {"selfRef"});
    AddViewRows(op.rows, {}, "selfRef");
    AddFormatRows(op.rows, {"selfRef"});
    op.faults = {
        {"workspaceSize null", [](CallSpec& c) { c.null_workspace_size = true; }, kNullptr, "workspaceSize"},
        {"selfRef null", Null("selfRef"), kNullptr, "selfRef"},
        {"selfRef's type", EveryDtype(ACL_UINT16), kInvalid, "DT_UINT16"},
        {"selfRef's rank", Rank("selfRef", 9), kInvalid, "9"},
    };
    return op;
  }();
  return description;
}

PORTACL_CONTRACT_TESTS(InplaceOneContract, InplaceOne());

}  // namespace
}  // namespace portacl::testing
