// The table of operators: see operator_calls.h.
// SPDX-License-Identifier: Apache-2.0
#include "operator_calls.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <string_view>
#include <vector>

#include "aclnnop/families/activations.h"
#include "aclnnop/families/arithmetic.h"
#include "aclnnop/families/attention.h"
#include "aclnnop/families/communication.h"
#include "aclnnop/families/convolution.h"
#include "aclnnop/families/creation.h"
#include "aclnnop/families/foreach.h"
#include "aclnnop/families/image.h"
#include "aclnnop/families/indexing.h"
#include "aclnnop/families/linalg.h"
#include "aclnnop/families/logic.h"
#include "aclnnop/families/loss.h"
#include "aclnnop/families/matmul.h"
#include "aclnnop/families/moe.h"
#include "aclnnop/families/norm.h"
#include "aclnnop/families/optimizers.h"
#include "aclnnop/families/pooling.h"
#include "aclnnop/families/quantisation.h"
#include "aclnnop/families/random.h"
#include "aclnnop/families/recurrent.h"
#include "aclnnop/families/reductions.h"
#include "aclnnop/families/serving.h"
#include "aclnnop/families/shape.h"
#include "aclnnop/families/sort.h"
#include "aclnnop/families/unary.h"
#include "support/c_function.h"

namespace portacl::testing {
namespace {

using Tensors = std::span<aclTensor* const>;

// Scalars and attributes are made of what the program has for all operators.
template <auto kFunction, bool kInPlace>
aclnnStatus PlanMap(Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
  using Phase = PhaseOne<kFunction>;
  std::array<Argument, Phase::kCount> arguments;
  std::array<aclScalar*, Phase::kCount> scalars = {};
  CallAttributes values = a;
  // Not beta itself: where the program traps floating-point exceptions, widening it may be one.
  // All of them are floats, for the same reason: narrowing them is exact.
  static constexpr double kReals[] = {
      0.0,     1.0, -2.0,    0.5,  0x1p100, -0.0, std::numeric_limits<double>::infinity(),
      0x1p-66, 3.0, 0x1p-23, 300.0};
  double real = kReals[static_cast<uint64_t>(a.reduction) % std::size(kReals)];
  const int64_t dim = a.reduction & 255;
  aclIntArray* const dims = a.reduction == 4 ? nullptr : aclCreateIntArray(&dim, 1);
  size_t next = kInPlace ? t.size() - 1 : 0;  // the output, which comes last here, is the first tensor
  for (size_t i = 0; i < Phase::kCount; ++i) {
    if (Phase::kKinds[i] == ParameterKind::kTensor) {
      arguments[i].tensor = t[next];
      next = kInPlace && next + 1 == t.size() ? 0 : next + 1;
    }
    if (Phase::kKinds[i] == ParameterKind::kScalar && a.reduction != 4) {
      switch ((i + static_cast<size_t>(a.log_target)) % 3) {
        case 0:
          scalars[i] = aclCreateScalar(&values.beta, ACL_FLOAT);
          break;
        case 1:
          scalars[i] = aclCreateScalar(&real, ACL_DOUBLE);
          break;
        default:
          scalars[i] = aclCreateScalar(&values.reduction, ACL_INT64);
      }
      arguments[i].scalar = scalars[i];
    }
    arguments[i].integer = a.reduction;
    arguments[i].real = real;
    arguments[i].array = dims;
    arguments[i].text = a.reduction % 2 == 0 ? "none" : "tanh";
  }
  const aclnnStatus status = Phase::Plan(arguments, size, executor);
  for (aclScalar* const scalar : scalars) aclDestroyScalar(scalar);
  aclDestroyIntArray(dims);
  return status;
}

// A mask for a tensor, which programs do not know of. All calls write the same memory: nobody reads it.
aclTensor* MaskFor(const aclTensor* input) {
  static std::array<std::byte, size_t{1} << 20> memory;
  int64_t* dims = nullptr;
  uint64_t rank = 0;
  if (input == nullptr || aclGetViewShape(input, &dims, &rank) != 0) return nullptr;
  constexpr int64_t kMost = 1 << 24;
  int64_t elements = 1;
  for (uint64_t i = 0; i < rank; ++i)
    elements = std::clamp<int64_t>(elements, 0, kMost) * std::clamp<int64_t>(dims[i], 0, kMost);
  delete[] dims;
  const int64_t bytes = (elements + 127) / 128 * 16;
  const bool fits = static_cast<uint64_t>(bytes) <= memory.size();
  return aclCreateTensor(&bytes, 1, ACL_UINT8, nullptr, 0, ACL_FORMAT_ND, &bytes, 1,
                         fits ? memory.data() : nullptr);
}

// Places that an operator writes beside its values; likewise.
aclTensor* UnreadPlaces(const std::vector<int64_t>& shape, int misplaced) {
  alignas(64) static std::array<std::byte, size_t{1} << 20> memory;
  constexpr int64_t kMost = 1 << 24;
  int64_t elements = 1;
  for (const int64_t dim : shape)
    elements = std::clamp<int64_t>(elements, 0, kMost) * std::clamp<int64_t>(dim, 0, kMost);
  const bool fits = elements >= 0 && static_cast<uint64_t>(elements) < memory.size() / sizeof(int64_t);
  return aclCreateTensor(shape.data(), shape.size(), ACL_INT64, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                         shape.size(), fits ? memory.data() + misplaced : nullptr);
}

aclDataType DtypeOf(const aclTensor* tensor) {
  aclDataType dtype = ACL_DT_UNDEFINED;
  if (tensor != nullptr) aclGetDataType(tensor, &dtype);
  return dtype;
}

// What calls of operators that move and index elements are given besides the program's tensors, until phase 1 is over.
class Given {
 public:
  explicit Given(const CallAttributes& attributes) : attributes_(attributes) {}
  Given(const Given&) = delete;
  ~Given() {
    for (const aclTensor* const tensor : tensors_) aclDestroyTensor(tensor);
    for (const aclTensorList* const list : lists_) aclDestroyTensorList(list);
    for (const aclIntArray* const array : arrays_) aclDestroyIntArray(array);
    for (const aclScalar* const scalar : scalars_) aclDestroyScalar(scalar);
    for (const aclScalarList* const list : scalar_lists_) aclDestroyScalarList(list);
    for (const aclBoolArray* const flags : flags_) aclDestroyBoolArray(flags);
  }

  static std::vector<int64_t> ShapeOf(const aclTensor* tensor) {
    int64_t* dims = nullptr;
    uint64_t rank = 0;
    if (tensor == nullptr || aclGetViewShape(tensor, &dims, &rank) != 0) return {};
    std::vector<int64_t> shape(dims, dims + rank);
    delete[] dims;
    return shape;
  }

  // The same view of the same memory. A list destroys its tensors, a result changes its shape.
  static aclTensor* Copy(const aclTensor* tensor) { return Copy(tensor, FormatOf(tensor)); }
  static aclFormat FormatOf(const aclTensor* tensor) {
    aclFormat format = ACL_FORMAT_ND;
    if (tensor != nullptr) aclGetFormat(tensor, &format);
    return format;
  }
  static aclTensor* Copy(const aclTensor* tensor, aclFormat format) {
    if (tensor == nullptr) return nullptr;
    const std::vector<int64_t> shape = ShapeOf(tensor);
    aclDataType dtype = ACL_DT_UNDEFINED;
    int64_t* strides = nullptr;
    int64_t* storage = nullptr;
    uint64_t rank = 0;
    uint64_t storage_rank = 0;
    int64_t offset = 0;
    void* address = nullptr;
    aclGetDataType(tensor, &dtype);
    aclGetViewStrides(tensor, &strides, &rank);
    aclGetViewOffset(tensor, &offset);
    aclGetStorageShape(tensor, &storage, &storage_rank);
    aclGetRawTensorAddr(tensor, &address);
    aclTensor* const copy = aclCreateTensor(shape.data(), shape.size(), dtype, strides, offset, format,
                                            storage, storage_rank, address);
    delete[] strides;
    delete[] storage;
    return copy;
  }

  // The same view as an image, of the format that its rank has; one value for each of an image's axes.
  aclTensor* Image(const aclTensor* tensor) {
    const size_t rank = ShapeOf(tensor).size();
    return tensors_.emplace_back(Copy(tensor, rank == 3   ? ACL_FORMAT_NCL
                                              : rank == 4 ? ACL_FORMAT_NCHW
                                              : rank == 5 ? ACL_FORMAT_NCDHW
                                                          : FormatOf(tensor)));
  }
  aclIntArray* ForAxes(const aclTensor* tensor, int64_t value) {
    const size_t rank = ShapeOf(tensor).size();
    return Array(std::vector<int64_t>(rank < 2 ? 0 : rank - 2, value));
  }

  // A dense tensor to which phase 2 gives a shape; nullptr in the place of others, whose elements would not stay where they lie.
  static aclTensor* Result(const aclTensor* tensor) {
    if (tensor == nullptr) return nullptr;
    const std::vector<int64_t> shape = ShapeOf(tensor);
    int64_t* strides = nullptr;
    uint64_t rank = 0;
    aclGetViewStrides(tensor, &strides, &rank);
    int64_t dense = 1;
    bool is_dense = true;
    const bool is_empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
    for (size_t dim = shape.size(); dim-- > 0;) {
      is_dense = is_dense && (is_empty || shape[dim] == 1 || strides[dim] == dense);
      if (__builtin_mul_overflow(dense, shape[dim], &dense)) is_dense = false;
    }
    delete[] strides;
    return is_dense ? results.emplace_back(Copy(tensor)) : nullptr;
  }
  static inline std::vector<aclTensor*> results;

  aclTensorList* List(std::initializer_list<const aclTensor*> entries) {
    std::vector<const aclTensor*> copies;
    for (const aclTensor* const entry : entries) copies.push_back(Copy(entry));
    return ListOf(copies);
  }
  // A list that ends with a tensor that has no elements.
  aclTensorList* ListWithEmpty(const aclTensor* first) {
    constexpr int64_t kNone = 0;
    aclDataType dtype = ACL_FLOAT;
    if (first != nullptr) aclGetDataType(first, &dtype);
    return ListOf(
        {Copy(first), aclCreateTensor(&kNone, 1, dtype, nullptr, 0, ACL_FORMAT_ND, &kNone, 1, nullptr)});
  }
  aclIntArray* Array(const std::vector<int64_t>& values) {
    return arrays_.emplace_back(aclCreateIntArray(values.data(), values.size()));
  }
  // As many numbers as the tensor has dims: first, first + step, ...
  aclIntArray* ForDims(const aclTensor* tensor, int64_t first, int64_t step) {
    std::vector<int64_t> values = ShapeOf(tensor);
    for (int64_t& value : values) {
      value = first;
      first += step;
    }
    return Array(values);
  }
  aclIntArray* Shape(const aclTensor* tensor) { return Array(ShapeOf(tensor)); }
  aclScalar* Scalar() {
    return scalars_.emplace_back(attributes_.log_target ? aclCreateScalar(&attributes_.beta, ACL_FLOAT)
                                                        : aclCreateScalar(&attributes_.reduction, ACL_INT64));
  }
  aclScalarList* Scalars(int64_t count) {
    std::vector<aclScalar*> entries;
    for (int64_t i = 0; i < count; ++i)
      entries.push_back(attributes_.log_target ? aclCreateScalar(&attributes_.beta, ACL_FLOAT)
                                               : aclCreateScalar(&attributes_.reduction, ACL_INT64));
    return scalar_lists_.emplace_back(aclCreateScalarList(entries.data(), entries.size()));
  }
  // A dim that is mostly one of the tensor's.
  int64_t Dim(const aclTensor* tensor) const {
    const auto rank = static_cast<int64_t>(ShapeOf(tensor).size());
    return rank == 0 || attributes_.reduction == 4 ? attributes_.reduction
                                                   : (attributes_.reduction & 255) % (2 * rank) - rank;
  }
  int64_t Length(const aclTensor* tensor) const {
    const std::vector<int64_t> shape = ShapeOf(tensor);
    const int64_t dim = Dim(tensor);
    const int64_t rank = static_cast<int64_t>(shape.size());
    return dim < -rank || dim >= rank ? 1 : shape[static_cast<size_t>(dim < 0 ? dim + rank : dim)];
  }
  int64_t FirstLength(const aclTensor* tensor) const {
    const std::vector<int64_t> shape = ShapeOf(tensor);
    return shape.empty() ? 1 : shape[0];
  }
  int64_t LastLength(const aclTensor* tensor) const {
    const std::vector<int64_t> shape = ShapeOf(tensor);
    return shape.empty() ? 1 : shape.back();
  }

  int64_t LengthOf(const aclTensor* tensor, size_t dim) const {
    const std::vector<int64_t> shape = ShapeOf(tensor);
    return dim < shape.size() ? shape[dim] : 1;
  }

  // How many pairs its rows make, and in how many bytes there is a bit for each row.
  int64_t Pairs(const aclTensor* tensor) const {
    const auto rows = static_cast<uint64_t>(FirstLength(tensor));
    return rows < 2 ? 0 : static_cast<int64_t>(rows * (rows - 1) / 2);
  }
  int64_t Bytes(const aclTensor* tensor) const {
    return static_cast<int64_t>((static_cast<uint64_t>(FirstLength(tensor)) + 7) / 8);
  }
  // The first half of the tensor along Dim. Without strides there is none: the whole tensor.
  aclTensor* Half(const aclTensor* tensor) {
    aclTensor* const copy = Copy(tensor);
    if (copy != nullptr && IsPrivate(FormatOf(tensor))) return tensors_.emplace_back(copy);
    const int64_t rank = static_cast<int64_t>(ShapeOf(tensor).size());
    const int64_t dim = Dim(tensor);
    if (copy == nullptr || dim < -rank || dim >= rank) return tensors_.emplace_back(copy);
    const auto cut = static_cast<size_t>(dim < 0 ? dim + rank : dim);
    std::vector<int64_t> shape = ShapeOf(tensor);
    if (shape[cut] != 1) shape[cut] /= 2;  // a tensor with elements keeps some
    int64_t* strides = nullptr;
    int64_t* storage = nullptr;
    uint64_t strides_rank = 0;
    uint64_t storage_rank = 0;
    int64_t offset = 0;
    void* address = nullptr;
    aclDataType dtype = ACL_DT_UNDEFINED;
    aclGetDataType(copy, &dtype);
    aclGetViewStrides(copy, &strides, &strides_rank);
    aclGetStorageShape(copy, &storage, &storage_rank);
    aclGetViewOffset(copy, &offset);
    aclGetRawTensorAddr(copy, &address);
    aclDestroyTensor(copy);
    aclTensor* const half = aclCreateTensor(shape.data(), shape.size(), dtype, strides, offset,
                                            FormatOf(tensor), storage, storage_rank, address);
    delete[] strides;
    delete[] storage;
    return tensors_.emplace_back(half);
  }
  // A second output of that half's shape, or of the tensor's. All calls write the same memory: nobody reads it.
  aclTensor* SecondHalf(const aclTensor* tensor) { return Second(Half(tensor)); }
  aclTensor* Second(const aclTensor* tensor) {
    alignas(64) static std::array<std::byte, size_t{1} << 20> memory;
    if (tensor == nullptr) return nullptr;
    const std::vector<int64_t> shape = ShapeOf(tensor);
    aclDataType dtype = ACL_DT_UNDEFINED;
    aclGetDataType(tensor, &dtype);
    constexpr int64_t kMost = 1 << 24;
    int64_t bytes = 16;
    for (const int64_t length : shape) bytes = std::min(bytes * std::clamp<int64_t>(length, 0, kMost), kMost);
    const bool fits = static_cast<uint64_t>(bytes) + 16 <= memory.size();
    return tensors_.emplace_back(aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND,
                                                 shape.data(), shape.size(),
                                                 fits ? memory.data() + attributes_.misplaced : nullptr));
  }

  // The same bytes, at an address that may be odd.
  template <class T>
  struct Values {
    explicit Values(const std::vector<T>& values) : plain(values), odd(sizeof(T) * (values.size() + 1)) {
      std::memcpy(odd.data() + kOdd, values.data(), sizeof(T) * values.size());
    }
    void* At(int misplaced) { return misplaced == 0 ? static_cast<void*>(plain.data()) : odd.data() + kOdd; }

    static constexpr size_t kOdd = 1;
    std::vector<T> plain;
    std::vector<std::byte> odd;
  };

  // Indices, some of them out of range, which nobody writes.
  aclTensor* Indices(const std::vector<int64_t>& shape) {
    constexpr size_t kMost = size_t{1} << 16;
    static Values<int64_t> values([] {
      std::vector<int64_t> made(kMost);
      for (size_t i = 0; i < kMost; ++i) made[i] = static_cast<int64_t>(i * 7 % 13) - 2;
      return made;
    }());
    size_t elements = 1;
    for (const int64_t dim : shape)
      elements = std::min(elements * static_cast<size_t>(std::clamp<int64_t>(dim, 0, kMost)), kMost + 1);
    return tensors_.emplace_back(aclCreateTensor(
        shape.data(), shape.size(), attributes_.log_target ? ACL_INT32 : ACL_INT64, nullptr, 0, ACL_FORMAT_ND,
        shape.data(), shape.size(), elements > kMost ? nullptr : values.At(attributes_.misplaced)));
  }
  // The words of such indices as INT32.
  aclTensor* Made32(const std::vector<int64_t>& shape) {
    const bool is_long = attributes_.log_target;
    attributes_.log_target = true;
    aclTensor* const made = Indices(shape);
    attributes_.log_target = is_long;
    return made;
  }
  // Places that are written where a tensor's values are.
  aclTensor* PositionsFor(const aclTensor* tensor) {
    return tensors_.emplace_back(UnreadPlaces(ShapeOf(tensor), attributes_.misplaced));
  }
  // The same as INT64.
  aclTensor* Made64(const std::vector<int64_t>& shape) {
    const bool is_short = attributes_.log_target;
    attributes_.log_target = false;
    aclTensor* const made = Indices(shape);
    attributes_.log_target = is_short;
    return made;
  }
  aclTensor* IndicesLike(const aclTensor* tensor) { return Indices(ShapeOf(tensor)); }
  // One for each row.
  aclTensor* IndicesOfRows(const aclTensor* tensor) {
    std::vector<int64_t> shape = ShapeOf(tensor);
    if (!shape.empty()) shape.pop_back();
    return Indices(shape);
  }
  static aclDataType DtypeLike(const aclTensor* like) {
    aclDataType dtype = ACL_FLOAT;
    if (like != nullptr) aclGetDataType(like, &dtype);
    return dtype;
  }
  // Numbers of a tensor's dtype, in memory that is nobody's: read or written, it does not matter.
  aclTensor* Numbers(const std::vector<int64_t>& shape, const aclTensor* like = nullptr) {
    static Values<double> values(std::vector<double>(2 * kMostNumbers, 0.5));
    return Made(shape, DtypeLike(like), values);
  }
  // The same that a call writes, and nobody reads.
  aclTensor* Written(const std::vector<int64_t>& shape, const aclTensor* like = nullptr) {
    return Written(shape, DtypeLike(like));
  }
  aclTensor* Written(const std::vector<int64_t>& shape, aclDataType dtype) {
    static Values<double> values(std::vector<double>(2 * kMostNumbers, 0.5));
    return Made(shape, dtype, values);
  }
  // Numbers of a dtype that a call reads.
  aclTensor* Read(const std::vector<int64_t>& shape, aclDataType dtype) {
    static Values<double> values(std::vector<double>(2 * kMostNumbers, 0.5));
    return Made(shape, dtype, values);
  }
  // Weights that keep the last dim, for two groups: of each its own, or both in one tensor.
  aclTensorList* SquareWeights(const aclTensor* tensor) {
    const int64_t length = LastLength(tensor);
    const aclTensor* const weight = Numbers({length, length}, tensor);
    return List({weight, weight});
  }
  aclTensorList* Weights(const aclTensor* tensor) {
    const int64_t length = LastLength(tensor);
    return List({Numbers({2, length, length}, tensor)});
  }
  // Sums of two groups of rows that are multiplied by themselves.
  aclTensor* SumsOfGroups(const aclTensor* tensor) {
    const int64_t length = LastLength(tensor);
    return Written({static_cast<int64_t>(uint64_t{2} * static_cast<uint64_t>(length)), length});
  }
  // Weights of INT8 in FRACTAL_NZ.
  aclTensor* Fractal(const std::vector<int64_t>& shape) {
    return tensors_.emplace_back(Copy(Written(shape, ACL_INT8), ACL_FORMAT_FRACTAL_NZ));
  }
  // Codes of a tensor's elements and a number for each of its rows, which a call writes.
  aclTensor* Codes(const aclTensor* tensor) { return Written(ShapeOf(tensor), ACL_INT8); }
  aclTensor* HalfCodes(const aclTensor* tensor) {
    std::vector<int64_t> shape = ShapeOf(tensor);
    if (!shape.empty()) shape.back() /= 2;
    return Written(shape, ACL_INT8);
  }
  aclTensor* RowSteps(const aclTensor* tensor) {
    std::vector<int64_t> shape = ShapeOf(tensor);
    if (!shape.empty()) shape.pop_back();
    return Written(shape, ACL_FLOAT);
  }
  // Codes of a tensor's elements in a byte each, and their powers of two along the dim that is `back` from the last.
  aclTensor* ByteCodes(const aclTensor* tensor) { return Written(ShapeOf(tensor), ACL_FLOAT8_E4M3FN); }
  aclTensor* Powers(const aclTensor* tensor, size_t back = 1) {
    std::vector<int64_t> shape = ShapeOf(tensor);
    if (shape.size() >= back) {
      int64_t& length = shape[shape.size() - back];
      length = length / 64 + (length % 64 != 0 ? 1 : 0);
    }
    shape.push_back(2);
    return Written(shape, ACL_FLOAT8_E8M0);
  }
  // A scale for each block of 128 elements of a row.
  aclTensor* BlockSteps(const aclTensor* tensor) {
    std::vector<int64_t> shape = ShapeOf(tensor);
    if (!shape.empty()) shape.back() = shape.back() / 128 + (shape.back() % 128 != 0 ? 1 : 0);
    return Written(shape, ACL_FLOAT);
  }
  aclTensor* GroupPowers(const aclTensor* tensor, int64_t groups) {
    return Written({FirstLength(tensor) / 64 + groups, LastLength(tensor), 2}, ACL_FLOAT8_E8M0);
  }
  // A number for each element of a row.
  aclTensor* Columns(const aclTensor* tensor) { return Numbers({LastLength(tensor)}, tensor); }
  aclTensor* FloatColumns(const aclTensor* tensor) { return Written({LastLength(tensor)}, ACL_FLOAT); }
  // A map of ones, which nobody writes.
  aclTensor* Ones(const std::vector<int64_t>& shape) {
    static Values<double> values([] {
      std::vector<double> made(2 * kMostNumbers);
      std::fill_n(reinterpret_cast<char*>(made.data()), made.size() * sizeof(double), char{1});
      return made;
    }());
    return Made(shape, ACL_BOOL, values);
  }
  // A column of indices, and of written ones, for each row.
  aclTensor* RowIndices(const aclTensor* tensor) { return Indices({FirstLength(tensor)}); }
  aclTensor* RowColumn(const aclTensor* tensor) { return Indices({FirstLength(tensor), 1}); }
  aclTensor* RowPlaces(const aclTensor* tensor) { return Written({FirstLength(tensor)}, ACL_INT32); }
  aclTensor* RowNumbers(const aclTensor* tensor) { return Numbers({FirstLength(tensor), 1}, tensor); }
  // What lies where among the windows of pools of 1 or 2 elements, for out: as elements or as a mask.
  aclTensor* PoolPlaces(const aclTensor* out) {
    return Written(ShapeOf(out), (attributes_.reduction & 2) != 0 ? ACL_INT64 : ACL_INT32);
  }
  aclTensor* PoolMask(const aclTensor* out) {
    std::vector<int64_t> shape = ShapeOf(out);
    if (shape.size() < 2) return Written(shape, ACL_INT8);
    const int64_t kernel = 1 + (attributes_.reduction & 1);
    const size_t last = shape.size() - 1;
    const uint64_t windows = static_cast<uint64_t>(shape[last]) * static_cast<uint64_t>(shape[last - 1]);
    shape[last - 1] = kernel * kernel;
    shape[last] = static_cast<int64_t>(((windows + 15) / 16 + 1) * 32);
    return Written(shape, ACL_INT8);
  }
  // Q of a matrix's factors, for each mode.
  aclTensor* Orthogonal(const aclTensor* matrix) {
    std::vector<int64_t> shape = ShapeOf(matrix);
    if (attributes_.reduction == 2) shape = {0};
    if (shape.size() < 2) return Written(shape, matrix);
    int64_t& columns = shape.back();
    const int64_t rows = shape[shape.size() - 2];
    columns = attributes_.reduction == 1 ? rows : std::min(rows, columns);
    return Written(shape, matrix);
  }
  static constexpr size_t kMostNumbers = size_t{1} << 16;
  aclTensor* Made(const std::vector<int64_t>& shape, aclDataType dtype, Values<double>& values) {
    constexpr size_t kMost = kMostNumbers;
    size_t elements = 1;
    for (const int64_t dim : shape)
      elements = std::min(elements * static_cast<size_t>(std::clamp<int64_t>(dim, 0, kMost)), kMost + 1);
    return tensors_.emplace_back(
        aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                        shape.size(), elements > kMost ? nullptr : values.At(attributes_.misplaced)));
  }
  // The dims that one tensor has before those of the other.
  std::vector<int64_t> Leading(const aclTensor* tensor, const aclTensor* tail) const {
    std::vector<int64_t> shape = ShapeOf(tensor);
    shape.resize(shape.size() - std::min(shape.size(), ShapeOf(tail).size()));
    return shape;
  }
  // The length of dim 1, and how many elements are behind it.
  std::vector<int64_t> Channels(const aclTensor* tensor) const {
    const std::vector<int64_t> shape = ShapeOf(tensor);
    return {shape.size() > 1 ? shape[1] : 1};
  }
  int64_t Behind(const aclTensor* tensor) const {
    const std::vector<int64_t> shape = ShapeOf(tensor);
    uint64_t count = 1;
    for (size_t i = 2; i < shape.size(); ++i) count *= static_cast<uint64_t>(shape[i]);
    return static_cast<int64_t>(count);
  }
  // Of heads of rows: the text that names their layout, how many there are, and eight numbers for each row.
  char* Layout(const aclTensor* tensor) const {
    static char of_four[] = "BNSD";
    static char joined[] = "BSH";
    return ShapeOf(tensor).size() == 4 ? of_four : joined;
  }
  int64_t Heads(const aclTensor* tensor) const {
    return ShapeOf(tensor).size() == 4 ? ShapeOf(tensor)[1] : 1;
  }
  aclTensor* Statistics(const aclTensor* tensor) { return Numbers(StatisticShape(tensor)); }
  aclTensor* WrittenStatistics(const aclTensor* tensor) { return Written(StatisticShape(tensor)); }
  std::vector<int64_t> StatisticShape(const aclTensor* tensor) const {
    const std::vector<int64_t> shape = ShapeOf(tensor);
    const auto length = [&](size_t dim) { return dim < shape.size() ? shape[dim] : 1; };
    return {length(0), Heads(tensor), length(shape.size() == 4 ? 2 : 1), 8};
  }
  // A mode's name, as C's functions take it.
  static char* Mode(const char* name) { return const_cast<char*>(name); }
  // Of packed sequences: one of all rows.
  char* Packed() const {
    static char packed[] = "TND";
    return packed;
  }
  aclTensor* PackedStatistics(const aclTensor* tensor) {
    return Numbers({FirstLength(tensor), PackedHeads(tensor), 8});
  }
  aclTensor* WrittenPackedStatistics(const aclTensor* tensor) {
    return Written({FirstLength(tensor), PackedHeads(tensor), 8});
  }
  // Of rows, batches and joined heads: one head.
  aclTensor* RingStatistics(const aclTensor* tensor) { return Numbers(RingStatisticShape(tensor)); }
  aclTensor* WrittenRingStatistics(const aclTensor* tensor) { return Written(RingStatisticShape(tensor)); }
  std::vector<int64_t> RingStatisticShape(const aclTensor* tensor) const {
    const std::vector<int64_t> shape = ShapeOf(tensor);
    return {shape.size() > 1 ? shape[1] : 1, 1, FirstLength(tensor), 8};
  }
  int64_t PackedHeads(const aclTensor* tensor) const {
    return ShapeOf(tensor).size() == 3 ? ShapeOf(tensor)[1] : 1;
  }
  aclBoolArray* TwoFlags(bool second) {
    const bool values[] = {true, second};
    return flags_.emplace_back(aclCreateBoolArray(values, 2));
  }
  aclBoolArray* Flags(bool first, bool others) {
    const bool values[] = {first, others, others};
    return flags_.emplace_back(aclCreateBoolArray(values, 3));
  }
  aclTensorList* IndexList(const aclTensor* tensor) {
    aclTensor* const indices = Indices({FirstLength(tensor)});
    tensors_.pop_back();
    return ListOf({indices});
  }

 private:
  aclTensorList* ListOf(const std::vector<const aclTensor*>& entries) {
    return lists_.emplace_back(aclCreateTensorList(entries.data(), entries.size()));
  }

  CallAttributes attributes_;
  std::vector<aclTensor*> tensors_;
  std::vector<aclTensorList*> lists_;
  std::vector<aclIntArray*> arrays_;
  std::vector<aclScalar*> scalars_;
  std::vector<aclScalarList*> scalar_lists_;
  std::vector<aclBoolArray*> flags_;
};

template <auto kFunction, bool kInPlace, bool kOne = false>
constexpr OperatorCall MapCall(const char* name, decltype(OperatorCall::run) run) {
  int tensors = 0;
  for (const ParameterKind kind : PhaseOne<kFunction>::kKinds)
    tensors += kind == ParameterKind::kTensor ? 1 : 0;
  const OutputShape shape = kOne           ? OutputShape::kOne
                            : tensors == 1 ? OutputShape::kAny
                            : tensors == 2 ? OutputShape::kOperand0
                                           : OutputShape::kBroadcast;
  return {name, tensors, shape, -1, &PlanMap<kFunction, kInPlace>, run};
}

// An operator that moves or indexes elements: its first phase gets these arguments.
#define MOVES(name, tensors, shape, ...)                                                                  \
  {                                                                                                       \
    "aclnn" #name, tensors, OutputShape::shape, -1,                                                       \
        [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) -> aclnnStatus { \
          Given given(a);                                                                                 \
          return aclnn##name##GetWorkspaceSize(__VA_ARGS__, size, executor);                              \
        },                                                                                                \
        aclnn##name, true                                                                                 \
  }
// The same of matrices, which may have their last two dims swapped.
#define MATRICES(name, tensors, shape, ...)                                                               \
  {                                                                                                       \
    "aclnn" #name, tensors, OutputShape::shape, -1,                                                       \
        [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) -> aclnnStatus { \
          Given given(a);                                                                                 \
          return aclnn##name##GetWorkspaceSize(__VA_ARGS__, size, executor);                              \
        },                                                                                                \
        aclnn##name, true, false, true                                                                    \
  }
// The same where what was left by calls before is read, too.
#define STATE(name, tensors, shape, ...)                                                                  \
  {                                                                                                       \
    "aclnn" #name, tensors, OutputShape::shape, -1,                                                       \
        [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) -> aclnnStatus { \
          Given given(a);                                                                                 \
          return aclnn##name##GetWorkspaceSize(__VA_ARGS__, size, executor);                              \
        },                                                                                                \
        aclnn##name, true, true                                                                           \
  }
// Those whose calls follow from their signatures; the schema's key `fuzz` says which.
#define MAP(name, in_place) MapCall<&aclnn##name##GetWorkspaceSize, in_place>("aclnn" #name, &aclnn##name),
#define LISTS(name, tensors, ...) MOVES(name, tensors, kOperand0, __VA_ARGS__),

// NOLINTBEGIN(readability-identifier-length)
constexpr OperatorCall kCalls[] = {
    {"aclnnL1LossBackward", 4, OutputShape::kBroadcast, -1,
     [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
       return aclnnL1LossBackwardGetWorkspaceSize(t[0], t[1], t[2], a.reduction, t[3], size, executor);
     },
     aclnnL1LossBackward},
    {"aclnnSmoothL1LossBackward", 4, OutputShape::kBroadcast, -1,
     [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
       return aclnnSmoothL1LossBackwardGetWorkspaceSize(t[0], t[1], t[2], a.reduction, a.beta, t[3], size,
                                                        executor);
     },
     aclnnSmoothL1LossBackward},
    {"aclnnKlDivBackward", 4, OutputShape::kOperand1, 1,
     [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
       return aclnnKlDivBackwardGetWorkspaceSize(t[0], t[1], t[2], a.reduction, a.log_target, t[3], size,
                                                 executor);
     },
     aclnnKlDivBackward},
    {"aclnnKlDivTargetBackward", 4, OutputShape::kOperand2, -1,
     [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
       return aclnnKlDivTargetBackwardGetWorkspaceSize(t[0], t[1], t[2], a.reduction, a.log_target, t[3],
                                                       size, executor);
     },
     aclnnKlDivTargetBackward},
    {"aclnnMseLossBackward", 4, OutputShape::kBroadcast, -1,
     [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
       return aclnnMseLossBackwardGetWorkspaceSize(t[0], t[1], t[2], a.reduction, t[3], size, executor);
     },
     aclnnMseLossBackward},
    {"aclnnL1Loss", 3, OutputShape::kReduced, -1,
     [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
       return aclnnL1LossGetWorkspaceSize(t[0], t[1], a.reduction, t[2], size, executor);
     },
     aclnnL1Loss},
    {"aclnnSmoothL1Loss", 3, OutputShape::kReduced, -1,
     [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
       return aclnnSmoothL1LossGetWorkspaceSize(t[0], t[1], a.reduction, a.beta, t[2], size, executor);
     },
     aclnnSmoothL1Loss},
    {"aclnnKlDiv", 3, OutputShape::kReduced, -1,
     [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
       return aclnnKlDivGetWorkspaceSize(t[0], t[1], a.reduction, a.log_target, t[2], size, executor);
     },
     aclnnKlDiv},
    {"aclnnMseLoss", 3, OutputShape::kReduced, -1,
     [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
       return aclnnMseLossGetWorkspaceSize(t[0], t[1], a.reduction, t[2], size, executor);
     },
     aclnnMseLoss},
    {"aclnnMseLossOut", 3, OutputShape::kReducedFirstAxis, -1,
     [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
       return aclnnMseLossOutGetWorkspaceSize(t[0], t[1], a.reduction, t[2], size, executor);
     },
     aclnnMseLossOut},
    {"aclnnInplaceCopy", 2, OutputShape::kOperand0, -1,
     [](Tensors t, const CallAttributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnInplaceCopyGetWorkspaceSize(t[1], t[0], size, executor);
     },
     aclnnInplaceCopy},
    {"aclnnCast", 2, OutputShape::kOperand0, -1,
     [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
       aclDataType dtype = ACL_INT8;
       if (t[1] != nullptr && a.reduction >= 0) aclGetDataType(t[1], &dtype);
       return aclnnCastGetWorkspaceSize(t[0], dtype, t[1], size, executor);
     },
     aclnnCast},
    {"aclnnInplaceFillScalar", 1, OutputShape::kAny, -1,
     [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
       CallAttributes values = a;
       aclScalar* const value = a.log_target ? aclCreateScalar(&values.beta, ACL_FLOAT)
                                             : aclCreateScalar(&values.reduction, ACL_INT64);
       const aclnnStatus status = aclnnInplaceFillScalarGetWorkspaceSize(t[0], value, size, executor);
       aclDestroyScalar(value);
       return status;
     },
     aclnnInplaceFillScalar},
    {"aclnnInplaceFillTensor", 2, OutputShape::kAny, -1,
     [](Tensors t, const CallAttributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnInplaceFillTensorGetWorkspaceSize(t[1], t[0], size, executor);
     },
     aclnnInplaceFillTensor},
    {"aclnnInplaceZero", 1, OutputShape::kAny, -1,
     [](Tensors t, const CallAttributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnInplaceZeroGetWorkspaceSize(t[0], size, executor);
     },
     aclnnInplaceZero},
    {"aclnnInplaceOne", 1, OutputShape::kAny, -1,
     [](Tensors t, const CallAttributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnInplaceOneGetWorkspaceSize(t[0], size, executor);
     },
     aclnnInplaceOne},
    {"aclnnDropout", 2, OutputShape::kOperand0, -1,
     [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
       aclTensor* const mask = MaskFor(t[0]);
       const aclnnStatus status = aclnnDropoutGetWorkspaceSize(t[0], 0.25, a.log_target, a.reduction,
                                                               a.reduction, t[1], mask, size, executor);
       aclDestroyTensor(mask);
       return status;
     },
     aclnnDropout, true},
    {"aclnnDropoutV3", 2, OutputShape::kOperand0, -1,
     [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
       aclTensor* const mask = MaskFor(t[0]);
       const aclnnStatus status = aclnnDropoutV3GetWorkspaceSize(
           t[0], nullptr, a.log_target ? 0.25 : 0, a.reduction, a.reduction, t[1], mask, size, executor);
       aclDestroyTensor(mask);
       return status;
     },
     aclnnDropoutV3, true},
    // clang-format off
    MOVES(Cat, 2, kOperand0, a.log_target ? given.List({t[0]}) : given.ListWithEmpty(t[0]), given.Dim(t[0]), t[1]),
    MOVES(Stack, 2, kAny, given.List({t[0]}), a.reduction, t[1]),
    MOVES(ChunkCat, 2, kAny, given.List({t[0]}), 0, 1 + (a.reduction & 3), t[1]),
    MOVES(AddN, 3, kAny, given.List({t[0], t[1]}), t[2]),
    MOVES(Sum, 3, kAny, given.List({t[0], t[1]}), t[2]),
    MOVES(MaxN, 3, kAny, given.List({t[0], t[1], t[0]}), t[2]),
    MOVES(MinN, 2, kAny, given.List({t[0]}), t[1]),
    MOVES(Scale, 2, kOperand0, t[0], given.Columns(t[0]), a.log_target ? given.Columns(t[0]) : nullptr, -1, 1, a.log_target, t[1]),
    MOVES(Modulate, 2, kOperand0, t[0], given.Numbers({given.FirstLength(t[0]), given.LastLength(t[0])}, t[0]),
          given.Numbers({given.FirstLength(t[0]), 1, given.LastLength(t[0])}, t[0]), t[1]),
    MOVES(ModulateBackward, 3, kOperand0, t[0], t[1], given.Numbers({given.FirstLength(t[0]), given.LastLength(t[0])}, t[0]),
          given.Numbers({given.FirstLength(t[0]), given.LastLength(t[0])}, t[0]), t[2], given.Written({given.FirstLength(t[0]), given.LastLength(t[0])}, t[0]),
          given.Written({given.FirstLength(t[0]), given.LastLength(t[0])}, t[0])),
    STATE(PrecisionCompare, 2, kOperand0, t[0], t[1], given.Written({1}, ACL_UINT32)),
    MOVES(AdaLayerNorm, 2, kOperand0, t[0], given.Numbers({given.FirstLength(t[0]), given.LastLength(t[0])}, t[0]),
          given.Numbers({given.FirstLength(t[0]), 1, given.LastLength(t[0])}, t[0]), given.Columns(t[0]), nullptr, 1e-5, t[1]),
    STATE(InstanceNorm, 2, kOperand0, t[0], given.Numbers(given.Channels(t[0]), t[0]), given.Numbers(given.Channels(t[0]), t[0]), "NCHW", 1e-5, t[1],
          given.Written({given.FirstLength(t[0]), given.Channels(t[0])[0], 1, 1}, t[0]), given.Written({given.FirstLength(t[0]), given.Channels(t[0])[0], 1, 1}, t[0])),
    MOVES(ExpSegsum, 2, kAny, t[0], t[1]),
    MOVES(ExpSegsumBackward, 3, kAny, t[0], t[1], t[2]),
    MOVES(Sinkhorn, 2, kOperand0, t[0], a.log_target ? nullptr : given.Scalar(), t[1]),
    STATE(ChamferDistanceBackward, 1, kAny, given.Numbers({2, 3, 2}, t[0]), given.Numbers({2, 4, 2}, t[0]), given.Made32({2, 3}), given.Made32({2, 4}),
          given.Numbers({2, 3}, t[0]), given.Numbers({2, 4}, t[0]), given.Written({2, 3, 2}, t[0]), given.Written({2, 4, 2}, t[0])),
    MOVES(Real, 2, kOperand0, t[0], t[1]),
    MOVES(Flatten, 2, kOperand0, t[0], a.reduction, t[1]),
    MOVES(ConfusionTranspose, 2, kOperand0, t[0], given.Array({1, 0}), given.Array({1, given.FirstLength(t[1])}), a.log_target, t[1]),
    MOVES(ChannelShuffle, 2, kOperand0, t[0], 1 + (a.reduction & 1), t[1]),
    STATE(InplaceFillDiagonal, 1, kAny, t[0], given.Scalar(), a.log_target),
    MOVES(StridedSlice, 2, kOperand0, t[0], given.Array({0}), given.Array({given.FirstLength(t[1])}), given.Array({1}), 0, a.reduction & 1, 0, 0, 0, t[1]),
    MOVES(SplitTensor, 2, kOperand0, t[0], static_cast<uint64_t>(given.Length(t[0])), given.Dim(t[0]), given.List({t[1]})),
    MOVES(SplitWithSize, 2, kOperand0, t[0], given.Array({given.Length(t[0])}), given.Dim(t[0]), given.List({t[1]})),
    MOVES(Permute, 2, kOperand0, t[0], given.ForDims(t[0], a.log_target ? 0 : -1, a.log_target ? 1 : -1), t[1]),
    MOVES(Flip, 2, kOperand0, t[0], given.Array({given.Dim(t[0])}), t[1]),
    MOVES(Roll, 2, kOperand0, t[0], given.Array({a.reduction}), given.Array({given.Dim(t[0])}), t[1]),
    MOVES(Slice, 2, kOperand0, t[0], given.Dim(t[0]), 0, given.Length(t[1]), 1, t[1]),
    MOVES(SliceV2, 2, kOperand0, t[0], given.Array({0}), given.Array({given.Length(t[1])}), given.Array({given.Dim(t[0])}),
          given.Array({1}), t[1]),
    MOVES(Repeat, 2, kOperand0, t[0], given.ForDims(t[0], 1, 0), t[1]),
    MOVES(Expand, 2, kOperand0, t[0], given.Shape(t[1]), t[1]),
    MOVES(RepeatInterleaveInt, 2, kAny, t[0], a.reduction, static_cast<int64_t>(static_cast<uint64_t>(a.reduction) * static_cast<uint64_t>(given.FirstLength(t[0]))), t[1]),
    MOVES(RepeatInterleaveIntWithDim, 2, kOperand0, t[0], 1, given.Dim(t[0]), given.Length(t[0]), t[1]),
    MOVES(RepeatInterleave, 2, kAny, t[0], given.Indices({given.FirstLength(t[0])}), given.FirstLength(t[1]), t[1]),
    MOVES(RepeatInterleaveWithDim, 2, kOperand0, t[0], given.Indices({given.Length(t[0])}), given.Dim(t[0]), given.Length(t[1]), t[1]),
    MOVES(RepeatInterleaveTensor, 2, kAny, t[0], given.FirstLength(t[1]), t[1]),
    MOVES(ConstantPadNd, 2, kOperand0, t[0], given.Array({a.reduction & 1, -(a.reduction & 1)}), given.Scalar(), t[1]),
    MOVES(ReflectionPad1d, 2, kOperand0, t[0], given.Array({a.reduction & 1, a.reduction & 1}), t[1]),
    MOVES(ReflectionPad2d, 2, kOperand0, t[0], given.Array({a.reduction & 1, -(a.reduction & 1), a.reduction & 1, 0}), t[1]),
    MOVES(ReplicationPad1d, 2, kOperand0, t[0], given.Array({a.reduction & 1, a.reduction & 1}), t[1]),
    MOVES(ReplicationPad2d, 2, kOperand0, t[0], given.Array({a.reduction & 1, -(a.reduction & 1), a.reduction & 1, 0}), t[1]),
    MOVES(CircularPad2d, 2, kOperand0, t[0], given.Array({a.reduction & 1, -(a.reduction & 1), a.reduction & 1, 0}), t[1]),
    MOVES(ReflectionPad1dBackward, 3, kOperand1, t[0], t[1], given.Array({0, 0}), t[2]),
    MOVES(ReflectionPad2dBackward, 3, kOperand1, t[0], t[1], given.Array({0, 0, a.reduction & 1, -(a.reduction & 1)}), t[2]),
    MOVES(ReplicationPad1dBackward, 3, kOperand1, t[0], t[1], given.Array({0, 0}), t[2]),
    MOVES(ReplicationPad2dBackward, 3, kOperand1, t[0], t[1], given.Array({0, 0, a.reduction & 1, -(a.reduction & 1)}), t[2]),
    MOVES(ReflectionPad3d, 2, kOperand0, t[0], given.Array({a.reduction & 1, -(a.reduction & 1), a.reduction & 1, 0, 0, a.reduction & 1}), t[1]),
    MOVES(ReplicationPad3d, 2, kOperand0, t[0], given.Array({a.reduction & 1, -(a.reduction & 1), a.reduction & 1, 0, 0, a.reduction & 1}), t[1]),
    MOVES(CircularPad3d, 2, kOperand0, t[0], given.Array({a.reduction & 1, -(a.reduction & 1), a.reduction & 1, 0, 0, a.reduction & 1}), t[1]),
    MOVES(ReflectionPad3dBackward, 3, kOperand1, t[0], t[1], given.Array({0, 0, 0, 0, a.reduction & 1, -(a.reduction & 1)}), t[2]),
    MOVES(ReplicationPad3dBackward, 3, kOperand1, t[0], t[1], given.Array({0, 0, 0, 0, a.reduction & 1, -(a.reduction & 1)}), t[2]),
    MOVES(CircularPad3dBackward, 3, kOperand1, t[0], t[1], given.Array({0, 0, 0, 0, a.reduction & 1, -(a.reduction & 1)}), t[2]),
    MOVES(CircularPad2dBackward, 3, kOperand1, t[0], t[1], given.Array({0, 0, a.reduction & 1, -(a.reduction & 1)}), t[2]),
    MOVES(Im2col, 2, kOperand0, t[0], given.Array({1, 1}), given.Array({1, 1}), given.Array({0, 0}), given.Array({1, 1 + (a.reduction & 1)}), t[1]),
    MOVES(Im2colBackward, 2, kOperand0, t[0], given.Array({1, given.Length(t[0])}), given.Array({1, 1}), given.Array({1, 1}), given.Array({0, 0}), given.Array({1, 1}), t[1]),
    MOVES(UnfoldGrad, 2, kOperand0, t[0], given.Shape(t[1]), given.Dim(t[0]), 1 + (a.reduction & 3), 1, t[1]),
    MOVES(UpsampleNearest1d, 2, kOperand0, t[0], given.Array({1 + (a.reduction & 3), given.Length(t[1])}), t[1]),
    MOVES(UpsampleNearest1dV2, 2, kOperand0, t[0], given.Array({1 + (a.reduction & 3), given.Length(t[1])}), a.beta, t[1]),
    MOVES(UpsampleLinear1d, 2, kOperand0, t[0], given.Array({given.Length(t[1])}), a.log_target, a.wide_beta, t[1]),
    MOVES(UpsampleLinear1dBackward, 2, kOperand0, t[0], given.Array({given.Length(t[0])}), given.Shape(t[1]), a.log_target, a.wide_beta, t[1]),
    MOVES(UpsampleNearest1dBackward, 2, kOperand0, t[0], given.Array({given.Length(t[0])}), given.Shape(t[1]), a.wide_beta, t[1]),
    MOVES(UpsampleNearestExact1d, 2, kOperand0, t[0], given.Array({given.Length(t[1])}), a.wide_beta, t[1]),
    MOVES(UpsampleNearestExact1dBackward, 2, kOperand0, t[0], given.Array({given.Length(t[0])}), given.Shape(t[1]), a.wide_beta, t[1]),
    MOVES(UpsampleNearestExact2d, 2, kOperand0, t[0], given.Array({1 + (a.reduction & 3), given.Length(t[1])}), a.wide_beta, a.wide_beta, t[1]),
    MOVES(UpsampleNearestExact2dBackward, 2, kOperand0, t[0], given.Array({1 + (a.reduction & 3), given.Length(t[0])}), given.Shape(t[1]), a.wide_beta, a.wide_beta, t[1]),
    MOVES(UpsampleBicubic2dBackward, 2, kOperand0, t[0], given.Array({1 + (a.reduction & 3), given.Length(t[0])}), given.Shape(t[1]), a.log_target, a.wide_beta, a.wide_beta, t[1]),
    MOVES(UpsampleBilinear2dAA, 2, kOperand0, t[0], given.Array({1 + (a.reduction & 3), given.Length(t[1])}), a.log_target, a.wide_beta, a.wide_beta, t[1]),
    MOVES(UpsampleBilinear2dAABackward, 2, kOperand0, t[0], given.Array({1 + (a.reduction & 3), given.Length(t[0])}), given.Shape(t[1]), a.log_target, a.wide_beta, a.wide_beta, t[1]),
    MOVES(UpsampleBicubic2dAA, 2, kOperand0, t[0], given.Array({1 + (a.reduction & 3), given.Length(t[1])}), a.log_target, a.wide_beta, a.wide_beta, t[1]),
    MOVES(UpsampleBicubic2dAAGrad, 2, kOperand0, t[0], given.Array({1 + (a.reduction & 3), given.Length(t[0])}), given.Shape(t[1]), a.log_target, a.wide_beta, a.wide_beta, t[1]),
    MOVES(UpsampleNearest3d, 2, kOperand0, t[0], given.Array({1, 1 + (a.reduction & 3), given.Length(t[1])}), a.wide_beta, a.wide_beta, a.wide_beta, t[1]),
    MOVES(UpsampleNearest3dBackward, 2, kOperand0, t[0], given.Array({1, 1 + (a.reduction & 3), given.Length(t[0])}), given.Shape(t[1]), a.wide_beta, a.wide_beta, a.wide_beta, t[1]),
    MOVES(UpsampleNearestExact3d, 2, kOperand0, t[0], given.Array({1, 1 + (a.reduction & 3), given.Length(t[1])}), a.wide_beta, a.wide_beta, a.wide_beta, t[1]),
    MOVES(UpsampleNearestExact3dBackward, 2, kOperand0, t[0], given.Array({1, 1 + (a.reduction & 3), given.Length(t[0])}), given.Shape(t[1]), a.wide_beta, a.wide_beta, a.wide_beta, t[1]),
    MOVES(UpsampleTrilinear3d, 2, kOperand0, t[0], given.Array({1, 1 + (a.reduction & 3), given.Length(t[1])}), a.log_target, a.wide_beta, a.wide_beta, a.wide_beta, t[1]),
    MOVES(UpsampleTrilinear3dBackward, 2, kOperand0, t[0], given.Array({1, 1 + (a.reduction & 3), given.Length(t[0])}), given.Shape(t[1]), a.log_target, a.wide_beta, a.wide_beta, a.wide_beta, t[1]),
    MOVES(UpsampleNearest2d, 2, kOperand0, t[0], given.Array({1 + (a.reduction & 3), given.Length(t[1])}), t[1]),
    MOVES(UpsampleNearest2dV2, 2, kOperand0, t[0], given.Array({1 + (a.reduction & 3), given.Length(t[1])}), a.beta, a.beta, t[1]),
    MOVES(UpsampleNearest2dBackward, 2, kOperand0, t[0], given.Array({1 + (a.reduction & 3), given.Length(t[1])}), given.Shape(t[1]), a.wide_beta, a.wide_beta, t[1]),
    MOVES(UpsampleBilinear2d, 2, kOperand0, t[0], given.Array({1 + (a.reduction & 3), given.Length(t[1])}), a.log_target, a.wide_beta, a.wide_beta, t[1]),
    MOVES(UpsampleBicubic2d, 2, kOperand0, t[0], given.Array({1 + (a.reduction & 3), given.Length(t[1])}), a.log_target, a.wide_beta, a.wide_beta, t[1]),
    MOVES(UpsampleBilinear2dBackward, 2, kOperand0, t[0], given.Array({1 + (a.reduction & 3), given.Length(t[1])}), given.Shape(t[1]), a.log_target, a.wide_beta, a.wide_beta, t[1]),
    MOVES(UpsampleBilinear2dBackwardV2, 2, kOperand0, t[0], given.Array({1 + (a.reduction & 3), given.Length(t[1])}), given.Shape(t[1]), a.log_target, a.wide_beta, a.wide_beta, t[1]),
    MOVES(AvgPool2d, 2, kOperand0, t[0], given.Array({1 + (a.reduction & 1)}), given.Array({1}), given.Array({0}), a.log_target, true, a.reduction & 2, 0, t[1]),
    MOVES(AvgPool2dBackward, 3, kOperand1, t[0], t[1], given.Array({1 + (a.reduction & 1)}), given.Array({1}), given.Array({0}), a.log_target, true, a.reduction & 2, 0, t[2]),
    MOVES(AvgPool3d, 2, kOperand0, t[0], given.Array({1 + (a.reduction & 1)}), given.Array({1}), given.Array({0}), a.log_target, true, a.reduction & 2, t[1]),
    MOVES(AvgPool3dBackward, 3, kOperand1, t[0], t[1], given.Array({1 + (a.reduction & 1)}), given.Array({1}), given.Array({0}), a.log_target, true, a.reduction & 2, t[2]),
    MOVES(GlobalAveragePool, 2, kAny, t[0], t[1]),
    MOVES(GlobalMaxPool, 2, kAny, t[0], t[1]),
    MOVES(AdaptiveAvgPool2d, 2, kOperand0, t[0], given.Array({1 + (a.reduction & 3), given.Length(t[1])}), t[1]),
    MOVES(AdaptiveAvgPool2dBackward, 3, kOperand1, t[0], t[1], t[2]),
    MOVES(AdaptiveMaxPool2d, 2, kOperand0, t[0], given.Array({1 + (a.reduction & 3), given.Length(t[1])}), t[1],
          given.Written(Given::ShapeOf(t[1]), ACL_INT64)),
    MOVES(AdaptiveMaxPool2dBackward, 4, kOperand1, t[0], t[1], t[2], t[3]),
    MOVES(AdaptiveAvgPool3d, 2, kOperand0, t[0], given.Array({1, 1 + (a.reduction & 3), given.Length(t[1])}), t[1]),
    MOVES(AdaptiveAvgPool3dBackward, 3, kOperand1, t[0], t[1], t[2]),
    MOVES(AdaptiveMaxPool3d, 2, kOperand0, t[0], given.Array({1, 1 + (a.reduction & 3), given.Length(t[1])}), t[1],
          given.Written(Given::ShapeOf(t[1]), ACL_INT32)),
    MOVES(AdaptiveMaxPool3dBackward, 4, kOperand1, t[0], t[1], t[2], t[3]),
    MOVES(MaxUnpool2d, 2, kOperand0, t[0], given.IndicesLike(t[0]), given.Array({1 + (a.reduction & 3), given.Length(t[1])}), t[1]),
    MOVES(MaxUnpool2dBackward, 3, kOperand1, t[0], t[1], given.IndicesLike(t[1]), given.Array({1 + (a.reduction & 3), given.Length(t[0])}), t[2]),
    MOVES(MaxUnpool3d, 2, kOperand0, t[0], given.IndicesLike(t[0]), given.Array({1, 1 + (a.reduction & 3), given.Length(t[1])}), given.Array({1, 1, 1}), given.Array({0, 0, 0}), t[1]),
    MOVES(MaxUnpool3dBackward, 3, kOperand1, t[0], t[1], given.IndicesLike(t[1]), given.Array({1, 1 + (a.reduction & 3), given.Length(t[0])}), given.Array({1, 1, 1}), given.Array({0, 0, 0}), t[2]),
    MOVES(MaxPool, 2, kOperand0, t[0], given.Array({1 + (a.reduction & 1)}), given.Array({1}), 0, given.Array({0}), given.Array({1}), a.log_target, t[1]),
    MOVES(MaxPool2dWithMask, 2, kOperand0, t[0], given.Array({1 + (a.reduction & 1)}), given.Array({1}), given.Array({0}), given.Array({1}), a.log_target, t[1], given.PoolMask(t[1])),
    MOVES(MaxPool2dWithMaskBackward, 4, kOperand1, t[0], t[1], t[2], given.Array({1 + (a.reduction & 1)}), given.Array({1}), given.Array({0}), given.Array({1}), a.log_target, t[3]),
    MOVES(MaxPool2dWithIndices, 2, kOperand0, t[0], given.Array({1 + (a.reduction & 1)}), given.Array({1}), given.Array({0}), given.Array({1}), a.log_target, t[1], given.PoolPlaces(t[1])),
    MOVES(MaxPool2dWithIndicesBackward, 4, kOperand1, t[0], t[1], t[2], given.Array({1 + (a.reduction & 1)}), given.Array({1}), given.Array({0}), given.Array({1}), a.log_target, t[3]),
    MOVES(MaxPool3dWithArgmax, 2, kOperand0, t[0], given.Array({1 + (a.reduction & 1)}), given.Array({1}), given.Array({0}), given.Array({1}), a.log_target, t[1], given.PoolPlaces(t[1])),
    MOVES(MaxPool3dWithArgmaxBackward, 4, kOperand1, t[0], t[1], t[2], given.Array({1 + (a.reduction & 1)}), given.Array({1}), given.Array({0}), given.Array({1}), a.log_target, t[3]),
    MOVES(GridSampler2D, 3, kOperand0, t[0], t[1], a.reduction, a.reduction & 1, a.log_target, t[2]),
    MOVES(AffineGrid, 2, kAny, t[0], given.Array({given.FirstLength(t[0]), 1, 1 + (a.reduction & 3), given.Length(t[1])}), a.log_target, t[1]),
    MOVES(GridSampler3D, 3, kOperand0, t[0], t[1], a.reduction & 1, a.reduction & 1, a.log_target, t[2]),
    MOVES(GridSampler2DBackward, 4, kOperand1, t[0], t[1], t[2], a.reduction & 1, a.reduction & 1, a.log_target, given.TwoFlags(a.log_target), t[3], given.Written(Given::ShapeOf(t[2]), Given::DtypeLike(t[2]))),
    MOVES(GridSampler3DBackward, 4, kOperand1, t[0], t[1], t[2], a.reduction & 1, a.reduction & 1, a.log_target, given.TwoFlags(a.log_target), t[3], given.Written(Given::ShapeOf(t[2]), Given::DtypeLike(t[2]))),
    MOVES(ROIAlign, 2, kOperand0, t[0], given.Numbers({given.FirstLength(t[0]), 5}, t[0]), a.beta, given.LengthOf(t[0], 2), given.LastLength(t[0]), a.reduction & 3, a.log_target, t[1]),
    MOVES(ROIAlignBackward, 2, kOperand0, t[0], given.Numbers({given.FirstLength(t[0]), 5}, t[0]), given.Shape(t[1]), given.LastLength(t[0]), given.LengthOf(t[0], 2), a.beta, a.reduction & 3, a.log_target, t[1]),
    MOVES(TransMatmulWeight, 1, kAny, t[0]),
    MATRICES(Mm, 3, kAny, t[0], t[1], t[2], static_cast<int8_t>(a.reduction)),
    MATRICES(Matmul, 3, kAny, t[0], t[1], t[2], static_cast<int8_t>(a.reduction)),
    MATRICES(BatchMatMul, 3, kAny, t[0], t[1], t[2], static_cast<int8_t>(a.reduction)),
    MATRICES(TransposeBatchMatMul, 3, kAny, t[0], t[1], nullptr, nullptr, given.Array({a.log_target ? 1 : 0, a.log_target ? 0 : 1, 2}), given.Array({0, 1, 2}),
             given.Array({1, 0, 2}), static_cast<int8_t>(a.reduction), 1, t[2]),
    MATRICES(Addmm, 4, kAny, t[0], t[1], t[2], given.Scalar(), given.Scalar(), t[3], static_cast<int8_t>(a.reduction)),
    STATE(Einsum, 1, kAny, given.List({given.Numbers({3}, t[0]), given.Numbers({4}, t[0])}), "a,b->ab", given.Written({3, 4}, t[0])),
    MATRICES(Gemm, 4, kAny, t[0], t[1], t[2], a.beta, 1.0f, a.log_target, 0, t[3], static_cast<int8_t>(a.reduction)),
    MATRICES(InplaceAddmm, 3, kAny, t[2], t[0], t[1], given.Scalar(), given.Scalar(), static_cast<int8_t>(a.reduction)),
    MATRICES(Baddbmm, 4, kAny, t[0], t[1], t[2], given.Scalar(), given.Scalar(), t[3], static_cast<int8_t>(a.reduction)),
    MATRICES(InplaceBaddbmm, 3, kAny, t[2], t[0], t[1], given.Scalar(), given.Scalar(), static_cast<int8_t>(a.reduction)),
    MATRICES(Addbmm, 4, kAny, t[0], t[1], t[2], given.Scalar(), given.Scalar(), t[3], static_cast<int8_t>(a.reduction)),
    MATRICES(InplaceAddbmm, 3, kAny, t[2], t[0], t[1], given.Scalar(), given.Scalar(), static_cast<int8_t>(a.reduction)),
    MATRICES(Mv, 3, kAny, t[0], t[1], t[2], static_cast<int8_t>(a.reduction)),
    MOVES(Dot, 3, kAny, t[0], t[1], t[2]),
    MATRICES(Addmv, 4, kAny, t[0], t[1], t[2], given.Scalar(), given.Scalar(), t[3], static_cast<int8_t>(a.reduction)),
    MOVES(Cdist, 3, kAny, t[0], t[1], a.log_target ? 2.0f : 1.5f, 2, t[2]),
    MOVES(CdistBackward, 2, kOperand0, given.Numbers({given.FirstLength(t[0]), given.FirstLength(t[0])}, t[0]), t[0], t[0],
          given.Numbers({given.FirstLength(t[0]), given.FirstLength(t[0])}, t[0]), a.log_target ? 2.0f : 1.5f, t[1]),
    STATE(Pdist, 1, kAny, t[0], a.log_target ? 2.0f : 1.5f, given.Written({given.Pairs(t[0])}, t[0])),
    STATE(PdistForward, 1, kAny, t[0], given.Scalar(), given.Written({given.Pairs(t[0])}, t[0])),
    MATRICES(WeightQuantBatchMatmulV2, 4, kOperand0, t[0], t[1], t[2], nullptr, nullptr, nullptr, nullptr, static_cast<int>(a.reduction), t[3]),
    STATE(GroupedMatmul, 2, kOperand0, given.List({t[0], t[0]}), given.SquareWeights(t[0]), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0, given.List({t[1], given.Second(t[1])})),
    STATE(GroupedMatmulV2, 2, kOperand0, given.List({t[0]}), given.Weights(t[0]), nullptr, nullptr, nullptr, nullptr, nullptr, given.Array({1, given.FirstLength(t[0])}), 3, 0, given.List({t[1]})),
    STATE(GroupedMatmulV3, 2, kOperand0, given.List({t[0]}), given.SquareWeights(t[0]), nullptr, nullptr, nullptr, nullptr, nullptr, given.Indices({2}), 3, 0, given.List({t[1]})),
    STATE(GroupedMatmulV4, 2, kOperand0, given.List({t[0]}), given.Weights(t[0]), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, given.Indices({2}), nullptr, nullptr, nullptr, 3, 0, a.reduction & 1, 0, given.List({t[1]}), nullptr, nullptr),
    STATE(GroupedMatmulV5, 2, kOperand0, given.List({t[0]}), given.Weights(t[0]), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, given.Indices({2}), nullptr, nullptr, nullptr, 3, 0, a.reduction & 1, 0, nullptr, given.List({t[1]}), nullptr, nullptr),
    STATE(GroupedMatmulWeightNz, 2, kOperand0, given.List({t[0]}), given.Weights(t[0]), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, given.Indices({2}), nullptr, nullptr, nullptr, 3, 0, 1, 0, nullptr, 0, given.List({t[1]}), nullptr, nullptr),
    MATRICES(WeightQuantBatchMatmulV3, 4, kOperand0, t[0], t[1], t[2], nullptr, nullptr, nullptr, nullptr, static_cast<int>(a.reduction), a.log_target ? 1 : 0, t[3]),
    MATRICES(WeightQuantBatchMatmulNz, 4, kOperand0, t[0], t[1], t[2], nullptr, nullptr, nullptr, nullptr, static_cast<int>(a.reduction), t[3]),
    STATE(QuantMatmulReduceSumWeightNz, 1, kAny, (static_cast<void>(t), given.Read({2, 3, 8}, ACL_INT8)), given.Fractal({2, 8, 6}), given.Read({2, 3}, ACL_FLOAT),
          given.Read({6}, ACL_BF16), nullptr, nullptr, nullptr, nullptr, nullptr, false, false, 0, given.Array({0}), false, given.Written({3, 6}, ACL_BF16)),
    MOVES(NpuFormatCast, 2, kOperand0, t[0], given.Fractal({4, 4})),
    STATE(TransposeQuantBatchMatMul, 1, kAny, (static_cast<void>(t), given.Read({3, 2, 40}, ACL_HIFLOAT8)), given.Read({2, 40, 6}, ACL_HIFLOAT8), nullptr, nullptr,
          given.Read({6}, ACL_UINT64), ACL_BF16, 0, given.Array({1, 0, 2}), given.Array({0, 1, 2}), given.Array({1, 0, 2}), 1, given.Written({3, 2, 6}, ACL_BF16)),
    STATE(TransposeQuantBatchMatMulWeightNz, 1, kAny, (static_cast<void>(t), given.Read({3, 2, 40}, ACL_FLOAT8_E4M3FN)), given.Read({2, 40, 6}, ACL_FLOAT8_E4M3FN), nullptr,
          given.Read({3, 2, 1, 2}, ACL_FLOAT8_E8M0), given.Read({2, 1, 6, 2}, ACL_FLOAT8_E8M0), ACL_BF16, 0, given.Array({1, 0, 2}), given.Array({0, 1, 2}),
          given.Array({1, 0, 2}), 1, given.Written({3, 2, 6}, ACL_BF16)),
    STATE(QuantBatchMatmulInplaceAdd, 1, kAny, (static_cast<void>(t), given.Read({40, 3}, ACL_FLOAT8_E5M2)), given.Read({40, 6}, ACL_FLOAT8_E5M2),
          given.Read({1, 3, 2}, ACL_FLOAT8_E8M0), given.Read({1, 6, 2}, ACL_FLOAT8_E8M0), given.Written({3, 6}, ACL_FLOAT), true, false, 0),
    STATE(QuantGroupedMatmulInplaceAdd, 1, kAny, (static_cast<void>(t), given.Read({1, 40}, ACL_HIFLOAT8)), given.Read({40, 6}, ACL_HIFLOAT8), given.Read({2}, ACL_FLOAT),
          given.Read({2, 6}, ACL_FLOAT), given.Indices({2}), given.Written({2, 1, 6}, ACL_FLOAT), a.reduction & 1, 0),
    STATE(DualLevelQuantMatmulWeightNz, 1, kAny, (static_cast<void>(t), given.Read({3, 64}, ACL_FLOAT4_E2M1)), given.Read({6, 64}, ACL_FLOAT4_E2M1),
          given.Read({3, 1}, ACL_FLOAT), given.Read({1, 6}, ACL_FLOAT), given.Read({3, 1, 2}, ACL_FLOAT8_E8M0), given.Read({6, 1, 2}, ACL_FLOAT8_E8M0), nullptr, false, true,
          512, 32, given.Written({3, 6}, ACL_BF16)),
    STATE(FusedQuantMatmul, 1, kAny, (static_cast<void>(t), given.Read({3, 8}, ACL_INT8)), given.Read({8, 6}, ACL_INT8), given.Read({3}, ACL_FLOAT), given.Read({6}, ACL_FLOAT),
          nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, a.log_target ? "gelu_erf" : "gelu_tanh", 0, given.Written({3, 6}, ACL_BF16)),
    STATE(FusedQuantMatmulWeightNz, 1, kAny, (static_cast<void>(t), given.Read({3, 8}, ACL_INT8)), given.Fractal({8, 6}), given.Read({3}, ACL_FLOAT), given.Read({6}, ACL_FLOAT),
          nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, a.log_target ? "gelu_erf" : "gelu_tanh", 0, given.Written({3, 6}, ACL_BF16)),
    STATE(ConvertWeightToINT4Pack, 1, kAny, (static_cast<void>(t), given.Read({3, 16}, ACL_INT32)), given.Written({3, 2}, ACL_INT32)),
    STATE(QuantConvolution, 1, kAny, (static_cast<void>(t), given.Read({1, 2, 3, 3, 3}, ACL_INT8)), given.Read({4, 2, 2, 2, 2}, ACL_INT8), nullptr, given.Read({4}, ACL_FLOAT), nullptr,
          given.Array({1, 1, 1}), given.Array({0, 0, 0}), given.Array({1, 1, 1}), false, nullptr, 1, 0, nullptr, given.Written({1, 4, 2, 2, 2}, ACL_BF16)),
    STATE(DeformableConv2d, 1, kAny, (static_cast<void>(t), given.Numbers({2, 4, 3, 5})), given.Numbers({4, 2, 2, 3}), given.Numbers({2, 36, 3, 3}), given.Numbers({4}),
          given.Array({2, 3}), given.Array({1, 1, 1, 1}), given.Array({1, 0, 0, 0}), given.Array({1, 1, 1, 1}), 2, 2, true, given.Written({2, 4, 3, 3}),
          a.log_target ? given.Written({2, 4, 6, 9}) : nullptr),
    STATE(DeformableConv2dBackward, 1, kAny, (static_cast<void>(t), given.Numbers({2, 4, 3, 5})), given.Numbers({2, 4, 3, 3}), given.Numbers({2, 4, 6, 9}), given.Numbers({4, 2, 2, 3}),
          given.Numbers({2, 36, 3, 3}), given.Array({2, 3}), given.Array({1, 1, 1, 1}), given.Array({1, 0, 0, 0}), given.Array({1, 1, 1, 1}), 2, 2, true,
          given.Written({2, 4, 3, 5}), given.Written({4, 2, 2, 3}), given.Written({2, 36, 3, 3}), given.Written({4})),
    STATE(QuantMatmulDequant, 1, kAny, (static_cast<void>(t), given.Read({3, 16}, ACL_FLOAT16)), given.Read({16, 16}, ACL_INT8), given.Read({16}, ACL_FLOAT), nullptr, nullptr,
          nullptr, nullptr, nullptr, true, given.Written({3, 16}, ACL_FLOAT16)),
    MATRICES(QuantMatmulV3, 4, kAny, t[0], t[1], t[2], nullptr, nullptr, a.log_target, a.reduction == 1, t[3]),
    MATRICES(QuantMatmulV4, 5, kAny, t[0], t[1], t[2], nullptr, a.reduction == 2 ? t[3] : nullptr, nullptr, a.log_target, a.reduction == 1, t[4]),
    MATRICES(QuantMatmulV5, 5, kAny, t[0], t[1], a.reduction == 2 ? t[3] : nullptr, t[2], nullptr, nullptr, nullptr, nullptr, nullptr, a.log_target, a.reduction == 1, 0, t[4]),
    MATRICES(QuantMatmulWeightNz, 5, kAny, t[0], t[1], a.reduction == 2 ? t[3] : nullptr, t[2], nullptr, nullptr, nullptr, nullptr, nullptr, a.log_target, a.reduction == 1, 0, t[4]),
    MOVES(TransQuantParamV3, 3, kOperand0, t[0], a.log_target ? t[1] : nullptr, a.reduction & 1, t[2]),
    MOVES(TransQuantParamV2, 3, kOperand0, t[0], a.log_target ? t[1] : nullptr, t[2]),
    MOVES(Ger, 3, kAny, t[0], t[1], t[2]),
    MOVES(LinalgCross, 3, kBroadcast, t[0], t[1], given.Dim(t[0]), t[2]),
    MOVES(TriangularSolve, 3, kOperand0, t[0], t[1], a.log_target, a.reduction == 1, a.reduction == 2, t[2],
          a.log_target ? given.Written(Given::ShapeOf(t[1]), t[1]) : nullptr),
    MOVES(Inverse, 2, kOperand0, t[0], t[1]),
    MOVES(LinalgQr, 2, kOperand0, t[0], a.reduction, given.Orthogonal(t[0]), t[1]),
    MOVES(LinalgCholesky, 2, kOperand0, t[0], a.log_target, t[1]),
    STATE(Slogdet, 1, kAny, t[0], given.Written({}, t[0]), given.Written({}, t[0])),
    STATE(Svd, 1, kAny, t[0], false, false, given.Written({std::min(given.FirstLength(t[0]), given.LastLength(t[0]))}, t[0]),
          given.Written({0}, t[0]), given.Written({0}, t[0])),
    MOVES(LSTM, 1, kAny, (static_cast<void>(t), given.Numbers({3, 2, 4})), given.List({given.Numbers({8, 4}), given.Numbers({8, 2})}), nullptr,
          a.log_target ? given.Indices({3}) : nullptr, false, a.reduction, 0.0, a.reduction == 1, false, a.reduction == 2,
          given.Written({3, 2, 2}), given.Written({1, 2, 2}), given.Written({1, 2, 2}),
          given.List({given.Written({3, 2, 2})}), given.List({given.Written({3, 2, 2})}),
          given.List({given.Written({3, 2, 2})}), given.List({given.Written({3, 2, 2})}),
          given.List({given.Written({3, 2, 2})}), given.List({given.Written({3, 2, 2})}),
          given.List({given.Written({3, 2, 2})})),
    MOVES(LstmBackward, 1, kAny, (static_cast<void>(t), given.Numbers({3, 2, 4})), given.List({given.Numbers({1, 2, 2}), given.Numbers({1, 2, 2})}),
          given.List({given.Numbers({8, 4}), given.Numbers({8, 2})}), given.Numbers({3, 2, 2}),
          a.log_target ? given.Numbers({1, 2, 2}) : nullptr, nullptr, given.List({given.Numbers({3, 2, 2})}),
          given.List({given.Numbers({3, 2, 2})}), given.List({given.Numbers({3, 2, 2})}),
          given.List({given.Numbers({3, 2, 2})}), given.List({given.Numbers({3, 2, 2})}),
          given.List({given.Numbers({3, 2, 2})}), given.List({given.Numbers({3, 2, 2})}), nullptr, false, a.reduction, 0.0,
          true, false, false, nullptr, given.Written({3, 2, 4}), given.Written({1, 2, 2}), given.Written({1, 2, 2}),
          given.List({given.Written({8, 4}), given.Written({8, 2})})),
    MOVES(GRU, 1, kAny, (static_cast<void>(t), given.Numbers({3, 2, 4})), given.List({given.Numbers({6, 4}), given.Numbers({6, 2})}),
          a.reduction == 0 ? nullptr : given.Numbers({1, 2, 2}), a.log_target ? given.Indices({3}) : nullptr, false, a.reduction, 0.0,
          a.reduction == 1, false, a.reduction == 2, given.Written({3, 2, 2}), given.Written({1, 2, 2}),
          given.List({given.Written({3, 2, 2})}), given.List({given.Written({3, 2, 2})}),
          given.List({given.Written({3, 2, 2})}), given.List({given.Written({3, 2, 2})}),
          given.List({given.Written({3, 2, 2})})),
    MOVES(GRUBackward, 1, kAny, (static_cast<void>(t), given.Numbers({3, 2, 4})),
          given.List({given.Numbers({6, 4}), given.Numbers({6, 2})}), given.Numbers({1, 2, 2}), given.Numbers({3, 2, 2}),
          given.Numbers({1, 2, 2}), given.List({given.Numbers({3, 2, 2})}), given.List({given.Numbers({3, 2, 2})}),
          given.List({given.Numbers({3, 2, 2})}), given.List({given.Numbers({3, 2, 2})}),
          given.List({given.Numbers({3, 2, 2})}), a.log_target ? given.Indices({3}) : nullptr, false, a.reduction, false, false,
          given.Written({3, 2, 4}), given.Written({1, 2, 2}), given.List({given.Written({6, 4}), given.Written({6, 2})})),
    MOVES(Convolution, 3, kOperand0, given.Image(t[0]), given.Image(t[1]), nullptr, given.ForAxes(t[0], 1), given.ForAxes(t[0], a.reduction & 1),
          given.ForAxes(t[0], 1), a.log_target, given.ForAxes(t[0], 0), 1, given.Image(t[2]), static_cast<int8_t>(a.reduction)),
    MOVES(ConvolutionBackward, 3, kOperand0, given.Image(t[0]), given.Image(t[2]), given.Image(t[1]), nullptr, given.ForAxes(t[0], 1),
          given.ForAxes(t[0], a.reduction & 1), given.ForAxes(t[0], 1), a.log_target, given.ForAxes(t[0], 0), 1, given.Flags(true, false),
          static_cast<int8_t>(a.reduction), given.Image(t[2]), nullptr, nullptr),
    MOVES(ConvDepthwise2d, 3, kOperand0, given.Image(t[0]), given.Image(t[1]), given.ForAxes(t[0], 1), nullptr, given.ForAxes(t[0], 1),
          given.ForAxes(t[0], a.reduction & 1), given.ForAxes(t[0], 1), given.Image(t[2]), static_cast<int8_t>(a.reduction)),
    MOVES(ConvTbc, 3, kOperand0, t[0], t[1], given.Numbers({given.LastLength(t[1])}), a.reduction & 1, t[2], static_cast<int8_t>(a.reduction)),
    MOVES(ConvTbcBackward, 3, kOperand0, t[0], t[2], t[1], given.Numbers({given.LastLength(t[1])}), a.reduction & 1,
          static_cast<int8_t>(a.reduction), given.Second(t[2]), given.Second(t[1]), given.Written({given.LastLength(t[1])})),
    MOVES(Diag, 2, kAny, t[0], a.reduction, t[1]),
    MOVES(DiagFlat, 2, kAny, t[0], a.reduction, t[1]),
    MOVES(IndexSelect, 2, kOperand0, t[0], given.Dim(t[0]), given.Indices({given.Length(t[1])}), t[1]),
    MOVES(Gather, 2, kOperand0, t[0], given.Dim(t[0]), given.IndicesLike(t[1]), t[1]),
    MOVES(GatherV2, 2, kOperand0, t[0], given.Dim(t[0]), given.Indices({given.Length(t[1])}), t[1]),
    MOVES(GatherV3, 2, kOperand0, t[0], given.Dim(t[0]), given.Indices({given.Length(t[1])}), 0, 1, t[1]),
    MOVES(Take, 2, kAny, t[0], given.IndicesLike(t[1]), t[1]),
    MOVES(Embedding, 2, kOperand0, t[0], given.IndicesOfRows(t[1]), t[1]),
    MOVES(Index, 2, kOperand0, t[0], given.IndexList(t[1]), t[1]),
    MOVES(IndexPutImpl, 2, kOperand0, t[1], given.IndexList(t[0]), t[0], a.log_target, a.log_target),
    MOVES(Scatter, 3, kOperand0, t[0], given.Dim(t[0]), given.IndicesLike(t[1]), t[1], a.reduction, t[2]),
    MOVES(InplaceScatter, 2, kOperand0, t[1], given.Dim(t[1]), given.IndicesLike(t[0]), t[0], a.reduction),
    MOVES(ScatterValue, 2, kOperand0, t[0], given.Dim(t[0]), given.IndicesLike(t[0]), given.Scalar(), a.reduction, t[1]),
    MOVES(InplaceScatterValue, 1, kAny, t[0], given.Dim(t[0]), given.IndicesLike(t[0]), given.Scalar(), a.reduction),
    MOVES(ScatterAdd, 3, kOperand0, t[0], given.Dim(t[0]), given.IndicesLike(t[1]), t[1], t[2]),
    STATE(EmbeddingBag, 1, kAny, t[0], given.Made64({3}), given.Made64({2}), false, a.reduction, false, nullptr, a.log_target, -1,
          given.Written({a.log_target ? 1 : 2, given.LastLength(t[0])}, t[0]), given.Written({3}, ACL_INT64),
          given.Written({a.log_target ? 1 : 2}, ACL_INT64), given.Written({a.log_target ? 1 : 2}, ACL_INT32)),
    MOVES(EmbeddingDenseBackward, 2, kOperand0, t[0], given.IndicesOfRows(t[0]), static_cast<uint64_t>(given.FirstLength(t[1])),
          static_cast<uint64_t>(a.reduction), a.log_target, t[1]),
    MOVES(IndexAdd, 3, kOperand0, t[0], given.Dim(t[0]), given.Indices({given.Length(t[1])}), t[1], given.Scalar(), t[2]),
    MOVES(IndexAddV2, 3, kOperand0, t[0], given.Dim(t[0]), given.Indices({given.Length(t[1])}), t[1], given.Scalar(), 1, t[2]),
    MOVES(IndexCopy, 3, kOperand0, t[0], given.Dim(t[0]), given.Indices({given.Length(t[1])}), t[1], t[2]),
    MOVES(InplaceIndexCopy, 2, kOperand0, t[1], given.Dim(t[1]), given.Indices({given.Length(t[0])}), t[0]),
    MOVES(IndexFill, 2, kOperand0, t[0], given.Dim(t[0]), given.Indices({3}), given.Scalar(), t[1]),
    MOVES(InplaceIndexFill, 1, kAny, t[0], given.Dim(t[0]), given.Indices({2, 3}), given.Scalar()),
    MOVES(IndexFillTensor, 2, kOperand0, t[0], given.Dim(t[0]), given.Array({0, -1}), given.Scalar(), t[1]),
    MOVES(InplaceIndexFillTensor, 1, kAny, t[0], given.Dim(t[0]), given.Array({-1}), given.Scalar()),
    MOVES(ScatterReduce, 3, kOperand0, t[0], given.Dim(t[0]), given.IndicesLike(t[1]), t[1], a.reduction, a.log_target, t[2]),
    MOVES(InplaceScatterReduce, 2, kOperand0, t[1], given.Dim(t[1]), given.IndicesLike(t[0]), t[0], a.reduction, a.log_target),
    MOVES(ScatterNd, 3, kOperand0, t[0], given.Indices({given.FirstLength(t[1]), 1}), t[1], t[2]),
    MOVES(RepeatInterleaveGrad, 2, kAny, t[0], given.Indices({given.FirstLength(t[1])}), 0, t[1]),
    MOVES(StridedSliceAssignV2, 2, kOperand0, t[1], t[0], given.ForDims(t[0], 0, 0), given.Shape(t[0]), given.ForDims(t[0], 1, 0), nullptr),
    MOVES(GatherNd, 2, kOperand0, t[0], given.Indices({given.FirstLength(t[1]), 1}), a.log_target, t[1]),
    MOVES(TfScatterAdd, 2, kOperand0, t[1], given.Indices({given.FirstLength(t[0])}), t[0]),
    MOVES(ScatterMax, 2, kOperand0, t[1], given.Indices({given.FirstLength(t[0])}), t[0], a.log_target),
    MOVES(ScatterMin, 2, kOperand0, t[1], given.Indices({given.FirstLength(t[0])}), t[0], a.log_target),
    MOVES(ScatterMul, 2, kOperand0, t[1], given.Indices({given.FirstLength(t[0])}), t[0], a.log_target),
    MOVES(ScatterDiv, 2, kOperand0, t[1], given.Indices({given.FirstLength(t[0])}), t[0], a.log_target),
    MOVES(ScatterNdUpdate, 2, kOperand0, t[1], given.Indices({given.FirstLength(t[0]), 1}), t[0]),
    MOVES(InplaceScatterUpdate, 2, kOperand0, t[1], given.Indices({given.FirstLength(t[0])}), t[0], a.reduction == 0 ? -1 : given.Dim(t[0])),
    STATE(ScatterList, 2, kAny, given.List({t[1], given.Second(t[1])}), given.Indices({2}), t[0], nullptr, nullptr, a.reduction == 0 ? -1 : given.Dim(t[0])),
    MOVES(InplacePut, 2, kAny, t[1], given.IndicesLike(t[0]), t[0], a.log_target),
    MOVES(InplaceMaskedScatter, 3, kBroadcast, t[2], t[0], t[1]),
    MOVES(OneHot, 2, kAny, given.IndicesOfRows(t[1]), static_cast<int>(given.LastLength(t[1])), t[0], t[0], -1, t[1]),
    MOVES(Unique, 2, kAny, t[0], a.log_target, false, Given::Result(t[1]), given.Indices({0})),
    MOVES(Unique2, 2, kAny, t[0], true, false, false, Given::Result(t[1]), given.Indices({0}), given.Indices({0})),
    MOVES(UniqueDim, 2, kAny, t[0], true, false, given.Dim(t[0]), Given::Result(t[1]), given.Indices({0}), given.Indices({0})),
    MOVES(UniqueConsecutive, 2, kAny, t[0], false, false, a.reduction == 2 ? 1000 : given.Dim(t[0]), Given::Result(t[1]),
          given.Indices({0}), given.Indices({0})),
    MOVES(Nonzero, 2, kAny, t[0], Given::Result(t[1])),
    MOVES(NonzeroV2, 2, kAny, t[0], Given::Result(t[1])),
    MOVES(MaskedSelect, 3, kBroadcast, t[0], t[1], Given::Result(t[2])),
    MOVES(LogSigmoidForward, 2, kOperand0, t[0], t[1], given.Second(t[1])),
    MOVES(Glu, 2, kOperand0, t[0], given.Dim(t[0]), given.Half(t[1])),
    MOVES(GluBackward, 2, kOperand0, given.Half(t[0]), t[0], given.Dim(t[0]), t[1]),
    MOVES(SwiGlu, 2, kOperand0, t[0], given.Dim(t[0]), given.Half(t[1])),
    MOVES(SwiGluGrad, 2, kOperand0, given.Half(t[0]), t[0], given.Dim(t[0]), t[1]),
    MOVES(GeGlu, 2, kOperand0, t[0], given.Dim(t[0]), a.log_target, given.Half(t[1]), given.SecondHalf(t[1])),
    MOVES(GeGluV3, 2, kOperand0, t[0], given.Dim(t[0]), a.log_target, a.reduction % 2 == 0, given.Half(t[1]),
          given.SecondHalf(t[1])),
    MOVES(GeGluBackward, 2, kOperand0, given.Half(t[0]), t[0], given.Half(t[0]), given.Dim(t[0]), a.log_target, t[1]),
    MOVES(GeGluV3Backward, 2, kOperand0, given.Half(t[0]), t[0], given.Half(t[0]), given.Dim(t[0]), a.log_target,
          a.reduction % 2 == 0, t[1]),
    MOVES(PreluBackward, 4, kOperand1, t[0], t[1], t[2], t[3], given.Second(t[2])),
    MOVES(Sort, 2, kOperand0, t[0], true, given.Dim(t[0]), a.log_target, t[1], given.PositionsFor(t[1])),
    MOVES(Argsort, 2, kOperand0, t[0], given.Dim(t[0]), a.log_target, t[1]),
    MOVES(Topk, 2, kAny, t[0], given.Length(t[1]), given.Dim(t[0]), a.log_target, true, t[1], given.PositionsFor(t[1])),
    MOVES(TopkV2, 2, kAny, t[0], given.Length(t[1]), given.Dim(t[0]), a.log_target, true, true, t[1], given.PositionsFor(t[1])),
    MOVES(Median, 2, kAny, t[0], t[1]),
    MOVES(NanMedian, 2, kAny, t[0], t[1]),
    MOVES(MedianDim, 2, kAny, t[0], given.Dim(t[0]), a.log_target, t[1], given.PositionsFor(t[1])),
    MOVES(NanMedianDim, 2, kAny, t[0], given.Dim(t[0]), a.log_target, t[1], given.PositionsFor(t[1])),
    MOVES(Kthvalue, 2, kAny, t[0], given.Length(t[0]) - given.Length(t[0]) / 2, given.Dim(t[0]), a.log_target, t[1], given.PositionsFor(t[1])),
    MOVES(SearchSorted, 3, kOperand1, t[0], t[1], a.reduction == 1, a.log_target, nullptr, t[2]),
    MOVES(Bucketize, 3, kOperand0, t[0], t[1], a.reduction == 1, a.log_target, t[2]),
    MOVES(IsInTensorScalar, 2, kOperand0, t[0], given.Scalar(), false, a.reduction == 1, t[1]),
    MOVES(IsInScalarTensor, 2, kAny, given.Scalar(), t[0], false, a.reduction == 1, t[1]),
    MOVES(LogSpace, 1, kAny, given.Scalar(), given.Scalar(), given.FirstLength(t[0]), a.wide_beta, t[0]),
    MOVES(SearchSorteds, 2, kAny, t[0], given.Scalar(), a.reduction == 1, a.log_target, nullptr, Given::Result(t[1])),
    MOVES(Bincount, 3, kAny, t[0], a.log_target ? t[1] : nullptr, a.reduction, t[2]),
    MOVES(Histc, 2, kAny, t[0], given.FirstLength(t[1]), given.Scalar(), given.Scalar(), t[1]),
    MOVES(ReduceSum, 2, kReducedFirstAxis, t[0], given.Array({0}), a.log_target, DtypeOf(t[1]), t[1]),
    MOVES(ReduceNansum, 2, kReducedFirstAxis, t[0], given.Array({0}), a.log_target, DtypeOf(t[1]), t[1]),
    MOVES(ReduceLogSum, 2, kReducedFirstAxis, t[0], given.Array({0}), a.log_target, false, t[1]),
    MOVES(Mean, 2, kReducedFirstAxis, t[0], given.Array({0}), a.log_target, DtypeOf(t[1]), t[1]),
    MOVES(MeanV2, 2, kOne, t[0], given.Array({}), a.log_target, false, t[1]),
    MOVES(Trace, 2, kOne, t[0], t[1]),
    MOVES(LogSumExp, 2, kReducedFirstAxis, t[0], given.Array({0}), a.log_target, t[1]),
    MOVES(Max, 2, kOne, t[0], t[1]),
    MOVES(Min, 2, kOne, t[0], t[1]),
    MOVES(Amax, 2, kReducedFirstAxis, t[0], given.Array({0}), a.log_target, t[1]),
    MOVES(Amin, 2, kOne, t[0], given.Array({}), a.log_target, t[1]),
    MOVES(MaxV2, 2, kReducedFirstAxis, t[0], given.Array({0}), a.log_target, false, t[1]),
    MOVES(Aminmax, 2, kReducedFirstAxis, t[0], given.Array({0}), a.log_target, t[1], t[1]),
    MOVES(AminmaxAll, 2, kOne, t[0], t[1], t[1]),
    MOVES(AminmaxDim, 2, kReducedFirstAxis, t[0], 0, a.log_target, t[1], t[1]),
    MOVES(MaxDim, 2, kReducedFirstAxis, t[0], 0, a.log_target, t[1], given.PositionsFor(t[1])),
    MOVES(MinDim, 2, kReducedFirstAxis, t[0], 0, a.log_target, t[1], given.PositionsFor(t[1])),
    MOVES(ArgMax, 2, kReducedFirstAxis, t[0], 0, a.log_target, t[1]),
    MOVES(ArgMin, 2, kReducedFirstAxis, t[0], 0, a.log_target, t[1]),
    MOVES(Any, 2, kReducedFirstAxis, t[0], given.Array({0}), a.log_target, t[1]),
    MOVES(All, 2, kOne, t[0], given.Array({}), a.log_target, t[1]),
    MOVES(Prod, 2, kOne, t[0], DtypeOf(t[1]), t[1]),
    MOVES(ProdDim, 2, kReducedFirstAxis, t[0], 0, a.log_target, DtypeOf(t[1]), t[1]),
    MOVES(LinalgVectorNorm, 2, kReducedFirstAxis, t[0], given.Scalar(), given.Array({0}), a.log_target, DtypeOf(t[1]), t[1]),
    MOVES(Norm, 2, kOne, t[0], given.Scalar(), given.Array({}), a.log_target, t[1]),
    MOVES(Var, 2, kReducedFirstAxis, t[0], given.Array({0}), a.log_target, false, t[1]),
    MOVES(VarCorrection, 2, kOne, t[0], nullptr, a.reduction, false, t[1]),
    MOVES(Std, 2, kReducedFirstAxis, t[0], given.Array({0}), a.reduction, a.log_target, t[1]),
    MOVES(StdMeanCorrection, 2, kReducedFirstAxis, t[0], given.Array({0}), a.reduction, a.log_target, t[1], t[1]),
    MOVES(VarMean, 2, kOne, t[0], nullptr, a.reduction, a.log_target, t[1], t[1]),
    MOVES(Cumsum, 2, kOperand0, t[0], given.Dim(t[0]), DtypeOf(t[1]), t[1]),
    MOVES(CumsumV2, 2, kOperand0, t[0], given.Dim(t[0]), a.log_target, a.reduction != 0, t[1]),
    MOVES(Cumprod, 2, kOperand0, t[0], given.Scalar(), DtypeOf(t[1]), t[1]),
    MOVES(InplaceCumprod, 1, kAny, t[0], given.Scalar()),
    MOVES(Cummax, 2, kOperand0, t[0], given.Dim(t[0]), t[1], given.PositionsFor(t[1])),
    MOVES(Cummin, 2, kOperand0, t[0], given.Dim(t[0]), t[1], given.PositionsFor(t[1])),
    MOVES(Renorm, 2, kOperand0, t[0], given.Scalar(), given.Dim(t[0]), given.Scalar(), t[1]),
    MOVES(InplaceRenorm, 1, kAny, t[0], given.Scalar(), 0, given.Scalar()),
    MOVES(Softmax, 2, kOperand0, t[0], given.Dim(t[0]), t[1]),
    MOVES(LogSoftmax, 2, kOperand0, t[0], given.Dim(t[0]), t[1]),
    MOVES(SoftmaxBackward, 3, kOperand0, t[0], t[1], given.Dim(t[0]), t[2]),
    MOVES(LogSoftmaxBackward, 3, kOperand0, t[0], t[1], given.Dim(t[0]), t[2]),
    MOVES(LayerNorm, 4, kOperand0, t[0], given.Shape(t[1]), t[1], t[2], a.wide_beta, t[3], nullptr, nullptr),
    MOVES(LayerNormWithImplMode, 4, kOperand0, t[0], given.Shape(t[1]), t[1], t[2], a.wide_beta, t[3], nullptr, nullptr, static_cast<int32_t>(a.reduction)),
    MOVES(LayerNormBackward, 4, kOperand0, t[0], t[1], given.Shape(t[2]), given.Numbers(given.Leading(t[0], t[2])),
          given.Numbers(given.Leading(t[0], t[2])), t[2], nullptr, given.Flags(true, a.log_target), t[3],
          given.Written(Given::ShapeOf(t[2])), given.Written(Given::ShapeOf(t[2]))),
    MOVES(RotaryPositionEmbedding, 4, kOperand0, t[0], t[1], t[2], a.reduction, t[3]),
    MOVES(RotaryPositionEmbeddingGrad, 4, kOperand0, t[0], t[1], t[2], t[0], a.reduction, t[3], given.Second(t[1]), given.Second(t[2])),
    MOVES(RotaryPositionEmbeddingV2, 4, kOperand0, t[0], t[1], t[2], a.reduction, nullptr, t[3]),
    MOVES(ApplyRotaryPosEmb, 3, kAny, t[2], given.Second(t[2]), t[0], t[1], a.reduction),
    MOVES(ApplyRotaryPosEmbV2, 3, kAny, t[2], given.Second(t[2]), t[0], t[1], a.reduction, nullptr),
    MOVES(InterleaveRope, 4, kOperand0, t[0], t[1], t[2], t[3]),
    MOVES(RopeWithSinCosCache, 3, kOperand0, given.Indices({given.FirstLength(t[0])}), t[0], t[0], t[1], nullptr, given.LastLength(t[0]), a.log_target, t[2],
          given.Second(t[2])),
    MOVES(RopeWithSinCosCacheV2, 3, kOperand0, given.Indices({given.FirstLength(t[0])}), t[0], t[0], t[1], nullptr, given.LastLength(t[0]), a.log_target,
          a.reduction, t[2], given.Second(t[2])),
    MOVES(ScatterPaKvCache, 3, kAny, t[0], t[2], given.Indices({given.FirstLength(t[0])}), a.log_target ? t[1] : nullptr, given.Second(t[2]), nullptr, nullptr,
          nullptr, nullptr, nullptr, nullptr, nullptr),
    MOVES(ScatterPaCache, 2, kAny, t[0], t[1], given.Indices({given.FirstLength(t[0])}), nullptr, nullptr, nullptr, nullptr),
    MOVES(GatherPaKvCache, 2, kAny, t[0], t[0], given.Indices({2, 3}), given.Indices({2}), t[1], given.Second(t[1]), a.reduction == 0 ? given.Indices({2}) : nullptr,
          nullptr, false),
    STATE(KvRmsNormRopeCache, 2, kAny, t[0], given.Numbers({3}, t[0]), given.Numbers({given.FirstLength(t[0]), 1, 1, 4}, t[0]),
          given.Numbers({given.FirstLength(t[0]), 1, 1, 4}, t[0]), given.Made64({given.FirstLength(t[0]), 2}), t[1], given.Second(t[1]), nullptr, nullptr, nullptr,
          nullptr, a.wide_beta, nullptr, a.log_target, given.Written({given.FirstLength(t[0]), 1, 2, 4}, t[0]), given.Written({given.FirstLength(t[0]), 1, 2, 3}, t[0])),
    STATE(KvRmsNormRopeCacheV2, 3, kAny, t[0], given.Numbers({given.LastLength(t[0])}, t[0]), given.Numbers({given.FirstLength(t[0]), 1, 1, 2}, t[0]),
          given.Numbers({given.FirstLength(t[0]), 1, 1, 2}, t[0]), given.Made64({given.FirstLength(t[0]), 2}), t[2], given.Second(t[2]), nullptr, nullptr, nullptr,
          nullptr, t[1], a.wide_beta, nullptr, false, given.Written({1}, t[0]), given.Written({1}, t[0])),
    STATE(QkvRmsNormRopeCache, 2, kAny, t[0], given.Numbers({16}, t[0]), given.Numbers({16}, t[0]), given.Numbers({2, 16}, t[0]), given.Numbers({2, 16}, t[0]),
          given.Made64({2}), t[1], given.Written({2, 1, 3, 16}, t[0]), given.Written({2, 1, 3, 16}, t[0]), nullptr, nullptr, nullptr, nullptr, given.Array({1, 2, 3, 16}),
          given.Array({1, 1, 1}), a.wide_beta, nullptr, nullptr, nullptr, nullptr),
    STATE(DequantRopeQuantKvcache, 2, kAny, t[0], given.Numbers({given.FirstLength(t[0]), 16}, t[1]), given.Numbers({given.FirstLength(t[0]), 16}, t[1]),
          given.Written({given.FirstLength(t[0]), 2, 1, 16}, ACL_INT8), given.Written({given.FirstLength(t[0]), 2, 1, 16}, ACL_INT8),
          given.Made32({given.FirstLength(t[0])}), given.Numbers({16}), given.Numbers({16}), nullptr, nullptr, given.Numbers({given.LastLength(t[0])}), nullptr, nullptr,
          given.Array({32, 16, 16}), nullptr, nullptr, false, nullptr, t[1], given.Written({0}, t[1]), given.Written({0}, t[1])),
    MOVES(InplaceQuantScatter, 2, kAny, t[1], given.Indices({given.FirstLength(t[0])}), t[0], given.Numbers({1}, a.reduction == 0 ? nullptr : t[0]), nullptr, -2, -1, 1),
    MOVES(InplaceQuantScatterV2, 2, kAny, t[1], given.Indices({given.FirstLength(t[0]), 2}), t[0], given.Numbers({1}, a.reduction == 0 ? nullptr : t[0]), nullptr, 1, -1,
          1, nullptr),
    STATE(TopKTopPSample, 2, kOperand0, t[0], given.Made32({given.FirstLength(t[0])}), given.Numbers({given.FirstLength(t[0])}, t[0]), nullptr, a.wide_beta, true, 0,
          given.Written({given.FirstLength(t[0])}, ACL_INT64), t[1]),
    STATE(TopKTopPSampleV2, 2, kOperand0, t[0], given.Made32({given.FirstLength(t[0])}), given.Numbers({given.FirstLength(t[0])}, t[0]), nullptr,
          a.log_target ? given.Numbers({given.FirstLength(t[0])}, t[0]) : nullptr, a.wide_beta, false, 0, 8, a.reduction != 0, true,
          given.Written({given.FirstLength(t[0])}, ACL_INT64), given.Written({1}), given.Written(Given::ShapeOf(t[0]), ACL_INT64), t[1]),
    STATE(AdvanceStep, 1, kAny, t[0], given.Made64({2, 1}), given.Second(t[0]), given.Second(t[0]), given.Second(t[0]), given.Made64({3, 2}), 3, 2, 4),
    STATE(AdvanceStepV2, 1, kAny, t[0], given.Made64({2, 2}), given.Second(t[0]), given.Second(t[0]), given.Second(t[0]), given.Made64({2, 2}), given.Made64({2, 1}),
          given.Made64({2}), 2, 2, 4),
    STATE(RecurrentGatedDeltaRule, 3, kOperand1, t[0], t[0], t[1], nullptr, given.Written({2, given.Heads(t[1]), given.LastLength(t[1]), given.LastLength(t[0])}, t[0]),
          given.Indices({2}), given.Indices({given.FirstLength(t[0])}), nullptr, nullptr, nullptr, 0.5f, t[2]),
    MOVES(ChunkGatedDeltaRule, 3, kOperand1, t[0], t[0], t[1], nullptr, given.Numbers({1, 1, given.LastLength(t[1]), given.LastLength(t[0])}, t[0]), given.Indices({1}),
          0.5f, nullptr, t[2], given.Written({1, 1, given.LastLength(t[1]), given.LastLength(t[0])}, t[0])),
    STATE(MaskedCausalConv1d, 2, kOperand0, t[0], given.Numbers({3, given.LastLength(t[0])}, t[0]), nullptr, t[1]),
    STATE(FusedMatmul, 1, kAny, given.Numbers({3, 2}, t[0]), given.Numbers({2, 4}, t[0]), nullptr, given.Numbers({3, 4}, t[0]),
          Given::Mode(a.reduction == 0 ? "add" : a.reduction == 1 ? "gelu_erf" : "relu"), 0, given.Written({3, 4}, t[0])),
    STATE(FFN, 1, kAny, given.Numbers({3, 2}, t[0]), given.Numbers({2, 4}, t[0]), given.Numbers({4, 2}, t[0]), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
          nullptr, nullptr, nullptr, nullptr, Given::Mode("silu"), 0, given.Written({3, 2}, t[0])),
    STATE(FFNV2, 1, kAny, given.Numbers({3, 2}, t[0]), given.Numbers({2, 2, 4}, t[0]), given.Numbers({2, 4, 2}, t[0]), given.Array({1, 3}), nullptr, nullptr, nullptr, nullptr,
          nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, Given::Mode("silu"), a.reduction, true, given.Written({3, 2}, t[0])),
    STATE(FFNV3, 1, kAny, given.Numbers({3, 2}, t[0]), given.Numbers({2, 2, 4}, t[0]), given.Numbers({2, 4, 2}, t[0]), given.Made64({2}), nullptr, nullptr, nullptr, nullptr,
          nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, Given::Mode("silu"), 0, a.log_target, given.Written({3, 2}, t[0])),
    STATE(LightningIndexer, 1, kAny, given.Numbers({2, 2, 2, 128}, t[0]), given.Numbers({2, 3, 1, 128}, t[0]), given.Numbers({2, 2, 2}, t[0]), nullptr,
          a.reduction == 0 ? nullptr : given.Made32({2}), nullptr, nullptr, nullptr, 2, a.reduction == 0 ? 0 : 3, 0, 0, a.log_target, given.Written({2, 2, 1, 2}, ACL_INT32),
          given.Written({2, 2, 1, 2}, t[0])),
    STATE(QuantLightningIndexer, 1, kAny, given.Written({2, 2, 2, 128}, ACL_INT8), given.Written({2, 3, 1, 128}, ACL_INT8), given.Numbers({2, 2, 2}, t[0]),
          given.Numbers({2, 2, 2}, t[0]), given.Numbers({2, 3, 1}, t[0]), nullptr, nullptr, nullptr, a.reduction, 0, nullptr, nullptr, 2, 3, 0, 0,
          given.Written({2, 2, 1, 2}, ACL_INT32)),
    STATE(SparseFlashAttention, 1, kAny, given.Numbers({1, 2, 2, 512}, t[0]), given.Numbers({1, 3, 1, 512}, t[0]), given.Numbers({1, 3, 1, 512}, t[0]),
          given.Made32({1, 2, 1, 2}), nullptr, nullptr, nullptr, given.Numbers({1, 2, 2, 64}, t[0]), given.Numbers({1, 3, 1, 64}, t[0]), a.wide_beta, 2, nullptr, nullptr, 3,
          0, 0, 2, a.log_target, given.Written({1, 2, 2, 512}, t[0]), given.Written({1, 1, 2, 2}, ACL_FLOAT), given.Written({1, 1, 2, 2}, ACL_FLOAT)),
    STATE(SparseFlashAttentionV2, 1, kAny, given.Numbers({1, 2, 2, 512}, t[0]), given.Numbers({1, 3, 1, 512}, t[0]), given.Numbers({1, 3, 1, 512}, t[0]),
          given.Made32({1, 2, 1, 2}), nullptr, nullptr, nullptr, given.Numbers({1, 2, 2, 64}, t[0]), given.Numbers({1, 3, 1, 64}, t[0]), given.Numbers({2}), a.wide_beta, 1,
          nullptr, nullptr, a.reduction, 0, 0, 2, a.log_target, given.Written({1, 2, 2, 512}, t[0]), given.Written({1, 1, 2, 2}, ACL_FLOAT), given.Written({1, 1, 2, 2}, ACL_FLOAT)),
    STATE(KvQuantSparseFlashAttention, 1, kAny, given.Numbers({1, 2, 2, 576}, t[0]), given.Written({1, 3, 1, 656}, ACL_INT8), given.Written({1, 3, 1, 656}, ACL_INT8),
          given.Made32({1, 2, 1, 2}), nullptr, nullptr, nullptr, nullptr, nullptr, a.wide_beta, 2, 2, 2, nullptr, nullptr, a.reduction, 0, 0, 2, 1, 128, 64,
          given.Written({1, 2, 2, 512}, t[0])),
    STATE(KvQuantSparseFlashAttentionV2, 1, kAny, given.Numbers({1, 2, 2, 576}, t[0]), given.Written({1, 3, 1, 656}, ACL_INT8), given.Written({1, 3, 1, 656}, ACL_INT8),
          given.Made32({1, 2, 1, 2}), nullptr, nullptr, nullptr, nullptr, nullptr, given.Numbers({2}), a.wide_beta, 2, 2, 2, nullptr, nullptr, a.reduction, 0, 0, 2, 1, 128,
          64, given.Written({1, 2, 2, 512}, t[0])),
    STATE(BlockSparseAttention, 1, kAny, given.Numbers({2, 2, 3, 4}, t[0]), given.Numbers({2, 1, 5, 4}, t[0]), given.Numbers({2, 1, 5, 3}, t[0]),
          given.Written({2, 2, 2, 3}, ACL_INT8), nullptr, given.Array({2, 2}), a.reduction == 0 ? nullptr : given.Array({1, 3}), nullptr, nullptr, Given::Mode("BNSD"),
          Given::Mode("BNSD"), 1, 0, a.wide_beta, 0, 0, 0, 0, a.log_target, given.Written({2, 2, 3, 3}, t[0]), given.Written({2, 2, 3, 1}, ACL_FLOAT)),
    MOVES(NsaSelectedAttention, 4, kOperand0, t[0], t[1], t[2], given.Indices({given.FirstLength(t[0]), given.PackedHeads(t[1]), 2}), nullptr,
          given.Array({given.FirstLength(t[0])}), given.Array({given.FirstLength(t[1])}), a.wide_beta, given.PackedHeads(t[0]), given.Packed(), a.reduction, 2, 2,
          given.WrittenPackedStatistics(t[0]), given.WrittenPackedStatistics(t[0]), t[3]),
    STATE(FusedCausalConv1d, 1, kAny, given.Numbers({4, 128}, t[0]), given.Numbers({3, 128}, t[0]), given.Written({2, 3, 128}, t[0]), given.Made32({3}), given.Indices({2}),
          nullptr, nullptr, nullptr, given.Made32({2}), nullptr, nullptr, nullptr, 0, -1, 0, 0, a.reduction, 0, a.log_target ? 1 : 0, given.Written({4, 128}, t[0])),
    STATE(InplaceFusedCausalConv1d, 1, kAny, given.Written({2, 2, 128}, t[0]), given.Numbers({3, 128}, t[0]), given.Written({2, 3, 128}, t[0]), nullptr, nullptr, nullptr, nullptr,
          given.Made32({2}), nullptr, nullptr, nullptr, nullptr, 0, -1, 0, 0, a.reduction, 0, 0),
    MOVES(NsaCompress, 2, kOperand0, t[0], given.Numbers({1, given.PackedHeads(t[0])}, t[0]), given.Array({given.FirstLength(t[0])}), nullptr, 1, 1, 0, t[1]),
    MOVES(NsaCompressGrad, 2, kOperand0, t[0], t[0], given.Numbers({1, given.PackedHeads(t[0])}, t[0]), given.Array({given.FirstLength(t[0])}), 1, 1, 0, nullptr, t[1],
          given.Written({1, given.PackedHeads(t[0])}, t[0])),
    STATE(MlaProlog, 1, kAny, given.Numbers({2, 5}, t[0]), given.Numbers({5, 3}, t[0]), given.Numbers({3, 8}, t[0]), given.Numbers({2, 2, 6}, t[0]), given.Numbers({5, 8}, t[0]),
          given.Numbers({3}, t[0]), given.Numbers({6}, t[0]), given.Numbers({2, 2}, t[0]), given.Numbers({2, 2}, t[0]), given.Made64({2}),
          given.Written({2, 3, 1, 6}, t[0]), given.Written({2, 3, 1, 2}, t[0]), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, a.wide_beta, a.wide_beta,
          Given::Mode("PA_BSND"), given.Written({2, 2, 6}, t[0]), given.Written({2, 2, 2}, t[0])),
    STATE(MlaPrologV2WeightNz, 1, kAny, given.Numbers({2, 5}, t[0]), given.Numbers({5, 3}, t[0]), given.Written({3, 8}, ACL_INT8), given.Numbers({2, 2, 6}, t[0]), given.Numbers({5, 8}, t[0]),
          given.Numbers({3}, t[0]), given.Numbers({6}, t[0]), given.Numbers({2, 2}, t[0]), given.Numbers({2, 2}, t[0]), given.Made64({2}),
          given.Written({2, 3, 1, 6}, t[0]), given.Written({2, 3, 1, 2}, t[0]), nullptr, nullptr, given.Numbers({1, 8}), nullptr, nullptr, nullptr,
          a.log_target ? given.Numbers({1, 3}) : nullptr, a.wide_beta, a.wide_beta, Given::Mode("PA_BSND"), given.Written({2, 2, 6}, t[0]),
          given.Written({2, 2, 2}, t[0]), nullptr),
    STATE(MlaPrologV3WeightNz, 1, kAny, given.Numbers({2, 5}, t[0]), given.Numbers({5, 3}, t[0]), given.Written({3, 8}, ACL_INT8), given.Numbers({2, 2, 6}, t[0]), given.Numbers({5, 8}, t[0]),
          given.Numbers({3}, t[0]), given.Numbers({6}, t[0]), given.Numbers({2, 2}, t[0]), given.Numbers({2, 2}, t[0]), given.Written({2, 3, 1, 6}, t[0]), given.Written({2, 3, 1, 2}, t[0]),
          given.Made64({2}), nullptr, nullptr, given.Numbers({1, 8}), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
          a.wide_beta, a.wide_beta, Given::Mode("PA_BSND"), a.reduction == 0 ? 0 : 1, 0, 0, 0, 0, 128, 1.0, a.wide_beta, given.Written({2, 2, 6}, t[0]),
          given.Written({2, 2, 2}, t[0]), nullptr, given.Written({2, 3}, ACL_INT8), given.Written({2, 1}, ACL_FLOAT)),
    MOVES(NsaCompressAttention, 4, kOperand0, t[0], t[1], t[2], nullptr, nullptr, given.Array({given.FirstLength(t[0])}), given.Array({given.FirstLength(t[1])}),
          given.Array({given.FirstLength(t[1])}), a.wide_beta, given.PackedHeads(t[0]), given.Packed(), a.reduction, 2, 1, 1, 2, given.WrittenPackedStatistics(t[0]),
          given.WrittenPackedStatistics(t[0]), t[3], given.Written({given.FirstLength(t[0]), given.PackedHeads(t[1]), 2}, ACL_INT32)),
    STATE(NsaCompressAttentionInfer, 1, kAny, given.Numbers({2, 2, 3}, t[0]), given.Numbers({3, 4, 3}, t[0]), given.Numbers({3, 4, 2}, t[0]), nullptr, given.Indices({2, 2}),
          nullptr, given.Array({5, 8}), nullptr, nullptr, 2, 1, 2, 2, 2, 1, a.wide_beta, nullptr, 4, a.reduction, given.Written({2, 2, 2}, t[0]),
          given.Written({2, 1, 2}, ACL_INT32)),
    STATE(NsaSelectedAttentionInfer, 1, kAny, given.Numbers({2, 1, 2, 3}, t[0]), given.Numbers({3, 4, 1, 3}, t[0]), given.Numbers({3, 4, 2}, t[0]), given.Indices({2, 1, 2}),
          nullptr, given.Indices({2, 2}), nullptr, given.Array({5, 8}), nullptr, 2, 1, 3, 2, 4, a.wide_beta, a.reduction, given.Written({2, 1, 2, 2}, t[0])),
    STATE(NsaSelectedAttentionGrad, 1, kAny, given.Numbers({2, 2, 3}, t[0]), given.Numbers({5, 1, 3}, t[0]), given.Numbers({5, 1, 2}, t[0]), given.Numbers({2, 2, 2}, t[0]),
          given.Numbers({2, 2, 2}, t[0]), given.Numbers({2, 2, 8}), given.Numbers({2, 2, 8}), given.Indices({2, 1, 2}), given.Array({2}), given.Array({5}), nullptr, a.wide_beta,
          2, 2, 2, given.Packed(), a.reduction, given.Written({2, 2, 3}, t[0]), given.Written({5, 1, 3}, t[0]), given.Written({5, 1, 2}, t[0])),
    STATE(NsaCompressWithCache, 1, kAny, given.Numbers({3, 4, 2, 5}, t[0]), given.Numbers({3, 2}, t[0]), given.Made32({2}), given.Array({5, 8}), given.Indices({2, 2}), nullptr,
          3, 2, 1, 4, given.Written({4, 2, 5}, t[0])),
    STATE(MhcPre, 1, kAny, given.Numbers({3, 2, 5}, t[0]), given.Numbers({8, 10}), given.Numbers({3}), given.Numbers({8}), a.log_target ? given.Numbers({2, 5}) : nullptr,
          a.wide_beta, a.wide_beta, given.Written({3, 5}, t[0]), given.Written({3, 2}, ACL_FLOAT), given.Written({3, 2, 2}, ACL_FLOAT), nullptr, nullptr, nullptr),
    STATE(MhcPreV2, 1, kAny, given.Numbers({3, 2, 5}, t[0]), given.Numbers({4, 10}), given.Numbers({2}), given.Numbers({4}), nullptr, a.wide_beta, a.wide_beta, a.reduction,
          given.Written({3, 5}, t[0]), given.Written({3, 2}, ACL_FLOAT), nullptr, given.Written({3}, ACL_FLOAT), nullptr, given.Written({3, 2}, ACL_FLOAT)),
    STATE(MhcPost, 1, kAny, given.Numbers({3, 2, 5}, t[0]), given.Numbers({3, 2, 2}), given.Numbers({3, 5}, t[0]), given.Numbers({3, 2}), given.Written({3, 2, 5}, t[0])),
    STATE(MhcSinkhorn, 1, kAny, given.Numbers({3, 2, 2}, t[0]), 1e-6f, a.reduction + 1, given.Written({3, 2, 2}, t[0]), nullptr, nullptr),
    MOVES(SwigluGroup, 2, kOperand0, t[0], a.log_target ? given.Numbers({given.FirstLength(t[0])}) : nullptr, a.reduction == 0 ? given.Made64({1}) : nullptr, a.wide_beta,
          given.Half(t[1])),
    STATE(ApplyTopKTopP, 2, kOperand0, t[0], a.log_target ? given.Numbers({given.FirstLength(t[0])}, t[0]) : nullptr,
          given.Made32({given.FirstLength(t[0])}), t[1]),
    STATE(ApplyTopKTopPCustom, 2, kOperand0, t[0], a.log_target ? given.Numbers({given.FirstLength(t[0])}, t[0]) : nullptr,
          given.Made32({given.FirstLength(t[0])}), t[1]),
    MOVES(GeluMul, 2, kOperand0, t[0], nullptr, given.Half(t[1])),
    MOVES(FatreluMul, 2, kOperand0, t[0], given.Numbers({1}, t[0]), given.Half(t[1])),
    MOVES(ClippedSwiglu, 2, kOperand0, t[0], nullptr, given.Dim(t[0]), a.wide_beta, 2.0, a.wide_beta, a.log_target, given.Half(t[1])),
    MOVES(SituGlu, 2, kOperand0, t[0], given.Dim(t[0]), 4.0, a.wide_beta, a.log_target, given.Half(t[1])),
    MOVES(ClippedSwigluV2, 2, kOperand0, t[0], nullptr, given.Dim(t[0]), a.wide_beta, 2.0, a.wide_beta, a.log_target, a.reduction, given.Half(t[1])),
    MOVES(TransformBiasRescaleQkv, 3, kAny, t[0], t[1], 1, t[2], given.Second(t[2]), given.Second(t[2])),
    MOVES(FlashAttentionScore, 4, kOperand0, t[0], t[1], t[2], nullptr, nullptr, nullptr, nullptr, nullptr, 0.5, 1.0, 0, 0, given.Heads(t[0]),
          given.Layout(t[0]), 0, a.reduction, given.WrittenStatistics(t[0]), given.WrittenStatistics(t[0]), nullptr, t[3]),
    MOVES(FlashAttentionScoreGrad, 4, kOperand0, t[0], t[1], t[2], t[0], nullptr, nullptr, nullptr, nullptr, given.Statistics(t[0]),
          given.Statistics(t[0]), nullptr, t[0], nullptr, 0.5, 1.0, 0, 0, given.Heads(t[0]), given.Layout(t[0]), 0, a.reduction, t[3],
          given.Second(t[1]), given.Second(t[2]), nullptr),
    MOVES(FlashAttentionScoreV4, 4, kOperand0, t[0], t[1], t[2], nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0.5, 0.75, 0, 0, given.Heads(t[0]), given.Layout(t[0]), 0, a.reduction, 0, 1, nullptr, 5, 8, given.WrittenStatistics(t[0]), given.WrittenStatistics(t[0]), nullptr, t[3]),
    MOVES(FlashAttentionScoreGradV4, 4, kOperand0, t[0], t[1], t[2], t[0], nullptr, nullptr, nullptr, nullptr, given.Statistics(t[0]), given.Statistics(t[0]), nullptr, t[0], nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0.5, 0.75, 0, 0, given.Heads(t[0]), given.Layout(t[0]), nullptr, 0, a.reduction, 1, 5, 8, 0, t[3], given.Second(t[1]), given.Second(t[2]), nullptr, nullptr, nullptr, nullptr),
    MOVES(FlashAttentionVarLenScore, 4, kOperand0, t[0], t[1], t[2], nullptr, nullptr, nullptr, nullptr, nullptr, given.Array({given.FirstLength(t[0])}), given.Array({given.FirstLength(t[1])}), 0.5, 1.0, 0, 0, given.PackedHeads(t[0]), given.Packed(), 0, a.reduction, given.WrittenPackedStatistics(t[0]), given.WrittenPackedStatistics(t[0]), nullptr, t[3]),
    MOVES(FlashAttentionVarLenScoreV4, 4, kOperand0, t[0], t[1], t[2], nullptr, nullptr, nullptr, nullptr, nullptr, given.Array({0, given.FirstLength(t[0])}), given.Array({0, given.FirstLength(t[1])}), 0.5, 1.0, 0, 0, given.PackedHeads(t[0]), given.Packed(), 0, a.reduction, nullptr, given.WrittenPackedStatistics(t[0]), given.WrittenPackedStatistics(t[0]), nullptr, t[3]),
    MOVES(FlashAttentionUnpaddingScoreGrad, 4, kOperand0, t[0], t[1], t[2], t[0], nullptr, nullptr, nullptr, nullptr, given.PackedStatistics(t[0]), given.PackedStatistics(t[0]), nullptr, t[0], nullptr, given.Array({given.FirstLength(t[0])}), given.Array({given.FirstLength(t[1])}), 0.5, 1.0, 0, 0, given.PackedHeads(t[0]), given.Packed(), 0, a.reduction, t[3], given.Second(t[1]), given.Second(t[2]), nullptr),
    MOVES(FlashAttentionUnpaddingScoreGradV4, 4, kOperand0, t[0], t[1], t[2], t[0], nullptr, nullptr, nullptr, nullptr, given.PackedStatistics(t[0]), given.PackedStatistics(t[0]), nullptr, t[0], nullptr, given.Array({0, given.FirstLength(t[0])}), given.Array({0, given.FirstLength(t[1])}), 0.5, 1.0, 0, 0, given.PackedHeads(t[0]), given.Packed(), 0, a.reduction, t[3], given.Second(t[1]), given.Second(t[2]), nullptr, nullptr),
    MOVES(FlashAttentionScoreV2, 4, kOperand0, t[0], t[1], t[2], nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0.5, 1.0, 0, 0, given.Heads(t[0]),
          given.Layout(t[0]), 0, a.reduction, a.reduction, given.WrittenStatistics(t[0]), given.WrittenStatistics(t[0]), nullptr, t[3]),
    MOVES(FlashAttentionScoreGradV2, 4, kOperand0, t[0], t[1], t[2], t[0], nullptr, nullptr, nullptr, nullptr, given.Statistics(t[0]),
          given.Statistics(t[0]), nullptr, t[0], nullptr, nullptr, nullptr, 0.5, 1.0, 0, 0, given.Heads(t[0]), given.Layout(t[0]), 0, a.reduction, a.reduction, t[3],
          given.Second(t[1]), given.Second(t[2]), nullptr),
    MOVES(FlashAttentionVarLenScoreV2, 4, kOperand0, t[0], t[1], t[2], nullptr, nullptr, nullptr, nullptr, nullptr, given.Array({given.FirstLength(t[0])}), given.Array({given.FirstLength(t[1])}), nullptr, nullptr, 0.5, 1.0, 0, 0, given.PackedHeads(t[0]), given.Packed(), 0, a.reduction, a.reduction, given.WrittenPackedStatistics(t[0]), given.WrittenPackedStatistics(t[0]), nullptr, t[3]),
    MOVES(FlashAttentionUnpaddingScoreGradV2, 4, kOperand0, t[0], t[1], t[2], t[0], nullptr, nullptr, nullptr, nullptr, given.PackedStatistics(t[0]), given.PackedStatistics(t[0]), nullptr, t[0], nullptr, given.Array({given.FirstLength(t[0])}), given.Array({given.FirstLength(t[1])}), nullptr, nullptr, 0.5, 1.0, 0, 0, given.PackedHeads(t[0]), given.Packed(), 0, a.reduction, a.reduction, t[3], given.Second(t[1]), given.Second(t[2]), nullptr),
    MOVES(FlashAttentionScoreV3, 4, kOperand0, t[0], t[1], t[2], nullptr, nullptr, nullptr, nullptr, given.Numbers({given.Heads(t[0])}), nullptr, nullptr, nullptr, 0.5, 1.0, 0, 0,
          given.Heads(t[0]), given.Layout(t[0]), 0, a.reduction, a.reduction, given.WrittenStatistics(t[0]), given.WrittenStatistics(t[0]), nullptr, t[3]),
    MOVES(FlashAttentionScoreGradV3, 4, kOperand0, t[0], t[1], t[2], t[0], nullptr, nullptr, nullptr, nullptr, given.Statistics(t[0]), given.Statistics(t[0]), nullptr, t[0],
          given.Numbers({given.Heads(t[0])}), nullptr, nullptr, nullptr, 0.5, 1.0, 0, 0, given.Heads(t[0]), given.Layout(t[0]), 0, a.reduction, a.reduction, t[3],
          given.Second(t[1]), given.Second(t[2]), nullptr, given.Written({given.Heads(t[0])}, ACL_FLOAT)),
    MOVES(FlashAttentionVarLenScoreV3, 4, kOperand0, t[0], t[0], t[1], t[1], t[2], nullptr, nullptr, nullptr, nullptr, nullptr, given.Array({given.FirstLength(t[0])}),
          given.Array({given.FirstLength(t[1])}), nullptr, nullptr, 0.5, 1.0, 0, 0, given.PackedHeads(t[0]), given.Packed(), 0, a.reduction, a.reduction,
          given.WrittenPackedStatistics(t[0]), given.WrittenPackedStatistics(t[0]), nullptr, t[3]),
    MOVES(FlashAttentionUnpaddingScoreGradV3, 4, kOperand0, t[0], t[0], t[1], t[1], t[2], t[0], nullptr, nullptr, nullptr, nullptr, given.PackedStatistics(t[0]),
          given.PackedStatistics(t[0]), nullptr, t[0], nullptr, given.Array({given.FirstLength(t[0])}), given.Array({given.FirstLength(t[1])}), nullptr, nullptr, 0.5, 1.0, 0,
          0, given.PackedHeads(t[0]), given.Packed(), 0, a.reduction, a.reduction, t[3], given.Written(Given::ShapeOf(t[0]), t[0]), given.Second(t[1]),
          given.Written(Given::ShapeOf(t[1]), t[1]), given.Second(t[2]), nullptr),
    MOVES(FlashAttentionVarLenScoreV5, 4, kOperand0, t[0], t[0], t[1], t[1], t[2], nullptr, nullptr, nullptr, nullptr, given.Numbers({given.PackedHeads(t[0])}), nullptr,
          given.Array({0, given.FirstLength(t[0])}), given.Array({0, given.FirstLength(t[1])}), nullptr, nullptr, 0.5, 1.0, 0, 0, given.PackedHeads(t[0]), given.Packed(), 0,
          a.reduction, a.reduction, nullptr, given.WrittenPackedStatistics(t[0]), given.WrittenPackedStatistics(t[0]), nullptr, t[3]),
    MOVES(FlashAttentionUnpaddingScoreGradV5, 4, kOperand0, t[0], nullptr, t[1], nullptr, t[2], t[0], nullptr, nullptr, nullptr, nullptr, given.PackedStatistics(t[0]),
          given.PackedStatistics(t[0]), nullptr, t[0], given.Numbers({given.PackedHeads(t[0])}), nullptr, given.Array({0, given.FirstLength(t[0])}),
          given.Array({0, given.FirstLength(t[1])}), nullptr, nullptr, 0.5, 1.0, 0, 0, given.PackedHeads(t[0]), given.Packed(), 0, a.reduction, a.reduction, nullptr, t[3],
          nullptr, given.Second(t[1]), nullptr, given.Second(t[2]), nullptr, given.Written({given.PackedHeads(t[0])}, ACL_FLOAT)),
    MOVES(FusedInferAttentionScore, 4, kOperand0, t[0], given.List({t[1]}), given.List({t[2]}), nullptr, nullptr, given.Array({1}), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, given.Heads(t[0]), 0.5, 0, 0, given.Layout(t[0]), 0, a.reduction, 0, 0, 0, false, t[3], nullptr),
    MOVES(FusedInferAttentionScoreV2, 4, kOperand0, t[0], given.List({t[1]}), given.List({t[2]}), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, given.Heads(t[0]), 0.5, 0, 0, given.Layout(t[0]), 0, a.reduction, 0, 0, 0, false, 0, 0, t[3], nullptr),
    MOVES(FusedInferAttentionScoreV3, 4, kOperand0, t[0], given.List({t[1]}), given.List({t[2]}), nullptr, nullptr, given.Array({1}), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, given.Heads(t[0]), 0.5, 0, 0, given.Layout(t[0]), 0, a.reduction, 0, 0, 0, false, 0, 0, t[3], nullptr),
    MOVES(FusedInferAttentionScoreV4, 4, kOperand0, t[0], given.List({t[1]}), given.List({t[2]}), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, given.Heads(t[0]), 0.5, 0, 0, given.Layout(t[0]), 0, a.reduction, 0, 0, 0, false, 0, 0, 0, t[3], nullptr),
    MOVES(FusedInferAttentionScoreV5, 4, kOperand0, t[0], given.List({t[1]}), given.List({t[2]}), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, given.Heads(t[0]), 0.5, 0, 0, given.Layout(t[0]), 0, a.reduction, 0, 0, 0, false, 0, 0, 0, 0, t[3], nullptr),
    MOVES(PromptFlashAttention, 4, kOperand0, t[0], t[1], t[2], nullptr, nullptr, nullptr, given.Heads(t[0]), 0.5, 0, 0, given.Layout(t[0]), 0, t[3]),
    MOVES(PromptFlashAttentionV2, 4, kOperand0, t[0], t[1], t[2], nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, given.Heads(t[0]), 0.5, 0, 0, given.Layout(t[0]), 0, a.reduction, t[3]),
    MOVES(PromptFlashAttentionV3, 4, kOperand0, t[0], t[1], t[2], nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, given.Heads(t[0]), 0.5, 0, 0, given.Layout(t[0]), 0, a.reduction, 0, t[3]),
    MOVES(IncreFlashAttention, 4, kOperand0, t[0], given.List({t[1]}), given.List({t[2]}), nullptr, nullptr, nullptr, given.Heads(t[0]), 0.5, given.Layout(t[0]), 0, t[3]),
    MOVES(IncreFlashAttentionV2, 4, kOperand0, t[0], given.List({t[1]}), given.List({t[2]}), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, given.Heads(t[0]), 0.5, given.Layout(t[0]), 0, t[3]),
    MOVES(IncreFlashAttentionV3, 4, kOperand0, t[0], given.List({t[1]}), given.List({t[2]}), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, given.Heads(t[0]), 0.5, given.Layout(t[0]), 0, 0, 0, t[3]),
    MOVES(IncreFlashAttentionV4, 4, kOperand0, t[0], given.List({t[1]}), given.List({t[2]}), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, given.Heads(t[0]), 0.5, given.Layout(t[0]), 0, 0, 0, t[3]),
    MOVES(GroupedBiasAddGrad, 2, kAny, t[0], given.Indices({given.FirstLength(t[1])}), t[1]),
    MOVES(GroupedBiasAddGradV2, 2, kAny, t[0], a.log_target ? nullptr : given.Indices({given.FirstLength(t[1])}), a.reduction, t[1]),
    STATE(GroupedMatmulAdd, 1, kAny, t[0], t[0], given.Indices({2}), given.SumsOfGroups(t[0]), false, false, 0),
    STATE(GroupedMatmulAddV2, 1, kAny, t[0], t[0], given.Indices({2}), given.SumsOfGroups(t[0]), false, false, 0, a.reduction & 1),
    STATE(GroupedMatmulSwigluQuant, 1, kAny, (static_cast<void>(t), given.Written({5, 8}, ACL_INT8)), given.Fractal({2, 8, 6}), nullptr, nullptr, given.Numbers({2, 6}), given.Numbers({5}), given.Indices({2}), given.Written({5, 3}, ACL_INT8), given.Written({5}), nullptr),
    STATE(GroupedMatmulSwigluQuantWeightNZ, 1, kAny, (static_cast<void>(t), given.Written({5, 8}, ACL_INT8)), given.Written({2, 8, 6}, ACL_INT8), nullptr, nullptr, given.Numbers({2, 6}), given.Numbers({5}), given.Indices({2}), given.Written({5, 3}, ACL_INT8), given.Written({5}), nullptr),
    STATE(GroupedMatmulSwigluQuantV2, 1, kAny, (static_cast<void>(t), given.Written({5, 8}, ACL_INT8)), given.List({given.Written({2, 8, 6}, ACL_INT8)}), given.List({given.Numbers({2, 6})}), nullptr, nullptr, given.Numbers({5}), nullptr, given.Indices({2}), 0, 0, 0, a.reduction & 1, nullptr, given.Written({5, 3}, ACL_INT8), given.Written({5})),
    STATE(GroupedMatmulSwigluQuantWeightNzV2, 1, kAny, (static_cast<void>(t), given.Written({5, 8}, ACL_INT8)), given.List({given.Fractal({2, 8, 6})}), given.List({given.Numbers({2, 6})}), nullptr, nullptr, given.Numbers({5}), nullptr, given.Indices({2}), 0, 0, 0, a.reduction & 1, nullptr, given.Written({5, 3}, ACL_INT8), given.Written({5})),
    STATE(GroupedMatmulFinalizeRouting, 1, kAny, (static_cast<void>(t), given.Written({5, 192}, ACL_INT8)), given.Written({2, 192, 72}, ACL_INT4), given.Written({2, 1, 72}, ACL_INT64), given.Numbers({2, 72}), given.Numbers({5}), given.Indices({2}), given.Written({2, 72}, ACL_BF16), given.Numbers({5}), given.Indices({5}), 0, a.beta, 0, false, false, 1, given.Written({4, 72})),
    STATE(GroupedMatmulFinalizeRoutingV2, 1, kAny, (static_cast<void>(t), given.Written({5, 192}, ACL_INT8)), given.Written({2, 192, 72}, ACL_INT4), given.Written({2, 1, 72}, ACL_INT64), given.Numbers({2, 72}), nullptr, nullptr, nullptr, given.Numbers({5}), given.Indices({2}), given.Written({2, 72}, ACL_BF16), given.Numbers({5}), given.Indices({5}), 0, a.beta, a.reduction, false, false, 1, given.Written({4, 72})),
    STATE(GroupedMatmulFinalizeRoutingV3, 1, kAny, (static_cast<void>(t), given.Written({5, 192}, ACL_INT8)), given.Written({2, 192, 72}, ACL_INT4), given.Written({2, 1, 72}, ACL_INT64), given.Numbers({2, 72}), nullptr, nullptr, nullptr, given.Numbers({5}), given.Indices({2}), given.Written({2, 72}, ACL_BF16), given.Numbers({5}), given.Indices({5}), 0, a.beta, 1, false, false, 0, nullptr, given.Written({4, 72})),
    STATE(GroupedMatmulFinalizeRoutingWeightNz, 1, kAny, (static_cast<void>(t), given.Written({5, 16}, ACL_INT8)), given.Fractal({2, 16, 256}), given.Numbers({2, 256}), nullptr, given.Numbers({5}), given.Indices({2}), nullptr, nullptr, given.Indices({5}), 0, a.beta, 0, false, false, 1, given.Written({4, 256})),
    STATE(GroupedMatmulFinalizeRoutingWeightNzV2, 1, kAny, (static_cast<void>(t), given.Written({5, 16}, ACL_INT8)), given.Fractal({2, 16, 256}), given.Numbers({2, 256}), nullptr, nullptr, nullptr, nullptr, nullptr, given.Indices({2}), nullptr, nullptr, given.Indices({5}), 0, a.beta, 0, false, false, 1, nullptr, given.Written({4, 256})),
    STATE(QuantGroupedMatmulDequant, 1, kAny, (static_cast<void>(t), given.Written({5, 16}, ACL_FLOAT16)), given.Written({2, 16, 16}, ACL_INT8), given.Numbers({2, 16}), given.Indices({2}), nullptr, nullptr, nullptr, nullptr, nullptr, true, given.Written({5, 16}, ACL_FLOAT16)),
    STATE(QuantGroupedMatmulDequantWeightNZ, 1, kAny, (static_cast<void>(t), given.Written({5, 16}, ACL_FLOAT16)), given.Fractal({2, 16, 16}), given.Numbers({2, 16}), given.Indices({2}), nullptr, nullptr, nullptr, nullptr, nullptr, true, given.Written({5, 16}, ACL_FLOAT16)),
    MOVES(AttentionUpdate, 2, kOperand0, given.List({given.Numbers({given.FirstLength(t[0])})}), given.List({t[0]}), 0, t[1], nullptr),
    MOVES(RingAttentionUpdate, 3, kOperand0, t[0], given.RingStatistics(t[0]), given.RingStatistics(t[0]), t[1], given.RingStatistics(t[0]), given.RingStatistics(t[0]), nullptr, nullptr, t[2], given.WrittenRingStatistics(t[0]), given.WrittenRingStatistics(t[0])),
    MOVES(RingAttentionUpdateV2, 3, kOperand0, t[0], given.PackedStatistics(t[0]), given.PackedStatistics(t[0]), t[1], given.PackedStatistics(t[0]), given.PackedStatistics(t[0]), nullptr, given.Packed(), given.Packed(), t[2], given.WrittenPackedStatistics(t[0]), given.WrittenPackedStatistics(t[0])),
    STATE(SignBitsPack, 1, kAny, t[0], 1, given.Written({1, given.Bytes(t[0])}, ACL_UINT8)),
    STATE(SignBitsUnpack, 2, kOperand0, t[0], 1, DtypeOf(t[1]), t[1]),
    STATE(DynamicQuant, 2, kOperand0, t[0], a.log_target ? given.Columns(t[0]) : nullptr, given.Codes(t[0]), given.RowSteps(t[0])),
    STATE(DynamicQuantV2, 2, kOperand0, t[0], nullptr, nullptr, 2, given.Codes(t[0]), given.RowSteps(t[0]), a.log_target ? given.RowSteps(t[0]) : nullptr),
    STATE(DynamicQuantV3, 2, kOperand0, t[0], nullptr, nullptr, 2, true, given.Mode("pertoken"), given.Codes(t[0]), given.RowSteps(t[0]), nullptr),
    STATE(DynamicQuantV4, 2, kOperand0, t[0], nullptr, nullptr, 2, true, given.Mode("pertensor"), 0.0f, given.Codes(t[0]), given.Written({1}, ACL_FLOAT), nullptr),
    STATE(AscendQuant, 2, kOperand0, t[0], given.Columns(t[0]), nullptr, a.log_target, "round", ACL_INT8, given.Codes(t[0])),
    STATE(AscendQuantV3, 2, kOperand0, t[0], given.Numbers({1}, t[0]), nullptr, a.log_target, "floor", ACL_INT8, -1, given.Codes(t[0])),
    STATE(Quantize, 2, kOperand0, t[0], given.Numbers({1}, t[0]), nullptr, ACL_INT8, 0, given.Codes(t[0])),
    STATE(GroupQuant, 2, kOperand0, t[0], given.Numbers({2, given.LastLength(t[0])}, t[0]), given.Indices({2}), nullptr, ACL_INT8, given.Codes(t[0])),
    MOVES(AscendAntiQuant, 2, kOperand0, t[0], given.Written({1}, ACL_FLOAT), nullptr, DtypeOf(t[1]), a.log_target, t[1]),
    MOVES(DequantBias, 2, kOperand0, t[0], given.FloatColumns(t[0]), nullptr, nullptr, ACL_BF16, given.Written(Given::ShapeOf(t[0]), ACL_BF16)),
    STATE(AddRmsNormQuant, 3, kOperand0, t[0], t[1], given.Columns(t[0]), given.FloatColumns(t[0]), nullptr, nullptr, nullptr, -1, 1e-6, true, given.Codes(t[0]),
          given.Codes(t[0]), t[2]),
    STATE(AddRmsNormQuantV2, 3, kOperand0, t[0], t[1], given.Columns(t[0]), given.FloatColumns(t[0]), nullptr, nullptr, nullptr, given.Columns(t[0]), -1, 1e-6, false,
          given.Codes(t[0]), given.Codes(t[0]), t[2], nullptr),
    STATE(AddRmsNormDynamicQuant, 3, kOperand0, t[0], t[1], given.Columns(t[0]), nullptr, nullptr, 1e-6, given.Codes(t[0]), given.Codes(t[0]), t[2],
          given.RowSteps(t[0]), given.RowSteps(t[0])),
    STATE(AddRmsNormDynamicQuantV2, 3, kOperand0, t[0], t[1], given.Columns(t[0]), nullptr, nullptr, given.Columns(t[0]), 1e-6, nullptr, given.Codes(t[0]),
          given.Codes(t[0]), t[2], given.RowSteps(t[0]), given.RowSteps(t[0])),
    STATE(RmsNormQuant, 2, kOperand0, t[0], given.Columns(t[0]), given.Columns(t[0]), given.Numbers({1}, t[0]), given.Written({1}, ACL_INT8), 1e-6, given.Codes(t[0])),
    STATE(RmsNormQuantV3, 2, kOperand0, t[0], given.Columns(t[0]), given.Numbers({1}, t[0]), given.Read({1}, ACL_INT8), nullptr, 1e-6, a.log_target, false, given.Codes(t[0]),
          nullptr),
    STATE(RmsNormDynamicQuant, 2, kOperand0, t[0], given.Columns(t[0]), nullptr, given.Columns(t[0]), 1e-6, ACL_INT8, given.Codes(t[0]), given.RowSteps(t[0])),
    STATE(RmsNormDynamicMxQuant, 2, kOperand0, t[0], given.Columns(t[0]), nullptr, 1e-6, a.reduction, nullptr, ACL_FLOAT8_E4M3FN, false, given.ByteCodes(t[0]),
          given.Powers(t[0]), nullptr),
    STATE(AddRmsNormDynamicMxQuant, 3, kOperand0, t[0], t[1], given.Columns(t[0]), given.Read({given.LastLength(t[0])}, ACL_FLOAT), 1e-6, 0, nullptr, ACL_FLOAT8_E4M3FN, false,
          given.ByteCodes(t[0]), t[2], given.Powers(t[0]), nullptr),
    STATE(DynamicDualLevelMxQuant, 1, kAny, (static_cast<void>(t), given.Read({2, 64}, ACL_FLOAT16)), nullptr, nullptr, 512, 32, given.Written({2, 64}, ACL_FLOAT4_E2M1),
          given.Written({2, 1}, ACL_FLOAT), given.Written({2, 1, 2}, ACL_FLOAT8_E8M0)),
    STATE(FlatQuant, 1, kAny, (static_cast<void>(t), given.Read({3, 4, 8}, ACL_FLOAT16)), given.Read({4, 4}, ACL_FLOAT16), given.Read({8, 8}, ACL_FLOAT16), 0.5,
          given.Written({3, 4, 1}, ACL_INT32), given.Written({3}, ACL_FLOAT)),
    STATE(FlatQuantV2, 1, kAny, (static_cast<void>(t), given.Read({3, 4, 8}, ACL_FLOAT16)), given.Read({4, 4}, ACL_FLOAT16), given.Read({8, 8}, ACL_FLOAT16), 1.0,
          6.0, given.Written({3, 4, 1}, ACL_INT32), given.Written({3}, ACL_FLOAT)),
    STATE(RotateQuant, 1, kAny, (static_cast<void>(t), given.Read({2, 128}, ACL_FLOAT16)), given.Read({16, 16}, ACL_FLOAT16), nullptr, -1, nullptr, 0, 0.0,
          a.log_target, given.Written({2, 128}, ACL_INT8), given.Written({2}, ACL_FLOAT)),
    STATE(DequantSwigluQuant, 2, kOperand0, t[0], nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, a.log_target, given.Mode("dynamic"), given.HalfCodes(t[0]),
          given.RowSteps(t[0])),
    STATE(DequantSwigluQuantV2, 2, kOperand0, t[0], nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, a.log_target, given.Mode("dynamic"), ACL_INT8, nullptr, -1,
          a.reduction, 7.0, 1.5, 1.0, given.HalfCodes(t[0]), given.RowSteps(t[0])),
    STATE(SwiGluQuantV2, 2, kOperand0, t[0], nullptr, nullptr, nullptr, a.log_target, given.Mode("dynamic"), 0, ACL_INT8, given.HalfCodes(t[0]), given.RowSteps(t[0])),
    STATE(DynamicMxQuant, 2, kOperand0, t[0], -1, nullptr, ACL_FLOAT8_E4M3FN, 32, a.reduction, given.ByteCodes(t[0]), given.Powers(t[0])),
    STATE(DynamicMxQuantV2, 2, kOperand0, t[0], -2, given.Mode("rint"), ACL_FLOAT8_E4M3FN, 32, a.reduction, 0.0, given.ByteCodes(t[0]), given.Powers(t[0], 2)),
    STATE(DynamicMxQuantV3, 2, kOperand0, t[0], -1, nullptr, ACL_FLOAT8_E4M3FN, 32, 1, 0.0, 0.5, given.ByteCodes(t[0]), given.Powers(t[0])),
    STATE(DynamicMxQuantWithDualAxis, 2, kOperand0, t[0], nullptr, ACL_FLOAT8_E4M3FN, a.reduction, given.ByteCodes(t[0]), given.Powers(t[0]), given.ByteCodes(t[0]),
          given.Powers(t[0], 2)),
    STATE(DynamicMxQuantWithDualAxisV2, 2, kOperand0, t[0], nullptr, ACL_FLOAT8_E4M3FN, a.reduction, 0.0, given.ByteCodes(t[0]), given.Powers(t[0]),
          given.ByteCodes(t[0]), given.Powers(t[0], 2)),
    STATE(DynamicBlockMxQuant, 2, kOperand0, t[0], nullptr, ACL_FLOAT8_E4M3FN, 0, 0.0, given.ByteCodes(t[0]), given.Powers(t[0]), given.Powers(t[0], 2)),
    STATE(GroupedDynamicMxQuant, 2, kOperand0, t[0], given.Indices({2}), "rint", ACL_FLOAT8_E4M3FN, 32, given.ByteCodes(t[0]), given.GroupPowers(t[0], 2)),
    STATE(GroupedDynamicMxQuantV2, 2, kOperand0, t[0], given.Indices({2}), "rint", ACL_FLOAT8_E4M3FN, 32, a.reduction, 0.0, given.ByteCodes(t[0]),
          given.GroupPowers(t[0], 2)),
    MOVES(AntiMxQuant, 2, kOperand0, given.ByteCodes(t[0]), given.Powers(t[0]), -1, DtypeOf(t[1]), t[1]),
    STATE(DynamicBlockQuant, 2, kOperand0, t[0], 0.0, nullptr, ACL_INT8, 1, 128, given.Codes(t[0]), given.BlockSteps(t[0])),
    STATE(DynamicBlockQuantV2, 2, kOperand0, t[0], 0.5, given.Mode("rint"), ACL_INT8, 1, 128, 0.0, given.Codes(t[0]), given.BlockSteps(t[0])),
    STATE(GroupedDynamicBlockQuant, 2, kOperand0, t[0], given.Indices({2}), 0.0, nullptr, ACL_FLOAT8_E4M3FN, 128, 128, 0, given.ByteCodes(t[0]),
          given.Written({given.FirstLength(t[0]) / 128 + 2, given.LastLength(t[0]) / 128 + 1}, ACL_FLOAT)),
    STATE(GroupedDynamicBlockQuantV2, 2, kOperand0, t[0], given.Indices({2}), 0.0, nullptr, ACL_FLOAT8_E4M3FN, 128, 128, 0, 0.0, given.ByteCodes(t[0]),
          given.Written({given.FirstLength(t[0]) / 128 + 2, given.LastLength(t[0]) / 128 + 1}, ACL_FLOAT)),
    MOVES(FakeQuantPerTensorAffineCachemask, 2, kOperand0, t[0], given.Read({1}, ACL_FLOAT), given.Indices({1}), 1.0f, -8, 7, t[1],
          given.Written(Given::ShapeOf(t[0]), ACL_BOOL)),
    MOVES(FakeQuantPerChannelAffineCachemask, 2, kOperand0, t[0], given.Read({given.LastLength(t[0])}, ACL_FLOAT), given.Indices({given.LastLength(t[0])}), -1, a.reduction, 7, t[1],
          given.Written(Given::ShapeOf(t[0]), ACL_BOOL)),
    STATE(QuantMax, 2, kOperand0, t[0], given.Read({1}, ACL_FLOAT), given.Mode("rint"), ACL_FLOAT8_E4M3FN, given.ByteCodes(t[0]), given.Written({1}, t[0])),
    STATE(GroupedQuantMax, 2, kOperand0, t[0], given.Read({2}, ACL_FLOAT), given.Indices({2}), given.Mode("rint"), ACL_FLOAT8_E4M3FN, given.ByteCodes(t[0]),
          given.Written({2}, t[0])),
    STATE(GeluQuant, 2, kOperand0, t[0], given.FloatColumns(t[0]), nullptr, a.log_target ? "tanh" : "none", given.Mode("static"), given.Mode("rint"), ACL_INT8, given.Codes(t[0]),
          nullptr),
    STATE(AddLayerNormQuant, 2, kOperand0, t[0], t[0], given.Columns(t[0]), given.Columns(t[0]), nullptr, nullptr, nullptr, nullptr, nullptr, given.Mode("dynamic"), 0.5,
          false, a.log_target, given.Codes(t[0]), nullptr, nullptr, given.RowSteps(t[0]), nullptr),
    STATE(RmsNormGradQuant, 2, kOperand0, t[0], t[0], given.RowSteps(t[0]), given.Columns(t[0]), given.Read({1}, ACL_FLOAT), nullptr, given.Mode("static"), a.log_target,
          given.Codes(t[0]), given.FloatColumns(t[0])),
    STATE(SwigluMxQuant, 1, kAny, (static_cast<void>(t), given.Read({3, 64}, ACL_BF16)), a.log_target ? given.Made64({1}) : nullptr, -1, true, a.reduction & 1, 2.0, 1.5, 1.0, 0, -1,
          ACL_FLOAT8_E4M3FN, nullptr, 0, 0.0, given.Written({3, 32}, ACL_FLOAT8_E4M3FN), given.Written({3, 1, 2}, ACL_FLOAT8_E8M0)),
    STATE(SwigluMxQuantWithDualAxis, 1, kAny, (static_cast<void>(t), given.Read({3, 64}, ACL_BF16)), nullptr, a.log_target, nullptr, a.reduction & 1, ACL_FLOAT8_E4M3FN, 0.0,
          given.Written({3, 32}, ACL_FLOAT8_E4M3FN), given.Written({3, 1, 2}, ACL_FLOAT8_E8M0), given.Written({3, 32}, ACL_FLOAT8_E4M3FN),
          given.Written({1, 32, 2}, ACL_FLOAT8_E8M0)),
    STATE(SwigluBackwardMxQuantWithDualAxis, 1, kAny, (static_cast<void>(t), given.Read({3, 64}, ACL_BF16)), given.Read({3, 32}, ACL_BF16), nullptr, a.log_target, nullptr,
          a.reduction & 1, ACL_FLOAT8_E4M3FN, 0.0, given.Written({3, 64}, ACL_FLOAT8_E4M3FN), given.Written({3, 1, 2}, ACL_FLOAT8_E8M0),
          given.Written({3, 64}, ACL_FLOAT8_E4M3FN), given.Written({1, 64, 2}, ACL_FLOAT8_E8M0)),
    STATE(SwigluGroupQuant, 1, kAny, (static_cast<void>(t), given.Read({3, 64}, ACL_BF16)), nullptr, a.log_target ? given.Made64({1}) : nullptr, nullptr, ACL_FLOAT8_E4M3FN, 0, 128,
          a.reduction == 1, -1.0, 0.0, false, given.Written({3, 32}, ACL_FLOAT8_E4M3FN), given.Written({3, 1}, ACL_FLOAT), nullptr),
    STATE(SwigluGroupQuantGrad, 1, kAny, (static_cast<void>(t), given.Read({3, 32}, ACL_BF16)), given.Read({3, 64}, ACL_BF16), nullptr, nullptr,
          a.log_target ? given.Made64({1}) : nullptr, a.wide_beta, given.Written({3, 64}, ACL_BF16), nullptr),
    // There is no communicator: they are refused, whatever the tensors are.
    STATE(MatmulAllReduce, 3, kAny, t[0], t[1], nullptr, "nobody", "sum", 0, 1, t[2]),
    STATE(MatmulAllReduceV2, 4, kAny, t[0], t[1], nullptr, t[2], "nobody", "sum", 0, 1, t[3]),
    STATE(MatmulAllReduceV3, 4, kAny, t[0], t[1], nullptr, t[2], "nobody", "sum", "", 0, 1, t[3]),
    STATE(QuantMatmulAllReduce, 4, kAny, t[0], t[1], nullptr, nullptr, t[2], "nobody", "sum", 0, 1, t[3]),
    STATE(QuantMatmulAllReduceV2, 4, kAny, t[0], t[1], nullptr, nullptr, t[2], nullptr, "nobody", "sum", 0, 1, t[3]),
    STATE(QuantMatmulAllReduceV3, 4, kAny, t[0], t[1], nullptr, nullptr, t[2], nullptr, nullptr, nullptr, "nobody", "sum", 0, 1, t[3]),
    STATE(QuantMatmulAllReduceV4, 4, kAny, t[0], t[1], nullptr, nullptr, nullptr, t[2], nullptr, nullptr, "nobody", "sum", 0, 1, 0, 0, t[3]),
    STATE(QuantMatmulAllReduceV5, 4, kAny, t[0], t[1], nullptr, nullptr, nullptr, t[2], nullptr, nullptr, "nobody", "sum", "", 0, 1, 0, 0, t[3]),
    STATE(WeightQuantMatmulAllReduce, 4, kAny, t[0], t[1], nullptr, t[2], nullptr, nullptr, "nobody", "sum", 0, 1, a.reduction, t[3]),
    STATE(WeightQuantMatmulAllReduceV2, 4, kAny, t[0], t[1], nullptr, t[2], nullptr, nullptr, "nobody", "sum", "", 0, 1, a.reduction, t[3]),
    STATE(MatmulAllReduceAddRmsNorm, 4, kAny, t[0], t[1], nullptr, t[2], t[0], a.wide_beta, "nobody", "sum", 0, 1, t[3], t[3]),
    STATE(InplaceMatmulAllReduceAddRmsNorm, 4, kAny, t[0], t[1], nullptr, t[2], t[0], a.wide_beta, "nobody", "sum", 0, 1, t[3]),
    STATE(QuantMatmulAllReduceAddRmsNorm, 4, kAny, t[0], t[1], nullptr, t[0], t[2], t[0], a.wide_beta, "nobody", "sum", 0, 1, t[3], t[3]),
    STATE(InplaceQuantMatmulAllReduceAddRmsNorm, 4, kAny, t[0], t[1], nullptr, t[0], t[2], t[0], a.wide_beta, "nobody", "sum", 0, 1, t[3]),
    STATE(WeightQuantMatmulAllReduceAddRmsNorm, 4, kAny, t[0], t[1], nullptr, t[0], nullptr, t[2], t[0], a.wide_beta, "nobody", "sum", 0, 1, a.reduction, t[3], t[3]),
    STATE(InplaceWeightQuantMatmulAllReduceAddRmsNorm, 4, kAny, t[0], t[1], nullptr, t[0], nullptr, t[2], t[0], a.wide_beta, "nobody", "sum", 0, 1, a.reduction, t[3]),
    STATE(AllGatherMatmul, 3, kAny, t[0], t[1], nullptr, "nobody", 0, 0, 1, t[2], nullptr),
    STATE(AllGatherMatmulV2, 3, kAny, t[0], t[1], nullptr, nullptr, nullptr, nullptr, 0, "nobody", 0, 0, 1, 0, "", t[2], nullptr, nullptr),
    STATE(MatmulReduceScatter, 3, kAny, t[0], t[1], nullptr, "nobody", "sum", 0, 1, t[2]),
    STATE(MatmulReduceScatterV2, 3, kAny, t[0], t[1], nullptr, nullptr, nullptr, nullptr, 0, "nobody", "sum", 0, 1, 0, "", t[2], nullptr),
    STATE(AlltoAllMatmul, 3, kAny, t[0], t[1], nullptr, nullptr, "nobody", false, a.log_target, t[2], nullptr),
    STATE(AlltoAllMatmulV2, 3, kAny, t[0], t[1], nullptr, nullptr, "nobody", "", false, a.log_target, t[2], nullptr),
    STATE(MatmulAlltoAll, 3, kAny, t[0], t[1], nullptr, nullptr, "nobody", false, a.log_target, t[2]),
    STATE(MatmulAlltoAllV2, 3, kAny, t[0], t[1], nullptr, nullptr, "nobody", "", false, a.log_target, t[2]),
    STATE(AlltoAllQuantMatmul, 4, kAny, t[0], t[1], nullptr, nullptr, t[2], nullptr, nullptr, nullptr, "nobody", nullptr, 7, 2, 0, -1, 2, 0, false, a.log_target, t[3], nullptr),
    STATE(AlltoAllQuantMatmulV2, 4, kAny, t[0], t[1], nullptr, nullptr, t[2], nullptr, nullptr, nullptr, "nobody", "", nullptr, 7, 2, 0, -1, 2, 0, false, a.log_target, t[3], nullptr),
    STATE(QuantMatmulAlltoAll, 4, kAny, t[0], t[1], nullptr, t[2], t[2], nullptr, nullptr, nullptr, nullptr, "nobody", 3, 2, 0, -1, 0, false, a.log_target, t[3]),
    STATE(QuantMatmulAlltoAllV2, 4, kAny, t[0], t[1], nullptr, t[2], t[2], nullptr, nullptr, nullptr, nullptr, "nobody", "", 3, 2, 0, -1, 0, false, a.log_target, t[3]),
    STATE(AlltoAllvGroupedMatMul, 3, kAny, t[0], t[1], nullptr, nullptr, nullptr, nullptr, "nobody", 1, given.Array({1}), given.Array({1}), a.log_target, false, false, t[2],
          nullptr, nullptr),
    STATE(AlltoAllvGroupedMatMulV2, 3, kAny, t[0], t[1], nullptr, nullptr, nullptr, nullptr, "nobody", "", 1, given.Array({1}), given.Array({1}), a.log_target, false, false,
          t[2], nullptr, nullptr),
    STATE(GroupedMatMulAlltoAllv, 3, kAny, t[0], t[1], nullptr, nullptr, nullptr, nullptr, "nobody", 1, given.Array({1}), given.Array({1}), a.log_target, false, t[2], nullptr),
    STATE(GroupedMatMulAlltoAllvV2, 3, kAny, t[0], t[1], nullptr, nullptr, nullptr, nullptr, "nobody", "", 1, given.Array({1}), given.Array({1}), a.log_target, false, t[2],
          nullptr),
    STATE(AlltoAllvQuantGroupedMatMul, 4, kAny, t[0], t[1], t[2], t[2], nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 1, 1, 0, 0, "nobody", 1, given.Array({1}), given.Array({1}),
          a.log_target, false, 0, false, t[3], nullptr, nullptr),
    STATE(AlltoAllvQuantGroupedMatMulV2, 4, kAny, t[0], t[1], t[2], t[2], nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 6, 6, 0, 0, "nobody", "", 1, given.Array({1}), given.Array({1}),
          a.log_target, false, 0, false, t[3], nullptr, nullptr),
    STATE(QuantGroupedMatMulAlltoAllv, 4, kAny, t[0], t[1], t[2], t[2], nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 1, 1, 0, 0, 0, 0, 0, "nobody", 1, given.Array({1}),
          given.Array({1}), a.log_target, false, t[3], nullptr),
    STATE(QuantGroupedMatMulAlltoAllvV2, 4, kAny, t[0], t[1], t[2], t[2], nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 6, 6, 0, 0, 0, 0, 0, "nobody", "", 1, given.Array({1}),
          given.Array({1}), a.log_target, false, t[3], nullptr),
    STATE(AlltoAllAllGatherBatchMatMul, 3, kAny, t[0], t[1], nullptr, "nobody", "nobody else", 1, 1, 0, a.reduction, t[2], nullptr, nullptr),
    STATE(BatchMatMulReduceScatterAlltoAll, 3, kAny, t[0], t[1], nullptr, "nobody", "nobody else", 1, 1, a.reduction & 1, t[2]),
    STATE(DistributeBarrier, 1, kAny, t[0], "nobody", 1),
    STATE(DistributeBarrierV2, 1, kAny, t[0], nullptr, nullptr, "nobody", 1),
    STATE(MoeDistributeDispatch, 2, kAny, t[0], given.Indices({2, 2}), nullptr, nullptr, nullptr, "nobody", 1, 0, 4, "", 0, 0, 0, 0, 0, 0, 0, 1, t[1], nullptr,
          given.Written({4}, ACL_INT32), given.Written({4}, ACL_INT64), given.Written({4}, ACL_INT32), given.Written({1}, ACL_INT32), nullptr),
    STATE(MoeDistributeDispatchV2, 2, kAny, t[0], given.Indices({2, 2}), nullptr, nullptr, nullptr, "nobody", 1, 0, 4, "", 0, 0, 0, 0, 0, 0, 0, 1, "", t[1], nullptr,
          given.Written({12}, ACL_INT32), given.Written({4}, ACL_INT64), given.Written({4}, ACL_INT32), given.Written({1}, ACL_INT32), nullptr),
    STATE(MoeDistributeDispatchV3, 2, kAny, t[0], given.Indices({2, 2}), nullptr, nullptr, nullptr, nullptr, "nobody", 1, 0, 4, "", 0, 0, 0, 0, 0, 0, 0, 1, "", 0, 0, 0, t[1],
          nullptr, given.Written({12}, ACL_INT32), given.Written({4}, ACL_INT64), given.Written({4}, ACL_INT32), given.Written({1}, ACL_INT32), nullptr),
    STATE(MoeDistributeDispatchV4, 2, kAny, t[0], given.Indices({2, 2}), nullptr, nullptr, nullptr, nullptr, nullptr, "nobody", 1, 0, 4, "", 0, 0, 0, 0, 0, 0, 0, 1, "", 0, 0, 0,
          t[1], nullptr, given.Written({12}, ACL_INT32), given.Written({4}, ACL_INT64), given.Written({4}, ACL_INT32), given.Written({1}, ACL_INT32), nullptr),
    STATE(MoeDistributeCombine, 2, kAny, t[0], given.Indices({2, 2}), given.Indices({4}), given.Indices({4}), given.Numbers({2, 2}), nullptr, nullptr, nullptr, nullptr, nullptr,
          nullptr, "nobody", 1, 0, 4, "", 0, 0, 0, 0, 0, 0, 0, 0, 0, t[1]),
    STATE(MoeDistributeCombineV2, 2, kAny, t[0], given.Indices({2, 2}), given.Indices({12}), given.Indices({4}), given.Numbers({2, 2}), nullptr, nullptr, nullptr, nullptr,
          nullptr, nullptr, nullptr, "nobody", 1, 0, 4, "", 0, 0, 0, 0, 0, 0, 0, 0, 0, "", t[1]),
    STATE(MoeDistributeCombineV3, 2, kAny, t[0], given.Indices({2, 2}), given.Indices({12}), given.Indices({4}), given.Numbers({2, 2}), nullptr, nullptr, nullptr, nullptr,
          nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, "nobody", 1, 0, 4, "", 0, 0, 0, 0, 0, 0, 0, 0, 0, "", 0, 0, 0, t[1]),
    STATE(MoeDistributeCombineV4, 2, kAny, t[0], given.Indices({2, 2}), given.Indices({12}), given.Indices({4}), given.Numbers({2, 2}), nullptr, nullptr, nullptr, nullptr,
          nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, "nobody", 1, 0, 4, "", 0, 0, 0, 0, 0, 0, 0, 0, 0, "", 0, 0, 0, t[1]),
    STATE(MoeDistributeCombineAddRmsNorm, 2, kAny, t[0], given.Indices({2, 2}), given.Indices({12}), given.Indices({4}), given.Numbers({2, 2}), t[0], t[0], nullptr, nullptr,
          nullptr, nullptr, nullptr, nullptr, nullptr, "nobody", 1, 0, 4, "", 0, 0, 0, 0, 0, 0, 0, 0, 0, "", a.beta, t[1], given.Written({2, 1, 1}), t[1]),
    STATE(MoeDistributeCombineAddRmsNormV2, 2, kAny, t[0], given.Indices({2, 2}), given.Indices({12}), given.Indices({4}), given.Numbers({2, 2}), t[0], t[0], nullptr, nullptr,
          nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, "nobody", 1, 0, 4, "", 0, 0, 0, 0, 0, 0, 0, 0, 0, "", a.beta, 0, 0, 0, t[1],
          given.Written({2, 1, 1}), t[1]),
    MOVES(MoeTokenPermute, 2, kOperand0, t[0], given.RowIndices(t[0]), 0, false, t[1], given.RowPlaces(t[0])),
    MOVES(MoeTokenPermuteGrad, 2, kOperand0, t[0], given.RowIndices(t[0]), 1, false, t[1]),
    MOVES(MoeTokenUnpermute, 2, kOperand0, t[0], given.RowIndices(t[0]), given.RowNumbers(t[0]), false, nullptr, t[1]),
    MOVES(MoeTokenUnpermuteGrad, 3, kOperand0, t[0], t[1], given.RowIndices(t[0]), given.RowNumbers(t[0]), false, nullptr, t[2],
          given.Written({given.FirstLength(t[0]), 1}, t[0])),
    MOVES(MoeInitRouting, 2, kOperand0, t[0], given.RowColumn(t[0]), given.RowColumn(t[0]), given.FirstLength(t[0]), t[1], given.RowPlaces(t[0]),
          given.RowPlaces(t[0])),
    MOVES(MoeInitRoutingV2, 2, kOperand0, t[0], given.RowColumn(t[0]), 0, 0, 4, 0, a.reduction, false, t[1], given.RowPlaces(t[0]),
          given.Written({4}, ACL_INT32), nullptr),
    MOVES(MoeInitRoutingQuantV2, 2, kOperand0, t[0], given.RowColumn(t[0]), nullptr, nullptr, 0, 0, 4, 0, 1, false, 1, t[1], given.RowPlaces(t[0]),
          given.Written({4}, ACL_INT32), nullptr, given.Written({given.FirstLength(t[0])}, ACL_FLOAT)),
    MOVES(MoeInitRoutingV2Grad, 2, kOperand0, t[0], given.RowIndices(t[0]), 1, 0, 0, t[1]),
    STATE(MoeInitRoutingV3, 2, kOperand0, t[0], given.RowColumn(t[0]), nullptr, nullptr, -1, -1, 6, 0, a.reduction, true, -1, given.Array({1, 4}), 0, t[1],
          given.RowPlaces(t[0]), given.Written({3}, ACL_INT64), given.Written({given.FirstLength(t[0])}, ACL_FLOAT)),
    STATE(MoeInitRoutingCustom, 2, kOperand0, t[0], given.RowColumn(t[0]), nullptr, nullptr, -1, -1, 6, 0, a.reduction, true, -1, given.Array({1, 4}), 0, t[1],
          given.RowPlaces(t[0]), given.Written({3}, ACL_INT64), given.Written({given.FirstLength(t[0])}, ACL_FLOAT)),
    MOVES(MoeFinalizeRouting, 3, kOperand0, t[0], t[1], nullptr, given.Numbers({3, given.LastLength(t[0])}, t[0]), given.RowNumbers(t[0]),
          given.RowIndices(t[0]), given.RowColumn(t[0]), t[2]),
    MOVES(MoeFinalizeRoutingV2, 2, kOperand0, t[0], given.RowIndices(t[0]), nullptr, nullptr, nullptr, given.RowNumbers(t[0]), nullptr, a.reduction, t[1]),
    MOVES(MoeFinalizeRoutingV4, 2, kOperand0, t[0], given.RowIndices(t[0]), nullptr, nullptr, nullptr, nullptr, given.RowColumn(t[0]), t[0], nullptr, nullptr,
          nullptr, a.reduction, given.Array({0, 2}), given.Array({2, 4}), nullptr, 1, t[1]),
    MOVES(MoeFinalizeRoutingV2Grad, 2, kOperand0, t[0], given.RowIndices(t[0]), nullptr, nullptr, nullptr, nullptr, 0, 0, 0, 0, t[1],
          given.Written({given.FirstLength(t[0]), 1}, t[0])),
    MOVES(MoeGatingTopK, 2, kOperand0, t[0], nullptr, 1, 1, 1, 0, 0, 1, true, 1.0, 1e-20, given.Written({given.FirstLength(t[0]), 1}, t[0]),
          given.Written({given.FirstLength(t[0]), 1}, ACL_INT32), t[1]),
    MOVES(MoeGatingTopKV2, 2, kOperand0, t[0], nullptr, a.log_target ? given.RowIndices(t[0]) : nullptr, given.Indices({3, 1}), 1, 1, 1, 0, 0, 1, true, 1.0,
          1e-20, given.Written({given.FirstLength(t[0]), 1}, t[0]), given.Written({given.FirstLength(t[0]), 1}, ACL_INT32), t[1]),
    MOVES(MoeGatingTopKSoftmax, 2, kOperand0, t[0], nullptr, given.LastLength(t[0]), t[1], given.Written(Given::ShapeOf(t[0]), ACL_INT32),
          given.Written(Given::ShapeOf(t[0]), ACL_INT32)),
    MOVES(MoeGatingTopKSoftmaxV2, 2, kOperand0, t[0], nullptr, given.LastLength(t[0]), a.log_target ? 1 : 0, true, t[1],
          given.Written(Given::ShapeOf(t[0]), ACL_INT32), given.Written(Given::ShapeOf(t[0]), ACL_FLOAT)),
    MOVES(MoeGatingTopKBackward, 2, kOperand0, t[0], t[0], given.IndicesLike(t[0]), 0, 1, 1.0, 1e-20, t[1]),
    STATE(MoeComputeExpertTokens, 2, kAny, t[0], 2, t[1]),
    MOVES(MoeReRouting, 2, kOperand0, t[0], given.Indices({1, 3}), nullptr, 1, 0, t[1], given.Written({given.FirstLength(t[0])}, ACL_FLOAT),
          given.RowPlaces(t[0]), given.Written({3}, a.log_target ? ACL_INT32 : ACL_INT64)),
    MOVES(MoeUpdateExpert, 2, kOperand0, t[0], given.Indices({4, 2}), nullptr, nullptr, nullptr, 0, 1, 0, t[1], given.Written(Given::ShapeOf(t[0]), ACL_BOOL)),
    MOVES(MoeTokenPermuteWithRoutingMap, 2, kOperand0, t[0], given.Ones({given.FirstLength(t[0]), 1}), nullptr, given.FirstLength(t[0]), a.log_target, t[1],
          nullptr, given.RowPlaces(t[0])),
    MOVES(MoeTokenPermuteWithRoutingMapGrad, 2, kOperand0, t[0], nullptr, given.RowIndices(t[0]), nullptr, 1, given.FirstLength(t[0]), a.log_target, t[1],
          nullptr),
    MOVES(MoeTokenUnpermuteWithRoutingMap, 2, kOperand0, t[0], given.RowIndices(t[0]), given.Ones({given.FirstLength(t[0]), 1}), given.RowNumbers(t[0]),
          false, nullptr, t[1], nullptr, nullptr, given.Written({given.FirstLength(t[0])}, t[0])),
    MOVES(MoeTokenUnpermuteWithRoutingMapGrad, 2, kOperand0, t[0], given.RowIndices(t[0]), given.RowIndices(t[0]), nullptr, nullptr, nullptr, false, nullptr,
          t[1], nullptr),
    MOVES(RmsNorm, 3, kOperand0, t[0], t[1], a.wide_beta, t[2], given.Written(given.Leading(t[0], t[1]))),
    MOVES(RmsNormGrad, 4, kOperand0, t[0], t[1], given.Numbers(given.Leading(t[0], t[2])), t[2], t[3], given.Written(Given::ShapeOf(t[2]))),
    MOVES(AddLayerNorm, 3, kOperand0, t[0], t[1], given.Numbers({given.LastLength(t[0])}), given.Numbers({given.LastLength(t[0])}), nullptr, a.wide_beta, a.log_target,
          t[2], given.Written(given.Leading(t[0], given.Numbers({given.LastLength(t[0])}))), given.Written(given.Leading(t[0], given.Numbers({given.LastLength(t[0])}))),
          given.Written(Given::ShapeOf(t[0]), t[0])),
    MOVES(AddRmsNorm, 4, kOperand0, t[0], t[1], t[2], a.wide_beta, t[3], nullptr, nullptr),
    MOVES(GemmaRmsNorm, 3, kOperand0, t[0], t[1], a.wide_beta, t[2], given.Written(given.Leading(t[0], t[1]))),
    STATE(InplaceAddRmsNorm, 1, kAny, t[0], given.Second(t[0]), given.Numbers({given.LastLength(t[0])}, t[0]), a.wide_beta,
          given.Written(given.Leading(t[0], given.Numbers({given.LastLength(t[0])})))),
    MOVES(AddRmsNormBias, 4, kOperand0, t[0], t[1], t[2], a.log_target ? t[2] : nullptr, a.wide_beta, t[3], given.Written(given.Leading(t[0], t[2])),
          given.Second(t[3])),
    MOVES(AddRmsNormCast, 4, kOperand0, t[0], t[1], t[2], a.wide_beta, given.Written(Given::ShapeOf(t[0])), t[3],
          given.Written(given.Leading(t[0], t[2])), given.Second(t[3])),
    MOVES(DeepNorm, 3, kOperand0, t[0], t[1], given.Numbers({given.LastLength(t[0])}, t[0]), given.Numbers({given.LastLength(t[0])}, t[0]), a.wide_beta,
          1e-5, given.Written(given.Leading(t[0], given.Numbers({given.LastLength(t[0])}))),
          given.Written(given.Leading(t[0], given.Numbers({given.LastLength(t[0])}))), t[2]),
    MOVES(DeepNormGrad, 4, kOperand0, t[0], t[1], t[2], given.Numbers({given.LastLength(t[0])}, t[0]),
          given.Numbers(given.Leading(t[0], given.Numbers({given.LastLength(t[0])}))), given.Numbers(given.Leading(t[0], given.Numbers({given.LastLength(t[0])}))),
          a.wide_beta, t[3], given.Second(t[3]), given.Written({given.LastLength(t[0])}), given.Written({given.LastLength(t[0])})),
    MOVES(AddLayerNormGrad, 4, kOperand0, t[0], t[1], t[2], given.Numbers(given.Leading(t[0], given.Numbers({given.LastLength(t[0])}))),
          given.Numbers(given.Leading(t[0], given.Numbers({given.LastLength(t[0])}))), given.Numbers({given.LastLength(t[0])}),
          a.log_target ? t[0] : nullptr, t[3], given.Written({given.LastLength(t[0])}), given.Written({given.LastLength(t[0])})),
    MOVES(GroupNormSilu, 2, kOperand0, t[0], nullptr, nullptr, 1, a.wide_beta, t[1], given.Written({given.FirstLength(t[0]), 1}, t[0]),
          given.Written({given.FirstLength(t[0]), 1}, t[0])),
    MOVES(GroupNormSiluV2, 2, kOperand0, t[0], nullptr, nullptr, 1, a.wide_beta, a.log_target, t[1], given.Written({given.FirstLength(t[0]), 1}, t[0]),
          given.Written({given.FirstLength(t[0]), 1}, t[0])),
    MOVES(GroupNormSwish, 2, kOperand0, t[0], given.Numbers(given.Channels(t[0]), t[0]), given.Numbers(given.Channels(t[0]), t[0]), 1, nullptr, 1e-5,
          a.log_target, a.wide_beta, t[1], given.Written({given.FirstLength(t[0]), 1}, t[0]), given.Written({given.FirstLength(t[0]), 1}, t[0])),
    MOVES(GroupNormSwishGrad, 3, kOperand0, t[0], given.Numbers({given.FirstLength(t[0]), 1}, t[0]), given.Numbers({given.FirstLength(t[0]), 1}, t[0]), t[1],
          given.Numbers(given.Channels(t[0]), t[0]), given.Numbers(given.Channels(t[0]), t[0]), 1, nullptr, a.wide_beta, a.log_target, true, t[2],
          given.Written(given.Channels(t[0]), t[0]), given.Written(given.Channels(t[0]), t[0])),
    MOVES(ScaledMaskedSoftmax, 3, kOperand0, t[0], t[1], a.wide_beta, false, t[2]),
    MOVES(ScaledMaskedSoftmaxBackward, 4, kOperand0, t[0], t[1], t[2], a.wide_beta, false, t[3]),
    MOVES(MaskedSoftmaxWithRelPosBias, 4, kOperand0, t[0], a.log_target ? t[1] : nullptr, t[2], a.wide_beta, a.reduction, t[3]),
    MOVES(Complex, 3, kBroadcast, t[0], t[1], t[2]),
    MOVES(Polar, 3, kBroadcast, t[0], t[1], t[2]),
    MOVES(AngleV2, 2, kOperand0, t[0], t[1]),
    MOVES(BatchNorm, 3, kOperand0, t[0], t[1], nullptr, nullptr, nullptr, a.log_target, a.wide_beta, a.wide_beta, t[2], given.Written(given.Channels(t[0])),
          given.Written(given.Channels(t[0]))),
    MOVES(BatchNormBackward, 3, kOperand0, t[0], t[1], nullptr, nullptr, nullptr, nullptr, nullptr, a.log_target, a.wide_beta,
          given.Flags(true, a.log_target), t[2], given.Written(given.Channels(t[0])), given.Written(given.Channels(t[0]))),
    STATE(BatchNormStats, 2, kOperand0, t[0], a.wide_beta, given.Written(given.Channels(t[0])), given.Written(given.Channels(t[0]))),
    MOVES(BatchNormElemt, 2, kOperand0, t[0], nullptr, nullptr, given.Numbers(given.Channels(t[0])), given.Numbers(given.Channels(t[0])), a.wide_beta, t[1]),
    MOVES(BatchNormElemtBackward, 3, kOperand0, t[0], t[1], given.Numbers(given.Channels(t[0]), t[0]), given.Numbers(given.Channels(t[0]), t[0]), nullptr,
          given.Numbers(given.Channels(t[0]), t[0]), given.Numbers(given.Channels(t[0]), t[0]), given.Numbers({2}), t[2]),
    STATE(BatchNormReduce, 2, kOperand0, given.Image(t[0]), given.Written(given.Channels(t[0])), given.Written(given.Channels(t[0]))),
    STATE(BatchNormReduceBackward, 2, kOperand0, t[0], t[0], given.Numbers(given.Channels(t[0]), t[0]),
          given.Numbers(given.Channels(t[0]), t[0]), nullptr, a.log_target, true, a.reduction != 0, given.Written(given.Channels(t[0])),
          given.Written(given.Channels(t[0])), given.Written(given.Channels(t[0])), given.Written(given.Channels(t[0]))),
    STATE(BatchNormGatherStatsWithCounts, 2, kOperand0, t[0], t[0], t[0], nullptr, nullptr, a.wide_beta, a.wide_beta,
          given.Numbers({given.FirstLength(t[0])}, t[0]), given.Written(given.Channels(t[0])), given.Written(given.Channels(t[0]))),
    STATE(SyncBatchNormGatherStats, 2, kOperand0, t[0], t[0], given.Numbers({given.FirstLength(t[0])}), given.Written(given.Channels(t[0]), t[0]),
          given.Written(given.Channels(t[0]), t[0]), 0.5f, 0.5f, given.Written(given.Channels(t[0])), given.Written(given.Channels(t[0]))),
    STATE(CtcLoss, 2, kOperand0, t[0], given.Made64({1}), given.Array({given.FirstLength(t[0])}), given.Array({1}), a.reduction & 1, a.log_target,
          given.Written({}, t[0]), given.Written({1, given.FirstLength(t[0]), 8}, t[0])),
    STATE(FusedLinearOnlineMaxSum, 1, kAny, t[0], t[0], given.Made64({given.FirstLength(t[0])}), 0, given.FirstLength(t[0]),
          given.Written({given.FirstLength(t[0])}), given.Written({given.FirstLength(t[0])}), given.Written({given.FirstLength(t[0])}),
          given.Written({given.Bytes(t[0])}, ACL_UINT8), given.Written({given.FirstLength(t[0])}, ACL_INT64), nullptr),
    STATE(FusedLinearCrossEntropyLossGrad, 1, kAny, given.Numbers({given.FirstLength(t[0])}), t[0], t[0], given.Ones({given.FirstLength(t[0])}),
          given.Made64({given.FirstLength(t[0])}), 0.0f, given.Numbers({given.FirstLength(t[0])}), given.Numbers({given.FirstLength(t[0])}), nullptr,
          given.Written(Given::ShapeOf(t[0]), t[0]), given.Written(Given::ShapeOf(t[0]), t[0])),
    MOVES(CtcLossBackward, 2, kOperand0, given.Numbers({1}, t[0]), t[0], given.Made64({1}), given.Array({given.FirstLength(t[0])}), given.Array({1}),
          given.Numbers({1}, t[0]), given.Numbers({1, given.FirstLength(t[0]), 8}, t[0]), a.reduction & 1, a.log_target, t[1]),
    MOVES(GroupNorm, 2, kOperand0, t[0], nullptr, nullptr, given.FirstLength(t[0]), given.Channels(t[0])[0], given.Behind(t[0]), 1, a.wide_beta, t[1],
          given.Written({given.FirstLength(t[0]), 1}, t[0]), given.Written({given.FirstLength(t[0]), 1}, t[0])),
    MOVES(GroupNormBackward, 3, kOperand0, t[0], t[1], given.Numbers({given.FirstLength(t[0]), 1}, t[0]),
          given.Numbers({given.FirstLength(t[0]), 1}, t[0]), nullptr, given.FirstLength(t[0]), given.Channels(t[0])[0], given.Behind(t[0]), 1,
          given.Flags(true, a.log_target), t[2], given.Written(given.Channels(t[0]), t[0]), given.Written(given.Channels(t[0]), t[0])),
    MOVES(MultilabelMarginLoss, 2, kOperand0, t[0], given.IndicesLike(t[0]), a.reduction, given.Written({}, t[0]), t[1]),
    MOVES(NLLLoss, 3, kAny, t[0], given.Indices({given.FirstLength(t[0])}), t[1], a.reduction, 1, t[2], given.Written({}, t[0])),
    MOVES(NLLLoss2d, 3, kAny, t[0], given.IndicesLike(t[2]), t[1], a.reduction, 1, t[2], given.Written({}, t[0])),
    MOVES(NLLLossBackward, 3, kOperand0, given.Numbers({}, t[0]), t[0], given.Indices({given.FirstLength(t[0])}), t[1], a.reduction, 1,
          given.Numbers({}, t[0]), t[2]),
    MOVES(NLLLoss2dBackward, 3, kOperand0, given.Numbers({}, t[0]), t[0], given.IndicesLike(t[1]), t[1], a.reduction, 1, given.Numbers({}, t[0]), t[2]),
    MOVES(CrossEntropyLoss, 2, kOperand0, t[0], given.Indices({given.FirstLength(t[0])}), nullptr, nullptr, 1, a.log_target ? 0.1 : 0.0, 0.0, false,
          given.Written({1}, t[0]), t[1], given.Written({0}, t[0]), given.Written({0}, t[0])),
    MOVES(CrossEntropyLossGrad, 2, kOperand0, given.Numbers({1}, t[0]), t[0], given.Indices({given.FirstLength(t[0])}), nullptr, nullptr, nullptr,
          nullptr, 1, a.log_target ? 0.1 : 0.0, 0.0, t[1]),
    MOVES(FusedCrossEntropyLossWithMaxSum, 2, kOperand0, given.Numbers({given.FirstLength(t[0])}), given.Numbers({given.FirstLength(t[0])}),
          given.Numbers({given.FirstLength(t[0])}), 0, nullptr, nullptr, t[0], given.Written({given.FirstLength(t[0])}), t[1]),
    MOVES(SoftmaxCrossEntropyWithLogits, 3, kOperand0, t[0], t[1], given.Written({given.FirstLength(t[0])}, t[0]), t[2]),
    MOVES(BinaryCrossEntropy, 4, kOperand0, t[0], t[1], a.log_target ? t[2] : nullptr, a.reduction, t[3]),
    MOVES(BinaryCrossEntropyBackward, 4, kOperand0, t[0], t[1], t[2], nullptr, a.reduction, t[3]),
    MOVES(BinaryCrossEntropyWithLogits, 5, kReduced, t[0], t[1], a.log_target ? t[2] : nullptr, t[3], a.reduction, t[4]),
    MOVES(BinaryCrossEntropyWithLogitsTargetBackward, 5, kOperand0, t[0], t[1], t[2], a.log_target ? t[3] : nullptr, nullptr, a.reduction, t[4]),
    MOVES(BinaryCrossEntropyWithLogitsBackward, 5, kOperand0, t[0], t[1], t[2], a.log_target ? t[3] : nullptr, nullptr, a.reduction, t[4]),
    MOVES(SoftMarginLoss, 3, kReduced, t[0], t[1], a.reduction, t[2]),
    MOVES(SoftMarginLossBackward, 4, kBroadcast, t[0], t[1], t[2], a.reduction, t[3]),
    MOVES(ForeachCopy, 2, kOperand0, given.List({t[0]}), given.List({t[1]})),
    MOVES(ForeachZeroInplace, 1, kAny, given.List({t[0]})),
    MOVES(ForeachNorm, 2, kAny, given.List({t[0]}), given.Scalar(), given.List({t[1]})),
    MOVES(ForeachNonFiniteCheckAndUnscale, 1, kAny, given.List({t[0]}), given.Written({1}), given.Numbers({1})),
    STATE(ApplyAdamWV2, 2, kOperand0, t[1], given.Second(t[1]), given.Second(t[1]), a.log_target ? given.Second(t[1]) : nullptr, t[0],
          given.Numbers({1}), 0.1f, 0.9f, 0.99f, 0.01f, 0.01f, a.log_target, a.reduction == 1),
    STATE(FusedSgd, 1, kAny, given.List({t[0]}), given.List({given.Second(t[0])}), given.List({given.Second(t[0])}),
          a.log_target ? given.Numbers({1}) : nullptr, 0.1f, 0.9f, 0.1f, 0.0f, a.reduction == 1, false, false),
    STATE(FusedAdam, 1, kAny, given.List({t[0]}), given.List({given.Second(t[0])}), given.List({given.Second(t[0])}), given.List({given.Second(t[0])}),
          nullptr, given.List({given.Numbers({1})}), a.log_target ? given.Numbers({1}) : nullptr, nullptr, 0.1, 0.9, 0.99, 0.01, 0.01, false,
          a.reduction == 1),
    STATE(FusedAdamw, 1, kAny, given.List({t[0]}), given.List({given.Second(t[0])}), given.List({given.Second(t[0])}), given.List({given.Second(t[0])}),
          nullptr, given.List({given.Numbers({1})}), a.log_target ? given.Numbers({1}) : nullptr, nullptr, 0.1, 0.9, 0.99, 0.01, 0.01, false,
          a.reduction == 1),
    STATE(ApplyAdamW, 2, kOperand0, t[1], given.Second(t[1]), given.Second(t[1]), given.Numbers({1}, t[1]), given.Numbers({1}, t[1]),
          given.Numbers({1}, t[1]), given.Numbers({1}, t[1]), given.Numbers({1}, t[1]), given.Numbers({1}, t[1]), given.Numbers({1}, t[1]), t[0],
          a.log_target ? given.Second(t[1]) : nullptr, a.log_target, a.reduction == 1),
    STATE(ApplyAdam, 2, kOperand0, t[1], given.Second(t[1]), given.Second(t[1]), given.Numbers({1}), given.Numbers({1}), given.Numbers({1}),
          given.Numbers({1}), given.Numbers({1}), given.Numbers({1}), t[0], false, a.log_target),
    STATE(ApplyFusedEmaAdam, 2, kOperand0, t[0], t[1], given.Second(t[1]), given.Second(t[1]), given.Second(t[1]), given.Made64({1}), 0.1, 0.9, 0.9,
          0.99, 0.01, a.reduction, a.log_target, 0.01),
    MOVES(AmpUpdateScale, 2, kOperand0, t[0], given.Indices({1}), t[0], 2.0, 0.5, a.reduction, t[1], given.Second(given.Indices({1}))),
    // clang-format on
    MapCall<&aclnnEqualGetWorkspaceSize, false, true>("aclnnEqual", &aclnnEqual),
#include "aclnnop/fuzz_calls.def"
};
// NOLINTEND(readability-identifier-length)
#undef MATRICES
#undef MOVES
#undef STATE
#undef MAP
#undef LISTS

// A function that the library has and no program calls would go unnoticed.
constexpr std::string_view kFunctions[] = {
#define FUNCTION(name) #name,
#include "aclnnop/functions.def"
#undef FUNCTION
};
// Their names with their lengths: names of another length are not looked at, and compilers count the steps of what is constant.
constexpr auto kNames = [] {
  std::array<std::string_view, std::size(kCalls)> names{};
  for (size_t i = 0; i < names.size(); ++i) names[i] = kCalls[i].name;
  return names;
}();
constexpr bool IsCalled(std::string_view name) {
  for (const std::string_view called : kNames) {
    if (called.size() == name.size() && called.back() == name.back() && called == name) return true;
  }
  return false;
}
// In parts: a compiler takes only so many steps for one constant.
template <size_t kPart>
constexpr bool kPartIsCalled = std::all_of(std::begin(kFunctions) + std::size(kFunctions) * kPart / 4,
                                           std::begin(kFunctions) + std::size(kFunctions) * (kPart + 1) / 4,
                                           IsCalled);
static_assert(kPartIsCalled<0> && kPartIsCalled<1> && kPartIsCalled<2> && kPartIsCalled<3>,
              "a function of the schema is missing here");

}  // namespace

bool IsPrivate(int32_t format) {
  switch (format) {
    case ACL_FORMAT_NC1HWC0:
    case ACL_FORMAT_FRACTAL_Z:
    case ACL_FORMAT_NC1HWC0_C04:
    case ACL_FORMAT_FRACTAL_NZ:
    case ACL_FORMAT_NDC1HWC0:
    case ACL_FRACTAL_Z_3D:
      return true;
    default:
      return false;
  }
}

std::span<const OperatorCall> OperatorCalls() { return kCalls; }

void DestroyResults() {
  for (const aclTensor* const tensor : Given::results) aclDestroyTensor(tensor);
  Given::results.clear();
}

}  // namespace portacl::testing
