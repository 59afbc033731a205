// The common part of all recurrent networks, forward and backward: sizes and operands.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_base.h"
#include "base/isa.h"
#include "engine/job.h"
#include "engine/map/formula.h"

namespace portacl::engine {

// The layout of a tensor's elements, in bytes: up to three dims, the last ones at the end of the arrays.
// FLOAT or FLOAT16.
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
  // The number of a layer's inputs and outputs.
  int64_t InputsOf(int64_t layer) const { return layer == 0 ? inputs : Outputs(); }
  int64_t Outputs() const { return directions * hidden; }
};

// The common part of the forward and the backward job. The executor's memory lists operands: first the
// parameters of every cell (a layer's direction), then the lists that each step of a cell saves for the
// gradient (if they are saved or read), then the gradients of parameters. Sequences have the dims steps,
// batch, numbers; states have cells, batch, hidden.
struct Recurrent {
  RecurrentSizes sizes;
  RecurrentOperand input;
  RecurrentOperand h0;       // 0 if missing
  RecurrentOperand lengths;  // INT64, for each step the size of its batch; if missing, all
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
  RecurrentOperand of_output;  // 0 if missing
  RecurrentOperand of_hy;
  RecurrentOperand of_input;
  RecurrentOperand of_h0;
};

}  // namespace portacl::engine
