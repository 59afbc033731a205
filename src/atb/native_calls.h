// The native operators that an ATB operation calls, in order, on one stream.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "atb/abi.h"

namespace atb {

using Shape = std::vector<int64_t>;

// Thrown to stop building calls: a status code, and a sentence for the log.
struct Refusal {
  Status status;
  std::string sentence;
};

// Throws Refusal.
[[noreturn]] void Refuse(Status status, std::string sentence);

// Collects calls, and then either measures their workspace or queues them. Temporaries lie at the start of
// the workspace. The calls' own workspaces follow, one after the other.
class Calls {
 public:
  using PhaseOne = std::function<aclnnStatus(uint64_t*, aclOpExecutor**)>;
  using PhaseTwo = aclnnStatus (*)(void*, uint64_t, aclOpExecutor*, aclrtStream);

  // Pass null as `workspace` to measure it only: temporaries then get the address of `any`, a tensor on the
  // device.
  Calls(uint8_t* workspace, const Tensor& any, aclrtStream stream) noexcept;
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;
  ~Calls();

  // Tensors live until the calls are queued.
  //
  // Returns a view of a tensor's memory. It is contiguous unless strides, in elements, are given.
  aclTensor* View(const Tensor& tensor, const Shape& shape);
  aclTensor* View(const Tensor& tensor, const Shape& shape, const Shape& strides);
  aclTensor* View(const Tensor& tensor);
  // Allocates memory in the workspace and returns a tensor of the shape over it.
  Tensor Temporary(const Shape& shape, aclDataType dtype);
  aclTensorList* List(const std::vector<aclTensor*>& tensors);
  aclIntArray* Integers(const std::vector<int64_t>& values);
  aclScalar* Number(double value);
  // Reads the integers of a host tensor. Reads those of a device tensor after the work queued so far.
  std::vector<int64_t> HostIntegers(const Tensor& tensor, const char* name);

  // Adds a call through both phases of an aclnn function.
  void Add(PhaseOne first, PhaseTwo second);

  // Returns the bytes of workspace. Throws Refusal where an operator refuses its arguments.
  uint64_t Measure();
  // Queues all calls on the stream. Throws Refusal at the first failure: calls that were queued before it
  // still run.
  void Queue(uint64_t workspace_size);

 private:
  struct Call {
    PhaseOne first;
    PhaseTwo second;
  };

  uint8_t* workspace_;
  void* any_;
  aclrtStream stream_;
  uint64_t temporaries_ = 0;
  std::vector<Call> calls_;
  std::vector<aclTensor*> tensors_;
  std::vector<aclTensorList*> lists_;
  std::vector<aclIntArray*> arrays_;
  std::vector<aclScalar*> scalars_;
};

Shape ShapeOf(const Tensor& tensor);
int64_t ElementsOf(const Shape& shape) noexcept;
bool IsThere(const Tensor& tensor) noexcept;

// Adds the call of an aclnn function: PORTACL_ATB_CALL(calls, aclnnAdd, self, other, alpha, out).
#define PORTACL_ATB_CALL(calls, function, ...)                          \
  (calls).Add(                                                          \
      [=](uint64_t* size, aclOpExecutor** executor) {                   \
        return function##GetWorkspaceSize(__VA_ARGS__, size, executor); \
      },                                                                \
      function)

}  // namespace atb
