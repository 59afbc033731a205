// aclnnL1LossBackward's contract: what phase 1 answers to every kind of wrong call, in which order, on every
// product.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "operators/l1_loss_backward.h"
#include "support/contract_rows.h"
#include "support/contract_suite.h"

namespace portacl::testing {
namespace {

const std::vector<std::string> kTensors = {"gradOutput", "self", "target", "gradInput"};
const std::vector<std::string> kInputs = {"gradOutput", "self", "target"};

// Products whose list of types is float32 and float16 only.
const std::vector<Product> kWithoutBfloat16 = {Product::k310B, Product::k310P, Product::k910,
                                               Product::kNoDevice};

void AddReductionRows(std::vector<Row>& rows) {
  for (const int64_t reduction : {0, 1, 2}) {
    rows.push_back({"reduction " + std::to_string(reduction), Reduction(reduction), kOk, {}, {}});
  }
  for (const int64_t reduction :
       {int64_t{-1}, int64_t{3}, int64_t{4}, int64_t{1} << 32, (int64_t{1} << 32) + 1, kMin, kMax}) {
    rows.push_back({"reduction " + std::to_string(reduction),
                    Reduction(reduction),
                    kInvalid,
                    {"reduction", std::to_string(reduction), "0", "2"},
                    {}});
  }
  rows.push_back(
      {"reduction wrong, tensors empty", All({AllShapes({0}), Reduction(3)}), kInvalid, {"reduction"}, {}});
}

void AddDtypeRows(std::vector<Row>& rows) {
  // bfloat16 results need a product that has the dtype.
  const auto refused = On(kWithoutBfloat16, kInvalid);
  const std::vector<std::string> list = {"DT_BF16", "DT_FLOAT", "DT_FLOAT16"};
  rows.push_back({"all bf16", Dtypes({ACL_BF16, ACL_BF16, ACL_BF16, ACL_BF16}), kOk, list, refused});
  rows.push_back({"bf16 into f32", Dtypes({ACL_BF16, ACL_BF16, ACL_BF16, ACL_FLOAT}), kOk, list, refused});
  for (const DtypeNumber narrow : {ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_BOOL}) {
    rows.push_back(
        {"bf16 with " + DtypeName(narrow), Dtypes({ACL_BF16, narrow, ACL_BF16}), kOk, list, refused});
  }
  // An input of bfloat16 that promotes to float32 is fine everywhere, and so is an output.
  for (const std::string& tensor : kTensors) {
    rows.push_back({tensor + " bf16 among f32", Dtype(tensor, ACL_BF16), kOk, {}, {}});
  }
  rows.push_back({"bf16 with f16 is f32", Dtypes({ACL_BF16, ACL_FLOAT16, ACL_BF16}), kOk, {}, {}});
  rows.push_back({"f16 into bf16", Dtypes({ACL_FLOAT16, ACL_FLOAT16, ACL_FLOAT16, ACL_BF16}), kOk, {}, {}});

  // Integers and bool, as long as the common type is in the list.
  for (const DtypeNumber narrow : {ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_BOOL}) {
    for (const std::string& tensor : kInputs) {
      rows.push_back({tensor + " " + DtypeName(narrow) + " among f32", Dtype(tensor, narrow), kOk, {}, {}});
      rows.push_back(
          {tensor + " " + DtypeName(narrow) + " among f16",
           All({Dtypes({ACL_FLOAT16, ACL_FLOAT16, ACL_FLOAT16, ACL_FLOAT16}), Dtype(tensor, narrow)}),
           kOk,
           {},
           {}});
    }
    rows.push_back({"all inputs " + DtypeName(narrow),
                    Dtypes({narrow, narrow, narrow}),
                    kInvalid,
                    {DtypeName(narrow), "DT_FLOAT", "DT_FLOAT16"},
                    {}});
    // gradInput of an integer type: a floating result cannot be cast to it.
    rows.push_back({"gradInput " + DtypeName(narrow),
                    Dtype("gradInput", narrow),
                    kInvalid,
                    {"gradInput", DtypeName(narrow), "DT_FLOAT"},
                    {}});
  }
  for (const DtypeNumber wide : {ACL_UINT16, ACL_UINT32, ACL_UINT64}) {
    rows.push_back({"gradInput " + DtypeName(wide),
                    Dtype("gradInput", wide),
                    kInvalid,
                    {"gradInput", DtypeName(wide)},
                    {}});
    rows.push_back(
        {"all inputs " + DtypeName(wide), Dtypes({wide, wide, wide}), kInvalid, {DtypeName(wide)}, {}});
    rows.push_back({"gradOutput " + DtypeName(wide),
                    Dtype("gradOutput", wide),
                    kInvalid,
                    {"gradOutput", "self", DtypeName(wide), "DT_FLOAT"},
                    {}});
    rows.push_back({"self " + DtypeName(wide),
                    Dtype("self", wide),
                    kInvalid,
                    {"gradOutput", "self", DtypeName(wide), "DT_FLOAT"},
                    {}});
    rows.push_back({"target " + DtypeName(wide),
                    Dtype("target", wide),
                    kInvalid,
                    {"target", DtypeName(wide), "DT_FLOAT"},
                    {}});
  }
  // The third dtype is promoted as first argument, where CANN's table is not symmetric: uint16 with complex64
  // is complex64, complex64 with uint16 is undefined. The message names the common dtype, which no tensor
  // has.
  rows.push_back({"target uint16 with what promotes to complex64",
                  Dtypes({ACL_FLOAT, ACL_COMPLEX32, ACL_UINT16, ACL_COMPLEX128}),
                  kInvalid,
                  {"DT_COMPLEX64"},
                  {}});
  rows.push_back(
      {"int8, uint8 and bool", Dtypes({ACL_INT8, ACL_UINT8, ACL_BOOL}), kInvalid, {"DT_INT16"}, {}});

  // float64 and complex inputs promote, but not into the list. Complex does not cast to a real gradInput.
  for (const std::string& tensor : kInputs) {
    rows.push_back(
        {tensor + " f64", Dtype(tensor, ACL_DOUBLE), kInvalid, {"DT_DOUBLE", "DT_FLOAT", "DT_FLOAT16"}, {}});
    for (const DtypeNumber complex : {ACL_COMPLEX64, ACL_COMPLEX128, ACL_COMPLEX32}) {
      const DtypeNumber promoted = PromoteDtypes(complex, ACL_FLOAT);
      rows.push_back(
          {tensor + " " + DtypeName(complex), Dtype(tensor, complex), kInvalid, {DtypeName(promoted)}, {}});
      rows.push_back({tensor + " " + DtypeName(complex) + " into c128",
                      All({Dtype(tensor, complex), Dtype("gradInput", ACL_COMPLEX128)}),
                      kInvalid,
                      {DtypeName(promoted)},
                      {}});
    }
    for (const DtypeNumber odd : {ACL_STRING, ACL_INT4, ACL_UINT1}) {
      rows.push_back(
          {tensor + " " + DtypeName(odd), Dtype(tensor, odd), kInvalid, {tensor, DtypeName(odd)}, {}});
    }
    // Numbers that are no dtype, alone and in all inputs.
    for (const DtypeNumber unknown : {5, 14, 15, 18, 26, 28, 31, 32, 42, 99, 1000, -1, -2}) {
      rows.push_back(
          {tensor + " dtype " + std::to_string(unknown), Dtype(tensor, unknown), kInvalid, {tensor}, {}});
      rows.push_back({"all inputs dtype " + std::to_string(unknown),
                      Dtypes({unknown, unknown, unknown}),
                      kInvalid,
                      {},
                      {}});
    }
  }
  // The dtypes from hifloat8 on have no entries in CANN's table: with any other dtype they promote to
  // float32. Only the missing conversion refuses the call, after the exit for empty tensors.
  for (DtypeNumber tiny = ACL_HIFLOAT8; tiny <= ACL_FLOAT4_E1M2; ++tiny) {
    const std::string name = DtypeName(tiny);
    for (const std::string& tensor : kInputs) {
      rows.push_back(
          {tensor + " " + name + " among f32", Dtype(tensor, tiny), kInnerNullptr, {tensor, name}, {}});
      rows.push_back({tensor + " " + name + " among f32, empty",
                      All({Dtype(tensor, tiny), AllShapes({0, 3})}),
                      kOk,
                      {},
                      {}});
    }
    rows.push_back({"gradOutput " + name + " with int32 self",
                    Dtypes({tiny, ACL_INT32, ACL_FLOAT}),
                    kInnerNullptr,
                    {"gradOutput", name},
                    {}});
    rows.push_back(
        {"gradOutput " + name + " hides f64", Dtypes({tiny, ACL_DOUBLE, ACL_FLOAT}), kInnerNullptr, {}, {}});
    rows.push_back(
        {"self " + name + " hides uint16", Dtypes({ACL_UINT16, tiny, ACL_FLOAT}), kInnerNullptr, {}, {}});
    rows.push_back({"all inputs " + name, Dtypes({tiny, tiny, tiny}), kInvalid, {name}, {}});
    rows.push_back({"gradInput " + name, Dtype("gradInput", tiny), kInnerNullptr, {"gradInput", name}, {}});
    rows.push_back(
        {"gradInput " + name + ", empty", All({Dtype("gradInput", tiny), AllShapes({0})}), kOk, {}, {}});
  }
  // Accepted dtypes of gradInput.
  for (const DtypeNumber wide :
       {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_COMPLEX64, ACL_COMPLEX128}) {
    rows.push_back({"gradInput " + DtypeName(wide), Dtype("gradInput", wide), kOk, {}, {}});
    rows.push_back(
        {"f16 into " + DtypeName(wide), Dtypes({ACL_FLOAT16, ACL_FLOAT16, ACL_FLOAT16, wide}), kOk, {}, {}});
  }
  for (const DtypeNumber odd : {ACL_COMPLEX32, ACL_STRING, ACL_INT4, ACL_UINT1}) {
    rows.push_back({"gradInput " + DtypeName(odd),
                    Dtype("gradInput", odd),
                    kInnerNullptr,
                    {"gradInput", DtypeName(odd)},
                    {}});
    rows.push_back({"gradInput " + DtypeName(odd) + ", empty",
                    All({Dtype("gradInput", odd), AllShapes({0})}),
                    kOk,
                    {},
                    {}});
  }
  // Numbers that are no dtype: no rule of castability excludes them, and no conversion exists.
  for (const DtypeNumber unknown : {5, 14, 18, 28, 31, 99, -1}) {
    rows.push_back({"gradInput dtype " + std::to_string(unknown),
                    Dtype("gradInput", unknown),
                    kInnerNullptr,
                    {"gradInput"},
                    {}});
  }
  rows.push_back({"empty tensors of a wrong type",
                  All({AllShapes({0}), Dtype("self", ACL_DOUBLE)}),
                  kInvalid,
                  {"DT_DOUBLE"},
                  {}});
  rows.push_back({"empty tensors, gradInput int32",
                  All({AllShapes({0}), Dtype("gradInput", ACL_INT32)}),
                  kInvalid,
                  {"gradInput", "DT_INT32"},
                  {}});
}

void AddShapeRows(std::vector<Row>& rows) {
  AddGradientShapeRows(rows, kTensors);
  rows.push_back({"gradInput of rank 8",
                  Rank("gradInput", 8),
                  kInvalid,
                  {"gradInput", "[1, 1, 1, 1, 1, 1, 2, 3]", "[2, 3]"},
                  {}});
  rows.push_back({"rank 9 everywhere", AllShapes(Shape(9, 1)), kInvalid, {"self", "9", "8"}, {}});
  rows.push_back(
      {"rank 9 everywhere, empty", AllShapes({1, 1, 1, 1, 1, 1, 1, 1, 0}), kInvalid, {"self", "9", "8"}, {}});
  // One empty input ends the call before a missing conversion refuses it.
  for (const std::string& tensor : kInputs) {
    rows.push_back({tensor + " alone empty, gradInput DT_COMPLEX32",
                    All({AllShapes({1}), ShapeOf(tensor, {0}), ShapeOf("gradInput", {0}),
                         Dtype("gradInput", ACL_COMPLEX32)}),
                    kOk,
                    {},
                    {}});
  }
  // Inputs of 2^63 bytes, a result of half as many.
  rows.push_back({"2^61 elements of four bytes",
                  All({AllShapes({int64_t{1} << 61}), Dtype("gradInput", ACL_FLOAT16)}),
                  kInvalid,
                  {"gradOutput", "[2305843009213693952]"},
                  {}});
}

void AddOwnViewRows(std::vector<Row>& rows) {
  for (const std::string& tensor : kInputs) {
    rows.push_back({tensor + " with a free stride on a dim of 1",
                    All({ShapeOf(tensor, {1, 3}), Strided(tensor, {999, 1}, 0, 3)}),
                    kOk,
                    {},
                    {}});
    rows.push_back({tensor + " with a free stride on a dim of 1, dense over a smaller storage",
                    All({ShapeOf(tensor, {1, 3}), Strided(tensor, {999, 1}, 0, 1)}),
                    kOk,
                    {},
                    {}});
    rows.push_back({tensor + " of one element, offset outside",
                    All({ShapeOf(tensor, {1, 1}), Strided(tensor, {-5, 7}, 1000, 1)}),
                    kOk,
                    {},
                    {}});
    // An empty call ends before views are checked.
    rows.push_back({tensor + " outside its storage, result empty",
                    All({AllShapes({2, 0}), ShapeOf(tensor, {2, 1}), Strided(tensor, {100, 1}, 0, 1)}),
                    kOk,
                    {},
                    {}});
  }
}

const ContractDescription& L1LossBackward() {
  static const ContractDescription description = [] {
    ContractDescription op;
    op.binding = DescribeL1LossBackward().binding;
    op.rows.push_back({"the valid call", Nothing(), kOk, {}, {}});
    AddNullRows(op.rows, kTensors);
    AddReductionRows(op.rows);
    AddDtypeRows(op.rows);
    AddShapeRows(op.rows);
    AddRankRows(op.rows, kTensors);
    AddDimRows(op.rows, kTensors);
    AddViewRows(op.rows, kInputs, "gradInput");
    AddOwnViewRows(op.rows);
    AddFormatRows(op.rows, kTensors);

    // Faults in the order of the checks. Any of the deviations can be combined.
    op.faults = {
        {"workspaceSize null", [](CallSpec& c) { c.null_workspace_size = true; }, kNullptr, "workspaceSize"},
        {"gradOutput null", Null("gradOutput"), kNullptr, "gradOutput"},
        {"self null", Null("self"), kNullptr, "self"},
        {"target null", Null("target"), kNullptr, "target"},
        {"gradInput null", Null("gradInput"), kNullptr, "gradInput"},
        {"reduction", Reduction(987654321012), kInvalid, "987654321012"},
        {"gradOutput and self do not promote", Dtype("gradOutput", ACL_UINT32), kInvalid, "DT_UINT32"},
        {"target does not promote", Dtype("target", ACL_UINT64), kInvalid, "DT_UINT64"},
        {"the result does not cast", Dtype("gradInput", ACL_INT16), kInvalid, "DT_INT16"},
        {"the common type is not supported", Dtype("self", ACL_DOUBLE), kInvalid, "DT_DOUBLE"},
        {"self's rank", Rank("self", 9), kInvalid, "9"},
        {"target's rank", Rank("target", 10), kInvalid, "10"},
        {"gradOutput's rank", Rank("gradOutput", 11), kInvalid, "11"},
        {"gradInput's rank", Rank("gradInput", 12), kInvalid, "12"},
        {"self and gradOutput do not broadcast", LastDim("gradOutput", 50001), kInvalid, "50001"},
        {"target does not broadcast", LastDim("target", 70001), kInvalid, "70001"},
        {"gradInput's shape", LastDim("gradInput", 90001), kInvalid, "90001"},
        {"self's view leaves its storage", OutsideItsStorage("self"), kInnerNullptr, "self"},
    };
    return op;
  }();
  return description;
}

PORTACL_CONTRACT_TESTS(L1LossBackwardContract, L1LossBackward());

// Every combination of dtypes for the three inputs and some for the output, against the tables.
TEST(L1LossBackwardTypes, EveryCombination) {
  for (const Product product : {Product::kA2, Product::k310P}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)}});
    ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
    const OperatorBinding& binding = L1LossBackward().binding;
    const std::vector<DtypeNumber> convertible = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16,  ACL_INT8, ACL_UINT8,
                                                  ACL_INT16, ACL_INT32,   ACL_INT64, ACL_BOOL};
    const auto is_convertible = [&](DtypeNumber dtype) {
      return std::find(convertible.begin(), convertible.end(), dtype) != convertible.end();
    };
    int wrong = 0;
    for (const DtypeNumber output : {ACL_FLOAT, ACL_BF16, ACL_COMPLEX64}) {
      for (const DtypeNumber g : AllDtypes()) {
        for (const DtypeNumber x : AllDtypes()) {
          for (const DtypeNumber y : AllDtypes()) {
            const DtypeNumber first = PromoteDtypes(g, x);
            const DtypeNumber promoted = first == kUndefinedDtype ? first : PromoteDtypes(y, first);
            const bool listed = promoted == ACL_FLOAT || promoted == ACL_FLOAT16 ||
                                (promoted == ACL_BF16 && product == Product::kA2);
            const aclnnStatus expected = !listed ? kInvalid
                                         : is_convertible(g) && is_convertible(x) && is_convertible(y)
                                             ? kOk
                                             : kInnerNullptr;
            CallSpec spec(binding.tensors);
            Dtypes({g, x, y, output})(spec);
            const BuiltCall call(spec, BuiltCall::Data::kForbidden);
            uint64_t size = 0;
            aclOpExecutor* executor = nullptr;
            const aclnnStatus found = binding.plan(call.handles(), {}, &size, &executor);
            if (found == 0) {
              aclDestroyAclOpExecutor(executor);
            } else {
              aclGetRecentErrMsg();
            }
            if (found != expected && ++wrong <= 10) {
              ADD_FAILURE() << ProductName(product) << ": " << DtypeName(g) << ", " << DtypeName(x) << ", "
                            << DtypeName(y) << " into " << DtypeName(output) << " gives " << found
                            << ", expected " << expected;
            }
          }
        }
      }
    }
    EXPECT_EQ(wrong, 0) << ProductName(product);
  }
}

// A full name without a digit is the older product, which lacks bfloat16 although its name resembles the
// newer one.
TEST(L1LossBackwardTypes, Ascend910BWithoutDigit) {
  for (const auto& [name, code] : {std::pair<const char*, aclnnStatus>{"Ascend910B", kInvalid},
                                   {"Ascend910ProB", kInvalid},
                                   {"Ascend910B4-1", kOk},
                                   {"Ascend950DT_9571", kOk},
                                   {"Ascend310", kInvalid}}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", name}});
    ASSERT_EQ(environment.init_status(), ACL_SUCCESS) << name;
    CallSpec spec(kTensors);
    Dtypes({ACL_BF16, ACL_BF16, ACL_BF16, ACL_BF16})(spec);
    CheckPlan(L1LossBackward().binding, spec, code, {"DT_BF16"}, name);
  }
}

}  // namespace
}  // namespace portacl::testing
