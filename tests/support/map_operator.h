// Describes an elementwise operator: beside what every description has, the formula of a result element, and how valid calls are drawn. The
// suites of map_suite.h run over such descriptions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "operator_spec.h"
#include "rules.h"

namespace portacl::testing {

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

// Its valid call is made of these members: see Completed.
struct MapOperator : OperatorSpec {
  Oracle formula;

  DtypeNumber dtype = ACL_FLOAT;                                 // of the valid call's tensors and scalars
  std::vector<std::pair<std::string, DtypeNumber>> dtypes = {};  // of operands that differ
  std::vector<std::pair<std::string, Shape>> shapes = {};        // of operands with another shape
  std::vector<Number> values = {{1, 0}, {2, 0}, {-0.75L, 0}, {3.7L, 0}};  // of scalars, one after the other
  std::vector<Number> integers = {};                                      // of attributes; empty: as `values`
  std::vector<std::pair<std::string, DtypeNumber>> casts =
      {};  // operands that are not cast to the promoted dtype
  std::string output = "out";
  bool unary_domain = false;              // its domain is [-20, 20] rather than all numbers
  std::vector<std::string> ignored = {};  // unread tensors of any dtype and shape

  size_t Output() const;
  bool Ignores(size_t parameter) const;
  bool IsInput(size_t parameter) const;
};

// The number that an argument passes: of a text attribute 0 for "none", 1 for "tanh", 2 for an unknown text.
Number ValueOf(const PlanArgument& argument);
void SetValue(PlanArgument& argument, Number value);

// Makes a description of what `names` calls the parameters.
MapOperator Describe(const CFunction& function, const std::string& names, const Rules& rules,
                     const Oracle& formula);
// Makes the in-place form of an operator: other names, and additional first checks.
MapOperator InPlace(const CFunction& function, const MapOperator& base, const std::string& names,
                    const Rules& first = {});
// Checks broadcast and shape of selfRef before everything else.
Rules InPlaceFirst(const std::string& names);
Rule AlphaFits(bool bool_case = true);

// Ends descriptions: makes their valid calls, and lets the last rule refuse dtypes that pass the others but have no conversion.
std::vector<MapOperator> Completed(std::vector<MapOperator> operators);
// A completed operator whose valid call has tensors and scalars of this dtype.
MapOperator OfDtype(MapOperator op, DtypeNumber dtype);

// Returns the dtype to which an operand is cast. Call Expected first.
DtypeNumber CastOf(const MapOperator& op, const PlanCall& call, size_t operand);

// All descriptions, defined in tests/maps.
const std::vector<MapOperator>& ArithmeticOperators();
const std::vector<MapOperator>& SelectionOperators();
const std::vector<MapOperator>& UnaryOperators();
const std::vector<MapOperator>& ActivationOperators();

}  // namespace portacl::testing
