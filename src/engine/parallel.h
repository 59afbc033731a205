// Parallel loops over fixed blocks: the boundaries never depend on the number of threads, so neither do results.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace portacl::engine {

// Whether a block takes longer than to wake a helper, some 100 us. Loops of few short blocks mostly wake none.
enum class BlockLength : uint8_t { kShort, kLong };

// Calls body(context, block) once for every block in [0, blocks), on at most `threads` threads including the
// calling one, and returns when all are done. Up to as many threads as there are processors, no more help than
// the process's other threads leave processors; more are taken at their word. Blocks are taken one by one, so those
// that come share the work, however many; the calling thread waits for nobody who has not begun. It does everything
// itself when no thread can be had, and after fork (a pool does not survive one). Calls may come from any thread, also
// from tasks of the caller's own pool, and from several at once. `body` must not throw.
void ForEachBlock(int64_t blocks, int threads, void (*body)(const void* context, int64_t block),
                  const void* context, BlockLength length = BlockLength::kShort) noexcept;

template <class Body>
void ForEachBlock(int64_t blocks, int threads, const Body& body,
                  BlockLength length = BlockLength::kShort) noexcept {
  ForEachBlock(
      blocks, threads,
      [](const void* context, int64_t block) { (*static_cast<const Body*>(context))(block); }, &body, length);
}

}  // namespace portacl::engine
