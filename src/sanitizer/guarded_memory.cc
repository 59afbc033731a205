// Reserves, allocates and guards the device memory of a checked program (see device_memory.h).
// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/device_memory.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <string_view>

#include "base/process/cancellation.h"
#include "base/process/fork.h"
#include "base/process/no_destructor.h"
#include "sanitizer/report.h"
#include "sanitizer/working_memory.h"
#include "sanitizer/written_bits.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace portacl::sanitizer {

namespace {

constexpr size_t kMostAddresses = size_t{1} << 44;
constexpr size_t kFewestAddresses = size_t{1} << 36;
constexpr size_t kManyPages = 8 * kPage;
constexpr size_t kWorkingAddresses = size_t{1} << 40;
// The size of a region of addresses. The metadata of a region fills whole pages, which go back to the kernel when no
// block is left in it.
constexpr size_t kRegion = kPage / sizeof(ptrdiff_t) * kPage;
// The number of freed blocks that are remembered for messages.
constexpr size_t kMostEnded = 1 << 16;

// The most bytes of a block that are filled: a program that reserves more than the machine has may never
// touch most of it.
constexpr size_t kMostFilled = size_t{1} << 30;

bool guards_host = false;
// Tells whether the host got access to some block, after a finding or because it may use mapped memory.
std::atomic<bool> host_got_access{false};

std::atomic<ptrdiff_t>* distances = nullptr;  // device_range.distance_of_page

void HideFromHost(uintptr_t begin, size_t length) noexcept {
  mmap(reinterpret_cast<void*>(begin), length, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

size_t RegionOf(uintptr_t address) noexcept { return OffsetOf(address) / kRegion; }

// Forgets everything about the addresses of these regions.
void ForgetRegions(size_t first, size_t end) noexcept {
  if (first >= end) return;
  constexpr size_t kBits = kRegion / kUnit / 8;
  madvise(reinterpret_cast<char*>(shadow) + first * kBits, (end - first) * kBits, MADV_DONTNEED);
  madvise(reinterpret_cast<char*>(distances) + first * kPage, (end - first) * kPage, MADV_DONTNEED);
}

struct Blocks {
  std::mutex mutex;
  // Locked, before the other mutex, while bytes are moved to a file; threads that want to write them wait for
  // it.
  std::mutex sharing;
  std::map<uintptr_t, Block> live;
  std::map<uintptr_t, Block> ended;
  std::deque<uintptr_t> ended_order;
  std::map<uintptr_t, size_t> taken;   // all ranges that are in use or not yet reusable, with their lengths
  std::map<size_t, size_t> in_region;  // how many of these begin or end in each region
  struct Retired {
    uintptr_t begin;
    size_t length;
    uint64_t work;  // work with a smaller number may still use the bytes
  };
  std::deque<Retired> retired;
  WorkingMemory working;
  std::set<uint64_t> under_way;
  uint64_t next_work = 1;
  uintptr_t next = 0;
  bool is_reused = false;

  // Takes addresses that were never used, or, if there are none, those that were freed longest ago.
  uintptr_t TakeLocked(size_t length, size_t alignment) {
    for (int round = 0; round < 2; ++round) {
      uintptr_t at = (next + alignment - 1) & ~(alignment - 1);
      auto it = taken.upper_bound(at);
      if (it != taken.begin() && std::prev(it)->first + std::prev(it)->second > at) --it;
      while (at + length <= device_range.end && at + length > at) {
        if (it == taken.end() || it->first >= at + length) {
          ++in_region[RegionOf(at)];
          ++in_region[RegionOf(at + length - 1)];
          taken.emplace(at, length);
          next = at + length;
          ForgetEndedLocked(at, length);
          return at;
        }
        at = (it->first + it->second + alignment - 1) & ~(alignment - 1);
        ++it;
      }
      next = device_range.begin;
      is_reused = true;
    }
    return 0;
  }
  // Makes these addresses reusable, after all others.
  void LetGoLocked(uintptr_t at) {
    const auto it = taken.find(at);
    if (it == taken.end()) return;
    const size_t first = RegionOf(at);
    const size_t last = RegionOf(at + it->second - 1);
    taken.erase(it);
    ForgetRegions(first + 1, last);
    for (const size_t region : {first, last}) {
      const auto counted = in_region.find(region);
      if (--counted->second > 0) continue;
      in_region.erase(counted);
      if (RegionOf(next) != region) ForgetRegions(region, region + 1);
    }
  }
  void ForgetEndedLocked(uintptr_t at, size_t length) {
    ended.erase(ended.lower_bound(at), ended.lower_bound(at + length));
  }
};

// Frees the bytes of ended blocks that no work uses any more.
void DropRetiredLocked(Blocks& blocks) noexcept;

void AfterFork();

Blocks& TheBlocks() {
  static NoDestructor<Blocks> blocks;
  static const bool registered = CallInForkedChild(AfterFork);
  (void)registered;
  return *blocks;
}

// A thread that does not exist in the child may have held the mutex, and work in flight stayed in the parent.
void AfterFork() {
  new (&TheBlocks().mutex) std::mutex;
  new (&TheBlocks().sharing) std::mutex;
  TheBlocks().under_way.clear();
}

void* WorkingAt(uintptr_t address) noexcept { return Working(reinterpret_cast<void*>(address)); }

// Sets the position of a block's bytes; 0 stands for the common distance.
void SetDistance(uintptr_t begin, size_t length, ptrdiff_t distance) noexcept {
  std::atomic<ptrdiff_t>* const first = distances + OffsetOf(begin) / kPage;
  for (size_t page = 0; page < length / kPage; ++page) first[page].store(distance, std::memory_order_relaxed);
}

void* AtOneDistance(uintptr_t address) noexcept {
  return reinterpret_cast<void*>(address + static_cast<uintptr_t>(device_range.distance));
}

bool OpenWorking(void* begin, size_t length) noexcept {
  return mprotect(begin, length, PROT_READ | PROT_WRITE) == 0;
}

// Reserves the working addresses of a range whose pages have none of their own. They are inaccessible until
// access is requested.
bool MakeWorking(uintptr_t begin, size_t length) noexcept {
  void* const made = mmap(AtOneDistance(begin), length, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (made == MAP_FAILED) return false;
  madvise(made, length, MADV_DONTDUMP);
  return true;
}

bool IsZero(const char* bytes, size_t length) noexcept {
  return bytes[0] == 0 && std::memcmp(bytes, bytes + 1, length - 1) == 0;
}

// Moves the bytes of a block to a file that is mapped at both of its addresses, MiB by MiB; that MiB is
// read-only meanwhile.
bool ShareWithHost(uintptr_t begin, size_t length) noexcept {
  const CancellationDeferred deferred;
  const int file = memfd_create("portacl-device", MFD_CLOEXEC);
  if (file < 0) return false;
  bool done = ftruncate(file, static_cast<off_t>(length)) == 0;
  constexpr size_t kMiB = size_t{1} << 20;
  char* const working = static_cast<char*>(WorkingAt(begin));
  for (size_t at = 0; done && at < length; at += kMiB) {
    const size_t bytes = std::min(kMiB, length - at);
    done = mprotect(working + at, bytes, PROT_READ) == 0;
    // Untouched pages stay holes of the file.
    for (size_t copied = done && IsZero(working + at, bytes) ? bytes : 0; done && copied < bytes;) {
      const ssize_t written =
          pwrite(file, working + at + copied, bytes - copied, static_cast<off_t>(at + copied));
      done = written > 0;
      if (done) copied += static_cast<size_t>(written);
    }
    done = done && mmap(working + at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                        static_cast<off_t>(at)) != MAP_FAILED;
  }
  done = done && mmap(reinterpret_cast<void*>(begin), length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                      file, 0) != MAP_FAILED;
  close(file);
  return done;
}

const Block* HolderOf(const std::map<uintptr_t, Block>& blocks, uintptr_t address) noexcept {
  const auto behind = blocks.upper_bound(address);
  if (behind == blocks.begin()) return nullptr;
  const Block& block = std::prev(behind)->second;
  return address - block.begin < LengthOf(block.size) ? &block : nullptr;
}

// Returns the kind of access, if the processor reports it.
const char* AccessOf(const void* context) noexcept {
#if defined(__x86_64__)
  const auto* const registers = static_cast<const ucontext_t*>(context);
  return (registers->uc_mcontext.gregs[REG_ERR] & 2) != 0 ? "writes" : "reads";
#else
  (void)context;
  return "uses";
#endif
}

struct sigaction before;

// Calls the previous handler, or restores the default action.
void PassOn(int signal, siginfo_t* info, void* context) {
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  } else {
    struct sigaction by_default = {};
    by_default.sa_handler = SIG_DFL;
    sigaction(signal, &by_default, nullptr);  // retries the access, which ends the process
    if (info->si_code <= 0) raise(signal);    // not a fault: the signal was sent by somebody
  }
}

// Handles an access of the library to a working address without access rights. Either it is being shared with
// the host, or no memory was allocated there, as when a program continues after a finding. Returns false if
// nothing can be done.
bool LetWork(uintptr_t address) noexcept {
  const std::lock_guard lock(TheBlocks().sharing);
  return OpenWorking(reinterpret_cast<void*>(address & ~(kPage - 1)), kPage);
}

bool IsWorking(uintptr_t address) noexcept {
  return TheBlocks().working.Holds(address) ||
         IsInDeviceRange(reinterpret_cast<void*>(address - static_cast<uintptr_t>(device_range.distance)));
}

// Marks the block at this address, alive or freed, as shared.
void SetShared(uintptr_t begin) noexcept {
  Blocks& blocks = TheBlocks();
  const std::lock_guard lock(blocks.mutex);
  for (auto* const map : {&blocks.live, &blocks.ended}) {
    const auto found = map->find(begin);
    if (found == map->end()) continue;
    found->second.is_shared = true;
    return;
  }
}

// Handles an access of the host to a public address. Reporting is not completely safe in a handler: it names
// functions, which allocates memory, so that a fault inside the C library's allocator may hang. The sentence
// is written before that.
void OnFault(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  if (info->si_code <= 0 || !IsInDeviceRange(info->si_addr)) {
    if (info->si_code <= 0 || !IsWorking(address) || !LetWork(address)) PassOn(signal, info, context);
    errno = saved;
    return;
  }
  Block block;
  const bool known = FindBlock(info->si_addr, &block);
  if (guards_host) {
    Finding finding;
    finding.part = kMemory;
    finding.kind = known && block.is_freed ? "host-access-after-free" : "host-access";
    finding.function = "the program";
    finding.subject = info->si_addr;
    CallStack here;
    TakeCallStack(&here);
    // Skips the frames of this handler and of the kernel.
    const int skipped = std::min<int>(2, here.frame_count);
    std::copy(here.frames + skipped, here.frames + here.frame_count, here.frames);
    here.frame_count = static_cast<uint8_t>(here.frame_count - skipped);
    finding.what = Text("the host ", AccessOf(context), " address ", info->si_addr, ", which is ");
    if (!known) {
      finding.what.Add("an address of a device where no memory is (any more).");
      finding.mend = Text("use addresses inside of what aclrtMalloc gave, and only by aclrtMemcpy.");
    } else {
      finding.what.Add("byte ")
          .Add(address - block.begin)
          .Add(" of ")
          .Add(block.size)
          .Add(" bytes of device memory from ");
      finding.what.Add(block.maker).Add(block.is_freed ? ", freed by " : ".");
      if (block.is_freed) finding.what.Add(block.freer).Add(".");
      finding.mend = Text(
          "copy it to host memory by aclrtMemcpy (ACL_MEMCPY_DEVICE_TO_HOST, or back by "
          "ACL_MEMCPY_HOST_TO_DEVICE); in PyTorch by tensor.cpu().");
    }
    finding.locations[0] = {Text("the access"), &here};
    if (known) finding.locations[1] = {Text("the memory was made by ", block.maker), &block.made};
    if (known && block.is_freed) finding.locations[2] = {Text("it was freed by ", block.freer), &block.freed};
    ReportFromSignal(finding);
  }
  // Lets the host continue: maps this block's bytes at the public address. This block is not reported again.
  const std::lock_guard lock(TheBlocks().sharing);
  uintptr_t begin = address & ~(kPage - 1);
  size_t length = kPage;
  if (known) {
    begin = block.begin;
    length = LengthOf(block.size);
    Block now;
    if (FindBlock(info->si_addr, &now) && now.begin == begin && now.is_shared) {  // another thread was faster
      errno = saved;
      return;
    }
  }
  host_got_access = true;
  // For mapped memory, mremap with an old size of 0 makes a second mapping of the same bytes.
  const bool done = known && block.is_mapped && !block.is_freed
                        ? mremap(WorkingAt(begin), 0, length, MREMAP_MAYMOVE | MREMAP_FIXED,
                                 reinterpret_cast<void*>(begin)) != MAP_FAILED
                        : ShareWithHost(begin, length);
  if (!done) _exit(kExitCode);
  if (known) SetShared(begin);
  errno = saved;
}

void Remember(Blocks& blocks, Block block) {
  const uintptr_t begin = block.begin;
  blocks.ended.insert_or_assign(begin, block);
  blocks.ended_order.push_back(begin);
  if (blocks.ended_order.size() > kMostEnded) {
    blocks.ended.erase(blocks.ended_order.front());
    blocks.ended_order.pop_front();
  }
}

void DropRetiredLocked(Blocks& blocks) noexcept {
  while (!blocks.retired.empty()) {
    const auto [begin, length, work] = blocks.retired.front();
    if (!blocks.under_way.empty() && *blocks.under_way.begin() < work) break;
    MarkUnwritten(reinterpret_cast<void*>(begin), length);
    const auto at = reinterpret_cast<uintptr_t>(WorkingAt(begin));
    // Memory that the host got access to after a finding is backed by a file.
    if (static_cast<ptrdiff_t>(at - begin) != device_range.distance) {
      try {
        blocks.working.Give(at, length, !host_got_access);
      } catch (...) {
        return;  // without memory, the next time
      }
      SetDistance(begin, length, 0);
    } else {
      MakeWorking(begin, length);
    }
    blocks.retired.pop_front();
    blocks.LetGoLocked(begin);
  }
}

}  // namespace

void StartDeviceMemory(bool guards) noexcept {
  const CancellationDeferred deferred;
  guards_host = guards;
  for (size_t length = kMostAddresses; length >= kFewestAddresses; length /= 2) {
    // Reserves the public addresses, followed by the working ones.
    void* const both =
        mmap(nullptr, 2 * length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (both == MAP_FAILED) continue;
    void* const bits = mmap(nullptr, length / kUnit / 8, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const auto begin = reinterpret_cast<uintptr_t>(both);
    device_range.distance = static_cast<ptrdiff_t>(length);
    const size_t table_length = length / kPage * sizeof(ptrdiff_t);
    void* const table = mmap(nullptr, table_length, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bits == MAP_FAILED || table == MAP_FAILED || !MakeWorking(begin, length)) {
      munmap(both, 2 * length);
      if (bits != MAP_FAILED) munmap(bits, length / kUnit / 8);
      if (table != MAP_FAILED) munmap(table, table_length);
      continue;
    }
    madvise(both, length, MADV_DONTDUMP);
    madvise(bits, length / kUnit / 8, MADV_DONTDUMP);
    madvise(table, table_length, MADV_DONTDUMP);
    shadow = static_cast<std::atomic<uint8_t>*>(bits);
    distances = static_cast<std::atomic<ptrdiff_t>*>(table);
    device_range = {begin, begin + length, distances, static_cast<ptrdiff_t>(length)};
    TheBlocks().next = begin;
    // If this fails, every block has its bytes at the common distance, and fresh pages each time.
    TheBlocks().working.Reserve(std::min(kWorkingAddresses, length));
    struct sigaction action = {};
    action.sa_sigaction = OnFault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &before);
    return;
  }
  constexpr std::string_view kSaid =
      "portacl check: there are no addresses for device memory that the host cannot use (ulimit -v?): host "
      "accesses and reads of "
      "what was never written are not found\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kSaid.data(), kSaid.size());
}

void* AllocateDevice(const char* api, size_t size) noexcept {
  static const auto machine_pages = static_cast<size_t>(sysconf(_SC_PHYS_PAGES));
  if (size / kPage > machine_pages) return nullptr;
  const size_t length = LengthOf(size);
  Blocks& blocks = TheBlocks();
  Block block;
  block.size = size;
  block.maker = api;
  TakeCallStack(&block.made);
  WorkingMemory::Range range;
  try {
    std::lock_guard lock(blocks.mutex);
    block.begin = blocks.TakeLocked(length, kPage);
    if (block.begin == 0) return nullptr;
    if (blocks.is_reused) HideFromHost(block.begin, length);
    blocks.live.emplace(block.begin, block);
    if (length <= WorkingMemory::kLongest) range = blocks.working.Take(length, IsOn(kInit));
    if (range.begin != 0) {
      SetDistance(block.begin, length, static_cast<ptrdiff_t>(range.begin - block.begin));
    } else if (!OpenWorking(AtOneDistance(block.begin), length)) {
      blocks.live.erase(block.begin);
      blocks.LetGoLocked(block.begin);
      return nullptr;
    }
  } catch (...) {
    return nullptr;
  }
  auto* const address = reinterpret_cast<void*>(block.begin);
  const size_t filled = std::min(length, kMostFilled);
  // Populates all pages at once: one by one, at the first access to each, they cost three times as much.
  if (!range.is_populated && filled >= kManyPages && IsOn(kInit))
    madvise(WorkingAt(block.begin), filled, MADV_POPULATE_WRITE);
  FillUnwritten(address, filled);
  return address;
}

void FreeDevice(const char* api, void* address) noexcept {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  Blocks& blocks = TheBlocks();
  CallStack here;
  TakeCallStack(&here);
  try {
    std::lock_guard lock(blocks.mutex);
    const auto found = blocks.live.find(begin);
    if (found == blocks.live.end()) return;
    Block block = found->second;
    const size_t length = LengthOf(block.size);
    if (host_got_access) HideFromHost(begin, length);
    blocks.retired.push_back({begin, length, blocks.next_work});
    block.is_freed = true;
    block.is_shared = false;
    block.freer = api;
    block.freed = here;
    blocks.live.erase(found);
    Remember(blocks, block);
    DropRetiredLocked(blocks);
  } catch (...) {
    // without memory the block stays as it was
  }
}

uint64_t BeginWork() noexcept {
  if (!GuardsDevice()) return 0;
  Blocks& blocks = TheBlocks();
  try {
    std::lock_guard lock(blocks.mutex);
    blocks.under_way.insert(blocks.next_work);
    return blocks.next_work++;
  } catch (...) {
    return 0;
  }
}

void EndWork(uint64_t work) noexcept {
  if (work == 0) return;
  Blocks& blocks = TheBlocks();
  std::lock_guard lock(blocks.mutex);
  blocks.under_way.erase(work);
  DropRetiredLocked(blocks);
}

bool FindBlock(const void* address, Block* block) noexcept {
  if (!IsInDeviceRange(address)) return false;
  const auto at = reinterpret_cast<uintptr_t>(address);
  Blocks& blocks = TheBlocks();
  std::lock_guard lock(blocks.mutex);
  const Block* found = HolderOf(blocks.live, at);
  if (found == nullptr) found = HolderOf(blocks.ended, at);
  if (found != nullptr) *block = *found;
  return found != nullptr;
}

void* ReserveDevice(size_t size, size_t alignment) noexcept {
  Blocks& blocks = TheBlocks();
  try {
    std::lock_guard lock(blocks.mutex);
    return reinterpret_cast<void*>(blocks.TakeLocked(LengthOf(size), alignment));
  } catch (...) {
    return nullptr;
  }
}

void ReleaseDevice(void* address) noexcept {
  Blocks& blocks = TheBlocks();
  std::lock_guard lock(blocks.mutex);
  blocks.LetGoLocked(reinterpret_cast<uintptr_t>(address));
}

bool MapDevice(const char* api, void* address, size_t size, int from, bool host_may_use) noexcept {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  Blocks& blocks = TheBlocks();
  Block block;
  block.begin = begin;
  block.size = size;
  block.maker = api;
  block.is_mapped = true;
  TakeCallStack(&block.made);
  try {
    std::lock_guard lock(blocks.mutex);
    if (mmap(WorkingAt(begin), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, from, 0) == MAP_FAILED)
      return false;
    if (host_may_use &&
        mmap(address, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, from, 0) == MAP_FAILED) {
      return false;
    }
    if (host_may_use) host_got_access = true;
    blocks.ForgetEndedLocked(begin, size);
    blocks.live.insert_or_assign(begin, block);
  } catch (...) {
    return false;
  }
  // The same physical memory may have been written through other addresses.
  MarkWritten(address, size);
  return true;
}

bool UnmapDevice(const char* api, void* address, size_t size) noexcept {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  Blocks& blocks = TheBlocks();
  CallStack here;
  TakeCallStack(&here);
  try {
    std::lock_guard lock(blocks.mutex);
    const auto found = blocks.live.find(begin);
    if (found == blocks.live.end()) return false;
    HideFromHost(begin, size);
    if (!MakeWorking(begin, size)) return false;
    Block block = found->second;
    block.is_freed = true;
    block.is_shared = false;
    block.freer = api;
    block.freed = here;
    blocks.live.erase(found);
    Remember(blocks, block);
  } catch (...) {
    return false;
  }
  MarkUnwritten(address, size);
  return true;
}

}  // namespace portacl::sanitizer
