// Signs as bits and back, from their descriptions: every bit by the value of its number.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "aclnnop/families/quantisation.h"
#include "gtest/gtest.h"
#include "support/environment.h"
#include "support/map_values.h"
#include "support/operator_spec.h"

namespace portacl::testing {
namespace {

const DtypeList kNumbers = {ACL_FLOAT, ACL_FLOAT16};

int64_t BytesOf(int64_t numbers) { return (numbers + 7) / 8; }

// A number of rows that divides what there is.
int64_t DrawDivisor(RandomNumbers& random, int64_t of) {
  int64_t divisor = 1;
  for (int64_t one = 2; one <= of; ++one) {
    if (of % one == 0 && random.Below(2) == 0) divisor = one;
  }
  return divisor;
}

Rule TypeIs(const std::string& name, const DtypeList& list) {
  return Refuses(161002, name, [=](PlanCall& call) { return !IsOneOf(call[name].dtype, list); });
}
Rules Shapes(int64_t (*all)(const PlanCall& call)) {
  return {Refuses(161002, "size", [](PlanCall& call) { return call["size"].integer < 1; }),
          Ranks("self", 1, 1), Ranks("out", 2, 2),
          Refuses(161002, "size", [=](PlanCall& call) { return all(call) % call["size"].integer != 0; }),
          Refuses(161002, "out", [=](PlanCall& call) {
            const int64_t size = call["size"].integer;
            return call["out"].shape != Shape{size, all(call) / size};
          })};
}

OperatorSpec Pack() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnSignBitsPack);
  op.valid = {TensorArg("self", {29}), IntegerArg("size", 2), OutputArg("out", {2, 2}, ACL_UINT8)};
  const auto all = [](const PlanCall& call) { return BytesOf(call["self"].shape[0]); };
  op.rules = {NoNulls("self out"), TypeIs("self", kNumbers), TypeIs("out", {ACL_UINT8})};
  for (const Rule& rule : Shapes(all)) op.rules.push_back(rule);
  op.rules.push_back(DoneIfEmpty("self"));
  op.takes_workspace = true;  // of what is not dense
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t count = random.Between(1, random.Below(12) == 0 ? 80000 : 200);
    const int64_t size = DrawDivisor(random, BytesOf(count));
    call["self"].shape = {count};
    call["self"].dtype = DrawDtype(random, kNumbers);
    call["size"].integer = size;
    call["out"].shape = {size, BytesOf(count) / size};
  };
  op.oracle = [](const PlanCall&, const std::vector<TensorValues>& tensors) {
    const TensorValues& self = tensors[0];
    std::vector<unsigned> bytes((self.elements.size() + 7) / 8);
    for (size_t i = 0; i < self.elements.size(); ++i) {
      if (NumberOf(self.dtype, self.elements[i].data()).real >= 0) bytes[i / 8] |= 1u << (i % 8);
    }
    Outcome outcome;
    for (const unsigned byte : bytes) outcome.emplace_back(Element{static_cast<std::byte>(byte)});
    return std::vector<Outcome>{outcome};
  };
  return op;
}

OperatorSpec Unpack() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnSignBitsUnpack);
  op.valid = {TensorArg("self", {6}, ACL_UINT8), IntegerArg("size", 3), IntegerArg("dtype", ACL_FLOAT),
              OutputArg("out", {3, 16})};
  const auto all = [](const PlanCall& call) { return call["self"].shape[0] * 8; };
  op.rules = {
      NoNulls("self out"), TypeIs("self", {ACL_UINT8}), TypeIs("out", kNumbers),
      Refuses(161002, "dtype", [](PlanCall& call) { return call["dtype"].integer != call["out"].dtype; })};
  for (const Rule& rule : Shapes(all)) op.rules.push_back(rule);
  op.rules.push_back(DoneIfEmpty("self"));
  op.takes_workspace = true;
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t bytes = random.Between(1, random.Below(12) == 0 ? 10000 : 40);
    const int64_t size = DrawDivisor(random, bytes * 8);
    call["self"].shape = {bytes};
    call["size"].integer = size;
    call["out"].shape = {size, bytes * 8 / size};
    call["out"].dtype = DrawDtype(random, kNumbers);
    call["dtype"].integer = call["out"].dtype;
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    Outcome outcome;
    for (const Element& element : tensors[0].elements) {
      const auto byte = static_cast<unsigned>(element[0]);
      for (unsigned i = 0; i < 8; ++i)
        outcome.emplace_back(ElementOfNumber(call["out"].dtype, {(byte >> i & 1u) != 0 ? 1.0L : -1.0L, 0}));
    }
    return std::vector<Outcome>{outcome};
  };
  return op;
}

const OperatorSpec kOperators[] = {Pack(), Unpack()};
PORTACL_OPERATOR_TESTS(SignBits, kOperators);

// The documented example, and numbers at the border.
TEST(SignBitsByHand, Examples) {
  const ScopedEnvironment environment{Variables{}};
  const std::vector<float> numbers = {5, 4, 3, 2, 0, -1, -2, 4, 3, 2, 1, 0, -1, -2};
  const std::vector<float> border = {-0.0f, NAN, -NAN, INFINITY, -INFINITY, 1e-45f, -1e-45f, 0.0f};
  const auto bytes_of = [&](const std::vector<float>& given) {
    const int64_t count = std::ssize(given);
    const int64_t out[] = {1, (count + 7) / 8};
    std::vector<uint8_t> bytes(static_cast<size_t>(out[1]), 77);
    aclTensor* const self = aclCreateTensor(&count, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &count, 1,
                                            const_cast<float*>(given.data()));
    aclTensor* const to = aclCreateTensor(out, 2, ACL_UINT8, nullptr, 0, ACL_FORMAT_ND, out, 2, bytes.data());
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(aclnnSignBitsPackGetWorkspaceSize(self, 1, to, &size, &executor), 0);
    EXPECT_EQ(aclnnSignBitsPack(nullptr, 0, executor, environment.stream()), 0);
    EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
    aclDestroyTensor(self);
    aclDestroyTensor(to);
    return bytes;
  };
  EXPECT_EQ(bytes_of(numbers), (std::vector<uint8_t>{159, 15}));
  EXPECT_EQ(bytes_of(border), (std::vector<uint8_t>{0b10101001}));
}

}  // namespace
}  // namespace portacl::testing
