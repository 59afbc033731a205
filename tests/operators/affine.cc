// Scales and shifts, and norms with them, as descriptions.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "aclnnop/families/arithmetic.h"
#include "aclnnop/families/norm.h"
#include "norm/row_calls.h"
#include "operators/norms.h"

namespace portacl::testing {
namespace {

double Rounded(double x) { return static_cast<double>(static_cast<float>(x)); }

// ---- Scale ----

size_t AxisOf(const PlanCall& call) { return Wrapped(call["axis"].integer, call["x"].shape); }
bool CountsAxes(const PlanCall& call) { return call["scaleFromBlob"].integer != 0; }
bool IsOneNumber(const PlanCall& call) {
  return CountsAxes(call) ? call["numAxes"].integer == 0 : NumElements(call["scale"].shape) == 1;
}
// The axes of x that the scale has.
Shape AxesOfScale(const PlanCall& call) {
  const Shape& x = call["x"].shape;
  const auto behind = static_cast<int64_t>(x.size() - std::min(x.size(), AxisOf(call)));
  int64_t count = std::ssize(call["scale"].shape);
  if (CountsAxes(call)) count = call["numAxes"].integer == -1 ? behind : call["numAxes"].integer;
  const auto first = x.end() - behind;
  return Shape(first, first + std::min(count, behind));
}

OperatorSpec Scale() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnScale);
  op.valid = {TensorArg("x", {2, 3, 4}), TensorArg("scale", {3}),  TensorArg("bias", {3}),
              IntegerArg("axis", 1),     IntegerArg("numAxes", 1), IntegerArg("scaleFromBlob", 1),
              OutputArg("y", {2, 3, 4})};
  const auto has_bias = [](const PlanCall& call) { return !call["bias"].null; };
  op.rules = {
      NoNulls("x scale y"),
      DtypeIn("x", kFloats),
      SameDtype("x", "scale"),
      Refuses(161002, "bias",
              [=](PlanCall& call) { return has_bias(call) && call["bias"].dtype != call["x"].dtype; }),
      SameDtype("x", "y"),
      Ranks("x scale", 0, 8),
      Refuses(161002, "axis", [](PlanCall& call) { return !IsDimOf(call["axis"].integer, call["x"].shape); }),
      Refuses(161002, "numAxes",
              [](PlanCall& call) {
                const int64_t count = call["numAxes"].integer;
                const int64_t axis = call["x"].shape.empty() ? 0 : static_cast<int64_t>(AxisOf(call));
                return CountsAxes(call) && (count < -1 || count > std::ssize(call["x"].shape) - axis);
              }),
      Refuses(161002, "scale",
              [](PlanCall& call) {
                if (IsOneNumber(call)) return NumElements(call["scale"].shape) != 1;
                return call["scale"].shape != AxesOfScale(call);
              }),
      Refuses(161002, "bias",
              [=](PlanCall& call) { return has_bias(call) && call["bias"].shape != call["scale"].shape; }),
      SameShape("x", "y"),
      DoneIfEmpty("x")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const Shape x = DrawShape(random, 0, random.Below(6) == 0 ? 8 : 4, 4);
    const auto rank = std::ssize(x);
    const int64_t axis = rank == 0 ? 0 : random.Below(static_cast<uint32_t>(rank));
    const int64_t count = random.Between(0, rank - axis);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    call["x"].shape = call["y"].shape = x;
    call["axis"].integer = axis - (random.Below(2) == 0 ? std::max<int64_t>(rank, 1) : 0);
    call["scaleFromBlob"].integer = random.Below(2);
    call["numAxes"].integer = count > 0 && count == rank - axis && random.Below(2) == 0 ? -1 : count;
    Shape scale(x.begin() + axis, x.begin() + axis + count);
    if (count == 0 && random.Below(2) == 0) scale = {1};
    for (const char* name : {"scale", "bias"}) call[name].shape = scale;
    for (const char* name : {"x", "scale", "bias", "y"}) call[name].dtype = dtype;
    call["bias"].null = random.Below(3) == 0;
  };
  op.fill = FillRows;
  op.is_inexact = true;  // NaN
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& x = call["x"].shape;
    std::vector<double> out(static_cast<size_t>(NumElements(x)));
    for (int64_t i = 0; i < std::ssize(out); ++i) {
      int64_t of_scale = 0;
      if (!IsOneNumber(call)) {
        const Index index = IndexAt(x, i);
        const auto first = index.begin() + static_cast<std::ptrdiff_t>(AxisOf(call));
        of_scale = PositionOf(call["scale"].shape, Index(first, first + std::ssize(call["scale"].shape)));
      }
      double y = Rounded(ValueAt(tensors[0], i) * ValueAt(tensors[1], of_scale));
      if (has_bias(call)) y = Rounded(y + ValueAt(tensors[2], of_scale));
      out[static_cast<size_t>(i)] = y;
    }
    return std::vector<Outcome>{AsOutcome(call["y"].dtype, out)};
  };
  return op;
}

// ---- Modulate ----

OperatorSpec Modulate() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnModulate);
  op.valid = {TensorArg("self", {2, 3, 4}), TensorArg("scale", {2, 4}), TensorArg("shift", {2, 1, 4}),
              OutputArg("out", {2, 3, 4})};
  const auto row = [](const std::string& name) {
    return Refuses(161002, name, [=](PlanCall& call) {
      const Shape& self = call["self"].shape;
      const Shape& shape = call[name].shape;
      return shape != Shape{self[0], self[2]} && shape != Shape{self[0], 1, self[2]};
    });
  };
  op.rules = {NoNulls("self out"),
              NoNulls("scale shift", 161002),
              DtypeIn("self", kFloats),
              SameDtype("self", "scale"),
              SameDtype("self", "shift"),
              SameDtype("self", "out"),
              Ranks("self", 3, 3),
              row("scale"),
              row("shift"),
              SameShape("self", "out"),
              Refuses(161002, "scale shift self",
                      [](PlanCall& call) {
                        return NumElements(call["self"].shape) == 0 && NumElements(call["scale"].shape) != 0;
                      }),
              DoneIfEmpty("self")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t batch = random.Between(1, 4);
    const int64_t rows = random.Between(1, 5);
    const int64_t columns = random.Between(1, random.Below(3) == 0 ? 200 : 9);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    call["self"].shape = call["out"].shape = {batch, rows, columns};
    for (const char* name : {"scale", "shift"})
      call[name].shape = random.Below(2) == 0 ? Shape{batch, columns} : Shape{batch, 1, columns};
    for (const char* name : {"self", "scale", "shift", "out"}) call[name].dtype = dtype;
  };
  op.fill = FillRows;
  op.is_inexact = true;  // NaN
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& self = call["self"].shape;
    std::vector<double> out(static_cast<size_t>(NumElements(self)));
    for (int64_t i = 0; i < std::ssize(out); ++i) {
      const Index index = IndexAt(self, i);
      const int64_t of_row = index[0] * self[2] + index[2];
      const double factor = Rounded(1 + ValueAt(tensors[1], of_row));
      out[static_cast<size_t>(i)] =
          Rounded(Rounded(ValueAt(tensors[0], i) * factor) + ValueAt(tensors[2], of_row));
    }
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, out)};
  };
  return op;
}

// ---- ModulateBackward ----

OperatorSpec ModulateGradients() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnModulateBackward);
  op.takes_workspace = op.is_inexact = true;
  op.valid = {TensorArg("gradOutput", {2, 3, 4}), TensorArg("input", {2, 3, 4}),
              TensorArg("scale", {2, 4}),         TensorArg("shift", {2, 1, 4}),
              OutputArg("gradInput", {2, 3, 4}),  OutputArg("gradScale", {2, 4}),
              OutputArg("gradShift", {2, 1, 4})};
  op.rules = {NoNulls("gradOutput input scale shift gradInput gradScale gradShift"),
              DtypeIn("gradOutput", kFloats)};
  for (const char* name : {"input", "scale", "shift", "gradInput", "gradScale", "gradShift"})
    op.rules.push_back(SameDtype("gradOutput", name));
  op.rules.push_back(
      Refuses(161002, "gradOutput input scale shift gradInput gradScale gradShift", [](PlanCall& call) {
        const Shape& grad = call["gradOutput"].shape;
        if (grad.size() != 3 || call["input"].shape != grad || call["gradInput"].shape != grad) return true;
        for (const char* name : {"scale", "shift", "gradScale", "gradShift"}) {
          const Shape& shape = call[name].shape;
          if (shape != Shape{grad[0], grad[2]} && shape != Shape{grad[0], 1, grad[2]}) return true;
        }
        return false;
      }));
  op.rules.push_back(DoneIfEmpty("gradOutput"));
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t batch = random.Between(1, 4);
    const int64_t rows = random.Between(1, 9);
    const int64_t columns = random.Between(1, random.Below(5) == 0 ? 1100 : 9);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    for (PlanArgument& one : call.arguments) {
      one.dtype = dtype;
      one.shape = random.Below(2) == 0 ? Shape{batch, columns} : Shape{batch, 1, columns};
    }
    for (const char* name : {"gradOutput", "input", "gradInput"}) call[name].shape = {batch, rows, columns};
  };
  op.fill = FillRows;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& grad = call["gradOutput"].shape;
    std::vector<double> of_input(static_cast<size_t>(NumElements(grad)));
    std::vector<double> of_scale(static_cast<size_t>(grad[0] * grad[2]));
    std::vector<double> of_shift = of_scale;
    for (int64_t i = 0; i < std::ssize(of_input); ++i) {
      const Index index = IndexAt(grad, i);
      const auto of_row = static_cast<size_t>(index[0] * grad[2] + index[2]);
      const double g = ValueAt(tensors[0], i);
      of_input[static_cast<size_t>(i)] = Rounded(g * ValueAt(tensors[2], static_cast<int64_t>(of_row)));
      of_scale[of_row] += g * ValueAt(tensors[1], i);
      of_shift[of_row] += g;
    }
    for (std::vector<double>* sums : {&of_scale, &of_shift}) {
      for (double& sum : *sums) sum = Rounded(sum);
    }
    const DtypeNumber dtype = call["gradOutput"].dtype;
    return std::vector<Outcome>{AsOutcome(dtype, of_input), AsOutcome(dtype, of_scale),
                                AsOutcome(dtype, of_shift)};
  };
  return op;
}

// ---- norms, by docs/numerics.md ----

// Normalises numbers step by step in float32.
class Norm {
 public:
  Norm(const TensorValues& x, const std::vector<int64_t>& row, double eps) {
    const auto n = static_cast<double>(row.size());
    const double exact = SumOf(row, [&](int64_t i) { return ValueAt(x, i); }) / n;
    mean_ = Rounded(exact);
    const double squares = SumOf(row, [&](int64_t i) {
      const double distance = Rounded(ValueAt(x, i) - mean_);
      return Rounded(distance * distance);
    });
    const double variance = squares / n - (exact - mean_) * (exact - mean_);
    variance_ = variance < 0 ? 0 : variance;
    reciprocal_ = Rounded(1 / std::sqrt(variance_ + Rounded(eps)));
  }

  double mean() const { return mean_; }
  double variance() const { return variance_; }
  double Of(double x, double weight, double bias) const {
    const double normed = Rounded(Rounded(x - mean_) * reciprocal_);
    return Rounded(Rounded(normed * weight) + bias);
  }

 private:
  double mean_, variance_, reciprocal_;
};

// ---- AdaLayerNorm ----

OperatorSpec AdaLayerNorm() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnAdaLayerNorm);
  op.takes_workspace = op.is_inexact = true;
  op.tolerance = 1e-6;
  op.valid = {TensorArg("x", {2, 3, 4}),        TensorArg("scale", {2, 4}),     TensorArg("shift", {2, 1, 4}),
              TensorArg("weightOptional", {4}), TensorArg("biasOptional", {4}), RealArg("epsilon", 1e-5),
              OutputArg("out", {2, 3, 4})};
  const auto row = [](const std::string& name) {
    return Refuses(161002, name, [=](PlanCall& call) {
      const Shape& x = call["x"].shape;
      const Shape& shape = call[name].shape;
      return shape != Shape{x[0], x[2]} && shape != Shape{x[0], 1, x[2]};
    });
  };
  const auto given = [](const std::string& name, const Rule& rule) {
    return [=](PlanCall& call) { return call[name].null ? std::optional<Verdict>() : rule(call); };
  };
  const auto length = [](const std::string& name) {
    return Refuses(161002, name,
                   [=](PlanCall& call) { return call[name].shape != Shape{call["x"].shape[2]}; });
  };
  op.rules = {NoNulls("x scale shift out"),
              DtypeIn("x", kFloats),
              SameDtype("x", "scale"),
              SameDtype("x", "shift"),
              given("weightOptional", SameDtype("x", "weightOptional")),
              given("biasOptional", SameDtype("x", "biasOptional")),
              SameDtype("x", "out"),
              Ranks("x", 3, 3),
              row("scale"),
              row("shift"),
              given("weightOptional", length("weightOptional")),
              given("biasOptional", length("biasOptional")),
              SameShape("x", "out"),
              Refuses(161002, "epsilon", [](PlanCall& call) { return !(call["epsilon"].real >= 0); }),
              DoneIfEmpty("x")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t batch = random.Between(1, 4);
    const int64_t columns = random.Between(1, random.Below(3) == 0 ? 200 : 9);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    call["x"].shape = call["out"].shape = {batch, random.Between(1, 5), columns};
    for (const char* name : {"scale", "shift"})
      call[name].shape = random.Below(2) == 0 ? Shape{batch, columns} : Shape{batch, 1, columns};
    for (const char* name : {"weightOptional", "biasOptional"}) {
      call[name].shape = {columns};
      call[name].null = random.Below(3) == 0;
    }
    for (const char* name : {"x", "scale", "shift", "weightOptional", "biasOptional", "out"})
      call[name].dtype = dtype;
    call["epsilon"].real = random.Below(2) == 0 ? 1e-5 : 0.25;
  };
  op.fill = FillRows;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& x = call["x"].shape;
    std::vector<double> out(static_cast<size_t>(NumElements(x)));
    for (const std::vector<int64_t>& elements : RowsOf(x, LastAxesOf(x, 1))) {
      const Norm norm(tensors[0], elements, call["epsilon"].real);
      for (const int64_t i : elements) {
        const Index index = IndexAt(x, i);
        const int64_t of_batch = index[0] * x[2] + index[2];
        const double weight = call["weightOptional"].null ? 1 : ValueAt(tensors[3], index[2]);
        const double bias = call["biasOptional"].null ? 0 : ValueAt(tensors[4], index[2]);
        const double y = norm.Of(ValueAt(tensors[0], i), weight, bias);
        const double scale = Rounded(1 + ValueAt(tensors[1], of_batch));
        out[static_cast<size_t>(i)] = Rounded(Rounded(y * scale) + ValueAt(tensors[2], of_batch));
      }
    }
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, out)};
  };
  return op;
}

// ---- InstanceNorm, of Atlas inference products alone ----

Shape NumbersOf(const Shape& x, size_t channels) {
  Shape numbers = {x[0], 1, 1, 1};
  numbers[channels] = x[channels];
  return numbers;
}

OperatorSpec InstanceNorm() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnInstanceNorm);
  op.takes_workspace = op.is_inexact = true;
  op.tolerance = 1e-6;
  op.numbers_on = Product::k310P;
  op.valid = {TensorArg("x", {2, 3, 4, 5}),
              TensorArg("gamma", {3}),
              TensorArg("beta", {3}),
              TextArg("dataFormat", "NCHW"),
              RealArg("eps", 1e-5),
              OutputArg("y", {2, 3, 4, 5}),
              OutputArg("mean", {2, 3, 1, 1}),
              OutputArg("variance", {2, 3, 1, 1})};
  const auto channels = [](const PlanCall& call) {
    return call["dataFormat"].text == "NHWC" ? size_t{3} : size_t{1};
  };
  op.rules = {NoNulls("x gamma beta y mean variance"), Refuses(161002, "x", [](PlanCall& call) {
                return call.product != Product::k310P || !IsOneOf(call["x"].dtype, {ACL_FLOAT, ACL_FLOAT16});
              })};
  for (const char* name : {"gamma", "beta", "y", "mean", "variance"})
    op.rules.push_back(SameDtype("x", name));
  for (const Rule& rule :
       {Refuses(161002, "dataFormat",
                [](PlanCall& call) {
                  const std::string& text = call["dataFormat"].text;
                  return call["dataFormat"].null || (text != "NCHW" && text != "NHWC");
                }),
        Ranks("x", 4, 4),
        Refuses(161002, "gamma beta mean variance",
                [=](PlanCall& call) {
                  const Shape& x = call["x"].shape;
                  const Shape numbers = NumbersOf(x, channels(call));
                  return call["gamma"].shape != Shape{x[channels(call)]} ||
                         call["beta"].shape != Shape{x[channels(call)]} || call["mean"].shape != numbers ||
                         call["variance"].shape != numbers;
                }),
        SameShape("x", "y"), Refuses(161002, "eps", [](PlanCall& call) { return !(call["eps"].real >= 0); }),
        DoneIfEmpty("x")})
    op.rules.push_back(rule);
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const DtypeNumber dtype = random.Below(2) == 0 ? ACL_FLOAT : ACL_FLOAT16;
    call["dataFormat"].text = random.Below(2) == 0 ? "NHWC" : "NCHW";
    const Shape x = {random.Between(1, 3), random.Between(1, 5), random.Between(1, 5), random.Between(1, 9)};
    call["x"].shape = call["y"].shape = x;
    for (const char* name : {"gamma", "beta"}) call[name].shape = {x[channels(call)]};
    for (const char* name : {"mean", "variance"}) call[name].shape = NumbersOf(x, channels(call));
    for (const char* name : {"x", "gamma", "beta", "y", "mean", "variance"}) call[name].dtype = dtype;
    call["eps"].real = random.Below(2) == 0 ? 1e-5 : 0.25;
  };
  op.fill = FillRows;
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& x = call["x"].shape;
    std::vector<bool> axes = {false, true, true, true};
    axes[channels(call)] = false;
    const auto rows = RowsOf(x, axes);
    std::vector<double> y(static_cast<size_t>(NumElements(x)));
    std::vector<double> means;
    std::vector<double> variances;
    for (const std::vector<int64_t>& row : rows) {
      const Norm norm(tensors[0], row, call["eps"].real);
      means.push_back(norm.mean());
      variances.push_back(norm.variance());
      const int64_t channel = IndexAt(x, row[0])[channels(call)];
      for (const int64_t i : row)
        y[static_cast<size_t>(i)] =
            norm.Of(ValueAt(tensors[0], i), ValueAt(tensors[1], channel), ValueAt(tensors[2], channel));
    }
    const DtypeNumber dtype = call["x"].dtype;
    return std::vector<Outcome>{AsOutcome(dtype, y), AsOutcome(dtype, means), AsOutcome(dtype, variances)};
  };
  return op;
}

}  // namespace

const std::vector<OperatorSpec>& AffineOperators() {
  static const std::vector<OperatorSpec> all = {Scale(), Modulate(), ModulateGradients(), AdaLayerNorm(),
                                                InstanceNorm()};
  return all;
}

}  // namespace portacl::testing
