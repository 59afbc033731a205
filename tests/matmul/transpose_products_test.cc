// TransposeBatchMatMul: what phase 1 answers, every element against the definition, and sums as INT8.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "aclnnop/families/matmul.h"
#include "gtest/gtest.h"
#include "product_calls.h"
#include "support/contract_suite.h"
#include "support/environment.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

bool IsA2OrA3(const PlanCall& call) { return call.product == Product::kA2 || call.product == Product::kA3; }
bool IsMoved(const PlanCall& call) { return call["permX1"].values == std::vector<int64_t>{1, 0, 2}; }
bool IsSwapped(const PlanCall& call) { return call["permX2"].values == std::vector<int64_t>{0, 2, 1}; }
bool HasScale(const PlanCall& call) { return !call["scale"].null; }
bool IsOrder(const PlanCall& call, const char* name, std::initializer_list<std::vector<int64_t>> accepted) {
  return std::find(accepted.begin(), accepted.end(), call[name].values) != accepted.end();
}

struct Lengths {
  int64_t b, m, k, n;
};
Lengths LengthsOf(const PlanCall& call) {
  const Shape& left = call["x1"].shape;
  const Shape& right = call["x2"].shape;
  return {left[IsMoved(call) ? 1 : 0], left[IsMoved(call) ? 0 : 1], left[2], right[IsSwapped(call) ? 1 : 2]};
}

// The word of a scale and a whole offset.
uint64_t WordOf(float scale, int64_t offset) {
  uint32_t bits;
  std::memcpy(&bits, &scale, sizeof bits);
  return bits | uint64_t{1} << 46 | (static_cast<uint64_t>(offset) & 0x1FF) << 37;
}

OperatorSpec Transposed(bool has_scale) {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnTransposeBatchMatMul);
  op.valid = {
      TensorArg("x1", {2, 4, 3}),           TensorArg("x2", {4, 3, 5}),    TensorArg("bias", {5}),
      TensorArg("scale", {20}, ACL_UINT64), ArrayArg("permX1", {1, 0, 2}), ArrayArg("permX2", {0, 1, 2}),
      ArrayArg("permY", {1, 0, 2}),         IntegerArg("cubeMathType", 1), IntegerArg("batchSplitFactor", 1),
      OutputArg("out", {2, 4, 5})};
  op.valid[2].null = true;
  op.valid[3].null = !has_scale;
  if (has_scale) {
    op.valid[0].dtype = op.valid[1].dtype = ACL_FLOAT16;
    op.valid.back() = OutputArg("out", {2, 1, 20}, ACL_INT8);
  }
  op.takes_workspace = true;
  const auto takes = [](const PlanCall& call, DtypeNumber dtype) {
    return (IsA2OrA3(call) || call.product == Product::k950) &&
           (dtype == ACL_FLOAT || dtype == ACL_FLOAT16 || dtype == ACL_BF16);
  };
  op.rules = {
      NoNulls("x1 x2 out permX1 permX2 permY"),
      Ranks("x1 x2 out", 3, 3),
      Refuses(161002, "permX1 permX2 permY",
              [](PlanCall& call) {
                for (const char* name : {"permX1", "permX2", "permY"}) {
                  if (call[name].values.size() != 3) return true;
                }
                return false;
              }),
      TakesMode("x1 x2"),
      Refuses(161002, "batchSplitFactor",
              [](PlanCall& call) { return HasScale(call) && call["batchSplitFactor"].integer != 1; }),
      IsNoFractal("x1"),
      IsNoFractal("x2"),
      IsNoFractal("out"),
      Refuses(161002, "x1", [=](PlanCall& call) { return !takes(call, call["x1"].dtype); }),
      SameDtype("x1", "x2"),
      Refuses(161002, "x1", [](PlanCall& call) { return HasScale(call) && call["x1"].dtype != ACL_FLOAT16; }),
      Refuses(161002, "scale",
              [](PlanCall& call) {
                return HasScale(call) && call["scale"].dtype != ACL_UINT64 &&
                       call["scale"].dtype != ACL_INT64;
              }),
      Refuses(161002, "out",
              [](PlanCall& call) {
                const DtypeNumber dtype = call["out"].dtype;
                return HasScale(call) ? dtype != ACL_INT8 && dtype != ACL_FLOAT16
                                      : dtype != ACL_FLOAT && dtype != ACL_FLOAT16 && dtype != ACL_BF16;
              }),
      Refuses(161002, "permX1 permX2 permY",
              [](PlanCall& call) {
                return !IsOrder(call, "permX1", {{0, 1, 2}, {1, 0, 2}}) ||
                       !IsOrder(call, "permX2", {{0, 1, 2}, {0, 2, 1}}) ||
                       !IsOrder(call, "permY", {{1, 0, 2}});
              }),
      Refuses(161002, "x2",
              [](PlanCall& call) {
                const Lengths lengths = LengthsOf(call);
                const Shape& right = call["x2"].shape;
                return right[0] != lengths.b || right[IsSwapped(call) ? 2 : 1] != lengths.k;
              }),
      Refuses(161002, "x1 x2 permX2",
              [](PlanCall& call) {
                if (!IsA2OrA3(call)) return false;
                const Lengths lengths = LengthsOf(call);
                const bool is_plain = !HasScale(call) && call["batchSplitFactor"].integer == 1;
                constexpr int64_t kBelow = 65536;
                if (lengths.n >= kBelow || lengths.b >= kBelow) return true;
                if (IsSwapped(call) && !(IsMoved(call) && is_plain)) return true;
                if (IsMoved(call) && is_plain) return false;
                return lengths.k >= kBelow || (IsMoved(call) && lengths.b * lengths.k >= kBelow);
              }),
      Refuses(161002, "batchSplitFactor",
              [](PlanCall& call) {
                const int64_t parts = call["batchSplitFactor"].integer;
                return parts <= 0 || LengthsOf(call).b % parts != 0;
              }),
      Refuses(161002, "x1 x2",
              [](PlanCall& call) {
                return NumElements(call["x1"].shape) == 0 || NumElements(call["x2"].shape) == 0;
              }),
      Refuses(161002, "bias", [](PlanCall& call) { return !call["bias"].null; }),
      Refuses(161002, "scale out",
              [](PlanCall& call) {
                const auto [b, m, k, n] = LengthsOf(call);
                const int64_t parts = call["batchSplitFactor"].integer;
                const Shape& out = call["out"].shape;
                if (HasScale(call)) return call["scale"].shape != Shape{b * n} || out != Shape{m, 1, b * n};
                return out != (parts == 1 ? Shape{m, b, n} : Shape{parts, m, b * n / parts});
              }),
  };
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const bool quantises = HasScale(call);
    const int64_t parts = quantises || random.Chance(50) ? 1 : random.Between(1, 4);
    const int64_t m = DrawLength(random), n = DrawLength(random), k = DrawDepth(random);
    const int64_t b = parts * random.Between(1, 4);
    const bool is_moved = random.Chance(60);
    const bool is_swapped = is_moved && !quantises && parts == 1 && random.Chance(50);
    call["permX1"].values = is_moved ? std::vector<int64_t>{1, 0, 2} : std::vector<int64_t>{0, 1, 2};
    call["permX2"].values = is_swapped ? std::vector<int64_t>{0, 2, 1} : std::vector<int64_t>{0, 1, 2};
    call["batchSplitFactor"].integer = parts;
    call["x1"].shape = is_moved ? Shape{m, b, k} : Shape{b, m, k};
    call["x2"].shape = is_swapped ? Shape{b, n, k} : Shape{b, k, n};
    if (quantises) {
      call["scale"].shape = {b * n};
      call["scale"].dtype = random.Chance(50) ? ACL_UINT64 : ACL_INT64;
      call["out"].shape = {m, 1, b * n};
      call["out"].dtype = random.Chance(60) ? ACL_INT8 : ACL_FLOAT16;
      return;
    }
    call["out"].shape = parts == 1 ? Shape{m, b, n} : Shape{parts, m, b * n / parts};
    call["x1"].dtype = call["x2"].dtype = DrawDtype(random, kMatrixDtypes);
    call["out"].dtype = random.Chance(60) ? call["x1"].dtype : DrawDtype(random, kMatrixDtypes);
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    if (!HasScale(call)) return FillNumbers(call, tensors, random);
    for (const size_t place : {0, 1}) {
      for (int64_t i = 0; i < tensors[place].size(); ++i)
        EncodeElement(ACL_FLOAT16, static_cast<double>(random.Between(-4000, 4000)) / 1111,
                      tensors[place].Element(i));
    }
    if (random.Chance(20) && tensors[0].size() > 0)
      EncodeElement(ACL_FLOAT16, std::nan(""), tensors[0].Element(random.Below(tensors[0].size())));
    for (int64_t i = 0; i < tensors[3].size(); ++i) {
      const uint64_t word =
          WordOf(static_cast<float>(random.Between(-300, 300)) / 64.0f, random.Between(-256, 255));
      std::memcpy(tensors[3].Element(i), &word, sizeof word);
    }
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const FloatTensor left(tensors[0]);
    const FloatTensor right(tensors[1]);
    const auto [b, m, k, n] = LengthsOf(call);
    const int64_t together = b / call["batchSplitFactor"].integer;  // batches of a part
    const TensorValues& out = tensors.back();
    return std::vector<Outcome>{ForEachElement(out.shape, [&, k = k, n = n](Index& index) {
      // out[m, 1, b * n] and [parts, m, b * n / parts] count batches in their last dim, [m, b, n] in the one before.
      const bool is_plain = !HasScale(call) && call["batchSplitFactor"].integer == 1;
      const bool has_parts = !HasScale(call) && !is_plain;
      const int64_t row = index[has_parts ? 1 : 0];
      const int64_t column = index[2] % n;
      const int64_t batch = is_plain    ? index[1]
                            : has_parts ? index[0] * together + index[2] / n
                                        : index[2] / n;
      BlockedSum sum = SumOf(left, right);
      for (int64_t t = 0; t < k; ++t)
        sum.AddTerm(left.At(IsMoved(call) ? Index{row, batch, t} : Index{batch, row, t}),
                    right.At(IsSwapped(call) ? Index{batch, column, t} : Index{batch, t, column}));
      float value = sum.Result();
      if (!HasScale(call)) return std::optional<Element>(Rounded(out.dtype, value));
      uint64_t word;
      std::memcpy(&word, tensors[3].elements[static_cast<size_t>(index[2])].data(), sizeof word);
      const auto low = static_cast<uint32_t>(word);
      float scale;
      std::memcpy(&scale, &low, sizeof scale);
      const auto offset = static_cast<int64_t>(word >> 37 & 0x1FF);
      value = value * scale;
      if (out.dtype == ACL_FLOAT16) return std::optional<Element>(Rounded(ACL_FLOAT16, value));
      value = value + static_cast<float>(offset > 255 ? offset - 512 : offset);
      Element code(1);
      if (!std::isnan(value))
        EncodeIntegerElement(ACL_INT8,
                             static_cast<int64_t>(std::nearbyint(std::min(127.0f, std::max(-128.0f, value)))),
                             code.data());
      return std::optional<Element>(code);
    })};
  };
  op.is_inexact = true;
  return op;
}

const std::vector<OperatorSpec>& Plain() {
  static const std::vector<OperatorSpec> all = {Transposed(false)};
  return all;
}
const std::vector<OperatorSpec>& ToCodes() {
  static const std::vector<OperatorSpec> all = {Transposed(true)};
  return all;
}

PORTACL_OPERATOR_TESTS(TransposedProducts, Plain());
PORTACL_OPERATOR_TESTS(TransposedProductsToCodes, ToCodes());

// Atlas A2 and A3 have limits that other products have not: 65535 columns, matrices and, where rows of x1 have to be moved
// or results are cut, terms.
TEST(TransposedProductsOfLongDims, AreRefusedOnAtlasA2) {
  struct Call {
    Shape left, right, out;
    bool is_moved;
    int32_t parts;
    bool is_accepted;
  };
  constexpr int64_t kMany = 65536;
  const Call calls[] = {
      {{1, 1, 1}, {1, 1, kMany}, {1, 1, kMany}, true, 1, false},
      {{1, 1, 1}, {1, 1, kMany - 1}, {1, 1, kMany - 1}, true, 1, true},
      {{1, kMany, 1}, {kMany, 1, 1}, {1, kMany, 1}, true, 1, false},
      {{1, 1, kMany}, {1, kMany, 1}, {1, 1, 1}, true, 1, true},
      {{1, 1, kMany}, {1, kMany, 1}, {1, 1, 1}, false, 1, false},
      {{1, 2, kMany / 2}, {2, kMany / 2, 1}, {2, 1, 1}, true, 2, false},
      {{2, 1, kMany / 2}, {2, kMany / 2, 1}, {2, 1, 1}, false, 2, true},
  };
  for (const Product product : {Product::kA2, Product::k950}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)}});
    ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
    for (const Call& call : calls) {
      std::vector<float> numbers(kMany, 1.0f);
      std::vector<aclTensor*> made;
      for (const Shape* shape : {&call.left, &call.right, &call.out})
        made.push_back(aclCreateTensor(shape->data(), shape->size(), ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
                                       shape->data(), shape->size(), numbers.data()));
      const int64_t orders[][3] = {{0, 1, 2}, {1, 0, 2}};
      const aclIntArray* const kept = aclCreateIntArray(orders[0], 3);
      const aclIntArray* const moved = aclCreateIntArray(orders[1], 3);
      uint64_t size = 0;
      aclOpExecutor* executor = nullptr;
      const aclnnStatus status = aclnnTransposeBatchMatMulGetWorkspaceSize(
          made[0], made[1], nullptr, nullptr, call.is_moved ? moved : kept, kept, moved, 1, call.parts,
          made[2], &size, &executor);
      const bool is_accepted = call.is_accepted || product != Product::kA2;
      EXPECT_EQ(status, is_accepted ? 0 : 161002)
          << SocNameOf(product) << " " << call.right[2] << ": " << TakeErrorMessage();
      if (status == 0) aclDestroyAclOpExecutor(executor);
      for (aclTensor* tensor : made) aclDestroyTensor(tensor);
      for (const aclIntArray* order : {kept, moved}) aclDestroyIntArray(order);
    }
  }
}

}  // namespace
}  // namespace portacl::testing
