// Where numbers would be inserted into ascending ones, by bisection.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "engine/place.h"

namespace portacl::engine {

// Trivially copyable, so that a job can hold it. Everything is dense. Sequences that do not ascend are bisected alike.
struct Search {
  aclDataType dtype;  // of the sequences and the numbers: FLOAT, DOUBLE or an integer
  int64_t rows;       // sequences, each with its own numbers
  int64_t length;     // of a sequence
  int64_t numbers;    // for each
  bool is_right;      // behind those that are equal, else before them
  bool is_wide;       // places are INT64, else INT32
  bool has_order;     // sequences are read through `order`, INT64 places in them
  bool raises;        // a bad one of those fails the stream; else it names something less than every number
  Place sequence;
  Place order;
  const char* order_name;
  Place number;
  Place places;
  int threads;

  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
