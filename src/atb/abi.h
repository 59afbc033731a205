// The binary interface of ATB as its clients are compiled against it. Namespaces, names, member orders and
// virtual functions are ATB's. Declares only what a client passes across the interface. Layouts follow the
// Itanium C++ ABI.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "acl/acl.h"

namespace atb {

// Status codes. A client that gets another code than kNoError reports the operation's name.
using Status = int32_t;
inline constexpr Status kNoError = 0;
inline constexpr Status kInvalidParam = 1;
inline constexpr Status kInternalError = 3;
inline constexpr Status kInvalidTensorDtype = 6;
inline constexpr Status kInvalidTensorDim = 8;
inline constexpr Status kInvalidTensorSize = 9;
inline constexpr Status kCannError = 12;
inline constexpr Status kInvalidTensorAddress = 14;
inline constexpr Status kInvalidTensorCount = 15;
inline constexpr Status kInvalidContext = 20;
inline constexpr Status kInvalidWorkspaceSize = 22;
inline constexpr Status kInvalidWorkspace = 23;
inline constexpr Status kInvalidOperation = 24;
inline constexpr Status kNoHostMemory = 27;

inline constexpr size_t kMostDims = 8;

struct Dims {
  int64_t dims[kMostDims];
  uint64_t dimNum;
};

struct TensorDesc {
  aclDataType dtype;
  aclFormat format;
  Dims shape;
};

// Lies on the device where deviceData is set, else in host memory where hostData is set. An omitted tensor
// has neither.
struct Tensor {
  TensorDesc desc;
  void* deviceData;
  void* hostData;
  uint64_t dataSize;
};

// A vector that stores up to 64 elements inline. Clients fill it; the library reads it.
template <class T>
struct SVector {
  size_t capacity;
  size_t count;
  T inside[65];
  T* heap;

  const T& operator[](size_t i) const noexcept { return heap != nullptr ? heap[i] : inside[i]; }
};

struct VariantPack {
  SVector<Tensor> in;
  SVector<Tensor> out;
};
static_assert(sizeof(Tensor) == 104 && sizeof(SVector<Tensor>) == 6784 && sizeof(VariantPack) == 13568);

class Context {
 public:
  virtual ~Context() = default;
  virtual Status SetExecuteStream(aclrtStream stream) = 0;
  virtual aclrtStream GetExecuteStream() const = 0;
  virtual Status SetAsyncTilingCopyStatus(bool status) = 0;
  virtual bool GetAsyncTilingCopyStatus() const = 0;
};

class Operation {
 public:
  virtual ~Operation() = default;
  virtual std::string GetName() const = 0;
  virtual Status InferShape(const SVector<TensorDesc>& in, SVector<TensorDesc>& out) const = 0;
  virtual uint32_t GetInputNum() const = 0;
  virtual uint32_t GetOutputNum() const = 0;
  // Checks the tensors and returns how many bytes of workspace Execute needs with them.
  virtual Status Setup(const VariantPack& pack, uint64_t& workspaceSize, Context* context) = 0;
  // Queues the work on the context's stream. Copies descriptors and host tensors before it returns.
  virtual Status Execute(const VariantPack& pack, uint8_t* workspace, uint64_t workspaceSize,
                         Context* context) = 0;
};

namespace infer {

struct LinearParam {
  bool transposeA;
  bool transposeB;
  bool hasBias;
  aclDataType outDataType;
  bool enAccum;
  uint8_t rsv[23];
};
static_assert(sizeof(LinearParam) == 32);

struct ElewiseParam {
  enum Type : int {
    kCast = 1,
    kMuls = 2,
    kCos = 3,
    kSin = 4,
    kNeg = 5,
    kAdd = 8,
    kMul = 9,
    kRealDiv = 10,
    kSub = 15,
    kQuantPerChannel = 17,
    kTanh = 20,
    kMax = 21
  };
  int elewiseType;
  struct {
    float inputScale;
    bool asymmetric;
    int inputOffset;
    uint8_t rsv[20];
  } quantParam;
  struct {
    float varAttr;
    uint8_t rsv[12];
  } mulsParam;
  aclDataType outTensorType;
  uint8_t rsv[8];
};
static_assert(sizeof(ElewiseParam) == 64);

struct RmsNormParam {
  enum LayerType : int { kNorm = 1 };
  enum QuantType : int { kUnquantised = 0, kInt8 = 2 };
  int layerType;
  struct {
    int quantType;
    float epsilon;
    double layerNormEps;
    bool rstd;
    int precisionMode;
    int modelType;
    int dynamicQuantType;
    uint8_t rsv[32];
  } normParam;
  uint8_t others[64];  // of layer types that no client uses
  uint8_t rsv[8];
};
static_assert(sizeof(RmsNormParam) == 144);

struct GroupTopkParam {
  enum GroupMultiFlag : uint16_t { kMax = 0, kSumOfLargest = 1 };
  int32_t groupNum;
  int32_t k;
  uint16_t groupMultiFlag;
  uint16_t n;
  uint8_t rsv[12];
};
static_assert(sizeof(GroupTopkParam) == 24);

struct ReshapeAndCacheParam {
  enum CacheConfig : int { kKeyAndValue = 0, kKeyAlone = 1, kFractalNz = 2 };
  int compressType;
  int kvCacheCfg;
  uint8_t rsv[16];
};
static_assert(sizeof(ReshapeAndCacheParam) == 24);

struct RopeParam {
  int32_t rotaryCoeff;
  int32_t cosFormat;
  uint8_t rsv[8];
};
static_assert(sizeof(RopeParam) == 16);

struct PagedAttentionParam {
  enum MaskType : int { kNoMask = 0, kAlibi = 2, kSpec = 3, kCompressed = 5 };
  int32_t headNum;
  float qkScale;
  int32_t kvHeadNum;
  int maskType;
  bool batchRunStatusEnable;
  int quantType;
  aclDataType outDataType;
  bool hasQuantOffset;
  int compressType;
  int calcType;
  int scaleType;
  int inputLayout;
  uint32_t mlaVHeadSize;
  uint8_t rsv[68];
};
static_assert(sizeof(PagedAttentionParam) == 120);

struct SelfAttentionParam {
  enum MaskType : int { kNoMask = 0, kCompressed = 3 };
  enum CalcType : int { kPackedEncoder = 3, kPrefixEncoder = 4 };
  int quantType;
  aclDataType outDataType;
  int32_t headNum;
  int32_t kvHeadNum;
  float qScale;
  float qkScale;
  bool batchRunStatusEnable;
  uint32_t isTriuMask;
  int calcType;
  int kernelType;
  int clampType;
  float clampMin;
  float clampMax;
  int maskType;
  int kvcacheCfg;
  int scaleType;
  int inputLayout;
  uint32_t mlaVHeadSize;
  int8_t cacheType;
  uint32_t windowSize;
  uint8_t rsv[64];
};
static_assert(sizeof(SelfAttentionParam) == 144);

}  // namespace infer

struct Utils {
  static uint64_t GetTensorSize(const Tensor& tensor);
};

Status CreateContext(Context** context);
Status DestroyContext(Context* context);
Status DestroyOperation(Operation* operation);
template <class Param>
Status CreateOperation(const Param& param, Operation** operation);

}  // namespace atb
