// Attention to compressed keys, which selects blocks of keys, and attention of one query to blocks in pages.
// SPDX-License-Identifier: Apache-2.0
#include "../moe/moe_calls.h"

#include "aclnnop/families/serving.h"

namespace portacl::testing {
namespace {

constexpr aclnnStatus kTiling = 561002;
constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
const DtypeList kHalves = {ACL_FLOAT16, ACL_BF16};

Rule HalvesAlone(const std::string& name) {
  return RefusedDtype(name, [](const PlanCall& call, DtypeNumber dtype) {
    return (IsOn950(call) || IsOnA2OrA3(call)) && std::count(kHalves.begin(), kHalves.end(), dtype) > 0;
  });
}
bool HasElements(const PlanCall& call, const char* name) {
  return !call[name].null && NumElements(call[name].shape) > 0;
}
std::vector<int64_t> ValuesOf(const PlanCall& call, const char* name) {
  return call[name].null ? std::vector<int64_t>() : call[name].values;
}

// Keys that one head of a query sees, by their places in memory and in their sequence.
struct Seen {
  int64_t place, position;
};
// What it gets, and the weight of each key.
struct Attended {
  std::vector<double> out, weights;
  double greatest = -std::numeric_limits<float>::max();
  double sum = std::numeric_limits<float>::max();
};
Attended Attend(const Numbers& query, int64_t query_place, const Numbers& key, const Numbers& value,
                const std::vector<Seen>& keys, int64_t depth, int64_t value_depth, double scale) {
  Attended made;
  made.out.resize(static_cast<size_t>(value_depth));
  if (keys.empty()) return made;
  std::vector<double> scores;
  for (const Seen& one : keys) {
    double product = 0;
    for (int64_t d = 0; d < depth; ++d)
      product += query[query_place * depth + d] * key[one.place * depth + d];
    scores.push_back(product * scale);
    made.greatest = std::max(made.greatest, scores.back());
  }
  made.sum = 0;
  for (const double score : scores) made.sum += std::exp(score - made.greatest);
  for (size_t i = 0; i < keys.size(); ++i) {
    made.weights.push_back(std::exp(scores[i] - made.greatest) / made.sum);
    for (int64_t d = 0; d < value_depth; ++d)
      made.out[static_cast<size_t>(d)] += made.weights[i] * value[keys[i].place * value_depth + d];
  }
  return made;
}

// Shares are FLOAT, so that sums of a few of them are exact: blocks whose keys are the same ones have equal sums.
void AddShare(double weight, double* share) {
  *share = static_cast<double>(static_cast<float>(*share + static_cast<double>(static_cast<float>(weight))));
}

// The blocks with the greatest shares of the weights of a sequence's keys.
std::vector<int64_t> BlocksOf(const std::vector<double>& weights, int64_t steps, int64_t window,
                              int64_t count) {
  const int64_t keys = std::ssize(weights);
  std::vector<std::pair<double, int64_t>> shares;
  for (int64_t j = 0; j * steps < keys; ++j) {
    double share = 0;
    for (int64_t m = 0; m < steps; ++m) {
      for (int64_t n = 0; n < window; ++n) {
        const int64_t place = steps * j - m - n;
        if (place >= 0 && place < keys) share += weights[static_cast<size_t>(place)];
      }
    }
    shares.emplace_back(-share, j);
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<int64_t> listed(static_cast<size_t>(count), -1);
  for (size_t i = 0; i < std::min(shares.size(), listed.size()); ++i) listed[i] = shares[i].second;
  return listed;
}

bool WindowsAreWrong(const PlanCall& call, const char* window, const char* stride) {
  const int64_t step = call[stride].integer;
  if (step < 1 || step > kMost) return true;
  for (const char* name : {window, "selectBlockSize"}) {
    const int64_t length = call[name].integer;
    if (length < 1 || length > kMost || length % step != 0 || length / step > 65536) return true;
  }
  return call["selectBlockCount"].integer < 0 || call["selectBlockCount"].integer > kMost;
}

void FillNumbers(const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  for (const char* name : {"query", "key", "value"}) {
    HostTensor& tensor = tensors[PlaceOf(call, name)];
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.Set(i, static_cast<double>(random.Between(-2000, 2000)) / 1000);
  }
}

// ---- NsaCompressAttention ----

OperatorSpec Compressed() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnNsaCompressAttention);
  op.valid = {TensorArg("query", {4, 2, 4}, ACL_FLOAT16),
              TensorArg("key", {7, 1, 4}, ACL_FLOAT16),
              TensorArg("value", {7, 1, 3}, ACL_FLOAT16),
              TensorArg("attenMaskOptional", {3, 5}, ACL_BOOL),
              TensorArg("topkMaskOptional", {2, 2}, ACL_BOOL),
              ArrayArg("actualSeqQLenOptional", {3, 4}),
              ArrayArg("actualCmpSeqKvLenOptional", {2, 7}),
              ArrayArg("actualSelSeqKvLenOptional", {1, 4}),
              RealArg("scaleValue", 0.5),
              IntegerArg("headNum", 2),
              TextArg("inputLayout", "TND"),
              IntegerArg("sparseMode", 1),
              IntegerArg("compressBlockSize", 32),
              IntegerArg("compressStride", 16),
              IntegerArg("selectBlockSize", 32),
              IntegerArg("selectBlockCount", 2),
              OutputArg("softmaxMaxOut", {4, 2, 8}),
              OutputArg("softmaxSumOut", {4, 2, 8}),
              OutputArg("attentionOut", {4, 2, 3}, ACL_FLOAT16),
              OutputArg("topkIndicesOut", {4, 1, 2}, ACL_INT32)};
  op.valid[4].null = true;
  op.takes_workspace = true;
  op.tolerance = 1e-2;
  op.rules = {
      NoNulls("query key value softmaxMaxOut softmaxSumOut attentionOut topkIndicesOut"),
      HalvesAlone("query"),
      SameDtype("query", "key"),
      SameDtype("query", "value"),
      Refuses(161002, "attenMaskOptional",
              [](PlanCall& call) {
                return HasElements(call, "attenMaskOptional") && call["attenMaskOptional"].dtype != ACL_BOOL;
              }),
      DtypeIn("softmaxMaxOut", kFloatAlone),
      DtypeIn("softmaxSumOut", kFloatAlone),
      SameDtype("query", "attentionOut"),
      DtypeIn("topkIndicesOut", kInt32Alone),
      Refuses(
          kTiling, "",
          [](PlanCall& call) {
            if (call["inputLayout"].null || call["inputLayout"].text != "TND") return true;
            for (const char* name : {"query", "key", "value"}) {
              if (call[name].shape.size() != 3) return true;
            }
            const Shape& query = call["query"].shape;
            const Shape& key = call["key"].shape;
            const int64_t value_depth = call["value"].shape[2];
            if (query[1] <= 0 || query[2] <= 0 || query[2] > 768 || key[1] <= 0 || query[1] % key[1] != 0 ||
                key[2] != query[2] || call["value"].shape != Shape{key[0], key[1], value_depth} ||
                value_depth > 768 || call["headNum"].integer != query[1])
              return true;
            if (WindowsAreWrong(call, "compressBlockSize", "compressStride")) return true;
            const auto of_query = ValuesOf(call, "actualSeqQLenOptional");
            const auto of_key = ValuesOf(call, "actualCmpSeqKvLenOptional");
            const auto of_block = ValuesOf(call, "actualSelSeqKvLenOptional");
            const auto wrong = [&](const std::vector<int64_t>& ends, int64_t rows) {
              if (ends.empty() || ends.size() != of_query.size()) return true;
              int64_t before = 0;
              for (const int64_t end : ends) {
                if (end < before || end > rows) return true;
                before = end;
              }
              return false;
            };
            if (wrong(of_query, query[0]) || wrong(of_key, key[0])) return true;
            if (of_block.size() != of_key.size()) return true;
            const int64_t steps = call["selectBlockSize"].integer / call["compressStride"].integer;
            int64_t end = 0, longest_query = 0, longest_key = 0;
            for (size_t b = 0; b < of_key.size(); ++b) {
              const int64_t keys = of_key[b] - (b == 0 ? 0 : of_key[b - 1]);
              end += (keys + steps - 1) / steps;
              if (of_block[b] != end) return true;
              longest_key = std::max(longest_key, keys);
              longest_query = std::max(longest_query, of_query[b] - (b == 0 ? 0 : of_query[b - 1]));
            }
            if (call["sparseMode"].integer != 0 && call["sparseMode"].integer != 1) return true;
            if (HasElements(call, "attenMaskOptional")) {
              const Shape& mask = call["attenMaskOptional"].shape;
              if (mask.size() != 2 || mask[0] < longest_query || mask[1] < longest_key) return true;
            }
            const Shape statistics = {query[0], query[1], 8};
            return call["softmaxMaxOut"].shape != statistics || call["softmaxSumOut"].shape != statistics ||
                   call["attentionOut"].shape != Shape{query[0], query[1], value_depth} ||
                   call["topkIndicesOut"].shape != Shape{query[0], key[1], call["selectBlockCount"].integer};
          }),
      Refuses(561103, "", [](PlanCall& call) { return HasElements(call, "topkMaskOptional"); }),
      DoneIfEmpty("query")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t key_heads = random.Between(1, 2);
    const int64_t heads = key_heads * random.Between(1, 3);
    const int64_t depth = random.Between(3, random.Chance(20) ? 70 : 9);
    const int64_t value_depth = random.Between(1, 9);
    const int64_t queries = random.Between(1, 6);
    const int64_t keys = random.Between(1, random.Chance(20) ? 70 : 20);
    const DtypeNumber dtype = DrawDtype(random, kHalves);
    call["query"].shape = {queries, heads, depth};
    call["key"].shape = {keys, key_heads, depth};
    call["value"].shape = {keys, key_heads, value_depth};
    call["attentionOut"].shape = {queries, heads, value_depth};
    call["softmaxMaxOut"].shape = call["softmaxSumOut"].shape = {queries, heads, 8};
    for (const char* name : {"query", "key", "value", "attentionOut"}) call[name].dtype = dtype;
    call["headNum"].integer = heads;
    const int64_t stride = random.Between(1, 16);
    const int64_t steps = random.Between(1, 4);
    call["compressStride"].integer = stride;
    call["compressBlockSize"].integer = stride * random.Between(1, 3);
    call["selectBlockSize"].integer = stride * steps;
    const int64_t count = call["selectBlockCount"].integer = random.Between(1, 5);
    call["topkIndicesOut"].shape = {queries, key_heads, count};
    const int64_t sequences = random.Between(1, 3);
    std::vector<int64_t> ends[3];
    int64_t of_query = 0, of_key = 0, of_block = 0;
    for (int64_t b = 0; b < sequences; ++b) {
      ends[0].push_back(of_query = random.Between(of_query, queries));
      const int64_t before = of_key;
      ends[1].push_back(of_key = random.Between(of_key, keys));
      ends[2].push_back(of_block += (of_key - before + steps - 1) / steps);
    }
    call["actualSeqQLenOptional"].values = ends[0];
    call["actualCmpSeqKvLenOptional"].values = ends[1];
    call["actualSelSeqKvLenOptional"].values = ends[2];
    call["attenMaskOptional"].null = random.Chance(40);
    call["attenMaskOptional"].shape = {queries + random.Below(2), keys + random.Below(2)};
    call["sparseMode"].integer = random.Below(2);
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillNumbers(call, tensors, random);
    if (!call["attenMaskOptional"].null)
      SetIntegers(tensors[PlaceOf(call, "attenMaskOptional")], 0, 2, random);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers query(call, tensors, "query"), key(call, tensors, "key"), value(call, tensors, "value");
    const Numbers mask(call, tensors, "attenMaskOptional");
    const auto of_query = ValuesOf(call, "actualSeqQLenOptional");
    const auto of_key = ValuesOf(call, "actualCmpSeqKvLenOptional");
    const int64_t heads = query.shape()[1];
    const int64_t key_heads = key.shape()[1];
    const int64_t depth = query.shape()[2];
    const int64_t value_depth = value.shape()[2];
    const int64_t count = call["selectBlockCount"].integer;
    const int64_t stride = call["compressStride"].integer;
    const int64_t rows = query.shape()[0];
    std::vector<double> out(static_cast<size_t>(rows * heads * value_depth));
    std::vector<double> greatest(static_cast<size_t>(rows * heads * 8), -std::numeric_limits<float>::max());
    std::vector<double> sums(greatest.size(), std::numeric_limits<float>::max());
    std::vector<int64_t> blocks(static_cast<size_t>(rows * key_heads * count), -1);
    for (size_t b = 0; b < of_query.size(); ++b) {
      const int64_t first = b == 0 ? 0 : of_query[b - 1];
      const int64_t first_key = b == 0 ? 0 : of_key[b - 1];
      for (int64_t row = first; row < of_query[b]; ++row) {
        for (int64_t n = 0; n < key_heads; ++n) {
          std::vector<double> shares(static_cast<size_t>(of_key[b] - first_key));
          std::vector<Seen> keys;
          for (int64_t j = 0; j < std::ssize(shares); ++j) {
            if (!mask.is_given() || mask.Integer((row - first) * mask.shape()[1] + j) == 0)
              keys.push_back({(first_key + j) * key_heads + n, j});
          }
          for (int64_t h = n * heads / key_heads; h < (n + 1) * heads / key_heads; ++h) {
            const int64_t place = row * heads + h;
            const Attended got =
                Attend(query, place, key, value, keys, depth, value_depth, call["scaleValue"].real);
            std::copy(got.out.begin(), got.out.end(), out.begin() + place * value_depth);
            std::fill_n(greatest.begin() + place * 8, 8, got.greatest);
            std::fill_n(sums.begin() + place * 8, 8, got.sum);
            for (size_t i = 0; i < keys.size(); ++i)
              AddShare(got.weights[i], &shares[static_cast<size_t>(keys[i].position)]);
          }
          const auto listed = BlocksOf(shares, call["selectBlockSize"].integer / stride,
                                       call["compressBlockSize"].integer / stride, count);
          std::copy(listed.begin(), listed.end(), blocks.begin() + (row * key_heads + n) * count);
        }
      }
    }
    return std::vector<Outcome>{EncodedAll(ACL_FLOAT, greatest), EncodedAll(ACL_FLOAT, sums),
                                EncodedAll(call["attentionOut"].dtype, out),
                                EncodedIntegers(ACL_INT32, blocks)};
  };
  return op;
}

// ---- one query of each sequence, keys in pages ----

// The names that differ between both operators.
struct Names {
  const char *table, *queries, *lengths, *layout, *page, *out;
  bool joins;
  const char* otherwise;
};
const Names kCompressed = {"blockTableOptional",
                           "actualSeqQLenOptional",
                           "actualCmpSeqKvLenOptional",
                           "layoutOptional",
                           "pageBlockSize",
                           "output",
                           false,
                           "TND"};
const Names kSelected = {"blockTableOptional",
                         "actualQSeqLenOptional",
                         "actualKvSeqLenOptional",
                         "layoutOptional",
                         "pageBlockSize",
                         "attentionOut",
                         true,
                         "BSND"};

struct Paged {
  Paged(const PlanCall& call, const Names& names) {
    layout = call[names.layout].null ? names.otherwise : call[names.layout].text;
    heads = call["numHeads"].integer;
    key_heads = call["numKeyValueHeads"].integer;
    const Shape& query = call["query"].shape;
    batches = query[0];
    depth = heads > 0 ? NumElements(Shape(query.begin() + 1, query.end())) / heads : 0;
    const Shape& value = call["value"].shape;
    const int64_t columns = value.size() == 4 ? value[2] * value[3] : value[2];
    value_depth = key_heads > 0 ? columns / key_heads : 0;
  }
  std::string layout;
  int64_t heads, key_heads, batches, depth, value_depth;
};

bool PagesAreWrong(const PlanCall& call, const Names& names) {
  const std::string layout = call[names.layout].null ? names.otherwise : call[names.layout].text;
  if (layout != "TND" && layout != "BSND" && !(names.joins && layout == "BSH")) return true;
  const Shape& query = call["query"].shape;
  if (query.size() != (layout == "BSND" ? 4u : 3u)) return true;
  for (const char* name : {"key", "value"}) {
    const size_t rank = call[name].shape.size();
    if (rank != 3 && !(names.joins && rank == 4)) return true;
  }
  if (call[names.table].null || call[names.table].shape.size() != 2) return true;
  for (const char* name : {"numHeads", "numKeyValueHeads"}) {
    if (call[name].integer < 1 || call[name].integer > 65536) return true;
  }
  const Paged p(call, names);
  if (p.heads % p.key_heads != 0 || p.depth <= 0 || p.depth > 768 || p.value_depth > 768) return true;
  const Shape accepted = layout == "BSND"  ? Shape{p.batches, 1, p.heads, p.depth}
                         : layout == "BSH" ? Shape{p.batches, 1, p.heads * p.depth}
                                           : Shape{p.batches, p.heads, p.depth};
  if (query != accepted) return true;
  const Shape& key = call["key"].shape;
  for (const auto& [name, depth] :
       {std::pair<const char*, int64_t>{"key", p.depth}, {"value", p.value_depth}}) {
    const Shape& shape = call[name].shape;
    if (shape != (shape.size() == 4 ? Shape{key[0], key[1], p.key_heads, depth}
                                    : Shape{key[0], key[1], p.key_heads * depth}))
      return true;
  }
  if (call[names.page].integer != key[1] || key[1] <= 0) return true;
  const Shape& table = call[names.table].shape;
  if (table[0] != p.batches || table[1] > kMost / key[1]) return true;
  const auto lengths = ValuesOf(call, names.lengths);
  if (std::ssize(lengths) != p.batches) return true;
  for (const int64_t length : lengths) {
    if (length < 0 || length > table[1] * key[1]) return true;
  }
  const auto queries = ValuesOf(call, names.queries);
  if (!queries.empty() && std::ssize(queries) != p.batches) return true;
  Shape out = query;
  out.back() = layout == "BSH" ? p.heads * p.value_depth : p.value_depth;
  return call[names.out].shape != out;
}

// Draws sizes, and returns the heads of keys.
int64_t DrawPaged(PlanCall& call, RandomNumbers& random, const Names& names) {
  const int64_t key_heads = random.Between(1, 2);
  const int64_t heads = key_heads * random.Between(1, 3);
  const int64_t depth = random.Between(3, random.Chance(20) ? 70 : 9);
  const int64_t value_depth = random.Between(1, 9);
  const int64_t batches = random.Between(1, 4);
  const int64_t pages = random.Between(1, 4);
  const int64_t slots = random.Between(1, 8);
  const int64_t columns = random.Between(1, 4);
  const DtypeNumber dtype = DrawDtype(random, kHalves);
  const int64_t which = random.Below(names.joins ? 3 : 2);
  const std::string layout = which == 0 ? "TND" : which == 1 ? "BSND" : "BSH";
  call[names.layout].text = layout;
  const auto shape = [&](int64_t d) {
    return layout == "BSND"  ? Shape{batches, 1, heads, d}
           : layout == "BSH" ? Shape{batches, 1, heads * d}
                             : Shape{batches, heads, d};
  };
  call["query"].shape = shape(depth);
  call[names.out].shape = shape(value_depth);
  for (const auto& [name, d] : {std::pair<const char*, int64_t>{"key", depth}, {"value", value_depth}}) {
    call[name].shape = names.joins && random.Chance(50) ? Shape{pages, slots, key_heads, d}
                                                        : Shape{pages, slots, key_heads * d};
  }
  for (const char* name : {"query", "key", "value", names.out}) call[name].dtype = dtype;
  call["numHeads"].integer = heads;
  call["numKeyValueHeads"].integer = key_heads;
  call[names.page].integer = slots;
  call[names.table].shape = {batches, columns};
  call[names.lengths].values.clear();
  for (int64_t b = 0; b < batches; ++b)
    call[names.lengths].values.push_back(random.Between(0, columns * slots));
  call[names.queries].null = random.Chance(50);
  call[names.queries].values.assign(static_cast<size_t>(batches), 1);
  return key_heads;
}

void FillPaged(const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random,
               const Names& names) {
  FillNumbers(call, tensors, random);
  if (!call[names.table].null)
    SetIntegers(tensors[PlaceOf(call, names.table)], random.Chance(15) ? -1 : 0,
                call["key"].shape[0] + (random.Chance(15) ? 1 : 0), random);
}

// The places of a sequence's keys from position `first` to `end`.
std::vector<Seen> KeysOf(const PlanCall& call, const Numbers& table, const Names& names, int64_t b, int64_t n,
                         int64_t first, int64_t end) {
  std::vector<Seen> keys;
  const Shape& key = call["key"].shape;
  for (int64_t j = first; j < std::min(end, call[names.lengths].values[static_cast<size_t>(b)]); ++j) {
    const int64_t page = table.Integer(b * table.shape()[1] + j / key[1]);
    if (page >= 0 && page < key[0])
      keys.push_back({(page * key[1] + j % key[1]) * call["numKeyValueHeads"].integer + n, j});
  }
  return keys;
}

OperatorSpec CompressedInfer() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnNsaCompressAttentionInfer);
  op.valid = {TensorArg("query", {2, 2, 4}, ACL_FLOAT16),
              TensorArg("key", {3, 4, 4}, ACL_FLOAT16),
              TensorArg("value", {3, 4, 3}, ACL_FLOAT16),
              TensorArg("attenMaskOptional", {2, 2}, ACL_BOOL),
              TensorArg("blockTableOptional", {2, 2}, ACL_INT32),
              ArrayArg("actualSeqQLenOptional", {1, 1}),
              ArrayArg("actualCmpSeqKvLenOptional", {5, 8}),
              ArrayArg("actualSelSeqKvLenOptional", {}),
              TensorArg("topkMaskOptional", {2, 2}, ACL_BOOL),
              IntegerArg("numHeads", 2),
              IntegerArg("numKeyValueHeads", 1),
              IntegerArg("selectBlockSize", 32),
              IntegerArg("selectBlockCount", 2),
              IntegerArg("compressBlockSize", 32),
              IntegerArg("compressBlockStride", 16),
              RealArg("scaleValue", 0.5),
              TextArg("layoutOptional", "TND"),
              IntegerArg("pageBlockSize", 4),
              IntegerArg("sparseMode", 0),
              OutputArg("output", {2, 2, 3}, ACL_FLOAT16),
              OutputArg("topkIndicesOut", {2, 1, 2}, ACL_INT32)};
  op.valid[3].null = op.valid[8].null = true;
  op.takes_workspace = true;
  op.tolerance = 1e-2;
  op.rules = {NoNulls("query key value output topkIndicesOut"),
              HalvesAlone("query"),
              SameDtype("query", "key"),
              SameDtype("query", "value"),
              Given("blockTableOptional", DtypeIn("blockTableOptional", kInt32Alone)),
              SameDtype("query", "output"),
              DtypeIn("topkIndicesOut", kInt32Alone),
              Refuses(kTiling, "",
                      [](PlanCall& call) {
                        if (PagesAreWrong(call, kCompressed)) return true;
                        if (WindowsAreWrong(call, "compressBlockSize", "compressBlockStride")) return true;
                        const Paged p(call, kCompressed);
                        return call["topkIndicesOut"].shape !=
                               Shape{p.batches, p.key_heads, call["selectBlockCount"].integer};
                      }),
              Refuses(561103, "",
                      [](PlanCall& call) {
                        return HasElements(call, "attenMaskOptional") ||
                               HasElements(call, "topkMaskOptional");
                      }),
              DoneIfEmpty("query")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t key_heads = DrawPaged(call, random, kCompressed);
    const int64_t stride = random.Between(1, 16);
    call["compressBlockStride"].integer = stride;
    call["compressBlockSize"].integer = stride * random.Between(1, 3);
    call["selectBlockSize"].integer = stride * random.Between(1, 4);
    call["selectBlockCount"].integer = random.Between(1, 5);
    call["topkIndicesOut"].shape = {call["query"].shape[0], key_heads, call["selectBlockCount"].integer};
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillPaged(call, tensors, random, kCompressed);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers query(call, tensors, "query"), key(call, tensors, "key"), value(call, tensors, "value");
    const Numbers table(call, tensors, "blockTableOptional");
    const Paged p(call, kCompressed);
    const int64_t stride = call["compressBlockStride"].integer;
    const int64_t count = call["selectBlockCount"].integer;
    std::vector<double> out;
    std::vector<int64_t> blocks;
    for (int64_t b = 0; b < p.batches; ++b) {
      for (int64_t n = 0; n < p.key_heads; ++n) {
        const int64_t length = call["actualCmpSeqKvLenOptional"].values[static_cast<size_t>(b)];
        const auto keys = KeysOf(call, table, kCompressed, b, n, 0, length);
        std::vector<double> shares(static_cast<size_t>(length));
        for (int64_t h = n * p.heads / p.key_heads; h < (n + 1) * p.heads / p.key_heads; ++h) {
          const Attended got = Attend(query, b * p.heads + h, key, value, keys, p.depth, p.value_depth,
                                      call["scaleValue"].real);
          out.insert(out.end(), got.out.begin(), got.out.end());
          for (size_t i = 0; i < keys.size(); ++i)
            AddShare(got.weights[i], &shares[static_cast<size_t>(keys[i].position)]);
        }
        const auto listed = BlocksOf(shares, call["selectBlockSize"].integer / stride,
                                     call["compressBlockSize"].integer / stride, count);
        blocks.insert(blocks.end(), listed.begin(), listed.end());
      }
    }
    return std::vector<Outcome>{EncodedAll(call["output"].dtype, out), EncodedIntegers(ACL_INT32, blocks)};
  };
  return op;
}

OperatorSpec SelectedInfer() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnNsaSelectedAttentionInfer);
  op.valid = {TensorArg("query", {2, 1, 2, 4}, ACL_FLOAT16),
              TensorArg("key", {3, 4, 1, 4}, ACL_FLOAT16),
              TensorArg("value", {3, 4, 3}, ACL_FLOAT16),
              DistinctArg("topkIndices", {2, 1, 2}, ACL_INT32),
              TensorArg("attenMaskOptional", {2, 2}, ACL_BOOL),
              TensorArg("blockTableOptional", {2, 2}, ACL_INT32),
              ArrayArg("actualQSeqLenOptional", {1, 1}),
              ArrayArg("actualKvSeqLenOptional", {5, 8}),
              TextArg("layoutOptional", "BSND"),
              IntegerArg("numHeads", 2),
              IntegerArg("numKeyValueHeads", 1),
              IntegerArg("selectBlockSize", 3),
              IntegerArg("selectBlockCount", 2),
              IntegerArg("pageBlockSize", 4),
              RealArg("scaleValue", 0.5),
              IntegerArg("sparseMode", 0),
              OutputArg("attentionOut", {2, 1, 2, 3}, ACL_FLOAT16)};
  op.valid[4].null = true;
  op.takes_workspace = true;
  op.tolerance = 1e-2;
  op.rules = {NoNulls("query key value topkIndices attentionOut"),
              HalvesAlone("query"),
              SameDtype("query", "key"),
              SameDtype("query", "value"),
              DtypeIn("topkIndices", kInt32Alone),
              Given("blockTableOptional", DtypeIn("blockTableOptional", kInt32Alone)),
              SameDtype("query", "attentionOut"),
              Refuses(kTiling, "",
                      [](PlanCall& call) {
                        if (PagesAreWrong(call, kSelected)) return true;
                        const int64_t block = call["selectBlockSize"].integer;
                        const int64_t count = call["selectBlockCount"].integer;
                        if (block < 1 || block > kMost || count < 0 || count > kMost / block) return true;
                        const Paged p(call, kSelected);
                        return call["topkIndices"].shape != Shape{p.batches, p.key_heads, count};
                      }),
              Refuses(561103, "", [](PlanCall& call) { return HasElements(call, "attenMaskOptional"); }),
              DoneIfEmpty("query")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t key_heads = DrawPaged(call, random, kSelected);
    const int64_t count = call["selectBlockCount"].integer = random.Between(1, 4);
    // Blocks may be longer than all keys.
    call["selectBlockSize"].integer = random.Chance(15) ? kMost / count : random.Between(1, 5);
    call["topkIndices"].shape = {call["query"].shape[0], key_heads, count};
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillPaged(call, tensors, random, kSelected);
    HostTensor& indices = tensors[PlaceOf(call, "topkIndices")];
    SetIntegers(indices, -1, 6, random);
    for (int64_t i = 0; i < indices.size(); ++i) {
      if (random.Chance(5))
        EncodeIntegerElement(ACL_INT32, random.Chance(50) ? kMost : -kMost - 1, indices.Element(i));
    }
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers query(call, tensors, "query"), key(call, tensors, "key"), value(call, tensors, "value");
    const Numbers table(call, tensors, "blockTableOptional"), indices(call, tensors, "topkIndices");
    const Paged p(call, kSelected);
    const int64_t block = call["selectBlockSize"].integer;
    const int64_t count = call["selectBlockCount"].integer;
    std::vector<double> out;
    for (int64_t b = 0; b < p.batches; ++b) {
      for (int64_t h = 0; h < p.heads; ++h) {
        const int64_t n = h / (p.heads / p.key_heads);
        std::vector<Seen> keys;
        for (int64_t i = 0; i < count; ++i) {
          const int64_t own = indices.Integer((b * p.key_heads + n) * count + i);
          if (own < 0) continue;
          const auto more = KeysOf(call, table, kSelected, b, n, own * block, (own + 1) * block);
          keys.insert(keys.end(), more.begin(), more.end());
        }
        const Attended got =
            Attend(query, b * p.heads + h, key, value, keys, p.depth, p.value_depth, call["scaleValue"].real);
        out.insert(out.end(), got.out.begin(), got.out.end());
      }
    }
    return std::vector<Outcome>{EncodedAll(call["attentionOut"].dtype, out)};
  };
  return op;
}

// ---- NsaSelectedAttentionGrad ----

OperatorSpec SelectedGradient() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnNsaSelectedAttentionGrad);
  op.valid = {TensorArg("query", {4, 2, 4}, ACL_FLOAT16),
              TensorArg("key", {5, 1, 4}, ACL_FLOAT16),
              TensorArg("value", {5, 1, 3}, ACL_FLOAT16),
              TensorArg("attentionOut", {4, 2, 3}, ACL_FLOAT16),
              TensorArg("attentionOutGrad", {4, 2, 3}, ACL_FLOAT16),
              TensorArg("softmaxMax", {4, 2, 8}),
              TensorArg("softmaxSum", {4, 2, 8}),
              DistinctArg("topkIndices", {4, 1, 2}, ACL_INT32),
              ArrayArg("actualSeqQLen", {3, 4}),
              ArrayArg("actualSeqKvLen", {2, 5}),
              TensorArg("attenMaskOptional", {2, 2}, ACL_BOOL),
              RealArg("scaleValue", 0.5),
              IntegerArg("selectedBlockSize", 2),
              IntegerArg("selectedBlockCount", 2),
              IntegerArg("headNum", 2),
              TextArg("inputLayout", "TND"),
              IntegerArg("sparseMode", 2),
              OutputArg("queryGrad", {4, 2, 4}, ACL_FLOAT16),
              OutputArg("keyGrad", {5, 1, 4}, ACL_FLOAT16),
              OutputArg("valueGrad", {5, 1, 3}, ACL_FLOAT16)};
  op.takes_workspace = true;
  op.tolerance = 1e-3;
  const std::vector<const char*> numbers = {"key",       "value",   "attentionOut", "attentionOutGrad",
                                            "queryGrad", "keyGrad", "valueGrad"};
  op.rules = {
      NoNulls("query key value attentionOut attentionOutGrad softmaxMax softmaxSum topkIndices queryGrad "
              "keyGrad valueGrad"),
      HalvesAlone("query"),
      SameDtype("query", "key"),
      SameDtype("query", "value"),
      SameDtype("query", "attentionOut"),
      SameDtype("query", "attentionOutGrad"),
      DtypeIn("softmaxMax", kFloatAlone),
      DtypeIn("softmaxSum", kFloatAlone),
      DtypeIn("topkIndices", kInt32Alone),
      SameDtype("query", "queryGrad"),
      SameDtype("query", "keyGrad"),
      SameDtype("query", "valueGrad"),
      Refuses(kTiling, "",
              [](PlanCall& call) {
                if (call["inputLayout"].null || call["inputLayout"].text != "TND") return true;
                for (const char* name : {"query", "key", "value"}) {
                  if (call[name].shape.size() != 3) return true;
                }
                const Shape& query = call["query"].shape;
                const Shape& key = call["key"].shape;
                const int64_t value_depth = call["value"].shape[2];
                if (query[1] <= 0 || query[2] <= 0 || query[2] > 768 || key[1] <= 0 ||
                    query[1] % key[1] != 0 || key[2] != query[2] ||
                    call["value"].shape != Shape{key[0], key[1], value_depth} || value_depth > 768 ||
                    call["headNum"].integer != query[1])
                  return true;
                const auto of_query = ValuesOf(call, "actualSeqQLen");
                const auto wrong = [&](const std::vector<int64_t>& ends, int64_t rows) {
                  if (ends.empty() || ends.size() != of_query.size()) return true;
                  int64_t before = 0;
                  for (const int64_t end : ends) {
                    if (end < before || end > rows) return true;
                    before = end;
                  }
                  return false;
                };
                if (wrong(of_query, query[0]) || wrong(ValuesOf(call, "actualSeqKvLen"), key[0])) return true;
                if (call["sparseMode"].integer != 0 && call["sparseMode"].integer != 2) return true;
                const int64_t block = call["selectedBlockSize"].integer;
                const int64_t count = call["selectedBlockCount"].integer;
                if (block < 1 || block > kMost || count < 0 || count > kMost) return true;
                const Shape result = {query[0], query[1], value_depth};
                const Shape statistics = {query[0], query[1], 8};
                return call["attentionOut"].shape != result || call["attentionOutGrad"].shape != result ||
                       call["softmaxMax"].shape != statistics || call["softmaxSum"].shape != statistics ||
                       call["topkIndices"].shape != Shape{query[0], key[1], count} ||
                       call["queryGrad"].shape != query || call["keyGrad"].shape != key ||
                       call["valueGrad"].shape != call["value"].shape;
              }),
      Refuses(561103, "",
              [](PlanCall& call) {
                return call["sparseMode"].integer == 0 && HasElements(call, "attenMaskOptional");
              }),
      DoneIfEmpty("query")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const int64_t key_heads = random.Between(1, 2);
    const int64_t heads = key_heads * random.Between(1, 2);
    const int64_t depth = random.Between(1, random.Chance(20) ? 70 : 9);
    const int64_t value_depth = random.Between(1, random.Chance(20) ? 70 : 9);
    const int64_t queries = random.Between(1, 8);
    const int64_t keys = random.Between(1, 20);
    const DtypeNumber dtype = DrawDtype(random, kHalves);
    call["query"].shape = call["queryGrad"].shape = {queries, heads, depth};
    call["key"].shape = call["keyGrad"].shape = {keys, key_heads, depth};
    call["value"].shape = call["valueGrad"].shape = {keys, key_heads, value_depth};
    call["attentionOut"].shape = call["attentionOutGrad"].shape = {queries, heads, value_depth};
    call["softmaxMax"].shape = call["softmaxSum"].shape = {queries, heads, 8};
    call["query"].dtype = dtype;
    for (const char* name : numbers) call[name].dtype = dtype;
    call["headNum"].integer = heads;
    call["sparseMode"].integer = 2 * random.Below(2);
    call["attenMaskOptional"].null = call["sparseMode"].integer == 0;
    call["selectedBlockSize"].integer = random.Between(1, 5);
    call["selectedBlockCount"].integer = random.Between(1, 4);
    call["topkIndices"].shape = {queries, key_heads, call["selectedBlockCount"].integer};
    const int64_t sequences = random.Between(1, 3);
    for (const auto& [name, rows] :
         {std::pair<const char*, int64_t>{"actualSeqQLen", queries}, {"actualSeqKvLen", keys}}) {
      call[name].values.clear();
      int64_t end = 0;
      for (int64_t b = 0; b < sequences; ++b) call[name].values.push_back(end = random.Between(end, rows));
    }
  };
  op.fill = [=](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (const char* name : {"query", "key", "value", "attentionOut", "attentionOutGrad"}) {
      HostTensor& tensor = tensors[PlaceOf(call, name)];
      for (int64_t i = 0; i < tensor.size(); ++i)
        tensor.Set(i, static_cast<double>(random.Between(-64, 64)) / 64);
    }
    // Greatest scores and sums of any rows: the formula asks for no others.
    for (const char* name : {"softmaxMax", "softmaxSum"}) {
      HostTensor& tensor = tensors[PlaceOf(call, name)];
      for (int64_t i = 0; i < tensor.size(); ++i)
        tensor.Set(i, static_cast<double>(random.Between(64, 256)) / 64);
    }
    SetIntegers(tensors[PlaceOf(call, "topkIndices")], random.Chance(20) ? -1 : 0, 5, random);
    if (!call["attenMaskOptional"].null)
      SetIntegers(tensors[PlaceOf(call, "attenMaskOptional")], 0, 2, random);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers query(call, tensors, "query"), key(call, tensors, "key"), value(call, tensors, "value");
    const Numbers out(call, tensors, "attentionOut"), slope(call, tensors, "attentionOutGrad");
    const Numbers greatest(call, tensors, "softmaxMax"), sums(call, tensors, "softmaxSum");
    const Numbers indices(call, tensors, "topkIndices");
    const auto of_query = ValuesOf(call, "actualSeqQLen");
    const auto of_key = ValuesOf(call, "actualSeqKvLen");
    const int64_t heads = query.shape()[1];
    const int64_t key_heads = key.shape()[1];
    const int64_t depth = query.shape()[2];
    const int64_t width = value.shape()[2];
    const int64_t block = call["selectedBlockSize"].integer;
    const int64_t count = call["selectedBlockCount"].integer;
    const double scale = call["scaleValue"].real;
    std::vector<double> dq(static_cast<size_t>(query.size())), dk(static_cast<size_t>(key.size())),
        dv(static_cast<size_t>(value.size()));
    for (size_t b = 0; b < of_query.size(); ++b) {
      const int64_t first = b == 0 ? 0 : of_query[b - 1];
      const int64_t first_key = b == 0 ? 0 : of_key[b - 1];
      for (int64_t row = first; row < of_query[b]; ++row) {
        for (int64_t h = 0; h < heads; ++h) {
          const int64_t n = h / (heads / key_heads);
          const int64_t at = row * heads + h;
          double delta = 0;
          for (int64_t d = 0; d < width; ++d) delta += out[at * width + d] * slope[at * width + d];
          for (int64_t i = 0; i < count; ++i) {
            const int64_t own = indices.Integer((row * key_heads + n) * count + i);
            for (int64_t j = own * block; own >= 0 && j < (own + 1) * block; ++j) {
              if (j >= of_key[b] - first_key || (call["sparseMode"].integer == 2 && j > row - first))
                continue;
              const int64_t place = (first_key + j) * key_heads + n;
              double score = 0, of_weight = 0;
              for (int64_t d = 0; d < depth; ++d) score += query[at * depth + d] * key[place * depth + d];
              for (int64_t d = 0; d < width; ++d)
                of_weight += slope[at * width + d] * value[place * width + d];
              const double weight = std::exp(score * scale - greatest[at * 8]) / sums[at * 8];
              const double of_score = weight * (of_weight - delta) * scale;
              for (int64_t d = 0; d < depth; ++d) {
                dq[static_cast<size_t>(at * depth + d)] += of_score * key[place * depth + d];
                dk[static_cast<size_t>(place * depth + d)] += of_score * query[at * depth + d];
              }
              for (int64_t d = 0; d < width; ++d)
                dv[static_cast<size_t>(place * width + d)] += weight * slope[at * width + d];
            }
          }
        }
      }
    }
    return std::vector<Outcome>{EncodedAll(query.dtype(), dq), EncodedAll(query.dtype(), dk),
                                EncodedAll(query.dtype(), dv)};
  };
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {Compressed(), CompressedInfer(), SelectedInfer(),
                                                SelectedGradient()};
  return all;
}

PORTACL_OPERATOR_TESTS(CompressedKeys, Operators());

// Blocks may be longer than all keys: their scores take no more memory than those of all keys.
TEST(CompressedKeysBlocks, LongerThanTheirSequence) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", "Ascend910B1"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  std::vector<uint16_t> memory(64);
  Made made;
  const auto half = [&](const Shape& shape) { return made.Dense(shape, ACL_FLOAT16, memory.data()); };
  aclTensor* const table = made.Dense({1, 2}, ACL_INT32, memory.data());
  aclTensor* const index = made.Dense({1, 1, 1}, ACL_INT32, memory.data());
  char layout[] = "BSND";
  const int64_t lengths[] = {8};
  aclIntArray* const keys = aclCreateIntArray(lengths, 1);
  uint64_t sizes[2] = {};
  for (size_t i = 0; i < 2; ++i) {
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(
        aclnnNsaSelectedAttentionInferGetWorkspaceSize(
            half({1, 1, 2, 4}), half({3, 4, 1, 4}), half({3, 4, 1, 4}), index, nullptr, table, nullptr, keys,
            layout, 2, 1, i == 0 ? 8 : kMost, 1, 4, 1.0, 0, half({1, 1, 2, 4}), &sizes[i], &executor),
        0)
        << aclGetRecentErrMsg();
    EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
  }
  EXPECT_EQ(sizes[0], sizes[1]);
  aclDestroyIntArray(keys);
}

}  // namespace
}  // namespace portacl::testing
