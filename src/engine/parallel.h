// Parallel loops over fixed blocks: the boundaries never depend on the number of threads, so neither do
// results.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace portacl::engine {

// Calls body(context, block) once for every block in [0, blocks), on at most `threads` threads including the
// calling one, and returns when all are done. The calling thread does everything itself when that is cheaper,
// when no thread can be had, after fork (a thread pool does not survive one) and while the process ends. Safe inside a task of the
// caller's own TBB arena. `body` must not throw.
void ForEachBlock(int64_t blocks, int threads, void (*body)(const void* context, int64_t block),
                  const void* context) noexcept;

template <class Body>
void ForEachBlock(int64_t blocks, int threads, const Body& body) noexcept {
  ForEachBlock(
      blocks, threads,
      [](const void* context, int64_t block) { (*static_cast<const Body*>(context))(block); }, &body);
}

}  // namespace portacl::engine
