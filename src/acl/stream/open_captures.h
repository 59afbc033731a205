// The captures of streams and the updates of task groups that are in progress, under one lock.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "acl/acl_rt.h"
#include "acl/stream/capture.h"
#include "acl/stream/found_stream.h"
#include "acl/stream/graph.h"
#include "base/text.h"

namespace portacl::captures {

// The last node of each lane before a point in time, or -1: everything that precedes it.
using Front = std::vector<int32_t>;

struct Lane {
  aclrtStream handle = nullptr;
  Front front;
  int32_t last = -1;   // node that must be waited for: not one that records an event, which is no work
  int32_t group = -1;  // the open group
};

struct Capture {
  uint64_t number = 0;
  uint64_t outer = 0;  // of the capture that records what this one's graph is a part of; 0: none
  std::shared_ptr<Graph> graph;
  aclmdlRI handle = nullptr;
  aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
  pthread_t owner = {};
  bool is_invalid = false;
  Text reason;                                   // of its invalidation: the message of the first refused call
  std::vector<Lane> lanes;                       // the first is the one on which it began
  std::vector<std::pair<int32_t, Front>> marks;  // for events: the node, and what precedes it
};

struct Updating {
  aclrtStream handle = nullptr;
  std::shared_ptr<Graph> graph;
  int32_t group = 0;
  std::vector<RecordedNode> nodes;
  Text reason;  // why its end fails; empty: it does not
};

// A capture that ended with that of a part of its graph. Its own end says why.
struct Dropped {
  aclrtStream handle = nullptr;  // on which it began
  Text reason;
};

struct Captures {
  std::mutex mutex;
  std::list<Capture> all;
  std::list<Updating> updates;
  std::list<Dropped> dropped;
  uint64_t last_number = 0;
};

Captures& TheCaptures() noexcept;

// The captures while their lock is held. Streams are identified by their handles, which are never reused.
class Locked {
 public:
  Locked() noexcept : captures_(TheCaptures()), lock_(captures_.mutex) {}

  Captures* operator->() noexcept { return &captures_; }

  Capture* CaptureOf(aclrtStream handle, Lane** lane) noexcept {
    for (Capture& capture : captures_.all) {
      for (Lane& one : capture.lanes) {
        if (one.handle != handle) continue;
        *lane = &one;
        return &capture;
      }
    }
    return nullptr;
  }
  Capture* CaptureOf(aclrtStream handle) noexcept {
    Lane* lane = nullptr;
    return CaptureOf(handle, &lane);
  }
  Updating* UpdateOf(aclrtStream handle) noexcept {
    for (Updating& one : captures_.updates) {
      if (one.handle == handle) return &one;
    }
    return nullptr;
  }
  Capture* Numbered(uint64_t number) noexcept {
    for (Capture& capture : captures_.all) {
      if (capture.number == number) return &capture;
    }
    return nullptr;
  }
  // Returns the capture that records the graph itself.
  Capture* CaptureInto(const Graph& graph) noexcept {
    for (Capture& capture : captures_.all) {
      if (capture.graph.get() == &graph) return &capture;
    }
    return nullptr;
  }
  // Removes captures that nobody can end any more, because their stream is destroyed. They go to *ended.
  void Prune(std::list<Capture>* ended) noexcept {
    for (auto it = captures_.all.begin(); it != captures_.all.end();) {
      if (LiveStream(it->lanes.front().handle) != nullptr) {
        ++it;
        continue;
      }
      End(it, ended);
      it = captures_.all.begin();
    }
    for (auto it = captures_.updates.begin(); it != captures_.updates.end();) {
      it = LiveStream(it->handle) != nullptr ? std::next(it) : captures_.updates.erase(it);
    }
    captures_.dropped.remove_if([](const Dropped& one) { return LiveStream(one.handle) == nullptr; });
    Count();
  }
  // Ends a capture without a graph, and those of its graph's parts. The capture that it is for is invalidated.
  // The caller destroys *ended after the lock is released.
  void End(std::list<Capture>::iterator capture, std::list<Capture>* ended) noexcept;
  // Does the same for a capture whose end fails, and for those that it is for: torch_npu does not end them then.
  void EndAll(std::list<Capture>::iterator capture, const Text& reason, std::list<Capture>* ended) noexcept;
  // Forgets that the stream's capture was dropped; returns false if it was not.
  bool TakeDropped(aclrtStream handle, Text* reason) noexcept;
  void Count() noexcept {
    size_t count = captures_.updates.size();
    for (const Capture& capture : captures_.all) count += capture.lanes.size();
    captured_streams.store(static_cast<int>(count), std::memory_order_relaxed);
  }

 private:
  Captures& captures_;
  std::lock_guard<std::mutex> lock_;
};

aclError Refuse(const char* api, aclError status, std::string_view why) noexcept;
// Invalidate a capture, and those that it is for. The lock is held.
void Invalidate(Capture& capture, const Text& reason) noexcept;
void Invalidate(Capture& capture, const char* api, std::string_view why) noexcept;

// Appends a node to a lane, after all that precedes it. Throws if memory is exhausted, and then changes
// nothing.
int32_t Append(Capture& capture, Lane& lane, RecordedNode node);

// Refuses a stream on which no capture can begin.
aclError CheckStream(const char* api, const FoundStream& stream, Locked& captures) noexcept;
// Begins a capture on such a stream, into a graph whose handle is given. Changes nothing if memory is exhausted.
aclError Open(const char* api, const FoundStream& stream, aclmdlRICaptureMode mode,
              std::shared_ptr<Graph> graph, aclmdlRI handle, Locked& captures) noexcept;

// Fail calls on a capture that an earlier call invalidated, on a stream that is not captured, and without memory.
aclError FailInvalidated(const char* api) noexcept;
aclError FailNotCaptured(const char* api) noexcept;
aclError FailNoMemory(const char* api) noexcept;
// Invalidates the stream's capture, which lacks work from here on.
aclError FailNoMemory(const char* api, const FoundStream& stream, Locked& captures) noexcept;

}  // namespace portacl::captures
