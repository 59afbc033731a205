// Calls of operators with data whose result is known, for tests that are about the process and not about numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "operators/losses.h"
#include "support/library_exp.h"
#include "support/operator_under_test.h"
#include "support/shapes.h"

namespace portacl::testing {

// After construction it allocates nothing itself, but for the tensors and the workspace: those are the library's.
class PreparedCall {
 public:
  struct Tensor {
    Shape shape;
    std::vector<float> values;
    Shape strides;  // none: dense

    Tensor(const Shape& dims, std::vector<float> data) : Tensor(dims, std::move(data), DenseStrides(dims)) {}
    Tensor(const Shape& dims, std::vector<float> data, const Shape& steps)
        : shape(dims), values(std::move(data)), strides(steps) {}
  };

  // `expected` is what must come out, to the bit.
  PreparedCall(const OperatorBinding& binding, const Attributes& attributes, std::vector<Tensor> inputs,
               Tensor expected)
      : binding_(binding),
        attributes_(attributes),
        operands_(std::move(inputs)),
        expected_(expected.values),
        tensors_(operands_.size() + 1) {
    operands_.push_back(std::move(expected));
  }
  ~PreparedCall() { Release(); }
  PreparedCall(const PreparedCall&) = delete;
  PreparedCall& operator=(const PreparedCall&) = delete;

  // Makes the tensors that are not there yet; false if one could not be made.
  bool CreateTensors() {
    for (size_t k = 0; k < tensors_.size(); ++k) {
      Tensor& operand = operands_[k];
      const auto storage = static_cast<int64_t>(operand.values.size());
      if (tensors_[k] == nullptr) {
        tensors_[k] =
            aclCreateTensor(operand.shape.data(), operand.shape.size(), ACL_FLOAT, operand.strides.data(), 0,
                            ACL_FORMAT_ND, &storage, 1, operand.values.data());
      }
      if (tensors_[k] == nullptr) return false;
    }
    return true;
  }

  aclnnStatus Plan() { return binding_.plan(tensors_, attributes_, &workspace_size_, &executor_); }

  // The workspace that Plan asked for; false without memory.
  bool CreateWorkspace() {
    return workspace_ != nullptr || workspace_size_ == 0 ||
           aclrtMalloc(&workspace_, workspace_size_, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS;
  }
  bool NeedsWorkspace() const { return workspace_size_ != 0; }
  bool HasWorkspace() const { return workspace_ != nullptr; }

  aclnnStatus Execute(aclrtStream stream) {
    std::vector<float>& result = operands_.back().values;
    std::fill(result.begin(), result.end(), -1.0f);
    return binding_.run(workspace_, workspace_size_, std::exchange(executor_, nullptr), stream);
  }

  bool Right() const {
    return std::memcmp(operands_.back().values.data(), expected_.data(), expected_.size() * sizeof(float)) ==
           0;
  }

  void Release() {
    for (aclTensor*& tensor : tensors_) aclDestroyTensor(std::exchange(tensor, nullptr));
    if (workspace_ != nullptr) aclrtFree(std::exchange(workspace_, nullptr));
  }

 private:
  const OperatorBinding& binding_;
  const Attributes attributes_;
  std::vector<Tensor> operands_;  // the output last
  const std::vector<float> expected_;
  std::vector<aclTensor*> tensors_;
  void* workspace_ = nullptr;
  uint64_t workspace_size_ = 0;
  aclOpExecutor* executor_ = nullptr;
};

// first, first + 1 ... first + period - 1, over and over.
inline std::vector<float> Counting(int64_t n, int64_t first, int64_t period) {
  std::vector<float> values(static_cast<size_t>(n));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(first + static_cast<int64_t>(i) % period);
  return values;
}

// aclnnMseLoss, reduction sum, over n floats that are 0, 1 and 2 apart in turn: where n is large, threads share the sum,
// which takes a workspace.
inline PreparedCall SumOfSquares(int64_t n) {
  const auto sum = static_cast<float>(n / 3 * 5 + (n % 3 == 2 ? 1 : 0));
  return {DescribeMseLoss().binding,
          {.reduction = 2},
          {{{n}, Counting(n, 3, 3)}, {{n}, std::vector<float>(static_cast<size_t>(n), 3.0f)}},
          {{}, {sum}}};
}

// The calls below use memory that threads keep; but for the last, they are small enough for the calling thread.

// aclnnKlDivBackward whose logarithms of targets are repeated in every row: their exponentials are computed first.
inline PreparedCall RepeatedTargets() {
  constexpr int64_t kRows = 50;
  constexpr int64_t kColumns = 70;
  const std::vector<float> gradients = Counting(kRows * kColumns, -5, 11);
  std::vector<float> targets = Counting(kColumns, -40, kColumns);
  std::vector<float> results;
  for (float& target : targets) target /= 8;
  for (size_t i = 0; i < gradients.size(); ++i)
    results.push_back(-(LibraryExp(targets[i % targets.size()]) * gradients[i]));
  const Shape shape = {kRows, kColumns};
  return {DescribeKlDivBackward().binding,
          {.reduction = 2, .log_target = true},
          {{shape, gradients}, {shape, gradients}, {{kColumns}, targets}},
          {shape, results}};
}

// aclnnKlDivBackward, sums over axis 1, of so many columns that their sums do not fit the stack; and so many of them that
// the columns need not be split to give every thread some.
inline PreparedCall WideColumns() {
  constexpr size_t kSums = 12;
  constexpr size_t kRows = 2;
  constexpr size_t kColumns = 10000;
  constexpr int64_t kTerms = kSums * kRows * kColumns;
  const std::vector<float> gradients = Counting(kTerms, -3, 7);
  const std::vector<float> targets = Counting(kTerms, -5, 11);
  std::vector<float> sums(kSums * kColumns);
  for (size_t i = 0; i < gradients.size(); ++i)
    sums[i / (kRows * kColumns) * kColumns + i % kColumns] -= targets[i] * gradients[i];
  const Shape shape = {kSums, kRows, kColumns};
  const Shape kept = {kSums, 1, kColumns};
  return {DescribeKlDivBackward().binding,
          {.reduction = 2},
          {{shape, gradients}, {kept, sums}, {shape, targets}},
          {kept, sums}};
}

// aclnnKlDivBackward, a sum for each row of inputs that lie across the rows.
inline PreparedCall RowsThatLieAcross(int64_t rows, int64_t columns) {
  const std::vector<float> gradients = Counting(rows * columns, -3, 7);
  const std::vector<float> targets = Counting(rows * columns, -5, 11);
  std::vector<float> sums(static_cast<size_t>(rows));
  for (size_t i = 0; i < gradients.size(); ++i) sums[i % sums.size()] -= targets[i] * gradients[i];
  const Shape shape = {rows, columns};
  const Shape strides = {1, rows};
  const Shape kept = {rows, 1};
  return {DescribeKlDivBackward().binding,
          {.reduction = 2},
          {{shape, gradients, strides}, {kept, sums}, {shape, targets, strides}},
          {kept, sums}};
}

// A few rows are transposed at a time.
inline PreparedCall ShortRowsThatLieAcross() { return RowsThatLieAcross(60, 300); }

// Whole blocks, so many of them that several threads sum their lanes side by side.
inline PreparedCall RowsOfBlocksThatLieAcross() { return RowsThatLieAcross(96, 4096); }

}  // namespace portacl::testing
