// aclnnCast's contract: what phase 1 answers to every kind of wrong call, in which order, on every product.
// SPDX-License-Identifier: Apache-2.0
#include "operators/moves.h"

#include <algorithm>

#include "support/contract_rows.h"
#include "support/contract_suite.h"
#include "support/converted_value.h"

namespace portacl::testing {
namespace {

const std::vector<std::string> kTensors = {"self", "out"};

std::vector<DtypeNumber> Old() {
  std::vector<DtypeNumber> listed = ConvertibleDtypes();
  std::erase(listed, ACL_BF16);
  return listed;
}

DtypeLists FromLists() {
  DtypeLists lists = ListedWith(Old(), {Product::kA2, Product::kA3, Product::k950}, {ACL_BF16});
  for (const DtypeNumber tiny :
       {ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN, ACL_COMPLEX32, ACL_FLOAT4_E1M2, ACL_FLOAT4_E2M1})
    lists[Product::k950].push_back(tiny);
  return lists;
}

Deviation ToDtype(DtypeNumber dtype) {
  return [=](CallSpec& call) { call.attributes.dtype = dtype; };
}

// Every pair of dtypes. self's dtype is checked first, then the parameter dtype; out has the latter.
void AddDtypeRows(std::vector<Row>& rows) {
  const DtypeLists from_lists = FromLists();
  DtypeLists to_lists = from_lists;
  to_lists[Product::k950].push_back(ACL_INT4);
  const auto has = [](const std::vector<DtypeNumber>& list, DtypeNumber dtype) {
    return std::find(list.begin(), list.end(), dtype) != list.end();
  };
  for (const DtypeNumber from : AllDtypes()) {
    for (const DtypeNumber to : AllDtypes()) {
      Row row{DtypeName(from) + " to " + DtypeName(to), Dtypes({from, to}), kOk, {}, {}};
      Row empty = row;
      empty.name += ", empty";
      empty.deviate = All({row.deviate, AllShapes({0})});
      const bool converts = from == to || (from != ACL_COMPLEX32 && to != ACL_COMPLEX32);
      for (const Product product : kAllProducts) {
        Answer answer{kOk, {}};
        if (!has(from_lists.at(product), from)) {
          answer = {kInvalid, {{"self", DtypeName(from)}}};
        } else if (!has(to_lists.at(product), to)) {
          answer = {kInvalid, {{"dtype", DtypeName(to)}}};
        }
        empty.elsewhere[product] = answer;
        if (answer.code == kOk && !converts)
          answer = {kInnerNullptr, {{"self", "out", DtypeName(from), DtypeName(to)}}};
        row.elsewhere[product] = answer;
      }
      rows.push_back(row);
      rows.push_back(empty);
    }
  }
  for (const DtypeNumber unknown : UnknownDtypes()) {
    rows.push_back({"self dtype " + std::to_string(unknown), Dtype("self", unknown), kInvalid, {"self"}, {}});
    rows.push_back({"dtype " + std::to_string(unknown), ToDtype(unknown), kInvalid, {"dtype"}, {}});
  }
  // A dtype of out other than the parameter's is checked late.
  for (const DtypeNumber out : AllDtypes()) {
    if (out == ACL_INT32) continue;
    rows.push_back({"out " + DtypeName(out) + " for dtype int32",
                    All({Dtype("out", out), ToDtype(ACL_INT32)}),
                    kInnerNullptr,
                    {"out", DtypeName(out), "DT_INT32"},
                    {}});
    rows.push_back({"out " + DtypeName(out) + " for dtype int32, empty",
                    All({Dtype("out", out), ToDtype(ACL_INT32), AllShapes({0})}),
                    kOk,
                    {},
                    {}});
  }
  rows.push_back({"out int4, self not dense",
                  All({Dtypes({ACL_INT32, ACL_INT4}), Strided("self", {1, 2}, 0, 6)}),
                  kInvalid,
                  {"dtype", "DT_INT4"},
                  {{Product::k950, {kInvalid, {{"self", "[1, 2]", "DT_INT4"}}}}}});
}

// Elements of 4 bits must be contiguous in whole bytes.
void AddPackedRows(std::vector<Row>& rows) {
  for (const std::string& tensor : kTensors) {
    Row row{tensor + " of FLOAT4, not dense",
            All({Dtypes(tensor == "self" ? std::vector<DtypeNumber>{ACL_FLOAT4_E2M1, ACL_FLOAT}
                                         : std::vector<DtypeNumber>{ACL_FLOAT, ACL_FLOAT4_E2M1}),
                 Strided(tensor, {1, 2}, 0, 6)}),
            kInvalid,
            {"DT_FLOAT4_E2M1"},
            {{Product::k950, {kInnerNullptr, {{tensor, "even element"}}}}}};
    rows.push_back(row);
  }
}

void AddShapeRows(std::vector<Row>& rows) {
  for (const Shape& out :
       {Shape{3}, Shape{3, 2}, Shape{1, 2, 3}, Shape{6}, Shape{}, Shape{2, 1}, Shape{0, 3}})
    rows.push_back(
        {"out " + ToString(out), ShapeOf("out", out), kInvalid, {"out", ToString(out), "[2, 3]"}, {}});
  rows.push_back({"empty", AllShapes({2, 0, 3}), kOk, {}, {}});
  for (size_t rank = 0; rank <= 8; ++rank)
    rows.push_back({"rank " + std::to_string(rank), AllShapes(Shape(rank, 2)), kOk, {}, {}});
  rows.push_back({"rank 9", AllShapes(Shape(9, 1)), kInvalid, {"self", "9", "8"}, {}});
}

const ContractDescription& Cast() {
  static const ContractDescription description = [] {
    ContractDescription op;
    op.binding = BindCast();
    op.binding.may_need_workspace = [](std::span<const Shape>) {
      return true;
    };  // to and from codes of 4 bits
    op.rows.push_back({"the valid call", Nothing(), kOk, {}, {}});
    AddNullRows(op.rows, kTensors);
    AddDtypeRows(op.rows);
    AddPackedRows(op.rows);
    AddShapeRows(op.rows);
    AddDimRows(op.rows, kTensors);
    AddViewRows(op.rows, {"self"}, "out");
    AddFormatRows(op.rows, kTensors);
    op.faults = {
        {"workspaceSize null", [](CallSpec& c) { c.null_workspace_size = true; }, kNullptr, "workspaceSize"},
        {"self null", Null("self"), kNullptr, "self"},
        {"out null", Null("out"), kNullptr, "out"},
        {"self's type", Dtype("self", ACL_INT4), kInvalid, "DT_INT4"},
        {"dtype", ToDtype(ACL_UINT1), kInvalid, "DT_UINT1"},
        {"self's rank", Rank("self", 9), kInvalid, "9"},
        {"out's shape", LastDim("out", 50001), kInvalid, "50001"},
        {"self's view leaves its storage", OutsideItsStorage("self"), kInnerNullptr, "storage"},
        {"out's type", All({Dtype("out", ACL_INT16), ToDtype(ACL_FLOAT)}), kInnerNullptr, "DT_INT16"},
    };
    return op;
  }();
  return description;
}

PORTACL_CONTRACT_TESTS(CastContract, Cast());

}  // namespace
}  // namespace portacl::testing
