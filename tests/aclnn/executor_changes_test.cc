// What may change between the two phases: tensors, addresses, the data behind them, the thread. Every second phase gives the
// bits of a call that is made for its operands alone.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_quant_matmul_v5.h"
#include "gtest/gtest.h"
#include "operators/all_operators.h"
#include "support/environment.h"
#include "support/random_numbers.h"
#include "support/tensor_view.h"

namespace portacl::testing {
namespace {

std::vector<const NumericDescription*> OperatorsAndReductions() {
  std::vector<const NumericDescription*> all = AllOperators();
  for (const NumericDescription* one : AllReducedLosses()) all.push_back(one);
  return all;
}

// The storage of one operand, at an address that may be odd.
class Storage {
 public:
  Storage(const View& view, RandomNumbers& random)
      : bytes_(static_cast<size_t>(view.storage_elements) * sizeof(float) + 64),
        begin_(static_cast<size_t>(random.Below(64))) {
    Fill(random);
  }

  void Fill(RandomNumbers& random) {
    const size_t count = (bytes_.size() - 64) / sizeof(float);
    for (size_t i = 0; i < count; ++i) {
      const auto value = static_cast<float>(random.Below(4000) - 1000) / 512;
      std::memcpy(bytes_.data() + begin_ + i * sizeof(float), &value, sizeof value);
    }
  }

  void* address() { return bytes_.data() + begin_; }
  const std::vector<char>& bytes() const { return bytes_; }
  void Assign(const Storage& other) { bytes_ = other.bytes_; }

 private:
  std::vector<char> bytes_;
  size_t begin_;
};

// One operator with views for its operands, the output last, and several storages for each of them.
class Subject {
 public:
  static constexpr size_t kStorages = 4;

  Subject(const NumericDescription& op, uint64_t seed) : op_(op), random_(seed) {
    const size_t inputs = op.binding.tensors.size() - 1;
    attributes_ =
        op.attributes[static_cast<size_t>(random_.Below(static_cast<int64_t>(op.attributes.size())))];
    std::vector<Shape> shapes;
    do {
      shapes = RandomBroadcastShapes(static_cast<int>(inputs), 3, random_);
    } while (!op.accepts(shapes) || NumElements(*Broadcast(shapes)) > 100000);
    for (const Shape& shape : shapes) views_.push_back(MakeView(shape, Layout::kMixed, random_));
    views_.push_back(MakeView(op.output_shape(shapes), Layout::kMixed, random_));
    for (const View& view : views_) {
      auto& storages = storages_.emplace_back();
      for (size_t i = 0; i < kStorages; ++i) storages.emplace_back(view, random_);
      chosen_.push_back(0);
    }
  }
  ~Subject() { aclrtFree(workspace_); }
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  RandomNumbers& random() { return random_; }
  size_t operands() const { return views_.size(); }
  Storage& storage(size_t operand) { return storages_[operand][chosen_[operand]]; }

  std::vector<aclTensor*> Tensors() {
    std::vector<aclTensor*> tensors;
    for (size_t k = 0; k < views_.size(); ++k) {
      const View& view = views_[k];
      tensors.push_back(aclCreateTensor(view.shape.data(), view.shape.size(), ACL_FLOAT,
                                        view.pass_strides ? view.strides.data() : nullptr, view.offset,
                                        ACL_FORMAT_ND, view.storage_dims.data(), view.storage_dims.size(),
                                        storage(k).address()));
    }
    return tensors;
  }

  aclOpExecutor* Plan(const std::vector<aclTensor*>& tensors) {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(op_.binding.plan(tensors, attributes_, &size, &executor), 0) << aclGetRecentErrMsg();
    if (size > 0 && workspace_ == nullptr) {
      EXPECT_EQ(aclrtMalloc(&workspace_, size, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    }
    workspace_size_ = size;
    return executor;
  }

  aclnnStatus Run(aclOpExecutor* executor, aclrtStream stream) {
    return op_.binding.run(workspace_, workspace_size_, executor, stream);
  }

  // Gives some operands another storage, through any of the functions.
  void ChangeAddresses(aclOpExecutor* executor, aclTensor* any) {
    const size_t output = operands() - 1;
    const int64_t changes = random_.Below(7);
    for (int64_t i = 0; i < changes; ++i) {
      const auto operand = static_cast<size_t>(random_.Below(static_cast<int64_t>(operands())));
      chosen_[operand] = static_cast<size_t>(random_.Below(kStorages));
      void* const address = storage(operand).address();
      const int64_t way = random_.Below(4);
      if (way == 0) {
        EXPECT_EQ(aclSetTensorAddr(executor, operand, any, address), 0);
      } else if (way == 1) {
        EXPECT_EQ(AclSetTensorAddr(executor, operand, any, address), 0);
      } else if (operand == output) {
        const auto set = way == 2 ? aclSetOutputTensorAddr : AclSetOutputTensorAddr;
        // What is set last counts.
        EXPECT_EQ(set(executor, 0, any, nullptr), 0);
        EXPECT_EQ(set(executor, 0, any, address), 0);
      } else {
        const auto set = way == 2 ? aclSetInputTensorAddr : AclSetInputTensorAddr;
        EXPECT_EQ(set(executor, operand, any, address), 0);
      }
    }
  }

  // The output's storage as a call leaves it that is made for the storages as they are.
  std::vector<char> Expected(aclrtStream stream) {
    Storage& out = storage(operands() - 1);
    const Storage before = out;
    const std::vector<aclTensor*> tensors = Tensors();
    EXPECT_EQ(Run(Plan(tensors), stream), 0);
    EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
    for (const aclTensor* one : tensors) aclDestroyTensor(one);
    std::vector<char> result = out.bytes();
    out.Assign(before);
    return result;
  }

 private:
  const NumericDescription& op_;
  RandomNumbers random_;
  Attributes attributes_;
  std::vector<View> views_;
  std::vector<std::vector<Storage>> storages_;
  std::vector<size_t> chosen_;
  void* workspace_ = nullptr;
  uint64_t workspace_size_ = 0;
};

class ExecutorChanges : public ::testing::TestWithParam<const NumericDescription*> {
 protected:
  static constexpr int kRounds = 30;
  ScopedEnvironment environment_{{{"PORTACL_NUM_THREADS", "2"}}};
};

// The tensors describe something else, or are gone; what the data is, is decided by phase 2.
TEST_P(ExecutorChanges, TensorsAndData) {
  for (uint64_t round = 0; round < kRounds; ++round) {
    Subject subject(*GetParam(), round + 1);
    const std::vector<aclTensor*> tensors = subject.Tensors();
    aclOpExecutor* const executor = subject.Plan(tensors);
    float elsewhere[4] = {};
    const int64_t dims[] = {2, 2};
    for (aclTensor* one : tensors) {
      const int64_t way = subject.random().Below(3);
      if (way == 0) {
        EXPECT_EQ(aclSetRawTensorAddr(one, elsewhere), 0);
      } else if (way == 1) {
        EXPECT_EQ(aclInitTensor(one, dims, 2, ACL_DOUBLE, nullptr, 1, ACL_FORMAT_NCHW, dims, 2, nullptr), 0);
      }
      aclDestroyTensor(one);
    }
    for (size_t k = 0; k + 1 < subject.operands(); ++k) subject.storage(k).Fill(subject.random());
    const std::vector<char> expected = subject.Expected(environment_.stream());
    ASSERT_EQ(subject.Run(executor, environment_.stream()), 0);
    ASSERT_EQ(aclrtSynchronizeStream(environment_.stream()), 0);
    EXPECT_EQ(subject.storage(subject.operands() - 1).bytes(), expected) << round;
  }
}

void ChangeAddresses(const NumericDescription& op, uint64_t seed, aclrtStream stream, bool repeatable) {
  Subject subject(op, seed);
  const int64_t one = 1;
  aclTensor* const any = aclCreateTensor(&one, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &one, 1, nullptr);
  aclOpExecutor* executor = nullptr;
  for (int run = 0; run < 5; ++run) {
    if (executor == nullptr) {
      const std::vector<aclTensor*> tensors = subject.Tensors();
      executor = subject.Plan(tensors);
      for (const aclTensor* tensor : tensors) aclDestroyTensor(tensor);
      if (repeatable) {
        EXPECT_EQ(aclSetAclOpExecutorRepeatable(executor), 0);
      }
    }
    subject.ChangeAddresses(executor, any);
    const std::vector<char> expected = subject.Expected(stream);
    // Half of them are queued.
    if (subject.random().Below(2) == 0) {
      EXPECT_EQ(aclrtLaunchHostFunc(
                    stream, [](void*) { usleep(200); }, nullptr),
                0);
    }
    ASSERT_EQ(subject.Run(executor, stream), 0);
    // A queued run keeps its addresses.
    if (repeatable) {
      EXPECT_EQ(aclSetTensorAddr(executor, 0, any, nullptr), 0);
      EXPECT_EQ(aclSetTensorAddr(executor, 0, any, subject.storage(0).address()), 0);
    } else {
      executor = nullptr;
    }
    ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
    ASSERT_EQ(subject.storage(subject.operands() - 1).bytes(), expected) << seed << " " << run;
  }
  if (executor != nullptr) {
    EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
  }
  aclDestroyTensor(any);
}

TEST_P(ExecutorChanges, Addresses) {
  for (uint64_t round = 0; round < kRounds; ++round) {
    ChangeAddresses(*GetParam(), 100 + round, environment_.stream(), round % 2 == 0);
  }
}

// Each thread with executors of its own.
TEST_P(ExecutorChanges, AddressesInSeveralThreads) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), 0);
  std::vector<std::thread> threads;
  for (uint64_t k = 0; k < 3; ++k) {
    threads.emplace_back([this, context, k] {
      aclrtStream stream = nullptr;
      EXPECT_EQ(aclrtSetCurrentContext(context), 0);
      EXPECT_EQ(aclrtCreateStream(&stream), 0);
      for (uint64_t round = 0; round < kRounds / 3; ++round) {
        ChangeAddresses(*GetParam(), 1000 * (k + 1) + round, stream, round % 2 == 0);
      }
      EXPECT_EQ(aclrtDestroyStream(stream), 0);
    });
  }
  for (std::thread& one : threads) one.join();
}

// Phase 1 in one thread, which ends; phase 2 in another.
TEST_P(ExecutorChanges, Threads) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), 0);
  for (uint64_t round = 0; round < kRounds / 3; ++round) {
    Subject subject(*GetParam(), 5000 + round);
    const std::vector<char> expected = subject.Expected(environment_.stream());
    aclOpExecutor* executor = nullptr;
    std::thread([&] {
      EXPECT_EQ(aclrtSetCurrentContext(context), 0);
      const std::vector<aclTensor*> tensors = subject.Tensors();
      executor = subject.Plan(tensors);
      for (const aclTensor* one : tensors) aclDestroyTensor(one);
    }).join();
    ASSERT_NE(executor, nullptr);
    // A stream of no thread's, from a thread without a device.
    std::thread([&] { EXPECT_EQ(subject.Run(executor, environment_.stream()), 0); }).join();
    ASSERT_EQ(aclrtSynchronizeStream(environment_.stream()), 0);
    EXPECT_EQ(subject.storage(subject.operands() - 1).bytes(), expected) << round;
  }
}

// Numbers in device memory.
template <class Number>
class DeviceNumbers {
 public:
  explicit DeviceNumbers(const std::vector<Number>& numbers) : bytes_(numbers.size() * sizeof(Number)) {
    EXPECT_EQ(aclrtMalloc(&address_, bytes_, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    EXPECT_EQ(aclrtMemcpy(address_, bytes_, numbers.data(), bytes_, ACL_MEMCPY_HOST_TO_DEVICE), 0);
  }
  ~DeviceNumbers() { aclrtFree(address_); }
  DeviceNumbers(const DeviceNumbers&) = delete;
  DeviceNumbers& operator=(const DeviceNumbers&) = delete;

  void* address() const { return address_; }
  std::vector<Number> Values() const {
    std::vector<Number> values(bytes_ / sizeof(Number));
    EXPECT_EQ(aclrtMemcpy(values.data(), bytes_, address_, bytes_, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    return values;
  }

 private:
  size_t bytes_;
  void* address_ = nullptr;
};

// An index counts the tensors of the C function, though the call may have them in another order (QuantMatmulV5:
// x1, x2, x1Scale, x2Scale ...; the null ones count, too).
TEST(AddressesByIndex, OfAFunctionWhoseCallHasAnotherOrder) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", "Ascend910B1"}});
  const auto tensor = [](const std::vector<int64_t>& shape, aclDataType dtype, void* data) {
    return aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                           shape.size(), data);
  };
  const DeviceNumbers<int8_t> x1(std::vector<int8_t>(2 * 32, 1));
  const DeviceNumbers<int8_t> x2(std::vector<int8_t>(32 * 2, 2));
  const DeviceNumbers<float> ones({1, 1});
  const DeviceNumbers<uint16_t> unused({0, 0, 0, 0});
  const std::vector<aclTensor*> tensors = {
      tensor({2, 32}, ACL_INT8, x1.address()), tensor({32, 2}, ACL_INT8, x2.address()),
      tensor({2}, ACL_FLOAT, ones.address()), tensor({2}, ACL_FLOAT, ones.address()),
      tensor({2, 2}, ACL_BF16, unused.address())};
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnQuantMatmulV5GetWorkspaceSize(tensors[0], tensors[1], tensors[2], tensors[3], nullptr,
                                               nullptr, nullptr, nullptr, nullptr, false, false, 0,
                                               tensors[4], &size, &executor),
            0);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), 0);
  const DeviceNumbers<char> workspace(std::vector<char>(size + 1));
  const std::vector<float> of_rows = {0.5f, 2};
  const std::vector<float> of_columns = {0.25f, 8};
  const DeviceNumbers<float> row_scales(of_rows);
  const DeviceNumbers<float> column_scales(of_columns);
  const DeviceNumbers<uint16_t> result({0, 0, 0, 0});
  EXPECT_EQ(aclSetInputTensorAddr(executor, 2, tensors[2], row_scales.address()), 0);
  EXPECT_EQ(aclSetInputTensorAddr(executor, 3, tensors[3], column_scales.address()), 0);
  EXPECT_EQ(aclSetInputTensorAddr(executor, 9, tensors[3], column_scales.address()), 161002);
  EXPECT_EQ(aclSetOutputTensorAddr(executor, 0, tensors[4], result.address()), 0);
  EXPECT_EQ(aclSetTensorAddr(executor, 9, tensors[4], result.address()), 0);
  EXPECT_EQ(aclSetTensorAddr(executor, 10, tensors[4], result.address()), 161002);
  ASSERT_EQ(aclnnQuantMatmulV5(workspace.address(), size, executor, environment.stream()), 0);
  ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
  // 32 products of 2, times a row's and a column's scale, as bfloat16: the upper half of float32.
  const std::vector<uint16_t> values = result.Values();
  for (size_t i = 0; i < 4; ++i) {
    const float expected = 64 * of_rows[i / 2] * of_columns[i % 2];
    uint32_t bits;
    std::memcpy(&bits, &expected, sizeof bits);
    EXPECT_EQ(values[i], bits >> 16) << i;
  }
  EXPECT_EQ(unused.Values(), std::vector<uint16_t>(4));
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
  for (const aclTensor* one : tensors) aclDestroyTensor(one);
}

INSTANTIATE_TEST_SUITE_P(Of, ExecutorChanges, ::testing::ValuesIn(OperatorsAndReductions()),
                         [](const auto& one) {
                           return one.param->binding.name + "_" + std::to_string(one.index);
                         });

}  // namespace
}  // namespace portacl::testing
