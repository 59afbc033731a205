// aclnnInplaceFillScalar's contract: what phase 1 answers to every kind of wrong call, in which order, on every product.
// SPDX-License-Identifier: Apache-2.0
#include "operators/moves.h"

#include <algorithm>

#include "support/contract_rows.h"
#include "support/contract_suite.h"
#include "support/converted_value.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

bool IsConvertibleDtype(DtypeNumber dtype) {
  const std::vector<DtypeNumber>& all = ConvertibleDtypes();
  return std::find(all.begin(), all.end(), dtype) != all.end();
}

// The value lives as long as the process: rows hold its address.
const aclScalar* ScalarOf(DtypeNumber dtype) {
  static std::map<DtypeNumber, aclScalar*> scalars;
  aclScalar*& scalar = scalars[dtype];
  if (scalar == nullptr) {
    alignas(16) static unsigned char value[16] = {};
    scalar = aclCreateScalar(value, AsAclDataType(dtype));
    if (scalar == nullptr) TakeErrorMessage();  // the rows do not test this message
  }
  return scalar;
}

Deviation Value(DtypeNumber dtype) {
  return [=](CallSpec& call) { call.attributes.scalar = ScalarOf(dtype); };
}

Deviation NullValue() {
  return [](CallSpec& call) { call.attributes.scalar = nullptr; };
}

void AddDtypeRows(std::vector<Row>& rows) {
  const DtypeLists lists =
      ListedWith({ACL_FLOAT, ACL_INT32, ACL_INT64, ACL_FLOAT16, ACL_INT16, ACL_INT8, ACL_UINT8, ACL_DOUBLE,
                  ACL_BOOL, ACL_COMPLEX64, ACL_COMPLEX128},
                 {Product::kA2, Product::kA3, Product::k950}, {ACL_BF16, ACL_UINT16, ACL_UINT32, ACL_UINT64});
  for (const DtypeNumber self : AllDtypes()) {
    for (const DtypeNumber value : AllDtypes()) {
      if (ScalarOf(value) == nullptr) continue;  // no scalar has that dtype
      const bool promotes = PromoteDtypes(self, value) != kUndefinedDtype;
      const Answer answer =
          !promotes ? Answer{kInvalid, {{"value", "selfRef", DtypeName(value), DtypeName(self)}}}
          : !IsConvertibleDtype(value) ? Answer{kInnerNullptr, {{"value", DtypeName(value)}}}
                                       : Answer{kOk, {}};
      const std::string name = DtypeName(self) + " with " + DtypeName(value);
      rows.push_back(ListedRow(name, All({EveryDtype(self), Value(value)}), lists, self, answer,
                               {"selfRef", DtypeName(self)}));
      rows.push_back(ListedRow(name + ", empty", All({EveryDtype(self), Value(value), AllShapes({0})}), lists,
                               self, promotes ? Answer{kOk, {}} : answer, {"selfRef", DtypeName(self)}));
    }
  }
  // The dtype that PyTorch's back end passes does not promote with the unsigned integers.
  for (const DtypeNumber self : {ACL_UINT16, ACL_UINT32, ACL_UINT64}) {
    for (const DtypeNumber value : {ACL_INT64, ACL_DOUBLE, ACL_BOOL})
      rows.push_back({DtypeName(self) + " from " + DtypeName(value),
                      All({EveryDtype(self), Value(value)}),
                      kInvalid,
                      {},
                      {}});
  }
  for (const DtypeNumber unknown : UnknownDtypes())
    rows.push_back({"dtype " + std::to_string(unknown), EveryDtype(unknown), kInvalid, {"selfRef"}, {}});
}

const ContractDescription& InplaceFillScalar() {
  static const ContractDescription description = [] {
    ContractDescription op;
    op.binding = BindInplaceFillScalar();
    op.rows.push_back({"the valid call", Nothing(), kOk, {}, {}});
    AddNullRows(op.rows, {"selfRef"});
    op.rows.push_back({"value null", NullValue(), kNullptr, {"value"}, {}});
    AddDtypeRows(op.rows);
    AddRankRows(op.rows, {"selfRef"});
    AddDimRows(op.rows, {"selfRef"});
    AddViewRows(op.rows, {}, "selfRef");
    AddFormatRows(op.rows, {"selfRef"});
    op.faults = {
        {"workspaceSize null", [](CallSpec& c) { c.null_workspace_size = true; }, kNullptr, "workspaceSize"},
        {"selfRef null", Null("selfRef"), kNullptr, "selfRef"},
        {"value null", NullValue(), kNullptr, "value"},
        {"selfRef's type", EveryDtype(ACL_INT4), kInvalid, "DT_INT4"},
        {"no promotion", Value(ACL_UINT32), kInvalid, "DT_UINT32"},
        {"selfRef's rank", Rank("selfRef", 9), kInvalid, "9"},
        {"no conversion", Value(ACL_FLOAT8_E5M2), kInnerNullptr, "DT_FLOAT8_E5M2"},
    };
    return op;
  }();
  return description;
}

PORTACL_CONTRACT_TESTS(InplaceFillScalarContract, InplaceFillScalar());

}  // namespace
}  // namespace portacl::testing
