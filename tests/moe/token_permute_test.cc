// Tokens brought to their experts and back, and the gradients: checks, elements against formulas in float64, bad places.
// SPDX-License-Identifier: Apache-2.0
#include "moe_calls.h"

namespace portacl::testing {
namespace {

const Listed kMoved = {{}, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8}};

Rule Padded(const std::string& name) {
  return [=](PlanCall& call) -> std::optional<Verdict> {
    if (call[name].integer == 0) return std::nullopt;
    return Verdict{IsOn950(call) ? 161002 : 561002, {name}};
  };
}

int64_t WantedRows(int64_t wanted, int64_t entries) {
  return wanted > 0 ? std::min(wanted, entries) : std::max<int64_t>(0, entries + wanted);
}

OperatorSpec Permute() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMoeTokenPermute);
  op.valid = {TensorArg("tokens", {2, 3}),           TensorArg("indices", {2, 2}, ACL_INT32),
              IntegerArg("numOutTokens", 0),         IntegerArg("paddedMode", 0),
              OutputArg("permuteTokensOut", {4, 3}), OutputArg("sortedIndicesOut", {4}, ACL_INT32)};
  op.takes_workspace = true;
  op.rules = {NoNulls("tokens indices permuteTokensOut sortedIndicesOut"),
              DtypeIn("tokens", kMoved),
              DtypeIn("indices", kEitherIndex),
              SameDtype("tokens", "permuteTokensOut"),
              DtypeIn("sortedIndicesOut", kInt32Alone),
              Padded("paddedMode"),
              Refuses(561002, "",
                      [](PlanCall& call) {
                        const Shape& tokens = call["tokens"].shape;
                        const Shape& indices = call["indices"].shape;
                        if (tokens.size() != 2 || indices.empty() || indices.size() > 2) return true;
                        const int64_t entries = NumElements(indices);
                        return indices[0] != tokens[0] || (indices.size() == 2 && indices[1] > 512) ||
                               call["sortedIndicesOut"].shape != Shape{entries} ||
                               call["permuteTokensOut"].shape !=
                                   Shape{WantedRows(call["numOutTokens"].integer, entries), tokens[1]};
                      }),
              DoneIfEmpty("indices")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t n = random.Between(1, 8);
    const int64_t k = random.Between(1, 3);
    const int64_t columns = DrawColumns(random);
    const DtypeNumber dtype = DrawDtype(random, kMoved.on_new);
    call["tokens"] = TensorArg("tokens", {n, columns}, dtype);
    call["indices"] = TensorArg("indices", k == 1 && random.Chance(50) ? Shape{n} : Shape{n, k},
                                random.Chance(50) ? ACL_INT32 : ACL_INT64);
    const int64_t wanted = random.Between(-n * k, n * k + 2);
    call["numOutTokens"].integer = wanted;
    call["permuteTokensOut"] = OutputArg("permuteTokensOut", {WantedRows(wanted, n * k), columns}, dtype);
    call["sortedIndicesOut"] = OutputArg("sortedIndicesOut", {n * k}, ACL_INT32);
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    const int64_t experts = random.Between(1, 9);
    SetIntegers(tensors[1], -1, experts, random);
    for (int64_t i = 0; i < tensors[1].size(); ++i) {
      if (random.Chance(5))
        EncodeIntegerElement(tensors[1].dtype(), random.Chance(50) ? INT32_MAX : INT32_MIN,
                             tensors[1].Element(i));
    }
    (void)call;
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers tokens(call, tensors, "tokens");
    const Numbers indices(call, tensors, "indices");
    const int64_t k = indices.size() / tokens.shape()[0];
    const int64_t columns = tokens.shape()[1];
    const std::vector<int64_t> order = StableOrder(IntegersOf(indices));
    std::vector<int64_t> rank(order.size());
    for (size_t q = 0; q < order.size(); ++q) rank[static_cast<size_t>(order[q])] = static_cast<int64_t>(q);
    Outcome rows;
    for (int64_t q = 0; q < call["permuteTokensOut"].shape[0]; ++q) {
      for (int64_t h = 0; h < columns; ++h)
        rows.emplace_back(tokens.Bytes(order[static_cast<size_t>(q)] / k * columns + h));
    }
    return std::vector<Outcome>{rows, EncodedIntegers(ACL_INT32, rank)};
  };
  return op;
}

OperatorSpec PermuteGrad() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMoeTokenPermuteGrad);
  op.valid = {TensorArg("permutedOutputGrad", {4, 3}), DistinctArg("sortedIndices", {4}, ACL_INT32),
              IntegerArg("numTopk", 2), IntegerArg("paddedMode", 0), OutputArg("out", {2, 3})};
  op.takes_workspace = true;
  op.rules = {NoNulls("permutedOutputGrad sortedIndices out"),
              DtypeIn("permutedOutputGrad", kSinceA2),
              DtypeIn("sortedIndices", kInt32Alone),
              SameDtype("permutedOutputGrad", "out"),
              Padded("paddedMode"),
              Refuses(561002, "",
                      [](PlanCall& call) {
                        const Shape& grad = call["permutedOutputGrad"].shape;
                        const Shape& index = call["sortedIndices"].shape;
                        const int64_t k = call["numTopk"].integer;
                        return grad.size() != 2 || index.size() != 1 || k < 1 || k > 512 ||
                               index[0] % k != 0 || call["out"].shape != Shape{index[0] / k, grad[1]};
                      }),
              DoneIfEmpty("out")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t n = random.Between(1, 8);
    const int64_t k = random.Between(1, 3);
    const int64_t columns = DrawColumns(random);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    call["permutedOutputGrad"] = TensorArg("permutedOutputGrad", {random.Between(1, n * k), columns}, dtype);
    call["sortedIndices"] = DistinctArg("sortedIndices", {n * k}, ACL_INT32);
    call["numTopk"].integer = k;
    call["out"] = OutputArg("out", {n, columns}, dtype);
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetNumbers(tensors[0], random, 2);
    SetIntegers(tensors[1], 0, tensors[1].size() + 2, random);
  };
  op.is_inexact = true;
  op.tolerance = 1e-5;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers grad(call, tensors, "permutedOutputGrad");
    const Numbers index(call, tensors, "sortedIndices");
    const int64_t k = call["numTopk"].integer;
    const int64_t columns = grad.shape()[1];
    std::vector<double> out(static_cast<size_t>(index.size() / k * columns));
    for (int64_t p = 0; p < index.size(); ++p) {
      const int64_t row = index.Integer(p);
      for (int64_t h = 0; row >= 0 && row < grad.shape()[0] && h < columns; ++h)
        out[static_cast<size_t>(p / k * columns + h)] += grad.At(row, h);
    }
    return std::vector<Outcome>{EncodedAll(grad.dtype(), out)};
  };
  return op;
}

// Sums of rows that places name, weighed by probabilities.
OperatorSpec Unpermute() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMoeTokenUnpermute);
  op.valid = {TensorArg("permutedTokens", {4, 3}),   DistinctArg("sortedIndices", {4}, ACL_INT32),
              DistinctArg("probsOptional", {2, 2}),  IntegerArg("paddedMode", 0),
              ArrayArg("restoreShapeOptional", {1}), OutputArg("out", {2, 3})};
  op.takes_workspace = true;
  const auto takes = [](const PlanCall& call, DtypeNumber dtype) {
    if (call.product == Product::k310P) return dtype == ACL_FLOAT || dtype == ACL_FLOAT16;
    return kSinceA2.Has(call.product, dtype);
  };
  op.rules = {NoNulls("permutedTokens sortedIndices out"),
              RefusedDtype("permutedTokens", takes),
              DtypeIn("sortedIndices", kInt32Alone),
              Given("probsOptional", RefusedDtype("probsOptional", takes)),
              SameDtype("permutedTokens", "out"),
              Refuses(561002, "",
                      [](PlanCall& call) {
                        const Shape& rows = call["permutedTokens"].shape;
                        const Shape& index = call["sortedIndices"].shape;
                        const bool has_probs = !call["probsOptional"].null;
                        const Shape& probs = call["probsOptional"].shape;
                        if (call["paddedMode"].integer != 0 || rows.size() != 2 || index.size() != 1)
                          return true;
                        if (has_probs && (probs.size() != 2 || probs[1] < 1 || probs[1] > 512 ||
                                          NumElements(probs) != index[0]))
                          return true;
                        return call["out"].shape != Shape{index[0] / (has_probs ? probs[1] : 1), rows[1]};
                      }),
              DoneIfEmpty("out")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t n = random.Between(1, 8);
    const bool has_probs = random.Chance(70);
    const int64_t k = has_probs ? random.Between(1, 3) : 1;
    const int64_t columns = DrawColumns(random);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    call["permutedTokens"] = TensorArg("permutedTokens", {random.Between(1, n * k + 2), columns}, dtype);
    call["sortedIndices"] = DistinctArg("sortedIndices", {n * k}, ACL_INT32);
    call["probsOptional"] = DistinctArg("probsOptional", {n, k}, DrawDtype(random, kRowDtypes));
    call["probsOptional"].null = !has_probs;
    call["restoreShapeOptional"].null = random.Chance(30);
    call["out"] = OutputArg("out", {n, columns}, dtype);
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetNumbers(tensors[0], random, 10);
    SetNumbers(tensors[2], random);
    SetIntegers(tensors[1], 0, tensors[1].size() + 2, random);
    for (int64_t p = 0; p < tensors[2].size(); ++p) {
      if (random.Chance(30)) tensors[2].Set(p, random.Chance(50) ? 0.0 : -0.0);
    }
    // An entry that is nowhere has probability 0.
    for (int64_t p = 0; !call["probsOptional"].null && p < tensors[1].size(); ++p) {
      if (tensors[2].Real(p) == 0 && random.Chance(50))
        EncodeIntegerElement(ACL_INT32, -1, tensors[1].Element(p));
    }
  };
  op.is_inexact = true;
  op.tolerance = 1e-5;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers rows(call, tensors, "permutedTokens");
    const Numbers index(call, tensors, "sortedIndices");
    const Numbers probs(call, tensors, "probsOptional");
    const int64_t k = probs.is_given() ? probs.shape()[1] : 1;
    const int64_t columns = rows.shape()[1];
    std::vector<double> out(static_cast<size_t>(index.size() / k * columns));
    for (int64_t p = 0; p < index.size(); ++p) {
      const double weight = probs.is_given() ? probs[p] : 1;
      const int64_t row = index.Integer(p);
      if (weight == 0 || row < 0 || row >= rows.shape()[0]) continue;
      for (int64_t h = 0; h < columns; ++h)
        out[static_cast<size_t>(p / k * columns + h)] += weight * rows.At(row, h);
    }
    return std::vector<Outcome>{EncodedAll(rows.dtype(), out)};
  };
  return op;
}

OperatorSpec UnpermuteGrad() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMoeTokenUnpermuteGrad);
  op.valid = {TensorArg("permuteTokens", {4, 3}),
              TensorArg("unpermutedTokensGrad", {2, 3}),
              DistinctArg("sortedIndices", {4}, ACL_INT32),
              DistinctArg("probsOptional", {2, 2}),
              IntegerArg("paddedMode", 0),
              ArrayArg("restoreShapeOptional", {1}),
              OutputArg("permutedTokensGradOut", {4, 3}),
              OutputArg("probsGradOut", {2, 2})};
  op.takes_workspace = true;
  op.rules = {
      NoNulls("unpermutedTokensGrad sortedIndices permutedTokensGradOut probsGradOut"),
      DtypeIn("unpermutedTokensGrad", kSinceA2),
      Given("permuteTokens", SameDtype("unpermutedTokensGrad", "permuteTokens")),
      DtypeIn("sortedIndices", kInt32Alone),
      Given("probsOptional", DtypeIn("probsOptional", kSinceA2)),
      SameDtype("unpermutedTokensGrad", "permutedTokensGradOut"),
      Given("probsOptional", SameDtype("probsOptional", "probsGradOut")),
      Refuses(561002, "", [](PlanCall& call) {
        const Shape& grad = call["unpermutedTokensGrad"].shape;
        const Shape& index = call["sortedIndices"].shape;
        const Shape& out = call["permutedTokensGradOut"].shape;
        const Shape& probs = call["probsOptional"].shape;
        const bool has_probs = !call["probsOptional"].null;
        const bool has_rows = !call["permuteTokens"].null;
        if (call["paddedMode"].integer != 0 || grad.size() != 2 || index.size() != 1 || out.size() != 2)
          return true;
        if (has_probs && (!has_rows || probs.size() != 2 || probs[1] < 1 || probs[1] > 512)) return true;
        const int64_t k = has_probs ? probs[1] : 1;
        if (has_probs && (probs != Shape{index[0] / k, k} || call["probsGradOut"].shape != probs))
          return true;
        if (has_rows && call["permuteTokens"].shape != out) return true;
        return index[0] == 0 || index[0] != grad[0] * k || grad[1] == 0 || out[0] == 0 || out[1] != grad[1];
      })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t n = random.Between(1, 8);
    const bool has_probs = random.Chance(70);
    const int64_t k = has_probs ? random.Between(1, 3) : 1;
    const int64_t columns = DrawColumns(random);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    const DtypeNumber of_probs = DrawDtype(random, kRowDtypes);
    const int64_t rows = random.Between(1, n * k + 2);
    call["permuteTokens"] = TensorArg("permuteTokens", {rows, columns}, dtype);
    call["permuteTokens"].null = !has_probs && random.Chance(50);
    call["unpermutedTokensGrad"] = TensorArg("unpermutedTokensGrad", {n, columns}, dtype);
    call["sortedIndices"] = DistinctArg("sortedIndices", {n * k}, ACL_INT32);
    call["probsOptional"] = DistinctArg("probsOptional", {n, k}, of_probs);
    call["probsOptional"].null = !has_probs;
    call["permutedTokensGradOut"] = OutputArg("permutedTokensGradOut", {rows, columns}, dtype);
    call["probsGradOut"] = OutputArg("probsGradOut", has_probs ? Shape{n, k} : Shape{0}, of_probs);
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (const size_t i : {0, 1, 3}) SetNumbers(tensors[i], random);
    SetPermutation(tensors[2], random);
  };
  op.is_inexact = true;
  op.tolerance = 1e-5;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers rows(call, tensors, "permuteTokens");
    const Numbers grad(call, tensors, "unpermutedTokensGrad");
    const Numbers index(call, tensors, "sortedIndices");
    const Numbers probs(call, tensors, "probsOptional");
    const int64_t k = probs.is_given() ? probs.shape()[1] : 1;
    const int64_t columns = grad.shape()[1];
    const int64_t count = call["permutedTokensGradOut"].shape[0];
    std::vector<double> out(static_cast<size_t>(count * columns));
    std::vector<double> products(static_cast<size_t>(index.size()));
    for (int64_t p = 0; p < index.size(); ++p) {
      const int64_t row = index.Integer(p);
      if (row < 0 || row >= count) continue;
      for (int64_t h = 0; h < columns; ++h) {
        out[static_cast<size_t>(row * columns + h)] = grad.At(p / k, h) * (probs.is_given() ? probs[p] : 1);
        if (probs.is_given()) products[static_cast<size_t>(p)] += rows.At(row, h) * grad.At(p / k, h);
      }
    }
    return std::vector<Outcome>{
        EncodedAll(grad.dtype(), out),
        probs.is_given() ? EncodedAll(call["probsGradOut"].dtype, products) : Outcome{}};
  };
  return op;
}

const OperatorSpec kOperators[] = {Permute(), PermuteGrad(), Unpermute(), UnpermuteGrad()};
PORTACL_OPERATOR_TESTS(TokenPermute, kOperators);

// ---- bad places ----

TEST(TokenPermuteBad, NegativePlacesFailTheStreamOnce) {
  std::vector<float> rows = {1, 2, 3, 4};
  std::vector<int32_t> index = {1, -7};
  std::vector<float> out = {9, 9, 9, 9};
  const Shape two = {2, 2};
  const Shape one = {2};
  for (const char* threads : {"1", "3"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", threads}});
    ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
    const auto dense = [](const Shape& shape, aclDataType dtype, void* data) {
      return aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                             shape.size(), data);
    };
    aclTensor* const tensors[] = {dense(two, ACL_FLOAT, rows.data()), dense(one, ACL_INT32, index.data()),
                                  dense(two, ACL_FLOAT, out.data())};
    for (int function = 0; function < 2; ++function) {
      uint64_t size = 0;
      aclOpExecutor* executor = nullptr;
      const char* const name = function == 0 ? "aclnnMoeTokenUnpermute" : "aclnnMoeTokenPermuteGrad";
      ASSERT_EQ(function == 0 ? aclnnMoeTokenUnpermuteGetWorkspaceSize(tensors[0], tensors[1], nullptr, false,
                                                                       nullptr, tensors[2], &size, &executor)
                              : aclnnMoeTokenPermuteGradGetWorkspaceSize(tensors[0], tensors[1], 1, false,
                                                                         tensors[2], &size, &executor),
                0)
          << TakeErrorMessage();
      const GuardedBuffer workspace(size);
      const auto run = function == 0 ? aclnnMoeTokenUnpermute : aclnnMoeTokenPermuteGrad;
      ASSERT_EQ(run(workspace.device(), size, executor, environment.stream()), 0);
      EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), 507015);
      const std::string message = TakeErrorMessage();
      EXPECT_NE(message.find(std::string(name) +
                             ": sortedIndices has the value -7 at element 1, accepted: 0 to 1."),
                std::string::npos)
          << message;
      EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
      EXPECT_EQ(out, (std::vector<float>{3, 4, 0, 0}));
    }
    for (aclTensor* const tensor : tensors) aclDestroyTensor(tensor);
  }
}

TEST(TokenPermuteBad, TheGradientPassesOverPlacesOfNoRowWithProbabilities) {
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "3"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  std::vector<float> rows = {1, 2, 3, 4};
  std::vector<float> grad = {5, 6};
  std::vector<float> probs = {2, 0};
  for (const int32_t none : {-1, -2}) {
    std::vector<int32_t> index = {1, none};
    std::vector<float> of_rows(4, 9);
    std::vector<float> of_probs(2, 9);
    Made tensors;
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(
        aclnnMoeTokenUnpermuteGradGetWorkspaceSize(
            tensors.Dense({2, 2}, ACL_FLOAT, rows.data()), tensors.Dense({1, 2}, ACL_FLOAT, grad.data()),
            tensors.Dense({2}, ACL_INT32, index.data()), tensors.Dense({1, 2}, ACL_FLOAT, probs.data()),
            false, nullptr, tensors.Dense({2, 2}, ACL_FLOAT, of_rows.data()),
            tensors.Dense({1, 2}, ACL_FLOAT, of_probs.data()), &size, &executor),
        0)
        << TakeErrorMessage();
    EXPECT_EQ(RunAndWait(environment, aclnnMoeTokenUnpermuteGrad, size, executor), none == -1 ? 0 : 507015);
    if (none == -2) ExpectMessage("sortedIndices has the value -2 at element 1, accepted: -1 to 1.");
    EXPECT_EQ(of_rows, (std::vector<float>{0, 0, 10, 12}));
    EXPECT_EQ(of_probs, (std::vector<float>{39, 0}));
  }
}

}  // namespace
}  // namespace portacl::testing
