// Converts calls to JSON and reads the content of their tensors (see recorded_calls.h).
// SPDX-License-Identifier: Apache-2.0
#include "record/recorded_calls.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/call_stack.h"
#include "base/float_environment.h"
#include "base/process/fork.h"
#include "base/process/no_destructor.h"
#include "record/frames.h"
#include "record/recording_file.h"
#include "record/recording_settings.h"
#include "record/summary.h"

namespace portacl::record {
namespace {

struct DtypeInfo {
  aclDataType dtype;
  const char* name;  // PyTorch's name, or CANN's in the same style
  int bytes;         // of an element; 0 if elements are not recorded
  Kind kind;
  int numbers;  // of an element
};

constexpr DtypeInfo kDtypes[] = {
    {ACL_FLOAT, "float32", 4, kFloat32, 1},
    {ACL_FLOAT16, "float16", 2, kFloat16, 1},
    {ACL_BF16, "bfloat16", 2, kBfloat16, 1},
    {ACL_DOUBLE, "float64", 8, kFloat64, 1},
    {ACL_INT8, "int8", 1, kInt8, 1},
    {ACL_INT16, "int16", 2, kInt16, 1},
    {ACL_INT32, "int32", 4, kInt32, 1},
    {ACL_INT64, "int64", 8, kInt64, 1},
    {ACL_UINT8, "uint8", 1, kUint8, 1},
    {ACL_UINT16, "uint16", 2, kUint16, 1},
    {ACL_UINT32, "uint32", 4, kUint32, 1},
    {ACL_UINT64, "uint64", 8, kUint64, 1},
    {ACL_BOOL, "bool", 1, kBool, 1},
    {ACL_COMPLEX32, "complex32", 4, kFloat16, 2},
    {ACL_COMPLEX64, "complex64", 8, kFloat32, 2},
    {ACL_COMPLEX128, "complex128", 16, kFloat64, 2},
    {ACL_FLOAT8_E5M2, "float8_e5m2", 1, kBytesAlone, 1},
    {ACL_FLOAT8_E4M3FN, "float8_e4m3fn", 1, kBytesAlone, 1},
    {ACL_FLOAT8_E8M0, "float8_e8m0fnu", 1, kBytesAlone, 1},
    {ACL_HIFLOAT8, "hifloat8", 0, kBytesAlone, 1},
    {ACL_INT4, "int4", 0, kBytesAlone, 1},
    {ACL_FLOAT4_E2M1, "float4_e2m1", 0, kBytesAlone, 1},
    {ACL_FLOAT4_E1M2, "float4_e1m2", 0, kBytesAlone, 1},
};

const DtypeInfo* InfoOf(aclDataType dtype) noexcept {
  const auto* const found = std::find_if(std::begin(kDtypes), std::end(kDtypes),
                                         [dtype](const DtypeInfo& one) { return one.dtype == dtype; });
  return found == std::end(kDtypes) ? nullptr : found;
}

constexpr int64_t kSampled = 64;  // elements

struct Calls {
  std::mutex mutex;
  std::unordered_map<const void*, std::shared_ptr<const RecordedCall>> by_slot;
};

void InForkedChild();

Calls& TheCalls() {
  static NoDestructor<Calls> calls;
  static const bool registered = CallInForkedChild(InForkedChild);
  (void)registered;
  return *calls;
}

// A thread that does not exist in the child may have held the mutex.
void InForkedChild() { new (&TheCalls().mutex) std::mutex; }

std::string Joined(const std::vector<int64_t>& numbers) {
  std::string text;
  for (const int64_t number : numbers) (text += text.empty() ? "" : ",") += std::to_string(number);
  return std::string("[").append(text).append("]");
}

int64_t CountOf(const std::vector<int64_t>& shape) noexcept {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

bool IsDense(const RecordedTensor& tensor) noexcept {
  int64_t step = 1;
  for (size_t dim = tensor.shape.size(); dim-- > 0;) {
    if (tensor.shape[dim] != 1 && tensor.strides[dim] != step) return false;
    step *= tensor.shape[dim];
  }
  return true;
}

// Copies all elements in row-major order.
std::string InOrder(const RecordedTensor& tensor, const char* base, size_t size) {
  const auto count = static_cast<size_t>(CountOf(tensor.shape));
  std::string bytes(count * size, '\0');
  const size_t rank = tensor.shape.size();
  std::vector<int64_t> position(rank, 0);
  int64_t at = tensor.offset;
  for (size_t done = 0; done < count; ++done) {
    std::memcpy(bytes.data() + done * size, base + at * static_cast<int64_t>(size), size);
    for (size_t dim = rank; dim-- > 0;) {
      at += tensor.strides[dim];
      if (++position[dim] < tensor.shape[dim]) break;
      at -= position[dim] * tensor.strides[dim];
      position[dim] = 0;
    }
  }
  return bytes;
}

std::string HashText(uint64_t hash) {
  std::string text = "xxh64:";
  for (int shift = 60; shift >= 0; shift -= 4) text.push_back("0123456789abcdef"[hash >> shift & 15]);
  return text;
}

// Returns the hash, and statistics as JSON.
std::pair<std::string, std::string> SummaryOf(std::string_view bytes, const DtypeInfo& info) {
  const uint64_t count = bytes.size() / static_cast<size_t>(info.bytes) * static_cast<uint64_t>(info.numbers);
  const std::string counted = R"({"count":)" + std::to_string(count);
  Summary summary{};
  if (info.kind == kBytesAlone) {
    Summarise(bytes.data(), bytes.size(), kBytesAlone, summary);
    return {HashText(summary.hash), counted + R"(,"nan":null,"inf":null,"zeros":null})"};
  }
  char text[kTextSize];
  const size_t size = SummariseAsText(bytes.data(), count, info.kind, text);
  if (size > 0) {
    const size_t hash = HashText(0).size();
    return {std::string(text, hash), std::string(text + hash, size - hash)};
  }
  // Without mean and norm if the sums overflow double.
  Summarise(bytes.data(), count, info.kind, summary);
  std::string json = counted + R"(,"nan":)" + std::to_string(summary.nans) + R"(,"inf":)" +
                     std::to_string(summary.infinities) + R"(,"zeros":)" + std::to_string(summary.zeros);
  if (summary.count > 0) {
    json += R"(,"min":)" + JsonOf(summary.minimum) + R"(,"max":)" + JsonOf(summary.maximum);
  }
  return {HashText(summary.hash), json + "}"};
}

std::string SampleOf(std::string_view bytes, size_t size) {
  const auto count = static_cast<int64_t>(bytes.size() / size);
  const int64_t sampled = std::min(count, kSampled);
  std::vector<int64_t> positions;
  std::string elements;
  for (int64_t number = 0; number < sampled; ++number) {
    // (count - 1) * number / (sampled - 1), without overflow
    const int64_t position = count <= kSampled ? number
                                               : (count - 1) / (sampled - 1) * number +
                                                     (count - 1) % (sampled - 1) * number / (sampled - 1);
    positions.push_back(position);
    elements += bytes.substr(static_cast<size_t>(position) * size, size);
  }
  std::string json = "[";
  return json.append(Joined(positions)).append(",\"").append(Base64Of(elements)).append("\"]");
}

// Returns the recorded content of a tensor, from the value of "kept" on.
std::string Contents(const RecordedTensor& tensor, const DtypeInfo& info, const void* base) {
  const auto size = static_cast<size_t>(info.bytes);
  const int64_t count = CountOf(tensor.shape);
  std::string gathered;
  std::string_view bytes;
  if (count > 0 && IsDense(tensor)) {
    bytes = {static_cast<const char*>(base) + tensor.offset * info.bytes, static_cast<size_t>(count) * size};
  } else if (count > 0) {
    gathered = InOrder(tensor, static_cast<const char*>(base), size);
    bytes = gathered;
  }
  const auto [hash, statistics] = SummaryOf(bytes, info);
  const std::string end = R"(,"statistics":)" + statistics + R"(,"hash":")" + hash + '"';
  if (KeepsWhole(bytes.size())) return R"("all","key":")" + WriteContents(bytes) + '"' + end;
  if (SettingsInForce().keep == Keep::kSample && count > 0) {
    return R"("sample","sample":)" + SampleOf(bytes, size) + end;
  }
  return R"("summary")" + end;
}

std::string TensorJson(const RecordedTensor& tensor, const void* base, bool reads, int32_t device) {
  if (tensor.handle == nullptr) return "null";
  if (!tensor.is_countable) return R"({"opaque":["tensor","its elements cannot be counted"]})";
  const DtypeInfo* const info = InfoOf(tensor.dtype);
  std::string name = std::string("acl") + std::to_string(static_cast<int>(tensor.dtype));
  if (info != nullptr) name = info->name;
  std::string json = R"({"tensor":{"dtype":")" + name + R"(","shape":)" + Joined(tensor.shape) +
                     R"(,"strides":)" + Joined(tensor.strides);
  if (tensor.offset != 0) json += R"(,"offset":)" + std::to_string(tensor.offset);
  if (tensor.format != ACL_FORMAT_ND)
    json += R"(,"format":)" + std::to_string(static_cast<int>(tensor.format));
  if (tensor.storage != tensor.shape) json += R"(,"storage_shape":)" + Joined(tensor.storage);
  if (base != nullptr) json += R"(,"storage":)" + std::to_string(StorageNumber(base));
  json += R"(,"device":"npu:)" + std::to_string(device) + R"(","kept":)";
  const bool is_empty = CountOf(tensor.shape) == 0;
  if (info == nullptr || info->bytes == 0) {
    json += R"("summary","problem":"elements of this dtype are not recorded")";
  } else if (reads && tensor.is_shaped_later) {
    json +=
        R"("summary","problem":"how long it is is not known: the program has destroyed it, or made it another tensor")";
  } else if (!tensor.is_plain) {
    json += R"("summary","problem":"elements of a private format with strides of its own are not recorded")";
  } else if (is_empty || (reads && base != nullptr)) {
    json += Contents(tensor, *info, base);
  } else {
    json += R"("summary")";
  }
  return json + "}}";
}

std::string ValueJson(const RecordedArgument& argument, const CallWork& work, bool after) {
  if (!argument.is_tensor) return argument.value;
  std::string json;
  for (size_t entry = 0; entry < argument.tensors.size(); ++entry) {
    const size_t operand = static_cast<size_t>(argument.first_operand) + entry;
    const bool reads = work.computes && work.touched[operand] && (after || argument.is_read);
    if (entry > 0) json += ",";
    json += TensorJson(argument.tensors[entry], work.addresses[operand], reads, work.device);
  }
  return argument.is_list ? std::string("[").append(json).append("]") : json;
}

// The range of bytes of a tensor: the first, and the end.
struct Reach {
  const RecordedTensor* tensor;
  const RecordedArgument* argument;
  const char* begin;
  const char* end;
};

std::vector<Reach> ReachesOf(const RecordedCall& call, const CallWork& work) {
  std::vector<Reach> found;
  for (const RecordedArgument& argument : call.arguments) {
    for (size_t entry = 0; entry < argument.tensors.size(); ++entry) {
      const RecordedTensor& tensor = argument.tensors[entry];
      const size_t operand = static_cast<size_t>(argument.first_operand) + entry;
      const DtypeInfo* const info = InfoOf(tensor.dtype);
      if (tensor.handle == nullptr || !tensor.is_countable || !work.touched[operand] || info == nullptr ||
          CountOf(tensor.shape) == 0) {
        continue;
      }
      int64_t lowest = tensor.offset;
      int64_t highest = tensor.offset;
      for (size_t dim = 0; dim < tensor.shape.size(); ++dim) {
        const int64_t step = (tensor.shape[dim] - 1) * tensor.strides[dim];
        (step < 0 ? lowest : highest) += step;
      }
      const auto* const base = static_cast<const char*>(work.addresses[operand]);
      const int64_t size = std::max(info->bytes, 1);
      found.push_back({&tensor, &argument, base + lowest * size, base + (highest + 1) * size});
    }
  }
  return found;
}

// Tells whether two elements may share an address.
bool MeetsItself(const RecordedTensor& tensor) {
  std::vector<std::pair<int64_t, int64_t>> dims;  // step and length
  for (size_t dim = 0; dim < tensor.shape.size(); ++dim) {
    if (tensor.shape[dim] != 1) dims.emplace_back(std::abs(tensor.strides[dim]), tensor.shape[dim]);
  }
  std::sort(dims.begin(), dims.end());
  int64_t extent = 1;
  for (const auto& [step, length] : dims) {
    if (step < extent) return true;
    extent += step * (length - 1);
  }
  return false;
}

// Names an argument that shares memory with a written tensor without being the same view, or twice that
// tensor; "" if there is none.
std::string OverlapOf(const RecordedCall& call, const CallWork& work) {
  const std::vector<Reach> reaches = ReachesOf(call, work);
  for (const Reach& one : reaches) {
    if (!one.argument->is_written) continue;
    if (MeetsItself(*one.tensor)) return "elements of " + one.argument->name;
    for (const Reach& other : reaches) {
      if (&one == &other || one.begin >= other.end || other.begin >= one.end) continue;
      const bool is_same = one.begin == other.begin && one.tensor->dtype == other.tensor->dtype &&
                           one.tensor->shape == other.tensor->shape &&
                           one.tensor->strides == other.tensor->strides;
      if (!is_same || other.argument->is_written) return one.argument->name + " and " + other.argument->name;
    }
  }
  return "";
}

// Lists [index, tensor] for each tensor that the call wrote.
std::string WrittenJson(const RecordedArgument& argument, const CallWork& work) {
  std::string json;
  for (size_t entry = 0; entry < argument.tensors.size(); ++entry) {
    const RecordedTensor& tensor = argument.tensors[entry];
    if (tensor.handle == nullptr || !tensor.is_countable) continue;
    const size_t operand = static_cast<size_t>(argument.first_operand) + entry;
    const bool reads = work.computes && work.touched[operand];
    if (!json.empty()) json += ",";
    json.append(R"([["kwargs",)").append(Quoted(argument.name));
    if (argument.is_list) json.append(",").append(std::to_string(entry));
    json.append("],").append(TensorJson(tensor, work.addresses[operand], reads, work.device)).append("]");
  }
  return json;
}

}  // namespace

std::string JsonOf(double value) {
  if (!std::isfinite(value)) {
    return R"({"float":")" + std::string(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf") + R"("})";
  }
  char text[40];
  std::string json(text, std::to_chars(text, text + sizeof text, value).ptr);
  if (json.find_first_of(".e") == std::string::npos) json += ".0";  // keeps it a float
  return json;
}

std::string JsonOf(std::string_view text) { return Quoted(text); }

void CallIsMade(const void* slot, RecordedCall call) noexcept {
  if (!OpenRecording()) return;
  try {
    call.stack = StackNumber(CallStackHere());
    auto kept = std::make_shared<const RecordedCall>(std::move(call));
    const std::lock_guard lock(TheCalls().mutex);
    TheCalls().by_slot[slot] = std::move(kept);
  } catch (...) {
    // without memory the call is not recorded
  }
}

void RecordedCallIsCopied(const void* from, const void* to) noexcept {
  try {
    const std::lock_guard lock(TheCalls().mutex);
    const auto found = TheCalls().by_slot.find(from);
    if (found == TheCalls().by_slot.end()) return;
    std::shared_ptr<const RecordedCall> call = found->second;
    TheCalls().by_slot[to] = std::move(call);
  } catch (...) {
    // without memory the call is not recorded
  }
}

void RecordedCallGoes(const void* slot) noexcept {
  const std::lock_guard lock(TheCalls().mutex);
  TheCalls().by_slot.erase(slot);
}

RunningCall::RunningCall(const CallWork& work) noexcept : work_(work) {
  const DefaultFloatEnvironment environment;
  try {
    {
      const std::lock_guard lock(TheCalls().mutex);
      const auto found = TheCalls().by_slot.find(work.slot);
      if (found == TheCalls().by_slot.end()) return;
      call_ = found->second;
    }
    for (const RecordedArgument& argument : call_->arguments) {
      if (!json_.empty()) json_ += ",";
      json_.append("[").append(Quoted(argument.name)).append(",");
      json_.append(ValueJson(argument, work_, /*after=*/false)).append("]");
    }
  } catch (...) {
    call_.reset();  // without memory the call is not recorded
  }
}

void RunningCall::Finish(const std::vector<LaterShape>& shapes) noexcept {
  if (call_ == nullptr || !IsOn()) return;
  const DefaultFloatEnvironment environment;
  try {
    std::string written;
    for (const RecordedArgument& argument : call_->arguments) {
      if (!argument.is_tensor || !argument.is_written) continue;
      RecordedArgument after = argument;
      for (RecordedTensor& tensor : after.tensors) {
        for (const LaterShape& later : shapes) {
          if (later.handle != tensor.handle) continue;
          tensor.is_shaped_later = false;
          tensor.shape = tensor.storage = later.shape;
          tensor.strides.assign(later.shape.size(), 1);
          for (size_t dim = later.shape.size(); dim-- > 1;) {
            tensor.strides[dim - 1] = tensor.strides[dim] * later.shape[dim];
          }
        }
      }
      const std::string one = WrittenJson(after, work_);
      if (!one.empty()) (written += written.empty() ? "" : ",") += one;
    }
    std::string json = R"("name":)" + Quoted(call_->api) +
                       R"(,"args":[],"outputs":[],"step":0,"phase":"none","kwargs":{"dict":[)" + json_ +
                       R"(]},"written":[)" + written + "]";
    if (const std::string overlap = work_.computes ? OverlapOf(*call_, work_) : ""; !overlap.empty()) {
      json += R"(,"overlap":)" + Quoted(overlap);
    }
    if (call_->stack >= 0) json += R"(,"stack":)" + std::to_string(call_->stack);
    if (work_.stream > 0) json += R"(,"thread":)" + std::to_string(work_.stream);
    WriteCall(json + "}");
  } catch (...) {
    // without memory the call is not recorded
  }
}

}  // namespace portacl::record
