// Recording and replaying what happens to a program's memory: see shadow_memory.h.
// SPDX-License-Identifier: Apache-2.0
#include "shadow_memory.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "elsewhere.h"
#include "support/random_numbers.h"

namespace portacl::testing {
namespace {

constexpr int64_t kMaxMemory = int64_t{4} << 20;

bool IsNan(int32_t component, const char* bytes) {
  if (component == ACL_FLOAT) {
    float value = 0;
    std::memcpy(&value, bytes, sizeof value);
    return std::isnan(value);
  }
  if (component == ACL_DOUBLE) {
    double value = 0;
    std::memcpy(&value, bytes, sizeof value);
    return std::isnan(value);
  }
  uint16_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  const int magnitude = bits & 0x7FFF;
  return component == ACL_FLOAT16 ? magnitude > 0x7C00 : magnitude > 0x7F80;
}

// Contents that are worth computing with: mostly small numbers of the type, some special ones, some noise.
void FillAs(int32_t dtype, uint64_t seed, std::span<char> bytes) {
  RandomNumbers random(seed);
  const int64_t size = BytesOf(dtype);
  const bool noise = seed % 4 == 3 || size == 0;
  constexpr float kSpecial[] = {0.0f, -0.0f,    1.0f,     -1.0f, 0.5f,      2.0f,      INFINITY, -INFINITY,
                                NAN,  65504.0f, 65520.0f, 1e-8f, 0x1p-149f, 0x1p-126f, 3.4e38f,  88.8f};
  size_t at = 0;
  while (!noise && at + static_cast<size_t>(size) <= bytes.size()) {
    const float value = random.Chance(15) ? kSpecial[random.Below(std::size(kSpecial))]
                                          : static_cast<float>(random.Between(-64, 64)) * 0.0625f;
    char* const to = &bytes[at];
    const auto store = [&](auto element) { std::memcpy(to, &element, sizeof element); };
    switch (dtype) {
      case ACL_FLOAT:
        store(value);
        break;
      case ACL_FLOAT16:
        store(aclFloatToFloat16(value));
        break;
      case ACL_BF16:
        store(static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16));
        break;
      case ACL_DOUBLE:
        store(static_cast<double>(value));
        break;
      default: {
        const uint64_t bits =
            random.Chance(50) ? random.Bits() : static_cast<uint64_t>(random.Between(-3, 3));
        for (int64_t i = 0; i < size; ++i) to[i] = static_cast<char>(bits >> (8 * (i % 8)));
      }
    }
    at += static_cast<size_t>(size);
  }
  for (; at < bytes.size(); ++at) bytes[at] = static_cast<char>(random.Bits());
}

void Gather(const std::vector<char>& from, const Elements& elements, char* to) {
  const int64_t size = BytesOf(elements.dtype);
  for (const int64_t offset : elements.offset) {
    std::memcpy(to, from.data() + offset, static_cast<size_t>(size));
    to += size;
  }
}

void Scatter(const char* from, const Elements& elements, std::vector<char>& to) {
  const int64_t size = BytesOf(elements.dtype);
  for (const int64_t offset : elements.offset) {
    std::memcpy(to.data() + offset, from, static_cast<size_t>(size));
    from += size;
  }
}

}  // namespace

void Broken(const char* promise, const char* detail) {
  std::fprintf(stderr, "BROKEN PROMISE: %s %s\n", promise, detail);
  std::abort();
}

int64_t BytesOf(int32_t dtype) {
  switch (dtype) {
    case ACL_BOOL:
    case ACL_INT8:
    case ACL_UINT8:
      return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
      return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
      return 4;
    case ACL_DOUBLE:
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_COMPLEX64:
      return 8;
    case ACL_COMPLEX128:
      return 16;
    default:
      return 0;
  }
}

int64_t CountOf(const Dims& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) return -1;
  }
  return count;
}

int ShadowMemory::Allocate(int64_t bytes, bool guard_pages, int misalignment, uint64_t seed, int32_t dtype) {
  if (bytes < 0 || bytes > kMaxMemory - allocated_) return -1;
  allocated_ += bytes;
  Buffer buffer;
  buffer.size = bytes;
  if (guard_pages) {
    buffer.guarded = std::make_unique<GuardedBuffer>(static_cast<size_t>(bytes));
    buffer.data = reinterpret_cast<char*>(buffer.guarded->data());
  } else {
    buffer.heap = std::make_unique<char[]>(static_cast<size_t>(bytes + misalignment));
    buffer.data = buffer.heap.get() + misalignment;
  }
  FillAs(dtype, seed, {buffer.data, static_cast<size_t>(bytes)});
  buffer.shadow.assign(buffer.data, buffer.data + bytes);
  buffers_.push_back(std::move(buffer));
  return count() - 1;
}

ShadowMemory::Grid ShadowMemory::GridOf(int32_t dtype, int64_t offset) {
  switch (dtype) {
    case ACL_FLOAT:
    case ACL_COMPLEX64:
      return {ACL_FLOAT, offset % 4};
    case ACL_DOUBLE:
    case ACL_COMPLEX128:
      return {ACL_DOUBLE, offset % 8};
    case ACL_FLOAT16:
    case ACL_BF16:
      return {dtype, offset % 2};
    default:
      return {};
  }
}

bool ShadowMemory::NeedsSettling(int buffer, int32_t dtype, int64_t offset) const {
  const Grid& grid = At(buffer).grid;
  if (grid.component < 0) return false;
  const Grid wanted = GridOf(dtype, offset);
  return wanted.component != grid.component || wanted.phase != grid.phase;
}

bool ShadowMemory::CutsElement(int buffer, int64_t offset) const {
  const Grid& grid = At(buffer).grid;
  return grid.component >= 0 && (offset - grid.phase) % BytesOf(grid.component) != 0;
}

void ShadowMemory::Call(const OperatorCall& op, const CallAttributes& attributes,
                        std::vector<Elements> operands, bool has_device) {
  const Elements& out = operands.back();
  if (!out.offset.empty() && out.buffer >= 0) {
    const Grid grid = GridOf(out.dtype, out.offset.front());
    if (grid.component >= 0) At(out.buffer).grid = grid;
  }
  Record record;
  record.kind = Record::Kind::kCall;
  record.op = &op;
  record.attributes = attributes;
  record.operands = std::move(operands);
  record.has_device = has_device;
  records_.push_back(std::move(record));
}

void ShadowMemory::Copy(int to, int64_t to_offset, int from, int64_t from_offset, int64_t bytes) {
  if (bytes == 0) return;
  Record record;
  record.kind = Record::Kind::kCopy;
  record.to = to;
  record.to_offset = to_offset;
  record.from = from;
  record.from_offset = from_offset;
  record.bytes = bytes;
  records_.push_back(std::move(record));
}

void ShadowMemory::Fill(int to, int64_t offset, int64_t bytes, uint8_t value) {
  if (bytes == 0) return;
  Record record;
  record.kind = Record::Kind::kFill;
  record.to = to;
  record.to_offset = offset;
  record.bytes = bytes;
  record.value = value;
  records_.push_back(std::move(record));
}

void ShadowMemory::Settle(int buffer, const Elements* anything) {
  Buffer& settled = At(buffer);
  Record record;
  record.kind = Record::Kind::kSettle;
  record.to = buffer;
  record.grid = settled.grid;
  record.contents.assign(settled.data, settled.data + settled.size);
  if (anything != nullptr) record.operands.push_back(*anything);
  records_.push_back(std::move(record));
  settled.grid = {};
}

void ShadowMemory::Verify() {
  for (int i = 0; i < count(); ++i) Settle(i);
  for (const Record& record : records_) Replay(record);
}

void ShadowMemory::Replay(const Record& record) {
  switch (record.kind) {
    case Record::Kind::kCall:
      ReplayCall(record);
      break;
    case Record::Kind::kCopy:
      std::memmove(At(record.to).shadow.data() + record.to_offset,
                   At(record.from).shadow.data() + record.from_offset, static_cast<size_t>(record.bytes));
      break;
    case Record::Kind::kFill:
      std::memset(At(record.to).shadow.data() + record.to_offset, record.value,
                  static_cast<size_t>(record.bytes));
      break;
    case Record::Kind::kSettle: {
      std::vector<char>& shadow = At(record.to).shadow;
      for (const Elements& anything : record.operands) {
        const int64_t size = BytesOf(anything.dtype);
        for (const int64_t offset : anything.offset)
          std::copy_n(record.contents.begin() + offset, size, shadow.begin() + offset);
      }
      const int64_t size = std::max<int64_t>(BytesOf(record.grid.component), 1);
      for (int64_t i = 0; i < static_cast<int64_t>(shadow.size()); ++i) {
        const auto at = static_cast<size_t>(i);
        if (shadow[at] == record.contents[at]) continue;
        const int64_t start = i - (i - record.grid.phase % size + size) % size;
        if (record.grid.component >= 0 && start >= 0 && start + size <= static_cast<int64_t>(shadow.size()) &&
            IsNan(record.grid.component, &shadow[static_cast<size_t>(start)]) &&
            IsNan(record.grid.component, &record.contents[static_cast<size_t>(start)])) {
          continue;
        }
        Broken("memory holds what was computed, and nothing else was written:",
               ("buffer " + std::to_string(record.to) + " byte " + std::to_string(i) + " of " +
                std::to_string(shadow.size()) + " is " + std::to_string(record.contents[at] & 0xFF) +
                ", expected " + std::to_string(shadow[at] & 0xFF) + WritersOf(record))
                   .c_str());
      }
      shadow = record.contents;
      break;
    }
  }
}

std::string ShadowMemory::WritersOf(const Record& settled) const {
  std::string writers;
  for (const Record& record : records_) {
    if (&record == &settled) break;
    if (record.kind != Record::Kind::kCall || record.operands.back().buffer != settled.to) continue;
    writers += std::string(writers.empty() ? "; written by " : ", ") + record.op->name;
  }
  return writers;
}

void ShadowMemory::ReplayCall(const Record& record) {
  std::vector<std::unique_ptr<char[]>> memory;
  std::vector<aclTensor*> tensors;
  const Elements& out = record.operands.back();
  for (size_t i = 0; i < record.operands.size(); ++i) {
    const Elements& operand = record.operands[i];
    if (!operand.is_given) {
      tensors.push_back(nullptr);
      continue;
    }
    const auto bytes = operand.offset.size() * static_cast<size_t>(BytesOf(operand.dtype));
    char* address = nullptr;
    if (operand.buffer >= 0 && bytes > 0 && static_cast<int>(i) != record.op->unread) {
      memory.push_back(std::make_unique<char[]>(bytes));
      address = memory.back().get();
      Gather(At(operand.buffer).shadow, operand, address);
    }
    aclTensor* const tensor =
        aclCreateTensor(operand.shape.data(), operand.shape.size(), static_cast<aclDataType>(operand.dtype),
                        nullptr, 0, ACL_FORMAT_ND, operand.shape.data(), operand.shape.size(), address);
    if (tensor == nullptr) Broken("aclCreateTensor makes a tensor", aclGetRecentErrMsg());
    tensors.push_back(tensor);
  }
  uint64_t workspace_size = 0;
  aclOpExecutor* executor = nullptr;
  MaybeElsewhere(!record.has_device, [&] {
    if (record.op->plan(tensors, record.attributes, &workspace_size, &executor) != 0)
      Broken("what is accepted in one layout is accepted dense:", aclGetRecentErrMsg());
  });
  memory.push_back(std::make_unique<char[]>(workspace_size));
  if (record.op->run(workspace_size > 0 ? memory.back().get() : nullptr, workspace_size, executor, nullptr) !=
          0 ||
      aclrtSynchronizeStream(nullptr) != 0) {
    Broken("what runs in one layout runs dense:", aclGetRecentErrMsg());
  }
  void* address = nullptr;
  if (tensors.back() != nullptr) aclGetRawTensorAddr(tensors.back(), &address);
  if (address != nullptr) Scatter(static_cast<const char*>(address), out, At(out.buffer).shadow);
  for (const aclTensor* tensor : tensors) {
    if (tensor != nullptr) aclDestroyTensor(tensor);
  }
}

}  // namespace portacl::testing
