// The memory of a random program: what it must contain is computed anew from the list of what was done to it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "operator_calls.h"
#include "support/guarded_buffer.h"

namespace portacl::testing {

using Dims = std::vector<int64_t>;

// Ends the process with a message where a promise of the library is broken.
[[noreturn]] void Broken(const char* promise, const char* detail = "");

// Bytes of an element; 0 for dtypes that no operator reads or writes.
int64_t BytesOf(int32_t dtype);

int64_t CountOf(const Dims& dims);

// An operand's elements in row-major order, as offsets into a buffer.
struct Elements {
  int32_t dtype = ACL_FLOAT;
  Dims shape;
  int buffer = -1;       // -1: no data
  bool is_given = true;  // false: the tensor was a null pointer, as optional ones may be
  std::vector<int64_t> offset;

  bool operator==(const Elements&) const = default;
};

// Buffers end (and where they are on the heap, begin) where a sanitizer or a guard page notices every access outside.
// What happens to their contents is recorded in the order in which it takes effect. Verify then does it again, call
// by call, on copies: every operator on dense tensors of its own. Equal contents prove the results, and that nothing
// else was written, by calls that succeeded or failed, at any time.
class ShadowMemory {
 public:
  // -1 when the program has had its share of memory.
  int Allocate(int64_t bytes, bool guard_pages, int misalignment, uint64_t seed, int32_t dtype);

  int count() const { return static_cast<int>(buffers_.size()); }
  char* data(int buffer) const { return At(buffer).data; }
  int64_t size(int buffer) const { return At(buffer).size; }

  // What was submitted. `undefined`: the output overlaps an input or itself, so that its elements may be anything
  // (and no host or stream may use it until the caller has synchronised and called Settle).
  // `has_device`: whether the thread that planned it had one.
  void Call(const OperatorCall& op, const CallAttributes& attributes, std::vector<Elements> operands,
            bool has_device);
  void Copy(int to, int64_t to_offset, int from, int64_t from_offset, int64_t bytes);
  void Fill(int to, int64_t offset, int64_t bytes, uint8_t value);

  // Whether these elements may hold NaN that were written as another type: which bits a NaN has is not promised, so
  // Settle has to be called before they are read.
  bool NeedsSettling(int buffer, int32_t dtype, int64_t offset) const;
  // Whether what is written from `offset` on overwrites a part of such an element: a NaN whose rest stays is a number.
  bool CutsElement(int buffer, int64_t offset) const;

  // Takes the buffer's contents as they are, after comparing them, but for the elements that may be anything. Nothing
  // may be running on it.
  void Settle(int buffer, const Elements* anything = nullptr);

  // The whole replay. The library must be initialised and have a device.
  void Verify();

 private:
  struct Grid {
    int32_t component = -1;  // dtype whose NaN have any bits; -1: all bits count
    int64_t phase = 0;
  };
  struct Buffer {
    std::unique_ptr<char[]> heap;
    std::unique_ptr<GuardedBuffer> guarded;
    char* data = nullptr;
    int64_t size = 0;
    Grid grid;
    std::vector<char> shadow;
  };
  struct Record {
    enum class Kind { kCall, kCopy, kFill, kSettle } kind = Kind::kCall;
    const OperatorCall* op = nullptr;
    CallAttributes attributes;
    std::vector<Elements> operands;  // of a call; of kSettle, the elements that may be anything
    bool has_device = true;
    int to = -1;
    int64_t to_offset = 0;
    int from = -1;
    int64_t from_offset = 0;
    int64_t bytes = 0;
    uint8_t value = 0;
    Grid grid;
    std::vector<char> contents;
  };

  const Buffer& At(int buffer) const { return buffers_[static_cast<size_t>(buffer)]; }
  Buffer& At(int buffer) { return buffers_[static_cast<size_t>(buffer)]; }
  static Grid GridOf(int32_t dtype, int64_t offset);
  void Replay(const Record& record);
  void ReplayCall(const Record& record);
  // The calls whose output was there before, for a message.
  std::string WritersOf(const Record& settled) const;

  std::vector<Buffer> buffers_;
  std::vector<Record> records_;
  int64_t allocated_ = 0;
};

}  // namespace portacl::testing
