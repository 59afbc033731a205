// The list of data that threads keep, and its release (see thread_end.h).
//
// A thread's data is freed by a destructor of pthread_key_create, since these run after the destructors of
// thread_local objects. Other such destructors may call the library afterwards; data created then is freed in
// the next round of destructors. After the last round no destructor is called any more, and a program may
// have used up all keys. Therefore all data is also in a list, with its thread. When the list has grown, data
// of threads that no longer exist is freed. So there is never more of it than living threads keep, plus a
// few.
// SPDX-License-Identifier: Apache-2.0
#include "base/process/thread_end.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/process/fork.h"
#include "base/process/no_destructor.h"

namespace portacl {
namespace {

// The list may have this many entries before their threads are checked.
constexpr size_t kFew = 4;

thread_local Kept* first_of_thread = nullptr;

pid_t ThisThread() noexcept { return static_cast<pid_t>(syscall(SYS_gettid)); }

bool IsGone(pid_t thread) noexcept {
  // If tgkill is not permitted, all threads count as alive.
  return thread == 0 || (syscall(SYS_tgkill, getpid(), thread, 0) != 0 && errno == ESRCH);
}

}  // namespace

class KeptList {
 public:
  void Add(Kept* kept, Kept*& slot) noexcept {
    kept->slot_ = &slot;
    kept->thread_ = ThisThread();
    kept->next_of_thread_ = std::exchange(first_of_thread, kept);
    slot = kept;
    Kept* gone = nullptr;
    {
      std::lock_guard lock(mutex_);
      if (count_ >= most_) gone = TakeGoneLocked(kept->thread_);
      LinkLocked(kept);
    }
    DeleteAll(gone);
  }

  // Frees the calling thread's data.
  void DeleteOfThread() noexcept {
    while (Kept* const kept = first_of_thread) {
      first_of_thread = kept->next_of_thread_;
      *kept->slot_ = nullptr;
      {
        std::lock_guard lock(mutex_);
        UnlinkLocked(kept);
      }
      delete kept;
    }
  }

  size_t Count() noexcept {
    std::lock_guard lock(mutex_);
    return count_;
  }

  // In a forked child the other threads do not exist, and this one has another number.
  void AfterFork() noexcept {
    const pid_t thread = ThisThread();
    for (Kept* kept = first_; kept != nullptr; kept = kept->next_) kept->thread_ = IsMine(kept) ? thread : 0;
  }

  std::mutex& mutex() noexcept { return mutex_; }

 private:
  static bool IsMine(const Kept* kept) noexcept {
    const Kept* one = first_of_thread;
    while (one != nullptr && one != kept) one = one->next_of_thread_;
    return one != nullptr;
  }

  // Removes data of threads that no longer exist. The calling thread may have reused the number of one.
  Kept* TakeGoneLocked(pid_t this_thread) noexcept {
    Kept* gone = nullptr;
    for (Kept* kept = first_; kept != nullptr;) {
      Kept* const next = kept->next_;
      if (!IsMine(kept) && (kept->thread_ == this_thread || IsGone(kept->thread_))) {
        UnlinkLocked(kept);
        kept->next_ = std::exchange(gone, kept);
      }
      kept = next;
    }
    most_ = std::max(kFew, 2 * count_);
    return gone;
  }

  void LinkLocked(Kept* kept) noexcept {
    kept->next_ = first_;
    kept->link_ = &first_;
    if (first_ != nullptr) first_->link_ = &kept->next_;
    first_ = kept;
    ++count_;
  }
  void UnlinkLocked(Kept* kept) noexcept {
    *kept->link_ = kept->next_;
    if (kept->next_ != nullptr) kept->next_->link_ = kept->link_;
    --count_;
  }

  static void DeleteAll(Kept* first) noexcept {
    while (first != nullptr) delete std::exchange(first, first->next_);
  }

  std::mutex mutex_;
  Kept* first_ = nullptr;
  size_t count_ = 0;
  size_t most_ = kFew;
};

namespace {

KeptList& TheList() {
  static NoDestructor<KeptList> list;
  static const bool guarded = GuardAcrossFork(list->mutex(), ForkRank::kThreadEnd) &&
                              CallInForkedChild([] { TheList().AfterFork(); });
  (void)guarded;
  return *list;
}

// Tells whether this copy of the library was loaded by dlmopen, into a namespace with its own C library. That
// library numbers its keys separately but shares the storage of values, so that one library's values would be
// taken for the other's.
bool HasOwnNamespace() noexcept {
#if defined(LM_ID_BASE)
  static const char here = 0;
  Dl_info info;
  void* loaded = nullptr;
  Lmid_t name_space = LM_ID_BASE;
  return dladdr1(&here, &info, &loaded, RTLD_DL_LINKMAP) != 0 &&
         dlinfo(loaded, RTLD_DI_LMID, &name_space) == 0 && name_space != LM_ID_BASE;
#else
  return false;
#endif
}

// The key whose destructor runs at the end of a thread that has a value for it. There is none if the program
// uses all keys.
struct Key {
  pthread_key_t key = 0;
  const bool is_there =
      !HasOwnNamespace() && pthread_key_create(&key, [](void*) { TheList().DeleteOfThread(); }) == 0;
};

}  // namespace

void KeepUntilThreadEnds(Kept* kept, Kept*& slot) noexcept {
  static const Key end;
  TheList().Add(kept, slot);
  if (end.is_there)
    pthread_setspecific(end.key, &slot);  // any value serves; if memory is exhausted, the list takes over
}

size_t CountKept() noexcept { return TheList().Count(); }

}  // namespace portacl
