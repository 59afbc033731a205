// Executions of graphs, as tasks of streams, and the memory that they need.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "acl/acl_base.h"
#include "acl/stream/found_stream.h"
#include "acl/stream/graph.h"

namespace portacl {

// Notes in which memory the tasks of a graph that was just captured work, or those that are about to take their place. False
// for want of memory.
bool NoteMemory(Graph* graph) noexcept;
bool NoteMemory(RecordedNode* node) noexcept;

// Puts one execution into the stream: 0, 207001 or 207005, or what is said of the stream.
aclError SubmitExecution(const char* api, std::shared_ptr<Graph> graph, const FoundStream& stream) noexcept;

}  // namespace portacl
