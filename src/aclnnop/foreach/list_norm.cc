// aclnnForeachNorm: the norm of each tensor of a list.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/foreach/list_norm_functions.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

#include "aclnnop/jobs/lists.h"
#include "aclnnop/jobs/reduction_call.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "engine/parallel.h"

namespace portacl {
namespace {

enum Tensors { kX, kOut };
enum Attributes { kOrd };

constexpr DtypeRule kDtypes = SinceAtlasA2(kFloatHalfAndBf16);
// The most elements of a tensor that is reduced by one thread, in parallel with other tensors.
constexpr int64_t kFew = 65536;
// Elements that one thread should take at a time.
constexpr int64_t kTogether = 32768;

struct PlannedNorm {
  engine::AxisReductionJob job;  // its operand 0 is an input, its operand 1 an output
  int32_t input;
  int32_t output;
  int64_t output_offset;  // in bytes
  int32_t output_bytes;
  bool is_empty;

  void Run(const JobContext& context) const noexcept {
    void* const addresses[] = {context.addresses[input], context.addresses[output]};
    if (is_empty) {
      std::memset(static_cast<char*>(addresses[1]) + output_offset, 0, static_cast<size_t>(output_bytes));
    } else {
      job.Run(addresses, context.workspace);
    }
  }
};

// The job's memory holds the norms. Those of many elements come first: all threads work on each, one after
// the other.
struct NormsJob {
  int many;
  int count;
  int threads;
  int together;
  int64_t elements;

  bool Touches(int) const noexcept { return false; }  // see SetNorms
  int64_t Elements() const noexcept { return elements; }

  void Run(const JobContext& context) const noexcept {
    const auto* const norms = reinterpret_cast<const PlannedNorm*>(context.memory);
    for (int i = 0; i < many; ++i) norms[i].Run(context);
    const int few = count - many;
    engine::ForEachBlock((few + together - 1) / together, threads, [&](int64_t part) {
      const int64_t begin = many + part * together;
      const int64_t end = std::min<int64_t>(count, begin + together);
      for (int64_t i = begin; i < end; ++i) norms[i].Run(context);
    });
  }
};

aclnnStatus CheckAll(const Check&, OperatorCall& call) noexcept {
  if (const aclnnStatus status = CheckNulls(call, {kX, kOut})) return status;
  const aclScalar* const scalar = call.attributes[kOrd].scalar;
  if (scalar == nullptr) {
    return FailAclnn(ACLNN_ERR_PARAM_NULLPTR,
                     StartMessage(call).Add("parameter scalar is a null pointer, accepted: a scalar."));
  }
  for (const int list : {kX, kOut}) {
    for (int entry = 0; entry < call.Count(list); ++entry) {
      if (call.Entry(list, entry) == nullptr)
        return RefuseArgument(call, ACLNN_ERR_PARAM_NULLPTR, list, entry,
                              " is a null pointer, accepted: a tensor.");
    }
  }
  // Checks each list by itself, since out's shapes differ from x's. Errors of dtype come before errors of
  // lists and shapes (561002).
  aclnnStatus structure = ACL_SUCCESS;
  for (const int list : {kOut, kX}) {
    const aclnnStatus status = CheckLists(call, kDtypes, /*is_generated=*/true, {list});
    if (status != ACL_SUCCESS && status != ACLNN_ERR_INNER_TILING_ERROR) return status;
    if (status != ACL_SUCCESS) structure = status;
  }
  const bool has_both = call.Count(kX) > 0 && call.Count(kOut) > 0;
  if (has_both && call.Entry(kX, 0)->dtype != call.Entry(kOut, 0)->dtype) {
    return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, kOut, 0,
                          " is not of the dtype of x, accepted: the same dtype.");
  }
  if (scalar->dtype != ACL_FLOAT && scalar->dtype != ACL_DOUBLE && scalar->dtype != ACL_INT64) {
    return FailAclnn(ACLNN_ERR_PARAM_INVALID,
                     StartMessage(call).Add("parameter scalar has a dtype that is not accepted, accepted: "
                                            "DT_FLOAT, DT_DOUBLE, DT_INT64."));
  }
  if (structure != ACL_SUCCESS) return structure;
  if (call.Count(kX) != call.Count(kOut)) {
    return RefuseArgument(call, ACLNN_ERR_INNER_TILING_ERROR, kOut, -1,
                          " has not as many entries as x, accepted: as many.");
  }
  for (int entry = 0; entry < call.Count(kOut); ++entry) {
    if (call.Entry(kOut, entry)->numel != 1)
      return RefuseArgument(call, ACLNN_ERR_INNER_TILING_ERROR, kOut, entry,
                            " has not one element, accepted: one element.");
  }
  if (const aclnnStatus status = CheckStorage(call, {kOut}, {kX})) return status;
  if (call.Count(kX) == 0) call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}
constexpr Check kChecks[] = {{.run = CheckAll}};

ReductionPassRequest StepOf(const OperatorCall& call) {
  const ScalarValue value = ConvertScalar(call.Scalar(kOrd), ACL_FLOAT);
  float ord = 0;
  std::memcpy(&ord, value.bytes, sizeof ord);
  if (ord >= 1 && ord < 2) return {.operation = engine::ReductionOperation::kSumOfMagnitudes, .output = 1};
  if (call.product == Product::kAscend950 && std::isinf(ord) && ord > 0)
    return {.operation = engine::ReductionOperation::kExtreme, .is_of_magnitude = true, .output = 1};
  return {.operation = engine::ReductionOperation::kSumOfSquares,
          .ending = engine::ReductionEpilogue::kRoot,
          .output = 1};
}

void SetNorms(const OperatorCall& call, Executor& executor) {
  const int count = call.Count(kX);
  auto* const norms = reinterpret_cast<PlannedNorm*>(
      executor.ReserveMemory(static_cast<size_t>(count) * sizeof(PlannedNorm)));
  if (norms == nullptr) return;
  const ReductionPassRequest step = StepOf(call);
  int many = 0;
  int few = 0;
  int64_t elements = 0;
  int64_t in_few = 0;
  uint64_t workspace = 0;
  for (int entry = 0; entry < count; ++entry) {
    const aclTensor& x = *call.Entry(kX, entry);
    const aclTensor& out = *call.Entry(kOut, entry);
    PlannedNorm norm{};
    norm.input = call.OperandOf(kX, entry);
    norm.output = call.OperandOf(kOut, entry);
    norm.output_bytes = static_cast<int32_t>(StorageBits(out.dtype) / 8);
    norm.output_offset = ByteOffset(out);
    norm.is_empty = x.shape.IsEmpty();
    if (!norm.is_empty) {
      const TensorArgument tensors[] = {{"x", &x}, {"out", &out}};
      OperatorCall one = call;
      one.tensors = tensors;
      norm.job = MakeAxisReductionJob(one, {~uint32_t{0}, x.dtype, {step}});
      norm.job.output[0] = 1;
    }
    const uint64_t bytes = norm.is_empty ? 0 : norm.job.workspace_bytes();
    elements += x.numel;
    if (bytes > 0 || x.numel > kFew) {
      workspace = std::max(workspace, bytes);
      new (norms + many++) PlannedNorm(norm);
    } else {
      norm.job.threads = 1;
      in_few += x.numel;
      new (norms + count - ++few) PlannedNorm(norm);
    }
  }
  executor.workspace_size = workspace;
  executor.SetJob([&] {
    NormsJob job;
    job.many = many;
    job.count = count;
    job.threads = call.threads;
    job.together = static_cast<int>(std::max<int64_t>(1, few * kTogether / std::max<int64_t>(in_few, 1)));
    job.elements = elements;
    return job;
  });
  for (int i = 0; i < count; ++i) {
    executor.touched[norms[i].input] = !norms[i].is_empty;
    executor.touched[norms[i].output] = true;
  }
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnForeachNorm) { return RunPhase1(call, kChecks, workspaceSize, executor, SetNorms); }
