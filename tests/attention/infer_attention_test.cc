// Attention for inference, from its description: lengths of batches, pages, layouts of results.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "../norm/row_calls.h"

#include "aclnnop/families/attention.h"
#include "gtest/gtest.h"
#include "support/environment.h"
#include "support/guarded_buffer.h"

namespace portacl::testing {
namespace {

const DtypeList kDtypes = {ACL_FLOAT16, ACL_BF16};

bool HasDims(const IndexArgument& one) { return !one.null && !one.shape.empty(); }

struct Lengths {
  int64_t b = 1, n = 0, s = 0, d = 0;
};
// Of "BSH", "BSND", "BNSD", "NBSD", "TND" or "NTD".
Lengths LengthsOf(const Shape& shape, const std::string& layout, int64_t heads) {
  if (layout == "BSH") return {shape[0], heads, shape[1], heads > 0 ? shape[2] / heads : 0};
  if (layout == "BSND") return {shape[0], shape[2], shape[1], shape[3]};
  if (layout == "BNSD") return {shape[0], shape[1], shape[2], shape[3]};
  if (layout == "NBSD") return {shape[1], shape[0], shape[2], shape[3]};
  if (layout == "TND") return {1, shape[1], shape[0], shape[2]};
  return {1, shape[0], shape[1], shape[2]};
}
Shape ShapeOf(const Lengths& l, const std::string& layout) {
  if (layout == "BSH") return {l.b, l.s, l.n * l.d};
  if (layout == "BSND") return {l.b, l.s, l.n, l.d};
  if (layout == "BNSD") return {l.b, l.n, l.s, l.d};
  if (layout == "NBSD") return {l.n, l.b, l.s, l.d};
  if (layout == "TND") return {l.s, l.n, l.d};
  return {l.n, l.s, l.d};
}
size_t PlaceOf(const Lengths& l, const std::string& layout, int64_t b, int64_t n, int64_t s, int64_t d) {
  int64_t place = ((b * l.s + s) * l.n + n) * l.d + d;
  if (layout == "BNSD") place = ((b * l.n + n) * l.s + s) * l.d + d;
  if (layout == "NBSD") place = ((n * l.b + b) * l.s + s) * l.d + d;
  if (layout == "NTD") place = (n * l.s + s) * l.d + d;
  return static_cast<size_t>(place);
}
const std::vector<std::string> kLayouts = {"BSH",     "BSND",    "BNSD",     "TND",       "BNSD_BSND",
                                           "NTD_TND", "TND_NTD", "BSH_NBSD", "BSND_NBSD", "BNSD_NBSD"};
std::string InOf(const std::string& layout) { return layout.substr(0, layout.find('_')); }
std::string OutOf(const std::string& layout) {
  return layout.find('_') == std::string::npos ? layout : layout.substr(layout.find('_') + 1);
}
bool IsPacked(const std::string& layout) { return layout[0] == 'T' || layout[0] == 'N'; }
int64_t KeyHeads(const IndexCall& call) {
  const int64_t heads = call["numKeyValueHeads"].integer;
  return heads == 0 ? call["numHeads"].integer : heads;
}

struct Problem {
  explicit Problem(const IndexCall& call)
      : in(InOf(call["inputLayout"].text)),
        out(OutOf(call["inputLayout"].text)),
        packed(IsPacked(in)),
        paged(HasDims(call["blockTable"])) {
    q = LengthsOf(call["query"].shape, in, call["numHeads"].integer);
    const auto of = [&](const std::string& name) {
      const Shape& shape = call[name].entries[0].shape;
      return LengthsOf(shape, !paged ? in : shape.size() == 3 ? "BSH" : "BNSD", KeyHeads(call));
    };
    k = of("key");
    v = of("value");
    batches = !packed ? q.b : std::ssize(call["actualSeqLengths"].values);
    if (packed && call["actualSeqLengths"].null) batches = 0;
    most_keys = paged ? call["blockTable"].shape[1] * k.s : k.s;
  }
  static std::pair<int64_t, int64_t> Part(const IndexArgument& array, bool cumulative, int64_t all,
                                          int64_t b) {
    if (array.null || array.values.empty()) return {0, all};
    if (!cumulative) return {0, array.values[array.values.size() == 1 ? 0 : static_cast<size_t>(b)]};
    const int64_t first = b == 0 ? 0 : array.values[static_cast<size_t>(b) - 1];
    return {first, array.values[static_cast<size_t>(b)] - first};
  }
  // The first row and how many there are.
  std::pair<int64_t, int64_t> Queries(const IndexCall& call, int64_t b) const {
    return Part(call["actualSeqLengths"], packed, q.s, b);
  }
  std::pair<int64_t, int64_t> Keys(const IndexCall& call, int64_t b) const {
    return Part(call["actualSeqLengthsKv"], packed && !paged, most_keys, b);
  }
  Lengths Out() const { return {q.b, q.n, q.s, v.d}; }
  bool IsDecoding() const { return !packed && q.s == 1; }

  std::string in, out;
  bool packed, paged;
  Lengths q, k, v;
  int64_t batches = 0;
  int64_t most_keys = 0;
};

using Wrong = std::function<bool(IndexCall&, const Problem&)>;
IndexRule Tiling(const std::string& words, const Wrong& wrong) {
  return Refuses(561002, words, [=](IndexCall& call) { return wrong(call, Problem(call)); });
}

bool LengthsFit(IndexCall& call, const Problem& p, const std::string& name, bool cumulative, bool needed,
                int64_t most) {
  const IndexArgument& array = call[name];
  const int64_t count = array.null ? 0 : std::ssize(array.values);
  if (count == 0) return !needed;
  if (count < p.batches && (count != 1 || cumulative)) return false;
  int64_t before = 0;
  for (int64_t b = 0; b < std::min(count, p.batches); ++b) {
    const int64_t length = array.values[static_cast<size_t>(b)];
    if (length < before || length > most) return false;
    if (cumulative) before = length;
  }
  return true;
}

// All between deqScale1 and numHeads but a table of pages and a sink.
bool IsNotComputed(IndexCall& call) {
  bool is_between = false;
  for (const IndexArgument& one : call.arguments) {
    if (one.name == "deqScale1") is_between = true;
    if (one.name == "numHeads") return false;
    if (is_between && one.kind == ParameterKind::kTensor && one.name != "blockTable" &&
        one.name != "learnableSink" && HasDims(one))
      return true;
  }
  return false;
}

IndexRules Rules(bool has_sink) {
  return {
      NoNulls("query key value"),
      Refuses(161001, "key value",
              [](IndexCall& call) { return call["key"].entries.empty() || call["value"].entries.empty(); }),
      NoNulls("inputLayout attentionOut"),
      Refuses(161001, "softmaxLse",
              [](IndexCall& call) { return call["softmaxLseFlag"].integer != 0 && call["softmaxLse"].null; }),
      Refuses(161002, "query",
              [](IndexCall& call) {
                return (call.product != Product::kA2 && call.product != Product::kA3) ||
                       !IsOneOf(call["query"].dtype, kDtypes);
              }),
      Refuses(161002, "",
              [=](IndexCall& call) {
                const DtypeNumber dtype = call["query"].dtype;
                bool wrong = call["attentionOut"].dtype != dtype;
                for (const char* list : {"key", "value"}) {
                  for (const IndexArgument& entry : call[list].entries) wrong = wrong || entry.dtype != dtype;
                }
                const auto is_other = [&](const char* name, const DtypeList& dtypes) {
                  return HasDims(call[name]) && !IsOneOf(call[name].dtype, dtypes);
                };
                return wrong || is_other("pseShift", {dtype}) ||
                       is_other("attenMask", {ACL_BOOL, ACL_INT8, ACL_UINT8}) ||
                       is_other("blockTable", {ACL_INT32}) ||
                       (call["softmaxLseFlag"].integer != 0 && call["softmaxLse"].dtype != ACL_FLOAT) ||
                       (has_sink && is_other("learnableSink", {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}));
              }),
      Refuses(561103, "", IsNotComputed),
      EmptyDone("query"),
      Refuses(561002, "",
              [](IndexCall& call) {
                const std::string layout = call["inputLayout"].text;
                if (std::find(kLayouts.begin(), kLayouts.end(), layout) == kLayouts.end()) return true;
                const size_t rank = layout.substr(0, 3) == "BSH" || IsPacked(layout) ? 3 : 4;
                bool wrong = call["query"].shape.size() != rank;
                for (const char* list : {"key", "value"}) {
                  const auto& entries = call[list].entries;
                  if (entries.size() != 1) return true;
                  const size_t own = entries[0].shape.size();
                  wrong = wrong || (HasDims(call["blockTable"]) ? own != 3 && own != 4 : own != rank);
                }
                return wrong || (HasDims(call["blockTable"]) && call["blockTable"].shape.size() != 2);
              }),
      Refuses(561002, "numHeads numKeyValueHeads",
              [](IndexCall& call) {
                const int64_t heads = call["numHeads"].integer;
                const int64_t keys = KeyHeads(call);
                return heads <= 0 || keys <= 0 || heads % keys != 0 || heads / keys > 64;
              }),
      Tiling("",
             [](IndexCall& call, const Problem& p) {
               const auto splits = [&](const Shape& shape, const Lengths& l, bool joined) {
                 return !joined || shape[2] == l.n * l.d;
               };
               const Shape& key = call["key"].entries[0].shape;
               const Shape& value = call["value"].entries[0].shape;
               const bool is_bsh = p.in == "BSH";
               return p.q.n != call["numHeads"].integer || !splits(call["query"].shape, p.q, is_bsh) ||
                      p.k.n != KeyHeads(call) || p.v.n != KeyHeads(call) ||
                      !splits(key, p.k, p.paged ? key.size() == 3 : is_bsh) ||
                      !splits(value, p.v, p.paged ? value.size() == 3 : is_bsh) || p.v.s != p.k.s ||
                      p.v.b != p.k.b || p.k.d != p.q.d || p.q.d <= 0 ||
                      (!p.packed && !p.paged && p.k.b != p.q.b);
             }),
      Tiling("",
             [](IndexCall& call, const Problem& p) {
               if (!LengthsFit(call, p, "actualSeqLengths", p.packed, p.packed, p.q.s) ||
                   !LengthsFit(call, p, "actualSeqLengthsKv", p.packed && !p.paged, p.packed || p.paged,
                               p.most_keys))
                 return true;
               return p.paged &&
                      (call["blockTable"].shape[0] < p.batches || call["blockSize"].integer != p.k.s);
             }),
      Tiling("pseShift",
             [](IndexCall& call, const Problem& p) {
               if (!HasDims(call["pseShift"])) return false;
               const Shape& s = call["pseShift"].shape;
               return p.packed || s.size() != 4 || (s[0] != 1 && s[0] != p.batches) || s[1] != p.q.n ||
                      s[2] < p.q.s || s[3] < p.most_keys;
             }),
      Tiling("attenMask sparseMode",
             [](IndexCall& call, const Problem& p) {
               const int64_t mode = call["sparseMode"].integer;
               if (mode < 0 || mode > 4) return true;
               if (!HasDims(call["attenMask"])) return mode != 0 && !p.IsDecoding();
               const Shape& s = call["attenMask"].shape;
               if (s.size() < 2 || s.size() > 4) return true;
               bool ones = true;
               for (size_t dim = 1; dim + (p.IsDecoding() ? 1 : 2) < s.size(); ++dim) {
                 if (p.IsDecoding() || mode >= 2) ones = ones && s[dim] == 1;
               }
               const bool batch = s[0] == 1 || s[0] == p.batches;
               if (p.IsDecoding()) return !ones || !batch || s.back() < p.most_keys;
               const int64_t rows = s[s.size() - 2];
               if (mode >= 2) return !ones || (s.size() > 2 && s[0] != 1) || rows != 2048 || s.back() != 2048;
               return p.packed || rows < p.q.s || s.back() < p.most_keys || (s.size() > 2 && !batch);
             }),
      Tiling("attentionOut softmaxLse learnableSink",
             [=](IndexCall& call, const Problem& p) {
               if (call["attentionOut"].shape != ShapeOf(p.Out(), p.out)) return true;
               const Shape lse = p.packed ? Shape{p.q.s, p.q.n, 1} : Shape{p.q.b, p.q.n, p.q.s, 1};
               if (call["softmaxLseFlag"].integer != 0 && call["softmaxLse"].shape != lse) return true;
               return has_sink && HasDims(call["learnableSink"]) &&
                      call["learnableSink"].shape != Shape{p.q.n};
             }),
  };
}

void Draw(IndexCall& call, RandomNumbers& random, bool has_sink) {
  const std::string layout = kLayouts[static_cast<size_t>(random.Below(std::ssize(kLayouts)))];
  const std::string in = InOf(layout);
  const bool packed = IsPacked(in);
  const bool paged = random.Below(3) == 0;
  const int64_t batches = random.Between(1, 3);
  const int64_t key_heads = random.Between(1, 2);
  const int64_t heads = key_heads * random.Between(1, 2);
  Lengths q{packed ? 1 : batches, heads, 0, random.Between(1, random.Below(8) == 0 ? 280 : 24)};
  const int64_t value_depth = random.Below(2) == 0 ? q.d : random.Between(1, 24);
  std::vector<int64_t> query_sums, key_sums, queries, keys;
  int64_t of_queries = 0, of_keys = 0;
  const int64_t same = random.Below(3) == 0 ? 1 : random.Between(1, 12);
  const int64_t most = random.Between(1, random.Below(5) == 0 ? 600 : 30);
  for (int64_t b = 0; b < batches; ++b) {
    queries.push_back(random.Between(packed ? 0 : 1, same));
    keys.push_back(random.Between(0, most));
    query_sums.push_back(of_queries += queries.back());
    key_sums.push_back(of_keys += keys.back());
  }
  q.s = packed ? std::max<int64_t>(of_queries, 1) : same;
  Lengths k{q.b, key_heads, packed ? std::max<int64_t>(of_keys, 1) : most, q.d};
  const int64_t rows = random.Below(2) == 0 ? 16 : random.Between(1, 40);
  std::string key_layout = in;
  IndexArgument& table = call["blockTable"];
  table.null = !paged;
  if (paged) {
    const int64_t each = (most + rows - 1) / rows + random.Below(2);
    k.s = rows;
    k.b = batches * each + 1;
    table.shape = {batches, each};
    key_layout = random.Below(2) == 0 ? "BSH" : "BNSD";
  }
  call["blockSize"].integer = paged ? rows : random.Below(3);
  call["inputLayout"].text = layout;
  call["numHeads"].integer = heads;
  call["numKeyValueHeads"].integer = heads == key_heads && random.Below(2) == 0 ? 0 : key_heads;
  call["actualSeqLengths"].null = !packed && random.Below(2) == 0;
  call["actualSeqLengths"].values = packed ? query_sums : queries;
  call["actualSeqLengthsKv"].null = !packed && !paged && random.Below(2) == 0;
  call["actualSeqLengthsKv"].values = packed && !paged ? key_sums : keys;
  if (!packed && random.Below(4) == 0) call["actualSeqLengthsKv"].values.resize(1);
  const DtypeNumber dtype = DrawDtype(random, kDtypes);
  Lengths v = k;
  v.d = value_depth;
  const Lengths out{q.b, heads, q.s, value_depth};
  call["query"].shape = ShapeOf(q, in);
  call["key"].entries[0].shape = ShapeOf(k, key_layout);
  call["value"].entries[0].shape = ShapeOf(v, key_layout);
  call["attentionOut"].shape = ShapeOf(out, OutOf(layout));
  for (const char* name : {"query", "attentionOut", "pseShift"}) call[name].dtype = dtype;
  for (const char* name : {"key", "value"}) call[name].entries[0].dtype = dtype;
  const int64_t most_keys = paged ? table.shape[1] * rows : k.s;
  call["pseShift"].null = packed || random.Below(3) != 0;
  call["pseShift"].shape = {random.Below(2) == 0 ? 1 : q.b, heads, q.s + random.Below(2),
                            most_keys + random.Below(2)};
  IndexArgument& mask = call["attenMask"];
  mask.null = packed || random.Below(3) == 0;
  mask.dtype = DrawDtype(random, {ACL_BOOL, ACL_INT8, ACL_UINT8});
  const int64_t batch = random.Below(2) == 0 ? 1 : batches;
  mask.shape = q.s == 1 ? Shape{batch, most_keys} : Shape{q.s + random.Below(2), most_keys + random.Below(2)};
  if (q.s > 1 && random.Below(2) == 0) mask.shape.insert(mask.shape.begin(), batch);
  if (mask.shape.size() == 3 && random.Below(2) == 0) mask.shape.insert(mask.shape.begin() + 1, 1);
  call["sparseMode"].integer = mask.null ? 0 : random.Below(2);
  call["preTokens"].integer = random.Below(2) == 0 ? 65535 : random.Between(-2, most);
  call["nextTokens"].integer = random.Below(2) == 0 ? 65535 : random.Between(-2, most);
  call["scaleValue"].real = 1 / std::sqrt(static_cast<double>(q.d));
  call["softmaxLseFlag"].integer = random.Below(2);
  call["softmaxLse"].shape = packed ? Shape{q.s, heads, 1} : Shape{q.b, heads, q.s, 1};
  if (has_sink) {
    call["learnableSink"].null = random.Below(2) == 0;
    call["learnableSink"].shape = {heads};
    call["learnableSink"].dtype = DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16});
  }
}

void Fill(const IndexCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  const auto arguments = TensorsOf(call);
  const bool is_empty = call["key"].entries[0].shape.empty();
  const int64_t pages = is_empty ? 1 : call["key"].entries[0].shape[0];
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::string& name = arguments[i]->name;
    for (int64_t k = 0; k < tensors[i].size(); ++k) {
      double value = static_cast<double>(random.Between(-2000, 2000)) / 1000;
      if (name == "attenMask") value = random.Below(100) < 30 ? 1 : 0;
      if (name == "blockTable") value = static_cast<double>(random.Below(pages));
      if (name == "pseShift" && random.Below(3) == 0) value = -std::numeric_limits<double>::infinity();
      const Element element = ElementOfNumber(tensors[i].dtype(), {static_cast<long double>(value), 0});
      std::copy(element.begin(), element.end(), tensors[i].Element(k));
    }
  }
}

std::vector<Outcome> Attend(const IndexCall& call, const std::vector<TensorValues>& tensors) {
  const Problem p(call);
  std::map<std::string, const TensorValues*> named;
  const auto arguments = TensorsOf(call);
  for (size_t i = 0; i < tensors.size(); ++i) named[arguments[i]->name] = &tensors[i];
  std::map<std::string, std::vector<double>> numbers;
  for (const auto& [name, values] : named) {
    numbers[name].resize(values->elements.size());
    for (size_t i = 0; i < numbers[name].size(); ++i)
      numbers[name][i] = ValueAt(*values, static_cast<int64_t>(i));
  }
  const int64_t group = p.q.n / p.k.n;
  // An element of the row of keys or values that token j of a batch is.
  const auto at = [&](const std::string& name, const Lengths& l, int64_t b, int64_t n, int64_t j, int64_t d) {
    if (!p.paged) return numbers[name][PlaceOf(l, p.in, p.packed ? 0 : b, n, p.Keys(call, b).first + j, d)];
    const int64_t each = call["blockTable"].shape[1];
    const auto page = static_cast<int64_t>(numbers["blockTable"][static_cast<size_t>(b * each + j / l.s)]);
    const bool joined = call[name].entries[0].shape.size() == 3;
    return numbers[name][PlaceOf(l, joined ? "BSH" : "BNSD", page, n, j % l.s, d)];
  };
  const auto sees = [&](int64_t b, int64_t i, int64_t j) {
    if (!HasDims(call["attenMask"])) return true;
    const Shape& s = call["attenMask"].shape;
    const int64_t columns = s.back();
    int64_t place = i * columns + j;
    if (p.IsDecoding()) place = (s[0] == 1 ? 0 : b) * columns + j;
    if (!p.IsDecoding() && s.size() > 2) place += (s[0] == 1 ? 0 : b) * s[s.size() - 2] * columns;
    if (numbers["attenMask"][static_cast<size_t>(place)] != 0) return false;
    if (p.IsDecoding() || call["sparseMode"].integer == 1) return true;
    return j >= i - call["preTokens"].integer && j <= i + call["nextTokens"].integer;
  };
  const double scale = static_cast<double>(static_cast<float>(call["scaleValue"].real));
  std::vector<double> out(static_cast<size_t>(NumElements(ShapeOf(p.Out(), p.out))));
  std::vector<double> lse(static_cast<size_t>(p.q.b * p.q.n * p.q.s),
                          -std::numeric_limits<double>::infinity());
  bool has_sink = false;
  for (const IndexArgument& one : call.arguments)
    has_sink = has_sink || (one.name == "learnableSink" && HasDims(one));
  for (int64_t b = 0; b < p.batches; ++b) {
    const auto [first, queries] = p.Queries(call, b);
    const int64_t keys = p.Keys(call, b).second;
    for (int64_t n = 0; n < p.q.n; ++n) {
      for (int64_t i = 0; i < queries; ++i) {
        std::vector<double> scores(static_cast<size_t>(keys), -std::numeric_limits<double>::infinity());
        const double kLowest = std::numeric_limits<float>::lowest();
        double most = kLowest;
        for (int64_t j = 0; j < keys; ++j) {
          if (!sees(b, i, j)) continue;
          double& score = scores[static_cast<size_t>(j)] = 0;
          for (int64_t d = 0; d < p.q.d; ++d) {
            score += numbers["query"][PlaceOf(p.q, p.in, p.packed ? 0 : b, n, first + i, d)] *
                     at("key", p.k, b, n / group, j, d);
          }
          score *= scale;
          if (HasDims(call["pseShift"])) {
            const Shape& s = call["pseShift"].shape;
            score += numbers["pseShift"]
                            [static_cast<size_t>((((s[0] == 1 ? 0 : b) * s[1] + n) * s[2] + i) * s[3] + j)];
          }
          most = std::fmax(most, score);
        }
        double sum = 0;
        for (double& score : scores) sum += score = std::exp(score - most);
        if (sum == 0) continue;
        double with_sink = sum;
        if (has_sink) with_sink += std::exp(numbers["learnableSink"][static_cast<size_t>(n)] - most);
        for (int64_t d = 0; d < p.v.d; ++d) {
          double value = 0;
          for (int64_t j = 0; j < keys; ++j)
            value += scores[static_cast<size_t>(j)] / with_sink * at("value", p.v, b, n / group, j, d);
          out[PlaceOf(p.Out(), p.out, p.packed ? 0 : b, n, first + i, d)] = value;
        }
        const int64_t place = p.packed ? (first + i) * p.q.n + n : (b * p.q.n + n) * p.q.s + i;
        lse[static_cast<size_t>(place)] = most + std::log(with_sink);
      }
    }
  }
  // Rows of no batch stay.
  Outcome result = AsOutcome(call["attentionOut"].dtype, out);
  Outcome numbers_of_rows = AsOutcome(ACL_FLOAT, lse);
  if (p.packed) {
    const int64_t end =
        p.batches == 0 ? 0 : call["actualSeqLengths"].values[static_cast<size_t>(p.batches) - 1];
    for (int64_t n = 0; n < p.q.n; ++n) {
      for (int64_t s = end; s < p.q.s; ++s) {
        for (int64_t d = 0; d < p.v.d; ++d) result[PlaceOf(p.Out(), p.out, 0, n, s, d)].reset();
        numbers_of_rows[static_cast<size_t>(s * p.q.n + n)].reset();
      }
    }
  }
  if (call["softmaxLseFlag"].integer == 0) numbers_of_rows.clear();
  return {result, numbers_of_rows};
}

IndexOperator Operator(const CFunction& function, int version) {
  IndexOperator op;
  op.function = function;
  const auto absent = [&](const char* name) {
    op.valid.push_back(TensorArg(name, {1}));
    op.valid.back().null = true;
  };
  op.valid = {TensorArg("query", {2, 3, 4, 5}, ACL_FLOAT16),
              ListArg("key", {{2, 6, 2, 5}}, false, ACL_FLOAT16),
              ListArg("value", {{2, 6, 2, 3}}, false, ACL_FLOAT16),
              TensorArg("pseShift", {1, 4, 3, 6}, ACL_FLOAT16),
              TensorArg("attenMask", {3, 6}, ACL_BOOL),
              ArrayArg("actualSeqLengths", {3, 2}),
              ArrayArg("actualSeqLengthsKv", {5, 6})};
  for (const char* name : {"deqScale1", "quantScale1", "deqScale2", "quantScale2", "quantOffset2",
                           "antiquantScale", "antiquantOffset"})
    absent(name);
  op.valid.push_back(TensorArg("blockTable", {2, 1}, ACL_INT32));
  op.valid.back().null = true;
  absent("queryPaddingSize");
  absent("kvPaddingSize");
  if (version >= 2) {
    for (const char* name : {"keyAntiquantScale", "keyAntiquantOffset", "valueAntiquantScale",
                             "valueAntiquantOffset", "keySharedPrefix", "valueSharedPrefix"})
      absent(name);
    op.valid.push_back(ArrayArg("actualSharedPrefixLen", {}));
  }
  if (version >= 3) {
    for (const char* name : {"queryRope", "keyRope", "keyRopeAntiquantScale"}) absent(name);
  }
  if (version >= 4) {
    absent("dequantScaleQuery");
    op.valid.push_back(TensorArg("learnableSink", {4}));
  }
  for (const IndexArgument& one :
       {IntegerArg("numHeads", 4), RealArg("scaleValue", 0.5), IntegerArg("preTokens", 2),
        IntegerArg("nextTokens", 2), TextArg("inputLayout", "BSND"), IntegerArg("numKeyValueHeads", 2),
        IntegerArg("sparseMode", 0), IntegerArg("innerPrecise", 0), IntegerArg("blockSize", 0),
        IntegerArg("antiquantMode", 0), IntegerArg("softmaxLseFlag", 1)})
    op.valid.push_back(one);
  if (version >= 2) {
    op.valid.push_back(IntegerArg("keyAntiquantMode", 0));
    op.valid.push_back(IntegerArg("valueAntiquantMode", 0));
  }
  if (version >= 4) op.valid.push_back(IntegerArg("queryQuantMode", 0));
  op.valid.push_back(OutputArg("attentionOut", {2, 3, 4, 3}, ACL_FLOAT16));
  op.valid.push_back(OutputArg("softmaxLse", {2, 4, 3, 1}));
  const bool has_sink = version >= 4;
  op.rules = Rules(has_sink);
  op.draw = [=](IndexCall& call, RandomNumbers& random) { Draw(call, random, has_sink); };
  op.fill = Fill;
  op.oracle = Attend;
  op.takes_workspace = true;
  op.is_inexact = true;
  op.tolerance = 1e-5;
  return op;
}

const std::vector<IndexOperator>& Operators() {
  static const std::vector<IndexOperator> all = {
      Operator(PORTACL_C_FUNCTION(aclnnFusedInferAttentionScore), 1),
      Operator(PORTACL_C_FUNCTION(aclnnFusedInferAttentionScoreV2), 2),
      Operator(PORTACL_C_FUNCTION(aclnnFusedInferAttentionScoreV3), 3),
      Operator(PORTACL_C_FUNCTION(aclnnFusedInferAttentionScoreV4), 4),
  };
  return all;
}

PORTACL_INDEX_TESTS(InferAttention, Operators());

// A block that is not there is not read: the stream fails, once, and nothing is written.
TEST(InferAttentionPages, OutsideTheBlocks) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  std::vector<uint16_t> query(4), pages(3 * 2 * 4), out(4, 0x1234);
  for (const int32_t bad : {-1, 3}) {
    std::vector<int32_t> table = {2, bad};
    const auto make = [](const Shape& shape, aclDataType dtype, void* data) {
      return aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                             shape.size(), data);
    };
    aclTensor* const q = make({1, 1, 4}, ACL_FLOAT16, query.data());
    aclTensor* const result = make({1, 1, 4}, ACL_FLOAT16, out.data());
    aclTensor* const blocks = make({1, 2}, ACL_INT32, table.data());
    const aclTensor* const key[] = {make({3, 2, 4}, ACL_FLOAT16, pages.data())};
    const aclTensor* const value[] = {make({3, 2, 4}, ACL_FLOAT16, pages.data())};
    aclTensorList* const keys = aclCreateTensorList(key, 1);
    aclTensorList* const values = aclCreateTensorList(value, 1);
    const int64_t length = 3;
    aclIntArray* const lengths = aclCreateIntArray(&length, 1);
    char layout[] = "BSH";
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnFusedInferAttentionScoreGetWorkspaceSize(
                  q, keys, values, nullptr, nullptr, nullptr, lengths, nullptr, nullptr, nullptr, nullptr,
                  nullptr, nullptr, nullptr, blocks, nullptr, nullptr, 1, 1.0, 0, 0, layout, 1, 0, 0, 2, 0,
                  false, result, nullptr, &size, &executor),
              0)
        << aclGetRecentErrMsg();
    const GuardedBuffer workspace(size);
    ASSERT_EQ(aclnnFusedInferAttentionScore(workspace.device(), size, executor, environment.stream()), 0);
    EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), 507015);
    EXPECT_NE(std::string(aclGetRecentErrMsg()).find("blockTable has the value " + std::to_string(bad)),
              std::string::npos);
    EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
    EXPECT_EQ(out, std::vector<uint16_t>(4, 0x1234));
    for (const aclTensorList* list : {keys, values}) aclDestroyTensorList(list);
    for (const aclTensor* tensor : {q, result, blocks}) aclDestroyTensor(tensor);
    aclDestroyIntArray(lengths);
  }
}

}  // namespace
}  // namespace portacl::testing
