// What every recurrent network has, forward and backward, whatever its cells compute: sizes, and where its tensors lie.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_base.h"
#include "acl/isa.h"
#include "engine/job.h"
#include "engine/map/formula.h"

namespace portacl::engine {

// Where a tensor's elements lie, in bytes: up to three dims, the last ones in the last places. FLOAT or FLOAT16.
struct RecurrentOperand {
  int32_t operand = -1;  // of the executor; -1: there is none
  aclDataType dtype = ACL_FLOAT;
  int64_t offset = 0;
  int64_t stride[3] = {};
};

struct RecurrentSizes {
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

// What forward and backward share; each is a job of an executor, in whose memory lie first the parameters of every cell (a layer's
// direction), then, where they are saved or read, what every step of a cell saves for the gradient, one operand for each of its
// lists, then the gradients of parameters.
// Sequences have the dims steps, batch, numbers; states cells, batch, hidden.
struct Recurrent {
  RecurrentSizes sizes;
  RecurrentOperand input;
  RecurrentOperand h0;       // without one, 0
  RecurrentOperand lengths;  // INT64, for each step: how many of the batch it is for; without one, all
  VectorFunction sigmoid;
  VectorFunction tanh;
  Isa isa;
  int threads;

  bool Touches(int) const noexcept { return false; }  // marked by who sets the job
};

struct RecurrentForward : Recurrent {
  RecurrentOperand output;
  RecurrentOperand hy;
  bool saves;
};

struct RecurrentGradient : Recurrent {
  RecurrentOperand of_output;  // without one, 0
  RecurrentOperand of_hy;
  RecurrentOperand of_input;
  RecurrentOperand of_h0;
};

}  // namespace portacl::engine
