// Distances of rows: what phase 1 answers, and every element against the definition, bit for bit but for powers.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_cdist.h"
#include "gtest/gtest.h"
#include "matmul/product_calls.h"
#include "support/environment.h"

namespace portacl::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Dims before the last two as they broadcast; nothing if they do not.
std::optional<Shape> BatchOf(const Shape& first, const Shape& second) {
  const size_t rank = std::max(first.size(), second.size());
  Shape batch;
  for (size_t i = 0; i + 2 < rank; ++i) {
    const auto length = [&](const Shape& shape) {
      const size_t missing = rank - shape.size();
      return i < missing ? 1 : shape[i - missing];
    };
    const int64_t a = length(first);
    const int64_t b = length(second);
    if (a != b && a != 1 && b != 1) return std::nullopt;
    batch.push_back(a == 1 ? b : a);
  }
  return batch;
}

// Chains of at most 256 terms, which are added up; the largest has none.
float DistanceOf(const std::vector<float>& differences, float p) {
  float sum = 0;
  float block = 0;
  float most = 0;
  double powers = 0;
  for (size_t i = 0; i < differences.size(); ++i) {
    const float x = differences[i];
    const float size = std::fabs(x);
    if (i % 256 == 0) block = 0;
    if (p == 0) block += x == 0 ? 0 : std::isnan(x) ? x : 1;
    if (p == 1) block += size;
    if (p == 2) block = std::fma(x, x, block);
    if (std::isnan(size) || size > most) most = size;
    powers += std::pow(static_cast<double>(size), static_cast<double>(p));
    if (i % 256 == 255 || i + 1 == differences.size()) sum = i < 256 ? block : sum + block;
  }
  if (p == kInfinity) return most;
  if (p == 2) return std::sqrt(sum);
  if (p == 0 || p == 1) return sum;
  return static_cast<float>(std::pow(powers, 1 / static_cast<double>(p)));
}

std::vector<Outcome> DistanceOracle(const PlanCall& call, const std::vector<TensorValues>& tensors) {
  const FloatTensor first(tensors[0]);
  const FloatTensor second(tensors[1]);
  const int64_t depth = first.shape.back();
  const auto p = static_cast<float>(call["p"].real);
  Shape whole = *BatchOf(first.shape, second.shape);
  const int64_t rows = first.shape[first.shape.size() - 2];
  const int64_t columns = second.shape[second.shape.size() - 2];
  whole.insert(whole.end(), {rows, columns});
  return {ForEachElement(whole, [&](Index& index) {
    Index a = index;
    a.back() = 0;
    Index b = a;
    b[b.size() - 2] = index.back();
    std::vector<float> differences;
    for (int64_t m = 0; m < depth; ++m) {
      a.back() = b.back() = m;
      differences.push_back(first.At(a) - second.At(b));
    }
    return std::optional<Element>(
        ElementOfNumber(tensors[2].dtype, {static_cast<long double>(DistanceOf(differences, p)), 0}));
  })};
}

// Small numbers, some of them alike, now and then one that is not finite.
void FillPoints(const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  const bool special = random.Below(5) == 0;
  for (HostTensor& tensor : tensors) {
    for (int64_t k = 0; k < tensor.size(); ++k) {
      double value = static_cast<double>(random.Between(-4000, 4000)) / 1000;
      if (random.Below(3) == 0) value = static_cast<double>(random.Between(-2, 2));
      if (special && random.Below(30) == 0) {
        const double values[] = {static_cast<double>(kInfinity), -static_cast<double>(kInfinity),
                                 std::numeric_limits<double>::quiet_NaN(), -0.0};
        value = values[random.Below(4)];
      }
      const Element element = ElementOfNumber(tensor.dtype(), {static_cast<long double>(value), 0});
      std::copy(element.begin(), element.end(), tensor.Element(k));
    }
  }
}

OperatorSpec Cdist(const std::vector<double>& powers, double tolerance) {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnCdist);
  op.valid = {TensorArg("x1", {2, 3, 4}), TensorArg("x2", {2, 5, 4}), RealArg("p", powers[0]),
              IntegerArg("compute_mode", 2), OutputArg("out", {2, 3, 5})};
  op.rules = {
      NoNulls("x1 x2 out"),
      Refuses(161002, "x1 x2 out",
              [](PlanCall& call) {
                const bool is_new = call.product == Product::kA2 || call.product == Product::kA3 ||
                                    call.product == Product::k950;
                for (const char* name : {"x1", "x2", "out"}) {
                  if (!is_new || !IsOneOf(call[name].dtype, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16})) return true;
                }
                return false;
              }),
      SameDtype("x1", "out"),
      SameDtype("x2", "out"),
      Ranks("x1 x2 out", 2, 100),
      Ranks("x1 x2 out", 0, 8),
      Refuses(161002, "x2",
              [](PlanCall& call) { return call["x1"].shape.back() != call["x2"].shape.back(); }),
      Refuses(161002, "p", [](PlanCall& call) { return !(static_cast<float>(call["p"].real) >= 0); }),
      Refuses(161002, "compute_mode",
              [](PlanCall& call) {
                const auto p = static_cast<double>(static_cast<float>(call["p"].real));
                return std::fabs(p - 2) < 1e-6 && call["compute_mode"].integer != 2;
              }),
      SucceedsIf([](PlanCall& call) {
        for (const char* name : {"x1", "x2"}) {
          const Shape& shape = call[name].shape;
          if (std::find(shape.begin(), shape.end() - 1, 0) != shape.end() - 1) return true;
        }
        return false;
      }),
      Refuses(161002, "x2", [](PlanCall& call) { return !BatchOf(call["x1"].shape, call["x2"].shape); }),
      [](PlanCall& call) -> std::optional<Verdict> {
        call.result = *BatchOf(call["x1"].shape, call["x2"].shape);
        for (const char* name : {"x1", "x2"})
          call.result.push_back(call[name].shape[call[name].shape.size() - 2]);
        return std::nullopt;
      },
      ResultIsOrOne("out", 561103)};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape first;
    Shape second;
    const int64_t rank = random.Below(12) == 0 ? 6 : random.Below(3);
    for (int64_t i = 0; i < rank; ++i) {
      const int64_t length = random.Between(1, rank > 2 ? 2 : 3);
      first.push_back(random.Below(4) == 0 ? 1 : length);
      second.push_back(random.Below(4) == 0 ? 1 : length);
    }
    if (random.Below(4) == 0) second.clear();
    const int64_t most = rank > 2 ? 4 : 40;
    const int64_t depth = random.Below(5) == 0 && rank < 2 ? random.Between(200, 800) : random.Between(0, 9);
    for (Shape* shape : {&first, &second})
      shape->insert(shape->end(),
                    {random.Below(6) == 0 ? random.Between(1, most * 5) : random.Between(1, most), depth});
    call["x1"].shape = first;
    call["x2"].shape = second;
    call["out"].shape = *BatchOf(first, second);
    call["out"].shape.insert(call["out"].shape.end(), {first[first.size() - 2], second[second.size() - 2]});
    call["p"].real = powers[static_cast<size_t>(random.Below(std::ssize(powers)))];
    call["compute_mode"].integer = call["p"].real == 2 ? 2 : random.Between(0, 2);
    const DtypeNumber dtype = DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16});
    for (const char* name : {"x1", "x2", "out"}) call[name].dtype = dtype;
  };
  op.fill = FillPoints;
  op.is_inexact = true;
  op.tolerance = tolerance;
  op.oracle = DistanceOracle;
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {Cdist({2, 0, 1, static_cast<double>(kInfinity)}, 0)};
  return all;
}

PORTACL_OPERATOR_TESTS(Distances, Operators());

// Powers are as near as their function is.
TEST(Distances, OfAnyPower) { CheckNumbers(Cdist({1.5, 3, 0.5, 7.25, 2.0000005}, 1e-4), 150); }

// The same numbers where a thread gets no memory to keep, and where threads share the tiles.
TEST(Distances, OfManyRowsAreThoseOfEachPair) {
  const ScopedEnvironment environment(Variables{});
  constexpr int64_t kRows = 700, kColumns = 333, kDepth = 600;
  std::vector<float> x1(kRows * kDepth), x2(kColumns * kDepth), out(kRows * kColumns, -1);
  RandomNumbers random(7);
  for (std::vector<float>* x : {&x1, &x2}) {
    for (float& number : *x) number = static_cast<float>(random.Between(-999, 999)) / 256;
  }
  const auto tensor = [](const Shape& shape, float* data) {
    return aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                           shape.size(), data);
  };
  aclTensor* const first = tensor({kRows, kDepth}, x1.data());
  aclTensor* const second = tensor({kColumns, kDepth}, x2.data());
  aclTensor* const result = tensor({kRows, kColumns}, out.data());
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnCdistGetWorkspaceSize(first, second, 2, 2, result, &size, &executor), 0);
  EXPECT_EQ(size, 0u);
  ASSERT_EQ(aclnnCdist(nullptr, 0, executor, environment.stream()), 0);
  ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
  for (int64_t i = 0; i < kRows; i += 13) {
    for (int64_t j = 0; j < kColumns; j += 7) {
      std::vector<float> differences;
      for (int64_t m = 0; m < kDepth; ++m)
        differences.push_back(x1[static_cast<size_t>(i * kDepth + m)] -
                              x2[static_cast<size_t>(j * kDepth + m)]);
      ASSERT_EQ(out[static_cast<size_t>(i * kColumns + j)], DistanceOf(differences, 2)) << i << " " << j;
    }
  }
  for (const aclTensor* one : {first, second, result}) aclDestroyTensor(one);
}

}  // namespace
}  // namespace portacl::testing
