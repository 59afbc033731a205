// A case ready to be called: the library started, operands filled, tensors made.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "acl/acl.h"
#include "cases.h"

namespace portacl::bench {

// Throws what the library says about a status that is not success.
void Check(int status);

// The library with a given number of threads, and a stream.
class Library {
 public:
  Library() = default;
  ~Library() { Stop(); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // Blocking, the calling thread computes; otherwise larger calls are handed to the stream's worker.
  void Use(int threads, bool blocking);
  aclrtStream stream() const { return stream_; }

 private:
  void Stop();

  int threads_ = 0;
  bool blocking_ = false;
  aclrtStream stream_ = nullptr;
};

// Storage of the operands, used by one case after the other and filled anew only where the type changes.
class Storage {
 public:
  std::byte* For(int operand, aclDataType dtype, int64_t elements);

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  struct Buffer {
    std::unique_ptr<std::byte, Free> memory;
    size_t bytes = 0;
    size_t filled = 0;
    aclDataType dtype = ACL_DT_UNDEFINED;
  };

  std::map<int, Buffer> buffers_;
};

// Both phases, and waiting for the stream.
class ReadyCall {
 public:
  ReadyCall(const Case& c, Storage& storage, const Library& library);
  ~ReadyCall();
  ReadyCall(const ReadyCall&) = delete;
  ReadyCall& operator=(const ReadyCall&) = delete;

  void operator()();

  const std::vector<Operand>& operands() const { return operands_; }
  const std::vector<std::byte*>& data() const { return data_; }

 private:
  const LossCall& call_;
  const Library& library_;
  std::vector<Operand> operands_;
  std::vector<std::byte*> data_;
  std::vector<aclTensor*> tensors_;
  std::vector<std::byte> workspace_;
};

}  // namespace portacl::bench
