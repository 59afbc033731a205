// Products of codes of few bits with scales: aclnnQuantMatmulV5 and WeightNz of 8-bit and 4-bit floats and of INT4, and the operators of Ascend 950
// that add, transpose or have two levels of scales. Every element against codes by definition and float32 sums in the documented order.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "aclnnop/families/matmul.h"
#include "aclnnop/families/moe.h"
#include "engine/isa_in_use.h"
#include "gtest/gtest.h"
#include "quantisation/codes_by_definition.h"
#include "quantised_views.h"
#include "support/contract_suite.h"
#include "support/environment.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

bool IsPacked(DtypeNumber dtype) { return BitsOfCode(dtype) == 4; }

// Finite codes, dense, or with the last two dims swapped in memory.
HeldView CodesOf(const Shape& shape, DtypeNumber dtype, RandomNumbers& random, bool is_across = false) {
  HeldView view{shape, Dense(shape), dtype};
  const size_t rank = shape.size();
  if (is_across) {
    view.strides[rank - 2] = 1;
    view.strides[rank - 1] = shape[rank - 2];
  }
  const int64_t elements = NumElements(shape);
  view.bytes.resize(static_cast<size_t>(IsPacked(dtype) ? elements / 2 : elements));
  for (unsigned char& byte : view.bytes) {
    byte = static_cast<unsigned char>(random.Between(0, 255));
    while (!IsPacked(dtype) && dtype != ACL_INT8 && !std::isfinite(NumberOfCode(dtype, byte)))
      byte = static_cast<unsigned char>(random.Between(0, 255));
  }
  view.storage_elements = elements;
  return view;
}
double CodeAt(const HeldView& view, const Index& index) {
  int64_t place = view.offset;
  for (size_t i = 0; i < index.size(); ++i) place += index[i] * view.strides[i];
  if (IsPacked(view.dtype)) {
    const uint32_t byte = view.bytes[static_cast<size_t>(place / 2)];
    return NumberOfCode(view.dtype, place % 2 == 0 ? byte & 0xF : byte >> 4);
  }
  const unsigned char byte = view.bytes[static_cast<size_t>(place)];
  return view.dtype == ACL_INT8 ? static_cast<int8_t>(byte) : NumberOfCode(view.dtype, byte);
}
HeldView PowersOf(const Shape& shape, RandomNumbers& random) {
  HeldView view{shape, Dense(shape), ACL_FLOAT8_E8M0};
  view.bytes.resize(static_cast<size_t>(NumElements(shape)));
  for (unsigned char& byte : view.bytes) byte = static_cast<unsigned char>(random.Between(117, 132));
  return view;
}
float PowerAt(const HeldView& view, const Index& index) { return static_cast<float>(CodeAt(view, index)); }
HeldView FloatsOf(const Shape& shape, DtypeNumber dtype, RandomNumbers& random) {
  HeldView view = Numbers(shape, dtype);
  if (dtype == ACL_INT32) {
    for (size_t i = 0; i < view.bytes.size(); i += 4)
      EncodeIntegerElement(dtype, random.Between(-50, 50), view.bytes.data() + i);
    return view;
  }
  Fill(view, random, 0.01);
  return view;
}
// Words whose lower half is a float, with other bits above.
HeldView WordsOf(const Shape& shape, RandomNumbers& random) {
  HeldView view = Numbers(shape, ACL_UINT64);
  for (size_t i = 0; i < view.bytes.size() / 8; ++i) {
    const auto number = static_cast<float>(random.Between(-4000, 4000)) / 1024;
    const uint32_t above = 1u << 14;
    std::memcpy(view.bytes.data() + 8 * i, &number, 4);
    std::memcpy(view.bytes.data() + 8 * i + 4, &above, 4);
  }
  return view;
}
float WordAt(const HeldView& view, int64_t i) {
  float number;
  std::memcpy(&number, view.bytes.data() + 8 * i, 4);
  return number;
}
HeldView Nothing() {
  HeldView view = Numbers({1}, ACL_FLOAT);
  view.null = true;
  return view;
}

Element Encoded(DtypeNumber dtype, float number) {
  if (dtype == ACL_HIFLOAT8)
    return {static_cast<std::byte>(CodeOfNumber(dtype, static_cast<double>(number), false))};
  Element element(static_cast<size_t>(ElementSize(dtype)));
  EncodeElement(dtype, static_cast<double>(number), element.data());
  return element;
}

// The sum over blocks of terms [begin, end) of parts times scales, which count blocks from 0.
float SumOf(int64_t begin, int64_t end, int64_t block, const std::function<double(int64_t)>& product,
            const std::function<float(int64_t)>& scale) {
  float sum = 0;
  for (int64_t first = begin; first < end; first += block) {
    float part = 0;
    for (int64_t t = first; t < std::min(end, first + block); ++t)
      part = part + static_cast<float>(product(t));
    const float scaled = part * scale((first - begin) / block);
    sum = sum + scaled;
  }
  return sum;
}

// Plans and runs a call of these tensors.
template <class Plan, class Run>
CallResult RunOf(aclrtStream stream, const std::vector<HeldView*>& views, const Plan& plan, const Run& run) {
  std::vector<aclTensor*> t;
  t.reserve(views.size());
  for (HeldView* const view : views) t.push_back(view->Make());
  CallResult result;
  aclOpExecutor* executor = nullptr;
  result.plan = plan(t, &result.workspace_size, &executor);
  if (result.plan == 0) {
    std::vector<std::byte> workspace(result.workspace_size);
    result.run = run(workspace.data(), result.workspace_size, executor, stream);
    result.synchronize = aclrtSynchronizeStream(stream);
  } else {
    result.message = TakeErrorMessage();
  }
  for (aclTensor* const tensor : t) aclDestroyTensor(tensor);
  for (HeldView* const view : views) view->Fetch();
  return result;
}

struct Call {
  HeldView x1, x2, row_scale = Nothing(), scale, y_scale = Nothing(), x1_offset = Nothing(),
                   offset = Nothing(), y_offset = Nothing(), bias = Nothing(), out;
  bool has_flag1 = false, has_flag2 = false, is_fractal = false;
  int64_t group = 0;

  CallResult Run(aclrtStream stream) {
    if (is_fractal) x2.format = ACL_FORMAT_FRACTAL_NZ;
    return RunOf(
        stream, {&x1, &x2, &row_scale, &scale, &y_scale, &x1_offset, &offset, &y_offset, &bias, &out},
        [&](const std::vector<aclTensor*>& t, uint64_t* size, aclOpExecutor** executor) {
          const auto plan =
              is_fractal ? aclnnQuantMatmulWeightNzGetWorkspaceSize : aclnnQuantMatmulV5GetWorkspaceSize;
          return plan(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], has_flag1, has_flag2, group, t[9],
                      size, executor);
        },
        is_fractal ? aclnnQuantMatmulWeightNz : aclnnQuantMatmulV5);
  }
  double Left(int64_t m, int64_t k) const { return CodeAt(x1, has_flag1 ? Index{k, m} : Index{m, k}); }
  double Right(int64_t k, int64_t n) const { return CodeAt(x2, has_flag2 ? Index{n, k} : Index{k, n}); }
};

void ExpectElements(const HeldView& out, const std::function<float(int64_t, int64_t)>& number,
                    const std::string& what) {
  const int64_t columns = out.shape.back();
  const int64_t size = ElementSize(out.dtype);
  for (int64_t m = 0; m < NumElements(out.shape) / columns; ++m) {
    for (int64_t n = 0; n < columns; ++n) {
      const Element expected = Encoded(out.dtype, number(m, n));
      ASSERT_EQ(std::memcmp(expected.data(), out.bytes.data() + (m * columns + n) * size,
                            static_cast<size_t>(size)),
                0)
          << what << ": " << m << ", " << n;
    }
  }
}

// Calls body with an environment and random numbers, on each instruction set, with other numbers of threads.
template <class Body>
void OnEachIsa(Product product, uint64_t seed, const Body& body) {
  const char* const kThreads[] = {"1", "2", "7"};
  size_t count = 0;
  for (const Isa isa : SupportedIsas()) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)},
                                                  {"PORTACL_ISA", engine::IsaName(isa)},
                                                  {"PORTACL_NUM_THREADS", kThreads[count++ % 3]}});
    RandomNumbers random(seed);
    body(environment.stream(), random, std::string(engine::IsaName(isa)));
  }
}

constexpr DtypeNumber kOuts[] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

TEST(CodeProducts, Whole) {
  OnEachIsa(Product::k950, 5, [](aclrtStream stream, RandomNumbers& random, const std::string& isa) {
    for (int i = 0; i < 8; ++i) {
      const int64_t m = random.Between(1, 40), k = random.Between(1, 70), n = random.Between(1, 70);
      const bool is_hifloat = i % 2 != 0;
      const DtypeNumber left = is_hifloat          ? ACL_HIFLOAT8
                               : random.Chance(50) ? ACL_FLOAT8_E5M2
                                                   : ACL_FLOAT8_E4M3FN;
      const DtypeNumber right = is_hifloat ? left : DtypeNumber{ACL_FLOAT8_E4M3FN};
      Call call;
      call.has_flag1 = random.Chance(50);
      call.has_flag2 = random.Chance(50);
      call.x1 = CodesOf(call.has_flag1 ? Shape{k, m} : Shape{m, k}, left, random, random.Chance(30));
      call.x2 = CodesOf(call.has_flag2 ? Shape{n, k} : Shape{k, n}, right, random, random.Chance(30));
      const bool has_words = i >= 6;
      call.scale =
          has_words ? WordsOf({n}, random) : FloatsOf({random.Chance(30) ? 1 : n}, ACL_FLOAT, random);
      if (!has_words && random.Chance(70))
        call.row_scale = FloatsOf({random.Chance(50) ? 1 : m}, ACL_FLOAT, random);
      if (random.Chance(50)) call.bias = FloatsOf({n}, ACL_FLOAT, random);
      call.out = Numbers({m, n}, kOuts[i % 3]);
      const CallResult result = call.Run(stream);
      ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
      ExpectElements(
          call.out,
          [&](int64_t row, int64_t column) {
            float sum = SumOf(
                0, k, k, [&](int64_t t) { return call.Left(row, t) * call.Right(t, column); },
                [](int64_t) { return 1.0f; });
            const float bias = call.bias.null ? 0 : NumberAt(call.bias, {column});
            if (has_words && !call.bias.null) sum = sum + bias;
            const bool is_one = call.scale.shape[0] == 1;
            sum = sum * (has_words ? WordAt(call.scale, is_one ? 0 : column)
                                   : NumberAt(call.scale, {is_one ? 0 : column}));
            if (!call.row_scale.null)
              sum = sum * NumberAt(call.row_scale, {call.row_scale.shape[0] == 1 ? 0 : row});
            if (!has_words && !call.bias.null) sum = sum + bias;
            return sum;
          },
          isa + " call " + std::to_string(i));
    }
  });
}

TEST(CodeProducts, Blocks) {
  OnEachIsa(Product::k950, 6, [](aclrtStream stream, RandomNumbers& random, const std::string& isa) {
    for (int i = 0; i < 5; ++i) {
      const bool has_many = i % 2 != 0;
      const bool is_whole = i == 4;  // the quotients say the groups
      const int64_t m = random.Between(1, has_many ? 150 : 9), k = is_whole ? 256 : random.Between(1, 300),
                    n = is_whole ? 128 : random.Between(1, 140);
      const auto blocks = [](int64_t length) { return (length + 127) / 128; };
      Call call;
      call.has_flag1 = i == 3;
      call.has_flag2 = random.Chance(50);
      const DtypeNumber codes = random.Chance(50) ? ACL_HIFLOAT8 : ACL_FLOAT8_E4M3FN;
      call.x1 = CodesOf(call.has_flag1 ? Shape{k, m} : Shape{m, k}, codes, random);
      call.x2 = CodesOf(call.has_flag2 ? Shape{n, k} : Shape{k, n}, codes, random);
      const int64_t lines = has_many ? blocks(m) : m;
      call.row_scale =
          FloatsOf(call.has_flag1 ? Shape{blocks(k), lines} : Shape{lines, blocks(k)}, ACL_FLOAT, random);
      call.scale = FloatsOf(call.has_flag2 ? Shape{blocks(n), blocks(k)} : Shape{blocks(k), blocks(n)},
                            ACL_FLOAT, random);
      if (lines == m && random.Chance(50)) call.bias = FloatsOf({n}, ACL_FLOAT, random);
      call.out = Numbers({m, n}, kOuts[i % 3]);
      if (!is_whole) call.group = int64_t{lines == m ? 1 : 128} << 32 | 128 << 16 | 128;
      const CallResult result = call.Run(stream);
      ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
      ExpectElements(
          call.out,
          [&](int64_t row, int64_t column) {
            const int64_t line = lines == m ? row : row / 128;
            const float sum = SumOf(
                0, k, 128, [&](int64_t t) { return call.Left(row, t) * call.Right(t, column); },
                [&](int64_t j) {
                  return NumberAt(call.row_scale, call.has_flag1 ? Index{j, line} : Index{line, j}) *
                         NumberAt(call.scale,
                                  call.has_flag2 ? Index{column / 128, j} : Index{j, column / 128});
                });
            return call.bias.null ? sum : sum + NumberAt(call.bias, {column});
          },
          isa + " call " + std::to_string(i));
    }
  });
}

TEST(CodeProducts, Powers) {
  OnEachIsa(Product::k950, 7, [](aclrtStream stream, RandomNumbers& random, const std::string& isa) {
    for (int i = 0; i < 9; ++i) {
      const int kind = i % 3;  // FLOAT8, FLOAT4, both
      const int64_t m = 2 * random.Between(1, 20), n = 2 * random.Between(1, 40);
      const int64_t k = kind == 0 ? random.Between(1, 200) : 2 * random.Between(2, 100);
      const int64_t pairs = (k + 63) / 64;
      Call call;
      call.has_flag1 = random.Chance(40);
      call.has_flag2 = random.Chance(50);
      call.x1 = CodesOf(call.has_flag1 ? Shape{k, m} : Shape{m, k},
                        kind == 1 ? ACL_FLOAT4_E2M1 : ACL_FLOAT8_E4M3FN, random, random.Chance(30));
      call.x2 = CodesOf(call.has_flag2 ? Shape{n, k} : Shape{k, n},
                        kind == 0 ? ACL_FLOAT8_E5M2 : ACL_FLOAT4_E2M1, random, random.Chance(30));
      call.row_scale = PowersOf(call.has_flag1 ? Shape{pairs, m, 2} : Shape{m, pairs, 2}, random);
      call.scale = PowersOf(call.has_flag2 ? Shape{n, pairs, 2} : Shape{pairs, n, 2}, random);
      call.out = Numbers({m, n}, kind == 2 ? kOuts[1 + i % 2] : kOuts[random.Between(0, 2)]);
      if (random.Chance(50))
        call.bias =
            FloatsOf(kind == 2 ? Shape{1, n} : Shape{n}, kind == 2 ? call.out.dtype : ACL_FLOAT, random);
      if (random.Chance(50)) call.group = int64_t{1} << 32 | 1 << 16 | 32;
      call.is_fractal = i >= 6;
      const CallResult result = call.Run(stream);
      ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
      ExpectElements(
          call.out,
          [&](int64_t row, int64_t column) {
            const float sum = SumOf(
                0, k, 32, [&](int64_t t) { return call.Left(row, t) * call.Right(t, column); },
                [&](int64_t j) {
                  return PowerAt(call.row_scale,
                                 call.has_flag1 ? Index{j / 2, row, j % 2} : Index{row, j / 2, j % 2}) *
                         PowerAt(call.scale,
                                 call.has_flag2 ? Index{column, j / 2, j % 2} : Index{j / 2, column, j % 2});
                });
            if (call.bias.null) return sum;
            return sum + NumberAt(call.bias, kind == 2 ? Index{0, column} : Index{column});
          },
          isa + " call " + std::to_string(i));
    }
  });
}

TEST(CodeProducts, ScalesOfColumnsOfFloat4) {
  OnEachIsa(Product::k950, 8, [](aclrtStream stream, RandomNumbers& random, const std::string& isa) {
    for (int i = 0; i < 3; ++i) {
      const int64_t m = random.Between(1, 40), k = 32 * random.Between(1, 4), n = random.Between(1, 70);
      Call call;
      call.has_flag2 = true;
      call.x1 = CodesOf({m, k}, ACL_FLOAT8_E4M3FN, random);
      call.x2 = CodesOf({n, k}, ACL_FLOAT4_E2M1, random);
      call.scale = FloatsOf({n, k / 32}, i == 0 ? ACL_FLOAT16 : ACL_BF16, random);
      call.y_scale = WordsOf({1, n}, random);
      call.out = Numbers({m, n}, kOuts[1 + i % 2]);
      if (i == 2) call.group = 32;
      const CallResult result = call.Run(stream);
      ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
      ExpectElements(
          call.out,
          [&](int64_t row, int64_t column) {
            return SumOf(
                       0, k, 32, [&](int64_t t) { return call.Left(row, t) * call.Right(t, column); },
                       [&](int64_t j) {
                         return NumberAt(call.scale, {column, j});
                       }) *
                   WordAt(call.y_scale, column);
          },
          isa + " call " + std::to_string(i));
    }
  });
}

TEST(CodeProducts, OffsetsOfInt4) {
  OnEachIsa(Product::kA2, 9, [](aclrtStream stream, RandomNumbers& random, const std::string& isa) {
    for (int i = 0; i < 2; ++i) {
      const int64_t m = random.Between(1, 5), k = 1024, n = 256;
      Call call;
      call.has_flag2 = i == 0;
      call.x1 = CodesOf({m, k}, ACL_INT4, random);
      call.x2 = CodesOf(call.has_flag2 ? Shape{n, k} : Shape{k, n}, ACL_INT4, random, i == 1);
      call.row_scale = FloatsOf({m, 1}, ACL_FLOAT, random);
      call.scale = FloatsOf({k / 256, n}, ACL_FLOAT, random);
      call.offset = FloatsOf({k / 256, n}, ACL_FLOAT16, random);
      call.out = Numbers({m, n}, kOuts[1 + i]);
      if (i == 1) call.group = 256;
      const CallResult result = call.Run(stream);
      ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
      ExpectElements(
          call.out,
          [&](int64_t row, int64_t column) {
            float sum = 0;
            for (int64_t j = 0; j < k / 256; ++j) {
              float part = 0;
              float of_row = 0;
              for (int64_t t = 256 * j; t < 256 * j + 256; ++t) {
                part += static_cast<float>(call.Left(row, t) * call.Right(t, column));
                of_row += static_cast<float>(call.Left(row, t));
              }
              const float less = of_row * NumberAt(call.offset, {j, column});
              part = part - less;
              const float scaled = part * NumberAt(call.scale, {j, column});
              sum = sum + scaled;
            }
            return sum * NumberAt(call.row_scale, {row, 0});
          },
          isa + " call " + std::to_string(i));
    }
  });
}

// Scales are powers of two, so that every sum is exact.
TEST(CodeProducts, Int8TimesWordsOfInt4) {
  OnEachIsa(Product::kA2, 10, [](aclrtStream stream, RandomNumbers& random, const std::string& isa) {
    for (int i = 0; i < 4; ++i) {
      const int64_t m = random.Between(1, 9), n = 8 * random.Between(1, 9);
      const bool has_groups = i % 2 != 0;
      const int64_t k = has_groups ? 256 * random.Between(1, 2) : random.Between(1, 90);
      const int64_t groups = has_groups ? k / 256 : 1;
      Call call;
      call.x1 = CodesOf({m, k}, ACL_INT8, random);
      const HeldView codes = CodesOf({k, n}, ACL_INT4, random);
      call.x2 = Numbers({k, n / 8}, ACL_INT32);
      call.x2.bytes = codes.bytes;
      call.scale = Numbers(has_groups ? Shape{groups, n} : Shape{n}, ACL_UINT64);
      for (int64_t at = 0; at < groups * n; ++at) {
        const float number = std::ldexp(1.0f, static_cast<int>(random.Between(-6, -2)));
        std::memcpy(call.scale.bytes.data() + 8 * at, &number, 4);
      }
      call.y_offset = Numbers({n}, ACL_FLOAT);
      for (int64_t column = 0; column < n; ++column) {
        double sum = 0;
        for (int64_t t = 0; t < k; ++t)
          sum += CodeAt(codes, {t, column}) *
                 static_cast<double>(WordAt(call.scale, (has_groups ? t / 256 : 0) * n + column));
        EncodeElement(ACL_FLOAT, 8 * sum, call.y_offset.bytes.data() + 4 * column);
      }
      call.row_scale = FloatsOf({m, 1}, ACL_FLOAT, random);
      call.out = Numbers({m, n}, kOuts[1 + i % 2]);
      if (i == 3) call.group = 256;
      call.is_fractal = i == 2;
      const CallResult result = call.Run(stream);
      ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
      ExpectElements(
          call.out,
          [&](int64_t row, int64_t column) {
            double sum = 0;
            for (int64_t t = 0; t < k; ++t)
              sum += CodeAt(call.x1, {row, t}) * CodeAt(codes, {t, column}) *
                     static_cast<double>(WordAt(call.scale, (has_groups ? t / 256 : 0) * n + column));
            return static_cast<float>(sum) * NumberAt(call.row_scale, {row, 0});
          },
          isa + " call " + std::to_string(i));
    }
  });
}

TEST(CodeProducts, V5Refuses) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(Product::k950)}});
  RandomNumbers random(3);
  const auto whole = [&] {
    Call call;
    call.x1 = CodesOf({4, 32}, ACL_FLOAT8_E4M3FN, random);
    call.x2 = CodesOf({32, 6}, ACL_FLOAT8_E4M3FN, random);
    call.scale = FloatsOf({6}, ACL_FLOAT, random);
    call.row_scale = FloatsOf({4}, ACL_FLOAT, random);
    call.bias = FloatsOf({6}, ACL_FLOAT, random);
    call.out = Numbers({4, 6}, ACL_BF16);
    return call;
  };
  const auto mixed = [&] {
    Call call = whole();
    call.x2 = CodesOf({32, 6}, ACL_FLOAT4_E2M1, random);
    call.row_scale = PowersOf({4, 1, 2}, random);
    call.scale = PowersOf({1, 6, 2}, random);
    call.bias = FloatsOf({6}, ACL_BF16, random);
    return call;
  };
  const auto expect = [&](Call call, const auto& change, aclnnStatus status, const char* words) {
    change(call);
    const std::vector<unsigned char> before = call.out.bytes;
    const CallResult result = call.Run(environment.stream());
    EXPECT_EQ(result.plan, status) << words;
    EXPECT_NE(result.message.find(words), std::string::npos) << result.message;
    EXPECT_EQ(call.out.bytes, before);
  };
  expect(
      whole(),
      [&](Call& call) {
        call.x2 = CodesOf({32, 6}, ACL_HIFLOAT8, random);
      },
      161002, "x2");
  expect(
      whole(), [](Call& call) { call.scale = Numbers({6}, ACL_BF16); }, 161002, "x2Scale");
  expect(
      whole(), [&](Call& call) { call.scale = WordsOf({6}, random); }, 161002, "x2Scale");
  expect(
      whole(), [](Call& call) { call.row_scale = Numbers({5}, ACL_FLOAT); }, 161002, "x1Scale");
  expect(
      whole(), [](Call& call) { call.bias = Numbers({6}, ACL_INT32); }, 161002, "bias");
  expect(
      whole(),
      [](Call& call) {
        call.out = Numbers({4, 6}, ACL_INT8);
      },
      161002, "out");
  expect(
      whole(), [](Call& call) { call.group = 32; }, 161002, "groupSize");
  expect(
      whole(), [](Call& call) { call.x1_offset = Numbers({1}, ACL_FLOAT); }, 161001, "x1Offset");
  expect(
      whole(), [](Call& call) { call.y_scale = Numbers({1}, ACL_FLOAT); }, 161001, "yScale");
  expect(
      whole(),
      [](Call& call) {
        call.is_fractal = false;
        call.x2.shape = {31, 6};
      },
      161002, "x2");
  expect(
      mixed(), [](Call& call) { call.offset = Numbers({0}, ACL_FLOAT); }, 161001, "x2Offset");
  expect(
      mixed(), [](Call& call) { call.y_scale = Numbers({1}, ACL_FLOAT); }, 161002, "yScale");
  expect(
      mixed(), [](Call& call) { call.bias = Numbers({6}, ACL_FLOAT); }, 161002, "bias");
  expect(
      mixed(),
      [&](Call& call) {
        call.scale = PowersOf({2, 6, 2}, random);
      },
      161002, "x2Scale");
  // What a mode needs is named where it is null.
  expect(
      mixed(), [](Call& call) { call.row_scale = Nothing(); }, 161002, "x1Scale is null");
  expect(
      mixed(),
      [&](Call& call) {
        call.scale = FloatsOf({1, 6}, ACL_BF16, random);
      },
      161002, "yScale is null");
  // A tensor without elements is none.
  Call call = whole();
  call.x1_offset = Numbers({0}, ACL_FLOAT);
  call.offset = Numbers({0}, ACL_FLOAT);
  EXPECT_TRUE(call.Run(environment.stream()).Succeeded());
}

TEST(CodeProducts, ScalesWithoutDims) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(Product::k950)}});
  RandomNumbers random(6);
  Call call;
  call.x1 = CodesOf({4, 32}, ACL_FLOAT8_E4M3FN, random);
  call.x2 = CodesOf({32, 6}, ACL_FLOAT8_E4M3FN, random);
  call.scale = FloatsOf({1}, ACL_FLOAT, random);
  call.row_scale = FloatsOf({1}, ACL_FLOAT, random);
  call.out = Numbers({4, 6}, ACL_FLOAT);
  ASSERT_TRUE(call.Run(environment.stream()).Succeeded());
  const std::vector<unsigned char> expected = call.out.bytes;
  call.out = Numbers({4, 6}, ACL_FLOAT);
  for (HeldView* const scale : {&call.scale, &call.row_scale}) scale->shape = scale->strides = {};
  ASSERT_TRUE(call.Run(environment.stream()).Succeeded());
  EXPECT_EQ(call.out.bytes, expected);
}

TEST(CodeProducts, V5NamesWhatIsNullOnA2) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(Product::kA2)}});
  RandomNumbers random(4);
  Call call;
  call.x1 = CodesOf({3, 16}, ACL_INT8, random);
  call.x2 = Numbers({16, 2}, ACL_INT32);
  call.scale = WordsOf({16}, random);
  call.row_scale = FloatsOf({3, 1}, ACL_FLOAT, random);
  call.out = Numbers({3, 16}, ACL_BF16);
  const CallResult without = call.Run(environment.stream());
  EXPECT_EQ(without.plan, 161001);
  EXPECT_NE(without.message.find("yOffset is a null pointer"), std::string::npos) << without.message;
  call.y_offset = FloatsOf({16}, ACL_FLOAT, random);
  EXPECT_TRUE(call.Run(environment.stream()).Succeeded());
  call.row_scale = Nothing();
  EXPECT_EQ(call.Run(environment.stream()).plan, 161002);

  call.x1 = CodesOf({3, 1024}, ACL_INT4, random);
  call.x2 = CodesOf({256, 1024}, ACL_INT4, random);
  call.has_flag2 = true;
  call.scale = FloatsOf({4, 256}, ACL_FLOAT, random);
  call.y_offset = Nothing();
  call.offset = Numbers({4, 256}, ACL_FLOAT16);
  call.out = Numbers({3, 256}, ACL_BF16);
  const CallResult offsets = call.Run(environment.stream());
  EXPECT_EQ(offsets.plan, 161002);
  EXPECT_NE(offsets.message.find("x1Scale is null"), std::string::npos) << offsets.message;
}

// ---- operators of Ascend 950 ----

TEST(CodeProducts, TransposedBatches) {
  OnEachIsa(Product::k950, 12, [](aclrtStream stream, RandomNumbers& random, const std::string& isa) {
    for (int i = 0; i < 6; ++i) {
      const int kind = i % 3;  // scales of FLOAT, powers of two, HIFLOAT8
      const int64_t m = random.Between(1, 40), b = random.Between(1, 3);
      const int64_t k = kind == 0 ? 512 : random.Between(1, 100), n = kind == 0 ? 128 : random.Between(1, 70);
      const bool is_swapped = kind != 0 && random.Chance(50);
      const int64_t pairs = (k + 63) / 64;
      const DtypeNumber codes = kind == 2 ? ACL_HIFLOAT8 : ACL_FLOAT8_E4M3FN;
      HeldView x1 = CodesOf({m, b, k}, codes, random);
      HeldView x2 = CodesOf(is_swapped ? Shape{b, n, k} : Shape{b, k, n}, codes, random, random.Chance(40));
      HeldView bias = Nothing();
      HeldView row_scale = kind == 0   ? FloatsOf({m}, ACL_FLOAT, random)
                           : kind == 1 ? PowersOf({m, b, pairs, 2}, random)
                                       : FloatsOf({1}, ACL_FLOAT, random);
      if (i == 2) row_scale.null = true;
      HeldView scale = kind == 0 ? FloatsOf({n}, ACL_FLOAT, random)
                       : kind == 1
                           ? PowersOf(is_swapped ? Shape{b, n, pairs, 2} : Shape{b, pairs, n, 2}, random)
                           : WordsOf({n}, random);
      HeldView out = Numbers({m, b, n}, kind == 2 && i == 5 ? DtypeNumber{ACL_HIFLOAT8} : kOuts[1 + i % 2]);
      if (out.dtype == ACL_HIFLOAT8) out.bytes.resize(static_cast<size_t>(m * b * n));
      const int64_t first[] = {1, 0, 2}, same[] = {0, 1, 2}, last[] = {0, 2, 1};
      aclIntArray* const perms[] = {aclCreateIntArray(first, 3),
                                    aclCreateIntArray(is_swapped ? last : same, 3)};
      const bool is_fractal = i == 4;
      if (is_fractal) x2.format = ACL_FORMAT_FRACTAL_NZ;
      const CallResult result = RunOf(
          stream, {&x1, &x2, &bias, &row_scale, &scale, &out},
          [&](const std::vector<aclTensor*>& t, uint64_t* size, aclOpExecutor** executor) {
            const auto plan = is_fractal ? aclnnTransposeQuantBatchMatMulWeightNzGetWorkspaceSize
                                         : aclnnTransposeQuantBatchMatMulGetWorkspaceSize;
            return plan(t[0], t[1], t[2], t[3], t[4], static_cast<int32_t>(out.dtype), 0, perms[0], perms[1],
                        perms[0], 1, t[5], size, executor);
          },
          is_fractal ? aclnnTransposeQuantBatchMatMulWeightNz : aclnnTransposeQuantBatchMatMul);
      for (aclIntArray* const perm : perms) aclDestroyIntArray(perm);
      ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
      ExpectElements(
          out,
          [&](int64_t line, int64_t column) {
            const int64_t row = line / b, batch = line % b;
            const auto product = [&](int64_t t) {
              return CodeAt(x1, {row, batch, t}) *
                     CodeAt(x2, is_swapped ? Index{batch, column, t} : Index{batch, t, column});
            };
            if (kind == 1)
              return SumOf(0, k, 32, product, [&](int64_t j) {
                return PowerAt(row_scale, {row, batch, j / 2, j % 2}) *
                       PowerAt(scale, is_swapped ? Index{batch, column, j / 2, j % 2}
                                                 : Index{batch, j / 2, column, j % 2});
              });
            float sum = SumOf(0, k, k, product, [](int64_t) { return 1.0f; });
            sum = sum * (kind == 0 ? NumberAt(scale, {column}) : WordAt(scale, column));
            if (!row_scale.null) sum = sum * NumberAt(row_scale, {kind == 0 ? row : 0});
            return sum;
          },
          isa + " call " + std::to_string(i));
    }
  });
}

TEST(CodeProducts, AddsInPlace) {
  OnEachIsa(Product::k950, 13, [](aclrtStream stream, RandomNumbers& random, const std::string& isa) {
    for (int i = 0; i < 4; ++i) {
      const bool is_hifloat = i % 2 != 0;
      const int64_t m = random.Between(1, 40), k = random.Between(1, 150), n = random.Between(1, 70);
      const int64_t pairs = (k + 63) / 64;
      const DtypeNumber codes = is_hifloat ? ACL_HIFLOAT8 : ACL_FLOAT8_E5M2;
      HeldView x1 = CodesOf({k, m}, codes, random);
      HeldView x2 = CodesOf({k, n}, codes, random);
      HeldView of_rows = is_hifloat ? FloatsOf({1}, ACL_FLOAT, random) : PowersOf({pairs, m, 2}, random);
      HeldView of_columns = is_hifloat ? FloatsOf({1}, ACL_FLOAT, random) : PowersOf({pairs, n, 2}, random);
      HeldView y = FloatsOf({m, n}, ACL_FLOAT, random);
      const HeldView before = y;
      const CallResult result = RunOf(
          stream, {&x1, &x2, &of_rows, &of_columns, &y},
          [&](const std::vector<aclTensor*>& t, uint64_t* size, aclOpExecutor** executor) {
            return aclnnQuantBatchMatmulInplaceAddGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], true, false,
                                                                   0, size, executor);
          },
          aclnnQuantBatchMatmulInplaceAdd);
      ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
      ExpectElements(
          y,
          [&](int64_t row, int64_t column) {
            float sum = SumOf(
                0, k, is_hifloat ? k : 32,
                [&](int64_t t) {
                  return CodeAt(x1, {t, row}) * CodeAt(x2, {t, column});
                },
                [&](int64_t j) {
                  if (is_hifloat) return 1.0f;
                  return PowerAt(of_rows, {j / 2, row, j % 2}) * PowerAt(of_columns, {j / 2, column, j % 2});
                });
            if (is_hifloat) {
              sum = sum * NumberAt(of_columns, {0});
              sum = sum * NumberAt(of_rows, {0});
            }
            return NumberAt(before, {row, column}) + sum;
          },
          isa + " call " + std::to_string(i));
    }
  });
}

TEST(CodeProducts, AddsGroupsInPlace) {
  OnEachIsa(Product::k950, 14, [](aclrtStream stream, RandomNumbers& random, const std::string& isa) {
    for (int i = 0; i < 8; ++i) {
      const bool is_hifloat = i % 2 != 0;
      const bool are_counts = i >= 3;
      const bool are_many = i >= 6;  // more than there are units, each of which takes two
      const int64_t m = random.Between(1, are_many ? 2 : 40), n = random.Between(1, are_many ? 3 : 70);
      const int64_t groups = are_many ? 300 : 3;
      std::vector<int64_t> counts(static_cast<size_t>(groups));
      for (int64_t& count : counts) count = random.Between(0, are_many ? 3 : 90);
      const int64_t k = std::accumulate(counts.begin(), counts.end(), i == 5 ? int64_t{7} : int64_t{1});
      const DtypeNumber codes = is_hifloat ? ACL_HIFLOAT8 : ACL_FLOAT8_E4M3FN;
      HeldView x1 = CodesOf({m, k}, codes, random, true);
      HeldView x2 = CodesOf({k, n}, codes, random);
      const Shape of_x1 = is_hifloat ? Shape{groups, 1} : Shape{k / 64 + groups, m, 2};
      const Shape of_x2 =
          is_hifloat ? (i == 3 ? Shape{groups, n} : Shape{groups}) : Shape{k / 64 + groups, n, 2};
      HeldView of_rows = is_hifloat ? FloatsOf(of_x1, ACL_FLOAT, random) : PowersOf(of_x1, random);
      HeldView of_columns = is_hifloat ? FloatsOf(of_x2, ACL_FLOAT, random) : PowersOf(of_x2, random);
      HeldView list = Numbers({groups}, ACL_INT64);
      int64_t end = 0;
      for (int64_t g = 0; g < groups; ++g) {
        end += counts[static_cast<size_t>(g)];
        std::memcpy(list.bytes.data() + 8 * g, are_counts ? &counts[static_cast<size_t>(g)] : &end, 8);
      }
      HeldView y = FloatsOf({groups, m, n}, ACL_FLOAT, random);
      const HeldView before = y;
      const CallResult result = RunOf(
          stream, {&x1, &x2, &of_rows, &of_columns, &list, &y},
          [&](const std::vector<aclTensor*>& t, uint64_t* size, aclOpExecutor** executor) {
            return aclnnQuantGroupedMatmulInplaceAddGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5],
                                                                     are_counts ? 1 : 0, 0, size, executor);
          },
          aclnnQuantGroupedMatmulInplaceAdd);
      ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
      ExpectElements(
          y,
          [&](int64_t line, int64_t column) {
            const int64_t group = line / m, row = line % m;
            int64_t begin = 0;
            for (int64_t g = 0; g < group; ++g) begin += counts[static_cast<size_t>(g)];
            const int64_t pair = begin / 64 + group;
            const float sum = SumOf(
                begin, begin + counts[static_cast<size_t>(group)], is_hifloat ? k : 32,
                [&](int64_t t) {
                  return CodeAt(x1, {row, t}) * CodeAt(x2, {t, column});
                },
                [&](int64_t j) {
                  if (is_hifloat)
                    return NumberAt(of_rows, {group, 0}) *
                           NumberAt(of_columns, of_x2.size() == 2 ? Index{group, column} : Index{group});
                  return PowerAt(of_rows, {pair + j / 2, row, j % 2}) *
                         PowerAt(of_columns, {pair + j / 2, column, j % 2});
                });
            return NumberAt(before, {group, row, column}) + sum;
          },
          isa + " call " + std::to_string(i));
    }
  });
}

TEST(CodeProducts, TwoLevels) {
  OnEachIsa(Product::k950, 15, [](aclrtStream stream, RandomNumbers& random, const std::string& isa) {
    for (int i = 0; i < 3; ++i) {
      const int64_t m = random.Between(1, 10), k = 2 * random.Between(1, 600), n = random.Between(1, 20);
      const int64_t levels = (k + 511) / 512, pairs = (k + 63) / 64;
      HeldView x1 = CodesOf({m, k}, ACL_FLOAT4_E2M1, random);
      HeldView x2 = CodesOf({n, k}, ACL_FLOAT4_E2M1, random);
      x2.format = ACL_FORMAT_FRACTAL_NZ;
      HeldView left0 = FloatsOf({m, levels}, ACL_FLOAT, random);
      HeldView right0 = FloatsOf({levels, n}, ACL_FLOAT, random);
      HeldView left1 = PowersOf({m, pairs, 2}, random);
      HeldView right1 = PowersOf({n, pairs, 2}, random);
      HeldView bias = FloatsOf({n}, ACL_FLOAT, random);
      bias.null = i == 1;
      HeldView out = Numbers({m, n}, kOuts[1 + i % 2]);
      const CallResult result = RunOf(
          stream, {&x1, &x2, &left0, &right0, &left1, &right1, &bias, &out},
          [&](const std::vector<aclTensor*>& t, uint64_t* size, aclOpExecutor** executor) {
            return aclnnDualLevelQuantMatmulWeightNzGetWorkspaceSize(
                t[0], t[1], t[2], t[3], t[4], t[5], t[6], false, true, 512, 32, t[7], size, executor);
          },
          aclnnDualLevelQuantMatmulWeightNz);
      ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
      ExpectElements(
          out,
          [&](int64_t row, int64_t column) {
            const float sum = SumOf(
                0, k, 32,
                [&](int64_t t) {
                  return CodeAt(x1, {row, t}) * CodeAt(x2, {column, t});
                },
                [&](int64_t j) {
                  const float left = PowerAt(left1, {row, j / 2, j % 2}) * NumberAt(left0, {row, j / 16});
                  const float right =
                      PowerAt(right1, {column, j / 2, j % 2}) * NumberAt(right0, {j / 16, column});
                  return left * right;
                });
            return bias.null ? sum : sum + NumberAt(bias, {column});
          },
          isa + " call " + std::to_string(i));
    }
  });
}

// ---- integers with a function or a quantiser ----

TEST(CodeProducts, GeluOfIntegers) {
  OnEachIsa(Product::kA2, 16, [](aclrtStream stream, RandomNumbers& random, const std::string& isa) {
    for (int i = 0; i < 6; ++i) {
      const bool has_nibbles = i % 3 == 2;
      const int64_t m = random.Between(1, 20), k = 8 * random.Between(1, 10), n = 8 * random.Between(1, 5);
      const bool is_across = random.Chance(50);
      HeldView x1 = CodesOf({m, k}, has_nibbles ? ACL_INT4 : ACL_INT8, random);
      HeldView x2 = CodesOf({k, n}, x1.dtype, random, is_across);
      HeldView of_rows = FloatsOf({m}, ACL_FLOAT, random);
      HeldView of_columns = FloatsOf({i == 1 ? 1 : n}, ACL_FLOAT, random);
      const DtypeNumber kinds[] = {ACL_INT32, ACL_FLOAT, ACL_BF16};
      HeldView bias = FloatsOf({n}, kinds[i % 3], random);
      bias.null = i == 0;
      HeldView out = Numbers({m, n}, ACL_BF16);
      const bool is_fractal = i == 4;
      if (is_fractal) x2.format = ACL_FORMAT_FRACTAL_NZ;
      const bool has_tanh = i % 2 != 0;
      const CallResult result = RunOf(
          stream, {&x1, &x2, &of_rows, &of_columns, &bias, &out},
          [&](const std::vector<aclTensor*>& t, uint64_t* size, aclOpExecutor** executor) {
            const auto plan = is_fractal ? aclnnFusedQuantMatmulWeightNzGetWorkspaceSize
                                         : aclnnFusedQuantMatmulGetWorkspaceSize;
            return plan(t[0], t[1], t[2], t[3], nullptr, nullptr, nullptr, nullptr, t[4], nullptr,
                        has_tanh ? "gelu_tanh" : "gelu_erf", 0, t[5], size, executor);
          },
          is_fractal ? aclnnFusedQuantMatmulWeightNz : aclnnFusedQuantMatmul);
      ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
      for (int64_t row = 0; row < m; ++row) {
        for (int64_t column = 0; column < n; ++column) {
          double sum = 0;
          for (int64_t t = 0; t < k; ++t) sum += CodeAt(x1, {row, t}) * CodeAt(x2, {t, column});
          const double added =
              bias.null ? 0
              : bias.dtype == ACL_INT32
                  ? static_cast<double>(DecodeInteger(ACL_INT32, bias.bytes.data() + 4 * column))
                  : static_cast<double>(NumberAt(bias, {column}));
          if (bias.dtype == ACL_INT32) sum += added;
          sum *= static_cast<double>(NumberAt(of_columns, {i == 1 ? 0 : column})) *
                 static_cast<double>(NumberAt(of_rows, {row}));
          if (bias.dtype != ACL_INT32) sum += added;
          const double inner = 0.7978845608028654 * (sum + 0.044715 * sum * sum * sum);
          const double want =
              0.5 * sum * (1 + (has_tanh ? std::tanh(inner) : std::erf(sum / std::sqrt(2.0))));
          ASSERT_NEAR(static_cast<double>(NumberAt(out, {row, column})), want, std::fabs(want) / 128 + 1e-5)
              << isa << " call " << i << ": " << row << ", " << column;
        }
      }
    }
  });
}

TEST(CodeProducts, QuantisedRowsTimesBytes) {
  OnEachIsa(Product::k310P, 17, [](aclrtStream stream, RandomNumbers& random, const std::string& isa) {
    for (int i = 0; i < 5; ++i) {
      const int64_t m = random.Between(1, 20), k = 16 * random.Between(1, 4), n = 16 * random.Between(1, 4);
      HeldView x = FloatsOf({m, k}, ACL_FLOAT16, random);
      HeldView weight = CodesOf({n, k}, ACL_INT8, random);
      const bool has_words = i == 3;
      HeldView scale = has_words ? Numbers({n}, ACL_INT64) : FloatsOf({n}, ACL_FLOAT, random);
      if (has_words) scale.bytes = WordsOf({n}, random).bytes;
      HeldView x_scale = has_words ? FloatsOf({1}, ACL_FLOAT16, random) : FloatsOf({m}, ACL_FLOAT, random);
      x_scale.null = i < 2;
      HeldView smooth = FloatsOf({k}, ACL_FLOAT16, random);
      smooth.null = i % 2 == 0;
      HeldView out = Numbers({m, n}, ACL_FLOAT16);
      char mode[] = "pertoken";
      char whole[] = "pertensor";
      const CallResult result = RunOf(
          stream, {&x, &weight, &scale, &x_scale, &smooth, &out},
          [&](const std::vector<aclTensor*>& t, uint64_t* size, aclOpExecutor** executor) {
            return aclnnQuantMatmulDequantGetWorkspaceSize(t[0], t[1], t[2], nullptr, t[3], nullptr, t[4],
                                                           has_words ? whole : mode, true, t[5], size,
                                                           executor);
          },
          aclnnQuantMatmulDequant);
      ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
      const auto number = [&](int64_t row, int64_t t) {
        const float own = NumberAt(x, {row, t});
        return smooth.null ? own : own * NumberAt(smooth, {t});
      };
      ExpectElements(
          out,
          [&](int64_t row, int64_t column) {
            float greatest = 0;
            for (int64_t t = 0; t < k; ++t) greatest = std::max(greatest, std::fabs(number(row, t)));
            const float step = x_scale.null ? greatest / 127.0f : NumberAt(x_scale, {has_words ? 0 : row});
            double sum = 0;
            for (int64_t t = 0; t < k; ++t) {
              const double code = step == 0 ? 0
                                            : static_cast<double>(std::nearbyint(
                                                  std::clamp(number(row, t) / step, -128.0f, 127.0f)));
              sum += code * CodeAt(weight, {column, t});
            }
            const float scaled =
                static_cast<float>(sum) * (has_words ? WordAt(scale, column) : NumberAt(scale, {column}));
            return has_words ? scaled : scaled * step;
          },
          isa + " call " + std::to_string(i));
    }
  });
}

// ---- packed codes ----

TEST(CodeProducts, PacksCodesOfNumbers) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(Product::k950)}});
  RandomNumbers random(18);
  const auto pack = [&](HeldView& weight, HeldView& packed) {
    return RunOf(
        environment.stream(), {&weight, &packed},
        [](const std::vector<aclTensor*>& t, uint64_t* size, aclOpExecutor** executor) {
          return aclnnConvertWeightToINT4PackGetWorkspaceSize(t[0], t[1], size, executor);
        },
        aclnnConvertWeightToINT4Pack);
  };
  for (const DtypeNumber dtype : {ACL_INT4, ACL_INT32, ACL_FLOAT4_E2M1, ACL_FLOAT}) {
    const bool is_float = dtype == ACL_FLOAT4_E2M1 || dtype == ACL_FLOAT;
    const bool is_word = dtype == ACL_INT32 || dtype == ACL_FLOAT;
    const Shape shape = {3, 40};
    HeldView weight = Numbers(shape, is_float ? ACL_FLOAT : ACL_INT32);
    std::vector<uint32_t> codes;
    for (int64_t i = 0; i < NumElements(shape); ++i) {
      codes.push_back(static_cast<uint32_t>(random.Between(0, 15)));
      // Other bits of an integer do not count; a number without a code becomes 0.
      const bool has_none = is_float && random.Chance(20);
      const double number =
          is_float ? NumberOfCode(ACL_FLOAT4_E2M1, codes.back())
                   : static_cast<double>(codes.back()) + 16.0 * static_cast<double>(random.Between(-9, 9));
      if (is_float && (has_none || number == 0)) codes.back() = 0;
      if (is_float)
        EncodeElement(ACL_FLOAT, has_none ? 2.5 : number, weight.bytes.data() + 4 * i);
      else
        EncodeIntegerElement(ACL_INT32, static_cast<int64_t>(number), weight.bytes.data() + 4 * i);
    }
    HeldView packed{is_word ? Shape{3, 5} : shape, Dense(is_word ? Shape{3, 5} : shape), dtype};
    packed.bytes.resize(60);
    packed.storage_elements = NumElements(packed.shape);
    const CallResult result = pack(weight, packed);
    ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
    for (size_t i = 0; i < codes.size(); i += 2)
      EXPECT_EQ(packed.bytes[i / 2], codes[i] | codes[i + 1] << 4) << DtypeName(dtype) << " " << i;
    packed.shape = {3, 6};
    EXPECT_EQ(pack(weight, packed).plan, 161002);
    HeldView other = Numbers(shape, ACL_FLOAT16);
    EXPECT_EQ(pack(other, packed).plan, 161002);
    HeldView none = Nothing();
    EXPECT_EQ(pack(none, packed).plan, 161001);
  }
}

// ---- groups ----

// A call of aclnnGroupedMatmulV4, V5 or WeightNz, each list of which has one tensor.
struct GroupedCall {
  HeldView x, weight, scale, factor = Nothing(), bias = Nothing(), antiquant_scale = Nothing(), list, y;
  int64_t group_type = 0, list_type = 0, split_item = 3, act = 0;
  bool is_v5 = true, is_nz = false, has_two = false;

  CallResult Run(aclrtStream stream) {
    const auto list_of = [](HeldView& view, bool is_twice = false) -> aclTensorList* {
      if (view.null) return nullptr;
      const aclTensor* const tensors[] = {view.Make(), is_twice ? view.Make() : nullptr};
      return aclCreateTensorList(tensors, is_twice ? 2 : 1);
    };
    aclTensorList* const lists[] = {list_of(x, has_two), list_of(weight), list_of(bias),
                                    list_of(scale),      list_of(factor), list_of(y)};
    aclTensorList* const antiquant = list_of(antiquant_scale);
    aclTensor* const groups = list.Make();
    CallResult result;
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    if (is_nz) {
      result.plan = aclnnGroupedMatmulWeightNzGetWorkspaceSize(
          lists[0], lists[1], lists[2], lists[3], nullptr, antiquant, nullptr, lists[4], groups, nullptr,
          nullptr, nullptr, split_item, group_type, list_type, act, nullptr, 0, lists[5], nullptr, nullptr,
          &size, &executor);
    } else if (is_v5) {
      result.plan = aclnnGroupedMatmulV5GetWorkspaceSize(
          lists[0], lists[1], lists[2], lists[3], nullptr, antiquant, nullptr, lists[4], groups, nullptr,
          nullptr, nullptr, split_item, group_type, list_type, act, nullptr, lists[5], nullptr, nullptr,
          &size, &executor);
    } else {
      result.plan = aclnnGroupedMatmulV4GetWorkspaceSize(lists[0], lists[1], lists[2], lists[3], nullptr,
                                                         antiquant, nullptr, lists[4], groups, nullptr,
                                                         nullptr, nullptr, split_item, group_type, list_type,
                                                         act, lists[5], nullptr, nullptr, &size, &executor);
    }
    if (result.plan == 0) {
      std::vector<std::byte> workspace(size);
      const auto run = is_nz   ? aclnnGroupedMatmulWeightNz
                       : is_v5 ? aclnnGroupedMatmulV5
                               : aclnnGroupedMatmulV4;
      result.run = run(workspace.data(), size, executor, stream);
      result.synchronize = aclrtSynchronizeStream(stream);
    } else {
      result.message = TakeErrorMessage();
    }
    for (aclTensorList* const one : lists) {
      if (one != nullptr) aclDestroyTensorList(one);
    }
    if (antiquant != nullptr) aclDestroyTensorList(antiquant);
    aclDestroyTensor(groups);
    for (HeldView* const view : {&x, &weight, &scale, &factor, &bias, &antiquant_scale, &list, &y})
      view->Fetch();
    return result;
  }
};
HeldView ListOf(const std::vector<int64_t>& counts, bool are_counts) {
  HeldView list = Numbers({std::ssize(counts)}, ACL_INT64);
  int64_t end = 0;
  for (size_t g = 0; g < counts.size(); ++g) {
    end += counts[g];
    std::memcpy(list.bytes.data() + 8 * g, are_counts ? &counts[g] : &end, 8);
  }
  return list;
}

// Pairs of groups that have rows, from the last one on, with a pair of none behind them, which ends the list, and the
// group of each row.
HeldView PairsOf(const std::vector<int64_t>& counts, std::vector<int64_t>* owner) {
  std::vector<int64_t> words;
  for (size_t g = counts.size(); g-- > 0;) {
    if (counts[g] == 0) continue;
    words.push_back(static_cast<int64_t>(g));
    words.push_back(counts[g]);
    owner->insert(owner->end(), static_cast<size_t>(counts[g]), static_cast<int64_t>(g));
  }
  words.insert(words.end(), {0, 0, 0, 1});
  HeldView list = Numbers({std::ssize(words) / 2, 2}, ACL_INT64);
  std::memcpy(list.bytes.data(), words.data(), list.bytes.size());
  return list;
}

enum class GroupedScales { kWords, kWhole, kPowers, kBlocks };
struct GroupedKind {
  GroupedScales scales;
  DtypeNumber x, weight;
};
constexpr GroupedKind kGroupedKinds[] = {{GroupedScales::kWords, ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E5M2},
                                         {GroupedScales::kWords, ACL_HIFLOAT8, ACL_HIFLOAT8},
                                         {GroupedScales::kWhole, ACL_HIFLOAT8, ACL_HIFLOAT8},
                                         {GroupedScales::kWhole, ACL_FLOAT8_E5M2, ACL_FLOAT8_E5M2},
                                         {GroupedScales::kPowers, ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E4M3FN},
                                         {GroupedScales::kPowers, ACL_FLOAT4_E2M1, ACL_FLOAT4_E2M1},
                                         {GroupedScales::kBlocks, ACL_HIFLOAT8, ACL_HIFLOAT8},
                                         {GroupedScales::kBlocks, ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E5M2}};

TEST(CodeProducts, GroupsOfRows) {
  OnEachIsa(Product::k950, 21, [](aclrtStream stream, RandomNumbers& random, const std::string& isa) {
    for (int i = 0; i < 2 * static_cast<int>(std::size(kGroupedKinds)); ++i) {
      const GroupedKind& kind = kGroupedKinds[static_cast<size_t>(i) / 2];
      const bool is_transposed = i % 2 != 0;
      const bool is_packed = IsPacked(kind.x);
      const std::vector<int64_t> counts = {random.Between(0, 70), 0, random.Between(1, 5),
                                           random.Between(0, 40)};
      const int64_t groups = 4, m = counts[0] + counts[2] + counts[3] + 3;  // three rows are of no group
      const bool is_nz = random.Chance(40);
      const int64_t unit = is_nz ? 64 : 2;
      const int64_t k = unit * (is_nz ? random.Between(1, 4) : random.Between(2, 150));
      const int64_t n = unit * (is_nz ? random.Between(1, 2) : random.Between(1, 80));
      GroupedCall call;
      call.is_v5 = random.Chance(50);
      call.is_nz = is_nz;
      call.list_type = i % 3 == 0 ? 1 : 0;
      call.x = CodesOf({m, k}, kind.x, random);
      call.weight = CodesOf({groups, k, n}, kind.weight, random, is_transposed);
      if (is_nz) call.weight.format = ACL_FORMAT_FRACTAL_NZ;
      call.list = ListOf(counts, call.list_type == 1);
      // The group of each row; pairs name those that have any from the last one on.
      std::vector<int64_t> owner;
      const bool has_pairs = random.Chance(30);
      if (has_pairs) {
        call.list_type = 2;
        call.list = PairsOf(counts, &owner);
      } else {
        for (size_t g = 0; g < counts.size(); ++g)
          owner.insert(owner.end(), static_cast<size_t>(counts[g]), static_cast<int64_t>(g));
      }
      owner.resize(static_cast<size_t>(m), -1);
      call.y = FloatsOf({m, n}, kOuts[i % 3], random);
      const auto pairs = (k + 63) / 64, down = (k + 127) / 128, across = (n + 127) / 128;
      bool has_columns = false;
      switch (kind.scales) {
        case GroupedScales::kWords:
          has_columns = is_transposed;
          call.scale = WordsOf(has_columns ? Shape{groups, n} : Shape{groups}, random);
          break;
        case GroupedScales::kWhole:
          has_columns = is_transposed;
          call.scale = FloatsOf(has_columns ? Shape{groups, n} : Shape{groups, 1}, ACL_FLOAT, random);
          if (i % 4 != 0)
            call.factor = FloatsOf(has_columns ? Shape{m} : Shape{groups, 1}, ACL_FLOAT, random);
          break;
        case GroupedScales::kPowers:
          call.scale =
              PowersOf(is_transposed ? Shape{groups, n, pairs, 2} : Shape{groups, pairs, n, 2}, random);
          call.factor = PowersOf({m, pairs, 2}, random);
          if (is_packed) call.bias = FloatsOf({groups, n}, ACL_FLOAT, random);
          break;
        case GroupedScales::kBlocks:
          call.scale = FloatsOf(is_transposed ? Shape{groups, across, down} : Shape{groups, down, across},
                                ACL_FLOAT, random);
          call.factor = FloatsOf({m, down}, ACL_FLOAT, random);
          break;
      }
      const HeldView before = call.y;
      const CallResult result = call.Run(stream);
      ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
      const bool is_powers = kind.scales == GroupedScales::kPowers;
      const bool has_blocks = is_powers || kind.scales == GroupedScales::kBlocks;
      ExpectElements(
          call.y,
          [&](int64_t row, int64_t column) {
            const int64_t group = owner[static_cast<size_t>(row)];
            if (group < 0) return NumberAt(before, {row, column});
            float sum = SumOf(
                0, k,
                is_powers    ? 32
                : has_blocks ? 128
                             : k,
                [&](int64_t t) {
                  return CodeAt(call.x, {row, t}) * CodeAt(call.weight, {group, t, column});
                },
                [&](int64_t j) {
                  if (is_powers)
                    return PowerAt(call.factor, {row, j / 2, j % 2}) *
                           PowerAt(call.scale, is_transposed ? Index{group, column, j / 2, j % 2}
                                                             : Index{group, j / 2, column, j % 2});
                  if (!has_blocks) return 1.0f;
                  return NumberAt(call.factor, {row, j}) *
                         NumberAt(call.scale, is_transposed ? Index{group, column / 128, j}
                                                            : Index{group, j, column / 128});
                });
            if (kind.scales == GroupedScales::kWords)
              sum = sum * WordAt(call.scale, has_columns ? group * n + column : group);
            if (kind.scales == GroupedScales::kWhole) {
              sum = sum * NumberAt(call.scale, {group, has_columns ? column : 0});
              if (!call.factor.null)
                sum = sum * NumberAt(call.factor, has_columns ? Index{row} : Index{group, 0});
            }
            return call.bias.null ? sum : sum + NumberAt(call.bias, {group, column});
          },
          isa + " call " + std::to_string(i));
    }
  });
}

TEST(CodeProducts, GroupsOfTerms) {
  OnEachIsa(Product::k950, 22, [](aclrtStream stream, RandomNumbers& random, const std::string& isa) {
    for (int i = 0; i < 2 * static_cast<int>(std::size(kGroupedKinds)); ++i) {
      const GroupedKind& kind = kGroupedKinds[static_cast<size_t>(i) / 2];
      if (kind.scales == GroupedScales::kWords || IsPacked(kind.x)) continue;
      const std::vector<int64_t> counts = {random.Between(100, 190), 0, random.Between(1, 300)};
      const int64_t groups = 3, k = counts[0] + counts[2] + i % 2;
      const int64_t m = random.Between(1, 40), n = random.Between(1, 140);
      GroupedCall call;
      call.group_type = 2;
      call.list_type = i % 3 == 0 ? 1 : 0;
      call.x = CodesOf({m, k}, kind.x, random, true);
      call.weight = CodesOf({k, n}, kind.weight, random);
      call.list = ListOf(counts, call.list_type == 1);
      call.y = FloatsOf({groups, m, n}, kOuts[i % 3], random);
      const bool is_powers = kind.scales == GroupedScales::kPowers;
      const bool is_blocks = kind.scales == GroupedScales::kBlocks;
      const int64_t across = (n + 127) / 128;
      const bool has_lines = i % 2 != 0;
      if (is_powers) {
        call.scale = PowersOf({k / 64 + groups, n, 2}, random);
        call.factor = PowersOf({k / 64 + groups, m, 2}, random);
      } else if (is_blocks) {
        call.scale = FloatsOf({k / 128 + groups, across}, ACL_FLOAT, random);
        call.factor = FloatsOf({k / 128 + groups, m}, ACL_FLOAT, random);
      } else {
        call.scale = FloatsOf(has_lines ? Shape{groups, n} : Shape{groups}, ACL_FLOAT, random);
        call.factor = FloatsOf(has_lines ? Shape{groups, m} : Shape{groups}, ACL_FLOAT, random);
      }
      const CallResult result = call.Run(stream);
      ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
      ExpectElements(
          call.y,
          [&](int64_t line, int64_t column) {
            const int64_t group = line / m, row = line % m;
            int64_t begin = 0;
            for (int64_t g = 0; g < group; ++g) begin += counts[static_cast<size_t>(g)];
            const float sum = SumOf(
                begin, begin + counts[static_cast<size_t>(group)],
                is_powers   ? 32
                : is_blocks ? 128
                            : k,
                [&](int64_t t) {
                  return CodeAt(call.x, {row, t}) * CodeAt(call.weight, {t, column});
                },
                [&](int64_t j) {
                  if (is_powers) {
                    const int64_t pair = begin / 64 + group + j / 2;
                    return PowerAt(call.factor, {pair, row, j % 2}) *
                           PowerAt(call.scale, {pair, column, j % 2});
                  }
                  const int64_t block = begin / 128 + group + j;
                  return is_blocks ? NumberAt(call.factor, {block, row}) *
                                         NumberAt(call.scale, {block, column / 128})
                                   : 1.0f;
                });
            if (is_powers || is_blocks) return sum;
            const float scaled = sum * NumberAt(call.scale, has_lines ? Index{group, column} : Index{group});
            return scaled * NumberAt(call.factor, has_lines ? Index{group, row} : Index{group});
          },
          isa + " call " + std::to_string(i));
    }
  });
}

// x of FLOAT16 or BF16 with weights of 8-bit floats: those times their scale are rounded to x's type.
TEST(CodeProducts, GroupsOfHalves) {
  OnEachIsa(Product::k950, 27, [](aclrtStream stream, RandomNumbers& random, const std::string& isa) {
    for (const DtypeNumber dtype : {ACL_FLOAT16, ACL_BF16}) {
      for (const DtypeNumber weights : {ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E5M2, ACL_HIFLOAT8}) {
        const std::vector<int64_t> counts = {1, random.Between(0, 40), 7};
        const int64_t groups = 3, m = counts[0] + counts[1] + counts[2];
        const int64_t k = random.Between(2, 150), n = random.Between(1, 60);
        GroupedCall call;
        call.is_v5 = random.Chance(50);
        call.list_type = 1;
        call.x = FloatsOf({m, k}, dtype, random);
        call.weight = CodesOf({groups, k, n}, weights, random, random.Chance(70));
        // Codes of few sizes, that no product is beyond FLOAT16.
        for (unsigned char& byte : call.weight.bytes)
          while (!(std::fabs(NumberOfCode(weights, byte)) < 8))
            byte = static_cast<unsigned char>(random.Between(0, 255));
        call.antiquant_scale = FloatsOf({groups, n}, dtype, random);
        call.scale = Nothing();
        if (random.Chance(50))
          call.bias = FloatsOf({groups, n}, dtype == ACL_BF16 ? ACL_FLOAT : dtype, random);
        call.list = ListOf(counts, true);
        call.y = FloatsOf({m, n}, dtype, random);
        const CallResult result = call.Run(stream);
        ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
        for (int64_t row = 0; row < m; ++row) {
          const int64_t group = row < counts[0] ? 0 : row < counts[0] + counts[1] ? 1 : 2;
          for (int64_t column = 0; column < n; ++column) {
            double sum = call.bias.null ? 0 : static_cast<double>(NumberAt(call.bias, {group, column}));
            double size = std::fabs(sum);
            for (int64_t t = 0; t < k; ++t) {
              const float scaled = static_cast<float>(CodeAt(call.weight, {group, t, column})) *
                                   NumberAt(call.antiquant_scale, {group, column});
              const double w = DecodeReal(dtype, Encoded(dtype, scaled).data());
              const double term = static_cast<double>(NumberAt(call.x, {row, t})) * w;
              sum += term;
              size += std::fabs(term);
            }
            const double bound =
                size * 0x1p-20 + std::fabs(sum) * (dtype == ACL_BF16 ? 0x1.02p-8 : 0x1.02p-11) + 0x1p-25;
            ASSERT_NEAR(static_cast<double>(NumberAt(call.y, {row, column})), sum, bound)
                << isa << ": " << row << ", " << column;
          }
        }
      }
    }
  });
}

TEST(CodeProducts, GroupsOfHalvesRefuse) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(Product::k950)}});
  RandomNumbers random(31);
  GroupedCall call;
  call.x = FloatsOf({6, 64}, ACL_BF16, random);
  call.weight = CodesOf({2, 64, 32}, ACL_FLOAT8_E4M3FN, random);
  call.scale = Nothing();
  call.list = ListOf({2, 4}, false);
  call.y = FloatsOf({6, 32}, ACL_BF16, random);
  const CallResult without = call.Run(environment.stream());
  EXPECT_EQ(without.plan, 161002);
  EXPECT_NE(without.message.find("antiquantScaleOptional is not there"), std::string::npos)
      << without.message;
  call.antiquant_scale = FloatsOf({2, 32}, ACL_BF16, random);
  call.group_type = 2;
  EXPECT_EQ(call.Run(environment.stream()).plan, 161002);
  call.group_type = 0;
  call.is_nz = true;
  call.weight.format = ACL_FORMAT_FRACTAL_NZ;
  const CallResult fractal = call.Run(environment.stream());
  EXPECT_EQ(fractal.plan, 161002);
  EXPECT_NE(fractal.message.find("weight[0]"), std::string::npos) << fractal.message;
}

// Weights in FRACTAL_NZ fill whole blocks, say their format, and are not cut by terms.
TEST(CodeProducts, FractalGroupsRefuse) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(Product::k950)}});
  RandomNumbers random(33);
  const auto refused = [&](int64_t columns, aclFormat format, int64_t type, const char* words) {
    GroupedCall call;
    call.is_nz = true;
    call.group_type = type;
    call.x = CodesOf({6, 64}, ACL_FLOAT8_E4M3FN, random);
    call.weight = CodesOf({2, 64, columns}, ACL_FLOAT8_E4M3FN, random);
    call.weight.format = format;
    call.scale = FloatsOf({2, columns}, ACL_FLOAT, random);
    call.list = ListOf({2, 4}, false);
    call.y = Numbers({6, columns}, ACL_BF16);
    const CallResult result = call.Run(environment.stream());
    EXPECT_EQ(result.plan, 161002) << words;
    EXPECT_NE(result.message.find(words), std::string::npos) << result.message;
  };
  refused(48, ACL_FORMAT_FRACTAL_NZ, 0, "in whole blocks of FRACTAL_NZ");
  refused(64, ACL_FORMAT_ND, 0, "the format FRACTAL_NZ");
  refused(64, ACL_FORMAT_FRACTAL_NZ, 2, "groupType");
}

TEST(CodeProducts, GroupsRefuse) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(Product::k950)}});
  RandomNumbers random(23);
  GroupedCall valid;
  valid.x = CodesOf({6, 64}, ACL_FLOAT8_E4M3FN, random);
  valid.weight = CodesOf({2, 64, 10}, ACL_FLOAT8_E4M3FN, random);
  valid.scale = FloatsOf({2, 10}, ACL_FLOAT, random);
  valid.factor = FloatsOf({6}, ACL_FLOAT, random);
  valid.list = ListOf({2, 4}, false);
  valid.y = Numbers({6, 10}, ACL_BF16);
  struct Fault {
    const char* words;
    std::function<void(GroupedCall&)> make;
  };
  const std::vector<Fault> faults = {
      {"parameter x has 2 tensors", [](GroupedCall& call) { call.has_two = true; }},
      {"scaleOptional is not there", [](GroupedCall& call) { call.scale = Nothing(); }},
      {"groupListOptional is not there", [](GroupedCall& call) { call.list.null = true; }},
      {"groupType", [](GroupedCall& call) { call.group_type = -1; }},
      {"splitItem", [](GroupedCall& call) { call.split_item = 1; }},
      {"groupListType", [](GroupedCall& call) { call.list_type = 3; }},
      {"parameter groupListOptional", [](GroupedCall& call) { call.list_type = 2; }},
      {"pairs of a group and its rows",
       [](GroupedCall& call) {
         call.list_type = 2;
         call.list = Numbers({2, 3}, ACL_INT64);
       }},
      {"actType", [](GroupedCall& call) { call.act = 1; }},
      {"parameter weight",
       [&](GroupedCall& call) {
         call.weight = CodesOf({2, 64, 10}, ACL_HIFLOAT8, random);
       }},
      {"parameter out[0]",
       [](GroupedCall& call) {
         call.y = Numbers({6, 10}, ACL_INT8);
       }},
      {"parameter scaleOptional",
       [&](GroupedCall& call) {
         call.scale = WordsOf({2, 10}, random);
       }},
      {"parameter biasOptional",
       [&](GroupedCall& call) {
         call.bias = FloatsOf({2, 10}, ACL_FLOAT, random);
       }},
      {"parameter weight",
       [&](GroupedCall& call) {
         call.weight = CodesOf({2, 63, 10}, ACL_FLOAT8_E4M3FN, random);
       }},
      {"parameter groupListOptional",
       [](GroupedCall& call) {
         call.list = ListOf({2, 2, 2}, false);
       }},
      {"parameter scaleOptional",
       [](GroupedCall& call) {
         call.scale = Numbers({2, 9}, ACL_FLOAT);
       }},
      {"parameter perTokenScaleOptional", [](GroupedCall& call) { call.factor = Numbers({5}, ACL_FLOAT); }},
      {"parameter out[0]",
       [](GroupedCall& call) {
         call.y = Numbers({6, 11}, ACL_BF16);
       }},
      {"perTokenScaleOptional is a null pointer",
       [&](GroupedCall& call) {
         call.scale = PowersOf({2, 1, 10, 2}, random);
         call.factor = Nothing();
       }},
  };
  for (const Fault& fault : faults) {
    GroupedCall call = valid;
    fault.make(call);
    const std::vector<unsigned char> before = call.y.bytes;
    const CallResult result = call.Run(environment.stream());
    EXPECT_EQ(result.plan, 161002) << fault.words;
    EXPECT_NE(result.message.find(fault.words), std::string::npos) << fault.words << ": " << result.message;
    EXPECT_EQ(call.y.bytes, before) << fault.words;
  }
  EXPECT_TRUE(valid.Run(environment.stream()).Succeeded());
}

// A pair of more rows than there are, or of a group that is none, fails the stream; rows before it are computed.
TEST(CodeProducts, PairsThatDoNotFit) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(Product::k950)}});
  RandomNumbers random(45);
  for (const bool is_group : {false, true}) {
    GroupedCall call;
    call.list_type = 2;
    call.x = CodesOf({6, 64}, ACL_FLOAT8_E4M3FN, random);
    call.weight = CodesOf({2, 64, 10}, ACL_FLOAT8_E4M3FN, random);
    call.scale = FloatsOf({2, 10}, ACL_FLOAT, random);
    call.y = Numbers({6, 10}, ACL_BF16);
    call.list = Numbers({2, 2}, ACL_INT64);
    const int64_t words[] = {1, 2, is_group ? 2 : 0, is_group ? 1 : 5};
    std::memcpy(call.list.bytes.data(), words, sizeof words);
    const CallResult result = call.Run(environment.stream());
    EXPECT_EQ(result.plan, 0) << result.message;
    EXPECT_EQ(result.synchronize, ACL_ERROR_RT_AICORE_EXCEPTION);
    const std::string message = TakeErrorMessage();
    EXPECT_NE(message.find(
                  is_group ? "groupListOptional has the value 2 at element 2, accepted: groups from 0 to 1."
                           : "groupListOptional has the value 5 at element 3, accepted: groups of so many "
                             "rows together at most: 6."),
              std::string::npos)
        << message;
  }
}

// A group that reaches beyond the rows, or terms, is cut there and fails the stream once.
TEST(CodeProducts, GroupsBeyondTheEnd) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(Product::k950)}});
  RandomNumbers random(24);
  for (const bool cuts_terms : {false, true}) {
    for (const bool are_counts : {false, true}) {
      GroupedCall call;
      call.group_type = cuts_terms ? 2 : 0;
      call.list_type = are_counts ? 1 : 0;
      call.x = CodesOf({6, 64}, ACL_HIFLOAT8, random, cuts_terms);
      call.weight = CodesOf(cuts_terms ? Shape{64, 10} : Shape{2, 64, 10}, ACL_HIFLOAT8, random);
      call.scale = FloatsOf({2, 10}, ACL_FLOAT, random);
      call.y = Numbers(cuts_terms ? Shape{2, 6, 10} : Shape{6, 10}, ACL_FLOAT);
      call.list = ListOf({2, cuts_terms ? 62 : 4}, are_counts);
      ASSERT_TRUE(call.Run(environment.stream()).Succeeded());
      const std::vector<unsigned char> expected = call.y.bytes;
      call.list = ListOf({2, std::numeric_limits<int64_t>::max() - 2}, are_counts);
      const CallResult result = call.Run(environment.stream());
      EXPECT_EQ(result.plan, 0);
      EXPECT_EQ(result.synchronize, 507015);
      const std::string message = TakeErrorMessage();
      EXPECT_NE(message.find("groupListOptional has the value"), std::string::npos) << message;
      EXPECT_NE(message.find(cuts_terms ? "so many terms together at most: 64"
                                        : "so many rows together at most: 6"),
                std::string::npos)
          << message;
      EXPECT_EQ(call.y.bytes, expected);
      call.list = ListOf({-3, 6}, are_counts);
      EXPECT_TRUE(call.Run(environment.stream()).Succeeded());
    }
  }
}

// ---- products that are gated ----

// A call of aclnnGroupedMatmulSwigluQuantV2 or WeightNzV2 with powers of two as scales.
struct GatedCall {
  HeldView x, weight, scale, factor, list, y, powers;
  int64_t dequant = 2, quant = 2;
  bool are_counts = true, is_nz = false;

  CallResult Run(aclrtStream stream) {
    if (is_nz) weight.format = ACL_FORMAT_FRACTAL_NZ;
    return RunOf(
        stream, {&x, &factor, &list, &y, &powers},
        [&](const std::vector<aclTensor*>& t, uint64_t* size, aclOpExecutor** executor) {
          const aclTensor* const of_weight[] = {weight.Make()};
          const aclTensor* const of_scale[] = {scale.Make()};
          aclTensorList* const weights = aclCreateTensorList(of_weight, 1);
          aclTensorList* const scales = aclCreateTensorList(of_scale, 1);
          const auto plan = is_nz ? aclnnGroupedMatmulSwigluQuantWeightNzV2GetWorkspaceSize
                                  : aclnnGroupedMatmulSwigluQuantV2GetWorkspaceSize;
          const aclnnStatus status =
              plan(t[0], weights, scales, nullptr, nullptr, t[1], nullptr, t[2], dequant, 0, quant,
                   are_counts ? 1 : 0, nullptr, t[3], t[4], size, executor);
          lists_ = {weights, scales};
          return status;
        },
        is_nz ? aclnnGroupedMatmulSwigluQuantWeightNzV2 : aclnnGroupedMatmulSwigluQuantV2);
  }
  // After a call: its lists, and what they hold.
  void Drop() {
    for (aclTensorList* const list_of : lists_) aclDestroyTensorList(list_of);
    lists_.clear();
    weight.Fetch();
    scale.Fetch();
  }

 private:
  std::vector<aclTensorList*> lists_;
};

// Gated numbers against float64, within half a step of the codes. A row's blocks have 32 numbers.
void ExpectGatedRow(const GatedCall& call, int64_t row, int64_t group, bool has_columns_first,
                    const std::string& what) {
  const int64_t k = call.x.shape[1], n = call.weight.shape[2], half = n / 2;
  const DtypeNumber dtype = call.y.dtype;
  const double greatest = NumberOfCode(dtype, dtype == ACL_FLOAT8_E4M3FN ? 0x7E
                                              : dtype == ACL_FLOAT8_E5M2 ? 0x7B
                                                                         : 7);
  const int fraction = dtype == ACL_FLOAT8_E4M3FN ? 3 : dtype == ACL_FLOAT8_E5M2 ? 2 : 1;
  const double least = NumberOfCode(dtype, 1);
  std::vector<double> c;
  for (int64_t column = 0; column < n; ++column)
    c.push_back(static_cast<double>(SumOf(
        0, k, 32,
        [&](int64_t t) {
          return CodeAt(call.x, {row, t}) * CodeAt(call.weight, {group, t, column});
        },
        [&](int64_t j) {
          return PowerAt(call.factor, {row, j / 2, j % 2}) *
                 PowerAt(call.scale, has_columns_first ? Index{group, column, j / 2, j % 2}
                                                       : Index{group, j / 2, column, j % 2});
        })));
  for (int64_t begin = 0; begin < half; begin += 32) {
    double most = 0;
    std::vector<double> numbers;
    for (int64_t i = begin; i < std::min(half, begin + 32); ++i) {
      const double a = c[static_cast<size_t>(i)];
      numbers.push_back(a / (1 + std::exp(-a)) * c[static_cast<size_t>(half + i)]);
      most = std::max(most, std::fabs(numbers.back()));
    }
    const double power = CodeAt(call.powers, {row, begin / 64, begin / 32 % 2});
    if (most == 0) continue;
    // One of the powers on both sides of a number that rounding decides on.
    const double own = std::ldexp(1.0, -std::ilogb(greatest));
    const double low = std::ldexp(own, std::ilogb(most * (1 - 1e-5)));
    const double high = std::ldexp(own, std::ilogb(most * (1 + 1e-5)));
    ASSERT_TRUE(power == low || power == high) << what << ": " << power << ", " << most;
    for (size_t i = 0; i < numbers.size(); ++i) {
      const double want = std::clamp(numbers[i], -greatest * power, greatest * power);
      const double got = CodeAt(call.y, {row, begin + static_cast<int64_t>(i)}) * power;
      const double step = std::max(std::ldexp(std::fabs(want), -fraction), least * power) / 2;
      ASSERT_NEAR(got, want, step * 1.001 + std::fabs(want) * 1e-5)
          << what << ": " << row << ", " << begin + static_cast<int64_t>(i);
    }
  }
}

TEST(CodeProducts, GatedGroups) {
  const DtypeNumber kinds[][3] = {{ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN},
                                  {ACL_FLOAT8_E5M2, ACL_FLOAT8_E5M2, ACL_FLOAT4_E2M1},
                                  {ACL_FLOAT4_E2M1, ACL_FLOAT4_E2M1, ACL_FLOAT8_E5M2},
                                  {ACL_FLOAT4_E2M1, ACL_FLOAT4_E2M1, ACL_FLOAT4_E2M1}};
  OnEachIsa(Product::k950, 41, [&](aclrtStream stream, RandomNumbers& random, const std::string& isa) {
    for (int i = 0; i < 8; ++i) {
      const DtypeNumber* const kind = kinds[i / 2];
      const bool is_transposed = i % 2 != 0;
      const std::vector<int64_t> counts = {random.Between(0, 20), 0, random.Between(1, 5)};
      const int64_t groups = 3, m = counts[0] + counts[2] + 2;  // two rows are of no group
      const int64_t k = 2 * random.Between(2, 60), n = 4 * random.Between(1, 40);
      GatedCall call;
      call.is_nz = random.Chance(40);
      call.are_counts = random.Chance(50);
      call.x = CodesOf({m, k}, kind[0], random);
      call.weight = CodesOf({groups, k, n}, kind[1], random, is_transposed);
      const int64_t pairs = (k + 63) / 64;
      // Powers of transposed weights are transposed, too: a view, or such a tensor.
      const bool has_columns_first = is_transposed && n != pairs && random.Chance(50);
      call.scale = PowersOf(is_transposed ? Shape{groups, n, pairs, 2} : Shape{groups, pairs, n, 2}, random);
      if (is_transposed && !has_columns_first) {
        std::swap(call.scale.shape[1], call.scale.shape[2]);
        std::swap(call.scale.strides[1], call.scale.strides[2]);
      }
      call.factor = PowersOf({m, pairs, 2}, random);
      // Powers that keep numbers near 1.
      const int less = kind[0] == ACL_FLOAT4_E2M1 ? 3 : kind[0] == ACL_FLOAT8_E4M3FN ? 9 : 16;
      for (unsigned char& byte : call.factor.bytes) byte = static_cast<unsigned char>(byte - less);
      for (unsigned char& byte : call.scale.bytes) byte = static_cast<unsigned char>(byte - less);
      call.list = ListOf(counts, call.are_counts);
      call.y = CodesOf({m, n / 2}, kind[2], random);
      call.powers = PowersOf({m, (n / 2 + 63) / 64, 2}, random);
      const GatedCall before = call;
      const CallResult result = call.Run(stream);
      call.Drop();
      ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
      const std::string what = isa + " call " + std::to_string(i);
      for (int64_t row = 0; row < counts[0] + counts[2]; ++row) {
        ExpectGatedRow(call, row, row < counts[0] ? 0 : 2, has_columns_first, what);
        if (::testing::Test::HasFatalFailure()) return;
      }
      for (int64_t row = counts[0] + counts[2]; row < m; ++row) {
        for (int64_t column = 0; column < n / 2; ++column)
          ASSERT_EQ(CodeAt(call.y, {row, column}), CodeAt(before.y, {row, column})) << what;
      }
    }
  });
}

TEST(CodeProducts, GatedGroupsRefuse) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(Product::k950)}});
  RandomNumbers random(43);
  const auto refused = [&](const std::function<void(GatedCall&)>& make, const char* words) {
    GatedCall call;
    call.x = CodesOf({6, 64}, ACL_FLOAT8_E4M3FN, random);
    call.weight = CodesOf({2, 64, 64}, ACL_FLOAT8_E4M3FN, random);
    call.scale = PowersOf({2, 1, 64, 2}, random);
    call.factor = PowersOf({6, 1, 2}, random);
    call.list = ListOf({2, 4}, true);
    call.y = CodesOf({6, 32}, ACL_FLOAT8_E4M3FN, random);
    call.powers = PowersOf({6, 1, 2}, random);
    make(call);
    const CallResult result = call.Run(environment.stream());
    call.Drop();
    EXPECT_EQ(result.plan, *words == '\0' ? 0 : 161002) << words << result.message;
    EXPECT_NE(result.message.find(words), std::string::npos) << result.message;
  };
  refused([](GatedCall&) {}, "");
  refused([](GatedCall& call) { call.dequant = 1; }, "dequantMode");
  refused([](GatedCall& call) { call.quant = 1; }, "quantMode");
  refused([&](GatedCall& call) { call.weight = CodesOf({2, 64, 64}, ACL_FLOAT4_E2M1, random); }, "weight");
  refused([&](GatedCall& call) { call.scale = PowersOf({2, 64, 1, 2}, random); }, "weightScale");
  refused([&](GatedCall& call) { call.factor = PowersOf({6, 2, 1}, random); }, "xScale");
  refused([&](GatedCall& call) { call.y = CodesOf({6, 31}, ACL_FLOAT8_E4M3FN, random); }, "output");
  refused([&](GatedCall& call) { call.powers = PowersOf({6, 2}, random); }, "outputScale");
}

// ---- words ----

TEST(CodeProducts, RoundsScalesOfWords) {
  const ScopedEnvironment environment(Variables{});
  RandomNumbers random(19);
  constexpr int64_t kCount = 512;
  HeldView scale = Numbers({kCount}, ACL_FLOAT);
  for (int64_t i = 0; i < kCount; ++i) {
    // All exponents; some lie in the middle between two that are left.
    auto bits = static_cast<uint32_t>(random.Between(0, 0x7F7FFFFF)) | (i % 2 != 0 ? 0x80000000u : 0u);
    if (i % 3 == 0) bits = (bits & 0xFFFFE000u) | 0x1000u;
    if (i % 7 == 0) bits &= 0x807FFFFFu;
    std::memcpy(scale.bytes.data() + 4 * i, &bits, 4);
  }
  for (const int64_t mode : {0, 1, 2}) {
    HeldView out = Numbers({kCount}, ACL_UINT64);
    const CallResult result = RunOf(
        environment.stream(), {&scale, &out},
        [&](const std::vector<aclTensor*>& t, uint64_t* size, aclOpExecutor** executor) {
          return aclnnTransQuantParamV3GetWorkspaceSize(t[0], nullptr, mode, t[1], size, executor);
        },
        aclnnTransQuantParamV3);
    if (mode == 2) {
      EXPECT_EQ(result.plan, 161002);
      EXPECT_NE(result.message.find("roundMode"), std::string::npos) << result.message;
      continue;
    }
    ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
    for (int64_t i = 0; i < kCount; ++i) {
      uint32_t bits;
      std::memcpy(&bits, scale.bytes.data() + 4 * i, 4);
      uint32_t expected = bits & 0xFFFFE000u;
      if (mode == 1) {
        // What is left of a number counts in units of its lowest bit.
        const uint32_t rest = bits & 0x1FFFu;
        const bool up = rest > 0x1000u || (rest == 0x1000u && (bits & 0x2000u) != 0);
        expected = (bits & 0x7F800000u) == 0 ? bits & 0x80000000u : expected + (up ? 0x2000u : 0u);
      }
      uint64_t word;
      std::memcpy(&word, out.bytes.data() + 8 * i, 8);
      EXPECT_EQ(word, expected | uint64_t{1} << 46) << mode << ", " << i;
    }
  }
}

}  // namespace
}  // namespace portacl::testing
