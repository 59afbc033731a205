// The attention operations of ATB.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "atb/abi.h"
#include "atb/looked_up_arguments.h"
#include "atb/native_calls.h"

namespace atb {

// Refuse parameters that are not supported.
void Check(const infer::PagedAttentionParam& param);
void Check(const infer::SelfAttentionParam& param);
void Check(const MlaParam& param);
void Check(const RingMlaParam& param);

// Make the native calls.
void Make(const infer::PagedAttentionParam& param, const VariantPack& pack, Calls& calls);
void Make(const infer::SelfAttentionParam& param, const VariantPack& pack, Calls& calls);
void Make(const MlaParam& param, const VariantPack& pack, Calls& calls);
void Make(const RingMlaParam& param, const VariantPack& pack, Calls& calls);

}  // namespace atb
