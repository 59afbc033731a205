// aclnnCast: converts self to a dtype.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/creation/cast_functions.h"

#include "aclnn/opdev/op_errno.h"
#include "aclnnop/jobs/dense_op_list.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "engine/quantise/quantise.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut };
enum Attributes { kDtype };

constexpr DtypeSet kOld{ACL_FLOAT,  ACL_FLOAT16, ACL_DOUBLE,    ACL_INT8,      ACL_UINT8,
                        ACL_INT16,  ACL_INT32,   ACL_INT64,     ACL_UINT16,    ACL_UINT32,
                        ACL_UINT64, ACL_BOOL,    ACL_COMPLEX64, ACL_COMPLEX128};
constexpr DtypeSet kAtlasA2{ACL_FLOAT,  ACL_FLOAT16, ACL_DOUBLE,    ACL_INT8,       ACL_UINT8,
                            ACL_INT16,  ACL_INT32,   ACL_INT64,     ACL_UINT16,     ACL_UINT32,
                            ACL_UINT64, ACL_BOOL,    ACL_COMPLEX64, ACL_COMPLEX128, ACL_BF16};
constexpr DtypeSet kFrom950{ACL_FLOAT,      ACL_FLOAT16,  ACL_DOUBLE,      ACL_INT8,          ACL_UINT8,
                            ACL_INT16,      ACL_INT32,    ACL_INT64,       ACL_UINT16,        ACL_UINT32,
                            ACL_UINT64,     ACL_BOOL,     ACL_COMPLEX64,   ACL_COMPLEX128,    ACL_BF16,
                            ACL_COMPLEX32,  ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN, ACL_FLOAT4_E2M1,
                            ACL_FLOAT4_E1M2};
constexpr DtypeSet kTo950{ACL_FLOAT,       ACL_FLOAT16,  ACL_DOUBLE,      ACL_INT8,          ACL_UINT8,
                          ACL_INT16,       ACL_INT32,    ACL_INT64,       ACL_UINT16,        ACL_UINT32,
                          ACL_UINT64,      ACL_BOOL,     ACL_COMPLEX64,   ACL_COMPLEX128,    ACL_BF16,
                          ACL_COMPLEX32,   ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN, ACL_FLOAT4_E2M1,
                          ACL_FLOAT4_E1M2, ACL_INT4};
constexpr DtypeRule kFrom = ByGeneration(kOld, kAtlasA2, kFrom950);
constexpr DtypeRule kTo = ByGeneration(kOld, kAtlasA2, kTo950);

// 161002 for INT4 from a self that is not contiguous.
aclnnStatus DenseForInt4(const Check&, OperatorCall& call) noexcept {
  if (call.Tensor(kOut).dtype != ACL_INT4 || IsContiguous(call.Tensor(kSelf))) return ACL_SUCCESS;
  Text message(call.api, ": parameter self with strides ");
  AddShape(message, call.Tensor(kSelf).strides);
  return FailAclnn(ACLNN_ERR_PARAM_INVALID,
                   message.Add(" is not dense, and out with dtype DT_INT4 accepts a dense self alone."));
}

// 561103 when out's dtype differs from the requested one.
aclnnStatus OutHasDtype(const Check&, OperatorCall& call) noexcept {
  const aclDataType dtype = call.attributes[kDtype].dtype();
  if (call.Tensor(kOut).dtype == dtype) return ACL_SUCCESS;
  Text message(call.api, ": parameter out with dtype ");
  AddDtypeName(message, call.Tensor(kOut).dtype);
  AddDtypeName(message.Add(" cannot hold the result, accepted: the value of parameter dtype, "), dtype);
  return FailAclnn(ACLNN_ERR_INNER_NULLPTR, message.Add("."));
}

constexpr DtypeSet kPacked{ACL_INT4, ACL_FLOAT4_E2M1, ACL_FLOAT4_E1M2};
constexpr DtypeSet kCastable =
    kConvertible | kPacked | DtypeSet(ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN);

// 561103 for 4-bit elements that are not contiguous in whole bytes.
template <int tensor>
aclnnStatus LiesPacked(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& view = call.Tensor(tensor);
  if (!kPacked.Contains(view.dtype) || (IsContiguous(view) && view.offset % 2 == 0)) return ACL_SUCCESS;
  return dense::ShapeChecks(check, call)
      .Holds(false, tensor, "of 4-bit elements a dense one that begins at an even element")
      .status();
}
// Equal dtypes are accepted even if nothing is computed in them.
aclnnStatus Casts(const Check&, OperatorCall& call) noexcept {
  const Check check = call.Tensor(kSelf).dtype == call.Tensor(kOut).dtype
                          ? Converts(kSelf, kOut, kCastable | DtypeSet(ACL_COMPLEX32))
                          : Converts(kSelf, kOut, kCastable);
  return check.run(check, call);
}

constexpr Check kChecks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kOut),
    DtypesIn(kFrom, {kSelf}),
    DtypeIn(kTo, kDtype),
    RankAtMost(8, {kSelf}),
    SameShape(kSelf, kOut),
    {.run = DenseForInt4},
    SizesRepresentable({kOut}),
    DoneIfEmpty({kSelf}),
    InsideStorage({kSelf}),
    {.run = OutHasDtype},
    {.run = Casts},
    Custom(LiesPacked<kSelf>, ACLNN_ERR_INNER_NULLPTR),
    Custom(LiesPacked<kOut>, ACLNN_ERR_INNER_NULLPTR),
};

bool IsPacked(const StridedView& tensor) { return kPacked.Contains(tensor.dtype); }

engine::Numbers CodesOf(const OperatorCall& call, int tensor) {
  const aclTensor& view = call.Tensor(tensor);
  return {engine::BufferRef{tensor, view.offset / 2}, view.dtype, true};
}

// Converts from or to 4-bit elements through FLOAT.
void SetPacked(const OperatorCall& call, Executor& executor) {
  dense::DenseOpList ops(call, executor);
  const int64_t numel = call.Tensor(kSelf).numel;
  const engine::Numbers self = IsPacked(call.Tensor(kSelf))
                                   ? CodesOf(call, kSelf)
                                   : engine::Numbers{ops.In(kSelf, ACL_FLOAT), ACL_FLOAT, true};
  if (IsPacked(call.Tensor(kOut))) {
    engine::QuantisePlain job;
    job.x = self;
    job.rows = 1;
    job.columns = numel;
    job.isa = call.isa;
    job.threads = call.threads;
    const engine::Numbers out = CodesOf(call, kOut);
    job.quantiser[0].kind = engine::Quantiser::Kind::kMultiply;
    job.quantiser[0].dtype = out.dtype;
    job.quantiser[0].codes = out.buffer;
    ops.Compute(job, {self.buffer, out.buffer}, numel);
  } else {
    engine::Dequantise job;
    job.x = self;
    job.to = {ops.Out(kOut, ACL_FLOAT), ACL_FLOAT, true};
    job.rows = 1;
    job.columns = numel;
    job.isa = call.isa;
    job.threads = call.threads;
    ops.Compute(job, {self.buffer, job.to.buffer}, numel);
  }
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnCast) {
  return RunPhase1(call, kChecks, workspaceSize, executor, [](const OperatorCall& checked, Executor& fresh) {
    if (IsPacked(checked.Tensor(kSelf)) || IsPacked(checked.Tensor(kOut))) return SetPacked(checked, fresh);
    SetMoveJob(checked, kSelf, kOut, fresh);
  });
}
