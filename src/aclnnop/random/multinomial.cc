// aclnnMultinomial and its form with seed and offset in tensors: draw indices by weights.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/random/multinomial_functions.h"

#include "aclnnop/jobs/random_source.h"
#include "base/errors.h"
#include "engine/map/map_types.h"
#include "engine/random/multinomial_draw.h"

namespace portacl {
namespace {

using namespace random;

// Tensors of aclnnMultinomial: self, out. Of the other form: self, seedTensor, offsetTensor, out.
constexpr int kSelf = 0;
enum Attributes { kSamples, kReplacement };

constexpr DtypeRule kWeights = WithBf16SinceAtlasA2(kFloatAndHalf | kDouble);
constexpr int64_t kMostCategories = int64_t{1} << 24;

int64_t CategoriesOf(const OperatorCall& call) noexcept {
  const Shape& shape = call.Tensor(kSelf).shape;
  return shape[shape.rank - 1];
}

aclnnStatus CheckShapes(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  const Shape& out = call.Tensor(call.Output()).shape;
  const int64_t samples = call.attributes[kSamples].integer;
  if ((self.rank == 1 || self.rank == 2) && out.rank == self.rank && out[out.rank - 1] == samples &&
      (self.rank == 1 || self[0] == out[0])) {
    return ACL_SUCCESS;
  }
  Text message(call.api, ": parameter self has the shape ");
  AddShape(message, self);
  AddShape(message.Add(" and parameter out the shape "), out);
  return FailAclnn(check.code,
                   message.Add(", expected [C] and [numsamples], or [rows,C] and [rows,numsamples], ")
                       .Add("with numsamples ")
                       .Add(samples)
                       .Add("."));
}

aclnnStatus CheckSamples(const Check& check, OperatorCall& call) noexcept {
  const int64_t samples = call.attributes[kSamples].integer;
  const int64_t categories = CategoriesOf(call);
  const bool is_enough = call.attributes[kReplacement].integer != 0 || samples <= categories;
  if (samples > 0 && is_enough) return ACL_SUCCESS;
  Text message(call.api, ": parameter numsamples has the value ", samples, ", accepted: 1 ");
  return FailAclnn(check.code, is_enough ? message.Add("or more.")
                                         : message.Add("to ").Add(categories).Add(" without replacement."));
}

aclnnStatus CheckCategories(const Check& check, OperatorCall& call) noexcept {
  const int64_t categories = CategoriesOf(call);
  if (categories <= kMostCategories) return ACL_SUCCESS;
  return FailAclnn(check.code, Text(call.api, ": parameter self has ", categories,
                                    " weights in a row, accepted: at most ", kMostCategories, "."));
}

engine::MultinomialJob JobOf(const OperatorCall& call, const engine::RandomSource& source,
                             const engine::DeviceSource& device) noexcept {
  const aclTensor& self = call.Tensor(kSelf);
  const aclTensor& out = call.Tensor(call.Output());
  const Isa isa = call.isa;
  const int last = self.shape.rank - 1;
  engine::MultinomialJob job{};
  job.source = source;
  job.device = device;
  job.draw_units = engine::FindSequence(isa, engine::UniformNumbers<double>{});
  job.draw_exponentials = engine::FindSequence(isa, engine::ExponentialNumbers{});
  engine::ElementType type{};
  const engine::MapTypes types{isa, ACL_DOUBLE, engine::ElementType::kF64, /*writes_bool=*/false};
  job.load = types.LoadFor(self.dtype, ACL_DOUBLE, &type);
  job.is_loaded = self.dtype != ACL_DOUBLE;
  job.gather = engine::FindGather(isa, engine::GatherSource::kCache);
  job.rows = last == 0 ? 1 : self.shape[0];
  job.categories = self.shape[last];
  job.samples = call.attributes[kSamples].integer;
  job.adds_up = call.attributes[kReplacement].integer != 0 && job.samples > 1;
  job.weights = kSelf;
  job.indices = static_cast<int8_t>(call.Output());
  job.weight_size = self.dtype == ACL_DOUBLE ? 8 : self.dtype == ACL_FLOAT ? 4 : 2;
  job.threads = call.threads;
  job.weight_offset = ByteOffset(self);
  job.weight_row = last == 0 ? 0 : ByteStride(self, 0);
  job.weight_column = ByteStride(self, last);
  job.index_offset = ByteOffset(out);
  job.index_row = last == 0 ? 0 : ByteStride(out, 0);
  job.index_column = ByteStride(out, last);
  return job;
}

constexpr auto Checks(int out) {
  return List(DtypesIn(kWeights, {kSelf}), DtypesIn(DtypeSet(ACL_INT64), {out}), Check{.run = CheckShapes},
              Check{.run = CheckSamples}, Check{.run = CheckCategories});
}
constexpr auto LastChecks(int out) {
  return List(SizesRepresentable({out}), DoneIfEmpty({kSelf}), InsideStorage({kSelf}));
}
constexpr auto kChecks = Join(List(NotNull(kSelf), NotNull(1)), Checks(1), LastChecks(1));
constexpr auto kTensorChecks = Join(List(NotNull(kSelf), NotNull(1), NotNull(2), NotNull(3)), Checks(3),
                                    List(OneInteger(DtypeSet(ACL_INT64), {1, 2})), LastChecks(3));

void SetMultinomialJob(const OperatorCall& call, const engine::RandomSource& source,
                       const engine::DeviceSource& device, Executor& executor) {
  executor.SetJob([&] {
    const engine::MultinomialJob job = JobOf(call, source, device);
    executor.workspace_size = job.WorkspaceOfRow() * static_cast<uint64_t>(job.RowsInWorkspace());
    return job;
  });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnMultinomial) {
  return RunPhase1(call, kChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    SetMultinomialJob(checked, SourceOf(given.seed, given.offset), {}, fresh);
  });
}

PORTACL_PHASE_1(aclnnMultinomialTensor) {
  return RunPhase1(
      call, kTensorChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
        SetMultinomialJob(checked, SourceOf(0, given.offset), DeviceSourceOf(checked, 1, 2), fresh);
      });
}
