// Files that the library keeps open, or writes to, in a process whose descriptors are the program's: it may close any of
// them at any time, and limit what files may hold.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <errno.h>
#include <sys/types.h>

#include <atomic>

namespace portacl {

// A descriptor and the file that it meant when it was kept. A program that becomes a daemon closes all descriptors; their
// numbers then go to files of its own, which nobody else may touch. An object is used by one thread at a time, but looking
// at one that another thread changes does no harm.
class Descriptor {
 public:
  // Keeps a file that was opened for the library (it owns it then) under a number that is none of the standard streams':
  // the program may have closed those, to open others in their place. False when there is no such number; the file is
  // closed then.
  bool Own(int opened) noexcept;
  // Keeps what the number means now; nothing when that is no open file. It stays the program's.
  void Borrow(int number) noexcept;

  // The number, -1 when there is none or it means something else by now.
  int Get() const noexcept;

  // Closes what it owns, if the number means that still, and forgets it.
  void Forget() noexcept;

 private:
  std::atomic<int> number_{-1};
  std::atomic<dev_t> device_{0};
  std::atomic<ino_t> inode_{0};
  std::atomic<bool> is_own_{false};
};

// Holds back, in the calling thread, the signals by which writing can end a process: SIGXFSZ, where a file would become
// larger than RLIMIT_FSIZE allows, and SIGPIPE, where nobody reads any more. The program's handlers are not called and its
// mask is as before afterwards.
class WriteSignals {
 public:
  WriteSignals() noexcept;
  ~WriteSignals();
  WriteSignals(const WriteSignals&) = delete;
  WriteSignals& operator=(const WriteSignals&) = delete;

 private:
  // One word each: what the C library calls sigset_t is long, and no part of what others include.
  bool file_size_is_new_ = false;
  bool pipe_is_new_ = false;
  bool file_size_was_free_ = false;
  bool pipe_was_free_ = false;
};

}  // namespace portacl
