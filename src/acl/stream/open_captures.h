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
  int32_t last = -1;   // node
  int32_t group = -1;  // the open group
};

struct Capture {
  uint64_t number = 0;
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

struct Captures {
  std::mutex mutex;
  std::list<Capture> all;
  std::list<Updating> updates;
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
  // Removes captures that nobody can end any more, because their stream is destroyed. Their graphs go to
  // *ended.
  void Prune(std::vector<std::shared_ptr<Graph>>* ended) noexcept {
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
    Count();
  }
  void End(std::list<Capture>::iterator capture, std::vector<std::shared_ptr<Graph>>* ended) noexcept {
    try {
      ended->push_back(capture->graph);
    } catch (...) {
      // without memory the graph is destroyed while the lock is held
    }
    ReleaseGraph(capture->handle);
    captures_.all.erase(capture);
    Count();
  }
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
void Invalidate(Capture& capture, const char* api, std::string_view why) noexcept;

// Fail calls on a capture that an earlier call invalidated, on a stream that is not captured, and without memory.
aclError FailInvalidated(const char* api) noexcept;
aclError FailNotCaptured(const char* api) noexcept;
aclError FailNoMemory(const char* api) noexcept;
// Invalidates the stream's capture, which lacks work from here on.
aclError FailNoMemory(const char* api, const FoundStream& stream, Locked& captures) noexcept;

}  // namespace portacl::captures
