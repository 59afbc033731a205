// Jobs that run a list of ops (see op_list.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/jobs/op_list.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "acl/settings/configuration.h"
#include "base/data_type.h"

namespace portacl {

using engine::BufferRef;
using engine::ListedOp;

namespace {

// Returns false if the memory for the elements, or bins, of a parameter would overflow. (An expanded tensor takes no
// memory itself, so its size is not limited.) Phase 1 then fails, and the ops are not run.
bool HasMemoryFor(const char* parameter, int64_t elements, Executor& executor, std::byte*& ops) {
  constexpr int64_t kMost = int64_t{1} << 52;
  if (elements <= kMost) return true;
  executor.RefuseSize(parameter, elements);
  ops = nullptr;
  return false;
}

}  // namespace

OpList::OpList(Executor& executor, int most, const std::vector<int64_t>* array) noexcept
    : executor_(executor),
      memory_(executor.ReserveMemory(static_cast<size_t>(engine::OpListJob::kSharedValueBytes) +
                                     static_cast<size_t>(most) * sizeof(ListedOp) +
                                     (array == nullptr ? 0 : array->size() * sizeof(int64_t)))) {
  if (memory_ == nullptr) return;
  std::memset(memory_, 0, static_cast<size_t>(engine::OpListJob::kSharedValueBytes));
  if (array == nullptr) return;
  array_ = {BufferRef::kMemory,
            engine::OpListJob::kSharedValueBytes + most * static_cast<int64_t>(sizeof(ListedOp))};
  std::copy(array->begin(), array->end(), reinterpret_cast<int64_t*>(memory_ + array_.offset));
}

BufferRef OpList::Workspace(int64_t bytes) noexcept {
  const BufferRef buffer{BufferRef::kWorkspace, static_cast<int64_t>(executor_.workspace_size)};
  executor_.workspace_size += (static_cast<uint64_t>(bytes) + 63) / 64 * 64;
  return buffer;
}

BufferRef OpList::FloatsOf(BufferRef operand, int64_t numel) noexcept {
  const int parameter = std::max(operand.operand, 0);
  return HasMemoryFor(executor_.parameters[parameter].name, numel, executor_, memory_)
             ? Workspace(numel * int64_t{sizeof(float)})
             : BufferRef{};
}

BufferRef OpList::Value(const ScalarValue& value) noexcept {
  const int64_t offset = int64_t{16} * values_++;
  if (memory_ != nullptr) std::memcpy(memory_ + offset, value.bytes, sizeof value.bytes);
  return {BufferRef::kMemory, offset};
}

void OpList::Touch(BufferRef buffer) noexcept {
  if (buffer.operand >= 0) executor_.touched[buffer.operand] = true;
}

ListedOp* OpList::Next(ListedOp::Kind kind) noexcept {
  if (memory_ == nullptr) return nullptr;
  ListedOp* const op =
      new (memory_ + engine::OpListJob::kSharedValueBytes + static_cast<size_t>(count_++) * sizeof(ListedOp))
          ListedOp;
  op->kind = kind;
  op->threads = executor_.threads;
  return op;
}

void OpList::Copy(const StridedView& source, BufferRef source_buffer, const StridedView& destination,
                  BufferRef destination_buffer) noexcept {
  if (destination.shape.IsEmpty()) return;
  ListedOp* const op = Next(ListedOp::Kind::kMove);
  if (op == nullptr) return;
  op->move = engine::MakeMove(source, destination, executor_.isa, executor_.threads);
  op->source = source_buffer;
  op->destination = destination_buffer;
  elements_ += op->move.plan.count;
}

void OpList::Fill(const StridedView& destination, BufferRef destination_buffer, BufferRef value) noexcept {
  StridedView one;
  one.dtype = destination.dtype;
  Copy(one, value, destination, destination_buffer);
}

void OpList::Plan(engine::IndexedMove& move, engine::IndexedAction action, const StridedView& plain,
                  BufferRef plain_buffer, const StridedView& indexed, BufferRef indexed_buffer,
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
  move.plain.operand = plain_buffer.operand;
  move.plain.offset += plain_buffer.offset;
  move.indexed.operand = indexed_buffer.operand;
  move.indexed.offset += indexed_buffer.offset;
}

engine::IndexedMove* OpList::Indexed(engine::IndexedAction action, const StridedView& plain,
                                     BufferRef plain_buffer, const StridedView& indexed,
                                     BufferRef indexed_buffer, const engine::IndexView* indices,
                                     int count) noexcept {
  ListedOp* const op = Next(ListedOp::Kind::kIndexed);
  if (op == nullptr) return nullptr;
  Plan(op->indexed, action, plain, plain_buffer, indexed, indexed_buffer, indices, count);
  elements_ += op->indexed.count;
  return &op->indexed;
}

bool OpList::SumsRows(engine::IndexedAction action, const StridedView& plain, const StridedView& indexed,
                      const engine::IndexView* indices, int count) noexcept {
  engine::IndexedMove move;
  Plan(move, action, plain, {}, indexed, {}, indices, count);
  return engine::SumsRows(move);
}

engine::IndexedMove* OpList::SumRows(engine::IndexedAction action, const StridedView& plain,
                                     BufferRef plain_buffer, const StridedView& indexed,
                                     BufferRef indexed_buffer, const engine::IndexView* indices,
                                     int count) noexcept {
  ListedOp* const op = Next(ListedOp::Kind::kSumRows);
  if (op == nullptr) return nullptr;
  engine::IndexedMove& move = op->indexed;
  Plan(move, action, plain, plain_buffer, indexed, indexed_buffer, indices, count);
  move.dtype = ACL_FLOAT;
  move.conversion = engine::FindConversion(executor_.isa, plain.dtype, ACL_FLOAT);
  move.conversion.from_size = static_cast<int32_t>(StorageBits(plain.dtype) / 8);
  op->widened = engine::FindConversion(executor_.isa, indexed.dtype, ACL_FLOAT);
  op->rounded = engine::FindConversion(executor_.isa, ACL_FLOAT, indexed.dtype);
  op->order = Workspace(engine::RowsWorkspace(move));
  elements_ += move.count;
  return &move;
}

void OpList::DivideRows(BufferRef sums, BufferRef counts, int64_t rows, int64_t columns,
                        aclDataType dtype) noexcept {
  ListedOp* const op = Next(ListedOp::Kind::kDivideRows);
  if (op == nullptr) return;
  op->destination = sums;
  op->source = counts;
  op->rows = rows;
  op->columns = columns;
  op->dtype = dtype;
}

void OpList::FindTrue(BufferRef mask, const StridedView& shape, BufferRef indices, int64_t count,
                      const int64_t* stride, int entry) noexcept {
  ListedOp* const op = Next(ListedOp::Kind::kFindTrue);
  if (op == nullptr) return;
  op->source = mask;
  op->destination = indices;
  op->rows = shape.numel;
  op->columns = count;
  op->rank = shape.shape.rank;
  op->entry = entry;
  for (int dim = 0; dim < shape.shape.rank; ++dim) {
    op->extent[dim] = shape.shape[dim];
    op->stride[dim] = stride[dim];
  }
}

void OpList::WriteCompacted(const StridedView& mask, BufferRef mask_buffer, const StridedView* source,
                            BufferRef source_buffer, aclTensor* result, int result_operand,
                            bool is_across) noexcept {
  const BufferRef counts = Workspace(engine::MaskBlocks(mask.numel) * int64_t{sizeof(int64_t)});
  const auto size = static_cast<int32_t>(aclDataTypeSize(result->dtype));
  ListedOp* const op = Next(source != nullptr ? ListedOp::Kind::kPack : ListedOp::Kind::kCoordinates);
  if (op == nullptr) return;
  op->mask = mask_buffer;
  op->source = source != nullptr ? source_buffer : mask_buffer;
  if (source != nullptr) op->source.offset += ByteOffset(*source);
  op->destination = {result_operand, ByteOffset(*result)};
  op->counts = counts;
  op->pack = engine::FindPack(executor_.isa, size);
  op->rows = mask.numel;
  op->size = size;
  op->is_across = is_across;
  op->rank = mask.shape.rank;
  op->columns = source != nullptr ? result->numel : result->numel / std::max(mask.shape.rank, 1);
  std::copy(mask.shape.dim, mask.shape.dim + mask.shape.rank, op->extent);
  executor_.ShapeLater(0, result);
  elements_ += mask.numel;
}

void OpList::Unpack(const StridedView& mask, BufferRef mask_buffer, BufferRef source, int64_t count,
                    BufferRef destination, int32_t size, const char* name) noexcept {
  const BufferRef counts = Workspace(engine::MaskBlocks(mask.numel) * int64_t{sizeof(int64_t)});
  ListedOp* const op = Next(ListedOp::Kind::kUnpack);
  if (op == nullptr) return;
  op->mask = mask_buffer;
  op->source = source;
  op->destination = destination;
  op->counts = counts;
  op->unpack = engine::FindUnpack(executor_.isa, size);
  op->rows = mask.numel;
  op->columns = count;
  op->size = size;
  op->name = name;
  op->raises = CurrentConfiguration().index_errors_raise;
  elements_ += mask.numel;
}

engine::RepeatInterleave* OpList::RepeatInterleave(const StridedView& counts, int operand, const char* name,
                                                   int64_t elements, int64_t length, BufferRef to) noexcept {
  const BufferRef sums = Workspace(engine::RepeatInterleaveBlocks(elements) * int64_t{sizeof(int64_t)});
  ListedOp* const op = Next(ListedOp::Kind::kRepeatInterleave);
  if (op == nullptr) return nullptr;
  engine::RepeatInterleave& interleave = op->interleave;
  interleave.name = name;
  interleave.counts = {operand, ByteOffset(counts)};
  interleave.stride = counts.numel > 1 ? ByteStride(counts, 0) : 0;
  interleave.is_wide = counts.dtype == ACL_INT64;
  interleave.elements = elements;
  interleave.offsets = to;
  interleave.length = length;
  interleave.sums = sums;
  interleave.threads = executor_.threads;
  interleave.raises = CurrentConfiguration().index_errors_raise;
  elements_ += elements + length;
  return &interleave;
}

engine::Unique* OpList::Unique(const StridedView& source, BufferRef source_buffer, bool sorts, int dim,
                               aclTensor* result, int result_operand) noexcept {
  if (!HasMemoryFor(executor_.parameters[0].name, source.numel, executor_, memory_)) return nullptr;
  const int64_t count = dim < 0 ? source.numel : source.shape[dim];
  const BufferRef memory = Workspace(engine::UniqueMemory(source.dtype, count, sorts));
  ListedOp* const op = Next(ListedOp::Kind::kUnique);
  if (op == nullptr) return nullptr;
  engine::Unique& unique = op->unique;
  unique = {};
  unique.dtype = source.dtype;
  unique.size = static_cast<int32_t>(aclDataTypeSize(source.dtype));
  unique.sorts = sorts;
  unique.before = unique.behind = 1;
  unique.count = count;
  unique.rank = 1;
  for (int i = 0; dim >= 0 && i < source.shape.rank; ++i) {
    unique.extent[i] = source.shape[i];
    if (i != dim) (i < dim ? unique.before : unique.behind) *= source.shape[i];
    unique.rank = source.shape.rank;
    unique.dim = dim;
  }
  unique.source = source_buffer;
  unique.memory = memory;
  unique.values = {result_operand, result->offset * unique.size};
  unique.most_values = result->numel / (unique.before * unique.behind);
  unique.threads = executor_.threads;
  unique.isa = executor_.isa;
  executor_.ShapeLater(0, result);
  elements_ += source.numel;
  return &unique;
}

void OpList::SortRows(const StridedView& source, BufferRef source_buffer, const StridedView* values,
                      BufferRef values_buffer, const StridedView* indices, BufferRef indices_buffer, int dim,
                      engine::SortRows rows) noexcept {
  if (!HasMemoryFor(executor_.parameters[0].name, source.numel, executor_, memory_)) return;
  ListedOp* const op = Next(ListedOp::Kind::kSortRows);
  if (op == nullptr) return;
  rows.source.buffer = source_buffer;
  rows.values.buffer = values_buffer;
  rows.indices.buffer = indices_buffer;
  engine::PlanSortRows(source, values, indices, dim, executor_.isa, executor_.threads, rows);
  rows.memory = Workspace(engine::RowsMemory(rows));
  op->sort_rows = rows;
  elements_ += source.numel;
}

void OpList::Search(const engine::Search& search) noexcept {
  ListedOp* const op = Next(ListedOp::Kind::kSearch);
  if (op == nullptr) return;
  op->search = search;
  op->search.threads = executor_.threads;
  op->search.raises = CurrentConfiguration().index_errors_raise;
  elements_ += search.rows * search.numbers;
}

BufferRef OpList::Histogram(engine::Histogram histogram, const char* bins) noexcept {
  if (!HasMemoryFor(bins, histogram.bins, executor_, memory_)) return {};
  histogram.threads = executor_.threads;
  histogram.gather = engine::FindGather(executor_.isa, engine::GatherSource::kCache);
  histogram.raises = CurrentConfiguration().index_errors_raise;
  histogram.sums = Workspace(engine::HistogramMemory(histogram));
  ListedOp* const op = Next(ListedOp::Kind::kHistogram);
  if (op == nullptr) return {};
  op->histogram = histogram;
  elements_ += histogram.count;
  return histogram.sums;
}

BufferRef OpList::Flatten(StridedView& view, int operand) noexcept {
  const StridedView merged = MergedDims(view);
  const int64_t size = static_cast<int64_t>(aclDataTypeSize(view.dtype));
  const int64_t count = view.numel;
  BufferRef buffer = OperandBuffer(operand);
  int64_t offset = merged.offset;
  int64_t stride = merged.shape.rank == 1 ? merged.strides[0] : 1;
  if (merged.shape.rank > 1) {
    const StridedView dense = DenseTensor(merged.shape, view.dtype);
    buffer = Workspace(count * size);
    Copy(merged, OperandBuffer(operand), dense, buffer);
    offset = 0;
    stride = 1;
  }
  view = DenseTensor(Shape{count}, view.dtype);
  view.offset = offset;
  view.strides.dim[0] = stride;
  view.Describe();
  return buffer;
}

void OpList::SetJob() noexcept {
  if (memory_ == nullptr || count_ == 0) return;
  executor_.SetJob([&] {
    engine::OpListJob job;
    job.count = count_;
    job.elements = elements_;
    return job;
  });
  const auto* const ops = reinterpret_cast<const ListedOp*>(memory_ + engine::OpListJob::kSharedValueBytes);
  for (const ListedOp* op = ops; op < ops + count_; ++op) {
    if (op->kind == ListedOp::Kind::kPack || op->kind == ListedOp::Kind::kCoordinates) Touch(op->mask);
    if (op->kind == ListedOp::Kind::kUnpack) Touch(op->mask);
    if (op->kind == ListedOp::Kind::kRepeatInterleave) {
      Touch(op->interleave.counts);
      Touch(op->interleave.offsets);
      continue;
    }
    if (op->kind == ListedOp::Kind::kUnique) {
      Touch(op->unique.source);
      Touch(op->unique.values);
      if (op->unique.most_inverse > 0) Touch(op->unique.inverse);
      if (op->unique.sets_counts) Touch(op->unique.counts);
      continue;
    }
    if (op->kind == ListedOp::Kind::kSortRows) {
      for (const engine::SortRows::Side* const side :
           {&op->sort_rows.source, &op->sort_rows.values, &op->sort_rows.indices}) {
        if (side->is_there) Touch(side->buffer);
      }
      continue;
    }
    if (op->kind == ListedOp::Kind::kComputation) {
      for (int32_t operand = 0; operand < 32; ++operand) {
        if ((op->touched >> operand & 1) != 0) Touch({operand, 0});
      }
      continue;
    }
    if (op->kind == ListedOp::Kind::kSearch) {
      Touch(op->search.sequence);
      Touch(op->search.number);
      Touch(op->search.positions);
      if (op->search.has_order) Touch(op->search.order);
      continue;
    }
    if (op->kind == ListedOp::Kind::kHistogram) {
      Touch(op->histogram.numbers.buffer);
      if (op->histogram.is_weighed) Touch(op->histogram.weights.buffer);
      continue;
    }
    if (op->kind != ListedOp::Kind::kIndexed && op->kind != ListedOp::Kind::kSumRows) {
      Touch(op->source);
      Touch(op->destination);
      continue;
    }
    Touch(op->indexed.plain);
    Touch(op->indexed.indexed);
    for (int k = 0; k < op->indexed.index_count; ++k) Touch({op->indexed.index[k].operand, 0});
  }
}

StridedView DenseTensor(const Shape& shape, aclDataType dtype) noexcept {
  StridedView tensor;
  tensor.shape = shape;
  tensor.strides = RowMajorStrides(shape);
  tensor.dtype = dtype;
  tensor.Describe();
  return tensor;
}

}  // namespace portacl
