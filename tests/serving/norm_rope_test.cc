// Rows that are normed and turned on their way to caches, of every layout, quantised and not.
// SPDX-License-Identifier: Apache-2.0
#include "../moe/moe_calls.h"

#include <cctype>

#include "aclnnop/families/serving.h"

namespace portacl::testing {
namespace {

constexpr aclnnStatus kTiling = 561002;
const DtypeList kHalves = {ACL_FLOAT16, ACL_BF16};

int64_t GroupOf(const PlanCall& call, const std::string& name) { return 32 / ElementSize(call[name].dtype); }
Rule OrInt8(const std::string& cache, const std::string& like) {
  return Refuses(161002, cache, [=](PlanCall& call) {
    return call[cache].dtype != ACL_INT8 && call[cache].dtype != call[like].dtype;
  });
}
Rule IsOptionalFloat(const std::string& name) { return Given(name, DtypeIn(name, kFloatAlone)); }
Element Int8Element(double x) {
  const double rounded = std::isnan(x) ? 0 : std::min(127.0, std::max(-128.0, std::nearbyint(x)));
  return Encoded(ACL_INT8, rounded);
}

using Row = std::vector<double>;
Row RowOf(const Numbers& numbers, int64_t first, int64_t count) {
  Row row;
  for (int64_t i = 0; i < count; ++i) row.push_back(numbers[first + i]);
  return row;
}
Row Normed(Row x, const Numbers& gamma, double epsilon) {
  double squares = 0;
  for (const double one : x) squares += one * one;
  const double root = std::sqrt(squares / static_cast<double>(x.size()) + epsilon);
  for (size_t i = 0; i < x.size(); ++i) x[i] = x[i] / root * gamma[static_cast<int64_t>(i)];
  return x;
}
// deint(x) * cos + rot_half(deint(x)) * sin of the first elements, or without the first step; FLOAT16 rounds x and each step.
Row Turned(Row x, const Row& cos, const Row& sin, bool interleaved, DtypeNumber rounded) {
  const size_t n = cos.size();
  const auto step = [&](double value) {
    return rounded == ACL_FLOAT16 ? DecodeReal(ACL_FLOAT16, Encoded(ACL_FLOAT16, value).data()) : value;
  };
  Row apart;
  for (size_t i = 0; i < n; ++i)
    apart.push_back(step(x[!interleaved ? i : i < n / 2 ? 2 * i : 2 * (i - n / 2) + 1]));
  for (size_t i = 0; i < n; ++i) {
    const double other = i < n / 2 ? -apart[i + n / 2] : apart[i - n / 2];
    x[i] = step(step(apart[i] * cos[i]) + step(other * sin[i]));
  }
  return x;
}
void SetScales(HostTensor& tensor, RandomNumbers& random) {
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.Set(i, static_cast<double>(random.Between(1, 9)) / 4 + 0.1875);
}

// ---- KvRmsNormRopeCache ----

struct Mode {
  const char* name;
  bool paged, grouped, by_page;
};
constexpr Mode kModes[] = {{"Norm", false, false, false},      {"PA", true, false, false},
                           {"PA_BNSD", true, false, false},    {"PA_NZ", true, true, false},
                           {"PA_BLK_BNSD", true, false, true}, {"PA_BLK_NZ", true, true, true}};
const Mode* ModeOf(const PlanCall& call) {
  for (const Mode& mode : kModes) {
    if (call["cacheModeOptional"].null ? mode.name == std::string("Norm")
                                       : call["cacheModeOptional"].text == mode.name)
      return &mode;
  }
  return nullptr;
}
bool HasV(const PlanCall& call, bool is_v2) { return is_v2 && !call["vOptional"].null; }

bool KvIsWrong(PlanCall& call, bool is_v2) {
  const Mode* const mode = ModeOf(call);
  if (mode == nullptr) return true;
  for (const char* name : {"kv", "cos", "kCacheRef", "ckvCacheRef"}) {
    if (call[name].shape.size() != 4) return true;
  }
  if (call["gamma"].shape.size() != 1) return true;
  const Shape& kv = call["kv"].shape;
  const Shape& cos = call["cos"].shape;
  const int64_t gamma = call["gamma"].shape[0];
  const bool has_v = HasV(call, is_v2);
  if (kv[1] != 1 || cos[0] != kv[0] || cos[1] != 1 || (cos[2] != 1 && cos[2] != kv[2])) return true;
  if (cos[3] <= 0 || cos[3] % 2 != 0 || call["sin"].shape != cos || gamma <= 0) return true;
  if (has_v ? gamma != kv[3] || cos[3] > gamma : gamma + cos[3] != kv[3]) return true;
  int64_t width[] = {has_v ? gamma : cos[3], gamma};
  if (has_v) {
    const Shape& v = call["vOptional"].shape;
    if (v.size() != 4 || v[0] != kv[0] || v[1] != 1 || v[2] != kv[2]) return true;
    width[1] = v[3];
  }
  int half = 0;
  for (const char* name : {"kCacheRef", "ckvCacheRef"}) {
    const Shape& cache = call[name].shape;
    const int64_t columns = width[half++];
    if (cache[3] != columns) return true;
    if (!mode->paged) {
      if (cache[0] != kv[0] || cache[1] != 1) return true;
      continue;
    }
    if (cache[2] != 1 || cache[1] % GroupOf(call, name) != 0) return true;
    if (mode->grouped && columns % GroupOf(call, name) != 0) return true;
  }
  const Shape& keys = call["kCacheRef"].shape;
  const Shape& values = call["ckvCacheRef"].shape;
  if (mode->paged ? keys[0] != values[0] || keys[1] != values[1] : keys[2] != values[2]) return true;
  const int64_t slots = std::max<int64_t>(keys[1], 1);
  const Shape index = !mode->paged    ? Shape{kv[0], kv[2]}
                      : mode->by_page ? Shape{kv[0] * ((kv[2] + slots - 1) / slots)}
                                      : Shape{kv[0] * kv[2]};
  if (call["index"].shape != index) return true;
  const char* const of[][3] = {{"kCacheRef", "kRopeScaleOptional", "kRopeOffsetOptional"},
                               {"ckvCacheRef", "ckvScaleOptional", "cKvOffsetOptional"}};
  for (half = 0; half < 2; ++half) {
    if (call[of[half][0]].dtype != ACL_INT8) continue;
    if (call[of[half][1]].null) return true;
    for (const int i : {1, 2}) {
      if (call[of[half][i]].null) continue;
      const int64_t count = NumElements(call[of[half][i]].shape);
      if (count != 1 && count != width[half]) return true;
    }
  }
  if (call["isOutputKv"].integer == 0) return false;
  return call["kRopeOut"].shape != Shape{kv[0], 1, kv[2], width[0]} ||
         call["cKvOut"].shape != Shape{kv[0], 1, kv[2], width[1]};
}

std::vector<Outcome> KvOracle(const PlanCall& call, const std::vector<TensorValues>& tensors, bool is_v2) {
  const Mode& mode = *ModeOf(call);
  const bool has_v = HasV(call, is_v2);
  const Numbers kv(call, tensors, "kv");
  const Numbers gamma(call, tensors, "gamma");
  const Numbers cos(call, tensors, "cos");
  const Numbers sin(call, tensors, "sin");
  const Numbers index(call, tensors, "index");
  const double epsilon = call["epsilon"].real;
  const int64_t steps = kv.shape()[2];
  const int64_t turned = cos.shape()[3];
  std::vector<Outcome> out;
  std::vector<Outcome> plain;
  const char* const of[][4] = {{"kCacheRef", "kRopeScaleOptional", "kRopeOffsetOptional", "kRopeOut"},
                               {"ckvCacheRef", "ckvScaleOptional", "cKvOffsetOptional", "cKvOut"}};
  for (int half = 0; half < 2; ++half) {
    const PlanArgument& cache = call[of[half][0]];
    const Numbers scale(call, tensors, of[half][1]);
    const Numbers offset(call, tensors, of[half][2]);
    Outcome own(static_cast<size_t>(NumElements(cache.shape)));
    Outcome rows(static_cast<size_t>(NumElements(call[of[half][3]].shape)));
    const int64_t slots = mode.paged ? cache.shape[1] : cache.shape[2];
    const int64_t columns = cache.shape[3];
    for (int64_t row = 0; row < kv.shape()[0] * steps; ++row) {
      const int64_t batch = row / steps;
      const int64_t angle = (cos.shape()[2] == 1 ? batch : row) * turned;
      const Row cos_row = RowOf(cos, angle, turned);
      const Row sin_row = RowOf(sin, angle, turned);
      Row x = RowOf(kv, row * kv.shape()[3], kv.shape()[3]);
      if (has_v) {
        if (half == 0) {
          x = Turned(Normed(x, gamma, epsilon), cos_row, sin_row, true, ACL_FLOAT);
        } else {
          x = RowOf(Numbers(call, tensors, "vOptional"), row * columns, columns);
        }
      } else if (half == 0) {
        x = Turned(Row(x.begin() + gamma.size(), x.end()), cos_row, sin_row, true, ACL_FLOAT);
      } else {
        x = Normed(Row(x.begin(), x.begin() + gamma.size()), gamma, epsilon);
      }
      if (call["isOutputKv"].integer != 0) {
        for (int64_t i = 0; i < columns; ++i)
          rows[static_cast<size_t>(row * columns + i)] = Encoded(kv.dtype(), x[static_cast<size_t>(i)]);
      }
      int64_t slot = 0;
      if (!mode.paged) {
        slot = index.Integer(row);
        if (slot >= slots) slot = -1;
        if (slot >= 0) slot += batch * slots;
      } else if (mode.by_page) {
        if (slots == 0) continue;
        const int64_t pages = (steps + slots - 1) / slots;
        slot = index.Integer(batch * pages + row % steps / slots);
        if (slot >= 0) slot = slot / slots * slots + row % steps % slots;
      } else {
        slot = index.Integer(row);
      }
      if (slot < 0 || slot >= slots * cache.shape[0]) continue;
      for (int64_t i = 0; i < columns; ++i) {
        const double value = x[static_cast<size_t>(i)];
        const int64_t group = mode.grouped ? GroupOf(call, of[half][0]) : columns;
        const int64_t at =
            ((slot / slots * (columns / group) + i / group) * slots + slot % slots) * group + i % group;
        const auto number = [i](const Numbers& numbers) { return numbers[numbers.size() == 1 ? 0 : i]; };
        own[static_cast<size_t>(at)] =
            cache.dtype == ACL_INT8
                ? Int8Element(value * number(scale) + (offset.is_given() ? number(offset) : 0))
                : Encoded(cache.dtype, value);
      }
    }
    out.push_back(own);
    plain.push_back(rows);
  }
  out.insert(out.end(), plain.begin(), plain.end());
  return out;
}

OperatorSpec Kv(const CFunction& function, bool is_v2) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("kv", {2, 1, 3, 12}, ACL_FLOAT16),
              TensorArg("gamma", {8}, ACL_FLOAT16),
              TensorArg("cos", {2, 1, 3, 4}, ACL_FLOAT16),
              TensorArg("sin", {2, 1, 3, 4}, ACL_FLOAT16),
              DistinctArg("index", {2, 3}, ACL_INT64),
              OutputArg("kCacheRef", {2, 1, 5, 4}, ACL_FLOAT16),
              OutputArg("ckvCacheRef", {2, 1, 5, 8}, ACL_FLOAT16),
              TensorArg("kRopeScaleOptional", {4}),
              TensorArg("ckvScaleOptional", {8}),
              TensorArg("kRopeOffsetOptional", {4}),
              TensorArg("cKvOffsetOptional", {1})};
  if (is_v2) {
    op.valid.push_back(TensorArg("vOptional", {2, 1, 3, 8}, ACL_FLOAT16));
    op.valid.back().null = true;
  }
  for (const PlanArgument& one :
       {RealArg("epsilon", 1e-5), TextArg("cacheModeOptional", "Norm"), IntegerArg("isOutputKv", 1),
        OutputArg("kRopeOut", {2, 1, 3, 4}, ACL_FLOAT16), OutputArg("cKvOut", {2, 1, 3, 8}, ACL_FLOAT16)})
    op.valid.push_back(one);
  op.takes_workspace = true;
  op.updates = true;
  op.tolerance = 1e-5;
  op.rules = {NoNulls("kv gamma cos sin index kCacheRef ckvCacheRef kRopeOut cKvOut"),
              DtypeIn("kv", {{}, kHalves}),
              SameDtype("kv", "gamma"),
              SameDtype("kv", "cos"),
              SameDtype("kv", "sin"),
              DtypeIn("index", kInt64Alone),
              OrInt8("kCacheRef", "kv"),
              OrInt8("ckvCacheRef", "kv"),
              IsOptionalFloat("kRopeScaleOptional"),
              IsOptionalFloat("ckvScaleOptional"),
              IsOptionalFloat("kRopeOffsetOptional"),
              IsOptionalFloat("cKvOffsetOptional")};
  if (is_v2) op.rules.push_back(Given("vOptional", SameDtype("kv", "vOptional")));
  op.rules.push_back(SameDtype("kv", "kRopeOut"));
  op.rules.push_back(SameDtype("kv", "cKvOut"));
  op.rules.push_back(Refuses(kTiling, "", [=](PlanCall& call) { return KvIsWrong(call, is_v2); }));
  op.rules.push_back(DoneIfEmpty("kv"));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const Mode& mode = kModes[random.Below(std::size(kModes))];
    call["cacheModeOptional"].text = mode.name;
    const DtypeNumber dtype = random.Chance(50) ? ACL_FLOAT16 : ACL_BF16;
    const bool has_v = is_v2 && random.Chance(50);
    const int64_t unit = mode.grouped ? 32 : 2;
    const int64_t batches = random.Between(1, 3);
    const int64_t steps = random.Between(1, mode.by_page && random.Chance(30) ? 40 : 4);
    const int64_t turned = unit * random.Between(1, mode.grouped ? 2 : 6);
    const int64_t gamma = has_v ? std::max<int64_t>(turned, unit * random.Between(1, 3))
                                : unit * random.Between(1, random.Chance(10) ? 12 : 3);
    int64_t width[] = {has_v ? gamma : turned, gamma};
    for (const char* name : {"kv", "gamma", "cos", "sin", "kRopeOut", "cKvOut"}) call[name].dtype = dtype;
    call["kv"].shape = {batches, 1, steps, has_v ? gamma : gamma + turned};
    call["gamma"].shape = {gamma};
    call["cos"].shape = call["sin"].shape = {batches, 1, random.Chance(50) ? 1 : steps, turned};
    if (is_v2) {
      width[1] = has_v ? unit * random.Between(1, 3) : gamma;
      call["vOptional"].null = !has_v;
      call["vOptional"].dtype = dtype;
      call["vOptional"].shape = {batches, 1, steps, width[1]};
    }
    const int64_t blocks = random.Between(1, 3);
    const int64_t slots =
        mode.paged ? 32 * random.Between(random.Chance(10) ? 0 : 1, 2) : random.Between(0, 6);
    int half = 0;
    for (const char* name : {"kCacheRef", "ckvCacheRef"}) {
      call[name].dtype = random.Chance(50) ? DtypeNumber{ACL_INT8} : dtype;
      call[name].shape =
          mode.paged ? Shape{blocks, slots, 1, width[half]} : Shape{batches, 1, slots, width[half]};
      ++half;
    }
    if (!mode.paged && random.Chance(40)) ++call["ckvCacheRef"].shape[2];
    call["index"].shape =
        !mode.paged ? Shape{batches, steps}
        : mode.by_page
            ? Shape{batches * ((steps + std::max<int64_t>(slots, 1) - 1) / std::max<int64_t>(slots, 1))}
            : Shape{batches * steps};
    half = 0;
    for (const char* name : {"kRopeScaleOptional", "ckvScaleOptional"})
      call[name].shape = random.Chance(30) ? Shape{1} : Shape{1, width[half++ % 2]};
    half = 0;
    for (const char* name : {"kRopeOffsetOptional", "cKvOffsetOptional"}) {
      call[name].shape = {width[half++]};
      call[name].null = random.Chance(50);
    }
    call["ckvScaleOptional"].shape = {width[1]};
    call["isOutputKv"].integer = random.Below(2);
    call["kRopeOut"].shape = {batches, 1, steps, width[0]};
    call["cKvOut"].shape = {batches, 1, steps, width[1]};
    if (call["isOutputKv"].integer == 0 && random.Chance(50))
      call["kRopeOut"].shape = call["cKvOut"].shape = {1};
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      const PlanArgument& one = *TensorsOf(call)[i];
      if (one.null || one.is_output) continue;
      if (one.name == "index") {
        const Shape& cache = call["kCacheRef"].shape;
        SetIntegers(tensors[i], -2, (ModeOf(call)->paged ? cache[0] * cache[1] : cache[2]) + 2, random);
      } else if (one.name.find("Scale") != std::string::npos) {
        SetScales(tensors[i], random);
      } else {
        SetNumbers(tensors[i], random);
      }
    }
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    return KvOracle(call, tensors, is_v2);
  };
  return op;
}

// ---- QkvRmsNormRopeCache ----

OperatorSpec Qkv() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnQkvRmsNormRopeCache);
  op.valid = {TensorArg("qkv", {6, 128}, ACL_FLOAT16),
              TensorArg("qGamma", {32}, ACL_FLOAT16),
              TensorArg("kGamma", {32}, ACL_FLOAT16),
              TensorArg("cos", {6, 32}, ACL_FLOAT16),
              TensorArg("sin", {6, 32}, ACL_FLOAT16),
              DistinctArg("index", {6}, ACL_INT64),
              OutputArg("qOut", {6, 64}, ACL_FLOAT16),
              OutputArg("kCache", {2, 1, 5, 32}, ACL_INT8),
              OutputArg("vCache", {2, 2, 5, 16}, ACL_FLOAT16),
              TensorArg("kScaleOptional", {1, 32}),
              TensorArg("vScaleOptional", {1, 32}),
              TensorArg("kOffsetOptional", {1, 32}),
              TensorArg("vOffsetOptional", {1, 32}),
              ArrayArg("qkvSize", {2, 3, 4, 32}),
              ArrayArg("headNums", {2, 1, 1}),
              RealArg("epsilon", 1e-6),
              TextArg("cacheModeOptional", "PA_NZ"),
              OutputArg("qOutBeforeQuant", {6, 64}, ACL_FLOAT16),
              OutputArg("kOutBeforeQuant", {6, 32}, ACL_FLOAT16),
              OutputArg("vOutBeforeQuant", {6, 32}, ACL_FLOAT16)};
  op.takes_workspace = true;
  op.updates = true;
  op.tolerance = 1e-5;
  op.rules = {
      NoNulls("qkv qGamma kGamma cos sin index qOut kCache vCache qkvSize headNums"),
      DtypeIn("qkv", {{}, kHalves}),
      SameDtype("qkv", "qGamma"),
      SameDtype("qkv", "kGamma"),
      SameDtype("qkv", "cos"),
      SameDtype("qkv", "sin"),
      DtypeIn("index", kInt64Alone),
      SameDtype("qkv", "qOut"),
      OrInt8("kCache", "qkv"),
      OrInt8("vCache", "qkv"),
      IsOptionalFloat("kScaleOptional"),
      IsOptionalFloat("vScaleOptional"),
      IsOptionalFloat("kOffsetOptional"),
      IsOptionalFloat("vOffsetOptional"),
      Given("qOutBeforeQuant", SameDtype("qkv", "qOutBeforeQuant")),
      Given("kOutBeforeQuant", SameDtype("qkv", "kOutBeforeQuant")),
      Given("vOutBeforeQuant", SameDtype("qkv", "vOutBeforeQuant")),
      Refuses(
          kTiling, "",
          [](PlanCall& call) {
            if (!call["cacheModeOptional"].null && call["cacheModeOptional"].text != "PA_NZ") return true;
            const std::vector<int64_t>& size = call["qkvSize"].values;
            const std::vector<int64_t>& heads = call["headNums"].values;
            if (size.size() != 4 || heads.size() != 3) return true;
            for (const int64_t one : size) {
              if (one < 0 || one > 1 << 20) return true;
            }
            for (const int64_t one : heads) {
              if (one <= 0 || one > 1 << 20) return true;
            }
            const int64_t rows = size[0] * size[1];
            const int64_t width = size[3];
            if (size[2] != heads[0] + heads[1] + heads[2] || width <= 0 || width % 2 != 0) return true;
            const Shape& cos = call["cos"].shape;
            if (call["qkv"].shape != Shape{rows, size[2] * width} || call["qGamma"].shape != Shape{width} ||
                call["kGamma"].shape != Shape{width} || cos.size() != 2 || cos[1] != width ||
                (cos[0] != rows && cos[0] != size[0]) || call["sin"].shape != cos ||
                call["index"].shape != Shape{rows} || call["qOut"].shape != Shape{rows, heads[0] * width})
              return true;
            const char* const of[][3] = {{"kCache", "kScaleOptional", "kOffsetOptional"},
                                         {"vCache", "vScaleOptional", "vOffsetOptional"}};
            for (size_t half = 0; half < 2; ++half) {
              const Shape& cache = call[of[half][0]].shape;
              const int64_t group = GroupOf(call, of[half][0]);
              const int64_t columns = heads[1 + half] * width;
              if (cache.size() != 4 || columns % group != 0 || cache[1] != columns / group ||
                  cache[3] != group)
                return true;
              if (call[of[half][0]].dtype != ACL_INT8) continue;
              const Shape scales = {heads[1 + half], width};
              if (call[of[half][1]].null || call[of[half][1]].shape != scales) return true;
              if (!call[of[half][2]].null && call[of[half][2]].shape != scales) return true;
            }
            if (call["kCache"].shape[0] != call["vCache"].shape[0] ||
                call["kCache"].shape[2] != call["vCache"].shape[2])
              return true;
            const char* const before[] = {"qOutBeforeQuant", "kOutBeforeQuant", "vOutBeforeQuant"};
            for (size_t part = 0; part < 3; ++part) {
              if (!call[before[part]].null && call[before[part]].shape != Shape{rows, heads[part] * width})
                return true;
            }
            return false;
          }),
      DoneIfEmpty("qkv")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const DtypeNumber dtype = random.Chance(50) ? ACL_FLOAT16 : ACL_BF16;
    const int64_t batches = random.Between(1, 3);
    const int64_t steps = random.Between(1, 3);
    const int64_t width = 32 * random.Between(1, 2);
    const std::vector<int64_t> heads = {random.Between(1, 3), random.Between(1, 2), random.Between(1, 2)};
    const int64_t rows = batches * steps;
    for (const char* name : {"qkv", "qGamma", "kGamma", "cos", "sin", "qOut", "qOutBeforeQuant",
                             "kOutBeforeQuant", "vOutBeforeQuant"})
      call[name].dtype = dtype;
    call["qkvSize"].values = {batches, steps, heads[0] + heads[1] + heads[2], width};
    call["headNums"].values = heads;
    call["qkv"].shape = {rows, (heads[0] + heads[1] + heads[2]) * width};
    call["qGamma"].shape = call["kGamma"].shape = {width};
    call["cos"].shape = call["sin"].shape = {random.Chance(50) ? rows : batches, width};
    call["index"].shape = {rows};
    call["qOut"].shape = call["qOutBeforeQuant"].shape = {rows, heads[0] * width};
    call["kOutBeforeQuant"].shape = {rows, heads[1] * width};
    call["vOutBeforeQuant"].shape = {rows, heads[2] * width};
    for (const char* name : {"qOutBeforeQuant", "kOutBeforeQuant", "vOutBeforeQuant"})
      call[name].null = random.Chance(50);
    const int64_t blocks = random.Between(1, 3);
    const int64_t slots = random.Between(0, 5);
    const char* const of[][3] = {{"kCache", "kScaleOptional", "kOffsetOptional"},
                                 {"vCache", "vScaleOptional", "vOffsetOptional"}};
    for (size_t half = 0; half < 2; ++half) {
      PlanArgument& cache = call[of[half][0]];
      cache.dtype = random.Chance(50) ? DtypeNumber{ACL_INT8} : dtype;
      const int64_t group = GroupOf(call, of[half][0]);
      cache.shape = {blocks, heads[1 + half] * width / group, slots, group};
      call[of[half][1]].shape = call[of[half][2]].shape = {heads[1 + half], width};
      call[of[half][2]].null = random.Chance(50);
    }
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      const PlanArgument& one = *TensorsOf(call)[i];
      if (one.null || one.is_output) continue;
      const Shape& cache = call["kCache"].shape;
      if (one.name == "index") {
        SetIntegers(tensors[i], -2, cache[0] * cache[2] + 2, random);
      } else if (one.name.find("Scale") != std::string::npos) {
        SetScales(tensors[i], random);
      } else {
        SetNumbers(tensors[i], random);
      }
    }
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers qkv(call, tensors, "qkv");
    const Numbers cos(call, tensors, "cos");
    const Numbers sin(call, tensors, "sin");
    const Numbers index(call, tensors, "index");
    const std::vector<int64_t>& size = call["qkvSize"].values;
    const std::vector<int64_t>& heads = call["headNums"].values;
    const int64_t rows = size[0] * size[1];
    const int64_t width = size[3];
    int64_t first = 0;
    std::vector<Outcome> plain;
    std::vector<Outcome> caches;
    for (size_t part = 0; part < 3; ++part) {
      const std::string name = part == 1 ? "k" : "v";
      const Numbers gamma(call, tensors, part == 0 ? "qGamma" : "kGamma");
      Outcome own;
      std::vector<Row> made;
      for (int64_t row = 0; row < rows; ++row) {
        Row all;
        const int64_t angle = (cos.shape()[0] == rows ? row : row / size[1]) * width;
        for (int64_t head = 0; head < heads[part]; ++head) {
          Row x = RowOf(qkv, row * qkv.shape()[1] + first + head * width, width);
          if (part < 2)
            x = Turned(Normed(x, gamma, call["epsilon"].real), RowOf(cos, angle, width),
                       RowOf(sin, angle, width), false, ACL_FLOAT);
          all.insert(all.end(), x.begin(), x.end());
        }
        for (const double one : all) own.emplace_back(Encoded(qkv.dtype(), one));
        made.push_back(all);
      }
      first += heads[part] * width;
      plain.push_back(own);
      if (part == 0) continue;
      const PlanArgument& cache = call[name + "Cache"];
      const Numbers scale(call, tensors, name + "ScaleOptional");
      const Numbers offset(call, tensors, name + "OffsetOptional");
      Outcome of_cache(static_cast<size_t>(NumElements(cache.shape)));
      const int64_t slots = cache.shape[2];
      const int64_t group = cache.shape[3];
      for (int64_t row = 0; row < rows; ++row) {
        const int64_t slot = index.Integer(row);
        if (slot < 0 || slot >= slots * cache.shape[0]) continue;
        for (int64_t i = 0; i < heads[part] * width; ++i) {
          const double value = made[static_cast<size_t>(row)][static_cast<size_t>(i)];
          const int64_t at =
              ((slot / slots * cache.shape[1] + i / group) * slots + slot % slots) * group + i % group;
          of_cache[static_cast<size_t>(at)] =
              cache.dtype == ACL_INT8 ? Int8Element(value / scale[i] + (offset.is_given() ? offset[i] : 0))
                                      : Encoded(cache.dtype, value);
        }
      }
      caches.push_back(of_cache);
    }
    return std::vector<Outcome>{plain[0], caches[0], caches[1], plain[0], plain[1], plain[2]};
  };
  return op;
}

// ---- DequantRopeQuantKvcache ----

bool IsPaged(const PlanCall& call) {
  if (call["cacheModeOptional"].null) return false;
  std::string text = call["cacheModeOptional"].text;
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text == "page";
}
int64_t RowsOf(const PlanCall& call) {
  const Shape& x = call["x"].shape;
  return NumElements(Shape(x.begin(), x.end() - 1));
}

OperatorSpec Dequant() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnDequantRopeQuantKvcache);
  op.valid = {TensorArg("x", {2, 3, 64}, ACL_INT32),
              TensorArg("cos", {2, 3, 1, 16}, ACL_FLOAT16),
              TensorArg("sin", {2, 3, 1, 16}, ACL_FLOAT16),
              OutputArg("kCacheRef", {2, 5, 1, 16}, ACL_INT8),
              OutputArg("vCacheRef", {2, 5, 1, 16}, ACL_INT8),
              DistinctArg("indices", {2}, ACL_INT32),
              TensorArg("scaleK", {16}),
              TensorArg("scaleV", {16}),
              TensorArg("offsetKOptional", {16}),
              TensorArg("offsetVOptional", {16}),
              TensorArg("weightScaleOptional", {64}),
              TensorArg("activationScaleOptional", {6}),
              TensorArg("biasOptional", {64}, ACL_INT32),
              ArrayArg("sizeSplits", {32, 16, 16}),
              TextArg("quantModeOptional", "static"),
              TextArg("layoutOptional", "BSND"),
              IntegerArg("kvOutput", 1),
              TextArg("cacheModeOptional", "contiguous"),
              OutputArg("qOut", {2, 3, 2, 16}, ACL_FLOAT16),
              OutputArg("kOut", {2, 3, 1, 16}, ACL_FLOAT16),
              OutputArg("vOut", {2, 3, 1, 16}, ACL_FLOAT16)};
  op.takes_workspace = true;
  op.updates = true;
  op.tolerance = 1e-5;
  const auto takes = [](const PlanCall& call, DtypeNumber dtype) {
    return IsOnA2OrA3(call) && (dtype == ACL_FLOAT16 || dtype == ACL_BF16 || dtype == ACL_INT32);
  };
  op.rules = {
      NoNulls("x cos sin kCacheRef vCacheRef indices scaleK scaleV qOut kOut vOut sizeSplits"),
      RefusedDtype("x", takes),
      DtypeIn("cos", {kHalves}),
      SameDtype("cos", "sin"),
      Refuses(161002, "x",
              [](PlanCall& call) {
                return call["x"].dtype != ACL_INT32 && call["x"].dtype != call["cos"].dtype;
              }),
      DtypeIn("kCacheRef", {{ACL_INT8}}),
      DtypeIn("vCacheRef", {{ACL_INT8}}),
      DtypeIn("indices", kInt32Alone),
      DtypeIn("scaleK", kFloatAlone),
      DtypeIn("scaleV", kFloatAlone),
      IsOptionalFloat("offsetKOptional"),
      IsOptionalFloat("offsetVOptional"),
      IsOptionalFloat("weightScaleOptional"),
      IsOptionalFloat("activationScaleOptional"),
      Given("biasOptional", DtypeIn("biasOptional", {{ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT32}})),
      SameDtype("cos", "qOut"),
      SameDtype("cos", "kOut"),
      SameDtype("cos", "vOut"),
      Refuses(kTiling, "",
              [](PlanCall& call) {
                const auto is_other = [&](const char* name, const char* text) {
                  return !call[name].null && call[name].text != text;
                };
                if (is_other("quantModeOptional", "static") || is_other("layoutOptional", "BSND"))
                  return true;
                if (!IsPaged(call) && is_other("cacheModeOptional", "contiguous")) return true;
                const std::vector<int64_t>& splits = call["sizeSplits"].values;
                if (splits.size() != 3 || splits[0] < 0 || splits[1] < 0 || splits[1] != splits[2])
                  return true;
                const Shape& x = call["x"].shape;
                if (x.size() < 2 || x.size() > 3) return true;
                const int64_t columns = x.back();
                if (columns <= 0 || columns % 64 != 0 || columns > 4096) return true;
                if (splits[0] + 2 * splits[1] != columns) return true;
                const Shape& cos = call["cos"].shape;
                if (cos.size() != (x.size() == 3 ? 4 : 2)) return true;
                const int64_t width = cos.back();
                if (width <= 0 || width % 16 != 0 || splits[0] % width != 0 || splits[1] % width != 0)
                  return true;
                if (cos != (x.size() == 3 ? Shape{x[0], x[1], 1, width} : Shape{x[0], width})) return true;
                if (call["sin"].shape != cos) return true;
                const Shape& cache = call["kCacheRef"].shape;
                if (cache.size() != 4 || cache[2] != splits[1] / width || cache[3] != width ||
                    call["vCacheRef"].shape != cache || (!IsPaged(call) && cache[0] != x[0]))
                  return true;
                if (call["indices"].shape != Shape{IsPaged(call) ? RowsOf(call) : x[0]}) return true;
                for (const char* name : {"scaleK", "scaleV", "offsetKOptional", "offsetVOptional"}) {
                  if (call[name].null) continue;
                  const int64_t count = NumElements(call[name].shape);
                  if (count == 0 || (count != width && count != splits[1])) return true;
                }
                if (call["x"].dtype == ACL_INT32) {
                  if (call["weightScaleOptional"].null || call["weightScaleOptional"].shape != Shape{columns})
                    return true;
                  if (!call["biasOptional"].null && call["biasOptional"].shape != Shape{columns}) return true;
                  if (!call["activationScaleOptional"].null &&
                      NumElements(call["activationScaleOptional"].shape) != RowsOf(call))
                    return true;
                }
                if (NumElements(call["qOut"].shape) != RowsOf(call) * splits[0]) return true;
                return call["kvOutput"].integer != 0 &&
                       (NumElements(call["kOut"].shape) != RowsOf(call) * splits[1] ||
                        NumElements(call["vOut"].shape) != RowsOf(call) * splits[1]);
              }),
      DoneIfEmpty("x")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const bool is_packed = random.Chance(40);
    const bool is_integer = random.Chance(50);
    const bool is_paged = random.Chance(50);
    const DtypeNumber dtype = random.Chance(50) ? ACL_FLOAT16 : ACL_BF16;
    const int64_t width = 16 * random.Between(1, 2);
    const int64_t heads = random.Between(1, 2) * (width == 16 ? 2 : 1);
    const int64_t queries = 64 * random.Between(1, 2);
    int64_t columns = queries + 2 * heads * width;
    const int64_t more = columns % 64 == 0 ? 0 : 64 - columns % 64;
    columns += more;
    const int64_t batches = random.Between(1, 3);
    const int64_t steps = is_packed ? 1 : random.Between(1, 3);
    const int64_t rows = batches * steps;
    call["x"].shape = is_packed ? Shape{batches, columns} : Shape{batches, steps, columns};
    call["x"].dtype = is_integer ? DtypeNumber{ACL_INT32} : dtype;
    call["cos"].shape = call["sin"].shape =
        is_packed ? Shape{batches, width} : Shape{batches, steps, 1, width};
    for (const char* name : {"cos", "sin", "qOut", "kOut", "vOut"}) call[name].dtype = dtype;
    call["sizeSplits"].values = {queries + more, heads * width, heads * width};
    call["cacheModeOptional"].text = is_paged ? (random.Chance(50) ? "page" : "Page") : "contiguous";
    call["kCacheRef"].shape = call["vCacheRef"].shape = {is_paged ? random.Between(1, 3) : batches,
                                                         random.Between(0, 5), heads, width};
    call["indices"].shape = {is_paged ? rows : batches};
    for (const char* name : {"scaleK", "scaleV", "offsetKOptional", "offsetVOptional"})
      call[name].shape = {random.Chance(50) ? width : heads * width};
    call["offsetKOptional"].null = random.Chance(30);
    call["offsetVOptional"].null = random.Chance(30);
    call["weightScaleOptional"].shape = call["biasOptional"].shape = {columns};
    call["activationScaleOptional"].shape = {rows};
    call["activationScaleOptional"].null = random.Chance(40);
    call["biasOptional"].null = random.Chance(40);
    call["biasOptional"].dtype = DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT32});
    call["kvOutput"].integer = random.Below(2);
    call["qOut"].shape = {rows, queries + more};
    call["kOut"].shape = call["vOut"].shape =
        call["kvOutput"].integer != 0 ? Shape{rows, heads * width} : Shape{0};
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      const PlanArgument& one = *TensorsOf(call)[i];
      if (one.null || one.is_output) continue;
      if (one.name == "indices") {
        const Shape& cache = call["kCacheRef"].shape;
        SetIntegers(tensors[i], -2, (IsPaged(call) ? cache[0] : 1) * cache[1] + 2, random);
      } else if (one.name == "x" && one.dtype == ACL_INT32) {
        SetIntegers(tensors[i], -3000, 3000, random);
      } else if (one.name == "biasOptional") {
        for (int64_t k = 0; k < tensors[i].size(); ++k) {
          if (one.dtype == ACL_INT32)
            EncodeIntegerElement(ACL_INT32, random.Between(-9, 9), tensors[i].Element(k));
          else
            tensors[i].Set(k, static_cast<double>(random.Between(-16, 16)) / 8);
        }
      } else if (one.name.find("cale") != std::string::npos) {
        const bool is_weight = one.name[0] == 'w' || one.name[0] == 'a';
        for (int64_t k = 0; k < tensors[i].size(); ++k)
          tensors[i].Set(k, is_weight ? std::ldexp(1.0, static_cast<int>(random.Between(-4, -2)))
                                      : static_cast<double>(random.Between(1, 9)) / 4 + 0.1875);
      } else {
        SetNumbers(tensors[i], random);
      }
    }
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const Numbers cos(call, tensors, "cos");
    const Numbers sin(call, tensors, "sin");
    const Numbers indices(call, tensors, "indices");
    const Numbers weight(call, tensors, "weightScaleOptional");
    const Numbers activation(call, tensors, "activationScaleOptional");
    const Numbers bias(call, tensors, "biasOptional");
    const std::vector<int64_t>& splits = call["sizeSplits"].values;
    const int64_t rows = RowsOf(call);
    const int64_t columns = x.shape().back();
    const int64_t width = cos.shape().back();
    const DtypeNumber dtype = cos.dtype();
    const Shape& cache = call["kCacheRef"].shape;
    std::vector<Outcome> plain(3);
    std::vector<Outcome> caches;
    int64_t first = 0;
    for (size_t part = 0; part < 3; ++part) {
      const std::string name = part == 1 ? "K" : "V";
      const bool has_offsets = !call["offsetKOptional"].null && !call["offsetVOptional"].null;
      const Numbers scale(call, tensors, "scale" + name);
      const Numbers offset(call, tensors, "offset" + name + "Optional");
      Outcome of_cache(static_cast<size_t>(NumElements(cache)));
      for (int64_t row = 0; row < rows; ++row) {
        Row all;
        for (int64_t i = first; i < first + splits[part]; ++i) {
          double value = 0;
          if (x.dtype() != ACL_INT32) {
            value = x[row * columns + i];
          } else {
            const bool before = bias.is_given() && bias.dtype() == ACL_INT32;
            value = static_cast<double>(x.Integer(row * columns + i) + (before ? bias.Integer(i) : 0)) *
                    weight[i];
            if (activation.is_given()) value *= activation[row];
            if (bias.is_given() && !before) value += bias[i];
          }
          all.push_back(value);
        }
        for (int64_t head = 0; part < 2 && head < splits[part] / width; ++head) {
          Row own(all.begin() + head * width, all.begin() + (head + 1) * width);
          own = Turned(own, RowOf(cos, row * width, width), RowOf(sin, row * width, width), false, dtype);
          std::copy(own.begin(), own.end(), all.begin() + head * width);
        }
        for (const double one : all) plain[part].emplace_back(Encoded(dtype, one));
        if (part == 0) continue;
        const int64_t steps = x.shape().size() == 3 ? x.shape()[1] : 1;
        int64_t slot = 0;
        if (IsPaged(call)) {
          slot = indices.Integer(row);
        } else {
          slot = indices.Integer(row / steps) + row % steps;
          slot = slot < 0 || slot >= cache[1] ? -1 : slot + row / steps * cache[1];
        }
        if (slot < 0 || slot >= cache[0] * cache[1]) continue;
        for (int64_t i = 0; i < splits[part]; ++i) {
          const double value = all[static_cast<size_t>(i)] / scale[i % scale.size()];
          of_cache[static_cast<size_t>(slot * splits[part] + i)] =
              Int8Element(value + (has_offsets ? offset[i % offset.size()] : 0));
        }
      }
      first += splits[part];
      if (part > 0) caches.push_back(of_cache);
    }
    if (call["kvOutput"].integer == 0) plain[1] = plain[2] = {};
    return std::vector<Outcome>{caches[0], caches[1], plain[0], plain[1], plain[2]};
  };
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {Kv(PORTACL_C_FUNCTION(aclnnKvRmsNormRopeCache), false),
                                                Kv(PORTACL_C_FUNCTION(aclnnKvRmsNormRopeCacheV2), true),
                                                Qkv(), Dequant()};
  return all;
}

PORTACL_OPERATOR_TESTS(NormRope, Operators());

}  // namespace
}  // namespace portacl::testing
