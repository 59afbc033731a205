// Products with quantised weights (see quantised_product.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/quantised_product.h"

#include "base/data_type.h"
#include "base/float_environment.h"

namespace portacl::engine {

bool QuantisedGemmJob::Touches(int operand) const noexcept {
  return operand == gemm.left.argument || operand == gemm.out.argument || operand == weights.argument ||
         operand == weights.scale.argument || (weights.has_offset && operand == weights.offset.argument) ||
         (gemm.adds && operand == gemm.added.argument);
}

int64_t QuantisedGemmJob::Elements() const noexcept { return MultiplicationsOf(gemm); }

void QuantisedGemmJob::Run(void* const* addresses, void* workspace) const noexcept {
  const auto at = [&](const GroupNumbers& numbers) {
    return static_cast<const char*>(addresses[numbers.argument]) + numbers.first;
  };
  const QuantisedSource source{&weights,
                               static_cast<const char*>(addresses[weights.argument]),
                               at(weights.scale),
                               weights.has_offset ? at(weights.offset) : nullptr,
                               FindLoad(isa, ACL_INT8, ACL_FLOAT),
                               FindLoad(isa, weights.dtype, ACL_FLOAT),
                               static_cast<int32_t>(StorageBits(weights.dtype) / 8)};
  Gemm made = gemm;
  made.right = {};
  made.right.argument = weights.argument;
  made.right.dtype = ACL_FLOAT;
  made.right.quantised = &source;
  // Cutting the product computes in floating point, too.
  const DefaultFloatEnvironment environment;
  MakeGemmJob(made, isa, threads).Run(addresses, workspace);
}

}  // namespace portacl::engine
