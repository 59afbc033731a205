// Products of groups: every element against float64 or exact integers, in each split, list and type mode and layout, on every instruction set
// and with several threads; lists of groups that do not fit; what phase 1 answers.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "aclnnop/families/matmul.h"
#include "engine/isa_in_use.h"
#include "gtest/gtest.h"
#include "quantised_views.h"
#include "support/contract_suite.h"
#include "support/environment.h"
#include "support/two_phase.h"

namespace portacl::testing {

std::vector<engine::Isa>
IsasToTest();  // of support/numeric_suite.h, whose other names are those of quantised_views.h

namespace {

enum class Types { kF32, kF16, kBf16, kInt8, kA16W8, kA16W4, kA8W4, kA4W4 };
enum class Split { kNone, kRows, kTerms };
enum class Api { kV1, kV2, kV3, kV4, kV5, kNz };
constexpr int64_t kEnds = 0, kSizes = 1, kPairs = 2;
constexpr unsigned char kUntouched = 0x5a;

bool Has4Bits(Types types) {
  return types == Types::kA16W4 || types == Types::kA8W4 || types == Types::kA4W4;
}

// A call as mathematics has it, and how it is handed over.
struct Problem {
  Types types = Types::kF32;
  Split split = Split::kRows;
  Api api = Api::kV5;
  int64_t list_type = kSizes;
  std::vector<int64_t> sizes = {3, 0, 4};  // rows or terms of each group
  std::vector<int64_t> which = {};         // of pairs: the group of each
  int64_t spare = 0;                       // rows that no group has
  int64_t rows = 7;                        // of terms that are cut
  int64_t k = 20;
  int64_t n = 12;
  int64_t groups_of_terms = 1;
  bool has_weight_list = false;
  bool has_x_list = false;
  bool has_y_list = false;
  bool is_transposed = false;  // weights
  bool is_strided = false;     // x and y
  bool has_words = false;      // of 4 bits
  bool has_bias = false;
  bool has_bf16_bias = false;
  bool has_per_token = false;
  bool has_offset = false;      // of INT8 with weights of 4 bits
  DtypeNumber y = ACL_FLOAT16;  // of INT8
  int64_t act = 0;

  int64_t groups() const {
    int64_t most = std::ssize(sizes);
    for (const int64_t one : which) most = std::max(most, one + 1);
    return most;
  }
};

// A matrix, or several, of 4 bits: element i is half i of the bytes.
struct Handles {
  std::vector<HeldView> views;
  std::vector<const aclTensor*> tensors;
  aclTensorList* Make() {
    if (views.empty()) return nullptr;
    tensors.clear();
    for (HeldView& view : views) tensors.push_back(view.Make());
    return aclCreateTensorList(tensors.data(), tensors.size());
  }
  void Fetch() {
    for (HeldView& view : views) view.Fetch();
  }
};

class Case {
 public:
  Case(const Problem& problem, uint64_t seed) : p_(problem), random_(seed) { Draw(); }

  Handles x, weight, bias, scale, offset, antiquant_scale, antiquant_offset, per_token, y;
  HeldView list;
  std::vector<int64_t> array;
  std::vector<int64_t> tuning;
  std::function<void(Case&)> change;  // of the arguments before a call
  int64_t split_item = 3, group_type = 0;
  bool has_list = true;

  const Problem& problem() const { return p_; }

  CallResult Run(aclrtStream stream) {
    CallResult result;
    aclTensorList* const xs = x.Make();
    aclTensorList* const weights = weight.Make();
    aclTensorList* const biases = bias.Make();
    aclTensorList* const scales = scale.Make();
    aclTensorList* const row_offsets = offset.Make();
    aclTensorList* const anti = antiquant_scale.Make();
    aclTensorList* const offsets = antiquant_offset.Make();
    aclTensorList* const factors = per_token.Make();
    aclTensorList* const ys = y.Make();
    aclTensor* const groups = has_list ? list.Make() : nullptr;
    aclIntArray* const ints = array.empty() ? nullptr : aclCreateIntArray(array.data(), array.size());
    aclIntArray* const tuned = tuning.empty() ? nullptr : aclCreateIntArray(tuning.data(), tuning.size());
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    aclnnStatus (*run)(void*, uint64_t, aclOpExecutor*, aclrtStream) = nullptr;
    switch (p_.api) {
      case Api::kV1:
        result.plan = aclnnGroupedMatmulGetWorkspaceSize(xs, weights, biases, scales, nullptr, anti, offsets,
                                                         ints, split_item, ys, &size, &executor);
        run = aclnnGroupedMatmul;
        break;
      case Api::kV2:
        result.plan =
            aclnnGroupedMatmulV2GetWorkspaceSize(xs, weights, biases, scales, nullptr, anti, offsets, ints,
                                                 split_item, group_type, ys, &size, &executor);
        run = aclnnGroupedMatmulV2;
        break;
      case Api::kV3:
        result.plan =
            aclnnGroupedMatmulV3GetWorkspaceSize(xs, weights, biases, scales, nullptr, anti, offsets, groups,
                                                 split_item, group_type, ys, &size, &executor);
        run = aclnnGroupedMatmulV3;
        break;
      case Api::kV4:
        result.plan = aclnnGroupedMatmulV4GetWorkspaceSize(
            xs, weights, biases, scales, row_offsets, anti, offsets, factors, groups, nullptr, nullptr,
            nullptr, split_item, group_type, p_.list_type, p_.act, ys, nullptr, nullptr, &size, &executor);
        run = aclnnGroupedMatmulV4;
        break;
      case Api::kV5:
        result.plan = aclnnGroupedMatmulV5GetWorkspaceSize(
            xs, weights, biases, scales, row_offsets, anti, offsets, factors, groups, nullptr, nullptr,
            nullptr, split_item, group_type, p_.list_type, p_.act, tuned, ys, nullptr, nullptr, &size,
            &executor);
        run = aclnnGroupedMatmulV5;
        break;
      case Api::kNz:
        result.plan = aclnnGroupedMatmulWeightNzGetWorkspaceSize(
            xs, weights, biases, scales, row_offsets, anti, offsets, factors, groups, nullptr, nullptr,
            nullptr, split_item, group_type, p_.list_type, p_.act, tuned, 0, ys, nullptr, nullptr, &size,
            &executor);
        run = aclnnGroupedMatmulWeightNz;
        break;
    }
    result.workspace_size = size;
    if (result.plan == 0) {
      const GuardedBuffer workspace(size);
      result.run = run(workspace.device(), size, executor, stream);
      result.synchronize = aclrtSynchronizeStream(stream);
    }
    result.message = TakeErrorMessage();
    for (aclTensorList* const one : {xs, weights, biases, scales, row_offsets, anti, offsets, factors, ys}) {
      if (one != nullptr) aclDestroyTensorList(one);
    }
    if (groups != nullptr) aclDestroyTensor(groups);
    if (ints != nullptr) aclDestroyIntArray(ints);
    if (tuned != nullptr) aclDestroyIntArray(tuned);
    for (Handles* const one :
         {&x, &weight, &bias, &scale, &offset, &antiquant_scale, &antiquant_offset, &per_token, &y})
      one->Fetch();
    list.Fetch();
    return result;
  }

  // What is written, element by element; rows that no group has stay.
  void ExpectEveryElement() const {
    const int64_t groups = p_.groups();
    std::vector<std::vector<bool>> is_written(y.views.size());
    int64_t begin = 0;
    const auto entries = static_cast<int64_t>(p_.which.empty() ? groups : std::ssize(p_.which));
    int wrong = 0;
    for (int64_t i = 0; i < entries; ++i) {
      const int64_t group = p_.which.empty() ? i : p_.which[static_cast<size_t>(i)];
      const int64_t size = p_.sizes[static_cast<size_t>(i)];
      const bool cuts_terms = p_.split == Split::kTerms;
      const int64_t rows = cuts_terms ? p_.rows : size;
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t column = 0; column < p_.n; ++column) {
          const int64_t m = cuts_terms ? row : begin + row;
          double bound = 0;
          const double want =
              Element(group, m, column, cuts_terms ? begin : 0, cuts_terms ? size : p_.k, &bound);
          double got = 0;
          const HeldView& view = ResultOf(group, i, cuts_terms ? row : p_.has_y_list ? row : m, column, &got);
          if (std::isnan(want) ? std::isnan(got) : std::abs(got - want) <= bound + HalfUlp(view.dtype, want))
            continue;
          if (++wrong > 5) return;
          ADD_FAILURE() << "group " << group << ", row " << m << ", column " << column << ": " << got
                        << ", want " << want << ", bound " << bound;
        }
      }
      begin += size;
    }
    ExpectSpareRowsStay(begin);
  }

 private:
  bool IsInt8() const { return p_.types == Types::kInt8; }
  DtypeNumber XDtype() const {
    switch (p_.types) {
      case Types::kF32:
        return ACL_FLOAT;
      case Types::kF16:
        return ACL_FLOAT16;
      case Types::kInt8:
      case Types::kA8W4:
        return ACL_INT8;
      case Types::kA4W4:
        return p_.has_words ? ACL_INT32 : ACL_INT4;
      default:
        return ACL_BF16;
    }
  }
  DtypeNumber YDtype() const {
    if (IsInt8() || p_.types == Types::kA8W4 || p_.types == Types::kA4W4) return p_.y;
    return XDtype();
  }
  static double HalfUlp(DtypeNumber dtype, double value) {
    const double size = std::abs(value);
    if (dtype == ACL_FLOAT16) return std::max(size * 0x1p-11, 0x1p-25) * 1.01;
    if (dtype == ACL_BF16) return size * 0x1p-8 * 1.01;
    if (dtype == ACL_FLOAT) return size * 0x1p-22;
    return 0;
  }

  int64_t Rows() const {
    if (p_.split == Split::kTerms) return p_.rows;
    int64_t rows = p_.spare;
    for (const int64_t size : p_.sizes) rows += size;
    return rows;
  }
  int64_t Terms() const {
    if (p_.split != Split::kTerms) return p_.k;
    int64_t terms = 0;
    for (const int64_t size : p_.sizes) terms += size;
    return terms;
  }

  // Numbers as mathematics has them.
  std::vector<double> x_, weight_;             // [rows, terms]; [groups, terms, columns]
  std::vector<double> bias_, scale_, offset_;  // [groups, columns]; [groups, groups of terms, columns]
  std::vector<double> per_token_;
  std::vector<double> row_offset_;  // [groups, columns]
  std::vector<std::vector<int64_t>> rows_of_;

  double Scale(int64_t group, int64_t of_terms, int64_t column) const {
    return scale_[static_cast<size_t>((group * p_.groups_of_terms + of_terms) * p_.n + column)];
  }
  double Weight(int64_t group, int64_t k, int64_t column) const {
    return weight_[static_cast<size_t>((group * Terms() + k) * p_.n + column)];
  }

  static double Activated(int64_t act, double v) {
    switch (act) {
      case 1:
        return std::max(v, 0.0);
      case 2:
        return 0.5 * v * (1 + std::tanh(0.7978845608028654 * (v + 0.044715 * v * v * v)));
      case 4:
        return v / (1 + std::exp(-1.702 * v));
      case 5:
        return v / (1 + std::exp(-v));
      default:
        return v;
    }
  }
  double Rounded(double value, DtypeNumber dtype) const {
    unsigned char bytes[8];
    EncodeElement(dtype, value, bytes);
    return DecodeReal(dtype, bytes);
  }

  double Element(int64_t group, int64_t m, int64_t n, int64_t first, int64_t terms, double* bound) const {
    double sum = 0;
    double size = 0;
    int64_t exact = 0;
    const int64_t of_terms = p_.k / p_.groups_of_terms;
    for (int64_t k = first; k < first + terms; ++k) {
      double a = x_[static_cast<size_t>(m * Terms() + k)];
      double b = p_.split == Split::kTerms ? weight_[static_cast<size_t>(k * p_.n + n)] : Weight(group, k, n);
      if (IsInt8()) exact += static_cast<int64_t>(a) * static_cast<int64_t>(b);
      if (p_.types == Types::kA16W8 || p_.types == Types::kA16W4) {
        const double shifted = static_cast<float>(
            b + offset_[static_cast<size_t>((group * p_.groups_of_terms + k / of_terms) * p_.n + n)]);
        b = Rounded(static_cast<float>(shifted * Scale(group, k / of_terms, n)), XDtype());
      }
      if (p_.has_offset) {
        const double own = a * row_offset_[static_cast<size_t>(group * p_.n + n)];
        sum += own;
        size += std::abs(own);
      }
      if (p_.types == Types::kA8W4) a -= 8;
      if (p_.types == Types::kA8W4 || p_.types == Types::kA4W4) b *= Scale(group, k / of_terms, n);
      sum += a * b;
      size += std::abs(a * b);
    }
    const double added = p_.has_bias ? bias_[static_cast<size_t>(group * p_.n + n)] : 0;
    *bound = (size + std::abs(added)) * 0x1p-20;
    if (!IsInt8()) {
      sum += added;
      if (p_.has_per_token) {
        sum *= per_token_[static_cast<size_t>(m)];
        *bound *= std::abs(per_token_[static_cast<size_t>(m)]);
      }
      return sum;
    }
    *bound = 0;
    if (p_.has_bias && !p_.has_bf16_bias) exact += static_cast<int64_t>(added);
    if (p_.y == ACL_INT32) return static_cast<double>(static_cast<int32_t>(exact));
    float value = static_cast<float>(static_cast<int32_t>(exact)) * static_cast<float>(Scale(group, 0, n));
    if (p_.has_per_token) value *= static_cast<float>(per_token_[static_cast<size_t>(m)]);
    if (p_.has_bf16_bias) value += static_cast<float>(added);
    if (p_.y == ACL_INT8) return std::clamp(std::nearbyint(static_cast<double>(value)), -128.0, 127.0);
    if (p_.act == 0) return Rounded(value, p_.y);
    *bound = std::abs(value) * 1e-6;
    return Activated(p_.act, value);
  }

  const HeldView& ResultOf(int64_t group, int64_t entry, int64_t row, int64_t column, double* got) const {
    const HeldView& view = p_.has_y_list ? y.views[static_cast<size_t>(entry)] : y.views[0];
    Index index = {row, column};
    if (view.shape.size() == 3 && p_.split == Split::kTerms) index = {group, row, column};
    int64_t place = view.offset;
    for (size_t i = 0; i < index.size(); ++i)
      place += index[i] * view.strides[view.strides.size() - index.size() + i];
    const unsigned char* const at = view.bytes.data() + place * ElementSize(view.dtype);
    *got = IsIntegerDtype(view.dtype) ? static_cast<double>(DecodeInteger(view.dtype, at))
                                      : DecodeReal(view.dtype, at);
    return view;
  }

  void ExpectSpareRowsStay(int64_t begin) const {
    if (p_.split != Split::kRows || p_.has_y_list) return;
    const HeldView& view = y.views[0];
    for (int64_t row = begin; row < view.shape[0]; ++row) {
      for (int64_t column = 0; column < p_.n; ++column) {
        const int64_t place = view.offset + row * view.strides[0] + column * view.strides[1];
        const int64_t size = ElementSize(view.dtype);
        for (int64_t byte = 0; byte < size; ++byte) {
          if (view.bytes[static_cast<size_t>(place * size + byte)] != kUntouched) {
            ADD_FAILURE() << "row " << row << ", which no group has, was written";
            return;
          }
        }
      }
    }
  }

  // ---- how numbers are handed over ----

  // Rows of a view may have gaps between them.
  static HeldView Laid(const Shape& shape, DtypeNumber dtype, bool is_strided) {
    HeldView view{shape, Dense(shape), dtype};
    const size_t rank = shape.size();
    if (is_strided && rank == 2) view.strides[0] += 3;
    int64_t reach = 1;
    for (size_t i = 0; i < rank; ++i) reach += (shape[i] - 1) * view.strides[i];
    if (NumElements(shape) == 0) reach = 0;
    view.bytes.assign(static_cast<size_t>(reach * ElementSize(dtype)), kUntouched);
    return view;
  }
  static void Set(HeldView& view, const Index& index, double value) {
    int64_t place = view.offset;
    for (size_t i = 0; i < index.size(); ++i) place += index[i] * view.strides[i];
    unsigned char* const at = view.bytes.data() + place * ElementSize(view.dtype);
    if (IsIntegerDtype(view.dtype)) {
      EncodeIntegerElement(view.dtype, static_cast<int64_t>(value), at);
    } else {
      EncodeElement(view.dtype, value, at);
    }
  }

  // Values of a matrix, or of several behind each other, of 4 bits: INT4, or words of eight.
  HeldView Halves(const Shape& shape, const std::vector<double>& values, size_t first,
                  bool is_transposed) const {
    HeldView view{shape, Dense(shape), ACL_INT4};
    const size_t rank = shape.size();
    if (is_transposed) std::swap(view.strides[rank - 1], view.strides[rank - 2]);
    if (is_transposed) view.strides[rank - 1] = shape[rank - 2];
    if (is_transposed) view.strides[rank - 2] = 1;
    view.bytes.assign(static_cast<size_t>(NumElements(shape) / 2), 0);
    Index index(rank, 0);
    for (int64_t i = 0; i < NumElements(shape); ++i) {
      int64_t rest = i;
      int64_t place = 0;
      for (size_t dim = rank; dim-- > 0;) {
        place += rest % shape[dim] * view.strides[dim];
        rest /= shape[dim];
      }
      const auto half = static_cast<unsigned>(static_cast<int>(values[first + static_cast<size_t>(i)]) & 15);
      view.bytes[static_cast<size_t>(place / 2)] |=
          static_cast<unsigned char>(place % 2 == 0 ? half : half << 4);
    }
    if (!p_.has_words) return view;
    view.dtype = ACL_INT32;
    const size_t inner = is_transposed ? rank - 2 : rank - 1;
    view.shape[inner] /= 8;
    for (size_t dim = 0; dim < rank; ++dim) view.strides[dim] = dim == inner ? 1 : view.strides[dim] / 8;
    return view;
  }

  HeldView WeightOf(const Shape& shape, size_t first) const {
    if (Has4Bits(p_.types)) return Halves(shape, weight_, first, p_.is_transposed);
    HeldView view{shape, Dense(shape),
                  p_.types == Types::kInt8 || p_.types == Types::kA16W8 ? ACL_INT8 : XDtype()};
    const size_t rank = shape.size();
    if (p_.is_transposed) {
      view.strides[rank - 1] = shape[rank - 2];
      view.strides[rank - 2] = 1;
    }
    view.bytes.resize(static_cast<size_t>(NumElements(shape) * ElementSize(view.dtype)));
    for (int64_t i = 0; i < NumElements(shape); ++i) {
      Index index(rank);
      int64_t rest = i;
      for (size_t dim = rank; dim-- > 0;) {
        index[dim] = rest % shape[dim];
        rest /= shape[dim];
      }
      Set(view, index, weight_[first + static_cast<size_t>(i)]);
    }
    return view;
  }

  // [groups, ...] as one tensor, or as a list of them.
  Handles ForEachWeight(const Shape& each, DtypeNumber dtype, const std::vector<double>& values) const {
    Handles made;
    const int64_t groups = p_.groups();
    const auto set = [&](HeldView& view, int64_t first) {
      view.bytes.assign(static_cast<size_t>(NumElements(view.shape) * ElementSize(view.dtype)), 0);
      for (int64_t i = 0; i < NumElements(view.shape); ++i) {
        const double value = values[static_cast<size_t>(first + i)];
        unsigned char* const at = view.bytes.data() + i * ElementSize(view.dtype);
        if (dtype == ACL_UINT64 || dtype == ACL_INT64) {
          const auto number = static_cast<float>(value);
          std::memcpy(at, &number, sizeof number);
          const uint32_t high = 0x4321;
          std::memcpy(at + 4, &high, sizeof high);
        } else if (IsIntegerDtype(dtype)) {
          EncodeIntegerElement(dtype, static_cast<int64_t>(value), at);
        } else {
          EncodeElement(dtype, value, at);
        }
      }
    };
    if (p_.has_weight_list) {
      for (int64_t g = 0; g < groups; ++g) {
        HeldView view{each, Dense(each), dtype};
        set(view, g * NumElements(each));
        made.views.push_back(view);
      }
      return made;
    }
    Shape all = {groups};
    all.insert(all.end(), each.begin(), each.end());
    HeldView view{all, Dense(all), dtype};
    set(view, 0);
    made.views.push_back(view);
    return made;
  }

  double DrawNumber(DtypeNumber dtype) {
    return Rounded(static_cast<double>(random_.Between(-256, 256)) / 128, dtype);
  }
  std::vector<double> DrawAll(int64_t count, const std::function<double()>& draw) {
    std::vector<double> all;
    for (int64_t i = 0; i < count; ++i) all.push_back(draw());
    return all;
  }

  void Draw() {
    const int64_t groups = p_.groups();
    const int64_t rows = Rows();
    const int64_t terms = Terms();
    const bool are_x_integers = IsInt8() || p_.types == Types::kA8W4 || p_.types == Types::kA4W4;
    const bool is_x_half = p_.types == Types::kA4W4;
    x_ = DrawAll(rows * terms, [&] {
      if (!are_x_integers) return DrawNumber(XDtype());
      return static_cast<double>(is_x_half ? random_.Between(-8, 7) : random_.Between(-128, 127));
    });
    const int64_t of_weights = (p_.split == Split::kTerms ? 1 : groups) * terms * p_.n;
    weight_ = DrawAll(of_weights, [&] {
      if (Has4Bits(p_.types)) return static_cast<double>(random_.Between(-8, 7));
      if (IsInt8() || p_.types == Types::kA16W8) return static_cast<double>(random_.Between(-128, 127));
      return DrawNumber(XDtype());
    });
    // x.
    if (p_.split == Split::kTerms) {
      HeldView view{{rows, terms}, {1, rows}, XDtype()};
      view.bytes.resize(static_cast<size_t>(rows * terms * ElementSize(view.dtype)));
      for (int64_t m = 0; m < rows; ++m) {
        for (int64_t k = 0; k < terms; ++k) Set(view, {m, k}, x_[static_cast<size_t>(m * terms + k)]);
      }
      x.views.push_back(view);
    } else {
      int64_t begin = 0;
      const auto add = [&](int64_t count) {
        if (is_x_half) {
          x.views.push_back(Halves({count, terms}, x_, 0, false));
          return;
        }
        HeldView view = Laid({count, terms}, XDtype(), p_.is_strided);
        for (int64_t m = 0; m < count; ++m) {
          for (int64_t k = 0; k < terms; ++k)
            Set(view, {m, k}, x_[static_cast<size_t>((begin + m) * terms + k)]);
        }
        x.views.push_back(view);
        begin += count;
      };
      if (p_.has_x_list) {
        for (const int64_t size : p_.sizes) add(size);
      } else {
        add(rows);
      }
    }
    // Weights.
    if (p_.split == Split::kTerms) {
      weight.views.push_back(WeightOf({terms, p_.n}, 0));
    } else if (p_.has_weight_list) {
      for (int64_t g = 0; g < groups; ++g)
        weight.views.push_back(WeightOf({terms, p_.n}, static_cast<size_t>(g * terms * p_.n)));
    } else {
      weight.views.push_back(WeightOf({groups, terms, p_.n}, 0));
    }
    if (p_.api == Api::kNz) {
      for (HeldView& view : weight.views) {
        view.format = ACL_FORMAT_FRACTAL_NZ;
        view.storage_shape = view.shape;
      }
    }
    DrawNumbers(groups, rows);
    // y.
    const bool is_of_terms = p_.split == Split::kTerms;
    if (p_.has_y_list) {
      for (const int64_t size : p_.sizes) y.views.push_back(Laid({size, p_.n}, YDtype(), p_.is_strided));
    } else {
      y.views.push_back(
          Laid(is_of_terms ? Shape{groups, rows, p_.n} : Shape{rows, p_.n}, YDtype(), p_.is_strided));
    }
    SetGroups();
  }

  void DrawNumbers(int64_t groups, int64_t rows) {
    const int64_t of_scales = groups * p_.groups_of_terms * p_.n;
    if (p_.has_bias) {
      const bool is_whole = IsInt8() && !p_.has_bf16_bias;
      const DtypeNumber dtype = is_whole                  ? ACL_INT32
                                : IsInt8()                ? ACL_BF16
                                : XDtype() == ACL_FLOAT16 ? ACL_FLOAT16
                                                          : ACL_FLOAT;
      bias_ = DrawAll(groups * p_.n, [&] {
        return is_whole ? static_cast<double>(random_.Between(-5000, 5000)) : DrawNumber(dtype);
      });
      bias = ForEachWeight({p_.n}, dtype, bias_);
    }
    const bool is_alone = p_.types == Types::kA16W8 || p_.types == Types::kA16W4;
    const Shape each = p_.groups_of_terms > 1 ? Shape{p_.groups_of_terms, p_.n} : Shape{p_.n};
    if (is_alone || IsInt8() || p_.types == Types::kA8W4 || p_.types == Types::kA4W4) {
      const DtypeNumber dtype = is_alone                        ? XDtype()
                                : !IsInt8() || p_.y == ACL_INT8 ? ACL_UINT64
                                : p_.y == ACL_BF16              ? ACL_BF16
                                                                : ACL_FLOAT;
      const DtypeNumber as = dtype == ACL_UINT64 ? ACL_FLOAT : dtype;
      scale_ = DrawAll(of_scales, [&] { return Rounded((0.5 + random_.Unit()) / 256, as); });
      (is_alone ? antiquant_scale : scale) = ForEachWeight(each, dtype, scale_);
    }
    if (is_alone) {
      offset_ = DrawAll(of_scales, [&] { return DrawNumber(XDtype()); });
      antiquant_offset = ForEachWeight(each, XDtype(), offset_);
    }
    if (p_.has_offset) {
      row_offset_ = DrawAll(groups * p_.n, [&] { return Rounded(random_.Unit() / 64 - 0.01, ACL_FLOAT); });
      HeldView view{{groups, 1, p_.n}, {p_.n, p_.n, 1}, ACL_FLOAT};
      view.bytes.resize(row_offset_.size() * 4);
      for (int64_t g = 0; g < groups; ++g) {
        for (int64_t n = 0; n < p_.n; ++n)
          Set(view, {g, 0, n}, row_offset_[static_cast<size_t>(g * p_.n + n)]);
      }
      offset.views.push_back(view);
    }
    if (p_.has_per_token) {
      per_token_ = DrawAll(rows, [&] { return Rounded(0.25 + random_.Unit(), ACL_FLOAT); });
      HeldView view{{rows}, {1}, ACL_FLOAT};
      view.bytes.resize(static_cast<size_t>(rows * 4));
      for (int64_t m = 0; m < rows; ++m) Set(view, {m}, per_token_[static_cast<size_t>(m)]);
      per_token.views.push_back(view);
    }
  }

  void SetGroups() {
    split_item = p_.has_y_list ? 0 : 3;
    group_type = p_.split == Split::kNone ? -1 : p_.split == Split::kRows ? 0 : 2;
    has_list = p_.split != Split::kNone && !p_.has_x_list;
    std::vector<int64_t> ends;
    int64_t end = 0;
    for (const int64_t size : p_.sizes) ends.push_back(end += size);
    if (p_.api == Api::kV1 || p_.api == Api::kV2) {
      if (has_list || p_.api == Api::kV1) array = ends;
      has_list = false;
      return;
    }
    if (p_.list_type == kPairs) {
      std::vector<int64_t> pairs;
      for (size_t i = 0; i < p_.which.size(); ++i) {
        pairs.push_back(p_.which[i]);
        pairs.push_back(p_.sizes[i]);
      }
      SetList({std::ssize(p_.which), 2}, pairs);
    } else {
      SetList({std::ssize(p_.sizes)}, p_.list_type == kEnds ? ends : p_.sizes);
    }
  }

 public:
  void SetList(const Shape& shape, const std::vector<int64_t>& values) {
    list = HeldView{shape, Dense(shape), ACL_INT64};
    list.bytes.resize(values.size() * 8);
    std::memcpy(list.bytes.data(), values.data(), list.bytes.size());
  }

 private:
  Problem p_;
  RandomNumbers random_;
};

std::vector<Problem> Problems() {
  std::vector<Problem> all;
  const auto add = [&](Problem problem) { all.push_back(problem); };
  for (const Types types : {Types::kF32, Types::kF16, Types::kBf16}) {
    for (const bool has_bias : {false, true}) {
      for (const bool has_weight_list : {false, true}) {
        for (const bool is_transposed : {false, true}) {
          add({.types = types,
               .list_type = kEnds,
               .spare = 2,
               .has_weight_list = has_weight_list,
               .is_transposed = is_transposed,
               .is_strided = is_transposed,
               .has_bias = has_bias});
        }
      }
    }
    add({.types = types, .sizes = {1, 1, 1, 0, 1}, .k = 600, .n = 70, .is_transposed = true});
    add({.types = types, .sizes = {40, 2, 300}, .k = 520, .n = 90, .has_bias = true});
    add({.types = types, .split = Split::kTerms, .sizes = {30, 0, 300}, .rows = 33, .n = 40});
    add({.types = types, .split = Split::kTerms, .api = Api::kV4, .list_type = kEnds, .rows = 1, .n = 1});
    add({.types = types, .split = Split::kTerms, .api = Api::kV2, .list_type = kEnds, .rows = 9, .n = 5});
    add({.types = types,
         .split = Split::kNone,
         .has_weight_list = true,
         .has_x_list = true,
         .has_y_list = true,
         .has_bias = true});
    add({.types = types,
         .api = Api::kV3,
         .list_type = kEnds,
         .has_weight_list = true,
         .has_x_list = true,
         .has_bias = true});
    add({.types = types, .api = Api::kV2, .list_type = kEnds, .has_weight_list = true, .has_y_list = true});
    add({.types = types, .api = Api::kV2, .list_type = kEnds, .has_bias = true});
    add({.types = types, .api = Api::kNz, .k = 64, .n = 64, .is_transposed = true});
  }
  add({.types = Types::kF16,
       .split = Split::kNone,
       .api = Api::kV1,
       .list_type = kEnds,
       .has_weight_list = true,
       .has_x_list = true,
       .has_y_list = true});
  for (const DtypeNumber y : {ACL_INT32, ACL_INT8, ACL_BF16, ACL_FLOAT16}) {
    for (const bool is_transposed : {false, true}) {
      Problem one{.types = Types::kInt8,
                  .spare = 1,
                  .is_transposed = is_transposed,
                  .has_bias = is_transposed,
                  .has_per_token = y == ACL_BF16 || y == ACL_FLOAT16,
                  .y = y};
      add(one);
      one.sizes = {5, 40, 0, 1};
      one.k = 700;
      one.n = 66;
      one.has_weight_list = true;
      add(one);
      one.api = Api::kNz;
      one.has_weight_list = false;
      one.k = 96;
      one.n = 64;
      add(one);
    }
    add({.types = Types::kInt8,
         .list_type = kPairs,
         .sizes = {2, 3, 1, 4},
         .which = {2, 0, 0, 3},
         .spare = 2,
         .has_bias = true,
         .y = y});
  }
  for (const int64_t act : {1, 2, 4, 5}) {
    add({.types = Types::kInt8,
         .spare = 1,
         .k = 40,
         .has_bias = true,
         .has_per_token = true,
         .y = ACL_BF16,
         .act = act});
  }
  add({.types = Types::kInt8, .has_bias = true, .has_bf16_bias = true, .has_per_token = true, .y = ACL_BF16});
  for (const bool is_transposed : {false, true}) {
    for (const bool has_words : {false, true}) {
      add({.types = Types::kA16W4,
           .k = 64,
           .n = 16,
           .groups_of_terms = 4,
           .is_transposed = is_transposed,
           .has_words = has_words,
           .has_bias = true});
      add({.types = Types::kA16W4,
           .k = 48,
           .n = 24,
           .has_weight_list = true,
           .is_transposed = is_transposed,
           .has_words = has_words});
      for (const Types types : {Types::kA8W4, Types::kA4W4}) {
        add({.types = types,
             .spare = 1,
             .k = 128,
             .n = 32,
             .groups_of_terms = 4,
             .is_transposed = is_transposed,
             .has_words = has_words,
             .has_bias = types == Types::kA8W4,
             .has_per_token = true,
             .y = ACL_BF16});
        add({.types = types,
             .sizes = {9, 30},
             .k = 320,
             .n = 64,
             .is_transposed = is_transposed,
             .has_words = has_words,
             .has_bias = types == Types::kA8W4,
             .has_per_token = true,
             .y = ACL_FLOAT16});
      }
    }
    add({.types = Types::kA8W4,
         .sizes = {18, 0, 7, 1},
         .spare = 2,
         .k = 192,
         .n = 32,
         .groups_of_terms = 3,
         .is_transposed = is_transposed,
         .has_bias = true,
         .has_per_token = true,
         .has_offset = true,
         .y = ACL_FLOAT16});
    add({.types = Types::kA16W8, .spare = 1, .is_transposed = is_transposed, .has_bias = true});
    add({.types = Types::kA16W8,
         .split = Split::kNone,
         .has_weight_list = true,
         .has_x_list = true,
         .has_y_list = true,
         .is_transposed = is_transposed});
  }
  return all;
}

TEST(GroupedProducts, EveryElementOnEveryInstructionSet) {
  const std::vector<Problem> problems = Problems();
  for (const engine::Isa isa : IsasToTest()) {
    const ScopedEnvironment environment(
        Variables{{"PORTACL_ISA", engine::IsaName(isa)},
                  {"PORTACL_NUM_THREADS", isa == IsasToTest().front() ? "1" : "3"}});
    for (size_t i = 0; i < problems.size(); ++i) {
      SCOPED_TRACE(std::string(engine::IsaName(isa)) + ", problem " + std::to_string(i));
      Case one(problems[i], 17 * i + 1);
      const CallResult result = one.Run(environment.stream());
      ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.synchronize << " " << result.message;
      one.ExpectEveryElement();
      if (HasFailure()) return;
    }
  }
}

TEST(GroupedProducts, SameBitsForAnyThreadsAndInstructionSet) {
  for (const Types types : {Types::kF32, Types::kBf16, Types::kInt8, Types::kA16W8, Types::kA8W4}) {
    Problem problem{.types = types,
                    .sizes = {70, 0, 5, 130, 1},
                    .k = 512,
                    .n = 160,
                    .has_bias = types == Types::kA8W4,
                    .has_per_token = types == Types::kInt8 || types == Types::kA8W4,
                    .y = ACL_BF16};
    std::vector<unsigned char> first;
    for (const engine::Isa isa : IsasToTest()) {
      for (const char* const threads : {"1", "2", "3", "7"}) {
        const ScopedEnvironment environment(
            Variables{{"PORTACL_ISA", engine::IsaName(isa)}, {"PORTACL_NUM_THREADS", threads}});
        Case one(problem, 5);
        const CallResult result = one.Run(environment.stream());
        ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
        if (first.empty()) first = one.y.views[0].bytes;
        ASSERT_EQ(one.y.views[0].bytes, first) << engine::IsaName(isa) << ", " << threads << " threads";
      }
    }
  }
}

// Lists that do not fit: what there is is computed, nothing else is touched, and the stream fails where rows are asked for that are not there.
struct BadList {
  int64_t list_type;
  std::vector<int64_t> values;
  std::vector<int64_t> sizes;  // what is computed
  const char* says;            // nullptr: the stream does not fail
};

TEST(GroupedProducts, ListsThatDoNotFit) {
  const BadList lists[] = {
      {kSizes, {3, 2, 9}, {3, 2, 2}, "has the value 9 at element 2"},
      {kSizes, {3, -2, 4}, {3, 0, 4}, nullptr},
      {kSizes, {std::numeric_limits<int64_t>::max(), 1, 1}, {7, 0, 0}, "at element 0"},
      {kSizes, {std::numeric_limits<int64_t>::min(), 1, 1}, {0, 1, 1}, nullptr},
      {kEnds, {5, 3, 7}, {5, 0, 2}, nullptr},
      {kEnds, {2, 8, 7}, {2, 5, 0}, "has the value 8 at element 1"},
      {kEnds, {-1, std::numeric_limits<int64_t>::max(), 0}, {0, 7, 0}, "at element 1"},
  };
  for (const bool raises : {true, false}) {
    Variables variables;
    if (!raises) variables.push_back({"PORTACL_INDEX_ERRORS", "ignore"});
    const ScopedEnvironment environment(variables);
    for (const BadList& bad : lists) {
      Problem computed{.list_type = bad.list_type, .sizes = bad.sizes};
      int64_t rows = 0;
      for (const int64_t size : bad.sizes) rows += size;
      computed.spare = 7 - rows;
      Case one(computed, 3);
      one.SetList({3}, bad.values);
      const CallResult result = one.Run(environment.stream());
      ASSERT_EQ(result.run, 0);
      const bool fails = raises && bad.says != nullptr;
      EXPECT_EQ(result.synchronize, fails ? ACL_ERROR_RT_AICORE_EXCEPTION : 0) << result.message;
      if (fails) {
        EXPECT_NE(result.message.find(bad.says), std::string::npos) << result.message;
      }
      one.ExpectEveryElement();
      // The next right call is right.
      Case next({}, 4);
      ASSERT_TRUE(next.Run(environment.stream()).Succeeded());
      next.ExpectEveryElement();
      if (HasFailure()) return;
    }
  }
}

TEST(GroupedProducts, PairsEndAtNoSizeAndAtNoGroup) {
  const ScopedEnvironment environment(Variables{});
  for (const bool is_size : {true, false}) {
    Problem computed{
        .types = Types::kInt8, .list_type = kPairs, .sizes = {2}, .which = {3}, .spare = 5, .y = ACL_INT32};
    Case one(computed, 3);
    one.SetList({3, 2},
                is_size ? std::vector<int64_t>{3, 2, 0, 0, 1, 2} : std::vector<int64_t>{3, 2, 4, 2, 1, 2});
    const CallResult result = one.Run(environment.stream());
    EXPECT_EQ(result.synchronize, is_size ? 0 : ACL_ERROR_RT_AICORE_EXCEPTION);
    if (!is_size) {
      EXPECT_NE(result.message.find("has the value 4 at element 2, accepted: groups from 0 to 3"),
                std::string::npos)
          << result.message;
    }
    one.ExpectEveryElement();
  }
}

// Lists of floats may be longer on Ascend 950.
TEST(GroupedProducts, ManyTensors) {
  for (const Product product : {Product::kA2, Product::k950}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)}});
    for (const size_t count : {size_t{128}, size_t{129}, size_t{1024}, size_t{1025}}) {
      Case one({.types = Types::kBf16,
                .split = Split::kNone,
                .sizes = std::vector<int64_t>(count, 1),
                .k = 3,
                .n = 2,
                .has_weight_list = true,
                .has_x_list = true,
                .has_y_list = true},
               5);
      const CallResult result = one.Run(environment.stream());
      const size_t most = product == Product::k950 ? 1024 : 128;
      if (count <= most) {
        ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
        one.ExpectEveryElement();
      } else {
        EXPECT_EQ(result.plan, 161002);
        EXPECT_NE(result.message.find("at most " + std::to_string(most)), std::string::npos)
            << result.message;
      }
    }
  }
}

TEST(GroupedProducts, PairsOnAscend950) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(Product::k950)}});
  Case one({.types = Types::kInt8,
            .list_type = kPairs,
            .sizes = {3, 2},
            .which = {2, 0},
            .spare = 1,
            .y = ACL_BF16},
           7);
  const CallResult result = one.Run(environment.stream());
  ASSERT_TRUE(result.Succeeded()) << result.message;
  one.ExpectEveryElement();
  Case floats({.types = Types::kBf16, .list_type = kPairs, .sizes = {3, 2}, .which = {2, 0}}, 7);
  EXPECT_EQ(floats.Run(environment.stream()).plan, 161002);
}

// With weights of 4 bits beside x of 8 a list has sizes, whatever its type says.
TEST(GroupedProducts, SizesBesideWeightsOf4Bits) {
  const ScopedEnvironment environment(Variables{});
  Case one({.types = Types::kA8W4,
            .list_type = kEnds,
            .sizes = {2, 1, 4},
            .k = 64,
            .n = 16,
            .has_bias = true,
            .has_per_token = true,
            .y = ACL_BF16},
           9);
  one.SetList({3}, {2, 1, 4});
  ASSERT_TRUE(one.Run(environment.stream()).Succeeded());
  one.ExpectEveryElement();
}

// A deviation from a valid call, and what phase 1 says.
struct Deviation {
  const char* name;
  std::function<void(Case&)> change;
  aclnnStatus code;
  const char* says;
  Problem problem = {};
};

TEST(GroupedProducts, Contract) {
  const ScopedEnvironment environment(Variables{});
  const Problem integers{.types = Types::kInt8, .has_bias = true, .has_per_token = true, .y = ACL_BF16};
  const Problem alone{.types = Types::kA16W8};
  const Problem a8w4{
      .types = Types::kA8W4, .k = 64, .n = 16, .has_bias = true, .has_per_token = true, .y = ACL_BF16};
  Problem none{.split = Split::kNone, .has_weight_list = true, .has_x_list = true, .has_y_list = true};
  const Problem alone_of_4{.types = Types::kA16W4, .k = 64, .n = 16};
  const Problem terms{.types = Types::kF16,
                      .split = Split::kTerms,
                      .api = Api::kV2,
                      .list_type = kEnds,
                      .sizes = {4, 4},
                      .rows = 3,
                      .n = 5};
  Problem words = a8w4;
  words.has_words = true;
  const Problem words_both{.types = Types::kA4W4, .k = 64, .n = 16, .has_words = true, .y = ACL_BF16};
  const Deviation rows[] = {
      {"no x", [](Case& c) { c.x.views.clear(); }, 161001, "parameter x"},
      {"null before x",
       [](Case& c) {
         c.x.views.insert(c.x.views.begin(), HeldView{{}, {}})->null = true;
       },
       161001, "parameter x is a null pointer or has no tensors, or begins with none"},
      {"null before weight",
       [](Case& c) {
         c.weight.views.insert(c.weight.views.begin(), HeldView{{}, {}})->null = true;
       },
       161001, "parameter weight"},
      {"null before out", [](Case& c) { c.y.views[0].null = true; }, 161001, "parameter out"},
      {"weight of no dims but a 0", [](Case& c) { c.weight.views[0] = Numbers({0}, ACL_FLOAT); }, 161001,
       "parameter weight"},
      {"no weight", [](Case& c) { c.weight.views.clear(); }, 161001, "parameter weight"},
      {"no out", [](Case& c) { c.y.views.clear(); }, 161001, "parameter out"},
      {"group type", [](Case& c) { c.group_type = 1; }, 161002, "groupType has the value 1"},
      {"split item", [](Case& c) { c.split_item = 4; }, 161002, "splitItem has the value 4"},
      {"split item of none", [](Case& c) { c.split_item = 2; }, 161002, "splitItem has the value 2", none},
      {"list's rank",
       [](Case& c) {
         c.list.shape = {1, 3};
         c.list.strides = {3, 1};
       },
       161002, "groupListOptional"},
      {"list's dtype", [](Case& c) { c.list.dtype = ACL_UINT64; }, 161002, "groupListOptional"},
      {"list's length",
       [](Case& c) {
         c.SetList({2}, {3, 4});
       },
       161002, "groupListOptional"},
      {"no list", [](Case& c) { c.has_list = false; }, 161002, "groupListOptional is not there"},
      {"x's dtype", [](Case& c) { c.x.views[0].dtype = ACL_INT16; }, 161002, "x[0]"},
      {"weight's dtype", [](Case& c) { c.weight.views[0].dtype = ACL_INT32; }, 161002, "weight[0]"},
      {"y's dtype", [](Case& c) { c.y.views[0].dtype = ACL_INT32; }, 161002, "out[0]"},
      {"scale of floats",
       [](Case& c) {
         c.scale.views.push_back(Numbers({3, 12}, ACL_FLOAT));
       },
       161002, "scaleOptional"},
      {"weight's rank",
       [](Case& c) {
         c.weight.views[0] = Numbers({20, 12}, ACL_FLOAT);
       },
       161002, "weight[0]"},
      {"weight's terms",
       [](Case& c) {
         c.weight.views[0] = Numbers({3, 21, 12}, ACL_FLOAT);
       },
       161002, "weight[0]"},
      {"y's columns",
       [](Case& c) {
         c.y.views[0] = Numbers({7, 13}, ACL_FLOAT);
       },
       161002, "out[0]"},
      {"y's rows",
       [](Case& c) {
         c.y.views[0] = Numbers({8, 12}, ACL_FLOAT);
       },
       161002, "out[0]"},
      {"bias's shape", [](Case& c) { c.bias.views.push_back(Numbers({12}, ACL_FLOAT)); }, 161002,
       "biasOptional[0]"},
      {"tuning", [](Case& c) { c.tuning = {8}; }, 161002, "tuningConfigOptional"},
      {"two y", [](Case& c) { c.y.views.push_back(c.y.views[0]); }, 161002, "out has 2 tensors"},
      {"no scale", [](Case& c) { c.scale.views.clear(); }, 161002, "scaleOptional is not there", integers},
      {"scale's dtype",
       [](Case& c) {
         c.scale.views[0] = Numbers({3, 12}, ACL_FLOAT);
       },
       161002, "scaleOptional[0]", integers},
      {"scale's shape",
       [](Case& c) {
         c.scale.views[0] = Numbers({3, 11}, ACL_BF16);
       },
       161002, "scaleOptional[0]", integers},
      {"scales of rows", [](Case& c) { c.per_token.views[0] = Numbers({8}, ACL_FLOAT); }, 161002,
       "perTokenScaleOptional[0]", integers},
      {"no offsets", [](Case& c) { c.antiquant_offset.views.clear(); }, 161002,
       "antiquantOffsetOptional is not there", alone},
      {"no scales of rows", [](Case& c) { c.per_token.views.clear(); }, 161002,
       "perTokenScaleOptional is not there", a8w4},
      {"offset's shape",
       [](Case& c) {
         c.offset.views.push_back(Numbers({3, 16}, ACL_FLOAT));
       },
       161002, "offsetOptional[0]", a8w4},
      {"offset's dtype",
       [](Case& c) {
         c.offset.views.push_back(Numbers({3, 1, 16}, ACL_FLOAT16));
       },
       161002, "offsetOptional[0]", a8w4},
      {"offset of 4 bits both",
       [](Case& c) {
         c.offset.views.push_back(Numbers({3, 1, 16}, ACL_FLOAT));
       },
       161002,
       "offsetOptional is not accepted with x of 4 bits",
       {.types = Types::kA4W4, .k = 64, .n = 16, .y = ACL_BF16}},
      {"array beside a weight for each group of terms",
       [](Case& c) {
         c.weight.views = {Numbers({4, 5}, ACL_FLOAT16), Numbers({4, 5}, ACL_FLOAT16)};
         c.y.views = {Numbers({3, 5}, ACL_FLOAT16), Numbers({3, 5}, ACL_FLOAT16)};
         c.split_item = 0;
         c.array = {7, 8};
       },
       161002, "groupListOptional is not accepted where every group", terms},
      {"terms of weights alone", [](Case& c) { c.group_type = 2; }, 161002,
       "groupType has the value 2, accepted: -1 or 0 with integers", alone},
      {"terms of weights alone, 4 bits", [](Case& c) { c.group_type = 2; }, 161002,
       "groupType has the value 2, accepted: -1 or 0 with integers", alone_of_4},
      {"terms of integers", [](Case& c) { c.group_type = 2; }, 161002,
       "groupType has the value 2, accepted: -1 or 0 with integers", integers},
      {"words of weights apart",
       [](Case& c) {
         HeldView& view = c.weight.views[0];
         for (int64_t& stride : view.strides) stride *= 2;
         view.bytes.resize(2 * view.bytes.size());
       },
       161002, "weight[0]", words},
      {"words of x apart",
       [](Case& c) {
         HeldView& view = c.x.views[0];
         for (int64_t& stride : view.strides) stride *= 2;
         view.bytes.resize(2 * view.bytes.size());
       },
       161002, "x[0]", words_both},
      {"words of more elements than can be counted",
       [](Case& c) {
         c.weight.views[0].shape = {1, 1, int64_t{1} << 60};
       },
       161002, "weight[0]", words},
      {"outside",
       [](Case& c) {
         c.x.views[0].strides = {40, 1};
       },
       561103, "x[0] reaches outside"},
  };
  for (const Deviation& row : rows) {
    Case one(row.problem, 9);
    row.change(one);
    const CallResult result = one.Run(environment.stream());
    EXPECT_EQ(result.plan, row.code) << row.name << ": " << result.message;
    EXPECT_NE(result.message.find(row.says), std::string::npos) << row.name << ": " << result.message;
    Case right(row.problem, 9);
    const CallResult good = right.Run(environment.stream());
    EXPECT_TRUE(good.Succeeded()) << row.name << ": " << good.message;
    if (HasFailure()) return;
  }
}

TEST(GroupedProducts, Products) {
  for (const char* const soc : {"Ascend910A", "Ascend310B1", "Ascend310P3", "Ascend950PR_9599"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", soc}});
    const bool is_inference = std::string(soc) == "Ascend310P3";
    const bool is_950 = std::string(soc) == "Ascend950PR_9599";
    Case floats({.types = Types::kF32}, 9);
    EXPECT_EQ(floats.Run(environment.stream()).plan, is_950 ? 0 : 161002) << soc;
    Case halves({.types = Types::kF16}, 9);
    EXPECT_EQ(halves.Run(environment.stream()).plan, is_950 || is_inference ? 0 : 161002) << soc;
    Case old({.types = Types::kF16, .api = Api::kV2, .list_type = kEnds}, 9);
    EXPECT_EQ(old.Run(environment.stream()).plan, is_950 ? 0 : 161002) << soc;
  }
}

// An expanded x is no memory, what is kept of its rows would be.
TEST(GroupedProducts, SizesThatNoMemoryHolds) {
  const ScopedEnvironment environment(Variables{});
  Case one({.types = Types::kInt8, .y = ACL_BF16, .act = 1}, 9);
  constexpr int64_t kRows = int64_t{1} << 46;
  for (HeldView* const view : {&one.x.views[0], &one.y.views[0]}) {
    view->shape[0] = kRows;
    view->strides[0] = 0;
  }
  const CallResult result = one.Run(environment.stream());
  EXPECT_EQ(result.plan, 561101) << result.message;
  EXPECT_NE(result.message.find("parameter x"), std::string::npos) << result.message;
}

TEST(GroupedProducts, WithoutElements) {
  const ScopedEnvironment environment(Variables{});
  Case one({.sizes = {0, 0, 0}}, 9);
  const CallResult result = one.Run(environment.stream());
  EXPECT_TRUE(result.Succeeded()) << result.message;
  EXPECT_EQ(result.workspace_size, 0u);
  // Groups without terms are zeros.
  Problem terms{.split = Split::kTerms, .sizes = {0, 0}, .rows = 3, .n = 4};
  Case zeros(terms, 9);
  EXPECT_TRUE(zeros.Run(environment.stream()).Succeeded());
  zeros.ExpectEveryElement();
}

// Of integers without terms a sum is 0, whatever the memory of a thread held before.
TEST(GroupedProducts, IntegersWithoutTerms) {
  for (const engine::Isa isa : IsasToTest()) {
    const ScopedEnvironment environment(Variables{{"PORTACL_ISA", engine::IsaName(isa)}});
    const Problem problem{.types = Types::kInt8,
                          .split = Split::kNone,
                          .sizes = {3, 4},
                          .has_weight_list = true,
                          .has_x_list = true,
                          .has_y_list = true,
                          .y = ACL_INT32};
    Case before(problem, 9);
    ASSERT_TRUE(before.Run(environment.stream()).Succeeded());
    before.ExpectEveryElement();
    Case one(problem, 9);
    one.x.views[0] = Numbers({3, 0}, ACL_INT8);
    one.weight.views[0] = Numbers({0, problem.n}, ACL_INT8);
    const CallResult result = one.Run(environment.stream());
    ASSERT_TRUE(result.Succeeded()) << result.message;
    EXPECT_EQ(one.y.views[0].bytes, std::vector<unsigned char>(one.y.views[0].bytes.size(), 0))
        << engine::IsaName(isa);
    EXPECT_EQ(one.y.views[1].bytes, before.y.views[1].bytes) << engine::IsaName(isa);
  }
}

// A weight of a list may have its scales of groups of terms behind a first dim of 1.
TEST(GroupedProducts, ScalesBehindADimOf1) {
  const ScopedEnvironment environment(Variables{});
  Case one({.types = Types::kA16W4, .k = 64, .n = 16, .groups_of_terms = 4, .has_weight_list = true}, 9);
  for (Handles* const numbers : {&one.antiquant_scale, &one.antiquant_offset}) {
    for (HeldView& view : numbers->views) {
      view.shape = {1, 4, 16};
      view.strides = Dense(view.shape);
    }
  }
  const CallResult result = one.Run(environment.stream());
  ASSERT_TRUE(result.Succeeded()) << result.message;
  one.ExpectEveryElement();
}

// An expanded weight is no memory; pairs name few of its groups.
TEST(GroupedProducts, PairsOfAnExpandedWeight) {
  const ScopedEnvironment environment(Variables{});
  Case one({.types = Types::kInt8,
            .list_type = kPairs,
            .sizes = {5},
            .which = {0},
            .spare = 2,
            .k = 2,
            .n = 4,
            .y = ACL_INT32},
           9);
  one.weight.views[0].shape[0] = int64_t{1} << 59;
  one.weight.views[0].strides[0] = 0;
  const CallResult result = one.Run(environment.stream());
  ASSERT_TRUE(result.Succeeded()) << result.message;
  EXPECT_LT(result.workspace_size, 4096u);
  one.ExpectEveryElement();
}

TEST(GroupedProducts, RowsWithoutColumns) {
  const ScopedEnvironment environment(Variables{});
  for (const int64_t act : {0, 1}) {
    Case one({.types = Types::kInt8, .n = 0, .y = ACL_BF16, .act = act}, 9);
    const CallResult result = one.Run(environment.stream());
    EXPECT_TRUE(result.Succeeded()) << result.message;
  }
}

}  // namespace
}  // namespace portacl::testing
