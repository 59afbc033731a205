// Records calls: their arguments at the end of phase 1, and the content of tensors before and after the work
// of phase 2.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "acl/acl_base.h"

namespace portacl::record {

struct RecordedTensor {
  const void* handle = nullptr;  // nullptr: not given
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_ND;
  int64_t offset = 0;  // in elements, as strides
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  std::vector<int64_t> storage;
  bool is_countable = true;      // if false, the call does not look at the tensor
  bool is_shaped_later = false;  // its shape is known after the work
  bool is_plain = true;          // if false, its format and its strides describe different orders
};

struct RecordedArgument {
  std::string name;
  std::string value;  // JSON of anything but a tensor
  bool is_tensor = false;
  bool is_list = false;
  bool is_read = false;
  bool is_written = false;
  int first_operand = 0;
  std::vector<RecordedTensor> tensors;
};

struct RecordedCall {
  const char* api = "";
  int stack = -1;
  std::vector<RecordedArgument> arguments;
};

// Convert a float, exactly, or a text to JSON.
std::string JsonOf(double value);
std::string JsonOf(std::string_view text);

// Called at the end of phase 1; `slot` identifies the executor. Adds the call stack.
void CallIsMade(const void* slot, RecordedCall call) noexcept;
// Called for a copy that is one more run of a repeatable executor.
void RecordedCallIsCopied(const void* from, const void* to) noexcept;
// Called when the slot is free again.
void RecordedCallGoes(const void* slot) noexcept;

// The circumstances of a call's work.
struct CallWork {
  const void* slot;
  void* const* addresses;  // of its operands
  const bool* touched;
  int32_t device;
  int32_t stream;
  bool computes;  // if false, memory is not looked at
};

// A tensor whose shape the work has changed.
struct LaterShape {
  const void* handle;
  std::vector<int64_t> shape;
};

// A call during its work: constructed before it, ended after it.
class RunningCall {
 public:
  explicit RunningCall(const CallWork& work) noexcept;
  void Finish(const std::vector<LaterShape>& shapes) noexcept;

 private:
  CallWork work_;
  std::shared_ptr<const RecordedCall> call_;
  std::string json_;
};

}  // namespace portacl::record
