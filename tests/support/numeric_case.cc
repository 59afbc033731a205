// Numeric cases: see numeric_case.h.
// SPDX-License-Identifier: Apache-2.0
#include "numeric_case.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <sstream>
#include <unordered_map>

#include "float_formats.h"
#include "gtest/gtest.h"
#include "numeric_counts.h"
#include "special_values.h"
#include "two_phase.h"

namespace portacl::testing {
namespace {

std::map<DtypeNumber, double> worst_ulp;  // for each output type

class CaseCount : public ::testing::Environment {
 public:
  void TearDown() override {
    if (NumericCasesChecked() > 0) {
      std::printf("numeric cases: %lld\n", static_cast<long long>(NumericCasesChecked()));
    }
    for (const auto& [dtype, ulp] : worst_ulp) {
      std::printf("worst error of %s: %.4f ulp\n", DtypeName(dtype).c_str(), ulp);
    }
  }
};
[[maybe_unused]] const ::testing::Environment* const kCaseCount =
    ::testing::AddGlobalTestEnvironment(new CaseCount);

double RandomReal(RandomNumbers& random) {
  // Multiples of 0.5 between -2 and 2 make equal pairs frequent. The others lie in [-5, 5].
  return random.Chance(50) ? static_cast<double>(random.Between(-4, 4)) * 0.5 : random.Unit() * 10 - 5;
}

// Returns how many of a million elements are arbitrary bit patterns. One in ten is right for outputs of one
// term; a sum over many terms would then always be NaN.
int64_t SpecialPerMillion(const NumericCase& c, const Operands& operands) {
  std::vector<Shape> shapes;
  for (const HostTensor& tensor : operands.inputs) {
    shapes.push_back(tensor.shape());
  }
  const int64_t terms = NumElements(*Broadcast(shapes));
  const int64_t per_output = terms / std::max<int64_t>(operands.output.front().size(), 1);
  return c.fill == Fill::kOrdinary ? 0 : std::min<int64_t>(100000, 300000 / std::max<int64_t>(per_output, 1));
}

void FillFloating(HostTensor& tensor, int64_t special_per_million, RandomNumbers& random) {
  const std::vector<uint32_t> special = SpecialBits(tensor.dtype());
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (random.Below(1000000) < special_per_million) {
      const auto choice = static_cast<size_t>(random.Below(static_cast<int64_t>(special.size())));
      const uint64_t bits = random.Chance(50) ? special[choice] : random.Bits();
      std::memcpy(tensor.Element(i), &bits, static_cast<size_t>(ElementSize(tensor.dtype())));
    } else {
      tensor.Set(i, RandomReal(random));
    }
  }
}

void FillIntegers(HostTensor& tensor, Fill fill, RandomNumbers& random) {
  const std::vector<int64_t> special = SpecialIntegers(tensor.dtype());
  for (int64_t i = 0; i < tensor.size(); ++i) {
    int64_t value = random.Between(-3, 3);
    if (fill == Fill::kMixed && random.Chance(60)) {
      const auto choice = static_cast<size_t>(random.Below(static_cast<int64_t>(special.size())));
      value = random.Chance(80) ? special[choice] : static_cast<int64_t>(random.Bits());
    }
    EncodeIntegerElement(tensor.dtype(), value, tensor.Element(i));
  }
}

// Copies a quarter of the values of `from` to `to`, half of those off by one bit: comparisons and differences
// are most revealing where operands are equal or nearly equal.
void Correlate(const HostTensor& from, HostTensor& to, RandomNumbers& random) {
  if (from.shape() != to.shape() || !IsFloatingDtype(to.dtype())) {
    return;
  }
  for (int64_t i = 0; i < from.size(); ++i) {
    if (!random.Chance(25)) {
      continue;
    }
    const double value =
        IsFloatingDtype(from.dtype()) ? from.Real(i) : IntegerConvertedTo(to.dtype(), from.Integer(i));
    to.Set(i, value);
    if (random.Chance(50) && std::isfinite(value)) {
      *to.Element(i) ^= std::byte{1};
    }
  }
}

LogicalTensor Logical(const HostTensor& tensor) {
  LogicalTensor logical;
  logical.dtype = tensor.dtype();
  logical.shape = tensor.shape();
  const bool floating = logical.IsFloating();
  (floating ? logical.reals.reserve(static_cast<size_t>(tensor.size()))
            : logical.integers.reserve(static_cast<size_t>(tensor.size())));
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (floating) {
      logical.reals.push_back(tensor.Real(i));
    } else {
      logical.integers.push_back(tensor.Integer(i));
    }
  }
  return logical;
}

// Replaces every NaN by one NaN: its bits are not promised. Leaves imaginary parts unchanged.
void UnifyNan(DtypeNumber dtype, std::byte* element) {
  if (std::isnan(DecodeReal(dtype, element))) {
    const DtypeNumber part = dtype == ACL_COMPLEX64    ? ACL_FLOAT
                             : dtype == ACL_COMPLEX128 ? ACL_DOUBLE
                                                       : dtype;
    EncodeElement(part, std::nan(""), element);
  }
}

bool SameElement(DtypeNumber dtype, const std::byte* a, const std::byte* b) {
  const auto bytes = static_cast<size_t>(ElementSize(dtype));
  if (std::memcmp(a, b, bytes) == 0) {
    return true;
  }
  std::byte x[16];
  std::byte y[16];
  std::memcpy(x, a, bytes);
  std::memcpy(y, b, bytes);
  UnifyNan(dtype, x);
  UnifyNan(dtype, y);
  return std::memcmp(x, y, bytes) == 0;
}

// Rounds `value` to the dtype.
double Rounded(DtypeNumber dtype, double value) {
  std::byte element[16];
  EncodeElement(dtype, value, element);
  return DecodeReal(dtype, element);
}

// Tells whether `found` is a correct rounding of some value between the two.
bool Between(DtypeNumber dtype, double found, double low, double high) {
  if (std::isnan(low) || std::isnan(high)) {
    return std::isnan(found);
  }
  return Rounded(dtype, low) <= found && found <= Rounded(dtype, high);
}

// Records the error of a result, unless no bound in ulp covers it.
void CountUlp(DtypeNumber dtype, double found, double truth, double slack) {
  const FloatFormat format = dtype == ACL_FLOAT16 ? kFloat16 : dtype == ACL_BF16 ? kBfloat16 : kFloat32;
  const double ulp = Ulp(format, truth);
  if (std::isfinite(found) && std::isfinite(truth) && slack <= ulp * 0x1p-10) {
    double& worst = worst_ulp[dtype];
    worst = std::max(worst, std::fabs(found - truth) / ulp);
  }
}

// A running hash.
class Hash {
 public:
  void Add(uint64_t word) { value_ = (std::rotl(value_, 23) ^ word) * 0x9E3779B97F4A7C15u; }
  void Add(const HostTensor& tensor) {
    Add(static_cast<uint64_t>(tensor.dtype()));
    Add(tensor.shape().size());
    for (const int64_t dim : tensor.shape()) Add(static_cast<uint64_t>(dim));
    const auto bytes = static_cast<size_t>(ElementSize(tensor.dtype()));
    for (int64_t i = 0; i < tensor.size(); ++i) {
      uint64_t words[2] = {};
      std::memcpy(words, tensor.Element(i), bytes);
      Add(words[0]);
      if (bytes > sizeof words[0]) Add(words[1]);
    }
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0x51ED27;
};

// The call's function, attributes and inputs, and the output's dtype and shape.
uint64_t HashCall(const NumericDescription& op, const NumericCase& c, const Operands& operands) {
  Hash hash;
  hash.Add(std::hash<std::string>()(op.binding.name));
  hash.Add(std::bit_cast<uint64_t>(op.max_ulp));
  hash.Add(static_cast<uint64_t>(c.attributes.reduction) * 2 + (c.attributes.log_target ? 1 : 0));
  hash.Add(std::bit_cast<uint32_t>(c.attributes.beta));
  for (const HostTensor& input : operands.inputs) hash.Add(input);
  hash.Add(static_cast<uint64_t>(operands.output.front().dtype()));
  for (const int64_t dim : operands.output.front().shape()) hash.Add(static_cast<uint64_t>(dim));
  return hash.value();
}

uint64_t HashOf(const HostTensor& tensor) {
  Hash hash;
  hash.Add(tensor);
  return hash.value();
}

// Results that the oracle found right, by their calls. The next instruction set gives the same bits, and needs no oracle.
std::unordered_map<uint64_t, uint64_t>& RightResults() {
  static std::unordered_map<uint64_t, uint64_t> results;
  return results;
}

std::string Bytes(const std::byte* element, int64_t count) {
  std::ostringstream text;
  text << "0x" << std::hex;
  for (int64_t i = count; i-- > 0;) {
    text.width(2);
    text.fill('0');
    text << static_cast<int>(element[i]);
  }
  return text.str();
}

std::vector<LogicalTensor> LogicalInputs(const Operands& operands) {
  std::vector<LogicalTensor> logical;
  for (const HostTensor& input : operands.inputs) logical.push_back(Logical(input));
  return logical;
}

// What is wrong with the output; empty if nothing.
std::string FaultOf(const NumericDescription& op, const Prediction& expected, const HostTensor& output) {
  if (expected.shape != output.shape()) {
    return "the oracle gives shape " + ToString(expected.shape) + ", the case has " +
           ToString(output.shape());
  }

  const DtypeNumber dtype = output.dtype();
  const int64_t element_bytes = ElementSize(dtype);
  for (int64_t i = 0; i < output.size(); ++i) {
    const auto at = static_cast<size_t>(i);
    const double found = DecodeReal(dtype, output.Element(i));
    const double value = expected.value[at];
    const double truth = expected.truth[at];
    const double slack = expected.slack.empty() ? 0 : expected.slack[at];

    std::byte element[16] = {};
    EncodeElement(dtype, value, element);
    const bool as_predicted = expected.upper.empty() ? SameElement(dtype, output.Element(i), element)
                                                     : Between(dtype, found, value, expected.upper[at]);
    const double tolerance = std::isfinite(truth) ? op.max_ulp * FloatUlp(truth) + slack : 0;
    const bool within_bound =
        std::isinf(slack) || Between(dtype, found, truth - tolerance, truth + tolerance);
    if (!as_predicted || !within_bound) {
      std::ostringstream reason;
      reason.precision(17);
      reason << "element " << i << " is " << Bytes(output.Element(i), element_bytes) << " (" << found
             << "), exactly " << truth << ", predicted " << Bytes(element, element_bytes) << " (" << value
             << ")";
      if (!expected.upper.empty()) {
        reason << " to " << expected.upper[at];
      }
      return reason.str() + (as_predicted ? ": as predicted, but outside the bound" : "");
    }
    CountUlp(dtype, found, truth, slack);
  }
  return "";
}

}  // namespace

std::string Describe(const NumericDescription& op, const NumericCase& c) {
  std::ostringstream text;
  text << op.binding.name << "(";
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const OperandPlan& plan = c.inputs[i];
    text << op.binding.tensors[i] << " " << DtypeName(plan.dtype) << ToString(plan.shape) << " "
         << LayoutName(plan.layout) << ", ";
  }
  text << op.binding.tensors.back() << " " << DtypeName(c.output.dtype) << " " << LayoutName(c.output.layout)
       << "; reduction " << c.attributes.reduction << ", beta " << c.attributes.beta << ", logTarget "
       << c.attributes.log_target << ", seed " << c.seed << ", in place " << c.in_place;
  if (c.fp_mode != nullptr) {
    text << ", floating-point environment: " << c.fp_mode->name;
  }
  text << ")";
  return text.str();
}

Operands MakeOperands(const NumericDescription& op, const NumericCase& c) {
  RandomNumbers random(c.seed * 0x51ED27 + 7);
  std::vector<DtypeNumber> dtypes;
  for (const OperandPlan& plan : c.inputs) {
    dtypes.push_back(plan.dtype);
  }
  if (!op.accepts_dtypes(dtypes)) {
    dtypes.assign(dtypes.size(), dtypes.front());
  }
  DtypeNumber output_dtype = c.output.dtype;
  if (op.output_has_dtype_of >= 0) {
    DtypeNumber& deciding = dtypes[static_cast<size_t>(op.output_has_dtype_of)];
    deciding = c.in_place >= 0 ? dtypes[static_cast<size_t>(c.in_place)] : deciding;
    output_dtype = deciding;
  }

  Operands operands;
  std::vector<Shape> shapes;
  for (size_t i = 0; i < dtypes.size(); ++i) {
    const OperandPlan& plan = c.inputs[i];
    shapes.push_back(plan.shape);
    operands.inputs.emplace_back(dtypes[i], MakeView(plan.shape, plan.layout, random), plan.placement);
  }
  if (c.in_place >= 0) {
    const HostTensor& shared = operands.inputs[static_cast<size_t>(c.in_place)];
    operands.output.push_back(HostTensor::SharingStorageOf(shared, shared.view()));
  } else {
    operands.output.emplace_back(output_dtype, MakeView(op.output_shape(shapes), c.output.layout, random),
                                 c.output.placement);
  }
  return operands;
}

void FillInputs(const NumericCase& c, Operands& operands) {
  RandomNumbers random(c.seed);
  const int64_t special_per_million = SpecialPerMillion(c, operands);
  for (HostTensor& tensor : operands.inputs) {
    if (IsFloatingDtype(tensor.dtype())) {
      FillFloating(tensor, special_per_million, random);
    } else {
      FillIntegers(tensor, c.fill, random);
    }
  }
  if (operands.inputs.size() >= 2) {
    HostTensor& last = operands.inputs.back();
    Correlate(operands.inputs[operands.inputs.size() - 2], last, random);
  }
}

bool CheckOperands(const NumericDescription& op, const NumericCase& c, Operands& operands,
                   aclrtStream stream) {
  HostTensor& output = operands.output.front();
  std::vector<aclTensor*> handles;
  for (HostTensor& input : operands.inputs) {
    handles.push_back(input.Handle());
    input.Remember();
  }
  handles.push_back(output.Handle());
  output.Remember();
  // In place a call overwrites an input, from which the oracle may have to compute after all.
  const uint64_t call_hash = c.in_place < 0 ? HashCall(op, c, operands) : 0;
  const bool is_known = c.in_place < 0 && RightResults().contains(call_hash);
  Prediction expected;
  if (!is_known) expected = op.oracle(LogicalInputs(operands), c.attributes);

  const CallResult call = CallTwoPhase(op.binding, handles, c.attributes, stream, c.fp_mode);
  const auto fail = [&](const std::string& reason) {
    ADD_FAILURE() << reason << "\n  in " << Describe(op, c);
    return false;
  };
  std::vector<DtypeNumber> input_dtypes;
  for (const HostTensor& input : operands.inputs) {
    input_dtypes.push_back(input.dtype());
  }
  if (!op.takes(ProductInUse(), input_dtypes, output.dtype())) {
    ++CountsOfThisProcess().refused;
    constexpr aclnnStatus kInvalidParameter = 161002;
    return call.plan == kInvalidParameter ||
           fail("this product does not take these dtypes, but phase 1 gave " + std::to_string(call.plan));
  }
  ++CountsOfThisProcess().cases;
  if (!call.Succeeded()) {
    return fail("phase 1 gave " + std::to_string(call.plan) + ", phase 2 " + std::to_string(call.run) +
                ", synchronisation " + std::to_string(call.synchronize) + ": " + call.message);
  }
  if (!call.fp_state_kept) {
    return fail("the caller's floating-point environment was changed");
  }
  if (!is_known || HashOf(output) != RightResults()[call_hash]) {
    if (is_known) expected = op.oracle(LogicalInputs(operands), c.attributes);
    const std::string fault = FaultOf(op, expected, output);
    if (!fault.empty()) return fail(fault);
    if (c.in_place < 0) RightResults()[call_hash] = HashOf(output);
  }

  for (size_t i = 0; i < operands.inputs.size(); ++i) {
    if (static_cast<int>(i) != c.in_place && !operands.inputs[i].Unchanged()) {
      return fail("bytes of input " + op.binding.tensors[i] + " or around it were written");
    }
  }
  if (!output.UnchangedOutsideView()) {
    return fail("bytes outside the output's view were written");
  }
  return true;
}

bool CheckCase(const NumericDescription& op, const NumericCase& c, aclrtStream stream) {
  Operands operands = MakeOperands(op, c);
  FillInputs(c, operands);
  return CheckOperands(op, c, operands, stream);
}

std::vector<std::byte> ComputeBytes(const NumericDescription& op, const NumericCase& c, aclrtStream stream) {
  ++CountsOfThisProcess().cases;
  Operands operands = MakeOperands(op, c);
  FillInputs(c, operands);
  std::vector<aclTensor*> handles;
  for (HostTensor& input : operands.inputs) {
    handles.push_back(input.Handle());
  }
  HostTensor& output = operands.output.front();
  handles.push_back(output.Handle());
  const CallResult call = CallTwoPhase(op.binding, handles, c.attributes, stream, c.fp_mode);
  EXPECT_TRUE(call.Succeeded()) << call.message << "\n  in " << Describe(op, c);
  const auto element_bytes = static_cast<size_t>(ElementSize(output.dtype()));
  std::vector<std::byte> bytes(static_cast<size_t>(output.size()) * element_bytes);
  for (int64_t i = 0; i < output.size(); ++i) {
    std::byte* element = &bytes[static_cast<size_t>(i) * element_bytes];
    std::memcpy(element, output.Element(i), element_bytes);
    UnifyNan(output.dtype(), element);
  }
  return bytes;
}

int64_t NumericCasesChecked() { return CountsOfThisProcess().cases; }

NumericCounts& CountsOfThisProcess() {
  static NumericCounts counts;
  return counts;
}

}  // namespace portacl::testing
