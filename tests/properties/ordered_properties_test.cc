// What holds between operators that sort, select, search and count: they say the same of one order in their own ways.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "aclnnop/families/indexing.h"
#include "aclnnop/families/sort.h"
#include "gtest/gtest.h"
#include "support/environment.h"
#include "support/guarded_buffer.h"
#include "support/operator_spec.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

std::vector<Element> ElementsOf(const HostTensor& tensor) {
  std::vector<Element> elements;
  const auto size = static_cast<size_t>(ElementSize(tensor.dtype()));
  for (int64_t i = 0; i < tensor.size(); ++i)
    elements.emplace_back(tensor.Element(i), tensor.Element(i) + size);
  return elements;
}

class OrderedProperties : public ::testing::Test {
 protected:
  OrderedProperties() : environment_(Variables{{"PORTACL_NUM_THREADS", "2"}}), random_(0x0D3) {}

  // Numbers of which some are equal, in a random layout.
  HostTensor Tensor(DtypeNumber dtype, const Shape& shape) {
    HostTensor tensor(dtype,
                      MakeView(shape, kOutputLayouts[random_.Below(std::size(kOutputLayouts))], random_));
    for (int64_t i = 0; i < tensor.size(); ++i) {
      if (IsIntegerDtype(dtype)) {
        EncodeIntegerElement(dtype, random_.Between(-50, 50), tensor.Element(i));
      } else {
        tensor.Set(i, static_cast<double>(random_.Between(-500, 500)) * 0.25);
      }
    }
    return tensor;
  }

  template <class Plan, class Run>
  void Call(const Plan& plan, const Run& run) {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(plan(&size, &executor), 0) << TakeErrorMessage();
    const GuardedBuffer workspace(size);
    ASSERT_EQ(run(size == 0 ? nullptr : workspace.device(), size, executor, environment_.stream()), 0)
        << TakeErrorMessage();
    ASSERT_EQ(aclrtSynchronizeStream(environment_.stream()), 0) << TakeErrorMessage();
  }

  const ScopedEnvironment environment_;
  RandomNumbers random_;
};

#define PORTACL_CALL(function, ...)                                                                       \
  Call([&](uint64_t* size,                                                                                \
           aclOpExecutor** executor) { return function##GetWorkspaceSize(__VA_ARGS__, size, executor); }, \
       function)

// A sorted tensor's places gather its values; Argsort has the same ones; the first of it are Topk's, one of it is Kthvalue's, and the middle
// the median.
TEST_F(OrderedProperties, OneOrder) {
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    Shape shape = DrawShape(random_, 1, 4, 9);
    if (i == 58) shape = {3, 5000};
    if (i == 59) shape = {70000};
    const DtypeNumber dtypes[] = {ACL_FLOAT, ACL_FLOAT16, ACL_INT8, ACL_INT64};
    const DtypeNumber dtype = dtypes[random_.Below(4)];
    const int64_t dim = random_.Below(std::ssize(shape));
    const int64_t length = shape[static_cast<size_t>(dim)];
    const bool descends = random_.Chance(50);
    HostTensor self = Tensor(dtype, shape);
    HostTensor values = Tensor(dtype, shape);
    HostTensor places = Tensor(ACL_INT64, shape);
    HostTensor again = Tensor(dtype, shape);
    HostTensor argsorted = Tensor(ACL_INT64, shape);
    PORTACL_CALL(aclnnSort, self.Handle(), true, dim, descends, values.Handle(), places.Handle());
    PORTACL_CALL(aclnnGather, self.Handle(), dim, places.Handle(), again.Handle());
    PORTACL_CALL(aclnnArgsort, self.Handle(), dim, descends, argsorted.Handle());
    EXPECT_EQ(ElementsOf(again), ElementsOf(values));
    EXPECT_EQ(ElementsOf(argsorted), ElementsOf(places));

    // Of elements [outer, length, inner] those at k.
    const auto at = [&](const HostTensor& all, int64_t from, int64_t count) {
      const std::vector<Element> elements = ElementsOf(all);
      std::vector<Element> chosen;
      int64_t inner = 1;
      for (size_t d = static_cast<size_t>(dim) + 1; d < shape.size(); ++d) inner *= shape[d];
      for (int64_t p = 0; p < std::ssize(elements); ++p) {
        const int64_t k = p / inner % length;
        if (k >= from && k < from + count) chosen.push_back(elements[static_cast<size_t>(p)]);
      }
      return chosen;
    };
    const int64_t k = random_.Between(1, length);
    Shape few = shape;
    few[static_cast<size_t>(dim)] = k;
    HostTensor first = Tensor(dtype, few);
    HostTensor first_places = Tensor(ACL_INT64, few);
    PORTACL_CALL(aclnnTopk, self.Handle(), k, dim, descends, true, first.Handle(), first_places.Handle());
    EXPECT_EQ(ElementsOf(first), at(values, 0, k));
    EXPECT_EQ(ElementsOf(first_places), at(places, 0, k));

    if (descends) continue;
    few[static_cast<size_t>(dim)] = 1;
    HostTensor one = Tensor(dtype, few);
    HostTensor one_buffer = Tensor(ACL_INT64, few);
    PORTACL_CALL(aclnnKthvalue, self.Handle(), k, dim, true, one.Handle(), one_buffer.Handle());
    EXPECT_EQ(ElementsOf(one), at(values, k - 1, 1));
    EXPECT_EQ(ElementsOf(one_buffer), at(places, k - 1, 1));
    PORTACL_CALL(aclnnMedianDim, self.Handle(), dim, true, one.Handle(), one_buffer.Handle());
    EXPECT_EQ(ElementsOf(one), at(values, (length - 1) / 2, 1));
    EXPECT_EQ(ElementsOf(one_buffer), at(places, (length - 1) / 2, 1));
    PORTACL_CALL(aclnnNanMedianDim, self.Handle(), dim, true, one.Handle(), one_buffer.Handle());
    EXPECT_EQ(ElementsOf(one), at(values, (length - 1) / 2, 1));
  }
}

// Where a number is in its own sorted tensor tells how many are less, and how many are not greater: the difference is how often it is
// there, as Bincount and the bins of Histc say.
TEST_F(OrderedProperties, WhatIsCountedIsBetweenTwoPlaces) {
  for (int i = 0; i < 20 && !HasFailure(); ++i) {
    const int64_t n = i == 19 ? 80000 : random_.Between(1, 500);
    constexpr int64_t kNumbers = 40;
    HostTensor self = Tensor(ACL_INT32, {n});
    for (int64_t p = 0; p < n; ++p) EncodeIntegerElement(ACL_INT32, random_.Below(kNumbers), self.Element(p));
    HostTensor values = Tensor(ACL_INT32, {n});
    HostTensor places = Tensor(ACL_INT64, {n});
    PORTACL_CALL(aclnnSort, self.Handle(), true, 0, false, values.Handle(), places.Handle());
    HostTensor numbers = Tensor(ACL_INT32, {kNumbers});
    for (int64_t p = 0; p < kNumbers; ++p) EncodeIntegerElement(ACL_INT32, p, numbers.Element(p));
    HostTensor left = Tensor(ACL_INT64, {kNumbers});
    HostTensor right = Tensor(ACL_INT64, {kNumbers});
    PORTACL_CALL(aclnnSearchSorted, values.Handle(), numbers.Handle(), false, false, nullptr, left.Handle());
    PORTACL_CALL(aclnnSearchSorted, values.Handle(), numbers.Handle(), false, true, nullptr, right.Handle());
    HostTensor counts = Tensor(ACL_INT64, {kNumbers});
    PORTACL_CALL(aclnnBincount, self.Handle(), nullptr, kNumbers, counts.Handle());
    HostTensor bins = Tensor(ACL_INT64, {kNumbers});
    const float low = 0;
    const float high = kNumbers;  // nothing is there: the last bin has one number, too
    aclScalar* const least = aclCreateScalar(const_cast<float*>(&low), ACL_FLOAT);
    aclScalar* const most = aclCreateScalar(const_cast<float*>(&high), ACL_FLOAT);
    PORTACL_CALL(aclnnHistc, self.Handle(), kNumbers, least, most, bins.Handle());
    aclDestroyScalar(least);
    aclDestroyScalar(most);
    for (int64_t p = 0; p < kNumbers; ++p)
      EXPECT_EQ(right.Integer(p) - left.Integer(p), counts.Integer(p)) << p;
    EXPECT_EQ(ElementsOf(bins), ElementsOf(counts));
  }
}

}  // namespace
}  // namespace portacl::testing
