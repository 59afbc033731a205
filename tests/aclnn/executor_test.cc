// Executors: single use, repeated use, addresses at each run, and every code of their functions.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <thread>
#include <vector>

#include "acl/runtime_fixture.h"
#include "aclnnop/families/arithmetic.h"
#include "aclnnop/families/loss.h"
#include "aclnnop/families/matmul.h"

namespace {

class ExecutorTest : public RuntimeTest {
 protected:
  static aclOpExecutor* Plan(L1Call& call) {
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(call.Plan(&executor), ACL_SUCCESS);
    return executor;
  }
  aclnnStatus Run(aclOpExecutor* executor) { return aclnnL1LossBackward(nullptr, 0, executor, stream_); }
};

TEST_F(ExecutorTest, IsUsedUpByPhase2) {
  L1Call call(kSmall);
  aclOpExecutor* executor = Plan(call);
  EXPECT_EQ(Run(executor), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(Run(executor), 561000);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), 561000);
  EXPECT_EQ(aclSetAclOpExecutorRepeatable(executor), 561000);

  executor = Plan(call);  // also by one that fails
  EXPECT_EQ(aclnnL1LossBackward(nullptr, 16, executor, stream_), 161001);
  EXPECT_EQ(Run(executor), 561000);

  executor = Plan(call);  // or never run
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACL_SUCCESS);
  EXPECT_EQ(Run(executor), 561000);
}

// A client that asks for this may have no way to tell of an error of phase 2: torch_npu's.
TEST_F(ExecutorTest, FailsInAStreamThatStopsOnFailure) {
  L1Call call(kSmall);
  ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_STOP_ON_FAILURE), ACL_SUCCESS);
  aclGetRecentErrMsg();
  aclOpExecutor* executor = Plan(call);
  EXPECT_EQ(aclnnL1LossBackward(nullptr, 16, executor, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
  EXPECT_EQ(Run(Plan(call)), ACL_SUCCESS) << "which is dropped";
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_PARAM_INVALID);
    const char* const message = aclGetRecentErrMsg();
    ASSERT_NE(message, nullptr);
    EXPECT_NE(std::strstr(message,
                          "aclnnL1LossBackward: parameter workspace is a null pointer, expected the "
                          "address of 16 bytes. (161001)"),
              nullptr)
        << message;
  }
  EXPECT_TRUE(call.IsUntouched());
  EXPECT_EQ(Run(executor), 561000) << "used up; of no executor there is nothing to put into a stream";
  ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_CONTINUE_ON_FAILURE), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(Run(Plan(call)), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_FALSE(call.IsUntouched());
}

// Clients have no address for a tensor without elements; its result is written all the same.
TEST_F(ExecutorTest, AsksForNoAddressOfNothing) {
  const int64_t tall[] = {3, 0};
  const int64_t square[] = {3, 3};
  const int64_t strides[] = {3, 1};
  float memory[9];
  std::fill(std::begin(memory), std::end(memory), 7.5f);
  const auto tensor = [&](const int64_t* dims, void* data) {
    return aclCreateTensor(dims, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, dims, 2, data);
  };
  aclTensor* const self = tensor(tall, nullptr);
  aclTensor* const q = tensor(square, memory);
  aclTensor* const r = tensor(tall, nullptr);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnLinalgQrGetWorkspaceSize(self, 1, q, r, &size, &executor), ACL_SUCCESS);
  void* workspace = nullptr;
  ASSERT_EQ(aclrtMalloc(&workspace, std::max<uint64_t>(size, 1), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclnnLinalgQr(workspace, size, executor, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(workspace), ACL_SUCCESS);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(memory[i], i % 4 == 0 ? 1.0f : 0.0f) << i;
  for (aclTensor* made : {self, q, r}) aclDestroyTensor(made);
}

TEST_F(ExecutorTest, IsOfOneOperator) {
  const auto refused = [](aclnnStatus status, const char* run, const char* planned) {
    EXPECT_EQ(status, 561000);
    const char* const message = aclGetRecentErrMsg();
    ASSERT_NE(message, nullptr);
    EXPECT_NE(std::strstr(message, run), nullptr) << message;
    EXPECT_NE(std::strstr(message, planned), nullptr) << message;
  };
  L1Call call(kSmall);
  aclOpExecutor* executor = Plan(call);
  aclGetRecentErrMsg();
  refused(aclnnMseLossBackward(nullptr, 0, executor, stream_),
          "aclnnMseLossBackward:", "aclnnL1LossBackwardGetWorkspaceSize");
  EXPECT_EQ(Run(executor), 561000) << "used up";
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(call.IsUntouched());

  // The other way round, and a name that begins like the right one.
  const int64_t n = kSmall;
  const auto tensor = [n](auto& data) {
    return aclCreateTensor(&n, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &n, 1, data.data());
  };
  aclTensor* const tensors[] = {tensor(call.grad), tensor(call.self), tensor(call.target), tensor(call.out)};
  uint64_t workspace = 0;
  ASSERT_EQ(aclnnL1LossGetWorkspaceSize(tensors[1], tensors[2], 0, tensors[3], &workspace, &executor),
            ACL_SUCCESS);
  aclGetRecentErrMsg();
  refused(Run(executor), "aclnnL1LossBackward:", "aclnnL1LossGetWorkspaceSize");
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(call.IsUntouched());
  for (aclTensor* one : tensors) EXPECT_EQ(aclDestroyTensor(one), ACL_SUCCESS);

  // A repeatable one stays for its own operator.
  executor = Plan(call);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), ACL_SUCCESS);
  EXPECT_EQ(aclnnL1Loss(nullptr, 0, executor, stream_), 561000);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(call.IsUntouched());
  EXPECT_EQ(Run(executor), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(call.IsDone());
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACL_SUCCESS);
}

TEST_F(ExecutorTest, RunsRepeatedly) {
  for (int64_t count : {kSmall, kLarge}) {
    L1Call call(count);
    aclOpExecutor* executor = Plan(call);
    ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), ACL_SUCCESS);
    for (int i = 0; i < 5; ++i) {
      call.Clear();
      ASSERT_EQ(Run(executor), ACL_SUCCESS);
      ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
      EXPECT_TRUE(call.IsDone());
    }
    EXPECT_EQ(aclnnL1LossBackward(nullptr, 16, executor, stream_), 161001);  // survives a failing phase 2
    EXPECT_EQ(Run(executor), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACL_SUCCESS);
    EXPECT_EQ(aclDestroyAclOpExecutor(executor), 561000);
    EXPECT_EQ(Run(executor), 561000);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  }
}

TEST_F(ExecutorTest, QueuedRunsKeepTheAddressesOfTheirTime) {
  constexpr int kRuns = 6;
  L1Call call(kSmall);
  aclOpExecutor* executor = Plan(call);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), ACL_SUCCESS);
  const int64_t n = kSmall;
  aclTensor* any = aclCreateTensor(&n, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &n, 1, nullptr);
  Gate gate;
  gate.Close(stream_);
  std::vector<L1Call> runs;
  for (int i = 0; i < kRuns; ++i) runs.emplace_back(kSmall, i + 1);
  for (L1Call& run : runs) {
    ASSERT_EQ(aclSetInputTensorAddr(executor, 0, any, run.grad.data()), ACL_SUCCESS);
    ASSERT_EQ(AclSetInputTensorAddr(executor, 1, any, run.self.data()), ACL_SUCCESS);
    ASSERT_EQ(aclSetTensorAddr(executor, 2, any, run.target.data()), ACL_SUCCESS);
    ASSERT_EQ(aclSetOutputTensorAddr(executor, 0, any, run.out.data()), ACL_SUCCESS);
    ASSERT_EQ(Run(executor), ACL_SUCCESS);
  }
  ASSERT_EQ(AclSetTensorAddr(executor, 3, any, call.out.data()), ACL_SUCCESS);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACL_SUCCESS);  // the queued runs live on
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  for (L1Call& run : runs) EXPECT_TRUE(run.IsDone());
  EXPECT_TRUE(call.IsUntouched());
  void* address = &gate;
  EXPECT_EQ(aclGetRawTensorAddr(any, &address), ACL_SUCCESS);
  EXPECT_EQ(address, nullptr);  // the tensor argument is only looked at
  EXPECT_EQ(aclDestroyTensor(any), ACL_SUCCESS);
}

TEST_F(ExecutorTest, TensorsMayGoWhenPhase2HasReturned) {
  const int64_t n = kSmall;
  L1Call call(n);
  const auto tensor = [n](auto& data) {
    return aclCreateTensor(&n, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &n, 1, data.data());
  };
  aclTensor* tensors[] = {tensor(call.grad), tensor(call.self), tensor(call.target), tensor(call.out)};
  uint64_t workspace = 0;
  aclOpExecutor* executor = nullptr;
  Gate gate;
  gate.Close(stream_);
  ASSERT_EQ(aclnnL1LossBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2], 0, tensors[3], &workspace,
                                                &executor),
            ACL_SUCCESS);
  aclnnStatus status = -1;
  std::thread([&] { status = aclnnL1LossBackward(nullptr, 0, executor, stream_); }).join();
  ASSERT_EQ(status, ACL_SUCCESS);
  float elsewhere = 0;
  const int64_t one = 1;
  for (aclTensor* each : tensors) {
    EXPECT_EQ(aclInitTensor(each, &one, 1, ACL_INT8, nullptr, 7, ACL_FORMAT_NCHW, &one, 1, &elsewhere), 0);
    EXPECT_EQ(aclDestroyTensor(each), ACL_SUCCESS);
  }
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(call.IsDone());
}

// Wrong on an NPU; programs that do it run here.
TEST_F(ExecutorTest, TensorsMayGoBeforePhase2) {
  const int64_t n = kSmall;
  L1Call call(n);
  std::vector<aclTensor*> tensors;
  for (auto* data : {&call.grad, &call.self, &call.target, &call.out}) {
    tensors.push_back(aclCreateTensor(&n, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &n, 1, data->data()));
  }
  uint64_t workspace = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnL1LossBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2], 0, tensors[3], &workspace,
                                                &executor),
            ACL_SUCCESS);
  for (aclTensor* each : tensors) EXPECT_EQ(aclDestroyTensor(each), ACL_SUCCESS);
  ASSERT_EQ(Run(executor), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(call.IsDone());
}

TEST_F(ExecutorTest, AddressesOfASingleUse) {
  L1Call call(kSmall);
  L1Call other(kSmall, 5);
  aclOpExecutor* executor = Plan(call);
  const int64_t n = kSmall;
  aclTensor* any = aclCreateTensor(&n, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &n, 1, nullptr);
  ASSERT_EQ(AclSetOutputTensorAddr(executor, 0, any, other.out.data()), ACL_SUCCESS);
  ASSERT_EQ(Run(executor), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  other.grad = call.grad, other.self = call.self, other.target = call.target;
  EXPECT_TRUE(other.IsDone());
  EXPECT_TRUE(call.IsUntouched());
  executor = Plan(call);
  ASSERT_EQ(aclSetInputTensorAddr(executor, 1, any, nullptr), ACL_SUCCESS);
  EXPECT_EQ(Run(executor), 161001);
  aclDestroyTensor(any);
}

TEST_F(ExecutorTest, EmptyTensors) {
  const int64_t n = 0;
  aclTensor* empty = aclCreateTensor(&n, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &n, 1, nullptr);
  aclTensor* out = aclCreateTensor(&n, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &n, 1, nullptr);
  uint64_t workspace = 1;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnL1LossBackwardGetWorkspaceSize(empty, empty, empty, 0, out, &workspace, &executor),
            ACL_SUCCESS);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), ACL_SUCCESS);
  EXPECT_EQ(Run(executor), ACL_SUCCESS);
  EXPECT_EQ(Run(executor), ACL_SUCCESS);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACL_SUCCESS);
  aclDestroyTensor(empty);
  aclDestroyTensor(out);
}

// In place the output is the first parameter, and an input as well.
TEST_F(ExecutorTest, AddressesOfAnOperatorThatWorksInPlace) {
  const int64_t n = kSmall;
  portacl::testing::MappedVector<float> first(kSmall, 1.0f);
  portacl::testing::MappedVector<float> second(kSmall, 2.0f);
  portacl::testing::MappedVector<float> third(kSmall, 3.0f);
  aclTensor* self = aclCreateTensor(&n, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &n, 1, first.data());
  aclTensor* src = aclCreateTensor(&n, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &n, 1, second.data());
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnInplaceCopyGetWorkspaceSize(self, src, &size, &executor), ACL_SUCCESS);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), ACL_SUCCESS);
  EXPECT_EQ(aclSetOutputTensorAddr(executor, 1, self, third.data()), 161002);
  EXPECT_EQ(aclSetInputTensorAddr(executor, 2, self, third.data()), 161002);
  ASSERT_EQ(aclSetOutputTensorAddr(executor, 0, self, third.data()), ACL_SUCCESS);
  ASSERT_EQ(aclnnInplaceCopy(nullptr, 0, executor, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(first, portacl::testing::MappedVector<float>(kSmall, 1.0f));
  EXPECT_EQ(third, second);
  ASSERT_EQ(aclSetInputTensorAddr(executor, 1, src, first.data()), ACL_SUCCESS);
  ASSERT_EQ(aclSetInputTensorAddr(executor, 0, self, second.data()), ACL_SUCCESS);
  ASSERT_EQ(aclnnInplaceCopy(nullptr, 0, executor, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(second, first);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACL_SUCCESS);
  aclDestroyTensor(self);
  aclDestroyTensor(src);
}

TEST_F(ExecutorTest, Codes) {
  L1Call call(kSmall);
  aclOpExecutor* executor = Plan(call);
  const int64_t n = kSmall;
  aclTensor* any = aclCreateTensor(&n, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &n, 1, nullptr);
  float data = 0;
  EXPECT_EQ(aclSetAclOpExecutorRepeatable(nullptr), 561103);
  EXPECT_EQ(aclDestroyAclOpExecutor(nullptr), 561103);
  const auto unknown = reinterpret_cast<aclOpExecutor*>(&data);
  EXPECT_EQ(aclSetAclOpExecutorRepeatable(unknown), 561000);
  EXPECT_EQ(aclDestroyAclOpExecutor(unknown), 561000);

  struct Setter {
    aclnnStatus (*set)(aclOpExecutor*, const size_t, aclTensor*, void*);
    size_t past;  // the first index that names no operand
  };
  for (const Setter& one :
       {Setter{aclSetInputTensorAddr, 3}, Setter{AclSetInputTensorAddr, 3}, Setter{aclSetOutputTensorAddr, 1},
        Setter{AclSetOutputTensorAddr, 1}, Setter{aclSetTensorAddr, 4}, Setter{AclSetTensorAddr, 4}}) {
    EXPECT_EQ(one.set(nullptr, 0, any, &data), 561103);
    EXPECT_EQ(one.set(executor, 0, nullptr, &data), 561103);
    EXPECT_EQ(one.set(unknown, 0, any, &data), 561000);
    EXPECT_EQ(one.set(executor, one.past, any, &data), 161002);
    EXPECT_EQ(one.set(executor, SIZE_MAX, any, &data), 161002);
    EXPECT_EQ(one.set(executor, one.past - 1, any, &data), ACL_SUCCESS);
  }

  const aclTensor* in_list[] = {any};
  aclTensorList* list = aclCreateTensorList(in_list, 1);
  for (auto set : {aclSetDynamicInputTensorAddr, aclSetDynamicOutputTensorAddr, aclSetDynamicTensorAddr,
                   AclSetDynamicInputTensorAddr, AclSetDynamicOutputTensorAddr, AclSetDynamicTensorAddr}) {
    EXPECT_EQ(set(nullptr, 0, 0, list, &data), 561103);
    EXPECT_EQ(set(executor, 0, 0, nullptr, &data), 561103);
    EXPECT_EQ(set(unknown, 0, 0, list, &data), 561000);
    EXPECT_EQ(set(executor, 0, 1, list, &data), 161002);
    EXPECT_EQ(set(executor, 0, 0, list, &data), 161002);
  }
  EXPECT_EQ(aclDestroyTensorList(list), ACL_SUCCESS);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACL_SUCCESS);
}

TEST(Getters, Tensor) {
  const int64_t view[] = {2, 3};
  const int64_t strides[] = {1, 2};
  const int64_t storage[] = {10};
  float data[10];
  aclTensor* tensor = aclCreateTensor(view, 2, ACL_BF16, strides, 4, ACL_FORMAT_NCHW, storage, 1, data);
  int64_t* dims = nullptr;
  uint64_t count = 0;
  ASSERT_EQ(aclGetViewShape(tensor, &dims, &count), 0);
  EXPECT_EQ(std::vector<int64_t>(dims, dims + count), (std::vector<int64_t>{2, 3}));
  delete[] dims;
  ASSERT_EQ(aclGetViewStrides(tensor, &dims, &count), 0);
  EXPECT_EQ(std::vector<int64_t>(dims, dims + count), (std::vector<int64_t>{1, 2}));
  delete[] dims;
  ASSERT_EQ(aclGetStorageShape(tensor, &dims, &count), 0);
  EXPECT_EQ(std::vector<int64_t>(dims, dims + count), (std::vector<int64_t>{10}));
  delete[] dims;
  int64_t offset = 0;
  aclFormat format = ACL_FORMAT_ND;
  aclDataType dtype = ACL_FLOAT;
  void* address = nullptr;
  EXPECT_EQ(aclGetViewOffset(tensor, &offset), 0);
  EXPECT_EQ(aclGetFormat(tensor, &format), 0);
  EXPECT_EQ(aclGetDataType(tensor, &dtype), 0);
  EXPECT_EQ(aclGetRawTensorAddr(tensor, &address), 0);
  EXPECT_EQ(offset, 4);
  EXPECT_EQ(format, ACL_FORMAT_NCHW);
  EXPECT_EQ(dtype, ACL_BF16);
  EXPECT_EQ(address, data);
  EXPECT_EQ(aclSetRawTensorAddr(tensor, data + 1), 0);
  EXPECT_EQ(aclGetRawTensorAddr(tensor, &address), 0);
  EXPECT_EQ(address, data + 1);

  for (auto get : {aclGetViewShape, aclGetViewStrides, aclGetStorageShape}) {
    EXPECT_EQ(get(nullptr, &dims, &count), 161001);
    EXPECT_EQ(get(tensor, nullptr, &count), 161001);
    EXPECT_EQ(get(tensor, &dims, nullptr), 161001);
  }
  EXPECT_EQ(aclGetViewOffset(nullptr, &offset), 161001);
  EXPECT_EQ(aclGetViewOffset(tensor, nullptr), 161001);
  EXPECT_EQ(aclGetFormat(nullptr, &format), 161001);
  EXPECT_EQ(aclGetFormat(tensor, nullptr), 161001);
  EXPECT_EQ(aclGetDataType(nullptr, &dtype), 161001);
  EXPECT_EQ(aclGetDataType(tensor, nullptr), 161001);
  EXPECT_EQ(aclSetRawTensorAddr(nullptr, data), 161001);
  EXPECT_EQ(aclGetRawTensorAddr(nullptr, &address), 161001);
  EXPECT_EQ(aclGetRawTensorAddr(tensor, nullptr), 161001);

  // Re-described as a scalar of an unknown type; the address stays when the new one is null.
  EXPECT_EQ(aclInitTensor(tensor, nullptr, 0, static_cast<aclDataType>(99), nullptr, 0,
                          static_cast<aclFormat>(77), nullptr, 0, nullptr),
            0);
  EXPECT_EQ(aclGetFormat(tensor, &format), 0);
  EXPECT_EQ(aclGetDataType(tensor, &dtype), 0);
  EXPECT_EQ(format, ACL_FORMAT_UNDEFINED);
  EXPECT_EQ(dtype, ACL_DT_UNDEFINED);
  ASSERT_EQ(aclGetViewStrides(tensor, &dims, &count), 0);
  EXPECT_EQ(std::vector<int64_t>(dims, dims + count), (std::vector<int64_t>{3, 1}));
  delete[] dims;
  EXPECT_EQ(aclGetRawTensorAddr(tensor, &address), 0);
  EXPECT_EQ(address, data + 1);
  EXPECT_EQ(aclInitTensor(nullptr, view, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, storage, 1, data), 161001);
  EXPECT_EQ(aclDestroyTensor(tensor), 0);

  aclTensor* scalar = aclCreateTensor(nullptr, 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, data);
  ASSERT_EQ(aclGetViewShape(scalar, &dims, &count), 0);
  EXPECT_EQ(count, 0u);
  EXPECT_NE(dims, nullptr);
  delete[] dims;
  EXPECT_EQ(aclDestroyTensor(scalar), 0);
}

TEST(Getters, Sizes) {
  const int64_t integers[] = {1, 2, 3};
  const float floats[] = {1, 2};
  const bool bools[] = {true};
  uint64_t size = 99;
  aclIntArray* int_array = aclCreateIntArray(integers, 3);
  EXPECT_EQ(aclGetIntArraySize(int_array, &size), 0);
  EXPECT_EQ(size, 3u);
  EXPECT_EQ(aclGetIntArraySize(nullptr, &size), 161001);
  EXPECT_EQ(aclGetIntArraySize(int_array, nullptr), 161001);
  aclFloatArray* float_array = aclCreateFloatArray(floats, 2);
  EXPECT_EQ(aclGetFloatArraySize(float_array, &size), 0);
  EXPECT_EQ(size, 2u);
  EXPECT_EQ(aclGetFloatArraySize(nullptr, &size), 161001);
  EXPECT_EQ(aclGetFloatArraySize(float_array, nullptr), 161001);
  aclBoolArray* bool_array = aclCreateBoolArray(bools, 1);
  EXPECT_EQ(aclGetBoolArraySize(bool_array, &size), 0);
  EXPECT_EQ(size, 1u);
  EXPECT_EQ(aclGetBoolArraySize(nullptr, &size), 161001);
  EXPECT_EQ(aclGetBoolArraySize(bool_array, nullptr), 161001);
  const aclTensor* tensors[] = {nullptr, nullptr};
  aclTensorList* tensor_list = aclCreateTensorList(tensors, 2);
  EXPECT_EQ(aclGetTensorListSize(tensor_list, &size), 0);
  EXPECT_EQ(size, 2u);
  EXPECT_EQ(aclGetTensorListSize(nullptr, &size), 161001);
  EXPECT_EQ(aclGetTensorListSize(tensor_list, nullptr), 161001);
  aclScalarList* scalar_list = aclCreateScalarList(nullptr, 0);
  EXPECT_EQ(aclGetScalarListSize(scalar_list, &size), 0);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(aclGetScalarListSize(nullptr, &size), 161001);
  EXPECT_EQ(aclGetScalarListSize(scalar_list, nullptr), 161001);
  EXPECT_EQ(aclDestroyIntArray(int_array), 0);
  EXPECT_EQ(aclDestroyFloatArray(float_array), 0);
  EXPECT_EQ(aclDestroyBoolArray(bool_array), 0);
  EXPECT_EQ(aclDestroyTensorList(tensor_list), 0);
  EXPECT_EQ(aclDestroyScalarList(scalar_list), 0);
}

}  // namespace
