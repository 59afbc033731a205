// aclnnQuantMatmulV5 and WeightNz with a scale for each block of terms: every element against exact sums of integers and float32 numbers in the
// documented order, in each layout and on each instruction set; what is refused.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <string>
#include <vector>

#include "aclnnop/families/matmul.h"
#include "engine/isa_in_use.h"
#include "gtest/gtest.h"
#include "quantised_views.h"
#include "support/contract_suite.h"
#include "support/environment.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

HeldView Bytes(const Shape& shape, bool is_transposed, RandomNumbers& random) {
  HeldView view = Numbers(shape, ACL_INT8, is_transposed);
  for (unsigned char& byte : view.bytes) byte = static_cast<unsigned char>(random.Between(-128, 127));
  return view;
}
HeldView Floats(const Shape& shape, RandomNumbers& random) {
  HeldView view = Numbers(shape, ACL_FLOAT);
  Fill(view, random, 0.01);
  return view;
}

struct Call {
  int64_t m, k, n;
  bool has_flag;  // x2 is [n, k] and its flag is set; else a view [k, n]
  HeldView x1, x2, row_scale, scale, bias, out;
  HeldView more[3];  // yScale, x1Offset and yOffset
  int64_t group = 0;
  bool is_fractal = false;

  Call(int64_t rows, int64_t terms, int64_t columns, bool by_flag, bool is_across, RandomNumbers& random)
      : m(rows), k(terms), n(columns), has_flag(by_flag) {
    const auto blocks = [](int64_t length) { return (length + 127) / 128; };
    x1 = Bytes({m, k}, false, random);
    x2 = has_flag ? Bytes({n, k}, !is_across, random) : Bytes({k, n}, is_across, random);
    row_scale = Floats({m, blocks(k)}, random);
    scale = Floats(has_flag ? Shape{blocks(n), blocks(k)} : Shape{blocks(k), blocks(n)}, random);
    bias = Floats({n}, random);
    bias.null = random.Chance(50);
    out = Numbers({m, n}, ACL_BF16);
    for (HeldView& one : more) one.null = true;
  }
  CallResult Run(aclrtStream stream) {
    HeldView* const views[] = {&x1, &x2, &row_scale, &scale, &bias, &out, &more[0], &more[1], &more[2]};
    std::vector<aclTensor*> t;
    for (HeldView* const view : views) t.push_back(view->Make());
    CallResult result;
    aclOpExecutor* executor = nullptr;
    const auto plan =
        is_fractal ? aclnnQuantMatmulWeightNzGetWorkspaceSize : aclnnQuantMatmulV5GetWorkspaceSize;
    result.plan = plan(t[0], t[1], t[2], t[3], t[6], t[7], nullptr, t[8], t[4], false, has_flag, group, t[5],
                       &result.workspace_size, &executor);
    if (result.plan == 0) {
      std::vector<std::byte> workspace(result.workspace_size);
      const auto run = is_fractal ? aclnnQuantMatmulWeightNz : aclnnQuantMatmulV5;
      result.run = run(workspace.data(), result.workspace_size, executor, stream);
      result.synchronize = aclrtSynchronizeStream(stream);
    } else {
      result.message = TakeErrorMessage();
    }
    for (aclTensor* const tensor : t) aclDestroyTensor(tensor);
    for (HeldView* const view : views) view->Fetch();
    return result;
  }
  int Byte(const HeldView& view, int64_t row, int64_t column) const {
    return static_cast<int8_t>(
        view.bytes[static_cast<size_t>(row * view.strides[0] + column * view.strides[1])]);
  }
  Element Expected(int64_t row, int64_t column) const {
    float sum = 0;
    for (int64_t block = 0; block * 128 < k; ++block) {
      int64_t exact = 0;
      for (int64_t t = block * 128; t < std::min(k, block * 128 + 128); ++t)
        exact += Byte(x1, row, t) * (has_flag ? Byte(x2, column, t) : Byte(x2, t, column));
      const float factor =
          NumberAt(row_scale, {row, block}) *
          NumberAt(scale, has_flag ? Index{column / 128, block} : Index{block, column / 128});
      sum = sum + static_cast<float>(exact) * factor;
    }
    if (!bias.null) sum = sum + NumberAt(bias, {column});
    Element element(2);
    EncodeElement(ACL_BF16, static_cast<double>(sum), element.data());
    return element;
  }
};

TEST(BlockScaledProducts, EveryElement) {
  for (const Isa isa : SupportedIsas()) {
    for (const Product product : {Product::kA2, Product::k950}) {
      const ScopedEnvironment environment(
          Variables{{"PORTACL_SOC", SocNameOf(product)}, {"PORTACL_ISA", engine::IsaName(isa)}});
      RandomNumbers random(11);
      for (int i = 0; i < 8; ++i) {
        const bool is_new = product == Product::k950;
        Call call(random.Between(1, 20), is_new ? random.Between(1, 300) : 512,
                  is_new ? random.Between(1, 300) : 256, random.Chance(50), !is_new || random.Chance(50),
                  random);
        // What is 0 follows from the scales, where their blocks are whole.
        call.group = int64_t{i % 2} << 32;
        if (i % 2 == 1 || call.n % 128 != 0) call.group |= 128 << 16;
        if (i % 2 == 1 || call.k % 128 != 0) call.group |= 128;
        if (i % 4 == 3) {
          call.is_fractal = true;
          call.x2.format = ACL_FORMAT_FRACTAL_NZ;
        }
        const CallResult result = call.Run(environment.stream());
        ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
        for (int64_t row = 0; row < call.m; ++row) {
          for (int64_t column = 0; column < call.n; ++column) {
            const Element expected = call.Expected(row, column);
            ASSERT_EQ(std::memcmp(expected.data(), call.out.bytes.data() + (row * call.n + column) * 2, 2), 0)
                << engine::IsaName(isa) << " call " << i << ": " << row << ", " << column;
          }
        }
      }
    }
  }
}

TEST(BlockScaledProducts, RefusesGroupsOfOtherLengths) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(Product::k950)}});
  RandomNumbers random(5);
  const auto expect = [&](int64_t k, int64_t n, int64_t group, bool fits) {
    Call call(2, k, n, true, true, random);
    call.group = group;
    const CallResult result = call.Run(environment.stream());
    EXPECT_EQ(result.plan, fits ? 0 : 161002) << k << " " << n << " " << group;
    EXPECT_EQ(result.message.find("groupSize") != std::string::npos, !fits) << result.message;
  };
  // Two blocks of 200 terms or columns are groups of 100.
  expect(200, 128, 128 << 16, false);
  expect(200, 128, 128, true);
  expect(128, 200, 128, false);
  expect(128, 200, 128 << 16, true);
  expect(100, 128, 0, false);
  expect(256, 256, 0, true);
}

TEST(BlockScaledProducts, Refuses) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(Product::kA2)}});
  RandomNumbers random(3);
  const auto expect = [&](const auto& change, aclnnStatus status, const char* words) {
    Call call(2, 512, 256, true, true, random);
    call.bias.null = false;
    change(call);
    const std::vector<unsigned char> before = call.out.bytes;
    const CallResult result = call.Run(environment.stream());
    EXPECT_EQ(result.plan, status) << words;
    EXPECT_NE(result.message.find(words), std::string::npos) << result.message;
    EXPECT_EQ(call.out.bytes, before);
  };
  expect([](Call& call) { call.group = 32; }, 161002, "groupSize");
  expect([](Call& call) { call.bias = Numbers({256}, ACL_INT32); }, 161002, "bias");
  expect([](Call& call) { call.out = Numbers({2, 256}, ACL_FLOAT16); }, 161002, "out");
  expect([](Call& call) { call.row_scale = Numbers({2, 3}, ACL_FLOAT); }, 161002, "x1Scale");
  expect([](Call& call) { call.scale = Numbers({4, 2}, ACL_FLOAT); }, 161002, "x2Scale");
  expect([](Call& call) { call.is_fractal = true; }, 161002, "FRACTAL_NZ");
  expect([](Call& call) { call.x2.format = ACL_FORMAT_FRACTAL_Z; }, 161002, "x2");
  const char* const names[] = {"yScale", "x1Offset", "yOffset"};
  for (int k = 0; k < 3; ++k) {
    const auto given = [&](bool is_fractal) {
      return [=](Call& call) {
        call.more[k] = Numbers({1}, ACL_FLOAT);
        call.is_fractal = is_fractal;
        if (is_fractal) call.x2.format = ACL_FORMAT_FRACTAL_NZ;
      };
    };
    expect(given(false), 161001, names[k]);
    expect(given(true), 161002, names[k]);
  }
  expect([&](Call& call) { call = Call(2, 384, 256, true, true, random); }, 161002, "a multiple of 512");
  expect([&](Call& call) { call = Call(2, 512, 128, true, true, random); }, 161002, "a multiple of 256");
  expect([&](Call& call) { call = Call(2, 512, 256, false, false, random); }, 161002, "a transposed matrix");
}

// The sum over a batch, each product of which has scales of rows and columns.
TEST(BlockScaledProducts, SumOverABatch) {
  for (const Isa isa : SupportedIsas()) {
    const ScopedEnvironment environment(
        Variables{{"PORTACL_SOC", SocNameOf(Product::kA2)}, {"PORTACL_ISA", engine::IsaName(isa)}});
    RandomNumbers random(8);
    for (int i = 0; i < 6; ++i) {
      const int64_t b = random.Between(1, 4);
      const int64_t m = random.Between(1, 20);
      const int64_t k = random.Between(1, 150);
      const int64_t n = random.Between(1, 150);
      HeldView x1 = Bytes({b, m, k}, false, random);
      HeldView x2 = Bytes({b, k, n}, false, random);
      HeldView of_rows = Floats({b, m}, random);
      HeldView of_columns = Numbers({n}, ACL_BF16);
      Fill(of_columns, random, 0.1);
      HeldView out = Numbers({m, n}, ACL_BF16);
      const int64_t first = i == 5 ? 1 : 0;
      aclIntArray* const dims = aclCreateIntArray(&first, 1);
      if (i != 4) x2.format = ACL_FORMAT_FRACTAL_NZ;
      HeldView* const views[] = {&x1, &x2, &of_rows, &of_columns, &out};
      std::vector<aclTensor*> t;
      for (HeldView* const view : views) t.push_back(view->Make());
      uint64_t size = 0;
      aclOpExecutor* executor = nullptr;
      const aclnnStatus status = aclnnQuantMatmulReduceSumWeightNzGetWorkspaceSize(
          t[0], t[1], t[2], t[3], nullptr, nullptr, nullptr, nullptr, nullptr, false, false, 0, dims, false,
          t[4], &size, &executor);
      EXPECT_EQ(status, i < 4 ? 0 : 161002);
      if (status == 0) {
        std::vector<std::byte> workspace(size);
        EXPECT_EQ(aclnnQuantMatmulReduceSumWeightNz(workspace.data(), size, executor, environment.stream()),
                  0);
        EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
      } else {
        const std::string message = TakeErrorMessage();
        EXPECT_NE(message.find(i == 4 ? "FRACTAL_NZ" : "dims"), std::string::npos) << message;
      }
      for (aclTensor* const tensor : t) aclDestroyTensor(tensor);
      for (HeldView* const view : views) view->Fetch();
      aclDestroyIntArray(dims);
      if (status != 0) continue;
      const auto byte = [](const HeldView& view, int64_t at) {
        return int{static_cast<int8_t>(view.bytes[static_cast<size_t>(at)])};
      };
      for (int64_t row = 0; row < m; ++row) {
        for (int64_t column = 0; column < n; ++column) {
          float sum = 0;
          for (int64_t batch = 0; batch < b; ++batch) {
            int64_t exact = 0;
            for (int64_t term = 0; term < k; ++term)
              exact += byte(x1, (batch * m + row) * k + term) * byte(x2, (batch * k + term) * n + column);
            const float scale = NumberAt(of_rows, {batch, row}) * NumberAt(of_columns, {column});
            sum = sum + static_cast<float>(exact) * scale;
          }
          Element expected(2);
          EncodeElement(ACL_BF16, static_cast<double>(sum), expected.data());
          ASSERT_EQ(std::memcmp(expected.data(), out.bytes.data() + (row * n + column) * 2, 2), 0)
              << row << ", " << column;
        }
      }
    }
  }
}

}  // namespace
}  // namespace portacl::testing
