// Powers with evenly spaced exponents: what phase 1 answers, and every element against float64's pow.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_linspace.h"
#include "aclnnop/aclnn_log_space.h"
#include "aclnnop/aclnn_pow.h"
#include "indexing/index_calls.h"
#include "support/numeric_suite.h"

namespace portacl::testing {
namespace {

const DtypeList kBounds = {ACL_FLOAT, ACL_DOUBLE, ACL_INT64, ACL_FLOAT16, ACL_BF16};

double FloatIn(const PlanArgument& scalar) {
  const Element element =
      ConvertedElement(scalar.dtype, ElementOfNumber(scalar.dtype, scalar.number), ACL_FLOAT);
  return DecodeReal(ACL_FLOAT, element.data());
}
double RoundedTo(DtypeNumber dtype, double value) {
  Element element(static_cast<size_t>(ElementSize(dtype)));
  EncodeElement(dtype, value, element.data());
  return DecodeReal(dtype, element.data());
}
bool AreMixed(const PlanCall& call) {
  const DtypeNumber start = call["start"].dtype;
  const DtypeNumber end = call["end"].dtype;
  return (start == ACL_FLOAT16 && end == ACL_BF16) || (start == ACL_BF16 && end == ACL_FLOAT16);
}

OperatorSpec LogSpace() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnLogSpace);
  op.takes_workspace = true;
  op.valid = {ScalarArg("start", {.real = 0}), ScalarArg("end", {.real = 3}), IntegerArg("steps", 6),
              RealArg("base", 10), OutputArg("result", {6})};
  const auto is_complex = [](PlanCall& call) {
    return IsComplexDtype(call["start"].dtype) || IsComplexDtype(call["end"].dtype);
  };
  op.rules = {
      NoNulls("start end result", 561103),
      Refuses(161002, "start end", is_complex),
      DtypeIn("result", {{ACL_FLOAT, ACL_FLOAT16}, {ACL_BF16}}),
      Refuses(161002, "steps", [](PlanCall& call) { return call["steps"].integer < 0; }),
      SucceedsIf([](PlanCall& call) { return call["steps"].integer == 0; }),
      Refuses(561103, "result",
              [](PlanCall& call) { return NumElements(call["result"].shape) != call["steps"].integer; }),
      Refuses(561103, "result", [](PlanCall& call) { return call["result"].shape.size() > 8; })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape shape = DrawShape(random, 1, 3);
    if (random.Chance(10)) shape = {random.Between(1000, 3000)};
    call["steps"].integer = NumElements(shape);
    call["result"] = OutputArg("result", shape, DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}));
    call["base"].real =
        std::vector<double>{2, 10, 0.5, 1, 2.718281828459045}[static_cast<size_t>(random.Below(5))];
    for (const char* name : {"start", "end"}) {
      call[name].dtype = DrawDtype(random, kBounds);
      call[name].number = {.real = static_cast<long double>(random.Between(-8, 8)) / 4};
      if (call[name].dtype == ACL_INT64)
        call[name].number.real = static_cast<long double>(random.Between(-2, 2));
    }
  };
  // Exponents are rounded to the result's type first, unless one bound has FLOAT16 and the other BF16.
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const double start = FloatIn(call["start"]);
    const double end = FloatIn(call["end"]);
    const int64_t last = call["steps"].integer - 1;
    const DtypeNumber dtype = tensors[0].dtype;
    Outcome outcome;
    for (int64_t i = 0; i <= last; ++i) {
      const float step =
          last == 0 ? 0 : (static_cast<float>(end) - static_cast<float>(start)) / static_cast<float>(last);
      const bool is_first_half = i < (last + 1) / 2 || last == 0;
      const double exact = is_first_half ? start + static_cast<double>(i) * static_cast<double>(step)
                                         : end - static_cast<double>(last - i) * static_cast<double>(step);
      const double exponent =
          AreMixed(call) ? RoundedTo(ACL_FLOAT, exact) : RoundedTo(dtype, RoundedTo(ACL_FLOAT, exact));
      const double power = std::pow(static_cast<double>(static_cast<float>(call["base"].real)), exponent);
      outcome.emplace_back(ElementOfNumber(dtype, {static_cast<long double>(power), 0}));
    }
    return std::vector<Outcome>{outcome};
  };
  op.is_inexact = true;
  op.tolerance = 2e-6;
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {LogSpace()};
  return all;
}

PORTACL_OPERATOR_TESTS(Powers, Operators());

struct Bound {
  DtypeNumber dtype;
  double number;
};

class Bounds {
 public:
  Bounds(const Bound& start, const Bound& end) : start_(Make(start)), end_(Make(end)) {}
  ~Bounds() {
    aclDestroyScalar(start_);
    aclDestroyScalar(end_);
  }
  Bounds(const Bounds&) = delete;
  Bounds& operator=(const Bounds&) = delete;
  const aclScalar* start() const { return start_; }
  const aclScalar* end() const { return end_; }

 private:
  static aclScalar* Make(const Bound& bound) {
    Element element = ElementOfNumber(bound.dtype, {static_cast<long double>(bound.number), 0});
    return aclCreateScalar(element.data(), AsAclDataType(bound.dtype));
  }

  aclScalar* start_;
  aclScalar* end_;
};

// Runs phase 2 of what phase 1 made, `times` times.
using Phase2 = aclnnStatus (*)(void* workspace, uint64_t size, aclOpExecutor* executor, aclrtStream stream);
void RunPhase2(Phase2 run, uint64_t size, aclOpExecutor* executor, aclrtStream stream, int times = 1) {
  const GuardedBuffer workspace(size);
  if (times > 1) {
    ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), 0);
  }
  for (int i = 0; i < times; ++i) {
    ASSERT_EQ(run(size == 0 ? nullptr : workspace.device(), size, executor, stream), 0) << TakeErrorMessage();
    ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
  }
  if (times > 1) {
    ASSERT_EQ(aclDestroyAclOpExecutor(executor), 0);
  }
}

// Bit by bit what aclnnPowScalarTensor makes of aclnnLinspace's numbers, whatever the layout, and as often as a
// repeatable executor runs.
TEST(LogSpaceAlone, IsAPowerOfLinspace) {
  const std::vector<std::pair<Bound, Bound>> bounds = {
      {{ACL_FLOAT, -2.25}, {ACL_FLOAT, 3.1}},    {{ACL_FLOAT16, -1.5}, {ACL_BF16, 3.25}},
      {{ACL_BF16, 4.5}, {ACL_FLOAT16, -4.5}},    {{ACL_FLOAT16, 0.5}, {ACL_FLOAT16, -0.5}},
      {{ACL_INT64, 5}, {ACL_DOUBLE, -5.000001}}, {{ACL_BOOL, 1}, {ACL_UINT8, 3}}};
  for (const engine::Isa isa : IsasToTest()) {
    for (const char* threads : {"1", "3"}) {
      const ScopedEnvironment environment(
          Variables{{"PORTACL_ISA", engine::IsaName(isa)}, {"PORTACL_NUM_THREADS", threads}});
      ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
      RandomNumbers random(0x1065);
      for (const Shape& shape :
           {Shape{}, Shape{1}, Shape{2}, Shape{3}, Shape{15}, Shape{16}, Shape{17}, Shape{511}, Shape{512},
            Shape{513}, Shape{7, 5, 9}, Shape{1, 2, 1, 3, 2, 1, 2, 3}, Shape{70001}}) {
        for (const Layout layout : kOutputLayouts) {
          const auto& [start, end] = bounds[static_cast<size_t>(random.Below(std::ssize(bounds)))];
          const DtypeNumber dtype = DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16});
          const bool is_mixed = (start.dtype == ACL_FLOAT16 && end.dtype == ACL_BF16) ||
                                (start.dtype == ACL_BF16 && end.dtype == ACL_FLOAT16);
          const double base = std::vector<double>{10, 2, 0.3}[static_cast<size_t>(random.Below(3))];
          HostTensor out(dtype, MakeView(shape, layout, random));
          out.Remember();
          const Bounds both(start, end);
          uint64_t size = 0;
          aclOpExecutor* executor = nullptr;
          ASSERT_EQ(aclnnLogSpaceGetWorkspaceSize(both.start(), both.end(), out.size(), base, out.Handle(),
                                                  &size, &executor),
                    0);
          RunPhase2(aclnnLogSpace, size, executor, environment.stream(), /*times=*/random.Chance(30) ? 3 : 1);
          EXPECT_TRUE(out.UnchangedOutsideView());

          HostTensor exponents(is_mixed ? ACL_FLOAT : dtype, MakeView({out.size()}, Layout::kDense, random));
          HostTensor expected(dtype, MakeView({out.size()}, Layout::kDense, random));
          ASSERT_EQ(aclnnLinspaceGetWorkspaceSize(both.start(), both.end(), out.size(), exponents.Handle(),
                                                  &size, &executor),
                    0);
          RunPhase2(aclnnLinspace, size, executor, environment.stream());
          aclScalar* const number = aclCreateScalar(const_cast<double*>(&base), ACL_DOUBLE);
          ASSERT_EQ(aclnnPowScalarTensorGetWorkspaceSize(number, exponents.Handle(), expected.Handle(), &size,
                                                         &executor),
                    0);
          RunPhase2(aclnnPowScalarTensor, size, executor, environment.stream());
          aclDestroyScalar(number);
          for (int64_t i = 0; i < out.size(); ++i)
            ASSERT_EQ(
                std::memcmp(out.Element(i), expected.Element(i), static_cast<size_t>(ElementSize(dtype))), 0)
                << i << " of " << out.size() << " " << DtypeName(dtype) << " " << LayoutName(layout) << ": "
                << out.Real(i) << ", expected " << expected.Real(i);
        }
      }
    }
  }
}

// More elements than memory has: phase 1 fails and names the result, and the next call is right.
TEST(LogSpaceAlone, ExponentsThatNoMemoryHoldsAreRefused) {
  const ScopedEnvironment environment(Variables{});
  const Bounds both({ACL_FLOAT16, 0}, {ACL_BF16, 1});
  const int64_t steps = int64_t{1} << 60;
  const int64_t stride = 0;
  alignas(8) char element[8] = {};
  aclTensor* const expanded =
      aclCreateTensor(&steps, 1, ACL_FLOAT16, &stride, 0, ACL_FORMAT_ND, &steps, 1, element);
  uint64_t size = 7;
  aclOpExecutor* executor = nullptr;
  EXPECT_NE(aclnnLogSpaceGetWorkspaceSize(both.start(), both.end(), steps, 10, expanded, &size, &executor),
            0);
  const std::string message = TakeErrorMessage();
  EXPECT_NE(message.find("aclnnLogSpace"), std::string::npos) << message;
  EXPECT_EQ(executor, nullptr);
  EXPECT_EQ(size, 7U);
  aclDestroyTensor(expanded);
  RandomNumbers random(1);
  HostTensor out(ACL_FLOAT16, MakeView({3}, Layout::kDense, random));
  ASSERT_EQ(aclnnLogSpaceGetWorkspaceSize(both.start(), both.end(), 3, 4, out.Handle(), &size, &executor), 0);
  RunPhase2(aclnnLogSpace, size, executor, environment.stream());
  EXPECT_EQ((std::vector<double>{out.Real(0), out.Real(1), out.Real(2)}), (std::vector<double>{1, 2, 4}));
}

}  // namespace
}  // namespace portacl::testing
