// What tests of graphs share: memory of a device, captures on the test's stream, and executions that are waited for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "acl/runtime_fixture.h"
#include "acl/stream/graph.h"

class GraphPrograms : public RuntimeTest {
 protected:
  void TearDown() override {
    for (void* one : memory_) EXPECT_EQ(aclrtFree(one), ACL_SUCCESS);
    RuntimeTest::TearDown();
    EXPECT_EQ(portacl::LiveGraphs(), 0);
  }

  char* Device(size_t bytes) {
    void* address = nullptr;
    EXPECT_EQ(aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    memory_.push_back(address);
    return static_cast<char*>(address);
  }

  // The host's ways to device memory, as an NPU has them: outside of captures.
  static int ByteAt(const void* address) {
    unsigned char byte = 0;
    EXPECT_EQ(aclrtMemcpy(&byte, 1, address, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    return byte;
  }
  static void Write(void* address, uint64_t value) {
    EXPECT_EQ(aclrtMemcpy(address, sizeof value, &value, sizeof value, ACL_MEMCPY_HOST_TO_DEVICE),
              ACL_SUCCESS);
  }
  static uint64_t ValueAt(const void* address) {
    uint64_t value = 0;
    EXPECT_EQ(aclrtMemcpy(&value, sizeof value, address, sizeof value, ACL_MEMCPY_DEVICE_TO_HOST),
              ACL_SUCCESS);
    return value;
  }

  void Begin(aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) {
    ASSERT_EQ(aclmdlRICaptureBegin(stream_, mode), ACL_SUCCESS);
  }
  aclmdlRI End() {
    aclmdlRI graph = nullptr;
    EXPECT_EQ(aclmdlRICaptureEnd(stream_, &graph), ACL_SUCCESS);
    return graph;
  }
  void Execute(aclmdlRI graph) {
    EXPECT_EQ(aclmdlRIExecuteAsync(graph, stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  }
  static aclmdlRICaptureStatus StatusOfCapture(aclrtStream stream) {
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED;
    EXPECT_EQ(aclmdlRICaptureGetInfo(stream, &status, nullptr), ACL_SUCCESS);
    return status;
  }
  // A capture on the stream, whatever was refused before it.
  void ExpectCaptureWorks() {
    L1Call call(kSmall);
    Begin();
    EXPECT_EQ(call.Launch(stream_), ACL_SUCCESS);
    const aclmdlRI graph = End();
    Execute(graph);
    EXPECT_TRUE(call.IsDone());
    EXPECT_EQ(aclmdlRIDestroy(graph), ACL_SUCCESS);
  }
  static std::string Message() {
    const char* const text = aclGetRecentErrMsg();
    return text == nullptr ? std::string() : std::string(text);
  }

 private:
  std::vector<void*> memory_;
};
