// Gemm: what phase 1 answers, and every element against the definition.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/matmul.h"
#include "gtest/gtest.h"
#include "product_calls.h"

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

IndexOperator Gemm() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnGemm);
  op.valid = {TensorArg("A", {2, 3}),  TensorArg("B", {3, 4}),   TensorArg("C", {4}),
              RealArg("alpha", 0.5),   RealArg("beta", 2),       IntegerArg("transA", 0),
              IntegerArg("transB", 0), OutputArg("out", {2, 4}), IntegerArg("cubeMathType", 1)};
  const auto left = [](const IndexCall& call) {
    return Turned(call["A"].shape, call["transA"].integer != 0);
  };
  const auto right = [](const IndexCall& call) {
    return Turned(call["B"].shape, call["transB"].integer != 0);
  };
  op.rules = {NoNulls("A B C out"),
              Listed_("A B C out", kFloats),
              RankRange("A B", 2, 2),
              IsNoFractal("A"),
              IsNoFractal("B"),
              IsNoFractal("C"),
              IsNoFractal("out"),
              Refuses(161002, "A B", [=](IndexCall& call) { return left(call)[1] != right(call)[0]; }),
              Refuses(161002, "C",
                      [=](IndexCall& call) {
                        const Shape whole = {left(call)[0], right(call)[1]};
                        const Shape& c = call["C"].shape;
                        if (c.size() > 2) return true;
                        for (size_t i = 1; i <= c.size(); ++i) {
                          if (c[c.size() - i] != 1 && c[c.size() - i] != whole[2 - i]) return true;
                        }
                        return false;
                      }),
              Refuses(161002, "out",
                      [=](IndexCall& call) {
                        return call["out"].shape != Shape{left(call)[0], right(call)[1]};
                      }),
              TakesMode("A B"),
              EmptyDone("out")};
  op.draw = [](IndexCall& call, RandomNumbers& random) {
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
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
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

const IndexOperator kOperators[] = {Gemm()};
PORTACL_INDEX_TESTS(Gemms, kOperators);

}  // namespace
}  // namespace portacl::testing
