// Losses over classes and their gradients, from their descriptions.
// SPDX-License-Identifier: Apache-2.0
#include "row_calls.h"

#include "aclnnop/aclnn_nll_loss.h"
#include "aclnnop/aclnn_nll_loss2d.h"
#include "aclnnop/aclnn_nll_loss2d_backward.h"
#include "aclnnop/aclnn_nll_loss_backward.h"
#include "gtest/gtest.h"
#include "support/environment.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

const Listed kTargets = {{ACL_INT64, ACL_INT32, ACL_UINT8}};

size_t ClassDim(const Shape& shape) { return shape.size() == 1 ? 0 : 1; }
Shape TargetShape(const Shape& self) {
  Shape shape = self;
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(ClassDim(self)));
  return shape;
}
IndexRule CanBe(const std::string& from, const std::string& to) {
  return Refuses(161002, to + " " + from,
                 [=](IndexCall& call) { return !CanCastDtype(call[from].dtype, call[to].dtype); });
}
IndexRule CanBeWritten(const std::string& from, const std::string& to) {
  return Refuses(561103, to + " " + from, [=](IndexCall& call) {
    const auto& all = ConvertibleDtypes();
    return std::find(all.begin(), all.end(), call[to].dtype) == all.end();
  });
}
IndexRule Modes() {
  return Refuses(161002, "reduction", [](IndexCall& call) {
    return call["reduction"].integer < 0 || call["reduction"].integer > 2;
  });
}
bool IsNone(const IndexCall& call) { return call["reduction"].integer == 0; }

void DrawClasses(IndexCall& call, RandomNumbers& random, bool two) {
  Shape self =
      two ? Shape{random.Between(1, 3), random.Between(1, 5), random.Between(1, 4), random.Between(1, 4)}
      : random.Below(5) == 0
          ? Shape{random.Between(1, 6)}
          : Shape{random.Between(0, random.Below(8) == 0 ? 9000 : 40), random.Between(1, 12)};
  call["self"].shape = self;
  call["weight"].shape = {self[ClassDim(self)]};
  call["target"].shape = TargetShape(self);
  call["target"].dtype = DrawDtype(random, {ACL_INT64, ACL_INT32, ACL_UINT8});
  call["reduction"].integer = random.Between(0, 2);
  call["ignoreIndex"].integer = random.Below(3) == 0 ? 1 : -100;
  const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
  for (const char* name : {"self", "weight"}) call[name].dtype = dtype;
}

// Any dims that have as many elements as the one.
void DrawAsManyElements(Shape& shape, RandomNumbers& random) {
  const int64_t n = shape[0];
  int64_t first = random.Between(1, n);
  while (n % first != 0) --first;
  shape = {first, n / first};
  if (random.Below(2) == 0) shape.insert(shape.begin() + random.Between(0, 2), 1);
}

// Targets that are classes, now and then the ignored one.
void FillClasses(const IndexCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  FillRows(call, tensors, random);
  const auto arguments = TensorsOf(call);
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (arguments[i]->name != "target") continue;
    const Shape& self = call["self"].shape;
    for (int64_t k = 0; k < tensors[i].size(); ++k) {
      int64_t value = random.Between(0, self[ClassDim(self)] - 1);
      if (random.Below(5) == 0 && (call["target"].dtype != ACL_UINT8 || call["ignoreIndex"].integer >= 0))
        value = call["ignoreIndex"].integer;
      EncodeIntegerElement(tensors[i].dtype(), value, tensors[i].Element(k));
    }
  }
}

// The position in self of row r's class t.
int64_t Place(const Shape& self, int64_t row, int64_t target) {
  const size_t dim = ClassDim(self);
  int64_t inner = 1;
  for (size_t i = dim + 1; i < self.size(); ++i) inner *= self[i];
  return (row / inner * self[dim] + target) * inner + row % inner;
}

IndexOperator LossOperator(const CFunction& function, bool two) {
  IndexOperator op;
  op.function = function;
  op.valid = {TensorArg("self", two ? Shape{2, 3, 2, 2} : Shape{2, 3}),
              TensorArg("target", two ? Shape{2, 2, 2} : Shape{2}, ACL_INT64),
              TensorArg("weight", {3}),
              IntegerArg("reduction", 1),
              IntegerArg("ignoreIndex", -100),
              OutputArg("out", {}),
              OutputArg("totalWeightOut", {})};
  op.rules = {NoNulls("self target weight out totalWeightOut")};
  if (two) op.rules.push_back(Listed_("self", kFloats));
  op.rules.push_back(OneDtype("self", "weight"));
  op.rules.push_back(CanBe("self", "out"));
  op.rules.push_back(CanBe("self", "totalWeightOut"));
  if (!two) op.rules.push_back(Listed_("self", kFloats));
  op.rules.push_back(Listed_("target", kTargets));
  op.rules.push_back(Modes());
  op.rules.push_back(Refuses(161002, "self", [=](IndexCall& call) {
    const size_t rank = call["self"].shape.size();
    return two ? rank != 4 : rank < 1 || rank > 2;
  }));
  op.rules.push_back(Refuses(161002, "target", [=](IndexCall& call) {
    return call["target"].shape != TargetShape(call["self"].shape);
  }));
  op.rules.push_back(Refuses(161002, "weight", [=](IndexCall& call) {
    const Shape& self = call["self"].shape;
    const Shape& weight = call["weight"].shape;
    const int64_t classes = self[ClassDim(self)];
    return two ? weight.empty() || weight[0] != classes || NumElements(weight) != classes
               : weight != Shape{classes};
  }));
  op.rules.push_back(Refuses(161002, "out", [](IndexCall& call) {
    const bool each = IsNone(call) && call["self"].shape.size() != 1;
    return each ? call["out"].shape != call["target"].shape : NumElements(call["out"].shape) != 1;
  }));
  op.rules.push_back(Refuses(161002, "totalWeightOut",
                             [](IndexCall& call) { return NumElements(call["totalWeightOut"].shape) != 1; }));
  op.rules.push_back(Refuses(161002, "self", [](IndexCall& call) {
    return call["self"].shape[ClassDim(call["self"].shape)] == 0 && NumElements(call["target"].shape) != 0;
  }));
  op.rules.push_back(
      SucceedsIf([](IndexCall& call) { return IsNone(call) && NumElements(call["self"].shape) == 0; }));
  op.rules.push_back(CanBeWritten("self", "out"));
  op.rules.push_back(CanBeWritten("self", "totalWeightOut"));
  op.draw = [=](IndexCall& call, RandomNumbers& random) {
    DrawClasses(call, random, two);
    // Dims behind that of the classes are not asked for.
    for (int64_t more = two ? random.Between(0, 3) : 0; more > 0; --more) call["weight"].shape.push_back(1);
    call["out"].shape = IsNone(call) ? call["target"].shape : Shape{};
    call["out"].dtype = random.Below(4) == 0 ? DtypeNumber{ACL_FLOAT} : call["self"].dtype;
    call["totalWeightOut"].dtype = call["self"].dtype;
  };
  op.fill = FillClasses;
  op.takes_workspace = true;
  op.tolerance = 1e-5;
  op.is_inexact = true;
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    const int64_t rows = NumElements(call["target"].shape);
    std::vector<double> each;
    double sum = 0;
    double total = 0;
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t target = tensors[1].Integer(row);
      each.push_back(0);
      if (target == call["ignoreIndex"].integer || NumElements(call["self"].shape) == 0) continue;
      const double weight = ValueAt(tensors[2], target);
      each.back() = -weight * ValueAt(tensors[0], Place(call["self"].shape, row, target));
      sum += each.back();
      total += weight;
    }
    if (IsNone(call)) return std::vector<Outcome>{AsOutcome(call["out"].dtype, each), {}};
    return std::vector<Outcome>{
        AsOutcome(call["out"].dtype, {call["reduction"].integer == 1 ? sum / total : sum}),
        AsOutcome(call["totalWeightOut"].dtype, {total})};
  };
  return op;
}

IndexOperator LossGradient(const CFunction& function, bool two) {
  IndexOperator op;
  op.function = function;
  op.valid = {TensorArg("gradOutput", {}),
              TensorArg("self", two ? Shape{2, 3, 2, 2} : Shape{2, 3}),
              TensorArg("target", two ? Shape{2, 2, 2} : Shape{2}, ACL_INT64),
              TensorArg("weight", {3}),
              IntegerArg("reduction", 1),
              IntegerArg("ignoreIndex", -100),
              TensorArg("totalWeight", {}),
              OutputArg("out", two ? Shape{2, 3, 2, 2} : Shape{2, 3})};
  op.rules = {NoNulls("gradOutput self target weight totalWeight out")};
  if (two) {
    for (const IndexRule& rule :
         {Listed_("self", kFloats), OneDtype("self", "gradOutput"), OneDtype("self", "weight"),
          OneDtype("self", "out"), OneDtype("self", "totalWeight")})
      op.rules.push_back(rule);
  } else {
    for (const IndexRule& rule :
         {OneDtype("self", "weight"), OneDtype("self", "gradOutput"), OneDtype("self", "totalWeight"),
          CanBe("self", "out"), Listed_("self", kFloats)})
      op.rules.push_back(rule);
  }
  op.rules.push_back(Listed_("target", kTargets));
  if (!two) op.rules.push_back(Modes());
  op.rules.push_back(Refuses(161002, "self", [=](IndexCall& call) {
    const size_t rank = call["self"].shape.size();
    return two ? rank != 4 : rank < 1 || rank > 2;
  }));
  op.rules.push_back(Refuses(161002, "target", [=](IndexCall& call) {
    const Shape& self = call["self"].shape;
    const Shape& target = call["target"].shape;
    return target != TargetShape(self) && (two || self.size() != 1 || target != self);
  }));
  op.rules.push_back(Refuses(161002, "weight", [=](IndexCall& call) {
    const Shape& self = call["self"].shape;
    const int64_t classes = self[ClassDim(self)];
    return two ? NumElements(call["weight"].shape) != classes : call["weight"].shape != Shape{classes};
  }));
  op.rules.push_back(Refuses(161002, "totalWeight",
                             [](IndexCall& call) { return NumElements(call["totalWeight"].shape) != 1; }));
  op.rules.push_back(Refuses(161002, "gradOutput", [](IndexCall& call) {
    const bool each = IsNone(call) && call["self"].shape.size() != 1;
    return each ? call["gradOutput"].shape != call["target"].shape
                : NumElements(call["gradOutput"].shape) != 1;
  }));
  op.rules.push_back(OneShape("self", "out"));
  if (two) op.rules.push_back(Modes());
  op.rules.push_back(EmptyDone("self"));
  op.rules.push_back(CanBeWritten("self", "out"));
  op.draw = [=](IndexCall& call, RandomNumbers& random) {
    DrawClasses(call, random, two);
    if (two) DrawAsManyElements(call["weight"].shape, random);
    call["gradOutput"].shape = IsNone(call) ? call["target"].shape : Shape{};
    call["out"].shape = call["self"].shape;
    for (const char* name : {"gradOutput", "totalWeight", "out"}) call[name].dtype = call["self"].dtype;
    if (!two && random.Below(4) == 0) call["out"].dtype = ACL_FLOAT;
  };
  op.fill = FillClasses;
  op.tolerance = 1e-6;
  op.is_inexact = true;
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    std::vector<double> out(static_cast<size_t>(NumElements(call["self"].shape)));
    for (int64_t row = 0; row < NumElements(call["target"].shape); ++row) {
      const int64_t target = tensors[2].Integer(row);
      if (target == call["ignoreIndex"].integer) continue;
      const double g = ValueAt(tensors[0], tensors[0].elements.size() == 1 ? 0 : row);
      const double by = call["reduction"].integer == 1 ? ValueAt(tensors[4], int64_t{0}) : 1;
      out[static_cast<size_t>(Place(call["self"].shape, row, target))] =
          -ValueAt(tensors[3], target) * g / by;
    }
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, out)};
  };
  return op;
}

const std::vector<IndexOperator>& Operators() {
  static const std::vector<IndexOperator> all = {
      LossOperator(PORTACL_C_FUNCTION(aclnnNLLLoss), false),
      LossOperator(PORTACL_C_FUNCTION(aclnnNLLLoss2d), true),
      LossGradient(PORTACL_C_FUNCTION(aclnnNLLLossBackward), false),
      LossGradient(PORTACL_C_FUNCTION(aclnnNLLLoss2dBackward), true)};
  return all;
}

PORTACL_INDEX_TESTS(Classes, Operators());

// They count like ignored ones, and fail the stream once, with the first of them.
TEST(ClassTargets, ThatAreNoClassFailTheStream) {
  constexpr int64_t kRows = 9000;
  for (const bool raises : {true, false}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_INDEX_ERRORS", raises ? "raise" : "ignore"}});
    std::vector<float> self(kRows * 3, 2), weight = {1, 2, 3}, out(1), total(1), gradient(kRows * 3, 7);
    std::vector<int64_t> target(kRows, 0);
    target[4200] = 3;
    target[8800] = -1;
    const int64_t rows[] = {kRows, 3}, classes[] = {3};
    const auto tensor = [](const int64_t* shape, uint64_t rank, aclDataType dtype, void* data) {
      return aclCreateTensor(shape, rank, dtype, nullptr, 0, ACL_FORMAT_ND, shape, rank, data);
    };
    const std::vector<aclTensor*> all = {
        tensor(rows, 2, ACL_FLOAT, self.data()),      tensor(rows, 1, ACL_INT64, target.data()),
        tensor(classes, 1, ACL_FLOAT, weight.data()), tensor(nullptr, 0, ACL_FLOAT, out.data()),
        tensor(nullptr, 0, ACL_FLOAT, total.data()),  tensor(rows, 2, ACL_FLOAT, gradient.data())};
    const auto fails = [&] {
      EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), raises ? 507015 : 0);
      const std::string message = TakeErrorMessage();
      EXPECT_EQ(message.find("target has the value 3 at element 4200, accepted: 0 to 2") != std::string::npos,
                raises)
          << message;
    };
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnNLLLossGetWorkspaceSize(all[0], all[1], all[2], 1, -100, all[3], all[4], &size, &executor),
              0);
    std::vector<char> workspace(size);
    ASSERT_EQ(aclnnNLLLoss(workspace.data(), size, executor, environment.stream()), 0);
    fails();
    EXPECT_EQ(total[0], kRows - 2.0f);
    EXPECT_EQ(out[0], -2.0f);
    ASSERT_EQ(aclnnNLLLossBackwardGetWorkspaceSize(all[3], all[0], all[1], all[2], 2, -100, all[4], all[5],
                                                   &size, &executor),
              0);
    ASSERT_EQ(aclnnNLLLossBackward(workspace.data(), size, executor, environment.stream()), 0);
    fails();
    for (size_t i = 0; i < gradient.size(); ++i)
      ASSERT_EQ(gradient[i], i % 3 == 0 && i != 4200 * 3 && i != 8800 * 3 ? 2.0f : 0.0f) << i;
    for (const aclTensor* one : all) aclDestroyTensor(one);
  }
}

// Weights of ten dims, none of which goes on in the next, are more than are walked along; as one of memory they are not.
TEST(ClassWeights, OfManyDims) {
  const ScopedEnvironment environment(Variables{});
  constexpr int64_t kClasses = 1024;
  const std::vector<int64_t> dims(10, 2);
  std::vector<int64_t> ascending, descending;
  for (int64_t stride = 1; stride < kClasses; stride *= 2) ascending.push_back(stride);
  descending.assign(ascending.rbegin(), ascending.rend());
  std::vector<float> weight(kClasses), gradient = {1}, total = {1}, out(kClasses);
  for (size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<float>(i);
  std::vector<int64_t> target = {600};
  const int64_t image[] = {1, kClasses, 1, 1}, place[] = {1, 1, 1};
  const auto tensor = [](const int64_t* shape, uint64_t rank, aclDataType dtype, const int64_t* strides,
                         void* data) {
    return aclCreateTensor(shape, rank, dtype, strides, 0, ACL_FORMAT_ND, shape, rank, data);
  };
  aclTensor* const g = tensor(nullptr, 0, ACL_FLOAT, nullptr, gradient.data());
  aclTensor* const sum = tensor(nullptr, 0, ACL_FLOAT, nullptr, total.data());
  aclTensor* const of = tensor(place, 3, ACL_INT64, nullptr, target.data());
  aclTensor* const to = tensor(image, 4, ACL_FLOAT, nullptr, out.data());
  for (const auto& strides : {descending, ascending}) {
    aclTensor* const weights = tensor(dims.data(), 10, ACL_FLOAT, strides.data(), weight.data());
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    const aclnnStatus status =
        aclnnNLLLoss2dBackwardGetWorkspaceSize(g, to, of, weights, 2, -100, sum, to, &size, &executor);
    if (strides == ascending) {
      EXPECT_EQ(status, 561103);
      EXPECT_NE(TakeErrorMessage().find("weight"), std::string::npos);
    } else {
      ASSERT_EQ(status, 0);
      ASSERT_EQ(aclnnNLLLoss2dBackward(nullptr, size, executor, environment.stream()), 0);
      ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
      for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], i == 600 ? -600.0f : 0.0f);
    }
    aclDestroyTensor(weights);
  }
  for (const aclTensor* one : {g, sum, of, to}) aclDestroyTensor(one);
}

}  // namespace
}  // namespace portacl::testing
