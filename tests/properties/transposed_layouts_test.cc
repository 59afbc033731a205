// Operands that are dense along different dims, at extents around those of the blocks in which they are walked: the
// same bits as dense operands give (whose results the numeric suites compare with oracles), and no byte beside them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/families/loss.h"
#include "base/isa.h"
#include "gtest/gtest.h"
#include "support/dtype_rules.h"
#include "support/environment.h"
#include "support/guarded_buffer.h"
#include "support/random_numbers.h"

namespace portacl::testing {
namespace {

using Dims = std::vector<int64_t>;

// A view of `dims` whose axes lie in memory in the given order, outermost first; 3 elements lie before and after it,
// and `gap` more after each of its innermost runs.
struct View {
  Dims dims;
  Dims strides;
  int64_t elements = 0;
  aclDataType dtype;
  std::vector<unsigned char> memory;

  View(const Dims& shape, const std::vector<int>& order, int64_t gap, aclDataType type)
      : dims(shape), dtype(type) {
    strides.resize(dims.size());
    int64_t step = 1;
    for (size_t i = order.size(); i-- > 0;) {
      const auto axis = static_cast<size_t>(order[i]);
      strides[axis] = step;
      step *= dims[axis];
      if (i + 1 == order.size()) step += gap;
    }
    elements = step + 6;
    memory.assign(static_cast<size_t>(elements * ElementSize(dtype)), 0xA5);
  }

  aclTensor* Tensor() {
    return aclCreateTensor(dims.data(), dims.size(), dtype, strides.data(), 3, ACL_FORMAT_ND, &elements, 1,
                           memory.data());
  }

  // Calls f(address) for each element, in row-major order.
  template <class F>
  void ForEach(F&& f) {
    Dims index(dims.size(), 0);
    for (;;) {
      const int64_t at = std::inner_product(index.begin(), index.end(), strides.begin(), int64_t{3});
      f(memory.data() + at * ElementSize(dtype));
      size_t axis = dims.size();
      while (axis > 0 && ++index[axis - 1] == dims[axis - 1]) index[--axis] = 0;
      if (axis == 0) return;
    }
  }
};

// Copies values in row-major order.
void CopyValues(View& from, View& to) {
  std::vector<unsigned char> values;
  const auto size = static_cast<size_t>(ElementSize(from.dtype));
  from.ForEach([&](const unsigned char* p) { values.insert(values.end(), p, p + size); });
  size_t at = 0;
  to.ForEach([&](unsigned char* p) {
    std::memcpy(p, values.data() + at, size);
    at += size;
  });
}

void Run(const std::vector<View*>& views) {
  std::vector<aclTensor*> tensors;
  for (View* view : views) tensors.push_back(view->Tensor());
  uint64_t workspace = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnL1LossBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2], 1, tensors[3], &workspace,
                                                &executor),
            ACL_SUCCESS);
  ASSERT_EQ(aclnnL1LossBackward(nullptr, 0, executor, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
}

void ExpectSameAsDense(const Dims& shape, const std::vector<std::vector<int>>& orders, int64_t gap,
                       const std::vector<aclDataType>& dtypes, RandomNumbers& random) {
  std::vector<int> dense_order(shape.size());
  std::iota(dense_order.begin(), dense_order.end(), 0);
  std::vector<View> dense;
  std::vector<View> strided;
  for (size_t k = 0; k < 4; ++k) {
    dense.emplace_back(shape, dense_order, 0, dtypes[k]);
    strided.emplace_back(shape, orders[k], gap, dtypes[k]);
    dense[k].ForEach([&](unsigned char* p) {
      const float value = static_cast<float>(random.Between(-3, 3)) / 2;
      if (dtypes[k] == ACL_FLOAT) {
        std::memcpy(p, &value, sizeof value);
      } else if (dtypes[k] == ACL_FLOAT16) {
        const aclFloat16 half = aclFloatToFloat16(value);
        std::memcpy(p, &half, sizeof half);
      } else if (dtypes[k] == ACL_BF16) {
        std::memcpy(p, reinterpret_cast<const char*>(&value) + 2, 2);
      } else {
        std::fill_n(p, ElementSize(dtypes[k]), static_cast<unsigned char>(random.Between(0, 1)));
      }
    });
    if (k < 3) CopyValues(dense[k], strided[k]);
  }
  Run({&dense[0], &dense[1], &dense[2], &dense[3]});
  Run({&strided[0], &strided[1], &strided[2], &strided[3]});
  View expected(shape, orders[3], gap, dtypes[3]);
  CopyValues(dense[3], expected);
  EXPECT_TRUE(expected.memory == strided[3].memory);
}

TEST(TransposedLayouts, SameBitsAsDense) {
  RandomNumbers random(7);
  const std::vector<std::vector<aclDataType>> dtypes = {
      {ACL_FLOAT, ACL_FLOAT, ACL_FLOAT, ACL_FLOAT},         {ACL_BF16, ACL_BF16, ACL_BF16, ACL_BF16},
      {ACL_FLOAT16, ACL_FLOAT16, ACL_FLOAT16, ACL_FLOAT16}, {ACL_FLOAT, ACL_BF16, ACL_BF16, ACL_FLOAT},
      {ACL_FLOAT16, ACL_BF16, ACL_FLOAT, ACL_BF16},         {ACL_FLOAT, ACL_INT8, ACL_INT64, ACL_DOUBLE},
      {ACL_FLOAT, ACL_BOOL, ACL_INT16, ACL_COMPLEX64}};
  for (const Isa isa : SupportedIsas()) {
    const ScopedEnvironment environment({{"PORTACL_ISA", IsaName(isa)}, {"PORTACL_NUM_THREADS", "2"}});
    for (const auto& types : dtypes) {
      // The last is larger than a strip of blocks in either direction.
      for (const Dims& shape : {Dims{16, 16}, Dims{33, 65}, Dims{70, 263}, Dims{529, 131}}) {
        for (int layouts = 0; layouts < 16; ++layouts) {
          std::vector<std::vector<int>> orders;
          for (int k = 0; k < 4; ++k)
            orders.push_back((layouts >> k & 1) != 0 ? std::vector<int>{1, 0} : std::vector<int>{0, 1});
          SCOPED_TRACE(std::string(IsaName(isa)) + " layouts " + std::to_string(layouts) + " shape " +
                       std::to_string(shape[0]) + " x " + std::to_string(shape[1]));
          ExpectSameAsDense(shape, orders, layouts % 3 == 0 ? 5 : 0, types, random);
          if (HasFailure()) return;
        }
      }
      // Three axes, each operand in an order of its own.
      const std::vector<std::vector<int>> all = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                                 {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
      for (int draw = 0; draw < 12; ++draw) {
        std::vector<std::vector<int>> orders;
        for (int k = 0; k < 4; ++k) orders.push_back(all[static_cast<size_t>(random.Between(0, 5))]);
        SCOPED_TRACE(std::string(IsaName(isa)) + " draw " + std::to_string(draw));
        ExpectSameAsDense(Dims{19, 37, 23}, orders, draw % 2, types, random);
        if (HasFailure()) return;
      }
    }
  }
}

// ---- Sums ----

// Fills a view with numbers whose sum is another one in every other order.
void FillForSums(View& view, RandomNumbers& random) {
  view.ForEach([&](unsigned char* p) {
    const auto bits = static_cast<uint32_t>(random.Bits());
    // A bfloat16 from 2^-16 to 2^15: it fits the other types, too, but for float16's smallest digits.
    const uint32_t value = (bits & 0x807F0000) | (111 + (bits & 31)) << 23;
    if (view.dtype == ACL_FLOAT) {
      std::memcpy(p, &value, sizeof value);
    } else if (view.dtype == ACL_BF16) {
      const auto high = static_cast<uint16_t>(value >> 16);
      std::memcpy(p, &high, sizeof high);
    } else {
      float real;
      std::memcpy(&real, &value, sizeof real);
      const aclFloat16 half = aclFloatToFloat16(real);
      std::memcpy(p, &half, sizeof half);
    }
  });
}

enum class Sum { kAll, kFirstAxis, kToRow, kToColumn };

// The result's bytes. Takes what is as large as the terms from `views`: self and target, or gradOutput and target.
std::vector<unsigned char> SumOf(Sum sum, View& a, View& b) {
  Dims shape = a.dims;
  if (sum == Sum::kAll) shape = {};
  if (sum == Sum::kFirstAxis) shape.erase(shape.begin());
  if (sum == Sum::kToRow) shape.front() = 1;
  if (sum == Sum::kToColumn) shape.back() = 1;
  std::vector<int> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  View self(shape, order, 0, ACL_FLOAT);
  View result(shape, order, 0, ACL_FLOAT);
  aclTensor* const tensors[] = {a.Tensor(), b.Tensor(), self.Tensor(), result.Tensor()};
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  constexpr int64_t kSum = 2;
  const bool is_gradient = sum == Sum::kToRow || sum == Sum::kToColumn;
  aclnnStatus status = 0;
  if (is_gradient) {
    status = aclnnKlDivBackwardGetWorkspaceSize(tensors[0], tensors[2], tensors[1], kSum, false, tensors[3],
                                                &size, &executor);
  } else if (sum == Sum::kAll) {
    status = aclnnMseLossGetWorkspaceSize(tensors[0], tensors[1], kSum, tensors[3], &size, &executor);
  } else {
    status = aclnnMseLossOutGetWorkspaceSize(tensors[0], tensors[1], kSum, tensors[3], &size, &executor);
  }
  EXPECT_EQ(status, ACL_SUCCESS) << aclGetRecentErrMsg();
  const GuardedBuffer workspace(size);
  void* const memory = size > 0 ? workspace.device() : nullptr;
  status = is_gradient        ? aclnnKlDivBackward(memory, size, executor, nullptr)
           : sum == Sum::kAll ? aclnnMseLoss(memory, size, executor, nullptr)
                              : aclnnMseLossOut(memory, size, executor, nullptr);
  EXPECT_EQ(status, ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
  return result.memory;
}

void ExpectSameSumsAsDense(const Dims& shape, const std::vector<int>& first, const std::vector<int>& second,
                           int64_t gap, aclDataType first_dtype, aclDataType second_dtype,
                           RandomNumbers& random) {
  std::vector<int> dense_order(shape.size());
  std::iota(dense_order.begin(), dense_order.end(), 0);
  View a(shape, dense_order, 0, first_dtype);
  View b(shape, dense_order, 0, second_dtype);
  View transposed_a(shape, first, gap, first_dtype);
  View transposed_b(shape, second, gap, second_dtype);
  FillForSums(a, random);
  FillForSums(b, random);
  CopyValues(a, transposed_a);
  CopyValues(b, transposed_b);
  for (const Sum sum : {Sum::kAll, Sum::kFirstAxis, Sum::kToRow, Sum::kToColumn}) {
    EXPECT_TRUE(SumOf(sum, a, b) == SumOf(sum, transposed_a, transposed_b))
        << "sum " << static_cast<int>(sum);
  }
}

TEST(TransposedLayouts, SumsHaveTheSameBitsAsDense) {
  RandomNumbers random(11);
  const std::vector<std::pair<aclDataType, aclDataType>> dtypes = {
      {ACL_FLOAT, ACL_FLOAT}, {ACL_BF16, ACL_BF16}, {ACL_FLOAT16, ACL_FLOAT}};
  for (const Isa isa : SupportedIsas()) {
    const ScopedEnvironment environment({{"PORTACL_ISA", IsaName(isa)}, {"PORTACL_NUM_THREADS", "2"}});
    for (const auto& [first, second] : dtypes) {
      // Columns for several stripes; rows too long for the memory of a thread, and some that barely fit.
      for (const Dims& shape : {Dims{4, 64}, Dims{17, 64}, Dims{70, 263}, Dims{700, 131}, Dims{33, 9001},
                                Dims{5, 40000}, Dims{6, 70000}}) {
        for (int layouts = 1; layouts < 4; ++layouts) {
          const auto order = [&](int k) {
            return (layouts >> k & 1) != 0 ? std::vector<int>{1, 0} : std::vector<int>{0, 1};
          };
          SCOPED_TRACE(std::string(IsaName(isa)) + " layouts " + std::to_string(layouts) + " shape " +
                       std::to_string(shape[0]) + " x " + std::to_string(shape[1]));
          ExpectSameSumsAsDense(shape, order(0), order(1), layouts == 3 ? 5 : 0, first, second, random);
          if (HasFailure()) return;
        }
      }
      const std::vector<std::vector<int>> all = {{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
      for (const auto& order : all) {
        SCOPED_TRACE(std::string(IsaName(isa)) + " three axes");
        ExpectSameSumsAsDense(Dims{5, 37, 80}, order, all[static_cast<size_t>(random.Between(0, 4))], 1,
                              first, second, random);
        if (HasFailure()) return;
      }
    }
  }
}

// Inputs that lie across, or are repeated: rows of whole blocks, whose lanes are summed side by side, chunks that end
// within a row, rows of several matrices; sums of columns, whose terms are computed along them.
TEST(TransposedLayouts, SumsAcrossHaveTheSameBitsAsDense) {
  enum class Second { kAcross, kRow, kColumn, kOne };
  RandomNumbers random(17);
  for (const Isa isa : SupportedIsas()) {
    for (const char* threads : {"1", "2", "5"}) {
      const ScopedEnvironment environment({{"PORTACL_ISA", IsaName(isa)}, {"PORTACL_NUM_THREADS", threads}});
      // The first has rows that end within blocks, the last chunks that end within rows.
      for (const Dims& shape : {Dims{64, 4160}, Dims{600, 77}, Dims{15, 4096}, Dims{16, 4096}, Dims{17, 8192},
                                Dims{303, 4096}, Dims{3, 37, 4096}, Dims{101, 28672}}) {
        for (const aclDataType dtype : {ACL_FLOAT, ACL_BF16, ACL_FLOAT16}) {
          for (const Second kind : {Second::kAcross, Second::kRow, Second::kColumn, Second::kOne}) {
            // Large shapes once for each number of threads.
            if (shape[0] > 100 && (kind != Second::kAcross || dtype != ACL_BF16)) continue;
            SCOPED_TRACE(std::string(IsaName(isa)) + " threads " + threads + " rows " +
                         std::to_string(shape[0]) + " dtype " + std::to_string(dtype) + " second " +
                         std::to_string(static_cast<int>(kind)));
            const size_t last = shape.size() - 1;
            std::vector<int> dense(shape.size());
            std::iota(dense.begin(), dense.end(), 0);
            std::vector<int> across = dense;
            std::swap(across[last - 1], across[last]);
            const aclDataType second_dtype = shape[0] == 17 ? ACL_FLOAT : dtype;
            View a(shape, across, shape[0] == 16 ? 3 : 0, dtype);
            View b(shape, across, 0, second_dtype);
            for (size_t axis = 0; axis < shape.size(); ++axis) {
              const bool is_repeated = kind == Second::kOne || (kind == Second::kRow && axis != last) ||
                                       (kind == Second::kColumn && axis == last);
              if (is_repeated) b.strides[axis] = 0;
            }
            FillForSums(a, random);
            FillForSums(b, random);
            View dense_a(shape, dense, 0, dtype);
            View dense_b(shape, dense, 0, second_dtype);
            CopyValues(a, dense_a);
            CopyValues(b, dense_b);
            for (const Sum sum : {Sum::kAll, Sum::kFirstAxis, Sum::kToRow, Sum::kToColumn})
              EXPECT_TRUE(SumOf(sum, a, b) == SumOf(sum, dense_a, dense_b))
                  << "sum " << static_cast<int>(sum);
            if (HasFailure()) return;
          }
        }
      }
    }
  }
}

// Rows of an input whose columns lie side by side, as many as the dim around them has, are followed by nothing where
// that dim is repeated or walked backwards: what lies behind them, or before, is another page.
TEST(TransposedLayouts, SumsReadNothingBesideTheirRows) {
  struct Outer {
    const char* name;
    int64_t sign;  // of the outermost stride
  };
  RandomNumbers random(13);
  for (const Isa isa : SupportedIsas()) {
    const ScopedEnvironment environment({{"PORTACL_ISA", IsaName(isa)}, {"PORTACL_NUM_THREADS", "2"}});
    for (const aclDataType dtype : {ACL_FLOAT, ACL_BF16, ACL_FLOAT16}) {
      for (const Outer& outer : {Outer{"repeated", 0}, Outer{"backwards", -1}, Outer{"forwards", 1}}) {
        for (const Guard guard : {Guard::kEnd, Guard::kStart}) {
          for (const Dims& shape : {Dims{3, 5, 80}, Dims{2, 19, 131}, Dims{4, 45, 600}}) {
            SCOPED_TRACE(std::string(IsaName(isa)) + " dtype " + std::to_string(dtype) + " " + outer.name +
                         " rows " + std::to_string(shape[1]));
            const int64_t matrix = shape[1] * shape[2];
            const int64_t matrices = outer.sign == 0 ? 1 : shape[0];
            const Dims strides = {outer.sign * matrix, 1, shape[1]};
            const int64_t offset = outer.sign < 0 ? (shape[0] - 1) * matrix : 0;
            const int64_t elements = matrices * matrix;
            const int64_t size = ElementSize(dtype);
            GuardedBuffer self(static_cast<size_t>(elements * size), guard);
            std::vector<int64_t> values(static_cast<size_t>(elements));
            for (size_t i = 0; i < values.size(); ++i) {
              values[i] = random.Between(-4, 4);
              EncodeElement(dtype, static_cast<double>(values[i]),
                            self.data() + i * static_cast<size_t>(size));
            }
            // Integers, so that the sums are exact in any order.
            std::vector<float> expected(static_cast<size_t>(matrix));
            int64_t expected_of_all = 0;
            for (int64_t i = 0; i < shape[0] * matrix; ++i) {
              const int64_t at = offset + i / matrix * strides[0] + i % matrix / shape[2] * strides[1] +
                                 i % shape[2] * strides[2];
              const int64_t term = values[static_cast<size_t>(at)] * values[static_cast<size_t>(at)];
              expected[static_cast<size_t>(i % matrix)] += static_cast<float>(term);
              expected_of_all += term;
            }
            unsigned char zero[4] = {};
            std::vector<float> out(static_cast<size_t>(matrix));
            float out_of_all = 0;
            aclTensor* const tensors[] = {
                aclCreateTensor(shape.data(), 3, dtype, strides.data(), offset, ACL_FORMAT_ND, &elements, 1,
                                self.device()),
                aclCreateTensor(nullptr, 0, dtype, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, zero),
                aclCreateTensor(nullptr, 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, &out_of_all),
                aclCreateTensor(shape.data() + 1, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape.data() + 1,
                                2, out.data())};
            constexpr int64_t kSum = 2;
            uint64_t bytes = 0;
            aclOpExecutor* executor = nullptr;
            ASSERT_EQ(
                aclnnMseLossGetWorkspaceSize(tensors[0], tensors[1], kSum, tensors[2], &bytes, &executor),
                ACL_SUCCESS);
            const GuardedBuffer workspace(bytes);
            ASSERT_EQ(aclnnMseLoss(workspace.device(), bytes, executor, nullptr), ACL_SUCCESS);
            ASSERT_EQ(
                aclnnMseLossOutGetWorkspaceSize(tensors[0], tensors[1], kSum, tensors[3], &bytes, &executor),
                ACL_SUCCESS);
            const GuardedBuffer second_workspace(bytes);
            ASSERT_EQ(aclnnMseLossOut(second_workspace.device(), bytes, executor, nullptr), ACL_SUCCESS);
            ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
            EXPECT_EQ(out_of_all, static_cast<float>(expected_of_all));
            EXPECT_TRUE(out == expected);
            for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace portacl::testing
