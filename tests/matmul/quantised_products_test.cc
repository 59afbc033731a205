// Products of matrices of 8 and 4 bits: every element against exact sums, in each layout and on each instruction set; words of scales; what
// phase 1 answers.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "aclnnop/families/matmul.h"
#include "engine/gemm/integer_product.h"
#include "engine/isa_in_use.h"
#include "gtest/gtest.h"
#include "process/allocation_hook.h"
#include "quantised_views.h"
#include "support/contract_suite.h"
#include "support/environment.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

enum class Api { kV3, kV4, kV5, kNz };

// What lies in results, and between their elements.
constexpr unsigned char kUntouched = 0x5a;

// Integers as matrices, and how they are handed over.
struct Matrix {
  Shape batch;
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<int> integers;
  bool flag = false;  // handed over transposed
  HeldView view;

  int At(Index batch_index, int64_t row, int64_t column) const {
    int64_t place = 0;
    for (size_t i = 0; i < batch.size(); ++i) {
      const int64_t index = batch_index[batch_index.size() - batch.size() + i];
      place = place * batch[i] + (batch[i] == 1 ? 0 : index);
    }
    return integers[static_cast<size_t>((place * rows + row) * columns + column)];
  }
};

Matrix MakeMatrix(const Shape& batch, int64_t rows, int64_t columns, Packing packing, bool flag,
                  bool is_strided, int64_t first, RandomNumbers& random) {
  Matrix made{batch, rows, columns, {}, flag, {}};
  const int bits = packing == Packing::kInt8 ? 8 : 4;
  const int64_t half = int64_t{1} << (bits - 1);
  const int64_t unit = packing == Packing::kWords ? 8 : 1;
  const bool is_across = flag != is_strided;  // rows lie side by side
  const int64_t batches = NumElements(batch);
  HeldView& view = made.view;
  view.dtype = packing == Packing::kInt8 ? ACL_INT8 : packing == Packing::kInt4 ? ACL_INT4 : ACL_INT32;
  view.offset = first;
  view.bytes.resize(static_cast<size_t>(((batches * rows * columns + first * unit) * bits + 7) / 8));
  made.integers.resize(static_cast<size_t>(batches * rows * columns));
  const bool is_low = random.Chance(20);
  for (size_t i = 0; i < made.integers.size(); ++i) {
    const auto value = static_cast<int>(is_low ? -half : random.Between(-half, half - 1));
    made.integers[i] = value;
    const auto place = static_cast<int64_t>(i);
    const int64_t matrix = place / (rows * columns);
    const int64_t row = place / columns % rows;
    const int64_t column = place % columns;
    const int64_t at =
        first * unit + matrix * rows * columns + (is_across ? column * rows + row : row * columns + column);
    auto& byte = view.bytes[static_cast<size_t>(at * bits / 8)];
    byte = static_cast<unsigned char>(bits == 8     ? value
                                      : at % 2 == 0 ? (byte & 0xf0) | (value & 15)
                                                    : (byte & 15) | (value & 15) << 4);
  }
  Shape stored = batch;
  stored.push_back(is_across ? columns : rows);
  stored.push_back((is_across ? rows : columns) / unit);
  view.shape = stored;
  view.strides = Dense(stored);
  if (is_strided) {
    std::swap(view.shape[batch.size()], view.shape[batch.size() + 1]);
    std::swap(view.strides[batch.size()], view.strides[batch.size() + 1]);
  }
  return made;
}

struct Call {
  Api api = Api::kV5;
  Matrix x1, x2;
  HeldView scale, offset, factors, bias, y_scale, x1_offset, y_offset, out;
  int64_t group = 0;
  bool is_apart = false;
  Guard guard = Guard::kEnd;

  CallResult Run(aclrtStream stream) {
    HeldView* const views[] = {&x1.view, &x2.view, &scale,     &offset,   &factors,
                               &bias,    &y_scale, &x1_offset, &y_offset, &out};
    std::vector<aclTensor*> t;
    for (HeldView* view : views) {
      view->guard = guard;
      t.push_back(view->Make());
    }
    CallResult result;
    aclOpExecutor* executor = nullptr;
    uint64_t* const size = &result.workspace_size;
    switch (api) {
      case Api::kV3:
        result.plan = aclnnQuantMatmulV3GetWorkspaceSize(t[0], t[1], t[2], t[3], t[5], x1.flag, x2.flag, t[9],
                                                         size, &executor);
        break;
      case Api::kV4:
        result.plan = aclnnQuantMatmulV4GetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], x1.flag, x2.flag,
                                                         t[9], size, &executor);
        break;
      case Api::kV5:
      case Api::kNz:
        result.plan =
            (api == Api::kV5 ? aclnnQuantMatmulV5GetWorkspaceSize : aclnnQuantMatmulWeightNzGetWorkspaceSize)(
                t[0], t[1], t[4], t[2], t[6], t[7], t[3], t[8], t[5], x1.flag, x2.flag, group, t[9], size,
                &executor);
        break;
    }
    if (result.plan == 0 && executor != nullptr) {
      const GuardedBuffer workspace(result.workspace_size, guard);
      const auto run = api == Api::kV3   ? aclnnQuantMatmulV3
                       : api == Api::kV4 ? aclnnQuantMatmulV4
                       : api == Api::kV5 ? aclnnQuantMatmulV5
                                         : aclnnQuantMatmulWeightNz;
      result.run = run(workspace.device(), result.workspace_size, executor, stream);
      result.synchronize = aclrtSynchronizeStream(stream);
    } else if (result.plan != 0) {
      result.message = TakeErrorMessage();
    }
    for (aclTensor* tensor : t) aclDestroyTensor(tensor);
    for (HeldView* view : views) view->Fetch();
    return result;
  }

  uint64_t WordAt(int64_t column) const {
    uint64_t word;
    const int64_t place = scale.offset + (scale.shape.back() == 1 ? 0 : column) * scale.strides.back();
    std::memcpy(&word, scale.bytes.data() + place * 8, 8);
    return word;
  }
  static float Shared(const HeldView& view, int64_t index) {
    Index at(view.shape.size(), 0);
    if (view.shape.back() != 1) at.back() = index;
    return NumberAt(view, at);
  }
  Element Expected(const Index& batch, int64_t row, int64_t column) const {
    uint32_t sum = 0;
    for (int64_t k = 0; k < x1.columns; ++k)
      sum += static_cast<uint32_t>(x1.At(batch, row, k) * x2.At(batch, k, column));
    const bool is_whole = !bias.null && bias.dtype == ACL_INT32;
    Index at{column};
    if (bias.shape.size() == 3) at = {batch.back(), 0, column};
    if (is_whole) {
      int64_t place = bias.offset;
      for (size_t i = 0; i < at.size(); ++i) place += at[i] * bias.strides[i];
      uint32_t more;
      std::memcpy(&more, bias.bytes.data() + place * 4, 4);
      sum += more;
    }
    if (out.dtype == ACL_INT32) {
      Element element(4);
      std::memcpy(element.data(), &sum, 4);
      return element;
    }
    auto value = static_cast<float>(static_cast<int32_t>(sum));
    const bool has_words = scale.dtype == ACL_INT64 || scale.dtype == ACL_UINT64;
    if (has_words) {
      const auto low = static_cast<uint32_t>(WordAt(column));
      float number;
      std::memcpy(&number, &low, 4);
      value = value * number;
    } else {
      value = value * Shared(scale, column);
    }
    if (!factors.null) value = value * Shared(factors, row);
    if (!offset.null) {
      value = value + Shared(offset, column);
    } else if (has_words && out.dtype == ACL_INT8) {
      const auto bits = static_cast<int>(WordAt(column) >> 37 & 511);
      value = value + static_cast<float>(bits >= 256 ? bits - 512 : bits);
    }
    if (!bias.null && !is_whole) value = value + NumberAt(bias, at);
    if (out.dtype != ACL_INT8) return Rounded(out.dtype, value);
    // To nearest even, in float64.
    double rounded = std::floor(static_cast<double>(value) + 0.5);
    if (rounded - static_cast<double>(value) == 0.5 && std::fmod(rounded, 2) != 0) rounded -= 1;
    const double whole = std::isnan(value) ? 0 : std::min(127.0, std::max(-128.0, rounded));
    return Element(1, static_cast<std::byte>(static_cast<int>(whole)));
  }
};

// Which types go together: of scale, out and offset, whether rows have factors, and types of biases.
struct Row {
  bool is_int4;
  DtypeList scales;
  DtypeNumber out;
  int factors;  // 0: none, 1: maybe, 2: always
  bool may_have_offset;
  DtypeList biases;
};
const std::vector<Row> kRows = {
    {false, {ACL_UINT64, ACL_INT64}, ACL_FLOAT16, 0, false, {ACL_INT32}},
    {false, {ACL_UINT64, ACL_INT64}, ACL_INT8, 0, true, {ACL_INT32}},
    {false, {ACL_FLOAT, ACL_BF16}, ACL_BF16, 1, false, {ACL_INT32, ACL_BF16, ACL_FLOAT}},
    {false, {ACL_FLOAT}, ACL_FLOAT16, 2, false, {ACL_INT32, ACL_FLOAT16, ACL_FLOAT}},
    {false, {ACL_FLOAT, ACL_BF16}, ACL_INT32, 0, false, {ACL_INT32}},
    {true, {ACL_UINT64, ACL_INT64}, ACL_FLOAT16, 0, false, {ACL_INT32}},
    {true, {ACL_FLOAT, ACL_BF16}, ACL_BF16, 2, false, {ACL_INT32, ACL_BF16, ACL_FLOAT}},
    {true, {ACL_FLOAT}, ACL_FLOAT16, 2, false, {ACL_INT32, ACL_FLOAT16, ACL_FLOAT}},
};

HeldView Line(int64_t length, DtypeNumber dtype, RandomNumbers& random) {
  const int64_t step = random.Chance(30) ? random.Between(2, 3) : 1;
  HeldView view{{length}, {step}, dtype, random.Below(2)};
  view.bytes.resize(static_cast<size_t>((length * step + view.offset) * ElementSize(dtype)));
  return view;
}

Call Draw(const Row& row, RandomNumbers& random, int64_t rows, int64_t terms, int64_t columns,
          const Shape& batch1, const Shape& batch2) {
  const Packing packing = !row.is_int4        ? Packing::kInt8
                          : random.Chance(50) ? Packing::kInt4
                                              : Packing::kWords;
  bool across[2];
  Call call;
  const bool flags[2] = {random.Chance(40), random.Chance(40)};
  const bool strided[2] = {random.Chance(30), random.Chance(30)};
  for (int i = 0; i < 2; ++i) across[i] = flags[i] != strided[i];
  if (packing == Packing::kWords) {
    // At least two words side by side: one lies along the last dim.
    for (int64_t* inner : {across[0] ? &rows : &terms, across[1] ? &terms : &columns})
      *inner = std::max<int64_t>(16, (*inner + 7) / 8 * 8);
  }
  call.x1 = MakeMatrix(batch1, rows, terms, packing, flags[0], strided[0], random.Below(3), random);
  call.x2 = MakeMatrix(batch2, terms, columns, packing, flags[1], strided[1], random.Below(3), random);
  Shape batch(std::max(batch1.size(), batch2.size()), 1);
  for (const Shape* from : {&batch1, &batch2}) {
    for (size_t i = 0; i < from->size(); ++i) {
      int64_t& length = batch[batch.size() - from->size() + i];
      length = std::max(length, (*from)[i]);
    }
  }
  const DtypeNumber scale =
      row.scales[static_cast<size_t>(random.Below(static_cast<int64_t>(row.scales.size())))];
  call.scale = Line(random.Chance(30) ? 1 : columns, scale, random);
  if (ElementSize(scale) == 8) {
    for (size_t at = 0; at < call.scale.bytes.size(); at += 8) {
      const auto number = static_cast<float>(random.Between(-4000, 4000)) / 400000;
      uint32_t low;
      std::memcpy(&low, &number, 4);
      const uint64_t word = low | static_cast<uint64_t>(random.Below(512)) << 37 | uint64_t{1} << 46;
      std::memcpy(call.scale.bytes.data() + at, &word, 8);
    }
  } else {
    Fill(call.scale, random, 0.01);
  }
  call.offset = Line(random.Chance(30) ? 1 : columns, ACL_FLOAT, random);
  Fill(call.offset, random, 10);
  call.offset.null = !row.may_have_offset || random.Chance(50);
  call.factors = Line(rows, ACL_FLOAT, random);
  Fill(call.factors, random, 0.3);
  call.factors.null = row.factors == 0 || (row.factors == 1 && random.Chance(50));
  const DtypeNumber bias =
      row.biases[static_cast<size_t>(random.Below(static_cast<int64_t>(row.biases.size())))];
  if (batch.size() == 1 && random.Chance(50)) {
    call.bias = Numbers({batch[0], 1, columns}, bias);
  } else {
    call.bias = Line(columns, bias, random);
  }
  if (bias == ACL_INT32) {
    for (size_t at = 0; at < call.bias.bytes.size(); at += 4) {
      const auto value =
          static_cast<int32_t>(random.Between(-2000000, 2000000) * (random.Chance(10) ? 1000 : 1));
      std::memcpy(call.bias.bytes.data() + at, &value, 4);
    }
  } else {
    Fill(call.bias, random, 1);
  }
  call.bias.null = random.Chance(40);
  for (HeldView* view : {&call.y_scale, &call.x1_offset, &call.y_offset}) view->null = true;
  Shape out = batch;
  call.is_apart = batch.empty() && batch1.empty() && random.Chance(20);
  out.push_back(rows);
  if (call.is_apart) out.push_back(1);
  out.push_back(columns);
  call.out = Numbers(out, row.out);
  if (random.Chance(20) && !call.is_apart) {
    // Columns side by side.
    call.out.strides[out.size() - 2] = 1;
    call.out.strides[out.size() - 1] = rows;
  }
  if (random.Chance(25)) {
    // Every second element.
    for (int64_t& stride : call.out.strides) stride *= 2;
    call.out.bytes.resize(2 * call.out.bytes.size() - static_cast<size_t>(ElementSize(row.out)));
  }
  std::fill(call.out.bytes.begin(), call.out.bytes.end(), kUntouched);
  const Api apis[] = {Api::kV4, Api::kV5, Api::kNz, call.factors.null ? Api::kV3 : Api::kV4};
  call.api = apis[random.Below(4)];
  // Of 4 bits V3 and V4 take less: see FourBitsOfV3AndV4.
  const bool takes_less = call.api == Api::kV3 || call.api == Api::kV4;
  const bool is_more = flags[0] || strided[0] || !batch2.empty() || call.bias.shape.size() > 1 ||
                       terms % 2 != 0 || columns % 2 != 0;
  if (row.is_int4 && takes_less && is_more) call.api = random.Chance(50) ? Api::kV5 : Api::kNz;
  if (call.api == Api::kNz) call.x2.view.format = ACL_FORMAT_FRACTAL_NZ;
  if (call.api != Api::kV5 && random.Chance(40)) {
    const auto ones = static_cast<std::ptrdiff_t>(call.x2.view.shape.size()) - 1;
    call.scale.shape.insert(call.scale.shape.begin(), static_cast<size_t>(ones), 1);
    call.scale.strides.insert(call.scale.strides.begin(), static_cast<size_t>(ones), random.Between(0, 99));
  }
  return call;
}

void ExpectEveryElement(const Call& call) {
  const HeldView& out = call.out;
  const int64_t size = ElementSize(out.dtype);
  const size_t batch = out.shape.size() - (call.is_apart ? 3 : 2);
  std::vector<bool> is_result(out.bytes.size());
  for (int64_t i = 0; i < NumElements(out.shape); ++i) {
    Index index(out.shape.size());
    int64_t rest = i;
    int64_t place = 0;
    for (size_t dim = out.shape.size(); dim-- > 0;) {
      index[dim] = rest % out.shape[dim];
      rest /= out.shape[dim];
      place += index[dim] * out.strides[dim];
    }
    const Element expected = call.Expected(
        Index(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(batch)), index[batch], index.back());
    ASSERT_EQ(std::memcmp(expected.data(), out.bytes.data() + place * size, static_cast<size_t>(size)), 0)
        << "element " << i;
    std::fill_n(is_result.begin() + place * size, size, true);
  }
  for (size_t i = 0; i < is_result.size(); ++i)
    ASSERT_TRUE(is_result[i] || out.bytes[i] == kUntouched) << "byte " << i << " is no element's";
}

TEST(QuantisedProducts, EveryElement) {
  for (const char* isa : {"", "avx2", "portable"}) {
    Variables variables;
    if (*isa != '\0') variables.push_back({"PORTACL_ISA", isa});
    const ScopedEnvironment environment(variables);
    if (environment.init_status() != 0) continue;
    RandomNumbers random(20261124);
    for (int i = 0; i < 160; ++i) {
      const auto row = static_cast<size_t>(i) % kRows.size();
      const int64_t m = random.Chance(30) ? 1 : random.Between(1, random.Chance(20) ? 70 : 6);
      const int64_t k = random.Chance(30) ? random.Between(1, 1500) : random.Between(1, 80);
      const int64_t n = random.Chance(30) ? random.Between(1, 150) : random.Between(1, 20);
      const Shape batches[] = {{}, {}, {1}, {3}, {2, 3}, {2, 1}};
      Shape batch1 = batches[random.Below(6)];
      const Shape batch2 = k > 300 ? Shape{} : batches[random.Below(6)];
      if (k > 300 && m > 6) batch1 = {};
      Call call = Draw(kRows[row], random, m, k, n, batch1, batch2);
      SCOPED_TRACE(::testing::Message() << isa << " call " << i << ": row " << row << ", " << call.x1.rows
                                        << " x " << call.x1.columns << " x " << call.x2.columns << ", flags "
                                        << call.x1.flag << call.x2.flag);
      call.guard = i % 3 == 0 ? Guard::kStart : Guard::kEnd;
      const CallResult result = call.Run(environment.stream());
      ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
      ASSERT_NO_FATAL_FAILURE(ExpectEveryElement(call));
    }
  }
}

// Sums of some rows are finished before the next rows are multiplied, with terms of one block and of two.
TEST(QuantisedProducts, RowsOnePartAfterTheOther) {
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "1"}});
  ASSERT_EQ(environment.init_status(), 0);
  RandomNumbers random(20261128);
  for (size_t row = 0; row < kRows.size(); ++row) {
    for (const int64_t terms : {30, 1100, 30, 30}) {
      Call call = Draw(kRows[row], random, 150, terms, 40, {}, {});
      SCOPED_TRACE(::testing::Message() << "row " << row << ", " << terms << " terms");
      const CallResult result = call.Run(environment.stream());
      ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
      ASSERT_NO_FATAL_FAILURE(ExpectEveryElement(call));
    }
  }
}

// Sums beyond 2^24, which float32 does not have, and beyond 2^31, which wrap.
TEST(QuantisedProducts, ExactModulo2To32) {
  const ScopedEnvironment environment(Variables{});
  for (const int64_t k : {3001, 140001}) {
    for (const int64_t m : {1, 3}) {
      for (const bool flag : {false, true}) {
        RandomNumbers random(5);
        Call call = Draw(kRows[4], random, m, k, 2, {}, {});
        call.x1 = MakeMatrix({}, m, k, Packing::kInt8, false, false, 0, random);
        call.x2 = MakeMatrix({}, k, 2, Packing::kInt8, flag, false, 0, random);
        call.api = Api::kV4;
        call.bias.null = true;
        for (Matrix* matrix : {&call.x1, &call.x2}) {
          std::fill(matrix->integers.begin(), matrix->integers.end(), -128);
          std::fill(matrix->view.bytes.begin(), matrix->view.bytes.end(), static_cast<unsigned char>(0x80));
        }
        call.x1.integers[0] = 127;
        call.x1.view.bytes[0] = 127;
        const CallResult result = call.Run(environment.stream());
        ASSERT_TRUE(result.Succeeded()) << result.message;
        ASSERT_NO_FATAL_FAILURE(ExpectEveryElement(call)) << k << " " << m << " " << flag;
      }
    }
  }
}

TEST(QuantisedProducts, NotANumberAndInfinities) {
  const ScopedEnvironment environment(Variables{});
  RandomNumbers random(5);
  Call call = Draw(kRows[1], random, 2, 5, 4, {}, {});
  call.scale = Numbers({4}, ACL_INT64);
  const float scales[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -0.0f, 0.5f};
  for (size_t i = 0; i < 4; ++i) std::memcpy(call.scale.bytes.data() + i * 8, &scales[i], 4);
  call.offset.null = true;
  ASSERT_TRUE(call.Run(environment.stream()).Succeeded());
  ASSERT_NO_FATAL_FAILURE(ExpectEveryElement(call));
}

// Work for several threads, with the bits of one.
TEST(QuantisedProducts, AnyThreadsSameBits) {
  for (const size_t row : {size_t{1}, size_t{6}}) {
    std::vector<unsigned char> bits[2];
    for (int i = 0; i < 2; ++i) {
      const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", i == 0 ? "1" : "3"}});
      RandomNumbers random(7);
      Call call = Draw(kRows[row], random, 65, 1024, 1504, {2}, {});
      ASSERT_TRUE(call.Run(environment.stream()).Succeeded());
      bits[i] = call.out.bytes;
    }
    EXPECT_EQ(bits[0], bits[1]);
  }
}

// A thread that gets no memory to keep sums elements one by one, to the same results.
TEST(QuantisedProducts, NeedNoMemory) {
  const ScopedEnvironment environment(Variables{});
  RandomNumbers random(11);
  constexpr int64_t kM = 5, kK = 600, kN = 70;
  std::vector<int8_t> a(kM * kK), b(kK * kN);
  for (std::vector<int8_t>* some : {&a, &b}) {
    for (int8_t& value : *some) value = static_cast<int8_t>(random.Between(-128, 127));
  }
  std::vector<float> scales(kN, 0.25f);
  engine::IntegerGemmJob job{};
  std::fill(std::begin(job.gemm.batch), std::end(job.gemm.batch), int64_t{1});
  job.gemm.rows = kM;
  job.gemm.columns = kN;
  job.gemm.depth = kK;
  job.gemm.groups = 1;
  job.gemm.left.dtype = job.gemm.right.dtype = ACL_INT8;
  job.gemm.left.row = kK;
  job.gemm.left.column = job.gemm.right.column = 1;
  job.gemm.right.argument = 1;
  job.gemm.right.row = kN;
  job.gemm.out.argument = 3;
  job.gemm.out.dtype = ACL_INT32;
  job.gemm.out.row = kN * 4;
  job.gemm.out.column = 4;
  job.scale = {2, 0, 0, 4, ACL_FLOAT};
  job.factor.argument = job.offset.argument = -1;
  job.isa = engine::IsaInUse();
  job.threads = 1;
  std::vector<int32_t> out[2];
  for (const bool without_memory : {false, true}) {
    std::vector<int32_t>& to = out[without_memory ? 1 : 0];
    to.resize(kM * kN);
    void* const addresses[] = {a.data(), b.data(), scales.data(), to.data()};
    std::thread([&] {
      if (without_memory) FailAllocation(1, Failing::kAllFromThereOn);
      job.Run(addresses, nullptr);
      if (without_memory) {
        EXPECT_TRUE(StopFailingAllocations()) << "it asked for no memory";
      }
    }).join();
  }
  EXPECT_EQ(out[0], out[1]);
}

Call Simple(Api api) {
  RandomNumbers random(1);
  Call call = Draw(kRows[2], random, 3, 16, 8, {}, {});
  call.api = api;
  call.x1 = MakeMatrix({}, 3, 16, Packing::kInt8, false, false, 0, random);
  call.x2 = MakeMatrix({}, 16, 8, Packing::kInt8, false, false, 0, random);
  if (api == Api::kNz) call.x2.view.format = ACL_FORMAT_FRACTAL_NZ;
  call.scale = Numbers({8}, ACL_FLOAT);
  call.offset.null = true;
  call.factors = Numbers({3}, ACL_FLOAT);
  call.bias = Numbers({8}, ACL_INT32);
  call.out = Numbers({3, 8}, ACL_FLOAT16);
  call.is_apart = false;
  if (api == Api::kV3) {
    call.factors.null = true;
    call.scale = Numbers({8}, ACL_UINT64);
  }
  return call;
}

void MakeShape(HeldView& view, const Shape& shape) {
  view.shape = shape;
  view.strides = Dense(shape);
}

TEST(QuantisedProducts, Contract) {
  struct Fault {
    aclnnStatus code;
    const char* name;
    std::function<void(Call&)> make;
  };
  const std::vector<Fault> faults = {
      {0, "", [](Call&) {}},
      {161001, "x1", [](Call& call) { call.x1.view.null = true; }},
      {161001, "x2", [](Call& call) { call.x2.view.null = true; }},
      {161001, "cale", [](Call& call) { call.scale.null = true; }},
      {161001, "out", [](Call& call) { call.out.null = true; }},
      {161002, "x1", [](Call& call) { call.x1.view.dtype = ACL_UINT8; }},
      {161002, "x2", [](Call& call) { call.x2.view.dtype = ACL_INT4; }},
      {161002, "cale", [](Call& call) { call.scale.dtype = ACL_FLOAT16; }},
      {161002, "out", [](Call& call) { call.out.dtype = ACL_FLOAT; }},
      {161002, "ffset", [](Call& call) { call.offset = Numbers({8}, ACL_FLOAT); }},
      {161002, "bias", [](Call& call) { call.bias.dtype = ACL_INT8; }},
      {161002, "x1", [](Call& call) { MakeShape(call.x1.view, {48}); }},
      {161002, "x1",
       [](Call& call) {
         MakeShape(call.x1.view, {1, 1, 1, 1, 1, 3, 16});
       }},
      {161002, "x2",
       [](Call& call) {
         MakeShape(call.x2.view, {15, 8});
       }},
      {161002, "x2",
       [](Call& call) {
         MakeShape(call.x1.view, {2, 3, 16});
         MakeShape(call.x2.view, {3, 16, 8});
       }},
      {2, "cale",
       [](Call& call) {  // V5 has scales of groups
         MakeShape(call.scale, {1, 8});
       }},
      {2, "cale",
       [](Call& call) {
         MakeShape(call.scale, {1, 1});
       }},
      {161002, "cale",
       [](Call& call) {
         MakeShape(call.scale, {1, 7});
       }},
      {161002, "cale",
       [](Call& call) {
         MakeShape(call.scale, {8, 1});
       }},
      {161002, "cale",
       [](Call& call) {
         MakeShape(call.scale, {1, 1, 8});
       }},
      {161002, "cale", [](Call& call) { MakeShape(call.scale, {}); }},
      {161002, "cale", [](Call& call) { MakeShape(call.scale, {7}); }},
      {161002, "bias",
       [](Call& call) {
         MakeShape(call.bias, {1, 8});
       }},
      {161002, "bias", [](Call& call) { MakeShape(call.bias, {1}); }},
      {161002, "out",
       [](Call& call) {
         MakeShape(call.out, {8, 3});
       }},
      {0, "",
       [](Call& call) {
         MakeShape(call.out, {3, 1, 8});
       }},
      {161002, "x1", [](Call& call) { call.x1.view.format = ACL_FORMAT_FRACTAL_NZ; }},
      {161002, "x2", [](Call& call) { call.x2.view.format = ACL_FORMAT_NC1HWC0; }},
      {161002, "x1",
       [](Call& call) {
         MakeShape(call.x1.view, {3, 0});
         MakeShape(call.x2.view, {0, 8});
       }},
      {1, "x1",
       [](Call& call) {  // Ascend 950 has nothing to do
         MakeShape(call.x1.view, {0, 16});
         MakeShape(call.factors, {0});
         MakeShape(call.out, {0, 8});
       }},
      {561103, "x1",
       [](Call& call) {
         call.x1.view.strides = {64, 1};
       }},
  };
  for (const Product product :
       {Product::kA2, Product::kA3, Product::k950, Product::k310P, Product::k910, Product::k310B}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)}});
    for (const Api api : {Api::kV3, Api::kV4, Api::kV5, Api::kNz}) {
      for (size_t i = 0; i < faults.size(); ++i) {
        Call call = Simple(api);
        faults[i].make(call);
        aclnnStatus code = faults[i].code;
        if (code == 1) code = product == Product::k950 ? 0 : 161002;
        if (code == 2) code = api == Api::kV5 ? 161002 : 0;
        if ((product == Product::k910 || product == Product::k310B) && code != 161001) code = 361001;
        const CallResult result = call.Run(environment.stream());
        EXPECT_EQ(result.plan, code) << "fault " << i << " of " << static_cast<int>(api) << " on "
                                     << SocNameOf(product) << ": " << result.message;
        if (code != 0 && code != 361001) {
          EXPECT_NE(result.message.find(faults[i].name), std::string::npos) << i << ": " << result.message;
        }
      }
    }
  }
}

// Matrices whose last two dims are swapped are taken by their strides alone, behind the storage that they are said to have; what lies
// otherwise is not.
TEST(QuantisedProducts, TransposedMatricesBehindTheirStorage) {
  const ScopedEnvironment environment(Variables{});
  for (const Packing packing : {Packing::kInt8, Packing::kInt4, Packing::kWords}) {
    for (const Api api : {Api::kV4, Api::kV5, Api::kNz}) {
      RandomNumbers random(5);
      Call call = Simple(api);
      const int64_t unit = packing == Packing::kWords ? 8 : 1;
      const int64_t first = 24 * 16 / unit;
      // V4 takes no x1 of 4 bits that is transposed.
      const bool is_x1_swapped = api != Api::kV4 || packing == Packing::kInt8;
      call.x1 = MakeMatrix({}, 24, 16, packing, false, is_x1_swapped, is_x1_swapped ? first : 0, random);
      call.x2 = MakeMatrix({}, 16, 8, packing, false, true, first, random);
      if (api == Api::kNz) call.x2.view.format = ACL_FORMAT_FRACTAL_NZ;
      call.factors = Numbers({24}, ACL_FLOAT);
      call.out = Numbers({24, 8}, ACL_FLOAT16);
      std::fill(call.out.bytes.begin(), call.out.bytes.end(), kUntouched);
      if (is_x1_swapped) call.x1.view.storage_elements = first;
      call.x2.view.storage_elements = first;
      const CallResult result = call.Run(environment.stream());
      ASSERT_TRUE(result.Succeeded()) << static_cast<int>(packing) << ", " << static_cast<int>(api) << ": "
                                      << result.plan << " " << result.message;
      ASSERT_NO_FATAL_FAILURE(ExpectEveryElement(call));
      (is_x1_swapped ? call.x1 : call.x2).view.strides[1] += 8;
      EXPECT_EQ(call.Run(environment.stream()).plan, 561103);
    }
  }
}

// What FRACTAL_NZ has lies as its strides say, inside its storage.
TEST(QuantisedProducts, FractalStrides) {
  const ScopedEnvironment environment(Variables{});
  constexpr int64_t kFar = int64_t{1} << 40, kOverflows = int64_t{1} << 62;
  for (const Packing packing : {Packing::kInt8, Packing::kInt4, Packing::kWords}) {
    for (const Api api : {Api::kV4, Api::kV5, Api::kNz}) {
      const auto plan = [&](const Shape& strides, int64_t offset) {
        RandomNumbers random(2);
        Call call = Simple(api);
        call.x1 = MakeMatrix({}, 3, 16, packing == Packing::kInt8 ? packing : Packing::kInt4, false, false, 0,
                             random);
        call.x2 = MakeMatrix({}, 16, 16, packing, false, false, 0, random);
        if (packing == Packing::kWords) call.x1 = MakeMatrix({}, 3, 16, packing, false, false, 0, random);
        call.scale = Numbers({16}, ACL_FLOAT);
        call.bias = Numbers({16}, ACL_INT32);
        call.out = Numbers({3, 16}, ACL_FLOAT16);
        call.x2.view.format = ACL_FORMAT_FRACTAL_NZ;
        call.x2.view.offset = offset;
        if (!strides.empty()) call.x2.view.strides = strides;
        const CallResult result = call.Run(environment.stream());
        if (result.plan == 561103) {
          EXPECT_NE(result.message.find("x2"), std::string::npos) << result.message;
          EXPECT_NE(result.message.find("elements inside its storage"), std::string::npos) << result.message;
        }
        return result.plan;
      };
      const int64_t columns = packing == Packing::kWords ? 2 : 16;
      EXPECT_EQ(plan({}, 0), 0);
      EXPECT_EQ(plan({0, 1}, 0), 0);
      EXPECT_EQ(plan({columns + 1, 1}, 0), 561103);
      EXPECT_EQ(plan({-columns, 1}, 0), 561103);
      EXPECT_EQ(plan({-columns, 1}, 15 * columns), 0);
      EXPECT_EQ(plan({kFar, 1}, 0), 561103);
      EXPECT_EQ(plan({kOverflows, 1}, 0), 561103);
    }
  }
}

// Elements of 4 bits may lie as far apart as a storage is said to be large; the bytes that they are spread to must be countable.
TEST(QuantisedProducts, MoreThanAWorkspaceHolds) {
  const ScopedEnvironment environment(Variables{});
  constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
  struct {
    Packing packing;
    int64_t far1, far2;  // rows lie so far apart
    const char* named;
  } const cases[] = {{Packing::kInt4, kAll - 200, 16, "x2"},
                     {Packing::kInt4, kAll - 40, 16, "x1"},
                     {Packing::kInt4, kAll / 2, kAll / 16 + 2, "x2"},
                     {Packing::kWords, int64_t{1} << 60, 2, "x1"},
                     {Packing::kWords, 2, int64_t{1} << 57, "x2"}};
  for (const auto& one : cases) {
    RandomNumbers random(2);
    Call call = Simple(Api::kV4);
    call.x1 = MakeMatrix({}, 2, 16, one.packing, false, false, 0, random);
    call.x2 = MakeMatrix({}, 16, 16, one.packing, false, false, 0, random);
    call.x1.view.strides[0] = one.far1;
    call.x2.view.strides[0] = one.far2;
    call.x1.view.storage_elements = call.x2.view.storage_elements = kAll;
    call.scale = Numbers({16}, ACL_FLOAT);
    call.factors = Numbers({2}, ACL_FLOAT);
    call.bias = Numbers({16}, ACL_INT32);
    call.out = Numbers({2, 16}, ACL_FLOAT16);
    const CallResult result = call.Run(environment.stream());
    EXPECT_EQ(result.plan, 161002) << one.named;
    EXPECT_NE(result.message.find(one.named), std::string::npos) << result.message;
  }
}

TEST(QuantisedProducts, WhichTypesGoTogether) {
  const DtypeList scales = {ACL_FLOAT, ACL_BF16, ACL_FLOAT16, ACL_UINT64, ACL_INT64};
  const DtypeList outs = {ACL_FLOAT16, ACL_BF16, ACL_INT8, ACL_INT32, ACL_FLOAT};
  const DtypeList biases = {ACL_INT32, ACL_FLOAT16, ACL_BF16, ACL_FLOAT, ACL_INT8};
  for (const Product product : {Product::kA2, Product::k950, Product::k310P}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)}});
    for (const bool is_int4 : {false, true}) {
      for (const DtypeNumber scale : scales) {
        for (const DtypeNumber out : outs) {
          for (int i = 0; i < 24; ++i) {
            const bool has_factors = i % 2 == 0;
            const bool has_offset = i / 2 % 2 == 0;
            const size_t bias = static_cast<size_t>(i) / 4;
            Call call = Simple(Api::kV5);
            if (is_int4) {
              RandomNumbers random(3);
              call.x1 = MakeMatrix({}, 3, 16, Packing::kInt4, false, false, 0, random);
              call.x2 = MakeMatrix({}, 16, 8, Packing::kWords, false, true, 0, random);
              call.x2 = MakeMatrix({}, 16, 8, Packing::kInt4, false, true, 0, random);
            }
            call.scale = Numbers({8}, scale);
            call.out = Numbers({3, 8}, out);
            call.factors.null = !has_factors;
            if (has_offset) call.offset = Numbers({8}, ACL_FLOAT);
            call.bias.null = bias == biases.size();
            if (!call.bias.null) call.bias = Numbers({8}, biases[bias]);
            const bool fits = std::any_of(kRows.begin(), kRows.end(), [&](const Row& row) {
              const auto has = [](const DtypeList& list, DtypeNumber dtype) {
                return std::find(list.begin(), list.end(), dtype) != list.end();
              };
              bool in_product = true;
              if (product == Product::k310P) {
                in_product = !row.is_int4 && row.out != ACL_BF16 && row.out != ACL_INT32 &&
                             (call.bias.null || call.bias.dtype == ACL_INT32);
              }
              return in_product && row.is_int4 == is_int4 && has(row.scales, scale) && row.out == out &&
                     (has_factors ? row.factors > 0 : row.factors < 2) &&
                     (!has_offset || row.may_have_offset) &&
                     (call.bias.null || has(row.biases, call.bias.dtype));
            });
            const CallResult result = call.Run(environment.stream());
            EXPECT_EQ(result.plan, fits ? 0 : 161002)
                << SocNameOf(product) << " int4 " << is_int4 << " scale " << scale << " out " << out
                << " case " << i << ": " << result.message;
          }
        }
      }
    }
  }
}

// V3 and V4 take no batch of x2, no other bias than one for each column, no transposed x1, no odd lengths that lie side by side, and blocks
// of FRACTAL_NZ that the terms fill.
TEST(QuantisedProducts, FourBitsOfV3AndV4) {
  struct Case {
    aclnnStatus code;
    const char* named;
    std::function<void(Call&, Packing, RandomNumbers&)> make;
  };
  const auto x2 = [](Call& call, int64_t terms, int64_t columns, Packing packing, bool flag, bool is_strided,
                     RandomNumbers& random) {
    call.x1 = MakeMatrix({}, 4, terms, packing, false, false, 0, random);
    call.x2 = MakeMatrix({}, terms, columns, packing, flag, is_strided, 0, random);
    call.scale = Numbers({columns}, ACL_UINT64);
    call.bias = Numbers({columns}, ACL_INT32);
    call.out = Numbers({4, columns}, ACL_FLOAT16);
  };
  // Blocks of FRACTAL_NZ: along the stored rows, along the stored columns, 16 rows, as many of a row as 32 bytes have.
  const auto blocks = [](Call& call, int64_t columns, int64_t rows) {
    call.x2.view.format = ACL_FORMAT_FRACTAL_NZ;
    call.x2.view.storage_shape = {columns, rows, 16, call.x2.view.dtype == ACL_INT4 ? 64 : 8};
  };
  const std::vector<Case> cases = {
      {0, "", [](Call&, Packing, RandomNumbers&) {}},
      {161002, "x2",
       [](Call& call, Packing packing, RandomNumbers& random) {
         call.x1 = MakeMatrix({2}, 4, 64, packing, false, false, 0, random);
         call.x2 = MakeMatrix({2}, 64, 32, packing, false, false, 0, random);
         call.out = Numbers({2, 4, 32}, ACL_FLOAT16);
       }},
      {0, "",
       [](Call& call, Packing packing, RandomNumbers& random) {
         call.x1 = MakeMatrix({2}, 4, 64, packing, false, false, 0, random);
         call.out = Numbers({2, 4, 32}, ACL_FLOAT16);
       }},
      {161002, "bias",
       [](Call& call, Packing packing, RandomNumbers& random) {
         call.x1 = MakeMatrix({2}, 4, 64, packing, false, false, 0, random);
         call.out = Numbers({2, 4, 32}, ACL_FLOAT16);
         call.bias = Numbers({2, 1, 32}, ACL_INT32);
       }},
      {161002, "x1",
       [](Call& call, Packing packing, RandomNumbers& random) {
         call.x1 = MakeMatrix({}, 16, 64, packing, true, false, 0, random);
         call.out = Numbers({16, 32}, ACL_FLOAT16);
       }},
      {161002, "x1",
       [](Call& call, Packing packing, RandomNumbers& random) {
         call.x1 = MakeMatrix({}, 16, 64, packing, false, true, 0, random);
         call.out = Numbers({16, 32}, ACL_FLOAT16);
       }},
      {0, "",
       [=](Call& call, Packing packing, RandomNumbers& random) {
         x2(call, 64, 32, packing, true, false, random);
       }},
      {0, "",
       [=](Call& call, Packing packing, RandomNumbers& random) {
         x2(call, 64, 32, packing, false, true, random);
       }},
      {1, "x2",
       [=](Call& call, Packing packing, RandomNumbers& random) {
         x2(call, 63, 32, packing, true, false, random);
       }},
      {1, "x2",
       [=](Call& call, Packing packing, RandomNumbers& random) {
         x2(call, 64, 31, packing, false, false, random);
       }},
      {2, "x2",
       [=](Call& call, Packing packing, RandomNumbers& random) {
         x2(call, 64, 31, packing, true, false, random);
       }},
      {0, "", [=](Call& call, Packing, RandomNumbers&) { blocks(call, 1, 4); }},
      {161002, "x2", [=](Call& call, Packing, RandomNumbers&) { blocks(call, 1, 5); }},
      {0, "",
       [=](Call& call, Packing packing, RandomNumbers& random) {
         x2(call, 64, 32, packing, true, false, random);
         blocks(call, 1, 2);
       }},
      {161002, "x2",
       [=](Call& call, Packing packing, RandomNumbers& random) {
         x2(call, 64, 32, packing, true, false, random);
         blocks(call, 2, 2);
       }},
  };
  const ScopedEnvironment environment(Variables{});
  for (const Api api : {Api::kV3, Api::kV4, Api::kV5}) {
    for (const Packing packing : {Packing::kInt4, Packing::kWords}) {
      for (size_t i = 0; i < cases.size(); ++i) {
        // Words hold no odd lengths side by side; across them they do.
        const bool is_odd = cases[i].code == 1 || cases[i].code == 2;
        if (is_odd && packing == Packing::kWords) continue;
        RandomNumbers random(13);
        Call call = Simple(Api::kV3);
        call.api = api;
        x2(call, 64, 32, packing, false, false, random);
        cases[i].make(call, packing, random);
        aclnnStatus code = cases[i].code == 1 ? 161002 : cases[i].code == 2 ? 0 : cases[i].code;
        if (api == Api::kV5) code = 0;
        const CallResult result = call.Run(environment.stream());
        EXPECT_EQ(result.plan, code) << "case " << i << " of " << static_cast<int>(api) << ": "
                                     << result.message;
        if (code == 0) {
          EXPECT_TRUE(result.Succeeded()) << i;
          ASSERT_NO_FATAL_FAILURE(ExpectEveryElement(call)) << i;
        } else {
          EXPECT_NE(result.message.find(cases[i].named), std::string::npos) << i << ": " << result.message;
        }
      }
    }
  }
}

// V5 takes another fractal format of x2, and on Ascend 950 axes of any length.
TEST(QuantisedProducts, WhatV5AloneTakes) {
  for (const Product product : {Product::kA2, Product::k950}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)}});
    for (const Api api : {Api::kV3, Api::kV4, Api::kV5}) {
      Call call = Simple(api);
      call.x2.view.format = ACL_FORMAT_FRACTAL_NZ_C0_32;
      const CallResult result = call.Run(environment.stream());
      EXPECT_EQ(result.plan, api == Api::kV5 ? 0 : 161002) << result.message;
      if (api == Api::kV5) {
        ASSERT_NO_FATAL_FAILURE(ExpectEveryElement(call));
        call.x2.view.strides = {int64_t{1} << 40, 1};
        EXPECT_EQ(call.Run(environment.stream()).plan, 561103);
        call = Simple(api);
        call.x1.view.format = ACL_FORMAT_FRACTAL_NZ_C0_32;
        EXPECT_EQ(call.Run(environment.stream()).plan, 161002);
      } else {
        EXPECT_NE(result.message.find("x2"), std::string::npos) << result.message;
      }
    }
    RandomNumbers random(4);
    Call call = Simple(Api::kV5);
    call.x1 = MakeMatrix({}, 3, 65536, Packing::kInt8, false, false, 0, random);
    call.x2 = MakeMatrix({}, 65536, 8, Packing::kInt8, false, false, 0, random);
    call.scale = Numbers({8}, ACL_UINT64);
    call.factors.null = true;
    const CallResult result = call.Run(environment.stream());
    EXPECT_EQ(result.plan, product == Product::k950 ? 0 : 161002) << result.message;
    if (product == Product::k950) {
      ASSERT_NO_FATAL_FAILURE(ExpectEveryElement(call));
    }
  }
}

// What CANN has besides, and what its client passes for nothing.
TEST(QuantisedProducts, GroupsAndAsymmetryAreRefusedByName) {
  for (const Product product : {Product::kA2, Product::kA3, Product::k950}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)}});
    for (const Api api : {Api::kV5, Api::kNz}) {
      Call call = Simple(api);
      call.x1_offset = Numbers({0}, ACL_FLOAT);
      call.y_offset = Numbers({0}, ACL_FLOAT);
      ASSERT_TRUE(call.Run(environment.stream()).Succeeded());
      ASSERT_NO_FATAL_FAILURE(ExpectEveryElement(call));
      call.group = int64_t{1} << 32 | 128 << 16 | 128;
      const CallResult grouped = call.Run(environment.stream());
      EXPECT_EQ(grouped.plan, 561103);
      EXPECT_NE(grouped.message.find("groupSize"), std::string::npos) << grouped.message;
      // No mode has such groups.
      for (const int64_t group : {int64_t{1}, int64_t{-1}, int64_t{2} << 32 | 128, int64_t{1} << 60}) {
        call.group = group;
        const CallResult unknown = call.Run(environment.stream());
        EXPECT_EQ(unknown.plan, 161002);
        EXPECT_NE(unknown.message.find("groupSize"), std::string::npos) << unknown.message;
      }
      call.group = 0;
      for (HeldView* view : {&call.y_scale, &call.x1_offset, &call.y_offset}) {
        Call other = call;
        *(view == &call.y_scale     ? &other.y_scale
          : view == &call.x1_offset ? &other.x1_offset
                                    : &other.y_offset) = Numbers({8}, ACL_FLOAT);
        const CallResult refused = other.Run(environment.stream());
        EXPECT_EQ(refused.plan, api == Api::kV5 ? 161001 : 161002) << refused.message;
        const char* const named = view == &call.y_scale     ? "yScale"
                                  : view == &call.x1_offset ? "x1Offset"
                                                            : "yOffset";
        EXPECT_NE(refused.message.find(named), std::string::npos) << refused.message;
        // Types are asked before, shapes after.
        other.out.dtype = ACL_FLOAT;
        EXPECT_EQ(other.Run(environment.stream()).plan, 161002);
        other.out.dtype = ACL_FLOAT16;
        MakeShape(other.out, {8, 3});
        EXPECT_EQ(other.Run(environment.stream()).plan, api == Api::kV5 ? 161001 : 161002);
      }
    }
  }
  const ScopedEnvironment environment(Variables{});
  Call call = Simple(Api::kNz);
  call.x2.view.format = ACL_FORMAT_ND;
  EXPECT_EQ(call.Run(environment.stream()).plan, 161002);
  call = Simple(Api::kV5);
  call.x1.view.dtype = ACL_FLOAT8_E4M3FN;
  const CallResult floats = call.Run(environment.stream());
  EXPECT_EQ(floats.plan, 161002);
  EXPECT_NE(floats.message.find("8-bit and 4-bit floats"), std::string::npos) << floats.message;
}

// Axes of more than 65535 elements are those of INT8 with scales of FLOAT or BF16 on Atlas A2 and A3 alone.
TEST(QuantisedProducts, LongestAxes) {
  for (const Product product : {Product::kA2, Product::k950}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)}});
    for (const bool has_words : {false, true}) {
      RandomNumbers random(4);
      Call call = Simple(has_words ? Api::kV3 : Api::kV4);
      call.x1 = MakeMatrix({}, 3, 65536, Packing::kInt8, false, false, 0, random);
      call.x2 = MakeMatrix({}, 65536, 8, Packing::kInt8, false, false, 0, random);
      const aclnnStatus code = !has_words && product == Product::kA2 ? 0 : 161002;
      EXPECT_EQ(call.Run(environment.stream()).plan, code) << has_words;
      // Transposed, it is the other dim that lies last.
      call.x1 = MakeMatrix({}, 3, 65536, Packing::kInt8, false, true, 0, random);
      EXPECT_EQ(call.Run(environment.stream()).plan, 0) << has_words;
    }
  }
}

// ---- words of scales ----

uint64_t ExpectedWord(float scale, float offset, bool has_all_bits = false) {
  uint32_t bits;
  std::memcpy(&bits, &scale, 4);
  const double below = std::floor(static_cast<double>(offset));
  const double rest = static_cast<double>(offset) - below;
  double whole = rest > 0.5 || (rest == 0.5 && std::fmod(below, 2) != 0) ? below + 1 : below;
  if (std::isnan(offset)) whole = 0;
  const auto number = static_cast<int64_t>(std::min(255.0, std::max(-256.0, whole)));
  const auto low = static_cast<uint64_t>(number < 0 ? number + 512 : number);
  return (has_all_bits ? bits : bits / 8192 * 8192) + (low << 37) + (uint64_t{1} << 46);
}
const float kOffsets[] = {0,
                          -0.0f,
                          0.49f,
                          0.5f,
                          -0.5f,
                          1.5f,
                          -2.5f,
                          254.5f,
                          255.5f,
                          -256.5f,
                          -1e30f,
                          1e30f,
                          std::numeric_limits<float>::quiet_NaN(),
                          std::numeric_limits<float>::infinity(),
                          7};
const float kScales[] = {1, 0.1f, -0.3f, 1e-40f, 3e38f, 0, -0.0f, std::numeric_limits<float>::infinity(),
                         5, 0.7f, 1.1f,  1e-3f,  2,     3, 4};

TEST(ScaleWords, OfArrays) {
  for (const uint64_t scales : {1, 2, 15}) {
    for (const uint64_t offsets : {0, 1, 2, 15}) {
      uint64_t* words = nullptr;
      uint64_t size = 0;
      const aclnnStatus status = aclnnTransQuantParam(
          kScales, scales, offsets == 0 ? nullptr : kOffsets + 15 - offsets, offsets, &words, &size);
      if (scales > 1 && offsets > 1 && scales != offsets) {
        EXPECT_EQ(status, 161002);
        continue;
      }
      ASSERT_EQ(status, 0);
      const uint64_t most = std::max(scales, offsets);
      ASSERT_EQ(size, most == 1 ? 1 : 16);
      for (uint64_t i = 0; i < size; ++i) {
        if (i >= most) {
          EXPECT_EQ(words[i], 0) << i;
          continue;
        }
        const float offset = offsets == 0 ? 0 : kOffsets[15 - offsets + (offsets == 1 ? 0 : i)];
        EXPECT_EQ(words[i], ExpectedWord(kScales[scales == 1 ? 0 : i], offset, true)) << i;
      }
      std::free(words);
    }
  }
  uint64_t* words = nullptr;
  uint64_t size = 0;
  const float number = 1.1f;
  ASSERT_EQ(aclnnTransQuantParam(&number, 1, nullptr, 0, &words, &size), 0);
  EXPECT_EQ(words[0], 0x40003F8CCCCDull);
  std::free(words);
  EXPECT_EQ(aclnnTransQuantParam(nullptr, 1, nullptr, 0, &words, &size), 161002);
  EXPECT_NE(TakeErrorMessage().find("scaleArray is a null pointer"), std::string::npos);
  EXPECT_EQ(aclnnTransQuantParam(kScales, 1, nullptr, 1, &words, &size), 161002);
  EXPECT_NE(TakeErrorMessage().find("offsetArray is a null pointer"), std::string::npos);
  EXPECT_EQ(aclnnTransQuantParam(kScales, 1, nullptr, 0, nullptr, &size), 161001);
  EXPECT_EQ(aclnnTransQuantParam(kScales, 1, nullptr, 0, &words, nullptr), 161001);
  EXPECT_EQ(aclnnTransQuantParam(kScales, 0, nullptr, 0, &words, &size), 161002);
  // As many as no array has: the number of words, a multiple of 16, would be 0.
  constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(aclnnTransQuantParam(kScales, kAll, nullptr, 0, &words, &size), 161002);
  for (const uint64_t offsets : {kAll, kAll - 14, kAll / 16}) {
    words = nullptr;
    EXPECT_EQ(aclnnTransQuantParam(kScales, 1, kOffsets, offsets, &words, &size), 161002) << offsets;
    EXPECT_EQ(words, nullptr);
    EXPECT_NE(TakeErrorMessage().find("offsetSize"), std::string::npos);
  }
}

struct WordsCall {
  HeldView scale = Numbers({15}, ACL_FLOAT);
  HeldView offset = Numbers({15}, ACL_FLOAT);
  HeldView out = Numbers({15}, ACL_INT64);

  WordsCall() {
    std::memcpy(scale.bytes.data(), kScales, sizeof kScales);
    std::memcpy(offset.bytes.data(), kOffsets, sizeof kOffsets);
  }
  CallResult Run(aclrtStream stream) {
    aclTensor* const t[] = {scale.Make(), offset.Make(), out.Make()};
    CallResult result;
    aclOpExecutor* executor = nullptr;
    result.plan = aclnnTransQuantParamV2GetWorkspaceSize(t[0], t[1], t[2], &result.workspace_size, &executor);
    if (result.plan == 0) {
      result.run = aclnnTransQuantParamV2(nullptr, 0, executor, stream);
      result.synchronize = aclrtSynchronizeStream(stream);
    } else {
      result.message = TakeErrorMessage();
    }
    for (aclTensor* tensor : t) aclDestroyTensor(tensor);
    for (HeldView* view : {&scale, &offset, &out}) view->Fetch();
    return result;
  }
};

TEST(ScaleWords, OfTensors) {
  const ScopedEnvironment environment(Variables{});
  for (int way = 0; way < 5; ++way) {
    WordsCall call;
    if (way == 1) call.offset.null = true;
    if (way == 2) call.offset.shape = {1};
    if (way == 3) call.scale.shape = {1, 1}, call.scale.strides = {1, 1};
    if (way == 4) call.scale.strides = {-1}, call.scale.offset = 14, call.out.dtype = ACL_UINT64;
    const CallResult result = call.Run(environment.stream());
    ASSERT_TRUE(result.Succeeded()) << way << " " << result.message;
    for (size_t i = 0; i < 15; ++i) {
      uint64_t word;
      std::memcpy(&word, call.out.bytes.data() + i * 8, 8);
      const float scale = kScales[way == 3 ? 0 : way == 4 ? 14 - i : i];
      const float offset = way == 1 ? 0 : kOffsets[way == 2 ? 0 : i];
      EXPECT_EQ(word, ExpectedWord(scale, offset)) << way << ", " << i;
    }
  }
}

// Rows of scales, of which each has the same offsets.
TEST(ScaleWords, OfRowsOnAscend950) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", "Ascend950PR_9599"}});
  for (const bool has_one : {false, true}) {
    WordsCall call;
    MakeShape(call.scale, {3, 5});
    MakeShape(call.offset, {has_one ? 1 : 5});
    MakeShape(call.out, {3, 5});
    std::memcpy(call.scale.bytes.data(), kScales, sizeof kScales);
    std::memcpy(call.offset.bytes.data(), kOffsets, has_one ? 4 : 20);
    const CallResult result = call.Run(environment.stream());
    ASSERT_TRUE(result.Succeeded()) << result.message;
    for (size_t i = 0; i < 15; ++i) {
      uint64_t word;
      std::memcpy(&word, call.out.bytes.data() + i * 8, 8);
      EXPECT_EQ(word, ExpectedWord(kScales[i], kOffsets[has_one ? 0 : i % 5])) << i;
    }
    MakeShape(call.out, {15});
    EXPECT_EQ(call.Run(environment.stream()).plan, 161002);
  }
}

TEST(ScaleWords, Contract) {
  struct Fault {
    aclnnStatus code;
    const char* name;
    std::function<void(WordsCall&)> make;
  };
  const std::vector<Fault> faults = {
      {0, "", [](WordsCall&) {}},
      {161001, "scale", [](WordsCall& call) { call.scale.null = true; }},
      {161001, "out", [](WordsCall& call) { call.out.null = true; }},
      {161002, "scale", [](WordsCall& call) { call.scale.dtype = ACL_INT32; }},
      {161002, "offset", [](WordsCall& call) { call.offset.dtype = ACL_INT32; }},
      {161002, "out", [](WordsCall& call) { call.out.dtype = ACL_DOUBLE; }},
      {161002, "scale",
       [](WordsCall& call) {
         MakeShape(call.scale, {3, 5});
       }},
      {161002, "scale", [](WordsCall& call) { MakeShape(call.scale, {0}); }},
      {161002, "scale", [](WordsCall& call) { MakeShape(call.scale, {}); }},
      {161002, "offset", [](WordsCall& call) { MakeShape(call.offset, {14}); }},
      {161002, "out", [](WordsCall& call) { MakeShape(call.out, {14}); }},
      {0, "",
       [](WordsCall& call) {
         MakeShape(call.out, {1, 15});
       }},
      {561103, "scale", [](WordsCall& call) { call.scale.strides = {3}; }},
  };
  for (const Product product :
       {Product::kA2, Product::kA3, Product::k950, Product::k310P, Product::k910, Product::k310B}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)}});
    for (size_t i = 0; i < faults.size(); ++i) {
      WordsCall call;
      faults[i].make(call);
      aclnnStatus code = faults[i].code;
      if ((product == Product::k910 || product == Product::k310B) && code != 161001) code = 361001;
      const CallResult result = call.Run(environment.stream());
      EXPECT_EQ(result.plan, code) << i << " on " << SocNameOf(product) << ": " << result.message;
      if (code != 0 && code != 361001) {
        EXPECT_NE(result.message.find(faults[i].name), std::string::npos) << result.message;
      }
    }
  }
}

}  // namespace
}  // namespace portacl::testing
