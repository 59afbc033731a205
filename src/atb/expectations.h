// Refusals of parameters and tensors that an ATB operation does not take.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "atb/native_calls.h"

namespace atb {

inline std::string Number(int64_t value) { return std::to_string(value); }

// Refuses an unsupported value of a parameter's member.
void Accept(bool is_accepted, const char* member, int64_t value, const char* accepted);

// Refuse a tensor of another number of dims, and another size.
void ExpectRank(const Tensor& tensor, size_t rank, const char* name);
void ExpectSize(int64_t size, int64_t expected, const char* name);

}  // namespace atb
