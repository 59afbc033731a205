// Where a call came from: return addresses, and lines of Python where the program is one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace portacl::sanitizer {

struct CallStack {
  static constexpr int kMostFrames = 16;
  static constexpr int kMostLines = 4;

  void* frames[kMostFrames];
  const char* lines[kMostLines];  // of Python, innermost first; they live as long as the process
  uint8_t frame_count = 0;
  uint8_t line_count = 0;

  CallStack() noexcept {}  // NOLINT(*-member-init): every call makes one, and counts say what is set
  bool IsEmpty() const noexcept { return frame_count == 0 && line_count == 0; }
};

// The calling thread's, without this library's own innermost functions but the public one. It may have to wait for Python's lock,
// whose holder may want any lock of this library: none may be held.
void Capture(CallStack* stack) noexcept;
inline CallStack Here() noexcept {
  CallStack stack;
  Capture(&stack);
  return stack;
}

// Takes the calling thread's stack now, where locks are about to be held: while this lives, the thread's Capture gives that one.
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

// To be called once, by the thread that turns checking on: later calls then load nothing.
void PrepareCallStacks() noexcept;

// Calls line(text) for each line of what a reader sees: Python's lines, then functions with their modules.
struct LineSink {
  void (*line)(void* context, const char* text, const char* symbol);
  void* context;
};
void Describe(const CallStack& stack, const LineSink& sink) noexcept;

}  // namespace portacl::sanitizer
