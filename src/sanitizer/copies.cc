// Checks the memory of copies and operands, and moves bytes (see copies.h).
// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/copies.h"

#include <cstring>

#include "base/sanitizer_hooks.h"
#include "sanitizer/device_memory.h"
#include "sanitizer/order.h"
#include "sanitizer/report.h"

namespace portacl::sanitizer {
namespace {

enum class Side { kHost, kDevice, kEither };

const char* Describe(MemoryKind kind) noexcept {
  switch (kind) {
    case MemoryKind::kDevice:
      return "device memory from aclrtMalloc";
    case MemoryKind::kManaged:
      return "memory from aclrtMemAllocManaged";
    case MemoryKind::kMapped:
      return "memory that aclrtMapMem mapped";
    case MemoryKind::kPinnedHost:
      return "host memory from aclrtMallocHost";
    case MemoryKind::kRegisteredHost:
      return "host memory that was registered";
    case MemoryKind::kUnknown:
      break;
  }
  return "the program's own host memory";
}

// An operand of a call: a name and the bytes that are touched.
struct Memory {
  const char* api;
  const char* name;
  const void* address;
  size_t size;
};

// Reports memory that has been freed or is too small. Returns true if it is all there.
bool IsThere(const Memory& memory, const MemoryRange& range) noexcept {
  Block block;
  const bool is_device = IsInDeviceRange(memory.address);
  const bool known = is_device && FindBlock(memory.address, &block);
  const size_t offset = range.size == 0 ? 0 : reinterpret_cast<uintptr_t>(memory.address) - range.begin;
  const bool is_gone = is_device && range.size == 0;
  const bool is_short =
      range.size > 0 && range.facts.kind != MemoryKind::kRegisteredHost && memory.size > range.size - offset;
  if (!is_gone && !is_short) return true;
  const CallStack here = CallStackHere();
  Finding finding;
  finding.part = kMemory;
  finding.function = memory.api;
  finding.subject = memory.address;
  finding.locations[0] = {Text("the call"), &here};
  if (is_gone) {
    finding.kind = known && !block.is_freed ? "beyond-allocation" : "use-after-free";
    finding.what = Text("parameter ", memory.name, " is ", memory.address, ", ");
    if (known && block.is_freed) {
      finding.what.Add("device memory that ").Add(block.freer).Add(" freed.");
    } else if (known) {
      const size_t behind = reinterpret_cast<uintptr_t>(memory.address) - block.begin;
      finding.what.Add("byte ").Add(behind).Add(" of an allocation of ").Add(block.size).Add(" bytes.");
    } else {
      finding.what.Add("an address of a device where no memory is (any more).");
    }
    finding.mend = Text("free memory only when nothing uses it any more, after the stream was synchronised.");
  } else {
    finding.kind = "beyond-allocation";
    finding.what =
        Text("parameter ", memory.name, ": ", memory.size, " bytes from ", memory.address, ", which is byte ",
             offset, " of ", range.size, " bytes of ", Describe(range.facts.kind), ": ",
             memory.size - (range.size - offset), " bytes lie beyond its end.");
    finding.mend =
        Text("allocate as many bytes as are used; shapes and counts are in elements, sizes in bytes.");
  }
  if (known) finding.locations[1] = {Text("the memory was made by ", block.maker), &block.made};
  if (known && block.is_freed) finding.locations[2] = {Text("it was freed by ", block.freer), &block.freed};
  Report(finding);
  return false;
}

bool IsHostKind(MemoryKind kind) noexcept {
  return kind == MemoryKind::kUnknown || kind == MemoryKind::kPinnedHost ||
         kind == MemoryKind::kRegisteredHost;
}

const char* NameOfKind(aclrtMemcpyKind kind) noexcept {
  switch (kind) {
    case ACL_MEMCPY_HOST_TO_HOST:
      return "ACL_MEMCPY_HOST_TO_HOST";
    case ACL_MEMCPY_HOST_TO_DEVICE:
      return "ACL_MEMCPY_HOST_TO_DEVICE";
    case ACL_MEMCPY_DEVICE_TO_HOST:
      return "ACL_MEMCPY_DEVICE_TO_HOST";
    case ACL_MEMCPY_DEVICE_TO_DEVICE:
      return "ACL_MEMCPY_DEVICE_TO_DEVICE";
    default:
      return "another";
  }
}

Side SourceOf(aclrtMemcpyKind kind) noexcept {
  switch (kind) {
    case ACL_MEMCPY_HOST_TO_HOST:
    case ACL_MEMCPY_HOST_TO_DEVICE:
    case ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE:
      return Side::kHost;
    case ACL_MEMCPY_DEVICE_TO_HOST:
    case ACL_MEMCPY_DEVICE_TO_DEVICE:
    case ACL_MEMCPY_INNER_DEVICE_TO_DEVICE:
    case ACL_MEMCPY_INTER_DEVICE_TO_DEVICE:
      return Side::kDevice;
    default:
      return Side::kEither;
  }
}

Side DestinationOf(aclrtMemcpyKind kind) noexcept {
  switch (kind) {
    case ACL_MEMCPY_HOST_TO_HOST:
    case ACL_MEMCPY_DEVICE_TO_HOST:
      return Side::kHost;
    case ACL_MEMCPY_DEFAULT:
      return Side::kEither;
    default:
      return Side::kDevice;
  }
}

// Reports memory on the wrong side for the kind of a copy. Pinned and registered host memory may count as the
// device's side, which depends on the product. Managed memory is on both sides.
bool IsOnSide(Side side, const Memory& memory, const MemoryRange& range, aclrtMemcpyKind kind) noexcept {
  const MemoryKind is = range.facts.kind;
  const bool wrong = side == Side::kHost     ? is == MemoryKind::kDevice
                     : side == Side::kDevice ? IsHostKind(is) && is != MemoryKind::kRegisteredHost
                                             : false;
  if (!wrong) return true;
  const CallStack here = CallStackHere();
  Block block;
  Finding finding;
  finding.part = kMemory;
  finding.kind = "copy-direction";
  finding.certainty = is == MemoryKind::kPinnedHost ? Certainty::kWarning : Certainty::kError;
  finding.function = memory.api;
  finding.subject = memory.address;
  finding.what = Text("parameter ", memory.name, " is ", memory.address, ", ", Describe(is),
                      ", but the kind ", static_cast<int>(kind), " (", NameOfKind(kind), ") says that it is ",
                      side == Side::kHost ? "the host's." : "a device's.");
  if (is == MemoryKind::kPinnedHost) finding.what.Add(" Some products can copy so, others fail.");
  finding.mend = Text("give the kind that fits where the two addresses lie, source first.");
  finding.locations[0] = {Text("the call"), &here};
  if (FindBlock(memory.address, &block)) {
    finding.locations[1] = {Text("the memory was made by ", block.maker), &block.made};
  }
  Report(finding);
  return false;
}

bool Overlap(const CopyRows& rows) noexcept {
  const auto to = reinterpret_cast<uintptr_t>(rows.to);
  const auto from = reinterpret_cast<uintptr_t>(rows.from);
  if (rows.height == 1) return to < from + rows.width && from < to + rows.width;
  // Checks row by row if both have one pitch and small gaps; other matrices are not compared.
  if (rows.to_pitch != rows.from_pitch) return false;
  for (size_t row = 0; row < rows.height; ++row) {
    const uintptr_t other = from + row * rows.from_pitch;
    if (to < other + rows.width && other < to + rows.width) return true;
  }
  return false;
}

size_t ReachOfRows(size_t pitch, const CopyRows& rows) noexcept {
  return (rows.height - 1) * pitch + rows.width;
}

}  // namespace

bool CheckCopy(const char* api, const CopyRows& rows, aclrtMemcpyKind kind) noexcept {
  if (!IsOn(kMemory)) return true;
  const Memory to{api, "dst", rows.to, ReachOfRows(rows.to_pitch, rows)};
  const Memory from{api, "src", rows.from, ReachOfRows(rows.from_pitch, rows)};
  const MemoryRange of_to = RangeOf(rows.to);
  const MemoryRange of_from = RangeOf(rows.from);
  if (!IsThere(to, of_to) || !IsThere(from, of_from)) return false;
  if (!IsOnSide(DestinationOf(kind), to, of_to, kind) || !IsOnSide(SourceOf(kind), from, of_from, kind))
    return false;
  if (!Overlap(rows)) return true;
  const CallStack here = CallStackHere();
  Finding finding;
  finding.part = kMemory;
  finding.kind = "copy-overlap";
  finding.certainty = Certainty::kWarning;
  finding.function = api;
  finding.subject = rows.to;
  finding.what = Text("source ", rows.from, " and destination ", rows.to, " overlap in a copy of ",
                      rows.width, " bytes; which bytes a device then reads depends on the product.");
  finding.mend = Text("copy through memory of its own.");
  finding.locations[0] = {Text("the call"), &here};
  Report(finding);
  return false;
}

bool CheckFill(const char* api, const void* address, size_t size) noexcept {
  if (!IsOn(kMemory)) return true;
  return IsThere({api, "devPtr", address, size}, RangeOf(address));
}

bool CheckOperand(const char* api, const char* operand, const void* address, size_t size) noexcept {
  if (!IsOn(kMemory) || address == nullptr) return true;
  const MemoryRange range = RangeOf(address);
  if (!IsThere({api, operand, address, size}, range)) return false;
  const MemoryKind is = range.facts.kind;
  if (!IsHostKind(is) || is == MemoryKind::kRegisteredHost) return true;
  const CallStack here = CallStackHere();
  Finding finding;
  finding.part = kMemory;
  finding.kind = "host-operand";
  finding.certainty = is == MemoryKind::kPinnedHost ? Certainty::kWarning : Certainty::kError;
  finding.function = api;
  finding.subject = address;
  finding.what = Text("parameter ", operand, " has its data at ", address, ", ", Describe(is),
                      ", which a device cannot use.");
  if (is == MemoryKind::kPinnedHost) {
    finding.what = Text("parameter ", operand, " has its data at ", address, ", ", Describe(is),
                        "; only some products let a device use it.");
  }
  finding.mend = Text(
      "allocate it by aclrtMalloc and copy the data there by aclrtMemcpy; in PyTorch, move the "
      "tensor by tensor.npu().");
  finding.locations[0] = {Text("the call"), &here};
  Report(finding);
  return false;
}

void MoveBytes(const CopyRows& rows, int32_t value) noexcept {
  auto* to = static_cast<char*>(rows.to);
  if (rows.from == nullptr) {
    std::memset(Working(to), value, rows.width);
    MarkWritten(to, rows.width);
    return;
  }
  const auto* from = static_cast<const char*>(rows.from);
  for (size_t row = 0; row < rows.height; ++row, to += rows.to_pitch, from += rows.from_pitch) {
    std::memmove(Working(to), Working(from), rows.width);
    const bool units_fit =
        reinterpret_cast<uintptr_t>(to) % kUnit == reinterpret_cast<uintptr_t>(from) % kUnit;
    if (!units_fit || FirstUnwritten(from, rows.width) == nullptr) {
      MarkWritten(to, rows.width);
      continue;
    }
    for (size_t done = 0; done < rows.width;) {
      const size_t left = kUnit - (reinterpret_cast<uintptr_t>(to) + done) % kUnit;
      const size_t size = left < rows.width - done ? left : rows.width - done;
      if (FirstUnwritten(from + done, size) == nullptr) {
        MarkWritten(to + done, size);
      } else if (size == kUnit) {
        MarkUnwritten(to + done, size);
      }
      done += size;
    }
  }
}

void CopyChecked(const char* api, const CopyRows& rows, aclrtMemcpyKind kind) noexcept {
  CheckCopy(api, rows, kind);
  if (IsOn(kSync)) {
    HostTouches(api, AccessesOfCopy(rows));
  }
  MoveBytes(rows, 0);
}

void FillChecked(const char* api, void* address, int32_t value, size_t size) noexcept {
  CheckFill(api, address, size);
  const CopyRows rows{.to = address, .width = size};
  if (IsOn(kSync)) HostTouches(api, AccessesOfCopy(rows));
  MoveBytes(rows, value);
}

}  // namespace portacl::sanitizer
