// Finds the positions at which numbers would be inserted into ascending sequences, by bisection.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "engine/buffer_ref.h"

namespace portacl::engine {

// Trivially copyable, so that a job can hold it. Everything is dense. Sequences that do not ascend are
// bisected as well.
struct Search {
  aclDataType dtype;  // of the sequences and the numbers: FLOAT, DOUBLE or an integer
  int64_t rows;       // sequences, each with its own numbers
  int64_t length;     // of a sequence
  int64_t numbers;    // of each row
  bool is_right;      // inserts after equal ones, else before them
  bool is_wide;       // positions are INT64, else INT32
  bool has_order;     // sequences are read through `order`, which holds INT64 indices
  // A bad index in `order` fails the stream; it counts as less than every number in any case.
  bool raises;
  BufferRef sequence;
  BufferRef order;
  const char* order_name;
  BufferRef number;
  BufferRef positions;
  int threads;

  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
