// Jobs of several steps (see step_list.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/jobs/step_list.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "acl/settings/configuration.h"
#include "base/data_type.h"

namespace portacl {

using engine::Place;
using engine::Step;

namespace {

// Refuses so many elements, or bins, of a parameter that the memory for them would overflow: an expanded
// tensor takes no memory itself. Returns false then, phase 1 fails, and the steps are not run.
bool HasMemoryFor(const char* parameter, int64_t elements, Executor& executor, std::byte*& steps) {
  constexpr int64_t kMost = int64_t{1} << 52;
  if (elements <= kMost) return true;
  executor.RefuseSize(parameter, elements);
  steps = nullptr;
  return false;
}

}  // namespace

StepList::StepList(Executor& executor, int most, const std::vector<int64_t>* array) noexcept
    : executor_(executor),
      memory_(executor.ReserveMemory(static_cast<size_t>(engine::StepsJob::kSharedBytes) +
                                     static_cast<size_t>(most) * sizeof(Step) +
                                     (array == nullptr ? 0 : array->size() * sizeof(int64_t)))) {
  if (memory_ == nullptr) return;
  std::memset(memory_, 0, static_cast<size_t>(engine::StepsJob::kSharedBytes));
  if (array == nullptr) return;
  array_ = {Place::kMemory, engine::StepsJob::kSharedBytes + most * static_cast<int64_t>(sizeof(Step))};
  std::copy(array->begin(), array->end(), reinterpret_cast<int64_t*>(memory_ + array_.offset));
}

Place StepList::Workspace(int64_t bytes) noexcept {
  const Place place{Place::kWorkspace, static_cast<int64_t>(executor_.workspace_size)};
  executor_.workspace_size += (static_cast<uint64_t>(bytes) + 63) / 64 * 64;
  return place;
}

Place StepList::Value(const ScalarValue& value) noexcept {
  const int64_t offset = int64_t{16} * values_++;
  if (memory_ != nullptr) std::memcpy(memory_ + offset, value.bytes, sizeof value.bytes);
  return {Place::kMemory, offset};
}

void StepList::Touch(Place place) noexcept {
  if (place.operand >= 0) executor_.touched[place.operand] = true;
}

Step* StepList::Next(Step::Kind kind) noexcept {
  if (memory_ == nullptr) return nullptr;
  Step* const step =
      new (memory_ + engine::StepsJob::kSharedBytes + static_cast<size_t>(count_++) * sizeof(Step)) Step;
  step->kind = kind;
  step->threads = executor_.threads;
  return step;
}

void StepList::Copy(const StridedView& source, Place source_place, const StridedView& destination,
                    Place destination_place) noexcept {
  if (destination.view.IsEmpty()) return;
  Step* const step = Next(Step::Kind::kMove);
  if (step == nullptr) return;
  step->move = engine::MakeMove(source, destination, executor_.isa, executor_.threads);
  step->source = source_place;
  step->destination = destination_place;
  elements_ += step->move.plan.count;
}

void StepList::Fill(const StridedView& destination, Place destination_place, Place value) noexcept {
  StridedView one;
  one.dtype = destination.dtype;
  Copy(one, value, destination, destination_place);
}

void StepList::Plan(engine::IndexedMove& move, engine::IndexedAction action, const StridedView& plain,
                    Place plain_place, const StridedView& indexed, Place indexed_place,
                    const engine::IndexView* indices, int count) noexcept {
  move.action = action;
  move.threads = executor_.threads;
  move.dtype = indexed.dtype;
  move.is_scaled = false;
  move.are_columns = false;
  move.before = 0;
  move.raises = CurrentConfiguration().index_errors_raise;
  move.ignored = engine::IndexedMove::kNoneIgnored;
  engine::PlanIndexed(plain, indexed, indices, count, move);
  for (int k = 0; k < count; ++k)
    move.index[k].follow = engine::FindFollow(executor_.isa, move.index[k].is_wide);
  move.conversion = engine::FindConversion(executor_.isa, plain.dtype, indexed.dtype);
  move.conversion.from_size = static_cast<int32_t>(StorageBits(plain.dtype) / 8);
  move.plain.operand = plain_place.operand;
  move.plain.offset += plain_place.offset;
  move.indexed.operand = indexed_place.operand;
  move.indexed.offset += indexed_place.offset;
}

engine::IndexedMove* StepList::Indexed(engine::IndexedAction action, const StridedView& plain,
                                       Place plain_place, const StridedView& indexed, Place indexed_place,
                                       const engine::IndexView* indices, int count) noexcept {
  Step* const step = Next(Step::Kind::kIndexed);
  if (step == nullptr) return nullptr;
  Plan(step->indexed, action, plain, plain_place, indexed, indexed_place, indices, count);
  elements_ += step->indexed.count;
  return &step->indexed;
}

bool StepList::SumsRows(engine::IndexedAction action, const StridedView& plain, const StridedView& indexed,
                        const engine::IndexView* indices, int count) noexcept {
  engine::IndexedMove move;
  Plan(move, action, plain, {}, indexed, {}, indices, count);
  return engine::SumsRows(move);
}

engine::IndexedMove* StepList::SumRows(engine::IndexedAction action, const StridedView& plain,
                                       Place plain_place, const StridedView& indexed, Place indexed_place,
                                       const engine::IndexView* indices, int count) noexcept {
  Step* const step = Next(Step::Kind::kSumRows);
  if (step == nullptr) return nullptr;
  engine::IndexedMove& move = step->indexed;
  Plan(move, action, plain, plain_place, indexed, indexed_place, indices, count);
  move.dtype = ACL_FLOAT;
  move.conversion = engine::FindConversion(executor_.isa, plain.dtype, ACL_FLOAT);
  move.conversion.from_size = static_cast<int32_t>(StorageBits(plain.dtype) / 8);
  step->widened = engine::FindConversion(executor_.isa, indexed.dtype, ACL_FLOAT);
  step->rounded = engine::FindConversion(executor_.isa, ACL_FLOAT, indexed.dtype);
  step->order = Workspace(engine::RowsWorkspace(move));
  elements_ += move.count;
  return &move;
}

void StepList::DivideRows(Place sums, Place counts, int64_t rows, int64_t columns,
                          aclDataType dtype) noexcept {
  Step* const step = Next(Step::Kind::kDivideRows);
  if (step == nullptr) return;
  step->destination = sums;
  step->source = counts;
  step->rows = rows;
  step->columns = columns;
  step->dtype = dtype;
}

void StepList::FindTrue(Place mask, const StridedView& shape, Place places, int64_t count,
                        const int64_t* stride, int entry) noexcept {
  Step* const step = Next(Step::Kind::kFindTrue);
  if (step == nullptr) return;
  step->source = mask;
  step->destination = places;
  step->rows = shape.numel;
  step->columns = count;
  step->rank = shape.view.rank;
  step->entry = entry;
  for (int dim = 0; dim < shape.view.rank; ++dim) {
    step->extent[dim] = shape.view[dim];
    step->stride[dim] = stride[dim];
  }
}

void StepList::WriteChosen(const StridedView& mask, Place mask_place, const StridedView* source,
                           Place source_place, aclTensor* result, int result_operand,
                           bool is_across) noexcept {
  const Place counts = Workspace(engine::MaskBlocks(mask.numel) * int64_t{sizeof(int64_t)});
  const auto size = static_cast<int32_t>(aclDataTypeSize(result->dtype));
  Step* const step = Next(source != nullptr ? Step::Kind::kPack : Step::Kind::kCoordinates);
  if (step == nullptr) return;
  step->mask = mask_place;
  step->source = source != nullptr ? source_place : mask_place;
  if (source != nullptr) step->source.offset += ByteOffset(*source);
  step->destination = {result_operand, ByteOffset(*result)};
  step->counts = counts;
  step->pack = engine::FindPack(executor_.isa, size);
  step->rows = mask.numel;
  step->size = size;
  step->is_across = is_across;
  step->rank = mask.view.rank;
  step->columns = source != nullptr ? result->numel : result->numel / std::max(mask.view.rank, 1);
  std::copy(mask.view.dim, mask.view.dim + mask.view.rank, step->extent);
  executor_.ShapeLater(0, result);
  elements_ += mask.numel;
}

void StepList::Unpack(const StridedView& mask, Place mask_place, Place source, int64_t count,
                      Place destination, int32_t size, const char* name) noexcept {
  const Place counts = Workspace(engine::MaskBlocks(mask.numel) * int64_t{sizeof(int64_t)});
  Step* const step = Next(Step::Kind::kUnpack);
  if (step == nullptr) return;
  step->mask = mask_place;
  step->source = source;
  step->destination = destination;
  step->counts = counts;
  step->unpack = engine::FindUnpack(executor_.isa, size);
  step->rows = mask.numel;
  step->columns = count;
  step->size = size;
  step->name = name;
  step->raises = CurrentConfiguration().index_errors_raise;
  elements_ += mask.numel;
}

engine::Spread* StepList::Spread(const StridedView& counts, int operand, const char* name, int64_t elements,
                                 int64_t length, Place to) noexcept {
  const Place sums = Workspace(engine::SpreadBlocks(elements) * int64_t{sizeof(int64_t)});
  Step* const step = Next(Step::Kind::kSpread);
  if (step == nullptr) return nullptr;
  engine::Spread& spread = step->spread;
  spread.name = name;
  spread.counts = {operand, ByteOffset(counts)};
  spread.stride = counts.numel > 1 ? ByteStride(counts, 0) : 0;
  spread.is_wide = counts.dtype == ACL_INT64;
  spread.elements = elements;
  spread.places = to;
  spread.length = length;
  spread.sums = sums;
  spread.threads = executor_.threads;
  spread.raises = CurrentConfiguration().index_errors_raise;
  elements_ += elements + length;
  return &spread;
}

engine::Unique* StepList::Unique(const StridedView& source, Place source_place, bool sorts, int dim,
                                 aclTensor* result, int result_operand) noexcept {
  if (!HasMemoryFor(executor_.parameters[0].name, source.numel, executor_, memory_)) return nullptr;
  const int64_t count = dim < 0 ? source.numel : source.view[dim];
  const Place memory = Workspace(engine::UniqueMemory(source.dtype, count, sorts));
  Step* const step = Next(Step::Kind::kUnique);
  if (step == nullptr) return nullptr;
  engine::Unique& unique = step->unique;
  unique = {};
  unique.dtype = source.dtype;
  unique.size = static_cast<int32_t>(aclDataTypeSize(source.dtype));
  unique.sorts = sorts;
  unique.before = unique.behind = 1;
  unique.count = count;
  unique.rank = 1;
  for (int i = 0; dim >= 0 && i < source.view.rank; ++i) {
    unique.extent[i] = source.view[i];
    if (i != dim) (i < dim ? unique.before : unique.behind) *= source.view[i];
    unique.rank = source.view.rank;
    unique.dim = dim;
  }
  unique.source = source_place;
  unique.memory = memory;
  unique.values = {result_operand, result->offset * unique.size};
  unique.most_values = result->numel / (unique.before * unique.behind);
  unique.threads = executor_.threads;
  unique.isa = executor_.isa;
  executor_.ShapeLater(0, result);
  elements_ += source.numel;
  return &unique;
}

void StepList::SortRows(const StridedView& source, Place source_place, const StridedView* values,
                        Place values_place, const StridedView* places, Place places_place, int dim,
                        engine::SortRows rows) noexcept {
  if (!HasMemoryFor(executor_.parameters[0].name, source.numel, executor_, memory_)) return;
  Step* const step = Next(Step::Kind::kSortRows);
  if (step == nullptr) return;
  rows.source.place = source_place;
  rows.values.place = values_place;
  rows.places.place = places_place;
  engine::PlanSortRows(source, values, places, dim, executor_.isa, executor_.threads, rows);
  rows.memory = Workspace(engine::RowsMemory(rows));
  step->rows_to_sort = rows;
  elements_ += source.numel;
}

void StepList::Search(const engine::Search& search) noexcept {
  Step* const step = Next(Step::Kind::kSearch);
  if (step == nullptr) return;
  step->search = search;
  step->search.threads = executor_.threads;
  step->search.raises = CurrentConfiguration().index_errors_raise;
  elements_ += search.rows * search.numbers;
}

Place StepList::Histogram(engine::Histogram histogram, const char* bins) noexcept {
  if (!HasMemoryFor(bins, histogram.bins, executor_, memory_)) return {};
  histogram.threads = executor_.threads;
  histogram.gather = engine::FindGather(executor_.isa, engine::GatherSource::kCache);
  histogram.raises = CurrentConfiguration().index_errors_raise;
  histogram.sums = Workspace(engine::HistogramMemory(histogram));
  Step* const step = Next(Step::Kind::kHistogram);
  if (step == nullptr) return {};
  step->histogram = histogram;
  elements_ += histogram.count;
  return histogram.sums;
}

Place StepList::Flatten(StridedView& view, int operand) noexcept {
  const StridedView merged = MergedDims(view);
  const int64_t size = static_cast<int64_t>(aclDataTypeSize(view.dtype));
  const int64_t count = view.numel;
  Place place = OperandPlace(operand);
  int64_t offset = merged.offset;
  int64_t stride = merged.view.rank == 1 ? merged.strides[0] : 1;
  if (merged.view.rank > 1) {
    const StridedView dense = DenseTensor(merged.view, view.dtype);
    place = Workspace(count * size);
    Copy(merged, OperandPlace(operand), dense, place);
    offset = 0;
    stride = 1;
  }
  view = DenseTensor(Shape{count}, view.dtype);
  view.offset = offset;
  view.strides.dim[0] = stride;
  view.Describe();
  return place;
}

void StepList::SetJob() noexcept {
  if (memory_ == nullptr || count_ == 0) return;
  executor_.SetJob([&] {
    engine::StepsJob job;
    job.count = count_;
    job.elements = elements_;
    return job;
  });
  const auto* const steps = reinterpret_cast<const Step*>(memory_ + engine::StepsJob::kSharedBytes);
  for (const Step* step = steps; step < steps + count_; ++step) {
    if (step->kind == Step::Kind::kPack || step->kind == Step::Kind::kCoordinates) Touch(step->mask);
    if (step->kind == Step::Kind::kUnpack) Touch(step->mask);
    if (step->kind == Step::Kind::kSpread) {
      Touch(step->spread.counts);
      Touch(step->spread.places);
      continue;
    }
    if (step->kind == Step::Kind::kUnique) {
      Touch(step->unique.source);
      Touch(step->unique.values);
      if (step->unique.most_inverse > 0) Touch(step->unique.inverse);
      if (step->unique.sets_counts) Touch(step->unique.counts);
      continue;
    }
    if (step->kind == Step::Kind::kSortRows) {
      for (const engine::SortRows::Side* const side :
           {&step->rows_to_sort.source, &step->rows_to_sort.values, &step->rows_to_sort.places}) {
        if (side->is_there) Touch(side->place);
      }
      continue;
    }
    if (step->kind == Step::Kind::kComputation) {
      for (int32_t operand = 0; operand < 32; ++operand) {
        if ((step->touched >> operand & 1) != 0) Touch({operand, 0});
      }
      continue;
    }
    if (step->kind == Step::Kind::kSearch) {
      Touch(step->search.sequence);
      Touch(step->search.number);
      Touch(step->search.places);
      if (step->search.has_order) Touch(step->search.order);
      continue;
    }
    if (step->kind == Step::Kind::kHistogram) {
      Touch(step->histogram.numbers.place);
      if (step->histogram.is_weighed) Touch(step->histogram.weights.place);
      continue;
    }
    if (step->kind != Step::Kind::kIndexed && step->kind != Step::Kind::kSumRows) {
      Touch(step->source);
      Touch(step->destination);
      continue;
    }
    Touch(step->indexed.plain);
    Touch(step->indexed.indexed);
    for (int k = 0; k < step->indexed.index_count; ++k) Touch({step->indexed.index[k].operand, 0});
  }
}

StridedView DenseTensor(const Shape& shape, aclDataType dtype) noexcept {
  StridedView tensor;
  tensor.view = shape;
  tensor.strides = RowMajorStrides(shape);
  tensor.dtype = dtype;
  tensor.Describe();
  return tensor;
}

}  // namespace portacl
