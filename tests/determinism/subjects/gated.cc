// Maps over views, for the determinism test: gated units over halves, and Prelu, whose weights' gradients are sums; tensors that are
// scaled and shifted.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "aclnnop/families/activations.h"
#include "aclnnop/families/arithmetic.h"
#include "determinism/subject.h"

namespace portacl::testing {
namespace {

using Tensors = std::span<aclTensor* const>;
struct DestroyTensor {
  void operator()(aclTensor* tensor) const { aclDestroyTensor(tensor); }
};
using Handle = std::unique_ptr<aclTensor, DestroyTensor>;

// Rows begin to begin + count of a matrix, or one row as a vector.
Handle Rows(const aclTensor* matrix, int64_t begin, int64_t count, bool as_vector = false) {
  int64_t* shape = nullptr;
  int64_t* strides = nullptr;
  int64_t* storage = nullptr;
  uint64_t rank = 0;
  uint64_t storage_rank = 0;
  int64_t offset = 0;
  aclDataType dtype = ACL_DT_UNDEFINED;
  void* address = nullptr;
  aclGetViewShape(matrix, &shape, &rank);
  aclGetViewStrides(matrix, &strides, &rank);
  aclGetStorageShape(matrix, &storage, &storage_rank);
  aclGetViewOffset(matrix, &offset);
  aclGetDataType(matrix, &dtype);
  aclGetRawTensorAddr(matrix, &address);
  shape[0] = count;
  const int dropped = as_vector ? 1 : 0;
  Handle rows(aclCreateTensor(shape + dropped, rank - static_cast<uint64_t>(dropped), dtype,
                              strides + dropped, offset + begin * strides[0], ACL_FORMAT_ND, storage,
                              storage_rank, address));
  delete[] shape;
  delete[] strides;
  delete[] storage;
  return rows;
}

// A call's tensors, which of the settings it has, and what phase 1 gives.
struct Call {
  Tensors t;
  int64_t setting;
  uint64_t* size;
  aclOpExecutor** executor;
};

const std::vector<DtypeNumber> kFloats = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
const std::vector<DtypeNumber> kWithDouble = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE};
const Shape kHalf = {151, 257};
const Shape kWhole = {302, 257};

SubjectRegistration Register(const std::string& name, const std::vector<DtypeNumber>& dtypes,
                             const std::vector<Shape>& inputs, const Shape& output, size_t settings,
                             aclnnStatus (*plan)(const Call&), decltype(OperatorBinding::run) run,
                             bool sums = false) {
  Subject subject;
  subject.sums_everything = sums;
  OperatorBinding& binding = subject.description.binding;
  binding.name = name;
  for (size_t i = 0; i < inputs.size(); ++i) binding.tensors.push_back("input" + std::to_string(i));
  binding.tensors.emplace_back("output");
  binding.plan = [plan](Tensors t, const Attributes& attributes, uint64_t* size, aclOpExecutor** executor) {
    return plan({t, attributes.reduction, size, executor});
  };
  binding.run = run;
  binding.may_need_workspace = [=](std::span<const Shape>) { return sums; };
  for (size_t i = 0; i < settings; ++i) {
    subject.description.attributes.emplace_back();
    subject.description.attributes.back().reduction = static_cast<int64_t>(i);
    for (const DtypeNumber dtype : dtypes)
      subject.given.push_back({std::vector<DtypeNumber>(inputs.size(), dtype), inputs, dtype, output, i});
  }
  subject.cuts_freely = [](const Attributes&) { return false; };
  for (const char c : name) subject.seed = subject.seed * 31 + static_cast<unsigned char>(c);
  return SubjectRegistration(std::move(subject));
}

const auto kGlu = Register(
    "aclnnGlu", kWithDouble, {kWhole}, kHalf, 1,
    [](const Call& c) { return aclnnGluGetWorkspaceSize(c.t[0], 0, c.t[1], c.size, c.executor); }, aclnnGlu);
const auto kGluBackward = Register(
    "aclnnGluBackward", kWithDouble, {kHalf, kWhole}, kWhole, 1,
    [](const Call& c) {
      return aclnnGluBackwardGetWorkspaceSize(c.t[0], c.t[1], 0, c.t[2], c.size, c.executor);
    },
    aclnnGluBackward);
const auto kSwiGlu = Register(
    "aclnnSwiGlu", kFloats, {kWhole}, kHalf, 1,
    [](const Call& c) { return aclnnSwiGluGetWorkspaceSize(c.t[0], 0, c.t[1], c.size, c.executor); },
    aclnnSwiGlu);
const auto kSwiGluGrad = Register(
    "aclnnSwiGluGrad", kFloats, {kHalf, kWhole}, kWhole, 1,
    [](const Call& c) {
      return aclnnSwiGluGradGetWorkspaceSize(c.t[0], c.t[1], 0, c.t[2], c.size, c.executor);
    },
    aclnnSwiGluGrad);
// Both results in one tensor.
const auto kGeluMul = Register(
    "aclnnGeluMul", kFloats, {{257, 302}}, {257, 151}, 2,
    [](const Call& c) {
      static char tanh[] = "tanh";
      return aclnnGeluMulGetWorkspaceSize(c.t[0], c.setting == 0 ? nullptr : tanh, c.t[1], c.size,
                                          c.executor);
    },
    aclnnGeluMul);
const auto kFatreluMul = Register(
    "aclnnFatreluMul", kFloats, {{257, 302}, {1}}, {257, 151}, 1,
    [](const Call& c) { return aclnnFatreluMulGetWorkspaceSize(c.t[0], c.t[1], c.t[2], c.size, c.executor); },
    aclnnFatreluMul);
const auto kClippedSwiglu = Register(
    "aclnnClippedSwiglu", kFloats, {{257, 302}}, {257, 151}, 2,
    [](const Call& c) {
      return aclnnClippedSwigluGetWorkspaceSize(c.t[0], nullptr, 1, 1.702, 7, 1, c.setting == 1, c.t[1],
                                                c.size, c.executor);
    },
    aclnnClippedSwiglu);
const auto kSituGlu = Register(
    "aclnnSituGlu", kFloats, {kWhole}, kHalf, 2,
    [](const Call& c) {
      return aclnnSituGluGetWorkspaceSize(c.t[0], 0, 4, c.setting == 1 ? 25 : 0, c.setting == 1, c.t[1],
                                          c.size, c.executor);
    },
    aclnnSituGlu);
const auto kScale = Register(
    "aclnnScale", kFloats, {kHalf, {257}, {257}}, kHalf, 1,
    [](const Call& c) {
      return aclnnScaleGetWorkspaceSize(c.t[0], c.t[1], c.t[2], 1, -1, true, c.t[3], c.size, c.executor);
    },
    aclnnScale);
const auto kModulate = Register(
    "aclnnModulate", kFloats, {{3, 97, 257}, {3, 257}, {3, 1, 257}}, {3, 97, 257}, 1,
    [](const Call& c) {
      return aclnnModulateGetWorkspaceSize(c.t[0], c.t[1], c.t[2], c.t[3], c.size, c.executor);
    },
    aclnnModulate);
const auto kGeGlu = Register(
    "aclnnGeGlu", kFloats, {kWhole}, kWhole, 2,
    [](const Call& c) {
      return aclnnGeGluGetWorkspaceSize(c.t[0], 0, c.setting, Rows(c.t[1], 0, 151).get(),
                                        Rows(c.t[1], 151, 151).get(), c.size, c.executor);
    },
    aclnnGeGlu);
const auto kGeGluBackward = Register(
    "aclnnGeGluBackward", kFloats, {kHalf, kWhole, kHalf}, kWhole, 2,
    [](const Call& c) {
      return aclnnGeGluBackwardGetWorkspaceSize(c.t[0], c.t[1], c.t[2], 0, c.setting, c.t[3], c.size,
                                                c.executor);
    },
    aclnnGeGluBackward);
const auto kPrelu = Register(
    "aclnnPrelu", kFloats, {kWhole, {257}}, kWhole, 1,
    [](const Call& c) { return aclnnPreluGetWorkspaceSize(c.t[0], c.t[1], c.t[2], c.size, c.executor); },
    aclnnPrelu);
// Both results in one tensor.
const auto kPreluBackward = Register(
    "aclnnPreluBackward", kFloats, {kWhole, kWhole, {257}}, {303, 257}, 1,
    [](const Call& c) {
      return aclnnPreluBackwardGetWorkspaceSize(c.t[0], c.t[1], c.t[2], Rows(c.t[3], 0, 302).get(),
                                                Rows(c.t[3], 302, 1, true).get(), c.size, c.executor);
    },
    aclnnPreluBackward, /*sums=*/true);

}  // namespace
}  // namespace portacl::testing
