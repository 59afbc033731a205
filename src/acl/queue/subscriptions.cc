// The registry of subscriptions (see subscriptions.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/queue/subscriptions.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>

#include "base/process/fork.h"
#include "base/process/no_destructor.h"

namespace portacl {
namespace {

// In a forked child the subscribed threads do not exist, except possibly the forking one. Posted callbacks
// belong to the parent.
void AfterFork() {
  for (auto& [thread, subscriber] : TheReports().by_thread) {
    new (&subscriber.posted) std::condition_variable;
    subscriber.due = LinkedList<DueCallback>();
    subscriber.inside = 0;
  }
}

}  // namespace

Reports& TheReports() {
  static NoDestructor<Reports> reports;
  static const bool guarded =
      GuardAcrossFork(reports->mutex, ForkRank::kReports) && CallInForkedChild(AfterFork);
  (void)guarded;
  return *reports;
}

Subscriber* Reports::OfStream(const Stream* stream) noexcept {
  const auto thread = by_stream.find(stream);
  return thread == by_stream.end() ? nullptr : OfThread(thread->second);
}

Subscriber* Reports::OfThread(uint64_t thread) noexcept {
  const auto found = by_thread.find(thread);
  return found == by_thread.end() ? nullptr : &found->second;
}

Subscriber* Reports::OfCallingThread(uint64_t* thread) noexcept {
  *thread = static_cast<uint64_t>(pthread_self());
  if (Subscriber* subscriber = OfThread(*thread)) return subscriber;
  *thread = static_cast<uint64_t>(syscall(SYS_gettid));
  return OfThread(*thread);
}

void Reports::EraseIfUnused(uint64_t thread) noexcept {
  const auto found = by_thread.find(thread);
  if (found == by_thread.end()) return;
  const Subscriber& subscriber = found->second;
  if (subscriber.streams == 0 && subscriber.inside == 0 && subscriber.due.empty()) {
    by_thread.erase(found);
  }
}

void Reports::End(const Stream* stream) noexcept {
  const auto found = by_stream.find(stream);
  const uint64_t thread = found->second;
  Subscriber* subscriber = OfThread(thread);
  by_stream.erase(found);
  --subscriber->streams;
  subscriber->posted.notify_all();
  EraseIfUnused(thread);
}

bool IsSubscribed() noexcept {
  Reports& reports = TheReports();
  std::lock_guard lock(reports.mutex);
  uint64_t thread = 0;
  return reports.OfCallingThread(&thread) != nullptr;
}

void ForgetSubscription(Stream* stream) noexcept {
  Reports& reports = TheReports();
  std::lock_guard lock(reports.mutex);
  if (reports.by_stream.count(stream) != 0) reports.End(stream);
}

}  // namespace portacl
