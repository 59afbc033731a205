// The functions of acl_rt.h on system parameters (see acl/settings/system_parameters.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/acl_rt.h"
#include "acl/device/device.h"
#include "acl/settings/system_parameters.h"
#include "base/errors.h"

namespace portacl {
namespace {

SystemParameters of_process;

aclError CheckOption(const char* api, aclSysParamOpt option) noexcept {
  const int number = static_cast<int>(option);
  if (number >= 0 && number < SystemParameters::kCount) return ACL_SUCCESS;
  return FailValue(api, "opt", number, "0 to 3", ACL_ERROR_INVALID_PARAM);
}

// Determinism has four levels; the other options are switches.
aclError CheckValue(const char* api, aclSysParamOpt option, int64_t value) noexcept {
  const int64_t most = option == ACL_OPT_DETERMINISTIC ? 3 : 1;
  if (value >= 0 && value <= most) return ACL_SUCCESS;
  return FailValue(api, "value", value,
                   most == 3 ? "0 to 3 for ACL_OPT_DETERMINISTIC" : "0 or 1 for this option");
}

}  // namespace
}  // namespace portacl

using namespace portacl;

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  const char* const api = "aclrtSetSysParamOpt";
  if (aclError status = CheckOption(api, opt)) return status;
  if (aclError status = CheckValue(api, opt, value)) return status;
  of_process.Set(opt, value);
  return ACL_SUCCESS;
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  const char* const api = "aclrtGetSysParamOpt";
  if (aclError status = CheckOption(api, opt)) return status;
  if (value == nullptr) return FailNullPointer(api, "value", "the address of an int64_t");
  const int64_t kept = of_process.Get(opt);
  *value = kept == SystemParameters::kNotSet ? 0 : kept;
  return ACL_SUCCESS;
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  const char* const api = "aclrtCtxSetSysParamOpt";
  if (aclError status = CheckOption(api, opt)) return status;
  if (aclError status = CheckValue(api, opt, value)) return status;
  Context* context = CurrentContext();
  if (context == nullptr) return FailNoDevice(api);
  context->system_parameters.Set(opt, value);
  return ACL_SUCCESS;
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  const char* const api = "aclrtCtxGetSysParamOpt";
  if (aclError status = CheckOption(api, opt)) return status;
  if (value == nullptr) return FailNullPointer(api, "value", "the address of an int64_t");
  const Context* context = CurrentContext();
  if (context == nullptr) return FailNoDevice(api);
  const int64_t kept = context->system_parameters.Get(opt);
  if (kept == SystemParameters::kNotSet) {
    return FailValue(api, "opt", static_cast<int>(opt),
                     "an option that aclrtCtxSetSysParamOpt set in this context",
                     ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
  }
  *value = kept;
  return ACL_SUCCESS;
}
