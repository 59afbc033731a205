// Holds the state of an executor (see executor.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnn/executor.h"

#include <bit>
#include <cstdlib>

#include "acl/queue/stream.h"
#include "base/errors.h"

namespace portacl {
namespace {

// The most bytes that a slot keeps when its executor is done.
constexpr size_t kMostKept = size_t{1} << 20;

}  // namespace

void AddOperandName(Text& text, const ExecutorState& executor, int operand) noexcept {
  const ExecutorParameter* parameter = executor.parameters;
  while (operand >= parameter->first + parameter->count) ++parameter;
  text.Add(parameter->name);
  if (parameter->is_list) text.Add('[').Add(operand - parameter->first).Add(']');
}

bool Executor::Grow(size_t bytes) noexcept {
  if (bytes <= kept_bytes_) return true;
  if (bytes > size_t{1} << 62) return false;
  bytes = std::bit_ceil(bytes);
  void* const grown = std::realloc(kept_, bytes);
  if (grown == nullptr) return false;
  kept_ = static_cast<std::byte*>(grown);
  kept_bytes_ = bytes;
  return true;
}

bool Executor::ReserveOperands(int count) noexcept {
  operand_bytes_ = 0;
  if (count <= kFewOperands) return true;
  const auto n = static_cast<size_t>(count);
  operand_bytes_ = (n * (sizeof(void*) + sizeof(bool)) + 63) / 64 * 64;
  if (!Grow(operand_bytes_)) return false;
  addresses = reinterpret_cast<void**>(kept_);
  touched = reinterpret_cast<bool*>(addresses + n);
  return true;
}

std::byte* Executor::ReserveMemory(size_t bytes) noexcept {
  out_of_memory = bytes > size_t{1} << 62 || !Grow(operand_bytes_ + bytes);
  if (out_of_memory) return nullptr;
  if (operand_bytes_ > 0) {
    addresses = reinterpret_cast<void**>(kept_);
    touched = reinterpret_cast<bool*>(addresses + operand_count);
  }
  memory = kept_ + operand_bytes_;
  memory_bytes = bytes;
  return memory;
}

void Executor::RefuseSize(const char* parameter, int64_t parameter_size) noexcept {
  out_of_memory = true;
  too_large = parameter;
  size = parameter_size;
}

void Executor::RefuseSize(int parameter, int64_t parameter_size) noexcept {
  RefuseSize(parameters[parameter].name, parameter_size);
}

void Executor::ShapeLater(int index, aclTensor* tensor) noexcept {
  own_shaped_[index].Expect(tensor);
  sets_shapes = true;
}

bool Executor::Copy(const Executor& other) noexcept {
  const size_t bytes = other.operand_bytes_ + other.memory_bytes;
  if (!Grow(bytes)) return false;
  static_cast<ExecutorState&>(*this) = other;
  if (bytes > 0) std::memcpy(kept_, other.kept_, bytes);
  operand_bytes_ = other.operand_bytes_;
  addresses = operand_bytes_ > 0 ? reinterpret_cast<void**>(kept_) : few_addresses;
  touched = operand_bytes_ > 0 ? reinterpret_cast<bool*>(addresses + operand_count) : few_touched;
  memory = kept_ + operand_bytes_;
  shaped = own_shaped_;
  sets_shapes = other.sets_shapes;
  for (int i = 0; i < kMostGroups; ++i) {
    ranks[i] = other.ranks[i];
    exchanges[i] = other.exchanges[i];
  }
  for (int i = 0; i < kMaxShaped && sets_shapes; ++i) own_shaped_[i].Expect(other.own_shaped_[i]);
  return true;
}

void Executor::Shrink() noexcept {
  if (kept_bytes_ <= kMostKept) return;
  std::free(kept_);
  kept_ = nullptr;
  kept_bytes_ = 0;
}

}  // namespace portacl
