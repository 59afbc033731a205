// Grouped products that do more: sums of gradients, gated rows as INT8, rows added up for tokens, rows that are quantised first. Every element
// against float64 and exact integers, on every instruction set and with several threads; lists and indices that do not fit; codes.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "aclnnop/families/moe.h"
#include "engine/isa_in_use.h"
#include "gtest/gtest.h"
#include "support/contract_suite.h"
#include "support/environment.h"
#include "support/guarded_buffer.h"
#include "support/numeric_suite.h"
#include "support/random_numbers.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

constexpr unsigned char kUntouched = 0x5a;

// A dense tensor, or one whose rows have gaps, or whose last two dims are swapped; null: none.
struct Held {
  Shape shape;
  DtypeNumber dtype = ACL_FLOAT;
  std::vector<unsigned char> bytes = {};
  bool null = false;
  bool is_swapped = false;
  int64_t gap = 0;
  aclFormat format = ACL_FORMAT_ND;
  std::shared_ptr<GuardedBuffer> memory = nullptr;

  int64_t Bytes(int64_t elements) const {
    return dtype == ACL_INT4 ? elements / 2 : elements * ElementSize(dtype);
  }
  std::vector<int64_t> Strides() const {
    std::vector<int64_t> strides(shape.size(), 1);
    for (size_t i = shape.size(); i-- > 1;)
      strides[i - 1] = strides[i] * shape[i] + (i + 1 == shape.size() ? gap : 0);
    if (is_swapped && shape.size() >= 2) {
      strides[shape.size() - 2] = 1;
      strides[shape.size() - 1] = shape[shape.size() - 2];
    }
    return strides;
  }
  int64_t Reach() const {
    int64_t reach = 1;
    const auto strides = Strides();
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == 0) return 0;
      reach += (shape[i] - 1) * strides[i];
    }
    return reach;
  }
  int64_t Place(int64_t i) const {
    const auto strides = Strides();
    int64_t place = 0;
    for (size_t dim = shape.size(); dim-- > 0;) {
      place += i % shape[dim] * strides[dim];
      i /= shape[dim];
    }
    return place;
  }
  void Clear() { bytes.assign(static_cast<size_t>(Bytes(Reach())), kUntouched); }
  void Set(int64_t i, double value) {
    const int64_t place = Place(i);
    if (dtype == ACL_INT4) {
      auto& byte = bytes[static_cast<size_t>(place / 2)];
      const auto half = static_cast<unsigned>(static_cast<int>(value) & 15);
      byte = static_cast<unsigned char>(place % 2 == 0 ? (byte & 0xf0u) | half : (byte & 0x0fu) | half << 4);
    } else if (dtype == ACL_INT64 && is_word) {
      const auto number = static_cast<float>(value);
      std::memcpy(bytes.data() + place * 8, &number, 4);
    } else if (IsIntegerDtype(dtype)) {
      EncodeIntegerElement(dtype, static_cast<int64_t>(value), bytes.data() + place * ElementSize(dtype));
    } else {
      EncodeElement(dtype, value, bytes.data() + place * ElementSize(dtype));
    }
  }
  double Get(int64_t i) const {
    const int64_t place = Place(i);
    if (dtype == ACL_INT4) {
      const int half = bytes[static_cast<size_t>(place / 2)] >> (place % 2 == 0 ? 0 : 4) & 15;
      return (half ^ 8) - 8;
    }
    if (dtype == ACL_INT64 && is_word) {
      float number;
      std::memcpy(&number, bytes.data() + place * 8, 4);
      return static_cast<double>(number);
    }
    const unsigned char* const at = bytes.data() + place * ElementSize(dtype);
    return IsIntegerDtype(dtype) ? static_cast<double>(DecodeInteger(dtype, at)) : DecodeReal(dtype, at);
  }
  double operator()(int64_t i, int64_t j) const { return Get(i * shape.back() + j); }
  double operator()(int64_t i, int64_t j, int64_t k) const { return Get((i * shape[1] + j) * shape[2] + k); }
  bool IsUntouched(int64_t i) const {
    const int64_t place = Place(i);
    for (int64_t byte = 0; byte < ElementSize(dtype); ++byte) {
      if (bytes[static_cast<size_t>(place * ElementSize(dtype) + byte)] != kUntouched) return false;
    }
    return true;
  }
  aclTensor* Make() {
    if (null) return nullptr;
    memory = std::make_shared<GuardedBuffer>(bytes.size());
    if (!bytes.empty()) std::memcpy(memory->data(), bytes.data(), bytes.size());
    const int64_t storage = Reach();
    const auto strides = Strides();
    return aclCreateTensor(shape.data(), shape.size(), static_cast<aclDataType>(dtype), strides.data(), 0,
                           format, &storage, 1, memory->device());
  }
  void Fetch() {
    if (memory != nullptr && !bytes.empty()) std::memcpy(bytes.data(), memory->data(), bytes.size());
    memory.reset();
  }
  bool is_word = false;  // whose lower half is a FLOAT
};

Held Drawn(const Shape& shape, DtypeNumber dtype, RandomNumbers& random, double low, double high,
           bool is_word = false) {
  Held held{.shape = shape, .dtype = dtype};
  held.is_word = is_word;
  held.Clear();
  for (int64_t i = 0; i < NumElements(shape); ++i) {
    const double at = low + (high - low) * random.Unit();
    held.Set(i, IsIntegerDtype(dtype) && !is_word ? std::floor(at + 0.5) : at);
  }
  return held;
}
Held Integers(const std::vector<int64_t>& values, DtypeNumber dtype = ACL_INT64) {
  Held held{.shape = {std::ssize(values)}, .dtype = dtype};
  held.Clear();
  for (size_t i = 0; i < values.size(); ++i)
    held.Set(static_cast<int64_t>(i), static_cast<double>(values[i]));
  return held;
}
Held Untouched(const Shape& shape, DtypeNumber dtype, int64_t gap = 0) {
  Held held{.shape = shape, .dtype = dtype};
  held.gap = gap;
  held.Clear();
  return held;
}

using Plan = std::function<aclnnStatus(uint64_t*, aclOpExecutor**)>;
using Phase2 = aclnnStatus (*)(void*, uint64_t, aclOpExecutor*, aclrtStream);
struct Answer {
  aclnnStatus plan = -1;
  aclError synchronize = -1;
  std::string message;
  bool Succeeded() const { return plan == 0 && synchronize == 0; }
};
Answer RunBoth(const Plan& plan, Phase2 run, aclrtStream stream) {
  Answer answer;
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  answer.plan = plan(&size, &executor);
  if (answer.plan == 0) {
    const GuardedBuffer workspace(size);
    EXPECT_EQ(run(workspace.device(), size, executor, stream), 0);
    answer.synchronize = aclrtSynchronizeStream(stream);
  }
  answer.message = TakeErrorMessage();
  return answer;
}

// Makes tensors of a call, and takes their bytes back when it is over.
class Tensors {
 public:
  explicit Tensors(std::vector<Held*> all) : all_(std::move(all)) {
    for (Held* const one : all_) made_.push_back(one->Make());
  }
  ~Tensors() {
    for (aclTensor* const one : made_) {
      if (one != nullptr) aclDestroyTensor(one);
    }
    for (Held* const one : all_) one->Fetch();
  }
  Tensors(const Tensors&) = delete;
  Tensors& operator=(const Tensors&) = delete;
  aclTensor* operator[](size_t i) const { return made_[i]; }
  // A list destroys its tensor.
  aclTensorList* List(size_t i) {
    if (made_[i] == nullptr) return nullptr;
    const aclTensor* const one = made_[i];
    made_[i] = nullptr;
    return aclCreateTensorList(&one, 1);
  }

 private:
  std::vector<Held*> all_;
  std::vector<aclTensor*> made_;
};

// Words of 4 bits of weights that are transposed with gaps between them: none lie beside each other along the last dim.
void SetWordsApart(Held& weight, const Shape& shape) {
  weight.shape = shape;
  weight.dtype = ACL_INT32;
  weight.is_swapped = true;
  weight.gap = 1;
  weight.Clear();
}

// Rows of each group, from ends or sizes as the sheet has them: those of a negative number are none, those beyond `most` are cut.
std::vector<int64_t> SizesOf(const Held& list, bool has_ends, int64_t most) {
  std::vector<int64_t> sizes;
  int64_t begin = 0;
  for (int64_t i = 0; i < list.shape[0]; ++i) {
    const auto value = static_cast<int64_t>(list.Get(i));
    int64_t size = has_ends ? value - begin : value;
    size = std::clamp<int64_t>(size, 0, most - begin);
    sizes.push_back(size);
    begin += size;
  }
  return sizes;
}
std::vector<int64_t> GroupOfRows(const std::vector<int64_t>& sizes, int64_t rows) {
  std::vector<int64_t> groups;
  for (size_t g = 0; g < sizes.size(); ++g)
    groups.insert(groups.end(), static_cast<size_t>(sizes[g]), static_cast<int64_t>(g));
  groups.resize(static_cast<size_t>(rows), -1);
  return groups;
}

// For each instruction set and several numbers of threads: the same bytes of what `run` returns.
void OnEverySetting(const std::function<std::vector<unsigned char>(aclrtStream)>& run,
                    const char* soc = "Ascend910B1") {
  std::vector<unsigned char> first;
  for (const engine::Isa isa : IsasToTest()) {
    for (const char* const threads : {"1", "3"}) {
      const ScopedEnvironment environment(Variables{
          {"PORTACL_ISA", engine::IsaName(isa)}, {"PORTACL_NUM_THREADS", threads}, {"PORTACL_SOC", soc}});
      SCOPED_TRACE(std::string(engine::IsaName(isa)) + ", threads " + threads);
      const std::vector<unsigned char> bytes = run(environment.stream());
      if (::testing::Test::HasFailure()) return;
      if (first.empty()) first = bytes;
      ASSERT_EQ(bytes, first);
    }
  }
}

// ---- sums of gradients ----

struct AddCall {
  Held x, weight, groups, y;
  int64_t list_type = 0;
  bool is_v2 = true;
  Answer Run(aclrtStream stream) {
    const Tensors t({&x, &weight, &groups, &y});
    if (is_v2)
      return RunBoth(
          [&](uint64_t* size, aclOpExecutor** executor) {
            return aclnnGroupedMatmulAddV2GetWorkspaceSize(t[0], t[1], t[2], t[3], true, false, 2, list_type,
                                                           size, executor);
          },
          aclnnGroupedMatmulAddV2, stream);
    return RunBoth(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnGroupedMatmulAddGetWorkspaceSize(t[0], t[1], t[2], t[3], true, false, 2, size,
                                                       executor);
        },
        aclnnGroupedMatmulAdd, stream);
  }
};
AddCall MakeAdd(DtypeNumber dtype, const std::vector<int64_t>& ends, int64_t k, int64_t m, int64_t n,
                bool is_flat) {
  RandomNumbers random(7);
  AddCall call{Drawn({k, m}, dtype, random, -2, 2), Drawn({k, n}, dtype, random, -2, 2), Integers(ends), {}};
  const int64_t groups = std::ssize(ends);
  call.y = Drawn(is_flat ? Shape{groups * m, n} : Shape{groups, m, n}, ACL_FLOAT, random, -2, 2);
  return call;
}
void ExpectAdded(const AddCall& call, const Held& before) {
  const int64_t k = call.x.shape[0], m = call.x.shape[1], n = call.weight.shape[1];
  const auto sizes = SizesOf(call.groups, call.list_type == 0, k);
  int64_t begin = 0;
  for (size_t g = 0; g < sizes.size(); ++g) {
    for (int64_t i = 0; i < m * n; ++i) {
      double want = before.Get(static_cast<int64_t>(g) * m * n + i), size = std::abs(want);
      for (int64_t row = begin; row < begin + sizes[g]; ++row) {
        const double term = call.x(row, i / n) * call.weight(row, i % n);
        want += term;
        size += std::abs(term);
      }
      const double got = call.y.Get(static_cast<int64_t>(g) * m * n + i);
      ASSERT_NEAR(got, want, size * 0x1p-20) << "group " << g << ", element " << i;
    }
    begin += sizes[g];
  }
}

TEST(GroupedAdd, EveryElement) {
  for (const DtypeNumber dtype : {ACL_FLOAT16, ACL_BF16}) {
    for (const bool is_flat : {false, true}) {
      for (const bool is_v2 : {false, true}) {
        OnEverySetting([&](aclrtStream stream) {
          AddCall call = MakeAdd(dtype, {3, 3, 300, 290, 310}, 320, 17, 9, is_flat);
          call.is_v2 = is_v2;
          const Held before = call.y;
          const Answer answer = call.Run(stream);
          EXPECT_TRUE(answer.Succeeded()) << answer.message;
          ExpectAdded(call, before);
          return call.y.bytes;
        });
        if (HasFailure()) return;
      }
    }
  }
}

TEST(GroupedAdd, ListsThatDoNotFitAndCodes) {
  const ScopedEnvironment environment(Variables{});
  AddCall sizes = MakeAdd(ACL_BF16, {3, -2, 9}, 8, 4, 3, false);
  sizes.list_type = 1;
  const Held before = sizes.y;
  const Answer beyond = sizes.Run(environment.stream());
  EXPECT_EQ(beyond.synchronize, ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_NE(beyond.message.find("groupList has the value 9 at element 2"), std::string::npos)
      << beyond.message;
  ExpectAdded(sizes, before);
  struct Row {
    std::function<void(AddCall&)> change;
    aclnnStatus code, code_of_v2;
    const char* says;
  };
  const Row rows[] = {
      {[](AddCall& c) { c.x.null = true; }, 161001, 161002, "parameter x"},
      {[](AddCall& c) { c.y.null = true; }, 161001, 161002, "parameter yRef"},
      {[](AddCall& c) { c.weight.dtype = ACL_FLOAT16; }, 161002, 161002, "weight"},
      {[](AddCall& c) { c.x.dtype = c.weight.dtype = ACL_INT16; }, 161002, 161002, "parameter x"},
      {[](AddCall& c) { c.y.dtype = ACL_INT32; }, 161002, 161002, "yRef"},
      {[](AddCall& c) {
         c.weight.shape = {7, 3};
       },
       561002, 161002, "weight"},
      {[](AddCall& c) {
         c.y.shape = {3, 4, 2};
       },
       561002, 161002, "yRef"},
  };
  for (const Row& row : rows) {
    for (const bool is_v2 : {false, true}) {
      AddCall call = MakeAdd(ACL_BF16, {3, 5, 8}, 8, 4, 3, false);
      call.is_v2 = is_v2;
      row.change(call);
      const Answer answer = call.Run(environment.stream());
      EXPECT_EQ(answer.plan, is_v2 ? row.code_of_v2 : row.code) << answer.message;
      EXPECT_NE(answer.message.find(row.says), std::string::npos) << answer.message;
    }
  }
  AddCall type = MakeAdd(ACL_BF16, {3, 5, 8}, 8, 4, 3, false);
  type.list_type = 2;
  EXPECT_EQ(type.Run(environment.stream()).plan, 161002);
}

// ---- gated rows as INT8 ----

// A tensor's groups, each as a tensor of its own.
std::vector<Held> GroupsOf(const Held& all) {
  std::vector<Held> groups;
  if (all.null) return groups;
  const Shape each(all.shape.begin() + 1, all.shape.end());
  for (int64_t g = 0; g < all.shape[0]; ++g) {
    Held one{.shape = each, .dtype = all.dtype};
    one.is_word = all.is_word;
    one.is_swapped = all.is_swapped;
    one.format = all.format;
    one.Clear();
    for (int64_t i = 0; i < NumElements(each); ++i) one.Set(i, all.Get(g * NumElements(each) + i));
    groups.push_back(one);
  }
  return groups;
}
aclTensorList* ListOf(std::vector<Held>& all) {
  std::vector<const aclTensor*> tensors;
  for (Held& one : all) tensors.push_back(one.Make());
  return tensors.empty() ? nullptr : aclCreateTensorList(tensors.data(), tensors.size());
}

struct GateCall {
  Held x, weight, bias, weight_scale, x_scale, groups, out, out_scale;
  Held smooth = {.shape = {}, .null = true};  // of versions 2 and 3
  int64_t list_type = 0;
  int version = 2;
  bool has_lists = false;  // of versions 2 and 3: a tensor for each group
  size_t dropped = 0;      // tensors of the list of scales that are left out
  Answer Run(aclrtStream stream) {
    Tensors t({&x, &weight, &bias, &weight_scale, &x_scale, &groups, &out, &out_scale, &smooth});
    aclTensorList* lists[3] = {};
    std::vector<Held> each[3];
    if (version >= 2 && has_lists) {
      each[0] = GroupsOf(weight);
      each[1] = GroupsOf(weight_scale);
      each[1].resize(each[1].size() - dropped);
      each[2] = GroupsOf(bias);
      for (int i = 0; i < 3; ++i) lists[i] = ListOf(each[i]);
    } else if (version >= 2) {
      lists[0] = t.List(1);
      lists[1] = t.List(3);
      lists[2] = t.List(2);
    }
    const auto plan = [&](uint64_t* size, aclOpExecutor** executor) {
      switch (version) {
        case 0:
          return aclnnGroupedMatmulSwigluQuantGetWorkspaceSize(t[0], t[1], t[2], nullptr, t[3], t[4], t[5],
                                                               t[6], t[7], nullptr, size, executor);
        case 1:
          return aclnnGroupedMatmulSwigluQuantWeightNZGetWorkspaceSize(
              t[0], t[1], t[2], nullptr, t[3], t[4], t[5], t[6], t[7], nullptr, size, executor);
        case 2:
          return aclnnGroupedMatmulSwigluQuantV2GetWorkspaceSize(t[0], lists[0], lists[1], lists[2], nullptr,
                                                                 t[4], t[8], t[5], 0, 0, 0, list_type,
                                                                 nullptr, t[6], t[7], size, executor);
        default:
          return aclnnGroupedMatmulSwigluQuantWeightNzV2GetWorkspaceSize(
              t[0], lists[0], lists[1], lists[2], nullptr, t[4], t[8], t[5], 0, 0, 0, list_type, nullptr,
              t[6], t[7], size, executor);
      }
    };
    constexpr Phase2 kRun[] = {aclnnGroupedMatmulSwigluQuant, aclnnGroupedMatmulSwigluQuantWeightNZ,
                               aclnnGroupedMatmulSwigluQuantV2, aclnnGroupedMatmulSwigluQuantWeightNzV2};
    const Answer answer = RunBoth(plan, kRun[version], stream);
    for (aclTensorList* const list : lists) {
      if (list != nullptr) aclDestroyTensorList(list);
    }
    return answer;
  }
};
GateCall MakeGate(bool has_halves, int64_t of_terms, const std::vector<int64_t>& list, int64_t m, int64_t k,
                  int64_t n, DtypeNumber scales = ACL_FLOAT) {
  RandomNumbers random(3);
  const int64_t groups = std::ssize(list);
  GateCall call;
  call.x = Drawn({m, k}, ACL_INT8, random, -127, 127);
  call.weight = Drawn({groups, k, n}, has_halves ? ACL_INT4 : ACL_INT8, random, has_halves ? -8 : -127,
                      has_halves ? 7 : 127);
  call.bias = Drawn({groups, n}, ACL_FLOAT, random, -1, 1);
  call.bias.null = !has_halves;
  call.weight_scale = has_halves ? Drawn(of_terms > 1 ? Shape{groups, of_terms, n} : Shape{groups, n},
                                         ACL_INT64, random, 0.001, 0.01, true)
                                 : Drawn({groups, n}, scales, random, 0.001, 0.01);
  call.x_scale = Drawn({m}, ACL_FLOAT, random, 0.01, 0.1);
  call.groups = Integers(list);
  call.out = Untouched({m, n / 2}, ACL_INT8);
  call.out_scale = Untouched({m}, ACL_FLOAT);
  return call;
}
void ExpectGated(const GateCall& call) {
  const int64_t m = call.x.shape[0], k = call.x.shape[1], n = call.weight.shape[2];
  const auto groups = GroupOfRows(SizesOf(call.groups, call.version < 2 || call.list_type == 0, m), m);
  const bool has_halves = call.weight.dtype == ACL_INT4;
  const bool are_both = call.x.dtype == ACL_INT4;
  for (int64_t row = 0; row < m; ++row) {
    const int64_t g = groups[static_cast<size_t>(row)];
    if (g < 0) {
      ASSERT_TRUE(call.out_scale.IsUntouched(row));
      for (int64_t j = 0; j < n / 2; ++j) ASSERT_TRUE(call.out.IsUntouched(row * (n / 2) + j));
      continue;
    }
    std::vector<double> c(static_cast<size_t>(n));
    for (int64_t j = 0; j < n; ++j) {
      double sum = has_halves && !are_both ? call.bias(g, j) : 0;
      for (int64_t i = 0; i < k; ++i) {
        double w = call.weight(g, i, j);
        if (has_halves) {
          const bool has_terms = call.weight_scale.shape.size() == 3;
          w *= has_terms ? call.weight_scale(g, i / (k / call.weight_scale.shape[1]), j)
                         : call.weight_scale(g, j);
        }
        sum += (call.x(row, i) - (has_halves && !are_both ? 8 : 0)) * w;
      }
      c[static_cast<size_t>(j)] = sum * call.x_scale.Get(row) * (has_halves ? 1 : call.weight_scale(g, j));
    }
    double greatest = 0;
    std::vector<double> s;
    for (int64_t j = 0; j < n / 2; ++j) {
      const double a = c[static_cast<size_t>(j)];
      const double by = call.smooth.null                ? 1
                        : call.smooth.shape.size() == 1 ? call.smooth.Get(g)
                                                        : call.smooth(g, j);
      s.push_back(a / (1 + std::exp(-a)) * c[static_cast<size_t>(n / 2 + j)] * by);
      greatest = std::max(greatest, std::abs(s.back()));
    }
    const double step = greatest / 127;
    ASSERT_NEAR(call.out_scale.Get(row), step, step * 1e-4 + 1e-30);
    for (int64_t j = 0; j < n / 2; ++j) {
      const double want = step == 0 ? 0 : s[static_cast<size_t>(j)] / step;
      ASSERT_NEAR(call.out(row, j), want, 0.5 + 0.05) << "row " << row << ", column " << j;
    }
  }
}

TEST(GroupedSwiglu, EveryElement) {
  for (const bool has_halves : {false, true}) {
    for (const int version : {0, 1, 2, 3}) {
      for (const bool is_swapped : {false, true}) {
        OnEverySetting([&](aclrtStream stream) {
          GateCall call = MakeGate(has_halves, version % 2 == 0 ? 1 : 3, {4, 4, 30, 29, 33}, 35, 48, 22);
          call.version = version;
          call.weight.format = version == 2 ? ACL_FORMAT_ND : ACL_FORMAT_FRACTAL_NZ;
          if (is_swapped) {
            const Held plain = call.weight;
            call.weight.is_swapped = true;
            for (int64_t i = 0; i < NumElements(plain.shape); ++i) call.weight.Set(i, plain.Get(i));
          }
          if (version >= 2) {
            call.list_type = 1;
            call.groups = Integers({4, 0, 26, -1, 3});
          }
          // A row of zeros.
          for (int64_t i = 0; i < 48 && !has_halves; ++i) call.x.Set(5 * 48 + i, 0);
          const Answer answer = call.Run(stream);
          EXPECT_TRUE(answer.Succeeded()) << answer.message;
          ExpectGated(call);
          std::vector<unsigned char> bytes = call.out.bytes;
          bytes.insert(bytes.end(), call.out_scale.bytes.begin(), call.out_scale.bytes.end());
          return bytes;
        });
        if (HasFailure()) return;
      }
    }
  }
}

// A tensor for each group; x and weights of 4 bits, with factors of groups or of their columns, or none.
TEST(GroupedSwiglu, ListsAndRowsOf4Bits) {
  for (int way = 0; way < 12; ++way) {
    OnEverySetting([&](aclrtStream stream) {
      const bool are_both = way % 3 != 0;
      GateCall call =
          MakeGate(way % 3 != 0 || way % 2 == 0, way % 4 == 1 ? 3 : 1, {4, 0, 26, -1, 3}, 35, 48, 22);
      RandomNumbers random(11);
      call.version = way % 2 == 0 ? 2 : 3;
      call.weight.format = call.version == 2 ? ACL_FORMAT_ND : ACL_FORMAT_FRACTAL_NZ;
      call.list_type = 1;
      call.has_lists = way < 9;
      if (are_both) {
        call.x = Drawn({35, 48}, ACL_INT4, random, -8, 7);
        call.bias.null = true;
        if (way % 3 == 1) call.smooth = Drawn({5}, ACL_FLOAT, random, 0.5, 2);
        if (way % 6 == 2) call.smooth = Drawn({5, 11}, ACL_FLOAT, random, 0.5, 2);
      }
      const Answer answer = call.Run(stream);
      EXPECT_TRUE(answer.Succeeded()) << answer.message;
      ExpectGated(call);
      std::vector<unsigned char> bytes = call.out.bytes;
      bytes.insert(bytes.end(), call.out_scale.bytes.begin(), call.out_scale.bytes.end());
      return bytes;
    });
    if (HasFailure()) return;
  }
}

TEST(GroupedSwiglu, ListsThatDoNotFit) {
  const ScopedEnvironment environment(Variables{});
  GateCall call = MakeGate(false, 1, {1, 2, 5}, 5, 8, 6);
  call.has_lists = true;
  call.dropped = 1;
  const Answer fewer = call.Run(environment.stream());
  EXPECT_EQ(fewer.plan, 161002);
  EXPECT_NE(fewer.message.find("weightScale has another number of tensors"), std::string::npos)
      << fewer.message;
  RandomNumbers random(5);
  GateCall smooth = MakeGate(false, 1, {1, 2, 5}, 5, 8, 6);
  smooth.smooth = Drawn({3}, ACL_FLOAT, random, 1, 2);
  const Answer given = smooth.Run(environment.stream());
  EXPECT_EQ(given.plan, 161002);
  EXPECT_NE(given.message.find("smoothScale"), std::string::npos) << given.message;
  smooth = MakeGate(true, 1, {1, 2, 5}, 5, 8, 6);
  smooth.x = Drawn({5, 8}, ACL_INT4, random, -8, 7);
  smooth.bias.null = true;
  smooth.smooth = Drawn({3, 6}, ACL_FLOAT, random, 1, 2);
  const Answer shape = smooth.Run(environment.stream());
  EXPECT_EQ(shape.plan, 161002);
  EXPECT_NE(shape.message.find("[groups] or [groups, half of the columns]"), std::string::npos)
      << shape.message;
}

// Without terms rows are zeros, whatever the memory of a thread held before.
TEST(GroupedSwiglu, WithoutTerms) {
  OnEverySetting([&](aclrtStream stream) {
    EXPECT_TRUE(MakeGate(false, 1, {2, 5}, 5, 8, 6).Run(stream).Succeeded());
    GateCall call = MakeGate(false, 1, {2, 5}, 5, 0, 6);
    const Answer answer = call.Run(stream);
    EXPECT_TRUE(answer.Succeeded()) << answer.message;
    ExpectGated(call);
    std::vector<unsigned char> bytes = call.out.bytes;
    bytes.insert(bytes.end(), call.out_scale.bytes.begin(), call.out_scale.bytes.end());
    return bytes;
  });
}

TEST(GroupedSwiglu, Codes) {
  const ScopedEnvironment environment(Variables{});
  struct Row {
    std::function<void(GateCall&)> change;
    aclnnStatus code;
    const char* says;
    bool has_halves = false;
    int version = 0;
  };
  const Row rows[] = {
      {[](GateCall& c) { c.x.null = true; }, 161001, "parameter x "},
      {[](GateCall& c) { c.weight_scale.null = true; }, 161001, "weightScale"},
      {[](GateCall& c) { c.out.null = true; }, 161001, "output"},
      {[](GateCall& c) { c.out.null = true; }, 161002, "output", false, 2},
      {[](GateCall& c) { c.bias.null = true; }, 161001, "bias", true},
      {[](GateCall& c) { c.bias.null = false; }, 161002, "weightAssistMatrix", false, 2},
      {[](GateCall& c) { c.x.shape = {5}; }, 161002, "parameter x"},
      {[](GateCall& c) {
         c.x.shape = {5, 7};
         c.weight.shape = {3, 7, 6};
         c.x_scale.shape = {4};
       },
       161002, "xScale"},
      {[](GateCall& c) {
         c.weight.shape = {3, 8, 5};
       },
       161002, "weight"},
      {[](GateCall& c) {
         c.groups = Integers({1, 2, 3, 4});
       },
       161002, "groupList"},
      {[](GateCall& c) {
         c.out.shape = {5, 2};
       },
       161002, "output"},
      {[](GateCall& c) { c.x.dtype = ACL_UINT8; }, 161002, "parameter x"},
      {[](GateCall& c) { c.weight_scale.dtype = ACL_INT32; }, 161002, "weightScale"},
      {[](GateCall& c) { c.groups.dtype = ACL_UINT64; }, 161002, "groupList"},
      {[](GateCall& c) { c.weight.format = ACL_FORMAT_ND; }, 161002, "FRACTAL_NZ"},
      {[](GateCall& c) { c.list_type = 2; }, 161002, "groupListType", false, 2},
      {[](GateCall& c) {
         c = MakeGate(true, 1, {1, 2, 5}, 5, 8, 16);
         SetWordsApart(c.weight, {3, 8, 2});
       },
       161002, "weight[0]", true, 2},
  };
  for (const Row& row : rows) {
    GateCall call = MakeGate(row.has_halves, 1, {1, 2, 5}, 5, 8, 6);
    call.version = row.version;
    call.weight.format = ACL_FORMAT_FRACTAL_NZ;
    row.change(call);
    const Answer answer = call.Run(environment.stream());
    EXPECT_EQ(answer.plan, row.code) << answer.message;
    EXPECT_NE(answer.message.find(row.says), std::string::npos) << answer.message;
  }
  GateCall beyond = MakeGate(false, 1, {1, 9, 2}, 5, 8, 6);
  const Answer answer = beyond.Run(environment.stream());
  EXPECT_EQ(answer.synchronize, ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_NE(answer.message.find("groupList has the value 9 at element 1"), std::string::npos)
      << answer.message;
  ExpectGated(beyond);
}

// ---- rows added up for tokens ----

struct TokenCall {
  Held x, weight, scale, bias, per_token, groups, shared, logit, index, out;
  Held offset = {.shape = {}, .null = true};  // of versions 2 to 4
  int64_t list_type = 1, first = 1;
  float weight_of_shared = 0.5f;
  int version = 2;
  Answer Run(aclrtStream stream) {
    const Tensors t(
        {&x, &weight, &scale, &bias, &per_token, &groups, &shared, &logit, &index, &out, &offset});
    const auto plan = [&](uint64_t* size, aclOpExecutor** executor) {
      switch (version) {
        case 0:
          return aclnnGroupedMatmulFinalizeRoutingGetWorkspaceSize(
              t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], 0, weight_of_shared, first, false, false,
              list_type, t[9], size, executor);
        case 1:
          return aclnnGroupedMatmulFinalizeRoutingWeightNzGetWorkspaceSize(
              t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], 0, weight_of_shared, first, false, false,
              list_type, t[9], size, executor);
        case 2:
          return aclnnGroupedMatmulFinalizeRoutingV2GetWorkspaceSize(
              t[0], t[1], t[2], t[3], t[10], nullptr, nullptr, t[4], t[5], t[6], t[7], t[8], 0,
              weight_of_shared, first, false, false, list_type, t[9], size, executor);
        case 3:
          return aclnnGroupedMatmulFinalizeRoutingV3GetWorkspaceSize(
              t[0], t[1], t[2], t[3], t[10], nullptr, nullptr, t[4], t[5], t[6], t[7], t[8], 0,
              weight_of_shared, first, false, false, list_type, nullptr, t[9], size, executor);
        default:
          return aclnnGroupedMatmulFinalizeRoutingWeightNzV2GetWorkspaceSize(
              t[0], t[1], t[2], t[3], t[10], nullptr, nullptr, t[4], t[5], t[6], t[7], t[8], 0,
              weight_of_shared, first, false, false, list_type, nullptr, t[9], size, executor);
      }
    };
    constexpr Phase2 kRun[] = {aclnnGroupedMatmulFinalizeRouting, aclnnGroupedMatmulFinalizeRoutingWeightNz,
                               aclnnGroupedMatmulFinalizeRoutingV2, aclnnGroupedMatmulFinalizeRoutingV3,
                               aclnnGroupedMatmulFinalizeRoutingWeightNzV2};
    return RunBoth(plan, kRun[version], stream);
  }
};
TokenCall MakeToken(bool has_halves, int version, bool has_shared = true, bool has_bias = true) {
  RandomNumbers random(13);
  const int64_t m = 19, k = has_halves ? 192 : 48, n = has_halves ? 128 : 288, tokens = 7, groups = 4;
  TokenCall call;
  call.version = version;
  call.x = Drawn({m, k}, ACL_INT8, random, -127, 127);
  call.weight = Drawn({groups, k, n}, has_halves ? ACL_INT4 : ACL_INT8, random, has_halves ? -8 : -127,
                      has_halves ? 7 : 127);
  if (version == 1 || version == 4) call.weight.format = ACL_FORMAT_FRACTAL_NZ;
  call.scale = has_halves ? Drawn({groups, 1, n}, ACL_INT64, random, 0.001, 0.01, true)
                          : Drawn({groups, n}, version == 1 ? ACL_BF16 : ACL_FLOAT, random, 0.001, 0.01);
  call.bias = Drawn({groups, n}, has_halves ? ACL_FLOAT : ACL_BF16, random, -1, 1);
  call.bias.null = !has_bias;
  call.per_token = Drawn({m}, ACL_FLOAT, random, 0.01, 0.1);
  call.groups = Integers({6, 0, 9, 2});
  call.shared = Drawn({5, n}, ACL_BF16, random, -2, 2);
  call.logit = Drawn({m}, ACL_FLOAT, random, -1, 1);
  call.shared.null = call.logit.null = !has_shared;
  call.index = Drawn({m}, has_halves ? ACL_INT64 : ACL_INT32, random, 0, static_cast<double>(tokens - 1));
  call.out = Untouched({tokens, n}, ACL_FLOAT);
  return call;
}
void ExpectTokens(const TokenCall& call) {
  const int64_t m = call.x.shape[0], k = call.x.shape[1], n = call.weight.shape[2],
                tokens = call.out.shape[0];
  const auto groups = GroupOfRows(SizesOf(call.groups, call.list_type == 0, m), m);
  const bool has_halves = call.weight.dtype == ACL_INT4;
  for (int64_t j = 0; j < n; ++j) {
    std::vector<double> want(static_cast<size_t>(tokens), 0), size(static_cast<size_t>(tokens), 0);
    for (int64_t r = 0; !call.shared.null && r < call.shared.shape[0]; ++r)
      want[static_cast<size_t>(call.first + r)] =
          static_cast<double>(call.weight_of_shared) * call.shared(r, j);
    for (int64_t row = 0; row < m; ++row) {
      const int64_t g = groups[static_cast<size_t>(row)];
      const auto token = static_cast<int64_t>(call.index.Get(row));
      if (g < 0 || token < 0 || token >= tokens) continue;
      double y = 0, magnitude = 0, sum = 0;
      for (int64_t i = 0; i < k; ++i) {
        const double term = (call.x(row, i) - (has_halves ? 8 : 0)) * call.weight(g, i, j);
        y += term;
        magnitude += std::abs(term);
        sum += call.x(row, i);
      }
      const double of_offset = call.offset.null ? 0 : sum * call.offset.Get(g * n + j);
      const double scale = has_halves ? call.scale.Get(g * n + j) : call.scale(g, j);
      const double factor = call.per_token.null ? 1 : call.per_token.Get(row);
      const double bias = call.bias.null ? 0 : call.bias(g, j);
      y = has_halves ? (y * scale + bias + of_offset) * factor : y * scale * factor + bias;
      magnitude = (magnitude * scale + std::abs(of_offset)) * std::abs(factor);
      const auto at = static_cast<size_t>(token);
      if (call.logit.null) {
        want[at] = y;
        size[at] = magnitude;
      } else {
        want[at] += y * call.logit.Get(row);
        size[at] += magnitude + std::abs(y);
      }
    }
    for (int64_t token = 0; token < tokens; ++token) {
      const auto at = static_cast<size_t>(token);
      ASSERT_NEAR(call.out(token, j), want[at], (size[at] + std::abs(want[at])) * 0x1p-19)
          << "token " << token << ", column " << j;
    }
  }
}

TEST(GroupedFinalize, EveryElement) {
  for (const int version : {0, 1, 2, 3, 4}) {
    const bool is_nz = version == 1 || version == 4;
    for (int way = 0; way < (is_nz ? 5 : 1); ++way) {
      OnEverySetting([&](aclrtStream stream) {
        TokenCall call = MakeToken(!is_nz || way == 0, version, way != 2, way != 3);
        if (way == 4) {
          call.per_token.null = true;
          call.list_type = 0;
          call.groups = Integers({6, 5, 19, 19});
        }
        const Answer answer = call.Run(stream);
        EXPECT_TRUE(answer.Succeeded()) << answer.message;
        ExpectTokens(call);
        return call.out.bytes;
      });
      if (HasFailure()) return;
    }
  }
}

TEST(GroupedFinalize, Offsets) {
  for (const int version : {2, 3, 4}) {
    OnEverySetting([&](aclrtStream stream) {
      TokenCall call = MakeToken(true, version);
      RandomNumbers random(29);
      call.offset = Drawn({4, 1, 128}, ACL_FLOAT, random, -0.02, 0.02);
      const Answer answer = call.Run(stream);
      EXPECT_TRUE(answer.Succeeded()) << answer.message;
      ExpectTokens(call);
      return call.out.bytes;
    });
    if (HasFailure()) return;
  }
}

TEST(GroupedFinalize, BadIndicesAndCodes) {
  const ScopedEnvironment environment(Variables{});
  TokenCall bad = MakeToken(false, 1);
  bad.index.Set(3, 7);
  bad.index.Set(8, -1);
  const Answer answer = bad.Run(environment.stream());
  EXPECT_EQ(answer.synchronize, ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_NE(answer.message.find("rowIndex has the value 7 at element 3, accepted: 0 to 6"), std::string::npos)
      << answer.message;
  ExpectTokens(bad);
  struct Row {
    std::function<void(TokenCall&)> change;
    aclnnStatus code;
    const char* says;
    bool has_halves = true;
    int version = 2;
  };
  const Row rows[] = {
      {[](TokenCall& c) { c.x.null = true; }, 161001, "parameter x1"},
      {[](TokenCall& c) { c.bias.null = true; }, 161001, "biasOptional"},
      {[](TokenCall& c) { c.out.null = true; }, 161001, "parameter out"},
      {[](TokenCall& c) { c.logit.null = true; }, 161001, "logit", false, 1},
      {[](TokenCall& c) { c.list_type = 2; }, 161002, "groupListType"},
      {[](TokenCall& c) { c.weight.dtype = ACL_INT8; }, 161002, "x2"},
      {[](TokenCall& c) { c.weight.format = ACL_FORMAT_ND; }, 161002, "FRACTAL_NZ", false, 1},
      {[](TokenCall& c) { c.x.dtype = ACL_UINT8; }, 161002, "x1"},
      {[](TokenCall& c) { c.scale.dtype = ACL_DOUBLE; }, 161002, "scaleOptional"},
      {[](TokenCall& c) { c.index.dtype = ACL_DOUBLE; }, 161002, "rowIndexOptional"},
      {[](TokenCall& c) {
         c.weight.shape = {4, 191, 128};
       },
       161002, "x2"},
      {[](TokenCall& c) {
         c.out.shape = {7, 127};
       },
       161002, "out"},
      {[](TokenCall& c) {
         SetWordsApart(c.weight, {4, 192, 16});
       },
       161002, "x2"},
      {[](TokenCall& c) {
         c.offset = Untouched({4, 128}, ACL_FLOAT);
       },
       161002, "offsetOptional"},
      {[](TokenCall& c) {
         c.offset = Untouched({4, 1, 128}, ACL_FLOAT16);
       },
       161002, "offsetOptional"},
      {[](TokenCall& c) {
         c.offset = Untouched({4, 1, 288}, ACL_FLOAT);
       },
       161001, "offsetOptional", false, 4},
      {[](TokenCall& c) { c.first = 3; }, 161002, "sharedInputOptional"},
      {[](TokenCall& c) { c.first = -1; }, 161002, "sharedInputOffset"},
      {[](TokenCall& c) {
         c.groups = Integers({1, 2});
       },
       161002, "groupListOptional"},
  };
  for (const Row& row : rows) {
    TokenCall call = MakeToken(row.has_halves, row.version);
    row.change(call);
    const Answer refused = call.Run(environment.stream());
    EXPECT_EQ(refused.plan, row.code) << refused.message;
    EXPECT_NE(refused.message.find(row.says), std::string::npos) << refused.message;
  }
}

// ---- rows that are quantised first ----

struct DequantCall {
  Held x, weight, weight_scale, groups, bias, x_scale, smooth, out;
  const char* mode = "pertoken";
  bool transposes = true;
  bool is_nz = false;
  Answer Run(aclrtStream stream) {
    const Tensors t({&x, &weight, &weight_scale, &groups, &bias, &x_scale, &smooth, &out});
    std::string text = mode == nullptr ? "" : mode;
    char* const given = mode == nullptr ? nullptr : text.data();
    return RunBoth(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return is_nz ? aclnnQuantGroupedMatmulDequantWeightNZGetWorkspaceSize(
                             t[0], t[1], t[2], t[3], t[4], t[5], nullptr, t[6], given, transposes, t[7], size,
                             executor)
                       : aclnnQuantGroupedMatmulDequantGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5],
                                                                        nullptr, t[6], given, transposes,
                                                                        t[7], size, executor);
        },
        is_nz ? aclnnQuantGroupedMatmulDequantWeightNZ : aclnnQuantGroupedMatmulDequant, stream);
  }
};
// way 0: steps of rows; 1: given ones; 2: one for all; 3: one for all in words of scales; 4: smoothed.
DequantCall MakeDequant(int way) {
  RandomNumbers random(23);
  const int64_t m = 21, k = 48, n = 32, groups = 3;
  DequantCall call;
  call.x = Drawn({m, k}, ACL_FLOAT16, random, -2, 2);
  call.weight = Drawn({groups, n, k}, ACL_INT8, random, -127, 127);
  call.weight_scale = way == 3 ? Drawn({groups, n}, ACL_INT64, random, 0.0001, 0.001, true)
                               : Drawn({groups, n}, ACL_FLOAT, random, 0.001, 0.01);
  call.groups = Integers({5, 3, 20});
  call.bias.null = true;
  call.x_scale =
      Drawn(way == 1 ? Shape{m} : Shape{1}, way == 3 ? ACL_FLOAT16 : ACL_FLOAT, random, 0.01, 0.02);
  call.x_scale.null = way == 0 || way == 4;
  if (way == 2 || way == 3) call.mode = "pertensor";
  call.smooth = Drawn({k}, ACL_FLOAT16, random, 0.5, 2);
  call.smooth.null = way != 4;
  call.out = Untouched({m, n}, ACL_FLOAT16);
  call.is_nz = way % 2 == 1;
  return call;
}
void ExpectDequant(const DequantCall& call) {
  const int64_t m = call.x.shape[0], k = call.x.shape[1], n = call.weight.shape[1];
  const auto groups = GroupOfRows(SizesOf(call.groups, true, m), m);
  for (int64_t row = 0; row < m; ++row) {
    const int64_t g = groups[static_cast<size_t>(row)];
    float step = 0;
    std::vector<float> x;
    for (int64_t i = 0; i < k; ++i) {
      x.push_back(static_cast<float>(call.x(row, i)) *
                  (call.smooth.null ? 1.0f : static_cast<float>(call.smooth.Get(i))));
      step = std::max(step, std::abs(x.back()));
    }
    step /= 127.0f;
    if (!call.x_scale.null) step = static_cast<float>(call.x_scale.Get(call.x_scale.shape[0] == 1 ? 0 : row));
    for (int64_t j = 0; j < n; ++j) {
      if (g < 0) {
        ASSERT_TRUE(call.out.IsUntouched(row * n + j));
        continue;
      }
      int64_t sum = 0;
      for (int64_t i = 0; i < k; ++i) {
        const float q = step == 0 ? 0 : std::clamp(x[static_cast<size_t>(i)] / step, -128.0f, 127.0f);
        sum += static_cast<int64_t>(std::nearbyint(q)) * static_cast<int64_t>(call.weight(g, j, i));
      }
      float want = static_cast<float>(sum) * static_cast<float>(call.weight_scale(g, j));
      if (!call.weight_scale.is_word) want *= step;
      unsigned char bytes[2];
      EncodeElement(ACL_FLOAT16, static_cast<double>(want), bytes);
      ASSERT_EQ(call.out(row, j), DecodeReal(ACL_FLOAT16, bytes)) << "row " << row << ", column " << j;
    }
  }
}

TEST(GroupedDequant, EveryElement) {
  for (int way = 0; way < 5; ++way) {
    OnEverySetting(
        [&](aclrtStream stream) {
          DequantCall call = MakeDequant(way);
          for (int64_t i = 0; i < call.x.shape[1]; ++i) call.x.Set(2 * call.x.shape[1] + i, 0);
          const Answer answer = call.Run(stream);
          EXPECT_TRUE(answer.Succeeded()) << answer.message;
          ExpectDequant(call);
          return call.out.bytes;
        },
        "Ascend310P3");
    if (HasFailure()) return;
  }
}

TEST(GroupedDequant, Codes) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", "Ascend310P3"}});
  DequantCall beyond = MakeDequant(0);
  beyond.groups = Integers({5, 30, 20});
  const Answer failed = beyond.Run(environment.stream());
  EXPECT_EQ(failed.synchronize, ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_NE(failed.message.find("groupList has the value 30 at element 1"), std::string::npos)
      << failed.message;
  ExpectDequant(beyond);
  struct Row {
    std::function<void(DequantCall&)> change;
    aclnnStatus code;
    const char* says;
    int way = 0;
  };
  const Row rows[] = {
      {[](DequantCall& c) {
         c.transposes = false;
         c.x.null = true;
       },
       161002, "transposeWeight"},
      {[](DequantCall& c) { c.x.null = true; }, 161001, "parameter x "},
      {[](DequantCall& c) { c.bias = Integers({1}); }, 161001, "biasOptional"},
      {[](DequantCall& c) { c.out.dtype = ACL_BF16; }, 161002, "out"},
      {[](DequantCall& c) { c.x.dtype = c.out.dtype = ACL_BF16; }, 161002, "parameter x"},
      {[](DequantCall& c) { c.weight.dtype = ACL_UINT8; }, 161002, "weight"},
      {[](DequantCall& c) { c.mode = "perrow"; }, 161002, "xQuantMode"},
      {[](DequantCall& c) { c.mode = "pertensor"; }, 161002, "xQuantMode"},
      {[](DequantCall& c) { c.weight_scale = MakeDequant(3).weight_scale; }, 161002, "weightScale"},
      {[](DequantCall& c) {
         c.weight.shape = {3, 24, 48};
       },
       161002, "weight"},
      {[](DequantCall& c) {
         c.groups = Integers({1, 2});
       },
       561002, "groupList"},
  };
  for (const Row& row : rows) {
    DequantCall call = MakeDequant(row.way);
    row.change(call);
    const Answer answer = call.Run(environment.stream());
    EXPECT_EQ(answer.plan, row.code) << answer.message;
    EXPECT_NE(answer.message.find(row.says), std::string::npos) << answer.message;
  }
  const ScopedEnvironment none(Variables{{"PORTACL_SOC", "Ascend910B1"}});
  DequantCall call = MakeDequant(0);
  EXPECT_EQ(call.Run(none.stream()).plan, 161002);
}

// ---- lists whose numbers have sums beyond the integers ----

constexpr int64_t kHuge = int64_t{1} << 62;

void ExpectBeyond(const Answer& answer, int64_t at) {
  EXPECT_EQ(answer.plan, 0) << answer.message;
  EXPECT_EQ(answer.synchronize, ACL_ERROR_RT_AICORE_EXCEPTION);
  const std::string words = " has the value " + std::to_string(kHuge) + " at element " + std::to_string(at);
  EXPECT_NE(answer.message.find(words), std::string::npos) << answer.message;
}

TEST(GroupedFused, ListsOfHugeNumbers) {
  struct List {
    std::vector<int64_t> values;
    int64_t at;  // where the rows end
  };
  const List lists[] = {{{kHuge, kHuge, kHuge}, 0},
                        {{-kHuge - kHuge, kHuge, kHuge}, 1},
                        {{2, kHuge, -kHuge - kHuge}, 1},
                        {{2, kHuge, kHuge + 1}, 1}};
  for (const List& list : lists) {
    for (const bool are_counts : {false, true}) {
      const ScopedEnvironment environment(Variables{});
      AddCall add = MakeAdd(ACL_BF16, {3, 3, 8}, 8, 4, 3, false);
      add.is_v2 = true;
      add.list_type = are_counts ? 1 : 0;
      add.groups = Integers(list.values);
      const Held before = add.y;
      ExpectBeyond(add.Run(environment.stream()), list.at);
      ExpectAdded(add, before);
      GateCall gate = MakeGate(false, 1, list.values, 5, 8, 6);
      gate.version = are_counts ? 2 : 0;
      if (!are_counts) gate.weight.format = ACL_FORMAT_FRACTAL_NZ;
      gate.list_type = are_counts ? 1 : 0;
      ExpectBeyond(gate.Run(environment.stream()), list.at);
      ExpectGated(gate);
      TokenCall token = MakeToken(true, 2);
      token.list_type = are_counts ? 1 : 0;
      std::vector<int64_t> four = list.values;
      four.push_back(0);
      token.groups = Integers(four);
      ExpectBeyond(token.Run(environment.stream()), list.at);
      ExpectTokens(token);
      if (HasFailure()) return;
    }
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", "Ascend310P3"}});
    DequantCall dequant = MakeDequant(0);
    dequant.groups = Integers(list.values);
    ExpectBeyond(dequant.Run(environment.stream()), list.at);
    ExpectDequant(dequant);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace portacl::testing
