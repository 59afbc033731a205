// Jobs of several stages (see stage_list.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/stage_list.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>

#include "acl/settings/configuration.h"
#include "aclnnop/mapped_view.h"
#include "base/data_type.h"
#include "plan/views.h"

namespace portacl {
namespace {

constexpr int64_t kCacheLine = 64;
constexpr int64_t kMostElements = int64_t{1} << 52;  // larger sizes would overflow in bytes

struct Stage {
  enum class Kind : uint8_t { kMap, kIndexed, kSort, kProduct, kRows, kComputation };
  static constexpr size_t kAlignment = 16;
  static constexpr size_t kBytes =
      std::max({sizeof(engine::ElementwiseJob), sizeof(engine::IndexedMove), sizeof(engine::SortRows),
                sizeof(engine::GemmJob), sizeof(engine::RowwiseJob)});

  Kind kind;
  int64_t workspace;  // offset of a product's workspace
  void (*compute)(const std::byte* held, const JobContext& context);
  alignas(kAlignment) std::byte job[kBytes];

  template <class Job>
  const Job& As() const noexcept {
    return *reinterpret_cast<const Job*>(job);
  }
};

// Runs the stages. Operands are those of the call, then the workspace.
struct StagesJob {
  int count;
  int operands;
  uint32_t touched;
  int64_t elements;

  bool Touches(int operand) const noexcept { return (touched >> operand & 1) != 0; }
  int64_t Elements() const noexcept { return elements; }

  void Run(const JobContext& context) const noexcept {
    void* addresses[kMaxParameters + 1];
    std::copy_n(context.addresses, operands, addresses);
    addresses[operands] = context.workspace;
    const auto* const stages = reinterpret_cast<const Stage*>(context.memory);
    for (const Stage* stage = stages; stage < stages + count; ++stage) {
      switch (stage->kind) {
        case Stage::Kind::kMap:
          stage->As<engine::ElementwiseJob>().Run(addresses, context.workspace);
          break;
        case Stage::Kind::kIndexed:
          stage->As<engine::IndexedMove>().Run(context);
          break;
        case Stage::Kind::kSort:
          stage->As<engine::SortRows>().Run(context);
          break;
        case Stage::Kind::kProduct:
          stage->As<engine::GemmJob>().Run(addresses,
                                           static_cast<char*>(context.workspace) + stage->workspace);
          break;
        case Stage::Kind::kRows:
          stage->As<engine::RowwiseJob>().Run(addresses, static_cast<char*>(context.workspace));
          break;
        case Stage::Kind::kComputation:
          stage->compute(stage->job, context);
          break;
      }
    }
  }
};

template <class Job>
void Put(std::byte* memory, int at, Stage::Kind kind, const Job& job, int64_t workspace = 0) noexcept {
  static_assert(alignof(Job) <= Stage::kAlignment);
  Stage* const stage = new (memory + static_cast<size_t>(at) * sizeof(Stage)) Stage;
  stage->kind = kind;
  stage->workspace = workspace;
  new (stage->job) Job(job);
}

}  // namespace

StageList::StageList(const OperatorCall& call, Executor& executor, int most) noexcept
    : call_(call),
      executor_(executor),
      memory_(executor.ReserveMemory(static_cast<size_t>(most) * sizeof(Stage))) {}

MappedView StageList::Scratch(const Shape& shape, aclDataType dtype) noexcept {
  MappedView view{};
  view.tensor.dtype = dtype;
  FillShape(view.tensor, shape, 1);
  view.tensor.Describe();
  if (memory_ != nullptr && (!view.tensor.countable || view.tensor.numel > kMostElements)) {
    executor_.RefuseSize(call_.Name(0), view.tensor.numel);
    memory_ = nullptr;
  }
  if (memory_ == nullptr) return view;
  view.operand = executor_.operand_count;
  const int64_t size = static_cast<int64_t>(StorageBits(dtype) / 8);
  const auto begin =
      (static_cast<int64_t>(executor_.workspace_size) + kCacheLine - 1) / kCacheLine * kCacheLine;
  view.tensor.offset = begin / size;
  executor_.workspace_size = static_cast<uint64_t>(begin + view.tensor.numel * size);
  return view;
}

engine::BufferRef StageList::BufferOf(int operand) const noexcept {
  return {operand == executor_.operand_count ? engine::BufferRef::kWorkspace : operand, 0};
}

void StageList::Map(std::initializer_list<MappedView> inputs, const MappedView& output,
                    const engine::KernelTable& kernels, const engine::Scalars& scalars) noexcept {
  if (memory_ == nullptr) return;
  const engine::ElementwiseJob job =
      engine::MakeMapJob(SettingsOf(call_), MapInputs(inputs).All(), output.AsOperand(), kernels, scalars);
  for (const MappedView& input : inputs) Touch(input);
  Touch(output);
  elements_ += job.plan.count;
  Put(memory_, count_++, Stage::Kind::kMap, job);
}

void StageList::Indexed(engine::IndexedAction action, const MappedView& plain, const MappedView& indexed,
                        const engine::IndexView* indices, int count, bool raises, int64_t before) noexcept {
  if (memory_ == nullptr) return;
  engine::IndexView resolved[engine::kMostIndices];
  std::copy_n(indices, count, resolved);
  for (int k = 0; k < count; ++k) {
    touched_ |= uint32_t{1} << resolved[k].operand;
    resolved[k].operand = BufferOf(resolved[k].operand).operand;
  }
  engine::IndexedMove move;
  move.action = action;
  move.threads = executor_.threads;
  move.dtype = indexed.tensor.dtype;
  move.is_scaled = false;
  move.are_columns = false;
  move.before = before;
  move.raises = raises && CurrentConfiguration().index_errors_raise;
  move.ignored = engine::IndexedMove::kNoneIgnored;
  engine::PlanIndexed(plain.tensor, indexed.tensor, resolved, count, move);
  for (int k = 0; k < count; ++k)
    move.index[k].follow = engine::FindFollow(executor_.isa, move.index[k].is_wide);
  move.conversion = engine::FindConversion(executor_.isa, plain.tensor.dtype, indexed.tensor.dtype);
  move.conversion.from_size = static_cast<int32_t>(StorageBits(plain.tensor.dtype) / 8);
  move.plain.operand = BufferOf(plain.operand).operand;
  move.indexed.operand = BufferOf(indexed.operand).operand;
  Touch(plain);
  Touch(indexed);
  elements_ += move.count;
  Put(memory_, count_++, Stage::Kind::kIndexed, move);
}

void StageList::Sort(const MappedView& source, const MappedView& values, const MappedView& indices,
                     int dim) noexcept {
  if (memory_ == nullptr) return;
  engine::SortRows rows{};
  rows.kind = engine::SortRows::Kind::kFirst;
  rows.kept = source.tensor.shape[dim];
  rows.source.buffer = BufferOf(source.operand);
  rows.values.buffer = BufferOf(values.operand);
  rows.indices.buffer = BufferOf(indices.operand);
  engine::PlanSortRows(source.tensor, &values.tensor, &indices.tensor, dim, executor_.isa, executor_.threads,
                       rows);
  const int64_t bytes = engine::RowsMemory(rows);
  const MappedView memory = Scratch(Shape{bytes}, ACL_INT8);
  if (memory_ == nullptr) return;
  rows.memory = {engine::BufferRef::kWorkspace, memory.tensor.offset};
  for (const MappedView* view : {&source, &values, &indices}) Touch(*view);
  elements_ += source.tensor.numel;
  Put(memory_, count_++, Stage::Kind::kSort, rows);
}

void StageList::Product(const engine::Gemm& gemm, const MappedView& left, const MappedView& right,
                        const MappedView& out) noexcept {
  if (memory_ == nullptr) return;
  const engine::GemmJob job = engine::MakeGemmJob(gemm, executor_.isa, executor_.threads);
  const int64_t bytes = job.WorkspaceBytes();
  const MappedView memory = Scratch(Shape{bytes}, ACL_INT8);
  if (memory_ == nullptr) return;
  for (const MappedView* view : {&left, &right, &out}) Touch(*view);
  elements_ += job.Elements();
  Put(memory_, count_++, Stage::Kind::kProduct, job, memory.tensor.offset);
}

void StageList::AddRows(const engine::RowwiseJob& job, uint32_t touched) noexcept {
  if (memory_ == nullptr) return;
  touched_ |= touched;
  elements_ += job.rows * job.n;
  Put(memory_, count_++, Stage::Kind::kRows, job);
}

void StageList::AddComputation(const void* computation, size_t bytes,
                               void (*run)(const std::byte* held, const JobContext& context),
                               int64_t elements) noexcept {
  static_assert(kComputationBytes <= Stage::kBytes);
  if (memory_ == nullptr) return;
  Stage* const stage = new (memory_ + static_cast<size_t>(count_++) * sizeof(Stage)) Stage;
  stage->kind = Stage::Kind::kComputation;
  stage->compute = run;
  std::memcpy(stage->job, computation, bytes);
  elements_ += elements;
}

void StageList::SetJob() noexcept {
  if (memory_ == nullptr) return;
  executor_.SetJob([&] { return StagesJob{count_, executor_.operand_count, touched_, elements_}; });
}

}  // namespace portacl
