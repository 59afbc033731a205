// A product that goes through one more operation.
// SPDX-License-Identifier: Apache-2.0
#include "../moe/moe_calls.h"

#include "aclnnop/families/matmul.h"

namespace portacl::testing {
namespace {

const std::vector<std::string> kTypes = {"", "16cast32", "add", "mul", "gelu_erf", "gelu_tanh", "relu"};

std::string TypeOf(const PlanCall& call) { return call["fusedOpType"].null ? "" : call["fusedOpType"].text; }
bool HasOther(const PlanCall& call) { return TypeOf(call) == "add" || TypeOf(call) == "mul"; }
bool IsGelu(const PlanCall& call) { return TypeOf(call) == "gelu_erf" || TypeOf(call) == "gelu_tanh"; }

std::optional<Shape> ResultOf(const Shape& left, const Shape& right) {
  Shape result = left;
  for (size_t dim = 0; dim + 2 < left.size(); ++dim) {
    if (left[dim] != right[dim] && left[dim] != 1 && right[dim] != 1) return std::nullopt;
    result[dim] = left[dim] == 1 ? right[dim] : left[dim];
  }
  result.back() = right.back();
  return result;
}

OperatorSpec Fused() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnFusedMatmul);
  op.valid = {TensorArg("x1", {2, 3}, ACL_FLOAT16), TensorArg("x2", {3, 4}, ACL_FLOAT16),
              TensorArg("bias", {4}, ACL_FLOAT16),  TensorArg("x3", {2, 4}, ACL_FLOAT16),
              TextArg("fusedOpType", "add"),        IntegerArg("cubeMathType", 0),
              OutputArg("y", {2, 4}, ACL_FLOAT16)};
  op.takes_workspace = true;
  op.numbers_on = Product::k950;
  op.is_inexact = true;
  op.tolerance = 1e-2;
  op.rules = {NoNulls("x1 x2 y"),
              Refuses(161001, "x3", [](PlanCall& call) { return HasOther(call) && call["x3"].null; }),
              Refuses(161001, "bias", [](PlanCall& call) { return IsGelu(call) && !call["bias"].null; }),
              Refuses(161002, "",
                      [](PlanCall& call) {
                        const DtypeNumber x = call["x1"].dtype;
                        const std::string type = TypeOf(call);
                        if (!IsOn950(call) || std::count(kRowDtypes.begin(), kRowDtypes.end(), x) == 0)
                          return true;
                        if (call["x2"].dtype != x || (HasOther(call) && call["x3"].dtype != x)) return true;
                        const PlanArgument& bias = call["bias"];
                        if (!bias.null && bias.dtype != x && bias.dtype != ACL_FLOAT) return true;
                        if (call["y"].dtype != (type == "16cast32" ? DtypeNumber{ACL_FLOAT} : x)) return true;
                        const int64_t mode = call["cubeMathType"].integer;
                        if (mode < 0 || mode > 3) return true;
                        if (x == ACL_FLOAT && (type == "16cast32" || IsGelu(call) || mode != 3)) return true;
                        if (std::count(kTypes.begin(), kTypes.end(), type) == 0) return true;
                        const size_t most = type.empty() || type == "relu" ? 6 : HasOther(call) ? 3 : 2;
                        const Shape& left = call["x1"].shape;
                        const Shape& right = call["x2"].shape;
                        if (left.size() < 2 || left.size() > most || right.size() != left.size()) return true;
                        if (right[right.size() - 2] != left.back()) return true;
                        const auto result = ResultOf(left, right);
                        if (!result || call["y"].shape != *result) return true;
                        if (!bias.null && bias.shape != Shape{right.back()}) return true;
                        return HasOther(call) && call["x3"].shape != *result;
                      }),
              DoneIfEmpty("y")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const std::string type = kTypes[static_cast<size_t>(random.Below(std::ssize(kTypes)))];
    const bool is_float = random.Chance(25) && type != "16cast32" && type.find("gelu") == std::string::npos;
    const DtypeNumber dtype = is_float            ? DtypeNumber{ACL_FLOAT}
                              : random.Chance(50) ? DtypeNumber{ACL_FLOAT16}
                                                  : DtypeNumber{ACL_BF16};
    call["fusedOpType"].text = type;
    call["fusedOpType"].null = type.empty() && random.Chance(50);
    call["cubeMathType"].integer = is_float ? 3 : random.Between(0, 3);
    const int64_t most = type.empty() || type == "relu" ? 5 : HasOther(call) ? 3 : 2;
    Shape left, right;
    for (int64_t dim = random.Between(2, most); dim > 2; --dim) {
      const int64_t length = random.Between(1, 3);
      left.push_back(random.Chance(25) ? 1 : length);
      right.push_back(random.Chance(25) ? 1 : length);
    }
    const int64_t terms = random.Between(1, random.Chance(15) ? 90 : 9);
    for (const int64_t length : {random.Between(1, 9), terms}) left.push_back(length);
    for (const int64_t length : {terms, random.Between(1, random.Chance(15) ? 90 : 9)})
      right.push_back(length);
    call["x1"].shape = left;
    call["x2"].shape = right;
    call["x3"].shape = call["y"].shape = *ResultOf(left, right);
    for (const char* name : {"x1", "x2", "x3", "y"}) call[name].dtype = dtype;
    if (type == "16cast32") call["y"].dtype = ACL_FLOAT;
    call["x3"].null = !HasOther(call) && random.Chance(50);
    call["bias"].shape = {right.back()};
    call["bias"].dtype = random.Chance(50) ? dtype : DtypeNumber{ACL_FLOAT};
    call["bias"].null = IsGelu(call) || random.Chance(40);
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    const auto arguments = TensorsOf(call);
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (arguments[i]->null || arguments[i]->is_output) continue;
      for (int64_t k = 0; k < tensors[i].size(); ++k)
        tensors[i].Set(k, static_cast<double>(random.Between(-64, 64)) / 128);
    }
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x1(call, tensors, "x1"), x2(call, tensors, "x2"), x3(call, tensors, "x3"),
        bias(call, tensors, "bias");
    const Shape& y = call["y"].shape;
    const std::string type = TypeOf(call);
    std::vector<double> out;
    for (int64_t i = 0; i < NumElements(y); ++i) {
      const std::vector<int64_t> at = IndexAt(y, i);
      const auto place = [&](const Shape& shape, int64_t row, int64_t column) {
        std::vector<int64_t> index = at;
        for (size_t dim = 0; dim + 2 < shape.size(); ++dim) index[dim] = shape[dim] == 1 ? 0 : at[dim];
        index[shape.size() - 2] = row;
        index[shape.size() - 1] = column;
        return PositionOf(shape, index);
      };
      const int64_t row = at[at.size() - 2];
      const int64_t column = at.back();
      double sum = bias.is_given() ? bias[column] : 0;
      for (int64_t k = 0; k < x1.shape().back(); ++k)
        sum += x1[place(x1.shape(), row, k)] * x2[place(x2.shape(), k, column)];
      if (type == "add") sum += x3[i];
      if (type == "mul") sum *= x3[i];
      if (type == "relu") sum = std::max(sum, 0.0);
      if (type == "gelu_erf") sum *= std::erfc(-sum / std::sqrt(2.0)) / 2;
      if (type == "gelu_tanh")
        sum *= (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (sum + 0.044715 * sum * sum * sum))) / 2;
      out.push_back(sum);
    }
    return std::vector<Outcome>{EncodedAll(call["y"].dtype, out)};
  };
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {Fused()};
  return all;
}

PORTACL_OPERATOR_TESTS(FusedProducts, Operators());

}  // namespace
}  // namespace portacl::testing
