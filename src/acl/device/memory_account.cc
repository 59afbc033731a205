// Accounts a device's memory over the processes that share it (see memory_account.h). Each device has a table
// in shared memory, in which every process has a row. Without shared memory a process only knows about
// itself.
// SPDX-License-Identifier: Apache-2.0
#include "acl/device/memory_account.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string_view>

#include "acl/settings/configuration.h"
#include "base/process/cancellation.h"
#include "base/process/fork.h"
#include "base/process/no_destructor.h"
#include "profile/recorder.h"

namespace portacl {
namespace {

constexpr size_t kRows = 1024;

// A process is identified by its number and its start time, because numbers are reused.
struct Row {
  std::atomic<uint64_t> process;  // 0: the row is free
  std::atomic<uint64_t> bytes;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);
struct Table {
  Row rows[kRows];
};

// Returns the low 32 bits of a process's start time in ticks since boot, plus 1. Returns 0 if there is no
// such process, or only a zombie.
uint32_t StartOf(pid_t pid) noexcept {
  const CancellationDeferred deferred;
  char text[64];
  std::snprintf(text, sizeof text, "/proc/%d/stat", static_cast<int>(pid));
  const int file = open(text, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char stat[1024];
  const ssize_t length = read(file, stat, sizeof stat);
  close(file);
  std::string_view fields(stat, length > 0 ? static_cast<size_t>(length) : 0);
  // The name in parentheses may contain anything. The state follows it; the number of threads is the 18th
  // field, the start the 20th.
  const size_t name = fields.rfind(')');
  if (name == std::string_view::npos) return 0;
  fields.remove_prefix(name + 1);
  bool has_ended = false;
  for (int field = 1; field <= 20; ++field) {
    const size_t space = fields.find(' ');
    if (space == std::string_view::npos) return 0;
    fields.remove_prefix(space + 1);
    if (field == 1) has_ended = fields.starts_with('Z');
    if (field == 18) has_ended = has_ended && (fields.starts_with("1 ") || fields.starts_with("0 "));
  }
  if (has_ended) return 0;
  uint64_t start = 0;
  std::from_chars(fields.data(), fields.data() + fields.size(), start);
  return static_cast<uint32_t>(start) + 1;
}

uint64_t ThisProcess() noexcept {
  const pid_t pid = getpid();
  return uint64_t{static_cast<uint32_t>(pid)} << 32 | StartOf(pid);
}

bool IsAlive(uint64_t process) noexcept {
  const uint32_t start = StartOf(static_cast<pid_t>(process >> 32));
  return start != 0 && start == static_cast<uint32_t>(process);
}

// The name contains the namespace, since process numbers are only unique within one.
constexpr size_t kLongestName = 96;
void NameOfTable(int device, char (&path)[kLongestName]) noexcept {
  struct stat space = {};
  if (stat("/proc/self/ns/pid", &space) != 0) space.st_ino = 0;
  std::snprintf(path, sizeof path, "/dev/shm/portacl.%u.%llu.device%d", static_cast<unsigned>(geteuid()),
                static_cast<unsigned long long>(space.st_ino), device);
}

// An open file of the table, locked until the end of the scope.
class LockedFile {
 public:
  // Opens and locks the file that has this name; `creates` makes it if it does not exist.
  LockedFile(const char* path, bool creates) noexcept {
    const CancellationDeferred deferred;
    for (int tries = 0; tries < 100; ++tries) {
      file_ = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (creates ? O_CREAT : 0), S_IRUSR | S_IWUSR);
      if (file_ < 0) return;
      struct stat opened = {};
      struct stat named = {};
      if (flock(file_, LOCK_EX) == 0 && fstat(file_, &opened) == 0 && S_ISREG(opened.st_mode) &&
          opened.st_uid == geteuid() && stat(path, &named) == 0 && named.st_ino == opened.st_ino) {
        return;
      }
      close(file_);  // the last process has removed it meanwhile
      file_ = -1;
    }
  }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;
  ~LockedFile() {
    const CancellationDeferred deferred;
    if (file_ < 0) return;
    flock(file_, LOCK_UN);  // a mapping of the file would keep it locked
    close(file_);
  }
  int descriptor() const noexcept { return file_; }

 private:
  int file_ = -1;
};

// This process's memory of a device, and its row in the device's table.
struct Account {
  size_t own = 0;
  bool is_asked = false;  // a row was requested; without one this process only accounts for itself
  Table* table = nullptr;
  Row* row = nullptr;

  void Publish() noexcept {
    if (row != nullptr) row->bytes = own;
  }

  size_t Held() const noexcept {
    if (row == nullptr) return own;
    size_t held = 0;
    for (const Row& one : table->rows) {
      const uint64_t process = one.process;
      if (process != 0 && (&one == row || (one.bytes > 0 && IsAlive(process)))) held += one.bytes;
    }
    return held;
  }
};

struct Accounts {
  std::mutex mutex;
  Account of_device[kMostDevices];  // by device numbers before ASCEND_RT_VISIBLE_DEVICES
};

// A forked child holds nothing yet, and has no row.
void ForgetInChild() noexcept;

Accounts& TheAccounts() {
  static NoDestructor<Accounts> accounts;
  static const bool guarded =
      GuardAcrossFork(accounts->mutex, ForkRank::kDeviceMemory) && CallInForkedChild(ForgetInChild);
  (void)guarded;
  return *accounts;
}

void ForgetInChild() noexcept {
  for (Account& account : TheAccounts().of_device) account = Account();
}

// Returns the device's number in the machine; 0 for one that the program no longer has.
int NumberOf(int32_t device) noexcept {
  const auto& visible = CurrentConfiguration().visible_devices;
  return device >= 0 && static_cast<size_t>(device) < visible.size() ? visible[static_cast<size_t>(device)]
                                                                     : 0;
}

Account& AccountOfLocked(Accounts& accounts, int number) noexcept {
  Account& account = accounts.of_device[number];
  if (account.is_asked) return account;
  account.is_asked = true;
  char path[kLongestName];
  NameOfTable(number, path);
  const LockedFile file(path, true);
  // Allocates the memory now: if it were missing, the first access would end the process.
  if (file.descriptor() < 0 || posix_fallocate(file.descriptor(), 0, sizeof(Table)) != 0) return account;
  void* const mapped = mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), 0);
  if (mapped == MAP_FAILED) return account;
  account.table = static_cast<Table*>(mapped);
  const uint64_t self = ThisProcess();  // its existing row belongs to the program before exec
  for (Row& row : account.table->rows) {
    const uint64_t process = row.process;
    if (process != 0 && process != self && IsAlive(process)) continue;
    row.bytes = 0;
    row.process = self;
    account.row = &row;
    break;
  }
  return account;
}

// Frees the rows of this process. The last process removes a table.
void Leave(Accounts& accounts) noexcept {
  std::lock_guard lock(accounts.mutex);
  for (int number = 0; number < kMostDevices; ++number) {
    Account& account = accounts.of_device[number];
    if (account.row == nullptr) continue;
    char path[kLongestName];
    NameOfTable(number, path);
    const LockedFile file(path, false);
    account.row->process = 0;
    account.row = nullptr;
    bool is_last = file.descriptor() >= 0;
    for (const Row& row : account.table->rows) {
      const uint64_t process = row.process;
      is_last = is_last && (process == 0 || !IsAlive(process));
    }
    if (is_last) unlink(path);
  }
}

// Runs when the process ends normally, or the library is unloaded.
__attribute__((destructor)) void AtExit() { Leave(TheAccounts()); }

}  // namespace

DeviceMemory ReadDeviceMemory(int32_t device) noexcept {
  const size_t total = CurrentConfiguration().device_memory;
  const int number = NumberOf(device);
  Accounts& accounts = TheAccounts();
  std::lock_guard lock(accounts.mutex);
  const size_t held = AccountOfLocked(accounts, number).Held();
  return {total, held < total ? total - held : 0};
}

bool TakeDeviceMemory(int32_t device, size_t bytes) noexcept {
  const Configuration& configuration = CurrentConfiguration();
  const int number = NumberOf(device);
  Accounts& accounts = TheAccounts();
  std::lock_guard lock(accounts.mutex);
  Account& account = AccountOfLocked(accounts, number);
  if (bytes > SIZE_MAX - account.own) return false;
  account.own += bytes;
  account.Publish();  // publishes before comparing, so that two processes cannot both succeed
  if (configuration.limits_device_memory && account.Held() > configuration.device_memory) {
    account.own -= bytes;
    account.Publish();
    return false;
  }
  if (profile::IsOn())
    profile::Memory(device, static_cast<int64_t>(bytes), static_cast<int64_t>(account.own));
  return true;
}

void ReturnDeviceMemory(int32_t device, size_t bytes) noexcept {
  const int number = NumberOf(device);
  Accounts& accounts = TheAccounts();
  std::lock_guard lock(accounts.mutex);
  Account& account = accounts.of_device[number];
  account.own -= bytes < account.own ? bytes : account.own;
  account.Publish();
  if (profile::IsOn())
    profile::Memory(device, -static_cast<int64_t>(bytes), static_cast<int64_t>(account.own));
}

void RecordDeviceMemory(int32_t device) noexcept {
  const int number = NumberOf(device);  // may load the configuration, under a lock that comes first
  Accounts& accounts = TheAccounts();
  std::lock_guard lock(accounts.mutex);
  const Account& account = accounts.of_device[number];
  if (account.own > 0) profile::Memory(device, 0, static_cast<int64_t>(account.own));
}

}  // namespace portacl
