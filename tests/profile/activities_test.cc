// Records for profilers inside a program (mspti/mspti.h).
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "mspti/mspti.h"
#include "process/simple_call.h"
#include "support/environment.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

size_t room = 4096;      // of a buffer
bool has_memory = true;  // there is one
std::vector<msptiActivityKernel> kernels;
std::vector<msptiActivityExternalCorrelation> externals;

void Give(uint8_t** buffer, size_t* size, size_t* most) {
  *size = room;
  *buffer = has_memory ? static_cast<uint8_t*>(std::malloc(room)) : nullptr;
  *most = 0;
}

void TryDequeue(uint8_t* buffer, size_t size, size_t valid) {
  EXPECT_EQ(size, room);
  EXPECT_LE(valid, size);
  msptiActivity* record = nullptr;
  while (msptiActivityGetNextRecord(buffer, valid, &record) == MSPTI_SUCCESS) {
    if (record->kind == MSPTI_ACTIVITY_KIND_KERNEL) {
      kernels.emplace_back();
      std::memcpy(&kernels.back(), record, sizeof kernels.back());
    } else if (record->kind == MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) {
      externals.emplace_back();
      std::memcpy(&externals.back(), record, sizeof externals.back());
    }
  }
  std::free(buffer);
}

class Activities : public ::testing::Test {
 protected:
  void SetUp() override {
    room = 4096;
    has_memory = true;
    kernels.clear();
    externals.clear();
    ASSERT_EQ(msptiSubscribe(&subscriber_, nullptr, nullptr), MSPTI_SUCCESS);
    ASSERT_EQ(msptiActivityRegisterCallbacks(Give, TryDequeue), MSPTI_SUCCESS);
  }
  void TearDown() override { EXPECT_EQ(msptiUnsubscribe(subscriber_), MSPTI_SUCCESS); }
  ScopedEnvironment environment_{{}};
  msptiSubscriberHandle subscriber_ = nullptr;
};

TEST_F(Activities, AreHandedOutAtAFlush) {
  SimpleCall call(1000);
  ASSERT_TRUE(call.Run(environment_.stream()));  // not recorded
  ASSERT_EQ(msptiActivityEnable(MSPTI_ACTIVITY_KIND_KERNEL), MSPTI_SUCCESS);
  EXPECT_EQ(msptiActivityIsEnabled(MSPTI_ACTIVITY_KIND_KERNEL), MSPTI_SUCCESS);
  EXPECT_EQ(msptiActivityIsEnabled(MSPTI_ACTIVITY_KIND_COMMUNICATION), MSPTI_ERROR_INVALID_PARAMETER);
  ASSERT_TRUE(call.Run(environment_.stream()));
  EXPECT_EQ(msptiActivityFlushAll(1), MSPTI_SUCCESS);
  ASSERT_EQ(kernels.size(), 1u);
  const msptiActivityKernel kernel = kernels[0];
  EXPECT_STREQ(kernel.name, "aclnnL1LossBackward");
  EXPECT_STREQ(kernel.type, "AI_CORE");
  EXPECT_EQ(kernel.ds.deviceId, 0u);
  int32_t id = -1;
  aclrtStreamGetId(environment_.stream(), &id);
  EXPECT_EQ(kernel.ds.streamId, static_cast<uint32_t>(id));
  EXPECT_LE(kernel.start, kernel.end);
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  EXPECT_NEAR(static_cast<double>(kernel.end) / 1e9, static_cast<double>(now.tv_sec), 60);
  // Each once.
  EXPECT_EQ(msptiActivityFlushAll(1), MSPTI_SUCCESS);
  EXPECT_EQ(kernels.size(), 1u);
  // What is recorded stays when recording ends.
  ASSERT_TRUE(call.Run(environment_.stream()));
  EXPECT_EQ(msptiActivityDisable(MSPTI_ACTIVITY_KIND_KERNEL), MSPTI_SUCCESS);
  ASSERT_TRUE(call.Run(environment_.stream()));
  EXPECT_EQ(msptiActivityFlushAll(1), MSPTI_SUCCESS);
  EXPECT_EQ(kernels.size(), 2u);
}

TEST_F(Activities, FillAsManyBuffersAsTheyNeed) {
  room = 80;
  ASSERT_EQ(msptiActivityEnable(MSPTI_ACTIVITY_KIND_KERNEL), MSPTI_SUCCESS);
  SimpleCall call(1000);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(call.Run(environment_.stream()));
  EXPECT_EQ(msptiActivityFlushAll(1), MSPTI_SUCCESS);
  EXPECT_EQ(kernels.size(), 5u);
  for (size_t i = 1; i < kernels.size(); ++i) EXPECT_GE(kernels[i].start, kernels[i - 1].end);
}

TEST_F(Activities, HaveTheProgramsNumbers) {
  ASSERT_EQ(msptiActivityEnable(MSPTI_ACTIVITY_KIND_KERNEL), MSPTI_SUCCESS);
  ASSERT_EQ(msptiActivityEnable(MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION), MSPTI_SUCCESS);
  SimpleCall call(1000);
  const auto kind = MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
  uint64_t last = 0;
  EXPECT_EQ(msptiActivityPopExternalCorrelationId(kind, &last), MSPTI_ERROR_QUEUE_EMPTY);
  EXPECT_EQ(msptiActivityPushExternalCorrelationId(kind, 41), MSPTI_SUCCESS);
  EXPECT_EQ(msptiActivityPushExternalCorrelationId(kind, 42), MSPTI_SUCCESS);
  ASSERT_TRUE(call.Run(environment_.stream()));
  EXPECT_EQ(msptiActivityPopExternalCorrelationId(kind, &last), MSPTI_SUCCESS);
  EXPECT_EQ(last, 42u);
  ASSERT_TRUE(call.Run(environment_.stream()));
  EXPECT_EQ(msptiActivityPopExternalCorrelationId(kind, nullptr), MSPTI_SUCCESS);
  ASSERT_TRUE(call.Run(environment_.stream()));
  EXPECT_EQ(msptiActivityFlushAll(1), MSPTI_SUCCESS);
  ASSERT_EQ(kernels.size(), 3u);
  ASSERT_EQ(externals.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const uint64_t expected = 42 - i;
    const msptiActivityExternalCorrelation one = externals[i];
    const msptiActivityKernel kernel = kernels[i];
    EXPECT_EQ(one.externalId, expected);
    EXPECT_EQ(one.correlationId, kernel.correlationId);
  }
}

TEST_F(Activities, CountNumbersThatLieTooDeep) {
  const auto kind = MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1;
  for (uint64_t i = 1; i <= 100; ++i)
    EXPECT_EQ(msptiActivityPushExternalCorrelationId(kind, i), MSPTI_SUCCESS);
  for (uint64_t i = 100; i >= 1; --i) {
    uint64_t last = 1000;
    EXPECT_EQ(msptiActivityPopExternalCorrelationId(kind, &last), MSPTI_SUCCESS);
    EXPECT_EQ(last, i > 32 ? 0 : i);
  }
  EXPECT_EQ(msptiActivityPopExternalCorrelationId(kind, nullptr), MSPTI_ERROR_QUEUE_EMPTY);
}

TEST_F(Activities, AreRefused) {
  msptiSubscriberHandle second = nullptr;
  EXPECT_EQ(msptiSubscribe(&second, nullptr, nullptr), MSPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  EXPECT_EQ(msptiSubscribe(nullptr, nullptr, nullptr), MSPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(msptiUnsubscribe(nullptr), MSPTI_ERROR_INVALID_PARAMETER);
  TakeErrorMessage();
  EXPECT_EQ(msptiActivityEnable(MSPTI_ACTIVITY_KIND_MARKER), MSPTI_ERROR_INVALID_PARAMETER);
  EXPECT_NE(TakeErrorMessage().find("2 (KERNEL)"), std::string::npos);
  EXPECT_EQ(msptiActivityDisable(MSPTI_ACTIVITY_KIND_INVALID), MSPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(msptiActivityRegisterCallbacks(nullptr, TryDequeue), MSPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(msptiActivityRegisterCallbacks(Give, nullptr), MSPTI_ERROR_INVALID_PARAMETER);
  msptiActivity* record = nullptr;
  EXPECT_EQ(msptiActivityGetNextRecord(nullptr, 8, &record), MSPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(msptiActivityPushExternalCorrelationId(MSPTI_EXTERNAL_CORRELATION_KIND_INVALID, 1),
            MSPTI_ERROR_INVALID_PARAMETER);
  ASSERT_EQ(msptiActivityEnable(MSPTI_ACTIVITY_KIND_KERNEL), MSPTI_SUCCESS);
  SimpleCall call(1000);
  ASSERT_TRUE(call.Run(environment_.stream()));
  has_memory = false;
  EXPECT_EQ(msptiActivityFlushAll(1), MSPTI_ERROR_MAX_LIMIT_REACHED);
  has_memory = true;
  ASSERT_TRUE(call.Run(environment_.stream()));
  EXPECT_EQ(msptiActivityFlushAll(1), MSPTI_SUCCESS);
  EXPECT_EQ(kernels.size(), 1u);
}

}  // namespace
}  // namespace portacl::testing
