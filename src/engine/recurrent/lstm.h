// Long short-term memory over sequences, forward and backward: products of matrices for all steps at once where they can be, then the
// steps, one after the other (docs/numerics.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_base.h"
#include "acl/isa.h"
#include "aclnn/executor.h"
#include "engine/map/formula.h"

namespace portacl::engine {

// Where a tensor's elements lie, in bytes: up to three dims, the last ones in the last places. FLOAT or FLOAT16.
struct RecurrentOperand {
  int32_t operand = -1;  // of the executor; -1: there is none
  aclDataType dtype = ACL_FLOAT;
  int64_t offset = 0;
  int64_t stride[3] = {};
};

struct LstmSizes {
  int64_t steps;
  int64_t batch;
  int64_t inputs;
  int64_t hidden;
  int64_t layers;
  int64_t directions;
  bool has_bias;

  int64_t cells() const { return layers * directions; }
  int64_t parameters() const { return has_bias ? 4 : 2; }
  // What a layer reads, and what it writes.
  int64_t InputsOf(int64_t layer) const { return layer == 0 ? inputs : Outputs(); }
  int64_t Outputs() const { return directions * hidden; }
};

// What every step saves for the gradient, in the order of the lists.
enum LstmSaved { kSavedI, kSavedG, kSavedF, kSavedO, kSavedH, kSavedC, kSavedTanhC };
inline constexpr int kLstmSaved = 7;

// What forward and backward share; each is a job of an executor, in whose memory lie first the parameters of every cell (a layer's
// direction), then, where they are saved or read, kLstmSaved operands of every cell, then the gradients of parameters.
// Sequences have the dims steps, batch, numbers; states cells, batch, hidden.
struct LstmBase {
  LstmSizes sizes;
  RecurrentOperand input;
  RecurrentOperand h0;  // without one, 0
  RecurrentOperand c0;
  RecurrentOperand lengths;  // INT64, for each step: how many of the batch it is for; without one, all
  VectorFunction sigmoid;
  VectorFunction tanh;
  Isa isa;
  int threads;

  bool Touches(int) const noexcept { return false; }  // marked by who sets the job
};

struct Lstm : LstmBase {
  RecurrentOperand output;
  RecurrentOperand hy;
  RecurrentOperand cy;
  bool saves;

  uint64_t WorkspaceBytes() const noexcept;
  void Run(const JobContext& context) const noexcept;
};

struct LstmGradient : LstmBase {
  RecurrentOperand of_output;  // without one, 0
  RecurrentOperand of_hy;
  RecurrentOperand of_cy;
  RecurrentOperand of_input;
  RecurrentOperand of_h0;
  RecurrentOperand of_c0;

  uint64_t WorkspaceBytes() const noexcept;
  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
