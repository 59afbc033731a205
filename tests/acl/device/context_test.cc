// Contexts and devices: what is current per thread, default streams, resets and destruction.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <thread>

#include "acl/device/device.h"
#include "acl/runtime_fixture.h"

namespace {

class ContextTest : public RuntimeTest {
 protected:
  void SetUp() override {
    setenv("PORTACL_DEVICE_COUNT", "2", 1);
    RuntimeTest::SetUp();
    unsetenv("PORTACL_DEVICE_COUNT");
  }
  static aclrtStream DefaultStream() {
    aclrtStream stream = nullptr;
    EXPECT_EQ(aclrtCtxGetCurrentDefaultStream(&stream), ACL_SUCCESS);
    return stream;
  }
  static aclrtContext Current() {
    aclrtContext context = nullptr;
    EXPECT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
    return context;
  }
  static int32_t Device() {
    int32_t device = -1;
    EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
    return device;
  }
};

TEST_F(ContextTest, EachHasItsOwnDefaultStream) {
  const aclrtContext first = Current();
  const aclrtStream first_stream = DefaultStream();
  aclrtContext second = nullptr;
  ASSERT_EQ(aclrtCreateContext(&second, 1), ACL_SUCCESS);
  EXPECT_EQ(Current(), second);
  EXPECT_EQ(Device(), 1);
  const aclrtStream second_stream = DefaultStream();
  EXPECT_NE(first_stream, second_stream);

  // null means the default stream of the context that is current at the call.
  Gate gate;
  gate.Close(nullptr);
  EXPECT_EQ(StatusOf(second_stream), ACL_STREAM_STATUS_NOT_READY);
  EXPECT_EQ(StatusOf(first_stream), ACL_STREAM_STATUS_COMPLETE);
  ASSERT_EQ(aclrtSetCurrentContext(first), ACL_SUCCESS);
  EXPECT_EQ(Device(), 0);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);  // streams of the other context are not waited for
  EXPECT_FALSE(gate.is_open());
  EXPECT_EQ(aclrtDestroyStream(second_stream), ACL_ERROR_RT_STREAM_CONTEXT);
  gate.Open();
  EXPECT_EQ(aclrtDestroyContext(second), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(second_stream), ACL_ERROR_RT_STREAM_CONTEXT);
}

TEST_F(ContextTest, ThreadsThatSetTheSameDeviceShareItsContext) {
  const aclrtContext mine = Current();
  const aclrtStream my_stream = DefaultStream();
  std::thread([&] {
    aclrtContext none = nullptr;
    aclrtStream stream = nullptr;
    EXPECT_EQ(aclrtGetCurrentContext(&none), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtCtxGetCurrentDefaultStream(&stream), ACL_ERROR_RT_CONTEXT_NULL);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(Current(), mine);
    EXPECT_EQ(DefaultStream(), my_stream);
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    EXPECT_NE(Current(), mine);
    EXPECT_EQ(Device(), 1);
    EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  }).join();
  EXPECT_EQ(Current(), mine);
  EXPECT_EQ(Device(), 0);
}

TEST_F(ContextTest, TheLastResetWaitsAndFrees) {
  L1Call call(2'000'000);
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  context = Current();
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  aclrtStream stream = NewStream();
  ASSERT_EQ(call.Launch(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);  // set twice: still there
  call.Clear();
  ASSERT_EQ(call.Launch(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  EXPECT_TRUE(call.IsDone());
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_STREAM_CONTEXT);
  aclrtStream none = nullptr;
  EXPECT_EQ(aclrtCreateStream(&none), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtSetCurrentContext(context), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtResetDevice(1), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST_F(ContextTest, AForcedResetIgnoresTheCount) {
  for (int i = 0; i < 3; ++i) ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  L1Call call(kLarge);
  ASSERT_EQ(call.Launch(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDeviceForce(1), ACL_SUCCESS);
  EXPECT_TRUE(call.IsDone());
  EXPECT_EQ(aclrtResetDeviceForce(1), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
  EXPECT_EQ(aclrtResetDeviceForce(2), ACL_ERROR_RT_INVALID_DEVICEID);
  aclrtContext none = nullptr;
  EXPECT_EQ(aclrtGetCurrentContext(&none), ACL_ERROR_RT_CONTEXT_NULL);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

// Launches on streams and default streams that die with their device: what returned 0 was run when the reset has
// returned and the launching threads have ended. No stream outlives its device (see TearDown).
TEST_F(ContextTest, ResetsMayRaceWithEverything) {
  const Watchdog watchdog;
  constexpr int kThreads = 3;
  constexpr size_t kEach = 4'000;
  std::atomic<int> running{kThreads};
  std::vector<std::vector<char>> bytes(kThreads, std::vector<char>(kEach, 0));
  std::vector<std::vector<char>> expected = bytes;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < kEach; ++i) {
        ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
        aclrtStream stream = nullptr;
        aclError status = t == 0 ? ACL_SUCCESS : aclrtCreateStream(&stream);
        if (status == ACL_SUCCESS) status = aclrtMemsetAsync(&bytes[t][i], 1, 1, 1, stream);
        ASSERT_TRUE(status == ACL_SUCCESS || status == ACL_ERROR_RT_STREAM_CONTEXT ||
                    status == ACL_ERROR_RT_CONTEXT_NULL)
            << status;
        expected[t][i] = status == ACL_SUCCESS ? 1 : 0;
      }
      --running;
    });
  }
  while (running > 0) {
    const aclError status = aclrtResetDeviceForce(1);
    ASSERT_TRUE(status == ACL_SUCCESS || status == ACL_ERROR_RT_CONTEXT_RELEASE_ERROR) << status;
  }
  for (std::thread& thread : threads) thread.join();
  aclrtResetDeviceForce(1);
  for (size_t t = 0; t < kThreads; ++t) EXPECT_EQ(bytes[t], expected[t]);
  EXPECT_EQ(portacl::LiveStreams(), 2) << "the default stream of device 0 and the fixture's";
}

// While a stream is made in a context, the context cannot end: else nobody would end the stream.
TEST_F(ContextTest, AContextThatIsKeptDoesNotEnd) {
  const Watchdog watchdog;
  const aclrtContext first = Current();
  aclrtContext second = nullptr;
  ASSERT_EQ(aclrtCreateContext(&second, 1), ACL_SUCCESS);
  auto kept = portacl::KeepContexts();
  std::thread destroyer([&] { EXPECT_EQ(aclrtDestroyContext(second), ACL_SUCCESS); });
  LetOthersWait();
  EXPECT_NE(portacl::FindContext(second), nullptr);
  kept.unlock();
  destroyer.join();
  EXPECT_EQ(portacl::FindContext(second), nullptr);
  ASSERT_EQ(aclrtSetCurrentContext(first), ACL_SUCCESS);
}

TEST_F(ContextTest, AResetWaitsForAStreamThatAnotherThreadDestroys) {
  const Watchdog watchdog;
  bool noticed = false;
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  const aclrtContext context = Current();
  aclrtStream stream = NewStream();
  std::atomic<bool> reset_returned{false};
  Gate gate;
  gate.Close(stream);
  gate.WaitUntilEntered();
  std::thread destroyer([&] {
    ASSERT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  });
  while (aclrtSynchronizeStreamWithTimeout(stream, 0) != ACL_ERROR_RT_STREAM_CONTEXT)
    std::this_thread::yield();
  std::thread resetter([&] {
    EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
    reset_returned = true;
  });
  LetOthersWait();
  noticed = reset_returned;
  gate.Open();
  destroyer.join();
  resetter.join();
  EXPECT_FALSE(noticed) << "the reset returned before the work was done";
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST_F(ContextTest, DestroyingAContextWaitsForItsStreams) {
  const aclrtContext first = Current();
  aclrtContext second = nullptr;
  ASSERT_EQ(aclrtCreateContext(&second, 0), ACL_SUCCESS);
  aclrtStream stream = NewStream();
  Gate gate;
  gate.Close(stream);
  L1Call call(kLarge);
  ASSERT_EQ(call.Launch(stream), ACL_SUCCESS);
  gate.WaitUntilEntered();
  std::thread opener([&] { gate.Open(); });
  EXPECT_EQ(aclrtDestroyContext(second), ACL_SUCCESS);
  EXPECT_TRUE(gate.is_open());
  EXPECT_TRUE(call.IsDone());
  opener.join();
  aclrtContext none = nullptr;
  EXPECT_EQ(aclrtGetCurrentContext(&none), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtDestroyContext(second), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtDestroyContext(first), ACL_ERROR_RT_PARAM_INVALID);  // the device's own
  EXPECT_EQ(aclrtDestroyContext(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSetCurrentContext(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetCurrentContext(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCtxGetCurrentDefaultStream(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCreateContext(nullptr, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCreateContext(&none, 2), ACL_ERROR_RT_INVALID_DEVICEID);
  ASSERT_EQ(aclrtSetCurrentContext(first), ACL_SUCCESS);
}

}  // namespace
