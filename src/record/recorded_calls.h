// What is recorded of calls: their arguments at the end of phase 1, what tensors hold before and after the work of phase 2.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "acl/acl_base.h"

namespace portacl::record {

struct RecordedTensor {
  const void* handle = nullptr;  // null: none is given
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_ND;
  int64_t offset = 0;  // in elements, as strides
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  std::vector<int64_t> storage;
  bool is_countable = true;      // else it is some tensor that the call does not look at
  bool is_shaped_later = false;  // the work says how long it is
  bool is_plain = true;          // else its format and its strides tell of two orders
};

struct RecordedArgument {
  std::string name;
  std::string value;  // JSON of what is no tensor
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

// A float as JSON, exactly; a text of JSON.
std::string JsonOf(double value);
std::string JsonOf(std::string_view text);

// The end of phase 1, by the slot of the executor. Adds the call stack.
void CallIsMade(const void* slot, RecordedCall call) noexcept;
// A copy for one more run of a repeatable one.
void RecordedCallIsCopied(const void* from, const void* to) noexcept;
// The slot is free.
void RecordedCallGoes(const void* slot) noexcept;

// Where the work of a call happens.
struct CallWork {
  const void* slot;
  void* const* addresses;  // of its operands
  const bool* touched;
  int32_t device;
  int32_t stream;
  bool computes;  // else memory is not looked at
};

// A tensor that the work gave another shape.
struct LaterShape {
  const void* handle;
  std::vector<int64_t> shape;
};

// A call while its work runs: made before it, ended after it.
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
