// Tokens that are sampled, states of linear attention, convolutions in front of it, gates of groups.
// SPDX-License-Identifier: Apache-2.0
#include "../moe/moe_calls.h"

#include "aclnnop/families/serving.h"

namespace portacl::testing {
namespace {

constexpr aclnnStatus kTiling = 561002;

bool IsSinceA2(const PlanCall& call) { return IsOn950(call) || IsOnA2OrA3(call); }

// ---- TopKTopPSample ----

OperatorSpec Sample(const CFunction& function, bool is_v2) {
  OperatorSpec op;
  op.function = function;
  const DtypeList dtypes = is_v2 ? kRowDtypes : DtypeList{ACL_FLOAT16, ACL_BF16};
  op.valid = {TensorArg("logits", {3, 7}, ACL_FLOAT16), DistinctArg("topK", {3}, ACL_INT32),
              TensorArg("topP", {3}, ACL_FLOAT16), TensorArg("q", {3, 7})};
  if (is_v2) op.valid.push_back(TensorArg("minPs", {3}, ACL_FLOAT16));
  for (const PlanArgument& one :
       {RealArg("eps", 0.25), IntegerArg("isNeedLogits", 1), IntegerArg("topKGuess", 32)})
    op.valid.push_back(one);
  if (is_v2) {
    for (const PlanArgument& one :
         {IntegerArg("ksMax", 1024), IntegerArg("inputIsLogits", 1), IntegerArg("isNeedSampleResult", 0)})
      op.valid.push_back(one);
  }
  op.valid.push_back(OutputArg("logitsSelectIdx", {3}, ACL_INT64));
  op.valid.push_back(OutputArg("logitsTopKPSelect", {3, 7}));
  if (is_v2) {
    op.valid.push_back(OutputArg("logitsIdx", {3, 7}, ACL_INT64));
    op.valid.push_back(OutputArg("logitsSortMasked", {3, 7}));
  }
  op.takes_workspace = true;
  op.tolerance = 1e-5;
  op.rules = {NoNulls(is_v2 ? "logits topK topP logitsSelectIdx logitsTopKPSelect logitsIdx logitsSortMasked"
                            : "logits topK topP logitsSelectIdx logitsTopKPSelect"),
              RefusedDtype("logits",
                           [=](const PlanCall& call, DtypeNumber dtype) {
                             return (is_v2 ? IsSinceA2(call) : IsOnA2OrA3(call)) &&
                                    std::count(dtypes.begin(), dtypes.end(), dtype) > 0;
                           }),
              DtypeIn("topK", kInt32Alone), SameDtype("logits", "topP"),
              Given("q", DtypeIn("q", kFloatAlone))};
  if (is_v2) op.rules.push_back(Given("minPs", SameDtype("logits", "minPs")));
  op.rules.push_back(DtypeIn("logitsSelectIdx", kInt64Alone));
  if (is_v2) op.rules.push_back(DtypeIn("logitsIdx", kInt64Alone));
  op.rules.push_back(DtypeIn("logitsTopKPSelect", kFloatAlone));
  if (is_v2) op.rules.push_back(DtypeIn("logitsSortMasked", kFloatAlone));
  op.rules.push_back(Refuses(161002, "", [=](PlanCall& call) {
    const Shape& logits = call["logits"].shape;
    if (logits.size() != 2 || logits[1] <= 0) return true;
    const Shape rows = {logits[0]};
    const bool chooses = !is_v2 || call["isNeedSampleResult"].integer == 0;
    return call["topK"].shape != rows || call["topP"].shape != rows ||
           (chooses && call["logitsSelectIdx"].shape != rows) ||
           (call["isNeedLogits"].integer != 0 && call["logitsTopKPSelect"].shape != logits);
  }));
  op.rules.push_back(Refuses(kTiling, "", [=](PlanCall& call) {
    const Shape& logits = call["logits"].shape;
    if (!call["q"].null && call["q"].shape != logits) return true;
    if (!is_v2) return false;
    if (!call["minPs"].null && call["minPs"].shape != Shape{logits[0]}) return true;
    if (call["ksMax"].integer < 1 || call["ksMax"].integer > 1024) return true;
    return call["isNeedSampleResult"].integer != 0 &&
           (call["logitsIdx"].shape != logits || call["logitsSortMasked"].shape != logits);
  }));
  op.rules.push_back(DoneIfEmpty("logits"));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const Shape shape = {random.Between(1, 5), random.Between(1, random.Chance(15) ? 1500 : 12)};
    const DtypeNumber dtype = DrawDtype(random, dtypes);
    call["logits"].shape = call["logitsTopKPSelect"].shape = call["q"].shape = shape;
    call["topK"].shape = call["topP"].shape = call["logitsSelectIdx"].shape = {shape[0]};
    call["logits"].dtype = call["topP"].dtype = dtype;
    call["q"].null = random.Chance(40);
    call["isNeedLogits"].integer = random.Below(2);
    if (!is_v2) return;
    call["minPs"].shape = {shape[0]};
    call["minPs"].dtype = dtype;
    call["minPs"].null = random.Chance(50);
    call["logitsIdx"].shape = call["logitsSortMasked"].shape = shape;
    call["ksMax"].integer = random.Chance(30) ? 1024 : random.Between(1, 20);
    call["inputIsLogits"].integer = random.Chance(70) ? 1 : 0;
    call["isNeedSampleResult"].integer = random.Below(2);
    if (call["isNeedSampleResult"].integer != 0 && random.Chance(50))
      call["logitsSelectIdx"].shape = {shape[0], 1};
  };
  // Logits of sixteenths, of which many are the same; a share is of no sum of few of their exponentials. Probabilities are powers of 2.
  op.fill = [=](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    const bool are_logits = !is_v2 || call["inputIsLogits"].integer != 0;
    const int64_t n = call["logits"].shape[1];
    for (int64_t i = 0; i < tensors[0].size(); ++i) {
      const double logit = static_cast<double>(random.Between(-32, 32)) / 16;
      tensors[0].Set(i, are_logits ? (random.Chance(3) ? -std::numeric_limits<double>::infinity() : logit)
                                   : std::ldexp(1.0, -static_cast<int>(random.Between(2, 6))));
    }
    SetIntegers(tensors[1], -1, std::min<int64_t>(n + 2, 1100), random);
    // Of long rows sums may be nearer to a share than float32 tells apart.
    const bool is_long = n > 300;
    for (int64_t i = 0; i < tensors[2].size(); ++i) {
      const double share = static_cast<double>(random.Between(1, 127)) / 128 + 1.0 / 1024;
      tensors[2].Set(i, random.Chance(20)              ? 0
                        : random.Chance(25) || is_long ? 1
                        : random.Chance(8)             ? -0.5
                                                       : share);
    }
    if (!call["q"].null) {
      for (int64_t i = 0; i < tensors[3].size(); ++i)
        tensors[3].Set(i, static_cast<double>(random.Between(-60, 60)) / 16);
    }
    if (is_v2 && !call["minPs"].null) {
      for (int64_t i = 0; i < tensors[4].size(); ++i)
        tensors[4].Set(i, random.Chance(15)   ? 1
                          : random.Chance(15) ? 0
                                              : static_cast<double>(random.Between(1, 63)) / 64 + 1.0 / 512);
    }
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers logits(call, tensors, "logits");
    const Numbers top_k(call, tensors, "topK");
    const Numbers top_p(call, tensors, "topP");
    const Numbers q(call, tensors, "q");
    const bool are_logits = !is_v2 || call["inputIsLogits"].integer != 0;
    const bool lists = is_v2 && call["isNeedSampleResult"].integer != 0;
    const int64_t n = logits.shape()[1];
    const int64_t rows = logits.shape()[0];
    const int64_t most = is_v2 ? std::min<int64_t>((call["ksMax"].integer + 7) / 8 * 8, 1024) : 1024;
    std::vector<int64_t> chosen;
    std::vector<double> selected;
    std::vector<int64_t> indices;
    std::vector<double> masked;
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t k = top_k.Integer(row);
      const double p = top_p[row];
      const double m = is_v2 && !call["minPs"].null ? Numbers(call, tensors, "minPs")[row] : 0;
      std::vector<int64_t> order;
      for (int64_t i = 0; i < n; ++i) order.push_back(i);
      const bool cuts = k >= 1 && k <= std::min(n, most);
      if (cuts || p < 1 || m > 0) {
        std::stable_sort(order.begin(), order.end(),
                         [&](int64_t a, int64_t b) { return logits.At(row, a) > logits.At(row, b); });
      }
      if (cuts) order.resize(static_cast<size_t>(k));
      std::vector<double> share;
      double greatest = logits.At(row, order[0]);
      for (const int64_t i : order) greatest = std::max(greatest, logits.At(row, i));
      double total = 0;
      for (const int64_t i : order) {
        share.push_back(are_logits ? std::exp(logits.At(row, i) - greatest) : logits.At(row, i));
        total += share.back();
      }
      for (double& one : share) one = are_logits ? one / total : one;
      if (p <= 0) {
        share = {1};
      } else if (p < 1) {
        double before = 0;
        size_t i = 0;
        for (; i < share.size() && before < p; ++i) before += share[i];
        share.resize(i);
      }
      if (m >= 1) {
        share.resize(1);
      } else if (m > 0) {
        size_t i = 0;
        while (i < share.size() && share[i] >= m * share[0]) ++i;
        share.resize(i);
      }
      size_t best = 0;
      const auto score = [&](size_t i) {
        return q.is_given() ? share[i] / (std::fabs(q.At(row, static_cast<int64_t>(i))) + call["eps"].real)
                            : share[i];
      };
      for (size_t i = 1; i < share.size(); ++i) {
        // What differs by less than a rounding is the same.
        if (score(i) > score(best) * (1 + 1e-6)) best = i;
      }
      chosen.push_back(order[best]);
      std::vector<double> kept(static_cast<size_t>(n),
                               are_logits ? -std::numeric_limits<double>::infinity() : 0);
      for (size_t i = 0; i < share.size(); ++i)
        kept[static_cast<size_t>(order[i])] = logits.At(row, order[i]);
      selected.insert(selected.end(), kept.begin(), kept.end());
      for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
        indices.push_back(i < share.size() ? order[i] : 0);
        masked.push_back(i < share.size() ? share[i] : 0);
      }
    }
    std::vector<Outcome> all = {
        lists ? Outcome() : EncodedIntegers(ACL_INT64, chosen),
        call["isNeedLogits"].integer != 0 ? EncodedAll(ACL_FLOAT, selected) : Outcome()};
    if (is_v2) {
      all.push_back(lists ? EncodedIntegers(ACL_INT64, indices) : Outcome());
      all.push_back(lists ? EncodedAll(ACL_FLOAT, masked) : Outcome());
    }
    return all;
  };
  return op;
}

// ---- gated delta rules ----

OperatorSpec Rule(const CFunction& function, bool is_recurrent) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("query", {5, 1, 4}, ACL_BF16), TensorArg("key", {5, 1, 4}, ACL_BF16),
              TensorArg("value", {5, 2, 3}, ACL_BF16), TensorArg("beta", {5, 2}, ACL_BF16)};
  const std::string state = is_recurrent ? "stateRef" : "initialState";
  const std::string decay = "g";
  if (is_recurrent) {
    for (const PlanArgument& one :
         {OutputArg("stateRef", {4, 2, 3, 4}, ACL_BF16), DistinctArg("actualSeqLengths", {2}, ACL_INT32),
          DistinctArg("ssmStateIndices", {5}, ACL_INT32), TensorArg("g", {5, 2}), TensorArg("gk", {5, 2, 4}),
          DistinctArg("numAcceptedTokens", {2}, ACL_INT32), RealArg("scale", 0.5),
          OutputArg("out", {5, 2, 3}, ACL_BF16)})
      op.valid.push_back(one);
    op.updates = true;
  } else {
    for (const PlanArgument& one :
         {TensorArg("initialState", {2, 2, 3, 4}, ACL_BF16), DistinctArg("actualSeqLengths", {2}, ACL_INT32),
          RealArg("scale", 0.5), TensorArg("g", {5, 2}), OutputArg("out", {5, 2, 3}, ACL_BF16),
          OutputArg("finalState", {2, 2, 3, 4}, ACL_BF16)})
      op.valid.push_back(one);
  }
  op.takes_workspace = true;
  op.tolerance = 1e-2;
  const auto takes = [](const PlanCall& call, DtypeNumber dtype) {
    return IsSinceA2(call) && dtype == ACL_BF16;
  };
  op.rules = {NoNulls("query key value " + state + " actualSeqLengths" +
                      (is_recurrent ? " ssmStateIndices out" : " out finalState")),
              RefusedDtype("query", takes),
              RefusedDtype("key", takes),
              RefusedDtype("value", takes),
              RefusedDtype(state, takes),
              Given("beta", RefusedDtype("beta", takes)),
              DtypeIn("actualSeqLengths", kEitherIndex)};
  if (is_recurrent) op.rules.push_back(DtypeIn("ssmStateIndices", kEitherIndex));
  op.rules.push_back(Given("g", DtypeIn("g", kFloatAlone)));
  if (is_recurrent) {
    op.rules.push_back(Given("gk", DtypeIn("gk", kFloatAlone)));
    op.rules.push_back(Given("numAcceptedTokens", DtypeIn("numAcceptedTokens", kEitherIndex)));
  }
  op.rules.push_back(RefusedDtype("out", takes));
  if (!is_recurrent) op.rules.push_back(RefusedDtype("finalState", takes));
  op.rules.push_back(Refuses(kTiling, "", [=](PlanCall& call) {
    const Shape& query = call["query"].shape;
    const Shape& value = call["value"].shape;
    const Shape& states = call[state].shape;
    const Shape& lengths = call["actualSeqLengths"].shape;
    if (query.size() != 3 || value.size() != 3 || states.size() != 4 || lengths.size() != 1) return true;
    if (query[1] <= 0 || query[2] <= 0 || value[1] <= 0 || value[2] <= 0) return true;
    if (call["key"].shape != query || value[0] != query[0] || value[1] % query[1] != 0) return true;
    const Shape heads = {query[0], value[1]};
    if (states != Shape{is_recurrent ? states[0] : lengths[0], value[1], value[2], query[2]}) return true;
    if (!call["beta"].null && call["beta"].shape != heads) return true;
    if (!call["g"].null && call["g"].shape != heads) return true;
    if (is_recurrent) {
      if (call["ssmStateIndices"].shape != Shape{query[0]}) return true;
      if (!call["gk"].null && call["gk"].shape != Shape{query[0], value[1], query[2]}) return true;
      if (!call["numAcceptedTokens"].null && call["numAcceptedTokens"].shape != lengths) return true;
    } else if (call["finalState"].shape != states) {
      return true;
    }
    return call["out"].shape != value;
  }));
  op.rules.push_back(SucceedsIf([=](PlanCall& call) {
    return NumElements(call["query"].shape) == 0 && (is_recurrent || NumElements(call[state].shape) == 0);
  }));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const int64_t tokens = random.Between(1, 7);
    const int64_t key_heads = random.Between(1, 2);
    const int64_t heads = key_heads * random.Between(1, 2);
    const int64_t depth = random.Between(1, random.Chance(20) ? 40 : 6);
    const int64_t width = random.Between(1, 6);
    const int64_t sequences = random.Between(1, 3);
    call["query"].shape = call["key"].shape = {tokens, key_heads, depth};
    call["value"].shape = call["out"].shape = {tokens, heads, width};
    call["beta"].shape = call["g"].shape = {tokens, heads};
    call["actualSeqLengths"].shape = {sequences};
    call["beta"].null = random.Chance(30);
    call["g"].null = random.Chance(30);
    call["actualSeqLengths"].dtype = random.Chance(50) ? ACL_INT32 : ACL_INT64;
    call["scale"].real = 0.25;
    if (is_recurrent) {
      call["stateRef"].shape = {random.Between(1, 4), heads, width, depth};
      call["ssmStateIndices"].shape = {tokens};
      call["gk"].shape = {tokens, heads, depth};
      call["gk"].null = random.Chance(50);
      call["numAcceptedTokens"].shape = {sequences};
      call["numAcceptedTokens"].null = random.Chance(50);
    } else {
      call["initialState"].shape = call["finalState"].shape = {sequences, heads, width, depth};
    }
  };
  op.fill = [=](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    const auto arguments = TensorsOf(call);
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (arguments[i]->null || arguments[i]->name == "out" || arguments[i]->name == "finalState") continue;
      const std::string& name = arguments[i]->name;
      if (name == "actualSeqLengths") {
        int64_t left = call["query"].shape[0];
        for (int64_t b = 0; b < tensors[i].size(); ++b) {
          const int64_t length = random.Between(-1, left + (b + 1 == tensors[i].size() ? 1 : 0));
          EncodeIntegerElement(tensors[i].dtype(), length, tensors[i].Element(b));
          left -= std::clamp<int64_t>(length, 0, left);
        }
      } else if (name == "ssmStateIndices") {
        SetIntegers(tensors[i], -1, call["stateRef"].shape[0] + 1, random);
      } else if (name == "numAcceptedTokens") {
        SetIntegers(tensors[i], 0, 4, random);
      } else if (name == "g" || name == "gk") {
        for (int64_t k = 0; k < tensors[i].size(); ++k)
          tensors[i].Set(k, static_cast<double>(random.Between(-64, 0)) / 64);
      } else {
        for (int64_t k = 0; k < tensors[i].size(); ++k)
          tensors[i].Set(k, static_cast<double>(random.Between(-64, 64)) / 128);
      }
    }
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers query(call, tensors, "query");
    const Numbers key(call, tensors, "key");
    const Numbers value(call, tensors, "value");
    const Numbers beta(call, tensors, "beta");
    const Numbers g(call, tensors, "g");
    const Numbers lengths(call, tensors, "actualSeqLengths");
    const Numbers initial(call, tensors, state);
    const int64_t heads = value.shape()[1];
    const int64_t width = value.shape()[2];
    const int64_t key_heads = query.shape()[1];
    const int64_t depth = query.shape()[2];
    const int64_t of_head = width * depth;
    std::vector<double> states;
    for (int64_t i = 0; i < initial.size(); ++i) states.push_back(initial[i]);
    Outcome to_states(states.size());
    Outcome out(static_cast<size_t>(value.size()));
    for (int64_t h = 0; h < heads; ++h) {
      const int64_t kh = h / (heads / key_heads);
      int64_t first = 0;
      for (int64_t b = 0; b < lengths.size(); ++b) {
        const int64_t end = first + std::clamp<int64_t>(lengths.Integer(b), 0, value.shape()[0] - first);
        int64_t from = b;
        if (is_recurrent) {
          const Numbers accepted(call, tensors, "numAcceptedTokens");
          const int64_t n = accepted.is_given() ? accepted.Integer(b) : 1;
          from = n >= 1 && first + n - 1 < end
                     ? Numbers(call, tensors, "ssmStateIndices").Integer(first + n - 1)
                     : -1;
          if (from >= initial.shape()[0]) from = -1;
        }
        std::vector<double> s(static_cast<size_t>(of_head));
        for (int64_t i = 0; from >= 0 && i < of_head; ++i)
          s[static_cast<size_t>(i)] = states[static_cast<size_t>((from * heads + h) * of_head + i)];
        const auto store = [&](int64_t at) {
          if (at < 0 || at >= initial.shape()[0]) return;
          for (int64_t i = 0; i < of_head; ++i) {
            const auto place = static_cast<size_t>((at * heads + h) * of_head + i);
            to_states[place] = Encoded(ACL_BF16, s[static_cast<size_t>(i)]);
            states[place] = DecodeReal(ACL_BF16, to_states[place]->data());
          }
        };
        for (int64_t t = first; t < end; ++t) {
          const auto decay_of = [&](int64_t j) {
            double exponent = g.is_given() ? g.At(t, h) : 0;
            if (is_recurrent && !call["gk"].null)
              exponent += Numbers(call, tensors, "gk")[(t * heads + h) * depth + j];
            return std::exp(exponent);
          };
          std::vector<double> decays;
          for (int64_t j = 0; j < depth; ++j) decays.push_back(decay_of(j));
          for (int64_t d = 0; d < width; ++d) {
            double known = 0;
            double* const row = s.data() + d * depth;
            for (int64_t j = 0; j < depth; ++j) {
              row[j] *= decays[static_cast<size_t>(j)];
              known += row[j] * key[(t * key_heads + kh) * depth + j];
            }
            const double y =
                (value[(t * heads + h) * width + d] - known) * (beta.is_given() ? beta.At(t, h) : 1);
            double o = 0;
            for (int64_t j = 0; j < depth; ++j) {
              row[j] += y * key[(t * key_heads + kh) * depth + j];
              o += row[j] * query[(t * key_heads + kh) * depth + j] * call["scale"].real;
            }
            out[static_cast<size_t>((t * heads + h) * width + d)] = Encoded(ACL_BF16, o);
          }
          if (is_recurrent) store(Numbers(call, tensors, "ssmStateIndices").Integer(t));
        }
        if (!is_recurrent) store(b);
        first = end;
      }
    }
    return is_recurrent ? std::vector<Outcome>{to_states, out} : std::vector<Outcome>{out, to_states};
  };
  return op;
}

// ---- MaskedCausalConv1d ----

OperatorSpec Convolution() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMaskedCausalConv1d);
  op.valid = {TensorArg("x", {4, 2, 5}), TensorArg("weight", {3, 5}), TensorArg("mask", {2, 4}, ACL_BOOL),
              OutputArg("out", {4, 2, 5})};
  op.takes_workspace = true;
  op.tolerance = 1e-6;
  op.rules = {NoNulls("x weight out"),
              DtypeIn("x", kSinceA2),
              SameDtype("x", "weight"),
              Given("mask", DtypeIn("mask", {{ACL_BOOL}})),
              SameDtype("x", "out"),
              Refuses(kTiling, "",
                      [](PlanCall& call) {
                        const Shape& x = call["x"].shape;
                        return x.size() != 3 || call["weight"].shape != Shape{3, x[2]} ||
                               call["out"].shape != x ||
                               (!call["mask"].null && call["mask"].shape != Shape{x[1], x[0]});
                      }),
              DoneIfEmpty("x")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const Shape shape = {random.Between(1, 6), random.Between(1, 3), DrawColumns(random)};
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    for (const char* name : {"x", "weight", "out"}) {
      call[name].dtype = dtype;
      call[name].shape = shape;
    }
    call["weight"].shape = {3, shape[2]};
    call["mask"].shape = {shape[1], shape[0]};
    call["mask"].null = random.Chance(30);
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetNumbers(tensors[0], random);
    SetNumbers(tensors[1], random);
    if (!call["mask"].null) SetIntegers(tensors[2], 0, 2, random);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const Numbers weight(call, tensors, "weight");
    const Numbers mask(call, tensors, "mask");
    const Shape& shape = x.shape();
    std::vector<double> out;
    for (int64_t i = 0; i < x.size(); ++i) {
      const std::vector<int64_t> at = IndexAt(shape, i);
      double sum = 0;
      for (int64_t k = 0; k < 3; ++k) {
        if (at[0] - 2 + k >= 0)
          sum += weight.At(k, at[2]) * x[PositionOf(shape, {at[0] - 2 + k, at[1], at[2]})];
      }
      out.push_back(mask.is_given() && mask.Integer(at[1] * shape[0] + at[0]) == 0 ? 0 : sum);
    }
    return std::vector<Outcome>{EncodedAll(x.dtype(), out)};
  };
  return op;
}

// ---- SwigluGroup ----

OperatorSpec Gate() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnSwigluGroup);
  op.valid = {TensorArg("x", {4, 6}), TensorArg("weightOptional", {4}),
              DistinctArg("groupIndexOptional", {2}, ACL_INT64), RealArg("clampLimit", 1.5),
              OutputArg("out", {4, 3})};
  op.takes_workspace = true;
  op.updates = true;
  op.numbers_on = Product::k950;
  op.tolerance = 1e-5;
  op.rules = {NoNulls("x out"),
              RefusedDtype("x",
                           [](const PlanCall& call, DtypeNumber dtype) {
                             return IsOn950(call) &&
                                    std::count(kRowDtypes.begin(), kRowDtypes.end(), dtype) > 0;
                           }),
              Given("weightOptional", DtypeIn("weightOptional", kFloatAlone)),
              Given("groupIndexOptional", DtypeIn("groupIndexOptional", kInt64Alone)),
              SameDtype("x", "out"),
              Refuses(kTiling, "", [](PlanCall& call) {
                const Shape& x = call["x"].shape;
                if (x.size() < 2 || x.size() > 8 || NumElements(x) == 0 || x.back() % 2 != 0) return true;
                const double limit = call["clampLimit"].real;
                if (!(limit > 0) && limit != -1) return true;
                if (!call["weightOptional"].null &&
                    NumElements(call["weightOptional"].shape) != NumElements(x) / x.back())
                  return true;
                const Shape& groups = call["groupIndexOptional"].shape;
                if (!call["groupIndexOptional"].null && (groups.size() != 1 || groups[0] == 0)) return true;
                Shape out = x;
                out.back() /= 2;
                return call["out"].shape != out;
              })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape shape = DrawShape(random, 2, 4);
    shape.back() = 2 * DrawColumns(random);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    call["x"].dtype = call["out"].dtype = dtype;
    call["x"].shape = shape;
    const int64_t rows = NumElements(Shape(shape.begin(), shape.end() - 1));
    call["weightOptional"].shape = {rows};
    call["weightOptional"].null = random.Chance(40);
    call["groupIndexOptional"].shape = {random.Between(1, 3)};
    call["groupIndexOptional"].null = random.Chance(40);
    call["clampLimit"].real = random.Chance(40) ? -1 : 0.75;
    shape.back() /= 2;
    call["out"].shape = shape;
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetNumbers(tensors[0], random);
    if (!call["weightOptional"].null) SetNumbers(tensors[1], random);
    if (!call["groupIndexOptional"].null)
      SetIntegers(tensors[2], -1, NumElements(call["x"].shape) / call["x"].shape.back() + 1, random);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const Numbers weight(call, tensors, "weightOptional");
    const Numbers counts(call, tensors, "groupIndexOptional");
    const int64_t n = x.shape().back() / 2;
    const int64_t rows = x.size() / (2 * n);
    const double limit =
        call["clampLimit"].real > 0 ? call["clampLimit"].real : std::numeric_limits<double>::infinity();
    int64_t last = rows;
    if (counts.is_given()) {
      last = 0;
      for (int64_t i = 0; i < counts.size(); ++i) last += std::max<int64_t>(counts.Integer(i), 0);
      last = std::min(last, rows);
    }
    Outcome out(static_cast<size_t>(rows * n));
    for (int64_t row = 0; row < last; ++row) {
      for (int64_t i = 0; i < n; ++i) {
        const double a = std::min(x[row * 2 * n + i], limit);
        const double b = std::clamp(x[(row * 2 + 1) * n + i], -limit, limit);
        const double z = a / (1 + std::exp(-a)) * b * (weight.is_given() ? weight[row] : 1);
        out[static_cast<size_t>(row * n + i)] = Encoded(x.dtype(), z);
      }
    }
    return std::vector<Outcome>{out};
  };
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {Sample(PORTACL_C_FUNCTION(aclnnTopKTopPSample), false),
                                                Sample(PORTACL_C_FUNCTION(aclnnTopKTopPSampleV2), true),
                                                Rule(PORTACL_C_FUNCTION(aclnnRecurrentGatedDeltaRule), true),
                                                Rule(PORTACL_C_FUNCTION(aclnnChunkGatedDeltaRule), false),
                                                Convolution(),
                                                Gate()};
  return all;
}

PORTACL_OPERATOR_TESTS(Samples, Operators());

}  // namespace
}  // namespace portacl::testing
