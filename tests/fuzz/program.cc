// Decoding and running programs: see program.h.
// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"
#include "aclnn/executor.h"
#include "aclnn/opdev/op_errno.h"
#include "byte_reader.h"
#include "elsewhere.h"
#include "operator_calls.h"
#include "shadow_memory.h"
#include "support/fp_environment.h"

namespace portacl::testing {
namespace {

// A program stays small enough for hundreds of them a second.
constexpr int kMaxActions = 80;
constexpr int64_t kMaxElements = 40000;        // of one operand, or of what the inputs broadcast to
constexpr int64_t kMaxTotalElements = 150000;  // computed by a program
constexpr size_t kSlots = 8;

// ---- Codes and messages ------------------------------------------------------------------------

// Every function returns 0 and says nothing, or returns a code and says why.
int Checked(int status, const char* function) {
  const char* const message = aclGetRecentErrMsg();
  if (status != 0 && (message == nullptr || *message == '\0'))
    Broken("a failing call leaves a message:", function);
  if (status == 0 && message != nullptr) Broken("a call that succeeds leaves no message:", message);
  return status;
}

#define CALL(function, ...) Checked(function(__VA_ARGS__), #function)

// The caller's floating-point environment, however unusual, is as it was when a call returns.
template <class Function>
void InFloatEnvironment(const FpMode* mode, const char* name, const Function& function) {
  const FpState before = FpState::Read();
  if (mode != nullptr) StateOf(*mode).Apply();
  const FpState during = FpState::Read();
  function();
  const bool kept = FpState::Read() == during;
  if (mode != nullptr) before.Apply();
  if (!kept) Broken("a call leaves the floating-point environment alone:", name);
}

// ---- Numbers -----------------------------------------------------------------------------------

constexpr int64_t kWildNumbers[] = {0,
                                    1,
                                    2,
                                    3,
                                    -1,
                                    -2,
                                    5,
                                    7,
                                    100,
                                    1000,
                                    -1000,
                                    int64_t{1} << 15,
                                    int64_t{1} << 31,
                                    int64_t{1} << 40,
                                    int64_t{1} << 61,
                                    -(int64_t{1} << 62),
                                    std::numeric_limits<int64_t>::max(),
                                    std::numeric_limits<int64_t>::min()};

int64_t WildNumber(ByteReader& bytes) {
  const int choice = bytes.Below(32);
  if (choice < static_cast<int>(std::size(kWildNumbers))) return kWildNumbers[choice];
  return choice < 30 ? static_cast<int8_t>(bytes.Byte()) : static_cast<int64_t>(bytes.Bits64());
}

constexpr int32_t kDtypes[] = {ACL_FLOAT,
                               ACL_FLOAT16,
                               ACL_BF16,
                               ACL_INT64,
                               ACL_INT32,
                               ACL_BOOL,
                               ACL_INT8,
                               ACL_UINT8,
                               ACL_INT16,
                               ACL_DOUBLE,
                               ACL_UINT16,
                               ACL_UINT32,
                               ACL_UINT64,
                               ACL_COMPLEX64,
                               ACL_COMPLEX128,
                               ACL_COMPLEX32,
                               ACL_INT4,
                               ACL_FLOAT8_E5M2,
                               ACL_STRING,
                               ACL_DT_UNDEFINED,
                               5,
                               99};

constexpr int32_t kFormats[] = {ACL_FORMAT_ND,        ACL_FORMAT_NCHW,        ACL_FORMAT_NHWC,
                                ACL_FORMAT_NCL,       ACL_FORMAT_FRACTAL_NZ,  ACL_FORMAT_NC1HWC0,
                                ACL_FORMAT_FRACTAL_Z, ACL_FRACTAL_Z_3D,       ACL_FORMAT_NDC1HWC0,
                                ACL_FORMAT_UNDEFINED, ACL_FORMAT_NC1HWC0_C04, 77};

Dims DenseStridesOf(const Dims& dims) {
  Dims strides(dims.size());
  uint64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(dims[i]);
  }
  return strides;
}

// Whether numbers derived from the shape stay far from overflowing, also where a dim is 0.
bool IsSmall(const Dims& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) {
    if (dim < 0 || dim > kMaxElements) return false;
    count *= std::max<int64_t>(dim, 1);
    if (count > kMaxElements) return false;
  }
  return true;
}

// Right-aligned; nothing where the shapes do not broadcast.
std::optional<Dims> BroadcastOf(const Dims& a, const Dims& b) {
  Dims result(std::max(a.size(), b.size()));
  for (size_t i = 0; i < result.size(); ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    result[result.size() - 1 - i] = x == 1 ? y : x;
  }
  return result;
}

// ---- What the program knows of its objects -----------------------------------------------------

struct Address {
  int buffer = -1;  // -1: a null pointer
  int64_t offset = 0;
};

struct View {
  int32_t dtype = ACL_FLOAT;
  int32_t format = ACL_FORMAT_ND;
  Dims shape;
  Dims strides;
  int64_t offset = 0;
  Dims storage;
  Address address;
  bool is_given = true;  // false: the tensor itself is a null pointer
};

struct Tensor {
  aclTensor* handle = nullptr;
  View view;
};

struct PlannedCall {
  aclOpExecutor* handle = nullptr;
  bool is_live = false;
  bool repeatable = false;
  const OperatorCall* op = nullptr;
  CallAttributes attributes;
  std::vector<View> operands;
  uint64_t workspace_size = 0;
  bool has_device = true;  // of the thread that planned it: without one no product's lists hold
};

struct Access {
  aclrtStream stream;
  int buffer;
  bool writes;
};

class Program {
 public:
  explicit Program(ByteReader bytes) : bytes_(bytes) {}

  ProgramCounts Run();

 private:
  // ---- start and end ----
  void Start();
  void Act();
  void End();
  void VerifyElsewhere();

  // ---- decisions ----
  Dims SomeShape();
  int32_t SomeDtype();
  View SomeView(const Dims& shape, bool is_output);
  void PlaceSomewhere(View& view);
  aclrtStream SomeStream();
  aclrtEvent SomeEvent();
  aclOpExecutor* SomeExecutor();
  CallAttributes SomeAttributes();

  // ---- memory and order ----
  void* Pointer(const Address& address) const;
  std::optional<Elements> ElementsOf(const View& view) const;
  bool CanRun(const PlannedCall& call) const;
  aclrtStream Resolved(aclrtStream stream) const;
  void Synchronize(aclrtStream stream);
  void SynchronizeAll();
  void Quiet(int buffer);
  void OrderBehind(aclrtStream stream, int buffer, bool writes);
  void PrepareUse(aclrtStream stream, int buffer, int32_t dtype, int64_t offset, bool writes);

  // ---- actions ----
  Tensor MakeTensor(const View& view);
  void Replace(Tensor& slot, Tensor fresh);
  void Replace(PlannedCall& slot, PlannedCall fresh);
  void PlanCall();
  void RunCall(PlannedCall& call);
  void UseTensor();
  void UseExecutor();
  void UseStream();
  void UseEvent();
  void UseHostFunction();
  void UseCallbacks();
  void MoveMemory();
  void UseDeviceMemory();
  void UseOtherObjects();
  void UseDevice();

  ByteReader bytes_;
  ShadowMemory memory_;
  std::vector<std::unique_ptr<double[]>> workspaces_;
  std::vector<std::pair<std::string, std::string>> variables_;
  const FpMode* fp_mode_ = nullptr;
  std::array<Dims, 2> base_shapes_;
  int32_t base_dtype_ = ACL_FLOAT;
  std::array<Tensor, kSlots> tensors_;
  std::array<PlannedCall, kSlots> calls_;
  std::array<aclrtStream, 4> streams_{};
  std::array<aclrtEvent, 4> events_{};
  std::array<aclrtContext, 3> contexts_{};
  std::vector<Access> running_;
  int64_t elements_left_ = kMaxTotalElements;
  std::atomic<int> host_functions_{0};
  int launched_ = 0;
  ProgramCounts counts_;
};

// ---- Start and end -----------------------------------------------------------------------------

constexpr const char* kVariables[] = {"PORTACL_SOC",           "PORTACL_ISA",
                                      "PORTACL_NUM_THREADS",   "PORTACL_DEVICE_COUNT",
                                      "PORTACL_DEVICE_MEMORY", "ASCEND_LAUNCH_BLOCKING"};

// Bad indices are passed over: a program sees by its synchronisations that nothing failed.
void ClearVariables() {
  for (const char* name : kVariables) unsetenv(name);
  setenv("PORTACL_INDEX_ERRORS", "ignore", 1);
}

void Program::Start() {
  constexpr const char* kSocs[] = {"",
                                   "Ascend910B1",
                                   "Ascend910A",
                                   "Ascend310P3",
                                   "Ascend950PR_9579",
                                   "Ascend310B1",
                                   "Ascend910_9391",
                                   "Ascend999"};
  constexpr const char* kIsas[] = {"", "portable", "avx2", "avx512", "neon", "nonsense"};
  constexpr const char* kThreads[] = {"", "1", "2", "3", "7", "0"};
  constexpr const char* kDevices[] = {"", "2", "x"};
  constexpr const char* kBlocking[] = {"", "", "1", "0"};
  const char* const values[] = {bytes_.Pick(kSocs), bytes_.Pick(kIsas), bytes_.Pick(kThreads),
                                bytes_.Pick(kDevices), bytes_.Pick(kBlocking)};
  ClearVariables();
  for (size_t i = 0; i < std::size(values); ++i) {
    if (*values[i] == '\0') continue;
    setenv(kVariables[i], values[i], 1);
    variables_.emplace_back(kVariables[i], values[i]);
  }
  if (CALL(aclInit, nullptr) != 0) {
    ClearVariables();
    variables_.clear();
    if (CALL(aclInit, nullptr) != 0) Broken("aclInit succeeds without settings");
  }
  const auto& modes = UnusualFpModes();
  const int mode = bytes_.Byte();
  if (mode % 4 == 3 && !modes.empty()) fp_mode_ = &modes[static_cast<size_t>(mode / 4) % modes.size()];

  constexpr int64_t kDims[] = {2,  3,  1,   4,   5,   7,   8,   16,   17,   0,    31,    33,
                               64, 65, 100, 255, 257, 512, 513, 1000, 2049, 4097, 16385, 33000};
  for (Dims& shape : base_shapes_) {
    int64_t count = 1;
    for (int rank = bytes_.Below(16) % 9; rank > 0; --rank) {
      const int64_t dim = bytes_.Pick(kDims);
      shape.push_back(count * dim <= kMaxElements ? dim : 1);
      count *= std::max<int64_t>(shape.back(), 1);
    }
  }
  constexpr int32_t kBaseDtypes[] = {ACL_FLOAT, ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT64};
  base_dtype_ = bytes_.Pick(kBaseDtypes);
  if (bytes_.OneIn(16)) return;  // without a device
  CALL(aclrtSetDevice, 0);
  CALL(aclrtCreateStream, streams_.data());
}

ProgramCounts Program::Run() {
  Start();
  for (int i = 0; i < kMaxActions && !bytes_.AtEnd(); ++i) Act();
  End();
  VerifyElsewhere();
  DestroyResults();
  return counts_;
}

void Program::End() {
  SynchronizeAll();
  if (host_functions_ != launched_) Broken("every host function is called once");
  for (PlannedCall& call : calls_) Replace(call, {});
  for (Tensor& tensor : tensors_) Replace(tensor, {});
  if (LiveExecutors() != 0) Broken("no executor is left when all are used or destroyed");
  for (aclrtEvent event : events_) {
    if (event != nullptr) aclrtDestroyEvent(event);
  }
  for (aclrtContext context : contexts_) {
    if (context != nullptr) aclrtDestroyContext(context);
  }
  for (int device = 0; device < 2; ++device) aclrtResetDeviceForce(device);
  aclGetRecentErrMsg();  // some of these were destroyed before
  for (aclrtStream stream : streams_) {
    if (stream != nullptr && aclrtStreamQuery(stream, nullptr) == 0)
      Broken("a status cannot be stored nowhere");
  }
  aclGetRecentErrMsg();
  if (CALL(aclFinalize) != 0) Broken("aclFinalize ends what aclInit started");
}

// On another instruction set and with another number of threads than the program's.
void Program::VerifyElsewhere() {
  bool was_portable = false;
  ClearVariables();
  for (const auto& [name, value] : variables_) {
    if (name == "PORTACL_ISA") was_portable = value == "portable";
    if (name == "PORTACL_SOC") setenv(name.c_str(), value.c_str(), 1);
  }
  if (!was_portable) setenv("PORTACL_ISA", "portable", 1);
  setenv("PORTACL_NUM_THREADS", was_portable ? "2" : "1", 1);
  if (CALL(aclInit, nullptr) != 0 || CALL(aclrtSetDevice, 0) != 0) Broken("the library starts again");
  memory_.Verify();
  if (CALL(aclrtResetDevice, 0) != 0 || CALL(aclFinalize) != 0) Broken("the library ends again");
  ClearVariables();
}

void Program::Act() {
  switch (bytes_.Below(24)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
      PlanCall();
      break;
    case 6:
    case 7:
    case 8:
      RunCall(calls_[static_cast<size_t>(bytes_.Byte()) % kSlots]);
      break;
    case 9:
    case 10:
      UseTensor();
      break;
    case 11:
    case 12:
      UseExecutor();
      break;
    case 13:
    case 14:
      UseStream();
      break;
    case 15:
    case 16:
      UseEvent();
      break;
    case 17:
      UseHostFunction();
      break;
    case 18:
      UseCallbacks();
      break;
    case 19:
    case 20:
      MoveMemory();
      break;
    case 21:
      UseDeviceMemory();
      break;
    case 22:
      UseOtherObjects();
      break;
    default:
      UseDevice();
      break;
  }
}

// ---- Decisions ---------------------------------------------------------------------------------

Dims Program::SomeShape() {
  const int choice = bytes_.Byte();
  Dims shape = base_shapes_[choice & 1];
  switch (choice >> 1 & 7) {
    case 3:
    case 5: {
      const int ones = bytes_.Byte();
      for (size_t i = 0; i < shape.size(); ++i) {
        if ((ones >> (i % 8) & 1) != 0) shape[i] = 1;
      }
      if ((choice >> 1 & 7) == 3) break;
      [[fallthrough]];
    }
    case 4:
      shape.erase(shape.begin(),
                  shape.begin() + std::min<int64_t>(bytes_.Below(4), static_cast<int64_t>(shape.size())));
      break;
    case 6:
      shape.assign(static_cast<size_t>(bytes_.Below(3)), 1);
      break;
    case 7: {
      shape.resize(static_cast<size_t>(bytes_.Below(28)));
      for (int64_t& dim : shape) dim = WildNumber(bytes_);
      break;
    }
    default:
      break;
  }
  return shape;
}

int32_t Program::SomeDtype() {
  const int choice = bytes_.Byte();
  if (choice < 128) return base_dtype_;
  if (choice < 192) return kDtypes[choice % 3];
  return kDtypes[static_cast<size_t>(choice) % std::size(kDtypes)];
}

View Program::SomeView(const Dims& shape, bool is_output) {
  View view;
  view.dtype = SomeDtype();
  view.shape = shape;
  view.strides = DenseStridesOf(shape);
  const size_t rank = shape.size();
  const int layout = bytes_.Byte();
  const int kind = layout & 7;
  const bool small = IsSmall(shape);
  if (kind == 7 || (!small && kind > 1)) {
    for (int64_t& stride : view.strides) stride = WildNumber(bytes_);
  } else if (kind >= 2) {
    std::vector<size_t> order(rank);
    std::iota(order.begin(), order.end(), size_t{0});
    if ((kind == 2 || kind == 6) && rank > 1) std::rotate(order.begin(), order.begin() + 1, order.end());
    const int mask = bytes_.Byte();
    int64_t stride = kind == 5 || kind == 6 ? 1 + mask % 3 : 1;
    for (size_t i = rank; i-- > 0;) {
      const size_t axis = order[i];
      const bool chosen = (mask >> (axis % 8) & 1) != 0;
      if (kind == 4 && chosen && (!is_output || mask >= 128)) {
        view.strides[axis] = 0;
        continue;
      }
      view.strides[axis] = (kind == 3 || kind == 6) && chosen ? -stride : stride;
      stride = stride * std::max<int64_t>(shape[axis], 1) + (kind == 5 ? mask >> 6 : 0);
    }
  }
  if (small && kind != 7) {
    for (size_t i = 0; i < rank; ++i) view.offset -= std::min<int64_t>(view.strides[i] * (shape[i] - 1), 0);
    if (CountOf(shape) == 0) view.offset = 0;
  }
  const int extras = layout >> 3;
  if ((extras & 3) == 1) view.offset += bytes_.Below(20);
  if ((extras & 3) == 2 && bytes_.OneIn(4)) view.offset = WildNumber(bytes_);
  if ((extras & 12) == 12) view.format = kFormats[bytes_.Below(static_cast<int>(std::size(kFormats)))];
  PlaceSomewhere(view);
  return view;
}

// Whether elements lie in row-major order without gaps. For views that reach no absurd element.
bool IsRowMajor(const View& view) {
  if (CountOf(view.shape) == 1) return true;
  int64_t expected = 1;
  for (size_t axis = view.shape.size(); axis-- > 0;) {
    if (view.shape[axis] == 1) continue;
    if (view.strides[axis] != expected) return false;
    expected *= view.shape[axis];
  }
  return true;
}

// The lowest and the highest element that a view reaches, counted from its address; nothing where that is absurd.
std::optional<std::pair<int64_t, int64_t>> ReachOf(const View& view) {
  constexpr int64_t kAbsurd = int64_t{1} << 40;
  const Dims strides = IsPrivate(view.format) ? DenseStridesOf(view.shape) : view.strides;
  if (CountOf(view.shape) <= 0 || view.offset > kAbsurd || view.offset < -kAbsurd) return std::nullopt;
  int64_t lowest = view.offset;
  int64_t highest = view.offset;
  for (size_t i = 0; i < view.shape.size(); ++i) {
    int64_t reach = 0;
    if (__builtin_mul_overflow(strides[i], view.shape[i] - 1, &reach) || reach > kAbsurd || reach < -kAbsurd)
      return std::nullopt;
    (reach < 0 ? lowest : highest) += reach;
  }
  return std::pair(lowest, highest);
}

// Chooses storage and address: in most cases a buffer of its own that ends behind the last element.
void Program::PlaceSomewhere(View& view) {
  const auto reach = ReachOf(view);
  const int64_t size = std::max<int64_t>(BytesOf(view.dtype), 1);
  const int64_t lowest = reach ? std::min<int64_t>(reach->first, 0) : 0;
  const int64_t highest = reach ? std::max<int64_t>(reach->second + 1, 0) : 0;
  const int choice = bytes_.Byte();
  switch (choice & 7) {
    case 5:  // what another tensor uses
      if (memory_.count() > 0) {
        view.address = {bytes_.Byte() % memory_.count(), (choice >> 5) * size};
        break;
      }
      [[fallthrough]];
    default:
      view.address = {
          memory_.Allocate((highest - lowest) * size, (choice & 1) != 0, (choice & 2) != 0 ? choice >> 4 : 0,
                           static_cast<uint64_t>(choice >> 3), view.dtype),
          -lowest * size};
      break;
    case 6: {  // what the last tensor uses: in place, or nearly
      const Address& last = tensors_[static_cast<size_t>(bytes_.Byte()) % kSlots].view.address;
      view.address = last;
      if ((choice & 0x80) != 0) view.address.offset += choice >> 3 & 15;
      break;
    }
    case 7:
      if ((choice & 8) != 0) {  // none
        view.address = {};
      } else {  // too short
        view.address = {
            memory_.Allocate(std::max<int64_t>((highest - lowest) * size - 1, 0), true, 0, 1, view.dtype), 0};
      }
      break;
  }
  switch (bytes_.Below(8)) {
    case 5:
      view.storage = view.shape;
      break;
    case 6:
      view.storage = {std::max<int64_t>(highest - 1, 0)};
      break;
    case 7:
      view.storage.resize(static_cast<size_t>(bytes_.Below(28)));
      for (int64_t& dim : view.storage) dim = WildNumber(bytes_);
      break;
    default:
      view.storage = {highest};
      break;
  }
}

aclrtStream Program::SomeStream() {
  const int choice = bytes_.Byte();
  switch (choice & 15) {
    case 12:
      return nullptr;
    case 13:
      return events_[static_cast<size_t>(choice >> 4) % events_.size()];
    case 14:
      return calls_[static_cast<size_t>(choice >> 4) % kSlots].handle;
    case 15:
      return reinterpret_cast<aclrtStream>(bytes_.Bits64() | 1);
    default:
      return streams_[static_cast<size_t>(choice & 3)];
  }
}

aclrtEvent Program::SomeEvent() {
  const int choice = bytes_.Byte();
  if ((choice & 15) == 14) return streams_[static_cast<size_t>(choice >> 4) % streams_.size()];
  if ((choice & 15) == 15) return reinterpret_cast<aclrtEvent>(bytes_.Bits64());
  return events_[static_cast<size_t>(choice & 3)];
}

aclOpExecutor* Program::SomeExecutor() {
  const int choice = bytes_.Byte();
  if ((choice & 15) == 13) return nullptr;
  if ((choice & 15) == 14)
    return static_cast<aclOpExecutor*>(events_[static_cast<size_t>(choice >> 4) % events_.size()]);
  if ((choice & 15) == 15) return reinterpret_cast<aclOpExecutor*>(bytes_.Bits64());
  return calls_[static_cast<size_t>(choice) % kSlots].handle;
}

CallAttributes Program::SomeAttributes() {
  constexpr int64_t kReductions[] = {
      0, 1, 2, 0, 1, 2, 3, 3, 4, -1, int64_t{1} << 32, std::numeric_limits<int64_t>::min()};
  constexpr float kBetas[] = {1.0f, 0.5f, 0.0f, 2.0f, -0.0f, 1e-6f, 0x1p-149f, INFINITY, -1.0f, NAN, 3e38f};
  CallAttributes attributes;
  attributes.reduction = bytes_.Pick(kReductions);
  attributes.log_target = (bytes_.Byte() & 1) != 0;
  attributes.beta = bytes_.Pick(kBetas);
  attributes.wide_beta = static_cast<double>(attributes.beta);
  return attributes;
}

// ---- Memory and order --------------------------------------------------------------------------

void* Program::Pointer(const Address& address) const {
  return address.buffer < 0 ? nullptr : memory_.data(address.buffer) + address.offset;
}

// Where the elements lie; nothing unless all of them lie inside the buffer.
std::optional<Elements> Program::ElementsOf(const View& view) const {
  Elements elements;
  elements.dtype = view.dtype;
  elements.shape = view.shape;
  elements.buffer = view.address.buffer;
  const int64_t count = CountOf(view.shape);
  if (count == 0) return elements;
  const auto reach = ReachOf(view);
  const int64_t size = BytesOf(view.dtype);
  if (count < 0 || count > kMaxElements || !reach || size == 0) return std::nullopt;
  if (view.address.buffer < 0) return std::nullopt;
  const int64_t base = view.address.offset;
  if (base + reach->first * size < 0 || base + (reach->second + 1) * size > memory_.size(view.address.buffer))
    return std::nullopt;
  const Dims strides = IsPrivate(view.format) ? DenseStridesOf(view.shape) : view.strides;
  Dims index(view.shape.size());
  elements.offset.reserve(static_cast<size_t>(count));
  int64_t at = view.offset;
  for (int64_t done = 0; done < count; ++done) {
    elements.offset.push_back(base + at * size);
    for (size_t axis = index.size(); axis-- > 0;) {
      if (view.shape[axis] == 1) continue;  // its stride may be anything
      at += strides[axis];
      if (++index[axis] < view.shape[axis]) break;
      at -= strides[axis] * view.shape[axis];
      index[axis] = 0;
    }
  }
  return elements;
}

// Whether phase 2 is defined: everything that it touches lies inside its buffer, or has no address at all (which is
// refused). And not too long.
bool Program::CanRun(const PlannedCall& call) const {
  Dims all;
  bool broadcasts = true;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const View& view = call.operands[i];
    const int64_t count = CountOf(view.shape);
    if (count < 0 || count > kMaxElements) return false;
    if (i + 1 < call.operands.size()) {
      const auto joined = BroadcastOf(all, view.shape);
      if (joined) all = *joined;
      broadcasts = broadcasts && joined.has_value();
    }
    if (static_cast<int>(i) == call.op->unread || view.address.buffer < 0 || count == 0) continue;
    if (!ElementsOf(view)) return false;
  }
  return !broadcasts || (CountOf(all) >= 0 && CountOf(all) <= std::min(kMaxElements, elements_left_));
}

// The default stream has two names.
aclrtStream Program::Resolved(aclrtStream stream) const {
  if (stream == nullptr && aclrtCtxGetCurrentDefaultStream(&stream) != 0) aclGetRecentErrMsg();
  return stream;
}

void Program::Synchronize(aclrtStream stream) {
  const int status = CALL(aclrtSynchronizeStream, stream);
  switch (status) {
    case ACL_SUCCESS:
    case ACL_ERROR_RT_EVENT_SYNC_TIMEOUT:  // a wait in the stream ran out of time
    case ACL_ERROR_RT_STREAM_NO_CB_REG:    // nobody asked for a callback
      break;
    default:  // there is no such stream (any more), so nothing runs in it
      if (status != ACL_ERROR_RT_STREAM_CONTEXT && status != ACL_ERROR_RT_CONTEXT_NULL)
        Broken("a synchronisation reports what can go wrong", std::to_string(status).c_str());
      break;
  }
  const aclrtStream resolved = Resolved(stream);
  std::erase_if(running_, [&](const Access& access) { return access.stream == resolved; });
}

void Program::SynchronizeAll() {
  while (!running_.empty()) Synchronize(running_.back().stream);
}

// Waits for whatever uses a buffer.
void Program::Quiet(int buffer) {
  for (;;) {
    const auto found = std::find_if(running_.begin(), running_.end(),
                                    [&](const Access& access) { return access.buffer == buffer; });
    if (found == running_.end()) return;
    Synchronize(found->stream);
  }
}

// Puts what comes next in `stream` behind everything in other streams that it must not overtake.
void Program::OrderBehind(aclrtStream stream, int buffer, bool writes) {
  std::vector<aclrtStream> before;
  for (const Access& access : running_) {
    if (access.buffer == buffer && access.stream != stream && (access.writes || writes))
      before.push_back(access.stream);
  }
  for (aclrtStream other : before) {
    aclrtEvent event = nullptr;
    const bool with_event = (bytes_.Byte() & 1) == 0 && aclrtCreateEvent(&event) == 0 &&
                            aclrtRecordEvent(event, other) == 0 && aclrtStreamWaitEvent(stream, event) == 0;
    if (event != nullptr) aclrtDestroyEvent(event);
    aclGetRecentErrMsg();
    if (!with_event) Synchronize(other);
  }
}

void Program::PrepareUse(aclrtStream stream, int buffer, int32_t dtype, int64_t offset, bool writes) {
  if (memory_.NeedsSettling(buffer, dtype, offset)) {
    Quiet(buffer);
    memory_.Settle(buffer);
  }
  OrderBehind(stream, buffer, writes);
}

// ---- Calls of operators ------------------------------------------------------------------------

Tensor Program::MakeTensor(const View& view) {
  Tensor tensor;
  tensor.view = view;
  const bool no_strides = view.strides == DenseStridesOf(view.shape) && (bytes_.Byte() & 1) == 0;
  tensor.handle = aclCreateTensor(view.shape.data(), view.shape.size(), static_cast<aclDataType>(view.dtype),
                                  no_strides ? nullptr : view.strides.data(), view.offset,
                                  static_cast<aclFormat>(view.format), view.storage.data(),
                                  view.storage.size(), Pointer(view.address));
  Checked(tensor.handle == nullptr ? ACLNN_ERR_PARAM_INVALID : ACL_SUCCESS, "aclCreateTensor");
  if ((tensor.handle == nullptr) != (view.shape.size() > 25 || view.storage.size() > 25))
    Broken("a tensor can be made of up to 25 dims");
  return tensor;
}

void Program::Replace(Tensor& slot, Tensor fresh) {
  CALL(aclDestroyTensor, slot.handle);
  slot = std::move(fresh);
}

void Program::Replace(PlannedCall& slot, PlannedCall fresh) {
  if (slot.is_live && CALL(aclDestroyAclOpExecutor, slot.handle) != 0)
    Broken("a live executor can be destroyed");
  slot = std::move(fresh);
}

// Which operator the next bytes stand for. The first ten have the bytes below 160 that they had when they were alone, so
// that the programs that are kept go on doing what they are kept for; then come copies and fills; all others share the rest
// of the bytes and a second one.
const OperatorCall& NextOperator(ByteReader& bytes) {
  constexpr size_t kFirst = 10;
  constexpr size_t kMoves = 6;
  const std::span<const OperatorCall> ops = OperatorCalls();
  const auto choice = static_cast<size_t>(bytes.Byte());
  if (choice < 160) return ops[choice % kFirst];
  if (choice < 190) return ops[kFirst + choice % kMoves];
  const size_t others = ops.size() - kFirst - kMoves;
  return ops[kFirst + kMoves + (choice * 256 + static_cast<size_t>(bytes.Byte())) % others];
}

void Program::PlanCall() {
  PlannedCall call;
  call.op = &NextOperator(bytes_);
  call.attributes = SomeAttributes();
  std::vector<aclTensor*> tensors;
  std::array<std::optional<Dims>, 4> shape;
  const int choices = bytes_.Byte();
  for (int i = 0; i < call.op->tensors; ++i) {
    const bool is_output = i + 1 == call.op->tensors;
    const int choice = (choices >> (2 * i)) & 3;
    Tensor& slot = tensors_[(static_cast<size_t>(choices) + static_cast<size_t>(i)) % kSlots];
    if (choice == 3 && bytes_.OneIn(3)) {  // null
      tensors.push_back(nullptr);
      call.operands.emplace_back().is_given = false;
      continue;
    }
    if (choice != 2 || slot.handle == nullptr) {
      Dims dims;
      if (!is_output || choice == 1 || call.op->output_shape == OutputShape::kAny) {
        dims = SomeShape();
      } else {
        const auto r01 = shape[0] && shape[1] ? BroadcastOf(*shape[0], *shape[1]) : std::nullopt;
        const auto r = call.op->tensors == 3 ? r01
                       : r01 && shape[2]     ? BroadcastOf(*r01, *shape[2])
                                             : std::nullopt;
        if (r) dims = *r;
        switch (call.op->output_shape) {
          case OutputShape::kBroadcast:
          case OutputShape::kAny:
            break;
          case OutputShape::kOperand0:
            if (shape[0]) dims = *shape[0];
            break;
          case OutputShape::kOperand1:
            if (shape[1]) dims = *shape[1];
            break;
          case OutputShape::kOperand2:
            if (shape[2]) dims = *shape[2];
            break;
          case OutputShape::kReduced:
            if (call.attributes.reduction != 0) dims.clear();
            break;
          case OutputShape::kReducedFirstAxis:
            if (call.attributes.reduction != 0 && !dims.empty()) dims.erase(dims.begin());
            break;
          case OutputShape::kOne:
            dims = {1};
            break;
        }
      }
      Replace(slot, MakeTensor(SomeView(dims, is_output)));
    }
    tensors.push_back(slot.handle);
    call.operands.push_back(slot.view);
    if (i < 4) shape[static_cast<size_t>(i)] = slot.view.shape;
  }

  constexpr uint64_t kUntouchedSize = 0x5A5A5A5A5A5A5A5A;
  auto* const untouched = reinterpret_cast<aclOpExecutor*>(uintptr_t{0x1234});
  uint64_t workspace_size = kUntouchedSize;
  aclOpExecutor* executor = untouched;
  const int flags = bytes_.Byte();
  int status = 0;
  ++counts_.planned;
  MaybeElsewhere((flags & 15) == 15, [&] {
    uint64_t* const size_to = (flags >> 4) == 14 ? nullptr : &workspace_size;
    aclOpExecutor** const executor_to = (flags >> 4) == 15 ? nullptr : &executor;
    aclrtContext context = nullptr;
    call.has_device = CALL(aclrtGetCurrentContext, &context) == 0;
    InFloatEnvironment(fp_mode_, call.op->name,
                       [&] { status = call.op->plan(tensors, call.attributes, size_to, executor_to); });
    Checked(status, call.op->name);
  });
  if (status != 0) {
    if (workspace_size != kUntouchedSize || executor != untouched)
      Broken("a phase 1 that fails stores nothing:", call.op->name);
    return;
  }
  if (workspace_size == kUntouchedSize || executor == untouched || executor == nullptr)
    Broken("a phase 1 that succeeds stores both results:", call.op->name);
  for (size_t i = 0; i + 1 < call.operands.size(); ++i) {
    // The promise of docs/compatibility.md: an input that is not dense lies inside its storage.
    const View& view = call.operands[i];
    const auto reach = ReachOf(view);
    if (!reach || IsPrivate(view.format) || view.format > ACL_FORMAT_NCL) continue;
    bool dense = IsRowMajor(view);
    // Products take matrices whose last two dims are swapped as dense ones.
    if (call.op->takes_swapped && view.shape.size() >= 2) {
      View swapped = view;
      for (Dims* dims : {&swapped.shape, &swapped.strides}) std::swap(dims->end()[-1], dims->end()[-2]);
      dense = dense || IsRowMajor(swapped);
    }
    bool all_filled = true;
    for (const View& other : call.operands) all_filled = all_filled && CountOf(other.shape) > 0;
    if (!dense && all_filled && (reach->first < 0 || reach->second >= CountOf(view.storage)))
      Broken("an input that is not dense lies inside its storage:", call.op->name);
  }
  ++counts_.accepted;
  call.handle = executor;
  call.is_live = true;
  call.workspace_size = workspace_size;
  PlannedCall& slot = calls_[static_cast<size_t>(flags >> 4) % kSlots];
  Replace(slot, std::move(call));
  if ((bytes_.Byte() & 3) != 3) RunCall(slot);
}

void Program::RunCall(PlannedCall& call) {
  if (call.op == nullptr) return;
  const std::span<const OperatorCall> ops = OperatorCalls();
  const int choice = bytes_.Byte();
  const OperatorCall* op = choice % 32 == 31 ? &ops[static_cast<size_t>(choice / 32)] : call.op;
  const aclrtStream stream = SomeStream();
  const int workspace_choice = bytes_.Byte();
  const bool elsewhere = choice % 32 == 30;

  const bool own = op == call.op;
  if (call.is_live && own && !CanRun(call)) return;

  uint64_t workspace_size = call.workspace_size;
  if (workspace_choice % 16 == 13 && workspace_size > 0) --workspace_size;
  if (workspace_choice % 16 == 14) workspace_size += 100;
  void* workspace = nullptr;
  if (workspace_size > 0 && workspace_choice % 16 != 15) {
    workspaces_.push_back(std::make_unique<double[]>((workspace_size + 7) / 8));
    workspace = workspaces_.back().get();
  }

  // What the call reads and writes, in an order with what other streams do.
  const aclrtStream resolved = elsewhere ? stream : Resolved(stream);
  std::vector<Elements> operands;
  bool undefined = op->keeps_state;
  if (call.is_live && own) {
    for (size_t i = 0; i < call.operands.size(); ++i) {
      View view = call.operands[i];
      if (static_cast<int>(i) == op->unread) view.address = {};
      Elements elements;
      if (const auto found = ElementsOf(view)) {
        elements = *found;
      } else {  // no address: nothing to look at
        elements.dtype = view.dtype;
        elements.shape = view.shape;
      }
      elements.is_given = view.is_given;
      operands.push_back(std::move(elements));
    }
    const Elements& out = operands.back();
    if (out.buffer >= 0) {
      const auto size = static_cast<size_t>(BytesOf(out.dtype));
      std::vector<bool> written(static_cast<size_t>(memory_.size(out.buffer)));
      for (const int64_t offset : out.offset) {
        for (size_t i = 0; i < size; ++i) {
          undefined = undefined || written[static_cast<size_t>(offset) + i];
          written[static_cast<size_t>(offset) + i] = true;
        }
      }
      for (size_t k = 0; k + 1 < operands.size(); ++k) {
        // What computes element by element may do so in place; what moves elements reads some after it has written others.
        const bool is_in_place = operands[k] == out && !op->has_more_operands;
        if (operands[k].buffer != out.buffer || is_in_place) continue;
        const auto read = static_cast<size_t>(BytesOf(operands[k].dtype));
        for (const int64_t offset : operands[k].offset) {
          for (size_t i = 0; i < read; ++i) undefined = undefined || written[static_cast<size_t>(offset) + i];
        }
      }
    }
    for (size_t k = 0; k < operands.size(); ++k) {
      if (operands[k].offset.empty()) continue;
      PrepareUse(resolved, operands[k].buffer, operands[k].dtype, operands[k].offset.front(),
                 k + 1 == operands.size());
    }
  }

  int status = 0;
  counts_.started += call.is_live && own ? 1 : 0;
  MaybeElsewhere(elsewhere, [&] {
    InFloatEnvironment(fp_mode_, op->name,
                       [&] { status = op->run(workspace, workspace_size, call.handle, stream); });
    Checked(status, op->name);
  });
  if (!call.is_live && status == 0) Broken("an executor that is used up is refused:", op->name);
  if (call.is_live && !own && status != ACLNN_ERR_INNER)
    Broken("another operator's executor is refused:", op->name);
  if (call.is_live && own && workspace_size < call.workspace_size && status == 0)
    Broken("a workspace that is too small is refused:", op->name);
  const bool ran = call.is_live && status == 0;
  if (!call.repeatable) call.is_live = false;
  if (!ran) return;
  ++counts_.done;

  for (size_t k = 0; k < operands.size(); ++k) {
    if (!operands[k].offset.empty())
      running_.push_back({resolved, operands[k].buffer, k + 1 == operands.size()});
  }
  for (const Elements& elements : operands) elements_left_ -= static_cast<int64_t>(elements.offset.size());
  const Elements out = operands.back();
  memory_.Call(*op, call.attributes, std::move(operands), call.has_device);
  if (undefined && out.buffer >= 0) {
    Quiet(out.buffer);
    memory_.Settle(out.buffer, &out);
  }
}

// ---- Objects -----------------------------------------------------------------------------------

void CheckDims(aclnnStatus (*get)(const aclTensor*, int64_t**, uint64_t*), const aclTensor* tensor,
               const Dims& expected, const char* name) {
  int64_t* dims = nullptr;
  uint64_t count = 0;
  const int status = Checked(get(tensor, &dims, &count), name);
  if ((tensor == nullptr) != (status == ACLNN_ERR_PARAM_NULLPTR))
    Broken("a getter refuses null, and only null:", name);
  if (status == 0 && Dims(dims, dims + count) != expected) Broken("a getter gives what was set:", name);
  delete[] dims;
}

void Program::UseTensor() {
  const int choice = bytes_.Byte();
  Tensor& slot = tensors_[static_cast<size_t>(choice >> 4) % kSlots];
  switch (choice & 7) {
    case 0:
      Replace(slot, MakeTensor(SomeView(SomeShape(), false)));
      break;
    case 1:
      Replace(slot, {});
      break;
    case 2: {
      CheckDims(aclGetViewShape, slot.handle, slot.view.shape, "aclGetViewShape");
      CheckDims(aclGetViewStrides, slot.handle, slot.view.strides, "aclGetViewStrides");
      CheckDims(aclGetStorageShape, slot.handle, slot.view.storage, "aclGetStorageShape");
      int64_t offset = 0;
      if (CALL(aclGetViewOffset, slot.handle, &offset) == 0 && offset != slot.view.offset)
        Broken("aclGetViewOffset gives what was set");
      aclFormat format{};
      CALL(aclGetFormat, slot.handle, &format);
      aclDataType dtype{};
      if (CALL(aclGetDataType, slot.handle, &dtype) == 0 && dtype != ACL_DT_UNDEFINED &&
          dtype != slot.view.dtype)
        Broken("aclGetDataType gives what was set");
      void* address = nullptr;
      if (CALL(aclGetRawTensorAddr, slot.handle, &address) == 0 && address != Pointer(slot.view.address))
        Broken("aclGetRawTensorAddr gives what was set");
      break;
    }
    case 3: {
      CALL(aclGetViewShape, slot.handle, nullptr, nullptr);
      CALL(aclGetViewOffset, slot.handle, nullptr);
      CALL(aclGetFormat, slot.handle, nullptr);
      CALL(aclGetDataType, slot.handle, nullptr);
      CALL(aclGetRawTensorAddr, slot.handle, nullptr);
      break;
    }
    case 4: {
      const Address& address = tensors_[static_cast<size_t>(bytes_.Byte()) % kSlots].view.address;
      if (CALL(aclSetRawTensorAddr, slot.handle, Pointer(address)) == 0) slot.view.address = address;
      break;
    }
    default: {
      const int parts = bytes_.Byte();
      View fresh = SomeView(SomeShape(), false);
      if ((parts & 1) != 0) fresh.shape = slot.view.shape;
      const bool no_strides = (parts & 2) != 0 || fresh.strides.size() != fresh.shape.size();
      if (no_strides) fresh.strides = DenseStridesOf(fresh.shape);
      if ((parts & 4) != 0 || fresh.storage.empty()) fresh.storage = slot.view.storage;
      if ((parts & 8) != 0 || Pointer(fresh.address) == nullptr) fresh.address = slot.view.address;
      if (fresh.shape.empty()) {  // a count of 0 keeps the shape
        fresh.shape = slot.view.shape;
        fresh.strides = DenseStridesOf(fresh.shape);
      }
      const int status =
          CALL(aclInitTensor, slot.handle, (parts & 1) != 0 ? nullptr : fresh.shape.data(),
               fresh.shape.size(), static_cast<aclDataType>(fresh.dtype),
               no_strides || fresh.strides.empty() ? nullptr : fresh.strides.data(), fresh.offset,
               static_cast<aclFormat>(fresh.format), (parts & 4) != 0 ? nullptr : fresh.storage.data(),
               fresh.storage.size(), (parts & 8) != 0 ? nullptr : Pointer(fresh.address));
      if (status == 0) slot.view = fresh;
      break;
    }
  }
}

void Program::UseExecutor() {
  const int choice = bytes_.Byte();
  PlannedCall& slot = calls_[static_cast<size_t>(choice >> 4) % kSlots];
  Tensor& tensor = tensors_[static_cast<size_t>(bytes_.Byte()) % kSlots];
  switch (choice & 7) {
    case 0:
    case 1: {
      const int status = CALL(aclSetAclOpExecutorRepeatable, slot.handle);
      if ((status == 0) != slot.is_live) Broken("a live executor, and only that, becomes repeatable");
      slot.repeatable = slot.repeatable || status == 0;
      break;
    }
    case 2: {
      const int status = CALL(aclDestroyAclOpExecutor, slot.handle);
      if ((status == 0) != slot.is_live) Broken("a live executor, and only that, is destroyed");
      slot.is_live = false;
      break;
    }
    case 3:
    case 4:
    case 5: {
      const auto index = static_cast<size_t>(bytes_.Below(8));
      const int which = bytes_.Below(6);
      if (slot.op != nullptr && slot.op->has_more_operands) break;
      constexpr auto* kSetters = +[](int number) {
        constexpr decltype(&aclSetTensorAddr) kFunctions[] = {aclSetTensorAddr,       aclSetInputTensorAddr,
                                                              aclSetOutputTensorAddr, AclSetTensorAddr,
                                                              AclSetInputTensorAddr,  AclSetOutputTensorAddr};
        return kFunctions[number];
      };
      const int status =
          Checked(kSetters(which)(slot.handle, index, tensor.handle, Pointer(tensor.view.address)),
                  "aclSetTensorAddr");
      if (status == 0 && !slot.is_live) Broken("an executor that is used up gets no address");
      if (status == 0) {
        // selfRef, the last one here, is the first operand of an operator that works in place, and an input, too.
        const bool in_place = std::string_view(slot.op->name).substr(0, 12) == "aclnnInplace";
        const size_t count = slot.operands.size();
        const bool of_outputs = which % 3 == 2;
        const size_t first = of_outputs && !in_place ? count - 1 : 0;
        const size_t last = of_outputs ? first + 1 : which % 3 == 1 && !in_place ? count - 1 : count;
        if (first + index >= last) Broken("an index past the last operand is refused:", slot.op->name);
        const size_t operand = first + index;
        slot.operands[!in_place      ? operand
                      : operand == 0 ? count - 1
                                     : operand - 1]
            .address = tensor.view.address;
      }
      break;
    }
    case 6: {
      std::vector<const aclTensor*> elements;
      for (int i = bytes_.Below(4); i > 0; --i) elements.push_back(MakeTensor(SomeView({2}, false)).handle);
      aclTensorList* const list = aclCreateTensorList(elements.data(), elements.size());
      const auto index = static_cast<size_t>(bytes_.Below(5));
      CALL(aclSetDynamicInputTensorAddr, slot.handle, index, index, list, nullptr);
      CALL(aclSetDynamicOutputTensorAddr, slot.handle, index, size_t{0}, list, nullptr);
      if (CALL(aclSetDynamicTensorAddr, SomeExecutor(), size_t{0}, size_t{0}, nullptr, nullptr) == 0)
        Broken("a list is needed");
      uint64_t size = 0;
      if (CALL(aclGetTensorListSize, list, &size) == 0 && size != elements.size())
        Broken("a list has its size");
      CALL(aclDestroyTensorList, list);
      break;
    }
    default: {  // handles that are none
      aclOpExecutor* const handle = SomeExecutor();
      for (const PlannedCall& call : calls_) {
        if (call.handle == handle && call.is_live) return;
      }
      if (CALL(aclDestroyAclOpExecutor, handle) == 0) Broken("only executors can be destroyed");
      if (CALL(aclSetAclOpExecutorRepeatable, handle) == 0) Broken("only executors become repeatable");
      const OperatorCall& op = OperatorCalls()[static_cast<size_t>(choice >> 4) % OperatorCalls().size()];
      if (Checked(op.run(nullptr, 0, handle, SomeStream()), op.name) == 0)
        Broken("only executors can be run");
      break;
    }
  }
}

// ---- Streams, events, functions ----------------------------------------------------------------

constexpr int32_t kTimeouts[] = {0, 1, 2, -1, -2, 0, std::numeric_limits<int32_t>::min()};

void Program::UseStream() {
  const int choice = bytes_.Byte();
  aclrtStream& slot = streams_[static_cast<size_t>(choice >> 4) % streams_.size()];
  switch (choice & 15) {
    case 0:
    case 1:
      if (slot == nullptr) CALL(aclrtCreateStream, &slot);
      break;
    case 2:
      if (slot == nullptr) {
        constexpr uint32_t kFlags[] = {0, 1, 2, 3, 8, 11, 4, 16, 32, 64, 0x80000000u};
        const auto priority = static_cast<uint32_t>(bytes_.Below(10));
        CALL(aclrtCreateStreamWithConfig, &slot, priority, bytes_.Pick(kFlags));
      }
      break;
    case 3: {
      const aclrtStream destroyed = slot;
      if (CALL(aclrtDestroyStream, destroyed) == 0)
        std::erase_if(running_, [&](const Access& access) { return access.stream == destroyed; });
      break;
    }
    case 4: {
      // What has not begun is dropped, so nothing may be queued that the program relies on.
      SynchronizeAll();
      const auto sleep = [](void*) { std::this_thread::sleep_for(std::chrono::microseconds(100)); };
      CALL(aclrtLaunchHostFunc, slot, sleep, nullptr);
      const aclrtEvent event = SomeEvent();
      CALL(aclrtRecordEvent, event, slot);
      CALL(aclrtStreamWaitEvent, streams_[0], event);
      CALL(aclrtLaunchHostFunc, slot, sleep, nullptr);
      CALL(aclrtDestroyStreamForce, slot);
      break;
    }
    case 5:
      slot = nullptr;  // to make room for a new one; the context destroys the old one
      break;
    case 6: {
      aclrtStreamStatus status{};
      CALL(aclrtStreamQuery, SomeStream(), &status);
      break;
    }
    case 7: {
      const aclrtStream stream = SomeStream();
      int32_t id = 0;
      uint32_t number = 0;
      CALL(aclrtStreamGetId, stream, &id);
      CALL(aclrtStreamGetPriority, stream, &number);
      CALL(aclrtStreamGetFlags, stream, &number);
      break;
    }
    case 8: {
      const aclrtStream stream = SomeStream();
      CALL(aclrtSynchronizeStreamWithTimeout, stream, bytes_.Pick(kTimeouts));
      break;
    }
    case 9:
      CALL(aclrtSynchronizeDevice);
      break;
    case 10:
      CALL(aclrtSynchronizeDeviceWithTimeout, bytes_.Pick(kTimeouts));
      break;
    default:
      Synchronize(SomeStream());
      break;
  }
}

void Program::UseEvent() {
  const int choice = bytes_.Byte();
  aclrtEvent& slot = events_[static_cast<size_t>(choice >> 4) % events_.size()];
  switch (choice & 15) {
    case 0:
      if (slot == nullptr) CALL(aclrtCreateEvent, &slot);
      break;
    case 1:
    case 2:
      if (slot == nullptr) {
        // Not ACL_EVENT_EXTERNAL: a stream that waits for one that nobody records never ends.
        constexpr uint32_t kFlags[] = {1, 2, 8, 9, 11, 0, 0x10, 3, 0x40, 4, 0xFFFFFFFFu};
        const uint32_t flags = bytes_.Pick(kFlags);
        if ((choice & 15) == 1) {
          CALL(aclrtCreateEventWithFlag, &slot, flags);
        } else {
          CALL(aclrtCreateEventExWithFlag, &slot, flags);
        }
      }
      break;
    case 3:
      CALL(aclrtDestroyEvent, slot);
      if ((choice & 0x80) != 0) slot = nullptr;
      break;
    case 4:
    case 5:
    case 6: {
      const aclrtEvent event = SomeEvent();
      CALL(aclrtRecordEvent, event, SomeStream());
      break;
    }
    case 7: {
      const aclrtStream stream = SomeStream();
      CALL(aclrtStreamWaitEvent, stream, SomeEvent());
      break;
    }
    case 8: {
      const aclrtStream stream = SomeStream();
      const aclrtEvent event = SomeEvent();
      CALL(aclrtStreamWaitEventWithTimeout, stream, event, bytes_.Pick(kTimeouts));
      break;
    }
    case 9: {
      const aclrtEvent event = SomeEvent();
      CALL(aclrtResetEvent, event, SomeStream());
      break;
    }
    case 10:
      CALL(aclrtSynchronizeEvent, SomeEvent());
      break;
    case 11: {
      const aclrtEvent event = SomeEvent();
      CALL(aclrtSynchronizeEventWithTimeout, event, bytes_.Pick(kTimeouts));
      break;
    }
    case 12: {
      aclrtEventStatus status{};
      CALL(aclrtQueryEvent, SomeEvent(), &status);
      break;
    }
    case 13: {
      aclrtEventRecordedStatus status{};
      CALL(aclrtQueryEventStatus, SomeEvent(), &status);
      break;
    }
    case 14: {
      aclrtEventWaitStatus status{};
      CALL(aclrtQueryEventWaitStatus, SomeEvent(), &status);
      break;
    }
    default: {
      float milliseconds = 0;
      const aclrtEvent first = SomeEvent();
      CALL(aclrtEventElapsedTime, &milliseconds, first, SomeEvent());
      break;
    }
  }
}

// Keeps a stream busy for a moment, so that what follows is queued.
void Program::UseHostFunction() {
  struct Work {
    std::atomic<int>* calls;
    int microseconds;
  };
  constexpr int kMicroseconds[] = {0, 20, 200, 1000};
  const aclrtStream stream = SomeStream();
  Work work{&host_functions_, bytes_.Pick(kMicroseconds)};
  const int before = host_functions_;
  auto* const kept = new Work(work);
  const int status = CALL(
      aclrtLaunchHostFunc, stream,
      [](void* argument) {
        const std::unique_ptr<Work> own(static_cast<Work*>(argument));
        std::this_thread::sleep_for(std::chrono::microseconds(own->microseconds));
        own->calls->fetch_add(1);
      },
      kept);
  if (status != 0) {
    delete kept;
    return;
  }
  // Everything else goes on meanwhile, but the function must be called sooner or later.
  ++launched_;
  running_.push_back({Resolved(stream), -1, false});
  if ((bytes_.Byte() & 7) != 7) return;
  Synchronize(stream);
  if (host_functions_ <= before) Broken("a host function is called before its stream is synchronised");
}

void Program::UseCallbacks() {
  const aclrtStream stream = SomeStream();
  const int choice = bytes_.Byte();
  const auto self = static_cast<uint64_t>(pthread_self());
  constexpr int32_t kNow[] = {0, -2, 1};
  if ((choice & 3) == 3) {
    CALL(aclrtProcessReport, kNow[static_cast<size_t>(choice >> 2) % 3]);
    CALL(aclrtUnSubscribeReport, self, stream);
    return;
  }
  if (CALL(aclrtSubscribeReport, self, stream) != 0) return;
  std::atomic<int> called{0};
  int launched = 0;
  const auto callback = [](void* argument) { static_cast<std::atomic<int>*>(argument)->fetch_add(1); };
  for (int i = choice >> 2 & 3; i > 0; --i) {
    const auto type = static_cast<aclrtCallbackBlockType>((choice >> 4) % 3);
    launched += CALL(aclrtLaunchCallback, callback, &called, type, stream) == 0 ? 1 : 0;
  }
  if ((choice & 0x80) == 0) {
    for (int tries = 0; called < launched; ++tries) {
      CALL(aclrtProcessReport, 1000);
      if (tries == 20) Broken("callbacks that are due are called");
    }
  }
  CALL(aclrtUnSubscribeReport, self, stream);
  Synchronize(stream);
}

// ---- Memory ------------------------------------------------------------------------------------

void Program::MoveMemory() {
  const int choice = bytes_.Byte();
  constexpr int kKinds[] = {1, 2, 3, 4, 5, 6, 7, 0, 8, -1};
  const auto kind = static_cast<aclrtMemcpyKind>(bytes_.Pick(kKinds));
  if (memory_.count() == 0) {
    CALL(aclrtMemcpy, nullptr, size_t{0}, nullptr, static_cast<size_t>(choice), kind);
    return;
  }
  const int to = bytes_.Byte() % memory_.count();
  const int from = bytes_.Byte() % memory_.count();
  const int64_t most = std::min(memory_.size(to), memory_.size(from));
  const int64_t bytes = (choice & 0x80) != 0 ? most : std::min<int64_t>(bytes_.Byte(), most);
  const int64_t to_offset = memory_.size(to) - bytes;
  const int64_t from_offset = (choice & 0x40) != 0 ? memory_.size(from) - bytes : 0;
  void* const to_address = memory_.data(to) + to_offset;
  const void* const from_address = memory_.data(from) + from_offset;
  const auto count = static_cast<size_t>(bytes);
  const size_t room =
      (choice & 0x20) != 0 && count > 0 ? count - 1 : static_cast<size_t>(memory_.size(to) - to_offset);
  const bool overlaps = to == from && std::abs(to_offset - from_offset) < bytes && to_offset != from_offset;
  const aclrtStream stream = SomeStream();
  const aclrtStream resolved = Resolved(stream);
  if (memory_.NeedsSettling(from, ACL_DT_UNDEFINED, 0)) {
    Quiet(from);
    memory_.Settle(from);
  }
  if (memory_.CutsElement(to, to_offset)) {
    Quiet(to);
    memory_.Settle(to);
  }
  switch (choice & 3) {
    case 0:
      if (overlaps) return;
      Quiet(to);
      Quiet(from);
      if (CALL(aclrtMemcpy, to_address, room, from_address, count, kind) == 0)
        memory_.Copy(to, to_offset, from, from_offset, bytes);
      break;
    case 1:
      Quiet(to);
      if (CALL(aclrtMemset, to_address, room, choice, count) == 0)
        memory_.Fill(to, to_offset, bytes, static_cast<uint8_t>(choice));
      break;
    case 2:
      if (overlaps) return;
      OrderBehind(resolved, to, true);
      OrderBehind(resolved, from, false);
      if (CALL(aclrtMemcpyAsync, to_address, room, from_address, count, kind, stream) == 0 && count > 0) {
        memory_.Copy(to, to_offset, from, from_offset, bytes);
        running_.push_back({resolved, to, true});
        running_.push_back({resolved, from, false});
      }
      break;
    default:
      OrderBehind(resolved, to, true);
      if (CALL(aclrtMemsetAsync, to_address, room, choice, count, stream) == 0 && count > 0) {
        memory_.Fill(to, to_offset, bytes, static_cast<uint8_t>(choice));
        running_.push_back({resolved, to, true});
      }
      break;
  }
}

void Program::UseDeviceMemory() {
  constexpr size_t kSizes[] = {
      1, 64, 1000, 0, 100000, std::numeric_limits<size_t>::max(), std::numeric_limits<size_t>::max() - 31};
  const size_t size = bytes_.Pick(kSizes);
  const int choice = bytes_.Byte();
  auto* const untouched = reinterpret_cast<void*>(uintptr_t{0x77});
  void* address = untouched;
  const bool host = (choice & 1) != 0;
  const int status = host ? CALL(aclrtMallocHost, &address, size)
                          : CALL(aclrtMalloc, &address, size, static_cast<aclrtMemMallocPolicy>(choice));
  if (status != 0) {
    if (address != untouched) Broken("memory that cannot be had changes no pointer");
  } else {
    if (reinterpret_cast<uintptr_t>(address) % 64 != 0) Broken("device memory is aligned to 64 bytes");
    std::memset(address, choice, size);
    if ((choice & 2) != 0 && (host ? CALL(aclrtFree, address) : CALL(aclrtFreeHost, address)) == 0)
      Broken("memory goes back where it came from");
    if ((host ? CALL(aclrtFreeHost, address) : CALL(aclrtFree, address)) != 0) Broken("memory can be freed");
    if ((host ? CALL(aclrtFreeHost, address) : CALL(aclrtFree, address)) == 0) Broken("memory is freed once");
  }
  size_t free = 0;
  size_t total = 0;
  CALL(aclrtGetMemInfo, static_cast<aclrtMemAttr>(choice % 20), &free, &total);
}

void Program::UseOtherObjects() {
  const int choice = bytes_.Byte();
  const auto count = static_cast<uint64_t>(bytes_.Below(5));
  uint64_t size = 0;
  switch (choice % 6) {
    case 0: {
      const int64_t values[4] = {1, -1, 3, 4};
      aclIntArray* const array = aclCreateIntArray(count == 0 ? nullptr : values, count);
      if (CALL(aclGetIntArraySize, array, &size) != 0 || size != count) Broken("an array has its size");
      CALL(aclGetIntArraySize, array, nullptr);
      CALL(aclDestroyIntArray, array);
      break;
    }
    case 1: {
      const float values[4] = {};
      aclFloatArray* const array = aclCreateFloatArray(values, count);
      if (CALL(aclGetFloatArraySize, array, &size) != 0 || size != count) Broken("an array has its size");
      CALL(aclDestroyFloatArray, array);
      CALL(aclGetFloatArraySize, nullptr, &size);
      break;
    }
    case 2: {
      const bool values[4] = {};
      aclBoolArray* const array = aclCreateBoolArray(values, count);
      if (CALL(aclGetBoolArraySize, array, &size) != 0 || size != count) Broken("an array has its size");
      CALL(aclDestroyBoolArray, array);
      break;
    }
    case 3: {
      std::vector<const aclScalar*> scalars;
      for (uint64_t i = 0; i < count; ++i) {
        char value[16] = {};
        const auto dtype =
            static_cast<aclDataType>(kDtypes[static_cast<size_t>(bytes_.Byte()) % std::size(kDtypes)]);
        const aclScalar* const scalar = aclCreateScalar((choice & 0x80) != 0 ? nullptr : value, dtype);
        Checked(scalar == nullptr ? ACLNN_ERR_PARAM_INVALID : ACL_SUCCESS, "aclCreateScalar");
        scalars.push_back(scalar);
      }
      aclScalarList* const list = aclCreateScalarList(scalars.data(), scalars.size());
      if (CALL(aclGetScalarListSize, list, &size) != 0 || size != count) Broken("a list has its size");
      CALL(aclDestroyScalarList, list);
      break;
    }
    case 4: {
      const float value = std::bit_cast<float>(static_cast<uint32_t>(bytes_.Bits64()));
      const float back = aclFloat16ToFloat(aclFloatToFloat16(value));
      if (std::isfinite(value) && std::fabs(value) <= 65504.0f &&
          std::fabs(back - value) > std::max(std::fabs(value) * 0x1p-11f, 0x1p-25f)) {
        Broken("float16 is the nearest");
      }
      aclDataTypeSize(static_cast<aclDataType>(static_cast<int8_t>(bytes_.Byte())));
      break;
    }
    default:
      CALL(aclnnInit, nullptr);
      CALL(aclnnFinalize);
      CALL(aclInit, nullptr);  // counted
      CALL(aclFinalizeReference, &size);
      if (size != 1) Broken("aclInit is counted");
      break;
  }
}

void Program::UseDevice() {
  const int choice = bytes_.Byte();
  aclrtContext& slot = contexts_[static_cast<size_t>(choice >> 4) % contexts_.size()];
  constexpr int32_t kDevices[] = {0, 0, 1, 2, -1};
  switch (choice & 15) {
    case 0:
    case 1:
      CALL(aclrtSetDevice, bytes_.Pick(kDevices));
      break;
    case 2:
      SynchronizeAll();
      CALL(aclrtResetDevice, bytes_.Pick(kDevices));
      break;
    case 3:
      SynchronizeAll();
      CALL(aclrtResetDeviceForce, bytes_.Pick(kDevices));
      break;
    case 4:
    case 5:
      if (slot == nullptr) CALL(aclrtCreateContext, &slot, bytes_.Pick(kDevices));
      break;
    case 6:
      SynchronizeAll();
      CALL(aclrtDestroyContext, slot);
      if ((choice & 0x80) != 0) slot = nullptr;
      break;
    case 7:
    case 8:
      CALL(aclrtSetCurrentContext, slot);
      break;
    case 9: {
      aclrtContext context = nullptr;
      CALL(aclrtGetCurrentContext, &context);
      break;
    }
    case 10: {
      int32_t device = 0;
      CALL(aclrtGetDevice, &device);
      uint32_t count = 0;
      CALL(aclrtGetDeviceCount, &count);
      aclrtRunMode mode{};
      CALL(aclrtGetRunMode, &mode);
      if (aclrtGetSocName() == nullptr || mode != ACL_HOST || count == 0)
        Broken("the library knows its product");
      break;
    }
    case 11: {
      aclrtContext context = nullptr;
      if (aclrtGetCurrentContext(&context) == 0 && CALL(aclrtSetCurrentContext, context) != 0)
        Broken("the current context can be made current");
      aclGetRecentErrMsg();
      break;
    }
    default:
      CALL(aclrtSetCurrentContext, static_cast<aclrtContext>(SomeStream()));
      CALL(aclrtGetDevice, nullptr);
      CALL(aclrtGetDeviceCount, nullptr);
      CALL(aclrtCreateStream, nullptr);
      CALL(aclrtCreateEvent, nullptr);
      CALL(aclrtMalloc, nullptr, size_t{8}, ACL_MEM_MALLOC_HUGE_FIRST);
      CALL(aclrtLaunchHostFunc, SomeStream(), nullptr, nullptr);
      break;
  }
}

}  // namespace

ProgramCounts RunProgram(const uint8_t* data, size_t size) { return Program(ByteReader(data, size)).Run(); }

}  // namespace portacl::testing
