// What phase 1 of copies, casts and fills answers to every call, in which order, on every product; the rules of phase 2.
// SPDX-License-Identifier: Apache-2.0
#include "operators/moves.h"
#include "support/answer_suite.h"
#include "support/environment.h"
#include "support/plan_check.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

PORTACL_ANSWER_TESTS(MoveAnswers, MoveOperators());

// Dtypes of arguments that are no tensors, with every dtype of the tensors.
class MoveDtypes : public ::testing::TestWithParam<Product> {
 protected:
  // Sets two dtypes of every call, for filled and for empty tensors.
  void EveryPair(const char* name, const std::function<void(PlanCall&, DtypeNumber, DtypeNumber)>& set) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(GetParam())}});
    ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
    std::vector<DtypeNumber> dtypes = AllDtypes();
    dtypes.insert(dtypes.end(), {5, 28, 99, -1});
    int wrong = 0;
    for (const DtypeNumber first : dtypes) {
      for (const DtypeNumber second : dtypes) {
        for (const Shape& shape : {Shape{2, 3}, Shape{0}}) {
          PlanCall call = ValidCall(MoveOperatorNamed(name), GetParam());
          set(call, first, second);
          for (PlanArgument& one : call.arguments) {
            if (one.kind == ParameterKind::kTensor) one.shape = shape;
          }
          wrong += CheckPlan(call) ? 0 : 1;
          if (wrong > 5) return;
        }
      }
    }
  }
};

TEST_P(MoveDtypes, OfCast) {
  EveryPair("aclnnCast", [](PlanCall& call, DtypeNumber self, DtypeNumber out) {
    call["self"].dtype = self;
    call["out"].dtype = out;
    call["dtype"].integer = out;
  });
  EveryPair("aclnnCast", [](PlanCall& call, DtypeNumber out, DtypeNumber dtype) {
    call["out"].dtype = out;
    call["dtype"].integer = dtype;
  });
  // Elements of 4 bits, not dense.
  for (const char* name : {"self", "out"}) {
    EveryPair("aclnnCast", [=](PlanCall& call, DtypeNumber self, DtypeNumber out) {
      call["self"].dtype = self;
      call["out"].dtype = out;
      call["dtype"].integer = out;
      call[name].strides = {true, {1, 2}, 77, 0, Shape{6}};
    });
  }
}
TEST_P(MoveDtypes, OfValues) {
  EveryPair("aclnnInplaceFillScalar", [](PlanCall& call, DtypeNumber self, DtypeNumber value) {
    call["selfRef"].dtype = self;
    // Some dtypes are those of no scalar.
    alignas(16) unsigned char zero[16] = {};
    aclScalar* const scalar = aclCreateScalar(zero, AsAclDataType(value));
    if (scalar == nullptr) TakeErrorMessage();
    call["value"].dtype = scalar == nullptr ? DtypeNumber{ACL_FLOAT} : value;
    aclDestroyScalar(scalar);
  });
}

INSTANTIATE_TEST_SUITE_P(On, MoveDtypes,
                         ::testing::ValuesIn({Product::k950, Product::kA2, Product::k310B, Product::k910}),
                         [](const auto& product) { return std::string(ProductName(product.param)); });

}  // namespace
}  // namespace portacl::testing
