// Notifies checks, profiles and recordings of an operator's call, from phase 2 to the end of its work.
//
// Each inline function tests whether anybody is to be notified. The notification is a function of its own (in `told`), so that callers
// keep small stack frames.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "acl/stream/found_stream.h"
#include "acl/stream/graph.h"
#include "aclnn/executor.h"
#include "base/checked_parts.h"
#include "profile/recorder.h"
#include "record/recorded_calls.h"
#include "record/recording_settings.h"

namespace portacl::watch {

namespace told {

void FindsNone(const char* api, const aclOpExecutor* handle) noexcept;
void Begins(const char* api, const Executor& executor, void* workspace, uint64_t workspace_size) noexcept;
void HasNothingToDo(const Executor& executor, const Stream& stream) noexcept;
void Launches(const Executor& executor, void* workspace) noexcept;
void IsCopied(const Executor& from, const Executor& to) noexcept;
void IsQueued(const char* api, Executor& executor, const FoundStream& queue) noexcept;
void IsCaptured(const Executor& executor, RecordedInfo* info);
void BeginsWork(Executor& executor) noexcept;
void Goes(const Executor& executor) noexcept;

}  // namespace told

inline bool IsOn() noexcept { return sanitizer::IsOn() || record::IsOn(); }

// Phase 2 finds no executor; it finds one; the executor has no work; its work is about to be launched.
inline void FindsNone(const char* api, const aclOpExecutor* handle) noexcept {
  if (sanitizer::IsOn()) told::FindsNone(api, handle);
}
inline void Begins(const char* api, const Executor& executor, void* workspace, uint64_t workspace_size,
                   profile::Call& profiled) noexcept {
  if (sanitizer::IsOn()) told::Begins(api, executor, workspace, workspace_size);
  if (profile::IsOn()) profiled.Describe(profile::OperandsOf(&executor));
}
inline void HasNothingToDo(const Executor& executor, const Stream& stream) noexcept {
  if (record::IsOn()) told::HasNothingToDo(executor, stream);
}
inline void Launches(const Executor& executor, void* workspace) noexcept {
  if (sanitizer::IsOn()) told::Launches(executor, workspace);
}

// An executor was copied from a repeatable one, for one more run.
inline void IsCopied(const Executor& from, const Executor& to) noexcept {
  if (IsOn()) told::IsCopied(from, to);
}

// The work is about to be queued in a stream, or to become part of a graph.
inline void IsQueued(const char* api, Executor& executor, const FoundStream& queue) noexcept {
  if (sanitizer::IsOn()) told::IsQueued(api, executor, queue);
}
inline void IsCaptured(const Executor& executor, RecordedInfo* info) {
  if (sanitizer::IsOn()) told::IsCaptured(executor, info);
}

// Encloses the work: the constructor precedes it, the destructor follows it.
class Work {
 public:
  Work(Executor& executor, Stream& stream) noexcept : executor_(executor) {
    if (sanitizer::IsOn()) told::BeginsWork(executor);
    if (record::IsOn()) Record(stream);
  }
  ~Work() {
    if (__builtin_expect(recorded_.has_value(), 0)) Finish();
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

 private:
  void Record(const Stream& stream) noexcept;
  void Finish() noexcept;

  Executor& executor_;
  std::optional<record::RunningCall> recorded_;
};

// The executor's slot is about to be freed.
inline void Goes(const Executor& executor) noexcept {
  if (IsOn()) told::Goes(executor);
}

}  // namespace portacl::watch
