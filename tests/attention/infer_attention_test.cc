// Attention for inference, from its description: lengths of batches, pages, layouts of results, rotary parts, prefixes, caches of INT8.
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>

#include "../norm/row_calls.h"

#include "aclnnop/families/attention.h"
#include "gtest/gtest.h"
#include "support/environment.h"
#include "support/guarded_buffer.h"
#include "support/numeric_suite.h"

namespace portacl::testing {
namespace {

const DtypeList kDtypes = {ACL_FLOAT16, ACL_BF16};

bool HasDims(const PlanArgument& one) { return !one.null && !one.shape.empty(); }

// An argument by the name that aclnnFusedInferAttentionScore gives it; a null one where the operator has none.
const PlanArgument& Arg(const PlanCall& call, const std::string& name) {
  static const PlanArgument absent = [] {
    PlanArgument one = TensorArg("", {});
    one.null = true;
    return one;
  }();
  const bool is_incre = std::string(call.op->function.name).find("Incre") != std::string::npos;
  std::string own = name;
  if (is_incre && name == "actualSeqLengths") return absent;
  if (is_incre && name == "actualSeqLengthsKv") own = "actualSeqLengths";
  if (is_incre && name == "blockTable") own = "blocktable";
  for (const PlanArgument& one : call.arguments) {
    if (one.name == own) return one;
  }
  return absent;
}
std::string CanonicalName(const std::string& name) { return name == "blocktable" ? "blockTable" : name; }
bool Has(const PlanCall& call, const std::string& name) { return HasDims(Arg(call, name)); }
bool HasSink(const PlanCall& call) {
  return Has(call, "learnableSink") && NumElements(Arg(call, "learnableSink").shape) > 0;
}
bool HasSlopes(const PlanCall& call) { return Has(call, "pseShift") && Arg(call, "pseType").integer >= 2; }
// Entries of a list, or of a single tensor that one of the operators has in its place.
int64_t CountOf(const PlanArgument& one) {
  return one.kind == ParameterKind::kList ? std::ssize(one.entries) : 1;
}
const PlanArgument& EntryOf(const PlanArgument& one, int64_t entry = 0) {
  return one.kind == ParameterKind::kList ? one.entries[static_cast<size_t>(entry)] : one;
}

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
int64_t KeyHeads(const PlanCall& call) {
  const int64_t heads = Arg(call, "numKeyValueHeads").integer;
  return heads == 0 ? call["numHeads"].integer : heads;
}

// Of blocks: rows, heads of rows, or heads of pieces of rows.
Lengths LengthsOfPages(const Shape& shape, int64_t heads) {
  if (shape.size() == 5) return {shape[0], shape[1], shape[3], shape[2] * shape[4]};
  return LengthsOf(shape, shape.size() == 3 ? "BSH" : "BNSD", heads);
}
size_t PlaceOfPages(const Shape& shape, const Lengths& l, int64_t page, int64_t n, int64_t row, int64_t d) {
  if (shape.size() == 5) {
    const int64_t piece = shape[4];
    return static_cast<size_t>((((page * l.n + n) * shape[2] + d / piece) * l.s + row) * piece + d % piece);
  }
  return PlaceOf(l, shape.size() == 3 ? "BSH" : "BNSD", page, n, row, d);
}

// Which tensors make numbers of INT8 for keys or values.
struct Scales {
  Scales(const PlanCall& call, bool is_key) {
    const std::string own = is_key ? "key" : "value";
    joint = !Has(call, own + "AntiquantScale") && Has(call, "antiquantScale");
    scale = joint ? "antiquantScale" : own + "AntiquantScale";
    offset = joint ? "antiquantOffset" : own + "AntiquantOffset";
    mode = Arg(call, joint ? "antiquantMode" : own + "AntiquantMode").integer;
    value = !is_key;
    there = Has(call, scale);
  }
  std::string scale, offset;
  int64_t mode;
  bool joint, value, there;
};

struct Problem {
  explicit Problem(const PlanCall& call)
      : in(InOf(call["inputLayout"].text)),
        out(OutOf(call["inputLayout"].text)),
        packed(IsPacked(in)),
        paged(Has(call, "blockTable")) {
    q = LengthsOf(call["query"].shape, in, call["numHeads"].integer);
    const auto of = [&](const std::string& name) {
      const Shape& shape = EntryOf(call[name]).shape;
      return paged ? LengthsOfPages(shape, KeyHeads(call)) : LengthsOf(shape, in, KeyHeads(call));
    };
    k = of("key");
    v = of("value");
    lists = CountOf(call["key"]) > 1 ? CountOf(call["key"]) : 0;
    own_keys = paged ? Arg(call, "blockTable").shape[1] * k.s : k.s;
    for (int64_t entry = 0; entry < lists; ++entry)
      own_keys = std::max(
          own_keys, LengthsOf(call["key"].entries[static_cast<size_t>(entry)].shape, in, KeyHeads(call)).s);
    if (Has(call, "keySharedPrefix")) {
      prefix = LengthsOf(Arg(call, "keySharedPrefix").shape, in, KeyHeads(call));
      const PlanArgument& length = Arg(call, "actualSharedPrefixLen");
      prefix_keys = length.null || length.values.empty() ? prefix.s : length.values[0];
    }
    most_keys = own_keys + prefix_keys;
    batches = !packed ? q.b : std::ssize(Arg(call, "actualSeqLengths").values);
    if (packed && Arg(call, "actualSeqLengths").null) batches = 0;
  }
  static std::pair<int64_t, int64_t> Part(const PlanArgument& array, bool cumulative, int64_t all,
                                          int64_t b) {
    if (array.null || array.values.empty()) return {0, all};
    if (!cumulative) return {0, array.values[array.values.size() == 1 ? 0 : static_cast<size_t>(b)]};
    const int64_t first = b == 0 ? 0 : array.values[static_cast<size_t>(b) - 1];
    return {first, array.values[static_cast<size_t>(b)] - first};
  }
  // The first row and how many there are.
  std::pair<int64_t, int64_t> Queries(const PlanCall& call, int64_t b) const {
    if (IsDecoding()) return {0, 1};
    return Part(Arg(call, "actualSeqLengths"), packed, q.s, b);
  }
  Lengths KeyOf(const PlanCall& call, const std::string& name, int64_t b) const {
    if (lists == 0) return name == "key" ? k : v;
    return LengthsOf(call[name].entries[static_cast<size_t>(b)].shape, in, KeyHeads(call));
  }
  // Without a prefix.
  std::pair<int64_t, int64_t> Keys(const PlanCall& call, int64_t b) const {
    return Part(Arg(call, "actualSeqLengthsKv"), packed && !paged,
                lists > 0 ? KeyOf(call, "key", b).s : own_keys, b);
  }
  Lengths Out() const { return {q.b, q.n, q.s, v.d}; }
  bool IsDecoding() const { return !packed && q.s == 1; }
  // One query of each batch: the mask of [2048, 2048] that the modes from the ends have hides nothing.
  bool HidesNothing(const PlanCall& call) const {
    const int64_t mode = Arg(call, "sparseMode").integer;
    if (!IsDecoding() || (mode != 3 && mode != 4) || !Has(call, "attenMask")) return false;
    const Shape& s = call["attenMask"].shape;
    return s == Shape{2048, 2048} || s == Shape{1, 2048, 2048} || s == Shape{1, 1, 2048, 2048};
  }

  // The place of a scale of a key or value; nullopt where the shape is no one of the mode's.
  using Place =
      std::function<size_t(int64_t b, int64_t n, int64_t token, int64_t page, int64_t row, int64_t d)>;
  std::optional<Place> PlaceOfScale(const Scales& scales, const Shape& whole) const {
    Shape shape = whole;
    int64_t base = 0;
    if (scales.joint) {
      if (shape[0] != 2) return std::nullopt;
      base = scales.value ? NumElements(shape) / 2 : 0;
      shape.erase(shape.begin());
    }
    const Lengths l = scales.value ? v : k;
    if (scales.mode == 0) {
      shape.erase(std::remove(shape.begin(), shape.end(), 1), shape.end());
      const bool is_one = shape.empty();
      if (!is_one && shape != Shape{l.n * l.d} && shape != Shape{l.n, l.d}) return std::nullopt;
      return [=](int64_t, int64_t n, int64_t, int64_t, int64_t, int64_t d) {
        return static_cast<size_t>(base + (is_one ? 0 : n * l.d + d));
      };
    }
    const size_t ranks[] = {0, 2, 1, 3, 2, 3};
    if (scales.mode < 0 || scales.mode > 5) return std::nullopt;
    while (shape.size() > ranks[scales.mode] && shape[0] == 1) shape.erase(shape.begin());
    if (shape.size() != ranks[scales.mode]) return std::nullopt;
    const int64_t last = shape.back();
    const int64_t mode = scales.mode;
    bool fits = mode == 2 ? last == l.n : mode < 4 ? last >= most_keys : paged && last == l.s;
    if (mode != 2) fits = fits && shape[0] == (mode < 4 ? batches : l.b);
    if (mode == 3 || mode == 5) fits = fits && shape[1] == l.n;
    if (!fits) return std::nullopt;
    return [=](int64_t b, int64_t n, int64_t token, int64_t page, int64_t row, int64_t) {
      if (mode == 2) return static_cast<size_t>(base + n);
      const int64_t first = mode < 4 ? b : page;
      const int64_t column = mode < 4 ? token : row;
      const int64_t heads = mode == 3 || mode == 5 ? first * l.n + n : first;
      return static_cast<size_t>(base + heads * last + column);
    };
  }

  std::string in, out;
  bool packed, paged;
  Lengths q, k, v, prefix;
  int64_t batches = 0;
  int64_t lists = 0;
  int64_t prefix_keys = 0;
  int64_t own_keys = 0;
  int64_t most_keys = 0;
};

using Wrong = std::function<bool(PlanCall&, const Problem&)>;
Rule Tiling(const std::string& words, const Wrong& wrong) {
  return Refuses(561002, words, [=](PlanCall& call) { return wrong(call, Problem(call)); });
}

bool LengthsFit(PlanCall& call, const Problem& p, const std::string& name, bool cumulative, bool needed,
                int64_t most) {
  const PlanArgument& array = Arg(call, name);
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

// Queries, keys and values of latent attention as INT8.
bool TakesCodes(const PlanCall& call) { return call["query"].dtype == ACL_INT8; }

bool IsNotComputed(PlanCall& call) {
  for (const char* name :
       {"deqScale1", "dequantScale1", "quantScale1", "deqScale2", "dequantScale2", "keyRopeAntiquantScale"}) {
    if (Has(call, name)) return true;
  }
  return TakesCodes(call) != Has(call, "dequantScaleQuery");
}

bool DtypesAreWrong(PlanCall& call) {
  const bool takes_codes = TakesCodes(call);
  const DtypeNumber dtype = takes_codes ? DtypeNumber{ACL_BF16} : call["query"].dtype;
  bool wrong = call["attentionOut"].dtype != dtype && call["attentionOut"].dtype != ACL_INT8;
  if (Has(call, "quantScale2")) {
    const DtypeNumber scale = Arg(call, "quantScale2").dtype;
    wrong = wrong || (scale != ACL_FLOAT && (scale != ACL_BF16 || dtype != ACL_BF16)) ||
            (Has(call, "quantOffset2") && Arg(call, "quantOffset2").dtype != scale);
  }
  wrong = wrong || (Has(call, "dequantScaleQuery") && Arg(call, "dequantScaleQuery").dtype != ACL_FLOAT);
  for (const char* name : {"queryPaddingSize", "kvPaddingSize"})
    wrong = wrong || (Has(call, name) && Arg(call, name).dtype != ACL_INT64);
  const auto is_other = [&](const std::string& name, const DtypeList& dtypes) {
    return Has(call, name) && !IsOneOf(Arg(call, name).dtype, dtypes);
  };
  for (const bool is_key : {true, false}) {
    const PlanArgument& list = call[is_key ? "key" : "value"];
    const Scales scales(call, is_key);
    for (int64_t entry = 0; entry < CountOf(list); ++entry)
      wrong = wrong ||
              EntryOf(list, entry).dtype != (scales.there || takes_codes ? DtypeNumber{ACL_INT8} : dtype);
    if (!scales.there) continue;
    const bool is_of_channels = (scales.mode == 0 || scales.mode == 2) && !takes_codes;
    const DtypeNumber own = is_of_channels ? dtype : DtypeNumber{ACL_FLOAT};
    wrong = wrong || is_other(scales.scale, {own}) || is_other(scales.offset, {own});
  }
  for (const char* name : {"queryRope", "keyRope", "keySharedPrefix", "valueSharedPrefix"})
    wrong = wrong || is_other(name, {dtype});
  return wrong || is_other("pseShift", {HasSlopes(call) ? DtypeNumber{ACL_FLOAT} : dtype}) ||
         is_other("attenMask", {ACL_BOOL, ACL_INT8, ACL_UINT8}) || is_other("blockTable", {ACL_INT32}) ||
         (Arg(call, "softmaxLseFlag").integer != 0 && Arg(call, "softmaxLse").dtype != ACL_FLOAT) ||
         (HasSink(call) && is_other("learnableSink", {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}));
}

bool LayoutIsWrong(PlanCall& call) {
  const std::string layout = call["inputLayout"].text;
  if (std::find(kLayouts.begin(), kLayouts.end(), layout) == kLayouts.end()) return true;
  const size_t rank = layout.substr(0, 3) == "BSH" || IsPacked(layout) ? 3 : 4;
  if (call["query"].shape.size() != rank || Has(call, "queryRope") != Has(call, "keyRope")) return true;
  const bool ropes = Has(call, "queryRope");
  const bool paged = Has(call, "blockTable");
  const bool prefix = Has(call, "keySharedPrefix");
  if (ropes && Arg(call, "queryRope").shape.size() != rank) return true;
  if (prefix != Has(call, "valueSharedPrefix")) return true;
  const int64_t count = CountOf(call["key"]);
  if (CountOf(call["value"]) != count) return true;
  if (count > 1 && (IsPacked(layout) || paged || ropes || prefix)) return true;
  const size_t own = EntryOf(call["key"]).shape.size();
  for (const char* list : {"key", "value"}) {
    for (int64_t entry = 0; entry < count; ++entry) {
      const size_t of_entry = EntryOf(call[list], entry).shape.size();
      if (paged ? of_entry < 3 || of_entry > 5 || of_entry != own : of_entry != rank) return true;
    }
  }
  if (ropes && Arg(call, "keyRope").shape.size() != own) return true;
  if (paged && Arg(call, "blockTable").shape.size() != 2) return true;
  if (!prefix) return false;
  return IsPacked(layout) || paged || ropes || Scales(call, true).there ||
         Arg(call, "keySharedPrefix").shape.size() != rank ||
         Arg(call, "valueSharedPrefix").shape.size() != rank;
}

bool IsJoined(const Problem& p, const Shape& shape) { return p.paged ? shape.size() == 3 : p.in == "BSH"; }

bool HeadsAreWrong(PlanCall& call, const Problem& p) {
  const auto is_cut = [](const Shape& shape, const Lengths& l, bool joined) {
    return joined && shape[2] != l.n * l.d;
  };
  if (p.q.n != call["numHeads"].integer || is_cut(call["query"].shape, p.q, p.in == "BSH")) return true;
  for (const char* name : {"key", "value"}) {
    const Lengths first = std::string(name) == "key" ? p.k : p.v;
    for (int64_t entry = 0; entry < CountOf(call[name]); ++entry) {
      const Shape& shape = EntryOf(call[name], entry).shape;
      const Lengths l = p.KeyOf(call, name, entry);
      const Lengths key = p.KeyOf(call, "key", entry);
      if (l.n != KeyHeads(call) || is_cut(shape, l, IsJoined(p, shape)) || l.s != key.s || l.b != key.b)
        return true;
      if (p.lists > 0 && (l.b != 1 || l.d != first.d)) return true;
    }
  }
  const int64_t batches = p.lists > 0 ? p.lists : p.k.b;
  return p.q.d <= 0 || p.k.d != p.q.d || (!p.packed && !p.paged && batches != p.q.b);
}

bool PartsAreWrong(PlanCall& call, const Problem& p) {
  if (Has(call, "queryRope")) {
    const Shape& query = Arg(call, "queryRope").shape;
    const Shape& key = Arg(call, "keyRope").shape;
    const Lengths q = LengthsOf(query, p.in, call["numHeads"].integer);
    const Lengths k = p.paged ? LengthsOfPages(key, KeyHeads(call)) : LengthsOf(key, p.in, KeyHeads(call));
    if (q.b != p.q.b || q.n != p.q.n || q.s != p.q.s || q.d != 64 || k.b != p.k.b || k.n != p.k.n ||
        k.s != p.k.s || k.d != 64 || (p.in == "BSH" && query[2] != q.n * 64) ||
        (IsJoined(p, key) && key[2] != k.n * 64))
      return true;
  }
  if (Has(call, "keySharedPrefix")) {
    const Shape& value = Arg(call, "valueSharedPrefix").shape;
    const Lengths v = LengthsOf(value, p.in, KeyHeads(call));
    const Lengths& k = p.prefix;
    if (k.b != 1 || v.b != 1 || k.n != p.k.n || v.n != p.k.n || v.s != k.s || k.d != p.k.d || v.d != p.v.d ||
        p.prefix_keys < 0 || p.prefix_keys > k.s)
      return true;
    if (p.in == "BSH" && (Arg(call, "keySharedPrefix").shape[2] != k.n * k.d || value[2] != v.n * v.d))
      return true;
  }
  const char* const paddings[][2] = {{"queryPaddingSize", "actualSeqLengths"},
                                     {"kvPaddingSize", "actualSeqLengthsKv"}};
  for (const auto& [name, lengths] : paddings) {
    if (!Has(call, name)) continue;
    if (Arg(call, name).shape != Shape{1} || p.packed || p.paged || p.lists > 0 || Has(call, "queryRope") ||
        Has(call, "keySharedPrefix") || Arg(call, lengths).null || Arg(call, lengths).values.empty())
      return true;
  }
  const Scales key(call, true);
  const Scales value(call, false);
  if (key.there != value.there) return true;
  if (TakesCodes(call)) {
    if (!Has(call, "queryRope") || !p.paged || EntryOf(call["key"]).shape.size() != 5) return true;
    for (const Scales& scales : {key, value}) {
      if (!scales.there || scales.joint || scales.mode != 0 ||
          NumElements(Arg(call, scales.scale).shape) != 1 || Has(call, scales.offset))
        return true;
    }
    if (Has(call, "pseShift") || Has(call, "quantScale2") || HasSink(call)) return true;
    Shape accepted = {p.q.b, p.q.s, p.q.n};
    if (p.in == "BNSD") accepted = {p.q.b, p.q.n, p.q.s};
    if (p.in == "TND") accepted = {p.q.s, p.q.n};
    if (p.in == "NTD") accepted = {p.q.n, p.q.s};
    Shape with_one = accepted;
    with_one.push_back(1);
    const Shape& scale = Arg(call, "dequantScaleQuery").shape;
    return scale != accepted && scale != with_one;
  }
  if (!key.there) return false;
  if (Has(call, "queryRope") || (key.mode != value.mode && (key.mode != 0 || value.mode != 1))) return true;
  for (const Scales& scales : {key, value}) {
    for (const std::string& name : {scales.scale, scales.offset}) {
      if (Has(call, name) && !p.PlaceOfScale(scales, Arg(call, name).shape)) return true;
    }
  }
  return false;
}

bool KeyLengthsFit(PlanCall& call, const Problem& p) {
  if (p.lists == 0)
    return LengthsFit(call, p, "actualSeqLengthsKv", p.packed && !p.paged, p.packed || p.paged, p.own_keys);
  const PlanArgument& array = Arg(call, "actualSeqLengthsKv");
  if (array.null || array.values.empty()) return true;
  if (array.values.size() > 1 && std::ssize(array.values) < p.batches) return false;
  for (int64_t b = 0; b < p.batches; ++b) {
    const int64_t length = p.Keys(call, b).second;
    if (length < 0 || length > p.KeyOf(call, "key", b).s) return false;
  }
  return true;
}

// One element, or one of each head and element.
bool IsOfChannels(Shape shape, int64_t heads, int64_t depth) {
  shape.erase(std::remove(shape.begin(), shape.end(), 1), shape.end());
  return shape.empty() || shape == Shape{heads * depth} || shape == Shape{heads, depth};
}

Rules Checks(bool takes_many_queries, bool is_since_950, bool takes_codes) {
  return {
      NoNulls("query"),
      Refuses(161001, "",
              [](PlanCall& call) {
                for (const char* name : {"key", "value"}) {
                  const PlanArgument& one = call[name];
                  if (one.null || CountOf(one) == 0) return true;
                  for (int64_t entry = 0; entry < CountOf(one); ++entry) {
                    if (EntryOf(one, entry).null) return true;
                  }
                }
                return false;
              }),
      NoNulls("inputLayout attentionOut"),
      Refuses(161001, "softmaxLse",
              [](PlanCall& call) {
                return Arg(call, "softmaxLseFlag").integer != 0 && Arg(call, "softmaxLse").null;
              }),
      Refuses(161002, "query",
              [=](PlanCall& call) {
                const bool is_there = call.product == Product::kA2 || call.product == Product::kA3 ||
                                      (is_since_950 && call.product == Product::k950);
                return !is_there ||
                       (!IsOneOf(call["query"].dtype, kDtypes) && !(takes_codes && TakesCodes(call)));
              }),
      Refuses(161002, "", DtypesAreWrong),
      Refuses(561103, "", IsNotComputed),
      DoneIfEmpty("query"),
      Refuses(561002, "", LayoutIsWrong),
      Refuses(561002, "numHeads numKeyValueHeads",
              [](PlanCall& call) {
                const int64_t heads = call["numHeads"].integer;
                const int64_t keys = KeyHeads(call);
                const int64_t most = Has(call, "queryRope") ? 128 : 64;
                return heads <= 0 || keys <= 0 || heads % keys != 0 || heads / keys > most;
              }),
      Tiling("", HeadsAreWrong),
      Tiling("query", [=](PlanCall&, const Problem& p) { return !takes_many_queries && !p.IsDecoding(); }),
      Tiling("", PartsAreWrong),
      Tiling("",
             [](PlanCall& call, const Problem& p) {
               if (!p.IsDecoding() && !LengthsFit(call, p, "actualSeqLengths", p.packed, p.packed, p.q.s))
                 return true;
               if (!KeyLengthsFit(call, p)) return true;
               return p.paged && (Arg(call, "blockTable").shape[0] < p.batches ||
                                  Arg(call, "blockSize").integer != p.k.s);
             }),
      Tiling("pseShift pseType",
             [](PlanCall& call, const Problem& p) {
               if (!Has(call, "pseShift")) return false;
               const int64_t type = Arg(call, "pseType").integer;
               if (type < 0 || type > 3) return true;
               const Shape& s = Arg(call, "pseShift").shape;
               if (type >= 2) return s != Shape{p.q.n} && s != Shape{p.batches, p.q.n};
               return p.packed || s.size() != 4 || (s[0] != 1 && s[0] != p.batches) || s[1] != p.q.n ||
                      s[2] < p.q.s || s[3] < p.most_keys;
             }),
      Tiling("attenMask sparseMode",
             [](PlanCall& call, const Problem& p) {
               const int64_t mode = Arg(call, "sparseMode").integer;
               if (mode < 0 || mode > 4) return true;
               if (!HasDims(call["attenMask"])) return mode != 0 && !p.IsDecoding();
               if (p.HidesNothing(call)) return false;
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
      Tiling("preTokens nextTokens",
             [](PlanCall& call, const Problem& p) {
               const int64_t mode = Arg(call, "sparseMode").integer;
               if (!Has(call, "attenMask") || p.IsDecoding() || (mode != 0 && mode != 4)) return false;
               if (mode == 0 && (Has(call, "queryPaddingSize") || Has(call, "kvPaddingSize"))) return false;
               constexpr int64_t kMost = 2147483647;
               const int64_t before = std::clamp(Arg(call, "preTokens").integer, -kMost, kMost);
               const int64_t after = std::clamp(Arg(call, "nextTokens").integer, -kMost, kMost);
               if (before + after < 0) return true;
               for (int64_t b = 0; b < p.batches; ++b) {
                 int64_t rows = p.Queries(call, b).second;
                 int64_t columns = p.prefix_keys + p.Keys(call, b).second;
                 if (rows == 0 || columns == 0) continue;
                 if (mode == 4) std::swap(rows, columns);
                 if (after <= -rows || before <= -columns) return true;
               }
               return false;
             }),
      Tiling("attentionOut softmaxLse learnableSink quantScale2 quantOffset2",
             [=](PlanCall& call, const Problem& p) {
               if (call["attentionOut"].shape != ShapeOf(p.Out(), p.out)) return true;
               const bool is_code = call["attentionOut"].dtype == ACL_INT8;
               if (is_code != Has(call, "quantScale2")) return true;
               for (const char* name : {"quantScale2", "quantOffset2"}) {
                 if (!Has(call, name)) continue;
                 if (!is_code || !IsOfChannels(Arg(call, name).shape, p.q.n, p.v.d) ||
                     NumElements(Arg(call, name).shape) != NumElements(Arg(call, "quantScale2").shape))
                   return true;
               }
               const Shape lse = p.packed ? Shape{p.q.s, p.q.n, 1} : Shape{p.q.b, p.q.n, p.q.s, 1};
               if (Arg(call, "softmaxLseFlag").integer != 0 && Arg(call, "softmaxLse").shape != lse)
                 return true;
               return HasSink(call) && Arg(call, "learnableSink").shape != Shape{p.q.n};
             }),
  };
}

// What an operator takes.
struct Takes {
  int version = 1;  // of FusedInferAttentionScore; what the others have is in V2
  bool lists = true;
  bool pages = true;
  bool many_queries = true;
  bool joint_scales = true;
};

void Draw(PlanCall& call, RandomNumbers& random, const Takes& takes) {
  const std::string layout = takes.many_queries
                                 ? kLayouts[static_cast<size_t>(random.Below(std::ssize(kLayouts)))]
                                 : kLayouts[static_cast<size_t>(random.Below(3))];
  const std::string in = InOf(layout);
  const bool packed = IsPacked(in);
  const bool paged = takes.pages && random.Below(3) == 0;
  const int64_t batches = random.Between(1, 3);
  const int64_t key_heads = random.Between(1, 2);
  const int64_t heads = key_heads * random.Between(1, 2);
  // One more thing of those that there may be.
  enum class More { kNone, kRopes, kScales, kPrefix, kLists, kSlopes, kCodes };
  auto more = static_cast<More>(random.Below(paged && random.Below(3) == 0 ? 7 : 10));
  if ((more == More::kRopes && takes.version < 3) || (more == More::kScales && !takes.joint_scales) ||
      (more == More::kPrefix && (takes.version < 2 || packed || paged)) ||
      (more == More::kLists && (!takes.lists || packed || paged || batches == 1)) ||
      (more == More::kSlopes && takes.version < 5) || (more == More::kCodes && (takes.version < 4 || !paged)))
    more = More::kNone;
  Lengths q{packed ? 1 : batches, heads, 0, random.Between(1, random.Below(8) == 0 ? 280 : 24)};
  const int64_t value_depth = random.Below(2) == 0 ? q.d : random.Between(1, 24);
  std::vector<int64_t> query_sums, key_sums, queries, keys;
  int64_t of_queries = 0, of_keys = 0;
  const int64_t same = !takes.many_queries || random.Below(3) == 0 ? 1 : random.Between(1, 12);
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
  const auto set = [&](const std::string& name, const std::function<void(PlanArgument&)>& f) {
    if (!Arg(call, name).name.empty()) f(const_cast<PlanArgument&>(Arg(call, name)));
  };
  std::string key_layout = in;
  int64_t columns = 0;
  if (paged) {
    columns = (most + rows - 1) / rows + random.Below(2);
    k.s = rows;
    k.b = batches * columns + 1;
    const int64_t which = random.Below(3);
    key_layout = which == 0 ? "BSH" : which == 1 ? "BNSD" : "pieces";
    if (more == More::kCodes) key_layout = "pieces";
  }
  // Pieces of any length that divides a row's.
  const auto key_shape = [&](const Lengths& l) {
    if (key_layout != "pieces") return ShapeOf(l, key_layout);
    int64_t piece = random.Between(1, l.d);
    while (l.d % piece != 0) --piece;
    return Shape{l.b, l.n, l.d / piece, l.s, piece};
  };
  set("blockTable", [&](PlanArgument& one) {
    one.null = !paged;
    one.shape = {batches, columns};
  });
  set("blockSize", [&](PlanArgument& one) { one.integer = paged ? rows : random.Below(3); });
  call["inputLayout"].text = layout;
  call["numHeads"].integer = heads;
  call["numKeyValueHeads"].integer = heads == key_heads && random.Below(2) == 0 ? 0 : key_heads;
  set("actualSeqLengths", [&](PlanArgument& one) {
    one.null = !packed && random.Below(2) == 0;
    one.values = packed ? query_sums : queries;
  });
  set("actualSeqLengthsKv", [&](PlanArgument& one) {
    one.null = !packed && !paged && random.Below(2) == 0;
    one.values = packed && !paged ? key_sums : keys;
    if (!packed && random.Below(4) == 0) one.values.resize(1);
  });
  const DtypeNumber dtype = more == More::kCodes ? DtypeNumber{ACL_BF16} : DrawDtype(random, kDtypes);
  Lengths v = k;
  v.d = value_depth;
  const Lengths out{q.b, heads, q.s, value_depth};
  call["query"].shape = ShapeOf(q, in);
  for (const char* name : {"query", "attentionOut", "pseShift"}) call[name].dtype = dtype;
  for (const bool is_key : {true, false}) {
    PlanArgument& list = call[is_key ? "key" : "value"];
    if (list.kind == ParameterKind::kList) list.entries.resize(1);
    auto& first = const_cast<PlanArgument&>(EntryOf(list));
    first.shape = key_shape(is_key ? k : v);
    first.dtype = more == More::kScales || more == More::kCodes ? DtypeNumber{ACL_INT8} : dtype;
  }
  if (more == More::kLists) {
    std::vector<int64_t>* const lengths = &const_cast<PlanArgument&>(Arg(call, "actualSeqLengthsKv")).values;
    for (const bool is_key : {true, false}) {
      PlanArgument& list = call[is_key ? "key" : "value"];
      list.entries.resize(static_cast<size_t>(batches), list.entries[0]);
      for (int64_t b = 0; b < batches; ++b) {
        Lengths one = is_key ? k : v;
        one.b = 1;
        one.s = lengths->size() > 1 ? keys[static_cast<size_t>(b)] + b
                                    : std::max<int64_t>(lengths->empty() ? 1 : (*lengths)[0], 1) + b;
        list.entries[static_cast<size_t>(b)].shape = ShapeOf(one, in);
      }
      k.s = std::max(k.s, most + batches);
    }
  }
  call["attentionOut"].shape = ShapeOf(out, OutOf(layout));
  int64_t most_keys = paged ? columns * rows : k.s;
  if (more == More::kPrefix) {
    Lengths prefix{1, key_heads, random.Between(1, random.Below(3) == 0 ? 300 : 9), q.d};
    const int64_t counted = random.Between(0, prefix.s);
    most_keys += prefix.s;
    for (const char* name : {"keySharedPrefix", "valueSharedPrefix"}) {
      set(name, [&](PlanArgument& one) {
        one.null = false;
        one.dtype = dtype;
        one.shape = ShapeOf(prefix, in);
      });
      prefix.d = v.d;
    }
    set("actualSharedPrefixLen", [&](PlanArgument& one) {
      one.values = random.Below(2) == 0 ? std::vector<int64_t>{} : std::vector<int64_t>{counted};
    });
  }
  if (more == More::kCodes) {
    call["query"].dtype = ACL_INT8;
    for (const char* name : {"keyAntiquantScale", "valueAntiquantScale"}) {
      set(name, [&](PlanArgument& one) {
        one.null = false;
        one.shape = {1};
      });
    }
    set("dequantScaleQuery", [&](PlanArgument& one) {
      one.null = false;
      one.shape = in == "BNSD"  ? Shape{q.b, q.n, q.s}
                  : in == "TND" ? Shape{q.s, q.n}
                  : in == "NTD" ? Shape{q.n, q.s}
                                : Shape{q.b, q.s, q.n};
      if (random.Below(2) == 0) one.shape.push_back(1);
    });
  }
  if (more == More::kRopes || more == More::kCodes) {
    const auto rope = [](Lengths l) {
      l.d = 64;
      return l;
    };
    set("queryRope", [&](PlanArgument& one) { one.shape = ShapeOf(rope(q), in); });
    set("keyRope", [&](PlanArgument& one) { one.shape = key_shape(rope(k)); });
    for (const char* name : {"queryRope", "keyRope"}) {
      set(name, [&](PlanArgument& one) {
        one.null = false;
        one.dtype = dtype;
      });
    }
  }
  if (more == More::kScales) {
    const bool joint = takes.version < 2 || random.Below(3) == 0;
    const int64_t mode = joint ? random.Below(2) : random.Below(paged ? 6 : 4);
    for (const bool is_key : {true, false}) {
      const std::string own = joint ? "antiquant" : is_key ? "keyAntiquant" : "valueAntiquant";
      const Lengths& l = is_key ? k : v;
      const int64_t kind = joint && v.d != k.d ? 3 : random.Below(4);
      const int64_t of_mode = !joint && !is_key && mode == 0 && random.Below(3) == 0 ? 1 : mode;
      Shape shape = kind == 0   ? Shape{l.n, l.d}
                    : kind == 1 ? Shape{l.n * l.d}
                    : kind == 2 ? Shape{l.n, 1, l.d}
                                : Shape{};
      if (of_mode == 1) shape = {batches, most_keys + random.Below(2)};
      if (of_mode == 2) shape = {l.n};
      if (of_mode == 3) shape = {batches, l.n, most_keys};
      if (of_mode == 4) shape = {l.b, l.s};
      if (of_mode == 5) shape = {l.b, l.n, l.s};
      shape.insert(shape.begin(), joint ? 2 : 1);
      for (const char* part : {"Scale", "Offset"}) {
        set(own + part, [&](PlanArgument& one) {
          one.null = part[0] == 'O' && random.Below(2) == 0;
          one.dtype = of_mode == 0 || of_mode == 2 ? dtype : DtypeNumber{ACL_FLOAT};
          one.shape = shape;
        });
      }
      set(own + "Mode", [&](PlanArgument& one) { one.integer = of_mode; });
      if (joint) break;
    }
  }
  call["pseShift"].null = packed || more == More::kCodes || random.Below(3) != 0;
  call["pseShift"].shape = {random.Below(2) == 0 ? 1 : q.b, heads, q.s + random.Below(2),
                            most_keys + random.Below(2)};
  set("pseType", [&](PlanArgument& one) { one.integer = random.Below(2); });
  if (more == More::kSlopes) {
    call["pseShift"].null = false;
    call["pseShift"].dtype = ACL_FLOAT;
    call["pseShift"].shape = random.Below(2) == 0 ? Shape{heads} : Shape{batches, heads};
    set("pseType", [&](PlanArgument& one) { one.integer = random.Between(2, 3); });
    for (const char* name : {"qStartIdx", "kvStartIdx"}) {
      set(name, [&](PlanArgument& one) {
        one.values =
            random.Below(2) == 0 ? std::vector<int64_t>{} : std::vector<int64_t>{random.Between(-9, 99)};
      });
    }
  }
  PlanArgument& mask = call["attenMask"];
  mask.null = packed || random.Below(3) == 0;
  mask.dtype = DrawDtype(random, {ACL_BOOL, ACL_INT8, ACL_UINT8});
  const int64_t batch = random.Below(2) == 0 ? 1 : batches;
  mask.shape = q.s == 1 ? Shape{batch, most_keys} : Shape{q.s + random.Below(2), most_keys + random.Below(2)};
  if (q.s > 1 && random.Below(2) == 0) mask.shape.insert(mask.shape.begin(), batch);
  if (mask.shape.size() == 3 && random.Below(2) == 0) mask.shape.insert(mask.shape.begin() + 1, 1);
  set("sparseMode", [&](PlanArgument& one) { one.integer = mask.null ? 0 : random.Below(2); });
  for (const char* name : {"preTokens", "nextTokens"})
    set(name,
        [&](PlanArgument& one) { one.integer = random.Below(2) == 0 ? 65535 : random.Between(-2, most); });
  call["scaleValue"].real = 1 / std::sqrt(static_cast<double>(q.d));
  // Rows that end before those of the tensors.
  const bool may_pad = more == More::kNone || more == More::kScales || more == More::kSlopes;
  const bool pads = may_pad && !packed && !paged && random.Below(3) == 0;
  const char* const paddings[][2] = {{"queryPaddingSize", "actualSeqLengths"},
                                     {"kvPaddingSize", "actualSeqLengthsKv"}};
  for (const auto& [name, lengths] : paddings) {
    set(name, [&](PlanArgument& one) {
      one.null = !pads || random.Below(4) == 0;
      one.dtype = ACL_INT64;
      if (!one.null) set(lengths, [&](PlanArgument& array) { array.null = false; });
    });
  }
  // Results as codes.
  if (!Arg(call, "quantScale2").name.empty() && more != More::kCodes && random.Below(5) == 0) {
    call["attentionOut"].dtype = ACL_INT8;
    const int64_t kind = random.Below(3);
    const DtypeNumber of_scale = dtype == ACL_BF16 && random.Below(2) == 0 ? ACL_BF16 : ACL_FLOAT;
    for (const char* name : {"quantScale2", "quantOffset2"}) {
      set(name, [&](PlanArgument& one) {
        one.null = name[5] == 'O' && random.Below(2) == 0;
        one.dtype = of_scale;
        one.shape = kind == 0   ? Shape{1}
                    : kind == 1 ? Shape{heads * value_depth}
                                : Shape{1, heads, 1, value_depth};
      });
    }
  }
  set("softmaxLseFlag", [&](PlanArgument& one) { one.integer = random.Below(2); });
  set("softmaxLse", [&](PlanArgument& one) {
    one.shape = packed ? Shape{q.s, heads, 1} : Shape{q.b, heads, q.s, 1};
  });
  set("learnableSink", [&](PlanArgument& one) {
    one.null = more == More::kCodes || random.Below(2) == 0;
    one.shape = {heads};
    one.dtype = DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16});
  });
}

void Fill(const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  const auto arguments = TensorsOf(call);
  const Shape& first = EntryOf(call["key"]).shape;
  const int64_t pages = first.empty() ? 1 : first[0];
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::string name = CanonicalName(arguments[i]->name);
    for (int64_t k = 0; k < tensors[i].size(); ++k) {
      double value = static_cast<double>(random.Between(-2000, 2000)) / 1000;
      if (name == "attenMask") value = random.Below(100) < 30 ? 1 : 0;
      if (name == "blockTable") value = static_cast<double>(random.Below(pages));
      if (name == "quantScale2")
        value = random.Below(20) == 0 ? 200 : static_cast<double>(random.Between(1, 8)) / 4;
      if ((name == "queryPaddingSize" || name == "kvPaddingSize") && tensors[i].dtype() == ACL_INT64) {
        const int64_t extreme = random.Below(2) == 0 ? INT64_MAX : INT64_MIN;
        EncodeIntegerElement(ACL_INT64, random.Below(8) == 0 ? extreme : random.Between(-2, 4),
                             tensors[i].Element(k));
        continue;
      }
      if (name.find("ntiquantScale") != std::string::npos || name == "dequantScaleQuery" ||
          (name == "pseShift" && HasSlopes(call)))
        value = static_cast<double>(random.Between(1, 8)) / 32;
      if (tensors[i].dtype() == ACL_INT8 && name != "attenMask")
        value = static_cast<double>(random.Between(-7, 7));
      if (name == "pseShift" && !HasSlopes(call) && random.Below(3) == 0)
        value = -std::numeric_limits<double>::infinity();
      const Element element = ElementOfNumber(tensors[i].dtype(), {static_cast<long double>(value), 0});
      std::copy(element.begin(), element.end(), tensors[i].Element(k));
    }
  }
}

std::vector<Outcome> Attend(const PlanCall& call, const std::vector<TensorValues>& tensors) {
  const Problem p(call);
  // Entries of lists are key, key1, key2.
  std::map<std::string, std::vector<double>> numbers;
  const auto arguments = TensorsOf(call);
  std::map<std::string, int> counts;
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::string name = CanonicalName(arguments[i]->name);
    const int count = counts[name]++;
    if (count > 0) name += std::to_string(count);
    numbers[name].resize(tensors[i].elements.size());
    for (size_t k = 0; k < numbers[name].size(); ++k)
      numbers[name][k] = ValueAt(tensors[i], static_cast<int64_t>(k));
  }
  const int64_t group = p.q.n / p.k.n;
  // A batch's first row and rows where a padding is behind them; the others' as they are.
  const auto padded = [&](const char* name, int64_t all, std::pair<int64_t, int64_t> part) {
    if (!Has(call, name) || p.packed) return part;
    const auto behind = static_cast<int64_t>(std::clamp(numbers[name][0], 0.0, 1e9));
    const int64_t begin = all - behind - part.second;
    return begin < 0 ? std::pair<int64_t, int64_t>{0, 0} : std::pair<int64_t, int64_t>{begin, part.second};
  };
  const auto queries_of = [&](int64_t b) {
    return p.IsDecoding() ? p.Queries(call, b) : padded("queryPaddingSize", p.q.s, p.Queries(call, b));
  };
  const auto keys_of = [&](int64_t b) { return padded("kvPaddingSize", p.k.s, p.Keys(call, b)); };
  // An element of the row of keys or values that token j of a batch is.
  const auto reader = [&](const std::string& name, Lengths l) {
    std::vector<const std::vector<double>*> lists;
    for (int64_t b = 0; b < std::max<int64_t>(p.lists, 1); ++b)
      lists.push_back(&numbers[b == 0 ? name : name + std::to_string(b)]);
    const std::vector<double>* const prefix = &numbers[name + "SharedPrefix"];
    const std::vector<double>* const table = &numbers["blockTable"];
    const Shape shape = Has(call, name) || name != "keyRope" ? EntryOf(Arg(call, name)).shape : Shape{};
    const int64_t columns = p.paged ? Arg(call, "blockTable").shape[1] : 0;
    const Scales scales(call, name == "key");
    Problem::Place of_scale, of_offset;
    // Of codes the scale of keys is one of scores.
    const bool is_scaled = scales.there && name != "keyRope" && !(TakesCodes(call) && name == "key");
    if (is_scaled) of_scale = *p.PlaceOfScale(scales, Arg(call, scales.scale).shape);
    if (is_scaled && Has(call, scales.offset))
      of_offset = *p.PlaceOfScale(scales, Arg(call, scales.offset).shape);
    const std::vector<double>* const scale_numbers = &numbers[scales.scale];
    const std::vector<double>* const offset_numbers = &numbers[scales.offset];
    return [=, &p, &call, &keys_of](int64_t b, int64_t n, int64_t j, int64_t d) {
      if (j < p.prefix_keys) {
        Lengths of_prefix = p.prefix;
        of_prefix.d = l.d;
        return (*prefix)[PlaceOf(of_prefix, p.in, 0, n, j, d)];
      }
      j -= p.prefix_keys;
      int64_t page = 0;
      double number;
      if (p.lists > 0) {
        number = (*lists[static_cast<size_t>(b)])[PlaceOf(p.KeyOf(call, name, b), p.in, 0, n, j, d)];
      } else if (p.paged) {
        page = static_cast<int64_t>((*table)[static_cast<size_t>(b * columns + j / l.s)]);
        number = (*lists[0])[PlaceOfPages(shape, l, page, n, j % l.s, d)];
      } else {
        number = (*lists[0])[PlaceOf(l, p.in, p.packed ? 0 : b, n, keys_of(b).first + j, d)];
      }
      if (!is_scaled) return number;
      const int64_t token = Has(call, "kvPaddingSize") ? keys_of(b).first + j : j;
      if (of_offset) number += (*offset_numbers)[of_offset(b, n, token, page, j % l.s, d)];
      return number * (*scale_numbers)[of_scale(b, n, token, page, j % l.s, d)];
    };
  };
  Lengths of_query_rope = p.q;
  Lengths of_key_rope = p.k;
  of_query_rope.d = of_key_rope.d = 64;
  const auto key_at = reader("key", p.k);
  const auto value_at = reader("value", p.v);
  const auto rope_at = reader("keyRope", of_key_rope);
  const bool has_ropes = Has(call, "queryRope");
  const bool has_slopes = HasSlopes(call);
  const bool has_sink = HasSink(call);
  const int64_t shift_type = Arg(call, "pseType").integer;
  const int64_t mode = Arg(call, "sparseMode").integer;
  const int64_t before = Arg(call, "preTokens").integer;
  const int64_t after = Arg(call, "nextTokens").integer;
  const std::vector<double>& query = numbers["query"];
  const std::vector<double>& query_rope = numbers["queryRope"];
  const std::vector<double>& mask = numbers["attenMask"];
  const std::vector<double>& shifts = numbers["pseShift"];
  const std::vector<double>& sinks = numbers["learnableSink"];
  const auto sees = [&](int64_t b, int64_t i, int64_t j) {
    if (!HasDims(call["attenMask"]) || p.HidesNothing(call)) return true;
    const Shape& s = call["attenMask"].shape;
    const int64_t columns = s.back();
    int64_t place = i * columns + j;
    if (p.IsDecoding()) place = (s[0] == 1 ? 0 : b) * columns + j;
    if (!p.IsDecoding() && s.size() > 2) place += (s[0] == 1 ? 0 : b) * s[s.size() - 2] * columns;
    if (mask[static_cast<size_t>(place)] != 0) return false;
    if (p.IsDecoding() || mode == 1) return true;
    if (Has(call, "queryPaddingSize") || Has(call, "kvPaddingSize")) return true;
    return j >= i - before && j <= i + after;
  };
  const double scale = static_cast<double>(static_cast<float>(call["scaleValue"].real));
  std::vector<double> out(static_cast<size_t>(NumElements(ShapeOf(p.Out(), p.out))));
  std::vector<Element> codes(out.size());
  std::vector<double> lse(static_cast<size_t>(p.q.b * p.q.n * p.q.s),
                          std::numeric_limits<double>::infinity());
  const auto start = [&](const std::string& name) {
    const PlanArgument& array = Arg(call, name);
    return array.null || array.values.empty() ? int64_t{0} : array.values[0];
  };
  const int64_t slope_start = start("kvStartIdx") - start("qStartIdx");
  const bool makes_codes = call["attentionOut"].dtype == ACL_INT8;
  const auto code_of = [&](double value, int64_t n, int64_t d) {
    const auto of_channel = [&](const char* name) {
      const std::vector<double>& all = numbers[name];
      return all[all.size() == 1 ? 0 : static_cast<size_t>(n * p.v.d + d)];
    };
    value *= of_channel("quantScale2");
    if (Has(call, "quantOffset2")) value += of_channel("quantOffset2");
    const Element half = ElementOfNumber(ACL_FLOAT16, {static_cast<long double>(value), 0});
    return std::clamp(std::round(DecodeReal(ACL_FLOAT16, half.data())), -128.0, 127.0);
  };
  for (int64_t b = 0; b < p.batches; ++b) {
    const auto [first, queries] = queries_of(b);
    const int64_t keys = p.prefix_keys + keys_of(b).second;
    // Masks and shifts have the tensors' rows and keys.
    const int64_t row_before = p.packed ? 0 : first;
    const int64_t key_before = p.packed ? 0 : keys_of(b).first;
    for (int64_t n = 0; n < p.q.n; ++n) {
      for (int64_t i = 0; i < queries; ++i) {
        std::vector<double> scores(static_cast<size_t>(keys), -std::numeric_limits<double>::infinity());
        const double kLowest = std::numeric_limits<float>::lowest();
        double most = kLowest;
        for (int64_t j = 0; j < keys; ++j) {
          if (!sees(b, row_before + i, key_before + j)) continue;
          double& score = scores[static_cast<size_t>(j)] = 0;
          for (int64_t d = 0; d < p.q.d; ++d) {
            score +=
                query[PlaceOf(p.q, p.in, p.packed ? 0 : b, n, first + i, d)] * key_at(b, n / group, j, d);
          }
          for (int64_t d = 0; d < 64 && has_ropes; ++d) {
            score += query_rope[PlaceOf(of_query_rope, p.in, p.packed ? 0 : b, n, first + i, d)] *
                     rope_at(b, n / group, j, d);
          }
          if (TakesCodes(call)) {
            // The scale lies as a query's first element.
            Lengths of_scale = p.q;
            of_scale.d = 1;
            score *=
                numbers["dequantScaleQuery"][PlaceOf(of_scale, p.in, p.packed ? 0 : b, n, first + i, 0)] *
                numbers["keyAntiquantScale"][0];
          }
          double shift = 0;
          if (has_slopes) {
            const Shape& s = call["pseShift"].shape;
            const double slope = shifts[static_cast<size_t>(s.size() == 1 ? n : b * s[1] + n)];
            const auto distance = static_cast<double>(std::abs(j + slope_start - i));
            shift = -slope * (shift_type == 3 ? std::sqrt(distance) : distance);
          } else if (HasDims(call["pseShift"])) {
            const Shape& s = call["pseShift"].shape;
            const int64_t row = ((s[0] == 1 ? 0 : b) * s[1] + n) * s[2] + row_before + i;
            shift = shifts[static_cast<size_t>(row * s[3] + key_before + j)];
          }
          score = shift_type == 1 ? scale * (score + shift) : scale * score + shift;
          most = std::fmax(most, score);
        }
        double sum = 0;
        for (double& score : scores) sum += score = std::exp(score - most);
        const int64_t place = p.packed ? (first + i) * p.q.n + n : (b * p.q.n + n) * p.q.s + first + i;
        if (keys == 0 && p.IsDecoding()) lse[static_cast<size_t>(place)] = kLowest;
        if (sum == 0) continue;
        double with_sink = sum;
        if (has_sink) with_sink += std::exp(sinks[static_cast<size_t>(n)] - most);
        for (int64_t d = 0; d < p.v.d; ++d) {
          double value = 0;
          for (int64_t j = 0; j < keys; ++j)
            value += scores[static_cast<size_t>(j)] / with_sink * value_at(b, n / group, j, d);
          const size_t at = PlaceOf(p.Out(), p.out, p.packed ? 0 : b, n, first + i, d);
          out[at] = value;
          if (!makes_codes) continue;
          // The least and the greatest code of results as near as those that are numbers must be.
          const double off = (call["query"].dtype == ACL_FLOAT16 ? 1e-3 : 8e-3) * (1 + std::fabs(value));
          for (const double one : {value - off, value + off}) {
            codes[at].emplace_back();
            EncodeIntegerElement(ACL_INT8, static_cast<int64_t>(code_of(one, n, d)), &codes[at].back());
          }
        }
        lse[static_cast<size_t>(place)] = most + std::log(sum);
      }
    }
  }
  // Rows of no batch stay.
  Outcome result = AsOutcome(call["attentionOut"].dtype, out);
  for (size_t at = 0; at < codes.size(); ++at) {
    if (!codes[at].empty()) result[at] = codes[at];
  }
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
  if (Arg(call, "softmaxLse").name.empty()) return {result};
  if (Arg(call, "softmaxLseFlag").integer == 0) numbers_of_rows.clear();
  return {result, numbers_of_rows};
}

OperatorSpec Completed(OperatorSpec op, const Takes& takes) {
  op.rules = Checks(takes.many_queries, takes.version >= 5, takes.version >= 4);
  op.draw = [=](PlanCall& call, RandomNumbers& random) { Draw(call, random, takes); };
  op.fill = Fill;
  op.oracle = Attend;
  op.takes_workspace = true;
  op.is_inexact = true;
  op.tolerance = 1e-5;
  return op;
}

OperatorSpec Operator(const CFunction& function, int version) {
  OperatorSpec op;
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
  if (version >= 5) {
    op.valid.push_back(ArrayArg("qStartIdx", {}));
    op.valid.push_back(ArrayArg("kvStartIdx", {3}));
  }
  for (const PlanArgument& one :
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
  if (version >= 5) op.valid.push_back(IntegerArg("pseType", 0));
  op.valid.push_back(OutputArg("attentionOut", {2, 3, 4, 3}, ACL_FLOAT16));
  op.valid.push_back(OutputArg("softmaxLse", {2, 4, 3, 1}));
  Takes takes;
  takes.version = version;
  return Completed(op, takes);
}

OperatorSpec Prompt(const CFunction& function, int version) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("query", {2, 3, 4, 5}, ACL_FLOAT16), TensorArg("key", {2, 6, 2, 5}, ACL_FLOAT16),
              TensorArg("value", {2, 6, 2, 3}, ACL_FLOAT16), TensorArg("pseShift", {1, 4, 3, 6}, ACL_FLOAT16),
              TensorArg("attenMask", {3, 6}, ACL_BOOL),      ArrayArg("actualSeqLengths", {3, 2})};
  if (version >= 2) {
    op.valid.push_back(ArrayArg("actualSeqLengthsKv", {5, 6}));
    for (const char* name : {"deqScale1", "quantScale1", "deqScale2", "quantScale2", "quantOffset2"}) {
      op.valid.push_back(TensorArg(name, {1}));
      op.valid.back().null = true;
    }
  }
  for (const PlanArgument& one :
       {IntegerArg("numHeads", 4), RealArg("scaleValue", 0.5), IntegerArg("preTokens", 2),
        IntegerArg("nextTokens", 2), TextArg("inputLayout", "BSND"), IntegerArg("numKeyValueHeads", 2)})
    op.valid.push_back(one);
  if (version >= 2) op.valid.push_back(IntegerArg("sparseMode", 0));
  if (version >= 3) op.valid.push_back(IntegerArg("innerPrecise", 1));
  op.valid.push_back(OutputArg("attentionOut", {2, 3, 4, 3}, ACL_FLOAT16));
  Takes takes;
  takes.lists = takes.pages = takes.joint_scales = false;
  return Completed(op, takes);
}

OperatorSpec Incre(const CFunction& function, int version) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("query", {2, 1, 4, 5}, ACL_FLOAT16),
              ListArg("key", {{2, 6, 2, 5}}, false, ACL_FLOAT16),
              ListArg("value", {{2, 6, 2, 3}}, false, ACL_FLOAT16),
              TensorArg("pseShift", {1, 4, 1, 6}, ACL_FLOAT16),
              TensorArg("attenMask", {2, 6}, ACL_BOOL),
              ArrayArg("actualSeqLengths", {5, 6})};
  const auto absent = [&](const char* name, DtypeNumber dtype = ACL_FLOAT) {
    op.valid.push_back(TensorArg(name, {2, 1}, dtype));
    op.valid.back().null = true;
  };
  if (version >= 2) {
    for (const char* name : {"dequantScale1", "quantScale1", "dequantScale2", "quantScale2", "quantOffset2"})
      absent(name);
  }
  if (version >= 3) {
    absent("antiquantScale");
    absent("antiquantOffset");
    absent("blocktable", ACL_INT32);
  }
  if (version >= 4) absent("kvPaddingSize");
  for (const PlanArgument& one : {IntegerArg("numHeads", 4), RealArg("scaleValue", 0.5),
                                  TextArg("inputLayout", "BSND"), IntegerArg("numKeyValueHeads", 2)})
    op.valid.push_back(one);
  if (version >= 3) {
    op.valid.push_back(IntegerArg("blockSize", 0));
    op.valid.push_back(IntegerArg("innerPrecise", 0));
  }
  op.valid.push_back(OutputArg("attentionOut", {2, 1, 4, 3}, ACL_FLOAT16));
  Takes takes;
  takes.many_queries = false;
  takes.pages = takes.joint_scales = version >= 3;
  return Completed(op, takes);
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {
      Operator(PORTACL_C_FUNCTION(aclnnFusedInferAttentionScore), 1),
      Operator(PORTACL_C_FUNCTION(aclnnFusedInferAttentionScoreV2), 2),
      Operator(PORTACL_C_FUNCTION(aclnnFusedInferAttentionScoreV3), 3),
      Operator(PORTACL_C_FUNCTION(aclnnFusedInferAttentionScoreV4), 4),
      Operator(PORTACL_C_FUNCTION(aclnnFusedInferAttentionScoreV5), 5),
      Prompt(PORTACL_C_FUNCTION(aclnnPromptFlashAttention), 1),
      Prompt(PORTACL_C_FUNCTION(aclnnPromptFlashAttentionV2), 2),
      Prompt(PORTACL_C_FUNCTION(aclnnPromptFlashAttentionV3), 3),
      Incre(PORTACL_C_FUNCTION(aclnnIncreFlashAttention), 1),
      Incre(PORTACL_C_FUNCTION(aclnnIncreFlashAttentionV2), 2),
      Incre(PORTACL_C_FUNCTION(aclnnIncreFlashAttentionV3), 3),
      Incre(PORTACL_C_FUNCTION(aclnnIncreFlashAttentionV4), 4),
  };
  return all;
}

class InferAttentionOf : public ::testing::TestWithParam<const OperatorSpec*> {};
TEST_P(InferAttentionOf, Contract) { CheckContract(*GetParam()); }
// The last version has all that there is.
TEST_P(InferAttentionOf, EveryElement) {
  const bool is_last = std::string(GetParam()->function.name).find("V5") != std::string::npos;
  CheckNumbers(*GetParam(), is_last ? 500 : 60);
}
TEST_P(InferAttentionOf, AddressesSetAnew) { CheckAddressesSetAnew(*GetParam()); }
INSTANTIATE_TEST_SUITE_P(Of, InferAttentionOf, ::testing::ValuesIn([] {
                           std::vector<const OperatorSpec*> all;
                           for (const OperatorSpec& op : Operators()) all.push_back(&op);
                           return all;
                         }()),
                         [](const auto& one) { return std::string(one.param->function.name); });

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

// Of a number that has no more bits.
uint16_t Bf16Of(float number) {
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return static_cast<uint16_t>(bits >> 16);
}

// One call of aclnnFusedInferAttentionScoreV3, of bf16; what is not set is null.
struct Inference {
  std::vector<uint16_t> query, key, value;
  Shape query_shape, key_shape, value_shape;
  std::vector<int64_t> queries, keys;
  std::vector<int32_t> table;
  Shape table_shape, table_strides;
  Shape mask_shape = {2048, 2048};
  char mask_value = 0;
  int64_t lists = 1;                                     // key and value hold so many tensors of their shapes
  Shape prefix_shape, query_rope_shape, key_rope_shape;  // of zeros
  Shape lse_strides;
  int refused = 0;  // what phase 1 returns
  std::string layout = "TND";
  int64_t heads = 4, key_heads = 2, mode = 0, before = 0, after = 0, page = 0;
  bool has_mask = false;
  void* key_memory = nullptr;  // in place of key and value
  std::vector<uint16_t> out;
  std::vector<float> lse;
  uint64_t workspace = 0;
  uint64_t most_workspace = 0;

  aclError Run(aclrtStream stream) {
    const auto make = [](const Shape& shape, aclDataType dtype, void* data, const Shape& strides = {}) {
      return aclCreateTensor(shape.data(), shape.size(), dtype, strides.empty() ? nullptr : strides.data(), 0,
                             ACL_FORMAT_ND, shape.data(), shape.size(), data);
    };
    std::vector<uint16_t> zeros(1024);
    const auto make_zeros = [&](const Shape& shape) {
      return shape.empty() ? nullptr : make(shape, ACL_BF16, zeros.data());
    };
    Shape out_shape = query_shape;
    out_shape.back() = query_shape.back();
    out.assign(static_cast<size_t>(NumElements(out_shape)), 0x1234);
    const bool packed = query_shape.size() == 3;
    const Shape lse_shape =
        packed ? Shape{query_shape[0], heads, 1} : Shape{query_shape[0], query_shape[1], query_shape[2], 1};
    lse.assign(static_cast<size_t>(NumElements(lse_shape)), 0);
    std::vector<char> mask_values(has_mask ? 2048 * 2048 : 0, mask_value);
    aclTensor* const q = make(query_shape, ACL_BF16, query.data());
    aclTensor* const mask = has_mask ? make(mask_shape, ACL_BOOL, mask_values.data()) : nullptr;
    aclTensor* const blocks =
        table.empty() ? nullptr : make(table_shape, ACL_INT32, table.data(), table_strides);
    aclTensor* const result = make(out_shape, ACL_BF16, out.data());
    aclTensor* const sums = make(lse_shape, ACL_FLOAT, lse.data(), lse_strides);
    aclTensor* const key_prefix = make_zeros(prefix_shape);
    aclTensor* const value_prefix = make_zeros(prefix_shape);
    aclTensor* const query_rope = make_zeros(query_rope_shape);
    aclTensor* const key_rope = make_zeros(key_rope_shape);
    const auto make_list = [&](const Shape& shape, std::vector<uint16_t>& numbers) {
      std::vector<const aclTensor*> entries;
      for (int64_t i = 0; i < lists; ++i)
        entries.push_back(make(shape, ACL_BF16,
                               key_memory != nullptr ? key_memory : numbers.data() + i * NumElements(shape)));
      return aclCreateTensorList(entries.data(), entries.size());
    };
    aclTensorList* const key_list = make_list(key_shape, key);
    aclTensorList* const value_list = make_list(value_shape, value);
    aclIntArray* const of_queries =
        queries.empty() ? nullptr : aclCreateIntArray(queries.data(), queries.size());
    aclIntArray* const of_keys = keys.empty() ? nullptr : aclCreateIntArray(keys.data(), keys.size());
    std::string text = layout;
    aclOpExecutor* executor = nullptr;
    const auto plan = [&](auto function, uint64_t* size) {
      return function(q, key_list, value_list, nullptr, mask, of_queries, of_keys, nullptr, nullptr, nullptr,
                      nullptr, nullptr, nullptr, nullptr, blocks, nullptr, nullptr, nullptr, nullptr, nullptr,
                      nullptr, key_prefix, value_prefix, nullptr, query_rope, key_rope, nullptr, heads, 0.125,
                      before, after, text.data(), key_heads, mode, 0, page, 0, true, 0, 0, result, sums, size,
                      &executor);
    };
    aclError status = plan(aclnnFusedInferAttentionScoreV3GetMaxWorkspaceSize, &most_workspace);
    EXPECT_EQ(status, refused) << aclGetRecentErrMsg();
    if (status == 0) {
      EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
      EXPECT_EQ(plan(aclnnFusedInferAttentionScoreV3GetWorkspaceSize, &workspace), 0);
      // A graph gives the workspace that it was told before.
      const GuardedBuffer memory(most_workspace);
      EXPECT_EQ(aclnnFusedInferAttentionScoreV3(memory.device(), most_workspace, executor, stream), 0);
      status = aclrtSynchronizeStream(stream);
    }
    for (const aclTensorList* list : {key_list, value_list}) aclDestroyTensorList(list);
    for (const aclTensor* tensor :
         {q, mask, blocks, result, sums, key_prefix, value_prefix, query_rope, key_rope}) {
      if (tensor != nullptr) aclDestroyTensor(tensor);
    }
    for (const aclIntArray* array : {of_queries, of_keys}) {
      if (array != nullptr) aclDestroyIntArray(array);
    }
    return status;
  }
};

std::vector<uint16_t> Drawn(const Shape& shape, RandomNumbers& random) {
  std::vector<uint16_t> numbers(static_cast<size_t>(NumElements(shape)));
  for (uint16_t& one : numbers)
    one = static_cast<uint16_t>(0x3f00 + random.Below(0x180) + (random.Below(2) == 0 ? 0x8000 : 0));
  return numbers;
}

// The same keys in blocks of any kind and length give the same bits as side by side, for one query and for several.
TEST(InferAttentionPages, GiveTheBitsOfDenseKeys) {
  for (const engine::Isa isa : IsasToTest()) {
    const ScopedEnvironment environment(Variables{{"PORTACL_ISA", engine::IsaName(isa)}});
    ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
    RandomNumbers random(0xB175);
    for (const int64_t queries : {1, 9}) {
      const int64_t keys = 300, depth = 64;
      const Lengths all{1, 2, keys, depth};
      Inference dense;
      dense.query_shape = {queries, 4, depth};
      dense.query = Drawn(dense.query_shape, random);
      dense.key_shape = dense.value_shape = {keys, 2, depth};
      dense.key = Drawn(dense.key_shape, random);
      dense.value = Drawn(dense.value_shape, random);
      dense.queries = {queries};
      dense.keys = {keys};
      dense.has_mask = true;
      dense.mode = 3;
      ASSERT_EQ(dense.Run(environment.stream()), 0);
      for (const int64_t page : {16, 48, 128, 512}) {
        for (const int kind : {3, 4, 5}) {
          Inference paged = dense;
          const int64_t blocks = (keys + page - 1) / page;
          const Lengths l{blocks + 1, 2, page, depth};
          Shape shape = kind == 3 ? Shape{l.b, page, 2 * depth} : Shape{l.b, 2, page, depth};
          if (kind == 5) shape = {l.b, 2, depth / 16, page, 16};
          paged.key_shape = paged.value_shape = shape;
          paged.page = page;
          paged.table_shape = {1, blocks};
          for (int64_t i = 0; i < blocks; ++i) paged.table.push_back(static_cast<int32_t>(blocks - i));
          for (const bool is_key : {true, false}) {
            std::vector<uint16_t>& to = is_key ? paged.key : paged.value;
            to.assign(static_cast<size_t>(NumElements(shape)), 0x7fc0);  // NaN where no key is
            for (int64_t j = 0; j < keys; ++j) {
              for (int64_t n = 0; n < 2; ++n) {
                for (int64_t d = 0; d < depth; ++d)
                  to[PlaceOfPages(shape, l, blocks - j / page, n, j % page, d)] =
                      (is_key ? dense.key : dense.value)[PlaceOf(all, "TND", 0, n, j, d)];
              }
            }
          }
          ASSERT_EQ(paged.Run(environment.stream()), 0);
          EXPECT_EQ(paged.out, dense.out) << page << " " << kind << " " << queries;
          EXPECT_EQ(paged.lse, dense.lse) << page << " " << kind << " " << queries;
        }
      }
    }
  }
}

// Heads of one query walk the keys together, in groups that share keys, and have the bits that each has alone, by every instruction set.
// There are three blocks of keys, the last of which ends within a chain, and more heads than a task takes.
TEST(InferAttention, HeadsOfOneQueryHaveTheBitsOfEachAlone) {
  constexpr int64_t kKeys = 600;
  struct Heads {
    int64_t heads, key_heads, depth;
  };
  // By the heads.
  std::map<int64_t, std::vector<uint16_t>> bits;
  for (const engine::Isa isa : IsasToTest()) {
    for (const char* const threads : {"1", "3"}) {
      const ScopedEnvironment environment(
          Variables{{"PORTACL_ISA", engine::IsaName(isa)}, {"PORTACL_NUM_THREADS", threads}});
      ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
      RandomNumbers random(0x4EAD);
      for (const auto& [heads, key_heads, depth] : {Heads{19, 19, 64}, Heads{20, 2, 64}, Heads{28, 4, 64},
                                                    Heads{36, 36, 128}, Heads{3, 3, 256}, Heads{18, 1, 64}}) {
        Inference one;
        one.heads = one.key_heads = 1;
        one.query_shape = {1, 1, depth};
        one.key_shape = one.value_shape = {kKeys, 1, depth};
        one.queries = {1};
        one.keys = {kKeys};
        Inference all = one;
        all.heads = heads;
        all.key_heads = key_heads;
        all.query_shape = {1, heads, depth};
        all.query = Drawn(all.query_shape, random);
        all.key_shape = all.value_shape = {kKeys, key_heads, depth};
        all.key = Drawn(all.key_shape, random);
        all.value = Drawn(all.value_shape, random);
        // The same, each head's keys and values behind those of the head before.
        Inference by_head = all;
        by_head.layout = "BNSD";
        by_head.query_shape = {1, heads, 1, depth};
        by_head.key_shape = by_head.value_shape = {1, key_heads, kKeys, depth};
        by_head.queries.clear();
        const auto row = [depth = depth](std::vector<uint16_t>& of, int64_t number) {
          return of.begin() + number * depth;
        };
        for (const auto numbers : {&Inference::key, &Inference::value}) {
          for (int64_t i = 0; i < kKeys * key_heads; ++i)
            std::copy_n(row(all.*numbers, i), depth,
                        row(by_head.*numbers, i % key_heads * kKeys + i / key_heads));
        }
        ASSERT_EQ(all.Run(environment.stream()), 0);
        ASSERT_EQ(by_head.Run(environment.stream()), 0);
        EXPECT_EQ(by_head.out, all.out) << heads << " " << key_heads;
        EXPECT_EQ(bits.emplace(heads, all.out).first->second, all.out) << heads << " " << key_heads;
        EXPECT_EQ(by_head.lse, all.lse) << heads << " " << key_heads;
        for (int64_t head = 0; head < heads; ++head) {
          const int64_t first = head / (heads / key_heads) * kKeys;
          one.query.assign(row(all.query, head), row(all.query, head + 1));
          one.key.assign(row(by_head.key, first), row(by_head.key, first + kKeys));
          one.value.assign(row(by_head.value, first), row(by_head.value, first + kKeys));
          ASSERT_EQ(one.Run(environment.stream()), 0);
          EXPECT_EQ(one.out, std::vector<uint16_t>(row(all.out, head), row(all.out, head + 1)))
              << heads << " " << key_heads << " " << head;
          EXPECT_EQ(one.lse[0], all.lse[static_cast<size_t>(head)]);
        }
      }
    }
  }
}

// A window's last keys: blocks before it may be of anyone, and their entries anything.
TEST(InferAttentionPages, UnseenBlocksAreNotRead) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  RandomNumbers random(0x5EE);
  constexpr size_t kBlock = 4096;  // 16 rows of 2 heads of 64
  auto* const memory = static_cast<char*>(
      mmap(nullptr, 5 * kBlock, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  const std::vector<uint16_t> numbers = Drawn({2 * kBlock / 2}, random);
  std::memcpy(memory + kBlock, numbers.data(), 2 * kBlock);
  ASSERT_EQ(mprotect(memory, kBlock, PROT_NONE), 0);
  ASSERT_EQ(mprotect(memory + 3 * kBlock, 2 * kBlock, PROT_NONE), 0);
  for (const int64_t queries : {1, 3}) {
    Inference seen;
    seen.query_shape = {queries, 4, 64};
    seen.query = Drawn(seen.query_shape, random);
    seen.key_shape = seen.value_shape = {5, 16, 128};
    seen.key_memory = memory;
    seen.page = 16;
    seen.queries = {queries};
    seen.keys = {64 - 4};
    seen.table_shape = {1, 5};
    seen.table = {-1, 3, 1, 2, 99};
    seen.has_mask = true;
    seen.mode = 4;
    seen.before = 20;  // keys 39 - queries + 1 and on: blocks 2 and 3
    ASSERT_EQ(seen.Run(environment.stream()), 0);
    for (const uint16_t one : seen.out) ASSERT_NE(one, 0x1234);
    // One key more before them is of a block that is not there.
    seen.before = 60;
    EXPECT_EQ(seen.Run(environment.stream()), 507015);
    EXPECT_NE(std::string(aclGetRecentErrMsg()).find("blockTable has the value -1 at [0, 0]"),
              std::string::npos);
    EXPECT_EQ(seen.out, std::vector<uint16_t>(seen.out.size(), 0x1234));
  }
  munmap(memory, 5 * kBlock);
}

// No lengths ask for more than the question for the greatest workspace answers.
TEST(InferAttention, WorkspaceIsOfAnyLengths) {
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "3"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  std::vector<uint64_t> sizes;
  for (const std::vector<int64_t>& ends :
       {std::vector<int64_t>{1, 2}, std::vector<int64_t>{150, 260}, std::vector<int64_t>{0, 260}}) {
    Inference one;
    one.query_shape = {260, 4, 16};
    one.query.resize(260 * 64);
    one.key_shape = one.value_shape = {8, 2, 16};
    one.key.resize(256);
    one.value.resize(256);
    one.queries = ends;
    one.keys = {3, 8};
    ASSERT_EQ(one.Run(environment.stream()), 0);
    EXPECT_EQ(one.workspace, one.most_workspace);
    sizes.push_back(one.workspace);
  }
  EXPECT_EQ(sizes, std::vector<uint64_t>(3, sizes[0]));
}

// As many lists as there may be, more than the operands of other operators.
TEST(InferAttention, ListsOfManyBatches) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  for (const int64_t batches : {64, 256, 257}) {
    Inference one;
    one.layout = "BSND";
    one.heads = one.key_heads = 1;
    one.lists = batches;
    one.query_shape = {batches, 1, 1, 16};
    one.query.resize(static_cast<size_t>(batches) * 16);
    one.key_shape = one.value_shape = {1, 2, 1, 16};
    one.key.resize(static_cast<size_t>(batches) * 32);
    for (int64_t b = 0; b < batches; ++b)
      one.value.insert(one.value.end(), 32, Bf16Of(static_cast<float>(b)));
    one.refused = batches == 257 ? 561002 : 0;
    ASSERT_EQ(one.Run(environment.stream()), one.refused);
    for (int64_t b = 0; b < batches && one.refused == 0; ++b)
      ASSERT_EQ(one.out[static_cast<size_t>(b) * 16], Bf16Of(static_cast<float>(b))) << b;
  }
}

// Results that are INT8 are rounded to FLOAT16 first, and then to the nearest, ties away from 0. One key's value is the
// result itself.
TEST(InferAttention, CodesOfOneKey) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  const std::vector<float> numbers = {0.5f,   1.5f,   -0.5f,   -1.5f, 2.5f,  100, -100, 96,
                                      126.5f, 127.5f, -128.5f, 1000,  -1000, 0,   3,    -3};
  std::vector<uint16_t> memory(16), values;
  for (const float number : numbers) values.push_back(Bf16Of(number));
  char layout[] = "BNSD";
  const Shape shape = {1, 1, 1, 16};
  const auto tensor = [](const Shape& dims, aclDataType dtype, void* data) {
    return aclCreateTensor(dims.data(), dims.size(), dtype, nullptr, 0, ACL_FORMAT_ND, dims.data(),
                           dims.size(), data);
  };
  for (float scale : {1.0f, 1.00499f}) {
    std::vector<int8_t> out(16, 77);
    const aclTensor* const keys[] = {tensor(shape, ACL_BF16, memory.data())};
    const aclTensor* const of_values[] = {tensor(shape, ACL_BF16, values.data())};
    aclTensorList* const key = aclCreateTensorList(keys, 1);
    aclTensorList* const value = aclCreateTensorList(of_values, 1);
    aclTensor* const query = tensor(shape, ACL_BF16, memory.data());
    aclTensor* const scales = tensor({1}, ACL_FLOAT, &scale);
    aclTensor* const result = tensor(shape, ACL_INT8, out.data());
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnIncreFlashAttentionV2GetWorkspaceSize(query, key, value, nullptr, nullptr, nullptr,
                                                         nullptr, nullptr, nullptr, scales, nullptr, 1, 1.0,
                                                         layout, 1, result, &size, &executor),
              0)
        << aclGetRecentErrMsg();
    const GuardedBuffer workspace(size);
    ASSERT_EQ(aclnnIncreFlashAttentionV2(workspace.device(), size, executor, environment.stream()), 0);
    ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
    // 100 * 1.00499 is 100.499, which FLOAT16 has as 100.5.
    const std::vector<int8_t> expected =
        scale == 1.0f
            ? std::vector<int8_t>{1, 2, -1, -2, 3, 100, -100, 96, 127, 127, -128, 127, -128, 0, 3, -3}
            : std::vector<int8_t>{1, 2, -1, -2, 3, 101, -101, 97, 127, 127, -128, 127, -128, 0, 3, -3};
    EXPECT_EQ(out, expected) << scale;
    aclDestroyTensorList(key);
    aclDestroyTensorList(value);
    for (aclTensor* one : {query, scales, result}) aclDestroyTensor(one);
  }
}

// A batch of one head, 5 keys and so many queries, drawn.
Inference OfFiveKeys(int64_t queries) {
  RandomNumbers random(0x5C);
  Inference one;
  one.layout = "BNSD";
  one.heads = one.key_heads = 1;
  one.query_shape = {1, 1, queries, 16};
  one.query = Drawn(one.query_shape, random);
  one.key_shape = one.value_shape = {1, 1, 5, 16};
  one.key = Drawn(one.key_shape, random);
  one.value = Drawn(one.key_shape, random);
  return one;
}

// Keys of a prefix have no rotary parts.
TEST(InferAttention, PrefixesHaveNoRotaryParts) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  Inference one = OfFiveKeys(1);
  one.prefix_shape = {1, 1, 2, 16};
  ASSERT_EQ(one.Run(environment.stream()), 0);
  one.query_rope_shape = {1, 1, 1, 64};
  one.key_rope_shape = {1, 1, 5, 64};
  one.refused = 561002;
  ASSERT_EQ(one.Run(environment.stream()), 561002);
  const std::string message = aclGetRecentErrMsg();
  EXPECT_NE(message.find("keySharedPrefix"), std::string::npos) << message;
  EXPECT_NE(message.find("rotary parts"), std::string::npos) << message;
  one.prefix_shape = {};
  one.refused = 0;
  EXPECT_EQ(one.Run(environment.stream()), 0);
}

// One query of each batch sees all keys by the mask of the modes from the ends, whatever is in it.
TEST(InferAttention, TemplatesOfOneQueryHideNothing) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  Inference plain = OfFiveKeys(1);
  ASSERT_EQ(plain.Run(environment.stream()), 0);
  for (const int64_t mode : {0, 2, 3, 4}) {
    for (const Shape& shape : {Shape{2048, 2048}, Shape{1, 2048, 2048}, Shape{1, 1, 2048, 2048}}) {
      Inference one = plain;
      one.has_mask = true;
      one.mask_shape = shape;
      one.mask_value = 1;
      one.mode = mode;
      one.refused = mode < 3 ? 561002 : 0;
      ASSERT_EQ(one.Run(environment.stream()), one.refused) << mode;
      if (one.refused != 0) continue;
      EXPECT_EQ(one.out, plain.out);
      EXPECT_EQ(one.lse, plain.lse);
    }
  }
}

// Tokens that leave no key to be seen, by both ends or beyond one.
TEST(InferAttention, TokensOfNothing) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const struct {
    int64_t mode, before, after;
    bool fits;
  } calls[] = {
      {0, -1, -1, false},        {0, 1, -2, false},         {0, 2, -2, true},        {0, 5, -3, false},
      {0, 5, -2, true},          {0, -5, 9, false},         {0, -4, 9, true},        {4, 9, -5, false},
      {4, 9, -4, true},          {4, -3, 9, false},         {4, -2, 9, true},        {4, -1, 0, false},
      {0, kLeast, kMost, false}, {0, kMost, kLeast, false}, {4, kMost, kMost, true}, {2, -1, -9, true},
      {1, kLeast, kLeast, true}, {3, -9, -9, true},
  };
  for (const auto& call : calls) {
    Inference one = OfFiveKeys(3);
    one.has_mask = true;
    one.mode = call.mode;
    one.before = call.before;
    one.after = call.after;
    one.refused = call.fits ? 0 : 561002;
    EXPECT_EQ(one.Run(environment.stream()), one.refused)
        << call.mode << " " << call.before << " " << call.after;
    if (call.fits) continue;
    const std::string message = aclGetRecentErrMsg();
    EXPECT_NE(message.find("Tokens is "), std::string::npos) << message;
  }
}

// A table of one entry, repeated to more keys than can be counted.
TEST(InferAttention, TablesOfTooManyKeys) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  Inference one = OfFiveKeys(1);
  one.keys = {5};
  ASSERT_EQ(one.Run(environment.stream()), 0);
  Inference paged = one;
  paged.key_shape = paged.value_shape = {1, 1, 8, 16};
  paged.key.resize(128);
  paged.value.resize(128);
  paged.page = 8;
  paged.table = {0};
  paged.table_shape = {1, int64_t{1} << 61};
  paged.table_strides = {0, 0};
  ASSERT_EQ(paged.Run(environment.stream()), 0);
  EXPECT_EQ(paged.out, one.out);
}

// Rows of softmaxLse that are further apart than there are addresses.
TEST(InferAttention, StatisticsBeyondAllAddresses) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  Inference one = OfFiveKeys(3);
  one.lse_strides = {3, 3, int64_t{1} << 61, 1};
  one.refused = 161002;
  ASSERT_EQ(one.Run(environment.stream()), 161002);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("softmaxLse"), std::string::npos);
}

// Starts whose difference is no number: every distance is the same.
TEST(InferAttention, SlopesOfStartsFarApart) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  std::vector<uint16_t> zeros(32), out(16), values(32, Bf16Of(2));
  std::fill_n(values.begin(), 16, Bf16Of(4));
  float slope = 1;
  const auto make = [](const Shape& shape, aclDataType dtype, void* data) {
    return aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                           shape.size(), data);
  };
  aclTensor* const query = make({1, 1, 1, 16}, ACL_BF16, zeros.data());
  const aclTensor* const key = make({1, 1, 2, 16}, ACL_BF16, zeros.data());
  const aclTensor* const value = make({1, 1, 2, 16}, ACL_BF16, values.data());
  aclTensor* const slopes = make({1}, ACL_FLOAT, &slope);
  aclTensor* const result = make({1, 1, 1, 16}, ACL_BF16, out.data());
  aclTensorList* const keys = aclCreateTensorList(&key, 1);
  aclTensorList* const all_values = aclCreateTensorList(&value, 1);
  const int64_t first_query = -1, first_key = std::numeric_limits<int64_t>::max();
  aclIntArray* const query_start = aclCreateIntArray(&first_query, 1);
  aclIntArray* const key_start = aclCreateIntArray(&first_key, 1);
  char layout[] = "BNSD";
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(
      aclnnFusedInferAttentionScoreV5GetWorkspaceSize(
          query, keys, all_values, slopes, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
          nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
          nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, query_start, key_start, 1, 1.0, 0, 0,
          layout, 1, 0, 0, 0, 0, false, 0, 0, 0, 2, result, nullptr, &size, &executor),
      0)
      << aclGetRecentErrMsg();
  const GuardedBuffer workspace(size);
  ASSERT_EQ(aclnnFusedInferAttentionScoreV5(workspace.device(), size, executor, environment.stream()), 0);
  ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
  EXPECT_EQ(out, std::vector<uint16_t>(16, Bf16Of(3)));
  for (const aclTensorList* list : {keys, all_values}) aclDestroyTensorList(list);
  for (const aclTensor* tensor : {query, slopes, result}) aclDestroyTensor(tensor);
  for (const aclIntArray* array : {query_start, key_start}) aclDestroyIntArray(array);
}

// A sum of no exponentials: infinity, but the lowest number where each batch has one query and no keys.
TEST(InferAttention, LogarithmsOfNothing) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  Inference packed;
  packed.query_shape = {2, 4, 16};
  packed.query.resize(128);
  packed.key_shape = packed.value_shape = {3, 2, 16};
  packed.key.resize(96);
  packed.value.resize(96);
  packed.queries = {1, 2};
  packed.keys = {0, 3};
  ASSERT_EQ(packed.Run(environment.stream()), 0);
  for (size_t i = 0; i < 8; ++i)
    EXPECT_EQ(packed.lse[i], i < 4 ? std::numeric_limits<float>::infinity() : std::log(3.0f)) << i;
  Inference alone = packed;
  alone.layout = "BNSD";
  alone.query_shape = {2, 4, 1, 16};
  alone.key_shape = alone.value_shape = {2, 2, 3, 16};
  alone.key.resize(192);
  alone.value.resize(192);
  alone.queries = {};
  ASSERT_EQ(alone.Run(environment.stream()), 0);
  for (size_t i = 0; i < 8; ++i)
    EXPECT_EQ(alone.lse[i], i < 4 ? std::numeric_limits<float>::lowest() : std::log(3.0f)) << i;
}

}  // namespace
}  // namespace portacl::testing
