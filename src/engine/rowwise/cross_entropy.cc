// Runs the two jobs of a cross entropy (see cross_entropy.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/rowwise/cross_entropy.h"

#include <algorithm>
#include <cstring>

namespace portacl::engine {

void CrossEntropy::Run(const JobContext& context) const noexcept {
  void* addresses[kFewOperands + 1];
  std::copy_n(context.addresses, workspace_operand, addresses);
  addresses[workspace_operand] = context.workspace;
  JobContext own = context;
  own.addresses = addresses;
  if (is_gradient) loss.Run(own);
  if (has_rows) rows.Run(addresses, static_cast<char*>(context.workspace));
  if (!is_gradient) loss.Run(own);
}

void CrossEntropyJob::Run(const JobContext& context) const noexcept {
  reinterpret_cast<const CrossEntropy*>(context.memory)->Run(context);
}

CrossEntropyJob MakeCrossEntropyJob(JobMemory& memory, const CrossEntropy& both, uint32_t touched) noexcept {
  auto* const held = memory.ReserveMemory(sizeof both);
  if (held == nullptr) return {};
  std::memcpy(held, &both, sizeof both);
  const int64_t elements = both.loss.rows * both.loss.classes;
  return {touched & ((1u << both.workspace_operand) - 1), elements};
}

}  // namespace portacl::engine
