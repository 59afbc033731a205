// aclnnInplaceFillTensor's contract: what phase 1 answers to every kind of wrong call, in which order, on every product.
// SPDX-License-Identifier: Apache-2.0
#include "operators/moves.h"

#include <algorithm>

#include "support/contract_rows.h"
#include "support/contract_suite.h"
#include "support/converted_value.h"

namespace portacl::testing {
namespace {

bool IsConvertibleDtype(DtypeNumber dtype) {
  const std::vector<DtypeNumber>& all = ConvertibleDtypes();
  return std::find(all.begin(), all.end(), dtype) != all.end();
}

const std::vector<std::string> kTensors = {"selfRef", "value"};

void AddDtypeRows(std::vector<Row>& rows) {
  const DtypeLists lists = ListedWith({ACL_FLOAT, ACL_INT32, ACL_INT64, ACL_FLOAT16, ACL_INT16, ACL_INT8,
                                       ACL_UINT8, ACL_DOUBLE, ACL_BOOL, ACL_COMPLEX64, ACL_COMPLEX128},
                                      {Product::kA2, Product::kA3, Product::k950}, {ACL_BF16});
  for (const DtypeNumber self : AllDtypes()) {
    for (const DtypeNumber value : AllDtypes()) {
      const Answer answer =
          IsConvertibleDtype(value) ? Answer{kOk, {}} : Answer{kInnerNullptr, {{"value", DtypeName(value)}}};
      const std::string name = DtypeName(self) + " with " + DtypeName(value);
      rows.push_back(
          ListedRow(name, Dtypes({self, value}), lists, self, answer, {"selfRef", DtypeName(self)}));
      rows.push_back(ListedRow(name + ", empty", All({Dtypes({self, value}), ShapeOf("selfRef", {0})}), lists,
                               self, {kOk, {}}, {"selfRef", DtypeName(self)}));
    }
  }
  for (const DtypeNumber unknown : UnknownDtypes()) {
    rows.push_back(
        {"selfRef dtype " + std::to_string(unknown), Dtype("selfRef", unknown), kInvalid, {"selfRef"}, {}});
    rows.push_back(
        {"value dtype " + std::to_string(unknown), Dtype("value", unknown), kInnerNullptr, {"value"}, {}});
  }
}

void AddShapeRows(std::vector<Row>& rows) {
  rows.push_back({"value [1]", ShapeOf("value", {1}), kOk, {}, {}});
  for (const Shape& value : {Shape{1, 1}, Shape{2}, Shape{2, 3}, Shape{0}, Shape{3}})
    rows.push_back({"value " + ToString(value),
                    ShapeOf("value", value),
                    kInvalid,
                    {"value", ToString(value), "[1]"},
                    {}});
  for (size_t rank = 0; rank <= 8; ++rank)
    rows.push_back({"rank " + std::to_string(rank), ShapeOf("selfRef", Shape(rank, 2)), kOk, {}, {}});
  for (const size_t rank : {size_t{9}, size_t{25}})
    rows.push_back({"rank " + std::to_string(rank), Rank("selfRef", rank), kInvalid, {"selfRef", "8"}, {}});
  rows.push_back({"empty", ShapeOf("selfRef", {2, 0}), kOk, {}, {}});
  rows.push_back({"value far outside its storage", Strided("value", {}, 1000, 1), kOk, {}, {}});
}

const ContractDescription& InplaceFillTensor() {
  static const ContractDescription description = [] {
    ContractDescription op;
    op.binding = BindInplaceFillTensor();
    op.valid = ShapeOf("value", {});
    op.rows.push_back({"the valid call", Nothing(), kOk, {}, {}});
    AddNullRows(op.rows, kTensors);
    AddDtypeRows(op.rows);
    AddShapeRows(op.rows);
    AddViewRows(op.rows, {}, "selfRef");
    AddFormatRows(op.rows, kTensors);
    op.faults = {
        {"workspaceSize null", [](CallSpec& c) { c.null_workspace_size = true; }, kNullptr, "workspaceSize"},
        {"selfRef null", Null("selfRef"), kNullptr, "selfRef"},
        {"value null", Null("value"), kNullptr, "value"},
        {"selfRef's type", Dtype("selfRef", ACL_INT4), kInvalid, "DT_INT4"},
        {"selfRef's rank", Rank("selfRef", 9), kInvalid, "9"},
        {"value's shape", ShapeOf("value", {50001}), kInvalid, "50001"},
        {"no conversion", Dtype("value", ACL_FLOAT8_E5M2), kInnerNullptr, "DT_FLOAT8_E5M2"},
    };
    return op;
  }();
  return description;
}

PORTACL_CONTRACT_TESTS(InplaceFillTensorContract, InplaceFillTensor());

}  // namespace
}  // namespace portacl::testing
