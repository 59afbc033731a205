// The origins of calls: the module, the lines of the program, and, while gradients are computed, the call whose gradient it
// is. All of it is called with Python's lock.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "record/python_objects.h"
#include "record/tensor_texts.h"

namespace portacl::record {

// A module by its path, and the outermost module that was called.
struct Module {
  std::string path;
  std::string root;
  std::string text;
};

// A call for which autograd has made a node.
struct Origin {
  long long index = -1;
  const Module* module = nullptr;
  long long stack = -1;
};

// The call stack of a program: instructions of functions, the innermost first.
struct Stack {
  static constexpr std::size_t kDepth = 16;
  std::size_t depth = 0;
  std::pair<Object*, long long> instructions[kDepth];

  bool operator==(const Stack& other) const {
    return depth == other.depth && std::equal(instructions, instructions + depth, other.instructions);
  }
};
struct StackHash {
  std::size_t operator()(const Stack& stack) const {
    std::uint64_t hash = stack.depth;
    for (std::size_t i = 0; i < stack.depth; ++i) {
      hash = (hash ^ reinterpret_cast<std::uintptr_t>(stack.instructions[i].first)) * 0x9E3779B97F4A7C15U;
      hash = (hash ^ (hash >> 32) ^ static_cast<std::uint64_t>(stack.instructions[i].second)) *
             0x9E3779B97F4A7C15U;
    }
    return static_cast<std::size_t>(hash ^ (hash >> 32));
  }
};

class CallOrigins {
 public:
  CallOrigins(const Known& known, const TensorTexts& texts) : known_(known), texts_(texts) {}

  const Module* ModuleOf(std::string_view module, std::string_view root);
  const Module* ModuleOf(Object* module, Object* root) { return ModuleOf(Text(module), Text(root)); }

  // Returns the call whose gradient is being computed.
  std::optional<Origin> Gradient();

  // Returns the number of the program's call stack, or -1 outside of all functions.
  long long StackHere();

  // Keeps the call for which autograd made its last node. Others that follow have none, and must not take its place.
  void Remember(long long sequence, const Origin& origin);

 private:
  struct Names {
    Name is_program{"_is_program"}, new_stack{"_new_stack"}, last_instruction{"f_lasti"};
    Name sequence_nr{"_sequence_nr"}, variable{"variable"}, place_of{"_place_of"};
  };

  const Known& known_;
  const TensorTexts& texts_;
  const Names names_;
  std::unordered_map<std::string, std::unique_ptr<const Module>> modules_;
  std::unordered_map<long long, Origin> origins_;
  std::deque<long long> origins_in_order_;
  std::unordered_map<Object*, std::pair<Ref, bool>> code_;  // and whether it is the program's
  std::unordered_map<Stack, long long, StackHash> stacks_;
  std::unordered_map<Object*, std::pair<Ref, bool>>
      nodes_;  // autograd's classes: whether one adds up a gradient
};

}  // namespace portacl::record
