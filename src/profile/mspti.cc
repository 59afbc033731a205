// Activity records for profilers inside a program (mspti/mspti.h).
// SPDX-License-Identifier: Apache-2.0
#include "mspti/mspti.h"

#include <cstring>
#include <mutex>
#include <new>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "base/process/fork.h"
#include "base/process/no_destructor.h"
#include "profile/recorder.h"

using namespace portacl;

struct msptiSubscriber_st {
  int unused;
};

namespace portacl {
namespace {

static_assert(sizeof(msptiActivityKernel) == 52 && sizeof(msptiActivityExternalCorrelation) == 24 &&
              sizeof(msptiActivityCommunication) == 72);
constexpr size_t kRecordAlignment = 8;
constexpr size_t kLongestRecord = sizeof(msptiActivityCommunication);
constexpr uint32_t kKinds = 1u << MSPTI_ACTIVITY_KIND_KERNEL |
                            1u << MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION |
                            1u << MSPTI_ACTIVITY_KIND_COMMUNICATION;

struct Activities {
  std::mutex mutex;
  std::mutex flush_mutex;  // around the program's callbacks; locked before the other one
  msptiSubscriber_st subscriber = {};
  bool is_subscribed = false;
  uint32_t kinds = 0;  // enabled kinds, as bits
  msptiBuffersCallbackRequestFunc request = nullptr;
  msptiBuffersCallbackCompleteFunc complete = nullptr;
};

void AfterFork();

Activities& TheActivities() noexcept {
  static NoDestructor<Activities> activities;
  static const bool noticed = CallInForkedChild(AfterFork);
  (void)noticed;
  return *activities;
}

// Forgets the profile in a forked child; it belongs to the parent.
void AfterFork() { new (&TheActivities()) Activities; }

size_t SizeOf(msptiActivityKind kind) noexcept {
  const size_t size = kind == MSPTI_ACTIVITY_KIND_KERNEL ? sizeof(msptiActivityKernel)
                      : kind == MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION
                          ? sizeof(msptiActivityExternalCorrelation)
                      : kind == MSPTI_ACTIVITY_KIND_COMMUNICATION ? sizeof(msptiActivityCommunication)
                                                                  : 0;
  return (size + kRecordAlignment - 1) / kRecordAlignment * kRecordAlignment;
}

bool IsRecorded(int kind) noexcept { return kind >= 0 && kind < 32 && (kKinds >> kind & 1) != 0; }

msptiResult FailKind(const char* api, int kind) noexcept {
  Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclValue,
       Text(api, ": parameter kind has the value ", kind,
            ", accepted: 2 (KERNEL), 8 (EXTERNAL_CORRELATION) and 9 (COMMUNICATION)."));
  return MSPTI_ERROR_INVALID_PARAMETER;
}

msptiResult FailNull(const char* api, const char* parameter, const char* expected) noexcept {
  FailNullPointer(api, parameter, expected);
  return MSPTI_ERROR_INVALID_PARAMETER;
}

// Fills buffers that the program supplies.
class Buffers {
 public:
  Buffers(msptiBuffersCallbackRequestFunc request, msptiBuffersCallbackCompleteFunc complete) noexcept
      : request_(request), complete_(complete) {}
  ~Buffers() { GiveBack(); }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  template <class Record>
  void Put(const Record& record) {
    const size_t size = SizeOf(record.kind);
    if (buffer_ != nullptr && (size_ - used_ < size || (most_ != 0 && count_ >= most_))) GiveBack();
    if (buffer_ == nullptr && !Take()) return;
    std::memset(buffer_ + used_, 0, size);
    std::memcpy(buffer_ + used_, &record, sizeof record);
    used_ += size;
    ++count_;
  }
  bool has_failed() const noexcept { return has_failed_; }

 private:
  bool Take() {
    if (has_failed_) return false;
    most_ = 0;
    request_(&buffer_, &size_, &most_);
    has_failed_ = buffer_ == nullptr || size_ < kLongestRecord;
    if (has_failed_) GiveBack();
    return !has_failed_;
  }
  void GiveBack() {
    if (buffer_ != nullptr) complete_(buffer_, size_, used_);
    buffer_ = nullptr;
    used_ = count_ = 0;
  }

  msptiBuffersCallbackRequestFunc request_;
  msptiBuffersCallbackCompleteFunc complete_;
  uint8_t* buffer_ = nullptr;
  size_t size_ = 0;
  size_t used_ = 0;
  size_t most_ = 0;
  size_t count_ = 0;
  bool has_failed_ = false;
};

// Returns the value of a member of the event's arguments, which are texts without escapes, or an empty text.
std::string_view ArgumentOf(const profile::Event& event, std::string_view name) noexcept {
  if (event.arguments == nullptr) return {};
  const std::string_view arguments = *event.arguments;
  const size_t at = arguments.find(name);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = arguments.substr(at + name.size());
  return rest.substr(0, rest.find_first_of(",\""));
}

uint64_t NumberOf(std::string_view digits) noexcept {
  uint64_t number = 0;
  for (const char c : digits) number = number * 10 + static_cast<uint64_t>(c - '0');
  return number;
}

void PutTask(const profile::Event& event, int64_t since_epoch, uint32_t kinds, Buffers& buffers) {
  const auto has = [kinds](msptiActivityKind kind) { return (kinds >> kind & 1) != 0; };
  const auto time = [since_epoch](uint64_t at) { return at + static_cast<uint64_t>(since_epoch); };
  const msptiDeviceStream device_stream = {static_cast<uint32_t>(event.device),
                                           static_cast<uint32_t>(event.stream)};
  if (event.external_kind != 0 && has(MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)) {
    buffers.Put(msptiActivityExternalCorrelation{
        MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
        static_cast<msptiExternalCorrelationKind>(event.external_kind), event.external, event.correlation});
  }
  if (!std::string_view(event.name).starts_with("Hccl")) {
    if (!has(MSPTI_ACTIVITY_KIND_KERNEL)) return;
    const bool is_operator = std::string_view(event.name).starts_with("aclnn");
    buffers.Put(msptiActivityKernel{MSPTI_ACTIVITY_KIND_KERNEL, time(event.begin), time(event.end),
                                    device_stream, event.correlation, is_operator ? "AI_CORE" : "OTHER",
                                    event.name});
    return;
  }
  if (!has(MSPTI_ACTIVITY_KIND_COMMUNICATION)) return;
  const std::string* const group = profile::Interned(ArgumentOf(event, "\"Group\":\""));
  buffers.Put(msptiActivityCommunication{MSPTI_ACTIVITY_KIND_COMMUNICATION, 255,
                                         NumberOf(ArgumentOf(event, "\"Count\":")), device_stream,
                                         time(event.begin), time(event.end), "", event.name,
                                         group == nullptr ? "" : group->c_str(), event.correlation});
}

}  // namespace
}  // namespace portacl

msptiResult msptiSubscribe(msptiSubscriberHandle* subscriber, msptiCallbackFunc callback, void*) {
  const char* const api = "msptiSubscribe";
  if (subscriber == nullptr) return FailNull(api, "subscriber", "the address of a result");
  if (callback != nullptr) {
    FailUnsupported(api, "calls are told of by records alone; accepted: a null callback");
    return MSPTI_ERROR_INVALID_PARAMETER;
  }
  Activities& activities = TheActivities();
  std::lock_guard lock(activities.mutex);
  if (activities.is_subscribed) {
    Fail(ACL_ERROR_PROF_REPEAT_SUBSCRIBE, MessageClass::kAclInner,
         Text(api, ": there is a subscriber already, expected: msptiUnsubscribe first."));
    return MSPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  }
  activities.is_subscribed = true;
  *subscriber = &activities.subscriber;
  return MSPTI_SUCCESS;
}

msptiResult msptiUnsubscribe(msptiSubscriberHandle subscriber) {
  Activities& activities = TheActivities();
  std::lock_guard lock(activities.mutex);
  if (!activities.is_subscribed || subscriber != &activities.subscriber) {
    Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclValue,
         Text("msptiUnsubscribe: parameter subscriber has the value ", static_cast<const void*>(subscriber),
              ", accepted: that of msptiSubscribe."));
    return MSPTI_ERROR_INVALID_PARAMETER;
  }
  activities.is_subscribed = false;
  activities.kinds = 0;
  if (profile::Stop(profile::User::kActivities)) profile::Release(profile::User::kActivities);
  return MSPTI_SUCCESS;
}

msptiResult msptiActivityRegisterCallbacks(msptiBuffersCallbackRequestFunc funcBufferRequested,
                                           msptiBuffersCallbackCompleteFunc funcBufferCompleted) {
  const char* const api = "msptiActivityRegisterCallbacks";
  if (funcBufferRequested == nullptr) return FailNull(api, "funcBufferRequested", "a function");
  if (funcBufferCompleted == nullptr) return FailNull(api, "funcBufferCompleted", "a function");
  Activities& activities = TheActivities();
  std::lock_guard lock(activities.mutex);
  activities.request = funcBufferRequested;
  activities.complete = funcBufferCompleted;
  return MSPTI_SUCCESS;
}

msptiResult msptiActivityEnable(msptiActivityKind kind) {
  if (!IsRecorded(kind)) return FailKind("msptiActivityEnable", kind);
  Activities& activities = TheActivities();
  std::lock_guard lock(activities.mutex);
  if (activities.kinds == 0) profile::Start(profile::User::kActivities);
  activities.kinds |= 1u << kind;
  return MSPTI_SUCCESS;
}

msptiResult msptiActivityDisable(msptiActivityKind kind) {
  if (!IsRecorded(kind)) return FailKind("msptiActivityDisable", kind);
  Activities& activities = TheActivities();
  std::lock_guard lock(activities.mutex);
  activities.kinds &= ~(1u << kind);
  // Recorded events stay until they are flushed, or until recording begins anew.
  if (activities.kinds == 0) profile::Stop(profile::User::kActivities);
  return MSPTI_SUCCESS;
}

msptiResult msptiActivityIsEnabled(msptiActivityKind kind) {
  if (!IsRecorded(kind)) return MSPTI_ERROR_INVALID_PARAMETER;
  Activities& activities = TheActivities();
  std::lock_guard lock(activities.mutex);
  return (activities.kinds >> kind & 1) != 0 ? MSPTI_SUCCESS : MSPTI_ERROR_INVALID_PARAMETER;
}

msptiResult msptiActivityFlushAll(uint32_t) {
  const char* const api = "msptiActivityFlushAll";
  Activities& activities = TheActivities();
  std::lock_guard flush_lock(activities.flush_mutex);
  std::unique_lock lock(activities.mutex);
  if (activities.request == nullptr) {
    Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclInner,
         Text(api, ": nobody takes records, expected: msptiActivityRegisterCallbacks first."));
    return MSPTI_ERROR_INVALID_PARAMETER;
  }
  const bool is_over = activities.kinds == 0;
  const uint32_t kinds = is_over ? kKinds : activities.kinds;
  const auto request = activities.request;
  const auto complete = activities.complete;
  lock.unlock();
  try {
    const std::vector<profile::Event> events = profile::Take(profile::User::kActivities);
    const int64_t since_epoch = profile::SinceEpoch();
    Buffers buffers(request, complete);
    for (const profile::Event& event : events) {
      if (event.kind == profile::Kind::kTask) PutTask(event, since_epoch, kinds, buffers);
    }
    if (is_over) profile::Release(profile::User::kActivities);
    return buffers.has_failed() ? MSPTI_ERROR_MAX_LIMIT_REACHED : MSPTI_SUCCESS;
  } catch (const std::bad_alloc&) {
    Fail(ACL_ERROR_BAD_ALLOC, MessageClass::kAclInner, Text(api, ": not enough memory for the profile."));
    return MSPTI_ERROR_INNER;
  }
}

msptiResult msptiActivityGetNextRecord(uint8_t* buffer, size_t validBufferSizeBytes, msptiActivity** record) {
  const char* const api = "msptiActivityGetNextRecord";
  if (buffer == nullptr) return FailNull(api, "buffer", "one that was given back");
  if (record == nullptr) return FailNull(api, "record", "the address of the last record");
  size_t at = 0;
  if (*record != nullptr) {
    const size_t size = SizeOf((*record)->kind);
    at = size == 0 ? validBufferSizeBytes
                   : static_cast<size_t>(reinterpret_cast<uint8_t*>(*record) - buffer) + size;
  }
  if (at >= validBufferSizeBytes) return MSPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<msptiActivity*>(buffer + at);
  return MSPTI_SUCCESS;
}

msptiResult msptiActivityPushExternalCorrelationId(msptiExternalCorrelationKind kind, uint64_t id) {
  if (kind <= MSPTI_EXTERNAL_CORRELATION_KIND_INVALID || kind > MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2)
    return MSPTI_ERROR_INVALID_PARAMETER;
  profile::PushExternal(static_cast<uint32_t>(kind), id);
  return MSPTI_SUCCESS;
}

msptiResult msptiActivityPopExternalCorrelationId(msptiExternalCorrelationKind kind, uint64_t* lastId) {
  if (kind <= MSPTI_EXTERNAL_CORRELATION_KIND_INVALID || kind > MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2)
    return MSPTI_ERROR_INVALID_PARAMETER;
  uint64_t id = 0;
  if (!profile::PopExternal(static_cast<uint32_t>(kind), &id)) return MSPTI_ERROR_QUEUE_EMPTY;
  if (lastId != nullptr) *lastId = id;
  return MSPTI_SUCCESS;
}
