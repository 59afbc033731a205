// Recurrent networks, for the determinism test: products of all steps, and the steps.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "aclnnop/families/recurrent.h"
#include "determinism/arguments.h"
#include "determinism/subject.h"

namespace portacl::testing {
namespace {

constexpr int64_t kSteps = 7;
constexpr int64_t kBatch = 19;
constexpr int64_t kInputs = 35;
constexpr int64_t kHidden = 43;
constexpr int64_t kGates = 4 * kHidden;

// What a call is given besides its tensors: memory that it may write and nobody reads, or that holds zeros.
class Others {
 public:
  aclTensor* Tensor(const Shape& shape) {
    thread_local std::vector<std::vector<uint64_t>> memory(32);
    std::vector<uint64_t>& data = memory[next_++];
    int64_t count = 1;
    for (const int64_t dim : shape) count *= dim;
    data.assign(static_cast<size_t>(count), 0);
    return aclCreateTensor(shape.data(), shape.size(), dtype_, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                           shape.size(), data.data());
  }
  aclTensor* One(const Shape& shape) { return tensors_.emplace_back(Tensor(shape)); }
  aclTensorList* List(const std::vector<aclTensor*>& entries) {
    return lists_.emplace_back(aclCreateTensorList(entries.data(), entries.size()));
  }
  explicit Others(const aclTensor* like) { aclGetDataType(like, &dtype_); }
  ~Others() {
    for (const aclTensor* const tensor : tensors_) aclDestroyTensor(tensor);
    for (const aclTensorList* const list : lists_) aclDestroyTensorList(list);
  }
  Others(const Others&) = delete;
  Others& operator=(const Others&) = delete;

 private:
  aclDataType dtype_ = ACL_FLOAT;
  size_t next_ = 0;
  std::vector<aclTensor*> tensors_;
  std::vector<aclTensorList*> lists_;
};

aclTensor* Copy(const aclTensor* tensor, int64_t length) { return Part(tensor, 0, 0, length); }

aclnnStatus PlanForward(Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
  Others others(t[0]);
  const aclTensorList* const params =
      others.List({Copy(t[1], kGates), Copy(t[2], kGates), Copy(t[3], kGates), Copy(t[4], kGates)});
  const Shape state = {1, kBatch, kHidden};
  return aclnnLSTMGetWorkspaceSize(t[0], params, nullptr, nullptr, true, 1, 0, false, false, false, t[5],
                                   others.One(state), others.One(state), nullptr, nullptr, nullptr, nullptr,
                                   nullptr, nullptr, nullptr, size, executor);
}

// The gradient of the weights of the input.
aclnnStatus PlanBackward(Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
  Others others(t[0]);
  const aclTensorList* const params = others.List({Copy(t[1], kGates), Copy(t[2], kGates)});
  const Shape state = {1, kBatch, kHidden};
  const aclTensorList* const hx = others.List({others.Tensor(state), others.Tensor(state)});
  const aclTensorList* saved[7];
  for (const aclTensorList*& list : saved) list = others.List({Copy(t[3], kSteps)});
  return aclnnLstmBackwardGetWorkspaceSize(
      t[0], hx, params, t[3], nullptr, nullptr, saved[0], saved[1], saved[2], saved[3], saved[4], saved[5],
      saved[6], nullptr, false, 1, 0, true, false, false, nullptr, others.One({kSteps, kBatch, kInputs}),
      others.One(state), others.One(state),
      others.List({Copy(t[4], kGates), others.Tensor({kGates, kHidden})}), size, executor);
}

constexpr int64_t kGruGates = 3 * kHidden;

aclnnStatus PlanGru(Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
  Others others(t[0]);
  const aclTensorList* const params = others.List(
      {Copy(t[1], kGruGates), Copy(t[2], kGruGates), Copy(t[3], kGruGates), Copy(t[4], kGruGates)});
  return aclnnGRUGetWorkspaceSize(t[0], params, nullptr, nullptr, true, 1, 0, false, false, false, t[5],
                                  others.One({1, kBatch, kHidden}), nullptr, nullptr, nullptr, nullptr,
                                  nullptr, size, executor);
}

// The gradient of the weights of the hidden state.
aclnnStatus PlanGruBackward(Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
  Others others(t[0]);
  const aclTensorList* const params = others.List({Copy(t[1], kGruGates), Copy(t[2], kGruGates)});
  const Shape state = {1, kBatch, kHidden};
  const aclTensorList* saved[5];
  for (const aclTensorList*& list : saved) list = others.List({Copy(t[3], kSteps)});
  return aclnnGRUBackwardGetWorkspaceSize(
      t[0], params, others.One(state), t[3], others.One(state), saved[0], saved[1], saved[2], saved[3],
      saved[4], nullptr, false, 1, false, false, others.One({kSteps, kBatch, kInputs}), others.One(state),
      others.List({others.Tensor({kGruGates, kInputs}), Copy(t[4], kGruGates)}), size, executor);
}

SubjectRegistration Register(const char* name, const std::vector<Shape>& inputs, const Shape& output,
                             decltype(OperatorBinding::plan) plan, decltype(OperatorBinding::run) run) {
  Subject subject;
  subject.sums_everything = true;
  OperatorBinding& binding = subject.description.binding;
  binding.name = name;
  for (size_t i = 0; i < inputs.size(); ++i) binding.tensors.push_back("input" + std::to_string(i));
  binding.tensors.emplace_back("output");
  binding.plan = std::move(plan);
  binding.run = run;
  binding.may_need_workspace = [](std::span<const Shape>) { return true; };
  for (const DtypeNumber dtype : {ACL_FLOAT, ACL_FLOAT16})
    subject.given.push_back({std::vector<DtypeNumber>(inputs.size(), dtype), inputs, dtype, output, 0, {}});
  subject.description.attributes.emplace_back();
  subject.cuts_freely = [](const Attributes&) { return false; };
  return SubjectRegistration(std::move(subject));
}

const auto kLstm = Register(
    "aclnnLSTM", {{kSteps, kBatch, kInputs}, {kGates, kInputs}, {kGates, kHidden}, {kGates}, {kGates}},
    {kSteps, kBatch, kHidden}, PlanForward, aclnnLSTM);
const auto kLstmBackward =
    Register("aclnnLstmBackward",
             {{kSteps, kBatch, kInputs}, {kGates, kInputs}, {kGates, kHidden}, {kSteps, kBatch, kHidden}},
             {kGates, kInputs}, PlanBackward, aclnnLstmBackward);
const auto kGru = Register(
    "aclnnGRU",
    {{kSteps, kBatch, kInputs}, {kGruGates, kInputs}, {kGruGates, kHidden}, {kGruGates}, {kGruGates}},
    {kSteps, kBatch, kHidden}, PlanGru, aclnnGRU);
const auto kGruBackward = Register(
    "aclnnGRUBackward",
    {{kSteps, kBatch, kInputs}, {kGruGates, kInputs}, {kGruGates, kHidden}, {kSteps, kBatch, kHidden}},
    {kGruGates, kHidden}, PlanGruBackward, aclnnGRUBackward);

}  // namespace
}  // namespace portacl::testing
