// Copies whole lines past the caches (see stream_lines.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/move/stream_lines.h"

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/move/stream_lines.cc"
#include "base/foreach_target.h"

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3

namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE void CopyLine(const char* source, char* destination) {
  const hn::CappedTag<uint8_t, 64> d;
  for (size_t i = 0; i < 64; i += hn::Lanes(d)) {
    hn::Stream(hn::LoadU(d, reinterpret_cast<const uint8_t*>(source) + i), d,
               reinterpret_cast<uint8_t*>(destination) + i);
  }
}

void CopyLines(const char* source, char* destination, int64_t bytes, int64_t ahead) {
  if (ahead == kNothingAhead) {
    for (int64_t i = 0; i < bytes; i += 64) CopyLine(source + i, destination + i);
    return;
  }
  for (int64_t i = 0; i < bytes; i += 64) {
    hwy::Prefetch(source + i + ahead);
    CopyLine(source + i, destination + i);
  }
}

void CopyRuns(const Runs& runs, int64_t ahead) {
  for (int64_t column = 0; column < runs.columns; ++column) {
    const char* run = runs.source + column * runs.from_column;
    char* target = runs.destination + column * runs.to_column;
    for (int64_t row = 0; row < runs.rows; ++row, run += runs.from_row, target += runs.to_row)
      CopyLines(run, target, runs.bytes, ahead);
  }
}

LineCopy LinesHere() { return CopyLines; }
RunCopy RunsHere() { return CopyRuns; }

#else

LineCopy LinesHere() { return nullptr; }
RunCopy RunsHere() { return nullptr; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_table.h"

namespace portacl::engine {

LineCopy FindLineCopy(Isa isa) noexcept {
  static constexpr auto kTable = PORTACL_ISA_TABLE(LinesHere);
  return kTable.For(isa)();
}
RunCopy FindRunCopy(Isa isa) noexcept {
  static constexpr auto kTable = PORTACL_ISA_TABLE(RunsHere);
  return kTable.For(isa)();
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
