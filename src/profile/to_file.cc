// Takes the profile of a process (see to_file.h).
// SPDX-License-Identifier: Apache-2.0
#include "profile/to_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "acl/log.h"
#include "acl/process/cancellation.h"
#include "acl/process/fork.h"
#include "acl/process/immortal.h"
#include "profile/recorder.h"
#include "profile/trace.h"

namespace portacl::profile {
namespace {

struct Place {
  std::string value;  // of the variable
  std::string path;
  std::string beside;   // where it is written first; open and locked as long as the process lives
  int descriptor = -1;  // of it
  int error = 0;
};

Place& ThePlace() noexcept {
  static Immortal<Place> place;
  return *place;
}

constinit bool writes_at_exit = false;

// The file is the parent's.
void AfterFork() noexcept {
  const CancellationDeferred deferred;
  writes_at_exit = false;
  if (ThePlace().descriptor >= 0) close(ThePlace().descriptor);
  ThePlace().descriptor = -1;
}

// Opens PATH.part; false where another process writes there.
bool Open(Place& place) {
  const CancellationDeferred deferred;
  place.beside = place.path + ".part";
  place.descriptor = open(place.beside.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (place.descriptor < 0) {
    place.error = errno;
    return true;
  }
  if (flock(place.descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return true;
  close(place.descriptor);
  place.descriptor = -1;
  return false;
}

void Begin() noexcept {
  const char* const value = std::getenv("PORTACL_PROFILE");
  if (value == nullptr || value[0] == '\0') return;
  Place& place = ThePlace();
  const std::string process = std::to_string(getpid());
  try {
    place.value = place.path = value;
    if (const size_t at = place.path.find("%p"); at != std::string::npos) place.path.replace(at, 2, process);
    if (!Open(place)) {
      // A process that started this one: this one's file lies beside.
      const size_t dot = place.path.rfind('.');
      const size_t slash = place.path.rfind('/');
      const bool has_suffix = dot != std::string::npos && (slash == std::string::npos || dot > slash);
      place.path.insert(has_suffix ? dot : place.path.size(), "-" + process);
      if (!Open(place)) place.error = EWOULDBLOCK;
    }
  } catch (...) {
    place.error = ENOMEM;
  }
  if (place.error != 0) return;
  writes_at_exit = Start(User::kFile) && CallInForkedChild(AfterFork);
}

// Of this library's ends, as the reports of checks are.
__attribute__((destructor)) void AtExit() {
  if (!writes_at_exit) return;
  writes_at_exit = false;
  const CancellationDeferred deferred;
  Stop(User::kFile);
  Place& place = ThePlace();
  int error = ENOMEM;
  try {
    WholeFile file(place.path, place.beside, place.descriptor);
    WriteTrace(Take(User::kFile), file);
    error = file.Finish();
  } catch (...) {
    // said below
  }
  if (error != 0 && LogEnabled(LogLevel::kError)) {
    Log(LogLevel::kError, ACL_ERROR_PROFILING_FAILURE,
        Text("PORTACL_PROFILE: the profile was not written to ", place.path.c_str(), ": ",
             strerrordesc_np(error))
            .view());
  }
}

}  // namespace

bool StartFile(Text* value, Text* why) noexcept {
  static std::once_flag once;
  std::call_once(once, Begin);
  const Place& place = ThePlace();
  if (place.error == 0) return true;
  value->Add(std::string_view(place.value));
  why->Add("a file that can be written (").Add(strerrordesc_np(place.error)).Add(")");
  return false;
}

}  // namespace portacl::profile
