// Turns a view into runs of adjacent bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "aclnn/tensor.h"
#include "base/data_type.h"

namespace portacl {

// Calls run(first, bytes) for runs that together are exactly the bytes of the view's elements. `first` is an
// offset from the storage base. A byte may be in several runs. Stops when run returns false. Views whose
// bytes are unknown, such as those of private formats, have no runs.
template <class Run>
void ForEachRun(const aclTensor& tensor, const Run& run) {
  if (tensor.numel == 0 || !tensor.countable || !tensor.bytes_fit || IsPrivateFormat(tensor.format)) return;
  const int64_t bits = StorageBits(tensor.dtype);
  if (bits == 0) return;
  if (bits % 8 != 0) {
    if (tensor.contiguous) (void)run(tensor.offset * bits / 8, (tensor.numel * bits + 7) / 8);
    return;
  }
  const int64_t size = bits / 8;
  struct Dim {
    int64_t length;
    int64_t stride;
  } dims[kMaxDims];
  int count = 0;
  int64_t first = tensor.offset;
  for (int i = 0; i < tensor.view.rank; ++i) {
    int64_t stride = tensor.strides[i];
    if (tensor.view[i] < 2 || stride == 0) continue;
    if (stride < 0) {
      first += (tensor.view[i] - 1) * stride;
      stride = -stride;
    }
    int at = count++;
    for (; at > 0 && dims[at - 1].stride > stride; --at) dims[at] = dims[at - 1];
    dims[at] = {tensor.view[i], stride};
  }
  int64_t length = 1;
  int inner = 0;
  // Dims whose elements start inside the run, or right behind it, make the run longer.
  for (; inner < count && dims[inner].stride <= length; ++inner) {
    length += (dims[inner].length - 1) * dims[inner].stride;
  }
  int64_t index[kMaxDims] = {};
  while (true) {
    if (!run(first * size, length * size)) return;
    int i = inner;
    for (; i < count; ++i) {
      first += dims[i].stride;
      if (++index[i] < dims[i].length) break;
      first -= dims[i].length * dims[i].stride;
      index[i] = 0;
    }
    if (i == count) return;
  }
}

}  // namespace portacl
