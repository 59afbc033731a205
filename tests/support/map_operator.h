// An elementwise operator as data: its C function, what phase 1 answers, as CANN's checks are written down, and what every
// element of its result must be. The suites of map_suite.h go over such descriptions.
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

// A value that a caller passes: of a scalar or an attribute.
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

// What a text attribute is given: "none" for 0, "tanh" for 1, a text that no operator takes for others.
const char* TextOf(const Operand& operand);

struct MapOperator;

// One call as phase 1 sees it, and what the checks found out about it.
struct MapCall {
  MapCall(const MapOperator& op, Product product);

  // An operand by its name in the out-of-place form: self and out are selfRef where there is no other.
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

// What phase 1 returns. A failure's message names one of `names`; success before the last check is the early exit of
// empty tensors.
inline constexpr aclnnStatus kUndetermined = -1;  // the rules leave open what happens
struct Verdict {
  aclnnStatus code = 0;
  std::vector<std::string> names = {};
};

// A check: nullopt where the call passes it.
using Rule = std::function<std::optional<Verdict>(MapCall&)>;

// What an element of the result is. The functions take the operands without the output (in place: with it) in the order of
// the C signature, each in what is computed in, and attributes as they are. Floating results are exact where `single` and
// `twofold` are given: the float32 or float64 that IEEE arithmetic gives. Else `real` is the mathematical value and the
// result may be so many units in the last place away, before it is rounded to the output's dtype.
struct Oracle {
  std::function<float(const float*)> single = {};
  std::function<double(const double*)> twofold = {};
  std::function<long double(const long double*)> real = {};
  double ulp32 = 1;
  double ulp64 = 1;
  std::function<long double(const long double*)> slack = {};  // so far besides, absolutely
  std::function<Int(const Int*)> integer = {};  // a scalar that is cast to a float is rounded down

  // Complex numbers: the distance is at most ulp_complex units of `scale` (of the value's modulus if empty). Only finite
  // operands and results of moderate size are looked at.
  std::function<std::complex<long double>(const std::complex<long double>*)> complex = {};
  std::function<long double(const std::complex<long double>*)> scale = {};
  double ulp_complex = 4;

  bool truth = false;            // the results are BOOL
  bool flips_bool = false;       // of BOOL the other one
  bool complex_to_real = false;  // the results are of the dtype of a part
  bool zero_sign_free = false;   // which zero is not determined
  bool rounds_scalars = false;   // to FLOAT16 and BF16 too; else scalars beside these are float32
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
  std::vector<std::pair<std::string, Shape>> shapes = {};        // of operands whose shape is not the others'
  std::vector<Number> values = {{1, 0}, {2, 0}, {-0.75L, 0}, {3.7L, 0}};  // of scalars, one after the other
  std::vector<Number> integers = {};                                      // of attributes; empty: as `values`
  std::vector<std::pair<std::string, DtypeNumber>> casts =
      {};  // operands that are not cast to the promoted dtype
  std::string output = "out";
  bool in_place = false;                   // the output is an input too
  bool unary_domain = false;               // its own values make sense on [-20, 20] rather than everywhere
  std::vector<std::string> optional = {};  // operands that may be null together with a present one
  std::vector<std::string> ignored = {};   // tensors that nobody reads, whose dtype and shape may be any
  Product product = Product::kA2;          // where its numbers are tested

  size_t Output() const;
  bool Ignores(size_t parameter) const;
  bool IsInput(size_t parameter) const;
};

inline void PrintTo(const MapOperator* op, std::ostream* out) { *out << op->function.name; }

// What phase 1 answers: the first rule that fails. Sets call.promoted and call.broadcast.
Verdict Expected(MapCall& call);

// The dtype to which an operand is cast, after Expected.
DtypeNumber CastOf(const MapCall& call, size_t operand);

// Every description. Defined in tests/maps.
const std::vector<MapOperator>& ArithmeticOperators();
const std::vector<MapOperator>& SelectionOperators();
const std::vector<MapOperator>& UnaryOperators();
const std::vector<MapOperator>& ActivationOperators();

}  // namespace portacl::testing
