// Jobs: what a kind of computing returns. A job is a trivially copyable value that knows how to run, with the instruction set and the number
// of threads that it was made for. It knows operands by number; who holds it knows whose they are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <type_traits>

#include "acl/acl_base.h"
#include "base/text.h"
#include "plan/shape.h"

namespace portacl {

// Operands of one call up to so many lie in the executor itself; more in memory that its slot keeps.
inline constexpr int kFewOperands = 8;

// Takes what a running job says besides its results.
class JobEvents {
 public:
  virtual void Fail(aclError status, const Text& text) const noexcept = 0;
  virtual void SetShape(int index, const Shape& shape) const noexcept = 0;

 protected:
  ~JobEvents() = default;
};

// What a job gets when it runs.
struct JobContext {
  const char* api;
  void* const* addresses;   // the operands' storage bases
  void* workspace;          // that of phase 2
  const std::byte* memory;  // what the job asked for in phase 1, as it was filled then
  const JobEvents* events;

  // The work failed: the next synchronisation of the stream says so, once, unless something failed before.
  void Fail(aclError status, const Text& text) const noexcept { events->Fail(status, text); }
  // Gives an output whose length the data decide a dense view of this shape, if it is still what phase 1 was given.
  void SetShape(int index, const Shape& shape) const noexcept { events->SetShape(index, shape); }
};

// Memory of a job besides its value, asked for when it is made.
class JobMemory {
 public:
  // Once; nullptr when there is none: then the job is not used, and phase 1 fails.
  virtual std::byte* ReserveMemory(size_t bytes) noexcept = 0;
  // Makes phase 1 fail: the size of a parameter, which is counted from 0, asks for more memory than there is.
  virtual void RefuseSize(int parameter, int64_t size) noexcept = 0;

 protected:
  ~JobMemory() = default;
};

namespace engine {

// Holds a job of any type in its place, without heap.
// job.Run(addresses, workspace), or job.Run(context) of a JobContext, must not throw;
// job.Touches(i) tells whether Run reads or writes the data of operand i; job.Elements(), if it exists, how
// many elements are visited: a job without it counts as large; job.OwnWorkspace(), if it exists, how many bytes of workspace it needs that
// nobody has counted yet.
class AnyJob {
 public:
  static constexpr size_t kBytes = 1408;

  // Does nothing.
  AnyJob() noexcept {}  // NOLINT(*-member-init): a job's bytes are there when it is
  template <class Make>
  explicit AnyJob(const Make& make) noexcept {  // NOLINT(*-member-init)
    Set(make);
  }

  // `make` returns the job, which is made in its place: jobs are long, and copies of them are what a small call
  // would spend its time on.
  template <class Make>
  const auto& Set(const Make& make) noexcept {
    using Made = decltype(make());
    static_assert(sizeof(Made) <= kBytes && std::is_trivially_copyable_v<Made> &&
                  std::is_trivially_destructible_v<Made>);
    const Made& value = *new (value_) Made(make());
    elements_ = std::numeric_limits<int64_t>::max();
    if constexpr (requires { value.Elements(); }) elements_ = value.Elements();
    own_workspace_ = 0;
    if constexpr (requires { value.OwnWorkspace(); }) own_workspace_ = value.OwnWorkspace();
    touches_ = [](const AnyJob& job, int operand) noexcept -> bool {
      return job.As<Made>().Touches(operand);
    };
    run_ = [](const AnyJob& job, const JobContext& context) noexcept {
      const Made& held = job.As<Made>();
      if constexpr (requires { held.Run(context.addresses, context.workspace); }) {
        held.Run(context.addresses, context.workspace);
      } else {
        held.Run(context);
      }
    };
    return value;
  }
  void Clear() noexcept { run_ = nullptr; }

  bool IsThere() const noexcept { return run_ != nullptr; }
  bool Touches(int operand) const noexcept { return touches_(*this, operand); }
  int64_t Elements() const noexcept { return elements_; }
  uint64_t OwnWorkspace() const noexcept { return own_workspace_; }
  void Run(const JobContext& context) const noexcept { run_(*this, context); }

 private:
  template <class Made>
  const Made& As() const noexcept {
    return *reinterpret_cast<const Made*>(value_);
  }

  void (*run_)(const AnyJob&, const JobContext&) noexcept = nullptr;
  bool (*touches_)(const AnyJob&, int) noexcept = nullptr;
  int64_t elements_ = 0;
  uint64_t own_workspace_ = 0;
  alignas(64) std::byte value_[kBytes];
};

}  // namespace engine
}  // namespace portacl
