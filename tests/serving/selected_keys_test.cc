// Keys that score highest, and attention to the blocks of keys that were chosen.
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

#include "../moe/moe_calls.h"

#include "aclnnop/families/serving.h"

namespace portacl::testing {
namespace {

constexpr aclnnStatus kTiling = 561002;
constexpr int64_t kDepth = 512;
constexpr int64_t kRope = 64;
const DtypeList kHalves = {ACL_FLOAT16, ACL_BF16};

bool IsSinceA2(const PlanCall& call) { return IsOn950(call) || IsOnA2OrA3(call); }

// ---- sequences ----

std::string TextOf(const PlanCall& call, const std::string& name) {
  return call[name].null ? "BSND" : call[name].text;
}
bool IsPacked(const PlanCall& call) { return TextOf(call, "layoutQuery") == "TND"; }

// What the two kinds of operators call the same.
struct Names {
  std::string layout, lengths;
};
const Names kOfIndexer = {"layoutKey", "actualSeqLengthsKeyOptional"};
const Names kOfAttention = {"layoutKv", "actualSeqLengthsKvOptional"};
const std::string kQueryLengths = "actualSeqLengthsQueryOptional";
const std::string kTable = "blockTableOptional";

bool IsPaged(const PlanCall& call, const Names& names) { return TextOf(call, names.layout) == "PA_BSND"; }

bool SequencesAreWrong(const PlanCall& call, const Names& names) {
  const std::string of_query = TextOf(call, "layoutQuery");
  const std::string of_key = TextOf(call, names.layout);
  if (of_query != "BSND" && of_query != "TND") return true;
  if (of_key != of_query && of_key != "PA_BSND") return true;
  const bool packed = IsPacked(call);
  const bool paged = IsPaged(call, names);
  const Shape& query = call["query"].shape;
  const Shape& key = call["key"].shape;
  if (query.size() != (packed ? 3u : 4u) || key.size() != (paged || !packed ? 4u : 3u)) return true;
  if (packed && call[kQueryLengths].null) return true;
  if ((packed || paged) && call[names.lengths].null) return true;
  if (paged && call[kTable].null) return true;
  if (packed && (call[kQueryLengths].shape.size() != 1 || call[kQueryLengths].shape[0] <= 0)) return true;
  const int64_t batches = packed ? call[kQueryLengths].shape[0] : query[0];
  for (const std::string& lengths : {kQueryLengths, names.lengths}) {
    if (!call[lengths].null && call[lengths].shape != Shape{batches}) return true;
  }
  if (key[key.size() - 2] != 1 || query[query.size() - 2] <= 0) return true;
  if (paged) return call[kTable].shape.size() != 2 || call[kTable].shape[0] != batches;
  return !packed && key[0] != batches;
}

Rule LengthTypes(const Names& names) {
  return [=](PlanCall& call) -> std::optional<Verdict> {
    for (const std::string& name : {kQueryLengths, names.lengths, kTable}) {
      if (call[name].null) continue;
      if (const auto verdict = DtypeIn(name, kInt32Alone)(call)) return verdict;
    }
    return std::nullopt;
  };
}

// The shape of a tensor with a row for each query.
Shape OfQueries(const PlanCall& call, const Shape& last) {
  const Shape& query = call["query"].shape;
  Shape shape(query.begin(), query.end() - 2);
  shape.insert(shape.end(), last.begin(), last.end());
  return shape;
}

void DrawSequences(PlanCall& call, const Names& names, int64_t heads, int64_t depth, int64_t key_depth,
                   RandomNumbers& random) {
  const bool packed = random.Chance(40);
  const bool paged = random.Chance(40);
  const int64_t batches = random.Between(1, 3);
  const int64_t queries = random.Between(1, 3);
  const int64_t keys = random.Between(1, 9);
  call["layoutQuery"].text = packed ? "TND" : "BSND";
  call["layoutQuery"].null = !packed && random.Chance(30);
  call[names.layout].text = paged ? "PA_BSND" : call["layoutQuery"].text;
  call["query"].shape =
      packed ? Shape{random.Between(1, 5), heads, depth} : Shape{batches, queries, heads, depth};
  call["key"].shape = paged    ? Shape{random.Between(1, 4), random.Between(1, 4), 1, key_depth}
                      : packed ? Shape{keys, 1, key_depth}
                               : Shape{batches, keys, 1, key_depth};
  call[kQueryLengths].shape = call[names.lengths].shape = {batches};
  call[kQueryLengths].null = !packed && random.Chance(50);
  call[names.lengths].null = !packed && !paged && random.Chance(50);
  call[kTable].shape = {batches, random.Between(1, 3)};
  call[kTable].null = !paged && random.Chance(50);
}

// Sets lengths, some of which are none, and pages, some of which there are not.
void FillSequences(const PlanCall& call, const Names& names, std::vector<HostTensor>& tensors,
                   RandomNumbers& random) {
  const bool packed = IsPacked(call);
  const bool paged = IsPaged(call, names);
  const Shape& key = call["key"].shape;
  const auto fill = [&](const std::string& name, bool are_ends, int64_t most) {
    if (call[name].null) return;
    HostTensor& tensor = tensors[PlaceOf(call, name)];
    int64_t end = 0;
    for (int64_t b = 0; b < tensor.size(); ++b) {
      end = are_ends ? random.Between(end, std::max(end, most)) : random.Between(-1, most + 1);
      EncodeIntegerElement(ACL_INT32, end, tensor.Element(b));
    }
  };
  fill(kQueryLengths, packed, packed ? call["query"].shape[0] : call["query"].shape[1]);
  fill(names.lengths, packed && !paged,
       paged    ? (call[kTable].null ? 0 : call[kTable].shape[1] * key[1])
       : packed ? key[0]
                : key[1]);
  if (!call[kTable].null)
    SetIntegers(tensors[PlaceOf(call, kTable)], paged && random.Chance(20) ? -1 : 0,
                paged ? key[0] + (random.Chance(20) ? 1 : 0) : 2, random);
}

// The query of a row: where it stands in its sequence, and the rows of the keys that it may see; -1: there is no such page.
struct Query {
  int64_t position = 0;
  std::vector<int64_t> keys;
};
Query QueryOf(const PlanCall& call, const Names& names, const std::vector<TensorValues>& tensors,
              int64_t row) {
  const bool packed = IsPacked(call);
  const bool paged = IsPaged(call, names);
  const Shape& query = call["query"].shape;
  const Shape& key = call["key"].shape;
  const Numbers query_lengths(call, tensors, kQueryLengths);
  const Numbers key_lengths(call, tensors, names.lengths);
  const Numbers table(call, tensors, kTable);
  int64_t batch = -1, first = 0, queries = 0;
  if (packed) {
    for (int64_t b = 0; b < query_lengths.size() && batch < 0; ++b) {
      const int64_t end = query_lengths.Integer(b);
      if (row < end) {
        batch = b;
        queries = end - first;
      } else {
        first = end;
      }
    }
  } else {
    batch = row / query[1];
    first = batch * query[1];
    queries =
        query_lengths.is_given() ? std::clamp<int64_t>(query_lengths.Integer(batch), 0, query[1]) : query[1];
  }
  Query made;
  made.position = row - first;
  if (batch < 0 || made.position >= queries) return made;
  int64_t first_key = 0, count = 0;
  if (paged) {
    count = std::clamp<int64_t>(key_lengths.Integer(batch), 0, table.shape()[1] * key[1]);
  } else if (packed) {
    first_key = batch == 0 ? 0 : key_lengths.Integer(batch - 1);
    count = key_lengths.Integer(batch) - first_key;
  } else {
    first_key = batch * key[1];
    count = key_lengths.is_given() ? std::clamp<int64_t>(key_lengths.Integer(batch), 0, key[1]) : key[1];
  }
  if (call["sparseMode"].integer == 3)
    count = std::clamp<int64_t>(made.position + 1 + count - queries, 0, count);
  for (int64_t j = 0; j < count; ++j) {
    int64_t at = first_key + j;
    if (paged) {
      int64_t page = table.Integer(batch * table.shape()[1] + j / key[1]);
      if (page >= key[0]) page = -1;
      at = page < 0 ? -1 : page * key[1] + j % key[1];
    }
    made.keys.push_back(at);
  }
  return made;
}

// ---- LightningIndexer ----

OperatorSpec Indexer(bool is_quantised) {
  OperatorSpec op;
  op.function = is_quantised ? PORTACL_C_FUNCTION(aclnnQuantLightningIndexer)
                             : PORTACL_C_FUNCTION(aclnnLightningIndexer);
  const DtypeNumber dtype = is_quantised ? ACL_INT8 : ACL_FLOAT16;
  op.valid = {TensorArg("query", {2, 2, 3, 128}, dtype), TensorArg("key", {2, 5, 1, 128}, dtype),
              TensorArg("weights", {2, 2, 3}, ACL_FLOAT16)};
  if (is_quantised) {
    op.valid.push_back(TensorArg("queryDequantScale", {2, 2, 3}, ACL_FLOAT16));
    op.valid.push_back(TensorArg("keyDequantScale", {2, 5, 1}, ACL_FLOAT16));
  }
  for (const PlanArgument& one :
       {DistinctArg(kQueryLengths, {2}, ACL_INT32), DistinctArg(kOfIndexer.lengths, {2}, ACL_INT32),
        DistinctArg(kTable, {2, 3}, ACL_INT32)})
    op.valid.push_back(one);
  if (is_quantised) {
    op.valid.push_back(IntegerArg("queryQuantMode", 0));
    op.valid.push_back(IntegerArg("keyQuantMode", 0));
  }
  for (const PlanArgument& one :
       {TextArg("layoutQuery", "BSND"), TextArg("layoutKey", "BSND"), IntegerArg("sparseCount", 4),
        IntegerArg("sparseMode", 3), IntegerArg("preTokens", 7), IntegerArg("nextTokens", 7)})
    op.valid.push_back(one);
  if (!is_quantised) op.valid.push_back(IntegerArg("returnValue", 1));
  op.valid.push_back(OutputArg("sparseIndicesOut", {2, 2, 1, 4}, ACL_INT32));
  if (!is_quantised) op.valid.push_back(OutputArg("sparseValuesOut", {2, 2, 1, 4}, ACL_FLOAT16));
  op.takes_workspace = true;
  op.tolerance = 1e-3;
  const auto takes = [=](const PlanCall& call, DtypeNumber type) {
    return IsSinceA2(call) &&
           (is_quantised ? type == ACL_INT8 : std::count(kHalves.begin(), kHalves.end(), type) > 0);
  };
  const auto returns = [=](const PlanCall& call) {
    return !is_quantised && call["returnValue"].integer != 0;
  };
  op.rules = {NoNulls(is_quantised ? "query key weights queryDequantScale keyDequantScale sparseIndicesOut"
                                   : "query key weights sparseIndicesOut"),
              RefusedDtype("query", takes), SameDtype("query", "key"), DtypeIn("weights", kSinceA2)};
  if (is_quantised) {
    op.rules.push_back(DtypeIn("queryDequantScale", kSinceA2));
    op.rules.push_back(DtypeIn("keyDequantScale", kSinceA2));
  }
  op.rules.push_back(LengthTypes(kOfIndexer));
  op.rules.push_back(DtypeIn("sparseIndicesOut", kInt32Alone));
  if (!is_quantised) {
    op.rules.push_back(Refuses(161002, "sparseValuesOut query", [=](PlanCall& call) {
      return returns(call) && !call["sparseValuesOut"].null &&
             call["sparseValuesOut"].dtype != call["query"].dtype;
    }));
  }
  op.rules.push_back(Refuses(kTiling, "", [=](PlanCall& call) {
    if (SequencesAreWrong(call, kOfIndexer)) return true;
    const Shape& query = call["query"].shape;
    const Shape& key = call["key"].shape;
    const int64_t heads = query[query.size() - 2];
    if (query.back() != 128 || key.back() != 128 || heads > 64) return true;
    if (call["weights"].shape != OfQueries(call, {heads})) return true;
    if (is_quantised) {
      if (call["queryQuantMode"].integer != 0 || call["keyQuantMode"].integer != 0) return true;
      if (call["queryDequantScale"].shape != OfQueries(call, {heads})) return true;
      if (call["keyDequantScale"].shape != Shape(key.begin(), key.end() - 1)) return true;
    }
    const int64_t count = call["sparseCount"].integer;
    if (count < 1 || count > std::numeric_limits<int32_t>::max()) return true;
    if (call["sparseMode"].integer != 0 && call["sparseMode"].integer != 3) return true;
    const Shape out = OfQueries(call, {1, count});
    if (call["sparseIndicesOut"].shape != out) return true;
    return returns(call) && (call["sparseValuesOut"].null || call["sparseValuesOut"].shape != out);
  }));
  op.rules.push_back(DoneIfEmpty("query"));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const int64_t heads = random.Between(1, random.Chance(10) ? 64 : 4);
    DrawSequences(call, kOfIndexer, heads, 128, 128, random);
    call["weights"].shape = OfQueries(call, {heads});
    call["weights"].dtype = DrawDtype(random, kRowDtypes);
    call["sparseCount"].integer = random.Between(1, 12);
    call["sparseMode"].integer = random.Chance(50) ? 0 : 3;
    call["sparseIndicesOut"].shape = OfQueries(call, {1, call["sparseCount"].integer});
    if (is_quantised) {
      const Shape& key = call["key"].shape;
      call["queryDequantScale"].shape = OfQueries(call, {heads});
      call["keyDequantScale"].shape = Shape(key.begin(), key.end() - 1);
      call["queryDequantScale"].dtype = DrawDtype(random, kRowDtypes);
      call["keyDequantScale"].dtype = DrawDtype(random, kRowDtypes);
      return;
    }
    call["query"].dtype = call["key"].dtype = call["sparseValuesOut"].dtype = DrawDtype(random, kHalves);
    call["sparseValuesOut"].shape = call["sparseIndicesOut"].shape;
    call["returnValue"].integer = random.Below(2);
  };
  // Scores of such numbers are exact, so that what ties is known.
  op.fill = [=](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillSequences(call, kOfIndexer, tensors, random);
    for (const char* name : {"query", "key"}) {
      HostTensor& tensor = tensors[PlaceOf(call, name)];
      for (int64_t i = 0; i < tensor.size(); ++i) {
        const int64_t value = random.Between(-2, 2);
        if (is_quantised)
          EncodeIntegerElement(ACL_INT8, value, tensor.Element(i));
        else
          tensor.Set(i, static_cast<double>(value));
      }
    }
    HostTensor& weights = tensors[PlaceOf(call, "weights")];
    for (int64_t i = 0; i < weights.size(); ++i)
      weights.Set(i, static_cast<double>(random.Between(-4, 12)) / 8);
    if (!is_quantised) return;
    for (const char* name : {"queryDequantScale", "keyDequantScale"}) {
      HostTensor& scales = tensors[PlaceOf(call, name)];
      for (int64_t i = 0; i < scales.size(); ++i)
        scales.Set(i, std::ldexp(1.0, -static_cast<int>(random.Between(0, 3))));
    }
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers query(call, tensors, "query");
    const Numbers key(call, tensors, "key");
    const Numbers weights(call, tensors, "weights");
    const int64_t heads = weights.shape().back();
    const int64_t count = call["sparseCount"].integer;
    const auto number = [&](const Numbers& numbers, int64_t i) {
      return is_quantised ? static_cast<double>(numbers.Integer(i)) : numbers[i];
    };
    std::vector<int64_t> indices;
    std::vector<double> values;
    for (int64_t row = 0; row < NumElements(OfQueries(call, {})); ++row) {
      const Query own = QueryOf(call, kOfIndexer, tensors, row);
      std::vector<std::pair<double, int64_t>> scores;
      for (int64_t j = 0; j < std::ssize(own.keys); ++j) {
        const int64_t at = own.keys[static_cast<size_t>(j)];
        if (at < 0) continue;
        double score = 0;
        for (int64_t h = 0; h < heads; ++h) {
          double product = 0;
          for (int64_t d = 0; d < 128; ++d)
            product += number(query, (row * heads + h) * 128 + d) * number(key, at * 128 + d);
          if (is_quantised)
            product *= Numbers(call, tensors, "queryDequantScale")[row * heads + h] *
                       Numbers(call, tensors, "keyDequantScale")[at];
          score += weights[row * heads + h] * std::max(product, 0.0);
        }
        scores.emplace_back(-score, j);
      }
      std::sort(scores.begin(), scores.end());
      for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
        indices.push_back(i < scores.size() ? scores[i].second : -1);
        values.push_back(i < scores.size() ? -scores[i].first : -std::numeric_limits<double>::infinity());
      }
    }
    std::vector<Outcome> all = {EncodedIntegers(ACL_INT32, indices)};
    if (!is_quantised)
      all.push_back(returns(call) ? EncodedAll(call["sparseValuesOut"].dtype, values) : Outcome());
    return all;
  };
  return op;
}

// ---- SparseFlashAttention ----

OperatorSpec Sparse(const CFunction& function, bool is_quantised, bool has_sinks) {
  OperatorSpec op;
  op.function = function;
  const int64_t depth = is_quantised ? kDepth + kRope : kDepth;
  const int64_t columns = is_quantised ? 656 : kDepth;
  const DtypeNumber of_key = is_quantised ? ACL_INT8 : ACL_FLOAT16;
  op.valid = {TensorArg("query", {2, 2, 3, depth}, ACL_FLOAT16), TensorArg("key", {2, 5, 1, columns}, of_key),
              TensorArg("value", {2, 5, 1, columns}, of_key),
              DistinctArg("sparseIndices", {2, 2, 1, 2}, ACL_INT32)};
  if (is_quantised) {
    for (const char* name : {"keyDequantScaleOptional", "valueDequantScaleOptional"}) {
      op.valid.push_back(TensorArg(name, {4}));
      op.valid.back().null = true;
    }
  }
  for (const PlanArgument& one :
       {DistinctArg(kTable, {2, 3}, ACL_INT32), DistinctArg(kQueryLengths, {2}, ACL_INT32),
        DistinctArg(kOfAttention.lengths, {2}, ACL_INT32)})
    op.valid.push_back(one);
  if (!is_quantised) {
    op.valid.push_back(TensorArg("queryRopeOptional", {2, 2, 3, kRope}, ACL_FLOAT16));
    op.valid.push_back(TensorArg("keyRopeOptional", {2, 5, 1, kRope}, ACL_FLOAT16));
  }
  if (has_sinks) op.valid.push_back(TensorArg("sinksOptional", {3}));
  op.valid.push_back(RealArg("scaleValue", 0.0625));
  if (is_quantised) {
    op.valid.push_back(IntegerArg("keyQuantMode", 2));
    op.valid.push_back(IntegerArg("valueQuantMode", 2));
  }
  for (const PlanArgument& one :
       {IntegerArg("sparseBlockSize", 2), TextArg("layoutQuery", "BSND"), TextArg("layoutKv", "BSND"),
        IntegerArg("sparseMode", 3), IntegerArg("preTokens", 7), IntegerArg("nextTokens", 7),
        IntegerArg("attentionMode", 2)})
    op.valid.push_back(one);
  if (is_quantised) {
    for (const PlanArgument& one :
         {IntegerArg("quantScaleRepoMode", 1), IntegerArg("tileSize", 128), IntegerArg("ropeHeadDim", 64)})
      op.valid.push_back(one);
  } else {
    op.valid.push_back(IntegerArg("returnSoftmaxLse", 1));
  }
  op.valid.push_back(OutputArg("attentionOut", {2, 2, 3, kDepth}, ACL_FLOAT16));
  if (!is_quantised) {
    op.valid.push_back(OutputArg("softmaxMaxOut", {2, 1, 2, 3}));
    op.valid.push_back(OutputArg("softmaxSumOut", {2, 1, 2, 3}));
  }
  op.takes_workspace = true;
  op.tolerance = 1e-2;
  const auto returns = [=](const PlanCall& call) {
    return !is_quantised && call["returnSoftmaxLse"].integer != 0;
  };
  const auto statistics = [](const PlanCall& call) {
    const Shape& query = call["query"].shape;
    return IsPacked(call) ? Shape{1, query[0], query[1]} : Shape{query[0], 1, query[1], query[2]};
  };
  op.rules = {NoNulls("query key value sparseIndices attentionOut"),
              RefusedDtype("query", [](const PlanCall& call, DtypeNumber type) {
                return IsSinceA2(call) && std::count(kHalves.begin(), kHalves.end(), type) > 0;
              })};
  op.rules.push_back(
      is_quantised ? RefusedDtype("key", [](const PlanCall& call,
                                            DtypeNumber type) { return IsSinceA2(call) && type == ACL_INT8; })
                   : SameDtype("query", "key"));
  op.rules.push_back(SameDtype("key", "value"));
  op.rules.push_back(DtypeIn("sparseIndices", kInt32Alone));
  // In the order of the operator's own list.
  op.rules.push_back([=](PlanCall& call) -> std::optional<Verdict> {
    for (const std::string& name : {kQueryLengths, kOfAttention.lengths, kTable}) {
      if (call[name].null) continue;
      if (const auto verdict = DtypeIn(name, kInt32Alone)(call)) return verdict;
    }
    return std::nullopt;
  });
  if (!is_quantised) {
    op.rules.push_back(Given("queryRopeOptional", SameDtype("query", "queryRopeOptional")));
    op.rules.push_back(Given("keyRopeOptional", SameDtype("query", "keyRopeOptional")));
  }
  if (has_sinks) op.rules.push_back(Given("sinksOptional", DtypeIn("sinksOptional", kSinceA2)));
  if (!is_quantised) {
    for (const char* name : {"softmaxMaxOut", "softmaxSumOut"}) {
      op.rules.push_back([=](PlanCall& call) -> std::optional<Verdict> {
        if (!returns(call) || call[name].null) return std::nullopt;
        return DtypeIn(name, kFloatAlone)(call);
      });
    }
  }
  op.rules.push_back(SameDtype("query", "attentionOut"));
  op.rules.push_back(Refuses(kTiling, "", [=](PlanCall& call) {
    if (SequencesAreWrong(call, kOfAttention)) return true;
    const Shape& query = call["query"].shape;
    const Shape& key = call["key"].shape;
    const int64_t heads = query[query.size() - 2];
    if (query.back() != depth || key.back() != columns || call["value"].shape != key) return true;
    if (!is_quantised) {
      if (call["queryRopeOptional"].null || call["keyRopeOptional"].null) return true;
      Shape ropes = key;
      ropes.back() = kRope;
      if (call["queryRopeOptional"].shape != OfQueries(call, {heads, kRope})) return true;
      if (call["keyRopeOptional"].shape != ropes) return true;
    }
    if (has_sinks && !call["sinksOptional"].null && call["sinksOptional"].shape != Shape{heads}) return true;
    const Shape& index = call["sparseIndices"].shape;
    const int64_t count = index.empty() ? 0 : index.back();
    const int64_t block = call["sparseBlockSize"].integer;
    if (index != OfQueries(call, {1, count})) return true;
    if (block < 1 || block > std::numeric_limits<int32_t>::max()) return true;
    if (count > std::numeric_limits<int32_t>::max() / block) return true;
    if (heads > (int64_t{1} << 40) / std::max<int64_t>(count * block, 1)) return true;
    if (call["sparseMode"].integer != 0 && call["sparseMode"].integer != 3) return true;
    if (call["attentionMode"].integer != 2) return true;
    if (is_quantised) {
      if (call["keyQuantMode"].integer != 2 || call["valueQuantMode"].integer != 2) return true;
      if (call["quantScaleRepoMode"].integer != 1 || call["tileSize"].integer != 128 ||
          call["ropeHeadDim"].integer != 64)
        return true;
      if (!call["keyDequantScaleOptional"].null || !call["valueDequantScaleOptional"].null) return true;
    }
    if (call["attentionOut"].shape != OfQueries(call, {heads, kDepth})) return true;
    if (!returns(call)) return false;
    for (const char* name : {"softmaxMaxOut", "softmaxSumOut"}) {
      if (call[name].null || call[name].shape != statistics(call)) return true;
    }
    return false;
  }));
  op.rules.push_back(DoneIfEmpty("query"));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const int64_t heads = random.Between(1, 4);
    const DtypeNumber dtype = DrawDtype(random, kHalves);
    DrawSequences(call, kOfAttention, heads, depth, columns, random);
    call["query"].dtype = call["attentionOut"].dtype = dtype;
    call["value"].shape = call["key"].shape;
    call["sparseIndices"].shape = OfQueries(call, {1, random.Between(1, 4)});
    call["sparseBlockSize"].integer = random.Between(1, 4);
    call["sparseMode"].integer = random.Chance(50) ? 0 : 3;
    call["scaleValue"].real = random.Chance(50) ? 0.0625 : 0.015625;
    call["attentionOut"].shape = OfQueries(call, {heads, kDepth});
    if (has_sinks) {
      call["sinksOptional"].shape = {heads};
      call["sinksOptional"].dtype = DrawDtype(random, kRowDtypes);
      call["sinksOptional"].null = random.Chance(20);
    }
    if (is_quantised) return;
    call["key"].dtype = call["value"].dtype = dtype;
    call["queryRopeOptional"].dtype = call["keyRopeOptional"].dtype = dtype;
    call["queryRopeOptional"].shape = OfQueries(call, {heads, kRope});
    call["keyRopeOptional"].shape = call["key"].shape;
    call["keyRopeOptional"].shape.back() = kRope;
    call["returnSoftmaxLse"].integer = random.Below(2);
    call["softmaxMaxOut"].shape = call["softmaxSumOut"].shape = statistics(call);
  };
  op.fill = [=](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillSequences(call, kOfAttention, tensors, random);
    SetIntegers(tensors[PlaceOf(call, "sparseIndices")], random.Chance(30) ? -1 : 0, 5, random);
    const auto arguments = TensorsOf(call);
    for (size_t i = 0; i < tensors.size(); ++i) {
      const std::string& name = arguments[i]->name;
      if (arguments[i]->null || arguments[i]->is_output) continue;
      if (name == "query" || name.find("Rope") != std::string::npos || name == "sinksOptional" ||
          (name == "key" && !is_quantised) || (name == "value" && !is_quantised)) {
        for (int64_t k = 0; k < tensors[i].size(); ++k)
          tensors[i].Set(k, static_cast<double>(random.Between(-64, 64)) / 64);
      } else if (name == "key") {
        for (int64_t row = 0; row < tensors[i].size() / 656; ++row) {
          std::vector<unsigned char> bytes(656);
          for (size_t k = 0; k < 512; ++k) bytes[k] = static_cast<unsigned char>(random.Between(0, 255));
          for (size_t k = 0; k < 64; ++k)
            EncodeElement(call["query"].dtype, static_cast<double>(random.Between(-64, 64)) / 64,
                          bytes.data() + 512 + 2 * k);
          for (size_t k = 0; k < 4; ++k)
            EncodeElement(ACL_FLOAT, static_cast<double>(random.Between(1, 8)) / 1024,
                          bytes.data() + 640 + 4 * k);
          for (size_t k = 0; k < 656; ++k)
            *static_cast<unsigned char*>(
                static_cast<void*>(tensors[i].Element(row * 656 + static_cast<int64_t>(k)))) = bytes[k];
        }
      }
    }
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers query(call, tensors, "query");
    const Numbers key(call, tensors, "key");
    const Numbers indices(call, tensors, "sparseIndices");
    std::vector<double> query_ropes, key_ropes;
    if (!is_quantised) {
      const Numbers first(call, tensors, "queryRopeOptional");
      const Numbers second(call, tensors, "keyRopeOptional");
      for (int64_t k = 0; k < first.size(); ++k) query_ropes.push_back(first[k]);
      for (int64_t k = 0; k < second.size(); ++k) key_ropes.push_back(second[k]);
    }
    const Shape& of_query = call["query"].shape;
    const int64_t heads = of_query[of_query.size() - 2];
    const int64_t count = indices.shape().back();
    const int64_t block = call["sparseBlockSize"].integer;
    const auto key_at = [&](int64_t at) {
      std::vector<double> row(static_cast<size_t>(kDepth + kRope));
      if (!is_quantised) {
        for (int64_t d = 0; d < kDepth; ++d) row[static_cast<size_t>(d)] = key[at * kDepth + d];
        for (int64_t d = 0; d < kRope; ++d)
          row[static_cast<size_t>(kDepth + d)] = key_ropes[static_cast<size_t>(at * kRope + d)];
        return row;
      }
      std::vector<unsigned char> bytes(656);
      for (size_t k = 0; k < 656; ++k)
        std::memcpy(&bytes[k], key.Bytes(at * 656 + static_cast<int64_t>(k)).data(), 1);
      for (size_t d = 0; d < 512; ++d)
        row[d] = static_cast<double>(static_cast<int8_t>(bytes[d])) *
                 DecodeReal(ACL_FLOAT, bytes.data() + 640 + d / 128 * 4);
      for (size_t d = 0; d < 64; ++d)
        row[512 + d] = DecodeReal(call["query"].dtype, bytes.data() + 512 + 2 * d);
      return row;
    };
    std::vector<double> out, greatest, sums;
    for (int64_t row = 0; row < NumElements(OfQueries(call, {})); ++row) {
      const Query own = QueryOf(call, kOfAttention, tensors, row);
      std::vector<std::vector<double>> keys;
      for (int64_t i = 0; i < count && indices.Integer(row * count + i) >= 0; ++i) {
        const int64_t first = indices.Integer(row * count + i) * block;
        for (int64_t j = first; j < std::min<int64_t>(first + block, std::ssize(own.keys)); ++j) {
          if (own.keys[static_cast<size_t>(j)] >= 0) keys.push_back(key_at(own.keys[static_cast<size_t>(j)]));
        }
      }
      for (int64_t h = 0; h < heads; ++h) {
        std::vector<double> scores;
        double peak = -std::numeric_limits<double>::infinity();
        for (const std::vector<double>& one : keys) {
          double product = 0;
          for (int64_t d = 0; d < kDepth + kRope; ++d) {
            const double q = d < depth
                                 ? query[(row * heads + h) * depth + d]
                                 : query_ropes[static_cast<size_t>((row * heads + h) * kRope + d - depth)];
            product += q * one[static_cast<size_t>(d)];
          }
          scores.push_back(product * call["scaleValue"].real);
          peak = std::max(peak, scores.back());
        }
        double total = 0;
        for (const double score : scores) total += std::exp(score - peak);
        greatest.push_back(keys.empty() ? -std::numeric_limits<float>::max() : peak);
        sums.push_back(keys.empty() ? std::numeric_limits<float>::max() : total);
        if (has_sinks && !call["sinksOptional"].null && !keys.empty())
          total += std::exp(Numbers(call, tensors, "sinksOptional")[h] - peak);
        for (int64_t d = 0; d < kDepth; ++d) {
          double sum = 0;
          for (size_t i = 0; i < keys.size(); ++i)
            sum += std::exp(scores[i] - peak) / total * keys[i][static_cast<size_t>(d)];
          out.push_back(sum);
        }
      }
    }
    std::vector<Outcome> all = {EncodedAll(call["attentionOut"].dtype, out)};
    if (!is_quantised) {
      all.push_back(returns(call) ? EncodedAll(ACL_FLOAT, greatest) : Outcome());
      all.push_back(returns(call) ? EncodedAll(ACL_FLOAT, sums) : Outcome());
    }
    return all;
  };
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {
      Indexer(false),
      Indexer(true),
      Sparse(PORTACL_C_FUNCTION(aclnnSparseFlashAttention), false, false),
      Sparse(PORTACL_C_FUNCTION(aclnnSparseFlashAttentionV2), false, true),
      Sparse(PORTACL_C_FUNCTION(aclnnKvQuantSparseFlashAttention), true, false),
      Sparse(PORTACL_C_FUNCTION(aclnnKvQuantSparseFlashAttentionV2), true, true)};
  return all;
}

PORTACL_OPERATOR_TESTS(SelectedKeys, Operators());

// A cache of four pages, of which nobody may read the first two.
class HalfForbidden {
 public:
  HalfForbidden(size_t page, uint16_t third, uint16_t fourth) : bytes_(4 * page) {
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) std::abort();
    auto* const numbers = static_cast<uint16_t*>(memory_);
    std::fill_n(numbers + page, page / 2, third);
    std::fill_n(numbers + page + page / 2, page / 2, fourth);
    if (mprotect(memory_, 2 * page, PROT_NONE) != 0) std::abort();
  }
  HalfForbidden(const HalfForbidden&) = delete;
  HalfForbidden& operator=(const HalfForbidden&) = delete;
  ~HalfForbidden() { munmap(memory_, bytes_); }
  void* get() const { return memory_; }

 private:
  void* memory_ = nullptr;
  size_t bytes_;
};
constexpr uint16_t kOne = 0x3f80, kTwo = 0x4000, kThree = 0x4040, kFour = 0x4080;  // BF16
char batches_layout[] = "BSND";
char pages_layout[] = "PA_BSND";

TEST(SelectedKeysPages, PagesOfKeysNotChosenAreNotRead) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", "Ascend910B1"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  const HalfForbidden keys(size_t{32} * kDepth * 2, kTwo, kFour);
  const HalfForbidden ropes(size_t{32} * kRope * 2, kOne, kOne);
  std::vector<uint16_t> query(2 * kDepth), query_rope(2 * kRope), out(2 * kDepth);
  std::vector<int32_t> index = {5, 70, -1}, table = {3, 0, 2, 1}, length = {128};
  Made made;
  aclTensor* const key = made.Dense({4, 32, 1, kDepth}, ACL_BF16, keys.get());
  aclTensor* const result = made.Dense({1, 1, 2, kDepth}, ACL_BF16, out.data());
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(
      aclnnSparseFlashAttentionGetWorkspaceSize(
          made.Dense({1, 1, 2, kDepth}, ACL_BF16, query.data()), key, key,
          made.Dense({1, 1, 1, 3}, ACL_INT32, index.data()), made.Dense({1, 4}, ACL_INT32, table.data()),
          nullptr, made.Dense({1}, ACL_INT32, length.data()),
          made.Dense({1, 1, 2, kRope}, ACL_BF16, query_rope.data()),
          made.Dense({4, 32, 1, kRope}, ACL_BF16, ropes.get()), 1.0, 1, batches_layout, pages_layout, 3, 0, 0,
          2, false, result, nullptr, nullptr, &size, &executor),
      0)
      << TakeErrorMessage();
  ASSERT_EQ(RunAndWait(environment, aclnnSparseFlashAttention, size, executor), ACL_SUCCESS);
  EXPECT_EQ(out, std::vector<uint16_t>(2 * kDepth, kThree));
}

TEST(SelectedKeysPages, PagesBehindTheLastKeyAreNotRead) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", "Ascend910B1"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  const HalfForbidden keys(size_t{16} * 128 * 2, kTwo, kOne);
  std::vector<uint16_t> query(2 * 128, kOne), weights(2, kOne);
  std::vector<int32_t> table = {3, 2, 0, 1}, length = {20}, index(6);
  Made made;
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(
      aclnnLightningIndexerGetWorkspaceSize(
          made.Dense({1, 1, 2, 128}, ACL_BF16, query.data()),
          made.Dense({4, 16, 1, 128}, ACL_BF16, keys.get()), made.Dense({1, 1, 2}, ACL_BF16, weights.data()),
          nullptr, made.Dense({1}, ACL_INT32, length.data()), made.Dense({1, 4}, ACL_INT32, table.data()),
          batches_layout, pages_layout, 6, 3, 0, 0, false, made.Dense({1, 1, 1, 6}, ACL_INT32, index.data()),
          nullptr, &size, &executor),
      0)
      << TakeErrorMessage();
  ASSERT_EQ(RunAndWait(environment, aclnnLightningIndexer, size, executor), ACL_SUCCESS);
  EXPECT_EQ(index, (std::vector<int32_t>{16, 17, 18, 19, 0, 1}));
}

// Phase 1 of attention of `heads` heads to one block of keys for each of `rows` queries.
struct BlockOfKeys {
  aclnnStatus Plan(int64_t rows, int64_t heads, int64_t block, bool far_greatest, bool far_sum) {
    const auto half = [&](const Shape& shape) { return made.Dense(shape, ACL_BF16, memory.data()); };
    const auto statistic = [&](bool is_far) {
      const Shape shape = {1, 1, rows, heads};
      return is_far ? made.FarApart(shape, ACL_FLOAT, memory.data())
                    : made.Dense(shape, ACL_FLOAT, memory.data());
    };
    aclTensor* const key = half({1, 4, 1, kDepth});
    return aclnnSparseFlashAttentionGetWorkspaceSize(
        half({1, rows, heads, kDepth}), key, key, made.Dense({1, rows, 1, 1}, ACL_INT32, memory.data()),
        nullptr, nullptr, nullptr, half({1, rows, heads, kRope}), half({1, 4, 1, kRope}), 1.0, block,
        batches_layout, batches_layout, 0, 0, 0, 2, true, half({1, rows, heads, kDepth}),
        statistic(far_greatest), statistic(far_sum), &size, &executor);
  }

  std::vector<float> memory = std::vector<float>(64);
  Made made;
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
};

TEST(SelectedKeysBad, ScoresOfAQueryAreBounded) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", "Ascend910B1"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  constexpr int64_t kBlock = std::numeric_limits<int32_t>::max();
  for (const int64_t heads : {int64_t{512}, int64_t{513}, int64_t{1} << 33}) {
    SCOPED_TRACE(heads);
    BlockOfKeys call;
    EXPECT_EQ(call.Plan(1, heads, kBlock, false, false), heads > 512 ? kTiling : 0);
    if (heads > 512) {
      ExpectMessage("at most 2^40 scores of a query");
    } else {
      EXPECT_GT(call.size, uint64_t{4} * 512 * kBlock);
      EXPECT_EQ(aclDestroyAclOpExecutor(call.executor), ACL_SUCCESS);
    }
  }
}

TEST(SelectedKeysBad, ResultsFartherApartThanThereAreAddressesAreRefused) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", "Ascend910B1"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  for (const bool is_sum : {false, true}) {
    BlockOfKeys call;
    EXPECT_EQ(call.Plan(2, 3, 1, !is_sum, is_sum), 161002);
    ExpectMessage(is_sum ? "softmaxSumOut" : "softmaxMaxOut");
  }
  std::vector<float> memory(64);
  Made made;
  const auto half = [&](const Shape& shape) { return made.Dense(shape, ACL_BF16, memory.data()); };
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(aclnnLightningIndexerGetWorkspaceSize(
                half({1, 2, 2, 128}), half({1, 16, 1, 128}), half({1, 2, 2}), nullptr, nullptr, nullptr,
                batches_layout, batches_layout, 6, 3, 0, 0, true,
                made.Dense({1, 2, 1, 6}, ACL_INT32, memory.data()),
                made.FarApart({1, 2, 1, 6}, ACL_BF16, memory.data()), &size, &executor),
            161002);
  ExpectMessage("sparseValuesOut");
}

}  // namespace
}  // namespace portacl::testing
