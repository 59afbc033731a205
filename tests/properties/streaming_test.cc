// Results too large for the caches, which are written past them: whole cache lines are, so it matters where in a line
// the output begins. Every element is compared with a plain loop's, and no byte beside the output may change.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/families/creation.h"
#include "aclnnop/families/image.h"
#include "aclnnop/families/indexing.h"
#include "aclnnop/families/logic.h"
#include "aclnnop/families/loss.h"
#include "aclnnop/families/shape.h"
#include "base/isa.h"
#include "engine/cache_size.h"
#include "gtest/gtest.h"
#include "support/dtype_rules.h"
#include "support/environment.h"
#include "support/guarded_buffer.h"

namespace portacl::testing {
namespace {

// The inputs' values repeat after so many elements, which is no multiple of any vector, line or block.
constexpr int64_t kPeriod = 4093;

// Exact in every type that is tested, and so are their differences and products with a sign.
double ValueAt(int operand, int64_t i) {
  const int64_t at = i % kPeriod;
  switch (operand) {
    case 0:
      return static_cast<double>(at % 255 - 127) / 4;
    case 1:
      return static_cast<double>(at % 7);
    default:
      return static_cast<double>(at % 5);
  }
}

// sign(self - target) * gradOutput.
double ResultAt(double grad, int64_t i) {
  const double self = ValueAt(1, i);
  const double target = ValueAt(2, i);
  return static_cast<double>((self > target) - (self < target)) * grad;
}

// So many bytes of elements that repeat `period`.
void FillPeriodically(std::byte* to, size_t bytes, const std::vector<std::byte>& period) {
  for (size_t done = 0; done < bytes; done += period.size()) {
    std::memcpy(to + done, period.data(), std::min(period.size(), bytes - done));
  }
}

struct Types {
  const char* name;
  aclDataType input[3];  // gradOutput, self, target
  aclDataType output;
};

constexpr Types kTypes[] = {
    {"f32", {ACL_FLOAT, ACL_FLOAT, ACL_FLOAT}, ACL_FLOAT},
    {"bf16", {ACL_BF16, ACL_BF16, ACL_BF16}, ACL_BF16},
    {"f16", {ACL_FLOAT16, ACL_FLOAT16, ACL_FLOAT16}, ACL_FLOAT16},
    {"f16 and f32 to bf16", {ACL_FLOAT16, ACL_FLOAT, ACL_BF16}, ACL_BF16},
    {"bf16 and f16 to f32", {ACL_BF16, ACL_FLOAT16, ACL_BF16}, ACL_FLOAT},
    {"f32 to f64", {ACL_FLOAT, ACL_FLOAT, ACL_FLOAT}, ACL_DOUBLE},
};

class Streaming : public ::testing::TestWithParam<Isa> {
 protected:
  // Computes a matrix whose output begins so many bytes behind a line; gradOutput has all of its elements, or one in
  // each row.
  void Check(const Types& types, int64_t rows, int64_t columns, bool one_grad_per_row,
             const std::vector<int64_t>& misalignments) {
    const int64_t dims[] = {rows, columns};
    std::vector<std::unique_ptr<GuardedBuffer>> inputs;
    aclTensor* tensors[3];
    for (int k = 0; k < 3; ++k) {
      const int64_t own_dims[] = {rows, k == 0 && one_grad_per_row ? 1 : columns};
      const auto size = static_cast<size_t>(ElementSize(types.input[k]));
      std::vector<std::byte> period(static_cast<size_t>(kPeriod) * size);
      for (int64_t i = 0; i < kPeriod; ++i) {
        EncodeElement(types.input[k], ValueAt(k, i), period.data() + static_cast<size_t>(i) * size);
      }
      const size_t bytes = static_cast<size_t>(rows * own_dims[1]) * size;
      inputs.push_back(std::make_unique<GuardedBuffer>(bytes));
      FillPeriodically(inputs.back()->data(), bytes, period);
      tensors[k] = aclCreateTensor(own_dims, 2, types.input[k], nullptr, 0, ACL_FORMAT_ND, own_dims, 2,
                                   inputs.back()->device());
    }
    const size_t bytes = static_cast<size_t>(rows * columns * ElementSize(types.output));
    constexpr size_t kBeside = 128;
    const GuardedBuffer memory(bytes + kBeside, Guard::kStart);
    for (const int64_t misalignment : misalignments) {
      SCOPED_TRACE(std::string(types.name) + ", " + std::to_string(misalignment) + " bytes behind a line");
      const std::byte untouched{0xA5};
      std::fill_n(memory.data(), memory.size(), untouched);
      std::byte* const out = memory.data() + 64 + misalignment;  // pages begin at lines
      aclTensor* const output = aclCreateTensor(dims, 2, types.output, nullptr, 0, ACL_FORMAT_ND, dims, 2,
                                                memory.device() + (out - memory.data()));
      uint64_t workspace = 0;
      aclOpExecutor* executor = nullptr;
      ASSERT_EQ(aclnnL1LossBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2], 0, output, &workspace,
                                                    &executor),
                ACL_SUCCESS);
      ASSERT_EQ(aclnnL1LossBackward(nullptr, 0, executor, nullptr), ACL_SUCCESS);
      ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
      aclDestroyTensor(output);
      EXPECT_EQ(std::count(memory.data(), out, untouched), out - memory.data());
      std::byte* const end = memory.data() + memory.size();
      EXPECT_EQ(std::count(out + bytes, end, untouched), end - (out + bytes));
      Compare(types, rows * columns, one_grad_per_row ? columns : 0, out);
      if (HasFatalFailure()) return;
    }
    for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
  }

  // Elements that do not fit the caches.
  static int64_t Many(const Types& types, bool one_grad_per_row) {
    int64_t bytes = ElementSize(types.output);
    for (int k = one_grad_per_row ? 1 : 0; k < 3; ++k) bytes += ElementSize(types.input[k]);
    return engine::LastLevelCacheBytes() / bytes + 20011;
  }

 private:
  // With `row` elements in each row that has one gradOutput; 0 where each element has its own.
  static void Compare(const Types& types, int64_t count, int64_t row, const std::byte* out) {
    const auto size = static_cast<size_t>(ElementSize(types.output));
    // Without rows, what is expected repeats like the inputs.
    const int64_t length = row == 0 ? kPeriod : row;
    std::vector<std::byte> expected(static_cast<size_t>(length) * size);
    for (int64_t begin = 0; begin < count; begin += length) {
      for (int64_t i = 0; i < length && (begin == 0 || row != 0); ++i) {
        const double grad = ValueAt(0, row == 0 ? i : begin / row);
        EncodeElement(types.output, ResultAt(grad, begin + i),
                      expected.data() + static_cast<size_t>(i) * size);
      }
      const size_t wanted = static_cast<size_t>(std::min(length, count - begin)) * size;
      ASSERT_EQ(std::memcmp(out + static_cast<size_t>(begin) * size, expected.data(), wanted), 0)
          << "in the " << length << " elements from " << begin << " on";
    }
  }
};

TEST_P(Streaming, BeginsAnywhereInALine) {
  const ScopedEnvironment environment({{"PORTACL_ISA", IsaName(GetParam())}, {"PORTACL_NUM_THREADS", "2"}});
  for (const Types& types : kTypes) {
    const int64_t size = ElementSize(types.output);
    // At a line; an element, and an element and half a line, behind one; an element before one; where no element is
    // ever at one.
    Check(types, 1, Many(types, false), false, {0, size, 32 + size, 64 - size, 1});
    if (HasFailure()) return;
  }
}

// Rows of an odd length begin at every place of a line.
TEST_P(Streaming, RowsBeginAnywhereInALine) {
  const ScopedEnvironment environment({{"PORTACL_ISA", IsaName(GetParam())}, {"PORTACL_NUM_THREADS", "2"}});
  constexpr int64_t kColumns = 1003;
  for (const Types& types : kTypes) {
    Check(types, Many(types, true) / kColumns + 1, kColumns, true, {ElementSize(types.output)});
    if (HasFailure()) return;
  }
}

// What is no map of floats: `begin(out, workspace, executor)` makes an executor that writes `dims` elements, of which
// number i is `expected(i)`.
template <class T, class Begin, class Expected>
void CheckOther(aclDataType dtype, const std::vector<int64_t>& dims,
                aclnnStatus (*run)(void*, uint64_t, aclOpExecutor*, aclrtStream), const Begin& begin,
                const Expected& expected) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  const size_t bytes = static_cast<size_t>(count) * sizeof(T);
  const GuardedBuffer memory(bytes + 128, Guard::kStart);
  for (const size_t misalignment : {size_t{0}, sizeof(T), 32 + sizeof(T), 64 - sizeof(T), size_t{1}}) {
    SCOPED_TRACE(std::to_string(misalignment) + " bytes behind a line");
    const std::byte untouched{0xA5};
    std::fill_n(memory.data(), memory.size(), untouched);
    std::byte* const out = memory.data() + 64 + misalignment;
    aclTensor* const output =
        aclCreateTensor(dims.data(), dims.size(), dtype, nullptr, 0, ACL_FORMAT_ND, dims.data(), dims.size(),
                        memory.device() + (out - memory.data()));
    uint64_t workspace = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(begin(output, &workspace, &executor), ACL_SUCCESS);
    ASSERT_EQ(run(nullptr, 0, executor, nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    aclDestroyTensor(output);
    EXPECT_EQ(std::count(memory.data(), out, untouched), out - memory.data());
    std::byte* const end = memory.data() + memory.size();
    EXPECT_EQ(std::count(out + bytes, end, untouched), end - (out + bytes));
    for (int64_t i = 0; i < count; ++i) {
      T found;
      std::memcpy(&found, out + static_cast<size_t>(i) * sizeof(T), sizeof found);
      ASSERT_EQ(found, static_cast<T>(expected(i))) << "element " << i;
    }
  }
}

TEST_P(Streaming, BytesFillsAndSequences) {
  const ScopedEnvironment environment({{"PORTACL_ISA", IsaName(GetParam())}, {"PORTACL_NUM_THREADS", "2"}});
  const int64_t many = engine::LastLevelCacheBytes() + 20011;
  const int64_t fewer = many / 3 + 1;
  std::vector<int8_t> bytes(static_cast<size_t>(fewer) + 1);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<int8_t>(i % kPeriod % 3 - 1);
  aclTensor* tensors[2];
  for (int k = 0; k < 2; ++k)
    tensors[k] = aclCreateTensor(&fewer, 1, ACL_INT8, nullptr, 0, ACL_FORMAT_ND, &fewer, 1, bytes.data() + k);
  CheckOther<uint8_t>(
      ACL_BOOL, {fewer}, aclnnLogicalXor,
      [&](aclTensor* out, uint64_t* workspace, aclOpExecutor** executor) {
        return aclnnLogicalXorGetWorkspaceSize(tensors[0], tensors[1], out, workspace, executor);
      },
      [&](int64_t i) {
        return (bytes[static_cast<size_t>(i)] != 0) != (bytes[static_cast<size_t>(i) + 1] != 0);
      });
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);

  int32_t pattern = 0x01020304;
  aclScalar* const value = aclCreateScalar(&pattern, ACL_INT32);
  const auto fill = [&](aclTensor* out, uint64_t* workspace, aclOpExecutor** executor) {
    return aclnnInplaceFillScalarGetWorkspaceSize(out, value, workspace, executor);
  };
  CheckOther<int32_t>(ACL_INT32, {many / 4}, aclnnInplaceFillScalar, fill, [&](int64_t) { return pattern; });
  CheckOther<int8_t>(ACL_INT8, {many}, aclnnInplaceFillScalar, fill, [](int64_t) { return 4; });
  aclDestroyScalar(value);

  int64_t numbers[] = {-5, 0, 3};
  numbers[1] = numbers[0] + many / 8 * numbers[2];
  aclScalar* scalars[3];
  for (int k = 0; k < 3; ++k) scalars[k] = aclCreateScalar(&numbers[k], ACL_INT64);
  const auto range = [&](aclTensor* out, uint64_t* workspace, aclOpExecutor** executor) {
    return aclnnArangeGetWorkspaceSize(scalars[0], scalars[1], scalars[2], out, workspace, executor);
  };
  CheckOther<int64_t>(ACL_INT64, {many / 8}, aclnnArange, range, [](int64_t i) { return 3 * i - 5; });
  for (aclScalar* scalar : scalars) aclDestroyScalar(scalar);

  constexpr int64_t kColumns = 1003;
  const int64_t rows = many / 4 / kColumns + 1;
  CheckOther<float>(
      ACL_FLOAT, {rows, kColumns}, aclnnEye,
      [&](aclTensor* out, uint64_t* workspace, aclOpExecutor** executor) {
        return aclnnEyeGetWorkspaceSize(rows, kColumns, out, workspace, executor);
      },
      [](int64_t i) { return i / kColumns == i % kColumns ? 1 : 0; });
}

// A matrix whose elements are numbered in their order, of so many columns, that half fills the caches; and a row of it for each of its
// rows, all of them.
struct Numbered {
  explicit Numbered(int64_t length) : columns(length), rows(engine::LastLevelCacheBytes() / 8 / length + 11) {
    if (rows % kStep == 0) ++rows;
    elements.resize(static_cast<size_t>(rows * columns));
    std::iota(elements.begin(), elements.end(), 0);
    for (int64_t i = 0; i < rows; ++i) row_at.push_back((i * kStep + 3) % rows);
    const int64_t dims[] = {rows, columns};
    matrix = aclCreateTensor(dims, 2, ACL_INT32, nullptr, 0, ACL_FORMAT_ND, dims, 2, elements.data());
    index = Index();
  }
  // Another tensor over the same indices.
  aclTensor* Index() {
    return aclCreateTensor(&rows, 1, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, &rows, 1, row_at.data());
  }
  Numbered(const Numbered&) = delete;
  Numbered& operator=(const Numbered&) = delete;
  ~Numbered() {
    aclDestroyTensor(matrix);
    aclDestroyTensor(index);
  }

  static constexpr int64_t kStep = 7919;
  int64_t columns;
  int64_t rows;
  std::vector<int32_t> elements;
  std::vector<int64_t> row_at;
  aclTensor* matrix;
  aclTensor* index;
};

// Rows of part of a line, of whole lines, of more than what is asked for ahead of them.
TEST(StreamedRows, AreTakenAndPutWhole) {
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "2"}});
  for (const int64_t columns : {16, 33, 1024, 4096 + 16}) {
    SCOPED_TRACE(std::to_string(columns) + " columns");
    Numbered from(columns);
    const int64_t rows = from.rows;
    CheckOther<int32_t>(
        ACL_INT32, {rows, columns}, aclnnIndexSelect,
        [&](aclTensor* out, uint64_t* workspace, aclOpExecutor** executor) {
          return aclnnIndexSelectGetWorkspaceSize(from.matrix, 0, from.index, out, workspace, executor);
        },
        [&](int64_t i) { return from.row_at[static_cast<size_t>(i / columns)] * columns + i % columns; });
    std::vector<int64_t> put_from(from.row_at.size());
    for (size_t i = 0; i < put_from.size(); ++i)
      put_from[static_cast<size_t>(from.row_at[i])] = static_cast<int64_t>(i);
    const aclTensor* const indices[] = {from.Index()};
    aclTensorList* const list = aclCreateTensorList(indices, 1);  // destroys them, too
    CheckOther<int32_t>(
        ACL_INT32, {rows, columns}, aclnnIndexPutImpl,
        [&](aclTensor* out, uint64_t* workspace, aclOpExecutor** executor) {
          return aclnnIndexPutImplGetWorkspaceSize(out, list, from.matrix, false, false, workspace, executor);
        },
        [&](int64_t i) { return put_from[static_cast<size_t>(i / columns)] * columns + i % columns; });
    aclDestroyTensorList(list);
    if (HasFailure()) return;
  }
}

TEST(StreamedRows, ArePadded) {
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "2"}});
  for (const int64_t columns : {100, 1003}) {
    SCOPED_TRACE(std::to_string(columns) + " columns");
    const Numbered from(columns);
    const int64_t sides[] = {3, 2};
    aclIntArray* const padding = aclCreateIntArray(sides, 2);
    CheckOther<int32_t>(
        ACL_INT32, {from.rows, columns + 5}, aclnnReplicationPad1d,
        [&](aclTensor* out, uint64_t* workspace, aclOpExecutor** executor) {
          return aclnnReplicationPad1dGetWorkspaceSize(from.matrix, padding, out, workspace, executor);
        },
        [&](int64_t i) {
          const int64_t column = std::clamp<int64_t>(i % (columns + 5) - 3, 0, columns - 1);
          return i / (columns + 5) * columns + column;
        });
    aclDestroyIntArray(padding);
    if (HasFailure()) return;
  }
}

// Runs of part of a line, of whole lines, one of which is a page; few of them side by side, and many.
TEST(StreamedRuns, LieInAnotherOrder) {
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "2"}});
  for (const int64_t run : {15, 16, 48, 1024}) {
    for (const int64_t beside : {3, 130}) {
      SCOPED_TRACE(std::to_string(run) + " elements, " + std::to_string(beside) + " beside each other");
      const Numbered from(run * beside);
      const int64_t dims[] = {from.rows, beside, run};
      aclTensor* const self = aclCreateTensor(dims, 3, ACL_INT32, nullptr, 0, ACL_FORMAT_ND, dims, 3,
                                              const_cast<int32_t*>(from.elements.data()));
      const int64_t order[] = {1, 0, 2};
      aclIntArray* const axes = aclCreateIntArray(order, 3);
      CheckOther<int32_t>(
          ACL_INT32, {beside, from.rows, run}, aclnnPermute,
          [&](aclTensor* out, uint64_t* workspace, aclOpExecutor** executor) {
            return aclnnPermuteGetWorkspaceSize(self, axes, out, workspace, executor);
          },
          [&](int64_t i) {
            const int64_t row = i / run % from.rows;
            return (row * beside + i / run / from.rows) * run + i % run;
          });
      aclDestroyIntArray(axes);
      aclDestroyTensor(self);
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, Streaming, ::testing::ValuesIn(SupportedIsas().begin(), SupportedIsas().end()),
                         [](const ::testing::TestParamInfo<Isa>& isa) {
                           return std::string(IsaName(isa.param));
                         });

}  // namespace
}  // namespace portacl::testing
