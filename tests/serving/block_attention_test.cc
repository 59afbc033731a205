// Attention to blocks of keys that are marked for all queries of a block, or selected for each query.
// SPDX-License-Identifier: Apache-2.0
#include "../moe/moe_calls.h"

#include "aclnnop/families/serving.h"

namespace portacl::testing {
namespace {

constexpr aclnnStatus kTiling = 561002;
const DtypeList kHalves = {ACL_FLOAT16, ACL_BF16};

bool IsSinceA2(const PlanCall& call) { return IsOn950(call) || IsOnA2OrA3(call); }
Rule HalvesAlone(const std::string& name) {
  return RefusedDtype(name, [](const PlanCall& call, DtypeNumber dtype) {
    return IsSinceA2(call) && std::count(kHalves.begin(), kHalves.end(), dtype) > 0;
  });
}

// Dims of a call in either layout.
struct Dims {
  explicit Dims(const PlanCall& call, int64_t sequences) {
    const Shape& query = call["query"].shape;
    is_packed = query.size() == 3;
    batches = is_packed ? sequences : query[0];
    heads = query[1];
    key_heads = call["key"].shape[1];
    queries = is_packed ? query[0] : query[2];
    keys = is_packed ? call["key"].shape[0] : call["key"].shape[2];
    depth = query.back();
    value_depth = call["value"].shape.back();
  }
  // The place of a row of a sequence that begins at row `first` of all, in a tensor of `count` heads.
  int64_t Place(int64_t b, int64_t first, int64_t row, int64_t head, int64_t count, int64_t rows) const {
    return is_packed ? (first + row) * count + head : (b * count + head) * rows + row;
  }
  bool is_packed;
  int64_t batches, heads, key_heads, queries, keys, depth, value_depth;
};

bool HeadsAreWrong(const PlanCall& call) {
  const Dims dims(call, 1);
  if (dims.heads <= 0 || dims.depth <= 0 || dims.depth > 768 || dims.key_heads <= 0 ||
      dims.heads % dims.key_heads != 0 || dims.value_depth > 768)
    return true;
  Shape key = call["key"].shape;
  key.back() = dims.depth;
  if (!dims.is_packed) key[0] = call["query"].shape[0];
  if (call["key"].shape != key) return true;
  key.back() = dims.value_depth;
  return call["value"].shape != key;
}

// What a query that sees these keys gets, and the statistics of its scores.
struct Attended {
  std::vector<double> out;
  double greatest, sum;
};
Attended Attend(const Numbers& query, int64_t query_place, const Numbers& key, const Numbers& value,
                const std::vector<int64_t>& places, const Dims& dims, double scale) {
  std::vector<double> scores;
  double greatest = -std::numeric_limits<float>::max();
  for (const int64_t place : places) {
    double product = 0;
    for (int64_t d = 0; d < dims.depth; ++d)
      product += query[query_place * dims.depth + d] * key[place * dims.depth + d];
    scores.push_back(product * scale);
    greatest = std::max(greatest, scores.back());
  }
  double sum = 0;
  for (const double score : scores) sum += std::exp(score - greatest);
  Attended made{std::vector<double>(static_cast<size_t>(dims.value_depth)), greatest, sum};
  for (size_t i = 0; i < places.size(); ++i) {
    for (int64_t d = 0; d < dims.value_depth; ++d)
      made.out[static_cast<size_t>(d)] +=
          std::exp(scores[i] - greatest) / sum * value[places[i] * dims.value_depth + d];
  }
  if (places.empty()) made.sum = std::numeric_limits<float>::max();
  return made;
}

void FillNumbers(const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  for (const char* name : {"query", "key", "value"}) {
    HostTensor& tensor = tensors[PlaceOf(call, name)];
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.Set(i, static_cast<double>(random.Between(-64, 64)) / 64);
  }
}

// ---- BlockSparseAttention ----

bool HasLengths(const PlanCall& call, const std::string& name) {
  return !call[name].null && !call[name].values.empty();
}
bool LengthsAreWrong(const PlanCall& call, const std::string& name, const Dims& dims, int64_t most) {
  if (!HasLengths(call, name)) return dims.is_packed;
  if (std::ssize(call[name].values) != dims.batches) return true;
  int64_t total = 0;
  for (const int64_t length : call[name].values) {
    if (length < 0 || length > most - (dims.is_packed ? total : 0)) return true;
    total += length;
  }
  return false;
}
std::vector<int64_t> LengthsOf(const PlanCall& call, const std::string& name, const Dims& dims, int64_t all) {
  if (HasLengths(call, name)) return call[name].values;
  return std::vector<int64_t>(static_cast<size_t>(dims.batches), all);
}
int64_t Longest(const std::vector<int64_t>& lengths) {
  return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
}
const std::string kQueryLengths = "actualSeqLengthsOptional";
const std::string kKeyLengths = "actualSeqLengthsKvOptional";

OperatorSpec Marked() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnBlockSparseAttention);
  op.valid = {TensorArg("query", {4, 2, 4}, ACL_FLOAT16),
              TensorArg("key", {5, 1, 4}, ACL_FLOAT16),
              TensorArg("value", {5, 1, 3}, ACL_FLOAT16),
              DistinctArg("blockSparseMask", {2, 2, 2, 2}, ACL_INT8),
              TensorArg("attenMaskOptional", {2, 2}, ACL_INT8),
              ArrayArg("blockShape", {2, 2}),
              ArrayArg(kQueryLengths, {3, 1}),
              ArrayArg(kKeyLengths, {2, 3}),
              TensorArg("blockTableOptional", {2, 2}, ACL_INT32),
              TextArg("qInputLayout", "TND"),
              TextArg("kvInputLayout", "TND"),
              IntegerArg("numKeyValueHeads", 1),
              IntegerArg("maskType", 0),
              RealArg("scaleValue", 0.5),
              IntegerArg("innerPrecise", 0),
              IntegerArg("blockSize", 0),
              IntegerArg("preTokens", 7),
              IntegerArg("nextTokens", 7),
              IntegerArg("softmaxLseFlag", 1),
              OutputArg("attentionOut", {4, 2, 3}, ACL_FLOAT16),
              OutputArg("softmaxLseOptional", {4, 2, 1})};
  op.valid[4].null = op.valid[8].null = true;
  op.takes_workspace = true;
  op.tolerance = 1e-2;
  const auto sequences = [](const PlanCall& call) -> int64_t {
    return call[kQueryLengths].null ? 0 : std::ssize(call[kQueryLengths].values);
  };
  const auto layout = [](const PlanCall& call, const char* name) {
    return call[name].null ? std::string("TND") : call[name].text;
  };
  const auto returns = [](const PlanCall& call) { return call["softmaxLseFlag"].integer != 0; };
  op.rules = {
      NoNulls("query key value blockSparseMask attentionOut"),
      HalvesAlone("query"),
      SameDtype("query", "key"),
      SameDtype("query", "value"),
      DtypeIn("blockSparseMask", {{ACL_INT8}}),
      SameDtype("query", "attentionOut"),
      Refuses(161002, "softmaxLseOptional",
              [=](PlanCall& call) {
                return returns(call) && !call["softmaxLseOptional"].null &&
                       call["softmaxLseOptional"].dtype != ACL_FLOAT;
              }),
      Refuses(kTiling, "",
              [=](PlanCall& call) {
                const std::string own = layout(call, "qInputLayout");
                if ((own != "TND" && own != "BNSD") || layout(call, "kvInputLayout") != own) return true;
                const size_t rank = own == "TND" ? 3 : 4;
                for (const char* name : {"query", "key", "value"}) {
                  if (call[name].shape.size() != rank) return true;
                }
                const Dims dims(call, sequences(call));
                if (HeadsAreWrong(call) || call["numKeyValueHeads"].integer != dims.key_heads) return true;
                const PlanArgument& block = call["blockShape"];
                if (block.null || block.values.size() < 2 || block.values[0] <= 0 || block.values[1] <= 0)
                  return true;
                if (dims.is_packed && sequences(call) == 0) return true;
                if (LengthsAreWrong(call, kQueryLengths, dims, dims.queries) ||
                    LengthsAreWrong(call, kKeyLengths, dims, dims.keys))
                  return true;
                const auto blocks = [](int64_t n, int64_t by) { return n / by + (n % by != 0 ? 1 : 0); };
                const Shape& marks = call["blockSparseMask"].shape;
                if (marks.size() != 4 || marks[0] != dims.batches || marks[1] != dims.heads) return true;
                if (marks[2] < blocks(Longest(LengthsOf(call, kQueryLengths, dims, dims.queries)),
                                      block.values[0]) ||
                    marks[3] <
                        blocks(Longest(LengthsOf(call, kKeyLengths, dims, dims.keys)), block.values[1]))
                  return true;
                Shape out = call["query"].shape;
                out.back() = dims.value_depth;
                if (call["attentionOut"].shape != out) return true;
                out.back() = 1;
                return returns(call) &&
                       (call["softmaxLseOptional"].null || call["softmaxLseOptional"].shape != out);
              }),
      Refuses(561103, "",
              [](PlanCall& call) {
                for (const char* name : {"attenMaskOptional", "blockTableOptional"}) {
                  if (!call[name].null && NumElements(call[name].shape) > 0) return true;
                }
                return call["maskType"].integer != 0;
              }),
      DoneIfEmpty("attentionOut")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const bool is_packed = random.Chance(50);
    const int64_t batches = random.Between(1, 3);
    const int64_t key_heads = random.Between(1, 2);
    const int64_t heads = key_heads * random.Between(1, 2);
    const int64_t depth = random.Between(1, random.Chance(20) ? 70 : 9);
    const int64_t value_depth = random.Between(1, random.Chance(20) ? 70 : 9);
    const int64_t queries = random.Between(1, 7);
    const int64_t keys = random.Between(1, 20);
    const DtypeNumber dtype = DrawDtype(random, kHalves);
    const auto shape = [&](int64_t count, int64_t rows, int64_t last) {
      return is_packed ? Shape{rows, count, last} : Shape{batches, count, rows, last};
    };
    call["query"].shape = shape(heads, queries, depth);
    call["key"].shape = shape(key_heads, keys, depth);
    call["value"].shape = shape(key_heads, keys, value_depth);
    call["attentionOut"].shape = shape(heads, queries, value_depth);
    call["softmaxLseOptional"].shape = shape(heads, queries, 1);
    for (const char* name : {"query", "key", "value", "attentionOut"}) call[name].dtype = dtype;
    for (const char* name : {"qInputLayout", "kvInputLayout"}) {
      call[name].text = is_packed ? "TND" : "BNSD";
      call[name].null = is_packed && random.Chance(30);
    }
    call["numKeyValueHeads"].integer = key_heads;
    call["softmaxLseFlag"].integer = random.Below(2);
    int64_t blocks[] = {random.Between(1, 4), random.Between(1, 6)};
    // Blocks longer than all keys, and marks behind that of the last key.
    if (random.Chance(20)) blocks[1] = random.Chance(50) ? INT64_MAX : int64_t{1} << 62;
    call["blockShape"].values = {blocks[0], blocks[1]};
    for (const auto& [name, most] :
         {std::pair<std::string, int64_t>{kQueryLengths, queries}, {kKeyLengths, keys}}) {
      call[name].null = !is_packed && random.Chance(50);
      call[name].values.clear();
      int64_t rest = most;
      for (int64_t b = 0; b < batches; ++b) {
        call[name].values.push_back(random.Between(0, rest));
        if (is_packed) rest -= call[name].values.back();
      }
    }
    call["blockSparseMask"].shape = {batches, heads, (queries + blocks[0] - 1) / blocks[0],
                                     keys / blocks[1] + 1 + random.Below(3)};
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillNumbers(call, tensors, random);
    SetIntegers(tensors[PlaceOf(call, "blockSparseMask")], 0, random.Chance(50) ? 2 : 3, random);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Dims dims(call, sequences(call));
    const Numbers query(call, tensors, "query"), key(call, tensors, "key"), value(call, tensors, "value");
    const Numbers marks(call, tensors, "blockSparseMask");
    const auto query_lengths = LengthsOf(call, kQueryLengths, dims, dims.queries);
    const auto key_lengths = LengthsOf(call, kKeyLengths, dims, dims.keys);
    const auto& block = call["blockShape"].values;
    std::vector<double> out(static_cast<size_t>(NumElements(call["attentionOut"].shape)));
    std::vector<double> lse(static_cast<size_t>(NumElements(call["query"].shape) / dims.depth),
                            std::numeric_limits<double>::infinity());
    int64_t first = 0, first_key = 0;
    for (int64_t b = 0; b < dims.batches; ++b) {
      const int64_t rows = query_lengths[static_cast<size_t>(b)];
      const int64_t keys = key_lengths[static_cast<size_t>(b)];
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t h = 0; h < dims.heads; ++h) {
          std::vector<int64_t> places;
          for (int64_t j = 0; j < keys; ++j) {
            const Shape& shape = marks.shape();
            if (marks.Integer(((b * shape[1] + h) * shape[2] + i / block[0]) * shape[3] + j / block[1]) == 1)
              places.push_back(
                  dims.Place(b, first_key, j, h / (dims.heads / dims.key_heads), dims.key_heads, dims.keys));
          }
          const int64_t place = dims.Place(b, first, i, h, dims.heads, dims.queries);
          const Attended got = Attend(query, place, key, value, places, dims, call["scaleValue"].real);
          std::copy(got.out.begin(), got.out.end(), out.begin() + place * dims.value_depth);
          if (!places.empty()) lse[static_cast<size_t>(place)] = got.greatest + std::log(got.sum);
        }
      }
      first += rows;
      first_key += keys;
    }
    return std::vector<Outcome>{EncodedAll(call["attentionOut"].dtype, out),
                                returns(call) ? EncodedAll(ACL_FLOAT, lse) : Outcome()};
  };
  return op;
}

// ---- NsaSelectedAttention ----

OperatorSpec Selected() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnNsaSelectedAttention);
  op.valid = {TensorArg("query", {4, 2, 4}, ACL_FLOAT16),
              TensorArg("key", {5, 1, 4}, ACL_FLOAT16),
              TensorArg("value", {5, 1, 3}, ACL_FLOAT16),
              DistinctArg("topkIndices", {4, 1, 2}, ACL_INT32),
              TensorArg("attenMaskOptional", {2, 2}, ACL_BOOL),
              ArrayArg("actualSeqQLen", {3, 4}),
              ArrayArg("actualSeqKvLen", {2, 5}),
              RealArg("scaleValue", 0.5),
              IntegerArg("headNum", 2),
              TextArg("inputLayout", "TND"),
              IntegerArg("sparseMode", 2),
              IntegerArg("selectedBlockSize", 2),
              IntegerArg("selectedBlockCount", 2),
              OutputArg("softmaxMaxOut", {4, 2, 8}),
              OutputArg("softmaxSumOut", {4, 2, 8}),
              OutputArg("attentionOut", {4, 2, 3}, ACL_FLOAT16)};
  op.takes_workspace = true;
  op.tolerance = 1e-2;
  const auto ends = [](const PlanCall& call, const char* name) {
    return call[name].null ? std::vector<int64_t>() : call[name].values;
  };
  op.rules = {NoNulls("query key value topkIndices softmaxMaxOut softmaxSumOut attentionOut"),
              HalvesAlone("query"),
              SameDtype("query", "key"),
              SameDtype("query", "value"),
              DtypeIn("topkIndices", kInt32Alone),
              DtypeIn("softmaxMaxOut", kFloatAlone),
              DtypeIn("softmaxSumOut", kFloatAlone),
              SameDtype("query", "attentionOut"),
              Refuses(kTiling, "",
                      [=](PlanCall& call) {
                        if (call["inputLayout"].null || call["inputLayout"].text != "TND") return true;
                        for (const char* name : {"query", "key", "value"}) {
                          if (call[name].shape.size() != 3) return true;
                        }
                        const auto of_query = ends(call, "actualSeqQLen");
                        const auto of_key = ends(call, "actualSeqKvLen");
                        const Dims dims(call, std::ssize(of_query));
                        if (HeadsAreWrong(call) || call["headNum"].integer != dims.heads) return true;
                        const auto wrong = [&](const std::vector<int64_t>& list, int64_t rows) {
                          if (list.empty() || list.size() != of_query.size()) return true;
                          int64_t before = 0;
                          for (const int64_t end : list) {
                            if (end < before || end > rows) return true;
                            before = end;
                          }
                          return false;
                        };
                        if (wrong(of_query, dims.queries) || wrong(of_key, dims.keys)) return true;
                        if (call["sparseMode"].integer != 0 && call["sparseMode"].integer != 2) return true;
                        const int64_t block = call["selectedBlockSize"].integer;
                        const int64_t count = call["selectedBlockCount"].integer;
                        constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
                        if (block < 1 || block > kMost || count < 0 || count > kMost / block) return true;
                        const Shape statistics = {dims.queries, dims.heads, 8};
                        return call["topkIndices"].shape != Shape{dims.queries, dims.key_heads, count} ||
                               call["softmaxMaxOut"].shape != statistics ||
                               call["softmaxSumOut"].shape != statistics ||
                               call["attentionOut"].shape !=
                                   Shape{dims.queries, dims.heads, dims.value_depth};
                      }),
              Refuses(561103, "",
                      [](PlanCall& call) {
                        return call["sparseMode"].integer == 0 && !call["attenMaskOptional"].null &&
                               NumElements(call["attenMaskOptional"].shape) > 0;
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
    call["query"].shape = {queries, heads, depth};
    call["key"].shape = {keys, key_heads, depth};
    call["value"].shape = {keys, key_heads, value_depth};
    call["attentionOut"].shape = {queries, heads, value_depth};
    call["softmaxMaxOut"].shape = call["softmaxSumOut"].shape = {queries, heads, 8};
    for (const char* name : {"query", "key", "value", "attentionOut"}) call[name].dtype = dtype;
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
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillNumbers(call, tensors, random);
    SetIntegers(tensors[PlaceOf(call, "topkIndices")], random.Chance(20) ? -1 : 0, 5, random);
    if (!call["attenMaskOptional"].null)
      SetIntegers(tensors[PlaceOf(call, "attenMaskOptional")], 0, 2, random);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const auto of_query = ends(call, "actualSeqQLen");
    const auto of_key = ends(call, "actualSeqKvLen");
    const Dims dims(call, std::ssize(of_query));
    const Numbers query(call, tensors, "query"), key(call, tensors, "key"), value(call, tensors, "value");
    const Numbers indices(call, tensors, "topkIndices");
    const int64_t block = call["selectedBlockSize"].integer;
    const int64_t count = call["selectedBlockCount"].integer;
    constexpr double kMost = std::numeric_limits<float>::max();
    std::vector<double> out(static_cast<size_t>(dims.queries * dims.heads * dims.value_depth));
    std::vector<double> greatest(static_cast<size_t>(dims.queries * dims.heads * 8), -kMost);
    std::vector<double> sums(greatest.size(), kMost);
    for (size_t b = 0; b < of_query.size(); ++b) {
      const int64_t first = b == 0 ? 0 : of_query[b - 1];
      const int64_t first_key = b == 0 ? 0 : of_key[b - 1];
      for (int64_t row = first; row < of_query[b]; ++row) {
        for (int64_t h = 0; h < dims.heads; ++h) {
          const int64_t key_head = h / (dims.heads / dims.key_heads);
          std::vector<int64_t> places;
          for (int64_t i = 0; i < count; ++i) {
            const int64_t own = indices.Integer((row * dims.key_heads + key_head) * count + i);
            for (int64_t j = own * block; own >= 0 && j < (own + 1) * block; ++j) {
              if (j < of_key[b] - first_key && (call["sparseMode"].integer == 0 || j <= row - first))
                places.push_back((first_key + j) * dims.key_heads + key_head);
            }
          }
          const int64_t place = row * dims.heads + h;
          const Attended got = Attend(query, place, key, value, places, dims, call["scaleValue"].real);
          std::copy(got.out.begin(), got.out.end(), out.begin() + place * dims.value_depth);
          std::fill_n(greatest.begin() + place * 8, 8, got.greatest);
          std::fill_n(sums.begin() + place * 8, 8, got.sum);
        }
      }
    }
    return std::vector<Outcome>{EncodedAll(ACL_FLOAT, greatest), EncodedAll(ACL_FLOAT, sums),
                                EncodedAll(call["attentionOut"].dtype, out)};
  };
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {Marked(), Selected()};
  return all;
}

PORTACL_OPERATOR_TESTS(BlocksOfKeys, Operators());

TEST(BlocksOfKeysBad, SumsFartherApartThanThereAreAddressesAreRefused) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", "Ascend910B1"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  std::vector<float> memory(64);
  Made tensors;
  const auto half = [&](const Shape& shape) { return tensors.Dense(shape, ACL_FLOAT16, memory.data()); };
  char layout[] = "BNSD";
  const int64_t blocks[] = {2, 2};
  aclIntArray* const block_shape = aclCreateIntArray(blocks, 2);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(aclnnBlockSparseAttentionGetWorkspaceSize(
                half({1, 1, 3, 4}), half({1, 1, 3, 4}), half({1, 1, 3, 4}),
                tensors.Dense({1, 1, 2, 2}, ACL_INT8, memory.data()), nullptr, block_shape, nullptr, nullptr,
                nullptr, layout, layout, 1, 0, 1.0, 0, 0, 0, 0, 1, half({1, 1, 3, 4}),
                tensors.FarApart({1, 1, 3, 1}, ACL_FLOAT, memory.data()), &size, &executor),
            161002);
  ExpectMessage("softmaxLseOptional");
  aclDestroyIntArray(block_shape);
}

}  // namespace
}  // namespace portacl::testing
