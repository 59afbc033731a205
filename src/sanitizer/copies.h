// Checks copies and operands of a checked program: whether their memory exists, is on the stated side, and is
// large enough.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_rt.h"
#include "base/copy_rows.h"

namespace portacl::sanitizer {

// Report errors in a copy's memory and direction, a fill's memory, or `size` bytes of an operand (a null
// address is the caller's business). Return true if there are none.
bool CheckCopy(const char* api, const CopyRows& rows, aclrtMemcpyKind kind) noexcept;
bool CheckFill(const char* api, const void* address, size_t size) noexcept;
bool CheckOperand(const char* api, const char* operand, const void* address, size_t size) noexcept;

// Moves the bytes of a copy, or fills if it has no source, between working addresses, and records the written
// bytes. Copies between devices preserve the unwritten state.
void MoveBytes(const CopyRows& rows, int32_t value) noexcept;

// Perform a copy or a fill synchronously.
void CopyChecked(const char* api, const CopyRows& rows, aclrtMemcpyKind kind) noexcept;
void FillChecked(const char* api, void* address, int32_t value, size_t size) noexcept;

}  // namespace portacl::sanitizer
