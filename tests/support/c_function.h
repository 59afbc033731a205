// Describes a C function of the aclnn interface as data: the parameters of its first phase, and how to call
// both phases with arguments that are known only at run time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

namespace portacl::testing {

enum class ParameterKind { kTensor, kScalar, kInteger, kReal, kList, kArray, kText, kScalarList };

// One argument. Its parameter's kind selects the member in use.
struct Argument {
  aclTensor* tensor = nullptr;
  const aclScalar* scalar = nullptr;
  int64_t integer = 0;
  double real = 0;
  std::optional<float> single =
      {};  // a real that is passed as it is, since a conversion may raise floating-point flags
  aclTensorList* list = nullptr;
  const aclIntArray* array = nullptr;
  const char* text = nullptr;
  const aclScalarList* scalars = nullptr;
  const aclBoolArray* flags = nullptr;  // the same numbers as the array's
};

struct CFunction {
  const char* name = nullptr;
  std::span<const ParameterKind> parameters;  // without workspaceSize and executor
  aclnnStatus (*plan)(std::span<const Argument> arguments, uint64_t* workspace_size,
                      aclOpExecutor** executor);
  aclnnStatus (*run)(void* workspace, uint64_t size, aclOpExecutor* executor, aclrtStream stream);
};

template <class T>
inline constexpr ParameterKind kKindOf =
    std::is_convertible_v<T, const aclTensor*>       ? ParameterKind::kTensor
    : std::is_convertible_v<T, const aclScalar*>     ? ParameterKind::kScalar
    : std::is_convertible_v<T, const aclTensorList*> ? ParameterKind::kList
    : std::is_convertible_v<T, const aclScalarList*> ? ParameterKind::kScalarList
    : std::is_convertible_v<T, const aclIntArray*>   ? ParameterKind::kArray
    : std::is_convertible_v<T, const char*>          ? ParameterKind::kText
    : std::is_convertible_v<T, const aclBoolArray*>  ? ParameterKind::kArray
    : std::is_floating_point_v<T>                    ? ParameterKind::kReal
                                                     : ParameterKind::kInteger;

template <class T>
T ArgumentAs(const Argument& argument) {
  if constexpr (kKindOf<T> == ParameterKind::kTensor) return argument.tensor;
  if constexpr (kKindOf<T> == ParameterKind::kScalar) return const_cast<T>(argument.scalar);
  if constexpr (kKindOf<T> == ParameterKind::kList) return argument.list;
  if constexpr (kKindOf<T> == ParameterKind::kScalarList) return argument.scalars;
  if constexpr (std::is_convertible_v<T, const aclBoolArray*>) return argument.flags;
  if constexpr (std::is_convertible_v<T, const aclIntArray*>) return argument.array;
  if constexpr (kKindOf<T> == ParameterKind::kText) return const_cast<char*>(argument.text);
  if constexpr (std::is_same_v<T, float>) {
    if (argument.single) return *argument.single;
  }
  if constexpr (kKindOf<T> == ParameterKind::kReal) return static_cast<T>(argument.real);
  if constexpr (kKindOf<T> == ParameterKind::kInteger) return static_cast<T>(argument.integer);
}

template <auto kFunction>
struct PhaseOne;

template <class... P, aclnnStatus (*kFunction)(P...)>
struct PhaseOne<kFunction> {
  static constexpr size_t kCount = sizeof...(P) - 2;
  template <size_t I>
  using Parameter = std::tuple_element_t<I, std::tuple<P...>>;

  template <size_t... I>
  static constexpr std::array<ParameterKind, kCount> Kinds(std::index_sequence<I...>) {
    return {kKindOf<Parameter<I>>...};
  }
  static constexpr std::array<ParameterKind, kCount> kKinds = Kinds(std::make_index_sequence<kCount>());

  template <size_t... I>
  static aclnnStatus Call(std::span<const Argument> arguments, uint64_t* size, aclOpExecutor** executor,
                          std::index_sequence<I...>) {
    return kFunction(ArgumentAs<Parameter<I>>(arguments[I])..., size, executor);
  }
  static aclnnStatus Plan(std::span<const Argument> arguments, uint64_t* size, aclOpExecutor** executor) {
    return Call(arguments, size, executor, std::make_index_sequence<kCount>());
  }
};

}  // namespace portacl::testing

#define PORTACL_C_FUNCTION(function)                                                   \
  ::portacl::testing::CFunction {                                                      \
#function, ::portacl::testing::PhaseOne < &function##GetWorkspaceSize> ::kKinds,   \
        &::portacl::testing::PhaseOne < &function##GetWorkspaceSize> ::Plan, &function \
  }
