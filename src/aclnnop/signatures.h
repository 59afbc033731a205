// Lists the parameters of operators' C functions, as the schema says them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace portacl {

struct Parameter {
  std::string_view type;  // as the schema says it: "tensor", "tensors", "int64_t", "char*" ...
  std::string_view name;
  bool is_read;
  bool is_written;
};

// The parameters of a C function, one by one.
class Signature {
 public:
  // Has no parameters if there is no function of this name.
  explicit Signature(std::string_view api) noexcept;

  // Takes the next parameter. Returns false if there is none.
  bool Next(Parameter* parameter) noexcept;

 private:
  std::string_view rest_;
};

// Tells whether a function writes a parameter, in place or not.
bool IsWritten(std::string_view api, std::string_view parameter) noexcept;

}  // namespace portacl
