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

// An exchange between the ranks of a communicator, as each of them calls it.
struct RankExchange {
  enum class Kind : uint8_t {
    kRanges,  // each rank gives every rank, itself included, a range of `send` and takes one of `receive`
    kSum,     // `receive` becomes the sum of all ranks' `send`, which may be the same buffer
    kSumOfPart  // `receive` becomes the rank's part of that sum; part r is elements r * count to (r + 1) * count
  };
  // Bytes of a buffer.
  struct Range {
    int64_t first = 0;
    int64_t bytes = 0;
  };
  Kind kind = Kind::kRanges;
  int group = 0;  // the communicator, of those that the job has
  const void* send = nullptr;
  void* receive = nullptr;
  const Range* give = nullptr;  // of kRanges: one for each rank
  const Range* take = nullptr;
  int64_t count = 0;  // of the sums: elements
  aclDataType dtype = ACL_DT_UNDEFINED;
};

// The ranks of the communicators that a running job has.
class JobRanks {
 public:
  // Performs exchange number `step` of the job and its communicator, waiting for the other ranks. Returns false if it failed: that
  // is reported already, and the job ends.
  virtual bool Perform(int step, const RankExchange& exchange) const noexcept = 0;
  virtual bool HasFailed() const noexcept = 0;

 protected:
  ~JobRanks() = default;
};

// The arguments of a running job.
struct JobContext {
  const char* api;
  void* const* addresses;   // the operands' storage bases
  void* workspace;          // given to phase 2
  const std::byte* memory;  // reserved and filled in phase 1 (JobMemory)
  const JobEvents* events;
  const JobRanks* ranks = nullptr;  // of jobs that communicate

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
