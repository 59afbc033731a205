// Computes tiles of products of INT8 (see byte_tile.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/byte_tile.h"

#include <algorithm>

#include "engine/gemm/byte_pack.h"
#include "engine/gemm/finish.h"

namespace portacl::engine::gemm_tile {
namespace {

// Rows whose sums are finished while they are in a cache.
constexpr int64_t kRowsOfFinish = 64;

}  // namespace

void RunBytes(const GemmJob& job, const Tile& tile, uint32_t* left, uint32_t* right, float* sums,
              int64_t sums_row) {
  const ByteKernels& bytes = *job.byte_kernels;
  const int64_t width = job.kernels->columns;
  const WordSource rows = WordsOf(job, job.gemm.left.row, job.gemm.left.column, 1);
  const WordSource columns = WordsOf(job, job.gemm.right.column, job.gemm.right.row, 1);
  const bool is_one_block = job.gemm.depth <= kByteDepth;
  bytes.begin();
  for (int64_t term = 0; term < job.gemm.depth; term += kByteDepth) {
    const int64_t depth = std::min(kByteDepth, job.gemm.depth - term);
    const bool finishes = !job.is_direct && term + depth == job.gemm.depth;
    const int64_t together = (finishes ? kRowsOfFinish : kMostRowsTogether) / bytes.rows * bytes.rows;
    const int64_t panel_row = bytes.WordsOf(depth);
    PackBytePanels(columns, bytes, tile.right + term * columns.term, tile.columns, depth, width, right);
    for (int64_t row = 0; row < tile.rows; row += together) {
      const int64_t count = std::min(together, tile.rows - row);
      // Divides the rows evenly among calls of the kernel. A kernel that always takes all rows gets as many as it can.
      const int64_t each =
          bytes.takes_all_rows ? bytes.rows : DividedUp(count, DividedUp(count, int64_t{bytes.rows}));
      PackByteRows(rows, bytes, tile.left + row * rows.line + term * rows.term, count, depth, left);
      // Sums that no other block adds to are finished before the next rows take their place.
      float* const of_rows = sums + (finishes && is_one_block ? 0 : row * sums_row);
      for (int64_t column = 0; column < tile.columns; column += width) {
        const uint32_t* const panel = right + column * panel_row;
        for (int64_t at = 0; at < count; at += each) {
          bytes.multiply({left + at * kPackedRow, panel, of_rows + at * sums_row + column, sums_row,
                          std::min(each, count - at), std::min(width, tile.columns - column), width, depth,
                          term > 0, false});
        }
      }
      if (finishes) Finish(job, RowsOf(job, tile, row, count), of_rows, sums_row);
    }
  }
  bytes.end();
  if (job.gemm.depth == 0 && !job.is_direct) Finish(job, tile, sums, sums_row);
}

void RunByteLines(const GemmJob& job, const Tile& tile, uint32_t* left, float* sums) {
  const ByteKernels& bytes = *job.byte_kernels;
  const WordSource rows = WordsOf(job, job.gemm.left.row, job.gemm.left.column, 1);
  for (int64_t term = 0; term < job.gemm.depth; term += kByteDepth) {
    const int64_t depth = std::min(kByteDepth, job.gemm.depth - term);
    PackByteRows(rows, bytes, tile.left + term * rows.term, 1, depth, left + term / kByteDepth * kPackedRow);
  }
  for (int64_t column = 0; column < tile.columns; column += kColumnsAcross) {
    const int64_t count = std::min(kColumnsAcross, tile.columns - column);
    const char* const right = tile.right + column * job.gemm.right.column;
    for (int64_t term = 0; term < job.gemm.depth; term += kByteDepth) {
      bytes.multiply_lines(left + term / kByteDepth * kPackedRow, right + term, job.gemm.right.column,
                           std::min(kByteDepth, job.gemm.depth - term), count, sums + column, term > 0);
    }
  }
}

}  // namespace portacl::engine::gemm_tile
