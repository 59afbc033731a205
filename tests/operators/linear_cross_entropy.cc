// The cross entropy of a linear layer in parts, as descriptions.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/loss.h"
#include "matmul/product_calls.h"
#include "operators/norms.h"
#include "support/rules.h"

namespace portacl::testing {
namespace {

const DtypeList kHalves = {ACL_FLOAT16, ACL_BF16};

bool IsNew(Product product) {
  return product == Product::kA2 || product == Product::kA3 || product == Product::k950;
}
double ValueOf(const TensorValues& tensor, int64_t position) {
  return static_cast<double>(
      NumberOf(tensor.dtype, tensor.elements[static_cast<size_t>(position)].data()).real);
}
Element Real(DtypeNumber dtype, double value) {
  return ElementOfNumber(dtype, {static_cast<long double>(value), 0});
}
Element Whole(DtypeNumber dtype, int64_t value) {
  Element element(static_cast<size_t>(ElementSize(dtype)));
  EncodeIntegerElement(dtype, value, element.data());
  return element;
}
void FillReal(HostTensor& tensor, double most, RandomNumbers& random) {
  for (int64_t i = 0; i < tensor.size(); ++i)
    EncodeElement(tensor.dtype(), most * static_cast<double>(random.Between(-1000, 1000)) / 1000,
                  tensor.Element(i));
}
Rule NamesAre(const std::string& names, DtypeNumber dtype) {
  return Refuses(161002, names, [=](PlanCall& call) {
    for (const std::string& name : Words(names)) {
      if (!call[name].null && call[name].dtype != dtype) return true;
    }
    return false;
  });
}

// The logits of a row, in float64.
std::vector<double> LogitsOf(const TensorValues& input, const TensorValues& weight, int64_t row) {
  const int64_t depth = input.shape[1];
  std::vector<double> logits;
  for (int64_t c = 0; c < weight.shape[0]; ++c) {
    double sum = 0;
    for (int64_t k = 0; k < depth; ++k)
      sum += ValueOf(input, row * depth + k) * ValueOf(weight, c * depth + k);
    logits.push_back(sum);
  }
  return logits;
}

// ---- FusedLinearOnlineMaxSum ----

OperatorSpec OnlineMaxSum() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnFusedLinearOnlineMaxSum);
  op.takes_workspace = true;
  const DtypeNumber half = ACL_FLOAT16;
  op.valid = {TensorArg("input", {3, 2}, half),
              TensorArg("weight", {4, 2}, half),
              TensorArg("target", {3}, ACL_INT64),
              IntegerArg("vocabStartIndex", 0),
              IntegerArg("vocabEndIndex", 4),
              OutputArg("logitsMaxLocalOut", {3}),
              OutputArg("sumExpLogitsLocalOut", {3}),
              OutputArg("predictedLogitsLocalOut", {3}),
              OutputArg("targetMaskOut", {1}, ACL_UINT8),
              OutputArg("maskedTargetOut", {3}, ACL_INT64),
              OutputArg("vocabParallelLogitsOutOptional", {3, 4}, half)};
  const std::string rows = "logitsMaxLocalOut sumExpLogitsLocalOut predictedLogitsLocalOut";
  const std::string always = "input weight target " + rows + " targetMaskOut maskedTargetOut";
  op.rules = {
      NoNulls(always),
      Refuses(161002, "input",
              [](PlanCall& call) { return !IsNew(call.product) || !IsOneOf(call["input"].dtype, kHalves); }),
      SameDtype("input", "weight"),
      DtypeIn("target", {{ACL_INT32, ACL_INT64}}),
      NamesAre(rows, ACL_FLOAT),
      NamesAre("targetMaskOut", ACL_UINT8),
      SameDtype("target", "maskedTargetOut"),
      Refuses(161002, "input vocabParallelLogitsOutOptional",
              [](PlanCall& call) {
                const PlanArgument& logits = call["vocabParallelLogitsOutOptional"];
                return !logits.null && logits.dtype != call["input"].dtype;
              }),
      Refuses(161002, always + " vocabParallelLogitsOutOptional",
              [=](PlanCall& call) {
                const Shape& input = call["input"].shape;
                const Shape& weight = call["weight"].shape;
                if (input.size() != 2 || weight.size() != 2 || weight[0] == 0 || input[1] > 65534 ||
                    weight[1] != input[1])
                  return true;
                for (const std::string& name : Words("target maskedTargetOut " + rows)) {
                  if (call[name].shape != Shape{input[0]}) return true;
                }
                const PlanArgument& logits = call["vocabParallelLogitsOutOptional"];
                return call["targetMaskOut"].shape != Shape{(input[0] + 7) / 8} ||
                       (!logits.null && logits.shape != Shape{input[0], weight[0]});
              }),
      Refuses(161002, "vocabStartIndex", [](PlanCall& call) { return call["vocabStartIndex"].integer < 0; }),
      Refuses(161002, "vocabEndIndex",
              [](PlanCall& call) { return call["vocabEndIndex"].integer < call["vocabStartIndex"].integer; }),
      SucceedsIf([](PlanCall& call) { return call["input"].shape[0] == 0; })};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const int64_t m = random.Between(1, 20);
    const int64_t n = random.Chance(10) ? random.Between(500, 1100) : random.Between(1, 20);
    const int64_t k = random.Between(random.Chance(5) ? 0 : 1, 12);
    const DtypeNumber dtype = DrawDtype(random, kHalves);
    const DtypeNumber place = random.Chance(50) ? ACL_INT64 : ACL_INT32;
    call["input"] = TensorArg("input", {m, k}, dtype);
    call["weight"] = TensorArg("weight", {n, k}, dtype);
    call["target"] = TensorArg("target", {m}, place);
    call["vocabStartIndex"].integer = random.Below(6);
    call["vocabEndIndex"].integer = call["vocabStartIndex"].integer + random.Between(0, n);
    for (const std::string& name : Words(rows)) call[name].shape = {m};
    call["targetMaskOut"].shape = {(m + 7) / 8};
    call["maskedTargetOut"] = OutputArg("maskedTargetOut", {m}, place);
    call["vocabParallelLogitsOutOptional"] = OutputArg("vocabParallelLogitsOutOptional", {m, n}, dtype);
    call["vocabParallelLogitsOutOptional"].null = random.Chance(50);
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillReal(tensors[0], 1, random);
    FillReal(tensors[1], 1, random);
    for (int64_t i = 0; i < tensors[2].size(); ++i)
      EncodeIntegerElement(tensors[2].dtype(), random.Between(0, call["vocabEndIndex"].integer + 3),
                           tensors[2].Element(i));
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const int64_t rows_count = tensors[0].shape[0];
    const int64_t begin = call["vocabStartIndex"].integer;
    const int64_t end = call["vocabEndIndex"].integer;
    const bool gives_logits = !call["vocabParallelLogitsOutOptional"].null;
    std::vector<Outcome> outcomes(6);
    std::vector<int64_t> bytes(static_cast<size_t>((rows_count + 7) / 8));
    for (int64_t row = 0; row < std::ssize(bytes) * 8; ++row) {
      const int64_t target = row < rows_count ? tensors[2].Integer(row) : 0;
      const bool is_masked = target < begin || target >= end;
      if (is_masked) bytes[static_cast<size_t>(row / 8)] |= int64_t{1} << row % 8;
      if (row >= rows_count) continue;
      const std::vector<double> logits = LogitsOf(tensors[0], tensors[1], row);
      const double most = *std::max_element(logits.begin(), logits.end());
      double sum = 0;
      for (const double x : logits) sum += std::exp(x - most);
      const int64_t place = is_masked ? 0 : target - begin;
      outcomes[0].emplace_back(Real(ACL_FLOAT, most));
      outcomes[1].emplace_back(Real(ACL_FLOAT, sum));
      outcomes[2].emplace_back(Real(ACL_FLOAT, is_masked ? 0 : logits[static_cast<size_t>(place)] - most));
      outcomes[4].emplace_back(Whole(tensors[7].dtype, place));
      for (size_t c = 0; gives_logits && c < logits.size(); ++c)
        outcomes[5].emplace_back(Real(tensors[0].dtype, logits[c]));
    }
    for (const int64_t byte : bytes) outcomes[3].emplace_back(Whole(ACL_UINT8, byte));
    return outcomes;
  };
  op.is_inexact = true;
  op.tolerance = 1e-5;
  return op;
}

// ---- FusedLinearCrossEntropyLossGrad ----

OperatorSpec LossGrad() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnFusedLinearCrossEntropyLossGrad);
  op.takes_workspace = true;
  const DtypeNumber half = ACL_FLOAT16;
  op.valid = {TensorArg("grad", {3}),
              TensorArg("input", {3, 2}, half),
              TensorArg("weight", {4, 2}, half),
              TensorArg("targetMask", {3}, ACL_BOOL),
              TensorArg("maskedTarget", {3}, ACL_INT64),
              RealArg("labelSmoothing", 0),
              TensorArg("logitsMaxOptional", {3}),
              TensorArg("sumExpLogitsOptional", {3}),
              TensorArg("softmaxOptional", {3, 4}),
              OutputArg("inputGradOut", {3, 2}, half),
              OutputArg("weightGradOut", {4, 2}, half)};
  op.valid[8].null = true;
  const auto has_shares = [](const PlanCall& call) { return !call["softmaxOptional"].null; };
  const std::string inputs = "grad input weight targetMask maskedTarget";
  op.rules = {
      Refuses(161001, "logitsMaxOptional sumExpLogitsOptional",
              [=](PlanCall& call) {
                return !has_shares(call) &&
                       (call["logitsMaxOptional"].null || call["sumExpLogitsOptional"].null);
              }),
      NoNulls(inputs + " inputGradOut weightGradOut"),
      NamesAre("grad", ACL_FLOAT),
      DtypeIn("input", {kHalves}),
      SameDtype("input", "weight"),
      DtypeIn("targetMask", {{ACL_BOOL, ACL_UINT8}}),
      DtypeIn("maskedTarget", {{ACL_INT32, ACL_INT64}}),
      Refuses(161002, "softmaxOptional logitsMaxOptional sumExpLogitsOptional",
              [=](PlanCall& call) {
                if (has_shares(call)) return call["softmaxOptional"].dtype != ACL_FLOAT;
                return call["logitsMaxOptional"].dtype != ACL_FLOAT ||
                       call["sumExpLogitsOptional"].dtype != ACL_FLOAT;
              }),
      SameDtype("input", "inputGradOut"),
      SameDtype("input", "weightGradOut"),
      Refuses(161002, inputs,
              [=](PlanCall& call) {
                for (const std::string& name : Words(inputs)) {
                  if (call[name].format == ACL_FORMAT_FRACTAL_NZ) return true;
                }
                return false;
              }),
      Refuses(161002, "labelSmoothing", [](PlanCall& call) { return call["labelSmoothing"].real != 0; }),
      Refuses(161002,
              inputs + " inputGradOut weightGradOut softmaxOptional logitsMaxOptional sumExpLogitsOptional",
              [=](PlanCall& call) {
                const Shape& input = call["input"].shape;
                const Shape& weight = call["weight"].shape;
                const Shape& mask = call["targetMask"].shape;
                if (input.size() != 2 || weight.size() != 2 || mask.size() != 1 || weight[1] != input[1])
                  return true;
                const Shape rows = {input[0]};
                if (call["grad"].shape != rows || call["maskedTarget"].shape != rows) return true;
                if (call["targetMask"].dtype == ACL_UINT8 ? mask[0] * 8 < input[0] : mask != rows)
                  return true;
                if (call["inputGradOut"].shape != input || call["weightGradOut"].shape != weight) return true;
                if (has_shares(call))
                  return weight[0] < 128 || call["softmaxOptional"].shape != Shape{input[0], weight[0]};
                return call["logitsMaxOptional"].shape != rows || call["sumExpLogitsOptional"].shape != rows;
              }),
      DoneIfEmpty("input weight"),
      Refuses(361001, "Atlas",
              [](PlanCall& call) { return call.product != Product::kA2 && call.product != Product::kA3; })};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const bool gives_shares = random.Chance(30);
    const int64_t t = random.Between(1, 20);
    const int64_t v = gives_shares ? random.Between(128, 140) : random.Between(1, 30);
    const int64_t h = random.Between(1, 10);
    const DtypeNumber dtype = DrawDtype(random, kHalves);
    const bool has_bits = random.Chance(50);
    call["grad"].shape = call["logitsMaxOptional"].shape = call["sumExpLogitsOptional"].shape = {t};
    call["input"] = TensorArg("input", {t, h}, dtype);
    call["weight"] = TensorArg("weight", {v, h}, dtype);
    call["targetMask"] =
        TensorArg("targetMask", {has_bits ? (t + 7) / 8 : t}, has_bits ? ACL_UINT8 : ACL_BOOL);
    call["maskedTarget"] = TensorArg("maskedTarget", {t}, random.Chance(50) ? ACL_INT64 : ACL_INT32);
    call["softmaxOptional"] = TensorArg("softmaxOptional", {t, v});
    call["softmaxOptional"].null = !gives_shares;
    for (const char* name : {"logitsMaxOptional", "sumExpLogitsOptional"}) call[name].null = gives_shares;
    call["inputGradOut"] = OutputArg("inputGradOut", {t, h}, dtype);
    call["weightGradOut"] = OutputArg("weightGradOut", {v, h}, dtype);
  };
  op.fill = [=](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (const size_t k : {size_t{0}, size_t{1}, size_t{2}, size_t{7}}) FillReal(tensors[k], 1, random);
    for (int64_t i = 0; i < tensors[3].size(); ++i) {
      const int64_t byte = tensors[3].dtype() == ACL_BOOL ? random.Below(2) : random.Below(256);
      *tensors[3].Element(i) = std::byte{static_cast<unsigned char>(byte)};
    }
    for (int64_t i = 0; i < tensors[4].size(); ++i)
      EncodeIntegerElement(tensors[4].dtype(), random.Below(call["weight"].shape[0]), tensors[4].Element(i));
    for (int64_t i = 0; i < tensors[5].size(); ++i) EncodeElement(ACL_FLOAT, 1.5, tensors[5].Element(i));
    for (int64_t i = 0; i < tensors[6].size(); ++i)
      EncodeElement(ACL_FLOAT, 2 + static_cast<double>(random.Below(1000)) / 1000, tensors[6].Element(i));
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const int64_t t = tensors[1].shape[0];
    const int64_t h = tensors[1].shape[1];
    const int64_t v = tensors[2].shape[0];
    std::vector<double> of_input(static_cast<size_t>(t * h));
    std::vector<double> of_weight(static_cast<size_t>(v * h));
    for (int64_t row = 0; row < t; ++row) {
      std::vector<double> shares = LogitsOf(tensors[1], tensors[2], row);
      for (int64_t c = 0; c < v; ++c) {
        double& share = shares[static_cast<size_t>(c)];
        share = has_shares(call) ? ValueOf(tensors[7], row * v + c)
                                 : std::exp(share - ValueOf(tensors[5], row)) / ValueOf(tensors[6], row);
      }
      const bool has_bits = tensors[3].dtype == ACL_UINT8;
      const int64_t byte = tensors[3].Integer(has_bits ? row / 8 : row);
      const bool is_masked = has_bits ? (byte >> row % 8 & 1) != 0 : byte != 0;
      if (!is_masked) shares[static_cast<size_t>(tensors[4].Integer(row))] -= 1;
      for (int64_t c = 0; c < v; ++c) {
        const double p = shares[static_cast<size_t>(c)] * ValueOf(tensors[0], row);
        for (int64_t k = 0; k < h; ++k) {
          of_input[static_cast<size_t>(row * h + k)] += p * ValueOf(tensors[2], c * h + k);
          of_weight[static_cast<size_t>(c * h + k)] += p * ValueOf(tensors[1], row * h + k);
        }
      }
    }
    std::vector<Outcome> outcomes(2);
    for (const double value : of_input) outcomes[0].emplace_back(Real(tensors[1].dtype, value));
    for (const double value : of_weight) outcomes[1].emplace_back(Real(tensors[1].dtype, value));
    return outcomes;
  };
  op.is_inexact = true;
  op.tolerance = 1e-4;
  return op;
}

}  // namespace

const std::vector<OperatorSpec>& LinearCrossEntropyOperators() {
  static const std::vector<OperatorSpec> all = {OnlineMaxSum(), LossGrad()};
  return all;
}

}  // namespace portacl::testing
