// Gradients of the chamfer distance (see chamfer.h). One thread computes a batch, since points share nearest ones.
// SPDX-License-Identifier: Apache-2.0
#include "engine/route/chamfer.h"

#include <algorithm>

#include "base/float_environment.h"
#include "engine/bad_index.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int64_t kDims = 2;

float* FloatsAt(const BufferRef& buffer, const JobContext& context) {
  return reinterpret_cast<float*>(buffer.Address(context));
}
int32_t NearestAt(const PointSet& set, const JobContext& context, int64_t i) {
  return Load<int32_t>(set.nearest.Address(context) + i * int64_t{sizeof(int32_t)});
}

void AddOfSet(const PointSet& set, const PointSet& other, const JobContext& context, int64_t batch,
              BadIndex& bad) {
  const float* const points = FloatsAt(set.points, context) + batch * set.count * kDims;
  const float* const others = FloatsAt(other.points, context) + batch * other.count * kDims;
  const float* const distance = FloatsAt(set.distance, context) + batch * set.count;
  float* const gradient = FloatsAt(set.gradient, context) + batch * set.count * kDims;
  float* const of_others = FloatsAt(other.gradient, context) + batch * other.count * kDims;
  for (int64_t i = 0; i < set.count; ++i) {
    const int64_t j = NearestAt(set, context, batch * set.count + i);
    if (j < 0 || j >= other.count) {
      bad.Note(batch * set.count + i);
      continue;
    }
    const float factor = 2.0f * distance[i];
    for (int64_t dim = 0; dim < kDims; ++dim) {
      const float term = factor * (points[i * kDims + dim] - others[j * kDims + dim]);
      gradient[i * kDims + dim] += term;
      of_others[j * kDims + dim] -= term;
    }
  }
}

}  // namespace

void ChamferGradients::Run(const JobContext& context) const noexcept {
  BadIndex bad[2];
  ForEachBlock(batches, threads, [&](int64_t batch) {
    const DefaultFloatEnvironment environment;
    for (const PointSet& set : sets)
      std::fill_n(FloatsAt(set.gradient, context) + batch * set.count * kDims, set.count * kDims, 0.0f);
    AddOfSet(sets[0], sets[1], context, batch, bad[0]);
    AddOfSet(sets[1], sets[0], context, batch, bad[1]);
  });
  for (int i = 0; i < 2; ++i) {
    bad[i].Report(context, raises, sets[i].name, 0, sets[1 - i].count,
                  [&](int64_t at) { return NearestAt(sets[i], context, at); });
  }
}

}  // namespace portacl::engine
