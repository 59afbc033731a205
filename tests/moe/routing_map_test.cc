// Tokens brought to the experts that a map of ones names, and back, and the gradients: checks, and elements against formulas in float64.
// SPDX-License-Identifier: Apache-2.0
#include "moe_calls.h"

namespace portacl::testing {
namespace {

const Listed kMap = {{ACL_BOOL, ACL_INT8}};

// A map each of whose tokens has t ones.
void SetMap(HostTensor& map, int64_t t, RandomNumbers& random) {
  const int64_t experts = map.shape()[1];
  for (int64_t i = 0; i < map.shape()[0]; ++i) {
    std::vector<int64_t> order(static_cast<size_t>(experts));
    for (size_t e = 0; e < order.size(); ++e) order[e] = static_cast<int64_t>(e);
    for (size_t e = order.size(); e > 1; --e)
      std::swap(order[e - 1], order[static_cast<size_t>(random.Below(static_cast<int64_t>(e)))]);
    for (int64_t j = 0; j < experts; ++j)
      EncodeIntegerElement(map.dtype(), j < t ? 1 : 0,
                           map.Element(i * experts + order[static_cast<size_t>(j)]));
  }
}

// The ones of a map: expert by expert, and token by token.
struct Ones {
  std::vector<int64_t> token, expert;         // of each row
  std::vector<std::vector<int64_t>> rows;     // of each token
  std::vector<std::vector<int64_t>> experts;  // of each token
};
Ones OnesOf(const Numbers& map) {
  Ones ones;
  const int64_t n = map.shape()[0];
  ones.rows.resize(static_cast<size_t>(n));
  ones.experts.resize(static_cast<size_t>(n));
  for (int64_t e = 0; e < map.shape()[1]; ++e) {
    for (int64_t i = 0; i < n; ++i) {
      if (map.Integer(i * map.shape()[1] + e) == 0) continue;
      ones.rows[static_cast<size_t>(i)].push_back(std::ssize(ones.token));
      ones.experts[static_cast<size_t>(i)].push_back(e);
      ones.token.push_back(i);
      ones.expert.push_back(e);
    }
  }
  return ones;
}

bool Pads(const PlanCall& call) { return call["dropAndPad"].integer != 0; }
bool IsPadded(const PlanCall& call) { return call["paddedMode"].integer != 0; }

OperatorSpec Permute() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMoeTokenPermuteWithRoutingMap);
  op.valid = {TensorArg("tokens", {2, 3}),
              TensorArg("routingMap", {2, 3}, ACL_BOOL),
              TensorArg("probsOptional", {2, 3}),
              IntegerArg("numOutTokens", 4),
              IntegerArg("dropAndPad", 0),
              OutputArg("permuteTokensOut", {4, 3}),
              OutputArg("permuteProbsOutOptional", {4}),
              OutputArg("sortedIndicesOut", {4}, ACL_INT32)};
  op.takes_workspace = true;
  op.rules = {NoNulls("tokens routingMap permuteTokensOut sortedIndicesOut"),
              Given("probsOptional", NoNulls("permuteProbsOutOptional")),
              DtypeIn("tokens", kSinceA2),
              DtypeIn("routingMap", kMap),
              SameDtype("tokens", "permuteTokensOut"),
              DtypeIn("sortedIndicesOut", kInt32Alone),
              Given("probsOptional", SameDtype("tokens", "probsOptional")),
              Given("probsOptional", SameDtype("probsOptional", "permuteProbsOutOptional")),
              Refuses(161002, "",
                      [](PlanCall& call) {
                        const Shape& tokens = call["tokens"].shape;
                        const Shape& map = call["routingMap"].shape;
                        const int64_t wanted = call["numOutTokens"].integer;
                        if (tokens.size() != 2 || map.size() != 2 || tokens[0] != map[0]) return true;
                        const bool has_probs = !call["probsOptional"].null;
                        if (has_probs && call["probsOptional"].shape != map) return true;
                        if (wanted < 0 || wanted > map[0] * map[1]) return true;
                        const int64_t unit = std::max<int64_t>(1, Pads(call) ? map[1] : map[0]);
                        const int64_t rows = wanted / unit * unit;
                        return call["permuteTokensOut"].shape != Shape{rows, tokens[1]} ||
                               call["sortedIndicesOut"].shape != Shape{rows} ||
                               (has_probs && call["permuteProbsOutOptional"].shape != Shape{rows});
                      }),
              DoneIfEmpty("routingMap permuteTokensOut")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t n = random.Between(1, 7);
    const int64_t experts = random.Between(1, 5);
    const int64_t columns = DrawColumns(random);
    const bool pads = random.Chance(50);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    const int64_t each = random.Between(1, pads ? n : experts);
    const int64_t rows = each * (pads ? experts : n);
    call["tokens"] = TensorArg("tokens", {n, columns}, dtype);
    call["routingMap"] = DistinctArg("routingMap", {n, experts}, random.Chance(50) ? ACL_BOOL : ACL_INT8);
    call["probsOptional"] = TensorArg("probsOptional", {n, experts}, dtype);
    call["probsOptional"].null = random.Chance(40);
    call["numOutTokens"].integer = std::min(n * experts, rows + random.Below(pads ? experts : n));
    call["dropAndPad"].integer = pads;
    call["permuteTokensOut"] = OutputArg("permuteTokensOut", {rows, columns}, dtype);
    call["permuteProbsOutOptional"] = OutputArg("permuteProbsOutOptional", {rows}, dtype);
    call["permuteProbsOutOptional"].null = call["probsOptional"].null && random.Chance(50);
    call["sortedIndicesOut"] = OutputArg("sortedIndicesOut", {rows}, ACL_INT32);
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    const Shape& map = call["routingMap"].shape;
    if (map.size() == 2)
      SetMap(tensors[1], Pads(call) ? random.Between(0, map[1]) : call["sortedIndicesOut"].shape[0] / map[0],
             random);
    if (Pads(call)) SetIntegers(tensors[1], 0, 2, random);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers tokens(call, tensors, "tokens");
    const Numbers map(call, tensors, "routingMap");
    const Numbers probs(call, tensors, "probsOptional");
    const int64_t n = map.shape()[0];
    const int64_t experts = map.shape()[1];
    const int64_t rows = call["sortedIndicesOut"].shape[0];
    const Ones ones = OnesOf(map);
    std::vector<int64_t> token = ones.token;
    std::vector<int64_t> expert = ones.expert;
    std::vector<int64_t> index;
    if (Pads(call)) {
      token.clear();
      expert.clear();
      for (int64_t e = 0; e < experts; ++e) {
        std::vector<int64_t> order;
        for (const int64_t wanted : {1, 0}) {
          for (int64_t i = 0; i < n; ++i) {
            if ((map.Integer(i * experts + e) != 0) == (wanted == 1)) order.push_back(i);
          }
        }
        for (int64_t c = 0; c < rows / experts; ++c) {
          token.push_back(order[static_cast<size_t>(c)]);
          expert.push_back(e);
        }
      }
      index = token;
    } else {
      for (const auto& of_token : ones.rows) index.insert(index.end(), of_token.begin(), of_token.end());
    }
    Outcome moved;
    Outcome of_probs;
    for (size_t q = 0; q < token.size(); ++q) {
      for (int64_t h = 0; h < tokens.shape()[1]; ++h)
        moved.emplace_back(tokens.Bytes(token[q] * tokens.shape()[1] + h));
      if (probs.is_given()) of_probs.emplace_back(probs.Bytes(token[q] * experts + expert[q]));
    }
    return std::vector<Outcome>{moved, of_probs, EncodedIntegers(ACL_INT32, index)};
  };
  return op;
}

OperatorSpec PermuteGrad() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMoeTokenPermuteWithRoutingMapGrad);
  op.valid = {TensorArg("permutedTokenOutputGrad", {4, 3}),
              TensorArg("permutedProbsOutputGradOptional", {4}),
              DistinctArg("sortedIndices", {4}, ACL_INT32),
              DistinctArg("routingMapOptional", {2, 3}, ACL_BOOL),
              IntegerArg("numExperts", 3),
              IntegerArg("tokensNum", 2),
              IntegerArg("dropAndPad", 0),
              OutputArg("tokensGradOut", {2, 3}),
              OutputArg("probsGradOutOptional", {2, 3})};
  op.takes_workspace = true;
  op.rules = {
      Refuses(161002, "numExperts", [](PlanCall& call) { return call["numExperts"].integer < 1; }),
      Refuses(161002, "tokensNum", [](PlanCall& call) { return call["tokensNum"].integer < 1; }),
      NoNulls("permutedTokenOutputGrad sortedIndices tokensGradOut"),
      Given("probsGradOutOptional", NoNulls("routingMapOptional permutedProbsOutputGradOptional")),
      DtypeIn("permutedTokenOutputGrad", kSinceA2),
      DtypeIn("sortedIndices", kInt32Alone),
      SameDtype("permutedTokenOutputGrad", "tokensGradOut"),
      Given("probsGradOutOptional", SameDtype("permutedTokenOutputGrad", "permutedProbsOutputGradOptional")),
      Given("probsGradOutOptional", SameDtype("permutedTokenOutputGrad", "probsGradOutOptional")),
      Given("probsGradOutOptional", DtypeIn("routingMapOptional", kMap)),
      Refuses(161002, "",
              [](PlanCall& call) {
                const Shape& grad = call["permutedTokenOutputGrad"].shape;
                const Shape& index = call["sortedIndices"].shape;
                if (grad.size() != 2 || call["tokensGradOut"].shape.size() != 2 || index.size() != 1)
                  return true;
                if (!call["routingMapOptional"].null && call["routingMapOptional"].shape.size() != 2)
                  return true;
                const int64_t n = call["tokensNum"].integer;
                const int64_t experts = call["numExperts"].integer;
                if (grad[0] != index[0] || call["tokensGradOut"].shape != Shape{n, grad[1]}) return true;
                if (index[0] % (Pads(call) ? experts : n) != 0) return true;
                return !call["probsGradOutOptional"].null &&
                       (call["permutedProbsOutputGradOptional"].shape != index ||
                        call["routingMapOptional"].shape != Shape{n, experts});
              }),
      DoneIfEmpty("permutedTokenOutputGrad tokensGradOut"),
      Given("probsGradOutOptional", Refuses(561103, "probsGradOutOptional", [](PlanCall& call) {
              return call["probsGradOutOptional"].shape !=
                     Shape{call["tokensNum"].integer, call["numExperts"].integer};
            }))};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t n = random.Between(1, 7);
    const int64_t experts = random.Between(1, 5);
    const int64_t columns = DrawColumns(random);
    const bool pads = random.Chance(50);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    const int64_t rows = random.Between(1, pads ? n : experts) * (pads ? experts : n);
    const bool has_probs = random.Chance(60);
    call["permutedTokenOutputGrad"] = TensorArg("permutedTokenOutputGrad", {rows, columns}, dtype);
    call["permutedProbsOutputGradOptional"] = TensorArg("permutedProbsOutputGradOptional", {rows}, dtype);
    call["sortedIndices"] = DistinctArg("sortedIndices", {rows}, ACL_INT32);
    call["routingMapOptional"] =
        DistinctArg("routingMapOptional", {n, experts}, random.Chance(50) ? ACL_BOOL : ACL_INT8);
    for (const char* name : {"permutedProbsOutputGradOptional", "routingMapOptional"})
      call[name].null = !has_probs && random.Chance(50);
    call["numExperts"].integer = experts;
    call["tokensNum"].integer = n;
    call["dropAndPad"].integer = pads;
    call["tokensGradOut"] = OutputArg("tokensGradOut", {n, columns}, dtype);
    call["probsGradOutOptional"] = OutputArg("probsGradOutOptional", {n, experts}, dtype);
    call["probsGradOutOptional"].null = !has_probs;
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetNumbers(tensors[0], random, 1);
    SetNumbers(tensors[1], random);
    const int64_t n = call["tokensNum"].integer;
    const int64_t rows = tensors[2].size();
    if (!Pads(call)) {
      SetPermutation(tensors[2], random);
      SetMap(tensors[3], rows / n, random);
      return;
    }
    // The tokens of an expert are different ones.
    const int64_t capacity = rows / call["numExperts"].integer;
    for (int64_t q = 0; q < rows; ++q)
      EncodeIntegerElement(ACL_INT32, (q % capacity + q / capacity) % n, tensors[2].Element(q));
  };
  op.is_inexact = true;
  op.tolerance = 1e-5;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers grad(call, tensors, "permutedTokenOutputGrad");
    const Numbers of_probs(call, tensors, "permutedProbsOutputGradOptional");
    const Numbers index(call, tensors, "sortedIndices");
    const int64_t n = call["tokensNum"].integer;
    const int64_t experts = call["numExperts"].integer;
    const int64_t columns = grad.shape()[1];
    const int64_t rows = index.size();
    std::vector<double> tokens(static_cast<size_t>(n * columns));
    std::vector<double> probs(static_cast<size_t>(n * experts));
    for (int64_t p = 0; p < rows; ++p) {
      const int64_t token = Pads(call) ? index.Integer(p) : p / (rows / n);
      const int64_t row = Pads(call) ? p : index.Integer(p);
      for (int64_t h = 0; h < columns; ++h)
        tokens[static_cast<size_t>(token * columns + h)] += grad.At(row, h);
      if (Pads(call)) probs[static_cast<size_t>(token * experts + p / (rows / experts))] = of_probs[p];
    }
    const bool has_probs = !call["probsGradOutOptional"].null;
    if (has_probs && !Pads(call)) {
      const Ones ones = OnesOf(Numbers(call, tensors, "routingMapOptional"));
      for (size_t q = 0; q < ones.token.size(); ++q)
        probs[static_cast<size_t>(ones.token[q] * experts + ones.expert[q])] =
            of_probs[static_cast<int64_t>(q)];
    }
    return std::vector<Outcome>{EncodedAll(grad.dtype(), tokens),
                                has_probs ? EncodedAll(grad.dtype(), probs) : Outcome{}};
  };
  return op;
}

// The weights of the rows, in the order of the indices.
std::vector<double> Weights(const PlanCall& call, const std::vector<TensorValues>& tensors,
                            const Numbers& token, const Numbers& position, bool has_positions) {
  const Numbers probs(call, tensors, "probsOptional");
  std::vector<double> weights(static_cast<size_t>(token.size()), 1);
  if (!probs.is_given()) return weights;
  const int64_t experts = probs.shape()[1];
  weights.clear();
  if (IsPadded(call)) {
    const int64_t capacity = token.size() / experts;
    for (int64_t p = 0; p < token.size(); ++p)
      weights.push_back(probs.At(token.Integer(p), (has_positions ? position.Integer(p) : p) / capacity));
    return weights;
  }
  const Ones ones = OnesOf(Numbers(call, tensors, "routingMapOptional"));
  for (size_t i = 0; i < ones.experts.size(); ++i) {
    for (const int64_t e : ones.experts[i]) weights.push_back(probs.At(static_cast<int64_t>(i), e));
  }
  return weights;
}

OperatorSpec Unpermute() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMoeTokenUnpermuteWithRoutingMap);
  op.valid = {TensorArg("permutedTokens", {4, 3}),
              DistinctArg("sortedIndices", {4}, ACL_INT32),
              DistinctArg("routingMapOptional", {2, 4}, ACL_BOOL),
              TensorArg("probsOptional", {2, 4}),
              IntegerArg("paddedMode", 0),
              ArrayArg("restoreShapeOptional", {2, 3}),
              OutputArg("unpermutedTokens", {2, 3}),
              OutputArg("outIndex", {4}, ACL_INT32),
              OutputArg("permuteTokenId", {4}, ACL_INT32),
              OutputArg("permuteProbs", {4})};
  op.takes_workspace = true;
  const auto padded = [](const Rule& rule) -> Rule {
    return
        [=](PlanCall& call) -> std::optional<Verdict> { return IsPadded(call) ? rule(call) : std::nullopt; };
  };
  op.rules = {
      NoNulls("permutedTokens sortedIndices"),
      Refuses(161001, "probsOptional",
              [](PlanCall& call) { return call["probsOptional"].null && call["restoreShapeOptional"].null; }),
      NoNulls("unpermutedTokens"),
      Refuses(161001, "routingMapOptional",
              [](PlanCall& call) {
                return !IsPadded(call) && !call["probsOptional"].null && call["routingMapOptional"].null;
              }),
      padded(NoNulls("outIndex permuteTokenId")),
      Given("probsOptional", NoNulls("permuteProbs")),
      DtypeIn("permutedTokens", kSinceA2),
      DtypeIn("sortedIndices", kInt32Alone),
      Given("routingMapOptional", DtypeIn("routingMapOptional", kMap)),
      Given("probsOptional", DtypeIn("probsOptional", kSinceA2)),
      SameDtype("permutedTokens", "unpermutedTokens"),
      padded(DtypeIn("outIndex permuteTokenId", kInt32Alone)),
      Given("probsOptional", SameDtype("probsOptional", "permuteProbs")),
      Refuses(161002, "",
              [](PlanCall& call) {
                const Shape& rows = call["permutedTokens"].shape;
                const Shape& index = call["sortedIndices"].shape;
                const Shape& probs = call["probsOptional"].shape;
                const bool has_probs = !call["probsOptional"].null;
                if (rows.size() != 2 || index.size() != 1) return true;
                if (!call["routingMapOptional"].null && call["routingMapOptional"].shape.size() != 2)
                  return true;
                if (has_probs && probs.size() != 2) return true;
                const auto& restored = call["restoreShapeOptional"].values;
                if (!has_probs && (restored.empty() || restored[0] < 0)) return true;
                const int64_t n = has_probs ? probs[0] : restored[0];
                if (rows[0] != index[0] || call["unpermutedTokens"].shape != Shape{n, rows[1]}) return true;
                if (!IsPadded(call) && n != 0 && index[0] % n != 0) return true;
                if (!IsPadded(call) && has_probs && call["routingMapOptional"].shape != probs) return true;
                if (has_probs && IsPadded(call) && (probs[1] == 0 || index[0] % probs[1] != 0)) return true;
                if (has_probs && call["permuteProbs"].shape != index) return true;
                return IsPadded(call) &&
                       (call["outIndex"].shape != index || call["permuteTokenId"].shape != index);
              }),
      DoneIfEmpty("unpermutedTokens")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t n = random.Between(1, 7);
    const int64_t experts = random.Between(1, 5);
    const int64_t columns = DrawColumns(random);
    const bool pads = random.Chance(50);
    const bool has_probs = random.Chance(60);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    const DtypeNumber of_probs = DrawDtype(random, kRowDtypes);
    const int64_t rows = random.Between(1, pads ? n : experts) * (pads ? experts : n);
    call["permutedTokens"] = TensorArg("permutedTokens", {rows, columns}, dtype);
    call["sortedIndices"] = DistinctArg("sortedIndices", {rows}, ACL_INT32);
    call["routingMapOptional"] =
        DistinctArg("routingMapOptional", {n, experts}, random.Chance(50) ? ACL_BOOL : ACL_INT8);
    call["routingMapOptional"].null = (pads || !has_probs) && random.Chance(50);
    call["probsOptional"] = TensorArg("probsOptional", {n, experts}, of_probs);
    call["probsOptional"].null = !has_probs;
    call["paddedMode"].integer = pads;
    call["restoreShapeOptional"].values = {n, columns};
    call["restoreShapeOptional"].null = has_probs && random.Chance(50);
    call["unpermutedTokens"] = OutputArg("unpermutedTokens", {n, columns}, dtype);
    call["outIndex"] = OutputArg("outIndex", {rows}, ACL_INT32);
    call["permuteTokenId"] = OutputArg("permuteTokenId", {rows}, ACL_INT32);
    for (const char* name : {"outIndex", "permuteTokenId"}) call[name].null = !pads && random.Chance(50);
    call["permuteProbs"] = OutputArg("permuteProbs", {rows}, of_probs);
    call["permuteProbs"].null = !has_probs && random.Chance(50);
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetNumbers(tensors[0], random, 1);
    SetNumbers(tensors[3], random);
    const int64_t n = call["unpermutedTokens"].shape[0];
    if (IsPadded(call)) return SetIntegers(tensors[1], 0, n, random);
    SetPermutation(tensors[1], random);
    if (!call["routingMapOptional"].null) SetMap(tensors[2], tensors[1].size() / n, random);
  };
  op.is_inexact = true;
  op.tolerance = 1e-5;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers rows(call, tensors, "permutedTokens");
    const Numbers index(call, tensors, "sortedIndices");
    const bool has_probs = !call["probsOptional"].null;
    const std::vector<double> weights = Weights(call, tensors, index, index, false);
    const int64_t n = call["unpermutedTokens"].shape[0];
    const int64_t columns = rows.shape()[1];
    std::vector<double> out(static_cast<size_t>(n * columns));
    for (int64_t p = 0; p < index.size(); ++p) {
      const int64_t token = IsPadded(call) ? index.Integer(p) : p / (index.size() / n);
      const int64_t row = IsPadded(call) ? p : index.Integer(p);
      for (int64_t h = 0; h < columns; ++h)
        out[static_cast<size_t>(token * columns + h)] += rows.At(row, h) * weights[static_cast<size_t>(p)];
    }
    std::vector<Outcome> outcomes = {EncodedAll(rows.dtype(), out), Outcome{}, Outcome{}, Outcome{}};
    if (IsPadded(call)) {
      const std::vector<int64_t> order = StableOrder(IntegersOf(index));
      std::vector<int64_t> sorted;
      for (const int64_t p : order) sorted.push_back(index.Integer(p));
      outcomes[1] = EncodedIntegers(ACL_INT32, order);
      outcomes[2] = EncodedIntegers(ACL_INT32, sorted);
    }
    if (has_probs) outcomes[3] = EncodedAll(call["permuteProbs"].dtype, weights);
    return outcomes;
  };
  return op;
}

OperatorSpec UnpermuteGrad() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMoeTokenUnpermuteWithRoutingMapGrad);
  op.valid = {TensorArg("unpermutedTokensGrad", {2, 3}),
              DistinctArg("outIndex", {4}, ACL_INT32),
              DistinctArg("permuteTokenId", {4}, ACL_INT32),
              DistinctArg("routingMapOptional", {2, 3}, ACL_BOOL),
              TensorArg("permutedTokensOptional", {4, 3}),
              TensorArg("probsOptional", {2, 3}),
              IntegerArg("paddedMode", 0),
              ArrayArg("restoreShapeOptional", {2, 3}),
              OutputArg("permutedTokensGradOut", {4, 3}),
              OutputArg("probsGradOutOptional", {2, 3})};
  op.takes_workspace = true;
  op.rules = {NoNulls("unpermutedTokensGrad outIndex permuteTokenId permutedTokensGradOut"),
              DtypeIn("unpermutedTokensGrad", kSinceA2),
              DtypeIn("outIndex permuteTokenId", kInt32Alone),
              Given("routingMapOptional", DtypeIn("routingMapOptional", kMap)),
              Given("permutedTokensOptional", SameDtype("unpermutedTokensGrad", "permutedTokensOptional")),
              Given("probsOptional", SameDtype("unpermutedTokensGrad", "probsOptional")),
              SameDtype("unpermutedTokensGrad", "permutedTokensGradOut"),
              Given("probsGradOutOptional", SameDtype("unpermutedTokensGrad", "probsGradOutOptional")),
              Refuses(561002, "", [](PlanCall& call) {
                const Shape& grad = call["unpermutedTokensGrad"].shape;
                const Shape& index = call["outIndex"].shape;
                const Shape& probs = call["probsOptional"].shape;
                const bool has_probs = !call["probsOptional"].null;
                if (grad.size() != 2 || index.size() != 1 || NumElements(grad) == 0 || index[0] == 0)
                  return true;
                const Shape rows = {index[0], grad[1]};
                if (call["permuteTokenId"].shape != index || call["permutedTokensGradOut"].shape != rows)
                  return true;
                const int64_t t = index[0] / grad[0];
                if (!IsPadded(call) && (index[0] % grad[0] != 0 || t > 512)) return true;
                if (!has_probs) return false;
                if (call["permutedTokensOptional"].null || call["probsGradOutOptional"].null ||
                    probs.size() != 2 || probs[0] != grad[0] || call["probsGradOutOptional"].shape != probs ||
                    call["permutedTokensOptional"].shape != rows)
                  return true;
                if (!IsPadded(call))
                  return call["routingMapOptional"].null || call["routingMapOptional"].shape != probs ||
                         t > probs[1];
                return probs[1] == 0 || index[0] % probs[1] != 0 || index[0] / probs[1] > grad[0];
              })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t n = random.Between(1, 7);
    const int64_t experts = random.Between(1, 5);
    const int64_t columns = DrawColumns(random);
    const bool pads = random.Chance(50);
    const bool has_probs = random.Chance(60);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    const int64_t rows = random.Between(1, pads ? n : experts) * (pads ? experts : n);
    call["unpermutedTokensGrad"] = TensorArg("unpermutedTokensGrad", {n, columns}, dtype);
    call["outIndex"] = DistinctArg("outIndex", {rows}, ACL_INT32);
    call["permuteTokenId"] = DistinctArg("permuteTokenId", {rows}, ACL_INT32);
    call["routingMapOptional"] =
        DistinctArg("routingMapOptional", {n, experts}, random.Chance(50) ? ACL_BOOL : ACL_INT8);
    call["routingMapOptional"].null = (pads || !has_probs) && random.Chance(50);
    call["permutedTokensOptional"] = TensorArg("permutedTokensOptional", {rows, columns}, dtype);
    call["permutedTokensOptional"].null = !has_probs && random.Chance(50);
    call["probsOptional"] = TensorArg("probsOptional", {n, experts}, dtype);
    call["probsOptional"].null = !has_probs;
    call["paddedMode"].integer = pads;
    call["permutedTokensGradOut"] = OutputArg("permutedTokensGradOut", {rows, columns}, dtype);
    call["probsGradOutOptional"] = OutputArg("probsGradOutOptional", {n, experts}, dtype);
    call["probsGradOutOptional"].null = !has_probs && random.Chance(50);
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (const size_t i : {0, 4, 5}) SetNumbers(tensors[i], random);
    const int64_t n = call["unpermutedTokensGrad"].shape[0];
    const int64_t rows = tensors[1].size();
    SetPermutation(tensors[1], random);
    if (!IsPadded(call)) {
      for (int64_t p = 0; p < rows; ++p)
        EncodeIntegerElement(ACL_INT32, tensors[1].Integer(p), tensors[2].Element(p));
      if (!call["routingMapOptional"].null) SetMap(tensors[3], rows / n, random);
      return;
    }
    // Of each expert different tokens.
    const int64_t experts = call["probsOptional"].null ? 1 : call["probsOptional"].shape[1];
    const int64_t capacity = std::max<int64_t>(1, rows / experts);
    for (int64_t p = 0; p < rows; ++p) {
      const int64_t q = tensors[1].Integer(p);
      EncodeIntegerElement(ACL_INT32, (q % capacity + q / capacity) % n, tensors[2].Element(p));
    }
  };
  op.is_inexact = true;
  op.tolerance = 1e-5;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers grad(call, tensors, "unpermutedTokensGrad");
    const Numbers index(call, tensors, "outIndex");
    const Numbers token(call, tensors, "permuteTokenId");
    const Numbers rows(call, tensors, "permutedTokensOptional");
    const bool has_probs = !call["probsOptional"].null;
    const std::vector<double> weights = Weights(call, tensors, token, index, true);
    const int64_t n = grad.shape()[0];
    const int64_t columns = grad.shape()[1];
    const int64_t experts = has_probs ? call["probsOptional"].shape[1] : 1;
    std::vector<double> of_rows(static_cast<size_t>(index.size() * columns));
    std::vector<double> of_probs(static_cast<size_t>(n * experts));
    const Ones ones =
        has_probs && !IsPadded(call) ? OnesOf(Numbers(call, tensors, "routingMapOptional")) : Ones{};
    for (int64_t p = 0; p < index.size(); ++p) {
      const int64_t t = std::max<int64_t>(1, index.size() / n);
      const int64_t i = IsPadded(call) ? token.Integer(p) : p / t;
      double dot = 0;
      for (int64_t h = 0; h < columns; ++h) {
        of_rows[static_cast<size_t>(index.Integer(p) * columns + h)] =
            grad.At(i, h) * weights[static_cast<size_t>(p)];
        if (has_probs) dot += rows.At(index.Integer(p), h) * grad.At(i, h);
      }
      if (!has_probs) continue;
      const int64_t e = IsPadded(call) ? index.Integer(p) / (index.size() / experts)
                                       : ones.experts[static_cast<size_t>(i)][static_cast<size_t>(p % t)];
      of_probs[static_cast<size_t>(i * experts + e)] = dot;
    }
    return std::vector<Outcome>{EncodedAll(grad.dtype(), of_rows),
                                has_probs ? EncodedAll(grad.dtype(), of_probs) : Outcome{}};
  };
  return op;
}

const OperatorSpec kOperators[] = {Permute(), PermuteGrad(), Unpermute(), UnpermuteGrad()};
PORTACL_OPERATOR_TESTS(RoutingMap, kOperators);

// ---- ids that are none ----

TEST(RoutingMapBad, NoTokenAddsNothingToSumsAndAnIdThatIsNoneFailsTheStream) {
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "3"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  std::vector<float> rows = {1, 2, 3, 4};
  for (const int32_t none : {-1, 2}) {
    for (const bool is_gradient : {false, true}) {
      SCOPED_TRACE(is_gradient ? "gradient" : "forward");
      std::vector<int32_t> index = {1, none};
      std::vector<float> out(4, 9);
      std::vector<int32_t> order(2);
      std::vector<int32_t> sorted(2);
      Made tensors;
      uint64_t size = 0;
      aclOpExecutor* executor = nullptr;
      aclTensor* const given = tensors.Dense({2, 2}, ACL_FLOAT, rows.data());
      aclTensor* const ids = tensors.Dense({2}, ACL_INT32, index.data());
      aclTensor* const result = tensors.Dense({2, 2}, ACL_FLOAT, out.data());
      const int64_t tokens = 2;
      aclIntArray* const shape = aclCreateIntArray(&tokens, 1);
      ASSERT_EQ(is_gradient ? aclnnMoeTokenPermuteWithRoutingMapGradGetWorkspaceSize(
                                  given, nullptr, ids, nullptr, 1, 2, true, result, nullptr, &size, &executor)
                            : aclnnMoeTokenUnpermuteWithRoutingMapGetWorkspaceSize(
                                  given, ids, nullptr, nullptr, true, shape, result,
                                  tensors.Dense({2}, ACL_INT32, order.data()),
                                  tensors.Dense({2}, ACL_INT32, sorted.data()), nullptr, &size, &executor),
                0)
          << TakeErrorMessage();
      EXPECT_EQ(RunAndWait(environment,
                           is_gradient ? aclnnMoeTokenPermuteWithRoutingMapGrad
                                       : aclnnMoeTokenUnpermuteWithRoutingMap,
                           size, executor),
                none == -1 ? 0 : 507015);
      if (none != -1) ExpectMessage("sortedIndices has the value 2 at element 1, accepted: -1 to 1.");
      EXPECT_EQ(out, (std::vector<float>{0, 0, 1, 2}));
      aclDestroyIntArray(shape);
    }
  }
}

TEST(RoutingMapBad, OnesBeyondTheRowsHaveNone) {
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "3"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  std::vector<float> tokens = {1, 2};
  std::vector<uint8_t> map = {0, 1, 1, 1, 1, 0};
  std::vector<float> rows(2);
  std::vector<int32_t> index(2, 9);
  Made tensors;
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnMoeTokenPermuteWithRoutingMapGetWorkspaceSize(
                tensors.Dense({2, 1}, ACL_FLOAT, tokens.data()), tensors.Dense({2, 3}, ACL_BOOL, map.data()),
                nullptr, 2, false, tensors.Dense({2, 1}, ACL_FLOAT, rows.data()), nullptr,
                tensors.Dense({2}, ACL_INT32, index.data()), &size, &executor),
            0)
      << TakeErrorMessage();
  EXPECT_EQ(RunAndWait(environment, aclnnMoeTokenPermuteWithRoutingMap, size, executor), 0);
  EXPECT_EQ(rows, (std::vector<float>{2, 1}));
  EXPECT_EQ(index, (std::vector<int32_t>{1, 0}));
  map = {0, 0, 1, 1, 1, 0};
  ASSERT_EQ(aclnnMoeTokenPermuteWithRoutingMapGetWorkspaceSize(
                tensors.Dense({2, 1}, ACL_FLOAT, tokens.data()), tensors.Dense({2, 3}, ACL_BOOL, map.data()),
                nullptr, 2, false, tensors.Dense({2, 1}, ACL_FLOAT, rows.data()), nullptr,
                tensors.Dense({2}, ACL_INT32, index.data()), &size, &executor),
            0)
      << TakeErrorMessage();
  EXPECT_EQ(RunAndWait(environment, aclnnMoeTokenPermuteWithRoutingMap, size, executor), 0);
  EXPECT_EQ(rows, (std::vector<float>{2, 2}));
  EXPECT_EQ(index, (std::vector<int32_t>{-1, 0}));
}

TEST(RoutingMapBad, AGradientOfATokenThatIsNoneFailsTheStream) {
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "3"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  std::vector<float> grad = {1, 2, 3, 4};
  std::vector<int32_t> index = {1, 0};
  for (const int32_t none : {-1, 7}) {
    std::vector<int32_t> token = {1, none};
    std::vector<float> out(4, 9);
    Made tensors;
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnMoeTokenUnpermuteWithRoutingMapGradGetWorkspaceSize(
                  tensors.Dense({2, 2}, ACL_FLOAT, grad.data()), tensors.Dense({2}, ACL_INT32, index.data()),
                  tensors.Dense({2}, ACL_INT32, token.data()), nullptr, nullptr, nullptr, true, nullptr,
                  tensors.Dense({2, 2}, ACL_FLOAT, out.data()), nullptr, &size, &executor),
              0)
        << TakeErrorMessage();
    EXPECT_EQ(RunAndWait(environment, aclnnMoeTokenUnpermuteWithRoutingMapGrad, size, executor),
              none == -1 ? 0 : 507015);
    if (none != -1)
      ExpectMessage(
          "aclnnMoeTokenUnpermuteWithRoutingMapGrad: permuteTokenId has the value 7 at element 1, accepted: "
          "-1 to "
          "1.");
    EXPECT_EQ(out, (std::vector<float>{0, 0, 3, 4}));
  }
}

TEST(RoutingMapBad, OutputsFartherApartThanThereAreAddressesAreRefused) {
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "3"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  std::vector<float> numbers(9);
  std::vector<int32_t> places(9);
  for (int far = 0; far < 4; ++far) {
    Made tensors;
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    const auto output = [&](int which, aclDataType dtype) {
      return which == far ? tensors.FarApart({3}, dtype, numbers.data())
                          : tensors.Dense({3}, dtype, numbers.data());
    };
    aclTensor* const square = tensors.Dense({3, 3}, ACL_FLOAT, numbers.data());
    aclTensor* const map = tensors.Dense({3, 3}, ACL_BOOL, numbers.data());
    aclTensor* const index = tensors.Dense({3}, ACL_INT32, places.data());
    EXPECT_EQ(far == 0
                  ? aclnnMoeTokenPermuteWithRoutingMapGetWorkspaceSize(
                        square, map, square, 3, false, square, output(0, ACL_FLOAT), index, &size, &executor)
                  : aclnnMoeTokenUnpermuteWithRoutingMapGetWorkspaceSize(
                        square, index, nullptr, square, true, nullptr, square, output(1, ACL_INT32),
                        output(2, ACL_INT32), output(3, ACL_FLOAT), &size, &executor),
              161002);
    ExpectMessage(std::vector<std::string>{"permuteProbsOutOptional", "outIndex", "permuteTokenId",
                                           "permuteProbs"}[static_cast<size_t>(far)]);
  }
}

}  // namespace
}  // namespace portacl::testing
