// aclnnTransMatmulWeight, which gives a weight the format FRACTAL_NZ, and the functions that return the sizes
// of such weights. The bytes of a weight stay as they are.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/matmul_weight_functions.h"

#include "acl/device/device.h"
#include "aclnnop/phase1.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "base/log.h"
#include "contract/arguments.h"

namespace portacl {
namespace {

enum Tensors { kWeight };

constexpr DtypeSet kHalf{ACL_FLOAT16};
constexpr DtypeSet kBytes{ACL_INT8, ACL_UINT8, ACL_FLOAT8_E4M3FN, ACL_HIFLOAT8};
constexpr DtypeRule kDtypes = SinceAtlasA2(kHalf | kBf16 | kBytes, kHalf)
                                  .On(ProductSet{Product::kAtlasInference}, kHalf | DtypeSet{ACL_INT8});

bool TakesBatches(Product product) { return products::kAtlasA2AndA3.Contains(product); }

aclnnStatus FormatIsNd(const Check& check, OperatorCall& call) noexcept {
  const aclFormat format = call.Tensor(kWeight).format;
  if (format == ACL_FORMAT_ND) return ACL_SUCCESS;
  Text message = StartMessage(call).Add("parameter mmWeightRef has the format ");
  AddFormatName(message, format);
  return FailAclnn(check.code, message.Add(", accepted: ND."));
}

aclnnStatus RankOfWeight(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& weight = call.Tensor(kWeight);
  const int most = TakesBatches(call.product) || weight.dtype == ACL_INT8 ? 6 : 2;
  if (weight.shape.rank >= 2 && weight.shape.rank <= most) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kWeight)
      .Add(" has a rank out of range, accepted: 2 to ")
      .Add(most);
  return FailAclnn(check.code, message.Add("."));
}

constexpr Check kChecks[] = {
    NotNull(kWeight),  // in CANN's order
    DtypesIn(kDtypes, {kWeight}),
    Custom(FormatIsNd),
    RankAtMost(8, {kWeight}),
    SizesRepresentable({kWeight}),
    DoneIfEmpty({kWeight}),
    Custom(RankOfWeight),
};

// Returns the dims of FRACTAL_NZ: blocks of columns, blocks of 16 rows, then the rows and columns of a block,
// whose rows have 32 bytes.
Shape FractalDims(const StridedView& weight) {
  constexpr int64_t kBlockRows = 16;
  const int64_t block_columns = 32 * 8 / StorageBits(weight.dtype);
  const auto blocks = [](int64_t length, int64_t of) { return length / of + (length % of == 0 ? 0 : 1); };
  Shape dims = weight.shape;
  const int rank = dims.rank;
  const int64_t rows = dims[rank - 2];
  dims.dim[rank - 2] = blocks(dims[rank - 1], block_columns);
  dims.dim[rank - 1] = blocks(rows, kBlockRows);
  dims.dim[rank] = kBlockRows;
  dims.dim[rank + 1] = block_columns;
  dims.rank = rank + 2;
  return dims;
}

// Sets the format and storage that the weight would have on an NPU, and keeps its view. Nothing is moved,
// since matrix products read FRACTAL_NZ by strides. The tensor exists until phase 1 returns, but may be gone
// in phase 2.
void MakeFractal(const OperatorCall& call, Executor&) {
  auto& weight = const_cast<aclTensor&>(call.Tensor(kWeight));
  weight.storage = FractalDims(weight);
  weight.format = ACL_FORMAT_FRACTAL_NZ;
  weight.Describe();
}

// Computes the number of elements of the padded weight: the last two dims are rounded up to multiples of
// kRows and `columns`.
aclnnStatus SizeOf(const char* api, const aclIntArray* shape, int64_t most_rank, bool takes_zero,
                   int64_t columns, uint64_t* size) {
  constexpr int64_t kRows = 16;
  const auto& dims = shape->values;
  const auto rank = static_cast<int64_t>(dims.size());
  if (rank < 2 || rank > most_rank) {
    return FailAclnn(ACLNN_ERR_PARAM_INVALID, Text(api, ": parameter tensorShape has ", rank,
                                                   " values, accepted: 2 to ", most_rank, "."));
  }
  int64_t product = 1;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t length = dims[static_cast<size_t>(i)];
    const int64_t multiple = i == rank - 1 ? columns : i == rank - 2 ? kRows : 1;
    if (length < (takes_zero ? 0 : 1)) {
      return FailAclnn(ACLNN_ERR_PARAM_INVALID, Text(api, ": parameter tensorShape has the length ", length,
                                                     ", accepted: at least ", takes_zero ? 0 : 1, "."));
    }
    if (__builtin_add_overflow(length, multiple - 1, &length) ||
        __builtin_mul_overflow(product, length / multiple * multiple, &product)) {
      return FailAclnn(ACLNN_ERR_PARAM_INVALID,
                       Text(api, ": parameter tensorShape has more elements than 64 bits count."));
    }
  }
  *size = static_cast<uint64_t>(product);
  return ACL_SUCCESS;
}

aclnnStatus RefuseNull(const char* api, const char* name) {
  return FailAclnn(ACLNN_ERR_PARAM_NULLPTR, Text(api, ": parameter ", name, " is a null pointer."));
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnTransMatmulWeight) {
  return RunPhase1(call, kChecks, workspaceSize, executor, MakeFractal);
}

aclnnStatus aclnnCalculateMatmulWeightSize(const aclIntArray* tensorShape, uint64_t* weightTensorSize) {
  constexpr const char* kApi = "aclnnCalculateMatmulWeightSize";
  const ApiScope scope(kApi);
  if (tensorShape == nullptr) return RefuseNull(kApi, "tensorShape");
  if (weightTensorSize == nullptr) return RefuseNull(kApi, "weightTensorSize");
  return SizeOf(kApi, tensorShape, TakesBatches(CurrentProduct()) ? 6 : 2, true, 16, weightTensorSize);
}

aclnnStatus aclnnCalculateMatmulWeightSizeV2(const aclIntArray* tensorShape, aclDataType dataType,
                                             uint64_t* weightTensorSize) {
  constexpr const char* kApi = "aclnnCalculateMatmulWeightSizeV2";
  const ApiScope scope(kApi);
  constexpr ProductSet kWithout{Product::kAtlasTraining, Product::kAtlas200I500A2};
  if (kWithout.Contains(CurrentProduct())) {
    return FailAclnn(
        ACLNN_ERR_RUNTIME_ERROR,
        Text(kApi, ": the product has no such weights, accepted: Atlas inference, A2, A3 and Ascend 950."));
  }
  if (tensorShape == nullptr) return RefuseNull(kApi, "tensorShape");
  if (weightTensorSize == nullptr) return RefuseNull(kApi, "weightTensorSize");
  const bool is_half = dataType == ACL_FLOAT16 || dataType == ACL_BF16;
  return SizeOf(kApi, tensorShape, 6, false, is_half ? 16 : 32, weightTensorSize);
}
