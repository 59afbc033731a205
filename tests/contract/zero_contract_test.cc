// aclnnInplaceZero's contract: what phase 1 answers to every kind of wrong call, in which order, on every product.
// SPDX-License-Identifier: Apache-2.0
#include "operators/moves.h"

#include "support/contract_rows.h"
#include "support/contract_suite.h"

namespace portacl::testing {
namespace {

void AddDtypeRows(std::vector<Row>& rows) {
  const DtypeLists lists = ListedWith(
      {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_INT8, ACL_UINT8, ACL_INT16, ACL_UINT16, ACL_INT32,
       ACL_INT64, ACL_BOOL, ACL_COMPLEX64, ACL_COMPLEX128},
      {Product::k950}, {ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN, ACL_FLOAT4_E2M1, ACL_FLOAT4_E1M2});
  for (const DtypeNumber dtype : AllDtypes()) {
    const bool is_packed = dtype == ACL_FLOAT4_E2M1 || dtype == ACL_FLOAT4_E1M2;
    const std::vector<std::string> says = {"selfRef", DtypeName(dtype)};
    rows.push_back(ListedRow(DtypeName(dtype), EveryDtype(dtype), lists, dtype,
                             is_packed ? Answer{kInnerNullptr, says} : Answer{kOk, {}}, says));
    rows.push_back(ListedRow(DtypeName(dtype) + ", empty", All({EveryDtype(dtype), AllShapes({0})}), lists,
                             dtype, {kOk, {}}, says));
  }
  for (const DtypeNumber unknown : UnknownDtypes())
    rows.push_back({"dtype " + std::to_string(unknown), EveryDtype(unknown), kInvalid, {"selfRef"}, {}});
}

// The rank is not checked.
void AddRanks(std::vector<Row>& rows) {
  for (const size_t rank : {0, 1, 8, 9, 12, 25})
    rows.push_back({"rank " + std::to_string(rank), AllShapes(Shape(rank, 2)), kOk, {}, {}});
  // With more dims, only dtypes of an NPU's vector core have a loop.
  for (const DtypeNumber dtype : {ACL_DOUBLE, ACL_INT16, ACL_UINT16, ACL_COMPLEX64, ACL_COMPLEX128}) {
    rows.push_back(
        {"rank 8, " + DtypeName(dtype), All({EveryDtype(dtype), AllShapes(Shape(8, 2))}), kOk, {}, {}});
    rows.push_back({"rank 9, " + DtypeName(dtype),
                    All({EveryDtype(dtype), AllShapes(Shape(9, 2))}),
                    kInnerNullptr,
                    {"selfRef", DtypeName(dtype), "8 dims"},
                    {}});
    rows.push_back({"rank 9, empty, " + DtypeName(dtype),
                    All({EveryDtype(dtype), AllShapes({2, 2, 2, 2, 0, 2, 2, 2, 2})}),
                    kOk,
                    {},
                    {}});
  }
  for (const DtypeNumber dtype : {ACL_FLOAT16, ACL_BF16, ACL_INT8, ACL_UINT8, ACL_INT32, ACL_INT64, ACL_BOOL})
    rows.push_back(
        {"rank 9, " + DtypeName(dtype), All({EveryDtype(dtype), AllShapes(Shape(9, 2))}), kOk, {}, {}});
  rows.push_back(
      {"9 dims that do not merge",
       All({AllShapes(Shape(9, 2)),
            Strided("selfRef", {3 * 6561, 3 * 2187, 3 * 729, 3 * 243, 3 * 81, 81, 27, 9, 3}, 0, 200000)}),
       kInnerNullptr,
       {"selfRef", "8"},
       {}});
  rows.push_back(
      {"9 dims, two of which merge",
       All({AllShapes(Shape(9, 2)),
            Strided("selfRef", {3 * 6561, 3 * 2187, 3 * 729, 3 * 243, 3 * 81, 81, 27, 6, 3}, 0, 200000)}),
       kOk,
       {},
       {}});
}

const ContractDescription& InplaceZero() {
  static const ContractDescription description = [] {
    ContractDescription op;
    op.binding = BindInplaceZero();
    op.rows.push_back({"the valid call", Nothing(), kOk, {}, {}});
    AddNullRows(op.rows, {"selfRef"});
    AddDtypeRows(op.rows);
    AddRanks(op.rows);
    AddDimRows(op.rows, {"selfRef"});
    AddFormatRows(op.rows, {"selfRef"});
    op.rows.push_back({"transposed", Strided("selfRef", {1, 2}, 0, 6), kOk, {}, {}});
    op.rows.push_back(
        {"outside its storage", Strided("selfRef", {4, 1}, 0, 6), kInnerNullptr, {"selfRef", "storage"}, {}});
    op.rows.push_back(
        {"outside its storage, empty", All({AllShapes({0, 2}), OutsideItsStorage("selfRef")}), kOk, {}, {}});
    op.faults = {
        {"workspaceSize null", [](CallSpec& c) { c.null_workspace_size = true; }, kNullptr, "workspaceSize"},
        {"selfRef null", Null("selfRef"), kNullptr, "selfRef"},
        {"selfRef's type", EveryDtype(ACL_UINT32), kInvalid, "DT_UINT32"},
        {"selfRef's view leaves its storage", OutsideItsStorage("selfRef"), kInnerNullptr, "storage"},
    };
    return op;
  }();
  return description;
}

PORTACL_CONTRACT_TESTS(InplaceZeroContract, InplaceZero());

}  // namespace
}  // namespace portacl::testing
