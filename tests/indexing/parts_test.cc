// Gradients of repeated parts, tensors written to parts of others, and tensors of the same bits: their checks, and every element against loops over logical
// indices.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/indexing.h"
#include "aclnnop/families/logic.h"
#include "aclnnop/families/shape.h"
#include "gtest/gtest.h"
#include "index_calls.h"

namespace portacl::testing {
namespace {

// ---- RepeatInterleaveGrad ----

std::vector<int64_t> CountsOf(const TensorValues& repeats, int64_t parts) {
  std::vector<int64_t> counts;
  for (int64_t i = 0; i < parts; ++i)
    counts.push_back(repeats.Integer(std::ssize(repeats.elements) == 1 ? 0 : i));
  return counts;
}

OperatorSpec SumsOfRepeats() {
  constexpr aclnnStatus kTiling = 561002;
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnRepeatInterleaveGrad);
  op.takes_workspace = op.is_inexact = true;
  op.valid = {TensorArg("yGrad", {2, 5}), TensorArg("repeats", {3}, ACL_INT64), IntegerArg("axis", 1),
              OutputArg("out", {2, 3})};
  op.rules = {NoNulls("yGrad repeats out"),
              DtypeIn("yGrad", kFloats),
              DtypeIn("repeats", kIndices),
              SameDtype("yGrad", "out"),
              Refuses(kTiling, "yGrad repeats axis out",
                      [](PlanCall& call) {
                        const Shape& grad = call["yGrad"].shape;
                        if (grad.empty() || grad.size() > 8 || call["repeats"].shape.size() > 1) return true;
                        if (!IsDimOf(call["axis"].integer, grad)) return true;
                        const size_t axis = Wrapped(call["axis"].integer, grad);
                        const int64_t counts = NumElements(call["repeats"].shape);
                        Shape accepted = grad;
                        const Shape& out = call["out"].shape;
                        accepted[axis] = counts == 1 && out.size() == grad.size() ? out[axis] : counts;
                        return out != accepted;
                      }),
              DoneIfEmpty("out")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const DtypeNumber dtype = DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16});
    const Shape out = DrawShape(random, 1, 4);
    const int64_t axis = random.Below(std::ssize(out));
    const int64_t parts = out[static_cast<size_t>(axis)];
    const bool is_one = random.Chance(30);
    Shape grad = out;
    grad[static_cast<size_t>(axis)] = is_one ? parts * random.Below(4) : random.Below(12);
    call["out"] = OutputArg("out", out, dtype);
    call["yGrad"] = TensorArg("yGrad", grad, dtype);
    call["axis"].integer = axis - (random.Chance(50) ? std::ssize(out) : 0);
    call["repeats"] = TensorArg("repeats", is_one ? (random.Chance(50) ? Shape{} : Shape{1}) : Shape{parts},
                                random.Chance(50) ? ACL_INT32 : ACL_INT64);
    call["repeats"].is_distinct = true;
  };
  // Counts that add up to the gradient's length.
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    const size_t axis = Wrapped(call["axis"].integer, call["out"].shape);
    const int64_t parts = call["out"].shape[axis];
    const int64_t length = call["yGrad"].shape[axis];
    HostTensor& repeats = tensors[1];
    std::vector<int64_t> counts(static_cast<size_t>(repeats.size()));
    if (repeats.size() == 1) {
      counts[0] = length / parts;
    } else {
      for (int64_t i = 0; i < length && !counts.empty(); ++i)
        ++counts[static_cast<size_t>(random.Below(std::ssize(counts)))];
    }
    for (int64_t i = 0; i < repeats.size(); ++i)
      EncodeIntegerElement(repeats.dtype(), counts[static_cast<size_t>(i)], repeats.Element(i));
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& out = call["out"].shape;
    const size_t axis = Wrapped(call["axis"].integer, out);
    TensorValues zeros{call["out"].dtype, out, {}};
    zeros.elements.assign(static_cast<size_t>(NumElements(out)),
                          Element(static_cast<size_t>(ElementSize(call["out"].dtype))));
    std::vector<Cell> cells = CellsOf(zeros);
    std::vector<int64_t> part;
    const std::vector<int64_t> counts = CountsOf(tensors[1], out[axis]);
    for (size_t i = 0; i < counts.size(); ++i)
      part.insert(part.end(), static_cast<size_t>(counts[i]), static_cast<int64_t>(i));
    for (int64_t i = 0; i < std::ssize(tensors[0].elements); ++i) {
      Index at = IndexAt(tensors[0].shape, i);
      at[axis] = part[static_cast<size_t>(at[axis])];
      cells[static_cast<size_t>(PositionOf(out, at))].Combine(1, tensors[0].dtype,
                                                              tensors[0].elements[static_cast<size_t>(i)]);
    }
    return std::vector<Outcome>{OutcomeOf(cells)};
  };
  return op;
}

// ---- StridedSliceAssignV2 ----

struct Part {
  int64_t first = 0, count = 0, step = 1;
};
Part PartOf(int64_t begin, int64_t end, int64_t step, int64_t length) {
  const auto bound = [&](int64_t given) {
    return std::min(std::max<int64_t>(given < 0 ? given + length : given, 0), length);
  };
  Part part{bound(begin), 0, step};
  for (int64_t at = part.first; at < bound(end); at += step) ++part.count;
  return part;
}
std::vector<Part> PartsOf(const PlanCall& call) {
  const Shape& var = call["varRef"].shape;
  std::vector<Part> parts;
  for (const int64_t length : var) parts.push_back({0, length, 1});
  for (size_t i = 0; i < call["begin"].values.size(); ++i) {
    const size_t axis = call["axesOptional"].null ? i : Wrapped(call["axesOptional"].values[i], var);
    parts[axis] =
        PartOf(call["begin"].values[i], call["end"].values[i], call["strides"].values[i], var[axis]);
  }
  return parts;
}
Shape ShapeOf(const std::vector<Part>& parts) {
  Shape shape;
  for (const Part& part : parts) shape.push_back(part.count);
  return shape;
}

OperatorSpec Assign() {
  constexpr aclnnStatus kTiling = 561002;
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnStridedSliceAssignV2);
  op.valid = {OutputArg("varRef", {4, 6}), TensorArg("inputValue", {2, 3}), ArrayArg("begin", {1, 0}),
              ArrayArg("end", {3, 6}),     ArrayArg("strides", {1, 2}),     ArrayArg("axesOptional", {0, 1})};
  op.rules = {NoNulls("varRef inputValue begin end strides"), DtypeIn("varRef", kFDI),
              SameDtype("varRef", "inputValue"),
              Refuses(kTiling, "varRef inputValue begin end strides axesOptional",
                      [](PlanCall& call) {
                        const Shape& var = call["varRef"].shape;
                        const size_t entries = call["begin"].values.size();
                        if (var.size() > 8 || call["inputValue"].shape.size() > 8 || entries > var.size())
                          return true;
                        for (const char* name : {"end", "strides", "axesOptional"}) {
                          if (!call[name].null && call[name].values.size() != entries) return true;
                        }
                        std::vector<bool> seen(var.size());
                        for (size_t i = 0; i < entries && !call["axesOptional"].null; ++i) {
                          const int64_t axis = call["axesOptional"].values[i];
                          if (!IsDimOf(axis, var) || seen[Wrapped(axis, var)]) return true;
                          seen[Wrapped(axis, var)] = true;
                        }
                        for (const int64_t step : call["strides"].values) {
                          if (step < 1) return true;
                        }
                        return call["inputValue"].shape != ShapeOf(PartsOf(call));
                      }),
              DoneIfEmpty("varRef inputValue")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const DtypeNumber dtype = DrawDtype(random, {ACL_FLOAT, ACL_BF16, ACL_INT8, ACL_INT64, ACL_BOOL});
    const Shape var = DrawShape(random, 0, 4, 7);
    call["varRef"] = OutputArg("varRef", var, dtype);
    std::vector<int64_t> axes;
    for (int64_t axis = 0; axis < std::ssize(var); ++axis) axes.push_back(axis);
    for (size_t i = axes.size(); i > 1; --i)
      std::swap(axes[i - 1], axes[static_cast<size_t>(random.Below(i))]);
    axes.resize(static_cast<size_t>(random.Between(0, std::ssize(axes))));
    call["axesOptional"].null = random.Chance(30);
    for (const char* name : {"begin", "end", "strides"}) call[name].values.clear();
    for (size_t i = 0; i < axes.size(); ++i) {
      const int64_t length = var[call["axesOptional"].null ? i : static_cast<size_t>(axes[i])];
      const int64_t begin = random.Below(length);
      call["begin"].values.push_back(begin - (random.Chance(30) ? length : 0));
      call["end"].values.push_back(random.Between(begin + 1, length + 3));
      call["strides"].values.push_back(random.Between(1, 3));
      if (random.Chance(30)) axes[i] -= std::ssize(var);
    }
    call["axesOptional"].values = axes;
    call["inputValue"] = TensorArg("inputValue", ShapeOf(PartsOf(call)), dtype);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const std::vector<Part> parts = PartsOf(call);
    Outcome outcome(tensors[0].elements.begin(), tensors[0].elements.end());
    for (int64_t i = 0; i < std::ssize(tensors[1].elements); ++i) {
      Index at = IndexAt(tensors[1].shape, i);
      for (size_t dim = 0; dim < at.size(); ++dim) at[dim] = parts[dim].first + at[dim] * parts[dim].step;
      outcome[static_cast<size_t>(PositionOf(tensors[0].shape, at))] =
          tensors[1].elements[static_cast<size_t>(i)];
    }
    return std::vector<Outcome>{outcome};
  };
  return op;
}

// ---- PrecisionCompare ----

OperatorSpec SameBits() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnPrecisionCompare);
  op.takes_workspace = true;
  op.valid = {TensorArg("golden", {2, 3}), TensorArg("realdata", {2, 3}), OutputArg("out", {}, ACL_UINT32)};
  op.rules = {NoNulls("golden realdata out"),
              DtypeIn("golden", {{ACL_FLOAT, ACL_FLOAT16, ACL_UINT32}, {ACL_BF16}}),
              SameDtype("golden", "realdata"),
              Refuses(161002, "out", [](PlanCall& call) { return call["out"].dtype != ACL_UINT32; }),
              Ranks("golden", 0, 8),
              SameShape("golden", "realdata"),
              Refuses(161002, "out", [](PlanCall& call) { return NumElements(call["out"].shape) != 1; }),
              DoneIfEmpty("golden")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape shape = DrawShape(random, 0, 4);
    if (random.Chance(10)) shape = {random.Between(20000, 90000)};
    call["golden"].shape = call["realdata"].shape = shape;
    call["golden"].dtype = call["realdata"].dtype =
        DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_UINT32});
    call["out"].shape = Shape(static_cast<size_t>(random.Below(3)), 1);
  };
  // The same bytes, of which a bit may be another.
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    const auto size = static_cast<size_t>(ElementSize(tensors[0].dtype()));
    for (int64_t i = 0; i < tensors[1].size(); ++i)
      std::memcpy(tensors[1].Element(i), tensors[0].Element(i), size);
    if (tensors[1].size() == 0 || random.Chance(50)) return;
    tensors[1].Element(random.Below(tensors[1].size()))[random.Below(static_cast<int64_t>(size))] ^=
        std::byte{64};
  };
  op.oracle = [](const PlanCall&, const std::vector<TensorValues>& tensors) {
    const uint32_t differs = tensors[0].elements == tensors[1].elements ? 0 : 1;
    Element element(sizeof differs);
    std::memcpy(element.data(), &differs, sizeof differs);
    return std::vector<Outcome>{{element}};
  };
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {SumsOfRepeats(), Assign(), SameBits()};
  return all;
}
PORTACL_OPERATOR_TESTS(Parts, Operators());

// A dim has one part.
TEST(AssignByHand, DimsThatAreNamedTwice) {
  const ScopedEnvironment environment(Variables{});
  std::vector<float> var(9), value(3);
  aclTensor* const tensors[] = {Dense({3, 3}, ACL_FLOAT, var), Dense({1, 3}, ACL_FLOAT, value)};
  const auto answer = [&](int64_t second) {
    const int64_t numbers[] = {0, 0, 1, 3, 1, 1, 0, second};
    aclIntArray* arrays[4];
    for (size_t i = 0; i < 4; ++i) arrays[i] = aclCreateIntArray(numbers + 2 * i, 2);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    const aclnnStatus status = aclnnStridedSliceAssignV2GetWorkspaceSize(
        tensors[0], tensors[1], arrays[0], arrays[1], arrays[2], arrays[3], &size, &executor);
    for (const aclIntArray* array : arrays) aclDestroyIntArray(array);
    if (status == 0) {
      EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
    }
    return status;
  };
  EXPECT_EQ(answer(1), 0);
  for (const int64_t second : {0, -2}) {
    EXPECT_EQ(answer(second), 561002);
    const std::string message = TakeErrorMessage();
    EXPECT_NE(message.find("names a dim twice"), std::string::npos) << message;
  }
  for (const aclTensor* tensor : tensors) aclDestroyTensor(tensor);
}

// Counts that do not add up fail the stream.
TEST(SumsOfRepeatsAlone, CountsThatDoNotAddUp) {
  const ScopedEnvironment environment(Variables{});
  std::vector<float> grad = {1, 2, 3, 4, 5};
  std::vector<int64_t> repeats = {2, 1};
  std::vector<float> out = {9, 9};
  aclTensor* const tensors[] = {Dense({5}, ACL_FLOAT, grad), Dense({2}, ACL_INT64, repeats),
                                Dense({2}, ACL_FLOAT, out)};
  const Called called = Call(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnRepeatInterleaveGradGetWorkspaceSize(tensors[0], tensors[1], 0, tensors[2], size,
                                                         executor);
      },
      aclnnRepeatInterleaveGrad, environment.stream());
  EXPECT_EQ(called.first, 507015);
  EXPECT_NE(called.message.find("repeats"), std::string::npos) << called.message;
  EXPECT_EQ(out, (std::vector<float>{3, 3}));
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
}

}  // namespace
}  // namespace portacl::testing
