// Softmax and norms over rows, and their gradients, from their descriptions.
// SPDX-License-Identifier: Apache-2.0
#include "row_calls.h"

#include "aclnnop/families/norm.h"
#include "gtest/gtest.h"
#include "support/environment.h"

namespace portacl::testing {
namespace {

constexpr double kTolerance = 3e-6;

// ---- softmax ----

std::vector<bool> AxisOf(const IndexCall& call, const Shape& shape) {
  std::vector<bool> axes(shape.size());
  if (!shape.empty()) axes[Wrapped(call["dim"].integer, shape)] = true;
  return axes;
}

void DrawRows(IndexCall& call, RandomNumbers& random, const std::vector<std::string>& tensors,
              const DtypeList& dtypes) {
  Shape shape = DrawShape(random, 0, 8, random.Below(4) == 0 ? 3 : 6);
  // Now and then rows of several vectors, and of blocks.
  if (!shape.empty() && shape.size() < 3 && random.Below(2) == 0)
    shape[random.Below(shape.size())] = random.Between(1, random.Below(8) == 0 ? 9000 : 200);
  const int64_t rank = std::max<int64_t>(std::ssize(shape), 1);
  call["dim"].integer = random.Between(-rank, rank - 1);
  const DtypeNumber dtype = DrawDtype(random, dtypes);
  for (const std::string& name : tensors) {
    call[name].shape = shape;
    call[name].dtype = dtype;
  }
}

const Listed kSoftmaxDtypes = kFD;

IndexOperator SoftmaxOperator(const CFunction& function, bool logarithm) {
  IndexOperator op;
  op.function = function;
  op.valid = {TensorArg("self", {2, 3}), IntegerArg("dim", 1), OutputArg("out", {2, 3})};
  const IndexRules all = {
      Listed_("self out", kSoftmaxDtypes),
      Refuses(161002, "dim",
              [](IndexCall& call) { return !IsDimOf(call["dim"].integer, call["self"].shape); }),
      RankRange("self", 0, 8), OneShape("self", "out")};
  op.rules = {NoNulls("self out")};
  if (!logarithm) op.rules.push_back(EmptyDone("self"));
  op.rules.insert(op.rules.end(), all.begin(), all.end());
  if (logarithm) op.rules.push_back(EmptyDone("self"));
  op.draw = [](IndexCall& call, RandomNumbers& random) {
    DrawRows(call, random, {"self", "out"}, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE});
    if (random.Below(4) == 0) call["out"].dtype = DrawDtype(random, {ACL_FLOAT, ACL_BF16, ACL_DOUBLE});
  };
  op.fill = FillRows;
  op.tolerance = kTolerance;
  op.is_inexact = true;
  op.oracle = [=](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& self = tensors[0];
    std::vector<double> out(self.elements.size());
    for (const auto& row : RowsOf(self.shape, AxisOf(call, self.shape))) {
      double greatest = -std::numeric_limits<double>::infinity();
      for (const int64_t i : row) greatest = std::fmax(greatest, ValueAt(self, i));
      const double sum = SumOf(row, [&](int64_t i) { return std::exp(ValueAt(self, i) - greatest); });
      for (const int64_t i : row) {
        const double distance = ValueAt(self, i) - greatest;
        out[static_cast<size_t>(i)] = logarithm ? distance - std::log(sum) : std::exp(distance) / sum;
      }
    }
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, out)};
  };
  return op;
}

IndexOperator SoftmaxGradient(const CFunction& function, bool logarithm) {
  IndexOperator op;
  op.function = function;
  op.valid = {TensorArg("gradOutput", {2, 3}), TensorArg("output", {2, 3}), IntegerArg("dim", 1),
              OutputArg("out", {2, 3})};
  op.rules = {
      NoNulls(logarithm ? "output gradOutput out" : "gradOutput output out"),
      SucceedsIf([](IndexCall& call) {
        return call.product != Product::k950 &&
               (NumElements(call["gradOutput"].shape) == 0 || NumElements(call["output"].shape) == 0);
      }),
      Listed_("gradOutput output", kFloats),
      OneDtype("gradOutput", "output"),
      RankRange("gradOutput output out", 0, 8),
      Refuses(161002, "dim",
              [](IndexCall& call) { return !IsDimOf(call["dim"].integer, call["gradOutput"].shape); }),
      OneShape("gradOutput", "output"),
      OneShape("gradOutput", "out"),
      EmptyDone("gradOutput"),
      Refuses(561103, "out gradOutput", [](IndexCall& call) {
        const auto& all = ConvertibleDtypes();
        return std::find(all.begin(), all.end(), call["out"].dtype) == all.end();
      })};
  op.draw = [](IndexCall& call, RandomNumbers& random) {
    DrawRows(call, random, {"gradOutput", "output", "out"}, kRowDtypes);
    if (random.Below(4) == 0) call["out"].dtype = DrawDtype(random, {ACL_FLOAT, ACL_BF16, ACL_DOUBLE});
  };
  op.fill = FillRows;
  op.tolerance = 3e-5;
  op.is_inexact = true;
  op.oracle = [=](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& gradient = tensors[0];
    const TensorValues& output = tensors[1];
    std::vector<double> out(gradient.elements.size());
    for (const auto& row : RowsOf(gradient.shape, AxisOf(call, gradient.shape))) {
      const double sum = SumOf(row, [&](int64_t i) {
        return logarithm ? ValueAt(gradient, i) : ValueAt(gradient, i) * ValueAt(output, i);
      });
      for (const int64_t i : row) {
        const double g = ValueAt(gradient, i);
        const double y = ValueAt(output, i);
        out[static_cast<size_t>(i)] = logarithm ? g - std::exp(y) * sum : (g - sum) * y;
      }
    }
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, out)};
  };
  return op;
}

// ---- layer norm ----

bool FitsTail(const Shape& shape, const std::vector<int64_t>& tail) {
  if (tail.empty() || tail.size() > shape.size()) return false;
  return std::equal(tail.begin(), tail.end(), shape.end() - std::ssize(tail));
}
Shape LeadingAndOnes(const Shape& shape, size_t last) {
  Shape rows = shape;
  for (size_t i = shape.size() - last; i < shape.size(); ++i) rows[i] = 1;
  return rows;
}
int64_t LeadingRows(const Shape& shape, size_t last) {
  return NumElements(Shape(shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(last)));
}

IndexRule FloatOr(const std::string& name, const std::string& other) {
  return Given(name, Refuses(161002, name, [=](IndexCall& call) {
                 return call[name].dtype != ACL_FLOAT && call[name].dtype != call[other].dtype;
               }));
}
IndexRule GivenListed(const std::string& name, const Listed& list) {
  return Given(name, Listed_(name, list));
}
IndexRule GivenRank(const std::string& name) { return Given(name, RankRange(name, 0, 8)); }
IndexRule StatisticFits(const std::string& name, aclnnStatus code, bool on_950) {
  return Given(name, Refuses(code, name, [=](IndexCall& call) {
                 if (on_950 && call.product != Product::k950) return false;
                 const Shape& shape = call[name].shape;
                 return NumElements(shape) != 0 &&
                        shape != LeadingAndOnes(call["input"].shape, call["normalizedShape"].values.size());
               }));
}
IndexRule IsTail(const std::string& name, const std::string& of) {
  return Given(name, Refuses(161002, name + " " + of, [=](IndexCall& call) {
                 return call[name].shape != call["normalizedShape"].values;
               }));
}

struct RowMoments {
  double mean;
  double rstd;
};
RowMoments MomentsOf(const TensorValues& x, const std::vector<int64_t>& row, double eps) {
  const auto n = static_cast<double>(row.size());
  const double mean = SumOf(row, [&](int64_t i) { return ValueAt(x, i); }) / n;
  const double variance = SumOf(row, [&](int64_t i) { return std::pow(ValueAt(x, i) - mean, 2); }) / n;
  return {mean, 1 / std::sqrt(variance + static_cast<double>(static_cast<float>(eps)))};
}

void DrawNorm(IndexCall& call, RandomNumbers& random, Shape* shape, Shape* tail) {
  *shape = DrawShape(random, 1, 8, 5);
  if (shape->size() < 3 && random.Below(2) == 0)
    (*shape)[shape->size() - 1] = random.Between(1, random.Below(8) == 0 ? 9000 : 200);
  const auto last = static_cast<size_t>(random.Between(1, std::ssize(*shape)));
  *tail = Shape(shape->end() - static_cast<std::ptrdiff_t>(last), shape->end());
  (void)call;
}

IndexOperator LayerNormOperator(const CFunction& function, bool has_mode) {
  IndexOperator op;
  op.function = function;
  op.valid = {TensorArg("input", {2, 3, 4}),
              ArrayArg("normalizedShape", {3, 4}),
              TensorArg("weightOptional", {3, 4}),
              TensorArg("biasOptional", {3, 4}),
              RealArg("eps", 1e-5),
              OutputArg("out", {2, 3, 4}),
              OutputArg("meanOutOptional", {2, 1, 1}),
              OutputArg("rstdOutOptional", {2, 1, 1})};
  if (has_mode) op.valid.push_back(IntegerArg("implMode", 0));
  op.takes_workspace = true;
  op.rules = {
      NoNulls("input normalizedShape out"),
      Listed_("input", kFloats),
      GivenListed("weightOptional", kFloats),
      GivenListed("biasOptional", kFloats),
      FloatOr("weightOptional", "input"),
      FloatOr("biasOptional", "input"),
      Given("weightOptional", Given("biasOptional", OneDtype("weightOptional", "biasOptional"))),
      Listed_("out", kFloats),
      GivenListed("meanOutOptional", kFloats),
      GivenListed("rstdOutOptional", kFloats),
      RankRange("input out", 0, 8),
      GivenRank("weightOptional"),
      GivenRank("biasOptional"),
      GivenRank("meanOutOptional"),
      GivenRank("rstdOutOptional"),
      Refuses(161002, "normalizedShape input",
              [](IndexCall& call) { return !FitsTail(call["input"].shape, call["normalizedShape"].values); }),
      IsTail("weightOptional", "normalizedShape"),
      IsTail("biasOptional", "normalizedShape"),
      OneShape("input", "out"),
      StatisticFits("meanOutOptional", 161002, true),
      StatisticFits("rstdOutOptional", 161002, true)};
  if (has_mode) {
    op.rules.push_back(Refuses(161002, "implMode input weightOptional biasOptional", [](IndexCall& call) {
      const int64_t mode = call["implMode"].integer;
      if (mode < 0 || mode > 2) return true;
      bool halves = true;
      for (const char* name : {"input", "weightOptional", "biasOptional"})
        halves = halves && (call[name].null || call[name].dtype == ACL_FLOAT16);
      return mode == 2 && !halves;
    }));
  }
  op.rules.push_back(SucceedsIf([](IndexCall& call) {
    return LeadingRows(call["input"].shape, call["normalizedShape"].values.size()) == 0;
  }));
  op.rules.push_back(StatisticFits("meanOutOptional", 561103, false));
  op.rules.push_back(StatisticFits("rstdOutOptional", 561103, false));
  op.draw = [=](IndexCall& call, RandomNumbers& random) {
    Shape shape;
    Shape tail;
    DrawNorm(call, random, &shape, &tail);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    const DtypeNumber weights = random.Below(2) == 0 ? dtype : ACL_FLOAT;
    call["normalizedShape"].values = tail;
    for (const char* name : {"input", "out"}) call[name].shape = shape;
    for (const char* name : {"meanOutOptional", "rstdOutOptional"}) {
      call[name].shape = LeadingAndOnes(shape, tail.size());
      call[name].dtype = random.Below(3) == 0 ? dtype : ACL_FLOAT;
      call[name].null = random.Below(5) == 0;
    }
    call["input"].dtype = dtype;
    call["out"].dtype = random.Below(4) == 0 ? ACL_FLOAT : dtype;
    for (const char* name : {"weightOptional", "biasOptional"}) {
      call[name].shape = tail;
      call[name].dtype = weights;
      call[name].null = random.Below(4) == 0;
    }
    call["eps"].real = random.Below(2) == 0 ? 1e-5 : 0.25;
  };
  op.fill = FillRows;
  op.tolerance = 2e-5;
  op.is_inexact = true;
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& x = tensors[0];
    std::vector<double> out(x.elements.size());
    std::vector<double> mean;
    std::vector<double> rstd;
    const size_t last = call["normalizedShape"].values.size();
    const int64_t n = NumElements(call["normalizedShape"].values);
    if (n == 0) {
      mean.assign(static_cast<size_t>(LeadingRows(x.shape, last)), 0);
      rstd.assign(mean.size(), std::numeric_limits<double>::quiet_NaN());
    }
    for (const auto& row :
         n == 0 ? std::vector<std::vector<int64_t>>{} : RowsOf(x.shape, LastAxesOf(x.shape, last))) {
      const RowMoments moments = MomentsOf(x, row, call["eps"].real);
      mean.push_back(moments.mean);
      rstd.push_back(moments.rstd);
      for (const int64_t i : row) {
        const double w = call["weightOptional"].null ? 1 : ValueAt(tensors[1], i % n);
        const double b = call["biasOptional"].null ? 0 : ValueAt(tensors[2], i % n);
        out[static_cast<size_t>(i)] = (ValueAt(x, i) - moments.mean) * moments.rstd * w + b;
      }
    }
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, out),
                                AsOutcome(call["meanOutOptional"].dtype, mean),
                                AsOutcome(call["rstdOutOptional"].dtype, rstd)};
  };
  return op;
}

IndexOperator LayerNormGradient() {
  const Listed halves = {kRowDtypes};
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnLayerNormBackward);
  op.valid = {TensorArg("gradOut", {2, 3, 4}),      TensorArg("input", {2, 3, 4}),
              ArrayArg("normalizedShape", {3, 4}),  TensorArg("mean", {2, 1, 1}),
              TensorArg("rstd", {2, 1, 1}),         TensorArg("weightOptional", {3, 4}),
              TensorArg("biasOptional", {3, 4}),    ArrayArg("outputMask", {1, 1, 1}),
              OutputArg("gradInputOut", {2, 3, 4}), OutputArg("gradWeightOut", {3, 4}),
              OutputArg("gradBiasOut", {3, 4})};
  const std::vector<std::string> outputs = {"gradInputOut", "gradWeightOut", "gradBiasOut"};
  const auto wanted = [](IndexCall& call, size_t i) { return call["outputMask"].values[i] != 0; };
  op.rules = {
      NoNulls("gradOut input normalizedShape mean rstd outputMask"),
      Refuses(161002, "outputMask", [](IndexCall& call) { return call["outputMask"].values.size() != 3; })};
  for (size_t i = 0; i < 3; ++i) {
    op.rules.push_back(Refuses(161001, outputs[i],
                               [=](IndexCall& call) { return wanted(call, i) && call[outputs[i]].null; }));
  }
  op.rules.push_back(Listed_("gradOut input mean rstd", halves));
  op.rules.push_back(OneDtype("input", "gradOut"));
  for (const char* name : {"weightOptional", "biasOptional"}) op.rules.push_back(GivenListed(name, halves));
  op.rules.push_back(FloatOr("weightOptional", "input"));
  for (const std::string& name : outputs) op.rules.push_back(GivenListed(name, halves));
  op.rules.push_back(RankRange("gradOut input mean rstd", 0, 8));
  for (const char* name : {"weightOptional", "biasOptional", "gradInputOut", "gradWeightOut", "gradBiasOut"})
    op.rules.push_back(GivenRank(name));
  op.rules.push_back(Refuses(161002, "normalizedShape input", [](IndexCall& call) {
    return !FitsTail(call["input"].shape, call["normalizedShape"].values);
  }));
  op.rules.push_back(IsTail("weightOptional", "normalizedShape"));
  op.rules.push_back(IsTail("biasOptional", "normalizedShape"));
  op.rules.push_back(OneShape("input", "gradOut"));
  op.rules.push_back(OneShape("mean", "rstd"));
  op.rules.push_back(Refuses(161002, "mean", [](IndexCall& call) {
    return NumElements(call["mean"].shape) !=
           LeadingRows(call["input"].shape, call["normalizedShape"].values.size());
  }));
  op.rules.push_back(Refuses(161002, "gradInputOut input", [=](IndexCall& call) {
    return wanted(call, 0) && call["gradInputOut"].shape != call["input"].shape;
  }));
  for (const size_t i : {1, 2}) {
    op.rules.push_back(Refuses(161002, outputs[i], [=](IndexCall& call) {
      return wanted(call, i) &&
             NumElements(call[outputs[i]].shape) != NumElements(call["normalizedShape"].values);
    }));
  }
  op.rules.push_back(SucceedsIf([=](IndexCall& call) {
    return NumElements(call["normalizedShape"].values) == 0 ||
           (!wanted(call, 0) && !wanted(call, 1) && !wanted(call, 2));
  }));
  op.draw = [=](IndexCall& call, RandomNumbers& random) {
    Shape shape;
    Shape tail;
    DrawNorm(call, random, &shape, &tail);
    if (random.Below(12) == 0) shape[0] = random.Between(200, 700);
    tail = Shape(shape.end() - std::ssize(tail), shape.end());
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    call["normalizedShape"].values = tail;
    for (const char* name : {"gradOut", "input", "gradInputOut"}) {
      call[name].shape = shape;
      call[name].dtype = dtype;
    }
    if (random.Below(4) == 0) call["gradInputOut"].dtype = ACL_FLOAT;
    const DtypeNumber statistics = random.Below(3) == 0 ? dtype : ACL_FLOAT;
    for (const char* name : {"mean", "rstd"}) {
      call[name].shape = LeadingAndOnes(shape, tail.size());
      call[name].dtype = statistics;
    }
    const DtypeNumber weights = random.Below(2) == 0 ? dtype : ACL_FLOAT;
    for (const char* name : {"weightOptional", "biasOptional", "gradWeightOut", "gradBiasOut"}) {
      call[name].shape = tail;
      call[name].dtype = weights;
    }
    for (const char* name : {"weightOptional", "biasOptional"}) call[name].null = random.Below(4) == 0;
    for (size_t i = 0; i < 3; ++i) call["outputMask"].values[i] = random.Below(4) == 0 ? 0 : 1;
  };
  op.fill = FillRows;
  op.tolerance = 1e-4;
  op.is_inexact = true;
  op.takes_workspace = true;
  op.oracle = [=](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& gradient = tensors[0];
    const TensorValues& x = tensors[1];
    const int64_t n = NumElements(call["normalizedShape"].values);
    std::vector<double> out(x.elements.size());
    std::vector<double> of_weight(static_cast<size_t>(n));
    std::vector<double> of_bias(static_cast<size_t>(n));
    int64_t number = 0;
    const auto rows = NumElements(x.shape) == 0
                          ? std::vector<std::vector<int64_t>>{}
                          : RowsOf(x.shape, LastAxesOf(x.shape, call["normalizedShape"].values.size()));
    for (const auto& row : rows) {
      const double mean = ValueAt(tensors[2], number);
      const double rstd = ValueAt(tensors[3], number++);
      const auto h = [&](int64_t i) { return (ValueAt(x, i) - mean) * rstd; };
      const auto g = [&](int64_t i) {
        return ValueAt(gradient, i) * (call["weightOptional"].null ? 1 : ValueAt(tensors[4], i % n));
      };
      const double mean_g = SumOf(row, g) / static_cast<double>(n);
      const double mean_gh = SumOf(row, [&](int64_t i) { return g(i) * h(i); }) / static_cast<double>(n);
      for (const int64_t i : row) {
        out[static_cast<size_t>(i)] = rstd * (g(i) - mean_g - h(i) * mean_gh);
        of_weight[static_cast<size_t>(i % n)] += ValueAt(gradient, i) * h(i);
        of_bias[static_cast<size_t>(i % n)] += ValueAt(gradient, i);
      }
    }
    std::vector<Outcome> all = {AsOutcome(call["gradInputOut"].dtype, out),
                                AsOutcome(call["gradWeightOut"].dtype, of_weight),
                                AsOutcome(call["gradBiasOut"].dtype, of_bias)};
    for (size_t i = 0; i < 3; ++i) {
      if (call["outputMask"].values[i] == 0) all[i].assign(tensors[6 + i].elements.size(), std::nullopt);
    }
    return all;
  };
  return op;
}

// ---- RMS norm ----

bool RmsHas(const IndexCall& call, DtypeNumber dtype) {
  const Listed listed = {{}, kRowDtypes};
  return listed.Has(call.product, dtype) ||
         (call.product == Product::k310P && IsOneOf(dtype, {ACL_FLOAT, ACL_FLOAT16}));
}
IndexRule RmsListed(const std::string& name) {
  return Refuses(161002, name, [=](IndexCall& call) { return !RmsHas(call, call[name].dtype); });
}

IndexRule GammaDtype(const std::string& gamma, const std::string& x) {
  return Refuses(161002, gamma, [=](IndexCall& call) {
    const bool is_old = !RmsHas(call, ACL_BF16);
    return call[gamma].dtype != call[x].dtype && (is_old || call[gamma].dtype != ACL_FLOAT);
  });
}
IndexRule GammaTail(const std::string& gamma, const std::string& x) {
  return Refuses(561002, gamma, [=](IndexCall& call) {
    return !FitsTail(call[x].shape, call[gamma].shape) || NumElements(call[gamma].shape) == 0;
  });
}
IndexRule RstdLeads(const std::string& rstd, const std::string& gamma, const std::string& x) {
  return Refuses(561002, rstd, [=](IndexCall& call) {
    const Shape& shape = call[x].shape;
    const size_t leading = shape.size() - call[gamma].shape.size();
    const Shape& numbers = call[rstd].shape;
    if (numbers.size() > shape.size()) return true;
    for (size_t i = 0; i < std::max(numbers.size(), leading); ++i) {
      if ((i < numbers.size() ? numbers[i] : 1) != (i < leading ? shape[i] : 1)) return true;
    }
    return false;
  });
}
IndexRule OneShapeTiling(const std::string& a, const std::string& b) {
  return Refuses(561002, a + " " + b, [=](IndexCall& call) { return call[a].shape != call[b].shape; });
}
IndexRule RankTiling(const std::string& name, size_t least, size_t most) {
  return Refuses(561002, name, [=](IndexCall& call) {
    return call[name].shape.size() < least || call[name].shape.size() > most;
  });
}

void DrawRms(IndexCall& call, RandomNumbers& random, const std::vector<std::string>& rows,
             const std::string& gamma, const std::string& rstd, size_t least) {
  Shape shape;
  Shape tail;
  do {
    DrawNorm(call, random, &shape, &tail);
  } while (shape.size() < least);
  const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
  for (const std::string& name : rows) {
    call[name].shape = shape;
    call[name].dtype = dtype;
  }
  call[gamma].shape = tail;
  call[gamma].dtype = random.Below(2) == 0 ? dtype : ACL_FLOAT;
  Shape numbers = LeadingAndOnes(shape, tail.size());
  if (random.Below(2) == 0) numbers.resize(shape.size() - tail.size());
  while (!numbers.empty() && numbers.back() == 1 && random.Below(2) == 0) numbers.pop_back();
  call[rstd].shape = numbers;
}

IndexOperator RmsNormOperator() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnRmsNorm);
  op.valid = {TensorArg("x", {2, 3, 4}), TensorArg("gamma", {3, 4}), RealArg("epsilon", 1e-6),
              OutputArg("yOut", {2, 3, 4}), OutputArg("rstdOut", {2, 1, 1})};
  op.rules = {NoNulls("x gamma yOut rstdOut"),
              RmsListed("x"),
              OneDtype("x", "yOut"),
              GammaDtype("gamma", "x"),
              Listed_("rstdOut", {{ACL_FLOAT}}),
              RankTiling("x", 1, 8),
              RankTiling("gamma", 0, 8),
              GammaTail("gamma", "x"),
              OneShapeTiling("x", "yOut"),
              Refuses(561002, "epsilon", [](IndexCall& call) { return call["epsilon"].real < 0; }),
              RstdLeads("rstdOut", "gamma", "x"),
              EmptyDone("x")};
  op.draw = [](IndexCall& call, RandomNumbers& random) {
    DrawRms(call, random, {"x", "yOut"}, "gamma", "rstdOut", 1);
  };
  op.fill = FillRows;
  op.tolerance = 2e-5;
  op.is_inexact = true;
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& x = tensors[0];
    const int64_t n = NumElements(call["gamma"].shape);
    std::vector<double> out(x.elements.size());
    std::vector<double> numbers;
    for (const auto& row : RowsOf(x.shape, LastAxesOf(x.shape, call["gamma"].shape.size()))) {
      const double mean =
          SumOf(row, [&](int64_t i) { return ValueAt(x, i) * ValueAt(x, i); }) / static_cast<double>(n);
      numbers.push_back(1 / std::sqrt(mean + static_cast<double>(static_cast<float>(call["epsilon"].real))));
      for (const int64_t i : row)
        out[static_cast<size_t>(i)] = ValueAt(x, i) * numbers.back() * ValueAt(tensors[1], i % n);
    }
    return std::vector<Outcome>{AsOutcome(call["yOut"].dtype, out), AsOutcome(ACL_FLOAT, numbers)};
  };
  return op;
}

IndexOperator RmsNormGradient() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnRmsNormGrad);
  op.valid = {TensorArg("dy", {2, 3, 4}), TensorArg("x", {2, 3, 4}),     TensorArg("rstd", {2}),
              TensorArg("gamma", {3, 4}), OutputArg("dxOut", {2, 3, 4}), OutputArg("dgammaOut", {3, 4})};
  op.rules = {NoNulls("dy x rstd gamma dxOut dgammaOut"),
              RmsListed("dy"),
              OneDtype("dy", "x"),
              OneDtype("dy", "dxOut"),
              GammaDtype("gamma", "x"),
              Listed_("rstd dgammaOut", {{ACL_FLOAT}}),
              RankTiling("dy", 0, 8),
              RankTiling("x", 2, 8),
              RankTiling("rstd", 0, 8),
              RankTiling("gamma", 0, 8),
              OneShapeTiling("dy", "x"),
              OneShapeTiling("x", "dxOut"),
              GammaTail("gamma", "x"),
              OneShapeTiling("gamma", "dgammaOut"),
              RstdLeads("rstd", "gamma", "x")};
  op.draw = [](IndexCall& call, RandomNumbers& random) {
    DrawRms(call, random, {"dy", "x", "dxOut"}, "gamma", "rstd", 2);
    call["dgammaOut"].shape = call["gamma"].shape;
  };
  op.fill = FillRows;
  op.tolerance = 1e-4;
  op.is_inexact = true;
  op.takes_workspace = true;
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& x = tensors[1];
    const int64_t n = NumElements(call["gamma"].shape);
    std::vector<double> out(x.elements.size());
    std::vector<double> of_gamma(static_cast<size_t>(n));
    int64_t number = 0;
    const auto rows = NumElements(x.shape) == 0
                          ? std::vector<std::vector<int64_t>>{}
                          : RowsOf(x.shape, LastAxesOf(x.shape, call["gamma"].shape.size()));
    for (const auto& row : rows) {
      const double rstd = ValueAt(tensors[2], number++);
      const auto h = [&](int64_t i) { return ValueAt(x, i) * rstd; };
      const auto g = [&](int64_t i) { return ValueAt(tensors[0], i) * ValueAt(tensors[3], i % n); };
      const double mean = SumOf(row, [&](int64_t i) { return g(i) * h(i); }) / static_cast<double>(n);
      for (const int64_t i : row) {
        out[static_cast<size_t>(i)] = rstd * (g(i) - h(i) * mean);
        of_gamma[static_cast<size_t>(i % n)] += ValueAt(tensors[0], i) * h(i);
      }
    }
    return std::vector<Outcome>{AsOutcome(call["dxOut"].dtype, out), AsOutcome(ACL_FLOAT, of_gamma)};
  };
  return op;
}

// Dims of 1 in front of gamma's own, which the shape has not.
Shape OwnDims(const Shape& gamma, const Shape& x) {
  Shape own = gamma;
  while (own.size() > 1 && own[0] == 1 && (own.size() > x.size() || x[x.size() - own.size()] != 1))
    own.erase(own.begin());
  return own;
}

IndexOperator AddRmsNormOperator() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnAddRmsNorm);
  op.valid = {TensorArg("x1", {2, 3, 4}),  TensorArg("x2", {2, 3, 4}),   TensorArg("gamma", {4}),
              RealArg("epsilon", 1e-6),    OutputArg("yOut", {2, 3, 4}), OutputArg("rstdOut", {2, 3, 1}),
              OutputArg("xOut", {2, 3, 4})};
  const auto has_rstd = [](IndexCall& call) { return !call["rstdOut"].null; };
  op.rules = {
      NoNulls("x1 x2 gamma yOut"),
      Refuses(161001, "xOut", [=](IndexCall& call) { return has_rstd(call) && call["xOut"].null; }),
      Refuses(161002, "x1",
              [=](IndexCall& call) {
                return !RmsHas(call, call["x1"].dtype) || (!has_rstd(call) && call["x1"].dtype == ACL_FLOAT);
              }),
      OneDtype("x1", "x2"),
      OneDtype("x1", "gamma"),
      OneDtype("x1", "yOut"),
      Given("xOut", OneDtype("x1", "xOut")),
      Given("rstdOut", Listed_("rstdOut", {{ACL_FLOAT}})),
      RankRange("x1 x2 gamma yOut", 0, 8),
      Given("xOut", RankRange("xOut", 0, 8)),
      RankRange("x1 x2 gamma yOut", 1, 8),
      Given("xOut", RankRange("xOut", 1, 8)),
      OneShape("x1", "x2"),
      OneShape("x1", "yOut"),
      Given("xOut", OneShape("x1", "xOut")),
      Refuses(161002, "gamma",
              [=](IndexCall& call) { return !has_rstd(call) && call["gamma"].shape.size() > 2; }),
      EmptyDone("x1 gamma"),
      Refuses(561002, "gamma",
              [](IndexCall& call) {
                return !FitsTail(call["x1"].shape, OwnDims(call["gamma"].shape, call["x1"].shape));
              }),
      Given("rstdOut", Refuses(561002, "rstdOut", [](IndexCall& call) {
              const Shape& x = call["x1"].shape;
              return call["rstdOut"].shape != LeadingAndOnes(x, OwnDims(call["gamma"].shape, x).size());
            }))};
  op.draw = [](IndexCall& call, RandomNumbers& random) {
    DrawRms(call, random, {"x1", "x2", "yOut", "xOut"}, "gamma", "rstdOut", 1);
    call["gamma"].dtype = call["x1"].dtype;
    call["rstdOut"].shape = LeadingAndOnes(call["x1"].shape, call["gamma"].shape.size());
    call["rstdOut"].null = random.Below(3) == 0;
    call["xOut"].null = call["rstdOut"].null && random.Below(2) == 0;
  };
  op.fill = FillRows;
  op.tolerance = 2e-5;
  op.is_inexact = true;
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& x1 = tensors[0];
    const size_t last = OwnDims(call["gamma"].shape, x1.shape).size();
    const int64_t n = NumElements(call["gamma"].shape);
    std::vector<double> out(x1.elements.size());
    std::vector<double> sums(x1.elements.size());
    std::vector<double> numbers;
    for (const auto& row : RowsOf(x1.shape, LastAxesOf(x1.shape, last))) {
      const auto x = [&](int64_t i) { return ValueAt(x1, i) + ValueAt(tensors[1], i); };
      const double mean = SumOf(row, [&](int64_t i) { return x(i) * x(i); }) / static_cast<double>(n);
      numbers.push_back(1 / std::sqrt(mean + static_cast<double>(static_cast<float>(call["epsilon"].real))));
      for (const int64_t i : row) {
        sums[static_cast<size_t>(i)] = x(i);
        out[static_cast<size_t>(i)] = x(i) * numbers.back() * ValueAt(tensors[2], i % n);
      }
    }
    return std::vector<Outcome>{AsOutcome(call["yOut"].dtype, out), AsOutcome(ACL_FLOAT, numbers),
                                AsOutcome(call["xOut"].dtype, sums)};
  };
  return op;
}

// ---- layer norm of a sum ----

DtypeNumber SumDtype(const IndexCall& call) {
  return call["x1"].dtype == call["x2"].dtype ? call["x1"].dtype : DtypeNumber{ACL_FLOAT};
}
IndexRule HasSumDtype(const std::string& name) {
  return Refuses(161002, name, [=](IndexCall& call) { return call[name].dtype != SumDtype(call); });
}
IndexRule WithSum(const IndexRule& rule) {
  return [=](IndexCall& call) { return call["additionalOutput"].integer == 0 ? std::nullopt : rule(call); };
}

IndexOperator AddLayerNormOperator() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnAddLayerNorm);
  op.valid = {TensorArg("x1", {2, 3, 4}),        TensorArg("x2", {2, 3, 4}),
              TensorArg("gamma", {4}),           TensorArg("beta", {4}),
              TensorArg("biasOptional", {4}),    RealArg("epsilon", 1e-5),
              IntegerArg("additionalOutput", 1), OutputArg("yOut", {2, 3, 4}),
              OutputArg("meanOut", {2, 3, 1}),   OutputArg("rstdOut", {2, 3, 1}),
              OutputArg("xOut", {2, 3, 4})};
  op.rules = {NoNulls("x1 x2 gamma beta yOut meanOut rstdOut xOut"),
              RmsListed("x1"),
              RmsListed("x2"),
              Refuses(161002, "x1 x2",
                      [](IndexCall& call) {
                        const bool has_float = call["x1"].dtype == ACL_FLOAT || call["x2"].dtype == ACL_FLOAT;
                        return call["x1"].dtype != call["x2"].dtype &&
                               (call.product == Product::k310P || !has_float);
                      }),
              Refuses(161002, "gamma",
                      [](IndexCall& call) {
                        return call["gamma"].dtype != SumDtype(call) &&
                               (call.product == Product::k310P || call["gamma"].dtype != ACL_FLOAT);
                      }),
              OneDtype("gamma", "beta"),
              Given("biasOptional", HasSumDtype("biasOptional")),
              HasSumDtype("yOut"),
              Listed_("meanOut rstdOut", {{ACL_FLOAT}}),
              WithSum(HasSumDtype("xOut")),
              RankTiling("x1", 1, 8),
              OneShapeTiling("x1", "x2"),
              OneShapeTiling("x1", "yOut"),
              WithSum(OneShapeTiling("x1", "xOut")),
              Refuses(561002, "x1", [](IndexCall& call) { return NumElements(call["x1"].shape) == 0; }),
              GammaTail("gamma", "x1"),
              OneShapeTiling("gamma", "beta"),
              Given("biasOptional", Refuses(561002, "biasOptional",
                                            [](IndexCall& call) {
                                              const Shape& bias = call["biasOptional"].shape;
                                              return bias != call["gamma"].shape && bias != call["x1"].shape;
                                            })),
              RstdLeads("meanOut", "gamma", "x1"),
              RstdLeads("rstdOut", "gamma", "x1")};
  op.draw = [](IndexCall& call, RandomNumbers& random) {
    DrawRms(call, random, {"x1", "x2", "yOut", "xOut", "biasOptional"}, "gamma", "rstdOut", 1);
    if (random.Below(2) == 0) call["biasOptional"].shape = call["gamma"].shape;
    call["biasOptional"].null = random.Below(3) == 0;
    if (random.Below(3) == 0) {
      call[random.Below(2) == 0 ? "x1" : "x2"].dtype = ACL_FLOAT;
      for (const char* name : {"yOut", "xOut", "biasOptional"}) call[name].dtype = SumDtype(call);
      if (SumDtype(call) == ACL_FLOAT) call["gamma"].dtype = ACL_FLOAT;
    }
    call["beta"].shape = call["gamma"].shape;
    call["beta"].dtype = call["gamma"].dtype;
    call["meanOut"].shape = LeadingAndOnes(call["x1"].shape, call["gamma"].shape.size());
    call["additionalOutput"].integer = random.Between(0, 1);
  };
  op.fill = FillRows;
  op.tolerance = 2e-5;
  op.is_inexact = true;
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& shape = call["x1"].shape;
    const int64_t n = NumElements(call["gamma"].shape);
    const size_t elements = tensors[0].elements.size();
    std::vector<double> sums;
    for (int64_t i = 0; i < static_cast<int64_t>(elements); ++i) {
      float sum = static_cast<float>(ValueAt(tensors[0], i)) + static_cast<float>(ValueAt(tensors[1], i));
      if (!call["biasOptional"].null)
        sum += static_cast<float>(ValueAt(tensors[4], call["biasOptional"].shape == shape ? i : i % n));
      sums.push_back(static_cast<double>(sum));
    }
    std::vector<double> out(elements);
    std::vector<double> mean;
    std::vector<double> rstd;
    for (const auto& row : RowsOf(shape, LastAxesOf(shape, call["gamma"].shape.size()))) {
      const auto at = [&](int64_t i) { return sums[static_cast<size_t>(i)]; };
      mean.push_back(SumOf(row, at) / static_cast<double>(n));
      const double variance =
          SumOf(row, [&](int64_t i) { return std::pow(at(i) - mean.back(), 2); }) / static_cast<double>(n);
      rstd.push_back(1 / std::sqrt(variance + static_cast<double>(static_cast<float>(call["epsilon"].real))));
      for (const int64_t i : row) {
        out[static_cast<size_t>(i)] =
            (at(i) - mean.back()) * rstd.back() * ValueAt(tensors[2], i % n) + ValueAt(tensors[3], i % n);
      }
    }
    const bool has_sum = call["additionalOutput"].integer != 0;
    return std::vector<Outcome>{AsOutcome(call["yOut"].dtype, out), AsOutcome(ACL_FLOAT, mean),
                                AsOutcome(ACL_FLOAT, rstd),
                                has_sum ? AsOutcome(call["xOut"].dtype, sums) : Outcome(elements)};
  };
  return op;
}

// ---- slices scaled to a norm ----

double NormOf(const TensorValues& self, const std::vector<int64_t>& row, double p) {
  const auto magnitude = [&](int64_t i) { return std::fabs(ValueAt(self, i)); };
  if (p == 0) return SumOf(row, [&](int64_t i) { return magnitude(i) == 0 ? 0 : 1; });
  if (!std::isinf(p))
    return std::pow(SumOf(row, [&](int64_t i) { return std::pow(magnitude(i), p); }), 1 / p);
  double most = 0;
  for (const int64_t i : row) most = std::isnan(most) || magnitude(i) <= most ? most : magnitude(i);
  return most;
}

IndexOperator RenormOperator(const CFunction& function, bool in_place) {
  const std::string self = in_place ? "selfRef" : "self";
  const std::string out = in_place ? "selfRef" : "out";
  IndexOperator op;
  op.function = function;
  op.valid = {in_place ? OutputArg(self, {2, 3}) : TensorArg(self, {2, 3}), ScalarArg("p", {2, 0}),
              IntegerArg("dim", 0), ScalarArg("maxNorm", {1.5L, 0})};
  if (!in_place) op.valid.push_back(OutputArg(out, {2, 3}));
  op.rules = {NoNulls(self + " p maxNorm " + out),
              Listed_(self, kFloats),
              OneDtype(self, out),
              Refuses(161002, self + " " + out,
                      [=](IndexCall& call) { return call[self].format != call[out].format; }),
              RankRange(self, 2, 8),
              OneShape(self, out),
              Refuses(161002, "dim",
                      [=](IndexCall& call) { return !IsDimOf(call["dim"].integer, call[self].shape); }),
              EmptyDone(self)};
  op.draw = [=](IndexCall& call, RandomNumbers& random) {
    Shape shape = DrawShape(random, 2, 8, random.Below(4) == 0 ? 3 : 6);
    if (shape.size() == 2 && random.Below(3) == 0) shape[random.Below(2)] = random.Between(1, 9000);
    call[self].shape = call[out].shape = shape;
    call[self].dtype = call[out].dtype = DrawDtype(random, kRowDtypes);
    call["dim"].integer = random.Between(-std::ssize(shape), std::ssize(shape) - 1);
    const long double powers[] = {0, 1, 2, 3, 0.5L, 1.5L, HUGE_VALL};
    call["p"].number = {powers[random.Below(7)], 0};
    const long double norms[] = {0, 0.5L, 2, 10, 100, HUGE_VALL};
    call["maxNorm"].number = {norms[random.Below(6)], 0};
  };
  op.fill = FillRows;
  op.tolerance = 5e-6;
  op.is_inexact = true;
  op.updates = in_place;
  op.oracle = [=](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    std::vector<double> result(tensors[0].elements.size());
    std::vector<bool> axes(call[self].shape.size(), true);
    axes[Wrapped(call["dim"].integer, call[self].shape)] = false;
    const auto most = static_cast<double>(call["maxNorm"].number.real);
    for (const auto& row : RowsOf(call[self].shape, axes)) {
      const double norm = NormOf(tensors[0], row, static_cast<double>(call["p"].number.real));
      const double factor = norm > most ? most / (norm + 1e-7) : 1;
      for (const int64_t i : row) result[static_cast<size_t>(i)] = ValueAt(tensors[0], i) * factor;
    }
    return std::vector<Outcome>{AsOutcome(call[self].dtype, result)};
  };
  return op;
}

const std::vector<IndexOperator>& Operators() {
  static const std::vector<IndexOperator> all = {
      SoftmaxOperator(PORTACL_C_FUNCTION(aclnnSoftmax), false),
      SoftmaxOperator(PORTACL_C_FUNCTION(aclnnLogSoftmax), true),
      SoftmaxGradient(PORTACL_C_FUNCTION(aclnnSoftmaxBackward), false),
      SoftmaxGradient(PORTACL_C_FUNCTION(aclnnLogSoftmaxBackward), true),
      LayerNormOperator(PORTACL_C_FUNCTION(aclnnLayerNorm), false),
      LayerNormOperator(PORTACL_C_FUNCTION(aclnnLayerNormWithImplMode), true),
      LayerNormGradient(),
      RmsNormOperator(),
      RmsNormGradient(),
      AddRmsNormOperator(),
      AddLayerNormOperator(),
      RenormOperator(PORTACL_C_FUNCTION(aclnnRenorm), false),
      RenormOperator(PORTACL_C_FUNCTION(aclnnInplaceRenorm), true),
  };
  return all;
}

PORTACL_INDEX_TESTS(Rows, Operators());

// Slices (3, 4) and (0, 0) of x, scaled to a 2-norm of at most `most`; or what phase 1 answers.
struct Renormed {
  aclnnStatus code;
  std::string message;
  std::vector<float> out;
};
Renormed Renorm(Product product, float p, float most) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)}});
  Renormed result{0, "", std::vector<float>(4, 7.0f)};
  std::vector<float> x = {3, 4, 3e-13f, 4e-13f};
  const Shape shape = {2, 2};
  const auto tensor = [&](std::vector<float>& data) {
    return aclCreateTensor(shape.data(), 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape.data(), 2,
                           data.data());
  };
  aclTensor* const in = tensor(x);
  aclTensor* const out = tensor(result.out);
  aclScalar* const power = aclCreateScalar(&p, ACL_FLOAT);
  aclScalar* const bound = aclCreateScalar(&most, ACL_FLOAT);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  result.code = aclnnRenormGetWorkspaceSize(in, power, 0, bound, out, &size, &executor);
  if (result.code != 0) {
    result.message = aclGetRecentErrMsg();
  } else {
    EXPECT_EQ(aclnnRenorm(nullptr, size, executor, environment.stream()), 0);
    EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
  }
  for (const aclTensor* one : {in, out}) aclDestroyTensor(one);
  for (const aclScalar* one : {power, bound}) aclDestroyScalar(one);
  return result;
}
TEST(Renorm, AddsToTheNormOrBoundsIt) {
  // 2.5 / (5 + 1e-7) and 2.5 / 5 are one number of FLOAT. 1e-13 / (5e-13 + 1e-7) is not 1e-13 / 1e-12.
  EXPECT_EQ(Renorm(Product::kA2, 2, 2.5f).out, (std::vector<float>{1.5f, 2, 3e-13f, 4e-13f}));
  EXPECT_EQ(Renorm(Product::k950, 2, 2.5f).out, (std::vector<float>{1.5f, 2, 3e-13f, 4e-13f}));
  EXPECT_NEAR(Renorm(Product::kA2, 2, 1e-13f).out[2], 3e-19f, 1e-23f);
  EXPECT_NEAR(Renorm(Product::k950, 2, 1e-13f).out[2], 3e-14f, 1e-19f);
}
TEST(Renorm, RefusesWhatIsBelowZero) {
  for (const auto& [p, most, name] :
       {std::tuple{-1.0f, 1.0f, "parameter p "}, {2.0f, -0.5f, "parameter maxNorm "}}) {
    const Renormed result = Renorm(Product::kA2, p, most);
    EXPECT_EQ(result.code, 161002);
    EXPECT_NE(result.message.find(name), std::string::npos) << result.message;
    EXPECT_EQ(result.out, std::vector<float>(4, 7.0f));
  }
  EXPECT_EQ(Renorm(Product::kA2, NAN, 1).out, (std::vector<float>{3, 4, 3e-13f, 4e-13f}));
}

// Its kernel there writes no mean and no rstd; also that -0 stays where there is no bias.
TEST(AddLayerNorm, WithoutStatisticsOnInferenceProducts) {
  for (const bool is_inference : {true, false}) {
    const ScopedEnvironment environment(
        Variables{{"PORTACL_SOC", is_inference ? "Ascend310P3" : "Ascend910B1"}});
    ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
    std::vector<float> x = {1, 3, -0.0f, -0.0f}, ones = {1, 1}, y(4), mean(2, 7), rstd(2, 7), sum(4);
    const int64_t rows[] = {2, 2}, columns[] = {2}, numbers[] = {2, 1};
    const auto tensor = [](const int64_t* shape, uint64_t rank, void* data) {
      return aclCreateTensor(shape, rank, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape, rank, data);
    };
    const std::vector<aclTensor*> all = {tensor(rows, 2, x.data()),       tensor(columns, 1, ones.data()),
                                         tensor(rows, 2, y.data()),       tensor(numbers, 2, mean.data()),
                                         tensor(numbers, 2, rstd.data()), tensor(rows, 2, sum.data())};
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnAddLayerNormGetWorkspaceSize(all[0], all[0], all[1], all[1], nullptr, 0.0, true, all[2],
                                                all[3], all[4], all[5], &size, &executor),
              0);
    ASSERT_EQ(aclnnAddLayerNorm(nullptr, size, executor, environment.stream()), 0);
    ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
    EXPECT_EQ(y[0], 0.0f);
    EXPECT_EQ(y[1], 2.0f);
    EXPECT_EQ(mean[0], is_inference ? 7.0f : 4.0f);
    EXPECT_EQ(rstd[0], is_inference ? 7.0f : 0.5f);
    EXPECT_TRUE(std::signbit(sum[2]) && std::signbit(sum[3]));
    for (const aclTensor* one : all) aclDestroyTensor(one);
  }
}

// A caller may take 0 for "not planned yet", so LayerNorm asks for some, as it does on an NPU, and gets along without.
TEST(LayerNormWorkspace, IsAskedForAndNotNeeded) {
  const ScopedEnvironment environment(Variables{});
  std::vector<float> x = {1, 3, -2, 2}, y(4);
  const int64_t rows[] = {2, 2};
  const int64_t none[] = {0, 2};
  aclTensor* const in = aclCreateTensor(rows, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, rows, 2, x.data());
  aclTensor* const out = aclCreateTensor(rows, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, rows, 2, y.data());
  aclTensor* const empty = aclCreateTensor(none, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, none, 2, nullptr);
  aclIntArray* const last = aclCreateIntArray(rows, 1);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  for (const bool has_mode : {false, true}) {
    const auto plan = [&](aclTensor* from, aclTensor* to) {
      return has_mode ? aclnnLayerNormWithImplModeGetWorkspaceSize(from, last, nullptr, nullptr, 0.0, to,
                                                                   nullptr, nullptr, 0, &size, &executor)
                      : aclnnLayerNormGetWorkspaceSize(from, last, nullptr, nullptr, 0.0, to, nullptr,
                                                       nullptr, &size, &executor);
    };
    const auto run = has_mode ? aclnnLayerNormWithImplMode : aclnnLayerNorm;
    for (const bool is_given : {true, false}) {
      std::fill(y.begin(), y.end(), 7.0f);
      ASSERT_EQ(plan(in, out), 0);
      EXPECT_GT(size, 0u);
      EXPECT_LE(size, 1024u);
      std::vector<std::byte> workspace(size, std::byte{0x55});
      ASSERT_EQ(
          run(is_given ? workspace.data() : nullptr, is_given ? size : 0, executor, environment.stream()), 0);
      ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
      EXPECT_EQ(y, (std::vector<float>{-1, 1, -1, 1}));
      EXPECT_EQ(workspace, std::vector<std::byte>(size, std::byte{0x55})) << "nothing is kept in it";
    }
    ASSERT_EQ(plan(empty, empty), 0);
    EXPECT_EQ(size, 0u) << "there is nothing to do";
    aclDestroyAclOpExecutor(executor);
  }
  for (aclTensor* made : {in, out, empty}) aclDestroyTensor(made);
  aclDestroyIntArray(last);
}

}  // namespace
}  // namespace portacl::testing
