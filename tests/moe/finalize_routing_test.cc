// What experts made of tokens summed up, and the gradients: checks, and elements against formulas in float64.
// SPDX-License-Identifier: Apache-2.0
#include "moe_calls.h"

namespace portacl::testing {
namespace {

// Element (i, j) of what the first form and the others sum: the row of the expert, or what takes its place.
struct Sums {
  const Numbers& rows;
  const Numbers& index;
  int64_t columns;
  int64_t tokens;
  int64_t k;
  bool is_column_order;

  int64_t RowOf(int64_t i, int64_t j) const {
    return index.Integer(is_column_order ? j * tokens + i : i * k + j);
  }
};

void FillFinalized(const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random,
                   const std::string& index, const std::string& experts, int64_t least, int64_t rows,
                   int64_t expert_count) {
  const auto all = TensorsOf(call);
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (all[i]->name == index) {
      SetIntegers(tensors[i], least, rows, random);
    } else if (all[i]->name == experts) {
      SetIntegers(tensors[i], 0, expert_count, random);
    } else if (IsFloatingDtype(tensors[i].dtype())) {
      SetNumbers(tensors[i], random, 1);
    }
  }
}

OperatorSpec First() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMoeFinalizeRouting);
  op.valid = {TensorArg("expandedX", {4, 3}),
              TensorArg("x1", {2, 3}),
              TensorArg("x2Optional", {2, 3}),
              TensorArg("bias", {3, 3}),
              TensorArg("scales", {2, 2}),
              TensorArg("expandedRowIdx", {4}, ACL_INT32),
              TensorArg("expandedExpertIdx", {2, 2}, ACL_INT32),
              OutputArg("out", {2, 3})};
  op.takes_workspace = true;
  op.rules = {NoNulls("expandedX x1 bias scales expandedRowIdx expandedExpertIdx out"),
              RefusedDtype("expandedX",
                           [](const PlanCall& call, DtypeNumber dtype) {
                             return IsOnA2OrA3(call) && kSinceA2.Has(call.product, dtype);
                           }),
              SameDtype("expandedX", "x1"),
              Given("x2Optional", SameDtype("expandedX", "x2Optional")),
              SameDtype("expandedX", "bias"),
              SameDtype("expandedX", "scales"),
              DtypeIn("expandedRowIdx expandedExpertIdx", kInt32Alone),
              SameDtype("expandedX", "out"),
              Refuses(561002, "",
                      [](PlanCall& call) {
                        const Shape& x = call["expandedX"].shape;
                        const Shape& scales = call["scales"].shape;
                        const Shape& bias = call["bias"].shape;
                        if (x.size() != 2 || scales.size() != 2 || bias.size() != 2) return true;
                        const Shape tokens = {scales[0], x[1]};
                        return scales[1] == 0 || bias[0] == 0 || bias[1] != x[1] ||
                               x[0] != scales[0] * scales[1] || call["x1"].shape != tokens ||
                               (!call["x2Optional"].null && call["x2Optional"].shape != tokens) ||
                               call["expandedRowIdx"].shape != Shape{x[0]} ||
                               call["expandedExpertIdx"].shape != scales || call["out"].shape != tokens;
                      }),
              DoneIfEmpty("out")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t n = random.Between(1, 7);
    const int64_t k = random.Between(1, 4);
    const int64_t columns = DrawColumns(random);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    call["expandedX"] = TensorArg("expandedX", {n * k, columns}, dtype);
    call["x1"] = TensorArg("x1", {n, columns}, dtype);
    call["x2Optional"] = TensorArg("x2Optional", {n, columns}, dtype);
    call["x2Optional"].null = random.Chance(40);
    call["bias"] = TensorArg("bias", {random.Between(1, 5), columns}, dtype);
    call["scales"] = TensorArg("scales", {n, k}, dtype);
    call["expandedRowIdx"] = TensorArg("expandedRowIdx", {n * k}, ACL_INT32);
    call["expandedExpertIdx"] = TensorArg("expandedExpertIdx", {n, k}, ACL_INT32);
    call["out"] = OutputArg("out", {n, columns}, dtype);
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillFinalized(call, tensors, random, "expandedRowIdx", "expandedExpertIdx", 0, call["expandedX"].shape[0],
                  call["bias"].shape[0]);
  };
  op.is_inexact = true;
  op.tolerance = 1e-5;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers rows(call, tensors, "expandedX");
    const Numbers x1(call, tensors, "x1");
    const Numbers x2(call, tensors, "x2Optional");
    const Numbers bias(call, tensors, "bias");
    const Numbers scales(call, tensors, "scales");
    const Numbers index(call, tensors, "expandedRowIdx");
    const Numbers expert(call, tensors, "expandedExpertIdx");
    const int64_t n = scales.shape()[0];
    const int64_t k = scales.shape()[1];
    const Sums sums{rows, index, rows.shape()[1], n, k, true};
    std::vector<double> out;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t h = 0; h < sums.columns; ++h) {
        double sum = x1.At(i, h) + (x2.is_given() ? x2.At(i, h) : 0);
        for (int64_t j = 0; j < k; ++j)
          sum += scales.At(i, j) * (rows.At(sums.RowOf(i, j), h) + bias.At(expert.Integer(i * k + j), h));
        out.push_back(sum);
      }
    }
    return std::vector<Outcome>{EncodedAll(rows.dtype(), out)};
  };
  return op;
}

// ---- the later forms ----

bool IsPadded(const PlanCall& call) { return call["dropPadMode"].integer % 2 == 1; }
bool HasRanges(const PlanCall& call) { return call.arguments.size() > 10; }
std::pair<int64_t, int64_t> RangeOf(const PlanCall& call, const std::string& name) {
  if (!HasRanges(call) || call[name].null || call[name].values.size() != 2 || call[name].values[0] < 0)
    return {-1, -1};
  return {call[name].values[0], call[name].values[1]};
}
bool IsRange(const PlanCall& call, const std::string& name) {
  const PlanArgument& one = call[name];
  if (one.null) return true;
  if (one.values.size() != 2) return false;
  return (one.values[0] == -1 && one.values[1] == -1) ||
         (one.values[0] >= 0 && one.values[1] >= one.values[0]);
}
bool IsUsed(const PlanCall& call, const std::string& name) {
  const auto range = RangeOf(call, name);
  return range.second > range.first;
}
bool UsesAny(const PlanCall& call) {
  return IsUsed(call, "zeroExpertRange") || IsUsed(call, "copyExpertRange") ||
         IsUsed(call, "constantExpertRange");
}
int64_t EntriesOfToken(const PlanCall& call) {
  if (!call["scalesOptional"].null) return call["scalesOptional"].shape[1];
  return HasRanges(call) ? call["k"].integer : 1;
}

bool AreRangesWrong(PlanCall& call, const Shape& tokens) {
  for (const char* name : {"zeroExpertRange", "copyExpertRange", "constantExpertRange"}) {
    if (!IsRange(call, name)) return true;
  }
  if (UsesAny(call) && call["expertIdxOptional"].null) return true;
  const bool has_constant = IsUsed(call, "constantExpertRange");
  if ((IsUsed(call, "copyExpertRange") || has_constant) &&
      (call["xOptional"].null || call["xOptional"].shape != tokens))
    return true;
  if (!has_constant) return false;
  const auto range = RangeOf(call, "constantExpertRange");
  const int64_t experts = range.second - range.first;
  for (const char* name : {"alpha1Optional", "alpha2Optional", "vOptional"}) {
    if (call[name].null || call[name].shape.size() > 2) return true;
  }
  const int64_t alphas = NumElements(call["alpha1Optional"].shape);
  const int64_t constants = NumElements(call["vOptional"].shape);
  return (alphas != 1 && alphas != experts) || NumElements(call["alpha2Optional"].shape) != alphas ||
         (constants != tokens[1] && constants != experts * tokens[1]);
}

Rules LaterRules(bool has_ranges) {
  Rules rules = {
      NoNulls("expandedX expandedRowIdx out"),
      DtypeIn("expandedX", kSinceA2),
      DtypeIn("expandedRowIdx", kInt32Alone),
      Given("x1Optional", SameDtype("expandedX", "x1Optional")),
      Given("x2Optional", SameDtype("expandedX", "x2Optional")),
      Given("biasOptional", SameDtype("expandedX", "biasOptional")),
      Given("scalesOptional", RefusedDtype("scalesOptional",
                                           [](const PlanCall& call, DtypeNumber dtype) {
                                             const DtypeNumber x = call["expandedX"].dtype;
                                             return dtype == x || (x == ACL_BF16 && dtype == ACL_FLOAT) ||
                                                    (IsOn950(call) && kSinceA2.Has(call.product, dtype));
                                           })),
      Given("expertIdxOptional", DtypeIn("expertIdxOptional", kInt32Alone)),
      SameDtype("expandedX", "out")};
  if (has_ranges) {
    rules.push_back(Given("xOptional", SameDtype("expandedX", "xOptional")));
    rules.push_back(Given("alpha1Optional", DtypeIn("alpha1Optional", kSinceA2)));
    rules.push_back(Given("alpha2Optional", DtypeIn("alpha2Optional", kSinceA2)));
    rules.push_back(Given("vOptional", SameDtype("expandedX", "vOptional")));
  }
  rules.push_back(Refuses(561002, "", [](PlanCall& call) {
    const int64_t mode = call["dropPadMode"].integer;
    const Shape& index = call["expandedRowIdx"].shape;
    const bool has_scales = !call["scalesOptional"].null;
    if (mode < 0 || mode > 3 || index.size() != 1) return true;
    if (has_scales && (call["scalesOptional"].shape.size() != 2 || call["scalesOptional"].shape[1] == 0))
      return true;
    const Shape& x = call["expandedX"].shape;
    const int64_t k = EntriesOfToken(call);
    if (k < 1 || x.size() != (IsPadded(call) ? 3u : 2u) || index[0] % k != 0) return true;
    const Shape tokens = {index[0] / k, x.back()};
    const Shape entries = {index[0] / k, k};
    if (has_scales && call["scalesOptional"].shape != entries) return true;
    if (!call["x1Optional"].null && call["x1Optional"].shape != tokens) return true;
    if (!call["x2Optional"].null && (call["x1Optional"].null || call["x2Optional"].shape != tokens))
      return true;
    const Shape& bias = call["biasOptional"].shape;
    if (!call["biasOptional"].null && (call["expertIdxOptional"].null || bias.size() != 2 ||
                                       bias[1] != x.back() || (IsPadded(call) && bias[0] != x[0])))
      return true;
    if (!call["expertIdxOptional"].null && call["expertIdxOptional"].shape != entries) return true;
    if (call["out"].shape != tokens) return true;
    const bool may_be_fewer = IsOn950(call) || (HasRanges(call) && UsesAny(call));
    if (!IsPadded(call) && (x[0] > index[0] || (!may_be_fewer && x[0] != index[0]))) return true;
    return HasRanges(call) && AreRangesWrong(call, tokens);
  }));
  rules.push_back(DoneIfEmpty("out"));
  return rules;
}

void DrawLater(PlanCall& call, RandomNumbers& random) {
  const int64_t n = random.Between(1, 7);
  const bool has_scales = random.Chance(70);
  const int64_t k = has_scales || HasRanges(call) ? random.Between(1, 4) : 1;
  const int64_t columns = DrawColumns(random);
  const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
  const int64_t mode = random.Between(0, 3);
  const int64_t experts = random.Between(1, 5);
  call["dropPadMode"].integer = mode;
  call["expandedX"] =
      TensorArg("expandedX",
                mode % 2 == 1 ? Shape{experts, random.Between(1, 3), columns} : Shape{n * k, columns}, dtype);
  call["expandedRowIdx"] = TensorArg("expandedRowIdx", {n * k}, ACL_INT32);
  for (const char* name : {"x1Optional", "x2Optional"}) call[name] = TensorArg(name, {n, columns}, dtype);
  call["x1Optional"].null = random.Chance(30);
  call["x2Optional"].null = call["x1Optional"].null || random.Chance(50);
  call["biasOptional"] = TensorArg("biasOptional", {experts, columns}, dtype);
  call["expertIdxOptional"] = TensorArg("expertIdxOptional", {n, k}, ACL_INT32);
  call["expertIdxOptional"].null = random.Chance(20);
  call["biasOptional"].null = call["expertIdxOptional"].null || random.Chance(40);
  call["scalesOptional"] =
      TensorArg("scalesOptional", {n, k}, dtype == ACL_BF16 && random.Chance(50) ? ACL_FLOAT : dtype);
  call["scalesOptional"].null = !has_scales;
  call["out"] = OutputArg("out", {n, columns}, dtype);
  if (!HasRanges(call)) return;
  call["k"].integer = k;
  const int64_t constants = random.Between(1, 2);
  call["xOptional"] = TensorArg("xOptional", {n, columns}, dtype);
  const Shape alphas = {random.Chance(50) ? 1 : constants};
  call["alpha1Optional"] = TensorArg("alpha1Optional", alphas, DrawDtype(random, kRowDtypes));
  call["alpha2Optional"] = TensorArg("alpha2Optional", alphas, DrawDtype(random, kRowDtypes));
  call["vOptional"] = TensorArg(
      "vOptional", random.Chance(30) ? Shape{columns} : Shape{random.Chance(50) ? 1 : constants, columns},
      dtype);
  // Ranges lie behind the experts that compute, so that a bias may have rows for them.
  const bool uses = !call["expertIdxOptional"].null && call["biasOptional"].null && random.Chance(70);
  int64_t at = experts;
  for (const char* name : {"zeroExpertRange", "copyExpertRange", "constantExpertRange"}) {
    call[name] = ArrayArg(name, {-1, -1});
    const int64_t length = name == std::string("constantExpertRange") ? constants : random.Between(0, 2);
    if (uses && random.Chance(70)) call[name].values = {at, at + length};
    at += length;
    call[name].null = !uses && random.Chance(50);
  }
}

std::vector<Outcome> SumLater(const PlanCall& call, const std::vector<TensorValues>& tensors) {
  const Numbers rows(call, tensors, "expandedX");
  const Numbers index(call, tensors, "expandedRowIdx");
  const Numbers x1(call, tensors, "x1Optional");
  const Numbers x2(call, tensors, "x2Optional");
  const Numbers bias(call, tensors, "biasOptional");
  const Numbers scales(call, tensors, "scalesOptional");
  const Numbers expert(call, tensors, "expertIdxOptional");
  const int64_t k = EntriesOfToken(call);
  const int64_t n = index.size() / k;
  const int64_t columns = rows.shape().back();
  const Sums sums{rows, index, columns, n, k, call["dropPadMode"].integer < 2};
  const auto in = [&](const char* name, int64_t e) {
    const auto range = RangeOf(call, name);
    return expert.is_given() && e >= range.first && e < range.second;
  };
  std::vector<double> out;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t h = 0; h < columns; ++h) {
      double sum = (x1.is_given() ? x1.At(i, h) : 0) + (x2.is_given() ? x2.At(i, h) : 0);
      for (int64_t j = 0; j < k; ++j) {
        const int64_t row = sums.RowOf(i, j);
        const int64_t e = expert.is_given() ? expert.Integer(i * k + j) : -1;
        if (HasRanges(call) && in("zeroExpertRange", e)) continue;
        double term = 0;
        if (HasRanges(call) && in("copyExpertRange", e)) {
          term = Numbers(call, tensors, "xOptional").At(i, h);
        } else if (HasRanges(call) && in("constantExpertRange", e)) {
          const int64_t own = e - RangeOf(call, "constantExpertRange").first;
          const Numbers a1(call, tensors, "alpha1Optional");
          const Numbers a2(call, tensors, "alpha2Optional");
          const Numbers v(call, tensors, "vOptional");
          term = a1[a1.size() == 1 ? 0 : own] * Numbers(call, tensors, "xOptional").At(i, h) +
                 a2[a2.size() == 1 ? 0 : own] * v[(v.size() == columns ? 0 : own) * columns + h];
        } else if (row < 0) {
          continue;
        } else {
          term = rows[row * columns + h];
        }
        if (bias.is_given()) term += bias.At(e, h);
        sum += term * (scales.is_given() ? scales.At(i, j) : 1);
      }
      out.push_back(sum);
    }
  }
  return {EncodedAll(rows.dtype(), out)};
}

OperatorSpec Later(const CFunction& function, bool has_ranges) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("expandedX", {4, 3}),
              TensorArg("expandedRowIdx", {4}, ACL_INT32),
              TensorArg("x1Optional", {2, 3}),
              TensorArg("x2Optional", {2, 3}),
              TensorArg("biasOptional", {3, 3}),
              TensorArg("scalesOptional", {2, 2}),
              TensorArg("expertIdxOptional", {2, 2}, ACL_INT32)};
  if (has_ranges) {
    for (const char* name : {"xOptional", "alpha1Optional", "alpha2Optional", "vOptional"})
      op.valid.push_back(TensorArg(name, name == std::string("xOptional")   ? Shape{2, 3}
                                         : name == std::string("vOptional") ? Shape{3}
                                                                            : Shape{1}));
  }
  op.valid.push_back(IntegerArg("dropPadMode", 0));
  if (has_ranges) {
    for (const char* name : {"zeroExpertRange", "copyExpertRange", "constantExpertRange"})
      op.valid.push_back(ArrayArg(name, {-1, -1}));
    op.valid.push_back(IntegerArg("k", 2));
  }
  op.valid.push_back(OutputArg("out", {2, 3}));
  op.takes_workspace = true;
  op.rules = LaterRules(has_ranges);
  op.draw = DrawLater;
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    const Shape& x = call["expandedX"].shape;
    const int64_t rows = NumElements(x) / std::max<int64_t>(1, x.back());
    const int64_t experts = call["biasOptional"].shape[0];
    FillFinalized(call, tensors, random, "expandedRowIdx", "expertIdxOptional", IsPadded(call) ? -1 : 0, rows,
                  call["biasOptional"].null ? experts + 6 : experts);
  };
  op.is_inexact = true;
  op.tolerance = 1e-5;
  op.oracle = SumLater;
  return op;
}

// ---- the gradient ----

OperatorSpec Grad() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMoeFinalizeRoutingV2Grad);
  op.valid = {TensorArg("gradY", {2, 3}),
              TensorArg("expandedRowIdx", {4}, ACL_INT32),
              TensorArg("expandedXOptional", {4, 3}),
              TensorArg("scalesOptional", {2, 2}),
              TensorArg("expertIdxOptional", {2, 2}, ACL_INT32),
              TensorArg("biasOptional", {3, 3}),
              IntegerArg("dropPadMode", 0),
              IntegerArg("activeNum", 0),
              IntegerArg("expertNum", 3),
              IntegerArg("expertCapacity", 2),
              OutputArg("gradExpandedXOut", {4, 3}),
              OutputArg("gradScalesOut", {2, 2})};
  op.takes_workspace = true;
  op.rules = {NoNulls("gradY expandedRowIdx gradExpandedXOut gradScalesOut"),
              DtypeIn("gradY", kSinceA2),
              DtypeIn("expandedRowIdx", kInt32Alone),
              Given("expandedXOptional", SameDtype("gradY", "expandedXOptional")),
              Given("scalesOptional", SameDtype("gradY", "scalesOptional")),
              Given("expertIdxOptional", DtypeIn("expertIdxOptional", kInt32Alone)),
              Given("biasOptional", SameDtype("gradY", "biasOptional")),
              SameDtype("gradY", "gradExpandedXOut"),
              SameDtype("gradY", "gradScalesOut"),
              Refuses(561002, "", [](PlanCall& call) {
                const Shape& grad = call["gradY"].shape;
                const Shape& index = call["expandedRowIdx"].shape;
                const Shape& scales = call["scalesOptional"].shape;
                const bool has_scales = !call["scalesOptional"].null;
                const int64_t mode = call["dropPadMode"].integer;
                if (mode < 0 || mode > 1 || grad.size() != 2 || index.size() != 1) return true;
                if (has_scales && (call["expandedXOptional"].null || scales.size() != 2)) return true;
                const int64_t k = has_scales ? scales[1] : 1;
                if (k < 1 || index[0] != grad[0] * k) return true;
                const Shape entries = {grad[0], k};
                if (has_scales && scales != entries) return true;
                if (!call["expertIdxOptional"].null && call["expertIdxOptional"].shape != entries)
                  return true;
                const Shape& bias = call["biasOptional"].shape;
                if (!call["biasOptional"].null &&
                    (call["expertIdxOptional"].null || bias.size() != 2 || bias[1] != grad[1]))
                  return true;
                const int64_t active = call["activeNum"].integer;
                Shape rows = {active > 0 && active < index[0] ? active : index[0], grad[1]};
                if (mode == 1) {
                  rows = {call["expertNum"].integer, call["expertCapacity"].integer, grad[1]};
                  if (rows[0] < 1 || rows[1] < 1) return true;
                }
                if (!call["expandedXOptional"].null && call["expandedXOptional"].shape != rows) return true;
                return call["gradExpandedXOut"].shape != rows || call["gradScalesOut"].shape != entries;
              })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t n = random.Between(1, 7);
    const bool has_scales = random.Chance(70);
    const int64_t k = has_scales ? random.Between(1, 3) : 1;
    const int64_t columns = DrawColumns(random);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    const bool is_padded = random.Chance(50);
    const int64_t active = random.Between(0, n * k + 1);
    call["dropPadMode"].integer = is_padded;
    call["activeNum"].integer = active;
    const int64_t experts = random.Between(1, 4);
    const int64_t capacity = random.Between(1, 3);
    call["expertNum"].integer = experts;
    call["expertCapacity"].integer = capacity;
    const Shape rows = is_padded ? Shape{experts, capacity, columns}
                                 : Shape{active > 0 && active < n * k ? active : n * k, columns};
    call["gradY"] = TensorArg("gradY", {n, columns}, dtype);
    call["expandedRowIdx"] = DistinctArg("expandedRowIdx", {n * k}, ACL_INT32);
    call["expandedXOptional"] = TensorArg("expandedXOptional", rows, dtype);
    call["expandedXOptional"].null = !has_scales && random.Chance(50);
    call["scalesOptional"] = TensorArg("scalesOptional", {n, k}, dtype);
    call["scalesOptional"].null = !has_scales;
    call["expertIdxOptional"] = TensorArg("expertIdxOptional", {n, k}, ACL_INT32);
    call["expertIdxOptional"].null = random.Chance(30);
    call["biasOptional"] = TensorArg("biasOptional", {experts, columns}, dtype);
    call["biasOptional"].null = call["expertIdxOptional"].null || random.Chance(30);
    call["gradExpandedXOut"] = OutputArg("gradExpandedXOut", rows, dtype);
    call["gradScalesOut"] = OutputArg("gradScalesOut", {n, k}, dtype);
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (const size_t i : {0, 2, 3, 5}) SetNumbers(tensors[i], random);
    SetPermutation(tensors[1], random);
    for (int64_t p = 0; p < tensors[1].size(); ++p) {
      if (random.Chance(15)) EncodeIntegerElement(ACL_INT32, -1, tensors[1].Element(p));
    }
    SetIntegers(tensors[4], 0, call["biasOptional"].shape[0], random);
  };
  op.is_inexact = true;
  op.tolerance = 1e-5;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers grad(call, tensors, "gradY");
    const Numbers index(call, tensors, "expandedRowIdx");
    const Numbers x(call, tensors, "expandedXOptional");
    const Numbers scales(call, tensors, "scalesOptional");
    const Numbers expert(call, tensors, "expertIdxOptional");
    const Numbers bias(call, tensors, "biasOptional");
    const int64_t k = scales.is_given() ? scales.shape()[1] : 1;
    const int64_t columns = grad.shape()[1];
    const int64_t rows = NumElements(call["gradExpandedXOut"].shape) / columns;
    std::vector<double> of_x(static_cast<size_t>(rows * columns));
    std::vector<double> of_scales(static_cast<size_t>(index.size()));
    for (int64_t p = 0; p < index.size(); ++p) {
      const int64_t row = index.Integer(p);
      if (row < 0 || row >= rows) continue;
      for (int64_t h = 0; h < columns; ++h) {
        of_x[static_cast<size_t>(row * columns + h)] =
            grad.At(p / k, h) * (scales.is_given() ? scales[p] : 1);
        if (scales.is_given())
          of_scales[static_cast<size_t>(p)] +=
              (x[row * columns + h] + (bias.is_given() ? bias.At(expert.Integer(p), h) : 0)) *
              grad.At(p / k, h);
      }
    }
    return std::vector<Outcome>{EncodedAll(grad.dtype(), of_x),
                                scales.is_given() ? EncodedAll(grad.dtype(), of_scales) : Outcome{}};
  };
  return op;
}

const OperatorSpec kOperators[] = {First(), Later(PORTACL_C_FUNCTION(aclnnMoeFinalizeRoutingV2), false),
                                   Later(PORTACL_C_FUNCTION(aclnnMoeFinalizeRoutingV4), true), Grad()};
PORTACL_OPERATOR_TESTS(FinalizeRouting, kOperators);

TEST(FinalizeRoutingGrad, ProductsOfRowsWithoutElementsAreZero) {
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "3"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  std::vector<float> nothing(1);
  std::vector<int32_t> index = {1, 0, 2, 3};
  std::vector<float> scales = {1, 2, 3, 4};
  std::vector<float> of_scales(4, 9);
  Made tensors;
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(
      aclnnMoeFinalizeRoutingV2GradGetWorkspaceSize(
          tensors.Dense({2, 0}, ACL_FLOAT, nothing.data()), tensors.Dense({4}, ACL_INT32, index.data()),
          tensors.Dense({4, 0}, ACL_FLOAT, nothing.data()), tensors.Dense({2, 2}, ACL_FLOAT, scales.data()),
          nullptr, nullptr, 0, 0, 0, 0, tensors.Dense({4, 0}, ACL_FLOAT, nothing.data()),
          tensors.Dense({2, 2}, ACL_FLOAT, of_scales.data()), &size, &executor),
      0)
      << TakeErrorMessage();
  EXPECT_EQ(RunAndWait(environment, aclnnMoeFinalizeRoutingV2Grad, size, executor), 0) << TakeErrorMessage();
  EXPECT_EQ(of_scales, std::vector<float>(4));
}

}  // namespace
}  // namespace portacl::testing
