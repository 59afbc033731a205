// Gated recurrent units: what phase 1 answers, every element against the definition in float64, gradients against differences of that,
// and rows that do not depend on their batch.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aclnnop/families/recurrent.h"
#include "gtest/gtest.h"
#include "recurrent/recurrent_calls.h"
#include "support/environment.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

using namespace recurrent;

constexpr size_t kLists = 5;
const char* const kSavedOfForward[kLists] = {"rOut", "zOut", "nOut", "hnOut", "hOut"};
const char* const kSavedOfBackward[kLists] = {"r", "z", "n", "hn", "h"};

bool SizesOfCall(const PlanCall& call, Sizes& sizes) {
  sizes.gates = 3;
  return SizesOf(call, "batchSizes", sizes, "bidirection");
}

// ---- what phase 1 answers ----

// The first argument that is wrong, in the order of the checks; empty where none is.
std::string FirstWrong(const PlanCall& call, bool is_forward) {
  const bool has_lists = !is_forward || call["train"].integer != 0;
  const auto saved = is_forward ? kSavedOfForward : kSavedOfBackward;
  const bool is_taken = call.product == Product::kA2 || call.product == Product::kA3;
  if (!is_taken || std::find(kDtypes.begin(), kDtypes.end(), call["input"].dtype) == kDtypes.end())
    return "input";
  std::vector<std::string> names = {"params", "hx"};
  if (is_forward) {
    names.insert(names.end(), {"output", "hy"});
    if (has_lists) names.insert(names.end(), saved, saved + kLists);
  } else {
    names.insert(names.end(), {"dy", "dh"});
    names.insert(names.end(), saved, saved + kLists);
    names.insert(names.end(), {"dxOut", "dhPrevOut", "dparamsOut"});
  }
  for (const std::string& name : names) {
    const PlanArgument& one = call[name];
    const auto differs = [&](const PlanArgument& tensor) {
      return !tensor.null && tensor.dtype != call["input"].dtype;
    };
    if (one.kind == ParameterKind::kTensor ? differs(one)
                                           : std::any_of(one.entries.begin(), one.entries.end(), differs))
      return name;
  }
  if (!call["batchSizes"].null) return "batchSizes";
  Sizes sizes;
  sizes.layers = call["numLayers"].integer;
  sizes.directions = call["bidirection"].integer != 0 ? 2 : 1;
  sizes.has_bias = call["hasBias"].integer != 0;
  if (sizes.layers < 1) return "numLayers";
  const auto has = [&](const std::string& list, int64_t count) {
    return std::ssize(call[list].entries) == count;
  };
  if (!has("params", sizes.cells() * sizes.each())) return "params";
  for (size_t i = 0; has_lists && i < kLists; ++i) {
    if (!has(saved[i], sizes.cells())) return saved[i];
  }
  if (!is_forward && !has("dparamsOut", sizes.cells() * sizes.each())) return "dparamsOut";
  if (call["input"].shape.size() != 3) return "input";
  if (call["params"].entries[1].shape.size() != 2) return "params";
  SizesOfCall(call, sizes);
  const auto parameter = [&](int64_t i) { return sizes.Parameter(i); };
  const auto same = [](const Shape& shape) { return [=](int64_t) { return shape; }; };
  if (Differs(call["params"], call, parameter)) return "params";
  if (Differs(call["hx"], call, same(sizes.State()))) return "hx";
  const Shape output = sizes.Sequence(sizes.directions * sizes.hidden);
  const std::string of_output = is_forward ? "output" : "dy";
  if (Differs(call[of_output], call, same(output))) return of_output;
  for (const char* name : is_forward ? std::vector{"hy"} : std::vector{"dh", "dhPrevOut"}) {
    if (Differs(call[name], call, same(sizes.State()))) return name;
  }
  for (size_t i = 0; has_lists && i < kLists; ++i) {
    if (Differs(call[saved[i]], call, same(sizes.Saved()))) return saved[i];
  }
  if (is_forward) return "";
  if (Differs(call["dxOut"], call, same(sizes.Input()))) return "dxOut";
  return Differs(call["dparamsOut"], call, parameter) ? "dparamsOut" : "";
}

// ---- the definition ----

struct Given {
  Numbers input;  // as the call lays it out
  Numbers h0;
  std::vector<Numbers> params;
};
struct Computed {
  Numbers output;
  Numbers hy;
  std::vector<Numbers> saved[kLists];  // of every cell
};

Computed Forward(const Sizes& sizes, const Given& given) {
  const auto n = static_cast<size_t>(sizes.hidden);
  const auto batch = static_cast<size_t>(sizes.batch);
  Computed computed;
  computed.hy.resize(static_cast<size_t>(sizes.cells()) * batch * n);
  for (auto& one : computed.saved)
    one.assign(static_cast<size_t>(sizes.cells()), Numbers(static_cast<size_t>(sizes.steps) * batch * n));
  Rows x = RowsOf(sizes, given.input, sizes.inputs);
  for (int64_t layer = 0; layer < sizes.layers; ++layer) {
    Rows y(static_cast<size_t>(sizes.steps),
           std::vector<Numbers>(batch, Numbers(static_cast<size_t>(sizes.directions) * n)));
    for (int64_t direction = 0; direction < sizes.directions; ++direction) {
      const auto cell = static_cast<size_t>(layer * sizes.directions + direction);
      const auto first = cell * static_cast<size_t>(sizes.each());
      const Numbers& w = given.params[first];
      const Numbers& u = given.params[first + 1];
      const Numbers none(3 * n, 0.0);
      const Numbers& bias_w = sizes.has_bias ? given.params[first + 2] : none;
      const Numbers& bias_u = sizes.has_bias ? given.params[first + 3] : none;
      for (size_t b = 0; b < batch; ++b) {
        const auto state = static_cast<std::ptrdiff_t>((cell * batch + b) * n);
        Numbers h(given.h0.begin() + state, given.h0.begin() + state + sizes.hidden);
        for (int64_t step = 0; step < sizes.steps; ++step) {
          const auto t = static_cast<size_t>(direction == 0 ? step : sizes.steps - 1 - step);
          const Numbers& row = x[t][b];
          Numbers of_x = bias_w;
          Numbers of_h = bias_u;
          for (size_t gate = 0; gate < 3 * n; ++gate) {
            for (size_t k = 0; k < row.size(); ++k) of_x[gate] += w[gate * row.size() + k] * row[k];
            for (size_t k = 0; k < n; ++k) of_h[gate] += u[gate * n + k] * h[k];
          }
          for (size_t k = 0; k < n; ++k) {
            const double r = Logistic(of_x[k] + of_h[k]);
            const double z = Logistic(of_x[n + k] + of_h[n + k]);
            const double hn = of_h[2 * n + k];
            const double now = std::tanh(of_x[2 * n + k] + r * hn);
            h[k] = (1 - z) * now + z * h[k];
            const double kept[kLists] = {r, z, now, hn, h[k]};
            for (size_t kind = 0; kind < kLists; ++kind)
              computed.saved[kind][cell][(t * batch + b) * n + k] = kept[kind];
            y[t][b][static_cast<size_t>(direction) * n + k] = h[k];
          }
        }
        std::copy(h.begin(), h.end(), computed.hy.begin() + state);
      }
    }
    x = y;
  }
  computed.output = SequenceOf(sizes, x, sizes.directions * sizes.hidden);
  return computed;
}

std::vector<Numbers> Parameters(const Values& values, const Sizes& sizes) {
  std::vector<Numbers> params;
  for (int64_t i = 0; i < sizes.cells() * sizes.each(); ++i)
    params.push_back(values.All("params", static_cast<size_t>(i)));
  return params;
}

std::vector<Outcome> ForwardOracle(const PlanCall& call, const std::vector<TensorValues>& tensors) {
  const Values values(call, tensors);
  Sizes sizes;
  SizesOfCall(call, sizes);
  const Numbers h0 = values.AllOrZeros("hx", 0, NumElements(sizes.State()));
  const Computed computed = Forward(sizes, {values.All("input"), h0, Parameters(values, sizes)});
  const DtypeNumber dtype = call["input"].dtype;
  std::vector<Outcome> outcomes = {Rounded(dtype, computed.output), Rounded(dtype, computed.hy)};
  for (size_t kind = 0; kind < kLists; ++kind) {
    for (size_t cell = 0; cell < call[kSavedOfForward[kind]].entries.size(); ++cell)
      outcomes.push_back(call["train"].integer != 0 ? Rounded(dtype, computed.saved[kind][cell]) : Outcome{});
  }
  return outcomes;
}

// The chain rule over what is saved, element by element.
std::vector<Outcome> BackwardOracle(const PlanCall& call, const std::vector<TensorValues>& tensors) {
  const Values values(call, tensors);
  Sizes sizes;
  SizesOfCall(call, sizes);
  const auto n = static_cast<size_t>(sizes.hidden);
  const auto batch = static_cast<size_t>(sizes.batch);
  const std::vector<Numbers> params = Parameters(values, sizes);
  const Numbers h0 = values.All("hx");
  const Numbers of_hy = values.All("dh");
  Numbers of_h0(of_hy.size());
  std::vector<Numbers> of_params;
  for (const Numbers& one : params) of_params.emplace_back(one.size(), 0.0);
  Rows of_output = RowsOf(sizes, values.All("dy"), sizes.directions * sizes.hidden);
  for (int64_t layer = sizes.layers - 1; layer >= 0; --layer) {
    const auto width = static_cast<size_t>(sizes.width(layer));
    Rows x = RowsOf(sizes, values.All("input"), sizes.inputs);
    for (int64_t d = 0; layer > 0 && d < sizes.directions; ++d) {
      const Numbers h = values.All("h", static_cast<size_t>((layer - 1) * sizes.directions + d));
      for (size_t t = 0; t < x.size(); ++t) {
        for (size_t b = 0; b < batch; ++b) {
          if (d == 0) x[t][b].clear();
          const auto from = h.begin() + static_cast<std::ptrdiff_t>((t * batch + b) * n);
          x[t][b].insert(x[t][b].end(), from, from + sizes.hidden);
        }
      }
    }
    Rows of_x(x.size(), std::vector<Numbers>(batch, Numbers(width)));
    for (int64_t direction = 0; direction < sizes.directions; ++direction) {
      const auto cell = static_cast<size_t>(layer * sizes.directions + direction);
      const auto first = cell * static_cast<size_t>(sizes.each());
      Numbers kept[kLists];
      for (size_t kind = 0; kind < kLists; ++kind) kept[kind] = values.All(kSavedOfBackward[kind], cell);
      for (size_t b = 0; b < batch; ++b) {
        const auto state = static_cast<std::ptrdiff_t>((cell * batch + b) * n);
        Numbers of_h(of_hy.begin() + state, of_hy.begin() + state + sizes.hidden);
        for (int64_t step = sizes.steps - 1; step >= 0; --step) {
          const auto t = static_cast<size_t>(direction == 0 ? step : sizes.steps - 1 - step);
          const size_t before = direction == 0 ? t - 1 : t + 1;
          Numbers of_sums[2] = {Numbers(3 * n), Numbers(3 * n)};  // of the input's part and the state's
          Numbers h_before(n), next(n);
          for (size_t k = 0; k < n; ++k) {
            const size_t at = (t * batch + b) * n + k;
            const double r = kept[0][at], z = kept[1][at], now = kept[2][at], hn = kept[3][at];
            h_before[k] =
                step == 0 ? h0[static_cast<size_t>(state) + k] : kept[4][(before * batch + b) * n + k];
            const double total = of_h[k] + of_output[t][b][static_cast<size_t>(direction) * n + k];
            const double of_tanh = total * (1 - z) * (1 - now * now);
            for (Numbers& sums : of_sums) {
              sums[k] = of_tanh * hn * r * (1 - r);
              sums[n + k] = total * (h_before[k] - now) * z * (1 - z);
            }
            of_sums[0][2 * n + k] = of_tanh;
            of_sums[1][2 * n + k] = of_tanh * r;
            next[k] = total * z;
          }
          for (size_t gate = 0; gate < 3 * n; ++gate) {
            for (size_t k = 0; k < width; ++k) {
              of_params[first][gate * width + k] += of_sums[0][gate] * x[t][b][k];
              of_x[t][b][k] += of_sums[0][gate] * params[first][gate * width + k];
            }
            for (size_t k = 0; k < n; ++k) {
              of_params[first + 1][gate * n + k] += of_sums[1][gate] * h_before[k];
              next[k] += of_sums[1][gate] * params[first + 1][gate * n + k];
            }
            for (size_t part = 0; sizes.has_bias && part < 2; ++part)
              of_params[first + 2 + part][gate] += of_sums[part][gate];
          }
          of_h = next;
        }
        std::copy(of_h.begin(), of_h.end(), of_h0.begin() + state);
      }
    }
    of_output = of_x;
  }
  const DtypeNumber dtype = call["input"].dtype;
  std::vector<Outcome> outcomes = {Rounded(dtype, SequenceOf(sizes, of_output, sizes.inputs)),
                                   Rounded(dtype, of_h0)};
  for (const Numbers& numbers : of_params) outcomes.push_back(Rounded(dtype, numbers));
  return outcomes;
}

// ---- calls ----

std::vector<PlanArgument> ArgumentsOf(const Sizes& sizes, bool is_forward, bool train, bool has_state,
                                      DtypeNumber dtype) {
  const auto same = [](const Shape& shape) { return [=](int64_t) { return shape; }; };
  const auto parameter = [&](int64_t i) { return sizes.Parameter(i); };
  const auto number = [](const char* name, int64_t value) { return IntegerArg(name, value); };
  const int64_t cells = sizes.cells();
  const int64_t parameters = cells * sizes.each();
  const Shape output = sizes.Sequence(sizes.directions * sizes.hidden);
  const PlanArgument hx = TensorArg("hx", sizes.State(), dtype);
  const PlanArgument lengths = Null(TensorArg("batchSizes", {sizes.steps}, ACL_INT64));
  std::vector<PlanArgument> all = {TensorArg("input", sizes.Input(), dtype),
                                   OfShapes("params", parameters, parameter, dtype),
                                   has_state || !is_forward ? hx : Null(hx)};
  const auto add = [&](const std::vector<PlanArgument>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  if (is_forward) {
    add({lengths, number("hasBias", sizes.has_bias ? 1 : 0), number("numLayers", sizes.layers),
         RealArg("dropout", 0.5), number("train", train ? 1 : 0), number("bidirection", sizes.directions - 1),
         number("batchFirst", sizes.batch_first ? 1 : 0), OutputArg("output", output, dtype),
         OutputArg("hy", sizes.State(), dtype)});
    for (const char* name : kSavedOfForward)
      all.push_back(OfShapes(name, cells, same(sizes.Saved()), dtype, true));
    return all;
  }
  add({TensorArg("dy", output, dtype), TensorArg("dh", sizes.State(), dtype)});
  for (const char* name : kSavedOfBackward) all.push_back(OfShapes(name, cells, same(sizes.Saved()), dtype));
  add({lengths, number("hasBias", sizes.has_bias ? 1 : 0), number("numLayers", sizes.layers),
       number("bidirection", sizes.directions - 1), number("batchFirst", sizes.batch_first ? 1 : 0),
       OutputArg("dxOut", sizes.Input(), dtype), OutputArg("dhPrevOut", sizes.State(), dtype),
       OfShapes("dparamsOut", parameters, parameter, dtype, true)});
  return all;
}

OperatorSpec Gru(bool is_forward) {
  OperatorSpec op;
  op.function = is_forward ? PORTACL_C_FUNCTION(aclnnGRU) : PORTACL_C_FUNCTION(aclnnGRUBackward);
  op.takes_workspace = true;
  Sizes valid;
  valid.gates = 3;
  valid.steps = 3;
  valid.batch = 2;
  valid.inputs = 4;
  valid.hidden = 5;
  op.valid = ArgumentsOf(valid, is_forward, true, true, ACL_FLOAT);
  const Rule lists = NoNulls("rOut zOut nOut hnOut hOut");
  const auto wrong = [=](PlanCall& call) -> std::optional<Verdict> {
    const std::string name = FirstWrong(call, is_forward);
    if (name.empty()) return std::nullopt;
    return Verdict{161002, {name}};
  };
  op.rules = {NoNulls(is_forward ? "input params output hy"
                                 : "input params hx dy dh r z n hn h dxOut dhPrevOut dparamsOut"),
              [=](PlanCall& call) -> std::optional<Verdict> {
                if (!is_forward || call["train"].integer == 0) return std::nullopt;
                return lists(call);
              },
              wrong, SucceedsIf([=](const PlanCall& call) {
                Sizes sizes;
                SizesOfCall(call, sizes);
                return sizes.hidden == 0 || (is_forward && sizes.batch == 0);
              })};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    Sizes sizes;
    sizes.gates = 3;
    sizes.steps = random.Between(random.Chance(20) ? 0 : 1, 5);
    sizes.batch = random.Between(random.Chance(20) ? 0 : 1, 4);
    sizes.inputs = random.Between(random.Chance(10) ? 0 : 1, 7);
    sizes.hidden = random.Chance(20) ? random.Between(15, 40) : random.Between(1, 6);
    sizes.layers = random.Between(1, 3);
    sizes.directions = random.Between(1, 2);
    sizes.has_bias = random.Chance(60);
    sizes.batch_first = random.Chance(50);
    call.arguments =
        ArgumentsOf(sizes, is_forward, random.Chance(70), random.Chance(70), DrawDtype(random, kDtypes));
  };
  op.fill = Fill;
  op.oracle = is_forward ? ForwardOracle : BackwardOracle;
  op.tolerance = 2e-5;
  op.is_inexact = true;
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> operators = {Gru(true), Gru(false)};
  return operators;
}

PORTACL_OPERATOR_TESTS(Recurrent, Operators());

// ---- whole networks ----

// Dense float32 tensors and lists of them, with their memory.
class Memory {
 public:
  std::vector<float>& Add(const Shape& shape, aclTensor** tensor) {
    auto& data = data_.emplace_back(
        std::make_unique<std::vector<float>>(static_cast<size_t>(NumElements(shape)), 0.0f));
    *tensor = aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                              shape.size(), data->data());
    return *data;
  }
  std::vector<float>& One(const Shape& shape, aclTensor** tensor) {
    std::vector<float>& data = Add(shape, tensor);
    singles_.push_back(*tensor);
    return data;
  }
  std::vector<std::vector<float>*> List(const std::vector<Shape>& shapes, aclTensorList** list) {
    std::vector<aclTensor*> tensors(shapes.size());
    std::vector<std::vector<float>*> data;
    for (size_t i = 0; i < shapes.size(); ++i) data.push_back(&Add(shapes[i], &tensors[i]));
    *list = lists_.emplace_back(aclCreateTensorList(tensors.data(), tensors.size()));
    return data;
  }
  Memory() = default;
  ~Memory() {
    for (const aclTensor* const tensor : singles_) aclDestroyTensor(tensor);
    for (const aclTensorList* const list : lists_) aclDestroyTensorList(list);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

 private:
  std::vector<std::unique_ptr<std::vector<float>>> data_;
  std::vector<aclTensor*> singles_;
  std::vector<aclTensorList*> lists_;
};

void Run(uint64_t size, aclOpExecutor* executor,
         aclnnStatus (*run)(void*, uint64_t, aclOpExecutor*, aclrtStream), aclrtStream stream) {
  void* workspace = nullptr;
  if (size > 0) {
    ASSERT_EQ(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  }
  ASSERT_EQ(run(workspace, size, executor, stream), 0) << TakeErrorMessage();
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
  if (workspace != nullptr) aclrtFree(workspace);
}

using Floats = std::vector<float>;
struct Network {
  Sizes sizes;
  Floats input, h0, of_output, of_hy;
  std::vector<Floats> params;
};
struct Trained {
  Floats output, hy, of_input, of_h0;
  std::vector<Floats> of_params;
};

Network Draw(const Sizes& sizes, RandomNumbers& random) {
  const auto draw = [&](const Shape& shape) {
    Floats numbers(static_cast<size_t>(NumElements(shape)));
    for (float& x : numbers) x = static_cast<float>(random.Between(-1000, 1000)) / 1000;
    return numbers;
  };
  Network network{sizes, draw(sizes.Input()), draw(sizes.State()), {}, {}, {}};
  network.of_output = draw(sizes.Sequence(sizes.directions * sizes.hidden));
  network.of_hy = draw(sizes.State());
  for (int64_t i = 0; i < sizes.cells() * sizes.each(); ++i)
    network.params.push_back(draw(sizes.Parameter(i)));
  return network;
}

// Forward with what it saves, then backward with that.
Trained Train(const Network& network, aclrtStream stream) {
  const Sizes& sizes = network.sizes;
  const Shape output_shape = sizes.Sequence(sizes.directions * sizes.hidden);
  std::vector<Shape> shapes;
  for (int64_t i = 0; i < sizes.cells() * sizes.each(); ++i) shapes.push_back(sizes.Parameter(i));
  Memory memory;
  aclTensor *input, *hx, *output, *hy, *dy, *dh, *dx, *dh0;
  aclTensorList *params, *dparams, *saved[kLists];
  memory.One(sizes.Input(), &input) = network.input;
  memory.One(sizes.State(), &hx) = network.h0;
  const auto weights = memory.List(shapes, &params);
  for (size_t i = 0; i < weights.size(); ++i)
    std::copy(network.params[i].begin(), network.params[i].end(), weights[i]->begin());
  const Floats& y = memory.One(output_shape, &output);
  const Floats& y_state = memory.One(sizes.State(), &hy);
  for (aclTensorList*& list : saved)
    memory.List(std::vector<Shape>(static_cast<size_t>(sizes.cells()), sizes.Saved()), &list);
  const bool is_both = sizes.directions == 2;
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(aclnnGRUGetWorkspaceSize(input, params, hx, nullptr, sizes.has_bias, sizes.layers, 0, true,
                                     is_both, sizes.batch_first, output, hy, saved[0], saved[1], saved[2],
                                     saved[3], saved[4], &size, &executor),
            0)
      << TakeErrorMessage();
  Run(size, executor, aclnnGRU, stream);
  memory.One(output_shape, &dy) = network.of_output;
  memory.One(sizes.State(), &dh) = network.of_hy;
  const Floats& of_input = memory.One(sizes.Input(), &dx);
  const Floats& of_h0 = memory.One(sizes.State(), &dh0);
  const auto of_params = memory.List(shapes, &dparams);
  EXPECT_EQ(aclnnGRUBackwardGetWorkspaceSize(input, params, hx, dy, dh, saved[0], saved[1], saved[2],
                                             saved[3], saved[4], nullptr, sizes.has_bias, sizes.layers,
                                             is_both, sizes.batch_first, dx, dh0, dparams, &size, &executor),
            0)
      << TakeErrorMessage();
  Run(size, executor, aclnnGRUBackward, stream);
  Trained trained{y, y_state, of_input, of_h0, {}};
  for (const Floats* one : of_params) trained.of_params.push_back(*one);
  return trained;
}

Numbers Wide(const Floats& numbers) { return {numbers.begin(), numbers.end()}; }

// The sum of what the network computes times the gradients of it, in float64.
double Loss(const Network& network, const Given& given) {
  const Computed computed = Forward(network.sizes, given);
  double loss = 0;
  for (size_t i = 0; i < computed.output.size(); ++i) loss += computed.output[i] * network.of_output[i];
  for (size_t i = 0; i < computed.hy.size(); ++i) loss += computed.hy[i] * network.of_hy[i];
  return loss;
}

TEST(Gru, GradientsAreDifferencesOfTheDefinition) {
  const ScopedEnvironment environment({});
  RandomNumbers random(5);
  for (int form = 0; form < 8; ++form) {
    Sizes sizes;
    sizes.gates = 3;
    sizes.steps = 3;
    sizes.batch = 2;
    sizes.inputs = 3;
    sizes.hidden = 4;
    sizes.layers = 1 + (form & 1);
    sizes.directions = 1 + (form >> 1 & 1);
    sizes.has_bias = (form >> 2 & 1) == 0;
    sizes.batch_first = (form & 1) != 0;
    const Network network = Draw(sizes, random);
    const Trained trained = Train(network, environment.stream());
    Given given{Wide(network.input), Wide(network.h0), {}};
    for (const Floats& one : network.params) given.params.push_back(Wide(one));
    const auto check = [&](const char* what, Numbers& place, const Floats& gradient) {
      constexpr double kStep = 1e-5;
      for (size_t i = 0; i < place.size(); ++i) {
        const double was = place[i];
        place[i] = was + kStep;
        const double above = Loss(network, given);
        place[i] = was - kStep;
        const double below = Loss(network, given);
        place[i] = was;
        const double expected = (above - below) / (2 * kStep);
        EXPECT_NEAR(gradient[i], expected, 1e-5 * (1 + std::fabs(expected)))
            << what << " " << i << " of form " << form;
      }
    };
    check("input", given.input, trained.of_input);
    check("hx", given.h0, trained.of_h0);
    for (size_t i = 0; i < given.params.size(); ++i) check("params", given.params[i], trained.of_params[i]);
  }
}

TEST(Gru, ARowHasTheSameBitsWhateverIsBesideIt) {
  const ScopedEnvironment environment({});
  RandomNumbers random(6);
  Sizes sizes;
  sizes.gates = 3;
  sizes.steps = 5;
  sizes.batch = 9;
  sizes.inputs = 21;
  sizes.hidden = 37;
  sizes.layers = 2;
  sizes.directions = 2;
  const Network network = Draw(sizes, random);
  const Trained all = Train(network, environment.stream());
  const int64_t outputs = sizes.directions * sizes.hidden;
  // The numbers of row b among rows [outer, batch, width].
  const auto row = [&](const Floats& from, int64_t width, int64_t b) {
    Floats of_row;
    for (int64_t at = b * width; at < std::ssize(from); at += sizes.batch * width)
      of_row.insert(of_row.end(), from.begin() + at, from.begin() + at + width);
    return of_row;
  };
  for (const int64_t b : {0, 4, 8}) {
    Network alone = network;
    alone.sizes.batch = 1;
    alone.input = row(network.input, sizes.inputs, b);
    alone.h0 = row(network.h0, sizes.hidden, b);
    alone.of_output = row(network.of_output, outputs, b);
    alone.of_hy = row(network.of_hy, sizes.hidden, b);
    const Trained one = Train(alone, environment.stream());
    EXPECT_EQ(one.output, row(all.output, outputs, b));
    EXPECT_EQ(one.hy, row(all.hy, sizes.hidden, b));
    EXPECT_EQ(one.of_input, row(all.of_input, sizes.inputs, b));
    EXPECT_EQ(one.of_h0, row(all.of_h0, sizes.hidden, b));
  }
}

TEST(Gru, MessagesSayWhatWouldBeAccepted) {
  const auto message = [](const Variables& variables, const aclTensor* lengths, int64_t layers,
                          size_t entries, const Shape& state) {
    const ScopedEnvironment environment(variables);
    Memory memory;
    aclTensor *input, *hy, *output;
    aclTensorList* params;
    memory.One({3, 2, 4}, &input);
    memory.One({3, 2, 5}, &output);
    memory.One(state, &hy);
    std::vector<Shape> shapes = {{15, 4}, {15, 5}, {15}, {15}};
    shapes.resize(entries, {15});
    memory.List(shapes, &params);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(
        aclnnGRUGetWorkspaceSize(input, params, nullptr, lengths, true, layers, 0, false, false, false,
                                 output, hy, nullptr, nullptr, nullptr, nullptr, nullptr, &size, &executor),
        161002);
    return TakeErrorMessage();
  };
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  Memory memory;
  aclTensor* lengths;
  memory.One({3}, &lengths);
  const Shape state = {1, 2, 5};
  has(message({}, lengths, 1, 4, state), "parameter batchSizes is given, accepted: a null pointer.");
  has(message({}, nullptr, 2, 4, state), "parameter params has 4 tensors, accepted: 8.");
  has(message({}, nullptr, 1, 5, state), "parameter params has 5 tensors, accepted: 4.");
  has(message({}, nullptr, 0, 4, state), "numLayers");
  has(message({}, nullptr, 1, 4, {1, 2, 6}), "parameter hy");
  has(message({{"PORTACL_SOC", "Ascend950PR_9579"}}, nullptr, 1, 4, state), "parameter input");
}

}  // namespace
}  // namespace portacl::testing
