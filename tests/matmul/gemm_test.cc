// Gemm and Einsum: what phase 1 answers, and every element against the definition.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "aclnnop/families/matmul.h"
#include "gtest/gtest.h"
#include "product_calls.h"
#include "support/environment.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

// The operand as it is multiplied.
Shape Turned(const Shape& shape, bool turns) { return turns ? Shape{shape[1], shape[0]} : shape; }
TensorValues Turned(const TensorValues& tensor, bool turns) {
  if (!turns) return tensor;
  TensorValues turned{tensor.dtype, Turned(tensor.shape, true), {}};
  for (int64_t i = 0; i < std::ssize(tensor.elements); ++i) {
    const Index index = IndexAt(turned.shape, i);
    turned.elements.push_back(
        tensor.elements[static_cast<size_t>(PositionOf(tensor.shape, {index[1], index[0]}))]);
  }
  return turned;
}

OperatorSpec Gemm() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnGemm);
  op.valid = {TensorArg("A", {2, 3}),  TensorArg("B", {3, 4}),   TensorArg("C", {4}),
              RealArg("alpha", 0.5),   RealArg("beta", 2),       IntegerArg("transA", 0),
              IntegerArg("transB", 0), OutputArg("out", {2, 4}), IntegerArg("cubeMathType", 1)};
  const auto left = [](const PlanCall& call) { return Turned(call["A"].shape, call["transA"].integer != 0); };
  const auto right = [](const PlanCall& call) {
    return Turned(call["B"].shape, call["transB"].integer != 0);
  };
  op.rules = {NoNulls("A B C out"),
              DtypeIn("A B C out", kFloats),
              Ranks("A B", 2, 2),
              IsNoFractal("A"),
              IsNoFractal("B"),
              IsNoFractal("C"),
              IsNoFractal("out"),
              Refuses(161002, "A B", [=](PlanCall& call) { return left(call)[1] != right(call)[0]; }),
              Refuses(161002, "C",
                      [=](PlanCall& call) {
                        const Shape whole = {left(call)[0], right(call)[1]};
                        const Shape& c = call["C"].shape;
                        if (c.size() > 2) return true;
                        for (size_t i = 1; i <= c.size(); ++i) {
                          if (c[c.size() - i] != 1 && c[c.size() - i] != whole[2 - i]) return true;
                        }
                        return false;
                      }),
              Refuses(161002, "out",
                      [=](PlanCall& call) {
                        return call["out"].shape != Shape{left(call)[0], right(call)[1]};
                      }),
              TakesMode("A B"),
              DoneIfEmpty("out")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t m = DrawLength(random), n = DrawLength(random), k = DrawDepth(random);
    call["transA"].integer = random.Below(2);
    call["transB"].integer = random.Below(2);
    call["A"].shape = Turned(Shape{m, k}, call["transA"].integer != 0);
    call["B"].shape = Turned(Shape{k, n}, call["transB"].integer != 0);
    call["out"].shape = {m, n};
    Shape c = {m, n};
    for (int64_t& length : c) length = random.Chance(20) ? 1 : length;
    while (!c.empty() && random.Chance(20)) c.erase(c.begin());
    call["C"].shape = c;
    const double factors[] = {1, 0, 0.5, -1.25, 1 + 0x1p-20, 0x1p-30, 3};
    for (const char* name : {"alpha", "beta"}) call[name].real = factors[random.Below(7)];
    DrawDtypes(call, random);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const FloatTensor a(Turned(tensors[0], call["transA"].integer != 0));
    const FloatTensor b(Turned(tensors[1], call["transB"].integer != 0));
    const FloatTensor c(tensors[2]);
    const auto alpha = static_cast<float>(call["alpha"].real);
    const auto beta = static_cast<float>(call["beta"].real);
    const bool multiplies = a.shape[1] > 0 && alpha != 0;
    return std::vector<Outcome>{ForEachElement(call["out"].shape, [&](Index& index) {
      BlockedSum sum = SumOf(a, b);
      if (multiplies) AddTerms(a, index, b, index, sum);
      float result = sum.Result();
      if (multiplies && alpha != 1) result *= alpha;
      if (beta != 0 || !multiplies) {
        float added = c.At(index);
        if (beta != 1) added *= beta;
        result = multiplies ? added + result : added;
      }
      return std::optional<Element>(Rounded(call["out"].dtype, result));
    })};
  };
  op.fill = FillNumbers;
  op.is_inexact = true;
  return op;
}

// ---- Einsum ----

bool IsOfBatches(const PlanCall& call) { return call["equation"].text.size() > 10; }
bool IsKnown(const std::string& equation) {
  return equation == "a,b->ab" || equation == "x,Y->xY" || equation == "abcd,abced->abce" ||
         equation == "qrst,qrsut->qrsu";
}

OperatorSpec Einsum() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnEinsum);
  op.takes_workspace = op.is_inexact = true;
  op.valid = {ListArg("tensors", {{2}, {3}}), TextArg("equation", "a,b->ab"), OutputArg("out", {2, 3})};
  op.rules = {NoNulls("tensors equation out"),
              Refuses(161002, "tensors", [](PlanCall& call) { return call["tensors"].entries.size() != 2; }),
              Refuses(161002, "equation", [](PlanCall& call) { return !IsKnown(call["equation"].text); }),
              Refuses(161002, "out",
                      [](PlanCall& call) {
                        const DtypeNumber dtype = call["out"].dtype;
                        if (dtype == ACL_FLOAT) return call.product == Product::k310P;
                        return !IsOneOf(dtype, {ACL_FLOAT16, ACL_INT16, ACL_INT32, ACL_INT64});
                      }),
              Refuses(161002, "tensors",
                      [](PlanCall& call) {
                        for (const PlanArgument& entry : call["tensors"].entries) {
                          if (entry.dtype != call["out"].dtype) return true;
                        }
                        return false;
                      }),
              Refuses(161002, "tensors out",
                      [](PlanCall& call) {
                        const Shape& x = call["tensors"].entries[0].shape;
                        const Shape& y = call["tensors"].entries[1].shape;
                        if (!IsOfBatches(call))
                          return x.size() != 1 || y.size() != 1 || call["out"].shape != Shape{x[0], y[0]};
                        if (x.size() != 4 || y.size() != 5 || NumElements(x) == 0 || NumElements(y) == 0)
                          return true;
                        return y != Shape{x[0], x[1], x[2], y[3], x[3]} ||
                               call["out"].shape != Shape{x[0], x[1], x[2], y[3]};
                      }),
              DoneIfEmpty("out"),
              Refuses(561103, "out", [](PlanCall& call) {
                return IsOfBatches(call) && !IsOneOf(call["out"].dtype, {ACL_FLOAT, ACL_FLOAT16});
              })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const bool is_of_batches = random.Chance(50);
    const bool has_others = random.Chance(50);
    call["equation"].text = is_of_batches ? (has_others ? "qrst,qrsut->qrsu" : "abcd,abced->abce")
                                          : (has_others ? "x,Y->xY" : "a,b->ab");
    const DtypeNumber dtype =
        is_of_batches ? DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16})
                      : DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_INT16, ACL_INT32, ACL_INT64});
    auto& entries = call["tensors"].entries;
    if (is_of_batches) {
      const Shape x = {random.Between(1, 3), random.Between(1, 3), random.Between(1, 3),
                       random.Between(1, random.Chance(20) ? 300 : 9)};
      const int64_t e = random.Between(1, 9);
      entries[0].shape = x;
      entries[1].shape = {x[0], x[1], x[2], e, x[3]};
      call["out"].shape = {x[0], x[1], x[2], e};
    } else {
      entries[0].shape = {random.Between(1, 40)};
      entries[1].shape = {random.Between(1, 40)};
      call["out"].shape = {entries[0].shape[0], entries[1].shape[0]};
    }
    for (PlanArgument& entry : entries) entry.dtype = dtype;
    call["out"].dtype = dtype;
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    if (!IsIntegerDtype(call["out"].dtype)) return FillNumbers(call, tensors, random);
    for (HostTensor& tensor : tensors) {
      for (int64_t i = 0; i < tensor.size(); ++i)
        EncodeIntegerElement(tensor.dtype(), random.Between(-30000, 30000), tensor.Element(i));
    }
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const DtypeNumber dtype = call["out"].dtype;
    const FloatTensor numbers[] = {FloatTensor(tensors[0]), FloatTensor(tensors[1])};
    const int64_t terms = IsOfBatches(call) ? tensors[0].shape[3] : 1;
    const int64_t others = IsOfBatches(call) ? tensors[1].shape[3] : tensors[1].shape[0];
    Outcome outcome;
    for (int64_t i = 0; i < NumElements(call["out"].shape); ++i) {
      const int64_t x = i / others * terms;
      const int64_t y = IsOfBatches(call) ? i * terms : i % others;
      if (IsIntegerDtype(dtype)) {
        const uint64_t product =
            static_cast<uint64_t>(tensors[0].Integer(x)) * static_cast<uint64_t>(tensors[1].Integer(y));
        Element element(static_cast<size_t>(ElementSize(dtype)));
        std::memcpy(element.data(), &product, element.size());
        outcome.emplace_back(element);
        continue;
      }
      BlockedSum sum(dtype, dtype);
      for (int64_t k = 0; k < terms; ++k)
        sum.AddTerm(numbers[0].numbers[static_cast<size_t>(x + k)],
                    numbers[1].numbers[static_cast<size_t>(y + k)]);
      outcome.push_back(Rounded(dtype, sum.Result()));
    }
    return std::vector<Outcome>{outcome};
  };
  return op;
}

const OperatorSpec kOperators[] = {Gemm(), Einsum()};
PORTACL_OPERATOR_TESTS(Gemms, kOperators);

// C has no dims in front of the product's, of one element neither.
TEST(GemmByHand, DimsInFront) {
  const ScopedEnvironment environment{Variables{}};
  float number = 2;
  const int64_t ones[] = {1, 1, 1};
  for (const uint64_t dims : {0, 1, 2, 3}) {
    aclTensor* tensors[4];
    for (size_t i = 0; i < 4; ++i)
      tensors[i] = aclCreateTensor(ones, i == 2 ? dims : 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, ones,
                                   i == 2 ? dims : 2, &number);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    const aclnnStatus status = aclnnGemmGetWorkspaceSize(tensors[0], tensors[1], tensors[2], 1, 1, 0, 0,
                                                         tensors[3], 1, &size, &executor);
    EXPECT_EQ(status, dims < 3 ? 0 : 161002) << dims;
    if (status == 0) {
      EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
    }
    for (const aclTensor* tensor : tensors) aclDestroyTensor(tensor);
  }
  EXPECT_NE(TakeErrorMessage().find("parameter C"), std::string::npos);
}

// C and out are read and written by their strides, whatever their format is.
TEST(GemmByHand, PrivateFormatsBehindTheStorage) {
  const ScopedEnvironment environment{Variables{}};
  float numbers[4] = {};
  const int64_t twos[] = {2, 2};
  const int64_t four = 4;
  const int64_t near[] = {2, 1};
  const int64_t far[] = {int64_t{1} << 40, 1};
  for (const size_t one : {size_t{2}, size_t{3}}) {
    aclTensor* tensors[4];
    for (size_t i = 0; i < 4; ++i)
      tensors[i] = aclCreateTensor(twos, 2, ACL_FLOAT, i == one ? far : near, 0,
                                   i == one ? ACL_FORMAT_NC1HWC0 : ACL_FORMAT_ND, &four, 1, numbers);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_NE(aclnnGemmGetWorkspaceSize(tensors[0], tensors[1], tensors[2], 1, 1, 0, 0, tensors[3], 1, &size,
                                        &executor),
              0);
    EXPECT_NE(TakeErrorMessage().find(one == 2 ? "parameter C" : "parameter out"), std::string::npos);
    for (const aclTensor* tensor : tensors) aclDestroyTensor(tensor);
  }
}

// Letters stand for dims: which ones does not matter, where they stand does.
TEST(EinsumByHand, Equations) {
  const ScopedEnvironment environment{Variables{}};
  std::vector<float> numbers(16, 1);
  const auto answer = [&](const std::vector<Shape>& shapes, const char* equation,
                          aclDataType dtype = ACL_FLOAT) {
    std::vector<aclTensor*> tensors;
    for (const Shape& shape : shapes)
      tensors.push_back(aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND,
                                        shape.data(), shape.size(), numbers.data()));
    aclTensorList* const list = aclCreateTensorList(tensors.data(), 2);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    const aclnnStatus status = aclnnEinsumGetWorkspaceSize(list, equation, tensors[2], &size, &executor);
    aclDestroyTensorList(list);
    aclDestroyTensor(tensors[2]);
    if (status == 0) {
      EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
    }
    return status;
  };
  for (const char* equation : {"a,b->ab", "b,a->ba", "Z,z->Zz"})
    EXPECT_EQ(answer({{2}, {2}, {2, 2}}, equation), 0) << equation;
  for (const char* equation :
       {"a,b->ba", "a,a->aa", "a,b->ac", "a,b->aa", "a,b->a", "a,b->abc", "a, b->ab", "1,2->12", "", "->,"}) {
    EXPECT_EQ(answer({{2}, {2}, {2, 2}}, equation), 161002) << equation;
    const std::string message = TakeErrorMessage();
    EXPECT_NE(message.find("parameter equation is \"" + std::string(equation) + "\""), std::string::npos)
        << message;
  }
  const std::vector<Shape> batches = {{1, 2, 2, 1}, {1, 2, 2, 1, 1}, {1, 2, 2, 1}};
  for (const char* equation : {"abcd,abced->abce", "edcb,edcab->edca"})
    EXPECT_EQ(answer(batches, equation), 0) << equation;
  EXPECT_EQ(answer(batches, "abcd,abced->abce", ACL_INT32), 561103);
  EXPECT_NE(TakeErrorMessage().find("is not summed"), std::string::npos);
  for (const char* equation :
       {"abcd,abced->abcd", "abcd,abcde->abce", "abcd,abcdd->abcd", "abcc,abcec->abce", "abcd,bacde->abce"})
    EXPECT_EQ(answer(batches, equation), 161002) << equation;
}

}  // namespace
}  // namespace portacl::testing
