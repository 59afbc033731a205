// Group norms with a function of theirs, and softmax of scores, as descriptions.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "aclnnop/families/norm.h"
#include "norm/row_calls.h"
#include "operators/norm_rules.h"
#include "operators/norms.h"

namespace portacl::testing {
namespace {

using namespace norms;

// ---- group norms with a function ----

int64_t Channels(const PlanCall& call, const char* x) { return call[x].shape[1]; }
Rule GroupsFit(aclnnStatus code, const std::string& groups, const char* x) {
  return Refuses(code, groups, [=](PlanCall& call) {
    return call[groups].integer <= 0 || Channels(call, x) % call[groups].integer != 0;
  });
}
Rule OfGroups(aclnnStatus code, const std::string& name, const std::string& groups, const char* x) {
  return Refuses(code, name, [=](PlanCall& call) {
    return call[name].shape != Shape{call[x].shape[0], call[groups].integer};
  });
}
Rule OfChannels(aclnnStatus code, const std::string& name, const char* x) {
  return Refuses(code, name, [=](PlanCall& call) { return call[name].shape != Shape{Channels(call, x)}; });
}
// The positions of a shape [N, C, ...] group by group; and which channel a position is of.
std::vector<std::vector<int64_t>> GroupRows(const Shape& shape, int64_t groups) {
  std::vector<std::vector<int64_t>> rows(static_cast<size_t>(shape[0] * groups));
  const int64_t behind = NumElements(Shape(shape.begin() + 2, shape.end()));
  for (int64_t i = 0; i < NumElements(shape); ++i)
    rows[static_cast<size_t>(i / (behind * (shape[1] / groups)))].push_back(i);
  return rows;
}
int64_t ChannelAt(const Shape& shape, int64_t position) {
  return position / NumElements(Shape(shape.begin() + 2, shape.end())) % shape[1];
}
void DrawGroups(PlanCall& call, RandomNumbers& random, const std::vector<std::string>& images,
                const std::vector<std::string>& of_channels, const std::vector<std::string>& of_groups,
                const std::string& groups, size_t most) {
  Shape shape = DrawShape(random, 2, most, 4);
  const int64_t count = random.Between(1, 3);
  shape[1] = count * random.Between(1, 3);
  if (shape.size() == 3 && random.Below(3) == 0) shape[2] = random.Between(1, 900);
  const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
  for (const std::string& name : images) {
    call[name].shape = shape;
    call[name].dtype = dtype;
  }
  for (const std::string& name : of_channels) call[name].shape = {shape[1]};
  for (const std::string& name : of_groups) call[name].shape = {shape[0], count};
  call[groups].integer = count;
}
double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

std::vector<Outcome> SwishOracle(const PlanCall& call, const std::vector<TensorValues>& tensors,
                                 const char* x, int64_t groups, double eps, double scale, bool activates,
                                 const char* out, const char* number) {
  const Shape& shape = call[x].shape;
  std::vector<double> result(tensors[0].elements.size());
  std::vector<double> mean;
  std::vector<double> rstd;
  const bool is_empty = NumElements(shape) == 0;
  for (const auto& row : GroupRows(shape, groups)) {
    if (is_empty) {
      mean.push_back(0);
      rstd.push_back(std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    const auto n = static_cast<double>(row.size());
    const auto at = [&](int64_t i) { return ValueAt(tensors[0], i); };
    mean.push_back(SumOf(row, at) / n);
    const double variance = SumOf(row, [&](int64_t i) { return std::pow(at(i) - mean.back(), 2); }) / n;
    rstd.push_back(1 / std::sqrt(variance + Single(eps)));
    for (const int64_t i : row) {
      const int64_t channel = ChannelAt(shape, i);
      const double gamma = call["gamma"].null ? 1 : ValueAt(tensors[1], channel);
      const double beta = call["beta"].null ? 0 : ValueAt(tensors[2], channel);
      const double g = (at(i) - mean.back()) * rstd.back() * gamma + beta;
      result[static_cast<size_t>(i)] = activates ? g * Sigmoid(Single(scale) * g) : g;
    }
  }
  return {AsOutcome(call[out].dtype, result), AsOutcome(call[number].dtype, mean),
          AsOutcome(call[number].dtype, rstd)};
}

OperatorSpec Silu(const CFunction& function, bool has_flag) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("self", {2, 6, 4}), TensorArg("gamma", {6}), TensorArg("beta", {6}),
              IntegerArg("group", 3), RealArg("eps", 1e-5)};
  if (has_flag) op.valid.push_back(IntegerArg("activateSilu", 1));
  op.valid.insert(op.valid.end(),
                  {OutputArg("out", {2, 6, 4}), OutputArg("meanOut", {2, 3}), OutputArg("rstdOut", {2, 3})});
  const auto has_both = [](const Rule& rule) {
    return
        [=](PlanCall& call) { return call["gamma"].null || call["beta"].null ? std::nullopt : rule(call); };
  };
  const auto of_numbers = [](const std::string& name) {
    return Refuses(161002, name, [=](PlanCall& call) {
      const bool is_gammas = call.product == Product::k950 && !call["gamma"].null;
      return call[name].dtype != call[is_gammas ? "gamma" : "self"].dtype;
    });
  };
  op.rules = {NoNulls("self out meanOut rstdOut"),
              DtypeIn("self", kF3),
              has_both(SameDtype("gamma", "beta")),
              has_both(FloatOrOf("gamma", "self")),
              SameDtype("self", "out"),
              of_numbers("meanOut"),
              of_numbers("rstdOut"),
              Ranks("self", 2, 8),
              SameShape("self", "out"),
              OfGroups(161002, "meanOut", "group", "self"),
              OfGroups(161002, "rstdOut", "group", "self"),
              Given("gamma", OfChannels(161002, "gamma", "self")),
              Given("beta", OfChannels(161002, "beta", "self")),
              Refuses(161002, "self",
                      [](PlanCall& call) {
                        return call.product != Product::k950 &&
                               (call["self"].shape[0] == 0 || call["self"].shape[1] == 0);
                      }),
              GroupsFit(161002, "group", "self"),
              Refuses(161002, "eps", [](PlanCall& call) { return !(call["eps"].real > 0); }),
              Given("gamma", FloatOrOf("gamma", "self")),
              Given("beta", FloatOrOf("beta", "self"))};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    DrawGroups(call, random, {"self", "out", "gamma", "beta", "meanOut", "rstdOut"}, {"gamma", "beta"},
               {"meanOut", "rstdOut"}, "group", 8);
    for (const char* name : {"gamma", "beta"}) call[name].null = random.Below(4) == 0;
    if (random.Below(3) == 0) call["gamma"].dtype = call["beta"].dtype = ACL_FLOAT;
    if (has_flag) call["activateSilu"].integer = random.Between(0, 1);
  };
  op.fill = FillRows;
  op.tolerance = 3e-5;
  op.is_inexact = true;
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    return SwishOracle(call, tensors, "self", call["group"].integer, call["eps"].real, 1,
                       !has_flag || call["activateSilu"].integer != 0, "out", "meanOut");
  };
  return op;
}

OperatorSpec Swish() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnGroupNormSwish);
  op.valid = {TensorArg("x", {2, 6, 4}),
              TensorArg("gamma", {6}),
              TensorArg("beta", {6}),
              IntegerArg("numGroups", 3),
              TextArg("dataFormatOptional", "NCHW"),
              RealArg("eps", 1e-5),
              IntegerArg("activateSwish", 1),
              RealArg("swishScale", 1.25),
              OutputArg("yOut", {2, 6, 4}),
              OutputArg("meanOut", {2, 3}),
              OutputArg("rstdOut", {2, 3})};
  op.rules = {NoNulls("x gamma beta yOut meanOut rstdOut"),
              DtypeIn("x", kF3),
              FloatOrOf("gamma", "x"),
              SameDtype("gamma", "beta"),
              SameDtype("x", "yOut"),
              SameDtype("gamma", "meanOut"),
              SameDtype("gamma", "rstdOut"),
              TilingRank("x", 2, 8),
              TilingShape("x", "yOut"),
              OfChannels(kTiling, "gamma", "x"),
              OfChannels(kTiling, "beta", "x"),
              GroupsFit(kTiling, "numGroups", "x"),
              OfGroups(kTiling, "meanOut", "numGroups", "x"),
              OfGroups(kTiling, "rstdOut", "numGroups", "x"),
              PositiveTiling("eps")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const std::vector<std::string> weights = {"gamma", "beta", "meanOut", "rstdOut"};
    DrawGroups(call, random, {"x", "yOut", "gamma", "beta", "meanOut", "rstdOut"}, {"gamma", "beta"},
               {"meanOut", "rstdOut"}, "numGroups", 8);
    if (random.Below(3) == 0) {
      for (const std::string& name : weights) call[name].dtype = ACL_FLOAT;
    }
    call["activateSwish"].integer = random.Between(0, 1);
    call["swishScale"].real = random.Below(2) == 0 ? 1 : -1.7;
  };
  op.fill = FillRows;
  op.tolerance = 3e-5;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    return SwishOracle(call, tensors, "x", call["numGroups"].integer, call["eps"].real,
                       call["swishScale"].real, call["activateSwish"].integer != 0, "yOut", "meanOut");
  };
  return op;
}

OperatorSpec SwishGradient() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnGroupNormSwishGrad);
  op.valid = {TensorArg("dy", {2, 6, 4}),      TensorArg("mean", {2, 3}),
              TensorArg("rstd", {2, 3}),       TensorArg("x", {2, 6, 4}),
              TensorArg("gamma", {6}),         TensorArg("beta", {6}),
              IntegerArg("numGroups", 3),      TextArg("dataFormatOptional", "NCHW"),
              RealArg("swishScale", 1.25),     IntegerArg("dgammaIsRequire", 1),
              IntegerArg("dbetaIsRequire", 1), OutputArg("dxOut", {2, 6, 4}),
              OutputArg("dgammaOut", {6}),     OutputArg("dbetaOut", {6})};
  op.rules = {NoNulls("dy mean rstd x gamma beta dxOut dgammaOut dbetaOut"),
              DtypeIn("dy", kF3),
              SameDtype("dy", "x"),
              FloatOrOf("gamma", "dy"),
              SameDtype("gamma", "beta"),
              SameDtype("gamma", "mean"),
              SameDtype("gamma", "rstd"),
              SameDtype("dy", "dxOut"),
              SameDtype("gamma", "dgammaOut"),
              SameDtype("gamma", "dbetaOut"),
              TilingRank("x", 2, 8),
              TilingShape("dy", "x"),
              OfChannels(kTiling, "gamma", "x"),
              OfChannels(kTiling, "beta", "x"),
              GroupsFit(kTiling, "numGroups", "x"),
              Tiling("numGroups",
                     [](PlanCall& call) { return Channels(call, "x") / call["numGroups"].integer > 4000; }),
              OfGroups(kTiling, "mean", "numGroups", "x"),
              OfGroups(kTiling, "rstd", "numGroups", "x"),
              TilingShape("dy", "dxOut"),
              OfChannels(kTiling, "dgammaOut", "x"),
              OfChannels(kTiling, "dbetaOut", "x"),
              DoneIfEmpty("x")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const std::vector<std::string> weights = {"gamma", "beta", "mean", "rstd", "dgammaOut", "dbetaOut"};
    DrawGroups(call, random, {"dy", "x", "dxOut", "gamma", "beta", "mean", "rstd", "dgammaOut", "dbetaOut"},
               {"gamma", "beta", "dgammaOut", "dbetaOut"}, {"mean", "rstd"}, "numGroups", 8);
    if (random.Below(3) == 0) {
      for (const std::string& name : weights) call[name].dtype = ACL_FLOAT;
    }
    call["dgammaIsRequire"].integer = random.Between(0, 1);
    call["dbetaIsRequire"].integer = random.Between(0, 1);
    call["swishScale"].real = random.Below(2) == 0 ? 1 : -0.7;
  };
  op.fill = FillRows;
  op.tolerance = 3e-4;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& dy = tensors[0];
    const TensorValues& x = tensors[3];
    const double scale = Single(call["swishScale"].real);
    std::vector<double> dx(x.elements.size());
    std::vector<double> of_gamma(static_cast<size_t>(Channels(call, "x")));
    std::vector<double> of_beta(of_gamma.size());
    int64_t number = 0;
    for (const auto& row : GroupRows(x.shape, call["numGroups"].integer)) {
      const double mean = ValueAt(tensors[1], number);
      const double rstd = ValueAt(tensors[2], number++);
      const auto n = static_cast<double>(row.size());
      const auto h = [&](int64_t i) { return (ValueAt(x, i) - mean) * rstd; };
      const auto dn = [&](int64_t i) {
        const int64_t channel = ChannelAt(x.shape, i);
        const double g = h(i) * ValueAt(tensors[4], channel) + ValueAt(tensors[5], channel);
        const double share = Sigmoid(scale * g);
        return ValueAt(dy, i) * share * (1 + scale * g * (1 - share));
      };
      const auto e = [&](int64_t i) { return dn(i) * ValueAt(tensors[4], ChannelAt(x.shape, i)); };
      const double first = SumOf(row, e) / n;
      const double second = SumOf(row, [&](int64_t i) { return e(i) * h(i); }) / n;
      for (const int64_t i : row) {
        dx[static_cast<size_t>(i)] = rstd * (e(i) - first - h(i) * second);
        of_gamma[static_cast<size_t>(ChannelAt(x.shape, i))] += dn(i) * h(i);
        of_beta[static_cast<size_t>(ChannelAt(x.shape, i))] += dn(i);
      }
    }
    const auto wanted = [&](const char* flag, const char* name, const std::vector<double>& numbers) {
      return call[flag].integer != 0 ? AsOutcome(call[name].dtype, numbers) : Outcome(numbers.size());
    };
    return std::vector<Outcome>{AsOutcome(call["dxOut"].dtype, dx),
                                wanted("dgammaIsRequire", "dgammaOut", of_gamma),
                                wanted("dbetaIsRequire", "dbetaOut", of_beta)};
  };
  return op;
}

// ---- softmax of scores ----

std::vector<double> Shares(const Shape& shape, const std::function<double(int64_t)>& score) {
  std::vector<double> out(static_cast<size_t>(NumElements(shape)));
  for (const auto& row : RowsOf(shape, LastAxesOf(shape, 1))) {
    double greatest = -std::numeric_limits<double>::infinity();
    for (const int64_t i : row) greatest = std::fmax(greatest, score(i));
    const double sum = SumOf(row, [&](int64_t i) { return std::exp(score(i) - greatest); });
    for (const int64_t i : row) out[static_cast<size_t>(i)] = std::exp(score(i) - greatest) / sum;
  }
  return out;
}
Rules MaskedRules(const std::string& x, const std::string& out) {
  return {DtypeIn(x, kF3),
          DtypeIn("mask", {{ACL_BOOL}}),
          SameDtype(x, out),
          Ranks(x + " mask " + out, 4, 4),
          Refuses(161002, "mask",
                  [=](PlanCall& call) {
                    const Shape& scores = call[x].shape;
                    const Shape& mask = call["mask"].shape;
                    return mask[2] != scores[2] || mask[3] != scores[3] ||
                           (mask[0] != 1 && mask[0] != scores[0]) || (mask[1] != 1 && mask[1] != scores[1]);
                  }),
          Refuses(161002, x,
                  [=](PlanCall& call) {
                    const int64_t most = call.product == Product::k950 ? 8192 : 4096;
                    return call[x].shape[3] < 1 || call[x].shape[3] > most;
                  }),
          Refuses(161002, "fixTriuMask", [](PlanCall& call) { return call["fixTriuMask"].integer != 0; }),
          TilingShape(x, out),
          DoneIfEmpty(x)};
}
void DrawMasked(PlanCall& call, RandomNumbers& random, const std::vector<std::string>& scores) {
  Shape shape = DrawShape(random, 4, 4, 4);
  if (random.Below(2) == 0) shape[3] = random.Between(1, random.Below(6) == 0 ? 4096 : 150);
  const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
  for (const std::string& name : scores) {
    call[name].shape = shape;
    call[name].dtype = dtype;
  }
  call["mask"].shape = shape;
  for (size_t i = 0; i < 2; ++i) {
    if (random.Below(2) == 0) call["mask"].shape[i] = 1;
  }
  call["scale"].real = random.Below(2) == 0 ? 0.125 : -3;
}
bool IsHidden(const TensorValues& mask, const Shape& shape, int64_t position) {
  return ValueAt(mask, IndexAt(shape, position)) != 0;
}

// BOOLs of 0 and 1, mostly 0.
void FillMasked(const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  FillRows(call, tensors, random);
  for (HostTensor& tensor : tensors) {
    if (tensor.dtype() != ACL_BOOL) continue;
    for (int64_t k = 0; k < tensor.size(); ++k)
      *tensor.Element(k) = static_cast<std::byte>(random.Below(3) == 0 ? 1 : 0);
  }
}

OperatorSpec Masked() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnScaledMaskedSoftmax);
  op.valid = {TensorArg("x", {2, 3, 4, 5}), TensorArg("mask", {2, 3, 4, 5}, ACL_BOOL), RealArg("scale", 0.5),
              IntegerArg("fixTriuMask", 0), OutputArg("y", {2, 3, 4, 5})};
  op.rules = {NoNulls("x mask y", 561103)};
  const Rules rules = MaskedRules("x", "y");
  op.rules.insert(op.rules.end(), rules.begin(), rules.end());
  op.draw = [](PlanCall& call, RandomNumbers& random) { DrawMasked(call, random, {"x", "y"}); };
  op.fill = FillMasked;
  op.tolerance = 3e-6;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& shape = call["x"].shape;
    const auto out = Shares(shape, [&](int64_t i) {
      return IsHidden(tensors[1], shape, i) ? -10000.0
                                            : Single(ValueAt(tensors[0], i) * Single(call["scale"].real));
    });
    return std::vector<Outcome>{AsOutcome(call["y"].dtype, out)};
  };
  return op;
}

OperatorSpec MaskedGradient() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnScaledMaskedSoftmaxBackward);
  op.valid = {TensorArg("gradOutput", {2, 3, 4, 5}),
              TensorArg("y", {2, 3, 4, 5}),
              TensorArg("mask", {2, 3, 4, 5}, ACL_BOOL),
              RealArg("scale", 0.5),
              IntegerArg("fixTriuMask", 0),
              OutputArg("out", {2, 3, 4, 5})};
  op.rules = {NoNulls("gradOutput y mask out")};
  const Rules rules = MaskedRules("gradOutput", "out");
  op.rules.insert(op.rules.end(), rules.begin(), rules.end());
  op.rules.push_back(SameDtype("gradOutput", "y"));
  op.rules.push_back(TilingShape("gradOutput", "y"));
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawMasked(call, random, {"gradOutput", "y", "out"});
  };
  op.fill = FillMasked;
  op.tolerance = 1e-4;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& shape = call["y"].shape;
    std::vector<double> out(tensors[0].elements.size());
    for (const auto& row : RowsOf(shape, LastAxesOf(shape, 1))) {
      const double sum =
          SumOf(row, [&](int64_t i) { return ValueAt(tensors[0], i) * ValueAt(tensors[1], i); });
      for (const int64_t i : row) {
        const double slope =
            (ValueAt(tensors[0], i) - sum) * ValueAt(tensors[1], i) * Single(call["scale"].real);
        out[static_cast<size_t>(i)] = IsHidden(tensors[2], shape, i) ? 0 : slope;
      }
    }
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, out)};
  };
  return op;
}

OperatorSpec Windows() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMaskedSoftmaxWithRelPosBias);
  op.valid = {TensorArg("x", {4, 3, 4, 5}),
              TensorArg("attenMaskOptional", {2, 4, 5}),
              TensorArg("relativePosBias", {3, 4, 5}),
              RealArg("scaleValue", 0.5),
              IntegerArg("innerPrecisionMode", 0),
              OutputArg("out", {4, 3, 4, 5})};
  // The product of the dims before the last two, of which at most one is not 1; else -1.
  const auto planes = [](const Shape& shape, const Shape& x) {
    int64_t found = 1;
    if (shape.size() < 2 || !std::equal(shape.end() - 2, shape.end(), x.end() - 2)) return int64_t{-1};
    for (size_t i = 0; i + 2 < shape.size(); ++i) {
      if (shape[i] != 1 && found != 1) return int64_t{-1};
      found = shape[i] == 1 ? found : shape[i];
    }
    return found;
  };
  op.rules = {
      NoNulls("x relativePosBias out"),
      Refuses(161002, "x",
              [](PlanCall& call) {
                const DtypeNumber dtype = call["x"].dtype;
                const bool is_half = dtype == ACL_FLOAT || dtype == ACL_FLOAT16;
                if (call.product == Product::k310P) return !is_half;
                if (call.product != Product::kA2 && call.product != Product::kA3) return true;
                return !is_half && dtype != ACL_BF16;
              }),
      Given("attenMaskOptional", SameDtype("x", "attenMaskOptional")),
      SameDtype("x", "relativePosBias"),
      SameDtype("x", "out"),
      TilingRank("x", 4, 5),
      TilingShape("x", "out"),
      Given("attenMaskOptional", TilingRank("attenMaskOptional", 0, 8)),
      TilingRank("relativePosBias", 0, 8),
      DoneIfEmpty("x"),
      Given("attenMaskOptional", Tiling("attenMaskOptional",
                                        [=](PlanCall& call) {
                                          const Shape& x = call["x"].shape;
                                          const int64_t windows = planes(call["attenMaskOptional"].shape, x);
                                          if (windows <= 0) return true;
                                          return x.size() == 5 ? windows != x[1] : x[0] % windows != 0;
                                        })),
      Tiling("relativePosBias", [=](PlanCall& call) {
        const Shape& x = call["x"].shape;
        return planes(call["relativePosBias"].shape, x) != x[x.size() - 3];
      })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t windows = random.Between(1, 3);
    const int64_t batches = random.Between(1, 3);
    const int64_t heads = random.Between(1, 3);
    const int64_t rows = random.Between(1, 6);
    const int64_t columns = random.Between(1, random.Below(3) == 0 ? 90 : 7);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    for (const char* name : {"x", "out"})
      call[name].shape = random.Below(2) == 0 ? Shape{batches * windows, heads, rows, columns}
                                              : Shape{batches, windows, heads, rows, columns};
    call["out"].shape = call["x"].shape;
    call["attenMaskOptional"].shape = {windows, rows, columns};
    if (random.Below(3) == 0) call["attenMaskOptional"].shape = {1, windows, 1, rows, columns};
    call["attenMaskOptional"].null = random.Below(4) == 0;
    call["relativePosBias"].shape = {heads, rows, columns};
    if (random.Below(3) == 0) call["relativePosBias"].shape = {1, heads, rows, columns};
    for (const char* name : {"x", "out", "attenMaskOptional", "relativePosBias"}) call[name].dtype = dtype;
  };
  op.fill = FillRows;
  op.tolerance = 1e-5;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& x = call["x"].shape;
    const int64_t plane = x[x.size() - 2] * x[x.size() - 1];
    const int64_t heads = x[x.size() - 3];
    const auto out = Shares(x, [&](int64_t i) {
      double score = Single(ValueAt(tensors[0], i) * Single(call["scaleValue"].real));
      if (!call["attenMaskOptional"].null) {
        const int64_t windows = NumElements(call["attenMaskOptional"].shape) / plane;
        score = Single(score + ValueAt(tensors[1], i / (plane * heads) % windows * plane + i % plane));
      }
      return Single(score + ValueAt(tensors[2], i / plane % heads * plane + i % plane));
    });
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, out)};
  };
  return op;
}

}  // namespace

std::vector<OperatorSpec> norms::FusedGroups() {
  return {Silu(PORTACL_C_FUNCTION(aclnnGroupNormSilu), false),
          Silu(PORTACL_C_FUNCTION(aclnnGroupNormSiluV2), true),
          Swish(),
          SwishGradient(),
          Masked(),
          MaskedGradient(),
          Windows()};
}

}  // namespace portacl::testing
