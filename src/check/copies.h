// Copies and operands of a checked program: whether the memory is there, on the side that was said, and large enough.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_rt.h"
#include "acl/memory/copy_rows.h"
#include "check/settings.h"

namespace portacl::sanitizer {

// Reports what is wrong with a copy's memory and direction, a fill's memory, `size` bytes of an operand (a null address is the
// caller's). True: nothing is.
bool CheckCopy(const char* api, const CopyRows& rows, aclrtMemcpyKind kind) noexcept;
bool CheckFill(const char* api, const void* address, size_t size) noexcept;
bool CheckOperand(const char* api, const char* operand, const void* address, size_t size) noexcept;

// Moves the bytes of a copy, or fills those of one without a source, between working addresses, and notes what is written. What
// nobody wrote stays so where it is copied from device to device.
void MoveBytes(const CopyRows& rows, int32_t value) noexcept;

// A copy, or a fill, that is done at once.
void CopyChecked(const char* api, const CopyRows& rows, aclrtMemcpyKind kind) noexcept;
void FillChecked(const char* api, void* address, int32_t value, size_t size) noexcept;

}  // namespace portacl::sanitizer
