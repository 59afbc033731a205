// Shared code of reductions and scans (see reduction_call.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/jobs/reduction_call.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "aclnnop/call_of_views.h"
#include "aclnnop/jobs/op_list.h"
#include "aclnnop/jobs/sum_of_terms.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "engine/cache_size.h"
#include "engine/map/map_types.h"
#include "plan/move_plan.h"
#include "plan/views.h"

namespace portacl {

using engine::ElementType;
using engine::ReductionOperation;

namespace {

constexpr DtypeSet kComputedAsFloat{ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

int RankOrOne(const Shape& shape) { return std::max(shape.rank, 1); }

bool IsAllOrAny(ReductionOperation operation) {
  return operation == ReductionOperation::kAny || operation == ReductionOperation::kAll;
}

// Returns the type in which elements of a dtype are reduced.
ElementType ReducedType(ReductionOperation operation, aclDataType dtype) {
  if (IsAllOrAny(operation)) {
    switch (StorageBits(dtype)) {
      case 8:
        return ElementType::kU8;
      case 16:
        return ElementType::kU16;
      case 32:
        return ElementType::kU32;
      default:
        return ElementType::kU64;
    }
  }
  if (kComputedAsFloat.Contains(dtype)) return ElementType::kF32;
  if (dtype == ACL_DOUBLE) return ElementType::kF64;
  if (dtype == ACL_COMPLEX64 || dtype == ACL_COMPLEX128) return ElementType::kC128;
  const bool is_extreme =
      operation == ReductionOperation::kExtreme || operation == ReductionOperation::kFirstExtreme;
  const bool is_wide = dtype == ACL_INT64 || dtype == ACL_UINT64 || dtype == ACL_UINT32;
  return is_extreme && !is_wide ? ElementType::kI32 : ElementType::kI64;
}

// Tells whether bfloat16 is reduced without conversion.
bool TakesWords(Isa isa, const ReductionRequest& request, aclDataType dtype) {
  return dtype == ACL_BF16 && request.cast == ACL_BF16 &&
         std::all_of(request.passes.begin(), request.passes.end(), [isa](const ReductionPassRequest& step) {
           return !IsAllOrAny(step.operation) &&
                  engine::FindReduction(isa, step.operation, ElementType::kBf16) != nullptr;
         });
}

// Tells whether the data exceeds the share of the cache that one process can expect.
bool IsFromMemory(int64_t bytes) { return bytes > engine::LastLevelCacheBytes() / 2; }

// Tells whether a sum over rows in the cache takes the reduction kernels. They add four rows at a time, the
// other path one, in memory order. Both give the same bits.
bool IsAcrossRowsInCache(const StridedView& self, aclDataType out, aclDataType cast, uint32_t reduced) {
  constexpr int64_t kFewestColumns = 32;
  const int last = self.shape.rank - 1;
  if (last < 0 || cast != self.dtype || out != self.dtype || self.strides[last] != 1) return false;
  int64_t columns = 1;
  for (int axis = last; axis >= 0 && (reduced >> axis & 1) == 0; --axis) columns *= self.shape[axis];
  return columns >= kFewestColumns &&
         !IsFromMemory(self.numel * static_cast<int64_t>(StorageBits(self.dtype) / 8));
}

// Returns a mask of an element's bits. The element is true if any of them is set.
uint64_t BitsOfAllAny(aclDataType dtype) {
  switch (dtype) {
    case ACL_FLOAT16:
    case ACL_BF16:
      return 0x7FFF;
    case ACL_FLOAT:
      return 0x7FFFFFFF;
    case ACL_DOUBLE:
      return 0x7FFFFFFFFFFFFFFF;
    default:
      return ~uint64_t{0};
  }
}

Shape KeptShape(const Shape& shape, uint32_t reduced) {
  Shape kept = shape;
  for (int axis = 0; axis < shape.rank; ++axis) {
    if ((reduced >> axis & 1) != 0) kept.dim[axis] = 1;
  }
  return kept;
}

// Sets the conversion from `written` to a dtype, for integers through `cast`. Returns whether any conversion
// is needed.
bool StoreOf(Isa isa, aclDataType cast, ElementType written, aclDataType dtype, engine::ElementStore* store) {
  const engine::MapTypes types{isa, cast, written, written == ElementType::kBool};
  ElementType type{};
  *store = types.StoreFor(dtype, &type);
  return type != written;
}

struct Loading {
  ElementType type;
  int tile;
  engine::GatherFunction gather;
  engine::ElementLoad load;
};
Loading LoadOf(Isa isa, aclDataType dtype, aclDataType cast, ElementType computed, bool as_it_is,
               int64_t bytes) {
  Loading loading;
  const engine::MapTypes types{isa, cast, computed, /*writes_bool=*/false};
  loading.type = computed;
  if (!as_it_is) loading.load = types.LoadFor(dtype, cast, &loading.type);
  loading.tile =
      static_cast<int>(std::min<size_t>(engine::kTile, engine::kTileBytes / engine::SizeOf(computed)));
  if (!as_it_is && (types.IsWide(dtype) || StorageBits(dtype) > 64))
    loading.tile = std::min(loading.tile, engine::kTile / 4);
  loading.gather =
      engine::FindGather(isa, bytes > engine::LastLevelCacheBytes() ? engine::GatherSource::kMemoryAskedAhead
                                                                    : engine::GatherSource::kCache);
  return loading;
}

engine::ReductionPass PassOf(Isa isa, const ReductionPassRequest& step, aclDataType dtype, ElementType type) {
  engine::ReductionPass pass;
  pass.kernels = engine::FindReduction(isa, step.operation, type);
  if (IsAllOrAny(step.operation)) pass.constants.bits = BitsOfAllAny(dtype);
  if (step.is_of_magnitude) pass.constants.bits = ~uint64_t{0} >> 1;
  if (step.is_least) pass.constants.flip = ~uint64_t{0};
  pass.constants.power = step.power;
  pass.divisor = step.divisor;
  pass.number = step.number;
  pass.ending = step.ending;
  pass.wraps_to = dtype;
  pass.is_kept = step.is_kept;
  return pass;
}

}  // namespace

uint32_t ReducedDims(const OperatorCall& call) noexcept {
  constexpr uint32_t kAllDims = ~uint32_t{0};
  if (call.attributes.empty()) return kAllDims;
  const Attribute& dims = call.attributes[kReducedDims];
  const int rank = RankOrOne(call.Tensor(kReducedSelf).shape);
  if (dims.array != nullptr) {
    if (dims.array->values.empty()) return kAllDims;
    uint32_t reduced = 0;
    for (const int64_t dim : dims.array->values) reduced |= uint32_t{1} << WrappedDim(dim, rank);
    return reduced;
  }
  return uint32_t{1} << WrappedDim(dims.integer, rank);
}

int64_t ReducedCount(const OperatorCall& call) noexcept {
  const Shape& shape = call.Tensor(kReducedSelf).shape;
  const uint32_t reduced = ReducedDims(call);
  int64_t count = 1;
  for (int axis = 0; axis < shape.rank; ++axis) {
    if ((reduced >> axis & 1) != 0) count *= shape[axis];
  }
  return count;
}

aclnnStatus check::SetsReducedShape(const Check&, OperatorCall& call) noexcept {
  const Shape& shape = call.Tensor(kReducedSelf).shape;
  const uint32_t reduced = ReducedDims(call);
  const bool keeps = !call.attributes.empty() && call.attributes[kKeepsReducedDims].integer != 0;
  call.broadcast.rank = 0;
  for (int axis = 0; axis < shape.rank; ++axis) {
    const bool is_reduced = (reduced >> axis & 1) != 0;
    if (is_reduced && !keeps) continue;
    call.broadcast.dim[call.broadcast.rank++] = is_reduced ? 1 : shape[axis];
  }
  return ACL_SUCCESS;
}

aclnnStatus check::GivesValueIfEmpty(const Check& check, OperatorCall& call) noexcept {
  if (!call.Tensor(check.operands.index[0]).shape.IsEmpty()) return ACL_SUCCESS;
  for (int i = 0; i < call.output_count; ++i) {
    const aclTensor& output = call.Tensor(call.Output() + i);
    if (output.shape.IsEmpty()) continue;
    const Check implemented = DtypeImplemented({call.Output() + i}, kConvertible);
    if (const aclnnStatus status = implemented.run(implemented, call); status != ACL_SUCCESS) return status;
    if (MergedDims(output).shape.rank <= kMaxLoopRank) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, call.Output() + i);
    return FailAclnn(
        ACLNN_ERR_INNER_NULLPTR,
        message.Add(" has more than 8 dims that cannot be taken together, accepted: at most 8."));
  }
  call.work = OperatorCall::Work::kNoTerms;
  return ACL_SUCCESS;
}

aclnnStatus check::DtypeIs(const Check& check, OperatorCall& call) noexcept {
  const Attribute& attribute = call.attributes[static_cast<size_t>(check.operands.index[1])];
  const int tensor = check.operands.index[0];
  if (call.Tensor(tensor).dtype == attribute.dtype()) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentDtype(message.Add("parameter "), call, tensor).Add(" differs from ").Add(attribute.name);
  AddDtypeName(message.Add(", accepted: "), attribute.dtype());
  return FailAclnn(check.code, message.Add("."));
}

aclnnStatus check::NoEmptyDims(const Check& check, OperatorCall& call) noexcept {
  const Attribute& dims = call.attributes[kReducedDims];
  if (dims.array != nullptr && dims.array->values.empty()) return ACL_SUCCESS;
  const Shape& shape = call.Tensor(kReducedSelf).shape;
  const uint32_t reduced = ReducedDims(call);
  for (int axis = 0; axis < shape.rank; ++axis) {
    if ((reduced >> axis & 1) == 0 || shape[axis] != 0) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, kReducedSelf);
    return FailAclnn(check.code, message.Add(" has no elements along dim ")
                                     .Add(axis)
                                     .Add(", which ")
                                     .Add(dims.name)
                                     .Add(" names, accepted: dims of at least 1 element."));
  }
  return ACL_SUCCESS;
}

engine::AxisReductionJob MakeAxisReductionJob(const OperatorCall& call,
                                              const ReductionRequest& request) noexcept {
  engine::AxisReductionJob job;
  const StridedView& self = request.view != nullptr ? *request.view : call.Tensor(kReducedSelf);
  const ReductionOperation operation = request.passes.begin()->operation;
  const bool takes_words = TakesWords(call.isa, request, self.dtype);
  const ElementType type = takes_words ? ElementType::kBf16 : ReducedType(operation, request.cast);
  const bool as_it_is = takes_words || (IsAllOrAny(operation) && self.dtype == request.cast);
  job.passes = static_cast<int8_t>(request.passes.size());
  job.outputs = 0;
  job.input = kReducedSelf;
  job.isa = call.isa;
  job.wide_functions = type == ElementType::kF64;
  const StridedView* results[engine::kMaxReductionOutputs] = {};
  const auto add_output = [&](int tensor, aclDataType cast, ElementType written) {
    const int8_t output = job.outputs++;
    results[output] = &call.Tensor(tensor);
    job.output[output] = static_cast<int8_t>(call.OperandOf(tensor));
    job.is_stored[output] = StoreOf(call.isa, cast, written, results[output]->dtype, &job.store[output]);
    return output;
  };
  int pass = 0;
  for (const ReductionPassRequest& step : request.passes) {
    job.pass[pass] = PassOf(call.isa, step, request.cast, type);
    const ElementType written = job.pass[pass].kernels->results;
    if (step.output >= 0) job.pass[pass].output = add_output(step.output, request.cast, written);
    if (step.indices >= 0) job.pass[pass].indices = add_output(step.indices, ACL_INT64, ElementType::kI64);
    ++pass;
  }
  const StridedView* const input[] = {&self};
  const Shape kept = KeptShape(self.shape, request.reduced);
  job.plan = PlanReduction(self.shape, kept, input, *results[0]);
  if (job.outputs > 1) {
    // Two outputs of one element may have different ranks.
    StridedView other = *results[1];
    if (other.numel == 1) other.shape = results[0]->shape;
    if (other.numel == 1) other.strides = results[0]->strides;
    int axes[kMaxDims];
    int rank = 0;
    for (int axis = 0; axis < results[0]->shape.rank; ++axis) {
      if (results[0]->shape[axis] != 1) axes[rank++] = axis;
    }
    const StridedView* const both[] = {results[0], &other};
    job.plan.output = PlanInOrder(results[0]->shape, {axes, static_cast<size_t>(rank)}, both);
  }
  const int64_t bytes = job.plan.terms.BytesWalked();
  const Loading loading =
      LoadOf(call.isa, self.dtype, request.cast, job.pass[0].kernels->terms, as_it_is, bytes);
  job.from_memory = IsFromMemory(bytes);
  job.type = loading.type;
  job.tile = loading.tile;
  job.gather = loading.gather;
  job.load = loading.load;
  job.threads = call.threads;
  return job;
}

void SetAxisReductionJob(const OperatorCall& call, const ReductionRequest& request,
                         Executor& executor) noexcept {
  executor.SetJob([&] {
    const engine::AxisReductionJob job = MakeAxisReductionJob(call, request);
    executor.workspace_size = job.workspace_bytes();
    return job;
  });
}

void SetSumJob(const OperatorCall& call, uint32_t reduced, aclDataType cast, bool is_mean, Executor& executor,
               const StridedView* view) noexcept {
  const StridedView& self = view != nullptr ? *view : call.Tensor(kReducedSelf);
  const aclTensor& out = call.Tensor(call.Output());
  const Shape kept = KeptShape(self.shape, reduced);
  const int64_t count = NumelOf(self.shape) / std::max<int64_t>(NumelOf(kept), 1);
  const auto terms = static_cast<double>(count);
  const bool is_plain = kComputedAsFloat.Contains(self.dtype) && kComputedAsFloat.Contains(out.dtype) &&
                        (cast == self.dtype || cast == ACL_FLOAT);
  if (!is_plain || IsAcrossRowsInCache(self, out.dtype, cast, reduced)) {
    ReductionPassRequest step{.operation = ReductionOperation::kSum, .output = call.Output()};
    if (cast == ACL_BOOL) step.operation = ReductionOperation::kAny;
    if (is_mean) step.ending = engine::ReductionEpilogue::kDivide;
    step.divisor = terms;
    if (is_mean && is_plain) {  // as below
      step.ending = engine::ReductionEpilogue::kTimes;
      step.number = 1.0 / terms;
    }
    return SetAxisReductionJob(call, {reduced, cast, {step}, view}, executor);
  }
  OperatorCall sum = call;
  const aclTensor terms_tensor = AsTensor(self);
  TensorArgument tensors[] = {{"self", &terms_tensor}, call.tensors[static_cast<size_t>(call.Output())]};
  sum.tensors = tensors;
  sum.promoted = ACL_FLOAT;
  executor.SetJob([&] {
    auto job = MakeReductionJob(sum, self.shape, kept, {0}, 1, 1.0f, executor);
    job.formula.Set(TermKernels(call.isa), engine::NoParameters());
    job.formula.argument[0] = kReducedSelf;
    job.output_argument = static_cast<int8_t>(call.OperandOf(call.Output()));
    if (is_mean) job.factor = 1.0 / terms;
    job.from_memory = IsFromMemory(job.plan.terms.BytesWalked());
    return job;
  });
}

void SetReductionValue(const OperatorCall& call, double value, Executor& executor) noexcept {
  aclScalar scalar;
  scalar.dtype = ACL_DOUBLE;
  std::memcpy(scalar.value, &value, sizeof value);
  OpList ops(executor, call.output_count);
  for (int i = 0; i < call.output_count; ++i) {
    const int tensor = call.Output() + i;
    const aclTensor& output = call.Tensor(tensor);
    if (output.shape.IsEmpty()) continue;
    ops.Fill(MergedDims(output), OperandBuffer(call.OperandOf(tensor)),
             ops.Value(ConvertScalar(scalar, output.dtype)));
  }
  ops.SetJob();
}

void SetScanJob(const OperatorCall& call, const ScanRequest& request, Executor& executor) noexcept {
  executor.SetJob([&] {
    engine::ScanJob job;
    const auto view = [&](int tensor) {
      StridedView flipped = PlainView(call.Tensor(tensor));
      if (request.is_reversed && flipped.shape.rank > 0)
        Narrow(flipped, request.dim, flipped.shape[request.dim] - 1, flipped.shape[request.dim], -1);
      return flipped;
    };
    const StridedView self = view(kReducedSelf);
    const StridedView out = view(request.output);
    const StridedView indices = view(request.indices >= 0 ? request.indices : request.output);
    const StridedView* const operands[] = {&self, &out, &indices};
    const bool is_sum = request.operation == engine::ScanOperation::kSum ||
                        request.operation == engine::ScanOperation::kProduct;
    job.computed =
        ReducedType(is_sum ? ReductionOperation::kSum : ReductionOperation::kExtreme, request.cast);
    job.functions = engine::FindScan(request.operation, job.computed);
    job.result = engine::ScanResult(request.operation, job.computed);
    job.input = kReducedSelf;
    job.outputs = request.indices >= 0 ? 2 : 1;
    job.output[0] = static_cast<int8_t>(request.output);
    job.output[1] = static_cast<int8_t>(request.indices);
    int axes[kMaxLoopRank];
    std::iota(std::begin(axes), std::end(axes), 0);
    const int rank = self.shape.rank;
    job.plan = PlanInOrder(self.shape, {axes, static_cast<size_t>(rank)},
                           {operands, static_cast<size_t>(job.outputs) + 1});
    job.outer = job.inner = 1;
    for (int axis = 0; axis < rank; ++axis) {
      if (axis < request.dim) job.outer *= self.shape[axis];
      if (axis > request.dim) job.inner *= self.shape[axis];
    }
    job.length = rank == 0 ? 1 : self.shape[request.dim];
    job.is_exclusive = request.is_exclusive;
    job.from_memory = IsFromMemory(job.plan.BytesWalked());
    const Loading loading =
        LoadOf(call.isa, self.dtype, request.cast, job.computed, false, job.plan.BytesWalked());
    job.type = loading.type;
    job.tile = std::min(loading.tile, 256);
    job.gather = loading.gather;
    job.load = loading.load;
    job.is_stored[0] = StoreOf(call.isa, request.cast, job.result, out.dtype, &job.store[0]);
    if (request.indices >= 0)
      job.is_stored[1] = StoreOf(call.isa, ACL_INT64, ElementType::kI64, indices.dtype, &job.store[1]);
    // Finds the kernel for contiguous lines whose elements are only converted during the addition.
    const auto is_dense = [&](int operand) {
      const auto& loop = job.plan.operand[operand];
      return job.plan.rank > 0 && loop.stride[job.plan.rank - 1] == loop.element_size;
    };
    if (self.dtype == out.dtype && job.computed == ElementType::kF32 && is_dense(0) && is_dense(1))
      job.as_stored = engine::FindLineScan(call.isa, request.operation, self.dtype);
    job.threads = call.threads;
    return job;
  });
}

}  // namespace portacl
