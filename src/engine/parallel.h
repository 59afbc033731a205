// Parallel loops over fixed blocks. Boundaries never depend on the number of threads, so that results do not
// either.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace portacl::engine {

// Tells whether a block takes longer than waking a helper, some 100 us. Loops of few short blocks mostly wake none.
enum class BlockLength : uint8_t { kShort, kLong };

// Calls body(context, block) once for every block in [0, blocks), and returns when all are done. It uses at
// most `threads` threads, including the calling one. Up to the number of processors, it uses only as many
// helpers as the process's other threads leave processors; a larger `threads` is taken literally. Blocks are
// taken one by one, so that threads share the work however many join. The calling thread waits only for
// helpers that have begun. It does everything itself if no thread is available, and after fork, which a pool
// does not survive. Calls may come from any thread, also from tasks of the caller's own pool, and
// concurrently. `body` must not throw.
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
