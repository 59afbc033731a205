// Every operator with tensors that are as odd as a caller may make them, against the same call with plain ones: strides that no element
// depends on, which may be any numbers, and addresses that are no multiples of an element's size.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "operator_calls.h"
#include "support/patience.h"

namespace portacl::testing {
namespace {

// What a call answers and leaves behind.
struct Answer {
  aclnnStatus planned = 0;
  uint64_t workspace_size = 0;
  aclnnStatus run = 0;
  aclError finished = 0;
  std::vector<std::byte> memory;
};

std::string Difference(const Answer& answer, const Answer& expected) {
  std::string text;
  const auto differ = [&](const char* what, auto is, auto should_be) {
    if (is == should_be) return;
    text += std::string(text.empty() ? "" : ", ") + what + " " + std::to_string(is) + ", expected " +
            std::to_string(should_be);
  };
  differ("phase 1", answer.planned, expected.planned);
  differ("workspace", answer.workspace_size, expected.workspace_size);
  differ("phase 2", answer.run, expected.run);
  differ("synchronisation", answer.finished, expected.finished);
  const auto [at, of] = std::mismatch(answer.memory.begin(), answer.memory.end(), expected.memory.begin());
  if (at != answer.memory.end())
    differ(("byte " + std::to_string(at - answer.memory.begin())).c_str(), std::to_integer<int>(*at),
           std::to_integer<int>(*of));
  return text;
}

struct Oddity {
  std::optional<int64_t> unread =
      {};              // the strides of what has one element or none, and the offset of nothing
  int64_t factor = 1;  // of all strides
  aclFormat format = ACL_FORMAT_ND;
  int misplaced = 0;  // how many bytes behind an aligned address each tensor lies
};

struct Tensors {
  std::vector<int64_t> shape;
  aclDataType dtype;
  aclDataType last_dtype;
  int64_t reduction;
};

// A call whose tensors all have one shape and lie densely, but for what is odd.
Answer AnswerOf(const OperatorCall& call, const Tensors& all, const Oddity& odd) {
  constexpr size_t kBytes = 4096;
  const std::vector<int64_t>& shape = all.shape;
  const bool is_empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  std::vector<int64_t> strides(shape.size());
  int64_t dense = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    strides[dim] = odd.unread && (shape[dim] == 1 || is_empty) ? *odd.unread : dense * odd.factor;
    dense *= shape[dim];
  }
  const size_t bytes = kBytes * static_cast<size_t>(call.tensors);
  constexpr size_t kWidest = 16;
  std::vector<std::byte> memory(bytes + kWidest);
  std::byte* const start = memory.data() + odd.misplaced;
  for (size_t i = 0; i < bytes; ++i) start[i] = std::byte(i % 5 == 0 ? 1 : 0);
  std::vector<aclTensor*> tensors;
  for (int i = 0; i < call.tensors; ++i) {
    const aclDataType dtype = i + 1 == call.tensors ? all.last_dtype : all.dtype;
    tensors.push_back(aclCreateTensor(shape.data(), shape.size(), dtype, strides.data(),
                                      odd.unread && is_empty ? *odd.unread : 0, odd.format, shape.data(),
                                      shape.size(), start + kBytes * static_cast<size_t>(i)));
  }
  CallAttributes attributes;
  attributes.reduction = all.reduction;
  attributes.log_target = all.reduction == 1;
  attributes.misplaced = odd.misplaced;
  Answer answer;
  aclOpExecutor* executor = nullptr;
  answer.planned = call.plan(tensors, attributes, &answer.workspace_size, &executor);
  if (answer.planned == 0) {
    std::vector<std::byte> workspace(answer.workspace_size);
    answer.run = call.run(workspace.data(), workspace.size(), executor, nullptr);
    answer.finished = aclrtSynchronizeStream(nullptr);
  }
  for (const aclTensor* const tensor : tensors) aclDestroyTensor(tensor);
  DestroyResults();
  if (!call.keeps_state) answer.memory.assign(start, start + bytes);
  return answer;
}

class OddTensors : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("PORTACL_INDEX_ERRORS", "ignore", 1);
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  }
  static void TearDownTestSuite() {
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    unsetenv("PORTACL_INDEX_ERRORS");
  }
  // Ends what never would.
  OddTensors() { alarm(kPatienceSeconds); }
  ~OddTensors() override { alarm(0); }

  // How many calls are accepted.
  static int Compare(
      const std::vector<std::vector<int64_t>>& shapes, const std::vector<Oddity>& oddities,
      const std::vector<std::pair<aclDataType, aclDataType>>& dtypes = {
          {ACL_FLOAT, ACL_FLOAT}, {ACL_INT64, ACL_INT64}, {ACL_FLOAT, ACL_BOOL}, {ACL_BOOL, ACL_BOOL}}) {
    int accepted = 0;
    for (const OperatorCall& call : OperatorCalls()) {
      for (const std::vector<int64_t>& shape : shapes) {
        for (const auto& [dtype, last_dtype] : dtypes) {
          for (const int64_t reduction : {0, 1}) {
            const Tensors tensors{shape, dtype, last_dtype, reduction};
            const Answer plain = AnswerOf(call, tensors, {});
            accepted += plain.planned == 0 ? 1 : 0;
            for (const Oddity& odd : oddities) {
              const Answer answer = AnswerOf(call, tensors, odd);
              EXPECT_EQ(Difference(answer, plain), "")
                  << call.name << ", rank " << shape.size() << ", dtype " << dtype << ", reduction "
                  << reduction << ", stride " << odd.unread.value_or(-1) << ", misplaced " << odd.misplaced;
              if (plain.planned != 0) break;  // refused for what all share
            }
          }
        }
      }
    }
    return accepted;
  }
};

TEST_F(OddTensors, StridesThatNothingReadsDoNotMatter) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_GT(
      Compare(
          {{1}, {1, 1}, {3, 1}, {1, 3}, {1, 3, 1}, {0, 3}, {1, 0}, {2, 1, 3}, {1, 2, 1, 3}, {2, 1, 1, 3, 1}},
          {{.unread = kMost}, {.unread = std::numeric_limits<int64_t>::min()}, {.unread = kMost / 2}}),
      1000);
}

TEST_F(OddTensors, AddressesDoNotMatter) {
  EXPECT_GT(Compare({{1}, {37}, {4, 4}, {3, 37}, {16, 16}, {5, 4, 6}, {1, 2, 8, 8}, {1, 2, 3, 4, 4}},
                    {{.misplaced = 1}},
                    {{ACL_FLOAT, ACL_FLOAT},
                     {ACL_DOUBLE, ACL_DOUBLE},
                     {ACL_FLOAT16, ACL_FLOAT16},
                     {ACL_BF16, ACL_BF16},
                     {ACL_INT16, ACL_INT16},
                     {ACL_INT32, ACL_INT32},
                     {ACL_INT64, ACL_INT64},
                     {ACL_COMPLEX64, ACL_COMPLEX64},
                     {ACL_COMPLEX128, ACL_COMPLEX128},
                     {ACL_FLOAT, ACL_INT64},
                     {ACL_FLOAT, ACL_INT32},
                     {ACL_FLOAT, ACL_BOOL},
                     {ACL_FLOAT16, ACL_FLOAT},
                     {ACL_FLOAT, ACL_DOUBLE}}),
            1000);
}

// A tensor in a private format counts as dense; products, which may read one by its strides, refuse those that lead out of its storage.
TEST_F(OddTensors, StridesOfPrivateFormatsDoNotMatter) {
  int accepted = 0;
  for (const OperatorCall& call : OperatorCalls()) {
    for (const std::vector<int64_t>& shape : {std::vector<int64_t>{4}, {3, 3}, {2, 3, 3}, {2, 2, 3, 3}}) {
      for (const aclDataType dtype : {ACL_FLOAT, ACL_INT32, ACL_BOOL}) {
        for (const aclFormat format : {ACL_FORMAT_FRACTAL_NZ, ACL_FORMAT_NC1HWC0}) {
          for (const int64_t reduction : {0, 1}) {
            const Tensors tensors{shape, dtype, dtype, reduction};
            const Answer odd = AnswerOf(call, tensors, {.factor = 3, .format = format});
            if (odd.planned != 0) continue;
            EXPECT_FALSE(call.takes_swapped) << call.name;
            const Answer plain = AnswerOf(call, tensors, {.format = format});
            EXPECT_EQ(Difference(odd, plain), "") << call.name << ", rank " << shape.size() << ", dtype "
                                                  << dtype << ", reduction " << reduction;
            ++accepted;
          }
        }
      }
    }
  }
  EXPECT_GT(accepted, 1000);
}

}  // namespace
}  // namespace portacl::testing
