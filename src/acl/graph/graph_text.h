// Graphs as text, for people and for programs that draw them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "acl/stream/graph.h"

namespace portacl {

// The tasks as events of Chrome's trace viewer: one row for each captured stream, in the order of the calls.
std::string AsJson(Graph& graph);
// The same as a graph of Graphviz: an arrow from each task to those that come next.
std::string AsDot(Graph& graph);

}  // namespace portacl
