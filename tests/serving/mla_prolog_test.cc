// Queries of latent attention and the rows of its caches, of numbers and of codes.
// SPDX-License-Identifier: Apache-2.0
#include "../moe/moe_calls.h"

#include "aclnnop/families/serving.h"

namespace portacl::testing {
namespace {

constexpr aclnnStatus kTiling = 561002;
const Listed kBf16Alone = {{ACL_BF16}};
const std::vector<std::string> kScales = {"dequantScaleXOptional",     "dequantScaleWDqOptional",
                                          "dequantScaleWUqQrOptional", "dequantScaleWDkvKrOptional",
                                          "quantScaleCkvOptional",     "quantScaleCkrOptional",
                                          "smoothScalesCqOptional"};

bool IsCode(const PlanCall& call, const std::string& name) { return call[name].dtype == ACL_INT8; }
bool HasCodesOfQueries(const PlanCall& call) { return IsCode(call, "tokenX") && IsCode(call, "kvCacheRef"); }
bool WantsNorm(const PlanCall& call, int version) {
  return version == 3 && !call["queryNormOptional"].null &&
         call["queryNormOptional"].shape.size() == call["tokenX"].shape.size();
}

bool HasWrongTypes(PlanCall& call, int version) {
  const DtypeNumber x = call["tokenX"].dtype;
  const DtypeNumber up = call["weightUqQr"].dtype;
  const DtypeNumber latent = call["kvCacheRef"].dtype;
  if (call["weightDq"].dtype != x || call["weightDkvKr"].dtype != x) return true;
  if (up != ACL_INT8 && (up != ACL_BF16 || x != ACL_BF16)) return true;
  if (latent != ACL_BF16 && (latent != ACL_INT8 || up != ACL_INT8 || (version == 1 && x == ACL_INT8)))
    return true;
  if (call["krCacheRef"].dtype != (x == ACL_INT8 ? DtypeNumber{ACL_BF16} : latent)) return true;
  if (call["queryOut"].dtype != (HasCodesOfQueries(call) ? ACL_INT8 : ACL_BF16)) return true;
  return WantsNorm(call, version) && call["queryNormOptional"].dtype != up;
}

bool HasWrongShapes(PlanCall& call, int version) {
  const PlanArgument& mode = call["cacheModeOptional"];
  if (mode.null || (mode.text != "PA_BSND" && mode.text != "PA_NZ")) return true;
  const Shape& x = call["tokenX"].shape;
  const Shape& down = call["weightDq"].shape;
  const Shape& absorbed = call["weightUk"].shape;
  const Shape& sin = call["ropeSin"].shape;
  if ((x.size() != 2 && x.size() != 3) || down.size() != 2 || call["weightUqQr"].shape.size() != 2)
    return true;
  if (absorbed.size() != 3 || call["weightDkvKr"].shape.size() != 2 || sin.size() != x.size()) return true;
  if (call["kvCacheRef"].shape.size() != 4 || call["krCacheRef"].shape.size() != 4) return true;
  for (const int64_t dim : {x.back(), down[1], absorbed[0], absorbed[1], absorbed[2], sin.back()}) {
    if (dim <= 0 || dim > 1 << 20) return true;
  }
  const int64_t turned = sin.back();
  const int64_t heads = absorbed[0];
  const int64_t joined = heads * (absorbed[1] + turned);
  if (turned % 2 != 0 || down[0] != x.back() || call["weightUqQr"].shape != Shape{down[1], joined} ||
      call["weightDkvKr"].shape != Shape{x.back(), absorbed[2] + turned} ||
      call["rmsnormGammaCq"].shape != Shape{down[1]} || call["rmsnormGammaCkv"].shape != Shape{absorbed[2]})
    return true;
  const Shape leading(x.begin(), x.end() - 1);
  const auto with = [&](std::initializer_list<int64_t> last) {
    Shape shape = leading;
    shape.insert(shape.end(), last);
    return shape;
  };
  const std::string index = version == 3 ? "cacheIndexOptional" : "cacheIndex";
  if (sin != with({turned}) || call["ropeCos"].shape != sin || call[index].shape != leading) return true;
  const Shape& cache = call["kvCacheRef"].shape;
  if (cache != Shape{cache[0], cache[1], 1, absorbed[2]} ||
      call["krCacheRef"].shape != Shape{cache[0], cache[1], 1, turned})
    return true;
  if (mode.text == "PA_NZ") {
    for (const char* name : {"kvCacheRef", "krCacheRef"}) {
      if (call[name].shape[3] % (32 / ElementSize(call[name].dtype)) != 0) return true;
    }
  }
  if (call["queryOut"].shape != with({heads, absorbed[2]}) ||
      call["queryRopeOut"].shape != with({heads, turned}))
    return true;
  const int64_t tokens = NumElements(leading);
  const bool is_full = IsCode(call, "tokenX");
  const bool has_codes = IsCode(call, "kvCacheRef");
  struct Needed {
    bool is_read, may_lack;
    int64_t count;
  };
  const Needed needed[] = {{is_full, false, tokens},
                           {is_full, false, down[1]},
                           {IsCode(call, "weightUqQr"), false, joined},
                           {is_full, false, absorbed[2] + turned},
                           {has_codes, false, absorbed[2]},
                           {IsCode(call, "krCacheRef"), false, turned},
                           {IsCode(call, "weightUqQr"), true, down[1]}};
  for (size_t i = 0; i < kScales.size(); ++i) {
    if (!needed[i].is_read) continue;
    const PlanArgument& scale = call[kScales[i]];
    if (scale.null) {
      if (needed[i].may_lack) continue;
      return true;
    }
    const int64_t count = NumElements(scale.shape);
    if (count != needed[i].count && !(i == 4 && is_full && count == 1)) return true;
  }
  if (version >= 2 && HasCodesOfQueries(call)) {
    const PlanArgument& step = call["dequantScaleQNopeOutOptional"];
    if (step.null || NumElements(step.shape) != tokens * heads) return true;
  }
  if (version < 3) return false;
  if (WantsNorm(call, version)) {
    if (call["queryNormOptional"].shape != with({down[1]})) return true;
    const PlanArgument& step = call["dequantScaleQNormOptional"];
    if (IsCode(call, "weightUqQr") && (step.null || NumElements(step.shape) != tokens)) return true;
  }
  const auto is_other = [&](const char* name, int64_t accepted) {
    return call[name].integer != 0 && call[name].integer != accepted;
  };
  return is_other("weightQuantMode", is_full                      ? 2
                                     : IsCode(call, "weightUqQr") ? 1
                                                                  : 0) ||
         is_other("kvQuantMode", !has_codes ? 0
                                 : is_full  ? 1
                                            : 2) ||
         is_other("queryQuantMode", HasCodesOfQueries(call) ? 1 : 0) || is_other("ckvkrRepoMode", 0) ||
         is_other("quantScaleRepoMode", 0);
}

using Row = std::vector<double>;
double Single(double x) { return static_cast<double>(static_cast<float>(x)); }
double Short(double x) { return DecodeReal(ACL_BF16, Encoded(ACL_BF16, x).data()); }
double Code(double x) { return std::isnan(x) ? 0 : std::clamp(std::nearbyint(x), -128.0, 127.0); }

// Steps are rounded to FLOAT one by one, as docs/numerics.md says.
Row Normed(const Row& x, const Numbers& gamma, double epsilon, double factor) {
  double squares = 0;
  for (const double one : x) squares += one * one;
  const double root = Single(1 / std::sqrt(squares / static_cast<double>(x.size()) + Single(epsilon)));
  Row made;
  for (size_t i = 0; i < x.size(); ++i) {
    const double scaled = Single(Single(x[i] * root) * gamma[static_cast<int64_t>(i)]);
    made.push_back(Single(scaled * Single(factor)));
  }
  return made;
}
Row Turned(const Row& x, const Numbers& cos, const Numbers& sin, int64_t token) {
  const size_t half = x.size() / 2;
  Row made(x.size());
  for (size_t i = 0; i < half; ++i) {
    const double a = x[2 * i];
    const double b = x[2 * i + 1];
    const auto at = static_cast<int64_t>(i);
    const auto behind = static_cast<int64_t>(i + half);
    made[i] = Single(Single(a * cos.At(token, at)) - Single(b * sin.At(token, at)));
    made[i + half] = Single(Single(b * cos.At(token, behind)) + Single(a * sin.At(token, behind)));
  }
  return made;
}
// Returns a row's codes, and its step.
Row CodesOf(const Row& x, double* step) {
  double greatest = 0;
  for (const double one : x) greatest = std::max(greatest, std::fabs(one));
  *step = Single(greatest / 127);
  Row made;
  for (const double one : x) made.push_back(*step == 0 ? 0 : Code(Single(one / *step)));
  return made;
}

std::vector<Outcome> Oracle(const PlanCall& call, const std::vector<TensorValues>& tensors, int version) {
  const auto numbers = [&](const std::string& name) { return Numbers(call, tensors, name); };
  const Numbers x = numbers("tokenX");
  const Numbers down = numbers("weightDq");
  const Numbers up = numbers("weightUqQr");
  const Numbers absorbed = numbers("weightUk");
  const Numbers latent = numbers("weightDkvKr");
  const Numbers cos = numbers("ropeCos");
  const Numbers sin = numbers("ropeSin");
  const Numbers index = numbers(version == 3 ? "cacheIndexOptional" : "cacheIndex");
  std::vector<Numbers> scales;
  for (const std::string& name : kScales) scales.push_back(numbers(name));
  const int64_t columns = x.shape().back();
  const int64_t tokens = x.size() / columns;
  const int64_t rank = down.shape()[1];
  const int64_t heads = absorbed.shape()[0];
  const int64_t depth = absorbed.shape()[1];
  const int64_t width = absorbed.shape()[2];
  const int64_t turned = cos.shape().back();
  const bool is_full = IsCode(call, "tokenX");
  const bool has_codes = IsCode(call, "weightUqQr");
  const bool quantises = HasCodesOfQueries(call);
  // A product's row, of codes scaled, and rounded.
  const auto times = [&](const Row& row, const Numbers& weight, bool of_codes, int scale, double factor) {
    Row made;
    for (int64_t n = 0; n < weight.shape()[1]; ++n) {
      double sum = 0;
      for (size_t k = 0; k < row.size(); ++k) sum += row[k] * weight.At(static_cast<int64_t>(k), n);
      if (of_codes) sum = Single(Single(Single(sum) * scales[static_cast<size_t>(scale)][n]) * factor);
      made.push_back(Short(sum));
    }
    return made;
  };
  const Shape& cache = call["kvCacheRef"].shape;
  Outcome kv(static_cast<size_t>(NumElements(cache)));
  Outcome kr(static_cast<size_t>(NumElements(call["krCacheRef"].shape)));
  Outcome query, rope, steps, norms, norm_steps;
  const auto put = [&](Outcome& to, const std::string& name, const Row& row, int64_t slot, int scale) {
    const DtypeNumber dtype = call[name].dtype;
    const int64_t blocks = cache[0];
    const int64_t slots = cache[1];
    const auto count = std::ssize(row);
    if (slot < 0 || slot >= blocks * slots) return;
    const int64_t group = call["cacheModeOptional"].text == "PA_NZ" ? 32 / ElementSize(dtype) : count;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at =
          ((slot / slots * (count / group) + i / group) * slots + slot % slots) * group + i % group;
      const double value = row[static_cast<size_t>(i)];
      const double by = dtype == ACL_INT8 ? scales[static_cast<size_t>(scale)][is_full ? 0 : i] : 1;
      to[static_cast<size_t>(at)] = Encoded(dtype, dtype == ACL_INT8 ? Code(Single(value * by)) : value);
    }
  };
  const double query_factor = version == 3 ? call["qcQrScale"].real : 1;
  const double latent_factor = version == 3 ? call["kcScale"].real : 1;
  for (int64_t t = 0; t < tokens; ++t) {
    Row token;
    for (int64_t k = 0; k < columns; ++k) token.push_back(x[t * columns + k]);
    const double factor = is_full ? scales[0][t] : 1;
    Row c = Normed(times(token, down, is_full, 1, factor), numbers("rmsnormGammaCq"),
                   call["rmsnormEpsilonCq"].real, query_factor);
    double step = 1;
    if (has_codes) {
      for (int64_t i = 0; i < rank && scales[6].is_given(); ++i) {
        double& one = c[static_cast<size_t>(i)];
        one = Single(one * scales[6][i]);
      }
      c = CodesOf(c, &step);
    } else {
      for (double& one : c) one = Short(one);
    }
    for (const double one : c) norms.emplace_back(Encoded(up.dtype(), one));
    norm_steps.emplace_back(Encoded(ACL_FLOAT, step));
    const Row u = times(c, up, has_codes, 2, step);
    for (int64_t n = 0; n < heads; ++n) {
      const auto* const own = u.data() + n * (depth + turned);
      Row q;
      for (int64_t i = 0; i < width; ++i) {
        double sum = 0;
        for (int64_t k = 0; k < depth; ++k) sum += own[k] * absorbed[(n * depth + k) * width + i];
        q.push_back(Short(sum));
      }
      Row r = Turned(Row(own + depth, own + depth + turned), cos, sin, t);
      if (quantises) {
        double own_step;
        q = CodesOf(q, &own_step);
        steps.emplace_back(Encoded(ACL_FLOAT, own_step));
        for (double& one : r) one = Single(Single(Short(one) * scales[4][0]) / own_step);
      }
      for (const double one : q) query.emplace_back(Encoded(call["queryOut"].dtype, one));
      for (const double one : r) rope.emplace_back(Encoded(ACL_BF16, one));
    }
    const Row w = times(token, latent, is_full, 3, factor);
    const int64_t slot = index.Integer(t);
    put(kv, "kvCacheRef",
        Normed(Row(w.begin(), w.begin() + width), numbers("rmsnormGammaCkv"), call["rmsnormEpsilonCkv"].real,
               latent_factor),
        slot, 4);
    put(kr, "krCacheRef", Turned(Row(w.begin() + width, w.end()), cos, sin, t), slot, 5);
  }
  // What is not wanted stays.
  if (!WantsNorm(call, version)) norms.clear();
  if (!WantsNorm(call, version) || !has_codes) norm_steps.clear();
  std::vector<Outcome> out = {kv, kr, query, rope};
  if (version >= 2) out.push_back(steps);
  if (version == 3) {
    out.push_back(norms);
    out.push_back(norm_steps);
  }
  return out;
}

void Draw(PlanCall& call, RandomNumbers& random, int version) {
  const bool is_grouped = random.Chance(40);
  const int64_t unit = is_grouped ? 32 : 2;
  const Shape leading =
      random.Chance(50) ? Shape{random.Between(1, 6)} : Shape{random.Between(1, 3), random.Between(1, 3)};
  const int64_t columns = random.Between(1, random.Chance(20) ? 70 : 9);
  const int64_t rank = random.Between(1, 9);
  const int64_t heads = random.Between(1, 4);
  const int64_t depth = random.Between(1, random.Chance(20) ? 40 : 6);
  const int64_t width = unit * random.Between(1, is_grouped ? 2 : 9);
  const int64_t turned = unit * random.Between(1, is_grouped ? 2 : 5);
  const auto with = [&](std::initializer_list<int64_t> last) {
    Shape shape = leading;
    shape.insert(shape.end(), last);
    return shape;
  };
  call["cacheModeOptional"].text = is_grouped ? "PA_NZ" : "PA_BSND";
  call["tokenX"].shape = with({columns});
  call["weightDq"].shape = {columns, rank};
  call["weightUqQr"].shape = {rank, heads * (depth + turned)};
  call["weightUk"].shape = {heads, depth, width};
  call["weightDkvKr"].shape = {columns, width + turned};
  call["rmsnormGammaCq"].shape = {rank};
  call["rmsnormGammaCkv"].shape = {width};
  call["ropeSin"].shape = call["ropeCos"].shape = with({turned});
  call[version == 3 ? "cacheIndexOptional" : "cacheIndex"].shape = leading;
  const int64_t blocks = random.Between(random.Chance(10) ? 0 : 1, 3);
  const int64_t slots = random.Between(random.Chance(10) ? 0 : 1, 5);
  call["kvCacheRef"].shape = {blocks, slots, 1, width};
  call["krCacheRef"].shape = {blocks, slots, 1, turned};
  call["queryOut"].shape = with({heads, width});
  call["queryRopeOut"].shape = with({heads, turned});
  // Numbers, codes of the second weight, or of everything; caches of either.
  const int64_t kind = random.Below(3);
  const bool has_codes = kind > 0 && random.Chance(60) && !(version == 1 && kind == 2);
  const DtypeNumber token = kind == 2 ? ACL_INT8 : ACL_BF16;
  for (const char* name : {"tokenX", "weightDq", "weightDkvKr"}) call[name].dtype = token;
  call["weightUqQr"].dtype = kind > 0 ? ACL_INT8 : ACL_BF16;
  call["kvCacheRef"].dtype = has_codes ? ACL_INT8 : ACL_BF16;
  call["krCacheRef"].dtype = has_codes && kind == 1 ? ACL_INT8 : ACL_BF16;
  call["queryOut"].dtype = has_codes && kind == 2 ? ACL_INT8 : ACL_BF16;
  const int64_t tokens = NumElements(leading);
  const int64_t counts[] = {tokens, rank, heads * (depth + turned), width + turned, width, turned, rank};
  for (size_t i = 0; i < kScales.size(); ++i) {
    call[kScales[i]].shape = {1, counts[i]};
    call[kScales[i]].null = i == 6 && random.Chance(40);
  }
  if (kind == 2 && random.Chance(40)) call[kScales[4]].shape = {1};
  if (version >= 2) {
    PlanArgument& step = call["dequantScaleQNopeOutOptional"];
    step.shape = has_codes && kind == 2 ? Shape{tokens, heads, 1} : Shape{1};
    step.null = !(has_codes && kind == 2) && random.Chance(50);
  }
  if (version < 3) return;
  const bool wants = random.Chance(50);
  call["queryNormOptional"].shape = wants ? with({rank}) : Shape{random.Below(2)};
  call["queryNormOptional"].dtype = call["weightUqQr"].dtype;
  call["queryNormOptional"].null = !wants && random.Chance(50);
  call["dequantScaleQNormOptional"].shape = wants && kind > 0 ? Shape{tokens, 1} : Shape{random.Below(2)};
  call["dequantScaleQNormOptional"].null = !(wants && kind > 0) && random.Chance(50);
  const bool tells = random.Chance(50);
  call["weightQuantMode"].integer = tells ? kind : 0;
  call["kvQuantMode"].integer = tells && has_codes ? 3 - kind : 0;
  call["queryQuantMode"].integer = tells && has_codes && kind == 2 ? 1 : 0;
}

void Fill(const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  const auto arguments = TensorsOf(call);
  const Shape& cache = call["kvCacheRef"].shape;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const PlanArgument& one = *arguments[i];
    if (one.null || one.is_output) continue;
    const bool is_scale = one.name.find("cale") != std::string::npos;
    if (one.name.find("cacheIndex") == 0) {
      SetIntegers(tensors[i], -2, cache[0] * cache[1] + 2, random);
      continue;
    }
    for (int64_t k = 0; k < tensors[i].size(); ++k) {
      if (tensors[i].dtype() == ACL_INT8) {
        EncodeIntegerElement(ACL_INT8, random.Between(-20, 20), tensors[i].Element(k));
      } else if (is_scale) {
        const double scale = static_cast<double>(random.Between(1, 9)) / 8 + 0.1875;
        // Scales of caches make codes of normalised rows; the others keep sums of codes small.
        tensors[i].Set(k, one.name.find("quantScaleCk") == 0 ? 16 * scale : scale / 16);
      } else {
        tensors[i].Set(k, static_cast<double>(random.Between(-8, 8)) / 8);
      }
    }
  }
}

OperatorSpec Prolog(const CFunction& function, int version) {
  OperatorSpec op;
  op.function = function;
  const std::string index = version == 3 ? "cacheIndexOptional" : "cacheIndex";
  op.valid = {TensorArg("tokenX", {2, 5}, ACL_BF16),       TensorArg("weightDq", {5, 3}, ACL_BF16),
              TensorArg("weightUqQr", {3, 8}, ACL_INT8),   TensorArg("weightUk", {2, 2, 6}, ACL_BF16),
              TensorArg("weightDkvKr", {5, 8}, ACL_BF16),  TensorArg("rmsnormGammaCq", {3}, ACL_BF16),
              TensorArg("rmsnormGammaCkv", {6}, ACL_BF16), TensorArg("ropeSin", {2, 2}, ACL_BF16),
              TensorArg("ropeCos", {2, 2}, ACL_BF16)};
  if (version != 3) op.valid.push_back(DistinctArg(index, {2}, ACL_INT64));
  op.valid.push_back(OutputArg("kvCacheRef", {2, 3, 1, 6}, ACL_INT8));
  op.valid.push_back(OutputArg("krCacheRef", {2, 3, 1, 2}, ACL_INT8));
  if (version == 3) op.valid.push_back(DistinctArg(index, {2}, ACL_INT64));
  const Shape scales[] = {{2, 1}, {1, 3}, {1, 8}, {1, 8}, {1, 6}, {1, 2}, {1, 3}};
  for (size_t i = 0; i < kScales.size(); ++i) op.valid.push_back(TensorArg(kScales[i], scales[i]));
  if (version == 3) {
    for (const char* name : {"actualSeqLenOptional", "kNopeClipAlphaOptional"}) {
      op.valid.push_back(TensorArg(name, {2}));
      op.valid.back().null = true;
    }
  }
  for (const PlanArgument& one : {RealArg("rmsnormEpsilonCq", 1e-5), RealArg("rmsnormEpsilonCkv", 1e-3),
                                  TextArg("cacheModeOptional", "PA_BSND")})
    op.valid.push_back(one);
  if (version == 3) {
    for (const PlanArgument& one :
         {IntegerArg("weightQuantMode", 1), IntegerArg("kvQuantMode", 2), IntegerArg("queryQuantMode", 0),
          IntegerArg("ckvkrRepoMode", 0), IntegerArg("quantScaleRepoMode", 0), IntegerArg("tileSize", 128),
          RealArg("qcQrScale", 1.5), RealArg("kcScale", 0.75)})
      op.valid.push_back(one);
  }
  op.valid.push_back(OutputArg("queryOut", {2, 2, 6}, ACL_BF16));
  op.valid.push_back(OutputArg("queryRopeOut", {2, 2, 2}, ACL_BF16));
  if (version >= 2) op.valid.push_back(OutputArg("dequantScaleQNopeOutOptional", {1}));
  if (version == 3) {
    op.valid.push_back(OutputArg("queryNormOptional", {2, 3}, ACL_INT8));
    op.valid.push_back(OutputArg("dequantScaleQNormOptional", {2, 1}));
  }
  op.takes_workspace = true;
  op.updates = true;
  op.tolerance = 2e-2;
  const std::string nulls =
      "tokenX weightDq weightUqQr weightUk weightDkvKr rmsnormGammaCq rmsnormGammaCkv "
      "ropeSin ropeCos " +
      index + " kvCacheRef krCacheRef queryOut queryRopeOut";
  op.rules = {NoNulls(nulls),
              RefusedDtype("tokenX",
                           [=](const PlanCall& call, DtypeNumber dtype) {
                             return (IsOnA2OrA3(call) || (version == 3 && IsOn950(call))) &&
                                    (dtype == ACL_BF16 || dtype == ACL_INT8);
                           }),
              DtypeIn("weightUk rmsnormGammaCq rmsnormGammaCkv ropeSin ropeCos", kBf16Alone),
              DtypeIn(index, kInt64Alone),
              Refuses(161002, "", [=](PlanCall& call) { return HasWrongTypes(call, version); })};
  for (const std::string& name : kScales) op.rules.push_back(Given(name, DtypeIn(name, kFloatAlone)));
  op.rules.push_back(DtypeIn("queryRopeOut", kBf16Alone));
  if (version >= 2)
    op.rules.push_back(
        Given("dequantScaleQNopeOutOptional", DtypeIn("dequantScaleQNopeOutOptional", kFloatAlone)));
  if (version == 3)
    op.rules.push_back(Given("dequantScaleQNormOptional", DtypeIn("dequantScaleQNormOptional", kFloatAlone)));
  op.rules.push_back(Refuses(kTiling, "", [=](PlanCall& call) { return HasWrongShapes(call, version); }));
  if (version == 3) {
    op.rules.push_back(Refuses(561103, "", [](PlanCall& call) {
      for (const char* name : {"actualSeqLenOptional", "kNopeClipAlphaOptional"}) {
        if (!call[name].null && NumElements(call[name].shape) > 0) return true;
      }
      return false;
    }));
  }
  op.rules.push_back(DoneIfEmpty("tokenX"));
  op.draw = [=](PlanCall& call, RandomNumbers& random) { Draw(call, random, version); };
  op.fill = Fill;
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    return Oracle(call, tensors, version);
  };
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {Prolog(PORTACL_C_FUNCTION(aclnnMlaProlog), 1),
                                                Prolog(PORTACL_C_FUNCTION(aclnnMlaPrologV2WeightNz), 2),
                                                Prolog(PORTACL_C_FUNCTION(aclnnMlaPrologV3WeightNz), 3)};
  return all;
}

PORTACL_OPERATOR_TESTS(LatentQueries, Operators());

// Phase 1 of tokens of INT8, whose queries become INT8, too. The results that `far` names are farther apart than
// there are addresses.
aclnnStatus PlanOfCodes(int64_t tokens, int64_t rank, const std::string& far) {
  std::vector<uint64_t> memory(4096);
  Made made;
  const auto of = [&](const Shape& shape, aclDataType dtype) {
    return made.Dense(shape, dtype, memory.data());
  };
  const auto result = [&](const char* name, const Shape& shape, aclDataType dtype) {
    return name == far ? made.FarApart(shape, dtype, memory.data()) : of(shape, dtype);
  };
  char mode[] = "PA_BSND";
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  const aclnnStatus status = aclnnMlaPrologV3WeightNzGetWorkspaceSize(
      of({tokens, 1}, ACL_INT8), of({1, rank}, ACL_INT8), of({rank, 3}, ACL_INT8), of({1, 1, 4}, ACL_BF16),
      of({1, 6}, ACL_INT8), of({rank}, ACL_BF16), of({4}, ACL_BF16), of({tokens, 2}, ACL_BF16),
      of({tokens, 2}, ACL_BF16), of({1, 2, 1, 4}, ACL_INT8), of({1, 2, 1, 2}, ACL_BF16),
      of({tokens}, ACL_INT64), of({tokens, 1}, ACL_FLOAT), of({1, rank}, ACL_FLOAT), of({1, 3}, ACL_FLOAT),
      of({1, 6}, ACL_FLOAT), of({1, 4}, ACL_FLOAT), nullptr, nullptr, nullptr, nullptr, 1e-5, 1e-5, mode, 0,
      0, 0, 0, 0, 128, 1.0, 1.0, of({tokens, 1, 4}, ACL_INT8), of({tokens, 1, 2}, ACL_BF16),
      result("dequantScaleQNopeOutOptional", {tokens, 1, 1}, ACL_FLOAT),
      tokens > 2 ? nullptr : result("queryNormOptional", {tokens, rank}, ACL_INT8),
      result("dequantScaleQNormOptional", {tokens, 1}, ACL_FLOAT), &size, &executor);
  if (status == 0) {
    EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
  }
  return status;
}

TEST(LatentQueriesBad, ResultsFartherApartThanThereAreAddressesAreRefused) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", "Ascend910B1"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  EXPECT_EQ(PlanOfCodes(2, 4, ""), 0) << aclGetRecentErrMsg();
  for (const char* name :
       {"dequantScaleQNopeOutOptional", "queryNormOptional", "dequantScaleQNormOptional"}) {
    EXPECT_EQ(PlanOfCodes(2, 4, name), 161002);
    ExpectMessage(name);
  }
}

// Expanded tensors take no memory, but what is between the products does.
TEST(LatentQueriesBad, MoreBetweenTheProductsThanMemoryHolds) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", "Ascend910B1"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  EXPECT_EQ(PlanOfCodes(int64_t{1} << 44, int64_t{1} << 19, ""), 561101);
  ExpectMessage("tokenX");
}

}  // namespace
}  // namespace portacl::testing
