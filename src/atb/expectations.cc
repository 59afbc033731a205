// Refusals of parameters and tensors (see expectations.h).
// SPDX-License-Identifier: Apache-2.0
#include "atb/expectations.h"

namespace atb {

void Accept(bool is_accepted, const char* member, int64_t value, const char* accepted) {
  if (!is_accepted)
    Refuse(kInvalidParam,
           std::string(member) + " has the value " + Number(value) + ", accepted: " + accepted);
}

void ExpectRank(const Tensor& tensor, size_t rank, const char* name) {
  const Shape shape = ShapeOf(tensor);
  if (shape.size() != rank) {
    Refuse(kInvalidTensorDim, std::string(name) + " has " + Number(static_cast<int64_t>(shape.size())) +
                                  " dims, accepted: " + Number(static_cast<int64_t>(rank)));
  }
}

void ExpectSize(int64_t size, int64_t expected, const char* name) {
  if (size != expected)
    Refuse(kInvalidTensorSize, std::string(name) + " is " + Number(size) + ", expected " + Number(expected));
}

}  // namespace atb
