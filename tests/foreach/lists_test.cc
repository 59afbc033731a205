// Operators over lists of tensors that compute every element by itself, from their descriptions; in place; and at any thread count.
// SPDX-License-Identifier: Apache-2.0
#include "list_calls.h"

#include "aclnnop/families/foreach.h"
#include "gtest/gtest.h"
#include "support/contract_suite.h"
#include "support/environment.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

const DtypeList kFloats = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
const DtypeList kFour = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT32};
const DtypeList kNarrow = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT16, ACL_INT8, ACL_UINT8};
const DtypeList kAll = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT32, ACL_INT16, ACL_INT8, ACL_UINT8};
const DtypeList kSigned = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8, ACL_INT32, ACL_INT64};

// How phase 1 of CANN's operator is made.
constexpr bool kWritten = false;
constexpr bool kGenerated = true;

int64_t Wrapped(uint64_t value) { return static_cast<int64_t>(value); }
uint64_t Bits(int64_t value) { return static_cast<uint64_t>(value); }
int64_t Power(int64_t base, int64_t exponent) {
  uint64_t result = 1;
  for (int64_t i = 0; i < exponent; ++i) result *= Bits(base);
  return Wrapped(result);
}
double Greater(double a, double b) { return std::isnan(a) || std::isnan(b) ? std::nan("") : std::max(a, b); }
double Lesser(double a, double b) { return std::isnan(a) || std::isnan(b) ? std::nan("") : std::min(a, b); }
double Between(double a, double b, double weight) {
  return weight < 0.5 ? a + weight * (b - a) : b + (weight - 1) * (b - a);
}
double SignOf(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

// As aclnnForeachRoundOffNumber says; modes are the low 8 bits.
double RoundedOff(double x, double number) {
  const double below = std::floor(x);
  const double above = std::ceil(x);
  switch (static_cast<int8_t>(static_cast<int64_t>(number))) {
    case 1:
      return x - below == 0.5 ? (std::fmod(below, 2) == 0 ? std::copysign(below, x) : std::copysign(above, x))
                              : std::copysign(x - below < 0.5 ? below : above, x);
    case 2:
      return below;
    case 3:
      return above;
    case 4:
      return std::round(x);
    case 5:
      return std::trunc(x);
    case 6:
      return std::isfinite(x) && below != above && std::fmod(below, 2) == 0 ? above : below;
    case 7:
      return x - std::trunc(x);
    default:
      return x;
  }
}

using Real = std::function<double(const double*, double)>;
using Integer = std::function<int64_t(const int64_t*, int64_t)>;

#define REAL(...)                           \
  [](const double* x, double s) -> double { \
    (void)x;                                \
    (void)s;                                \
    return __VA_ARGS__;                     \
  }
#define INTEGER(...)                           \
  [](const int64_t* x, int64_t s) -> int64_t { \
    (void)x;                                   \
    (void)s;                                   \
    return __VA_ARGS__;                        \
  }
#define OF(name) PORTACL_C_FUNCTION(aclnnForeach##name)

std::vector<ListSpec> Specs() {
  std::vector<ListSpec> all;
  const auto add = [&](ListSpec spec) -> ListSpec& {
    all.push_back(std::move(spec));
    return all.back();
  };
  add({OF(Abs), "x out", kGenerated, kFloats, kFloats, REAL(std::fabs(x[0]))});
  add({OF(Reciprocal), "x out", kGenerated, kFloats, kFloats, REAL(1 / x[0])});
  add({OF(Acos), "x out", kGenerated, kFloats, kFloats, REAL(std::acos(x[0]))});
  add({OF(Asin), "x out", kGenerated, kFloats, kFloats, REAL(std::asin(x[0]))});
  add({OF(Atan), "x out", kGenerated, kFloats, kFloats, REAL(std::atan(x[0]))});
  add({OF(Cos), "x out", kGenerated, kFloats, kFloats, REAL(std::cos(x[0]))});
  add({OF(Cosh), "x out", kGenerated, kFloats, kFloats, REAL(std::cosh(x[0]))});
  add({OF(Erf), "x out", kGenerated, kFloats, kFloats, REAL(std::erf(x[0]))});
  add({OF(Erfc), "x out", kGenerated, kFloats, kFloats, REAL(std::erfc(x[0]))});
  add({OF(Exp), "x out", kGenerated, kNarrow, kFloats, REAL(std::exp(x[0]))}).integers_as_float = true;
  add({OF(Expm1), "x out", kGenerated, kNarrow, kFloats, REAL(std::expm1(x[0]))}).integers_as_float = true;
  add({OF(Log), "x out", kGenerated, kFloats, kFloats, REAL(std::log(x[0]))});
  add({OF(Log10), "x out", kGenerated, kFloats, kFloats, REAL(std::log10(x[0]))});
  add({OF(Log1p), "x out", kGenerated, kFloats, kFloats, REAL(std::log1p(x[0]))});
  add({OF(Log2), "x out", kGenerated, kFloats, kFloats, REAL(std::log2(x[0]))});
  add({OF(Neg), "x out", kGenerated, kAll, kFour, REAL(-x[0]), INTEGER(Wrapped(0 - Bits(x[0])))});
  add({OF(Sigmoid), "x out", kGenerated, kFloats, kFloats, REAL(1 / (1 + std::exp(-x[0])))});
  add({OF(Sign), "x out", kGenerated, kSigned, kSigned, REAL(SignOf(x[0])),
       INTEGER(x[0] > 0   ? 1
               : x[0] < 0 ? -1
                          : 0)});
  add({OF(Sin), "x out", kGenerated, kFloats, kFloats, REAL(std::sin(x[0]))});
  add({OF(Sinh), "x out", kGenerated, kFloats, kFloats, REAL(std::sinh(x[0]))});
  add({OF(Sqrt), "x out", kWritten, kFloats, kFloats, REAL(std::sqrt(x[0]))});
  add({OF(Tan), "x out", kGenerated, kFloats, kFloats, REAL(std::tan(x[0]))});
  add({OF(Tanh), "x out", kGenerated, kFloats, kFloats, REAL(std::tanh(x[0]))});
  add({OF(AddListV2), "x1 x2 alpha out", kWritten, kAll, kAll, REAL(x[0] + s * x[1]),
       INTEGER(Wrapped(Bits(x[0]) + Bits(s) * Bits(x[1])))});
  add({OF(SubListV2), "x1 x2 alpha out", kWritten, kAll, kAll, REAL(x[0] - s * x[1]),
       INTEGER(Wrapped(Bits(x[0]) - Bits(s) * Bits(x[1])))});
  add({OF(AddList), "x1 x2 alpha out", kWritten, kFour, kFour, REAL(x[0] + s * x[1]),
       INTEGER(Wrapped(Bits(x[0]) + Bits(s) * Bits(x[1])))})
      .takes_wide_numbers = true;
  add({OF(SubList), "x1 x2 alpha out", kGenerated, kFour, kFour, REAL(x[0] - s * x[1]),
       INTEGER(Wrapped(Bits(x[0]) - Bits(s) * Bits(x[1])))});
  add({OF(MulList), "x1 x2 out", kWritten, kAll, kAll, REAL(x[0] * x[1]),
       INTEGER(Wrapped(Bits(x[0]) * Bits(x[1])))});
  add({OF(DivList), "x1 x2 out", kWritten, kFloats, kFloats, REAL(x[0] / x[1])});
  add({OF(MaximumList), "x1 x2 out", kGenerated, kFour, kFour, REAL(Greater(x[0], x[1])),
       INTEGER(std::max(x[0], x[1]))});
  add({OF(MinimumList), "x1 x2 out", kGenerated, kFour, kFour, REAL(Lesser(x[0], x[1])),
       INTEGER(std::min(x[0], x[1]))});
  add({OF(PowList), "x1 x2 out", kGenerated, kFour, kFour, REAL(std::pow(x[0], x[1])),
       INTEGER(Power(x[0], x[1]))})
      .powers = true;
  add({OF(AddScalarV2), "x scalar out", kWritten, kAll, kFour, REAL(x[0] + s),
       INTEGER(Wrapped(Bits(x[0]) + Bits(s)))})
      .takes_float_on_950 = true;
  add({OF(SubScalarV2), "x scalar out", kWritten, kFour, kFour, REAL(x[0] - s),
       INTEGER(Wrapped(Bits(x[0]) - Bits(s)))});
  add({OF(MulScalarV2), "x scalar out", kWritten, kFour, kFour, REAL(x[0] * s),
       INTEGER(Wrapped(Bits(x[0]) * Bits(s)))})
      .takes_float_on_950 = true;
  add({OF(DivScalarV2), "x scalar out", kWritten, kFloats, kFloats, REAL(x[0] / s)});
  add({OF(MaximumScalarV2), "x scalar out", kWritten, kFour, kFour, REAL(Greater(x[0], s)),
       INTEGER(std::max(x[0], s))})
      .has_range = true;
  add({OF(MinimumScalarV2), "x scalar out", kWritten, kFour, kFour, REAL(Lesser(x[0], s)),
       INTEGER(std::min(x[0], s))})
      .has_range = true;
  add({OF(PowScalarV2), "x scalar out", kWritten, kFour, kFour, REAL(std::pow(x[0], s)),
       INTEGER(Power(x[0], s))})
      .powers = true;
  add({OF(AddScalar), "x scalar out", kGenerated, kAll, kFour, REAL(x[0] + s),
       INTEGER(Wrapped(Bits(x[0]) + Bits(s)))})
      .takes_float_on_950 = true;
  add({OF(SubScalar), "x scalar out", kGenerated, kFour, kFour, REAL(x[0] - s),
       INTEGER(Wrapped(Bits(x[0]) - Bits(s)))});
  add({OF(MulScalar), "x scalar out", kGenerated, kFour, kFour, REAL(x[0] * s),
       INTEGER(Wrapped(Bits(x[0]) * Bits(s)))});
  add({OF(DivScalar), "x scalar out", kWritten, kFloats, kFloats, REAL(x[0] / s)}).takes_wide_numbers = true;
  add({OF(MaximumScalar), "x scalar out", kGenerated, kFour, kFour, REAL(Greater(x[0], s)),
       INTEGER(std::max(x[0], s))});
  add({OF(MinimumScalar), "x scalar out", kGenerated, kFour, kFour, REAL(Lesser(x[0], s)),
       INTEGER(std::min(x[0], s))});
  add({OF(PowScalar), "x scalar out", kGenerated, kFour, kFour, REAL(std::pow(x[0], s)),
       INTEGER(Power(x[0], s))})
      .powers = true;
  add({OF(AddScalarList), "x scalars out", kGenerated, kFour, kFour, REAL(x[0] + s),
       INTEGER(Wrapped(Bits(x[0]) + Bits(s)))});
  add({OF(SubScalarList), "x scalars out", kGenerated, kFour, kFour, REAL(x[0] - s),
       INTEGER(Wrapped(Bits(x[0]) - Bits(s)))});
  add({OF(MulScalarList), "x scalars out", kGenerated, kFour, kFour, REAL(x[0] * s),
       INTEGER(Wrapped(Bits(x[0]) * Bits(s)))});
  add({OF(DivScalarList), "x scalars out", kGenerated, kFloats, kFloats, REAL(x[0] / s)});
  add({OF(MaximumScalarList), "x scalars out", kGenerated, kFour, kFour, REAL(Greater(x[0], s)),
       INTEGER(std::max(x[0], s))});
  add({OF(MinimumScalarList), "x scalars out", kGenerated, kFour, kFour, REAL(Lesser(x[0], s)),
       INTEGER(std::min(x[0], s))});
  add({OF(PowScalarList), "x scalars out", kGenerated, kFour, kFour, REAL(std::pow(x[0], s)),
       INTEGER(Power(x[0], s))})
      .powers = true;
  add({OF(AddcmulScalarV2), "x1 x2 x3 scalar out", kWritten, kFour, kFour, REAL(x[0] + s * (x[1] * x[2])),
       INTEGER(Wrapped(Bits(x[0]) + Bits(s) * Bits(x[1]) * Bits(x[2])))})
      .takes_float_on_950 = true;
  add({OF(AddcdivScalarV2), "x1 x2 x3 scalar out", kWritten, kFloats, kFloats,
       REAL(x[0] + s * (x[1] / x[2]))});
  add({OF(AddcmulScalar), "x1 x2 x3 scalar out", kGenerated, kFour, kFour, REAL(x[0] + s * (x[1] * x[2])),
       INTEGER(Wrapped(Bits(x[0]) + Bits(s) * Bits(x[1]) * Bits(x[2])))});
  add({OF(AddcdivScalar), "x1 x2 x3 scalar out", kWritten, kFloats, kFloats, REAL(x[0] + s * (x[1] / x[2]))})
      .takes_wide_numbers = true;
  add({OF(AddcmulScalarList), "x1 x2 x3 scalars out", kGenerated, kFour, kFour,
       REAL(x[0] + s * (x[1] * x[2])), INTEGER(Wrapped(Bits(x[0]) + Bits(s) * Bits(x[1]) * Bits(x[2])))});
  add({OF(AddcdivScalarList), "x1 x2 x3 scalars out", kWritten, kFloats, kFloats,
       REAL(x[0] + s * (x[1] / x[2]))});
  add({OF(AddcmulList), "x1 x2 x3 scalars out", kGenerated, kFour, kFour, REAL(x[0] + s * (x[1] * x[2])),
       INTEGER(Wrapped(Bits(x[0]) + Bits(s) * Bits(x[1]) * Bits(x[2])))});
  add({OF(AddcdivList), "x1 x2 x3 scalars out", kGenerated, kFloats, kFloats,
       REAL(x[0] + s * (x[1] / x[2]))});
  add({OF(LerpScalar), "x1 x2 weight out", kWritten, kFloats, kFloats, REAL(Between(x[0], x[1], s))})
      .number_dtypes = {ACL_FLOAT, ACL_DOUBLE};
  add({OF(LerpList), "x1 x2 weight out", kWritten, kFloats, kFloats, REAL(Between(x[0], x[1], x[2]))});
  ListSpec& power = add({OF(PowScalarAndTensor), "scalar x out", kGenerated, kFour, kFour,
                         REAL(std::pow(s, x[0])), INTEGER(Power(s, x[0]))});
  power.number_dtypes = {ACL_FLOAT, ACL_DOUBLE, ACL_INT64};
  power.powers = true;
  const DtypeList with_int16 = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT16};
  const DtypeList with_both = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT32, ACL_INT16};
  ListSpec& round_off = add({OF(RoundOffNumber), "x roundMode out", kGenerated, with_int16, kFloats,
                             REAL(RoundedOff(x[0], s)), INTEGER(s == 7 ? 0 : x[0])});
  round_off.number_dtypes = {ACL_INT8};
  round_off.is_mode = true;
  ListSpec& round_off_v2 = add({OF(RoundOffNumberV2), "x roundMode out", kWritten, with_both, kFour,
                                REAL(RoundedOff(x[0], s)), INTEGER(s == 7 ? 0 : x[0])});
  round_off_v2.number_dtypes = {ACL_INT8, ACL_INT64};
  round_off_v2.is_mode = true;
  return all;
}

const std::vector<ListSpec>& AllSpecs() {
  static const std::vector<ListSpec> all = Specs();
  return all;
}
const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = [] {
    std::vector<OperatorSpec> operators;
    for (const ListSpec& spec : AllSpecs()) operators.push_back(OperatorOf(spec));
    return operators;
  }();
  return all;
}

PORTACL_OPERATOR_TESTS(Lists, Operators());

// Dense lists of float32, and what a call makes of them.
class DenseLists {
 public:
  // Tensors of these lengths; the last list is out, which may be the first one.
  DenseLists(const ListSpec& spec, bool in_place) : spec_(spec) {
    const std::vector<int64_t> lengths = {5, 0, 70000, 1, 16384, 3};
    RandomNumbers random(0xF0E);
    const std::vector<std::string> names = Words(spec.names);
    for (size_t i = 0; i < names.size(); ++i) {
      Argument argument;
      switch (spec.function.parameters[i]) {
        case ParameterKind::kList: {
          const bool is_out = i + 1 == names.size();
          std::vector<aclTensor*> tensors;
          for (size_t k = 0; k < lengths.size(); ++k) {
            std::vector<float>& data = memory_.emplace_back(static_cast<size_t>(lengths[k]) + 1);
            for (float& x : data) x = static_cast<float>(random.Between(1, 3000)) / 1000;
            if (first_list_.size() < lengths.size() && !is_out) first_list_.push_back(data.data());
            if (is_out) results_.push_back(in_place ? first_list_[k] : data.data());
            tensors.push_back(Dense(lengths[k], is_out ? results_[k] : data.data()));
          }
          lists_.push_back(argument.list = aclCreateTensorList(tensors.data(), tensors.size()));
          break;
        }
        case ParameterKind::kScalarList: {
          std::vector<aclScalar*> scalars;
          for (size_t k = 0; k < lengths.size(); ++k) {
            double value = 0.3 + static_cast<double>(k);
            scalars.push_back(aclCreateScalar(&value, ACL_DOUBLE));
          }
          scalars_ = aclCreateScalarList(scalars.data(), scalars.size());
          argument.scalars = scalars_;
          break;
        }
        case ParameterKind::kTensor: {
          const int64_t count = names[i] == "scalars" ? std::ssize(lengths) : 1;
          if (spec.is_mode) {
            argument.tensor = tensor_ = Mode();
            break;
          }
          std::vector<float>& data = memory_.emplace_back(static_cast<size_t>(count));
          for (float& x : data) x = static_cast<float>(random.Between(1, 3000)) / 1000;
          argument.tensor = tensor_ = Dense(count, data.data());
          break;
        }
        default: {
          double value = 0.3;
          int64_t mode = 3;
          argument.scalar = scalar_ =
              spec.is_mode ? aclCreateScalar(&mode, ACL_INT64) : aclCreateScalar(&value, ACL_DOUBLE);
        }
      }
      arguments_.push_back(argument);
    }
    lengths_ = lengths;
  }
  ~DenseLists() {
    for (aclTensorList* list : lists_) aclDestroyTensorList(list);
    if (scalars_ != nullptr) aclDestroyScalarList(scalars_);
    if (tensor_ != nullptr) aclDestroyTensor(tensor_);
    if (scalar_ != nullptr) aclDestroyScalar(scalar_);
  }
  DenseLists(const DenseLists&) = delete;
  DenseLists& operator=(const DenseLists&) = delete;

  std::vector<float> Run(aclrtStream stream) {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(spec_.function.plan(arguments_, &size, &executor), 0) << TakeErrorMessage();
    EXPECT_EQ(spec_.function.run(nullptr, size, executor, stream), 0);
    EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
    std::vector<float> all;
    for (size_t k = 0; k < results_.size(); ++k)
      all.insert(all.end(), results_[k], results_[k] + lengths_[k]);
    return all;
  }

 private:
  static aclTensor* Mode() {
    static int8_t mode = 3;
    const int64_t length = 1;
    return aclCreateTensor(&length, 1, ACL_INT8, &length, 0, ACL_FORMAT_ND, &length, 1, &mode);
  }
  static aclTensor* Dense(int64_t length, void* data) {
    const int64_t stride = 1;
    return aclCreateTensor(&length, 1, ACL_FLOAT, &stride, 0, ACL_FORMAT_ND, &length, 1, data);
  }

  const ListSpec& spec_;
  std::vector<Argument> arguments_;
  std::vector<std::vector<float>> memory_ = [] {
    std::vector<std::vector<float>> memory;
    memory.reserve(64);  // data stays where it is
    return memory;
  }();
  std::vector<float*> first_list_;
  std::vector<float*> results_;
  std::vector<int64_t> lengths_;
  std::vector<aclTensorList*> lists_;
  aclScalarList* scalars_ = nullptr;
  aclTensor* tensor_ = nullptr;
  const aclScalar* scalar_ = nullptr;
};

TEST(ListsInPlace, HaveTheBitsOfOtherCallsAtAnyThreadCount) {
  for (const ListSpec& spec : AllSpecs()) {
    std::vector<float> first;
    for (const char* threads : {"1", "2", "5"}) {
      for (const bool in_place : {false, true}) {
        const ScopedEnvironment environment(
            Variables{{"PORTACL_NUM_THREADS", threads}, {"PORTACL_SOC", SocNameOf(Product::kA2)}});
        ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
        DenseLists lists(spec, in_place);
        std::vector<float> results = lists.Run(environment.stream());
        if (first.empty()) first = results;
        ASSERT_EQ(std::memcmp(first.data(), results.data(), first.size() * sizeof(float)), 0)
            << spec.function.name << " with " << threads << " threads" << (in_place ? ", in place" : "");
      }
    }
  }
}

}  // namespace
}  // namespace portacl::testing
