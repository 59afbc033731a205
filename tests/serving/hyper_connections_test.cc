// Hyper-connections of residual streams, and the matrices that mix them.
// SPDX-License-Identifier: Apache-2.0
#include "../moe/moe_calls.h"

#include "aclnnop/families/serving.h"

namespace portacl::testing {
namespace {

constexpr aclnnStatus kTiling = 561002;
constexpr int64_t kMostStreams = 64;
const DtypeList kHalves = {ACL_FLOAT16, ACL_BF16};

Rule HalvesOn950(const std::string& name) {
  return RefusedDtype(name, [](const PlanCall& call, DtypeNumber dtype) {
    return IsOn950(call) && std::count(kHalves.begin(), kHalves.end(), dtype) > 0;
  });
}
bool HasElements(const PlanCall& call, const char* name) {
  return !call[name].null && NumElements(call[name].shape) > 0;
}
Rule IsFloatWhere(const char* name) {
  return Refuses(161002, name,
                 [=](PlanCall& call) { return HasElements(call, name) && call[name].dtype != ACL_FLOAT; });
}
Shape With(const Shape& x, std::initializer_list<int64_t> last) {
  Shape shape(x.begin(), x.end() - 2);
  shape.insert(shape.end(), last);
  return shape;
}
void FillNumbers(const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  const auto arguments = TensorsOf(call);
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!arguments[i]->null && !arguments[i]->is_output) SetNumbers(tensors[i], random);
  }
}

// ---- MhcPre ----

const std::vector<const char*> kExtra = {"invRmsOptional", "hMixOptional", "hPreOptional"};

OperatorSpec Pre(const CFunction& function, bool has_precision) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("x", {3, 2, 5}, ACL_BF16),
              TensorArg("phi", {8, 10}),
              TensorArg("alpha", {3}),
              TensorArg("bias", {8}),
              TensorArg("gammaOptional", {2, 5}),
              RealArg("normEps", 1e-6),
              RealArg("hcEps", 1e-3)};
  if (has_precision) op.valid.push_back(IntegerArg("innerPrecise", 0));
  for (const PlanArgument& one : {OutputArg("hIn", {3, 5}, ACL_BF16), OutputArg("hPost", {3, 2}),
                                  OutputArg("hRes", {3, 2, 2}), OutputArg("invRmsOptional", {3}),
                                  OutputArg("hMixOptional", {3, 8}), OutputArg("hPreOptional", {3, 2})})
    op.valid.push_back(one);
  op.takes_workspace = true;
  op.numbers_on = Product::k950;
  op.tolerance = 1e-4;
  const auto has_residual = [](const PlanCall& call) { return NumElements(call["alpha"].shape) == 3; };
  op.rules = {
      NoNulls("x phi alpha bias hIn hPost"),
      HalvesOn950("x"),
      DtypeIn("phi alpha bias", kFloatAlone),
      IsFloatWhere("gammaOptional"),
      SameDtype("x", "hIn"),
      DtypeIn("hPost", kFloatAlone),
      Refuses(161002, "hRes",
              [=](PlanCall& call) {
                return has_residual(call) && !call["hRes"].null && call["hRes"].dtype != ACL_FLOAT;
              }),
      IsFloatWhere("invRmsOptional"),
      IsFloatWhere("hMixOptional"),
      IsFloatWhere("hPreOptional"),
      Refuses(
          kTiling, "",
          [=](PlanCall& call) {
            const Shape& x = call["x"].shape;
            if ((x.size() != 3 && x.size() != 4) || call["phi"].shape.size() != 2) return true;
            const int64_t columns = x.back();
            const int64_t streams = x[x.size() - 2];
            if (streams <= 0 || streams > kMostStreams || columns <= 0 || columns > int64_t{1} << 31)
              return true;
            if (call["alpha"].shape != Shape{3} && call["alpha"].shape != Shape{2}) return true;
            const int64_t parts = has_residual(call) ? streams * (streams + 2) : 2 * streams;
            if (call["phi"].shape != Shape{parts, streams * columns} || call["bias"].shape != Shape{parts})
              return true;
            if (HasElements(call, "gammaOptional") && call["gammaOptional"].shape != Shape{streams, columns})
              return true;
            if (call["hIn"].shape != With(x, {columns}) || call["hPost"].shape != With(x, {streams}))
              return true;
            if (has_residual(call) &&
                (call["hRes"].null || call["hRes"].shape != With(x, {streams, streams})))
              return true;
            const Shape accepted[] = {With(x, {}), With(x, {parts}), With(x, {streams})};
            for (size_t i = 0; i < kExtra.size(); ++i) {
              if (HasElements(call, kExtra[i]) && call[kExtra[i]].shape != accepted[i]) return true;
            }
            return has_precision && (call["innerPrecise"].integer < 0 || call["innerPrecise"].integer > 1);
          }),
      DoneIfEmpty("x")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const int64_t streams = random.Between(1, 8);
    const int64_t columns = random.Between(1, random.Chance(20) ? 70 : 12);
    const Shape x = random.Chance(50) ? Shape{random.Between(1, 6), streams, columns}
                                      : Shape{random.Between(1, 3), random.Between(1, 3), streams, columns};
    const bool mixes = random.Chance(70);
    const int64_t parts = mixes ? streams * (streams + 2) : 2 * streams;
    const DtypeNumber dtype = DrawDtype(random, kHalves);
    call["x"].shape = x;
    call["x"].dtype = call["hIn"].dtype = dtype;
    call["phi"].shape = {parts, streams * columns};
    call["alpha"].shape = {mixes ? 3 : 2};
    call["bias"].shape = {parts};
    call["gammaOptional"].shape = {streams, columns};
    call["gammaOptional"].null = random.Chance(40);
    if (has_precision) call["innerPrecise"].integer = random.Below(2);
    call["hIn"].shape = With(x, {columns});
    call["hPost"].shape = With(x, {streams});
    call["hRes"].shape = mixes ? With(x, {streams, streams}) : Shape{1};
    call["hRes"].null = !mixes && random.Chance(50);
    const Shape accepted[] = {With(x, {}), With(x, {parts}), With(x, {streams})};
    for (size_t i = 0; i < kExtra.size(); ++i) {
      call[kExtra[i]].shape = accepted[i];
      call[kExtra[i]].null = random.Chance(40);
    }
  };
  op.fill = FillNumbers;
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x"), phi(call, tensors, "phi"), alpha(call, tensors, "alpha");
    const Numbers bias(call, tensors, "bias"), gamma(call, tensors, "gammaOptional");
    const int64_t columns = x.shape().back();
    const int64_t streams = x.shape()[x.shape().size() - 2];
    const int64_t all = streams * columns;
    const int64_t parts = bias.size();
    const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
    std::vector<double> in, post, residual, roots, mix, pre;
    for (int64_t t = 0; t < x.size() / all; ++t) {
      double squares = 0;
      for (int64_t i = 0; i < all; ++i) squares += x[t * all + i] * x[t * all + i];
      const double r = 1 / std::sqrt(squares / static_cast<double>(all) + call["normEps"].real);
      roots.push_back(r);
      std::vector<double> factors;
      for (int64_t part = 0; part < parts; ++part) {
        double product = 0;
        for (int64_t i = 0; i < all; ++i)
          product += x[t * all + i] * (gamma.is_given() ? gamma[i] : 1) * phi[part * all + i];
        mix.push_back(product);
        const int64_t which = std::min<int64_t>(part / streams, 2);
        const double w = product * r * alpha[which] + bias[part];
        if (which == 0) factors.push_back(sigmoid(w) + call["hcEps"].real);
        if (which == 1) post.push_back(2 * sigmoid(w));
        if (which == 2) residual.push_back(w);
      }
      pre.insert(pre.end(), factors.begin(), factors.end());
      for (int64_t i = 0; i < columns; ++i) {
        double sum = 0;
        for (int64_t s = 0; s < streams; ++s)
          sum += factors[static_cast<size_t>(s)] * x[t * all + s * columns + i];
        in.push_back(sum);
      }
    }
    std::vector<Outcome> out = {EncodedAll(x.dtype(), in)};
    for (const auto* numbers : {&post, &residual, &roots, &mix, &pre})
      out.push_back(EncodedAll(ACL_FLOAT, *numbers));
    return out;
  };
  return op;
}

// ---- MhcPost ----

OperatorSpec Post() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMhcPost);
  op.valid = {TensorArg("x", {3, 2, 5}, ACL_BF16), TensorArg("hResOptional", {3, 2, 2}),
              TensorArg("hOut", {3, 5}, ACL_BF16), TensorArg("hPost", {3, 2}),
              OutputArg("y", {3, 2, 5}, ACL_BF16)};
  op.takes_workspace = true;
  op.numbers_on = Product::k950;
  op.tolerance = 1e-4;
  op.rules = {NoNulls("x hOut hPost y"),
              HalvesOn950("x"),
              IsFloatWhere("hResOptional"),
              SameDtype("x", "hOut"),
              DtypeIn("hPost", kFloatAlone),
              SameDtype("x", "y"),
              Refuses(kTiling, "",
                      [](PlanCall& call) {
                        const Shape& x = call["x"].shape;
                        if (x.size() != 3 && x.size() != 4) return true;
                        const int64_t columns = x.back();
                        const int64_t streams = x[x.size() - 2];
                        if (streams <= 0 || columns <= 0) return true;
                        if (HasElements(call, "hResOptional") &&
                            call["hResOptional"].shape != With(x, {streams, streams}))
                          return true;
                        return call["hOut"].shape != With(x, {columns}) ||
                               call["hPost"].shape != With(x, {streams}) || call["y"].shape != x;
                      }),
              Refuses(561103, "hResOptional",
                      [](PlanCall& call) {
                        return NumElements(call["x"].shape) > 0 && !HasElements(call, "hResOptional");
                      }),
              DoneIfEmpty("x")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t streams = random.Between(1, 8);
    const int64_t columns = random.Between(1, random.Chance(10) ? 600 : 12);
    const Shape x = random.Chance(50) ? Shape{random.Between(1, 4), streams, columns}
                                      : Shape{random.Between(1, 2), random.Between(1, 3), streams, columns};
    const DtypeNumber dtype = DrawDtype(random, kHalves);
    call["x"].shape = call["y"].shape = x;
    for (const char* name : {"x", "hOut", "y"}) call[name].dtype = dtype;
    call["hResOptional"].shape = With(x, {streams, streams});
    call["hOut"].shape = With(x, {columns});
    call["hPost"].shape = With(x, {streams});
  };
  op.fill = FillNumbers;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x"), residual(call, tensors, "hResOptional"),
        of_layer(call, tensors, "hOut");
    const Numbers post(call, tensors, "hPost");
    const int64_t columns = x.shape().back();
    const int64_t streams = x.shape()[x.shape().size() - 2];
    std::vector<double> y;
    for (int64_t at = 0; at < x.size(); ++at) {
      const int64_t i = at % columns;
      const int64_t j = at / columns % streams;
      const int64_t t = at / columns / streams;
      double sum = post[t * streams + j] * of_layer[t * columns + i];
      for (int64_t from = 0; from < streams; ++from)
        sum += residual[(t * streams + from) * streams + j] * x[(t * streams + from) * columns + i];
      y.push_back(sum);
    }
    return std::vector<Outcome>{EncodedAll(x.dtype(), y)};
  };
  return op;
}

// ---- MhcSinkhorn ----

OperatorSpec Sinkhorn() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMhcSinkhorn);
  op.valid = {TensorArg("x", {3, 4, 4}),         RealArg("eps", 1e-6),
              IntegerArg("numIters", 20),        OutputArg("y", {3, 4, 4}),
              OutputArg("normOutOptional", {2}), OutputArg("sumOutOptional", {2})};
  op.valid[4].null = op.valid[5].null = true;
  op.takes_workspace = true;
  op.numbers_on = Product::k950;
  op.tolerance = 1e-4;
  op.rules = {NoNulls("x y"),
              RefusedDtype("x", [](const PlanCall& call,
                                   DtypeNumber dtype) { return IsOn950(call) && dtype == ACL_FLOAT; }),
              SameDtype("x", "y"),
              Refuses(kTiling, "",
                      [](PlanCall& call) {
                        const Shape& x = call["x"].shape;
                        if (x.size() != 3 && x.size() != 4) return true;
                        return x.back() <= 0 || x.back() > kMostStreams || x[x.size() - 2] != x.back() ||
                               call["numIters"].integer < 1 || call["numIters"].integer > 100 ||
                               call["y"].shape != x;
                      }),
              Refuses(561103, "",
                      [](PlanCall& call) {
                        return HasElements(call, "normOutOptional") || HasElements(call, "sumOutOptional");
                      }),
              DoneIfEmpty("x")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t side = random.Between(1, 8);
    call["x"].shape = random.Chance(50) ? Shape{random.Between(1, 90), side, side}
                                        : Shape{random.Between(1, 3), random.Between(1, 3), side, side};
    call["y"].shape = call["x"].shape;
    call["numIters"].integer = random.Between(1, 6);
  };
  op.fill = FillNumbers;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const int64_t side = x.shape().back();
    const double epsilon = call["eps"].real;
    std::vector<double> all;
    for (int64_t first = 0; first < x.size(); first += side * side) {
      std::vector<std::vector<double>> y(static_cast<size_t>(side),
                                         std::vector<double>(static_cast<size_t>(side)));
      for (size_t i = 0; i < y.size(); ++i) {
        double sum = 0;
        for (size_t j = 0; j < y.size(); ++j)
          sum += y[i][j] = std::exp(x[first + static_cast<int64_t>(i) * side + static_cast<int64_t>(j)]);
        for (double& one : y[i]) one = one / sum + epsilon;
      }
      for (int64_t round = 0; round < 2 * call["numIters"].integer - 1; ++round) {
        for (size_t i = 0; i < y.size(); ++i) {
          double sum = epsilon;
          for (size_t j = 0; j < y.size(); ++j) sum += round % 2 == 0 ? y[j][i] : y[i][j];
          for (size_t j = 0; j < y.size(); ++j) (round % 2 == 0 ? y[j][i] : y[i][j]) /= sum;
        }
      }
      for (const auto& row : y) all.insert(all.end(), row.begin(), row.end());
    }
    return std::vector<Outcome>{EncodedAll(ACL_FLOAT, all), {}, {}};
  };
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {Pre(PORTACL_C_FUNCTION(aclnnMhcPre), false),
                                                Pre(PORTACL_C_FUNCTION(aclnnMhcPreV2), true), Post(),
                                                Sinkhorn()};
  return all;
}

PORTACL_OPERATOR_TESTS(HyperConnections, Operators());

TEST(HyperConnectionsBad, ResultsFartherApartThanThereAreAddressesAreRefused) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", "Ascend950PR_9579"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  std::vector<float> memory(64);
  const char* const names[] = {"hRes", "invRmsOptional", "hMixOptional", "hPreOptional"};
  const Shape shapes[] = {{3, 2, 2}, {3}, {3, 8}, {3, 2}};
  for (size_t far = 0; far < 4; ++far) {
    Made made;
    const auto number = [&](const Shape& shape) { return made.Dense(shape, ACL_FLOAT, memory.data()); };
    aclTensor* results[4];
    for (size_t i = 0; i < 4; ++i)
      results[i] = i == far ? made.FarApart(shapes[i], ACL_FLOAT, memory.data()) : number(shapes[i]);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(aclnnMhcPreGetWorkspaceSize(made.Dense({3, 2, 5}, ACL_BF16, memory.data()), number({8, 10}),
                                          number({3}), number({8}), nullptr, 1e-6, 1e-3,
                                          made.Dense({3, 5}, ACL_BF16, memory.data()), number({3, 2}),
                                          results[0], results[1], results[2], results[3], &size, &executor),
              161002);
    ExpectMessage(names[far]);
  }
}

}  // namespace
}  // namespace portacl::testing
