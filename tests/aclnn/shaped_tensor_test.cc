// Tensors that phase 2 gives a shape: destroyed, made anew at the same address, made another tensor between the phases, by any thread.
// What they were is left alone, whatever lies there now, and the elements are written all the same.
// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "acl/runtime_fixture.h"
#include "aclnnop/families/indexing.h"
#include "aclnnop/families/sort.h"

namespace {

constexpr int64_t kCount = 85;    // elements that are found
constexpr int64_t kRoomFor = 96;  // and that there are

struct Memory {
  std::vector<float> self = std::vector<float>(kRoomFor);
  std::vector<uint8_t> mask = std::vector<uint8_t>(kRoomFor);
  std::vector<int64_t> places = std::vector<int64_t>(4 * kRoomFor);
  std::vector<float> values = std::vector<float>(kRoomFor);
  std::vector<int64_t> inverse = std::vector<int64_t>(kRoomFor);
  std::vector<int64_t> counts = std::vector<int64_t>(kRoomFor);

  Memory() {
    for (size_t i = 0; i < kRoomFor; ++i) {
      const bool is_found = i < kCount;
      mask[i] = is_found ? 1 : 0;
      self[i] = is_found ? static_cast<float>(i + 1) : 0;
    }
  }
};

aclTensor* Tensor(std::vector<int64_t> shape, aclDataType dtype, void* data) {
  return aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                         shape.size(), data);
}

std::vector<int64_t> ShapeOf(const aclTensor* tensor) {
  int64_t* dims = nullptr;
  uint64_t rank = 0;
  EXPECT_EQ(aclGetViewShape(tensor, &dims, &rank), ACL_SUCCESS);
  std::vector<int64_t> shape(dims, dims + rank);
  delete[] dims;
  return shape;
}

// An operator, what it is given, and what it finds.
struct Operator {
  const char* name;
  std::vector<int64_t> room;   // the shape of the tensor that phase 2 shapes
  std::vector<int64_t> found;  // and what it is then
  aclDataType dtype;
  bool gives_values;
  aclnnStatus (*plan)(Memory& memory, aclTensor* out, aclTensor* counts, uint64_t* size,
                      aclOpExecutor** executor);
  aclnnStatus (*run)(void* workspace, uint64_t size, aclOpExecutor* executor, aclrtStream stream);
  std::vector<int64_t> found_counts = {};  // of a second one
};

void PrintTo(const Operator& one, std::ostream* out) { *out << one.name; }

struct Inputs {
  explicit Inputs(Memory& memory)
      : self(Tensor({kRoomFor}, ACL_FLOAT, memory.self.data())),
        mask(Tensor({kRoomFor}, ACL_BOOL, memory.mask.data())),
        inverse(Tensor({kRoomFor}, ACL_INT64, memory.inverse.data())) {}
  ~Inputs() {
    for (aclTensor* one : {self, mask, inverse}) aclDestroyTensor(one);
  }
  Inputs(const Inputs&) = delete;
  aclTensor* self;
  aclTensor* mask;
  aclTensor* inverse;
};

// Of the unique ones, 0 is one more.
const Operator kOperators[] = {
    {"Nonzero",
     {kRoomFor, 1},
     {kCount, 1},
     ACL_INT64,
     false,
     [](Memory& memory, aclTensor* out, aclTensor*, uint64_t* size, aclOpExecutor** executor) {
       const Inputs in(memory);
       return aclnnNonzeroGetWorkspaceSize(in.self, out, size, executor);
     },
     aclnnNonzero},
    {"NonzeroV2",
     {1, kRoomFor},
     {1, kCount},
     ACL_INT64,
     false,
     [](Memory& memory, aclTensor* out, aclTensor*, uint64_t* size, aclOpExecutor** executor) {
       const Inputs in(memory);
       return aclnnNonzeroV2GetWorkspaceSize(in.self, out, size, executor);
     },
     aclnnNonzeroV2},
    {"MaskedSelect",
     {kRoomFor},
     {kCount},
     ACL_FLOAT,
     true,
     [](Memory& memory, aclTensor* out, aclTensor*, uint64_t* size, aclOpExecutor** executor) {
       const Inputs in(memory);
       return aclnnMaskedSelectGetWorkspaceSize(in.self, in.mask, out, size, executor);
     },
     aclnnMaskedSelect},
    {"Unique",
     {kRoomFor},
     {kCount + 1},
     ACL_FLOAT,
     true,
     [](Memory& memory, aclTensor* out, aclTensor*, uint64_t* size, aclOpExecutor** executor) {
       const Inputs in(memory);
       return aclnnUniqueGetWorkspaceSize(in.self, true, true, out, in.inverse, size, executor);
     },
     aclnnUnique},
    {"Unique2",
     {kRoomFor},
     {kCount + 1},
     ACL_FLOAT,
     true,
     [](Memory& memory, aclTensor* out, aclTensor* counts, uint64_t* size, aclOpExecutor** executor) {
       const Inputs in(memory);
       return aclnnUnique2GetWorkspaceSize(in.self, true, true, true, out, in.inverse, counts, size,
                                           executor);
     },
     aclnnUnique2,
     {kCount + 1}},
    {"UniqueConsecutive",
     {kRoomFor},
     {kCount + 1},
     ACL_FLOAT,
     true,
     [](Memory& memory, aclTensor* out, aclTensor* counts, uint64_t* size, aclOpExecutor** executor) {
       const Inputs in(memory);
       return aclnnUniqueConsecutiveGetWorkspaceSize(in.self, true, true, 1000, out, in.inverse, counts, size,
                                                     executor);
     },
     aclnnUniqueConsecutive,
     {kCount + 1}},
};

class ShapedTensorTest : public RuntimeTest, public ::testing::WithParamInterface<Operator> {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    out_ = NewOut();
    counts_ = NewCounts();
    uint64_t size = 0;
    ASSERT_EQ(GetParam().plan(memory_, out_, counts_, &size, &executor_), ACL_SUCCESS)
        << aclGetRecentErrMsg();
    ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor_), ACL_SUCCESS);
    workspace_size_ = size;
    if (size > 0) {
      ASSERT_EQ(aclrtMalloc(&workspace_, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    }
  }
  void TearDown() override {
    EXPECT_EQ(aclDestroyAclOpExecutor(executor_), ACL_SUCCESS);
    aclDestroyTensor(out_);
    aclDestroyTensor(counts_);
    aclrtFree(workspace_);
    RuntimeTest::TearDown();
  }

  void* data() {
    return GetParam().gives_values ? static_cast<void*>(memory_.values.data()) : memory_.places.data();
  }
  aclTensor* NewOut() { return Tensor(GetParam().room, GetParam().dtype, data()); }
  aclTensor* NewCounts() { return Tensor({kRoomFor}, ACL_INT64, memory_.counts.data()); }
  bool HasCounts() const { return !GetParam().found_counts.empty(); }

  // One more run writes the elements.
  void Run() {
    std::fill(memory_.places.begin(), memory_.places.end(), -1);
    std::fill(memory_.values.begin(), memory_.values.end(), -1.0f);
    std::fill(memory_.counts.begin(), memory_.counts.end(), -1);
    ASSERT_EQ(GetParam().run(workspace_, workspace_size_, executor_, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    const bool is_unique = HasCounts() || std::strcmp(GetParam().name, "Unique") == 0;
    const bool begins_with_zero = is_unique && std::strcmp(GetParam().name, "UniqueConsecutive") != 0;
    for (size_t i = 0; i < kCount; ++i) {
      if (GetParam().gives_values) {
        ASSERT_EQ(memory_.values[i + (begins_with_zero ? 1 : 0)], static_cast<float>(i + 1)) << i;
      } else {
        ASSERT_EQ(memory_.places[i], static_cast<int64_t>(i));
      }
    }
    if (HasCounts()) {
      ASSERT_EQ(memory_.counts[begins_with_zero ? 0 : kCount], kRoomFor - kCount);
    }
  }

  Memory memory_;
  aclTensor* out_ = nullptr;
  aclTensor* counts_ = nullptr;
  aclOpExecutor* executor_ = nullptr;
  void* workspace_ = nullptr;
  uint64_t workspace_size_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Operators, ShapedTensorTest, ::testing::ValuesIn(kOperators),
                         [](const auto& one) { return std::string(one.param.name); });

TEST_P(ShapedTensorTest, GetsItsShapeEachTime) {
  for (int i = 0; i < 3; ++i) {
    Run();
    EXPECT_EQ(ShapeOf(out_), GetParam().found);
    if (HasCounts()) {
      EXPECT_EQ(ShapeOf(counts_), GetParam().found_counts);
    }
  }
  // One of the two is enough to go.
  aclDestroyTensor(std::exchange(out_, nullptr));
  Run();
}

TEST_P(ShapedTensorTest, IsDestroyed) {
  aclDestroyTensor(std::exchange(out_, nullptr));
  for (int i = 0; i < 3; ++i) Run();
  aclDestroyTensor(std::exchange(counts_, nullptr));
  for (int i = 0; i < 3; ++i) Run();
}

TEST_P(ShapedTensorTest, IsDestroyedByAnotherThread) {
  std::thread([this] {
    aclDestroyTensor(std::exchange(out_, nullptr));
    aclDestroyTensor(std::exchange(counts_, nullptr));
  }).join();
  Run();
}

// A new tensor that has the address of the old one keeps the shape that it was made with. So does what else the program keeps there.
TEST_P(ShapedTensorTest, IsFollowedByAnotherAtItsAddress) {
  const std::vector<int64_t> shape = {5, 3, 2};
  const bool is_of_counts[] = {false, true};
  for (const bool of_counts : is_of_counts) {
    if (of_counts && !HasCounts()) continue;
    aclTensor*& old = of_counts ? counts_ : out_;
    const void* const address = std::exchange(old, nullptr);
    aclDestroyTensor(static_cast<const aclTensor*>(address));
    std::vector<aclTensor*> made;
    aclTensor* at_address = nullptr;
    for (int i = 0; i < 10000 && at_address == nullptr; ++i) {
      made.push_back(Tensor(shape, ACL_FLOAT, memory_.values.data()));
      if (made.back() == address) at_address = made.back();
    }
    Run();
    // A sanitizer's allocator keeps freed memory back: there is no such tensor then, and the run itself would be told of.
    if (at_address != nullptr) {
      EXPECT_EQ(ShapeOf(at_address), shape);
    }
    for (const aclTensor* one : made) aclDestroyTensor(one);
  }
}

TEST_P(ShapedTensorTest, IsMadeAnotherTensor) {
  const std::vector<int64_t> shape = {7, 2};
  ASSERT_EQ(aclInitTensor(out_, shape.data(), shape.size(), GetParam().dtype, nullptr, 0, ACL_FORMAT_ND,
                          shape.data(), shape.size(), data()),
            ACL_SUCCESS);
  Run();
  EXPECT_EQ(ShapeOf(out_), shape);
  if (HasCounts()) {
    EXPECT_EQ(ShapeOf(counts_), GetParam().found_counts);
  }
}

// Another address is the same tensor.
TEST_P(ShapedTensorTest, KeepsItsTensorWithAnotherAddress) {
  ASSERT_EQ(aclSetRawTensorAddr(out_, nullptr), ACL_SUCCESS);
  Run();
  EXPECT_EQ(ShapeOf(out_), GetParam().found);
}

// Several executors wait for one tensor, and one of them ends first.
TEST_P(ShapedTensorTest, HasSeveralExecutors) {
  std::vector<aclOpExecutor*> others(5);
  for (aclOpExecutor*& one : others) {
    uint64_t size = 0;
    ASSERT_EQ(GetParam().plan(memory_, out_, counts_, &size, &one), ACL_SUCCESS) << aclGetRecentErrMsg();
  }
  ASSERT_EQ(aclDestroyAclOpExecutor(others[2]), ACL_SUCCESS);
  Run();
  EXPECT_EQ(ShapeOf(out_), GetParam().found);
  aclDestroyTensor(std::exchange(out_, nullptr));
  Run();
  for (const size_t i : {0, 1, 3, 4}) {
    ASSERT_EQ(GetParam().run(workspace_, workspace_size_, others[i], stream_), ACL_SUCCESS);
  }
}

// Destroyed while phase 2 runs: before its shape is set, or after.
TEST_P(ShapedTensorTest, IsDestroyedWhilePhase2Runs) {
  const Watchdog watchdog;
  for (int i = 0; i < 200; ++i) {
    aclTensor* const own = NewOut();
    aclTensor* const own_counts = NewCounts();
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(GetParam().plan(memory_, own, own_counts, &size, &executor), ACL_SUCCESS);
    std::atomic<bool> begins{false};
    std::thread other([&] {
      while (!begins.load()) std::this_thread::yield();
      aclDestroyTensor(own);
      aclDestroyTensor(own_counts);
    });
    begins.store(true);
    EXPECT_EQ(GetParam().run(workspace_, workspace_size_, executor, stream_), ACL_SUCCESS);
    other.join();
  }
}

// In a forked child as well, while other threads of the parent plan and destroy.
TEST_P(ShapedTensorTest, IsDestroyedInAForkedChild) {
  const Watchdog watchdog;
  std::atomic<bool> ends{false};
  std::thread busy([&] {
    while (!ends.load()) {
      aclTensor* const own = NewOut();
      uint64_t size = 0;
      aclOpExecutor* executor = nullptr;
      EXPECT_EQ(GetParam().plan(memory_, own, counts_, &size, &executor), ACL_SUCCESS);
      aclDestroyTensor(own);
      aclDestroyAclOpExecutor(executor);
    }
  });
  for (int i = 0; i < 5; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(kPatienceSeconds);
      aclDestroyTensor(out_);
      _exit(GetParam().run(workspace_, workspace_size_, executor_, stream_) == ACL_SUCCESS ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  ends.store(true);
  busy.join();
}

}  // namespace
