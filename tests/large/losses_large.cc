// Losses over more than 2^32 terms: operands of one element expanded with strides of 0, so that the sums are known
// exactly, over everything, over the first axis, and in integers.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "engine/isa_in_use.h"
#include "operators/losses.h"
#include "support/environment.h"
#include "support/float_formats.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

int faults = 0;

// One value, expanded to a shape.
class Expanded {
 public:
  Expanded(DtypeNumber dtype, const Shape& shape, int64_t value) {
    if (IsFloatingDtype(dtype)) {
      EncodeElement(dtype, static_cast<double>(value), element_);
    } else {
      EncodeIntegerElement(dtype, value, element_);
    }
    const std::vector<int64_t> strides(shape.size(), 0);
    const int64_t one = 1;
    handle_ = aclCreateTensor(shape.data(), shape.size(), AsAclDataType(dtype), strides.data(), 0,
                              ACL_FORMAT_ND, &one, 1, element_);
  }
  ~Expanded() { aclDestroyTensor(handle_); }
  Expanded(const Expanded&) = delete;
  Expanded& operator=(const Expanded&) = delete;

  aclTensor* handle() const { return handle_; }

 private:
  alignas(8) std::byte element_[8] = {};
  aclTensor* handle_ = nullptr;
};

// The sum of equal terms, each a small whole number: their number times the term, times the factor.
void SumOfEqualTerms(const OperatorBinding& binding, DtypeNumber dtype, const Shape& r, const Shape& out,
                     int64_t self, int64_t target, const Attributes& attributes, int64_t term,
                     int64_t divisor, aclrtStream stream) {
  const auto start = std::chrono::steady_clock::now();
  const Expanded self_tensor(dtype, r, self);
  const Expanded target_tensor(dtype, r, target);
  const bool integers = !IsFloatingDtype(dtype);
  std::vector<float> floats(static_cast<size_t>(NumElements(out)), -1.0f);
  std::vector<int64_t> wholes(floats.size(), -1);
  void* const data = integers ? static_cast<void*>(wholes.data()) : floats.data();
  aclTensor* out_tensor = aclCreateTensor(out.data(), out.size(), integers ? ACL_INT64 : ACL_FLOAT, nullptr,
                                          0, ACL_FORMAT_ND, out.data(), out.size(), data);
  const std::vector<aclTensor*> handles = {self_tensor.handle(), target_tensor.handle(), out_tensor};
  const CallResult call = CallTwoPhase(binding, handles, attributes, stream);
  aclDestroyTensor(out_tensor);

  const int64_t terms = NumElements(r) / NumElements(out);
  const double factor =
      divisor == 1 ? 1.0 : static_cast<double>(NearestFloat(1.0 / static_cast<double>(divisor)));
  const float expected = NearestFloat(static_cast<double>(terms) * static_cast<double>(term) * factor);
  int wrong = call.Succeeded() ? 0 : 1;
  for (size_t i = 0; i < floats.size(); ++i) {
    wrong += integers ? wholes[i] != terms * term : floats[i] != expected;
  }
  faults += wrong != 0 ? 1 : 0;
  std::printf("%s%s %s %s to %s, reduction %lld: %d wrong%s, workspace %llu, %.1f s\n",
              wrong != 0 ? "WRONG: " : "", binding.name.c_str(), DtypeName(dtype).c_str(),
              ToString(r).c_str(), ToString(out).c_str(), static_cast<long long>(attributes.reduction), wrong,
              call.message.c_str(), static_cast<unsigned long long>(call.workspace_size),
              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

void RunOn(engine::Isa isa) {
  const ScopedEnvironment environment(
      Variables{{"PORTACL_ISA", engine::IsaName(isa)}, {"PORTACL_NUM_THREADS", "2"}});
  std::printf("%s\n", engine::IsaName(isa));
  aclrtStream stream = environment.stream();
  const int64_t n = (int64_t{1} << 32) + 5;
  const Shape square = {(int64_t{1} << 16) + 1, (int64_t{1} << 16) + 3};
  const OperatorBinding& l1 = DescribeL1Loss().binding;
  SumOfEqualTerms(l1, ACL_FLOAT, {n}, {}, 3, 8, {.reduction = 2}, 5, 1, stream);
  SumOfEqualTerms(l1, ACL_FLOAT, square, {}, 3, 8, {.reduction = 1}, 5, NumElements(square), stream);
  SumOfEqualTerms(l1, ACL_INT64, square, {}, 3, -8, {.reduction = 2}, 11, 1, stream);
  SumOfEqualTerms(DescribeSmoothL1Loss().binding, ACL_BF16, {n}, {}, 3, -3, {.reduction = 2, .beta = 2.0f}, 5,
                  1, stream);
  SumOfEqualTerms(DescribeMseLoss().binding, ACL_FLOAT16, square, {}, 3, 1, {.reduction = 1}, 4,
                  NumElements(square), stream);
  // The logarithm of 1 is exactly 0, and exp of 0 exactly 1.
  const OperatorBinding& kl_div = DescribeKlDiv().binding;
  SumOfEqualTerms(kl_div, ACL_FLOAT, square, {}, -7, 1, {.reduction = 3}, 7, square[0], stream);
  SumOfEqualTerms(kl_div, ACL_FLOAT, {n}, {}, -7, 0, {.reduction = 2, .log_target = true}, 7, 1, stream);
  // Over the first axis: few columns and many.
  const OperatorBinding& mse_out = DescribeMseLossOut().binding;
  SumOfEqualTerms(mse_out, ACL_FLOAT, {n}, {}, 3, 1, {.reduction = 2}, 4, 1, stream);
  SumOfEqualTerms(mse_out, ACL_FLOAT, {(int64_t{1} << 31) + 7, 3}, {3}, 3, 1, {.reduction = 1}, 4,
                  (int64_t{1} << 31) + 7, stream);
  SumOfEqualTerms(mse_out, ACL_FLOAT, {4099, int64_t{1} << 20}, {int64_t{1} << 20}, 3, 1, {.reduction = 1}, 4,
                  4099, stream);
}

int Run() {
  for (const engine::Isa isa : engine::SupportedIsas()) {
    RunOn(isa);
  }
  std::printf("%d faults\n", faults);
  return faults == 0 ? 0 : 1;
}

}  // namespace
}  // namespace portacl::testing

int main() { return portacl::testing::Run(); }
