// Softmax, norms and losses over classes for the determinism test: rows of several blocks, rows along any axis, sums over many rows. Each
// result of an operator that has several is hashed in a setting of its own.
// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "aclnnop/families/arithmetic.h"
#include "aclnnop/families/loss.h"
#include "aclnnop/families/norm.h"
#include "determinism/subject.h"

namespace portacl::testing {
namespace {

using Tensors = std::span<aclTensor* const>;

class Array {
 public:
  explicit Array(const Shape& values) : array_(aclCreateIntArray(values.data(), values.size())) {}
  ~Array() { aclDestroyIntArray(array_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  operator const aclIntArray*() const { return array_; }

 private:
  aclIntArray* array_;
};
// One of three flags.
class Flag {
 public:
  explicit Flag(int64_t which) {
    const bool values[] = {which == 0, which == 1, which == 2};
    array_ = aclCreateBoolArray(values, 3);
  }
  ~Flag() { aclDestroyBoolArray(array_); }
  Flag(const Flag&) = delete;
  Flag& operator=(const Flag&) = delete;
  operator const aclBoolArray*() const { return array_; }

 private:
  aclBoolArray* array_;
};

// A tensor for results that are not looked at, as long as phase 1 runs.
class Unseen {
 public:
  explicit Unseen(const Shape& shape, aclDataType dtype = ACL_FLOAT) {
    static std::vector<double> memory(1 << 17);
    tensor_ = aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                              shape.size(), memory.data());
  }
  ~Unseen() { aclDestroyTensor(tensor_); }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;
  operator aclTensor*() const { return tensor_; }

 private:
  aclTensor* tensor_;
};

aclDataType DtypeOf(const aclTensor* tensor) {
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclGetDataType(tensor, &dtype);
  return dtype;
}

const std::vector<DtypeNumber> kFloats = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

// A case of inputs of one dtype and shapes; which setting; those of other dtypes.
GivenCase Case(DtypeNumber dtype, const std::vector<Shape>& inputs, const Shape& output, size_t setting = 0) {
  return {std::vector<DtypeNumber>(inputs.size(), dtype), inputs, dtype, output, setting};
}

SubjectRegistration Register(const OperatorBinding& binding, const std::vector<GivenCase>& given,
                             const std::vector<size_t>& not_negative = {}, bool is_plain_code = false) {
  Subject subject;
  subject.description.binding = binding;
  subject.description.binding.may_need_workspace = [](std::span<const Shape>) { return true; };
  size_t settings = 1;
  for (const GivenCase& one : given) settings = std::max(settings, one.attributes + 1);
  for (size_t i = 0; i < settings; ++i) {
    subject.description.attributes.emplace_back();
    subject.description.attributes.back().reduction = static_cast<int64_t>(i);
  }
  subject.given = given;
  subject.cuts_freely = [](const Attributes&) { return false; };
  subject.sums_everything = true;
  subject.not_negative = not_negative;
  subject.is_plain_code = is_plain_code;
  for (const char c : binding.name) subject.seed = subject.seed * 31 + static_cast<unsigned char>(c);
  return SubjectRegistration(std::move(subject));
}

std::vector<GivenCase> AlongEveryDim(size_t inputs, const std::vector<DtypeNumber>& dtypes) {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : dtypes) {
    const Shape cube = {7, 61, 53};
    for (size_t dim = 0; dim < 3; ++dim)
      cases.push_back(Case(dtype, std::vector<Shape>(inputs, cube), cube, dim));
    const Shape wide = {1, 3, 9001};
    cases.push_back(Case(dtype, std::vector<Shape>(inputs, wide), wide, 2));
  }
  return cases;
}

template <auto kPlan>
aclnnStatus PlanOne(Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
  return kPlan(t[0], a.reduction, t[1], size, executor);
}
template <auto kPlan>
aclnnStatus PlanTwo(Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
  return kPlan(t[0], t[1], a.reduction, t[2], size, executor);
}

const auto kSoftmax =
    Register({"aclnnSoftmax", {"self", "out"}, PlanOne<&aclnnSoftmaxGetWorkspaceSize>, aclnnSoftmax},
             AlongEveryDim(1, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE}));
const auto kLogSoftmax =
    Register({"aclnnLogSoftmax", {"self", "out"}, PlanOne<&aclnnLogSoftmaxGetWorkspaceSize>, aclnnLogSoftmax},
             AlongEveryDim(1, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE}));
const auto kSoftmaxBackward = Register({"aclnnSoftmaxBackward",
                                        {"gradOutput", "output", "out"},
                                        PlanTwo<&aclnnSoftmaxBackwardGetWorkspaceSize>,
                                        aclnnSoftmaxBackward},
                                       AlongEveryDim(2, kFloats));
const auto kLogSoftmaxBackward = Register({"aclnnLogSoftmaxBackward",
                                           {"gradOutput", "output", "out"},
                                           PlanTwo<&aclnnLogSoftmaxBackwardGetWorkspaceSize>,
                                           aclnnLogSoftmaxBackward},
                                          AlongEveryDim(2, kFloats));

// By each kind of norm, to which most slices are scaled.
const auto kRenorm = Register({"aclnnRenorm",
                               {"self", "out"},
                               [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                                 float numbers[] = {2, 1, 0, std::numeric_limits<float>::infinity(), 1.5f};
                                 float most = 1;
                                 aclScalar* const p = aclCreateScalar(&numbers[a.reduction % 5], ACL_FLOAT);
                                 aclScalar* const bound = aclCreateScalar(&most, ACL_FLOAT);
                                 const aclnnStatus status = aclnnRenormGetWorkspaceSize(
                                     t[0], p, a.reduction % 2, bound, t[1], size, executor);
                                 aclDestroyScalar(p);
                                 aclDestroyScalar(bound);
                                 return status;
                               },
                               aclnnRenorm},
                              [] {
                                std::vector<GivenCase> cases;
                                for (const DtypeNumber dtype : kFloats) {
                                  for (size_t kind = 0; kind < 5; ++kind)
                                    cases.push_back(Case(dtype, {{61, 53, 7}}, {61, 53, 7}, kind));
                                }
                                cases.push_back(Case(ACL_FLOAT, {{3, 2, 9001}}, {3, 2, 9001}, 0));
                                return cases;
                              }());

const Shape kRows = {617, 123};
const Shape kColumns = {123};
const Shape kNumbers = {617, 1};

// The result, mean and rstd of rows.
std::vector<GivenCase> LayerNormCases() {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kFloats) {
    cases.push_back(Case(dtype, {kRows, kColumns, kColumns}, kRows, 0));
    cases.push_back(Case(dtype, {kRows, kColumns, kColumns}, kNumbers, 1));
    cases.push_back(Case(dtype, {kRows, kColumns, kColumns}, kNumbers, 2));
  }
  return cases;
}
const auto kLayerNorm = Register(
    {"aclnnLayerNorm",
     {"input", "weightOptional", "biasOptional", "result"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const Unseen unseen(kRows);
       return aclnnLayerNormGetWorkspaceSize(
           t[0], Array(kColumns), t[1], t[2], 1e-5, a.reduction == 0 ? t[3] : static_cast<aclTensor*>(unseen),
           a.reduction == 1 ? t[3] : nullptr, a.reduction == 2 ? t[3] : nullptr, size, executor);
     },
     aclnnLayerNorm},
    LayerNormCases());

const Shape kBatches = {3, 97, 257};
std::vector<GivenCase> AdaLayerNormCases() {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kFloats)
    cases.push_back(Case(dtype, {kBatches, {3, 257}, {3, 1, 257}, {257}, {257}}, kBatches));
  return cases;
}
const auto kAdaLayerNorm = Register(
    {"aclnnAdaLayerNorm",
     {"x", "scale", "shift", "weightOptional", "biasOptional", "out"},
     [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnAdaLayerNormGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], 1e-5, t[5], size, executor);
     },
     aclnnAdaLayerNorm},
    AdaLayerNormCases());
// The gradients of rows, scales and shifts.
std::vector<GivenCase> ModulateCases() {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kFloats) {
    for (size_t which = 0; which < 3; ++which)
      cases.push_back(
          Case(dtype, {kBatches, kBatches, {3, 257}}, which == 0 ? kBatches : Shape{3, 257}, which));
  }
  return cases;
}
const auto kModulateBackward =
    Register({"aclnnModulateBackward",
              {"gradOutput", "input", "scale", "result"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                const Unseen rows(kBatches, DtypeOf(t[0]));
                const Unseen first({3, 257}, DtypeOf(t[0]));
                const Unseen second({3, 257}, DtypeOf(t[0]));
                return aclnnModulateBackwardGetWorkspaceSize(
                    t[0], t[1], t[2], t[2], a.reduction == 0 ? t[3] : static_cast<aclTensor*>(rows),
                    a.reduction == 1 ? t[3] : static_cast<aclTensor*>(first),
                    a.reduction == 2 ? t[3] : static_cast<aclTensor*>(second), size, executor);
              },
              aclnnModulateBackward},
             ModulateCases(), {}, /*is_plain_code=*/true);

std::vector<GivenCase> GradientCases(const std::vector<Shape>& inputs, const std::vector<Shape>& outputs) {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kFloats) {
    for (size_t i = 0; i < outputs.size(); ++i) cases.push_back(Case(dtype, inputs, outputs[i], i));
  }
  return cases;
}
const auto kLayerNormBackward = Register(
    {"aclnnLayerNormBackward",
     {"gradOut", "input", "mean", "rstd", "weightOptional", "result"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const auto of = [&](int64_t which) { return a.reduction == which ? t[5] : nullptr; };
       return aclnnLayerNormBackwardGetWorkspaceSize(t[0], t[1], Array(kColumns), t[2], t[3], t[4], nullptr,
                                                     Flag(a.reduction), of(0), of(1), of(2), size, executor);
     },
     aclnnLayerNormBackward},
    GradientCases({kRows, kRows, kNumbers, kNumbers, kColumns}, {kRows, kColumns, kColumns}));

const auto kRmsNorm =
    Register({"aclnnRmsNorm",
              {"x", "gamma", "yOut"},
              [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                const Unseen unseen(kNumbers);
                return aclnnRmsNormGetWorkspaceSize(t[0], t[1], 1e-6, t[2], unseen, size, executor);
              },
              aclnnRmsNorm},
             GradientCases({kRows, kColumns}, {kRows}));
const auto kAddRmsNorm = Register(
    {"aclnnAddRmsNorm",
     {"x1", "x2", "gamma", "yOut"},
     [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnAddRmsNormGetWorkspaceSize(t[0], t[1], t[2], 1e-6, t[3], nullptr, nullptr, size, executor);
     },
     aclnnAddRmsNorm},
    {Case(ACL_FLOAT16, {kRows, kRows, kColumns}, kRows), Case(ACL_BF16, {kRows, kRows, kColumns}, kRows)});
// With the sum and rstd, of which FLOAT has no other form.
const auto kAddRmsNormWithSum =
    Register({"aclnnAddRmsNorm_sum",
              {"x1", "x2", "gamma", "result"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                const Unseen rstd(kNumbers);
                const Unseen rows(kRows);
                const bool first = a.reduction == 0;
                return aclnnAddRmsNormGetWorkspaceSize(
                    t[0], t[1], t[2], 1e-6, first ? t[3] : static_cast<aclTensor*>(rows), rstd,
                    first ? static_cast<aclTensor*>(rows) : t[3], size, executor);
              },
              aclnnAddRmsNorm},
             {Case(ACL_FLOAT, {kRows, kRows, kColumns}, kRows, 0),
              Case(ACL_FLOAT, {kRows, kRows, kColumns}, kRows, 1)});
// Alone, the sum, and both terms of other dtypes.
std::vector<GivenCase> SumNormCases() {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kFloats) {
    for (size_t which = 0; which < 3; ++which)
      cases.push_back(Case(dtype, {kRows, kRows, kColumns, kColumns, kColumns}, kRows, which));
  }
  GivenCase mixed = Case(ACL_FLOAT, {kRows, kRows, kColumns, kColumns, kColumns}, kRows, 1);
  mixed.input_dtypes[1] = ACL_BF16;
  cases.push_back(mixed);
  return cases;
}
const auto kAddLayerNorm =
    Register({"aclnnAddLayerNorm",
              {"x1", "x2", "gamma", "beta", "biasOptional", "result"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                const Unseen mean(kNumbers);
                const Unseen rstd(kNumbers);
                const Unseen rows(kRows, DtypeOf(t[5]));
                const bool is_sum = a.reduction == 2;
                return aclnnAddLayerNormGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], 1e-5, a.reduction != 0,
                                                         is_sum ? static_cast<aclTensor*>(rows) : t[5], mean,
                                                         rstd, is_sum ? t[5] : static_cast<aclTensor*>(rows),
                                                         size, executor);
              },
              aclnnAddLayerNorm},
             SumNormCases());

// The gradient of x, and that of gamma, which is FLOAT.
std::vector<GivenCase> RmsGradientCases() {
  std::vector<GivenCase> cases = GradientCases({kRows, kRows, kNumbers, kColumns}, {kRows, kColumns});
  for (GivenCase& one : cases) {
    one.input_dtypes[2] = ACL_FLOAT;
    if (one.attributes == 1) one.output_dtype = ACL_FLOAT;
  }
  return cases;
}
const auto kRmsNormGrad =
    Register({"aclnnRmsNormGrad",
              {"dy", "x", "rstd", "gamma", "result"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                const Unseen dx(kRows, DtypeOf(t[0]));
                const Unseen dgamma(kColumns);
                const bool first = a.reduction == 0;
                return aclnnRmsNormGradGetWorkspaceSize(
                    t[0], t[1], t[2], t[3], first ? t[4] : static_cast<aclTensor*>(dx),
                    first ? static_cast<aclTensor*>(dgamma) : t[4], size, executor);
              },
              aclnnRmsNormGrad},
             RmsGradientCases());

const Shape kImages = {5, 6, 41, 31};
const Shape kChannels = {6};

// In training and not.
const auto kBatchNorm =
    Register({"aclnnBatchNorm",
              {"input", "weight", "bias", "runningMean", "runningVar", "output"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                const Unseen mean(kChannels);
                const Unseen invstd(kChannels);
                const bool training = a.reduction == 0;
                return aclnnBatchNormGetWorkspaceSize(t[0], t[1], t[2], training ? nullptr : t[3],
                                                      training ? nullptr : t[4], training, 0.1, 1e-5, t[5],
                                                      mean, invstd, size, executor);
              },
              aclnnBatchNorm},
             GradientCases({kImages, kChannels, kChannels, kChannels, kChannels}, {kImages, kImages}), {4});
// Mean and reciprocal deviation of channels.
const auto kBatchNormStatistics = Register(
    {"aclnnBatchNorm_statistics",
     {"input", "result"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const Unseen out(kImages, DtypeOf(t[0]));
       const Unseen other(kChannels);
       const bool first = a.reduction == 0;
       return aclnnBatchNormGetWorkspaceSize(t[0], nullptr, nullptr, nullptr, nullptr, true, 0.1, 1e-5, out,
                                             first ? t[1] : static_cast<aclTensor*>(other),
                                             first ? static_cast<aclTensor*>(other) : t[1], size, executor);
     },
     aclnnBatchNorm},
    GradientCases({kImages}, {kChannels, kChannels}));
const auto kBatchNormBackward = Register(
    {"aclnnBatchNormBackward",
     {"gradOut", "input", "weight", "saveMean", "saveInvstd", "result"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const auto of = [&](int64_t which) { return a.reduction == which ? t[5] : nullptr; };
       return aclnnBatchNormBackwardGetWorkspaceSize(t[0], t[1], t[2], nullptr, nullptr, t[3], t[4], true,
                                                     1e-5, Flag(a.reduction), of(0), of(1), of(2), size,
                                                     executor);
     },
     aclnnBatchNormBackward},
    GradientCases({kImages, kImages, kChannels, kChannels, kChannels}, {kImages, kChannels, kChannels}));

// Parts of a batch norm: the statistics of one part, and of nine parts together.
const auto kBatchNormStats =
    Register({"aclnnBatchNormStats",
              {"input", "result"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                const Unseen other(kChannels);
                const bool first = a.reduction == 0;
                return aclnnBatchNormStatsGetWorkspaceSize(
                    t[0], 1e-5, first ? t[1] : static_cast<aclTensor*>(other),
                    first ? static_cast<aclTensor*>(other) : t[1], size, executor);
              },
              aclnnBatchNormStats},
             {Case(ACL_FLOAT, {kImages}, kChannels, 0), Case(ACL_FLOAT, {kImages}, kChannels, 1)});
const auto kBatchNormElemt = Register(
    {"aclnnBatchNormElemt",
     {"input", "weight", "bias", "mean", "invstd", "output"},
     [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnBatchNormElemtGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], 1e-5, t[5], size, executor);
     },
     aclnnBatchNormElemt},
    GradientCases({kImages, kChannels, kChannels, kChannels, kChannels}, {kImages}));
const auto kBatchNormElemtBackward = Register(
    {"aclnnBatchNormElemtBackward",
     {"gradOut", "input", "mean", "invstd", "weight", "sumDy", "sumDyXmu", "counter", "gradInput"},
     [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnBatchNormElemtBackwardGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7],
                                                          t[8], size, executor);
     },
     aclnnBatchNormElemtBackward},
    {Case(ACL_FLOAT, {kImages, kImages, kChannels, kChannels, kChannels, kChannels, kChannels, {3}}, kImages),
     Case(ACL_FLOAT16, {kImages, kImages, kChannels, kChannels, kChannels, kChannels, kChannels, {3}},
          kImages)});
const auto kBatchNormReduceBackward =
    Register({"aclnnBatchNormReduceBackward",
              {"gradOut", "input", "mean", "invstd", "result"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                const auto of = [&](int64_t which) { return a.reduction == which ? t[4] : nullptr; };
                const Unseen other(kChannels);
                return aclnnBatchNormReduceBackwardGetWorkspaceSize(
                    t[0], t[1], t[2], t[3], nullptr, a.reduction == 0, a.reduction == 1, a.reduction == 2,
                    of(0), other, of(1), of(2), size, executor);
              },
              aclnnBatchNormReduceBackward},
             GradientCases({kImages, kImages, kChannels, kChannels}, {kChannels, kChannels, kChannels}));
const Shape kParts = {9, 6};
const auto kBatchNormGatherStats = Register(
    {"aclnnBatchNormGatherStatsWithCounts",
     {"mean", "invstd", "counts", "result"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const Unseen other(kChannels);
       const bool first = a.reduction == 0;
       return aclnnBatchNormGatherStatsWithCountsGetWorkspaceSize(
           t[0], t[0], t[1], nullptr, nullptr, 0.1, 1e-5, t[2], first ? t[3] : static_cast<aclTensor*>(other),
           first ? static_cast<aclTensor*>(other) : t[3], size, executor);
     },
     aclnnBatchNormGatherStatsWithCounts},
    GradientCases({kParts, kParts, {9}}, {kChannels, kChannels}), {1, 2});
const auto kSyncBatchNormGatherStats = Register(
    {"aclnnSyncBatchNormGatherStats",
     {"totalSum", "totalSquareSum", "sampleCount", "result"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const Unseen mean(kChannels);
       const Unseen variance(kChannels);
       const Unseen other(kChannels);
       const bool first = a.reduction == 0;
       return aclnnSyncBatchNormGatherStatsGetWorkspaceSize(
           t[0], t[1], t[2], mean, variance, 0.1f, 1e-5f, first ? t[3] : static_cast<aclTensor*>(other),
           first ? static_cast<aclTensor*>(other) : t[3], size, executor);
     },
     aclnnSyncBatchNormGatherStats},
    {Case(ACL_FLOAT, {kParts, kParts, {9}}, kChannels, 0)}, {1, 2});
// The same view as an image, as long as phase 1 runs.
class AsImage {
 public:
  explicit AsImage(const aclTensor* tensor) {
    int64_t* shape = nullptr;
    int64_t* strides = nullptr;
    int64_t* storage = nullptr;
    uint64_t rank = 0;
    uint64_t storage_rank = 0;
    int64_t offset = 0;
    void* address = nullptr;
    aclGetViewShape(tensor, &shape, &rank);
    aclGetViewStrides(tensor, &strides, &rank);
    aclGetViewOffset(tensor, &offset);
    aclGetStorageShape(tensor, &storage, &storage_rank);
    aclGetRawTensorAddr(tensor, &address);
    tensor_ = aclCreateTensor(shape, rank, DtypeOf(tensor), strides, offset, ACL_FORMAT_NCHW, storage,
                              storage_rank, address);
    delete[] shape;
    delete[] strides;
    delete[] storage;
  }
  ~AsImage() { aclDestroyTensor(tensor_); }
  AsImage(const AsImage&) = delete;
  AsImage& operator=(const AsImage&) = delete;
  operator const aclTensor*() const { return tensor_; }

 private:
  aclTensor* tensor_;
};
const auto kBatchNormReduce =
    Register({"aclnnBatchNormReduce",
              {"x", "result"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                const Unseen other(kChannels);
                const bool first = a.reduction == 0;
                return aclnnBatchNormReduceGetWorkspaceSize(
                    AsImage(t[0]), first ? t[1] : static_cast<aclTensor*>(other),
                    first ? static_cast<aclTensor*>(other) : t[1], size, executor);
              },
              aclnnBatchNormReduce},
             {Case(ACL_FLOAT, {kImages}, kChannels, 0), Case(ACL_FLOAT, {kImages}, kChannels, 1)});

const Shape kGroups = {5, 3};
const auto kGroupNorm = Register(
    {"aclnnGroupNorm",
     {"self", "gamma", "beta", "result"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const Unseen out(kImages, DtypeOf(t[0]));
       const Unseen first(kGroups, DtypeOf(t[0]));
       const Unseen second(kGroups, DtypeOf(t[0]));
       const auto of = [&](int64_t which, aclTensor* unseen) { return a.reduction == which ? t[3] : unseen; };
       return aclnnGroupNormGetWorkspaceSize(t[0], t[1], t[2], 5, 6, 41 * 31, 3, 1e-5, of(0, out),
                                             of(1, first), of(2, second), size, executor);
     },
     aclnnGroupNorm},
    GradientCases({kImages, kChannels, kChannels}, {kImages, kGroups, kGroups}));
const auto kGroupNormBackward = Register(
    {"aclnnGroupNormBackward",
     {"gradOut", "input", "mean", "rstd", "gamma", "result"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const auto of = [&](int64_t which) { return a.reduction == which ? t[5] : nullptr; };
       return aclnnGroupNormBackwardGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], 5, 6, 41 * 31, 3,
                                                     Flag(a.reduction), of(0), of(1), of(2), size, executor);
     },
     aclnnGroupNormBackward},
    GradientCases({kImages, kImages, kGroups, kGroups, kChannels}, {kImages, kChannels, kChannels}));

const Shape kClassRows = {9001, 17};
std::vector<GivenCase> LossCases() {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kFloats) {
    for (size_t reduction = 0; reduction < 3; ++reduction) {
      GivenCase one =
          Case(dtype, {kClassRows, {9001}, {17}}, reduction == 0 ? Shape{9001} : Shape{}, reduction);
      one.input_dtypes[1] = ACL_INT64;
      one.indices = {{1, 17}};
      cases.push_back(one);
    }
  }
  return cases;
}
const auto kNllLoss = Register({"aclnnNLLLoss",
                                {"self", "target", "weight", "out"},
                                [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                                  const Unseen total(Shape{}, DtypeOf(t[0]));
                                  return aclnnNLLLossGetWorkspaceSize(t[0], t[1], t[2], a.reduction, 3, t[3],
                                                                      total, size, executor);
                                },
                                aclnnNLLLoss},
                               LossCases(), {2}, /*is_plain_code=*/true);
// Losses, each or together, and which classes are labels.
std::vector<GivenCase> MarginCases() {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kFloats) {
    for (size_t reduction = 0; reduction < 4; ++reduction) {
      for (const Shape& rows : {Shape{4201, 3}, Shape{37, 301}}) {
        GivenCase one = Case(dtype, {rows, rows},
                             reduction == 3   ? rows
                             : reduction == 0 ? Shape{rows[0]}
                                              : Shape{},
                             reduction);
        one.input_dtypes[1] = ACL_INT64;
        one.indices = {{1, rows[1], false, -1}};
        cases.push_back(one);
      }
    }
  }
  return cases;
}
const auto kMultilabelMarginLoss =
    Register({"aclnnMultilabelMarginLoss",
              {"self", "target", "result"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                const Unseen loss(Shape{}, DtypeOf(t[0]));
                int64_t* dims = nullptr;
                uint64_t rank = 0;
                aclGetViewShape(t[0], &dims, &rank);
                const Unseen labels(Shape(dims, dims + rank), DtypeOf(t[0]));
                delete[] dims;
                const bool is_loss = a.reduction < 3;
                return aclnnMultilabelMarginLossGetWorkspaceSize(
                    t[0], t[1], a.reduction, is_loss ? t[2] : loss, is_loss ? labels : t[2], size, executor);
              },
              aclnnMultilabelMarginLoss},
             MarginCases());
const Shape kPixels = {2, 5, 61, 53};
const auto kNllLoss2d = Register(
    {"aclnnNLLLoss2d",
     {"self", "target", "weight", "out"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const Unseen total(Shape{}, DtypeOf(t[0]));
       return aclnnNLLLoss2dGetWorkspaceSize(t[0], t[1], t[2], a.reduction, 3, t[3], total, size, executor);
     },
     aclnnNLLLoss2d},
    [] {
      std::vector<GivenCase> cases;
      for (const DtypeNumber dtype : kFloats) {
        for (size_t reduction = 0; reduction < 3; ++reduction) {
          const Shape targets = {2, 61, 53};
          GivenCase one = Case(dtype, {kPixels, targets, {5}}, reduction == 0 ? targets : Shape{}, reduction);
          one.input_dtypes[1] = ACL_INT64;
          one.indices = {{1, 5}};
          cases.push_back(one);
        }
      }
      return cases;
    }(),
    {2}, /*is_plain_code=*/true);
std::vector<GivenCase> LossGradientCases() {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kFloats) {
    for (size_t reduction = 0; reduction < 3; ++reduction) {
      GivenCase one = Case(dtype, {reduction == 0 ? Shape{9001} : Shape{}, kClassRows, {9001}, {17}, {}},
                           kClassRows, reduction);
      one.input_dtypes[2] = ACL_INT64;
      one.indices = {{2, 17}};
      cases.push_back(one);
    }
  }
  return cases;
}
const auto kNllLossBackward =
    Register({"aclnnNLLLossBackward",
              {"gradOutput", "self", "target", "weight", "totalWeight", "out"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                return aclnnNLLLossBackwardGetWorkspaceSize(t[0], t[1], t[2], t[3], a.reduction, 3, t[4],
                                                            t[5], size, executor);
              },
              aclnnNLLLossBackward},
             LossGradientCases(), {}, /*is_plain_code=*/true);

// Losses without weights, smoothed; logarithms; losses with weights, not smoothed.
const Shape kWideRows = {9, 9001};
std::vector<GivenCase> CrossEntropyCases() {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kFloats) {
    for (size_t which = 0; which < 4; ++which) {
      const Shape& rows = which == 3 ? kWideRows : kClassRows;
      GivenCase one =
          Case(dtype, {rows, {rows[0]}, {rows[1]}}, which == 1 || which == 3 ? rows : Shape{}, which);
      one.input_dtypes[1] = ACL_INT64;
      one.input_dtypes[2] = ACL_FLOAT;
      one.indices = {{1, rows[1]}};
      cases.push_back(one);
    }
  }
  return cases;
}
// The losses, and the gradients.
const auto kLossOfShares = Register(
    {"aclnnSoftmaxCrossEntropyWithLogits",
     {"features", "labels", "result"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const Unseen loss({kClassRows[0]}, DtypeOf(t[0]));
       const Unseen rows(kClassRows, DtypeOf(t[0]));
       const Unseen few({kWideRows[0]}, DtypeOf(t[0]));
       return aclnnSoftmaxCrossEntropyWithLogitsGetWorkspaceSize(
           t[0], t[1], a.reduction == 0 ? t[2] : static_cast<aclTensor*>(a.reduction == 1 ? loss : few),
           a.reduction == 0 ? static_cast<aclTensor*>(rows) : t[2], size, executor);
     },
     aclnnSoftmaxCrossEntropyWithLogits},
    [] {
      std::vector<GivenCase> cases;
      for (const DtypeNumber dtype : kFloats) {
        cases.push_back(Case(dtype, {kClassRows, kClassRows}, {kClassRows[0]}, 0));
        cases.push_back(Case(dtype, {kClassRows, kClassRows}, kClassRows, 1));
        cases.push_back(Case(dtype, {kWideRows, kWideRows}, kWideRows, 2));
      }
      return cases;
    }());
const auto kLossFromSums =
    Register({"aclnnFusedCrossEntropyLossWithMaxSum",
              {"logitsMax", "sumExpLogits", "predictedLogits", "vocabParallelLogitsOptional", "result"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                const Unseen loss({kClassRows[0]});
                return aclnnFusedCrossEntropyLossWithMaxSumGetWorkspaceSize(
                    t[0], t[1], t[2], 0, nullptr, nullptr, a.reduction == 0 ? nullptr : t[3],
                    a.reduction == 0 ? t[4] : static_cast<aclTensor*>(loss),
                    a.reduction == 0 ? nullptr : t[4], size, executor);
              },
              aclnnFusedCrossEntropyLossWithMaxSum},
             [] {
               std::vector<GivenCase> cases;
               const Shape rows = {kClassRows[0]};
               for (const DtypeNumber dtype : kFloats) {
                 for (size_t which = 0; which < 2; ++which) {
                   cases.push_back(Case(ACL_FLOAT, {rows, rows, rows, kClassRows},
                                        which == 0 ? rows : kClassRows, which));
                   cases.back().input_dtypes[3] = dtype;
                 }
               }
               return cases;
             }(),
             {1});
char kMean[] = "mean";
char kSum[] = "sum";
const auto kCrossEntropy = Register(
    {"aclnnCrossEntropyLoss",
     {"input", "target", "weight", "result"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const Unseen none({0}, DtypeOf(t[0]));
       const Unseen loss({}, DtypeOf(t[0]));
       const Unseen rows(kClassRows, DtypeOf(t[0]));
       const bool logarithms = a.reduction == 1 || a.reduction == 3;
       return aclnnCrossEntropyLossGetWorkspaceSize(
           t[0], t[1], a.reduction == 0 ? nullptr : t[2], a.reduction == 0 ? kSum : kMean, 3,
           a.reduction == 2 ? 0.0 : 0.1, 0.0, false, logarithms ? static_cast<aclTensor*>(loss) : t[3],
           logarithms ? t[3] : static_cast<aclTensor*>(rows), none, none, size, executor);
     },
     aclnnCrossEntropyLoss},
    CrossEntropyCases(), {2});
std::vector<GivenCase> CrossEntropyGradientCases() {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kFloats) {
    for (size_t which = 0; which < 3; ++which) {
      GivenCase one = Case(dtype, {{}, kClassRows, {9001}, {17}}, kClassRows, which);
      one.input_dtypes[2] = ACL_INT64;
      one.input_dtypes[3] = ACL_FLOAT;
      one.indices = {{2, 17}};
      cases.push_back(one);
    }
  }
  return cases;
}
const auto kCrossEntropyGrad = Register(
    {"aclnnCrossEntropyLossGrad",
     {"gradLoss", "logProb", "target", "weight", "out"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       return aclnnCrossEntropyLossGradGetWorkspaceSize(
           t[0], t[1], t[2], a.reduction == 0 ? nullptr : t[3], nullptr, nullptr,
           a.reduction == 0 ? kSum : kMean, 3, a.reduction == 2 ? 0.0 : 0.1, 0.0, t[4], size, executor);
     },
     aclnnCrossEntropyLossGrad},
    CrossEntropyGradientCases(), {3});

// Losses of two classes: values, means and sums, with weights and without.
std::vector<GivenCase> BinaryCases(size_t inputs, const Shape& weight, bool is_gradient) {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kFloats) {
    for (size_t reduction = 0; reduction < 3; ++reduction) {
      std::vector<Shape> shapes(inputs, kRows);
      if (!weight.empty()) shapes.back() = weight;
      if (is_gradient && reduction != 0) shapes[0] = {};
      cases.push_back(Case(dtype, shapes, reduction == 0 || is_gradient ? kRows : Shape{}, reduction));
    }
  }
  return cases;
}
// Of numbers above 1, which is half of what is drawn, a value is NaN; sums would be, too.
const auto kEntropy =
    Register({"aclnnBinaryCrossEntropy",
              {"self", "target", "weight", "out"},
              [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                return aclnnBinaryCrossEntropyGetWorkspaceSize(t[0], t[1], t[2], 0, t[3], size, executor);
              },
              aclnnBinaryCrossEntropy},
             GradientCases({kRows, kRows, kColumns}, {kRows}), {0, 1});
const auto kEntropyBackward =
    Register({"aclnnBinaryCrossEntropyBackward",
              {"gradOutput", "self", "target", "weightOptional", "out"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                return aclnnBinaryCrossEntropyBackwardGetWorkspaceSize(t[0], t[1], t[2], t[3], a.reduction,
                                                                       t[4], size, executor);
              },
              aclnnBinaryCrossEntropyBackward},
             BinaryCases(4, kColumns, true), {1, 2});
const auto kLogits =
    Register({"aclnnBinaryCrossEntropyWithLogits",
              {"self", "target", "weightOptional", "posWeightOptional", "out"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                return aclnnBinaryCrossEntropyWithLogitsGetWorkspaceSize(
                    t[0], t[1], t[2], a.reduction == 1 ? nullptr : t[3], a.reduction, t[4], size, executor);
              },
              aclnnBinaryCrossEntropyWithLogits},
             BinaryCases(4, kColumns, false), {1, 3});
const auto kLogitsBackward = Register(
    {"aclnnBinaryCrossEntropyWithLogitsBackward",
     {"gradOutput", "self", "target", "posWeightOptional", "out"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       return aclnnBinaryCrossEntropyWithLogitsBackwardGetWorkspaceSize(
           t[0], t[1], t[2], nullptr, a.reduction == 1 ? nullptr : t[3], a.reduction, t[4], size, executor);
     },
     aclnnBinaryCrossEntropyWithLogitsBackward},
    BinaryCases(4, kColumns, true), {2, 3});
const auto kLogitsTargetBackward = Register(
    {"aclnnBinaryCrossEntropyWithLogitsTargetBackward",
     {"gradOutput", "self", "target", "posWeight", "gradTarget"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       return aclnnBinaryCrossEntropyWithLogitsTargetBackwardGetWorkspaceSize(
           t[0], t[1], t[2], nullptr, a.reduction == 1 ? nullptr : t[3], a.reduction, t[4], size, executor);
     },
     aclnnBinaryCrossEntropyWithLogitsTargetBackward},
    BinaryCases(4, kColumns, true), {2, 3});
const auto kSoftMargin =
    Register({"aclnnSoftMarginLoss",
              {"self", "target", "out"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                return aclnnSoftMarginLossGetWorkspaceSize(t[0], t[1], a.reduction, t[2], size, executor);
              },
              aclnnSoftMarginLoss},
             BinaryCases(2, {}, false));
const auto kSoftMarginBackward =
    Register({"aclnnSoftMarginLossBackward",
              {"gradOutput", "self", "target", "out"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                return aclnnSoftMarginLossBackwardGetWorkspaceSize(t[0], t[1], t[2], a.reduction, t[3], size,
                                                                   executor);
              },
              aclnnSoftMarginLossBackward},
             BinaryCases(3, {}, true));

// ---- norms fused with what is around them ----

const auto kGemmaRmsNorm =
    Register({"aclnnGemmaRmsNorm",
              {"x", "gamma", "yOut"},
              [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                const Unseen unseen(kNumbers);
                return aclnnGemmaRmsNormGetWorkspaceSize(t[0], t[1], 1e-6, t[2], unseen, size, executor);
              },
              aclnnGemmaRmsNorm},
             GradientCases({kRows, kColumns}, {kRows}));
const auto kAddRmsNormBias =
    Register({"aclnnAddRmsNormBias",
              {"x1", "x2", "gamma", "beta", "yOut"},
              [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                const Unseen rstd(kNumbers);
                const Unseen sum(kRows, DtypeOf(t[0]));
                return aclnnAddRmsNormBiasGetWorkspaceSize(t[0], t[1], t[2], t[3], 1e-6, t[4], rstd, sum,
                                                           size, executor);
              },
              aclnnAddRmsNormBias},
             GradientCases({kRows, kRows, kColumns, kColumns}, {kRows}));
const auto kAddRmsNormCast =
    Register({"aclnnAddRmsNormCast",
              {"x1", "x2", "gamma", "result"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                const Unseen rstd(kNumbers);
                const Unseen wide(kRows);
                const Unseen rows(kRows, DtypeOf(t[0]));
                const auto of = [&](int64_t which, const Unseen& unseen) {
                  return a.reduction == which ? t[3] : static_cast<aclTensor*>(unseen);
                };
                return aclnnAddRmsNormCastGetWorkspaceSize(t[0], t[1], t[2], 1e-6, of(0, wide), of(1, rows),
                                                           rstd, of(2, rows), size, executor);
              },
              aclnnAddRmsNormCast},
             [] {
               std::vector<GivenCase> cases;
               for (const DtypeNumber dtype : {ACL_FLOAT16, ACL_BF16}) {
                 for (size_t which = 1; which < 3; ++which)
                   cases.push_back(Case(dtype, {kRows, kRows, kColumns}, kRows, which));
               }
               return cases;
             }());
const auto kDeepNorm = Register({"aclnnDeepNorm",
                                 {"x", "gx", "beta", "gamma", "yOut"},
                                 [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                                   const Unseen mean(kNumbers);
                                   const Unseen rstd(kNumbers);
                                   return aclnnDeepNormGetWorkspaceSize(t[0], t[1], t[2], t[3], 0.3, 1e-5,
                                                                        mean, rstd, t[4], size, executor);
                                 },
                                 aclnnDeepNorm},
                                GradientCases({kRows, kRows, kColumns, kColumns}, {kRows}));
std::vector<GivenCase> SumGradientCases() {
  std::vector<GivenCase> cases =
      GradientCases({kRows, kRows, kRows, kColumns, kNumbers, kNumbers}, {kRows, kColumns, kColumns});
  for (GivenCase& one : cases) {
    one.input_dtypes[4] = one.input_dtypes[5] = ACL_FLOAT;
    if (one.attributes != 0) one.output_dtype = ACL_FLOAT;
  }
  return cases;
}
const auto kDeepNormGrad = Register(
    {"aclnnDeepNormGrad",
     {"dy", "x", "gx", "gamma", "mean", "rstd", "result"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const Unseen rows(kRows, DtypeOf(t[0]));
       const Unseen more(kRows, DtypeOf(t[0]));
       const Unseen columns(kColumns);
       const auto of = [&](int64_t which, const Unseen& unseen) {
         return a.reduction == which ? t[6] : static_cast<aclTensor*>(unseen);
       };
       return aclnnDeepNormGradGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], 0.3, of(0, rows), more,
                                                of(1, columns), of(2, columns), size, executor);
     },
     aclnnDeepNormGrad},
    SumGradientCases());
const auto kAddLayerNormGrad = Register(
    {"aclnnAddLayerNormGrad",
     {"dy", "x1", "x2", "gamma", "mean", "rstd", "result"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const Unseen rows(kRows, DtypeOf(t[0]));
       const Unseen columns(kColumns);
       const auto of = [&](int64_t which, const Unseen& unseen) {
         return a.reduction == which ? t[6] : static_cast<aclTensor*>(unseen);
       };
       return aclnnAddLayerNormGradGetWorkspaceSize(t[0], t[1], t[2], t[5], t[4], t[3], t[1], of(0, rows),
                                                    of(1, columns), of(2, columns), size, executor);
     },
     aclnnAddLayerNormGrad},
    SumGradientCases());
const auto kGroupNormSilu =
    Register({"aclnnGroupNormSiluV2",
              {"self", "gamma", "beta", "result"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                const Unseen first(kGroups, DtypeOf(t[0]));
                const Unseen second(kGroups, DtypeOf(t[0]));
                return aclnnGroupNormSiluV2GetWorkspaceSize(t[0], t[1], t[2], 3, 1e-5, a.reduction == 0, t[3],
                                                            first, second, size, executor);
              },
              aclnnGroupNormSiluV2},
             GradientCases({kImages, kChannels, kChannels}, {kImages, kImages}));
const auto kGroupNormSwish =
    Register({"aclnnGroupNormSwish",
              {"x", "gamma", "beta", "yOut"},
              [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                const Unseen first(kGroups, DtypeOf(t[0]));
                const Unseen second(kGroups, DtypeOf(t[0]));
                return aclnnGroupNormSwishGetWorkspaceSize(t[0], t[1], t[2], 3, nullptr, 1e-5, true, 1.25,
                                                           t[3], first, second, size, executor);
              },
              aclnnGroupNormSwish},
             GradientCases({kImages, kChannels, kChannels}, {kImages}));
const auto kGroupNormSwishGrad =
    Register({"aclnnGroupNormSwishGrad",
              {"dy", "mean", "rstd", "x", "gamma", "beta", "result"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                const Unseen images(kImages, DtypeOf(t[0]));
                const Unseen channels(kChannels, DtypeOf(t[0]));
                const auto of = [&](int64_t which, const Unseen& unseen) {
                  return a.reduction == which ? t[6] : static_cast<aclTensor*>(unseen);
                };
                return aclnnGroupNormSwishGradGetWorkspaceSize(
                    t[0], t[1], t[2], t[3], t[4], t[5], 3, nullptr, 1.25, true, true, of(0, images),
                    of(1, channels), of(2, channels), size, executor);
              },
              aclnnGroupNormSwishGrad},
             GradientCases({kImages, kGroups, kGroups, kImages, kChannels, kChannels},
                           {kImages, kChannels, kChannels}));
const Shape kScores = {3, 2, 37, 421};
std::vector<GivenCase> MaskedCases(size_t scores) {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : kFloats) {
    GivenCase one = Case(dtype, std::vector<Shape>(scores, kScores), kScores);
    one.input_dtypes.push_back(ACL_BOOL);
    one.input_shapes.push_back({3, 1, 37, 421});
    cases.push_back(one);
  }
  return cases;
}
const auto kScaledMaskedSoftmax =
    Register({"aclnnScaledMaskedSoftmax",
              {"x", "mask", "y"},
              [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                return aclnnScaledMaskedSoftmaxGetWorkspaceSize(t[0], t[1], 0.3, false, t[2], size, executor);
              },
              aclnnScaledMaskedSoftmax},
             MaskedCases(1));
const auto kScaledMaskedSoftmaxBackward =
    Register({"aclnnScaledMaskedSoftmaxBackward",
              {"gradOutput", "y", "mask", "out"},
              [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                return aclnnScaledMaskedSoftmaxBackwardGetWorkspaceSize(t[0], t[1], t[2], 0.3, false, t[3],
                                                                        size, executor);
              },
              aclnnScaledMaskedSoftmaxBackward},
             MaskedCases(2));
const auto kMaskedSoftmaxWithRelPosBias =
    Register({"aclnnMaskedSoftmaxWithRelPosBias",
              {"x", "attenMaskOptional", "relativePosBias", "out"},
              [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                return aclnnMaskedSoftmaxWithRelPosBiasGetWorkspaceSize(t[0], t[1], t[2], 0.3, 0, t[3], size,
                                                                        executor);
              },
              aclnnMaskedSoftmaxWithRelPosBias},
             GradientCases({kScores, {3, 37, 421}, {2, 37, 421}}, {kScores}));

// Three sequences; the loss, and the gradient. Plain code as phase 1 sees it: a step's exponentials alone are compiled for each instruction set.
const Shape kSteps = {23, 3, 7};
const Shape kTargetRows = {3, 5};
const Shape kStates = {3, 23, 16};
std::vector<GivenCase> CtcCases(const std::vector<Shape>& inputs, size_t targets, const Shape& output) {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : {ACL_FLOAT, ACL_BF16}) {
    GivenCase one = Case(dtype, inputs, output);
    one.input_dtypes[targets] = ACL_INT64;
    one.indices = {{targets, 7, false, 1}};
    cases.push_back(one);
  }
  return cases;
}
const auto kCtcLoss =
    Register({"aclnnCtcLoss",
              {"logProbs", "targets", "logAlpha"},
              [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                const Unseen losses({3}, DtypeOf(t[0]));
                return aclnnCtcLossGetWorkspaceSize(t[0], t[1], Array({23, 20, 23}), Array({5, 4, 5}), 0,
                                                    false, losses, t[2], size, executor);
              },
              aclnnCtcLoss},
             CtcCases({kSteps, kTargetRows}, 1, kStates), {}, /*is_plain_code=*/true);
const auto kCtcLossBackward = Register(
    {"aclnnCtcLossBackward",
     {"gradOut", "logProbs", "targets", "negLogLikelihood", "logAlpha", "out"},
     [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnCtcLossBackwardGetWorkspaceSize(t[0], t[1], t[2], Array({23, 20, 23}), Array({5, 4, 5}),
                                                   t[3], t[4], 0, false, t[5], size, executor);
     },
     aclnnCtcLossBackward},
    CtcCases({{3}, kSteps, kTargetRows, {3}, kStates}, 2, kSteps), {}, /*is_plain_code=*/true);

// ---- the cross entropy of a linear layer in parts ----

std::vector<GivenCase> PartCases(size_t targets, const std::vector<Shape>& inputs, const Shape& output,
                                 bool is_float) {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : {ACL_FLOAT16, ACL_BF16}) {
    GivenCase one = Case(dtype, inputs, output);
    one.input_dtypes[targets] = ACL_INT64;
    one.indices = {{targets, 301}};
    if (is_float) one.output_dtype = ACL_FLOAT;
    if (inputs.size() > 3) one.input_dtypes[3] = ACL_FLOAT;
    cases.push_back(one);
  }
  return cases;
}
const auto kOnlineMaxSum =
    Register({"aclnnFusedLinearOnlineMaxSum",
              {"input", "weight", "target", "sumExpLogitsLocalOut"},
              [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                const Unseen most({37}), predicted({37}), mask({5}, ACL_UINT8), place({37}, ACL_INT64);
                return aclnnFusedLinearOnlineMaxSumGetWorkspaceSize(
                    t[0], t[1], t[2], 0, 301, most, t[3], predicted, mask, place, nullptr, size, executor);
              },
              aclnnFusedLinearOnlineMaxSum},
             PartCases(2, {{37, 65}, {301, 65}, {37}}, {37}, /*is_float=*/true));
const auto kLinearLossGrad = Register(
    {"aclnnFusedLinearCrossEntropyLossGrad",
     {"input", "weight", "maskedTarget", "softmaxOptional", "weightGradOut"},
     [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       static std::vector<float> ones(37, 1.0f);
       static std::vector<unsigned char> shown(37, 0);
       const int64_t rows = 37;
       const auto tensor = [&](aclDataType dtype, void* data) {
         return aclCreateTensor(&rows, 1, dtype, nullptr, 0, ACL_FORMAT_ND, &rows, 1, data);
       };
       aclTensor* const number = tensor(ACL_FLOAT, ones.data());
       aclTensor* const mask = tensor(ACL_BOOL, shown.data());
       const Unseen other({37, 65}, DtypeOf(t[0]));
       const aclnnStatus status = aclnnFusedLinearCrossEntropyLossGradGetWorkspaceSize(
           number, t[0], t[1], mask, t[2], 0.0f, nullptr, nullptr, t[3], other, t[4], size, executor);
       aclDestroyTensor(number);
       aclDestroyTensor(mask);
       return status;
     },
     aclnnFusedLinearCrossEntropyLossGrad},
    PartCases(2, {{37, 65}, {301, 65}, {37}, {37, 301}}, {301, 65}, /*is_float=*/false));

}  // namespace
}  // namespace portacl::testing
