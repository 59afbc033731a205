// What phase 1 of sequences, unit matrices, triangles and of the comparison of whole tensors answers, from CANN's rules, and their valid
// calls.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <utility>

#include "aclnnop/families/creation.h"
#include "aclnnop/families/logic.h"
#include "aclnnop/families/shape.h"
#include "operators/positions.h"
#include "support/call_changes.h"
#include "support/converted_value.h"
#include "support/rules.h"
#include "support/scalar_dtypes.h"

namespace portacl::testing {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

// Draws a scalar's dtype and value.
void DrawScalar(PlanArgument& scalar, RandomNumbers& random) {
  constexpr long double kNan = std::numeric_limits<long double>::quiet_NaN();
  constexpr long double kInfinity = std::numeric_limits<long double>::infinity();
  constexpr long double kValues[] = {0,       -0.0L,       1,     -1,        2,        4,
                                     5,       -0.9L,       0.25L, -0.25L,    0.5L,     1.5L,
                                     4.1L,    4.9L,        3.7L,  0x1p-160L, 0x1p-30L, 1 + 0x1p-40L,
                                     0x1p62L, 0x1p62L + 1, kNan,  kInfinity};
  scalar.dtype =
      DrawDtype(random, random.Chance(50) ? DtypeList{ACL_DOUBLE, ACL_INT64} : ConvertibleDtypes());
  const size_t count = IsFloatingDtype(scalar.dtype) ? std::size(kValues) : std::size(kValues) - 2;
  scalar.number = {kValues[random.Below(static_cast<int64_t>(count))], 0};
}

// ---- sequences ----

// The dtype in which a sequence is computed: by the class of out.
DtypeNumber ClassOf(DtypeNumber out) {
  if (out == ACL_DOUBLE) return ACL_DOUBLE;
  return IsIntegerDtype(out) ? ACL_INT64 : ACL_FLOAT;
}

Rule StepLeadsToEnd() {
  return [](PlanCall& call) -> std::optional<Verdict> {
    const DtypeNumber dtype = ClassOf(call["out"].dtype);
    const long double start = ScalarIn(call["start"], dtype).real;
    const long double end = ScalarIn(call["end"], dtype).real;
    const long double step = ScalarIn(call["step"], dtype).real;
    const bool leads = (step > 0 && !(start > end)) || (step < 0 && !(start < end));
    if (leads) return std::nullopt;
    std::vector<std::string> says = {"step", "start", "end", DtypeName(call["out"].dtype)};
    for (const long double value : {start, end, step}) {
      if (dtype == ACL_INT64) says.push_back(std::to_string(static_cast<int64_t>(value)));
      for (const std::string& text : Shown(static_cast<double>(value))) says.push_back(text);
    }
    return Verdict{161002, {}, says};
  };
}

OperatorSpec Sequence(const CFunction& function, bool is_closed) {
  OperatorSpec op;
  op.function = function;
  op.valid = {ScalarArg("start", {1, 0}, ACL_DOUBLE), ScalarArg("end", {4, 0}, ACL_DOUBLE),
              ScalarArg("step", {1, 0}, ACL_DOUBLE), OutputArg("out", {2, 3})};
  const Listed bounds = {
      {ACL_FLOAT, ACL_INT32, ACL_INT64, ACL_FLOAT16, ACL_INT16, ACL_INT8, ACL_UINT8, ACL_DOUBLE, ACL_BOOL},
      {ACL_BF16}};
  const DtypeList outs = {ACL_FLOAT16, ACL_FLOAT, ACL_DOUBLE, ACL_INT64, ACL_INT32};
  op.rules = {NoNulls("start end step out", is_closed ? 561103 : 161001), DtypeIn("start end step", bounds),
              DtypeIn("out", {outs, {ACL_BF16}}),
              [=](PlanCall& call) -> std::optional<Verdict> {
                if (!is_closed || !call["out"].shape.empty()) return std::nullopt;
                return Verdict{161002, {}, {"parameter out", "0"}};
              },
              StepLeadsToEnd(), Representable(), DoneIfEmpty("out"),
              // More dims than a tensor may have are noticed last.
              WithCode(561103, Ranks("out"))};
  for (const DtypeNumber out : outs) op.bases.push_back(OfDtype("out", out));
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{9}, Shape{4, 0}, Shape{1, 1, 1, 1, 1, 1, 1, 3},
                             Shape{1, 1, 1, 1, 1, 1, 1, 0, 3}})
    op.bases.push_back(OfShape("out", shape));
  op.bases.push_back(Together({OfNumber("start", 4), OfNumber("end", 1), OfNumber("step", -1)}));
  for (const DtypeNumber dtype : {ACL_INT64, ACL_BOOL}) {
    op.bases.push_back([=](PlanCall& call) {
      for (const char* name : {"start", "end", "step"}) call[name].dtype = dtype;
    });
  }
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    for (const char* name : {"start", "end", "step"}) DrawScalar(call[name], random);
    call["out"].dtype = DrawDtype(random, outs);
    call["out"].shape = DrawShape(random, 0, 8);
  };
  return op;
}

OperatorSpec Linspace() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnLinspace);
  op.valid = {ScalarArg("start", {0, 0}, ACL_DOUBLE), ScalarArg("end", {1, 0}, ACL_DOUBLE),
              IntegerArg("steps", 6), OutputArg("out", {6})};
  const DtypeList outs = {ACL_FLOAT, ACL_FLOAT16, ACL_INT32, ACL_INT8, ACL_UINT8, ACL_DOUBLE};
  const auto is_complex = [](DtypeNumber dtype) { return IsComplexDtype(dtype) || dtype == ACL_COMPLEX32; };
  op.rules = {NoNulls("start end out", 561103),
              [=](PlanCall& call) -> std::optional<Verdict> {
                for (const char* name : {"start", "end"}) {
                  if (is_complex(call[name].dtype))
                    return Verdict{161002, {}, {name, DtypeName(call[name].dtype)}};
                }
                return std::nullopt;
              },
              // Two lists are empty.
              On({Product::k310B, Product::kNoDevice}, DtypeIn("out", {})),
              DtypeIn("out", {outs, {ACL_BF16, ACL_INT16, ACL_INT64}}),
              [](PlanCall& call) -> std::optional<Verdict> {
                const int64_t steps = call["steps"].integer;
                const Shape& out = call["out"].shape;
                if (steps >= 0 && CountedElements(out) == steps) return std::nullopt;
                return Verdict{161002, {}, {"out", "steps", std::to_string(steps), ToString(out)}};
              },
              Representable(), DoneIfEmpty("out"), WithCode(561103, Ranks("out")),
              // The numbers lie in one dim, from two on.
              [](PlanCall& call) -> std::optional<Verdict> {
                if (call["steps"].integer <= 1 || call["out"].shape.size() == 1) return std::nullopt;
                return Verdict{561103, {}, {"parameter out", "1 dims"}};
              },
              Convertible("start end", ConvertibleDtypes())};
  const auto of_size = [](int64_t steps, const Shape& out) {
    return Together({Integer("steps", steps), OfShape("out", out)});
  };
  for (const auto& [steps, out] : {std::pair<int64_t, Shape>{0, {0}},
                                   {0, {3, 0}},
                                   {1, {}},
                                   {1, {1, 1}},
                                   {2, {1, 2}},
                                   {6, {2, 3}},
                                   {6, {1, 6}},
                                   {-1, {-1}},
                                   {-1, {0}},
                                   {kMin, {1}},
                                   {int64_t{1} << 40, {int64_t{1} << 40}},
                                   {int64_t{1} << 62, {int64_t{1} << 62}}})
    op.bases.push_back(of_size(steps, out));
  for (const DtypeNumber dtype : {ACL_UINT16, ACL_BOOL, ACL_COMPLEX64})
    op.bases.push_back(OfDtype("start", dtype));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    for (const char* name : {"start", "end"}) DrawScalar(call[name], random);
    call["out"].dtype = DrawDtype(random, outs);
    const int64_t steps = random.Between(-1, 9);
    of_size(steps, random.Chance(80) ? Shape{std::max<int64_t>(steps, 0)} : DrawShape(random, 0, 9))(call);
  };
  return op;
}

OperatorSpec Eye() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnEye);
  op.valid = {IntegerArg("n", 2), IntegerArg("m", 3), OutputArg("out", {2, 3})};
  const DtypeList outs = {ACL_FLOAT, ACL_INT32, ACL_FLOAT16, ACL_INT8,
                          ACL_INT16, ACL_UINT8, ACL_INT64,   ACL_BOOL};
  op.rules = {
      NoNulls("out"),
      // CANN lists the products without BF16, and no device is not among them.
      When([](const PlanCall& call) { return call.product != Product::kNoDevice; },
           DtypeIn("out", {outs, {ACL_BF16}})),
      On({Product::kNoDevice}, DtypeIn("out", Listed{outs} + DtypeList{ACL_BF16})),
      [](PlanCall& call) -> std::optional<Verdict> {
        const int64_t n = call["n"].integer;
        const int64_t m = call["m"].integer;
        const Shape& out = call["out"].shape;
        if (out.size() != 2) return Verdict{161002, {}, {"out", std::to_string(out.size()), "2"}};
        if (n >= 0 && m >= 0 && out == Shape{n, m}) return std::nullopt;
        return Verdict{161002, {}, {"out", "n", "m", std::to_string(n), std::to_string(m), ToString(out)}};
      },
      Representable()};
  const auto of_size = [](int64_t n, int64_t m) {
    return Together({Integer("n", n), Integer("m", m), OfShape("out", {n, m})});
  };
  for (const auto& [n, m] : {std::pair<int64_t, int64_t>{0, 3},
                             {3, 0},
                             {-2, 3},
                             {-2, -3},
                             {2, kMin},
                             {1, 1},
                             {kMax, 0},
                             {int64_t{1} << 20, int64_t{1} << 20},
                             {int64_t{1} << 32, int64_t{1} << 32}})
    op.bases.push_back(of_size(n, m));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    of_size(random.Between(-1, 6), random.Between(-1, 6))(call);
    call["out"].dtype = DrawDtype(random, outs);
    if (random.Chance(20)) call["out"].shape = DrawShape(random, 0, 3);
  };
  return op;
}

// ---- triangles ----

OperatorSpec Triangle(const CFunction& function, bool is_upper, bool in_place) {
  OperatorSpec op;
  op.function = function;
  const std::string self = in_place ? "selfRef" : "self";
  const std::string all = in_place ? self : "self out";
  op.valid = {in_place ? OutputArg(self, {2, 3}) : TensorArg(self, {2, 3}), IntegerArg("diagonal", 0)};
  if (!in_place) op.valid.push_back(OutputArg("out", {2, 3}));
  const Listed listed = {{ACL_FLOAT16, ACL_FLOAT, ACL_DOUBLE, ACL_INT8, ACL_INT16, ACL_INT32, ACL_INT64,
                          ACL_UINT8, ACL_UINT16, ACL_UINT32, ACL_UINT64, ACL_BOOL},
                         {ACL_BF16},
                         {ACL_COMPLEX32, ACL_COMPLEX64}};
  const Rules same_as_out = in_place ? Rules{} : Rules{SameDtype(self, "out"), SameFormat(self, "out")};
  const Rules has_shape =
      in_place ? Rules{} : Rules{HasShape("out", [=](const PlanCall& call) { return call[self].shape; })};
  const auto is_no_matrix = [=](const PlanCall& call) { return call[self].shape.size() < 2; };
  const Rule matrices = [=](PlanCall& call) -> std::optional<Verdict> {
    if (!is_no_matrix(call)) return std::nullopt;
    return Verdict{161002, {}, {self, std::to_string(call[self].shape.size()), "2"}};
  };
  // An empty tensor of one dim has an upper triangle, and no lower one.
  op.rules = Rules{NoNulls(all), DtypeIn(self, listed)} + same_as_out +
             Rules{is_upper ? NoPrivateFormat(self) : matrices, Ranks(self)} + has_shape +
             Rules{Representable(), DoneIfEmpty(self), matrices, Inside(self)};
  const auto of_shape = [=](const Shape& shape) {
    return [=](PlanCall& call) {
      for (const std::string& name : Words(all)) call[name].shape = shape;
    };
  };
  for (const Shape& shape :
       {Shape{}, Shape{0}, Shape{3}, Shape{0, 3}, Shape{3, 0}, Shape{1, 1, 1, 1, 1, 1, 0, 1},
        Shape{1, 1, 1, 1, 1, 1, 2, 3}, Shape(9, 1), Shape{1, 1, 1, 1, 1, 1, 1, 0, 1}})
    op.bases.push_back(of_shape(shape));
  for (const int64_t diagonal : {int64_t{-7}, int64_t{1} << 40, kMin, kMax})
    op.bases.push_back(Integer("diagonal", diagonal));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    of_shape(DrawShape(random, 1, 8))(call);
    const DtypeNumber dtype = DrawDtype(random, listed.everywhere);
    for (const std::string& name : Words(all)) call[name].dtype = dtype;
    call["diagonal"].integer = random.Between(-9, 9);
  };
  return op;
}

// ---- whole tensors ----

OperatorSpec Equal() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnEqual);
  op.valid = {TensorArg("self", {2, 3}), TensorArg("other", {2, 3}), OutputArg("out", {1}, ACL_BOOL)};
  const Listed listed = {{ACL_FLOAT16, ACL_FLOAT, ACL_DOUBLE, ACL_INT8, ACL_INT16, ACL_INT32, ACL_INT64,
                          ACL_UINT8, ACL_UINT16, ACL_UINT32, ACL_UINT64, ACL_BOOL},
                         {ACL_BF16}};
  op.rules = {NoNulls("self other out"), Promotes("self other"), PromotedIn("self other", listed),
              DtypeIn("out", {{ACL_BOOL}}), Ranks("self other out"),
              [](PlanCall& call) -> std::optional<Verdict> {
                if (call["out"].shape == Shape{1}) return std::nullopt;
                return Verdict{161002, {}, {"out", ToString(call["out"].shape)}};
              },
              Representable(), Inside("self other"),
              // CANN's table promotes more dtypes to FLOAT; they are not converted here.
              Convertible("self other", ConvertibleDtypes())};
  const auto of_shapes = [](const Shape& self, const Shape& other) {
    return OfShapes({{"self", self}, {"other", other}});
  };
  const int64_t large = int64_t{1} << 32;
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{0, 3}, Shape(8, 2), Shape{large, large, 0},
                             Shape{large, large}, Shape{1 << 20, 1 << 20}, Shape{-2, 3}}) {
    op.bases.push_back(of_shapes(shape, shape));
    op.bases.push_back(of_shapes(shape, {2, 3}));
    op.bases.push_back(of_shapes({2, 3}, shape));
  }
  op.bases.push_back(of_shapes({2, 3}, {1, 3}));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const Shape shape = DrawShape(random, 0, 8);
    of_shapes(shape, random.Chance(60) ? shape : DrawShape(random, 0, 8))(call);
    for (const char* name : {"self", "other"}) call[name].dtype = DrawDtype(random, ConvertibleDtypes());
  };
  return op;
}

}  // namespace

std::vector<const OperatorSpec*> PositionOperators() {
  // Never destroyed: programs call operators until they have ended.
  static const auto& all =
      *new std::vector<OperatorSpec>{Sequence(PORTACL_C_FUNCTION(aclnnArange), false),
                                     Sequence(PORTACL_C_FUNCTION(aclnnRange), true),
                                     Linspace(),
                                     Eye(),
                                     Triangle(PORTACL_C_FUNCTION(aclnnTriu), true, false),
                                     Triangle(PORTACL_C_FUNCTION(aclnnTril), false, false),
                                     Triangle(PORTACL_C_FUNCTION(aclnnInplaceTriu), true, true),
                                     Triangle(PORTACL_C_FUNCTION(aclnnInplaceTril), false, true),
                                     Equal()};
  std::vector<const OperatorSpec*> pointers;
  for (const OperatorSpec& op : all) pointers.push_back(&op);
  return pointers;
}

const OperatorSpec& PositionOperatorNamed(const std::string& name) {
  for (const OperatorSpec* op : PositionOperators()) {
    if (op->function.name == name) return *op;
  }
  throw std::logic_error(name + " has no positions");
}

}  // namespace portacl::testing
