// The instruction set that runs (see isa_in_use.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/isa_in_use.h"

#include <atomic>

#include "acl/settings/configuration.h"

namespace portacl::engine {
namespace {
std::atomic<Isa> last_run{Isa::kPortable};
}

Isa IsaInUse() noexcept { return CurrentConfiguration().isa; }
Isa IsaThatRanLast() noexcept { return last_run.load(std::memory_order_relaxed); }

void ReportIsaThatRan(Isa isa) noexcept {
  // Stores only changes; otherwise the cache line would bounce between threads at every call.
  if (last_run.load(std::memory_order_relaxed) != isa) last_run.store(isa, std::memory_order_relaxed);
}

}  // namespace portacl::engine
