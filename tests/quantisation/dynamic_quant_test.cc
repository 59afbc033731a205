// aclnnDynamicQuant and its later forms: checks, codes and scales against their definitions, step by step in float32, and calls by hand.
// SPDX-License-Identifier: Apache-2.0
#include "quant_calls.h"

namespace portacl::testing {
namespace {

struct Form {
  int version;
  bool HasGroups() const { return version >= 2; }
  bool HasModes() const { return version >= 3; }
};

const char* const kSmooth = "smoothScalesOptional";
const char* const kGroup = "groupIndexOptional";

std::string ModeOf(const PlanCall& call, Form form) {
  return form.HasModes() ? call["quantMode"].text : "pertoken";
}
bool IsGiven(const PlanCall& call, Form form, const std::string& name) {
  if ((name == kGroup || name == "offsetOut") && !form.HasGroups()) return false;
  return !call[name].null;
}
Shape ScaleShape(const PlanCall& call, Form form) {
  Shape shape = call["x"].shape;
  const std::string mode = ModeOf(call, form);
  if (mode == "pertensor") return {1};
  shape.erase(mode == "perchannel" ? shape.end() - 2 : shape.end() - 1);
  return shape;
}

OperatorSpec Dynamic(const CFunction& function, int version) {
  const Form form{version};
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("x", {2, 8}, ACL_FLOAT16), TensorArg(kSmooth, {8}, ACL_FLOAT16)};
  if (form.HasGroups()) {
    op.valid.push_back(TensorArg(kGroup, {2}, ACL_INT32));
    op.valid.back().null = true;
    op.valid.push_back(IntegerArg("dstType", 2));
  }
  if (form.HasModes()) {
    op.valid.push_back(IntegerArg("isSymmetrical", 0));
    op.valid.push_back(TextArg("quantMode", "pertoken"));
  }
  if (version == 4) op.valid.push_back(RealArg("dstTypeMax", 0));
  op.valid.push_back(OutputArg("yOut", {2, 8}, ACL_INT8));
  op.valid.push_back(OutputArg("scaleOut", {2}));
  if (form.HasGroups()) op.valid.push_back(OutputArg("offsetOut", {2}));
  op.takes_workspace = true;
  if (form.HasModes()) op.numbers_on = Product::k950;
  if (form.HasModes()) op.rules.push_back(Refuses(561000, "", [](PlanCall& call) { return !IsOn950(call); }));
  op.rules.push_back(NoNulls("x yOut scaleOut"));
  if (form.HasModes()) {
    op.rules.push_back(Refuses(161002, "isSymmetrical", [](PlanCall& call) {
      return (call["isSymmetrical"].integer != 0) != call["offsetOut"].null;
    }));
    op.rules.push_back([](PlanCall& call) -> std::optional<Verdict> {
      if (!call["quantMode"].null) return std::nullopt;
      return Verdict{161002, {"parameter quantMode is null, accepted: pertoken, pertensor or perchannel."}};
    });
    op.rules.push_back(Refuses(161002, "quantMode", [=](PlanCall& call) {
      const std::string mode = ModeOf(call, form);
      return (mode != "pertoken" && mode != "pertensor" && mode != "perchannel") ||
             (mode == "perchannel" && !call[kGroup].null);
    }));
  }
  op.rules.push_back(RefusedDtype("x", [](const PlanCall& call, DtypeNumber dtype) {
    return dtype == ACL_FLOAT16 || (dtype == ACL_BF16 && IsSinceA2(call));
  }));
  op.rules.push_back(Given(kSmooth, SameDtype("x", kSmooth)));
  if (form.HasGroups())
    op.rules.push_back(Refuses(161002, kGroup, [](PlanCall& call) {
      return !call[kSmooth].null && !call[kGroup].null && call[kGroup].dtype != ACL_INT32 &&
             call[kGroup].dtype != ACL_INT64;
    }));
  op.rules.push_back(RefusedDtype("yOut", IsOneOfCodes));
  op.rules.push_back(DtypeIn("scaleOut", kFloatAlone));
  if (form.HasGroups()) op.rules.push_back(Given("offsetOut", DtypeIn("offsetOut", kFloatAlone)));
  op.rules.push_back(Refuses(161002, "", [=](PlanCall& call) {
    const Shape& x = call["x"].shape;
    if (x.size() < 2 || x.size() > 8) return true;
    const bool has_groups = IsGiven(call, form, kGroup);
    if (!call[kSmooth].null) {
      if (has_groups
              ? call[kGroup].shape.size() != 1
              : call[kSmooth].shape != Shape{x[x.size() - (ModeOf(call, form) == "perchannel" ? 2 : 1)]})
        return true;
    }
    if (!IsShapeOfCodes(x, call["yOut"]) || call["scaleOut"].shape != ScaleShape(call, form)) return true;
    return IsGiven(call, form, "offsetOut") && call["offsetOut"].shape != ScaleShape(call, form);
  }));
  for (const char* const name : {"x", "yOut", "scaleOut"}) op.rules.push_back(DoneIfEmpty(name));
  op.rules.push_back(Refuses(561002, "", [=](PlanCall& call) {
    const Shape& x = call["x"].shape;
    if (!call[kSmooth].null && IsGiven(call, form, kGroup)) {
      const int64_t groups = call[kGroup].shape[0];
      if (groups < 1 || groups > 1024 || call[kSmooth].shape != Shape{groups, x.back()}) return true;
    }
    if (call.product == Product::k310P && x.back() % 32 != 0) return true;
    if (ModeOf(call, form) == "perchannel" && CodeDtype(call["yOut"].dtype) == ACL_INT4) return true;
    return false;
  }));
  if (version == 4) {
    op.rules.push_back([](PlanCall& call) -> std::optional<Verdict> {
      const auto most = static_cast<int>(call["dstTypeMax"].real);
      if (most >= 0 && most <= 32768) return std::nullopt;
      return Verdict{561002, {"parameter dstTypeMax is " + std::to_string(most) + ", accepted: 0 to 32768."}};
    });
  }
  op.rules.push_back(Refuses(561103, "yOut", [](PlanCall&) { return false; }));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const int64_t rows = random.Between(1, 6);
    DtypeNumber y = ACL_INT8;
    if (random.Chance(25)) y = ACL_INT32;
    if (IsOn950(call) && random.Chance(50))
      y = DrawDtype(random, {ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN});
    const int64_t columns = y == ACL_INT32 ? 8 * random.Between(1, 3) : DrawColumns(random);
    const DtypeNumber dtype = DrawDtype(random, kHalfDtypes);
    Shape x = {rows, columns};
    if (random.Chance(30)) x.insert(x.begin(), random.Between(1, 3));
    call["x"] = TensorArg("x", x, dtype);
    if (form.HasModes()) {
      call["quantMode"].text = random.Chance(34)   ? "pertensor"
                               : random.Chance(50) ? "perchannel"
                                                   : "pertoken";
      if (y == ACL_INT32 && call["quantMode"].text == "perchannel") call["quantMode"].text = "pertoken";
    }
    const bool by_channel = ModeOf(call, form) == "perchannel";
    call[kSmooth] = TensorArg(kSmooth, {by_channel ? rows : columns}, dtype);
    call[kSmooth].null = random.Chance(40);
    Shape codes = x;
    if (y == ACL_INT32) codes.back() /= 8;
    call["yOut"] = OutputArg("yOut", codes, y);
    call["scaleOut"] = OutputArg("scaleOut", ScaleShape(call, form));
    if (!form.HasGroups()) return;
    const bool has_offset = random.Chance(50);
    call["offsetOut"] = OutputArg("offsetOut", ScaleShape(call, form));
    call["offsetOut"].null = !has_offset;
    if (form.HasModes()) call["isSymmetrical"].integer = !has_offset;
    if (form.version == 4) call["dstTypeMax"].real = random.Chance(5) ? 40000 : random.Chance(50) ? 0 : 56;
    call[kGroup].null = by_channel || random.Chance(50);
    const int64_t groups = random.Between(1, 4);
    call[kGroup] = [&] {
      PlanArgument argument = TensorArg(kGroup, {groups}, random.Chance(50) ? ACL_INT32 : ACL_INT64);
      argument.null = call[kGroup].null;
      return argument;
    }();
    if (!call[kGroup].null && !call[kSmooth].null) call[kSmooth].shape = {groups, columns};
  };
  op.fill = [=](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetNumbers(tensors[0], random, random.Chance(20) ? 10 : 0);
    const int64_t columns = call["x"].shape.empty() ? 1 : call["x"].shape.back();
    for (int64_t h = 0; random.Chance(20) && h < std::min(columns, tensors[0].size()); ++h)
      tensors[0].Set(h, 0);
    SetNumbers(tensors[1], random);
    if (!form.HasGroups()) return;
    int64_t end = 0;
    HostTensor& group = tensors[2];
    for (int64_t i = 0; i < group.size(); ++i) {
      end += random.Between(0, 3);
      EncodeIntegerElement(group.dtype(), end, group.Element(i));
    }
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const Numbers smooth(call, tensors, kSmooth);
    const DtypeNumber dtype = CodeDtype(call["yOut"].dtype);
    const std::string mode = ModeOf(call, form);
    const Shape& shape = x.shape();
    const int64_t columns = shape.back();
    const int64_t channel = shape[shape.size() - 2];
    const int64_t rows = x.size() / columns;
    const bool has_offset = IsGiven(call, form, "offsetOut");
    const bool has_groups = smooth.is_given() && IsGiven(call, form, kGroup);
    const bool is_950 = IsOn950(call);
    float most = GreatestCode(dtype);
    if (version == 4 && dtype == ACL_HIFLOAT8 && call["dstTypeMax"].real != 0)
      most = static_cast<float>(call["dstTypeMax"].real);
    // Which of the rows, columns or all the elements are of, and what they are times their factor.
    std::vector<std::vector<int64_t>> sets;
    if (mode == "pertoken") {
      for (int64_t row = 0; row < rows; ++row) {
        sets.emplace_back();
        for (int64_t h = 0; h < columns; ++h) sets.back().push_back(row * columns + h);
      }
    } else if (mode == "perchannel") {
      for (int64_t batch = 0; batch < rows / channel; ++batch) {
        for (int64_t h = 0; h < columns; ++h) {
          sets.emplace_back();
          for (int64_t m = 0; m < channel; ++m) sets.back().push_back((batch * channel + m) * columns + h);
        }
      }
    } else {
      sets.emplace_back();
      for (int64_t i = 0; i < x.size(); ++i) sets.back().push_back(i);
    }
    const auto group_of = [&](int64_t row) -> int64_t {
      if (!has_groups) return 0;
      const Numbers ends(call, tensors, kGroup);
      for (int64_t g = 0; g < ends.size(); ++g) {
        if (row < ends.Integer(g)) return g;
      }
      return -1;
    };
    std::vector<std::optional<uint32_t>> codes(static_cast<size_t>(x.size()));
    Outcome scales;
    Outcome offsets;
    for (const std::vector<int64_t>& set : sets) {
      std::vector<float> numbers;
      std::vector<int64_t> places;
      for (const int64_t i : set) {
        const int64_t group = group_of(i / columns);
        if (group < 0) continue;
        float t = FloatAt(x, i);
        if (smooth.is_given()) {
          const int64_t place = mode == "perchannel" ? i / columns % channel : group * columns + i % columns;
          t = t * FloatAt(smooth, place);
        }
        numbers.push_back(t);
        places.push_back(i);
      }
      const RowCodes row = DynamicRow(numbers, dtype, is_950, has_offset, most);
      for (size_t k = 0; k < places.size(); ++k) codes[static_cast<size_t>(places[k])] = row.codes[k];
      const bool is_written = mode == "pertensor" ? group_of(0) >= 0 : !places.empty();
      scales.push_back(is_written ? std::optional(Encoded(ACL_FLOAT, static_cast<double>(row.scale)))
                                  : std::nullopt);
      offsets.push_back(is_written ? std::optional(Encoded(ACL_FLOAT, static_cast<double>(row.offset)))
                                   : std::nullopt);
    }
    std::vector<Outcome> outcomes = {OutcomeOfCodes(call["yOut"].dtype, codes), scales};
    if (form.HasGroups()) outcomes.push_back(has_offset ? offsets : Outcome());
    return outcomes;
  };
  return op;
}

const std::vector<OperatorSpec>& All() {
  static const std::vector<OperatorSpec> all = {Dynamic(PORTACL_C_FUNCTION(aclnnDynamicQuant), 1),
                                                Dynamic(PORTACL_C_FUNCTION(aclnnDynamicQuantV2), 2),
                                                Dynamic(PORTACL_C_FUNCTION(aclnnDynamicQuantV3), 3),
                                                Dynamic(PORTACL_C_FUNCTION(aclnnDynamicQuantV4), 4)};
  return all;
}
PORTACL_OPERATOR_TESTS(DynamicQuantTest, All());

// Rows as INT4: two in a byte, the first in its low half.
TEST(DynamicQuantByHand, PackedByTwo) {
  const ScopedEnvironment environment({});
  Made made;
  const uint16_t x[] = {0x4700, 0xC700, 0x3C00, 0x0000};  // 7 -7 1 0 of FLOAT16
  uint8_t codes[] = {0xEE, 0xEE, 0xEE};
  float scale[] = {-1.0f};
  GuardedBuffer device_x(sizeof x);
  GuardedBuffer device_y(2);
  GuardedBuffer device_scale(sizeof scale);
  std::memcpy(device_x.device(), x, sizeof x);
  aclTensor* const from = made.Dense({1, 4}, ACL_FLOAT16, device_x.device());
  aclTensor* const to = made.Dense({1, 4}, ACL_INT4, device_y.device());
  aclTensor* const step = made.Dense({1}, ACL_FLOAT, device_scale.device());
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnDynamicQuantGetWorkspaceSize(from, nullptr, to, step, &size, &executor), 0)
      << TakeErrorMessage();
  ASSERT_EQ(RunAndWait(environment, aclnnDynamicQuant, size, executor), 0);
  std::memcpy(codes, device_y.device(), 2);
  std::memcpy(scale, device_scale.device(), sizeof scale);
  EXPECT_EQ(codes[0], 0x97);
  EXPECT_EQ(codes[1], 0x01);
  EXPECT_EQ(scale[0], 1.0f);
  // From an odd element on there are no whole bytes.
  const Shape shape = {1, 2};
  const Shape strides = {2, 1};
  aclTensor* const odd = aclCreateTensor(shape.data(), 2, ACL_INT4, strides.data(), 1, ACL_FORMAT_ND,
                                         shape.data(), 2, device_y.device());
  aclTensor* const two = made.Dense({1, 2}, ACL_FLOAT16, device_x.device());
  EXPECT_EQ(aclnnDynamicQuantGetWorkspaceSize(two, nullptr, odd, step, &size, &executor), 561103);
  ExpectMessage("yOut");
  aclDestroyTensor(odd);
}

}  // namespace
}  // namespace portacl::testing
