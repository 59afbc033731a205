// Products of matrices: what phase 1 answers, and every element against the definition.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/matmul.h"
#include "gtest/gtest.h"
#include "product_calls.h"
#include "support/environment.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

// ---- torch.matmul, of which Mm and BatchMatMul are cases ----

// The shapes of two operands as matrices, and the result's with rows and columns; the batch is empty if it does not broadcast.
struct MatmulShapes {
  Shape left, right, batch, result;
  bool broadcasts = true;
};

MatmulShapes ShapesOf(Shape left, Shape right) {
  MatmulShapes shapes;
  const bool is_row = left.size() == 1;
  const bool is_column = right.size() == 1;
  if (is_row) left.insert(left.begin(), 1);
  if (is_column) right.push_back(1);
  shapes.left = left;
  shapes.right = right;
  const size_t rank = std::max(left.size(), right.size()) - 2;
  for (size_t i = 0; i < rank; ++i) {
    const auto length = [&](const Shape& shape) {
      const size_t missing = rank - (shape.size() - 2);
      return i < missing ? 1 : shape[i - missing];
    };
    const int64_t a = length(left);
    const int64_t b = length(right);
    if (a != b && a != 1 && b != 1) shapes.broadcasts = false;
    shapes.batch.push_back(a == 1 ? b : a);
  }
  shapes.result = shapes.batch;
  if (!is_row) shapes.result.push_back(left[left.size() - 2]);
  if (!is_column) shapes.result.push_back(right.back());
  return shapes;
}

TensorValues Reshaped(TensorValues tensor, const Shape& shape) {
  tensor.shape = shape;
  return tensor;
}

std::vector<Outcome> MatmulOracle(const PlanCall&, const std::vector<TensorValues>& tensors) {
  const MatmulShapes shapes = ShapesOf(tensors[0].shape, tensors[1].shape);
  const FloatTensor left(Reshaped(tensors[0], shapes.left));
  const FloatTensor right(Reshaped(tensors[1], shapes.right));
  if (NumElements(left.shape) == 0 || NumElements(right.shape) == 0)
    return {Outcome(tensors[2].elements.size(), Rounded(tensors[2].dtype, 0))};
  Shape whole = shapes.batch;
  whole.push_back(left.shape[left.shape.size() - 2]);
  whole.push_back(right.shape.back());
  return {ForEachElement(whole, [&](Index& index) {
    BlockedSum sum = SumOf(left, right);
    AddTerms(left, index, right, index, sum);
    return std::optional<Element>(Rounded(tensors[2].dtype, sum.Result()));
  })};
}

Rules FirstRules() {
  return {NoNulls("self mat2 out"), DtypeIn("self mat2 out", kFloats), TakesMode("self mat2")};
}
Rule DepthsMatch() {
  return Refuses(161002, "self mat2", [](PlanCall& call) {
    const Shape& left = call["self"].shape;
    const Shape& right = call["mat2"].shape;
    return left.back() != right[right.size() == 1 ? 0 : right.size() - 2];
  });
}

OperatorSpec Mm() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMm);
  op.valid = {TensorArg("self", {2, 3}), TensorArg("mat2", {3, 4}), OutputArg("out", {2, 4}),
              IntegerArg("cubeMathType", 1)};
  op.rules = FirstRules();
  op.rules.insert(op.rules.end(), {Ranks("self mat2", 2, 2), DepthsMatch(),
                                   [](PlanCall& call) -> std::optional<Verdict> {
                                     call.result = {call["self"].shape[0], call["mat2"].shape[1]};
                                     return std::nullopt;
                                   },
                                   ResultIs("out"), DoneIfEmpty("out")});
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t m = DrawLength(random), n = DrawLength(random), k = DrawDepth(random);
    call["self"].shape = {m, k};
    call["mat2"].shape = {k, n};
    call["out"].shape = {m, n};
    if (random.Chance(20)) call["mat2"].format = ACL_FORMAT_FRACTAL_NZ;
    DrawDtypes(call, random);
  };
  op.oracle = MatmulOracle;
  op.fill = FillNumbers;
  op.is_inexact = true;
  return op;
}

OperatorSpec BatchMatMul() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnBatchMatMul);
  op.valid = {TensorArg("self", {5, 2, 3}), TensorArg("mat2", {5, 3, 4}), OutputArg("out", {5, 2, 4}),
              IntegerArg("cubeMathType", 1)};
  op.rules = FirstRules();
  op.rules.insert(
      op.rules.end(),
      {Ranks("self mat2 out", 3, 3), DepthsMatch(),
       Refuses(161002, "self mat2",
               [](PlanCall& call) { return !ShapesOf(call["self"].shape, call["mat2"].shape).broadcasts; }),
       [](PlanCall& call) -> std::optional<Verdict> {
         call.result = ShapesOf(call["self"].shape, call["mat2"].shape).result;
         return std::nullopt;
       },
       ResultIs("out"), IsNoFractal("self"), IsNoFractal("out"),
       Refuses(161002, "mat2",
               [](PlanCall& call) {
                 const PlanArgument& mat2 = call["mat2"];
                 return mat2.format == ACL_FORMAT_FRACTAL_NZ && (mat2.shape[1] == 1 || mat2.shape[2] == 1);
               }),
       DoneIfEmpty("out")});
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t m = DrawLength(random), n = DrawLength(random), k = DrawDepth(random);
    const int64_t b = random.Below(6);
    call["self"].shape = {random.Chance(30) ? 1 : b, m, k};
    call["mat2"].shape = {random.Chance(30) ? 1 : b, k, n};
    const bool is_one = call["self"].shape[0] == 1 && call["mat2"].shape[0] == 1;
    call["out"].shape = {is_one ? 1 : b, m, n};
    DrawDtypes(call, random);
  };
  op.oracle = MatmulOracle;
  op.fill = FillNumbers;
  op.is_inexact = true;
  return op;
}

OperatorSpec Matmul() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMatmul);
  op.valid = {TensorArg("self", {2, 3}), TensorArg("mat2", {3, 4}), OutputArg("out", {2, 4}),
              IntegerArg("cubeMathType", 1)};
  op.takes_workspace = true;
  op.rules = FirstRules();
  op.rules.insert(
      op.rules.end(),
      {Ranks("self mat2", 1, 6), DepthsMatch(),
       Refuses(161002, "self mat2",
               [](PlanCall& call) { return !ShapesOf(call["self"].shape, call["mat2"].shape).broadcasts; }),
       IsNoFractal("self"), IsNoFractal("out"), SucceedsIf([](PlanCall& call) {
         return NumElements(call["self"].shape) == 0 || NumElements(call["mat2"].shape) == 0;
       }),
       Refuses(561103, "out", [](PlanCall& call) {
         return NumElements(call["out"].shape) !=
                NumElements(ShapesOf(call["self"].shape, call["mat2"].shape).result);
       })});
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t m = DrawLength(random), n = DrawLength(random), k = DrawDepth(random);
    Shape left = {m, k};
    Shape right = {k, n};
    if (random.Chance(15)) left = {k};
    if (random.Chance(15)) right = {k};
    const Shape batch = DrawShape(random, 0, 3, 3);
    for (Shape* shape : {&left, &right}) {
      if (shape->size() == 1) continue;
      Shape own(batch.begin() + (random.Chance(30) && !batch.empty() ? 1 : 0), batch.end());
      for (int64_t& length : own) length = random.Chance(25) ? 1 : length;
      if (random.Chance(20)) own.clear();
      shape->insert(shape->begin(), own.begin(), own.end());
    }
    call["self"].shape = left;
    call["mat2"].shape = right;
    Shape out = ShapesOf(left, right).result;
    // Any shape of as many elements will do.
    if (random.Chance(10)) out = {NumElements(out)};
    if (random.Chance(10)) out.insert(out.begin(), 1);
    call["out"].shape = out;
    DrawDtypes(call, random);
  };
  op.oracle = MatmulOracle;
  op.fill = FillNumbers;
  op.is_inexact = true;
  return op;
}

// ---- with something added ----

enum class Sum { kMatrices, kBatches, kOverBatch };

struct Names {
  std::string self, left, right, out;
};

float NearNumber(float x, Sum kind) {
  if (kind == Sum::kOverBatch) return x;
  if (std::fabs(x) <= 1.1920929e-7f) return 0;
  return std::fabs(x - 1) <= 1.1920929e-7f ? 1 : x;
}

OutcomeOracle AddedOracle(Sum kind, bool in_place) {
  return [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const FloatTensor self(tensors[0]);
    const FloatTensor left(tensors[1]);
    const FloatTensor right(tensors[2]);
    const TensorValues& out = in_place ? tensors[0] : tensors[3];
    const float alpha = NearNumber(static_cast<float>(call["alpha"].number.real), kind);
    const float beta = NearNumber(static_cast<float>(call["beta"].number.real), kind);
    const int64_t depth = left.shape.back();
    const int64_t groups = kind == Sum::kOverBatch
                               ? std::max(left.shape[0], right.shape[0]) *
                                     std::min<int64_t>(1, std::min(left.shape[0], right.shape[0]))
                               : 1;
    const bool multiplies = depth > 0 && groups > 0 && (alpha != 0 || kind == Sum::kBatches);
    const bool adds = beta != 0 || (!multiplies && kind == Sum::kMatrices);
    return std::vector<Outcome>{ForEachElement(out.shape, [&](Index& index) {
      BlockedSum sum = SumOf(left, right);
      for (int64_t group = 0; group < groups && multiplies; ++group) {
        Index a = index;
        Index b = index;
        if (kind == Sum::kOverBatch) {
          a.insert(a.begin(), group);
          b.insert(b.begin(), group);
        }
        AddTerms(left, a, right, b, sum);
        sum.EndBlock();
      }
      float result = sum.Result();
      if (multiplies && alpha != 1) result *= alpha;
      if (adds) {
        float added = self.At(index);
        if (beta != 1) added *= beta;
        result = multiplies ? added + result : added;
      }
      return std::optional<Element>(Rounded(out.dtype, result));
    })};
  };
}

bool Expands(const Shape& shape, const Shape& whole) {
  if (shape.size() > whole.size()) return false;
  for (size_t i = 1; i <= shape.size(); ++i) {
    if (shape[shape.size() - i] != 1 && shape[shape.size() - i] != whole[whole.size() - i]) return false;
  }
  return true;
}

OperatorSpec Added(const CFunction& function, Sum kind, bool in_place) {
  const Names names{in_place ? "selfRef" : "self", kind == Sum::kMatrices ? "mat1" : "batch1",
                    kind == Sum::kMatrices ? "mat2" : "batch2", in_place ? "selfRef" : "out"};
  const bool has_batch = kind != Sum::kMatrices;
  const auto shape_of = [=](std::initializer_list<int64_t> dims) {
    Shape shape = dims;
    if (has_batch) shape.insert(shape.begin(), 3);
    return shape;
  };
  const Shape result = kind == Sum::kBatches ? Shape{3, 2, 4} : Shape{2, 4};
  OperatorSpec op;
  op.function = function;
  op.valid = {in_place ? OutputArg(names.self, result) : TensorArg(names.self, result),
              TensorArg(names.left, shape_of({2, 5})), TensorArg(names.right, shape_of({5, 4})),
              ScalarArg("beta", {2}), ScalarArg("alpha", {0.5})};
  if (!in_place) op.valid.push_back(OutputArg("out", result));
  op.valid.push_back(IntegerArg("cubeMathType", 1));
  const std::string tensors = names.left + " " + names.right + " " + names.self + (in_place ? "" : " out");
  const std::string all = tensors;
  op.rules = {
      NoNulls(names.self + " " + names.left + " " + names.right + " beta alpha" + (in_place ? "" : " out")),
      DtypeIn(tensors, kFloats), Ranks(names.left + " " + names.right, has_batch ? 3 : 2, has_batch ? 3 : 2),
      Refuses(161002, names.left + " " + names.right, [=](PlanCall& call) {
        const Shape& right = call[names.right].shape;
        return call[names.left].shape.back() != right[right.size() - 2];
      })};
  const auto add = [&](const Rule& rule) { op.rules.push_back(rule); };
  if (has_batch) {
    add(Refuses(161002, names.left + " " + names.right, [=](PlanCall& call) {
      const int64_t a = call[names.left].shape[0];
      const int64_t b = call[names.right].shape[0];
      return a != b && a != 1 && b != 1;
    }));
  } else {
    add(IsNoFractal(names.self));
  }
  add([=](PlanCall& call) -> std::optional<Verdict> {
    const Shape& left = call[names.left].shape;
    const Shape& right = call[names.right].shape;
    call.result = {left[left.size() - 2], right.back()};
    if (kind == Sum::kBatches) call.result.insert(call.result.begin(), left[0] == 1 ? right[0] : left[0]);
    return std::nullopt;
  });
  if (has_batch) {
    add(Refuses(161002, names.self, [=](PlanCall& call) {
      return (NumElements(call[names.self].shape) == 0) != (NumElements(call.result) == 0);
    }));
  }
  if (kind == Sum::kBatches) {
    // broadcast(self, [batch1's b, m, n]) is out, and the product is not broadcast.
    add(Refuses(161002, all, [=](PlanCall& call) {
      Shape product = call.result;
      product[0] = call[names.left].shape[0];
      const Shape& self = call[names.self].shape;
      if (self.size() > 3) return true;
      Shape sum = product;
      for (size_t i = 1; i <= self.size(); ++i) {
        const int64_t length = self[self.size() - i];
        int64_t& other = sum[3 - i];
        if (length != other && length != 1 && other != 1) return true;
        other = other == 1 ? length : other;
      }
      return sum != call[names.out].shape || sum != call.result;
    }));
    add(Refuses(161002, all, [=](PlanCall& call) {
      return call[names.left].format != call[names.right].format ||
             call[names.left].format != call[names.out].format;
    }));
  } else {
    add(Refuses(161002, names.self,
                [=](PlanCall& call) { return !Expands(call[names.self].shape, call.result); }));
    add(Refuses(161002, names.out, [=](PlanCall& call) {
      if (kind == Sum::kMatrices && NumElements(call.result) == 0)
        return NumElements(call[names.out].shape) != 0;
      return call[names.out].shape != call.result;
    }));
    if (kind == Sum::kOverBatch)
      add(Refuses(161002, all,
                  [=](PlanCall& call) { return call[names.left].format != call[names.right].format; }));
  }
  add(TakesMode(names.left + " " + names.right));
  add(DoneIfEmpty(names.out));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const int64_t m = DrawLength(random), n = DrawLength(random), k = DrawDepth(random);
    const int64_t b = random.Chance(90) ? random.Between(1, 4) : 0;
    Shape left = {m, k}, right = {k, n}, out = {m, n};
    if (has_batch) {
      left.insert(left.begin(), b);
      right.insert(right.begin(), random.Chance(30) ? 1 : b);
    }
    if (kind == Sum::kBatches) out.insert(out.begin(), b);
    if (kind == Sum::kOverBatch && random.Chance(20)) left[0] = 1;
    Shape self = out;
    if (!in_place) {
      for (int64_t& length : self) length = random.Chance(20) ? 1 : length;
      while (!self.empty() && random.Chance(20)) self.erase(self.begin());
      if (NumElements(out) == 0) self = out;
    }
    call[names.left].shape = left;
    call[names.right].shape = right;
    call[names.out].shape = out;
    call[names.self].shape = self;
    const double factors[] = {1, 1, 0, 0.5, -1.25, 1 + 1e-7, 1e-7, 3};
    for (const char* name : {"beta", "alpha"}) call[name].number.real = factors[random.Below(8)];
    DrawDtypes(call, random);
  };
  op.oracle = AddedOracle(kind, in_place);
  op.fill = FillNumbers;
  op.is_inexact = true;
  return op;
}

// ---- vectors ----

OperatorSpec Mv() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMv);
  op.valid = {TensorArg("self", {2, 3}), TensorArg("vec", {3}), OutputArg("out", {2}),
              IntegerArg("cubeMathType", 1)};
  op.rules = {NoNulls("self vec out"),
              SameDtype("vec", "out"),
              Refuses(161002, "self vec",
                      [](PlanCall& call) {
                        return NumElements(call["self"].shape) != 0 &&
                               call["self"].dtype != call["vec"].dtype;
                      }),
              DtypeIn("self vec out", kFloats),
              TakesMode("self vec"),
              Ranks("self", 2, 2),
              Ranks("vec out", 1, 1),
              Refuses(161002, "vec self",
                      [](PlanCall& call) { return call["vec"].shape[0] != call["self"].shape[1]; }),
              Refuses(161002, "out self",
                      [](PlanCall& call) { return call["out"].shape[0] != call["self"].shape[0]; }),
              DoneIfEmpty("out")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t m = DrawLength(random), k = DrawDepth(random);
    call["self"].shape = {m, k};
    call["vec"].shape = {k};
    call["out"].shape = {m};
    const DtypeNumber dtype = DrawDtype(random, kMatrixDtypes);
    for (const char* name : {"self", "vec", "out"}) call[name].dtype = dtype;
  };
  op.oracle = MatmulOracle;
  op.fill = FillNumbers;
  op.is_inexact = true;
  return op;
}

OperatorSpec Dot() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnDot);
  op.valid = {TensorArg("self", {3}), TensorArg("tensor", {3}), OutputArg("out", {})};
  op.takes_workspace = true;
  op.rules = {NoNulls("self tensor out"),
              SameDtype("self", "tensor"),
              SameDtype("self", "out"),
              DtypeIn("self", kFloats + DtypeList{ACL_INT8, ACL_UINT8, ACL_INT32}),
              Ranks("self tensor", 1, 1),
              SameShape("self", "tensor"),
              Refuses(161002, "out", [](PlanCall& call) { return !call["out"].shape.empty(); })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t k = random.Chance(10) ? random.Between(1, 20000) : DrawDepth(random);
    call["self"].shape = call["tensor"].shape = {k};
    const DtypeNumber dtype =
        DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8, ACL_UINT8, ACL_INT32});
    for (const char* name : {"self", "tensor", "out"}) call[name].dtype = dtype;
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    if (!IsIntegerDtype(tensors[0].dtype)) return MatmulOracle(call, tensors);
    uint64_t sum = 0;
    for (int64_t i = 0; i < tensors[0].shape[0]; ++i)
      sum += static_cast<uint64_t>(tensors[0].Integer(i)) * static_cast<uint64_t>(tensors[1].Integer(i));
    Element element(static_cast<size_t>(ElementSize(tensors[2].dtype)));
    EncodeIntegerElement(tensors[2].dtype, static_cast<int64_t>(sum), element.data());
    return std::vector<Outcome>{{element}};
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    if (!IsIntegerDtype(call["self"].dtype)) FillNumbers(call, tensors, random);
  };
  op.is_inexact = true;
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> operators = {
      Mm(),
      BatchMatMul(),
      Matmul(),
      Mv(),
      Dot(),
      Added(PORTACL_C_FUNCTION(aclnnAddmm), Sum::kMatrices, false),
      Added(PORTACL_C_FUNCTION(aclnnInplaceAddmm), Sum::kMatrices, true),
      Added(PORTACL_C_FUNCTION(aclnnBaddbmm), Sum::kBatches, false),
      Added(PORTACL_C_FUNCTION(aclnnInplaceBaddbmm), Sum::kBatches, true),
      Added(PORTACL_C_FUNCTION(aclnnAddbmm), Sum::kOverBatch, false),
      Added(PORTACL_C_FUNCTION(aclnnInplaceAddbmm), Sum::kOverBatch, true),
  };
  return operators;
}

PORTACL_OPERATOR_TESTS(Products, Operators());

// Matrices in the format FRACTAL_NZ lie as their strides say, inside their storage.
TEST(ProductsOfFractals, LieInTheirStorage) {
  const ScopedEnvironment environment(Variables{});
  std::vector<float> numbers(64, 1);
  const int64_t one_number = 1;
  aclTensor* const plain = [&] {
    const int64_t shape[] = {4, 4};
    return aclCreateTensor(shape, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape, 2, numbers.data());
  }();
  const int64_t batch_shape[] = {1, 4, 4};
  aclTensor* const batch =
      aclCreateTensor(batch_shape, 3, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, batch_shape, 3, numbers.data());
  aclScalar* const factor = aclCreateScalar(numbers.data(), ACL_FLOAT);
  for (const auto& [row, elements, code] :
       std::vector<std::tuple<int64_t, int64_t, aclnnStatus>>{{4, one_number, 0},
                                                              {0, 4, 0},
                                                              {5, 19, 0},
                                                              {5, 18, 561103},
                                                              {int64_t{1} << 40, 16, 561103},
                                                              {int64_t{1} << 62, 16, 561103},
                                                              {-4, 16, 561103}}) {
    const int64_t strides[] = {0, row, 1};
    const auto fractal = [&](uint64_t rank) {
      return aclCreateTensor(batch_shape + 3 - rank, rank, ACL_FLOAT, strides + 3 - rank, 0,
                             ACL_FORMAT_FRACTAL_NZ, &elements, 1, numbers.data());
    };
    aclTensor* const matrix = fractal(2);
    aclTensor* const matrices = fractal(3);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    const auto expect = [&](aclnnStatus status, const char* name) {
      EXPECT_EQ(status, code) << name << " " << row << " " << elements;
      if (status == 0) {
        aclDestroyAclOpExecutor(executor);
      } else {
        EXPECT_NE(TakeErrorMessage().find("elements inside its storage"), std::string::npos);
      }
    };
    expect(aclnnMmGetWorkspaceSize(plain, matrix, plain, 1, &size, &executor), "Mm");
    expect(aclnnMmGetWorkspaceSize(matrix, plain, plain, 1, &size, &executor), "Mm, self");
    expect(aclnnMatmulGetWorkspaceSize(plain, matrix, plain, 1, &size, &executor), "Matmul");
    expect(aclnnBatchMatMulGetWorkspaceSize(batch, matrices, batch, 1, &size, &executor), "BatchMatMul");
    expect(aclnnAddmmGetWorkspaceSize(plain, plain, matrix, factor, factor, plain, 1, &size, &executor),
           "Addmm");
    aclDestroyTensor(matrix);
    aclDestroyTensor(matrices);
  }
  aclDestroyScalar(factor);
  for (aclTensor* made : {plain, batch}) aclDestroyTensor(made);
}

// Matrices whose last two dims are swapped are taken by their strides alone, as contiguous ones are: behind the storage that they are
// said to have. With gaps between them they are not.
TEST(ProductsOfTransposed, AreTakenByStridesAlone) {
  const ScopedEnvironment environment(Variables{});
  constexpr int64_t kRows = 3, kTerms = 4, kColumns = 2;
  std::vector<float> left(2 * kTerms * kRows + 1), right(2 * kColumns * kTerms + 1), vector(kTerms, 1),
      out(8);
  for (size_t i = 0; i < left.size(); ++i) left[i] = static_cast<float>(i);
  for (size_t i = 0; i < right.size(); ++i) right[i] = static_cast<float>(i % 5) - 2;
  // Element (row, column) of a matrix behind another one of its size, whose columns lie side by side.
  const auto a = [&](int64_t row, int64_t term) {
    return left[static_cast<size_t>(kTerms * kRows + term * kRows + row)];
  };
  const auto b = [&](int64_t term, int64_t column) {
    return right[static_cast<size_t>(kColumns * kTerms + column * kTerms + term)];
  };
  float one = 1;
  aclScalar* const factor = aclCreateScalar(&one, ACL_FLOAT);
  for (const aclFormat format : {ACL_FORMAT_ND, ACL_FORMAT_FRACTAL_NZ}) {
    for (const int64_t gap : {0, 1}) {
      std::vector<aclTensor*> made;
      const auto behind = [&](int64_t rows, int64_t columns, uint64_t rank, aclFormat as, float* data) {
        const int64_t shape[] = {1, rows, columns};
        const int64_t strides[] = {rows * columns, 1, rows + gap};
        const int64_t storage = rows * columns;
        made.push_back(aclCreateTensor(shape + 3 - rank, rank, ACL_FLOAT, strides + 3 - rank, storage, as,
                                       &storage, 1, data));
        return made.back();
      };
      const auto dense = [&](const Shape& shape, float* data) {
        made.push_back(aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
                                       shape.data(), shape.size(), data));
        return made.back();
      };
      uint64_t size = 0;
      aclOpExecutor* executor = nullptr;
      std::fill(out.begin(), out.end(), 0.0f);
      const auto expect = [&](const char* name, aclnnStatus plan, auto run, bool is_matrix) {
        if (gap != 0) {
          EXPECT_EQ(plan, 561103) << name << " " << format;
          TakeErrorMessage();
          return;
        }
        ASSERT_EQ(plan, 0) << name << " " << format << ": " << TakeErrorMessage();
        ASSERT_EQ(run(nullptr, size, executor, environment.stream()), 0) << name;
        ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
        for (int64_t row = 0; row < kRows; ++row) {
          for (int64_t column = 0; column < (is_matrix ? kColumns : 1); ++column) {
            float sum = 0;
            for (int64_t term = 0; term < kTerms; ++term)
              sum += a(row, term) * (is_matrix ? b(term, column) : 1);
            EXPECT_EQ(out[static_cast<size_t>(row * (is_matrix ? kColumns : 1) + column)], sum)
                << name << " " << format << " " << row << ", " << column;
          }
        }
        std::fill(out.begin(), out.end(), 0.0f);
      };
      const auto x = [&](uint64_t rank) { return behind(kRows, kTerms, rank, ACL_FORMAT_ND, left.data()); };
      const auto w = [&](uint64_t rank) { return behind(kTerms, kColumns, rank, format, right.data()); };
      aclTensor* const y = dense({kRows, kColumns}, out.data());
      aclTensor* const ys = dense({1, kRows, kColumns}, out.data());
      aclTensor* const line = dense({kRows}, out.data());
      aclTensor* const v = dense({kTerms}, vector.data());
      expect("Mm", aclnnMmGetWorkspaceSize(x(2), w(2), y, 1, &size, &executor), aclnnMm, true);
      expect("Matmul", aclnnMatmulGetWorkspaceSize(x(2), w(2), y, 1, &size, &executor), aclnnMatmul, true);
      expect("Matmul of batches", aclnnMatmulGetWorkspaceSize(x(3), w(3), ys, 1, &size, &executor),
             aclnnMatmul, true);
      expect("BatchMatMul", aclnnBatchMatMulGetWorkspaceSize(x(3), w(3), ys, 1, &size, &executor),
             aclnnBatchMatMul, true);
      expect("InplaceAddmm",
             aclnnInplaceAddmmGetWorkspaceSize(y, x(2), w(2), factor, factor, 1, &size, &executor),
             aclnnInplaceAddmm, true);
      if (format == ACL_FORMAT_ND) {
        expect("InplaceBaddbmm",
               aclnnInplaceBaddbmmGetWorkspaceSize(ys, x(3), w(3), factor, factor, 1, &size, &executor),
               aclnnInplaceBaddbmm, true);
        expect("InplaceAddbmm",
               aclnnInplaceAddbmmGetWorkspaceSize(y, x(3), w(3), factor, factor, 1, &size, &executor),
               aclnnInplaceAddbmm, true);
        expect("Mv", aclnnMvGetWorkspaceSize(x(2), v, line, 1, &size, &executor), aclnnMv, false);
        aclTensor* const zeros = dense({kRows}, out.data());
        expect("Addmv", aclnnAddmvGetWorkspaceSize(zeros, x(2), v, factor, factor, line, 1, &size, &executor),
               aclnnAddmv, false);
      }
      for (aclTensor* tensor : made) aclDestroyTensor(tensor);
    }
  }
  aclDestroyScalar(factor);
}

// More elements than an int64 counts: a status, whatever the strides say.
TEST(ProductsOfManyElements, AreRefused) {
  const ScopedEnvironment environment(Variables{});
  constexpr int64_t kMany = int64_t{1} << 32;
  float number = 1;
  const int64_t none[] = {0, 0};
  const int64_t one = 1;
  const auto tensor = [&](int64_t rows, int64_t columns) {
    const int64_t shape[] = {rows, columns};
    return aclCreateTensor(shape, 2, ACL_FLOAT, none, 0, ACL_FORMAT_ND, &one, 1, &number);
  };
  aclTensor* const self = tensor(kMany, 1);
  aclTensor* const mat2 = tensor(1, kMany);
  aclTensor* const out = tensor(kMany, kMany);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_NE(aclnnMmGetWorkspaceSize(self, mat2, out, 0, &size, &executor), 0);
  EXPECT_NE(TakeErrorMessage(), "");
  EXPECT_EQ(number, 1);
  for (aclTensor* made : {self, mat2, out}) aclDestroyTensor(made);
}

}  // namespace
}  // namespace portacl::testing
