// Recurrent networks, for the determinism test: products of all steps, and the steps.
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "aclnnop/families/recurrent.h"
#include "determinism/calls.h"

namespace portacl::testing {
namespace {

constexpr int64_t kSteps = 7;
constexpr int64_t kBatch = 19;
constexpr int64_t kInputs = 35;
constexpr int64_t kHidden = 43;
constexpr int64_t kGates = 4 * kHidden;

constexpr int64_t kGruGates = 3 * kHidden;
const Shape kState = {1, kBatch, kHidden};

// A state of zeros, as an entry of a list.
aclTensor* Zeros(Call& c) {
  static std::vector<float> zeros(kBatch * kHidden);
  return Call::Entry(kState, c.Dtype(), zeros.data());
}
aclTensor* State(Call& c) { return c.Unseen(kState, c.Dtype()); }
aclTensor* OfInputs(Call& c) { return c.Unseen({kSteps, kBatch, kInputs}, c.Dtype()); }
// The gradients of weights, of which one is hashed.
aclTensorList* Gradients(Call& c, const Shape& inputs, const Shape& hidden, bool is_hidden) {
  static std::vector<float> memory(kGates * kHidden);
  aclTensor* const other = Call::Entry(is_hidden ? inputs : hidden, c.Dtype(), memory.data());
  return is_hidden ? c.List({other, Same(c.out())}) : c.List({Same(c.out()), other});
}

const std::vector<DtypeNumber> kDtypes = {ACL_FLOAT, ACL_FLOAT16};
const Traits kRecurrent = {.seed_of = ""};

const auto kLstm = Register(
    PORTACL_PHASES(aclnnLSTM, c[0], c.ListOf(1, 4), nullptr, nullptr, true, 1, 0, false, false, false, c[5],
                   State(c), State(c), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr),
    Cases(kDtypes, {{kSteps, kBatch, kInputs}, {kGates, kInputs}, {kGates, kHidden}, {kGates}, {kGates}},
          {{kSteps, kBatch, kHidden}}),
    kRecurrent);
// The gradient of the weights of the input.
const auto kLstmBackward = Register(
    PORTACL_PHASES(aclnnLstmBackward, c[0], c.List({Zeros(c), Zeros(c)}), c.ListOf(1, 2), c[3], nullptr,
                   nullptr, c.ListOf(3), c.ListOf(3), c.ListOf(3), c.ListOf(3), c.ListOf(3), c.ListOf(3),
                   c.ListOf(3), nullptr, false, 1, 0, true, false, false, nullptr, OfInputs(c), State(c),
                   State(c), Gradients(c, {kGates, kInputs}, {kGates, kHidden}, false)),
    Cases(kDtypes,
          {{kSteps, kBatch, kInputs}, {kGates, kInputs}, {kGates, kHidden}, {kSteps, kBatch, kHidden}},
          {{kGates, kInputs}}),
    kRecurrent);
const auto kGru = Register(
    PORTACL_PHASES(aclnnGRU, c[0], c.ListOf(1, 4), nullptr, nullptr, true, 1, 0, false, false, false, c[5],
                   State(c), nullptr, nullptr, nullptr, nullptr, nullptr),
    Cases(kDtypes,
          {{kSteps, kBatch, kInputs}, {kGruGates, kInputs}, {kGruGates, kHidden}, {kGruGates}, {kGruGates}},
          {{kSteps, kBatch, kHidden}}),
    kRecurrent);
// The gradient of the weights of the hidden state.
const auto kGruBackward = Register(
    PORTACL_PHASES(aclnnGRUBackward, c[0], c.ListOf(1, 2), c.Own(Zeros(c)), c[3], c.Own(Zeros(c)),
                   c.ListOf(3), c.ListOf(3), c.ListOf(3), c.ListOf(3), c.ListOf(3), nullptr, false, 1, false,
                   false, OfInputs(c), State(c),
                   Gradients(c, {kGruGates, kInputs}, {kGruGates, kHidden}, true)),
    Cases(kDtypes,
          {{kSteps, kBatch, kInputs}, {kGruGates, kInputs}, {kGruGates, kHidden}, {kSteps, kBatch, kHidden}},
          {{kGruGates, kHidden}}),
    kRecurrent);

}  // namespace
}  // namespace portacl::testing
