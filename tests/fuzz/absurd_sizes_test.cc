// Sizes that no memory holds, of tensors that take none (strides of 0): phase 1 answers at once, whatever the length, refuses what cannot
// be counted, names what it cannot have memory for, and asks for no workspace of a size that wrapped.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/families/attention.h"
#include "aclnnop/families/convolution.h"
#include "aclnnop/families/image.h"
#include "aclnnop/families/indexing.h"
#include "aclnnop/families/linalg.h"
#include "aclnnop/families/matmul.h"
#include "aclnnop/families/moe.h"
#include "aclnnop/families/pooling.h"
#include "aclnnop/families/random.h"
#include "aclnnop/families/shape.h"
#include "aclnnop/families/sort.h"
#include "operator_calls.h"
#include "support/patience.h"

namespace portacl::testing {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t Two(int power) { return int64_t{1} << power; }

// All tensors and arrays of a call; the elements of all lie in one place.
class Arguments {
 public:
  Arguments() = default;
  Arguments(const Arguments&) = delete;
  ~Arguments() {
    for (const aclTensor* one : tensors_) aclDestroyTensor(one);
    for (const aclIntArray* one : arrays_) aclDestroyIntArray(one);
    for (const aclScalar* one : scalars_) aclDestroyScalar(one);
  }

  aclTensor* Repeated(std::vector<int64_t> shape, aclDataType dtype = ACL_FLOAT,
                      aclFormat format = ACL_FORMAT_ND) {
    const std::vector<int64_t> strides(shape.size(), 0);
    const int64_t one = 1;
    return tensors_.emplace_back(
        aclCreateTensor(shape.data(), shape.size(), dtype, strides.data(), 0, format, &one, 1, memory_));
  }
  aclTensor* Dense(std::vector<int64_t> shape, aclDataType dtype = ACL_FLOAT,
                   aclFormat format = ACL_FORMAT_ND) {
    return tensors_.emplace_back(aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, format,
                                                 shape.data(), shape.size(), memory_));
  }
  aclIntArray* Array(std::vector<int64_t> values) {
    return arrays_.emplace_back(aclCreateIntArray(values.data(), values.size()));
  }
  aclScalar* Number(float value) { return scalars_.emplace_back(aclCreateScalar(&value, ACL_FLOAT)); }

 private:
  static inline std::byte memory_[256];
  std::vector<aclTensor*> tensors_;
  std::vector<aclIntArray*> arrays_;
  std::vector<aclScalar*> scalars_;
};

using Plan = std::function<aclnnStatus(Arguments& a, uint64_t* size, aclOpExecutor** executor)>;

struct Case {
  std::string name;
  aclnnStatus code;
  std::vector<std::string> words;
  Plan plan;
};

aclnnStatus Attention(Arguments& a, std::vector<int64_t> shape, std::vector<int64_t> statistics,
                      const char* layout, int64_t heads, uint64_t* size, aclOpExecutor** executor) {
  std::string text = layout;
  const auto half = [&] { return a.Repeated(shape, ACL_FLOAT16); };
  return aclnnFlashAttentionScoreGetWorkspaceSize(
      half(), half(), half(), nullptr, nullptr, nullptr, nullptr, nullptr, 1, 1, 65536, 65536, heads,
      text.data(), 0, 0, a.Repeated(statistics), a.Repeated(statistics), nullptr, half(), size, executor);
}

aclnnStatus AttentionGrad(Arguments& a, std::vector<int64_t> shape, std::vector<int64_t> statistics,
                          const char* layout, int64_t heads, uint64_t* size, aclOpExecutor** executor) {
  std::string text = layout;
  const auto half = [&] { return a.Repeated(shape, ACL_FLOAT16); };
  return aclnnFlashAttentionScoreGradGetWorkspaceSize(
      half(), half(), half(), half(), nullptr, nullptr, nullptr, nullptr, a.Repeated(statistics),
      a.Repeated(statistics), nullptr, half(), nullptr, 1, 1, 65536, 65536, heads, text.data(), 0, 0, half(),
      half(), half(), nullptr, size, executor);
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  const auto add = [&](std::string name, aclnnStatus code, std::vector<std::string> words, Plan plan) {
    cases.push_back({std::move(name), code, std::move(words), std::move(plan)});
  };
  // What cannot be counted is not empty.
  add("attention uncountable", 161002, {"aclnnFlashAttentionScore", "1152921504606846976"},
      [](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
        return Attention(a, {1, Two(60), 64}, {1, 1, Two(60), 8}, "BSH", 1, size, executor);
      });
  add("attention gradient uncountable", 161002, {"aclnnFlashAttentionScoreGrad", "1152921504606846976"},
      [](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
        return AttentionGrad(a, {1, Two(60), 64}, {1, 1, Two(60), 8}, "BSH", 1, size, executor);
      });
  add("convolution uncountable", 161002, {"aclnnConvolution", "1152921504606846976"},
      [](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
        const auto image = [&](std::vector<int64_t> shape) {
          return a.Repeated(shape, ACL_FLOAT, ACL_FORMAT_NCHW);
        };
        return aclnnConvolutionGetWorkspaceSize(
            image({1, 64, Two(60), 1}), image({64, 64, 1, 1}), nullptr, a.Array({1, 1}), a.Array({0, 0}),
            a.Array({1, 1}), false, a.Array({0, 0}), 1, image({1, 64, Two(60), 1}), 0, size, executor);
      });
  // Many batches are no table.
  for (const int power : {20, 28, 31, 40}) {
    add("attention of batch 2^" + std::to_string(power), 0, {},
        [power](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
          return Attention(a, {Two(power), 1, 64}, {Two(power), 1, 1, 8}, "BSH", 1, size, executor);
        });
    add("attention gradient of batch 2^" + std::to_string(power), 0, {},
        [power](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
          return AttentionGrad(a, {Two(power), 1, 64}, {Two(power), 1, 1, 8}, "BSH", 1, size, executor);
        });
  }
  // The workspace of the longest sums.
  for (const int64_t length : {Two(40), Two(62), kMost}) {
    add("dot of " + std::to_string(length), 0, {},
        [length](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
          return aclnnDotGetWorkspaceSize(a.Repeated({length}), a.Repeated({length}), a.Dense({}), size,
                                          executor);
        });
    add("mv of " + std::to_string(length), 0, {},
        [length](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
          return aclnnMvGetWorkspaceSize(a.Repeated({1, length}), a.Repeated({length}), a.Dense({1}), 0, size,
                                         executor);
        });
  }
  // 16-bit numbers are summed in FLOAT, in the workspace.
  add("scatter add of FLOAT16", 561101, {"aclnnTfScatterAdd", "varRef", std::to_string(Two(62))},
      [](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
        return aclnnTfScatterAddGetWorkspaceSize(a.Repeated({Two(62)}, ACL_FLOAT16),
                                                 a.Repeated({1}, ACL_INT64), a.Repeated({1}, ACL_FLOAT16),
                                                 size, executor);
      });
  add("nonzero of the most", 161002, {"aclnnNonzero", "self"},
      [](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
        return aclnnNonzeroGetWorkspaceSize(a.Repeated({kMost}, ACL_BOOL), a.Dense({kMost, 1}, ACL_INT64),
                                            size, executor);
      });
  // Places that INT32 does not hold.
  for (const bool is_int32 : {false, true}) {
    for (const int64_t length : {Two(31) - 1, Two(31), Two(31) + 1, Two(40)}) {
      const bool is_refused = is_int32 && length >= Two(31);
      const std::vector<std::string> words =
          is_refused ? std::vector<std::string>{"sortedSequence", std::to_string(length), "2147483647"}
                     : std::vector<std::string>{};
      const aclDataType places = is_int32 ? ACL_INT32 : ACL_INT64;
      add("search in " + std::to_string(length) + (is_int32 ? ", INT32" : ", INT64"), is_refused ? 161002 : 0,
          words, [=](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
            return aclnnSearchSortedGetWorkspaceSize(a.Repeated({length}), a.Dense({3}), is_int32, false,
                                                     nullptr, a.Dense({3}, places), size, executor);
          });
      add("search for one in " + std::to_string(length) + (is_int32 ? ", INT32" : ", INT64"),
          is_refused ? 161002 : 0, words, [=](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
            return aclnnSearchSortedsGetWorkspaceSize(a.Repeated({length}), a.Number(1), is_int32, false,
                                                      nullptr, a.Dense({}, places), size, executor);
          });
    }
  }
  // Tables over positions are none of phase 1.
  for (const int power : {22, 28, 40}) {
    const int64_t n = Two(power);
    const std::string of = " of 2^" + std::to_string(power);
    for (const bool is_column : {false, true}) {
      const auto image = [is_column](Arguments& a, int64_t length) {
        return a.Repeated(
            is_column ? std::vector<int64_t>{1, 1, length, 1} : std::vector<int64_t>{1, 1, 1, length},
            ACL_FLOAT, ACL_FORMAT_NCHW);
      };
      const auto sizes = [is_column](Arguments& a, int64_t length) {
        return a.Array(is_column ? std::vector<int64_t>{length, 1} : std::vector<int64_t>{1, length});
      };
      add("bicubic" + of, 0, {}, [=](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
        return aclnnUpsampleBicubic2dGetWorkspaceSize(image(a, n / 2), sizes(a, n), false, 0, 0, image(a, n),
                                                      size, executor);
      });
      add("bilinear gradient" + of, 0, {}, [=](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
        const aclIntArray* const input =
            a.Array(is_column ? std::vector<int64_t>{1, 1, n / 2, 1} : std::vector<int64_t>{1, 1, 1, n / 2});
        return aclnnUpsampleBilinear2dBackwardGetWorkspaceSize(image(a, n), sizes(a, n), input, false, 0, 0,
                                                               image(a, n / 2), size, executor);
      });
      add("nearest" + of, power < 31 ? 0 : 161002, {},
          [=](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
            return aclnnUpsampleNearest2dGetWorkspaceSize(image(a, n / 2), sizes(a, n), image(a, n), size,
                                                          executor);
          });
      add("im2col gradient" + of, 0, {}, [=](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
        const auto pair = [&](int64_t along, int64_t across) {
          return a.Array(is_column ? std::vector<int64_t>{along, across}
                                   : std::vector<int64_t>{across, along});
        };
        return aclnnIm2colBackwardGetWorkspaceSize(a.Repeated({1, 4, n - 3}), sizes(a, n), pair(4, 1),
                                                   pair(1, 1), pair(0, 0), pair(1, 1), image(a, n), size,
                                                   executor);
      });
      add("adaptive mean" + of, power < 31 ? 0 : 161002, {},
          [=](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
            return aclnnAdaptiveAvgPool2dGetWorkspaceSize(image(a, n), sizes(a, n / 2), image(a, n / 2), size,
                                                          executor);
          });
    }
    add("convolution" + of, 0, {}, [=](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
      const auto image = [&](int64_t length) {
        return a.Repeated({1, 1, length, 1}, ACL_FLOAT, ACL_FORMAT_NCHW);
      };
      return aclnnConvolutionGetWorkspaceSize(image(n), image(3), nullptr, a.Array({1, 1}), a.Array({0, 0}),
                                              a.Array({1, 1}), false, a.Array({0, 0}), 1, image(n - 2), 0,
                                              size, executor);
    });
    add("im2col" + of, 0, {}, [=](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
      return aclnnIm2colGetWorkspaceSize(a.Repeated({1, 1, n, 1}), a.Array({4, 1}), a.Array({1, 1}),
                                         a.Array({0, 0}), a.Array({1, 1}), a.Repeated({1, 4, n - 3}), size,
                                         executor);
    });
    add("permutation" + of, 0, {}, [=](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
      return aclnnRandpermGetWorkspaceSize(n, 1, 0, a.Dense({n}, ACL_INT64), size, executor);
    });
    add("repetitions" + of, 0, {}, [=](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
      return aclnnRepeatInterleaveGetWorkspaceSize(a.Repeated({n}), a.Repeated({n}, ACL_INT64), n,
                                                   a.Repeated({n}), size, executor);
    });
    add("unfold gradient" + of, 0, {}, [=](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
      return aclnnUnfoldGradGetWorkspaceSize(a.Repeated({n - 3, 4}), a.Array({n}), 0, 4, 1, a.Repeated({n}),
                                             size, executor);
    });
    add("reflection" + of, 0, {}, [=](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
      return aclnnReflectionPad1dGetWorkspaceSize(a.Repeated({1, n}), a.Array({5, 7}),
                                                  a.Repeated({1, n + 12}), size, executor);
    });
    add("reflection gradient" + of, 0, {}, [=](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
      return aclnnReflectionPad1dBackwardGetWorkspaceSize(
          a.Repeated({1, n + 12}), a.Repeated({1, n}), a.Array({5, 7}), a.Repeated({1, n}), size, executor);
    });
  }
  // What there is no memory for is named, with its size.
  constexpr int64_t kMany = int64_t{1} << 53;
  const std::vector<std::string> of_self = {"self", "[9007199254740992]", "9007199254740992"};
  add("sort", 561101, of_self, [](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
    return aclnnSortGetWorkspaceSize(a.Repeated({kMany}), false, 0, false, a.Repeated({kMany}),
                                     a.Repeated({kMany}, ACL_INT64), size, executor);
  });
  add("topk", 561101, of_self, [](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
    return aclnnTopkGetWorkspaceSize(a.Repeated({kMany}), 1, 0, true, true, a.Dense({1}),
                                     a.Dense({1}, ACL_INT64), size, executor);
  });
  add("kthvalue", 561101, of_self, [](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
    return aclnnKthvalueGetWorkspaceSize(a.Repeated({kMany}), 1, 0, false, a.Dense({}),
                                         a.Dense({}, ACL_INT64), size, executor);
  });
  add("median", 561101, of_self, [](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
    return aclnnMedianGetWorkspaceSize(a.Repeated({kMany}), a.Dense({}), size, executor);
  });
  add("median of a dim", 561101, of_self, [](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
    return aclnnMedianDimGetWorkspaceSize(a.Repeated({kMany}), 0, false, a.Dense({}), a.Dense({}, ACL_INT64),
                                          size, executor);
  });
  add("unique2", 561101, of_self, [](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
    return aclnnUnique2GetWorkspaceSize(a.Repeated({kMany}), true, false, false, a.Dense({kMany}),
                                        a.Dense({kMany}, ACL_INT64), a.Dense({kMany}, ACL_INT64), size,
                                        executor);
  });
  add("unique consecutive", 561101, of_self, [](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
    return aclnnUniqueConsecutiveGetWorkspaceSize(a.Repeated({kMany}), false, false, 1000, a.Dense({kMany}),
                                                  a.Dense({kMany}, ACL_INT64), a.Dense({kMany}, ACL_INT64),
                                                  size, executor);
  });
  add("unique dim", 561101, of_self, [](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
    return aclnnUniqueDimGetWorkspaceSize(a.Repeated({kMany}), true, false, 0, a.Dense({kMany}),
                                          a.Dense({kMany}, ACL_INT64), a.Dense({kMany}, ACL_INT64), size,
                                          executor);
  });
  add("slogdet", 561101, {"self", "1152921504606846976"},
      [](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
        return aclnnSlogdetGetWorkspaceSize(a.Repeated({Two(30), Two(30)}), a.Dense({}), a.Dense({}), size,
                                            executor);
      });
  add("only R", 561101, {"self", "1152921504606846976"},
      [](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
        return aclnnLinalgQrGetWorkspaceSize(a.Repeated({Two(60), 1}), 2, a.Dense({0}), a.Dense({1, 1}), size,
                                             executor);
      });
  add("inverse", 561101, {"self", "1152921504606846976"},
      [](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
        return aclnnInverseGetWorkspaceSize(a.Repeated({Two(30), Two(30)}), a.Dense({Two(30), Two(30)}), size,
                                            executor);
      });
  add("triangular solve", 561101, {"self", "1073741824"},
      [](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
        return aclnnTriangularSolveGetWorkspaceSize(a.Repeated({Two(30), 1}), a.Repeated({Two(30), Two(30)}),
                                                    true, false, false, a.Dense({Two(30), 1}), nullptr, size,
                                                    executor);
      });
  add("svd", 561101, {"input", "1152921504606846976"},
      [](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
        return aclnnSvdGetWorkspaceSize(a.Repeated({Two(30), Two(30)}), false, false, a.Dense({Two(30)}),
                                        a.Dense({0}), a.Dense({0}), size, executor);
      });
  add("histc", 561101, {"bins", "9007199254740992"},
      [](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
        return aclnnHistcGetWorkspaceSize(a.Dense({3}), kMany, a.Number(0), a.Number(1), a.Dense({kMany}),
                                          size, executor);
      });
  // Rows without elements are counted, too.
  for (const int64_t columns : {1, 0}) {
    add("routing rows of " + std::to_string(columns), 561101, {"tokens", "9007199254740992"},
        [columns](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
          const auto rows = [&] { return a.Repeated({kMany, columns}, ACL_FLOAT16); };
          const auto places = [&] { return a.Repeated({kMany}, ACL_INT32); };
          return aclnnMoeTokenPermuteGetWorkspaceSize(rows(), places(), 0, false, rows(), places(), size,
                                                      executor);
        });
  }
  add("routing of the most", 561101, {"x", "4611686018427387904"},
      [](Arguments& a, uint64_t* size, aclOpExecutor** executor) {
        const auto numbers = [&](aclDataType dtype) { return a.Repeated({Two(62), 1}, dtype); };
        return aclnnMoeGatingTopKSoftmaxGetWorkspaceSize(numbers(ACL_FLOAT16), nullptr, 1,
                                                         numbers(ACL_FLOAT16), numbers(ACL_INT32),
                                                         numbers(ACL_INT32), size, executor);
      });
  return cases;
}

class AbsurdSizes : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  }
  static void TearDownTestSuite() { EXPECT_EQ(aclFinalize(), ACL_SUCCESS); }
  // Ends what never would.
  AbsurdSizes() { alarm(kPatienceSeconds); }
  ~AbsurdSizes() override { alarm(0); }
};

TEST_F(AbsurdSizes, HaveTheirCodes) {
  for (const Case& one : Cases()) {
    SCOPED_TRACE(one.name);
    Arguments arguments;
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    aclGetRecentErrMsg();
    const aclnnStatus status = one.plan(arguments, &size, &executor);
    const char* const message = aclGetRecentErrMsg();
    EXPECT_EQ(status, one.code) << (message == nullptr ? "" : message);
    for (const std::string& word : one.words)
      EXPECT_NE(std::string(message == nullptr ? "" : message).find(word), std::string::npos)
          << word << " in: " << (message == nullptr ? "" : message);
    if (status != 0) continue;
    EXPECT_LE(size, uint64_t{1} << 62);
    EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACL_SUCCESS);
  }
}

// Every operator, with every tensor of one such shape: it answers, and what it asks for can be counted.
TEST_F(AbsurdSizes, AreAnsweredByEveryOperator) {
  const std::vector<int64_t> shapes[] = {{Two(28)},          {Two(40)},          {kMost},
                                         {1, Two(28)},       {Two(28), 1},       {1, Two(40)},
                                         {Two(40), 1},       {1, 1, Two(40)},    {1, Two(28), 1},
                                         {1, Two(40), 1},    {Two(31), 1, 64},   {1, 1, 1, Two(28)},
                                         {1, 1, Two(28), 1}, {1, 1, 1, Two(40)}, {1, 1, Two(40), 1},
                                         {1, Two(40), 1, 1}, {Two(40), 1, 1, 1}, {1, 1, 1, 1, Two(40)},
                                         {1, Two(60), 64},   {3, 1, kMost}};
  const aclDataType dtypes[] = {ACL_FLOAT, ACL_INT64, ACL_BOOL};
  for (const OperatorCall& call : OperatorCalls()) {
    for (const std::vector<int64_t>& shape : shapes) {
      for (const aclDataType dtype : dtypes) {
        for (const bool is_image : {false, true}) {
          if (is_image && shape.size() != 4) continue;
          Arguments arguments;
          std::vector<aclTensor*> tensors;
          for (int i = 0; i < call.tensors; ++i)
            tensors.push_back(arguments.Repeated(shape, dtype, is_image ? ACL_FORMAT_NCHW : ACL_FORMAT_ND));
          uint64_t size = 0;
          aclOpExecutor* executor = nullptr;
          if (call.plan(tensors, {}, &size, &executor) != 0) continue;
          EXPECT_LE(size, uint64_t{3} << 62) << call.name;
          EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACL_SUCCESS) << call.name;
        }
      }
    }
    DestroyResults();
  }
}

}  // namespace
}  // namespace portacl::testing
