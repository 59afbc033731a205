// Whether two tensors are equal as wholes: every pair of dtypes, layouts, sizes around tiles and blocks of work.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <limits>

#include "aclnnop/aclnn_equal.h"
#include "support/c_function.h"
#include "support/map_suite.h"
#include "support/map_values.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

class Equal : public ::testing::TestWithParam<std::tuple<engine::Isa, int>> {
 protected:
  void SetUp() override {
    environment_ = std::make_unique<ScopedEnvironment>(
        Variables{{"PORTACL_ISA", engine::IsaName(std::get<0>(GetParam()))},
                  {"PORTACL_NUM_THREADS", std::to_string(std::get<1>(GetParam()))}});
    ASSERT_EQ(environment_->init_status(), ACL_SUCCESS);
  }
  void TearDown() override { environment_.reset(); }

  // What the call writes to `out`, which is of one BOOL.
  int CallInto(HostTensor& self, HostTensor& other, HostTensor& out) {
    OperatorBinding binding;
    binding.name = "aclnnEqual";
    binding.plan = [&](std::span<aclTensor* const> t, const Attributes&, uint64_t* size,
                       aclOpExecutor** executor) {
      return aclnnEqualGetWorkspaceSize(t[0], t[1], t[2], size, executor);
    };
    binding.run = aclnnEqual;
    aclTensor* const tensors[] = {self.Handle(), other.Handle(), out.Handle()};
    const CallResult result = CallTwoPhase(binding, tensors, {}, environment_->stream());
    EXPECT_TRUE(result.Succeeded()) << result.message;
    EXPECT_EQ(result.workspace_size, 0u);
    return static_cast<int>(*out.Element(0));
  }

  int Call(HostTensor& self, HostTensor& other) {
    RandomNumbers random(static_cast<uint64_t>(++calls_));
    HostTensor out(ACL_BOOL, MakeView({1}, calls_ % 2 == 0 ? Layout::kDenseOffset : Layout::kDense, random));
    *out.Element(0) = std::byte{0x5A};
    for (HostTensor* tensor : {&self, &other, &out}) tensor->Remember();
    const int result = CallInto(self, other, out);
    EXPECT_TRUE(self.Unchanged() && other.Unchanged() && out.UnchangedOutsideView());
    return result;
  }

 private:
  std::unique_ptr<ScopedEnvironment> environment_;
  int calls_ = 0;
};

// Element by element, in the dtype that both promote to.
bool AreEqual(const HostTensor& self, const HostTensor& other) {
  if (self.shape() != other.shape()) return false;
  const DtypeNumber promoted = PromoteDtypes(self.dtype(), other.dtype());
  const auto converted = [&](const HostTensor& tensor, int64_t i) {
    const std::byte* from = tensor.Element(i);
    const Element element(from, from + ElementSize(tensor.dtype()));
    const Element to = ConvertedElement(tensor.dtype(), element, promoted);
    return NumberOf(promoted, to.data()).real;
  };
  for (int64_t i = 0; i < self.size(); ++i) {
    if (!(converted(self, i) == converted(other, i))) return false;
  }
  return true;
}

void Put(HostTensor& tensor, int64_t position, long double value) {
  const Element element = ElementOfNumber(tensor.dtype(), {value, 0});
  std::memcpy(tensor.Element(position), element.data(), element.size());
}

// 0s and 1s, which every dtype has.
void FillWithBits(HostTensor& tensor, uint64_t seed) {
  RandomNumbers random(seed);
  const Element values[] = {ElementOfNumber(tensor.dtype(), {0, 0}), ElementOfNumber(tensor.dtype(), {1, 0})};
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const Element& value = values[random.Below(2)];
    std::memcpy(tensor.Element(i), value.data(), value.size());
  }
}

HostTensor Dense(DtypeNumber dtype, const Shape& shape) {
  RandomNumbers unused(0);
  return {dtype, MakeView(shape, Layout::kDense, unused)};
}

const std::vector<DtypeNumber>& RealDtypes() {
  static const std::vector<DtypeNumber> dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16,   ACL_DOUBLE, ACL_INT8,
                                                  ACL_UINT8, ACL_INT16,   ACL_UINT16, ACL_INT32,  ACL_UINT32,
                                                  ACL_INT64, ACL_UINT64,  ACL_BOOL};
  return dtypes;
}

TEST_P(Equal, EveryPairOfDtypes) {
  RandomNumbers random(0xE0);
  int pairs = 0;
  for (const DtypeNumber a : RealDtypes()) {
    for (const DtypeNumber b : RealDtypes()) {
      if (PromoteDtypes(a, b) == kUndefinedDtype) continue;
      ++pairs;
      SCOPED_TRACE(DtypeName(a) + " and " + DtypeName(b));
      HostTensor self = Dense(a, {77});
      HostTensor other = Dense(b, {77});
      FillWithBits(self, 5);
      FillWithBits(other, 5);
      ASSERT_EQ(Call(self, other), 1);
      const int64_t at = random.Below(77);
      Put(other, at, NumberOf(b, other.Element(at)).real == 0 ? 1 : 0);
      ASSERT_EQ(Call(self, other), 0) << at;
      // One number of any kind, and what is nearest to it in the other dtype: equal after conversion, or not.
      for (int i = 0; i < 60; ++i) {
        HostTensor one = Dense(a, {3});
        HostTensor another = Dense(b, {3});
        FillWithNumbers(one, random.Chance(50), random);
        FillWithNumbers(another, random.Chance(50), random);
        for (int64_t k = 0; k < 3; ++k) {
          if (random.Chance(15)) continue;
          const Element from(one.Element(k), one.Element(k) + ElementSize(a));
          const Element to = ConvertedElement(a, from, b);
          std::memcpy(another.Element(k), to.data(), to.size());
        }
        ASSERT_EQ(Call(one, another), AreEqual(one, another) ? 1 : 0);
        ASSERT_EQ(Call(another, one), AreEqual(another, one) ? 1 : 0);
      }
    }
  }
  EXPECT_EQ(pairs, 10 * 10 + 3);  // unsigned numbers of 16 bits and more go with themselves alone
}

TEST_P(Equal, ValuesThatAreTold) {
  const long double nan = std::numeric_limits<long double>::quiet_NaN();
  const long double infinity = std::numeric_limits<long double>::infinity();
  for (const DtypeNumber dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE}) {
    HostTensor self = Dense(dtype, {9, 11});
    HostTensor other = Dense(dtype, {9, 11});
    FillWithBits(self, 3);
    FillWithBits(other, 3);
    Put(self, 40, 0.0L);
    Put(other, 40, -0.0L);
    Put(self, 41, infinity);
    Put(other, 41, infinity);
    EXPECT_EQ(Call(self, other), 1) << DtypeName(dtype);
    Put(other, 41, -infinity);
    EXPECT_EQ(Call(self, other), 0) << DtypeName(dtype);
    Put(self, 41, nan);
    Put(other, 41, nan);
    EXPECT_EQ(Call(self, other), 0) << DtypeName(dtype);
    EXPECT_EQ(Call(self, self), 0) << "a tensor with NaN is not even equal to itself";
  }
  // Compared as float32, and in BF16 where both are.
  HostTensor brain = Dense(ACL_BF16, {5});
  HostTensor single = Dense(ACL_FLOAT, {5});
  FillWithBits(brain, 1);
  FillWithBits(single, 1);
  Put(brain, 2, 1);
  Put(single, 2, 1);
  EXPECT_EQ(Call(brain, single), 1);
  Put(single, 2, 1 + 0x1p-23L);
  EXPECT_EQ(Call(brain, single), 0);
  // What whole numbers become in float32.
  HostTensor whole = Dense(ACL_INT32, {5});
  FillWithBits(whole, 1);
  FillWithBits(single, 1);
  Put(whole, 4, (1 << 24) + 1);
  Put(single, 4, 1 << 24);
  EXPECT_EQ(Call(whole, single), 1);
}

TEST_P(Equal, AnyByteButZeroIsTrue) {
  HostTensor self = Dense(ACL_BOOL, {300});
  HostTensor other = Dense(ACL_BOOL, {300});
  HostTensor numbers = Dense(ACL_INT32, {300});
  for (int64_t i = 0; i < 300; ++i) {
    *self.Element(i) = static_cast<std::byte>(i % 3 == 0 ? 0 : 1 + i % 255);
    *other.Element(i) = static_cast<std::byte>(i % 3 == 0 ? 0 : 255 - i % 251);
    Put(numbers, i, i % 3 == 0 ? 0 : 1);
  }
  EXPECT_EQ(Call(self, other), 1);
  EXPECT_EQ(Call(self, numbers), 1);
  *other.Element(299) = std::byte{0};
  EXPECT_EQ(Call(self, other), 0);
  *other.Element(299) = std::byte{128};
  EXPECT_EQ(Call(self, other), 1);
}

TEST_P(Equal, OneDifferenceAnywhereInAnySize) {
  for (const int64_t size : {1, 63, 64, 65, 2047, 2048, 2049, 16383, 16384, 16385, 200000}) {
    for (const auto& [a, b] :
         {std::pair{ACL_FLOAT, ACL_FLOAT}, std::pair{ACL_INT8, ACL_INT8}, std::pair{ACL_BF16, ACL_FLOAT},
          std::pair{ACL_INT64, ACL_DOUBLE}, std::pair{ACL_BOOL, ACL_BOOL}}) {
      SCOPED_TRACE(DtypeName(a) + " and " + DtypeName(b) + ", " + std::to_string(size));
      HostTensor self = Dense(a, {size});
      HostTensor other = Dense(b, {size});
      FillWithBits(self, 8);
      FillWithBits(other, 8);
      ASSERT_EQ(Call(self, other), 1);
      for (const int64_t at : {int64_t{0}, size / 2, size - 1}) {
        const long double value = NumberOf(b, other.Element(at)).real;
        Put(other, at, value == 0 ? 1 : 0);
        ASSERT_EQ(Call(self, other), 0) << at;
        Put(other, at, value);
      }
      ASSERT_EQ(Call(self, other), 1);
    }
  }
}

TEST_P(Equal, EveryLayoutAndRank) {
  RandomNumbers random(0x1A1);
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{130}, Shape{7, 33}, Shape{2, 3, 4, 5}, Shape{64, 65, 3},
                             Shape{2, 1, 3, 1, 2, 2, 3}, Shape{2, 2, 3, 1, 2, 3, 2, 2}}) {
    for (const Layout first : kInputLayouts) {
      for (const Layout second : kInputLayouts) {
        const DtypeNumber a = random.Chance(50) ? ACL_FLOAT : random.Chance(50) ? ACL_UINT8 : ACL_DOUBLE;
        const DtypeNumber b = random.Chance(50) ? a : random.Chance(50) ? ACL_FLOAT16 : ACL_INT64;
        Placement placement;
        placement.misalignment_bytes = static_cast<int>(random.Below(8) * 8);
        HostTensor self(a, MakeView(shape, first, random), placement);
        HostTensor other(b, MakeView(shape, second, random));
        SCOPED_TRACE(DtypeName(a) + " " + LayoutName(first) + " and " + DtypeName(b) + " " +
                     LayoutName(second) + " " + ToString(shape));
        for (int64_t i = 0; i < self.size(); ++i) Put(self, i, 1);
        for (int64_t i = 0; i < other.size(); ++i) Put(other, i, 1);
        ASSERT_EQ(Call(self, other), 1);
        FillWithBits(self, 4);
        for (int64_t i = 0; i < other.size(); ++i) Put(other, i, NumberOf(a, self.Element(i)).real);
        ASSERT_EQ(Call(self, other), AreEqual(self, other) ? 1 : 0);
        const int64_t at = random.Below(other.size());
        Put(other, at, NumberOf(b, other.Element(at)).real + 1);
        ASSERT_EQ(Call(self, other), AreEqual(self, other) ? 1 : 0);
      }
    }
  }
}

TEST_P(Equal, ShapesCountAndNothingBroadcasts) {
  const std::vector<Shape> shapes = {{},     {1},    {1, 1},    {6},       {2, 3},
                                     {3, 2}, {1, 6}, {2, 3, 1}, {1, 2, 3}, {2, 1, 1, 1, 1, 1, 1, 3},
                                     {0},    {0, 3}, {3, 0},    {0, 0},    {1, 1, 1, 1, 1, 1, 1, 0}};
  for (const Shape& first : shapes) {
    for (const Shape& second : shapes) {
      HostTensor self = Dense(ACL_FLOAT, first);
      HostTensor other = Dense(ACL_FLOAT, second);
      for (HostTensor* tensor : {&self, &other}) {
        for (int64_t i = 0; i < tensor->size(); ++i) Put(*tensor, i, 2);
      }
      EXPECT_EQ(Call(self, other), first == second ? 1 : 0) << ToString(first) << " and " << ToString(second);
    }
  }
}

TEST_P(Equal, ResultOverAnOperand) {
  RandomNumbers random(0);
  for (const bool is_equal : {true, false}) {
    for (const bool over_other : {true, false}) {
      HostTensor self = Dense(ACL_BOOL, {1});
      HostTensor other = Dense(ACL_BOOL, {1});
      *self.Element(0) = std::byte{7};
      *other.Element(0) = is_equal ? std::byte{2} : std::byte{0};
      HostTensor out = HostTensor::SharingStorageOf(over_other ? other : self, self.view());
      EXPECT_EQ(CallInto(self, other, out), is_equal ? 1 : 0);
    }
  }
  // The first byte of a larger tensor.
  HostTensor self = Dense(ACL_BOOL, {40000});
  HostTensor other = Dense(ACL_BOOL, {40000});
  FillWithBits(self, 2);
  FillWithBits(other, 2);
  HostTensor out = HostTensor::SharingStorageOf(self, MakeView({1}, Layout::kDense, random));
  EXPECT_EQ(CallInto(self, other, out), 1);
  FillWithBits(self, 2);
  Put(other, 39999, 1 - NumberOf(ACL_BOOL, other.Element(39999)).real);
  EXPECT_EQ(CallInto(self, other, out), 0);
}

INSTANTIATE_TEST_SUITE_P(On, Equal,
                         ::testing::Combine(::testing::ValuesIn(IsasToTest()), ::testing::Values(1, 2, 7)),
                         [](const ::testing::TestParamInfo<std::tuple<engine::Isa, int>>& parameter) {
                           return std::string(engine::IsaName(std::get<0>(parameter.param))) + "_" +
                                  std::to_string(std::get<1>(parameter.param)) + "_threads";
                         });

}  // namespace
}  // namespace portacl::testing
