// What the losses compute: oracles with explicit roundings, written from the definitions.
// SPDX-License-Identifier: Apache-2.0
#include "operators/losses.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "support/answer_suite.h"
#include "support/exact_sum.h"
#include "support/float_formats.h"
#include "support/library_exp.h"
#include "support/loss_terms.h"
#include "support/ordered_sum.h"

namespace portacl::testing {
namespace {

using TermsOf = LossTerms (*)(std::span<const LogicalTensor> inputs, const Attributes& attributes);

// The operator without a reduction.
NumericDescription WithoutReduction(NumericDescription op, TermsOf terms) {
  op.oracle = [terms](std::span<const LogicalTensor> inputs, const Attributes& attributes) {
    return Elements(terms(inputs, attributes));
  };
  return op;
}

// The operator with reductions over everything; batchmean counts R's first dim.
NumericDescription WithReduction(NumericDescription op, TermsOf terms) {
  op.output_shape = [](std::span<const Shape>) { return Shape{}; };
  op.oracle = [terms](std::span<const LogicalTensor> inputs, const Attributes& attributes) {
    const LossTerms all = terms(inputs, attributes);
    float c = 1.0f;
    if (attributes.reduction == 1) {
      c = MeanFactor(NumElements(all.shape));
    } else if (attributes.reduction == 3) {
      // Without any term it is self's first dim that counts.
      const Shape& batches = all.value.empty() ? inputs[0].shape : all.shape;
      c = MeanFactor(batches.empty() ? 1 : batches.front());
    }
    return Sums(all, Shape{}, Shape{}, c);
  };
  op.max_ulp = 1;  // c rounds once; the terms are taken as they are
  return op;
}

namespace l1_loss {

// Integers go to the common type by one rounding, floating values are exact in float32 as they are.
LogicalTensor InCommonType(LogicalTensor tensor, DtypeNumber promoted) {
  if (!tensor.IsFloating()) {
    for (const int64_t value : tensor.integers) {
      tensor.reals.push_back(IntegerConvertedTo(promoted, value));
    }
  }
  return tensor;
}

LossTerms Terms(std::span<const LogicalTensor> inputs, const Attributes&) {
  const DtypeNumber promoted = PromoteDtypes(inputs[0].dtype, inputs[1].dtype);
  LossTerms terms;
  terms.shape = ForEachPair(
      InCommonType(inputs[0], promoted), InCommonType(inputs[1], promoted),
      [&](double x, double y) { terms.Add(NearestFloat(std::fabs(InFloat(x - y))), std::fabs(x - y), 0); });
  return terms;
}

}  // namespace l1_loss

namespace mse_loss {

LossTerms Terms(std::span<const LogicalTensor> inputs, const Attributes&) {
  LossTerms terms;
  terms.shape = ForEachPair(inputs[0], inputs[1], [&](double x, double y) {
    const double d = InFloat(x - y);
    terms.Add(NearestFloat(d * d), (x - y) * (x - y), 0x1p-149);
  });
  return terms;
}

}  // namespace mse_loss

namespace smooth_l1_loss {

LossTerms Terms(std::span<const LogicalTensor> inputs, const Attributes& attributes) {
  const auto beta = static_cast<double>(attributes.beta);
  LossTerms terms;
  terms.shape = ForEachPair(inputs[0], inputs[1], [&](double x, double y) {
    const double d = InFloat(x - y);
    const double term =
        std::fabs(d) < beta ? InFloat(0.5 * d) * InFloat(d / beta) : std::fabs(d) - InFloat(0.5 * beta);
    const double exact_d = x - y;
    const double exact =
        std::fabs(exact_d) < beta ? 0.5 * exact_d * (exact_d / beta) : std::fabs(exact_d) - 0.5 * beta;
    terms.Add(NearestFloat(term), exact, std::isinf(d) && !std::isinf(exact_d) ? HUGE_VAL : 0x1p-148);
  });
  return terms;
}

std::vector<Attributes> Betas(std::span<const int64_t> reductions) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<Attributes> all;
  for (const float beta :
       {1.0f, 0.5f, 2.0f, 0.0f, 0.3f, kInfinity, -0.0f, 1e-40f, 0x1p-149f, 3.0e38f, 1e-6f}) {
    all.push_back({.reduction = reductions[all.size() % reductions.size()], .beta = beta});
  }
  return all;
}

}  // namespace smooth_l1_loss

namespace kl_div {

// log's own test shows that this is what the library has, but for a few numbers out of 2^32.
double NearestLog(double t) {
  return static_cast<double>(static_cast<float>(std::log(static_cast<long double>(t))));
}

double LibraryExpOf(double t) { return static_cast<double>(LibraryExp(static_cast<float>(t))); }

LossTerms Terms(std::span<const LogicalTensor> inputs, const Attributes& attributes) {
  LossTerms terms;
  terms.shape = ForEachPair(inputs[0], inputs[1], [&](double x, double t) {
    if (attributes.log_target) {
      const double difference = InFloat(t - x);
      const bool overflows = std::isinf(difference) && std::isfinite(x) && std::isfinite(t);
      const double truth = std::exp(t) * (t - x);
      // exp is within 0.91 units in the last place, the difference within half of one; each may count double in the
      // product's.
      const double error = std::isfinite(truth) ? 2.9 * FloatUlp(truth) : 0;
      terms.Add(NearestFloat(LibraryExpOf(t) * difference), truth,
                overflows ? HUGE_VAL : error + 0x1p-149 * (std::fabs(t - x) + 1));
    } else {
      const double positive = t == 0 ? 1 : t;
      const double difference = InFloat(NearestLog(positive) - x);
      // The difference may cancel: then the error of the logarithm is what counts.
      const double exact = std::log(positive);
      const double error = 0.51 * FloatUlp(exact) + 0.5 * FloatUlp(exact - x);
      const bool overflows = std::isinf(difference) && std::isfinite(x) && t != 0;
      terms.Add(NearestFloat(t * difference), t * (exact - x),
                overflows              ? HUGE_VAL
                : std::isfinite(error) ? std::fabs(t) * error + 0x1p-149
                                       : 0);
    }
  });
  return terms;
}

}  // namespace kl_div

namespace kl_div_backward {

int64_t Divisor(const Shape& r, const Attributes& attributes) {
  switch (attributes.reduction) {
    case 1:
      return NumElements(r);
    case 3:
      return r.empty() ? 1 : r.front();
    default:
      return 1;
  }
}

// The float32 numbers at most one unit in the last place from exp(t); exact where the result is 0, 1, infinite or
// NaN.
struct ExpBounds {
  double low;
  double high;
  double truth;  // infinite where float32 is
};

ExpBounds BoundExp(double t) {
  if (std::isnan(t) || std::isinf(t) || t == 0) {
    const double exact = std::exp(t);
    return {exact, exact, exact};
  }
  const long double exact = std::exp(static_cast<long double>(t));
  const auto truth = static_cast<double>(exact);
  if (std::isinf(NearestFloat(truth))) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return {kInfinity, kInfinity, kInfinity};
  }
  const auto ulp = static_cast<long double>(FloatUlp(truth));
  constexpr float kLargest = std::numeric_limits<float>::max();
  float low = NearestFloat(static_cast<double>(exact - ulp));
  if (static_cast<long double>(low) < exact - ulp) {
    low = std::nextafter(low, kLargest);
  }
  float high = std::fmin(NearestFloat(static_cast<double>(exact + ulp)), kLargest);
  if (static_cast<long double>(high) > exact + ulp) {
    high = std::nextafter(high, 0.0f);
  }
  return {std::fmax(static_cast<double>(low), 0.0), static_cast<double>(high), truth};
}

// The terms over R in row-major order, in float32, and what mathematics gives.
struct Terms {
  Shape shape;
  std::vector<float> low;
  std::vector<float> high;  // empty: as low
  std::vector<double> truth;
  std::vector<double> slack;
};

Terms MakeTerms(std::span<const LogicalTensor> inputs, const Attributes& attributes) {
  const LogicalTensor& grad_output = inputs[0];
  const LogicalTensor& target = inputs[2];
  Terms terms;
  terms.shape = *Broadcast(inputs[1].shape, target.shape);
  const int64_t n = Divisor(terms.shape, attributes);
  const double c = n > 0 ? static_cast<double>(NearestFloat(1.0 / static_cast<double>(n))) : 1.0;

  const std::vector<int64_t> grad_at = BroadcastPositions(grad_output.shape, terms.shape);
  const std::vector<int64_t> target_at = BroadcastPositions(target.shape, terms.shape);
  // Products of float32 numbers are exact in float64, so each rounds once.
  const auto product = [](double a, double b) { return static_cast<double>(NearestFloat(a * b)); };
  const auto term = [&](double t, double g) { return NearestFloat(-product(t, g) * c); };
  for (size_t i = 0; i < static_cast<size_t>(NumElements(terms.shape)); ++i) {
    const double g = grad_output.reals[static_cast<size_t>(grad_at[i])];
    double t = target.reals[static_cast<size_t>(target_at[i])];
    double largest = t;
    if (attributes.log_target) {
      const ExpBounds bounds = BoundExp(t);
      const float first = term(bounds.low, g);
      const float second = term(bounds.high, g);
      terms.low.push_back(first <= second ? first : second);
      terms.high.push_back(first <= second ? second : first);
      t = bounds.truth;
      largest = bounds.high;
    } else {
      terms.low.push_back(term(t, g));
    }
    terms.truth.push_back(-(t * g) / static_cast<double>(n));
    const bool overflows = std::isinf(product(largest, g)) && std::isfinite(largest) && std::isfinite(g);
    // What gradual underflow of exp and of the first product costs.
    terms.slack.push_back(overflows ? std::numeric_limits<double>::infinity()
                                    : 0x1p-149 * (std::fabs(g * c) + 1));
  }
  return terms;
}

// The truth of a sum is that of its float32 terms, without rounding, where those are known.
struct OutputSum {
  ExactSum exact;
  double truth = 0;
  double magnitude = 0;
  double slack = 0;
};

Prediction PredictSums(const Terms& terms, const Shape& output_shape) {
  Prediction result;
  result.shape = output_shape;
  result.value = OrderedSums(terms.shape, terms.low, output_shape);
  const bool exact_terms = terms.high.empty();
  if (!exact_terms) {
    // Every rounding is monotone, so sums in the same order bound the sum.
    result.upper = OrderedSums(terms.shape, terms.high, output_shape);
  }
  std::vector<OutputSum> sums(result.value.size());
  const std::vector<int64_t> position = OutputPositions(terms.shape, output_shape);
  for (size_t i = 0; i < terms.low.size(); ++i) {
    OutputSum& sum = sums[static_cast<size_t>(position[i])];
    if (!std::isfinite(terms.low[i]) || !std::isfinite(terms.truth[i])) {
      sum.slack = std::numeric_limits<double>::infinity();
      continue;
    }
    sum.magnitude += std::fabs(terms.truth[i]);
    if (exact_terms) {
      sum.exact.Add(terms.low[i]);
    } else {
      sum.truth += terms.truth[i];
      sum.slack += terms.slack[i] + 5 * FloatUlp(terms.truth[i]);
    }
  }
  for (const OutputSum& sum : sums) {
    result.truth.push_back(exact_terms ? sum.exact.ToDouble() : sum.truth);
    result.slack.push_back(sum.slack + sum.magnitude * 0x1p-48);  // the roundings of float64 sums
  }
  return result;
}

Prediction Oracle(std::span<const LogicalTensor> inputs, const Attributes& attributes) {
  const Terms terms = MakeTerms(inputs, attributes);
  const Shape& self_shape = inputs[1].shape;  // nothing else of self matters
  if (self_shape != terms.shape) {
    return PredictSums(terms, self_shape);
  }
  Prediction result;
  result.shape = self_shape;
  result.value.assign(terms.low.begin(), terms.low.end());
  result.upper.assign(terms.high.begin(), terms.high.end());
  result.truth = terms.truth;
  result.slack = terms.slack;
  return result;
}

}  // namespace kl_div_backward

namespace kl_div_target_backward {

LossTerms Terms(std::span<const LogicalTensor> inputs, const Attributes& attributes) {
  const LogicalTensor& grad_output = inputs[0];
  const LogicalTensor& self = inputs[1];
  const LogicalTensor& target = inputs[2];
  LossTerms terms;
  terms.shape = *Broadcast(self.shape, target.shape);
  const int64_t n = kl_div_backward::Divisor(terms.shape, attributes);
  const double c = static_cast<double>(MeanFactor(n));

  const std::vector<int64_t> grad_at = BroadcastPositions(grad_output.shape, terms.shape);
  const std::vector<int64_t> self_at = BroadcastPositions(self.shape, terms.shape);
  const std::vector<int64_t> target_at = BroadcastPositions(target.shape, terms.shape);
  for (size_t i = 0; i < grad_at.size(); ++i) {
    const double g = grad_output.reals[static_cast<size_t>(grad_at[i])];
    const double x = self.reals[static_cast<size_t>(self_at[i])];
    const double t = target.reals[static_cast<size_t>(target_at[i])];
    const double scaled = InFloat(g * c);
    const double exact_scaled = g / static_cast<double>(n);
    // What is added may cancel, so the error is that of its parts; what underflows on the way costs 2^-150 times what
    // it is multiplied by.
    const double parts = std::fabs(exact_scaled) * (std::fabs(t) + std::fabs(x) + 1);
    const auto known = [](double slack) { return std::isfinite(slack) ? slack : HUGE_VAL; };
    if (attributes.log_target) {
      const double weight = kl_div::LibraryExpOf(t);
      const double product = InFloat(scaled * InFloat(t - x));
      const double exact_weight = std::exp(t);
      terms.Add(NearestFloat(InFloat(product * weight) + InFloat(scaled * weight)),
                (exact_scaled * (t - x)) * exact_weight + exact_scaled * exact_weight,
                known(exact_weight * parts * 0x1p-21 +
                      0x1p-148 * (parts + exact_weight + 1) * (std::fabs(t) + std::fabs(x) + 1)));
    } else {
      const double log = kl_div::NearestLog(t);
      const double exact_log = std::log(t);
      const double difference = InFloat(InFloat(scaled * log) - InFloat(scaled * x));
      const double one = InFloat(InFloat(scaled * t) / t);
      const double log_parts = std::fabs(exact_scaled) * (std::fabs(exact_log) + std::fabs(x) + 1);
      const double slack = known(log_parts * 0x1p-21 +
                                 0x1p-147 * (std::fabs(exact_log) + std::fabs(x) + 1 + 1 / std::fabs(t)));
      terms.Add(NearestFloat(difference + one),
                exact_scaled * exact_log - exact_scaled * x + exact_scaled * t / t, slack);
    }
  }
  return terms;
}

}  // namespace kl_div_target_backward

namespace l1_loss_backward {

// The value of an element as the operator sees it: integers go to the common type of all inputs by one
// rounding, floating values are exact in float32 as they are.
double ValueOf(const LogicalTensor& tensor, int64_t position, DtypeNumber promoted) {
  const auto at = static_cast<size_t>(position);
  return tensor.IsFloating() ? tensor.reals[at] : IntegerConvertedTo(promoted, tensor.integers[at]);
}

Prediction Oracle(std::span<const LogicalTensor> inputs, const Attributes& attributes) {
  const LogicalTensor& grad_output = inputs[0];
  const LogicalTensor& self = inputs[1];
  const LogicalTensor& target = inputs[2];
  const DtypeNumber promoted = PromoteDtypes(target.dtype, PromoteDtypes(grad_output.dtype, self.dtype));

  Prediction result;
  result.shape = *Broadcast(*Broadcast(self.shape, grad_output.shape), target.shape);
  const int64_t count = NumElements(result.shape);
  const bool mean = attributes.reduction == 1;
  const double c =
      mean && count > 0 ? static_cast<double>(NearestFloat(1.0 / static_cast<double>(count))) : 1.0;

  const std::vector<int64_t> grad_at = BroadcastPositions(grad_output.shape, result.shape);
  const std::vector<int64_t> self_at = BroadcastPositions(self.shape, result.shape);
  const std::vector<int64_t> target_at = BroadcastPositions(target.shape, result.shape);
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const double g = ValueOf(grad_output, grad_at[i], promoted);
    const double x = ValueOf(self, self_at[i], promoted);
    const double y = ValueOf(target, target_at[i], promoted);
    const double s = x > y ? 1.0 : x < y ? -1.0 : 0.0;
    // Both factors are float32, so the product is exact in float64 and rounds once; s is 1, 0 or -1 and exact
    // again.
    const double product = static_cast<double>(NearestFloat(g * c));
    result.value.push_back(s * product);
    result.truth.push_back(s * (mean ? g / static_cast<double>(count) : g));
  }
  return result;
}

}  // namespace l1_loss_backward

namespace mse_loss_backward {

Prediction Oracle(std::span<const LogicalTensor> inputs, const Attributes& attributes) {
  const LogicalTensor& grad_output = inputs[0];
  const LogicalTensor& self = inputs[1];
  const LogicalTensor& target = inputs[2];
  // The divisor counts self alone, before anything is broadcast.
  const int64_t n = attributes.reduction == 1 ? NumElements(self.shape) : 1;
  const double c = n > 0 ? InFloat(2.0 / static_cast<double>(n)) : 2.0;

  LossTerms terms;
  terms.shape = *Broadcast(*Broadcast(grad_output.shape, self.shape), target.shape);
  const std::vector<int64_t> grad_at = BroadcastPositions(grad_output.shape, terms.shape);
  const std::vector<int64_t> self_at = BroadcastPositions(self.shape, terms.shape);
  const std::vector<int64_t> target_at = BroadcastPositions(target.shape, terms.shape);
  for (size_t i = 0; i < grad_at.size(); ++i) {
    const double g = grad_output.reals[static_cast<size_t>(grad_at[i])];
    const double x = self.reals[static_cast<size_t>(self_at[i])];
    const double y = target.reals[static_cast<size_t>(target_at[i])];
    const double scaled = InFloat(InFloat(x - y) * c);
    // What leaves the range of float32 on the way is covered by no bound; what underflows there costs 2^-150.
    const bool overflows = std::isinf(scaled) && std::isfinite(x) && std::isfinite(y);
    terms.Add(NearestFloat(scaled * g), (x - y) * (2.0 / static_cast<double>(n)) * g,
              overflows ? HUGE_VAL : 0x1p-149 * (std::fabs(g) + 1));
  }
  return Elements(terms);
}

}  // namespace mse_loss_backward

namespace smooth_l1_loss_backward {

double Sign(double value) { return value > 0 ? 1.0 : value < 0 ? -1.0 : value == 0 ? 0.0 : value; }

double Factor(double d, double beta) { return std::fabs(d) >= beta ? Sign(d) : d / beta; }

Prediction Oracle(std::span<const LogicalTensor> inputs, const Attributes& attributes) {
  const LogicalTensor& grad_out = inputs[0];
  const LogicalTensor& self = inputs[1];
  const LogicalTensor& target = inputs[2];
  const auto beta = static_cast<double>(attributes.beta);

  Prediction result;
  result.shape = *Broadcast(*Broadcast(grad_out.shape, self.shape), target.shape);
  // The divisor counts self alone, before anything is broadcast.
  const int64_t n = attributes.reduction == 1 ? NumElements(self.shape) : 1;
  const double c = n > 0 ? static_cast<double>(NearestFloat(1.0 / static_cast<double>(n))) : 1.0;

  const std::vector<int64_t> grad_at = BroadcastPositions(grad_out.shape, result.shape);
  const std::vector<int64_t> self_at = BroadcastPositions(self.shape, result.shape);
  const std::vector<int64_t> target_at = BroadcastPositions(target.shape, result.shape);
  const auto rounded = [](double value) { return static_cast<double>(NearestFloat(value)); };
  for (size_t i = 0; i < static_cast<size_t>(NumElements(result.shape)); ++i) {
    const double g = grad_out.reals[static_cast<size_t>(grad_at[i])];
    const double x = self.reals[static_cast<size_t>(self_at[i])];
    const double y = target.reals[static_cast<size_t>(target_at[i])];
    // float64 has more than twice float32's digits, so rounding each of its results to float32 gives what one
    // operation of float32 gives.
    const double d = rounded(x - y);
    const double f = rounded(Factor(d, beta));
    result.value.push_back(rounded(rounded(f * g) * c));

    const bool overflows = std::isinf(d) && std::isfinite(x) && std::isfinite(y);
    result.truth.push_back(Factor(x - y, beta) * g / static_cast<double>(n));
    // What gradual underflow of f and of f * g costs.
    result.slack.push_back(overflows ? std::numeric_limits<double>::infinity()
                                     : 0x1p-149 * (std::fabs(g * c) + 1));
  }
  return result;
}

}  // namespace smooth_l1_loss_backward

const std::vector<DtypeNumber> kFloatDtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
const std::vector<DtypeNumber> kIntegers = {ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_BOOL};
const std::vector<DtypeNumber> kWideOutputs = {ACL_FLOAT,  ACL_FLOAT16,   ACL_BF16,
                                               ACL_DOUBLE, ACL_COMPLEX64, ACL_COMPLEX128};

// A forward loss without and with reductions.
NumericDescription Elementwise(const char* name, TermsOf terms, double max_ulp,
                               std::vector<Attributes> attributes,
                               const std::vector<DtypeNumber>& outputs = kFloatDtypes) {
  NumericDescription op;
  op.input_dtypes = kFloatDtypes;
  op.output_dtypes = outputs;
  op.max_ulp = max_ulp;
  op.attributes = std::move(attributes);
  op = WithoutReduction(op, terms);
  Describe(op, LossOperator(name));
  return op;
}
NumericDescription Reduced(const char* name, TermsOf terms, std::vector<Attributes> attributes,
                           const std::vector<DtypeNumber>& outputs = kFloatDtypes) {
  NumericDescription op = Elementwise(name, terms, 1, {{.reduction = 0}}, outputs);
  op.attributes = std::move(attributes);
  op = WithReduction(op, terms);
  Describe(op, LossOperator(name));
  return op;
}
NumericDescription WithIntegers(NumericDescription op) {
  op.integer_dtypes = kIntegers;
  return op;
}

using OracleOf = Prediction (*)(std::span<const LogicalTensor> inputs, const Attributes& attributes);
NumericDescription Gradient(const char* name, OracleOf oracle, double max_ulp,
                            std::vector<Attributes> attributes,
                            const std::vector<DtypeNumber>& outputs = kFloatDtypes) {
  NumericDescription op;
  op.input_dtypes = kFloatDtypes;
  op.output_dtypes = outputs;
  op.attributes = std::move(attributes);
  op.max_ulp = max_ulp;
  op.oracle = oracle;
  op.kink_distance = [](double, double, const Attributes&) {
    return std::numeric_limits<double>::infinity();
  };
  op.loss_divisor = [](std::span<const Shape> shapes, const Attributes& given) {
    return given.reduction == 1 ? static_cast<double>(NumElements(shapes[1])) : 1.0;
  };
  Describe(op, LossOperator(name));
  return op;
}
// One of self or target, whose shape the gradient has.
NumericDescription SummedTo(size_t input, NumericDescription op, const char* name) {
  op.output_shape = [=](std::span<const Shape> shapes) { return shapes[input]; };
  op.loss_divisor = [](std::span<const Shape> shapes, const Attributes& attributes) {
    return static_cast<double>(KlDivDivisor(*Broadcast(shapes[1], shapes[2]), attributes));
  };
  op.accepts = [=, &rules = LossOperator(name)](std::span<const Shape> shapes) {
    const std::vector<DtypeNumber> floats(3, ACL_FLOAT);
    return Accepts(rules, {{shapes.begin(), shapes.end()}, shapes[input], floats, ACL_FLOAT}, {});
  };
  return op;
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Attributes of a gradient of aclnnKlDiv: numbers that are no reduction act as none.
const std::vector<Attributes> kKlDivAttributes = {
    {.reduction = 0, .log_target = false}, {.reduction = 1, .log_target = true},
    {.reduction = 2, .log_target = false}, {.reduction = 3, .log_target = true},
    {.reduction = 1, .log_target = false}, {.reduction = 0, .log_target = true},
    {.reduction = 3, .log_target = false}, {.reduction = 2, .log_target = true},
    {.reduction = 6, .log_target = false}, {.reduction = -1, .log_target = true}};

}  // namespace

int64_t KlDivDivisor(const Shape& r, const Attributes& attributes) {
  return kl_div_backward::Divisor(r, attributes);
}

// The descriptions are never destroyed: programs call operators until they have ended.

// ---- forward: an error bound in last places, and how it comes about ----

const NumericDescription& DescribeL1Loss() {
  static const auto& op = *new NumericDescription(
      WithIntegers(Elementwise("aclnnL1Loss", l1_loss::Terms, 0.5, {{.reduction = 0}}, kWideOutputs)));
  return op;
}
const NumericDescription& DescribeReducedL1Loss() {
  static const auto& op = *new NumericDescription(
      WithIntegers(Reduced("aclnnL1Loss", l1_loss::Terms, {{.reduction = 1}, {.reduction = 2}},
                           {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_COMPLEX64})));
  return op;
}
const NumericDescription& DescribeSmoothL1Loss() {
  // d enters squared; the quotient and the product round once each.
  static const auto& op =
      *new NumericDescription(Elementwise("aclnnSmoothL1Loss", smooth_l1_loss::Terms, 3.5,
                                          smooth_l1_loss::Betas(std::vector<int64_t>{0}), kWideOutputs));
  return op;
}
const NumericDescription& DescribeReducedSmoothL1Loss() {
  static const auto& op = *new NumericDescription(Reduced("aclnnSmoothL1Loss", smooth_l1_loss::Terms,
                                                          smooth_l1_loss::Betas(std::vector<int64_t>{1, 2}),
                                                          {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_COMPLEX64}));
  return op;
}
const NumericDescription& DescribeKlDiv() {
  static const auto& op = *new NumericDescription(
      Elementwise("aclnnKlDiv", kl_div::Terms, 0.5,  // and what the terms add
                  {{.reduction = 0, .log_target = false}, {.reduction = 0, .log_target = true}}));
  return op;
}
const NumericDescription& DescribeReducedKlDiv() {
  static const auto& op = *new NumericDescription(Reduced("aclnnKlDiv", kl_div::Terms,
                                                          {{.reduction = 1, .log_target = false},
                                                           {.reduction = 2, .log_target = true},
                                                           {.reduction = 3, .log_target = false},
                                                           {.reduction = 1, .log_target = true},
                                                           {.reduction = 2, .log_target = false},
                                                           {.reduction = 3, .log_target = true}}));
  return op;
}
const NumericDescription& DescribeMseLoss() {
  // The difference rounds once and enters twice.
  static const auto& op =
      *new NumericDescription(Elementwise("aclnnMseLoss", mse_loss::Terms, 2.5, {{.reduction = 0}}));
  return op;
}
const NumericDescription& DescribeReducedMseLoss() {
  static const auto& op =
      *new NumericDescription(Reduced("aclnnMseLoss", mse_loss::Terms, {{.reduction = 1}, {.reduction = 2}}));
  return op;
}
const NumericDescription& DescribeMseLossOut() {
  static const auto& op =
      *new NumericDescription(Elementwise("aclnnMseLossOut", mse_loss::Terms, 2.5, {{.reduction = 0}}));
  return op;
}
const NumericDescription& DescribeReducedMseLossOut() {
  static const auto& description = *new NumericDescription([] {
    const auto without_first = [](const Shape& shape) {
      return shape.empty() ? Shape{} : Shape(shape.begin() + 1, shape.end());
    };
    NumericDescription op = DescribeMseLossOut();
    op.attributes = {{.reduction = 1}, {.reduction = 2}};
    op.max_ulp = 1;
    // Where an input is empty, nothing is written, also where out has elements: a test of its own.
    op.accepts = [](std::span<const Shape> shapes) {
      const std::optional<Shape> r = Broadcast(shapes);
      return r && NumElements(*r) > 0;
    };
    op.output_shape = [=](std::span<const Shape> shapes) { return without_first(*Broadcast(shapes)); };
    op.oracle = [=](std::span<const LogicalTensor> inputs, const Attributes& attributes) {
      const LossTerms terms = mse_loss::Terms(inputs, attributes);
      Shape kept = terms.shape;
      float c = 1.0f;
      if (!kept.empty()) {
        c = attributes.reduction == 1 ? MeanFactor(kept.front()) : 1.0f;
        kept.front() = 1;
      }
      return Sums(terms, kept, without_first(terms.shape), c);
    };
    return op;
  }());
  return description;
}

// ---- gradients ----

const NumericDescription& DescribeL1LossBackward() {
  static const auto& description = *new NumericDescription([] {
    NumericDescription op = WithIntegers(
        Gradient("aclnnL1LossBackward", l1_loss_backward::Oracle, 2,  // c and the product round once each
                 {{.reduction = 0}, {.reduction = 1}, {.reduction = 2}}, kWideOutputs));
    op.loss = [](double self, double target, const Attributes&) { return std::fabs(self - target); };
    op.loss_divisor = [](std::span<const Shape> shapes, const Attributes& attributes) {
      return attributes.reduction == 1 ? static_cast<double>(NumElements(*Broadcast(shapes))) : 1.0;
    };
    op.kink_distance = [](double self, double target, const Attributes&) { return std::fabs(self - target); };
    return op;
  }());
  return description;
}
const NumericDescription& DescribeSmoothL1LossBackward() {
  static const auto& description = *new NumericDescription([] {
    // d, d / beta, the two products and c round once each.
    NumericDescription op = Gradient("aclnnSmoothL1LossBackward", smooth_l1_loss_backward::Oracle, 5,
                                     {{.reduction = 0, .beta = 1.0f},
                                      {.reduction = 1, .beta = 0.5f},
                                      {.reduction = 2, .beta = 2.0f},
                                      {.reduction = 0, .beta = 0.0f},
                                      {.reduction = 1, .beta = 0.3f},
                                      {.reduction = 0, .beta = kInfinity},
                                      {.reduction = 2, .beta = -0.0f},
                                      {.reduction = 1, .beta = 1e-40f},
                                      {.reduction = 0, .beta = 0x1p-149f},
                                      {.reduction = 1, .beta = 3.0e38f},
                                      {.reduction = 2, .beta = 1e-6f}});
    op.loss = [](double self, double target, const Attributes& attributes) {
      const double d = std::fabs(self - target);
      const auto beta = static_cast<double>(attributes.beta);
      if (std::isinf(beta)) {
        return 0.0;  // the limit of d * d / (2 * beta)
      }
      return d < beta ? 0.5 * d * (d / beta) : d - 0.5 * beta;
    };
    // Where |d| is beta only the second derivative jumps, but differences see that too.
    op.kink_distance = [](double self, double target, const Attributes& attributes) {
      const double d = std::fabs(self - target);
      return std::min(d, std::fabs(d - static_cast<double>(attributes.beta)));
    };
    return op;
  }());
  return description;
}
const NumericDescription& DescribeMseLossBackward() {
  static const auto& description = *new NumericDescription([] {
    // The difference, c and two products round once each.
    NumericDescription op = Gradient("aclnnMseLossBackward", mse_loss_backward::Oracle, 3.5,
                                     {{.reduction = 0}, {.reduction = 1}, {.reduction = 2}});
    op.loss = [](double self, double target, const Attributes&) { return (self - target) * (self - target); };
    return op;
  }());
  return description;
}
const NumericDescription& DescribeKlDivBackward() {
  static const auto& description = *new NumericDescription([] {
    // Relative errors in units of 2^-24: 2 for exp, which is within 1 ulp, and 1 for each product and for c.
    NumericDescription op =
        SummedTo(1, Gradient("aclnnKlDivBackward", kl_div_backward::Oracle, 5, kKlDivAttributes),
                 "aclnnKlDivBackward");
    op.loss = [](double self, double target, const Attributes& attributes) {
      if (attributes.log_target) {
        return std::exp(target) * (target - self);
      }
      // For negative targets, where there is no logarithm, only the part that depends on self.
      return (target > 0 ? target * std::log(target) : 0.0) - target * self;
    };
    return op;
  }());
  return description;
}
const NumericDescription& DescribeKlDivTargetBackward() {
  static const auto& description = *new NumericDescription([] {
    const auto oracle = [](std::span<const LogicalTensor> inputs, const Attributes& attributes) {
      const LossTerms terms = kl_div_target_backward::Terms(inputs, attributes);
      const Shape& target = inputs[2].shape;
      return terms.shape == target ? Elements(terms) : Sums(terms, target, target, 1.0f);
    };
    NumericDescription op = SummedTo(2, Gradient("aclnnKlDivTargetBackward", oracle, 0.5, kKlDivAttributes),
                                     "aclnnKlDivTargetBackward");
    op.output_has_dtype_of = 2;
    op.accepts_dtypes = [](std::span<const DtypeNumber>) { return true; };
    // Where self is empty nothing is written, also where gradTarget has elements: a test of its own.
    op.accepts = [by_rules = op.accepts](std::span<const Shape> shapes) {
      return by_rules(shapes) && (NumElements(shapes[1]) > 0 || NumElements(shapes[2]) == 0);
    };
    op.loss = [](double self, double target, const Attributes& attributes) {
      return (attributes.log_target ? std::exp(target) : target) *
             ((attributes.log_target ? target : std::log(target)) - self);
    };
    // Without logTarget the loss has large higher derivatives near 0, and is none below.
    op.kink_distance = [](double, double target, const Attributes& attributes) {
      return attributes.log_target ? HUGE_VAL : target - 0.25;
    };
    op.gradient_by = 2;
    op.derivative_parts = [](double self, double target, const Attributes& attributes) {
      return attributes.log_target ? std::exp(target) * (std::fabs(target - self) + 1)
                                   : std::fabs(std::log(target)) + std::fabs(self) + 1;
    };
    return op;
  }());
  return description;
}

// ---- lists ----

std::vector<const NumericDescription*> AllGradients() {
  return {&DescribeL1LossBackward(), &DescribeSmoothL1LossBackward(), &DescribeKlDivBackward(),
          &DescribeKlDivTargetBackward(), &DescribeMseLossBackward()};
}
std::vector<const NumericDescription*> AllLosses() {
  return {&DescribeL1Loss(), &DescribeSmoothL1Loss(), &DescribeKlDiv(), &DescribeMseLoss(),
          &DescribeMseLossOut()};
}
std::vector<const NumericDescription*> AllReducedLosses() {
  return {&DescribeReducedL1Loss(), &DescribeReducedSmoothL1Loss(), &DescribeReducedKlDiv(),
          &DescribeReducedMseLoss(), &DescribeReducedMseLossOut()};
}
std::vector<const NumericDescription*> AllOperators() {
  std::vector<const NumericDescription*> all = AllGradients();
  for (const NumericDescription* loss : AllLosses()) all.push_back(loss);
  return all;
}

}  // namespace portacl::testing
