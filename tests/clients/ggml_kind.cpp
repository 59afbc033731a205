// A client of the kind of ggml's CANN back end, written for these tests: tensors in one block of memory, seen through strides and offsets,
// two-phase calls whose handles and workspaces end as soon as phase 2 has returned, a stream and events, and everything
// compared with plain loops in double.
//
// usage: ggml_kind [CASE...]; without one, all. A line a case: name, the largest difference as a part of the largest number, seconds, ok or not.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_arange.h"
#include "aclnnop/aclnn_batch_matmul.h"
#include "aclnnop/aclnn_cast.h"
#include "aclnnop/aclnn_copy.h"
#include "aclnnop/aclnn_cos.h"
#include "aclnnop/aclnn_fill_scalar.h"
#include "aclnnop/aclnn_fused_infer_attention_score_v2.h"
#include "aclnnop/aclnn_gather_v2.h"
#include "aclnnop/aclnn_index_copy.h"
#include "aclnnop/aclnn_matmul.h"
#include "aclnnop/aclnn_mm.h"
#include "aclnnop/aclnn_mul.h"
#include "aclnnop/aclnn_pow.h"
#include "aclnnop/aclnn_repeat.h"
#include "aclnnop/aclnn_repeat_interleave.h"
#include "aclnnop/aclnn_rms_norm.h"
#include "aclnnop/aclnn_rotary_position_embedding.h"
#include "aclnnop/aclnn_silu.h"
#include "aclnnop/aclnn_sin.h"
#include "aclnnop/aclnn_softmax.h"
#include "aclnnop/aclnn_weight_quant_batch_matmul_v2.h"

namespace {

void Check(int code, const char* call, int line) {
  if (code == ACL_SUCCESS) return;
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "line %d: %s returned %d: %s\n", line, call, code,
               message != nullptr ? message : "no message");
  std::exit(1);
}
#define CHECK(call) Check((call), #call, __LINE__)

using Half = uint16_t;

// To the nearest, halves to even; of the normal numbers and zero that these tests hold.
Half ToHalf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const int exponent = static_cast<int>((bits >> 23) & 0xFF) - 127 + 15;
  if (exponent <= 0) return static_cast<Half>(sign);
  const uint32_t mantissa = bits & 0x7FFFFFu;
  const uint32_t whole = (static_cast<uint32_t>(exponent) << 10) | (mantissa >> 13);
  const uint32_t rest = mantissa & 0x1FFFu;
  return static_cast<Half>(sign | (whole + (rest > 0x1000u || (rest == 0x1000u && (whole & 1u)) ? 1u : 0u)));
}

float FromHalf(Half half) {
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1Fu;
  const uint32_t mantissa = half & 0x3FFu;
  if (exponent == 0) return (sign ? -1.0f : 1.0f) * std::ldexp(static_cast<float>(mantissa), -24);
  const uint32_t bits = sign | ((exponent + 112) << 23) | (mantissa << 13);
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  float Next() {  // from -1 to 1
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<float>(static_cast<int32_t>(state_ >> 32)) / 2147483648.0f;
  }
  std::vector<float> Numbers(size_t count) {
    std::vector<float> numbers(count);
    for (float& number : numbers) number = Next();
    return numbers;
  }

 private:
  uint64_t state_;
};

// Memory that grows page by page behind one reserved range, given out and taken back as a stack.
class Pool {
 public:
  static constexpr size_t kRange = size_t{1} << 30;
  static constexpr size_t kAlignment = 128;

  explicit Pool(int device) {
    aclrtPhysicalMemProp prop = {};
    prop.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    prop.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    prop.memAttr = ACL_HBM_MEM_HUGE;
    prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = static_cast<uint32_t>(device);
    prop_ = prop;
    CHECK(aclrtMemGetAllocationGranularity(&prop_, ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED, &granularity_));
    CHECK(aclrtReserveMemAddress(&start_, kRange, 0, nullptr, 1));
  }
  ~Pool() {
    for (auto& part : parts_) {
      CHECK(aclrtUnmapMem(part.first));
      CHECK(aclrtFreePhysical(part.second));
    }
    CHECK(aclrtReleaseMemAddress(start_));
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  void* Take(size_t bytes) {
    const size_t size = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (used_ + size > mapped_) {
      const size_t more = (used_ + size - mapped_ + granularity_ - 1) / granularity_ * granularity_;
      aclrtDrvMemHandle handle = nullptr;
      CHECK(aclrtMallocPhysical(&handle, more, &prop_, 0));
      void* const at = static_cast<char*>(start_) + mapped_;
      CHECK(aclrtMapMem(at, more, 0, handle, 0));
      parts_.emplace_back(at, handle);
      mapped_ += more;
    }
    void* const taken = static_cast<char*>(start_) + used_;
    used_ += size;
    sizes_.push_back(size);
    return taken;
  }
  void GiveBack() {
    used_ -= sizes_.back();
    sizes_.pop_back();
  }

 private:
  aclrtPhysicalMemProp prop_;
  size_t granularity_ = 0, used_ = 0, mapped_ = 0;
  void* start_ = nullptr;
  std::vector<std::pair<void*, aclrtDrvMemHandle>> parts_;
  std::vector<size_t> sizes_;
};

// What the back end keeps: a device, a stream, the pool.
struct Backend {
  aclrtStream stream = nullptr;
  Pool* pool = nullptr;
};
Backend backend;

// Memory of the pool for as long as the scope lives: work that is queued still uses it afterwards, in the stream's order.
class Scratch {
 public:
  explicit Scratch(size_t bytes) : address_(backend.pool->Take(bytes)) {}
  ~Scratch() { backend.pool->GiveBack(); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void* address() const { return address_; }

 private:
  void* address_;
};

// ggml's tensor: lengths and distances in bytes, the fastest axis first.
struct Tensor {
  aclDataType type;
  std::array<int64_t, 4> ne;
  std::array<size_t, 4> nb;
  void* data;
  size_t offset = 0;  // bytes
};

size_t SizeOf(aclDataType type) {
  switch (type) {
    case ACL_FLOAT:
      return 4;
    case ACL_FLOAT16:
      return 2;
    case ACL_INT32:
      return 4;
    case ACL_INT64:
      return 8;
    default:
      return 1;
  }
}

Tensor Dense(aclDataType type, std::array<int64_t, 4> ne, void* data) {
  Tensor tensor = {type, ne, {}, data};
  tensor.nb[0] = SizeOf(type);
  for (size_t i = 1; i < 4; ++i) tensor.nb[i] = tensor.nb[i - 1] * static_cast<size_t>(ne[i - 1]);
  return tensor;
}

// An aclTensor for one call. Its storage has the length that the strides reach, in one axis, the offset not counted, as ggml says it.
class Seen {
 public:
  Seen(const Tensor& tensor, int axes) {
    std::vector<int64_t> shape, strides;
    int64_t reach = 1;
    for (int i = axes; i-- > 0;) {
      shape.push_back(tensor.ne[i]);
      strides.push_back(static_cast<int64_t>(tensor.nb[i] / SizeOf(tensor.type)));
      reach += (shape.back() - 1) * strides.back();
    }
    handle_ = aclCreateTensor(shape.data(), shape.size(), tensor.type, strides.data(),
                              static_cast<int64_t>(tensor.offset / SizeOf(tensor.type)), ACL_FORMAT_ND,
                              &reach, 1, tensor.data);
    if (handle_ == nullptr) CHECK(ACL_ERROR_FAILURE);
  }
  ~Seen() { CHECK(aclDestroyTensor(handle_)); }
  Seen(const Seen&) = delete;
  Seen& operator=(const Seen&) = delete;
  operator aclTensor*() const {
    return handle_;
  }  // NOLINT(google-explicit-constructor): stands for the handle

 private:
  aclTensor* handle_;
};

class Number {
 public:
  explicit Number(float value) : value_(value), handle_(aclCreateScalar(&value_, ACL_FLOAT)) {}
  ~Number() { CHECK(aclDestroyScalar(handle_)); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  operator aclScalar*() const {
    return handle_;
  }  // NOLINT(google-explicit-constructor): stands for the handle

 private:
  float value_;
  aclScalar* handle_;
};

// Both phases. The workspace is given back to the pool before the work is done.
#define CALL(operator_name, ...)                                                                             \
  do {                                                                                                       \
    uint64_t workspace_size = 0;                                                                             \
    aclOpExecutor* executor = nullptr;                                                                       \
    CHECK(aclnn##operator_name##GetWorkspaceSize(__VA_ARGS__, &workspace_size, &executor));                  \
    const Scratch workspace(workspace_size + 1);                                                             \
    CHECK(aclnn##operator_name(workspace_size > 0 ? workspace.address() : nullptr, workspace_size, executor, \
                               backend.stream));                                                             \
  } while (0)

// Host memory that may be copied from without waiting.
class Pinned {
 public:
  explicit Pinned(size_t bytes) { CHECK(aclrtMallocHost(&address_, bytes)); }
  ~Pinned() { CHECK(aclrtFreeHost(address_)); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  void* address() const { return address_; }

 private:
  void* address_ = nullptr;
};

void Upload(void* device, const void* host, size_t bytes) {
  CHECK(aclrtMemcpy(device, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
}

std::vector<float> Download(const void* device, size_t count) {
  const Pinned host(count * sizeof(float));
  CHECK(aclrtMemcpyAsync(host.address(), count * sizeof(float), device, count * sizeof(float),
                         ACL_MEMCPY_DEVICE_TO_HOST, backend.stream));
  CHECK(aclrtSynchronizeStream(backend.stream));
  const float* const numbers = static_cast<const float*>(host.address());
  return {numbers, numbers + count};
}

std::vector<Half> Halves(const std::vector<float>& numbers) {
  std::vector<Half> halves(numbers.size());
  std::transform(numbers.begin(), numbers.end(), halves.begin(), ToHalf);
  return halves;
}

double Distance(const std::vector<float>& got, const std::vector<double>& right) {
  double largest = 0, far = got.size() == right.size() ? 0 : INFINITY;
  for (size_t i = 0; i < std::min(got.size(), right.size()); ++i) {
    const double difference = std::fabs(got[i] - right[i]);
    far = difference <= far ? far : difference;  // keeps a NaN
    largest = std::max(largest, std::fabs(right[i]));
  }
  return far / (largest > 0 ? largest : 1);
}

constexpr double kSingle = 2e-6;  // of the largest number: sums of some hundred products in float32
constexpr double kHalf = 1e-3;    // one rounding to 16 bits, and a half of one more

// The largest difference as a part of the largest number, and what is allowed.
struct Judged {
  double far, allowed;
};

// ---- the cases --------------------------------------------------------------------------------

// Rows of a table of halves by their numbers, to float32, out of a view that begins behind other numbers.
Judged GetRows() {
  constexpr int64_t kWidth = 48, kRows = 20, kWanted = 7, kBefore = 96;
  Random random(1);
  const std::vector<Half> table = Halves(random.Numbers(kBefore + kWidth * kRows));
  const std::vector<int32_t> wanted = {3, 19, 0, 3, 7, 11, 18};
  const Scratch on_device(table.size() * 2), indices(kWanted * 4), rows(kWanted * kWidth * 2),
      out(kWanted * kWidth * 4);
  Upload(on_device.address(), table.data(), table.size() * 2);
  Upload(indices.address(), wanted.data(), kWanted * 4);
  Tensor source = Dense(ACL_FLOAT16, {kWidth, kRows, 1, 1}, on_device.address());
  source.offset = kBefore * 2;
  {
    const Seen from(source, 2), which(Dense(ACL_INT32, {kWanted, 1, 1, 1}, indices.address()), 1);
    const Seen half(Dense(ACL_FLOAT16, {kWidth, kWanted, 1, 1}, rows.address()), 2),
        single(Dense(ACL_FLOAT, {kWidth, kWanted, 1, 1}, out.address()), 2);
    CALL(GatherV2, from, 0, which, half);
    CALL(Cast, half, ACL_FLOAT, single);
  }
  std::vector<double> right;
  for (int32_t row : wanted) {
    for (int64_t i = 0; i < kWidth; ++i) right.push_back(FromHalf(table[kBefore + row * kWidth + i]));
  }
  return {Distance(Download(out.address(), kWanted * kWidth), right), kSingle};
}

// Rows into a cache, by their numbers, and a copy out of it with its axes swapped.
Judged SetRows() {
  constexpr int64_t kWidth = 32, kRows = 16, kNew = 3;
  Random random(2);
  const std::vector<float> cache = random.Numbers(kWidth * kRows), fresh = random.Numbers(kWidth * kNew);
  const std::vector<int64_t> places = {4, 15, 1};
  const Scratch held(cache.size() * 4), added(fresh.size() * 4), where(kNew * 8), out(cache.size() * 4);
  Upload(held.address(), cache.data(), cache.size() * 4);
  Upload(added.address(), fresh.data(), fresh.size() * 4);
  Upload(where.address(), places.data(), kNew * 8);
  {
    const Tensor rows = Dense(ACL_FLOAT, {kWidth, kRows, 1, 1}, held.address());
    Tensor swapped = rows;
    std::swap(swapped.ne[0], swapped.ne[1]);
    std::swap(swapped.nb[0], swapped.nb[1]);
    const Seen into(rows, 2), which(Dense(ACL_INT64, {kNew, 1, 1, 1}, where.address()), 1);
    const Seen source(Dense(ACL_FLOAT, {kWidth, kNew, 1, 1}, added.address()), 2);
    const Seen view(swapped, 2), target(Dense(ACL_FLOAT, {kRows, kWidth, 1, 1}, out.address()), 2);
    CALL(InplaceIndexCopy, into, 0, which, source);
    CALL(InplaceCopy, target, view);
  }
  std::vector<double> rows(cache.begin(), cache.end()), right;
  for (int64_t i = 0; i < kNew; ++i)
    std::copy_n(fresh.begin() + i * kWidth, kWidth, rows.begin() + places[i] * kWidth);
  for (int64_t column = 0; column < kWidth; ++column) {
    for (int64_t row = 0; row < kRows; ++row) right.push_back(rows[row * kWidth + column]);
  }
  return {Distance(Download(out.address(), cache.size()), right), kSingle};
}

// The norm with ones for weights, then times the weights of all rows, of every second row of a larger tensor.
Judged RmsNorm() {
  constexpr int64_t kWidth = 96, kRows = 10;
  Random random(3);
  const std::vector<float> x = random.Numbers(kWidth * kRows * 2), weight = random.Numbers(kWidth);
  const Scratch in(x.size() * 4), weights(kWidth * 4), ones(kWidth * 4), scales(kRows * 4),
      out(kWidth * kRows * 4);
  Upload(in.address(), x.data(), x.size() * 4);
  Upload(weights.address(), weight.data(), kWidth * 4);
  {
    Tensor source = Dense(ACL_FLOAT, {kWidth, kRows, 1, 1}, in.address());
    for (size_t i = 1; i < 4; ++i) source.nb[i] *= 2;
    const Seen from(source, 4), one(Dense(ACL_FLOAT, {kWidth, 1, 1, 1}, ones.address()), 1);
    const Seen scale(Dense(ACL_FLOAT, {1, kRows, 1, 1}, scales.address()), 4),
        to(Dense(ACL_FLOAT, {kWidth, kRows, 1, 1}, out.address()), 4);
    const Seen times(Dense(ACL_FLOAT, {kWidth, 1, 1, 1}, weights.address()), 4);
    CALL(InplaceFillScalar, one, Number(1.0f));
    CALL(RmsNorm, from, one, 1e-5, to, scale);
    CALL(InplaceMul, to, times);
  }
  std::vector<double> right;
  for (int64_t row = 0; row < kRows; ++row) {
    const float* const line = x.data() + row * 2 * kWidth;
    double squares = 0;
    for (int64_t i = 0; i < kWidth; ++i) squares += static_cast<double>(line[i]) * line[i];
    for (int64_t i = 0; i < kWidth; ++i)
      right.push_back(line[i] / std::sqrt(squares / kWidth + 1e-5f) * weight[i]);
  }
  return {Distance(Download(out.address(), kWidth * kRows), right), kSingle};
}

// Scores times a factor, plus a mask that all heads share, then softmax in place.
Judged SoftMax() {
  constexpr int64_t kKeys = 24, kQueries = 9, kHeads = 3;
  constexpr float kScale = 0.3f;
  Random random(4);
  std::vector<float> x = random.Numbers(kKeys * kQueries * kHeads), mask(kKeys * kQueries, 0.0f);
  for (int64_t query = 0; query < kQueries; ++query) {
    for (int64_t key = 0; key < kKeys; ++key)
      mask[query * kKeys + key] = key <= query + 15 ? random.Next() : -INFINITY;
  }
  const Scratch in(x.size() * 4), masks(mask.size() * 4), scaled(x.size() * 4);
  Upload(in.address(), x.data(), x.size() * 4);
  Upload(masks.address(), mask.data(), mask.size() * 4);
  {
    const Seen from(Dense(ACL_FLOAT, {kKeys, kQueries, kHeads, 1}, in.address()), 4),
        to(Dense(ACL_FLOAT, {kKeys, kQueries, kHeads, 1}, scaled.address()), 4);
    Tensor shared = Dense(ACL_FLOAT, {kKeys, kQueries, kHeads, 1}, masks.address());
    shared.nb[2] = shared.nb[3] = 0;
    const Seen added(shared, 4);
    CALL(Muls, from, Number(kScale), to);
    CALL(InplaceAdd, to, added, Number(1.0f));
    CALL(Softmax, to, 3, to);
  }
  std::vector<double> right;
  for (int64_t row = 0; row < kQueries * kHeads; ++row) {
    std::vector<double> powers;
    double sum = 0;
    for (int64_t key = 0; key < kKeys; ++key) {
      powers.push_back(
          std::exp(static_cast<double>(x[row * kKeys + key]) * kScale + mask[row % kQueries * kKeys + key]));
      sum += powers.back();
    }
    for (double power : powers) right.push_back(power / sum);
  }
  return {Distance(Download(scaled.address(), x.size()), right), kSingle};
}

// Angles from positions and powers of a base, their sines and cosines repeated, and the rotation of halves or of neighbours.
Judged Rope(bool neighbours) {
  constexpr int64_t kWidth = 16, kHeads = 3, kTokens = 5, kHalf_ = kWidth / 2;
  const float base = std::pow(10000.0f, -2.0f / kWidth);
  Random random(5);
  const std::vector<float> x = random.Numbers(kWidth * kHeads * kTokens);
  const std::vector<int32_t> positions = {0, 1, 7, 8, 30};
  const Scratch in(x.size() * 4), where(kTokens * 4), places(kTokens * 4), powers(kHalf_ * 4),
      angles(kHalf_ * kTokens * 4);
  const Scratch sines(kHalf_ * kTokens * 4), cosines(kHalf_ * kTokens * 4), sin(kWidth * kTokens * 4),
      cos(kWidth * kTokens * 4), out(x.size() * 4);
  Upload(in.address(), x.data(), x.size() * 4);
  Upload(where.address(), positions.data(), kTokens * 4);
  {
    const Seen power(Dense(ACL_FLOAT, {kHalf_, 1, 1, 1}, powers.address()), 4),
        whole(Dense(ACL_INT32, {1, 1, kTokens, 1}, where.address()), 4);
    const Seen place(Dense(ACL_FLOAT, {1, 1, kTokens, 1}, places.address()), 4),
        angle(Dense(ACL_FLOAT, {kHalf_, 1, kTokens, 1}, angles.address()), 4);
    CALL(Arange, Number(0.0f), Number(static_cast<float>(kHalf_)), Number(1.0f), power);
    CALL(PowScalarTensor, Number(base), power, power);
    CALL(Cast, whole, ACL_FLOAT, place);
    CALL(Mul, power, place, angle);
    for (const bool is_sine : {true, false}) {
      const Seen half(Dense(ACL_FLOAT, {kHalf_, 1, kTokens, 1}, (is_sine ? sines : cosines).address()), 4);
      const Seen full(Dense(ACL_FLOAT, {kWidth, 1, kTokens, 1}, (is_sine ? sin : cos).address()), 4);
      if (is_sine) {
        CALL(Sin, angle, half);
      } else {
        CALL(Cos, angle, half);
      }
      if (neighbours) {
        CALL(RepeatInterleaveIntWithDim, half, 2, 3, kWidth, full);
      } else {
        const int64_t times[] = {1, 1, 1, 2};
        aclIntArray* const repeats = aclCreateIntArray(times, 4);
        CALL(Repeat, half, repeats, full);
        CHECK(aclDestroyIntArray(repeats));
      }
    }
    const Seen from(Dense(ACL_FLOAT, {kWidth, kHeads, kTokens, 1}, in.address()), 4),
        to(Dense(ACL_FLOAT, {kWidth, kHeads, kTokens, 1}, out.address()), 4);
    const Seen with_cos(Dense(ACL_FLOAT, {kWidth, 1, kTokens, 1}, cos.address()), 4),
        with_sin(Dense(ACL_FLOAT, {kWidth, 1, kTokens, 1}, sin.address()), 4);
    CALL(RotaryPositionEmbedding, from, with_cos, with_sin, neighbours ? 1 : 0, to);
  }
  std::vector<double> right(x.size());
  for (int64_t row = 0; row < kHeads * kTokens; ++row) {
    for (int64_t i = 0; i < kHalf_; ++i) {
      const double angle = std::pow(static_cast<double>(base), i) * positions[row / kHeads];
      const int64_t first = row * kWidth + (neighbours ? 2 * i : i),
                    second = first + (neighbours ? 1 : kHalf_);
      right[first] = x[first] * std::cos(angle) - x[second] * std::sin(angle);
      right[second] = x[first] * std::sin(angle) + x[second] * std::cos(angle);
    }
  }
  return {Distance(Download(out.address(), x.size()), right), 4 * kSingle};  // the angles are rounded, too
}

// Weights of halves, seen transposed, times activations; heads of the weights serve several heads of the activations.
Judged MulMat() {
  constexpr int64_t kInner = 64, kOut = 40, kColumns = 6, kHeads = 4, kWeightHeads = 2;
  Random random(6);
  const std::vector<Half> weights = Halves(random.Numbers(kInner * kOut * kWeightHeads));
  const std::vector<float> x = random.Numbers(kInner * kColumns * kHeads);
  const Scratch w(weights.size() * 2), in(x.size() * 4), out(kOut * kColumns * kHeads * 4);
  Upload(w.address(), weights.data(), weights.size() * 2);
  Upload(in.address(), x.data(), x.size() * 4);
  for (int64_t head = 0; head < kHeads; ++head) {
    Tensor transposed = Dense(ACL_FLOAT16, {kInner, kOut, 1, 1}, w.address());
    transposed.data =
        static_cast<char*>(transposed.data) + head / (kHeads / kWeightHeads) * kInner * kOut * 2;
    std::swap(transposed.ne[0], transposed.ne[1]);
    std::swap(transposed.nb[0], transposed.nb[1]);
    Tensor source = Dense(ACL_FLOAT, {kInner, kColumns, 1, 1},
                          static_cast<char*>(in.address()) + head * kInner * kColumns * 4);
    const Seen from(source, 2), weight(transposed, 2);
    const Seen to(Dense(ACL_FLOAT, {kOut, kColumns, 1, 1},
                        static_cast<char*>(out.address()) + head * kOut * kColumns * 4),
                  2);
    if (head % 2 == 0) {
      CALL(Mm, from, weight, to, 2);
    } else {
      CALL(Matmul, from, weight, to, 1);
    }
  }
  std::vector<double> right;
  for (int64_t head = 0; head < kHeads; ++head) {
    for (int64_t column = 0; column < kColumns; ++column) {
      for (int64_t row = 0; row < kOut; ++row) {
        double sum = 0;
        for (int64_t i = 0; i < kInner; ++i) {
          sum += static_cast<double>(FromHalf(weights[(head / 2 * kOut + row) * kInner + i])) *
                 x[(head * kColumns + column) * kInner + i];
        }
        right.push_back(sum);
      }
    }
  }
  return {Distance(Download(out.address(), right.size()), right), kHalf};
}

// Products in batches, of views whose rows are further apart than they are long.
Judged BatchMulMat() {
  constexpr int64_t kInner = 32, kOut = 20, kColumns = 7, kBatch = 5, kGap = 8;
  Random random(7);
  const std::vector<float> weights = random.Numbers((kInner + kGap) * kOut * kBatch),
                           x = random.Numbers(kInner * kColumns * kBatch);
  const Scratch w(weights.size() * 4), in(x.size() * 4), out(kOut * kColumns * kBatch * 4);
  Upload(w.address(), weights.data(), weights.size() * 4);
  Upload(in.address(), x.data(), x.size() * 4);
  {
    Tensor transposed = Dense(ACL_FLOAT, {kInner + kGap, kOut, kBatch, 1}, w.address());
    transposed.ne[0] = kInner;
    std::swap(transposed.ne[0], transposed.ne[1]);
    std::swap(transposed.nb[0], transposed.nb[1]);
    const Seen from(Dense(ACL_FLOAT, {kInner, kColumns, kBatch, 1}, in.address()), 3), weight(transposed, 3);
    const Seen to(Dense(ACL_FLOAT, {kOut, kColumns, kBatch, 1}, out.address()), 3);
    CALL(BatchMatMul, from, weight, to, 2);
  }
  std::vector<double> right;
  for (int64_t batch = 0; batch < kBatch; ++batch) {
    for (int64_t column = 0; column < kColumns; ++column) {
      for (int64_t row = 0; row < kOut; ++row) {
        double sum = 0;
        for (int64_t i = 0; i < kInner; ++i) {
          sum += static_cast<double>(weights[(batch * kOut + row) * (kInner + kGap) + i]) *
                 x[(batch * kColumns + column) * kInner + i];
        }
        right.push_back(sum);
      }
    }
  }
  return {Distance(Download(out.address(), right.size()), right), kHalf};
}

// Weights of 8 bits with a scale for each group of 32, of one expert out of several that lie behind each other.
Judged QuantisedExperts() {
  constexpr int64_t kInner = 96, kOut = 64, kColumns = 4, kExperts = 3, kGroup = 32,
                    kGroups = kInner / kGroup;
  Random random(8);
  std::vector<int8_t> weights(kInner * kOut * kExperts);
  for (int8_t& weight : weights) weight = static_cast<int8_t>(random.Next() * 127);
  const std::vector<Half> scales = Halves(random.Numbers(kGroups * kOut * kExperts)),
                          x = Halves(random.Numbers(kInner * kColumns));
  const Scratch w(weights.size()), s(scales.size() * 2), in(x.size() * 2), half(kOut * kColumns * 2),
      out(kOut * kColumns * kExperts * 4);
  Upload(w.address(), weights.data(), weights.size());
  Upload(s.address(), scales.data(), scales.size() * 2);
  Upload(in.address(), x.data(), x.size() * 2);
  for (int64_t expert = 0; expert < kExperts; ++expert) {
    Tensor weight = Dense(ACL_INT8, {kInner, kOut, 1, 1}, w.address()),
           scale = Dense(ACL_FLOAT16, {kGroups, kOut, 1, 1}, s.address());
    for (Tensor* one : {&weight, &scale}) {
      std::swap(one->ne[0], one->ne[1]);
      std::swap(one->nb[0], one->nb[1]);
    }
    weight.offset = static_cast<size_t>(expert * kInner * kOut);
    scale.offset = static_cast<size_t>(expert * kGroups * kOut * 2);
    const Seen from(Dense(ACL_FLOAT16, {kInner, kColumns, 1, 1}, in.address()), 2), quantised(weight, 2),
        with(scale, 2);
    const Seen product(Dense(ACL_FLOAT16, {kOut, kColumns, 1, 1}, half.address()), 2);
    const Seen to(Dense(ACL_FLOAT, {kOut, kColumns, 1, 1},
                        static_cast<char*>(out.address()) + expert * kOut * kColumns * 4),
                  2);
    CALL(WeightQuantBatchMatmulV2, from, quantised, with, nullptr, nullptr, nullptr, nullptr,
         static_cast<int>(kGroup), product);
    CALL(Cast, product, ACL_FLOAT, to);
  }
  std::vector<double> right;
  for (int64_t expert = 0; expert < kExperts; ++expert) {
    for (int64_t column = 0; column < kColumns; ++column) {
      for (int64_t row = 0; row < kOut; ++row) {
        double sum = 0;
        for (int64_t i = 0; i < kInner; ++i) {
          const int64_t line = expert * kOut + row;
          sum += weights[line * kInner + i] *
                 static_cast<double>(FromHalf(scales[line * kGroups + i / kGroup])) *
                 FromHalf(x[column * kInner + i]);
        }
        right.push_back(sum);
      }
    }
  }
  return {Distance(Download(out.address(), right.size()), right), kHalf};
}

// Fused attention of halves, heads that share keys, a mask.
Judged FlashAttention() {
  constexpr int64_t kWidth = 64, kKeys = 32, kQueries = 8, kHeads = 4, kKeyHeads = 2;
  Random random(9);
  const std::vector<Half> q = Halves(random.Numbers(kWidth * kQueries * kHeads)),
                          k = Halves(random.Numbers(kWidth * kKeys * kKeyHeads)),
                          v = Halves(random.Numbers(kWidth * kKeys * kKeyHeads));
  std::vector<int8_t> mask(kKeys * kQueries);
  for (int64_t i = 0; i < kKeys * kQueries; ++i) mask[i] = i % kKeys > i / kKeys + 20;
  const double scale = 1 / std::sqrt(static_cast<double>(kWidth));
  const Scratch queries(q.size() * 2), keys(k.size() * 2), values(v.size() * 2), hidden(mask.size()),
      half(q.size() * 2), out(q.size() * 4);
  Upload(queries.address(), q.data(), q.size() * 2);
  Upload(keys.address(), k.data(), k.size() * 2);
  Upload(values.address(), v.data(), v.size() * 2);
  Upload(hidden.address(), mask.data(), mask.size());
  {
    const Seen query(Dense(ACL_FLOAT16, {kWidth, kQueries, kHeads, 1}, queries.address()), 4);
    const Seen result(Dense(ACL_FLOAT16, {kWidth, kQueries, kHeads, 1}, half.address()), 4),
        to(Dense(ACL_FLOAT, {kWidth, kQueries, kHeads, 1}, out.address()), 4);
    const Tensor masks = Dense(ACL_INT8, {kKeys, kQueries, 1, 1}, hidden.address());
    const Seen masked(masks, 4);
    int64_t shape[] = {1, kKeyHeads, kKeys, kWidth},
            strides[] = {kKeyHeads * kKeys * kWidth, kKeys * kWidth, kWidth, 1};
    aclTensor* key =
        aclCreateTensor(shape, 4, ACL_FLOAT16, strides, 0, ACL_FORMAT_ND, shape, 4, keys.address());
    aclTensor* value =
        aclCreateTensor(shape, 4, ACL_FLOAT16, strides, 0, ACL_FORMAT_ND, shape, 4, values.address());
    aclTensorList* const all_keys = aclCreateTensorList(&key, 1);
    aclTensorList* const all_values = aclCreateTensorList(&value, 1);
    char layout[] = "BNSD";
    CALL(FusedInferAttentionScoreV2, query, all_keys, all_values, nullptr, masked, nullptr, nullptr, nullptr,
         nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
         nullptr, nullptr, nullptr, nullptr, nullptr, kHeads, scale, 65535, 65535, layout, kKeyHeads, 0, 2, 0,
         0, false, 0, 0, result, nullptr);
    CALL(Cast, result, ACL_FLOAT, to);
    CHECK(aclDestroyTensorList(all_keys));
    CHECK(aclDestroyTensorList(all_values));
  }
  std::vector<double> right;
  for (int64_t row = 0; row < kHeads * kQueries; ++row) {
    const int64_t shared = row / kQueries / (kHeads / kKeyHeads) * kKeys;
    std::vector<double> powers(kKeys);
    double sum = 0;
    for (int64_t key = 0; key < kKeys; ++key) {
      double score = 0;
      for (int64_t i = 0; i < kWidth; ++i)
        score +=
            static_cast<double>(FromHalf(q[row * kWidth + i])) * FromHalf(k[(shared + key) * kWidth + i]);
      powers[key] = mask[row % kQueries * kKeys + key] ? 0 : std::exp(score * scale);
      sum += powers[key];
    }
    for (int64_t i = 0; i < kWidth; ++i) {
      double mixed = 0;
      for (int64_t key = 0; key < kKeys; ++key)
        mixed += powers[key] / sum * FromHalf(v[(shared + key) * kWidth + i]);
      right.push_back(mixed);
    }
  }
  return {Distance(Download(out.address(), right.size()), right), 2 * kHalf};
}

// Two streams: one copies from pinned memory and computes, the other waits for its event and goes on; over and over, on the same memory.
Judged StreamsAndEvents() {
  constexpr size_t kCount = 4096;
  constexpr int kRounds = 50;
  Random random(10);
  const std::vector<float> x = random.Numbers(kCount);
  const Pinned host(kCount * 4);
  std::memcpy(host.address(), x.data(), kCount * 4);
  const Scratch first(kCount * 4), second(kCount * 4), sum(kCount * 4);
  aclrtStream other = nullptr;
  aclrtEvent computed = nullptr, added = nullptr;
  CHECK(aclrtCreateStream(&other));
  CHECK(aclrtCreateEventWithFlag(&computed, ACL_EVENT_SYNC));
  CHECK(aclrtCreateEventWithFlag(&added, ACL_EVENT_SYNC));
  CHECK(aclrtMemsetAsync(sum.address(), kCount * 4, 0, kCount * 4, backend.stream));
  CHECK(aclrtSynchronizeStream(backend.stream));
  const aclrtStream main = backend.stream;
  for (int round = 0; round < kRounds; ++round) {
    if (round > 0) CHECK(aclrtStreamWaitEvent(main, added));  // before what it reads is written again
    CHECK(aclrtMemcpyAsync(first.address(), kCount * 4, host.address(), kCount * 4, ACL_MEMCPY_HOST_TO_DEVICE,
                           main));
    const Seen from(Dense(ACL_FLOAT, {static_cast<int64_t>(kCount), 1, 1, 1}, first.address()), 1);
    const Seen to(Dense(ACL_FLOAT, {static_cast<int64_t>(kCount), 1, 1, 1}, second.address()), 1);
    const Seen all(Dense(ACL_FLOAT, {static_cast<int64_t>(kCount), 1, 1, 1}, sum.address()), 1);
    CALL(Silu, from, to);
    CHECK(aclrtRecordEvent(computed, main));
    CHECK(aclrtStreamWaitEvent(other, computed));
    backend.stream = other;
    CALL(InplaceAdd, all, to, Number(1.0f));
    backend.stream = main;
    CHECK(aclrtRecordEvent(added, other));
  }
  CHECK(aclrtSynchronizeEvent(added));
  const std::vector<float> got = Download(sum.address(), kCount);
  CHECK(aclrtSynchronizeStream(other));
  CHECK(aclrtDestroyEvent(computed));
  CHECK(aclrtDestroyEvent(added));
  CHECK(aclrtDestroyStream(other));
  std::vector<double> right;
  for (float value : x) right.push_back(kRounds * (value / (1 + std::exp(-static_cast<double>(value)))));
  return {Distance(got, right), kSingle};
}

struct Case {
  const char* name;
  std::function<Judged()> run;
};

const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
      {"get_rows", GetRows},
      {"set_rows", SetRows},
      {"rms_norm", RmsNorm},
      {"soft_max", SoftMax},
      {"rope_halves", [] { return Rope(false); }},
      {"rope_neighbours", [] { return Rope(true); }},
      {"mul_mat", MulMat},
      {"batch_mul_mat", BatchMulMat},
      {"quantised_experts", QuantisedExperts},
      {"flash_attention", FlashAttention},
      {"streams_and_events", StreamsAndEvents},
  };
  return cases;
}

}  // namespace

int main(int count, char** arguments) {
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateStream(&backend.stream));
  bool all_right = true;
  {
    Pool pool(0);
    backend.pool = &pool;
    for (const Case& one : Cases()) {
      if (count > 1 &&
          std::find(arguments + 1, arguments + count, std::string(one.name)) == arguments + count)
        continue;
      const auto begun = std::chrono::steady_clock::now();
      const Judged judged = one.run();
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
      const bool is_right = judged.far <= judged.allowed;
      all_right = all_right && is_right;
      std::printf("%s %.3g %.4f %s\n", one.name, judged.far, seconds, is_right ? "ok" : "not");
      std::fflush(stdout);
    }
  }
  CHECK(aclrtDestroyStream(backend.stream));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return all_right ? 0 : 1;
}
