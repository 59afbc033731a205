// What moves through pages: rows gathered from caches, rows quantised to places, requests that go on. Slots and pages below 0, beyond the cache
// and more than once are among them.
// SPDX-License-Identifier: Apache-2.0
#include "../moe/moe_calls.h"
#include "../quantisation/codes_by_definition.h"

#include "aclnnop/families/serving.h"

namespace portacl::testing {
namespace {

constexpr aclnnStatus kTiling = 561002;

bool IsSinceA2(const PlanCall& call) { return IsOn950(call) || IsOnA2OrA3(call); }
bool IsFloat8(DtypeNumber dtype) {
  return dtype == ACL_HIFLOAT8 || dtype == ACL_FLOAT8_E5M2 || dtype == ACL_FLOAT8_E4M3FN;
}
bool IsText(const PlanCall& call, const std::string& name, const std::string& text) {
  return !call[name].null && call[name].text == text;
}
int64_t GroupOf(const PlanCall& call, const std::string& name) { return 32 / ElementSize(call[name].dtype); }
void SetAt(HostTensor& tensor, int64_t i, int64_t value) {
  EncodeIntegerElement(tensor.dtype(), value, tensor.Element(i));
}

// ---- GatherPaKvCache ----

const DtypeList kGathered = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16,  ACL_INT8,  ACL_UINT8,
                             ACL_INT16, ACL_UINT16,  ACL_INT32, ACL_UINT32};

Outcome Gathered(const PlanCall& call, const Numbers& cache, const Numbers& table, const Numbers& lengths,
                 const Numbers& skipped, const Shape& to, DtypeNumber dtype) {
  const bool is_grouped = IsText(call, "cacheMode", "PA_NZ");
  const bool is_summed = call["isSeqLensCumsum"].integer != 0;
  const int64_t slots = cache.shape()[is_grouped ? 2 : 1];
  const int64_t columns = NumElements(to) / to[0];
  Outcome out(static_cast<size_t>(NumElements(to)));
  int64_t row = 0;
  for (int64_t b = 0; b < table.shape()[0]; ++b) {
    const int64_t count = is_summed ? lengths.Integer(b + 1) - lengths.Integer(b) : lengths.Integer(b);
    for (int64_t j = 0; j < count && row < to[0]; ++j, ++row) {
      const int64_t column = (skipped.is_given() ? skipped.Integer(b) / slots : 0) + j / slots;
      const int64_t page =
          column < table.shape()[1] ? table.Integer(b * table.shape()[1] + column) : int64_t{-1};
      for (int64_t i = 0; i < columns; ++i) {
        int64_t from = (page * slots + j % slots) * columns + i;
        if (is_grouped) {
          const int64_t group = cache.shape()[3];
          from = ((page * (columns / group) + i / group) * slots + j % slots) * group + i % group;
        }
        const bool is_there = page >= 0 && page < cache.shape()[0];
        out[static_cast<size_t>(row * columns + i)] = is_there ? cache.Bytes(from) : Encoded(dtype, 0);
      }
    }
  }
  return out;
}

OperatorSpec Gather() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnGatherPaKvCache);
  op.valid = {TensorArg("keyCache", {3, 4, 2, 16}, ACL_FLOAT16),
              TensorArg("valueCache", {3, 4, 2, 8}, ACL_FLOAT16),
              DistinctArg("blockTables", {2, 3}, ACL_INT32),
              DistinctArg("seqLens", {2}, ACL_INT32),
              OutputArg("keyRef", {7, 2, 16}, ACL_FLOAT16),
              OutputArg("valueRef", {7, 2, 8}, ACL_FLOAT16),
              DistinctArg("seqOffsetOptional", {2}, ACL_INT32),
              TextArg("cacheMode", "Norm"),
              IntegerArg("isSeqLensCumsum", 0)};
  op.takes_workspace = true;
  op.updates = true;
  const auto takes = [](const PlanCall& call, DtypeNumber dtype) {
    const bool is_new = dtype == ACL_HIFLOAT8 || dtype == ACL_FLOAT8_E5M2 || dtype == ACL_FLOAT8_E4M3FN;
    return (IsSinceA2(call) && std::count(kGathered.begin(), kGathered.end(), dtype) > 0) ||
           (IsOn950(call) && is_new);
  };
  op.rules = {NoNulls("keyCache valueCache blockTables seqLens keyRef valueRef"),
              RefusedDtype("keyCache", takes),
              RefusedDtype("valueCache", takes),
              DtypeIn("blockTables", kEitherIndex),
              SameDtype("blockTables", "seqLens"),
              Given("seqOffsetOptional", SameDtype("blockTables", "seqOffsetOptional")),
              SameDtype("keyCache", "keyRef"),
              SameDtype("valueCache", "valueRef"),
              Ranks("keyCache valueCache", 4, 4),
              Ranks("blockTables", 2, 2),
              Ranks("seqLens", 1, 1),
              Ranks("keyRef valueRef", 2, 3),
              SucceedsIf([](PlanCall& call) {
                const auto empty = [&](const char* name) { return NumElements(call[name].shape) == 0; };
                return empty("blockTables") || empty("seqLens") ||
                       ((empty("keyCache") || empty("keyRef")) && (empty("valueCache") || empty("valueRef")));
              }),
              Refuses(kTiling, "", [](PlanCall& call) {
                const bool is_grouped = IsText(call, "cacheMode", "PA_NZ");
                if (!call["cacheMode"].null && !is_grouped && call["cacheMode"].text != "Norm") return true;
                const int64_t batches = call["blockTables"].shape[0];
                if (call["seqLens"].shape != Shape{batches + (call["isSeqLensCumsum"].integer != 0 ? 1 : 0)})
                  return true;
                if (!call["seqOffsetOptional"].null && call["seqOffsetOptional"].shape != Shape{batches})
                  return true;
                int there = 0;
                for (const char* half : {"key", "value"}) {
                  const Shape& cache = call[std::string(half) + "Cache"].shape;
                  const Shape& rows = call[std::string(half) + "Ref"].shape;
                  if (NumElements(cache) == 0 || NumElements(rows) == 0) continue;
                  ++there;
                  const int64_t columns = is_grouped ? cache[1] * cache[3] : cache[2] * cache[3];
                  if (is_grouped && cache[3] != GroupOf(call, std::string(half) + "Cache")) return true;
                  if (NumElements(rows) / rows[0] != columns) return true;
                }
                const Shape& keys = call["keyCache"].shape;
                const Shape& values = call["valueCache"].shape;
                const size_t slots = is_grouped ? 2 : 1;
                return there == 2 && (call["keyRef"].shape[0] != call["valueRef"].shape[0] ||
                                      keys[0] != values[0] || keys[slots] != values[slots]);
              })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const bool is_grouped = random.Chance(50);
    const bool is_summed = random.Chance(50);
    const DtypeNumber index = random.Chance(50) ? ACL_INT32 : ACL_INT64;
    const int64_t blocks = random.Between(1, 4);
    const int64_t slots = random.Between(1, 5);
    const int64_t batches = random.Between(1, 4);
    const int64_t rows = random.Between(1, 20);
    call["cacheMode"].text = is_grouped ? "PA_NZ" : "Norm";
    call["isSeqLensCumsum"].integer = is_summed ? 1 : 0;
    for (const std::string half : {"key", "value"}) {
      PlanArgument& cache = call[half + "Cache"];
      PlanArgument& to = call[half + "Ref"];
      cache.dtype = to.dtype = DrawDtype(random, kGathered);
      const int64_t heads = random.Between(1, 3);
      const int64_t length = is_grouped ? GroupOf(call, half + "Cache") * random.Between(1, 3)
                                        : random.Between(1, random.Chance(20) ? 900 : 9);
      cache.shape = {blocks, slots, heads, length};
      if (is_grouped)
        cache.shape = {blocks, heads * length / GroupOf(call, half + "Cache"), slots,
                       GroupOf(call, half + "Cache")};
      to.shape = random.Chance(50) ? Shape{rows, heads, length} : Shape{rows, heads * length};
    }
    call["blockTables"].shape = {batches, random.Between(1, 4)};
    call["seqLens"].shape = {batches + (is_summed ? 1 : 0)};
    call["seqOffsetOptional"].shape = {batches};
    call["seqOffsetOptional"].null = random.Chance(50);
    for (const char* name : {"blockTables", "seqLens", "seqOffsetOptional"}) call[name].dtype = index;
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    const int64_t slots = call["keyCache"].shape[IsText(call, "cacheMode", "PA_NZ") ? 2 : 1];
    SetIntegers(tensors[2], -1, call["keyCache"].shape[0] + 1, random);
    int64_t sum = 0;
    for (int64_t i = 0; i < tensors[3].size(); ++i) {
      const int64_t length = random.Between(-1, 3 * slots);
      SetAt(tensors[3], i, call["isSeqLensCumsum"].integer != 0 ? sum : length);
      sum += std::max<int64_t>(length, 0);
    }
    if (!call["seqOffsetOptional"].null) SetIntegers(tensors[6], 0, 3 * slots, random);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers table(call, tensors, "blockTables");
    const Numbers lengths(call, tensors, "seqLens");
    const Numbers skipped(call, tensors, "seqOffsetOptional");
    std::vector<Outcome> all;
    for (const std::string half : {"key", "value"}) {
      const PlanArgument& to = call[half + "Ref"];
      all.push_back(Gathered(call, Numbers(call, tensors, half + "Cache"), table, lengths, skipped, to.shape,
                             to.dtype));
    }
    return all;
  };
  return op;
}

// ---- InplaceQuantScatter ----

// Values of which quotients by powers of two are exact, ties among them.
void SetExact(HostTensor& tensor, RandomNumbers& random, int64_t most) {
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.Set(i, static_cast<double>(random.Between(-most, most)) / 4);
}
int64_t Int8Of(double x) {
  if (std::isnan(x)) return 0;
  const double rounded = std::nearbyint(x);
  return static_cast<int64_t>(std::min(127.0, std::max(-128.0, rounded)));
}

OperatorSpec QuantScatter(const CFunction& function, bool has_mode) {
  OperatorSpec op;
  op.function = function;
  op.valid = {OutputArg("selfRef", {3, 5, 4}, ACL_INT8),
              DistinctArg("indices", {2}, ACL_INT32),
              TensorArg("updates", {2, 2, 4}, ACL_FLOAT16),
              TensorArg("quantScales", {4}),
              TensorArg("quantZeroPoints", {4}, ACL_INT32),
              IntegerArg("axis", -2),
              IntegerArg("quantAxis", -1),
              IntegerArg("reduction", 1)};
  if (has_mode) op.valid.push_back(TextArg("roundMode", "rint"));
  op.takes_workspace = true;
  op.updates = true;
  if (has_mode) op.numbers_on = Product::k950;
  op.rules = {NoNulls("selfRef indices updates quantScales"),
              RefusedDtype("selfRef",
                           [=](const PlanCall& call, DtypeNumber dtype) {
                             if (!has_mode) return IsSinceA2(call) && dtype == ACL_INT8;
                             return IsOn950(call) && (dtype == ACL_INT8 || IsFloat8(dtype));
                           }),
              DtypeIn("indices", kEitherIndex),
              DtypeIn("updates", {{ACL_FLOAT16, ACL_BF16}}),
              RefusedDtype("quantScales",
                           [](const PlanCall& call, DtypeNumber dtype) {
                             return dtype == (call["updates"].dtype == ACL_BF16 ? ACL_BF16 : ACL_FLOAT);
                           }),
              Given("quantZeroPoints",
                    RefusedDtype("quantZeroPoints",
                                 [](const PlanCall& call, DtypeNumber dtype) {
                                   return dtype == (call["updates"].dtype == ACL_BF16 ? ACL_BF16 : ACL_INT32);
                                 })),
              Refuses(161002, "updates", [](PlanCall& call) {
                return call["updates"].shape.size() != call["selfRef"].shape.size();
              })};
  if (has_mode)
    op.rules.push_back(Refuses(161002, "roundMode", [](PlanCall& call) {
      const std::string& mode = call["roundMode"].text;
      if (call["roundMode"].null) return false;
      return call["selfRef"].dtype == ACL_HIFLOAT8 ? mode != "round" && mode != "hybrid" : mode != "rint";
    }));
  op.rules.push_back(DoneIfEmpty("selfRef indices updates quantScales"));
  op.rules.push_back(Refuses(kTiling, "", [](PlanCall& call) {
    const Shape& self = call["selfRef"].shape;
    const Shape& updates = call["updates"].shape;
    const Shape& indices = call["indices"].shape;
    const auto rank = std::ssize(self);
    int64_t axis = call["axis"].integer;
    if (rank < 3 || rank > 8 || indices.empty() || indices.size() > 2 || call["reduction"].integer != 1)
      return true;
    if (axis < 0) axis += rank;
    if (axis <= 0 || axis >= rank - 1) return true;
    if (call["quantAxis"].integer != -1 && call["quantAxis"].integer != rank - 1) return true;
    for (int64_t dim = 1; dim < rank; ++dim) {
      if (dim != axis && updates[static_cast<size_t>(dim)] != self[static_cast<size_t>(dim)]) return true;
    }
    if (indices[0] != updates[0] || (indices.size() == 2 && indices[1] != 2)) return true;
    if (indices.size() == 1 && updates[0] > self[0]) return true;
    for (const char* name : {"quantScales", "quantZeroPoints"}) {
      if (call[name].null) continue;
      const int64_t count = NumElements(call[name].shape);
      if (count != 1 && count != self.back()) return true;
    }
    return false;
  }));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    if (has_mode && random.Chance(60)) {
      const DtypeNumber dtype = DrawDtype(random, {ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN});
      call["selfRef"].dtype = dtype;
      call["roundMode"].text = dtype != ACL_HIFLOAT8 ? "rint" : random.Chance(50) ? "round" : "hybrid";
    }
    const auto rank = static_cast<size_t>(random.Between(3, 5));
    const auto axis = static_cast<size_t>(random.Between(1, static_cast<int64_t>(rank) - 2));
    Shape self;
    for (size_t dim = 0; dim < rank; ++dim) self.push_back(random.Between(1, 4));
    self.back() = DrawColumns(random) % 40 + 1;
    Shape updates = self;
    updates[axis] = random.Between(1, 3);
    const bool names_batch = random.Chance(50);
    updates[0] = names_batch ? random.Between(1, 5) : random.Between(1, self[0]);
    const bool is_bf16 = random.Chance(50);
    call["selfRef"].shape = self;
    call["updates"].shape = updates;
    call["updates"].dtype = is_bf16 ? ACL_BF16 : ACL_FLOAT16;
    call["indices"].dtype = random.Chance(50) ? ACL_INT32 : ACL_INT64;
    call["indices"].shape = names_batch ? Shape{updates[0], 2} : Shape{updates[0]};
    call["quantScales"].dtype = is_bf16 ? ACL_BF16 : ACL_FLOAT;
    call["quantZeroPoints"].dtype = is_bf16 ? ACL_BF16 : ACL_INT32;
    for (const char* name : {"quantScales", "quantZeroPoints"})
      call[name].shape = random.Chance(30) ? Shape{1} : Shape{self.back()};
    call["quantZeroPoints"].null = random.Chance(40);
    call["axis"].integer = static_cast<int64_t>(axis) - (random.Chance(50) ? static_cast<int64_t>(rank) : 0);
    call["quantAxis"].integer = random.Chance(50) ? -1 : static_cast<int64_t>(rank) - 1;
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetIntegers(tensors[1], -1, 5, random);
    SetExact(tensors[2], random, 300);
    for (int64_t i = 0; i < tensors[3].size(); ++i)
      tensors[3].Set(i, random.Chance(10) ? -0.25 : std::ldexp(1.0, static_cast<int>(random.Between(-2, 2))));
    if (!call["quantZeroPoints"].null) {
      if (tensors[4].dtype() == ACL_BF16) {
        for (int64_t i = 0; i < tensors[4].size(); ++i)
          tensors[4].Set(i, static_cast<double>(random.Between(-9, 9)));
      } else {
        SetIntegers(tensors[4], -9, 10, random);
      }
    }
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers indices(call, tensors, "indices");
    const Numbers updates(call, tensors, "updates");
    const Numbers scales(call, tensors, "quantScales");
    const Numbers zero(call, tensors, "quantZeroPoints");
    const Shape& self = call["selfRef"].shape;
    const auto axis = static_cast<size_t>(call["axis"].integer < 0 ? call["axis"].integer + std::ssize(self)
                                                                   : call["axis"].integer);
    Outcome out(static_cast<size_t>(NumElements(self)));
    for (int64_t i = 0; i < updates.size(); ++i) {
      std::vector<int64_t> at = IndexAt(updates.shape(), i);
      const int64_t batch = at[0];
      const int64_t column = at.back();
      const bool names_batch = indices.shape().size() == 2;
      if (names_batch) at[0] = indices.Integer(2 * batch);
      at[axis] += names_batch ? indices.Integer(2 * batch + 1) : indices.Integer(batch);
      if (at[0] < 0 || at[0] >= self[0] || at[axis] < 0 || at[axis] >= self[axis]) continue;
      const double scaled = updates[i] / scales[scales.size() == 1 ? 0 : column];
      const int64_t z = zero.size() == 1 ? 0 : column;
      const double offset = !zero.is_given()           ? 0
                            : zero.dtype() == ACL_BF16 ? zero[z]
                                                       : static_cast<double>(zero.Integer(z));
      const DtypeNumber dtype = call["selfRef"].dtype;
      out[static_cast<size_t>(PositionOf(self, at))] =
          dtype == ACL_INT8 ? Encoded(ACL_INT8, static_cast<double>(Int8Of(scaled + offset)))
                            : Element{static_cast<std::byte>(CodeOfNumber(dtype, scaled + offset, true))};
    }
    return std::vector<Outcome>{out};
  };
  return op;
}

// aclnnInplaceQuantScatterV2, whose text is constant.
aclnnStatus QuantScatterV2GetWorkspaceSize(aclTensor* self, const aclTensor* indices,
                                           const aclTensor* updates, const aclTensor* scales,
                                           const aclTensor* zero, int64_t axis, int64_t quant_axis,
                                           int64_t reduction, char* mode, uint64_t* size,
                                           aclOpExecutor** executor) {
  return aclnnInplaceQuantScatterV2GetWorkspaceSize(self, indices, updates, scales, zero, axis, quant_axis,
                                                    reduction, mode, size, executor);
}
aclnnStatus QuantScatterV2(void* workspace, uint64_t size, aclOpExecutor* executor, aclrtStream stream) {
  return aclnnInplaceQuantScatterV2(workspace, size, executor, stream);
}
CFunction QuantScatterV2Function() {
  CFunction function = PORTACL_C_FUNCTION(QuantScatterV2);
  function.name = "aclnnInplaceQuantScatterV2";
  return function;
}

// ---- AdvanceStep ----

OperatorSpec Advance(const CFunction& function, bool is_v2) {
  OperatorSpec op;
  op.function = function;
  op.valid = {OutputArg("inputTokens", {4}, ACL_INT64),    TensorArg("sampledTokenIds", {3, 1}, ACL_INT64),
              OutputArg("inputPositions", {4}, ACL_INT64), OutputArg("seqLens", {4}, ACL_INT64),
              OutputArg("slotMapping", {4}, ACL_INT64),    DistinctArg("blockTables", {4, 3}, ACL_INT64)};
  op.valid[1].is_distinct = true;
  if (is_v2) {
    op.valid.push_back(DistinctArg("specToken", {3, 2}, ACL_INT64));
    op.valid.push_back(DistinctArg("acceptedNum", {3}, ACL_INT64));
    op.valid[6].null = op.valid[7].null = true;
  }
  for (const auto& [name, value] : {std::pair{"numSeqs", 4}, {"numQueries", 3}, {"blockSize", 5}})
    op.valid.push_back(IntegerArg(name, value));
  op.takes_workspace = true;
  op.updates = true;
  const auto takes = [](const PlanCall& call, DtypeNumber dtype) {
    return IsSinceA2(call) && dtype == ACL_INT64;
  };
  op.rules = {NoNulls("inputTokens sampledTokenIds inputPositions seqLens slotMapping blockTables")};
  for (const char* name :
       {"inputTokens", "sampledTokenIds", "inputPositions", "seqLens", "slotMapping", "blockTables"})
    op.rules.push_back(RefusedDtype(name, takes));
  if (is_v2) {
    op.rules.push_back(Given("specToken", RefusedDtype("specToken", takes)));
    op.rules.push_back(Given("acceptedNum", RefusedDtype("acceptedNum", takes)));
  }
  op.rules.push_back(Refuses(kTiling, "", [=](PlanCall& call) {
    const bool proposes = is_v2 && !call["specToken"].null;
    const int64_t sequences = call["numSeqs"].integer;
    const int64_t queries = call["numQueries"].integer;
    constexpr int64_t kMost = int64_t{1} << 31;
    if (sequences < 1 || sequences > kMost || queries < 1 || call["blockSize"].integer < 1 ||
        call["blockSize"].integer > kMost)
      return true;
    if (proposes ? queries != sequences : queries >= sequences) return true;
    if (is_v2 && call["acceptedNum"].null == proposes) return true;
    int64_t each = 1;
    if (proposes) {
      if (call["specToken"].shape.size() != 2 || call["specToken"].shape[0] != queries) return true;
      each += call["specToken"].shape[1];
      if (call["acceptedNum"].shape != Shape{queries}) return true;
    }
    if (call["sampledTokenIds"].shape != Shape{queries, each}) return true;
    for (const char* name : {"inputTokens", "inputPositions", "seqLens", "slotMapping"}) {
      const Shape& shape = call[name].shape;
      if (shape.empty() || shape.size() > 2 || NumElements(shape) != sequences * each) return true;
    }
    const Shape& table = call["blockTables"].shape;
    return table.size() != 2 || table[0] < queries;
  }));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const bool proposes = is_v2 && random.Chance(60);
    const int64_t queries = random.Between(1, 5);
    const int64_t sequences = proposes ? queries : queries + random.Between(1, 3);
    const int64_t each = proposes ? random.Between(1, 4) : 1;
    if (is_v2) {
      call["specToken"].null = call["acceptedNum"].null = !proposes;
      call["specToken"].shape = {queries, each - 1};
      call["acceptedNum"].shape = {queries};
    }
    call["sampledTokenIds"].shape = {queries, each};
    for (const char* name : {"inputTokens", "inputPositions", "seqLens", "slotMapping"})
      call[name].shape = random.Chance(30) ? Shape{sequences, each} : Shape{sequences * each};
    call["blockTables"].shape = {sequences, random.Between(1, 4)};
    call["numSeqs"].integer = sequences;
    call["numQueries"].integer = queries;
    call["blockSize"].integer = random.Between(1, 6);
  };
  op.fill = [=](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (i >= 6 && call["specToken"].null) continue;
      SetIntegers(tensors[i], i == 1 ? -1 : i == 7 ? 0 : -2, i == 1 ? 9 : 20, random);
    }
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers sampled(call, tensors, "sampledTokenIds");
    const Numbers table(call, tensors, "blockTables");
    const auto before = [&](const char* name) { return IntegersOf(Numbers(call, tensors, name)); };
    std::vector<int64_t> tokens = before("inputTokens");
    std::vector<int64_t> positions = before("inputPositions");
    std::vector<int64_t> lengths = before("seqLens");
    std::vector<int64_t> slots = before("slotMapping");
    const int64_t size = call["blockSize"].integer;
    const int64_t columns = table.shape()[1];
    if (!is_v2 || call["specToken"].null) {
      for (size_t i = 0; i < tokens.size(); ++i) {
        const auto row = static_cast<int64_t>(i);
        if (row >= call["numQueries"].integer) {
          tokens[i] = positions[i] = 0;
          slots[i] = -1;
          continue;
        }
        tokens[i] = sampled.Integer(row);
        positions[i] = lengths[i]++;
        const int64_t p = positions[i];
        slots[i] = p < 0 || p / size >= table.size()
                       ? -1
                       : (table.Integer(p / size) + columns * row) * size + p % size;
      }
    } else {
      const Numbers proposed(call, tensors, "specToken");
      const Numbers accepted(call, tensors, "acceptedNum");
      const int64_t each = sampled.shape()[1];
      for (int64_t r = 0; r < call["numQueries"].integer; ++r) {
        std::vector<int64_t> row;
        for (int64_t i = 0; i < each; ++i) row.push_back(sampled.Integer(r * each + i));
        row.push_back(-1);
        const int64_t lowest = std::min_element(row.begin(), row.end()) - row.begin();
        for (int64_t i = 0; i < each; ++i) {
          const auto at = static_cast<size_t>(r * each + i);
          tokens[at] = i == 0 ? row[static_cast<size_t>(std::max<int64_t>(lowest - 1, 0))]
                              : proposed.Integer(r * (each - 1) + i - 1);
          const int64_t p = positions[at] += accepted.Integer(r) + 1;
          lengths[at] = p + 1;
          slots[at] =
              p < 0 || p / size >= columns ? -1 : table.Integer(r * columns + p / size) * size + p % size;
        }
      }
    }
    return std::vector<Outcome>{EncodedIntegers(ACL_INT64, tokens), EncodedIntegers(ACL_INT64, positions),
                                EncodedIntegers(ACL_INT64, lengths), EncodedIntegers(ACL_INT64, slots)};
  };
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {
      Gather(), QuantScatter(PORTACL_C_FUNCTION(aclnnInplaceQuantScatter), false),
      QuantScatter(QuantScatterV2Function(), true), Advance(PORTACL_C_FUNCTION(aclnnAdvanceStep), false),
      Advance(PORTACL_C_FUNCTION(aclnnAdvanceStepV2), true)};
  return all;
}

PORTACL_OPERATOR_TESTS(Pages, Operators());

}  // namespace
}  // namespace portacl::testing
