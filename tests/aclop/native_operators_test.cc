// Operators by the name of their type that native ones compute: values by their definitions, element by element, and refusals.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "aclop/called_by_name.h"
#include "gtest/gtest.h"
#include "support/environment.h"

namespace portacl::testing {
namespace {

class NativeOperators : public ::testing::Test {
 protected:
  void Run(CalledByName& call) { ASSERT_EQ(call.Run(stream_), 0) << TakeMessage(); }
  // Refused at once, with a text that says this; nothing is queued.
  void Refuses(CalledByName& call, const std::string& part) {
    TakeMessage();
    EXPECT_EQ(call.Launch(stream_), ACL_ERROR_INVALID_PARAM) << part;
    const std::string message = TakeMessage();
    EXPECT_NE(message.find("aclopCompileAndExecute: operator "), std::string::npos) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
  }

  ScopedEnvironment environment_{Variables{}};
  aclrtStream stream_ = environment_.stream();
};

void ExpectNear(const Floats& got, const std::vector<double>& want, double relative,
                const std::string& what) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i], relative * std::max(1.0, std::abs(want[i]))) << what << ", element " << i;
}

uint64_t MemoryInUse() {
  aclrtMemUsageInfo info = {};
  size_t count = 0;
  EXPECT_EQ(aclrtGetMemUsageInfo(0, &info, 1, &count), 0);
  return info.curMemSize;
}

// A host function that waits until it may write.
struct GateOfNumbers {
  std::atomic<bool> reached{false};
  std::atomic<bool> open{false};
  Floats x = {1.0f, 1.0f};
};
void Await(void* opaque) {
  auto* const gate = static_cast<GateOfNumbers*>(opaque);
  gate->reached = true;
  while (!gate->open) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  gate->x = {4.0f, 9.0f};
}
void Nothing(void*) {}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double SoftplusTanh(double x) { return std::tanh(std::log1p(std::exp(x))); }

// ---- element by element ----

TEST_F(NativeOperators, OfOneTensor) {
  struct Case {
    const char* type;
    double (*function)(double);
    float least;
    float most;
  };
  const Case cases[] = {
      {"Abs", [](double x) { return std::abs(x); }, -4, 4},
      {"Acos", [](double x) { return std::acos(x); }, -0.9f, 0.9f},
      {"Acosh", [](double x) { return std::acosh(x); }, 1.5f, 9},
      {"Asin", [](double x) { return std::asin(x); }, -0.9f, 0.9f},
      {"Asinh", [](double x) { return std::asinh(x); }, -4, 4},
      {"Atan", [](double x) { return std::atan(x); }, -4, 4},
      {"Atanh", [](double x) { return std::atanh(x); }, -0.9f, 0.9f},
      {"Ceil", [](double x) { return std::ceil(x); }, -4, 4},
      {"Cos", [](double x) { return std::cos(x); }, -4, 4},
      {"Cosh", [](double x) { return std::cosh(x); }, -4, 4},
      {"Erf", [](double x) { return std::erf(x); }, -4, 4},
      {"Erfc", [](double x) { return std::erfc(x); }, -4, 4},
      {"Exp", [](double x) { return std::exp(x); }, -4, 4},
      {"Expm1", [](double x) { return std::expm1(x); }, -4, 4},
      {"Floor", [](double x) { return std::floor(x); }, -4, 4},
      {"HardSwish", [](double x) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; }, -4, 4},
      {"Log", [](double x) { return std::log(x); }, 0.1f, 9},
      {"Log1p", [](double x) { return std::log1p(x); }, -0.5f, 9},
      {"Mish", [](double x) { return x * SoftplusTanh(x); }, -4, 4},
      {"Neg", [](double x) { return -x; }, -4, 4},
      {"Reciprocal", [](double x) { return 1 / x; }, 0.5f, 9},
      {"Relu", [](double x) { return x > 0 ? x : 0; }, -4, 4},
      {"Rint", [](double x) { return std::nearbyint(x); }, -4, 4},
      {"Round", [](double x) { return std::nearbyint(x); }, -4, 4},
      {"Rsqrt", [](double x) { return 1 / std::sqrt(x); }, 0.5f, 9},
      {"Sigmoid", Sigmoid, -4, 4},
      {"Sign", [](double x) { return x > 0   ? 1.0
                                     : x < 0 ? -1.0
                                             : 0.0; }, -4, 4},
      {"Sin", [](double x) { return std::sin(x); }, -4, 4},
      {"Sinh", [](double x) { return std::sinh(x); }, -4, 4},
      {"Sqrt", [](double x) { return std::sqrt(x); }, 0, 9},
      {"Square", [](double x) { return x * x; }, -4, 4},
      {"Swish", [](double x) { return x * Sigmoid(x); }, -4, 4},
      {"Tan", [](double x) { return std::tan(x); }, -1.2f, 1.2f},
      {"Tanh", [](double x) { return std::tanh(x); }, -4, 4},
      {"Trunc", [](double x) { return std::trunc(x); }, -4, 4},
  };
  for (const Case& c : cases) {
    Floats x = Numbers(35, c.least, c.most);
    Floats y(35, -99.0f);
    CalledByName call(c.type);
    Run(call.In({5, 7}, x).Out({5, 7}, y));
    std::vector<double> want;
    for (const float one : x) want.push_back(c.function(one));
    ExpectNear(y, want, 1e-6, c.type);
  }
  Floats x = {-0.5f, 0.0f, 0.25f, 0.9f};
  Floats y(4);
  CalledByName inverse("Erfinv");
  Run(inverse.In({4}, x).Out({4}, y));
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(std::erf(y[i]), x[i], 1e-6);
}

TEST_F(NativeOperators, OfTwoTensors) {
  struct Case {
    const char* type;
    double (*function)(double, double);
  };
  const Case cases[] = {
      {"Add", [](double x, double y) { return x + y; }},
      {"Sub", [](double x, double y) { return x - y; }},
      {"Mul", [](double x, double y) { return x * y; }},
      {"Div", [](double x, double y) { return x / y; }},
      {"RealDiv", [](double x, double y) { return x / y; }},
      {"Maximum", [](double x, double y) { return std::max(x, y); }},
      {"Minimum", [](double x, double y) { return std::min(x, y); }},
      {"Pow", [](double x, double y) { return std::pow(x, y); }},
      {"MishGrad",
       [](double g, double x) {
         const double t = SoftplusTanh(x);
         return g * (t + x * Sigmoid(x) * (1 - t * t));
       }},
  };
  for (const Case& c : cases) {
    Floats x = Numbers(15, 0.5f, 3.0f);
    Floats y = Numbers(5, -2.0f, 1.5f);  // of a row, repeated
    Floats z(15, -99.0f);
    CalledByName call(c.type);
    Run(call.In({3, 5}, x).In({5}, y).Out({3, 5}, z));
    std::vector<double> want;
    for (size_t i = 0; i < 15; ++i) want.push_back(c.function(x[i], y[i % 5]));
    ExpectNear(z, want, 1e-6, c.type);
  }
}

TEST_F(NativeOperators, Comparisons) {
  struct Case {
    const char* type;
    bool (*function)(float, float);
  };
  const Case cases[] = {
      {"Equal", [](float x, float y) { return x == y; }},
      {"NotEqual", [](float x, float y) { return x != y; }},
      {"Greater", [](float x, float y) { return x > y; }},
      {"GreaterEqual", [](float x, float y) { return x >= y; }},
      {"Less", [](float x, float y) { return x < y; }},
      {"LessEqual", [](float x, float y) { return x <= y; }},
  };
  Floats x = {1, 2, 3, NAN};
  Floats y = {2, 2, 2, 2};
  for (const Case& c : cases) {
    std::vector<uint8_t> z(4, 9);
    CalledByName call(c.type);
    Run(call.In({4}, x).In({4}, y).Out(ACL_BOOL, {4}, z));
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(z[i], c.function(x[i], y[i]) ? 1 : 0) << c.type << ", " << i;
  }
  std::vector<uint8_t> a = {0, 0, 1, 1};
  std::vector<uint8_t> b = {0, 1, 0, 1};
  std::vector<uint8_t> both(4);
  std::vector<uint8_t> any(4);
  std::vector<uint8_t> none(4);
  CalledByName first("LogicalAnd");
  CalledByName second("LogicalOr");
  CalledByName third("LogicalNot");
  Run(first.In(ACL_BOOL, {4}, a).In(ACL_BOOL, {4}, b).Out(ACL_BOOL, {4}, both));
  Run(second.In(ACL_BOOL, {4}, a).In(ACL_BOOL, {4}, b).Out(ACL_BOOL, {4}, any));
  Run(third.In(ACL_BOOL, {4}, a).Out(ACL_BOOL, {4}, none));
  EXPECT_EQ(both, (std::vector<uint8_t>{0, 0, 0, 1}));
  EXPECT_EQ(any, (std::vector<uint8_t>{0, 1, 1, 1}));
  EXPECT_EQ(none, (std::vector<uint8_t>{1, 1, 0, 0}));
}

TEST_F(NativeOperators, SwishByItsScale) {
  for (const float scale : {1.0f, 1.702f, -0.5f}) {
    Floats x = Numbers(24);
    Floats g = Numbers(24, -1, 2);
    Floats y(24);
    Floats dx(24);
    CalledByName forward("Swish");
    Run(forward.In({2, 3, 4}, x).Out({2, 3, 4}, y).Float("scale", scale));
    CalledByName backward("SwishGrad");
    Run(backward.In({2, 3, 4}, g).In({2, 3, 4}, x).In({2, 3, 4}, y).Out({2, 3, 4}, dx).Float("scale", scale));
    std::vector<double> want;
    std::vector<double> want_dx;
    for (size_t i = 0; i < 24; ++i) {
      const double s = Sigmoid(static_cast<double>(scale) * x[i]);
      want.push_back(x[i] * s);
      want_dx.push_back(g[i] * (s + static_cast<double>(scale) * x[i] * s * (1 - s)));
    }
    ExpectNear(y, want, 1e-6, "Swish");
    ExpectNear(dx, want_dx, 1e-6, "SwishGrad");
  }
}

TEST_F(NativeOperators, Casts) {
  Floats x = {1.5f, -2.7f, 0.0f};
  std::vector<int32_t> y(3);
  CalledByName call("Cast");
  Run(call.In({3}, x).Out(ACL_INT32, {3}, y).Int("dst_type", ACL_INT32));
  EXPECT_EQ(y, (std::vector<int32_t>{1, -2, 0}));
}

// ---- constants, masks ----

TEST_F(NativeOperators, Fills) {
  Floats y(6, -1.0f);
  CalledByName call("Fill");
  Run(call.Ints({2, 3}).Value(ACL_FLOAT, 2.5f).Out({2, 3}, y));
  EXPECT_EQ(y, Floats(6, 2.5f));
  std::vector<int32_t> one(1);
  CalledByName scalar("Fill");  // of a tensor without dims, as PyTorch's NPU back end calls it
  Run(scalar.Ints({1}).Value(ACL_INT32, int32_t{7}).Out(ACL_INT32, {}, one));
  EXPECT_EQ(one[0], 7);
  Floats half(2);
  CalledByName converted("Fill");
  Run(converted.Ints({2}).Value(ACL_FLOAT16, aclFloatToFloat16(0.5f)).Out({2}, half));
  EXPECT_EQ(half, Floats(2, 0.5f));
}

// What lies in device memory is what earlier work makes of it: the call waits for that.
TEST_F(NativeOperators, ConstantsInDeviceMemoryAreReadInTheirTurn) {
  struct Gate {
    std::atomic<bool> open{false};
    std::vector<int64_t> dims = {7};
  } gate;
  ASSERT_EQ(aclrtLaunchHostFunc(
                stream_,
                [](void* opaque) {
                  auto* const it = static_cast<Gate*>(opaque);
                  while (!it->open) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                  it->dims[0] = 3;
                },
                &gate),
            0);
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gate.open = true;
  });
  Floats y(3);
  CalledByName call("Fill");
  EXPECT_EQ(call.In(ACL_INT64, {1}, gate.dims).Value(ACL_FLOAT, 4.0f).Out({3}, y).Launch(stream_), 0)
      << TakeMessage();
  opener.join();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
  EXPECT_EQ(y, Floats(3, 4.0f));
}

TEST_F(NativeOperators, Diagonals) {
  for (const bool wrap : {false, true}) {
    Floats x = Numbers(14);
    Floats y(14);
    CalledByName call("FillDiagonal");
    Run(call.In({7, 2}, x).Out({7, 2}, y).Float("fill_value", 9).Flag("wrap", wrap));
    for (size_t i = 0; i < 14; ++i) {
      const size_t row = i / 2;
      const bool is_on = row < 2 ? row == i % 2 : wrap && row % 3 < 2 && row % 3 == i % 2;
      EXPECT_EQ(y[i], is_on ? 9 : x[i]) << i;
    }
  }
}

TEST_F(NativeOperators, Classes) {
  std::vector<int32_t> x = {2, 0, 3};
  Floats on = {5};
  Floats off = {-1};
  Floats y(12);
  CalledByName by_attribute("OneHotD");
  Run(by_attribute.In(ACL_INT32, {3}, x)
          .In({1}, on)
          .In({1}, off)
          .Out({3, 4}, y)
          .Int("depth", 4)
          .Int("axis", -1));
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(y[i], x[i / 4] == static_cast<int>(i % 4) ? 5 : -1);
  Floats across(12);
  CalledByName by_input("OneHot");
  Run(by_input.In(ACL_INT32, {3}, x)
          .Value(ACL_INT32, int32_t{4})
          .In({1}, on)
          .In({1}, off)
          .Out({4, 3}, across)
          .Int("axis", 0));
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(across[i], x[i % 3] == static_cast<int>(i / 3) ? 5 : -1);
}

TEST_F(NativeOperators, Dropout) {
  constexpr size_t kCount = 40000;
  const auto draw = [&](int64_t seed, float keep) {
    std::vector<uint8_t> mask(kCount, 7);
    CalledByName call("DropOutGenMaskV3");
    Run(call.Ints({200, 200})
            .Value(ACL_FLOAT, keep)
            .Out(ACL_UINT8, {40000}, mask)
            .Int("seed", seed)
            .Int("seed2", 0));
    return mask;
  };
  std::vector<uint8_t> mask = draw(5, 0.75f);
  EXPECT_EQ(mask, draw(5, 0.75f));
  EXPECT_NE(mask, draw(6, 0.75f));
  size_t kept = 0;
  for (const uint8_t one : mask) {
    ASSERT_LE(one, 1);
    kept += one;
  }
  EXPECT_NEAR(static_cast<double>(kept) / kCount, 0.75, 0.02);
  EXPECT_EQ(draw(5, 1.0f), std::vector<uint8_t>(kCount, 1));

  Floats x = Numbers(kCount);
  Floats y(kCount);
  CalledByName bytes("DropOutDoMaskV3");
  Run(bytes.In({kCount}, x).In(ACL_UINT8, {200, 200}, mask).Value(ACL_FLOAT, 0.75f).Out({kCount}, y));
  for (size_t i = 0; i < kCount; ++i) ASSERT_EQ(y[i], mask[i] == 0 ? 0.0f : x[i] / 0.75f) << i;

  Floats few = Numbers(20);
  Floats some(20);
  std::vector<uint8_t> bits(16, 0xA5);
  CalledByName packed("DropOutDoMask");
  Run(packed.In({4, 5}, few).In(ACL_UINT8, {16}, bits).Value(ACL_FLOAT, 0.5f).Out({4, 5}, some));
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(some[i], (0xA5 >> i % 8 & 1) != 0 ? few[i] * 2 : 0.0f) << i;
}

TEST_F(NativeOperators, SignsAsBits) {
  Floats x = {5, 4, 3, 2, 0, -1, -2, 4, 3, 2, 1, 0, -1, -2};
  std::vector<uint8_t> bytes(2);
  CalledByName pack("SignBitsPack");
  Run(pack.In({14}, x).Out(ACL_UINT8, {2, 1}, bytes).Int("size", 2));
  EXPECT_EQ(bytes, (std::vector<uint8_t>{159, 15}));
  Floats numbers(16);
  CalledByName unpack("SignBitsUnpack");
  Run(unpack.In(ACL_UINT8, {2}, bytes).Out({1, 16}, numbers).Int("size", 1).Int("dtype", ACL_FLOAT));
  for (size_t i = 0; i < 14; ++i) EXPECT_EQ(numbers[i], x[i] >= 0 ? 1.0f : -1.0f) << i;
  for (size_t i = 14; i < 16; ++i) EXPECT_EQ(numbers[i], -1.0f);
  CalledByName other("SignBitsPack");
  Refuses(other.In({14}, x).Out(ACL_UINT8, {2, 1}, bytes).Int("size", 3), "size");
}

TEST_F(NativeOperators, SoftmaxOfASumWithAMask) {
  constexpr size_t kRows = 6;
  constexpr size_t kColumns = 8;
  Floats x1 = Numbers(kRows * kColumns);
  Floats x2 = Numbers(kRows * kColumns, -1, 3);
  std::vector<uint8_t> mask;
  for (size_t i = 0; i < kRows * kColumns; ++i) mask.push_back(i % 3 == 0 ? 0 : 1);
  Floats softmax(kRows * kColumns);
  Floats dropped(kRows * kColumns);
  CalledByName call("AxpyWithSoftmaxAndDropOutDoMask");
  Run(call.In({2, 3, kColumns}, x1)
          .In({2, 3, kColumns}, x2)
          .In(ACL_UINT8, {kRows * kColumns}, mask)
          .Out({2, 3, kColumns}, softmax)
          .Out({2, 3, kColumns}, dropped)
          .Float("alpha", 0.5f)
          .Float("input_keep_prob", 0.8f)
          .List("axis", {-1}));
  std::vector<double> want;
  std::vector<double> want_dropped;
  for (size_t row = 0; row < kRows; ++row) {
    double sum = 0;
    for (size_t i = row * kColumns; i < (row + 1) * kColumns; ++i) sum += std::exp(x1[i] + 0.5 * x2[i]);
    for (size_t i = row * kColumns; i < (row + 1) * kColumns; ++i) {
      want.push_back(std::exp(x1[i] + 0.5 * x2[i]) / sum);
      want_dropped.push_back(mask[i] * want.back() / 0.8f);
    }
  }
  ExpectNear(softmax, want, 1e-6, "softmax");
  ExpectNear(dropped, want_dropped, 1e-6, "dropped");

  Floats g = Numbers(kRows * kColumns, -2, 1);
  Floats dx(kRows * kColumns);
  CalledByName gradient("DropoutWithMulsAndSoftmaxGrad");
  Run(gradient.In({2, 3, kColumns}, g)
          .In(ACL_UINT8, {kRows * kColumns}, mask)
          .In({2, 3, kColumns}, softmax)
          .Out({2, 3, kColumns}, dx)
          .Float("alpha", 0.5f)
          .Float("input_keep_prob", 0.8f)
          .List("axes", {-1}));
  // By differences: the sum of g * dropped along each x2.
  std::vector<double> want_dx;
  for (size_t i = 0; i < kRows * kColumns; ++i) {
    const size_t begin = i / kColumns * kColumns;
    const auto loss = [&](double shift) {
      double sum = 0;
      double weighted = 0;
      for (size_t j = begin; j < begin + kColumns; ++j) {
        const double e = std::exp(x1[j] + 0.5 * (x2[j] + (j == i ? shift : 0)));
        sum += e;
        weighted += e * mask[j] / 0.8 * g[j];
      }
      return weighted / sum;
    };
    want_dx.push_back((loss(1e-5) - loss(-1e-5)) / 2e-5);
  }
  ExpectNear(dx, want_dx, 1e-5, "gradient");
}

// ---- dims and places ----

// The places of a tensor's elements, in order.
std::vector<Dims> Places(const Dims& dims) {
  std::vector<Dims> places;
  Dims place(dims.size(), 0);
  for (size_t n = Product(dims); n > 0; --n) {
    places.push_back(place);
    for (size_t i = place.size(); i-- > 0;) {
      if (++place[i] < dims[i]) break;
      place[i] = 0;
    }
  }
  return places;
}

size_t At(const Dims& dims, const Dims& place) {
  size_t at = 0;
  for (size_t i = 0; i < dims.size(); ++i)
    at = at * static_cast<size_t>(dims[i]) + static_cast<size_t>(place[i]);
  return at;
}

Floats Transposed(const Floats& x, const Dims& dims, const Dims& order, Dims* transposed) {
  transposed->clear();
  for (const int64_t from : order) transposed->push_back(dims[static_cast<size_t>(from)]);
  Floats y;
  for (const Dims& place : Places(*transposed)) {
    Dims from(dims.size());
    for (size_t i = 0; i < order.size(); ++i) from[static_cast<size_t>(order[i])] = place[i];
    y.push_back(x[At(dims, from)]);
  }
  return y;
}

TEST_F(NativeOperators, Transposes) {
  const Dims dims = {2, 3, 4};
  Floats x = Numbers(24);
  Dims order = {0, 1, 2};
  do {
    Dims turned;
    const Floats want = Transposed(x, dims, order, &turned);
    Floats y(24);
    Floats z(24);
    CalledByName by_input("Transpose");
    Run(by_input.In(dims, x).Ints(order).Out(turned, y));
    EXPECT_EQ(y, want);
    CalledByName by_attribute("TransposeD");
    Run(by_attribute.In(dims, x).Out(turned, z).List("perm", order));
    EXPECT_EQ(z, want);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(NativeOperators, TransposesAndGivesOtherDims) {
  Floats x = Numbers(24);
  Dims turned;
  const Floats want = Transposed(x, {2, 3, 4}, {1, 0, 2}, &turned);
  Floats y(24);
  CalledByName first("ConfusionTransposeD");
  Run(first.In({2, 3, 4}, x)
          .Out({3, 8}, y)
          .List("perm", {1, 0, 2})
          .List("shape", {3, 8})
          .Flag("transpose_first", true));
  EXPECT_EQ(y, want);
  Floats z(24);
  CalledByName last("ConfusionTransposeD");
  Run(last.In({2, 12}, x)
          .Out({3, 2, 4}, z)
          .List("perm", {1, 0, 2})
          .List("shape", {2, 3, 4})
          .Flag("transpose_first", false));
  EXPECT_EQ(z, want);
}

TEST_F(NativeOperators, CutsOut) {
  Floats x = Numbers(20);
  Floats y(6);
  CalledByName call("Slice");
  Run(call.In({4, 5}, x).Ints({1, 2}).Ints({2, -1}).Out({2, 3}, y));
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(y[i], x[(1 + i / 3) * 5 + 2 + i % 3]);
  std::vector<int16_t> numbers = {1, 2, 3, 4};
  std::vector<int16_t> part(1);
  CalledByName of_integers("Slice");
  Run(of_integers.In(ACL_INT16, {4}, numbers).Ints({2}).Ints({1}).Out(ACL_INT16, {1}, part));
  EXPECT_EQ(part[0], 3);
  Floats nothing;
  CalledByName of_nothing("Slice");
  Run(of_nothing.In({4, 5}, x).Ints({4, 0}).Ints({-1, 5}).Out({0, 5}, nothing));
}

TEST_F(NativeOperators, SlicesWithSteps) {
  struct Case {
    Dims begin;
    Dims end;
    Dims steps;
    int64_t begin_mask;
    int64_t end_mask;
    int64_t ellipsis_mask;
    int64_t new_axis_mask;
    int64_t shrink_axis_mask;
    Dims dims;                 // of the result
    std::vector<Dims> chosen;  // the indices taken of each dim of the source
  };
  const Case cases[] = {
      {{0, 1}, {3, 4}, {1, 2}, 0, 0, 0, 0, 0, {3, 2, 6}, {{0, 1, 2}, {1, 3}, {0, 1, 2, 3, 4, 5}}},
      {{2, 1, -3}, {3, 4, -1}, {2, 2, 1}, 1, 2, 0, 0, 0, {2, 2, 2}, {{0, 2}, {1, 3}, {3, 4}}},
      {{1, 0, 2}, {2, 0, 3}, {1, 1, 1}, 0, 0, 2, 0, 1, {5, 1}, {{1}, {0, 1, 2, 3, 4}, {2}}},
      {{0, 1, 0}, {9, 9, 9}, {1, 3, 5}, 0, 0, 0, 1, 0, {1, 1, 1, 6}, {{1}, {0}, {0, 1, 2, 3, 4, 5}}},
      {{3}, {1}, {1}, 0, 0, 0, 0, 0, {0, 5, 6}, {{}, {0, 1, 2, 3, 4}, {0, 1, 2, 3, 4, 5}}},
  };
  const Dims from = {4, 5, 6};
  Floats x = Numbers(120);
  for (const Case& c : cases) {
    Floats y(Product(c.dims), -99.0f);
    CalledByName call("StridedSlice");
    Run(call.In(from, x)
            .Ints(c.begin)
            .Ints(c.end)
            .Ints(c.steps)
            .Out(c.dims, y)
            .Int("begin_mask", c.begin_mask)
            .Int("end_mask", c.end_mask)
            .Int("ellipsis_mask", c.ellipsis_mask)
            .Int("new_axis_mask", c.new_axis_mask)
            .Int("shrink_axis_mask", c.shrink_axis_mask));
    Floats want;
    for (const int64_t i : c.chosen[0]) {
      for (const int64_t j : c.chosen[1]) {
        for (const int64_t l : c.chosen[2]) want.push_back(x[At(from, {i, j, l})]);
      }
    }
    EXPECT_EQ(y, want) << ::testing::PrintToString(c.dims);
  }
}

TEST_F(NativeOperators, CopiesViews) {
  Floats x = Numbers(20);
  Floats y(6);
  CalledByName strided("AsStrided");
  Run(strided.In({4, 5}, x).Ints({2, 3}).Ints({5, 1}).Value(ACL_INT64, int64_t{7}).Out({2, 3}, y));
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(y[i], x[7 + i / 3 * 5 + i % 3]);

  Floats to(20, -1.0f);
  Floats from = Numbers(6);
  CalledByName copy("ViewCopy");
  Run(copy.In({4, 5}, to)
          .Ints({2, 3})
          .Ints({5, 1})
          .Value(ACL_INT64, int64_t{6})
          .In({3, 2}, from)
          .Ints({2, 3})
          .Ints({1, 2})
          .Value(ACL_INT64, int64_t{0})
          .Out({4, 5}, to)
          .Word("_exclude_engines", "AiCore"));
  for (size_t i = 0; i < 20; ++i) {
    const size_t row = i / 5 - 1;
    const size_t column = i % 5 - 1;
    EXPECT_EQ(to[i], row < 2 && column < 3 ? from[column * 2 + row] : -1.0f) << i;
  }
}

TEST_F(NativeOperators, StepsByAdamW) {
  const Dims dims = {2, 3};
  const float rate = 0.01f;
  const float decay = 0.1f;
  const float beta1 = 0.9f;
  const float beta2 = 0.99f;
  const float epsilon = 1e-5f;
  for (const bool has_maximum : {false, true}) {
    Floats weights = Numbers(6);
    Floats m = Numbers(6, -1, 1);
    Floats v = Numbers(6, 0.1f, 1);
    Floats gradient = Numbers(6, -2, 2);
    Floats maximum = Numbers(6, 0.2f, 2);
    const Floats old_weights = weights;
    const Floats old_m = m;
    const Floats old_v = v;
    CalledByName call("ApplyAdamW");
    call.In(dims, weights).In(dims, m).In(dims, v).Value(ACL_FLOAT, beta1).Value(ACL_FLOAT, beta2);
    call.Value(ACL_FLOAT, rate).Value(ACL_FLOAT, decay).Value(ACL_FLOAT, beta1).Value(ACL_FLOAT, beta2);
    call.Value(ACL_FLOAT, epsilon).In(dims, gradient);
    if (has_maximum)
      call.In(dims, maximum);
    else
      call.Nothing();
    call.Out(dims, weights).Out(dims, m).Out(dims, v).Flag("amsgrad", has_maximum).Flag("maximize", false);
    Run(call);
    for (size_t i = 0; i < 6; ++i) {
      const double g = gradient[i];
      const double new_m = beta1 * double{old_m[i]} + (1 - double{beta1}) * g;
      const double new_v = beta2 * double{old_v[i]} + (1 - double{beta2}) * g * g;
      const double scale = has_maximum ? std::max(double{maximum[i]}, new_v) : new_v;
      const double step =
          new_m / (1 - double{beta1} * beta1) / (std::sqrt(scale / (1 - double{beta2} * beta2)) + epsilon);
      EXPECT_NEAR(weights[i], old_weights[i] * (1 - double{rate} * decay) - rate * step, 1e-5) << i;
      EXPECT_NEAR(m[i], new_m, 1e-6) << i;
      EXPECT_NEAR(v[i], new_v, 1e-6) << i;  // with amsgrad, too (docs/compatibility.md)
    }
  }

  Floats weights = Numbers(6);
  Floats m(6);
  Floats v(6);
  Floats gradient(6);
  Floats elsewhere(6);
  CalledByName call("ApplyAdamW");
  call.In(dims, weights).In(dims, m).In(dims, v);
  for (int i = 0; i < 7; ++i) call.Value(ACL_FLOAT, 0.5f);
  call.In(dims, gradient).Nothing().Out(dims, weights).Out(dims, elsewhere).Out(dims, v);
  Refuses(call, "has outputs[1] elsewhere than inputs[1], accepted: one address, since it writes in place");
}

TEST_F(NativeOperators, Pads) {
  Floats x = Numbers(6);
  Floats y(20);
  CalledByName call("Pad");
  Run(call.In({2, 3}, x).Ints({1, 2, 0, 1}).Out({5, 4}, y));
  const auto expected = [&](size_t i, float outside) {
    const size_t row = i / 4 - 1;
    return row < 2 && i % 4 < 3 ? x[row * 3 + i % 4] : outside;
  };
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(y[i], expected(i, 0.0f));
  Floats z(20);
  CalledByName with_value("PadV3");
  Run(with_value.In({2, 3}, x)
          .Ints({1, 2, 0, 1})
          .Value(ACL_FLOAT, 7.0f)
          .Out({5, 4}, z)
          .Word("mode", "constant")
          .Flag("paddings_contiguous", true));
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(z[i], expected(i, 7.0f));
}

TEST_F(NativeOperators, Concatenates) {
  Floats a = Numbers(4);
  Floats b = Numbers(6, 5, 9);
  Floats c = Numbers(2, -9, -5);
  Floats y(12);
  CalledByName call("ConcatD");
  Run(call.In({2, 2}, a).In({2, 3}, b).In({2, 1}, c).Out({2, 6}, y).Int("N", 3).Int("concat_dim", 1));
  EXPECT_EQ(y, (Floats{a[0], a[1], b[0], b[1], b[2], c[0], a[2], a[3], b[3], b[4], b[5], c[1]}));
}

TEST_F(NativeOperators, Reverses) {
  Floats x = Numbers(12);
  Floats y(12);
  CalledByName call("ReverseV2");
  Run(call.In({3, 4}, x).Ints({-1}).Out({3, 4}, y));
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(y[i], x[i / 4 * 4 + 3 - i % 4]);
}

TEST_F(NativeOperators, ShufflesChannels) {
  Floats x = Numbers(12);
  Floats y(12);
  CalledByName call("ShuffleChannel");
  Run(call.In({1, 6, 2}, x).Out({1, 6, 2}, y).Int("group", 2));
  for (size_t k = 0; k < 3; ++k) {
    for (size_t g = 0; g < 2; ++g) {
      for (size_t i = 0; i < 2; ++i) EXPECT_EQ(y[(k * 2 + g) * 2 + i], x[(g * 3 + k) * 2 + i]);
    }
  }
}

TEST_F(NativeOperators, Sorts) {
  for (const bool descending : {false, true}) {
    Floats x = Numbers(12);
    Floats y(12);
    CalledByName call("SortV2");
    Run(call.In({3, 4}, x).Out({3, 4}, y).Int("axis", 1).Flag("descending", descending));
    for (ptrdiff_t row = 0; row < 3; ++row) {
      std::sort(x.begin() + row * 4, x.begin() + row * 4 + 4);
      if (descending) std::reverse(x.begin() + row * 4, x.begin() + row * 4 + 4);
    }
    EXPECT_EQ(y, x);
  }
}

// ---- reductions, rows ----

TEST_F(NativeOperators, Reduces) {
  Floats x = Numbers(24);
  for (const bool keeps : {false, true}) {
    const Dims dims = keeps ? Dims{1, 3, 1} : Dims{3};
    std::vector<double> sums(3, 0.0);
    std::vector<double> greatest(3, -99.0);
    std::vector<double> least(3, 99.0);
    for (size_t i = 0; i < 24; ++i) {
      const size_t to = i / 4 % 3;
      sums[to] += x[i];
      greatest[to] = std::max<double>(greatest[to], x[i]);
      least[to] = std::min<double>(least[to], x[i]);
    }
    std::vector<double> means;
    for (const double sum : sums) means.push_back(sum / 8);
    const auto reduced = [&](const char* type) {
      Floats y(3, -99.0f);
      CalledByName call(type);
      Run(call.In({2, 3, 4}, x).Ints({0, -1}).Out(dims, y).Flag("keep_dims", keeps));
      return y;
    };
    ExpectNear(reduced("ReduceSum"), sums, 1e-6, "sum");
    ExpectNear(reduced("ReduceMean"), means, 1e-6, "mean");
    ExpectNear(reduced("ReduceMax"), greatest, 0, "max");
    ExpectNear(reduced("ReduceMin"), least, 0, "min");
  }
}

TEST_F(NativeOperators, FirstExtrema) {
  Floats x = {1, 3, 3, -2, -2, 0, 5, 5};
  std::vector<int32_t> indices(2, -1);
  Floats values(2);
  CalledByName greatest("ArgMaxWithValue");
  Run(greatest.In({2, 4}, x)
          .Out(ACL_INT32, {2}, indices)
          .Out({2}, values)
          .Int("dimension", 1)
          .Flag("keep_dims", false));
  EXPECT_EQ(indices, (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(values, (Floats{3, 5}));
  std::vector<int32_t> of_columns(4, -1);
  Floats least(4);
  CalledByName smallest("ArgMinWithValue");
  Run(smallest.In({2, 4}, x)
          .Out(ACL_INT32, {1, 4}, of_columns)
          .Out({1, 4}, least)
          .Int("dimension", -2)
          .Flag("keep_dims", true));
  EXPECT_EQ(of_columns, (std::vector<int32_t>{1, 1, 0, 0}));
  EXPECT_EQ(least, (Floats{-2, 0, 3, -2}));
}

TEST_F(NativeOperators, WritesToTheExtrema) {
  Floats x(8, 0.5f);
  std::vector<int32_t> indices = {2, 0};
  Floats updates = {7, 8};
  for (const Dims& dims : {Dims{2}, Dims{2, 1}}) {
    Floats y(8);
    CalledByName call("ArgMaxGrad");
    Run(call.In({2, 4}, x).In(ACL_INT32, dims, indices).In(dims, updates).Out({2, 4}, y).Int("dimension", 1));
    EXPECT_EQ(y, (Floats{0.5f, 0.5f, 7, 0.5f, 8, 0.5f, 0.5f, 0.5f}));
  }
}

TEST_F(NativeOperators, Softmaxes) {
  Floats x = Numbers(15);
  Floats y(15);
  Floats logarithms(15);
  CalledByName softmax("SoftmaxV2");
  Run(softmax.In({3, 5}, x).Out({3, 5}, y).List("axes", {0}));
  CalledByName logarithm("LogSoftmaxV2");
  Run(logarithm.In({3, 5}, x).Out({3, 5}, logarithms).List("axes", {0}));
  std::vector<double> want(15);
  std::vector<double> want_logarithms(15);
  for (size_t i = 0; i < 15; ++i) {
    double sum = 0;
    for (size_t row = 0; row < 3; ++row) sum += std::exp(x[row * 5 + i % 5]);
    want[i] = std::exp(x[i]) / sum;
    want_logarithms[i] = x[i] - std::log(sum);
  }
  ExpectNear(y, want, 1e-6, "softmax");
  ExpectNear(logarithms, want_logarithms, 1e-6, "logarithms");
}

TEST_F(NativeOperators, CrossEntropy) {
  Floats x = Numbers(12);
  Floats labels = Numbers(12, 0, 1);
  Floats loss(3);
  Floats gradient(12);
  CalledByName call("SoftmaxCrossEntropyWithLogits");
  Run(call.In({3, 4}, x).In({3, 4}, labels).Out({3}, loss).Out({3, 4}, gradient));
  std::vector<double> want;
  std::vector<double> want_gradient;
  for (size_t row = 0; row < 3; ++row) {
    double sum = 0;
    double total = 0;
    for (size_t i = row * 4; i < row * 4 + 4; ++i) sum += std::exp(x[i]);
    for (size_t i = row * 4; i < row * 4 + 4; ++i) {
      total -= labels[i] * (x[i] - std::log(sum));
      want_gradient.push_back(std::exp(x[i]) / sum - labels[i]);
    }
    want.push_back(total);
  }
  ExpectNear(loss, want, 1e-6, "loss");
  ExpectNear(gradient, want_gradient, 1e-6, "gradient");
}

TEST_F(NativeOperators, MaskedSoftmax) {
  constexpr size_t kColumns = 32;
  Floats x = Numbers(2 * 2 * kColumns);
  std::vector<uint8_t> mask;
  for (size_t i = 0; i < 2 * kColumns; ++i) mask.push_back(i % 5 == 0 ? 1 : 0);
  Floats y(x.size());
  CalledByName call("ScaledMaskedSoftmax");
  Run(call.In({1, 2, 2, kColumns}, x)
          .In(ACL_BOOL, {1, 1, 2, kColumns}, mask)
          .Out({1, 2, 2, kColumns}, y)
          .Float("scale", 0.5f)
          .Flag("fixed_triu_mask", false));
  Floats g = Numbers(x.size(), -1, 2);
  Floats dx(x.size());
  CalledByName gradient("ScaledMaskedSoftmaxGrad");
  Run(gradient.In({1, 2, 2, kColumns}, g)
          .In({1, 2, 2, kColumns}, y)
          .In(ACL_BOOL, {1, 1, 2, kColumns}, mask)
          .Out({1, 2, 2, kColumns}, dx)
          .Float("scale", 0.5f)
          .Flag("fixed_triu_mask", false));
  std::vector<double> want;
  std::vector<double> want_dx;
  for (size_t row = 0; row < 4; ++row) {
    const size_t begin = row * kColumns;
    const auto hidden = [&](size_t i) { return mask[i % (2 * kColumns)] != 0; };
    double sum = 0;
    double dot = 0;
    for (size_t i = begin; i < begin + kColumns; ++i) sum += hidden(i) ? 0 : std::exp(0.5 * x[i]);
    for (size_t i = begin; i < begin + kColumns; ++i) {
      want.push_back(hidden(i) ? 0 : std::exp(0.5 * x[i]) / sum);
      dot += g[i] * want.back();
    }
    for (size_t i = begin; i < begin + kColumns; ++i)
      want_dx.push_back(hidden(i) ? 0 : 0.5 * want[i] * (g[i] - dot));
  }
  ExpectNear(y, want, 1e-6, "softmax");
  ExpectNear(dx, want_dx, 1e-6, "gradient");
}

TEST_F(NativeOperators, Normalises) {
  Floats x = Numbers(24);
  Floats weight = Numbers(4, 0.5f, 2);
  Floats bias = Numbers(4, -1, 1);
  Floats y(24);
  Floats mean(6);
  Floats rstd(6);
  CalledByName layer("LayerNormV3");
  Run(layer.In({2, 3, 4}, x)
          .In({4}, weight)
          .In({4}, bias)
          .Out({2, 3, 4}, y)
          .Out({2, 3, 1}, mean)
          .Out({2, 3, 1}, rstd)
          .Int("begin_norm_axis", 2)
          .Int("begin_params_axis", 2)
          .Float("epsilon", 1e-3f));
  std::vector<double> want;
  for (size_t row = 0; row < 6; ++row) {
    double sum = 0;
    double squares = 0;
    for (size_t i = row * 4; i < row * 4 + 4; ++i) sum += x[i];
    for (size_t i = row * 4; i < row * 4 + 4; ++i) squares += (x[i] - sum / 4) * (x[i] - sum / 4);
    const double factor = 1 / std::sqrt(squares / 4 + 1e-3);
    EXPECT_NEAR(mean[row], sum / 4, 1e-6);
    EXPECT_NEAR(rstd[row], factor, 1e-5 * factor);
    for (size_t i = row * 4; i < row * 4 + 4; ++i)
      want.push_back((x[i] - sum / 4) * factor * weight[i % 4] + bias[i % 4]);
  }
  ExpectNear(y, want, 1e-5, "layer");

  Floats scale = {1, 2, 3};
  Floats offset = {0, -1, 1};
  Floats means = {0.5f, 0, -0.5f};
  Floats variances = {1, 4, 0.25f};
  Floats z(24);
  CalledByName batch("BNInfer");
  Run(batch.In({2, 3, 2, 2}, x)
          .In({3}, scale)
          .In({3}, offset)
          .In({3}, means)
          .In({3}, variances)
          .Out({2, 3, 2, 2}, z)
          .Float("epsilon", 1e-3f));
  std::vector<double> want_batch;
  for (size_t i = 0; i < 24; ++i) {
    const size_t c = i / 4 % 3;
    want_batch.push_back((x[i] - means[c]) / std::sqrt(variances[c] + 1e-3) * scale[c] + offset[c]);
  }
  ExpectNear(z, want_batch, 1e-5, "batch");
}

// ---- resampling ----

TEST_F(NativeOperators, ResizesImages) {
  Floats x = Numbers(12);
  Floats nearest(30);
  CalledByName first("ResizeNearestNeighborV2");
  Run(first.In({1, 1, 3, 4}, x)
          .Ints({5, 6})
          .Out({1, 1, 5, 6}, nearest)
          .Flag("align_corners", false)
          .Flag("half_pixel_centers", false));
  for (size_t i = 0; i < 30; ++i) EXPECT_EQ(nearest[i], x[i / 6 * 3 / 5 * 4 + i % 6 * 4 / 6]) << i;
  for (const bool aligned : {false, true}) {
    Floats y(30);
    CalledByName second("ResizeBilinearV2");
    Run(second.In({1, 1, 3, 4}, x)
            .Ints({5, 6})
            .Out({1, 1, 5, 6}, y)
            .Flag("align_corners", aligned)
            .Flag("half_pixel_centers", !aligned));
    std::vector<double> want;
    const auto source = [&](size_t i, double from, double to) {
      const double place = aligned ? static_cast<double>(i) * (from - 1) / (to - 1)
                                   : (static_cast<double>(i) + 0.5) * from / to - 0.5;
      return std::clamp(place, 0.0, from - 1);
    };
    for (size_t i = 0; i < 30; ++i) {
      const double row = source(i / 6, 3, 5);
      const double column = source(i % 6, 4, 6);
      const auto at = [&](double r, double c) {
        return x[static_cast<size_t>(std::min(r, 2.0)) * 4 + static_cast<size_t>(std::min(c, 3.0))];
      };
      const double r = std::floor(row);
      const double c = std::floor(column);
      want.push_back((1 - (row - r)) * ((1 - (column - c)) * at(r, c) + (column - c) * at(r, c + 1)) +
                     (row - r) * ((1 - (column - c)) * at(r + 1, c) + (column - c) * at(r + 1, c + 1)));
    }
    ExpectNear(y, want, 1e-5, "bilinear");
  }
}

TEST_F(NativeOperators, ResizesVolumes) {
  Floats x = Numbers(8);
  for (const char* type : {"UpsampleNearest3d", "UpsampleTrilinear3d"}) {
    Floats y(64);
    CalledByName call(type);
    call.In({1, 1, 2, 2, 2}, x).Out({1, 1, 4, 4, 4}, y).List("output_size", {4, 4, 4});
    const bool is_linear = type == std::string("UpsampleTrilinear3d");
    if (is_linear) call.Flag("align_corners", true);
    Run(call);
    std::vector<double> want;
    std::vector<std::vector<double>> shares(64, std::vector<double>(8));  // of each element in each result
    for (size_t i = 0; i < 64; ++i) {
      const size_t places[] = {i / 16, i / 4 % 4, i % 4};
      double sum = 0;
      for (size_t j = 0; j < 8; ++j) {
        const size_t of[] = {j / 4, j / 2 % 2, j % 2};
        double share = 1;
        for (size_t k = 0; k < 3; ++k) {
          const double upper =
              is_linear ? static_cast<double>(places[k]) / 3 : static_cast<double>(places[k] / 2);
          share *= of[k] == 1 ? upper : 1 - upper;
        }
        shares[i][j] = share;
        sum += share * x[j];
      }
      want.push_back(sum);
    }
    ExpectNear(y, want, 1e-6, type);
    Floats g = Numbers(64);
    Floats dx(8);
    CalledByName gradient(std::string(type) + "Grad");
    gradient.In({1, 1, 4, 4, 4}, g)
        .Out({1, 1, 2, 2, 2}, dx)
        .List("output_size", {4, 4, 4})
        .List("input_size", {1, 1, 2, 2, 2});
    if (is_linear) gradient.Flag("align_corners", true);
    Run(gradient);
    std::vector<double> want_dx(8, 0.0);
    for (size_t i = 0; i < 64; ++i) {
      for (size_t j = 0; j < 8; ++j) want_dx[j] += shares[i][j] * g[i];
    }
    ExpectNear(dx, want_dx, 1e-5, type);
  }
}

// Each operand has the dims of all differences, as PyTorch's NPU back end repeats them.
TEST_F(NativeOperators, GradientsOfDistances) {
  constexpr size_t kBatch = 2, kLeft = 3, kRight = 5, kTerms = 4;
  const Floats left = Numbers(kBatch * kLeft * kTerms);
  const Floats right = Numbers(kBatch * kRight * kTerms, -3, 5);
  const Floats weights = Numbers(kBatch * kLeft * kRight, -1, 2);
  for (const float p : {0.5f, 1.0f, 2.0f, 3.0f, -1.0f}) {
    for (const bool repeats : {false, true}) {  // the first matrix, in both batches
      Floats g, x1, x2, distances;
      std::vector<double> want((repeats ? 1 : kBatch) * kLeft * kTerms, 0.0);
      for (size_t b = 0; b < kBatch; ++b) {
        for (size_t i = 0; i < kLeft; ++i) {
          for (size_t j = 0; j < kRight; ++j) {
            const size_t row = (repeats ? 0 : b) * kLeft + i;
            const double weight = weights[(b * kLeft + i) * kRight + j];
            const float* const of_left = &left[row * kTerms];
            const float* const of_right = &right[(b * kRight + j) * kTerms];
            double sum = 0;
            double largest = 0;
            for (size_t m = 0; m < kTerms; ++m) {
              const double size = std::abs(of_left[m] - of_right[m]);  // rounded, as the distance is
              sum += std::pow(size, p);
              largest = std::max(largest, size);
            }
            const auto distance = static_cast<float>(p < 0 ? largest : std::pow(sum, 1.0 / p));
            for (size_t m = 0; m < kTerms; ++m) {
              g.push_back(static_cast<float>(weight));
              x1.push_back(of_left[m]);
              x2.push_back(of_right[m]);
              distances.push_back(distance);
              const double difference = of_left[m] - of_right[m];
              const double size = std::abs(difference);
              const double slope = p < 0 ? (size == largest ? 1 : 0) : std::pow(size / distance, p - 1);
              want[row * kTerms + m] += difference == 0 ? 0 : weight * std::copysign(slope, difference);
            }
          }
        }
      }
      const Dims dims = {kBatch, kLeft, kRight, kTerms};
      Floats y(want.size());
      CalledByName call("CdistGrad");
      call.In(dims, g).In(dims, x1).In(dims, x2).In(dims, distances).Float("p", p);
      Run(repeats ? call.Out({kLeft, kTerms}, y) : call.Out({kBatch, kLeft, kTerms}, y));
      ExpectNear(y, want, 1e-5, "p = " + std::to_string(p));
    }
  }
  Floats x(60);
  Floats y(12);
  CalledByName empty("CdistGrad");
  empty.In({3, 0, 4}, x).In({3, 0, 4}, x).In({3, 0, 4}, x).In({3, 0, 4}, x);
  Refuses(empty.Out({3, 4}, y), "takes the first along the axis 1 of the dims [3, 0, 4]");
  CalledByName other("CdistGrad");
  other.In({3, 5, 4}, x).In({3, 5, 4}, x).In({3, 5, 4}, x).In({3, 5, 4}, x);
  Refuses(other.Out({2, 4}, y), "has the dims [3, 4], accepted: dims to which these can be repeated: [2, 4]");
}

TEST_F(NativeOperators, SamplesAtPlaces) {
  Floats x = Numbers(12);  // 3 rows, 4 columns
  Floats grid;             // column and row: the middle of four elements, an element, and one outside
  for (const double one : {1.5 / 3 * 2 - 1, 0.5 / 2 * 2 - 1, 2.0 / 3 * 2 - 1, 1.0 / 2 * 2 - 1, 9.0, 9.0})
    grid.push_back(static_cast<float>(one));
  Floats y(3);
  CalledByName call("GridSampler2D");
  Run(call.In({1, 1, 3, 4}, x)
          .In({1, 1, 3, 2}, grid)
          .Out({1, 1, 1, 3}, y)
          .Word("interpolation_mode", "bilinear")
          .Word("padding_mode", "zeros")
          .Flag("align_corners", true));
  ExpectNear(y, {(x[1] + x[2] + x[5] + x[6]) / 4.0, x[6], 0}, 1e-5, "values");
  Floats g = {4, 3, 5};
  Floats dx(12);
  Floats dgrid(6);
  CalledByName gradient("GridSampler2DGrad");
  Run(gradient.In({1, 1, 1, 3}, g)
          .In({1, 1, 3, 4}, x)
          .In({1, 1, 3, 2}, grid)
          .Out({1, 1, 3, 4}, dx)
          .Out({1, 1, 3, 2}, dgrid)
          .Word("interpolation_mode", "bilinear")
          .Word("padding_mode", "zeros")
          .Flag("align_corners", true));
  ExpectNear(dx, {0, 1, 1, 0, 0, 1, 4, 0, 0, 0, 0, 0}, 1e-5, "gradient");
  EXPECT_NEAR(dgrid[0], 4 * 1.5 * (x[2] + x[6] - x[1] - x[5]) / 2, 1e-4);

  Floats volume = Numbers(8);
  Floats corners = {-1, 1, -1, 1, 1, 1};  // x, y, z
  Floats picked(2);
  CalledByName of_volumes("GridSampler3D");
  Run(of_volumes.In({1, 1, 2, 2, 2}, volume)
          .In({1, 1, 1, 2, 3}, corners)
          .Out({1, 1, 1, 1, 2}, picked)
          .Word("interpolation_mode", "nearest")
          .Word("padding_mode", "border")
          .Flag("align_corners", true));
  EXPECT_EQ(picked, (Floats{volume[2], volume[7]}));
  Floats dvolume(8);
  Floats dcorners(6);
  CalledByName back("GridSampler3DGrad");
  Floats two = {2, 5};
  Run(back.In({1, 1, 1, 1, 2}, two)
          .In({1, 1, 2, 2, 2}, volume)
          .In({1, 1, 1, 2, 3}, corners)
          .Out({1, 1, 2, 2, 2}, dvolume)
          .Out({1, 1, 1, 2, 3}, dcorners)
          .Word("interpolation_mode", "nearest")
          .Word("padding_mode", "border")
          .Flag("align_corners", true));
  EXPECT_EQ(dvolume, (Floats{0, 0, 2, 0, 0, 0, 0, 5}));
}

// ---- halves, queues, refusals ----

TEST_F(NativeOperators, RunInTheOrderOfTheStream) {
  GateOfNumbers gate;
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, Await, &gate), 0);
  Floats y(2);
  Floats z(2);
  {
    CalledByName root("Sqrt");
    ASSERT_EQ(root.In({2}, gate.x).Out({2}, y).Launch(stream_), 0) << TakeMessage();
    CalledByName sum("Add");  // copies a number that lies on the host
    ASSERT_EQ(sum.In({2}, y).Value(ACL_FLOAT, 1.0f).Out({2}, y).Launch(stream_), 0) << TakeMessage();
    CalledByName sorted("SortV2");  // takes memory of its own until it is done
    ASSERT_EQ(sorted.In({2}, y).Out({2}, z).Int("axis", 0).Flag("descending", true).Launch(stream_), 0)
        << TakeMessage();
  }  // descriptions, buffers and attributes may go
  EXPECT_EQ(z, Floats(2, 0.0f));
  gate.open = true;
  ASSERT_EQ(aclrtSynchronizeStream(stream_), 0);
  EXPECT_EQ(z, (Floats{4, 3}));
}

TEST_F(NativeOperators, LeaveNoMemoryBehind) {
  Floats x = Numbers(1 << 12);
  Floats y(x.size());
  const uint64_t before = MemoryInUse();
  for (int i = 0; i < 8; ++i) {
    CalledByName call("SortV2");  // needs memory for indices, and a workspace
    Run(call.In({static_cast<int64_t>(x.size())}, x).Out({static_cast<int64_t>(x.size())}, y).Int("axis", 0));
    EXPECT_EQ(MemoryInUse(), before);
  }
  CalledByName refused("SortV2");
  Refuses(refused.In({1 << 12}, x).Out({1 << 12}, y).Int("axis", 1), "aclnnSort, which refuses it");
  EXPECT_EQ(MemoryInUse(), before);
}

// A stream that fails drops its work, and what would have freed memory behind it.
TEST_F(NativeOperators, LeaveNoMemoryBehindInAStreamThatStopsOnFailure) {
  Floats x = Numbers(1 << 12);
  Floats y(x.size());
  std::vector<int32_t> whole(6, 1);
  const auto sort = [&] {
    CalledByName call("SortV2");
    return call.In({1 << 12}, x).Out({1 << 12}, y).Int("axis", 0).Launch(stream_);
  };
  ASSERT_EQ(sort(), 0);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), 0);
  const uint64_t before = MemoryInUse();
  ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_STOP_ON_FAILURE), 0);
  CalledByName fails("Swish");
  EXPECT_EQ(fails.In(ACL_INT32, {6}, whole).Out(ACL_INT32, {6}, whole).Launch(stream_), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_INVALID_PARAM);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(sort(), 0);
    EXPECT_EQ(MemoryInUse(), before);
  }
  ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_CONTINUE_ON_FAILURE), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(sort(), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
  EXPECT_EQ(MemoryInUse(), before);
}

// The task that the stream is at may use the memory: it is freed when that has ended.
TEST_F(NativeOperators, AForcedEndOfTheStreamFreesNothingEarly) {
  GateOfNumbers gate;
  Floats x = Numbers(1 << 12);
  Floats y(x.size());
  Floats z(2);
  const auto relu = [&] {
    CalledByName call("Relu");
    Run(call.In({2}, gate.x).Out({2}, z));
  };
  relu();
  const uint64_t before = MemoryInUse();
  aclrtStream forced = nullptr;
  ASSERT_EQ(aclrtCreateStream(&forced), 0);
  ASSERT_EQ(aclrtLaunchHostFunc(forced, Await, &gate), 0);
  CalledByName sort("SortV2");
  ASSERT_EQ(sort.In({1 << 12}, x).Out({1 << 12}, y).Int("axis", 0).Launch(forced), 0);
  while (!gate.reached) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const uint64_t with_work = MemoryInUse();
  EXPECT_GT(with_work, before);
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), 0);
  std::thread ends([&] {
    EXPECT_EQ(aclrtSetCurrentContext(context), 0);
    EXPECT_EQ(aclrtDestroyStreamForce(forced), 0);
  });
  while (aclrtLaunchHostFunc(forced, Nothing, nullptr) == 0)  // until the stream is known no more
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  TakeMessage();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  relu();
  EXPECT_EQ(MemoryInUse(), with_work) << "the stream is still at its first task";
  gate.open = true;
  ends.join();
  relu();
  EXPECT_EQ(MemoryInUse(), before);
}

// Where the values of an input cannot be waited for, the call fails as the work before it did.
TEST_F(NativeOperators, ConstantsOfAFailedStreamAreNotRead) {
  Floats x = Numbers(6);
  Floats y(6, -1.0f);
  std::vector<int64_t> order = {1, 0};
  std::vector<int32_t> whole(6, 1);
  ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_STOP_ON_FAILURE), 0);
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  CalledByName fails("Swish");
  EXPECT_EQ(fails.In(ACL_INT32, {6}, whole).Out(ACL_INT32, {6}, whole).Launch(stream_), 0);
  CalledByName call("Transpose");
  EXPECT_EQ(call.In({2, 3}, x).In(ACL_INT64, {2}, order).Out({3, 2}, y).Launch(stream_), 0);
  EXPECT_EQ(TakeMessage(), "");
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(y, Floats(6, -1.0f));
  ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_CONTINUE_ON_FAILURE), 0);
  aclrtSynchronizeStream(stream_);
  TakeMessage();
  CalledByName again("Transpose");
  Run(again.In({2, 3}, x).In(ACL_INT64, {2}, order).Out({3, 2}, y));
  EXPECT_EQ(y, (Floats{x[0], x[3], x[1], x[4], x[2], x[5]}));
}

// What a native function says goes into the call's own text, and touches nothing that is pending.
TEST_F(NativeOperators, KeepTheErrorsOfEarlierCalls) {
  std::vector<int32_t> whole(6, 1);
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  TakeMessage();
  EXPECT_NE(aclrtFree(nullptr), 0);
  const aclError of_free = aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL);
  EXPECT_NE(of_free, 0);
  ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_STOP_ON_FAILURE), 0);
  CalledByName call("Swish");
  EXPECT_EQ(call.In(ACL_INT32, {6}, whole).Out(ACL_INT32, {6}, whole).Launch(stream_), 0);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), of_free);
  const std::string message = TakeMessage();
  EXPECT_NE(message.find("aclrtFree: parameter devPtr"), std::string::npos) << message;
  EXPECT_EQ(message.find("Swish"), std::string::npos) << message;
  ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_CONTINUE_ON_FAILURE), 0);
  aclrtSynchronizeStream(stream_);
  TakeMessage();
}

// Of no elements, beside any lengths.
TEST_F(NativeOperators, LengthsBesideNoElements) {
  constexpr int64_t kHuge = int64_t{1} << 40;
  Floats x = Numbers(6);
  Floats y(6, -1.0f);
  CalledByName fill("Fill");
  Run(fill.Ints({kHuge, 0, kHuge, kHuge}).Value(ACL_FLOAT, 1.0f).Out({0}, y));
  CalledByName strided("AsStrided");
  Run(strided.In({6}, x)
          .Ints({kHuge, 0, kHuge})
          .Ints({-1, kHuge, 1})
          .Value(ACL_INT64, kHuge)
          .Out({kHuge, 0, kHuge}, y));
  CalledByName slice("Slice");
  Run(slice.In({kHuge, 0, kHuge, kHuge}, x)
          .Ints({kHuge, 0, kHuge, kHuge})
          .Ints({0, -1, 0, 0})
          .Out({0, 0, 0, 0}, y));
  CalledByName strided_slice("StridedSlice");
  Run(strided_slice.In({kHuge, 0, kHuge, kHuge}, x)
          .Ints({kHuge - 1, 0, kHuge - 1, kHuge - 1})
          .Ints({kHuge, 0, kHuge, kHuge})
          .Ints({1, 1, 1, 1})
          .Out({1, 0, 1, 1}, y));
  EXPECT_EQ(y, Floats(6, -1.0f));
}

TEST_F(NativeOperators, RefusesWhatDoesNotFit) {
  Floats x = Numbers(6);
  Floats y(6, -1.0f);
  std::vector<int32_t> whole(6, 1);
  const auto refused = [&](CalledByName& call, const std::string& part) { Refuses(call, part); };
  {
    CalledByName call("Swish");
    refused(call.In({6}, x), "Swish has 1 input and 1 output, not 1 and 0");
  }
  {
    CalledByName call("PadV3");
    refused(call.In({6}, x).Out({6}, y), "PadV3 has 3 inputs and 1 output, not 1 and 1");
  }
  {
    CalledByName call("Conv2D");
    refused(call.In({6}, x).Out({6}, y), "Conv2D has 2 to 3 inputs and 1 output, not 1 and 1");
  }
  {
    CalledByName call("Swish");
    refused(call.In(ACL_INT32, {6}, whole).Out(ACL_INT32, {6}, whole),
            "Swish is computed by aclnnSwish, which refuses it with 161002: aclnnSwish");
  }
  {
    CalledByName call("Swish");
    refused(call.In({7}, x).Out({6}, y), "28 bytes in inputs[0], whose data buffer has the size 24");
  }
  {
    CalledByName call("Swish");
    refused(call.In({-1}, x).Out({6}, y), "inputDesc[0] DT_FLOAT [-1], accepted: dims that are known");
  }
  {
    CalledByName call("Swish");
    refused(call.In({1, 1, 1, 1, 1, 1, 1, 1, 6}, x).Out({6}, y), ", accepted: at most 8 dims");
  }
  {
    CalledByName call("Swish");
    refused(call.In({6}, x).OutOnHost({6}, y),
            "outputDesc[0] DT_FLOAT [6] in host memory, accepted: device memory");
  }
  {
    CalledByName call("Swish");
    refused(call.In({6}, x).Out({6}, y).Float("beta", 1), "has the attribute beta=1, accepted: scale");
  }
  {
    CalledByName call("Relu");
    refused(call.In({6}, x).Out({6}, y).Int("axis", 1), "has the attribute axis=1, accepted: none");
  }
  {
    CalledByName call("Swish");
    refused(call.In({6}, x).Out({6}, y).Int("scale", 1), "has the attribute scale=1, accepted: a float");
  }
  {
    CalledByName call("SortV2");
    refused(call.In({6}, x).Out({6}, y).Word("axis", "x"),
            "has the attribute axis=\"x\", accepted: an integer");
  }
  {
    CalledByName call("ArgMaxWithValue");
    refused(call.In({6}, x).Out(ACL_INT32, {}, whole).Out({}, y), "needs the attribute dimension");
  }
  {
    CalledByName call("Exp");
    refused(call.In({6}, x).Out({6}, y).Float("base", 2), "has the attribute base=2, accepted: -1");
  }
  {
    CalledByName call("Transpose");
    refused(call.In({2, 3}, x).Ints({0, 0}).Out({2, 3}, y), "aclnnPermute, which refuses it");
  }
  {
    CalledByName call("Transpose");
    refused(call.In({2, 3}, x).In({6}, x).Out({2, 3}, y),
            "inputDesc[1] DT_FLOAT [6], accepted: a list of DT_INT64 or DT_INT32");
  }
  {
    CalledByName call("Slice");
    refused(call.In({2, 3}, x).Ints({0, 2}).Ints({2, 2}).Out({2, 2}, y),
            "cuts out [2, 2] from [0, 2] on of the dims [2, 3]");
  }
  {
    CalledByName call("Slice");
    refused(call.In({2, 3}, x).Ints({0, 1}).Ints({2, 2}).Out({2, 1}, y),
            "has the dims [2, 1] where its operands say [2, 2]");
  }
  {
    CalledByName call("Slice");
    refused(call.In({2, 3}, x).Ints({0, 0}).Ints({2, 3}).Out(ACL_INT32, {2, 3}, whole),
            "makes DT_INT32 of DT_FLOAT, accepted: one type");
  }
  {
    CalledByName call("StridedSlice");
    refused(call.In({2, 3}, x).Ints({1, 1}).Ints({0, 0}).Ints({-1, 1}).Out({1, 1}, y),
            "slices with the stride -1, accepted: 1 and more");
  }
  {
    CalledByName call("AsStrided");
    refused(call.In({2, 3}, x).Ints({2, 3}).Ints({3, 1}).Value(ACL_INT64, int64_t{1}).Out({2, 3}, y),
            "the strides [3, 1] and the offset 1 of inputs[0], accepted: one inside its data buffer, which "
            "has the size 24");
  }
  {
    CalledByName call("Fill");
    refused(call.Ints({2, 4}).Value(ACL_FLOAT, 1.0f).Out({2, 3}, y), "takes [2, 3] for the dims [2, 4]");
  }
  {
    CalledByName call("Fill");
    refused(call.Ints({6}).Ints({1, 2}).Out({6}, y), "inputDesc[1] DT_INT64 [2], accepted: one number");
  }
  {
    CalledByName call("PadV3");
    refused(call.In({6}, x).Ints({0, 0}).Out({6}, y).Word("mode", "reflect"),
            "has the attribute mode=\"reflect\", accepted: constant");
  }
  {
    CalledByName call("Pad");
    refused(call.In({2, 3}, x).Ints({0, 0}).Out({2, 3}, y),
            "has 2 lengths in inputs[1], accepted: two for each of 2 dims");
  }
  {
    CalledByName call("ReduceSum");
    refused(call.In({2, 3}, x).Ints({}).Out({2, 3}, y), "has no axes in inputs[1], accepted: at least one");
  }
  {
    CalledByName call("ResizeBilinearV2");
    refused(call.In({1, 1, 2, 3}, x).Ints({2, 3}).Out({1, 1, 2, 3}, y),
            "align_corners=false and half_pixel_centers=false, accepted: one of them true");
  }
  {
    CalledByName call("Cast");
    refused(call.In({6}, x).Out({6}, y).Int("dst_type", int64_t{1} << 32),
            "has the dst_type 4294967296, accepted: numbers of 32 bits");
  }
  {
    CalledByName call("StridedSlice");
    const Dims many(65, 0);
    refused(call.In({2, 3}, x).Ints(many).Ints(many).Ints(Dims(65, 1)).Out({2, 3}, y),
            "slices 2 dims by 65 entries, accepted: ");
  }
  {
    CalledByName call("StridedSlice");
    const Dims many(9, 0);
    refused(call.In({6}, x).Ints(many).Ints(many).Ints(Dims(9, 1)).Int("new_axis_mask", 511).Out({6}, y),
            "slices to 10 dims, accepted: at most 8");
  }
  {
    CalledByName call("Fill");
    refused(call.Ints({6}).Value(ACL_INT4, uint8_t{1}).Out({6}, y),
            "inputDesc[1] DT_INT4 [], accepted: a number of whole bytes");
  }
  EXPECT_EQ(y, Floats(6, -1.0f)) << "nothing is written";
  int no_stream = 0;
  CalledByName nowhere("Swish");
  EXPECT_EQ(nowhere.In({6}, x).Out({6}, y).Launch(&no_stream), ACL_ERROR_RT_STREAM_CONTEXT);
  TakeMessage();
  CalledByName right("Swish");
  Run(right.In({6}, x).Out({6}, y));
  EXPECT_NE(y, Floats(6, -1.0f)) << "the next right call is right";
  EXPECT_EQ(TakeMessage(), "") << "nothing is left of what was refused";
}

// As everything that fails in a stream of torch_npu's.
TEST_F(NativeOperators, ARefusalFailsInAStreamThatStopsOnFailure) {
  std::vector<int32_t> whole(6, 1);
  ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_STOP_ON_FAILURE), 0);
  TakeMessage();
  CalledByName call("Swish");
  EXPECT_EQ(call.In(ACL_INT32, {6}, whole).Out(ACL_INT32, {6}, whole).Launch(stream_), 0);
  EXPECT_EQ(TakeMessage(), "");
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(TakeMessage().find("operator Swish is computed by aclnnSwish"), std::string::npos);
  ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_CONTINUE_ON_FAILURE), 0);
  aclrtSynchronizeStream(stream_);
}

TEST_F(NativeOperators, NoGraphRecordsThem) {
  Floats x = Numbers(6);
  Floats y(6, -1.0f);
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), 0);
  CalledByName call("Swish");
  EXPECT_EQ(call.In({6}, x).Out({6}, y).Launch(stream_), ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT);
  aclmdlRI graph = nullptr;
  EXPECT_NE(aclmdlRICaptureEnd(stream_, &graph), 0);
  TakeMessage();
  CalledByName again("Swish");
  Run(again.In({6}, x).Out({6}, y));
}

}  // namespace
}  // namespace portacl::testing
