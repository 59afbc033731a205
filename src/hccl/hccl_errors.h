// Error reports of the collective library: CANN's code and a message.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/errors.h"
#include "base/text.h"
#include "hccl/hccl_types.h"

namespace portacl::hccl {

// An error that cannot be reported at once; `code` is HCCL_SUCCESS if there is none.
struct Fault {
  HcclResult code = HCCL_SUCCESS;
  Text text;

  explicit operator bool() const noexcept { return code != HCCL_SUCCESS; }
};

// Report an error and return the code, so that a check reads `return Fail(...)`.
HcclResult Fail(HcclResult code, const Text& message) noexcept;
HcclResult RefuseNull(const char* api, const char* parameter, const char* expected) noexcept;
template <class Value>
HcclResult RefuseValue(const char* api, const char* parameter, const Value& value,
                       std::string_view accepted) noexcept {
  return Fail(HCCL_E_PARA,
              Text(api, ": parameter ", parameter, " has the value ", value, ", accepted: ", accepted, "."));
}
inline HcclResult Report(const char* api, const Fault& fault) noexcept {
  return Fail(fault.code, Text(api, ": ", fault.text.view()));
}

}  // namespace portacl::hccl
