// Sums, means, logarithms of sums, and variances, as descriptions.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "aclnnop/families/reductions.h"
#include "operators/reduction_calls.h"

namespace portacl::testing::reductions {

// ---- sums and means ----

std::vector<OperatorSpec> Sums() {
  std::vector<OperatorSpec> all;
  const Listed sums = kFDCI;
  const auto complex_empty = [](const std::string& out) {
    return Refuses(161002, out,
                   [=](PlanCall& call) { return IsEmpty(call) && IsOneOf(call[out].dtype, kComplexDtypes); });
  };
  const auto has_dims = [](const PlanCall& call) { return !call.arguments[0].shape.empty(); };
  const auto no_dims = [](const PlanCall& call) { return call.arguments[0].shape.empty(); };

  OperatorSpec sum =
      Make(PORTACL_C_FUNCTION(aclnnReduceSum),
           {TensorArg("self", {2, 3}), ArrayArg("dims", {1}), IntegerArg("keepDims", 0),
            IntegerArg("dtype", ACL_FLOAT), OutputArg("out", {2})},
           {NoNulls("self dims out"), DtypeIn("self", sums), DtypeIn("out", sums), DtypeListed("dtype", sums),
            DtypeOf("out", "dtype"), Ranks("self", 0, 8), Dims("dims"), complex_empty("out"), EmptyGives(),
            SetsResult("dims", "keepDims"), When(has_dims, ResultIsOrOne("out")),
            When(no_dims, ResultIsOrOne("out", 561103))});
  sum.draw = Drawing("dims", "keepDims", {.self = kSummed, .dtype = kSummed});
  sum.fill = Filling(Values::kSums);
  sum.oracle =
      Folding("dims", GivenDtype, [](const PlanCall& call, DtypeNumber dtype, const Elements& elements) {
        return std::vector<Element>{SumOf(dtype, elements, OutOf(call))};
      });
  all.push_back(sum);

  OperatorSpec mean =
      Make(PORTACL_C_FUNCTION(aclnnMean),
           {TensorArg("self", {2, 3}), ArrayArg("dim", {1}), IntegerArg("keepDim", 0),
            IntegerArg("dtype", ACL_FLOAT), OutputArg("out", {2})},
           {NoNulls("self dim out"), DtypeIn("self", kRealComplex), DtypeListed("dtype", kRealComplex),
            DtypeIn("out", kRealComplex), Casts("self", "dtype"), Casts("dtype", "out"), Dims("dim"),
            Ranks("self out", 0, 8), complex_empty("out"), EmptyGives(), SetsResult("dim", "keepDim"),
            ResultIsOrOne("out")});
  const DtypeList means = Plus(kReals, kComplexDtypes);
  mean.draw = Drawing("dim", "keepDim", {.self = means, .dtype = means, .out = means});
  mean.fill = Filling(Values::kSums);
  mean.oracle =
      Folding("dim", GivenDtype, [](const PlanCall& call, DtypeNumber dtype, const Elements& elements) {
        return std::vector<Element>{MeanOf(dtype, elements, OutOf(call))};
      });
  all.push_back(mean);

  const auto is_left_alone = [](const std::string& dims, const std::string& noop) {
    return [=](const PlanCall& call) { return call[dims].values.empty() && call[noop].integer != 0; };
  };
  const auto stays = Sets([](PlanCall& call) { call.result = call.arguments[0].shape; });

  OperatorSpec mean_v2 =
      Make(PORTACL_C_FUNCTION(aclnnMeanV2),
           {TensorArg("self", {2, 3}), ArrayArg("dim", {1}), IntegerArg("keepDim", 0),
            IntegerArg("noopWithEmptyAxes", 0), OutputArg("out", {2})},
           {NoNulls("self dim out"), DtypeIn("self", kRealComplex), DtypeIn("out", kRealComplex),
            SameDtype("self", "out"), Dims("dim"), Ranks("self out", 0, 8), complex_empty("out"),
            EmptyGives(), SetsResult("dim", "keepDim"),
            When(is_left_alone("dim", "noopWithEmptyAxes"), stays), ResultIsOrOne("out")});
  mean_v2.draw = Drawing("dim", "keepDim", {.self = means});
  mean_v2.fill = Filling(Values::kSums);
  mean_v2.oracle =
      Folding("dim", OwnDtype, [](const PlanCall& call, DtypeNumber dtype, const Elements& elements) {
        return std::vector<Element>{MeanOf(dtype, elements, OutOf(call))};
      });
  mean_v2.oracle = [inner = mean_v2.oracle](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    if (call["noopWithEmptyAxes"].integer == 0 || !call["dim"].values.empty()) return inner(call, tensors);
    return std::vector<Outcome>{Outcome(tensors[0].elements.begin(), tensors[0].elements.end())};
  };
  all.push_back(mean_v2);

  const Listed nansum = {.on_new = kThree, .on_950 = {}};
  const auto nansum_list = [=](const std::string& name) {
    return Refuses(161002, name, [=](PlanCall& call) {
      const DtypeNumber dtype = call[name].kind == ParameterKind::kTensor
                                    ? call[name].dtype
                                    : static_cast<DtypeNumber>(call[name].integer);
      if (call.product != Product::k950 && IsOneOf(dtype, kSignedAndBool)) return false;
      return !IsOneOf(dtype, kThree);
    });
  };
  OperatorSpec nan_sum =
      Make(PORTACL_C_FUNCTION(aclnnReduceNansum),
           {TensorArg("self", {2, 3}), ArrayArg("dim", {1}), IntegerArg("keepDim", 0),
            IntegerArg("dtype", ACL_FLOAT), OutputArg("out", {2})},
           {NoNulls("self dim out"),
            On({Product::k910, Product::k310P, Product::k310B},
               Refuses(161002, "self", [](PlanCall&) { return true; })),
            nansum_list("self"), nansum_list("dtype"), nansum_list("out"), DtypeOf("out", "dtype"),
            Casts("self", "out"), Dims("dim"), Ranks("self out", 0, 8), EmptyGives(),
            SetsResult("dim", "keepDim"), ResultIsOrOne("out")});
  const DtypeList nansums = Plus(kThree, {ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_BOOL});
  nan_sum.draw = Drawing("dim", "keepDim", {.self = nansums, .dtype = nansums});
  nan_sum.fill = Filling(Values::kSums);
  nan_sum.oracle =
      Folding("dim", GivenDtype, [](const PlanCall& call, DtypeNumber dtype, const Elements& elements) {
        Elements numbers;
        for (const Element& one : elements) {
          if (IsInteger(dtype) || !std::isnan(RealOf(dtype, one))) numbers.push_back(one);
        }
        return std::vector<Element>{SumOf(dtype, numbers, OutOf(call))};
      });
  all.push_back(nan_sum);

  OperatorSpec trace =
      Make(PORTACL_C_FUNCTION(aclnnTrace), {TensorArg("self", {2, 3}), OutputArg("out", {})},
           {NoNulls("self out"), Ranks("self", 2, 2), Ranks("out", 0, 0), DtypeIn("self", sums),
            Refuses(161002, "out",
                    [](PlanCall& call) {
                      const DtypeNumber self = call["self"].dtype;
                      return call["out"].dtype != (IsIntegral(self) ? ACL_INT64 : self);
                    }),
            EmptyGives()});
  trace.draw = [](PlanCall& call, RandomNumbers& random) {
    call["self"].shape = {random.Between(1, 40), random.Between(1, 40)};
    call["self"].dtype = DrawDtype(random, kSummed);
    call["out"].dtype = IsIntegral(call["self"].dtype) ? ACL_INT64 : call["self"].dtype;
  };
  trace.fill = Filling(Values::kSums);
  trace.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    Elements diagonal;
    const DtypeNumber out = OutOf(call);
    for (int64_t i = 0; i < std::min(tensors[0].shape[0], tensors[0].shape[1]); ++i)
      diagonal.push_back(ConvertedElement(
          tensors[0].dtype, tensors[0].elements[static_cast<size_t>(i * (tensors[0].shape[1] + 1))], out));
    return std::vector<Outcome>{{SumOf(out, diagonal, out)}};
  };
  all.push_back(trace);
  return all;
}

// ---- logarithms: results to within the rounding of the oracle ----

std::vector<OperatorSpec> Logarithms() {
  std::vector<OperatorSpec> all;
  const Listed exponentials = kReal + DtypeList{ACL_BOOL} - DtypeList{ACL_DOUBLE};
  const Listed floats = {{ACL_FLOAT, ACL_FLOAT16}, {ACL_BF16}};
  OperatorSpec exp =
      Make(PORTACL_C_FUNCTION(aclnnLogSumExp),
           {TensorArg("self", {2, 3}), ArrayArg("dim", {1}), IntegerArg("keepDim", 0), OutputArg("out", {2})},
           {NoNulls("self dim out"), DtypeIn("self", exponentials), DtypeIn("out", floats),
            Casts("self", "out"), Dims("dim"), Ranks("self out", 0, 8), SetsResult("dim", "keepDim"),
            ResultIs("out"), EmptyGives(), On({Product::k950}, Public("self"))});
  exp.tolerance = 1e-6;
  DtypeList drawn = kRealsAndBool;
  drawn.erase(std::find(drawn.begin(), drawn.end(), DtypeNumber{ACL_DOUBLE}));
  exp.draw = Drawing("dim", "keepDim", {.self = drawn, .out = kThree}, false);
  exp.fill = Filling(Values::kSums);
  exp.oracle =
      Folding("dim", OwnDtype, [](const PlanCall& call, DtypeNumber dtype, const Elements& elements) {
        Number_ sum = 0;
        for (const Element& one : elements) sum += std::exp(RealOf(dtype, one));
        return std::vector<Element>{ElementOfNumber(OutOf(call), {std::log(sum), 0})};
      });
  all.push_back(exp);

  const Listed halves = {{ACL_FLOAT, ACL_FLOAT16}, {}, {ACL_BF16}};
  const auto is_left_alone = [](const PlanCall& call) {
    return call["axes"].values.empty() && call["noopWithEmptyAxes"].integer != 0;
  };
  const auto is_reduced = [=](const PlanCall& call) { return !is_left_alone(call); };
  OperatorSpec log =
      Make(PORTACL_C_FUNCTION(aclnnReduceLogSum),
           {TensorArg("data", {2, 3}), ArrayArg("axes", {1}), IntegerArg("keepDims", 0),
            IntegerArg("noopWithEmptyAxes", 0), OutputArg("reduce", {2})},
           {NoNulls("data axes reduce"), DtypeIn("data", halves), DtypeIn("reduce", halves),
            Ranks("data", 0, 8), Dims("axes"), EmptyGives(), SetsResult("axes", "keepDims"),
            When(is_left_alone, Sets([](PlanCall& call) { call.result = call["data"].shape; })),
            When(is_reduced, ResultIsOrOne("reduce")), When(is_left_alone, ResultIsOrOne("reduce", 561103)),
            Refuses(561103, "data reduce",
                    [](PlanCall& call) { return call["data"].dtype != call["reduce"].dtype; })});
  log.tolerance = 1e-6;
  log.draw = Drawing("axes", "keepDims", {.self = {ACL_FLOAT, ACL_FLOAT16}});
  log.fill = Filling(Values::kSums);
  log.oracle =
      Folding("axes", OwnDtype, [](const PlanCall& call, DtypeNumber dtype, const Elements& elements) {
        const Number_ sum = TotalOf(dtype, elements, /*is_product=*/false).number().real;
        return std::vector<Element>{ElementOfNumber(call["reduce"].dtype, {std::log(sum), 0})};
      });
  log.oracle = [=, inner = log.oracle](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    if (!is_left_alone(call)) return inner(call, tensors);
    return std::vector<Outcome>{Outcome(tensors[0].elements.begin(), tensors[0].elements.end())};
  };
  all.push_back(log);
  return all;
}

// ---- variances: results to within the rounding of the oracle ----

std::vector<OperatorSpec> Variances() {
  std::vector<OperatorSpec> all;
  const Listed three = {{ACL_FLOAT, ACL_FLOAT16}, {ACL_BF16}};
  const Listed of_var_mean = {{ACL_FLOAT, ACL_FLOAT16}, {}, {ACL_BF16}};
  struct Kind {
    CFunction function;
    std::string correction;
    bool is_root;
    bool has_mean;
    bool is_fixed;  // on Atlas A2
  };
  const Kind kinds[] = {{PORTACL_C_FUNCTION(aclnnVar), "unbiased", false, false, false},
                        {PORTACL_C_FUNCTION(aclnnVarCorrection), "correction", false, false, true},
                        {PORTACL_C_FUNCTION(aclnnStd), "correction", true, false, true},
                        {PORTACL_C_FUNCTION(aclnnStdMeanCorrection), "correction", true, true, true},
                        {PORTACL_C_FUNCTION(aclnnVarMean), "correction", false, true, true}};
  for (const Kind& kind : kinds) {
    const std::string first = !kind.has_mean ? "out" : kind.is_root ? "stdOut" : "varOut";
    const std::string outs = kind.has_mean ? first + " meanOut" : first;
    std::vector<PlanArgument> valid = {TensorArg("self", {2, 3}), ArrayArg("dim", {1}),
                                       IntegerArg(kind.correction, 1), IntegerArg("keepdim", 0),
                                       OutputArg(first, {2})};
    if (kind.has_mean) valid.push_back(OutputArg("meanOut", {2}));
    const Listed& list = kind.has_mean && !kind.is_root ? of_var_mean : three;
    Rules rules = {NoNulls("self " + outs), DtypeIn("self " + outs, list)};
    if (kind.is_root && !kind.has_mean) rules.push_back(Casts("self", "out"));
    if (kind.is_root && kind.has_mean) {
      const auto before_950 = [](const PlanCall& call) { return call.product != Product::k950; };
      rules = rules + Rules{When(before_950, SameDtype("self", "stdOut")),
                            When(before_950, SameDtype("self", "meanOut"))};
    }
    rules = rules + Rules{Dims("dim"), Ranks(kind.is_root ? "self " + outs : "self", 0, 8),
                          SetsResult("dim", "keepdim")};
    const auto names_dims = [](const PlanCall& call) {
      return !call["dim"].null && !call["dim"].values.empty();
    };
    const auto names_none = [=](const PlanCall& call) { return !names_dims(call); };
    for (const std::string& out :
         kind.has_mean ? (kind.is_root ? Words("stdOut meanOut") : Words("meanOut varOut")) : Words("out"))
      rules.push_back(kind.is_root ? When(names_dims, ResultIs(out)) : ResultIs(out));
    rules.push_back(EmptyGives());
    if (kind.is_root) {
      for (const std::string& out : Words(outs))
        rules.push_back(When(names_none, ResultIsOrOne(out, 561103)));
    }
    OperatorSpec op = Make(kind.function, valid, rules);
    const DtypeList drawn_dtypes =
        kind.has_mean && !kind.is_root ? DtypeList{ACL_FLOAT, ACL_FLOAT16} : kThree;
    op.draw = [=](PlanCall& call, RandomNumbers& random) {
      Drawn drawn{.self = drawn_dtypes};
      // Exact numbers lie halfway between two of 16 bits too often for an oracle of other roundings.
      if (!kind.is_root || !kind.has_mean) drawn.out = {ACL_FLOAT};
      Draw(call, random, "dim", "keepdim", drawn, false);
      call[kind.correction].integer = kind.correction == "unbiased" ? random.Below(2) : random.Between(-1, 4);
    };
    op.fill = Filling(Values::kSums);
    op.oracle =
        Folding("dim", OwnDtype, [=](const PlanCall& call, DtypeNumber dtype, const Elements& elements) {
          const auto n = static_cast<Number_>(elements.size());
          const auto correction = static_cast<Number_>(call[kind.correction].integer);
          Number_ sum = 0;
          for (const Element& one : elements) sum += RealOf(dtype, one);
          const Number_ mean = sum / n;
          Number_ squares = 0;
          for (const Element& one : elements)
            squares += (RealOf(dtype, one) - mean) * (RealOf(dtype, one) - mean);
          const Number_ divisor = std::max<Number_>(0, n - correction);
          // What is 0 in exact numbers must not become infinite by the oracle's own rounding.
          const bool are_equal = std::all_of(elements.begin(), elements.end(), [&](const Element& one) {
            return RealOf(dtype, one) == RealOf(dtype, elements[0]);
          });
          Number_ variance = (are_equal && std::isfinite(mean) ? 0 : squares) / divisor;
          if (kind.is_fixed && n == 1 && correction >= 1)
            variance = std::numeric_limits<Number_>::quiet_NaN();
          if (kind.is_fixed && n > 1 && correction > 1 && n <= correction)
            variance = std::numeric_limits<Number_>::infinity();
          std::vector<Element> results = {
              ElementOfNumber(call[first].dtype, {kind.is_root ? std::sqrt(variance) : variance, 0})};
          if (kind.has_mean) results.push_back(ElementOfNumber(call["meanOut"].dtype, {mean, 0}));
          return results;
        });
    all.push_back(op);
  }
  return all;
}

}  // namespace portacl::testing::reductions
