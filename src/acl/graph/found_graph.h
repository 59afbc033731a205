// The graph of a handle, for functions that work on one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "acl/acl_rt.h"
#include "acl/stream/graph.h"

namespace portacl {

// Returns the graph of a handle, which may be captured. If there is none, reports it and sets *status to 100000
// or 107000.
std::shared_ptr<Graph> FindGraphFor(const char* api, aclmdlRI handle, aclError* status) noexcept;

// Like FindGraphFor, for functions that need a graph whose capture is over: 107026 otherwise.
std::shared_ptr<Graph> FindWholeGraph(const char* api, aclmdlRI handle, aclError* status) noexcept;

// Like FindWholeGraph, for functions that a part of a graph does not have by itself: 107000.
std::shared_ptr<Graph> FindOuterGraph(const char* api, aclmdlRI handle, aclError* status) noexcept;

// Checks the mode of a capture: 100000.
aclError CheckCaptureMode(const char* api, const char* parameter, const aclmdlRICaptureMode* mode) noexcept;

}  // namespace portacl
