// aclnnFlatQuant, V2 and aclnnRotateQuant: checks, and codes and scales against their definitions, step by step in float32.
// SPDX-License-Identifier: Apache-2.0
#include "mx_by_definition.h"
#include "quant_calls.h"

namespace portacl::testing {
namespace {

float RoundedTo(DtypeNumber dtype, float value) {
  return static_cast<float>(DecodeReal(dtype, Encoded(dtype, static_cast<double>(value)).data()));
}
bool IsFlatCode(const PlanCall& call, DtypeNumber dtype) {
  return dtype == ACL_INT4 || dtype == ACL_INT32 || (IsOn950(call) && dtype == ACL_FLOAT4_E2M1);
}
bool IsFlatStep(const PlanCall& call, DtypeNumber dtype) {
  return dtype == ACL_FLOAT || (IsOn950(call) && IsPower(dtype));
}
bool IsFlatMx(PlanCall& call) { return call["out"].dtype == ACL_FLOAT4_E2M1; }
// The outputs of codes of FLOAT4: blocks of a row of all of a matrix's numbers.
bool FlatMxWrong(PlanCall& call) {
  const Shape& x = call["x"].shape;
  const Shape row = {x[0], x[1] * x[2]};
  const Shape& right = call["kroneckerP2"].shape;
  if (right != Shape{0, 0} && right != Shape{x[2], x[2]}) return true;
  return !IsPower(call["quantScale"].dtype) || CodesWrong(row, call["out"]) ||
         call["quantScale"].shape != PairsShape(row, 1);
}

OperatorSpec Flat(const CFunction& function, bool is_second) {
  OperatorSpec op;
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
                   [](const PlanCall& call, DtypeNumber dtype) {
                     return IsSinceA2(call) && (dtype == ACL_FLOAT16 || dtype == ACL_BF16);
                   }),
      SameDtype("x", "kroneckerP1"),
      SameDtype("x", "kroneckerP2"),
      RefusedDtype("out", IsFlatCode),
      RefusedDtype("quantScale", IsFlatStep),
      Refuses(161002, "",
              [](PlanCall& call) {
                const Shape& x = call["x"].shape;
                if (x.size() != 3 || x[0] > 262144 || x[1] > 256 || x[2] > 256) return true;
                if (call["kroneckerP1"].shape != Shape{x[1], x[1]}) return true;
                if (IsFlatMx(call)) return FlatMxWrong(call);
                return call["quantScale"].dtype != ACL_FLOAT ||
                       call["kroneckerP2"].shape != Shape{x[2], x[2]} || !IsShapeOfCodes(x, call["out"]) ||
                       call["quantScale"].shape != Shape{x[0]};
              }),
      Refuses(161002, "format",
              [](PlanCall& call) {
                for (const char* const name : {"x", "kroneckerP1", "kroneckerP2", "out", "quantScale"}) {
                  if (call[name].format != ACL_FORMAT_ND && call[name].format != ACL_FORMAT_NCL) return true;
                }
                return false;
              }),
      Refuses(161002, "",
              [=](PlanCall& call) {
                const double clip = call["clipRatio"].real;
                const double most = is_second ? call["dstTypeMax"].real : 0;
                if (IsFlatMx(call) && clip != 1) return true;
                return !(clip > 0 && clip <= 1) || !(most == 0 || (most >= 6 && most <= 12));
              }),
      DoneIfEmpty("x")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
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
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetNumbers(tensors[0], random, random.Chance(10) ? 2 : 0);
    if (random.Chance(10)) {
      for (int64_t i = 0; i < tensors[0].size(); ++i) tensors[0].Set(i, 0);
    }
    for (const size_t i : {size_t{1}, size_t{2}}) SetNumbers(tensors[i], random);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
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

// A row times the matrix of each of its parts.
std::vector<float> RotatedRow(const Numbers& x, const Numbers& rotation, int64_t row) {
  const int64_t width = rotation.shape().back();
  const bool has_many = rotation.shape().size() == 3;
  std::vector<float> numbers;
  for (int64_t column = 0; column < x.shape()[1]; ++column) {
    const int64_t first = column / width * width;
    const int64_t own = column - first;
    const int64_t matrix = has_many ? column / width * width * width : 0;
    float sum = 0;
    for (int64_t t = 0; t < width; ++t)
      sum += FloatAt(x, row * x.shape()[1] + first + t) * FloatAt(rotation, matrix + t * width + own);
    numbers.push_back(sum);
  }
  return numbers;
}

// Codes and scales of rows that are cut at alpha times the greatest magnitude of 32 numbers.
std::vector<Outcome> ByPowers(const PlanCall& call, const Numbers& x, const Numbers& rotation,
                              const Numbers& alpha) {
  const DtypeNumber y = call["yOut"].dtype;
  const float part = alpha.is_given() ? FloatAt(alpha, 0) : 0;
  std::vector<std::optional<uint32_t>> codes;
  Outcome scales;
  for (int64_t row = 0; row < x.shape()[0]; ++row) {
    const std::vector<float> rotated = RotatedRow(x, rotation, row);
    for (size_t first = 0; first < rotated.size(); first += 32) {
      const std::vector<float> block(rotated.begin() + static_cast<std::ptrdiff_t>(first),
                                     rotated.begin() + static_cast<std::ptrdiff_t>(first + 32));
      float greatest = 0;
      for (const float number : block) greatest = std::max(greatest, std::fabs(number));
      std::vector<double> numbers;
      for (const float number : block) {
        const bool is_cut = part > 0 && part < 1 && std::fabs(number) > part * greatest;
        numbers.push_back(static_cast<double>(is_cut ? std::copysign(part * greatest, number) : number));
      }
      const Power power = PowerOf(numbers, y, call["scaleAlg"].integer, call["dstTypeMax"].real, 0);
      scales.emplace_back(Element{static_cast<std::byte>(power.code())});
      for (const double number : numbers) codes.emplace_back(MxCode(y, number, power));
    }
    if (rotated.size() % 64 != 0) scales.emplace_back(Element{std::byte{0}});
  }
  return {OutcomeOfCodes(y, codes), scales};
}

void DrawPowers(PlanCall& call, RandomNumbers& random) {
  const int64_t width = int64_t{32} << random.Between(0, 2);
  const int64_t parts = random.Between(1, 4);
  const Shape shape = {random.Between(1, 4), width * parts};
  const DtypeNumber dtype = DrawDtype(random, kHalfDtypes);
  const DtypeNumber y = DrawDtype(random, kMxBytes);
  call["x"] = TensorArg("x", shape, dtype);
  call["rotation"] = TensorArg("rotation", {width, width}, dtype);
  if (random.Chance(50)) call["rotation"].shape = {parts, width, width};
  call["alpha"] = TensorArg("alpha", {1}, DrawDtype(random, kRowDtypes));
  call["alpha"].null = random.Chance(30);
  call["roundMode"].null = random.Chance(50);
  call["scaleAlg"].integer = random.Between(0, 1);
  call["yOut"] = OutputArg("yOut", shape, y);
  call["scaleOut"] = OutputArg("scaleOut", PairsShape(shape, 1), ACL_FLOAT8_E8M0);
}

// What the rotation of Ascend 950 refuses.
bool PowersWrong(PlanCall& call) {
  const DtypeNumber y = call["yOut"].dtype;
  const int64_t algorithm = call["scaleAlg"].integer;
  const double most = call["dstTypeMax"].real;
  if (!IsMxRound(call["roundMode"], y) || !HasAlgorithm(y, algorithm)) return true;
  if (most != 0 && !(algorithm == 2 && most >= 6 && most <= 12)) return true;
  const PlanArgument& alpha = call["alpha"];
  if (!alpha.null && (!IsFloatOrHalf(alpha.dtype) || NumElements(alpha.shape) != 1)) return true;
  const Shape& x = call["x"].shape;
  const Shape& rotation = call["rotation"].shape;
  if (x.size() != 2 || (rotation.size() != 2 && rotation.size() != 3)) return true;
  const int64_t width = rotation.back();
  if (rotation[rotation.size() - 2] != width || (width != 32 && width != 64 && width != 128)) return true;
  if (x[1] == 0 || x[1] % width != 0 || (rotation.size() == 3 && rotation[0] != x[1] / width)) return true;
  return CodesWrong(x, call["yOut"]) || call["scaleOut"].shape != PairsShape(x, 1);
}

// A call on Ascend 950 has codes that share powers of two.
OperatorSpec Rotate(Product product) {
  const bool is_950 = product == Product::k950;
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnRotateQuant);
  op.valid = {
      TensorArg("x", {2, 128}, ACL_FLOAT16),
      TensorArg("rotation", {is_950 ? 32 : 16, is_950 ? 32 : 16}, ACL_FLOAT16),
      TensorArg("alpha", {1}),
      IntegerArg("axis", -1),
      TextArg("roundMode", "rint"),
      IntegerArg("scaleAlg", 0),
      RealArg("dstTypeMax", 0),
      IntegerArg("trans", 0),
      OutputArg("yOut", {2, 128}, is_950 ? ACL_FLOAT8_E4M3FN : ACL_INT8),
      OutputArg("scaleOut", is_950 ? Shape{2, 2, 2} : Shape{2}, is_950 ? ACL_FLOAT8_E8M0 : ACL_FLOAT)};
  op.valid[2].null = !is_950;
  op.takes_workspace = true;
  op.numbers_on = product;
  op.rules = {NoNulls("x rotation yOut scaleOut"),
              RefusedDtype("x", [](const PlanCall& call,
                                   DtypeNumber dtype) { return IsSinceA2(call) && IsHalf(dtype); }),
              SameDtype("x", "rotation"),
              RefusedDtype("yOut",
                           [](const PlanCall& call, DtypeNumber dtype) {
                             if (IsOn950(call)) return IsMxCode(dtype);
                             return IsOnA2OrA3(call) &&
                                    (dtype == ACL_INT8 || dtype == ACL_INT4 || dtype == ACL_INT32);
                           }),
              RefusedDtype("scaleOut",
                           [](const PlanCall& call, DtypeNumber dtype) {
                             return IsOn950(call) ? IsPower(dtype) : IsOnA2OrA3(call) && dtype == ACL_FLOAT;
                           }),
              Refuses(161002, "",
                      [](PlanCall& call) {
                        const int64_t axis = call["axis"].integer;
                        if (axis != -1 && axis != 1) return true;
                        if (call["trans"].integer != 0) return true;
                        if (IsOn950(call)) return PowersWrong(call);
                        if (!call["alpha"].null) return true;
                        if (!call["roundMode"].null && call["roundMode"].text != "rint") return true;
                        if (call["scaleAlg"].integer != 0 || call["dstTypeMax"].real != 0) return true;
                        const Shape& x = call["x"].shape;
                        const Shape& rotation = call["rotation"].shape;
                        if (x.size() != 2 || rotation.size() != 2 || rotation[0] != rotation[1]) return true;
                        if (rotation[0] < 16 || rotation[0] > 1024) return true;
                        if (x[1] < 128 || x[1] > 16000 || x[1] % 8 != 0 || x[1] % rotation[0] != 0)
                          return true;
                        return !IsShapeOfCodes(x, call["yOut"]) || call["scaleOut"].shape != Shape{x[0]};
                      }),
              DoneIfEmpty("x")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    if (IsOn950(call)) return DrawPowers(call, random);
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
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetNumbers(tensors[0], random);
    SetNumbers(tensors[1], random);
    const double alphas[] = {0.5, 0.75, 0.125, 0, 1, -1};
    if (tensors[2].size() > 0) tensors[2].Set(0, alphas[random.Below(6)]);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const Numbers rotation(call, tensors, "rotation");
    const DtypeNumber y = CodeDtype(call["yOut"].dtype);
    std::vector<std::optional<uint32_t>> codes;
    std::vector<double> steps;
    if (IsOn950(call)) return ByPowers(call, x, rotation, Numbers(call, tensors, "alpha"));
    for (int64_t row = 0; row < x.shape()[0]; ++row) {
      const std::vector<float> numbers = RotatedRow(x, rotation, row);
      const RowCodes one = DynamicRow(numbers, y, false, false, GreatestCode(y));
      for (const uint32_t code : one.codes) codes.emplace_back(code);
      steps.push_back(static_cast<double>(one.scale));
    }
    return std::vector<Outcome>{OutcomeOfCodes(call["yOut"].dtype, codes), EncodedAll(ACL_FLOAT, steps)};
  };
  return op;
}

const std::vector<OperatorSpec>& All() {
  static const std::vector<OperatorSpec> all = {Flat(PORTACL_C_FUNCTION(aclnnFlatQuant), false),
                                                Flat(PORTACL_C_FUNCTION(aclnnFlatQuantV2), true),
                                                Rotate(Product::kA2)};
  return all;
}
PORTACL_OPERATOR_TESTS(RotatedQuantTest, All());

const std::vector<OperatorSpec>& AllOn950() {
  static const std::vector<OperatorSpec> all = {Rotate(Product::k950)};
  return all;
}
PORTACL_OPERATOR_TESTS(RotatedQuantOn950Test, AllOn950());

// ---- codes of FLOAT4 by hand: two matrices of 3 * 26 numbers, which are two blocks and a half ----

std::vector<double> SetHalves(GuardedBuffer& device, size_t count, int64_t most, RandomNumbers& random) {
  std::vector<double> numbers(count);
  for (size_t i = 0; i < count; ++i) {
    numbers[i] = std::ldexp(static_cast<double>(random.Between(-most, most)), -4);
    EncodeElement(ACL_FLOAT16, numbers[i], reinterpret_cast<std::byte*>(device.device()) + 2 * i);
  }
  return numbers;
}

TEST(FlatQuantByHand, Float4) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", "Ascend950PR_9599"}});
  constexpr size_t kMatrices = 2, kHeight = 3, kWidth = 26, kColumns = kHeight * kWidth;
  for (const bool has_right : {true, false}) {
    for (const double most : {0.0, 6.0, 7.0, 9.5}) {
      Made made;
      RandomNumbers random(5);
      GuardedBuffer device_x(2 * kMatrices * kColumns);
      GuardedBuffer device_left(2 * kHeight * kHeight);
      GuardedBuffer device_right(2 * kWidth * kWidth);
      GuardedBuffer device_y(kMatrices * kColumns / 2);
      GuardedBuffer device_scale(kMatrices * 4);
      const std::vector<double> x = SetHalves(device_x, kMatrices * kColumns, 63, random);
      const std::vector<double> left = SetHalves(device_left, kHeight * kHeight, 7, random);
      const std::vector<double> right = SetHalves(device_right, kWidth * kWidth, 7, random);
      const int64_t width = has_right ? int64_t{kWidth} : 0;
      uint64_t size = 0;
      aclOpExecutor* executor = nullptr;
      ASSERT_EQ(aclnnFlatQuantV2GetWorkspaceSize(
                    made.Dense({kMatrices, kHeight, kWidth}, ACL_FLOAT16, device_x.device()),
                    made.Dense({kHeight, kHeight}, ACL_FLOAT16, device_left.device()),
                    made.Dense({width, width}, ACL_FLOAT16, device_right.device()), 1, most,
                    made.Dense({kMatrices, kColumns}, ACL_FLOAT4_E2M1, device_y.device()),
                    made.Dense({kMatrices, 2, 2}, ACL_FLOAT8_E8M0, device_scale.device()), &size, &executor),
                0)
          << TakeErrorMessage();
      ASSERT_EQ(RunAndWait(environment, aclnnFlatQuantV2, size, executor), 0);
      std::vector<uint8_t> codes(kMatrices * kColumns / 2);
      std::vector<uint8_t> powers(kMatrices * 4);
      std::memcpy(codes.data(), device_y.device(), codes.size());
      std::memcpy(powers.data(), device_scale.device(), powers.size());
      for (size_t k = 0; k < kMatrices; ++k) {
        // Sums of these numbers are exact in any order.
        std::vector<float> first(kColumns), second(kColumns);
        for (size_t i = 0; i < kColumns; ++i) {
          double sum = 0;
          for (size_t t = 0; t < kWidth; ++t)
            sum += x[k * kColumns + i / kWidth * kWidth + t] * right[t * kWidth + i % kWidth];
          first[i] = has_right ? RoundedTo(ACL_FLOAT16, static_cast<float>(sum))
                               : static_cast<float>(x[k * kColumns + i]);
        }
        for (size_t i = 0; i < kColumns; ++i) {
          double sum = 0;
          for (size_t t = 0; t < kHeight; ++t)
            sum += left[i / kWidth * kHeight + t] * static_cast<double>(first[t * kWidth + i % kWidth]);
          second[i] = RoundedTo(ACL_FLOAT16, static_cast<float>(sum));
        }
        for (size_t block = 0; block < 4; ++block) {
          std::vector<double> numbers;
          for (size_t i = block * 32; i < std::min(kColumns, block * 32 + 32); ++i)
            numbers.push_back(static_cast<double>(second[i]));
          const Power power = PowerOf(numbers, ACL_FLOAT4_E2M1, most == 0 ? 0 : 2, most, 0);
          EXPECT_EQ(powers[k * 4 + block], numbers.empty() ? 0 : power.code()) << most;
          for (size_t i = 0; i < numbers.size(); ++i) {
            const size_t at = k * kColumns + block * 32 + i;
            const uint32_t code = at % 2 == 0 ? codes[at / 2] & 0xF : codes[at / 2] >> 4;
            EXPECT_EQ(code, MxCode(ACL_FLOAT4_E2M1, numbers[i], power)) << most << " " << numbers[i];
          }
        }
      }
    }
  }
}

// ---- rotated rows as codes of FLOAT4 by hand ----

struct RotatedMode {
  aclDataType codes;
  int64_t algorithm;
  double most;
  const char* round;  // may be null
  char rounding;
};
constexpr RotatedMode kRotatedModes[] = {
    {ACL_FLOAT4_E2M1, 0, 0, "rint", 'n'},  {ACL_FLOAT4_E2M1, 0, 0, "round", 'a'},
    {ACL_FLOAT4_E2M1, 0, 0, "floor", 'f'}, {ACL_FLOAT4_E1M2, 0, 0, nullptr, 'n'},
    {ACL_FLOAT4_E1M2, 0, 0, "round", 'a'}, {ACL_FLOAT4_E1M2, 0, 0, "floor", 'f'},
    {ACL_FLOAT4_E2M1, 2, 0, "rint", 'n'},  {ACL_FLOAT4_E2M1, 2, 6, "floor", 'f'},
    {ACL_FLOAT4_E2M1, 2, 7, "round", 'a'}, {ACL_FLOAT4_E2M1, 2, 8.5, "rint", 'n'},
    {ACL_FLOAT4_E2M1, 2, 12, "floor", 'f'}};

// Rows of matrices' products: ordinary ones, one with a block of zeros and one of tiny numbers, one with infinity and NaN.
constexpr int64_t kRotatedRows = 4;
constexpr int64_t kRotatedWidth = 64;
constexpr int64_t kRotatedColumns = 192;

std::vector<double> SetRotatedRows(std::byte* device, aclDataType dtype) {
  RandomNumbers random(11);
  std::vector<double> x(kRotatedRows * kRotatedColumns);
  for (int64_t i = 0; i < std::ssize(x); ++i) {
    const int64_t column = i % kRotatedColumns;
    double number = std::ldexp(static_cast<double>(random.Between(-63, 63)), -4);
    if (i / kRotatedColumns == 1 && column < 64) number = 0;
    if (i / kRotatedColumns == 1 && column >= 128)
      number = std::ldexp(number, dtype == ACL_BF16 ? -125 : -12);
    if (i == 2 * kRotatedColumns + 7) number = std::numeric_limits<double>::infinity();
    if (i == 2 * kRotatedColumns + 150) number = std::numeric_limits<double>::quiet_NaN();
    x[static_cast<size_t>(i)] = number;
    EncodeElement(dtype, number, device + 2 * i);
  }
  return x;
}
// A few powers of two in each column, so that sums are exact in any order and have magnitudes of many sizes.
std::vector<double> SetRotation(std::byte* device, aclDataType dtype, int64_t matrices) {
  RandomNumbers random(13);
  std::vector<double> rotation(static_cast<size_t>(matrices * kRotatedWidth * kRotatedWidth));
  for (size_t i = 0; i < rotation.size(); ++i) {
    if (random.Chance(60)) rotation[i] = std::ldexp(random.Chance(50) ? 1 : -1, static_cast<int>(-(i % 7)));
    EncodeElement(dtype, rotation[i], device + 2 * i);
  }
  return rotation;
}
// A row's products in float64, cut at a part of the greatest magnitude of 32.
std::vector<double> CutProducts(const double* row, const std::vector<double>& rotation, double part) {
  std::vector<double> products(kRotatedColumns);
  const bool has_many = std::ssize(rotation) > kRotatedWidth * kRotatedWidth;
  for (int64_t column = 0; column < kRotatedColumns; ++column) {
    const int64_t vector = column / kRotatedWidth;
    const auto* const matrix = rotation.data() + (has_many ? vector * kRotatedWidth * kRotatedWidth : 0);
    for (int64_t t = 0; t < kRotatedWidth; ++t)
      products[static_cast<size_t>(column)] +=
          row[vector * kRotatedWidth + t] * matrix[t * kRotatedWidth + column % kRotatedWidth];
  }
  if (!(part > 0 && part < 1)) return products;
  for (auto block = products.begin(); block != products.end(); block += 32) {
    double greatest = 0;
    for (auto number = block; number != block + 32; ++number)
      greatest = std::max(greatest, std::isnan(*number) ? 0 : std::fabs(*number));
    for (auto number = block; number != block + 32; ++number) {
      if (std::fabs(*number) > part * greatest) *number = std::copysign(part * greatest, *number);
    }
  }
  return products;
}

void CheckRotatedFloat4(const ScopedEnvironment& environment, const RotatedMode& mode, aclDataType dtype,
                        bool has_many, std::optional<double> alpha) {
  SCOPED_TRACE(std::to_string(mode.codes) + ", scaleAlg " + std::to_string(mode.algorithm) + ", dstTypeMax " +
               std::to_string(mode.most) + ", " + mode.rounding + ", alpha " +
               std::to_string(alpha.value_or(-1)) + (has_many ? ", many" : ""));
  constexpr int64_t kBlocks = kRotatedColumns / 32;
  const int64_t matrices = has_many ? kRotatedColumns / kRotatedWidth : 1;
  Made made;
  GuardedBuffer device_x(2 * kRotatedRows * kRotatedColumns);
  GuardedBuffer device_rotation(static_cast<size_t>(2 * matrices * kRotatedWidth * kRotatedWidth));
  GuardedBuffer device_alpha(sizeof(float));
  GuardedBuffer device_y(kRotatedRows * kRotatedColumns / 2);
  GuardedBuffer device_scale(kRotatedRows * kBlocks);
  const std::vector<double> x = SetRotatedRows(device_x.device(), dtype);
  const std::vector<double> rotation = SetRotation(device_rotation.device(), dtype, matrices);
  if (alpha.has_value()) EncodeElement(ACL_FLOAT, *alpha, device_alpha.device());
  Shape shape = {kRotatedWidth, kRotatedWidth};
  if (has_many) shape.insert(shape.begin(), matrices);
  std::string round = mode.round == nullptr ? "" : mode.round;
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnRotateQuantGetWorkspaceSize(
                made.Dense({kRotatedRows, kRotatedColumns}, dtype, device_x.device()),
                made.Dense(shape, dtype, device_rotation.device()),
                alpha.has_value() ? made.Dense({1}, ACL_FLOAT, device_alpha.device()) : nullptr, -1,
                mode.round == nullptr ? nullptr : round.data(), mode.algorithm, mode.most, false,
                made.Dense({kRotatedRows, kRotatedColumns}, mode.codes, device_y.device()),
                made.Dense({kRotatedRows, kBlocks / 2, 2}, ACL_FLOAT8_E8M0, device_scale.device()), &size,
                &executor),
            0)
      << TakeErrorMessage();
  ASSERT_EQ(RunAndWait(environment, aclnnRotateQuant, size, executor), 0);
  for (int64_t row = 0; row < kRotatedRows; ++row) {
    const std::vector<double> products =
        CutProducts(x.data() + row * kRotatedColumns, rotation, alpha.value_or(0));
    for (int64_t block = 0; block < kBlocks; ++block) {
      const std::vector<double> numbers(products.begin() + block * 32, products.begin() + (block + 1) * 32);
      const Power power = PowerOf(numbers, mode.codes, mode.algorithm, mode.most, 0);
      EXPECT_EQ(std::to_integer<uint8_t>(device_scale.device()[row * kBlocks + block]), power.code())
          << row << " " << block;
      for (int64_t i = 0; i < 32; ++i) {
        const int64_t at = row * kRotatedColumns + block * 32 + i;
        const auto byte = std::to_integer<uint32_t>(device_y.device()[at / 2]);
        const double number = numbers[static_cast<size_t>(i)];
        ASSERT_EQ(at % 2 == 0 ? byte & 0xF : byte >> 4, MxCode(mode.codes, number, power, mode.rounding))
            << row << " " << block << " " << number;
      }
    }
  }
}

TEST(RotateQuantByHand, Float4) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", "Ascend950PR_9599"}});
  const std::optional<double> alphas[] = {std::nullopt, 0.5, 0.8125, 1.0, -0.5};
  for (const RotatedMode& mode : kRotatedModes) {
    for (const aclDataType dtype : {ACL_FLOAT16, ACL_BF16}) {
      for (const bool has_many : {false, true}) {
        for (const std::optional<double>& alpha : alphas) {
          CheckRotatedFloat4(environment, mode, dtype, has_many, alpha);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

}  // namespace
}  // namespace portacl::testing
