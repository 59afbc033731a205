// One call of an operator as phase 1 sees it: its arguments, what rules derive from them, and the answer.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "c_function.h"
#include "dtype_rules.h"
#include "products.h"
#include "shapes.h"

namespace portacl::testing {

__extension__ typedef __int128 Int;  // holds every integer of 64 bits, signed or not

// A value that a caller passes as a scalar or an attribute.
struct Number {
  long double real = 0;
  long double imaginary = 0;
};

// Places of a tensor's elements, for calls that phase 1 alone sees. Numbers count elements.
struct Strides {
  bool are_given = false;             // else they are those of a dense tensor, passed as null
  std::vector<int64_t> of_dims = {};  // a shape of another rank has `of_any` in every dim
  int64_t of_any = 77;
  int64_t offset = 0;
  std::optional<Shape> storage = {};  // its dims; nullopt: those of the tensor

  std::vector<int64_t> For(const Shape& shape) const {
    return of_dims.size() == shape.size() ? of_dims : std::vector<int64_t>(shape.size(), of_any);
  }
};

// One argument. `kind` selects the members in use.
struct PlanArgument {
  // Are compiled once, since every description makes and copies hundreds.
  PlanArgument();
  PlanArgument(const PlanArgument& other);
  PlanArgument(PlanArgument&& other) noexcept;
  PlanArgument& operator=(const PlanArgument& other);
  PlanArgument& operator=(PlanArgument&& other) noexcept;
  ~PlanArgument();

  ParameterKind kind = ParameterKind::kTensor;
  std::string name;
  bool is_output = false;    // of a tensor or a list: written
  bool is_distinct = false;  // no two of its elements share memory, unlike those of an expanded view
  bool null = false;
  DtypeNumber dtype = ACL_FLOAT;  // of a tensor or scalar
  Shape shape = {2, 3};
  int32_t format = ACL_FORMAT_ND;
  Strides strides = {};
  bool is_unread = false;                  // needs no address
  bool is_contiguous = false;              // whether the operator takes no other view
  std::vector<PlanArgument> entries = {};  // of a list
  std::vector<PlanArgument> scalars = {};  // of a list of scalars
  std::vector<int64_t> values = {};        // of an array
  int64_t integer = 0;
  Number number = {};  // of a scalar
  double real = 0;
  std::string text = {};
};

PlanArgument TensorArg(const std::string& name, const Shape& shape, DtypeNumber dtype = ACL_FLOAT);
PlanArgument OutputArg(const std::string& name, const Shape& shape, DtypeNumber dtype = ACL_FLOAT);
PlanArgument ListArg(const std::string& name, const std::vector<Shape>& shapes, bool is_output = false,
                     DtypeNumber dtype = ACL_FLOAT);
PlanArgument ArrayArg(const std::string& name, const std::vector<int64_t>& values);
PlanArgument IntegerArg(const std::string& name, int64_t value);
PlanArgument RealArg(const std::string& name, double value);
PlanArgument TextArg(const std::string& name, const std::string& text);
PlanArgument ScalarArg(const std::string& name, Number value, DtypeNumber dtype = ACL_FLOAT);
PlanArgument ScalarsArg(const std::string& name, const std::vector<Number>& values,
                        DtypeNumber dtype = ACL_FLOAT);

struct OperatorSpec;

struct PlanCall {
  PlanCall();
  PlanCall(const PlanCall& other);
  PlanCall(PlanCall&& other) noexcept;
  PlanCall& operator=(const PlanCall& other);
  PlanCall& operator=(PlanCall&& other) noexcept;
  ~PlanCall();

  const OperatorSpec* op = nullptr;
  Product product = Product::kA2;
  std::vector<PlanArgument> arguments;  // in the order of the C signature
  bool null_workspace_size = false;
  bool null_executor = false;
  // For rules that follow: the dtype that others are cast to, and a shape, as that to which tensors broadcast.
  DtypeNumber promoted = kUndefinedDtype;
  Shape result;

  // Finds an argument by its name. With OperatorSpec::has_aliases "self" is the first one, "out" and "selfRef" are the output, where
  // no argument has this name.
  size_t Index(const std::string& name) const;
  PlanArgument& operator[](const std::string& name) { return arguments[Index(name)]; }
  const PlanArgument& operator[](const std::string& name) const { return arguments[Index(name)]; }
  const std::string& Name(const std::string& name) const { return (*this)[name].name; }
  bool Has(const std::string& name) const;  // by this very name
  bool Is(std::initializer_list<Product> products) const;
};

// Returns the tensors of a call, entries of lists one by one. A null one is nullptr.
std::vector<const PlanArgument*> TensorsOf(const PlanCall& call);

// The answer of phase 1. The message of a failure names one of `names`, and says every word of `says`. Success before the last check is the
// early exit for empty tensors.
inline constexpr aclnnStatus kUndetermined = -1;  // the rules leave the result open
struct Verdict {
  aclnnStatus code = 0;
  std::vector<std::string> names = {};
  std::vector<std::string> says = {};
};

// A check; nullopt if the call passes it.
using Rule = std::function<std::optional<Verdict>(PlanCall&)>;
using Rules = std::vector<Rule>;

std::vector<std::string> Words(const std::string& text);

}  // namespace portacl::testing

extern template class std::vector<portacl::testing::PlanArgument>;
extern template class std::vector<portacl::testing::Rule>;
