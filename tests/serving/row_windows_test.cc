// Convolutions that continue from states, and windows of rows that become one row each.
// SPDX-License-Identifier: Apache-2.0
#include "../moe/moe_calls.h"

#include "aclnnop/families/serving.h"

namespace portacl::testing {
namespace {

constexpr aclnnStatus kTiling = 561002;
const DtypeList kHalves = {ACL_FLOAT16, ACL_BF16};

// ---- FusedCausalConv1d ----

const std::vector<std::string> kIndices = {"queryStartLocOptional", "cacheIndicesOptional",
                                           "numAcceptedTokensOptional", "numComputedTokensOptional"};
const std::vector<std::string> kNever = {"initialStateModeOptional", "biasOptional",
                                         "blockIdxFirstScheduledTokenOptional",
                                         "blockIdxLastScheduledTokenOptional", "initialStateIdxOptional"};

// Sets some numbers of INT64 to the least or the greatest one.
void SetExtremes(HostTensor& tensor, RandomNumbers& random) {
  for (int64_t k = 0; tensor.dtype() == ACL_INT64 && k < tensor.size(); ++k) {
    if (random.Chance(20))
      EncodeIntegerElement(ACL_INT64, random.Chance(50) ? INT64_MIN : INT64_MAX, tensor.Element(k));
  }
}

OperatorSpec Convolution(bool in_place) {
  OperatorSpec op;
  op.function = in_place ? PORTACL_C_FUNCTION(aclnnInplaceFusedCausalConv1d)
                         : PORTACL_C_FUNCTION(aclnnFusedCausalConv1d);
  const std::string x_name = in_place ? "xRef" : "x";
  op.valid = {in_place ? OutputArg("xRef", {4, 128}, ACL_FLOAT16) : TensorArg("x", {4, 128}, ACL_FLOAT16),
              TensorArg("weight", {3, 128}, ACL_FLOAT16), OutputArg("convStates", {3, 3, 128}, ACL_FLOAT16)};
  for (const char* name :
       {"queryStartLocOptional", "cacheIndicesOptional", "initialStateModeOptional", "biasOptional",
        "numAcceptedTokensOptional", "numComputedTokensOptional", "blockIdxFirstScheduledTokenOptional",
        "blockIdxLastScheduledTokenOptional", "initialStateIdxOptional"}) {
    op.valid.push_back(DistinctArg(name, name == kIndices[0] ? Shape{3} : Shape{2}, ACL_INT32));
    op.valid.back().null = std::count(kNever.begin(), kNever.end(), name) > 0;
  }
  for (const PlanArgument& one :
       {IntegerArg("activation", 0), IntegerArg("padSlotId", -1), IntegerArg("runMode", 0),
        IntegerArg("maxQueryLen", -1), IntegerArg("residualConnection", 0), IntegerArg("blockSize", 128),
        IntegerArg("convMode", 0)})
    op.valid.push_back(one);
  if (!in_place) op.valid.push_back(OutputArg("y", {4, 128}, ACL_FLOAT16));
  op.takes_workspace = true;
  op.updates = true;
  op.numbers_on = Product::k950;
  op.tolerance = 1e-2;
  op.rules = {NoNulls(in_place ? "xRef weight convStates" : "x weight convStates y"),
              RefusedDtype(x_name,
                           [](const PlanCall& call, DtypeNumber dtype) {
                             return IsOn950(call) && std::count(kHalves.begin(), kHalves.end(), dtype) > 0;
                           }),
              SameDtype(x_name, "weight"), SameDtype(x_name, "convStates")};
  for (const std::string& name : kIndices) op.rules.push_back(Given(name, DtypeIn(name, kEitherIndex)));
  if (!in_place) op.rules.push_back(SameDtype("x", "y"));
  op.rules.push_back(Refuses(kTiling, "", [=](PlanCall& call) {
    const Shape& x = call[x_name].shape;
    const Shape& states = call["convStates"].shape;
    if ((x.size() != 2 && x.size() != 3) || states.size() != 3 || x.back() % 128 != 0) return true;
    if (call["weight"].shape != Shape{3, x.back()} || states[2] != x.back() || states[1] < 2) return true;
    const PlanArgument& start = call["queryStartLocOptional"];
    if (x.size() == 2 && start.null) return true;
    if (!start.null && (start.shape.size() != 1 || start.shape[0] <= 0)) return true;
    const int64_t sequences = x.size() == 2 ? start.shape[0] - 1 : x[0];
    if (!start.null && start.shape != Shape{sequences + 1}) return true;
    for (const char* name : {"numAcceptedTokensOptional", "numComputedTokensOptional"}) {
      if (!call[name].null && call[name].shape != Shape{sequences}) return true;
    }
    const PlanArgument& lines = call["cacheIndicesOptional"];
    if (!lines.null && lines.shape.size() != 2 && lines.shape != Shape{sequences}) return true;
    for (const char* name : {"residualConnection", "convMode"}) {
      if (call[name].integer < 0 || call[name].integer > 1) return true;
    }
    if (call["convMode"].integer == 1 && call["numComputedTokensOptional"].null) return true;
    return !in_place && call["y"].shape != x;
  }));
  op.rules.push_back(Refuses(561103, "", [](PlanCall& call) {
    for (const std::string& name : kNever) {
      if (!call[name].null && NumElements(call[name].shape) > 0) return true;
    }
    return (!call["cacheIndicesOptional"].null && call["cacheIndicesOptional"].shape.size() == 2) ||
           call["activation"].integer != 0;
  }));
  op.rules.push_back(DoneIfEmpty(x_name));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const int64_t columns = 128 * random.Between(1, 2);
    const int64_t sequences = random.Between(1, 3);
    const bool is_packed = random.Chance(60);
    const DtypeNumber dtype = DrawDtype(random, kHalves);
    call[x_name].shape =
        is_packed ? Shape{random.Between(1, 7), columns} : Shape{sequences, random.Between(1, 4), columns};
    call["weight"].shape = {3, columns};
    call["convStates"].shape = {random.Between(1, 4), random.Between(2, 5), columns};
    for (const std::string& name : {x_name, std::string("weight"), std::string("convStates")})
      call[name].dtype = dtype;
    for (const std::string& name : kIndices) {
      call[name].shape = {sequences};
      call[name].dtype = random.Chance(50) ? ACL_INT32 : ACL_INT64;
      call[name].null = random.Chance(40);
    }
    call[kIndices[0]].shape = {sequences + 1};
    if (is_packed) call[kIndices[0]].null = false;
    call["convMode"].integer = random.Below(2);
    if (call["convMode"].integer == 1) call[kIndices[3]].null = false;
    call["residualConnection"].integer = random.Below(2);
    if (in_place) return;
    call["y"].shape = call["x"].shape;
    call["y"].dtype = dtype;
  };
  op.fill = [=](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    const auto arguments = TensorsOf(call);
    for (size_t i = 0; i < tensors.size(); ++i) {
      const std::string& name = arguments[i]->name;
      if (arguments[i]->null || name == "y") continue;
      if (name == kIndices[0]) {
        int64_t at = 0;
        for (int64_t k = 0; k < tensors[i].size(); ++k) {
          EncodeIntegerElement(tensors[i].dtype(), at, tensors[i].Element(k));
          at = random.Between(at, std::max(at, call[x_name].shape[0]));
        }
      } else if (name == kIndices[1]) {
        SetIntegers(tensors[i], -1, call["convStates"].shape[0] + (random.Chance(20) ? 1 : 0), random);
      } else if (name == kIndices[2]) {
        SetIntegers(tensors[i], 0, 6, random);
        SetExtremes(tensors[i], random);
      } else if (name == kIndices[3]) {
        SetIntegers(tensors[i], 0, 4, random);
        SetExtremes(tensors[i], random);
      } else {
        for (int64_t k = 0; k < tensors[i].size(); ++k)
          tensors[i].Set(k, static_cast<double>(random.Between(-64, 64)) / 64);
      }
    }
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, x_name);
    const Numbers weight(call, tensors, "weight");
    const Numbers states(call, tensors, "convStates");
    const Numbers start(call, tensors, kIndices[0]);
    const Numbers lines(call, tensors, kIndices[1]);
    const Numbers accepted(call, tensors, kIndices[2]);
    const Numbers computed(call, tensors, kIndices[3]);
    const Shape& shape = x.shape();
    const int64_t columns = shape.back();
    const int64_t slots = states.shape()[1];
    const bool is_packed = shape.size() == 2;
    const int64_t sequences = is_packed ? start.size() - 1 : shape[0];
    std::vector<double> now;
    for (int64_t i = 0; i < states.size(); ++i) now.push_back(states[i]);
    Outcome of_states(now.size());
    Outcome y(static_cast<size_t>(x.size()));
    for (int64_t b = 0; b < sequences; ++b) {
      const int64_t line = lines.is_given() ? lines.Integer(b) : b;
      if (line == call["padSlotId"].integer || line < 0 || line >= states.shape()[0]) continue;
      const int64_t first = is_packed ? start.Integer(b) : b * shape[1];
      const int64_t count = (is_packed ? start.Integer(b + 1) : (b + 1) * shape[1]) - first;
      const bool is_new = computed.is_given() && computed.Integer(b) == 0;
      const int64_t off =
          is_new
              ? 0
              : std::clamp<int64_t>(accepted.is_given() ? accepted.Integer(b) : slots - 1, 1, slots - 1) - 1;
      std::vector<std::vector<double>> p;
      for (int64_t i = 0; i < off + 2; ++i) {
        std::vector<double> row(static_cast<size_t>(columns));
        for (int64_t c = 0; c < columns && !is_new; ++c)
          row[static_cast<size_t>(c)] = now[static_cast<size_t>((line * slots + i) * columns + c)];
        p.push_back(row);
      }
      for (int64_t i = 0; i < count; ++i) {
        std::vector<double> row(static_cast<size_t>(columns));
        for (int64_t c = 0; c < columns; ++c) row[static_cast<size_t>(c)] = x[(first + i) * columns + c];
        p.push_back(row);
      }
      const int64_t kept = std::min<int64_t>(slots, std::ssize(p));
      for (int64_t i = 0; i < kept; ++i) {
        for (int64_t c = 0; c < columns; ++c) {
          const auto place = static_cast<size_t>((line * slots + slots - kept + i) * columns + c);
          now[place] = p[p.size() - static_cast<size_t>(kept - i)][static_cast<size_t>(c)];
          of_states[place] = Encoded(states.dtype(), now[place]);
        }
      }
      for (int64_t i = 0; i < count; ++i) {
        const bool is_cleared = call["convMode"].integer == 1 && computed.Integer(b) < 2 - i;
        for (int64_t c = 0; c < columns; ++c) {
          double sum = 0;
          for (int64_t k = 0; k < 3 && !is_cleared; ++k)
            sum += weight.At(k, c) * p[static_cast<size_t>(off + i + k)][static_cast<size_t>(c)];
          if (call["residualConnection"].integer != 0) sum += x[(first + i) * columns + c];
          y[static_cast<size_t>((first + i) * columns + c)] = Encoded(x.dtype(), sum);
        }
      }
    }
    return in_place ? std::vector<Outcome>{y, of_states} : std::vector<Outcome>{of_states, y};
  };
  return op;
}

// ---- NsaCompress ----

OperatorSpec Compression() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnNsaCompress);
  op.valid = {TensorArg("input", {7, 2, 3}, ACL_FLOAT16),
              TensorArg("weight", {2, 2}, ACL_FLOAT16),
              ArrayArg("actSeqLenOptional", {4, 7}),
              TextArg("layoutOptional", "TND"),
              IntegerArg("compressBlockSize", 2),
              IntegerArg("compressStride", 1),
              IntegerArg("actSeqLenType", 0),
              OutputArg("output", {5, 2, 3}, ACL_FLOAT16)};
  op.takes_workspace = true;
  op.tolerance = 1e-2;
  const auto windows_of = [](const PlanCall& call) {
    std::vector<int64_t> firsts;
    int64_t first = 0;
    for (const int64_t end : call["actSeqLenOptional"].values) {
      for (int64_t at = first; at + call["compressBlockSize"].integer <= end;
           at += call["compressStride"].integer)
        firsts.push_back(at);
      first = end;
    }
    return firsts;
  };
  op.rules = {
      NoNulls("input weight output"),
      RefusedDtype("input",
                   [](const PlanCall& call, DtypeNumber dtype) {
                     return (IsOn950(call) || IsOnA2OrA3(call)) &&
                            std::count(kHalves.begin(), kHalves.end(), dtype) > 0;
                   }),
      SameDtype("input", "weight"),
      SameDtype("input", "output"),
      Refuses(kTiling, "",
              [=](PlanCall& call) {
                if (!call["layoutOptional"].null && call["layoutOptional"].text != "TND") return true;
                const Shape& input = call["input"].shape;
                if (input.size() != 3 || call["actSeqLenType"].integer != 0) return true;
                const int64_t window = call["compressBlockSize"].integer;
                const int64_t stride = call["compressStride"].integer;
                if (window < 1 || stride < 1 || window < stride || window > int64_t{1} << 40) return true;
                if (call["weight"].shape != Shape{window, input[1]}) return true;
                if (call["actSeqLenOptional"].null || call["actSeqLenOptional"].values.empty()) return true;
                int64_t before = 0;
                for (const int64_t end : call["actSeqLenOptional"].values) {
                  if (end < before || end > input[0]) return true;
                  before = end;
                }
                return call["output"].shape != Shape{std::ssize(windows_of(call)), input[1], input[2]};
              }),
      DoneIfEmpty("output")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const int64_t rows = random.Between(1, 20);
    const int64_t heads = random.Between(1, 3);
    const int64_t width = DrawColumns(random);
    const DtypeNumber dtype = DrawDtype(random, kHalves);
    call["input"].shape = {rows, heads, width};
    call["compressStride"].integer = random.Between(1, 4);
    call["compressBlockSize"].integer = random.Between(call["compressStride"].integer, 6);
    call["weight"].shape = {call["compressBlockSize"].integer, heads};
    call["actSeqLenOptional"].values.clear();
    int64_t end = 0;
    for (int64_t b = random.Between(1, 3); b > 0; --b)
      call["actSeqLenOptional"].values.push_back(end = random.Between(end, rows));
    call["output"].shape = {std::ssize(windows_of(call)), heads, width};
    for (const char* name : {"input", "weight", "output"}) call[name].dtype = dtype;
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetNumbers(tensors[0], random);
    SetNumbers(tensors[1], random);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers input(call, tensors, "input");
    const Numbers weight(call, tensors, "weight");
    const Shape& shape = input.shape();
    std::vector<double> out;
    for (const int64_t first : windows_of(call)) {
      for (int64_t h = 0; h < shape[1]; ++h) {
        for (int64_t d = 0; d < shape[2]; ++d) {
          double sum = 0;
          for (int64_t j = 0; j < call["compressBlockSize"].integer; ++j)
            sum += weight.At(j, h) * input[((first + j) * shape[1] + h) * shape[2] + d];
          out.push_back(sum);
        }
      }
    }
    return std::vector<Outcome>{EncodedAll(input.dtype(), out)};
  };
  return op;
}

// ---- NsaCompressGrad ----

OperatorSpec CompressionGradient() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnNsaCompressGrad);
  op.valid = {TensorArg("outputGrad", {5, 2, 3}, ACL_FLOAT16),
              TensorArg("input", {7, 2, 3}, ACL_FLOAT16),
              TensorArg("weight", {2, 2}, ACL_FLOAT16),
              ArrayArg("actSeqLenOptional", {4, 7}),
              IntegerArg("compressBlockSize", 2),
              IntegerArg("compressStride", 1),
              IntegerArg("actSeqLenType", 0),
              TextArg("layoutOptional", "TND"),
              OutputArg("inputGrad", {7, 2, 3}, ACL_FLOAT16),
              OutputArg("weightGrad", {2, 2}, ACL_FLOAT16)};
  op.takes_workspace = true;
  op.tolerance = 1e-2;
  const auto windows_of = [](const PlanCall& call) {
    std::vector<int64_t> firsts;
    int64_t first = 0;
    for (const int64_t end : call["actSeqLenOptional"].values) {
      for (int64_t at = first; at + call["compressBlockSize"].integer <= end;
           at += call["compressStride"].integer)
        firsts.push_back(at);
      first = end;
    }
    return firsts;
  };
  op.rules = {NoNulls("outputGrad input weight inputGrad weightGrad"),
              RefusedDtype("outputGrad",
                           [](const PlanCall& call, DtypeNumber dtype) {
                             return (IsOn950(call) || IsOnA2OrA3(call)) &&
                                    std::count(kHalves.begin(), kHalves.end(), dtype) > 0;
                           }),
              SameDtype("outputGrad", "input"),
              SameDtype("outputGrad", "weight"),
              SameDtype("outputGrad", "inputGrad"),
              SameDtype("outputGrad", "weightGrad"),
              Refuses(kTiling, "",
                      [=](PlanCall& call) {
                        const Shape& input = call["input"].shape;
                        if (input.size() != 3) return true;
                        if (!call["layoutOptional"].null && call["layoutOptional"].text != "TND") return true;
                        if (call["actSeqLenType"].integer != 0) return true;
                        const int64_t window = call["compressBlockSize"].integer;
                        const int64_t stride = call["compressStride"].integer;
                        if (window < 1 || stride < 1 || window < stride || window > int64_t{1} << 40)
                          return true;
                        if (call["actSeqLenOptional"].null || call["actSeqLenOptional"].values.empty())
                          return true;
                        int64_t before = 0;
                        for (const int64_t end : call["actSeqLenOptional"].values) {
                          if (end < before || end > input[0]) return true;
                          before = end;
                        }
                        const Shape weight = {window, input[1]};
                        return call["outputGrad"].shape !=
                                   Shape{std::ssize(windows_of(call)), input[1], input[2]} ||
                               call["weight"].shape != weight || call["inputGrad"].shape != input ||
                               call["weightGrad"].shape != weight;
                      }),
              DoneIfEmpty("weightGrad")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const int64_t rows = random.Between(1, 20);
    const int64_t heads = random.Between(1, 3);
    const int64_t width = DrawColumns(random);
    const DtypeNumber dtype = DrawDtype(random, kHalves);
    call["input"].shape = call["inputGrad"].shape = {rows, heads, width};
    call["compressStride"].integer = random.Between(1, 4);
    call["compressBlockSize"].integer = random.Between(call["compressStride"].integer, 6);
    call["weight"].shape = call["weightGrad"].shape = {call["compressBlockSize"].integer, heads};
    call["actSeqLenOptional"].values.clear();
    int64_t end = 0;
    for (int64_t b = random.Between(1, 3); b > 0; --b)
      call["actSeqLenOptional"].values.push_back(end = random.Between(end, rows));
    call["outputGrad"].shape = {std::ssize(windows_of(call)), heads, width};
    for (const char* name : {"outputGrad", "input", "weight", "inputGrad", "weightGrad"})
      call[name].dtype = dtype;
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (size_t i = 0; i < 3; ++i) SetNumbers(tensors[i], random);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers gradient(call, tensors, "outputGrad");
    const Numbers input(call, tensors, "input");
    const Numbers weight(call, tensors, "weight");
    const int64_t heads = input.shape()[1];
    const int64_t width = input.shape()[2];
    std::vector<double> of_input(static_cast<size_t>(input.size()));
    std::vector<double> of_weight(static_cast<size_t>(weight.size()));
    int64_t window = 0;
    for (const int64_t first : windows_of(call)) {
      for (int64_t i = 0; i < call["compressBlockSize"].integer * heads * width; ++i) {
        const int64_t j = i / (heads * width);
        const int64_t h = i / width % heads;
        const double of_out = gradient[(window * heads + h) * width + i % width];
        const int64_t place = ((first + j) * heads + h) * width + i % width;
        of_input[static_cast<size_t>(place)] += weight.At(j, h) * of_out;
        of_weight[static_cast<size_t>(j * heads + h)] += input[place] * of_out;
      }
      ++window;
    }
    return std::vector<Outcome>{EncodedAll(input.dtype(), of_input), EncodedAll(input.dtype(), of_weight)};
  };
  return op;
}

// ---- NsaCompressWithCache ----

OperatorSpec WithCache() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnNsaCompressWithCache);
  op.valid = {TensorArg("input", {3, 4, 2, 5}, ACL_FLOAT16),
              TensorArg("weight", {3, 2}, ACL_FLOAT16),
              DistinctArg("slotMapping", {2}, ACL_INT32),
              ArrayArg("actSeqLenOptional", {5, 8}),
              DistinctArg("blockTableOptional", {2, 2}, ACL_INT32),
              TextArg("layoutOptional", "TND"),
              IntegerArg("compressBlockSize", 3),
              IntegerArg("compressStride", 2),
              IntegerArg("actSeqLenType", 1),
              IntegerArg("pageBlockSize", 4),
              OutputArg("outputCacheRef", {4, 2, 5}, ACL_FLOAT16)};
  op.takes_workspace = true;
  op.updates = true;
  op.tolerance = 1e-2;
  op.rules = {NoNulls("input weight slotMapping outputCacheRef"),
              RefusedDtype("input",
                           [](const PlanCall& call, DtypeNumber dtype) {
                             return (IsOn950(call) || IsOnA2OrA3(call)) &&
                                    std::count(kHalves.begin(), kHalves.end(), dtype) > 0;
                           }),
              SameDtype("input", "weight"),
              DtypeIn("slotMapping", kInt32Alone),
              Given("blockTableOptional", DtypeIn("blockTableOptional", kInt32Alone)),
              SameDtype("input", "outputCacheRef"),
              Refuses(kTiling, "",
                      [](PlanCall& call) {
                        if (!call["layoutOptional"].null && call["layoutOptional"].text != "TND") return true;
                        const int64_t window = call["compressBlockSize"].integer;
                        const int64_t stride = call["compressStride"].integer;
                        constexpr int64_t kMost = int64_t{1} << 40;
                        if (call["actSeqLenType"].integer != 1 || window < 1 || window > kMost ||
                            stride < 1 || stride > kMost || window < stride)
                          return true;
                        const Shape& input = call["input"].shape;
                        const Shape& table = call["blockTableOptional"].shape;
                        const Shape& cache = call["outputCacheRef"].shape;
                        const Shape& slot = call["slotMapping"].shape;
                        if (input.size() != 4 || slot.size() != 1 || cache.size() != 3) return true;
                        if (call["blockTableOptional"].null || table.size() != 2) return true;
                        if (call["weight"].shape != Shape{window, input[2]} ||
                            cache != Shape{cache[0], input[2], input[3]} || table[0] != slot[0] ||
                            call["pageBlockSize"].integer != input[1] || input[1] <= 0 ||
                            table[1] > kMost / input[1])
                          return true;
                        const PlanArgument& lengths = call["actSeqLenOptional"];
                        if (lengths.null || std::ssize(lengths.values) != slot[0]) return true;
                        for (const int64_t length : lengths.values) {
                          if (length < 0 || length > table[1] * input[1]) return true;
                        }
                        return false;
                      }),
              DoneIfEmpty("input"),
              DoneIfEmpty("outputCacheRef")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t pages = random.Between(1, 4);
    const int64_t slots = random.Between(1, 8);
    const int64_t heads = random.Between(1, 3);
    const int64_t width = random.Between(1, random.Chance(10) ? 600 : 9);
    const int64_t sequences = random.Between(1, 5);
    const int64_t columns = random.Between(1, 4);
    const int64_t stride = random.Between(1, 3);
    const int64_t window = stride + random.Between(0, 3);
    const DtypeNumber dtype = DrawDtype(random, kHalves);
    call["input"].shape = {pages, slots, heads, width};
    call["weight"].shape = {window, heads};
    call["slotMapping"].shape = {sequences};
    call["blockTableOptional"].shape = {sequences, columns};
    call["outputCacheRef"].shape = {random.Between(1, 6), heads, width};
    for (const char* name : {"input", "weight", "outputCacheRef"}) call[name].dtype = dtype;
    call["compressBlockSize"].integer = window;
    call["compressStride"].integer = stride;
    call["pageBlockSize"].integer = slots;
    call["actSeqLenOptional"].values.clear();
    for (int64_t b = 0; b < sequences; ++b)
      call["actSeqLenOptional"].values.push_back(random.Between(0, columns * slots));
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetNumbers(tensors[PlaceOf(call, "input")], random);
    SetNumbers(tensors[PlaceOf(call, "weight")], random);
    SetIntegers(tensors[PlaceOf(call, "slotMapping")], -1, call["outputCacheRef"].shape[0] + 1, random);
    if (!call["blockTableOptional"].null)
      SetIntegers(tensors[PlaceOf(call, "blockTableOptional")], random.Chance(15) ? -1 : 0,
                  call["input"].shape[0] + (random.Chance(15) ? 1 : 0), random);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers input(call, tensors, "input"), weight(call, tensors, "weight");
    const Numbers slot(call, tensors, "slotMapping"), table(call, tensors, "blockTableOptional");
    const Shape& shape = input.shape();
    const Shape& cache = call["outputCacheRef"].shape;
    const int64_t window = call["compressBlockSize"].integer;
    Outcome out(static_cast<size_t>(NumElements(cache)));
    for (int64_t b = 0; b < slot.size(); ++b) {
      const int64_t rows = call["actSeqLenOptional"].values[static_cast<size_t>(b)];
      const int64_t target = slot.Integer(b);
      if (rows < window || (rows - window) % call["compressStride"].integer != 0) continue;
      if (target < 0 || target >= cache[0]) continue;
      for (int64_t n = 0; n < shape[2]; ++n) {
        for (int64_t d = 0; d < shape[3]; ++d) {
          double sum = 0;
          for (int64_t j = 0; j < window; ++j) {
            const int64_t row = rows - window + j;
            const int64_t page = table.Integer(b * table.shape()[1] + row / shape[1]);
            if (page < 0 || page >= shape[0]) continue;
            sum += weight[j * shape[2] + n] *
                   input[((page * shape[1] + row % shape[1]) * shape[2] + n) * shape[3] + d];
          }
          out[static_cast<size_t>((target * shape[2] + n) * shape[3] + d)] = Encoded(input.dtype(), sum);
        }
      }
    }
    return std::vector<Outcome>{out};
  };
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {Convolution(false), Convolution(true), Compression(),
                                                CompressionGradient(), WithCache()};
  return all;
}

PORTACL_OPERATOR_TESTS(RowWindows, Operators());

TEST(RowWindowsBad, ResultsFartherApartThanThereAreAddressesAreRefused) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", "Ascend950PR_9579"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  std::vector<uint16_t> memory(512);
  Made made;
  const auto half = [&](const Shape& shape) { return made.Dense(shape, ACL_FLOAT16, memory.data()); };
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(aclnnFusedCausalConv1dGetWorkspaceSize(
                half({1, 4, 128}), half({3, 128}), half({1, 2, 128}), nullptr, nullptr, nullptr, nullptr,
                nullptr, nullptr, nullptr, nullptr, nullptr, 0, -1, 0, -1, 0, 128, 0,
                made.FarApart({1, 4, 128}, ACL_FLOAT16, memory.data()), &size, &executor),
            161002);
  ExpectMessage("parameter y");
}

}  // namespace
}  // namespace portacl::testing
