// Which sanitizer this test is built with: PORTACL_ASAN, PORTACL_TSAN, both 0 or 1, for either compiler.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__has_feature)
#define PORTACL_ASAN __has_feature(address_sanitizer)
#define PORTACL_TSAN __has_feature(thread_sanitizer)
#else
#if defined(__SANITIZE_ADDRESS__)
#define PORTACL_ASAN 1
#else
#define PORTACL_ASAN 0
#endif
#if defined(__SANITIZE_THREAD__)
#define PORTACL_TSAN 1
#else
#define PORTACL_TSAN 0
#endif
#endif

// What is repeated only to be sure is repeated so many times less with a sanitizer, whose builds are that much slower.
inline constexpr int kSanitizerSlowness = PORTACL_ASAN || PORTACL_TSAN ? 10 : 1;
