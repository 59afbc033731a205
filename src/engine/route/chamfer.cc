// Gradients of the chamfer distance (see chamfer.h). One thread computes a batch, since points share nearest ones.
// SPDX-License-Identifier: Apache-2.0
#include "engine/route/chamfer.h"

#include <cstring>

#include "base/float_environment.h"
#include "engine/bad_index.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int64_t kDims = 2;
constexpr auto kSize = static_cast<int64_t>(sizeof(float));

// Load and store numbers of an operand, whose address may be unaligned.
float NumberAt(const char* numbers, int64_t i) { return Load<float>(numbers + i * kSize); }
void PutAt(char* numbers, int64_t i, float number) { Store(numbers + i * kSize, number); }
char* OfBatch(const BufferRef& buffer, const JobContext& context, int64_t batch, int64_t numbers) {
  return buffer.Address(context) + batch * numbers * kSize;
}
int32_t NearestAt(const PointSet& set, const JobContext& context, int64_t i) {
  return Load<int32_t>(set.nearest.Address(context) + i * int64_t{sizeof(int32_t)});
}

void AddOfSet(const PointSet& set, const PointSet& other, const JobContext& context, int64_t batch,
              BadIndex& bad) {
  const char* const points = OfBatch(set.points, context, batch, set.count * kDims);
  const char* const others = OfBatch(other.points, context, batch, other.count * kDims);
  const char* const distance = OfBatch(set.distance, context, batch, set.count);
  char* const gradient = OfBatch(set.gradient, context, batch, set.count * kDims);
  char* const of_others = OfBatch(other.gradient, context, batch, other.count * kDims);
  for (int64_t i = 0; i < set.count; ++i) {
    const int64_t j = NearestAt(set, context, batch * set.count + i);
    if (j < 0 || j >= other.count) {
      bad.Note(batch * set.count + i);
      continue;
    }
    const float factor = 2.0f * NumberAt(distance, i);
    for (int64_t dim = 0; dim < kDims; ++dim) {
      const int64_t own = i * kDims + dim;
      const int64_t its = j * kDims + dim;
      const float term = factor * (NumberAt(points, own) - NumberAt(others, its));
      PutAt(gradient, own, NumberAt(gradient, own) + term);
      PutAt(of_others, its, NumberAt(of_others, its) - term);
    }
  }
}

}  // namespace

void ChamferGradients::Run(const JobContext& context) const noexcept {
  BadIndex bad[2];
  ForEachBlock(batches, threads, [&](int64_t batch) {
    const DefaultFloatEnvironment environment;
    for (const PointSet& set : sets) {
      const int64_t numbers = set.count * kDims;
      std::memset(OfBatch(set.gradient, context, batch, numbers), 0, static_cast<size_t>(numbers * kSize));
    }
    AddOfSet(sets[0], sets[1], context, batch, bad[0]);
    AddOfSet(sets[1], sets[0], context, batch, bad[1]);
  });
  for (int i = 0; i < 2; ++i) {
    bad[i].Report(context, raises, sets[i].name, 0, sets[1 - i].count,
                  [&](int64_t at) { return NearestAt(sets[i], context, at); });
  }
}

}  // namespace portacl::engine
