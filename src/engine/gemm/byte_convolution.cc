// Convolutions of INT8 (see byte_convolution.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/byte_convolution.h"

#include <algorithm>
#include <cstring>

#include "base/data_type.h"
#include "engine/gemm/grouped.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

// Writes the patch of a position: channels, then kernel positions, the last axis fastest.
void WritePatch(const ByteConvolution& job, const int8_t* image, int64_t position, int8_t* to) {
  int64_t begin[ByteConvolution::kAxes];
  for (int axis = ByteConvolution::kAxes - 1; axis >= 0; --axis) {
    begin[axis] = position % job.result_lengths[axis] * job.stride[axis] - job.padding[axis];
    position /= job.result_lengths[axis];
  }
  const auto is_inside = [&](int axis, int64_t at) { return at >= 0 && at < job.lengths[axis]; };
  for (int64_t channel = 0; channel < job.channels; ++channel) {
    for (int64_t k0 = 0; k0 < job.kernel[0]; ++k0) {
      const int64_t at0 = begin[0] + k0 * job.dilation[0];
      for (int64_t k1 = 0; k1 < job.kernel[1]; ++k1) {
        const int64_t at1 = begin[1] + k1 * job.dilation[1];
        const bool is_there = is_inside(0, at0) && is_inside(1, at1);
        const int64_t line = ((channel * job.lengths[0] + at0) * job.lengths[1] + at1) * job.lengths[2];
        for (int64_t k2 = 0; k2 < job.kernel[2]; ++k2) {
          const int64_t at2 = begin[2] + k2 * job.dilation[2];
          *to++ = is_there && is_inside(2, at2) ? image[line + at2] : int8_t{0};
        }
      }
    }
  }
}

}  // namespace

int64_t ByteConvolution::PositionsAtOnce() const noexcept {
  return std::clamp<int64_t>(kPatchBytes / std::max<int64_t>(Terms(), 1), 1,
                             std::max<int64_t>(Positions(), 1));
}

void ByteConvolution::Run(const JobContext& context) const noexcept {
  const int64_t terms = Terms();
  const int64_t positions = Positions();
  const int64_t some = PositionsAtOnce();
  const auto size = static_cast<int64_t>(StorageBits(dtype) / 8);
  const int64_t image_size = channels * lengths[0] * lengths[1] * lengths[2];
  auto* const rows = reinterpret_cast<int8_t*>(patches.Address(context));
  GroupedProducts products{};
  products.cut = GroupedProducts::Cut::kNone;
  products.groups = 1;
  products.schedule = schedule;
  products.isa = isa;
  products.threads = threads;
  GroupedPart& part = products.part;
  part.kind = GroupedPart::Kind::kIntegers;
  part.depth = terms;
  part.columns = results;
  part.left = {true, patches, ACL_INT8, terms, 1, 0};
  part.right = {true, weight, ACL_INT8, 1, terms, 0};
  part.scale = {true, scale, ACL_FLOAT, 0, int64_t{sizeof(float)}, 0};
  if (has_bias)
    part.added = {true, bias, bias_dtype, 0, static_cast<int64_t>(StorageBits(bias_dtype) / 8), 0};
  for (int64_t n = 0; n < images; ++n) {
    const auto* const from = reinterpret_cast<const int8_t*>(image.Address(context)) + n * image_size;
    for (int64_t first = 0; first < positions; first += some) {
      part.rows = std::min(some, positions - first);
      ForEachBlock(part.rows, threads,
                   [&](int64_t row) { WritePatch(*this, from, first + row, rows + row * terms); });
      part.out = {true, out, dtype, size, positions * size, 0};
      part.out.buffer.offset += (n * results * positions + first) * size;
      products.Run(context);
    }
  }
}

}  // namespace portacl::engine
