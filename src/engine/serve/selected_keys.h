// Sparse attention, in which each query sees selected keys: ranking the keys of a sequence, and attending
// to the selected ones. Each is a listed op (OpList::Compute) with dense operands, trivially copyable. Keys
// have one head, which all heads of queries share; AttendToHeads has several.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"
#include "engine/route/route.h"

namespace portacl::engine {

// The rows of sequences. They are batches of `rows` rows each, of which `length` may say that fewer belong to
// the sequence; or packed, with `length` the rows up to the end of each; or in pages of a cache.
struct SequenceRows {
  enum class Layout : uint8_t { kBatches, kPacked, kPaged };
  Layout layout = Layout::kBatches;
  OptionalBuffer length;  // INT64
  BufferRef table;        // INT64, batches x `rows`: pages
  int64_t batches = 0;
  int64_t rows = 0;  // of a batch; of all packed sequences; columns of the table
  int64_t pages = 0;
  int64_t slots = 0;  // of a page

  // A sequence's first row in memory, if it is not paged, and its length.
  struct Part {
    int64_t batch;
    int64_t first;
    int64_t count;
  };
  Part PartOf(const JobContext& context, int64_t batch) const noexcept;
  // Returns the sequence of a row in memory; `count` is 0 if the row belongs to none.
  Part PartWith(const JobContext& context, int64_t row) const noexcept;
  // Returns the row in memory of a row of a sequence, or -1 if its page does not exist.
  int64_t RowOf(const JobContext& context, const Part& part, int64_t row) const noexcept;
  // The most rows of a sequence.
  int64_t Most() const noexcept { return layout == Layout::kPaged ? rows * slots : rows; }
};

// The functions of this file that are compiled for each instruction set. They take multiples of 16 numbers.
struct SelectedKeysFunctions {
  float (*dot)(const float* a, const float* b, int64_t n);
  void (*add)(const float* x, float factor, float* to, int64_t n);  // to += factor * x
  float (*sum)(const float* values, int64_t n);
  void (*exponential)(float* values, int64_t n);  // of any number
};
SelectedKeysFunctions SelectedKeysFunctionsOf(Isa isa) noexcept;

// Lists for each query the keys with the greatest scores, in descending order. A score is the sum over heads
// of weight * relu(query * key), where the product of quantised rows is multiplied by their scales.
struct RankKeys {
  SequenceRows queries, keys;
  NumberRows query;        // rows x heads x depth
  NumberRows key;          // rows x depth
  NumberRows weight;       // rows x heads
  NumberRows query_scale;  // rows x heads
  NumberRows key_scale;    // rows
  BufferRef index;         // INT32, rows x count: keys, -1 behind the last one
  NumberRows to;           // scores, -infinity behind the last one; may be missing
  int64_t rows, heads, depth, count;
  bool is_causal;  // a query does not see keys behind its own position, counted from the end
  SelectedKeysFunctions functions;
  BufferRef work;  // WorkBytes
  int threads;

  int64_t Blocks() const noexcept;
  int64_t NumbersOfBlock() const noexcept;
  int64_t WorkBytes() const noexcept { return Blocks() * NumbersOfBlock() * int64_t{sizeof(float)}; }
  void Run(const JobContext& context) const noexcept;
};

// Attends to the keys of chosen blocks. A value is the first `value_depth` elements of its key.
struct AttendToBlocks {
  SequenceRows queries, keys;
  NumberRows query;                 // rows x heads x depth
  NumberRows query_rope, key_rope;  // further elements of queries and keys; may be missing
  NumberRows key;                   // rows x depth
  // Or each key's row has, side by side, INT8 elements, further elements, and a FLOAT scale for each
  // `tile` INT8 elements. `key_rope` then is at the row's element `value_depth`.
  int64_t tile = 0;
  int64_t row_bytes = 0;
  BufferRef index;  // INT32, rows x count: blocks of keys, up to the first -1
  int64_t count, block;
  NumberRows sink;          // a score of each head that only adds to the sum of exponentials
  NumberRows to;            // rows x heads x value_depth
  OptionalBuffer greatest;  // FLOAT, rows x heads
  BufferRef sum;            // likewise, if that is there
  int64_t rows, heads, depth, rope_depth, value_depth;
  float scale;
  bool is_causal;
  SelectedKeysFunctions functions;
  BufferRef work;  // WorkBytes
  int threads;

  int64_t MostKeys() const noexcept { return count * block; }
  int64_t Depth() const noexcept { return (depth + rope_depth + 15) / 16 * 16; }
  int64_t ValueDepth() const noexcept { return (value_depth + 15) / 16 * 16; }
  int64_t Blocks() const noexcept;
  int64_t NumbersOfBlock() const noexcept;
  int64_t WorkBytes() const noexcept { return Blocks() * NumbersOfBlock() * int64_t{sizeof(float)}; }
  void LoadKey(const JobContext& context, int64_t row, float* to) const noexcept;
  // Lists the rows in memory of the keys that a query sees, as INT64, and returns how many they are.
  int64_t Choose(const JobContext& context, int64_t row, char* chosen) const noexcept;
  // Makes scores of a head the weights of values, and stores the head's statistics.
  void Weigh(const JobContext& context, int64_t row, int64_t head, int64_t found,
             float* scores) const noexcept;
  void Run(const JobContext& context) const noexcept;
};

// Attends to the keys of chosen blocks, head by head. Heads of keys may each serve several of queries.
struct AttendToHeads {
  SequenceRows queries, keys;
  NumberRows query, key, value;  // rows x heads x depth
  // Blocks are listed, for each row and head of keys; or marked, for each batch, head, block of queries and
  // block of keys.
  OptionalBuffer index;  // INT32, rows x key_heads x count: blocks; those below 0 are passed over
  BufferRef mark;        // INT8: 1 for a block that is seen
  int64_t count;         // of listed blocks; of marked blocks of keys
  int64_t query_blocks;  // of `mark`
  int64_t query_block, key_block;
  NumberRows to;
  // FLOAT, rows x heads x copies: of scores, of exponentials, and the logarithm of the sum of the scores' own.
  OptionalBuffer greatest, sum, log_sum;
  int64_t copies;
  int64_t rows, heads, key_heads, depth, value_depth;
  float scale;
  bool is_causal;     // a query does not see keys behind its own position
  bool from_the_end;  // that is counted from the end
  SelectedKeysFunctions functions;
  float (*log_sum_of)(float greatest, float sum);
  BufferRef work;  // WorkBytes
  int threads;

  int64_t MostKeys() const noexcept { return index.is_there ? count * key_block : keys.Most(); }
  int64_t Depth() const noexcept { return (depth + 15) / 16 * 16; }
  int64_t ValueDepth() const noexcept { return (value_depth + 15) / 16 * 16; }
  int64_t Blocks() const noexcept;
  int64_t NumbersOfBlock() const noexcept;
  int64_t WorkBytes() const noexcept { return Blocks() * NumbersOfBlock() * int64_t{sizeof(float)}; }
  // Lists the rows in memory of the keys that head `item % heads` of a query sees, as INT64, and returns how
  // many they are.
  int64_t Choose(const JobContext& context, int64_t item, char* chosen) const noexcept;
  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
