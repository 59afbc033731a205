// Graphs as text, for people and for programs that draw them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "acl/stream/graph.h"

namespace portacl {

// Returns the tasks as events for Chrome's trace viewer: one row for each captured stream, in the order of
// calls.
std::string AsJson(Graph& graph);
// Returns the graph for Graphviz, with an arrow from each task to its successors.
std::string AsDot(Graph& graph);

}  // namespace portacl
