// aclnnKlDivTargetBackward's contract: what phase 1 answers to every kind of wrong call, in which order, on every
// product. Four products accept no data type at all.
// SPDX-License-Identifier: Apache-2.0
#include "operators/kl_div_target_backward.h"

#include <algorithm>

#include "support/contract_rows.h"
#include "support/contract_suite.h"

namespace portacl::testing {
namespace {

const std::vector<std::string> kTensors = {"gradOutput", "self", "target", "gradTarget"};
const std::vector<std::string> kInputs = {"gradOutput", "self", "target"};
const std::vector<Product> kWithoutAnyType = {Product::k310B, Product::k310P, Product::k910,
                                              Product::kNoDevice};

void AddDtypeRows(std::vector<Row>& rows) {
  const std::vector<DtypeNumber> listed = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  const auto is_listed = [&](DtypeNumber dtype) {
    return std::find(listed.begin(), listed.end(), dtype) != listed.end();
  };
  for (const DtypeNumber g : listed) {
    for (const DtypeNumber x : listed) {
      for (const DtypeNumber y : listed) {
        for (const DtypeNumber out : listed) {
          rows.push_back(
              {"mix " + DtypeName(g) + " " + DtypeName(x) + " " + DtypeName(y) + " " + DtypeName(out),
               Dtypes({g, x, y, out}),
               y == out ? kOk : kInvalid,
               {"gradTarget", "target", DtypeName(y), DtypeName(out)},
               {}});
        }
      }
    }
  }
  for (const DtypeNumber dtype : AllDtypes()) {
    if (is_listed(dtype)) {
      continue;
    }
    for (const std::string& tensor : kTensors) {
      for (const bool empty : {false, true}) {
        rows.push_back({tensor + " " + DtypeName(dtype) + (empty ? ", empty" : ""),
                        All({AllShapes({empty ? 0 : 2, 3}), Dtype(tensor, dtype)}),
                        kInvalid,
                        {tensor, DtypeName(dtype)},
                        {}});
      }
    }
    rows.push_back({"target and gradTarget " + DtypeName(dtype),
                    All({Dtype("target", dtype), Dtype("gradTarget", dtype)}),
                    kInvalid,
                    {DtypeName(dtype)},
                    {}});
  }
}

void AddShapeRows(std::vector<Row>& rows) {
  const auto accepted = [&](const std::string& name, std::vector<Shape> shapes) {
    rows.push_back({name, Shapes(std::move(shapes)), kOk, {}, {}});
  };
  const auto refused = [&](const std::string& name, std::vector<Shape> shapes,
                           std::vector<std::string> says) {
    rows.push_back({name, Shapes(std::move(shapes)), kInvalid, std::move(says), {}});
  };
  accepted("self broadcast onto target", {{2, 3}, {3}, {2, 3}, {2, 3}});
  accepted("target broadcast onto self, rows", {{2, 3}, {2, 3}, {2, 1}, {2, 1}});
  accepted("target broadcast onto self, columns", {{2, 3}, {2, 3}, {1, 3}, {1, 3}});
  accepted("target without a leading dim", {{2, 3}, {2, 3}, {3}, {3}});
  accepted("both broadcast", {{4, 2, 3}, {4, 1, 3}, {2, 1}, {2, 1}});
  accepted("scalar target", {{}, {2, 3}, {}, {}});
  accepted("scalar gradOutput", {{}, {2, 3}, {2, 3}, {2, 3}});
  refused("gradOutput larger", {{4, 2, 3}, {2, 3}, {2, 3}, {2, 3}}, {"gradOutput", "[4, 2, 3]", "[2, 3]"});
  refused("gradOutput with a leading 1", {{1, 2, 3}, {2, 3}, {2, 3}, {2, 3}},
          {"gradOutput", "[1, 2, 3]", "[2, 3]"});
  refused("gradOutput against R", {{2, 5}, {2, 3}, {2, 3}, {2, 3}}, {"gradOutput", "[2, 5]", "[2, 3]"});
  refused("self against target", {{2, 3}, {2, 3}, {2, 4}, {2, 4}}, {"self", "target", "[2, 3]", "[2, 4]"});
  refused("gradTarget of R's shape", {{2, 3}, {2, 3}, {1, 3}, {2, 3}}, {"gradTarget", "[2, 3]", "[1, 3]"});
  for (const Shape& shape :
       {Shape{3}, Shape{3, 2}, Shape{1, 2, 3}, Shape{6}, Shape{}, Shape{1, 3}, Shape{0, 3}}) {
    rows.push_back({"gradTarget " + ToString(shape),
                    ShapeOf("gradTarget", shape),
                    kInvalid,
                    {"gradTarget", ToString(shape), "[2, 3]"},
                    {}});
  }
  accepted("all empty", {{2, 0}, {2, 0}, {2, 0}, {2, 0}});
  accepted("self empty, target not", {{0}, {0}, {1}, {1}});
  accepted("self empty in one axis", {{}, {0, 3}, {3}, {3}});
  accepted("target empty, self not", {{0}, {1}, {0}, {0}});
  accepted("target empty in one axis", {{}, {2, 1}, {0}, {0}});
  refused("empty, gradTarget not", {{0}, {0}, {0}, {1}}, {"gradTarget", "[1]", "[0]"});
  // An empty self ends the call before views are checked; an empty target does not.
  for (const std::string& tensor : kInputs) {
    rows.push_back({tensor + " outside its storage, self empty",
                    All({AllShapes({2, 0}), Strided(tensor, {100, 7}, -5, 1)}),
                    kOk,
                    {},
                    {}});
  }
  rows.push_back({"self outside its storage, target empty",
                  All({Shapes({{}, {2, 1}, {0}, {0}}), Strided("self", {100, 7}, 0, 1)}),
                  kInnerNullptr,
                  {"self"},
                  {}});
  for (const int64_t reduction : {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{3}, int64_t{-1}, int64_t{4},
                                  int64_t{6}, int64_t{1} << 32, kMin, kMax}) {
    for (const bool log_target : {false, true}) {
      rows.push_back({"reduction " + std::to_string(reduction),
                      [=](CallSpec& call) {
                        call.attributes.reduction = reduction;
                        call.attributes.log_target = log_target;
                      },
                      kOk,
                      {},
                      {}});
    }
  }
}

void AddFormatRuleRows(std::vector<Row>& rows) {
  for (const std::string& tensor : kTensors) {
    for (const int32_t format : {3, 4, 12, 29, 32, 33, 50, 51, 52, 53, 54}) {
      for (const bool empty : {false, true}) {
        rows.push_back({tensor + " in private format " + std::to_string(format) + (empty ? ", empty" : ""),
                        All({AllShapes({empty ? 0 : 2, 3}), Format(tensor, format)}),
                        kInvalid,
                        {tensor, "format"},
                        {}});
      }
    }
    for (const int32_t format : {-1, 0, 1, 2, 16, 27, 30, 35, 47, 5, 55, 1000}) {
      rows.push_back({tensor + " in format " + std::to_string(format), Format(tensor, format), kOk, {}, {}});
    }
  }
}

// Products without any dtype check pointers first, then nothing but the dtypes.
void RefuseEveryType(std::vector<Row>& rows) {
  for (Row& row : rows) {
    if (row.code != kNullptr) {
      row.elsewhere = On(kWithoutAnyType, Answer{kInvalid, std::vector<std::string>{}});
    }
  }
}

const ContractDescription& KlDivTargetBackward() {
  static const ContractDescription description = [] {
    ContractDescription op;
    op.binding = DescribeKlDivTargetBackward().binding;
    op.rows.push_back({"the valid call", Nothing(), kOk, {}, {}});
    AddNullRows(op.rows, kTensors);
    AddDtypeRows(op.rows);
    AddRankRows(op.rows, kTensors);
    AddShapeRows(op.rows);
    AddDimRows(op.rows, kTensors);
    AddViewRows(op.rows, kInputs, "gradTarget");
    AddFormatRuleRows(op.rows);
    RefuseEveryType(op.rows);

    // Faults in the order of the checks. Any of the deviations can be combined, except that gradTarget has
    // only one dtype.
    op.faults = {
        {"workspaceSize null", [](CallSpec& c) { c.null_workspace_size = true; }, kNullptr, "workspaceSize"},
        {"gradOutput null", Null("gradOutput"), kNullptr, "gradOutput"},
        {"self null", Null("self"), kNullptr, "self"},
        {"target null", Null("target"), kNullptr, "target"},
        {"gradTarget null", Null("gradTarget"), kNullptr, "gradTarget"},
        {"self does not cast to gradTarget", Dtype("gradTarget", ACL_INT16), kInvalid, "DT_INT16"},
        {"gradOutput's type", Dtype("gradOutput", ACL_INT32), kInvalid, "DT_INT32"},
        {"self's type", Dtype("self", ACL_DOUBLE), kInvalid, "DT_DOUBLE"},
        {"target's type", Dtype("target", ACL_UINT64), kInvalid, "DT_UINT64"},
        {"gradTarget's type", Dtype("gradTarget", ACL_COMPLEX64), kInvalid, "DT_COMPLEX64"},
        {"gradTarget's type is not target's", Dtype("gradTarget", ACL_FLOAT16), kInvalid, "DT_FLOAT16"},
        {"gradOutput's rank", Rank("gradOutput", 9), kInvalid, "9"},
        {"self's rank", Rank("self", 10), kInvalid, "10"},
        {"target's rank", Rank("target", 11), kInvalid, "11"},
        {"gradTarget's rank", Rank("gradTarget", 12), kInvalid, "12"},
        {"self and target do not broadcast", LastDim("self", 70001), kInvalid, "70001"},
        {"gradOutput does not broadcast", LastDim("gradOutput", 50001), kInvalid, "50001"},
        {"gradTarget's shape", LastDim("gradTarget", 90001), kInvalid, "90001"},
        {"a private format", Format("self", ACL_FORMAT_FRACTAL_NZ), kInvalid, "FRACTAL_NZ"},
        {"target's view leaves its storage", OutsideItsStorage("target"), kInnerNullptr, "target"},
    };
    return op;
  }();
  return description;
}

PORTACL_CONTRACT_TESTS(KlDivTargetBackwardContract, KlDivTargetBackward());

}  // namespace
}  // namespace portacl::testing
