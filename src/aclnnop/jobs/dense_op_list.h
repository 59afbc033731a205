// Tensors and checks of operators whose job is a list of ops. The ops (engine/route, engine/serve,
// engine/quantise) take dense operands.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "acl/settings/configuration.h"
#include "aclnnop/jobs/op_list.h"
#include "base/errors.h"
#include "engine/route/route.h"

namespace portacl::dense {

// CANN's code when a kernel's own checks refuse a call.
inline constexpr aclnnStatus kTiling = ACLNN_ERR_INNER_TILING_ERROR;

inline constexpr DtypeRule kOnAtlasA2AndA3 = ByGeneration({}, kFloatHalfAndBf16, {});
inline constexpr DtypeSet kInt32{ACL_INT32};
inline constexpr DtypeSet kInt64{ACL_INT64};
inline constexpr DtypeSet kInt32Or64{ACL_INT32, ACL_INT64};
inline constexpr DtypeSet kFloat{ACL_FLOAT};

// ---- checks ----

template <int tensor>
bool IsGiven(const OperatorCall& call) noexcept {
  return call.IsGiven(tensor);
}
template <int tensor>
constexpr Check IfGiven(const Check& check) {
  return If(IsGiven<tensor>, check);
}

// Runs a chain of checks with one code, and keeps the first failure.
class ShapeChecks {
 public:
  ShapeChecks(const Check& check, const OperatorCall& call) : check_(check), call_(call) {}

  ShapeChecks& Is(int tensor, const Shape& accepted) {
    if (status_ == ACL_SUCCESS && !(call_.Tensor(tensor).shape == accepted))
      status_ = RefuseShape(check_, call_, tensor, accepted);
    return *this;
  }
  ShapeChecks& IsIfGiven(int tensor, const Shape& accepted) {
    return call_.IsGiven(tensor) ? Is(tensor, accepted) : *this;
  }
  ShapeChecks& Rank(int tensor, int least, int most);
  ShapeChecks& Integer(int attribute, int64_t low, int64_t high) {
    const Attribute& given = call_.attributes[static_cast<size_t>(attribute)];
    if (status_ == ACL_SUCCESS && (given.integer < low || given.integer > high))
      status_ = RefuseInteger(check_, call_, given.name, given.integer, low, high);
    return *this;
  }
  // Refuses the tensor unless `holds`; `accepted` describes an accepted one.
  ShapeChecks& Holds(bool holds, int tensor, const char* accepted);
  ShapeChecks& HoldsOf(bool holds, int attribute, const char* accepted);
  ShapeChecks& Given(int tensor, const char* when);

  bool Passed() const { return status_ == ACL_SUCCESS; }
  aclnnStatus status() const { return status_; }

 private:
  const Check& check_;
  const OperatorCall& call_;
  aclnnStatus status_ = ACL_SUCCESS;
};

inline int64_t DimOr(const Shape& shape, int dim, int64_t otherwise) {
  return dim < shape.rank ? shape[dim] : otherwise;
}
inline int64_t Integer(const OperatorCall& call, int attribute) {
  return call.attributes[static_cast<size_t>(attribute)].integer;
}

// ---- jobs ----

// Calls RunPhase1, and fails where the memory for each element or row of a tensor would overflow: an expanded
// tensor takes no memory itself. `set` adds the ops.
aclnnStatus RunOpList(OperatorCall& call, std::span<const Check> checks, uint64_t* workspaceSize,
                      aclOpExecutor** executor,
                      void (*set)(const OperatorCall& call, Executor& executor)) noexcept;

// Builds the op list of a call whose ops take dense operands of one dtype. Other operands are copied through
// the workspace.
class DenseOpList {
 public:
  // The ops may read the numbers of `array`.
  DenseOpList(const OperatorCall& call, Executor& executor, const std::vector<int64_t>* array = nullptr,
              int most_ops = kMostOps)
      : call_(call), ops_(executor, most_ops, array) {}

  // Returns an input, converted where needed.
  engine::BufferRef In(int tensor, aclDataType dtype = ACL_DT_UNDEFINED);
  engine::OptionalBuffer InIfGiven(int tensor, aclDataType dtype = ACL_DT_UNDEFINED);
  engine::NumberRows Rows(int tensor);
  engine::NumberRows RowsIfGiven(int tensor);
  // Returns a copy of an input as FLOAT, whose rows along the last dim begin `pitch` numbers apart.
  engine::BufferRef PaddedFloats(int tensor, int64_t pitch);
  // Returns an output. If it is not dense or has another dtype, a copy at the end writes it. `keeps` means
  // that the computation leaves some elements unchanged.
  engine::BufferRef Out(int tensor, aclDataType dtype = ACL_DT_UNDEFINED, bool keeps = false);
  engine::NumberRows RowsOut(int tensor);
  // Return an input or an output by a view of the tensor with as many elements, for example with permuted
  // dims.
  engine::BufferRef InView(int tensor, const StridedView& view, aclDataType dtype = ACL_DT_UNDEFINED);
  engine::BufferRef OutView(int tensor, const StridedView& view, aclDataType dtype = ACL_DT_UNDEFINED,
                            bool keeps = false);

  engine::BufferRef Bytes(int64_t count) { return ops_.Workspace(count); }
  engine::BufferRef Words(int64_t count) { return ops_.Workspace(count * int64_t{sizeof(int64_t)}); }
  engine::BufferRef Floats(int64_t count) { return ops_.Workspace(count * int64_t{sizeof(float)}); }
  // Copies elements, with conversion, between views of buffers.
  void Copy(const StridedView& source, engine::BufferRef source_buffer, const StridedView& destination,
            engine::BufferRef destination_buffer) {
    ops_.Copy(source, source_buffer, destination, destination_buffer);
  }
  // Converts 64-bit words in the workspace to an output.
  void WordsTo(engine::BufferRef words, int tensor, aclDataType dtype = ACL_INT64);
  // Returns the indices of a stable sort of an input of INT32 or INT64. `sorted` receives the elements.
  engine::BufferRef Order(int tensor, engine::OptionalBuffer sorted = {});
  engine::BufferRef OrderOfWords(engine::BufferRef words, int64_t count);

  template <class Computation>
  void Compute(const Computation& computation, std::initializer_list<engine::BufferRef> buffers,
               int64_t elements) {
    ops_.Compute(computation, buffers, elements);
  }
  engine::BufferRef Array() const { return ops_.Array(); }
  Isa isa() const { return call_.isa; }
  int threads() const { return call_.threads; }
  bool Raises() const { return CurrentConfiguration().index_errors_raise; }

  // Sets the executor's job.
  void SetJob();

 private:
  static constexpr int kMostOps = 32;
  static constexpr int kMostOutputs = 8;

  struct Output {
    StridedView dense;
    StridedView view;
    engine::BufferRef buffer;
    int tensor;
  };

  const OperatorCall& call_;
  OpList ops_;
  Output outputs_[kMostOutputs];
  int output_count_ = 0;
};

inline int64_t SizeOf(const OperatorCall& call, int tensor) {
  return static_cast<int64_t>(aclDataTypeSize(call.Tensor(tensor).dtype));
}

}  // namespace portacl::dense
