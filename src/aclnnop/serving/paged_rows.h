// Views of paged caches for operators of serving.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "aclnnop/jobs/dense_op_list.h"
#include "base/data_type.h"
#include "engine/serve/serve.h"

namespace portacl::serving {

inline constexpr DtypeSet kHalfAndBf16{ACL_FLOAT16, ACL_BF16};

inline const char* TextOr(const OperatorCall& call, int attribute, const char* otherwise) {
  const char* const text = call.attributes[static_cast<size_t>(attribute)].text;
  return text == nullptr ? otherwise : text;
}
inline aclnnStatus RefuseText(const Check& check, const OperatorCall& call, int attribute,
                              const char* accepted) {
  Text message =
      StartMessage(call).Add("parameter ").Add(call.attributes[static_cast<size_t>(attribute)].name);
  message.Add(" is \"").Add(TextOr(call, attribute, "")).Add("\", accepted: ").Add(accepted);
  return FailAclnn(check.code, message.Add(", or a null pointer."));
}

// Returns how many columns are adjacent in a cache with groups of 32 bytes.
inline int64_t GroupLength(aclDataType dtype) {
  constexpr int64_t kGroupBits = 256;
  return kGroupBits / static_cast<int64_t>(StorageBits(dtype));
}

// Returns the pages of a cache. Pages of a written cache keep their contents where nothing is written.
inline engine::PagedRows PagesOf(dense::DenseOpList& ops, const OperatorCall& call, int tensor, int64_t pages,
                                 int64_t slots, int64_t columns, bool is_grouped, bool is_written) {
  const aclDataType dtype = call.Tensor(tensor).dtype;
  engine::PagedRows made;
  made.buffer = is_written ? ops.Out(tensor, ACL_DT_UNDEFINED, /*keeps=*/true) : ops.In(tensor);
  made.pages = pages;
  made.slots = slots;
  made.columns = columns;
  made.group = is_grouped ? GroupLength(dtype) : columns;
  made.size = static_cast<int32_t>(StorageBits(dtype) / 8);
  made.is_there = true;
  return made;
}

}  // namespace portacl::serving
