// aclnnInplaceCopy's contract: what phase 1 answers to every kind of wrong call, in which order. No product differs.
// SPDX-License-Identifier: Apache-2.0
#include "operators/moves.h"

#include <algorithm>

#include "support/contract_rows.h"
#include "support/contract_suite.h"
#include "support/converted_value.h"

namespace portacl::testing {
namespace {

const std::vector<std::string> kTensors = {"selfRef", "src"};

// Every pair of dtypes. The list alone is checked, not whether the cast is legal elsewhere.
void AddDtypeRows(std::vector<Row>& rows) {
  std::vector<DtypeNumber> listed = ConvertibleDtypes();
  for (const DtypeNumber tiny : {ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E8M0})
    listed.push_back(tiny);
  const auto is_listed = [&](DtypeNumber dtype) {
    return std::find(listed.begin(), listed.end(), dtype) != listed.end();
  };
  for (const DtypeNumber self : AllDtypes()) {
    for (const DtypeNumber src : AllDtypes()) {
      Row row{DtypeName(src) + " into " + DtypeName(self), Dtypes({self, src}), kOk, {}, {}};
      if (!is_listed(self) || !is_listed(src)) {
        row.code = kInvalid;
        row.fragments = {is_listed(self) ? "src" : "selfRef", DtypeName(is_listed(self) ? src : self),
                         "DT_FLOAT8_E8M0"};
      }
      rows.push_back(row);
    }
  }
  for (const std::string& tensor : kTensors) {
    for (const DtypeNumber unknown : UnknownDtypes())
      rows.push_back(
          {tensor + " dtype " + std::to_string(unknown), Dtype(tensor, unknown), kInvalid, {tensor}, {}});
  }
}

void AddShapeRows(std::vector<Row>& rows) {
  for (const Shape& src : {Shape{}, Shape{1}, Shape{3}, Shape{2, 1}, Shape{1, 3}, Shape{1, 1}})
    rows.push_back({"src " + ToString(src), ShapeOf("src", src), kOk, {}, {}});
  for (const Shape& src : {Shape{2}, Shape{4}, Shape{3, 2}, Shape{2, 4}, Shape{6}, Shape{0}})
    rows.push_back({"src " + ToString(src),
                    ShapeOf("src", src),
                    kInvalid,
                    {"src", ToString(src), "selfRef", "[2, 3]"},
                    {}});
  // Shapes of src that would enlarge the result, even by dims of length 1.
  for (const Shape& src : {Shape{1, 2, 3}, Shape{4, 2, 3}, Shape{1, 1, 1}})
    rows.push_back({"src " + ToString(src), ShapeOf("src", src), kInvalid, {"selfRef", "[2, 3]"}, {}});
  rows.push_back(
      {"selfRef smaller", ShapeOf("selfRef", {1, 3}), kInvalid, {"selfRef", "[1, 3]", "[2, 3]"}, {}});
  rows.push_back({"selfRef a scalar", ShapeOf("selfRef", {}), kInvalid, {"selfRef", "[]", "[2, 3]"}, {}});
  rows.push_back({"both empty", AllShapes({2, 0, 3}), kOk, {}, {}});
  rows.push_back({"1 into 0", Shapes({{0, 3}, {1, 3}}), kOk, {}, {}});
  rows.push_back({"0 into 1", Shapes({{1, 3}, {0, 3}}), kInvalid, {"selfRef", "[1, 3]", "[0, 3]"}, {}});
}

const ContractDescription& InplaceCopy() {
  static const ContractDescription description = [] {
    ContractDescription op;
    op.binding = BindInplaceCopy();
    op.rows.push_back({"the valid call", Nothing(), kOk, {}, {}});
    AddNullRows(op.rows, kTensors);
    AddDtypeRows(op.rows);
    AddRankRows(op.rows, kTensors);
    AddShapeRows(op.rows);
    AddDimRows(op.rows, kTensors);
    AddViewRows(op.rows, {"src"}, "selfRef");
    AddFormatRows(op.rows, kTensors);
    op.rows.push_back(
        {"src outside its storage, empty", All({AllShapes({2, 0}), OutsideItsStorage("src")}), kOk, {}, {}});
    op.faults = {
        {"workspaceSize null", [](CallSpec& c) { c.null_workspace_size = true; }, kNullptr, "workspaceSize"},
        {"selfRef null", Null("selfRef"), kNullptr, "selfRef"},
        {"src null", Null("src"), kNullptr, "src"},
        {"selfRef's type", Dtype("selfRef", ACL_INT4), kInvalid, "DT_INT4"},
        {"src's type", Dtype("src", ACL_COMPLEX32), kInvalid, "DT_COMPLEX32"},
        {"selfRef's rank", Rank("selfRef", 9), kInvalid, "9"},
        {"src's rank", Rank("src", 10), kInvalid, "10"},
        {"src does not broadcast", LastDim("src", 50001), kInvalid, "50001"},
        {"src's view leaves its storage", OutsideItsStorage("src"), kInnerNullptr, "storage"},
    };
    return op;
  }();
  return description;
}

PORTACL_CONTRACT_TESTS(InplaceCopyContract, InplaceCopy());

}  // namespace
}  // namespace portacl::testing
