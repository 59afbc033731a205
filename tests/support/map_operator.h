// Describes an elementwise operator: its C function, the answers of phase 1 by CANN's checks, and the
// expected value of every result element. The suites of map_suite.h run over such descriptions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "c_function.h"
#include "contract_suite.h"
#include "dtype_rules.h"
#include "shapes.h"

namespace portacl::testing {

__extension__ typedef __int128 Int;  // holds every integer of 64 bits, signed or not

// A value that a caller passes as a scalar or an attribute.
struct Number {
  long double real = 0;
  long double imaginary = 0;
};

struct Operand {
  bool null = false;
  DtypeNumber dtype = ACL_FLOAT;  // of a tensor or scalar
  Shape shape = {2, 3};
  int32_t format = ACL_FORMAT_ND;
  bool contiguous = true;
  Number value = {1, 0};  // of a scalar or attribute
};

// Returns the value of a text attribute: "none" for 0, "tanh" for 1, and an unknown text otherwise.
const char* TextOf(const Operand& operand);

struct MapOperator;

// One call as phase 1 sees it, and the values that the checks derive.
struct MapCall {
  MapCall(const MapOperator& op, Product product);

  // Returns an operand by its name in the out-of-place form. self and out mean selfRef in the in-place form.
  Operand& operator[](const std::string& name);
  size_t Index(const std::string& name) const;
  const std::string& Name(const std::string& name) const;  // as this form of the operator calls it
  bool Is(std::initializer_list<Product> products) const;

  const MapOperator* op;
  Product product;
  std::vector<Operand> operands;  // in the order of the C signature
  DtypeNumber promoted = kUndefinedDtype;
  Shape broadcast;
};

// The answer of phase 1. The message of a failure names one of `names`, and says every word of `says`. Success before the last check is the
// early exit for empty tensors.
inline constexpr aclnnStatus kUndetermined = -1;  // the rules leave the result open
struct Verdict {
  aclnnStatus code = 0;
  std::vector<std::string> names = {};
  std::vector<std::string> says = {};
};

// A check; nullopt if the call passes it.
using Rule = std::function<std::optional<Verdict>(MapCall&)>;

// Computes a result element. The functions take the operands without the output (in place: with it) in the
// order of the C signature, each in the dtype of the computation; attributes stay unconverted. With `single`
// and `twofold`, floating results are exact: the float32 or float64 of IEEE arithmetic. Otherwise `real` is
// the mathematical value, and the result may be this many units in the last place away before it is rounded
// to the output's dtype.
struct Oracle {
  std::function<float(const float*)> single = {};
  std::function<double(const double*)> twofold = {};
  std::function<long double(const long double*)> real = {};
  double ulp32 = 1;
  double ulp64 = 1;
  std::function<long double(const long double*)> slack = {};  // so far besides, absolutely
  std::function<Int(const Int*)> integer = {};  // a scalar that is cast to a float is rounded down

  // For complex numbers: the distance is at most ulp_complex units of `scale` (of the value's modulus if
  // empty). Only finite operands and results of moderate size are compared.
  std::function<std::complex<long double>(const std::complex<long double>*)> complex = {};
  std::function<long double(const std::complex<long double>*)> scale = {};
  double ulp_complex = 4;

  bool truth = false;                                // the results are BOOL
  bool flips_bool = false;                           // also accepts the other BOOL value
  bool complex_to_real = false;                      // the results are of the dtype of a part
  bool zero_sign_free = false;                       // either zero is right
  bool rounds_scalars = false;                       // to FLOAT16 and BF16 too; else they stay float32
  std::function<bool(const Int*)> any_integer = {};  // operands for which every result is right
  std::function<bool(const long double*)> any_real = {};
};

struct MapOperator {
  CFunction function;
  std::vector<std::string> names;  // of the parameters
  std::vector<Rule> rules;
  Oracle oracle;

  DtypeNumber dtype = ACL_FLOAT;                                 // of the valid call's tensors and scalars
  std::vector<std::pair<std::string, DtypeNumber>> dtypes = {};  // of operands that differ
  std::vector<std::pair<std::string, Shape>> shapes = {};        // of operands with another shape
  std::vector<Number> values = {{1, 0}, {2, 0}, {-0.75L, 0}, {3.7L, 0}};  // of scalars, one after the other
  std::vector<Number> integers = {};                                      // of attributes; empty: as `values`
  std::vector<std::pair<std::string, DtypeNumber>> casts =
      {};  // operands that are not cast to the promoted dtype
  std::string output = "out";
  bool in_place = false;                   // the output is an input too
  bool unary_domain = false;               // its domain is [-20, 20] rather than all numbers
  std::vector<std::string> optional = {};  // operands that may be null together with a present one
  std::vector<std::string> ignored = {};   // unread tensors of any dtype and shape
  Product product = Product::kA2;          // product on which its numbers are tested

  size_t Output() const;
  bool Ignores(size_t parameter) const;
  bool IsInput(size_t parameter) const;
};

inline void PrintTo(const MapOperator* op, std::ostream* out) { *out << op->function.name; }

// Returns phase 1's answer: that of the first rule that fails. Sets call.promoted and call.broadcast.
Verdict Expected(MapCall& call);

// Returns the dtype to which an operand is cast. Call Expected first.
DtypeNumber CastOf(const MapCall& call, size_t operand);

// All descriptions, defined in tests/maps.
const std::vector<MapOperator>& ArithmeticOperators();
const std::vector<MapOperator>& SelectionOperators();
const std::vector<MapOperator>& UnaryOperators();
const std::vector<MapOperator>& ActivationOperators();

}  // namespace portacl::testing
