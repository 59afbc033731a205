// Functions of the program in stream order: host functions, and callbacks that a subscribed thread processes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace portacl {

class Stream;

// The stream's life ends: a subscription to it ends too. Its callbacks that nobody processed are dropped.
void ForgetSubscription(Stream* stream) noexcept;

}  // namespace portacl
