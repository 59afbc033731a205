// Call stacks: return addresses, and lines of Python in a Python program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace portacl {

struct CallStack {
  static constexpr int kMostFrames = 16;
  static constexpr int kMostLines = 4;

  void* frames[kMostFrames];
  const char* lines[kMostLines];  // of Python, innermost first, with static lifetime
  uint8_t frame_count = 0;
  uint8_t line_count = 0;

  CallStack() noexcept {}  // NOLINT(*-member-init): every call makes one, and counts say what is set
  bool IsEmpty() const noexcept { return frame_count == 0 && line_count == 0; }
};

// Captures the calling thread's stack, without this library's frames inside the public function. It may wait
// for Python's lock, whose holder may want any lock of this library: the caller must hold none.
void TakeCallStack(CallStack* stack) noexcept;
inline CallStack CallStackHere() noexcept {
  CallStack stack;
  TakeCallStack(&stack);
  return stack;
}

// Takes the calling thread's stack before locks are taken. During its lifetime Capture returns that stack in
// this thread.
class StackTakenAhead {
 public:
  explicit StackTakenAhead(bool is_wanted) noexcept;
  ~StackTakenAhead();
  StackTakenAhead(const StackTakenAhead&) = delete;
  StackTakenAhead& operator=(const StackTakenAhead&) = delete;

 private:
  CallStack stack_;
  const CallStack* const outer_;
};

// Call once, from the thread that turns checking on, so that later calls load nothing.
void PrepareCallStacks() noexcept;

// Calls line(text) for each line of a readable stack: Python's lines, then functions with their modules.
struct LineSink {
  void (*line)(void* context, const char* text, const char* symbol);
  void* context;
};
void Describe(const CallStack& stack, const LineSink& sink) noexcept;

}  // namespace portacl
