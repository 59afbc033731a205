// Sends rows to the ranks of their experts and back. Each is a listed op (OpList::Compute) and trivially copyable.
// Operands are dense.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/buffer_ref.h"
#include "engine/conversions.h"
#include "engine/route/route.h"

namespace portacl::engine {

// The ranks and experts to which the entries of this rank are sent. Entry t * (choices + shared) + j is choice j of token t. After
// the choices follow shared experts, to which every active token is sent. The first ranks hold shared experts, the others
// `experts_of_rank` routed ones each.
struct RankRoutes {
  BufferRef expert;  // INT32, tokens x choices
  OptionalBuffer
      active;  // BOOL: of each choice, or the number of true ones is that of the first tokens that are active
  bool is_by_choice;
  int64_t tokens, choices;
  int64_t ranks, own;
  int64_t experts, experts_of_rank;
  int64_t special;  // experts behind the routed ones, to which nothing is sent
  int64_t shared, shared_ranks;
  // INT64 arrays in the workspace: the entries in the order in which they are sent (by rank, expert and entry); the
  // number of entries for each rank's experts; and the first entry of each, followed by the end of the last one.
  BufferRef order, count, begin;
  const char* name;
  bool raises;

  int64_t Columns() const { return choices + shared; }
  int64_t Entries() const { return tokens * Columns(); }
  int64_t Keys() const { return ranks * experts_of_rank; }
  // The number of experts here.
  int64_t OwnExperts() const { return own < shared_ranks ? 1 : experts_of_rank; }
  // Fills these arrays. Reports the first entry whose expert does not exist; such entries are not sent.
  void Plan(const JobContext& context) const;
  // Tells whether a token has an active choice.
  bool IsActive(const JobContext& context, int64_t token) const;
};

// Sends each entry's row to the rank of its expert, and writes the received rows in the order of (own expert, rank, entry).
// Two exchanges: counts, then rows.
struct DispatchRows {
  RankRoutes routes;
  BufferRef source;  // tokens x columns
  int64_t columns;
  int32_t size;       // bytes of a number
  LoadFunction load;  // of the source, to quantise it: INT8 by the greatest magnitude of a row
  bool quantises;
  OptionalBuffer scale;   // FLOAT rows, by which rows are multiplied before; the first ones of shared experts
  int64_t first_scale;    // row of the first routed expert
  OptionalBuffer factor;  // FLOAT of each choice
  int64_t capacity;       // rows of `to`
  BufferRef to;
  OptionalBuffer row_scale;  // FLOAT of each row
  OptionalBuffer to_factor;  // FLOAT of each row
  OptionalBuffer info;       // INT32: source rank, token and column of each row
  OptionalBuffer repeats;    // INT32 of each choice: how many choices before it have its expert
  BufferRef expert_count;    // INT64 of each own expert
  bool are_ends;             // sums up to each expert
  BufferRef received;        // INT32: sums of rows over (own expert, rank)
  OptionalBuffer other;      // INT32: the number of rows
  BufferRef send, came;      // records
  BufferRef words;           // WordsNeeded() words
  int threads;

  int64_t RecordBytes() const;
  int64_t WordsNeeded() const { return 7 * routes.Keys() + 4 * routes.ranks; }
  void Run(const JobContext& context) const noexcept;

 private:
  bool ExchangeCounts(const JobContext& context) const;
  void Pack(const JobContext& context, int64_t entry, char* record) const;
  bool ExchangeRows(const JobContext& context) const;
  void Unpack(const JobContext& context) const;
};

// Returns rows of experts to their tokens and sums them: the choices' rows times their factors, then shared ones.
// One exchange. The rows of inactive tokens are left unchanged, or become 0.
struct CombineRanks {
  RankRoutes routes;
  NumberRows source;  // source_rows x columns
  int64_t source_rows, columns;
  BufferRef received;  // INT32, as DispatchRows writes it
  BufferRef factor;    // FLOAT of each choice
  // Special experts return nothing, the token's own row, or alpha1 times that row plus alpha2 times a constant one.
  int64_t zeros, copies, constants;
  BufferRef token, alpha1, alpha2, constant_row;  // FLOAT; read where there are such experts
  OptionalBuffer added;                           // FLOAT: a row of each token
  bool clears;
  NumberRows to;
  BufferRef send, came;  // rows
  BufferRef words;       // WordsNeeded() words
  int threads;

  int64_t WordsNeeded() const { return routes.Entries() + 4 * routes.ranks; }
  void Run(const JobContext& context) const noexcept;

 private:
  bool Exchange(const JobContext& context) const;
  void Sum(const JobContext& context, int64_t row) const;
};

}  // namespace portacl::engine
