// What phase 1 of sequences, unit matrices, triangles and of the comparison of whole tensors answers to every call, in which order, on
// every product; the rules of phase 2.
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <string>
#include <vector>

#include "operators/positions.h"
#include "support/answer_suite.h"
#include "support/environment.h"
#include "support/plan_check.h"

namespace portacl::testing {
namespace {

PORTACL_ANSWER_TESTS(PositionAnswers, PositionOperators());

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kLarge = int64_t{1} << 32;
constexpr aclnnStatus kInvalid = 161002;
constexpr aclnnStatus kInner = 561103;

// A call whose code was found by hand: of the rules, too.
struct Example {
  std::vector<long double> numbers;  // of scalars and attributes, in the signature's order
  Shape shape = {3};                 // of every tensor
  aclnnStatus code = 0;
  DtypeNumber scalars = ACL_DOUBLE;
  DtypeNumber tensors = ACL_FLOAT;
};

void CheckExamples(const std::string& name, const std::vector<Example>& examples) {
  const ScopedEnvironment environment(Variables{});
  for (const Example& example : examples) {
    PlanCall call = ValidCall(PositionOperatorNamed(name), Product::kA2);
    size_t next = 0;
    for (PlanArgument& one : call.arguments) {
      const bool is_tensor = one.kind == ParameterKind::kTensor;
      one.dtype = is_tensor ? example.tensors : example.scalars;
      if (is_tensor) {
        one.shape = example.shape;
        continue;
      }
      one.number = {example.numbers.at(next), 0};
      one.integer = one.kind == ParameterKind::kInteger ? static_cast<int64_t>(example.numbers[next]) : 0;
      ++next;
    }
    EXPECT_EQ(Expected(call).code, example.code) << name << Describe(call);
    EXPECT_TRUE(CheckPlan(call));
  }
}

// Steps are looked at in the dtype of out.
TEST(PositionExamples, Steps) {
  constexpr long double kNan = std::numeric_limits<long double>::quiet_NaN();
  constexpr long double kInfinity = std::numeric_limits<long double>::infinity();
  const std::vector<Example> examples = {{{0, 4, 0}, {3}, kInvalid},
                                         {{0, 4, -0.0L}, {3}, kInvalid},
                                         {{4, 4, 0}, {3}, kInvalid},
                                         {{0, 4, kNan}, {3}, kInvalid},
                                         {{4, 4, 1}},
                                         {{4, 4, -1}},
                                         {{-1, 4, 0.25L}},
                                         {{4, -1, -0.25L}},
                                         {{5, 4, 1}, {3}, kInvalid},
                                         {{4, 5, -1}, {3}, kInvalid},
                                         {{4, kInfinity, 1}},
                                         {{4, kInfinity, -1}, {3}, kInvalid},
                                         // float32 does not see the step, nor that start is above end.
                                         {{0, 4, 0x1p-160L}, {3}, kInvalid},
                                         {{0, 4, 0x1p-160L}, {3}, 0, ACL_DOUBLE, ACL_DOUBLE},
                                         {{0, 4, 0x1p-30L}, {3}, 0, ACL_DOUBLE, ACL_FLOAT16},
                                         {{0, 4, 0x1p-30L}, {3}, 0, ACL_DOUBLE, ACL_BF16},
                                         {{1 + 0x1p-40L, 1, 1}},
                                         {{1 + 0x1p-40L, 1, 1}, {3}, kInvalid, ACL_DOUBLE, ACL_DOUBLE},
                                         // Integers are truncated first.
                                         {{0, 4, 0.5L}, {3}, kInvalid, ACL_DOUBLE, ACL_INT64},
                                         {{4, 0, -0.9L}, {3}, kInvalid, ACL_DOUBLE, ACL_INT32},
                                         {{0, 4, 1.5L}, {3}, 0, ACL_DOUBLE, ACL_INT32},
                                         {{4.9L, 4.1L, 1}, {3}, 0, ACL_DOUBLE, ACL_INT32},
                                         {{4.9L, 4.1L, 1}, {3}, kInvalid},
                                         {{0x1p62L + 1, 0x1p62L, 1}, {3}, kInvalid, ACL_INT64, ACL_INT64},
                                         {{0x1p62L + 1, 0x1p62L, 1}, {3}, 0, ACL_INT64},
                                         {{0, 1, 1}, {3}, 0, ACL_BOOL, ACL_INT32},
                                         {{0, 1, 0}, {3}, kInvalid, ACL_BOOL},
                                         // An empty out is no excuse.
                                         {{0, 0, 0}, {0}, kInvalid}};
  CheckExamples("aclnnArange", examples);
  CheckExamples("aclnnRange", examples);
}

TEST(PositionExamples, ShapesOfSequences) {
  std::vector<Example> examples;
  for (const Shape& shape : {Shape{1}, Shape{9}, Shape{2, 3}, Shape{0}, Shape{4, 0},
                             Shape{1, 1, 1, 1, 1, 1, 1, 3}, Shape{1, 1, 1, 1, 1, 1, 1, 0, 3}})
    examples.push_back({{0, 4, 1}, shape});
  examples.push_back({{0, 4, 1}, Shape(9, 1), kInner});
  examples.push_back({{0, 4, 1}, {-3}, kInvalid});
  examples.push_back({{0, 4, 1}, {kLarge, kLarge}, kInvalid});
  CheckExamples("aclnnArange", examples);
  CheckExamples("aclnnRange", examples);
  CheckExamples("aclnnArange", {{{0, 4, 1}, {}}});
  CheckExamples("aclnnRange", {{{0, 4, 1}, {}, kInvalid}, {{0, 4, 0}, {}, kInvalid}});
}

TEST(PositionExamples, StepsAreTheElementsOfOut) {
  CheckExamples("aclnnLinspace", {{{0, 1, 0}, {0}},
                                  {{0, 1, 0}, {3, 0}},
                                  {{0, 1, 1}, {1}},
                                  {{0, 1, 1}, {}},
                                  {{0, 1, 1}, {1, 1}},
                                  {{0, 1, 5}, {5}},
                                  {{0, 1, 5}, {4}, kInvalid},
                                  {{0, 1, 5}, {0}, kInvalid},
                                  {{0, 1, 0}, {}, kInvalid},
                                  {{0, 1, 6}, {2, 3}, kInner},
                                  {{0, 1, 6}, {1, 6}, kInner},
                                  {{0, 1, 2}, {2, 1}, kInner},
                                  {{0, 1, 2}, {1, 1, 1, 1, 1, 1, 1, 1, 2}, kInner},
                                  {{0, 1, -1}, {1}, kInvalid},
                                  {{0, 1, -1}, {0}, kInvalid},
                                  {{0, 1, -1}, {-1}, kInvalid},
                                  {{0, 1, kMin}, {1}, kInvalid},
                                  {{3, 9, 2}, {2}, 0, ACL_UINT16},
                                  {{0, 1, 2}, {2}, kInvalid, ACL_COMPLEX64},
                                  {{0, 1, 2}, {2}, kInvalid, ACL_COMPLEX128, ACL_BOOL}});
}

TEST(PositionExamples, RowsAndColumns) {
  CheckExamples("aclnnEye", {{{2, 3}, {2, 3}},
                             {{0, 3}, {0, 3}},
                             {{3, 0}, {3, 0}},
                             {{3, 2}, {2, 3}, kInvalid},
                             {{3, 3}, {2, 3}, kInvalid},
                             {{2, 1}, {2, 3}, kInvalid},
                             {{-2, 3}, {2, 3}, kInvalid},
                             {{-2, 3}, {-2, 3}, kInvalid},
                             {{-2, -3}, {-2, -3}, kInvalid},
                             {{2, kMin}, {2, 3}, kInvalid},
                             {{1, 1}, {}, kInvalid},
                             {{1, 3}, {3}, kInvalid},
                             {{2, 3}, {1, 2, 3}, kInvalid},
                             {{1, 1}, Shape(9, 1), kInvalid},
                             {{kLarge, kLarge}, {kLarge, kLarge}, kInvalid}});
}

// Any diagonal is taken, and an empty tensor of one dim has an upper triangle alone.
TEST(PositionExamples, Triangles) {
  for (const char* name : {"aclnnTriu", "aclnnInplaceTriu", "aclnnTril", "aclnnInplaceTril"}) {
    const bool is_upper = std::string(name).find("Triu") != std::string::npos;
    std::vector<Example> examples = {{{0}, {0}, is_upper ? 0 : kInvalid}};
    for (const int64_t diagonal : {int64_t{0}, int64_t{-7}, int64_t{1} << 40, kMin, kMax})
      examples.push_back({{static_cast<long double>(diagonal)}, {2, 3}});
    for (const Shape& shape :
         {Shape{0, 3}, Shape{3, 0}, Shape{1, 1, 1, 1, 1, 1, 0, 1}, Shape{1, 1, 1, 1, 1, 1, 2, 3}})
      examples.push_back({{0}, shape});
    for (const Shape& shape : {Shape{}, Shape{1}, Shape{3}, Shape(9, 1), Shape{1, 1, 1, 1, 1, 1, 1, 0, 1}})
      examples.push_back({{0}, shape, kInvalid});
    CheckExamples(name, examples);
  }
}

// Tensors of different shapes are compared; nothing broadcasts.
TEST(PositionExamples, WholeTensors) {
  const ScopedEnvironment environment(Variables{});
  struct Shapes {
    Shape self;
    Shape other;
    Shape out;
    aclnnStatus code;
  };
  for (const Shapes& shapes :
       {Shapes{{2, 3}, {1, 3}, {1}, 0}, Shapes{{2, 3}, {5, 7}, {1}, 0}, Shapes{{}, {2, 3}, {1}, 0},
        Shapes{{0}, {0, 3}, {1}, 0}, Shapes{Shape(8, 2), Shape(8, 2), {1}, 0},
        Shapes{Shape(9, 1), {2, 3}, {1}, kInvalid}, Shapes{{2, 3}, {-2, 3}, {1}, kInvalid},
        Shapes{{2, 3}, {2, 3}, {}, kInvalid}, Shapes{{2, 3}, {2, 3}, {1, 1}, kInvalid},
        Shapes{{2, 3}, {2, 3}, {0}, kInvalid}, Shapes{{kLarge, kLarge, 0}, {kLarge, kLarge, 0}, {1}, 0}}) {
    PlanCall call = ValidCall(PositionOperatorNamed("aclnnEqual"), Product::kA2);
    call["self"].shape = shapes.self;
    call["other"].shape = shapes.other;
    call["out"].shape = shapes.out;
    EXPECT_EQ(Expected(call).code, shapes.code) << Describe(call);
    EXPECT_TRUE(CheckPlan(call));
  }
}

}  // namespace
}  // namespace portacl::testing
