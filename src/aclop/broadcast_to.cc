// BroadcastTo, called by type name: repeats a tensor along the dims that its shape lacks.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "acl/queue/stream.h"
#include "acl/settings/configuration.h"
#include "acl/stream/capture.h"
#include "acl/stream/found_stream.h"
#include "acl/stream/thread_limit.h"
#include "aclnn/tensor.h"
#include "aclop/named_call.h"
#include "base/data_type.h"
#include "base/handle_table.h"
#include "base/sanitizer_hooks.h"
#include "engine/move/move.h"

namespace portacl {
namespace {

// Positions of the inputs.
constexpr int kSource = 0;
constexpr int kShape = 1;

// The bytes that a thread moves in about the time that handing the work to a worker takes, as for copies.
constexpr size_t kSmallBytes = size_t{64} << 10;

// The second input: dims as 32- or 64-bit integers.
struct Dims {
  const void* values = nullptr;
  bool is_wide = false;

  int64_t At(int i) const {
    if (values == nullptr) return 0;  // no values means no dims: CheckRoom has checked the buffer
    if (is_wide) {
      int64_t value = 0;
      std::memcpy(&value, static_cast<const char*>(values) + i * sizeof value, sizeof value);
      return value;
    }
    int32_t value = 0;
    std::memcpy(&value, static_cast<const char*>(values) + i * sizeof value, sizeof value);
    return value;
  }
  bool Are(const Shape& shape) const {
    for (int i = 0; i < shape.rank; ++i) {
      if (At(i) != shape[i]) return false;
    }
    return true;
  }
};

class BroadcastTask final : public Task {
 public:
  Outcome Run(Stream& stream) noexcept override {
    if (is_checked_here && !dims.Are(shape)) {
      stream.NoteFailure({ACL_ERROR_RT_AICORE_EXCEPTION,
                          "BroadcastTo: the dims in its second input are not those of its output, which was "
                          "left as it is."});
    } else if (is_any) {
      move.Run(from, to);
    }
    return Outcome::kDone;
  }
  void Finish(StreamList&) noexcept override;

  engine::Move move;
  bool is_any = false;  // there are elements to move
  const char* from = nullptr;
  char* to = nullptr;
  bool is_checked_here = false;  // dims in device memory: earlier work may still write them
  Dims dims;
  Shape shape;
};

HandleTable<BroadcastTask, 0x62> broadcast_tasks;

void BroadcastTask::Finish(StreamList&) noexcept { broadcast_tasks.Recycle(this); }

// Wraps a description as a dense tensor. CheckDims has refused tensors of more than kMaxLoopRank dims.
StridedView DenseTensor(const aclTensorDesc& description) noexcept {
  StridedView tensor;
  tensor.shape.rank = static_cast<int>(description.dims.size());
  std::copy(description.dims.begin(), description.dims.end(), tensor.shape.dim);
  tensor.strides = RowMajorStrides(tensor.shape);
  tensor.dtype = description.dtype;
  tensor.Describe();
  return tensor;
}

bool BroadcastsTo(const Shape& from, const Shape& to) noexcept {
  if (from.rank > to.rank) return false;
  for (int i = 1; i <= from.rank; ++i) {
    const int64_t length = from[from.rank - i];
    if (length != 1 && length != to[to.rank - i]) return false;
  }
  return true;
}

aclError FailShapes(const NamedCall& call) noexcept {
  Text text("cannot make the output ");
  AddDescription(text, *call.outputs.descriptions[0]);
  text.Add(" of the input ");
  AddDescription(text, *call.inputs.descriptions[kSource]);
  text.Add("; accepted: the same type, at most ").Add(kMaxLoopRank);
  text.Add(" dims, and input dims that are 1 or, counted from the last, the output's");
  return FailNamed(call, text);
}

Refused CheckSource(const NamedCall& call) noexcept {
  for (const aclTensorDesc* const description :
       {call.inputs.descriptions[kSource], call.outputs.descriptions[0]}) {
    size_t elements = 0;
    if (description->dims.size() > kMaxLoopRank || !CountElements(*description, &elements))
      return FailShapes(call);
  }
  const aclTensorDesc& from = *call.inputs.descriptions[kSource];
  const aclTensorDesc& to = *call.outputs.descriptions[0];
  if (from.dtype != to.dtype || !BroadcastsTo(DenseTensor(from).shape, DenseTensor(to).shape))
    return FailShapes(call);
  size_t bytes = 0;
  if (StorageBits(from.dtype) % 8 != 0) {
    Text text("cannot repeat elements of type ");
    AddDtypeName(text, from.dtype);
    return FailNamed(call, text.Add(", of which several share a byte"));
  }
  if (const Refused refused = BytesOf(call, from, &bytes)) return *refused;
  if (const Refused refused = CheckRoom(call, call.inputs, kSource, bytes)) return *refused;
  if (const Refused refused = BytesOf(call, to, &bytes)) return *refused;
  return CheckRoom(call, call.outputs, 0, bytes);
}

// Checks the descriptions of the dims. Their values are compared where the host can read them.
Refused CheckDims(const NamedCall& call, Dims* dims) noexcept {
  const aclTensorDesc& description = *call.inputs.descriptions[kShape];
  const size_t rank = call.outputs.descriptions[0]->dims.size();
  const bool is_known = description.dtype == ACL_INT32 || description.dtype == ACL_INT64;
  if (!is_known || description.dims.size() != 1 || description.dims[0] != static_cast<int64_t>(rank)) {
    Text text("has as its second input the dims of its output, DT_INT64 or DT_INT32 [");
    text.Add(rank).Add("], not ");
    AddDescription(text, description);
    return FailNamed(call, text);
  }
  size_t bytes = 0;
  if (const Refused refused = BytesOf(call, description, &bytes)) return *refused;
  if (const Refused refused = CheckRoom(call, call.inputs, kShape, bytes)) return *refused;
  dims->values = sanitizer::Working(aclGetDataBufferAddr(call.inputs.buffers[kShape]));
  dims->is_wide = description.dtype == ACL_INT64;
  return std::nullopt;
}

aclError FailDims(const NamedCall& call, const Dims& dims, const Shape& shape) noexcept {
  Text text("has in its second input the dims [");
  for (int i = 0; i < shape.rank; ++i) text.Add(i == 0 ? "" : ", ").Add(dims.At(i));
  text.Add("], accepted: those of its output, ");
  AddShape(text, shape);
  return FailNamed(call, text);
}

}  // namespace

aclError RunBroadcastTo(const NamedCall& call) noexcept {
  if (const Refused refused = CheckCounts(call, 2, 1)) return *refused;
  if (const Refused refused = CheckSource(call)) return *refused;
  Dims dims;
  if (const Refused refused = CheckDims(call, &dims)) return *refused;
  const StridedView from = DenseTensor(*call.inputs.descriptions[kSource]);
  const StridedView to = DenseTensor(*call.outputs.descriptions[0]);
  const bool is_device = call.inputs.descriptions[kShape]->placement == ACL_MEMTYPE_DEVICE;
  if (!is_device && !dims.Are(to.shape)) return FailDims(call, dims, to.shape);

  aclError status = ACL_SUCCESS;
  const FoundStream queue = FindStreamFor(call.api, call.stream, &status);
  if (!queue) return status;
  if (IsUnrecordable(call.api, queue, &status)) return status;
  BroadcastTask* const task = broadcast_tasks.Acquire();
  if (task == nullptr) {
    return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, MessageClass::kRuntimeMemory,
                Text(call.api, ": not enough memory to queue the work."));
  }
  const Configuration& configuration = CurrentConfiguration();
  task->is_any = to.numel > 0;
  if (task->is_any) task->move = engine::MakeMove(from, to, configuration.isa, ThreadLimit());
  void* const output = aclGetDataBufferAddr(call.outputs.buffers[0]);
  task->from =
      static_cast<const char*>(sanitizer::Working(aclGetDataBufferAddr(call.inputs.buffers[kSource])));
  task->to = static_cast<char*>(sanitizer::Working(output));
  task->is_checked_here = is_device && to.shape.rank > 0;
  task->dims = dims;
  task->shape = to.shape;
  const size_t bytes = static_cast<size_t>(to.numel) * (StorageBits(to.dtype) / 8);
  if (sanitizer::IsOn()) sanitizer::hooks->MarkWritten(output, bytes);
  task->affinity = bytes <= kSmallBytes ? Task::Affinity::kAnywhere : Task::Affinity::kWorker;
  return queue.SubmitFor(call.api, task,
                         configuration.launch_blocking ? Stream::Wait::kLaunchBlocking : Stream::Wait::kNo);
}

}  // namespace portacl
