// SPDX-License-Identifier: Apache-2.0
#include "record/call_origins.h"

namespace portacl::record {
namespace {

constexpr std::size_t kForgottenAfter = 200000;  // operators that autograd may still come back to

}  // namespace

const Module* CallOrigins::ModuleOf(std::string_view module, std::string_view root) {
  std::string key;
  ((key += module) += '\n') += root;
  auto& found = modules_[key];
  if (!found) {
    std::string text;
    if (!module.empty()) texts_.AddQuoted(module, text += ",\"module\":");
    if (!root.empty()) texts_.AddQuoted(root, text += ",\"root\":");
    found = std::make_unique<const Module>(Module{std::string(module), std::string(root), std::move(text)});
  }
  return found.get();
}

std::optional<Origin> CallOrigins::Gradient() {
  const Ref node(python.PyObject_CallFunctionObjArgs(known_.autograd_node, nullptr));
  if (node.get() == known_.none) return std::nullopt;
  Object* const kind = node.get()->type;
  auto known = nodes_.find(kind);
  if (known == nodes_.end()) {
    const bool has_variable = python.PyObject_HasAttrString(node.get(), "variable") != 0;
    known = nodes_.emplace(kind, std::make_pair(Ref::Borrowed(kind), has_variable)).first;
  }
  if (known->second.second) {  // a gradient is added up for a parameter
    const Ref variable = names_.variable.Of(node);
    if (variable.get() != known_.none) {
      const Ref place = names_.place_of.Call(known_.recorder, variable.get());
      if (place.get() == known_.none) return std::nullopt;
      return Origin{
          -1, ModuleOf(python.PyTuple_GetItem(place.get(), 1), python.PyTuple_GetItem(place.get(), 0)), -1};
    }
  }
  const auto found = origins_.find(Whole(names_.sequence_nr.Call(node.get())));
  if (found == origins_.end()) return std::nullopt;
  return found->second;
}

void CallOrigins::Remember(long long sequence, const Origin& origin) {
  if (!origins_.emplace(sequence - 1, origin).second) return;
  origins_in_order_.push_back(sequence - 1);
  if (origins_in_order_.size() <= kForgottenAfter) return;
  for (std::size_t i = 0; i < kForgottenAfter / 2; ++i) {
    origins_.erase(origins_in_order_.front());
    origins_in_order_.pop_front();
  }
}

long long CallOrigins::StackHere() {
  Stack stack;
  Object* const here = python.PyEval_GetFrame();
  if (here == nullptr) return -1;
  python.Py_IncRef(here);
  for (Maybe frame(here); frame != nullptr; frame.reset(python.PyFrame_GetBack(frame.get()))) {
    const Ref code(python.PyFrame_GetCode(frame.get()));
    auto known = code_.find(code.get());
    if (known == code_.end()) {
      const bool is_program = names_.is_program.Call(known_.recorder, code.get()).get() == known_.yes;
      known = code_.emplace(code.get(), std::make_pair(Ref::Borrowed(code.get()), is_program)).first;
    }
    if (!known->second.second) continue;
    stack.instructions[stack.depth] = {code.get(), Whole(names_.last_instruction.Of(frame.get()))};
    if (++stack.depth == Stack::kDepth) break;
  }
  if (stack.depth == 0) return -1;
  const auto found = stacks_.find(stack);
  if (found != stacks_.end()) return found->second;
  const Ref list(python.PyList_New(0));
  for (std::size_t i = 0; i < stack.depth; ++i) {
    const Ref at = Number(stack.instructions[i].second);
    const Ref pair(python.PyTuple_Pack(2, stack.instructions[i].first, at.get()));
    Check(python.PyList_Append(list.get(), pair.get()));
  }
  const long long number = Whole(names_.new_stack.Call(known_.recorder, list.get()));
  stacks_.emplace(stack, number);
  return number;
}

}  // namespace portacl::record
