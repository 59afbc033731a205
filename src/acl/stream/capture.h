// Captures of streams: submitted work is recorded in a graph instead of queued; work that cannot be recorded
// is refused.
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
#include "acl/stream/found_stream.h"
#include "acl/stream/graph.h"
#include "base/errors.h"

namespace portacl {

// The number of streams that are captured or update a graph; 0 in nearly every process.
extern constinit std::atomic<int> captured_streams;

// Every submission tests this first, so that a program without graphs pays for one test of a global.
inline bool MayBeCaptured() noexcept {
  return __builtin_expect(captured_streams.load(std::memory_order_relaxed) != 0, 0);
}

// The destination of work for a stream.
enum class Destination { kQueue, kGraph, kUpdate };
Destination DestinationOf(const FoundStream& stream) noexcept;
inline bool IsCaptured(const FoundStream& stream) noexcept {
  return MayBeCaptured() && DestinationOf(stream) != Destination::kQueue;
}

// Tells whether the stream is captured, for calls that an update ignores: those on events.
inline bool IsInGraph(const FoundStream& stream) noexcept {
  return MayBeCaptured() && DestinationOf(stream) == Destination::kGraph;
}

// Takes over work for a stream that is captured or updates a graph. Returns 0; 507903 if the capture is
// invalidated; 107029 if it is over; 207001 if memory is exhausted, which also invalidates the capture;
// 207019 for work that no update replaces. On failure the task is given back.
aclError Record(const char* api, const FoundStream& stream, std::unique_ptr<RecordedTask> task,
                RecordedInfo info) noexcept;

// Records a pooled task, which is returned to its pool if it cannot be recorded.
aclError Record(const char* api, const FoundStream& stream, Task* task, RecordedInfo info) noexcept;

// Refuses a call on a captured stream and invalidates the capture, whose end also reports the reason. `why`
// follows the name of the function. Returns 0 if only the end reports it: for a stream that stops on failure.
aclError RefuseInCapture(const char* api, const FoundStream& stream, aclError status,
                         std::string_view why) noexcept;
// Tells whether a call is refused because the stream is captured and graphs cannot record it. Then *status is
// 507009, or 0 as above.
inline bool IsUnrecordable(const char* api, const FoundStream& stream, aclError* status) noexcept {
  if (!IsCaptured(stream)) return false;
  *status = RefuseInCapture(api, stream, ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT,
                            "no graph records what it submits; submit it before or after the capture");
  return true;
}

// Refuse a wait for streams of which one is captured, with 107027, and invalidate its capture. Return 0 if
// none is.
aclError RefuseWaitFor(const char* api, const FoundStream& stream) noexcept;
aclError RefuseWaitForContext(const char* api, aclrtContext context) noexcept;
aclError RefuseWaitForDevice(const char* api, int32_t device) noexcept;

// Refuses synchronous work, with 107030, if a capture in progress has a mode that forbids it to the calling
// thread, and invalidates that capture. Returns 0 if it is allowed.
aclError RefuseAtOnce(const char* api) noexcept;

// Called when memory was freed. Invalidates a capture whose recorded work uses it, since an execution might
// find anybody's data there. An update whose collected tasks use it fails at its end.
void NoteFreed(const char* api, const void* begin, size_t size) noexcept;

// Called if work for a stream could not be planned. Returns whether that stream is captured or updates a
// graph. Then the capture is invalidated, or the update fails at its end, which reports the message.
bool InvalidatesCapture(const FoundStream& stream, const Text& message) noexcept;

// The position in a capture at which an event was recorded.
struct EventMark {
  uint64_t capture = 0;  // 0: none
  int32_t node = -1;
};
bool IsUnderWay(const EventMark& mark) noexcept;
// Records an event in a captured stream.
aclError RecordMark(const char* api, const FoundStream& stream, const void* event, EventMark* mark) noexcept;
// Makes a stream wait for such an event; one that is not captured joins the capture. The mark's capture is in
// progress.
aclError AwaitMark(const char* api, const FoundStream& stream, const void* event,
                   const EventMark& mark) noexcept;
// Refuses a host query of an event that was recorded in a capture, with 107028, and invalidates that capture.
aclError RefuseMarked(const char* api, const EventMark& mark) noexcept;

// ---- the work of the capture functions ----

aclmdlRICaptureMode ExchangeCaptureMode(aclmdlRICaptureMode mode) noexcept;
aclError BeginCapture(const char* api, const FoundStream& stream, aclmdlRICaptureMode mode) noexcept;
// Ends the capture that began on the stream, in any case but that of a wrong stream or thread; *graph
// receives the result. The graph of a part belongs to the one that it is a part of.
aclError EndCapture(const char* api, const FoundStream& stream, std::shared_ptr<Graph>* graph,
                    aclmdlRI* handle) noexcept;
void TellCapture(const FoundStream& stream, aclmdlRICaptureStatus* status, aclmdlRI* handle) noexcept;

// Adds a condition to a graph that is being captured, and makes its handle.
aclError AddCondition(const char* api, aclmdlRI graph_handle, const std::shared_ptr<Graph>& graph,
                      Condition condition, aclmdlRICondHandle* handle) noexcept;
// Records a choice between `parts` new graphs, whose handles *handles receives, by a condition of the graph that
// the stream records.
aclError AddChoice(const char* api, const FoundStream& stream, aclmdlRICondTaskType type,
                   aclmdlRICondHandle condition, uint32_t parts, aclmdlRI* handles) noexcept;
// Begins the capture of such a graph.
aclError BeginPart(const char* api, const FoundStream& stream, std::shared_ptr<Graph> graph, aclmdlRI handle,
                   aclmdlRICaptureMode mode) noexcept;

aclError BeginGroup(const char* api, const FoundStream& stream) noexcept;
aclError EndGroup(const char* api, const FoundStream& stream, aclrtTaskGrp* handle) noexcept;

aclError BeginUpdate(const char* api, const FoundStream& stream, std::shared_ptr<Graph> graph,
                     int32_t group) noexcept;
// The tasks that the stream was given since BeginUpdate, for these nodes of the graph. 107040 if other tasks
// are recorded there.
struct Update {
  std::shared_ptr<Graph> graph;
  std::vector<int32_t> positions;
  std::vector<RecordedNode> nodes;
};
aclError EndUpdate(const char* api, const FoundStream& stream, Update* update) noexcept;

}  // namespace portacl
