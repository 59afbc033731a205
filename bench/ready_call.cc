// The library, operands and calls of a case (see ready_call.h).
// SPDX-License-Identifier: Apache-2.0
#include "ready_call.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

namespace portacl::bench {
namespace {

// Numbers in (0, 1], which every operator takes as any operand.
void Fill(std::byte* data, aclDataType dtype, size_t bytes, uint32_t seed) {
  const size_t size = static_cast<size_t>(DtypeSize(dtype));
  const size_t pattern = std::min(bytes, size << 16);
  uint32_t state = seed * 977 + 1;
  for (size_t i = 0; i < pattern; i += size) {
    state = state * 1664525 + 1013904223;
    const float value = static_cast<float>((state >> 16) + 1) / 65536.0f;
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    const uint16_t half = dtype == ACL_FLOAT16 ? aclFloatToFloat16(value) : static_cast<uint16_t>(bits >> 16);
    if (size == 4) std::memcpy(data + i, &bits, 4);
    if (size == 2) std::memcpy(data + i, &half, 2);
  }
  for (size_t done = pattern; done < bytes; done += std::min(pattern, bytes - done))
    std::memcpy(data + done, data, std::min(pattern, bytes - done));
}

}  // namespace

void Check(int status) {
  if (status == 0) return;
  const char* text = aclGetRecentErrMsg();
  throw std::runtime_error("status " + std::to_string(status) + ": " + (text == nullptr ? "" : text));
}

void Library::Use(int threads, bool blocking) {
  if (threads == threads_ && blocking == blocking_) return;
  Stop();
  setenv("PORTACL_NUM_THREADS", std::to_string(threads).c_str(), 1);
  setenv("ASCEND_LAUNCH_BLOCKING", blocking ? "1" : "0", 1);
  Check(aclInit(nullptr));
  Check(aclrtSetDevice(0));
  Check(aclrtCreateStream(&stream_));
  threads_ = threads;
  blocking_ = blocking;
}

void Library::Stop() {
  if (threads_ == 0) return;
  aclrtDestroyStream(stream_);
  aclrtResetDevice(0);
  aclFinalize();
  threads_ = 0;
}

std::byte* Storage::For(int operand, aclDataType dtype, int64_t elements) {
  Buffer& buffer = buffers_[operand];
  const size_t bytes = static_cast<size_t>(elements) * static_cast<size_t>(DtypeSize(dtype));
  if (bytes > buffer.bytes) {
    buffer.memory.reset(static_cast<std::byte*>(std::aligned_alloc(4096, (bytes / 4096 + 8) * 4096)));
    if (!buffer.memory) throw std::runtime_error("no memory");
    buffer.bytes = bytes;
    buffer.filled = 0;
  }
  // Not all at the same offset in a page, which no pair of loads and stores likes.
  std::byte* data = buffer.memory.get() + 1088 * (operand + 1);
  if (buffer.dtype != dtype || buffer.filled < bytes) {
    Fill(data, dtype, bytes, static_cast<uint32_t>(operand));
    buffer.dtype = dtype;
    buffer.filled = bytes;
  }
  return data;
}

ReadyCall::ReadyCall(const Case& c, Storage& storage, const Library& library)
    : call_(*c.call), library_(library), operands_(Operands(c)) {
  for (size_t i = 0; i < operands_.size(); ++i) {
    const Operand& one = operands_[i];
    data_.push_back(storage.For(static_cast<int>(i), one.dtype, one.elements));
    tensors_.push_back(aclCreateTensor(one.shape.data(), one.shape.size(), one.dtype, one.strides.data(), 0,
                                       ACL_FORMAT_ND, &one.elements, 1, data_.back()));
  }
}

ReadyCall::~ReadyCall() {
  for (const aclTensor* tensor : tensors_) aclDestroyTensor(tensor);
}

void ReadyCall::operator()() {
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  Check(call_.plan(tensors_.data(), &size, &executor));
  if (size > workspace_.size()) workspace_.resize(size);
  Check(call_.run(size > 0 ? workspace_.data() : nullptr, size, executor, library_.stream()));
  Check(aclrtSynchronizeStream(library_.stream()));
}

}  // namespace portacl::bench
