// Sums, means and maxima of rows of a table in bags: what phase 1 answers, every element, and what a bad index does.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_embedding_bag.h"
#include "index_calls.h"

namespace portacl::testing {
namespace {

const DtypeList kFloatDtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
const Listed kWholes = {{ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64}};

bool IsMost(const PlanCall& call) { return call["mode"].integer != 0 && call["mode"].integer != 1; }
bool Is950(const PlanCall& call) { return call.product == Product::k950; }
int64_t BagCount(const PlanCall& call) {
  return call["offsets"].shape[0] - (call["includeLastOffset"].integer != 0 ? 1 : 0);
}

double At(const TensorValues& tensor, int64_t position) {
  return DecodeReal(tensor.dtype, tensor.elements[static_cast<size_t>(position)].data());
}
Element Whole(DtypeNumber dtype, int64_t value) {
  Element element(static_cast<size_t>(ElementSize(dtype)));
  EncodeIntegerElement(dtype, value, element.data());
  return element;
}

bool ShapesAreWrong(PlanCall& call) {
  const Shape& weight = call["weight"].shape;
  const Shape& indices = call["indices"].shape;
  if (weight.size() != 2 || indices.size() > (Is950(call) ? 2 : 1) || call["offsets"].shape.size() != 1 ||
      call["output"].shape.size() != 2)
    return true;
  const int64_t bags = BagCount(call);
  const int64_t entries = NumElements(indices);
  const Shape matrix = {bags, weight[1]};
  const Shape& bag_of = call["offset2bag"].shape;
  if (bags < 0 || call["output"].shape != matrix || (NumElements(bag_of) != 0 && bag_of != Shape{entries}))
    return true;
  if (call["bagSize"].shape != Shape{Is950(call) ? call["offsets"].shape[0] : bags}) return true;
  const Shape& most = call["maxIndices"].shape;
  if (IsMost(call) ? most != matrix : !Is950(call) && most != Shape{bags}) return true;
  const PlanArgument& factors = call["perSampleWeights"];
  return !factors.null && (factors.shape != Shape{entries} || (!Is950(call) && call["mode"].integer != 0));
}

// Computed as the definition says, in float: entries in their order.
std::vector<Outcome> BagOracle(const PlanCall& call, const std::vector<TensorValues>& tensors) {
  const TensorValues& weight = tensors[0];
  const int64_t columns = weight.shape[1];
  const int64_t entries = NumElements(tensors[1].shape);
  const int64_t bags = BagCount(call);
  const bool has_factors = !call["perSampleWeights"].null;
  const size_t first_output = 4;
  std::vector<Outcome> outcomes(4);
  const auto dtype_of = [&](size_t output) { return tensors[first_output + output].dtype; };
  std::vector<int64_t> bag_of(static_cast<size_t>(entries), -1);
  for (int64_t bag = 0; bag < bags; ++bag) {
    const int64_t begin = tensors[2].Integer(bag);
    const int64_t end = bag + 1 < tensors[2].shape[0] ? tensors[2].Integer(bag + 1) : entries;
    std::vector<int64_t> rows;
    std::vector<float> factors;
    for (int64_t entry = begin; entry < end; ++entry) {
      bag_of[static_cast<size_t>(entry)] = bag;
      const int64_t row = tensors[1].Integer(entry);
      if (row == call["paddingIdx"].integer) continue;
      rows.push_back(row);
      factors.push_back(has_factors ? static_cast<float>(At(tensors[3], entry)) : 1.0f);
    }
    outcomes[2].emplace_back(Whole(dtype_of(2), std::ssize(rows)));
    for (int64_t column = 0; column < columns; ++column) {
      float result = 0;
      int64_t from = 0;
      for (size_t i = 0; i < rows.size(); ++i) {
        volatile float term = static_cast<float>(At(weight, rows[i] * columns + column));
        if (has_factors) term = term * factors[i];
        if (!IsMost(call)) {
          result = result + term;
        } else if (i == 0 || term > result) {
          result = term;
          from = rows[i];
        }
      }
      if (call["mode"].integer == 1 && rows.size() > 1) result /= static_cast<float>(rows.size());
      outcomes[0].emplace_back(ElementOfNumber(dtype_of(0), {static_cast<long double>(result), 0}));
      if (IsMost(call)) outcomes[3].emplace_back(Whole(dtype_of(3), from));
    }
  }
  if (!IsMost(call)) {
    for (int64_t i = 0; i < NumElements(tensors[first_output + 3].shape); ++i)
      outcomes[3].emplace_back(Whole(dtype_of(3), 0));
  }
  if (NumElements(tensors[first_output + 1].shape) > 0) {
    for (const int64_t bag : bag_of) outcomes[1].emplace_back(Whole(dtype_of(1), bag));
  }
  return outcomes;
}

OperatorSpec EmbeddingBag() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnEmbeddingBag);
  op.takes_workspace = op.is_inexact = true;
  op.valid = {TensorArg("weight", {6, 3}),
              TensorArg("indices", {6}, ACL_INT64),
              TensorArg("offsets", {2}, ACL_INT64),
              IntegerArg("scaleGradByFreq", 0),
              IntegerArg("mode", 0),
              IntegerArg("sparse", 0),
              TensorArg("perSampleWeights", {6}),
              IntegerArg("includeLastOffset", 0),
              IntegerArg("paddingIdx", -1),
              OutputArg("output", {2, 3}),
              OutputArg("offset2bag", {6}, ACL_INT64),
              OutputArg("bagSize", {2}, ACL_INT64),
              OutputArg("maxIndices", {2}, ACL_INT64)};
  op.rules = {NoNulls("weight indices offsets output offset2bag bagSize maxIndices"),
              DtypeIn("weight", {{ACL_FLOAT, ACL_FLOAT16}, {ACL_BF16}}),
              DtypeIn("indices offsets", kWholes),
              Refuses(161002, "indices offsets",
                      [](PlanCall& call) {
                        return !IsOneOf(call["indices"].dtype, {ACL_INT32, ACL_INT64}) &&
                               !IsOneOf(call["offsets"].dtype, {ACL_INT32, ACL_INT64});
                      }),
              SameDtype("weight", "output"),
              DtypeIn("offset2bag bagSize maxIndices", {{ACL_INT32, ACL_INT64}}),
              Refuses(161002, "weight perSampleWeights",
                      [](PlanCall& call) {
                        return !call["perSampleWeights"].null &&
                               call["perSampleWeights"].dtype != call["weight"].dtype;
                      }),
              Refuses(161002, "weight indices offsets perSampleWeights output offset2bag bagSize maxIndices",
                      ShapesAreWrong),
              DoneIfEmpty("weight indices offsets")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t rows = random.Between(1, 9);
    const int64_t columns = random.Chance(10) ? random.Between(400, 1200) : random.Between(1, 9);
    const int64_t entries = random.Between(1, 12);
    const bool includes_last = random.Chance(40);
    const int64_t bags = random.Between(includes_last ? 0 : 1, 5);
    const DtypeNumber dtype = DrawDtype(random, kFloatDtypes);
    const DtypeNumber place = random.Chance(50) ? ACL_INT64 : ACL_INT32;
    call["weight"] = TensorArg("weight", {rows, columns}, dtype);
    call["indices"] = TensorArg("indices", {entries}, DrawDtype(random, {ACL_INT64, ACL_INT32, ACL_INT8}));
    call["offsets"] =
        TensorArg("offsets", {bags + (includes_last ? 1 : 0)}, DrawDtype(random, {ACL_INT64, ACL_INT32}));
    call["offsets"].is_distinct = true;
    call["mode"].integer = random.Below(4);
    call["perSampleWeights"] = TensorArg("perSampleWeights", {entries}, dtype);
    call["perSampleWeights"].null = call["mode"].integer != 0 || random.Chance(50);
    call["includeLastOffset"].integer = includes_last ? 1 : 0;
    call["paddingIdx"].integer = random.Chance(50) ? -1 : random.Below(rows);
    call["output"] = OutputArg("output", {bags, columns}, dtype);
    call["offset2bag"] = OutputArg("offset2bag", {random.Chance(30) ? 0 : entries}, place);
    call["bagSize"] = OutputArg("bagSize", {bags}, place);
    call["maxIndices"] = OutputArg("maxIndices", IsMost(call) ? Shape{bags, columns} : Shape{bags}, place);
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (const size_t k : {size_t{0}, size_t{3}}) {
      for (int64_t i = 0; i < tensors[k].size(); ++i)
        EncodeElement(tensors[k].dtype(), static_cast<double>(random.Between(-3000, 3000)) / 1000,
                      tensors[k].Element(i));
    }
    SetIndices(tensors[1], 0, call["weight"].shape[0], random);
    int64_t offset = 0;
    const int64_t entries = tensors[1].size();
    const bool ascends = random.Chance(80);
    for (int64_t i = 0; i < tensors[2].size(); ++i) {
      EncodeIntegerElement(tensors[2].dtype(), offset, tensors[2].Element(i));
      offset = ascends ? std::min(entries, offset + random.Below(5)) : random.Between(0, entries);
    }
  };
  op.oracle = BagOracle;
  op.tolerance = 1e-6;
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {EmbeddingBag()};
  return all;
}

PORTACL_OPERATOR_TESTS(Bags, Operators());

aclTensor* TensorOf(const Shape& shape, aclDataType dtype, void* data) {
  return aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                         shape.size(), data);
}

// A row of zeros stands for an index that names none, and the stream fails once, naming it.
TEST(BagsAlone, BadIndicesFailTheStream) {
  const ScopedEnvironment environment(Variables{});
  std::vector<float> weight = {1, 2, 3, 4};
  std::vector<int64_t> indices = {1, 7, 0};
  std::vector<int64_t> offsets = {0, 2};
  std::vector<float> output(4, -1);
  std::vector<int64_t> bag_of(3), size(2), most(2);
  aclTensor* const tensors[] = {
      TensorOf({2, 2}, ACL_FLOAT, weight.data()), TensorOf({3}, ACL_INT64, indices.data()),
      TensorOf({2}, ACL_INT64, offsets.data()),   TensorOf({2, 2}, ACL_FLOAT, output.data()),
      TensorOf({3}, ACL_INT64, bag_of.data()),    TensorOf({2}, ACL_INT64, size.data()),
      TensorOf({2}, ACL_INT64, most.data())};
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnEmbeddingBagGetWorkspaceSize(tensors[0], tensors[1], tensors[2], false, 0, false, nullptr,
                                              false, -1, tensors[3], tensors[4], tensors[5], tensors[6],
                                              &bytes, &executor),
            0);
  std::vector<std::byte> workspace(static_cast<size_t>(bytes) + 1);
  ASSERT_EQ(aclnnEmbeddingBag(workspace.data(), bytes, executor, environment.stream()), 0);
  EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), 507015);
  const std::string message = TakeErrorMessage();
  EXPECT_NE(message.find("indices has the value 7 at element 1, accepted: 0 to 1."), std::string::npos)
      << message;
  EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
  EXPECT_EQ(output, (std::vector<float>{3, 4, 1, 2}));
  EXPECT_EQ(bag_of, (std::vector<int64_t>{0, 0, 1}));
  EXPECT_EQ(size, (std::vector<int64_t>{2, 1}));
  for (const aclTensor* one : tensors) aclDestroyTensor(one);
}

}  // namespace
}  // namespace portacl::testing
