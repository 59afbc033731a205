// Executions of graphs as tasks of streams, and the memory that they need.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "acl/acl_base.h"
#include "acl/stream/found_stream.h"
#include "acl/stream/graph.h"

namespace portacl {

// Records the memory that the tasks of a newly captured graph and its parts, or tasks that are about to replace
// some, use.
// Return false if memory is exhausted.
bool NoteMemory(Graph* graph) noexcept;
bool NoteMemory(RecordedNode* node) noexcept;

// Submits one execution to the stream. Returns 0, 207001, 207005, or an error about the stream.
aclError SubmitExecution(const char* api, std::shared_ptr<Graph> graph, const FoundStream& stream) noexcept;

}  // namespace portacl
