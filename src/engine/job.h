// Jobs. Every kind of computing returns one: a trivially copyable value that can run, with the instruction set and the number of threads
// that it was made for. A job knows operands only by number; its holder passes their addresses.
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

// The number of operands that an executor holds in itself. More are held in memory that its slot keeps.
inline constexpr int kFewOperands = 8;

// Receives the failures and shapes that a running job reports.
class JobEvents {
 public:
  virtual void Fail(aclError status, const Text& text) const noexcept = 0;
  virtual void SetShape(int index, const Shape& shape) const noexcept = 0;

 protected:
  ~JobEvents() = default;
};

// The arguments of a running job.
struct JobContext {
  const char* api;
  void* const* addresses;   // the operands' storage bases
  void* workspace;          // given to phase 2
  const std::byte* memory;  // reserved and filled in phase 1 (JobMemory)
  const JobEvents* events;

  // Reports that the work failed. The next synchronisation of the stream returns this, once, unless something failed before.
  void Fail(aclError status, const Text& text) const noexcept { events->Fail(status, text); }
  // Gives an output whose length depends on data a dense view of this shape. Does nothing if the caller has destroyed the tensor.
  void SetShape(int index, const Shape& shape) const noexcept { events->SetShape(index, shape); }
};

// Provides memory for a job besides its value, while the job is made.
class JobMemory {
 public:
  // Called at most once. Returns nullptr if there is no memory; phase 1 then fails, and the job is not used.
  virtual std::byte* ReserveMemory(size_t bytes) noexcept = 0;
  // Makes phase 1 fail, because a parameter of this size needs more memory than there is. Parameters are counted from 0.
  virtual void RefuseSize(int parameter, int64_t size) noexcept = 0;

 protected:
  ~JobMemory() = default;
};

namespace engine {

// Holds a job of any type in place, without heap memory. A job has
// - Run(addresses, workspace) or Run(context), which must not throw,
// - Touches(i): whether Run reads or writes the data of operand i,
// - Elements(), optional: the number of elements that it visits; a job without it counts as large,
// - OwnWorkspace(), optional: the bytes of workspace that it needs and that nobody has counted yet.
class AnyJob {
 public:
  static constexpr size_t kBytes = 1408;
  static constexpr size_t kAlignment = 64;

  // Holds no job.
  AnyJob() noexcept {}  // NOLINT(*-member-init): a job's bytes are there when it is
  template <class Make>
  explicit AnyJob(const Make& make) noexcept {  // NOLINT(*-member-init)
    Set(make);
  }

  // Constructs the job that `make` returns in place. Jobs are long, and copying them would take most of the time of
  // a small call.
  template <class Make>
  const auto& Set(const Make& make) noexcept {
    using Made = decltype(make());
    static_assert(sizeof(Made) <= kBytes && alignof(Made) <= kAlignment &&  // NOLINT(*-expression): differs
                  std::is_trivially_copyable_v<Made> && std::is_trivially_destructible_v<Made>);
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
  alignas(kAlignment) std::byte value_[kBytes];
};

}  // namespace engine
}  // namespace portacl
