// The best experts of each token: checks, and results against formulas in float64 with ties, NaN and groups.
// SPDX-License-Identifier: Apache-2.0
#include "moe_calls.h"

namespace portacl::testing {
namespace {

bool IsBetter(double x, double y) { return x > y || (std::isnan(x) && !std::isnan(y)); }

std::vector<double> Softmax(const std::vector<double>& x) {
  double greatest = x[0];
  for (const double value : x) greatest = IsBetter(value, greatest) ? value : greatest;
  double sum = 0;
  std::vector<double> result;
  for (const double value : x) sum += std::exp(value - greatest);
  for (const double value : x) result.push_back(std::exp(value - greatest) / sum);
  return result;
}
// The places of the k greatest, of equal ones those that come first.
std::vector<int64_t> Best(const std::vector<double>& scores, int64_t k, const std::vector<bool>& open) {
  std::vector<int64_t> order;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (open.empty() || open[i]) order.push_back(static_cast<int64_t>(i));
  }
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return IsBetter(scores[static_cast<size_t>(a)], scores[static_cast<size_t>(b)]);
  });
  order.resize(static_cast<size_t>(k));
  return order;
}

// Numbers that are far apart or equal, so that no rounding changes an order.
void SetScores(HostTensor& tensor, RandomNumbers& random, bool with_nan) {
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const double value = static_cast<double>(random.Between(-12, 12)) / 4.0;
    tensor.Set(i, with_nan && random.Chance(2) ? std::numeric_limits<double>::quiet_NaN() : value);
  }
}

// ---- with groups ----

bool IsWrong(PlanCall& call, bool is_second) {
  const Shape& x = call["x"].shape;
  const auto number = [&](const char* name) { return call[name].integer; };
  if (x.size() != 2) return true;
  const int64_t experts = x[1];
  const int64_t k = number("k");
  const Shape chosen = {x[0], k};
  if (!call["biasOptional"].null && call["biasOptional"].shape != Shape{experts}) return true;
  if (call["yOut"].shape != chosen || call["expertIdxOut"].shape != chosen ||
      call["outOut"].shape.size() != 2)
    return true;
  if (number("outFlag") != 0 && call["outOut"].shape != x) return true;
  if (k < 1 || k > experts || experts > 2048 || (is_second && k > 64)) return true;
  const int64_t kept = number("kGroup");
  const int64_t groups = number("groupCount");
  if (kept < 1 || groups < 1 || kept > groups) return true;
  const bool has_third = is_second && IsOn950(call);
  const int64_t type = number("normType");
  const int64_t renorm = number("renorm");
  if (type < 0 || type > (has_third ? 2 : 1) || number("groupSelectMode") < 0 ||
      number("groupSelectMode") > 1)
    return true;
  if (renorm < 0 || renorm > (type == 0 && !IsOn950(call) ? 1 : 0)) return true;
  if (experts % groups != 0 || (number("groupSelectMode") == 1 && experts / groups < 2)) return true;
  if (k > kept * (experts / groups)) return true;
  if (is_second && kept != groups && groups != experts) return true;
  if (is_second && !call["inputIdsOptional"].null && !call["tid2eidOptional"].null) {
    const Shape& table = call["tid2eidOptional"].shape;
    return call["inputIdsOptional"].shape != Shape{x[0]} || table.size() != 2 || table[1] != k;
  }
  return false;
}

OperatorSpec TopK(const CFunction& function, bool is_second) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("x", {2, 3}), TensorArg("biasOptional", {3})};
  if (is_second) {
    op.valid.push_back(TensorArg("inputIdsOptional", {2}, ACL_INT32));
    op.valid.push_back(TensorArg("tid2eidOptional", {4, 2}, ACL_INT32));
  }
  for (const auto& [name, value] : std::vector<std::pair<std::string, int64_t>>{{"k", 2},
                                                                                {"kGroup", 1},
                                                                                {"groupCount", 1},
                                                                                {"groupSelectMode", 0},
                                                                                {"renorm", 0},
                                                                                {"normType", 1},
                                                                                {"outFlag", 1}})
    op.valid.push_back(IntegerArg(name, value));
  op.valid.push_back(RealArg("routedScalingFactor", 1));
  op.valid.push_back(RealArg("eps", 1e-20));
  op.valid.push_back(OutputArg("yOut", {2, 2}));
  op.valid.push_back(OutputArg("expertIdxOut", {2, 2}, ACL_INT32));
  op.valid.push_back(OutputArg("outOut", {2, 3}));
  op.takes_workspace = true;
  op.rules = {NoNulls("x yOut expertIdxOut outOut")};
  // The second form does not look at the types of empty tensors.
  const auto looked_at = [=](const std::string& name, const Rule& rule) -> Rule {
    return [=](PlanCall& call) -> std::optional<Verdict> {
      if (call[name].null || (is_second && NumElements(call[name].shape) == 0)) return std::nullopt;
      return rule(call);
    };
  };
  op.rules.push_back(looked_at("x", DtypeIn("x", kSinceA2)));
  op.rules.push_back(looked_at("biasOptional", SameDtype("x", "biasOptional")));
  op.rules.push_back(looked_at("yOut", SameDtype("x", "yOut")));
  if (is_second) {
    op.rules.push_back(looked_at("inputIdsOptional", DtypeIn("inputIdsOptional", kEitherIndex)));
    op.rules.push_back(looked_at("tid2eidOptional", DtypeIn("tid2eidOptional", kEitherIndex)));
  }
  op.rules.push_back(looked_at("expertIdxOut", DtypeIn("expertIdxOut", kInt32Alone)));
  op.rules.push_back(looked_at("outOut", DtypeIn("outOut", is_second ? Listed{kRowDtypes} : kFloatAlone)));
  op.rules.push_back(Refuses(561002, "", [=](PlanCall& call) { return IsWrong(call, is_second); }));
  op.rules.push_back(DoneIfEmpty("x"));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const int64_t n = random.Between(1, 7);
    const int64_t groups = random.Between(1, 4);
    const int64_t size = random.Chance(10) ? random.Between(20, 60) : random.Between(1, 6);
    const int64_t experts = groups * size;
    const int64_t kept = is_second ? groups : random.Between(1, groups);
    const int64_t k = random.Between(1, std::min<int64_t>(kept * size, 20));
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    call["x"] = TensorArg("x", {n, experts}, dtype);
    call["biasOptional"] = TensorArg("biasOptional", {experts}, dtype);
    call["biasOptional"].null = random.Chance(50);
    call["k"].integer = k;
    call["kGroup"].integer = kept;
    call["groupCount"].integer = groups;
    call["groupSelectMode"].integer = size > 1 ? random.Below(2) : 0;
    const int64_t type = random.Below(is_second ? 3 : 2);
    call["normType"].integer = type;
    call["renorm"].integer = !is_second && !IsOn950(call) && type == 0 ? random.Below(2) : 0;
    call["outFlag"].integer = random.Below(2);
    call["routedScalingFactor"].real = random.Chance(50) ? 1 : 2.5;
    call["yOut"] = OutputArg("yOut", {n, k}, dtype);
    call["expertIdxOut"] = OutputArg("expertIdxOut", {n, k}, ACL_INT32);
    call["outOut"] =
        OutputArg("outOut", {n, experts}, is_second ? DrawDtype(random, kRowDtypes) : DtypeNumber{ACL_FLOAT});
    if (!is_second) return;
    const bool has_table = random.Chance(50);
    call["inputIdsOptional"] = TensorArg("inputIdsOptional", {n}, random.Chance(50) ? ACL_INT32 : ACL_INT64);
    call["tid2eidOptional"] =
        TensorArg("tid2eidOptional", {random.Between(1, 5), k}, random.Chance(50) ? ACL_INT32 : ACL_INT64);
    call["inputIdsOptional"].null = !has_table;
    call["tid2eidOptional"].null = !has_table && random.Chance(50);
  };
  op.fill = [=](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetScores(tensors[0], random, true);
    SetScores(tensors[1], random, false);
    if (!is_second) return;
    SetIntegers(tensors[2], 0, call["tid2eidOptional"].shape[0], random);
    SetIntegers(tensors[3], 0, call["x"].shape[1], random);
  };
  op.is_inexact = true;
  op.tolerance = 2e-6;
  op.numbers_on = is_second ? Product::k950 : Product::kA2;
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const Numbers bias(call, tensors, "biasOptional");
    const int64_t experts = x.shape()[1];
    const int64_t k = call["k"].integer;
    const int64_t groups = call["groupCount"].integer;
    const int64_t kept = call["kGroup"].integer;
    const int64_t type = call["normType"].integer;
    const bool has_table = is_second && !call["inputIdsOptional"].null && !call["tid2eidOptional"].null;
    std::vector<double> y;
    std::vector<double> all;
    std::vector<int64_t> chosen;
    for (int64_t i = 0; i < x.shape()[0]; ++i) {
      std::vector<double> v;
      for (int64_t e = 0; e < experts; ++e) v.push_back(x.At(i, e));
      if (type == 0) v = Softmax(v);
      for (double& value : v) {
        if (type == 1) value = 1 / (1 + std::exp(-value));
        if (type == 2) value = std::sqrt(std::log1p(std::exp(value)));
      }
      all.insert(all.end(), v.begin(), v.end());
      std::vector<double> score;
      for (int64_t e = 0; e < experts; ++e) {
        // Ranks are those of FLOAT: equal where it makes equal ones.
        const auto single = static_cast<float>(v[static_cast<size_t>(e)]);
        score.push_back(static_cast<double>(bias.is_given() ? single + static_cast<float>(bias[e]) : single));
      }
      std::vector<bool> open(score.size(), true);
      if (groups > 1 && groups < experts && kept < groups) {
        const int64_t size = experts / groups;
        std::vector<double> of_group;
        for (int64_t g = 0; g < groups; ++g) {
          const std::vector<double> own(score.begin() + g * size, score.begin() + (g + 1) * size);
          const std::vector<int64_t> two = Best(own, std::min<int64_t>(2, size), {});
          const double first = own[static_cast<size_t>(two[0])];
          of_group.push_back(
              call["groupSelectMode"].integer == 1
                  ? static_cast<double>(static_cast<float>(first + own[static_cast<size_t>(two[1])]))
                  : first);
        }
        open.assign(score.size(), false);
        for (const int64_t g : Best(of_group, kept, {})) std::fill_n(open.begin() + g * size, size, true);
      }
      std::vector<int64_t> best;
      if (has_table) {
        const int64_t row = Numbers(call, tensors, "inputIdsOptional").Integer(i);
        for (int64_t j = 0; j < k; ++j)
          best.push_back(Numbers(call, tensors, "tid2eidOptional").Integer(row * k + j));
      } else {
        best = Best(score, k, open);
      }
      double sum = call["eps"].real;
      for (const int64_t e : best) sum += v[static_cast<size_t>(e)];
      const bool normalises = type != 0 || call["renorm"].integer == 1;
      for (const int64_t e : best) {
        const double value = v[static_cast<size_t>(e)];
        y.push_back((normalises ? value / sum : value) * call["routedScalingFactor"].real);
        chosen.push_back(e);
      }
    }
    return std::vector<Outcome>{
        EncodedAll(x.dtype(), y), EncodedIntegers(ACL_INT32, chosen),
        call["outFlag"].integer != 0 ? EncodedAll(call["outOut"].dtype, all) : Outcome{}};
  };
  return op;
}

// ---- softmax ----

bool IsSoftmaxWrong(PlanCall& call, bool is_second) {
  const Shape& x = call["x"].shape;
  if (x.size() < 2 || x.size() > 3 || (is_second ? x.back() == 0 : NumElements(x) == 0)) return true;
  const Shape rows(x.begin(), x.end() - 1);
  const int64_t k = call["k"].integer;
  if (!call["finishedOptional"].null && call["finishedOptional"].shape != rows) return true;
  if (k < 1 || k > x.back() || k > 1024) return true;
  Shape chosen = x;
  chosen.back() = k;
  if (call["yOut"].shape != chosen || call["expertIdxOut"].shape != chosen) return true;
  if (!is_second) return call["rowIdxOut"].shape != chosen;
  if (call["renorm"].integer < 0 || call["renorm"].integer > 1) return true;
  const bool gives = call["renorm"].integer == 0 && call["outputSoftmaxResultFlag"].integer != 0;
  return gives && (call["softmaxResultOutOptional"].null || call["softmaxResultOutOptional"].shape != x);
}

OperatorSpec SoftmaxTopK(const CFunction& function, bool is_second) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("x", {2, 3}), TensorArg("finishedOptional", {2}, ACL_BOOL), IntegerArg("k", 2)};
  if (is_second) {
    op.valid.push_back(IntegerArg("renorm", 0));
    op.valid.push_back(IntegerArg("outputSoftmaxResultFlag", 1));
  }
  op.valid.push_back(OutputArg("yOut", {2, 2}));
  op.valid.push_back(OutputArg("expertIdxOut", {2, 2}, ACL_INT32));
  op.valid.push_back(is_second ? OutputArg("softmaxResultOutOptional", {2, 3})
                               : OutputArg("rowIdxOut", {2, 2}, ACL_INT32));
  op.takes_workspace = true;
  op.rules = {NoNulls(is_second ? "x yOut expertIdxOut" : "x yOut expertIdxOut rowIdxOut"),
              RefusedDtype("x",
                           [=](const PlanCall& call, DtypeNumber dtype) {
                             if (is_second) return kSinceA2.Has(call.product, dtype);
                             if (call.product == Product::k310P) return dtype == ACL_FLOAT16;
                             return IsOnA2OrA3(call) && kSinceA2.Has(call.product, dtype);
                           }),
              Given("finishedOptional", DtypeIn("finishedOptional", {{ACL_BOOL}})), SameDtype("x", "yOut"),
              DtypeIn("expertIdxOut", kInt32Alone)};
  if (is_second) {
    op.rules.push_back(Refuses(161002, "softmaxResultOutOptional", [](PlanCall& call) {
      return call["renorm"].integer == 0 && call["outputSoftmaxResultFlag"].integer != 0 &&
             !call["softmaxResultOutOptional"].null && call["softmaxResultOutOptional"].dtype != ACL_FLOAT;
    }));
  } else {
    op.rules.push_back(DtypeIn("rowIdxOut", kInt32Alone));
  }
  op.rules.push_back(Refuses(561002, "", [=](PlanCall& call) { return IsSoftmaxWrong(call, is_second); }));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape x = {random.Between(1, 5), random.Chance(10) ? random.Between(100, 300) : random.Between(1, 9)};
    if (random.Chance(40)) x.insert(x.begin(), random.Between(1, 4));
    const int64_t k = random.Between(1, std::min<int64_t>(x.back(), 12));
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    Shape chosen = x;
    chosen.back() = k;
    call["x"] = TensorArg("x", x, dtype);
    call["finishedOptional"] = TensorArg("finishedOptional", Shape(x.begin(), x.end() - 1), ACL_BOOL);
    call["finishedOptional"].null = random.Chance(50);
    call["k"].integer = k;
    call["yOut"] = OutputArg("yOut", chosen, dtype);
    call["expertIdxOut"] = OutputArg("expertIdxOut", chosen, ACL_INT32);
    if (!is_second) {
      call["rowIdxOut"] = OutputArg("rowIdxOut", chosen, ACL_INT32);
      return;
    }
    call["renorm"].integer = random.Below(2);
    call["outputSoftmaxResultFlag"].integer = random.Below(2);
    call["softmaxResultOutOptional"] = OutputArg("softmaxResultOutOptional", x);
    call["softmaxResultOutOptional"].null =
        (call["renorm"].integer != 0 || call["outputSoftmaxResultFlag"].integer == 0) && random.Chance(50);
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetScores(tensors[0], random, true);
    SetIntegers(tensors[1], 0, 2, random);
  };
  op.is_inexact = true;
  op.tolerance = 2e-6;
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const Numbers finished(call, tensors, "finishedOptional");
    const int64_t experts = x.shape().back();
    const int64_t n = x.size() / experts;
    const int64_t k = call["k"].integer;
    const bool comes_after = is_second && call["renorm"].integer == 1;
    std::vector<double> y;
    std::vector<double> all;
    std::vector<int64_t> chosen;
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < n; ++i) {
      std::vector<double> v;
      for (int64_t e = 0; e < experts; ++e) v.push_back(x.At(i, e));
      if (!comes_after) v = Softmax(v);
      all.insert(all.end(), v.begin(), v.end());
      std::vector<double> score;
      for (const double value : v) {
        const bool is_half = !comes_after && x.dtype() == ACL_FLOAT16;
        score.push_back(is_half ? DecodeReal(ACL_FLOAT16, Encoded(ACL_FLOAT16, value).data())
                                : static_cast<double>(static_cast<float>(value)));
      }
      const std::vector<int64_t> best = Best(score, k, {});
      std::vector<double> values;
      for (const int64_t e : best) values.push_back(v[static_cast<size_t>(e)]);
      if (comes_after) values = Softmax(values);
      y.insert(y.end(), values.begin(), values.end());
      const bool is_finished = finished.is_given() && finished.Integer(i) != 0;
      for (int64_t j = 0; j < k; ++j) {
        chosen.push_back(is_finished ? experts : best[static_cast<size_t>(j)]);
        rows.push_back(j * n + i);
      }
    }
    std::vector<Outcome> outcomes = {EncodedAll(x.dtype(), y), EncodedIntegers(ACL_INT32, chosen)};
    if (!is_second) outcomes.push_back(EncodedIntegers(ACL_INT32, rows));
    if (is_second)
      outcomes.push_back(!comes_after && call["outputSoftmaxResultFlag"].integer != 0
                             ? EncodedAll(ACL_FLOAT, all)
                             : Outcome{});
    return outcomes;
  };
  return op;
}

// ---- the gradient ----

OperatorSpec Backward() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMoeGatingTopKBackward);
  op.valid = {
      TensorArg("xNorm", {2, 3}), TensorArg("gradY", {2, 2}), TensorArg("expertIdx", {2, 2}, ACL_INT32),
      IntegerArg("renorm", 0),    IntegerArg("normType", 1),  RealArg("routedScalingFactor", 1),
      RealArg("eps", 1e-20),      OutputArg("out", {2, 3})};
  op.takes_workspace = true;
  op.rules = {NoNulls("xNorm gradY expertIdx out"),
              DtypeIn("xNorm", kFloatAlone),
              RefusedDtype("gradY",
                           [](const PlanCall& call, DtypeNumber dtype) {
                             return IsOnA2OrA3(call) && kSinceA2.Has(call.product, dtype);
                           }),
              DtypeIn("expertIdx", kInt32Alone),
              SameDtype("gradY", "out"),
              Refuses(561002, "",
                      [](PlanCall& call) {
                        const Shape& x = call["xNorm"].shape;
                        const Shape& grad = call["gradY"].shape;
                        if (x.size() != 2 || grad.size() != 2 || x[1] < 2 || x[1] > 2048) return true;
                        return grad[0] != x[0] || grad[1] < 1 || grad[1] > x[1] ||
                               call["expertIdx"].shape != grad || call["renorm"].integer < 0 ||
                               call["renorm"].integer > 1 || call["normType"].integer != 1 ||
                               call["out"].shape != x;
                      }),
              DoneIfEmpty("out")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t n = random.Between(1, 8);
    const int64_t experts = random.Between(2, 12);
    const int64_t k = random.Between(1, experts);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    call["xNorm"] = TensorArg("xNorm", {n, experts});
    call["gradY"] = TensorArg("gradY", {n, k}, dtype);
    call["expertIdx"] = TensorArg("expertIdx", {n, k}, ACL_INT32);
    call["routedScalingFactor"].real = random.Chance(50) ? 1 : 2.5;
    call["out"] = OutputArg("out", {n, experts}, dtype);
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (int64_t i = 0; i < tensors[0].size(); ++i)
      tensors[0].Set(i, static_cast<double>(random.Between(16, 100)) / 128);
    SetNumbers(tensors[1], random);
    SetIntegers(tensors[2], 0, call["xNorm"].shape[1], random);
  };
  op.is_inexact = true;
  op.tolerance = 1e-5;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "xNorm");
    const Numbers grad(call, tensors, "gradY");
    const Numbers chosen(call, tensors, "expertIdx");
    const int64_t k = grad.shape()[1];
    const int64_t experts = x.shape()[1];
    std::vector<double> out;
    for (int64_t i = 0; i < x.shape()[0]; ++i) {
      std::vector<double> sums(static_cast<size_t>(experts));
      double total = call["eps"].real;
      for (int64_t j = 0; j < k; ++j) total += x.At(i, chosen.Integer(i * k + j));
      double beta = 0;
      const double factor = call["routedScalingFactor"].real;
      for (int64_t j = 0; j < k; ++j)
        beta += x.At(i, chosen.Integer(i * k + j)) / total * factor * grad.At(i, j);
      for (int64_t j = 0; j < k; ++j)
        sums[static_cast<size_t>(chosen.Integer(i * k + j))] += (factor * grad.At(i, j) - beta) / total;
      for (int64_t e = 0; e < experts; ++e)
        out.push_back(x.At(i, e) * (1 - x.At(i, e)) * sums[static_cast<size_t>(e)]);
    }
    return std::vector<Outcome>{EncodedAll(grad.dtype(), out)};
  };
  return op;
}

const OperatorSpec kOperators[] = {
    TopK(PORTACL_C_FUNCTION(aclnnMoeGatingTopK), false), TopK(PORTACL_C_FUNCTION(aclnnMoeGatingTopKV2), true),
    SoftmaxTopK(PORTACL_C_FUNCTION(aclnnMoeGatingTopKSoftmax), false),
    SoftmaxTopK(PORTACL_C_FUNCTION(aclnnMoeGatingTopKSoftmaxV2), true), Backward()};
PORTACL_OPERATOR_TESTS(Gating, kOperators);

TEST(GatingBad, ASoftmaxFartherApartThanThereAreAddressesIsRefused) {
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "3"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  std::vector<float> numbers(6);
  Made tensors;
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(
      aclnnMoeGatingTopKSoftmaxV2GetWorkspaceSize(
          tensors.Dense({2, 3}, ACL_FLOAT, numbers.data()), nullptr, 2, 0, true,
          tensors.Dense({2, 2}, ACL_FLOAT, numbers.data()), tensors.Dense({2, 2}, ACL_INT32, numbers.data()),
          tensors.FarApart({2, 3}, ACL_FLOAT, numbers.data()), &size, &executor),
      161002);
  ExpectMessage("softmaxResultOutOptional");
}

}  // namespace
}  // namespace portacl::testing
