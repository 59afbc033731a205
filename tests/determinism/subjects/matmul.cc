// Products of matrices, for the determinism test: kernels, panels, blocks of terms and tiles in part and in whole, and work for several threads.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>

#include "aclnnop/families/linalg.h"
#include "aclnnop/families/matmul.h"
#include "aclnnop/families/moe.h"
#include "determinism/subject.h"
#include "support/guarded_buffer.h"

namespace portacl::testing {
namespace {

using Tensors = std::span<aclTensor* const>;
using Run = decltype(OperatorBinding::run);

class Scalar {
 public:
  explicit Scalar(double value) : scalar_(aclCreateScalar(&value, ACL_DOUBLE)) {}
  ~Scalar() { aclDestroyScalar(scalar_); }
  Scalar(const Scalar&) = delete;
  Scalar& operator=(const Scalar&) = delete;
  operator const aclScalar*() const { return scalar_; }

 private:
  aclScalar* scalar_;
};

class WholeNumber {
 public:
  explicit WholeNumber(int32_t value) : scalar_(aclCreateScalar(&value, ACL_INT32)) {}
  ~WholeNumber() { aclDestroyScalar(scalar_); }
  WholeNumber(const WholeNumber&) = delete;
  WholeNumber& operator=(const WholeNumber&) = delete;
  operator const aclScalar*() const { return scalar_; }

 private:
  aclScalar* scalar_;
};

using Plan = aclnnStatus (*)(Tensors t, uint64_t* size, aclOpExecutor** executor);

// Inputs and output; each of all types.
struct Shapes {
  std::vector<Shape> inputs;
  Shape output;
};

SubjectRegistration Register(const std::string& name, size_t inputs, Plan plan, Run run,
                             const std::vector<Shapes>& all, Start start = Start::kAnything,
                             const std::vector<DtypeNumber>& dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
  Subject subject;
  subject.start = start;
  subject.sums_everything = true;
  OperatorBinding& binding = subject.description.binding;
  binding.name = name;
  for (size_t i = 0; i < inputs; ++i) binding.tensors.push_back("input" + std::to_string(i));
  binding.tensors.emplace_back("output");
  binding.plan = [plan](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
    return plan(t, size, executor);
  };
  binding.run = run;
  binding.may_need_workspace = [](std::span<const Shape>) { return true; };
  for (const Shapes& shapes : all) {
    for (const DtypeNumber dtype : dtypes)
      subject.given.push_back(
          {std::vector<DtypeNumber>(inputs, dtype), shapes.inputs, dtype, shapes.output, 0, {}});
  }
  subject.description.attributes.emplace_back();
  subject.cuts_freely = [](const Attributes&) { return false; };
  for (const char c : name) subject.seed = subject.seed * 31 + static_cast<unsigned char>(c);
  return SubjectRegistration(std::move(subject));
}

const auto kMm = Register("aclnnMm", 2,
                          [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
                            return aclnnMmGetWorkspaceSize(t[0], t[1], t[2], 1, size, executor);
                          },
                          aclnnMm,
                          {{{{131, 300}, {300, 97}}, {131, 97}},
                           {{{1, 700}, {700, 301}}, {1, 301}},
                           {{{530, 20}, {20, 70}}, {530, 70}}});
const auto kMatmul = Register("aclnnMatmul", 2,
                              [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
                                return aclnnMatmulGetWorkspaceSize(t[0], t[1], t[2], 1, size, executor);
                              },
                              aclnnMatmul,
                              {{{{3, 1, 65, 270}, {2, 270, 33}}, {3, 2, 65, 33}},
                               {{{3000}, {3000}}, {}},
                               {{{5, 41, 300}, {300}}, {5, 41}}});
const auto kBatchMatMul =
    Register("aclnnBatchMatMul", 2,
             [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
               return aclnnBatchMatMulGetWorkspaceSize(t[0], t[1], t[2], 1, size, executor);
             },
             aclnnBatchMatMul,
             {{{{12, 64, 64}, {12, 64, 64}}, {12, 64, 64}}, {{{5, 30, 257}, {1, 257, 40}}, {5, 30, 40}}});
// The batch is the second dim of both, and is cut into two.
const auto kTransposeBatchMatMul =
    Register("aclnnTransposeBatchMatMul", 2,
             [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
               constexpr int64_t kOrders[][3] = {{1, 0, 2}, {0, 1, 2}};
               aclIntArray* const moved = aclCreateIntArray(kOrders[0], 3);
               aclIntArray* const kept = aclCreateIntArray(kOrders[1], 3);
               const aclnnStatus status = aclnnTransposeBatchMatMulGetWorkspaceSize(
                   t[0], t[1], nullptr, nullptr, moved, kept, moved, 1, 2, t[2], size, executor);
               for (const aclIntArray* order : {moved, kept}) aclDestroyIntArray(order);
               return status;
             },
             aclnnTransposeBatchMatMul, {{{{65, 6, 257}, {6, 257, 40}}, {2, 65, 120}}});
const auto kAddmm = Register(
    "aclnnAddmm", 3,
    [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
      return aclnnAddmmGetWorkspaceSize(t[0], t[1], t[2], Scalar(0.7), Scalar(1.3), t[3], 1, size, executor);
    },
    aclnnAddmm, {{{{97}, {131, 300}, {300, 97}}, {131, 97}}, {{{40, 33}, {40, 513}, {513, 33}}, {40, 33}}});
const auto kGemm =
    Register("aclnnGemm", 3,
             [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
               return aclnnGemmGetWorkspaceSize(t[0], t[1], t[2], 1.3f, 0.7f, 1, 1, t[3], 1, size, executor);
             },
             aclnnGemm, {{{{300, 131}, {97, 300}, {97}}, {131, 97}}});
const auto kInplaceAddmm = Register(
    "aclnnInplaceAddmm", 3,
    [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
      return aclnnInplaceAddmmGetWorkspaceSize(t[3], t[1], t[2], Scalar(1), Scalar(1), 1, size, executor);
    },
    aclnnInplaceAddmm, {{{{131, 97}, {131, 300}, {300, 97}}, {131, 97}}}, Start::kFirstInput);
const auto kBaddbmm = Register("aclnnBaddbmm", 3,
                               [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
                                 return aclnnBaddbmmGetWorkspaceSize(t[0], t[1], t[2], Scalar(0.7),
                                                                     Scalar(1.3), t[3], 1, size, executor);
                               },
                               aclnnBaddbmm, {{{{7, 1, 40}, {7, 65, 280}, {7, 280, 40}}, {7, 65, 40}}});
const auto kInplaceBaddbmm = Register(
    "aclnnInplaceBaddbmm", 3,
    [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
      return aclnnInplaceBaddbmmGetWorkspaceSize(t[3], t[1], t[2], Scalar(1), Scalar(-2), 1, size, executor);
    },
    aclnnInplaceBaddbmm, {{{{7, 65, 40}, {7, 65, 280}, {7, 280, 40}}, {7, 65, 40}}}, Start::kFirstInput);
const auto kAddbmm = Register("aclnnAddbmm", 3,
                              [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
                                return aclnnAddbmmGetWorkspaceSize(t[0], t[1], t[2], Scalar(0.7), Scalar(1.3),
                                                                   t[3], 1, size, executor);
                              },
                              aclnnAddbmm, {{{{65, 1}, {7, 65, 280}, {7, 280, 40}}, {65, 40}}});
const auto kInplaceAddbmm = Register(
    "aclnnInplaceAddbmm", 3,
    [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
      return aclnnInplaceAddbmmGetWorkspaceSize(t[3], t[1], t[2], Scalar(1), Scalar(1), 1, size, executor);
    },
    aclnnInplaceAddbmm, {{{{65, 40}, {7, 65, 280}, {7, 280, 40}}, {65, 40}}}, Start::kFirstInput);
const auto kMv = Register("aclnnMv", 2,
                          [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
                            return aclnnMvGetWorkspaceSize(t[0], t[1], t[2], 1, size, executor);
                          },
                          aclnnMv, {{{{301, 1000}, {1000}}, {301}}});
const auto kDot =
    Register("aclnnDot", 2,
             [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
               return aclnnDotGetWorkspaceSize(t[0], t[1], t[2], size, executor);
             },
             aclnnDot, {{{{20000}, {20000}}, {}}, {{{100}, {100}}, {}}, {{{800000}, {800000}}, {}}});
const auto kAddmv =
    Register("aclnnAddmv", 3,
             [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
               return aclnnAddmvGetWorkspaceSize(t[0], t[1], t[2], WholeNumber(2), WholeNumber(-3), t[3], 1,
                                                 size, executor);
             },
             aclnnAddmv, {{{{301}, {301, 1000}, {1000}}, {301}}, {{{1}, {33, 290}, {290}}, {33}}},
             Start::kAnything, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_INT32, ACL_INT64});
const auto kGer = Register("aclnnGer", 2,
                           [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
                             return aclnnGerGetWorkspaceSize(t[0], t[1], t[2], size, executor);
                           },
                           aclnnGer, {{{{131}, {97}}, {131, 97}}}, Start::kAnything,
                           {ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_INT16, ACL_INT64, ACL_COMPLEX64});
const auto kLinalgCross =
    Register("aclnnLinalgCross", 2,
             [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
               return aclnnLinalgCrossGetWorkspaceSize(t[0], t[1], 1, t[2], size, executor);
             },
             aclnnLinalgCross, {{{{40, 3, 2000}, {3, 1}}, {40, 3, 2000}}}, Start::kAnything,
             {ACL_FLOAT, ACL_BF16, ACL_DOUBLE, ACL_INT16, ACL_INT64, ACL_COMPLEX64});
const std::vector<DtypeNumber> kLinalgDtypes = {ACL_FLOAT, ACL_DOUBLE, ACL_COMPLEX64, ACL_COMPLEX128};
const auto kTriangularSolve = Register(
    "aclnnTriangularSolve", 2,
    [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
      return aclnnTriangularSolveGetWorkspaceSize(t[0], t[1], true, true, false, t[2], nullptr, size,
                                                  executor);
    },
    aclnnTriangularSolve, {{{{3, 23, 600}, {23, 23}}, {3, 23, 600}}}, Start::kAnything, kLinalgDtypes);
const auto kInverse = Register(
    "aclnnInverse", 1,
    [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
      return aclnnInverseGetWorkspaceSize(t[0], t[1], size, executor);
    },
    aclnnInverse, {{{{131, 131}}, {131, 131}}, {{{7, 20, 20}}, {7, 20, 20}}}, Start::kAnything,
    kLinalgDtypes);
// R alone.
const auto kLinalgQr = Register(
    "aclnnLinalgQr", 1,
    [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
      constexpr int64_t kNone = 0;
      aclDataType dtype = ACL_FLOAT;
      aclGetDataType(t[0], &dtype);
      aclTensor* const none =
          aclCreateTensor(&kNone, 1, dtype, nullptr, 0, ACL_FORMAT_ND, &kNone, 1, nullptr);
      const aclnnStatus status = aclnnLinalgQrGetWorkspaceSize(t[0], 2, none, t[1], size, executor);
      aclDestroyTensor(none);
      return status;
    },
    aclnnLinalgQr, {{{{70, 300}}, {70, 300}}, {{{7, 20, 9}}, {7, 9, 9}}}, Start::kAnything, kLinalgDtypes);
// Distances by each way to sum: blocks of terms, tiles and panels in part and in whole, few columns, batches that repeat.
template <int kTenths>
SubjectRegistration RegisterDistances(const std::string& name) {
  return Register("aclnnCdist_" + name, 2,
                  [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
                    const float p = kTenths < 0 ? std::numeric_limits<float>::infinity()
                                                : static_cast<float>(kTenths) / 10;
                    return aclnnCdistGetWorkspaceSize(t[0], t[1], p, 2, t[2], size, executor);
                  },
                  aclnnCdist,
                  {{{{401, 300}, {97, 300}}, {401, 97}},
                   {{{3, 1, 65, 17}, {2, 33, 17}}, {3, 2, 65, 33}},
                   {{{300, 600}, {5, 600}}, {300, 5}}});
}
const auto kCount = RegisterDistances<0>("0");
const auto kSum = RegisterDistances<10>("1");
const auto kSquares = RegisterDistances<20>("2");
const auto kMost = RegisterDistances<-1>("infinity");
const auto kPowers = RegisterDistances<25>("2_5");

// Gradients of distances by each term, rows in part and in whole vectors, and a batch that repeats.
template <int kTenths>
SubjectRegistration RegisterDistanceGradients(const std::string& name) {
  return Register("aclnnCdistBackward_" + name, 4,
                  [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
                    const float p = kTenths < 0 ? -1 : static_cast<float>(kTenths) / 10;
                    return aclnnCdistBackwardGetWorkspaceSize(t[0], t[1], t[2], t[3], p, t[4], size,
                                                              executor);
                  },
                  aclnnCdistBackward,
                  {{{{40, 97}, {40, 300}, {97, 300}, {40, 97}}, {40, 300}},
                   {{{3, 5, 33}, {1, 5, 17}, {3, 33, 17}, {3, 5, 33}}, {1, 5, 17}}});
}
const auto kSumGradient = RegisterDistanceGradients<10>("1");
const auto kSquaresGradient = RegisterDistanceGradients<20>("2");
const auto kMostGradient = RegisterDistanceGradients<-1>("infinity");
const auto kPdist =
    Register("aclnnPdist", 1,
             [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
               return aclnnPdistGetWorkspaceSize(t[0], 2.5f, t[1], size, executor);
             },
             aclnnPdist, {{{{201, 70}}, {20100}}}, Start::kAnything, {ACL_FLOAT, ACL_FLOAT16});
const auto kPdistForward =
    Register("aclnnPdistForward", 1,
             [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
               return aclnnPdistForwardGetWorkspaceSize(t[0], WholeNumber(2), t[1], size, executor);
             },
             aclnnPdistForward, {{{{201, 300}}, {20100}}}, Start::kAnything, {ACL_FLOAT, ACL_FLOAT16});

// A matrix that has a factor, which random ones have not: the input is not looked at.
aclTensor* PositiveMatrix() {
  constexpr int64_t kOrder = 131;
  static const std::vector<float> numbers = [] {
    std::vector<float> made(kOrder * kOrder);
    for (int64_t i = 0; i < kOrder * kOrder; ++i) {
      const int64_t far = std::abs(i / kOrder - i % kOrder);
      made[static_cast<size_t>(i)] = far == 0 ? 4.0f : 1.0f / static_cast<float>(far * far + 1);
    }
    return made;
  }();
  const int64_t shape[] = {kOrder, kOrder};
  return aclCreateTensor(shape, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape, 2,
                         const_cast<float*>(numbers.data()));
}
const auto kCholesky = Register("aclnnLinalgCholesky", 1,
                                [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
                                  aclTensor* const matrix = PositiveMatrix();
                                  const aclnnStatus status = aclnnLinalgCholeskyGetWorkspaceSize(
                                      matrix, false, t[1], size, executor);
                                  aclDestroyTensor(matrix);
                                  return status;
                                },
                                aclnnLinalgCholesky, {{{{1}}, {131, 131}}}, Start::kAnything, {ACL_FLOAT});
// A tensor that is not looked at.
aclTensor* Aside(const Shape& shape, const aclTensor* like) {
  static std::vector<double> memory(1 << 13);
  aclDataType dtype = ACL_FLOAT;
  aclGetDataType(like, &dtype);
  return aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                         shape.size(), memory.data());
}
// Q, of reflections in part and in whole blocks, and completed to a square.
template <int kMode>
SubjectRegistration RegisterOrthonormal(const std::string& name, const Shape& self, const Shape& q,
                                        const Shape& r) {
  static const Shape of_r = r;
  return Register(
      "aclnnLinalgQr_" + name, 1,
      [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
        aclTensor* const aside = Aside(of_r, t[0]);
        const aclnnStatus status = aclnnLinalgQrGetWorkspaceSize(t[0], kMode, t[1], aside, size, executor);
        aclDestroyTensor(aside);
        return status;
      },
      aclnnLinalgQr, {{{self}, q}}, Start::kAnything, kLinalgDtypes);
}
const auto kReducedQ = RegisterOrthonormal<0>("q", {150, 60}, {150, 60}, {60, 60});
const auto kCompleteQ = RegisterOrthonormal<1>("complete_q", {7, 20, 9}, {7, 20, 20}, {7, 20, 9});
// The upper triangle as it lies.
const auto kUpperTriangle = Register(
    "aclnnTriangularSolve_upper", 2,
    [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
      return aclnnTriangularSolveGetWorkspaceSize(t[0], t[1], true, false, false, t[2], nullptr, size,
                                                  executor);
    },
    aclnnTriangularSolve, {{{{3, 23, 600}, {23, 23}}, {3, 23, 600}}, {{{70, 40}, {70, 70}}, {70, 40}}},
    Start::kAnything, kLinalgDtypes);
const auto kSlogdet = Register(
    "aclnnSlogdet", 1,
    [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
      aclTensor* const sign = Aside({7}, t[0]);
      const aclnnStatus status = aclnnSlogdetGetWorkspaceSize(t[0], sign, t[1], size, executor);
      aclDestroyTensor(sign);
      return status;
    },
    aclnnSlogdet, {{{{7, 60, 60}}, {7}}}, Start::kAnything, kLinalgDtypes);
const auto kSvd = Register(
    "aclnnSvd", 1,
    [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
      aclTensor* const none = Aside({0}, t[0]);
      const aclnnStatus status =
          aclnnSvdGetWorkspaceSize(t[0], false, false, t[1], none, none, size, executor);
      aclDestroyTensor(none);
      return status;
    },
    aclnnSvd, {{{{70, 33}}, {33}}, {{{5, 9, 20}}, {5, 9}}}, Start::kAnything, kLinalgDtypes);
// Left vectors, with those that complete a square.
const auto kSvdVectors = Register(
    "aclnnSvd_vectors", 1,
    [](Tensors t, uint64_t* size, aclOpExecutor** executor) {
      aclTensor* const values = Aside({9}, t[0]);
      aclTensor* const right = Aside({9, 9}, t[0]);
      const aclnnStatus status =
          aclnnSvdGetWorkspaceSize(t[0], true, true, values, t[1], right, size, executor);
      aclDestroyTensor(values);
      aclDestroyTensor(right);
      return status;
    },
    aclnnSvd, {{{{20, 9}}, {20, 20}}}, Start::kAnything, kLinalgDtypes);

// Operands are dense, whatever layout is given: they are copied, each beside a guard page. INT8 weights, and their bytes as twice as many
// INT4, transposed.
class DenseCopy {
 public:
  using Memory = std::unique_ptr<GuardedBuffer>;

  DenseCopy(const aclTensor* tensor, Memory& memory) {
    int64_t* dims = nullptr;
    int64_t* steps = nullptr;
    uint64_t rank = 0;
    int64_t offset = 0;
    void* address = nullptr;
    aclGetViewShape(tensor, &dims, &rank);
    aclGetViewStrides(tensor, &steps, &rank);
    aclGetViewOffset(tensor, &offset);
    aclGetRawTensorAddr(tensor, &address);
    aclGetDataType(tensor, &dtype);
    rows = dims[0];
    columns = dims[1];
    const size_t size = aclDataTypeSize(dtype);
    memory = std::make_unique<GuardedBuffer>(static_cast<size_t>(rows * columns) * size);
    data = reinterpret_cast<char*>(memory->data());
    device = memory->device();
    for (int64_t i = 0; i < rows * columns; ++i) {
      const int64_t place = offset + i / columns * steps[0] + i % columns * steps[1];
      std::copy_n(static_cast<const char*>(address) + place * static_cast<int64_t>(size), size,
                  data + static_cast<size_t>(i) * size);
    }
    delete[] dims;
    delete[] steps;
  }
  aclTensor* As(aclDataType type, int64_t first, int64_t second, bool is_transposed) const {
    const int64_t shape[] = {first, second};
    const int64_t strides[] = {is_transposed ? 1 : second, is_transposed ? first : 1};
    return aclCreateTensor(shape, 2, type, strides, 0, ACL_FORMAT_ND, shape, 2, device);
  }

  aclDataType dtype = ACL_DT_UNDEFINED;
  int64_t rows = 0;
  int64_t columns = 0;
  char* data = nullptr;    // for the test
  void* device = nullptr;  // for tensors
};

// The same view, which a list destroys.
aclTensor* Same(const aclTensor* tensor) {
  aclDataType dtype = ACL_DT_UNDEFINED;
  int64_t* dims = nullptr;
  int64_t* strides = nullptr;
  int64_t* storage = nullptr;
  uint64_t rank = 0;
  uint64_t storage_rank = 0;
  int64_t offset = 0;
  void* address = nullptr;
  aclGetDataType(tensor, &dtype);
  aclGetViewShape(tensor, &dims, &rank);
  aclGetViewStrides(tensor, &strides, &rank);
  aclGetViewOffset(tensor, &offset);
  aclGetStorageShape(tensor, &storage, &storage_rank);
  aclGetRawTensorAddr(tensor, &address);
  aclTensor* const same =
      aclCreateTensor(dims, rank, dtype, strides, offset, ACL_FORMAT_ND, storage, storage_rank, address);
  delete[] dims;
  delete[] strides;
  delete[] storage;
  return same;
}

SubjectRegistration RegisterWeights() {
  Subject subject;
  subject.start = Start::kZero;
  subject.sums_everything = true;
  OperatorBinding& binding = subject.description.binding;
  binding.name = "aclnnWeightQuantBatchMatmulV2";
  binding.tensors = {"x", "weight", "antiquantScale", "antiquantOffsetOptional", "y"};
  binding.plan = [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
    static auto* const memory = new DenseCopy::Memory[4];  // until the next call; never destroyed
    const DenseCopy x(t[0], memory[0]);
    const DenseCopy weight(t[1], memory[1]);
    const DenseCopy scale(t[2], memory[2]);
    const DenseCopy offset(t[3], memory[3]);
    const bool is_int4 = a.reduction != 0;
    aclTensor* const made[] = {x.As(x.dtype, x.rows, x.columns, false),
                               is_int4 ? weight.As(ACL_INT4, x.columns, scale.columns, true)
                                       : weight.As(ACL_INT8, x.columns, scale.columns, false),
                               scale.As(x.dtype, scale.rows, scale.columns, is_int4),
                               offset.As(x.dtype, scale.rows, scale.columns, is_int4)};
    const aclnnStatus status =
        aclnnWeightQuantBatchMatmulV2GetWorkspaceSize(made[0], made[1], made[2], made[3], nullptr, nullptr,
                                                      nullptr, is_int4 ? 32 : 0, t[4], size, executor);
    for (aclTensor* const tensor : made) aclDestroyTensor(tensor);
    return status;
  };
  binding.run = aclnnWeightQuantBatchMatmulV2;
  binding.may_need_workspace = [](std::span<const Shape>) { return true; };
  for (const DtypeNumber dtype : {ACL_FLOAT16, ACL_BF16}) {
    subject.given.push_back({{dtype, ACL_INT8, dtype, dtype},
                             {{131, 300}, {300, 97}, {1, 97}, {1, 97}},
                             dtype,
                             {131, 97},
                             0,
                             {}});
    subject.given.push_back(
        {{dtype, ACL_INT8, dtype, dtype}, {{5, 700}, {97, 350}, {22, 97}, {22, 97}}, dtype, {5, 97}, 1, {}});
  }
  for (int64_t i = 0; i < 2; ++i) {
    subject.description.attributes.emplace_back();
    subject.description.attributes.back().reduction = i;
  }
  subject.cuts_freely = [](const Attributes&) { return false; };
  return SubjectRegistration(std::move(subject));
}
const auto kWeights = RegisterWeights();

// Integers of 8 bits, scaled by columns and rows; with words as scales; of 4 bits, transposed.
SubjectRegistration RegisterIntegers() {
  Subject subject;
  subject.start = Start::kZero;
  subject.sums_everything = true;
  OperatorBinding& binding = subject.description.binding;
  binding.name = "aclnnQuantMatmulV4";
  binding.tensors = {"x1", "x2", "scale", "pertokenScaleOptional", "out"};
  binding.plan = [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
    static auto* const memory = new DenseCopy::Memory[4];  // until the next call; never destroyed
    static std::vector<uint64_t> words;
    const DenseCopy x1(t[0], memory[0]);
    const DenseCopy x2(t[1], memory[1]);
    const DenseCopy scale(t[2], memory[2]);
    const DenseCopy factors(t[3], memory[3]);
    const bool is_int4 = a.reduction == 2;
    const auto line = [](void* data, aclDataType dtype, int64_t length) {
      const int64_t one = 1;
      return aclCreateTensor(&length, 1, dtype, &one, 0, ACL_FORMAT_ND, &length, 1, data);
    };
    if (a.reduction == 1) {
      uint64_t* made = nullptr;
      uint64_t count = 0;
      aclnnTransQuantParam(reinterpret_cast<const float*>(scale.data), static_cast<uint64_t>(scale.columns),
                           reinterpret_cast<const float*>(factors.data), 1, &made, &count);
      words.assign(made, made + count);
      std::free(made);
    }
    aclDataType out = ACL_DT_UNDEFINED;
    aclGetDataType(t[4], &out);
    aclTensor* const made[] = {
        is_int4 ? x1.As(ACL_INT4, x1.rows, 2 * x1.columns, false)
                : x1.As(ACL_INT8, x1.rows, x1.columns, false),
        is_int4 ? x2.As(ACL_INT4, 2 * x2.columns, x2.rows, true)
                : x2.As(ACL_INT8, x2.rows, x2.columns, false),
        a.reduction == 1 ? line(words.data(), ACL_UINT64, scale.columns)
                         : line(scale.device, ACL_FLOAT, scale.columns),
        a.reduction == 1 || out == ACL_INT32 ? nullptr : line(factors.device, ACL_FLOAT, factors.columns)};
    const aclnnStatus status = aclnnQuantMatmulV4GetWorkspaceSize(
        made[0], made[1], made[2], nullptr, made[3], nullptr, false, false, t[4], size, executor);
    for (aclTensor* const tensor : made) aclDestroyTensor(tensor);
    return status;
  };
  binding.run = aclnnQuantMatmulV4;
  binding.may_need_workspace = [](std::span<const Shape>) { return true; };
  const auto given = [&](DtypeNumber out, size_t way, const Shape& x1, const Shape& x2, int64_t columns) {
    subject.given.push_back({{ACL_INT8, ACL_INT8, ACL_FLOAT, ACL_FLOAT},
                             {x1, x2, {1, columns}, {1, x1[0]}},
                             out,
                             {x1[0], columns},
                             way,
                             {}});
  };
  for (const DtypeNumber out : {ACL_INT32, ACL_BF16, ACL_FLOAT16}) given(out, 0, {131, 300}, {300, 97}, 97);
  for (const DtypeNumber out : {ACL_INT8, ACL_FLOAT16}) given(out, 1, {5, 700}, {700, 97}, 97);
  for (const DtypeNumber out : {ACL_BF16, ACL_FLOAT16}) given(out, 2, {5, 700}, {97, 700}, 97);
  for (int64_t i = 0; i < 3; ++i) {
    subject.description.attributes.emplace_back();
    subject.description.attributes.back().reduction = i;
  }
  subject.cuts_freely = [](const Attributes&) { return false; };
  return SubjectRegistration(std::move(subject));
}
const auto kIntegers = RegisterIntegers();

// Integers, scaled by columns and rows, and GELU of both kinds.
SubjectRegistration RegisterGelu() {
  Subject subject;
  subject.start = Start::kZero;
  subject.sums_everything = true;
  OperatorBinding& binding = subject.description.binding;
  binding.name = "aclnnFusedQuantMatmul";
  binding.tensors = {"x1", "x2", "x1Scale", "x2Scale", "out"};
  binding.plan = [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
    return aclnnFusedQuantMatmulGetWorkspaceSize(
        t[0], t[1], t[2], t[3], nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
        a.reduction == 0 ? "gelu_tanh" : "gelu_erf", 0, t[4], size, executor);
  };
  binding.run = aclnnFusedQuantMatmul;
  binding.may_need_workspace = [](std::span<const Shape>) { return true; };
  for (size_t way = 0; way < 2; ++way) {
    for (const DtypeNumber out : {ACL_BF16, ACL_FLOAT16})
      subject.given.push_back({{ACL_INT8, ACL_INT8, ACL_FLOAT, ACL_FLOAT},
                               {{131, 300}, {300, 97}, {131}, {97}},
                               out,
                               {131, 97},
                               way,
                               {}});
    subject.description.attributes.emplace_back();
    subject.description.attributes.back().reduction = static_cast<int64_t>(way);
  }
  subject.cuts_freely = [](const Attributes&) { return false; };
  return SubjectRegistration(std::move(subject));
}
const auto kGelu = RegisterGelu();

// Groups of rows: floats, integers with an activation, quantised weights alone.
SubjectRegistration RegisterGroups() {
  Subject subject;
  subject.start = Start::kZero;
  subject.sums_everything = true;
  OperatorBinding& binding = subject.description.binding;
  binding.name = "aclnnGroupedMatmulV5";
  binding.tensors = {"x", "weight", "scale", "out"};
  binding.plan = [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
    static auto* const memory = new DenseCopy::Memory[3];  // until the next call; never destroyed
    static int64_t sizes[] = {70, 0, 61};
    constexpr int64_t kGroups = 3;
    const DenseCopy x(t[0], memory[0]);
    const DenseCopy weight(t[1], memory[1]);
    const DenseCopy scale(t[2], memory[2]);
    const auto tensor = [](const Shape& shape, aclDataType dtype, void* data) {
      return aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                             shape.size(), data);
    };
    const auto list = [](const aclTensor* one) { return aclCreateTensorList(&one, 1); };
    const bool is_float = a.reduction == 0;
    const bool is_alone = a.reduction == 2;
    aclTensorList* const lists[] = {
        list(x.As(x.dtype, x.rows, x.columns, false)),
        list(tensor({kGroups, x.columns, weight.columns}, weight.dtype, weight.device)),
        is_float ? nullptr : list(tensor({kGroups, weight.columns}, scale.dtype, scale.device)),
        is_alone ? list(tensor({kGroups, weight.columns}, scale.dtype, scale.device)) : nullptr,
        list(Same(t[3]))};
    aclTensor* const groups = tensor({kGroups}, ACL_INT64, sizes);
    const aclnnStatus status = aclnnGroupedMatmulV5GetWorkspaceSize(
        lists[0], lists[1], nullptr, is_alone ? nullptr : lists[2], nullptr, is_alone ? lists[2] : nullptr,
        lists[3], nullptr, groups, nullptr, nullptr, nullptr, 3, 0, 1, a.reduction == 1 ? 5 : 0, nullptr,
        lists[4], nullptr, nullptr, size, executor);
    for (aclTensorList* const one : lists) {
      if (one != nullptr) aclDestroyTensorList(one);
    }
    aclDestroyTensor(groups);
    return status;
  };
  binding.run = aclnnGroupedMatmulV5;
  binding.may_need_workspace = [](std::span<const Shape>) { return true; };
  const auto given = [&](DtypeNumber x, DtypeNumber weight, DtypeNumber scale, DtypeNumber out, size_t way) {
    subject.given.push_back({{x, weight, scale}, {{131, 300}, {900, 97}, {3, 97}}, out, {131, 97}, way, {}});
  };
  for (const DtypeNumber dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) given(dtype, dtype, dtype, dtype, 0);
  given(ACL_INT8, ACL_INT8, ACL_FLOAT, ACL_FLOAT16, 1);
  given(ACL_INT8, ACL_INT8, ACL_BF16, ACL_BF16, 1);
  for (const DtypeNumber dtype : {ACL_FLOAT16, ACL_BF16}) given(dtype, ACL_INT8, dtype, dtype, 2);
  for (int64_t i = 0; i < 3; ++i) {
    subject.description.attributes.emplace_back();
    subject.description.attributes.back().reduction = i;
  }
  subject.cuts_freely = [](const Attributes&) { return false; };
  return SubjectRegistration(std::move(subject));
}
const auto kGroups = RegisterGroups();

// Groups of rows, gated, as INT8.
SubjectRegistration RegisterGates() {
  Subject subject;
  subject.start = Start::kZero;
  subject.sums_everything = true;
  OperatorBinding& binding = subject.description.binding;
  binding.name = "aclnnGroupedMatmulSwigluQuantV2";
  binding.tensors = {"x", "weight", "weightScale", "xScale", "output"};
  binding.plan = [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
    static auto* const memory = new DenseCopy::Memory[4];  // until the next call; never destroyed
    static int64_t ends[] = {70, 70, 131};
    static float steps[131];
    constexpr int64_t kExperts = 3;
    const DenseCopy x(t[0], memory[0]);
    const DenseCopy weight(t[1], memory[1]);
    const DenseCopy scale(t[2], memory[2]);
    const DenseCopy x_scale(t[3], memory[3]);
    const auto tensor = [](const Shape& shape, aclDataType dtype, void* data) {
      return aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                             shape.size(), data);
    };
    const aclTensor* const of_list[] = {
        tensor({kExperts, x.columns, weight.columns}, ACL_INT8, weight.device),
        tensor({kExperts, weight.columns}, ACL_FLOAT, scale.device)};
    aclTensorList* const lists[] = {aclCreateTensorList(of_list, 1), aclCreateTensorList(of_list + 1, 1)};
    aclTensor* const made[] = {x.As(ACL_INT8, x.rows, x.columns, false),
                               tensor({x.rows}, ACL_FLOAT, x_scale.device),
                               tensor({kExperts}, ACL_INT64, ends), tensor({x.rows}, ACL_FLOAT, steps)};
    const aclnnStatus status = aclnnGroupedMatmulSwigluQuantV2GetWorkspaceSize(
        made[0], lists[0], lists[1], nullptr, nullptr, made[1], nullptr, made[2], 0, 0, 0, 0, nullptr, t[4],
        made[3], size, executor);
    for (aclTensorList* const one : lists) aclDestroyTensorList(one);
    for (aclTensor* const one : made) aclDestroyTensor(one);
    return status;
  };
  binding.run = aclnnGroupedMatmulSwigluQuantV2;
  binding.may_need_workspace = [](std::span<const Shape>) { return true; };
  subject.given.push_back({{ACL_INT8, ACL_INT8, ACL_FLOAT, ACL_FLOAT},
                           {{131, 300}, {900, 96}, {3, 96}, {1, 131}},
                           ACL_INT8,
                           {131, 48},
                           0,
                           {}});
  subject.description.attributes.emplace_back();
  subject.cuts_freely = [](const Attributes&) { return false; };
  return SubjectRegistration(std::move(subject));
}
const auto kGates = RegisterGates();

}  // namespace
}  // namespace portacl::testing
