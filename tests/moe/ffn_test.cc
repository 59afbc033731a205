// Two products with an activation between them, whose rows may be cut among experts.
// SPDX-License-Identifier: Apache-2.0
#include "moe_calls.h"

namespace portacl::testing {
namespace {

const DtypeList kHalves = {ACL_FLOAT16, ACL_BF16};
const std::vector<std::string> kActivations = {"relu",  "gelu",   "fastgelu", "silu",
                                               "geglu", "swiglu", "reglu"};

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}
double Activated(const std::string& name, double x) {
  if (name == "relu") return std::max(x, 0.0);
  if (name == "fastgelu") return x / (1 + std::exp(-1.702 * x));
  if (name == "silu") return x / (1 + std::exp(-x));
  return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
}
double Rounded(DtypeNumber dtype, double x) { return DecodeReal(dtype, Encoded(dtype, x).data()); }

bool Has(const PlanCall& call, const std::string& name) {
  return !call[name].null && NumElements(call[name].shape) > 0 && !call[name].shape.empty();
}
std::string Numbered(const char* name, int i) {
  return std::string(name) + std::to_string(i + 1) + "Optional";
}

OperatorSpec Network(const CFunction& function, int version) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("x", {4, 3}, ACL_FLOAT16), TensorArg("weight1", {2, 3, 5}, ACL_FLOAT16),
              TensorArg("weight2", {2, 5, 3}, ACL_FLOAT16)};
  if (version == 3)
    op.valid.push_back(DistinctArg("expertTokensOptional", {2}, ACL_INT64));
  else
    op.valid.push_back(ArrayArg("expertTokensOptional",
                                version == 2 ? std::vector<int64_t>{1, 4} : std::vector<int64_t>{1, 3}));
  op.valid.push_back(TensorArg("bias1Optional", {2, 5}, ACL_FLOAT16));
  op.valid.push_back(TensorArg("bias2Optional", {2, 3}, ACL_FLOAT16));
  for (const char* name : {"scaleOptional", "offsetOptional", "deqScale1Optional", "deqScale2Optional",
                           "antiquantScale1Optional", "antiquantScale2Optional", "antiquantOffset1Optional",
                           "antiquantOffset2Optional"}) {
    op.valid.push_back(TensorArg(name, {2, 5}, ACL_FLOAT16));
    op.valid.back().null = true;
  }
  op.valid.push_back(TextArg("activation", "silu"));
  op.valid.push_back(IntegerArg("innerPrecise", 0));
  if (version >= 2) op.valid.push_back(IntegerArg("tokensIndexFlag", 1));
  op.valid.push_back(OutputArg("y", {4, 3}, ACL_FLOAT16));
  op.takes_workspace = true;
  op.updates = version == 3;
  op.is_inexact = true;
  op.tolerance = 2e-2;
  const auto are_ends = [=](const PlanCall& call) {
    return version >= 2 && call["tokensIndexFlag"].integer != 0;
  };
  const auto experts = [=](const PlanCall& call) -> int64_t {
    const PlanArgument& tokens = call["expertTokensOptional"];
    if (tokens.null) return 0;
    if (version != 3) return std::ssize(tokens.values);
    return tokens.shape.empty() ? 0 : NumElements(tokens.shape);
  };
  const auto rows_of = [](const PlanCall& call) {
    const Shape& x = call["x"].shape;
    return x.empty() ? int64_t{1} : NumElements(Shape(x.begin(), x.end() - 1));
  };
  const auto quantised = [](const PlanCall& call, int i) {
    return call["weight" + std::to_string(i + 1)].dtype != call["x"].dtype;
  };
  // INT32 holds eight words of 4 bits.
  const auto matrix_of = [](const PlanCall& call, const char* weight) {
    Shape shape = call[weight].shape;
    if (call[weight].dtype == ACL_INT32 && !shape.empty()) shape.back() *= 8;
    return shape;
  };
  op.rules = {Refuses(161002, "activation",
                      [](PlanCall& call) {
                        const std::string name = Lower(call["activation"].text);
                        return call["activation"].null ||
                               std::count(kActivations.begin(), kActivations.end(), name) == 0;
                      }),
              NoNulls("x weight1 weight2 y"), Refuses(161002, "", [](PlanCall& call) {
                const bool first = Has(call, "deqScale1Optional");
                const bool second = Has(call, "deqScale2Optional");
                return (first && call["deqScale2Optional"].null) ||
                       (second && call["deqScale1Optional"].null);
              })};
  if (version != 3) {
    op.rules.push_back(Refuses(161002, "expertTokensOptional", [=](PlanCall& call) {
      if (experts(call) == 0) return false;
      int64_t end = 0;
      for (const int64_t value : call["expertTokensOptional"].values) {
        const int64_t size = are_ends(call) ? value - end : value;
        if (value < 0 || size < 0 || value > rows_of(call) || size > rows_of(call) - end) return true;
        end += size;
      }
      return end != rows_of(call);
    }));
  }
  op.rules.push_back(Refuses(161002, "", [=](PlanCall& call) {
    const Shape& x = call["x"].shape;
    if (x.size() < 2 || x.size() > 8) return true;
    const int64_t count = experts(call);
    const size_t rank = count > 0 ? 3 : 2;
    const Shape first = matrix_of(call, "weight1");
    const Shape second = matrix_of(call, "weight2");
    if (first.size() != rank || second.size() != rank || x.back() > 65535) return true;
    if (first[rank - 2] != x.back() || second[rank - 1] != x.back()) return true;
    if (second[rank - 2] != first[rank - 1]) return true;
    if (count > 0 && (first[0] != count || second[0] != count)) return true;
    if (version == 3 && count > 0 && call["expertTokensOptional"].shape.size() != 1) return true;
    if (call["y"].shape != x) return true;
    for (int i = 0; i < 2; ++i) {
      const int64_t width = (i == 0 ? first : second)[rank - 1];
      const int64_t terms = (i == 0 ? first : second)[rank - 2];
      const Shape accepted = count > 0 ? Shape{count, width} : Shape{width};
      const std::string bias = Numbered("bias", i);
      if (Has(call, bias) && call[bias].shape != accepted) return true;
      if (!quantised(call, i)) continue;
      const PlanArgument& scale = call[Numbered("antiquantScale", i)];
      if (scale.null) return true;
      bool fits = scale.shape == accepted;
      if (scale.shape.size() == rank) {
        Shape of_terms = accepted;
        of_terms.insert(of_terms.end() - 1, scale.shape[rank - 2]);
        fits = scale.shape == of_terms && scale.shape[rank - 2] > 0 && terms % scale.shape[rank - 2] == 0;
      }
      if (!fits) return true;
      const std::string offset = Numbered("antiquantOffset", i);
      if (Has(call, offset) && call[offset].shape != scale.shape) return true;
    }
    return false;
  }));
  op.rules.push_back(RefusedDtype("x", [](const PlanCall& call, DtypeNumber dtype) {
    return IsOnA2OrA3(call) && std::count(kHalves.begin(), kHalves.end(), dtype) > 0;
  }));
  op.rules.push_back(Refuses(161002, "", [=](PlanCall& call) {
    const DtypeNumber x = call["x"].dtype;
    for (int i = 0; i < 2; ++i) {
      const DtypeNumber weight = call["weight" + std::to_string(i + 1)].dtype;
      if (quantised(call, i) && weight != ACL_INT8 && weight != ACL_INT4 && weight != ACL_INT32) return true;
      const std::string bias = Numbered("bias", i);
      if (Has(call, bias) && call[bias].dtype != (x == ACL_FLOAT16 ? ACL_FLOAT16 : ACL_FLOAT)) return true;
      for (const char* name : {"antiquantScale", "antiquantOffset"}) {
        if (Has(call, Numbered(name, i)) && call[Numbered(name, i)].dtype != x) return true;
      }
    }
    if (version == 3 && experts(call) > 0 && call["expertTokensOptional"].dtype != ACL_INT64) return true;
    const int64_t precise = call["innerPrecise"].integer;
    return precise < 0 || precise > (x == ACL_FLOAT16 || quantised(call, 0) || quantised(call, 1) ? 1 : 0);
  }));
  op.rules.push_back(SameDtype("x", "y"));
  op.rules.push_back(Refuses(561103, "", [](PlanCall& call) {
    const std::string name = Lower(call["activation"].text);
    return name.find("glu") != std::string::npos || Has(call, "scaleOptional") ||
           Has(call, "offsetOptional") || Has(call, "deqScale1Optional") || Has(call, "deqScale2Optional");
  }));
  op.rules.push_back(DoneIfEmpty("x"));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape x = DrawShape(random, 2, 4, 4);
    const int64_t depth = x.back() = random.Between(1, random.Chance(15) ? 70 : 9);
    const int64_t width = random.Between(1, random.Chance(15) ? 130 : 9);
    const int64_t count = random.Chance(50) ? random.Between(1, 4) : 0;
    const DtypeNumber dtype = DrawDtype(random, kHalves);
    call["x"].shape = call["y"].shape = x;
    call["x"].dtype = call["y"].dtype = dtype;
    const auto with = [&](const Shape& last) {
      Shape shape = last;
      if (count > 0) shape.insert(shape.begin(), count);
      return shape;
    };
    call["weight1"].shape = with({depth, width});
    call["weight2"].shape = with({width, depth});
    PlanArgument& tokens = call["expertTokensOptional"];
    tokens.null = count == 0 && random.Chance(50);
    if (version >= 2) call["tokensIndexFlag"].integer = random.Below(2);
    if (version == 3) {
      tokens.shape = {count};
    } else {
      tokens.values.clear();
      int64_t end = 0;
      for (int64_t i = 0; i < count; ++i) {
        const int64_t rest = rows_of(call) - end;
        const int64_t size = i + 1 == count ? rest : random.Between(0, rest);
        end += size;
        tokens.values.push_back(are_ends(call) ? end : size);
      }
    }
    for (int i = 0; i < 2; ++i) {
      const Shape of_bias = with({i == 0 ? width : depth});
      PlanArgument& bias = call[Numbered("bias", i)];
      bias.shape = of_bias;
      bias.dtype = dtype == ACL_FLOAT16 ? ACL_FLOAT16 : ACL_FLOAT;
      bias.null = random.Chance(30);
      const bool is_quantised = random.Chance(35);
      call["weight" + std::to_string(i + 1)].dtype = is_quantised ? DtypeNumber{ACL_INT8} : dtype;
      for (const char* name : {"antiquantScale", "antiquantOffset"}) {
        PlanArgument& one = call[Numbered(name, i)];
        one.shape = of_bias;
        one.dtype = dtype;
        one.null = !is_quantised || (name == std::string("antiquantOffset") && random.Chance(40));
      }
    }
    call["activation"].text = kActivations[static_cast<size_t>(random.Below(4))];
    if (random.Chance(20)) call["activation"].text[0] -= 32;
    call["innerPrecise"].integer = dtype == ACL_FLOAT16 ? random.Below(2) : 0;
  };
  op.fill = [=](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    const auto arguments = TensorsOf(call);
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (arguments[i]->null || arguments[i]->is_output) continue;
      const std::string& name = arguments[i]->name;
      if (name == "expertTokensOptional") {
        int64_t end = 0;
        for (int64_t k = 0; k < tensors[i].size(); ++k) {
          const int64_t size = random.Between(0, rows_of(call) - end);
          end += size;
          EncodeIntegerElement(ACL_INT64, are_ends(call) ? end : size, tensors[i].Element(k));
        }
        continue;
      }
      for (int64_t k = 0; k < tensors[i].size(); ++k) {
        if (tensors[i].dtype() == ACL_INT8)
          EncodeIntegerElement(ACL_INT8, random.Between(-64, 64), tensors[i].Element(k));
        else if (name.find("antiquantScale") == 0)
          tensors[i].Set(k, static_cast<double>(random.Between(1, 16)) / 2048);
        else if (name.find("antiquantOffset") == 0)
          tensors[i].Set(k, static_cast<double>(random.Between(-8, 8)));
        else
          tensors[i].Set(k, static_cast<double>(random.Between(-64, 64)) / 128);
      }
    }
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const DtypeNumber dtype = x.dtype();
    const int64_t depth = x.shape().back();
    const int64_t width = call["weight1"].shape.back();
    const int64_t count = experts(call);
    const std::string name = Lower(call["activation"].text);
    // Weights and biases of all experts.
    std::vector<double> weights[2], biases[2];
    for (int i = 0; i < 2; ++i) {
      const Numbers numbers(call, tensors, "weight" + std::to_string(i + 1));
      const Numbers scale(call, tensors, Numbered("antiquantScale", i));
      const Numbers offset(call, tensors, Numbered("antiquantOffset", i));
      const Numbers bias(call, tensors, Numbered("bias", i));
      const int64_t columns = i == 0 ? width : depth;
      for (int64_t at = 0; at < numbers.size(); ++at) {
        if (!quantised(call, i)) {
          weights[i].push_back(numbers[at]);
          continue;
        }
        const int64_t place = at / (depth * width) * columns + at % columns;
        const double offsetted =
            static_cast<double>(numbers.Integer(at)) + (offset.is_given() ? offset[place] : 0);
        weights[i].push_back(Rounded(dtype, offsetted * scale[place]));
      }
      for (int64_t at = 0; at < std::max<int64_t>(count, 1) * columns; ++at)
        biases[i].push_back(bias.is_given() ? bias[at] : 0);
    }
    const auto weight = [&](int i, int64_t expert, int64_t row, int64_t column) {
      return weights[i]
                    [static_cast<size_t>(expert * depth * width + row * (i == 0 ? width : depth) + column)];
    };
    const auto bias = [&](int i, int64_t expert, int64_t column) {
      return biases[i][static_cast<size_t>(expert * (i == 0 ? width : depth) + column)];
    };
    Outcome y(static_cast<size_t>(x.size()));
    int64_t end = 0;
    for (int64_t expert = 0; expert < std::max<int64_t>(count, 1); ++expert) {
      const int64_t first = end;
      if (count == 0) {
        end = rows_of(call);
      } else {
        const int64_t value = version == 3 ? Numbers(call, tensors, "expertTokensOptional").Integer(expert)
                                           : call["expertTokensOptional"].values[static_cast<size_t>(expert)];
        end = are_ends(call) ? value : first + value;
      }
      for (int64_t row = first; row < end; ++row) {
        std::vector<double> hidden;
        for (int64_t n = 0; n < width; ++n) {
          double sum = bias(0, expert, n);
          for (int64_t k = 0; k < depth; ++k) sum += x[row * depth + k] * weight(0, expert, k, n);
          hidden.push_back(Rounded(dtype, Activated(name, sum)));
        }
        for (int64_t k = 0; k < depth; ++k) {
          double sum = bias(1, expert, k);
          for (int64_t n = 0; n < width; ++n) sum += hidden[static_cast<size_t>(n)] * weight(1, expert, n, k);
          y[static_cast<size_t>(row * depth + k)] = Encoded(dtype, sum);
        }
      }
    }
    return std::vector<Outcome>{y};
  };
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {Network(PORTACL_C_FUNCTION(aclnnFFN), 1),
                                                Network(PORTACL_C_FUNCTION(aclnnFFNV2), 2),
                                                Network(PORTACL_C_FUNCTION(aclnnFFNV3), 3)};
  return all;
}

PORTACL_OPERATOR_TESTS(FeedForward, Operators());

// Eight weights of 4 bits of each INT32, the lowest bits first, give the bits that INT8 weights give.
TEST(FeedForwardWeights, WordsOfFourBits) {
  const ScopedEnvironment environment(
      Variables{{"PORTACL_NUM_THREADS", "2"}, {"PORTACL_SOC", "Ascend910B1"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  constexpr int64_t kExperts = 2, kRows = 5, kDepth = 16, kWidth = 24;
  RandomNumbers random(7);
  std::vector<std::byte> x, scale1, scale2;
  const auto draw = [&](std::vector<std::byte>& to, int64_t count, int64_t low, int64_t high) {
    for (int64_t i = 0; i < count; ++i) {
      const Element element = Encoded(ACL_FLOAT16, static_cast<double>(random.Between(low, high)) / 32);
      const auto* const bytes = reinterpret_cast<const std::byte*>(element.data());
      to.insert(to.end(), bytes, bytes + element.size());
    }
  };
  draw(x, kRows * kDepth, -32, 32);
  draw(scale1, kExperts * kWidth, 1, 4);
  draw(scale2, kExperts * kDepth, 1, 4);
  std::vector<int8_t> numbers[2];
  std::vector<int32_t> words[2];
  for (int i = 0; i < 2; ++i) {
    for (int64_t at = 0; at < kExperts * kDepth * kWidth; ++at) {
      numbers[i].push_back(static_cast<int8_t>(random.Between(-8, 7)));
      if (at % 8 == 0) words[i].push_back(0);
      const uint32_t bits = static_cast<uint32_t>(numbers[i].back()) & 15u;
      words[i].back() = static_cast<int32_t>(static_cast<uint32_t>(words[i].back()) | bits << at % 8 * 4);
    }
  }
  const int64_t sizes[] = {2, 3};
  char activation[] = "relu";
  std::vector<std::byte> results[2];
  for (int run = 0; run < 2; ++run) {
    results[run].resize(x.size());
    Made made;
    const auto weight = [&](int i, int64_t rows, int64_t columns) {
      return run == 0 ? made.Dense({kExperts, rows, columns}, ACL_INT8, numbers[i].data())
                      : made.Dense({kExperts, rows, columns / 8}, ACL_INT32, words[i].data());
    };
    const aclTensor* const given = made.Dense({kRows, kDepth}, ACL_FLOAT16, x.data());
    const aclTensor* const first = weight(0, kDepth, kWidth);
    const aclTensor* const second = weight(1, kWidth, kDepth);
    const aclTensor* const of_first = made.Dense({kExperts, kWidth}, ACL_FLOAT16, scale1.data());
    const aclTensor* const of_second = made.Dense({kExperts, kDepth}, ACL_FLOAT16, scale2.data());
    const aclTensor* const y = made.Dense({kRows, kDepth}, ACL_FLOAT16, results[run].data());
    const aclIntArray* const tokens = aclCreateIntArray(sizes, 2);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnFFNGetWorkspaceSize(given, first, second, tokens, nullptr, nullptr, nullptr, nullptr,
                                       nullptr, nullptr, of_first, of_second, nullptr, nullptr, activation, 0,
                                       y, &size, &executor),
              0)
        << TakeErrorMessage();
    ASSERT_EQ(RunAndWait(environment, aclnnFFN, size, executor), ACL_SUCCESS);
    aclDestroyIntArray(tokens);
  }
  EXPECT_NE(results[0], std::vector<std::byte>(x.size()));
  EXPECT_EQ(results[0], results[1]);
}

// Weights of strides 0 take no memory, but what is between the products does: 2^63 numbers, and 2^48 and more.
TEST(FeedForwardSizes, MoreBetweenTheProductsThanMemoryHolds) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", "Ascend910B1"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  std::vector<uint16_t> memory(8);
  char activation[] = "relu";
  for (const int64_t width : {int64_t{1} << 28, (int64_t{1} << 28) + 1, int64_t{1} << 43}) {
    SCOPED_TRACE(width);
    const bool is_refused = width > int64_t{1} << 28;
    Made made;
    const auto half = [&](const Shape& shape) { return made.Dense(shape, ACL_FLOAT16, memory.data()); };
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(aclnnFFNGetWorkspaceSize(half({int64_t{1} << 20, 1}), half({1, width}), half({width, 1}),
                                       nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                       nullptr, nullptr, nullptr, activation, 0, half({int64_t{1} << 20, 1}),
                                       &size, &executor),
              is_refused ? 561101 : 0);
    if (is_refused) {
      ExpectMessage("weight1");
    } else {
      EXPECT_GE(size, uint64_t{6} << 48);
      EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACL_SUCCESS);
    }
  }
}

}  // namespace
}  // namespace portacl::testing
