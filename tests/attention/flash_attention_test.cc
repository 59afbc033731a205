// Attention for training and its gradients: from their descriptions, and what holds for all sizes.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "../norm/row_calls.h"
#include "../random/philox.h"

#include "aclnnop/families/attention.h"
#include "aclnnop/families/random.h"
#include "gtest/gtest.h"
#include "support/environment.h"
#include "support/guarded_buffer.h"

namespace portacl::testing {
namespace {

const DtypeList kDtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

bool HasIn(const PlanCall& call, const char* part) {
  return std::string(call.op->function.name).find(part) != std::string::npos;
}
bool IsPackedOnly(const PlanCall& call) { return HasIn(call, "VarLen") || HasIn(call, "Unpadding"); }
bool IsV4(const PlanCall& call) { return HasIn(call, "V4") && !IsPackedOnly(call); }

bool HasDims(const PlanArgument& one) { return !one.null && !one.shape.empty(); }

// Lengths as a layout has them. In TND b are the sequences, which end at `ends` of t rows, and s is the length of the longest.
struct Lengths {
  int64_t b = 0, n = 0, s = 0, d = 0, t = 0;
  std::vector<int64_t> ends = {};

  int64_t First(int64_t sequence) const {
    return ends.empty() || sequence == 0 ? 0 : ends[static_cast<size_t>(sequence - 1)];
  }
  int64_t Rows(int64_t sequence) const {
    return ends.empty() ? s : ends[static_cast<size_t>(sequence)] - First(sequence);
  }
};
bool IsJoined(const std::string& layout) { return layout == "BSH" || layout == "SBH"; }
size_t RankOf(const std::string& layout) {
  if (layout == "BNSD" || layout == "BSND") return 4;
  return IsJoined(layout) || layout == "TND" ? 3 : 99;
}
Lengths LengthsOf(const Shape& shape, const std::string& layout, int64_t heads,
                  const std::vector<int64_t>& ends = {}) {
  if (shape.size() != RankOf(layout)) return {};
  if (layout == "BNSD") return {shape[0], shape[1], shape[2], shape[3]};
  if (layout == "BSND") return {shape[0], shape[2], shape[1], shape[3]};
  if (layout == "TND") {
    Lengths made{std::ssize(ends), shape[1], 0, shape[2], shape[0], ends};
    for (int64_t b = 0; b < made.b; ++b) made.s = std::max(made.s, made.Rows(b));
    return made;
  }
  const int64_t d = heads > 0 ? shape[2] / heads : 0;
  if (layout == "BSH") return {shape[0], heads, shape[1], d};
  return {shape[1], heads, shape[0], d};
}
Shape ShapeOf(const Lengths& l, const std::string& layout) {
  if (layout == "BNSD") return {l.b, l.n, l.s, l.d};
  if (layout == "BSND") return {l.b, l.s, l.n, l.d};
  if (layout == "BSH") return {l.b, l.s, l.n * l.d};
  if (layout == "TND") return {l.t, l.n, l.d};
  return {l.s, l.b, l.n * l.d};
}
int64_t PlaceOf(const Lengths& l, const std::string& layout, int64_t b, int64_t n, int64_t s, int64_t d) {
  if (layout == "BNSD") return ((b * l.n + n) * l.s + s) * l.d + d;
  if (layout == "SBH") return ((s * l.b + b) * l.n + n) * l.d + d;
  if (layout == "TND") return ((l.First(b) + s) * l.n + n) * l.d + d;
  return ((b * l.s + s) * l.n + n) * l.d + d;
}

// The names that the two operators have for one thing.
struct Names {
  std::string key, shift, mask, greatest, sum, out, order;
};
const Names kScoreNames = {"key",           "realShiftOptional", "attenMaskOptional", "softmaxMaxOut",
                           "softmaxSumOut", "attentionOutOut",   "softmaxOutLayout"};
const Names kGradNames = {"keyIn",
                          "pseShiftOptional",
                          "attenMaskOptional",
                          "softmaxMaxOptional",
                          "softmaxSumOptional",
                          "attentionInOptional",
                          "softmaxInLayout"};

// The second versions, the third and the fifth: how a shift is added, or made of slopes.
bool IsV2(const PlanCall& call) { return HasIn(call, "V2") || HasIn(call, "V3") || HasIn(call, "V5"); }
// Whether the order of statistics is said.
bool HasOrder(const PlanCall& call) { return HasIn(call, "V4") || HasIn(call, "V5"); }
bool IsGrad(const PlanCall& call) { return HasIn(call, "Grad"); }
// What the third and fifth versions have.
bool TakesSink(const PlanCall& call) {
  return HasIn(call, "V5") || (HasIn(call, "V3") && !IsPackedOnly(call));
}
bool TakesRopes(const PlanCall& call) {
  return HasIn(call, "V5") || (HasIn(call, "V3") && IsPackedOnly(call));
}
std::string KeyRope(const PlanCall& call) { return IsGrad(call) ? "keyInRopeOptional" : "keyRopeOptional"; }
bool HasSink(const PlanCall& call) { return TakesSink(call) && HasDims(call["sinkOptional"]); }
bool HasRopes(const PlanCall& call) { return TakesRopes(call) && HasDims(call["queryRopeOptional"]); }
bool WantsSink(const PlanCall& call) {
  return IsGrad(call) && HasSink(call) && !call["dsinkOut"].null && NumElements(call["dsinkOut"].shape) > 0;
}
bool HasSlopes(const PlanCall& call, const Names& names) {
  return IsV2(call) && HasDims(call[names.shift]) && call["pseType"].integer >= 2;
}
bool HasPlainShift(const PlanCall& call, const Names& names) {
  return HasDims(call[names.shift]) && !HasSlopes(call, names);
}

struct Problem {
  Problem(const PlanCall& call, const Names& names) : layout(call["inputLayout"].text) {
    const int64_t heads = call["headNum"].integer;
    const auto ends = [&](const char* name) {
      return layout != "TND" || call[name].null ? std::vector<int64_t>() : call[name].values;
    };
    q = LengthsOf(call["query"].shape, layout, heads, ends("actualSeqQLenOptional"));
    const Shape& key = call[names.key].shape;
    const auto key_ends = ends("actualSeqKvLenOptional");
    k = LengthsOf(key, layout, IsJoined(layout) ? (q.d > 0 ? key[2] / q.d : 0) : 0, key_ends);
    v = LengthsOf(call["value"].shape, layout, k.n, key_ends);
  }
  Lengths Out() const {
    Lengths out = q;
    out.d = v.d;
    return out;
  }
  bool IsPacked() const { return layout == "TND"; }
  // Scores of all heads in the sequences before.
  int64_t Scores(int64_t sequence) const {
    int64_t sum = 0;
    for (int64_t b = 0; b < sequence; ++b) sum += q.n * q.Rows(b) * k.Rows(b);
    return sum;
  }

  std::string layout;
  Lengths q, k, v;
};

// ---- what phase 1 answers ----

using Wrong = std::function<bool(PlanCall&, const Problem&)>;

Rules SharedRules(const Names& names) {
  const auto refuse = [=](aclnnStatus code, const std::string& words, const Wrong& wrong) {
    return Refuses(code, words, [=](PlanCall& call) { return wrong(call, Problem(call, names)); });
  };
  return {
      Refuses(161002, "inputLayout query " + names.key + " value",
              [=](PlanCall& call) {
                const std::string layout = call["inputLayout"].text;
                const bool is_packed = layout == "TND";
                const bool is_taken = is_packed ? IsPackedOnly(call) || IsV4(call) : !IsPackedOnly(call);
                const size_t rank = is_taken ? RankOf(layout) : 99;
                return call["query"].shape.size() != rank || call[names.key].shape.size() != rank ||
                       call["value"].shape.size() != rank;
              }),
      Refuses(161002, names.order,
              [=](PlanCall& call) {
                return HasOrder(call) && std::string(call["inputLayout"].text) == "TND" &&
                       !call[names.order].null && call[names.order].text != "" &&
                       call[names.order].text != "same_as_input";
              }),
      refuse(161002, "query " + names.key + " value",
             [](PlanCall&, const Problem& p) {
               return p.q.d == 0 || p.k.n == 0 || p.k.d != p.q.d || p.v.d > p.q.d || p.q.d > 768;
             }),
      Refuses(561002, "query",
              [](PlanCall& call) {
                const bool is_new = call.product == Product::kA2 || call.product == Product::kA3 ||
                                    call.product == Product::k950;
                return !is_new || !IsOneOf(call["query"].dtype, kDtypes);
              }),
      Refuses(561002, "keepProb",
              [](PlanCall& call) { return call["keepProb"].real <= 0 || call["keepProb"].real > 1; }),
      refuse(561002, "query " + names.key + " value",
             [=](PlanCall& call, const Problem& p) {
               const auto splits = [&](const std::string& name, const Lengths& l) {
                 return !IsJoined(p.layout) || call[name].shape[2] == l.n * l.d;
               };
               return p.q.n != call["headNum"].integer || p.q.n % p.k.n != 0 || p.v.n != p.k.n ||
                      (p.IsPacked() ? p.v.t != p.k.t : p.v.s != p.k.s || p.k.b != p.q.b || p.v.b != p.q.b) ||
                      !splits("query", p.q) || !splits(names.key, p.k) || !splits("value", p.v);
             }),
      refuse(561002, "actualSeqQLenOptional actualSeqKvLenOptional",
             [=](PlanCall&, const Problem& p) {
               const auto fits = [](const Lengths& l) {
                 bool rises = !l.ends.empty() && l.ends.front() >= 0 && l.ends.back() <= l.t;
                 for (int64_t b = 0; b < std::ssize(l.ends); ++b) rises = rises && l.Rows(b) >= 0;
                 return rises;
               };
               return p.IsPacked() && (!fits(p.q) || !fits(p.k) || p.q.ends.size() != p.k.ends.size());
             }),
  };
}

Rules OptionalRules(const Names& names) {
  const auto refuse = [=](const std::string& words, const Wrong& wrong) {
    return Refuses(561002, words, [=](PlanCall& call) { return wrong(call, Problem(call, names)); });
  };
  return {
      refuse(
          names.shift + " pseType",
          [=](PlanCall& call, const Problem& p) {
            if (!HasDims(call[names.shift])) return false;
            const Shape& s = call[names.shift].shape;
            if (IsV2(call) && (call["pseType"].integer < 0 || call["pseType"].integer > 3)) return true;
            if (HasSlopes(call, names))
              return call[names.shift].dtype != ACL_FLOAT || (s != Shape{p.q.n} && s != Shape{p.q.b, p.q.n});
            return s.size() != 4 || (s[0] != 1 && s[0] != p.q.b) || s[1] != p.q.n ||
                   (s[2] != 1 && s[2] != p.q.s) || s[3] != p.k.s;
          }),
      refuse("dropMaskOptional",
             [](PlanCall& call, const Problem& p) {
               const PlanArgument& kept = call["dropMaskOptional"];
               return HasDims(kept) &&
                      (kept.dtype != ACL_UINT8 || NumElements(kept.shape) * 8 < p.Scores(p.q.b));
             }),
      refuse(names.mask + " sparseMode",
             [=](PlanCall& call, const Problem& p) {
               const int64_t mode = call["sparseMode"].integer;
               if (mode < 0 || mode > (p.IsPacked() ? 8 : 6)) return true;
               const PlanArgument& mask = call[names.mask];
               if (!HasDims(mask)) return false;
               const Shape& s = mask.shape;
               if (mask.dtype != ACL_BOOL && mask.dtype != ACL_UINT8) return true;
               if (mode >= 2 && mode != 5)
                 return s.size() < 2 || s[s.size() - 2] != (mode == 6 ? 3072 : 2048) ||
                        s[s.size() - 1] != 2048;
               const Shape last = {p.q.s, p.k.s};
               for (const Shape& before : {Shape{}, Shape{1, 1}, Shape{p.q.b, 1}, Shape{p.q.b, p.q.n}}) {
                 Shape all = before;
                 all.insert(all.end(), last.begin(), last.end());
                 if (s == all) return false;
               }
               return true;
             }),
      refuse("preTokens prefixOptional",
             [=](PlanCall& call, const Problem& p) {
               const int64_t mode = call["sparseMode"].integer;
               if (!HasDims(call[names.mask])) return false;
               if (mode == 0 || mode == 4 || mode > 6)
                 return call["preTokens"].integer < 0 && call["nextTokens"].integer < 0;
               return (mode == 5 || mode == 6) &&
                      (call["prefixOptional"].null || std::ssize(call["prefixOptional"].values) < p.q.b);
             }),
  };
}

// What the fourth versions have and portacl does not compute with.
Rule NotComputed(const Names& names, const std::vector<std::string>& extras) {
  std::string words = "inputLayout pseType actualSeqQLenOptional actualSeqKvLenOptional";
  for (const std::string& extra : extras) words += " " + extra;
  return Refuses(561103, words, [=](PlanCall& call) {
    for (const std::string& extra : extras) {
      if (HasDims(call[extra]) && NumElements(call[extra].shape) > 0) return true;
    }
    for (const char* lengths : {"actualSeqQLenOptional", "actualSeqKvLenOptional"}) {
      if (call["inputLayout"].text != "TND" && !call[lengths].null && !call[lengths].values.empty())
        return true;
    }
    const int64_t type = call["pseType"].integer;
    return HasDims(call[names.shift]) && type != 0 && type != 1;
  });
}

// Rotary parts and sinks.
Rule PartsAreWrong(const Names& names) {
  return Refuses(561002, "", [=](PlanCall& call) {
    if (TakesRopes(call)) {
      const PlanArgument& of_query = call["queryRopeOptional"];
      const PlanArgument& of_key = call[KeyRope(call)];
      if (HasDims(of_query) != HasDims(of_key)) return true;
      if (HasDims(of_query)) {
        const int64_t depth = of_query.shape.back();
        Shape query = call["query"].shape;
        Shape key = call[names.key].shape;
        query.back() = key.back() = depth;
        if (of_query.shape != query || of_key.shape != key || depth < 1 || depth > 768) return true;
        if (of_query.dtype != call["query"].dtype || of_key.dtype != call["query"].dtype) return true;
      }
    }
    return HasSink(call) && (call["sinkOptional"].dtype != ACL_FLOAT ||
                             call["sinkOptional"].shape != Shape{Problem(call, names).q.n});
  });
}
Rule ResultsOfPartsAreWrong() {
  return Refuses(161001, "", [=](PlanCall& call) {
    if (HasRopes(call)) {
      const std::pair<std::string, std::string> same[] = {{"dqRopeOut", "queryRopeOptional"},
                                                          {"dkRopeOut", "keyInRopeOptional"}};
      for (const auto& [name, other] : same) {
        if (call[name].null || call[name].shape != call[other].shape || call[name].dtype != call[other].dtype)
          return true;
      }
    }
    return WantsSink(call) &&
           (call["dsinkOut"].dtype != ACL_FLOAT || call["dsinkOut"].shape != call["sinkOptional"].shape);
  });
}

Rule OtherShape(const Names& names, const std::string& name,
                const std::function<Shape(const Problem&)>& shape) {
  return Refuses(161001, name,
                 [=](PlanCall& call) { return call[name].shape != shape(Problem(call, names)); });
}
Rule OtherDtype(const std::string& name, std::optional<DtypeNumber> dtype = std::nullopt) {
  return Refuses(161001, name + " query",
                 [=](PlanCall& call) { return call[name].dtype != (dtype ? *dtype : call["query"].dtype); });
}
Shape StatisticShape(const Problem& p) {
  return p.IsPacked() ? Shape{p.q.t, p.q.n, 8} : Shape{p.q.b, p.q.n, p.q.s, 8};
}
Shape OutShape(const Problem& p) { return ShapeOf(p.Out(), p.layout); }

bool AllEmpty(PlanCall& call, const std::vector<std::string>& names) {
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return call[name].null || NumElements(call[name].shape) == 0;
  });
}

template <class... Lists>
Rules Together(const Lists&... lists) {
  Rules all;
  (all.insert(all.end(), lists.begin(), lists.end()), ...);
  return all;
}

// ---- calls ----

void DrawProblem(PlanCall& call, RandomNumbers& random, const Names& names) {
  const char* const layouts[] = {"BSH", "SBH", "BNSD", "BSND", "TND"};
  const std::string layout = IsPackedOnly(call) ? "TND" : layouts[random.Below(IsV4(call) ? 5 : 4)];
  const auto length = [&](int64_t most, int64_t seldom) {
    return random.Between(1, random.Below(8) == 0 ? seldom : most);
  };
  Lengths q;
  q.b = random.Between(1, 2);
  const int64_t shared = random.Between(1, 2);
  const int64_t group = random.Between(1, 2);
  q.n = shared * group;
  q.s = length(20, 140);
  q.d = length(20, 300);
  Lengths k = q;
  k.n = shared;
  k.s = length(20, 530);
  if (layout == "TND") {
    // Sequences of which some have no rows, and rows behind the last.
    const int64_t sequences = random.Between(1, 4);
    const auto pack = [&](Lengths& l, const char* name, int64_t seldom) {
      for (int64_t b = 0; b < sequences; ++b) {
        l.t += random.Below(5) == 0 ? 0 : length(20, seldom);
        l.ends.push_back(l.t);
      }
      l.t += random.Below(3) == 0 ? random.Between(1, 30) : 0;
      call[name].values = l.ends;
      call[name].null = false;
      l = LengthsOf(ShapeOf(l, layout), layout, l.n, l.ends);
    };
    pack(q, "actualSeqQLenOptional", 140);
    pack(k, "actualSeqKvLenOptional", 530);
  }
  Lengths v = k;
  v.d = random.Below(2) == 0 ? q.d : random.Between(1, q.d);
  Lengths out = q;
  out.d = v.d;
  call["inputLayout"].text = layout;
  call["headNum"].integer = q.n;
  call["query"].shape = ShapeOf(q, layout);
  call[names.key].shape = ShapeOf(k, layout);
  call["value"].shape = ShapeOf(v, layout);
  call[names.out].shape = ShapeOf(out, layout);
  const DtypeNumber dtype = DrawDtype(random, kDtypes);
  for (const std::string& name :
       {std::string("query"), names.key, std::string("value"), names.out, names.shift})
    call[name].dtype = dtype;
  for (const std::string& name : {names.greatest, names.sum})
    call[name].shape = layout == "TND" ? Shape{q.t, q.n, 8} : Shape{q.b, q.n, q.s, 8};
  if (HasOrder(call)) call[names.order].text = random.Below(2) == 0 ? "" : "same_as_input";
  int64_t scores = 0;
  for (int64_t b = 0; b < q.b; ++b) scores += q.n * q.Rows(b) * k.Rows(b);
  PlanArgument& shift = call[names.shift];
  shift.null = random.Below(2) == 0;
  shift.shape = {random.Below(2) == 0 ? 1 : q.b, q.n, random.Below(2) == 0 ? 1 : q.s, k.s};
  PlanArgument& kept = call["dropMaskOptional"];
  kept.null = random.Below(3) != 0;
  kept.shape = {(scores + 7) / 8 + random.Below(3)};
  call["keepProb"].real = random.Below(2) == 0 ? 1.0 : 0.75;
  call["scaleValue"].real = (random.Below(8) == 0 ? -1 : 1) / std::sqrt(static_cast<double>(q.d));
  PlanArgument& mask = call[names.mask];
  mask.null = random.Below(4) == 0;
  mask.dtype = random.Below(2) == 0 ? ACL_BOOL : ACL_UINT8;
  const Shape shapes[] = {{q.s, k.s}, {1, 1, q.s, k.s}, {q.b, 1, q.s, k.s}, {q.b, q.n, q.s, k.s}};
  mask.shape = shapes[random.Below(4)];
  const int64_t modes[] = {0, 1, 5};
  call["sparseMode"].integer = modes[random.Below(3)];
  const auto tokens = [&] { return random.Below(2) == 0 ? 2147483647 : random.Between(-3, k.s); };
  call["preTokens"].integer = tokens();
  call["nextTokens"].integer = tokens();
  call["prefixOptional"].values.clear();
  for (int64_t b = 0; b < std::max<int64_t>(q.b, 2); ++b)
    call["prefixOptional"].values.push_back(random.Below(k.s + 3));
  call["prefixOptional"].null = call["sparseMode"].integer != 5 && random.Below(2) == 0;
  if (IsV2(call)) {
    call["pseType"].integer = random.Below(4);
    for (const char* name : {"qStartIdxOptional", "kvStartIdxOptional"}) {
      call[name].null = random.Below(2) == 0;
      call[name].values = {random.Between(-20, 20)};
    }
    if (HasSlopes(call, names)) {
      shift.dtype = ACL_FLOAT;
      shift.shape = random.Below(2) == 0 ? Shape{q.n} : Shape{q.b, q.n};
    }
  }
  if (TakesRopes(call)) {
    const int64_t depth = length(20, 130);
    const bool has_none = random.Below(4) == 0;
    for (const auto& [name, other] :
         {std::pair<std::string, std::string>{"queryRopeOptional", "query"}, {KeyRope(call), names.key}}) {
      call[name].null = has_none;
      call[name].dtype = dtype;
      call[name].shape = call[other].shape;
      call[name].shape.back() = depth;
    }
  }
  if (TakesSink(call)) {
    call["sinkOptional"].null = random.Below(4) == 0;
    call["sinkOptional"].shape = {q.n};
  }
  if (!IsV4(call)) return;
  call["pseType"].integer = random.Below(2);
  call["seed"].integer = random.Between(-1000, 1000);
  call["offset"].integer = random.Below(1000) << 30;
}

void FillProblem(const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  const auto arguments = TensorsOf(call);
  const int64_t hides = random.Below(3) == 0 ? 90 : 30;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::string& name = arguments[i]->name;
    if (name == "dropMaskOptional") continue;
    for (int64_t k = 0; k < tensors[i].size(); ++k) {
      double value = static_cast<double>(random.Between(-2000, 2000)) / 1000;
      if (name == "attenMaskOptional") value = random.Below(100) < hides ? 1 : 0;
      // Of the size that they have where they are scaled: weights, and so what rounding does to sums, grow with their exponentials.
      if ((IsV4(call) || IsV2(call)) && (name == "realShiftOptional" || name == "pseShiftOptional") &&
          call["pseType"].integer == 0)
        value *= call["scaleValue"].real;
      const bool is_score = !IsGrad(call);
      if (IsV2(call) && name == (is_score ? kScoreNames : kGradNames).shift &&
          HasSlopes(call, is_score ? kScoreNames : kGradNames))
        value = std::fabs(value) / 64;
      if (IsV2(call) && name == "query") value /= 2;
      if (name.find("Rope") != std::string::npos) value /= 4;
      if (name == "softmaxMaxOptional") value = 3 + value / 2;
      if (name == "softmaxSumOptional") value = 3 + value;
      const Element element = ElementOfNumber(tensors[i].dtype(), {static_cast<long double>(value), 0});
      std::copy(element.begin(), element.end(), tensors[i].Element(k));
    }
  }
}

// ---- what every element is, in float64 ----

std::vector<double> NumbersOf(const TensorValues& tensor) {
  std::vector<double> numbers(tensor.elements.size());
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = ValueAt(tensor, static_cast<int64_t>(i));
  return numbers;
}

class Oracle {
 public:
  Oracle(const PlanCall& call, const std::vector<TensorValues>& tensors, const Names& names)
      : call_(call), names_(names), p(call, names) {
    const auto arguments = TensorsOf(call);
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (arguments[i]->null) continue;
      if (arguments[i]->name == "dropMaskOptional") {
        kept_ = &tensors[i];
      } else {
        numbers_[arguments[i]->name] = NumbersOf(tensors[i]);
      }
    }
  }

  const std::vector<double>& operator[](const std::string& name) { return numbers_[name]; }
  double Sink(int64_t n) { return numbers_["sinkOptional"][static_cast<size_t>(n)]; }
  int64_t KeyHead(int64_t n) const { return n / (p.q.n / p.k.n); }
  double Query(int64_t b, int64_t n, int64_t i, int64_t d) {
    return numbers_["query"][static_cast<size_t>(PlaceOf(p.q, p.layout, b, n, i, d))];
  }
  double Key(int64_t b, int64_t n, int64_t j, int64_t d) {
    return numbers_[names_.key][static_cast<size_t>(PlaceOf(p.k, p.layout, b, KeyHead(n), j, d))];
  }
  double Value(int64_t b, int64_t n, int64_t j, int64_t d) {
    return numbers_["value"][static_cast<size_t>(PlaceOf(p.v, p.layout, b, KeyHead(n), j, d))];
  }
  int64_t RopeDepth() const { return HasRopes(call_) ? call_["queryRopeOptional"].shape.back() : 0; }
  Lengths WithRope(Lengths lengths) const {
    lengths.d = RopeDepth();
    return lengths;
  }
  size_t QueryRopePlace(int64_t b, int64_t n, int64_t i, int64_t d) const {
    return static_cast<size_t>(PlaceOf(WithRope(p.q), p.layout, b, n, i, d));
  }
  size_t KeyRopePlace(int64_t b, int64_t n, int64_t j, int64_t d) const {
    return static_cast<size_t>(PlaceOf(WithRope(p.k), p.layout, b, KeyHead(n), j, d));
  }
  double QueryRope(int64_t b, int64_t n, int64_t i, int64_t d) {
    return numbers_["queryRopeOptional"][QueryRopePlace(b, n, i, d)];
  }
  double KeyRopeAt(int64_t b, int64_t n, int64_t j, int64_t d) {
    return numbers_[KeyRope(call_)][KeyRopePlace(b, n, j, d)];
  }
  bool Sees(int64_t b, int64_t n, int64_t i, int64_t j) {
    if (!HasDims(call_[names_.mask])) return true;
    const int64_t mode = call_["sparseMode"].integer;
    if (mode == 5)
      return j <= i + p.k.Rows(b) - p.q.Rows(b) || j < call_["prefixOptional"].values[static_cast<size_t>(b)];
    if (At(names_.mask, b, n, i, j) != 0) return false;
    return mode == 1 || (j >= i - call_["preTokens"].integer && j <= i + call_["nextTokens"].integer);
  }
  double Score(int64_t b, int64_t n, int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t d = 0; d < p.q.d; ++d) sum += Query(b, n, i, d) * Key(b, n, j, d);
    for (int64_t d = 0; d < RopeDepth(); ++d) sum += QueryRope(b, n, i, d) * KeyRopeAt(b, n, j, d);
    double shift = HasPlainShift(call_, names_) ? At(names_.shift, b, n, i, j) : 0;
    if (HasSlopes(call_, names_)) {
      const auto start = [&](const char* name) {
        return call_[name].null || call_[name].values.empty() ? int64_t{0} : call_[name].values[0];
      };
      const auto distance =
          static_cast<double>(std::abs(j + start("kvStartIdxOptional") - i - start("qStartIdxOptional")));
      const int64_t place = call_[names_.shift].shape.size() == 1 ? n : b * p.q.n + n;
      shift = -numbers_[names_.shift][static_cast<size_t>(place)] *
              (call_["pseType"].integer == 3 ? std::sqrt(distance) : distance);
    }
    const auto scale = static_cast<double>(static_cast<float>(call_["scaleValue"].real));
    return AddsBehind() ? sum * scale + shift : (sum + shift) * scale;
  }
  // Whether shifts are added to what is scaled.
  bool AddsBehind() const {
    return (IsV4(call_) && call_["pseType"].integer == 0) || (IsV2(call_) && call_["pseType"].integer != 1);
  }
  // What a weight is multiplied by.
  double Kept(int64_t b, int64_t n, int64_t i, int64_t j) const {
    const int64_t bit = p.Scores(b) + (n * p.q.Rows(b) + i) * p.k.Rows(b) + j;
    const auto keep = static_cast<double>(static_cast<float>(call_["keepProb"].real));
    if (kept_ != nullptr && !kept_->shape.empty())
      return (kept_->Integer(bit / 8) >> (bit % 8) & 1) != 0 ? 1 / keep : 0;
    if (!IsV4(call_)) return 1;
    const uint32_t word = WordOf(static_cast<uint64_t>(call_["seed"].integer),
                                 static_cast<uint64_t>(call_["offset"].integer), bit);
    return static_cast<double>(word) < keep * 0x1p32 ? 1 / keep : 0;
  }
  // Where a row's statistics begin.
  size_t StatisticPlace(int64_t b, int64_t n, int64_t i) const {
    int64_t row = (b * p.q.n + n) * p.q.s + i;
    if (p.IsPacked()) {
      const bool is_ordered = HasOrder(call_) && call_[names_.order].text == "same_as_input";
      row = is_ordered ? (p.q.First(b) + i) * p.q.n + n : p.q.First(b) * p.q.n + n * p.q.Rows(b) + i;
    }
    return static_cast<size_t>(row * 8);
  }
  size_t ShiftPlace(const std::string& name, int64_t b, int64_t n, int64_t i, int64_t j) const {
    const Shape& shape = call_[name].shape;
    const Index index = {b, n, i, j};
    int64_t place = 0;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      const int64_t at = index[4 - shape.size() + dim];
      place = place * shape[dim] + (shape[dim] == 1 ? 0 : at);
    }
    return static_cast<size_t>(place);
  }

 private:
  double At(const std::string& name, int64_t b, int64_t n, int64_t i, int64_t j) {
    return numbers_[name][ShiftPlace(name, b, n, i, j)];
  }

  const PlanCall& call_;
  const Names& names_;
  std::map<std::string, std::vector<double>> numbers_;
  const TensorValues* kept_ = nullptr;

 public:
  const Problem p;
};

std::vector<Outcome> Attend(const PlanCall& call, const std::vector<TensorValues>& tensors) {
  Oracle at(call, tensors, kScoreNames);
  const Problem& p = at.p;
  std::vector<double> greatest(static_cast<size_t>(NumElements(StatisticShape(p))));
  std::vector<double> sums(greatest.size());
  std::vector<double> out(static_cast<size_t>(NumElements(OutShape(p))));
  constexpr double kMost = std::numeric_limits<float>::max();
  for (int64_t b = 0; b < p.q.b; ++b) {
    for (int64_t n = 0; n < p.q.n; ++n) {
      for (int64_t i = 0; i < p.q.Rows(b); ++i) {
        const int64_t keys = p.k.Rows(b);
        std::vector<double> scores(static_cast<size_t>(keys), -std::numeric_limits<double>::infinity());
        double most = -kMost;
        for (int64_t j = 0; j < keys; ++j) {
          if (at.Sees(b, n, i, j)) scores[static_cast<size_t>(j)] = at.Score(b, n, i, j);
          most = std::fmax(most, scores[static_cast<size_t>(j)]);
        }
        const bool has_sink = HasSink(call) && most > -kMost;
        if (has_sink) most = std::fmax(most, at.Sink(n));
        double sum = 0;
        for (double& score : scores) sum += score = std::exp(score - most);
        if (has_sink) sum += std::exp(at.Sink(n) - most);
        const bool nothing = sum == 0;
        for (int64_t d = 0; d < p.v.d; ++d) {
          double value = 0;
          for (int64_t j = 0; j < keys && !nothing; ++j)
            value += scores[static_cast<size_t>(j)] / sum * at.Kept(b, n, i, j) * at.Value(b, n, j, d);
          out[static_cast<size_t>(PlaceOf(p.Out(), p.layout, b, n, i, d))] = value;
        }
        if (keys == 0) most = 0;
        if (nothing) sum = keys == 0 ? 0 : kMost;
        std::fill_n(greatest.data() + at.StatisticPlace(b, n, i), 8, most);
        std::fill_n(sums.data() + at.StatisticPlace(b, n, i), 8, sum);
      }
    }
  }
  return {AsOutcome(ACL_FLOAT, greatest),
          AsOutcome(ACL_FLOAT, sums),
          {},
          AsOutcome(call["attentionOutOut"].dtype, out)};
}

std::vector<Outcome> Differentiate(const PlanCall& call, const std::vector<TensorValues>& tensors) {
  Oracle at(call, tensors, kGradNames);
  const Problem& p = at.p;
  std::vector<double> dq(at["query"].size()), dk(at["keyIn"].size()), dv(at["value"].size());
  std::vector<double> dpse(HasPlainShift(call, kGradNames) ? at["pseShiftOptional"].size() : 0);
  std::vector<double> dq_rope(HasRopes(call) ? at["queryRopeOptional"].size() : 0);
  std::vector<double> dk_rope(HasRopes(call) ? at["keyInRopeOptional"].size() : 0);
  std::vector<double> dsink(static_cast<size_t>(p.q.n));
  const double scale = static_cast<double>(static_cast<float>(call["scaleValue"].real));
  for (int64_t b = 0; b < p.q.b; ++b) {
    for (int64_t n = 0; n < p.q.n; ++n) {
      for (int64_t i = 0; i < p.q.Rows(b); ++i) {
        const auto of_out = [&](int64_t d) {
          return static_cast<size_t>(PlaceOf(p.Out(), p.layout, b, n, i, d));
        };
        double delta = 0;
        for (int64_t d = 0; d < p.v.d; ++d)
          delta += at["dy"][of_out(d)] * at["attentionInOptional"][of_out(d)];
        const size_t row = at.StatisticPlace(b, n, i);
        if (HasSink(call) && p.k.Rows(b) > 0)
          dsink[static_cast<size_t>(n)] -=
              std::exp(at.Sink(n) - at["softmaxMaxOptional"][row]) / at["softmaxSumOptional"][row] * delta;
        for (int64_t j = 0; j < p.k.Rows(b); ++j) {
          if (!at.Sees(b, n, i, j)) continue;
          const double weight =
              std::exp(at.Score(b, n, i, j) - at["softmaxMaxOptional"][row]) / at["softmaxSumOptional"][row];
          double of_weight = 0;
          for (int64_t d = 0; d < p.v.d; ++d) {
            of_weight += at["dy"][of_out(d)] * at.Value(b, n, j, d);
            dv[static_cast<size_t>(PlaceOf(p.v, p.layout, b, at.KeyHead(n), j, d))] +=
                weight * at.Kept(b, n, i, j) * at["dy"][of_out(d)];
          }
          const double of_score = scale * weight * (of_weight * at.Kept(b, n, i, j) - delta);
          for (int64_t d = 0; d < p.q.d; ++d) {
            dq[static_cast<size_t>(PlaceOf(p.q, p.layout, b, n, i, d))] += of_score * at.Key(b, n, j, d);
            dk[static_cast<size_t>(PlaceOf(p.k, p.layout, b, at.KeyHead(n), j, d))] +=
                of_score * at.Query(b, n, i, d);
          }
          for (int64_t d = 0; d < at.RopeDepth(); ++d) {
            dq_rope[at.QueryRopePlace(b, n, i, d)] += of_score * at.KeyRopeAt(b, n, j, d);
            dk_rope[at.KeyRopePlace(b, n, j, d)] += of_score * at.QueryRope(b, n, i, d);
          }
          if (!dpse.empty())
            dpse[at.ShiftPlace("pseShiftOptional", b, n, i, j)] +=
                at.AddsBehind() ? of_score / scale : of_score;
        }
      }
    }
  }
  std::vector<Outcome> all = {AsOutcome(call["dqOut"].dtype, dq)};
  if (TakesRopes(call))
    all.push_back(HasRopes(call) ? AsOutcome(call["dqRopeOut"].dtype, dq_rope) : Outcome{});
  all.push_back(AsOutcome(call["dkOut"].dtype, dk));
  if (TakesRopes(call))
    all.push_back(HasRopes(call) ? AsOutcome(call["dkRopeOut"].dtype, dk_rope) : Outcome{});
  all.push_back(AsOutcome(call["dvOut"].dtype, dv));
  if (IsV4(call)) all.resize(5);
  all.push_back(dpse.empty() || NumElements(call["dpseOut"].shape) == 0
                    ? Outcome{}
                    : AsOutcome(call["dpseOut"].dtype, dpse));
  if (IsV4(call)) all.resize(7);
  if (TakesSink(call)) all.push_back(WantsSink(call) ? AsOutcome(ACL_FLOAT, dsink) : Outcome{});
  return all;
}

// ---- the operators ----

std::vector<PlanArgument> Settings() {
  return {ArrayArg("prefixOptional", {1, 2}), RealArg("scaleValue", 0.5),    RealArg("keepProb", 1.0),
          IntegerArg("preTokens", 1),         IntegerArg("nextTokens", 1),   IntegerArg("headNum", 2),
          TextArg("inputLayout", "BNSD"),     IntegerArg("innerPrecise", 0), IntegerArg("sparseMode", 0)};
}

PlanArgument Null(PlanArgument argument) {
  argument.null = true;
  return argument;
}
void Append(std::vector<PlanArgument>& to, const std::vector<PlanArgument>& what) {
  to.insert(to.end(), what.begin(), what.end());
}
std::vector<PlanArgument> NullTensors(const std::vector<std::string>& names) {
  std::vector<PlanArgument> all;
  for (const std::string& name : names) all.push_back(Null(TensorArg(name, {2})));
  return all;
}
// What the fourth versions have between prefixOptional and scaleValue.
std::vector<PlanArgument> Lengths4() {
  std::vector<PlanArgument> all;
  for (const char* name :
       {"actualSeqQLenOptional", "actualSeqKvLenOptional", "qStartIdxOptional", "kvStartIdxOptional"})
    all.push_back(Null(ArrayArg(name, {2})));
  return all;
}
const std::vector<std::string> kScoreExtras = {"queryRopeOptional", "keyRopeOptional", "dScaleQOptional",
                                               "dScaleKOptional",   "dScaleVOptional", "sinkOptional"};
const std::vector<std::string> kGradExtras = {"sinkOptional",     "queryRopeOptional", "keyRopeOptional",
                                              "dScaleQOptional",  "dScaleKOptional",   "dScaleVOptional",
                                              "dScaleDyOptional", "dScaleOOptional"};

// A call of packed sequences instead: of 3 and 1 queries, and of 2 and 1 keys.
void Pack(OperatorSpec& op, bool has_order, const Names& names) {
  const std::pair<std::string, Shape> shapes[] = {
      {"query", {4, 2, 4}},        {names.key, {3, 1, 4}}, {"value", {3, 1, 3}},   {"dropMaskOptional", {2}},
      {names.greatest, {4, 2, 8}}, {names.sum, {4, 2, 8}}, {names.out, {4, 2, 3}}, {"dy", {4, 2, 3}},
      {"dqOut", {4, 2, 4}},        {"dkOut", {3, 1, 4}},   {"dvOut", {3, 1, 3}}};
  for (PlanArgument& argument : op.valid) {
    for (const auto& [name, shape] : shapes) {
      if (argument.name == name) argument.shape = shape;
    }
    if (argument.name == "inputLayout") argument.text = "TND";
  }
  const auto behind = [&](const std::string& name) {
    return std::find_if(op.valid.begin(), op.valid.end(),
                        [&](const PlanArgument& one) { return one.name == name; }) +
           1;
  };
  const std::vector<PlanArgument> lengths = {ArrayArg("actualSeqQLenOptional", {3, 4}),
                                             ArrayArg("actualSeqKvLenOptional", {2, 3})};
  op.valid.insert(behind("prefixOptional"), lengths.begin(), lengths.end());
  if (!has_order) return;
  const bool is_score = names.order == kScoreNames.order;
  op.valid.insert(behind(is_score ? "sparseMode" : "dpseOut"), TextArg(names.order, ""));
}

// The arguments that the second versions have besides.
void MakeV2(OperatorSpec& op) {
  const auto behind = [&](const std::string& name) {
    return std::find_if(op.valid.begin(), op.valid.end(),
                        [&](const PlanArgument& one) { return one.name == name; }) +
           1;
  };
  const bool is_packed = std::any_of(op.valid.begin(), op.valid.end(), [](const PlanArgument& one) {
    return one.name == "actualSeqKvLenOptional";
  });
  const std::vector<PlanArgument> starts = {ArrayArg("qStartIdxOptional", {1}),
                                            Null(ArrayArg("kvStartIdxOptional", {2}))};
  op.valid.insert(behind(is_packed ? "actualSeqKvLenOptional" : "prefixOptional"), starts.begin(),
                  starts.end());
  op.valid.insert(behind("sparseMode"), IntegerArg("pseType", 1));
}

// The arguments and rules that the third and fifth versions have besides those of the second ones.
void AddParts(OperatorSpec& op, bool has_sink, bool has_ropes) {
  const auto behind = [&](const std::string& name) {
    return std::find_if(op.valid.begin(), op.valid.end(),
                        [&](const PlanArgument& one) { return one.name == name; }) +
           1;
  };
  const bool is_grad = std::string(op.function.name).find("Grad") != std::string::npos;
  const Names& names = is_grad ? kGradNames : kScoreNames;
  if (has_ropes) {
    op.valid.insert(behind("query"), TensorArg("queryRopeOptional", {4, 2, 2}));
    op.valid.insert(behind(names.key),
                    TensorArg(is_grad ? "keyInRopeOptional" : "keyRopeOptional", {3, 1, 2}));
  }
  if (has_sink)
    op.valid.insert(behind(is_grad ? "attentionInOptional" : "attenMaskOptional"),
                    TensorArg("sinkOptional", {2}));
  if (has_sink && has_ropes) op.valid.insert(behind("pseType"), TextArg(names.order, ""));
  if (!is_grad) {
    // Behind them are the three statistics' and results' two rules each.
    op.rules.insert(op.rules.end() - 6, PartsAreWrong(names));
    return;
  }
  if (has_ropes) {
    op.valid.insert(behind("dqOut"), OutputArg("dqRopeOut", {4, 2, 2}));
    op.valid.insert(behind("dkOut"), OutputArg("dkRopeOut", {3, 1, 2}));
  }
  if (has_sink) op.valid.insert(behind("dpseOut"), OutputArg("dsinkOut", {2}));
  // Behind them are those of statistics, which begin with one for nulls, of dy and what it belongs to, and of results.
  op.rules.insert(op.rules.end() - 11, PartsAreWrong(names));
  op.rules.push_back(ResultsOfPartsAreWrong());
  op.draw = [draw = op.draw](PlanCall& call, RandomNumbers& random) {
    draw(call, random);
    if (TakesRopes(call)) {
      for (const auto& [name, other] : {std::pair<const char*, const char*>{"dqRopeOut", "queryRopeOptional"},
                                        {"dkRopeOut", "keyInRopeOptional"}}) {
        call[name].shape = call[other].shape;
        call[name].dtype = call[other].dtype;
        call[name].null = call[other].null;
      }
    }
    if (!TakesSink(call)) return;
    call["dsinkOut"].shape = call["sinkOptional"].shape;
    call["dsinkOut"].null = call["sinkOptional"].null || random.Below(4) == 0;
  };
}

OperatorSpec ScoreOperator(bool is_v4) {
  OperatorSpec op;
  op.function =
      is_v4 ? PORTACL_C_FUNCTION(aclnnFlashAttentionScoreV4) : PORTACL_C_FUNCTION(aclnnFlashAttentionScore);
  if (is_v4) op.numbers_on = Product::k950;
  op.valid = {TensorArg("query", {2, 2, 3, 4}),
              TensorArg("key", {2, 1, 2, 4}),
              TensorArg("value", {2, 1, 2, 3}),
              TensorArg("realShiftOptional", {2, 2, 3, 2}),
              TensorArg("dropMaskOptional", {3}, ACL_UINT8),
              TensorArg("paddingMaskOptional", {1}),
              TensorArg("attenMaskOptional", {3, 2}, ACL_BOOL)};
  std::vector<PlanArgument> settings = Settings();
  if (is_v4) {
    Append(op.valid, NullTensors(kScoreExtras));
    const std::vector<PlanArgument> lengths = Lengths4();
    settings.insert(settings.begin() + 1, lengths.begin(), lengths.end());
    Append(settings, {IntegerArg("outDtype", 0), IntegerArg("pseType", 1), TextArg("softmaxOutLayout", ""),
                      IntegerArg("seed", 3), IntegerArg("offset", 4)});
  }
  Append(op.valid, settings);
  for (const char* name : {"softmaxMaxOut", "softmaxSumOut"})
    op.valid.push_back(OutputArg(name, {2, 2, 3, 8}));
  op.valid.push_back(OutputArg("softmaxOutOut", {0}));
  op.valid.push_back(OutputArg("attentionOutOut", {2, 2, 3, 3}));
  const std::vector<std::string> results = {"softmaxMaxOut", "softmaxSumOut", "attentionOutOut"};
  op.rules = Together(
      Rules{NoNulls("query key value inputLayout softmaxMaxOut softmaxSumOut attentionOutOut"),
            SucceedsIf([=](PlanCall& call) { return AllEmpty(call, results); }), SameDtype("query", "key"),
            SameDtype("query", "value"),
            Refuses(161002, "realShiftOptional query",
                    [](PlanCall& call) {
                      return HasPlainShift(call, kScoreNames) &&
                             call["realShiftOptional"].dtype != call["query"].dtype;
                    }),
            Refuses(161002, "headNum", [](PlanCall& call) { return call["headNum"].integer <= 0; })},
      SharedRules(kScoreNames), OptionalRules(kScoreNames),
      is_v4 ? Rules{NotComputed(kScoreNames, kScoreExtras)} : Rules{},
      Rules{OtherShape(kScoreNames, "softmaxMaxOut", StatisticShape), OtherDtype("softmaxMaxOut", ACL_FLOAT),
            OtherShape(kScoreNames, "softmaxSumOut", StatisticShape), OtherDtype("softmaxSumOut", ACL_FLOAT),
            OtherShape(kScoreNames, "attentionOutOut", OutShape), OtherDtype("attentionOutOut")});
  op.draw = [](PlanCall& call, RandomNumbers& random) { DrawProblem(call, random, kScoreNames); };
  op.fill = FillProblem;
  op.oracle = Attend;
  op.takes_workspace = true;
  op.is_inexact = true;
  op.tolerance = 1e-5;
  return op;
}

OperatorSpec GradOperator(bool is_v4) {
  OperatorSpec op;
  op.function = is_v4 ? PORTACL_C_FUNCTION(aclnnFlashAttentionScoreGradV4)
                      : PORTACL_C_FUNCTION(aclnnFlashAttentionScoreGrad);
  if (is_v4) op.numbers_on = Product::k950;
  op.valid = {TensorArg("query", {2, 2, 3, 4}),
              TensorArg("keyIn", {2, 1, 2, 4}),
              TensorArg("value", {2, 1, 2, 3}),
              TensorArg("dy", {2, 2, 3, 3}),
              TensorArg("pseShiftOptional", {2, 2, 3, 2}),
              TensorArg("dropMaskOptional", {3}, ACL_UINT8),
              TensorArg("paddingMaskOptional", {1}),
              TensorArg("attenMaskOptional", {3, 2}, ACL_BOOL),
              TensorArg("softmaxMaxOptional", {2, 2, 3, 8}),
              TensorArg("softmaxSumOptional", {2, 2, 3, 8}),
              TensorArg("softmaxInOptional", {0}),
              TensorArg("attentionInOptional", {2, 2, 3, 3})};
  std::vector<PlanArgument> settings = Settings();
  if (is_v4) {
    Append(op.valid, NullTensors(kGradExtras));
    const std::vector<PlanArgument> lengths = Lengths4();
    settings.insert(settings.begin() + 1, lengths.begin(), lengths.end());
    settings.insert(settings.end() - 2, TextArg("softmaxInLayout", ""));
    Append(settings, {IntegerArg("pseType", 1), IntegerArg("seed", 3), IntegerArg("offset", 4),
                      IntegerArg("outDtype", 0)});
  }
  Append(op.valid, settings);
  op.valid.push_back(OutputArg("dqOut", {2, 2, 3, 4}));
  op.valid.push_back(OutputArg("dkOut", {2, 1, 2, 4}));
  op.valid.push_back(OutputArg("dvOut", {2, 1, 2, 3}));
  if (is_v4) Append(op.valid, {Null(OutputArg("dqRopeOut", {0})), Null(OutputArg("dkRopeOut", {0}))});
  op.valid.push_back(OutputArg("dpseOut", {2, 2, 3, 2}));
  if (is_v4) op.valid.push_back(Null(OutputArg("dsinkOut", {0})));
  const auto like = [](const std::string& name, const std::string& other) {
    return Refuses(161001, name + " " + other,
                   [=](PlanCall& call) { return call[name].shape != call[other].shape; });
  };
  const auto wants_shift = [](PlanCall& call) {
    return HasPlainShift(call, kGradNames) && !call["dpseOut"].null && NumElements(call["dpseOut"].shape) > 0;
  };
  op.rules = Together(
      Rules{NoNulls("query keyIn value dy attentionInOptional dqOut dkOut dvOut inputLayout"),
            SucceedsIf([](PlanCall& call) {
              return AllEmpty(call, {"dqOut", "dkOut", "dvOut", "dpseOut"}) && !WantsSink(call);
            }),
            Refuses(161002, "headNum", [](PlanCall& call) { return call["headNum"].integer <= 0; }),
            Refuses(161002, "query keyIn value dy attentionInOptional dqOut dkOut dvOut",
                    [](PlanCall& call) {
                      for (const char* name : {"query", "keyIn", "value", "dy", "attentionInOptional",
                                               "dqOut", "dkOut", "dvOut"}) {
                        if (call[name].shape.size() < 3) return true;
                      }
                      return false;
                    })},
      SharedRules(kGradNames),
      Rules{OtherDtype("keyIn"), OtherDtype("value"), OtherDtype("dy"), OtherDtype("attentionInOptional"),
            OtherDtype("dqOut"), OtherDtype("dkOut"), OtherDtype("dvOut"),
            Refuses(161001, "pseShiftOptional query",
                    [](PlanCall& call) {
                      return HasPlainShift(call, kGradNames) &&
                             call["pseShiftOptional"].dtype != call["query"].dtype;
                    })},
      OptionalRules(kGradNames), is_v4 ? Rules{NotComputed(kGradNames, kGradExtras)} : Rules{},
      Rules{NoNulls("softmaxMaxOptional softmaxSumOptional"),
            OtherShape(kGradNames, "softmaxMaxOptional", StatisticShape),
            OtherDtype("softmaxMaxOptional", ACL_FLOAT),
            OtherShape(kGradNames, "softmaxSumOptional", StatisticShape),
            OtherDtype("softmaxSumOptional", ACL_FLOAT), OtherShape(kGradNames, "dy", OutShape),
            OtherShape(kGradNames, "attentionInOptional", OutShape), like("dqOut", "query"),
            like("dkOut", "keyIn"), like("dvOut", "value"),
            Refuses(161001, "dpseOut pseShiftOptional", [=](PlanCall& call) {
              return wants_shift(call) && (call["dpseOut"].shape != call["pseShiftOptional"].shape ||
                                           call["dpseOut"].dtype != call["pseShiftOptional"].dtype);
            })});
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawProblem(call, random, kGradNames);
    const std::pair<const char*, const char*> same[] = {{"dqOut", "query"},
                                                        {"dkOut", "keyIn"},
                                                        {"dvOut", "value"},
                                                        {"dy", "attentionInOptional"},
                                                        {"dpseOut", "pseShiftOptional"}};
    for (const auto& [name, other] : same) {
      call[name].shape = call[other].shape;
      call[name].dtype = call[other].dtype;
    }
    if (random.Below(3) == 0) call["dpseOut"].shape = {0};
    call["dpseOut"].null = call["pseShiftOptional"].null || random.Below(3) == 0;
  };
  op.fill = FillProblem;
  op.oracle = Differentiate;
  op.takes_workspace = true;
  op.is_inexact = true;
  op.tolerance = 3e-5;
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = [] {
    std::vector<OperatorSpec> made = {ScoreOperator(false), GradOperator(false), ScoreOperator(true),
                                      GradOperator(true)};
    for (const bool is_v4 : {false, true}) {
      OperatorSpec score = ScoreOperator(false);
      score.function = is_v4 ? PORTACL_C_FUNCTION(aclnnFlashAttentionVarLenScoreV4)
                             : PORTACL_C_FUNCTION(aclnnFlashAttentionVarLenScore);
      Pack(score, is_v4, kScoreNames);
      made.push_back(std::move(score));
      OperatorSpec grad = GradOperator(false);
      grad.function = is_v4 ? PORTACL_C_FUNCTION(aclnnFlashAttentionUnpaddingScoreGradV4)
                            : PORTACL_C_FUNCTION(aclnnFlashAttentionUnpaddingScoreGrad);
      Pack(grad, is_v4, kGradNames);
      made.push_back(std::move(grad));
    }
    const std::pair<size_t, CFunction> seconds[] = {
        {0, PORTACL_C_FUNCTION(aclnnFlashAttentionScoreV2)},
        {1, PORTACL_C_FUNCTION(aclnnFlashAttentionScoreGradV2)},
        {4, PORTACL_C_FUNCTION(aclnnFlashAttentionVarLenScoreV2)},
        {5, PORTACL_C_FUNCTION(aclnnFlashAttentionUnpaddingScoreGradV2)}};
    for (const auto& [first, function] : seconds) {
      OperatorSpec op = made[first];
      op.function = function;
      MakeV2(op);
      made.push_back(std::move(op));
    }
    struct Further {
      size_t first;
      CFunction function;
      bool has_sink, has_ropes;
    };
    const Further further[] = {{0, PORTACL_C_FUNCTION(aclnnFlashAttentionScoreV3), true, false},
                               {1, PORTACL_C_FUNCTION(aclnnFlashAttentionScoreGradV3), true, false},
                               {4, PORTACL_C_FUNCTION(aclnnFlashAttentionVarLenScoreV3), false, true},
                               {5, PORTACL_C_FUNCTION(aclnnFlashAttentionUnpaddingScoreGradV3), false, true},
                               {4, PORTACL_C_FUNCTION(aclnnFlashAttentionVarLenScoreV5), true, true},
                               {5, PORTACL_C_FUNCTION(aclnnFlashAttentionUnpaddingScoreGradV5), true, true}};
    for (const Further& one : further) {
      OperatorSpec op = made[one.first];
      op.function = one.function;
      MakeV2(op);
      AddParts(op, one.has_sink, one.has_ropes);
      made.push_back(std::move(op));
    }
    return made;
  }();
  return all;
}

class FlashAttention : public ::testing::TestWithParam<const OperatorSpec*> {};
TEST_P(FlashAttention, Contract) { CheckContract(*GetParam()); }
// The second versions and what follows them differ from the first ones in shifts and a few tensors alone.
TEST_P(FlashAttention, EveryElement) {
  const std::string name = GetParam()->function.name;
  const bool is_second = name.back() == '2' || name.back() == '3' || name.back() == '5';
  CheckNumbers(*GetParam(), is_second ? 50 : 120);
}
TEST_P(FlashAttention, AddressesSetAnew) { CheckAddressesSetAnew(*GetParam()); }

std::vector<const OperatorSpec*> AllOperators() {
  std::vector<const OperatorSpec*> all;
  for (const OperatorSpec& op : Operators()) all.push_back(&op);
  return all;
}
std::string NameOf(const ::testing::TestParamInfo<const OperatorSpec*>& parameter) {
  return parameter.param->function.name;
}
INSTANTIATE_TEST_SUITE_P(Of, FlashAttention, ::testing::ValuesIn(AllOperators()), NameOf);

// ---- calls of one's own ----

// Tensors of float32, with what the operators need.
class Call {
 public:
  aclTensor* Of(const Shape& shape, void* data, aclDataType dtype = ACL_FLOAT) {
    tensors_.push_back(aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND,
                                       shape.data(), shape.size(), data));
    return tensors_.back();
  }
  ~Call() {
    for (aclTensor* tensor : tensors_) aclDestroyTensor(tensor);
  }

 private:
  std::vector<aclTensor*> tensors_;
};

struct Setting {
  int64_t mode = 0;
  int64_t before = 2147483647;
  int64_t after = 2147483647;
  double keep = 1;
};

// Attention of BNSD tensors and its gradients.
struct Heads {
  Heads(int64_t batches, int64_t heads, int64_t key_heads, int64_t queries, int64_t keys, int64_t depth)
      : q{batches, heads, queries, depth}, k{batches, key_heads, keys, depth} {
    RandomNumbers random(0xA77);
    for (std::vector<float>* values : {&query, &of_out}) Fill(*values, NumElements(q), random);
    for (std::vector<float>* values : {&key, &value}) Fill(*values, NumElements(k), random);
    for (std::vector<float>* values : {&out, &dq}) values->resize(query.size());
    for (std::vector<float>* values : {&dk, &dv}) values->resize(key.size());
    for (std::vector<float>* values : {&greatest, &sum})
      values->resize(static_cast<size_t>(batches * heads * queries * 8));
  }
  static void Fill(std::vector<float>& values, int64_t count, RandomNumbers& random) {
    for (int64_t i = 0; i < count; ++i)
      values.push_back(static_cast<float>(random.Between(-2000, 2000)) / 1000);
  }

  void Run(aclrtStream stream, const Setting& setting, const Shape& mask_shape = {},
           std::vector<unsigned char>* mask = nullptr, std::vector<int64_t> prefix = {}) {
    Call call;
    aclIntArray* const array = aclCreateIntArray(prefix.data(), prefix.size());
    char layout[] = "BNSD";
    const Shape numbers = {q[0], q[1], q[2], 8};
    aclTensor* const hides = mask == nullptr ? nullptr : call.Of(mask_shape, mask->data(), ACL_BOOL);
    aclTensor* const inputs[] = {call.Of(q, query.data()), call.Of(k, key.data()), call.Of(k, value.data())};
    aclTensor* const statistics[] = {call.Of(numbers, greatest.data()), call.Of(numbers, sum.data())};
    aclTensor* const result = call.Of(q, out.data());
    const double scale = 1 / std::sqrt(static_cast<double>(q[3]));
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnFlashAttentionScoreGetWorkspaceSize(
                  inputs[0], inputs[1], inputs[2], nullptr, nullptr, nullptr, hides, array, scale,
                  setting.keep, setting.before, setting.after, q[1], layout, 0, setting.mode, statistics[0],
                  statistics[1], call.Of({0}, nullptr), result, &size, &executor),
              0)
        << aclGetRecentErrMsg();
    const GuardedBuffer workspace(size);
    workspace_bytes = size;
    ASSERT_EQ(aclnnFlashAttentionScore(workspace.device(), size, executor, stream), 0);
    ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
    ASSERT_EQ(aclnnFlashAttentionScoreGradGetWorkspaceSize(
                  inputs[0], inputs[1], inputs[2], call.Of(q, of_out.data()), nullptr, nullptr, nullptr,
                  hides, statistics[0], statistics[1], nullptr, result, array, scale, setting.keep,
                  setting.before, setting.after, q[1], layout, 0, setting.mode, call.Of(q, dq.data()),
                  call.Of(k, dk.data()), call.Of(k, dv.data()), nullptr, &size, &executor),
              0)
        << aclGetRecentErrMsg();
    const GuardedBuffer gradient_workspace(size);
    gradient_workspace_bytes = size;
    ASSERT_EQ(aclnnFlashAttentionScoreGrad(gradient_workspace.device(), size, executor, stream), 0);
    ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
    aclDestroyIntArray(array);
  }
  // The fourth versions, whose dropped weights seed and offset draw, or the first ones with a mask of these.
  void RunDropped(aclrtStream stream, double keep, int64_t seed, int64_t offset, bool draws) {
    Call call;
    char layout[] = "BNSD";
    const Shape numbers = {q[0], q[1], q[2], 8};
    const int64_t weights[] = {q[0], q[1], q[2], k[2]};
    const int64_t bytes = (q[0] * q[1] * q[2] * k[2] + 127) / 128 * 16;
    std::vector<unsigned char> bits(static_cast<size_t>(bytes));
    aclTensor* const kept = draws ? nullptr : call.Of({bytes}, bits.data(), ACL_UINT8);
    aclTensor* const inputs[] = {call.Of(q, query.data()), call.Of(k, key.data()), call.Of(k, value.data())};
    aclTensor* const statistics[] = {call.Of(numbers, greatest.data()), call.Of(numbers, sum.data())};
    aclTensor* const result = call.Of(q, out.data());
    aclTensor* const gradients[] = {call.Of(q, dq.data()), call.Of(k, dk.data()), call.Of(k, dv.data())};
    aclTensor* const dy = call.Of(q, of_out.data());
    constexpr int64_t kAll = 2147483647;
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    const auto run = [&](aclnnStatus planned, auto* function) {
      ASSERT_EQ(planned, 0) << aclGetRecentErrMsg();
      const GuardedBuffer workspace(size);
      ASSERT_EQ(function(workspace.device(), size, executor, stream), 0);
      ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
    };
    if (draws) {
      run(aclnnFlashAttentionScoreV4GetWorkspaceSize(
              inputs[0], inputs[1], inputs[2], nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
              nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0.25, keep, kAll, kAll,
              q[1], layout, 0, 0, 0, 1, nullptr, seed, offset, statistics[0], statistics[1], nullptr, result,
              &size, &executor),
          aclnnFlashAttentionScoreV4);
      run(aclnnFlashAttentionScoreGradV4GetWorkspaceSize(
              inputs[0], inputs[1], inputs[2], dy, nullptr, nullptr, nullptr, nullptr, statistics[0],
              statistics[1], nullptr, result, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
              nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0.25, keep, kAll, kAll, q[1], layout,
              nullptr, 0, 0, 1, seed, offset, 0, gradients[0], gradients[1], gradients[2], nullptr, nullptr,
              nullptr, nullptr, &size, &executor),
          aclnnFlashAttentionScoreGradV4);
      return;
    }
    aclIntArray* const shape = aclCreateIntArray(weights, 4);
    run(aclnnDropoutGenMaskV2GetWorkspaceSize(shape, 1 - keep, seed, offset, ACL_FLOAT, kept, &size,
                                              &executor),
        aclnnDropoutGenMaskV2);
    aclDestroyIntArray(shape);
    run(aclnnFlashAttentionScoreGetWorkspaceSize(
            inputs[0], inputs[1], inputs[2], nullptr, kept, nullptr, nullptr, nullptr, 0.25, keep, kAll, kAll,
            q[1], layout, 0, 0, statistics[0], statistics[1], nullptr, result, &size, &executor),
        aclnnFlashAttentionScore);
    run(aclnnFlashAttentionScoreGradGetWorkspaceSize(
            inputs[0], inputs[1], inputs[2], dy, nullptr, kept, nullptr, nullptr, statistics[0],
            statistics[1], nullptr, result, nullptr, 0.25, keep, kAll, kAll, q[1], layout, 0, 0, gradients[0],
            gradients[1], gradients[2], nullptr, &size, &executor),
        aclnnFlashAttentionScoreGrad);
  }
  // All results, as bits are compared.
  std::vector<float> Results() const {
    std::vector<float> all;
    for (const std::vector<float>* one : {&out, &greatest, &sum, &dq, &dk, &dv})
      all.insert(all.end(), one->begin(), one->end());
    return all;
  }

  Shape q, k;
  std::vector<float> query, key, value, of_out, out, greatest, sum, dq, dk, dv;
  uint64_t workspace_bytes = 0;
  uint64_t gradient_workspace_bytes = 0;
};

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// The packed sequences of the fifth versions: calls of one set of tensors with any lengths.
struct AnyLengths {
  static constexpr int64_t kQueries = 150, kKeys = 190, kHeads = 4, kKeyHeads = 2, kDepth = 20, kRope = 12;

  AnyLengths(bool has_parts, const Shape& of_shift) : shift_shape(of_shift), has_extras(has_parts) {
    RandomNumbers random(0x5E0);
    const auto fill = [&](std::vector<float>& values, int64_t count) { Heads::Fill(values, count, random); };
    fill(query, kQueries * kHeads * kDepth);
    fill(of_out, kQueries * kHeads * kDepth);
    fill(key, kKeys * kKeyHeads * kDepth);
    fill(value, kKeys * kKeyHeads * kDepth);
    fill(query_rope, kQueries * kHeads * kRope);
    fill(key_rope, kKeys * kKeyHeads * kRope);
    fill(sink, kHeads);
    fill(shift, of_shift.empty() ? 0 : NumElements(of_shift));
    for (std::vector<float>* one : {&out, &dq}) one->resize(query.size());
    for (std::vector<float>* one : {&dk, &dv}) one->resize(key.size());
    for (std::vector<float>* one : {&greatest, &sum}) one->resize(static_cast<size_t>(kQueries * kHeads * 8));
    dq_rope.resize(query_rope.size());
    dk_rope.resize(key_rope.size());
    dsink.resize(sink.size());
    dshift.resize(shift.size());
  }

  using Ends = std::vector<int64_t>;
  // Runs phase 1 of the forward function, or of one with the same parameters.
  uint64_t PlanScore(decltype(aclnnFlashAttentionVarLenScoreV5GetWorkspaceSize) function, const Ends& queries,
                     const Ends& keys, aclOpExecutor** executor) {
    Call call;
    Arrays arrays(queries, keys);
    uint64_t size = 0;
    EXPECT_EQ(
        function(call.Of({kQueries, kHeads, kDepth}, query.data()), Rope(call, query_rope, kQueries, kHeads),
                 call.Of({kKeys, kKeyHeads, kDepth}, key.data()), Rope(call, key_rope, kKeys, kKeyHeads),
                 call.Of({kKeys, kKeyHeads, kDepth}, value.data()), Shift(call, shift), nullptr, nullptr,
                 nullptr, has_extras ? call.Of({kHeads}, sink.data()) : nullptr, nullptr, arrays.queries,
                 arrays.keys, nullptr, nullptr, 0.25, 1.0, kAll, kAll, kHeads, layout, 0, 0, 1, order,
                 call.Of({kQueries, kHeads, 8}, greatest.data()), call.Of({kQueries, kHeads, 8}, sum.data()),
                 call.Of({0}, nullptr), call.Of({kQueries, kHeads, kDepth}, out.data()), &size, executor),
        0)
        << aclGetRecentErrMsg();
    return size;
  }
  uint64_t PlanGrad(decltype(aclnnFlashAttentionUnpaddingScoreGradV5GetWorkspaceSize) function,
                    const Ends& queries, const Ends& keys, aclOpExecutor** executor) {
    Call call;
    Arrays arrays(queries, keys);
    uint64_t size = 0;
    EXPECT_EQ(
        function(call.Of({kQueries, kHeads, kDepth}, query.data()), Rope(call, query_rope, kQueries, kHeads),
                 call.Of({kKeys, kKeyHeads, kDepth}, key.data()), Rope(call, key_rope, kKeys, kKeyHeads),
                 call.Of({kKeys, kKeyHeads, kDepth}, value.data()),
                 call.Of({kQueries, kHeads, kDepth}, of_out.data()), Shift(call, shift), nullptr, nullptr,
                 nullptr, call.Of({kQueries, kHeads, 8}, greatest.data()),
                 call.Of({kQueries, kHeads, 8}, sum.data()), nullptr,
                 call.Of({kQueries, kHeads, kDepth}, out.data()),
                 has_extras ? call.Of({kHeads}, sink.data()) : nullptr, nullptr, arrays.queries, arrays.keys,
                 nullptr, nullptr, 0.25, 1.0, kAll, kAll, kHeads, layout, 0, 0, 1, order,
                 call.Of({kQueries, kHeads, kDepth}, dq.data()), Rope(call, dq_rope, kQueries, kHeads),
                 call.Of({kKeys, kKeyHeads, kDepth}, dk.data()), Rope(call, dk_rope, kKeys, kKeyHeads),
                 call.Of({kKeys, kKeyHeads, kDepth}, dv.data()), Shift(call, dshift),
                 has_extras ? call.Of({kHeads}, dsink.data()) : nullptr, &size, executor),
        0)
        << aclGetRecentErrMsg();
    return size;
  }
  // Runs both functions, each in a workspace of so many bytes, or of those that phase 1 wants.
  void Run(aclrtStream stream, const Ends& queries, const Ends& keys, uint64_t of_score = 0,
           uint64_t of_grad = 0) {
    aclOpExecutor* executor = nullptr;
    uint64_t size = PlanScore(aclnnFlashAttentionVarLenScoreV5GetWorkspaceSize, queries, keys, &executor);
    const GuardedBuffer workspace(of_score > 0 ? of_score : size);
    ASSERT_EQ(aclnnFlashAttentionVarLenScoreV5(workspace.device(), of_score > 0 ? of_score : size, executor,
                                               stream),
              0);
    ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
    size = PlanGrad(aclnnFlashAttentionUnpaddingScoreGradV5GetWorkspaceSize, queries, keys, &executor);
    const GuardedBuffer of_gradients(of_grad > 0 ? of_grad : size);
    ASSERT_EQ(aclnnFlashAttentionUnpaddingScoreGradV5(of_gradients.device(), of_grad > 0 ? of_grad : size,
                                                      executor, stream),
              0);
    ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
  }
  std::vector<float> Results() const {
    std::vector<float> all;
    for (const std::vector<float>* one : {&out, &dq, &dk, &dv, &dq_rope, &dk_rope, &dsink, &dshift})
      all.insert(all.end(), one->begin(), one->end());
    return all;
  }

  const Shape shift_shape;
  const bool has_extras;

 private:
  static constexpr int64_t kAll = 2147483647;
  struct Arrays {
    Arrays(const Ends& of_queries, const Ends& of_keys)
        : queries(aclCreateIntArray(of_queries.data(), of_queries.size())),
          keys(aclCreateIntArray(of_keys.data(), of_keys.size())) {}
    ~Arrays() {
      aclDestroyIntArray(queries);
      aclDestroyIntArray(keys);
    }
    Arrays(const Arrays&) = delete;
    Arrays& operator=(const Arrays&) = delete;
    aclIntArray* const queries;
    aclIntArray* const keys;
  };
  aclTensor* Rope(Call& call, std::vector<float>& data, int64_t rows, int64_t heads) const {
    return has_extras ? call.Of({rows, heads, kRope}, data.data()) : nullptr;
  }
  aclTensor* Shift(Call& call, std::vector<float>& data) const {
    return shift_shape.empty() ? nullptr : call.Of(shift_shape, data.data());
  }

  char layout[4] = "TND";
  char order[14] = "same_as_input";
  std::vector<float> query, key, value, of_out, query_rope, key_rope, sink, shift, out, greatest, sum, dq, dk,
      dv, dq_rope, dk_rope, dsink, dshift;
};

// No lengths of the same tensors want more than what is said for all, and that much gives the same bits. Asked with any lengths, the
// answer is the same; so are the results of the executor that comes with it.
TEST(FlashAttentionWorkspaces, AreEnoughForAllLengths) {
  using Ends = AnyLengths::Ends;
  RandomNumbers random(0x3A5);
  for (const char* threads : {"1", "3", "16"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", threads}});
    ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
    for (const int64_t count : {1, 3, 9}) {
      // A shift has a row and a column for each query and key of the longest sequences, which are these then.
      constexpr int64_t kLongest = 50, kLongestKeys = 60;
      const Shape shifts[] = {
          {}, {count, 4, kLongest, kLongestKeys}, {1, 4, kLongest, kLongestKeys}, {1, 4, 1, kLongestKeys}};
      for (const Shape& shift : shifts) {
        const auto lengths = [&](int64_t rows, int64_t longest) {
          if (shift.empty()) longest = rows;
          Ends ends;
          int64_t end = 0;
          const int64_t chosen = random.Below(count);
          for (int64_t b = 0; b < count; ++b) {
            const int64_t rest = rows - end - (shift.empty() || b >= chosen ? 0 : longest);
            const int64_t most = std::max<int64_t>(std::min(rest, longest), 0);
            const int64_t length =
                random.Below(4) == 0 ? most : random.Below(random.Below(3) == 0 ? 3 : most + 1);
            end += !shift.empty() && b == chosen ? longest : std::min(length, most);
            ends.push_back(end);
          }
          return ends;
        };
        AnyLengths given(shift.empty() && count != 3, shift);
        uint64_t of_score = 0;
        uint64_t of_grad = 0;
        uint64_t greatest_score = 0;
        uint64_t greatest_grad = 0;
        for (int i = 0; i < 40; ++i) {
          const Ends queries = lengths(AnyLengths::kQueries, kLongest);
          const Ends keys = lengths(AnyLengths::kKeys, kLongestKeys);
          aclOpExecutor* executor = nullptr;
          const auto score = [&](auto* function) {
            const uint64_t size = given.PlanScore(*function, queries, keys, &executor);
            EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
            return size;
          };
          const auto grad = [&](auto* function) {
            const uint64_t size = given.PlanGrad(*function, queries, keys, &executor);
            EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
            return size;
          };
          const uint64_t all_score = score(&aclnnFlashAttentionVarLenScoreV5GetMaxWorkspaceSize);
          const uint64_t all_grad = grad(&aclnnFlashAttentionUnpaddingScoreGradV5GetMaxWorkspaceSize);
          if (i == 0) {
            of_score = all_score;
            of_grad = all_grad;
          }
          EXPECT_EQ(all_score, of_score);
          EXPECT_EQ(all_grad, of_grad);
          greatest_score = std::max(greatest_score, score(&aclnnFlashAttentionVarLenScoreV5GetWorkspaceSize));
          greatest_grad =
              std::max(greatest_grad, grad(&aclnnFlashAttentionUnpaddingScoreGradV5GetWorkspaceSize));
          if (i % 30 != 0) continue;
          given.Run(environment.stream(), queries, keys);
          const std::vector<float> wanted = given.Results();
          given.Run(environment.stream(), queries, keys, of_score, of_grad);
          EXPECT_TRUE(SameBits(wanted, given.Results()));
        }
        EXPECT_LE(greatest_score, of_score);
        EXPECT_LE(greatest_grad, of_grad);
        EXPECT_LE(of_score, 2 * greatest_score + (uint64_t{1} << 20)) << "far more than any lengths want";
      }
    }
  }
}

// A mode that says by places which keys are seen gives what a mask of those gives.
TEST(FlashAttentionModes, AreTheirMasks) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  constexpr int64_t kQueries = 150, kKeys = 700;
  for (const int64_t mode : {2, 3, 4, 6}) {
    Setting setting{mode, 300, -20, 1};
    const std::vector<int64_t> prefix = {600, 3};
    const int64_t rows = mode == 6 ? 3072 : 2048;
    std::vector<unsigned char> pattern(static_cast<size_t>(rows * 2048), 1);
    Heads heads(2, 2, 1, kQueries, kKeys, 20);
    heads.Run(environment.stream(), setting, {rows, 2048}, &pattern, prefix);
    const std::vector<float> by_location = heads.Results();
    std::vector<unsigned char> mask;
    for (int64_t b = 0; b < 2; ++b) {
      for (int64_t i = 0; i < kQueries; ++i) {
        for (int64_t j = 0; j < kKeys; ++j) {
          const int64_t end = mode == 2 ? i : i + kKeys - kQueries;
          const bool sees = mode == 4   ? j >= end - 300 && j <= end - 20
                            : mode == 6 ? j <= end || j < prefix[static_cast<size_t>(b)]
                                        : j <= end;
          mask.push_back(sees ? 0 : 7);
        }
      }
    }
    heads.Run(environment.stream(), {1, 0, 0, 1}, {2, 1, kQueries, kKeys}, &mask);
    EXPECT_TRUE(SameBits(by_location, heads.Results())) << mode;
  }
}

// Weights that a seed and an offset drop are those that a mask drawn from them drops, on every instruction set.
TEST(FlashAttentionDropped, AreThoseOfDropoutGenMask) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  for (const int64_t keys : {5, 530, 701}) {
    Heads heads(2, 2, 1, 67, keys, 12);
    heads.RunDropped(environment.stream(), 0.75, -77, int64_t{5} << 40, /*draws=*/false);
    const std::vector<float> by_mask = heads.Results();
    heads.RunDropped(environment.stream(), 0.75, -77, int64_t{5} << 40, /*draws=*/true);
    EXPECT_TRUE(SameBits(by_mask, heads.Results())) << keys;
    heads.RunDropped(environment.stream(), 0.75, -77, (int64_t{5} << 40) + 4, /*draws=*/true);
    EXPECT_FALSE(SameBits(by_mask, heads.Results())) << keys;
  }
}

// A batch's rows are what they are alone, and queries what they are without others.
TEST(FlashAttentionRows, DependOnNothingElse) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  constexpr int64_t kQueries = 300, kKeys = 600, kDepth = 24;
  Heads together(3, 2, 2, kQueries, kKeys, kDepth);
  together.Run(environment.stream(), {});
  for (const int64_t first : {0, 77, 299}) {
    Heads one(1, 1, 1, 1, kKeys, kDepth);
    const int64_t head = 3;  // batch 1, head 1
    std::copy_n(together.query.begin() + (head * kQueries + first) * kDepth, kDepth, one.query.begin());
    std::copy_n(together.key.begin() + head * kKeys * kDepth, kKeys * kDepth, one.key.begin());
    std::copy_n(together.value.begin() + head * kKeys * kDepth, kKeys * kDepth, one.value.begin());
    std::copy_n(together.of_out.begin() + (head * kQueries + first) * kDepth, kDepth, one.of_out.begin());
    one.Run(environment.stream(), {});
    const auto row = [&](const std::vector<float>& all) {
      const auto begin = all.begin() + (head * kQueries + first) * kDepth;
      return std::vector<float>(begin, begin + kDepth);
    };
    EXPECT_TRUE(SameBits(one.out, row(together.out))) << first;
    EXPECT_TRUE(SameBits(one.dq, row(together.dq))) << first;
  }
}

// Memory grows as the sequence does, not as its square.
TEST(FlashAttentionMemory, GrowsWithTheSequence) {
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "2"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  Heads shorter(1, 2, 2, 512, 512, 16);
  shorter.Run(environment.stream(), {});
  Heads longer(1, 2, 2, 2048, 2048, 16);
  longer.Run(environment.stream(), {});
  EXPECT_EQ(longer.workspace_bytes, shorter.workspace_bytes);
  EXPECT_LE(longer.gradient_workspace_bytes,
            shorter.gradient_workspace_bytes + 2 * (2048 - 512) * (16 + 1) * sizeof(float));
}

// Tensors that repeat a row have more scores than int64_t counts, which phase 1 does not need to.
TEST(FlashAttentionSizes, MoreScoresThanNumbers) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  for (const double keep : {1.0, 0.5}) {
    Call call;
    const int64_t dims[] = {4, 1, int64_t{1} << 31, 8};
    const int64_t repeated[] = {0, 0, 0, 1};
    aclTensor* const input =
        aclCreateTensor(dims, 4, ACL_FLOAT16, repeated, 0, ACL_FORMAT_ND, dims, 4, ForbiddenAddress());
    const Shape shape(std::begin(dims), std::end(dims));
    aclTensor* const numbers = call.Of(shape, ForbiddenAddress());
    aclTensor* const result = call.Of(shape, ForbiddenAddress(), ACL_FLOAT16);
    char layout[] = "BNSD";
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(aclnnFlashAttentionScoreV4GetWorkspaceSize(
                  input, input, input, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                  nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 1.0, keep, 0, 0, 1, layout,
                  0, 0, 0, 1, nullptr, 1, 0, numbers, numbers, nullptr, result, &size, &executor),
              0)
        << aclGetRecentErrMsg();
    EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
    aclDestroyTensor(input);
  }
}

// Batches that are alike take no memory each, however many there are; queries have a row each.
TEST(FlashAttentionSizes, MoreThanMemoryHolds) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  // Batches times 80 bytes would be little more than 2^64; rows of 17 numbers of a query are 2^64 bytes and more.
  for (const Shape& shape : {Shape{230584300921369396, 1, 1, 1}, Shape{1, 1, int64_t{1} << 58, 1}}) {
    SCOPED_TRACE(shape[0]);
    Call call;
    const int64_t one_number[] = {0, 0, 0, 0};
    const auto input = [&](const Shape& dims, aclDataType dtype) {
      return aclCreateTensor(dims.data(), 4, dtype, one_number, 0, ACL_FORMAT_ND, dims.data(), 4,
                             ForbiddenAddress());
    };
    const Shape key_shape = {shape[0], 1, 1, 1}, statistics = {shape[0], 1, shape[2], 8};
    aclTensor* const q = input(shape, ACL_FLOAT16);
    aclTensor* const k = input(key_shape, ACL_FLOAT16);
    aclTensor* const numbers = input(statistics, ACL_FLOAT);
    aclTensor* const dq = call.Of(shape, ForbiddenAddress(), ACL_FLOAT16);
    aclTensor* const dk = call.Of(key_shape, ForbiddenAddress(), ACL_FLOAT16);
    char layout[] = "BNSD";
    uint64_t size = 77;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(aclnnFlashAttentionScoreGradGetWorkspaceSize(
                  q, k, k, q, nullptr, nullptr, nullptr, nullptr, numbers, numbers, nullptr, q, nullptr, 1.0,
                  1.0, 0, 0, 1, layout, 0, 0, dq, dk, dk, nullptr, &size, &executor),
              shape[0] == 1 ? 161002 : 0)
        << aclGetRecentErrMsg();
    if (shape[0] == 1) {
      EXPECT_EQ(size, 77u);
    } else {
      EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
    }
    for (aclTensor* const tensor : {q, k, numbers}) aclDestroyTensor(tensor);
  }
}

// ---- packed sequences ----

// Attention with everything that it can be given, and its gradients, of packed sequences or of one alone in BNSD.
struct Everything {
  Shape q, k, numbers, shifts, mask_shape;
  std::vector<float> query, key, value, of_out, shift;
  std::vector<unsigned char> kept, mask;
  std::vector<int64_t> prefix, query_ends, key_ends;
  int64_t mode = 0;
  std::string order;  // of statistics, of the fourth versions
  std::vector<float> out, greatest, sum, dq, dk, dv, dshift;

  void Run(aclrtStream stream) {
    const bool is_packed = !query_ends.empty();
    const float other = 77;  // what is not written is seen
    for (std::vector<float>* one : {&out, &dq}) one->assign(query.size() + 1, other);
    for (std::vector<float>* one : {&dk, &dv}) one->assign(key.size() + 1, other);
    for (std::vector<float>* one : {&greatest, &sum})
      one->assign(static_cast<size_t>(NumElements(numbers)) + 1, other);
    dshift.assign(shift.size() + 1, other);
    Call call;
    const auto array = [](const std::vector<int64_t>& values) {
      return aclCreateIntArray(values.data(), values.size());
    };
    aclIntArray* const arrays[] = {array(prefix), array(query_ends), array(key_ends)};
    std::string layout = is_packed ? "TND" : "BNSD";
    aclTensor* const t[] = {call.Of(q, query.data()), call.Of(k, key.data()), call.Of(k, value.data()),
                            call.Of(q, of_out.data())};
    aclTensor* const pse = call.Of(shifts, shift.data());
    aclTensor* const bits = call.Of({std::ssize(kept)}, kept.data(), ACL_UINT8);
    aclTensor* const hides = call.Of(mask_shape, mask.data(), ACL_BOOL);
    aclTensor* const most = call.Of(numbers, greatest.data());
    aclTensor* const total = call.Of(numbers, sum.data());
    aclTensor* const result = call.Of(q, out.data());
    aclTensor* const d[] = {call.Of(q, dq.data()), call.Of(k, dk.data()), call.Of(k, dv.data()),
                            call.Of(shifts, dshift.data())};
    const int64_t heads = q[1];
    constexpr double kScale = 0.25, kKeep = 0.75;
    constexpr int64_t kBefore = 200, kAfter = 1;
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    const auto run = [&](aclnnStatus planned, auto* function) {
      ASSERT_EQ(planned, 0) << aclGetRecentErrMsg();
      const GuardedBuffer workspace(size);
      ASSERT_EQ(function(workspace.device(), size, executor, stream), 0);
      ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
    };
    if (!is_packed) {
      run(aclnnFlashAttentionScoreGetWorkspaceSize(t[0], t[1], t[2], pse, bits, nullptr, hides, arrays[0],
                                                   kScale, kKeep, kBefore, kAfter, heads, layout.data(), 0,
                                                   mode, most, total, nullptr, result, &size, &executor),
          aclnnFlashAttentionScore);
      run(aclnnFlashAttentionScoreGradGetWorkspaceSize(t[0], t[1], t[2], t[3], pse, bits, nullptr, hides,
                                                       most, total, nullptr, result, arrays[0], kScale, kKeep,
                                                       kBefore, kAfter, heads, layout.data(), 0, mode, d[0],
                                                       d[1], d[2], d[3], &size, &executor),
          aclnnFlashAttentionScoreGrad);
    } else if (order.empty()) {
      run(aclnnFlashAttentionVarLenScoreGetWorkspaceSize(
              t[0], t[1], t[2], pse, bits, nullptr, hides, arrays[0], arrays[1], arrays[2], kScale, kKeep,
              kBefore, kAfter, heads, layout.data(), 0, mode, most, total, nullptr, result, &size, &executor),
          aclnnFlashAttentionVarLenScore);
      run(aclnnFlashAttentionUnpaddingScoreGradGetWorkspaceSize(
              t[0], t[1], t[2], t[3], pse, bits, nullptr, hides, most, total, nullptr, result, arrays[0],
              arrays[1], arrays[2], kScale, kKeep, kBefore, kAfter, heads, layout.data(), 0, mode, d[0], d[1],
              d[2], d[3], &size, &executor),
          aclnnFlashAttentionUnpaddingScoreGrad);
    } else {
      run(aclnnFlashAttentionVarLenScoreV4GetWorkspaceSize(
              t[0], t[1], t[2], pse, bits, nullptr, hides, arrays[0], arrays[1], arrays[2], kScale, kKeep,
              kBefore, kAfter, heads, layout.data(), 0, mode, order.data(), most, total, nullptr, result,
              &size, &executor),
          aclnnFlashAttentionVarLenScoreV4);
      run(aclnnFlashAttentionUnpaddingScoreGradV4GetWorkspaceSize(
              t[0], t[1], t[2], t[3], pse, bits, nullptr, hides, most, total, nullptr, result, arrays[0],
              arrays[1], arrays[2], kScale, kKeep, kBefore, kAfter, heads, layout.data(), 0, mode, d[0], d[1],
              d[2], d[3], order.data(), &size, &executor),
          aclnnFlashAttentionUnpaddingScoreGradV4);
    }
    for (const std::vector<float>* one : {&out, &greatest, &sum, &dq, &dk, &dv, &dshift})
      EXPECT_EQ(one->back(), other);
    for (aclIntArray* const one : arrays) aclDestroyIntArray(one);
  }
};

const std::vector<int64_t> kQueryEnds = {0, 5, 135, 136, 203, 203}, kKeyEnds = {3, 3, 303, 833, 845, 850};
constexpr int64_t kPackedHeads = 4, kPackedKeyHeads = 2, kPackedDepth = 20;
constexpr int64_t kLongest = 130, kLongestKeys = 530, kBehind = 3;

Everything PackedSequences(int64_t mode, const std::string& order) {
  Everything made;
  const auto batches = std::ssize(kQueryEnds);
  made.q = {kQueryEnds.back() + kBehind, kPackedHeads, kPackedDepth};
  made.k = {kKeyEnds.back() + 600, kPackedKeyHeads, kPackedDepth};
  made.numbers = {made.q[0], kPackedHeads, 8};
  made.shifts = {batches, kPackedHeads, kLongest, kLongestKeys};
  RandomNumbers random(0x7AD + static_cast<uint64_t>(mode));
  for (std::vector<float>* one : {&made.query, &made.of_out}) Heads::Fill(*one, NumElements(made.q), random);
  for (std::vector<float>* one : {&made.key, &made.value}) Heads::Fill(*one, NumElements(made.k), random);
  Heads::Fill(made.shift, NumElements(made.shifts), random);
  made.query_ends = kQueryEnds;
  made.key_ends = kKeyEnds;
  made.mode = mode;
  made.order = order;
  made.prefix = {2, 0, 250, 7, 12, 1};
  int64_t bits = 0;
  for (int64_t b = 0; b < batches; ++b) {
    const auto at = static_cast<size_t>(b);
    const int64_t queries = kQueryEnds[at] - (b == 0 ? 0 : kQueryEnds[at - 1]);
    bits += kPackedHeads * queries * (kKeyEnds[at] - (b == 0 ? 0 : kKeyEnds[at - 1]));
  }
  made.kept.resize(static_cast<size_t>((bits + 7) / 8));
  for (unsigned char& byte : made.kept) byte = static_cast<unsigned char>(random.Below(256));
  if (mode <= 1 || mode == 5) {
    made.mask_shape = {batches, 1, kLongest, kLongestKeys};
  } else {
    made.mask_shape = {mode == 6 ? 3072 : 2048, 2048};
  }
  made.mask.resize(static_cast<size_t>(NumElements(made.mask_shape)));
  if (mode <= 1) {
    for (unsigned char& byte : made.mask) byte = random.Below(3) == 0 ? 1 : 0;
  }
  return made;
}

// A sequence of what is packed, alone; `at` names where its results are.
struct Alone {
  Everything call;
  std::vector<size_t> rows, keys, statistics,
      scores;  // places in what is packed of an element of out, dk, a statistic, a shift
};
Alone TakeAlone(const Everything& all, size_t b) {
  Alone made;
  const auto first = [&](const std::vector<int64_t>& ends) { return b == 0 ? 0 : ends[b - 1]; };
  const int64_t begin = first(all.query_ends), from = first(all.key_ends);
  const int64_t queries = all.query_ends[b] - begin, keys = all.key_ends[b] - from;
  Everything& one = made.call;
  one.q = {1, kPackedHeads, queries, kPackedDepth};
  one.k = {1, kPackedKeyHeads, keys, kPackedDepth};
  one.numbers = {1, kPackedHeads, queries, 8};
  one.shifts = {1, kPackedHeads, queries, keys};
  for (int64_t n = 0; n < kPackedHeads; ++n) {
    for (int64_t i = 0; i < queries; ++i) {
      for (int64_t d = 0; d < kPackedDepth; ++d)
        made.rows.push_back(static_cast<size_t>(((begin + i) * kPackedHeads + n) * kPackedDepth + d));
      const int64_t row =
          all.order.empty() ? begin * kPackedHeads + n * queries + i : (begin + i) * kPackedHeads + n;
      for (int64_t copy = 0; copy < 8; ++copy) made.statistics.push_back(static_cast<size_t>(row * 8 + copy));
      for (int64_t j = 0; j < keys; ++j) {
        made.scores.push_back(static_cast<size_t>(
            ((static_cast<int64_t>(b) * kPackedHeads + n) * kLongest + i) * kLongestKeys + j));
      }
    }
  }
  for (int64_t n = 0; n < kPackedKeyHeads; ++n) {
    for (int64_t j = 0; j < keys; ++j) {
      for (int64_t d = 0; d < kPackedDepth; ++d)
        made.keys.push_back(static_cast<size_t>(((from + j) * kPackedKeyHeads + n) * kPackedDepth + d));
    }
  }
  const auto take = [](std::vector<float>& to, const std::vector<float>& from_all, const auto& places) {
    for (const size_t place : places) to.push_back(from_all[place]);
  };
  take(one.query, all.query, made.rows);
  take(one.of_out, all.of_out, made.rows);
  take(one.key, all.key, made.keys);
  take(one.value, all.value, made.keys);
  take(one.shift, all.shift, made.scores);
  int64_t bit = 0;
  for (size_t before = 0; before < b; ++before) {
    const int64_t rows = all.query_ends[before] - (before == 0 ? 0 : all.query_ends[before - 1]);
    bit += kPackedHeads * rows * (all.key_ends[before] - (before == 0 ? 0 : all.key_ends[before - 1]));
  }
  const int64_t bits = kPackedHeads * queries * keys;
  one.kept.resize(static_cast<size_t>((bits + 7) / 8));
  for (int64_t i = 0; i < bits; ++i, ++bit) {
    const int kept = all.kept[static_cast<size_t>(bit / 8)] >> (bit % 8) & 1;
    one.kept[static_cast<size_t>(i / 8)] |= static_cast<unsigned char>(kept << (i % 8));
  }
  // By the words of the modes: the last sequence with queries is the fifth, the first one the second.
  one.mode = all.mode == 7 ? (b == 4 ? 4 : 3) : all.mode == 8 ? (b == 1 ? 4 : 2) : all.mode;
  one.prefix = {all.prefix[b]};
  one.mask_shape = all.mask_shape;
  one.mask = all.mask;
  if (all.mode <= 1 || all.mode == 5) {
    one.mask_shape = {1, 1, queries, keys};
    one.mask.clear();
    for (int64_t i = 0; i < queries; ++i) {
      for (int64_t j = 0; j < keys; ++j)
        one.mask.push_back(
            all.mask[static_cast<size_t>((static_cast<int64_t>(b) * kLongest + i) * kLongestKeys + j)]);
    }
  }
  return made;
}

std::vector<float> At(const std::vector<float>& all, const std::vector<size_t>& places) {
  std::vector<float> some;
  for (const size_t place : places) some.push_back(all[place]);
  some.push_back(77);
  return some;
}

class FlashAttentionPacked : public ::testing::TestWithParam<int64_t> {};

// Whatever the mode, a sequence has the bits that it has alone; what belongs to none is 0.
TEST_P(FlashAttentionPacked, SequencesHaveTheBitsThatTheyHaveAlone) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  Everything all = PackedSequences(GetParam(), GetParam() % 2 == 0 ? "" : "same_as_input");
  all.Run(environment.stream());
  std::vector<bool> is_score(all.shift.size());
  for (size_t b = 0; b < all.query_ends.size(); ++b) {
    SCOPED_TRACE(b);
    Alone alone = TakeAlone(all, b);
    alone.call.Run(environment.stream());
    EXPECT_TRUE(SameBits(alone.call.out, At(all.out, alone.rows)));
    EXPECT_TRUE(SameBits(alone.call.greatest, At(all.greatest, alone.statistics)));
    EXPECT_TRUE(SameBits(alone.call.sum, At(all.sum, alone.statistics)));
    EXPECT_TRUE(SameBits(alone.call.dq, At(all.dq, alone.rows)));
    EXPECT_TRUE(SameBits(alone.call.dk, At(all.dk, alone.keys)));
    EXPECT_TRUE(SameBits(alone.call.dv, At(all.dv, alone.keys)));
    EXPECT_TRUE(SameBits(alone.call.dshift, At(all.dshift, alone.scores)));
    for (const size_t place : alone.scores) is_score[place] = true;
  }
  for (size_t i = 0; i < is_score.size(); ++i) {
    if (is_score[i]) continue;
    ASSERT_EQ(all.dshift[i], 0.0f) << i;
  }
  const auto is_zero_from = [](const std::vector<float>& values, int64_t first) {
    return std::all_of(values.begin() + first, values.end() - 1, [](float value) { return value == 0; });
  };
  const int64_t row = kPackedHeads * kQueryEnds.back(), key = kPackedKeyHeads * kKeyEnds.back();
  EXPECT_TRUE(is_zero_from(all.out, row * kPackedDepth));
  EXPECT_TRUE(is_zero_from(all.dq, row * kPackedDepth));
  EXPECT_TRUE(is_zero_from(all.greatest, row * 8));
  EXPECT_TRUE(is_zero_from(all.sum, row * 8));
  EXPECT_TRUE(is_zero_from(all.dk, key * kPackedDepth));
  EXPECT_TRUE(is_zero_from(all.dv, key * kPackedDepth));
}
INSTANTIATE_TEST_SUITE_P(Modes, FlashAttentionPacked, ::testing::Range(int64_t{0}, int64_t{9}));

// Sequences of one head, which nothing drops or hides, that share a shift or have one each.
Everything SequencesOfOneHead(const std::vector<int64_t>& query_ends, const std::vector<int64_t>& key_ends,
                              int64_t behind, int64_t shift_batches, bool shares_rows) {
  Everything made;
  constexpr int64_t kDepth = 8;
  const auto longest = [](const std::vector<int64_t>& ends) {
    int64_t most = ends[0];
    for (size_t b = 1; b < ends.size(); ++b) most = std::max(most, ends[b] - ends[b - 1]);
    return most;
  };
  const int64_t queries = longest(query_ends), keys = longest(key_ends);
  made.q = {query_ends.back() + behind, 1, kDepth};
  made.k = {key_ends.back() + behind, 1, kDepth};
  made.numbers = {made.q[0], 1, 8};
  made.shifts = {shift_batches, 1, shares_rows ? 1 : queries, keys};
  RandomNumbers random(0x0DD);
  for (std::vector<float>* one : {&made.query, &made.of_out}) Heads::Fill(*one, NumElements(made.q), random);
  for (std::vector<float>* one : {&made.key, &made.value}) Heads::Fill(*one, NumElements(made.k), random);
  Heads::Fill(made.shift, NumElements(made.shifts), random);
  made.query_ends = query_ends;
  made.key_ends = key_ends;
  made.mode = 1;
  const auto batches = std::ssize(query_ends);
  made.kept.assign(static_cast<size_t>(batches * queries * keys), 0xff);
  made.mask_shape = {batches, 1, queries, keys};
  made.mask.resize(static_cast<size_t>(NumElements(made.mask_shape)));
  return made;
}

// What is not finite in a sequence stays in the columns of its own keys.
TEST(FlashAttentionPackedShifts, NotFinite) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  for (const int64_t batches : {1, 2}) {
    for (const bool shares_rows : {false, true}) {
      SCOPED_TRACE(::testing::Message() << batches << shares_rows);
      Everything all = SequencesOfOneHead({4, 8}, {3, 19}, 0, batches, shares_rows);
      all.of_out[2] = std::numeric_limits<float>::infinity();
      all.Run(environment.stream());
      EXPECT_FALSE(std::isfinite(all.dshift[0]));
      for (size_t i = 3; i < 16; ++i) EXPECT_TRUE(std::isfinite(all.dshift[i])) << i;
    }
  }
}

// One sequence has the bits that it has where no rows lie behind it: the sign of zeros too, which keys have that are hidden.
TEST(FlashAttentionPackedShifts, OfOneSequenceWithRowsBehindIt) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  constexpr int64_t kQueries = 9, kKeys = 21;
  for (const bool shares_rows : {false, true}) {
    Everything all = SequencesOfOneHead({kQueries}, {kKeys}, 30, 1, shares_rows);
    for (size_t i = 0; i < all.mask.size(); i += 2) all.mask[i] = 1;
    Everything alone = all;
    alone.q[0] = alone.numbers[0] = kQueries;
    alone.k[0] = kKeys;
    for (std::vector<float>* one : {&alone.query, &alone.of_out})
      one->resize(static_cast<size_t>(NumElements(alone.q)));
    for (std::vector<float>* one : {&alone.key, &alone.value})
      one->resize(static_cast<size_t>(NumElements(alone.k)));
    all.Run(environment.stream());
    alone.Run(environment.stream());
    EXPECT_TRUE(SameBits(alone.dshift, all.dshift)) << shares_rows;
  }
}

// Lengths are refused by name, value and place.
TEST(FlashAttentionPackedLengths, AreRefused) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  const struct {
    std::vector<int64_t> queries, keys;
    const char* words;
  } cases[] = {{{}, {3}, "actualSeqQLenOptional has 0 values"},
               {{2, 4}, {3}, "actualSeqKvLenOptional has 1 values"},
               {{-1, 4}, {1, 3}, "actualSeqQLenOptional has the value -1 at 0"},
               {{3, 2}, {1, 3}, "actualSeqQLenOptional has the value 2 at 1"},
               {{3, 5}, {1, 3}, "actualSeqQLenOptional has the value 5 at 1"},
               {{3, 4}, {1, 4}, "actualSeqKvLenOptional has the value 4 at 1"},
               {{3, INT64_MAX}, {1, 3}, "actualSeqQLenOptional has the value 9223372036854775807 at 1"},
               {{3, 4}, {INT64_MIN, 3}, "actualSeqKvLenOptional has the value -9223372036854775808 at 0"}};
  for (const auto& one : cases) {
    Call call;
    std::vector<float> memory(1000);
    aclIntArray* const queries = aclCreateIntArray(one.queries.data(), one.queries.size());
    aclIntArray* const keys = aclCreateIntArray(one.keys.data(), one.keys.size());
    char layout[] = "TND";
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    aclTensor* const q = call.Of({4, 2, 8}, memory.data());
    aclTensor* const k = call.Of({3, 2, 8}, memory.data());
    EXPECT_EQ(aclnnFlashAttentionVarLenScoreGetWorkspaceSize(
                  q, k, k, nullptr, nullptr, nullptr, nullptr, nullptr, queries, keys, 1.0, 1.0, 0, 0, 2,
                  layout, 0, 0, q, q, nullptr, q, &size, &executor),
              561002);
    EXPECT_NE(std::string(aclGetRecentErrMsg()).find(one.words), std::string::npos) << aclGetRecentErrMsg();
    aclDestroyIntArray(queries);
    aclDestroyIntArray(keys);
  }
}

// Scores of -infinity hide as masks do; NaN reaches its own row alone.
TEST(FlashAttentionValues, NotFinite) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  Heads heads(1, 1, 1, 3, 5, 4);
  const float infinity = std::numeric_limits<float>::infinity();
  std::fill_n(heads.key.begin(), 20, 1.0f);
  for (int64_t d = 0; d < 4; ++d) {
    heads.query[static_cast<size_t>(d)] = -infinity;
    heads.query[static_cast<size_t>(4 + d)] = std::numeric_limits<float>::quiet_NaN();
  }
  heads.Run(environment.stream(), {});
  for (int64_t d = 0; d < 4; ++d) {
    EXPECT_EQ(heads.out[static_cast<size_t>(d)], 0.0f);
    EXPECT_TRUE(std::isnan(heads.out[static_cast<size_t>(4 + d)]));
    EXPECT_TRUE(std::isfinite(heads.out[static_cast<size_t>(8 + d)]));
  }
  EXPECT_EQ(heads.greatest[0], -std::numeric_limits<float>::max());
  EXPECT_EQ(heads.sum[0], std::numeric_limits<float>::max());
}

// Two operands of 16 bits are multiplied in the order of such (docs/numerics.md): of the terms 2^30, 1, -2^30 one is 1 where even and odd
// places have chains of their own, and 0 in one chain. Weights are rounded to the type of such values.
class FlashAttentionHalves : public ::testing::TestWithParam<std::tuple<DtypeNumber, int64_t>> {
 protected:
  static constexpr int64_t kDepth = 4;

  // Some rows of `kDepth` elements, the first row's given and the other rows alike.
  static std::vector<std::byte> Rows(DtypeNumber dtype, int64_t rows, const std::vector<double>& numbers) {
    const auto size = static_cast<size_t>(ElementSize(dtype));
    std::vector<std::byte> elements(static_cast<size_t>(rows * kDepth) * size);
    for (size_t i = 0; i < static_cast<size_t>(rows * kDepth); ++i)
      EncodeElement(dtype, numbers[i % numbers.size()], elements.data() + i * size);
    return elements;
  }

  // One head. Statistics are what the attention left; `gradient` and `out` are of the gradients.
  void Run(aclrtStream stream, int64_t keys, const std::vector<double>& query, const std::vector<double>& key,
           const std::vector<double>& value, const std::vector<double>& of_out = {1}) {
    const auto [dtype, queries] = GetParam();
    const Shape q{1, 1, queries, kDepth}, k{1, 1, keys, kDepth}, numbers{1, 1, queries, 8};
    std::vector<std::byte> data[] = {
        Rows(dtype, queries, query), Rows(dtype, keys, key),       Rows(dtype, keys, value),
        Rows(dtype, queries, {0}),   Rows(dtype, queries, of_out), Rows(dtype, queries, {0}),
        Rows(dtype, queries, {0}),   Rows(dtype, keys, {0}),       Rows(dtype, keys, {0})};
    std::vector<float> sum(static_cast<size_t>(queries * 8));
    greatest.assign(static_cast<size_t>(queries * 8), 9);
    Call call;
    char layout[] = "BNSD";
    const auto type = static_cast<aclDataType>(dtype);
    const auto of = [&](size_t i, const Shape& shape) { return call.Of(shape, data[i].data(), type); };
    aclTensor* const inputs[] = {of(0, q), of(1, k), of(2, k)};
    aclTensor* const statistics[] = {call.Of(numbers, greatest.data()), call.Of(numbers, sum.data())};
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    constexpr int64_t kAll = 2147483647;
    ASSERT_EQ(aclnnFlashAttentionScoreGetWorkspaceSize(inputs[0], inputs[1], inputs[2], nullptr, nullptr,
                                                       nullptr, nullptr, nullptr, 1.0, 1.0, kAll, kAll, 1,
                                                       layout, 0, 0, statistics[0], statistics[1],
                                                       call.Of({0}, nullptr), of(3, q), &size, &executor),
              0)
        << aclGetRecentErrMsg();
    const GuardedBuffer workspace(size);
    ASSERT_EQ(aclnnFlashAttentionScore(workspace.device(), size, executor, stream), 0);
    ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
    ASSERT_EQ(aclnnFlashAttentionScoreGradGetWorkspaceSize(
                  inputs[0], inputs[1], inputs[2], of(4, q), nullptr, nullptr, nullptr, nullptr,
                  statistics[0], statistics[1], nullptr, of(5, q), nullptr, 1.0, 1.0, kAll, kAll, 1, layout,
                  0, 0, of(6, q), of(7, k), of(8, k), nullptr, &size, &executor),
              0)
        << aclGetRecentErrMsg();
    const GuardedBuffer gradient_workspace(size);
    ASSERT_EQ(aclnnFlashAttentionScoreGrad(gradient_workspace.device(), size, executor, stream), 0);
    ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
    const auto numbers_of = [&](size_t i) {
      std::vector<float> found;
      for (size_t at = 0; at < data[i].size(); at += static_cast<size_t>(ElementSize(dtype)))
        found.push_back(static_cast<float>(NumberOf(dtype, data[i].data() + at).real));
      return found;
    };
    out = numbers_of(3);
    dq = numbers_of(6);
  }

  std::vector<float> greatest, out, dq;
};

TEST_P(FlashAttentionHalves, Products) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  const bool are_halves = std::get<0>(GetParam()) != ACL_FLOAT;
  const double most = 32768;
  Run(environment.stream(), 1, {most, 1, -most, 0}, {most, 1, most, 0}, {1});
  for (const float one : greatest) EXPECT_EQ(one, are_halves ? 1.0f : 0.0f) << "a query and a key";
  // One key whose weight is 1, and no out: the gradient of the score is the product of dy and the value.
  Run(environment.stream(), 1, {0}, {1}, {most, 1, most, 0}, {most, 1, -most, 0});
  for (const float one : dq) EXPECT_EQ(one, are_halves ? 1.0f : 0.0f) << "dy and a value";
}

TEST_P(FlashAttentionHalves, Weights) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  const DtypeNumber dtype = std::get<0>(GetParam());
  // Of two keys, whose values are 1 and -1, the second has a weight that is 1 when it is rounded.
  const double score = dtype == ACL_FLOAT16 ? -0x1p-13 : -0x1p-11;
  Run(environment.stream(), 2, {score}, {0, 0, 0, 0, 1, 0, 0, 0}, {1, 1, 1, 1, -1, -1, -1, -1});
  for (const float one : out) EXPECT_EQ(one == 0, dtype != ACL_FLOAT) << one;
  if (dtype == ACL_FLOAT16) return;  // whose greatest number is too small
  // Three keys of weight 1.
  const double most = 0x1p30;
  Run(environment.stream(), 3, {0}, {1}, {most, most, most, most, 1, 1, 1, 1, -most, -most, -most, -most});
  for (const float one : out) EXPECT_EQ(one != 0, dtype != ACL_FLOAT) << one;
}

INSTANTIATE_TEST_SUITE_P(Of, FlashAttentionHalves,
                         ::testing::Combine(::testing::Values<DtypeNumber>(ACL_FLOAT, ACL_FLOAT16, ACL_BF16),
                                            ::testing::Values<int64_t>(1, 3)));

// ---- gradients of rotary parts and of sinks ----

// Gradients of packed sequences with all that the fifth version has: 2 queries, 3 keys, a head.
struct PackedGradients {
  aclnnStatus Plan(Call& call, int64_t value_depth, aclTensor* dq_rope, aclTensor* dk_rope,
                   aclTensor* dsink) {
    char layout[] = "TND", order[] = "";
    const int64_t query_ends[] = {2}, key_ends[] = {3};
    aclIntArray* const of_query = aclCreateIntArray(query_ends, 1);
    aclIntArray* const of_key = aclCreateIntArray(key_ends, 1);
    const auto input = [&](const Shape& shape) { return call.Of(shape, memory.data()); };
    const aclnnStatus status = aclnnFlashAttentionUnpaddingScoreGradV5GetWorkspaceSize(
        input({2, 1, 4}), input({2, 1, 2}), input({3, 1, 4}), input({3, 1, 2}), input({3, 1, value_depth}),
        input({2, 1, value_depth}), input({1, 1, 2, 3}), nullptr, nullptr, nullptr, input({2, 1, 8}),
        input({2, 1, 8}), nullptr, input({2, 1, value_depth}), input({1}), nullptr, of_query, of_key, nullptr,
        nullptr, 1.0, 1.0, 0, 0, 1, layout, 0, 0, 1, order, call.Of({2, 1, 4}, dq.data()), dq_rope,
        call.Of({3, 1, 4}, dk.data()), dk_rope, call.Of({3, 1, value_depth}, memory.data()),
        call.Of({1, 1, 2, 3}, dpse.data()), dsink, &size, &executor);
    aclDestroyIntArray(of_query);
    aclDestroyIntArray(of_key);
    return status;
  }

  std::vector<float> memory = std::vector<float>(64, 1);
  std::vector<float> dq = std::vector<float>(8, 7), dk = std::vector<float>(12, 7),
                     dpse = std::vector<float>(6, 7);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
};

// Values without elements have no gradient, and make zeros of six others.
TEST(FlashAttentionParts, ValuesOfNothingHaveGradientsOfZero) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  PackedGradients gradients;
  std::vector<float> dq_rope(4, 7), dk_rope(6, 7), dsink(1, 7);
  Call call;
  ASSERT_EQ(gradients.Plan(call, 0, call.Of({2, 1, 2}, dq_rope.data()), call.Of({3, 1, 2}, dk_rope.data()),
                           call.Of({1}, dsink.data())),
            0)
      << aclGetRecentErrMsg();
  const GuardedBuffer workspace(gradients.size);
  ASSERT_EQ(aclnnFlashAttentionUnpaddingScoreGradV5(workspace.device(), gradients.size, gradients.executor,
                                                    environment.stream()),
            0);
  ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
  for (const std::vector<float>* result :
       {&gradients.dq, &gradients.dk, &gradients.dpse, &dq_rope, &dk_rope, &dsink})
    EXPECT_EQ(*result, std::vector<float>(result->size()));
}

// Results whose elements are farther apart than there are addresses are refused by name.
TEST(FlashAttentionParts, ResultsFartherApartThanThereAreAddressesAreRefused) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  PackedGradients gradients;
  const auto far = [&](const Shape& shape) {
    const Shape strides(shape.size(), int64_t{1} << 61);
    return aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, strides.data(), 0, ACL_FORMAT_ND,
                           shape.data(), shape.size(), gradients.memory.data());
  };
  const char* const names[] = {"dqRopeOut", "dkRopeOut"};
  for (size_t which = 0; which < 2; ++which) {
    Call call;
    aclTensor* const result = far({which == 0 ? 2 : 3, 1, 2});
    aclTensor* const ropes[] = {call.Of({2, 1, 2}, gradients.memory.data()),
                                call.Of({3, 1, 2}, gradients.memory.data())};
    EXPECT_EQ(gradients.Plan(call, 3, which == 0 ? result : ropes[0], which == 1 ? result : ropes[1],
                             call.Of({1}, gradients.memory.data())),
              161002);
    const char* const message = aclGetRecentErrMsg();
    EXPECT_NE(std::string(message == nullptr ? "" : message).find(names[which]), std::string::npos);
    aclDestroyTensor(result);
  }
}

// Gradients of sinks in batches of 2 heads.
aclnnStatus PlanSinks(Call& call, int64_t batches, std::vector<float>& memory, aclTensor* dsink,
                      uint64_t* size, aclOpExecutor** executor) {
  char layout[] = "BNSD";
  const auto tensor = [&](int64_t rows, int64_t depth) {
    return call.Of({batches, 2, rows, depth}, memory.data());
  };
  return aclnnFlashAttentionScoreGradV3GetWorkspaceSize(
      tensor(3, 4), tensor(3, 4), tensor(3, 4), tensor(3, 4), nullptr, nullptr, nullptr, nullptr,
      tensor(3, 8), tensor(3, 8), nullptr, tensor(3, 4), call.Of({2}, memory.data()), nullptr, nullptr,
      nullptr, 1.0, 1.0, 0, 0, 2, layout, 0, 0, 1, tensor(3, 4), tensor(3, 4), tensor(3, 4), nullptr, dsink,
      size, executor);
}

TEST(FlashAttentionSinks, HaveGradientsOfZeroWithoutBatches) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  std::vector<float> memory(64, 1), dsink(2, 7);
  Call call;
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(PlanSinks(call, 0, memory, call.Of({2}, dsink.data()), &size, &executor), 0)
      << aclGetRecentErrMsg();
  const GuardedBuffer workspace(size);
  ASSERT_EQ(aclnnFlashAttentionScoreGradV3(workspace.device(), size, executor, environment.stream()), 0);
  ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
  EXPECT_EQ(dsink, std::vector<float>(2));
}

TEST(FlashAttentionSinks, GradientsFartherApartThanThereAreAddressesAreRefused) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  std::vector<float> memory(64, 1);
  const int64_t shape[] = {2}, stride[] = {int64_t{1} << 61};
  aclTensor* const dsink =
      aclCreateTensor(shape, 1, ACL_FLOAT, stride, 0, ACL_FORMAT_ND, shape, 1, memory.data());
  Call call;
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(PlanSinks(call, 1, memory, dsink, &size, &executor), 161002);
  const char* const message = aclGetRecentErrMsg();
  EXPECT_NE(std::string(message == nullptr ? "" : message).find("dsinkOut"), std::string::npos);
  aclDestroyTensor(dsink);
}

}  // namespace
}  // namespace portacl::testing
