// Tokens brought to the rows of their experts: checks, elements against what the definition says of every entry, quantised rows, and
// experts that are none.
// SPDX-License-Identifier: Apache-2.0
#include "moe_calls.h"
#include "quantisation/mx_by_definition.h"

namespace portacl::testing {
namespace {

// ---- the first form ----

OperatorSpec First() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMoeInitRouting);
  op.valid = {TensorArg("x", {2, 3}),
              DistinctArg("rowIdx", {2, 2}, ACL_INT32),
              TensorArg("expertIdx", {2, 2}, ACL_INT32),
              IntegerArg("activeNum", 2),
              OutputArg("expandedXOut", {4, 3}),
              OutputArg("expandedRowIdxOut", {4}, ACL_INT32),
              OutputArg("expandedExpertIdxOut", {4}, ACL_INT32)};
  op.takes_workspace = true;
  op.rules = {NoNulls("x rowIdx expertIdx expandedXOut expandedRowIdxOut expandedExpertIdxOut"),
              DtypeIn("x", kSinceA2),
              DtypeIn("rowIdx expertIdx", kInt32Alone),
              SameDtype("x", "expandedXOut"),
              DtypeIn("expandedRowIdxOut expandedExpertIdxOut", kInt32Alone),
              Refuses(561002, "",
                      [](PlanCall& call) {
                        const Shape& x = call["x"].shape;
                        const Shape& experts = call["expertIdx"].shape;
                        const int64_t active = call["activeNum"].integer;
                        if (x.size() != 2 || experts.size() != 2 || active < 0) return true;
                        const Shape entries = {NumElements(experts)};
                        return experts[0] != x[0] || call["rowIdx"].shape != experts ||
                               call["expandedXOut"].shape !=
                                   Shape{std::min(x[0], active) * experts[1], x[1]} ||
                               call["expandedRowIdxOut"].shape != entries ||
                               call["expandedExpertIdxOut"].shape != entries;
                      }),
              DoneIfEmpty("expertIdx")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t n = random.Between(1, 8);
    const int64_t k = random.Between(1, 3);
    const int64_t columns = DrawColumns(random);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    call["x"] = TensorArg("x", {n, columns}, dtype);
    call["rowIdx"] = DistinctArg("rowIdx", {n, k}, ACL_INT32);
    call["expertIdx"] = TensorArg("expertIdx", {n, k}, ACL_INT32);
    call["activeNum"].integer = random.Between(0, n + 2);
    call["expandedXOut"] =
        OutputArg("expandedXOut", {std::min(n, call["activeNum"].integer) * k, columns}, dtype);
    call["expandedRowIdxOut"] = OutputArg("expandedRowIdxOut", {n * k}, ACL_INT32);
    call["expandedExpertIdxOut"] = OutputArg("expandedExpertIdxOut", {n * k}, ACL_INT32);
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetPermutation(tensors[1], random);
    SetIntegers(tensors[2], -2, 6, random);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const std::vector<int64_t> rows = IntegersOf(Numbers(call, tensors, "rowIdx"));
    const std::vector<int64_t> experts = IntegersOf(Numbers(call, tensors, "expertIdx"));
    const std::vector<int64_t> order = StableOrder(experts);
    const int64_t columns = x.shape()[1];
    std::vector<int64_t> of_row(rows.size());
    std::vector<int64_t> sorted;
    Outcome expanded;
    for (size_t q = 0; q < order.size(); ++q) {
      const auto p = static_cast<size_t>(order[q]);
      sorted.push_back(experts[p]);
      of_row[static_cast<size_t>(rows[p])] = static_cast<int64_t>(q);
      if (static_cast<int64_t>(q) >= call["expandedXOut"].shape[0]) continue;
      for (int64_t h = 0; h < columns; ++h)
        expanded.emplace_back(x.Bytes(rows[p] % x.shape()[0] * columns + h));
    }
    return std::vector<Outcome>{expanded, EncodedIntegers(ACL_INT32, of_row),
                                EncodedIntegers(ACL_INT32, sorted)};
  };
  return op;
}

// ---- routing, as the later forms have it ----

struct Routing {
  std::vector<int64_t> row;    // of each entry, -1: none
  std::vector<int64_t> entry;  // of each row, -1: none
  std::vector<int64_t> count;  // of each expert of the range
};
Routing RoutingOf(const std::vector<int64_t>& experts, int64_t low, int64_t high, int64_t capacity,
                  int64_t rows) {
  Routing routing;
  routing.row.assign(experts.size(), -1);
  routing.entry.assign(static_cast<size_t>(rows), -1);
  routing.count.assign(static_cast<size_t>(high - low), 0);
  int64_t next = 0;
  for (int64_t e = low; e < high; ++e) {
    for (size_t p = 0; p < experts.size(); ++p) {
      if (experts[p] != e) continue;
      const int64_t c = routing.count[static_cast<size_t>(e - low)]++;
      const int64_t row = capacity == 0 ? next++ : c < capacity ? (e - low) * capacity + c : -1;
      routing.row[p] = row;
      if (row >= 0 && row < rows) routing.entry[static_cast<size_t>(row)] = static_cast<int64_t>(p);
    }
  }
  return routing;
}
std::vector<int64_t> Totals(std::vector<int64_t> counts) {
  for (size_t i = 1; i < counts.size(); ++i) counts[i] += counts[i - 1];
  return counts;
}

double Rounded(DtypeNumber dtype, double value) { return DecodeReal(dtype, Encoded(dtype, value).data()); }
// What fits half of a number, toward zero.
double CutToHalf(double value) {
  const double nearest = Rounded(ACL_FLOAT16, value);
  if (std::fabs(nearest) <= std::fabs(value)) return nearest;
  Element bits = Encoded(ACL_FLOAT16, std::fabs(nearest));
  uint16_t word = 0;
  std::memcpy(&word, bits.data(), sizeof word);
  --word;
  std::memcpy(bits.data(), &word, sizeof word);
  return std::copysign(DecodeReal(ACL_FLOAT16, bits.data()), value);
}
int64_t Saturated(double value) { return static_cast<int64_t>(std::clamp(value, -128.0, 127.0)); }

// A row as INT8, and its scale.
struct Quantised {
  std::vector<int64_t> numbers;
  double scale = 0;
};
Quantised Quantise(const Numbers& x, int64_t token, bool is_dynamic, const Numbers& scale, int64_t scale_row,
                   const Numbers& offset) {
  Quantised result;
  std::vector<float> row;
  for (int64_t h = 0; h < x.shape()[1]; ++h) {
    if (!is_dynamic) {
      const double product =
          Rounded(ACL_FLOAT16, Rounded(ACL_FLOAT16, x.At(token, h)) * Rounded(ACL_FLOAT16, scale[0]));
      const double sum = Rounded(ACL_FLOAT16, product + Rounded(ACL_FLOAT16, offset[0]));
      result.numbers.push_back(Saturated(std::nearbyint(sum)));
      continue;
    }
    const auto factor = static_cast<float>(scale.is_given() ? scale.At(scale_row, h) : 1.0);
    volatile const float product = static_cast<float>(x.At(token, h)) * factor;
    row.push_back(static_cast<float>(product));
  }
  float greatest = 0;
  for (const float number : row) greatest = std::max(greatest, std::fabs(number));
  const float step = greatest / 127.0f;
  if (is_dynamic) result.scale = static_cast<double>(step);
  for (const float number : row)
    result.numbers.push_back(
        step == 0 ? 0 : Saturated(std::round(CutToHalf(static_cast<double>(number / step)))));
  return result;
}

// The rows of a routing: copied, or quantised with their scales; rows without an entry are 0 or stay.
struct Rows {
  Outcome x;
  Outcome scales;
};
Rows RowsOf(const PlanCall& call, const std::vector<TensorValues>& tensors, const Routing& routing, int64_t k,
            int64_t mode, bool clears, int64_t first_expert, const std::vector<int64_t>& experts,
            DtypeNumber dtype) {
  const Numbers x(call, tensors, "x");
  const int64_t columns = x.shape()[1];
  Rows rows;
  for (const int64_t p : routing.entry) {
    if (p < 0) {
      const std::optional<Element> nothing = clears ? std::optional(Encoded(dtype, 0)) : std::nullopt;
      rows.x.insert(rows.x.end(), static_cast<size_t>(columns), nothing);
      rows.scales.push_back(clears ? std::optional(Encoded(ACL_FLOAT, 0)) : std::nullopt);
      continue;
    }
    if (mode < 0) {
      for (int64_t h = 0; h < columns; ++h) rows.x.emplace_back(x.Bytes(p / k * columns + h));
      continue;
    }
    const Numbers scale(call, tensors, "scaleOptional");
    const int64_t scale_row =
        scale.is_given() && scale.shape()[0] > 1 ? experts[static_cast<size_t>(p)] - first_expert : 0;
    const Quantised one =
        Quantise(x, p / k, mode == 1, scale, scale_row, Numbers(call, tensors, "offsetOptional"));
    for (const int64_t number : one.numbers)
      rows.x.emplace_back(Encoded(ACL_INT8, static_cast<double>(number)));
    rows.scales.emplace_back(Encoded(ACL_FLOAT, one.scale));
  }
  return rows;
}

// ---- the second form, plain and quantised ----

bool Drops(const PlanCall& call) { return call["dropPadMode"].integer == 1; }
int64_t CountFlag(const PlanCall& call) {
  return Drops(call) ? 0 : call["expertTokensCountOrCumsumFlag"].integer;
}
bool CountsBefore(const PlanCall& call) {
  return Drops(call) && call["expertTokensBeforeCapacityFlag"].integer != 0;
}
const char* const kCount = "expertTokensCountOrCumsumOutOptional";
const char* const kBefore = "expertTokensBeforeCapacityOutOptional";
const char* const kRowScale = "dynamicQuantScaleOutOptional";

bool IsSecondWrong(PlanCall& call, bool is_quantised) {
  const Shape& x = call["x"].shape;
  const Shape& experts = call["expertIdx"].shape;
  const bool is_950 = IsOn950(call);
  if (x.size() != 2 || experts.size() > 2 || experts.size() < (is_950 ? 1u : 2u) || experts[0] != x[0])
    return true;
  const int64_t entries = NumElements(experts);
  const int64_t capacity = call["expertCapacity"].integer;
  const int64_t count = call["expertNum"].integer;
  const int64_t active = call["activeNum"].integer;
  const int64_t mode = call["dropPadMode"].integer;
  const int64_t flag = call["expertTokensCountOrCumsumFlag"].integer;
  if (capacity < 0 || count < 0 || (active < 0 && !is_950) || mode < 0 || mode > 1 || flag < 0 || flag > 2)
    return true;
  if (mode == 1 && (capacity < 1 || capacity > x[0] || count < 1)) return true;
  if (flag > 0 && count < 1) return true;
  if (call.product == Product::k310P && x[1] % 32 != 0) return true;
  const Shape expanded = mode == 1 ? Shape{count, capacity, x[1]}
                                   : Shape{active > 0 ? std::min(active, entries) : entries, x[1]};
  if (call["expandedXOut"].shape != expanded || call["expandedRowIdxOut"].shape != Shape{entries})
    return true;
  if (CountFlag(call) > 0 && (call[kCount].null || call[kCount].shape != Shape{count})) return true;
  if (CountsBefore(call) && (call[kBefore].null || call[kBefore].shape != Shape{count})) return true;
  if (!is_quantised) return false;
  const int64_t quant = call["quantMode"].integer;
  if (quant < 0 || quant > 1) return true;
  const Shape& scale = call["scaleOptional"].shape;
  if (quant == 0)
    return call["scaleOptional"].null || scale != Shape{1} || call["offsetOptional"].null ||
           call["offsetOptional"].shape != Shape{1};
  if (!call["scaleOptional"].null && scale != Shape{1, x[1]} && scale != Shape{count, x[1]}) return true;
  return call[kRowScale].null || call[kRowScale].shape != Shape{mode == 1 ? count * capacity : expanded[0]};
}

OperatorSpec Second(const CFunction& function, bool is_quantised) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("x", {2, 3}), TensorArg("expertIdx", {2, 2}, ACL_INT32)};
  if (is_quantised) {
    op.valid.push_back(TensorArg("scaleOptional", {1}));
    op.valid.push_back(TensorArg("offsetOptional", {1}));
  }
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, int64_t>>{{"activeNum", 0},
                                                    {"expertCapacity", 2},
                                                    {"expertNum", 3},
                                                    {"dropPadMode", 0},
                                                    {"expertTokensCountOrCumsumFlag", 2},
                                                    {"expertTokensBeforeCapacityFlag", 0}})
    op.valid.push_back(IntegerArg(name, value));
  if (is_quantised) op.valid.push_back(IntegerArg("quantMode", 0));
  op.valid.push_back(OutputArg("expandedXOut", {4, 3}, is_quantised ? ACL_INT8 : ACL_FLOAT));
  op.valid.push_back(OutputArg("expandedRowIdxOut", {4}, ACL_INT32));
  op.valid.push_back(OutputArg(kCount, {3}, ACL_INT32));
  op.valid.push_back(OutputArg(kBefore, {3}, ACL_INT32));
  if (is_quantised) op.valid.push_back(OutputArg(kRowScale, {4}));
  op.takes_workspace = true;
  op.rules = {NoNulls("x expertIdx expandedXOut expandedRowIdxOut"),
              RefusedDtype("x",
                           [=](const PlanCall& call, DtypeNumber dtype) {
                             if (!is_quantised && call.product == Product::k310P)
                               return dtype == ACL_FLOAT || dtype == ACL_FLOAT16;
                             if (is_quantised && !IsOnA2OrA3(call)) return false;
                             return kSinceA2.Has(call.product, dtype);
                           }),
              RefusedDtype("expertIdx", [=](const PlanCall& call, DtypeNumber dtype) {
                return dtype == ACL_INT32 || (dtype == ACL_INT64 && IsOn950(call) && !is_quantised);
              })};
  if (is_quantised) {
    op.rules.push_back(Given("scaleOptional", DtypeIn("scaleOptional", kFloatAlone)));
    op.rules.push_back(Given("offsetOptional", DtypeIn("offsetOptional", kFloatAlone)));
    op.rules.push_back(DtypeIn("expandedXOut", {{ACL_INT8}}));
  } else {
    op.rules.push_back(SameDtype("x", "expandedXOut"));
  }
  op.rules.push_back(DtypeIn("expandedRowIdxOut", kInt32Alone));
  op.rules.push_back(Refuses(161002, kCount, [](PlanCall& call) {
    return CountFlag(call) != 0 && !call[kCount].null && call[kCount].dtype != ACL_INT32;
  }));
  op.rules.push_back(Refuses(161002, kBefore, [](PlanCall& call) {
    return CountsBefore(call) && !call[kBefore].null && call[kBefore].dtype != ACL_INT32;
  }));
  if (is_quantised)
    op.rules.push_back(Refuses(161002, kRowScale, [](PlanCall& call) {
      return call["quantMode"].integer == 1 && !call[kRowScale].null && call[kRowScale].dtype != ACL_FLOAT;
    }));
  op.rules.push_back(Refuses(561002, "", [=](PlanCall& call) { return IsSecondWrong(call, is_quantised); }));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const int64_t n = random.Between(1, 8);
    const int64_t k = random.Between(1, 3);
    const int64_t columns = DrawColumns(random);
    const int64_t experts = random.Between(1, 5);
    const int64_t capacity = random.Between(1, n);
    const bool drops = random.Chance(50);
    const int64_t active = random.Between(0, n * k + 1);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    call["x"] = TensorArg("x", {n, columns}, dtype);
    call["expertIdx"] = TensorArg("expertIdx", {n, k}, ACL_INT32);
    call["activeNum"].integer = active;
    call["expertCapacity"].integer = capacity;
    call["expertNum"].integer = experts;
    call["dropPadMode"].integer = drops;
    call["expertTokensCountOrCumsumFlag"].integer = random.Between(0, 2);
    call["expertTokensBeforeCapacityFlag"].integer = random.Chance(50);
    const int64_t rows = drops ? experts * capacity : active > 0 ? std::min(active, n * k) : n * k;
    call["expandedXOut"] =
        OutputArg("expandedXOut", drops ? Shape{experts, capacity, columns} : Shape{rows, columns},
                  is_quantised ? DtypeNumber{ACL_INT8} : dtype);
    call["expandedRowIdxOut"] = OutputArg("expandedRowIdxOut", {n * k}, ACL_INT32);
    call[kCount] = OutputArg(kCount, {experts}, ACL_INT32);
    call[kCount].null = CountFlag(call) == 0 && random.Chance(50);
    call[kBefore] = OutputArg(kBefore, {experts}, ACL_INT32);
    call[kBefore].null = !CountsBefore(call) && random.Chance(50);
    if (!is_quantised) return;
    const bool is_dynamic = random.Chance(60);
    call["quantMode"].integer = is_dynamic;
    call["scaleOptional"] = TensorArg(
        "scaleOptional", is_dynamic ? Shape{random.Chance(50) ? 1 : experts, columns} : Shape{1}, ACL_FLOAT);
    call["scaleOptional"].null = is_dynamic && random.Chance(40);
    call[kRowScale] = OutputArg(kRowScale, {rows});
    call[kRowScale].null = !is_dynamic && random.Chance(50);
  };
  op.fill = [=](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetNumbers(tensors[0], random);
    if (is_quantised) {
      const auto row = static_cast<int64_t>(call["x"].shape.size() > 1 ? call["x"].shape[1] : 1);
      for (int64_t h = 0; random.Chance(30) && h < row; ++h) tensors[0].Set(h, 0);
      SetNumbers(tensors[2], random);
      SetNumbers(tensors[3], random);
      if (call["quantMode"].integer == 0) tensors[2].Set(0, random.Chance(50) ? 100.5 : 3.3);
    }
    SetIntegers(tensors[1], 0, call["expertNum"].integer, random);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const std::vector<int64_t> experts = IntegersOf(Numbers(call, tensors, "expertIdx"));
    const int64_t k = static_cast<int64_t>(experts.size()) / call["x"].shape[0];
    const Shape& expanded = call["expandedXOut"].shape;
    const int64_t rows = Drops(call) ? expanded[0] * expanded[1] : expanded[0];
    const Routing routing = RoutingOf(experts, 0, call["expertNum"].integer,
                                      Drops(call) ? call["expertCapacity"].integer : 0, rows);
    const int64_t mode = is_quantised ? call["quantMode"].integer : -1;
    const Rows all = RowsOf(call, tensors, routing, k, mode, true, 0, experts, call["expandedXOut"].dtype);
    std::vector<Outcome> outcomes = {all.x, EncodedIntegers(ACL_INT32, routing.row), Outcome{}, Outcome{}};
    if (CountFlag(call) == 1) outcomes[2] = EncodedIntegers(ACL_INT32, Totals(routing.count));
    if (CountFlag(call) == 2) outcomes[2] = EncodedIntegers(ACL_INT32, routing.count);
    if (CountsBefore(call)) outcomes[3] = EncodedIntegers(ACL_INT32, routing.count);
    if (is_quantised) outcomes.push_back(mode == 1 ? all.scales : Outcome{});
    return outcomes;
  };
  return op;
}

// ---- the gradient ----

OperatorSpec Grad() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMoeInitRoutingV2Grad);
  op.valid = {TensorArg("gradExpandedX", {4, 3}),
              DistinctArg("expandedRowIdx", {4}, ACL_INT32),
              IntegerArg("topK", 2),
              IntegerArg("dropPadMode", 0),
              IntegerArg("activeNum", 0),
              OutputArg("out", {2, 3})};
  op.takes_workspace = true;
  op.rules = {
      NoNulls("gradExpandedX expandedRowIdx out"), DtypeIn("gradExpandedX", kSinceA2),
      DtypeIn("expandedRowIdx", kInt32Alone), SameDtype("gradExpandedX", "out"),
      Refuses(561002, "", [](PlanCall& call) {
        const Shape& grad = call["gradExpandedX"].shape;
        const Shape& index = call["expandedRowIdx"].shape;
        const int64_t k = call["topK"].integer;
        const int64_t mode = call["dropPadMode"].integer;
        const int64_t active = call["activeNum"].integer;
        if (k < 1 || mode < 0 || mode > 1 || active < 0 || index.size() != 1) return true;
        if (grad.size() != (mode == 1 ? 3u : 2u) || NumElements(grad) == 0) return true;
        if (mode == 0 && grad[0] != (active > 0 ? active : index[0])) return true;
        return index[0] == 0 || index[0] % k != 0 || call["out"].shape != Shape{index[0] / k, grad.back()};
      })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t n = random.Between(1, 8);
    const int64_t k = random.Between(1, 3);
    const int64_t columns = DrawColumns(random);
    const bool drops = random.Chance(50);
    const int64_t active = random.Between(0, n * k + 1);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    const Shape rows = drops ? Shape{random.Between(1, 3), random.Between(1, 4), columns}
                             : Shape{active > 0 ? active : n * k, columns};
    call["gradExpandedX"] = TensorArg("gradExpandedX", rows, dtype);
    call["expandedRowIdx"] = DistinctArg("expandedRowIdx", {n * k}, ACL_INT32);
    call["topK"].integer = k;
    call["dropPadMode"].integer = drops;
    call["activeNum"].integer = active;
    call["out"] = OutputArg("out", {n, columns}, dtype);
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetNumbers(tensors[0], random, 2);
    const Shape& grad = call["gradExpandedX"].shape;
    const int64_t rows = NumElements(grad) / grad.back();
    const bool exceeds = !Drops(call) && call["activeNum"].integer > 0;
    SetIntegers(tensors[1], Drops(call) ? -1 : 0, rows + (exceeds ? 3 : 0), random);
  };
  op.is_inexact = true;
  op.tolerance = 1e-5;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers grad(call, tensors, "gradExpandedX");
    const Numbers index(call, tensors, "expandedRowIdx");
    const int64_t columns = grad.shape().back();
    const int64_t rows = grad.size() / columns;
    const int64_t k = call["topK"].integer;
    std::vector<double> out(static_cast<size_t>(index.size() / k * columns));
    for (int64_t p = 0; p < index.size(); ++p) {
      const int64_t row = index.Integer(p);
      for (int64_t h = 0; row >= 0 && row < rows && h < columns; ++h)
        out[static_cast<size_t>(p / k * columns + h)] += grad[row * columns + h];
    }
    return std::vector<Outcome>{EncodedAll(grad.dtype(), out)};
  };
  return op;
}

// ---- the third form ----

const char* const kThirdCount = "expertTokensCountOrCumsumOut";

bool HasRange(const PlanCall& call) {
  return !call["activeExpertRangeOptional"].null && call["activeExpertRangeOptional"].values.size() == 2;
}
int64_t Low(const PlanCall& call) { return HasRange(call) ? call["activeExpertRangeOptional"].values[0] : 0; }
int64_t High(const PlanCall& call) {
  return HasRange(call) ? call["activeExpertRangeOptional"].values[1] : call["expertNum"].integer;
}

// A quantMode of Ascend 950: its codes, how many numbers share a scale, and that scale's type.
struct CodeMode {
  int64_t mode;
  DtypeNumber codes;
  int64_t block;  // 0: a row, -1: no scale
  DtypeNumber scales = ACL_FLOAT;
  bool is_power = false;  // the scale is a power of two
  double least = 0;
};
const CodeMode kCodeModes[] = {
    {2, ACL_FLOAT8_E5M2, 32, ACL_FLOAT8_E8M0, true},
    {3, ACL_FLOAT8_E4M3FN, 32, ACL_FLOAT8_E8M0, true},
    {4, ACL_FLOAT8_E5M2, 128, ACL_FLOAT, true},
    {5, ACL_FLOAT8_E4M3FN, 128, ACL_FLOAT, true},
    {6, ACL_HIFLOAT8, -1},
    {7, ACL_HIFLOAT8, -1},
    {8, ACL_HIFLOAT8, 0},
    {9, ACL_FLOAT4_E2M1, 32, ACL_FLOAT8_E8M0, true},
    {11, ACL_FLOAT8_E5M2, 128},
    {12, ACL_FLOAT8_E4M3FN, 128},
    {13, ACL_INT4, 0},
    {14, ACL_FLOAT8_E5M2, 128, ACL_FLOAT, true, 1e-4},
    {15, ACL_FLOAT8_E4M3FN, 128, ACL_FLOAT, true, 1e-4},
    {16, ACL_FLOAT8_E5M2, 32, ACL_FLOAT8_E8M0, true, 1e-4},
    {17, ACL_FLOAT8_E4M3FN, 32, ACL_FLOAT8_E8M0, true, 1e-4},
};
const CodeMode* CodeModeOf(const PlanCall& call) {
  for (const CodeMode& mode : kCodeModes) {
    if (IsOn950(call) && mode.mode == call["quantMode"].integer) return &mode;
  }
  return nullptr;
}
bool HasPowers(const PlanCall& call) {
  return !call["scaleOptional"].null && call["scaleOptional"].dtype == ACL_FLOAT8_E8M0;
}
bool IsFloatCode(DtypeNumber dtype) {
  return dtype == ACL_FLOAT8_E4M3FN || dtype == ACL_FLOAT8_E5M2 || dtype == ACL_FLOAT4_E2M1;
}
bool ArePairs(const Shape& shape, int64_t rows, int64_t columns) {
  const int64_t pairs = (columns + 63) / 64;
  return shape == Shape{rows, pairs, 2} || shape == Shape{rows, 2 * pairs};
}
Shape ScalesOf(const CodeMode& mode, int64_t rows, int64_t columns) {
  if (mode.block == 0) return {rows};
  if (mode.block == 32) return {rows, (columns + 63) / 64, 2};
  if (mode.is_power) return {rows, (columns + 127) / 128};
  return {rows, (columns + 255) / 256, 2};
}
bool AreScalesWrong(const PlanCall& call, int64_t rows, int64_t columns) {
  const CodeMode* const mode = CodeModeOf(call);
  const Shape& scale = call["scaleOptional"].shape;
  if (!call["scaleOptional"].null && mode != nullptr) {
    if (mode->mode == 7 && scale != Shape{1}) return true;
    if (mode->mode == 13 && scale != Shape{1, columns}) return true;
  }
  const Shape& written = call["expandedScaleOut"].shape;
  if (mode == nullptr || mode->block < 0) return false;
  return mode->block == 32 ? !ArePairs(written, rows, columns) : written != ScalesOf(*mode, rows, columns);
}

bool IsThirdRangeWrong(PlanCall& call) {
  const PlanArgument& range = call["activeExpertRangeOptional"];
  if (call["expertNum"].integer < 1) return true;
  if (!range.null && !range.values.empty() && range.values.size() != 2) return true;
  const int64_t most = call["expertTokensNumType"].integer == 2 ? 5120 : 10240;
  if (Low(call) < 0 || Low(call) >= High(call) || High(call) > call["expertNum"].integer || High(call) > most)
    return true;
  const int64_t mode = call["dropPadMode"].integer;
  return mode < 0 || mode > 1 || (mode == 1 && call["expertCapacity"].integer < 1);
}
bool IsThirdShapeWrong(PlanCall& call) {
  const Shape& x = call["x"].shape;
  const Shape& experts = call["expertIdx"].shape;
  if (x.size() != 2 || experts.size() != 2 || experts[0] != x[0]) return true;
  const int64_t entries = NumElements(experts);
  const int64_t active = call["activeNum"].integer;
  const int64_t count = call["expertNum"].integer;
  int64_t rows = active > 0 ? std::min(active, entries) : entries;
  Shape expanded = {rows, x[1]};
  if (Drops(call)) {
    expanded = {count, call["expertCapacity"].integer, x[1]};
    rows = expanded[0] * expanded[1];
  }
  const int64_t mode = call["quantMode"].integer;
  const Shape& scale = call["scaleOptional"].shape;
  const bool has_scale = !call["scaleOptional"].null;
  const bool has_powers = HasPowers(call);
  if (has_scale && mode == -1 && (has_powers ? !ArePairs(scale, x[0], x[1]) : scale != Shape{x[0]}))
    return true;
  if (has_scale && mode == 0 && scale != Shape{1}) return true;
  if (has_scale && mode == 1 && scale != Shape{High(call) - Low(call), x[1]} && scale != Shape{1, x[1]})
    return true;
  const Shape& written = call["expandedScaleOut"].shape;
  if (mode == -1 && has_powers && !ArePairs(written, rows, x[1])) return true;
  if ((mode == 1 || (mode == -1 && has_scale && !has_powers)) && written != Shape{rows}) return true;
  if (AreScalesWrong(call, rows, x[1])) return true;
  for (const char* const name : {"x", "expandedXOut"}) {
    const DtypeNumber dtype = call[name].dtype;
    if ((IsFloat4(dtype) || dtype == ACL_INT4) && x[1] % 2 != 0) return true;
  }
  const Shape counts =
      call["expertTokensNumType"].integer == 2 ? Shape{count, 2} : Shape{High(call) - Low(call)};
  return call["expandedXOut"].shape != expanded || call["expandedRowIdxOut"].shape != Shape{entries} ||
         call[kThirdCount].shape != counts;
}
bool AreThirdModesWrong(PlanCall& call) {
  const int64_t type = call["expertTokensNumType"].integer;
  const int64_t row_type = call["rowIdxType"].integer;
  const int64_t mode = call["quantMode"].integer;
  if (call["activeNum"].integer < -1 || type < 0 || type > 2 || call["expertTokensNumFlag"].integer == 0 ||
      ((mode < -1 || mode > 1) && CodeModeOf(call) == nullptr) || row_type < 0 || row_type > 1)
    return true;
  if (Drops(call) &&
      (Low(call) != 0 || High(call) != call["expertNum"].integer || type != 1 || row_type != 0))
    return true;
  const DtypeNumber x = call["x"].dtype;
  const DtypeNumber expanded = call["expandedXOut"].dtype;
  const DtypeNumber written = call["expandedScaleOut"].dtype;
  const bool has_scale = !call["scaleOptional"].null;
  if (mode == -1)
    return expanded != x || (HasPowers(call) && !IsFloatCode(x)) ||
           (has_scale && written != call["scaleOptional"].dtype);
  if (!IsFloatOrHalf(x) || HasPowers(call)) return true;
  if (const CodeMode* const codes = CodeModeOf(call)) {
    const bool is_given = codes->mode == 7;
    const bool is_int4 = codes->mode == 13;
    return expanded != codes->codes || written != codes->scales || (is_int4 && x == ACL_FLOAT16) ||
           (is_given && !has_scale) || (has_scale && !is_given && !is_int4) ||
           (!call["offsetOptional"].null && !is_given) || (is_int4 && Drops(call));
  }
  if (expanded != ACL_INT8 || written != ACL_FLOAT) return true;
  return mode == 0 && (call["scaleOptional"].null || call["offsetOptional"].null ||
                       call["offsetOptional"].shape != Shape{1});
}

OperatorSpec Third(const CFunction& function) {
  const Listed with_int8 = {{},
                            {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8},
                            {ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E5M2, ACL_FLOAT4_E2M1}};
  const Listed of_scales = {{ACL_FLOAT}, {}, {ACL_FLOAT8_E8M0}};
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("x", {2, 3}),
              TensorArg("expertIdx", {2, 2}, ACL_INT32),
              TensorArg("scaleOptional", {2}),
              TensorArg("offsetOptional", {1}),
              IntegerArg("activeNum", -1),
              IntegerArg("expertCapacity", -1),
              IntegerArg("expertNum", 6),
              IntegerArg("dropPadMode", 0),
              IntegerArg("expertTokensNumType", 1),
              IntegerArg("expertTokensNumFlag", 1),
              IntegerArg("quantMode", -1),
              ArrayArg("activeExpertRangeOptional", {1, 4}),
              IntegerArg("rowIdxType", 0),
              OutputArg("expandedXOut", {4, 3}),
              OutputArg("expandedRowIdxOut", {4}, ACL_INT32),
              OutputArg(kThirdCount, {3}, ACL_INT64),
              OutputArg("expandedScaleOut", {4})};
  op.takes_workspace = true;
  op.rules = {
      NoNulls(std::string("x expertIdx expandedXOut expandedRowIdxOut expandedScaleOut ") + kThirdCount),
      DtypeIn("x", with_int8),
      DtypeIn("expertIdx", kInt32Alone),
      Given("scaleOptional", DtypeIn("scaleOptional", of_scales)),
      Given("offsetOptional", DtypeIn("offsetOptional", kFloatAlone)),
      DtypeIn("expandedXOut",
              {with_int8.everywhere,
               with_int8.on_new,
               {ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E5M2, ACL_FLOAT4_E2M1, ACL_HIFLOAT8, ACL_INT4}}),
      DtypeIn("expandedRowIdxOut", kInt32Alone),
      DtypeIn(kThirdCount, kInt64Alone),
      DtypeIn("expandedScaleOut", of_scales),
      Refuses(561002, "", IsThirdRangeWrong),
      Refuses(161002, "", IsThirdShapeWrong),
      Refuses(561002, "", AreThirdModesWrong)};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t n = random.Between(1, 8);
    const int64_t k = random.Between(1, 3);
    const int64_t columns = DrawColumns(random);
    const int64_t experts = random.Between(1, 7);
    const bool drops = random.Chance(25);
    const int64_t low = drops ? 0 : random.Between(0, experts - 1);
    const int64_t high = drops ? experts : random.Between(low + 1, experts);
    const int64_t capacity = random.Between(1, 4);
    const int64_t mode = random.Between(-1, 1);
    const DtypeNumber dtype = mode == -1 && random.Chance(30) ? ACL_INT8 : DrawDtype(random, kRowDtypes);
    call["x"] = TensorArg("x", {n, columns}, dtype);
    call["expertIdx"] = TensorArg("expertIdx", {n, k}, ACL_INT32);
    const int64_t active = random.Chance(50) ? random.Between(-1, 0) : random.Between(1, n * k + 1);
    call["activeNum"].integer = active;
    call["expertCapacity"].integer = capacity;
    call["expertNum"].integer = experts;
    call["dropPadMode"].integer = drops;
    const int64_t type = drops ? 1 : random.Between(0, 2);
    call["expertTokensNumType"].integer = type;
    call["quantMode"].integer = mode;
    call["activeExpertRangeOptional"].values = {low, high};
    if (low == 0 && high == experts && random.Chance(50)) call["activeExpertRangeOptional"].values = {};
    call["activeExpertRangeOptional"].null = low == 0 && high == experts && random.Chance(30);
    call["rowIdxType"].integer = drops ? 0 : random.Below(2);
    const int64_t rows = drops ? experts * capacity : active > 0 ? std::min(active, n * k) : n * k;
    call["scaleOptional"] =
        TensorArg("scaleOptional", mode == -1  ? Shape{n}
                                   : mode == 0 ? Shape{1}
                                               : Shape{random.Chance(50) ? 1 : high - low, columns});
    call["scaleOptional"].null = mode != 0 && random.Chance(40);
    call["expandedXOut"] =
        OutputArg("expandedXOut", drops ? Shape{experts, capacity, columns} : Shape{rows, columns},
                  mode == -1 ? dtype : DtypeNumber{ACL_INT8});
    call["expandedRowIdxOut"] = OutputArg("expandedRowIdxOut", {n * k}, ACL_INT32);
    call[kThirdCount] = OutputArg(kThirdCount, type == 2 ? Shape{experts, 2} : Shape{high - low}, ACL_INT64);
    call["expandedScaleOut"] = OutputArg("expandedScaleOut", {rows});
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    if (call["x"].dtype != ACL_INT8) SetNumbers(tensors[0], random);
    SetNumbers(tensors[2], random);
    SetNumbers(tensors[3], random);
    if (call["quantMode"].integer == 0) tensors[2].Set(0, random.Chance(50) ? 100.5 : 3.3);
    SetIntegers(tensors[1], -1, call["expertNum"].integer + 1, random);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const std::vector<int64_t> experts = IntegersOf(Numbers(call, tensors, "expertIdx"));
    const int64_t k = call["expertIdx"].shape[1];
    const Shape& expanded = call["expandedXOut"].shape;
    const int64_t rows = Drops(call) ? expanded[0] * expanded[1] : expanded[0];
    const Routing routing =
        RoutingOf(experts, Low(call), High(call), Drops(call) ? call["expertCapacity"].integer : 0, rows);
    const int64_t mode = call["quantMode"].integer;
    Rows all;  // of codes of Ascend 950 elsewhere
    if (mode >= -1 && mode <= 1 && !HasPowers(call))
      all = RowsOf(call, tensors, routing, k, mode, Drops(call), Low(call), experts,
                   call["expandedXOut"].dtype);
    const Numbers scale(call, tensors, "scaleOptional");
    if (mode != 1) all.scales.clear();
    for (int64_t row = 0; mode == -1 && scale.is_given() && row < rows; ++row) {
      const int64_t p = routing.entry[static_cast<size_t>(row)];
      all.scales.push_back(p >= 0        ? std::optional(scale.Bytes(p / k))
                           : Drops(call) ? std::optional(Encoded(ACL_FLOAT, 0))
                                         : std::nullopt);
    }
    std::vector<int64_t> places = routing.row;
    if (call["rowIdxType"].integer == 1) {
      // For each row its entry, as far as there are any.
      places.assign(experts.size(), -1);
      for (size_t p = 0; p < experts.size(); ++p) {
        if (routing.row[p] >= 0) places[static_cast<size_t>(routing.row[p])] = static_cast<int64_t>(p);
      }
    }
    Outcome counts = EncodedIntegers(ACL_INT64, routing.count);
    if (call["expertTokensNumType"].integer == 0) counts = EncodedIntegers(ACL_INT64, Totals(routing.count));
    if (call["expertTokensNumType"].integer == 2) {
      std::vector<int64_t> pairs;
      for (size_t e = 0; e < routing.count.size(); ++e) {
        if (routing.count[e] == 0) continue;
        pairs.push_back(Low(call) + static_cast<int64_t>(e));
        pairs.push_back(routing.count[e]);
      }
      pairs.insert(pairs.end(), {0, 0});
      pairs.resize(std::min(pairs.size(), 2 * static_cast<size_t>(call["expertNum"].integer)));
      counts = EncodedIntegers(ACL_INT64, pairs);
    }
    return std::vector<Outcome>{all.x, EncodedIntegers(ACL_INT32, places), counts, all.scales};
  };
  return op;
}

// ---- the third form's codes on Ascend 950 ----

// A row of tokens as codes and scales, in float64 but for the quotients, which are FLOAT.
struct CodedRow {
  std::vector<std::optional<uint32_t>> codes;
  Outcome scales;
};
// The power of two not below a quotient of FLOAT; 0 has none.
Power PowerNotBelow(double greatest, DtypeNumber dtype, double least) {
  greatest = std::max(greatest, least);
  if (greatest == 0) return {};
  const float quotient = static_cast<float>(greatest) / GreatestCode(dtype);
  return {true, std::max(CeilOfLog2(static_cast<double>(quotient)), -126)};
}
void AddBlock(const CodeMode& mode, const std::vector<double>& numbers, bool cuts, CodedRow& row) {
  double greatest = 0;
  bool is_finite = true;
  for (const double x : numbers) {
    is_finite = is_finite && std::isfinite(x);
    // Infinity counts in rows alone.
    if (std::isfinite(x) || (mode.block == 0 && std::isinf(x))) greatest = std::max(greatest, std::fabs(x));
  }
  if (mode.scales == ACL_FLOAT8_E8M0) {
    // Of FLOAT16 eight digits count.
    if (cuts && greatest != 0) {
      const int exponent = std::ilogb(greatest) - 7;
      greatest = std::ldexp(std::trunc(std::ldexp(greatest, -exponent)), exponent);
    }
    Power power = mode.codes == ACL_FLOAT4_E2M1 ? PowerOf(numbers, mode.codes, 0, 0, 0)
                                                : PowerNotBelow(greatest, mode.codes, mode.least);
    if (!is_finite) power = {false, 0};
    row.scales.emplace_back(Element{static_cast<std::byte>(power.code())});
    for (const double x : numbers) row.codes.emplace_back(MxCode(mode.codes, x, power));
    return;
  }
  float scale = static_cast<float>(std::max(greatest, mode.least)) / GreatestCode(mode.codes);
  if (mode.is_power && scale != 0)
    scale = std::ldexp(1.0f, PowerNotBelow(greatest, mode.codes, mode.least).exponent);
  row.scales.emplace_back(Encoded(ACL_FLOAT, static_cast<double>(scale)));
  for (const double x : numbers)
    row.codes.emplace_back(QuantisedCode(mode.codes, static_cast<float>(x) / scale));
}
CodedRow CodesOfRow(const CodeMode& mode, const Numbers& x, int64_t token, const Numbers& scale) {
  CodedRow row;
  const int64_t columns = x.shape()[1];
  std::vector<double> numbers;
  for (int64_t h = 0; h < columns; ++h) {
    const float number = static_cast<float>(x.At(token, h));
    const int64_t own = mode.mode == 13 ? h : 0;
    const float product = scale.is_given() ? number * static_cast<float>(scale[own]) : number;
    numbers.push_back(static_cast<double>(product));
  }
  if (mode.block < 0) {
    for (const double number : numbers)
      row.codes.emplace_back(CodeOfNumber(mode.codes, number, mode.mode == 7));
    return row;
  }
  const int64_t each = mode.block == 0 ? std::max<int64_t>(columns, 1) : mode.block;
  for (int64_t from = 0; from < columns; from += each)
    AddBlock(mode, {numbers.begin() + from, numbers.begin() + std::min(columns, from + each)},
             x.dtype() == ACL_FLOAT16, row);
  const int64_t all = NumElements(ScalesOf(mode, 1, columns));
  row.scales.resize(static_cast<size_t>(all), Element(static_cast<size_t>(ElementSize(mode.scales))));
  return row;
}

// As many outcomes as a row has where there is none.
void AddNothing(Outcome& outcome, int64_t many, DtypeNumber dtype, bool clears) {
  const std::optional<Element> nothing =
      clears ? std::optional(Element(static_cast<size_t>(ElementSize(dtype)))) : std::nullopt;
  outcome.insert(outcome.end(), static_cast<size_t>(many), nothing);
}

Rows CodedRowsOf(const PlanCall& call, const std::vector<TensorValues>& tensors, const Routing& routing) {
  const Numbers x(call, tensors, "x");
  const Numbers scale(call, tensors, "scaleOptional");
  const CodeMode* const mode = CodeModeOf(call);
  const int64_t columns = x.shape()[1];
  const int64_t k = call["expertIdx"].shape[1];
  const DtypeNumber of_scales = call["expandedScaleOut"].dtype;
  const int64_t of_row = mode == nullptr   ? scale.is_given() ? scale.size() / x.shape()[0] : 0
                         : mode->block < 0 ? 0
                                           : NumElements(ScalesOf(*mode, 1, columns));
  Rows rows;
  for (const int64_t p : routing.entry) {
    if (p < 0) {
      AddNothing(rows.x, columns, call["expandedXOut"].dtype, Drops(call));
      AddNothing(rows.scales, of_row, of_scales, Drops(call));
    } else if (mode == nullptr) {
      for (int64_t h = 0; h < columns; ++h) rows.x.emplace_back(x.Bytes(p / k * columns + h));
      for (int64_t i = 0; i < of_row; ++i) rows.scales.emplace_back(scale.Bytes(p / k * of_row + i));
    } else {
      const CodedRow row = CodesOfRow(*mode, x, p / k, scale);
      const Outcome codes = OutcomeOfCodes(mode->codes, row.codes);
      rows.x.insert(rows.x.end(), codes.begin(), codes.end());
      rows.scales.insert(rows.scales.end(), row.scales.begin(), row.scales.end());
    }
  }
  return rows;
}

// Draws a mode of codes, or tokens that are codes, for a call that Third() has drawn; not of 4 bits.
void DrawCodes(PlanCall& call, RandomNumbers& random) {
  const Shape tokens = call["x"].shape;
  const int64_t columns = tokens[1];
  const bool drops = Drops(call);
  Shape expanded = call["expandedXOut"].shape;
  const int64_t rows = drops ? expanded[0] * expanded[1] : expanded[0];
  call["offsetOptional"].null = true;
  if (random.Chance(15)) {
    const DtypeNumber codes = random.Chance(50) ? ACL_FLOAT8_E4M3FN : ACL_FLOAT8_E5M2;
    call["quantMode"].integer = -1;
    call["x"] = TensorArg("x", tokens, codes);
    call["expandedXOut"] = OutputArg("expandedXOut", expanded, codes);
    const Shape pairs = {tokens[0], (columns + 63) / 64, 2};
    call["scaleOptional"] = TensorArg("scaleOptional", pairs, ACL_FLOAT8_E8M0);
    call["expandedScaleOut"] =
        OutputArg("expandedScaleOut", {rows, 2 * ((columns + 63) / 64)}, ACL_FLOAT8_E8M0);
    return;
  }
  const CodeMode* mode = nullptr;
  do {
    mode = &kCodeModes[random.Below(std::ssize(kCodeModes))];
  } while (BitsOfCode(mode->codes) == 4);
  call["quantMode"].integer = mode->mode;
  call["x"] = TensorArg("x", tokens, DrawDtype(random, kRowDtypes));
  call["scaleOptional"] = TensorArg("scaleOptional", {1});
  call["scaleOptional"].null = mode->mode != 7;
  call["offsetOptional"].null = mode->mode != 7 || random.Chance(50);
  call["expandedXOut"] = OutputArg("expandedXOut", expanded, mode->codes);
  call["expandedScaleOut"] = OutputArg(
      "expandedScaleOut", mode->block < 0 ? Shape{rows} : ScalesOf(*mode, rows, columns), mode->scales);
}

// The same operator with every element compared on Ascend 950.
OperatorSpec ThirdOn950() {
  OperatorSpec op = Third(PORTACL_C_FUNCTION(aclnnMoeInitRoutingV3));
  op.numbers_on = Product::k950;
  const OperatorSpec plain = op;
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    plain.draw(call, random);
    if (random.Chance(80)) DrawCodes(call, random);
  };
  op.fill = [=](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    if (CodeModeOf(call) == nullptr && !HasPowers(call)) return plain.fill(call, tensors, random);
    SetIntegers(tensors[1], -1, call["expertNum"].integer + 1, random);
    if (CodeModeOf(call) == nullptr) return;
    SetMany(tensors[0], random);
    // Tokens of zeros, of small numbers, which least magnitudes are about, and of greatest ones that FLOAT16 has and BF16
    // does not, near 1.75, where quotients pass a power of two.
    const int64_t columns = call["x"].shape[1];
    for (int64_t i = 0; i < std::min(tensors[0].size(), 3 * columns); ++i) {
      const double small = std::ldexp(static_cast<double>(random.Between(-255, 255)), -23);
      tensors[0].Set(i, i < columns ? 0 : i >= 2 * columns && i % 16 == 0 ? 1.75 + 3.0 / 1024 : small);
    }
    if (call["quantMode"].integer == 7) tensors[2].Set(0, random.Chance(50) ? 100.5 : 3e5);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    std::vector<Outcome> outcomes = plain.oracle(call, tensors);
    if (CodeModeOf(call) == nullptr && !HasPowers(call)) return outcomes;
    const std::vector<int64_t> experts = IntegersOf(Numbers(call, tensors, "expertIdx"));
    const Shape& expanded = call["expandedXOut"].shape;
    const int64_t rows = Drops(call) ? expanded[0] * expanded[1] : expanded[0];
    const Rows coded = CodedRowsOf(
        call, tensors,
        RoutingOf(experts, Low(call), High(call), Drops(call) ? call["expertCapacity"].integer : 0, rows));
    outcomes[0] = coded.x;
    outcomes[3] = coded.scales;
    return outcomes;
  };
  return op;
}

const OperatorSpec kOperators[] = {First(),
                                   Second(PORTACL_C_FUNCTION(aclnnMoeInitRoutingV2), false),
                                   Second(PORTACL_C_FUNCTION(aclnnMoeInitRoutingQuantV2), true),
                                   Grad(),
                                   Third(PORTACL_C_FUNCTION(aclnnMoeInitRoutingV3)),
                                   Third(PORTACL_C_FUNCTION(aclnnMoeInitRoutingCustom))};
PORTACL_OPERATOR_TESTS(InitRouting, kOperators);

TEST(InitRoutingCodes, EveryElement) { CheckNumbers(ThirdOn950(), 400); }
TEST(InitRoutingCodes, AddressesSetAnew) { CheckAddressesSetAnew(ThirdOn950()); }

// Tokens of four numbers, to experts 1, 0 and 5, which is outside the range [0, 2).
class CodesOf4Bits {
 public:
  CodesOf4Bits() {
    std::vector<float> x = {0.5f, -1, 2, 6, 7, -14, 3.5f, 0, 1, 1, 1, 1};
    std::memcpy(x_.device(), x.data(), x.size() * sizeof(float));
    const std::vector<int32_t> experts = {1, 0, 5};
    std::memcpy(experts_.device(), experts.data(), experts.size() * sizeof(int32_t));
    const std::vector<uint8_t> codes = {0x21, 0x43, 0x65, 0x87, 0xA9, 0xCB};
    std::memcpy(codes_.device(), codes.data(), codes.size());
    const std::vector<uint8_t> powers = {1, 2, 3, 4, 5, 6};
    std::memcpy(powers_.device(), powers.data(), powers.size());
    std::memset(out_.device(), 0xEE, 6);
    std::memset(scales_.device(), 0xEE, 12);
  }
  aclnnStatus Plan(int64_t mode, aclDataType codes, const Shape& scales, aclDataType of_scales,
                   int64_t drops = 0) {
    const bool copies = mode == -1;
    aclTensor* const x =
        copies ? made_.Dense({3, 4}, codes, codes_.device()) : made_.Dense({3, 4}, ACL_FLOAT, x_.device());
    const int64_t range[] = {0, 2};
    aclIntArray* const experts = aclCreateIntArray(range, 2);
    const aclnnStatus status = aclnnMoeInitRoutingV3GetWorkspaceSize(
        x, made_.Dense({3, 1}, ACL_INT32, experts_.device()),
        copies ? made_.Dense({3, 1, 2}, of_scales, powers_.device()) : nullptr, nullptr, -1,
        drops == 0 ? 0 : 2, 2, drops, 1, true, mode, experts, 0,
        made_.Dense(drops == 0 ? Shape{3, 4} : Shape{2, 2, 4}, codes, out_.device()),
        made_.Dense({3}, ACL_INT32, rows_.device()), made_.Dense({2}, ACL_INT64, counts_.device()),
        made_.Dense(scales, of_scales, scales_.device()), &size_, &executor_);
    aclDestroyIntArray(experts);
    return status;
  }
  void Run() { ASSERT_EQ(RunAndWait(environment_, aclnnMoeInitRoutingV3, size_, executor_), 0); }
  std::vector<uint8_t> codes(size_t count = 6) const { return BytesOf(out_, count); }
  std::vector<uint8_t> scales(size_t count) const { return BytesOf(scales_, count); }

 private:
  static std::vector<uint8_t> BytesOf(const GuardedBuffer& buffer, size_t count) {
    std::vector<uint8_t> bytes(count);
    std::memcpy(bytes.data(), buffer.device(), count);
    return bytes;
  }
  ScopedEnvironment environment_{Variables{{"PORTACL_SOC", "Ascend950PR_9599"}}};
  Made made_;
  GuardedBuffer x_{48}, experts_{12}, codes_{6}, powers_{6}, out_{8}, scales_{16}, rows_{12}, counts_{16};
  uint64_t size_ = 0;
  aclOpExecutor* executor_ = nullptr;
};

TEST(InitRoutingOn950, Float4) {
  CodesOf4Bits tokens;
  // Of 14 the power is 2, of 6 it is 1; the second token comes first. The row behind them stays.
  ASSERT_EQ(tokens.Plan(9, ACL_FLOAT4_E2M1, {3, 1, 2}, ACL_FLOAT8_E8M0), 0) << TakeErrorMessage();
  tokens.Run();
  // 7 / 2 = 3.5 lies between 3 and 4, -14 / 2 is beyond 6, 3.5 / 2 = 1.75 lies between 1.5 and 2.
  EXPECT_EQ(tokens.codes(), (std::vector<uint8_t>{0xF6, 0x04, 0xA1, 0x74, 0xEE, 0xEE}));
  EXPECT_EQ(tokens.scales(6), (std::vector<uint8_t>{128, 0, 127, 0, 0xEE, 0xEE}));
}
TEST(InitRoutingOn950, DroppedFloat4) {
  CodesOf4Bits tokens;
  ASSERT_EQ(tokens.Plan(9, ACL_FLOAT4_E2M1, {4, 1, 2}, ACL_FLOAT8_E8M0, 1), 0) << TakeErrorMessage();
  tokens.Run();
  // Two places for each expert, of which the second ones are free.
  EXPECT_EQ(tokens.codes(8), (std::vector<uint8_t>{0xF6, 0x04, 0, 0, 0xA1, 0x74, 0, 0}));
  EXPECT_EQ(tokens.scales(8), (std::vector<uint8_t>{128, 0, 0, 0, 127, 0, 0, 0}));
}
// Without tokens all places are free: codes, counts and powers of two are 0.
TEST(InitRoutingOn950, DroppedWithoutTokens) {
  struct Mode {
    int64_t mode;
    aclDataType codes;
  };
  for (const Mode& mode : {Mode{2, ACL_FLOAT8_E5M2}, Mode{3, ACL_FLOAT8_E4M3FN}, Mode{16, ACL_FLOAT8_E5M2},
                           Mode{9, ACL_FLOAT4_E2M1}}) {
    for (const char* const threads : {"1", "3"}) {
      const ScopedEnvironment environment(
          Variables{{"PORTACL_SOC", "Ascend950PR_9599"}, {"PORTACL_NUM_THREADS", threads}});
      constexpr int64_t kExperts = 3, kPlaces = 2, kWidth = 70;
      const auto bytes = static_cast<size_t>(kExperts * kPlaces * kWidth) / (mode.mode == 9 ? 2 : 1);
      GuardedBuffer none(0), out(bytes), counts(kExperts * 8), scales(kExperts * kPlaces * 4);
      for (GuardedBuffer* const buffer : {&out, &counts, &scales})
        std::memset(buffer->data(), 0xEE, buffer->size());
      Made made;
      const int64_t all[] = {0, kExperts};
      aclIntArray* const range = aclCreateIntArray(all, 2);
      uint64_t size = 0;
      aclOpExecutor* executor = nullptr;
      ASSERT_EQ(
          aclnnMoeInitRoutingV3GetWorkspaceSize(
              made.Dense({0, kWidth}, ACL_BF16, none.device()), made.Dense({0, 2}, ACL_INT32, none.device()),
              nullptr, nullptr, -1, kPlaces, kExperts, 1, 1, true, mode.mode, range, 0,
              made.Dense({kExperts, kPlaces, kWidth}, mode.codes, out.device()),
              made.Dense({0}, ACL_INT32, none.device()), made.Dense({kExperts}, ACL_INT64, counts.device()),
              made.Dense({kExperts * kPlaces, 2, 2}, ACL_FLOAT8_E8M0, scales.device()), &size, &executor),
          0)
          << TakeErrorMessage();
      aclDestroyIntArray(range);
      ASSERT_EQ(RunAndWait(environment, aclnnMoeInitRoutingV3, size, executor), 0);
      for (GuardedBuffer* const buffer : {&out, &counts, &scales}) {
        for (size_t i = 0; i < buffer->size(); ++i)
          ASSERT_EQ(buffer->data()[i], std::byte{0})
              << mode.mode << ", byte " << i << " of " << buffer->size();
      }
    }
  }
}
TEST(InitRoutingOn950, Int4) {
  CodesOf4Bits tokens;
  ASSERT_EQ(tokens.Plan(13, ACL_INT4, {3}, ACL_FLOAT), 0) << TakeErrorMessage();
  tokens.Run();
  // 14 / 7 = 2: 3.5 becomes 4, -7, 1.75 becomes 2, 0. 6 / 7: 0.58 becomes 1, -1.17, 2.33, 7.
  EXPECT_EQ(tokens.codes(), (std::vector<uint8_t>{0x94, 0x02, 0xF1, 0x72, 0xEE, 0xEE}));
  float steps[2];
  std::memcpy(steps, tokens.scales(8).data(), sizeof steps);
  EXPECT_EQ(steps[0], 2.0f);
  EXPECT_EQ(steps[1], 6.0f / 7.0f);
  EXPECT_EQ(tokens.Plan(13, ACL_INT4, {4}, ACL_FLOAT, 1), 561002);
  ExpectMessage("0 with quantMode 13");
}
TEST(InitRoutingOn950, CopiesFloat4) {
  CodesOf4Bits tokens;
  ASSERT_EQ(tokens.Plan(-1, ACL_FLOAT4_E2M1, {3, 2}, ACL_FLOAT8_E8M0), 0) << TakeErrorMessage();
  tokens.Run();
  EXPECT_EQ(tokens.codes(), (std::vector<uint8_t>{0x65, 0x87, 0x21, 0x43, 0xEE, 0xEE}));
  EXPECT_EQ(tokens.scales(6), (std::vector<uint8_t>{3, 4, 1, 2, 0xEE, 0xEE}));
}
TEST(InitRoutingOn950, ModesThatAreNone) {
  CodesOf4Bits tokens;
  EXPECT_EQ(tokens.Plan(10, ACL_FLOAT8_E5M2, {3}, ACL_FLOAT), 561002);
  ExpectMessage("-1, 0 or 1, on Ascend 950 also 2 to 9 and 11 to 17");
}

// ---- experts that are none ----

TEST(InitRoutingBad, AnExpertThatIsNoneFailsTheStreamOnceAndHasNoRow) {
  std::vector<float> x = {1, 2, 3, 4, 5, 6};
  std::vector<int32_t> experts = {1, 9, 0};
  std::vector<float> rows(6);
  std::vector<int32_t> places(3);
  std::vector<int32_t> counts(2);
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "3"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  const auto dense = [](const Shape& shape, aclDataType dtype, void* data) {
    return aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                           shape.size(), data);
  };
  aclTensor* const tensors[] = {dense({3, 2}, ACL_FLOAT, x.data()), dense({3, 1}, ACL_INT32, experts.data()),
                                dense({3, 2}, ACL_FLOAT, rows.data()), dense({3}, ACL_INT32, places.data()),
                                dense({2}, ACL_INT32, counts.data())};
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnMoeInitRoutingV2GetWorkspaceSize(tensors[0], tensors[1], 0, 0, 2, 0, 2, false, tensors[2],
                                                  tensors[3], tensors[4], nullptr, &size, &executor),
            0)
      << TakeErrorMessage();
  const GuardedBuffer workspace(size);
  ASSERT_EQ(aclnnMoeInitRoutingV2(workspace.device(), size, executor, environment.stream()), 0);
  EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), 507015);
  const std::string message = TakeErrorMessage();
  EXPECT_NE(message.find("aclnnMoeInitRoutingV2: expertIdx has the value 9 at element 1, accepted: 0 to 1."),
            std::string::npos)
      << message;
  EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
  EXPECT_EQ(rows, (std::vector<float>{5, 6, 1, 2, 0, 0}));
  EXPECT_EQ(places, (std::vector<int32_t>{1, -1, 0}));
  EXPECT_EQ(counts, (std::vector<int32_t>{1, 1}));
  for (aclTensor* const tensor : tensors) aclDestroyTensor(tensor);
}

struct QuantCall {
  std::vector<float> x = {1, 2, 3, 4, 5, 6};
  std::vector<int32_t> experts = {1, 9, 0};
  std::vector<float> scales = {1, 2, 3, 4};
  std::vector<int8_t> rows = std::vector<int8_t>(6, 9);
  std::vector<int32_t> places = std::vector<int32_t>(3, 9);
  std::vector<float> row_scales = std::vector<float>(3, 9);
  Made tensors;
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;

  aclnnStatus Plan(int64_t expert_num) {
    return aclnnMoeInitRoutingQuantV2GetWorkspaceSize(
        tensors.Dense({3, 2}, ACL_FLOAT, x.data()), tensors.Dense({3, 1}, ACL_INT32, experts.data()),
        tensors.Dense({expert_num, 2}, ACL_FLOAT, scales.data()), nullptr, 0, 0, expert_num, 0, 0, false, 1,
        tensors.Dense({3, 2}, ACL_INT8, rows.data()), tensors.Dense({3}, ACL_INT32, places.data()), nullptr,
        nullptr, tensors.Dense({3}, ACL_FLOAT, row_scales.data()), &size, &executor);
  }
};

TEST(InitRoutingBad, ScalesOfNoExpertAreRefused) {
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "3"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  QuantCall call;
  EXPECT_EQ(call.Plan(0), 561002);
  ExpectMessage("scaleOptional");
}

TEST(InitRoutingBad, AnExpertThatIsNoneHasNoScaleOfAnother) {
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "3"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  QuantCall call;
  ASSERT_EQ(call.Plan(2), 0) << TakeErrorMessage();
  EXPECT_EQ(RunAndWait(environment, aclnnMoeInitRoutingQuantV2, call.size, call.executor), 507015);
  ExpectMessage("aclnnMoeInitRoutingQuantV2: expertIdx has the value 9 at element 1, accepted: 0 to 1.");
  EXPECT_EQ(call.rows, (std::vector<int8_t>{53, 127, 48, 127, 0, 0}));
  EXPECT_EQ(call.places, (std::vector<int32_t>{1, -1, 0}));
  EXPECT_EQ(call.row_scales, (std::vector<float>{12.0f / 127.0f, 8.0f / 127.0f, 0}));
}

TEST(InitRoutingBad, CountsFartherApartThanThereAreAddressesAreRefused) {
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "3"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  std::vector<float> numbers(6);
  std::vector<int32_t> experts(3);
  for (const bool drops : {false, true}) {
    Made tensors;
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    aclTensor* const counts = tensors.FarApart({3}, ACL_INT32, experts.data());
    EXPECT_EQ(aclnnMoeInitRoutingV2GetWorkspaceSize(
                  tensors.Dense({3, 2}, ACL_FLOAT, numbers.data()),
                  tensors.Dense({3, 1}, ACL_INT32, experts.data()), 0, 1, 3, drops, 2, true,
                  tensors.Dense(drops ? Shape{3, 1, 2} : Shape{3, 2}, ACL_FLOAT, numbers.data()),
                  tensors.Dense({3}, ACL_INT32, experts.data()), counts, counts, &size, &executor),
              161002);
    ExpectMessage(drops ? "BeforeCapacityOutOptional" : "CountOrCumsumOutOptional");
  }
}

}  // namespace
}  // namespace portacl::testing
