// Long short-term memory: what phase 1 answers, and every element against the definition in float64.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "aclnnop/families/recurrent.h"
#include "gtest/gtest.h"
#include "recurrent/recurrent_calls.h"

namespace portacl::testing {
namespace {

using namespace recurrent;

const char* const kSavedOfForward[] = {"iOut", "jOut", "fOut", "oOut", "hOut", "cOut", "tanhCOut"};
const char* const kSavedOfBackward[] = {"i", "g", "f", "o", "h", "c", "tanhc"};

bool ArgumentsWrong(const PlanCall& call, bool is_forward) {
  const std::string lengths = is_forward ? "batchSizes" : "batchSizesOptional";
  if (std::find(kDtypes.begin(), kDtypes.end(), call["input"].dtype) == kDtypes.end()) return true;
  if (!call[lengths].null && call[lengths].dtype != ACL_INT64) return true;
  Sizes sizes;
  if (!SizesOf(call, lengths, sizes)) return true;
  const auto same = [](const Shape& shape) { return [=](int64_t) { return shape; }; };
  const size_t states = call["hx"].null ? 0 : call["hx"].entries.size();
  if (states != 2 && !(is_forward && states == 0)) return true;
  const auto parameter = [&](int64_t i) { return sizes.Parameter(i); };
  if (Differs(call["params"], call, parameter) || Differs(call["hx"], call, same(sizes.State()))) return true;
  const Shape output = sizes.Sequence(sizes.directions * sizes.hidden);
  for (const char* name :
       is_forward ? std::vector{"hy", "cy"} : std::vector{"dh", "dc", "dhPrevOut", "dcPrevOut"}) {
    if (Differs(call[name], call, same(sizes.State()))) return true;
  }
  if (Differs(call[is_forward ? "output" : "dy"], call, same(output))) return true;
  if (is_forward && call["train"].integer == 0) return false;
  for (const char* name : is_forward ? kSavedOfForward : kSavedOfBackward) {
    if (std::ssize(call[name].entries) != sizes.cells() || Differs(call[name], call, same(sizes.Saved())))
      return true;
  }
  if (is_forward) return false;
  return Differs(call["dxOut"], call, same(sizes.Input())) ||
         std::ssize(call["dparamsOut"].entries) != sizes.cells() * sizes.each() ||
         Differs(call["dparamsOut"], call, parameter);
}

// ---- the definition ----

std::vector<Outcome> ForwardOracle(const PlanCall& call, const std::vector<TensorValues>& tensors) {
  const Values values(call, tensors);
  Sizes sizes;
  SizesOf(call, "batchSizes", sizes);
  const int64_t n = sizes.hidden;
  const std::vector<int64_t> lengths = LengthsOf(values, "batchSizes", sizes);
  const DtypeNumber dtype = call["input"].dtype;
  // x[t][b] of the layer
  Rows x = RowsOf(sizes, values.All("input"), sizes.inputs);
  const auto state = static_cast<size_t>(sizes.cells() * sizes.batch * n);
  const Numbers h0 = values.AllOrZeros("hx", 0, static_cast<int64_t>(state));
  const Numbers c0 = values.AllOrZeros("hx", 1, static_cast<int64_t>(state));
  Numbers hy(state);
  Numbers cy(state);
  std::vector<std::vector<Numbers>> saved(7);  // of each kind, for every cell
  for (auto& one : saved)
    one.assign(static_cast<size_t>(sizes.cells()),
               Numbers(static_cast<size_t>(sizes.steps * sizes.batch * n), 0.0));
  for (int64_t layer = 0; layer < sizes.layers; ++layer) {
    Rows y(static_cast<size_t>(sizes.steps),
           std::vector<Numbers>(static_cast<size_t>(sizes.batch),
                                Numbers(static_cast<size_t>(sizes.directions * n), 0.0)));
    for (int64_t direction = 0; direction < sizes.directions; ++direction) {
      const auto cell = static_cast<size_t>(layer * sizes.directions + direction);
      const auto first = cell * static_cast<size_t>(sizes.each());
      const Numbers w = values.All("params", first);
      const Numbers u = values.All("params", first + 1);
      const Numbers bias_w =
          sizes.has_bias ? values.All("params", first + 2) : Numbers(static_cast<size_t>(4 * n), 0.0);
      const Numbers bias_u =
          sizes.has_bias ? values.All("params", first + 3) : Numbers(static_cast<size_t>(4 * n), 0.0);
      for (int64_t b = 0; b < sizes.batch; ++b) {
        const size_t at =
            (cell * static_cast<size_t>(sizes.batch) + static_cast<size_t>(b)) * static_cast<size_t>(n);
        Numbers h(h0.begin() + static_cast<std::ptrdiff_t>(at),
                  h0.begin() + static_cast<std::ptrdiff_t>(at) + n);
        Numbers c(c0.begin() + static_cast<std::ptrdiff_t>(at),
                  c0.begin() + static_cast<std::ptrdiff_t>(at) + n);
        for (int64_t step = 0; step < sizes.steps; ++step) {
          const int64_t t = direction == 0 ? step : sizes.steps - 1 - step;
          if (b >= lengths[static_cast<size_t>(t)]) continue;
          const Numbers& row = x[static_cast<size_t>(t)][static_cast<size_t>(b)];
          Numbers gates(static_cast<size_t>(4 * n));
          for (size_t g = 0; g < gates.size(); ++g) {
            double sum = bias_w[g] + bias_u[g];
            for (size_t k = 0; k < row.size(); ++k) sum += w[g * row.size() + k] * row[k];
            for (size_t k = 0; k < h.size(); ++k) sum += u[g * h.size() + k] * h[k];
            gates[g] = sum;
          }
          for (size_t k = 0; k < h.size(); ++k) {
            const double i = Logistic(gates[k]);
            const double f = Logistic(gates[h.size() + k]);
            const double g = std::tanh(gates[2 * h.size() + k]);
            const double o = Logistic(gates[3 * h.size() + k]);
            c[k] = f * c[k] + i * g;
            h[k] = o * std::tanh(c[k]);
            const double kept[] = {i, g, f, o, h[k], c[k], std::tanh(c[k])};
            const size_t place = static_cast<size_t>((t * sizes.batch + b) * n) + k;
            for (size_t kind = 0; kind < 7; ++kind) saved[kind][cell][place] = kept[kind];
          }
          std::copy(h.begin(), h.end(),
                    y[static_cast<size_t>(t)][static_cast<size_t>(b)].begin() + direction * n);
        }
        std::copy(h.begin(), h.end(), hy.begin() + static_cast<std::ptrdiff_t>(at));
        std::copy(c.begin(), c.end(), cy.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
    x = y;
  }
  const Numbers output = SequenceOf(sizes, x, sizes.directions * n);
  std::vector<Outcome> outcomes = {Rounded(dtype, output), Rounded(dtype, hy), Rounded(dtype, cy)};
  for (size_t kind = 0; kind < 7; ++kind) {
    for (size_t cell = 0; cell < call[kSavedOfForward[kind]].entries.size(); ++cell)
      outcomes.push_back(call["train"].integer != 0 ? Rounded(dtype, saved[kind][cell]) : Outcome{});
  }
  return outcomes;
}

std::vector<Outcome> BackwardOracle(const PlanCall& call, const std::vector<TensorValues>& tensors) {
  const Values values(call, tensors);
  Sizes sizes;
  SizesOf(call, "batchSizesOptional", sizes);
  const int64_t n = sizes.hidden;
  const std::vector<int64_t> lengths = LengthsOf(values, "batchSizesOptional", sizes);
  const DtypeNumber dtype = call["input"].dtype;
  const auto is_active = [&](int64_t t, int64_t b) { return b < lengths[static_cast<size_t>(t)]; };
  const auto state = static_cast<size_t>(sizes.cells() * sizes.batch * n);
  const Numbers h0 = values.All("hx", 0);
  const Numbers c0 = values.All("hx", 1);
  Numbers of_h0(state), of_c0(state);
  std::vector<Numbers> of_params;
  for (int64_t i = 0; i < sizes.cells() * sizes.each(); ++i)
    of_params.emplace_back(static_cast<size_t>(NumElements(sizes.Parameter(i))), 0.0);
  // Gradients of a layer's output: as the call has them, then rows in the order of steps.
  const int64_t outputs = sizes.directions * n;
  const Numbers dy = values.AllOrZeros("dy", 0, sizes.steps * sizes.batch * outputs);
  Numbers of_output;
  for (int64_t t = 0; t < sizes.steps; ++t) {
    for (int64_t b = 0; b < sizes.batch; ++b) {
      for (int64_t k = 0; k < outputs; ++k)
        of_output.push_back(dy[RowAt(sizes, t, b, outputs) + static_cast<size_t>(k)]);
    }
  }
  const Numbers of_hy = values.AllOrZeros("dh", 0, static_cast<int64_t>(state));
  const Numbers of_cy = values.AllOrZeros("dc", 0, static_cast<int64_t>(state));
  for (int64_t layer = sizes.layers - 1; layer >= 0; --layer) {
    const int64_t width = sizes.width(layer);
    Numbers x;
    for (int64_t t = 0; t < sizes.steps; ++t) {
      for (int64_t b = 0; b < sizes.batch; ++b) {
        for (int64_t k = 0; k < width; ++k) {
          if (layer == 0) {
            const Numbers& input = values.All("input");
            x.push_back(input[RowAt(sizes, t, b, width) + static_cast<size_t>(k)]);
          } else {
            const Numbers& h = values.All("h", static_cast<size_t>((layer - 1) * sizes.directions + k / n));
            x.push_back(h[static_cast<size_t>((t * sizes.batch + b) * n + k % n)]);
          }
        }
      }
    }
    Numbers of_x(x.size(), 0.0);
    for (int64_t direction = 0; direction < sizes.directions; ++direction) {
      const int64_t cell = layer * sizes.directions + direction;
      const auto at = static_cast<size_t>(cell);
      const auto first = static_cast<size_t>(cell * sizes.each());
      const Numbers w = values.All("params", first);
      const Numbers u = values.All("params", first + 1);
      Numbers kept[7];
      for (size_t kind = 0; kind < 7; ++kind) kept[kind] = values.All(kSavedOfBackward[kind], at);
      for (int64_t b = 0; b < sizes.batch; ++b) {
        const auto row = static_cast<size_t>((cell * sizes.batch + b) * n);
        Numbers dh(of_hy.begin() + static_cast<std::ptrdiff_t>(row),
                   of_hy.begin() + static_cast<std::ptrdiff_t>(row) + n);
        Numbers dc(of_cy.begin() + static_cast<std::ptrdiff_t>(row),
                   of_cy.begin() + static_cast<std::ptrdiff_t>(row) + n);
        for (int64_t step = sizes.steps - 1; step >= 0; --step) {
          const int64_t t = direction == 0 ? step : sizes.steps - 1 - step;
          if (!is_active(t, b)) continue;
          int64_t before = direction == 0 ? t - 1 : t + 1;
          if (before < 0 || before >= sizes.steps || !is_active(before, b)) before = -1;
          const auto place = static_cast<size_t>((t * sizes.batch + b) * n);
          const auto previous = static_cast<size_t>((before * sizes.batch + b) * n);
          Numbers of_gates(static_cast<size_t>(4 * n));
          for (size_t k = 0; k < static_cast<size_t>(n); ++k) {
            const double i = kept[0][place + k], g = kept[1][place + k], f = kept[2][place + k];
            const double o = kept[3][place + k], tanh_c = kept[6][place + k];
            const double c_before = before < 0 ? c0[row + k] : kept[5][previous + k];
            const double from_h =
                dh[k] + of_output[static_cast<size_t>((t * sizes.batch + b) * outputs + direction * n) + k];
            const double from_c = dc[k] + from_h * o * (1 - tanh_c * tanh_c);
            of_gates[k] = from_c * g * i * (1 - i);
            of_gates[static_cast<size_t>(n) + k] = from_c * c_before * f * (1 - f);
            of_gates[static_cast<size_t>(2 * n) + k] = from_c * i * (1 - g * g);
            of_gates[static_cast<size_t>(3 * n) + k] = from_h * tanh_c * o * (1 - o);
            dc[k] = from_c * f;
          }
          for (size_t gate = 0; gate < of_gates.size(); ++gate) {
            for (size_t k = 0; k < static_cast<size_t>(width); ++k) {
              const size_t from = static_cast<size_t>((t * sizes.batch + b) * width) + k;
              of_params[first][gate * static_cast<size_t>(width) + k] += of_gates[gate] * x[from];
              of_x[from] += of_gates[gate] * w[gate * static_cast<size_t>(width) + k];
            }
            for (size_t k = 0; k < static_cast<size_t>(n); ++k) {
              const double h_before = before < 0 ? h0[row + k] : kept[4][previous + k];
              of_params[first + 1][gate * static_cast<size_t>(n) + k] += of_gates[gate] * h_before;
            }
            for (size_t which = 2; which < static_cast<size_t>(sizes.each()); ++which)
              of_params[first + which][gate] += of_gates[gate];
          }
          for (size_t k = 0; k < static_cast<size_t>(n); ++k) {
            dh[k] = 0;
            for (size_t gate = 0; gate < of_gates.size(); ++gate)
              dh[k] += of_gates[gate] * u[gate * static_cast<size_t>(n) + k];
          }
        }
        std::copy(dh.begin(), dh.end(), of_h0.begin() + static_cast<std::ptrdiff_t>(row));
        std::copy(dc.begin(), dc.end(), of_c0.begin() + static_cast<std::ptrdiff_t>(row));
      }
    }
    of_output = of_x;
  }
  Numbers of_input(of_output.size());
  for (int64_t t = 0; t < sizes.steps; ++t) {
    for (int64_t b = 0; b < sizes.batch; ++b) {
      for (int64_t k = 0; k < sizes.inputs; ++k)
        of_input[RowAt(sizes, t, b, sizes.inputs) + static_cast<size_t>(k)] =
            of_output[static_cast<size_t>((t * sizes.batch + b) * sizes.inputs + k)];
    }
  }
  std::vector<Outcome> outcomes = {Rounded(dtype, of_input), Rounded(dtype, of_h0), Rounded(dtype, of_c0)};
  for (const Numbers& numbers : of_params) outcomes.push_back(Rounded(dtype, numbers));
  return outcomes;
}

// ---- calls ----

std::vector<PlanArgument> ArgumentsOf(const Sizes& sizes, bool is_forward, bool train, bool has_state,
                                      DtypeNumber dtype) {
  const auto same = [](const Shape& shape) { return [=](int64_t) { return shape; }; };
  const auto parameter = [&](int64_t i) { return sizes.Parameter(i); };
  const int64_t cells = sizes.cells();
  const int64_t parameters = cells * sizes.each();
  const auto number = [](const char* name, int64_t value) { return IntegerArg(name, value); };
  const PlanArgument input = TensorArg("input", sizes.Input(), dtype);
  const PlanArgument params = OfShapes("params", parameters, parameter, dtype);
  const PlanArgument hx = OfShapes("hx", has_state || !is_forward ? 2 : 0, same(sizes.State()), dtype);
  PlanArgument lengths =
      TensorArg(is_forward ? "batchSizes" : "batchSizesOptional", {sizes.steps}, ACL_INT64);
  lengths.null = !sizes.is_packed;
  const std::vector<PlanArgument> attributes = {number("hasBias", sizes.has_bias ? 1 : 0),
                                                number("numLayers", sizes.layers),
                                                RealArg("dropout", 0.5),
                                                number("train", train ? 1 : 0),
                                                number("bidirectional", sizes.directions - 1),
                                                number("batchFirst", sizes.batch_first ? 1 : 0)};
  const Shape output = sizes.Sequence(sizes.directions * sizes.hidden);
  std::vector<PlanArgument> all;
  if (is_forward) {
    all = {input, params, hx, lengths};
    all.insert(all.end(), attributes.begin(), attributes.end());
    for (const PlanArgument& one : {OutputArg("output", output, dtype), OutputArg("hy", sizes.State(), dtype),
                                    OutputArg("cy", sizes.State(), dtype)})
      all.push_back(one);
    for (const char* name : kSavedOfForward)
      all.push_back(OfShapes(name, cells, same(sizes.Saved()), dtype, true));
    return all;
  }
  all = {input, hx, params};
  for (const PlanArgument& one : {TensorArg("dy", output, dtype), TensorArg("dh", sizes.State(), dtype),
                                  TensorArg("dc", sizes.State(), dtype)})
    all.push_back(has_state ? one : Null(one));
  for (const char* name : kSavedOfBackward) all.push_back(OfShapes(name, cells, same(sizes.Saved()), dtype));
  all.push_back(lengths);
  all.insert(all.end(), attributes.begin(), attributes.end());
  all.push_back(Null(ArrayArg("outputMask", {})));
  all.push_back(OutputArg("dxOut", sizes.Input(), dtype));
  all.push_back(OutputArg("dhPrevOut", sizes.State(), dtype));
  all.push_back(OutputArg("dcPrevOut", sizes.State(), dtype));
  all.push_back(OfShapes("dparamsOut", parameters, parameter, dtype, true));
  return all;
}

OperatorSpec Lstm(bool is_forward) {
  OperatorSpec op;
  op.function = is_forward ? PORTACL_C_FUNCTION(aclnnLSTM) : PORTACL_C_FUNCTION(aclnnLstmBackward);
  op.takes_workspace = true;
  Sizes valid;
  valid.steps = 3;
  valid.batch = 2;
  valid.inputs = 4;
  valid.hidden = 5;
  op.valid = ArgumentsOf(valid, is_forward, true, true, ACL_FLOAT);
  std::string names;
  for (const PlanArgument& one : op.valid) {
    if (!one.null || one.kind == ParameterKind::kTensor) names += (names.empty() ? "" : " ") + one.name;
  }
  op.rules = {Refuses(161001, names,
                      [=](PlanCall& call) {
                        std::vector<const char*> needed = {"input", "params", "output", "hy", "cy"};
                        if (!is_forward)
                          needed = {"input", "params", "hx", "dxOut", "dhPrevOut", "dcPrevOut", "dparamsOut"};
                        if (!is_forward || call["train"].integer != 0) {
                          for (const char* name : is_forward ? kSavedOfForward : kSavedOfBackward)
                            needed.push_back(name);
                        }
                        return std::any_of(needed.begin(), needed.end(),
                                           [&](const char* name) { return IsNullOrHasNull(call[name]); });
                      }),
              Refuses(161002, names, [=](PlanCall& call) { return ArgumentsWrong(call, is_forward); }),
              SucceedsIf([=](const PlanCall& call) {
                Sizes sizes;
                SizesOf(call, is_forward ? "batchSizes" : "batchSizesOptional", sizes);
                return sizes.hidden == 0 || (is_forward && sizes.batch == 0);
              })};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    Sizes sizes;
    sizes.steps = random.Between(1, 5);
    sizes.batch = random.Between(1, 4);
    sizes.inputs = random.Between(random.Chance(10) ? 0 : 1, 7);
    sizes.hidden = random.Chance(20) ? random.Between(15, 40) : random.Between(1, 6);
    sizes.layers = random.Between(1, 3);
    sizes.directions = random.Between(1, 2);
    sizes.has_bias = random.Chance(70);
    sizes.is_packed = random.Chance(30);
    sizes.batch_first = random.Chance(40);
    call.arguments =
        ArgumentsOf(sizes, is_forward, random.Chance(80), random.Chance(70), DrawDtype(random, kDtypes));
  };
  op.fill = Fill;
  op.oracle = is_forward ? ForwardOracle : BackwardOracle;
  op.tolerance = 2e-5;
  op.is_inexact = true;
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> operators = {Lstm(true), Lstm(false)};
  return operators;
}

PORTACL_OPERATOR_TESTS(Recurrent, Operators());

}  // namespace
}  // namespace portacl::testing
