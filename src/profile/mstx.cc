// Marks and ranges of a program (mstx/ms_tools_ext.h).
// SPDX-License-Identifier: Apache-2.0
#include "mstx/ms_tools_ext.h"

#include <mutex>
#include <new>
#include <string>
#include <unordered_map>

#include "base/process/fork.h"
#include "base/process/no_destructor.h"
#include "profile/recorder.h"

using namespace portacl;

namespace portacl {
namespace {

struct OpenRange {
  const std::string* name;
  uint64_t begin;
  uint32_t thread;
};

struct Ranges {
  std::mutex mutex;
  std::unordered_map<mstxRangeId, OpenRange> open;
  mstxRangeId last = 0;
};

void AfterFork();

Ranges& TheRanges() noexcept {
  static NoDestructor<Ranges> ranges;
  static const bool noticed = CallInForkedChild(AfterFork);
  (void)noticed;
  return *ranges;
}

void AfterFork() { new (&TheRanges()) Ranges; }

// A domain's handle is its name.
const std::string* NameIn(mstxDomainHandle_t domain, const char* message) noexcept {
  if (message == nullptr) return nullptr;
  if (domain == nullptr) return profile::Interned(message);
  try {
    return profile::Interned(*reinterpret_cast<const std::string*>(domain) + ": " + message);
  } catch (...) {
    return nullptr;
  }
}

void MarkIn(mstxDomainHandle_t domain, const char* message) noexcept {
  if (!profile::IsOn()) return;
  if (const std::string* const name = NameIn(domain, message)) profile::Mark(*name);
}

mstxRangeId Begin(mstxDomainHandle_t domain, const char* message) noexcept {
  if (!profile::IsOn()) return 0;
  const std::string* const name = NameIn(domain, message);
  if (name == nullptr) return 0;
  Ranges& ranges = TheRanges();
  try {
    std::lock_guard lock(ranges.mutex);
    ranges.open[ranges.last + 1] = {name, profile::Now(), profile::ThreadNumber()};
    return ++ranges.last;
  } catch (...) {
    return 0;
  }
}

void End(mstxRangeId id) noexcept {
  if (id == 0) return;
  Ranges& ranges = TheRanges();
  OpenRange range;
  {
    std::lock_guard lock(ranges.mutex);
    const auto found = ranges.open.find(id);
    if (found == ranges.open.end()) return;
    range = found->second;
    ranges.open.erase(found);
  }
  if (profile::IsOn()) profile::Range(*range.name, range.begin, range.thread);
}

}  // namespace
}  // namespace portacl

void mstxMarkA(const char* message, aclrtStream) { MarkIn(nullptr, message); }
mstxRangeId mstxRangeStartA(const char* message, aclrtStream) { return Begin(nullptr, message); }
void mstxRangeEnd(mstxRangeId id) { End(id); }

mstxDomainHandle_t mstxDomainCreateA(const char* name) {
  if (name == nullptr) return nullptr;
  return reinterpret_cast<mstxDomainHandle_t>(const_cast<std::string*>(profile::Interned(name)));
}
void mstxDomainDestroy(mstxDomainHandle_t) {}
void mstxDomainMarkA(mstxDomainHandle_t domain, const char* message, aclrtStream) { MarkIn(domain, message); }
mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t domain, const char* message, aclrtStream) {
  return Begin(domain, message);
}
void mstxDomainRangeEnd(mstxDomainHandle_t, mstxRangeId id) { End(id); }

mstxMemHeapHandle_t mstxMemHeapRegister(mstxDomainHandle_t, const mstxMemHeapDesc_t*) { return nullptr; }
void mstxMemHeapUnregister(mstxDomainHandle_t, mstxMemHeapHandle_t) {}
void mstxMemRegionsRegister(mstxDomainHandle_t, const mstxMemRegionsRegisterBatch_t*) {}
void mstxMemRegionsUnregister(mstxDomainHandle_t, const mstxMemRegionsUnregisterBatch_t*) {}
