// Descriptors that are verified before use, and signals that are held back (see descriptor.h).
// SPDX-License-Identifier: Apache-2.0
#include "base/process/descriptor.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/process/cancellation.h"

namespace portacl {

bool Descriptor::Custom(int opened) noexcept {
  const CancellationDeferred deferred;
  if (opened >= 0 && opened <= STDERR_FILENO) {
    const int moved = fcntl(opened, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(opened);
    opened = moved;
  }
  Borrow(opened);
  is_own_.store(true, std::memory_order_relaxed);
  return opened >= 0;
}

void Descriptor::Borrow(int number) noexcept {
  struct stat found {};
  if (number >= 0 && fstat(number, &found) != 0) number = -1;
  device_.store(found.st_dev, std::memory_order_relaxed);
  inode_.store(found.st_ino, std::memory_order_relaxed);
  is_own_.store(false, std::memory_order_relaxed);
  number_.store(number, std::memory_order_relaxed);
}

int Descriptor::Get() const noexcept {
  const int number = number_.load(std::memory_order_relaxed);
  struct stat found {};
  if (number < 0 || fstat(number, &found) != 0) return -1;
  const bool same = found.st_dev == device_.load(std::memory_order_relaxed) &&
                    found.st_ino == inode_.load(std::memory_order_relaxed);
  return same ? number : -1;
}

void Descriptor::Forget() noexcept {
  const CancellationDeferred deferred;
  const int number = Get();
  if (number >= 0 && is_own_.load(std::memory_order_relaxed)) close(number);
  number_.store(-1, std::memory_order_relaxed);
}

WriteSignals::WriteSignals() noexcept {
  sigset_t pending;
  sigset_t ours;
  sigset_t before;
  sigpending(&pending);
  sigemptyset(&ours);
  sigaddset(&ours, SIGXFSZ);
  sigaddset(&ours, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &ours, &before);
  file_size_is_new_ = sigismember(&pending, SIGXFSZ) == 0;
  pipe_is_new_ = sigismember(&pending, SIGPIPE) == 0;
  file_size_was_free_ = sigismember(&before, SIGXFSZ) == 0;
  pipe_was_free_ = sigismember(&before, SIGPIPE) == 0;
}

WriteSignals::~WriteSignals() {
  const CancellationDeferred deferred;
  const int error = errno;
  sigset_t taken;
  sigemptyset(&taken);
  // Signals that were pending before belong to the program.
  if (file_size_is_new_) sigaddset(&taken, SIGXFSZ);
  if (pipe_is_new_) sigaddset(&taken, SIGPIPE);
  const timespec at_once{};
  while (sigtimedwait(&taken, nullptr, &at_once) > 0 || errno == EINTR) {
  }
  sigset_t freed;
  sigemptyset(&freed);
  if (file_size_was_free_) sigaddset(&freed, SIGXFSZ);
  if (pipe_was_free_) sigaddset(&freed, SIGPIPE);
  pthread_sigmask(SIG_UNBLOCK, &freed, nullptr);
  errno = error;
}

}  // namespace portacl
