// Packing of INT8 operands as the kernels for words of four terms read them (see byte_kernel.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/gemm/byte_kernel.h"
#include "engine/gemm/word_pack.h"

namespace portacl::engine {

// Packs `depth` terms of each line, at most kByteDepth. Packed rows are kPackedRow words apart.
void PackByteRows(const WordSource& source, const ByteKernels& kernels, const char* first, int64_t lines,
                  int64_t depth, uint32_t* to) noexcept;
// Packs panels of `width` lines, with a line's words `width` apart.
void PackBytePanels(const WordSource& source, const ByteKernels& kernels, const char* first, int64_t lines,
                    int64_t depth, int64_t width, uint32_t* to) noexcept;

}  // namespace portacl::engine
