// Streams that are captured: what they are given is recorded in a graph instead of queued, and what cannot be is refused.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "acl/acl_base.h"
#include "acl/acl_rt.h"
#include "acl/errors.h"
#include "acl/stream/found_stream.h"
#include "acl/stream/graph.h"

namespace portacl {

// How many streams are captured, or update a graph; 0 in nearly every process.
extern constinit std::atomic<int> captured_streams;

// What every submission asks first, so that a program without graphs pays for one test of a global.
inline bool MayBeCaptured() noexcept {
  return __builtin_expect(captured_streams.load(std::memory_order_relaxed) != 0, 0);
}

// What becomes of work for a stream.
enum class Destination { kQueue, kGraph, kUpdate };
Destination DestinationOf(const FoundStream& stream) noexcept;
inline bool IsCaptured(const FoundStream& stream) noexcept {
  return MayBeCaptured() && DestinationOf(stream) != Destination::kQueue;
}

// The same for what an update passes over: events.
inline bool IsInGraph(const FoundStream& stream) noexcept {
  return MayBeCaptured() && DestinationOf(stream) == Destination::kGraph;
}

// Takes over work that a captured stream is given, or one that updates a graph. 0; 507903 when the capture is invalidated,
// 107029 when it is over, 207001 for want of memory, which invalidates the capture, too, 207019 for work that no update replaces. The task is given back then.
aclError Record(const char* api, const FoundStream& stream, std::unique_ptr<RecordedTask> task,
                RecordedFacts facts) noexcept;

// Of a task in the pool of its kind, which is given back when it cannot be recorded.
aclError Record(const char* api, const FoundStream& stream, Task* task, RecordedFacts facts) noexcept;

// Refuses a call on a captured stream, and invalidates the capture, whose end tells why, too. `why` follows the name of the
// function. 0 where the end alone is to tell: of a stream that stops on failure.
aclError RefuseInCapture(const char* api, const FoundStream& stream, aclError status,
                         std::string_view why) noexcept;
// Whether a call is refused because the stream is captured and no graph records what it submits: *status is 507009 then, or 0
// as above.
inline bool IsUnrecordable(const char* api, const FoundStream& stream, aclError* status) noexcept {
  if (!IsCaptured(stream)) return false;
  *status = RefuseInCapture(api, stream, ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT,
                            "no graph records what it submits; submit it before or after the capture");
  return true;
}

// Refuse, with 107027, what waits for streams of which one is captured, and invalidate its capture. 0 where none is.
aclError RefuseWaitFor(const char* api, const FoundStream& stream) noexcept;
aclError RefuseWaitForContext(const char* api, aclrtContext context) noexcept;
aclError RefuseWaitForDevice(const char* api, int32_t device) noexcept;

// Refuses, with 107030, what does its work at once although a capture is under way whose mode forbids that to the calling
// thread, and invalidates that capture. 0 where it is allowed.
aclError RefuseAtOnce(const char* api) noexcept;

// Memory was freed. A capture whose recorded work uses it is invalidated: what lies there by the time of an execution is
// anybody's. An update whose collected tasks use it fails at its end.
void NoteFreed(const char* api, const void* begin, size_t size) noexcept;

// Work for a stream could not be planned: whether that stream is captured, or updates a graph. The capture is invalidated
// then, or the update fails at its end, which tells the message.
bool InvalidatesCapture(const FoundStream& stream, const Text& message) noexcept;

// Where an event was recorded in a capture.
struct EventMark {
  uint64_t capture = 0;  // 0: in none
  int32_t node = -1;
};
bool IsUnderWay(const EventMark& mark) noexcept;
// An event is recorded in a captured stream.
aclError RecordMark(const char* api, const FoundStream& stream, const void* event, EventMark* mark) noexcept;
// A stream waits for such an event; one that is not captured joins the capture. The mark's capture is under way.
aclError AwaitMark(const char* api, const FoundStream& stream, const void* event,
                   const EventMark& mark) noexcept;
// Refuses, with 107028, to tell the host of an event that is recorded in a capture, and invalidates that.
aclError RefuseMarked(const char* api, const EventMark& mark) noexcept;

// ---- what the functions that capture do ----

aclmdlRICaptureMode ExchangeCaptureMode(aclmdlRICaptureMode mode) noexcept;
aclError BeginCapture(const char* api, const FoundStream& stream, aclmdlRICaptureMode mode) noexcept;
// Ends the capture that began on the stream, in any case but that of a wrong stream or thread; *graph is what it made.
aclError EndCapture(const char* api, const FoundStream& stream, std::shared_ptr<Graph>* graph,
                    aclmdlRI* handle) noexcept;
void TellCapture(const FoundStream& stream, aclmdlRICaptureStatus* status, aclmdlRI* handle) noexcept;

aclError BeginGroup(const char* api, const FoundStream& stream) noexcept;
aclError EndGroup(const char* api, const FoundStream& stream, aclrtTaskGrp* handle) noexcept;

aclError BeginUpdate(const char* api, const FoundStream& stream, std::shared_ptr<Graph> graph,
                     int32_t group) noexcept;
// What the stream was given since BeginUpdate, for these places of the graph; 107040 when other tasks are recorded there.
struct Update {
  std::shared_ptr<Graph> graph;
  std::vector<int32_t> places;
  std::vector<RecordedNode> nodes;
};
aclError EndUpdate(const char* api, const FoundStream& stream, Update* update) noexcept;

}  // namespace portacl
