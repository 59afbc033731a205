// The order in which programs count the tensors of a call: that of its C function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "aclnn/executor.h"

namespace portacl {

// The tensors of a C function, in its order.
struct TensorOrder {
  struct Tensor {
    int8_t parameter;  // index of Executor::parameters; kNone: the job does not know the tensor
    bool is_read;
    bool is_written;
  };
  static constexpr int8_t kNone = -1;

  Tensor tensors[kMaxParameters];
  int count;
};

// Finds the order for an executor. Returns 0 tensors for a function that it does not know.
using TensorOrderFunction = TensorOrder (*)(const Executor& executor) noexcept;
// Set when the library is loaded, by the part that knows the operators.
extern std::atomic<TensorOrderFunction> find_tensor_order;

}  // namespace portacl
