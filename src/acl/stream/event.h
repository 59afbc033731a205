// Events: marks in streams that the host and other streams wait for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace portacl {

// The number of events, and of recordings in use by events or by waiting streams.
int LiveEvents() noexcept;
int LiveRecordings() noexcept;

}  // namespace portacl
