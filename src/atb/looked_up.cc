// The functions that clients of ATB look up by name. Each has two phases over aclnn tensors. The client keeps
// the operation between them, and passes it again for equal scalar arguments.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "atb/abi.h"
#include "atb/looked_up_arguments.h"
#include "atb/operations.h"

extern "C" {
atb::Status AtbFusedAddTopkDivGetWorkspaceSize(const aclTensor* x, const aclTensor* addNum,
                                               const aclTensor* mappingNum, const aclTensor* mappingTable,
                                               int64_t groupNum, int64_t groupTopk, int64_t n, int64_t k,
                                               int activationType, bool isNorm, float scale,
                                               bool enableExpertMapping, aclTensor* y, aclTensor* indices,
                                               uint64_t* workspaceSize, atb::Operation** op,
                                               atb::Context* context);
atb::Status AtbFusedAddTopkDiv(void* workspace, uint64_t workspaceSize, atb::Operation* op,
                               atb::Context* context);
atb::Status AtbSelfAttentionPrefixEncoderGetWorkspaceSize(
    const aclTensor* query, const aclTensor* key, const aclTensor* value, const aclTensor* blockTables,
    const aclTensor* mask, const aclTensor* seqLen, const aclTensor* kvSeqLen, const aclTensor* slopes,
    int maskType, int64_t headNum, int64_t kvHeadNum, float qkScale, aclTensor* out, uint64_t* workspaceSize,
    atb::Operation** op, atb::Context* context);
atb::Status AtbSelfAttentionPrefixEncoder(void* workspace, uint64_t workspaceSize, atb::Operation* op,
                                          atb::Context* context);
atb::Status AtbMLAGetWorkspaceSize(const aclTensor* qNope, const aclTensor* qRope, const aclTensor* ctkv,
                                   const aclTensor* kRope, const aclTensor* blockTables,
                                   const aclTensor* contextLens, const aclTensor* mask,
                                   const aclTensor* qSeqlen, const aclTensor* qkDescale,
                                   const aclTensor* pvDescale, int64_t headNum, float qkScale,
                                   int64_t kvHeadNum, int maskType, int calcType, int cacheMode,
                                   aclTensor* out, aclTensor* lse, uint64_t* workspaceSize,
                                   atb::Operation** op, atb::Context* context);
atb::Status AtbMLA(void* workspace, uint64_t workspaceSize, atb::Operation* op, atb::Context* context);
atb::Status AtbMLAPreprocessGetWorkspaceSize(
    const aclTensor* input, const aclTensor* gamma0, const aclTensor* beta0, const aclTensor* quantScale0,
    const aclTensor* quantOffset0, const aclTensor* wdqkv, const aclTensor* descale0, const aclTensor* bias0,
    const aclTensor* gamma1, const aclTensor* beta1, const aclTensor* quantScale1,
    const aclTensor* quantOffset1, const aclTensor* wuq, const aclTensor* descale1, const aclTensor* bias1,
    const aclTensor* gamma2, const aclTensor* cos, const aclTensor* sin, const aclTensor* wuk,
    const aclTensor* kvCache, const aclTensor* kvCacheRope, const aclTensor* slotMapping,
    const aclTensor* ctkvScale, const aclTensor* qNopeScale, uint32_t wdqDim, uint32_t qRopeDim,
    uint32_t kRopeDim, float epsilon, uint32_t qRotaryCoeff, uint32_t kRotaryCoeff, bool transposeWdq,
    bool transposeWuq, bool transposeWuk, int cacheMode, int quantMode, aclTensor* qOut0,
    aclTensor* kvCacheOut0, aclTensor* qOut1, aclTensor* kvCacheOut1, uint64_t* workspaceSize,
    atb::Operation** op, atb::Context* context);
atb::Status AtbMLAPreprocess(void* workspace, uint64_t workspaceSize, atb::Operation* op,
                             atb::Context* context);
atb::Status AtbPagedCacheLoadGetWorkspaceSize(const aclTensor* keyCache, const aclTensor* valueCache,
                                              const aclTensor* blockTable, const aclTensor* contextLens,
                                              aclTensor* key, aclTensor* value, const aclTensor* seqStarts,
                                              int8_t kvCacheCfg, bool cumsum, bool hasSeqStarts,
                                              uint64_t* workspaceSize, atb::Operation** op,
                                              atb::Context* context);
atb::Status AtbPagedCacheLoad(void* workspace, uint64_t workspaceSize, atb::Operation* op,
                              atb::Context* context);
atb::Status AtbRingMLAGetWorkspaceSize(const aclTensor* qNope, const aclTensor* qRope, const aclTensor* kNope,
                                       const aclTensor* kRope, const aclTensor* value, const aclTensor* mask,
                                       const aclTensor* seqlen, const aclTensor* preOut,
                                       const aclTensor* prevLse, int64_t headNum, int64_t kvHeadNum,
                                       float qkScale, int kernelType, int maskType, int inputLayout,
                                       int calcType, aclTensor* out, aclTensor* softmaxLse,
                                       uint64_t* workspaceSize, atb::Operation** op, atb::Context* context);
atb::Status AtbRingMLA(void* workspace, uint64_t workspaceSize, atb::Operation* op, atb::Context* context);
}

namespace atb {
namespace {

// An operation of operations.cc, with the tensors of its last first phase.
class LookedUp final : public Operation {
 public:
  explicit LookedUp(Operation* operation) : operation_(operation) {}

  std::string GetName() const override { return operation_->GetName(); }
  Status InferShape(const SVector<TensorDesc>& in, SVector<TensorDesc>& out) const override {
    return operation_->InferShape(in, out);
  }
  uint32_t GetInputNum() const override { return operation_->GetInputNum(); }
  uint32_t GetOutputNum() const override { return operation_->GetOutputNum(); }
  Status Setup(const VariantPack& pack, uint64_t& workspaceSize, Context* context) override {
    pack_ = pack;
    return operation_->Setup(pack_, workspaceSize, context);
  }
  Status Execute(const VariantPack& pack, uint8_t* workspace, uint64_t workspaceSize,
                 Context* context) override {
    return operation_->Execute(pack, workspace, workspaceSize, context);
  }
  Status ExecuteLast(uint8_t* workspace, uint64_t workspaceSize, Context* context) {
    return operation_->Execute(pack_, workspace, workspaceSize, context);
  }

 private:
  const std::unique_ptr<Operation> operation_;
  VariantPack pack_ = {};
};

enum class MemoryKind { kDevice, kHost };

// Tells whether elements lie one behind the other, in the order of the dims.
bool AreDense(const int64_t* dims, const int64_t* strides, uint64_t rank) noexcept {
  int64_t step = 1;
  for (uint64_t i = rank; i-- > 0;) {
    if (dims[i] == 0) return true;
    if (dims[i] != 1 && strides[i] != step) return false;
    step *= dims[i];
  }
  return true;
}

// Adds an aclnn tensor in ATB's form. A null tensor becomes an omitted one.
Status Add(const char* name, SVector<Tensor>& tensors, const aclTensor* tensor, MemoryKind memory_kind) {
  Tensor& made = tensors.inside[tensors.count++];
  made = {};
  made.desc.dtype = ACL_DT_UNDEFINED;
  made.desc.format = ACL_FORMAT_UNDEFINED;
  if (tensor == nullptr) return kNoError;
  int64_t* dims = nullptr;
  uint64_t rank = 0;
  int64_t offset = 0;
  void* base = nullptr;
  if (aclGetViewShape(tensor, &dims, &rank) != ACL_SUCCESS) return kCannError;
  const std::unique_ptr<int64_t[]> owned(dims);
  if (rank > kMostDims) return kInvalidTensorDim;
  if (aclGetDataType(tensor, &made.desc.dtype) != ACL_SUCCESS ||
      aclGetFormat(tensor, &made.desc.format) != ACL_SUCCESS ||
      aclGetViewOffset(tensor, &offset) != ACL_SUCCESS || aclGetRawTensorAddr(tensor, &base) != ACL_SUCCESS) {
    return kCannError;
  }
  int64_t* strides = nullptr;
  uint64_t count = 0;
  if (aclGetViewStrides(tensor, &strides, &count) != ACL_SUCCESS) return kCannError;
  const std::unique_ptr<int64_t[]> owned_strides(strides);
  if (!AreDense(dims, strides, rank)) {
    aclAppLog(ACL_ERROR, "atb", __FILE__, __LINE__,
              "%s: tensor %d is not dense; ATB's tensors have no strides", name,
              static_cast<int>(tensors.count - 1));
    return kInvalidTensorSize;
  }
  made.desc.shape.dimNum = rank;
  std::copy_n(dims, rank, made.desc.shape.dims);
  made.dataSize = Utils::GetTensorSize(made);
  if (base != nullptr)
    base = static_cast<uint8_t*>(base) + offset * static_cast<int64_t>(aclDataTypeSize(made.desc.dtype));
  (memory_kind == MemoryKind::kHost ? made.hostData : made.deviceData) = base;
  return kNoError;
}

struct Given {
  const aclTensor* tensor;
  MemoryKind memory_kind = MemoryKind::kDevice;
};

// Runs the first phase: creates the operation unless the client already has it, and sets it up with these
// tensors.
template <class Param>
Status SetUp(const char* name, const Param& param, std::initializer_list<Given> in,
             std::initializer_list<Given> out, uint64_t* workspace_size, Operation** op, Context* context) {
  if (workspace_size == nullptr || op == nullptr) return kInvalidParam;
  if (context == nullptr) return kInvalidContext;
  const auto pack = std::unique_ptr<VariantPack>(new (std::nothrow) VariantPack{});
  if (pack == nullptr) return kNoHostMemory;
  Status status = kNoError;
  for (const Given& given : in)
    if (status == kNoError) status = Add(name, pack->in, given.tensor, given.memory_kind);
  for (const Given& given : out)
    if (status == kNoError) status = Add(name, pack->out, given.tensor, given.memory_kind);
  if (status != kNoError) return status;
  if (*op != nullptr) return (*op)->Setup(*pack, *workspace_size, context);
  Operation* inner = nullptr;
  status = CreateOperation(param, &inner);
  if (status != kNoError) return status;
  std::unique_ptr<Operation> owned(inner);
  std::unique_ptr<LookedUp> made(new (std::nothrow) LookedUp(inner));
  if (made == nullptr) return kNoHostMemory;
  owned.release();  // the client owns it now
  status = made->Setup(*pack, *workspace_size, context);
  if (status == kNoError) *op = made.release();
  return status;
}

Status ExecuteLast(void* workspace, uint64_t workspace_size, Operation* op, Context* context) {
  auto* const made = dynamic_cast<LookedUp*>(op);
  if (made == nullptr) return kInvalidOperation;
  return made->ExecuteLast(static_cast<uint8_t*>(workspace), workspace_size, context);
}

}  // namespace
}  // namespace atb

using namespace atb;

Status AtbFusedAddTopkDivGetWorkspaceSize(const aclTensor* x, const aclTensor* addNum, const aclTensor*,
                                          const aclTensor*, int64_t groupNum, int64_t groupTopk, int64_t n,
                                          int64_t k, int activationType, bool isNorm, float scale,
                                          bool enableExpertMapping, aclTensor* y, aclTensor* indices,
                                          uint64_t* workspaceSize, Operation** op, Context* context) {
  const FusedAddTopkDivParam param = {groupNum,       groupTopk, n,     k,
                                      activationType, isNorm,    scale, enableExpertMapping};
  return SetUp("AtbFusedAddTopkDiv", param, {{x}, {addNum}}, {{y}, {indices}}, workspaceSize, op, context);
}

Status AtbFusedAddTopkDiv(void* workspace, uint64_t workspaceSize, Operation* op, Context* context) {
  return ExecuteLast(workspace, workspaceSize, op, context);
}

Status AtbSelfAttentionPrefixEncoderGetWorkspaceSize(const aclTensor* query, const aclTensor* key,
                                                     const aclTensor* value, const aclTensor* blockTables,
                                                     const aclTensor* mask, const aclTensor* seqLen,
                                                     const aclTensor* kvSeqLen, const aclTensor*,
                                                     int maskType, int64_t headNum, int64_t kvHeadNum,
                                                     float qkScale, aclTensor* out, uint64_t* workspaceSize,
                                                     Operation** op, Context* context) {
  constexpr int kCausalWithoutMask = 9;
  infer::SelfAttentionParam param = {};
  param.outDataType = static_cast<aclDataType>(-1);
  param.headNum = static_cast<int32_t>(headNum);
  param.kvHeadNum = static_cast<int32_t>(kvHeadNum);
  param.qScale = 1;
  param.qkScale = qkScale;
  param.calcType = infer::SelfAttentionParam::kPrefixEncoder;
  param.kernelType = 1;  // in float32
  param.maskType = maskType == kCausalWithoutMask ? infer::SelfAttentionParam::kCompressed : maskType;
  param.isTriuMask = 1;
  return SetUp("AtbSelfAttentionPrefixEncoder", param,
               {{query},
                {key},
                {value},
                {blockTables},
                {mask},
                {seqLen, MemoryKind::kHost},
                {kvSeqLen, MemoryKind::kHost}},
               {{out}}, workspaceSize, op, context);
}

Status AtbSelfAttentionPrefixEncoder(void* workspace, uint64_t workspaceSize, Operation* op,
                                     Context* context) {
  return ExecuteLast(workspace, workspaceSize, op, context);
}

Status AtbMLAGetWorkspaceSize(const aclTensor* qNope, const aclTensor* qRope, const aclTensor* ctkv,
                              const aclTensor* kRope, const aclTensor* blockTables,
                              const aclTensor* contextLens, const aclTensor* mask, const aclTensor* qSeqlen,
                              const aclTensor* qkDescale, const aclTensor* pvDescale, int64_t headNum,
                              float qkScale, int64_t kvHeadNum, int maskType, int calcType, int cacheMode,
                              aclTensor* out, aclTensor* lse, uint64_t* workspaceSize, Operation** op,
                              Context* context) {
  const MlaParam param = {headNum, qkScale, kvHeadNum, maskType, calcType, cacheMode};
  const std::initializer_list<Given> in = {{qNope},       {qRope},
                                           {ctkv},        {kRope},
                                           {blockTables}, {contextLens, MemoryKind::kHost},
                                           {mask},        {qSeqlen, MemoryKind::kHost},
                                           {qkDescale},   {pvDescale}};
  if (calcType != MlaParam::kRing) return SetUp("AtbMLA", param, in, {{out}}, workspaceSize, op, context);
  return SetUp("AtbMLA", param, in, {{out}, {lse}}, workspaceSize, op, context);
}

Status AtbMLA(void* workspace, uint64_t workspaceSize, Operation* op, Context* context) {
  return ExecuteLast(workspace, workspaceSize, op, context);
}

Status AtbMLAPreprocessGetWorkspaceSize(
    const aclTensor*, const aclTensor*, const aclTensor*, const aclTensor*, const aclTensor*,
    const aclTensor*, const aclTensor*, const aclTensor*, const aclTensor*, const aclTensor*,
    const aclTensor*, const aclTensor*, const aclTensor*, const aclTensor*, const aclTensor*,
    const aclTensor*, const aclTensor*, const aclTensor*, const aclTensor*, const aclTensor*,
    const aclTensor*, const aclTensor*, const aclTensor*, const aclTensor*, uint32_t, uint32_t, uint32_t,
    float, uint32_t, uint32_t, bool, bool, bool, int, int, aclTensor*, aclTensor*, aclTensor*, aclTensor*,
    uint64_t*, Operation** op, Context*) {
  return CreateOperation(MlaPreprocessParam{}, op);  // refuses
}

Status AtbMLAPreprocess(void* workspace, uint64_t workspaceSize, Operation* op, Context* context) {
  return ExecuteLast(workspace, workspaceSize, op, context);
}

Status AtbPagedCacheLoadGetWorkspaceSize(const aclTensor* keyCache, const aclTensor* valueCache,
                                         const aclTensor* blockTable, const aclTensor* contextLens,
                                         aclTensor* key, aclTensor* value, const aclTensor* seqStarts,
                                         int8_t kvCacheCfg, bool cumsum, bool hasSeqStarts,
                                         uint64_t* workspaceSize, Operation** op, Context* context) {
  const PagedCacheLoadParam param = {kvCacheCfg, cumsum};
  return SetUp("AtbPagedCacheLoad", param,
               {{keyCache}, {valueCache}, {blockTable}, {contextLens}, {hasSeqStarts ? seqStarts : nullptr}},
               {{key}, {value}}, workspaceSize, op, context);
}

Status AtbPagedCacheLoad(void* workspace, uint64_t workspaceSize, Operation* op, Context* context) {
  return ExecuteLast(workspace, workspaceSize, op, context);
}

Status AtbRingMLAGetWorkspaceSize(const aclTensor* qNope, const aclTensor* qRope, const aclTensor* kNope,
                                  const aclTensor* kRope, const aclTensor* value, const aclTensor* mask,
                                  const aclTensor* seqlen, const aclTensor* preOut, const aclTensor* prevLse,
                                  int64_t headNum, int64_t kvHeadNum, float qkScale, int kernelType,
                                  int maskType, int inputLayout, int calcType, aclTensor* out,
                                  aclTensor* softmaxLse, uint64_t* workspaceSize, Operation** op,
                                  Context* context) {
  const RingMlaParam param = {headNum, kvHeadNum, qkScale, kernelType, maskType, inputLayout, calcType};
  return SetUp(
      "AtbRingMLA", param,
      {{qNope}, {qRope}, {kNope}, {kRope}, {value}, {mask}, {seqlen, MemoryKind::kHost}, {preOut}, {prevLse}},
      {{out}, {softmaxLse}}, workspaceSize, op, context);
}

Status AtbRingMLA(void* workspace, uint64_t workspaceSize, Operation* op, Context* context) {
  return ExecuteLast(workspace, workspaceSize, op, context);
}
