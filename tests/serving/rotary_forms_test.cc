// Rotary embeddings as serving calls them: with a matrix in the signature, in place on query and key, on pairs side by side.
// SPDX-License-Identifier: Apache-2.0
#include "../norm/row_calls.h"

#include <algorithm>

#include "aclnnop/families/attention.h"
#include "gtest/gtest.h"
#include "support/environment.h"
#include "support/guarded_buffer.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

const Listed kF3 = {{}, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}};

// x * cos + r * sin of a row of n elements by the formulas of the modes: r = cat(-second half, first half); (-x1, x0, -x3, x2, ...);
// cat(-x2, x1, -x4, x3) of quarters; mode 3 as mode 0, of the elements at even places and then those at odd ones.
double Rotated(int64_t mode, int64_t n, int64_t i, const std::function<double(int64_t)>& x, double cos,
               double sin) {
  if (mode == 1) return x(i) * cos + (i % 2 == 0 ? -x(i + 1) : x(i - 1)) * sin;
  if (mode == 2) {
    const int64_t quarter = n / 4;
    const bool is_first = i / quarter % 2 == 0;
    return x(i) * cos + (is_first ? -x(i + quarter) : x(i - quarter)) * sin;
  }
  const auto at = [&](int64_t place) {
    return x(mode == 0 ? place : place < n / 2 ? 2 * place : 2 * (place - n / 2) + 1);
  };
  return at(i) * cos + (i < n / 2 ? -at(i + n / 2) : at(i - n / 2)) * sin;
}
Outcome RotatedOutcome(int64_t mode, const TensorValues& x, const TensorValues& cos,
                       const TensorValues& sin) {
  const int64_t n = x.shape.back();
  std::vector<double> out(x.elements.size());
  for (int64_t i = 0; i < std::ssize(out); ++i) {
    const Index index = IndexAt(x.shape, i);
    const int64_t row = i - index.back();
    out[static_cast<size_t>(i)] = Rotated(
        mode, n, index.back(), [&](int64_t place) { return ValueAt(x, row + place); }, ValueAt(cos, index),
        ValueAt(sin, index));
  }
  return AsOutcome(x.dtype, out);
}

OperatorSpec WithMatrix() {
  OperatorSpec op;
  const Shape shape = {2, 3, 2, 4};
  op.function = PORTACL_C_FUNCTION(aclnnRotaryPositionEmbeddingV2);
  op.valid = {TensorArg("x", shape), TensorArg("cos", shape),     TensorArg("sin", shape),
              IntegerArg("mode", 0), TensorArg("rotate", {4, 4}), OutputArg("out", shape)};
  op.valid[4].null = true;
  op.rules = {
      NoNulls("x cos sin out"),
      DtypeIn("x", kF3),
      SameDtype("x", "cos"),
      SameDtype("x", "sin"),
      Refuses(161002, "rotate",
              [](PlanCall& call) { return !call["rotate"].null && call["rotate"].dtype != call["x"].dtype; }),
      SameDtype("x", "out"),
      Refuses(161002, "mode",
              [](PlanCall& call) { return call["mode"].integer < 0 || call["mode"].integer > 3; }),
      SameShape("x", "out"),
      Tiling("x cos sin",
             [](PlanCall& call) {
               return call["x"].shape.size() != 4 || call["cos"].shape.size() != 4 ||
                      call["sin"].shape.size() != 4;
             }),
      Tiling("sin", [](PlanCall& call) { return call["cos"].shape != call["sin"].shape; }),
      Tiling("x",
             [](PlanCall& call) {
               const int64_t n = call["x"].shape[3];
               return n > 1024 || n % (call["mode"].integer == 2 ? 4 : 2) != 0;
             }),
      Tiling("cos",
             [](PlanCall& call) {
               const Shape& x = call["x"].shape;
               const Shape& cos = call["cos"].shape;
               bool fits = cos[3] == x[3];
               for (size_t i = 0; i < 3; ++i) fits = fits && (cos[i] == 1 || cos[i] == x[i]);
               return !fits;
             }),
      Tiling("rotate",
             [](PlanCall& call) {
               const int64_t n = call["x"].shape[3];
               return !call["rotate"].null && call["rotate"].shape != Shape{n, n};
             }),
      DoneIfEmpty("x")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape drawn = DrawShape(random, 4, 4, 4);
    call["mode"].integer = random.Below(4);
    drawn[3] = 4 * random.Between(1, random.Below(4) == 0 ? 256 : 20);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    for (const char* name : {"x", "cos", "sin", "out"}) {
      call[name].shape = drawn;
      call[name].dtype = dtype;
    }
    for (size_t i = 0; i < 3; ++i) {
      if (random.Below(2) == 0) call["cos"].shape[i] = 1;
    }
    call["sin"].shape = call["cos"].shape;
    call["rotate"].dtype = dtype;
    call["rotate"].null = drawn[3] > 64 || random.Below(2) == 0;
    call["rotate"].shape = {drawn[3], drawn[3]};
  };
  op.fill = FillRows;
  op.tolerance = 1e-5;
  op.is_inexact = true;
  op.takes_workspace = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& x = tensors[0];
    if (call["rotate"].null)
      return std::vector<Outcome>{RotatedOutcome(call["mode"].integer, x, tensors[1], tensors[2])};
    const int64_t n = x.shape.back();
    std::vector<double> out(x.elements.size());
    for (int64_t i = 0; i < std::ssize(out); ++i) {
      const Index index = IndexAt(x.shape, i);
      double turned = 0;
      for (int64_t k = 0; k < n; ++k)
        turned += ValueAt(x, i - index[3] + k) * ValueAt(tensors[3], k * n + index[3]);
      out[static_cast<size_t>(i)] =
          ValueAt(x, i) * ValueAt(tensors[1], index) + turned * ValueAt(tensors[2], index);
    }
    return std::vector<Outcome>{AsOutcome(x.dtype, out)};
  };
  return op;
}

OperatorSpec SideBySide() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnInterleaveRope);
  op.valid = {TensorArg("x", {2, 3, 2, 64}, ACL_FLOAT16), TensorArg("cos", {2, 1, 2, 64}, ACL_FLOAT16),
              TensorArg("sin", {2, 1, 2, 64}, ACL_FLOAT16), OutputArg("out", {2, 3, 2, 64}, ACL_FLOAT16)};
  op.rules = {NoNulls("x cos sin out"),
              DtypeIn("x", {{}, {ACL_FLOAT16, ACL_BF16}}),
              SameDtype("x", "cos"),
              SameDtype("x", "sin"),
              SameDtype("x", "out"),
              Tiling("x cos sin",
                     [](PlanCall& call) {
                       return call["x"].shape.size() != 4 || call["cos"].shape.size() != 4 ||
                              call["sin"].shape.size() != 4;
                     }),
              Tiling("sin", [](PlanCall& call) { return call["cos"].shape != call["sin"].shape; }),
              Tiling("x", [](PlanCall& call) { return call["x"].shape[3] != 64; }),
              Tiling("cos",
                     [](PlanCall& call) {
                       const Shape& x = call["x"].shape;
                       const Shape& cos = call["cos"].shape;
                       return cos[0] != x[0] || cos[1] != 1 || (cos[2] != 1 && cos[2] != x[2]) ||
                              cos[3] != 64;
                     }),
              Tiling("out", [](PlanCall& call) { return call["out"].shape != call["x"].shape; }),
              DoneIfEmpty("x")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape drawn = DrawShape(random, 4, 4, 5);
    drawn[3] = 64;
    const DtypeNumber dtype = random.Below(2) == 0 ? ACL_FLOAT16 : ACL_BF16;
    for (const char* name : {"x", "cos", "sin", "out"}) {
      call[name].shape = drawn;
      call[name].dtype = dtype;
    }
    call["cos"].shape[1] = 1;
    if (random.Below(2) == 0) call["cos"].shape[2] = 1;
    call["sin"].shape = call["cos"].shape;
  };
  op.fill = FillRows;
  op.tolerance = 1e-6;
  op.is_inexact = true;
  op.oracle = [](const PlanCall&, const std::vector<TensorValues>& tensors) {
    return std::vector<Outcome>{RotatedOutcome(3, tensors[0], tensors[1], tensors[2])};
  };
  return op;
}

int64_t NamedMode(const PlanCall& call, bool has_mode) {
  if (!has_mode || call["rotaryMode"].null) return 0;
  const std::string& text = call["rotaryMode"].text;
  return text == "half" ? 0 : text == "interleave" ? 1 : text == "quarter" ? 2 : -1;
}

OperatorSpec InPlace(const CFunction& function, bool has_mode) {
  OperatorSpec op;
  op.function = function;
  op.valid = {OutputArg("queryRef", {2, 3, 5, 8}), OutputArg("keyRef", {2, 3, 2, 8}),
              TensorArg("cos", {2, 3, 1, 8}), TensorArg("sin", {2, 3, 1, 8}), IntegerArg("layout", 1)};
  if (has_mode) op.valid.push_back(TextArg("rotaryMode", "half"));
  const auto heads = [](PlanCall& call) { return size_t{call["layout"].integer <= 2 ? 2u : 1u}; };
  const auto one_head = [=](const std::string& name) {
    return Tiling(name, [=](PlanCall& call) {
      Shape accepted = call["queryRef"].shape;
      accepted[heads(call)] = 1;
      return call[name].shape != accepted;
    });
  };
  op.rules = {NoNulls("queryRef keyRef cos sin"),
              DtypeIn("queryRef", kF3),
              SameDtype("queryRef", "keyRef"),
              SameDtype("queryRef", "cos"),
              SameDtype("queryRef", "sin"),
              Tiling("layout", [](PlanCall& call) {
                return call["layout"].integer < 1 || call["layout"].integer > 4;
              })};
  if (has_mode)
    op.rules.push_back(Tiling("rotaryMode", [](PlanCall& call) { return NamedMode(call, true) < 0; }));
  const Rules rest = {Tiling("queryRef keyRef cos sin",
                             [](PlanCall& call) {
                               const size_t rank = call["layout"].integer == 4 ? 3 : 4;
                               for (const char* name : {"queryRef", "keyRef", "cos", "sin"}) {
                                 if (call[name].shape.size() != rank) return true;
                               }
                               return false;
                             }),
                      Tiling("keyRef",
                             [=](PlanCall& call) {
                               Shape accepted = call["queryRef"].shape;
                               accepted[heads(call)] = call["keyRef"].shape[heads(call)];
                               return call["keyRef"].shape != accepted;
                             }),
                      one_head("cos"), one_head("sin"), Tiling("queryRef keyRef", [=](PlanCall& call) {
                        const int64_t n = call["queryRef"].shape.back();
                        return NumElements(call["queryRef"].shape) == 0 ||
                               NumElements(call["keyRef"].shape) == 0 || n > 1024 ||
                               n % (NamedMode(call, has_mode) == 2 ? 4 : 2) != 0;
                      })};
  op.rules.insert(op.rules.end(), rest.begin(), rest.end());
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const int64_t layout = random.Between(1, 4);
    Shape shape = DrawShape(random, layout == 4 ? 3 : 4, layout == 4 ? 3 : 4, 4);
    for (int64_t& length : shape) length = std::max<int64_t>(length, 1);
    shape.back() = 4 * random.Between(1, random.Below(4) == 0 ? 256 : 32);
    call["layout"].integer = layout;
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    for (const char* name : {"queryRef", "keyRef", "cos", "sin"}) {
      call[name].shape = shape;
      call[name].dtype = dtype;
    }
    call["keyRef"].shape[heads(call)] = random.Between(1, 3);
    for (const char* name : {"cos", "sin"}) call[name].shape[heads(call)] = 1;
    const char* const modes[] = {"half", "interleave", "quarter"};
    if (has_mode) call["rotaryMode"].text = modes[random.Below(3)];
  };
  op.fill = FillRows;
  op.tolerance = 1e-6;
  op.is_inexact = true;
  op.updates = true;
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const int64_t mode = NamedMode(call, has_mode);
    return std::vector<Outcome>{RotatedOutcome(mode, tensors[0], tensors[2], tensors[3]),
                                RotatedOutcome(mode, tensors[1], tensors[2], tensors[3])};
  };
  return op;
}

// ---- angles by positions ----

int64_t SectionAt(const PlanCall& call, size_t k) {
  const PlanArgument& sections = call["mropeSection"];
  return !sections.null && k < sections.values.size() ? sections.values[k] : 0;
}
// The row of positions that gives the angles of a column.
int64_t RowOfColumn(const PlanCall& call, bool has_mode, int64_t column) {
  if (call["positions"].shape.size() == 1) return 0;
  if (has_mode && call["cacheMode"].integer == 1) {
    const int64_t row = column % 3;
    return row != 0 && column < 3 * SectionAt(call, 1) ? row : 0;
  }
  int64_t end = 0;
  for (size_t k = 0; k < 4; ++k) {
    end += SectionAt(call, k);
    if (column < end) return static_cast<int64_t>(k);
  }
  return 0;
}

OperatorSpec Looked(const CFunction& function, bool has_mode) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("positions", {3}, ACL_INT64),
              TensorArg("queryIn", {3, 16}),
              TensorArg("keyIn", {3, 8}),
              TensorArg("cosSinCache", {9, 6}),
              ArrayArg("mropeSection", {0, 0, 0}),
              IntegerArg("headSize", 8),
              IntegerArg("isNeoxStyle", 1)};
  if (has_mode) op.valid.push_back(IntegerArg("cacheMode", 0));
  op.valid.push_back(OutputArg("queryOut", {3, 16}));
  op.valid.push_back(OutputArg("keyOut", {3, 8}));
  op.takes_workspace = true;
  op.rules = {
      NoNulls("cosSinCache", 561103),
      NoNulls("positions queryIn keyIn queryOut keyOut"),
      DtypeIn("positions", {{ACL_INT32, ACL_INT64}}),
      DtypeIn("queryIn", kF3),
      Refuses(161002, "queryIn", [=](PlanCall& call) { return !has_mode && call.product == Product::k950; }),
      SameDtype("queryIn", "keyIn"),
      SameDtype("queryIn", "cosSinCache"),
      SameDtype("queryIn", "queryOut"),
      SameDtype("queryIn", "keyOut"),
      Ranks("queryIn keyIn cosSinCache", 2, 2),
      Refuses(161002, "keyIn",
              [](PlanCall& call) { return call["keyIn"].shape[0] != call["queryIn"].shape[0]; }),
      SameShape("queryIn", "queryOut"),
      SameShape("keyIn", "keyOut"),
      Refuses(161002, "headSize", [](PlanCall& call) { return call["headSize"].integer <= 0; })};
  if (has_mode) {
    op.rules.push_back(Tiling("cacheMode", [](PlanCall& call) {
      return call["cacheMode"].integer < 0 || call["cacheMode"].integer > 1;
    }));
  }
  const auto whole = [](const std::string& name) {
    return Tiling(name, [=](PlanCall& call) { return call[name].shape[1] % call["headSize"].integer != 0; });
  };
  const Rules rest = {
      Tiling("cosSinCache",
             [](PlanCall& call) {
               const Shape& table = call["cosSinCache"].shape;
               return table[0] == 0 || table[1] == 0 || table[1] % 2 != 0 ||
                      table[1] > call["headSize"].integer;
             }),
      whole("queryIn"),
      whole("keyIn"),
      Tiling("positions",
             [](PlanCall& call) {
               const Shape& positions = call["positions"].shape;
               const int64_t n = call["queryIn"].shape[0];
               if (positions.size() == 1) return positions[0] != n;
               return positions.size() != 2 || positions[1] != n || (positions[0] != 3 && positions[0] != 4);
             }),
      Tiling("mropeSection positions",
             [=](PlanCall& call) {
               const Shape& positions = call["positions"].shape;
               const int64_t angles = call["cosSinCache"].shape[1] / 2;
               const int64_t rows = positions.size() == 1 ? 0 : positions[0];
               int64_t sum = 0;
               for (size_t k = 0; k < 4; ++k) {
                 const int64_t length = SectionAt(call, k);
                 if (length < 0 || length > angles || (length != 0 && static_cast<int64_t>(k) >= rows))
                   return true;
                 sum += length;
               }
               if (rows == 0) return false;
               const bool turns = has_mode && call["cacheMode"].integer == 1;
               return turns ? rows != 3 : sum != angles;
             }),
      SucceedsIf([](PlanCall& call) {
        return NumElements(call["queryIn"].shape) == 0 && NumElements(call["keyIn"].shape) == 0;
      })};
  op.rules.insert(op.rules.end(), rest.begin(), rest.end());
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const int64_t n = random.Between(1, 6);
    const int64_t angles = random.Between(1, random.Below(3) == 0 ? 64 : 9);
    const int64_t head = 2 * angles + (random.Below(2) == 0 ? 0 : random.Between(1, 9));
    call["headSize"].integer = head;
    call["isNeoxStyle"].integer = random.Between(0, 1);
    call["queryIn"].shape = call["queryOut"].shape = {n, head * random.Between(1, 4)};
    call["keyIn"].shape = call["keyOut"].shape = {n, head * random.Between(1, 2)};
    call["cosSinCache"].shape = {random.Between(1, 12), 2 * angles};
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    for (const char* name : {"queryIn", "keyIn", "cosSinCache", "queryOut", "keyOut"})
      call[name].dtype = dtype;
    call["positions"].dtype = random.Below(2) == 0 ? ACL_INT32 : ACL_INT64;
    call["positions"].shape = {n};
    call["mropeSection"].values = {0, 0, 0};
    call["mropeSection"].null = random.Below(4) == 0;
    if (has_mode) call["cacheMode"].integer = random.Between(0, 1);
    if (random.Below(2) == 0) return;
    call["mropeSection"].null = false;
    if (has_mode && call["cacheMode"].integer == 1) {
      call["positions"].shape = {3, n};
      call["mropeSection"].values = {random.Between(0, angles), random.Between(0, angles),
                                     random.Between(0, angles)};
      return;
    }
    const int64_t rows = random.Between(3, 4);
    call["positions"].shape = {rows, n};
    call["mropeSection"].values.assign(static_cast<size_t>(rows), 0);
    for (int64_t i = 0; i < angles; ++i)
      ++call["mropeSection"].values[random.Below(static_cast<uint32_t>(rows))];
  };
  op.range = [](const PlanCall& call, size_t tensor) -> std::optional<IndexRange> {
    if (tensor != 0) return std::nullopt;
    return IndexRange{
        0, std::max<int64_t>(call["cosSinCache"].shape.empty() ? 1 : call["cosSinCache"].shape[0], 1)};
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillRows(call, tensors, random);
  };
  op.tolerance = 1e-6;
  op.is_inexact = true;
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const int64_t head = call["headSize"].integer;
    const int64_t turned = call["cosSinCache"].shape[1];
    const int64_t angles = turned / 2;
    const bool is_neox = call["isNeoxStyle"].integer != 0;
    const int64_t n = call["queryIn"].shape[0];
    const int64_t table_rows = call["cosSinCache"].shape[0];
    std::vector<Outcome> all;
    for (const size_t tensor : {1, 2}) {
      const TensorValues& x = tensors[tensor];
      std::vector<double> out(x.elements.size());
      for (int64_t i = 0; i < std::ssize(out); ++i) {
        const int64_t token = i / x.shape[1];
        const int64_t place = i % head;
        if (place >= turned) {
          out[static_cast<size_t>(i)] = ValueAt(x, i);
          continue;
        }
        const int64_t column = is_neox ? place % angles : place / 2;
        const bool is_first = is_neox ? place < angles : place % 2 == 0;
        const int64_t partner = (is_neox ? angles : 1) * (is_first ? 1 : -1);
        const int64_t position = tensors[0].Integer(RowOfColumn(call, has_mode, column) * n + token);
        const bool is_row = position >= 0 && position < table_rows;
        const double cos = is_row ? ValueAt(tensors[3], position * turned + column) : 0;
        const double sin = is_row ? ValueAt(tensors[3], position * turned + angles + column) : 0;
        out[static_cast<size_t>(i)] =
            ValueAt(x, i) * cos + (is_first ? -ValueAt(x, i + partner) : ValueAt(x, i + partner)) * sin;
      }
      all.push_back(AsOutcome(x.dtype, out));
    }
    return all;
  };
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {WithMatrix(),
                                                SideBySide(),
                                                InPlace(PORTACL_C_FUNCTION(aclnnApplyRotaryPosEmb), false),
                                                InPlace(PORTACL_C_FUNCTION(aclnnApplyRotaryPosEmbV2), true),
                                                Looked(PORTACL_C_FUNCTION(aclnnRopeWithSinCosCache), false),
                                                Looked(PORTACL_C_FUNCTION(aclnnRopeWithSinCosCacheV2), true)};
  return all;
}

PORTACL_OPERATOR_TESTS(RotaryForms, Operators());

// It is named by its place among all rows of positions.
TEST(RotaryForms, PositionsThatAreNoRow) {
  const ScopedEnvironment environment(Variables{});
  std::vector<int64_t> positions = {0, 1, 0, 1, 1, 0, 1, 5, 0, 0, 1, 0};  // rows of 4 tokens
  std::vector<float> query(4 * 6, 1), out(4 * 6, 9), key_out(4 * 6, 9), table(2 * 6, 1);
  const auto tensor = [](const Shape& shape, aclDataType dtype, void* data) {
    return aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                           shape.size(), data);
  };
  const std::vector<aclTensor*> all = {
      tensor({3, 4}, ACL_INT64, positions.data()), tensor({4, 6}, ACL_FLOAT, query.data()),
      tensor({2, 6}, ACL_FLOAT, table.data()), tensor({4, 6}, ACL_FLOAT, out.data()),
      tensor({4, 6}, ACL_FLOAT, key_out.data())};
  for (const int64_t mode : {0, 1}) {
    const int64_t lengths[] = {1, 1, 1};
    aclIntArray* const sections = aclCreateIntArray(lengths, 3);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnRopeWithSinCosCacheV2GetWorkspaceSize(all[0], all[1], all[1], all[2], sections, 6, true,
                                                         mode, all[3], all[4], &size, &executor),
              0)
        << TakeErrorMessage();
    const GuardedBuffer workspace(size);
    ASSERT_EQ(aclnnRopeWithSinCosCacheV2(workspace.device(), size, executor, environment.stream()), 0);
    EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), 507015);
    const std::string message = TakeErrorMessage();
    EXPECT_NE(message.find("positions has the value 5 at element 7, accepted: 0 to 1."), std::string::npos)
        << message;
    aclDestroyIntArray(sections);
  }
  for (const aclTensor* one : all) aclDestroyTensor(one);
}

}  // namespace
}  // namespace portacl::testing
