// Cases of the determinism test: see cases.h.
// SPDX-License-Identifier: Apache-2.0
#include "determinism/cases.h"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <utility>

#include "support/float_formats.h"
#include "support/random_numbers.h"

namespace portacl::testing {
namespace {

constexpr FloatFormat kFloat64{11, 52};

// Bits of a number of a floating type: mostly near 1 with few significant bits, so that operands are often equal and
// products often exact or tied; then anything at all; then the ends of the range.
uint64_t FloatingBits(const FloatFormat& format, RandomNumbers& random) {
  // Every number is drawn in a statement of its own: compilers differ in the order of a call's arguments.
  const uint64_t sign = random.Chance(50) ? format.SignBit() : 0;
  const uint64_t fraction = random.Bits() & ((uint64_t{1} << format.fraction_bits) - 1);
  const int64_t draw = random.Below(100);
  const auto compose = [&](int64_t exponent, uint64_t low_bits) {
    return sign | static_cast<uint64_t>(exponent) << format.fraction_bits | low_bits;
  };
  const int64_t largest = (int64_t{1} << format.exponent_bits) - 1;
  if (draw < 40) {
    const uint64_t few = (fraction & 7) << (format.fraction_bits - 3);
    return compose(format.Bias() + random.Between(-2, 2), few);
  }
  if (draw < 60) return compose(format.Bias() + random.Between(-4, 4), fraction);
  if (draw < 75) return random.Bits();
  if (draw < 82) return compose(0, fraction);
  if (draw < 88) return compose(random.Between(1, 2), fraction);
  if (draw < 94) return compose(random.Between(largest - 3, largest - 1), fraction);
  switch (random.Below(6)) {
    case 0:
      return sign;  // zero
    case 1:
      return compose(largest, 0);  // infinity
    case 2:
      return compose(largest, uint64_t{1} << (format.fraction_bits - 1));  // quiet NaN
    case 3:
      return compose(largest, 1);  // signalling NaN
    case 4:
      return sign | 1;  // smallest
    default:
      return compose(largest, 0) - 1;  // largest finite
  }
}

// Bits of a number between -2 and 2 that is not subnormal.
uint64_t OrdinaryBits(const FloatFormat& format, bool not_negative, RandomNumbers& random) {
  const uint64_t sign_bit = uint64_t{1} << (format.exponent_bits + format.fraction_bits);  // also of float64
  const uint64_t sign = random.Chance(50) && !not_negative ? sign_bit : 0;
  const uint64_t fraction = random.Bits() & ((uint64_t{1} << format.fraction_bits) - 1);
  const auto exponent = static_cast<uint64_t>(format.Bias() - random.Below(6));
  return sign | exponent << format.fraction_bits | fraction;
}

uint64_t IntegerBits(RandomNumbers& random) {
  if (random.Chance(50)) return static_cast<uint64_t>(random.Between(-3, 3));
  const uint64_t bits = random.Bits();
  return bits >> random.Below(64);
}

bool IsNotNegative(const Subject& subject, size_t input) {
  return std::find(subject.not_negative.begin(), subject.not_negative.end(), input) !=
         subject.not_negative.end();
}

uint64_t ElementBits(const Subject& subject, size_t input, DtypeNumber dtype, RandomNumbers& random) {
  if (subject.sums_everything && IsFloatingDtype(dtype)) {
    return OrdinaryBits(dtype == ACL_DOUBLE    ? kFloat64
                        : dtype == ACL_FLOAT   ? kFloat32
                        : dtype == ACL_FLOAT16 ? kFloat16
                                               : kBfloat16,
                        IsNotNegative(subject, input), random);
  }
  switch (dtype) {
    case ACL_FLOAT:
      return FloatingBits(kFloat32, random);
    case ACL_FLOAT16:
      return FloatingBits(kFloat16, random);
    case ACL_BF16:
      return FloatingBits(kBfloat16, random);
    case ACL_DOUBLE: {
      // A float32's neighbourhood, and a little beyond its range.
      const uint64_t fraction = random.Bits() & ((uint64_t{1} << 52) - 1);
      const uint64_t kept = random.Chance(50) ? fraction : fraction & ~((uint64_t{1} << 40) - 1);
      // Draws have an order: hashes are of what they give.
      const int64_t power = random.Between(-30, 66);
      const auto exponent = static_cast<uint64_t>(1023 + power * (random.Chance(20) ? 4 : 1));
      return (random.Bits() & uint64_t{1} << 63) | exponent << 52 | kept;
    }
    default:
      return IntegerBits(random);
  }
}

// The low bytes of `bits`, lowest first.
void StoreBits(uint64_t bits, size_t bytes, std::byte* to) {
  for (size_t i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>(bits >> (8 * i));
}

uint64_t LoadBits(const std::byte* from, size_t bytes) {
  uint64_t bits = 0;
  for (size_t i = 0; i < bytes; ++i) bits |= static_cast<uint64_t>(from[i]) << (8 * i);
  return bits;
}

void FillInputs(const Subject& subject, const std::vector<GivenCase::Indices>& indices, DeterminismCase& c,
                RandomNumbers& random) {
  for (size_t k = 0; k < c.input_shapes.size(); ++k) {
    // A complex number is two numbers.
    const DtypeNumber dtype = c.input_dtypes[k] == ACL_COMPLEX64    ? DtypeNumber{ACL_FLOAT}
                              : c.input_dtypes[k] == ACL_COMPLEX128 ? DtypeNumber{ACL_DOUBLE}
                                                                    : c.input_dtypes[k];
    const auto bytes = static_cast<size_t>(ElementSize(dtype));
    const auto count =
        static_cast<size_t>(NumElements(c.input_shapes[k])) * (dtype == c.input_dtypes[k] ? 1 : 2);
    std::vector<std::byte> elements(count * bytes);
    const auto index =
        std::find_if(indices.begin(), indices.end(), [&](auto& one) { return one.input == k; });
    for (size_t i = 0; index != indices.end() && i < count; ++i) {
      const int64_t low = index->counts_from_end ? -index->below : index->least;
      StoreBits(static_cast<uint64_t>(random.Between(low, index->below - 1)), bytes, &elements[i * bytes]);
    }
    const bool alike = k > 0 && c.input_shapes[k] == c.input_shapes[k - 1] &&
                       c.input_dtypes[k] == c.input_dtypes[k - 1] && !IsNotNegative(subject, k);
    for (size_t i = 0; index == indices.end() && i < count; ++i) {
      std::byte* to = &elements[i * bytes];
      // Operands that are equal or one bit apart are the most telling.
      if (alike && random.Chance(25)) {
        StoreBits(LoadBits(&c.inputs[k - 1][i * bytes], bytes) ^ (random.Chance(50) ? 1 : 0), bytes, to);
      } else {
        StoreBits(ElementBits(subject, k, dtype, random), bytes, to);
      }
    }
    c.inputs.push_back(std::move(elements));
  }
}

template <class T>
const T& Pick(const std::vector<T>& values, RandomNumbers& random) {
  return values[static_cast<size_t>(random.Below(static_cast<int64_t>(values.size())))];
}

// Dtypes with which the operator takes integers: together they must promote to one that it computes in.
bool PromotesToListed(const NumericDescription& op, const std::vector<DtypeNumber>& dtypes) {
  DtypeNumber promoted = dtypes.front();
  for (size_t i = 1; i < dtypes.size(); ++i) promoted = PromoteDtypes(dtypes[i], promoted);
  return std::find(op.input_dtypes.begin(), op.input_dtypes.end(), promoted) != op.input_dtypes.end();
}

std::vector<DtypeNumber> RandomDtypes(const NumericDescription& op, size_t inputs, RandomNumbers& random) {
  std::vector<DtypeNumber> all = op.input_dtypes;
  all.insert(all.end(), op.integer_dtypes.begin(), op.integer_dtypes.end());
  for (;;) {
    std::vector<DtypeNumber> dtypes;
    const bool integers = random.Chance(30);
    for (size_t k = 0; k < inputs; ++k) dtypes.push_back(Pick(integers ? all : op.input_dtypes, random));
    if (PromotesToListed(op, dtypes) && op.accepts_dtypes(dtypes)) return dtypes;
  }
}

// The same for operators that say what becomes of dtypes.
std::vector<DtypeNumber> RandomDtypes(const Subject& subject, size_t inputs, RandomNumbers& random) {
  if (!subject.output_dtype) return RandomDtypes(subject.description, inputs, random);
  for (;;) {
    std::vector<DtypeNumber> dtypes(inputs, Pick(subject.description.input_dtypes, random));
    if (random.Chance(60)) {
      for (DtypeNumber& dtype : dtypes) dtype = Pick(subject.description.input_dtypes, random);
    }
    if (subject.output_dtype(dtypes) != kUndefinedDtype) return dtypes;
  }
}

std::vector<Shape> RandomShapes(const NumericDescription& op, size_t inputs, RandomNumbers& random) {
  for (;;) {
    Shape full(static_cast<size_t>(random.Below(5)));
    for (int64_t& dim : full) dim = random.Between(1, random.Chance(30) ? 40 : 7);
    std::vector<Shape> shapes(inputs, full);
    for (Shape& shape : shapes) {
      if (random.Chance(40)) continue;
      for (int64_t& dim : shape) {
        if (random.Chance(30)) dim = 1;
      }
      while (!shape.empty() && shape.front() == 1 && random.Chance(50)) shape.erase(shape.begin());
    }
    if (op.accepts(shapes)) return shapes;
  }
}

}  // namespace

bool DeterminismCase::HasOneShape() const {
  return std::all_of(input_shapes.begin(), input_shapes.end(),
                     [&](const Shape& s) { return s == output_shape; });
}

std::vector<DeterminismCase> MakeCases(const Subject& subject) {
  const NumericDescription& op = subject.description;
  const size_t inputs = op.binding.tensors.size() - 1;
  RandomNumbers random(subject.seed);
  std::vector<DeterminismCase> cases;
  const auto finish = [&](DeterminismCase c, const Attributes& attributes,
                          const std::vector<GivenCase::Indices>& indices = {}) {
    c.attributes = attributes;
    FillInputs(subject, indices, c, random);
    std::ostringstream name;
    name << op.binding.name << " " << cases.size();
    for (size_t k = 0; k < inputs; ++k) {
      name << " " << DtypeName(c.input_dtypes[k]) << ToString(c.input_shapes[k]);
    }
    const auto setting = std::find_if(op.attributes.begin(), op.attributes.end(),
                                      [&](const Attributes& a) { return &a == &attributes; });
    name << " -> " << DtypeName(c.output_dtype);
    if (!subject.given.empty()) name << ToString(c.output_shape);
    name << ", attributes " << setting - op.attributes.begin();
    c.name = name.str();
    cases.push_back(std::move(c));
  };
  for (const GivenCase& given : subject.given) {
    DeterminismCase c;
    c.input_dtypes = given.input_dtypes;
    c.input_shapes = given.input_shapes;
    c.output_dtype = given.output_dtype;
    c.output_shape = given.output_shape;
    c.format = given.format;
    finish(std::move(c), op.attributes[given.attributes], given.indices);
  }
  if (!subject.given.empty()) return cases;

  const auto add = [&](std::vector<DtypeNumber> dtypes, std::vector<Shape> shapes, DtypeNumber output,
                       const Attributes& attributes) {
    DeterminismCase c;
    c.input_dtypes = std::move(dtypes);
    c.input_shapes = std::move(shapes);
    const bool tied = op.output_has_dtype_of >= 0;
    if (subject.output_dtype)
      c.output_dtype = subject.output_dtype(c.input_dtypes);
    else
      c.output_dtype = tied ? c.input_dtypes[static_cast<size_t>(op.output_has_dtype_of)] : output;
    c.output_shape = op.output_shape(c.input_shapes);
    finish(std::move(c), attributes);
  };

  const auto add_random = [&](const std::vector<Shape>& shapes) {
    const std::vector<DtypeNumber> dtypes = RandomDtypes(subject, inputs, random);
    const DtypeNumber output = Pick(op.output_dtypes, random);
    add(dtypes, shapes, output, Pick(op.attributes, random));
  };

  if (subject.output_dtype) {
    for (const DtypeNumber dtype : op.input_dtypes) {
      const std::vector<DtypeNumber> dtypes(inputs, dtype);
      if (subject.output_dtype(dtypes) != kUndefinedDtype)
        add(dtypes, std::vector<Shape>(inputs, {1531}), dtype, op.attributes.front());
    }
    for (int i = 0; i < 6; ++i) add_random(RandomShapes(op, inputs, random));
    add_random(std::vector<Shape>(inputs, {301, 257}));
    return cases;
  }

  // Every setting with every dtype, one shape: these are cut into pieces as well.
  for (const Attributes& attributes : op.attributes) {
    for (const DtypeNumber dtype : op.input_dtypes) {
      add(std::vector<DtypeNumber>(inputs, dtype), std::vector<Shape>(inputs, {1531}), dtype, attributes);
    }
  }
  // Every output dtype.
  for (const DtypeNumber output : op.output_dtypes) {
    const std::vector<DtypeNumber> dtypes = RandomDtypes(op, inputs, random);
    add(dtypes, std::vector<Shape>(inputs, {7, 113}), output, Pick(op.attributes, random));
  }
  // Anything together.
  for (int i = 0; i < 60; ++i) add_random(RandomShapes(op, inputs, random));
  // More than one block: work for several threads.
  for (const Shape& shape : {Shape{70001}, Shape{301, 257}, Shape{5, 64, 211}}) {
    add_random(std::vector<Shape>(inputs, shape));
    add(std::vector<DtypeNumber>(inputs, ACL_FLOAT), std::vector<Shape>(inputs, shape), ACL_FLOAT,
        Pick(op.attributes, random));
    // Each input in turn broadcast along the first axis and along the last: rows and columns, also to be summed.
    for (size_t k = 0; k < inputs; ++k) {
      std::vector<Shape> shapes(inputs, shape);
      shapes[k].front() = 1;
      if (op.accepts(shapes)) add_random(shapes);
      shapes[k] = shape;
      shapes[k].back() = 1;
      if (op.accepts(shapes)) add_random(shapes);
    }
  }
  return cases;
}

uint64_t HashElements(DtypeNumber dtype, std::vector<std::byte> elements) {
  const bool is_complex = IsComplexDtype(dtype);
  const bool has_nan = is_complex || IsFloatingDtype(dtype);
  const auto part_bytes = static_cast<size_t>(ElementSize(dtype)) / (is_complex ? 2 : 1);
  // The magnitude from which on a part is NaN, and the one NaN that stands for all.
  const bool is_half = part_bytes == 2;
  const FloatFormat narrow = is_half ? (dtype == ACL_FLOAT16 ? kFloat16 : kBfloat16) : kFloat32;
  const uint64_t infinity =
      part_bytes == 8 ? uint64_t{0x7FF} << kFloat64.fraction_bits : narrow.InfinityBits();
  const uint64_t sign = uint64_t{1} << (8 * part_bytes - 1);
  uint64_t hash = 0xCBF29CE484222325u;
  for (size_t at = 0; has_nan && at + part_bytes <= elements.size(); at += part_bytes) {
    const uint64_t bits = LoadBits(&elements[at], part_bytes);
    if ((bits & (sign - 1)) > infinity) StoreBits(infinity + 1, part_bytes, &elements[at]);
  }
  for (const std::byte b : elements) hash = (hash ^ static_cast<uint64_t>(b)) * 0x100000001B3u;
  return hash;
}

}  // namespace portacl::testing
