// What phase 1 of sequences, unit matrices, triangles and of the comparison of whole tensors answers, on every product.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "aclnnop/families/creation.h"
#include "aclnnop/families/logic.h"
#include "aclnnop/families/shape.h"
#include "support/contract_rows.h"
#include "support/converted_value.h"
#include "support/map_rules.h"
#include "support/map_suite.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

// ---- CANN's lists and checks ----

const Listed kBoundsListed = {
    {ACL_FLOAT, ACL_INT32, ACL_INT64, ACL_FLOAT16, ACL_INT16, ACL_INT8, ACL_UINT8, ACL_DOUBLE, ACL_BOOL},
    {ACL_BF16}};
const Listed kRangedListed = {{ACL_FLOAT16, ACL_FLOAT, ACL_DOUBLE, ACL_INT64, ACL_INT32}, {ACL_BF16}};
const Listed kEyesListed = {
    {ACL_FLOAT, ACL_INT32, ACL_FLOAT16, ACL_INT8, ACL_INT16, ACL_UINT8, ACL_INT64, ACL_BOOL}, {ACL_BF16}};
const Listed kSpacedListed = {{ACL_FLOAT, ACL_FLOAT16, ACL_INT32, ACL_INT8, ACL_UINT8, ACL_DOUBLE},
                              {ACL_BF16, ACL_INT16, ACL_INT64}};
const Listed kTrianglesListed = {{ACL_FLOAT16, ACL_FLOAT, ACL_DOUBLE, ACL_INT8, ACL_INT16, ACL_INT32,
                                  ACL_INT64, ACL_UINT8, ACL_UINT16, ACL_UINT32, ACL_UINT64, ACL_BOOL},
                                 {ACL_BF16},
                                 {ACL_COMPLEX32, ACL_COMPLEX64}};
const Listed kWholeListed = {{ACL_FLOAT16, ACL_FLOAT, ACL_DOUBLE, ACL_INT8, ACL_INT16, ACL_INT32, ACL_INT64,
                              ACL_UINT8, ACL_UINT16, ACL_UINT32, ACL_UINT64, ACL_BOOL},
                             {ACL_BF16}};

constexpr std::initializer_list<Product> kWithoutSpaced = {Product::k310B, Product::kNoDevice};

bool HasShape(MapCall& call, const std::string& name, const Shape& shape) {
  return call[name].shape == shape;
}
int64_t WholeOf(MapCall& call, const std::string& name) {
  return static_cast<int64_t>(call[name].value.real);
}

// Accepted, and nothing more is asked.
const Rule kAccepted = [](MapCall&) -> std::optional<Verdict> { return Verdict{}; };

// In the numbers of out's class: float32 of the small floats, float64, or whole ones.
bool StepLeadsNowhere(MapCall& call) {
  const DtypeNumber out = call["out"].dtype;
  const DtypeNumber in = out == ACL_DOUBLE     ? DtypeNumber{ACL_DOUBLE}
                         : IsIntegerDtype(out) ? DtypeNumber{ACL_INT64}
                                               : DtypeNumber{ACL_FLOAT};
  const long double start = ScalarIn(call["start"], in).real;
  const long double end = ScalarIn(call["end"], in).real;
  const long double step = ScalarIn(call["step"], in).real;
  if (std::isnan(step) || step == 0) return true;
  return (step > 0 && start > end) || (step < 0 && start < end);
}

// What has more dims than a tensor may have is noticed last.
Rules Last() { return {Empty("out"), WithCode(561103, Ranks("out", 8))}; }

MapOperator Sequence(const CFunction& function, const Rules& rules) {
  MapOperator op = Describe(function, "start end step out", rules + Last(), {});
  const long double nan = std::numeric_limits<long double>::quiet_NaN();
  op.values = {{1, 0}, {4, 0}, {1, 0}, {-0.75L, 0}, {3.7L, 0}, {0, 0}, {0.5L, 0}, {nan, 0}, {-2, 0}};
  return op;
}

MapOperator Triangle(const CFunction& function, const Rules& rules) {
  MapOperator op = Describe(function, "self diagonal out",
                            Rules{Nulls("self out"), In("self", kTrianglesListed), SameDtypes("self", "out"),
                                  SameFormats("self out")} +
                                rules,
                            {});
  op.integers = {{0, 0}};
  return op;
}

const std::vector<MapOperator>& PositionOperators() {
  static const std::vector<MapOperator> operators = [] {
    std::vector<MapOperator> ops;
    ops.push_back(Sequence(PORTACL_C_FUNCTION(aclnnArange),
                           {Nulls("start end step out"), In("start end step", kBoundsListed),
                            In("out", kRangedListed), Says(161002, "step", StepLeadsNowhere)}));
    ops.push_back(Sequence(
        PORTACL_C_FUNCTION(aclnnRange),
        {Nulls("start end step out", 561103), In("start end step", kBoundsListed), In("out", kRangedListed),
         Says(161002, "out", [](MapCall& call) { return HasShape(call, "out", {}); }),
         Says(161002, "step", StepLeadsNowhere)}));

    MapOperator linspace = Describe(
        PORTACL_C_FUNCTION(aclnnLinspace), "start end steps out",
        {Nulls("start end out", 561103),
         Says(161002, "start", [](MapCall& call) { return IsComplexDtype(call["start"].dtype); }),
         Says(161002, "end", [](MapCall& call) { return IsComplexDtype(call["end"].dtype); }),
         On(kWithoutSpaced, In("out", {})), In("out", kSpacedListed),
         Says(161002, "steps out",
              [](MapCall& call) {
                const int64_t steps = WholeOf(call, "steps");
                return steps < 0 || NumElements(call["out"].shape) != steps;
              }),
         Empty("out"), WithCode(561103, Ranks("out", 8)),
         Says(561103, "out",
              [](MapCall& call) { return WholeOf(call, "steps") > 1 && call["out"].shape.size() != 1; }),
         // No scalar of these is converted here.
         Says(561103, "start",
              [](MapCall& call) { return !IsOneOf(call["start"].dtype, ConvertibleDtypes()); }),
         Says(561103, "end", [](MapCall& call) { return !IsOneOf(call["end"].dtype, ConvertibleDtypes()); })},
        {});
    linspace.integers = {{6, 0}};
    linspace.shapes = {{"out", {6}}};
    ops.push_back(linspace);

    MapOperator eye = Describe(
        PORTACL_C_FUNCTION(aclnnEye), "n m out",
        {Nulls("out"),
         When([](MapCall& call) { return call.product != Product::kNoDevice; }, In("out", kEyesListed)),
         On({Product::kNoDevice}, In("out", kEyesListed + DtypeList{ACL_BF16})),
         Says(161002, "out",
              [](MapCall& call) {
                const int64_t n = WholeOf(call, "n");
                const int64_t m = WholeOf(call, "m");
                return n < 0 || m < 0 || !HasShape(call, "out", {n, m});
              }),
         kAccepted},
        {});
    eye.integers = {{2, 0}, {3, 0}};
    ops.push_back(eye);

    const MapOperator triu = Triangle(PORTACL_C_FUNCTION(aclnnTriu),
                                      {NotPrivate("self"), Ranks("self", 8), SameShapes("self", "out"),
                                       Empty("self"), Ranks("self", 8, 2), kAccepted});
    const MapOperator tril =
        Triangle(PORTACL_C_FUNCTION(aclnnTril),
                 {Ranks("self", 8, 2), SameShapes("self", "out"), Empty("self"), kAccepted});
    ops.push_back(triu);
    ops.push_back(tril);
    ops.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceTriu), triu, "selfRef diagonal"));
    ops.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceTril), tril, "selfRef diagonal"));

    MapOperator equal =
        Describe(PORTACL_C_FUNCTION(aclnnEqual), "self other out",
                 {Nulls("self other out"), Promotes("self other"), PromotedIn("self other", kWholeListed),
                  In("out", {{ACL_BOOL}}), Ranks("self other out"),
                  Says(161002, "out", [](MapCall& call) { return !HasShape(call, "out", {1}); }),
                  // CANN's table promotes these to FLOAT; they are not converted here.
                  Says(561103, "self",
                       [](MapCall& call) { return !IsOneOf(call["self"].dtype, ConvertibleDtypes()); }),
                  Says(561103, "other",
                       [](MapCall& call) { return !IsOneOf(call["other"].dtype, ConvertibleDtypes()); })},
                 {});
    equal.dtypes = {{"out", ACL_BOOL}};
    equal.shapes = {{"out", {1}}};
    ops.push_back(equal);
    return ops;
  }();
  return operators;
}

const MapOperator& Operator(const std::string& name) {
  for (const MapOperator& op : PositionOperators()) {
    if (op.function.name == name) return op;
  }
  throw std::runtime_error(name);
}

// ---- everything that is elementwise about them ----

class PositionContract : public MapContract {
 public:
  // Every dtype that there is and numbers that are none, of every operand alone.
  void EveryDtype(Product product) {
    const MapOperator& op = *GetParam();
    std::vector<DtypeNumber> dtypes = AllDtypes();
    dtypes.insert(dtypes.end(), UnknownDtypes().begin(), UnknownDtypes().end());
    std::erase(dtypes, -2);  // a mark of the rules themselves
    for (size_t i = 0; i < op.names.size(); ++i) {
      const ParameterKind kind = op.function.parameters[i];
      if (kind != ParameterKind::kTensor && kind != ParameterKind::kScalar) continue;
      for (const DtypeNumber dtype : dtypes) {
        if (kind == ParameterKind::kScalar && !IsScalarDtype(dtype)) continue;
        MapCall call(op, product);
        call.operands[i].dtype = dtype;
        Check(call, op.names[i] + " alone " + DtypeName(dtype));
        for (size_t k = 0; k < op.names.size(); ++k) {
          if (op.function.parameters[k] == kind) call.operands[k].dtype = dtype;
        }
        for (const auto& [name, own] : op.dtypes) call[name].dtype = own;
        Check(call, op.names[i] + " and its like " + DtypeName(dtype));
      }
    }
  }

 private:
  static bool IsScalarDtype(DtypeNumber dtype) {
    alignas(16) std::byte bytes[16] = {};
    aclScalar* scalar = aclCreateScalar(bytes, AsAclDataType(dtype));
    TakeErrorMessage();
    if (scalar == nullptr) return false;
    aclDestroyScalar(scalar);
    return true;
  }
};

TEST_P(PositionContract, NullPointers) { OnEveryProduct(&PositionContract::NullPointers); }
TEST_P(PositionContract, Dtypes) { OnEveryProduct(&PositionContract::Dtypes); }
TEST_P(PositionContract, Scalars) { OnEveryProduct(&PositionContract::Scalars); }
TEST_P(PositionContract, ShapesAndFormats) { OnEveryProduct(&PositionContract::ShapesAndFormats); }
TEST_P(PositionContract, PairsOfFaults) { OnEveryProduct(&PositionContract::PairsOfFaults); }
TEST_P(PositionContract, EveryDtype) {
  for (const Product product : kAllProducts) {
    const bool no_device = product == Product::kNoDevice;
    const ScopedEnvironment environment(
        Variables{{"PORTACL_SOC", SocNameOf(product)}},
        no_device ? ScopedEnvironment::Start::kWithoutDevice : ScopedEnvironment::Start::kWithDevice);
    ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
    if (no_device)
      OnThreadWithoutDevice([&] { EveryDtype(product); });
    else
      EveryDtype(product);
  }
}
INSTANTIATE_TEST_SUITE_P(Of, PositionContract, ::testing::ValuesIn(Pointers(PositionOperators())),
                         MapTestName);

// ---- phase 2 ----

class PositionPhaseTwo : public MapPhaseTwo {};

TEST_P(PositionPhaseTwo, Executors) {
  const ContractDescription op = Description();
  NullExecutor(op);
  ExecutorThatNeverExisted(op);
  ExecutorUsedTwice(op);
  ConsumedExecutorBesideLiveOnes(op);
  NullWorkspaceWithSize(op);
  NullStreamWithoutDevice(op);
  UnknownStream(op);
  PhasesOnDifferentThreads(op);
  MessagesBelongToTheirThread(op);
}

TEST_P(PositionPhaseTwo, TensorWithoutAddress) {
  const ContractDescription op = Description();
  for (size_t i = 0; i < op.binding.tensors.size(); ++i) {
    CallSpec spec(op.binding.tensors);
    op.valid(spec);
    spec.tensors()[i].without_data = true;
    const BuiltCall call(spec, BuiltCall::Data::kReal);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(op.binding.plan(call.handles(), {}, &size, &executor), 0) << TakeErrorMessage();
    EXPECT_EQ(op.binding.run(nullptr, 0, executor, stream()), kNullptr);
    EXPECT_TRUE(MessageSays(TakeErrorMessage(), kNullptr, {op.binding.name, op.binding.tensors[i]}));
  }
}

// What has no elements needs no address.
class EmptyPositions : public PhaseTwoSuite {};

TEST_F(EmptyPositions, NeedNoAddress) {
  for (const char* name : {"aclnnArange", "aclnnRange", "aclnnTriu", "aclnnTril", "aclnnInplaceTriu",
                           "aclnnInplaceTril", "aclnnEqual"}) {
    const OperatorBinding binding = BindingOf(Operator(name));
    const bool is_all_any = std::string(name) == "aclnnEqual";
    CallSpec spec(binding.tensors);
    for (TensorSpec& tensor : spec.tensors()) {
      tensor.shape = {0, 3};
      tensor.without_data = true;
    }
    if (is_all_any) {
      spec["out"].shape = {1};
      spec["out"].dtype = ACL_BOOL;
      spec["out"].without_data = false;
    }
    const BuiltCall call(spec, BuiltCall::Data::kReal);
    uint64_t size = 1;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(binding.plan(call.handles(), {}, &size, &executor), 0) << name << TakeErrorMessage();
    EXPECT_EQ(size, 0u);
    EXPECT_EQ(binding.run(nullptr, 0, executor, stream()), 0) << name << TakeErrorMessage();
    EXPECT_EQ(aclrtSynchronizeStream(stream()), 0);
    if (is_all_any) {
      EXPECT_EQ(call.OutputBytes(), std::vector<std::byte>{std::byte{1}});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, PositionPhaseTwo, ::testing::ValuesIn(Pointers(PositionOperators())),
                         MapTestName);

// ---- one operator at a time ----

struct Case {
  std::string name;
  std::vector<Number> values;  // of scalars and attributes, in the signature's order
  DtypeNumber scalars = ACL_DOUBLE;
  DtypeNumber out = ACL_FLOAT;
  Shape shape = {};
  aclnnStatus code = 0;
  std::vector<std::string> says = {};
};

Number Whole(int64_t value) { return {static_cast<long double>(value), 0}; }
Number Real(long double value) { return {value, 0}; }

// Phase 1 with these values, and a first tensor or only tensor as the case has it; every tensor has its shape.
void CheckCases(const std::string& name, const std::vector<Case>& cases) {
  const ScopedEnvironment environment(Variables{});
  const MapOperator& op = Operator(name);
  for (const Case& c : cases) {
    MapCall call(op, Product::kA2);
    size_t next = 0;
    for (size_t i = 0; i < op.names.size(); ++i) {
      Operand& operand = call.operands[i];
      if (op.function.parameters[i] == ParameterKind::kTensor) {
        operand.dtype = c.out;
        operand.shape = c.shape;
        continue;
      }
      operand.dtype = c.scalars;
      operand.value = c.values[next++];
    }
    std::vector<aclTensor*> tensors(op.names.size());
    CallSpec spec({"out"});
    spec["out"].dtype = c.out;
    spec["out"].shape = c.shape;
    const BuiltCall built(spec, BuiltCall::Data::kForbidden);
    for (size_t i = 0; i < op.names.size(); ++i) {
      if (op.function.parameters[i] == ParameterKind::kTensor) tensors[i] = built.handles().front();
    }
    const MapArguments arguments(call, tensors);
    uint64_t size = 1;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(op.function.plan(arguments.arguments(), &size, &executor), c.code) << name << ", " << c.name;
    const std::string message = TakeErrorMessage();
    if (executor != nullptr) {
      EXPECT_EQ(message, "") << c.name;
      EXPECT_EQ(size, 0u) << c.name;
      aclDestroyAclOpExecutor(executor);
      continue;
    }
    EXPECT_EQ(size, 1u) << c.name;
    std::vector<std::string> says = c.says;
    says.insert(says.begin(), name);
    EXPECT_TRUE(MessageSays(message, c.code, says)) << c.name;
  }
}

TEST(RangeContract, StepsAreLookedAtInTheDtypeOfOut) {
  const long double nan = std::numeric_limits<long double>::quiet_NaN();
  const long double infinity = std::numeric_limits<long double>::infinity();
  std::vector<Case> cases = {
      {.name = "0", .values = {Real(0), Real(4), Real(0)}, .code = kInvalid, .says = {"step", "0"}},
      {.name = "-0", .values = {Real(0), Real(4), Real(-0.0L)}, .code = kInvalid, .says = {"step"}},
      {.name = "0 and nothing to do",
       .values = {Real(4), Real(4), Real(0)},
       .code = kInvalid,
       .says = {"step"}},
      {.name = "NaN", .values = {Real(0), Real(4), Real(nan)}, .code = kInvalid, .says = {"step"}},
      {.name = "equal ends", .values = {Real(4), Real(4), Real(1)}},
      {.name = "equal ends, downwards", .values = {Real(4), Real(4), Real(-1)}},
      {.name = "up", .values = {Real(-1), Real(4), Real(0.25L)}},
      {.name = "down", .values = {Real(4), Real(-1), Real(-0.25L)}},
      {.name = "up to less",
       .values = {Real(5), Real(4), Real(1)},
       .code = kInvalid,
       .says = {"step", "start", "5", "end", "4", "DT_FLOAT"}},
      {.name = "down to more",
       .values = {Real(4), Real(5), Real(-1)},
       .code = kInvalid,
       .says = {"step", "-1"}},
      {.name = "up to infinity", .values = {Real(4), Real(infinity), Real(1)}},
      {.name = "down to infinity",
       .values = {Real(4), Real(infinity), Real(-1)},
       .code = kInvalid,
       .says = {"step"}},
      // float32 does not see the step, nor that start is above end.
      {.name = "2^-160", .values = {Real(0), Real(4), Real(0x1p-160L)}, .code = kInvalid, .says = {"step"}},
      {.name = "2^-160 in float64", .values = {Real(0), Real(4), Real(0x1p-160L)}, .out = ACL_DOUBLE},
      {.name = "2^-30 in float16", .values = {Real(0), Real(4), Real(0x1p-30L)}, .out = ACL_FLOAT16},
      {.name = "2^-30 in bfloat16", .values = {Real(0), Real(4), Real(0x1p-30L)}, .out = ACL_BF16},
      {.name = "start above end by 2^-40", .values = {Real(1 + 0x1p-40L), Real(1), Real(1)}},
      {.name = "start above end by 2^-40 in float64",
       .values = {Real(1 + 0x1p-40L), Real(1), Real(1)},
       .out = ACL_DOUBLE,
       .code = kInvalid,
       .says = {"step", "DT_DOUBLE"}},
      // Integers: truncated first.
      {.name = "0.5 of integers",
       .values = {Real(0), Real(4), Real(0.5L)},
       .out = ACL_INT64,
       .code = kInvalid,
       .says = {"step", "DT_INT64"}},
      {.name = "-0.9 of integers",
       .values = {Real(4), Real(0), Real(-0.9L)},
       .out = ACL_INT32,
       .code = kInvalid,
       .says = {"step"}},
      {.name = "1.5 of integers", .values = {Real(0), Real(4), Real(1.5L)}, .out = ACL_INT32},
      {.name = "4.9 up to 4.1 as integers", .values = {Real(4.9L), Real(4.1L), Real(1)}, .out = ACL_INT32},
      {.name = "4.9 up to 4.1",
       .values = {Real(4.9L), Real(4.1L), Real(1)},
       .code = kInvalid,
       .says = {"step"}},
      {.name = "beyond 2^53",
       .values = {Whole((int64_t{1} << 62) + 1), Whole(int64_t{1} << 62), Whole(1)},
       .scalars = ACL_INT64,
       .out = ACL_INT64,
       .code = kInvalid,
       .says = {"step", "4611686018427387905", "4611686018427387904"}},
      {.name = "beyond 2^53 as floats",
       .values = {Whole((int64_t{1} << 62) + 1), Whole(int64_t{1} << 62), Whole(1)},
       .scalars = ACL_INT64},
      {.name = "BOOL", .values = {Whole(0), Whole(1), Whole(1)}, .scalars = ACL_BOOL, .out = ACL_INT32},
      {.name = "no step of BOOL",
       .values = {Whole(0), Whole(1), Whole(0)},
       .scalars = ACL_BOOL,
       .code = kInvalid,
       .says = {"step"}},
      // An empty out is no excuse.
      {.name = "empty",
       .values = {Real(0), Real(0), Real(0)},
       .shape = {0},
       .code = kInvalid,
       .says = {"step"}},
  };
  for (Case& c : cases) {
    if (c.shape.empty()) c.shape = {3};
  }
  CheckCases("aclnnArange", cases);
  CheckCases("aclnnRange", cases);
}

TEST(RangeContract, ShapesOfOut) {
  const std::vector<Number> up = {Real(0), Real(4), Real(1)};
  std::vector<Case> cases;
  for (const Shape& shape : {Shape{1}, Shape{9}, Shape{2, 3}, Shape{0}, Shape{4, 0},
                             Shape{1, 1, 1, 1, 1, 1, 1, 3}, Shape{1, 1, 1, 1, 1, 1, 1, 0, 3}})
    cases.push_back({.name = ToString(shape), .values = up, .shape = shape});
  cases.push_back(
      {.name = "rank 9", .values = up, .shape = Shape(9, 1), .code = kInnerNullptr, .says = {"out", "9"}});
  cases.push_back({.name = "negative", .values = up, .shape = {-3}, .code = kInvalid, .says = {"out", "-3"}});
  const int64_t large = int64_t{1} << 32;
  cases.push_back({.name = "2^64", .values = up, .shape = {large, large}, .code = kInvalid, .says = {"out"}});
  CheckCases("aclnnRange", cases);
  cases.push_back({.name = "rank 0", .values = up, .shape = {}});
  CheckCases("aclnnArange", cases);
  CheckCases("aclnnRange", {{.name = "rank 0", .values = up, .code = kInvalid, .says = {"out"}},
                            {.name = "rank 0 before step",
                             .values = {Real(0), Real(4), Real(0)},
                             .code = kInvalid,
                             .says = {"parameter out", "0"}}});
}

TEST(LinspaceContract, StepsAreTheElementsOfOut) {
  const auto steps = [](int64_t count) { return std::vector<Number>{Real(0), Real(1), Whole(count)}; };
  CheckCases(
      "aclnnLinspace",
      {{.name = "0", .values = steps(0), .shape = {0}},
       {.name = "0 in more dims", .values = steps(0), .shape = {3, 0}},
       {.name = "1", .values = steps(1), .shape = {1}},
       {.name = "1 of no dims", .values = steps(1), .shape = {}},
       {.name = "1 in more dims", .values = steps(1), .shape = {1, 1}},
       {.name = "5", .values = steps(5), .shape = {5}},
       {.name = "5 of 4",
        .values = steps(5),
        .shape = {4},
        .code = kInvalid,
        .says = {"out", "steps", "5", "[4]"}},
       {.name = "5 of none", .values = steps(5), .shape = {0}, .code = kInvalid, .says = {"out", "steps"}},
       {.name = "0 of 1", .values = steps(0), .shape = {}, .code = kInvalid, .says = {"out", "steps"}},
       {.name = "6 in two dims", .values = steps(6), .shape = {2, 3}, .code = kInnerNullptr, .says = {"out"}},
       {.name = "6 in two dims, one of 1",
        .values = steps(6),
        .shape = {1, 6},
        .code = kInnerNullptr,
        .says = {"out"}},
       {.name = "in 9 dims",
        .values = steps(2),
        .shape = {1, 1, 1, 1, 1, 1, 1, 1, 2},
        .code = kInnerNullptr,
        .says = {"out"}},
       {.name = "-1", .values = steps(-1), .shape = {1}, .code = kInvalid, .says = {"steps", "-1"}},
       {.name = "-1 of none", .values = steps(-1), .shape = {0}, .code = kInvalid, .says = {"steps"}},
       {.name = "-1 of -1", .values = steps(-1), .shape = {-1}, .code = kInvalid, .says = {"steps"}},
       {.name = "the least", .values = steps(kMin), .shape = {1}, .code = kInvalid, .says = {"steps"}},
       {.name = "of an unsigned start",
        .values = {Whole(3), Whole(9), Whole(2)},
        .scalars = ACL_UINT16,
        .shape = {2}},
       {.name = "complex",
        .values = steps(2),
        .scalars = ACL_COMPLEX64,
        .shape = {2},
        .code = kInvalid,
        .says = {"start", "DT_COMPLEX64"}},
       {.name = "complex and BOOL out",
        .values = steps(2),
        .scalars = ACL_COMPLEX128,
        .out = ACL_BOOL,
        .shape = {2},
        .code = kInvalid,
        .says = {"start", "DT_COMPLEX128"}}});
}

TEST(EyeContract, RowsAndColumns) {
  const auto sizes = [](int64_t n, int64_t m) { return std::vector<Number>{Whole(n), Whole(m)}; };
  CheckCases(
      "aclnnEye",
      {{.name = "2 by 3", .values = sizes(2, 3), .shape = {2, 3}},
       {.name = "no rows", .values = sizes(0, 3), .shape = {0, 3}},
       {.name = "no columns", .values = sizes(3, 0), .shape = {3, 0}},
       {.name = "transposed",
        .values = sizes(3, 2),
        .shape = {2, 3},
        .code = kInvalid,
        .says = {"out", "n", "m", "[2, 3]"}},
       {.name = "n too large",
        .values = sizes(3, 3),
        .shape = {2, 3},
        .code = kInvalid,
        .says = {"out", "n", "3"}},
       {.name = "m too small",
        .values = sizes(2, 1),
        .shape = {2, 3},
        .code = kInvalid,
        .says = {"out", "m", "1"}},
       {.name = "negative rows",
        .values = sizes(-2, 3),
        .shape = {2, 3},
        .code = kInvalid,
        .says = {"n", "-2"}},
       {.name = "negative rows, as out's",
        .values = sizes(-2, 3),
        .shape = {-2, 3},
        .code = kInvalid,
        .says = {"n", "-2"}},
       {.name = "both negative, as out's",
        .values = sizes(-2, -3),
        .shape = {-2, -3},
        .code = kInvalid,
        .says = {"n", "m"}},
       {.name = "the least", .values = sizes(2, kMin), .shape = {2, 3}, .code = kInvalid, .says = {"m"}},
       {.name = "no dims", .values = sizes(1, 1), .shape = {}, .code = kInvalid, .says = {"out", "0"}},
       {.name = "one dim", .values = sizes(1, 3), .shape = {3}, .code = kInvalid, .says = {"out", "1"}},
       {.name = "three dims",
        .values = sizes(2, 3),
        .shape = {1, 2, 3},
        .code = kInvalid,
        .says = {"out", "3"}},
       {.name = "nine dims",
        .values = sizes(1, 1),
        .shape = Shape(9, 1),
        .code = kInvalid,
        .says = {"out", "9"}},
       {.name = "2^64 elements",
        .values = sizes(int64_t{1} << 32, int64_t{1} << 32),
        .shape = {int64_t{1} << 32, int64_t{1} << 32},
        .code = kInvalid,
        .says = {"out"}}});
}

TEST(TriangleContract, AnyDiagonalAndTheRanksOfEmptyTensors) {
  for (const char* name : {"aclnnTriu", "aclnnInplaceTriu", "aclnnTril", "aclnnInplaceTril"}) {
    const bool is_upper = std::string(name).find("Triu") != std::string::npos;
    const std::string self = std::string(name).find("Inplace") != std::string::npos ? "selfRef" : "self";
    std::vector<Case> cases;
    for (const int64_t diagonal : {int64_t{0}, int64_t{-7}, int64_t{1} << 40, kMin, kMax})
      cases.push_back(
          {.name = "diagonal " + std::to_string(diagonal), .values = {Whole(diagonal)}, .shape = {2, 3}});
    for (const Shape& shape :
         {Shape{0, 3}, Shape{3, 0}, Shape{1, 1, 1, 1, 1, 1, 0, 1}, Shape{1, 1, 1, 1, 1, 1, 2, 3}})
      cases.push_back({.name = ToString(shape), .values = {Whole(0)}, .shape = shape});
    for (const Shape& shape : {Shape{}, Shape{1}, Shape{3}})
      cases.push_back({.name = ToString(shape),
                       .values = {Whole(0)},
                       .shape = shape,
                       .code = kInvalid,
                       .says = {self, "2"}});
    Case empty{.name = "[0]", .values = {Whole(0)}, .shape = {0}};
    if (!is_upper) {
      empty.code = kInvalid;
      empty.says = {self, "2"};
    }
    cases.push_back(empty);
    for (const Shape& shape : {Shape(9, 1), Shape{1, 1, 1, 1, 1, 1, 1, 0, 1}})
      cases.push_back({.name = ToString(shape),
                       .values = {Whole(0)},
                       .shape = shape,
                       .code = kInvalid,
                       .says = {self, "9", "8"}});
    CheckCases(name, cases);
  }
}

// ---- sizes, and where tensors lie ----

class PositionRows : public ContractSuite {};

ContractDescription RowsOf(const std::string& name, const std::vector<std::string>& tensors,
                           const std::vector<std::string>& inputs, const std::string& output) {
  ContractDescription op;
  op.binding = BindingOf(Operator(name));
  AddDimRows(op.rows, tensors);
  AddViewRows(op.rows, inputs, output);
  return op;
}

TEST_P(PositionRows, SizesAndStorage) {
  Rows(RowsOf("aclnnTriu", {"self", "out"}, {"self"}, "out"));
  Rows(RowsOf("aclnnTril", {"self", "out"}, {"self"}, "out"));
  Rows(RowsOf("aclnnArange", {"out"}, {}, "out"));
  Rows(RowsOf("aclnnRange", {"out"}, {}, "out"));
  for (const char* name : {"aclnnInplaceTriu", "aclnnInplaceTril"}) {
    ContractDescription op;
    op.binding = BindingOf(Operator(name));
    AddDimRows(op.rows, {"selfRef"});
    op.rows.push_back({"transposed", Strided("selfRef", {1, 2}, 0, 6), kOk, {}, {}});
    op.rows.push_back({"outside", Strided("selfRef", {4, 1}, 0, 6), kInnerNullptr, {"selfRef"}, {}});
    Rows(op);
  }
}

TEST_P(PositionRows, WholeTensors) {
  ContractDescription op;
  op.binding = BindingOf(Operator("aclnnEqual"));
  op.valid = All({Dtype("out", ACL_BOOL), ShapeOf("out", {1})});
  AddViewRows(op.rows, {"self", "other"}, "out");
  std::erase_if(op.rows, [](const Row& row) { return row.name.starts_with("out"); });
  const int64_t large = int64_t{1} << 32;
  const auto both = [](const Shape& shape) { return All({ShapeOf("self", shape), ShapeOf("other", shape)}); };
  for (const std::string tensor : {"self", "other"}) {
    op.rows.push_back({tensor + " negative", ShapeOf(tensor, {-2, 3}), kInvalid, {tensor, "[-2, 3]"}, {}});
    op.rows.push_back({tensor + " 2^64", ShapeOf(tensor, {large, large}), kInvalid, {tensor}, {}});
    for (const Shape& shape :
         {Shape{}, Shape{0}, Shape{3, 2}, Shape{3}, Shape{1, 2, 3}, Shape{5, 7}, Shape(8, 2)})
      op.rows.push_back({tensor + " " + ToString(shape), ShapeOf(tensor, shape), kOk, {}, {}});
    op.rows.push_back({tensor + " rank 9", Rank(tensor, 9), kInvalid, {tensor, "9", "8"}, {}});
  }
  op.rows.push_back({"both negative", both({-2, 3}), kInvalid, {"self", "[-2, 3]"}, {}});
  op.rows.push_back({"two negative dims", both({-2, -3}), kInvalid, {"self"}, {}});
  op.rows.push_back({"2^64", both({large, large}), kInvalid, {"self"}, {}});
  op.rows.push_back({"2^40", both({int64_t{1} << 20, int64_t{1} << 20}), kOk, {}, {}});
  op.rows.push_back({"empty of large dims", both({large, large, 0}), kOk, {}, {}});
  op.rows.push_back({"ranks 0", both({}), kOk, {}, {}});
  op.rows.push_back({"ranks 8", both(Shape(8, 2)), kOk, {}, {}});
  for (const Shape& shape : {Shape{}, Shape{2}, Shape{0}, Shape{1, 1}, Shape{2, 3}, Shape(9, 1)})
    op.rows.push_back({"out " + ToString(shape), ShapeOf("out", shape), kInvalid, {"out"}, {}});
  op.rows.push_back({"out far away", Strided("out", {kMax}, 1000, 1), kOk, {}, {}});
  op.rows.push_back({"shapes that broadcast", Shapes({{2, 3}, {1, 3}, {1}}), kOk, {}, {}});
  Rows(op);
}

INSTANTIATE_TEST_SUITE_P(On, PositionRows, ::testing::ValuesIn(kAllProducts),
                         [](const ::testing::TestParamInfo<Product>& product) {
                           return std::string(ProductName(product.param));
                         });

}  // namespace
}  // namespace portacl::testing
