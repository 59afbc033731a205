// Files that the library keeps open or writes to, in a process whose descriptors belong to the program. The
// program may close any of them at any time, and limit the size of files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <errno.h>
#include <sys/types.h>

#include <atomic>

namespace portacl {

// A descriptor, and the file that it referred to when it was stored. A program that becomes a daemon closes
// all descriptors. Their numbers then refer to files of its own, which nobody else may touch. Only one thread
// at a time may use an object, but looking at one that another thread changes does no harm.
class Descriptor {
 public:
  // Stores a file that was opened for the library, which then owns it. It gets a number other than those of
  // the standard streams, since a program may have closed these to open others in their place. Returns false,
  // with the file closed, if there is no such number.
  bool Custom(int opened) noexcept;
  // Stores the file to which the number refers now, or nothing if it is not open. The program keeps owning
  // it.
  void Borrow(int number) noexcept;

  // Returns the number, or -1 if there is none or it refers to another file by now.
  int Get() const noexcept;

  // Closes the file if it is owned and the number still refers to it, and forgets it.
  void Forget() noexcept;

 private:
  std::atomic<int> number_{-1};
  std::atomic<dev_t> device_{0};
  std::atomic<ino_t> inode_{0};
  std::atomic<bool> is_own_{false};
};

// Blocks the signals by which a write can end a process, in the calling thread: SIGXFSZ, if a file would
// exceed RLIMIT_FSIZE, and SIGPIPE, if nobody reads. The program's handlers are not called, and its mask is
// restored afterwards.
class WriteSignals {
 public:
  WriteSignals() noexcept;
  ~WriteSignals();
  WriteSignals(const WriteSignals&) = delete;
  WriteSignals& operator=(const WriteSignals&) = delete;

 private:
  // Flags rather than the C library's sigset_t, which is large and which this header should not include.
  bool file_size_is_new_ = false;
  bool pipe_is_new_ = false;
  bool file_size_was_free_ = false;
  bool pipe_was_free_ = false;
};

}  // namespace portacl
