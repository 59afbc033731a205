// aclnnL1Loss's numbers against an independent oracle: |self - target|, or its sum times c; exact integers where the
// inputs promote to INT64.
// SPDX-License-Identifier: Apache-2.0
#include "operators/losses.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "support/float_formats.h"
#include "support/loss_sums.h"
#include "support/numeric_suite.h"
#include "support/special_values.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

PORTACL_NUMERIC_TESTS(L1LossNumerics, DescribeL1Loss());
PORTACL_NUMERIC_TESTS(ReducedL1LossNumerics, DescribeReducedL1Loss());
PORTACL_LOSS_SUM_TESTS(L1LossSums, DescribeReducedL1Loss());

class L1LossValues : public NumericSuite {};

// A few results worked out by hand, so that an error shared by oracle and library cannot hide.
TEST_P(L1LossValues, WorkedOutByHand) {
  const double inf = HUGE_VAL;
  const double nan = std::nan("");
  for (const LossExample& e :
       {LossExample{{3, 1, -2}, {1, 1, 2}, 0, {2, 0, 4}}, LossExample{{3, 1, -2}, {1, 1, 2}, 1, {2}},
        LossExample{{3, 1, -2}, {1, 1, 2}, 2, {6}}, LossExample{{inf, 1}, {1, inf}, 0, {inf, inf}},
        LossExample{{inf, -inf}, {inf, inf}, 0, {nan, inf}}, LossExample{{nan, 1}, {1, 1}, 2, {nan}},
        LossExample{{0.0, -0.0}, {-0.0, 0.0}, 0, {0.0, 0.0}},
        LossExample{{32768, 32768}, {-32768, -32768}, 1, {65536}}}) {
    CheckLossExample(e.reduction == 0 ? DescribeL1Loss() : DescribeReducedL1Loss(), e, stream());
  }
}

// float64 and complex outputs hold what a float32 one would.
TEST_P(L1LossValues, WideOutputs) { WideOutputsHoldFloat32(DescribeReducedL1Loss(), stream()); }

PORTACL_ON_EVERY_ISA(L1LossValues);

// ---- The 64-bit integer path ----

const std::vector<DtypeNumber> kIntegers = {ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_BOOL};
const std::vector<DtypeNumber> kIntegerOutputs = {
    ACL_INT8,   ACL_UINT8, ACL_INT16,   ACL_UINT16, ACL_INT32,  ACL_UINT32,    ACL_INT64,
    ACL_UINT64, ACL_FLOAT, ACL_FLOAT16, ACL_BF16,   ACL_DOUBLE, ACL_COMPLEX64, ACL_COMPLEX128};

__extension__ using Wide = __int128;

// The low 64 bits, as two's complement.
int64_t Wrapped(Wide value) { return static_cast<int64_t>(static_cast<uint64_t>(value)); }

// |a - b| in 64-bit arithmetic that wraps around.
int64_t Distance(int64_t a, int64_t b) {
  const int64_t difference = Wrapped(Wide{a} - Wide{b});
  return difference < 0 ? Wrapped(-Wide{difference}) : difference;
}

// The bytes of an integer cast to a type.
void EncodeCast(DtypeNumber dtype, int64_t value, std::byte* element) {
  const auto round = [&](FloatFormat format) { return EncodeInteger(format, value); };
  std::memset(element, 0, 16);
  switch (dtype) {
    case ACL_FLOAT:
    case ACL_COMPLEX64: {
      const uint32_t bits = round(kFloat32);
      std::memcpy(element, &bits, sizeof bits);
      break;
    }
    case ACL_FLOAT16:
    case ACL_BF16: {
      const auto bits = static_cast<uint16_t>(round(dtype == ACL_BF16 ? kBfloat16 : kFloat16));
      std::memcpy(element, &bits, sizeof bits);
      break;
    }
    case ACL_DOUBLE:
    case ACL_COMPLEX128: {
      // Exact in long double, then one rounding.
      const auto rounded = static_cast<double>(static_cast<long double>(value));
      std::memcpy(element, &rounded, sizeof rounded);
      break;
    }
    default:
      EncodeIntegerElement(dtype, value, element);
      break;
  }
}

class IntegerCase {
 public:
  IntegerCase(DtypeNumber self, DtypeNumber target, DtypeNumber out, const Shape& self_shape,
              const Shape& target_shape, int64_t reduction, Layout layout, uint64_t seed)
      : reduction_(reduction), random_(seed), shape_(*Broadcast(self_shape, target_shape)) {
    self_.emplace_back(self, MakeView(self_shape, layout, random_));
    self_.emplace_back(target, MakeView(target_shape, layout, random_));
    self_.emplace_back(
        out,
        MakeView(reduction == 0 ? shape_ : Shape{},
                 layout == Layout::kExpanded || layout == Layout::kMixedExpanded ? Layout::kStepped : layout,
                 random_));
    for (int k = 0; k < 2; ++k) {
      const std::vector<int64_t> special = SpecialIntegers(input(k).dtype());
      for (int64_t i = 0; i < input(k).size(); ++i) {
        const int64_t value = random_.Chance(60)
                                  ? special[static_cast<size_t>(random_.Below(std::ssize(special)))]
                                  : static_cast<int64_t>(random_.Bits());
        EncodeIntegerElement(input(k).dtype(), value, input(k).Element(i));
      }
    }
  }

  HostTensor& input(int k) { return self_[static_cast<size_t>(k)]; }
  HostTensor& out() { return self_[2]; }

  void Check(aclrtStream stream) {
    std::vector<aclTensor*> handles;
    for (HostTensor& tensor : self_) {
      handles.push_back(tensor.Handle());
      tensor.Remember();
    }
    const CallResult call =
        CallTwoPhase(DescribeL1Loss().binding, handles, {.reduction = reduction_}, stream);
    ASSERT_TRUE(call.Succeeded()) << call.message;
    EXPECT_TRUE(input(0).Unchanged());
    EXPECT_TRUE(input(1).Unchanged());
    EXPECT_TRUE(out().UnchangedOutsideView());

    const std::vector<int64_t> self_at = BroadcastPositions(input(0).shape(), shape_);
    const std::vector<int64_t> target_at = BroadcastPositions(input(1).shape(), shape_);
    std::vector<int64_t> expected;
    Wide sum = 0;
    for (size_t i = 0; i < self_at.size(); ++i) {
      expected.push_back(Distance(input(0).Integer(self_at[i]), input(1).Integer(target_at[i])));
      sum += expected.back();
    }
    if (reduction_ == 2) {
      expected = {Wrapped(sum)};
    }
    for (size_t i = 0; i < expected.size(); ++i) {
      std::byte element[16];
      EncodeCast(out().dtype(), expected[i], element);
      ASSERT_EQ(std::memcmp(out().Element(static_cast<int64_t>(i)), element,
                            static_cast<size_t>(ElementSize(out().dtype()))),
                0)
          << DtypeName(input(0).dtype()) << ToString(input(0).shape()) << ", " << DtypeName(input(1).dtype())
          << ToString(input(1).shape()) << " into " << DtypeName(out().dtype()) << ", reduction "
          << reduction_ << ", element " << i << ", expected " << expected[i];
    }
  }

 private:
  int64_t reduction_;
  RandomNumbers random_;
  Shape shape_;
  std::vector<HostTensor> self_;
};

class L1LossIntegers : public NumericSuite {};

TEST_P(L1LossIntegers, EveryTypeAndLayout) {
  uint64_t seed = 0;
  for (const DtypeNumber self : kIntegers) {
    for (const DtypeNumber target : kIntegers) {
      if (self != ACL_INT64 && target != ACL_INT64) {
        continue;
      }
      for (const DtypeNumber out : kIntegerOutputs) {
        for (const Layout layout : kInputLayouts) {
          for (const int64_t reduction : {0, 2}) {
            ++seed;
            const Shape small = seed % 3 == 0 ? Shape{7, 1} : seed % 3 == 1 ? Shape{} : Shape{5, 7, 3};
            IntegerCase c(self, target, out, {5, 7, 3}, small, reduction, layout, seed);
            ASSERT_NO_FATAL_FAILURE(c.Check(stream()));
          }
        }
      }
    }
  }
}

TEST_P(L1LossIntegers, Sizes) {
  uint64_t seed = 1000;
  for (const int64_t n : {0, 1, 2, 511, 512, 513, 16383, 16384, 16385, 100003}) {
    for (const int64_t reduction : {0, 2}) {
      for (const DtypeNumber out : {ACL_INT64, ACL_FLOAT, ACL_INT8}) {
        IntegerCase c(ACL_INT64, n % 2 == 0 ? ACL_INT64 : ACL_INT32, out, {n}, {n}, reduction, Layout::kDense,
                      ++seed);
        ASSERT_NO_FATAL_FAILURE(c.Check(stream()));
      }
    }
  }
}

TEST_P(L1LossIntegers, WrapsAround) {
  constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
  constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();
  struct Example {
    int64_t a, b, expected;
  };
  for (const Example& e :
       {Example{kLowest, 0, kLowest}, Example{0, kLowest, kLowest}, Example{kHighest, kLowest, 1},
        Example{kLowest, kHighest, 1}, Example{kHighest, -1, kLowest}, Example{kHighest, 0, kHighest},
        Example{1, kLowest, kHighest}, Example{-5, 7, 12}}) {
    IntegerCase c(ACL_INT64, ACL_INT64, ACL_INT64, {2}, {2}, 0, Layout::kDense, 1);
    for (int64_t i = 0; i < 2; ++i) {
      EncodeIntegerElement(ACL_INT64, e.a, c.input(0).Element(i));
      EncodeIntegerElement(ACL_INT64, e.b, c.input(1).Element(i));
    }
    ASSERT_NO_FATAL_FAILURE(c.Check(stream()));
    EXPECT_EQ(c.out().Integer(1), e.expected) << e.a << " " << e.b;
  }
  IntegerCase c(ACL_INT64, ACL_INT64, ACL_INT64, {3}, {3}, 2, Layout::kDense, 1);
  for (int64_t i = 0; i < 3; ++i) {
    EncodeIntegerElement(ACL_INT64, kHighest, c.input(0).Element(i));
    EncodeIntegerElement(ACL_INT64, 0, c.input(1).Element(i));
  }
  ASSERT_NO_FATAL_FAILURE(c.Check(stream()));
  EXPECT_EQ(c.out().Integer(0), kHighest - 2);  // 3 * (2^63 - 1) modulo 2^64
}

PORTACL_ON_EVERY_ISA(L1LossIntegers);

}  // namespace
}  // namespace portacl::testing
