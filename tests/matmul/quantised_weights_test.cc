// Products with weights of 8 and 4 bits: every element against the definition, in each layout and on each instruction set; what phase 1 answers.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "aclnnop/aclnn_weight_quant_batch_matmul_nz.h"
#include "aclnnop/aclnn_weight_quant_batch_matmul_v2.h"
#include "aclnnop/aclnn_weight_quant_batch_matmul_v3.h"
#include "engine/gemm/quantised_product.h"
#include "engine/isa_in_use.h"
#include "gtest/gtest.h"
#include "process/allocation_hook.h"
#include "quantised_views.h"
#include "support/contract_suite.h"
#include "support/environment.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

struct Call {
  int64_t m = 3, k = 70, n = 8;
  int64_t group = 0;
  HeldView x, weight, scale, offset, quant_scale, quant_offset, bias, y;
  std::vector<int> integers;    // of the weight, by term, then by column
  std::vector<float> of_codes;  // instead of these, unless it is empty
  Guard guard = Guard::kEnd;

  Call(int64_t rows, int64_t terms, int64_t columns, Packing packing, bool is_transposed, int64_t group_size,
       DtypeNumber dtype, bool per_tensor, RandomNumbers& random, int64_t first = 0)
      : m(rows), k(terms), n(columns), group(group_size) {
    x = Numbers({m, k}, dtype, random.Chance(30));
    Fill(x, random, 1);
    const int bits = packing == Packing::kInt8 ? 8 : 4;
    const int64_t half = int64_t{1} << (bits - 1);
    weight.dtype = packing == Packing::kInt8 ? ACL_INT8 : packing == Packing::kInt4 ? ACL_INT4 : ACL_INT32;
    weight.shape = {k, n};
    weight.strides = is_transposed ? std::vector<int64_t>{1, k} : std::vector<int64_t>{n, 1};
    weight.offset = first;
    const int64_t unit = packing == Packing::kWords ? 8 : 1;
    weight.bytes.resize(static_cast<size_t>(((k * n + first * unit) * bits + 7) / 8));
    integers.resize(static_cast<size_t>(k * n));
    for (int64_t term = 0; term < k; ++term) {
      for (int64_t column = 0; column < n; ++column) {
        const auto value = static_cast<int>(random.Between(-half, half - 1));
        integers[static_cast<size_t>(term * n + column)] = value;
        const int64_t at = first * unit + term * weight.strides[0] + column * weight.strides[1];
        auto& byte = weight.bytes[static_cast<size_t>(at * bits / 8)];
        byte = static_cast<unsigned char>(bits == 8     ? value
                                          : at % 2 == 0 ? (byte & 0xf0) | (value & 15)
                                                        : (byte & 15) | (value & 15) << 4);
      }
    }
    if (packing == Packing::kWords) {
      weight.shape[is_transposed ? 0 : 1] /= 8;
      weight.strides[is_transposed ? 1 : 0] /= 8;
    }
    const int64_t groups = group == 0 ? 1 : (k + group - 1) / group;
    const Shape numbers = group != 0          ? Shape{groups, n}
                          : per_tensor        ? (random.Chance(50) ? Shape{1} : Shape{1, 1})
                          : random.Chance(50) ? Shape{n}
                                              : Shape{1, n};
    scale = Numbers(numbers, dtype, is_transposed);
    Fill(scale, random, 0.01);
    offset = Numbers(numbers, dtype, is_transposed);
    Fill(offset, random, 1);
    offset.null = random.Chance(40);
    quant_scale.null = quant_offset.null = true;
    bias = Numbers(random.Chance(50) ? Shape{n} : Shape{1, n}, dtype == ACL_BF16 ? ACL_FLOAT : ACL_FLOAT16);
    Fill(bias, random, 1);
    bias.null = random.Chance(40);
    y = Numbers({m, n}, dtype);
  }

  enum class Form { kSecond, kThird, kFractal };
  Form form = Form::kSecond;
  int precise = 0;

  CallResult Run(aclrtStream stream) {
    HeldView* const views[] = {&x, &weight, &scale, &offset, &quant_scale, &quant_offset, &bias, &y};
    std::vector<aclTensor*> tensors;
    for (HeldView* view : views) {
      view->guard = guard;
      tensors.push_back(view->Make());
    }
    CallResult result;
    aclOpExecutor* executor = nullptr;
    const auto size = static_cast<int>(group);
    uint64_t* const workspace = &result.workspace_size;
    switch (form) {
      case Form::kSecond:
        result.plan = aclnnWeightQuantBatchMatmulV2GetWorkspaceSize(
            tensors[0], tensors[1], tensors[2], tensors[3], tensors[4], tensors[5], tensors[6], size,
            tensors[7], workspace, &executor);
        break;
      case Form::kThird:
        result.plan = aclnnWeightQuantBatchMatmulV3GetWorkspaceSize(
            tensors[0], tensors[1], tensors[2], tensors[3], tensors[4], tensors[5], tensors[6], size, precise,
            tensors[7], workspace, &executor);
        break;
      case Form::kFractal:
        result.plan = aclnnWeightQuantBatchMatmulNzGetWorkspaceSize(
            tensors[0], tensors[1], tensors[2], tensors[3], tensors[4], tensors[5], tensors[6], size,
            tensors[7], workspace, &executor);
        break;
    }
    if (result.plan == 0) {
      const auto run = form == Form::kSecond  ? aclnnWeightQuantBatchMatmulV2
                       : form == Form::kThird ? aclnnWeightQuantBatchMatmulV3
                                              : aclnnWeightQuantBatchMatmulNz;
      result.run = run(nullptr, 0, executor, stream);
      result.synchronize = aclrtSynchronizeStream(stream);
    } else {
      result.message = TakeErrorMessage();
    }
    for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
    for (HeldView* view : views) view->Fetch();
    return result;
  }

  float Shared(const HeldView& view, int64_t term, int64_t column) const {
    Index index(view.shape.size(), 0);
    if (view.shape.back() != 1) index.back() = column;
    if (group != 0) index[0] = term / group;
    if (view.dtype != ACL_FLOAT8_E8M0) return NumberAt(view, index);
    return std::ldexp(
        1.0f, view.bytes[static_cast<size_t>(index[0] * view.strides[0] + index[1] * view.strides[1])] - 127);
  }
  Element Expected(int64_t row, int64_t column) const {
    BlockedSum sum(ACL_FLOAT, ACL_FLOAT);
    for (int64_t term = 0; term < k; ++term) {
      const auto at = static_cast<size_t>(term * n + column);
      auto w = of_codes.empty() ? static_cast<float>(integers[at]) : of_codes[at];
      if (!offset.null) w = w + Shared(offset, term, column);
      w = w * Shared(scale, term, column);
      sum.AddTerm(NumberAt(x, {row, term}), w);
    }
    float result = sum.Result();
    if (!bias.null)
      result = NumberAt(bias, bias.shape.size() == 1 ? Index{column} : Index{0, column}) + result;
    return Rounded(y.dtype, result);
  }
};

TEST(QuantisedWeights, EveryElement) {
  for (const char* isa : {"", "avx2", "portable"}) {
    Variables variables;
    if (*isa != '\0') variables.push_back({"PORTACL_ISA", isa});
    const ScopedEnvironment environment(variables);
    if (environment.init_status() != 0) continue;
    RandomNumbers random(20261123);
    for (int i = 0; i < 150; ++i) {
      const auto packing = static_cast<Packing>(random.Below(3));
      const bool is_transposed = random.Chance(50);
      int64_t m = random.Chance(30) ? 1 : random.Between(1, random.Chance(20) ? 40 : 6);
      int64_t k = random.Chance(30) ? random.Between(1, 700) : random.Between(1, 80);
      int64_t n = random.Chance(30) ? random.Between(1, 150) : random.Between(1, 20);
      const int64_t unit = packing == Packing::kInt8 ? 1 : packing == Packing::kInt4 ? 2 : 8;
      (is_transposed ? k : n) = ((is_transposed ? k : n) + unit - 1) / unit * unit;
      const int64_t group = k > 32 && random.Chance(60) ? 32 * random.Between(1, (k - 1) / 32) : 0;
      Call call(m, k, n, packing, is_transposed, group, random.Chance(50) ? ACL_FLOAT16 : ACL_BF16,
                random.Chance(30), random, random.Below(4));
      SCOPED_TRACE(::testing::Message()
                   << isa << " call " << i << ": " << m << " x " << k << " x " << n << ", packing "
                   << static_cast<int>(packing) << ", transposed " << is_transposed << ", group " << group);
      call.guard = i % 3 == 0 ? Guard::kStart : Guard::kEnd;
      const CallResult result = call.Run(environment.stream());
      ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
      for (int64_t row = 0; row < m; ++row) {
        for (int64_t column = 0; column < n; ++column) {
          const Element expected = call.Expected(row, column);
          ASSERT_EQ(std::memcmp(expected.data(), call.y.bytes.data() + (row * n + column) * 2, 2), 0)
              << row << ", " << column;
        }
      }
    }
  }
}

// The third form has a mode of the kernel; the one for FRACTAL_NZ takes such weights alone, on Ascend 950.
TEST(QuantisedWeights, OtherForms) {
  for (const Product product : {Product::kA2, Product::k950}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)}});
    RandomNumbers random(5);
    for (const Call::Form form : {Call::Form::kThird, Call::Form::kFractal}) {
      for (const Packing packing : {Packing::kInt8, Packing::kInt4}) {
        Call call(5, 96, 24, packing, false, 32, ACL_BF16, false, random, 0);
        call.form = form;
        const bool is_fractal = form == Call::Form::kFractal;
        if (is_fractal) call.weight.format = ACL_FORMAT_FRACTAL_NZ;
        call.precise = 1;
        const CallResult result = call.Run(environment.stream());
        if (is_fractal && product != Product::k950) {
          EXPECT_EQ(result.plan, 361001);
          EXPECT_NE(result.message.find("Ascend 950"), std::string::npos) << result.message;
          continue;
        }
        ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
        for (int64_t row = 0; row < 5; ++row) {
          for (int64_t column = 0; column < 24; ++column) {
            const Element expected = call.Expected(row, column);
            ASSERT_EQ(std::memcmp(expected.data(), call.y.bytes.data() + (row * 24 + column) * 2, 2), 0)
                << row << ", " << column;
          }
        }
        if (is_fractal) {
          call.weight.format = ACL_FORMAT_ND;
        } else {
          call.precise = 2;
        }
        const CallResult refused = call.Run(environment.stream());
        EXPECT_EQ(refused.plan, 161002);
        EXPECT_NE(refused.message.find(is_fractal ? "FRACTAL_NZ" : "innerPrecise has the value 2"),
                  std::string::npos)
            << refused.message;
      }
    }
  }
}

// Weights of FLOAT4_E2M1, two in a byte or eight in a FLOAT, in FRACTAL_NZ: scales of x's type, or powers of two of 32 terms.
TEST(QuantisedWeights, Float4) {
  constexpr float kNumbers[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (const char* isa : {"", "avx2", "portable"}) {
    Variables variables{{"PORTACL_SOC", SocNameOf(Product::k950)}};
    if (*isa != '\0') variables.push_back({"PORTACL_ISA", isa});
    const ScopedEnvironment environment(variables);
    if (environment.init_status() != 0) continue;
    RandomNumbers random(40);
    for (int i = 0; i < 60; ++i) {
      const bool has_words = random.Chance(50);
      const bool is_transposed = random.Chance(50);
      const bool has_powers = random.Chance(50);
      const int64_t unit = has_words ? 8 : 2;
      int64_t k = random.Between(33, 200);
      int64_t n = random.Between(1, 70);
      (is_transposed ? k : n) = ((is_transposed ? k : n) + unit - 1) / unit * unit;
      Call call(random.Between(1, 5), k, n, has_words ? Packing::kWords : Packing::kInt4, is_transposed,
                has_powers || random.Chance(50) ? 32 : 0, random.Chance(50) ? ACL_FLOAT16 : ACL_BF16, false,
                random, random.Below(3));
      call.form = Call::Form::kFractal;
      call.weight.format = ACL_FORMAT_FRACTAL_NZ;
      call.weight.dtype = has_words ? ACL_FLOAT : ACL_FLOAT4_E2M1;
      call.offset.null = true;
      for (const int code : call.integers)
        call.of_codes.push_back((code & 8) != 0 ? -kNumbers[code & 7] : kNumbers[code & 7]);
      if (has_powers) {
        call.scale = Numbers({(k + 31) / 32, n}, ACL_FLOAT8_E8M0, is_transposed);
        for (unsigned char& byte : call.scale.bytes)
          byte = static_cast<unsigned char>(random.Between(115, 130));
      }
      const CallResult result = call.Run(environment.stream());
      ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
      for (int64_t row = 0; row < call.m; ++row) {
        for (int64_t column = 0; column < n; ++column) {
          const Element expected = call.Expected(row, column);
          ASSERT_EQ(std::memcmp(expected.data(), call.y.bytes.data() + (row * n + column) * 2, 2), 0)
              << isa << " call " << i << ": " << row << ", " << column << " of " << k << " x " << n;
        }
      }
    }
    Call call(3, 64, 16, Packing::kInt4, false, 32, ACL_BF16, false, random);
    call.form = Call::Form::kFractal;
    call.weight.format = ACL_FORMAT_FRACTAL_NZ;
    call.weight.dtype = ACL_FLOAT4_E2M1;
    call.offset.null = false;
    EXPECT_EQ(call.Run(environment.stream()).plan, 161002);
    call.offset.null = true;
    call.scale = Numbers({2, 16}, ACL_FLOAT8_E8M0);
    EXPECT_EQ(call.Run(environment.stream()).plan, 0);
    call.group = 0;
    EXPECT_EQ(call.Run(environment.stream()).plan, 161002);
    call.group = 32;
    call.weight.dtype = ACL_INT4;
    const CallResult refused = call.Run(environment.stream());
    EXPECT_EQ(refused.plan, 161002);
    EXPECT_NE(refused.message.find("antiquantScale"), std::string::npos) << refused.message;
    // Words are read by strides, which must leave no gaps although the format is private.
    for (const bool is_transposed : {false, true}) {
      for (const std::vector<int64_t>& strides : {std::vector<int64_t>{0, 0}, {3, 1}, {1, 9}, {2, 2}}) {
        Call words(3, 64, 16, Packing::kWords, is_transposed, 0, ACL_BF16, false, random);
        words.form = Call::Form::kFractal;
        words.weight.format = ACL_FORMAT_FRACTAL_NZ;
        words.weight.dtype = ACL_FLOAT;
        words.offset.null = true;
        EXPECT_EQ(words.Run(environment.stream()).plan, 0);
        words.weight.strides = strides;
        const CallResult gaps = words.Run(environment.stream());
        EXPECT_EQ(gaps.plan, 161002) << strides[0] << ", " << strides[1];
        EXPECT_NE(gaps.message.find("weight"), std::string::npos) << gaps.message;
      }
    }
  }
}

// One row, whose weights are widened in registers: more columns than a part of them, more terms than a block, and the last columns,
// terms and halves of a byte by themselves.
TEST(QuantisedWeights, OneRow) {
  for (const char* isa : {"", "avx2", "portable"}) {
    Variables variables;
    if (*isa != '\0') variables.push_back({"PORTACL_ISA", isa});
    const ScopedEnvironment environment(variables);
    if (environment.init_status() != 0) continue;
    RandomNumbers random(20261127);
    struct Case {
      int64_t k, n, group;
    };
    for (const auto& [k, n, group] :
         {Case{24, 2168, 0}, Case{328, 1048, 32}, Case{600, 72, 64}, Case{1048, 40, 0}}) {
      for (const Packing packing : {Packing::kInt8, Packing::kInt4, Packing::kWords}) {
        for (const bool is_transposed : {false, true}) {
          for (const bool per_tensor : {false, true}) {
            Call call(1, k, n, packing, is_transposed, group, per_tensor ? ACL_FLOAT16 : ACL_BF16, per_tensor,
                      random);
            call.guard = Guard::kEnd;
            const CallResult result = call.Run(environment.stream());
            ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
            for (int64_t column = 0; column < n; ++column) {
              const Element expected = call.Expected(0, column);
              ASSERT_EQ(std::memcmp(expected.data(), call.y.bytes.data() + column * 2, 2), 0)
                  << isa << " " << k << " x " << n << ", packing " << static_cast<int>(packing)
                  << ", transposed " << is_transposed << ", column " << column;
            }
          }
        }
      }
    }
  }
}

// Work for several threads, with the bits of one.
TEST(QuantisedWeights, AnyThreadsSameBits) {
  std::vector<unsigned char> bits[2];
  for (int i = 0; i < 2; ++i) {
    const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", i == 0 ? "1" : "3"}});
    RandomNumbers random(7);
    Call call(33, 1024, 1500, Packing::kInt4, true, 32, ACL_FLOAT16, false, random);
    ASSERT_TRUE(call.Run(environment.stream()).Succeeded());
    bits[i] = call.y.bytes;
  }
  EXPECT_EQ(bits[0], bits[1]);
}

// A thread that gets no memory to keep sums elements one by one, by the same definition.
TEST(QuantisedWeights, NeedNoMemory) {
  const ScopedEnvironment environment(Variables{});
  RandomNumbers random(11);
  constexpr int64_t kRows = 5, kTerms = 300, kColumns = 70, kGroup = 32, kGroups = 10;
  std::vector<float> x(kRows * kTerms);
  for (float& number : x) number = static_cast<float>(random.Between(-4000, 4000)) / 1111;
  std::vector<uint16_t> scales(kGroups * kColumns), offsets(kGroups * kColumns);
  for (std::vector<uint16_t>* numbers : {&scales, &offsets}) {
    for (uint16_t& number : *numbers) number = static_cast<uint16_t>(0x3f80 + random.Below(128));
  }
  std::vector<unsigned char> weight(kTerms * kColumns / 2);
  for (unsigned char& byte : weight) byte = static_cast<unsigned char>(random.Below(256));
  for (const bool is_transposed : {false, true}) {
    engine::Gemm gemm{};
    std::fill(std::begin(gemm.batch), std::end(gemm.batch), int64_t{1});
    gemm.rows = kRows;
    gemm.columns = kColumns;
    gemm.depth = kTerms;
    gemm.groups = 1;
    gemm.alpha = gemm.beta = 1;
    gemm.left.dtype = gemm.out.dtype = gemm.added.dtype = ACL_FLOAT;
    gemm.left.row = kTerms * 4;
    gemm.left.column = gemm.out.column = 4;
    gemm.out.argument = 4;
    gemm.out.row = kColumns * 4;
    engine::QuantisedWeights weights{};
    weights.argument = 1;
    weights.is_int4 = weights.has_offset = true;
    weights.term = is_transposed ? 1 : kColumns;
    weights.column = is_transposed ? kTerms : 1;
    weights.group_terms = kGroup;
    weights.dtype = ACL_BF16;
    weights.scale = {2, 0, 2, kColumns * 2};
    weights.offset = {3, 0, 2, kColumns * 2};
    std::vector<float> out[2];
    for (const bool without_memory : {false, true}) {
      std::vector<float>& to = out[without_memory ? 1 : 0];
      to.resize(kRows * kColumns);
      void* const addresses[] = {x.data(), weight.data(), scales.data(), offsets.data(), to.data()};
      const engine::QuantisedGemmJob job{gemm, weights, engine::IsaInUse(), 1};
      std::thread([&] {
        if (without_memory) FailAllocation(1, Failing::kAllFromThereOn);
        job.Run(addresses, nullptr);
        if (without_memory) {
          EXPECT_TRUE(StopFailingAllocations()) << "it asked for no memory";
        }
      }).join();
    }
    EXPECT_EQ(std::memcmp(out[0].data(), out[1].data(), out[0].size() * sizeof(float)), 0) << is_transposed;
  }
}

TEST(QuantisedWeights, Contract) {
  struct Fault {
    aclnnStatus code;
    const char* name;
    std::function<void(Call&)> make;
  };
  const std::vector<Fault> faults = {
      {0, "", [](Call&) {}},
      {161001, "x", [](Call& call) { call.x.null = true; }},
      {161001, "weight", [](Call& call) { call.weight.null = true; }},
      {161001, "antiquantScale", [](Call& call) { call.scale.null = true; }},
      {161001, "y", [](Call& call) { call.y.null = true; }},
      {161002, "x",
       [](Call& call) {
         call.x.strides = {2, 2};
       }},
      {161002, "weight", [](Call& call) { call.weight.strides[0] += 1; }},
      {161002, "antiquantScale",
       [](Call& call) {
         call.scale.shape = {3, 8};
         call.scale.strides = {1, 3};
       }},
      {161002, "y",
       [](Call& call) {
         call.y.strides = {1, 3};
       }},
      {161002, "biasOptional", [](Call& call) { call.bias.strides.back() = 2; }},
      {161002, "x", [](Call& call) { call.x.dtype = ACL_INT16; }},
      {161002, "weight", [](Call& call) { call.weight.dtype = ACL_UINT8; }},
      {161002, "antiquantScale", [](Call& call) { call.scale.dtype = ACL_BF16; }},
      {161002, "antiquantOffsetOptional", [](Call& call) { call.offset.dtype = ACL_BF16; }},
      {161002, "biasOptional", [](Call& call) { call.bias.dtype = ACL_FLOAT; }},
      {161002, "y", [](Call& call) { call.y.dtype = ACL_INT8; }},
      {161002, "x",
       [](Call& call) {
         call.x.shape = {1, 3, 70}, call.x.strides = {210, 70, 1};
       }},
      {161002, "x", [](Call& call) { call.x.format = ACL_FORMAT_NCHW; }},
      {0, "", [](Call& call) { call.weight.format = ACL_FORMAT_FRACTAL_NZ; }},
      {161002, "weight",
       [](Call& call) {
         call.x.shape = {3, 69}, call.x.strides = {69, 1};
       }},
      {161002, "x",
       [](Call& call) {
         call.x.shape = {0, 70};
       }},
      {161002, "y",
       [](Call& call) {
         call.y.shape = {2, 8};
       }},
      {161002, "antiquantGroupSize", [](Call& call) { call.group = 16; }},
      {161002, "antiquantGroupSize", [](Call& call) { call.group = -32; }},
      {161002, "antiquantGroupSize", [](Call& call) { call.group = 96; }},
      {161002, "antiquantScale", [](Call& call) { call.group = 64; }},
      {161002, "antiquantOffsetOptional",
       [](Call& call) {
         call.scale.shape = {1, 8};
         call.scale.strides = {8, 1};
         call.offset.shape = {8};
         call.offset.strides = {1};
       }},
      {161002, "biasOptional", [](Call& call) { call.bias.shape = {7}, call.bias.strides = {1}; }},
      {561103, "quantOffsetOptional", [](Call& call) { call.quant_offset = Numbers({8}, ACL_FLOAT); }},
      {561103, "antiquantScale",
       [](Call& call) {
         call.scale = Numbers({8}, ACL_INT64);
         call.offset.null = true;
       }},
  };
  for (const Product product :
       {Product::kA2, Product::kA3, Product::k950, Product::k310P, Product::k910, Product::k310B}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)}});
    const bool is_a2 = product == Product::kA2 || product == Product::kA3;
    for (size_t i = 0; i < faults.size(); ++i) {
      RandomNumbers random(1);
      Call call(3, 70, 8, Packing::kInt8, false, 0, ACL_FLOAT16, false, random);
      call.x.strides = {70, 1};
      for (HeldView* view : {&call.offset, &call.bias}) {
        view->null = false;
        view->shape = {8};
        view->strides = {1};
      }
      call.scale.shape = {8};
      call.scale.strides = {1};
      faults[i].make(call);
      aclnnStatus code = faults[i].code;
      if (product == Product::k910 || product == Product::k310B) {
        code = 361001;
      } else if (!is_a2 && !call.quant_offset.null) {
        code = 161001;
      } else if (product == Product::k310P && code == 561103) {
        code = 161002;
      } else if (product == Product::k950 && call.weight.format != ACL_FORMAT_ND) {
        code = 161002;
      }
      const CallResult result = call.Run(environment.stream());
      EXPECT_EQ(result.plan, code) << "fault " << i << " on " << SocNameOf(product) << ": " << result.message;
      if (code != 0 && code != 361001) {
        EXPECT_NE(result.message.find(faults[i].name), std::string::npos) << i << ": " << result.message;
      }
    }
  }
}

// Expert 1 of two: a weight whose last two dims are swapped is taken by its strides alone, at an offset behind the storage that it is
// said to have. So are its scales.
TEST(QuantisedWeights, ExpertsLieBehindTheirStorage) {
  const ScopedEnvironment environment(Variables{});
  for (const Packing packing : {Packing::kInt8, Packing::kInt4, Packing::kWords}) {
    RandomNumbers random(3);
    constexpr int64_t kTerms = 96, kColumns = 64;
    const int64_t unit = packing == Packing::kWords ? 8 : 1;
    Call call(3, kTerms, kColumns, packing, true, 32, ACL_FLOAT16, false, random, kTerms * kColumns / unit);
    ASSERT_EQ(call.weight.strides[0], 1);
    ASSERT_EQ(call.weight.offset, kTerms * kColumns / unit);
    call.weight.storage_elements = kTerms * kColumns / unit;
    call.offset.null = true;
    std::vector<unsigned char>& scales = call.scale.bytes;
    call.scale.storage_elements = call.scale.offset = static_cast<int64_t>(scales.size()) / 2;
    scales.insert(scales.begin(), scales.size(), 0);
    const CallResult result = call.Run(environment.stream());
    ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
    for (int64_t row = 0; row < call.m; ++row) {
      for (int64_t column = 0; column < kColumns; ++column) {
        const Element expected = call.Expected(row, column);
        ASSERT_EQ(std::memcmp(expected.data(), call.y.bytes.data() + (row * kColumns + column) * 2, 2), 0)
            << row << ", " << column;
      }
    }
    // Swapped, but with gaps, it is refused as what no product takes.
    call.weight.strides[1] += unit == 8 ? 1 : 8;
    EXPECT_EQ(call.Run(environment.stream()).plan, 161002);
  }
}

TEST(QuantisedWeights, OddHalvesOfBytesAreRefused) {
  const ScopedEnvironment environment(Variables{});
  RandomNumbers random(2);
  Call call(2, 6, 5, Packing::kInt4, false, 0, ACL_FLOAT16, false, random);
  EXPECT_EQ(call.Run(environment.stream()).plan, 161002);
  Call transposed(2, 6, 5, Packing::kInt4, true, 0, ACL_FLOAT16, false, random);
  EXPECT_TRUE(transposed.Run(environment.stream()).Succeeded());
}

}  // namespace
}  // namespace portacl::testing
