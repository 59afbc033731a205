// aclnnKlDivBackward over more than 2^32 terms: operands of one element expanded with strides of 0, so that the sums
// are known exactly; and an operand whose elements lie more than 2^32 apart.
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "engine/isa_in_use.h"
#include "operators/losses.h"
#include "support/dtype_rules.h"
#include "support/environment.h"
#include "support/float_formats.h"
#include "support/ordered_sum.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

int faults = 0;

void Expect(bool right, const std::string& what) {
  if (!right) {
    std::printf("WRONG: %s\n", what.c_str());
    ++faults;
  }
}

// One value, expanded to a shape.
class Expanded {
 public:
  Expanded(DtypeNumber dtype, const Shape& shape, double value) : dtype_(dtype) {
    EncodeElement(dtype, value, element_);
    const std::vector<int64_t> strides(shape.size(), 0);
    const int64_t one = 1;
    handle_ = aclCreateTensor(shape.data(), shape.size(), AsAclDataType(dtype), strides.data(), 0,
                              ACL_FORMAT_ND, &one, 1, element_);
  }
  ~Expanded() { aclDestroyTensor(handle_); }
  Expanded(const Expanded&) = delete;
  Expanded& operator=(const Expanded&) = delete;

  aclTensor* handle() const { return handle_; }
  double value() const { return DecodeReal(dtype_, element_); }

 private:
  DtypeNumber dtype_;
  alignas(8) std::byte element_[8] = {};
  aclTensor* handle_ = nullptr;
};

// out = -(t * g) * c summed over all axes where `self` is 1: every element must be the term times the number of terms.
void SumOfEqualTerms(DtypeNumber dtype, const Shape& self, const Shape& r, double t, double g,
                     const Attributes& attributes, aclrtStream stream) {
  const auto start = std::chrono::steady_clock::now();
  const Expanded gradient(dtype, r, g);
  const Expanded target(dtype, r, t);
  std::vector<float> out(static_cast<size_t>(NumElements(self)), -1.0f);
  const auto dense = [&](void* address) {
    return aclCreateTensor(self.data(), self.size(), ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, self.data(),
                           self.size(), address);
  };
  aclTensor* self_handle = dense(nullptr);
  aclTensor* out_handle = dense(out.data());
  const std::vector<aclTensor*> handles = {gradient.handle(), self_handle, target.handle(), out_handle};
  const CallResult call = CallTwoPhase(DescribeKlDivBackward().binding, handles, attributes, stream);
  aclDestroyTensor(self_handle);
  aclDestroyTensor(out_handle);

  const auto n = static_cast<double>(KlDivDivisor(r, attributes));
  const auto c = static_cast<double>(NearestFloat(1 / n));
  const auto product = static_cast<double>(NearestFloat(target.value() * gradient.value()));
  const auto term = static_cast<double>(NearestFloat(-product * c));
  const double terms = static_cast<double>(NumElements(r)) / static_cast<double>(NumElements(self));
  const std::string name = DtypeName(dtype) + " " + ToString(r) + " to " + ToString(self) + ", reduction " +
                           std::to_string(attributes.reduction);
  Expect(call.Succeeded(), name + ": " + call.message);
  int wrong = 0;
  for (const float found : out) {
    wrong += found == static_cast<float>(term * terms) ? 0 : 1;
  }
  Expect(wrong == 0,
         name + ": " + std::to_string(out.front()) + " instead of " + std::to_string(term * terms));
  std::printf("%s: %d of %zu wrong, workspace %llu, %.1f s\n", name.c_str(), wrong, out.size(),
              static_cast<unsigned long long>(call.workspace_size),
              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

// Rows that are all the same one in memory, of small whole numbers, so that every sum on the way is exact.
void SumOfEqualRows(const Shape& self, int64_t rows, int64_t columns, aclrtStream stream) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<float> row(static_cast<size_t>(columns));
  double row_sum = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    row[i] = static_cast<float>(i % 7) - 2.0f;
    row_sum += static_cast<double>(row[i]);
  }
  const Shape shape = {rows, columns};
  const int64_t strides[] = {0, 1};
  float minus_one = -1.0f;
  std::vector<float> out(static_cast<size_t>(NumElements(self)));
  const auto dense = [&](const Shape& dims, void* address) {
    return aclCreateTensor(dims.data(), dims.size(), ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims.data(),
                           dims.size(), address);
  };
  const std::vector<aclTensor*> handles = {dense({}, &minus_one), dense(self, nullptr),
                                           aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, strides, 0,
                                                           ACL_FORMAT_ND, &columns, 1, row.data()),
                                           dense(self, out.data())};
  const CallResult call = CallTwoPhase(DescribeKlDivBackward().binding, handles, {}, stream);
  Expect(call.Succeeded(), call.message);
  for (aclTensor* handle : handles) {
    aclDestroyTensor(handle);
  }
  const bool by_column = self.back() == columns;
  int wrong = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    const double expected = by_column        ? static_cast<double>(row[i]) * static_cast<double>(rows)
                            : out.size() > 1 ? row_sum
                                             : row_sum * static_cast<double>(rows);
    wrong += out[i] == NearestFloat(expected) ? 0 : 1;
  }
  Expect(wrong == 0, "equal rows to " + ToString(self));
  std::printf("equal rows %s to %s: %d of %zu wrong, %.1f s\n", ToString(shape).c_str(),
              ToString(self).c_str(), wrong, out.size(),
              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

// A target whose rows lie 2^32 + 8 elements apart, in address space that takes no memory where nothing was written.
void StridesPast32Bits(bool backwards, aclrtStream stream) {
  constexpr int64_t kRows = 3;
  constexpr int64_t kColumns = 5;
  constexpr int64_t kStride = (int64_t{1} << 32) + 8;
  constexpr int64_t kElements = (kRows - 1) * kStride + kColumns;
  void* memory = mmap(nullptr, kElements * sizeof(float), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::printf("no address space for strides past 32 bits: not tested\n");
    return;
  }
  auto* storage = static_cast<float*>(memory);
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t column = 0; column < kColumns; ++column) {
      storage[row * kStride + column] = static_cast<float>(10 * row + column + 1);
    }
  }
  const Shape shape = {kRows, kColumns};
  const int64_t strides[] = {backwards ? -kStride : kStride, 1};
  const int64_t offset = backwards ? (kRows - 1) * kStride : 0;
  float one = 1.0f;
  for (const Shape& self : {Shape{kRows, kColumns}, Shape{1, kColumns}, Shape{kRows, 1}}) {
    std::vector<float> out(static_cast<size_t>(NumElements(self)));
    const auto dense = [&](const Shape& dims, void* address) {
      return aclCreateTensor(dims.data(), dims.size(), ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims.data(),
                             dims.size(), address);
    };
    const std::vector<aclTensor*> handles = {dense({}, &one), dense(self, nullptr),
                                             aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, strides,
                                                             offset, ACL_FORMAT_ND, &kElements, 1, storage),
                                             dense(self, out.data())};
    const CallResult call = CallTwoPhase(DescribeKlDivBackward().binding, handles, {}, stream);
    Expect(call.Succeeded(), call.message);
    for (aclTensor* handle : handles) {
      aclDestroyTensor(handle);
    }
    std::vector<float> expected(out.size(), 0.0f);
    const std::vector<int64_t> position = OutputPositions(shape, self);
    for (int64_t i = 0; i < kRows * kColumns; ++i) {
      const int64_t row = backwards ? kRows - 1 - i / kColumns : i / kColumns;
      expected[static_cast<size_t>(position[static_cast<size_t>(i)])] -=
          static_cast<float>(10 * row + i % kColumns + 1);
    }
    Expect(out == expected, "rows 2^32 + 8 elements apart, summed to " + ToString(self));
  }
  munmap(memory, kElements * sizeof(float));
}

void RunOn(engine::Isa isa) {
  const ScopedEnvironment environment(
      Variables{{"PORTACL_ISA", engine::IsaName(isa)}, {"PORTACL_NUM_THREADS", "2"}});
  std::printf("%s\n", engine::IsaName(isa));
  const int64_t k16 = int64_t{1} << 16;
  for (const bool backwards : {false, true}) {
    StridesPast32Bits(backwards, environment.stream());
  }
  // 2^32 terms into one element, in each type; any float32 term times 2^32 is exact.
  for (const DtypeNumber dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    SumOfEqualTerms(dtype, {1, 1}, {k16, k16}, 1.2001953125, -0.7001953125, {}, environment.stream());
  }
  SumOfEqualTerms(ACL_FLOAT, {}, {k16, k16}, 3, 5, {.reduction = 1}, environment.stream());
  SumOfEqualTerms(ACL_FLOAT, {1}, {int64_t{1} << 32}, -0.1f, 0.3f, {.reduction = 3}, environment.stream());
  // More than 2^32, in numbers that are no powers of two, of terms with few digits.
  SumOfEqualTerms(ACL_FLOAT, {1, 1}, {k16 + 1, k16 + 1}, 1.5, 1, {}, environment.stream());
  SumOfEqualTerms(ACL_FLOAT, {1}, {(int64_t{1} << 32) + 5}, 1.25, -1, {}, environment.stream());
  // Many sums of a few terms each, along either axis.
  SumOfEqualTerms(ACL_FLOAT, {k16 * 16, 1}, {k16 * 16, 4099}, 0.75, 1, {}, environment.stream());
  SumOfEqualTerms(ACL_FLOAT, {1, k16 * 16}, {4099, k16 * 16}, 0.75, 1, {}, environment.stream());
  SumOfEqualRows({1, 1}, k16 + 1, k16 + 3, environment.stream());
  SumOfEqualRows({1, k16 + 3}, k16 + 1, k16 + 3, environment.stream());
  SumOfEqualRows({k16 + 1, 1}, k16 + 1, k16 + 3, environment.stream());
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
