// aclnnFlatQuant, V2 and aclnnRotateQuant: checks, and codes and scales against their definitions, step by step in float32.
// SPDX-License-Identifier: Apache-2.0
#include "quant_calls.h"

namespace portacl::testing {
namespace {

float RoundedTo(DtypeNumber dtype, float value) {
  return static_cast<float>(DecodeReal(dtype, Encoded(dtype, static_cast<double>(value)).data()));
}
bool IsPacked(const IndexCall&, DtypeNumber dtype) { return dtype == ACL_INT4 || dtype == ACL_INT32; }

IndexOperator Flat(const CFunction& function, bool is_second) {
  IndexOperator op;
  op.function = function;
  op.valid = {TensorArg("x", {2, 3, 8}, ACL_FLOAT16), TensorArg("kroneckerP1", {3, 3}, ACL_FLOAT16),
              TensorArg("kroneckerP2", {8, 8}, ACL_FLOAT16), RealArg("clipRatio", 1)};
  if (is_second) op.valid.push_back(RealArg("dstTypeMax", 0));
  op.valid.push_back(OutputArg("out", {2, 3, 1}, ACL_INT32));
  op.valid.push_back(OutputArg("quantScale", {2}));
  op.takes_workspace = true;
  op.rules = {
      NoNulls("x kroneckerP1 kroneckerP2 out quantScale"),
      RefusedDtype("x",
                   [](const IndexCall& call, DtypeNumber dtype) {
                     return IsSinceA2(call) && (dtype == ACL_FLOAT16 || dtype == ACL_BF16);
                   }),
      DtypeIs("x", "kroneckerP1"),
      DtypeIs("x", "kroneckerP2"),
      RefusedDtype("out", IsPacked),
      Listed_("quantScale", kFloatAlone),
      Refuses(161002, "",
              [](IndexCall& call) {
                const Shape& x = call["x"].shape;
                if (x.size() != 3 || x[0] > 262144 || x[1] > 256 || x[2] > 256) return true;
                return call["kroneckerP1"].shape != Shape{x[1], x[1]} ||
                       call["kroneckerP2"].shape != Shape{x[2], x[2]} || !IsShapeOfCodes(x, call["out"]) ||
                       call["quantScale"].shape != Shape{x[0]};
              }),
      Refuses(161002, "format",
              [](IndexCall& call) {
                for (const char* const name : {"x", "kroneckerP1", "kroneckerP2", "out", "quantScale"}) {
                  if (call[name].format != ACL_FORMAT_ND && call[name].format != ACL_FORMAT_NCL) return true;
                }
                return false;
              }),
      Refuses(161002, "",
              [=](IndexCall& call) {
                const double clip = call["clipRatio"].real;
                const double most = is_second ? call["dstTypeMax"].real : 0;
                return !(clip > 0 && clip <= 1) || !(most == 0 || (most >= 6 && most <= 12));
              }),
      EmptyDone("x")};
  op.draw = [=](IndexCall& call, RandomNumbers& random) {
    const int64_t m = random.Chance(5) ? 70 : random.Between(1, 6);
    const int64_t n = 8 * (random.Chance(5) ? 32 : random.Between(1, 3));
    const int64_t k = random.Chance(10) ? random.Between(60, 90) : random.Between(1, 5);
    const DtypeNumber dtype = DrawDtype(random, kHalfDtypes);
    call["x"] = TensorArg("x", {k, m, n}, dtype);
    call["kroneckerP1"] = TensorArg("kroneckerP1", {m, m}, dtype);
    call["kroneckerP2"] = TensorArg("kroneckerP2", {n, n}, dtype);
    call["clipRatio"].real = random.Chance(50) ? 1 : 0.75;
    if (is_second && random.Chance(50)) call["dstTypeMax"].real = 7;
    call["out"] = OutputArg("out", {k, m, n / 8}, ACL_INT32);
    call["quantScale"] = OutputArg("quantScale", {k});
  };
  op.fill = [](const IndexCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetNumbers(tensors[0], random, random.Chance(10) ? 2 : 0);
    if (random.Chance(10)) {
      for (int64_t i = 0; i < tensors[0].size(); ++i) tensors[0].Set(i, 0);
    }
    for (const size_t i : {size_t{1}, size_t{2}}) SetNumbers(tensors[i], random);
  };
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const Numbers left(call, tensors, "kroneckerP1");
    const Numbers right(call, tensors, "kroneckerP2");
    const int64_t m = x.shape()[1];
    const int64_t n = x.shape()[2];
    const float most = 7.0f * static_cast<float>(call["clipRatio"].real);
    std::vector<std::optional<uint32_t>> codes;
    std::vector<double> steps;
    for (int64_t k = 0; k < x.shape()[0]; ++k) {
      std::vector<float> first(static_cast<size_t>(m * n));
      std::vector<float> second(first.size());
      float greatest = 0;
      for (int64_t i = 0; i < m * n; ++i) {
        float sum = 0;
        for (int64_t t = 0; t < n; ++t)
          sum += FloatAt(x, (k * m + i / n) * n + t) * FloatAt(right, t * n + i % n);
        first[static_cast<size_t>(i)] = RoundedTo(x.dtype(), sum);
      }
      for (int64_t i = 0; i < m * n; ++i) {
        float sum = 0;
        for (int64_t t = 0; t < m; ++t)
          sum += FloatAt(left, i / n * m + t) * first[static_cast<size_t>(t * n + i % n)];
        const float number = RoundedTo(x.dtype(), sum);
        second[static_cast<size_t>(i)] = number;
        if (!std::isnan(number)) greatest = std::max(greatest, std::fabs(number));
      }
      steps.push_back(static_cast<double>(greatest / most));
      for (const float number : second)
        codes.emplace_back(QuantisedCode(ACL_INT4, RoundedTo(ACL_FLOAT16, number * (most / greatest))));
    }
    return std::vector<Outcome>{OutcomeOfCodes(ACL_INT32, codes), EncodedAll(ACL_FLOAT, steps)};
  };
  return op;
}

IndexOperator Rotate() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnRotateQuant);
  op.valid = {TensorArg("x", {2, 128}, ACL_FLOAT16),
              TensorArg("rotation", {16, 16}, ACL_FLOAT16),
              TensorArg("alpha", {1}),
              IntegerArg("axis", -1),
              TextArg("roundMode", "rint"),
              IntegerArg("scaleAlg", 0),
              RealArg("dstTypeMax", 0),
              IntegerArg("trans", 0),
              OutputArg("yOut", {2, 128}, ACL_INT8),
              OutputArg("scaleOut", {2})};
  op.valid[2].null = true;
  op.takes_workspace = true;
  op.rules = {NoNulls("x rotation yOut scaleOut"),
              RefusedDtype("x",
                           [](const IndexCall& call, DtypeNumber dtype) {
                             return IsOnA2OrA3(call) && (dtype == ACL_FLOAT16 || dtype == ACL_BF16);
                           }),
              DtypeIs("x", "rotation"),
              RefusedDtype("yOut",
                           [](const IndexCall&, DtypeNumber dtype) {
                             return dtype == ACL_INT8 || dtype == ACL_INT4 || dtype == ACL_INT32;
                           }),
              Listed_("scaleOut", kFloatAlone),
              Refuses(161002, "",
                      [](IndexCall& call) {
                        const int64_t axis = call["axis"].integer;
                        if (!call["alpha"].null || (axis != -1 && axis != 1)) return true;
                        if (!call["roundMode"].null && call["roundMode"].text != "rint") return true;
                        if (call["scaleAlg"].integer != 0 || call["dstTypeMax"].real != 0) return true;
                        if (call["trans"].integer != 0) return true;
                        const Shape& x = call["x"].shape;
                        const Shape& rotation = call["rotation"].shape;
                        if (x.size() != 2 || rotation.size() != 2 || rotation[0] != rotation[1]) return true;
                        if (rotation[0] < 16 || rotation[0] > 1024) return true;
                        if (x[1] < 128 || x[1] > 16000 || x[1] % 8 != 0 || x[1] % rotation[0] != 0)
                          return true;
                        return !IsShapeOfCodes(x, call["yOut"]) || call["scaleOut"].shape != Shape{x[0]};
                      }),
              EmptyDone("x")};
  op.draw = [](IndexCall& call, RandomNumbers& random) {
    const int64_t width = 8 * random.Between(2, 9);
    const int64_t columns = width * ((128 + width - 1) / width + random.Between(0, 8));
    const DtypeNumber dtype = DrawDtype(random, kHalfDtypes);
    Shape y = {random.Between(1, 4), columns};
    call["x"] = TensorArg("x", y, dtype);
    call["rotation"] = TensorArg("rotation", {width, width}, dtype);
    call["roundMode"].null = random.Chance(50);
    call["scaleOut"] = OutputArg("scaleOut", {y[0]});
    const bool is_packed = random.Chance(40);
    if (is_packed) y[1] /= 8;
    call["yOut"] = OutputArg("yOut", y, is_packed ? ACL_INT32 : ACL_INT8);
  };
  op.fill = [](const IndexCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetNumbers(tensors[0], random);
    SetNumbers(tensors[1], random);
  };
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const Numbers rotation(call, tensors, "rotation");
    const DtypeNumber y = CodeDtype(call["yOut"].dtype);
    const int64_t width = rotation.shape()[0];
    std::vector<std::optional<uint32_t>> codes;
    std::vector<double> steps;
    for (int64_t row = 0; row < x.shape()[0]; ++row) {
      std::vector<float> numbers;
      for (int64_t column = 0; column < x.shape()[1]; ++column) {
        const int64_t first = column / width * width;
        const int64_t own = column - first;
        float sum = 0;
        for (int64_t t = 0; t < width; ++t)
          sum += FloatAt(x, row * x.shape()[1] + first + t) * FloatAt(rotation, t * width + own);
        numbers.push_back(sum);
      }
      const RowCodes one = DynamicRow(numbers, y, false, false, GreatestCode(y));
      for (const uint32_t code : one.codes) codes.emplace_back(code);
      steps.push_back(static_cast<double>(one.scale));
    }
    return std::vector<Outcome>{OutcomeOfCodes(call["yOut"].dtype, codes), EncodedAll(ACL_FLOAT, steps)};
  };
  return op;
}

const std::vector<IndexOperator>& All() {
  static const std::vector<IndexOperator> all = {Flat(PORTACL_C_FUNCTION(aclnnFlatQuant), false),
                                                 Flat(PORTACL_C_FUNCTION(aclnnFlatQuantV2), true), Rotate()};
  return all;
}
PORTACL_INDEX_TESTS(RotatedQuantTest, All());

}  // namespace
}  // namespace portacl::testing
