// Reductions and scans behind one signature (see reduction_operators.h).
// SPDX-License-Identifier: Apache-2.0
#include "support/reduction_operators.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <type_traits>

#include "aclnnop/families/reductions.h"

namespace portacl::testing {
namespace {

class Filling {
 public:
  Filling(const ReductionArguments& arguments, bool has_dims)
      : arguments_(arguments),
        has_dims_(has_dims),
        dims_(aclCreateIntArray(arguments.dims.data(), arguments.dims.size())),
        value_(has_dims ? arguments.number : arguments.dim),
        number_(aclCreateScalar(&value_, ACL_INT64)) {}
  ~Filling() {
    aclDestroyIntArray(dims_);
    aclDestroyScalar(number_);
  }
  Filling(const Filling&) = delete;
  Filling& operator=(const Filling&) = delete;

  template <class Parameter>
  Parameter Next() {
    using P = std::remove_cv_t<Parameter>;
    if constexpr (std::is_same_v<P, const aclTensor*> || std::is_same_v<P, aclTensor*>) {
      return arguments_.tensors[tensor_++];
    } else if constexpr (std::is_same_v<P, const aclIntArray*>) {
      return dims_;
    } else if constexpr (std::is_same_v<P, const aclScalar*>) {
      return number_;
    } else if constexpr (std::is_same_v<P, bool>) {
      return arguments_.flag;
    } else if constexpr (std::is_same_v<P, aclDataType>) {
      aclDataType dtype = ACL_DT_UNDEFINED;
      aclGetDataType(arguments_.tensors.back(), &dtype);
      return dtype;
    } else {
      static_assert(std::is_same_v<P, int64_t>);
      return has_dims_ ? 1 : arguments_.dim;
    }
  }

 private:
  const ReductionArguments& arguments_;
  bool has_dims_;
  aclIntArray* dims_;
  int64_t value_;
  aclScalar* number_;
  size_t tensor_ = 0;
};

template <auto kPlan>
struct Caller;
template <class... P, aclnnStatus (*kPlan)(P...)>
struct Caller<kPlan> {
  static aclnnStatus Plan(const ReductionArguments& arguments, uint64_t* size, aclOpExecutor** executor) {
    Filling filling(arguments, (std::is_same_v<P, const aclIntArray*> || ...));
    const auto next = [&]<class Parameter>(std::type_identity<Parameter>) {
      if constexpr (std::is_same_v<Parameter, uint64_t*>) {
        return size;
      } else if constexpr (std::is_same_v<Parameter, aclOpExecutor**>) {
        return executor;
      } else {
        return filling.Next<Parameter>();
      }
    };
    // Braces evaluate from left to right.
    const std::tuple<P...> all{next(std::type_identity<P>())...};
    return std::apply(kPlan, all);
  }
};

}  // namespace

#define PORTACL_FOLD(name, over, tensors) \
  { #name, ReductionOperator::Over::over, tensors, Caller < &name##GetWorkspaceSize> ::Plan, name }

const std::vector<ReductionOperator>& AllReductions() {
  static const std::vector<ReductionOperator> all = {PORTACL_FOLD(aclnnReduceSum, kDims, 2),
                                                     PORTACL_FOLD(aclnnReduceNansum, kDims, 2),
                                                     PORTACL_FOLD(aclnnReduceLogSum, kDims, 2),
                                                     PORTACL_FOLD(aclnnMean, kDims, 2),
                                                     PORTACL_FOLD(aclnnMeanV2, kDims, 2),
                                                     PORTACL_FOLD(aclnnTrace, kDiagonal, 2),
                                                     PORTACL_FOLD(aclnnLogSumExp, kDims, 2),
                                                     PORTACL_FOLD(aclnnMax, kAll, 2),
                                                     PORTACL_FOLD(aclnnMin, kAll, 2),
                                                     PORTACL_FOLD(aclnnAmax, kDims, 2),
                                                     PORTACL_FOLD(aclnnAmin, kDims, 2),
                                                     PORTACL_FOLD(aclnnMaxV2, kDims, 2),
                                                     PORTACL_FOLD(aclnnAminmax, kDims, 3),
                                                     PORTACL_FOLD(aclnnAminmaxAll, kAll, 3),
                                                     PORTACL_FOLD(aclnnAminmaxDim, kDim, 3),
                                                     PORTACL_FOLD(aclnnMaxDim, kDim, 3),
                                                     PORTACL_FOLD(aclnnMinDim, kDim, 3),
                                                     PORTACL_FOLD(aclnnArgMax, kDim, 2),
                                                     PORTACL_FOLD(aclnnArgMin, kDim, 2),
                                                     PORTACL_FOLD(aclnnAny, kDims, 2),
                                                     PORTACL_FOLD(aclnnAll, kDims, 2),
                                                     PORTACL_FOLD(aclnnProd, kAll, 2),
                                                     PORTACL_FOLD(aclnnProdDim, kDim, 2),
                                                     PORTACL_FOLD(aclnnLinalgVectorNorm, kDims, 2),
                                                     PORTACL_FOLD(aclnnNorm, kDims, 2),
                                                     PORTACL_FOLD(aclnnVar, kDims, 2),
                                                     PORTACL_FOLD(aclnnVarCorrection, kDims, 2),
                                                     PORTACL_FOLD(aclnnStd, kDims, 2),
                                                     PORTACL_FOLD(aclnnStdMeanCorrection, kDims, 3),
                                                     PORTACL_FOLD(aclnnVarMean, kDims, 3),
                                                     PORTACL_FOLD(aclnnCumsum, kLine, 2),
                                                     PORTACL_FOLD(aclnnCumsumV2, kLine, 2),
                                                     PORTACL_FOLD(aclnnCumprod, kLine, 2),
                                                     PORTACL_FOLD(aclnnInplaceCumprod, kLine, 1),
                                                     PORTACL_FOLD(aclnnCummax, kLine, 3),
                                                     PORTACL_FOLD(aclnnCummin, kLine, 3)};
  return all;
}

#undef PORTACL_FOLD

}  // namespace portacl::testing
