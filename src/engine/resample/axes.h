// Elements taken, or summed with weights, along up to three axes of a tensor, with a map for each axis: pads,
// windows, interpolation, and their gradients.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/isa.h"
#include "engine/job.h"
#include "engine/resample/axis_map.h"
#include "plan/strided_view.h"

namespace portacl::engine {

// Two views of operands. Their first `batch_rank` dims are the same; the strides of the maps define the other
// dims.
struct AxesOperands {
  const StridedView* source;
  int source_operand;
  const StridedView* destination;
  int destination_operand;
  int batch_rank;
};

// Makes the job: destination[.., z, y, x] = source[.., planes(z), rows(y), columns(x)], bytes of elements of 1, 2, 4, 8 or 16,
// or, along a piecewise map of columns, converted; 0 where a map leads nowhere. The destination has the positions; a position has one
// tap. No dim is 0.
AnyJob MakeTakeJob(JobMemory& memory, const AxesOperands& operands, const AxisMaps& maps, Isa isa,
                   int threads) noexcept;

// The operand that has the maps' positions: the destination, or, for a gradient, the source.
enum class Direction : uint8_t { kToPositions, kFromPositions };

// Makes the job: destination[.., z, y, x] = the sum over the taps p of z, and for each over the taps r of y, of weight(p) *
// weight(r) times (the sum over the taps c of x of weight(c) * source[.., p, r, c]), both from +0 on in the order of the maps' positions
// and of their taps; c in the order of taps. Float32 for FLOAT, FLOAT16 and BF16, which are rounded once, and complex numbers by parts;
// float64 for DOUBLE and COMPLEX128. FLOAT, FLOAT16 and BF16 may be mixed, no others. From positions, and along smooth maps,
// what weighs 0 adds nothing. No dim is 0.
AnyJob MakeSumJob(JobMemory& memory, const AxesOperands& operands, const AxisMaps& maps, Direction direction,
                  Isa isa, int threads) noexcept;

}  // namespace portacl::engine
