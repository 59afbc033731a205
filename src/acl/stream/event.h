// Events: marks in streams that hosts and other streams wait for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace portacl {

// How many events exist, and how many recordings are in use (by events, or by streams that wait).
int LiveEvents() noexcept;
int LiveRecordings() noexcept;

}  // namespace portacl
