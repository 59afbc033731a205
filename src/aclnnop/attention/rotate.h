// The kernels that turn pairs of a row's elements by angles.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/rowwise/rowwise.h"

namespace portacl::attention {

// Inputs: the first elements of pairs, the second ones, and the cosines and sines of both. Outputs: both elements.
const engine::RowwiseKernels& RotateKernels() noexcept;

}  // namespace portacl::attention
